"""The loop over tiles: pack samples into rows, run the chunks, and write rows of values as blocks or dense arrays.

A tile is a few groups of samples, few enough to stay in the level-1 cache; a group is one sample per SIMD lane.
``@pack`` turns arrays of shape (samples, size) into rows and checks that every number is finite. An incomplete group
repeats its last sample, so that the chunks always work on full groups without any access out of bounds. ``@unpack``
turns rows of values into the dense array, zeros included. Both transpose squares of lanes x lanes in registers.
"""

from __future__ import annotations

from ytheta.native.codegen.assembly import FunctionBody
from ytheta.native.codegen.program import LEAVES, Layout, Program
from ytheta.native.codegen.simd import emit_operation

_INDEPENDENT_SUMS = 4  # with a single sum, every addition would have to wait for the previous one


def emit_pack(layout: Layout) -> str:
    """Return ``@pack(arrays of the inputs …, valid, groups, to)``; its result is true if a number is not finite."""
    lanes, code = layout.lanes, FunctionBody(layout.lanes)
    v = code.vector
    code.emit("entry:")
    code.emit("%last = sub i64 %valid, 1")
    code.emit("br label %group")
    code.emit("group:")
    code.emit("%g = phi i64 [0, %entry], [%g.next, %group]")
    code.emit(f"%sum = phi {v} [zeroinitializer, %entry], [%sum.next, %group]")
    code.emit(f"%j = mul i64 %g, {lanes}")
    indices = [code.assign(f"add i64 %j, {lane}") for lane in range(lanes)]
    samples = [code.assign(f"call i64 @llvm.umin.i64(i64 {index}, i64 %last)") for index in indices]
    to = code.compute_address("%to", "%j")
    sums = ["zeroinitializer"] * _INDEPENDENT_SUMS
    for k in _list_packed_inputs(layout):
        size, first = layout.inputs[k].size, layout.find_first_row(k)
        rows = [code.compute_address(f"%x{k}", code.assign(f"mul i64 {sample}, {size}")) for sample in samples]
        for element, value in enumerate(_load_columns(code, rows, size)):
            code.store(value, code.compute_address(to, (first + element) * layout.tile))
            # x times zero is zero if x is finite, else NaN, which makes the sum NaN.
            zero = code.assign(f"fmul contract {v} {value}, zeroinitializer")
            sums.append(code.assign(f"fadd contract {v} {sums.pop(0)}, {zero}"))
    total = "%sum"
    for partial in sums:
        total = code.assign(f"fadd {v} {total}, {partial}")
    code.emit(f"%sum.next = fadd {v} {total}, zeroinitializer")
    code.emit("%g.next = add i64 %g, 1")
    code.emit("%g.more = icmp ult i64 %g.next, %groups")
    code.emit("br i1 %g.more, label %group, label %done")
    code.emit("done:")
    not_finite = code.assign(f"fcmp uno {v} %sum.next, zeroinitializer")
    word = code.assign(f"bitcast {code.flags} {not_finite} to i{lanes}")
    code.emit(f"ret i1 {code.assign(f'icmp ne i{lanes} {word}, 0')}")
    arrays = "".join(f"ptr noalias %x{k}, " for k in _list_packed_inputs(layout))
    return f"define internal i1 @pack({arrays}i64 %valid, i64 %groups, ptr noalias %to) #0 {{\n{code}\n}}"


def list_used_inputs(layout: Layout) -> list[int]:
    """Return the inputs that have elements."""
    return [k for k, argument in enumerate(layout.inputs) if argument.size]


def _list_packed_inputs(layout: Layout) -> list[int]:
    return [k for k in list_used_inputs(layout) if not layout.inputs[k].shared]


def _load_columns(code: FunctionBody, rows: list[str], size: int) -> list[str]:
    """Load the elements 0 to size - 1 of the rows at these addresses, each element as one vector."""
    lanes, v = code.lanes, code.vector
    if size < lanes:
        return [code.gather([code.compute_address(row, element) for row in rows]) for element in range(size)]
    columns: list[str] = []
    while len(columns) < size:
        first = min(len(columns), size - lanes)  # the last square may overlap the one before it
        square = [code.assign(f"load {v}, ptr {code.compute_address(row, first)}, align 8") for row in rows]
        columns += code.transpose(square)[len(columns) - first :]
    return columns


