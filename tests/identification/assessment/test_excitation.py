"""Parameters that the motion does not determine."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.known_arm import known_arm
from ytheta.identification.identify import identify


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-4])
def test_parameters_of_a_joint_at_rest_are_not_seen(noise: float) -> None:
    arm = known_arm()
    joint = arm.robot.actuated[1]
    fit = identify(arm.robot, arm.held_log(noise))
    assert fit.verdict.grade.value == "not exciting"
    assert not fit.verdict.solved
    assert not np.isfinite(fit.std).all()
    assert joint in fit.missing[0].text
    unseen = {name for name, seen in fit.standard_seen.items() if seen.value == "not seen"}
    assert f"{joint}.fv" in unseen
    place = fit.base.independent.index(f"{joint}.fv")
    assert fit.estimate.beta[place] == 0.0  # as described
    assert fit.beta[place] == 0.0
