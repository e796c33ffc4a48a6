"""Columns of payload and model errors side by side, and friction that depends on the payload."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta as yt
from tests.support.payload_cases import BODY, make_motion
from ytheta.conventions import LINK_PARAMETERS
from ytheta.identifiability.base_parameters import without_regrouping
from ytheta.identification.equations.differential import Differential
from ytheta.logs.preparing.motion_sources import ArraySource
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.payload.columns import PayloadEquations
from ytheta.robot.robot import Robot


def _make_samples(robot: Robot, tau: np.ndarray | None = None) -> MotionSamples:
    t, q, qd, qdd = (values[::20] for values in make_motion(len(robot.actuated)))
    torque = np.zeros_like(q) if tau is None else tau
    q, qd, qdd = (np.ascontiguousarray(x) for x in (q, qd, qdd))
    return MotionSamples(t, q, qd, qdd, torque, None, np.arange(len(t)))


def _make_equations(robot: Robot) -> PayloadEquations:
    loaded = robot.with_load(yt.Inertia(), name="payload")
    payload = without_regrouping(loaded, [f"payload.{each}" for each in LINK_PARAMETERS])
    return PayloadEquations(robot, Differential(payload), yt.base_parameters(robot))


def test_the_columns_are_those_of_both_sets() -> None:
    robot = yt.load("ur10")
    equations, motion = _make_equations(robot), _make_samples(robot)
    form = equations.make_form(np.zeros(10))
    (rows,) = form.rows(motion, 100.0)
    Y = form.layout.dense(rows.values)
    loaded = robot.with_load(yt.Inertia(), name="payload")
    columns = [loaded.parameter_names.index(f"payload.{each}") for each in LINK_PARAMETERS]
    state = (motion.q, motion.qd, motion.qdd)
    np.testing.assert_allclose(Y[:, :, :10], yt.regressor(loaded)(*state)[:, :, columns], atol=1e-12)
    np.testing.assert_allclose(Y[:, :, 10:], yt.regressor(robot, yt.base_parameters(robot))(*state), atol=1e-12)
    assert abs(Y[:, :, 1:11] - yt.regressor(loaded)(*state)[:, :, columns]).max() > 0.1  # the twin: one column further


@pytest.mark.parametrize("is_told", [True, False])
def test_friction_in_proportion_to_the_load_follows_the_payload(is_told: bool) -> None:
    """Torque with payload minus that of the model is that of the payload's columns, if friction knows the payload."""
    plain = yt.load("ur10")
    robot = plain.with_drives(lambda _, drive: replace(drive, load=0.1, coulomb_speed=0.1))
    motion = _make_samples(robot)
    heavier = robot.with_load(BODY, name="payload")
    tau = yt.inverse_dynamics(heavier)(motion.q, motion.qd, motion.qdd)
    equations = _make_equations(robot)
    (source,) = equations.subtract_model(
        (ArraySource(_make_samples(robot, tau), 100.0),), BODY.vector if is_told else np.zeros(10)
    )
    residual = source.motion(0, 0, len(motion)).tau
    assert residual is not None
    error = abs(residual.T - equations.payload.torque(motion, BODY.vector)).max()
    assert error < 1e-9 if is_told else error > 0.1
