"""Composite adaptation: its filters compared with numerical integration, its Lyapunov function, and convergence."""

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
from tests.support.lyapunov import INITIAL_ESTIMATE, UNKNOWNS
from tests.support.simulate_cases import sample_starts, swing
from ytheta.control import Composite, Craig, ModifiedSlotineLi, QuasiComputedTorque, Reference, SlotineLi, Walker
from ytheta.control.controller import State
from ytheta.control.laws.law import Law
from ytheta.dynamics import kernels
from ytheta.errors import InputError
from ytheta.identifiability.registry import base_parameters
from ytheta.robot.parts import Drive, Force
from ytheta.robot.robot import Robot
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.own_plant import OwnPlant
from ytheta.simulation.plain_loop import PlainLoop
from ytheta.simulation.references import ReferenceTrajectory
from ytheta.simulation.runs import Runs

BANDWIDTH = 8.0
FILTER = Composite(1.0, prediction=1.0, bandwidth=BANDWIDTH)
SIMPSON_TOLERANCE = 1e-9  # relative, of integrals with steps of a millisecond
LOOPED = ("five-bar", "palletiser", "slide")
# All other parameters are known, and not zero.
UNKNOWN_ENDINGS = (".m", ".mx", ".Izz", ".Ia", ".fv", ".fc", ".fo", "spring")


def smooth_friction(drive: Drive) -> Drive:
    """Return a drive with continuous Coulomb friction, which can be integrated accurately."""
    return replace(drive, coulomb_speed=0.05)


@cache
def make_robot(name: str) -> Robot:
    """Return a robot with friction, offsets and rotor inertia at every joint, and a spring at the first joint."""
    robot = make_looped_robot(name) if name in LOOPED else add_friction(fork() if name == "fork" else ytheta.load(name))
    spring = Force("spring", ((robot.actuated[0], f"{robot.actuated[0]} - 0.3"),), value=25.0)
    return replace(
        robot,
        joints=tuple(replace(joint, drive=smooth_friction(joint.drive)) for joint in robot.joints),
        loops=tuple(
            replace(loop, joint=replace(loop.joint, drive=smooth_friction(loop.joint.drive))) for loop in robot.loops
        ),
        forces=(spring,),
    )


def select_unknown_names(robot: Robot) -> tuple[str, ...]:
    return tuple(name for name in robot.parameter_names if name.endswith(UNKNOWN_ENDINGS))


def make_law(robot: Robot, adaptation: Any = FILTER, **settings: Any) -> SlotineLi:
    defaults: dict[str, Any] = {"learn": select_unknown_names(robot), "convergence": 5.0, "damping": 5.0}
    return SlotineLi(robot, adaptation=adaptation, **{**defaults, **settings})


# --- the filters ------------------------------------------------------------------------------------------------------


def apply_low_pass(t: np.ndarray, inputs: np.ndarray, start: Any = 0.0) -> np.ndarray:
    """Return z of dz/dt = input - a z at every other instant, by Simpson's rule for the convolution integral."""
    h = t[1] - t[0]
    half, whole = np.exp(-BANDWIDTH * h), np.exp(-2.0 * BANDWIDTH * h)
    z = [np.broadcast_to(start, inputs.shape[1:]).astype(float)]
    for k in range(0, len(t) - 2, 2):
        z.append(whole * z[-1] + h / 3.0 * (whole * inputs[k] + 4.0 * half * inputs[k + 1] + inputs[k + 2]))
    return np.array(z)


