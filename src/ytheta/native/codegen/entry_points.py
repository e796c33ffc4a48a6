"""The entry points of a kernel: functions that Python calls like those of an extension module.

``one(scratch, out, *inputs)``                  writes the dense array of one sample
``dense(scratch, out, first, last, *inputs)``   writes the dense arrays of the samples ``first`` to ``last - 1``
``block(scratch, out, first, last, *inputs)``   writes their structural nonzeros, one column per sample
``feed(scratch, samples, function, context, *inputs)``   calls a function of machine code with all blocks, in order

Arguments  ``scratch`` is a bytearray that no other thread uses at the same time. ``out`` and the inputs are plain
           arrays (see ``KernelOutcome``). The array ``out`` of a block has one row per nonzero and ``layout.stride``
           columns. The block begins in the first column that is aligned to vectors. The inputs of ``feed`` have
           ``samples`` samples; ``function`` and ``context`` are addresses, see ``BlockConsumer``.
Results    An entry point returns a ``KernelOutcome`` as an integer, and never raises; ``block`` returns the first
           column of the block instead of DONE. All arguments are checked before anything is written, so that no
           argument except the addresses of ``feed`` can cause an access out of bounds. If there are no samples, nothing
           is computed.
Buffers    are acquired at the beginning of a call and released at its end. Between two calls, nothing is held.
Threads    ``dense``, ``block`` and ``feed`` release Python's global lock while they compute. ``one`` keeps it, because
           releasing it would take longer than the computation.
"""

from __future__ import annotations

from ytheta.native.codegen.assembly import FunctionBody
from ytheta.native.codegen.program import Layout
from ytheta.native.codegen.python_abi import C_CONTIGUOUS, ENTRY_POINTS, FORMAT, WRITABLE, load_field
from ytheta.native.codegen.tiles import list_used_inputs
from ytheta.native.kernel import KernelOutcome

_VECTOR_ALIGNMENT = 64  # bytes: the longest vectors, and cache lines
_DOUBLE_ALIGNMENT = 8
_ANY_LENGTH = "-1"


def compute_scratch_bytes(layout: Layout) -> int:
    """Return the size of a scratch buffer; a part of it is skipped for alignment."""
    return 8 * layout.section_offsets[-1] + _VECTOR_ALIGNMENT


def emit_entry_points(layout: Layout) -> str:
    """Return the functions of ``ENTRY_POINTS``."""
    return "\n".join(_EntryWriter(layout, name).emit() for name in ENTRY_POINTS)


