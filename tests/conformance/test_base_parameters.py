"""Three methods, one result: closed form, regrouped Lagrangian and numerical rank give the same K."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings

import ytheta
from tests.support import example_robots
from tests.support.base_checks import enlarge, is_complete_and_minimal
from tests.support.random_robots import robots
from tests.support.vendor_urdfs import URDFS
from ytheta.identifiability.registry import explain_refusals
from ytheta.robot.frame import Frame
from ytheta.robot.parameters import length_exponents
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.reading import catalog
from ytheta.robot.robot import Robot


def load(name: str) -> Robot:
    return ytheta.load(example_robots.urdf(name)) if name.endswith(".urdf") else ytheta.load(name)


def accepting_methods(robot: Robot) -> list[str]:
    return [method for method, reason in explain_refusals(robot).items() if reason is None]


CASES = [
    *((name, True) for name in (*catalog.list_names(), *URDFS)),
    ("panda", False),
    ("stanford", False),
    ("rx90", False),
]


@pytest.mark.parametrize(("name", "rotor_inertia"), CASES)
def test_all_methods_give_the_same_k(name: str, rotor_inertia: bool) -> None:
    robot = load(name)
    by_rank = ytheta.base_parameters(robot, method="qr", rotor_inertia=rotor_inertia)
    assert ("lin" in accepting_methods(robot)) == (not robot.loops and not robot.couplings)
    for method in accepting_methods(robot):
        base = by_rank
        if method != "qr":
            base = ytheta.base_parameters(robot, method=method, rotor_inertia=rotor_inertia)
        assert base.method == method
        assert base.independent == by_rank.independent
        np.testing.assert_allclose(base.K, by_rank.K, atol=1e-9, rtol=1e-9)
        assert base.identifiability == by_rank.identifiability
        assert base.names == by_rank.names


@pytest.mark.parametrize("name", ["puma560", "stanford", "ha-scara"])
@pytest.mark.parametrize("method", ["lin", "ha"])
def test_each_method_is_complete_and_minimal(name: str, method: str) -> None:
    robot = ytheta.load(name)
    assert is_complete_and_minimal(robot, ytheta.base_parameters(robot, method=method, rotor_inertia=True))


@pytest.mark.parametrize("factor", [1e-3, 1e3])
@pytest.mark.parametrize("method", ["lin", "qr"])
def test_the_size_of_a_robot_changes_only_units(method: str, factor: float) -> None:
    robot = ytheta.load("stanford").numeric
    base, other = (
        ytheta.base_parameters(each, method=method, rotor_inertia=True) for each in (robot, enlarge(robot, factor))
    )
    assert other.names == base.names
    exponents = length_exponents(robot)
    rows = exponents[[robot.parameter_names.index(name) for name in base.independent]]
    units = factor ** (rows[:, None] - exponents)
    np.testing.assert_allclose(other.K / units, base.K, atol=1e-9, rtol=1e-9)
    assert not np.allclose(other.K, base.K)


@settings(max_examples=20)
@given(robots(loops=False, symbols=False))
def test_closed_form_and_rank_give_the_same_number(robot: Robot) -> None:
    """Random trees with prismatic joints, loads and branches, random gravity and mounting."""
    assume(bool(robot.movable) and "lin" in accepting_methods(robot))
    closed_form = ytheta.base_parameters(robot, method="lin", rotor_inertia=True)
    by_rank = ytheta.base_parameters(robot, method="qr", rotor_inertia=True)
    assert by_rank.gap is not None
    # A rank cannot decide on tiny angles or lengths: the singular values that it leaves out must be rounding errors.
    assume(by_rank.gap[1] < 1e-9)
    assert len(closed_form) == len(by_rank)


@pytest.mark.parametrize("tilt", [1e-8, 3e-7, 7e-6])
def test_rounding_does_not_count_as_geometry(tilt: float) -> None:
    """A prismatic joint nearly along the axis before it: the closed form refuses the robot, and auto uses the rank."""
    robot = _prismatic_after_revolute(tilt)
    reason = explain_refusals(robot)["lin"]
    assert reason is not None
    assert "l2" in reason
    base = ytheta.base_parameters(robot)
    assert (base.method, len(base)) == ("qr", len(ytheta.base_parameters(_prismatic_after_revolute(0.0), method="lin")))
    tilted = ytheta.base_parameters(_prismatic_after_revolute(0.1))  # the twin: this is geometry
    assert tilted.method == "lin"
    assert len(tilted) > len(base)


def _prismatic_after_revolute(tilt: float) -> Robot:
    x = (1.0, 0.0, 0.0)
    frames = (Frame.shift(), Frame.turn(x, tilt), Frame.turn(x, np.pi / 2))
    kinds = (JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.REVOLUTE)
    joints = tuple(
        Joint(f"j{k}", kind, f"l{k}", f"l{k + 1}", placement=frame, axis=(0.0, 0.0, 1.0))
        for k, (kind, frame) in enumerate(zip(kinds, frames, strict=True))
    )
    return Robot("nearly", tuple(Link(f"l{k}") for k in range(4)), joints)


@pytest.mark.parametrize("method", ["lin", "qr"])
def test_a_length_of_zero_counts_for_identifiability(method: str) -> None:
    base = ytheta.base_parameters(ytheta.load("ha-scara", lengths={"a1": 0.0}), method=method)
    assert len(base) == 6
    assert base.identifiability["link1.m"].value == "no effect"
    assert base.identifiability["link1.Izz"].value == "known alone"


def test_auto_prefers_the_closed_form() -> None:
    assert ytheta.base_parameters(ytheta.load("panda")).method == "lin"
    assert ytheta.base_parameters(ytheta.load("five-bar")).method == "qr"
    assert ytheta.base_parameters(ytheta.load("panda"), friction=("viscous",)).method == "qr"


def test_a_refusal_names_a_method_that_accepts() -> None:
    for method in ("lin", "ha"):
        reason = explain_refusals(ytheta.load("palletiser"))[method]
        assert reason is not None
        assert "qr" in reason
