"""The last shrink: random motion becomes motion within all limits, and motion within them stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.design_cases import Floor, make_design
from ytheta.excitation.limit_check import check_limits, list_violations
from ytheta.excitation.solver import find_joint_factors, shrink


@pytest.mark.parametrize("name", ["panda", "lu-puma4"])
def test_all_of_50_random_motions_end_within_the_limits(name: str) -> None:
    paths = (Floor(7, 1.0),) if name == "panda" else ()
    design = make_design(name, paths=paths, velocity=2.0, acceleration=8.0, effort=80.0)
    broken = 0
    for seed in range(50):
        x = np.random.default_rng(seed).normal(size=design.shape)
        broken += bool(list_violations(check_limits(design.space.build(x), design.constraints)))
        shrunk = shrink(design.space, x, design.constraints)
        assert shrunk is not None
        assert shrunk.factor > 0.01
        assert list_violations(check_limits(design.space.build(shrunk.x), design.constraints)) == ()
    assert broken > 40  # without the shrink


def test_the_factor_of_a_joint_is_the_largest_one() -> None:
    design = make_design("lu-puma4", velocity=1.0)
    x = np.random.default_rng(0).normal(size=design.shape)
    factors = find_joint_factors(design.space, x, design.constraints)
    assert (factors < 1.0).any()
    uses = check_limits(design.space.build(x * factors), design.constraints)
    shares = np.array([use.share for use in uses if use.quantity != "torque"]).reshape(4, -1).max(axis=0)
    assert shares[factors < 1.0] == pytest.approx(np.ones(np.count_nonzero(factors < 1.0)), rel=1e-6)


def test_motion_within_the_limits_is_unchanged() -> None:
    design = make_design("lu-puma4")
    x = 1e-3 * np.random.default_rng(0).normal(size=design.shape)
    shrunk = shrink(design.space, x, design.constraints)
    assert shrunk is not None
    assert (shrunk.x == x).all()
    assert shrunk.factor == 1.0


def test_no_motion_is_found_if_not_even_rest_keeps_the_limits() -> None:
    x = np.random.default_rng(0).normal(size=make_design("panda").shape)
    assert shrink(make_design("panda").space, x, make_design("panda").constraints) is not None
    weak = make_design("panda", effort=0.1)
    assert shrink(weak.space, x, weak.constraints) is None
