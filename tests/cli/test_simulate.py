"""``ytheta simulate`` as its user meets it: logs that identify reads, JSON, reports, complaints, interruptions."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ytheta as yt
from tests.support.command import refused, ytheta

QUICK = ("simulate", "lu-puma4", "--seconds", "1")


def answer(*arguments: str) -> dict[str, object]:
    result = ytheta(*arguments, "--json")
    assert result.returncode == 0, result.stderr
    found: dict[str, object] = json.loads(result.stdout)
    return found


def test_it_prints_tracking_and_parameter_errors() -> None:
    result = ytheta(*QUICK)
    assert result.returncode == 0, result.stderr
    for words in (
        "lu-puma4 under slotine-li, 1 s at 1000 Hz",
        "tracking RMS",
        "joint4",
        "parameter",
        "truth",
        "error %",
    ):
        assert words in result.stdout
    found = answer(*QUICK)
    assert set(found) >= {"tracking_rms", "parameter_error", "joints", "parameters", "finished", "runs"}
    assert 0.0 < found["tracking_rms"] < 0.05  # type: ignore[operator]
    assert 0.0 < found["parameter_error"] < 1.0  # type: ignore[operator]
    same = answer(*QUICK, "--seed", "0")
    assert same == found
    assert answer(*QUICK, "--seed", "1")["tracking_rms"] != found["tracking_rms"]  # the twin


@pytest.mark.parametrize("name", ["craig", "computed-torque", "PDGravity", "walker", "modified_slotine_li"])
def test_every_way_to_write_a_controller(name: str) -> None:
    found = answer("simulate", "lu-two-link", "--seconds", "0.5", "--controller", name)
    assert str(found["controller"]).replace("_", "") == name.lower().replace("-", "").replace("_", "")
    assert (found["parameter_error"] is None) == (name in ("computed-torque", "PDGravity"))


def test_a_robot_is_identified_from_the_log(tmp_path: Path) -> None:
    """The plant is the description: what identify finds is what ``base`` says."""
    log = tmp_path / "log.parquet"
    result = ytheta("simulate", "lu-puma4", "-o", str(log), "--sensor", "tau.noise=0.01")
    assert result.returncode == 0, result.stderr
    assert f"wrote {log}" in result.stderr
    table = pl.read_parquet(log)
    assert len(table) == 10_000
    robot = yt.load("lu-puma4")
    found = yt.identify(robot, yt.read_log(log, robot), friction=())
    away = (found.beta - yt.base_parameters(robot).beta) / found.std
    assert found.verdict.solved
    assert np.sqrt(np.mean(away**2)) < 1.6
    assert (
        abs(found.beta[abs(found.beta) > 0.3] / yt.base_parameters(robot).beta[abs(found.beta) > 0.3] - 1).max() < 0.02
    )


def test_the_reference_may_be_a_log(tmp_path: Path) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    assert ytheta(*QUICK, "--controller", "computed_torque", "-o", str(first)).returncode == 0
    result = ytheta(
        "simulate", "lu-puma4", "--controller", "computed_torque", "--reference", str(first), "-o", str(second)
    )
    assert result.returncode == 0, result.stderr
    one, other = (pl.read_csv(path).select("q1", "q2", "q3", "q4").to_numpy() for path in (first, second))
    assert abs(one[: len(other)] - other).max() < 1e-3
    assert np.ptp(other, axis=0).max() > 0.1
    assert "read by this command" in refused("simulate", "lu-puma4", "--reference", str(first), "-o", str(first))
    assert "lasts from 0 to 0.999 s" in refused("simulate", "lu-puma4", "--reference", str(first), "--seconds", "3")


def test_many_runs_one_log_for_each(tmp_path: Path) -> None:
    names = str(tmp_path / "log-{run}.npz")
    draws = ("--spread", "20", "--gain-spread", "10", "--beside", "0.02")
    found = answer(*QUICK, "--runs", "3", *variation, "-o", names, "--report", str(tmp_path / "a.html"))
    assert found["runs"] == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "log-0.npz", "log-1.npz", "log-2.npz"]
    robot = yt.load("lu-puma4")
    logs = [yt.read_log(tmp_path / f"log-{run}.npz", robot) for run in range(3)]
    assert abs(logs[0].q - logs[1].q).max() > 1e-3
    assert "100 at most" in refused(*QUICK, "--runs", "101", "-o", names)


def test_a_load_that_is_grasped_is_felt() -> None:
    without, held = (answer(*QUICK, "--wrong", "0", *more) for more in ((), ("--grasp", "1.5@0.5")))
    assert without["tracking_rms"] < 1e-3  # type: ignore[operator]
    assert held["tracking_rms"] > 3.0 * without["tracking_rms"]  # type: ignore[operator]


def test_both_plants_agree() -> None:
    own, other = (
        answer("simulate", "ur10", "--seconds", "0.3", "--plant", plant, "--beside", "0.02")
        for plant in ("own", "mujoco")
    )
    assert own["tracking_rms"] == pytest.approx(other["tracking_rms"], rel=1e-6)
    assert (own["plant"], other["plant"]) == ("own", "mujoco")


def test_every_adaptation() -> None:
    errors = {}
    for name in ("gradient", "natural", "composite"):
        found = answer(
            "simulate", "ur10", "--seconds", "2", "--adaptation", name, "--leakage", "1e-3", "--dead-zone", "1e-4"
        )
        errors[name] = found["tracking_rms"]
    assert len(set(errors.values())) == 3
    assert max(errors.values()) < 0.05  # type: ignore[type-var, operator]


def test_runs_that_are_lost_end_with_1(tmp_path: Path) -> None:
    log = tmp_path / "a.csv"
    result = ytheta(
        "simulate", "ur10", "--seconds", "1", "--gain", "damping=1000", "--no-torque-limits", "-o", str(log)
    )
    assert result.returncode == 1
    assert "left all bounds at t = " in result.stdout
    assert "no log of it is written" in result.stderr
    assert not log.exists()


def test_runs_that_do_not_track_end_with_1(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    result = ytheta("simulate", "ur10", "--seconds", "1", "--beside", "1", "--report", str(page))
    assert result.returncode == 1
    assert "stayed within all bounds but does not track" in result.stdout
    assert "of the size of the motion itself" in result.stdout
    assert "does not track</span>" in page.read_text()


def test_a_baseline_may_be_told_something_wrong() -> None:
    baseline = ("simulate", "lu-puma4", "--seconds", "1", "--controller", "computed-torque")
    right, wrong = answer(*baseline), answer(*baseline, "--wrong", "20")
    assert wrong["tracking_rms"] > 10.0 * right["tracking_rms"]  # type: ignore[operator]


def test_friction_that_is_not_there_is_remarked() -> None:
    assert "the robot as described has none" in ytheta(*QUICK, "--friction", "viscous").stdout
    assert "the robot as described has none" not in ytheta(*QUICK).stdout


def test_torques_at_their_limits_are_told() -> None:
    result = ytheta("simulate", "ur10", "--seconds", "1", "--gain", "damping=1000")
    assert result.returncode == 1  # nor does it track
    assert "is at its limit in" in result.stdout
    assert "is at its limit in" not in ytheta("simulate", "ur10", "--seconds", "1").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--controller", "slotin"), "did you mean 'slotine-li'"),
        (("--gain", "damping=-3"), "gains are greater than zero"),
        (("--gain", "damping=1,2,3"), "one per actuated coordinate"),
        (("--gain", "dampin=1"), "did you mean 'damping'"),
        (("--gain", "damping=a"), "'a' is no finite number"),
        (("--gain", "damping=1", "--gain", "damping=2"), "keep one of the two"),
        (("--plant", "muj"), "did you mean 'mujoco'"),
        (("--sensor", "x.noise=3"), "write READING.ERROR=NUMBER"),
        (("--sensor", "q.noise=-3"), "noise of a sensor is negative"),
        (("-o", "a.txt"), "must have the extension"),
        (("--report", "a.pdf"), "must have the extension"),
        (("--seconds", "0"), "give a positive number of seconds"),
        (("--runs", "0"), "give at least 1"),
        (("--rate", "0"), "give a positive number of Hz"),
        (("--grasp", "-1@2"), "KILOGRAMS@SECONDS"),
        (("--reference", "nowhere.csv"), "not a file that exists"),
        (("--controller", "pd_gravity", "--learn", "*.m"), "for controllers that learn"),
        (("--controller", "walker", "--adaptation", "foo"), "no adaptation 'foo'"),
        (("--learn", "nothing.m"), "has no parameter 'nothing.m' to learn"),
        (("--learn", "link3.m", "--adaptation", "natural"), "all ten parameters of a link together"),
        (("--friction", "viscos"), "did you mean 'viscous'"),
        (("--engine", "das"), "did you mean 'dask'"),
        (("--wrong", "-5"), "--wrong -5: give 0 or more"),
        (("--seed", "-1"), "--seed -1: give 0 or more"),
        (("--sensor", "q.noise=1", "--sensor", "q.noise=2"), "keep one of the two"),
        (("--seconds", "1e9"), "fit into memory"),
        (("--rate", "1e9"), "fit into memory"),
        (("--grasp", "1@5"), "let it come before"),
        (("--gain", "damping"), "write NAME=NUMBER"),
    ],
)
def test_what_is_refused(arguments: tuple[str, ...], words: str) -> None:
    assert words in refused(*QUICK, *arguments)


def test_a_robot_without_masses_is_refused() -> None:
    assert "has no inertia that" in refused("simulate", "rx90")


def test_interrupted_it_leaves_nothing_half_done(tmp_path: Path) -> None:
    log = tmp_path / "a.csv"
    log.write_text("mine\n")
    command = [
        sys.executable,
        "-m",
        "ytheta",
        "simulate",
        "ur10",
        "--plant",
        "mujoco",
        "--seconds",
        "200",
        "-o",
        str(log),
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        maps = Path(f"/proc/{process.pid}/maps")
        for _ in range(600):  # until it works: MuJoCo is loaded when the first run begins
            time.sleep(0.1)
            if "libmujoco" in maps.read_text():
                break
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint.strip().endswith("interrupted")
    assert log.read_text() == "mine\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
