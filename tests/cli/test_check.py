"""``ytheta check`` as its user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.command import ytheta
from tests.support.log_files import ARM_COLUMNS, format_csv, write_file
from tests.support.paths import SHARED_DATA


def test_tables_json_and_exit_codes(tmp_path: Path) -> None:
    path = write_file(tmp_path, format_csv(ARM_COLUMNS))
    result = ytheta("check", "lu-two-link", str(path))
    assert result.returncode == 0
    assert "log.csv: text table, 1.49 s, 150 samples at 100 Hz" in result.stdout
    assert "position over time" in result.stdout
    data = json.loads(ytheta("check", "lu-two-link", str(path), "--rows", "20:", "--json").stdout)
    (log,) = data["logs"]
    assert log["rows"] == {"recorded": 150, "first": 20, "stop": 150, "used": 130}
    assert [column["column"] for column in log["columns"]] == list(ARM_COLUMNS)
    degrees = {name: np.degrees(v) if name in ("q1", "q2") else v for name, v in ARM_COLUMNS.items()}
    refused = ytheta("check", "lu-two-link", str(write_file(tmp_path, format_csv(degrees), "b.csv")))
    assert refused.returncode == 1
    assert "refused: " in refused.stdout


def test_a_log_without_columns_does_not_hide_the_others(tmp_path: Path) -> None:
    good = str(write_file(tmp_path, format_csv(ARM_COLUMNS)))
    bad = str(write_file(tmp_path, "t,x\n1,2\n3,4\n", "c.csv"))
    page = tmp_path / "page.html"
    result = ytheta("check", "lu-two-link", bad, good, "--report", str(page))
    assert result.returncode == 1
    assert "log.csv: text table" in result.stdout
    assert "has no columns q1" in " ".join(result.stdout.split())
    assert "has no columns q1" in page.read_text(encoding="utf-8")
    data = json.loads(ytheta("check", "lu-two-link", bad, good, "--json").stdout)
    assert ([log["log"] for log in data["logs"]], [log["log"] for log in data["unreadable"]]) == ([good], [bad])
    absent = ytheta("check", "lu-two-link", good, str(tmp_path / "absent.csv"))  # the twin
    assert absent.returncode == 2
    assert absent.stderr.startswith("error: ")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rows", "5"), "--rows '5': write START:STOP"),
        (("--rows", "a:b"), "--rows 'a:b': write START:STOP"),
        (("--rows", "9:3"), "is empty"),
        (("--rows", "99999999999999999999:"), "--rows '99999999999999999999:': no log has so many rows"),
        (("--gain", "x"), "--gain 'x'"),
        (("--gain", "joint1=2"), "no gain of joint2"),
        (("--rate", "-3"), "rate is -3"),
        (("--report", "x.txt"), "x.txt"),
    ],
)
def test_wrong_options_are_one_sentence(options: tuple[str, str], words: str, tmp_path: Path) -> None:
    path = write_file(tmp_path, format_csv(ARM_COLUMNS))
    result = ytheta("check", "lu-two-link", str(path), *options, cwd=tmp_path)
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert words in line


def test_the_report_contains_columns_and_plots(tmp_path: Path) -> None:
    path = write_file(tmp_path, format_csv(ARM_COLUMNS), "<b>.csv")
    page = tmp_path / "page.html"
    result = ytheta("check", "lu-two-link", str(path), "--report", str(page))
    assert result.returncode == 0
    text = page.read_text(encoding="utf-8")
    assert "&lt;b&gt;.csv: text table" in text
    for words in ("tau2", "positions-1", "velocities-1", "torques-1", "Content-Security-Policy"):
        assert words in text


def test_currents_of_a_recorded_log(tmp_path: Path) -> None:
    """Gains on the command line give the torques of the shared file, which were computed with the same gains."""
    folder = SHARED_DATA / "ur10e"
    if not folder.is_dir():
        pytest.skip("the shared logs are not here")
    arguments = ("check", str(folder / "ur10e.urdf"), str(folder / "ur10e_ptp10.parquet"), "--json")
    gains = "14.87,13.26,11.13,10.62,11.03,11.47"
    with_gains = json.loads(ytheta(*arguments, "--gain", gains, cwd=tmp_path).stdout)["logs"][0]
    torques = json.loads(ytheta(*arguments, cwd=tmp_path).stdout)["logs"][0]
    other = json.loads(ytheta(*arguments, "--gain", "10", cwd=tmp_path).stdout)["logs"][0]

    def get_ranges(log: dict[str, list[dict[str, float]]]) -> list[float]:
        return [column["highest"] for column in log["columns"] if column["quantity"] == "tau"]  # type: ignore[comparison-overlap]

    np.testing.assert_allclose(get_ranges(with_gains), get_ranges(torques), rtol=1e-3)  # the file has four decimals
    assert not np.allclose(get_ranges(other), get_ranges(torques), rtol=1e-3)  # the twin
    assert torques["unused_columns"] == [f"i{k}" for k in range(1, 7)]
