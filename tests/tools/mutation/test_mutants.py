"""Mutants are other programs, one change each; what nobody can test is left alone."""

from __future__ import annotations

import ast

import pytest
from tools.mutation.mutants import draw_mutants, list_mutants
from tools.mutation.targets import TARGETS

from tests.support.paths import ROOT


def list_changes(source: str) -> set[str]:
    """Return the changed lines of all mutants of a source."""
    return {mutant.describe(source)[2] for mutant in list_mutants(source)}


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("x = a + (b)", {"x = a - (b)"}),
        ("x = a ** b", {"x = a * b"}),
        ("x = a < b", {"x = a <= b"}),
        ("x = a is not b", {"x = a is b"}),
        ("x = a and b", {"x = a or b"}),
        ("x = -a", {"x = a"}),
        ("x = not a", {"x = a"}),
        ("x = a[3]", {"x = a[4]"}),
        ("x = f(k=True)", {"x = f(k=False)"}),
        ("MAX_X = 0.5", {"MAX_X = 50.0"}),
        ("x = f(a, b)", {"x = f(b, a)"}),
        ("x = max(a, b)", {"x = min(a, b)"}),
        ("x = A.T", {"x = A"}),
        ("x = b if a.c else d", {"x = b if (not a.c) else d"}),
        ("x += a", {"x -= a", "pass"}),
        ("x.append(a)", {"pass"}),
        ('π = "µ"; x = a - b', {'π = "µ"; x = a + b'}),
    ],
)
def test_one_change_at_a_time(line: str, changes: set[str]) -> None:
    assert list_changes(line) == changes


@pytest.mark.parametrize(
    "source",
    [
        '"""Text with 1 + 1."""',
        'raise InputError(f"at most {2 + 3}")',
        "def f(x: Float[np.ndarray, 3]) -> A[4]: ...",
        "@cache(2)\ndef f(): ...",
        "def __repr__(self):\n    return 1 + 2",
        "_LOG.info(1 + 2)",
        "if TYPE_CHECKING:\n    x = 1",
    ],
)
def test_messages_annotations_and_documentation_are_not_changed(source: str) -> None:
    assert list_mutants(source) == []


def test_the_same_mutants_are_drawn_again() -> None:
    source = (ROOT / "src/ytheta/identification/estimators/least_squares.py").read_text(encoding="utf-8")
    mutants = draw_mutants(source, 10, seed="0")
    assert mutants == draw_mutants(source, 10, seed="0")
    assert mutants != draw_mutants(source, 10, seed="1")
    programs = {ast.dump(ast.parse(mutant.apply(source))) for mutant in mutants}
    assert len(programs - {ast.dump(ast.parse(source))}) == 10


def test_the_table_names_files_that_exist() -> None:
    for name, tests in TARGETS.items():
        assert (ROOT / "src" / "ytheta" / name).is_file()
        assert [path for path in tests if not (ROOT / "tests" / path).exists()] == []
