"""Access to NumPy arrays by machine code, which reads addresses, shapes and flags from the array objects themselves.

Python needs a third of a microsecond to get the address of one array, and as long for its shape and flags. In that time
machine code evaluates more than ten samples of an arm. So machine code gets only the address of the tuple of the
inputs, and reads the array objects itself.

Fields     The fields read are those of PyTupleObject, and of PyArrayObject in the order of NumPy's ndarraytypes.h,
           after the object header. Inline functions of Python and NumPy compile the offsets of these fields into every
           extension module, so the offsets are stable. ``find_type_addresses`` checks that they are as expected.
Plain      A plain array is of class numpy.ndarray itself, has NumPy's own dtype object for doubles, is aligned, and is
           in C order. All other arguments go through ``native.arguments``, which converts them or raises an error.
"""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np

from ytheta.errors import InputError
from ytheta.native.codegen.assembly import FunctionBody
from ytheta.native.codegen.layout import Layout

# Offsets of fields in bytes.
_HEADER = object.__basicsize__
_TYPE, _DATA, _NDIM, _SHAPE, _STRIDES = _HEADER - 8, _HEADER, _HEADER + 8, _HEADER + 16, _HEADER + 24
_DTYPE, _FLAGS = _HEADER + 40, _HEADER + 48
_TUPLE_LENGTH, _TUPLE_ITEMS = _HEADER, tuple.__basicsize__
# Bits of an array's flags.
_C_CONTIGUOUS, _ALIGNED, _WRITABLE = 0x1, 0x100, 0x400
_DOUBLE = np.dtype(np.float64)


@cache
def find_type_addresses() -> tuple[int, int]:
    """Return the addresses of the class numpy.ndarray and of NumPy's dtype of doubles in this process.

    Raises an InputError if the fields of arrays and tuples are not where this module expects them.
    """
    array, read_only = np.zeros((2, 3)), np.zeros(1)
    read_only.flags.writeable = False
    pair = (read_only, array)

    def read_int64(address: int) -> int:
        return ctypes.c_int64.from_address(address).value

    def read_int32(address: int) -> int:
        return ctypes.c_int32.from_address(address).value

    start = id(array)
    as_expected = (
        [read_int64(id(pair) + offset) for offset in (_TUPLE_LENGTH, _TUPLE_ITEMS, _TUPLE_ITEMS + 8)]
        == [2, id(read_only), start]
        and [read_int64(start + offset) for offset in (_TYPE, _DATA, _DTYPE)]
        == [id(np.ndarray), array.ctypes.data, id(_DOUBLE)]
        and read_int32(start + _NDIM) == 2
        # NumPy stores the strides right after the shape. If not, these two words may not be addresses.
        and read_int64(start + _SHAPE) + 16 == read_int64(start + _STRIDES)
        and [read_int64(read_int64(start + _SHAPE) + 8 * k) for k in range(2)] == [2, 3]
        and [read_int32(id(x) + _FLAGS) for x in pair] == [x.flags.num for x in pair]
    )
    if not as_expected:
        raise InputError(
            'machine code does not know the array layout of this Python; compile with backend="interpreter"'
        )
    return id(np.ndarray), id(_DOUBLE)


def load_item(code: FunctionBody, items: str, k: int) -> str:
    """Load the address of item k of a tuple."""
    return code.assign(f"load ptr, ptr {_emit_field(code, items, _TUPLE_ITEMS + 8 * k)}, align 8")


def load_data(code: FunctionBody, array: str) -> str:
    """Load the address of an array's numbers."""
    return code.assign(f"load ptr, ptr {_emit_field(code, array, _DATA)}, align 8")


def emit_checks(layout: Layout) -> str:
    """Return the functions ``@has_shape`` and ``@fits``.

    ``@types`` is filled with the result of ``find_type_addresses`` when the code is loaded.
    """
    return f"@types = global [2 x i64] zeroinitializer\n{_emit_has_shape()}\n{_emit_fits(layout)}"


def _emit_has_shape() -> str:
    """Return ``@has_shape(array, ndim, flags, shape)``: whether an array is plain and has this shape."""
    code = FunctionBody(1)
    code.emit("entry:")
    # Other objects may be too short to have the fields that are read next.
    is_array = _emit_equal_words(code, _emit_field(code, "%array", _TYPE), "@types")
    code.emit(f"br i1 {is_array}, label %fields, label %no")
    code.emit("fields:")
    double = code.assign("getelementptr i64, ptr @types, i64 1")
    conditions = [_emit_equal_words(code, _emit_field(code, "%array", _DTYPE), double)]
    ndim = code.assign(f"load i32, ptr {_emit_field(code, '%array', _NDIM)}, align 4")
    conditions.append(code.assign(f"icmp eq i32 {ndim}, %ndim"))
    flags = code.assign(f"load i32, ptr {_emit_field(code, '%array', _FLAGS)}, align 4")
    conditions.append(code.assign(f"icmp eq i32 {code.assign(f'and i32 {flags}, %flags')}, %flags"))
    code.emit(f"br i1 {_emit_all(code, conditions)}, label %begin, label %no")
    code.emit("begin:")
    lengths = code.assign(f"load ptr, ptr {_emit_field(code, '%array', _SHAPE)}, align 8")
    code.emit("%count = zext i32 %ndim to i64")
    code.emit("br label %axis")
    code.emit("axis:")
    code.emit("%k = phi i64 [0, %begin], [%k.next, %same]")
    code.emit("%more = icmp ult i64 %k, %count")
    code.emit("br i1 %more, label %compare, label %yes")
    code.emit("compare:")
    equal = _emit_equal_words(code, code.compute_address(lengths, "%k"), code.compute_address("%shape", "%k"))
    code.emit(f"br i1 {equal}, label %same, label %no")
    code.emit("same:")
    code.emit("%k.next = add i64 %k, 1")
    code.emit("br label %axis")
    code.emit("yes:")
    code.emit("ret i1 true")
    code.emit("no:")
    code.emit("ret i1 false")
    return f"define internal i1 @has_shape(ptr %array, i32 %ndim, i32 %flags, ptr %shape) #1 {{\n{code}\n}}"


