"""Base parameters of robots with declared forces."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta
from tests.support.base_checks import is_complete_and_minimal, regressors
from tests.support.driven_robots import evaluate
from tests.support.forced_robots import CABLE, SPRING, with_forces
from ytheta.dynamics import graphs
from ytheta.errors import InputError
from ytheta.identifiability.registry import base_parameters, explain_refusals
from ytheta.robot.parts import Force


def test_base_parameters_with_forces() -> None:
    bare = ytheta.load("puma560")
    robot = with_forces(bare, SPRING, CABLE)
    base = base_parameters(robot)
    assert base.method == "qr"
    assert base.independent == (*base_parameters(bare, method="qr").independent, "spring.k", "cable.k")
    assert is_complete_and_minimal(robot, base)
    for method in ("lin", "ha"):
        assert "not declared forces; method qr does" in str(explain_refusals(robot)[method])
        with pytest.raises(InputError, match="not declared forces"):
            base_parameters(robot, method=method)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_a_force_with_the_shape_of_gravity_is_combined_with_it(unit: float) -> None:
    """A force with the shape of a link's weight is not identifiable separately, in any unit."""
    bare = ytheta.load("lu-two-link")
    weight = evaluate(graphs.regressor_graph(bare, parameters=["link1.mx"]), *np.zeros((3, 2)))
    shape = "cos(joint1)" if abs(weight[0, 0]) > 1.0 else "sin(joint1)"
    robot = with_forces(
        bare, Force("crane", (("joint1", f"{unit!r}*{shape}"),)), Force("odd", (("joint2", "joint2*1e-7"),))
    )
    base = base_parameters(robot)
    assert len(base) == len(base_parameters(bare)) + 1
    assert base.identifiability["crane.k"].value == "only in combination"
    assert base.identifiability["odd.k"].value == "known alone"
    Y = regressors(robot, robot.parameter_names)
    product = Y[:, :, base.places] @ base.K
    selected = [robot.parameter_names.index(name) for name in base.selected]
    largest = np.abs(Y).max(axis=(0, 1))
    assert (np.abs(product - Y).max(axis=(0, 1)) <= 1e-9 * largest)[selected].all()


def test_forces_without_a_finite_value() -> None:
    bare = ytheta.load("lu-two-link")
    half = with_forces(bare, Force("half", (("joint1", "sqrt(joint1 + 2)"),)))
    assert base_parameters(half).identifiability["half.k"].value == "known alone"
    nowhere = with_forces(bare, Force("nowhere", (("joint1", "sqrt(joint1 - 4)"),)))
    with pytest.raises(InputError, match=r"forces \(nowhere\) have no finite value in most of the workspace"):
        base_parameters(nowhere)
