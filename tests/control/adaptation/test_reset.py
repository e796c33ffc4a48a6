"""Reset: its formula, in steps and in compiled loops; its Lyapunov function; and invalid settings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.lyapunov import INITIAL_ESTIMATE, TRUTH, UNKNOWNS, two_link_arm
from tests.support.simulate_cases import swing
from ytheta.control import DeadZone, Gradient, Reset, SlotineLi
from ytheta.control.controller import Reference, State
from ytheta.errors import InputError
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.own_plant import OwnPlant
from ytheta.simulation.plain_loop import PlainLoop

LOWER, UPPER, DELTA = np.array([0.5, 0.2, -0.2, 0.0]), np.array([3.0, 2.0, 0.5, 0.2]), np.array([0.1, 0.1, 0.05, 0.02])
RESET = Reset(Gradient(5.0), LOWER, UPPER, DELTA)


def make_law(adaptation: Gradient | Reset | DeadZone = RESET) -> SlotineLi:
    return SlotineLi(two_link_arm(), convergence=5.0, damping=3.0, adaptation=adaptation, learn=UNKNOWNS)


def test_an_estimate_beyond_the_margin_returns_to_its_bound() -> None:
    """Within the margin it stays. The step of a law without resets is the twin."""
    law, q, at_rest = make_law(), np.array([0.3, 0.2]), Reference(np.zeros(2), np.zeros(2), np.zeros(2))
    x = np.array([0.39, 2.05, 0.56, -0.01])
    _, state = law.step(State(0.0, x), 1e-12, q, np.zeros(2), at_rest)
    np.testing.assert_allclose(state.x, [0.5, 2.05, 0.5, -0.01], rtol=0.0, atol=1e-9)
    _, state = make_law(Gradient(5.0)).step(State(0.0, x), 1e-12, q, np.zeros(2), at_rest)
    np.testing.assert_allclose(state.x, x, rtol=0.0, atol=1e-9)
    nested = make_law(DeadZone(RESET, 1e-3))
    np.testing.assert_allclose(nested.step(State(0.0, x), 1e-12, q, np.zeros(2), at_rest)[1].x[0], 0.5, atol=1e-9)


def test_compiled_loops_reset_as_steps_do() -> None:
    """With a gain that drives estimates out of their bounds, which the twin without resets leaves."""
    robot, law = two_link_arm(), make_law(Reset(Gradient(100.0), LOWER, UPPER, DELTA))
    reference = swing(robot)
    q, qd, _ = reference(np.zeros(1))
    compiled = ClosedLoop(plant=robot, controller=law)
    start = compiled.init(q + 0.3, qd, estimate=INITIAL_ESTIMATE[None])
    runs = compiled.run(start, reference, 0.1, every=1)
    plain = PlainLoop(plant=OwnPlant.of(robot), controller=law)
    step_by_step = plain.run(q[0] + 0.3, qd[0], reference, 0.1, estimate=INITIAL_ESTIMATE, every=1)
    np.testing.assert_allclose(runs.controller_state, step_by_step.controller_state, rtol=0.0, atol=1e-8)
    x = runs.controller_state[0]
    assert ((x >= LOWER - DELTA) & (x <= UPPER + DELTA)).all()
    jumps = abs(np.diff(x, axis=0)) > DELTA
    assert jumps.any()
    twin = ClosedLoop(plant=robot, controller=make_law(Gradient(100.0))).run(start, reference, 0.1, every=1)
    x = twin.controller_state[0]
    assert ((x < LOWER - DELTA) | (x > UPPER + DELTA)).any()


def test_a_reset_lowers_the_lyapunov_function() -> None:
    """By at least delta² / (2 gain), if the truth is within the bounds; otherwise it may grow, as the twin shows."""
    law, q, at_rest = make_law(), np.array([0.3, 0.2]), Reference(np.array([0.3, 0.2]), np.zeros(2), np.zeros(2))
    x = np.array([0.39, 2.05, 0.56, 0.01])
    after = law.step(State(0.0, x), 1e-12, q, np.zeros(2), at_rest)[1]

    def evaluate(state: State, truth: np.ndarray) -> float:
        return law.lyapunov(state, q, np.zeros(2), at_rest, truth)

    fall = evaluate(State(0.0, x), TRUTH) - evaluate(after, TRUTH)
    assert fall >= 0.5 * (0.1**2 + 0.05**2) / 5.0
    outside = np.array([0.3, 2.05, 0.6, 0.01])
    assert evaluate(after, outside) > evaluate(State(0.0, x), outside)


def test_invalid_settings() -> None:
    with pytest.raises(InputError, match=r"the bounds of link2\.m are 3 and 1"):
        make_law(replace(RESET, lower=3.0, upper=1.0))
    with pytest.raises(InputError, match=r"delta of link2\.m is 0; give a margin above 0"):
        make_law(replace(RESET, delta=0.0))
    with pytest.raises(InputError, match="reset treats every parameter by itself"):
        make_law(replace(RESET, inner=Gradient(np.eye(4) + 0.1)))
    with pytest.raises(InputError, match="Reset wraps another adaptation law"):
        make_law(Reset(5.0, LOWER, UPPER, DELTA))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"link2\.m = 5 is outside its bounds 0\.5 and 3 by more than delta = 0\.1"):
        make_law().init(np.zeros(2), np.zeros(2), estimate=np.array([5.0, 1.0, 0.0, 0.1]))
    make_law().init(np.zeros(2), np.zeros(2), estimate=np.array([0.45, 2.05, 0.0, 0.1]))  # within the margins
