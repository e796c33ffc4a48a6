"""Base parameters of a selection of standard parameters."""

from __future__ import annotations

import pytest

import ytheta
from tests.support.states import close
from ytheta.errors import InputError, UnknownNameError
from ytheta.identifiability.registry import explain_refusals


def test_a_selection_of_parameters() -> None:
    robot = ytheta.load("puma560")
    all_links = [f"{link.name}.*" for link in robot.merged.links[1:]]
    base = ytheta.base_parameters(robot, parameters=all_links)
    plain = ytheta.base_parameters(robot, method="qr")
    assert (base.method, base.independent, base.selected) == ("qr", plain.independent, plain.selected)
    assert close(base.K, plain.K)
    few = ytheta.base_parameters(robot, parameters=["link6.m", "link6.Izz", "joint6.Ia", "joint6.fc"])
    assert few.selected == ("link6.m", "link6.Izz", "joint6.Ia", "joint6.fc")
    assert set(few.independent) == set(few.selected)
    assert not few.K[:, [name not in few.selected for name in robot.parameter_names]].any()
    assert ytheta.regressor(robot, few).shape == (6, 4)


def test_bad_selections_are_refused() -> None:
    robot = ytheta.load("puma560")
    with pytest.raises(UnknownNameError, match=r"has no parameter 'link9\.m'"):
        ytheta.base_parameters(robot, parameters=["link1.*", "link9.m"])
    with pytest.raises(InputError, match="'parameters' already selects the parameters"):
        ytheta.base_parameters(robot, parameters=["link1.m"], rotor_inertia=True)
    with pytest.raises(
        InputError, match=r"parameters is a list of names or patterns, such as \('link1.m',\), not a single string"
    ):
        ytheta.base_parameters(robot, parameters="link1.m")
    for method in ("lin", "ha"):
        assert "not a selection of parameters; method qr does" in str(
            explain_refusals(robot, parameters=["link1.m"])[method]
        )
        with pytest.raises(InputError, match="not a selection of parameters"):
            ytheta.base_parameters(robot, method=method, parameters=["link1.m"])
