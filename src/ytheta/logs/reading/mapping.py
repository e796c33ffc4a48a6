"""The meaning of a log's columns: a mapping in TOML, or a dict of the same form, and the conversions to SI units.

Each quantity is converted to the robot's own coordinates and SI units in this order::

    column ──scale──sign──gain (current only)──▶ motor side ──matrix R──▶ joint side ──offset──delay──▶ q, qd, tau

A delay of d seconds means that values were recorded too late: that of time t is the one recorded at t + d. The motor
matrix R is defined by q_motor = R q. Hence q = R⁻¹ q_motor, qd = R⁻¹ qd_motor and tau = Rᵀ tau_motor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ytheta.arguments import check_path
from ytheta.errors import InputError, RobotFileError, suggest_names
from ytheta.files.bounded import read_small_file
from ytheta.files.symbols import parse_scalar
from ytheta.files.toml import describe_value, parse_toml, to_finite_number
from ytheta.logs.log import ColumnOrigin
from ytheta.robot.robot import Robot
from ytheta.shapes import MotorsByJoint, PerJoint, PerSample

QUANTITIES = ("t", "q", "qd", "tau", "current")
# Largest size in bytes of a mapping. Chosen on: reasoning; a mapping has some kB.
MAX_FILE_SIZE = 1 << 20
FACTOR_SECTIONS = ("scale", "sign", "offset", "delay")
# Largest delay in s that can be given. Chosen on: reasoning; longer ones are mistakes, such as milliseconds.
MAX_DELAY = 10.0


# Parsing and checking the values of a column mapping: factors, units, matrices, counts.

Reference = str | int  # a column's name, or its number counted from 0

References = str | tuple[Reference, ...]


@dataclass(frozen=True)
class ColumnMapping:
    """Which column contains which quantity, and how to convert it to SI units. By default, the mapping is empty."""

    t: Reference | None = None
    columns: Mapping[str, References] = field(default_factory=dict)
    rate: float | None = None
    scale: Mapping[str, Factor] = field(default_factory=dict)
    sign: Mapping[str, Factor] = field(default_factory=dict)
    offset: Mapping[str, Factor] = field(default_factory=dict)
    delay: Mapping[str, Factor] = field(default_factory=dict)
    gain: Factor | None = None
    matrix: MotorsByJoint | None = None
    rows: tuple[int, int | None] = (0, None)  # (start, stop)
    skip: int = 0
    topic: str | None = None
    source: str = "mapping"  # name of the mapping's file in error messages
    rows_option: str = ""  # the option that chose the rows, if the mapping did not

    @property
    def has_position_unit(self) -> bool:
        """Whether [scale] gives the unit of positions; if so, this unit is not checked."""
        return "q" in self.scale

    @property
    def has_time_unit(self) -> bool:
        """Whether [scale] t is the factor of a unit of time (s, ms, us, ns); if so, the unit of time is not checked."""
        return all(factor in UNITS["t"].values() for factor in self.scale.get("t", (0.0,)))

    def restrict(self, coordinates: Sequence[str], joints: Sequence[str]) -> ColumnMapping:
        """Return the mapping for some of the coordinates; lists with one number for each coordinate become shorter."""
        if len(joints) == len(coordinates):
            return self
        first = coordinates.index(joints[0]) if joints else 0

        def cut(factor: Factor) -> Factor:
            return factor[first : first + len(joints)] if len(factor) == len(coordinates) else factor

        sections = {name: {key: cut(each) for key, each in getattr(self, name).items()} for name in FACTOR_SECTIONS}
        gain = None if self.gain is None else cut(self.gain)
        scale, sign, offset, delay = (sections[name] for name in FACTOR_SECTIONS)
        return replace(self, scale=scale, sign=sign, offset=offset, delay=delay, gain=gain)


def read_mapping(source: str | Path | Mapping[str, Any] | ColumnMapping | None) -> ColumnMapping:
    """Read a mapping from a TOML file or a dict; None gives an empty mapping."""
    if source is None:
        return ColumnMapping()
    if isinstance(source, ColumnMapping):
        return source
    if isinstance(source, Mapping):
        return _parse_mapping(source, "mapping")
    if not isinstance(source, str | Path):
        raise InputError(
            f"mapping is a value of type {type(source).__name__}; give a TOML file, or a dict such as "
            '{"columns": {"q": "angle{}"}}'
        )
    path = check_path(source, "the mapping")
    return _parse_mapping(_read_toml(path), str(path))


def _read_toml(path: Path) -> dict[str, Any]:
    content = read_small_file(path, "a mapping", max_size=MAX_FILE_SIZE, if_missing="check the path of the mapping")
    try:
        return parse_toml(content, str(path))
    except InputError as error:
        raise InputError(f"{error}; write quoted names such as q = 'angle{{}}' below a line [columns]") from None


def _parse_mapping(values: Mapping[str, Any], source: str) -> ColumnMapping:
    top = Section(values, source)
    columns = top.take_section("columns")
    references = {name: columns.take(name) for name in QUANTITIES}
    columns.refuse_unknown_keys()
    if references["tau"] is not None and references["current"] is not None:
        raise columns.make_error("'tau' and 'current' both give the torque; keep one of them")
    sections = {key: top.take_section(key) for key in FACTOR_SECTIONS}
    gain = top.take_section("gain")
    motor = top.take_section("motor")
    rate = top.take("rate")
    if rate is not None and references["t"] is not None:
        raise top.make_error("'rate' and the column 't' both give the time; keep one of them")
    mapping = ColumnMapping(
        t=None if references["t"] is None else _check_reference(columns, "t", references["t"]),
        columns={k: _check_references(columns, k, v) for k, v in references.items() if k != "t" and v is not None},
        rate=None if rate is None else top.parse_rate("rate", rate),
        scale=sections["scale"].take_factors(QUANTITIES, UNITS),
        sign=sections["sign"].take_factors(QUANTITIES[1:]),
        offset=sections["offset"].take_factors(QUANTITIES[:4]),
        delay=sections["delay"].take_factors(QUANTITIES[1:4]),
        gain=gain.take_factors(("current",)).get("current"),
        matrix=motor.take_matrix("matrix"),
        rows=_take_rows(top),
        skip=top.parse_count("skip", top.take("skip") or 0),
        topic=_take_topic(top),
        source=source,
    )
    motor.refuse_unknown_keys()
    top.refuse_unknown_keys()
    for key, factor in mapping.sign.items():
        if any(abs(value) != 1.0 for value in factor):
            raise sections["sign"].make_error(f"{key!r} should contain only 1 and -1; other factors belong in [scale]")
    for key, factor in mapping.delay.items():
        if any(abs(value) > MAX_DELAY for value in factor):
            raise sections["delay"].make_error(
                f"{key!r} should be in seconds, between -{MAX_DELAY:g} and {MAX_DELAY:g}"
            )
    for name, factors in (("scale", mapping.scale), ("offset", mapping.offset)):
        if len(factors.get("t", ())) > 1:
            raise sections[name].make_error("'t' should be one number, since all joints have the same time")
    if "current" in mapping.columns and mapping.gain is None:
        raise gain.make_error("torques from currents need gains; add current = [...] in Nm/A")
    if "current" not in mapping.columns:
        unused = [gain] if mapping.gain is not None else []
        unused += [sections[key] for key in ("scale", "sign") if "current" in getattr(mapping, key)]
        for section in unused:
            raise section.make_error(
                "'current' is set here, but [columns] has no current; add current = … to [columns]"
            )
    return mapping


def _check_reference(section: Section, key: str, value: Any) -> Reference:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise section.make_error(f"{key!r} should be a column name or a column number from 0, not {describe_value(value)}")


def _check_references(section: Section, key: str, value: Any) -> References:
    if isinstance(value, str):
        if value.count("{}") != 1:
            raise section.make_error(
                f"{key!r} should contain {{}} once, in place of the joint's number, such as '{key}{{}}'"
            )
        return value
    if isinstance(value, Sequence) and value:
        return tuple(_check_reference(section, key, entry) for entry in value)
    shown = describe_value(value)
    raise section.make_error(f"{key!r} should be a list of columns or a text such as '{key}{{}}', not {shown}")


def _take_rows(top: Section) -> tuple[int, int | None]:
    value = top.take("rows")
    if value is None:
        return 0, None
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise top.make_error(f"'rows' should be [start, stop], with row stop excluded, not {describe_value(value)}")
    start, stop = (top.parse_count("rows", entry) for entry in value)
    if stop <= start:
        raise top.make_error(f"'rows' = [{start}, {stop}] is empty; stop should be greater than start")
    return start, stop


def _take_topic(top: Section) -> str | None:
    value = top.take("topic")
    if value is None or isinstance(value, str):
        return value
    raise top.make_error(f"'topic' should be the name of a topic in quotes, not {describe_value(value)}")


Factor = tuple[float, ...]  # one factor for all joints, or one for each joint

# Smallest and largest sampling rate in Hz that can be given. Chosen on: reasoning; numbers beyond are mistakes, and
# their powers would be 0 or infinite.
MIN_RATE, MAX_RATE = 1e-6, 1e9

_POSITION_UNITS = {
    "radians": 1.0,
    "rad": 1.0,
    "degrees": math.pi / 180,
    "deg": math.pi / 180,
    "metres": 1.0,
    "mm": 1e-3,
}
UNITS: dict[str, dict[str, float]] = {
    "t": {"s": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "q": _POSITION_UNITS,
    "qd": _POSITION_UNITS | {"rpm": 2 * math.pi / 60},
    "tau": {"Nm": 1.0, "Nmm": 1e-3, "mNm": 1e-3},
    "current": {"A": 1.0, "mA": 1e-3},
}


class Section:
    """One table of a mapping. Keys are removed as they are read; any keys left at the end are unknown."""

    def __init__(self, values: Mapping[str, Any], source: str) -> None:
        self._values = dict(values)
        self._known: set[str] = set()
        self.source = source

    def make_error(self, text: str) -> InputError:
        return InputError(f"{self.source}: {text}")

    def take(self, key: str) -> Any:
        """Remove a key and return its value; None if the key is absent."""
        self._known.add(key)
        return self._values.pop(key, None)

    def take_section(self, key: str) -> Section:
        """Remove a key and return the table under it; an empty table if the key is absent."""
        value = self.take(key)
        if value is not None and not isinstance(value, Mapping):
            raise self.make_error(f"{key!r} should be a table; write [{key}] above its keys")
        return Section(value or {}, f"{self.source}, [{key}]")

    def refuse_unknown_keys(self) -> None:
        for key in self._values:
            raise self.make_error(f"the key {key!r} is unknown{suggest_names(key, self._known)}")

    def take_factors(
        self, keys: Sequence[str], units: Mapping[str, Mapping[str, float]] | None = None
    ) -> dict[str, Factor]:
        """Return the factors of these quantities, given as a number, a unit or a list of these. Refuse other keys."""
        factors = {key: self._parse_factor(key, value, units) for key in keys if (value := self.take(key)) is not None}
        self.refuse_unknown_keys()
        return factors

    def parse_rate(self, key: str, value: Any) -> float:
        """Return a sampling rate in Hz."""
        number = self._parse_number(key, value)
        if number <= 0.0:
            raise self.make_error(f"{key!r} should be positive, not {number:g}")
        if not MIN_RATE <= number <= MAX_RATE:
            raise self.make_error(f"{key!r} should be between {MIN_RATE:g} and {MAX_RATE:g} Hz, not {number:g}")
        return number

    def parse_count(self, key: str, value: Any) -> int:
        """Return ``value`` if it is a non-negative integer; otherwise raise InputError."""
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        raise self.make_error(f"{key!r} requires non-negative integers, not {describe_value(value)}")

    def take_matrix(self, key: str) -> MotorsByJoint | None:
        """Remove a key and return its value as an invertible square matrix; None if the key is absent."""
        value = self.take(key)
        if value is None:
            return None
        rows = value.tolist() if isinstance(value, np.ndarray) else value
        if not isinstance(rows, Sequence) or not all(isinstance(r, Sequence) and len(r) == len(rows) for r in rows):
            raise self.make_error(f"{key!r} should have as many rows as columns, one for each motor")
        matrix = np.array([[self._parse_number(key, entry) for entry in row] for row in rows], dtype=np.float64)
        if not len(matrix) or np.linalg.matrix_rank(matrix) < len(matrix):
            raise self.make_error(f"{key!r} cannot be inverted; its rows should be linearly independent")
        return matrix

    def _parse_factor(self, key: str, value: Any, units: Mapping[str, Mapping[str, float]] | None) -> Factor:
        if isinstance(value, np.ndarray):
            value = value.tolist()
        entries = value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
        if not entries:
            raise self.make_error(f"{key!r} is an empty list; give one number for all joints, or one for each")
        known = None if units is None else units[key]
        return tuple(self._parse_number_or_unit(key, entry, known) for entry in entries)

    def _parse_number_or_unit(self, key: str, value: Any, known: Mapping[str, float] | None) -> float:
        """Return a number, or the factor of a unit. ``known`` is None if units are not allowed."""
        if known is None or not isinstance(value, str) or any(char.isdigit() for char in value):
            return self._parse_number(key, value)
        if value not in known:
            raise self.make_error(f"{key!r} = {value!r} is not a unit{suggest_names(value, known)}")
        return known[value]

    def _parse_number(self, key: str, value: Any) -> float:
        """Return a finite number; ``value`` may be an expression in pi such as '-pi/2'."""
        if isinstance(value, str):
            try:
                value = parse_scalar(value, frozenset())
            except RobotFileError:
                raise self.make_error(
                    f"{key!r} = {value!r} is not a number; write a number or a multiple of pi"
                ) from None
        number = to_finite_number(value)
        if number is None:
            raise self.make_error(f"{key!r} should be a finite number, not {describe_value(value)}")
        return number


# Conversion of columns to SI units: scale, sign, gain and offset of each joint, from a mapping and from names.

# Names of units by their factor in SI units: of revolute joints, and of prismatic joints if they differ.
UNIT_NAMES = {
    "t": {1.0: "s", 1e-3: "ms", 1e-6: "us", 1e-9: "ns"},
    "q": {1.0: "rad", np.pi / 180: "deg"},
    "qd": {1.0: "rad/s", np.pi / 180: "deg/s", 2 * np.pi / 60: "rpm"},
    "tau": {1.0: "Nm", 1e-3: "mNm"},
    "current": {1.0: "A", 1e-3: "mA"},
}
PRISMATIC_UNIT_NAMES = {
    "q": {1.0: "m", 1e-3: "mm"},
    "qd": {1.0: "m/s", 1e-3: "mm/s"},
    "tau": {1.0: "N", 1e-3: "mN"},
}


# Times since 1970 of the years 2000 to 2100, and steps between samples, in s. Chosen on: reasoning; in another unit
# than its own, a time since 1970 lies in other centuries, and a time since the start of a computer that looks like a
# date has other steps.
EPOCH_TIMES, EPOCH_STEPS = (946_684_800.0, 4_102_444_800.0), (1e-5, 1.0)
EPOCH_UNITS = {"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


@dataclass(frozen=True, eq=False)
class Conversion:
    """Numbers of each joint with which the columns of one quantity are converted; ``gain`` is that of currents."""

    scale: PerJoint
    sign: PerJoint
    gain: PerJoint | None
    offset: PerJoint
    delay: PerJoint

    @property
    def factor(self) -> PerJoint:
        """The product of scale, sign and gain."""
        factor = self.scale * self.sign
        return factor if self.gain is None else factor * self.gain


def find_conversion(key: str, mapping: ColumnMapping, units: Mapping[str, str], joints: int) -> Conversion:
    """Return the conversion of a quantity: t, q, qd, tau or current; ``units`` are those in the names of columns."""

    def broadcast(section: str, factor: Factor | None, default: float) -> PerJoint:
        if factor is None:
            return np.full(joints, default)
        if len(factor) not in (1, joints):
            raise InputError(
                f"{mapping.source}, [{section}]: a list of {len(factor)} numbers for {joints} joints; "
                "give one number for all joints, or one for each"
            )
        return np.broadcast_to(np.array(factor, dtype=np.float64), (joints,))

    scale = mapping.scale.get(key)
    if scale is None and key in units:
        scale = (_get_unit_factor(key, units[key]),)
    return Conversion(
        scale=broadcast("scale", scale, 1.0),
        sign=broadcast("sign", mapping.sign.get(key), 1.0),
        gain=broadcast("gain", mapping.gain, 1.0) if key == "current" else None,
        offset=broadcast("offset", mapping.offset.get("tau" if key == "current" else key), 0.0),
        delay=broadcast("delay", mapping.delay.get("tau" if key == "current" else key), 0.0),
    )


def list_corrections(mapping: ColumnMapping) -> dict[str, dict[str, Factor]]:
    """Return what a mapping changes beyond units: other factors, reversed signs, offsets and delays, by quantity."""
    neutral = {"sign": (1.0,), "offset": (0.0,), "delay": (0.0,)}
    corrections: dict[str, dict[str, Factor]] = {}
    for section in FACTOR_SECTIONS:
        for key, factor in getattr(mapping, section).items():
            known = neutral.get(section, tuple(UNITS[key].values()))
            if any(value not in known for value in factor):
                corrections.setdefault(section, {})[key] = factor
    return corrections


def find_epoch_unit(t: PerSample) -> str:
    """Return the unit of times since 1970 that are not in seconds; empty if they are, or are no such times."""
    finite = t[np.isfinite(t)]
    steps = np.diff(finite)
    if not np.any(steps > 0.0):
        return ""
    first, step = float(finite[0]), float(np.median(steps[steps > 0.0]))
    for unit in EPOCH_UNITS:
        factor = UNITS["t"][unit]
        if all(low <= each * factor <= high for each, (low, high) in ((first, EPOCH_TIMES), (step, EPOCH_STEPS))):
            return unit
    return ""


def describe_columns(key: str, names: Mapping[str, str], conversion: Conversion, robot: Robot) -> list[ColumnOrigin]:
    """Return the origins of the columns of a quantity; ``names`` are those of the columns by joint.

    The only name of time belongs to the joint "".
    """
    origins = []
    for k, (joint, name) in enumerate(names.items()):
        scale = float(conversion.scale[k])
        known = UNIT_NAMES[key]
        if joint in robot.prismatic_joints:
            known = PRISMATIC_UNIT_NAMES.get(key, known)
        origins.append(
            ColumnOrigin(
                quantity="tau" if key == "current" else key,
                joint=joint,
                column=name,
                unit=next((unit for factor, unit in known.items() if np.isclose(factor, scale, rtol=1e-12)), ""),
                factor=scale,
                sign=float(conversion.sign[k]),
                gain=None if conversion.gain is None else float(conversion.gain[k]),
                offset=float(conversion.offset[k]),
                delay=float(conversion.delay[k]),
            )
        )
    return origins


def _get_unit_factor(key: str, unit: str) -> float:
    known = UNITS[key]
    if unit not in known:
        raise InputError(
            f"the names of the columns of {key!r} contain the unit {unit!r}{suggest_names(unit, known)}; write "
            f"[scale] {key} = … in a mapping"
        )
    return known[unit]
