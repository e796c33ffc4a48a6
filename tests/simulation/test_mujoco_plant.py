"""Robots that the MuJoCo plant rejects."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.loop_robots import add_drives
from ytheta.errors import InputError, MissingExtraError
from ytheta.robot.parts import Motor
from ytheta.simulation.mujoco_plant import MujocoPlant


def test_unsupported_robots_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="motors, which the MuJoCo plant does not support"):
        MujocoPlant(replace(ytheta.load("ur10"), motors=(Motor("m", turns_with=(("elbow_joint", 1.0),)),)))
    with pytest.raises(InputError, match=r"(?s)MuJoCo rejects robot 'lu-puma4'.*use plant 'own'"):
        MujocoPlant(ytheta.load("lu-puma4")).compute_rates(np.zeros(8), np.zeros(4))
    with pytest.raises(InputError, match=r"cut joint .* has rotor inertia"):
        MujocoPlant(add_drives(ytheta.load("five-bar")))
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtraError, match=r"ytheta\[mujoco\]"):
        MujocoPlant(ytheta.load("ur10")).compute_rates(np.zeros(12), np.zeros(6))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("puma560", "link 'link1' has an inertia or a first moment, but its mass is 0 kg"),
        ("lu-puma4", r"positive eigenvalues.*\(link 'link1'\)"),
        ("stanford", r"positive eigenvalues.*\(link 'link5'\)"),
        ("rx90", r"mass and inertia .*\(link 'link1'\)"),
    ],
)
def test_inertias_that_mujoco_rejects_are_named(name: str, reason: str) -> None:
    """The error is one line that names the link. A warning of MuJoCo would make the test fail."""
    plant, n = MujocoPlant(ytheta.load(name)), len(ytheta.load(name).movable)
    with pytest.raises(InputError, match=f"{reason}.*use plant 'own'$") as error:
        plant.compute_rates(np.zeros(2 * n), np.zeros(n))
    assert "\n" not in str(error.value)
