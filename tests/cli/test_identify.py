"""``ytheta identify`` and ``ytheta predict`` as their user meets them."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest

import ytheta as yt
from tests.support.arm_logs import RATE, true_arm, write_log
from tests.support.command import process, refused, ytheta
from ytheta.cli.log_options import show_progress

FIXED = {"samples", "base_count", "condition_number", "fit", "validation", "parameters", "consistent", "verdict"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two logs of the arm, one with a joint that stands still, and descriptions of it."""
    folder = tmp_path_factory.mktemp("arm")
    arm = true_arm(folder)
    write_log(folder / "a.npz", arm)
    write_log(folder / "b.csv", arm, seed=2)
    write_log(folder / "still.npz", arm, still=True)
    return folder


def data(folder: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    result = ytheta(*arguments, "--json", cwd=folder)
    assert result.returncode == code, result.stderr
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def test_json(folder: Path) -> None:
    answer = data(folder, "identify", "lu-two-link", "a.npz", "--validate", "b.csv")
    assert set(answer) >= FIXED
    assert (answer["base_count"], answer["verdict"]) == (12, "good")
    for part in ("fit", "validation"):
        assert 0.0 < answer[part]["relative_error_percent"] < 1.0
        assert len(answer[part]["per_joint_percent"]) == 2
        assert answer[part]["raw_relative_error_percent"] > answer[part]["relative_error_percent"]
    values = {row["name"]: row for row in answer["parameters"]}
    assert values["joint1.fc"]["value"] == pytest.approx(1.5, abs=5.0 * values["joint1.fc"]["std"])
    assert values["link2.mx*"]["value"] == pytest.approx(0.66, abs=5.0 * values["link2.mx*"]["std"])
    assert values["link2.mx*"]["expression"].startswith("link2.mx + ")
    assert answer["condition_number"] > 1.0
    assert isinstance(answer["consistent"], bool)
    assert (answer["friction"], answer["rotor_inertia"]) == (["viscous", "coulomb", "offset"], False)
    assert (answer["derivative"], answer["min_speed"]) == ("central", None)
    assert answer["equations"] == [answer["samples"]] * 2
    assert values["link2.mx*"]["independent"] == "link2.mx"
    assert {row["independent"] for row in answer["parameters"]} <= set(answer["standard_parameters"])


def test_the_table_is_for_people(folder: Path) -> None:
    result = ytheta("identify", "lu-two-link", "a.npz", "--validate", "b.csv", cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("lu-two-link: 2 joints, 12 base parameters; estimator weighted, differential form")
    assert lines[1].startswith("learnt from a.npz: ")
    assert lines[2].startswith("judged by   b.csv: ")
    assert any(line.split()[:1] == ["joint2.fv"] and "yes" in line for line in lines)
    assert any("torque RMS" in line and "of variation %" in line and "validation %" in line for line in lines)
    assert lines[-1].startswith("Good: the torque error is ")
    narrow = ytheta("identify", "lu-two-link", "a.npz", cwd=folder, columns=60).stdout
    assert "* with" in result.stdout
    assert "* with" not in narrow
    assert "validation %" not in narrow
    assert "joint2.fv" in narrow
    assert "--verbose" in narrow
    full = ytheta("identify", "lu-two-link", "a.npz", "--verbose", cwd=folder, columns=60).stdout
    assert "link1.mx* = link1.mx + 0.5·link2.m + 0.5·load.m" in full.splitlines()


def test_notes_are_for_those_who_ask(folder: Path) -> None:
    result = ytheta("identify", "lu-two-link", "a.npz", "--verbose", cwd=folder)
    assert "note: sampled at 200 Hz" in result.stderr
    assert result.stderr.count("note: sampled at 200 Hz") == 1
    assert "note: low-pass at" in result.stderr


def test_motion_that_does_not_show_all(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.toml"
    result = ytheta("identify", "lu-two-link", "still.npz", "-o", str(model), cwd=folder)
    assert result.returncode == 1
    assert result.stdout.splitlines()[-1].startswith("Not exciting: the motion does not determine joint2.fv, joint2.fc")
    assert "missing motion: move joint2 at clearly different speeds, in both directions" in result.stdout
    assert "warning: hardly any motion" in result.stderr
    assert model.exists()
    answer = data(folder, "identify", "lu-two-link", "still.npz", code=1)
    assert answer["condition_number"] is None
    assert {row["name"] for row in answer["parameters"] if row["std"] is None} == {"joint2.fv", "joint2.fc"}
    assert answer["missing"][0]["motion"]
    assert "--strict" in ytheta("identify", "--help").stdout
    assert "hardly any motion" in refused("identify", "lu-two-link", "still.npz", "--strict", cwd=folder)


def test_poor_models_end_with_one(folder: Path) -> None:
    rng = np.random.default_rng(1)
    table = pl.read_csv(folder / "b.csv")
    noise = [pl.col(name) + 200.0 * pl.Series(rng.normal(size=len(table))) for name in ("tau1", "tau2")]
    table.with_columns(noise).write_csv(folder / "noisy.csv")
    answer = data(folder, "identify", "lu-two-link", "noisy.csv", code=1)
    assert answer["verdict"] == "poor"
    assert answer["fit"]["relative_error_percent"] > 25.0


def test_the_users_choices(folder: Path) -> None:
    choices = ["--estimator", "huber", "--cutoff", "8", "--derivative", "spline", "--threads", "1", "--min-speed", "0.01"]
    answer = data(folder, "identify", "lu-two-link", "a.npz", "--friction", "viscous,asymmetric", *choices)
    assert (answer["estimator"], answer["cutoff"], answer["base_count"]) == ("huber", 8.0, 12)
    assert data(folder, "identify", "lu-two-link", "a.npz", "--friction", "none")["base_count"] == 6
    assert data(folder, "identify", "lu-two-link", "a.npz", "--parameters", "link*,joint1.f?")["base_count"] == 9
    answer = data(folder, "identify", "lu-two-link", "a.npz", "--form", "momentum", "--rotor-inertia")
    assert (answer["form"], answer["base_count"]) == ("momentum", 13)


def test_older_samples_may_count_less(folder: Path) -> None:
    plain, fading = (
        data(folder, "identify", "lu-two-link", "a.npz", "--estimator", "recursive", *options)["parameters"]
        for options in ((), ("--forgetting", "0.995"))
    )
    pairs = list(zip(plain, fading, strict=True))
    assert any(one["value"] != other["value"] for one, other in pairs)
    assert all(other["std"] > one["std"] for one, other in pairs)
    assert "forgets nothing" in refused("identify", "lu-two-link", "a.npz", "--forgetting", "0.9", cwd=folder)
    wrong = refused("identify", "lu-two-link", "a.npz", "--estimator", "recursive", "--forgetting", "2", cwd=folder)
    assert "forgetting is 2" in wrong


def test_a_part_can_be_held_out(folder: Path) -> None:
    whole = data(folder, "identify", "lu-two-link", "a.npz")
    parts = data(folder, "identify", "lu-two-link", "a.npz", "--hold-out", "25")
    assert whole["validation"] is None
    assert parts["validation"]["samples"] < 0.3 * whole["samples"] < parts["samples"] < whole["samples"]
    assert parts["validation_logs"] == ["a.npz (the last 25 %)"]


def test_predict_leaves_out_what_the_model_did(folder: Path, tmp_path: Path) -> None:
    """Slow equations, and friction that was known instead of learnt."""
    for k, options in enumerate((["--min-speed", "0.5"], ["--parameters", "link*,*.fv"])):
        model = tmp_path / f"{k}.toml"
        found = data(folder, "identify", "true.toml", "a.npz", "--validate", "b.csv", *options, "-o", str(model))
        again = data(folder, "predict", str(model), "b.csv")
        for key in ("relative_error_percent", "per_joint_percent"):
            assert again[key] == pytest.approx(found["validation"][key], rel=1e-9)


def test_predict_is_the_validation(folder: Path, tmp_path: Path) -> None:
    model, table = tmp_path / "arm.model.toml", tmp_path / "torques.csv"
    fit = data(folder, "identify", "lu-two-link", "a.npz", "--validate", "b.csv", "--cutoff", "7", "-o", str(model))
    answer = data(folder, "predict", str(model), "b.csv", "-o", str(table))
    for key in ("relative_error_percent", "per_joint_percent", "raw_relative_error_percent"):
        assert answer[key] == pytest.approx(fit["validation"][key], rel=1e-9)
    torques = pl.read_csv(table)
    assert torques.columns == ["t", *(f"{kind}_joint{k}" for kind in ("measured", "predicted") for k in (1, 2))]
    measured, predicted = (torques.select(f"^{kind}_.*$").to_numpy() for kind in ("measured", "predicted"))
    relative = 100.0 * np.linalg.norm(measured - predicted) / np.linalg.norm(measured)
    assert relative == pytest.approx(answer["relative_error_percent"], rel=1e-9)
    assert data(folder, "predict", str(model), "b.csv", "--cutoff", "12")["cutoff"] == 12.0
    without_friction = data(folder, "predict", "lu-two-link", "b.csv", "--cutoff", "7")
    assert without_friction["relative_error_percent"] > 5.0 * answer["relative_error_percent"]
    result = ytheta("predict", "true.toml", "b.csv", "-o", str(tmp_path / "t.parquet"), cwd=folder)
    assert result.returncode == 0
    assert result.stdout.splitlines()[-1].startswith("predicts the torque to 0.0")
    assert result.stderr.splitlines()[-1] == f"note: wrote {tmp_path / 't.parquet'}"
    assert pl.read_parquet(tmp_path / "t.parquet").columns == torques.columns


def test_report(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "arm.html"
    model = tmp_path / "arm.toml"
    result = ytheta("identify", "lu-two-link", "a.npz", "--report", str(page), "-o", str(model), cwd=folder)
    assert (result.returncode, result.stderr) == (0, f"note: wrote {model}\nnote: wrote {page}\n")
    assert "<html" in page.read_text()


def test_torques_are_predicted_where_none_were_measured(folder: Path, tmp_path: Path) -> None:
    moved, table = tmp_path / "moved.csv", tmp_path / "torques.csv"
    pl.read_csv(folder / "b.csv").drop("tau1", "tau2").write_csv(moved)
    result = ytheta("predict", "true.toml", str(moved), "-o", str(table), cwd=folder)
    assert result.returncode == 0
    assert "the log holds none to compare them with" in result.stdout
    assert "error %" not in result.stdout
    assert pl.read_csv(table).columns == ["t", "predicted_joint1", "predicted_joint2"]
    without, measured = (data(folder, "predict", "true.toml", str(log)) for log in (moved, "b.csv"))
    assert without["relative_error_percent"] is without["per_joint_percent"] is None
    assert without.keys() == measured.keys()
    assert (without["samples"], without["seconds"]) == (measured["samples"], measured["seconds"])
    assert "holds no torque" in refused("identify", "lu-two-link", str(moved), cwd=folder)


def test_a_fault_is_told_as_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never with 1, which says that the work was done."""
    monkeypatch.delenv("YTHETA_DEBUG", raising=False)
    with mock.patch("ytheta.cli.identify.read_robot", side_effect=RuntimeError("two\nlines")):
        result = ytheta("identify", "lu-two-link", "a.npz", cwd=folder)
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (70, "", 1)
        assert result.stderr.startswith("fault: RuntimeError: two lines; this is a fault of ytheta: please report it")
        monkeypatch.setenv("YTHETA_DEBUG", "1")
        assert "Traceback" in ytheta("identify", "lu-two-link", "a.npz", cwd=folder).stderr


def test_report_without_its_libraries(folder: Path, tmp_path: Path) -> None:
    missing = ModuleNotFoundError("No module named 'plotly'", name="plotly")
    with mock.patch("ytheta.cli.outputs.import_module", side_effect=missing):
        line = refused("identify", "lu-two-link", "a.npz", "--report", str(tmp_path / "arm.html"), cwd=folder)
    assert "pip install 'ytheta[report]'" in line


def test_progress_is_for_a_person_who_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for watched in (True, False):
        err = io.StringIO()
        monkeypatch.setattr(err, "isatty", lambda seen=watched: seen)
        monkeypatch.setattr(sys, "stderr", err)
        with show_progress() as tell:
            tell("estimating")
            time.sleep(0.2)
        assert ("estimating …" in err.getvalue()) == watched


# --- bad input -------------------------------------------------------------------------------------------------------


def rewritten(change: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[Path, Path], None]:
    return lambda source, target: change(pl.read_csv(source)).write_csv(target)


def degrees(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.col("q1", "q2") * 180.0 / np.pi)


def emptied(_: Path, target: Path) -> None:
    target.write_text("")


BAD_LOGS: dict[str, tuple[Callable[[Path, Path], None], str]] = {
    "one joint too few": (rewritten(lambda table: table.drop("q2", "tau2")), "but the robot has 2 actuated"),
    "other names": (rewritten(lambda table: table.rename({"tau1": "tauq1", "tau2": "tauq2"})), "mean 'tauq1'"),
    "no positions": (rewritten(lambda table: table.rename({"q1": "qq1", "q2": "qq2"})), "did you mean 'qq1'"),
    "degrees": (rewritten(degrees), "degrees"),
    "empty": (emptied, "is empty"),
    "header alone": (rewritten(lambda table: table.head(0)), "log.csv"),
    "too short": (rewritten(lambda table: table.head(int(0.1 * RATE))), "log.csv"),
}


@pytest.mark.parametrize("case", BAD_LOGS)
def test_bad_logs(folder: Path, tmp_path: Path, case: str) -> None:
    spoil, words = BAD_LOGS[case]
    spoil(folder / "b.csv", tmp_path / "log.csv")
    commands = [("identify", "lu-two-link"), ("predict", str(folder / "true.toml"))]
    for command in commands[: 1 if case == "other names" else 2]:  # predict does without torques
        line = refused(*command, "log.csv", cwd=tmp_path)
        assert words in line
        assert "log.csv" in line


BAD_CHOICES = {
    "no log": (("none.csv",), "none.csv is not a file that exists"),
    "another robot's log": (("a.npz", "--fix-base", "--mapping", "none.toml"), "none.toml"),
    "estimator": (("a.npz", "--estimator", "weigthed"), "did you mean 'weighted'"),
    "form": (("a.npz", "--form", "integrl"), "did you mean 'integral'"),
    "friction": (("a.npz", "--friction", "viscos"), "did you mean 'viscous'"),
    "parameters": (("a.npz", "--parameters", "joint3.fv"), "has no parameter 'joint3.fv'"),
    "no parameters": (("a.npz", "--parameters", ""), "--parameters names none"),
    "parameters and friction": (("a.npz", "--parameters", "link*", "--friction", "viscous"), "leave --friction out"),
    "parameters and rotors": (("a.npz", "--parameters", "link*", "--rotor-inertia"), "leave --rotor-inertia out"),
    "derivative": (("a.npz", "--derivative", "euler"), "unknown derivative 'euler'"),
    "cut-off": (("a.npz", "--cutoff", "fast"), "--cutoff 'fast': give a number of Hz, or auto"),
    "cut-off beyond the samples": (("a.npz", "--cutoff", "1000"), "1000"),
    "no cut-off at all": (("a.npz", "--cutoff", "0"), "--cutoff '0'"),
    "periods": (("a.npz", "--average-periods", "-1"), "--average-periods '-1'"),
    "min_speed": (("a.npz", "--min-speed", "1,2,3"), "--min-speed has 3 speeds for 2 joints"),
    "min speed of all": (("a.npz", "--min-speed", "1e9"), "no equation is left"),
    "min speed words": (("a.npz", "--min-speed", "nan"), "--min-speed 'nan'"),
    "threads": (("a.npz", "--threads", "0"), "threads is 0"),
    "mappings": (("a.npz", "--mapping", "x.toml", "--mapping", "y.toml"), "2 mappings for 1 logs"),
    "hold-out": (("a.npz", "--hold-out", "100"), "between 0 and 100"),
    "hold-out as a part": (("a.npz", "--hold-out", "0.3"), "did you mean 30?"),
    "hold-out of two": (("a.npz", "b.csv", "--hold-out", "30"), "splits one log"),
    "hold-out twice": (("a.npz", "--hold-out", "30", "--validate", "b.csv"), "keep one of them"),
}


@pytest.mark.parametrize("case", BAD_CHOICES)
def test_bad_choices(folder: Path, case: str) -> None:
    arguments, words = BAD_CHOICES[case]
    assert words in refused("identify", "lu-two-link", *arguments, cwd=folder)


def test_a_log_of_another_robot(folder: Path) -> None:
    assert "7" in refused("identify", "panda", "a.npz", cwd=folder)


def test_outputs_are_tried_before_the_work(folder: Path) -> None:
    with mock.patch("ytheta.cli.identify.read_robot", side_effect=AssertionError):  # not reached
        for output, words in (
            (("-o", "none/model.toml"), "none/model.toml cannot be written: No such file"),
            (("-o", "."), "ending .toml"),
            (("-o", "model.yaml"), "ending .toml"),
            (("--report", "none/page.html"), "none/page.html cannot be written"),
            (("--report", "page.pdf"), "ending .html"),
        ):
            assert words in refused("identify", "lu-two-link", "a.npz", *output, cwd=folder)
        assert "would be overwritten" in refused("identify", "true.toml", "a.npz", "-o", "./true.toml", cwd=folder)
    with mock.patch("ytheta.cli.predict.read_robot", side_effect=AssertionError):
        assert "ending .csv or .parquet" in refused("predict", "lu-two-link", "a.npz", "-o", "t.txt", cwd=folder)
        assert "would be overwritten" in refused("predict", "lu-two-link", "b.csv", "-o", "b.csv", cwd=folder)


@pytest.mark.parametrize("delay", [0.0, 0.3])
def test_an_interruption_leaves_no_half_written_file(tmp_path: Path, delay: float) -> None:
    model = tmp_path / "model.toml"
    model.write_text("what was there before")
    log = write_log(tmp_path / "long.npz", yt.load("lu-two-link"), seconds=600.0)
    command, environment = process("identify", "lu-two-link", str(log), "-o", str(model))
    running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    loaded = Path(f"/proc/{running.pid}/maps")
    while running.poll() is None and "multiarray" not in loaded.read_text():  # numpy is there: main is at work
        time.sleep(0.005)
    time.sleep(delay)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    # A shell shows 130 for both: Python itself ends by the signal where it struck within an exec, as of a dataclass.
    assert running.returncode in (130, -signal.SIGINT)
    assert out == b""
    assert err.splitlines()[-1] == b"interrupted"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["long.npz", "model.toml"]
    assert model.read_text() == "what was there before"
