"""Robots of the package robot_descriptions, such as ``rd:fr3_description``, if they are on disk.

A module of robot_descriptions clones a repository when it is imported, and may delete a folder that is not one.
Therefore its modules are never imported here: the paths and arguments in them are read from their source. The folder of
the clones is ``ROBOT_DESCRIPTIONS_CACHE`` or ``~/.cache/robot_descriptions``, as the package documents.
"""

from __future__ import annotations

import ast
import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ytheta.errors import MissingExtraError, RobotFileError, suggest_names

PREFIX = "rd:"
PATH_NAMES = ("URDF_PATH", "XACRO_PATH", "MJCF_PATH")
ARGUMENTS = "XACRO_ARGS"
_CACHE_VARIABLE, _DEFAULT_CACHE = "ROBOT_DESCRIPTIONS_CACHE", "~/.cache/robot_descriptions"
_CLONE = "_clone_to_cache"  # the call whose result is the folder of the repository


@dataclass(frozen=True)
class StoredDescription:
    """A description on disk: its file, its arguments if it is a xacro file, and the folder of its repository."""

    path: Path
    xacro_args: dict[str, str]
    repository: Path


def find_description(name: str) -> StoredDescription:
    """Return the description with this name. RobotFileError if it does not exist or has not been downloaded."""
    if not name:
        raise RobotFileError(f"{PREFIX} lacks the name of a description; write, for example, {PREFIX}fr3_description")
    try:
        from robot_descriptions import DESCRIPTIONS
    except ImportError:
        raise MissingExtraError(
            f"{PREFIX}{name} is a name of the package robot_descriptions, which is not installed; install it with: "
            "pip install robot_descriptions"
        ) from None
    if name not in DESCRIPTIONS:
        raise RobotFileError(f"robot_descriptions has no description {name!r}{suggest_names(name, DESCRIPTIONS)}")
    values = _read_module(name)
    keys = [key for key in PATH_NAMES if isinstance(values.get(key), str)]
    if not keys:
        raise RobotFileError(f"the description {name!r} has neither a URDF nor an MJCF file; choose another one")
    cache = Path(os.path.expanduser(os.environ.get(_CACHE_VARIABLE, _DEFAULT_CACHE)))
    for repository in _list_repositories(cache, DESCRIPTIONS[name].repository or ""):
        path = repository / values[keys[0]]
        if path.is_file():
            arguments = values.get(ARGUMENTS) if keys[0] == "XACRO_PATH" else {}
            return StoredDescription(path, _check_arguments(arguments), repository)
    raise RobotFileError(
        f"the description {name!r} is not on disk (looked in {cache}), and nothing is downloaded here; fetch it first: "
        f"python -m robot_descriptions pull {name}"
    )


def _list_repositories(cache: Path, name: str) -> list[Path]:
    """Return the folders in which the repository may be; its folder has the name of the repository or another one."""
    try:
        folders = sorted(folder for folder in cache.iterdir() if folder.is_dir())
    except OSError:
        return []
    return sorted(folders, key=lambda folder: folder.name != name)


def _check_arguments(arguments: Any) -> dict[str, str]:
    return {str(key): str(value) for key, value in arguments.items()} if isinstance(arguments, dict) else {}


def _read_module(name: str) -> dict[str, Any]:
    """Return the constants of a module of robot_descriptions, with paths relative to its repository."""
    spec = importlib.util.find_spec(f"robot_descriptions.{name}")
    if spec is None or spec.origin is None:
        raise RobotFileError(f"robot_descriptions lists {name!r} but has no module for it; install it again")
    values: dict[str, Any] = {}
    for statement in ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=key), value=ast.expr() as value):
                pass
            case ast.Assign(targets=[ast.Name(id=key)], value=value):
                pass
            case _:
                continue
        values[key] = _evaluate(value, values)
    return values


def _evaluate(node: ast.expr, values: dict[str, Any]) -> Any:
    """Return the value of a constant, a name, a dictionary or joined paths; None for anything else."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return values.get(name)
        case ast.Call(func=ast.Name(id=name)) if name == _CLONE:
            return ""  # the folder of the repository
        case ast.Call(func=ast.Attribute(value=ast.Name(id="_path"), attr="join"), args=arguments):
            parts = [_evaluate(argument, values) for argument in arguments]
            return os.path.join(*parts) if parts and all(isinstance(part, str) for part in parts) else None
        case ast.Dict(keys=keys, values=entries):
            return {
                _evaluate(key, values): _evaluate(entry, values)
                for key, entry in zip(keys, entries, strict=True)
                if key is not None
            }
        case _:
            return None
