"""LLVM assembly as text: exact literals, vectors of lanes, instructions with fresh names.

Text is several times faster to make from Python than objects of a builder, LLVM parses it fast, and it can be read.
"""

from __future__ import annotations

import struct


def bits(value: float) -> str:
    """A double as LLVM writes it exactly: its bits."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class Code:
    """Instructions of one function on vectors of ``lanes`` doubles.

    Numbers stand in one table per function, a full vector each: an instruction can then take them from memory as they
    are, and their addresses differ by small offsets only.
    """

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.vector = f"<{lanes} x double>"
        self.integers = f"<{lanes} x i64>"
        self.flags = f"<{lanes} x i1>"
        self.pair = f"{{{self.vector}, {self.vector}}}"
        self.suffix = f"v{lanes}f64"
        self._lines: list[str] = []
        self._count = 0
        self._numbers: dict[str, int] = {}

    def do(self, text: str) -> str:
        """Append an instruction that has a result; the name of the result."""
        self._count += 1
        name = f"%t{self._count}"
        self._lines.append(f"  {name} = {text}")
        return name

    def put(self, text: str) -> None:
        """Append a label, or an instruction that has no result or names it itself."""
        self._lines.append(text if text.endswith(":") else f"  {text}")

    def at(self, pointer: str, index: str | int) -> str:
        """The address ``index`` doubles after a pointer."""
        return self.do(f"getelementptr double, ptr {pointer}, i64 {index}")

    def load(self, address: str, *, invariant: bool = False) -> str:
        """A vector from an aligned address; ``invariant`` if nothing writes there while the function runs."""
        promise = ", !invariant.load !0" if invariant else ""
        return self.do(f"load {self.vector}, ptr {address}, align {8 * self.lanes}{promise}")

    def store(self, value: str, address: str) -> None:
        self.put(f"store {self.vector} {value}, ptr {address}, align {8 * self.lanes}")

    def number(self, value: float) -> str:
        """The vector that holds a number in every lane."""
        place = self._numbers.setdefault(bits(value), len(self._numbers))
        return self.load(self.do(f"getelementptr {self.vector}, ptr %numbers, i64 {place}"))

    def integer(self, value: int) -> str:
        """The vector that holds an integer in every lane, as a part of the instruction."""
        return "<" + ", ".join([f"i64 {value}"] * self.lanes) + ">"

    def pattern(self, value: int) -> str:
        """The same, from the table of numbers."""
        (number,) = struct.unpack("<d", struct.pack("<Q", value % 2**64))
        return self.do(f"bitcast {self.vector} {self.number(number)} to {self.integers}")

    def splat(self, scalar: str) -> str:
        """The vector that holds a computed number in every lane."""
        v = self.vector
        first = self.do(f"insertelement {v} poison, double {scalar}, i32 0")
        return self.do(f"shufflevector {v} {first}, {v} poison, <{self.lanes} x i32> zeroinitializer")

    def gathered(self, addresses: list[str]) -> str:
        """The vector of the doubles at these addresses, one for each lane."""
        value = "poison"
        for lane, address in enumerate(addresses):
            x = self.do(f"load double, ptr {address}, align 8")
            value = self.do(f"insertelement {self.vector} {value}, double {x}, i32 {lane}")
        return value

    def transposed(self, rows: list[str]) -> list[str]:
        """Rows of a square become its columns by exchanging single entries, then pairs, … between pairs of rows."""
        lanes, v = self.lanes, self.vector
        step = 1
        while step < lanes:
            low = [i if not i & step else lanes + i - step for i in range(lanes)]
            high = [i + step if not i & step else lanes + i for i in range(lanes)]
            exchanged = list(rows)
            for k in range(lanes):
                if not k & step:
                    for target, chosen in ((k, low), (k + step, high)):
                        mask = ", ".join(f"i32 {i}" for i in chosen)
                        exchanged[target] = self.do(
                            f"shufflevector {v} {rows[k]}, {v} {rows[k + step]}, <{lanes} x i32> <{mask}>"
                        )
            rows = exchanged
            step *= 2
        return rows

    def fused(self, a: str, b: str, c: str) -> str:
        """a b + c, with one rounding where the processor has that."""
        v = self.vector
        return self.do(f"call {v} @llvm.fmuladd.{self.suffix}({v} {a}, {v} {b}, {v} {c})")

    def table(self, name: str) -> str:
        """The table of numbers of the function ``name``, a global constant."""
        v = self.vector
        rows = ", ".join(f"{v} <" + ", ".join([f"double {number}"] * self.lanes) + ">" for number in self._numbers)
        return f"@{name}.numbers = internal constant [{len(self._numbers)} x {v}] [{rows}], align {8 * self.lanes}"

    def __str__(self) -> str:
        return "\n".join(self._lines)
