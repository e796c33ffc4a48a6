"""Mistakes in positions: reversed axes, offsets of encoders, slides in millimetres, orientations of the base."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ytheta.identification.assessment.mistake import Interpretation, Mistake, mend_once
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.robot.floating import (
    quaternions_from_rotation_vectors,
    rotation_matrices,
    rotation_vectors_from_quaternions,
)
from ytheta.robot.parts import JointKind
from ytheta.shapes import Bool, Float, Int, PerJoint, SamplesByJoint

OFFSETS = {"pi/2": np.pi / 2.0, "-pi/2": -np.pi / 2.0, "pi": np.pi}  # usual differences between definitions of zero
SLIDE_FACTORS = {1e-3: '"mm"', 1e-2: "0.01"}  # of positions in millimetres and centimetres


def list_position_signs(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield reversed positions of each joint, with and without its torque."""
    joints, mapped = interpretation.robot.actuated, find_mapped(interpretation)
    for j in mapped:
        name, signs = joints[j], np.ones(len(joints))
        signs[j] = -1.0
        samples = interpretation.samples.reverse(signs)
        equations = mend_once(interpretation, samples)
        row = f"[{', '.join(f'{sign:.0f}' for sign in signs[mapped])}]"
        remedy = f"write [sign] q = {row} and the same for qd, if it is recorded, in the mapping"
        fields = {"signs": signs.tolist()}
        yield Mistake(
            FitFindingCode.POSITION_SIGN,
            f"the position of {name} has the wrong sign",
            remedy,
            equations,
            None,
            (name,),
            {**fields, "torque": False},
        )
        yield Mistake(
            FitFindingCode.POSITION_SIGN,
            f"{name} turns the other way round: its position and its torque have the wrong sign",
            f"write [sign] q = {row}, tau = {row} and the same for qd, if it is recorded, in the mapping",
            equations,
            np.diag(signs),
            (name,),
            {**fields, "torque": True},
        )


def list_position_offsets(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield offsets of the zero position of each revolute joint."""
    joints, mapped, slides = interpretation.robot.actuated, find_mapped(interpretation), find_slides(interpretation)
    for j in mapped[~slides[mapped]]:
        for text, value in OFFSETS.items():
            offsets = np.zeros(len(joints))
            offsets[j] = value
            row = ", ".join(f'"{text}"' if k == j else "0" for k in mapped)
            yield Mistake(
                FitFindingCode.POSITION_OFFSET,
                f"the zero position of {joints[j]} is off by {np.degrees(value):.0f}°",
                f"write [offset] q = [{row}] in the mapping, added to any offsets already there",
                mend_once(interpretation, interpretation.samples.offset(offsets)),
                None,
                (joints[j],),
                {"offsets": offsets.tolist()},
            )


def list_slide_scales(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield positions of prismatic joints in millimetres or centimetres."""
    slides, joints = find_slides(interpretation), interpretation.robot.actuated
    if not slides.any():
        return
    for factor, text in SLIDE_FACTORS.items():
        factors: PerJoint = np.where(slides, factor, 1.0)
        names = tuple(name for name, slide in zip(joints, slides, strict=True) if slide)
        row = ", ".join(text if slide else '"radians"' for slide in slides[find_mapped(interpretation)])
        yield Mistake(
            FitFindingCode.POSITION_SCALE,
            f"the position of {', '.join(names)} is {1.0 / factor:.0f} times too large",
            f"write [scale] q = [{row}] in the mapping, and scale qd likewise, if it is recorded",
            mend_once(interpretation, interpretation.samples.scale_positions(factors)),
            None,
            names,
            {"factors": factors.tolist()},
        )


def find_mapped(interpretation: Interpretation) -> Int[np.ndarray, " mapped"]:
    """Return the actuated coordinates that a mapping can change: not those of a floating base or a sensor.

    Their columns have names and units of their own, and a single entry of a rotation vector is never recorded.
    """
    robot = interpretation.robot
    others = {*robot.base_coordinates, *robot.sensor_coordinates}
    return np.array([k for k, name in enumerate(robot.actuated) if name not in others], dtype=int)


def find_slides(interpretation: Interpretation) -> Bool[np.ndarray, " joints"]:
    """Return which actuated joints are prismatic."""
    kinds = {joint.name: joint.kind for joint in interpretation.robot.merged.movable}
    return np.array([kinds.get(name) is JointKind.PRISMATIC for name in interpretation.robot.actuated])


# Mistakes in the orientation of a floating base: another order of its quaternion, or its inverse.
#
# Both mistakes multiply quaternions by a constant orthogonal matrix M, so that derivatives follow without differences.
#
# Notation      code          meaning                                                     axes
#               p             quaternion x, y, z, w of the base, |p| = 1                  world
#               v, w          velocity of the origin and angular velocity of the base     base
#               multiply      the product of quaternions
# Identities    dp/dt = p (w, 0) / 2          w = 2 p* dp/dt          dw/dt = vector part of 2 p* d2p/dt2


Quaternions = Float[np.ndarray, "samples 4"]
# The matrices M that mend the quaternion as it was read: w, x, y, z as x, y, z, w, and its inverse. Fixed by:
# mathematics.
SCALAR_FIRST = np.roll(np.eye(4), 1, axis=1)
INVERSE = np.diag([-1.0, -1.0, -1.0, 1.0])
CONJUGATE = INVERSE


def list_orientations(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield mistakes in the quaternion of a floating base; none if the base is fixed."""
    robot, samples = interpretation.robot, interpretation.samples
    if not robot.floating:
        return
    for statement, remedy, matrix in (
        (
            "the quaternion of the base was recorded in the order w, x, y, z",
            "rename base_qx, base_qy, base_qz, base_qw to base_qw, base_qx, base_qy, base_qz",
            SCALAR_FIRST,
        ),
        (
            "the quaternion of the base is inverted: it turns the world into the base",
            "change the signs of base_qx, base_qy and base_qz",
            INVERSE,
        ),
    ):
        motion = samples.motion
        q, qd, qdd = change_orientation(motion.q, motion.qd, motion.qdd, matrix)
        mended = replace(samples, motion=replace(motion, q=q, qd=qd, qdd=qdd))
        names = robot.base_coordinates[3:]
        equations = mend_once(interpretation, mended)
        yield Mistake(FitFindingCode.ORIENTATION, statement, remedy, equations, None, names)


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