def emit_copy() -> str:
    """Return ``@copy(from, size, to)`` for shared inputs; its result is true if a number is not finite."""
    return """define internal i1 @copy(ptr noalias %from, i64 %size, ptr noalias %to) #0 {
entry:
  br label %element
element:
  %e = phi i64 [0, %entry], [%e.next, %element]
  %sum = phi double [0.0, %entry], [%sum.next, %element]
  %p = getelementptr double, ptr %from, i64 %e
  %x = load double, ptr %p, align 8
  %q = getelementptr double, ptr %to, i64 %e
  store double %x, ptr %q, align 8
  %zero = fmul double %x, 0.0
  %sum.next = fadd double %sum, %zero
  %e.next = add i64 %e, 1
  %more = icmp ult i64 %e.next, %size
  br i1 %more, label %element, label %done
done:
  %not_finite = fcmp uno double %sum.next, 0.0
  ret i1 %not_finite
}"""


def emit_unpack(layout: Layout) -> str:
    """Return ``@unpack(from, to, valid)``: full groups by squares of lanes x lanes, other samples one by one."""
    lanes, size, code = layout.lanes, layout.size, FunctionBody(layout.lanes)
    code.emit("entry:")
    code.emit("br label %group")
    code.emit("group:")
    code.emit("%j = phi i64 [0, %entry], [%j.next, %group.end]")
    source = code.compute_address("%from", "%j")
    first = code.compute_address("%to", code.assign(f"mul i64 %j, {size}"))
    code.emit(f"%j.next = add i64 %j, {lanes}")
    code.emit("%full = icmp ule i64 %j.next, %valid")
    code.emit(f"br i1 {'%full' if size >= lanes else 'false'}, label %square, label %sample")

    code.emit("square:")
    code.emit("%p = phi i64 [0, %group], [%p.next, %square]")
    # Two squares at once, so that a cache line is written as a whole.
    squares = 2 if size >= 2 * lanes else 1
    columns = [code.transpose(_load_entries(code, layout, source, k * lanes)) for k in range(squares)]
    for lane in range(lanes):
        for k in range(squares):
            to = code.compute_address(code.compute_address(first, lane * size + k * lanes), "%p")
            code.emit(f"store {code.vector} {columns[k][lane]}, ptr {to}, align 8")
    # The last squares may overlap those before them.
    last = max(size - squares * lanes, 0)
    code.emit(f"%p.next = call i64 @llvm.umin.i64(i64 {code.assign(f'add i64 %p, {squares * lanes}')}, i64 {last})")
    code.emit(f"%p.last = icmp eq i64 %p, {last}")
    code.emit("br i1 %p.last, label %group.end, label %square")

    code.emit("sample:")
    code.emit("%i = phi i64 [0, %group], [%i.next, %sample.end]")
    sample = code.compute_address(source, "%i")
    target = code.compute_address(first, code.assign(f"mul i64 %i, {size}"))
    code.emit("br label %element")
    code.emit("element:")
    code.emit("%e = phi i64 [0, %sample], [%e.next, %element]")
    value = code.assign(f"load double, ptr {code.compute_address(sample, _load_row_offset(code, '%e'))}, align 8")
    code.emit(f"store double {value}, ptr {code.compute_address(target, '%e')}, align 8")
    code.emit("%e.next = add i64 %e, 1")
    code.emit(f"%e.more = icmp ult i64 %e.next, {size}")
    code.emit("br i1 %e.more, label %element, label %sample.end")
    code.emit("sample.end:")
    code.emit("%i.next = add i64 %i, 1")
    code.emit(f"%i.within = icmp ult i64 %i.next, {lanes}")
    code.emit(f"%i.valid = icmp ult i64 {code.assign('add i64 %j, %i.next')}, %valid")
    code.emit("%i.more = and i1 %i.within, %i.valid")
    code.emit("br i1 %i.more, label %sample, label %group.end")

    code.emit("group.end:")
    code.emit("%j.more = icmp ult i64 %j.next, %valid")
    code.emit("br i1 %j.more, label %group, label %done")
    code.emit("done:")
    code.emit("ret void")
    table = ", ".join(f"i32 {offset}" for offset in layout.row_offsets)
    return (
        f"@offsets = internal constant [{size} x i32] [{table}]\n"
        f"define internal void @unpack(ptr noalias %from, ptr noalias %to, i64 %valid) #0 {{\n{code}\n}}"
    )


def _load_entries(code: FunctionBody, layout: Layout, source: str, begin: int) -> list[str]:
    """Load the values of as many entries as there are lanes, starting at entry %p + begin."""
    entries = [code.assign(f"add i64 %p, {begin + lane}") for lane in range(layout.lanes)]
    return [code.load(code.compute_address(source, _load_row_offset(code, entry))) for entry in entries]


def _load_row_offset(code: FunctionBody, entry: str) -> str:
    address = code.assign(f"getelementptr i32, ptr @offsets, i64 {entry}")
    return code.assign(f"zext i32 {code.assign(f'load i32, ptr {address}, align 4, !invariant.load !0')} to i64")


