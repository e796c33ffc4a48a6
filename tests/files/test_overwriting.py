"""Files of a command: what it reads cannot become its output, whatever the order and the names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.support.log_files import ARM_LOG
from ytheta.errors import InputError
from ytheta.files.atomic import HTML_MARK, TOML_MARK, declare_output, is_own_file, record_command_files, report_input
from ytheta.logs.write import write_log


def test_an_output_cannot_be_read_and_an_input_cannot_be_written(tmp_path: Path) -> None:
    file, link, other = tmp_path / "a.toml", tmp_path / "link.toml", tmp_path / "b.toml"
    file.write_text("x")
    other.write_text("x")
    link.symlink_to(file)
    with record_command_files():
        declare_output(link)
        report_input(other)
        with pytest.raises(InputError, match=r"a\.toml is one of the inputs and would be overwritten"):
            report_input(file)
        with pytest.raises(InputError, match=r"b\.toml is one of the inputs"):
            declare_output(tmp_path / "." / "b.toml")
        declare_output(tmp_path / "new.toml")
        report_input(tmp_path / "none.toml")


def test_nothing_is_recorded_outside_of_a_command(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text("x")
    with record_command_files():
        report_input(file)
    declare_output(file)  # the twin: another command may write what this one has read
    report_input(file)
    with record_command_files():
        declare_output(file)


# Files that ytheta wrote are recognized by their mark; files of others with the same extension are not.


@pytest.mark.parametrize("suffix", [".parquet", ".npz"])
def test_logs_have_a_mark_and_are_read_as_before(suffix: str, tmp_path: Path) -> None:
    assert is_own_file(write_log(ARM_LOG, tmp_path / f"own{suffix}"))
    other = tmp_path / f"other{suffix}"
    if suffix == ".npz":
        np.savez(other, t=ARM_LOG.t)
    else:
        pl.DataFrame({"t": ARM_LOG.t}).write_parquet(other)
    assert not is_own_file(other)


@pytest.mark.parametrize(("suffix", "mark"), [(".toml", TOML_MARK), (".html", HTML_MARK), (".htm", HTML_MARK)])
def test_texts_have_a_mark_at_their_beginning(suffix: str, mark: str, tmp_path: Path) -> None:
    file = tmp_path / f"file{suffix}"
    for content, own in ((f"\n{mark} 1", True), ("name = 1", False), (5000 * " " + mark, False)):
        file.write_text(content)
        assert is_own_file(file) is own


@pytest.mark.parametrize("suffix", [".toml", ".html", ".parquet", ".npz", ".csv"])
def test_damaged_and_missing_files_are_not_ours(suffix: str, tmp_path: Path) -> None:
    assert not is_own_file(tmp_path / f"none{suffix}")
    (tmp_path / f"bad{suffix}").write_bytes(b"\x00\xffPAR1 ytheta")
    assert not is_own_file(tmp_path / f"bad{suffix}")


def test_a_csv_log_is_never_recognized(tmp_path: Path) -> None:
    assert not is_own_file(write_log(ARM_LOG, tmp_path / "own.csv"))


@pytest.mark.parametrize("suffix", [".parquet", ".npz"])
def test_damaged_files_of_ours_give_an_answer(suffix: str, tmp_path: Path) -> None:
    """Whatever is changed, the question has an answer; libraries raise errors of all kinds."""
    path = write_log(ARM_LOG, tmp_path / f"log{suffix}")
    content, rng = path.read_bytes(), np.random.default_rng(0)
    for _ in range(200):
        damaged = bytearray(content)
        for place in rng.integers(1, min(1500, len(content)), 3):
            damaged[-place] = rng.integers(0, 256)
        path.write_bytes(damaged)
        assert is_own_file(path) in (True, False)


@pytest.mark.parametrize("suffix", [".parquet", ".npz"])
def test_tables_of_another_kind_are_distinguished(suffix: str, tmp_path: Path) -> None:
    path = write_log(ARM_LOG, tmp_path / f"own{suffix}")
    assert is_own_file(path, "log")
    assert not is_own_file(path, "trajectory")


def test_the_kind_of_a_toml_file_is_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "file.toml"
    for line, kinds in (
        ("[identification]", {"model"}),
        ('parametrisation = "fourier"', {"trajectory"}),
        ('name = "arm" # [identification] parametrisation = 1', set()),
    ):
        path.write_text(f"{TOML_MARK}\nformat = 1\n{5000 * '#'}\n{line}\n")
        assert is_own_file(path)
        assert {kind for kind in ("model", "trajectory") if is_own_file(path, kind)} == kinds
        path.write_text(f"{line}\n")  # without the mark
        assert not is_own_file(path, "model")
        assert not is_own_file(path, "trajectory")
