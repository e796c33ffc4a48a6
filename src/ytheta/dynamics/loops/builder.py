"""Construction of a Constraint: the choice of independent equations, and the test for a closed form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ytheta.dynamics.loops.constraint import Affine, Constraint, column, compute_joint_positions
from ytheta.dynamics.mechanism import build_mechanism
from ytheta.dynamics.motion import scalars
from ytheta.errors import ClosureError
from ytheta.robot.loops.closure import RANK_TOLERANCE, close_loops, close_near, compute_closure_jacobian
from ytheta.robot.loops.cut_joint import locate_cut_joint
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerCoordinate, RowsByUnknown

# Radians or metres from home at which the equations are tested; of these, the largest at which the loops close.
TEST_OFFSETS = (0.3, 0.1, 0.03)
MAX_CHANGE = 2.0  # radians or metres: a pose that closes only farther away is not a test pose
CLOSED_FORM_TOLERANCE = 1e-12  # metres and radians: the largest gap that a closed form leaves
INTEGER_TOLERANCE = 1e-9  # entries of a constant E this close to an integer, and offsets this close to zero, are exact


def build_constraint(robot: Robot) -> Constraint:
    """The constraint of a robot. ClosureError if its loops do not close at home or leave coordinates undetermined."""
    import casadi

    mech = build_mechanism(robot)
    numeric = mech.robot
    x = casadi.SX.sym("x", len(numeric.coordinates))
    places = {name: k for k, name in enumerate(numeric.coordinates)}
    if not numeric.loops:
        return Constraint(mech, x, tuple(places.values()), (), numeric.home_coordinates, (), casadi.SX(0, 1))
    actuated = tuple(places[name] for name in numeric.actuated)
    passive = tuple(places[name] for name in numeric.passive)
    closure = close_loops(numeric).or_raise()
    poses = _close_around(numeric, np.array([closure.coordinates[name] for name in numeric.coordinates]))
    angles = compute_joint_positions(numeric, scalars(x))
    cuts = tuple(locate_cut_joint(numeric, loop, *angles) for loop in numeric.loops)
    equations = column(np.concatenate([cut.residual for cut in cuts]))
    kept = _choose_independent([compute_closure_jacobian(numeric, pose)[:, list(passive)] for pose in poses])
    constraint = Constraint(mech, x, actuated, passive, poses[0], cuts, equations[kept])
    return replace(constraint, affine=_find_closed_form(constraint, poses))


def _close_around(robot: Robot, home: PerCoordinate) -> list[PerCoordinate]:
    """The home configuration and closed poses around it: each actuated coordinate moved both ways."""
    actuated, passive = ([robot.coordinates.index(name) for name in names] for names in (robot.actuated, robot.passive))
    units = np.eye(len(home))[actuated]
    offsets = np.array([sign * offset * unit for unit in units for sign in (1, -1) for offset in TEST_OFFSETS])
    starts = np.concatenate([home[None], home + offsets.reshape(-1, len(home))])
    x, closed = close_near(robot, starts, passive)
    if not closed[0]:
        raise ClosureError(f"the loops of robot {robot.name!r} do not close at home; correct its [home]")
    usable = closed & (np.abs(x - starts).max(axis=1) < MAX_CHANGE)
    poses = [x[0]]
    for first in range(1, len(x), len(TEST_OFFSETS)):
        poses += [x[k] for k in range(first, first + len(TEST_OFFSETS)) if usable[k]][:1]
    return poses


def _choose_independent(jacobians: list[RowsByUnknown]) -> list[int]:
    """Equations, as many as passive coordinates, that stay independent at all poses.

    ``jacobians`` are the derivatives of all equations by the passive coordinates, one matrix for each pose. Each pose
    proposes its choice by a pivoted QR factorisation. The best choice has the largest least singular value, relative to
    that of all equations, at its worst pose.
    """
    from scipy.linalg import qr

    def strength(rows: list[int]) -> float:
        return min(_least_singular_value(Jp[rows]) / least for Jp, least in regular)

    leasts = [_least_singular_value(Jp) for Jp in jacobians]
    regular = [(Jp, least) for Jp, least in zip(jacobians, leasts, strict=True) if least > RANK_TOLERANCE]
    count = jacobians[0].shape[1]
    choices = [sorted(int(k) for k in qr(Jp.T, mode="r", pivoting=True)[1][:count]) for Jp in jacobians]
    return max(choices, key=strength)


def _least_singular_value(matrix: RowsByUnknown) -> float:
    return float(np.linalg.svd(matrix, compute_uv=False)[-1])


def _find_closed_form(constraint: Constraint, poses: list[PerCoordinate]) -> Affine | None:
    """U in closed form if E is the same at all poses, and the loops close far from home too."""
    Es = [np.array(constraint.tangent(x)) for x in poses]
    E = np.where(np.abs(Es[0] - np.rint(Es[0])) < INTEGER_TOLERANCE, np.rint(Es[0]), Es[0])
    if max(np.abs(other - E).max() for other in Es) > INTEGER_TOLERANCE:
        return None
    offset = poses[0] - E @ poses[0][list(constraint.actuated)]
    offset = np.where(np.abs(offset) < INTEGER_TOLERANCE, 0.0, offset)
    Q = _scatter(len(constraint.actuated))
    gaps, _, _ = constraint.closure_state((Q @ E.T + offset).T)
    return Affine(E, offset) if np.abs(np.array(gaps)).max() < CLOSED_FORM_TOLERANCE else None


def _scatter(size: int, count: int = 64) -> Float[np.ndarray, "samples actuated"]:
    """Values between -3 and 3 that fill the cube evenly: multiples of irrational numbers, modulo 1."""
    steps = np.sqrt(np.arange(2.0, 2.0 + size) + 0.1)
    values: Float[np.ndarray, "samples actuated"] = 6.0 * ((np.arange(1, count + 1)[:, None] * steps) % 1.0) - 3.0
    return values
