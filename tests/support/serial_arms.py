"""Serial arms built from joint types and axes."""

from __future__ import annotations

from ytheta.robot.frame import Frame, Vector
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot

R, P = JointKind.REVOLUTE, JointKind.PRISMATIC
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
GRAVITY_DOWN, NO_GRAVITY = (0.0, 0.0, -9.81), (0.0, 0.0, 0.0)
# Offsets of a joint from the link before it.
ORIGIN, DX, DZ = (0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (0.0, 0.0, 0.5)


def arm(
    *joints: tuple[JointKind, Vector, Vector], gravity: Vector = GRAVITY_DOWN, parents: tuple[int, ...] = ()
) -> Robot:
    """An arm of joints by kind, axis and offset from the link before (or from those of ``parents``).

    All frames are parallel at q = 0.
    """
    names = ("base", *(f"link{k}" for k in range(1, len(joints) + 1)))
    parent_links = parents or range(len(joints))
    tree = (
        Joint(f"joint{k}", kind, names[parent], names[k], Frame.shift(*offset), axis)
        for k, ((kind, axis, offset), parent) in enumerate(zip(joints, parent_links, strict=True), start=1)
    )
    return Robot("arm", tuple(Link(name) for name in names), tuple(tree), gravity=gravity)


def arm_with_slides(*angles: float) -> Robot:
    """Prismatic joints between two revolute ones; each axis is rotated by an angle about x against the one before."""
    kinds = [JointKind.REVOLUTE, *[JointKind.PRISMATIC] * (len(angles) - 1), JointKind.REVOLUTE]
    placements = [Frame(), *(Frame.shift(0.2, 0.1) @ Frame.turn((1.0, 0.0, 0.0), angle) for angle in angles)]
    joints = tuple(
        Joint(f"joint{k + 1}", kind, f"link{k}", f"link{k + 1}", placement=placement)
        for k, (kind, placement) in enumerate(zip(kinds, placements, strict=True))
    )
    return Robot("slides", tuple(Link(f"link{k}") for k in range(len(joints) + 1)), joints)


# Arms that show one rule each, with the numbers of base parameters without and with rotor inertia.
RULES = {
    # delta: the first moment of a body on a revolute joint
    "vertical axis": (arm((R, Z, ORIGIN)), 1, 1),
    "horizontal axis": (arm((R, X, ORIGIN)), 3, 3),
    "no gravity": (arm((R, X, ORIGIN), gravity=NO_GRAVITY), 1, 1),
    "oblique gravity": (arm((R, Z, ORIGIN), gravity=(0.0, 3.0, -9.0)), 3, 3),
    "coaxial": (arm((R, Z, ORIGIN), (R, Z, DZ)), 2, 3),
    "parallel": (arm((R, Z, ORIGIN), (R, Z, DX)), 4, 5),
    "coaxial through a slide along": (arm((R, Z, ORIGIN), (P, Z, DZ), (R, Z, DZ)), 3, 5),
    "coaxial through a slide across": (arm((R, Z, ORIGIN), (P, X, DZ), (R, Z, DZ)), 7, 9),
    "on a slide along": (arm((P, Z, ORIGIN), (R, Z, DX)), 2, 3),
    "on a slide across": (arm((P, X, ORIGIN), (R, Z, DX)), 4, 4),
    # sigma and kappa: prismatic joints between r and s
    "slide along r": (arm((R, Z, ORIGIN), (P, Z, DX)), 2, 3),
    "slide across r": (arm((R, Z, ORIGIN), (P, X, DX)), 4, 5),
    "slide skew to r": (arm((R, Z, ORIGIN), (P, (0.0, 0.6, 0.8), DX)), 4, 5),
    "slide after s": (arm((R, Z, ORIGIN), (R, X, ORIGIN), (P, X, DX)), 12, 13),
    # without gravity, if all axes meet
    "meeting axes": (arm((R, Z, ORIGIN), (R, X, DZ), gravity=NO_GRAVITY), 6, 6),
    "meeting axes, weight": (arm((R, Z, ORIGIN), (R, X, DZ)), 8, 8),
    "three meeting axes": (arm((R, Z, ORIGIN), (R, X, DZ), (R, Y, (0.0, 0.5, 0.0)), gravity=NO_GRAVITY), 11, 12),
    "a third that misses": (arm((R, Z, ORIGIN), (R, X, DZ), (R, Y, DX), gravity=NO_GRAVITY), 13, 14),
    "meeting axes on a slide": (arm((P, Z, ORIGIN), (R, Z, ORIGIN), (R, X, DZ), gravity=NO_GRAVITY), 9, 9),
    # rotor inertia
    "skew s": (arm((R, Z, ORIGIN), (R, (0.0, 0.6, 0.8), ORIGIN)), 8, 9),
    "square s": (arm((R, Z, ORIGIN), (R, X, DX)), 8, 8),
    "square to two": (arm((R, Z, ORIGIN), (R, Z, DX), (R, X, DX)), 11, 12),
    "lift": (arm((P, Z, ORIGIN)), 1, 2),
    "cart": (arm((P, X, ORIGIN)), 1, 1),
    "two carts along": (arm((P, X, ORIGIN), (P, X, ORIGIN)), 2, 3),
    "two carts across": (arm((P, X, ORIGIN), (P, Y, ORIGIN)), 2, 2),
    "slide along r, no gravity": (arm((R, Z, ORIGIN), (P, Z, DX), gravity=NO_GRAVITY), 2, 2),
    "slide along r on a cart": (arm((P, X, ORIGIN), (R, Z, ORIGIN), (P, Z, DX), gravity=NO_GRAVITY), 5, 5),
    "slide along r on a lift": (arm((P, Z, ORIGIN), (R, Z, ORIGIN), (P, Z, DX), gravity=NO_GRAVITY), 3, 4),
    # trees
    "two arms on the base": (arm((R, Z, ORIGIN), (R, Z, DX), parents=(0, 0)), 2, 2),
    "two arms on a turntable": (arm((R, Z, ORIGIN), (R, Z, DX), (R, X, DX), parents=(0, 1, 1)), 11, 12),
}  # fmt: skip
