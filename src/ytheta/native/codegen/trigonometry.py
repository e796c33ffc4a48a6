"""Sine and cosine in the lanes: one range reduction and two polynomials for both.

Method     n = nearest integer to 2 x / pi; r = x - n pi/2 with pi/2 in three parts (Cody and Waite), the first two of
           33 bits, so that n times them is exact up to |n| < 2**20, with and without fused multiply-add; then the
           minimax polynomials of fdlibm on |r| <= pi/4, exchanged and negated by the two lowest bits of n.
Accuracy   2 units in the last place for |x| <= LIMIT (1.5 measured); the sine of -0 is +0.
Beyond     lanes with |x| > LIMIT, infinite or not a number get the values of the C library, each lane for itself: the
           result of a sample never depends on its neighbours.
"""

from __future__ import annotations

from ytheta.native.codegen.assembly import Code, bits

LIMIT = 2.0**20

_TWO_OVER_PI = 0.6366197723675814
_HALF_PI = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
# Added and subtracted again, it leaves the nearest integer; before that, the integer stands in the lowest bits.
_ROUNDER = 1.5 * 2.0**52
_SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
_COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)
_SIGN = 2**63


def sine_cosine(lanes: int) -> str:
    """The function ``@sine_cosine`` from a vector of angles to the pair of vectors of their sines and cosines."""
    code = Code(lanes)
    v, n = code.vector, code.integers

    shifted = code.fused("%x", code.number(_TWO_OVER_PI), code.number(_ROUNDER))
    turns = code.do(f"fsub {v} {shifted}, {code.number(_ROUNDER)}")
    back = code.do(f"fneg {v} {turns}")
    first, second, third = (code.number(part) for part in _HALF_PI)
    coarse = code.fused(back, first, "%x")  # exact
    fine = code.fused(back, second, coarse)
    lost = code.fused(back, second, code.do(f"fsub {v} {coarse}, {fine}"))  # what the line before rounded off
    r = code.do(f"fadd {v} {fine}, {code.fused(back, third, lost)}")
    z = code.do(f"fmul {v} {r}, {r}")

    p = _polynomial(code, z, _SINE)
    cube = code.do(f"fmul {v} {z}, {r}")
    sine = code.fused(cube, p, r)

    p = _polynomial(code, z, _COSINE)
    half = code.do(f"fmul {v} {z}, {code.number(0.5)}")
    head = code.do(f"fsub {v} {code.number(1.0)}, {half}")
    rest = code.do(f"fsub {v} {code.do(f'fsub {v} {code.number(1.0)}, {head}')}, {half}")
    square = code.do(f"fmul {v} {z}, {z}")
    tail = code.fused(square, p, rest)
    cosine = code.do(f"fadd {v} {head}, {tail}")

    quarter = code.do(f"bitcast {v} {shifted} to {n}")
    lowest = code.do(f"shl {n} {quarter}, {code.integer(63)}")
    odd = code.do(f"icmp slt {n} {lowest}, zeroinitializer")
    results = []
    for one, other, step in ((sine, cosine, 0), (cosine, sine, 1)):
        chosen = code.do(f"select {code.flags} {odd}, {v} {other}, {v} {one}")
        second = code.do(f"shl {n} {quarter}, {code.integer(62)}")
        if step:
            second = code.do(f"add {n} {second}, {code.pattern(step << 62)}")
        sign = code.do(f"and {n} {second}, {code.pattern(_SIGN)}")
        whole = code.do(f"bitcast {v} {chosen} to {n}")
        turned = code.do(f"xor {n} {whole}, {sign}")
        results.append(code.do(f"bitcast {n} {turned} to {v}"))

    own = code.do(f"bitcast {v} %x to {n}")
    size = code.do(f"bitcast {n} {code.do(f'and {n} {own}, {code.pattern(_SIGN - 1)}')} to {v}")
    beyond = code.do(f"fcmp ugt {v} {size}, {code.number(LIMIT)}")
    word = code.do(f"bitcast {code.flags} {beyond} to i{lanes}")
    some = code.do(f"icmp ne i{lanes} {word}, 0")
    code.put(f"br i1 {some}, label %far, label %near")
    code.put("near:")
    _give(code, results)
    code.put("far:")
    # A call at the very end: the usual way through needs no stack.
    both = code.do(f"tail call {code.pair} @sine_cosine_far({v} %x, {v} {results[0]}, {v} {results[1]})")
    code.put(f"ret {code.pair} {both}")
    name = "sine_cosine"
    head = f"define internal {code.pair} @{name}({v} %x, ptr noalias %numbers) #0"
    return f"{code.table(name)}\n{head} {{\nentry:\n{code}\n}}\n{_far(lanes)}"


def _far(lanes: int) -> str:
    """Lanes beyond the limit from the C library, the others as they are."""
    code = Code(lanes)
    v = code.vector
    results = ["%s", "%c"]
    for position, name in enumerate(("sin", "cos")):
        for lane in range(lanes):
            angle = code.do(f"extractelement {v} %x, i32 {lane}")
            size = code.do(f"call double @llvm.fabs.f64(double {angle})")
            beyond = code.do(f"fcmp ugt double {size}, {bits(LIMIT)}")
            asked = code.do(f"select i1 {beyond}, double {angle}, double {bits(0.0)}")
            value = code.do(f"call double @{name}(double {asked})")
            own = code.do(f"extractelement {v} {results[position]}, i32 {lane}")
            taken = code.do(f"select i1 {beyond}, double {value}, double {own}")
            results[position] = code.do(f"insertelement {v} {results[position]}, double {taken}, i32 {lane}")
    _give(code, results)
    return f"define internal {code.pair} @sine_cosine_far({v} %x, {v} %s, {v} %c) #0 {{\n{code}\n}}"


def _polynomial(code: Code, z: str, coefficients: tuple[float, ...]) -> str:
    value = code.number(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = code.fused(value, z, code.number(coefficient))
    return value


def _give(code: Code, results: list[str]) -> None:
    v = code.vector
    one = code.do(f"insertvalue {code.pair} poison, {v} {results[0]}, 0")
    both = code.do(f"insertvalue {code.pair} {one}, {v} {results[1]}, 1")
    code.put(f"ret {code.pair} {both}")
