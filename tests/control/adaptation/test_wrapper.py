"""Wrappers of adaptation laws: states of the inner law, factors, nested wrappers, and invalid inner laws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import ytheta
from tests.support.adaptation_rates import make_rate_function, simulate_sampled, two_link_law
from tests.support.control_loop import sines
from tests.support.control_samples import home_position
from tests.support.lyapunov import INITIAL_ESTIMATE, REFERENCE, TRUTH, UNKNOWNS, two_link_arm
from tests.support.wrapped_adaptation import LOWER, UPPER, late_tracking_error, random_inputs, wrap
from ytheta.control import DeadZone, Gradient, Leakage, Projection, SlotineLi
from ytheta.control.adaptation.adaptation import Adaptation, AdaptationInputs
from ytheta.control.adaptation.composite import Composite
from ytheta.control.controller import State
from ytheta.control.unknowns import Unknowns, select_unknowns
from ytheta.dynamics.vectors import array
from ytheta.errors import InputError
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerState, AnyPerUnknown


@dataclass(frozen=True, eq=False)
class AdaptationWithState(Adaptation):
    """A gradient with three states, like the filters of composite adaptation."""

    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        pass

    def rate(self, inputs: AdaptationInputs) -> tuple[AnyPerUnknown, AnyPerState]:
        return -inputs.slope, array([entry * -0.1 + inputs.error[0] for entry in inputs.state])

    def lyapunov_term(self, unknowns: Unknowns, estimate: AnyPerUnknown, truth: AnyPerUnknown) -> Any:  # noqa: ARG002
        return sum((a - b) * (a - b) for a, b in zip(estimate, truth, strict=True))

    def state_size(self, robot: Robot, unknowns: Unknowns) -> int:  # noqa: ARG002
        return 3

    def init(self, robot: Robot, unknowns: Unknowns, q: Any, qd: Any, estimate: Any) -> np.ndarray:  # noqa: ARG002
        return np.array([7.0, 8.0, q[0]])


@pytest.mark.parametrize("index", range(3))
def test_states_of_the_inner_law_are_unchanged(index: int) -> None:
    inner, wrapped = AdaptationWithState(), wrap(AdaptationWithState())[index]
    estimate, slope, error = random_inputs(1)
    x = np.concatenate([estimate, [0.5, -1.0, 2.0]])
    rate, inner_rate = (
        make_rate_function(adaptation, two_link_arm(), UNKNOWNS)(x, slope, error) for adaptation in (wrapped, inner)
    )
    np.testing.assert_array_equal(rate[4:], inner_rate[4:])
    q = np.array([0.2, 0.1])
    initial = two_link_law(wrapped).init(q, q, estimate=INITIAL_ESTIMATE).x
    np.testing.assert_array_equal(initial, [*INITIAL_ESTIMATE, 7.0, 8.0, 0.2])


@pytest.mark.parametrize("index", range(3))
def test_filters_of_a_wrapped_composite_adaptation_are_unchanged(index: int) -> None:
    composite = Composite(0.5, prediction=0.1, bandwidth=10.0)
    alone, wrapped = two_link_law(composite), two_link_law(wrap(composite)[index])
    q, qd, reference = np.array([0.3, -0.5]), np.array([0.4, 0.2]), REFERENCE(0.3)
    at_bounds = np.array([LOWER[0], UPPER[1], LOWER[2], UPPER[3]])  # so that projection is active
    state = alone.init(q, qd, estimate=at_bounds)
    np.testing.assert_array_equal(wrapped.init(q, qd, estimate=at_bounds).x, state.x)
    x, wrapped_x = (law.step(state, 0.01, q, qd, reference)[1].x for law in (alone, wrapped))
    np.testing.assert_allclose(x[4:], wrapped_x[4:], rtol=1e-12)
    assert abs(x[4:] - state.x[4:]).max() > 1e-3
    assert abs(x[:4] - wrapped_x[:4]).max() > 1e-6


def test_nested_wrappers_track_with_a_bounded_disturbance() -> None:
    """The error stays small although a torque acts that the model does not contain."""

    def disturbance(t: float) -> np.ndarray:
        return 0.5 * np.array([np.sin(11.0 * t), np.cos(7.0 * t)])

    nested = DeadZone(Leakage(Projection(Gradient(5.0), -1.0, 5.0), 0.02, INITIAL_ESTIMATE), 0.1)
    assert late_tracking_error(nested, disturbance) < 0.1 * late_tracking_error(1e-9, disturbance)


def scale_gain(adaptation: Adaptation, factor: float) -> Adaptation:
    if isinstance(adaptation, Gradient):
        return Gradient(factor * np.asarray(adaptation.gain))
    if isinstance(adaptation, Leakage):
        return Leakage(scale_gain(adaptation.inner, factor), factor * adaptation.leak, adaptation.towards)
    if isinstance(adaptation, DeadZone):
        return DeadZone(scale_gain(adaptation.inner, factor), adaptation.width)
    assert isinstance(adaptation, Projection)
    inner = scale_gain(adaptation.inner, factor)
    return Projection(inner, adaptation.lower, adaptation.upper, adaptation.margin, adaptation.step)


def test_a_factor_scales_gain_and_leak() -> None:
    """As in batches in which every run has its own gains."""
    q, qd, reference, factor = np.array([0.3, -0.5]), np.array([2.4, 3.2]), REFERENCE(0.3), 3.0
    inputs = (q, qd, reference.q, reference.qd, reference.qdd, INITIAL_ESTIMATE)
    nested = Projection(Leakage(Gradient(40.0), 0.4), LOWER, UPPER)
    for adaptation in (*wrap(Gradient(0.5)), nested):
        law, scaled = two_link_law(adaptation), two_link_law(scale_gain(adaptation, factor))
        output = law.compile(law.graph_with(("adaptation",))).one(*inputs, np.array([factor]))
        np.testing.assert_allclose(output, scaled.compile(scaled.graph).one(*inputs), rtol=1e-12)
        assert abs(output - law.compile(law.graph).one(*inputs)).max() > 1e-3
        value = law.compile(law.lyapunov_graph(("adaptation",))).one(*inputs, np.array([factor]), TRUTH)[0]
        if not isinstance(adaptation, Leakage):
            state = scaled.init(q, qd, estimate=INITIAL_ESTIMATE)
            assert value == pytest.approx(scaled.lyapunov(state, q, qd, reference, TRUTH), rel=1e-12)


def test_all_wrappers_nested_on_a_robot_with_loops() -> None:
    """The masses of the five-bar: the rate follows from that of the gradient, and the bounds hold in a short run."""
    robot = ytheta.load("five-bar")
    learn = tuple(name for name in robot.parameter_names if name.endswith(".m"))
    truth = select_unknowns(robot, None, learn).nominal
    lower, upper = 0.2 * truth, 2.0 * truth
    settings: dict[str, Any] = {"convergence": 8.0, "damping": 2.0, "learn": learn}
    nested = Projection(Leakage(DeadZone(Gradient(200.0), 0.1), 0.5), lower, upper, margin=0.1, step=5e-3)
    gradient_law = SlotineLi(robot, adaptation=1.0, **settings)
    law = SlotineLi(robot, adaptation=nested, **settings)
    trajectory = sines(0.2, [3.0, 4.0], home_position(robot))
    reference, x = trajectory(0.1), 0.3 * truth
    q, qd = reference.q + 0.05, reference.qd - 0.3
    r = qd - reference.qd + 8.0 * (q - reference.q)
    gradient, rate = (
        controller.step(State(0.0, x), 1.0, q, qd, reference)[1].x - x for controller in (gradient_law, law)
    )
    norm = float(np.linalg.norm(r))
    inner_rate = 200.0 * gradient * (norm - 0.1) / norm - 0.5 * (x - truth)
    distance = np.where(inner_rate > 0.0, upper - x, x - lower)
    expected = inner_rate * np.minimum(1.0, distance / np.maximum(0.1 * (upper - lower), 5e-3 * abs(inner_rate)))
    np.testing.assert_allclose(rate, expected, rtol=1e-10)
    run = simulate_sampled(law, trajectory, plant=robot, seconds=0.25, period=5e-3, estimate=x, offset=0.1)
    assert ((run.x >= lower) & (run.x <= upper)).all()
    assert abs(run.x - x).max() > 0.1


@pytest.mark.parametrize("index", range(3))
def test_an_inner_law_that_is_not_an_adaptation_is_refused(index: int) -> None:
    wrapped = wrap(Gradient(0.5))[index]
    object.__setattr__(wrapped, "inner", 0.5)  # as if types were not checked on construction
    with pytest.raises(InputError, match=r"wraps another adaptation law, not 0.5; give a gain as Gradient\(gain\)"):
        two_link_law(wrapped)
