"""Construction of a ``Constraint``: the choice of independent equations, and the search for a closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from ytheta.dynamics.loops.constraint import Affine, Constraint, column, compute_joint_positions
from ytheta.dynamics.mechanism import build_mechanism
from ytheta.dynamics.motion import scalars
from ytheta.errors import ClosureError
from ytheta.robot.loops.closure import RANK_TOLERANCE, close_loops, close_near, compute_closure_jacobian
from ytheta.robot.loops.cut_joint import locate_cut_joint
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerCoordinate, RowsByUnknown, freeze

# Offsets of an actuated coordinate from home, radians or metres. The largest at which the loops close is used.
TEST_OFFSETS = (0.3, 0.1, 0.03)
MAX_CHANGE = 2.0  # radians or metres: if closing the loops of a pose changes a coordinate by more, the pose is not used
CLOSED_FORM_TOLERANCE = 1e-12  # metres and radians: the largest gap that a closed form may leave
# If the values of E at all poses differ by less than this, E is constant. Entries of a constant E that differ from an
# integer by less are rounded to it, and smaller offsets are set to zero.
INTEGER_TOLERANCE = 1e-9


def build_constraint(robot: Robot) -> Constraint:
    """Build the constraint of a robot.

    Raise ClosureError if the loops do not close at home, or if the actuated coordinates do not determine the others.
    """
    import casadi

    mech = build_mechanism(robot)
    numeric = mech.robot
    x = casadi.SX.sym("x", len(numeric.coordinates))
    indices = {name: k for k, name in enumerate(numeric.coordinates)}
    if not numeric.loops:
        return Constraint(mech, x, tuple(indices.values()), (), numeric.home_coordinates, (), casadi.SX(0, 1))
    actuated = tuple(indices[name] for name in numeric.actuated)
    passive = tuple(indices[name] for name in numeric.passive)
    poses, independent = _find_independent_equations(numeric)
    positions = compute_joint_positions(numeric, scalars(x))
    cuts = tuple(locate_cut_joint(numeric, loop, *positions) for loop in numeric.loops)
    equations = column(np.concatenate([cut.residual for cut in cuts]))
    constraint = Constraint(mech, x, actuated, passive, poses[0], cuts, equations[list(independent)])
    return replace(constraint, affine=_find_closed_form(constraint, poses))


@lru_cache(maxsize=32)  # every kernel of a robot needs them, and they take longer than the symbols
def _find_independent_equations(robot: Robot) -> tuple[tuple[PerCoordinate, ...], tuple[int, ...]]:
    """The home configuration and closed poses around it, and the equations to use."""
    closure = close_loops(robot).or_raise()
    poses = _close_around(robot, np.array([closure.coordinates[name] for name in robot.coordinates]))
    passive = [robot.coordinates.index(name) for name in robot.passive]
    jacobians = [compute_closure_jacobian(robot, pose)[:, passive] for pose in poses]
    return tuple(freeze(pose) for pose in poses), tuple(_choose_independent(jacobians))


def _close_around(robot: Robot, home: PerCoordinate) -> list[PerCoordinate]:
    """The home configuration, and closed poses around home with each actuated coordinate moved in both directions."""
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
    """Choose as many equations as there are passive coordinates; they should be independent at all poses.

    ``jacobians`` are the derivatives of all equations by the passive coordinates, one matrix for each pose. A pivoted
    QR factorization at each pose gives one candidate. At each pose, the smallest singular value of the candidate's
    equations is divided by the smallest singular value of all equations. The strength of a candidate is the smallest of
    these ratios. Singular poses are left out. Return the row indices of the candidate with the largest strength.
    """
    from scipy.linalg import qr

    def compute_strength(rows: list[int]) -> float:
        return min(_compute_smallest_singular_value(Jp[rows]) / smallest for Jp, smallest in regular)

    smallest_values = [_compute_smallest_singular_value(Jp) for Jp in jacobians]
    regular = [(Jp, value) for Jp, value in zip(jacobians, smallest_values, strict=True) if value > RANK_TOLERANCE]
    count = jacobians[0].shape[1]
    candidates = [sorted(int(k) for k in qr(Jp.T, mode="r", pivoting=True)[1][:count]) for Jp in jacobians]
    return max(candidates, key=compute_strength)


def _compute_smallest_singular_value(matrix: RowsByUnknown) -> float:
    return float(np.linalg.svd(matrix, compute_uv=False)[-1])


def _find_closed_form(constraint: Constraint, poses: Sequence[PerCoordinate]) -> Affine | None:
    """U in closed form if E is the same at all poses and U closes the loops far from home too, else None."""
    Es = [np.array(constraint.tangent(x)) for x in poses]
    E = np.where(np.abs(Es[0] - np.rint(Es[0])) < INTEGER_TOLERANCE, np.rint(Es[0]), Es[0])
    if max(np.abs(other - E).max() for other in Es) > INTEGER_TOLERANCE:
        return None
    offset = poses[0] - E @ poses[0][list(constraint.actuated)]
    offset = np.where(np.abs(offset) < INTEGER_TOLERANCE, 0.0, offset)
    Q = _spread_samples(len(constraint.actuated))
    gaps, _, _ = constraint.closure_state((Q @ E.T + offset).T)
    return Affine(E, offset) if np.abs(np.array(gaps)).max() < CLOSED_FORM_TOLERANCE else None


def _spread_samples(size: int, count: int = 64) -> Float[np.ndarray, "samples actuated"]:
    """Samples that fill the cube from -3 to 3 evenly: multiples of irrational numbers modulo 1, scaled."""
    steps = np.sqrt(np.arange(2.0, 2.0 + size) + 0.1)
    values: Float[np.ndarray, "samples actuated"] = 6.0 * ((np.arange(1, count + 1)[:, None] * steps) % 1.0) - 3.0
    return values
