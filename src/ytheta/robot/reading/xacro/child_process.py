"""Expansion of a xacro file, called in a child process by ``expand``."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
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
        raise _explain(error, name, request["searched"]) from None
    if len(urdf) > request["max_size"]:
        raise RobotFileError(f"{name}: its expansion exceeds {request['max_size'] / 1e6:.3g} MB; check its macros")
    return Reply(blocks=[urdf])


def _check_arguments(path: str, name: str, arguments: Mapping[str, str]) -> None:
    """Refuse an argument that neither the file nor one that it includes declares."""
    declared = _find_arguments(path)
    if not set(arguments) - declared:
        return
    import xacro

    defaults: dict[str, str] = {}  # xacro adds the default of every argument that it meets
    with contextlib.suppress(Exception):
        xacro.process_file(path, mappings=defaults)
    declared |= set(defaults)
    for argument in arguments:
        if argument not in declared:
            known = f"its arguments are {', '.join(sorted(declared))}" if declared else "it has none"
            raise RobotFileError(f"{name} has no xacro argument {argument!r}; {known}")


def _clean(text: str) -> str:
    """Return a message of xacro in one line, without the classes of errors, and once if xacro says it twice."""
    text = re.sub(r"<class '[^']*'>:? ?", "", " ".join(text.split()))
    half = len(text) // 2
    return text[:half] if text == f"{text[:half]} {text[:half]}" else text


def _find_arguments(path: str) -> set[str]:
    """Return the arguments that a file declares itself."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return set(re.findall(r"<xacro:arg\s[^>]*?name\s*=\s*[\"']([^\"']+)", file.read()))


def _explain(error: Exception, name: str, searched: str) -> RobotFileError:
    """Return what xacro's exception means."""
    text = _clean(str(error)) or type(error).__name__
    if isinstance(error, RecursionError):
        text = "its macros or includes are nested too deeply"
    package = re.search(r"Package not found: (\S+)", text)
    if package:
        return RobotFileError(
            f"{name}: the package {package[1]!r} is not found; looked in {searched}; name the folder that contains it "
            "with --package-path (package_paths)"
        )
    missing = re.search(r"No such file or directory: (.+?)(?: \[Errno|$)", text)
    if missing and SCHEME in missing[1]:
        reference = missing[1][missing[1].index(SCHEME) :]
        inner = reference.removeprefix(SCHEME)
        package_name, _, rest = inner.partition("/")
        return RobotFileError(
            f"{name} includes {reference!r}, but xacro includes no {SCHEME}; write $(find {package_name})/{rest}"
        )
    if missing:
        return RobotFileError(f"{name} needs the file {missing[1]!r}, which does not exist; check the path in it")
    reason = text[:MAX_REASON_LENGTH]
    return RobotFileError(f"{name} cannot be expanded: {reason}; correct the file or its arguments")


def _is_caused_by_memory(error: BaseException | None) -> bool:
    """Whether xacro has wrapped a MemoryError, once or several times."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = getattr(error, "exc", None) or error.__cause__ or error.__context__
    return False
