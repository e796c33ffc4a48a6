"""Chunks of a program as LLVM functions on lanes.

Every chunk is a loop over the groups of lanes of one tile: its code stays in the instruction cache while the groups
pass. It reads rows of inputs and slots, and writes rows of slots and outputs.
"""

from __future__ import annotations

from ytheta.native.codegen.assembly import Code
from ytheta.native.codegen.layout import Layout
from ytheta.native.codegen.program import LEAVES, Program
from ytheta.native.codegen.simd import operation

ARGUMENTS = ", ".join(
    [*(f"ptr noalias %{name}" for name in ("in", "shared", "slots", "out", "numbers", "angles")), "i64 %groups"]
)


def chunk_functions(program: Program, layout: Layout) -> list[str]:
    """``@chunk<k>(inputs, shared inputs, slots, outputs, numbers, numbers of the angles, groups)`` for every chunk."""
    wanted: dict[int, list[int]] = {}
    for place, k in enumerate(program.outputs):
        wanted.setdefault(k, []).append(place)
    return [_Chunk(program, layout, wanted, number).function() for number in range(len(program.chunks))]


class _Chunk:
    """Writes one chunk; ``known`` are the values that it has at hand."""

    def __init__(self, program: Program, layout: Layout, wanted: dict[int, list[int]], number: int) -> None:
        self.program, self.layout, self.wanted, self.number = program, layout, wanted, number
        self.code = Code(layout.lanes)
        self.known: dict[int, str] = {}

    def function(self) -> str:
        code, chunk = self.code, self.program.chunks[self.number]
        code.put("br label %group")
        code.put("group:")
        code.put("%g = phi i64 [0, %entry], [%next, %group]")
        code.put(f"%j = mul i64 %g, {self.layout.lanes}")
        for name in ("in", "slots", "out"):
            code.put(f"%{name}.here = getelementptr double, ptr %{name}, i64 %j")
        if self.number == 0:
            # Outputs that are an input or a constant need no work; the first chunk copies them.
            for k in self.wanted:
                if self.program.steps[k][0] in LEAVES:
                    self._give(k)
        kept = set(chunk.kept)
        for k in chunk.steps:
            self._work(k)
            if k in kept:
                code.store(self.known[k], code.at("%slots.here", self.program.slots[k] * self.layout.tile))
            if k in self.wanted:
                self._give(k)
        code.put("%next = add i64 %g, 1")
        code.put("%more = icmp ult i64 %next, %groups")
        code.put("br i1 %more, label %group, label %done")
        code.put("done:")
        code.put("ret void")
        name = f"chunk{self.number}"
        return f"{code.table(name)}\ndefine internal void @{name}({ARGUMENTS}) #2 {{\nentry:\n{code}\n}}"

    def _give(self, k: int) -> None:
        value = self._value(k)
        for place in self.wanted[k]:
            self.code.store(value, self.code.at("%out.here", self.layout.stride * place))

    def _work(self, k: int) -> None:
        name, arguments = self.program.steps[k]
        code, pair = self.code, self.code.pair
        if name == "COS":
            return  # its sine stands just before it and has made both
        values = [self._value(argument) for argument in arguments]
        if name == "SIN":
            both = code.do(f"call {pair} @sine_cosine({code.vector} {values[0]}, ptr %angles)")
            self.known[k] = code.do(f"extractvalue {pair} {both}, 0")
            self.known[k + 1] = code.do(f"extractvalue {pair} {both}, 1")
        else:
            self.known[k] = operation(code, name, values)

    def _value(self, k: int) -> str:
        if k not in self.known:
            self.known[k] = self._fetched(k)
        return self.known[k]

    def _fetched(self, k: int) -> str:
        code, tile = self.code, self.layout.tile
        name, arguments = self.program.steps[k]
        if name == "CONST":
            return code.number(float(arguments[0]))
        if name != "INPUT":
            return code.load(code.at("%slots.here", self.program.slots[k] * tile))
        which, element = arguments
        if self.layout.inputs[which].shared:
            address = code.at("%shared", self.layout.shared_place(which) + element)
            return code.splat(code.do(f"load double, ptr {address}, align 8, !invariant.load !0"))
        return code.load(code.at("%in.here", (self.layout.first_row(which) + element) * tile), invariant=True)
