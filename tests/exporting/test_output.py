"""Files of an export appear whole or not at all, and overwrite nothing unless they are told to."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

import pytest

from ytheta.errors import InputError
from ytheta.exporting.export import check_targets, write_files


def test_a_new_folder_appears_with_all_files(tmp_path: Path) -> None:
    folder = tmp_path / "arm"
    files = {folder / "a.c": b"a", folder / "b.h": b"b"}
    check_targets(files, force=False)
    assert write_files(files) == tuple(files)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"a.c": b"a", "b.h": b"b"}
    assert [path.name for path in tmp_path.iterdir()] == ["arm"]


def test_an_interrupted_folder_does_not_appear(tmp_path: Path) -> None:
    folder = tmp_path / "arm"
    full = mock.patch("pathlib.Path.rename", side_effect=OSError(28, "No space left on device"))
    with full, pytest.raises(InputError, match=r"arm cannot be written: No space left on device; check the folder"):
        write_files({folder / "a.c": b"a"})
    assert list(tmp_path.iterdir()) == []


def test_other_files_of_a_folder_stay(tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_bytes(b"mine")
    write_files({tmp_path / "a.c": b"a"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.c", "mine.c"]


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    files = {tmp_path / name: b"new" for name in ("a.c", "b.c")}
    for path in files:
        path.write_bytes(b"old")
    written = []

    def write(path: Path, content: bytes) -> None:
        written.append(path)
        if len(written) == 2:
            raise OSError(28, "No space left on device")
        with path.open("wb") as file:
            file.write(content)

    full = mock.patch("pathlib.Path.write_bytes", autospec=True, side_effect=write)
    with full, pytest.raises(InputError, match="No space left on device"):
        write_files(files)
    assert [path.read_bytes() for path in files] == [b"old", b"old"]
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_failed_rename_restores_the_files_before_it(tmp_path: Path, failing: int, error: BaseException) -> None:
    files = {tmp_path / name: b"new" for name in ("a.c", "b.c", "c.c")}
    existing = (tmp_path / "a.c", tmp_path / "c.c")
    for path in existing:
        path.write_bytes(b"old")
        path.chmod(0o640)
    replace, renamed = os.replace, []

    def rename(source: Path, target: Path) -> None:
        renamed.append(Path(target).name)
        if len(renamed) == failing:
            raise error
        replace(source, target)

    failure = mock.patch("os.replace", side_effect=rename)
    with failure, pytest.raises(InputError if isinstance(error, OSError) else KeyboardInterrupt):
        write_files(files)
    assert len(set(renamed)) == failing
    assert sorted(tmp_path.iterdir()) == sorted(existing)
    assert [(path.read_bytes(), path.stat().st_mode & 0o777) for path in existing] == [(b"old", 0o640)] * 2
    write_files(files)  # the twin: without a failure, all of them change and no backup is left
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == files


def test_nothing_is_overwritten_without_force(tmp_path: Path) -> None:
    files = {tmp_path / "new.c": b"new", tmp_path / "old.c": b"new"}
    (tmp_path / "old.c").write_bytes(b"old")
    with pytest.raises(InputError, match=r"old.c exists; choose another name, or use force=True to"):
        check_targets(files, force=False)
    check_targets(files, force=True)
    write_files(files)
    assert (tmp_path / "old.c").read_bytes() == b"new"


def test_folders_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="is a file; choose another name for the folder"):
        check_targets([tmp_path / "file" / "a.c"], force=True)
    with pytest.raises(InputError, match="cannot be written"):
        check_targets([tmp_path / "no" / "such" / "a.c"], force=True)
    with pytest.raises(InputError, match="is a folder"):
        check_targets([tmp_path], force=True)
    if os.geteuid() != 0:  # root may write everywhere
        tmp_path.chmod(0o500)
        with pytest.raises(InputError, match="Permission denied"):
            check_targets([tmp_path / "a.c"], force=True)
        tmp_path.chmod(0o700)
