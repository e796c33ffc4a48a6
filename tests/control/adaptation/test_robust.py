"""Projection, leakage and dead zone: what each does to the rate, what each is for, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ytheta
from tests.support.adaptation_rates import Sampled, law, rates, sampled
from tests.support.control_loop import constant, run, sines
from tests.support.lyapunov import COURSE, MASSES, START, arm, never_grows
from ytheta.control import DeadZone, Gradient, Leakage, Natural, Projection, SlotineLi
from ytheta.control.adaptation.adaptation import Adaptation, Seen
from ytheta.control.adaptation.composite import Composite
from ytheta.control.controller import State
from ytheta.control.unknowns import Unknowns, select_unknowns
from ytheta.dynamics.vectors import array
from ytheta.errors import InputError
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerState, AnyPerUnknown

TRUTH = np.array([2.0, 1.2, 0.18, 0.037])  # of MASSES
LOWER, UPPER = np.array([0.4, 0.24, -0.1, 0.007]), np.array([6.0, 3.6, 0.54, 0.12])


@cache
def compiled(kind: str) -> SlotineLi:
    """Laws that several tests run, made once."""
    gradient = Gradient(1.0)
    return law(
        {
            "gradient": gradient,
            "leakage": Leakage(gradient, 0.5),
            "dead zone": DeadZone(gradient, 0.7),
            "projection": Projection(gradient, LOWER, UPPER, step=2e-3),
        }[kind]
    )


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An estimate within the bounds, a slope and an error."""
    rng = np.random.default_rng(seed)
    return rng.uniform(LOWER, UPPER), rng.normal(size=4) * 10.0 ** rng.uniform(-2, 2), rng.normal(size=2)


def test_leakage_is_its_formula() -> None:
    Gamma, prior = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 1.0, 0.0, 0.1])
    to_description = rates(Leakage(Gradient(Gamma), 0.3), arm(), MASSES)
    to_prior = rates(Leakage(Gradient(Gamma), 0.3, prior.tolist()), arm(), MASSES)
    for seed in range(5):
        x, slope, error = drawn(seed)
        np.testing.assert_allclose(to_description(x, slope, error), -Gamma * slope - 0.3 * (x - TRUTH), rtol=1e-12)
        np.testing.assert_allclose(to_prior(x, slope, error), -Gamma * slope - 0.3 * (x - prior), rtol=1e-12)


@pytest.mark.parametrize("width", [0.7, [0.4, 1.5]])
def test_dead_zone_is_its_formula(width: Any) -> None:
    """Nothing within, the share (|r| - width) / |r| outside, and no jump on the border."""
    found = rates(DeadZone(Gradient(2.0), width), arm(), MASSES)
    inside = 0
    for seed in range(20):
        x, slope, error = drawn(seed)
        size = float(np.linalg.norm(error / np.asarray(width)))
        inside += size <= 1.0
        expected = -2.0 * slope * max(0.0, size - 1.0) / size
        np.testing.assert_allclose(found(x, slope, error), expected, rtol=1e-12, atol=1e-15)
        border = found(x, slope, error / size * (1.0 + 1e-9))
        assert abs(border).max() < 1e-8 * abs(slope).max()
        np.testing.assert_array_equal(found(x, slope, 0.0 * error), np.zeros(4))
    assert 0 < inside < 20


def test_projection_is_its_formula() -> None:
    found = rates(Projection(Gradient(2.0), LOWER, UPPER, margin=0.1, step=0.0), arm(), MASSES)
    layer = 0.1 * (UPPER - LOWER)
    held = 0
    for seed in range(60):
        x, slope, error = drawn(seed)
        free = -2.0 * slope
        room = np.where(free > 0.0, UPPER - x, x - LOWER)
        held += int((room < layer).sum())
        np.testing.assert_allclose(found(x, slope, error), free * np.minimum(1.0, room / layer), rtol=1e-12)
    assert held > 10
    for bound, outwards in ((LOWER, 1.0), (UPPER, -1.0)):
        slope = np.full(4, outwards)
        np.testing.assert_array_equal(found(bound, slope, error), np.zeros(4))
        np.testing.assert_array_equal(found(bound, -slope, error), 2.0 * slope)  # the way back is free


