"""Files that are written completely or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ytheta.errors import InputError
from ytheta.files.atomic import check_writable, write_atomically


def test_paths_that_cannot_be_written_are_refused_beforehand(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path / "none" / "arm.toml", "No such file"),
        (tmp_path, "is a folder"),
        (tmp_path / "arm.yaml", "extension .toml"),
        (tmp_path / f"{'x' * 300}.toml", "too long"),
        (tmp_path / "a\0b.toml", "null"),
    ):
        with pytest.raises(InputError, match=reason):
            check_writable(path, *([".toml"] if path.suffix else []))
    kept = tmp_path / "kept.toml"
    kept.write_text("x")
    assert check_writable(kept, ".toml") == kept
    assert (kept.read_text(), os.listdir(tmp_path)) == ("x", ["kept.toml"])


def test_an_interrupted_write_leaves_nothing_behind(tmp_path: Path) -> None:
    def interrupt() -> None:
        with write_atomically(tmp_path / "a.txt") as file:
            file.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert os.listdir(tmp_path) == []
