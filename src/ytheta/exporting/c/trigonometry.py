"""Sine and cosine in C without a library: one range reduction and two polynomials for both, in a loop over angles.

Method     as in ``native.codegen.trigonometry``: n is the integer nearest to 2 x / pi, and r = x - n pi/2 with pi/2 in
           three or four parts, of which n times all but the last is exact. Minimax polynomials on |r| <= pi/4 give
           sine and cosine of r. The rotation by n quarter turns uses factors that are 0, 1 or -1, so it is exact and
           has no branch, and compilers can vectorize the loop.
Accuracy   ``max_error_ulp`` units in the last place for |x| <= ``max_angle``, with and without fused multiply-add, but
           not with options such as -ffast-math, which change the order of operations. The sine of -0 is +0.
Beyond     if an angle is beyond ``max_angle``, infinite or NaN, all results are NaN: no silent loss of precision. A
           selection for each angle would keep compilers from vectorizing the loop.
Reference  double: polynomials of fdlibm (Sun Microsystems), float: of Cephes (S. L. Moshier)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ytheta.exporting.c.definitions import Number
from ytheta.native.codegen import trigonometry as native


@dataclass(frozen=True)
class SineCosine:
    """The constants of one precision, and the bounds that tests confirm."""

    max_angle: float
    max_error_ulp: float
    half_pi: tuple[float, ...]
    sine: tuple[float, ...]
    cosine: tuple[float, ...]


_CONSTANTS = {
    "double": SineCosine(native.MAX_ANGLE, 2.0, native.HALF_PI, native.SINE, native.COSINE),
    # The first three parts of pi/2 have 12 bits, so that products with |n| < 2^12 are exact.
    "float": SineCosine(
        4096.0,
        2.0,
        (1.5703125, 0.0004837512969970703, 7.549533620476723e-08, 2.5633440682570896e-12),
        (-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4),
        (4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5),
    ),
}


def find_constants(number: Number) -> SineCosine:
    return _CONSTANTS[number.type]


def emit_sine_cosine(prefix: str, number: Number, *, trigonometry: str) -> str:
    """Return the C text of the static function that computes sines and cosines of an array of angles."""
    if trigonometry == "libm":
        return _LIBM.format(p=prefix, t=number.type, f=number.suffix)
    k = find_constants(number)
    limit = number.format(k.max_angle)
    values = {
        "p": prefix,
        "t": number.type,
        "limit": limit,
        "two_over_pi": number.format(native.TWO_OVER_PI),
        "half": number.format(0.5),
        "one": number.format(1.0),
        "offset": f"{int(k.max_angle)}",
        "offset_half": number.format(k.max_angle + 0.5),
        "reduction": "\n".join(f"        {line}" for line in _reduce(number, k.half_pi)),
        "sine": _nest(number, k.sine),
        "cosine": _nest(number, k.cosine),
        "angle": f"{k.max_angle:g}",
        "ulp": f"{k.max_error_ulp:g}",
    }
    return _OWN.format(**values)


def _reduce(number: Number, half_pi: Sequence[float]) -> list[str]:
    """Return the statements that compute r from the angle and the number m of quarter turns."""
    t, lost = number.type, ""
    lines = [f"const {t} r0 = angle - m * {number.format(half_pi[0])}; /* exact */"]
    for k, part in enumerate(half_pi[1:-1], start=1):
        product = f"m * {number.format(part)}"
        lines.append(f"const {t} r{k} = r{k - 1} - {product};")
        lines.append(f"const {t} lost{k} = (r{k - 1} - r{k}) - {product}; /* rounding error of r{k} */")
        lost += f"lost{k} + " if k < len(half_pi) - 2 else f"lost{k}"
    lines.append(f"const {t} r = r{len(half_pi) - 2} + (({lost}) - m * {number.format(half_pi[-1])});")
    return lines


def _nest(number: Number, coefficients: Sequence[float]) -> str:
    """Return the polynomial in z by Horner's rule."""
    text = number.format(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        text = f"({number.format(coefficient)} + z * {text})"
    return text


_OWN = """\
/* Sine and cosine of n angles. Error: at most {ulp} units in the last place if |x| <= {angle} rad for all angles;
   otherwise all results are NaN. Positions of a robot are far within this range. */
static void {p}_sine_cosine(const {t} *restrict x, {t} *restrict sine, {t} *restrict cosine, const int n)
{{
    int k, beyond = 0;
    for (k = 0; k < n; k++) {{
        beyond |= !((x[k] >= -{limit}) & (x[k] <= {limit}));
    }}
    if (beyond) {{
        for (k = 0; k < n; k++) {{
            sine[k] = cosine[k] = (x[k] - x[k]) / (x[k] - x[k]); /* NaN */
        }}
        return;
    }}
    for (k = 0; k < n; k++) {{
        const {t} angle = x[k];
        /* The sum is positive, so that the conversion rounds to the nearest number of quarter turns. */
        const int32_t quarters = (int32_t)(angle * {two_over_pi} + {offset_half}) - {offset};
        const {t} m = ({t})quarters;
{reduction}
        const {t} z = r * r;
        const {t} s = r + (z * r) * {sine};
        const {t} h = {half} * z;
        const {t} head = {one} - h;
        const {t} c = head + ((({one} - head) - h) + (z * z) * {cosine});
        const int32_t odd_turns = quarters & 1;
        const int32_t sign = 1 - (quarters & 2);
        const {t} odd = ({t})(odd_turns * sign);         /* sine of the quarter turns: 0, 1 or -1 */
        const {t} even = ({t})(sign - odd_turns * sign); /* their cosine */
        sine[k] = even * s + odd * c;
        cosine[k] = even * c - odd * s;
    }}
}}
"""

_LIBM = """\
/* Sine and cosine of n angles, from the C library. */
static void {p}_sine_cosine(const {t} *restrict x, {t} *restrict sine, {t} *restrict cosine, const int n)
{{
    int k;
    for (k = 0; k < n; k++) {{
        sine[k] = sin{f}(x[k]);
        cosine[k] = cos{f}(x[k]);
    }}
}}
"""
