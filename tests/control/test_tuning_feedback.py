"""Suggested feedback gains: poles for small robots and for long periods, and robots without inertia."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.suggested_gains import RATE, SECONDS, load_robot, reference_of, sample, scale_lengths
from ytheta.control.laws.walker import Walker
from ytheta.control.settings import CONTROLLERS
from ytheta.control.tuning import suggest_gains
from ytheta.dynamics import kernels
from ytheta.errors import InputError
from ytheta.simulation.references import default_reference


def test_small_robots_get_faster_poles() -> None:
    """An arm of a tenth of the length has ten times the angular acceleration by gravity."""
    motion = sample(reference_of("lu-two-link"))
    robot = load_robot("lu-two-link").numeric
    small, normal, large = (
        suggest_gains("computed-torque", scale_lengths(robot, factor), motion=motion, rate=RATE)
        for factor in (0.1, 1.0, 10.0)
    )
    assert normal == large == {"stiffness": pytest.approx(200.0), "damping": pytest.approx(30.0)}
    assert small["damping"] > 45.0


def test_long_periods_get_slower_poles() -> None:
    motion = sample(reference_of("lu-two-link"))
    short, long = (
        suggest_gains("computed-torque", load_robot("lu-two-link"), motion=motion, rate=rate)
        for rate in (1000.0, 100.0)
    )
    assert short == {"stiffness": pytest.approx(200.0), "damping": pytest.approx(30.0)}
    assert long == {"stiffness": pytest.approx(32.0), "damping": pytest.approx(12.0)}  # lambda = 0.04 / period


def test_a_robot_without_inertia_is_refused() -> None:
    robot = load_robot("rx90")
    motion = sample(default_reference(robot, SECONDS))
    for law in CONTROLLERS:
        with pytest.raises(InputError, match=r"no inertia that moves with joint1, .*give its links masses"):
            suggest_gains(law, robot, motion=motion, rate=RATE)


def test_pd_and_pid_of_walker_meet_the_conditions_with_a_margin() -> None:
    """The smallest rate M^-1 K_d on the motion is 2 lambda, and the stiffness has a margin of a half."""
    robot, motion = load_robot("lu-two-link"), sample(reference_of("lu-two-link"))
    pd, pid = (suggest_gains("walker", robot, motion=motion, rate=RATE, feedback=name) for name in ("pd", "pid"))
    lam, K_d = pid["convergence"], pid["feedback"].damping
    rates = np.linalg.eigvals(np.linalg.solve(kernels.mass_matrix(robot)(motion[0]), np.diag(K_d)))
    assert rates.min() == pytest.approx(2.0 * lam, rel=1e-6)
    np.testing.assert_allclose(pd["feedback"].stiffness, 1.5 * lam * K_d, rtol=1e-12)
    np.testing.assert_allclose(pid["feedback"].integral, 0.25 * lam**2 * K_d, rtol=1e-12)
    np.testing.assert_allclose(pid["feedback"].stiffness, 1.75 * lam * K_d, rtol=1e-12)
    law = Walker(robot, **pid)
    law.check_factors({"convergence": np.array([0.9, 1.1])})
    with pytest.raises(InputError, match="PIDFeedback breaks the condition"):
        law.check_factors({"convergence": np.array([2.0])})
