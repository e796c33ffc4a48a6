"""Unknown parameters: their selection, and base parameters compared with standard parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ytheta
from tests.support.control_samples import TORQUE_TOLERANCE, add_friction, evaluate_law, perturb, random_sample
from tests.support.lyapunov import two_link_arm
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.errors import InputError, UnknownNameError
from ytheta.identifiability.registry import base_parameters

SETTINGS: dict[str, Any] = {"convergence": 5.0, "damping": 3.0, "adaptation": 0.5}
ROBOTS = ("lu-two-link", "lu-puma4", "ur10", "five-bar")
CATALOG = ("ha-scara", "iiwa14", "palletiser", "panda", "puma560-mdh", "puma560", "rx90", "stanford", "walker")


def test_unknowns_are_selected_by_names_patterns_and_base_parameters() -> None:
    robot = two_link_arm()
    base = base_parameters(robot)
    every = SlotineLi(robot, **SETTINGS)
    assert every.unknown_names == tuple(name for name in robot.parameter_names if not name.startswith("joint"))
    assert SlotineLi(robot, base, **SETTINGS).unknown_names == base.independent
    np.testing.assert_array_equal(SlotineLi(robot, base, **SETTINGS).init(np.zeros(2), np.zeros(2)).x, base.beta)
    some = SlotineLi(robot, learn=("joint*.fv", "load.m"), **SETTINGS)
    assert some.unknown_names == ("load.m", "joint1.fv", "joint2.fv")
    np.testing.assert_array_equal(some.init(np.zeros(2), np.zeros(2)).x, [1.2, 0.0, 0.0])
    with_friction = SlotineLi(robot, base, learn=(base.independent[0], "joint2.fv"), **SETTINGS)
    assert with_friction.unknown_names == (base.independent[0], "joint2.fv")
    assert SlotineLi(robot, learn=(), **SETTINGS).unknown_names == ()


def test_invalid_selections_are_refused() -> None:
    robot = two_link_arm()
    base = base_parameters(robot)
    with pytest.raises(UnknownNameError, match=r"no parameter 'load.mass'; did you mean"):
        SlotineLi(robot, learn=("load.mass",), **SETTINGS)
    with pytest.raises(InputError, match="not a single string"):
        SlotineLi(robot, learn="load.m", **SETTINGS)
    dependent = next(name for name in base.selected if name not in base.independent)
    with pytest.raises(InputError, match="matches only dependent parameters"):
        SlotineLi(robot, base, learn=(dependent,), **SETTINGS)
    with pytest.raises(InputError, match="joints, lengths, gravity or mounting differ"):
        SlotineLi(robot.with_lengths(l1=0.7), base, **SETTINGS)


@pytest.mark.parametrize("name", ROBOTS + CATALOG)
def test_base_parameters_give_the_torque_and_rates_of_standard_parameters(name: str) -> None:
    robot = add_friction(ytheta.load(name))
    base, s = base_parameters(robot), random_sample(robot, 4)
    standard, minimal = (SlotineLi(robot, b, convergence=4.0, damping=2.0, adaptation=1.0) for b in (None, base))
    theta = robot.theta.copy()
    indices = list(standard.unknowns.indices)
    theta[indices] = perturb(theta[indices])
    beta = base.K @ theta
    tau, rate = evaluate_law(standard, s, theta[indices])
    base_tau, base_rate = evaluate_law(minimal, s, beta)
    np.testing.assert_allclose(base_tau, tau, **TORQUE_TOLERANCE)
    independent = [standard.unknown_names.index(n) for n in minimal.unknown_names]
    np.testing.assert_allclose(base_rate, rate[independent], rtol=1e-9, atol=1e-9 * float(abs(rate).max()))
    assert abs(evaluate_law(minimal, s, 1.1 * beta)[0] - tau).max() > 1e-3  # the twin
