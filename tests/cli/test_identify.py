"""``ytheta identify`` and ``ytheta predict`` as their user meets them."""

from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
import pytest

from tests.support.arm_logs import RATE
from tests.support.command import read_json, refused, ytheta
from ytheta.cli.log_options import show_progress
from ytheta.identification.equations.form import FORMS
from ytheta.identification.equations.selection import FRICTION
from ytheta.identification.estimators.estimator import ESTIMATORS

# The order of the estimators in the help.
ORDER = (
    "evidence",
    "weighted",
    "least-squares",
    "sequential",
    "huber",
    "recursive",
    "lin",
    "instrumental-variables",
    "total-least-squares",
)
FIXED = {"samples", "base_count", "condition_number", "fit", "validation", "parameters", "consistent", "verdict"}


def test_json(folder: Path) -> None:
    answer = read_json(folder, "identify", "lu-two-link", "a.npz", "--validate", "b.csv")
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
    assert (answer["derivative"], answer["min_speed"]) == ("central", "auto")
    assert answer["equations"] == [answer["samples"]] * 2
    assert values["link2.mx*"]["independent"] == "link2.mx"
    assert {row["independent"] for row in answer["parameters"]} <= set(answer["standard_parameters"])


def test_errors_at_a_report_cutoff(folder: Path) -> None:
    command = ("identify", "lu-two-link", "a.npz", "--validate", "b.csv")
    answer = read_json(folder, *command, "--report-cutoff", "3")
    assert answer["reported"]["cutoff"] == 3.0
    other = read_json(folder, *command, "--cutoff", "3")
    assert answer["reported"]["fit"]["samples"] == other["fit"]["samples"] != answer["fit"]["samples"]
    validation = answer["reported"]["validation"]
    assert validation["nrmse_mean"] == pytest.approx(np.mean(validation["nrmse"]))
    assert answer["cutoff"] == min(answer["cutoffs"]) != 3.0
    assert other["reported"] is None
    assert "errors at 3 Hz, the report cut-off: fit" in ytheta(*command, "--report-cutoff", "3", cwd=folder).stdout
    message = refused(*command, "--report-cutoff", f"{0.5 * RATE}", cwd=folder)
    assert "a.npz" in message
    assert f"{RATE:.4g} samples per second" in message


def test_the_source_of_velocities(folder: Path) -> None:
    assert "unknown velocity 'measured'" in refused(
        "identify", "lu-two-link", "a.npz", "--velocity", "measured", cwd=folder
    )
    position = read_json(folder, "identify", "lu-two-link", "a.npz", "--velocity", "position")
    assert position["fit"] == read_json(folder, "identify", "lu-two-link", "a.npz")["fit"]  # velocity was not recorded
    assert "velocity was not recorded" in refused(
        "identify", "lu-two-link", "a.npz", "--velocity", "recorded", cwd=folder
    )


def test_what_the_data_chose_in_json(folder: Path) -> None:
    answer = read_json(folder, "identify", "lu-two-link", "a.npz", "--validate", "b.csv")
    choice = answer["choice"]
    assert choice["considered"] == ["rotor inertia", "root friction", "load friction"]
    assert choice["kept"] == []  # the arm of the logs has neither rotors nor such friction
    assert [each["change"] for each in choice["alternatives"]] == [f"with {name}" for name in choice["considered"]]
    for each in choice["alternatives"]:
        assert each["log_bayes_factor"] < 5.0
        assert 0.0 < each["fit_percent"] < each["validation_percent"] * 2.0
    assert (answer["prior"]["center"], answer["prior"]["source"]) == ("description", "")
    assert answer["prior"]["relative_deviation"] == answer["prior"]["scales"]["description"] > 0.0
    assert {"link link1", "link link2"} <= set(answer["prior"]["scales"])
    consistency = answer["consistency"]
    assert (answer["consistent"], consistency["lacking_links"]) == (True, [])
    # The arm of the logs can exist, so consistency costs nothing; weighted squares, not these errors, are minimized.
    assert consistency["estimate_percent"] == pytest.approx(consistency["bodies_percent"], rel=1e-3)
    assert consistency["validation_bodies_percent"] == pytest.approx(answer["validation"]["relative_error_percent"])
    rows = {row["name"]: row for row in answer["parameters"]}
    assert rows["joint1.fv"]["mark"] == "data"
    assert all(row["mark"] in ("data", "shared", "prior") for row in rows.values())
    standard = {row["name"]: row for row in answer["standard"]}
    assert standard["link1.m"]["mark"] == "prior"  # no torque depends on it alone
    assert standard["joint1.fv"]["std"] < 0.01 * standard["joint1.fv"]["prior_std"]
    assert set(standard) == set(answer["standard_parameters"])
    plain = read_json(folder, "identify", "lu-two-link", "a.npz", "--estimator", "weighted")
    assert (plain["prior"], plain["choice"]) == (None, {"considered": [], "kept": [], "alternatives": []})
    assert {row["mark"] for row in plain["parameters"]} == {None}
    assert plain["consistent"] is True


