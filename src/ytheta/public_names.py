"""Public names of a package that load their modules when they are first used, so that importing the package is fast.

The ``__init__.py`` of the package imports its public names under ``if TYPE_CHECKING:``, as type checkers and editors
expect. This block does not run; it is read from the source of the package, so that each name is written once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module


def attach_public_names(package: str, *more: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package; ``more`` are public names that it defines itself."""

    @cache
    def read_modules() -> dict[str, str]:
        return read_imports(_read_source(package))

    def get_attribute(name: str) -> object:
        if name == "__all__":
            return list_names()
        if name not in read_modules():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = read_modules()[name]
        is_submodule = module == package
        return import_module(f"{package}.{name}") if is_submodule else getattr(import_module(module), name)

    def list_names() -> list[str]:
        return sorted((*more, *read_modules()))

    return get_attribute, list_names


def read_imports(source: str) -> dict[str, str]:
    """Return the names that a source imports under ``if TYPE_CHECKING:``, each with its module."""
    import ast  # not needed by commands that use no public name

    return {
        alias.name: node.module
        for block in ast.parse(source).body
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def _read_source(package: str) -> str:
    spec = sys.modules[package].__spec__
    get_source = getattr(spec.loader, "get_source", None) if spec is not None else None
    source = get_source(package) if get_source is not None else None
    if source is None:
        raise ImportError(f"the public names of {package} are read from its source, which is not installed")
    return str(source)
