"""The meaning of a log's columns: a mapping in TOML, or a dict of the same form.

Each quantity is converted to the robot's own coordinates and SI units in this order::

    column ──scale──sign──gain (current only)──▶ motor side ──matrix R──▶ joint side ──offset──▶ q, qd, tau

The motor matrix R is defined by q_motor = R q. Hence q = R⁻¹ q_motor, qd = R⁻¹ qd_motor and tau = Rᵀ tau_motor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ytheta.errors import InputError
from ytheta.files.bounded import read_small_file
from ytheta.files.paths import check_path
from ytheta.files.toml_document import parse_toml
from ytheta.files.toml_table import describe_value
from ytheta.logs.reading.mapping_values import UNITS, Factor, Reference, Section
from ytheta.shapes import MotorsByJoint

QUANTITIES = ("t", "q", "qd", "tau", "current")
MAX_FILE_SIZE = 1 << 20
FACTOR_SECTIONS = ("scale", "sign", "offset")

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
        return replace(self, scale=sections["scale"], sign=sections["sign"], offset=sections["offset"], gain=gain)


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
    sections = {key: top.take_section(key) for key in ("scale", "sign", "offset")}
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
