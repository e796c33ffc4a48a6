"""Lin's procedure for drives with root friction, and its refusal of load-dependent friction."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta
from tests.support.friction_robots import add_friction_laws
from ytheta.errors import InputError
from ytheta.identification.estimators.lin_serial_arm import SerialArm

FRICTION = ("viscous", "coulomb", "offset", "root")


def test_the_columns_of_the_drives_are_those_of_the_regressor() -> None:
    robot = add_friction_laws(ytheta.load("stanford"), load=False)
    arm = SerialArm.of(ytheta.base_parameters(robot, friction=FRICTION))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 20, 6))
    for k, joint in enumerate(arm.joints):
        assert joint.drive == ("fv", "fc", "fo", "fs")
        names = [f"{joint.name}.{symbol}" for symbol in joint.drive]
        Y = ytheta.regressor(robot, parameters=names)(q, qd, qdd)[:, k]
        columns = joint.compute_drive_columns(qd[:, k], qdd[:, k], None)
        np.testing.assert_allclose(columns, Y.T, rtol=1e-13, atol=1e-13)
        smooth = joint.compute_drive_columns(qd[:, k], qdd[:, k], np.full(20, 0.5))
        np.testing.assert_array_equal(smooth[1], 0.5)  # the low-passed sign of the log replaces that of fc only
        np.testing.assert_array_equal(smooth[[0, 2, 3]], columns[[0, 2, 3]])


def test_load_friction_is_refused() -> None:
    base = ytheta.base_parameters(add_friction_laws(ytheta.load("stanford")), friction=(*FRICTION, "load"))
    with pytest.raises(
        InputError, match=r"lin does not accept load-dependent friction, such as that of 'joint1', .*use"
    ):
        SerialArm.of(base)
