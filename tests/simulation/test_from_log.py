"""References from logs: accuracy, smoothing, invalid logs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from ytheta.errors import InputError
from ytheta.logs.log import Log
from ytheta.robot.parts import Limits
from ytheta.robot.robot import Robot
from ytheta.simulation.logged_reference import LoggedReference, reference_from_log
from ytheta.simulation.references import default_reference, sample_reference


def with_limits(robot: Robot, limits: Limits) -> Robot:
    return replace(robot, joints=tuple(replace(joint, limits=limits) for joint in robot.joints))


def test_a_quantized_log_is_followed() -> None:
    """In a log of 1 kHz with encoder steps, positions are followed to one step, and accelerations have no noise."""
    robot = ytheta.load("ur10")
    motion = default_reference(robot, 6.0)
    t = 1e-3 * np.arange(6001)
    q, _, _ = motion(t)
    count = 2.0 * np.pi / 2**17
    log = Log(robot.actuated, 1e9 + t, count * np.round(q / count), source="run.csv")
    reference = reference_from_log(log)
    assert reference.seconds == pytest.approx(6.0)
    inner = t[100:-100] + 3e-4
    exact = motion(inner)
    tolerances = [
        count,
        0.01,
        0.5,
    ]  # an interpolation would have errors of one encoder step per ms², which is 48 rad/s²
    for values, expected, tolerance in zip(reference(inner), exact, tolerances, strict=True):
        assert abs(values - expected).max() < tolerance
    sample_reference(reference, robot, 1e-3 * np.arange(6001))


def test_a_log_with_few_samples_is_followed() -> None:
    t = np.sort(np.concatenate([np.linspace(0.0, 5.0, 101), [0.013, 2.221]]))
    reference = LoggedReference(t, np.stack([np.sin(t), np.cos(2.0 * t)], axis=1))
    times = np.linspace(0.0, 5.0, 333)
    q, qd, qdd = reference(times)
    np.testing.assert_allclose(reference(t)[0], reference.q, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(q, np.stack([np.sin(times), np.cos(2.0 * times)], axis=1), atol=1e-6)
    np.testing.assert_allclose(qd, np.stack([np.cos(times), -2.0 * np.sin(2.0 * times)], axis=1), atol=1e-4)
    np.testing.assert_allclose(qdd, np.stack([-np.sin(times), -4.0 * np.cos(2.0 * times)], axis=1), atol=2e-2)


def test_knots_of_20_ms_follow_5_hertz() -> None:
    t = 1e-3 * np.arange(2001)
    reference = LoggedReference(t, np.sin(2.0 * np.pi * 5.0 * t)[:, None])
    inner = t[200:-200]
    w = 2.0 * np.pi * 5.0
    q, _, qdd = reference(inner)
    assert abs(q[:, 0] - np.sin(w * inner)).max() < 1e-5
    assert abs(qdd[:, 0] + w**2 * np.sin(w * inner)).max() < 1e-2 * w**2


def test_few_samples_of_fast_motion_are_interpolated() -> None:
    """With four samples per period, a spline with half as many knots could not follow the motion."""
    t = 0.05 * np.arange(101)
    reference = LoggedReference(t, np.stack([np.sin(30.0 * t), np.sin(t)], axis=1))
    assert reference.knot_spacing[0] == 0.0
    assert reference.knot_spacing[1] == pytest.approx(0.1)
    np.testing.assert_allclose(reference(t)[0], reference.q, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("samples", [6, 7, 9, 12, 13, 20])
def test_six_samples_are_enough(samples: int) -> None:
    rng = np.random.default_rng(samples)
    for _ in range(20):
        t = np.cumsum(rng.uniform(0.05, 0.1, samples))
        reference = LoggedReference(t, np.sin(t)[:, None])
        np.testing.assert_allclose(reference(t - t[0])[0], reference.q, rtol=0.0, atol=1e-4)


LOGS = {  # rate in Hz, noise in rad, encoder steps in rad
    "slow": (100.0, 1e-4, 0.0),
    "fast": (1000.0, 1e-4, 0.0),
    "steps": (1000.0, 0.0, 1e-3),
    "camera": (30.0, 0.0, 1e-3),
}


@pytest.mark.parametrize("seconds", [3.0, 20.0])
@pytest.mark.parametrize("kind", LOGS)
def test_accelerations_follow_the_motion_and_not_the_noise(kind: str, seconds: float) -> None:
    """Errors are relative to the peak. Knots of 20 ms would cause 0.03 to 0.45 inside and 1 to 7 at the ends."""
    rate, noise, step = LOGS[kind]
    t = np.arange(0.0, seconds + 1e-9, 1.0 / rate)
    q = np.sin(3.0 * t) + noise * np.random.default_rng(0).standard_normal(len(t))
    reference = reference_from_log(Log(("joint",), t, (step * np.round(q / step) if step else q)[:, None]))
    times = np.linspace(0.0, reference.seconds, 3001)
    q, _, qdd = (values[:, 0] for values in reference(times))
    error = np.abs(qdd + 9.0 * np.sin(3.0 * times)) / 9.0
    inside = (times > 0.3) & (times < reference.seconds - 0.3)
    assert error[inside].max() < 0.01
    assert error.max() < 0.1
    assert abs(q - np.sin(3.0 * times)).max() < 0.5 * (step or 8.0 * noise)


def test_each_joint_is_smoothed_according_to_its_motion() -> None:
    """One joint rests, one is slow, one is fast for a moment. Smoothing removes their noise, but not their motion."""
    t = 1e-2 * np.arange(3001)
    burst = np.exp(-(((t - 20.0) / 0.3) ** 2)) * np.sin(15.0 * (t - 20.0))
    true = np.stack([0.0 * t, np.sin(t), burst], axis=1)
    reference = LoggedReference(t, true + 1e-4 * np.random.default_rng(0).standard_normal(true.shape))
    resting, slow, fast = reference.knot_spacing
    assert resting >= slow > fast
    q, _, qdd = reference(t)
    assert abs(q - true).max() < 4e-4  # the largest value of the noise
    assert abs(qdd[100:-100, :2] - [0.0, 1.0] * -true[100:-100, :2]).max() < 0.02


def test_motion_without_noise_is_followed_closely() -> None:
    for rate in (100.0, 1000.0):
        t = np.arange(0.0, 5.0, 1.0 / rate)
        reference = LoggedReference(t, np.sin(2.0 * np.pi * t)[:, None])
        times = np.linspace(0.0, t[-1], 999)
        q, _, qdd = (values[:, 0] for values in reference(times))
        assert abs(q - np.sin(2.0 * np.pi * times)).max() < 1e-8
        assert abs(qdd + 4.0 * np.pi**2 * np.sin(2.0 * np.pi * times)).max() < 1e-3


def test_invalid_logs_and_times_are_rejected() -> None:
    t = np.linspace(0.0, 1.0, 50)
    good = LoggedReference(t, np.sin(t)[:, None], "run.csv")
    for time in (-0.1, 1.1):
        with pytest.raises(InputError, match=r"run\.csv covers 0 to 1 s, not t = "):
            good(np.array([0.5, time]))
    good(np.array([0.0, 1.0 + 1e-9]))
    with pytest.raises(InputError, match="at least 6 instants"):
        LoggedReference(t[:5], np.zeros((5, 1)))
    with pytest.raises(InputError, match="time does not increase after t = 0 s"):
        LoggedReference(np.zeros(9), np.zeros((9, 1)))
    with pytest.raises(InputError, match="not finite"):
        LoggedReference(t, np.full((50, 1), np.nan))
    two_segments = Log(("joint",), t, np.zeros((50, 1)), segments=((0, 20), (25, 50)), source="run.csv")
    with pytest.raises(InputError, match="a reference must be one segment"):
        reference_from_log(two_segments)
    robot = with_limits(ytheta.load("lu-two-link"), Limits(-1.0, 1.0))
    for size in (1.0 + 1e-6, 1.0 + 5e-4):  # a spline may exceed a limit that its samples touch
        sample_reference(LoggedReference(t, np.full((50, 2), size)), robot, t)
    with pytest.raises(InputError, match=r"is 1\.0011\d* at t = 0 s, outside its limits -1 … 1; choose"):
        sample_reference(LoggedReference(t, np.full((50, 2), 1.0011)), robot, t)
    robot = ytheta.load("panda")
    far = LoggedReference(t, np.full((50, 7), 3.0))
    with pytest.raises(InputError, match="outside its limits"):
        sample_reference(far, robot, t)
