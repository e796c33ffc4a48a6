"""Mechanism: the tree of moving bodies of a robot, with its geometry as arrays; and ``Motion``, in scalars of any type.

Bodies are the moving links and the loads of the merged robot, parents before children. The geometry of a body is the
transform from its parent's link frame to its own (see ``robot.parts``)::

    parent ──P, p──▶ joint frame ──motion about or along axis by q──▶ moved frame ──S, s──▶ body

Entries are numbers, or symbols if lengths or angles are kept symbolic. Entries that are exactly 0, 1 or -1 are
integers, so that products with them cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ytheta.conventions import JOINT_PARAMETERS, LINK_PARAMETERS, WRENCH_COMPONENTS
from ytheta.dynamics.vectors import array, dot, inner, rotation_from_vector, zeros
from ytheta.files.symbols import Length, Scalar
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Joint, JointKind
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyMatrix3, AnyPerJoint, AnyVector3, Shaped

if TYPE_CHECKING:
    import casadi

Pose: TypeAlias = tuple[AnyMatrix3, AnyVector3]  # rotation and position
CosSin: TypeAlias = tuple[Any, Any]  # cosine and sine of an angle, as scalars of any kind
PER_LINK = len(LINK_PARAMETERS)  # number of standard parameters of one link
PER_DRIVE = len(JOINT_PARAMETERS)  # number of standard parameters of one drive


@dataclass(frozen=True, eq=False)
class Body:
    """One moving link or load.

    ``parent`` is the index of the parent body, or None for the base. ``joint`` is the index of the joint in q, or None
    if the body is fixed to its parent. ``free`` is true for a floating base. ``wrench`` is the index in q of the first
    of the six coordinates of a floating base or of the sensor that carries the body; None without them. Sensors do not
    move. The ``joint`` of both is None.
    """

    name: str
    parent: int | None
    joint: int | None
    revolute: bool
    axis: Shaped[np.ndarray, "3"]
    P: Shaped[np.ndarray, "3 3"]
    p: Shaped[np.ndarray, "3"]
    S: Shaped[np.ndarray, "3 3"]
    s: Shaped[np.ndarray, "3"]
    free: bool = False
    wrench: int | None = None

    @property
    def prismatic(self) -> bool:
        return self.joint is not None and not self.revolute


@dataclass(frozen=True, eq=False)
class Mechanism:
    """The bodies of a robot, gravity in base axes, and the merged robot itself."""

    robot: Robot
    bodies: tuple[Body, ...]
    gravity: Shaped[np.ndarray, "3"]

    @property
    def joints(self) -> int:
        """The number of joint positions q, including the six of a floating base."""
        return len(self.robot.position_names)

    def path(self, body: int) -> tuple[int, ...]:
        """The indices of the bodies on the way from the base to ``body``, including ``body``."""
        path: list[int] = []
        current: int | None = body
        while current is not None:
            path.append(current)
            current = self.bodies[current].parent
        return tuple(reversed(path))


def build_mechanism(
    robot: Robot, lengths: Mapping[str, Any] | None = None, angles: Mapping[str, CosSin] | None = None
) -> Mechanism:
    """Build the mechanism of a robot.

    ``lengths`` maps names of symbolic lengths to scalars of SymPy or CasADi, and ``angles`` those of symbolic angles to
    such scalars for cosine and sine. Symbols need values if they are left out: all, or the angles only.
    """
    if not angles:
        robot = robot.numeric_in_angles if lengths else robot.numeric

    def convert_part(part: Frame) -> Pose:
        return exact_array(part.rotation), exact_array([evaluate_length(x, lengths or {}) for x in part.translation])

    return assemble_mechanism(robot.merged, lambda frame: compose_pose(frame, angles or {}, convert_part))


def assemble_mechanism(merged: Robot, to_pose: Callable[[Frame], Pose]) -> Mechanism:
    """Return the mechanism of a robot without fixed links; ``to_pose`` converts its frames to arrays."""
    index = {link.name: k for k, link in enumerate(merged.links[1:])}
    q = {name: k for k, name in enumerate(merged.position_names)}
    bodies = tuple(_make_body(joint, index, q, to_pose) for joint in merged.joints)
    return Mechanism(merged, bodies, exact_array(merged.gravity_in_base))


def compose_pose(frame: Frame, angles: Mapping[str, CosSin], convert_part: Callable[[Frame], Pose]) -> Pose:
    """Return the rotation and position of a frame, part by part: ``convert_part`` converts a part without a twist."""
    R, p = convert_part(frame.start)
    if frame.twist is None:
        return R, p
    angle = frame.twist.angle
    c, s = angles[angle.name]
    s = s if angle.sign == 1 else -s
    turned = dot(R, array([[1, 0, 0], [0, c, -s], [0, s, c]]))
    R_after, p_after = compose_pose(frame.twist.after, angles, convert_part)
    return dot(turned, R_after), p + dot(turned, p_after)


def exact_array(values: Any) -> np.ndarray:
    """An object array in which exact 0, 1 and -1 are integers."""
    result = array(values)
    flat = result.reshape(-1)  # a view
    for k, value in enumerate(flat.tolist()):
        if isinstance(value, float) and value in (0.0, 1.0, -1.0):
            flat[k] = int(value)
    return result


def evaluate_length(value: Scalar, lengths: Mapping[str, Any]) -> Any:
    """Return a number as it is, and the value of a symbolic length for these scalars."""
    return value.evaluate(lengths) if isinstance(value, Length) else value


def _make_body(joint: Joint, index: Mapping[str, int], q: Mapping[str, int], to_pose: Callable[[Frame], Pose]) -> Body:
    P, p = to_pose(joint.placement)
    S, s = to_pose(joint.seat)
    return Body(
        name=joint.child,
        parent=index.get(joint.parent),
        joint=q.get(joint.name),
        revolute=joint.kind is JointKind.REVOLUTE,
        axis=exact_array(joint.axis),
        P=P,
        p=p,
        S=S,
        s=s,
        free=joint.kind is JointKind.FREE,
        wrench=0 if joint.kind is JointKind.FREE else q.get(f"{joint.name}_{WRENCH_COMPONENTS[0]}"),
    )


# Motion: positions, velocities and accelerations as vectors of any scalar type.
#
# Formulations are NumPy code on object arrays. With CasADi scalars they trace a graph, with SymPy symbols they derive
# equations, and with floats they compute numbers. Sines and cosines are computed here, because each scalar type has its
# own functions for them.


# Added to the square of the angle of a floating base, so that the angle is not zero; 1e-20 rad have no effect.
MIN_SQUARED_ANGLE = 1e-40


@dataclass(frozen=True, eq=False)
class Motion:
    """Positions q with their cosines and sines, velocities qd, and the reference velocity v with its derivative vd.

    The ordinary regressor is Y(q, qd, v = qd, vd = qdd). Control laws of the Slotine-Li kind need Y(q, qd, v, vd) with
    v different from qd. If v *is* qd (the same object), formulations use shorter formulas.

    If the base floats, the first six entries belong to it (see ``robot.robot``), and ``base_rotation`` is the rotation
    of its axes in the world; otherwise ``base_rotation`` is None.
    """

    q: AnyPerJoint
    cos: AnyPerJoint
    sin: AnyPerJoint
    qd: AnyPerJoint
    v: AnyPerJoint
    vd: AnyPerJoint
    base_rotation: AnyMatrix3 | None = None

    @property
    def ordinary(self) -> bool:
        """Whether v is qd, so that there is no separate reference velocity."""
        return self.v is self.qd

    @property
    def at_rest(self) -> Motion:
        """The same position without velocity and acceleration."""
        zero = zeros(len(self.q))
        return replace(self, qd=zero, v=zero, vd=zero)


def numeric_motion(q: Any, qd: Any, qdd: Any, v: Any = None, *, floating: bool = False) -> Motion:
    """A motion of floats, for computing numbers; ``floating``: whether its first six entries are those of the base."""
    q, qd, vd = (np.asarray(x, dtype=float) for x in (q, qd, qdd))
    rotation = None
    if floating:
        angle = math.sqrt(MIN_SQUARED_ANGLE + float(q[3:6] @ q[3:6]))
        rotation = rotation_from_vector(q[3:6], angle, math.sin(angle), math.sin(0.5 * angle)).astype(float)
    return Motion(q, np.cos(q), np.sin(q), qd, qd if v is None else np.asarray(v, dtype=float), vd, rotation)


def sympy_motion(joints: int, *, reference: bool = False) -> Motion:
    """A motion of SymPy symbols q1, qd1, qdd1 …, for printing equations.

    If ``reference`` is true, the symbols v1, vd1 … replace qdd1 ….
    """
    import sympy

    def symbols(name: str) -> np.ndarray:
        return array([sympy.Symbol(f"{name}{k}", real=True) for k in range(1, joints + 1)])

    q, qd = symbols("q"), symbols("qd")
    cos, sin = (array([f(x) for x in q]) for f in (sympy.cos, sympy.sin))
    v, vd = (symbols("v"), symbols("vd")) if reference else (qd, symbols("qdd"))
    return Motion(q, cos, sin, qd, v, vd)


def casadi_base_rotation(q: AnyPerJoint) -> AnyMatrix3:
    """The rotation of a floating base, from joint positions that are CasADi scalars."""
    import casadi

    r = q[3:6]
    angle = casadi.sqrt(inner(r, r) + MIN_SQUARED_ANGLE)
    return rotation_from_vector(r, angle, casadi.sin(angle), casadi.sin(0.5 * angle))


def casadi_motion(q: casadi.SX, qd: casadi.SX, vd: casadi.SX, v: casadi.SX | None = None) -> Motion:
    """A motion of CasADi symbols, for tracing graphs."""
    import casadi

    velocity = scalars(qd)
    cos, sin = scalars(casadi.cos(q)), scalars(casadi.sin(q))
    return Motion(scalars(q), cos, sin, velocity, velocity if v is None else scalars(v), scalars(vd))


def scalars(vector: casadi.SX) -> np.ndarray:
    """The entries of a CasADi vector as an object array."""
    return array([vector[k] for k in range(vector.numel())])
