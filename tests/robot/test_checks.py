"""Robots with invalid parts cannot be constructed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.revolute_chains import revolute_chain
from ytheta.errors import RobotError
from ytheta.files.symbols import symbol
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Coupling, Drive, Joint, JointKind, Limits, Loop, Marker, Motor
from ytheta.robot.robot import Robot

ARM = revolute_chain(("q1", "base", "arm"), ("q2", "arm", "hand"), motors=(Motor("m"),))


NAN, INF = math.nan, math.inf


X = symbol("x")


def _change_arm(**changes: object) -> Callable[[], Robot]:
    return lambda: replace(ARM, **changes)  # type: ignore[arg-type]


def _change_first_joint(**changes: object) -> Callable[[], Robot]:
    return lambda: replace(ARM, joints=(replace(ARM.joints[0], **changes), *ARM.joints[1:]))  # type: ignore[arg-type]


def _change_first_link(**changes: object) -> Callable[[], Robot]:
    return lambda: replace(ARM, links=(replace(ARM.links[0], **changes), *ARM.links[1:]))  # type: ignore[arg-type]


CONTRADICTIONS = {
    "infinite inertia": (_change_first_link(inertia=Inertia((1.0, INF, *[0.0] * 8))), "link 'base': .* not finite"),
    "frame": (
        _change_first_joint(placement=Frame.shift(NAN)),
        "the frame of joint 'q1' contains numbers that are not finite",
    ),
    "seat": (_change_first_joint(seat=Frame.shift(0.0, -INF)), "the seat of joint 'q1' contains numbers"),
    "rotation": (_change_first_joint(placement=Frame(rotation=((NAN,) * 3,) * 3)), "the frame of joint 'q1'"),
    "factor": (
        _change_arm(
            joints=(replace(ARM.joints[0], placement=Frame.shift(X * INF)), ARM.joints[1]), lengths=(("x", 1.0),)
        ),
        "the frame of joint 'q1' contains numbers that are not finite",
    ),
    "fixed axis": (
        _change_first_joint(kind=JointKind.FIXED, axis=(0.0, 0.0, 2.0)),
        "joint 'q1': its axis .* has length 2",
    ),
    "axis": (_change_first_joint(axis=(NAN, 0.0, 1.0)), "joint 'q1': its axis"),
    "gear": (_change_first_joint(drive=Drive(1e-4, 0.0)), "joint 'q1': its gear ratio is 0"),
    "huge frame": (
        _change_first_joint(placement=Frame.shift(-1e60)),
        "the frame of joint 'q1' contains -1e\\+60, which is too large to compute with; give numbers in metres",
    ),
    "huge inertia": (
        _change_first_link(inertia=Inertia((1e200, *[0.0] * 9))),
        "link 'base': its inertial parameters contain 1e\\+200, which is too large to compute with",
    ),
    "huge friction": (_change_first_joint(drive=Drive(viscous=1e200)), "its drive has a parameter 1e\\+200, which is"),
    "huge gear": (_change_first_joint(drive=Drive(1e-4, 1e300)), "joint 'q1': its drive is not finite"),
    "friction": (_change_first_joint(drive=Drive(viscous=NAN)), "joint 'q1': its drive is not finite"),
    "limits": (_change_first_joint(limits=Limits(NAN, 1.0)), "joint 'q1': its limits nan … 1 are not numbers"),
    "velocity": (_change_first_joint(limits=Limits(velocity=-1.0)), "joint 'q1': limits of velocity"),
    "motor gear": (_change_arm(motors=(Motor("m", drive=Drive(1.0, 0.0)),)), "motor 'm': its gear ratio is 0"),
    "motor limits": (_change_arm(motors=(Motor("m", Limits(2.0, 1.0)),)), "motor 'm': its lower limit 2 exceeds"),
    "motor as cut": (
        _change_arm(loops=(Loop(Joint("m", JointKind.REVOLUTE, "hand", "base")),), actuated=("m",)),
        "the coordinate name 'm' is used 2 times",
    ),
    "two markers": (
        _change_arm(markers=(Marker("t", "arm"), Marker("t", "hand"))),
        "the marker name 't' is used 2 times",
    ),
    "marker as link": (_change_arm(markers=(Marker("arm", "hand"),)), "marker 'arm' has the name of a link"),
    "lost marker": (
        _change_arm(markers=(Marker("t", "hnad"),)),
        "marker 't': the robot has no link 'hnad'; did you mean",
    ),
    "marker": (_change_arm(markers=(Marker("t", "arm", Frame.shift(NAN)),)), "the frame of marker 't'"),
    "mounting": (_change_arm(mounting=Frame.shift(NAN)), "the mounting contains numbers"),
    "gravity": (_change_arm(gravity=(0.0, 0.0, INF)), "gravity should be finite"),
    "home": (_change_arm(home=(("q1", NAN),)), "the 'home' of 'q1' should be finite"),
    "home twice": (_change_arm(home=(("q1", 1.0), ("q1", 2.0))), "'home' names 'q1' more than once"),
    "term twice": (
        _change_arm(couplings=(Coupling("q2", (("q1", 1.0), ("q1", 2.0))),)),
        "the coupling of joint 'q2' names 'q1' more than once",
    ),
    "coupling": (_change_arm(couplings=(Coupling("q2", (("q1", INF),)),)), "coupling of joint 'q2': its factors"),
    "undeclared": (_change_first_joint(placement=Frame.shift(X)), "the length 'x' is used but not declared"),
    "length pi": (_change_arm(lengths=(("pi", 1.0),)), "'pi' cannot name a length"),
    "length a b": (_change_arm(lengths=(("a b", 1.0),)), "'a b' cannot name a length"),
    "length lambda": (_change_arm(lengths=(("lambda", 1.0),)), "'lambda' cannot name a length"),
    "length nan": (_change_arm(lengths=(("x", NAN),)), "the length 'x' is nan; give a finite number"),
    "length twice": (_change_arm(lengths=(("x", 1.0), ("x", 2.0))), "the length name 'x' is used 2 times"),
}


@pytest.mark.parametrize(("make", "reason"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_contradictions_are_errors(make: Callable[[], Robot], reason: str) -> None:
    with pytest.raises(RobotError, match=reason):
        make()