@dataclass(frozen=True, eq=False)
class FilterRun:
    """The filter states of a law along its reference, with the true parameters as the estimate.

    The torque of the law is then that of the robot. ``inputs`` are dz/dt at z = 0; the filters are linear, so z is an
    integral of them.
    """

    law: Law
    t: np.ndarray
    motion: tuple[np.ndarray, np.ndarray, np.ndarray]
    tau: np.ndarray
    inputs: np.ndarray
    initial_z: np.ndarray

    @staticmethod
    def of(law: Law, steps: int = 1000) -> FilterRun:
        t = np.linspace(0.0, 1.0, steps + 1)
        q, qd, qdd = motion = swing(law.robot, size=0.05 if law.robot.loops else 0.3)(t + 0.2)
        size, n, start = len(law.unknown_names), q.shape[1], law.init(q[0], qd[0]).x
        x = np.zeros((len(t), len(start)))
        x[:, :size] = start[:size]
        out = law.compile(law.graph)(q, qd, *([qdd] if law.needs_acceleration else []), q, qd, qdd, x)
        return FilterRun(law, t, motion, out[:, :n], out[:, n + size :], start[size:])

    @property
    def z(self) -> np.ndarray:
        return apply_low_pass(self.t, self.inputs, self.initial_z)

    def filtered_regressor(self, k: int, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q, qd, _ = self.motion
        return FILTER.filtered_regressor(self.law.robot, self.law.unknowns, q[2 * k], qd[2 * k], z[k])

    def prediction_error(self, z: np.ndarray) -> float:
        """Return the largest prediction error with the true parameters, relative to the largest filtered torque."""
        pairs = [self.filtered_regressor(k, z) for k in range(0, len(z), len(z) // 8)]
        e = max(abs(W_f @ self.law.unknowns.nominal - y_f).max() for W_f, y_f in pairs)
        return float(e / max(abs(y_f).max() for _, y_f in pairs))

    @property
    def z_with_negated_Yhat(self) -> np.ndarray:
        """The z of the twin, which has the opposite sign of Yhat in W_f."""
        size, (q, qd, _) = len(self.law.unknown_names), self.motion
        momenta = -np.array([self.law.init(*row).x[size:] for row in zip(q, qd, strict=True)])  # a (W, -W_k theta_k)
        rest = self.inputs / BANDWIDTH + momenta
        rest[:, : len(self.initial_z) - self.tau.shape[1]] *= -1.0
        return apply_low_pass(self.t, BANDWIDTH * (rest - momenta), self.initial_z)


@pytest.mark.parametrize("name", ["lu-puma4", "ur10", "stanford", "fork", *LOOPED])
def test_the_true_parameters_predict_the_filtered_torque(name: str) -> None:
    """y_f = W_f theta, and W_f is the filtered ordinary regressor, which needs accelerations."""
    robot = make_robot(name)
    run = FilterRun.of(make_law(robot))
    np.testing.assert_allclose(run.tau, kernels.inverse_dynamics(robot)(*run.motion), rtol=1e-9, atol=1e-8)
    z = run.z
    assert run.prediction_error(z) < SIMPSON_TOLERANCE
    Y = kernels.regressor(robot, parameters=run.law.unknown_names)(*run.motion)
    expected = apply_low_pass(run.t, BANDWIDTH * Y)
    for k in (0, 50, 500):
        np.testing.assert_allclose(
            run.filtered_regressor(k, z)[0], expected[k], rtol=0.0, atol=SIMPSON_TOLERANCE * float(abs(expected).max())
        )


@pytest.mark.parametrize("name", ["lu-puma4", "stanford", "five-bar"])
def test_wrong_filters_do_not_predict_the_torque(name: str) -> None:
    """The twins: Yhat with the opposite sign, and no torque of the known parameters."""
    run = FilterRun.of(make_law(make_robot(name)), steps=200)
    assert run.prediction_error(run.z) < 1e-5
    assert run.prediction_error(run.z_with_negated_Yhat) > 1e-2
    tau_f = apply_low_pass(run.t, BANDWIDTH * run.tau)
    W_f, y_f = run.filtered_regressor(len(tau_f) - 1, run.z)
    assert abs(W_f @ run.law.unknowns.nominal - y_f).max() < 1e-5 * abs(tau_f).max()
    assert abs(y_f - tau_f[-1]).max() > 1e-2 * abs(tau_f).max()


def test_coordinates_on_which_no_unknown_parameter_acts_are_not_predicted() -> None:
    robot = make_robot("lu-puma4")
    run = FilterRun.of(make_law(robot, learn=(f"{robot.actuated[2]}.fv",)), steps=50)
    W_f, y_f = run.filtered_regressor(20, run.z)
    assert W_f[[0, 1, 3]].tolist() == [[0.0]] * 3
    assert y_f[[0, 1, 3]].tolist() == [0.0] * 3
    assert abs(y_f[2]) > 1e-3


def make_other_laws(robot: Robot, adaptation: Any) -> list[Law]:
    shared = {"learn": select_unknown_names(robot), "adaptation": adaptation}
    return [
        ModifiedSlotineLi(robot, convergence=5.0, damping=5.0, **shared),
        QuasiComputedTorque(robot, convergence=5.0, **shared),
        Craig(robot, stiffness=25.0, damping=10.0, filtering=5.0, **shared),
        Walker(robot, convergence=5.0, feedback=5.0, **shared),
    ]


def test_every_adaptive_law_has_the_same_filters() -> None:
    robot = make_robot("lu-two-link")
    expected = FilterRun.of(make_law(robot)).z
    for law in make_other_laws(robot, FILTER):
        run = FilterRun.of(law)
        assert run.prediction_error(run.z) < SIMPSON_TOLERANCE
        np.testing.assert_allclose(run.z, expected, rtol=1e-9, atol=1e-8)


def test_rate_is_the_formula() -> None:
    """With W_f and y_f of a random state, full gain matrices, and a wrong estimate."""
    robot, rng = make_robot("lu-puma4"), np.random.default_rng(0)
    A, B = rng.normal(size=(len(select_unknown_names(robot)),) * 2), rng.normal(size=(4, 4))
    Gamma, R = A @ A.T + np.eye(len(A)), B @ B.T + np.eye(4)
    law = make_law(robot, Composite(Gamma, R, BANDWIDTH))
    gradient = make_law(robot, Gamma)
    q, qd, qr, qrd, qrdd = rng.normal(size=(5, 4))
    reference, size = Reference(qr, qrd, qrdd), len(law.unknown_names)
    x = law.init(q, qd).x + rng.normal(size=len(law.init(q, qd).x))
    W_f, y_f = FILTER.filtered_regressor(robot, law.unknowns, q, qd, x[size:])
    rates = [
        controller.step(State(0.0, start), 1.0, q, qd, reference)[1].x - start
        for controller, start in ((law, x), (gradient, x[:size]))
    ]
    expected = rates[1] - Gamma @ W_f.T @ R @ (W_f @ x[:size] - y_f)
    np.testing.assert_allclose(rates[0][:size], expected, rtol=1e-9, atol=1e-9 * float(abs(expected).max()))


def test_structural_zeros_have_no_state() -> None:
    """A link affects only the joints before it. Coordinates without unknown parameters have no torque to predict."""
    robot, zeros = ytheta.load("ur10"), np.zeros(6)
    base = base_parameters(robot)
    law = make_law(robot, base=base, learn=None)
    Y = kernels.regressor(robot, base).graph
    assert len(law.init(zeros, zeros).x) - 36 <= len(Y.places) + 6 < 36 * 6
    first = tuple(name for name in robot.parameter_names if name.startswith("shoulder_pan_joint."))
    assert first
    first_joint = make_law(robot, learn=first)
    assert len(first_joint.init(zeros, zeros).x) == len(first) + len(first) + 1
    no_unknowns = make_law(robot, learn=())
    assert no_unknowns.init(zeros, zeros).x.shape == (0,)
    no_unknowns.step(no_unknowns.init(zeros, zeros), 0.1, zeros, zeros, Reference(zeros, zeros, zeros))


# --- the Lyapunov function --------------------------------------------------------------------------------------------


def make_sum_of_sines(amplitudes: np.ndarray, rates: np.ndarray) -> ReferenceTrajectory:
    """Return a sum of sines, one column per joint."""

    def evaluate(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        angle = t[:, None, None] * rates
        s, c = amplitudes * np.sin(angle), amplitudes * np.cos(angle)
        return s.sum(axis=1), (rates * c).sum(axis=1), (-rates * rates * s).sum(axis=1)

    return evaluate


TRAJECTORY = make_sum_of_sines(np.array([[0.6, 0.8]]), np.array([[2.0, 3.0]]))


def simulate(
    law: Law, trajectory: ReferenceTrajectory, seconds: float, *, estimate: Any, offset: float = 0.0, **settings: Any
) -> Runs:
    loop = ClosedLoop(plant=law.robot, controller=law, **settings)
    q, qd, _ = trajectory(np.zeros(1))
    runs = loop.run(loop.init(q + offset, qd, estimate=np.array([estimate])), trajectory, seconds, every=1)
    assert runs.finished.all()
    return runs


def test_lyapunov_function_falls_at_the_proven_rate() -> None:
    """dV/dt = -rᵀ (K_D + F_v) r - eᵀ R e, also with unknown friction. Without prediction, V is larger."""
    robot, learn = add_friction(ytheta.load("lu-two-link")), (*UNKNOWNS, "joint1.fv", "joint2.fc")
    K, R = np.array([[5.0, 1.0], [1.0, 3.0]]), np.array([[0.4, 0.1], [0.1, 0.6]])
    F = np.diag([drive.viscous for _, drive in robot.drives])
    adaptation = Composite(1.0, prediction=R, bandwidth=BANDWIDTH)
    estimate = np.concatenate([INITIAL_ESTIMATE, [0.0, 0.0]])
    values = []
    for kind in (adaptation, 1.0):
        law = make_law(robot, kind, convergence=4.0, damping=K, learn=learn)
        truth = law.unknowns.nominal
        runs = simulate(law, TRAJECTORY, 1.0, estimate=estimate, offset=0.1, continuous=True)
        references = [Reference(*row) for row in zip(*TRAJECTORY(runs.t), strict=True)]
        rows = list(zip(runs.q[0], runs.qd[0], runs.controller_state[0], references, strict=True))
        V = np.array([law.lyapunov(State(0.0, x), q, qd, r, truth) for q, qd, x, r in rows])
        values.append(V)
        assert (np.diff(V) <= 1e-9 * V[0]).all()
        power = []
        for q, qd, x, r in rows if kind is adaptation else ():
            s = qd - r.qd + 4.0 * (q - r.q)
            W_f, y_f = adaptation.filtered_regressor(robot, law.unknowns, q, qd, x[len(learn) :])
            e = W_f @ x[: len(learn)] - y_f
            np.testing.assert_allclose(e, W_f @ (x[: len(learn)] - truth), rtol=0.0, atol=1e-6)
            power.append((s @ (K + F) @ s, e @ R @ e))
        if kind is adaptation:
            dissipated = cumulative_simpson(np.array(power), x=runs.t, axis=0, initial=0.0)
            assert abs(V - V[0] + dissipated.sum(axis=1)).max() < 1e-7 * V[0]
            assert abs(V - V[0] + dissipated[:, 0]).max() > 1e-2 * V[0]  # the twin: without the term of the prediction
    composite, gradient = values
    assert (composite <= gradient).all()
    assert composite[-1] < 0.7 * gradient[-1]


# --- convergence ------------------------------------------------------------------------------------------------------

EXCITING = make_sum_of_sines(
    np.array([[0.25, -0.2], [0.3, 0.25], [-0.15, 0.3]]),
    np.array([[2.1, 2.7], [3.3, 4.1], [5.2, 5.9]]),
)


def compute_suitable_gain(robot: Robot, unknown: tuple[str, ...], rate: float) -> np.ndarray:
    """Return the gain with which prediction alone makes all parameters converge at the same mean rate."""
    Y = kernels.regressor(robot, parameters=unknown)(*EXCITING(np.linspace(0.0, 20.0, 801)))
    gain = rate * np.linalg.inv(np.einsum("tji,tjk->ik", Y, Y) / len(Y))
    return np.asarray((gain + gain.T) / 2.0)


def test_parameters_converge_even_if_tracking_errors_are_small() -> None:
    """All base parameters of a stiff loop that starts on its reference: only the torque has enough information."""
    robot = ytheta.load("lu-two-link")
    base = base_parameters(robot)
    gain = compute_suitable_gain(robot, base.independent, 0.7)
    estimates = []
    for kind, seconds in ((gain, 15.0), (Composite(gain, 1.0, 10.0), 15.0), (Composite(gain, 1e-12, 10.0), 2.0)):
        law = make_law(robot, kind, base=base, learn=None, convergence=10.0, damping=60.0)
        estimates.append(simulate(law, EXCITING, seconds, estimate=0.6 * base.beta, period=2e-3).estimate[0])
    gradient, composite, tiny = estimates
    errors = [np.linalg.norm(x[-1] - base.beta) / np.linalg.norm(0.4 * base.beta) for x in (gradient, composite)]
    assert errors[0] > 0.5
    assert errors[1] < 0.01
    np.testing.assert_allclose(
        tiny, gradient[: len(tiny)], rtol=0.0, atol=1e-8
    )  # with a weight of almost zero, it is the gradient
    assert abs(composite[: len(tiny)] - tiny).max() > 0.1


def test_prediction_uses_the_limited_torque() -> None:
    """The limits are active much of the time. The slope is then wrong, but has little weight here.

    The twin predicts from the torque without limits.
    """
    robot, period, learn, limits = ytheta.load("lu-two-link"), 2e-3, ("link2.m", "load.m"), np.array([30.0, 8.0])
    gain, forward = compute_suitable_gain(robot, learn, 0.07), kernels.forward_dynamics(robot)
    t, truth, errors, limited = period * np.arange(2500), np.array([2.0, 1.2]), [], 0
    for torque_limits in (limits, None):
        law = make_law(
            robot, Composite(gain, 10.0, 10.0), learn=learn, convergence=5.0, damping=20.0, torque_limits=torque_limits
        )
        references = [Reference(*row) for row in zip(*EXCITING(t), strict=True)]
        q, qd = references[0].q, references[0].qd
        state = law.init(q, qd, estimate=0.6 * truth, t=-period)
        for now, reference in zip(t.tolist(), references, strict=True):
            tau, state = law.step(state, now, q, qd, reference)
            tau = np.clip(tau, -limits, limits)
            limited += bool((abs(tau) == limits).any())
            middle = qd + period / 2 * forward.one(q, qd, tau)
            qdd = forward.one(q + period / 2 * qd, middle, tau)
            q, qd = q + period * middle, qd + period * qdd
        errors.append(np.linalg.norm(state.x[:2] - truth) / np.linalg.norm(0.4 * truth))
    assert limited > 0.7 * len(t)  # in both runs together
    assert errors[0] < 0.1
    assert errors[1] > 5.0


# --- settings, factors, compiled loops --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ((0.0, 1.0, 10.0), "gain has the entry 0; gains must be greater than zero"),
        (([1.0, 2.0], 1.0, 10.0), r"gain has shape \(2,\); give one number, 4 numbers \(one per unknown parameter\)"),
        ((1.0, -1.0, 10.0), "prediction has the entry -1; gains must be greater than zero"),
        ((1.0, [1.0] * 3, 10.0), r"prediction has shape \(3,\); give one number, 2 numbers \(one per actuated coordin"),
        ((1.0, [[1.0, 2.0], [2.0, 1.0]], 10.0), "prediction is not positive definite"),
        ((1.0, 1.0, 0.0), "bandwidth has the entry 0"),
        ((1.0, 1.0, -3.0), "bandwidth has the entry -3"),
        ((1.0, 1.0, np.inf), "bandwidth has an entry that is not finite"),
    ],
)
def test_invalid_settings_are_refused(settings: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_law(ytheta.load("lu-two-link"), Composite(*settings), learn=UNKNOWNS)


def test_a_factor_scales_the_gain() -> None:
    robot, rng = ytheta.load("lu-two-link"), np.random.default_rng(1)
    law, scaled = (make_law(robot, Composite(gain, 0.5, 10.0), learn=UNKNOWNS) for gain in (0.2, 0.6))
    q, qd, qr, qrd, qrdd = rng.normal(size=(5, 2))
    x, factors = law.init(q, qd).x + rng.normal(size=len(law.init(q, qd).x)), np.array([3.0])
    output = law.compile(law.graph_with(("adaptation",))).one(q, qd, qr, qrd, qrdd, x, factors)
    expected = law.compile(scaled.graph).one(q, qd, qr, qrd, qrdd, x)
    np.testing.assert_allclose(output, expected, rtol=1e-12)
    value = law.compile(law.lyapunov_graph(("adaptation",))).one(q, qd, qr, qrd, qrdd, x, factors, INITIAL_ESTIMATE)[0]
    expected_value = scaled.lyapunov(State(0.0, x), q, qd, Reference(qr, qrd, qrdd), INITIAL_ESTIMATE)
    assert value == pytest.approx(expected_value, rel=1e-12)


@pytest.mark.parametrize("name", ["lu-puma4", "five-bar"])
def test_compiled_and_plain_loops_agree(name: str) -> None:
    robot = make_robot(name)
    masses = tuple(n for n in robot.parameter_names if n.endswith(".m"))[-2:]
    law = make_law(robot, Composite(1.0, 0.5, 20.0), learn=masses, torque_limits=80.0)
    q, qd = sample_starts(robot, 1, spread=0.02)
    trajectory, estimate = swing(robot, size=0.1), 0.7 * np.ones((1, 2))
    loop = ClosedLoop(plant=robot, controller=law)
    fast = loop.run(loop.init(q, qd, estimate=estimate), trajectory, 0.1)
    slow = PlainLoop(plant=OwnPlant.of(robot), controller=law).run(q[0], qd[0], trajectory, 0.1, estimate=estimate[0])
    assert fast.finished.all()
    assert fast.controller_state.shape[2] > 2
    for field in ("q", "qd", "tau", "controller_state", "final_controller_state"):
        np.testing.assert_allclose(getattr(fast, field), getattr(slow, field), rtol=1e-9, atol=1e-9, err_msg=field)
