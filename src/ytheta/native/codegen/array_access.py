"""NumPy's arrays as machine code sees them: what a call is given is looked at there.

Python takes a third of a microsecond to ask one array for its address, and as long for its shape and its flags: more
than ten samples of an arm. Machine code is told where the tuple of the inputs is, and reads the objects in it itself.

Fields     of PyTupleObject, and of PyArrayObject in the order of NumPy's ndarraytypes.h, behind the head of every
           object. Inline functions of both put these offsets into every extension module, so they stay, and
           ``find_fields`` sees that they are as expected.
Plain      is an array of NumPy's own class, of its own double type, aligned, in C order; anything else goes through
           ``door``, which makes it plain or says what is wrong.
"""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np

from ytheta.errors import InputError
from ytheta.native.codegen.assembly import Code
from ytheta.native.codegen.layout import Layout

_HEAD = object.__basicsize__
_KIND, DATA, _AXES, _LENGTHS, _STRIDES = _HEAD - 8, _HEAD, _HEAD + 8, _HEAD + 16, _HEAD + 24
_NUMBERS, _FLAGS = _HEAD + 40, _HEAD + 48
_COUNT, _ITEMS = _HEAD, tuple.__basicsize__
_IN_ORDER, _ALIGNED, _WRITABLE = 0x1, 0x100, 0x400
_DOUBLE = np.dtype(np.float64)


@cache
def find_fields() -> tuple[int, int]:
    """Where NumPy's class of arrays and its double type are in this process."""
    array, fixed = np.zeros((2, 3)), np.zeros(1)
    fixed.flags.writeable = False
    given = (fixed, array)

    def word(place: int) -> int:
        return ctypes.c_int64.from_address(place).value

    def half(place: int) -> int:
        return ctypes.c_int32.from_address(place).value

    here = id(array)
    known = (
        [word(id(given) + place) for place in (_COUNT, _ITEMS, _ITEMS + 8)] == [2, id(fixed), here]
        and [word(here + place) for place in (_KIND, DATA, _NUMBERS)]
        == [id(np.ndarray), array.ctypes.data, id(_DOUBLE)]
        and half(here + _AXES) == 2
        # Strides lie behind the lengths: what is none of the two addresses must not be looked at.
        and word(here + _LENGTHS) + 16 == word(here + _STRIDES)
        and [word(word(here + _LENGTHS) + 8 * k) for k in range(2)] == [2, 3]
        and [half(id(one) + _FLAGS) for one in given] == [one.flags.num for one in given]
    )
    if not known:
        raise InputError('machine code does not know the arrays of this Python; compile with backend="interpreter"')
    return id(np.ndarray), id(_DOUBLE)


def item(code: Code, inputs: str, k: int) -> str:
    """An array of the inputs."""
    return code.do(f"load ptr, ptr {_field(code, inputs, _ITEMS + 8 * k)}, align 8")


def data(code: Code, given: str) -> str:
    """The address of an array's numbers."""
    return code.do(f"load ptr, ptr {_field(code, given, DATA)}, align 8")


def functions(layout: Layout) -> str:
    """``@fits``, and ``@look``: see there. ``@kinds`` gets what ``find_fields`` finds when the code is loaded."""
    return f"@kinds = global [2 x i64] zeroinitializer\n{_fits()}\n{_look(layout)}"


def _fits() -> str:
    """``@fits(array, axes, flags, lengths)``: whether an array is plain and of that shape."""
    code = Code(1)
    code.put("entry:")
    # Only an array surely has all the fields.
    code.put(f"br i1 {_same(code, _field(code, '%array', _KIND), '@kinds')}, label %fields, label %no")
    code.put("fields:")
    double = code.do("getelementptr i64, ptr @kinds, i64 1")
    facts = [_same(code, _field(code, "%array", _NUMBERS), double)]
    axes = code.do(f"load i32, ptr {_field(code, '%array', _AXES)}, align 4")
    facts.append(code.do(f"icmp eq i32 {axes}, %axes"))
    flags = code.do(f"load i32, ptr {_field(code, '%array', _FLAGS)}, align 4")
    facts.append(code.do(f"icmp eq i32 {code.do(f'and i32 {flags}, %flags')}, %flags"))
    code.put(f"br i1 {_all(code, facts)}, label %begin, label %no")
    code.put("begin:")
    own = code.do(f"load ptr, ptr {_field(code, '%array', _LENGTHS)}, align 8")
    code.put("%count = zext i32 %axes to i64")
    code.put("br label %axis")
    code.put("axis:")
    code.put("%k = phi i64 [0, %begin], [%k.next, %same]")
    code.put("%more = icmp ult i64 %k, %count")
    code.put("br i1 %more, label %compare, label %yes")
    code.put("compare:")
    equal = _same(code, code.at(own, "%k"), code.at("%lengths", "%k"))
    code.put(f"br i1 {equal}, label %same, label %no")
    code.put("same:")
    code.put("%k.next = add i64 %k, 1")
    code.put("br label %axis")
    code.put("yes:")
    code.put("ret i1 true")
    code.put("no:")
    code.put("ret i1 false")
    return f"define internal i1 @fits(ptr %array, i32 %axes, i32 %flags, ptr %lengths) #1 {{\n{code}\n}}"