@dataclass(frozen=True, eq=False)
class Remembering(Adaptation):
    """A gradient with three numbers of memory, as filters of a composite adaptation are."""

    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        pass

    def rate(self, seen: Seen) -> tuple[AnyPerUnknown, AnyPerState]:
        return -seen.slope, array([entry * -0.1 + seen.error[0] for entry in seen.memory])

    def distance(self, unknowns: Unknowns, estimate: AnyPerUnknown, truth: AnyPerUnknown) -> Any:  # noqa: ARG002
        return sum((a - b) * (a - b) for a, b in zip(estimate, truth, strict=True))

    def states(self, robot: Robot, unknowns: Unknowns) -> int:  # noqa: ARG002
        return 3

    def init(self, robot: Robot, unknowns: Unknowns, q: Any, qd: Any, estimate: Any) -> np.ndarray:  # noqa: ARG002
        return np.array([7.0, 8.0, q[0]])


def around(inner: Adaptation) -> list[Adaptation]:
    return [DeadZone(inner, 0.8), Leakage(inner, 0.5), Projection(inner, LOWER, UPPER)]


@pytest.mark.parametrize("place", range(3))
def test_memory_passes_unchanged(place: int) -> None:
    plain, wrapped = Remembering(), around(Remembering())[place]
    x, slope, error = drawn(1)
    given = np.concatenate([x, [0.5, -1.0, 2.0]]), slope, error
    np.testing.assert_array_equal(rates(wrapped, arm(), MASSES)(*given)[4:], rates(plain, arm(), MASSES)(*given)[4:])
    q = np.array([0.2, 0.1])
    np.testing.assert_array_equal(law(wrapped).init(q, q, estimate=START).x, [*START, 7.0, 8.0, 0.2])


@pytest.mark.parametrize("place", range(3))
def test_a_composite_adaptation_within(place: int) -> None:
    """Its filters move as they do by themselves."""
    composite = Composite(0.5, prediction=0.1, bandwidth=10.0)
    alone, wrapped = law(composite), law(around(composite)[place])
    q, qd, reference = np.array([0.3, -0.5]), np.array([0.4, 0.2]), COURSE(0.3)
    near = np.array([LOWER[0], UPPER[1], LOWER[2], UPPER[3]])  # to bounds, for projection to have something to do
    begun = alone.init(q, qd, estimate=near)
    np.testing.assert_array_equal(wrapped.init(q, qd, estimate=near).x, begun.x)
    after, other = (of.step(begun, 0.01, q, qd, reference)[1].x for of in (alone, wrapped))
    np.testing.assert_allclose(after[4:], other[4:], rtol=1e-12)
    assert abs(after[4:] - begun.x[4:]).max() > 1e-3
    assert abs(after[:4] - other[:4]).max() > 1e-6


REST = constant([0.4, -0.3])
NOISE = 0.3


def at_rest(kind: str) -> Sampled:
    return sampled(compiled(kind), REST, plant=arm(), seconds=10.0, noise=NOISE)


def test_noise_makes_the_plain_gradient_drift() -> None:
    """Nothing moves, yet the inertia grows for ever: vd = -Lambda ed and r = ed + Lambda e have the same noise in them.

    Its mean rate is known: Gamma Lambda times the noise's variance in both joints, that of even noise being a third of
    its limit squared.
    """
    found = at_rest("gradient")
    half = len(found.t) // 2
    Izz = found.x[:, 3] - TRUTH[3]
    expected = 5.0 * 2.0 * NOISE**2 / 3.0
    assert Izz[half] == pytest.approx(expected * 5.0, rel=0.15)
    assert Izz[-1] == pytest.approx(expected * 10.0, rel=0.15)  # and no end in sight
    quiet = sampled(compiled("gradient"), REST, plant=arm(), seconds=4.0)
    np.testing.assert_allclose(quiet.x[-1], TRUTH, rtol=1e-12)  # the twin: without noise it stays


def test_leakage_bounds_the_drift() -> None:
    """The estimate settles where the leak takes away what noise brings: rate / leak from the prior."""
    found = at_rest("leakage")
    half = len(found.t) // 2
    wrong = found.x[:, 3] - TRUTH[3]
    assert float(wrong[half:].mean()) == pytest.approx(5.0 * 2.0 * NOISE**2 / 3.0 / 0.5, rel=0.15)
    assert abs(wrong[half:] - wrong[half:].mean()).max() < 0.3 * wrong[half:].mean()


