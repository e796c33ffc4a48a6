"""Written logs are read back unchanged, in every format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.log_files import ARM, ARM_LOG, assert_same_log
from ytheta.errors import InputError
from ytheta.logs.reading.read import read_log
from ytheta.logs.write import write_log


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npz"])
def test_written_logs_are_read_back_unchanged(suffix: str, tmp_path: Path) -> None:
    for log in (ARM_LOG, replace(ARM_LOG, qd=None), replace(ARM_LOG, tau=None)):
        path = write_log(log, tmp_path / f"log.{suffix}")
        assert_same_log(read_log(path, ARM), log)
        assert [file.name for file in tmp_path.iterdir()] == [path.name]
    with pytest.raises(AssertionError):  # the twin: the last digit counts
        assert_same_log(read_log(path, ARM), replace(ARM_LOG, tau=None, q=ARM_LOG.q * (1.0 + 1e-15)))


def test_unknown_suffixes_and_missing_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.csv, \.parquet or \.npz"):
        write_log(ARM_LOG, tmp_path / "log.mcap")
    with pytest.raises(InputError, match="check the folder"):
        write_log(ARM_LOG, tmp_path / "nowhere" / "log.csv")
