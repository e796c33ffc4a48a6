"""Files of a command: what it reads cannot become its output, whatever the order and the names."""

from __future__ import annotations

from pathlib import Path

import pytest

from ytheta.errors import InputError
from ytheta.files.overwriting import declare_output, record_command_files, report_input


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
