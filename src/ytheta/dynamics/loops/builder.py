"""The making of a Constraint: which equations are kept, and whether the loops close in closed form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ytheta.dynamics.loops.constraint import Affine, Constraint, column, joint_positions
from ytheta.dynamics.loops.cut_joints import cut_joint
from ytheta.dynamics.mechanism import mechanism
from ytheta.dynamics.motion import Motion, scalars
from ytheta.dynamics.vectors import zeros
from ytheta.errors import ClosureError
from ytheta.robot.loops.closure import CLOSURE_TOLERANCE, RANK, close_loops
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerCoordinate, RowsByUnknown

STRIDES = (0.3, 0.1, 0.03)  # radians or metres: how far from home the equations are tried, the longest that closes
ROUNDING = 1e-12  # a closed form closes the loops this well; metres and radians
SNAP = 1e-9  # entries of a constant E this close to a whole number, and offsets this close to zero, are that


def build_constraint(robot: Robot) -> Constraint:
    """The constraint of a robot. ClosureError if its loops do not close at home or leave something undetermined."""
    import casadi

    mech = mechanism(robot)
    numeric = mech.robot
    x = casadi.SX.sym("x", len(numeric.coordinates))
    places = {name: k for k, name in enumerate(numeric.coordinates)}
    if not numeric.loops:
        every = tuple(range(len(places)))
        return Constraint(mech, x, every, (), numeric.home_coordinates, (), casadi.SX(0, 1))
    actuated = tuple(places[name] for name in numeric.actuated)
    passive = tuple(places[name] for name in numeric.passive)
    closure = close_loops(numeric)
    if closure.freedom < len(actuated):
        raise ClosureError(
            f"the loops of robot {robot.name!r} leave {closure.freedom} coordinates free, but {len(actuated)} are "
            f"actuated; leave {len(actuated) - closure.freedom} of {', '.join(robot.actuated)} to the loops"
        )
    closure.or_raise()
    q, cos, sin = joint_positions(numeric, scalars(x))
    motion = Motion(q, cos, sin, zeros(len(q)), zeros(len(q)), zeros(len(q)))
    cuts = tuple(cut_joint(mech, motion, loop) for loop in numeric.loops)
    every_one = column([entry for cut in cuts for entry in cut.equations])
    home = np.array([closure.coordinates[name] for name in numeric.coordinates])
    loops = Constraint(mech, x, actuated, passive, home, cuts, every_one)
    poses = _poses(loops)
    kept = _independent(loops, poses)
    loops = replace(loops, home=poses[0], equations=every_one[kept])
    return replace(loops, affine=_affine(loops, poses))


def _poses(loops: Constraint) -> list[PerCoordinate]:
    """Home, closed to the last digit, and closed poses around it: each actuated coordinate moved both ways."""
    home = _closed(loops, loops.home)
    if home is None:
        raise ClosureError(f"the loops of robot {loops.robot.name!r} do not close at home; correct its [home]")
    poses = [home]
    for place in loops.actuated:
        for sense in (1, -1):
            for stride in STRIDES:
                moved = home.copy()
                moved[place] += sense * stride
                found = _closed(loops, moved)
                if found is not None:
                    poses.append(found)
                    break
    return poses


def _closed(loops: Constraint, x: PerCoordinate) -> PerCoordinate | None:
    """The pose nearby that fulfils all equations, by Gauss-Newton in the passive coordinates; None if it is far."""
    passive = list(loops.passive)
    start, x = x, x.copy()
    c, J = _equations(loops, x)
    for _ in range(30):
        step = np.linalg.lstsq(J[:, passive], c, rcond=RANK)[0]
        x[passive] -= step
        c, J = _equations(loops, x)
        if np.abs(step).max(initial=0.0) < ROUNDING:
            break
    near = np.abs(x - start).max(initial=0.0) < 2.0
    return x if near and np.abs(c).max(initial=0.0) < CLOSED else None


def _equations(loops: Constraint, x: PerCoordinate) -> tuple[Float[np.ndarray, "rows"], RowsByUnknown]:
    import casadi

    function = casadi.Function("c", [loops.x], [loops.equations, casadi.jacobian(loops.equations, loops.x)])
    c, J = function(x)
    return np.array(c)[:, 0], np.array(J)


def _independent(loops: Constraint, poses: list[PerCoordinate]) -> list[int]:
    """Equations, as many as passive coordinates, that stay independent at all poses.

    Each pose proposes its choice by a pivoted QR factorisation; the one is taken whose weakest direction, relative to
    what all equations together offer, is strongest at its worst pose.
    """
    from scipy.linalg import qr

    Jps = [_equations(loops, x)[1][:, list(loops.passive)] for x in poses]
    count = len(loops.passive)

    def strength(rows: list[int]) -> float:
        return min(_weakest(Jp[rows]) / _weakest(Jp) for Jp in Jps if _weakest(Jp) > RANK)

    choices = [sorted(int(k) for k in qr(Jp.T, mode="r", pivoting=True)[1][:count]) for Jp in Jps]
    return max(choices, key=strength)


def _weakest(matrix: RowsByUnknown) -> float:
    return float(np.linalg.svd(matrix, compute_uv=False)[-1])


def _affine(loops: Constraint, poses: list[PerCoordinate]) -> Affine | None:
    """U in closed form if E is the same at all poses, and the loops close far from home too."""
    Es = [np.array(loops.tangent(x)) for x in poses]
    E = np.where(np.abs(Es[0] - np.rint(Es[0])) < SNAP, np.rint(Es[0]), Es[0])
    if max(np.abs(other - E).max() for other in Es) > SNAP:
        return None
    offset = poses[0] - E @ poses[0][list(loops.actuated)]
    offset = np.where(np.abs(offset) < SNAP, 0.0, offset)
    Q = _scattered(len(loops.actuated))
    gaps, _, _ = loops.verdict((Q @ E.T + offset).T)
    return Affine(E, offset) if np.abs(np.array(gaps)).max() < ROUNDING else None


def _scattered(size: int, count: int = 64) -> Float[np.ndarray, "samples actuated"]:
    """Values between -3 and 3 that fill the cube evenly: multiples of irrational numbers, modulo 1."""
    steps = np.sqrt(np.arange(2.0, 2.0 + size) + 0.1)
    values: Float[np.ndarray, "samples actuated"] = 6.0 * ((np.arange(1, count + 1)[:, None] * steps) % 1.0) - 3.0
    return values
