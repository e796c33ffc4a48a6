"""Geometry: every fixed frame of a robot is listed and changed."""

from __future__ import annotations

from ytheta.files.symbols import symbol
from ytheta.robot.frame import Frame
from ytheta.robot.parts import CollisionShape, Joint, JointKind, Loop, Marker, ShapeKind
from ytheta.robot.structure import Geometry


def shift(name: str) -> Frame:
    return Frame.shift(symbol(name))


GEOMETRY = Geometry(
    joints=(Joint("q1", JointKind.REVOLUTE, "base", "arm", shift("a"), seat=shift("b")),),
    loops=(Loop(Joint("cut", JointKind.POINT, "base", "arm", shift("c"), seat=shift("d"))),),
    markers=(Marker("tip", "arm", shift("e")),),
    collision=(CollisionShape("arm", ShapeKind.SPHERE, (0.1,), shift("f")),),
    mounting=shift("g"),
)


def test_every_frame_is_found() -> None:
    assert [sorted(frame.symbols) for frame in GEOMETRY.frames] == [[name] for name in "abcdefg"]
    assert GEOMETRY.symbolic_lengths == set("abcdefg")
    assert GEOMETRY.symbolic_angles == frozenset()


def test_every_frame_is_changed() -> None:
    values = {name: 0.1 * k for k, name in enumerate("abcdefg", start=1)}
    changed = GEOMETRY.change_frames(lambda frame: frame.numeric(values))
    assert list(changed.frames) == [Frame.shift(value) for value in values.values()]
    assert changed.symbolic_lengths == frozenset()