def _emit_fits(layout: Layout) -> str:
    """Return ``@fits(address of: samples, result or 0, inputs)``: whether all arrays are plain and their shapes match.

    The result, if there is one, must not share memory with an input. If the number of samples is -1, the inputs are the
    vectors of one sample.
    """
    code = FunctionBody(1)
    code.emit("entry:")
    shape = layout.shape
    code.emit(f"%shape = alloca i64, i64 {2 + len(shape)}, align 8")
    samples, out = (code.assign(f"load i64, ptr {code.compute_address('%words', k)}, align 8") for k in range(2))
    inputs = code.assign(f"load ptr, ptr {code.compute_address('%words', 2)}, align 8")
    count = code.assign(f"load i64, ptr {_emit_field(code, inputs, _TUPLE_LENGTH)}, align 8")
    code.emit(f"br i1 {code.assign(f'icmp eq i64 {count}, {len(layout.inputs)}')}, label %arrays, label %no")
    code.emit("no:")
    code.emit("ret i1 false")
    code.emit("arrays:")
    code.emit(f"%one = icmp slt i64 {samples}, 0")
    code.emit(f"store i64 {samples}, ptr %shape, align 8")
    second_length = code.compute_address("%shape", 1)
    plain = _C_CONTIGUOUS | _ALIGNED
    conditions = []
    arrays: list[tuple[str, int, bool]] = []
    for k, entry in enumerate(layout.inputs):
        array = load_item(code, inputs, k)
        code.emit(f"store i64 {entry.size}, ptr {second_length}, align 8")
        ndim = "1" if entry.shared else code.assign("select i1 %one, i32 1, i32 2")
        lengths = second_length if entry.shared else code.assign(f"select i1 %one, ptr {second_length}, ptr %shape")
        conditions.append(code.assign(f"call i1 @has_shape(ptr {array}, i32 {ndim}, i32 {plain}, ptr {lengths})"))
        arrays.append((array, entry.size, entry.shared))
    inputs_fit = _emit_all(code, conditions)
    code.emit(f"%has_result = icmp ne i64 {out}, 0")
    code.emit(f"%check_result = and i1 {inputs_fit}, %has_result")
    code.emit("br i1 %check_result, label %result, label %no_result")
    code.emit("no_result:")
    code.emit(f"ret i1 {inputs_fit}")

    code.emit("result:")
    array = code.assign(f"inttoptr i64 {out} to ptr")
    for axis, length in enumerate(shape):
        code.emit(f"store i64 {length}, ptr {code.compute_address('%shape', 1 + axis)}, align 8")
    flags = plain | _WRITABLE
    fits = code.assign(f"call i1 @has_shape(ptr {array}, i32 {1 + len(shape)}, i32 {flags}, ptr %shape)")
    code.emit(f"br i1 {fits}, label %overlap, label %no")
    code.emit("overlap:")
    begin, end = _emit_extent(code, array, code.assign(f"mul i64 {samples}, {8 * layout.size}"))
    conditions = []
    for array, size, shared in arrays:
        extent = str(8 * size) if shared else code.assign(f"mul i64 {samples}, {8 * size}")
        first, last = _emit_extent(code, array, extent)
        before, after = code.assign(f"icmp ule i64 {last}, {begin}"), code.assign(f"icmp ule i64 {end}, {first}")
        conditions.append(code.assign(f"or i1 {before}, {after}"))
    code.emit(f"ret i1 {_emit_all(code, conditions)}")
    return f"define zeroext i1 @fits(ptr %words) #1 {{\n{code}\n}}"


def _emit_extent(code: FunctionBody, array: str, length: str) -> tuple[str, str]:
    """Return the addresses at which an array of this many bytes begins and ends."""
    begin = code.assign(f"ptrtoint ptr {load_data(code, array)} to i64")
    return begin, code.assign(f"add i64 {begin}, {length}")


def _emit_field(code: FunctionBody, array: str, offset: int) -> str:
    return code.assign(f"getelementptr i8, ptr {array}, i64 {offset}")


def _emit_equal_words(code: FunctionBody, *addresses: str) -> str:
    """Compare the words at two addresses; return the name of the result."""
    words = [code.assign(f"load i64, ptr {address}, align 8") for address in addresses]
    return code.assign(f"icmp eq i64 {words[0]}, {words[1]}")


def _emit_all(code: FunctionBody, conditions: list[str]) -> str:
    result = "true"
    for condition in conditions:
        result = code.assign(f"and i1 {result}, {condition}")
    return result
