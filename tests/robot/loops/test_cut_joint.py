"""The residual of a cut joint: compared with homogeneous matrices, and equal for all kinds of scalars."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import casadi
import numpy as np
import pytest
import sympy

from tests.support.cut_joint_matrices import compute_positions_by_matrices, compute_residuals_by_matrices
from tests.support.loop_robots import NAMES, make_looped_robot
from ytheta.dynamics.mechanism import Motion, casadi_motion, sympy_motion
from ytheta.robot.loops.cut_joint import locate_cut_joint
from ytheta.robot.loops.equations import compute_closure_residuals, compute_loop_states
from ytheta.robot.parts import Joint, JointKind, Link, Loop
from ytheta.robot.robot import Robot

ROUNDING_TOLERANCE = 1e-12  # metres and radians: rounding errors of a dozen products of numbers of order one
KINDS = [JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.FIXED, JointKind.POINT]


def draw_coordinates(robot: Robot, samples: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1.0, 1.0, (samples, len(robot.coordinates)))


def make_hinge(kind: JointKind) -> Robot:
    """A chain of three joints whose last link is joined to the base by the cut joint; closed at zero positions."""
    links = tuple(Link(name) for name in ("base", "a", "b", "c"))
    axis = (0.6, 0.0, 0.8)
    joints = (
        Joint("turn", JointKind.REVOLUTE, "base", "a", axis=(1.0, 0.0, 0.0)),
        Joint("slide", JointKind.PRISMATIC, "a", "b", axis=(0.0, 1.0, 0.0)),
        Joint("spin", JointKind.REVOLUTE, "b", "c", axis=axis),
    )
    return Robot("hinge", links, joints, loops=(Loop(Joint("cut", kind, "c", "base", axis=axis)),), actuated=("spin",))


@pytest.mark.parametrize("name", NAMES)
def test_gaps_and_positions_by_homogeneous_matrices(name: str) -> None:
    """The distance between both sides and the position of a cut joint at poses that are not closed."""
    robot = make_looped_robot(name).numeric
    A, b = robot.coupling_map
    for x in draw_coordinates(robot, 5):
        states = compute_loop_states(robot, A @ x + b)
        moving = [state.position for state, loop in zip(states, robot.loops, strict=True) if loop.joint.moves]
        np.testing.assert_allclose(moving, compute_positions_by_matrices(robot, A @ x + b), atol=ROUNDING_TOLERANCE)
        if all(loop.joint.kind in (JointKind.REVOLUTE, JointKind.POINT) for loop in robot.loops):
            gap = np.linalg.norm([state.gap for state in states])
            assert gap == pytest.approx(np.linalg.norm(compute_residuals_by_matrices(robot, x)), abs=ROUNDING_TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
def test_the_gap_is_a_distance_or_a_chord(kind: JointKind) -> None:
    """A displacement contributes its length, and a rotation that the joint does not allow contributes its chord."""
    robot = make_hinge(kind)

    def gap(**positions: float) -> float:
        q = np.array([positions.get(joint.name, 0.0) for joint in robot.movable])
        return compute_loop_states(robot, q)[0].gap

    assert gap() == pytest.approx(0.0, abs=ROUNDING_TOLERANCE)
    # A revolute joint only constrains its axis. The tip of this unit vector is 0.8 away from the axis of ``turn``.
    chord = {JointKind.POINT: 0.0, JointKind.REVOLUTE: 2 * 0.8 * math.sin(0.15)}.get(kind, 2 * math.sin(0.15))
    assert gap(turn=0.3) == pytest.approx(chord, abs=ROUNDING_TOLERANCE)
    assert gap(slide=0.2) == pytest.approx(0.2, abs=ROUNDING_TOLERANCE)
    spin_is_free = kind in (JointKind.REVOLUTE, JointKind.POINT)
    assert gap(spin=0.5) == pytest.approx(0.0 if spin_is_free else 2 * math.sin(0.25), abs=ROUNDING_TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_that_is_turned_over_is_not_closed(kind: JointKind) -> None:
    """After half a turn some entries of the residual vanish, but not all. Only a point joint allows this turn."""
    robot = make_hinge(kind)
    residual = compute_closure_residuals(robot, np.array([math.pi, 0.0, 0.0]))
    assert (np.linalg.norm(residual) > 1.0) == (kind is not JointKind.POINT)


@pytest.mark.parametrize("swapped", [False, True])
def test_the_rate_is_the_derivative_of_the_position(swapped: bool) -> None:
    """The joint ``spin`` is on the path to the parent or, with swapped sides, to the child of the cut joint."""
    robot = make_hinge(JointKind.REVOLUTE)
    if swapped:
        cut = replace(robot.loops[0].joint, parent="base", child="c")
        robot = replace(robot, loops=(Loop(cut),))
    q, spin = np.array([0.0, 0.0, 0.4]), np.array([0.0, 0.0, 1.0])

    def position(step: float) -> float:
        found = compute_loop_states(robot, q + step * spin)[0].position
        assert found is not None
        return found

    rate = locate_cut_joint(robot, robot.loops[0], q, np.cos(q), np.sin(q)).rate(3)
    difference = (position(1e-5) - position(-1e-5)) / 2e-5
    assert float(rate @ spin) == pytest.approx(difference, abs=1e-9)
    assert difference == pytest.approx(1.0 if swapped else -1.0, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_scalar_gives_the_same_residual(name: str) -> None:
    robot = make_looped_robot(name).numeric
    x = draw_coordinates(robot, 6)
    batch = compute_closure_residuals(robot, x)
    nested = compute_closure_residuals(robot, x.reshape(2, 3, -1))
    np.testing.assert_allclose(nested.reshape(batch.shape), batch, atol=ROUNDING_TOLERANCE)
    np.testing.assert_allclose(compute_closure_residuals(robot, x[0]), batch[0], atol=ROUNDING_TOLERANCE)
    A, b = robot.coupling_map
    q = A @ x[0] + b
    by_sympy, symbols = sympy_motion(len(q)), casadi.SX.sym("q", len(q))
    values = dict(zip(by_sympy.q, q, strict=True))
    substituted = [float(sympy.sympify(entry).subs(values)) for entry in trace_residuals(robot, by_sympy)]
    np.testing.assert_allclose(substituted, batch[0], atol=ROUNDING_TOLERANCE)
    column = casadi.vertcat(*trace_residuals(robot, casadi_motion(symbols, symbols, symbols)))
    traced = np.array(casadi.Function("residuals", [symbols], [column])(q))[:, 0]
    np.testing.assert_allclose(traced, batch[0], atol=ROUNDING_TOLERANCE)


def trace_residuals(robot: Robot, motion: Motion) -> list[Any]:
    cuts = [locate_cut_joint(robot, loop, motion.q, motion.cos, motion.sin) for loop in robot.loops]
    return [entry for cut in cuts for entry in cut.residual]
