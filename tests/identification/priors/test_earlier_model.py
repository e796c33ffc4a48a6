"""The prior from an earlier model: its parameters and covariance where its logs spoke, else that of its bodies."""

from __future__ import annotations

import numpy as np

import ytheta as yt
from tests.support.wrong_descriptions import simulate_case
from ytheta.identification.priors.description import CHANGE, make_model_prior
from ytheta.identification.priors.prior import EarlierModel, Family, Prior

FRICTION = ("viscous", "coulomb", "offset")


def make_earlier(*, rich: bool = True) -> tuple[yt.Identification, EarlierModel]:
    case = simulate_case("lu-two-link", 0, rich=rich)
    fit = yt.identify(case.description, case.fit, rotor_inertia=False, friction=FRICTION)
    base = yt.base_parameters(fit.robot, friction=FRICTION)
    assert base.names == fit.names
    return fit, EarlierModel(base, fit.beta, fit.covariance)


def select_columns(base: yt.BaseParameters, names: tuple[str, ...]) -> np.ndarray:
    return base.K[:, [base.robot.parameter_names.index(name) for name in names]]


def test_base_parameters_have_the_distribution_of_the_model() -> None:
    fit, earlier = make_earlier()
    prior = make_model_prior(earlier.base, fit.normal_equations, earlier)
    assert prior.hyper == (CHANGE,)
    assert set(prior.families) == {Family.MODEL}
    K = select_columns(earlier.base, prior.names)
    np.testing.assert_allclose(K @ prior.mean, fit.beta, atol=3.0 * fit.std.max(), rtol=0.05)
    std = np.linalg.norm(K @ prior.axes, axis=1)
    # A model that the data determine has its own covariance; the bodies' prior makes it only smaller.
    assert (std < 1.001 * fit.std).all()
    assert np.median(std / fit.std) > 0.7
    wide = np.linalg.norm(prior.axes, axis=1)
    assert wide[prior.names.index("link1.m")] > 0.1  # no torque shows this mass: the width around the bodies remains


def test_a_change_widens_everything_by_the_same_factor() -> None:
    fit, earlier = make_earlier()
    prior: Prior = make_model_prior(earlier.base, fit.normal_equations, earlier)
    np.testing.assert_allclose(prior.compute_scales(np.zeros(1)), 1.0)
    np.testing.assert_allclose(prior.compute_scales(np.log([3.0])), 3.0)


def test_parameters_that_did_not_exist_then_are_not_in_the_model() -> None:
    """Rotor inertias are estimated now, but were not then: their width is that of their family."""
    fit, earlier = make_earlier()
    base = yt.base_parameters(fit.robot, friction=FRICTION, rotor_inertia=True)
    case = simulate_case("lu-two-link", 0)
    again = yt.identify(case.description, case.fit, rotor_inertia=True, friction=FRICTION)
    prior = make_model_prior(base, again.normal_equations, earlier)
    rotor = prior.names.index("joint2.Ia")
    assert np.linalg.norm(prior.axes[rotor]) > 0.0
    assert prior.mean[rotor] == 0.0
