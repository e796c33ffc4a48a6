"""Public names of a package that load their modules when they are first used, so that importing the package is fast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def attach_public_names(
    package: str, names_by_module: Mapping[str, str], *, own: tuple[str, ...] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    ``names_by_module``: for each module, relative to the package, the names that it defines, separated by spaces; those
    of the module "" are modules themselves. ``own`` are the names that the package defines itself.
    """
    modules = {name: module for module, names in names_by_module.items() for name in names.split()}

    def get_attribute(name: str) -> object:
        if name == "__all__":
            return list_names()
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if not modules[name]:
            return import_module(f"{package}.{name}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    def list_names() -> list[str]:
        return sorted((*own, *modules))

    return get_attribute, list_names
