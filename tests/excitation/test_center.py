"""The pose about which trajectories shrink."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.design_cases import Floor, make_design
from ytheta.errors import InputError
from ytheta.excitation.solver import check_start, find_center


def test_the_middle_of_the_ranges_is_the_first_choice() -> None:
    constraints = make_design("lu-puma4", lower=-1.0, upper=0.5).constraints
    assert find_center(constraints, np.random.default_rng(0)) == pytest.approx(np.full(4, -0.25))


def test_another_pose_is_found_if_the_middle_breaks_a_limit() -> None:
    floor = Floor(4, 0.6)
    constraints = make_design("lu-puma4", lower=-1.5, upper=-0.2, paths=(floor,)).constraints
    middle, center = constraints.bounds.middle, find_center(constraints, np.random.default_rng(0))
    assert floor.compute_margins(middle[None])[0, 0] < 0.0
    assert floor.compute_margins(center[None])[0, 0] > 0.0


def test_contradicting_limits_are_named() -> None:
    with pytest.raises(InputError, match=r"contradict each other.*torque of \w+: 0 of 2002 poses"):
        find_center(make_design("panda", effort=1e-6).constraints, np.random.default_rng(0))
    with pytest.raises(InputError, match="clearance tip above floor: 0 of 2002"):
        find_center(make_design("lu-puma4", paths=(Floor(4, 5.0),)).constraints, np.random.default_rng(0))


def test_a_start_pose_that_breaks_limits_is_refused() -> None:
    constraints = make_design("lu-puma4", paths=(Floor(4, 0.8),)).constraints
    check_start(constraints, np.zeros(4))
    with pytest.raises(InputError, match="does not keep position of joint4;"):
        check_start(constraints, np.array([0.0, 0.0, 0.0, -1.6]))
    with pytest.raises(InputError, match="does not keep clearance tip above floor"):
        check_start(constraints, np.array([1.4, 0.0, 0.0, 0.0]))
