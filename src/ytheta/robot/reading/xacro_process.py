"""Expansion of a xacro file, called in a child process by ``xacro``."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from ytheta.engine.child_process import Reply
from ytheta.errors import MissingExtraError, RobotFileError
from ytheta.robot.reading.ros_packages import SCHEME

MAX_REASON_LENGTH = 300  # characters of what xacro says


def expand(request: dict[str, Any]) -> Reply:
    """Return the URDF of the file ``path``; messages call it ``name``.

    ``packages`` are folders by the name of the package; ``searched`` says where they were found. The URDF has at most
    ``max_size`` bytes.
    """
    name = request["name"]
    try:
        import xacro
        from xacrodoc import XacroDoc, packages
    except ImportError:
        raise MissingExtraError(
            f"{name} is a xacro file, which xacrodoc expands, but xacrodoc is not installed; install it with: "
            "pip install 'ytheta[xacro]'"
        ) from None
    packages.update_package_cache(request["packages"])
    _check_arguments(request["path"], name, request["arguments"])
    xacro.init_stacks(request["path"])  # xacrodoc does not say where the file is, so relative includes are not found
    try:
        document = XacroDoc.from_file(
            request["path"], walk_up=False, subargs=request["arguments"], resolve_packages=False
        )
        urdf = document.to_urdf_string().encode()
    except Exception as error:  # xacro raises errors of all kinds, also those of expressions in the file
        if _is_caused_by_memory(error):
            raise MemoryError from None
        arguments = _collect_arguments(request["path"], request["arguments"])
        raise _explain(error, name, request["searched"], arguments) from None
    if len(urdf) > request["max_size"]:
        raise RobotFileError(f"{name}: its expansion exceeds {request['max_size'] / 1e6:.3g} MB; check its macros")
    return Reply(blocks=[urdf])


def _check_arguments(path: str, name: str, arguments: Mapping[str, str]) -> None:
    """Refuse an argument that neither the file nor one that it includes declares."""
    declared = _find_arguments(path)
    if not set(arguments) - declared:
        return
    declared |= set(_collect_arguments(path, {}))
    for argument in arguments:
        if argument not in declared:
            known = f"its arguments are {', '.join(sorted(declared))}" if declared else "it has none"
            raise RobotFileError(f"{name} has no xacro argument {argument!r}; {known}")


def _collect_arguments(path: str, arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the values of the arguments that xacro meets until it ends or fails: those given, and defaults."""
    import xacro

    values = dict(arguments)  # xacro adds the default of every argument that it meets
    with contextlib.suppress(Exception):
        xacro.process_file(path, mappings=values)
    return values


def _clean(text: str) -> str:
    """Return a message of xacro in one line, without the classes of errors, and once if xacro says it twice."""
    text = re.sub(r"<class '[^']*'>:? ?", "", " ".join(text.split()))
    half = len(text) // 2
    return text[:half] if text == f"{text[:half]} {text[:half]}" else text


def _find_arguments(path: str) -> set[str]:
    """Return the arguments that a file itself declares or uses."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    declared = re.findall(r"<xacro:arg\s[^>]*?name\s*=\s*[\"']([^\"']+)", text)
    return {*declared, *re.findall(r"\$\(arg\s+([^\s)]+)\s*\)", text)}


def _explain(error: Exception, name: str, searched: str, arguments: Mapping[str, str]) -> RobotFileError:
    """Return what xacro's exception means. ``arguments`` are the values with which the file was expanded."""
    text = _clean(str(error)) or type(error).__name__
    if isinstance(error, RecursionError):
        text = "its macros or includes are nested too deeply"
    package = re.search(r"Package not found: (\S+)", text)
    if package:
        return RobotFileError(
            f"{name}: the package {package[1]!r} is not found; looked in {searched}; name the folder that contains it "
            "with --package-path (package_paths)"
        )
    argument = re.search(r"Undefined substitution argument (\S+)", text)
    if argument:
        return RobotFileError(
            f"{name} uses the xacro argument {argument[1]!r} before it declares a default, or without one; give it a "
            f"value with --xacro-arg {argument[1]}=VALUE (xacro_args)"
        )
    missing = re.search(r"No such file or directory: '?(.+?)(?:'? when evaluating|'? \[Errno|'?$)", text)
    if missing and SCHEME in missing[1]:
        reference = missing[1][missing[1].index(SCHEME) :]
        inner = reference.removeprefix(SCHEME)
        package_name, _, rest = inner.partition("/")
        return RobotFileError(
            f"{name} includes {reference!r}, but xacro includes no {SCHEME}; write $(find {package_name})/{rest}"
        )
    if missing:
        parts = PurePath(missing[1]).parts
        named = [f"{key}={value}" for key, value in arguments.items() if _is_part(str(value), parts)]
        remedy = f"check the path in it, or the xacro argument {', '.join(named)}" if named else "check the path in it"
        return RobotFileError(f"{name} needs the file {missing[1]!r}, which does not exist; {remedy}")
    reason = text[:MAX_REASON_LENGTH]
    return RobotFileError(f"{name} cannot be expanded: {reason}; correct the file or its arguments")


def _is_part(value: str, parts: tuple[str, ...]) -> bool:
    """Whether a value of an argument is one of the parts of a path, or the beginning of one up to a dot."""
    return any(value in (part, part.partition(".")[0]) for part in parts)


def _is_caused_by_memory(error: BaseException | None) -> bool:
    """Whether xacro has wrapped a MemoryError, once or several times."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = getattr(error, "exc", None) or error.__cause__ or error.__context__
    return False
