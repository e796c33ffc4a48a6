"""Estimation from poses at rest, compared with least squares of weights alone; loops and floating bases."""

from __future__ import annotations

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
from ytheta.payload.estimation import PayloadFit, estimate_payload
from ytheta.robot.kinematics import link_poses
from ytheta.robot.robot import Robot

GRAVITY = np.array([0.0, 0.0, -9.81])


def _estimate(robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, tau: np.ndarray) -> PayloadFit:
    """Estimate a payload on the last link from states; ``tau`` is what the model does not explain, without payload."""
    t = 0.01 * np.arange(len(q))
    model = yt.inverse_dynamics(robot)(q, qd, qdd)
    motion = MotionSamples(t, q, qd, qdd, model + tau, None, np.arange(len(t)))
    loaded = robot.with_load(yt.Inertia(), name="payload")
    payload = without_regrouping(loaded, [f"payload.{each}" for each in LINK_PARAMETERS])
    return estimate_payload(
        PayloadEquations(robot, Differential(payload), None),
        np.zeros((0, 0)),
        (ArraySource(motion, 100.0),),
        (),
        torque_squares=np.zeros(len(robot.actuated)),
        arm_mass=30.0,
        mass=None,
        threads=1,
        report=lambda _: None,
    )


def _compute_weight_columns(robot: Robot, q: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Torques that hold a unit of m, mx, my and mz at rest: differences of the potential energy."""
    link = robot.links[-1].name

    def potential(pose: np.ndarray) -> np.ndarray:
        matrix = link_poses(robot, pose)[link]
        return np.concatenate([[-GRAVITY @ matrix[:3, 3]], -GRAVITY @ matrix[:3, :3]])

    columns = [(potential(q + d) - potential(q - d)) / (2.0 * step) for d in step * np.eye(len(q))]
    return np.array(columns)


@pytest.mark.parametrize("is_twin", [False, True])
def test_poses_at_rest_give_mass_and_centre(is_twin: bool) -> None:
    """The same as least squares of the weight, which a test with another gravity does not agree with."""
    robot, rng = yt.load("ur10"), np.random.default_rng(0)
    q = rng.uniform(-2.0, 2.0, (120, 6))
    rest = np.zeros_like(q)
    held = yt.gravity(robot.with_load(BODY))(q) - yt.gravity(robot)(q)
    noise = 0.05 * rng.normal(size=q.shape)
    fit = _estimate(robot, q, rest, rest, held + noise)
    A = np.concatenate([_compute_weight_columns(robot, pose) for pose in q])
    expected = np.linalg.lstsq(A * (9.7 / 9.81 if is_twin else 1.0), (held + noise).ravel(), rcond=None)[0]
    # Joints are weighted by their noise, which here is equal but estimated, so that both differ by less than the noise.
    std = np.sqrt(np.diag(fit.posterior.theta_covariance))[:4]
    difference = np.abs(fit.posterior.theta[:4] - expected) / std
    assert (difference.max() > 2.0) if is_twin else (difference.max() < 0.5)
    assert np.abs((fit.posterior.theta[:4] - BODY.vector[:4]) / std).max() < 4.0


def test_exact_states_give_the_payload_to_rounding() -> None:
    robot = yt.load("ur10")
    _, q, qd, qdd = (values[::10] for values in make_motion(6, seed=3))
    inverse = [yt.inverse_dynamics(each)(q, qd, qdd) for each in (robot.with_load(BODY), robot)]
    q, qd, qdd = (np.ascontiguousarray(x) for x in (q, qd, qdd))
    fit = _estimate(robot, q, qd, qdd, inverse[0] - inverse[1])
    np.testing.assert_allclose(fit.posterior.theta, BODY.vector, atol=1e-9)
    assert abs(fit.posterior.theta - 1.000001 * BODY.vector).max() > 1e-9


def test_loops() -> None:
    """An arm with a closed loop carries the payload on its last link: the torques are explained."""
    robot = yt.load("walker")
    home = dict(zip(robot.coordinates, robot.home_coordinates.tolist(), strict=True))
    _, *state = (0.2 * values[::10] for values in make_motion(len(robot.actuated), seed=3))
    q, qd, qdd = (np.ascontiguousarray(values) for values in state)
    q += [home[name] for name in robot.actuated]
    heavier = yt.inverse_dynamics(robot.with_load(BODY, name="held"))(q, qd, qdd)
    fit = _estimate(robot, q, qd, qdd, heavier - yt.inverse_dynamics(robot)(q, qd, qdd))
    theta = yt.Inertia(tuple(fit.posterior.theta.tolist()))
    errors = [
        abs(yt.inverse_dynamics(robot.with_load(each, name="held"))(q, qd, qdd) - heavier).max()
        for each in (theta, yt.Inertia())
    ]
    assert errors[0] < 1e-6 * errors[1]


def test_a_floating_base() -> None:
    """The wrench of the base shows the payload, too."""
    robot = yt.float_base(yt.load("lu-two-link"))
    rng = np.random.default_rng(0)
    q, qd, qdd = 0.5 * rng.normal(size=(3, 200, len(robot.position_names)))
    inverse = [yt.inverse_dynamics(each)(q, qd, qdd) for each in (robot.with_load(BODY, name="held"), robot)]
    fit = _estimate(robot, q, qd, qdd, inverse[0] - inverse[1])
    np.testing.assert_allclose(fit.posterior.theta, BODY.vector, atol=1e-8)
