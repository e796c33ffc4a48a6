"""The part of Python's C interface that machine code uses: the functions it calls, and the buffers it gets from them.

All of it belongs to the stable ABI of Python 3.11 and later, which future versions keep. Memory of Python's and NumPy's
objects is never read: numbers are found with the buffer protocol (``PyObject_GetBuffer``), and a buffer that was
acquired stays valid until it is released, even if other threads change the object or drop it. The exceptions are the
few methods by which NumPy moves the memory of an array without regard to its users, above all
``resize(refcheck=False)``: as with NumPy's own functions, no other thread may call them during the call of a kernel.
"""

from __future__ import annotations

from ytheta.native.codegen.assembly import FunctionBody

ENTRY_POINTS = ("one", "dense", "block", "feed")  # the functions that Python calls, see ``entry_points``
# Result and argument types in LLVM's notation.
PYTHON_FUNCTIONS = {
    "PyBuffer_Release": ("void", "ptr"),
    "PyErr_Clear": ("void", ""),
    "PyEval_RestoreThread": ("void", "ptr"),
    "PyEval_SaveThread": ("ptr", ""),
    "PyLong_AsSsize_t": ("i64", "ptr"),
    "PyLong_FromSsize_t": ("ptr", "i64"),
    "PyObject_GetBuffer": ("i32", "ptr, ptr, i32"),
    "PyObject_Type": ("ptr", "ptr"),
    "PyTuple_GetItem": ("ptr", "ptr, i64"),
    "Py_DecRef": ("void", "ptr"),
}
# Requests to PyObject_GetBuffer.
WRITABLE = 0x1
FORMAT = 0x4
C_CONTIGUOUS = 0x38
_LETTER_OF_DOUBLES = ord("d")  # as in the module struct of the standard library
# The fields of the struct Py_buffer, in order, and their types.
_FIELDS = {
    "buf": "ptr",
    "obj": "ptr",
    "len": "i64",
    "itemsize": "i64",
    "readonly": "i32",
    "ndim": "i32",
    "format": "ptr",
    "shape": "ptr",
    "strides": "ptr",
    "suboffsets": "ptr",
    "internal": "ptr",
}


def emit_declarations() -> str:
    """Return the type of a buffer and the declarations of Python's functions."""
    functions = [f"declare {result} @{name}({types})" for name, (result, types) in PYTHON_FUNCTIONS.items()]
    return "\n".join([f"%Py_buffer = type {{ {', '.join(_FIELDS.values())} }}", *functions])


def load_field(code: FunctionBody, view: str, name: str) -> str:
    """Load a field of a buffer."""
    address = code.assign(f"getelementptr %Py_buffer, ptr {view}, i32 0, i32 {list(_FIELDS).index(name)}")
    return code.assign(f"load {_FIELDS[name]}, ptr {address}")


