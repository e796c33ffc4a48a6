"""One operation of a graph on all lanes.

What the processor does in its lanes is one or a few instructions; what is rare in the dynamics of robots is called lane
by lane in the C library. A multiplication and an addition may become one fused operation; nothing is reassociated.
"""

from __future__ import annotations

from ytheta.errors import InputError
from ytheta.native.codegen.assembly import Code

_BINARY = {"ADD": "fadd contract", "SUB": "fsub contract", "MUL": "fmul contract", "DIV": "fdiv"}
_COMPARED = {"LT": "olt", "LE": "ole", "EQ": "oeq", "NE": "une"}
_INTRINSIC = {
    "SQRT": "sqrt",
    "FABS": "fabs",
    "FLOOR": "floor",
    "CEIL": "ceil",
    "FMIN": "minnum",
    "FMAX": "maxnum",
    "COPYSIGN": "copysign",
}
LIBRARY = {
    "EXP": "exp",
    "EXPM1": "expm1",
    "LOG": "log",
    "LOG1P": "log1p",
    "POW": "pow",
    "CONSTPOW": "pow",
    "TAN": "tan",
    "ASIN": "asin",
    "ACOS": "acos",
    "ATAN": "atan",
    "ATAN2": "atan2",
    "SINH": "sinh",
    "COSH": "cosh",
    "TANH": "tanh",
    "ASINH": "asinh",
    "ACOSH": "acosh",
    "ATANH": "atanh",
    "HYPOT": "hypot",
    "ERF": "erf",
    "FMOD": "fmod",
    "REMAINDER": "remainder",
}
_TWO_ARGUMENTS = ("pow", "atan2", "hypot", "fmod", "remainder", "minnum", "maxnum", "copysign")


def operation(code: Code, name: str, a: list[str]) -> str:
    """Write one operation on the values ``a``; the name of its result."""
    v = code.vector
    both = ", ".join(f"{v} {x}" for x in a)
    if name in _BINARY:
        return code.do(f"{_BINARY[name]} {v} {a[0]}, {a[1]}")
    if name == "NEG":
        return code.do(f"fneg {v} {a[0]}")
    if name == "SQ":
        return code.do(f"fmul contract {v} {a[0]}, {a[0]}")
    if name == "TWICE":
        return code.do(f"fadd contract {v} {a[0]}, {a[0]}")
    if name == "INV":
        return code.do(f"fdiv {v} {code.number(1.0)}, {a[0]}")
    if name in _INTRINSIC:
        return code.do(f"call {v} @llvm.{_INTRINSIC[name]}.{code.suffix}({both})")
    if name in LIBRARY:
        return code.do(f"call {v} @lanes_{LIBRARY[name]}({both})")
    if name == "SIGN":
        up = code.do(f"fcmp ogt {v} {a[0]}, zeroinitializer")
        down = code.do(f"fcmp olt {v} {a[0]}, zeroinitializer")
        return _chosen(code, up, code.number(1.0), _chosen(code, down, code.number(-1.0), a[0]))
    if name == "IF_ELSE_ZERO":
        return _chosen(code, _true(code, a[0]), a[1], "zeroinitializer")
    return _chosen(code, _truth(code, name, a), code.number(1.0), "zeroinitializer")


def _truth(code: Code, name: str, a: list[str]) -> str:
    v = code.vector
    if name in _COMPARED:
        return code.do(f"fcmp {_COMPARED[name]} {v} {a[0]}, {a[1]}")
    if name == "NOT":
        return code.do(f"fcmp oeq {v} {a[0]}, zeroinitializer")
    if name in ("AND", "OR"):
        return code.do(f"{name.lower()} {code.flags} {_true(code, a[0])}, {_true(code, a[1])}")
    raise InputError(
        f'native code has no operation {name}; compile the graph with backend="interpreter", which has all of CasADi\'s'
    )


def _true(code: Code, value: str) -> str:
    return code.do(f"fcmp une {code.vector} {value}, zeroinitializer")


def _chosen(code: Code, truth: str, yes: str, no: str) -> str:
    return code.do(f"select {code.flags} {truth}, {code.vector} {yes}, {code.vector} {no}")


def library_function(name: str, lanes: int) -> str:
    """The function ``@lanes_<name>``: the C library's function, lane by lane."""
    code = Code(lanes)
    v = code.vector
    arguments = ("%x", "%y")[: _count(name)]
    result = "poison"
    for lane in range(lanes):
        scalars = [code.do(f"extractelement {v} {x}, i32 {lane}") for x in arguments]
        value = code.do(f"call double @{name}({', '.join(f'double {x}' for x in scalars)})")
        result = code.do(f"insertelement {v} {result}, double {value}, i32 {lane}")
    code.put(f"ret {v} {result}")
    return f"define internal {v} @lanes_{name}({', '.join(f'{v} {x}' for x in arguments)}) #0 {{\n{code}\n}}"


def declarations(lanes: int) -> str:
    """What the code calls and does not define: intrinsics of LLVM, functions of the C library."""
    v, suffix = f"<{lanes} x double>", f"v{lanes}f64"
    lines = [
        "declare i64 @llvm.umin.i64(i64, i64)",
        "declare double @llvm.fabs.f64(double)",
        f"declare {v} @llvm.fmuladd.{suffix}({v}, {v}, {v})",
    ]
    for name in sorted(set(_INTRINSIC.values())):
        lines += [f"declare {v} @llvm.{name}.{suffix}({', '.join([v] * _count(name))})"]
    for name in ("sin", "cos", *sorted(set(LIBRARY.values()))):
        lines += [f"declare double @{name}({', '.join(['double'] * _count(name))}) #1"]
    return "\n".join(lines)


def _count(name: str) -> int:
    return 2 if name in _TWO_ARGUMENTS else 1
