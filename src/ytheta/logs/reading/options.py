"""Options of reading a log that need no mapping: degrees, rows, sampling rate, gains of currents, topic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.arguments import check_count, check_kind, check_number
from ytheta.errors import InputError, suggest_names
from ytheta.logs.reading.mapping import ColumnMapping
from ytheta.logs.reading.mapping_values import MAX_RATE, MIN_RATE, Factor
from ytheta.robot.robot import Robot

if TYPE_CHECKING:
    GainInput = float | Sequence[float] | Mapping[str, float] | None
    RowsInput = Sequence[int | None] | None
else:  # a value of another type is refused with a sentence that says what is accepted
    GainInput = RowsInput = Any

DEGREE = math.pi / 180


@dataclass(frozen=True)
class ReadingOptions:
    """How to read a log, in addition to a mapping; an option that the mapping contains too is an error.

    Attributes
    ----------
    degrees  whether positions and velocities of revolute joints are in degrees and degrees per second
    rows     (start, stop): rows from ``start``, counted from 0, up to but not including ``stop``; None on either side
             for the first and the last row
    rate     sampling rate in Hz, in place of a time column
    gain     torque per current in Nm/A at the joint (torque constant × gear ratio): one for all joints, one for each,
             or a dict by joint
    topic    topic of a bag, or group or struct of a file, that contains the log
    """

    degrees: bool = False
    rows: RowsInput = None
    rate: float | None = None
    gain: GainInput = None
    topic: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the options that are set."""
        return tuple(name for name, value in vars(self).items() if value is not None and value is not False)

    def refuse_without_log(self, mapping: object) -> None:
        """Raise InputError if a mapping or an option is given, although there is no log."""
        for name in (*(["a mapping"] if mapping is not None else []), *self.names):
            raise InputError(f"{name} is given without a log; give the log, too, or remove it")

    def add_to(self, mapping: ColumnMapping, robot: Robot) -> ColumnMapping:
        """Return a mapping that contains these options too."""
        check_kind("degrees", self.degrees, bool, "True or False")
        for name, is_set in (
            ("degrees", "q" in mapping.scale or "qd" in mapping.scale),
            ("rows", mapping.rows != (0, None)),
            ("rate", mapping.rate is not None or mapping.t is not None),
            ("gain", mapping.gain is not None or "tau" in mapping.columns),
            ("topic", mapping.topic is not None),
        ):
            if name in self.names and is_set:
                place = {"degrees": "[scale]", "rate": "rate or [columns] t", "gain": "[gain] or [columns] tau"}
                raise InputError(
                    f"{name} is given, but {mapping.source} contains {place.get(name, name)} too; keep one of the two"
                )
        if self.topic is not None:
            check_kind("topic", self.topic, str, 'the name of a topic, such as "/joint_states"')
        changes: dict[str, Any] = {}
        if self.degrees:
            factors = tuple(1.0 if joint in robot.prismatic_joints else DEGREE for joint in robot.actuated)
            changes["scale"] = {**mapping.scale, "q": factors, "qd": factors}
        if self.rows is not None:
            changes |= {"rows": _check_rows(self.rows), "rows_option": "--rows"}
        if self.rate is not None:
            form = f"a sampling rate between {MIN_RATE:g} and {MAX_RATE:g} Hz, such as 500"
            changes["rate"] = check_number("rate", self.rate, form, allow=lambda hertz: MIN_RATE <= hertz <= MAX_RATE)
        if self.gain is not None:
            # The coordinates of a floating base and of sensors have no motors.
            others = {*robot.base_coordinates, *robot.sensor_coordinates}
            joints = tuple(joint for joint in robot.actuated if joint not in others)
            changes["gain"] = _check_gain(self.gain, joints)
        if self.topic is not None:
            changes["topic"] = self.topic
        return replace(mapping, **changes)


def _check_rows(rows: Any) -> tuple[int, int | None]:
    form = "(start, stop), such as (600, 3500), with row stop excluded"
    if isinstance(rows, str) or not isinstance(rows, Sequence) or len(rows) != 2:
        raise InputError(f"rows is {rows!r}; give {form}")
    start = 0 if rows[0] is None else check_count("rows", rows[0], form, minimum=0)
    stop = None if rows[1] is None else check_count("rows", rows[1], form, minimum=0)
    if stop is not None and stop <= start:
        raise InputError(f"rows = ({start}, {stop}) is empty; stop should be greater than start")
    return start, stop


def _check_gain(gain: Any, joints: tuple[str, ...]) -> Factor:
    form = "a torque per current in Nm/A other than 0"
    if isinstance(gain, Mapping):
        for name in gain:
            if name not in joints:
                raise InputError(f"gain: the robot has no actuated coordinate {name!r}{suggest_names(name, joints)}")
        if missing := [joint for joint in joints if joint not in gain]:
            raise InputError(f"gain: there is no gain of {', '.join(missing)}; give one for each joint")
        gain = [gain[joint] for joint in joints]
    values = list(gain) if isinstance(gain, Sequence | np.ndarray) and not isinstance(gain, str) else [gain]
    if len(values) not in (1, len(joints)):
        raise InputError(
            f"gain has {len(values)} numbers, but the robot has {len(joints)} actuated coordinates "
            f"({', '.join(joints)}); give one for all of them, or one for each"
        )
    return tuple(check_number("gain", value, form, allow=lambda number: number != 0.0) for value in values)
