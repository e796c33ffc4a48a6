"""Construction of a ``Constraint``: the choice of independent equations, and the search for a closed form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ytheta.dynamics.loops.constraint import Affine, Constraint, column, compute_joint_positions
from ytheta.dynamics.mechanism import build_mechanism
from ytheta.dynamics.motion import scalars
from ytheta.errors import ClosureError
from ytheta.robot.loops.closure import close_loops
from ytheta.robot.loops.cut_joint import locate_cut_joint
from ytheta.robot.loops.equations import (
    RANK_TOLERANCE,
    close_near,
    compute_closure_jacobians,
    compute_closure_residuals,
    find_loop_coordinates,
)
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Int, PerCoordinate, SamplesByCoordinate, freeze

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
    numbers = _compute_numbers(numeric)
    positions = compute_joint_positions(numeric, scalars(x))
    cuts = tuple(locate_cut_joint(numeric, loop, *positions) for loop in numeric.loops)
    equations = column(np.concatenate([cut.residual for cut in cuts]))
    independent = equations[list(numbers.independent)]
    return Constraint(mech, x, actuated, passive, numbers.home, cuts, independent, numbers.affine)


@dataclass(frozen=True, eq=False)
class _Numbers:
    """The closed home configuration, the indices of the equations to use, and the closed form if there is one."""

    home: PerCoordinate
    independent: tuple[int, ...]
    affine: Affine | None


@lru_cache(maxsize=32)  # every kernel of a robot needs them, and they take longer than the symbols
def _compute_numbers(robot: Robot) -> _Numbers:
    closure = close_loops(robot).or_raise()
    poses = _close_around(robot, np.array([closure.coordinates[name] for name in robot.coordinates]))
    actuated, passive = ([robot.coordinates.index(name) for name in names] for names in (robot.actuated, robot.passive))
    J = compute_closure_jacobians(robot, poses)
    smallest = _compute_smallest_singular_values(J[:, :, passive])
    J, smallest = J[smallest > RANK_TOLERANCE], smallest[smallest > RANK_TOLERANCE]  # singular poses are left out
    independent = _choose_independent(J[:, :, passive], smallest)
    E = np.zeros((len(J), len(robot.coordinates), len(actuated)))
    E[:, actuated] = np.eye(len(actuated))
    E[:, passive] = -np.linalg.solve(J[:, independent][:, :, passive], J[:, independent][:, :, actuated])
    return _Numbers(freeze(poses[0]), tuple(independent), _find_closed_form(robot, poses[0], E))


def _close_around(robot: Robot, home: PerCoordinate) -> SamplesByCoordinate:
    """The home configuration, and closed poses around home with each driving coordinate moved in both directions.

    Driving coordinates are the actuated ones of joints in loops; all others change no equation.
    """
    in_loops = find_loop_coordinates(robot)
    driving = [robot.coordinates.index(name) for name in robot.actuated if name in in_loops]
    passive = [robot.coordinates.index(name) for name in robot.passive]
    units = np.eye(len(home))[driving]
    offsets = np.array([sign * offset * unit for unit in units for sign in (1, -1) for offset in TEST_OFFSETS])
    starts = np.concatenate([home[None], home + offsets.reshape(-1, len(home))])
    x, closed = close_near(robot, starts, passive)
    if not closed[0]:
        raise ClosureError(f"the loops of robot {robot.name!r} do not close at home; correct its [home]")
    usable = closed & (np.abs(x - starts).max(axis=1) < MAX_CHANGE)
    poses = [x[0]]
    for first in range(1, len(x), len(TEST_OFFSETS)):
        poses += [x[k] for k in range(first, first + len(TEST_OFFSETS)) if usable[k]][:1]
    return np.array(poses)


def _choose_independent(
    jacobians: Float[np.ndarray, "poses equations passive"], smallest: Float[np.ndarray, "poses"]
) -> list[int]:
    """Choose as many equations as there are passive coordinates; they should be independent at all poses.

    ``jacobians`` are the derivatives of all equations by the passive coordinates, and ``smallest`` their smallest
    singular values. A pivoted QR factorization at each pose gives one candidate. At each pose, the smallest singular
    value of the candidate's equations is divided by the smallest singular value of all equations. The strength of a
    candidate is the smallest of these ratios. Return the row indices of the candidate with the largest strength.
    """

    def compute_strength(rows: tuple[int, ...]) -> float:
        return float((_compute_smallest_singular_values(jacobians[:, rows]) / smallest).min())

    candidates = dict.fromkeys(tuple(sorted(rows)) for rows in _pivot_rows(jacobians).tolist())
    strongest = max(candidates, key=compute_strength)
    return list(strongest)


def _pivot_rows(matrices: Float[np.ndarray, "poses rows columns"]) -> Int[np.ndarray, "poses columns"]:
    """Choose as many independent rows of each matrix as it has columns: each time the row with the largest remainder.

    The remainder is orthogonal to the rows chosen before; so a QR factorization with column pivoting chooses too.
    """
    remainder = matrices.copy()
    every = np.arange(len(matrices))
    chosen = np.zeros((len(matrices), matrices.shape[2]), dtype=int)
    for k in range(matrices.shape[2]):
        chosen[:, k] = np.argmax(np.sum(remainder**2, axis=2), axis=1)
        row = remainder[every, chosen[:, k]]
        row = row / np.linalg.norm(row, axis=1)[:, None]
        remainder -= (remainder @ row[:, :, None]) * row[:, None, :]
        remainder[every, chosen[:, k]] = 0.0
    return chosen


def _compute_smallest_singular_values(matrices: Float[np.ndarray, "poses rows columns"]) -> Float[np.ndarray, "poses"]:
    values: Float[np.ndarray, "poses"] = np.linalg.svd(matrices, compute_uv=False)[:, -1]
    return values


def _find_closed_form(
    robot: Robot, home: PerCoordinate, tangents: Float[np.ndarray, "poses coordinates actuated"]
) -> Affine | None:
    """U in closed form if E is the same at all poses and U closes the loops far from home too, else None."""
    E = np.where(np.abs(tangents[0] - np.rint(tangents[0])) < INTEGER_TOLERANCE, np.rint(tangents[0]), tangents[0])
    if np.abs(tangents - E).max() > INTEGER_TOLERANCE:
        return None
    offset = home - E @ home[[robot.coordinates.index(name) for name in robot.actuated]]
    offset = np.where(np.abs(offset) < INTEGER_TOLERANCE, 0.0, offset)
    Q = _spread_samples(len(robot.actuated))
    gaps = np.linalg.norm(compute_closure_residuals(robot, Q @ E.T + offset), axis=1)
    return Affine(E, offset) if gaps.max() < CLOSED_FORM_TOLERANCE else None


def _spread_samples(size: int, count: int = 64) -> Float[np.ndarray, "samples actuated"]:
    """Samples that fill the cube from -3 to 3 evenly: multiples of irrational numbers modulo 1, scaled."""
    steps = np.sqrt(np.arange(2.0, 2.0 + size) + 0.1)
    values: Float[np.ndarray, "samples actuated"] = 6.0 * ((np.arange(1, count + 1)[:, None] * steps) % 1.0) - 3.0
    return values
