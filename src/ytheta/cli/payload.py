"""``ytheta payload MODEL LOG…``: mass, centre and inertia of what the arm holds."""

from __future__ import annotations

from typing import Annotated

import typer

import ytheta as yt
from ytheta.cli import log_options as log_inputs
from ytheta.cli.options import AsJson, parse_assignments, print_all_findings, print_note, print_value
from ytheta.cli.outputs import Force, check_output
from ytheta.cli.predict import Cutoff, Derivative, ModelArgument
from ytheta.cli.robot_options import RobotOptions, read_robot, take_robot_options

Unloaded = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LOG",
        help="Log without the payload, best of the same day, which corrects the model; may be given several times.",
    ),
]
PayloadLink = Annotated[
    str | None,
    typer.Option("--link", metavar="NAME", help="Link or marker that carries the payload; by default the last link."),
]
StatedFrame = Annotated[
    str | None,
    typer.Option("--frame", metavar="NAME", help="State the values in the frame of this link or marker, as of a tool."),
]
Mass = Annotated[
    float | None, typer.Option("--mass", metavar="KG", help="Mass of the payload, if it was weighed; else estimated.")
]
FrictionDrift = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        help="Expected change of friction since the identification: 0.2 for 20 %, 0 for none, inf to estimate it anew.",
    ),
]
TorqueScale = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        help="Standard deviation of the scale of the torques: 0.05 for torques from currents with torque constants "
        "known to 5 %, 0.01 for calibrated torque sensors.",
    ),
]
Name = Annotated[str, typer.Option("--name", metavar="NAME", help="Name of the payload as a link of the robot.")]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the robot with the payload to this file (.toml)."),
]


@take_robot_options
@log_inputs.take_log_options
def payload(
    model: ModelArgument,
    logs: log_inputs.LogArguments,
    unloaded: Unloaded = None,
    link: PayloadLink = None,
    frame: StatedFrame = None,
    mass: Mass = None,
    friction_drift: FrictionDrift = 0.2,
    torque_scale: TorqueScale = 0.05,
    name: Name = "payload",
    cutoff: Cutoff = None,
    derivative: Derivative = None,
    velocity: log_inputs.Velocity = log_inputs.AUTO,
    min_speed: log_inputs.MinSpeed = None,
    threads: log_inputs.Threads = None,
    output: Output = None,
    force: Force = False,
    as_json: AsJson = False,
    verbose: log_inputs.Verbose = False,
    strict: log_inputs.StrictLogs = False,
    *,
    log_options: log_inputs.LogOptions,
    robot_options: RobotOptions,
) -> None:
    """Identify a payload: mass, centre of mass and inertia of what the arm holds.

    The model without payload predicts the torques, and the payload explains the rest. The uncertainty of the model is
    part of the standard deviations; a log without the payload makes it smaller.

    The exit code is 1 if the payload should not be used: the motion does not show it, or something else differs.

    Example: `ytheta payload ur10e.model.toml loaded.parquet --unloaded empty.parquet --frame tool0 -o loaded.toml`
    """
    inputs = (model, *logs, *(unloaded or ()), *(log_options.mapping or ()))
    check_output(output, (".toml",), inputs, force=force)
    with log_inputs.show_progress() as report_stage:
        described: str | yt.Robot = model
        if robot_options.need_load:
            described, robot_options = read_robot(model, robot_options), RobotOptions()
        estimate = yt.identify_payload(
            described,
            logs,
            unloaded=unloaded,
            link=link,
            frame=frame,
            mass=mass,
            friction_drift=friction_drift,
            torque_scale=torque_scale,
            name=name,
            mapping=log_options.mapping,
            degrees=log_options.degrees,
            rows=log_inputs.parse_rows(log_options.rows),
            rate=log_options.rate,
            gain=log_inputs.parse_gain(log_options.gain),
            topic=log_options.topic,
            cutoff=log_inputs.parse_number_or_auto(cutoff, "--cutoff", "Hz"),
            derivative=derivative,
            velocity=velocity,
            min_speed=log_inputs.parse_speeds(min_speed),
            threads=threads,
            strict=strict,
            snap=robot_options.snap,
            fix_base=robot_options.fix_base,
            lengths=parse_assignments(robot_options.length, "--length"),
            angles=parse_assignments(robot_options.angle, "--angle"),
            report_stage=report_stage,
        )
        if described == model:
            print_all_findings(estimate.attachment.robot.findings)
        log_inputs.print_findings(estimate.findings, verbose=verbose)
        if output is not None:
            print_note(f"wrote {estimate.save(output)}")
    print_value(estimate, as_json=as_json, verbose=verbose)
    if not estimate.verdict.solved:
        raise typer.Exit(1)
