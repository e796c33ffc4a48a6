"""Hypothesis strategies for inertias, frames and whole robots, including difficult ones."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from ytheta.files.symbols import Angle, Scalar, symbol
from ytheta.robot.frame import Frame, Vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Coupling, Drive, Joint, JointKind, Limits, Link, Loop, Marker, Motor
from ytheta.robot.robot import Robot
from ytheta.robot.structure import list_coordinates

NAME_ENDINGS = ("", "", "", " a.b", "[/x]", "\"'\\", "é\n#=\t", "\x1f{}")  # ends of names with special characters
MOVABLE = (JointKind.REVOLUTE, JointKind.PRISMATIC)


def numbers(low: float = -2.0, high: float = 2.0) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False, allow_subnormal=False).map(lambda x: 0.0 if abs(x) < 1e-6 else x)


def angles() -> st.SearchStrategy[float]:
    """Any angle, or an exact multiple of a quarter turn as in real arms."""
    return st.one_of(numbers(-3.1, 3.1), st.sampled_from([0.0, math.pi / 2, -math.pi / 2, math.pi]))


@st.composite
def frames(draw: st.DrawFn) -> Frame:
    place = Frame.shift(draw(numbers()), draw(numbers()), draw(numbers()))
    return place @ Frame.from_rpy(draw(angles()), draw(angles()), draw(angles()))


@st.composite
def symbolic_frames(draw: st.DrawFn, lengths: tuple[str, ...], twists: tuple[str, ...]) -> Frame:
    frame = draw(frames())
    for name in draw(st.lists(st.sampled_from(twists), max_size=2)) if twists else ():
        axis = draw(st.sampled_from([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]))
        frame = frame @ Frame.turn(axis, Angle(name, draw(st.sampled_from([1, -1])))) @ draw(frames())
    if not lengths or not draw(st.booleans()):
        return frame
    return frame @ Frame.shift(draw(linear_forms(lengths)), draw(st.one_of(numbers(), linear_forms(lengths))))


@st.composite
def linear_forms(draw: st.DrawFn, lengths: tuple[str, ...]) -> Scalar:
    """A sum of multiples of some lengths and a number."""
    form: Scalar = draw(numbers())
    for name in draw(st.sets(st.sampled_from(lengths), min_size=1)):
        form = form + symbol(name) * draw(st.sampled_from([1.0, -1.0, 0.3, 1 / 3]))
    return form


@st.composite
def inertias(draw: st.DrawFn) -> Inertia:
    """A body made of point masses, which is always consistent; sometimes massless, sometimes a single point."""
    count = draw(st.sampled_from([0, 1, 2, 4, 6]))
    body = Inertia()
    for _ in range(count):
        body = body + Inertia.point_mass(draw(numbers(0.01, 5.0)), draw(vectors()))
    return body


def vectors() -> st.SearchStrategy[Vector]:
    return st.tuples(numbers(), numbers(), numbers())


def unit_vectors() -> st.SearchStrategy[Vector]:
    def unit(v: Vector) -> Vector:
        n = math.hypot(*v)
        return (v[0] / n, v[1] / n, v[2] / n)

    aligned = st.sampled_from([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0)])
    return st.one_of(aligned, vectors().filter(lambda v: math.hypot(*v) > 0.1).map(unit))


@st.composite
def robots(draw: st.DrawFn, *, loops: bool = True, symbols: bool = True, twists: bool = False) -> Robot:
    """Random trees with branches, fixed joints, loops, couplings, motors, markers, symbolic lengths and angles."""
    count = draw(st.integers(1, 6))
    lengths = ("l1", "l2", "_L") if symbols and draw(st.booleans()) else ()
    angle_names = ("alpha", "q1") if twists and draw(st.booleans()) else ()
    odd = draw(st.sampled_from(NAME_ENDINGS))
    links = [Link("base", draw(inertias()))]
    joints: list[Joint] = []
    for k in range(1, count + 1):
        kind = draw(st.sampled_from([*MOVABLE, JointKind.REVOLUTE, JointKind.FIXED]))
        load = kind is JointKind.FIXED and draw(st.booleans())
        links.append(
            Link(f"link{k}{odd}", draw(inertias()), load=load, source=draw(st.sampled_from(["", "a “table”"])))
        )
        parent = draw(st.sampled_from([link.name for link in links[:k] if not link.load]))
        joints.append(
            Joint(
                f"joint{k}{odd}",
                kind,
                parent,
                f"link{k}{odd}",
                placement=draw(symbolic_frames(lengths, angle_names)),
                axis=draw(unit_vectors()),
                seat=draw(st.one_of(st.just(Frame()), frames())),
                limits=draw(st.sampled_from([Limits(), Limits(-1.0, 2.5, 3.0), Limits(upper=0.1, effort=9.0)])),
                drive=draw(st.sampled_from([Drive(), Drive(1e-4, -62.6, 0.1, 0.2, -0.3)])),
            )
        )
    movable = [joint.name for joint in joints if joint.kind in MOVABLE]
    couplings: tuple[Coupling, ...] = ()
    motors: tuple[Motor, ...] = ()
    if len(movable) > 1 and draw(st.booleans()):
        motors = (Motor(f"motor{odd}", drive=Drive(2e-4, 100.0)),)
        couplings = (Coupling(movable[-1], ((movable[0], -0.5), (f"motor{odd}", 1.0)), draw(numbers())),)
    cuts: tuple[Loop, ...] = ()
    if loops and movable and draw(st.booleans()):
        kind = draw(st.sampled_from([*MOVABLE, JointKind.FIXED, JointKind.POINT]))
        end = movable[-1].replace("joint", "link")
        cut = Joint(f"cut{odd}", kind, end, "base", draw(frames()), draw(unit_vectors()), draw(frames()))
        cuts = (Loop(cut),)
    coordinates = list_coordinates([joint for joint in joints if joint.moves], couplings, motors)
    return Robot(
        name=draw(st.sampled_from(["random", "", odd])),
        links=tuple(links),
        joints=tuple(joints),
        loops=cuts,
        couplings=couplings,
        motors=motors,
        actuated=() if cuts else tuple(draw(st.permutations(coordinates))),
        home=tuple((name, draw(numbers())) for name in coordinates[:1]),
        markers=(Marker(f"tool{odd}", f"link{count}{odd}", draw(frames())),),
        gravity=draw(vectors()),
        mounting=draw(frames()),
        lengths=tuple((name, draw(st.one_of(st.none(), numbers()))) for name in lengths),
        angles=tuple((name, draw(st.one_of(st.none(), angles()))) for name in angle_names),
        about=draw(st.sampled_from(["", "two\nlines, \\ and 'quotes'"])),
    )


def random_q(robot: Robot, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-2.0, 2.0, len(robot.movable))
