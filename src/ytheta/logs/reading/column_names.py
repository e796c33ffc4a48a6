"""The meaning of column names: quantity, joint or number, and unit.

A name consists of words and one index, which is the name of a joint or a number: ``q1``, ``tau_J[0]``, ``elbow.pos``,
``actual_q_0``, ``/joint_states/panda_joint1/position``. Words that are not in the tables below make a name unknown, so
that a column is never taken for something else. Before the last ``/`` or ``.`` stands the scope (a topic, a struct, a
group), which may have any name. Names that differ only in their index form a family.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

# Largest number of characters of a name that is parsed. Chosen on: rule of thumb.
MAX_NAME_LENGTH = 200

_BRACKETED_UNIT = re.compile(r"\s*[\[(]\s*([^\[\]()\d]{1,10})\s*[\])]\s*$")
_LAST_NUMBER = re.compile(r"(?<!\d)(\d{1,4})(?=\D*$)")
_WORD_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z][a-z]{2})|(?<=[a-z]{3})(?=[A-Z])")  # jointPosition, actualQ
_SEPARATOR = re.compile(r"[^a-z0-9°%]+")
# Signs that look alike: micro and the Greek letter mu, the degree sign and the ordinal indicator.
_SIGNS = str.maketrans({"\N{MICRO SIGN}": "u", "\N{GREEK SMALL LETTER MU}": "u", "º": "°"})
_INDEX = "{}"


@dataclass(frozen=True)
class ColumnName:
    """A parsed name. ``index`` is the number or the joint of the column; ``family`` has {} in place of it.

    ``is_command`` is true for values that a controller wants or computes. ``unit`` is empty if the name has none.
    ``by_unit`` is true if only the unit says which quantity it is.
    """

    quantity: str
    family: str
    index: int | str
    scope: tuple[str, ...] = ()
    is_command: bool = False
    unit: str = ""
    by_unit: bool = False


@dataclass(frozen=True)
class _Words:
    """The words of a name without its index: what they say about quantity, unit and origin."""

    quantities: frozenset[str]
    units: tuple[str, ...] = ()
    is_command: bool = False
    is_speed: bool = False  # the unit is one per second
    has_joint_word: bool = False


@dataclass(frozen=True)
class _BracketedUnit:
    """The unit in brackets at the end of a name; ``name`` is empty if there is none."""

    name: str = ""
    is_speed: bool = False  # a unit per second

    @property
    def names(self) -> list[str]:
        return [self.name] if self.name else []


@dataclass(frozen=True)
class NameParser:
    """Parses the names of columns for a robot with these joints."""

    joints: tuple[str, ...]
    _pattern: re.Pattern[str] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        longest_first = sorted({joint.casefold() for joint in self.joints if joint}, key=len, reverse=True)
        alternatives = "|".join(map(re.escape, longest_first))
        pattern = re.compile(rf"(?<![a-z0-9])({alternatives})(?![a-z0-9])") if alternatives else None
        object.__setattr__(self, "_pattern", pattern)

    def parse(self, name: str) -> ColumnName | None:
        """Return the meaning of a name; None if it is not that of a quantity of a joint."""
        text, unit = _split_unit(name)
        if len(text) > MAX_NAME_LENGTH or _INDEX in text:
            return None
        lower = text.casefold()
        if self._pattern is not None:
            by_name = {joint.casefold(): joint for joint in self.joints}
            for match in self._pattern.finditer(lower):
                parsed = _parse_template(lower, match, by_name[match.group(1)], unit)
                if parsed is not None:
                    return parsed
        broken = _WORD_BREAK.sub("_", text).casefold()
        number = _LAST_NUMBER.search(broken)
        return None if number is None else _parse_template(broken, number, int(number.group(1)), unit)


def parse_time_name(name: str) -> tuple[tuple[str, ...], str] | None:
    """Return scope and unit of a column of time; None if the name is another one."""
    text, bracketed = _split_unit(name)
    if len(text) > MAX_NAME_LENGTH:
        return None
    *scope, last = re.split(r"[/.]", text.casefold().strip("/."))
    words = _split_words(last)
    known = UNIT_WORDS | {"s": "s"}
    units = [known[word] for word in words[1:] if word in known]
    if not words or words[0] not in TIME_WORDS or len(units) != len(words) - 1 or len(units) > 1:
        return None
    return tuple(part for part in scope if part), units[0] if units else bracketed.name


def parse_label_name(name: str) -> tuple[tuple[str, ...], int | None] | None:
    """Return scope and number of an entry whose texts are the names of joints; None if the name is another one.

    The number is None if the entry is a list of all names.
    """
    if len(name) > MAX_NAME_LENGTH:
        return None
    parts = [part for part in re.split(r"[/.]", _WORD_BREAK.sub("_", name.strip()).casefold()) if part]
    number = _LAST_NUMBER.search(parts[-1]) if parts else None
    if number is not None:
        parts[-1] = f"{parts[-1][: number.start()]} {parts[-1][number.end() :]}"
        if not _split_words(parts[-1]):  # name.0
            parts.pop()
    words = set(_split_words(parts[-1])) if parts else set()
    if not words & LABEL_NOUNS or not words <= LABEL_WORDS:
        return None
    return tuple(parts[:-1]), None if number is None else int(number.group(1))


def is_command_name(name: str) -> bool:
    """Return whether the name of a topic says that a controller wants its values, as /joint_commands does."""
    return bool(set(_split_words(_WORD_BREAK.sub("_", name).casefold())) & (COMMAND_WORDS - {"d"}))


def find_scope(name: str, joints: Sequence[str]) -> tuple[str, ...]:
    """Return the scope of a column; that of an unknown name is what stands before its last ``/`` or ``.``."""
    parsed = NameParser(tuple(joints)).parse(name)
    if parsed is not None:
        return parsed.scope
    return tuple(part for part in re.split(r"[/.]", name.strip().casefold())[:-1] if part)


def drop_quantity(scope: Sequence[str]) -> tuple[str, ...]:
    """Return a scope without a quantity at its end, as in ``arm/effort`` or ``observation.state``."""
    words = [_split_words(part) for part in scope]
    last = _interpret_words(words[-1]) if words else None
    if (last is not None and last.quantities) or tuple(word for part in words for word in part) in POSITION_SCOPES:
        return tuple(scope[:-1])
    return tuple(scope)


def _split_unit(name: str) -> tuple[str, _BracketedUnit]:
    """Return a name without its unit in brackets, and the unit."""
    text = name.strip()[: MAX_NAME_LENGTH + 1].lstrip("%#").translate(_SIGNS)  # %time begins a header as a comment
    match = _BRACKETED_UNIT.search(text)
    word = match.group(1).strip().casefold() if match else ""
    if match is None or word not in BRACKETED_UNITS:
        # Signs without letters, such as [-] of a number without a unit, are a unit that is not known.
        return (f"{text} %" if word and not _split_words(word) else text), _BracketedUnit()
    return text[: match.start()], _BracketedUnit(BRACKETED_UNITS[word], word.endswith(SPEED_UNIT_ENDS))


def _parse_template(text: str, match: re.Match[str], index: int | str, unit: _BracketedUnit) -> ColumnName | None:
    family = f"{text[: match.start()]}{_INDEX}{text[match.end() :]}"
    parts = [part for part in re.split(r"[/.]", family) if part]
    scope = tuple(part for part in parts[:-1] if _INDEX not in part)
    core = [part for part in parts if _INDEX in part or part is parts[-1]]
    if scope and set(_split_words(parts[-1])) <= SIGNAL_WORDS and _split_words(parts[-1]):
        return _parse_signal(parts, index, unit, family)
    words = _interpret_words([word for part in core for word in _split_words(part)])
    if words is None:
        return None
    scope_words = [_split_words(part) for part in scope]
    # A struct may be called d, but q_d is a desired position.
    is_command = words.is_command or any(word in COMMAND_WORDS - {"d"} for part in scope_words for word in part)
    if any(word in OTHER_SCOPES for part in scope_words for word in part):
        return None
    quantities = words.quantities
    if not quantities and scope:  # the quantity is a scope with one entry for each joint, such as effort.elbow
        last = _interpret_words(scope_words[-1])
        quantities = last.quantities if last is not None else quantities
    if not quantities and _is_position_scope([*scope_words, *(_split_words(part) for part in core)]):
        quantities = frozenset({"q"})
    by_unit = not quantities and (isinstance(index, str) or words.has_joint_word)
    if by_unit:
        quantities = _find_unit_quantity(words, unit)
    if len(quantities) == 2:  # "current" also means "present", as in current_position
        quantities -= {"current"}
    if len(quantities) != 1 or (words.is_speed and quantities != {"qd"}):
        return None
    units = [*words.units, *unit.names]
    if len(units) > 1:
        return None
    known = units[0] if units else ""
    if unit.name:  # it was cut off, but distinguishes families too
        family = f"{family} [{unit.name}{'/s' if by_unit and unit.is_speed else ''}]"
    return ColumnName(next(iter(quantities)), family, index, scope, is_command, known, by_unit)


def _find_unit_quantity(words: _Words, unit: _BracketedUnit) -> frozenset[str]:
    """Return the quantity of the unit in a name or, in brackets, after it; nothing if it has no unit, or several."""
    units = [*words.units, *unit.names]
    if len(units) != 1:
        return frozenset()
    if words.is_speed or unit.is_speed:
        return frozenset({"qd"})
    return frozenset({UNIT_QUANTITIES[units[0]]} if units[0] in UNIT_QUANTITIES else ())


def _parse_signal(parts: Sequence[str], index: int | str, unit: _BracketedUnit, family: str) -> ColumnName | None:
    """Return the meaning of the numbers of a signal, whose quantity is in the name of the struct or topic around it."""
    scope = [part for part in parts[:-1] if _INDEX not in part]
    while scope and set(_split_words(scope[-1])) <= SIGNAL_WORDS:
        scope.pop()
    words = _interpret_words(_split_words(scope[-1])) if scope else None
    all_words = {word for part in scope for word in _split_words(part)}
    if words is None or len(words.quantities) != 1 or all_words & OTHER_SCOPES:
        return None
    units = [*words.units, *unit.names]
    is_command = words.is_command or bool(all_words & (COMMAND_WORDS - {"d"}))
    known = units[0] if len(units) == 1 else ""
    return ColumnName(next(iter(words.quantities)), family, index, tuple(scope), is_command, known)


def _interpret_words(words: list[str]) -> _Words | None:
    """Return what words say; None if one of them is unknown."""
    quantities: set[str] = set()
    words, speed = _split_speed_unit(words)
    units = [speed] if speed else []
    is_command = False
    for word in words:
        quantity = next((key for key, known in QUANTITY_WORDS.items() if word in known), None)
        if quantity is not None:
            quantities.add(quantity)
        elif word in UNIT_WORDS:
            units.append(UNIT_WORDS[word])
        elif word in COMMAND_WORDS:
            is_command = True
        elif word not in NEUTRAL_WORDS and word not in ("observation", "observations"):
            return None
    has_joint_word = any(word in JOINT_WORDS for word in words)
    return _Words(frozenset(quantities), tuple(units), is_command, bool(speed), has_joint_word)


def _split_speed_unit(words: list[str]) -> tuple[list[str], str]:
    """Return the words without a unit of speed at their end, and this unit; it is empty if there is none."""
    if words and words[-1] in SPEED_WORDS:
        return words[:-1], SPEED_WORDS[words[-1]]
    if words and words[-1] in SECOND_WORDS:
        rest = words[:-2] if words[-2:-1] == ["per"] else words[:-1]
        if rest and rest[-1] in SPEED_UNITS:
            return rest[:-1], SPEED_UNITS[rest[-1]]
    return words, ""


def _is_position_scope(parts: Sequence[Sequence[str]]) -> bool:
    """Whether the words begin with observation.state."""
    words = tuple(word for part in parts for word in part)
    return any(words[:2] == known for known in POSITION_SCOPES)


def _split_words(text: str) -> list[str]:
    return [word for word in _SEPARATOR.split(text.replace(_INDEX, " ")) if word]


# Words in the names of columns: for quantities, time, commands, units and joints.

QUANTITY_WORDS = {
    "q": ("q", "pos", "position", "positions", "qpos", "angle", "angles"),
    "qd": ("qd", "dq", "vel", "velocity", "velocities", "qvel", "qdot", "speed", "speeds"),
    "tau": ("tau", "torque", "effort", "torques", "efforts", "eff", "trq", "tq", "moment", "moments"),
    "current": ("current", "currents", "i", "amps"),
}
TIME_WORDS = ("t", "time", "times", "timestamp", "timestamps", "tout")
# Values that a controller wants or computes. They are never taken for measured ones.
COMMAND_WORDS = frozenset(
    [
        "target",
        "desired",
        "des",
        "cmd",
        "command",
        "commanded",
        "commands",
        "ref",
        "reference",
        "goal",
        "setpoint",
        "sp",
        "action",
        "d",
    ]
)
NEUTRAL_WORDS = frozenset(
    [
        "joint",
        "joints",
        "jnt",
        "j",
        "axis",
        "actual",
        "act",
        "measured",
        "meas",
        "msr",
        "state",
        "states",
        "sensor",
        "raw",
        "filtered",
        "filt",
        "feedback",
        "as",
        "robot",
        "robot0",
    ]
)
# Names of the numbers of a signal whose name is that of the struct or topic around them, as in the structures and the
# timeseries of Simulink (``q.Data``, ``q.signals.values``) and in arrays of ROS (``/positions/data``).
SIGNAL_WORDS = frozenset(["data", "values", "value", "signals"])
# A scope with one of these words does not contain joints.
OTHER_SCOPES = frozenset(
    [
        "tcp",
        "cartesian",
        "cart",
        "ee",
        "eef",
        "end",
        "effector",
        "tool",
        "imu",
        "camera",
        "wrench",
        "motor",
        "motors",
        "odom",
    ]
)
# In LeRobot datasets, observation.state contains positions, unless the names of its entries say something else.
POSITION_SCOPES = (("observation", "state"), ("observations", "state"))
# Words for units, and what they are called in a mapping.
UNIT_WORDS = {
    "rad": "rad", "radian": "rad", "radians": "rad", "deg": "deg", "degree": "deg", "degrees": "deg", "mm": "mm",
    "rpm": "rpm", "nm": "Nm", "mnm": "mNm", "nmm": "Nmm", "ma": "mA", "ms": "ms", "us": "us", "ns": "ns", "sec": "s",
    "seconds": "s", "msec": "ms", "millis": "ms", "milliseconds": "ms", "usec": "us", "micros": "us",
    "microseconds": "us", "nsec": "ns", "nanos": "ns", "nanosec": "ns", "nanoseconds": "ns",
}  # fmt: skip
# Units per second: one word, or a unit with one of the words for seconds after it, as in deg_s and rad_per_sec.
SPEED_WORDS = {"dps": "deg"}
SPEED_UNITS = {word: unit for word, unit in UNIT_WORDS.items() if unit in ("rad", "deg", "mm")} | {"m": "metres"}
SECOND_WORDS = ("s", "sec", "second")
BRACKETED_UNITS = UNIT_WORDS | {
    "rad/s": "rad", "deg/s": "deg", "°": "deg", "°/s": "deg", "m": "metres", "m/s": "metres", "n": "Nm", "n·m": "Nm",
    "n m": "Nm",
    "dps": "deg", "n*m": "Nm", "n.m": "Nm", "a": "A", "s": "s", "mm/s": "mm", "1/min": "rpm",
}  # fmt: skip

# The quantity that a unit has, for names without a word for it, such as Joint 1 [deg]; units per second are velocities.
UNIT_QUANTITIES = {
    "rad": "q", "deg": "q", "metres": "q", "mm": "q", "rpm": "qd", "Nm": "tau", "mNm": "tau", "Nmm": "tau",
    "A": "current", "mA": "current",
}  # fmt: skip
SPEED_UNIT_ENDS = ("/s", "dps", "/min")
JOINT_WORDS = frozenset(["joint", "joints", "jnt", "j", "axis"])

# Words in the names of lists of joint names, and those of which one must be there.
LABEL_WORDS = frozenset(
    ["name", "names", "label", "labels", "joint", "joints", "jnt", "axis", "dof", "state", "states"]
)
LABEL_NOUNS = frozenset(["name", "names", "label", "labels", "joints"])
