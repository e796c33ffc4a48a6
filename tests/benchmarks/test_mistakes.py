"""A small version of the benchmark of planted mistakes: each is named, and nothing is named on the clean log."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.mistakes import CLEAN, MISTAKES, Recording, judge, list_simulated


@pytest.fixture(scope="module")
def planar() -> Recording:
    (recording,) = list_simulated(["planar"], 1)
    return recording


@pytest.mark.parametrize(
    "mistake",
    [
        CLEAN,  # the twin of all others
        "gravity of the moon",
        "gravity along a wrong axis",
        "lengths in mm",
        "torques in Nmm",
        "torque sign of joint 2",
        "joints 1 and 3 exchanged",
        "time x 2",
        "positions in degrees",
    ],
)
def test_planted_mistakes_are_named(planar: Recording, mistake: str) -> None:
    outcome = judge(planar, mistake)
    assert outcome is not None
    assert outcome.right, outcome.said
    assert bool(outcome.said) is (mistake != CLEAN)


def test_another_mistake_than_the_planted_one_is_not_right(planar: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin of the judgement itself."""
    plant = MISTAKES["torques in Nmm"]
    monkeypatch.setitem(MISTAKES, "other", lambda recording: replace(plant(recording), code="gravity", names=()))
    outcome = judge(planar, "other")
    assert outcome is not None
    assert outcome.said
    assert not outcome.right
