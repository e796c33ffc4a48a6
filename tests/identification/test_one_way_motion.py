"""Drives that move in one direction only: the scale of their offsets is the typical one, and a note says so."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.known_arm import known_arm
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.identify import identify
from ytheta.identification.priors.description import TYPICAL_SHARE, find_one_way_drives
from ytheta.logs.log import Log

FRICTION = ("viscous", "coulomb", "offset")
RATE = 400.0


def make_log(*, backward: float) -> Log:
    """A log of the known arm whose second joint moves forward most of the time, and then backward by a share."""
    arm = known_arm()
    t = np.arange(4000) / RATE
    speed = np.where(t < 9.0, 0.3 * np.sin(np.pi * t / 9.0) ** 2, -backward * 2.7 * np.sin(np.pi * (t - 9.0)) ** 2)
    q = np.stack([np.sin(1.3 * t) + 0.3 * np.sin(4.1 * t), np.cumsum(speed) / RATE], axis=1)
    qd = np.gradient(q, t, axis=0)
    return Log(arm.robot.actuated, t, q, arm.form.kernel(q, qd, np.gradient(qd, t, axis=0)) @ arm.beta)


@pytest.mark.parametrize(("backward", "one_way"), [(0.0, True), (0.2, False)])
def test_the_scale_of_the_offset_does_not_follow_the_evidence(backward: float, one_way: bool) -> None:
    """The twin moves back by a fifth of the way."""
    arm = known_arm()
    fit = identify(arm.robot, make_log(backward=backward), friction=FRICTION, rotor_inertia=False)
    drives = arm.robot.actuated[1:] if one_way else ()
    assert isinstance(fit.base, BaseParameters)
    assert find_one_way_drives(fit.base, fit.normal_equations) == drives
    assert [note.names for note in fit.findings if "in one direction only" in note.statement] == (
        [drives] if one_way else []
    )
    assert fit.estimate.posterior is not None
    prior = fit.estimate.posterior.prior
    fixed = {}
    for joint in arm.robot.actuated:
        (column,) = np.flatnonzero(prior.axes[prior.names.index(f"{joint}.fo")])
        is_typical = prior.offset[column] == pytest.approx(math.log(TYPICAL_SHARE))
        fixed[joint] = is_typical and not prior.design[column].any()
    assert fixed == {joint: joint in drives for joint in arm.robot.actuated}
