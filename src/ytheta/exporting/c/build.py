"""The CMake file of an export."""

from __future__ import annotations


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
