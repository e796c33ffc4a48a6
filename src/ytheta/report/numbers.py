"""How numbers are written."""

from __future__ import annotations

import math

from ytheta.conventions import JOINT_PARAMETERS, LINK_PARAMETERS

NONE = "–"
HUGE = 999.0  # percent; a larger standard deviation says that the value is near zero, and nothing more
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
    return figure(value, digits_beside(value, std))


def digits_beside(value: float, std: float) -> int:
    """Significant digits of a value: to the second one of its standard deviation, but two at least."""
    if not (math.isfinite(std) and math.isfinite(value)) or std <= 0.0 or value == 0.0:
        return 3
    return min(max(math.floor(math.log10(abs(value))) - math.floor(math.log10(std)) + 2, 2), 12)


def plain(value: float, digits: int = 3, *, zeros: bool = False) -> str:
    """The same for a terminal, without an exponent where a person would not write one; ``zeros``: at the end too."""
    if not math.isfinite(value):
        return figure(value)
    text = f"{value:{'#' if zeros else ''}.{digits}g}".rstrip(".").replace(".e", "e")
    return f"{float(text):.0f}" if "e+0" in text else text


def share(value: float) -> str:
    """A standard deviation in percent of its value, for a terminal."""
    return f"> {HUGE:g}" if HUGE < value < math.inf else plain(value)


def percent(value: float, digits: int = 3) -> str:
    return f"{figure(value, digits)} %" if math.isfinite(value) else figure(value)


def count(value: int) -> str:
    return f"{value:,}".replace(",", "\u202f")


def unit(parameter: str, sliding: frozenset[str]) -> str:
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
