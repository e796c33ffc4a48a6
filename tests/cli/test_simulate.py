"""``ytheta simulate``: tables and JSON, logs, reports, exit codes, error messages, interruptions."""

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


def run_json(*arguments: str) -> dict[str, object]:
    result = ytheta(*arguments, "--json")
    assert result.returncode == 0, result.stderr
    data: dict[str, object] = json.loads(result.stdout)
    return data


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
    data = run_json(*QUICK)
    assert set(data) >= {"tracking_rms", "parameter_error", "joints", "parameters", "finished", "runs"}
    assert 0.0 < data["tracking_rms"] < 0.05  # type: ignore[operator]
    assert 0.0 < data["parameter_error"] < 1.0  # type: ignore[operator]
    same = run_json(*QUICK, "--seed", "0")
    assert same == data
    assert run_json(*QUICK, "--seed", "1")["tracking_rms"] != data["tracking_rms"]  # the twin


@pytest.mark.parametrize("name", ["PDGravity", "modified_slotine_li"])
def test_controller_names_are_accepted_in_every_spelling(name: str) -> None:
    data = run_json("simulate", "lu-two-link", "--seconds", "0.5", "--controller", name)
    assert str(data["controller"]).replace("-", "") == name.lower().replace("-", "").replace("_", "")
    assert (data["parameter_error"] is None) == (name == "PDGravity")


def test_a_robot_is_identified_from_the_log(tmp_path: Path) -> None:
    """The plant has the parameters of the description, so that the fit finds its base parameters."""
    log = tmp_path / "log.parquet"
    result = ytheta("simulate", "lu-puma4", "-o", str(log), "--sensor", "tau.noise=0.01")
    assert result.returncode == 0, result.stderr
    assert f"wrote {log}" in result.stderr
    table = pl.read_parquet(log)
    assert len(table) == 10_000
    robot = yt.load("lu-puma4")
    fit = yt.identify(robot, yt.read_log(log, robot), friction=())
    deviations = (fit.beta - yt.base_parameters(robot).beta) / fit.std
    assert fit.verdict.solved
    assert np.sqrt(np.mean(deviations**2)) < 1.6
    large = abs(fit.beta) > 0.3
    assert abs(fit.beta[large] / yt.base_parameters(robot).beta[large] - 1).max() < 0.02


def test_the_reference_may_be_a_log(tmp_path: Path) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    assert ytheta(*QUICK, "--controller", "computed_torque", "-o", str(first)).returncode == 0
    result = ytheta(
        "simulate", "lu-puma4", "--controller", "computed_torque", "--reference", str(first), "-o", str(second)
    )
    assert result.returncode == 0, result.stderr
    first_q, second_q = (pl.read_csv(path).select("q1", "q2", "q3", "q4").to_numpy() for path in (first, second))
    assert abs(first_q[: len(second_q)] - second_q).max() < 1e-3
    assert np.ptp(second_q, axis=0).max() > 0.1
    assert "is one of the inputs" in refused("simulate", "lu-puma4", "--reference", str(first), "-o", str(first))
    assert "covers 0 to 0.999 s" in refused("simulate", "lu-puma4", "--reference", str(first), "--seconds", "3")


def test_many_runs_write_one_log_each(tmp_path: Path) -> None:
    names = str(tmp_path / "log-{run}.npz")
    variation = ("--spread", "20", "--gain-spread", "10", "--start-offset", "0.02")
    data = run_json(*QUICK, "--runs", "3", *variation, "-o", names, "--report", str(tmp_path / "a.html"))
    assert data["runs"] == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "log-0.npz", "log-1.npz", "log-2.npz"]
    robot = yt.load("lu-puma4")
    logs = [yt.read_log(tmp_path / f"log-{run}.npz", robot) for run in range(3)]
    assert abs(logs[0].q - logs[1].q).max() > 1e-3
    assert "at most 100" in refused(*QUICK, "--runs", "101", "-o", names)


def test_both_plants_agree() -> None:
    own, mujoco = (
        run_json("simulate", "ur10", "--seconds", "0.3", "--plant", plant, "--start-offset", "0.02")
        for plant in ("own", "mujoco")
    )
    assert own["tracking_rms"] == pytest.approx(mujoco["tracking_rms"], rel=1e-6)
    assert (own["plant"], mujoco["plant"]) == ("own", "mujoco")


def test_every_adaptation_law_tracks() -> None:
    errors = {}
    for name in ("gradient", "natural", "composite"):
        data = run_json(
            "simulate", "ur10", "--seconds", "2", "--adaptation", name, "--leakage", "1e-3", "--dead-zone", "1e-4"
        )
        errors[name] = data["tracking_rms"]
    assert len(set(errors.values())) == 3
    assert max(errors.values()) < 0.05  # type: ignore[type-var, operator]


def test_the_exit_code_is_1_if_a_run_diverges(tmp_path: Path) -> None:
    log = tmp_path / "a.csv"
    result = ytheta(
        "simulate", "ur10", "--seconds", "1", "--gain", "damping=1000", "--no-torque-limits", "-o", str(log)
    )
    assert result.returncode == 1
    assert "diverged at t = " in result.stdout
    assert "its log is not written" in result.stderr
    assert not log.exists()


