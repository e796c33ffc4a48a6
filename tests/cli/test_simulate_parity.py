"""``ytheta simulate`` and ``yt.simulate``: the same settings give the same numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ytheta as yt
from tests.support.command import ytheta
from ytheta.control import ControllerSettings


def split_words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# The arguments of the command after the robot, the controller, and the other arguments of the function.
Case = tuple[str, tuple[str, ...], str | ControllerSettings, dict[str, Any]]
CASES: dict[str, Case] = {
    "defaults": ("lu-two-link", (), "slotine-li", {}),
    "serial": ("lu-puma4", ("--seconds", "0.5"), "slotine-li", {"seconds": 0.5}),
    "prismatic joint": ("stanford", ("--seconds", "0.3"), "slotine-li", {"seconds": 0.3}),
    "friction": ("ha-scara", ("--seconds", "0.3"), "slotine-li", {"seconds": 0.3}),
    "five-bar": (
        "five-bar",
        ("--seconds", "0.3", "--controller", "computed-torque"),
        "computed-torque",
        {"seconds": 0.3},
    ),
    "palletiser": ("palletiser", ("--seconds", "0.2"), "slotine-li", {"seconds": 0.2}),
    "walker": ("walker", ("--seconds", "0.2", "--controller", "walker"), "walker", {"seconds": 0.2}),
    "pid": (
        "lu-two-link",
        split_words("--seconds 0.5 --controller walker --feedback pid --gain integral=3"),
        ControllerSettings("walker", feedback="pid", gains={"integral": 3.0}),
        {"seconds": 0.5},
    ),
    "runs": (
        "lu-puma4",
        split_words(
            "--seconds 0.5 --runs 3 --spread 20 --gain-spread 10 --start-offset 0.02 --velocity-offset 0.1 --seed 4"
        ),
        "slotine-li",
        {
            "seconds": 0.5,
            "runs": 3,
            "variation": yt.Variation(spread=20.0, gain_spread=10.0, start_offset=0.02, velocity_offset=0.1),
            "rng": 4,
        },
    ),
    "sensors": (
        "lu-puma4",
        split_words("--seconds 0.5 --sensor q.noise=1e-4 --sensor qd.delay=0.002 --sensor tau.bias=0.2"),
        "slotine-li",
        {
            "seconds": 0.5,
            "sensors": yt.Sensors(q=yt.Sensor(noise=1e-4), qd=yt.Sensor(delay=0.002), tau=yt.Sensor(bias=0.2)),
        },
    ),
    "grasp": (
        "lu-puma4",
        ("--seconds", "0.5", "--grasp", "1.5@0.2"),
        "slotine-li",
        {"seconds": 0.5, "grasp": yt.grasp(1.5, t=0.2)},
    ),
    "inexact model": (
        "lu-puma4",
        split_words("--seconds 0.5 --controller computed-torque --initial-error 20 --runs 2 --spread 5 --seed 7"),
        "computed-torque",
        {"seconds": 0.5, "runs": 2, "variation": yt.Variation(spread=5.0, initial_error=20.0), "rng": 7},
    ),
    "settings of the controller": (
        "lu-puma4",
        split_words(
            "--seconds 0.5 --learn link1.Izz,link3.m --friction viscous --gain damping=9 --gain adaptation=0.3 "
            "--rate 500 --leakage 1e-3 --dead-zone 1e-4"
        ),
        ControllerSettings(
            learn=("link1.Izz", "link3.m"),
            friction=("viscous",),
            gains={"damping": 9.0, "adaptation": 0.3},
            leakage=1e-3,
            dead_zone=1e-4,
        ),
        {"seconds": 0.5, "rate": 500.0},
    ),
    "torque limits ignored": (
        "ur10",
        split_words("--seconds 0.2 --adaptation natural --no-torque-limits --initial-error 5 --every 3"),
        ControllerSettings(adaptation="natural", torque_limits=False),
        {"seconds": 0.2, "variation": yt.Variation(initial_error=5.0), "every": 3},
    ),
    "mujoco": (
        "ur10",
        split_words("--seconds 0.1 --plant mujoco --substeps 2"),
        "slotine-li",
        {"seconds": 0.1, "plant": "mujoco", "substeps": 2},
    ),
}


def run_command(*arguments: str) -> dict[str, Any]:
    result = ytheta("simulate", *arguments, "--json")
    assert result.returncode in (0, 1), result.stderr
    data: dict[str, Any] = json.loads(result.stdout)
    return data


@pytest.mark.parametrize("name", CASES)
def test_command_and_function_give_equal_numbers(name: str) -> None:
    robot, options, controller, arguments = CASES[name]
    data = run_command(robot, *options)
    assert data == yt.simulate(yt.load(robot), controller, **arguments).to_dict()
    assert data["tracking_rms"] > 0.0


@pytest.mark.parametrize("name", ["friction", "inexact model"])
def test_the_command_prints_the_tables_and_findings_of_the_value(name: str) -> None:
    robot, options, controller, arguments = CASES[name]
    simulation = yt.simulate(yt.load(robot), controller, **arguments)
    result = ytheta("simulate", robot, *options)
    assert "\n".join(line.rstrip() for line in result.stdout.splitlines()) == str(simulation)
    assert all(finding.text in result.stderr for finding in simulation.input_findings)
    assert bool(simulation.input_findings) == (name == "friction")


@pytest.mark.parametrize("name", ["defaults", "runs", "sensors", "inexact model"])
def test_another_seed_gives_other_numbers(name: str) -> None:
    """The twin: the comparison notices a difference as small as that of a seed."""
    robot, options, controller, arguments = CASES[name]
    assert run_command(robot, *options) != yt.simulate(yt.load(robot), controller, **{**arguments, "rng": 5}).to_dict()


def test_a_log_is_the_same_reference(tmp_path: Path) -> None:
    robot = yt.load("lu-puma4")
    path = tmp_path / "first.csv"
    assert yt.simulate(robot, "computed-torque", seconds=0.5).save(path) == path
    data = run_command("lu-puma4", "--reference", str(path))
    log = yt.read_log(path, robot)
    for reference in (path, str(path), log, yt.reference_from_log(log)):
        simulation = yt.simulate(robot, reference=reference)
        assert simulation.runs.seconds == pytest.approx(0.5, abs=2e-3)
        assert simulation.to_dict()["joints"] == data["joints"]
    assert yt.simulate(robot, reference=str(path)).to_dict() == data
    assert yt.simulate(robot, seconds=0.499).to_dict()["joints"] != data["joints"]  # the twin: the default motion


def test_generators_and_seeds_are_equivalent() -> None:
    robot = yt.load("lu-two-link")
    arguments: dict[str, Any] = {"seconds": 0.2, "runs": 2, "variation": yt.Variation(spread=10.0)}
    seed, generator = (yt.simulate(robot, rng=rng, **arguments) for rng in (3, np.random.default_rng(3)))
    assert seed.to_dict() == generator.to_dict()
    assert seed.to_dict() != yt.simulate(robot, **arguments).to_dict()


def test_logs_of_command_and_function_are_equal(tmp_path: Path) -> None:
    options = ("--seconds", "0.2", "--runs", "2", "--spread", "10")
    result = ytheta("simulate", "lu-two-link", *options, "-o", str(tmp_path / "command-{run}.csv"))
    assert result.returncode == 0, result.stderr
    simulation = yt.simulate(yt.load("lu-two-link"), seconds=0.2, runs=2, variation=yt.Variation(spread=10.0), every=1)
    paths = simulation.save(tmp_path / "python-{run}.csv")
    assert isinstance(paths, tuple)
    assert [path.name for path in paths] == ["python-0.csv", "python-1.csv"]
    texts = [path.read_text() for path in paths]
    assert texts == [(tmp_path / f"command-{run}.csv").read_text() for run in range(2)]
    assert texts[0] != texts[1]
