"""LLVM assembly as text: exact literals, vectors of SIMD lanes, instructions with unique names.

Writing text is several times faster in Python than building the objects of an IR builder. LLVM parses the text fast,
and people can read it.
"""

from __future__ import annotations

import struct


def format_double(value: float) -> str:
    """Return the exact literal of a double: its bits in hexadecimal."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class FunctionBody:
    """The instructions of one function on vectors of ``lanes`` doubles.

    The constants of a function are in one table, each as a full vector, so that an instruction can use them directly
    from memory, at small offsets from one address.
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
        self._constants: dict[str, int] = {}

    def assign(self, text: str) -> str:
        """Append an instruction that has a result; return the name of the result."""
        self._count += 1
        name = f"%t{self._count}"
        self._lines.append(f"  {name} = {text}")
        return name

    def emit(self, text: str) -> None:
        """Append a label, or an instruction that has no result or names its result itself."""
        self._lines.append(text if text.endswith(":") else f"  {text}")

    def compute_address(self, pointer: str, index: str | int) -> str:
        """Return the address ``index`` doubles after a pointer."""
        return self.assign(f"getelementptr double, ptr {pointer}, i64 {index}")

    def load(self, address: str, *, invariant: bool = False) -> str:
        """Load a vector from an aligned address; ``invariant`` if nothing writes there while the function runs."""
        metadata = ", !invariant.load !0" if invariant else ""
        return self.assign(f"load {self.vector}, ptr {address}, align {8 * self.lanes}{metadata}")

    def store(self, value: str, address: str) -> None:
        """Store a vector at an aligned address."""
        self.emit(f"store {self.vector} {value}, ptr {address}, align {8 * self.lanes}")

    def load_constant(self, value: float) -> str:
        """Load the vector with this number in every lane, from the table of constants."""
        index = self._constants.setdefault(format_double(value), len(self._constants))
        return self.load(self.assign(f"getelementptr {self.vector}, ptr %constants, i64 {index}"))

    def format_integers(self, value: int) -> str:
        """Return the literal of the vector with this integer in every lane."""
        return "<" + ", ".join([f"i64 {value}"] * self.lanes) + ">"

    def load_bits(self, value: int) -> str:
        """Load the vector with this integer in every lane, from the table of constants."""
        (number,) = struct.unpack("<d", struct.pack("<Q", value % 2**64))
        return self.assign(f"bitcast {self.vector} {self.load_constant(number)} to {self.integers}")

    def splat(self, scalar: str) -> str:
        """Copy a scalar into every lane of a vector."""
        v = self.vector
        first = self.assign(f"insertelement {v} poison, double {scalar}, i32 0")
        return self.assign(f"shufflevector {v} {first}, {v} poison, <{self.lanes} x i32> zeroinitializer")

    def gather(self, addresses: list[str]) -> str:
        """Load the vector of the doubles at these addresses, one per lane."""
        value = "poison"
        for lane, address in enumerate(addresses):
            x = self.assign(f"load double, ptr {address}, align 8")
            value = self.assign(f"insertelement {self.vector} {value}, double {x}, i32 {lane}")
        return value

    def transpose(self, rows: list[str]) -> list[str]:
        """Transpose a square matrix of row vectors: exchange single entries, then pairs, … between pairs of rows."""
        lanes, v = self.lanes, self.vector
        step = 1
        while step < lanes:
            low = [i if not i & step else lanes + i - step for i in range(lanes)]
            high = [i + step if not i & step else lanes + i for i in range(lanes)]
            exchanged = list(rows)
            for k in range(lanes):
                if not k & step:
                    for target, entries in ((k, low), (k + step, high)):
                        mask = ", ".join(f"i32 {i}" for i in entries)
                        exchanged[target] = self.assign(
                            f"shufflevector {v} {rows[k]}, {v} {rows[k + step]}, <{lanes} x i32> <{mask}>"
                        )
            rows = exchanged
            step *= 2
        return rows

    def multiply_add(self, a: str, b: str, c: str) -> str:
        """Append a b + c, with a single rounding if the processor supports it; return the name of the result."""
        v = self.vector
        return self.assign(f"call {v} @llvm.fmuladd.{self.suffix}({v} {a}, {v} {b}, {v} {c})")

    def format_constant_table(self, name: str) -> str:
        """Return the table of constants of the function ``name``, as a global definition."""
        v = self.vector
        rows = ", ".join(f"{v} <" + ", ".join([f"double {number}"] * self.lanes) + ">" for number in self._constants)
        return f"@{name}.constants = internal constant [{len(self._constants)} x {v}] [{rows}], align {8 * self.lanes}"

    def __str__(self) -> str:
        return "\n".join(self._lines)
