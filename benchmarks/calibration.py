"""Calibration on simulated robots whose description is wrong: does the prior help, and do the intervals hold?

Every robot is identified with the default options, and without a prior: by weighted least squares with the default
options, and with the rotor inertias that the true robot has. All are validated on other, rich motion.

error ratio     validation error of the default, relative to that without a prior: geometric mean, worst run, and the
                number of runs above 1.05. Both errors are random, and the one without a prior can be small by luck.
                Single runs are therefore worse even with the best possible prior: by 5 % in a third of all runs, if
                there is one parameter about which prior and data say equally much
model ratio     the same for the error of the model file on exact torques of the validation motion
coverage        percentage of base parameters whose 95 % interval contains the true value
torque          percentage of predicted torques of the validation motion whose 95 % interval contains the torque without
                noise ("true"); and the measured torque, with the noise of the fit added to the interval. Both logs have
                the same noise in Nm. These two intervals contain only the uncertainty of the parameters; the third,
                "other log", is that of ``predict``, which expects that logs vary. It is too wide if they do not

In the last families, friction differs from log to log: by a share that is drawn for each robot.

    python -m benchmarks.calibration --seeds 3 --first-seed 0 --json FILE
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

import ytheta as yt
from benchmarks.simulated_robots import (
    DEVIATION,
    Description,
    Extra,
    FrictionLaw,
    Motion,
    TrueRobot,
    change_friction,
    collect_parameters,
    compute_rms,
    describe,
    load_description,
    make_motion,
    make_true_robot,
    record,
)
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.shapes import SamplesByJoint

QUANTILE = 1.96  # of a 95 % interval, in standard deviations
MAX_ERROR_RATIO, MAX_RATIO_OF_POOR_MOTION, COVERAGE_PERCENT = 1.05, 0.5, (92.0, 98.0)  # targets of issue 14
TORQUE_PERCENT = (93.0, 97.0)  # target of issue 15
DEFAULT, NO_PRIOR, KNOWN_ROTORS = "default", "no prior", "no prior, known rotors"
FRICTION_KINDS = ("fv", "fc")
MIN_COUNT_OF_KIND = 20  # intervals; the coverage of kinds with fewer would be chance
# Robots of the catalog, and whether the true robot has rotor inertias.
ROBOTS = {"ur10": True, "puma560": True, "panda": False, "iiwa14": True, "stanford": False}


@dataclass(frozen=True)
class Family:
    """Simulated robots that differ from their descriptions in the same way and move in the same way.

    ``deviations`` is the range of the deviation of the description, which is drawn for each robot. ``seconds`` is the
    duration of the fit motion (None for that of rich or poor motion), ``colour_time`` the time constant of the coloured
    noise in s, ``logs`` the number of logs of the fit. ``varies``: whether friction differs from log to log.
    """

    name: str
    rich: bool
    extra: Extra = Extra.NOTHING
    deviations: tuple[float, float] = (DEVIATION, DEVIATION)
    description: Description = Description.DESIGN
    seconds: float | None = None
    colour_time: float = 0.02
    law: FrictionLaw = FrictionLaw.PLAIN
    logs: int = 1
    varies: bool = False
    robots: tuple[str, ...] = tuple(ROBOTS)


# The usual noise is chosen such that the intervals of weighted least squares, without a prior, about hold on poor
# motion, so that a miss of the default is one of its prior. With slower noise and a shorter log they do not: a family
# of its own shows that.
FAMILIES = (
    Family("20 %, rich motion", rich=True),
    Family("20 %, poor motion", rich=False),
    Family("20 % and a load, rich motion", rich=True, extra=Extra.LOAD),
    Family("20 % and a load, poor motion", rich=False, extra=Extra.LOAD),
    Family("20 %, poor motion, 4 s, slow noise", rich=False, seconds=4.0, colour_time=0.08),
    Family("square-root friction, rich motion", rich=True, law=FrictionLaw.SQUARE_ROOT, robots=("ur10", "panda")),
    Family("load friction, rich motion", rich=True, law=FrictionLaw.LOAD, robots=("ur10", "panda")),
    Family("logs vary, one log, rich motion", rich=True, varies=True),
    Family("logs vary, one log, poor motion", rich=False, varies=True),
    Family("logs vary, three logs, rich motion", rich=True, logs=3, varies=True),
    Family("10-40 %, rich motion", rich=True, deviations=(0.1, 0.4)),
    Family("10-40 %, poor motion", rich=False, deviations=(0.1, 0.4)),
    Family("10-40 % and a gripper, rich motion", rich=True, deviations=(0.1, 0.4), extra=Extra.GRIPPER),
    Family("10-40 % and a gripper, poor motion", rich=False, deviations=(0.1, 0.4), extra=Extra.GRIPPER),
    Family("placeholders, rich motion", rich=True, description=Description.PLACEHOLDERS),
    Family("placeholders, poor motion", rich=False, description=Description.PLACEHOLDERS),
    Family("wrong material, rich motion", rich=True, description=Description.WRONG_MATERIAL),
    Family("wrong material, poor motion", rich=False, description=Description.WRONG_MATERIAL),
    Family("torque ripple and a gripper, rich motion", rich=True, extra=Extra.GRIPPER, law=FrictionLaw.RIPPLE),
    Family("torque ripple and a gripper, poor motion", rich=False, extra=Extra.GRIPPER, law=FrictionLaw.RIPPLE),
)
LOWEST_VARIATION, HIGHEST_VARIATION = (
    0.02,
    0.15,
)  # of the friction of a log; with 0.25 as the highest, one log is not enough


@dataclass(frozen=True)
class Outcome:
    """One identification of a simulated robot; errors are in percent.

    ``deviations`` are (estimate - truth) / std by base parameter; parameters that are not identified are left out.
    """

    family: str
    robot: str
    seed: int
    variant: str
    validation: float
    model: float
    seconds: float
    deviations: Mapping[str, float]
    torque_coverage: float = float("nan")  # of intervals of the predicted torque, in percent
    measured_coverage: float = float("nan")  # of intervals of measured torques
    other_log_coverage: float = float("nan")  # of these with the variation between logs


def measure_family(family: Family, seeds: Iterable[int]) -> Iterator[Outcome]:
    for robot in family.robots:
        description = load_description(robot)
        for seed in seeds:
            yield from measure_robot(family, robot, description, seed)


def measure_robot(family: Family, name: str, description: yt.Robot, seed: int) -> Iterator[Outcome]:
    """Simulate one robot, and yield the outcome of each variant."""
    rng = np.random.default_rng([seed, *family.name.encode(), *name.encode()])
    rotors = ROBOTS[name]
    deviation = float(rng.uniform(*family.deviations))
    truth = make_true_robot(description, rng, extra=family.extra, rotors=rotors, law=family.law, deviation=deviation)
    description = describe(description, family.description, rng)
    other = make_motion(description, rng, rich=True)
    motions = [make_motion(description, rng, rich=family.rich, seconds=family.seconds) for _ in range(family.logs)]
    usual_torque = compute_rms(truth.compute_torque(motions[0]))  # the same sensors record all motions
    days = [truth] * family.logs
    if family.varies:
        share = float(np.exp(rng.uniform(np.log(LOWEST_VARIATION), np.log(HIGHEST_VARIATION))))
        *days, truth = (change_friction(truth, rng, share) for _ in range(family.logs + 1))
    fit = [
        record(day, motion, rng, colour_time=family.colour_time, usual_torque=usual_torque)
        for day, motion in zip(days, motions, strict=True)
    ]
    validation = record(truth, other, rng, colour_time=family.colour_time, usual_torque=usual_torque)
    variants: dict[str, dict[str, Any]] = {
        DEFAULT: {},
        NO_PRIOR: {"estimator": "weighted", "rotor_inertia": False},
        KNOWN_ROTORS: {"estimator": "weighted", "rotor_inertia": rotors},
    }
    for variant, options in variants.items():
        start = time.perf_counter()
        identification = yt.identify(description, fit, validate=validation, **options)
        seconds = time.perf_counter() - start
        assert identification.validation is not None
        yield Outcome(
            family.name,
            name,
            seed,
            variant,
            identification.validation.relative_percent,
            compute_model_error(identification, truth, other),
            seconds,
            compute_deviations(identification, truth),
            *compute_torque_coverage(identification, validation, truth.compute_torque(other)),
        )


def compute_model_error(identification: yt.Identification, truth: TrueRobot, motion: Motion) -> float:
    """Return the relative error of the model's torques against exact torques, in percent."""
    tau = truth.compute_torque(motion)
    predicted = identification.inverse_dynamics()(motion.q, motion.qd, motion.qdd)
    return float(100.0 * np.linalg.norm(predicted - tau) / np.linalg.norm(tau))


