"""SIMD operations: one operation of a graph on all lanes.

Operations that processors support on vectors become one or a few instructions. The others, which are rare in robot
dynamics, call the C library lane by lane. A multiplication and an addition may be fused; nothing is reassociated.
"""

from __future__ import annotations

from ytheta.errors import InputError
from ytheta.native.codegen.assembly import FunctionBody

_BINARY = {"ADD": "fadd contract", "SUB": "fsub contract", "MUL": "fmul contract", "DIV": "fdiv"}
_COMPARISONS = {"LT": "olt", "LE": "ole", "EQ": "oeq", "NE": "une"}
_INTRINSICS = {
    "SQRT": "sqrt",
    "FABS": "fabs",
    "FLOOR": "floor",
    "CEIL": "ceil",
    "FMIN": "minnum",
    "FMAX": "maxnum",
    "COPYSIGN": "copysign",
}
C_FUNCTIONS = {
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
_BINARY_FUNCTIONS = ("pow", "atan2", "hypot", "fmod", "remainder", "minnum", "maxnum", "copysign")


def emit_operation(code: FunctionBody, name: str, a: list[str]) -> str:
    """Append one operation on the values ``a``; return the name of its result."""
    v = code.vector
    arguments = ", ".join(f"{v} {x}" for x in a)
    if name in _BINARY:
        return code.assign(f"{_BINARY[name]} {v} {a[0]}, {a[1]}")
    if name == "NEG":
        return code.assign(f"fneg {v} {a[0]}")
    if name == "SQ":
        return code.assign(f"fmul contract {v} {a[0]}, {a[0]}")
    if name == "TWICE":
        return code.assign(f"fadd contract {v} {a[0]}, {a[0]}")
    if name == "INV":
        return code.assign(f"fdiv {v} {code.load_constant(1.0)}, {a[0]}")
    if name in _INTRINSICS:
        return code.assign(f"call {v} @llvm.{_INTRINSICS[name]}.{code.suffix}({arguments})")
    if name in C_FUNCTIONS:
        return code.assign(f"call {v} @lanes_{C_FUNCTIONS[name]}({arguments})")
    if name == "SIGN":
        positive = code.assign(f"fcmp ogt {v} {a[0]}, zeroinitializer")
        negative = code.assign(f"fcmp olt {v} {a[0]}, zeroinitializer")
        return _select(code, positive, code.load_constant(1.0), _select(code, negative, code.load_constant(-1.0), a[0]))
    if name == "IF_ELSE_ZERO":
        return _select(code, _is_nonzero(code, a[0]), a[1], "zeroinitializer")
    return _select(code, _compare(code, name, a), code.load_constant(1.0), "zeroinitializer")


def _compare(code: FunctionBody, name: str, a: list[str]) -> str:
    v = code.vector
    if name in _COMPARISONS:
        return code.assign(f"fcmp {_COMPARISONS[name]} {v} {a[0]}, {a[1]}")
    if name == "NOT":
        return code.assign(f"fcmp oeq {v} {a[0]}, zeroinitializer")
    if name in ("AND", "OR"):
        return code.assign(f"{name.lower()} {code.flags} {_is_nonzero(code, a[0])}, {_is_nonzero(code, a[1])}")
    raise InputError(
        f'native code does not support the operation {name}; compile the graph with backend="interpreter", which does'
    )


def _is_nonzero(code: FunctionBody, value: str) -> str:
    return code.assign(f"fcmp une {code.vector} {value}, zeroinitializer")


def _select(code: FunctionBody, condition: str, yes: str, no: str) -> str:
    return code.assign(f"select {code.flags} {condition}, {code.vector} {yes}, {code.vector} {no}")


def emit_c_function(name: str, lanes: int) -> str:
    """Return the function ``@lanes_<name>``, which calls the C function of this name for every lane."""
    code = FunctionBody(lanes)
    v = code.vector
    arguments = ("%x", "%y")[: _count_arguments(name)]
    result = "poison"
    for lane in range(lanes):
        scalars = [code.assign(f"extractelement {v} {x}, i32 {lane}") for x in arguments]
        value = code.assign(f"call double @{name}({', '.join(f'double {x}' for x in scalars)})")
        result = code.assign(f"insertelement {v} {result}, double {value}, i32 {lane}")
    code.emit(f"ret {v} {result}")
    return f"define internal {v} @lanes_{name}({', '.join(f'{v} {x}' for x in arguments)}) #0 {{\n{code}\n}}"


def emit_declarations(lanes: int) -> str:
    """Return declarations of the functions that the code calls but does not define: LLVM intrinsics and C functions."""
    v, suffix = f"<{lanes} x double>", f"v{lanes}f64"
    lines = [
        "declare i64 @llvm.umin.i64(i64, i64)",
        "declare double @llvm.fabs.f64(double)",
        f"declare {v} @llvm.fmuladd.{suffix}({v}, {v}, {v})",
    ]
    for name in sorted(set(_INTRINSICS.values())):
        lines += [f"declare {v} @llvm.{name}.{suffix}({', '.join([v] * _count_arguments(name))})"]
    for name in ("sin", "cos", *sorted(set(C_FUNCTIONS.values()))):
        lines += [f"declare double @{name}({', '.join(['double'] * _count_arguments(name))}) #1"]
    return "\n".join(lines)


def _count_arguments(name: str) -> int:
    return 2 if name in _BINARY_FUNCTIONS else 1
