"""The public names: what type checkers see, what ``dir()`` lists and what is found at run time are the same."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import ytheta
import ytheta.control
from tests.support.paths import ROOT

PACKAGES: dict[str, ModuleType] = {"ytheta": ytheta, "ytheta.control": ytheta.control}


def read_declared_names(source: str) -> dict[str, str]:
    """Return the names that a type checker sees, each with the module that it is imported from."""
    block = next(
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    return {
        alias.asname or alias.name: node.module or ""
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_type_checkers_see_the_names_that_are_found(package: str) -> None:
    module = PACKAGES[package]
    declared = read_declared_names(Path(str(module.__file__)).read_text(encoding="utf-8"))
    names = [name for name in module.__all__ if name != "__version__"]
    assert sorted(declared) == sorted(names)
    for name in names:
        value = getattr(module, name)
        assert getattr(sys.modules[declared[name]], name) is value
        assert name in dir(module)
    assert dir(module) == sorted(dir(module))
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(module, "no_such_name")  # noqa: B009


def test_a_star_imports_all_names() -> None:
    names: dict[str, object] = {}
    exec("from ytheta import *", names)
    assert set(dir(ytheta)) <= set(names)
    assert names["load"] is ytheta.load


def test_a_missing_declaration_is_noticed() -> None:
    source = "if TYPE_CHECKING:\n    from a.b import c as c\n    from a import d as d\n"
    assert read_declared_names(source) == {"c": "a.b", "d": "a"}


def test_a_bare_import_is_light_and_complete() -> None:
    code = (
        "import sys, ytheta as yt\n"
        "assert not {'numpy', 'polars', 'casadi', 'scipy'} & set(sys.modules)\n"
        "yt.errors.ClosureError, yt.control.SlotineLi\n"
        "assert 'SlotineLi' in dir(yt.control) and 'numpy' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_the_module_of_errors_lists_errors_only() -> None:
    errors = ytheta.errors
    assert dir(errors) == sorted(errors.__all__)
    assert all(issubclass(getattr(errors, name), errors.YthetaError) for name in dir(errors))