def emit_write_dense(layout: Layout, chunks: int) -> str:
    """Return ``@write_dense(first, last, out, scratch, arrays of the inputs …)``; its result is true if not finite.

    It writes to ``out`` the dense arrays of the samples ``first`` to ``last - 1``; the range must not be empty. Inputs
    without elements are left out. The result is true if a number of an input is not finite.
    """
    return _emit_tile_loop(layout, chunks, dense=True)


def emit_write_block(layout: Layout, chunks: int) -> str:
    """Return ``@write_block(first, last, out, scratch, arrays of the inputs …)``.

    It is like ``@write_dense``, but value k of sample s is written to ``out[k * stride + s - first]``, with the stride
    of the layout.
    """
    return _emit_tile_loop(layout, chunks, dense=False)


def emit_feed_blocks(layout: Layout) -> str:
    """Return ``@feed_blocks(samples, function, context, scratch, arrays of the inputs …)``; true if not finite.

    It writes one block after the other to the section of values, and calls the function with each of them (see
    ``BlockConsumer``).
    """
    arrays = "".join(f", ptr %x{k}" for k in list_used_inputs(layout))
    return f"""define internal i1 @feed_blocks(i64 %samples, ptr %function, ptr %context, ptr %scratch{arrays}) #0 {{
entry:
  %values = getelementptr double, ptr %scratch, i64 {layout.section_offsets[2]}
  %any = icmp ne i64 %samples, 0
  br i1 %any, label %block, label %done
block:
  %first = phi i64 [0, %entry], [%last, %consume]
  %end = add i64 %first, {layout.block_samples}
  %last = call i64 @llvm.umin.i64(i64 %end, i64 %samples)
  %not_finite = call i1 @write_block(i64 %first, i64 %last, ptr %values, ptr %scratch{arrays})
  br i1 %not_finite, label %done, label %consume
consume:
  %count = sub i64 %last, %first
  call void %function(ptr %context, i64 %first, i64 %count, ptr %values, i64 {layout.stride})
  %more = icmp ult i64 %last, %samples
  br i1 %more, label %block, label %done
done:
  %outcome = phi i1 [false, %entry], [true, %block], [false, %consume]
  ret i1 %outcome
}}"""


def _emit_tile_loop(layout: Layout, chunks: int, *, dense: bool) -> str:
    tile, code = layout.tile, FunctionBody(layout.lanes)
    code.emit("entry:")
    for name, offset in zip(("shared", "slots", "values"), layout.section_offsets, strict=False):
        code.emit(f"%{name} = getelementptr double, ptr %scratch, i64 {offset}")
    not_finite = "false"
    for k in list_used_inputs(layout):
        if layout.inputs[k].shared:
            to = code.compute_address("%shared", layout.find_shared_offset(k))
            copy_not_finite = code.assign(f"call i1 @copy(ptr %x{k}, i64 {layout.inputs[k].size}, ptr {to})")
            not_finite = code.assign(f"or i1 {not_finite}, {copy_not_finite}")
    code.emit(f"br i1 {not_finite}, label %refuse, label %tile")

    code.emit("tile:")
    code.emit("%s = phi i64 [%first, %entry], [%s.next, %work]")
    code.emit(f"%valid = call i64 @llvm.umin.i64(i64 {code.assign('sub i64 %last, %s')}, i64 {tile})")
    code.emit(f"%groups = udiv i64 {code.assign(f'add i64 %valid, {layout.lanes - 1}')}, {layout.lanes}")
    not_finite = "false"
    if packed := _list_packed_inputs(layout):
        rows = [code.compute_address(f"%x{k}", code.assign(f"mul i64 %s, {layout.inputs[k].size}")) for k in packed]
        pointers = "".join(f"ptr {row}, " for row in rows)
        not_finite = code.assign(f"call i1 @pack({pointers}i64 %valid, i64 %groups, ptr %scratch)")
    code.emit(f"br i1 {not_finite}, label %refuse, label %work")

    code.emit("work:")
    to = "%values" if dense else code.compute_address("%out", code.assign("sub i64 %s, %first"))
    kinds = [argument.split()[0] for argument in ARGUMENTS.split(", ")]
    for number in range(chunks):
        tables = (f"@chunk{number}.constants", "@sine_cosine.constants")
        values = ("%scratch", "%shared", "%slots", to, *tables, "%groups")
        arguments = ", ".join(f"{kind} {value}" for kind, value in zip(kinds, values, strict=True))
        code.emit(f"call void @chunk{number}({arguments})")
    if dense and layout.size:
        to = code.compute_address("%out", code.assign(f"mul i64 %s, {layout.size}"))
        code.emit(f"call void @unpack(ptr %values, ptr {to}, i64 %valid)")
    code.emit("%s.next = add i64 %s, %valid")
    code.emit("%s.more = icmp ult i64 %s.next, %last")
    code.emit("br i1 %s.more, label %tile, label %accept")
    code.emit("accept:")
    code.emit("ret i1 false")
    code.emit("refuse:")
    code.emit("ret i1 true")
    arrays = "".join(f", ptr %x{k}" for k in list_used_inputs(layout))
    name = "write_dense" if dense else "write_block"
    return f"define internal i1 @{name}(i64 %first, i64 %last, ptr %out, ptr %scratch{arrays}) #0 {{\n{code}\n}}"


