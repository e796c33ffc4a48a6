"""The choice of a method: wrong names and refused options."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ytheta
from ytheta.errors import InputError, UnknownNameError
from ytheta.robot.parts import Coupling
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


def test_model_parameters_without_geometry() -> None:
    """Unknown lengths need method ha; robots whose Lagrangian cannot be regrouped must have their lengths set."""
    scara = ytheta.load("ha-scara")
    assert isinstance(ytheta.model_parameters(scara), ytheta.BaseParameters)
    unknown = ytheta.model_parameters(scara, unknown_geometry=True)
    assert isinstance(unknown, ytheta.Regrouping)
    assert unknown.robot.unset_lengths == ("a1", "a2")
    assert all(link.inertia.massless for link in unknown.robot.links)
    assert isinstance(ytheta.model_parameters(unknown.robot, method="ha"), ytheta.Regrouping)
    assert ytheta.model_parameters(unknown.robot).method == "lin"
    geared = replace(scara, couplings=(Coupling("joint4", (("joint2", 0.5),)),), actuated=())
    with pytest.raises(InputError, match=r"joint 'joint4' coupled, which .* does not cover; set its lengths"):
        ytheta.model_parameters(geared, unknown_geometry=True)
    with pytest.raises(InputError, match="all parameters are selected together"):
        ytheta.model_parameters(scara, unknown_geometry=True, parameters=("link*",))
    with pytest.raises(InputError, match="method lin needs the geometry"):
        ytheta.model_parameters(scara, unknown_geometry=True, method="lin")
