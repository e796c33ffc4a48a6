"""The house rules that a machine can check."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

# No word of a registry, of one machine's paths, and of unfinished work; spelled in pieces so that this file passes.
FORBIDDEN = ("pypi" + ".org", "files.python" + "hosted", "/wo" + "rk/", "TO" + "DO", "FIX" + "ME")


def _tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    lint = Path(sys.executable).with_name("lint-imports")
    command = [str(lint), "--no-cache", "--config", str(folder / "pyproject.toml")]
    environment = {"PYTHONPATH": str(folder / "src"), "PATH": ""}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)


def test_imports_run_one_way() -> None:
    result = _lint(ROOT)
    assert result.returncode == 0, result.stdout


def test_an_import_against_the_river_is_seen(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    victim = tmp_path / "src" / "ytheta" / "robot" / "tree.py"
    victim.write_text(victim.read_text() + "\nimport ytheta.cli.app\n")
    result = _lint(tmp_path)
    assert result.returncode != 0
    assert "ytheta.robot.tree" in result.stdout


def test_import_is_light() -> None:
    code = "import sys, ytheta; print(sorted({'numpy', 'scipy', 'typer', 'rich', 'tomlkit'} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_public_names_exist() -> None:
    import ytheta

    for name in ytheta.__all__:
        assert getattr(ytheta, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        ytheta.lode  # noqa: B018


@pytest.mark.parametrize("word", FORBIDDEN)
def test_no_forbidden_word(word: str) -> None:
    holders = [path.name for path in _tracked() if word in path.read_text(encoding="utf-8", errors="ignore")]
    assert holders == []


def test_no_large_file() -> None:
    assert [path.name for path in _tracked() if path.stat().st_size > 1024 * 1024] == []


def test_constraints_are_exact_versions() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = [line for line in lines if line and not line.startswith("#")]
    assert len(pinned) > 10
    assert [line for line in pinned if not re.fullmatch(r"[A-Za-z0-9_.\-]+==[A-Za-z0-9_.!+\-]+", line)] == []
