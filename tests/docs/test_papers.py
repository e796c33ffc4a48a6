"""The pages of the papers: files and names that their tables of equations refer to exist."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PAGES = sorted((ROOT / "docs" / "papers").glob("*.md"))


@cache
def read_sources() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.py")))


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
    return [name for name in names if name not in known]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_refers_to_code_that_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert find_missing_files(text) == []
    assert find_missing_names(text) == []


def test_missing_code_is_noticed() -> None:
    assert find_missing_files("`formulations/newton_oiler.py`, `control/laws/craig.py`") == [
        "formulations/newton_oiler.py"
    ]
    assert find_missing_names("| `procedure` | `yt.regressor`, `compute_y999` |\n`elsewhere`") == ["compute_y999"]