def test_a_dead_zone_stops_the_drift() -> None:
    """Noise of both joints reaches 0.42 rad/s, what it makes the arm do comes on top: a zone of 0.7 is enough."""
    found = at_rest("dead zone")
    np.testing.assert_array_equal(found.x[-1], found.x[0])
    narrow = sampled(law(DeadZone(Gradient(1.0), 0.2)), REST, plant=arm(), seconds=4.0, noise=NOISE)
    assert narrow.x[-1, 3] > 2.0 * TRUTH[3]  # the twin: a zone within the noise


def test_projection_keeps_the_drift_in_the_box() -> None:
    found = at_rest("projection")
    assert ((found.x >= LOWER) & (found.x <= UPPER)).all()
    assert found.x[-1, 3] > UPPER[3] - 0.06 * (UPPER - LOWER)[3]  # it lies in the layer, and goes no further


def late(adaptation: Any, push: Callable[[float], Any] = lambda _: 0.0) -> float:
    done = sampled(law(adaptation), COURSE, plant=arm(), seconds=4.0, estimate=START, push=push)
    return float(abs(done.error[-500:]).max())


def test_without_disturbance_tracking_is_not_spoilt() -> None:
    """From a wrong estimate, with a prior just as wrong: a small part of the error without adaptation remains."""
    gradient = Gradient(5.0)
    frozen, plain = late(1e-9), late(gradient)
    assert plain < 0.05 * frozen
    assert late(Leakage(gradient, 0.02, START)) < 0.1 * frozen
    assert late(DeadZone(gradient, 0.02)) < 0.1 * frozen
    bounds = np.array([0.1, 0.1, -0.3, 0.0]), np.array([5.0, 5.0, 1.0, 0.5])
    assert late(Projection(gradient, *bounds, step=2e-3)) < 0.1 * frozen
    assert late(Leakage(gradient, 20.0, START)) > 0.2 * frozen  # what a leak costs that is too large


def test_tracking_with_a_bounded_disturbance() -> None:
    """A torque that nothing in the model explains: the error stays small, at rest within the dead zone too."""

    def push(t: float) -> np.ndarray:
        return 0.5 * np.array([np.sin(11.0 * t), np.cos(7.0 * t)])

    nested = DeadZone(Leakage(Projection(Gradient(5.0), -1.0, 5.0), 0.02, START), 0.1)
    assert late(nested, push) < 0.1 * late(1e-9, push)


@given(st.integers(0, 10_000), st.floats(-3.0, 9.0))
def test_no_step_leaves_the_box(seed: int, size: float) -> None:
    """Whatever the slope; with a step ten times as long some do."""
    x, slope, error = drawn(seed)
    slope = slope / abs(slope).max() * 10.0**size
    rate = BOXED(x, slope, error)
    after = x + 1e-3 * rate
    rounding = 1e-14 * UPPER
    assert ((after >= LOWER - rounding) & (after <= UPPER + rounding)).all()
    if size > 6.0:
        beyond = x + 1e-2 * rate
        assert ((beyond < LOWER) | (beyond > UPPER)).any()


BOXED = rates(Projection(Gradient(1.0), LOWER, UPPER, step=1e-3), arm(), MASSES)


def test_projection_takes_nothing_from_the_proof() -> None:
    """wrongᵀ Gamma^-1 rate is no greater than the gradient's for truths within box and layer; near a bound it may."""
    Gamma, layer = np.array([1.0, 2.0, 3.0, 4.0]), 0.1 * (UPPER - LOWER)
    found = rates(Projection(Gradient(Gamma), LOWER, UPPER, margin=0.1, step=0.0), arm(), MASSES)
    rng, worse = np.random.default_rng(0), 0
    for seed in range(200):
        x, slope, error = drawn(seed)
        more = found(x, slope, error) + Gamma * slope
        inside, near = rng.uniform(LOWER + layer, UPPER - layer), rng.choice([LOWER, UPPER])
        assert ((x - inside) / Gamma * more <= 1e-12).all()
        worse += bool(((x - near) / Gamma * more > 1e-3).any())
    assert worse > 10


