"""Chunks of a program as LLVM functions on SIMD lanes.

A group is as many samples as there are lanes. Every chunk is a loop over the groups of one tile, so that its code stays
in the instruction cache for all groups. A chunk reads rows of inputs and slots, and writes rows of slots and outputs.
"""

from __future__ import annotations

from ytheta.native.codegen.assembly import FunctionBody
from ytheta.native.codegen.layout import Layout
from ytheta.native.codegen.program import LEAVES, Program
from ytheta.native.codegen.simd import emit_operation

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
