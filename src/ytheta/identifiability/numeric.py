"""Base parameters by rank: the regressor on a structured sample of states, factorised.

Identity      the rows of K span what the rows of Y(q, qd, qdd) span over all states
Reference     Gautier 1991, "Numerical calculation of the base inertial parameters of robots"
Accepts       everything that moves: loops, couplings, motors, rotor inertia, friction, declared forces
Notation      code   meaning
              L      a length of the robot's size, the unit of length
              W      regressors of all states, one below the other, made free of units
Differs from  the paper in: no velocities. Y theta vanishes for all motions exactly when the mass matrix and the gravity
              torque of theta vanish for all poses, so the states are poses at rest, each with no acceleration and with
              one at a time; velocities come in with friction only. Units are the robot's size, its mass and gravity,
              so that a singular value says how much of a parameter is seen, whatever the sample; the unit of a
              declared force is what makes its largest torque the unit of torque. Independent columns
              are looked for in a fixed order: the same robot gives the same basis in every run.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ytheta.conventions import FORCE_PARAMETER
from ytheta.dynamics.graphs import regressor_graph
from ytheta.dynamics.loops.builder import build_constraint
from ytheta.dynamics.loops.constraint import Constraint
from ytheta.dynamics.loops.solver import solve
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.echelon import looking_order, reduced
from ytheta.native import compile_graph
from ytheta.robot.parameters import is_dissipative, length_exponents
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

G = 9.81  # the unit of acceleration
POSES, ROWS = 12, 1500  # at least; every pose gives as many rows as the square of the joints
# What is seen less than this, of what is seen best, is rounding: 3.1416 misses half a turn by 7.3e-6.
SEEN = 1e-5
NARROWEST = 12  # halvings of the whole workspace, after which a loop counts as unable to move
SINGULAR = 1e3  # poses this near to a singularity of a loop are left out: numbers there are large and say little


def accepts(robot: Robot) -> str | None:
    """None, or the reason why not."""
    if robot.loops and not robot.actuated:
        return (
            f"robot {robot.name!r} has loops and no actuated coordinates, so nothing says what moves it; choose some "
            "as 'actuated' in its description"
        )
    if robot.unset_lengths:
        return (
            f"robot {robot.name!r} has a length without a value, {robot.unset_lengths[0]!r}; set it with "
            "robot.with_lengths or --length, or use method lin, which keeps it as a symbol"
        )
    if not robot.actuated:
        return f"robot {robot.name!r} has no moving joint, so no motion reveals anything of it"
    return None


def base_parameters(robot: Robot, *, asked: Sequence[str]) -> BaseParameters:
    """The base parameters among the standard parameters asked about."""
    reason = accepts(robot)
    if reason is not None:
        raise InputError(reason)
    loops = build_constraint(robot)
    units = _units(robot)
    Q = _poses(loops, units.length)
    names = [name for name in robot.parameter_names if name in set(asked)]
    velocities = any(is_dissipative(name) for name in names)
    x, qd, qdd = _states(Q, units, velocities=velocities)
    Y = compile_graph(regressor_graph(robot), backend="interpreter")(x, qd, qdd)
    if robot.forces:
        Y = _where_forces_are(Y, robot)
        units = _with_forces(units, Y, len(robot.forces))
    W = (Y * units.parameters / units.torques[:, None]).reshape(-1, Y.shape[2])
    W[:, [name not in set(asked) for name in robot.parameter_names]] = 0.0
    # Near the singular poses of loops passive joints move without bounds; such rows must not drown the others.
    W /= np.maximum(np.abs(W).max(axis=1, keepdims=True, initial=0.0), 1.0)
    R = np.linalg.qr(W, mode="r")
    _, sizes, directions = np.linalg.svd(R, full_matrices=False)
    seen = sizes / max(sizes[0], np.finfo(float).tiny)
    rank = int(np.count_nonzero(seen > SEEN))
    order = looking_order(robot, names)
    independent, K = reduced(directions[:rank], order, rank, dependent=SEEN)
    K = K * units.parameters[independent][:, None] / units.parameters
    rest = float(seen[rank]) if rank < len(seen) else 0.0
    gap = (float(seen[rank - 1]), rest) if rank else (0.0, rest)
    heads = tuple(robot.parameter_names[k] for k in independent)
    return BaseParameters(robot, "qr", heads, K.astype(object), tuple(names), gap)


@dataclass(frozen=True, eq=False)
class _Units:
    """Units of everything that is measured, made from a length, unit mass and G."""

    length: float
    torques: Float[np.ndarray, "actuated"]
    rates: Float[np.ndarray, "actuated"]
    accelerations: Float[np.ndarray, "actuated"]
    parameters: Float[np.ndarray, "params"]


def _units(robot: Robot) -> _Units:
    numeric = robot.numeric.merged
    length = max(
        sum(
            float(np.linalg.norm(frame.matrix[:3, 3]))
            for j in numeric.path(link.name)
            for frame in (j.placement, j.seat)
        )
        for link in numeric.links
    )
    L = length or 1.0
    sliding = robot.sliding_joints
    arm = np.array([1.0 if name in sliding else L for name in robot.actuated])
    sizes = L ** length_exponents(robot)
    motors = _arms_of_motors(robot, sliding, L)
    for k, name in enumerate(robot.parameter_names):
        owner, _, parameter = name.rpartition(".")
        own = motors.get(owner, 1.0 if owner in sliding else L)
        # Friction is a torque, viscous friction one per rate; the size of a force shows in its column, _with_forces.
        drive = {"Ia": own**2, "fv": own**2 * np.sqrt(G / L), "fc": own * G, "fo": own * G, FORCE_PARAMETER: 1.0}
        sizes[k] = drive.get(parameter, sizes[k])
    return _Units(L, arm * G, np.sqrt(G * L) / arm, G / arm, sizes)


def _arms_of_motors(robot: Robot, sliding: Collection[str], length: float) -> dict[str, float]:
    """What a motor moves by, at most, while it turns by one: one that is geared up is felt the more."""
    factors, _ = robot.motor_map
    arms = np.array([1.0 if name in sliding else length for name in robot.coordinates])
    turns = (np.abs(factors) / arms).max(axis=1, initial=0.0)
    return {motor.name: 1.0 / turn if turn else length for motor, turn in zip(robot.motors, turns, strict=True)}


def _where_forces_are(Y: Float[np.ndarray, "states actuated params"], robot: Robot) -> np.ndarray:
    """Without the states in which the shape of a force has no value, such as the root of a negative number."""
    defined = np.isfinite(Y).all(axis=(1, 2))
    if not 2 * np.count_nonzero(defined) > len(Y):
        raise InputError(
            f"robot {robot.name!r}: forces ({', '.join(force.name for force in robot.forces)}) have no finite value in "
            "most of the workspace, so there is nothing to measure a rank from; correct their expressions"
        )
    return Y[defined]


def _with_forces(units: _Units, Y: Float[np.ndarray, "states actuated params"], forces: int) -> _Units:
    """The units with those of forces; one that does nothing keeps 1."""
    before = len(units.parameters) - forces
    largest = np.abs(Y[:, :, before:] / units.torques[:, None]).max(axis=(0, 1))
    own = 1.0 / np.where(largest > 0.0, largest, 1.0)
    return replace(units, parameters=np.concatenate([units.parameters[:before], own]))


def _states(Q: np.ndarray, units: _Units, *, velocities: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every pose at rest, with every acceleration alone, and with velocities where friction is looked at."""
    size = len(units.torques)
    still, alone = np.zeros((1, size)), np.diag(units.accelerations)
    rates, accelerations = [still, np.zeros_like(alone)], [still, alone]
    if velocities:
        signs = np.where(_spread(2 * size + 2, size) < 0.5, -1.0, 1.0) * (0.5 + _spread(2 * size + 2, size))
        rates.append(signs * units.rates)
        accelerations.append(np.zeros_like(signs))
    qd, qdd = np.concatenate(rates), np.concatenate(accelerations)
    return np.repeat(Q, len(qd), axis=0), np.tile(qd, (len(Q), 1)), np.tile(qdd, (len(Q), 1))


