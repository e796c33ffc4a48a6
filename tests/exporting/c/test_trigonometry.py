"""Sine and cosine in C against the C library in extended precision, on dense and on difficult angles."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.c_code import compile_program
from ytheta.exporting.c.definitions import DOUBLE, FLOAT, Number
from ytheta.exporting.c.trigonometry import emit_sine_cosine, find_constants

TYPES: dict[str, Any] = {"double": np.float64, "float": np.float32}
pytestmark = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="the expected values need numbers with 64 bits of mantissa"
)


def build(folder: Path, text: str, number: Number, *flags: str) -> ctypes.CDLL:
    """Compile the function as a shared library."""
    t = number.type
    wrapper = f"void run(const {t} *x, {t} *s, {t} *c, int n);\n"
    wrapper += f"void run(const {t} *x, {t} *s, {t} *c, int n) {{ p_sine_cosine(x, s, c, n); }}\n"
    (folder / "pair.c").write_text(f"#include <stdint.h>\n{text}{wrapper}")
    return ctypes.CDLL(str(compile_program(folder, ["pair.c"], "-shared", "-fPIC", *flags, output="pair.so")))


def compute(library: ctypes.CDLL, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sines and cosines that the function computes."""
    s, c = np.empty_like(x), np.empty_like(x)
    library.run(*(ctypes.c_void_p(array.ctypes.data) for array in (x, s, c)), len(x))
    return s, c


def list_angles(number: Number) -> np.ndarray:
    """Angles in the whole range, near zero, and next to multiples of pi/4, where digits cancel."""
    dtype, limit = TYPES[number.type], find_constants(number).max_angle
    rng = np.random.default_rng(0)
    count = min(int(limit * 4 / np.pi), 60_000)
    multiples = (rng.permutation(int(limit * 4 / np.pi))[:count] * (np.longdouble(np.pi) / 4)).astype(dtype)
    x = [
        rng.uniform(-limit, limit, 50_000).astype(dtype),
        rng.uniform(-7.0, 7.0, 50_000).astype(dtype),
        (10.0 ** rng.uniform(-30, 0, 10_000)).astype(dtype),
        multiples,
        -np.nextafter(multiples, dtype(np.inf)),
        np.nextafter(multiples, dtype(0)),
        np.array([0.0, -0.0, limit, -limit], dtype=dtype),
    ]
    angles = np.concatenate(x)
    return angles[abs(angles) <= limit]


def measure_error(x: np.ndarray, s: np.ndarray, c: np.ndarray) -> float:
    """Return the largest error in units in the last place of the expected value."""
    errors = []
    for computed, expected in ((s, np.sin(x.astype(np.longdouble))), (c, np.cos(x.astype(np.longdouble)))):
        unit = np.spacing(abs(expected).astype(x.dtype)).astype(np.longdouble)
        errors.append(float((abs(computed - expected) / unit).max()))
    return max(errors)


@pytest.mark.parametrize("number", [DOUBLE, FLOAT], ids=lambda number: number.type)
@pytest.mark.parametrize("flags", [("-O1", "-ffp-contract=off"), ("-O3", "-march=native", "-ffp-contract=fast")])
def test_the_error_is_within_the_stated_bound(number: Number, flags: tuple[str, ...], tmp_path: Path) -> None:
    x = list_angles(number)
    text = emit_sine_cosine("p", number, trigonometry="own")
    s, c = compute(build(tmp_path, text, number, *flags), x)
    error = measure_error(x, s, c)
    assert 0.5 < error < find_constants(number).max_error_ulp


def test_a_shorter_reduction_is_noticed(tmp_path: Path) -> None:
    text = emit_sine_cosine("p", DOUBLE, trigonometry="own")
    last = DOUBLE.format(find_constants(DOUBLE).half_pi[-1])
    assert last in text
    x = list_angles(DOUBLE)
    s, c = compute(build(tmp_path, text.replace(last, "0.0"), DOUBLE, "-O1"), x)
    assert measure_error(x, s, c) > find_constants(DOUBLE).max_error_ulp


@pytest.mark.parametrize("number", [DOUBLE, FLOAT], ids=lambda number: number.type)
def test_no_number_comes_from_angles_that_are_too_large(number: Number, tmp_path: Path) -> None:
    dtype, limit = TYPES[number.type], find_constants(number).max_angle
    library = build(tmp_path, emit_sine_cosine("p", number, trigonometry="own"), number, "-O1")
    beyond = np.nextafter(dtype(limit), dtype(np.inf))
    for value in (beyond, -beyond, np.inf, -np.inf, np.nan):
        s, c = compute(library, np.array([0.5, value], dtype=dtype))
        assert np.isnan([*s, *c]).all()
    s, c = compute(library, np.array([0.5, limit], dtype=dtype))
    assert np.isfinite([*s, *c]).all()


def test_the_c_library_can_be_used_instead() -> None:
    text = emit_sine_cosine("p", FLOAT, trigonometry="libm")
    assert "sinf(x[k])" in text
    assert "cosf(x[k])" in text
