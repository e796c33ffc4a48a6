"""Sensors against their formula and their statistics; jumps of parameters; the limits of what they take."""

from __future__ import annotations

import numpy as np
import pytest

from ytheta.errors import InputError
from ytheta.robot.inertia import Inertia
from ytheta.simulation.parameter_changes import ParameterChange, apply, group_by_instant, grasp
from ytheta.simulation.sensors.sensor_reader import AHEAD, SensorReader
from ytheta.simulation.sensors.sensors import Sensor, Sensors

PERIOD = 1e-3


def _readings(sensors: Sensors, rows: slice = slice(0, 3), *, accelerations: bool = False) -> SensorReader:
    streams = np.random.default_rng(0).spawn(3)[rows]
    return SensorReader(sensors, 2, PERIOD, rows, streams, accelerations=accelerations)


def _values(instants: int, runs: int = 3, joints: int = 2) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(instants, runs, joints))


def _read(readings: SensorReader, values: np.ndarray) -> np.ndarray:
    """What is read as q, the same values being qd."""
    return np.array([readings.motion(np.concatenate([value, value], axis=1))[:, :2] for value in values])


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
    alone = _readings(Sensors(q=Sensor(noise=2.0)), slice(1, 2))
    np.testing.assert_array_equal(_read(alone, values[:200, 1:2])[:, 0, 1], read[:200, 1, 1])


def test_kinds_do_not_share_noise() -> None:
    readings = _readings(Sensors(*(Sensor(noise=1.0) for _ in range(4))), accelerations=True)
    motion, tau = readings.motion(np.zeros((3, 6))), np.zeros((3, 5, 2))
    readings.end(tau)
    assert len(np.unique(np.concatenate([motion.ravel(), tau.ravel()]))) == 18 + 30


def test_noise_of_one_kind_leaves_the_other_alone() -> None:
    readings = _readings(Sensors(qd=Sensor(noise=1.0)))
    read = readings.motion(np.zeros((3, 4)))
    assert (read[:, :2] == 0.0).all()
    assert (read[:, 2:] != 0.0).all()


def test_torques_are_read_where_they_are_kept() -> None:
    """Late at their instant, wrong at the end: scale, bias, noise and steps as for motion, in each run for itself."""
    bias = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    sensors = Sensors(tau=Sensor(scale=0.02, bias=bias, noise=0.01, step=0.125, delay=2e-3))
    readings, tau = _readings(sensors), _values(7)
    late = np.stack([readings.torque(value) for value in tau], axis=1)
    np.testing.assert_array_equal(late[:, 2:], tau[:-2].swapaxes(0, 1))
    read = late.copy()
    readings.end(read)
    exact = 1.02 * late + bias[:, None]
    np.testing.assert_array_equal(read, 0.125 * np.round(read / 0.125))
    assert 0.05 < np.abs(read - exact).max() < 0.125 / 2 + 5 * 0.01
    twin = _readings(Sensors(tau=Sensor(scale=0.02, bias=bias, step=0.125, delay=2e-3)))
    silent = late.copy()
    twin.end(silent)
    assert (silent != read).any()
    np.testing.assert_array_equal(silent, 0.125 * np.round(exact / 0.125))


@pytest.mark.parametrize("name", ["noise", "step", "delay"])
def test_negative_sizes_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} of a sensor is negative"):
        Sensor(**{name: -1.0})


@pytest.mark.parametrize("name", ["noise", "bias", "scale", "step", "delay"])
def test_what_is_no_number_is_refused(name: str) -> None:
    for value in (float("nan"), float("inf")):
        with pytest.raises(InputError, match=rf"{name} of a sensor is .*; give finite numbers"):
            Sensor(**{name: value})
    with pytest.raises(InputError, match=r"bias of a sensor is array.*; give finite numbers"):
        Sensor(bias=np.array([0.1, np.nan]))


def test_shapes_that_fit_neither_joints_nor_runs_are_refused() -> None:
    for shape in ((1,), (3,), (3, 3), (2, 2)):
        with pytest.raises(InputError, match=r"noise of the sensor of qd has shape .*2 \(one per joint\).*\(3, 2\)"):
            _readings(Sensors(qd=Sensor(noise=np.ones(shape))))
    for fits in (1.0, np.ones(2), np.ones((3, 2))):
        Sensors(tau=Sensor(bias=fits)).check(2, 3)
    _readings(Sensors(q=Sensor(bias=np.ones((7, 2)))), slice(0, 2))  # a block of more runs
    with pytest.raises(InputError, match=r"bias of the sensor of q has shape \(7, 2\).*\(2, 2\), a row for every run"):
        Sensors(q=Sensor(bias=np.ones((7, 2)))).check(2, 2)


def test_jumps_by_instant() -> None:
    load = Inertia.point_mass(2.0, (0.0, 0.0, 0.5))
    names = ["link.m", *(f"load.{p}" for p in ("m", "mz", "mx", "my", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"))]
    changes = group_by_instant([ParameterChange(0.0105, {"link.m": 3.0}), grasp(0.01, load)], PERIOD, names, 100)
    assert sorted(changes) == [10, 11]
    theta = np.zeros((2, len(names)))
    apply(theta, changes[10])
    np.testing.assert_array_equal(theta[:, :3], [[0.0, 2.0, 1.0]] * 2)
    apply(theta, changes[11])
    np.testing.assert_array_equal(theta[:, 0], 3.0)


def test_jumps_that_make_no_sense() -> None:
    with pytest.raises(InputError, match="give a time from 0 on"):
        ParameterChange(-1.0, {})
    with pytest.raises(InputError, match=r"'link.m' to nan"):
        ParameterChange(1.0, {"link.m": float("nan")})
    with pytest.raises(InputError, match="add it to ``varied``"):
        group_by_instant([ParameterChange(1.0, {"link.m": 1.0})], PERIOD, ["other.m"], 2000)
