"""Coordinates, couplings and motors: order, maps and errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.revolute_chains import revolute_chain
from ytheta.errors import RobotError
from ytheta.robot.parts import Coupling, Drive, Joint, JointKind, Loop, Motor


def test_couplings_are_a_matrix() -> None:
    """The wrist of the Staubli TX40: motor 6 turns joint 6 relative to joint 5."""
    robot = revolute_chain(
        ("q5", "base", "l5"),
        ("q6", "l5", "l6"),
        couplings=(Coupling("q6", (("q5", -1.0), ("m6", 1.0)), offset=0.5),),
        motors=(Motor("m6", drive=Drive(1e-4, 45.0)),),
    )
    factors, offset = robot.coupling_map
    assert robot.coordinates == ("q5", "m6")
    assert factors.tolist() == [[1.0, 0.0], [-1.0, 1.0]]
    assert offset.tolist() == [0.0, 0.5]
    assert robot.parameter_names[-4:] == ("m6.Ia", "m6.fv", "m6.fc", "m6.fo")
    assert robot.theta[-4] == pytest.approx(1e-4 * 45.0**2)


def test_a_mimic_of_a_mimic_is_resolved() -> None:
    robot = revolute_chain(
        ("a", "base", "l1"),
        ("b", "l1", "l2"),
        ("c", "l2", "l3"),
        couplings=(Coupling("c", (("b", 2.0),), 1.0), Coupling("b", (("a", 3.0),), 0.5)),
    )
    factors, offset = robot.coupling_map
    assert factors.ravel().tolist() == [1.0, 3.0, 6.0]
    assert offset.tolist() == [0.0, 0.5, 2.0]


def test_coordinates_have_the_order_of_actuated_without_loops() -> None:
    wrist = revolute_chain(
        ("q4", "base", "l4"),
        ("q5", "l4", "l5"),
        ("q6", "l5", "l6"),
        couplings=(Coupling("q6", (("q5", -1.0), ("m6", 2.0)), offset=0.5),),
        motors=(Motor("m6"),),
        home=(("q5", 0.3),),
    )
    assert wrist.coordinates == ("q4", "q5", "m6")
    other = replace(wrist, actuated=("m6", "q5", "q4"))
    assert other.coordinates == other.actuated == ("m6", "q5", "q4")
    np.testing.assert_array_equal(other.coupling_map[0], wrist.coupling_map[0][:, [2, 1, 0]])
    np.testing.assert_array_equal(other.coupling_map[1], wrist.coupling_map[1])
    np.testing.assert_array_equal(other.home_coordinates, [0.0, 0.3, 0.0])
    assert other.coordinates_of([other.joint("q6")]) == ("m6", "q5")
    assert other.parameter_names == wrist.parameter_names
    assert other.passive == ()
    assert other.merged.coordinates == other.numeric.coordinates == other.coordinates
    cut = Loop(Joint("cut", JointKind.REVOLUTE, "l6", "base"))
    assert replace(other, loops=(cut,), actuated=("m6", "q5")).coordinates == ("q4", "q5", "m6")


def test_long_chains_of_couplings_and_joints() -> None:
    """A chain of couplings beyond the recursion limit of Python, and more joints than are supported."""
    count = 1500
    joints = [(f"q{k}", f"l{k}", f"l{k + 1}") for k in range(count)]
    couplings = tuple(Coupling(f"q{k + 1}", ((f"q{k}", 1.0),), 1.0) for k in reversed(range(count - 1)))
    robot = revolute_chain(*joints, couplings=couplings)
    factors, offset = robot.coupling_map
    np.testing.assert_array_equal(factors, np.ones((count, 1)))
    np.testing.assert_array_equal(offset, np.arange(count))
    with pytest.raises(RobotError, match=r"couplings are circular: q1499 → q1498 → .* … → q1499; remove one"):
        revolute_chain(*joints, couplings=(*couplings, Coupling("q0", ((f"q{count - 1}", 1.0),))))
    steep = tuple(replace(coupling, terms=((coupling.terms[0][0], 1e200),)) for coupling in couplings)
    with pytest.raises(RobotError, match="the coupling of joint 'q1' contains 1e\\+200, which is too large"):
        revolute_chain(*joints, couplings=steep)
    with pytest.raises(RobotError, match="the robot has 2001 joints and motors, but at most 2000"):
        revolute_chain(*((f"q{k}", f"l{k}", f"l{k + 1}") for k in range(2001)))


def test_the_error_names_only_the_couplings_of_the_circle() -> None:
    couplings = (Coupling("a", (("b", 1.0),)), Coupling("b", (("c", 1.0),)), Coupling("c", (("b", 1.0),)))
    with pytest.raises(RobotError, match="couplings are circular: b → c → b;"):
        revolute_chain(("a", "base", "l1"), ("b", "l1", "l2"), ("c", "l2", "l3"), couplings=couplings)
