"""``make demo`` with less work: a motion is designed, an arm simulated by MuJoCo follows it, the arm is identified,
compared to the truth, exported and controlled.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from examples.compare_with_truth import Comparison, compare, format_design, read_design
from examples.demo import FRICTION, MIN_SPEED, Demo
from examples.mujoco_log import write_logs

import ytheta as yt
from tests.support.command import ytheta
from tests.support.paths import ROOT

LOGS = (
    "identify",
    "ur10",
    "ur10.fit.parquet",
    "--validate",
    "ur10.validate.parquet",
    "--friction",
    FRICTION,
    "--min-speed",
    MIN_SPEED,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def demo(folder: Path) -> list[str]:
    """Carry out the demo with one start instead of many and less motion, and return what it prints."""
    return list(Demo(folder, starts=1, polished=1, seconds=8.0).tell())


@pytest.fixture(scope="module")
def answer(folder: Path, demo: list[str]) -> dict[str, Any]:
    assert demo
    result = ytheta(*LOGS, "--json", cwd=folder)
    assert result.returncode == 0, result.stderr
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


@pytest.fixture(scope="module")
def comparison(answer: dict[str, Any], folder: Path) -> Comparison:
    assert answer["base_count"] == 58
    return compare(folder / "ur10.model.toml", folder / "ur10.truth.json")


def test_motion_it_has_not_seen_is_predicted(answer: dict[str, Any]) -> None:
    assert answer["verdict"] == "good"
    assert answer["validation"]["relative_error_percent"] < 0.5
    assert max(answer["validation"]["per_joint_percent"]) < 10.0


def test_without_friction_it_is_not(answer: dict[str, Any], folder: Path) -> None:
    worse = json.loads(ytheta(*LOGS, "--friction", "none", "--json", cwd=folder).stdout)
    error = answer["validation"]["relative_error_percent"]
    assert worse["validation"]["relative_error_percent"] > 10.0 * error
    assert min(worse["validation"]["per_joint_percent"]) > 2.0 * error


def test_the_truth_is_found(comparison: Comparison) -> None:
    assert (comparison.deviations <= 3.0).mean() >= 0.9
    assert (comparison.deviations <= 1.0).mean() < 0.95  # standard deviations are not so wide that everything is near
    for kind, count, error in (("viscous", 6, 0.05), ("Coulomb", 6, 0.05), ("rotor", 4, 0.15)):
        own = np.array([name.startswith(kind) for name in comparison.kinds])
        assert own.sum() == count
        np.testing.assert_allclose(comparison.identified[own], comparison.true[own], rtol=error)
    described = yt.base_parameters(yt.load("ur10"), rotor_inertia=True, friction=("viscous", "coulomb", "offset")).beta
    assert (
        abs(described - comparison.true) <= 3.0 * comparison.std
    ).mean() < 0.5  # the description alone does not know it


def test_a_log_is_what_its_seed_says(tmp_path: Path) -> None:
    for seed in (1, 2):
        write_logs("panda", tmp_path / f"{seed}", seconds=1.0, seed=seed)
    write_logs("panda", tmp_path / "again", seconds=1.0, seed=1)
    first, other, again = (pl.read_parquet(tmp_path / name / "panda.fit.parquet") for name in ("1", "2", "again"))
    assert first.equals(again)
    assert not first.equals(other)
    assert first.columns == ["t", *(f"{kind}{k}" for kind in ("q", "tau") for k in range(1, 8))]


@pytest.mark.usefixtures("demo")
def test_true_bodies_can_exist(folder: Path) -> None:
    truth = json.loads((folder / "ur10.truth.json").read_text())["parameters"]
    described = yt.load("ur10").merged
    for link in described.links[1:]:
        true = yt.Inertia(tuple(truth[name] for name in truth if name.startswith(f"{link.name}.")))
        assert true.consistency()
        assert true != link.inertia
        assert true.mass == pytest.approx(link.inertia.mass, rel=0.2)


def test_standard_deviations_are_those_that_the_design_expected(comparison: Comparison, folder: Path) -> None:
    expected = read_design(folder / "ur10.motion.html")
    assert set(expected) == set(comparison.names)
    ratios = {name: std / expected[name] for name, std in zip(comparison.names, comparison.std, strict=True)}
    assert 1.0 / 1.5 < np.median(list(ratios.values())) < 1.5  # the prior helps, leaving out slow samples does not
    halved = {name: 0.5 * std for name, std in expected.items()}
    assert f"median {np.median(list(ratios.values())):.2f}" in format_design(comparison, expected)
    assert f"median {np.median(list(ratios.values())):.2f}" not in format_design(comparison, halved)


def test_every_step_has_one_line_of_result(demo: list[str], answer: dict[str, Any]) -> None:
    steps = [line for line in demo if re.match(r"\d\. ", line)]
    results = [line.removeprefix("   → ") for line in demo if line.startswith("   → ")]
    assert len(steps) == len(results) == 7
    assert results[2] == answer["reason"]
    before, after = (float(number) for number in re.findall(r"([\d.]+) % with", results[3]))
    assert after == pytest.approx(answer["validation"]["relative_error_percent"], rel=0.05)  # two digits are printed
    assert before > 20.0 * after


def test_the_exported_code_was_compiled_and_run(demo: list[str]) -> None:
    (result,) = [line for line in demo if "self-test" in line]
    if shutil.which("cc") is None:
        assert "it was not compiled" in result
    else:
        assert re.search(r"self-test passed: \d\d results as in Python", result)


def test_without_a_compiler_the_demo_says_so(demo: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert demo
    monkeypatch.setattr(shutil, "which", lambda _: None)
    *_, result = Demo(folder).export()
    assert "it was not compiled, since there is no C compiler cc" in result


def test_a_controller_that_starts_from_the_model_tracks_better(demo: list[str]) -> None:
    described, identified = (float(number) for number in re.findall(r"([\d.]+) mrad", demo[-3]))
    assert identified < 0.3 * described


def test_a_command_that_fails_ends_the_demo(demo: list[str], folder: Path, tmp_path: Path) -> None:
    assert demo
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "ur10.fit.parquet").write_bytes(b"no log")
    with pytest.raises(SystemExit, match=r"ended with exit code 2: see .*demo.txt"):
        list(Demo(tmp_path).identify())
    assert "error: " in (tmp_path / "demo.txt").read_text()


def test_the_readme_shows_what_is_printed(demo: list[str], folder: Path) -> None:
    """Numbers depend on the length of the motion and, in their last digits, on the processor; the words do not."""
    readme = (ROOT / "README.md").read_text()
    (shown,) = re.findall(r"^```text\n\$ make demo\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    (tables,) = re.findall(r"^```text\n( base parameter.*?)^```", readme, re.DOTALL | re.MULTILINE)
    printed = "\n".join(demo).replace(str(folder), "report")
    assert list_missing_lines(shown, printed) == []
    assert list_missing_lines(shown.replace("self-test", "self-check"), printed) == [
        "→ compiled by cc without warnings; self-check passed:"
    ]
    assert list_missing_lines(tables, (folder / "demo.txt").read_text()) == []


def list_missing_lines(shown: str, printed: str) -> list[str]:
    """Return the beginnings of lines, up to the first digit, that were not printed."""
    starts = [" ".join(re.split(r"[\d…]", line.lstrip(" 1234567.,"))[0].split()) for line in shown.splitlines()]
    return [start for start in starts if start not in " ".join(printed.split())]
