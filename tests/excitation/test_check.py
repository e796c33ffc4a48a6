"""Every limit: a motion that is shrunk into it keeps it, and a motion that is not shrunk into it is reported."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.design_cases import PERIOD, Floor, load, make_design, with_bounds
from tests.support.pinocchio_peer import peer
from ytheta.excitation.constraints import Constraints
from ytheta.excitation.limit_check import CHECK_POINTS, check_limits, list_violations
from ytheta.excitation.solver import Design, shrink
from ytheta.excitation.trajectories import Fourier, Trajectory

# A limit of lu-puma4 that is tighter than all others, and the value that switches it off.
TIGHT = {
    "position": ({"lower": -0.2, "upper": 0.2}, {"lower": -50.0, "upper": 50.0}),
    "velocity": ({"velocity": 0.5}, {"velocity": np.inf}),
    "acceleration": ({"acceleration": 1.5}, {"acceleration": np.inf}),
    "jerk": ({"jerk": 4.0}, {"jerk": np.inf}),
    "torque": ({"effort": 25.0}, {"effort": np.inf}),
}


def draw(design: Design, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=design.shape)


def shrink_into(design: Design, constraints: Constraints, seed: int) -> Trajectory:
    shrunk = shrink(design.space, draw(design, seed), constraints)
    assert shrunk is not None
    return design.space.build(shrunk.x)


@pytest.mark.parametrize("quantity", TIGHT)
def test_each_limit_is_needed_and_kept(quantity: str) -> None:
    tight, off = TIGHT[quantity]
    design = make_design("lu-puma4")
    kept = with_bounds(design.constraints, **tight)
    for seed in range(5):
        assert list_violations(check_limits(shrink_into(design, kept, seed), kept)) == ()
    # The twin: without this limit, the same motion violates it, and nothing else.
    free = shrink_into(design, with_bounds(design.constraints, **off), 0)
    assert {use.quantity for use in list_violations(check_limits(free, kept))} == {quantity}


def measure_independently(trajectory: Trajectory) -> dict[str, float]:
    """The largest values on a much finer grid, with torques by Pinocchio."""
    motion = trajectory.evaluate(np.linspace(0.0, PERIOD, 20 * CHECK_POINTS))
    oracle = peer(load("lu-puma4"))
    torque = [oracle.torque(*rows) for rows in zip(motion.q, motion.qd, motion.qdd, strict=True)]
    arrays = {"velocity": motion.qd, "acceleration": motion.qdd, "jerk": motion.jerk, "torque": np.array(torque)}
    return {quantity: float(abs(values).max()) for quantity, values in arrays.items()} | {
        "position": float(abs(motion.q).max())
    }


@pytest.mark.parametrize("quantity", TIGHT)
def test_limits_hold_on_a_finer_grid_and_with_torques_of_pinocchio(quantity: str) -> None:
    tight, off = TIGHT[quantity]
    limit = next(iter(reversed(tight.values())))
    design = make_design("lu-puma4")
    kept = shrink_into(design, with_bounds(design.constraints, **tight), 1)
    free = shrink_into(design, with_bounds(design.constraints, **off), 1)
    assert measure_independently(kept)[quantity] <= limit * (1.0 + 1e-9)
    assert measure_independently(kept)[quantity] > 0.3 * limit  # one joint uses the limit
    assert measure_independently(free)[quantity] > limit


def test_peaks_between_samples_are_bounded() -> None:
    design = make_design("lu-puma4")
    basis = Fourier(PERIOD, 50)
    phase = 0.37  # so that no sample meets a peak
    coefficients = np.zeros((basis.size, 4))
    coefficients[50], coefficients[100] = 0.1 * np.cos(phase), 0.1 * np.sin(phase)
    trajectory = Trajectory(design.space.joints, basis, 1, coefficients)
    uses = {use.quantity: use for use in check_limits(trajectory, design.constraints)}
    sampled = abs(trajectory.sample_period(CHECK_POINTS).q).max()
    assert sampled < 0.1 - 1e-6
    assert 0.1 <= abs(uses["position"].value) < 0.102


def test_a_path_constraint_is_needed_and_kept() -> None:
    floor = Floor(4, 1.15)
    design = make_design("lu-puma4", paths=(floor,), velocity=1.0)
    kept, free = design.constraints, make_design("lu-puma4", velocity=1.0).constraints
    high, low = shrink_into(design, kept, 2), shrink_into(design, free, 2)
    assert list_violations(check_limits(high, kept)) == ()
    violations = list_violations(check_limits(low, kept))
    assert [(use.quantity, use.name) for use in violations] == [("clearance", "tip above floor")]
    heights = [floor.compute_margins(each.sample_period(30000).q).min() for each in (high, low)]
    assert heights[0] >= 0.0 > heights[1]
    assert violations[0].value == pytest.approx(heights[1], abs=1e-3)


def test_loops_that_do_not_close_are_reported() -> None:
    design = make_design("five-bar")
    home = np.array([dict(load("five-bar").home).get(name, 0.0) for name in load("five-bar").actuated])
    basis = design.space.basis
    still = Trajectory(design.space.joints, basis, 1, np.outer(np.eye(basis.size)[0], home))
    assert "closure" not in {use.quantity for use in check_limits(still, design.constraints)}
    coefficients = np.outer(np.eye(basis.size)[0], home)
    coefficients[1] = [1.5, -1.5]
    moving = Trajectory(design.space.joints, basis, 1, coefficients)
    assert "closure" in {use.quantity for use in list_violations(check_limits(moving, design.constraints))}