def _poses(loops: Constraint, length: float) -> Float[np.ndarray, "poses coordinates"]:
    """Closed coordinates all over the workspace: what loops hold is moved as far from home as they can be closed."""
    robot = loops.robot
    size = len(robot.actuated)
    wanted = max(POSES, -(-ROWS // (size * (size + 1))), -(-4 * len(robot.parameter_names) // (size * (size + 1))))
    sliding = robot.sliding_joints
    reach = np.array([length if name in sliding else np.pi for name in robot.actuated])
    home = loops.home[list(loops.actuated)]
    if not robot.loops:
        return home + (2.0 * _spread(wanted, size) - 1.0) * reach
    bound = robot.coordinates_of(joint for loop in robot.loops for joint in robot.joints_of(loop))
    held = np.array([name in bound for name in robot.actuated])
    found = np.empty((0, len(loops.home)))
    for halvings in range(NARROWEST):
        width = np.where(held, reach / 2**halvings, reach)
        outcome = solve(loops, home + (2.0 * _spread(4 * wanted, size) - 1.0) * width)
        found = np.concatenate([found, outcome.x[outcome.determined & (outcome.condition < SINGULAR)]])
        if len(found) >= wanted:
            return found
    raise InputError(
        f"robot {robot.name!r}: its loops hardly close around home, so there is nothing to measure a rank from; "
        + outcome.advice
    )


def _spread(count: int, size: int) -> Float[np.ndarray, "count size"]:
    """Points that fill the unit cube evenly, the same in every run (an additive recurrence; Roberts 2018)."""
    ratio = 2.0
    for _ in range(60):
        ratio = (1.0 + ratio) ** (1.0 / (size + 1))
    steps = ratio ** -np.arange(1.0, size + 1.0)
    return (0.5 + np.outer(np.arange(1.0, count + 1.0), steps)) % 1.0
