"""Lengths of the description in another unit, such as millimetres.

Only the described torques are compared. The fit of a model hardly shows the unit of lengths: masses that are a million
times too small compensate for lengths that are a thousand times too large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np

from ytheta.dynamics.kernels import inverse_dynamics
from ytheta.identification.assessment.mistakes.errors import Equations, make_equations
from ytheta.identification.assessment.mistakes.mistake import Interpretation, Mistake
from ytheta.identification.assessment.mistakes.torque_mistakes import format_factor
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.robot.frame import Frame, to_rows
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive, Joint, Loop
from ytheta.robot.robot import Robot
from ytheta.shapes import SamplesByJoint

# Factors of lengths, and the units in which they were given.
UNITS = {1e-3: "millimetres", 1e-2: "centimetres", 0.0254: "inches"}
# Sum of the distances between consecutive joints, in m. Arms reach from a few centimetres to a few metres.
MIN_REACH, MAX_REACH = 0.02, 6.0
MIN_IMPOSSIBLE_REACH = 50.0  # of any robot; then no masses are needed to know that the unit is wrong


def list_length_units(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield units of lengths in which the robot has a plausible size, if the described size is not plausible."""
    robot = interpretation.robot
    if not interpretation.is_known or robot.unset_symbols:
        return
    reach = compute_reach(robot)
    if reach <= MAX_REACH:
        return
    for factor, unit in UNITS.items():
        if MIN_REACH <= factor * reach <= MAX_REACH:
            for scale_centers, scale_moments in product((True, False), repeat=2):
                scaled = scale_lengths(robot, factor, scale_centers=scale_centers, scale_moments=scale_moments)
                parts = ["placements of joints", *(["centres of mass"] if scale_centers else [])]
                parts += ["moments of inertia"] if scale_moments else []
                yield Mistake(
                    FitFindingCode.LENGTHS,
                    f"the described robot is {reach:.3g} m long, as if its lengths were in {unit}",
                    f"multiply {', '.join(parts)} of the description by {format_factor(factor)}"
                    + (" (moments of inertia by its square)" if scale_moments else ""),
                    _describe_torque(interpretation, scaled),
                    fields={"factor": factor, "reach": reach, "parts": parts},
                    find_evidence=lambda: "no robot is that long" if reach > MIN_IMPOSSIBLE_REACH else "",
                )


def compute_reach(robot: Robot) -> float:
    """Return the sum of the distances between consecutive joints, in m."""
    joints = robot.numeric.merged.joints
    return sum(
        float(np.linalg.norm(joint.placement.matrix[:3, 3]) + np.linalg.norm(joint.seat.matrix[:3, 3]))
        for joint in joints
    )


def scale_lengths(robot: Robot, factor: float, *, scale_centers: bool, scale_moments: bool) -> Robot:
    """Return the robot with scaled distances between joints, and perhaps centres of mass and moments of inertia."""
    numeric = robot.numeric.merged
    joints = tuple(_scale_joint(joint, factor) for joint in numeric.joints)
    loops = tuple(Loop(_scale_joint(loop.joint, factor)) for loop in numeric.loops)
    links = tuple(
        replace(link, inertia=_scale_inertia(link.inertia, factor, centers=scale_centers, moments=scale_moments))
        for link in numeric.links
    )
    return replace(numeric, joints=joints, loops=loops, links=links)


def _scale_joint(joint: Joint, factor: float) -> Joint:
    return replace(joint, placement=_scale_frame(joint.placement, factor), seat=_scale_frame(joint.seat, factor))


def _scale_frame(frame: Frame, factor: float) -> Frame:
    matrix = frame.matrix.copy()
    matrix[:3, 3] *= factor
    return Frame.from_matrix(matrix)


def _scale_inertia(inertia: Inertia, factor: float, *, centers: bool, moments: bool) -> Inertia:
    if not inertia.mass > 0.0:
        return inertia
    x, y, z = (factor * value if centers else value for value in inertia.center)
    tensor = np.array(inertia.tensor_about_center) * (factor**2 if moments else 1.0)
    return Inertia.about_center(inertia.mass, (x, y, z), to_rows(tensor))


def _describe_torque(interpretation: Interpretation, robot: Robot) -> Callable[[], Equations]:
    """Return a function that makes the equations of the log with the described torques of another robot."""

    @cache
    def find() -> Equations:
        samples = interpretation.samples
        motion, layout = samples.motion, interpretation.form.layout
        undriven = robot.with_drives(lambda _name, _drive: Drive())
        torque: SamplesByJoint = np.asarray(inverse_dynamics(undriven)(motion.q, motion.qd, motion.qdd))
        blocks = [values.copy() for _, values in interpretation.form.compute_regressor_blocks(motion)]
        values = np.concatenate(blocks, axis=1)
        rows = [(columns, values[part]) for part, columns in zip(layout.slices, layout.columns, strict=True)]
        return make_equations(rows, torque, samples, np.zeros(layout.base_count))

    return find
