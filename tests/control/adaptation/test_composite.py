"""Composite adaptation: its filters against other ways to the same numbers, its proof, and what it learns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

import ytheta
from tests.support.control_samples import add_friction
from tests.support.formulation_cases import fork
from tests.support.loop_robots import make_looped_robot
from tests.support.simulate_cases import starts, swing
from ytheta.control import Composite, Craig, ModifiedSlotineLi, QuasiComputedTorque, Reference, SlotineLi, Walker
from ytheta.control.controller import State
from ytheta.control.laws.law import Law
from ytheta.dynamics import kernels
from ytheta.errors import InputError
from ytheta.identifiability.registry import base_parameters
from ytheta.robot.parts import Drive, Force
from ytheta.robot.robot import Robot
from ytheta.simulation.closed_loop.compiled import ClosedLoop
from ytheta.simulation.closed_loop.plain import PlainLoop
from ytheta.simulation.plants.own_plant import OwnPlant
from ytheta.simulation.references.reference import ReferenceTrajectory
from ytheta.simulation.runs import Runs

BANDWIDTH = 8.0
FILTER = Composite(1.0, prediction=1.0, bandwidth=BANDWIDTH)
SIMPSON = 1e-9  # of integrals at a millisecond, relative
LOOPED = ("five-bar", "palletiser", "slide")
LEARNT = (".m", ".mx", ".Izz", ".Ia", ".fv", ".fc", ".fo", "spring")  # the rest is known, and not zero


def smooth(drive: Drive) -> Drive:
    """Coulomb friction without a jump, which no rule of integration likes."""
    return replace(drive, coulomb_speed=0.05)


@cache
def robot_of(name: str) -> Robot:
    """With friction, offsets and rotor inertia at every joint, and a spring at the first."""
    robot = make_looped_robot(name) if name in LOOPED else add_friction(fork() if name == "fork" else ytheta.load(name))
    spring = Force("spring", ((robot.actuated[0], f"{robot.actuated[0]} - 0.3"),), value=25.0)
    return replace(
        robot,
        joints=tuple(replace(joint, drive=smooth(joint.drive)) for joint in robot.joints),
        loops=tuple(replace(loop, joint=replace(loop.joint, drive=smooth(loop.joint.drive))) for loop in robot.loops),
        forces=(spring,),
    )


def some(robot: Robot) -> tuple[str, ...]:
    return tuple(name for name in robot.parameter_names if name.endswith(LEARNT))


def slotine_li(robot: Robot, adaptation: Any = FILTER, **settings: Any) -> SlotineLi:
    given: dict[str, Any] = {"learn": some(robot), "convergence": 5.0, "damping": 5.0, **settings}
    return SlotineLi(robot, adaptation=adaptation, **given)


# --- the filters ----------------------------------------------------------------------------------------------------


def low_passed(t: np.ndarray, inputs: np.ndarray, start: Any = 0.0) -> np.ndarray:
    """z of dz/dt = input - a z at every other instant, by Simpson's rule on the integral's closed form."""
    h = t[1] - t[0]
    half, whole = np.exp(-BANDWIDTH * h), np.exp(-2.0 * BANDWIDTH * h)
    z = [np.broadcast_to(start, inputs.shape[1:]).astype(float)]
    for k in range(0, len(t) - 2, 2):
        z.append(whole * z[-1] + h / 3.0 * (whole * inputs[k] + 4.0 * half * inputs[k + 1] + inputs[k + 2]))
    return np.array(z)


@dataclass(frozen=True, eq=False)
class Along:
    """What a law remembers along a motion that is its reference, with the truth for an estimate: its torque is then the
    robot's own. Its filters are linear, so that z is an integral over what the graph says of dz/dt for z = 0."""

    law: Law
    t: np.ndarray
    motion: tuple[np.ndarray, np.ndarray, np.ndarray]
    tau: np.ndarray
    pushed: np.ndarray
    start: np.ndarray

    @staticmethod
    def of(law: Law, steps: int = 1000) -> Along:
        t = np.linspace(0.0, 1.0, steps + 1)
        q, qd, qdd = motion = swing(law.robot, size=0.05 if law.robot.loops else 0.3)(t + 0.2)
        size, n, begun = len(law.unknown_names), q.shape[1], law.init(q[0], qd[0]).x
        x = np.zeros((len(t), len(begun)))
        x[:, :size] = begun[:size]
        out = law.compile(law.graph)(q, qd, *([qdd] if law.needs_acceleration else []), q, qd, qdd, x)
        return Along(law, t, motion, out[:, :n], out[:, n + size :], begun[size:])

    @property
    def z(self) -> np.ndarray:
        return low_passed(self.t, self.pushed, self.start)

    def filtered(self, k: int, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q, qd, _ = self.motion
        return FILTER.filtered(self.law.robot, self.law.unknowns, q[2 * k], qd[2 * k], z[k])

    def misfit(self, z: np.ndarray) -> float:
        """The largest error of prediction with the true parameters, relative to the largest filtered torque."""
        found = [self.filtered(k, z) for k in range(0, len(z), len(z) // 8)]
        e = max(abs(W_f @ self.law.unknowns.nominal - y_f).max() for W_f, y_f in found)
        return float(e / max(abs(y_f).max() for _, y_f in found))

    @property
    def flipped(self) -> np.ndarray:
        """The twin's z, with Yhat of the other sign in W_f."""
        size, (q, qd, _) = len(self.law.unknown_names), self.motion
        own = -np.array([self.law.init(*row).x[size:] for row in zip(q, qd, strict=True)])  # a (W, -W_k theta_k)
        rest = self.pushed / BANDWIDTH + own
        rest[:, : len(self.start) - self.tau.shape[1]] *= -1.0
        return low_passed(self.t, BANDWIDTH * (rest - own), self.start)


@pytest.mark.parametrize("name", ["lu-puma4", "ur10", "stanford", "fork", *LOOPED])
def test_the_filtered_torque_is_that_of_the_truth(name: str) -> None:
    """y_f = W_f theta; and W_f is the ordinary regressor through the filter, accelerations and all."""
    robot = robot_of(name)
    found = Along.of(slotine_li(robot))
    np.testing.assert_allclose(found.tau, kernels.inverse_dynamics(robot)(*found.motion), rtol=1e-9, atol=1e-8)
    z = found.z
    assert found.misfit(z) < SIMPSON
    Y = kernels.regressor(robot, parameters=found.law.unknown_names)(*found.motion)
    expected = low_passed(found.t, BANDWIDTH * Y)
    for k in (0, 50, 500):
        np.testing.assert_allclose(
            found.filtered(k, z)[0], expected[k], rtol=0.0, atol=SIMPSON * float(abs(expected).max())
        )


@pytest.mark.parametrize("name", ["lu-puma4", "stanford", "five-bar"])
def test_no_other_filter_gives_the_torque_of_the_truth(name: str) -> None:
    """The twins: Yhat with the other sign, and the known parameters' part left out."""
    found = Along.of(slotine_li(robot_of(name)), steps=200)
    assert found.misfit(found.z) < 1e-5
    assert found.misfit(found.flipped) > 1e-2
    tau_f = low_passed(found.t, BANDWIDTH * found.tau)
    W_f, y_f = found.filtered(len(tau_f) - 1, found.z)
    assert abs(W_f @ found.law.unknowns.nominal - y_f).max() < 1e-5 * abs(tau_f).max()
    assert abs(y_f - tau_f[-1]).max() > 1e-2 * abs(tau_f).max()


def laws(robot: Robot, adaptation: Any) -> list[Law]:
    some_of = {"learn": some(robot), "adaptation": adaptation}
    return [
        ModifiedSlotineLi(robot, convergence=5.0, damping=5.0, **some_of),
        QuasiComputedTorque(robot, convergence=5.0, **some_of),
        Craig(robot, stiffness=25.0, damping=10.0, filtering=5.0, **some_of),
        Walker(robot, convergence=5.0, feedback=5.0, **some_of),
    ]


def test_every_law_that_learns_has_the_same_filters() -> None:
    robot = robot_of("lu-two-link")
    expected = Along.of(slotine_li(robot)).z
    for law in laws(robot, FILTER):
        found = Along.of(law)
        assert found.misfit(found.z) < SIMPSON
        np.testing.assert_allclose(found.z, expected, rtol=1e-9, atol=1e-8)


def test_the_rate_is_its_formula() -> None:
    """With W_f and y_f that the memory stands for, full gains, and a wrong estimate."""
    robot, rng = robot_of("lu-puma4"), np.random.default_rng(0)
    A, B = rng.normal(size=(len(some(robot)),) * 2), rng.normal(size=(4, 4))
    Gamma, R = A @ A.T + np.eye(len(A)), B @ B.T + np.eye(4)
    law = slotine_li(robot, Composite(Gamma, R, BANDWIDTH))
    plain = slotine_li(robot, Gamma)
    q, qd, qr, qrd, qrdd = rng.normal(size=(5, 4))
    at, size = Reference(qr, qrd, qrdd), len(law.unknown_names)
    x = law.init(q, qd).x + rng.normal(size=len(law.init(q, qd).x))
    W_f, y_f = FILTER.filtered(robot, law.unknowns, q, qd, x[size:])
    rates = [of.step(State(0.0, given), 1.0, q, qd, at)[1].x - given for of, given in ((law, x), (plain, x[:size]))]
    expected = rates[1] - Gamma @ W_f.T @ R @ (W_f @ x[:size] - y_f)
    np.testing.assert_allclose(rates[0][:size], expected, rtol=1e-9, atol=1e-9 * float(abs(expected).max()))


def test_what_is_zero_by_structure_is_not_remembered() -> None:
    """Joints behind a link's do not feel it; coordinates that feel nothing unknown have no torque to predict."""
    robot, still = ytheta.load("ur10"), np.zeros(6)
    base = base_parameters(robot)
    law = slotine_li(robot, base=base, learn=None)
    Y = kernels.regressor(robot, base).graph
    assert len(law.init(still, still).x) - 36 <= len(Y.places) + 6 < 36 * 6
    first = tuple(name for name in robot.parameter_names if name.startswith("shoulder_pan_joint."))
    assert first
    one = slotine_li(robot, learn=first)
    assert len(one.init(still, still).x) == len(first) + len(first) + 1
    nothing = slotine_li(robot, learn=())
    assert nothing.init(still, still).x.shape == (0,)
    nothing.step(nothing.init(still, still), 0.1, still, still, Reference(still, still, still))


# --- the proof ------------------------------------------------------------------------------------------------------

MASSES = ("link2.m", "load.m", "load.mx", "load.Izz")
START = np.array([1.0, 0.5, 0.0, 0.05])  # of those; the truth is 2.0, 1.2, 0.18, 0.037


def wave(amplitudes: np.ndarray, rates: np.ndarray) -> ReferenceTrajectory:
    """Sums of sines, one column for each joint."""

    def course(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        angle = t[:, None, None] * rates
        s, c = amplitudes * np.sin(angle), amplitudes * np.cos(angle)
        return s.sum(axis=1), (rates * c).sum(axis=1), (-rates * rates * s).sum(axis=1)

    return course


COURSE = wave(np.array([[0.6, 0.8]]), np.array([[2.0, 3.0]]))


def run(
    law: Law, course: ReferenceTrajectory, seconds: float, *, estimate: Any, offset: float = 0.0, **settings: Any
) -> Runs:
    loop = ClosedLoop(plant=law.robot, controller=law, **settings)
    q, qd, _ = course(np.zeros(1))
    done = loop.run(loop.init(q + offset, qd, estimate=np.array([estimate])), course, seconds, every=1)
    assert done.finished.all()
    return done


def test_it_dissipates_what_it_should() -> None:
    """dV/dt = -rᵀ (K_D + F_v) r - eᵀ R e in continuous time, friction being learnt too; and V falls faster than without
    prediction."""
    robot, learn = add_friction(ytheta.load("lu-two-link")), (*MASSES, "joint1.fv", "joint2.fc")
    K, R = np.array([[5.0, 1.0], [1.0, 3.0]]), np.array([[0.4, 0.1], [0.1, 0.6]])
    F = np.diag([drive.viscous for _, drive in robot.drives])
    adaptation = Composite(1.0, prediction=R, bandwidth=BANDWIDTH)
    begun = np.concatenate([START, [0.0, 0.0]])
    values = []
    for kind in (adaptation, 1.0):
        law = slotine_li(robot, kind, convergence=4.0, damping=K, learn=learn)
        truth = law.unknowns.nominal
        done = run(law, COURSE, 1.0, estimate=begun, offset=0.1, continuous=True)
        wanted = [Reference(*row) for row in zip(*COURSE(done.t), strict=True)]
        rows = list(zip(done.q[0], done.qd[0], done.controller_state[0], wanted, strict=True))
        V = np.array([law.lyapunov(State(0.0, x), q, qd, r, truth) for q, qd, x, r in rows])
        values.append(V)
        assert (np.diff(V) <= 1e-9 * V[0]).all()
        power = []
        for q, qd, x, r in rows if kind is adaptation else ():
            s = qd - r.qd + 4.0 * (q - r.q)
            W_f, y_f = adaptation.filtered(robot, law.unknowns, q, qd, x[len(learn) :])
            e = W_f @ x[: len(learn)] - y_f
            np.testing.assert_allclose(e, W_f @ (x[: len(learn)] - truth), rtol=0.0, atol=1e-6)
            power.append((s @ (K + F) @ s, e @ R @ e))
        if kind is adaptation:
            spent = cumulative_simpson(np.array(power), x=done.t, axis=0, initial=0.0)
            assert abs(V - V[0] + spent.sum(axis=1)).max() < 1e-7 * V[0]
            assert abs(V - V[0] + spent[:, 0]).max() > 1e-2 * V[0]  # the twin without prediction
    composite, gradient = values
    assert (composite <= gradient).all()
    assert composite[-1] < 0.7 * gradient[-1]


# --- what it learns -------------------------------------------------------------------------------------------------

RICH = wave(
    np.array([[0.25, -0.2], [0.3, 0.25], [-0.15, 0.3]]),
    np.array([[2.1, 2.7], [3.3, 4.1], [5.2, 5.9]]),
)


def suited(robot: Robot, unknown: tuple[str, ...], rate: float) -> np.ndarray:
    """The gain with which prediction alone would learn everything at one rate, on average over the motion."""
    Y = kernels.regressor(robot, parameters=unknown)(*RICH(np.linspace(0.0, 20.0, 801)))
    gain = rate * np.linalg.inv(np.einsum("tji,tjk->ik", Y, Y) / len(Y))
    return np.asarray((gain + gain.T) / 2.0)


def test_it_learns_where_tracking_hardly_does() -> None:
    """A stiff loop that starts on its reference: there is little to learn from but the torque. All base parameters."""
    robot = ytheta.load("lu-two-link")
    base = base_parameters(robot)
    gain = suited(robot, base.independent, 0.7)
    estimates = []
    for kind, seconds in ((gain, 15.0), (Composite(gain, 1.0, 10.0), 15.0), (Composite(gain, 1e-12, 10.0), 2.0)):
        law = slotine_li(robot, kind, base=base, learn=None, convergence=10.0, damping=60.0)
        estimates.append(run(law, RICH, seconds, estimate=0.6 * base.beta, period=2e-3).estimate[0])
    gradient, composite, tiny = estimates
    away = [np.linalg.norm(x[-1] - base.beta) / np.linalg.norm(0.4 * base.beta) for x in (gradient, composite)]
    assert away[0] > 0.5
    assert away[1] < 0.01
    np.testing.assert_allclose(tiny, gradient[: len(tiny)], rtol=0.0, atol=1e-8)  # without weight it is the gradient
    assert abs(composite[: len(tiny)] - tiny).max() > 0.1


def test_it_learns_from_the_torque_that_is_given() -> None:
    """Within limits that it meets half of the time. Tracking is misled by them, and has little weight here; prediction
    is not. The twin is told of the torque it asked for."""
    robot, period, learn, limits = ytheta.load("lu-two-link"), 2e-3, ("link2.m", "load.m"), np.array([30.0, 8.0])
    gain, accelerations = suited(robot, learn, 0.07), kernels.forward_dynamics(robot)
    t, truth, away, cut = period * np.arange(2500), np.array([2.0, 1.2]), [], 0
    for torque_limits in (limits, None):
        law = slotine_li(
            robot, Composite(gain, 10.0, 10.0), learn=learn, convergence=5.0, damping=20.0, torque_limits=torque_limits
        )
        wanted = [Reference(*row) for row in zip(*RICH(t), strict=True)]
        q, qd = wanted[0].q, wanted[0].qd
        state = law.init(q, qd, estimate=0.6 * truth, t=-period)
        for now, reference in zip(t.tolist(), wanted, strict=True):
            tau, state = law.step(state, now, q, qd, reference)
            tau = np.clip(tau, -limits, limits)
            cut += bool((abs(tau) == limits).any())
            middle = qd + period / 2 * accelerations.one(q, qd, tau)
            qdd = accelerations.one(q + period / 2 * qd, middle, tau)
            q, qd = q + period * middle, qd + period * qdd
        away.append(np.linalg.norm(state.x[:2] - truth) / np.linalg.norm(0.4 * truth))
    assert cut > 0.7 * len(t)  # of both
    assert away[0] < 0.1
    assert away[1] > 5.0


# --- settings, factors, compiled loops ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ((0.0, 1.0, 10.0), "gain has the entry 0; gains are greater than zero"),
        (([1.0, 2.0], 1.0, 10.0), r"gain has shape \(2,\); give one number, 4 numbers \(one per unknown parameter\)"),
        ((1.0, -1.0, 10.0), "prediction has the entry -1; gains are greater than zero"),
        ((1.0, [1.0] * 3, 10.0), r"prediction has shape \(3,\); give one number, 2 numbers \(one per actuated coordin"),
        ((1.0, [[1.0, 2.0], [2.0, 1.0]], 10.0), "prediction is not positive definite"),
        ((1.0, 1.0, 0.0), "bandwidth has the entry 0"),
        ((1.0, 1.0, -3.0), "bandwidth has the entry -3"),
        ((1.0, 1.0, np.inf), "bandwidth has an entry that is not finite"),
    ],
)
def test_wrong_settings(settings: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        slotine_li(ytheta.load("lu-two-link"), Composite(*settings), learn=MASSES)


def test_a_factor_of_the_adaptation_is_one_of_its_gain() -> None:
    robot, rng = ytheta.load("lu-two-link"), np.random.default_rng(1)
    once, thrice = (slotine_li(robot, Composite(gain, 0.5, 10.0), learn=MASSES) for gain in (0.2, 0.6))
    q, qd, qr, qrd, qrdd = rng.normal(size=(5, 2))
    x, factors = once.init(q, qd).x + rng.normal(size=len(once.init(q, qd).x)), np.array([3.0])
    found = once.compile(once.graph_with(("adaptation",))).one(q, qd, qr, qrd, qrdd, x, factors)
    expected = once.compile(thrice.graph).one(q, qd, qr, qrd, qrdd, x)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    value = once.compile(once.lyapunov_graph(("adaptation",))).one(q, qd, qr, qrd, qrdd, x, factors, START)[0]
    assert value == pytest.approx(thrice.lyapunov(State(0.0, x), q, qd, Reference(qr, qrd, qrdd), START), rel=1e-12)


@pytest.mark.parametrize("name", ["lu-puma4", "five-bar"])
def test_the_compiled_loop_is_the_plain_one(name: str) -> None:
    robot = robot_of(name)
    masses = tuple(n for n in robot.parameter_names if n.endswith(".m"))[-2:]
    law = slotine_li(robot, Composite(1.0, 0.5, 20.0), learn=masses, torque_limits=80.0)
    q, qd = starts(robot, 1, spread=0.02)
    course, guess = swing(robot, size=0.1), 0.7 * np.ones((1, 2))
    loop = ClosedLoop(plant=robot, controller=law)
    fast = loop.run(loop.init(q, qd, estimate=guess), course, 0.1)
    slow = PlainLoop(plant=OwnPlant.of(robot), controller=law).run(q[0], qd[0], course, 0.1, estimate=guess[0])
    assert fast.finished.all()
    assert fast.controller_state.shape[2] > 2
    for what in ("q", "qd", "tau", "controller_state", "final_controller_state"):
        np.testing.assert_allclose(getattr(fast, what), getattr(slow, what), rtol=1e-9, atol=1e-9, err_msg=what)
