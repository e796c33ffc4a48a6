"""Files of an export appear whole or not at all, and overwrite nothing unless they are told to."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, nullcontext
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


@pytest.fixture(params=["swap", "renames"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A folder that is replaced as a whole, or one whose files are renamed one by one because a folder is in it."""
    folder = tmp_path / "arm"
    folder.mkdir()
    if request.param == "renames":
        (folder / "mine").mkdir()
    return folder


def list_files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the contents and permissions of all files in and beside a folder, temporary and hidden ones included."""
    paths = [path for path in folder.parent.rglob("*") if path.is_file()]
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    return {path.name: (path.read_bytes(), path.stat().st_mode & 0o777) for path in paths}


@pytest.mark.parametrize("fitting", [0, 1])
def test_a_full_disk_changes_nothing(folder: Path, fitting: int) -> None:
    """``fitting``: how many of the files find space before the disk is full, and stays so."""
    files = {folder / name: b"new" for name in ("a.c", "b.c")}
    for path in files:
        path.write_bytes(b"old")
    before, written = list_files(folder), []

    def write(path: Path, content: bytes) -> None:
        written.append(path)
        if len(written) > fitting:
            raise OSError(28, "No space left on device")
        with path.open("wb") as file:
            file.write(content)

    full = mock.patch("pathlib.Path.write_bytes", autospec=True, side_effect=write)
    with full, pytest.raises(InputError, match=r"No space left on device; free some space"):
        write_files(files)
    assert len(written) > fitting
    assert list_files(folder) == before
    write_files(files)  # the twin: with space, all of them change
    assert {content for content, _ in list_files(folder).values()} == {b"new"}


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_failed_rename_restores_the_files_before_it(folder: Path, failing: int, error: BaseException) -> None:
    """Where a folder cannot be replaced as a whole: this system cannot exchange folders, or a folder is in it."""
    files = {folder / name: b"new" for name in ("a.c", "b.c", "c.c")}
    for path in (folder / "a.c", folder / "c.c"):
        path.write_bytes(b"old")
        path.chmod(0o640)
    before = list_files(folder)
    replace, renamed = os.replace, []

    def rename(source: Path, target: Path) -> None:
        renamed.append(Path(target).name)
        if len(renamed) == failing:
            raise error
        replace(source, target)

    with unable_to_exchange(OSError(38, "Function not implemented")):
        failure = mock.patch("os.replace", side_effect=rename)
        with failure, pytest.raises(InputError if isinstance(error, OSError) else KeyboardInterrupt):
            write_files(files)
        assert len(set(renamed)) == failing
        assert list_files(folder) == before
        write_files(files)  # the twin: without a failure, all of them change and no backup is left
    after = list_files(folder)
    assert {name: content for name, (content, _) in after.items()} == {path.name: b"new" for path in files}
    assert all(after[name] == (b"new", 0o640) for name in before)


def unable_to_exchange(error: BaseException) -> AbstractContextManager[mock.Mock]:
    return mock.patch("ytheta.exporting.export.exchange_folders", side_effect=error)


def test_an_interrupted_exchange_of_folders_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "arm"
    folder.mkdir()
    files = {folder / name: b"new" for name in ("a.c", "b.c")}
    for name in ("a.c", "mine.c"):
        (folder / name).write_bytes(b"old")
    before = list_files(folder)
    with unable_to_exchange(KeyboardInterrupt()) as exchange, pytest.raises(KeyboardInterrupt):
        write_files(files)
    assert exchange.call_count == 1
    assert list_files(folder) == before
    no_renames = mock.patch("os.replace", side_effect=AssertionError)
    with no_renames if sys.platform == "linux" else nullcontext():  # the twin: all of them change in a single step
        write_files(files)
    contents = {name: content for name, (content, _) in list_files(folder).items()}
    assert contents == {"a.c": b"new", "b.c": b"new", "mine.c": b"old"}


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
