"""Remedies, typed into a mapping or a description, restore the log or the robot as it was before the mistake."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ytheta as yt
from tests.support.diagnosis_runs import Run, simulate_run
from ytheta.logs.preparing.prepared_log import MotionSamples

SIGNS = np.array([1.0, -1.0, 1.0, 1.0, 1.0, 1.0])
ORDER = [0, 2, 1, 3, 4, 5]


def _scale_torques(motion: MotionSamples, factors: np.ndarray | float) -> MotionSamples:
    assert motion.tau is not None
    return replace(motion, tau=factors * motion.tau)


def _reverse(motion: MotionSamples) -> MotionSamples:
    return replace(motion, q=SIGNS * motion.q, qd=SIGNS * motion.qd, qdd=SIGNS * motion.qdd)


def _exchange(motion: MotionSamples) -> MotionSamples:
    assert motion.tau is not None
    columns = (motion.q[:, ORDER], motion.qd[:, ORDER], motion.qdd[:, ORDER], motion.tau[:, ORDER])
    return replace(motion, q=columns[0], qd=columns[1], qdd=columns[2], tau=columns[3])


# What was done to the motion, and the section of the mapping in which the remedy is typed.
MISTAKES: dict[str, tuple[str, Callable[[MotionSamples], MotionSamples]]] = {
    "torque sign": ("sign", lambda motion: _scale_torques(motion, SIGNS)),
    "torque scale": ("scale", lambda motion: _scale_torques(motion, 1e3)),
    "gain": ("scale", lambda motion: _scale_torques(motion, np.where(SIGNS < 0.0, 0.1, 1.0))),
    "position sign": ("sign", _reverse),
    "axis": ("sign", lambda motion: _scale_torques(_reverse(motion), SIGNS)),
    "position offset": ("offset", lambda motion: replace(motion, q=motion.q + 0.25 * np.pi * (1.0 - SIGNS))),
    "joint order": ("columns", _exchange),
    "time scale": ("scale", lambda motion: replace(motion, t=2.0 * motion.t, qd=motion.qd / 2.0, qdd=motion.qdd / 4.0)),
}


def read_mapping(section: str, remedy: str) -> dict[str, Any]:
    """Return the mapping with the entries of a remedy: ``name = value`` or ``name = [values]``."""
    entries = re.findall(r"\b(?:t|q|tau) = (?:\[[^]]*\]|[0-9.]+)", remedy)
    return {section: tomllib.loads("\n".join(entries))}


@pytest.fixture(scope="module")
def run() -> Run:
    return simulate_run("ur10")


@pytest.mark.parametrize("name", MISTAKES)
def test_the_typed_remedy_restores_the_log(run: Run, name: str) -> None:
    section, make_mistake = MISTAKES[name]
    motion = make_mistake(run.motion)
    (finding,) = replace(run, motion=motion).diagnose()
    assert motion.tau is not None
    table = {"t": motion.t}
    for k in range(motion.q.shape[1]):
        table[f"q{k + 1}"], table[f"tau{k + 1}"] = motion.q[:, k], motion.tau[:, k]
    mapping = read_mapping(section, finding.remedy)
    mended, wrong = (yt.read_log(table, run.robot, mapping=each) for each in (mapping, None))

    def is_restored(log: yt.Log) -> bool:
        assert log.tau is not None
        assert run.motion.tau is not None
        tolerance = 0.5 * abs(run.motion.tau).max(axis=0) if name == "gain" else 1e-9  # gains have an uncertainty
        return (
            np.allclose(log.t, run.motion.t)
            and np.allclose(log.q, run.motion.q)
            and bool((abs(log.tau - run.motion.tau) <= tolerance).all())
        )

    assert is_restored(mended)
    assert not is_restored(wrong)  # the twin


@pytest.mark.parametrize("gravity", [(0.0, 0.0, -1.62), (0.0, 0.0, 0.0), (-9.81, 0.0, 0.0), (0.0, 0.0, 9.81)])
def test_the_typed_gravity_restores_the_description(run: Run, gravity: tuple[float, float, float]) -> None:
    (finding,) = run.diagnose(gravity=gravity)
    match = re.search(r"gravity = \[[^]]*\]", finding.remedy)
    assert finding.code == "gravity"
    assert match is not None
    x, y, z = tomllib.loads(match[0])["gravity"]
    np.testing.assert_allclose((x, y, z), run.robot.gravity, atol=0.01)
    assert run.diagnose(gravity=(x, y, z)) == []