# Chunks of a program as LLVM functions on SIMD lanes.
#
# A group is as many samples as there are lanes. Every chunk is a loop over the groups of one tile, so that its code
# stays in the instruction cache for all groups. A chunk reads rows of inputs and slots, and writes rows of slots and
# outputs.


ARGUMENTS = ", ".join(
    [*(f"ptr noalias %{name}" for name in ("in", "shared", "slots", "out", "constants", "angles")), "i64 %groups"]
)


def emit_chunks(program: Program, layout: Layout) -> list[str]:
    """Return the functions ``@chunk<k>``.

    Their arguments are the inputs, the shared inputs, the slots, the outputs, the chunk's constants, the constants of
    ``@sine_cosine`` and the number of groups.
    """
    output_rows: dict[int, list[int]] = {}
    for row, k in enumerate(program.outputs):
        output_rows.setdefault(k, []).append(row)
    return [_ChunkWriter(program, layout, output_rows, number).emit() for number in range(len(program.chunks))]


class _ChunkWriter:
    """The writer of one chunk's function; ``known`` maps steps to values that the function has already computed."""

    def __init__(self, program: Program, layout: Layout, output_rows: dict[int, list[int]], number: int) -> None:
        self.program, self.layout, self.output_rows, self.number = program, layout, output_rows, number
        self.code = FunctionBody(layout.lanes)
        self.known: dict[int, str] = {}

    def emit(self) -> str:
        code, chunk = self.code, self.program.chunks[self.number]
        code.emit("br label %group")
        code.emit("group:")
        code.emit("%g = phi i64 [0, %entry], [%next, %group]")
        code.emit(f"%j = mul i64 %g, {self.layout.lanes}")
        for name in ("in", "slots", "out"):
            code.emit(f"%{name}.group = getelementptr double, ptr %{name}, i64 %j")
        if self.number == 0:
            # Outputs that are an input or a constant are not computed; the first chunk copies them.
            for k in self.output_rows:
                if self.program.steps[k][0] in LEAVES:
                    self._store_output(k)
        kept = set(chunk.kept)
        for k in chunk.steps:
            self._compute(k)
            if k in kept:
                code.store(
                    self.known[k], code.compute_address("%slots.group", self.program.slots[k] * self.layout.tile)
                )
            if k in self.output_rows:
                self._store_output(k)
        code.emit("%next = add i64 %g, 1")
        code.emit("%more = icmp ult i64 %next, %groups")
        code.emit("br i1 %more, label %group, label %done")
        code.emit("done:")
        code.emit("ret void")
        name = f"chunk{self.number}"
        return (
            f"{code.format_constant_table(name)}\ndefine internal void @{name}({ARGUMENTS}) #2 {{\nentry:\n{code}\n}}"
        )

    def _store_output(self, k: int) -> None:
        value = self._get_value(k)
        for row in self.output_rows[k]:
            self.code.store(value, self.code.compute_address("%out.group", self.layout.stride * row))

    def _compute(self, k: int) -> None:
        name, arguments = self.program.steps[k]
        code, pair = self.code, self.code.pair
        if name == "COS":
            return  # the step before is the sine of the same angle, which computes both
        values = [self._get_value(argument) for argument in arguments]
        if name == "SIN":
            both = code.assign(f"call {pair} @sine_cosine({code.vector} {values[0]}, ptr %angles)")
            self.known[k] = code.assign(f"extractvalue {pair} {both}, 0")
            self.known[k + 1] = code.assign(f"extractvalue {pair} {both}, 1")
        else:
            self.known[k] = emit_operation(code, name, values)

    def _get_value(self, k: int) -> str:
        if k not in self.known:
            self.known[k] = self._fetch(k)
        return self.known[k]

    def _fetch(self, k: int) -> str:
        code, tile = self.code, self.layout.tile
        name, arguments = self.program.steps[k]
        if name == "CONST":
            return code.load_constant(float(arguments[0]))
        if name != "INPUT":
            return code.load(code.compute_address("%slots.group", self.program.slots[k] * tile))
        index, element = arguments
        if self.layout.inputs[index].shared:
            address = code.compute_address("%shared", self.layout.find_shared_offset(index) + element)
            return code.splat(code.assign(f"load double, ptr {address}, align 8, !invariant.load !0"))
        return code.load(
            code.compute_address("%in.group", (self.layout.find_first_row(index) + element) * tile), invariant=True
        )
