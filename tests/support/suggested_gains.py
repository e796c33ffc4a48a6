"""Closed loops with suggested gains: robots of the catalog under controllers with a wrong model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

import ytheta
from ytheta.control.laws.law import AdaptiveLaw, Law
from ytheta.control.laws.walker import Walker
from ytheta.control.settings import find_controller
from ytheta.control.tuning import ReferenceSamples, suggest_gains
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.robot import Robot
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.references import FourierReference, default_reference
from ytheta.simulation.runs import Runs

SECONDS, PERIOD, RATE = 5.0, 1e-3, 1000.0
MODEL_SCALE = 0.8  # inertias of the model, relative to the truth


@cache
def load_robot(name: str) -> Robot:
    return ytheta.load(name)


@cache
def base_of(name: str) -> BaseParameters:
    return ytheta.base_parameters(load_robot(name))


@cache
def reference_of(name: str) -> FourierReference:
    return default_reference(load_robot(name), SECONDS)


def sample(reference: FourierReference) -> ReferenceSamples:
    return reference(np.linspace(0.0, SECONDS, 300))


def scale_inertias(robot: Robot, factor: float) -> Robot:
    return robot.with_inertias(
        {link.name: Inertia(tuple(factor * p for p in link.inertia.parameters)) for link in robot.links}
    )


def scale_lengths(robot: Robot, factor: float) -> Robot:
    """Return the robot with other lengths and the same masses."""

    def scale_frame(frame: Frame) -> Frame:
        x, y, z = (factor * float(entry) for entry in frame.translation)  # type: ignore[arg-type]
        return Frame((x, y, z), frame.rotation)

    def scale_inertia(inertia: Inertia) -> Inertia:
        powers = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
        return Inertia(tuple((np.array(inertia.parameters) * factor**powers).tolist()))

    return replace(
        robot.with_inertias({link.name: scale_inertia(link.inertia) for link in robot.links}),
        joints=tuple(replace(j, placement=scale_frame(j.placement), seat=scale_frame(j.seat)) for j in robot.joints),
        markers=(),
    )


def make_law(
    name: str,
    robot: Robot,
    base: BaseParameters | None,
    motion: ReferenceSamples,
    *,
    learn: Sequence[str] | None = None,
    period: float = PERIOD,
    factors: dict[str, float] | None = None,
) -> Law:
    """Return a law with suggested gains, multiplied by the factors."""
    law = find_controller(name)
    selection: dict[str, Any] = {"learn": learn} if issubclass(law, AdaptiveLaw) else {}
    if issubclass(law, AdaptiveLaw) and law is not Walker:
        selection["base"] = base
    settings = suggest_gains(name, robot, selection.get("base"), learn=learn, motion=motion, rate=1.0 / period)
    settings |= {gain: factor * np.asarray(settings[gain]) for gain, factor in (factors or {}).items()}
    return law(robot, **selection, **settings)


def simulate(
    law: Law, plant: Robot, reference: FourierReference, *, period: float = PERIOD, start_offset: float = 0.05
) -> Runs:
    """Simulate a run that starts beside the reference: by the offset in rad, by a fifth of it in m."""
    prismatic = {joint.name for joint in plant.movable if joint.kind == "prismatic"}
    offset = start_offset * np.array([0.2 if name in prismatic else 1.0 for name in plant.actuated])
    q = reference(np.zeros(1))[0] + offset
    loop = ClosedLoop(plant=plant, controller=law, period=period)
    return loop.run(loop.init(q, np.zeros_like(q)), reference, SECONDS, every=max(1, round(0.01 / period)))


def late_rms_error(runs: Runs, reference: FourierReference) -> float:
    """Return the rms tracking error of the last second."""
    assert runs.finished.all(), runs.advice
    last = runs.t >= SECONDS - 1.0
    return float(np.sqrt(np.mean((runs.q[0, last] - reference(runs.t[last])[0]) ** 2)))


def error_bound(law: Law, plant: Robot, motion: ReferenceSamples) -> float:
    """Return the largest error of a slow motion without adaptation: the torque error of the model over the stiffness.

    Adaptation must not make the error larger than that.
    """
    q, qd, qdd = motion
    model, M = law.robot, ytheta.mass_matrix(law.robot)(q)
    torque_error = ytheta.inverse_dynamics(plant)(q, qd, qdd) - ytheta.inverse_dynamics(model)(q, qd, qdd)
    gains = law.gains
    if law.name == "pd-gravity":
        stiffness = gains["stiffness"][None]
        torque_error = ytheta.inverse_dynamics(plant)(q, qd, qdd) - ytheta.gravity(model)(q)
    elif law.name == "walker":  # robots without rotors: K_D is a multiple of M
        stiffness = gains["convergence"][0, 0] * gains["feedback"][0, 0] * M
    elif law.name == "quasi-computed-torque":
        stiffness = gains["convergence"][0, 0] ** 2 * M
    elif "stiffness" in gains:
        stiffness = M @ gains["stiffness"]
    else:
        stiffness = (gains["convergence"] @ gains["damping"])[None]
    return float(np.abs(np.linalg.solve(stiffness, torque_error[:, :, None])).max())


@cache
def track_with_wrong_model(robot: str, law: str) -> tuple[float, float]:
    """Return the late rms error and its bound."""
    plant, reference = load_robot(robot), reference_of(robot)
    motion = sample(reference)
    controller = make_law(law, scale_inertias(plant, MODEL_SCALE), base_of(robot), motion)
    error = late_rms_error(simulate(controller, plant, reference), reference)
    return error, error_bound(controller, plant, motion)
