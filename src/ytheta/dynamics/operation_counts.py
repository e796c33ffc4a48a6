"""Operation counts of all formulations of the regressor and of inverse dynamics for one robot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from ytheta.dynamics.formulations.composite_bodies import CompositeBodies, CompositeBody, find_composite_bodies
from ytheta.dynamics.formulations.composite_inertias import compute_inertias
from ytheta.dynamics.formulations.composite_newton_euler import EndEffectorWrench, inverse_dynamics
from ytheta.dynamics.formulations.joint_axes import JointAxis, RotationKind
from ytheta.dynamics.formulations.registry import explain_recursion_refusals, formulations
from ytheta.dynamics.graphs import inverse_dynamics_graph, regressor_graph
from ytheta.dynamics.mechanism import Motion, exact_array
from ytheta.dynamics.vectors import array
from ytheta.native import count_operations
from ytheta.robot.robot import Robot

# Largest number of joints for which all formulations are counted. With more joints, only the first formulation that
# accepts the robot is counted, because the tracing time of the closed forms grows quadratically.
# Chosen on: rule of thumb.
MAX_JOINTS_TO_COUNT_ALL = 12
# Largest number of joints for which anything is counted that grows with the square of it or more: regressors and base
# parameters. Chosen on: chains; 120 joints took 12 s and 0.6 GB, and 300 joints 113 s and 3.4 GB as reported.
MAX_COUNTED_JOINTS = 100


def count_regressor_operations(robot: Robot) -> dict[str, dict[str, Any]]:
    """Return ``multiplications`` and ``additions`` of each formulation, or the ``reason`` why it is not counted."""
    counts: dict[str, dict[str, Any]] = {}
    for name, reason in formulations(robot).items():
        max_joints = MAX_JOINTS_TO_COUNT_ALL if counts else MAX_COUNTED_JOINTS
        if reason is None and len(robot.movable) > max_joints:
            reason = f"accepted, but not counted for more than {max_joints} joints"
        if reason is None:
            count = count_operations(regressor_graph(robot, formulation=name))
            counts[name] = {"multiplications": count.multiplications, "additions": count.additions}
        else:
            counts[name] = {"reason": reason}
    return counts


def count_operations_as_in_lin1995(robot: Robot) -> dict[str, int] | None:
    """Return ``multiplications`` and ``additions`` of Lin's recursion, counted as in Tables II and III of the paper.

    Operations without any use count too, those of rotation matrices do not. None if the recursion refuses the robot.
    """
    if explain_recursion_refusals(robot)["composite_newton_euler"] is not None:
        return None
    multiplications, additions = sum_operations(count_recursion_operations(robot))
    return {"multiplications": multiplications, "additions": additions}


def count_inverse_dynamics_operations(robot: Robot) -> dict[str, dict[str, int]]:
    """Return ``multiplications`` and ``additions`` of each formulation of inverse dynamics, fewest operations first.

    The parameters are constants.
    """
    accepted = [name for name, reason in explain_recursion_refusals(robot).items() if reason is None]
    counts = {name: count_operations(inverse_dynamics_graph(robot, formulation=name)) for name in accepted}
    order = sorted(counts, key=lambda name: counts[name].multiplications + counts[name].additions)
    return {
        name: {"multiplications": counts[name].multiplications, "additions": counts[name].additions} for name in order
    }


# Operations of Lin's recursion, joint by joint and variable by variable, counted as Table II of the paper counts them.
#
# Reference     [lin1995] sec. III-B, Tables II and III
#
# The recursion runs on scalars that record the operations on them. The rules are those of the paper:
#
# - Every operation on a variable counts, also if no torque needs its result, and also if it was done before.
# - Numbers that do not depend on the motion are constants. Operations between constants are free, and so are changes of
#   sign. Gravity is an input, not a constant.
# - A product with a rotation matrix R takes two plane rotations: 8 multiplications and 4 additions.
# - The entries of R (variable ``R``) are counted apart, as in the text. So is D of (91) and (93) (variable ``D``), for
#   which Table II has no row.
# - 2 qd is an addition.
# - Psi is computed for every joint from s on, prismatic ones included.
# - In the count for a general robot, no constant is zero, and vectors from joint s on are full, also those that joint s
#   takes from the joints before it. In the count for one robot, zero constants need no operations.


# The variables of Table II, in its order; ``h`` includes h* (69), and ``zeta`` includes zeta* (74), (88), (89).
VARIABLES = ("omega", "omegadot", "Omega", "Psi", "h", "a", "rho", "mu bar", "zeta bar", "mu", "zeta", "tau")
NOT_IN_TABLE_TWO = ("R", "D")
GENERIC_VALUE = 0.5  # of all constants of a general robot

Count: TypeAlias = tuple[int, int]  # multiplications and additions
OperationTable: TypeAlias = list[Mapping[str, Count]]  # by variable, for every joint


@dataclass(eq=False)
class CountedScalar:
    """A variable without a value: the input of the recursion, or the result of a multiplication or an addition."""

    recorded: list[CountedScalar] = field(repr=False)
    multiplies: bool = False
    operands: tuple[CountedScalar, ...] = field(default=(), repr=False)
    owner: tuple[int, str] | None = None  # body and variable for which the operation was done

    def __add__(self, other: Any) -> CountedScalar:
        return self if type(other) is int and not other else self._record(other, multiplies=False)

    __radd__ = __sub__ = __rsub__ = __add__

    def __mul__(self, other: Any) -> Any:
        if type(other) is int and other in (0, 1, -1):
            return self if other else 0
        return self._record(other, multiplies=True)

    __rmul__ = __mul__

    def __neg__(self) -> CountedScalar:
        return self

    def _record(self, other: Any, *, multiplies: bool) -> CountedScalar:
        operands = tuple(x for x in (self, other) if isinstance(x, CountedScalar))
        self.recorded.append(CountedScalar(self.recorded, multiplies, operands))
        return self.recorded[-1]


def count_recursion_operations(robot: Robot, *, wrench: bool = False, needed_only: bool = False) -> OperationTable:
    """Count the operations for one robot, in the order of ``robot.movable``.

    ``wrench``: with f_E and t_E on the last link. ``needed_only``: without operations whose results no torque needs.
    """
    return _count(find_composite_bodies(robot), general=False, wrench=wrench, needed_only=needed_only)


def count_general_operations(kinds: str, s: int, *, wrench: bool = True, perpendicular: bool = False) -> OperationTable:
    """Count the operations for a general robot with joints ``kinds``, such as "RRPR", along a chain; s as in the paper.

    Gravity is along z of the base. ``perpendicular``: every axis is perpendicular to the one before it, as in most
    industrial robots.
    """
    arm = _make_general_arm(kinds, s, alpha=math.pi / 2 if perpendicular else GENERIC_VALUE)
    return _count(arm, general=True, wrench=wrench, needed_only=False)


def count_composite_inertia_operations(kinds: str) -> OperationTable:
    """Count the operations for c and J of every composite body (variables ``c``, ``J``) of a general chain of joints.

    Those of (8)-(15), as ``composite_inertias`` computes them, by the same rules.
    """
    arm = _make_general_arm(kinds, s=len(kinds) + 1, alpha=GENERIC_VALUE)
    recorder = _Recorder(arm)
    compute_inertias(arm, recorder.make_motion(), recorder.observe)
    return recorder.tabulate(recorder.operations)


def sum_operations(table: OperationTable) -> Count:
    """Return multiplications and additions of all joints, without those that Table II leaves out."""
    counted = [count for joint in table for name, count in joint.items() if name not in NOT_IN_TABLE_TWO]
    return sum(m for m, _ in counted), sum(a for _, a in counted)


def _count(arm: CompositeBodies, *, general: bool, wrench: bool, needed_only: bool) -> OperationTable:
    recorder = _Recorder(arm)
    inputs, motion = recorder.make_inputs, recorder.make_motion()
    gravity = array([x if type(x) is int else inputs(1)[0] for x in arm.gravity])
    end = EndEffectorWrench(len(arm.axes) - 1, inputs(3), inputs(3), inputs(3)) if wrench else None
    zero = inputs(1)[0] if general else 0
    tau = inverse_dynamics(replace(arm, gravity=gravity), motion, end, zero=zero, observe=recorder.observe)
    return recorder.tabulate(_find_needed(tau) if needed_only else recorder.operations)


@dataclass(eq=False)
class _Recorder:
    """The operations that were done so far, each with the body and the variable it was done for."""

    arm: CompositeBodies
    operations: list[CountedScalar] = field(default_factory=list)
    observed: int = 0

    def make_inputs(self, number: int) -> np.ndarray:
        return array([CountedScalar(self.operations) for _ in range(number)])

    def make_motion(self) -> Motion:
        q, cos, sin, qd, qdd = (self.make_inputs(len(self.arm.axes)) for _ in range(5))
        return Motion(q, cos, sin, qd, qd, qdd)

    def observe(self, body: int, variable: str) -> None:
        for operation in self.operations[self.observed :]:
            operation.owner = (self.arm.axes[body].joint, variable)
        self.observed = len(self.operations)

    def tabulate(self, operations: list[CountedScalar]) -> OperationTable:
        table: list[dict[str, Count]] = [{} for _ in self.arm.axes]
        for operation in operations:
            assert operation.owner is not None
            joint, variable = operation.owner
            m, a = table[joint].get(variable, (0, 0))
            table[joint][variable] = m + operation.multiplies, a + (not operation.multiplies)
        return list(table)


def _find_needed(tau: np.ndarray) -> list[CountedScalar]:
    """Return the operations on which a torque depends."""
    found: dict[int, CountedScalar] = {}
    waiting = [entry for entry in tau if isinstance(entry, CountedScalar)]
    while waiting:
        scalar = waiting.pop()
        if scalar.operands and id(scalar) not in found:
            found[id(scalar)] = scalar
            waiting += scalar.operands
    return list(found.values())


def _make_general_arm(kinds: str, s: int, alpha: float) -> CompositeBodies:
    """A chain in which no constant is zero; the values do not matter."""
    value, vector = GENERIC_VALUE, np.full(3, GENERIC_VALUE)
    H = np.eye(4)
    H[:3, 3] = value
    axes: list[JointAxis] = []
    for i, kind in enumerate(kinds, start=1):
        revolute, turns = kind == "R", "R" in kinds[:i]
        rotation = RotationKind.SPATIAL if i >= s else RotationKind.PLANAR if turns else RotationKind.NONE
        u = (np.array([0.0, 0.0, 1.0]) if revolute else vector) if rotation is RotationKind.PLANAR else None
        foot, d = np.array([value, 0.0, 0.0]), value if revolute else 0.0
        parent = i - 2 if i > 1 else None
        axes.append(JointAxis(parent, i - 1, revolute, 0.0, alpha, value, foot, d, H, rotation, u, True, np.zeros(3)))
    body = CompositeBody(value, vector, np.full((3, 3), value), (value, value), np.full((3, 3), value), ())
    return CompositeBodies(tuple(axes), (body,) * len(axes), exact_array([0, 0, -9.81]))
