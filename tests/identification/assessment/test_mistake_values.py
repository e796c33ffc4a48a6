"""Scales, offsets, delays and factors of time of any value are named, with a value that mends the log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.diagnosis_runs import Run, simulate_run
from ytheta.logs.preparing.prepared_log import MotionSamples

RATE = 100.0
SEED = int(np.random.default_rng().integers(1 << 31))


@pytest.fixture(scope="module")
def run() -> Run:
    return simulate_run("ur10")


def draw_factor(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.choice([-1.0, 1.0]) * rng.uniform(np.log(low), np.log(high))))


def delay(values: np.ndarray, joint: int | None, seconds: float) -> np.ndarray:
    """Return columns that are late."""
    late, rows = values.copy(), np.arange(len(values))
    for k in range(values.shape[1]) if joint is None else (joint,):
        late[:, k] = np.interp(rows - seconds * RATE, rows, values[:, k])
    return late


def scale_torque(motion: MotionSamples, joint: int, factor: float) -> MotionSamples:
    assert motion.tau is not None
    return replace(motion, tau=motion.tau * np.where(np.arange(motion.q.shape[1]) == joint, factor, 1.0))


def shift_zero(motion: MotionSamples, joint: int, angle: float) -> MotionSamples:
    return replace(motion, q=motion.q + np.where(np.arange(motion.q.shape[1]) == joint, angle, 0.0))


def stretch(motion: MotionSamples, _joint: int, factor: float) -> MotionSamples:
    return replace(motion, t=factor * motion.t, qd=motion.qd / factor, qdd=motion.qdd / factor**2)


def delay_torques(motion: MotionSamples, _joint: int, seconds: float) -> MotionSamples:
    assert motion.tau is not None
    return replace(motion, tau=delay(motion.tau, None, seconds))


def delay_position(motion: MotionSamples, joint: int, seconds: float) -> MotionSamples:
    q, qd, qdd = (delay(values, joint, seconds) for values in (motion.q, motion.qd, motion.qdd))
    return replace(motion, q=q, qd=qd, qdd=qdd)


# For each kind: the code, the mistake, its value, the field that mends it, the mending value and its tolerance.
Kind = tuple[
    str,
    Callable[[MotionSamples, int, float], MotionSamples],
    Callable[[np.random.Generator], float],
    Callable[[dict[str, Any], int], float],
    Callable[[float], float],
    float,
]
KINDS: dict[str, Kind] = {
    "scale": (
        "torque scale",
        scale_torque,
        lambda rng: draw_factor(rng, 1.6, 6.0),
        lambda fields, joint: float(np.log(fields["factors"][joint])),
        lambda value: -float(np.log(value)),
        0.2,
    ),
    "offset": (
        "position offset",
        shift_zero,
        lambda rng: float(rng.choice([-1.0, 1.0]) * rng.uniform(0.2, 1.4)),
        lambda fields, joint: fields["offsets"][joint],
        lambda value: -value,
        0.06,
    ),
    "time": (
        "time scale",
        stretch,
        lambda rng: draw_factor(rng, 1.1, 3.0),
        lambda fields, _joint: float(np.log(fields["factor"])),
        lambda value: -float(np.log(value)),
        0.04,
    ),
    "delay": (
        "delay",
        delay_torques,
        lambda rng: float(rng.choice([-1.0, 1.0]) * rng.uniform(0.04, 0.2)),
        lambda fields, _joint: fields["delay"],
        lambda value: value,
        0.01,
    ),
    "delay of a position": (
        "delay",
        delay_position,
        lambda rng: float(rng.choice([-1.0, 1.0]) * rng.uniform(0.045, 0.15)),
        lambda fields, _joint: fields["delay"],
        lambda value: value,
        0.01,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("draw", range(2))
def test_values_are_estimated(run: Run, kind: str, draw: int) -> None:
    code, plant, draw_value, get_value, mend, tolerance = KINDS[kind]
    rng = np.random.default_rng([SEED, draw])
    joint = int(rng.integers(1, 3))  # neither the first joint, whose zero is free, nor wrists, which friction dominates
    value = draw_value(rng)
    message = f"seed {SEED}, draw {draw}: {kind} {value} of joint {joint}"
    findings = replace(run, motion=plant(run.motion, joint, value)).diagnose()
    assert [finding.code for finding in findings] == [code], message
    assert findings[0].names == (() if kind in ("time", "delay") else (run.robot.actuated[joint],)), message
    assert get_value(dict(findings[0].fields), joint) == pytest.approx(mend(value), abs=tolerance), message
    assert findings[0].fields["std"] < tolerance, message


@pytest.mark.parametrize("kind", KINDS)
def test_small_values_are_those_of_any_log(run: Run, kind: str) -> None:
    """The twin: what filters, gains and zero positions of right logs are off by is no mistake."""
    plant, is_factor = KINDS[kind][1], kind in ("scale", "time")
    share = {"scale": 0.1, "time": 0.01, "offset": 0.02}.get(kind, 0.01)
    rng = np.random.default_rng([SEED, 9])
    size = float(rng.choice([-1.0, 1.0]) * rng.uniform(0.5, 1.0) * share)
    joint = int(rng.integers(1, 3))
    findings = replace(run, motion=plant(run.motion, joint, float(np.exp(size)) if is_factor else size)).diagnose()
    assert findings == [], f"seed {SEED}: {kind} {size} of joint {joint}"
