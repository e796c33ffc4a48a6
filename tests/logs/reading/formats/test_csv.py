"""Text logs: every dialect gives the same numbers; damaged lines are dropped or refused by number."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.support.log_files import (
    ARM,
    ARM_COLUMNS,
    ARM_LOG,
    assert_file_refused,
    assert_same_log,
    codes_above_notes,
    format_csv,
    write_file,
)
from ytheta.findings import Severity
from ytheta.logs.log import LogFindingCode
from ytheta.logs.reading.read import read_log


def quote_fields(content: str) -> str:
    return re.sub(r"[^,\n]+", lambda found: f'"{found.group()}"', content)


DIALECTS: dict[str, Callable[[], str | bytes]] = {
    "comma": lambda: format_csv(ARM_COLUMNS),
    "semicolon": lambda: format_csv(ARM_COLUMNS, separator=";"),
    "tab": lambda: format_csv(ARM_COLUMNS, separator="\t"),
    "space": lambda: format_csv(ARM_COLUMNS, separator=" "),
    "aligned": lambda: "".join(f"  {line}  \n" for line in format_csv(ARM_COLUMNS, separator="   ").splitlines()),
    "comma and space": lambda: format_csv(ARM_COLUMNS, separator=", "),
    "decimal comma": lambda: format_csv(ARM_COLUMNS, separator=";", decimal=","),
    "quoted": lambda: quote_fields(format_csv(ARM_COLUMNS)),
    "quoted header": lambda: '"' + '","'.join(ARM_COLUMNS) + '"\n' + format_csv(ARM_COLUMNS, header=False),
    "byte order mark": lambda: b"\xef\xbb\xbf" + format_csv(ARM_COLUMNS).encode(),
    "carriage returns": lambda: format_csv(ARM_COLUMNS).replace("\n", "\r"),
    "carriage returns in utf-16": lambda: format_csv(ARM_COLUMNS).replace("\n", "\r").encode("utf-16"),
    "utf-16": lambda: format_csv(ARM_COLUMNS).encode("utf-16"),
    "windows": lambda: format_csv(ARM_COLUMNS).replace("\n", "\r\n"),
    "no last line break": lambda: format_csv(ARM_COLUMNS).rstrip("\n"),
    "comments": lambda: "# made\n# by hand\n" + format_csv(ARM_COLUMNS).replace("\n", "\n# and one more\n", 20),
    "percent": lambda: "% made\n" + format_csv(ARM_COLUMNS, separator=" "),
    "commented names": lambda: "# " + ",".join(ARM_COLUMNS) + "\n" + format_csv(ARM_COLUMNS, header=False),
    "blank lines": lambda: "\n" + format_csv(ARM_COLUMNS).replace("\n", "\n\n", 5) + "\n\n",
    "separator at the end": lambda: format_csv(ARM_COLUMNS).replace("\n", ",\n"),
    "late blanks": lambda: format_csv(ARM_COLUMNS)[:-400] + format_csv(ARM_COLUMNS)[-400:].replace(",", " , "),
    "capitals": lambda: format_csv({name.upper(): column for name, column in ARM_COLUMNS.items()}),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_gives_the_same_numbers(dialect: str, tmp_path: Path) -> None:
    log = read_log(write_file(tmp_path, DIALECTS[dialect]()), ARM)
    assert_same_log(log, ARM_LOG)
    assert codes_above_notes(log) == set()


PREAMBLES = {
    "texts": "Trace of run 7\nDate: 2026-03-01, 12:00\n",
    "keys and values": "Name;Run 7\nStart;133500000000000000;100 ns\nChannels;7\n\n",
    "separator of Excel": "sep=;\n",
}


@pytest.mark.parametrize("kind", PREAMBLES)
@pytest.mark.parametrize("decimal", [".", ","])
def test_lines_before_the_header_are_skipped_and_reported(kind: str, decimal: str, tmp_path: Path) -> None:
    path = write_file(tmp_path, PREAMBLES[kind] + format_csv(ARM_COLUMNS, separator=";", decimal=decimal))
    log = read_log(path, ARM)
    assert_same_log(log, ARM_LOG)
    (finding,) = [finding for finding in log.findings if finding.code == LogFindingCode.HEADER]
    assert finding.severity is Severity.NOTE
    assert finding.fields["lines"] == PREAMBLES[kind].count("\n")


def test_twin_lines_before_a_doubtful_header_are_refused(tmp_path: Path) -> None:
    """A header with a number, two headers, and no header at all."""
    header, *rows = format_csv(ARM_COLUMNS).splitlines()
    for lines in (["run 7", header.replace("qd1", "3.5")], ["run 7", header, header.replace("q", "w")], ["run 7"]):
        assert_file_refused(write_file(tmp_path, "\n".join([*lines, *rows])))


@pytest.mark.parametrize("before", ["", "Trace of run 7\n"])
def test_a_line_of_units_below_the_header_counts(before: str, tmp_path: Path) -> None:
    n = len(ARM.actuated)
    columns = {name: np.degrees(c) if name.startswith("q") else c for name, c in ARM_COLUMNS.items()}
    header, *rows = format_csv(columns, separator=";").splitlines()
    units = ";".join(["s", *["deg"] * n, *["[deg/s]"] * n, *["Nm"] * n])
    log = read_log(write_file(tmp_path, before + "\n".join([header, units, *rows])), ARM)
    np.testing.assert_allclose(log.q, ARM_LOG.q, rtol=1e-12)
    assert_file_refused(write_file(tmp_path, "\n".join([header, units.replace("Nm", "apples"), *rows])), "line 2")


def test_a_commented_header_above_rows_with_texts_counts(tmp_path: Path) -> None:
    """As rostopic echo -p writes it: the header begins with %, and the rows contain the names of the joints."""
    header, *rows = format_csv(ARM_COLUMNS).splitlines()
    text = "\n".join([f"%{header},field.frame_id", *(f"{row},base" for row in rows)])
    assert_same_log(read_log(write_file(tmp_path, text), ARM), ARM_LOG)
    # A header below the comment is that of the table.
    text = "\n".join([f"# {header.replace('q', 'w')},frame", f"{header},frame", *(f"{row},base" for row in rows)])
    assert_same_log(read_log(write_file(tmp_path, text), ARM), ARM_LOG)


LEVELS = ["position", "velocity", "effort"]


@pytest.mark.parametrize(
    "top",
    [
        [["", *(level for level in LEVELS for _ in ARM.actuated)], ["time", *ARM.actuated * 3]],
        # A spreadsheet leaves the fields of merged cells empty.
        [["time", *(text for level in LEVELS for text in (level, ""))], ["", *ARM.actuated * 3]],
        # The columns and the index of a DataFrame of pandas have names.
        [
            ["quantity", *(level for level in LEVELS for _ in ARM.actuated)],
            ["joint", *ARM.actuated * 3],
            ["time", *[""] * 6],
        ],
        # Units below.
        [
            ["", *(level for level in LEVELS for _ in ARM.actuated)],
            ["time", *ARM.actuated * 3],
            ["s", *["rad"] * 2, *["rad/s"] * 2, *["Nm"] * 2],
        ],
    ],
)
def test_a_header_of_several_lines_is_joined(top: list[list[str]], tmp_path: Path) -> None:
    _, *rows = format_csv(ARM_COLUMNS).splitlines()
    path = write_file(tmp_path, "\n".join([*map(",".join, top), *rows]))
    log = read_log(path, ARM)
    assert_same_log(log, ARM_LOG)
    assert not codes_above_notes(log)
    # The twin: a line of other texts does not become data.
    assert_file_refused(write_file(tmp_path, "\n".join([",".join(ARM_COLUMNS), *map(",".join, top), *rows])), "line 2")


def test_an_index_of_dates_without_a_name_is_the_time(tmp_path: Path) -> None:
    frame = pd.DataFrame({name: values for name, values in ARM_COLUMNS.items() if name != "t"})
    frame.index = pd.Timestamp("2026-03-01") + pd.to_timedelta(ARM_LOG.t, unit="s")
    frame.to_csv(tmp_path / "log.csv")
    log = read_log(tmp_path / "log.csv", ARM)
    np.testing.assert_allclose(log.t, ARM_LOG.t, atol=1e-9)
    # The twin: an index of numbers counts rows.
    frame.reset_index(drop=True).to_csv(tmp_path / "log.csv")
    assert_file_refused(tmp_path / "log.csv", "no time column")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_degree_sign_counts_in_all_encodings(encoding: str, tmp_path: Path) -> None:
    """Even if the positions are so small that they could be radians."""
    columns = {f"{name} [°]" if name in ("q1", "q2") else name: values for name, values in ARM_COLUMNS.items()}
    text = format_csv({name: values for name, values in columns.items() if not name.startswith("qd")})
    log = read_log(write_file(tmp_path, text.encode(encoding)), ARM)
    np.testing.assert_allclose(log.q, np.radians(ARM_LOG.q), rtol=1e-12)


@pytest.mark.parametrize("place", [0, 3, 7])
def test_a_header_with_more_or_fewer_names_than_fields_is_refused(place: int, tmp_path: Path) -> None:
    """A name too many, at any place, would shift all columns after it."""
    header, *rows = format_csv(ARM_COLUMNS).splitlines()
    names = header.split(",")
    longer = ",".join([*names[:place], "more", *names[place:]])
    assert_file_refused(write_file(tmp_path, "\n".join([longer, *rows])), "8 names", "7 fields", "correct the header")
    shorter = ",".join([*names[:place], *names[place + 1 :]]) if place < 7 else ",".join(names[:-1])
    assert_file_refused(write_file(tmp_path, "\n".join([shorter, *rows])), "6 names", "7 fields")


@pytest.mark.parametrize(("of_header", "of_rows"), [(",", ""), ("", ","), (",,", ","), (",", ",")])
def test_separators_at_the_end_of_lines_do_not_count(of_header: str, of_rows: str, tmp_path: Path) -> None:
    header, *rows = format_csv(ARM_COLUMNS).splitlines()
    text = "\n".join([header + of_header, *(row + of_rows for row in rows)])
    assert_same_log(read_log(write_file(tmp_path, text), ARM), ARM_LOG)


def test_rows_with_missing_values_are_dropped(tmp_path: Path) -> None:
    lines = format_csv(ARM_COLUMNS).splitlines()
    for k, word in enumerate(("", "nan", "NaN", "NA", "null", "inf")):
        fields = lines[50 + k].split(",")
        lines[50 + k] = ",".join([*fields[:-1], word])
    log = read_log(write_file(tmp_path, "\n".join(lines)), ARM)
    assert (len(log), codes_above_notes(log)) == (len(ARM_LOG) - 6, {"missing"})
    assert log.segments == ((0, 49), (49, 144))


def test_lines_that_are_not_rows_are_refused_by_number(tmp_path: Path) -> None:
    lines = format_csv(ARM_COLUMNS).splitlines()
    assert_file_refused(
        write_file(tmp_path, "\n".join([*lines[:60], "0.1,0.2", *lines[60:]])), "line 61", "2 fields", "7"
    )
    assert_file_refused(
        write_file(tmp_path, "\n".join([*lines[:60], lines[60] + ",5,6", *lines[61:]])), "line 61", "9 fields"
    )
    assert_file_refused(
        write_file(tmp_path, "\n".join(["# a", *lines[:60], "a,b,c,d,e,f,g", *lines[60:]])), "line 62", "'a'", "'t'"
    )
    spoiled = lines[80].replace(lines[80].split(",")[3], "x12")
    assert_file_refused(
        write_file(tmp_path, "\n".join([*lines[:80], spoiled, *lines[81:]])), "line 81", "'x12'", "'qd1'"
    )


@pytest.mark.parametrize("cut", [5, 30, 60])
def test_an_incomplete_last_line_is_dropped_and_reported(cut: int, tmp_path: Path) -> None:
    lines = format_csv(ARM_COLUMNS).splitlines()
    path = write_file(tmp_path, "\n".join([*lines[:-1], lines[-1][:cut]]))
    log = read_log(path, ARM)
    assert_same_log(log, ARM_LOG.select_rows(0, len(ARM_LOG) - 1))
    (finding,) = (finding for finding in log.findings if finding.code == "truncated")
    assert finding.severity is Severity.REPAIRED
    assert "(151)" in finding.text
    assert_file_refused(path, "incomplete", strict=True)


def test_fields_that_are_too_long_are_refused(tmp_path: Path) -> None:
    path = write_file(tmp_path, f"t,{200_000 * 'x'}\n0,1\n")
    message = assert_file_refused(path, "cannot be split into fields", "131072")
    assert len(message) < 300