def test_the_table(folder: Path) -> None:
    result = ytheta("identify", "lu-two-link", "a.npz", "--validate", "b.csv", cwd=folder)
    assert result.returncode == 0
    first, second = result.stderr.splitlines()  # the columns of each log, in brief
    assert first.startswith("note: a.npz: read t from t, q from q1 … q2")
    assert second.startswith("note: b.csv: read t from ")
    assert "ytheta check" in second
    lines = result.stdout.splitlines()
    assert lines[0].startswith("lu-two-link: 2 joints, 12 base parameters; estimator evidence, differential form")
    assert lines[1].startswith("fitted to     a.npz: ")
    assert lines[2].startswith("validated on  b.csv: ")
    assert any(line.split()[:1] == ["joint2.fv"] and "yes" in line for line in lines)
    assert any("torque RMS" in line and "NRMSE %" in line and "validation %" in line for line in lines)
    assert any(line.split()[:3] == ["base", "parameter", "value"] and "determined by" in line for line in lines)
    assert any(line.startswith(" with root friction ") for line in lines)
    assert any(line.startswith("chosen by the data, by log Bayes factors in favour: rotor inertia ") for line in lines)
    assert any(line.startswith("prior: the description, expected to be off by ") for line in lines)
    assert any(line.startswith("bodies: the model consists of physically consistent bodies; ") for line in lines)
    plain = ytheta("identify", "lu-two-link", "a.npz", "--estimator", "weighted", cwd=folder).stdout
    assert "bodies: the model consists of physically consistent bodies; " in plain
    for words in ("determined by", "log Bayes factor", "prior: "):
        assert words not in plain
    assert lines[-1].startswith("Good: the torque error is ")
    narrow = ytheta("identify", "lu-two-link", "a.npz", cwd=folder, columns=60).stdout
    assert "combined with" in result.stdout
    assert "combined with" not in narrow
    assert "validation %" not in narrow
    assert "joint2.fv" in narrow
    assert "--verbose" in narrow
    full = ytheta("identify", "lu-two-link", "a.npz", "--verbose", cwd=folder, columns=60).stdout
    assert "link1.mx* = link1.mx + 0.5·link2.m + 0.5·load.m" in full.splitlines()


def test_verbose_prints_notes(folder: Path) -> None:
    result = ytheta("identify", "lu-two-link", "a.npz", "--verbose", cwd=folder)
    assert "note: sampled at 200 Hz" in result.stderr
    assert result.stderr.count("note: sampled at 200 Hz") == 1
    assert "note: low-pass at" in result.stderr


