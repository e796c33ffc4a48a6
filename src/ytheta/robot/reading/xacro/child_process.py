"""The process that expands a xacro file. It is started by ``expand`` as a script and imports nothing of ytheta.

It reads a JSON object with ``path``, ``arguments``, ``packages`` (paths by name) and limits from stdin, and writes a
JSON object with ``urdf`` and ``declared`` (the arguments of the file), or with ``error``, to stdout.
"""

import contextlib
import json
import re
import sys
from typing import Any


def main() -> None:
    request: dict[str, Any] = json.loads(sys.stdin.read())
    _set_limits(request["seconds"], request["memory"])
    with contextlib.redirect_stdout(sys.stderr):  # xacro prints warnings
        answer = _expand(request)
    sys.stdout.write(json.dumps(answer))


def _set_limits(seconds: int, memory: int) -> None:
    try:
        import resource
    except ImportError:  # Windows, where only the time is limited, by the parent
        return
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _expand(request: dict[str, Any]) -> dict[str, Any]:
    try:
        import xacro
        from xacrodoc import XacroDoc, packages
    except ImportError:
        return {"error": "import"}
    packages.update_package_cache(request["packages"])
    path, arguments = request["path"], request["arguments"]
    declared = _find_arguments(path)
    if set(arguments) - declared:  # an included file may declare them
        defaults: dict[str, str] = {}  # xacro adds the default of every argument that it meets
        with contextlib.suppress(Exception):
            xacro.process_file(path, mappings=defaults)
        declared |= set(defaults)
        if set(arguments) - declared:
            return {"error": "arguments", "declared": sorted(declared)}
    try:
        document = XacroDoc.from_file(path, subargs=arguments, resolve_packages=False)
        return {"urdf": document.to_urdf_string(), "declared": sorted(declared)}
    except MemoryError:
        return {"error": "memory"}
    except RecursionError:
        return {"error": "expansion", "text": "its macros or includes are nested too deeply"}
    except Exception as error:  # xacro raises errors of all kinds, also those of expressions in the file
        if _is_caused_by_memory(error):
            return {"error": "memory"}
        text = _clean(str(error)) or type(error).__name__
        package = re.search(r"Package not found: (\S+)", text)
        return {"error": "package", "name": package[1]} if package else {"error": "expansion", "text": text}


def _clean(text: str) -> str:
    """Return a message of xacro in one line, without the classes of errors, and once if xacro says it twice."""
    text = re.sub(r"<class '[^']*'>:? ?", "", " ".join(text.split()))
    half = len(text) // 2
    return text[:half] if text == f"{text[:half]} {text[:half]}" else text


def _find_arguments(path: str) -> set[str]:
    """Return the arguments that a file declares itself."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return set(re.findall(r"<xacro:arg\s[^>]*?name\s*=\s*[\"']([^\"']+)", file.read()))


def _is_caused_by_memory(error: BaseException | None) -> bool:
    """Whether xacro has wrapped a MemoryError, once or several times."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = getattr(error, "exc", None) or error.__cause__ or error.__context__
    return False


if __name__ == "__main__":
    main()
