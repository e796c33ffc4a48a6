"""Mistakes in the orientation of a floating base: another order of its quaternion, or its inverse.

Both mistakes multiply quaternions by a constant orthogonal matrix M, so that derivatives follow without differences.

Notation      code          meaning                                                     axes
              p             quaternion x, y, z, w of the base, |p| = 1                  world
              v, w          velocity of the origin and angular velocity of the base     base
              multiply      the product of quaternions
Identities    dp/dt = p (w, 0) / 2          w = 2 p* dp/dt          dw/dt = vector part of 2 p* d2p/dt2
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

import numpy as np

from ytheta.identification.assessment.interpretation import Interpretation
from ytheta.identification.assessment.suspects import Mistake, Suspect
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.robot.floating import (
    quaternions_from_rotation_vectors,
    rotation_matrices,
    rotation_vectors_from_quaternions,
)
from ytheta.shapes import Float, SamplesByJoint

Quaternions = Float[np.ndarray, "samples 4"]
# The matrices M that mend the quaternion as it was read: w, x, y, z as x, y, z, w, and its inverse. Fixed by:
# mathematics.
SCALAR_FIRST = np.roll(np.eye(4), 1, axis=1)
INVERSE = np.diag([-1.0, -1.0, -1.0, 1.0])
CONJUGATE = INVERSE
ORIENTATIONS = (
    (
        SCALAR_FIRST,
        "the quaternion of the base was recorded in the order w, x, y, z",
        "rename base_qx, base_qy, base_qz, base_qw to base_qw, base_qx, base_qy, base_qz",
    ),
    (
        INVERSE,
        "the quaternion of the base is inverted: it turns the world into the base",
        "change the signs of base_qx, base_qy and base_qz",
    ),
)


def change_orientation(
    q: SamplesByJoint, qd: SamplesByJoint, qdd: SamplesByJoint, matrix: Float[np.ndarray, "4 4"]
) -> tuple[SamplesByJoint, SamplesByJoint, SamplesByJoint]:
    """Return the motion of a robot if a constant matrix multiplies the quaternion of its floating base.

    The first six entries of qd are the twist. The origin of the base moves as before, seen from the world.
    """
    v, w, vd, wd = qd[:, :3], qd[:, 3:6], qdd[:, :3], qdd[:, 3:6]
    p = quaternions_from_rotation_vectors(q[:, 3:6])
    pd = multiply(p, to_quaternions(w)) / 2.0
    pdd = (multiply(pd, to_quaternions(w)) + multiply(p, to_quaternions(wd))) / 2.0
    mended = p @ matrix.T
    back = mended @ CONJUGATE
    w_mended = 2.0 * multiply(back, pd @ matrix.T)[:, :3]
    wd_mended = 2.0 * multiply(back, pdd @ matrix.T)[:, :3]
    vectors = rotation_vectors_from_quaternions(mended)
    turn = np.swapaxes(rotation_matrices(vectors), 1, 2) @ rotation_matrices(q[:, 3:6])
    v_mended = np.einsum("nij,nj->ni", turn, v)
    vd_mended = np.einsum("nij,nj->ni", turn, vd + np.cross(w, v)) - np.cross(w_mended, v_mended)
    return (
        np.hstack([q[:, :3], vectors, q[:, 6:]]),
        np.hstack([v_mended, w_mended, qd[:, 6:]]),
        np.hstack([vd_mended, wd_mended, qdd[:, 6:]]),
    )


def to_quaternions(vectors: Float[np.ndarray, "samples 3"]) -> Quaternions:
    """Return quaternions without a scalar part."""
    return np.hstack([vectors, np.zeros((len(vectors), 1))])


def multiply(a: Quaternions, b: Quaternions) -> Quaternions:
    """Return the products of quaternions x, y, z, w."""
    scalar = a[:, 3:] * b[:, 3:] - np.sum(a[:, :3] * b[:, :3], axis=1, keepdims=True)
    return np.hstack([a[:, 3:] * b[:, :3] + b[:, 3:] * a[:, :3] + np.cross(a[:, :3], b[:, :3]), scalar])


def list_orientations(interpretation: Interpretation) -> Iterator[Suspect]:
    """Yield mistakes in the quaternion of a floating base; none if the base is fixed."""
    motion, names = interpretation.samples.motion, interpretation.robot.base_coordinates[3:]
    for matrix, statement, remedy in ORIENTATIONS if interpretation.robot.floating else ():
        q, qd, qdd = change_orientation(motion.q, motion.qd, motion.qdd, matrix)
        mended = replace(interpretation.samples, motion=replace(motion, q=q, qd=qd, qdd=qdd))
        equations = cache(partial(interpretation.make_equations, mended))
        mistake = Mistake(FitFindingCode.ORIENTATION, statement, remedy, names=names, find_equations=equations)
        yield Suspect(partial(_get, mistake))


def _get(mistake: Mistake, _value: float) -> Mistake:
    return mistake
