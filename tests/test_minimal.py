"""Three roads, one answer: closed form, regrouped Lagrangian and numerical rank give the same K."""

from __future__ import annotations

import numpy as np
import pytest

import example_robots
import ytheta
from base_checks import complete_and_minimal
from test_numeric import URDFS
from ytheta.minimal.choice import acceptance
from ytheta.robot import catalog
from ytheta.robot.robot import Robot

SLOW_FOR_HA = 7  # joints: exact arithmetic grows with every joint, and the roads differ in nothing but that


def load(name: str) -> Robot:
    return ytheta.load(example_robots.urdf(name)) if name.endswith(".urdf") else ytheta.load(name)


def roads(robot: Robot) -> list[str]:
    accepted = [method for method, reason in acceptance(robot).items() if reason is None]
    return [method for method in accepted if method != "ha" or len(robot.movable) <= SLOW_FOR_HA]


CASES = [*((name, True) for name in (*catalog.names(), *URDFS)), ("panda", False), ("stanford", False), ("rx90", False)]


@pytest.mark.parametrize(("name", "rotor_inertia"), CASES)
def test_all_roads_lead_to_the_same_k(name: str, rotor_inertia: bool) -> None:
    robot = load(name)
    by_rank = ytheta.base_parameters(robot, method="qr", rotor_inertia=rotor_inertia)
    assert ("lin" in roads(robot)) == (not robot.loops and not robot.couplings)
    for method in roads(robot):
        base = ytheta.base_parameters(robot, method=method, rotor_inertia=rotor_inertia)
        assert base.method == method
        assert base.independent == by_rank.independent
        np.testing.assert_allclose(base.K, by_rank.K, atol=1e-9, rtol=1e-9)
        assert base.verdicts == by_rank.verdicts
        assert base.names == by_rank.names


@pytest.mark.parametrize("name", ["puma560", "stanford", "ha-scara"])
@pytest.mark.parametrize("method", ["lin", "ha"])
def test_each_road_stands_alone(name: str, method: str) -> None:
    robot = ytheta.load(name)
    assert complete_and_minimal(robot, ytheta.base_parameters(robot, method=method, rotor_inertia=True))


def test_auto_takes_the_closed_form_where_there_is_one() -> None:
    assert ytheta.base_parameters(ytheta.load("panda")).method == "lin"
    assert ytheta.base_parameters(ytheta.load("five-bar")).method == "qr"
    assert ytheta.base_parameters(ytheta.load("panda"), friction=("viscous",)).method == "qr"


def test_a_method_that_does_not_accept_names_one_that_does() -> None:
    for method in ("lin", "ha"):
        reason = acceptance(ytheta.load("palletiser"))[method]
        assert reason is not None
        assert "qr" in reason
