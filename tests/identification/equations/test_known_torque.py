"""The torque of parameters that are not estimated."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.known_arm import known_arm
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.identify import identify
from ytheta.robot.parameters import with_theta


def test_the_known_torque_is_subtracted() -> None:
    """Friction that is not estimated keeps its value, and the links are identified as if there were no friction."""
    arm = known_arm()
    assert isinstance(arm.form.base, BaseParameters)
    theta = arm.form.base.minimum_norm(arm.beta)
    robot = with_theta(arm.robot, theta)
    friction = [name for name in robot.parameter_names if name.rpartition(".")[2] in ("fv", "fc", "fo")]
    links = [name for name in robot.parameter_names if name.startswith("link")]
    fit = identify(robot, arm.log(), parameters=links)
    assert fit.consistency_cost is not None
    assert fit.consistency_cost.estimate_percent < 0.2  # of the estimate: these parameters are not those of bodies
    assert {name: fit.robot.theta[fit.robot.parameter_names.index(name)] for name in friction} == {
        name: pytest.approx(robot.theta[robot.parameter_names.index(name)]) for name in friction
    }
    frictionless = with_theta(arm.robot, np.where([name in friction for name in robot.parameter_names], 0.0, theta))
    assert identify(frictionless, arm.log(), parameters=links).fit.relative_percent > 5.0  # the twin: no known friction
