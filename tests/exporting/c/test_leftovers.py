"""Files of an earlier export under another name: ytheta removes its own, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

import ytheta as yt
from tests.support.command import ytheta
from ytheta.exporting.c.render import find_earlier_files

GRAVITY = yt.COptions(functions=("gravity",))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    yt.export("lu-two-link", to="c", path=tmp_path / "arm_c", options=GRAVITY, force=True)
    return tmp_path / "arm_c"


def list_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_another_name_replaces_the_files_of_the_first(folder: Path) -> None:
    (folder / "mine.c").write_text("/* of the user */\n")
    (folder / "lu_two_link_notes.h").write_text("/* Written by ytheta. */\n")  # not a file of the export
    options = yt.COptions(functions=("gravity",), name="other")
    yt.export("lu-two-link", to="c", path=folder, options=options, force=True)
    exported = ["CMakeLists.txt", "other.c", "other.h", "other_selftest.c"]
    assert list_names(folder) == sorted([*exported, "lu_two_link_notes.h", "mine.c"])
    assert find_earlier_files(folder, "other") == ()


def test_files_that_ytheta_did_not_write_stay(folder: Path) -> None:
    assert len(find_earlier_files(folder, "other")) == 3
    (folder / "lu_two_link.c").write_text("/* my own code, once Written by ytheta. */\n")
    assert [path.name for path in find_earlier_files(folder, "other")] == ["lu_two_link.h", "lu_two_link_selftest.c"]
    (folder / "CMakeLists.txt").write_text("project(lu_two_link C)\n")
    assert find_earlier_files(folder, "other") == ()


def test_a_refused_export_removes_nothing(folder: Path) -> None:
    before = list_names(folder)
    with pytest.raises(yt.errors.InputError, match="exists"):
        yt.export("lu-two-link", to="c", path=folder, options=yt.COptions(functions=("gravity",), name="other"))
    assert list_names(folder) == before


def test_the_command_says_what_it_removed(folder: Path) -> None:
    arguments = ("--to", "c", "-o", "arm_c", "--functions", "gravity", "--name", "other", "--force")
    result = ytheta("export", "lu-two-link", *arguments, cwd=folder.parent)
    assert result.returncode == 0, result.stderr
    assert "note: removed arm_c/lu_two_link.h, arm_c/lu_two_link.c" in result.stderr
    again = ytheta("export", "lu-two-link", *arguments, cwd=folder.parent)
    assert "removed" not in again.stderr
