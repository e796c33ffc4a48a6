"""Snapping of rounded angles, axes and rotations."""

from __future__ import annotations

import math

import pytest

from ytheta.errors import InputError, RobotFileError
from ytheta.robot.frame import Frame
from ytheta.robot.reading.snap import Snapper


@pytest.mark.parametrize(
    ("angle", "exact"),
    [(1.5708, math.pi / 2), (3.1416, math.pi), (-0.5236, -math.pi / 6), (1.0472, math.pi / 3), (5e-5, 0.0)],
)
def test_rounded_angles_snap(angle: float, exact: float) -> None:
    snapper = Snapper(1e-4)
    assert snapper.snap_angle(angle, "here") == exact
    assert "1 rounded angle " in snapper.findings[0].text
    assert Snapper(0.0).snap_angle(angle, "here") == angle


@pytest.mark.parametrize("angle", [1.5709, 0.7854, 1.0, 2e-4])
def test_other_angles_do_not_snap(angle: float) -> None:
    snapper = Snapper(1e-4)
    assert snapper.snap_angle(angle, "here") == angle
    assert snapper.findings == ()


def test_rounded_quaternions_and_axes_snap() -> None:
    snapper = Snapper(1e-4)
    frame = snapper.snap_rotation(Frame.from_quaternion(0.70711, 0.70711, 0.0, 0.00001), "here")
    assert frame.rotation == Frame.turn((1.0, 0.0, 0.0), math.pi / 2).rotation
    assert snapper.snap_axis((1e-5, 0.0, 1.0), "here") == (0.0, 0.0, 1.0)
    assert "2 rounded angles" in snapper.findings[0].text
    tilted = Frame.from_quaternion(0.9, 0.1, 0.2, 0.3)
    assert snapper.snap_rotation(tilted, "here") == tilted


def test_axes_snap_to_the_nearest() -> None:
    snapper = Snapper(0.25)
    length = math.hypot(0.15, 0.985)
    assert snapper.snap_axis((0.15 / length, 0.0, 0.985 / length), "here") == (0.0, 0.0, 1.0)
    halfway = math.sqrt(0.5)
    assert snapper.snap_axis((halfway, 0.0, halfway), "here") == (halfway, 0.0, halfway)


@pytest.mark.parametrize("tolerance", [-1e-4, math.nan, math.pi / 12 + 1e-9, math.inf])
def test_invalid_tolerances_are_errors(tolerance: float) -> None:
    with pytest.raises(InputError, match="must be between 0, which keeps all angles, and pi/12"):
        Snapper(tolerance)


def test_large_angles_are_errors() -> None:
    with pytest.raises(RobotFileError, match=r"here: the angle 2000000\.0 rad is larger than"):
        Snapper(0.0).snap_angle(2e6, "here")