def emit_acquire_array() -> str:
    """Return ``@acquire_array(object, class, flags, ndim, lengths, mask, view)``: whether the object is plain.

    An object is plain if it is an instance of the class itself and not of a subclass, and exports a buffer of doubles
    in C order, with these lengths, and at an address without the bits of the mask. A length of -1 matches any length.
    If the object is plain, the buffer is held in ``view``. Else nothing is held, and a Python error may be set.
    """
    code = FunctionBody(1)
    code.emit("entry:")
    # Subclasses are left to NumPy: the buffer of a masked array does not contain its mask, for instance. A class may
    # also define a buffer by Python code, which must not run here.
    kind = code.assign("call ptr @PyObject_Type(ptr %object)")
    code.emit(f"call void @Py_DecRef(ptr {kind})")
    code.emit(f"br i1 {code.assign(f'icmp eq ptr {kind}, %class')}, label %get, label %no")
    code.emit("get:")
    status = code.assign("call i32 @PyObject_GetBuffer(ptr %object, ptr %view, i32 %flags)")
    code.emit(f"br i1 {code.assign(f'icmp eq i32 {status}, 0')}, label %number_type, label %no")
    code.emit("number_type:")
    text = load_field(code, "%view", "format")
    code.emit(f"br i1 {code.assign(f'icmp eq ptr {text}, null')}, label %release, label %letter")
    code.emit("letter:")
    letter = code.assign(f"load i8, ptr {text}, align 1")
    code.emit(f"br i1 {code.assign(f'icmp eq i8 {letter}, {_LETTER_OF_DOUBLES}')}, label %letter_end, label %release")
    code.emit("letter_end:")
    end = code.assign(f"load i8, ptr {code.assign(f'getelementptr i8, ptr {text}, i64 1')}, align 1")
    code.emit(f"br i1 {code.assign(f'icmp eq i8 {end}, 0')}, label %place, label %release")
    code.emit("place:")
    address = code.assign(f"ptrtoint ptr {load_field(code, '%view', 'buf')} to i64")
    aligned = code.assign(f"icmp eq i64 {code.assign(f'and i64 {address}, %mask')}, 0")
    same_ndim = code.assign(f"icmp eq i32 {load_field(code, '%view', 'ndim')}, %ndim")
    lengths = load_field(code, "%view", "shape")
    code.emit("%count = zext i32 %ndim to i64")
    code.emit(f"br i1 {code.assign(f'and i1 {aligned}, {same_ndim}')}, label %axis, label %release")
    code.emit("axis:")
    code.emit("%k = phi i64 [0, %place], [%k.next, %same]")
    code.emit("%more = icmp ult i64 %k, %count")
    code.emit("br i1 %more, label %compare, label %yes")
    code.emit("compare:")
    length, needed = (
        code.assign(f"load i64, ptr {code.compute_address(pointer, '%k')}, align 8")
        for pointer in (lengths, "%lengths")
    )
    equal, any_length = code.assign(f"icmp eq i64 {length}, {needed}"), code.assign(f"icmp eq i64 {needed}, -1")
    code.emit(f"br i1 {code.assign(f'or i1 {equal}, {any_length}')}, label %same, label %release")
    code.emit("same:")
    code.emit("%k.next = add i64 %k, 1")
    code.emit("br label %axis")
    code.emit("yes:")
    code.emit("ret i1 true")
    code.emit("release:")
    code.emit("call void @PyBuffer_Release(ptr %view)")
    code.emit("br label %no")
    code.emit("no:")
    code.emit("ret i1 false")
    arguments = "ptr %object, ptr %class, i32 %flags, i32 %ndim, ptr %lengths, i64 %mask, ptr %view"
    return f"define internal i1 @acquire_array({arguments}) #1 {{\n{code}\n}}"


def emit_acquire_bytes() -> str:
    """Return ``@acquire_bytes(object, size, view)``: whether the object has at least this many writable bytes.

    If so, they are held in ``view``. Else nothing is held, and a Python error may be set.
    """
    code = FunctionBody(1)
    code.emit("entry:")
    status = code.assign(f"call i32 @PyObject_GetBuffer(ptr %object, ptr %view, i32 {WRITABLE})")
    code.emit(f"br i1 {code.assign(f'icmp eq i32 {status}, 0')}, label %length, label %no")
    code.emit("length:")
    length = load_field(code, "%view", "len")
    code.emit(f"br i1 {code.assign(f'icmp sge i64 {length}, %size')}, label %yes, label %release")
    code.emit("yes:")
    code.emit("ret i1 true")
    code.emit("release:")
    code.emit("call void @PyBuffer_Release(ptr %view)")
    code.emit("br label %no")
    code.emit("no:")
    code.emit("ret i1 false")
    return f"define internal i1 @acquire_bytes(ptr %object, i64 %size, ptr %view) #1 {{\n{code}\n}}"


def emit_release() -> str:
    """Return ``@release(views, count)``, which releases the first ``count`` buffers of an array of buffers."""
    return """define internal void @release(ptr %views, i64 %count) #1 {
entry:
  br label %view
view:
  %k = phi i64 [0, %entry], [%k.next, %held]
  %more = icmp ult i64 %k, %count
  br i1 %more, label %held, label %done
held:
  %address = getelementptr %Py_buffer, ptr %views, i64 %k
  call void @PyBuffer_Release(ptr %address)
  %k.next = add i64 %k, 1
  br label %view
done:
  ret void
}"""
