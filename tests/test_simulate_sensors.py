"""Sensors against their formula and their statistics; jumps of parameters; the limits of what they take."""

from __future__ import annotations

import numpy as np
import pytest

from ytheta.errors import InputError
from ytheta.robot.inertia import Inertia
from ytheta.simulation.events import Jump, apply, by_instant, grasp
from ytheta.simulation.sensors import AHEAD, Readings, Sensor, Sensors

PERIOD = 1e-3


def _readings(sensors: Sensors, runs: int = 3, seed: int = 0) -> Readings:
    return Readings(sensors, PERIOD, slice(0, runs), np.random.default_rng(seed).spawn(runs))


def _values(instants: int, runs: int = 3, joints: int = 2) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(instants, runs, joints))


def _read(readings: Readings, values: np.ndarray) -> np.ndarray:
    found = []
    for value in values:
        found.append(readings.q(value))
        readings.next()
    return np.array(found)


def test_without_errors_the_truth_is_read() -> None:
    values = _values(5)
    np.testing.assert_array_equal(_read(_readings(Sensors()), values), values)


def test_scale_bias_and_steps() -> None:
    bias = np.array([0.1, -0.2])
    values = _values(5)
    read = _read(_readings(Sensors(q=Sensor(bias=bias, scale=0.02, step=np.array([0.0, 0.25])))), values)
    exact = 1.02 * values + bias
    np.testing.assert_allclose(read[:, :, 0], exact[:, :, 0], rtol=1e-15)
    np.testing.assert_array_equal(read[:, :, 1], 0.25 * np.round(exact[:, :, 1] / 0.25))
    assert np.abs(read[:, :, 1] - exact[:, :, 1]).max() > 0.05


def test_delay_shows_what_was() -> None:
    values = _values(8)
    read = _read(_readings(Sensors(q=Sensor(delay=3e-3))), values)
    np.testing.assert_array_equal(read[3:], values[:-3])
    np.testing.assert_array_equal(read[:3], np.broadcast_to(values[0], read[:3].shape))
    with pytest.raises(InputError, match=r"0.0025 s is no multiple"):
        _readings(Sensors(q=Sensor(delay=2.5e-3)))


def test_noise_is_normal_and_each_run_has_its_own() -> None:
    values = np.zeros((5000, 3, 2))
    read = _read(_readings(Sensors(q=Sensor(noise=np.array([0.1, 2.0])))), values)
    # The standard deviation of 15000 draws is uncertain by 0.6 %; four times that.
    np.testing.assert_allclose(read.std(axis=(0, 1)), [0.1, 2.0], rtol=0.025)
    flat = read.reshape(len(read), -1)
    assert np.abs(np.corrcoef(flat.T) - np.eye(6)).max() < 0.08
    later = np.corrcoef(flat[:-AHEAD, 0], flat[AHEAD:, 0])[0, 1]
    assert abs(later) < 0.08  # what is drawn ahead is not used twice
    alone = Readings(Sensors(q=Sensor(noise=2.0)), PERIOD, slice(1, 2), np.random.default_rng(0).spawn(3)[1:2])
    np.testing.assert_array_equal(_read(alone, values[:200, 1:2])[:, 0, 1], read[:200, 1, 1])


def test_kinds_do_not_share_noise() -> None:
    readings = _readings(Sensors(*(Sensor(noise=1.0) for _ in range(4))))
    zero = np.zeros((3, 2))
    all_four = [readings.q(zero), readings.qd(zero), readings.qdd(zero), readings.tau(zero)]
    assert len(np.unique(all_four)) == 24


@pytest.mark.parametrize("name", ["noise", "step", "delay"])
def test_negative_sizes_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} of a sensor is negative"):
        Sensor(**{name: -1.0})


def test_jumps_by_instant() -> None:
    load = Inertia.point(2.0, (0.0, 0.0, 0.5))
    names = ["link.m", *(f"load.{p}" for p in ("m", "mz", "mx", "my", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"))]
    changes = by_instant([Jump(0.0105, {"link.m": 3.0}), grasp(0.01, load)], PERIOD, names)
    assert sorted(changes) == [10, 11]
    theta = np.zeros((2, len(names)))
    apply(theta, changes[10])
    np.testing.assert_array_equal(theta[:, :3], [[0.0, 2.0, 1.0]] * 2)
    apply(theta, changes[11])
    np.testing.assert_array_equal(theta[:, 0], 3.0)


def test_jumps_that_make_no_sense() -> None:
    with pytest.raises(InputError, match="give a time from 0 on"):
        Jump(-1.0, {})
    with pytest.raises(InputError, match=r"'link.m' to nan"):
        Jump(1.0, {"link.m": float("nan")})
    with pytest.raises(InputError, match="add it to ``varied``"):
        by_instant([Jump(1.0, {"link.m": 1.0})], PERIOD, ["other.m"])
