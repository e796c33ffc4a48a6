"""How numbers are written."""

from __future__ import annotations

import math

from ytheta.conventions import JOINT_PARAMETERS, LINK_PARAMETERS

NONE = "–"
DECIMALS = 6  # after the point; smaller numbers are written with a power of ten
TURNING = {"Ia": "kg m²", "fv": "N m s/rad", "fc": "N m", "fo": "N m"}
SLIDING = {"Ia": "kg", "fv": "N s/m", "fc": "N", "fo": "N"}


def figure(value: float, digits: int = 3) -> str:
    """A number to some significant digits, such as 0.0123, 12 300 or 4.5·10⁻⁷."""
    if math.isnan(value):
        return NONE
    if math.isinf(value):
        return "∞" if value > 0.0 else "−∞"
    if value == 0.0:
        return "0"
    first = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))  # place of the leading digit, once rounded
    return _written(value, digits - 1 - first, digits)


def with_std(value: float, std: float) -> str:
    """A value to the second digit of its standard deviation."""
    if not (math.isfinite(std) and math.isfinite(value)) or std <= 0.0:
        return figure(value)
    places = 1 - math.floor(math.log10(std))
    digits = max(1, places + 1 + math.floor(math.log10(max(abs(value), std))))
    return _written(value, places, min(digits, 12))


def percent(value: float, digits: int = 3) -> str:
    return f"{figure(value, digits)} %" if math.isfinite(value) else figure(value)


def count(value: int) -> str:
    return f"{value:,}".replace(",", "\u202f")


def unit(parameter: str, sliding: set[str]) -> str:
    """Of a standard parameter, and of the base parameter that has its name; declared forces tell none."""
    owner, _, kind = parameter.rpartition(".")
    if kind in JOINT_PARAMETERS:
        return (SLIDING if owner in sliding else TURNING)[kind]
    if kind not in LINK_PARAMETERS:
        return ""
    return "kg" if kind == "m" else "kg m" if kind.startswith("m") else "kg m²"


def _written(value: float, places: int, digits: int) -> str:
    if places > DECIMALS or places < -6:
        mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
        raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return f"{mantissa}·10{raised}".replace("-", "−")
    text = f"{round(value, places) + 0.0:,.{max(places, 0)}f}"  # + 0.0: zero has no sign
    return text.replace(",", "\u202f").replace("-", "−")
