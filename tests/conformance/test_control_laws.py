"""Every control law is in the registry of controllers, has gains that factors scale, and tracks with unknown masses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

import ytheta
from tests.support.control_loop import simulate_continuous, sines
from tests.support.control_samples import home_position
from tests.support.feedback_laws import LinkSprings, SaturatingIntegral, Scaled
from tests.support.lyapunov import never_grows, true_parameters, two_link_arm
from tests.support.ur10_tracking import UR10_REFERENCE, ur10, ur10_damping
from ytheta.control.controller import Controller, Reference
from ytheta.control.feedback.feedback import Feedback
from ytheta.control.feedback.pid import PDFeedback, PIDFeedback
from ytheta.control.gains import Gain
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.control.laws.craig import Craig
from ytheta.control.laws.law import Law
from ytheta.control.laws.modified_slotine_li import ModifiedSlotineLi, QuasiComputedTorque
from ytheta.control.laws.pd_gravity import PDGravity
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.control.laws.walker import Walker
from ytheta.control.settings import CONTROLLERS, find_controller
from ytheta.errors import InputError, UnknownNameError
from ytheta.identifiability.registry import base_parameters
from ytheta.native.graph import Graph
from ytheta.robot.robot import Robot

FACTORS = (2.0, 1.5, 0.7, 3.0)


def make_every_law(robot: Robot) -> list[Law]:
    """Return one law of each kind."""
    return [
        SlotineLi(robot, convergence=5.0, damping=3.0, adaptation=0.5),
        ModifiedSlotineLi(robot, convergence=5.0, damping=3.0, adaptation=0.5),
        QuasiComputedTorque(robot, convergence=5.0, adaptation=0.5),
        Craig(robot, stiffness=25.0, damping=10.0, filtering=5.0, adaptation=0.5),
        ComputedTorque(robot, stiffness=25.0, damping=10.0),
        PDGravity(robot, stiffness=25.0, damping=10.0),
        Walker(robot, convergence=5.0, feedback=3.0, adaptation=0.5),
    ]


def make_every_feedback(robot: Robot) -> list[Law]:
    """Return Walker's law with every feedback law, and with laws of a user; some have states."""
    laws: list[Feedback] = [
        PDFeedback(stiffness=60.0, damping=3.0),
        PIDFeedback(stiffness=60.0, integral=20.0, damping=3.0),
        SaturatingIntegral(8.0, 3.0),
        LinkSprings(5.0, 3.0),
    ]
    return [Walker(robot, convergence=5.0, feedback=law, adaptation=0.5) for law in laws]


def test_every_law_is_a_controller_and_in_the_registry() -> None:
    laws = make_every_law(two_link_arm())
    assert [law.name for law in laws] == [
        "slotine-li",
        "modified-slotine-li",
        "quasi-computed-torque",
        "craig",
        "computed-torque",
        "pd-gravity",
        "walker",
    ]
    assert {law.name for law in laws} == set(CONTROLLERS)
    for law in (*laws, *make_every_feedback(two_link_arm())):
        assert isinstance(law, Controller)
        assert type(law) is find_controller(law.name)
        assert type(law) is find_controller(law.name.replace("-", "_"))
        assert type(law) is find_controller(type(law).__name__)
        assert law.graph.shape == (2 + len(law.unknown_names) + law.law_states,)
        names = [entry.name for entry in law.graph.inputs]
        assert names == ["q", "qd", *(["qdd"] if law.needs_acceleration else []), "qr", "qrd", "qrdd", "x"]
    with pytest.raises(UnknownNameError, match="did you mean 'slotine-li'"):
        find_controller("slotin_li")


def scale_gains(law: Law, factors: dict[str, float]) -> Law:
    return replace(law, **{name: scale(getattr(law, name), factor) for name, factor in factors.items()})


def scale(gain: Any, factor: float) -> Any:
    return Scaled(gain, factor) if isinstance(gain, Feedback) else factor * gain


def evaluate(graph: Graph, *inputs: np.ndarray) -> np.ndarray:
    """The value of a graph, without compiling it."""
    value = np.zeros(graph.size)
    value[list(graph.places)] = np.array(graph.function(*inputs)).ravel()
    return value


def test_factors_scale_the_gains_of_every_law() -> None:
    """As in batches in which every run has its own gains."""
    rng = np.random.default_rng(0)
    for law in (*make_every_law(two_link_arm()), *make_every_feedback(two_link_arm())):
        assert set(law.gain_names) == {"adaptation"} & {f.name for f in fields(law)} | set(law.GAINS)
        factors = dict(zip(law.gain_names, FACTORS, strict=False))
        q, qd, qr, qrd, qrdd = rng.normal(size=(5, 2))
        x = law.init(q, qd).x * 1.1
        truth = x[: len(law.unknown_names)] / 1.1
        x[len(x) - law.law_states :] = 0.2
        inputs = (q, qd, qd, qr, qrd, qrdd, x) if law.needs_acceleration else (q, qd, qr, qrd, qrdd, x)
        factor_values = np.array(list(factors.values()))
        output = evaluate(law.graph_with(law.gain_names), *inputs, factor_values)
        scaled = scale_gains(law, factors)
        expected = evaluate(scaled.graph, *inputs)
        np.testing.assert_allclose(output, expected, rtol=1e-12, atol=1e-9)
        assert abs(evaluate(law.graph, *inputs) - expected).max() > 1e-3  # the twin
        motion = (q, qd, qr, qrd, qrdd, x)
        value = evaluate(law.lyapunov_graph(law.gain_names), *motion, factor_values, truth)[0]
        expected_value = evaluate(scaled.lyapunov_graph(), *motion, truth)[0]
        assert value == pytest.approx(expected_value, rel=1e-12)
        with pytest.raises(UnknownNameError, match="has no gain 'stifness'"):
            law.graph_with(("stifness",))


