"""Dates as time: seconds of Python's datetime, in text and Parquet files; other texts are refused."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.support.log_files import ARM, ARM_COLUMNS, ARM_LOG, assert_file_refused, format_csv, write_file
from ytheta.errors import InputError
from ytheta.logs.reading.cells import parse_seconds
from ytheta.logs.reading.read import read_log

START = datetime(2026, 12, 31, 23, 59, 59, 900_000)  # the log passes midnight
MOMENTS = [START + timedelta(seconds=float(t)) for t in ARM_LOG.t]
SECONDS = np.array([(moment - MOMENTS[0]).total_seconds() for moment in MOMENTS])
FORMS = {
    "ISO": [moment.isoformat() for moment in MOMENTS],  # without a fraction on full seconds
    "space": [moment.isoformat(sep=" ", timespec="microseconds") for moment in MOMENTS],
    "UTC": [moment.isoformat(timespec="microseconds") + "Z" for moment in MOMENTS],
    "zone": [moment.replace(tzinfo=timezone(timedelta(hours=-5, minutes=-30))).isoformat() for moment in MOMENTS],
    "German": [moment.strftime("%d.%m.%Y %H:%M:%S.%f") for moment in MOMENTS],
    "time of day": [moment.strftime("%H:%M:%S.%f") for moment in MOMENTS],
    "quoted": [f'"{moment.isoformat()}"' for moment in MOMENTS],
}


def replace_times(times: list[str]) -> str:
    """The text of a log with other times."""
    header, *rows = format_csv(ARM_COLUMNS).splitlines()
    assert header.startswith("t,")
    return "\n".join([header, *(f"{t},{row.partition(',')[2]}" for t, row in zip(times, rows, strict=True))]) + "\n"


@pytest.mark.parametrize("form", FORMS)
def test_dates_in_text_files_are_seconds_since_the_first(form: str, tmp_path: Path) -> None:
    log = read_log(write_file(tmp_path, replace_times(FORMS[form]), "log.csv"), ARM)
    np.testing.assert_allclose(log.t, SECONDS, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(log.q, ARM_LOG.q)
    assert log.tau is not None


def test_a_column_of_dates_with_another_name_is_chosen_in_a_mapping(tmp_path: Path) -> None:
    path = write_file(tmp_path, "Zeit" + replace_times(FORMS["ISO"]).removeprefix("t"), "log.csv")
    assert_file_refused(path, "no time column", "Zeit")
    np.testing.assert_allclose(read_log(path, ARM, mapping={"columns": {"t": "Zeit"}}).t, SECONDS, atol=1e-9)
    assert_file_refused(path, "dates", "no unit", mapping={"columns": {"t": "Zeit"}, "scale": {"t": "ms"}})


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_dates_durations_and_texts_in_parquet_files(unit: str, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    frame = pl.DataFrame(ARM_COLUMNS)
    atol = 1e-3 if unit == "ms" else 2e-6
    dates = pl.Series("t", MOMENTS, dtype=pl.Datetime(unit))  # type: ignore[arg-type]
    durations = pl.Series("t", [moment - START for moment in MOMENTS], dtype=pl.Duration(unit))  # type: ignore[arg-type]
    for times in (dates, durations, pl.Series("t", FORMS["ISO"])):
        frame.with_columns(times).write_parquet(path, row_group_size=40)
        log = read_log(path, ARM)
        np.testing.assert_allclose(log.t - log.t[0], SECONDS, atol=atol)
        part = read_log(path, ARM, rows=(50, 90))
        np.testing.assert_allclose(part.t, log.t[50:90], rtol=0.0, atol=1e-12)


def test_dates_are_never_positions(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pl.DataFrame(ARM_COLUMNS).with_columns(pl.Series("q1", MOMENTS)).write_parquet(path)
    assert_file_refused(path, "'q1'", "Datetime")
    header, *rows = format_csv(ARM_COLUMNS).splitlines()
    place = header.split(",").index("q1")
    changed = [
        ",".join("2026-01-01T00:00:00" if k == place else f for k, f in enumerate(row.split(","))) for row in rows
    ]
    assert_file_refused(write_file(tmp_path, "\n".join([header, *changed]), "log.csv"), "'q1'", "2026-01-01", "texts")


def test_other_texts_as_time_are_refused_by_row(tmp_path: Path) -> None:
    times = list(FORMS["ISO"])
    times[7] = "2026-02-30T00:00:00"
    assert_file_refused(write_file(tmp_path, replace_times(times), "log.csv"), "row 7", "2026-02-30", "'t'")
    assert_file_refused(
        write_file(tmp_path, replace_times(["3/1/2026 1:00:00 PM"] * len(times)), "log.csv"), "3/1/2026"
    )


def test_a_column_of_texts_beside_missing_values_is_left_out(tmp_path: Path) -> None:
    """An empty field made the row be read again, and the text in its last column was refused."""
    header, *rows = format_csv(ARM_COLUMNS).splitlines()
    rows[5] = rows[5].rpartition(",")[0] + ","
    content = "\n".join([f"{header},mode", *(f"{row},auto" for row in rows)]) + "\n"
    assert len(read_log(write_file(tmp_path, content, "log.csv"), ARM)) == len(rows) - 1


def test_times_of_day_pass_midnight_and_missing_times_are_nan() -> None:
    texts = ["23:59:59.5", None, "nan", "00:00:00,25", "00:00:01"]
    np.testing.assert_allclose(parse_seconds(texts, "log"), [0.0, np.nan, np.nan, 0.75, 1.5])
    with pytest.raises(InputError, match="row 1: '25:00:00'"):
        parse_seconds(["12:00:00", "25:00:00"], "log")


def test_zones_may_change_during_a_log() -> None:
    """At the end of summer time, clocks with a zone go on; Python's own parser agrees."""
    texts = ["2026-10-25T02:59:59.5+02:00", "2026-10-25T02:00:00.5+01:00", "2026-10-24T19:31:00.5-05:30"]
    moments = [datetime.fromisoformat(text) for text in texts]
    expected = [(moment - moments[0]).total_seconds() for moment in moments]
    assert expected == [0.0, 1.0, 61.0]
    np.testing.assert_allclose(parse_seconds(texts, "log"), expected, atol=1e-9)
