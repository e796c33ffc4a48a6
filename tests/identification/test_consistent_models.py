"""Identified models are robots: inconsistent answers become bodies that predict as well and that MuJoCo takes."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import ytheta as yt
from tests.support.wrong_descriptions import simulate_case
from ytheta.robot.mjcf_writer import to_mjcf
from ytheta.robot.parameters import with_theta


def loads_in_mujoco(robot: yt.Robot) -> bool:
    try:
        mujoco.MjModel.from_xml_string(to_mjcf(robot.merged, drives=True))
    except (ValueError, yt.errors.InputError):
        return False
    return True


def make_unconstrained(fit: yt.Identification) -> yt.Robot:
    """The robot with the most likely standard parameters, which are not always bodies."""
    assert fit.standard is not None
    return with_theta(fit.base.robot, fit.standard.fit.program.center)


@pytest.mark.parametrize("seed", range(3))
def test_inconsistent_least_squares_becomes_bodies(seed: int) -> None:
    case = simulate_case("ur10", seed, rich=False)
    fit = yt.identify(case.description, case.fit, validate=case.validation, estimator="weighted", rotor_inertia=True)
    unconstrained = make_unconstrained(fit)
    assert any(not each for each in unconstrained.consistency.values())  # the answer of least squares is no robot
    assert not loads_in_mujoco(unconstrained)
    assert fit.consistent
    assert loads_in_mujoco(fit.robot)
    cost = fit.consistency_cost
    assert cost is not None
    assert cost.validation_bodies_percent is not None
    assert cost.validation_estimate_percent is not None
    assert cost.ratio < 1.2  # on the logs of the fit, where least squares is best
    assert cost.validation_bodies_percent <= 1.1 * cost.validation_estimate_percent
    assert cost.validation_bodies_percent == pytest.approx(fit.validation.relative_percent)  # type: ignore[union-attr]


@pytest.mark.parametrize(("name", "rich"), [("ur10", False), ("stanford", True), ("stanford", False)])
def test_models_of_the_default_are_bodies_near_the_estimate(name: str, rich: bool) -> None:
    case = simulate_case(name, 1, rich=rich)
    # With a given cut-off, errors are computed at the cut-off of the equations, so that these give the same error.
    fit = yt.identify(case.description, case.fit, validate=case.validation, cutoff=8.0)
    assert fit.consistent
    assert loads_in_mujoco(fit.robot)
    cost = fit.consistency_cost
    assert cost is not None
    assert cost.ratio < 1.1
    assert cost.bodies_percent == pytest.approx(100.0 * compute_fit_error(fit), rel=1e-6)
    total, described = (sum(link.inertia.mass for link in r.merged.links[1:]) for r in (fit.robot, case.description))
    assert abs(total / described - 1.0) < 0.3


def compute_fit_error(fit: yt.Identification) -> float:
    """The relative error of the bodies on the logs of the fit, from the normal equations of the base parameters."""
    assert isinstance(fit.base, yt.BaseParameters)
    squares = fit.normal_equations.residual_squares(fit.base.K @ fit.theta).sum()
    return float(np.sqrt(squares / fit.normal_equations.torque_squares.sum()))
