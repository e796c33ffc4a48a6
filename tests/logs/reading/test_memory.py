"""Tables in memory give the log of the file that is written from them."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ytheta
from tests.support.log_files import ARM, ARM_COLUMNS, ARM_LOG, assert_same_log
from ytheta.errors import InputError
from ytheta.logs.log import Log
from ytheta.logs.reading.memory import is_frame
from ytheta.logs.reading.read import read_log

MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "dict": dict}


def with_gap_and_spike() -> dict[str, np.ndarray]:
    """Columns with findings of several kinds: a missing value, a gap, a spike, and a joint in degrees per second."""
    columns = {name: values.copy() for name, values in ARM_COLUMNS.items()}
    columns["q1"][20] = np.nan
    columns["tau2"][70] = 1e4
    columns["t"][100:] += 3.0
    return columns


def without_source(log: Log) -> list[str]:
    return [finding.text.replace(log.source, "SOURCE") for finding in log.findings]


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("faulty", [False, True])
def test_a_table_is_read_like_the_file_written_from_it(maker: str, faulty: bool, tmp_path: Path) -> None:
    columns = with_gap_and_spike() if faulty else ARM_COLUMNS
    path = tmp_path / "log.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    from_file, from_memory = read_log(path, ARM), read_log(MAKERS[maker](columns), ARM)
    assert_same_log(from_memory, from_file)
    assert from_memory.segments == from_file.segments
    assert without_source(from_memory) == without_source(from_file)
    assert [(f.code, f.severity, f.fields) for f in from_memory.findings] == [
        (f.code, f.severity, f.fields) for f in from_file.findings
    ]
    assert len(from_memory.segments) == (2 if faulty else 1)
    assert from_memory.source == ("dict" if maker == "dict" else "DataFrame")
    # The twin: the file of other numbers gives another log.
    pd.DataFrame(columns | {"q2": columns["q2"] + 1e-9}).to_csv(path, index=False)
    with pytest.raises(AssertionError):
        assert_same_log(from_memory, read_log(path, ARM))


@pytest.mark.parametrize("maker", MAKERS)
def test_a_mapping_and_strict_apply_to_tables(maker: str) -> None:
    columns = {"seconds": 1e3 * ARM_LOG.t} | {f"p_{k}": np.degrees(ARM_LOG.q[:, k]) for k in range(2)}
    mapping: dict[str, Any] = {
        "columns": {"t": "seconds", "q": "p_{}"},
        "scale": {"t": "ms", "q": "deg"},
        "rows": [10, 140],
    }
    log = read_log(MAKERS[maker](columns), ARM, mapping=mapping)
    np.testing.assert_allclose(log.q, ARM_LOG.q[10:140], rtol=0.0, atol=1e-12)
    with pytest.raises(InputError, match="contains no torque"):
        read_log(MAKERS[maker](columns), ARM, mapping=mapping, strict=True)
    with pytest.raises(InputError, match="'skip' is for text files"):
        read_log(MAKERS[maker](columns), ARM, mapping=mapping | {"skip": 1})


@pytest.mark.parametrize("maker", MAKERS)
def test_missing_columns_are_named(maker: str) -> None:
    columns = {name: values for name, values in ARM_COLUMNS.items() if not name.startswith("q")}
    name = "dict" if maker == "dict" else "DataFrame"
    with pytest.raises(InputError, match=f"{name} has no columns q1 … q2"):
        read_log(MAKERS[maker](columns), ARM)
    with pytest.raises(InputError, match=f"{name} contains no rows"):
        read_log(MAKERS[maker]({key: values[:0] for key, values in ARM_COLUMNS.items()}), ARM)


def test_a_dict_has_one_array_per_column_or_per_quantity() -> None:
    whole = read_log({"t": ARM_LOG.t, "q": ARM_LOG.q, "qd": ARM_LOG.qd, "tau": ARM_LOG.tau, "about": "a test"}, ARM)
    assert_same_log(whole, ARM_LOG)
    lists: dict[str, Any] = {name: values.tolist() for name, values in ARM_COLUMNS.items()}
    assert_same_log(read_log(lists, ARM), ARM_LOG)
    series = {name: maker(values) for (name, values), maker in zip(ARM_COLUMNS.items(), [pd.Series, pl.Series] * 4)}  # noqa: B905
    assert_same_log(read_log(series, ARM), ARM_LOG)
    frames = {"t": ARM_LOG.t, "q": pd.DataFrame(ARM_LOG.q), "qd": pl.DataFrame(ARM_LOG.qd), "tau": ARM_LOG.tau}
    assert_same_log(read_log(frames, ARM), ARM_LOG)
    with pytest.raises(InputError, match=r"different numbers of rows \(q1 has 10, t has 150\)"):
        read_log(ARM_COLUMNS | {"q1": np.zeros(10)}, ARM)
    with pytest.raises(InputError, match="dict contains no arrays; it needs t, q and tau"):
        read_log({}, ARM)
    with pytest.raises(InputError, match="dict contains no arrays"):
        read_log({"t": "now", "log": ARM_LOG}, ARM)
    with pytest.raises(InputError, match="the column 'q1' contains complex128, not numbers; convert it"):
        read_log(ARM_COLUMNS | {"q1": 1j * ARM_COLUMNS["q1"]}, ARM)
    with pytest.raises(InputError, match="'q1' is not an array of numbers"):
        read_log(ARM_COLUMNS | {"q1": [[1.0], [1.0, 2.0]]}, ARM)


def test_dicts_within_a_dict() -> None:
    nested: dict[str, Any] = {
        "t": ARM_LOG.t[:, None],
        "about": {"limits": [1.0, 2.0, 3.0], "author": "me", "more": [[1], 2]},
    }
    for k, joint in enumerate(ARM.actuated):
        assert ARM_LOG.qd is not None
        assert ARM_LOG.tau is not None
        nested[joint] = {"q": ARM_LOG.q[:, k], "qd": ARM_LOG.qd[:, k], "tau": ARM_LOG.tau[:, k]}
    log = read_log(nested, ARM)
    assert_same_log(log, ARM_LOG)
    assert log.origin is not None
    assert log.origin.columns[1].column == f"{ARM.actuated[0]}/q"
    assert_same_log(
        read_log({"log": {"t": ARM_LOG.t, "q": ARM_LOG.q, "qd": ARM_LOG.qd, "tau": ARM_LOG.tau}}, ARM), ARM_LOG
    )


@pytest.mark.parametrize("dtype", [float, object])
def test_masked_entries_are_missing_values(dtype: type) -> None:
    missing = ARM_LOG.q.copy()
    missing[30, 1] = np.nan
    columns = {"t": ARM_LOG.t, "tau": ARM_LOG.tau}
    expected = read_log(columns | {"q": missing}, ARM)
    masked: Any = np.ma.array(ARM_LOG.q.astype(dtype), mask=np.isnan(missing))
    assert_same_log(read_log(columns | {"q": masked}, ARM), expected)
    with pytest.raises(AssertionError):  # the twin
        assert_same_log(read_log(columns | {"q": masked.data}, ARM), expected)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"q": None}, "dict: 'q' is None; give an array with one row per sample and one column per joint"),
        ({"q": "abc"}, "dict: 'q' is a single value of type str; give an array"),
        ({"q": np.zeros((150, 2, 1))}, "dict: 'q' is an array with 3 dimensions; give an array"),
        ({"tau": "Nm"}, "dict: 'tau' is a single value of type str"),
        ({"t": 3.0}, "dict: 't' is a single value of type float; give an array with one time per sample"),
    ],
)
def test_entries_that_are_not_columns_are_described(entry: dict[str, Any], words: str) -> None:
    columns = {"t": ARM_LOG.t, "q": ARM_LOG.q, "tau": ARM_LOG.tau}
    with pytest.raises(InputError, match=words):
        read_log(columns | entry, ARM)
    assert read_log(columns | {"tau": None, "qd": None}, ARM).tau is None


def test_types_of_pandas_columns() -> None:
    """Object, nullable and categorical columns with missing values, text, Arrow and sparse columns."""
    missing = ARM_COLUMNS["q1"].copy()
    missing[30] = np.nan
    expected = read_log(ARM_COLUMNS | {"q1": missing}, ARM)
    objects = pd.Series([None if np.isnan(value) else value for value in missing], dtype=object)
    columns = [objects, pd.Series(missing).astype("Float64"), pd.Series(missing).astype("category")]
    columns += [
        objects.map(lambda value: None if value is None else repr(float(value))),
        pd.Series(missing).astype("Sparse"),
    ]
    for column in columns:
        frame = pd.DataFrame(ARM_COLUMNS)
        frame["q1"] = column
        assert_same_log(read_log(frame, ARM), expected)
    whole = pd.DataFrame(ARM_COLUMNS).assign(q1=pd.array([1, None] * 75, dtype="Int64"))
    with pytest.raises(InputError, match="missing"):  # half of all rows
        read_log(whole[1:], ARM)
    frame = pd.DataFrame(ARM_COLUMNS).astype({"q1": object})
    frame.loc[7, "q1"] = "seven"
    with pytest.raises(InputError, match="DataFrame, row 7: 'seven' in the column 'q1' is not a number"):
        read_log(frame, ARM)
    frame = pd.DataFrame(ARM_COLUMNS).assign(q1=pd.date_range("2026-01-01", periods=150, freq="10ms"))
    with pytest.raises(InputError, match=r"the column 'q1' contains datetime64.*, not numbers; .* of seconds"):
        read_log(frame, ARM)


def test_types_of_polars_columns() -> None:
    missing = [None if k == 30 else float(value) for k, value in enumerate(ARM_COLUMNS["q1"])]
    expected = read_log(ARM_COLUMNS | {"q1": np.array(missing, dtype=float)}, ARM)
    for column in (pl.Series(missing), pl.Series([None if value is None else repr(value) for value in missing])):
        assert_same_log(read_log(pl.DataFrame(ARM_COLUMNS).with_columns(q1=column), ARM), expected)
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    for column in (
        pl.Series([[1.0]] * 150),
        pl.Series(["x"] * 150, dtype=pl.Categorical),
        pl.Series([start] * 150),
    ):
        with pytest.raises(InputError, match=r"in the column 'q1' is not a number|'q1' contains datetime64"):
            read_log(pl.DataFrame(ARM_COLUMNS).with_columns(q1=column), ARM)
    unused = pl.DataFrame(ARM_COLUMNS).with_columns(label=pl.lit("run 1"))
    assert_same_log(read_log(unused, ARM), ARM_LOG)  # only columns that are needed are converted


def test_the_index_of_pandas_is_a_column_if_it_has_a_name() -> None:
    frame = pd.DataFrame(ARM_COLUMNS)
    assert_same_log(read_log(frame.set_index("t"), ARM), ARM_LOG)
    assert_same_log(read_log(frame.set_index(np.arange(150)[::-1]), ARM), ARM_LOG)  # rows keep their order
    with pytest.raises(InputError, match="no time column"):
        read_log(frame.set_index("t").rename_axis(None), ARM)
    with pytest.raises(InputError, match="several columns 't'"):
        read_log(frame.set_index("t", drop=False), ARM)


def test_repeated_names_are_refused_if_they_are_needed(tmp_path: Path) -> None:
    frame = pd.concat([pd.DataFrame(ARM_COLUMNS), pd.DataFrame({"x": ARM_LOG.t, "y": ARM_LOG.t})], axis=1)
    harmless = frame.rename(columns={"y": "x"})
    assert_same_log(read_log(harmless, ARM), ARM_LOG)
    wrong = frame.rename(columns={"y": "q1"})
    path = tmp_path / "log.csv"
    wrong.to_csv(path, index=False)
    for source in (wrong, path):
        with pytest.raises(InputError, match=r"has several columns 'q1' \(columns 1, 8, counted from 0\); rename"):
            read_log(source, ARM)


def test_columns_without_names_are_guessed_like_those_of_a_file_without_header(tmp_path: Path) -> None:
    frame = pd.DataFrame(np.column_stack(list(ARM_COLUMNS.values())))
    path = tmp_path / "log.csv"
    frame.to_csv(path, index=False, header=False)
    guessed, expected = read_log(frame, ARM), read_log(path, ARM)
    assert_same_log(guessed, expected)
    assert without_source(guessed) == without_source(expected)
    assert any("no header" in finding.text for finding in guessed.findings)


def test_a_log_is_returned_as_it_is() -> None:
    assert read_log(ARM_LOG, ARM) is ARM_LOG
    with pytest.raises(InputError, match="is a Log, whose columns are known; remove the mapping"):
        read_log(ARM_LOG, ARM, mapping={"rate": 100.0})
    with pytest.raises(InputError, match="use the robot that was recorded"):
        read_log(ARM_LOG, ytheta.load("ur10"))
    faulty = read_log(with_gap_and_spike(), ARM)
    assert read_log(faulty, ARM) is faulty
    with pytest.raises(InputError, match="dict is refused"):
        read_log(faulty, ARM, strict=True)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (None, "None"),
        (3.5, "type float"),
        (np.zeros((3, 4)), r"type numpy\.ndarray"),
        ([1.0], "type list"),
        (pl.LazyFrame(ARM_COLUMNS), r"type polars\.LazyFrame"),
        (pd.Series([1.0]), r"type pandas\.Series"),
        (ARM, r"type ytheta\.Robot"),
    ],
    ids=str,
)
def test_other_values_get_one_sentence(source: Any, words: str) -> None:
    with pytest.raises(
        InputError, match=f"{words}; give a path, a Log, a pandas or Polars DataFrame, or a dict"
    ) as caught:
        read_log(source, ARM)
    assert "\n" not in str(caught.value)


def test_frames_are_recognized_by_their_class() -> None:
    class Own(pd.DataFrame):  # type: ignore[misc]  # mypy does not see pandas
        pass

    class DataFrame:
        pass

    values: tuple[object, ...] = (pd.DataFrame(), pl.DataFrame(), Own(), DataFrame(), {}, None)
    assert [is_frame(value) for value in values] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]


def test_pandas_is_not_imported() -> None:
    code = "import sys, ytheta; ytheta.read_log, ytheta.identify; assert 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# --- dates, durations and labels of several levels --------------------------------------------------------------------

DATES = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.round(1e9 * ARM_LOG.t), unit="ns")
REST = {name: values for name, values in ARM_COLUMNS.items() if name != "t"}
FRAMES_WITH_TIMES: dict[str, Any] = {
    "dates": pd.DataFrame({"t": DATES, **REST}),
    "dates with a zone": pd.DataFrame({"t": DATES.tz_localize("Europe/Berlin"), **REST}),
    "dates as index": pd.DataFrame(REST, index=DATES),
    "dates with a zone as index": pd.DataFrame(REST, index=DATES.tz_localize("UTC")),
    "durations as index": pd.DataFrame(REST, index=DATES - DATES[0]),
    "a named index": pd.DataFrame(REST, index=DATES.rename("timestamp")),
    "an index beside a time": pd.DataFrame({"t": ARM_LOG.t, **REST}, index=DATES[::-1]),
    "polars dates": pl.DataFrame({"time": DATES.to_numpy(), **REST}),
    "polars dates in us": pl.DataFrame({"time": DATES.to_numpy(), **REST}).with_columns(
        pl.col("time").cast(pl.Datetime("us", "UTC"))
    ),
    "polars durations": pl.DataFrame({"time": (DATES - DATES[0]).to_numpy(), **REST}),
    "a dict": {"t": DATES.to_numpy(), **REST},
}


@pytest.mark.parametrize("name", FRAMES_WITH_TIMES)
def test_dates_and_durations_are_times(name: str) -> None:
    log = read_log(FRAMES_WITH_TIMES[name], ARM)
    np.testing.assert_allclose(log.t, ARM_LOG.t, atol=1e-6 if "us" in name else 1e-9)
    assert np.array_equal(log.q, ARM_LOG.q)


def test_missing_dates_are_missing_rows() -> None:
    dates = DATES.to_series().reset_index(drop=True)
    dates[[0, 40]] = pd.NaT
    log = read_log(pd.DataFrame({"t": dates, **REST}), ARM)
    assert len(log) == len(ARM_LOG) - 2
    np.testing.assert_allclose(np.diff(log.t)[:30], np.diff(ARM_LOG.t)[1:31], atol=1e-9)
    with pytest.raises(InputError, match="missing"):
        read_log(pd.DataFrame({"t": pd.Series([pd.NaT] * 150), **REST}), ARM)


@pytest.mark.parametrize("outer", ["quantity", "joint"])
def test_labels_of_several_levels_are_joined(outer: str) -> None:
    assert ARM_LOG.tau is not None
    assert ARM_LOG.qd is not None
    columns: dict[Any, np.ndarray] = {("t", ""): ARM_LOG.t}
    for word, values in (("position", ARM_LOG.q), ("velocity", ARM_LOG.qd), ("effort", ARM_LOG.tau)):
        for k, joint in enumerate(ARM.actuated):
            columns[(word, joint) if outer == "quantity" else (joint, word)] = values[:, k]
    assert_same_log(read_log(pd.DataFrame(columns), ARM), ARM_LOG)
