"""Sizes of sensor errors that are rejected, and how sensors are shown."""

from __future__ import annotations

import numpy as np
import pytest

from ytheta.errors import InputError
from ytheta.simulation.sensors import Sensor, Sensors


@pytest.mark.parametrize("name", ["noise", "step", "delay"])
def test_negative_sizes_are_rejected(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} of a sensor is negative"):
        Sensor(**{name: -1.0})


@pytest.mark.parametrize("name", ["noise", "bias", "scale", "step", "delay"])
def test_sizes_that_are_not_finite_are_rejected(name: str) -> None:
    for value in (float("nan"), float("inf")):
        with pytest.raises(InputError, match=rf"{name} of a sensor is .*; give finite numbers"):
            Sensor(**{name: value})
    with pytest.raises(InputError, match=r"bias of a sensor is array.*; give finite numbers"):
        Sensor(bias=np.array([0.1, np.nan]))


def test_only_errors_that_are_not_zero_are_shown() -> None:
    assert repr(Sensors()) == "Sensors()"
    errors = Sensor(noise=1e-4, bias=np.array([0.0, 0.1]), scale=np.zeros(2), step=np.ones((3, 2)), delay=0.002)
    text = "Sensor(noise=0.0001, bias=<2 numbers>, step=<3 x 2 numbers>, delay=0.002)"
    assert repr(errors) == text
    assert repr(Sensors(qd=errors, tau=Sensor(bias=-1))) == f"Sensors(qd={text}, tau=Sensor(bias=-1))"
