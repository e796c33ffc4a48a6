"""The public names of simulation: documented attributes, short reprs."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import ytheta as yt

ROBOT = yt.load("panda")
MAX_REPR = 150  # characters
NAMES = (
    "ClosedLoop",
    "FourierReference",
    "Grasp",
    "LoggedReference",
    "MujocoPlant",
    "ParameterChange",
    "PlainLoop",
    "Runs",
    "SampledReference",
    "Sensor",
    "Sensors",
    "Simulation",
    "Variation",
)


@pytest.mark.parametrize("name", NAMES)
def test_every_attribute_is_documented(name: str) -> None:
    kind = getattr(yt, name)
    assert is_dataclass(kind)
    words = (kind.__doc__ or "").replace(",", " ").replace("`", " ").split()
    assert [field.name for field in fields(kind) if field.name not in words] == []


def test_reprs_are_one_short_line() -> None:
    simulation = yt.simulate(yt.load("lu-two-link"), "computed-torque", seconds=0.1)
    reference = yt.default_reference(ROBOT, 2.0)
    t = np.linspace(0.0, 2.0, 50)
    values = (
        reference,
        yt.LoggedReference(t, reference(t)[0]),
        simulation,
        simulation.runs,
        simulation.reference,
        yt.grasp(1.0, 0.5),
        yt.Variation(spread=10.0),
        yt.Sensor(noise=1e-3),
    )
    for value in values:
        assert "\n" not in repr(value)
        assert len(repr(value)) <= MAX_REPR, repr(value)
