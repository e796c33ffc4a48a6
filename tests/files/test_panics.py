"""Panics of Polars become errors, without its lines on the standard error stream."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.support.log_files import assert_file_refused, write_file
from tests.support.paths import ROOT
from ytheta.files.panics import catch_panics


@pytest.mark.parametrize("content", [',"', 'a,"\n1,"', '"', '""",""\n,"', '\x00,"'])
def test_texts_that_polars_cannot_parse_are_refused(content: str, tmp_path: Path) -> None:
    assert_file_refused(write_file(tmp_path, content, "x.csv"), "x.csv")


def test_a_column_of_texts_with_an_open_quote_is_refused(tmp_path: Path) -> None:
    """Found by the fuzzer: the texts of the column are read a second time."""
    rows = "".join(f"0.{k:02},0.1,0.2,1.0,2.0\n" for k in range(1, 20))
    content = f't,q1,q2,tau1,tau2\n0.0,0.1,",\n40177,2.0,3.0\n{rows}'
    assert_file_refused(write_file(tmp_path, content, "x.csv"), "x.csv")


def test_the_command_prints_one_sentence(tmp_path: Path) -> None:
    path = write_file(tmp_path, ',"', "x.csv")
    run = subprocess.run(
        [sys.executable, "-m", "ytheta", "predict", "lu-two-link", str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert len(run.stderr.splitlines()) == 1, run.stderr


def test_panics_are_errors_of_polars(capfd: pytest.CaptureFixture[str]) -> None:
    def panic() -> None:
        os.write(2, b"lines about source code\n")
        raise pl.exceptions.PanicException("text of the panic")

    with pytest.raises(pl.exceptions.ComputeError, match="text of the panic"), catch_panics():
        panic()
    os.write(2, b"heard again\n")
    assert capfd.readouterr().err == "heard again\n"


def test_nested_reads_end_the_silence_once(capfd: pytest.CaptureFixture[str]) -> None:
    with catch_panics():
        with catch_panics():
            pass
        os.write(2, b"still silent\n")
    os.write(2, b"heard again\n")
    assert capfd.readouterr().err == "heard again\n"