def _look(layout: Layout) -> str:
    """``@look(address of: samples, result or 0, inputs)``: whether all are plain and of shapes that belong together,
    and the result shares no memory with an input. With -1 samples there is one, in vectors."""
    code = Code(1)
    code.put("entry:")
    shape = layout.shape
    code.put(f"%lengths = alloca i64, i64 {2 + len(shape)}, align 8")
    samples, out = (code.do(f"load i64, ptr {code.at('%told', k)}, align 8") for k in range(2))
    inputs = code.do(f"load ptr, ptr {code.at('%told', 2)}, align 8")
    count = code.do(f"load i64, ptr {_field(code, inputs, _COUNT)}, align 8")
    code.put(f"br i1 {code.do(f'icmp eq i64 {count}, {len(layout.inputs)}')}, label %arrays, label %no")
    code.put("no:")
    code.put("ret i1 false")
    code.put("arrays:")
    code.put(f"%one = icmp slt i64 {samples}, 0")
    code.put(f"store i64 {samples}, ptr %lengths, align 8")
    place = code.at("%lengths", 1)
    plain = _IN_ORDER | _ALIGNED
    facts = []
    given: list[tuple[str, int, bool]] = []
    for k, entry in enumerate(layout.inputs):
        array = item(code, inputs, k)
        code.put(f"store i64 {entry.size}, ptr {place}, align 8")
        axes = "1" if entry.shared else code.do("select i1 %one, i32 1, i32 2")
        lengths = place if entry.shared else code.do(f"select i1 %one, ptr {place}, ptr %lengths")
        facts.append(code.do(f"call i1 @fits(ptr {array}, i32 {axes}, i32 {plain}, ptr {lengths})"))
        given.append((array, entry.size, entry.shared))
    all_fit = _all(code, facts)
    code.put(f"%asked = icmp ne i64 {out}, 0")
    code.put(f"%further = and i1 {all_fit}, %asked")
    code.put("br i1 %further, label %result, label %known")
    code.put("known:")
    code.put(f"ret i1 {all_fit}")

    code.put("result:")
    array = code.do(f"inttoptr i64 {out} to ptr")
    for axis, length in enumerate(shape):
        code.put(f"store i64 {length}, ptr {code.at('%lengths', 1 + axis)}, align 8")
    flags = plain | _WRITABLE
    fits = code.do(f"call i1 @fits(ptr {array}, i32 {1 + len(shape)}, i32 {flags}, ptr %lengths)")
    code.put(f"br i1 {fits}, label %apart, label %no")
    code.put("apart:")
    begin, end = _extent(code, array, code.do(f"mul i64 {samples}, {8 * layout.size}"))
    facts = []
    for array, size, shared in given:
        extent = str(8 * size) if shared else code.do(f"mul i64 {samples}, {8 * size}")
        first, last = _extent(code, array, extent)
        before, behind = code.do(f"icmp ule i64 {last}, {begin}"), code.do(f"icmp ule i64 {end}, {first}")
        facts.append(code.do(f"or i1 {before}, {behind}"))
    code.put(f"ret i1 {_all(code, facts)}")
    return f"define zeroext i1 @look(ptr %told) #1 {{\n{code}\n}}"


def _extent(code: Code, array: str, length: str) -> tuple[str, str]:
    begin = code.do(f"ptrtoint ptr {data(code, array)} to i64")
    return begin, code.do(f"add i64 {begin}, {length}")


def _field(code: Code, array: str, place: int) -> str:
    return code.do(f"getelementptr i8, ptr {array}, i64 {place}")


def _same(code: Code, one: str, other: str) -> str:
    """Whether there is the same word at two addresses."""
    words = [code.do(f"load i64, ptr {place}, align 8") for place in (one, other)]
    return code.do(f"icmp eq i64 {words[0]}, {words[1]}")


def _all(code: Code, facts: list[str]) -> str:
    total = "true"
    for fact in facts:
        total = code.do(f"and i1 {total}, {fact}")
    return total
