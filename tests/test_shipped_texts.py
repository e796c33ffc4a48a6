"""Messages and help refer to no file of the repository that the wheel does not ship."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.support.paths import ROOT

PACKAGE = ROOT / "src" / "ytheta"
# Folders of the repository beside src, and pages in Markdown.
REFERENCE = re.compile(r"\b(?:docs|examples|benchmarks|tests|tools)/\S*|\b[\w-]+\.md\b")


def find_references(source: str) -> list[str]:
    """Return references to files of the repository in the strings of a module, docstrings too, but not in comments."""
    strings = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    return [found for text in strings if isinstance(text, str) for found in REFERENCE.findall(text)]


def list_texts() -> list[Path]:
    return [path for path in PACKAGE.rglob("*") if path.suffix in (".html", ".js", ".css", ".toml")]


def test_no_string_of_the_package_refers_to_a_file_that_is_not_shipped() -> None:
    found = {str(path.relative_to(PACKAGE)): find_references(path.read_text()) for path in PACKAGE.rglob("*.py")}
    assert len(found) > 300
    assert {name: references for name, references in found.items() if references} == {}


def test_no_page_or_robot_refers_to_a_file_that_is_not_shipped() -> None:
    assert len(list_texts()) > 15
    assert [path.name for path in list_texts() if REFERENCE.search(path.read_text())] == []


def test_a_reference_would_be_noticed() -> None:
    assert find_references('raise InputError("see docs/logs.md")') == ["docs/logs.md"]
    assert find_references('def f():\n    """Read on in README.md."""\n') == ["README.md"]
    assert find_references("x = 1  # docs/logs.md has the measurements") == []