def test_with_projection_v_falls_where_the_truth_is_within() -> None:
    """The estimate begins in a layer, and presses on its bound. The twin's truth lies outside."""
    settings: dict[str, Any] = {"plant": arm(), "seconds": 1.5, "rtol": 1e-8}
    start = np.array([1.0, 0.5, 0.05, 0.07])
    lower, upper = np.array([0.9, 0.45, 0.0, 0.0]), np.array([3.0, 2.0, 0.4, 0.075])
    held = run(law(Projection(Gradient(2.0), lower, upper, step=0.0)), COURSE, estimate=start, **settings)
    free = run(law(Gradient(2.0)), COURSE, estimate=start, **settings)
    assert never_grows(held, allowed=1e-7)
    assert ((held.x >= lower - 1e-9) & (held.x <= upper + 1e-9)).all()  # rounding of the integration
    assert not ((free.x >= lower - 0.1) & (free.x <= upper + 0.1)).all()
    elsewhere = Projection(Gradient(2.0), lower, np.array([1.1, 0.6, 0.1, 0.075]), step=0.0)
    assert not never_grows(run(law(elsewhere), COURSE, estimate=start, **settings), allowed=1e-7)


def scaled(adaptation: Adaptation, factor: float) -> Adaptation:
    if isinstance(adaptation, Gradient):
        return Gradient(factor * np.asarray(adaptation.gain))
    if isinstance(adaptation, Leakage):
        return Leakage(scaled(adaptation.inner, factor), factor * adaptation.leak, adaptation.towards)
    if isinstance(adaptation, DeadZone):
        return DeadZone(scaled(adaptation.inner, factor), adaptation.width)
    assert isinstance(adaptation, Projection)
    inner = scaled(adaptation.inner, factor)
    return Projection(inner, adaptation.lower, adaptation.upper, adaptation.margin, adaptation.step)


def test_factors_of_the_adaptation() -> None:
    """As where every run of a batch has gains of its own: a leak is multiplied too."""
    q, qd, reference, factor = np.array([0.3, -0.5]), np.array([2.4, 3.2]), COURSE(0.3), 3.0
    moving = (q, qd, reference.q, reference.qd, reference.qdd)
    nested = Projection(Leakage(Gradient(40.0), 0.4), LOWER, UPPER)
    for adaptation in (*around(Gradient(0.5)), nested):
        one, other = law(adaptation), law(scaled(adaptation, factor))
        found = one.compile(one.graph_with(("adaptation",))).one(*moving, START, np.array([factor]))
        np.testing.assert_allclose(found, other.compile(other.graph).one(*moving, START), rtol=1e-12)
        assert abs(found - one.compile(one.graph).one(*moving, START)).max() > 1e-3
        value = one.compile(one.lyapunov_graph(("adaptation",))).one(*moving, START, np.array([factor]), TRUTH)[0]
        if not isinstance(adaptation, Leakage):
            state = other.init(q, qd, estimate=START)
            assert value == pytest.approx(other.lyapunov(state, q, qd, reference, TRUTH), rel=1e-12)


def test_all_of_them_around_each_other_on_a_robot_with_loops() -> None:
    """The masses of the five-bar: the rate by its formula from the plain gradient's, and a short way within bounds."""
    robot = ytheta.load("five-bar")
    home = dict(zip(robot.coordinates, robot.home_coordinates, strict=True))
    learn = tuple(name for name in robot.parameter_names if name.endswith(".m"))
    truth = select_unknowns(robot, None, learn).described
    lower, upper = 0.2 * truth, 2.0 * truth
    settings: dict[str, Any] = {"convergence": 8.0, "damping": 2.0, "learn": learn}
    nested = Projection(Leakage(DeadZone(Gradient(200.0), 0.1), 0.5), lower, upper, margin=0.1, step=5e-3)
    plain = SlotineLi(robot, adaptation=1.0, **settings)
    law = SlotineLi(robot, adaptation=nested, **settings)
    course = sines(0.2, [3.0, 4.0], [home[name] for name in robot.actuated])
    reference, x = course(0.1), 0.3 * truth
    q, qd = reference.q + 0.05, reference.qd - 0.3
    r = qd - reference.qd + 8.0 * (q - reference.q)
    slope, found = ((of.step(State(0.0, x), 1.0, q, qd, reference)[1].x - x) for of in (plain, law))
    size = float(np.linalg.norm(r))
    free = 200.0 * slope * (size - 0.1) / size - 0.5 * (x - truth)
    room = np.where(free > 0.0, upper - x, x - lower)
    expected = free * np.minimum(1.0, room / np.maximum(0.1 * (upper - lower), 5e-3 * abs(free)))
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    done = sampled(law, course, plant=robot, seconds=0.25, period=5e-3, estimate=x, offset=0.1)
    assert ((done.x >= lower) & (done.x <= upper)).all()
    assert abs(done.x - x).max() > 0.1


