"""The stable ABI: machine code and the headers of Python agree, and the buffer's fields are where they are expected."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ytheta.errors import InputError
from ytheta.native import compile as machine
from ytheta.native.codegen import python_abi

C_TYPES: dict[str, Any] = {"ptr": ctypes.c_void_p, "i64": ctypes.c_ssize_t, "i32": ctypes.c_int}


class Buffer(ctypes.Structure):
    """A buffer with the fields that machine code expects."""

    _fields_ = tuple((name, C_TYPES[kind]) for name, kind in python_abi._FIELDS.items())


def test_python_fills_the_fields_of_a_buffer() -> None:
    array, view = np.arange(6.0).reshape(2, 3), Buffer()
    array.flags.writeable = False
    flags = python_abi.FORMAT | python_abi.C_CONTIGUOUS
    pointer = ctypes.byref(view)
    assert ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(array), pointer, ctypes.c_int(flags)) == 0
    expected = array.data
    try:
        assert view.buf == array.ctypes.data
        assert (view.len, view.itemsize, view.readonly, view.ndim) == (
            expected.nbytes,
            expected.itemsize,
            expected.readonly,
            expected.ndim,
        )
        assert ctypes.string_at(view.format).decode() == expected.format
        lengths = ctypes.cast(view.shape, ctypes.POINTER(ctypes.c_ssize_t))
        assert tuple(lengths[:2]) == expected.shape
    finally:
        ctypes.pythonapi.PyBuffer_Release(pointer)


def test_all_that_is_used_belongs_to_the_limited_interface(tmp_path: Path) -> None:
    """A C compiler finds the same functions, struct and constants in Python's headers, restricted to the stable ABI."""
    compiler, include = shutil.which("cc"), Path(sysconfig.get_path("include"))
    if compiler is None or not (include / "Python.h").exists():
        pytest.skip("needs a C compiler and the headers of Python")

    def compile_source(functions: list[str], fields: dict[str, str]) -> subprocess.CompletedProcess[str]:
        checks = {
            "sizeof(Py_buffer)": ctypes.sizeof(Buffer),
            **{f"offsetof(Py_buffer, {name})": getattr(Buffer, name).offset for name in fields},
            "PyBUF_WRITABLE": python_abi.WRITABLE,
            "PyBUF_FORMAT": python_abi.FORMAT,
            "PyBUF_C_CONTIGUOUS": python_abi.C_CONTIGUOUS,
            "METH_FASTCALL": machine._METH_FASTCALL,
            "sizeof(PyMethodDef)": ctypes.sizeof(machine._MethodDefinition),
            "offsetof(PyMethodDef, ml_meth)": machine._MethodDefinition.function.offset,
            "offsetof(PyMethodDef, ml_flags)": machine._MethodDefinition.flags.offset,
        }
        lines = [
            "#define Py_LIMITED_API 0x030B0000",
            "#include <Python.h>",
            "#include <stddef.h>",
            *(f'_Static_assert({name} == {value}, "{name}");' for name, value in checks.items()),
            f"void *used[] = {{{', '.join(f'(void *){name}' for name in functions)}}};",
        ]
        source = tmp_path / "used.c"
        source.write_text("\n".join(lines))
        command = [compiler, "-c", str(source), "-I", str(include), "-o", str(tmp_path / "used.o")]
        return subprocess.run(command, capture_output=True, text=True)

    functions = [*python_abi.PYTHON_FUNCTIONS, "PyCFunction_NewEx"]
    result = compile_source(functions, python_abi._FIELDS)
    assert result.returncode == 0, result.stderr
    assert compile_source([*functions, "_PyObject_GetMethod"], python_abi._FIELDS).returncode != 0  # not in the ABI


def test_a_python_without_the_stable_abi_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    machine.check_python.__wrapped__()
    monkeypatch.setitem(python_abi.PYTHON_FUNCTIONS, "PyObject_DoesNotExist", ("void", ""))
    with pytest.raises(InputError, match=r'backend="interpreter"'):
        machine.check_python.__wrapped__()
