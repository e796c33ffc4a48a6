"""Control laws for drives with root and load-dependent friction: formulas, unknown parameters, refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.control_samples import (
    TORQUE_TOLERANCE,
    evaluate_law,
    perturb,
    random_positive_definite,
    random_sample,
)
from tests.support.friction_robots import add_friction_laws
from tests.support.loop_robots import make_looped_robot
from ytheta.control import (
    Composite,
    ComputedTorque,
    Craig,
    Gradient,
    ModifiedSlotineLi,
    Natural,
    QuasiComputedTorque,
    SlotineLi,
    Walker,
)
from ytheta.control.controller import Reference
from ytheta.dynamics import kernels
from ytheta.errors import InputError
from ytheta.robot.robot import Robot
from ytheta.simulation.own_plant import OwnPlant
from ytheta.simulation.plain_loop import advance

ROBOT = add_friction_laws(ytheta.load("ur10"))
ROOTS_ONLY = add_friction_laws(ytheta.load("ur10"), load=False)
LEARN = tuple(n for n in ROBOT.parameter_names if n.endswith((".m", ".mx", ".Ia", ".fv", ".fc", ".fs", ".fl")))


def test_computed_torque_is_inverse_dynamics_with_all_friction() -> None:
    s = random_sample(ROBOT)
    law = ComputedTorque(ROBOT, stiffness=s.K, damping=s.Lambda)
    tau, _ = evaluate_law(law, s, law.init(s.q, s.qd).x)
    qdd = s.reference.qdd - s.Lambda @ s.ed - s.K @ s.e
    np.testing.assert_allclose(tau, kernels.inverse_dynamics(ROBOT).one(s.q, s.qd, qdd), **TORQUE_TOLERANCE)
    unloaded = kernels.inverse_dynamics(ROBOT.with_drives(lambda _, d: replace(d, load=0.0))).one(s.q, s.qd, qdd)
    assert abs(tau - unloaded).max() > 1e-2


def test_slotine_li_is_linear_in_the_estimate() -> None:
    """Load-dependent friction is computed with the description, so that torque and rate are those of the regressor."""
    s = random_sample(ROBOT, 2)
    Gamma = random_positive_definite(np.random.default_rng(3), len(LEARN))
    law = SlotineLi(ROBOT, convergence=s.Lambda, damping=s.K, adaptation=Gamma, learn=LEARN)
    x = perturb(law.init(s.q, s.qd).x)
    tau, rate = evaluate_law(law, s, x)
    v, vd = s.reference.qd - s.Lambda @ s.e, s.reference.qdd - s.Lambda @ s.ed
    columns = [ROBOT.parameter_names.index(n) for n in LEARN]
    theta = ROBOT.theta.copy()
    theta[columns] = x
    Y = kernels.regressor(ROBOT, reference=True).one(s.q, s.qd, v, vd)
    np.testing.assert_allclose(tau, Y @ theta - s.K @ (s.qd - v), **TORQUE_TOLERANCE)
    expected = -Gamma @ Y[:, columns].T @ (s.qd - v)
    np.testing.assert_allclose(rate, expected, rtol=0.0, atol=1e-10 * abs(expected).max())
    blind = np.where([n.endswith(".fl") for n in ROBOT.parameter_names], 0.0, theta)
    assert abs(tau - (Y @ blind - s.K @ (s.qd - v))).max() > 1e-2


@pytest.mark.parametrize("law_type", [SlotineLi, ModifiedSlotineLi])
def test_base_parameters_give_the_same_torque(law_type: type[SlotineLi] | type[ModifiedSlotineLi]) -> None:
    """With the parameters of the description, standard and base parameters give the same torque."""
    s = random_sample(ROBOT, 4)
    base = ytheta.base_parameters(ROBOT)
    laws = [law_type(ROBOT, b, adaptation=1.0, convergence=3.0, damping=4.0) for b in (base, None)]
    by_base, by_standard = (evaluate_law(law, s, law.init(s.q, s.qd).x)[0] for law in laws)
    np.testing.assert_allclose(by_base, by_standard, rtol=1e-8, atol=1e-7)
    light = ROBOT.with_drives(lambda _, d: replace(d, load=0.0))
    twin = law_type(light, adaptation=1.0, convergence=3.0, damping=4.0)
    assert abs(evaluate_law(twin, s, twin.init(s.q, s.qd).x)[0] - by_base).max() > 1e-2


@pytest.mark.parametrize("law_type", [QuasiComputedTorque, Craig])
def test_laws_without_a_reference_velocity_are_inverse_dynamics(
    law_type: type[QuasiComputedTorque] | type[Craig],
) -> None:
    s = random_sample(ROBOT, 4)
    law: QuasiComputedTorque | Craig
    if law_type is Craig:
        law = Craig(ROBOT, adaptation=1.0, stiffness=9.0, damping=6.0, filtering=1.0)
        qdd = s.reference.qdd - 6.0 * s.ed - 9.0 * s.e
    else:
        law = QuasiComputedTorque(ROBOT, adaptation=1.0, convergence=3.0)
        qdd = s.reference.qdd - 6.0 * s.ed - 9.0 * s.e  # both poles are at -3
    tau, _ = evaluate_law(law, s, law.init(s.q, s.qd).x)
    np.testing.assert_allclose(tau, kernels.inverse_dynamics(ROBOT).one(s.q, s.qd, qdd), **TORQUE_TOLERANCE)


def make_looped_arm() -> Robot:
    return make_looped_robot("five-bar").with_drives(
        lambda _, d: replace(d, root=0.4, coulomb_speed=0.05, friction_speed=0.3)
    )


@pytest.mark.parametrize("robot", [ROOTS_ONLY, make_looped_arm()], ids=["ur10", "five-bar"])
def test_walker_has_root_friction(robot: Robot) -> None:
    """Symbols and the recursion on floats agree; friction changes torque and rate by its columns for qd."""
    s = random_sample(robot, 5)
    learn = tuple(n for n in robot.parameter_names if n.endswith((".m", ".fv", ".fs")))
    law = Walker(robot, convergence=1.5, feedback=2.0, adaptation=1.0, learn=learn)
    x = law.init(s.q, s.qd).x
    tau, rate = evaluate_law(law, s, x)
    slow_tau, w = law.evaluate(x, s.q, s.qd, s.reference)
    np.testing.assert_allclose(tau, slow_tau, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(rate[: len(w)], -w, rtol=1e-10, atol=1e-10)
    roots = [k for k, name in enumerate(learn) if name.endswith((".fs", ".fv"))]
    Y = kernels.regressor(robot, parameters=[learn[k] for k in roots]).one(s.q, s.qd, s.qdd)
    without = x.copy()
    without[roots] = 0.0
    change = tau - evaluate_law(law, s, without)[0]
    np.testing.assert_allclose(change, Y @ x[roots], rtol=1e-9, atol=1e-9)
    assert abs(change).max() > 1e-2
    r = s.ed + 1.5 * s.e
    np.testing.assert_allclose(-rate[roots], Y.T @ r, rtol=1e-9, atol=1e-9)


def test_composite_adaptation_filters_root_friction() -> None:
    """y_f = W_f theta for the parameters of the plant, although the estimate is wrong; not for others (the twin)."""
    robot = ytheta.load("lu-two-link").with_drives(
        lambda _, d: replace(d, viscous=0.5, root=3.0, coulomb_speed=0.2, friction_speed=0.8)
    )
    adaptation = Composite(1e-3, prediction=1.0, bandwidth=8.0)
    learn = ("*.fs", "*.fv", "link2.mx")
    law = SlotineLi(robot, convergence=10.0, damping=40.0, adaptation=adaptation, learn=learn)
    truth = law.unknowns.nominal
    plant, period = OwnPlant.of(robot), 2e-4
    motion = plant.init(np.array([0.1, 0.2]), np.array([2.0, -1.0]))
    state = law.init(*plant.get_motion(motion), estimate=0.5 * truth)
    for k in range(2500):
        t = k * period
        wave = np.array([3.0, 4.0]) * t
        reference = Reference(np.sin(wave), np.array([3.0, 4.0]) * np.cos(wave), -np.array([9.0, 16.0]) * np.sin(wave))
        tau, state = law.step(state, t, *plant.get_motion(motion), reference)
        motion = advance(plant, motion, tau, period, 1)
    filtered = state.x[len(truth) :]  # of the motion before the last step
    W_f, y_f = adaptation.filtered_regressor(robot, law.unknowns, *plant.get_motion(motion), filtered)
    scale = abs(y_f).max()
    assert abs(W_f @ truth - y_f).max() < 1e-2 * scale
    roots = np.array([name.endswith(".fs") for name in law.unknown_names])
    assert abs(W_f @ np.where(roots, 0.0, truth) - y_f).max() > 0.1 * scale


def test_load_friction_is_refused_where_it_cannot_be_computed() -> None:
    with pytest.raises(InputError, match=r"'shoulder_pan_joint', .* has load-dependent friction, which Walker's"):
        Walker(ROBOT, convergence=1.0, feedback=1.0, adaptation=1.0)
    with pytest.raises(InputError, match="load-dependent friction, which depends on accelerations; composite"):
        SlotineLi(ROBOT, convergence=1.0, damping=1.0, adaptation=Composite(1.0, prediction=1.0, bandwidth=8.0))


def test_natural_adaptation_keeps_load_friction_positive() -> None:
    learn = ("elbow_joint.fs", "elbow_joint.fl", "elbow_joint.fc")
    law = SlotineLi(ROBOT, convergence=1.0, damping=1.0, adaptation=Natural(0.5, signed=0.1), learn=learn)
    s = random_sample(ROBOT, 3)
    x = law.init(s.q, s.qd).x
    rate = evaluate_law(law, s, x)[1]
    gradient = SlotineLi(ROBOT, convergence=1.0, damping=1.0, adaptation=Gradient(1.0), learn=learn)
    slope = -evaluate_law(gradient, s, x)[1]
    names = ("elbow_joint.fc", "elbow_joint.fs", "elbow_joint.fl")
    assert law.unknown_names == names
    assert rate[1] == pytest.approx(-0.1 * slope[1])  # fs may be negative
    for k in (0, 2):  # P L P for one parameter, with the limit that ``step`` sets
        assert rate[k] == pytest.approx(-0.5 * x[k] ** 2 * slope[k], rel=0.05)


@pytest.mark.parametrize(
    "adaptation", [Gradient(100.0), Composite(50.0, prediction=2.0, bandwidth=20.0)], ids=["gradient", "composite"]
)
def test_adapted_root_friction_finds_the_true_value(adaptation: Gradient | Composite) -> None:
    """A wrong fs in the controller converges to that of the plant. The twin: a plant with another fs."""
    robot = ytheta.load("lu-two-link").with_drives(
        lambda _, d: replace(d, root=3.0, coulomb_speed=0.05, friction_speed=2.0)
    )
    law = SlotineLi(robot, convergence=10.0, damping=40.0, adaptation=adaptation, learn=("*.fs",))
    start = np.array([0.5, 0.5])
    simulation = ytheta.simulate(robot, law, seconds=8.0, rate=1000.0, estimate=start)
    np.testing.assert_allclose(simulation.runs.estimate[0, -1], 3.0, atol=0.05)
    other = robot.with_drives(lambda _, d: replace(d, root=2.0))
    twin = ytheta.simulate(other, law, seconds=8.0, rate=1000.0, estimate=start)
    np.testing.assert_allclose(twin.runs.estimate[0, -1], 2.0, atol=0.05)
