"""identify reads files, tables in memory and Logs, with one mapping or several, and holds out a part of a log."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ytheta as yt
from tests.support.arm_logs import true_arm, write_log
from ytheta.errors import InputError
from ytheta.logs.log import Log
from ytheta.logs.reading.read import LogReadingOptions
from ytheta.logs.reading.read_logs import read_logs

ROBOT = yt.load("lu-two-link")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    arm = true_arm(folder)
    write_log(folder / "a.npz", arm, seconds=5.0)
    write_log(folder / "b.csv", arm, seed=2, seconds=5.0)
    return folder


def test_all_forms_of_a_log_give_the_same_model(folder: Path) -> None:
    path = folder / "b.csv"
    frame = pd.DataFrame(pl.read_csv(path).to_dict(as_series=False))
    sources: list[Any] = [path, str(path), yt.read_log(path, ROBOT), frame, pl.read_csv(path), frame.to_dict("list")]
    fits = [yt.identify(ROBOT, source) for source in sources]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.beta, fits[0].beta)
        np.testing.assert_array_equal(fit.std, fits[0].std)
    assert [fit.origin.logs for fit in fits[3:]] == [("DataFrame",), ("DataFrame",), ("dict",)]
    other = yt.identify(ROBOT, frame.assign(tau1=frame.tau1 + 0.1))
    assert not np.array_equal(other.beta, fits[0].beta)  # the twin


def test_several_tables_get_numbers(folder: Path) -> None:
    frames = [
        pl.DataFrame(dict(zip(("t", "q1", "q2", "tau1", "tau2"), table.T, strict=True)))
        for table in _read_tables(folder)
    ]
    fit_logs, validation_logs = read_logs(ROBOT, [frames[0], folder / "b.csv"], frames[1].to_dict())
    names = [log.source for log in (*fit_logs, *validation_logs)]
    assert names == ["DataFrame 1", str(folder / "b.csv"), "dict 2"]
    fit_logs, _ = read_logs(ROBOT, (frames[0],))
    assert [log.source for log in fit_logs] == ["DataFrame"]


def _read_tables(folder: Path) -> list[np.ndarray]:
    logs = [yt.read_log(folder / name, ROBOT) for name in ("a.npz", "b.csv")]
    return [np.column_stack([log.t, log.q, log.tau]) for log in logs if log.tau is not None]


def test_mappings_are_one_for_all_or_one_for_each(folder: Path) -> None:
    degrees = yt.read_log(folder / "b.csv", ROBOT)
    table = {"t": degrees.t, "q": np.degrees(degrees.q), "tau": degrees.tau}
    mapping = {"scale": {"q": "deg"}}
    (one,), (other,) = read_logs(ROBOT, table, [table], mapping=mapping)
    np.testing.assert_allclose(one.q, other.q, rtol=0.0, atol=0.0)
    np.testing.assert_allclose(one.q, degrees.q, rtol=0.0, atol=1e-12)
    (one,), (other,) = read_logs(ROBOT, folder / "a.npz", table, mapping=[None, mapping])
    np.testing.assert_allclose(other.q, degrees.q, rtol=0.0, atol=1e-12)
    with pytest.raises(InputError, match="degrees"):
        read_logs(ROBOT, folder / "a.npz", table, mapping=[mapping, None])  # the twin
    with pytest.raises(InputError, match="2 mappings for 1 logs; give one for all"):
        read_logs(ROBOT, table, mapping=[mapping, mapping])


def test_hold_out_splits_a_log(folder: Path) -> None:
    whole = yt.read_log(folder / "a.npz", ROBOT)
    (first,), (last,) = read_logs(ROBOT, folder / "a.npz", hold_out=30.0)
    assert (len(first), len(last)) == (700, 300)
    np.testing.assert_array_equal(np.concatenate([first.q, last.q]), whole.q)
    assert last.source.endswith("a.npz (the last 30 %)")
    assert [each.origin and each.origin.describe_rows() for each in (whole, first, last)] == [
        "",
        "rows 0:700 of 1000",
        "rows 700:1000 of 1000",
    ]
    (first,), (last,) = read_logs(ROBOT, folder / "a.npz", hold_out=50.0, options=LogReadingOptions(rows=(100, 500)))
    assert [each.origin and each.origin.describe_rows() for each in (first, last)] == [
        "rows 100:300 of 1000",
        "rows 300:500 of 1000",
    ]
    (first,), (last,) = read_logs(ROBOT, folder / "a.npz", hold_out=30.0)
    assert (first.findings, last.findings) == (whole.findings, ())
    fit = yt.identify(ROBOT, folder / "a.npz", hold_out=30)
    assert fit.validation is not None
    sampling = [finding for finding in fit.findings if finding.code == "sampling"]
    assert len(sampling) == 1


def test_rows_are_those_of_the_fit(folder: Path) -> None:
    fit = yt.identify(ROBOT, folder / "a.npz", validate=[folder / "b.csv"], rows=(100, 900))
    notes = [finding.text for finding in fit.findings if finding.code == "columns"]
    assert "a.npz: read" in notes[0]
    assert "; rows 100:900 of 1000;" in notes[0]
    assert "rows" not in notes[1]
    assert [size.samples for size in fit.origin.log_sizes] == [800, 1000]
    assert fit.origin.log_rows == [[100, 900], [0, 1000]]
    assert fit.to_dict()["log_rows"] == [[100, 900], [0, 1000]]
    model = tomllib.loads(fit.save(folder / "rows.toml").read_text())
    assert model["identification"]["log_rows"] == [[100, 900], [0, 1000]]
    whole = yt.read_log(folder / "b.csv", ROBOT)  # a Log cannot be cut by rows, and need not be
    (_,), (other,) = read_logs(ROBOT, folder / "a.npz", whole, options=LogReadingOptions(rows=(100, 900)))
    assert other is whole
    with pytest.raises(InputError, match="is a Log, whose columns are known; remove rows"):  # the twin
        read_logs(ROBOT, whole, options=LogReadingOptions(rows=(100, 900)))


def test_rows_of_the_validation_are_in_its_mapping(folder: Path) -> None:
    options = LogReadingOptions(rows=(100, 900))
    files = folder / "a.npz", folder / "b.csv"
    (one,), (other,) = read_logs(ROBOT, *files, mapping=[None, {"rows": [50, 650]}], options=options)
    assert (len(one), len(other)) == (800, 600)
    with pytest.raises(InputError, match="rows is given, but mapping contains rows too"):  # the twin
        read_logs(ROBOT, *files, mapping=[{"rows": [50, 650]}, None], options=options)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"logs": ["a.npz"], "validate": ["b.csv"], "hold_out": 30.0}, "hold_out and validate both choose"),
        ({"logs": ["a.npz", "b.csv"], "hold_out": 30.0}, "hold_out splits a single log, but there are 2"),
        ({"logs": "a.npz", "hold_out": 100.0}, "between 0 and 100"),
        ({"logs": "a.npz", "hold_out": -1.0}, "between 0 and 100"),
        ({"logs": "a.npz", "hold_out": 0.3}, "did you mean 30?"),
        ({"logs": 7}, "a value of type int; give a path, a Log, a pandas or Polars DataFrame, or a dict"),
        ({"logs": ["a.npz", None]}, "cannot be read from None; give a path"),
        ({"logs": np.zeros((5, 5))}, "type numpy.ndarray; give a path"),
        ({"logs": "none.csv"}, "none.csv does not exist"),
    ],
)
def test_bad_logs_are_refused(
    folder: Path, arguments: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(InputError) as caught:
        yt.identify(ROBOT, **arguments)
    assert words in str(caught.value)


def test_strict_and_missing_torques(folder: Path) -> None:
    log = yt.read_log(folder / "b.csv", ROBOT)
    table = {"t": log.t, "q": log.q, "tau": log.tau}
    assert log.tau is not None
    spiked = log.tau.copy()
    spiked[500] += 1e4
    yt.identify(ROBOT, table | {"tau": spiked})
    with pytest.raises(InputError, match="dict is refused"):
        yt.identify(ROBOT, table | {"tau": spiked}, strict=True)
    with pytest.raises(InputError, match="dict contains no torque: no columns tau1 … tau2"):
        yt.identify(ROBOT, {"t": log.t, "q": log.q})
    with pytest.raises(InputError, match="the log has no torques"):
        yt.identify(ROBOT, Log(log.joints, log.t, log.q, source="made"))
