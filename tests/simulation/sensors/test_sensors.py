"""Sizes of sensor errors that are rejected."""

from __future__ import annotations

import numpy as np
import pytest

from ytheta.errors import InputError
from ytheta.simulation.sensors.sensors import Sensor


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
