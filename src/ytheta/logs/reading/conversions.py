"""Conversion of columns to SI units: scale, sign, gain and offset of each joint, from a mapping and from names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError, suggest_names
from ytheta.logs.origin import ColumnOrigin
from ytheta.logs.reading.mapping import ColumnMapping
from ytheta.logs.reading.mapping_values import UNITS, Factor
from ytheta.robot.robot import Robot
from ytheta.shapes import PerJoint, PerSample

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


# Times since 1970 of the years 2000 to 2100, and steps between samples, in s. In another unit than its own, a time
# since 1970 lies in other centuries; a time since the start of a computer that looks like a date has other steps.
EPOCH_TIMES, EPOCH_STEPS = (946_684_800.0, 4_102_444_800.0), (1e-5, 1.0)
EPOCH_UNITS = {"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


@dataclass(frozen=True, eq=False)
class Conversion:
    """Numbers of each joint with which the columns of one quantity are converted; ``gain`` is that of currents."""

    scale: PerJoint
    sign: PerJoint
    gain: PerJoint | None
    offset: PerJoint

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
    )


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
