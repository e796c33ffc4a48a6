"""Mistakes in the description: gravity, torques without those of the links, and below it lengths in another unit.

Y is linear in gravity, Y = A(q, qd, qdd) + sum_k g_k G_k(q). One kernel per axis of the base is evaluated at the
samples; their values give the equations for every gravity. Parameters that have no effect with the described gravity
may have one with another, so that the equations are those of all standard parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import product

import numpy as np

from ytheta.conventions import LINK_PARAMETERS, STANDARD_GRAVITY
from ytheta.dynamics.kernels import regressor
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.assessment.interpretation import (
    Equations,
    Interpretation,
    expect_description,
    expect_standard_parameters,
)
from ytheta.identification.assessment.suspects import Mistake, Suspect, format_number
from ytheta.identification.equations.differential import Differential
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.robot.frame import IDENTITY, Frame, to_rows
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Joint, Loop, parameter_name
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Vector3

EARTH = -STANDARD_GRAVITY[2]
# Relative difference of gravity from its standard value up to which it is that of the Earth. Chosen on: reasoning; the
# poles and the equator differ by 0.5 %.
MAX_RELATIVE_DIFFERENCE = 0.02
WEIGHT_PARAMETERS = LINK_PARAMETERS[:4]  # mass and first moments, on which gravity acts


@dataclass(frozen=True, eq=False)
class Weights:
    """Equations of a robot for any gravity in its base; see the module docstring."""

    interpretation: Interpretation
    base: BaseParameters

    def make_equations(self, gravity: Vector3) -> Equations:
        """Return the equations with this gravity."""
        rows = []
        for inertial, weight in zip(self._inertial, self._weights, strict=True):
            row = inertial.copy()
            row[self._weight_places] += np.tensordot(gravity, weight, axes=1)
            rows.append((np.arange(len(row)), row))
        expectation = expect_standard_parameters(self.interpretation.problem, self.base)
        return self.interpretation.combine(rows, self.interpretation.samples, expectation)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return self.base.selected

    @cached_property
    def _weight_names(self) -> list[str]:
        links = [link.name for link in self.interpretation.robot.merged.links[1:]]
        names = [parameter_name(link, symbol) for link in links for symbol in WEIGHT_PARAMETERS]
        return [name for name in names if name in set(self._names)]

    @property
    def _weight_places(self) -> list[int]:
        return [self._names.index(name) for name in self._weight_names]

    @cached_property
    def _inertial(self) -> list[Float[np.ndarray, "selected samples"]]:
        """Regressor of the selected standard parameters without gravity, for each joint."""
        interpretation, layout = self.interpretation, self.interpretation.form.layout
        base, motion = self.base, interpretation.samples.motion
        blocks = interpretation.form.compute_regressor_blocks
        values = np.concatenate([each.copy() for _, each in blocks(motion)], axis=1)
        rest = replace(motion, qd=0.0 * motion.qd, qdd=0.0 * motion.qdd, direction=None)
        static = np.concatenate([each.copy() for _, each in blocks(rest)], axis=1)
        places = [base.robot.parameter_names.index(name) for name in self._names]
        K = base.K[:, places]
        is_link = np.array([name.rpartition(".")[2] in LINK_PARAMETERS for name in base.independent])
        return [
            K[columns].T @ (values[part] - is_link[columns, None] * static[part])
            for part, columns in zip(layout.slices, layout.columns, strict=True)
        ]

    @cached_property
    def _weights(self) -> Float[np.ndarray, "joints 3 weights samples"]:
        """Effect of gravity of 1 m/s² along each axis on the torque, per unit of each mass and first moment."""
        q = self.interpretation.samples.motion.q
        robot = self.interpretation.robot
        kernels = [regressor(with_gravity(robot, axis), parameters=self._weight_names) for axis in np.eye(3)]
        Y = np.stack([kernel(q, 0.0 * q, 0.0 * q) for kernel in kernels])
        return np.ascontiguousarray(Y.transpose(2, 0, 3, 1))


def list_gravities(interpretation: Interpretation) -> Iterator[Suspect]:
    """Yield other gravities: that of the Earth, none, the opposite, and along each axis of the base."""
    base = interpretation.base.standard_combinations
    if base is None:  # weights in other directions need the geometry
        return
    weights = Weights(interpretation, base)
    described = np.array(interpretation.robot.gravity_in_base)
    size = float(np.linalg.norm(described))
    candidates = [sign * EARTH * axis for axis in np.eye(3) for sign in (-1.0, 1.0)]
    if size:
        candidates = [described * EARTH / size, -described * EARTH / size, np.zeros(3), *candidates]
    known = [described] if abs(size - EARTH) < MAX_RELATIVE_DIFFERENCE * EARTH else []
    for gravity in candidates:
        if not any(np.allclose(gravity, other, rtol=0.0, atol=MAX_RELATIVE_DIFFERENCE * EARTH) for other in known):
            known.append(gravity)
            find_equations = cache(partial(weights.make_equations, gravity))
            yield Suspect(partial(_make_gravity, interpretation.robot, find_equations, gravity))


def _make_gravity(robot: Robot, find_equations: Callable[[], Equations], gravity: Vector3, _value: float) -> Mistake:
    """Return the mistake that gravity in the base is not the described one."""
    described = np.array(robot.gravity_in_base)
    sizes = [float(np.linalg.norm(each)) for each in (described, gravity)]
    was, now = name_direction(described), name_direction(gravity)
    statement = f"gravity is along {was} of the base in the description, but along {now} in the log"
    if not sizes[0]:
        statement = f"the description has no gravity, but it acts along {now} of the base in the log"
    elif not sizes[1]:
        statement = "the torques of the log do not contain the weight of the described links"
    elif np.allclose(gravity / sizes[1], described / sizes[0], atol=1e-6):
        statement = f"gravity is {sizes[0]:.3g} m/s² in the description, but {sizes[1]:.3g} m/s² in the log"
    world = np.array(robot.mounting.rotation) @ gravity
    row = ", ".join(f"{value:.3g}" for value in world + 0.0)
    return Mistake(
        FitFindingCode.GRAVITY,
        statement,
        f"set gravity = [{row}] or the mounting in the robot's description",
        fields={"described": described.tolist(), "log": gravity.tolist()},
        find_equations=find_equations,
    )


def suspect_external_torques(interpretation: Interpretation) -> Suspect:
    """Return the mistake that a controller has subtracted the torque of its own model.

    What is left of the described links is what their description is off by: the same deviations, around zero.
    """
    expected = interpretation.expectation
    rest = replace(expected, mean=0.0 * expected.mean)
    mistake = Mistake(
        FitFindingCode.EXTERNAL_TORQUE,
        "the torques of the log do not contain those of the described links, like external torques that a controller "
        "estimates",
        "record motor currents or measured torques, and name their columns in the mapping",
        find_equations=lambda: replace(interpretation.equations, expectation=rest),
    )
    return Suspect(partial(_get, mistake))


def with_gravity(robot: Robot, gravity: Vector3) -> Robot:
    """Return the robot with this gravity in its base."""
    x, y, z = gravity.tolist()
    return replace(robot, gravity=(x, y, z), mounting=IDENTITY)


def name_direction(gravity: Vector3) -> str:
    """Return the name of the axis along which gravity acts, or the components of gravity if there is no such axis."""
    unit = gravity / (np.linalg.norm(gravity) or 1.0)
    k = int(np.argmax(abs(unit)))
    if abs(unit[k]) > 1.0 - 1e-6:
        return f"{'+' if unit[k] > 0.0 else '−'}{'xyz'[k]}"
    return f"({', '.join(f'{g:.3g}' for g in gravity)})"


# Lengths of the description in another unit, such as millimetres.


# Factors of lengths, and the units in which they were given.
UNITS = {1e-3: "millimetres", 1e-2: "centimetres", 0.0254: "inches"}
# Sum of the distances between consecutive joints, in m, within which the unit of lengths is plausible. Chosen on:
# reasoning; arms reach from a few centimetres to a few metres.
MIN_REACH, MAX_REACH = 0.02, 6.0
# The same sum from which no masses are needed to know that the unit is wrong, and the logarithm of the odds. Chosen on:
# reasoning; no robot is so large, whatever its masses are.
MIN_IMPOSSIBLE_REACH, IMPOSSIBLE_LOG_ODDS = 50.0, 1e6


def list_length_units(interpretation: Interpretation) -> Iterator[Suspect]:
    """Yield units of lengths in which the robot has a plausible size, if the described size is not plausible."""
    robot = interpretation.robot
    if not interpretation.is_known or robot.unset_symbols or compute_reach(robot) <= MAX_REACH:
        return
    reach = compute_reach(robot)
    is_impossible = reach > MIN_IMPOSSIBLE_REACH
    for (factor, unit), centers, moments in product(UNITS.items(), (True, False), (True, False)):
        if MIN_REACH <= factor * reach <= MAX_REACH:
            scaled = scale_lengths(robot, factor, scale_centers=centers, scale_moments=moments)
            parts = ["placements of joints", *["centres of mass"] * centers, *["moments of inertia"] * moments]
            mistake = Mistake(
                FitFindingCode.LENGTHS,
                f"the described robot is {reach:.3g} m long, as if its lengths were in {unit}",
                f"multiply {', '.join(parts)} of the description by {format_number(factor)}"
                + (" (moments of inertia by its square)" if moments else ""),
                fields={"factor": factor, "reach": reach, "parts": parts},
                find_equations=cache(partial(_describe_as, interpretation, scaled)),
                log_odds=IMPOSSIBLE_LOG_ODDS if is_impossible else 0.0,
                reason="no robot is that long" if is_impossible else "",
            )
            yield Suspect(partial(_get, mistake))


def _get(mistake: Mistake, _value: float) -> Mistake:
    return mistake


def _describe_as(interpretation: Interpretation, robot: Robot) -> Equations:
    """Return the equations of the log with another description of the robot."""
    base = base_parameters(robot, parameters=interpretation.base.selected)
    form = Differential(base)
    problem = replace(interpretation.problem, form=form)
    other = replace(interpretation, problem=problem, form=form, expectation=expect_description(problem))
    return other.make_equations(interpretation.samples)


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
