"""Serial arms built from joint types and axes."""

from __future__ import annotations

from ytheta.robot.frame import Frame, Vector
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot

R, P = JointKind.REVOLUTE, JointKind.PRISMATIC


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


DOWN, NOWHERE = (0.0, 0.0, -9.81), (0.0, 0.0, 0.0)


def arm(*joints: tuple[JointKind, Vector, Vector], gravity: Vector = DOWN, parents: tuple[int, ...] = ()) -> Robot:
    """Joints by kind, axis and place in the link before (or in that of ``parents``); all frames parallel at q = 0."""
    names = ("base", *(f"link{k}" for k in range(1, len(joints) + 1)))
    above = parents or range(len(joints))
    tree = (
        Joint(f"joint{k}", kind, names[parent], names[k], Frame.shift(*place), axis)
        for k, ((kind, axis, place), parent) in enumerate(zip(joints, above, strict=True), start=1)
    )
    return Robot("arm", tuple(Link(name) for name in names), tuple(tree), gravity=gravity)


STILL = (0.0, 0.0, 0.0)


SIDE = (0.5, 0.0, 0.0)


UP = (0.0, 0.0, 0.5)


RULES = {
    # delta: the first moment of a turning body
    "vertical axis": (arm((R, Z, STILL)), 1, 1),
    "horizontal axis": (arm((R, X, STILL)), 3, 3),
    "no gravity": (arm((R, X, STILL), gravity=NOWHERE), 1, 1),
    "oblique gravity": (arm((R, Z, STILL), gravity=(0.0, 3.0, -9.0)), 3, 3),
    "coaxial": (arm((R, Z, STILL), (R, Z, UP)), 2, 3),
    "parallel": (arm((R, Z, STILL), (R, Z, SIDE)), 4, 5),
    "coaxial through a slide along": (arm((R, Z, STILL), (P, Z, UP), (R, Z, UP)), 3, 5),
    "coaxial through a slide across": (arm((R, Z, STILL), (P, X, UP), (R, Z, UP)), 7, 9),
    "on a slide along": (arm((P, Z, STILL), (R, Z, SIDE)), 2, 3),
    "on a slide across": (arm((P, X, STILL), (R, Z, SIDE)), 4, 4),
    # sigma and kappa: slides between r and s
    "slide along r": (arm((R, Z, STILL), (P, Z, SIDE)), 2, 3),
    "slide across r": (arm((R, Z, STILL), (P, X, SIDE)), 4, 5),
    "slide skew to r": (arm((R, Z, STILL), (P, (0.0, 0.6, 0.8), SIDE)), 4, 5),
    "slide after s": (arm((R, Z, STILL), (R, X, STILL), (P, X, SIDE)), 12, 13),
    # without gravity, where all axes meet
    "meeting axes": (arm((R, Z, STILL), (R, X, UP), gravity=NOWHERE), 6, 6),
    "meeting axes, weight": (arm((R, Z, STILL), (R, X, UP)), 8, 8),
    "three meeting axes": (arm((R, Z, STILL), (R, X, UP), (R, Y, (0.0, 0.5, 0.0)), gravity=NOWHERE), 11, 12),
    "a third that misses": (arm((R, Z, STILL), (R, X, UP), (R, Y, SIDE), gravity=NOWHERE), 13, 14),
    "meeting axes on a slide": (arm((P, Z, STILL), (R, Z, STILL), (R, X, UP), gravity=NOWHERE), 9, 9),
    # rotor inertia
    "skew s": (arm((R, Z, STILL), (R, (0.0, 0.6, 0.8), STILL)), 8, 9),
    "square s": (arm((R, Z, STILL), (R, X, SIDE)), 8, 8),
    "square to two": (arm((R, Z, STILL), (R, Z, SIDE), (R, X, SIDE)), 11, 12),
    "lift": (arm((P, Z, STILL)), 1, 2),
    "cart": (arm((P, X, STILL)), 1, 1),
    "two carts along": (arm((P, X, STILL), (P, X, STILL)), 2, 3),
    "two carts across": (arm((P, X, STILL), (P, Y, STILL)), 2, 2),
    "slide along r, no gravity": (arm((R, Z, STILL), (P, Z, SIDE), gravity=NOWHERE), 2, 2),
    "slide along r on a cart": (arm((P, X, STILL), (R, Z, STILL), (P, Z, SIDE), gravity=NOWHERE), 5, 5),
    "slide along r on a lift": (arm((P, Z, STILL), (R, Z, STILL), (P, Z, SIDE), gravity=NOWHERE), 3, 4),
    # trees
    "two arms on the base": (arm((R, Z, STILL), (R, Z, SIDE), parents=(0, 0)), 2, 2),
    "two arms on a turntable": (arm((R, Z, STILL), (R, Z, SIDE), (R, X, SIDE), parents=(0, 1, 1)), 11, 12),
}  # fmt: skip