def test_init_and_step_of_every_law_refuse_invalid_inputs() -> None:
    q, reference = np.zeros(2), Reference(np.zeros(2), np.zeros(2), np.zeros(2))
    for law in (*make_every_law(two_link_arm()), *make_every_feedback(two_link_arm())):
        with pytest.raises(InputError, match=r"q has shape \(3,\)"):
            law.init(np.zeros(3), np.zeros(3))
        with pytest.raises(InputError, match="estimate has shape"):
            law.init(q, q, estimate=np.zeros(len(law.unknown_names) + 1))
        state = law.init(q, q, t=1.0)
        with pytest.raises(InputError, match="which must increase from step to step"):
            law.step(state, 0.5, q, q, reference, q)
        with pytest.raises(InputError, match="input 'q' is nan"):
            law.step(state, 1.0, np.array([0.0, np.nan]), q, reference, q)


def make_adaptive_laws(
    robot: Robot, learn: Sequence[str], lam: float, damping: Gain, adaptations: Sequence[float]
) -> list[Law]:
    slotine_li, modified, quasi, craig = adaptations
    return [
        SlotineLi(robot, convergence=lam, damping=damping, adaptation=slotine_li, learn=learn),
        ModifiedSlotineLi(robot, convergence=lam, damping=damping, adaptation=modified, learn=learn),
        QuasiComputedTorque(robot, convergence=lam, adaptation=quasi, learn=learn),
        Craig(robot, stiffness=lam**2, damping=2 * lam, filtering=lam, adaptation=craig, learn=learn),
    ]


@pytest.mark.parametrize("index", range(4))
def test_two_link_arm_tracks_and_estimates_unknown_masses(index: int) -> None:
    """The error vanishes; without adaptation it does not."""
    robot, learn, estimate = two_link_arm(), ("link2.m", "load.m"), [1.0, 0.5]
    reference = sines([0.6, 0.8], [4.0, 6.0], [0.3, -0.4])
    adaptive, constant = (
        make_adaptive_laws(robot, learn, 10.0, 20.0, gains)[index] for gains in ((5.0, 5.0, 1.0, 0.1), (1e-9,) * 4)
    )
    run, twin = (
        simulate_continuous(law, reference, plant=robot, seconds=6.0, estimate=estimate) for law in (adaptive, constant)
    )
    assert abs(run.error[-40:]).max() < 2e-3
    assert abs(twin.error[-40:]).max() > 5e-2
    np.testing.assert_allclose(run.x[-1], true_parameters(run.law), rtol=0.01)


@pytest.mark.parametrize("index", range(4))
def test_ur10_tracks_with_unknown_masses(index: int) -> None:
    """The masses of the wrist start at 60 % of the truth; V never grows."""
    robot = ur10()
    learn = tuple(name for name in robot.parameter_names if name.endswith(".m"))[3:]
    adaptive, constant = (
        make_adaptive_laws(robot, learn, 8.0, ur10_damping(), gains)[index]
        for gains in ((5.0, 5.0, 3.0, 0.5), (1e-9,) * 4)
    )
    run, twin = (
        simulate_continuous(
            law, UR10_REFERENCE, plant=robot, seconds=4.0, estimate=0.6 * true_parameters(law), offset=0.05, rtol=1e-7
        )
        for law in (adaptive, constant)
    )
    assert never_grows(run, tolerance=1e-7)
    assert abs(run.error[-30:]).max() < 0.05 * abs(twin.error[-30:]).max()


def test_ur10_tracks_with_all_base_parameters_unknown() -> None:
    """36 unknown parameters that start at zero: V never grows, and the error is far below that without adaptation."""
    robot = ur10()
    base = base_parameters(robot)
    late_errors = []
    for adaptation in (5.0, 1e-9):
        law = SlotineLi(robot, base, convergence=8.0, damping=ur10_damping(), adaptation=adaptation)
        run = simulate_continuous(
            law, UR10_REFERENCE, plant=robot, seconds=4.0, estimate=np.zeros(36), offset=0.0, rtol=1e-7
        )
        assert never_grows(run, tolerance=1e-7)
        late_errors.append(abs(run.error[-30:]).max())
    assert late_errors[0] < 0.1 * late_errors[1]


def test_five_bar_tracks_with_unknown_masses() -> None:
    """A robot with a loop: V never grows, and the error vanishes."""
    robot = ytheta.load("five-bar")
    learn = tuple(name for name in robot.parameter_names if name.endswith(".m"))
    law = SlotineLi(robot, convergence=8.0, damping=2.0, adaptation=2.0, learn=learn)
    reference, estimate = sines(0.2, [3.0, 4.0], home_position(robot)), 0.5 * true_parameters(law)
    run = simulate_continuous(
        law, reference, plant=robot, seconds=2.0, estimate=estimate, offset=0.05, points=101, rtol=1e-6
    )
    assert never_grows(run, tolerance=1e-5)
    assert abs(run.error[-10:]).max() < 0.1 * abs(run.error).max()
