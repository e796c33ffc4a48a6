"""Write docs/decisions.md: every number in the source that decides something about a user's data.

    python -m tools.decisions

A module constant in upper case whose value consists of numbers has a comment, directly above it or at the end of its
line, and the comment says where the number comes from:

Chosen on: …   it decides something about a user's data, and this is what it was chosen on. The page lists these
Fixed by: …    there was no choice: mathematics, a unit, a file format or another program gives the number
affects only …
               time, memory or the length of a message: results do not depend on it

Constants without a comment share that of the constants directly above them.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "ytheta"
PAGE = ROOT / "docs" / "decisions.md"
INTRODUCTION = """\
# Decisions

ytheta decides many things about a log, a robot file or a model: whether a time step is a gap, whether a joint moves,
whether an error is too large. Each of these decisions compares a number with a threshold. This page lists the
thresholds and what they were chosen on. "Rule of thumb" means that no data were used, "reasoning" that the number
follows from the argument beside it. If a threshold was chosen on recorded logs, other robots may need another one.

The thresholds are constants of the source, not options: if one of them misjudges your data, please report it. The page
is written by `python -m tools.decisions` from the comments beside the constants.
"""
HEADER = "| module | constant | value | what it bounds | chosen on |\n|---|---|---|---|---|"


class Basis(Enum):
    """Where the value of a constant comes from."""

    CHOSEN = r"\bChosen on: *"
    FIXED = r"\bFixed by: *"
    COST = r"\b[Aa]ffects only "


@dataclass(frozen=True)
class Constant:
    """A constant of a module, or several that are assigned together.

    Attributes
    ----------
    module   below ytheta, such as logs.checking.clock
    name     one name, or several with commas between them
    value    as written in the source
    line     its number
    meaning  what the comment says about it; empty if there is none
    basis    where the value comes from; None if the comment does not say it
    reason   what the comment says about that
    """

    module: str
    name: str
    value: str
    line: int
    meaning: str
    basis: Basis | None
    reason: str

    @property
    def package(self) -> str:
        return self.module.partition(".")[0]


def list_constants(folder: Path = SOURCE) -> list[Constant]:
    """Return the numeric constants of all modules below a folder of the package."""
    return [constant for path in sorted(folder.rglob("*.py")) for constant in read_constants(path)]


def read_constants(path: Path) -> Iterator[Constant]:
    """Yield the numeric constants of a module in the order of the source."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    module = ".".join(part for part in parts if part != "__init__")
    yield from parse_constants(path.read_text(encoding="utf-8"), module)


def parse_constants(source: str, module: str) -> Iterator[Constant]:
    """Yield the numeric constants of a module's text; nothing of it is imported or run."""
    lines, comments = source.splitlines(), _find_comments(source)
    shared, last_line = "", 0  # the comment of the constants above, up to a blank line
    for node in ast.parse(source).body:
        assigned = _get_assignment(node)
        if assigned is None:
            continue
        target, value = assigned
        end = value.end_lineno or value.lineno
        if any(not line.strip() for line in lines[last_line : node.lineno - 1]):
            shared = ""
        text = _collect_comment(comments, lines, node.lineno, end) or shared
        shared, last_line = text, end
        name = ast.unparse(target).strip("()")
        if not name.replace(", ", "").isupper() or not _is_numeric(value):
            continue
        basis = next((basis for basis in Basis if re.search(basis.value, text)), None)
        meaning, reason = (text, "") if basis is None else re.split(basis.value, text, maxsplit=1)
        written = re.sub(r"\s+", " ", ast.get_source_segment(source, value) or "")
        yield Constant(module, name, written, node.lineno, meaning.strip(), basis, reason.strip().removesuffix("."))


def _get_assignment(node: ast.stmt) -> tuple[ast.expr, ast.expr] | None:
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return node.targets[0], node.value
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return node.target, node.value
    return None


def _is_numeric(value: ast.expr) -> bool:
    """Return whether a value consists of numbers; tables with texts as keys or entries do not."""
    literals = [node.value for node in ast.walk(value) if isinstance(node, ast.Constant)]
    in_index = {
        id(leaf) for node in ast.walk(value) if isinstance(node, ast.Subscript) for leaf in ast.walk(node.slice)
    }
    numbers = [
        node
        for node in ast.walk(value)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float) and id(node) not in in_index
    ]
    return bool(numbers) and not any(isinstance(literal, str | bytes) for literal in literals)


def _find_comments(source: str) -> dict[int, str]:
    """Return the comments of a text by their lines, without the number sign."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        token.start[0]: re.sub(r"^#\s?|\s*#? ?(noqa|type: ignore).*$", "", token.string).strip()
        for token in tokens
        if token.type == tokenize.COMMENT
    }


def _collect_comment(comments: dict[int, str], lines: list[str], line: int, end: int) -> str:
    """Return the comment directly above a line, and those at the ends of the lines up to another one."""
    first = line
    while first > 1 and lines[first - 2].startswith("#"):
        first -= 1
    return " ".join(comments[k] for k in range(first, end + 1) if comments.get(k))


def write_page(constants: Iterable[Constant]) -> str:
    """Return the page about the constants that decide something about a user's data."""
    chosen = [constant for constant in constants if constant.basis is Basis.CHOSEN]
    parts = [INTRODUCTION]
    for package, group in groupby(chosen, key=lambda constant: constant.package):
        rows = "\n".join(_format_row(constant) for constant in group)
        parts.append(f"## {package}\n\n{HEADER}\n{rows}\n")
    return "\n".join(parts)


def _format_row(constant: Constant) -> str:
    place = constant.module.partition(".")[2] or constant.module
    meaning = constant.meaning.removesuffix(".").replace("|", "\\|")
    cells = (f"`{place}`", f"`{constant.name}`", f"`{constant.value}`", meaning, constant.reason.replace("|", "\\|"))
    return f"| {' | '.join(cells)} |"


def main() -> None:
    PAGE.write_text(write_page(list_constants()), encoding="utf-8")


if __name__ == "__main__":
    main()
