"""Export to C99: one header, one source file, a self-test and a CMake file in a new folder."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import ytheta
from ytheta.errors import InputError
from ytheta.exporting.c.controllers import ControllerCode, make_controllers
from ytheta.exporting.c.definitions import Definition, Style, define, find_number, make_prefix
from ytheta.exporting.c.header import format_header
from ytheta.exporting.c.observer import format_definitions
from ytheta.exporting.c.options import COptions
from ytheta.exporting.c.self_test import format_self_test
from ytheta.exporting.c.trigonometry import emit_sine_cosine
from ytheta.exporting.functions import OBSERVER, RobotFunctions
from ytheta.exporting.source import ExportSource, Format


def render(source: ExportSource, path: Path, options: COptions) -> Mapping[Path, bytes]:
    """Return the files of the C code of a robot; ``path`` is their folder."""
    robot = source.robot
    style = Style(_find_prefix(source, options), find_number(options.precision))
    if robot.loops:
        raise InputError(
            f"{robot.name!r} has closed loops, which C code of ytheta cannot close; export its CasADi functions"
        )
    functions = RobotFunctions(robot, options.parameters, options.functions, options.base_orientation)
    definitions = [define(function, style, is_static=function.name == OBSERVER) for function in functions.functions]
    controllers = make_controllers(options, robot, style)
    everything = [*definitions, *(each for controller in controllers for each in controller.definitions)]
    library = _list_library_functions(everything, style, options)
    origin = f"{source.origin or 'description'}, exported by ytheta {ytheta.__version__}"
    texts = (
        format_header(functions, style, definitions, controllers, origin=origin, library=library),
        _format_source(functions, style, definitions, controllers, options, library, everything),
        format_self_test(functions, style, definitions, controllers),
        format_cmake(style.prefix, needs_library=bool(library)),
    )
    names = (*list_file_names(style.prefix), CMAKE_FILE)
    return {path / name: text.encode("ascii") for name, text in zip(names, texts, strict=True)}


def find_leftovers(source: ExportSource, path: Path, options: COptions) -> tuple[Path, ...]:
    """Return files in the folder that an export under another name wrote, and that this one makes useless."""
    return find_earlier_files(path, _find_prefix(source, options))


def _find_prefix(source: ExportSource, options: COptions) -> str:
    return make_prefix(options.name or source.robot.name)


def _list_library_functions(definitions: Sequence[Definition], style: Style, options: COptions) -> list[str]:
    names = {name for definition in definitions for name in definition.body.library_functions}
    if options.trigonometry == "libm" and any(definition.body.sine_pairs for definition in definitions):
        names |= {f"sin{style.number.suffix}", f"cos{style.number.suffix}"}
    return sorted(names)


def _format_source(
    functions: RobotFunctions,
    style: Style,
    definitions: Sequence[Definition],
    controllers: Sequence[ControllerCode],
    options: COptions,
    library: Sequence[str],
    everything: Sequence[Definition],
) -> str:
    p = style.prefix
    sections = [f"/* Written by ytheta. See {p}.h. */", f'#include "{p}.h"']
    sections += ["#include <math.h>"] if library else []
    if any(definition.body.sine_pairs for definition in everything):
        sections += ["#include <stdint.h>", "", _format_padding(p)]
        sections.append(emit_sine_cosine(p, style.number, trigonometry=options.trigonometry))
    sections.append(_format_parameters(functions, style))
    for definition in definitions:
        is_observer = definition.function.name == OBSERVER
        sections.append(format_definitions(definition, functions.size) if is_observer else definition.format())
    sections += [controller.format_definitions() for controller in controllers]
    return "\n".join(sections)


def _format_padding(prefix: str) -> str:
    """Return the macro that rounds the number of angles up to whole vector registers, if there are such registers."""
    macro = f"{prefix.upper()}_PAD"
    return (
        "/* Arrays of angles fill whole vector registers. */\n"
        f"#if defined(__AVX__)\n#define {macro}(n) (((n) + 3) / 4 * 4)\n#else\n#define {macro}(n) (n)\n#endif\n"
    )


def _format_parameters(functions: RobotFunctions, style: Style) -> str:
    p, t, f = style.prefix, style.number.type, style.number.format
    argument = f"{style.parameters_type} *parameters" if functions.is_passed else f"{t} beta[{len(functions.base)}]"
    target = "parameters->beta" if functions.is_passed else "beta"
    rows = [f"    {target}[{k}] = {f(value)};" for k, value in enumerate(functions.base.beta)]
    return "\n".join([f"void {p}_get_parameters({argument})", "{", *rows, "}", ""])


# The CMake file of an export.


def format_cmake(prefix: str, *, needs_library: bool) -> str:
    """Return a CMakeLists.txt with a static library and its self-test, which ``ctest`` runs."""
    library = f"{prefix}_dynamics"  # targets such as "test" are reserved
    math = f"if(UNIX)\n  target_link_libraries({library} PUBLIC m)\nendif()\n" if needs_library else ""
    return f"""\
# Written by ytheta.
cmake_minimum_required(VERSION 3.10)
project({prefix} C)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library({library} STATIC {prefix}.c {prefix}.h)
target_include_directories({library} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
set_target_properties({library} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON)
{math}
enable_testing()
add_executable({prefix}_selftest {prefix}_selftest.c)
set_target_properties({prefix}_selftest PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON)
target_link_libraries({prefix}_selftest {library})
add_test(NAME {prefix}_selftest COMMAND {prefix}_selftest)
"""


# Files of an earlier export to the same folder under another name.


MARK = b"Written by ytheta."  # in the first line of every exported file
CMAKE_FILE = "CMakeLists.txt"
MAX_MARK_POSITION = 8  # Bytes before the mark: the beginning of a comment. Fixed by: the files that are written.
_PROJECT = re.compile(rb"^project\((\w+) C\)$", re.MULTILINE)


def list_file_names(prefix: str) -> tuple[str, ...]:
    """Return the names of the header, of the source file and of its self-test."""
    return f"{prefix}.h", f"{prefix}.c", f"{prefix}_selftest.c"


def find_earlier_files(folder: Path, prefix: str) -> tuple[Path, ...]:
    """Return the files that the CMake file of the folder names, if another prefix was used and ytheta wrote them."""
    build = _read_own(folder / CMAKE_FILE)
    project = None if build is None else _PROJECT.search(build)
    if project is None or project[1].decode() == prefix:
        return ()
    paths = (folder / name for name in list_file_names(project[1].decode()))
    return tuple(path for path in paths if _read_own(path) is not None)


def _read_own(path: Path) -> bytes | None:
    """Return the content of a file that ytheta wrote; None for other files."""
    try:
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
    except OSError:
        return None
    return content if 0 <= content.find(MARK) <= MAX_MARK_POSITION else None


C = Format(render, COptions, find_leftovers=find_leftovers)