def compute_torque_coverage(
    identification: yt.Identification, log: yt.Log, tau: SamplesByJoint
) -> tuple[float, float, float]:
    """Return the percentages of 95 % intervals that contain the torque without noise, and the measured torque.

    The third is that of the measured torque if logs may vary. ``tau``: the torque of the log without noise; it passes
    the same low-pass.
    """
    prediction, exact = yt.predict(identification, log), yt.predict(identification, replace(log, tau=tau))
    assert prediction.measured is not None
    assert prediction.std is not None
    assert prediction.noise is not None
    assert exact.measured is not None
    assert prediction.between_logs is not None
    parameter_std = np.sqrt(np.maximum(prediction.std**2 - prediction.between_logs**2, 0.0))
    pairs = (
        (exact.measured, parameter_std),
        (prediction.measured, np.hypot(parameter_std, prediction.noise)),
        (prediction.measured, np.hypot(prediction.std, prediction.noise)),
    )
    true, measured, other = (
        float(100.0 * np.mean(abs(prediction.predicted - torque) < QUANTILE * std)) for torque, std in pairs
    )
    return true, measured, other


def compute_deviations(identification: yt.Identification, truth: TrueRobot) -> dict[str, float]:
    """Return (estimate - truth) / std by base parameter.

    Parameters that the true robot does not have, such as a friction law, have no true value and are left out, and so
    are those with an infinite standard deviation. With an additional friction law, viscous and Coulomb friction have
    no true value either, because they replace the law if it is not estimated.
    """
    base = identification.base
    assert isinstance(base, BaseParameters)
    known = collect_parameters(truth)
    if truth.law is not FrictionLaw.PLAIN:
        known = {name: value for name, value in known.items() if get_kind(name) not in FRICTION_KINDS}
    theta = np.array([known.get(name, np.nan) for name in base.robot.parameter_names])
    values = np.array([row[row != 0.0] @ theta[row != 0.0] for row in base.K])
    # Along directions that no base parameter contains, nothing is claimed; a std of zero claims too much.
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = (identification.beta - values) / identification.std
    claimed = np.isfinite(identification.std) & ~np.isnan(deviations)
    return {name: float(deviations[k]) for k, name in enumerate(base.independent) if claimed[k]}


