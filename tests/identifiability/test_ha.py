"""Base parameters by regrouping the Lagrangian: published counts, ranks, frames, gravity, and refused robots."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ytheta
from tests.support.base_checks import explains, is_complete_and_minimal, published_counts, rank, regressors
from tests.support.formulation_cases import fork, robot_without_joints
from tests.support.random_robots import robots
from tests.support.serial_arms import arm_with_slides
from ytheta.errors import InputError, UnknownNameError
from ytheta.identifiability import ha
from ytheta.identifiability.exact.geometry import ANGLE_TOLERANCE
from ytheta.robot.frame import Frame
from ytheta.robot.kinematics import change_link_frames
from ytheta.robot.parts import Coupling, Joint, JointKind, Link
from ytheta.robot.robot import Robot

COUNTS = {
    "rx90": (36, 40), "puma560": (36, 40), "puma560-mdh": (36, 40), "stanford": (33, 37), "ur10": (36, 40),
    "lu-two-link": (6, 7), "lu-puma4": (22, 24), "ha-scara": (8, 11), "panda": (43, 48), "iiwa14": (43, 48),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_catalog(name: str) -> None:
    robot = ytheta.load(name)
    for rotors, count in zip((False, True), COUNTS[name], strict=True):
        base = ha.base_parameters(robot, rotor_inertia=rotors)
        assert (base.method, len(base)) == ("ha", count)
    Y = regressors(robot, base.selected)
    assert explains(Y, base, base.K)
    Y_b = Y[:, :, base.places].reshape(-1, count)
    assert np.linalg.matrix_rank(Y_b / np.linalg.norm(Y_b, axis=0)) == count


@pytest.mark.parametrize("name", ["lu-puma4", "stanford"])
def test_complete_and_minimal(name: str) -> None:
    robot = ytheta.load(name)
    assert is_complete_and_minimal(robot, ha.base_parameters(robot))


def test_published_counts(shared_data: Path) -> None:
    for row in published_counts(shared_data):
        assert len(ha.base_parameters(row.robot)) == row.rigid, row.name
        if row.rigid < 10:  # larger robots are in the catalog
            assert len(ha.base_parameters(row.robot, rotor_inertia=True)) == row.with_rotors, row.name


def test_torque_of_base_parameters() -> None:
    """Y theta = Y_b beta for random theta."""
    robot = ytheta.load("rx90")
    base = ha.base_parameters(robot)
    theta = np.random.default_rng(3).normal(size=len(robot.parameter_names))
    theta[[name not in base.selected for name in robot.parameter_names]] = 0.0
    Y = regressors(robot, base.selected)
    np.testing.assert_allclose(Y[:, :, base.places] @ (base.K @ theta), Y @ theta, rtol=1e-10, atol=1e-10)
    assert not np.allclose(Y[:, :, base.places] @ theta[base.places], Y @ theta, rtol=1e-3)


@settings(max_examples=6)
@given(robots(loops=False, symbols=False), st.booleans())
def test_random_trees(robot: Robot, rotors: bool) -> None:
    assume(ha.explain_refusal(robot) is None)
    smallest, below = ytheta.base_parameters(robot, method="qr", rotor_inertia=rotors).gap or (1.0, 0.0)
    assume(smallest > 1e-4 and below < 1e-9)  # a numerical rank cannot decide on tiny angles or lengths
    base = ha.base_parameters(robot, rotor_inertia=rotors)
    assert len(base) == rank(robot, base.selected)
    Y = regressors(robot, base.selected)
    # An angle is replaced by a quarter turn or zero that is nearer than ANGLE_TOLERANCE; this changes coefficients by
    # as much divided by the smallest singular value.
    tolerance = 10.0 * ANGLE_TOLERANCE / smallest
    assert explains(Y, base, base.K, tolerance=tolerance)
    wrong = base.K + 1e-3 * (np.arange(base.K.shape[1]) == base.places[0])
    assert not explains(Y, base, wrong, tolerance=tolerance)  # the twin


@pytest.mark.parametrize("name", ["ha-scara", "stanford", "ur10"])
def test_link_frames_do_not_matter(name: str) -> None:
    """Random link frames hide every coincidence of the axes; the number of base parameters stays."""
    robot = ytheta.load(name).numeric
    rng = np.random.default_rng(1)
    frames = {
        link.name: Frame.shift(*rng.uniform(-0.3, 0.3, 3).tolist()) @ Frame.from_rpy(*rng.uniform(-3, 3, 3).tolist())
        for link in robot.links
    }
    moved = change_link_frames(robot, frames)
    base = ha.base_parameters(moved)
    assert len(base) == COUNTS[name][0]
    assert is_complete_and_minimal(moved, base)


def test_prismatic_joints_at_general_angles() -> None:
    """Two parallel axes with prismatic joints at any angles between them, gravity along the axes."""
    for angles, count in (((0.7, -0.7), 7), ((0.7, -0.3, -0.4), 10)):
        base = ha.base_parameters(arm_with_slides(*angles))
        assert len(base) == rank(arm_with_slides(*angles), base.selected) == count
    assert len(ha.base_parameters(arm_with_slides(0.7, -0.3, -0.5))) > 10


def planar_arm(*, gravity: tuple[float, float, float], tilt: float = 0.0) -> Robot:
    placement = Frame.shift(0.4) @ Frame.turn((1.0, 0.0, 0.0), tilt)
    joints = (
        Joint("joint1", JointKind.REVOLUTE, "base", "link1"),
        Joint("joint2", JointKind.REVOLUTE, "link1", "link2", placement=placement),
    )
    return Robot("planar_arm", tuple(map(Link, ("base", "link1", "link2"))), joints, gravity=gravity)


def test_gravity_matters() -> None:
    assert len(ha.base_parameters(planar_arm(gravity=(0.0, -9.81, 0.0)))) == 6
    assert len(ha.base_parameters(planar_arm(gravity=(0.0, 0.0, -9.81)))) == 4
    assert len(ha.base_parameters(planar_arm(gravity=(0.0, 0.0, 0.0)))) == 4
    assert ha.regroup_lagrangian(planar_arm(gravity=(0.0, 0.0, 0.0))).counts == (1, 3)


def test_axes_that_are_nearly_parallel() -> None:
    """Within 1e-9 rad they count as parallel; beyond that, exact arithmetic distinguishes what no experiment can."""
    tilted = {tilt: len(ha.base_parameters(planar_arm(gravity=(0.0, 0.0, -9.81), tilt=tilt))) for tilt in (1e-10, 1e-8)}
    assert tilted == {1e-10: 4, 1e-8: 8}


def test_accepted_and_refused_robots() -> None:
    assert ha.explain_refusal(ytheta.load("rx90")) is None
    walker = ytheta.load("walker")
    for function in (ha.regroup_lagrangian, ha.base_parameters):
        with pytest.raises(InputError, match=r"'walker' has closed loops.*use method qr"):
            function(walker)
    geared = replace(fork(), couplings=(Coupling("swing", (("turn", 0.5),)),), actuated=())
    assert "joint 'swing' coupled" in str(ha.explain_refusal(geared))
    assert "no moving joint" in str(ha.explain_refusal(robot_without_joints()))
    unset = replace(ytheta.load("ha-scara"), lengths=(("a1", None), ("a2", 0.4)))
    assert "'a1'; set it with robot.with_lengths, use method lin" in str(ha.explain_refusal(unset))
    assert sum(ha.regroup_lagrangian(unset).counts) == 10
    with pytest.raises(UnknownNameError, match=r"no parameter 'link1.mxx'; did you mean 'link1.mx'"):
        ha.regroup_lagrangian(ytheta.load("rx90"), zero=["link1.mxx"])
