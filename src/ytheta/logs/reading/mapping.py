"""What a log's columns mean: a mapping written in TOML, or the same as a dict.

Every quantity is turned into the robot's own coordinates and SI units in this order::

    column ──scale──sign──gain (current only)──▶ motor side ──matrix R──▶ joint side ──offset──▶ q, qd, tau

With a motor matrix, motor angle = R · joint angle, hence q = R⁻¹ q_motor, qd = R⁻¹ qd_motor and tau = Rᵀ tau_motor.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ytheta.errors import InputError
from ytheta.files.toml_table import describe_value
from ytheta.logs.reading.mapping_values import UNITS, Factor, Reference, Section, count_of
from ytheta.shapes import MotorsByJoint

QUANTITIES = ("t", "q", "qd", "tau", "current")
MAX_FILE_SIZE = 1 << 20

References = str | tuple[Reference, ...]


@dataclass(frozen=True)
class ColumnMapping:
    """Where quantities stand in a file and how they become SI values; empty where the file says it itself."""

    t: Reference | None = None
    columns: Mapping[str, References] = field(default_factory=dict)
    rate: float | None = None
    scale: Mapping[str, Factor] = field(default_factory=dict)
    sign: Mapping[str, Factor] = field(default_factory=dict)
    offset: Mapping[str, Factor] = field(default_factory=dict)
    gain: Factor | None = None
    matrix: MotorsByJoint | None = None
    rows: tuple[int, int | None] = (0, None)
    skip: int = 0
    topic: str | None = None
    place: str = "mapping"

    @property
    def states_units(self) -> bool:
        """Whether someone has said in which unit the positions are, which ends all guessing."""
        return "q" in self.scale

    @property
    def states_clock(self) -> bool:
        """Whether someone has said in which unit time is; a factor that is no unit's says nothing."""
        return all(factor in UNITS["t"].values() for factor in self.scale.get("t", (0.0,)))


def read_mapping(source: str | Path | Mapping[str, Any] | ColumnMapping | None) -> ColumnMapping:
    """A mapping from a TOML file or a dict; None is the empty one."""
    if source is None:
        return ColumnMapping()
    if isinstance(source, ColumnMapping):
        return source
    if isinstance(source, Mapping):
        return _mapping(source, "mapping")
    path = Path(source)
    return _mapping(_parsed(path), str(path))


def _parsed(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MAX_FILE_SIZE:
            raise InputError(f"{path} is larger than a mapping can be; check that this is the right file")
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"{path} is not a file that exists; check the path of the mapping") from None
    except (OSError, ValueError) as error:  # tomllib's error and UnicodeDecodeError are ValueErrors
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read as a mapping: {reason}; see docs/logs.md for its form") from None


def _mapping(values: Mapping[str, Any], place: str) -> ColumnMapping:
    top = Section(values, place)
    columns = top.section("columns")
    chosen = {name: columns.taken(name) for name in QUANTITIES}
    columns.finish()
    if chosen["tau"] is not None and chosen["current"] is not None:
        raise columns.error("'tau' and 'current' both give the torque; keep one of them")
    sections = {key: top.section(key) for key in ("scale", "sign", "offset")}
    gain = top.section("gain")
    motor = top.section("motor")
    rate = top.taken("rate")
    if rate is not None and chosen["t"] is not None:
        raise top.error("'rate' and the column 't' both give the time; keep one of them")
    mapping = ColumnMapping(
        t=None if chosen["t"] is None else _reference(columns, "t", chosen["t"]),
        columns={k: _references(columns, k, v) for k, v in chosen.items() if k != "t" and v is not None},
        rate=None if rate is None else top.positive("rate", rate),
        scale=sections["scale"].factors(QUANTITIES, UNITS),
        sign=sections["sign"].factors(QUANTITIES[1:]),
        offset=sections["offset"].factors(QUANTITIES[:4]),
        gain=gain.factors(("current",)).get("current"),
        matrix=motor.matrix("matrix"),
        rows=_rows(top),
        skip=count_of(top, "skip", top.taken("skip") or 0),
        topic=_topic(top),
        place=place,
    )
    motor.finish()
    top.finish()
    for key, factor in mapping.sign.items():
        if any(abs(value) != 1.0 for value in factor):
            raise sections["sign"].error(f"{key!r} should hold 1 and -1 only; other factors belong into [scale]")
    if "current" in mapping.columns and mapping.gain is None:
        raise gain.error("the torque comes from currents and needs their gains; add current = [...] in Nm/A")
    if "current" not in mapping.columns:
        idle = [gain] if mapping.gain is not None else []
        idle += [sections[key] for key in ("scale", "sign") if "current" in getattr(mapping, key)]
        for section in idle:
            raise section.error("'current' is given here, and no column of currents; add current = … to [columns]")
    return mapping


def _reference(section: Section, key: str, value: Any) -> Reference:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise section.error(f"{key!r} should be a column name or a column number from 0, not {describe_value(value)}")


def _references(section: Section, key: str, value: Any) -> References:
    if isinstance(value, str):
        if value.count("{}") != 1:
            raise section.error(f"{key!r} should hold one {{}} where the joint's number stands, such as '{key}{{}}'")
        return value
    if isinstance(value, Sequence) and value:
        return tuple(_reference(section, key, entry) for entry in value)
    raise section.error(f"{key!r} should be a list of columns or a text such as '{key}{{}}', not {describe_value(value)}")


def _rows(top: Section) -> tuple[int, int | None]:
    value = top.taken("rows")
    if value is None:
        return 0, None
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise top.error(f"'rows' should be [first, last], the last one left out, not {describe_value(value)}")
    first, last = (count_of(top, "rows", entry) for entry in value)
    if last <= first:
        raise top.error(f"'rows' = [{first}, {last}] is empty; the first row should come before the last")
    return first, last


def _topic(top: Section) -> str | None:
    value = top.taken("topic")
    if value is None or isinstance(value, str):
        return value
    raise top.error(f"'topic' should be the name of a topic in quotes, not {describe_value(value)}")
