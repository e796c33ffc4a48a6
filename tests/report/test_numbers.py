"""How numbers are written on a page and on a terminal."""

from __future__ import annotations

import numpy as np

from ytheta.report.numbers import (
    NO_VALUE,
    format_beside,
    format_number,
    format_plain,
    format_relative_std,
    format_with_std,
    parameter_unit,
)


def test_numbers() -> None:
    assert [format_number(x) for x in (0.0123, 9.999, -0.5, 0.0, 4.5e-7)] == [
        "0.0123",
        "10.0",
        "−0.500",
        "0",
        "4.50·10⁻⁷",
    ]
    assert format_number(12345.0) == "12\u202f300"
    assert [format_number(x, 2) for x in (0.00012, 0.000052, 0.0000052)] == ["0.00012", "0.000052", "5.2·10⁻⁶"]
    assert [format_number(x) for x in (1.234e8, 1.234e9)] == ["123\u202f000\u202f000", "1.23·10⁹"]
    assert format_with_std(0.66001317, 8.5e-6) == "0.6600132"  # many decimals are no reason for a power of ten
    assert format_with_std(0.00012345678, 1e-10) == "0.00012345678"
    assert [format_number(x) for x in (np.inf, np.nan)] == ["∞", "–"]
    assert format_with_std(1.23456, 0.0123) == "1.235"
    assert [format_with_std(-0.001, 0.3), format_with_std(-312.0, 3e4)] == [
        "−0.0010",
        "−310",
    ]  # two digits, however unsure
    assert format_with_std(5.0, np.inf) == "5.00"
    assert [
        parameter_unit(name, frozenset({"rail"}))
        for name in ("a.m", "a.my", "a.Ixy", "rail.fc", "elbow.Ia", "spring.k")
    ] == [
        "kg",
        "kg m",
        "kg m²",
        "N",
        "kg m²",
        "",
    ]


def test_rounding_errors_are_zero() -> None:
    assert format_with_std(-4.5e-16, 0.03) == "0"
    assert format_with_std(-4.5e-16, 1e-12) != "0"  # the twin: the data know this small number
    assert [format_beside(1.5e-10, 0.07), format_beside(1.5e-10, np.inf), format_beside(np.nan, 1.0)] == [
        "0",
        "1.50·10⁻¹⁰",
        NO_VALUE,
    ]


def test_numbers_for_a_terminal() -> None:
    assert [format_plain(x) for x in (0.0123, 123.4, 12345.0, 0.0, 4.5e-7, np.inf)] == [
        "0.0123",
        "123",
        "12300",
        "0",
        "4.5e-07",
        "∞",
    ]
    assert [format_plain(4.65, 4, zeros=True), format_plain(300.0, 2, zeros=True)] == ["4.650", "300"]
    assert [format_relative_std(x) for x in (0.5, 180.0, 1e5, np.inf)] == [
        "0.5",
        "180",
        "> 999",
        "∞",
    ]  # infinite: not seen
