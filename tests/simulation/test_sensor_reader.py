"""Sensor readings are compared with their formula and their statistics."""

from __future__ import annotations

import numpy as np
import pytest

from ytheta.errors import InputError
from ytheta.simulation.sensors import INSTANTS_PER_DRAW, Sensor, SensorReader, Sensors

PERIOD = 1e-3


def _make_reader(sensors: Sensors, rows: slice = slice(0, 3), *, uses_accelerations: bool = False) -> SensorReader:
    streams = np.random.default_rng(0).spawn(3)[rows]
    return SensorReader(sensors, 2, PERIOD, rows, streams, uses_accelerations=uses_accelerations)


def _sample_values(instants: int, runs: int = 3, joints: int = 2) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(instants, runs, joints))


def _read(reader: SensorReader, values: np.ndarray) -> np.ndarray:
    """Return the readings of q; the true values of qd are the same."""
    return np.array([reader.read_motion(np.concatenate([value, value], axis=1))[:, :2] for value in values])


def test_readings_without_errors_are_the_true_values() -> None:
    values = _sample_values(5)
    np.testing.assert_array_equal(_read(_make_reader(Sensors()), values), values)


def test_readings_have_scale_bias_and_steps() -> None:
    bias = np.array([0.1, -0.2])
    values = _sample_values(5)
    read = _read(_make_reader(Sensors(q=Sensor(bias=bias, scale=0.02, step=np.array([0.0, 0.25])))), values)
    exact = 1.02 * values + bias
    np.testing.assert_allclose(read[:, :, 0], exact[:, :, 0], rtol=1e-15)
    np.testing.assert_array_equal(read[:, :, 1], 0.25 * np.round(exact[:, :, 1] / 0.25))
    assert np.abs(read[:, :, 1] - exact[:, :, 1]).max() > 0.05


def test_a_delay_returns_earlier_values() -> None:
    values = _sample_values(8)
    read = _read(_make_reader(Sensors(q=Sensor(delay=3e-3))), values)
    np.testing.assert_array_equal(read[3:], values[:-3])
    np.testing.assert_array_equal(read[:3], np.broadcast_to(values[0], read[:3].shape))
    with pytest.raises(InputError, match=r"0.0025 s is not a multiple"):
        _make_reader(Sensors(q=Sensor(delay=2.5e-3)))


def test_each_sensor_has_its_own_delay() -> None:
    sensors = Sensors(q=Sensor(delay=3e-3), qd=Sensor(delay=1e-3), qdd=Sensor())
    reader, values = _make_reader(sensors, uses_accelerations=True), _sample_values(8, joints=6)
    read = np.array([reader.read_motion(value) for value in values])
    for columns, periods in ((slice(0, 2), 3), (slice(2, 4), 1), (slice(4, 6), 0)):
        expected = values[np.maximum(0, np.arange(8) - periods)]
        np.testing.assert_array_equal(read[:, :, columns], expected[:, :, columns])


def test_noise_is_normal_and_each_run_has_its_own() -> None:
    values = np.zeros((5000, 3, 2))
    read = _read(_make_reader(Sensors(q=Sensor(noise=np.array([0.1, 2.0])))), values)
    # The tolerance is four times 0.6 %, the uncertainty of the standard deviation of 15000 samples.
    np.testing.assert_allclose(read.std(axis=(0, 1)), [0.1, 2.0], rtol=0.025)
    flat = read.reshape(len(read), -1)
    assert np.abs(np.corrcoef(flat.T) - np.eye(6)).max() < 0.08
    later = np.corrcoef(flat[:-INSTANTS_PER_DRAW, 0], flat[INSTANTS_PER_DRAW:, 0])[0, 1]
    assert abs(later) < 0.08  # no noise is used twice
    alone = _make_reader(Sensors(q=Sensor(noise=2.0)), slice(1, 2))
    np.testing.assert_array_equal(_read(alone, values[:200, 1:2])[:, 0, 1], read[:200, 1, 1])


def test_sensors_do_not_share_noise() -> None:
    reader = _make_reader(Sensors(*(Sensor(noise=1.0) for _ in range(4))), uses_accelerations=True)
    motion, tau = reader.read_motion(np.zeros((3, 6))), np.zeros((3, 5, 2))
    reader.add_torque_errors(tau)
    assert len(np.unique(np.concatenate([motion.ravel(), tau.ravel()]))) == 18 + 30


def test_noise_of_one_sensor_does_not_affect_others() -> None:
    reader = _make_reader(Sensors(qd=Sensor(noise=1.0)))
    read = reader.read_motion(np.zeros((3, 4)))
    assert (read[:, :2] == 0.0).all()
    assert (read[:, 2:] != 0.0).all()


def test_torque_errors_are_added_to_the_kept_instants() -> None:
    """The delay acts at every instant. Scale, bias, noise and steps are added at the end, for each run separately."""
    bias = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    sensors = Sensors(tau=Sensor(scale=0.02, bias=bias, noise=0.01, step=0.125, delay=2e-3))
    reader, tau = _make_reader(sensors), _sample_values(7)
    delayed = np.stack([reader.delay_torque(value) for value in tau], axis=1)
    np.testing.assert_array_equal(delayed[:, 2:], tau[:-2].swapaxes(0, 1))
    read = delayed.copy()
    reader.add_torque_errors(read)
    exact = 1.02 * delayed + bias[:, None]
    np.testing.assert_array_equal(read, 0.125 * np.round(read / 0.125))
    assert 0.05 < np.abs(read - exact).max() < 0.125 / 2 + 5 * 0.01
    twin = _make_reader(Sensors(tau=Sensor(scale=0.02, bias=bias, step=0.125, delay=2e-3)))
    without_noise = delayed.copy()
    twin.add_torque_errors(without_noise)
    assert (without_noise != read).any()
    np.testing.assert_array_equal(without_noise, 0.125 * np.round(exact / 0.125))


def test_sizes_of_the_wrong_shape_are_rejected() -> None:
    for shape in ((1,), (3,), (3, 3), (2, 2)):
        with pytest.raises(InputError, match=r"noise of the sensor of qd has shape .*2 \(one per joint\).*\(3, 2\)"):
            _make_reader(Sensors(qd=Sensor(noise=np.ones(shape))))
    for size in (1.0, np.ones(2), np.ones((3, 2))):
        Sensors(tau=Sensor(bias=size)).check(2, 3)
    _make_reader(Sensors(q=Sensor(bias=np.ones((7, 2)))), slice(0, 2))  # a batch of a simulation with more runs
    with pytest.raises(InputError, match=r"bias of the sensor of q has shape \(7, 2\).*\(2, 2\), a row for every run"):
        Sensors(q=Sensor(bias=np.ones((7, 2)))).check(2, 2)