def get_kind(parameter: str) -> str:
    """Return the kind of a standard parameter: "m", "first moment", "inertia", or that of a drive such as "fv"."""
    kind = parameter.rpartition(".")[2]
    if re.fullmatch(r"m[xyz]", kind):
        return "first moment"
    return "inertia" if re.fullmatch(r"I[xyz]{2}", kind) else kind


def compute_coverage(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return the percentage of intervals that contain the true value: of all parameters ("all"), and by kind."""
    kinds: dict[str, list[bool]] = {"all": []}
    for outcome in outcomes:
        for name, deviation in outcome.deviations.items():
            for kind in ("all", get_kind(name)):
                kinds.setdefault(kind, []).append(abs(deviation) < QUANTILE)
    return {
        kind: 100.0 * float(np.mean(flags)) if flags else float("nan")
        for kind, flags in kinds.items()
        if kind == "all" or len(flags) >= MIN_COUNT_OF_KIND
    }


def compute_coverage_error(outcomes: Sequence[Outcome]) -> float:
    """Return the standard error of the coverage in percent, from its scatter over runs.

    The intervals of one run share its noise, so that their number says little.
    """
    values = [compute_coverage([each])["all"] for each in outcomes]
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def compute_ratios(outcomes: Sequence[Outcome], peer: str, quantity: str) -> list[float]:
    """Return for each simulated robot the error of the default relative to that of another variant."""
    values = {(each.family, each.robot, each.seed, each.variant): getattr(each, quantity) for each in outcomes}
    return [values[key] / values[*key[:3], peer] for key in values if key[3] == DEFAULT]


def make_row(family: str, outcomes: Sequence[Outcome]) -> list[str]:
    """Return the row of one family: errors, ratios and coverage."""
    default = [each for each in outcomes if each.variant == DEFAULT]
    free = [each for each in outcomes if each.variant == KNOWN_ROTORS]
    row = [family, str(len(default))]
    row += [f"{np.median([each.validation for each in group]):.2f}" for group in (default, free)]
    for peer, quantity in ((NO_PRIOR, "validation"), (KNOWN_ROTORS, "validation"), (KNOWN_ROTORS, "model")):
        ratios = compute_ratios(outcomes, peer, quantity)
        above = sum(ratio > MAX_ERROR_RATIO for ratio in ratios)
        row.append(f"{np.exp(np.mean(np.log(ratios))):.3f}  {max(ratios):.3f}  {above}")
    for group in (default, free):
        coverage = compute_coverage(group)
        kinds = {kind: value for kind, value in coverage.items() if kind != "all"}
        worst = min(kinds, key=kinds.__getitem__, default="")
        shown = f"  {kinds[worst]:.0f} ({worst})" if worst else ""
        row.append(f"{coverage['all']:.1f} ± {compute_coverage_error(group):.1f}{shown}")
    for group in (default, free):
        values = [[each.torque_coverage, each.measured_coverage, each.other_log_coverage] for each in group]
        row.append("  ".join(f"{value:.1f}" for value in np.mean(values, axis=0)))
    return [*row, f"{np.mean([each.seconds for each in default]):.2f}"]


def print_table(outcomes: Sequence[Outcome], console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("family", no_wrap=True)
    for column in (
        "runs",
        "default\nerror %",
        "no prior\nerror %",
        "error ratio\nmean  worst  above",
        "known rotors\nmean  worst  above",
        "model ratio\nmean  worst  above",
        "coverage %, default\nall  worst kind",
        "coverage %, no prior\nall  worst kind",
        "torque %, default\ntrue  measured  other log",
        "torque %, no prior\ntrue  measured  other log",
        "s",
    ):
        table.add_column(column, no_wrap=True)
    for family in dict.fromkeys(each.family for each in outcomes):
        table.add_row(*make_row(family, [each for each in outcomes if each.family == family]))
    console.print(table)
    lower, upper = COVERAGE_PERCENT
    console.print(
        f"targets: worst error ratio {MAX_ERROR_RATIO:g}, mean with poor motion {MAX_RATIO_OF_POOR_MOTION:g}, "
        f"coverage {lower:g} to {upper:g} %, of torques {TORQUE_PERCENT[0]:g} to {TORQUE_PERCENT[1]:g} %; "
        "errors are medians, means of ratios geometric; ± is one standard error; "
        "the errors and the coverage without a prior and the model ratio are those with known rotors",
        highlight=False,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Identify simulated robots whose description is wrong.")
    parser.add_argument("--seeds", type=int, default=3, help="simulated robots of each kind")
    parser.add_argument("--first-seed", type=int, default=0, metavar="N", help="seed of the first of them")
    parser.add_argument("--only", metavar="PATTERN", default="", help="families whose name matches an expression")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the outcomes")
    parsed = parser.parse_args()
    families = [family for family in FAMILIES if re.search(parsed.only, family.name)]
    seeds = range(parsed.first_seed, parsed.first_seed + parsed.seeds)
    outcomes = [outcome for family in families for outcome in measure_family(family, seeds)]
    if parsed.json:
        parsed.json.write_text(json.dumps([asdict(each) for each in outcomes], indent=1) + "\n")
    print_table(outcomes, Console(width=240))


if __name__ == "__main__":
    main()
