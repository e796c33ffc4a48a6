"""The steps of ``make demo`` with less work: a motion is designed, an arm simulated by MuJoCo follows it, the arm is
identified and compared to the truth.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from examples.compare_with_truth import Comparison, compare, format_design, format_table, read_design
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
    "viscous,coulomb,offset",
    "--min-speed",
    "0.1",
)


def read_options(command: str) -> list[str]:
    """Return the options of a command of ``make demo``."""
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    (noise,) = re.findall(r"^UR10_NOISE := (.*)$", makefile, re.MULTILINE)
    (line,) = re.findall(rf"ytheta {command} ur10 (.*)$", makefile, re.MULTILINE)
    options = " ".join(f"--noise {entry}" for entry in noise.split())
    return line.replace("$(addprefix --noise ,$(UR10_NOISE))", options).replace("report/", "").split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def design(folder: Path) -> str:
    """Design the motion with one start instead of many, write the logs, and return what was printed."""
    result = ytheta("excite", "ur10", *read_options("excite"), "--starts", "1", "--polished", "1", cwd=folder)
    assert result.returncode == 0, result.stderr
    write_logs("ur10", folder, trajectory=yt.load_trajectory(folder / "ur10.motion.toml"), seconds=8.0, seed=2)
    return result.stdout


@pytest.fixture(scope="module")
def answer(folder: Path, design: str) -> dict[str, Any]:
    assert design
    result = ytheta(*LOGS, "-o", "ur10.model.toml", "--json", cwd=folder)
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


@pytest.mark.usefixtures("design")
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


def test_the_readme_shows_what_is_printed(comparison: Comparison, folder: Path, design: str) -> None:
    """Numbers depend on the length of the motion and, in their last digits, on the processor; the words do not."""
    readme = (ROOT / "README.md").read_text()
    (shown,) = re.findall(r"^```text\n\$ make demo\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    printed = "\n".join(
        [
            design,
            ytheta(*LOGS, cwd=folder).stdout,
            *format_table(comparison),
            format_design(comparison, read_design(folder / "ur10.motion.html")),
            (ROOT / "Makefile").read_text(),
        ]
    )
    assert list_missing_lines(shown, printed) == []
    assert list_missing_lines(shown.replace("validated on", "tested on"), printed) == ["tested on ur"]


def list_missing_lines(shown: str, printed: str) -> list[str]:
    """Return the beginnings of lines, up to the first digit, that were not printed."""
    starts = [" ".join(re.split(r"[\d…]", line)[0].split()) for line in shown.splitlines()]
    return [start for start in starts if start not in " ".join(printed.split())]
