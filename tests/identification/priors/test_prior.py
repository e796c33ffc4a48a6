"""Priors: scales, families that are left out, and scales that are fixed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.evidence_cases import DESIGN, HYPER, draw_prior
from ytheta.identification.priors.prior import Family

VALUES = np.array([-0.5, 0.3, -1.0])


def test_scales_are_products_of_factors() -> None:
    prior = draw_prior()
    factors = [np.prod(np.exp(VALUES[DESIGN[k] > 0.0])) for k in range(8)]
    np.testing.assert_allclose(prior.compute_scales(VALUES), np.exp(prior.offset) * factors)
    assert not np.allclose(prior.compute_scales(VALUES + 0.1), np.exp(prior.offset) * factors)  # the twin


def test_a_family_that_is_left_out_has_the_described_values() -> None:
    prior = draw_prior()
    without = prior.without([Family.ROTOR])
    assert without.families == tuple(family for family in prior.families if family is not Family.ROTOR)
    assert without.hyper == HYPER[:2]  # the scale of rotor inertias is no longer needed
    assert not without.axes[5:7].any()
    assert prior.axes[5:7].any()
    np.testing.assert_array_equal(without.mean, prior.mean)
    scales = without.compute_scales(VALUES[:2])
    np.testing.assert_allclose(scales, prior.compute_scales(VALUES)[[0, 1, 2, 3, 4, 7]])
    nothing = prior.without([Family.ROTOR, Family.ROOT, Family.LOAD, Family.LINK])
    assert nothing.hyper == ()
    assert nothing.families == (Family.FLAT,)
    np.testing.assert_array_equal(prior.without([]).axes, prior.axes)


@pytest.mark.parametrize("scale", [0.2, 1e3])
def test_a_fixed_scale_replaces_the_factors_of_one_family(scale: float) -> None:
    prior = draw_prior()
    fixed = prior.with_scale(Family.LINK, scale)
    assert fixed.hyper == HYPER[2:]
    scales = fixed.compute_scales(VALUES[2:])
    np.testing.assert_allclose(scales[:5], scale)
    np.testing.assert_allclose(scales[5:], prior.compute_scales(VALUES)[5:])
    np.testing.assert_array_equal(fixed.axes, prior.axes)


def test_a_hyperparameter_that_other_families_use_stays() -> None:
    design = DESIGN.copy()
    design[5:7, 0] = 1.0
    prior = replace(draw_prior(), design=design)
    assert prior.with_scale(Family.LINK, 0.2).hyper == (HYPER[0], HYPER[2])
    assert prior.without([Family.LINK]).hyper == (HYPER[0], HYPER[2])


def test_coordinates_of_families() -> None:
    prior = draw_prior()
    np.testing.assert_array_equal(np.flatnonzero(prior.belongs_to([Family.ROTOR, Family.FLAT])), [5, 6, 7])
    assert not prior.belongs_to([Family.LOAD]).any()
