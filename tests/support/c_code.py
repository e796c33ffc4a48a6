"""Compiling and calling exported C code."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")


def find_compiler(name: str = "gcc") -> str:
    """Return the path of a compiler; skip the test if it is not installed."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def compile_program(
    folder: Path, sources: list[str], *flags: str, compiler: str = "gcc", output: str = "program"
) -> Path:
    """Compile C files with all warnings as errors; the errors are shown if it fails."""
    command = [find_compiler(compiler), *STRICT, *flags, *sources, "-o", output, "-lm"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return folder / output


def run(program: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program)], capture_output=True, text=True)


@dataclass(frozen=True, eq=False)
class Library:
    """Exported code as a shared library. Arrays must have the type of its numbers."""

    handle: ctypes.CDLL
    prefix: str
    dtype: type = np.float64

    def call(self, function: str, *arguments: np.ndarray | float | ctypes.Array[ctypes.c_char]) -> int:
        """Call a function with arrays, numbers, and buffers for structs."""
        number = ctypes.c_double if self.dtype is np.float64 else ctypes.c_float
        converted: list[object] = []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                assert argument.dtype == self.dtype
                assert argument.flags.c_contiguous
                converted.append(ctypes.c_void_p(argument.ctypes.data))
            else:
                converted.append(number(argument) if isinstance(argument, float) else argument)
        result: int = getattr(self.handle, f"{self.prefix}_{function}")(*converted)
        return result

    def compute(self, function: str, shape: tuple[int, ...], *inputs: np.ndarray) -> np.ndarray:
        """Return the result of a function of one sample."""
        result: np.ndarray = np.full(shape, np.nan, dtype=self.dtype)
        self.call(function, *(np.ascontiguousarray(values, dtype=self.dtype) for values in inputs), result)
        return result


def load_library(folder: Path, prefix: str, *flags: str, dtype: type = np.float64) -> Library:
    """Compile the source file of an export to a shared library, and load it."""
    path = compile_program(folder, [f"{prefix}.c"], "-O1", "-shared", "-fPIC", *flags, output=f"{prefix}.so")
    return Library(ctypes.CDLL(str(path)), prefix, dtype)
