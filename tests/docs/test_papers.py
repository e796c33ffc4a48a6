"""The pages of the papers: files and names that their tables of equations refer to exist."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PAGES = sorted((ROOT / "docs" / "papers").glob("*.md"))


MODULES = {path.stem for path in (ROOT / "src").rglob("*.py")}


@cache
def read_files() -> tuple[tuple[str, str], ...]:
    paths = sorted(path for folder in ("src", "tests") for path in (ROOT / folder).rglob("*.py"))
    return tuple((str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in paths)


@cache
def read_sources() -> str:
    return "\n".join(text for file, text in read_files() if file.startswith("src/"))


def find_missing_files(page: str) -> list[str]:
    """Return the files in backticks that do not exist; a path may leave out its first folders."""
    files = [str(path.relative_to(ROOT)) for folder in ("src", "tests") for path in (ROOT / folder).rglob("*.py")]
    names = re.findall(r"`([\w/]+\.py)`", page)
    return [name for name in names if not any(f"/{file}".endswith(f"/{name}") for file in files)]


def find_missing_names(page: str) -> list[str]:
    """Return the names in backticks that are not defined; the first column of a table has words of the paper."""
    rows = "\n".join(line.split("|", 2)[2] for line in page.splitlines() if line.startswith("|"))
    names = [
        name.split(".")[-1] for name in re.findall(r"`((?:\w+\.)*[A-Za-z_]\w*)`", rows) if not name.endswith(".py")
    ]
    defined = set(re.findall(r"^\s*(?:def|class) (\w+)|^\s*(\w+)(?:: [^=\n]+)?(?: =|$)", read_sources(), re.MULTILINE))
    known = {name for pair in defined for name in pair if name}
    return [name for name in names if name not in known and name not in MODULES]


def find_misplaced_names(page: str) -> list[str]:
    """Return the names that the file or module before them in the same cell does not define, as ``file: name``."""
    misplaced: list[str] = []
    for line in page.splitlines():
        place = ""
        for name in re.findall(
            r"`([\w/]+\.py|(?:\w+\.)*[A-Za-z_]\w*)`", line.split("|", 2)[2] if line[:1] == "|" else ""
        ):
            if name.endswith(".py"):
                place = name
                continue
            module, *path = name.split(".")
            if module in MODULES and path:
                place = f"{module}.py"
            elif module == "yt":
                continue
            texts = [text for file, text in read_files() if place and f"/{file}".endswith(f"/{place}")]
            wanted = (path or [module])[0]
            if texts and not any(
                re.search(rf"(?:def|class) {wanted}\b|^\s*{wanted}\b", text, re.MULTILINE) for text in texts
            ):
                misplaced.append(f"{place}: {wanted}")
    return misplaced


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_refers_to_code_that_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert find_missing_files(text) == []
    assert find_missing_names(text) == []
    assert find_misplaced_names(text) == []


def test_missing_code_is_noticed() -> None:
    assert find_missing_files("`formulations/newton_oiler.py`, `control/laws/craig.py`") == [
        "formulations/newton_oiler.py"
    ]
    assert find_misplaced_names("| (68) | `newton_euler.Twist.H`, `newton_euler.BodyTwist.H` |") == [
        "newton_euler.py: Twist"
    ]
    assert find_misplaced_names("| (114) | `formulations/sixteen.py`, `L`, `compute_Psi` |") == [
        "formulations/sixteen.py: compute_Psi"
    ]
    assert find_missing_names("| `procedure` | `yt.regressor`, `compute_y999` |\n`elsewhere`") == ["compute_y999"]
