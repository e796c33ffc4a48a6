"""The choice of a method: wrong names and refused options."""

from __future__ import annotations

import pytest

import ytheta
from ytheta.errors import InputError, UnknownNameError
from ytheta.robot.robot import Robot


def test_wrong_names_are_refused() -> None:
    robot = ytheta.load("ur10")
    with pytest.raises(UnknownNameError, match="no method 'svd'"):
        ytheta.base_parameters(robot, method="svd")
    with pytest.raises(UnknownNameError, match=r"no friction 'viscos'; did you mean 'viscous'\?"):
        ytheta.base_parameters(robot, friction=("viscos",))
    with pytest.raises(InputError, match=r"not friction; method qr does \(accepted by: qr\)"):
        ytheta.base_parameters(robot, method="lin", friction=("viscous",))
    with pytest.raises(InputError, match="no moving joint"):
        ytheta.base_parameters(Robot("block", (robot.base,)))
    with pytest.raises(InputError, match="list of kinds"):
        ytheta.base_parameters(robot, friction="viscous")
    assert repr(ytheta.base_parameters(robot)) == "BaseParameters(36 of 60 parameters of 'ur10', by lin)"
