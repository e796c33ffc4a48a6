"""Numbers as text for a page or a terminal, and as JSON values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ytheta.conventions import ALL_JOINT_PARAMETERS, LINK_PARAMETERS

if TYPE_CHECKING:
    from ytheta.robot.robot import Robot

NO_VALUE = "–"
# Relative standard deviation in percent above which only "> 999" is shown. Chosen on: reasoning; it only says that the
# value is near zero.
MAX_PERCENT = 999.0
# Powers of ten are used for numbers below 10⁻⁴ with more decimals than this, and for numbers with more final zeros.
MAX_DECIMALS, MAX_FINAL_ZEROS = 6, 6
MIN_PLAIN_EXPONENT = -4
# Ratio of a value to a magnitude such as its standard deviation below which 0 is shown. Chosen on: reasoning; no digit
# of such a value is known.
MAX_NEGLIGIBLE_RATIO = 1e-6
REVOLUTE_UNITS = {"Ia": "kg m²", "fv": "N m s/rad", "fc": "N m", "fo": "N m", "fs": "N m √(s/rad)", "fl": "1"}
PRISMATIC_UNITS = {"Ia": "kg", "fv": "N s/m", "fc": "N", "fo": "N", "fs": "N √(s/m)", "fl": "1"}


def format_number(value: float, digits: int = 3) -> str:
    """Return a number with this many significant digits for a page, such as 0.0123, 12 300 or 4.5·10⁻⁷."""
    if math.isnan(value):
        return NO_VALUE
    if math.isinf(value):
        return "∞" if value > 0.0 else "−∞"
    if value == 0.0:
        return "0"
    leading = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))  # of the rounded value
    places = digits - 1 - leading
    if (places > MAX_DECIMALS and leading < MIN_PLAIN_EXPONENT) or places < -MAX_FINAL_ZEROS:
        mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
        exponent = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return f"{mantissa}·10{exponent}".replace("-", "−")
    text = f"{round(value, places) + 0.0:,.{max(places, 0)}f}"  # + 0.0 removes the sign of -0.0
    return text.replace(",", "\u202f").replace("-", "−")


def is_negligible(value: float, scale: float) -> bool:
    """Return whether a value is a rounding error, and 0 is meant, beside numbers of this magnitude."""
    return math.isfinite(scale) and abs(value) < MAX_NEGLIGIBLE_RATIO * abs(scale)


def format_beside(value: float, scale: float, digits: int = 3) -> str:
    """Return a number for a page; 0 if it is negligible beside ``scale``."""
    return "0" if is_negligible(value, scale) else format_number(value, digits)


def format_with_std(value: float, std: float) -> str:
    """Return a value for a page, rounded to the second significant digit of its standard deviation."""
    return format_beside(value, std, significant_digits(value, std))


def significant_digits(value: float, std: float) -> int:
    """Return the number of digits of a value up to the second digit of its standard deviation, at least two."""
    if not (math.isfinite(std) and math.isfinite(value)) or std <= 0.0 or value == 0.0:
        return 3
    return min(max(math.floor(math.log10(abs(value))) - math.floor(math.log10(std)) + 2, 2), 12)


def format_plain(value: float, digits: int = 3, *, zeros: bool = False) -> str:
    """Return a number for a terminal, if possible without an exponent. ``zeros`` keeps trailing zeros."""
    if not math.isfinite(value):
        return format_number(value)
    text = f"{value:{'#' if zeros else ''}.{digits}g}".rstrip(".").replace(".e", "e")
    return f"{float(text):.0f}" if "e+0" in text else text


def format_relative_std(value: float) -> str:
    """Return a relative standard deviation, given in percent, as text for a terminal."""
    return f"> {MAX_PERCENT:g}" if MAX_PERCENT < value < math.inf else format_plain(value)


def format_percent(value: float, digits: int = 3) -> str:
    """Return a percentage for a page."""
    return f"{format_number(value, digits)} %" if math.isfinite(value) else format_number(value)


def format_count(value: int) -> str:
    """Return a whole number for a page, with narrow spaces between thousands."""
    return f"{value:,}".replace(",", "\u202f")


def parameter_unit(parameter: str, sliding: frozenset[str], *, length_power: int = 0) -> str:
    """Return the unit of a standard parameter, or of the base parameter of that name; empty for declared forces.

    ``sliding`` names the prismatic joints. ``length_power``: the power of a length that multiplies a link parameter.
    """
    owner, _, kind = parameter.rpartition(".")
    if kind in ALL_JOINT_PARAMETERS:
        return (PRISMATIC_UNITS if owner in sliding else REVOLUTE_UNITS)[kind]
    if kind not in LINK_PARAMETERS:
        return ""
    power = (0 if kind == "m" else 1 if kind.startswith("m") else 2) + length_power
    return ("kg", "kg m", "kg m²")[power] if 0 <= power <= 2 else f"kg m^{power}"


def get_torque_unit(robot: Robot, joint: str) -> str:
    """Return the unit of the torque, or force, of a joint."""
    return parameter_unit(f"{joint}.fc", robot.prismatic_joints)


def replace_nonfinite(data: Any) -> Any:
    """Return the same data with None in place of infinite numbers and NaN, which JSON does not have."""
    if isinstance(data, dict):
        return {key: replace_nonfinite(entry) for key, entry in data.items()}
    if isinstance(data, list):
        return [replace_nonfinite(entry) for entry in data]
    if isinstance(data, float):
        return float(data) if math.isfinite(data) else None
    return data