@pytest.mark.parametrize(
    ("adaptation", "message"),
    [
        (Leakage(Gradient(0.5), 0.0), "leak has the entry 0"),
        (Leakage(Gradient(-0.5), 1.0), "adaptation has the entry -0.5"),
        (Leakage(Gradient(0.5), 1.0, [1.0, 2.0]), r"towards has shape \(2,\).*or 4, one per unknown parameter"),
        (DeadZone(Gradient(0.5), -0.1), "width has the entry -0.1"),
        (DeadZone(Gradient(0.5), [0.1, 0.2, 0.3]), r"width has shape \(3,\)"),
        (DeadZone(Leakage(Gradient(0.5), -1.0), 0.1), "leak has the entry -1"),
        (Projection(Gradient(0.5), 2.0, 1.0), "bounds of link2.m are 2 and 1; lower must be less than upper"),
        (Projection(Gradient(0.5), [0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0]), "bounds of load.Izz are 1 and 1"),
        (Projection(Gradient(0.5), [0.0, 1.0], 3.0), r"lower has shape \(2,\)"),
        (Projection(Gradient(0.5), 0.0, np.inf), "upper has shape .*not finite"),
        (Projection(Gradient(0.5), 0.0, 1.0, margin=0.0), "margin is 0.0"),
        (Projection(Gradient(0.5), 0.0, 1.0, margin=0.6), "margin is 0.6"),
        (Projection(Gradient(0.5), 0.0, 1.0, step=-1.0), "step is -1.0"),
        (Projection(Gradient(np.eye(4) + 0.1), 0.0, 3.0), "the metric of Gradient inside it joins several"),
        (Projection(Leakage(Gradient(np.eye(4) + 0.1), 1.0), 0.0, 3.0), "the metric of Leakage inside it"),
    ],
)
def test_settings_that_are_refused(adaptation: Adaptation, message: str) -> None:
    with pytest.raises(InputError, match=message):
        law(adaptation)


def test_projection_of_whole_links_is_refused() -> None:
    with pytest.raises(InputError, match="the metric of Natural inside it joins several"):
        law(Projection(Natural(0.5), -1.0, 5.0), learn=("load.*",))
    law(Projection(Natural(0.5), 0.1, 5.0), learn=("joint*.fv",))  # each by itself


@pytest.mark.parametrize("place", range(3))
def test_what_stands_inside_is_an_adaptation(place: int) -> None:
    wrapped = around(Gradient(0.5))[place]
    object.__setattr__(wrapped, "inner", 0.5)  # as where nobody checks types when it is made
    with pytest.raises(
        InputError, match=r"stands around another adaptation, not 0.5; a gain alone is Gradient\(gain\)"
    ):
        law(wrapped)


def test_estimates_outside_the_bounds_are_refused() -> None:
    q = np.zeros(2)
    boxed = law(Projection(Gradient(0.5), LOWER, UPPER))
    with pytest.raises(
        InputError, match=r"load.m = 9 to begin with lies outside its bounds 0.24 and 3.6; begin within"
    ):
        boxed.init(q, q, estimate=np.array([2.0, 9.0, 0.18, 0.037]))
    boxed.init(q, q, estimate=LOWER)
    leaking = law(Leakage(Projection(Gradient(0.5), LOWER, UPPER), 1.0, [2.0, 9.0, 0.18, 0.037]))
    with pytest.raises(InputError, match=r"leak towards a prior that cannot be one: the estimate load\.m = 9"):
        leaking.init(q, q)
