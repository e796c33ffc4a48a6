"""Suggested gains: every law on robots of every kind, from a wrong model, and what dimensional analysis demands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import ytheta
from ytheta.control.laws.adaptive_law import AdaptiveLaw
from ytheta.control.laws.law import Law
from ytheta.control.laws.registry import CONTROLLERS, find_controller
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.control.laws.walker import Walker
from ytheta.control.tuning.feedback_gains import ReferenceSamples
from ytheta.control.tuning.suggest import suggest_gains
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Joint
from ytheta.robot.robot import Robot
from ytheta.simulation.closed_loop.compiled import ClosedLoop
from ytheta.simulation.references.fourier import FourierReference, default_reference
from ytheta.simulation.runs import Runs

SECONDS, PERIOD = 5.0, 1e-3
WRONG = 0.8  # times the truth: what the controllers are told of the links
LEARNERS = tuple(name for name, law in CONTROLLERS.items() if issubclass(law, AdaptiveLaw))

BALL = ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))  # kg m²

# Every law on a plain robot, on one with a sliding joint, and on one with a loop; slotine_li on all others. Compiling
# is what a pair costs, and seven laws on arms of six and seven joints would cost minutes.
THOROUGH = ("lu-two-link", "ha-scara", "five-bar")
OTHERS = ("ur10", "iiwa14", "lu-puma4", "palletiser", "panda", "puma560-mdh", "puma560", "stanford", "walker")
PAIRS = [(robot, law) for robot in THOROUGH for law in CONTROLLERS] + [(robot, "slotine-li") for robot in OTHERS]


@cache
def robot_of(name: str) -> Robot:
    return ytheta.load(name)


@cache
def base_of(name: str) -> BaseParameters:
    return ytheta.base_parameters(robot_of(name))


@cache
def course_of(name: str) -> FourierReference:
    return default_reference(robot_of(name), SECONDS)


def motion_of(course: FourierReference) -> ReferenceSamples:
    return course(np.linspace(0.0, SECONDS, 300))


def heavier(robot: Robot, factor: float) -> Robot:
    """Its links, that much heavier."""
    return robot.with_inertias(
        {link.name: Inertia(tuple(factor * p for p in link.inertia.parameters)) for link in robot.links}
    )


def sized(robot: Robot, factor: float) -> Robot:
    """It, that much longer, with the same masses."""

    def longer(frame: Frame) -> Frame:
        x, y, z = (factor * float(entry) for entry in frame.translation)  # type: ignore[arg-type]
        return Frame((x, y, z), frame.rotation)

    def wide(inertia: Inertia) -> Inertia:
        powers = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
        return Inertia(tuple((np.array(inertia.parameters) * factor**powers).tolist()))

    return replace(
        robot.with_inertias({link.name: wide(link.inertia) for link in robot.links}),
        joints=tuple(replace(j, placement=longer(j.placement), seat=longer(j.seat)) for j in robot.joints),
        markers=(),
    )


def made(
    law: str,
    robot: Robot,
    base: BaseParameters | None,
    motion: ReferenceSamples,
    *,
    learn: Sequence[str] | None = None,
    period: float = PERIOD,
    factors: dict[str, float] | None = None,
) -> Law:
    """A law with suggested gains, some of them multiplied."""
    kind = find_controller(law)
    own: dict[str, Any] = {"learn": learn} if issubclass(kind, AdaptiveLaw) else {}
    if issubclass(kind, AdaptiveLaw) and kind is not Walker:
        own["base"] = base
    settings = suggest_gains(law, robot, own.get("base"), learn=learn, motion=motion, period=period)
    settings |= {name: factor * np.asarray(settings[name]) for name, factor in (factors or {}).items()}
    return kind(robot, **own, **settings)


def ran(law: Law, plant: Robot, course: FourierReference, *, period: float = PERIOD, off: float = 0.05) -> Runs:
    """A run that begins off the reference: radians, and less in metres."""
    slides = {joint.name for joint in plant.movable if joint.kind == "prismatic"}
    away = off * np.array([0.2 if name in slides else 1.0 for name in plant.actuated])
    q = course(np.zeros(1))[0] + away
    loop = ClosedLoop(plant=plant, controller=law, period=period)
    return loop.run(loop.init(q, np.zeros_like(q)), course, SECONDS, every=max(1, round(0.01 / period)))


def late(runs: Runs, course: FourierReference) -> float:
    """Tracking error of the last second, root mean square."""
    assert runs.finished.all(), runs.advice
    last = runs.t >= SECONDS - 1.0
    return float(np.sqrt(np.mean((runs.q[0, last] - course(runs.t[last])[0]) ** 2)))


def left_without_learning(law: Law, plant: Robot, motion: ReferenceSamples) -> float:
    """The largest error that the wrong model leaves in a slow motion, stiffness times error being what is missing.

    Learning, with all its ups and downs, must do no worse; the bound of what does not learn at all.
    """
    q, qd, qdd = motion
    described, M = law.robot, ytheta.mass_matrix(law.robot)(q)
    missing = ytheta.inverse_dynamics(plant)(q, qd, qdd) - ytheta.inverse_dynamics(described)(q, qd, qdd)
    gains = law.gains
    if law.name == "pd-gravity":
        stiffness = gains["stiffness"][None]
        missing = ytheta.inverse_dynamics(plant)(q, qd, qdd) - ytheta.gravity(described)(q)
    elif law.name == "walker":  # robots without rotors: K_D is a multiple of M
        stiffness = gains["convergence"][0, 0] * gains["feedback"][0, 0] * M
    elif law.name == "quasi-computed-torque":
        stiffness = gains["convergence"][0, 0] ** 2 * M
    elif "stiffness" in gains:
        stiffness = M @ gains["stiffness"]
    else:
        stiffness = (gains["convergence"] @ gains["damping"])[None]
    return float(np.abs(np.linalg.solve(stiffness, missing[:, :, None])).max())


@cache
def tracked(robot: str, law: str) -> tuple[float, float]:
    """The late error and its bound."""
    plant, course = robot_of(robot), course_of(robot)
    motion = motion_of(course)
    controlled = made(law, heavier(plant, WRONG), base_of(robot), motion)
    return late(ran(controlled, plant, course), course), left_without_learning(controlled, plant, motion)


@pytest.mark.parametrize(("robot", "law"), PAIRS)
def test_a_wrong_model_is_tracked_without_choosing_gains(robot: str, law: str) -> None:
    error, bound = tracked(robot, law)
    assert error < bound
    assert error < 0.1  # rad, or m: of a motion of one


@pytest.mark.parametrize("robot", THOROUGH)
def test_learning_ends_with_smaller_errors_than_computed_torque(robot: str) -> None:
    fixed, _ = tracked(robot, "computed-torque")
    for law in LEARNERS:
        assert tracked(robot, law)[0] < fixed
    assert tracked(robot, "slotine-li")[0] < 0.25 * fixed


@pytest.mark.parametrize(("robot", "kind"), [("lu-two-link", "composite"), ("ha-scara", "natural")])
def test_other_kinds_of_adaptation_have_gains_too(robot: str, kind: str) -> None:
    plant, course = robot_of(robot), course_of(robot)
    wrong, base = heavier(plant, WRONG), None if kind == "natural" else base_of(robot)
    given: dict[str, Any] = {"motion": motion_of(course), "period": PERIOD}
    law = SlotineLi(wrong, base, **suggest_gains("slotine-li", wrong, base, adaptation=kind, **given))
    assert type(law.adaptation_law).__name__.lower() == kind
    assert late(ran(law, plant, course), course) < 0.5 * tracked(robot, "computed-torque")[0]
    with pytest.raises(InputError, match="there is no adaptation 'nature'; did you mean 'natural'"):
        suggest_gains("slotine-li", wrong, base, adaptation="nature", **given)


@pytest.mark.parametrize("factors", [{"damping": 100.0}, {"adaptation": 1e4}])
def test_gains_far_larger_lose_the_robot(factors: dict[str, float]) -> None:
    """The twin: what is suggested is not just anything."""
    plant, course = robot_of("lu-two-link"), course_of("lu-two-link")
    wrong = heavier(plant, WRONG)
    law = made("slotine-li", wrong, base_of("lu-two-link"), motion_of(course), factors=factors)
    found = ran(law, plant, course)
    assert not found.finished.any()
    assert "diverged at t = " in found.advice


@pytest.mark.parametrize("robot", ["ha-scara", "five-bar"])
def test_friction_is_learnt_along(robot: str) -> None:
    """Half the friction is unknown too; without learning it the error is larger, and with it friction is found."""
    plant, course, base = robot_of(robot), course_of(robot), base_of(robot)

    def worn(joint: Joint) -> Joint:
        drive = joint.drive
        return replace(joint, drive=replace(drive, viscous=0.5 * drive.viscous, coulomb=0.5 * drive.coulomb))

    wrong = heavier(replace(plant, joints=tuple(worn(joint) for joint in plant.joints)), WRONG)
    motion = motion_of(course)
    laws = [
        made("slotine-li", wrong, base, motion, learn=learn)
        for learn in ((*base.independent, "*.fv", "*.fc"), base.independent)
    ]
    found = [ran(law, plant, course) for law in laws]
    assert found[0].tracking_rms[0] < found[1].tracking_rms[0]
    assert late(found[0], course) < left_without_learning(laws[0], plant, motion)
    joints = [f"{name}.fc" for name in plant.actuated]
    places = [laws[0].unknown_names.index(name) for name in joints]
    truth = plant.theta[[plant.parameter_names.index(name) for name in joints]]
    away = np.abs(found[0].final_estimate[0, places] - truth)
    assert np.median(away / truth) < 0.4  # it was 0.5, and some joints hardly turn round in five seconds


@pytest.mark.parametrize("law", ["slotine-li", "craig", "pd-gravity"])
def test_masses_times_a_thousand_make_the_same_motion(law: str) -> None:
    """Gains in Nm grow by as much, those in 1/s stay; friction grows along."""

    def scaled(robot: Robot, factor: float) -> Robot:
        def times(joint: Joint) -> Joint:
            d = joint.drive
            return replace(
                joint, drive=replace(d, viscous=factor * d.viscous, coulomb=factor * d.coulomb, rotor_inertia=factor)
            )

        return heavier(replace(robot, joints=tuple(times(joint) for joint in robot.joints)), factor)

    course, base = course_of("ha-scara"), base_of("ha-scara")
    found = []
    for factor in (1.0, 1000.0):
        plant = scaled(robot_of("ha-scara"), factor)
        found.append(ran(made(law, heavier(plant, WRONG), base, motion_of(course)), plant, course))
    one, other = found
    assert one.finished.all()
    np.testing.assert_allclose(one.q, other.q, rtol=0.0, atol=1e-6)  # rounding, after 5000 periods
    np.testing.assert_allclose(1000.0 * one.tau, other.tau, rtol=1e-4, atol=1e-3)


def test_a_robot_ten_times_as_long_moves_alike_where_gravity_is_ten_times_as_strong() -> None:
    small, course = robot_of("lu-two-link").numeric, course_of("lu-two-link")
    x, y, z = (10.0 * g for g in small.gravity)
    large = replace(sized(small, 10.0), gravity=(x, y, z))
    one, other = (
        ran(made("slotine-li", heavier(robot, WRONG), ytheta.base_parameters(robot), motion_of(course)), robot, course)
        for robot in (small, large)
    )
    assert one.finished.all()
    np.testing.assert_allclose(one.q, other.q, rtol=0.0, atol=1e-6)


def test_small_robots_are_tuned_faster() -> None:
    """A tenth of the length: ten times the angular acceleration of weight."""
    motion = motion_of(course_of("lu-two-link"))
    large = robot_of("lu-two-link").numeric
    found = [suggest_gains("computed-torque", sized(large, k), motion=motion, period=PERIOD) for k in (0.1, 1.0, 10.0)]
    assert found[1] == found[2] == {"stiffness": pytest.approx(200.0), "damping": pytest.approx(30.0)}
    assert found[0]["damping"] > 45.0


@pytest.mark.parametrize("period", [4e-3, 2.5e-4])
@pytest.mark.parametrize("law", ["slotine-li", "quasi-computed-torque", "computed-torque"])
def test_other_rates(law: str, period: float) -> None:
    plant, course = robot_of("ha-scara"), course_of("ha-scara")
    motion = motion_of(course)
    controlled = made(law, heavier(plant, WRONG), base_of("ha-scara"), motion, period=period)
    error = late(ran(controlled, plant, course, period=period), course)
    assert error < left_without_learning(controlled, plant, motion)


def test_rates_too_slow_for_the_usual_poles_slow_them_down() -> None:
    motion = motion_of(course_of("lu-two-link"))
    quick, slow = (
        suggest_gains("computed-torque", robot_of("lu-two-link"), motion=motion, period=h) for h in (1e-3, 1e-2)
    )
    assert quick == {"stiffness": pytest.approx(200.0), "damping": pytest.approx(30.0)}
    assert slow == {"stiffness": pytest.approx(32.0), "damping": pytest.approx(12.0)}  # lambda = 0.04 / period


def test_a_heavy_load_that_nobody_mentioned() -> None:
    """10 kg in the hand of a UR10, its limit: learnt as base parameters of a load without mass.

    A wrist without rotors is as light as its links, and so are its gains: the load pulls it far away, but not off.
    """
    told = robot_of("ur10").with_load(Inertia())
    plant = told.with_inertias({"load": Inertia.about_center(10.0, (0.0, 0.0, 0.1), BALL)})
    course = course_of("ur10")
    motion, base = motion_of(course), ytheta.base_parameters(told)
    law, fixed = (made(name, told, base, motion) for name in ("slotine-li", "computed-torque"))
    error, stays = (late(ran(each, plant, course), course) for each in (law, fixed))
    assert error < 0.9 * stays


def test_parameters_that_no_motion_shows_do_no_harm() -> None:
    """All standard parameters, most of which have no column, and a joint that stands still."""
    robot = robot_of("lu-puma4")
    q, qd, qdd = motion_of(course_of("lu-puma4"))
    still = np.array([1.0, 1.0, 1.0, 0.0])
    gains = suggest_gains("slotine-li", robot, motion=(q * still, qd * still, qdd * still), period=PERIOD)
    gamma = gains["adaptation"]
    assert gamma.shape == (len([n for n in robot.parameter_names if not n.startswith("joint")]),)
    assert np.isfinite(gamma).all()
    assert (gamma > 0.0).all()


def test_what_has_no_mass_is_refused() -> None:
    robot = robot_of("rx90")
    motion = motion_of(default_reference(robot, SECONDS))
    for law in CONTROLLERS:
        with pytest.raises(InputError, match=r"no inertia that joint1, .* would feel.*give its links masses"):
            suggest_gains(law, robot, motion=motion, period=PERIOD)


def test_refusals() -> None:
    robot = robot_of("lu-two-link")
    q, qd, qdd = motion_of(course_of("lu-two-link"))
    with pytest.raises(InputError, match="period of the controller is 0"):
        suggest_gains("slotine-li", robot, motion=(q, qd, qdd), period=0.0)
    with pytest.raises(InputError, match="one row for each sample and 2 columns"):
        suggest_gains("slotine-li", robot, motion=(q[:, :1], qd[:, :1], qdd[:, :1]), period=PERIOD)
    with pytest.raises(InputError, match="there is no controller 'pid'"):
        suggest_gains("pid", robot, motion=(q, qd, qdd), period=PERIOD)
