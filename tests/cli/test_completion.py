"""Completion: the names agree with the registries, and a real bash completes them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import process
from ytheta.cli import completion
from ytheta.cli.completion import complete_from, complete_robot
from ytheta.excitation.criteria import CRITERIA
from ytheta.exporting.export import FORMATS
from ytheta.identification.estimators.estimator import ESTIMATORS
from ytheta.papers.reproduce import ALL, PAPERS
from ytheta.robot.reading.catalog import list_names


def test_names_are_those_of_the_registries() -> None:
    assert set(completion.CRITERIA) == set(CRITERIA)
    assert set(completion.ESTIMATORS) == {"auto", *ESTIMATORS}
    assert set(completion.FORMATS) == set(FORMATS)
    assert set(completion.PAPERS) == {ALL, *PAPERS}


def test_a_robot_is_a_name_or_a_description(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arms").mkdir()
    for name in ("panda.urdf", "panda.csv", "arms/ur10.xml", "arms/notes.txt"):
        (tmp_path / name).touch()
    assert complete_robot("panda") == ["panda", "panda.urdf"]
    assert complete_robot("") == [*list_names(), "panda.urdf"]
    assert complete_robot("arms/") == ["arms/ur10.xml"]
    assert complete_robot("nowhere/x") == []  # the shell then completes names of files
    assert complete_from("lin", "ha")("l") == ["lin"]


def ask_bash(line: str, folder: Path) -> list[str]:
    """Load the script that ytheta prints into bash, press Tab at the end of a line, and return what bash offers."""
    command, environment = process(_YTHETA_COMPLETE="source_bash")
    script = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    words = line.split(" ")
    press_tab = (
        f"COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; "
        '_ytheta_completion ytheta; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    (folder / "ytheta").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ytheta "$@"\n')
    (folder / "ytheta").chmod(0o755)
    path = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    bash = ["bash", "--norc", "-c", f"{script}\n{press_tab}"]
    result = subprocess.run(bash, env=path, cwd=folder, capture_output=True, text=True, check=True)
    assert result.stderr == ""
    return result.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("ytheta ins", ["inspect"]),
        ("ytheta inspect pan", ["panda"]),
        ("ytheta simulate ur10 --controller slo", ["slotine-li"]),
        ("ytheta excite ur10 --criterion bal", ["balanced"]),
        ("ytheta reproduce lin", ["lin1995"]),
        ("ytheta export ur10 --to mjc", ["mjcf"]),
        ("ytheta identify ur10 --unknown", ["--unknown-geometry"]),
        ("ytheta identify ur10 log", []),  # files, which bash completes itself
    ],
)
def test_bash_completes(line: str, offered: list[str], tmp_path: Path) -> None:
    assert ask_bash(line, tmp_path) == offered


def test_completion_is_installed_for_a_shell(tmp_path: Path) -> None:
    """Typer detects the shell by the processes above this one, which differ between machines; one of two answers."""
    command, environment = process("--install-completion", HOME=str(tmp_path))
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode:
        assert result.returncode == 2
        assert result.stderr.startswith("error: the shell of this terminal is not one of bash, zsh, fish")
    else:
        assert "completion installed in" in result.stdout
        assert any(path.is_file() for path in tmp_path.rglob("*ytheta*"))
