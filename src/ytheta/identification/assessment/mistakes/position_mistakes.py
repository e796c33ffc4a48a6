"""Mistakes in positions: reversed axes, offsets of encoders, slides in millimetres."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ytheta.identification.assessment.mistakes.mistake import Interpretation, Mistake, mend_once
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.robot.parts import JointKind
from ytheta.shapes import Bool, Int, PerJoint

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


def find_mapped(interpretation: Interpretation) -> Int[np.ndarray, "mapped"]:
    """Return the actuated coordinates that a mapping can change: not those of a floating base or a sensor.

    Their columns have names and units of their own, and a single entry of a rotation vector is never recorded.
    """
    robot = interpretation.robot
    others = {*robot.base_coordinates, *robot.sensor_coordinates}
    return np.array([k for k, name in enumerate(robot.actuated) if name not in others], dtype=int)


def find_slides(interpretation: Interpretation) -> Bool[np.ndarray, "joints"]:
    """Return which actuated joints are prismatic."""
    kinds = {joint.name: joint.kind for joint in interpretation.robot.merged.movable}
    return np.array([kinds.get(name) is JointKind.PRISMATIC for name in interpretation.robot.actuated])