def test_motion_that_does_not_excite(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.toml"
    result = ytheta("identify", "lu-two-link", "still.npz", "-o", str(model), cwd=folder)
    assert result.returncode == 1
    assert result.stdout.splitlines()[-1].startswith("Not exciting: the motion does not determine joint2.fv, joint2.fc")
    assert "missing motion: move joint2 at clearly different speeds, in both directions" in result.stdout
    assert "warning: hardly any motion" in result.stderr
    assert model.exists()
    answer = read_json(folder, "identify", "lu-two-link", "still.npz", code=1)
    assert answer["condition_number"] is None
    assert {row["name"] for row in answer["parameters"] if row["std"] is None} == {"joint2.fv", "joint2.fc"}
    assert answer["missing"][0]["motion"]
    assert "--strict" in ytheta("identify", "--help").stdout
    assert "hardly any motion" in refused("identify", "lu-two-link", "still.npz", "--strict", cwd=folder)


def test_poor_models_exit_with_1(folder: Path) -> None:
    rng = np.random.default_rng(1)
    table = pl.read_csv(folder / "b.csv")
    noise = [pl.col(name) + 200.0 * pl.Series(rng.normal(size=len(table))) for name in ("tau1", "tau2")]
    table.with_columns(noise).write_csv(folder / "noisy.csv")
    answer = read_json(folder, "identify", "lu-two-link", "noisy.csv", code=1)
    assert answer["verdict"] == "poor"
    assert answer["fit"]["relative_error_percent"] > 25.0


def test_options(folder: Path) -> None:
    choices = [
        "--estimator",
        "huber",
        "--cutoff",
        "8",
        "--derivative",
        "spline",
        "--threads",
        "1",
        "--min-speed",
        "0.01",
    ]
    answer = read_json(folder, "identify", "lu-two-link", "a.npz", "--friction", "viscous,asymmetric", *choices)
    assert (answer["estimator"], answer["cutoff"], answer["base_count"]) == ("huber", 8.0, 12)
    bare = ("--friction", "none", "--no-rotor-inertia")
    assert read_json(folder, "identify", "lu-two-link", "a.npz", *bare)["base_count"] == 6
    assert read_json(folder, "identify", "lu-two-link", "a.npz", "--parameters", "link*,joint1.f?")["base_count"] == 9
    answer = read_json(folder, "identify", "lu-two-link", "a.npz", "--form", "momentum", "--rotor-inertia")
    assert (answer["form"], answer["base_count"]) == ("momentum", 13)


def test_choices_that_are_forced(folder: Path) -> None:
    forced = read_json(folder, "identify", "lu-two-link", "a.npz", "--rotor-inertia", "--friction", "viscous,root")
    assert (forced["friction"], forced["rotor_inertia"]) == (["viscous", "root"], True)
    assert forced["choice"]["considered"] == []
    without = read_json(folder, "identify", "lu-two-link", "a.npz", "--no-rotor-inertia")
    assert without["choice"]["considered"] == ["root friction", "load friction"]
    weak, strong = (
        read_json(folder, "identify", "lu-two-link", "a.npz", "--prior-strength", strength)
        for strength in ("2", "1000")
    )
    assert (weak["prior"]["relative_deviation"], strong["prior"]["relative_deviation"]) == pytest.approx((0.5, 0.001))
    deviations = [{row["name"]: row["prior_std"] for row in each["standard"]} for each in (weak, strong)]
    assert deviations[0]["link2.m"] == pytest.approx(500.0 * deviations[1]["link2.m"])
    flat = read_json(folder, "identify", "lu-two-link", "a.npz", "--prior", "none")
    assert (flat["prior"]["center"], flat["prior"]["relative_deviation"]) == ("none", None)
    assert {row["mark"] for row in flat["parameters"]} == {None}


def test_bodies_obey_their_bounds(folder: Path) -> None:
    def read_masses(*options: str) -> dict[str, float]:
        rows = read_json(folder, "identify", "lu-two-link", "a.npz", *options)["standard"]
        return {row["name"]: row["value"] for row in rows}

    free = read_masses()
    assert not 3.0 <= free["link1.m"] <= 3.5  # the twin: the bounds are not met without them
    heavy = read_masses("--mass", "link1=3:3.5", "--mass", "link2=:2.5")
    assert 3.0 - 1e-6 <= heavy["link1.m"] <= 3.5 + 1e-6
    assert heavy["link2.m"] <= 2.5 + 1e-6
    total = read_masses("--total-mass", "7:8")
    links = ("link1.m", "link2.m", "load.m")
    assert 7.0 - 1e-6 <= sum(total[name] for name in links) <= 8.0 + 1e-6
    assert sum(free[name] for name in links) < 6.0
    moved = read_masses("--center", "load=0.2:0.3,-1:1,:")
    assert 0.2 - 1e-6 <= moved["load.mx"] / moved["load.m"] <= 0.3 + 1e-6


def test_a_load_is_added(folder: Path) -> None:
    answer = read_json(folder, "identify", "lu-two-link", "a.npz", "--add-load", "link1")
    assert {"link1_load.m", "link1.m"} <= set(answer["standard_parameters"])
    assert answer["base_count"] == 12  # the load of a link cannot be told from the link


def test_an_earlier_model_is_a_prior(folder: Path, tmp_path: Path) -> None:
    """The second identification knows more than the first; a wrong prior file is refused and never overwritten."""
    model = tmp_path / "first.toml"
    first = read_json(folder, "identify", "lu-two-link", "a.npz", "--rotor-inertia", "-o", str(model))
    second = read_json(folder, "identify", "lu-two-link", "b.csv", "--prior", str(model))
    alone = read_json(folder, "identify", "lu-two-link", "b.csv", "--rotor-inertia")
    assert (second["prior"]["center"], second["prior"]["source"]) == ("earlier model", str(model))
    assert (second["rotor_inertia"], second["base_count"]) == (True, first["base_count"])  # as in the earlier model
    std = [{row["name"]: row["std"] for row in each["parameters"]} for each in (second, alone)]
    assert all(std[0][name] < std[1][name] for name in std[0] if name.endswith((".fv", ".fc", ".mx*")))
    printed = ytheta("identify", "lu-two-link", "b.csv", "--prior", str(model), cwd=folder).stdout
    assert "prior: the earlier model first.toml; the data multiply its standard deviations by " in printed
    text = model.read_text()
    same = refused("identify", "lu-two-link", "b.csv", "--prior", str(model), "-o", str(model), cwd=folder)
    assert "first.toml" in same
    assert model.read_text() == text
    other = refused("identify", "lu-two-link", "a.npz", "--prior", "panda", cwd=folder)
    assert "the prior belongs to another robot: only 'lu-two-link' has joint1, joint2" in other
    strong = refused("identify", "lu-two-link", "a.npz", "--prior", str(model), "--prior-strength", "3", cwd=folder)
    assert "has a covariance of its own" in strong


def test_forgetting_factor(folder: Path) -> None:
    plain, fading = (
        read_json(folder, "identify", "lu-two-link", "a.npz", "--estimator", "recursive", *options)["parameters"]
        for options in ((), ("--forgetting", "0.995"))
    )
    pairs = list(zip(plain, fading, strict=True))
    assert any(one["value"] != other["value"] for one, other in pairs)
    assert all(other["std"] > one["std"] for one, other in pairs)
    assert "has no forgetting factor" in refused("identify", "lu-two-link", "a.npz", "--forgetting", "0.9", cwd=folder)
    wrong = refused("identify", "lu-two-link", "a.npz", "--estimator", "recursive", "--forgetting", "2", cwd=folder)
    assert "forgetting is 2" in wrong


def test_hold_out(folder: Path) -> None:
    whole = read_json(folder, "identify", "lu-two-link", "a.npz")
    parts = read_json(folder, "identify", "lu-two-link", "a.npz", "--hold-out", "25")
    assert whole["validation"] is None
    assert parts["validation"]["samples"] < 0.3 * whole["samples"] < parts["samples"] < whole["samples"]
    assert parts["validation_logs"] == ["a.npz (the last 25 %)"]


def test_the_help_names_the_choices_of_the_library() -> None:
    """The help texts spell the names, because the registries are slow to import."""
    text = " ".join(ytheta("identify", "--help", columns=400).stdout.split())
    text = re.sub(r"(?<=\w)- (?=\w)", "-", text)  # a line may end after the hyphen of a name
    assert f"{', '.join(['auto', *ORDER[:-1]])} or {ORDER[-1]}." in text
    assert set(ORDER) == set(ESTIMATORS)
    assert f"by default {','.join(FRICTION)}, and root, load and smooth if the data speak for them." in text
    assert all(name in text for name in FORMS)
    assert "weigthed" not in text  # the twin


def test_findings_are_printed_once_and_name_their_log(folder: Path, tmp_path: Path) -> None:
    table = pl.read_csv(folder / "b.csv")
    spiked = table.with_columns(
        pl.when(pl.int_range(pl.len()) == 500).then(1e4).otherwise(pl.col("tau1")).alias("tau1")
    )
    spiked.write_csv(tmp_path / "spiked.csv")
    alone = ytheta("identify", "lu-two-link", str(tmp_path / "spiked.csv"), cwd=folder).stderr
    assert alone.count("spike") == 1
    assert "spiked.csv: " not in alone
    two = ytheta("identify", "lu-two-link", "a.npz", "--validate", str(tmp_path / "spiked.csv"), cwd=folder).stderr
    assert two.count("note: spiked.csv: 1 row with spikes") == 1
    parts = ytheta("identify", "lu-two-link", str(tmp_path / "spiked.csv"), "--hold-out", "20", cwd=folder).stderr
    assert parts.count("note: spiked.csv: 1 row with spikes") == 1
    predicted = ytheta("predict", "true.toml", str(tmp_path / "spiked.csv"), cwd=folder).stderr
    assert predicted == "".join(line for line in alone.splitlines(keepends=True) if "read t from" not in line)
    failed = ytheta("identify", "lu-two-link", str(tmp_path / "spiked.csv"), "--min-speed", "1e9", cwd=folder)
    note, error = failed.stderr.splitlines()
    assert note == predicted.splitlines()[0]
    assert error.startswith("error: no equation is left")
    quiet = ytheta("predict", "true.toml", "b.csv", cwd=folder).stderr
    assert quiet == ""
    assert "note: sampled at 200 Hz" in ytheta("predict", "true.toml", "b.csv", "--verbose", cwd=folder).stderr


def test_report(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "arm.html"
    model = tmp_path / "arm.toml"
    result = ytheta("identify", "lu-two-link", "a.npz", "--report", str(page), "-o", str(model), cwd=folder)
    assert result.returncode == 0
    columns, *written = result.stderr.splitlines()
    assert columns.startswith("note: read t from t, ")
    assert written == [f"note: wrote {model}", f"note: wrote {page}"]
    assert 'id="log-columns"' in page.read_text(encoding="utf-8")
    assert "<html" in page.read_text()


def test_an_internal_error_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never with 1, which says that the work was done."""
    monkeypatch.delenv("YTHETA_DEBUG", raising=False)
    with mock.patch("ytheta.cli.identify.read_robot", side_effect=RuntimeError("two\nlines")):
        result = ytheta("identify", "lu-two-link", "a.npz", cwd=folder)
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (70, "", 1)
        assert result.stderr.startswith("internal error: RuntimeError: two lines; please report it")
        monkeypatch.setenv("YTHETA_DEBUG", "1")
        assert "Traceback" in ytheta("identify", "lu-two-link", "a.npz", cwd=folder).stderr


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for watched in (True, False):
        err = io.StringIO()
        monkeypatch.setattr(err, "isatty", lambda seen=watched: seen)
        monkeypatch.setattr(sys, "stderr", err)
        with show_progress() as report_stage:
            report_stage("estimating")
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
    "no log": (("none.csv",), "none.csv does not exist"),
    "another robot's log": (("a.npz", "--fix-base", "--mapping", "none.toml"), "none.toml"),
    "estimator": (("a.npz", "--estimator", "weigthed"), "did you mean 'weighted'"),
    "form": (("a.npz", "--form", "integrl"), "did you mean 'integral'"),
    "friction": (("a.npz", "--friction", "viscos"), "did you mean 'viscous'"),
    "parameters": (("a.npz", "--parameters", "joint3.fv"), "has no parameter 'joint3.fv'"),
    "no parameters": (("a.npz", "--parameters", ""), "parameters is empty"),
    "parameters and friction": (("a.npz", "--parameters", "link*", "--friction", "viscous"), "remove friction"),
    "parameters and rotors": (("a.npz", "--parameters", "link*", "--rotor-inertia"), "remove rotor_inertia"),
    "prior": (("a.npz", "--prior", "none.toml"), "none.toml"),
    "prior without estimator": (("a.npz", "--prior", "none", "--estimator", "huber"), '"huber" has no prior'),
    "strength without estimator": (("a.npz", "--prior-strength", "5", "--estimator", "lin"), '"lin" has no prior'),
    "strength": (("a.npz", "--prior-strength", "0"), "prior_strength is 0; give a positive number"),
    "strength without prior": (("a.npz", "--prior-strength", "5", "--prior", "none"), "prior_strength needs a prior"),
    "load": (("a.npz", "--add-load", "link9"), "has no link 'link9'"),
    "mass of no link": (("a.npz", "--mass", "link9=1:2"), "has no moving link of this name"),
    "mass without link": (
        ("a.npz", "--mass", "1:2"),
        "--mass '1:2': write a link and its bounds, such as --mass link2=1:5",
    ),
    "mass without range": (("a.npz", "--mass", "link1=2"), "--mass '2': write LOWER:UPPER"),
    "mass upside down": (("a.npz", "--mass", "link1=3:2"), "--mass '3:2': write LOWER:UPPER, the lower number first"),
    "mass twice": (("a.npz", "--mass", "link1=1:2", "--mass", "link1=1:3"), "bounds of 'link1' are given twice"),
    "no total mass": (("a.npz", "--total-mass", "heavy"), "--total-mass 'heavy': write LOWER:UPPER"),
    "total mass that no body has": (("a.npz", "--total-mass", "1:2", "--mass", "link1=3:4"), "total mass"),
    "center": (("a.npz", "--center", "link1=0:1,0:1"), "write 3 times LOWER:UPPER, separated by commas"),
    "derivative": (("a.npz", "--derivative", "euler"), "unknown derivative 'euler'"),
    "cut-off": (("a.npz", "--cutoff", "fast"), "--cutoff 'fast': give a number of Hz, or auto"),
    "cut-off beyond the samples": (("a.npz", "--cutoff", "1000"), "1000"),
    "no cut-off at all": (("a.npz", "--cutoff", "0"), "--cutoff '0'"),
    "periods": (("a.npz", "--average-periods", "-1"), "--average-periods '-1'"),
    "min_speed": (("a.npz", "--min-speed", "1,2,3"), "min_speed has 3 speeds for 2 joints"),
    "min speed of all": (("a.npz", "--min-speed", "1e9"), "no equation is left"),
    "min speed words": (("a.npz", "--min-speed", "nan"), "--min-speed 'nan'"),
    "threads": (("a.npz", "--threads", "0"), "threads is 0"),
    "mappings": (("a.npz", "--mapping", "x.toml", "--mapping", "y.toml"), "2 mappings for 1 logs"),
    "hold-out": (("a.npz", "--hold-out", "100"), "between 0 and 100"),
    "hold-out as a part": (("a.npz", "--hold-out", "0.3"), "did you mean 30?"),
    "hold-out of two": (("a.npz", "b.csv", "--hold-out", "30"), "splits a single log"),
    "hold-out twice": (("a.npz", "--hold-out", "30", "--validate", "b.csv"), "keep one of them"),
}


@pytest.mark.parametrize("case", BAD_CHOICES)
def test_bad_options(folder: Path, case: str) -> None:
    arguments, words = BAD_CHOICES[case]
    assert words in refused("identify", "lu-two-link", *arguments, cwd=folder)


def test_a_log_of_another_robot(folder: Path) -> None:
    assert "7" in refused("identify", "panda", "a.npz", cwd=folder)


def test_unknown_geometry(folder: Path) -> None:
    """All lengths count as unknown: the model predicts, and what needs lengths says so."""
    arguments = ("identify", "lu-two-link", "a.npz", "--validate", "b.csv", "--unknown-geometry")
    answer = read_json(folder, *arguments, "--form", "cumulative", "--window", "0.2", "--estimator", "sequential")
    assert (answer["unknown_lengths"], answer["unknown_angles"], answer["verdict"]) == (["l1", "l2"], [], "good")
    names = [row["name"] for row in answer["parameters"]]
    assert names[0] == "joint1.X1"
    assert answer["base_count"] == len(names) > 12  # 12 base parameters with known lengths
    assert "geometry" in [finding["code"] for finding in answer["findings"]]
    result = ytheta(*arguments, "-o", "unknown.toml", cwd=folder)
    assert result.stdout.splitlines()[0].startswith(
        f"lu-two-link: 2 joints, {len(names)} model parameters of the regrouped Lagrangian (unknown: l1, l2); estimator"
    )
    predicted = read_json(folder, "predict", "unknown.toml", "b.csv")
    assert predicted["relative_error_percent"] < 1.0
    message = refused("simulate", "unknown.toml", cwd=folder)
    assert "was identified with unknown geometry, so its links have no inertias; for torques, use predict" in message
    assert "'l1' cannot be set" in refused("base", "unknown.toml", "--length", "l1=0.5", cwd=folder)
    assert "leave 'parameters' out" in refused(*arguments, "--parameters", "link*", cwd=folder)


def test_a_validation_log_at_rest_is_refused(folder: Path, tmp_path: Path) -> None:
    """Nothing can be judged there; the error would be zero."""
    rows = "".join(f"{0.01 * k:.2f},0.5,-0.2,50,{k % 7}\n" for k in range(400))
    rest = tmp_path / "rest.csv"
    rest.write_text(f"t,q1,q2,tau1,tau2\n{rows}")
    line = refused("identify", "lu-two-link", "a.npz", "--validate", str(rest), cwd=folder)
    assert "no joint moves" in line
