"""Sine and cosine on SIMD lanes: one range reduction and two polynomials for both.

Method     n is the nearest integer to 2 x / pi, and r = x - n pi/2 with pi/2 in three parts (Cody and Waite). The first
           two parts have 33 bits, so that n times each is exact for |n| < 2**20, with and without fused multiply-add.
           Sine and cosine are the minimax polynomials of fdlibm on |r| <= pi/4. The two lowest bits of n determine
           whether sine and cosine are exchanged or negated.
Accuracy   2 units in the last place for |x| <= MAX_ANGLE (1.5 measured); the sine of -0 is +0.
Beyond     lanes with |x| > MAX_ANGLE, infinity or NaN get the values of the C library, each lane separately: the
           result of a sample never depends on its neighbours.
"""

from __future__ import annotations

from ytheta.native.codegen.assembly import FunctionBody, format_double

MAX_ANGLE = 2.0**20

TWO_OVER_PI = 0.6366197723675814
HALF_PI = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
# Adding and then subtracting this number rounds to the nearest integer. After the addition, the lowest bits are that
# integer.
_ROUNDING_SHIFT = 1.5 * 2.0**52
SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)
_SIGN = 2**63


def emit_sine_cosine(lanes: int) -> str:
    """Return the function ``@sine_cosine``, from a vector of angles to the vectors of their sines and cosines."""
    code = FunctionBody(lanes)
    v, n = code.vector, code.integers

    shifted = code.multiply_add("%x", code.load_constant(TWO_OVER_PI), code.load_constant(_ROUNDING_SHIFT))
    quarters = code.assign(f"fsub {v} {shifted}, {code.load_constant(_ROUNDING_SHIFT)}")
    back = code.assign(f"fneg {v} {quarters}")
    first, second, third = (code.load_constant(part) for part in HALF_PI)
    coarse = code.multiply_add(back, first, "%x")  # exact
    fine = code.multiply_add(back, second, coarse)
    # ``lost`` is the rounding error of ``fine``.
    lost = code.multiply_add(back, second, code.assign(f"fsub {v} {coarse}, {fine}"))
    r = code.assign(f"fadd {v} {fine}, {code.multiply_add(back, third, lost)}")
    z = code.assign(f"fmul {v} {r}, {r}")

    p = _emit_polynomial(code, z, SINE)
    cube = code.assign(f"fmul {v} {z}, {r}")
    sine = code.multiply_add(cube, p, r)

    p = _emit_polynomial(code, z, COSINE)
    half = code.assign(f"fmul {v} {z}, {code.load_constant(0.5)}")
    head = code.assign(f"fsub {v} {code.load_constant(1.0)}, {half}")
    rest = code.assign(f"fsub {v} {code.assign(f'fsub {v} {code.load_constant(1.0)}, {head}')}, {half}")
    square = code.assign(f"fmul {v} {z}, {z}")
    tail = code.multiply_add(square, p, rest)
    cosine = code.assign(f"fadd {v} {head}, {tail}")

    quadrant = code.assign(f"bitcast {v} {shifted} to {n}")
    lowest = code.assign(f"shl {n} {quadrant}, {code.format_integers(63)}")
    odd = code.assign(f"icmp slt {n} {lowest}, zeroinitializer")
    results = []
    for in_even, in_odd, shift in ((sine, cosine, 0), (cosine, sine, 1)):
        value = code.assign(f"select {code.flags} {odd}, {v} {in_odd}, {v} {in_even}")
        second = code.assign(f"shl {n} {quadrant}, {code.format_integers(62)}")
        if shift:
            second = code.assign(f"add {n} {second}, {code.load_bits(shift << 62)}")
        sign = code.assign(f"and {n} {second}, {code.load_bits(_SIGN)}")
        value_bits = code.assign(f"bitcast {v} {value} to {n}")
        signed_bits = code.assign(f"xor {n} {value_bits}, {sign}")
        results.append(code.assign(f"bitcast {n} {signed_bits} to {v}"))

    angle_bits = code.assign(f"bitcast {v} %x to {n}")
    size = code.assign(f"bitcast {n} {code.assign(f'and {n} {angle_bits}, {code.load_bits(_SIGN - 1)}')} to {v}")
    beyond = code.assign(f"fcmp ugt {v} {size}, {code.load_constant(MAX_ANGLE)}")
    word = code.assign(f"bitcast {code.flags} {beyond} to i{lanes}")
    any_beyond = code.assign(f"icmp ne i{lanes} {word}, 0")
    code.emit(f"br i1 {any_beyond}, label %far, label %near")
    code.emit("near:")
    _emit_return(code, results)
    code.emit("far:")
    # This is a tail call, so that the common path needs no stack.
    both = code.assign(f"tail call {code.pair} @sine_cosine_far({v} %x, {v} {results[0]}, {v} {results[1]})")
    code.emit(f"ret {code.pair} {both}")
    name = "sine_cosine"
    head = f"define internal {code.pair} @{name}({v} %x, ptr noalias %constants) #0"
    return f"{code.format_constant_table(name)}\n{head} {{\nentry:\n{code}\n}}\n{_emit_far(lanes)}"


def _emit_far(lanes: int) -> str:
    """Return ``@sine_cosine_far``: lanes beyond MAX_ANGLE from the C library, the others unchanged."""
    code = FunctionBody(lanes)
    v = code.vector
    results = ["%s", "%c"]
    for position, name in enumerate(("sin", "cos")):
        for lane in range(lanes):
            angle = code.assign(f"extractelement {v} %x, i32 {lane}")
            size = code.assign(f"call double @llvm.fabs.f64(double {angle})")
            beyond = code.assign(f"fcmp ugt double {size}, {format_double(MAX_ANGLE)}")
            argument = code.assign(f"select i1 {beyond}, double {angle}, double {format_double(0.0)}")
            value = code.assign(f"call double @{name}(double {argument})")
            unchanged = code.assign(f"extractelement {v} {results[position]}, i32 {lane}")
            selected = code.assign(f"select i1 {beyond}, double {value}, double {unchanged}")
            results[position] = code.assign(f"insertelement {v} {results[position]}, double {selected}, i32 {lane}")
    _emit_return(code, results)
    return f"define internal {code.pair} @sine_cosine_far({v} %x, {v} %s, {v} %c) #0 {{\n{code}\n}}"


def _emit_polynomial(code: FunctionBody, z: str, coefficients: tuple[float, ...]) -> str:
    value = code.load_constant(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = code.multiply_add(value, z, code.load_constant(coefficient))
    return value


def _emit_return(code: FunctionBody, results: list[str]) -> None:
    v = code.vector
    first = code.assign(f"insertvalue {code.pair} poison, {v} {results[0]}, 0")
    both = code.assign(f"insertvalue {code.pair} {first}, {v} {results[1]}, 1")
    code.emit(f"ret {code.pair} {both}")
