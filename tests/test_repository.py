"""Rules of the repository that a machine can check: imports, layout, forbidden words, sizes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
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


def test_an_import_in_the_wrong_direction_is_reported(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    victim = tmp_path / "src" / "ytheta" / "robot" / "structure.py"
    victim.write_text(victim.read_text() + "\nimport ytheta.cli.app\n")
    result = _lint(tmp_path)
    assert result.returncode != 0
    assert "ytheta.robot.structure" in result.stdout


def _packages() -> set[str]:
    """The top-level packages and modules."""
    root = ROOT / "src" / "ytheta"
    packages = {path.parent.name for path in root.glob("*/__init__.py")}
    return packages | {path.stem for path in root.glob("*.py") if not path.stem.startswith("__")}


def _listed_packages(text: str) -> list[str]:
    """The packages in the first table of CONTRIBUTING."""
    table = text.partition("| package | contents |")[2].partition("\n\n")[0]
    return re.findall(r"^\| `([a-z_]+)` \|", table, flags=re.MULTILINE)


def _layers() -> list[set[str]]:
    """The layers of the import contract over the packages, from the top."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    return [set(layer.split(" | ")) for layer in contracts[0]["layers"]]


def test_contributing_lists_every_package_in_the_order_of_the_layers() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = _listed_packages(text)
    assert set(listed) == _packages()
    assert set(_listed_packages(text.replace("| `logs` |", "| `loads` |"))) != _packages()
    heights = [next(k for k, layer in enumerate(_layers()) if name in layer) for name in listed]
    assert heights == sorted(heights)


def _imports_of_tests(text: str) -> list[str]:
    return re.findall(
        r"^\s*(?:from|import) (?:tests\.)?(?:[a-z_]+\.)*(?:conftest|test_[a-z_]+)\b", text, flags=re.MULTILINE
    )


def test_no_test_file_imports_another() -> None:
    for path in (ROOT / "tests").rglob("*.py"):
        assert _imports_of_tests(path.read_text(encoding="utf-8")) == [], path
    assert _imports_of_tests("from tests.robot.test_frame import close\n")


def _undefined_names(folder: Path) -> list[str]:
    """Undefined names outside of strings: ruff's F821, which jaxtyping's shapes such as "samples joints" confuse."""
    ruff = Path(sys.executable).with_name("ruff")
    command = [
        str(ruff),
        "check",
        "--isolated",
        "--no-cache",
        "--select",
        "F821",
        "--output-format",
        "json",
        str(folder),
    ]
    found = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    names = []
    for each in found:
        row, column = each["location"]["row"], each["location"]["column"]
        line = Path(each["filename"]).read_text(encoding="utf-8").splitlines()[row - 1]
        if line[: column - 1].count('"') % 2 == 0:
            names.append(f"{each['filename']}:{row}: {each['message']}")
    return names


def test_every_name_is_defined(tmp_path: Path) -> None:
    for folder in ("src", "tests", "benchmarks", "examples", "tools"):
        assert _undefined_names(ROOT / folder) == []
    (tmp_path / "module.py").write_text('x: Float[np.ndarray, "samples"] = missing\n')
    assert len(_undefined_names(tmp_path)) == 3


def test_import_is_light() -> None:
    code = "import sys, ytheta; print(sorted({'numpy', 'scipy', 'typer', 'rich', 'tomlkit'} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_public_names_exist() -> None:
    import ytheta

    for name in dir(ytheta):
        assert getattr(ytheta, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        ytheta.lode  # type: ignore[attr-defined]  # noqa: B018


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