def test_the_exit_code_is_1_if_a_run_does_not_track(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    result = ytheta("simulate", "ur10", "--seconds", "1", "--start-offset", "1", "--report", str(page))
    assert result.returncode == 1
    assert "the run does not track" in result.stdout
    assert "as large as the motion itself" in result.stdout
    assert "does not track</span>" in page.read_text()


def test_torques_at_their_limits_are_remarked() -> None:
    result = ytheta("simulate", "ur10", "--seconds", "1", "--gain", "damping=1000")
    assert result.returncode == 1  # it does not track
    assert "is at its limit in" in result.stdout
    assert "is at its limit in" not in ytheta("simulate", "ur10", "--seconds", "1").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--controller", "slotin"), "did you mean 'slotine-li'"),
        (("--gain", "damping=-3"), "gains must be greater than zero"),
        (("--gain", "damping=1,2,3"), "one per actuated coordinate"),
        (("--gain", "dampin=1"), "did you mean 'damping'"),
        (("--gain", "damping=a"), "'a' is not a finite number"),
        (("--gain", "damping=1", "--gain", "damping=2"), "keep one of the two"),
        (("--plant", "muj"), "did you mean 'mujoco'"),
        (("--sensor", "x.noise=3"), "write READING.ERROR=NUMBER"),
        (("--sensor", "q.noise=-3"), "noise of a sensor is negative"),
        (("-o", "a.txt"), "a.txt: this file must have the extension .csv, .parquet or .npz; change its name"),
        (("--report", "a.pdf"), "a.pdf: this file must have the extension .html or .htm; change its name"),
        (("--seconds", "0"), "give a positive number of seconds"),
        (("--runs", "0"), "give a whole number of runs from 1 to"),
        (("--rate", "0"), "give a number of Hz from 0.1 to 1e+07"),
        (("--grasp", "-1@2"), "mass of a grasped load is -1; give a positive number"),
        (("--grasp", "1@a"), "KILOGRAMS@SECONDS"),
        (("--reference", "nowhere.csv"), "does not exist"),
        (("--controller", "pd_gravity", "--learn", "*.m"), "for adaptive controllers"),
        (("--controller", "walker", "--adaptation", "foo"), "no adaptation 'foo'"),
        (("--feedback", "pd"), "feedback is a setting of walker"),
        (
            ("--controller", "walker", "--feedback", "pd", "--gain", "stiffness=1e-3"),
            "PDFeedback breaks the condition on storage (26) at joint 'joint1'",
        ),
        (("--learn", "nothing.m"), "has no parameter 'nothing.m'"),
        (("--learn", "link3.m", "--adaptation", "natural"), "all ten parameters of a link together"),
        (("--friction", "viscos"), "did you mean 'viscous'"),
        (("--engine", "das"), "did you mean 'dask'"),
        (("--initial-error", "-5"), "initial_error is -5; give one number, 0 or more"),
        (("--seed", "-1"), "'--seed': Input should be greater than or equal to 0"),
        (("--sensor", "q.noise=1", "--sensor", "q.noise=2"), "keep one of the two"),
        (("--seconds", "1e9"), "fit into memory"),
        (("--rate", "1e6", "--seconds", "1e3"), "fit into memory"),
        (("--grasp", "1@5"), "choose an earlier time"),
        (("--gain", "damping"), "write NAME=NUMBER"),
    ],
)
def test_invalid_options_are_rejected(arguments: tuple[str, ...], words: str) -> None:
    assert words in refused(*QUICK, *arguments)


def test_a_robot_without_masses_is_rejected() -> None:
    assert "has no inertia that" in refused("simulate", "rx90")


def test_an_interruption_leaves_existing_files_unchanged(tmp_path: Path) -> None:
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
        "--force",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        maps = Path(f"/proc/{process.pid}/maps")
        for _ in range(600):  # wait until the first run begins, which loads MuJoCo
            time.sleep(0.1)
            if "libmujoco" in maps.read_text():
                break
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip().endswith("interrupted")
    assert log.read_text() == "mine\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_coulomb_friction_is_smoothed_with_a_note() -> None:
    arguments = ("simulate", "five-bar", "--seconds", "0.2", "--controller", "computed-torque")
    result = ytheta(*arguments)
    assert result.returncode == 0, result.stderr
    (line,) = [line for line in result.stderr.splitlines() if "Coulomb friction" in line]
    assert line.startswith("note: ")
    assert "0.05 rad/s" in line
    assert "coulomb_speed" in line
    assert "Coulomb" not in ytheta("simulate", "lu-puma4", "--seconds", "0.2").stderr  # the twin has no friction


def test_the_number_of_substeps_can_be_set() -> None:
    arguments = ("simulate", "lu-puma4", "--seconds", "0.2", "--controller", "computed-torque", "--json")
    assert ytheta(*arguments, "--substeps", "1").stdout == ytheta(*arguments).stdout
    assert ytheta(*arguments, "--substeps", "2").stdout != ytheta(*arguments).stdout
    assert "substeps is 0; give a whole number from 1 to 10,000" in refused(*arguments, "--substeps", "0")


def test_sensor_errors_may_differ_between_joints() -> None:
    run = ("simulate", "lu-two-link", "--controller", "computed-torque", "--seconds", "0.1", "--json")
    both, first = (
        json.loads(ytheta(*run, "--sensor", f"q.noise={value}").stdout)["tracking_rms"]
        for value in ("1e-2,1e-2", "1e-2,0")
    )
    assert both == json.loads(ytheta(*run, "--sensor", "q.noise=1e-2").stdout)["tracking_rms"]
    assert first != both


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--gain", "x", "--gain 'x' has no value; write NAME=NUMBER"),
        ("--sensor", "q.noise", "--sensor 'q.noise' has no value; write READING.ERROR=NUMBER"),
        ("--leakage", "-1", "leakage is -1; give a rate above 0"),
        ("--dead-zone", "-1", "dead_zone is -1; give a width above 0"),
    ],
)
def test_wrong_settings_get_a_sentence_with_their_own_name(option: str, value: str, message: str) -> None:
    assert message in refused("simulate", "lu-two-link", option, value)