class _EntryWriter:
    """The writer of one entry point; ``samples`` is the number of samples of the inputs, as soon as it is known."""

    def __init__(self, layout: Layout, name: str) -> None:
        self.layout, self.name, self.code = layout, name, FunctionBody(layout.lanes)
        self.is_batch = name != "one"
        self.samples = ""
        self._held = self._step = 0

    def emit(self) -> str:
        code, inputs = self.code, self.layout.inputs
        code.emit("entry:")
        code.emit(f"%views = alloca %Py_buffer, i64 {2 + len(inputs)}, align 8")
        code.emit(f"%lengths = alloca i64, i64 {2 + len(self.layout.shape)}, align 8")
        for name, value in (("held", 0), ("outcome", KernelOutcome.DONE)):
            code.emit(f"%{name} = alloca i64, align 8")
            code.emit(f"store i64 {value:d}, ptr %{name}, align 8")
        first_input = 4 if self.is_batch else 2
        self._require(code.assign(f"icmp eq i64 %count, {first_input + len(inputs)}"))
        code.emit("%class = call ptr @PyTuple_GetItem(ptr %self, i64 0)")
        if self.name == "feed":
            self._feed(first_input)
        else:
            self._write(first_input)
        self._finish()
        return f"define ptr @{self.name}(ptr %self, ptr %arguments, i64 %count) #1 {{\n{code}\n}}"

    def _write(self, first_input: int) -> None:
        """Write the samples of the range to ``out``."""
        code = self.code
        first, last = self._parse_range() if self.is_batch else ("0", "1")
        scratch = self._acquire_scratch()
        views = self._acquire_inputs(first_input)
        self.samples = self.samples or "1"  # all inputs are shared, or there is one sample
        self._require(code.assign(f"icmp sle i64 {last}, {self.samples}"))
        out = self._acquire_out()
        target = begin = load_field(code, out, "buf")
        if self.name == "block":
            target = self._align(begin)
            self._store_column(begin, target)
        if self.is_batch:
            code.emit(f"br i1 {code.assign(f'icmp eq i64 {first}, {last}')}, label %finish, label %work")
            code.emit("work:")
        if self.name == "dense":
            self._require_no_overlap(out, views)
        self._run(f"i64 {first}, i64 {last}", [target, scratch], views)

    def _feed(self, first_input: int) -> None:
        """Pass the blocks of all samples to the function."""
        code = self.code
        numbers = [code.assign(f"call i64 @PyLong_AsSsize_t(ptr {self._load_argument(k)})") for k in (1, 2, 3)]
        for number, least in zip(numbers, (0, 1, 1), strict=True):
            self._require(code.assign(f"icmp sge i64 {number}, {least}"))
        self.samples = numbers[0]
        addresses = [code.assign(f"inttoptr i64 {number} to ptr") for number in numbers[1:]]
        scratch = self._acquire_scratch()
        self._run(f"i64 {self.samples}", [*addresses, scratch], self._acquire_inputs(first_input))

    def _require(self, condition: str) -> None:
        """Refuse the call unless the condition is true."""
        self._step += 1
        self.code.emit(f"br i1 {condition}, label %step{self._step}, label %refuse")
        self.code.emit(f"step{self._step}:")

    def _load_argument(self, k: int) -> str:
        address = self.code.assign(f"getelementptr ptr, ptr %arguments, i64 {k}")
        return self.code.assign(f"load ptr, ptr {address}, align 8")

    def _parse_range(self) -> tuple[str, str]:
        """Return ``first`` and ``last``; a number that is not an integer is -1, with an error that refusing clears."""
        code = self.code
        first, last = (code.assign(f"call i64 @PyLong_AsSsize_t(ptr {self._load_argument(k)})") for k in (2, 3))
        self._require(code.assign(f"icmp sge i64 {first}, 0"))
        self._require(code.assign(f"icmp sle i64 {first}, {last}"))
        if self.name == "block":
            width = code.assign(f"sub i64 {last}, {first}")
            self._require(code.assign(f"icmp sle i64 {width}, {self.layout.block_samples}"))
        return first, last

    def _acquire_scratch(self) -> str:
        """Return the first aligned address of the scratch buffer."""
        code, view, size = self.code, self._make_view(), compute_scratch_bytes(self.layout)
        self._hold(code.assign(f"call i1 @acquire_bytes(ptr {self._load_argument(0)}, i64 {size}, ptr {view})"))
        return self._align(load_field(code, view, "buf"))

    def _align(self, pointer: str) -> str:
        """Return the next address that is aligned to vectors and cache lines."""
        code = self.code
        above = code.assign(f"add i64 {code.assign(f'ptrtoint ptr {pointer} to i64')}, {_VECTOR_ALIGNMENT - 1}")
        return code.assign(f"inttoptr i64 {code.assign(f'and i64 {above}, {-_VECTOR_ALIGNMENT}')} to ptr")

    def _acquire_inputs(self, first_input: int) -> list[str]:
        """Return the buffers of all inputs; the first one is argument ``first_input``."""
        return [self._acquire_input(k, self._load_argument(first_input + k)) for k in range(len(self.layout.inputs))]

    def _acquire_input(self, k: int, argument: str) -> str:
        entry = self.layout.inputs[k]
        alignment = _DOUBLE_ALIGNMENT if entry.size else 1  # an array without elements may have any address
        if entry.shared or not self.is_batch:
            return self._acquire_array(argument, [str(entry.size)], alignment)
        view = self._acquire_array(argument, [self.samples or _ANY_LENGTH, str(entry.size)], alignment)
        if not self.samples:
            self.samples = self.code.assign(f"load i64, ptr {load_field(self.code, view, 'shape')}, align 8")
        return view

    def _acquire_out(self) -> str:
        layout = self.layout
        if self.name == "block":
            lengths, is_empty = [str(len(layout.places)), str(layout.stride)], not layout.places
        else:
            lengths, is_empty = [*([self.samples] if self.is_batch else []), *map(str, layout.shape)], not layout.size
        alignment = 1 if is_empty else _DOUBLE_ALIGNMENT
        return self._acquire_array(self._load_argument(1), lengths, alignment, WRITABLE)

    def _acquire_array(self, argument: str, lengths: list[str], alignment: int, access: int = 0) -> str:
        code, view = self.code, self._make_view()
        for axis, length in enumerate(lengths):
            code.emit(f"store i64 {length}, ptr {code.compute_address('%lengths', axis)}, align 8")
        flags = f"i32 {FORMAT | C_CONTIGUOUS | access}, i32 {len(lengths)}, ptr %lengths, i64 {alignment - 1}"
        self._hold(code.assign(f"call i1 @acquire_array(ptr {argument}, ptr %class, {flags}, ptr {view})"))
        return view

    def _make_view(self) -> str:
        return self.code.assign(f"getelementptr %Py_buffer, ptr %views, i64 {self._held}")

    def _hold(self, acquired: str) -> None:
        """Refuse the call unless the next buffer was acquired; note that it is held."""
        self._require(acquired)
        self._held += 1
        self.code.emit(f"store i64 {self._held}, ptr %held, align 8")

    def _store_column(self, begin: str, target: str) -> None:
        """Store the first column of the block as the outcome."""
        code = self.code
        first, last = (code.assign(f"ptrtoint ptr {pointer} to i64") for pointer in (begin, target))
        column = code.assign(f"lshr i64 {code.assign(f'sub i64 {last}, {first}')}, 3")
        code.emit(f"store i64 {column}, ptr %outcome, align 8")

    def _require_no_overlap(self, out: str, views: list[str]) -> None:
        code = self.code
        begin, end = self._find_extent(out)
        for k in list_used_inputs(self.layout) if self.layout.size else ():
            first, last = self._find_extent(views[k])
            before, after = code.assign(f"icmp ule i64 {last}, {begin}"), code.assign(f"icmp ule i64 {end}, {first}")
            self._require(code.assign(f"or i1 {before}, {after}"))

    def _find_extent(self, view: str) -> tuple[str, str]:
        """Return the addresses at which a buffer begins and ends."""
        code = self.code
        begin = code.assign(f"ptrtoint ptr {load_field(code, view, 'buf')} to i64")
        return begin, code.assign(f"add i64 {begin}, {load_field(code, view, 'len')}")

    def _run(self, numbers: str, pointers: list[str], views: list[str]) -> None:
        """Call the function of ``tiles`` with numbers, pointers and the arrays of the inputs."""
        code = self.code
        pointers = pointers + [load_field(code, views[k], "buf") for k in list_used_inputs(self.layout)]
        if self.is_batch:
            code.emit("%thread = call ptr @PyEval_SaveThread()")
        function = {"block": "write_block", "feed": "feed_blocks"}.get(self.name, "write_dense")
        arguments = f"{numbers}, {', '.join(f'ptr {pointer}' for pointer in pointers)}"
        code.emit(f"%not_finite = call i1 @{function}({arguments})")
        if self.is_batch:
            code.emit("call void @PyEval_RestoreThread(ptr %thread)")
        code.emit("br i1 %not_finite, label %failed, label %finish")
        code.emit("failed:")
        code.emit(f"store i64 {KernelOutcome.NOT_FINITE:d}, ptr %outcome, align 8")
        code.emit("br label %finish")

    def _finish(self) -> None:
        """Release the buffers that are held, and return the outcome."""
        code = self.code
        code.emit("refuse:")
        code.emit("call void @PyErr_Clear()")
        code.emit(f"store i64 {KernelOutcome.NOT_PLAIN:d}, ptr %outcome, align 8")
        code.emit("br label %finish")
        code.emit("finish:")
        held, outcome = (code.assign(f"load i64, ptr {name}, align 8") for name in ("%held", "%outcome"))
        code.emit(f"call void @release(ptr %views, i64 {held})")
        code.emit(f"ret ptr {code.assign(f'call ptr @PyLong_FromSsize_t(i64 {outcome})')}")
