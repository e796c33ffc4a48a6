"""Natural adaptation: its rate and Lyapunov function, physical consistency, independence of frames and units."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

import ytheta
from tests.support.adaptation_rates import make_rate_function, simulate_sampled
from tests.support.control_loop import simulate_continuous
from tests.support.control_samples import add_friction
from tests.support.lyapunov import REFERENCE, balance_error, never_grows, true_parameters
from tests.support.ur10_tracking import UR10_REFERENCE, ur10, ur10_damping
from ytheta.control import Craig, DeadZone, Leakage, ModifiedSlotineLi, Natural, QuasiComputedTorque, SlotineLi, Walker
from ytheta.control.controller import Reference, State
from ytheta.control.laws.law import Law
from ytheta.errors import InputError
from ytheta.identifiability.registry import base_parameters
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia, transport_matrix
from ytheta.robot.kinematics import change_link_frames
from ytheta.robot.parts import Force
from ytheta.robot.robot import Robot

UNITS = [Inertia(tuple(unit)).pseudo for unit in np.eye(10).tolist()]
LINKS = ("link1.*", "link2.*", "load.*")


@cache
def make_solid_arm(*, friction: bool = False) -> Robot:
    """Return the two-link arm with links of finite extent, and a spring."""
    robot = ytheta.load("lu-two-link")
    tensor = ((0.02, 0.002, 0.0), (0.002, 0.03, -0.001), (0.0, -0.001, 0.025))
    bodies = {name: Inertia.about_center(2.0, (0.2, 0.02, -0.01), tensor) for name in ("link1", "link2")}
    spring = Force("spring", (("joint2", "joint2 - 0.2"),), value=0.5)
    robot = replace(robot.with_inertias(bodies), forces=(spring,))
    return add_friction(robot) if friction else robot


def to_pseudo(parameters: np.ndarray) -> np.ndarray:
    return Inertia(tuple(parameters.tolist())).pseudo


def from_pseudo(P: np.ndarray) -> np.ndarray:
    return Inertia.from_pseudo(P).vector


def perturb_inertia(row: np.ndarray, rng: np.random.Generator, size: float) -> np.ndarray:
    """Return another physically consistent inertia, whose P differs by factors of about exp(size)."""
    C, N = np.linalg.cholesky(to_pseudo(row)), rng.normal(size=(4, 4))
    return from_pseudo(C @ scipy.linalg.expm(size * (N + N.T) / 2) @ C.T)


def perturb_inertias(robot: Robot, seed: int, size: float = 0.5) -> np.ndarray:
    """Return physically consistent estimates of all links."""
    rng = np.random.default_rng(seed)
    rows = robot.numeric.theta[: 10 * (len(robot.merged.links) - 1)].reshape(-1, 10)
    return np.concatenate([perturb_inertia(row, rng, size) for row in rows])


def compute_smallest_eigenvalue(x: np.ndarray) -> float:
    """Return the smallest eigenvalue of all pseudo-inertias at all instants."""
    return min(float(np.linalg.eigvalsh(to_pseudo(row))[0]) for row in x.reshape(-1, 10))


def make_slope_matrix(slope: np.ndarray) -> np.ndarray:
    """Return the symmetric L with tr(L E_k) = slope_k, by its definition and not as the module computes it."""
    pairs = [(i, j) for i in range(4) for j in range(i, 4)]
    weights = [[E[i, j] * (1 if i == j else 2) for i, j in pairs] for E in UNITS]
    L = np.zeros((4, 4))
    for (i, j), entry in zip(pairs, np.linalg.solve(np.array(weights), slope), strict=True):
        L[i, j] = L[j, i] = entry
    return L


@pytest.mark.parametrize("step", [0.0, 1e-2])
def test_rate_is_the_formula(step: float) -> None:
    """For links, positive parameters, and parameters of either sign."""
    robot = make_solid_arm(friction=True)
    learn = ("load.*", "joint1.*", "spring.k")
    rate = make_rate_function(Natural(0.3, step=step, signed=0.7), robot, learn)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        slope, positive = 3.0 * rng.normal(size=15), rng.uniform(0.1, 2.0, 3)
        x = np.concatenate([perturb_inertias(robot, seed)[20:], positive, rng.normal(size=2)])
        P, L = to_pseudo(x[:10]), make_slope_matrix(slope[:10])
        size = np.sqrt(np.trace(L @ P @ L @ P))
        body = -0.3 * from_pseudo(P @ L @ P) / (1.0 + 2.0 * step * 0.3 * size)
        single = -0.3 * positive**2 * slope[10:13] / (1.0 + 2.0 * step * 0.3 * abs(positive * slope[10:13]))
        expected = np.concatenate([body, single, -0.7 * slope[13:]])
        np.testing.assert_allclose(rate(x, slope, np.zeros(2)), expected, rtol=1e-10, atol=1e-12)


def compute_divergence(A: np.ndarray, B: np.ndarray) -> float:
    ratio = np.linalg.solve(B, A)
    return float(np.trace(ratio) - np.linalg.slogdet(ratio)[1] - len(A))


def test_lyapunov_function_falls_at_the_proven_rate() -> None:
    """dV/dt = -rᵀ (K_D + F_v) r with unknown links, rotor inertia, friction, offset and spring.

    The twins: the divergence with swapped arguments, and a step that is not zero.
    """
    robot, Lambda, K = make_solid_arm(friction=True), 4.0, np.array([[5.0, 1.0], [1.0, 3.0]])
    learn = (*LINKS, "joint1.*", "joint2.fv", "joint2.fc", "spring.k")
    F = np.diag([drive.viscous for _, drive in robot.drives])

    def power(_: float, q: np.ndarray, qd: np.ndarray, r: Reference) -> float:
        s = qd - r.qd + Lambda * (q - r.q)
        return float(s @ (K + F) @ s)

    def law(step: float) -> SlotineLi:
        adaptation = Natural(2.0, step=step, signed=2.0)
        return SlotineLi(robot, convergence=Lambda, damping=K, adaptation=adaptation, learn=learn)

    start = np.concatenate([perturb_inertias(robot, 0), [0.3, 0.2, 0.5, 0.0, 0.1, 0.6, -0.2]])
    run = simulate_continuous(law(0.0), REFERENCE, plant=robot, seconds=2.0, estimate=start, power=power)
    assert never_grows(run)
    assert balance_error(run) < 1e-7
    V, true = run.lyapunov(true_parameters(run.law)), true_parameters(run.law)
    assert V[-1] < 0.9 * V[0]

    def swap_arguments(x: np.ndarray) -> float:
        """Return the change of V if the arguments of every link's divergence were swapped."""
        links = [(to_pseudo(x[k : k + 10]), to_pseudo(true[k : k + 10])) for k in (0, 10, 20)]
        return sum(compute_divergence(P, P_true) - compute_divergence(P_true, P) for P, P_true in links) / 2.0

    swapped = V + np.array([swap_arguments(x) for x in run.x])
    assert abs(swapped - swapped[0] + run.dissipated).max() > 1e-3 * V[0]
    sampled = simulate_continuous(law(0.5), REFERENCE, plant=robot, seconds=2.0, estimate=start, power=power)
    assert balance_error(sampled) > 1e-4


def make_adaptive_laws(robot: Robot, adaptation: Any) -> list[Law]:
    settings: dict[str, Any] = {"adaptation": adaptation, "learn": LINKS}
    return [
        SlotineLi(robot, convergence=5.0, damping=20.0, **settings),
        ModifiedSlotineLi(robot, convergence=5.0, damping=20.0, **settings),
        QuasiComputedTorque(robot, convergence=10.0, **settings),
        Walker(robot, convergence=5.0, feedback=20.0, **settings),
        Craig(robot, stiffness=49.0, damping=14.0, filtering=7.0, **settings),
    ]


@pytest.mark.parametrize("index", range(5))
def test_lyapunov_function_falls_with_every_adaptive_law(index: int) -> None:
    robot = make_solid_arm()
    law = make_adaptive_laws(robot, Natural(0.02 if index in (2, 4) else 0.3, step=0.0))[index]
    run = simulate_continuous(
        law, REFERENCE, plant=robot, seconds=1.0, estimate=perturb_inertias(robot, 1, 0.3), rtol=1e-8, points=101
    )
    assert never_grows(run, tolerance=1e-7)
    assert abs(run.x[-1] - run.x[0]).max() > 1e-3
    assert compute_smallest_eigenvalue(run.x) > 0.0


LOAD_RATES = {step: make_rate_function(Natural(0.5, step=step), make_solid_arm(), ("load.*",)) for step in (0.0, 1e-3)}


@given(st.integers(0, 100_000), st.floats(-3.0, 25.0), st.booleans())
def test_every_step_keeps_P_positive_definite(seed: int, exponent: float, thin: bool) -> None:
    """At least half of P remains for any slope. Without the bound, or with longer steps, P becomes indefinite."""
    rng = np.random.default_rng(seed)
    P = scipy.linalg.expm(1.5 * rng.normal(size=(4, 4)))
    P = P @ P.T
    v = rng.normal(size=4)
    slope = np.array([v @ E @ v for E in UNITS]) if thin else rng.normal(size=10)
    slope *= 10.0**exponent / np.sqrt(abs(np.trace(make_slope_matrix(slope) @ P @ make_slope_matrix(slope) @ P)))
    x = from_pseudo(P)
    bounded, free = (LOAD_RATES[step](x, slope, np.zeros(2)) for step in (1e-3, 0.0))
    # The condition number of P, which amplifies rounding, reaches 1e8 and more.
    rounding = 1e-15 * np.linalg.cond(P)
    for fraction in (1.0, 0.5, 1e-3):
        after = to_pseudo(x + fraction * 1e-3 * bounded)
        assert scipy.linalg.eigh(after, P, eigvals_only=True)[0] >= 0.5 - 100.0 * rounding
    if thin and exponent > 5.0:  # the only eigenvalue of A is |A|, and positive
        assert np.linalg.eigvalsh(to_pseudo(x + 1e-3 * free))[0] < 0.0
        assert np.linalg.eigvalsh(to_pseudo(x + 1.0 * bounded))[0] < 0.0


@cache
def make_law(robot: str, adaptation: Natural | float) -> SlotineLi:
    """Return a law that several tests simulate; cached, so that it is compiled once."""
    if robot == "ur10":
        return SlotineLi(ur10(), convergence=8.0, damping=ur10_damping(), adaptation=adaptation)
    return SlotineLi(make_solid_arm(), convergence=10.0, damping=20.0, adaptation=adaptation, learn=LINKS)


NATURAL = {"solid": Natural(2.0, step=2e-3), "ur10": Natural(50.0, step=2e-3)}


@pytest.mark.parametrize("seed", range(3))
def test_estimates_stay_consistent_in_a_closed_loop(seed: int) -> None:
    """The estimates of natural adaptation are consistent at every instant, those of the gradient are not."""
    settings: dict[str, Any] = {
        "plant": make_solid_arm(),
        "seconds": 2.0,
        "estimate": perturb_inertias(make_solid_arm(), seed),
    }
    natural, gradient, constant = (
        simulate_sampled(make_law("solid", adaptation), REFERENCE, offset=0.2, **settings)
        for adaptation in (NATURAL["solid"], 0.5, 1e-9)
    )
    assert compute_smallest_eigenvalue(natural.x) > 0.0
    assert compute_smallest_eigenvalue(gradient.x) < 0.0
    assert abs(natural.error[-300:]).max() < 0.5 * abs(constant.error[-300:]).max()


@pytest.mark.parametrize("seed", range(3))
def test_estimates_of_the_ur10_stay_consistent(seed: int) -> None:
    """All sixty parameters are unknown. With a gradient gain of 0.2, the loop diverges, because the wrist is light."""
    settings: dict[str, Any] = {"plant": ur10(), "seconds": 0.6, "estimate": perturb_inertias(ur10(), seed)}
    natural, gradient = (
        simulate_sampled(make_law("ur10", adaptation), UR10_REFERENCE, offset=0.1, **settings)
        for adaptation in (NATURAL["ur10"], 0.02)
    )
    assert compute_smallest_eigenvalue(natural.x) > 0.0
    assert compute_smallest_eigenvalue(gradient.x) < 0.0


def evaluate_rate(law: Law, x: np.ndarray, scale: float = 1.0) -> np.ndarray:
    """Return the rate at a state away from the reference."""
    rng = np.random.default_rng(3)
    q, qd, qr, qrd, qrdd = rng.normal(size=(5, 6))
    return (law.step(State(0.0, x), 1.0, q, qd, Reference(qr, qrd, qrdd))[1].x - x) / scale


@pytest.mark.parametrize("adaptation", [Natural(0.2), 0.2])
def test_the_rate_does_not_depend_on_link_frames(adaptation: Any) -> None:
    """The natural rate of a body is the same in another frame; the rate of the gradient is not."""
    robot, rng = ur10(), np.random.default_rng(0)
    links = [link.name for link in robot.merged.links[1:]]
    frames = {name: Frame.shift(*rng.normal(size=3).tolist()) @ Frame.from_rpy(*rng.normal(size=3)) for name in links}
    turned = change_link_frames(robot, frames)
    T = scipy.linalg.block_diag(*(transport_matrix(frames[name].inverse()) for name in links))
    x = perturb_inertias(robot, 0)
    settings: dict[str, Any] = {"convergence": 5.0, "damping": 3.0, "adaptation": adaptation}
    expected, rate = (
        T @ evaluate_rate(SlotineLi(robot, **settings), x),
        evaluate_rate(SlotineLi(turned, **settings), T @ x),
    )
    difference = abs(rate - expected).max() / abs(expected).max()
    assert difference < 1e-10 if isinstance(adaptation, Natural) else difference > 0.1


def convert_units(robot: Robot, length: float, mass: float) -> Robot:
    """Return the robot in other units: 1 m is ``length`` units of length, 1 kg is ``mass`` units of mass."""

    def convert(frame: Frame) -> Frame:
        x, y, z = (float(entry) * length for entry in frame.translation)  # type: ignore[arg-type]
        return Frame((x, y, z), frame.rotation)

    D = np.diag([length, length, length, 1.0]) * np.sqrt(mass)
    x, y, z = (length * entry for entry in robot.gravity)
    return replace(
        robot,
        links=tuple(replace(ln, inertia=Inertia.from_pseudo(D @ ln.inertia.pseudo @ D)) for ln in robot.links),
        joints=tuple(replace(jn, placement=convert(jn.placement), seat=convert(jn.seat)) for jn in robot.joints),
        gravity=(x, y, z),
    )


@pytest.mark.parametrize("natural", [True, False])
def test_the_rate_does_not_depend_on_units(natural: bool) -> None:
    """With gain (1/J) and damping in the new units, the natural rate is the same; the rate of the gradient is not."""
    robot, length, mass = ur10(), 3.0, 0.2
    joule = mass * length**2
    power = {"m": 0, "mx": 1, "my": 1, "mz": 1}
    units = np.array([mass * length ** power.get(name.rpartition(".")[2], 2) for name in robot.parameter_names[:60]])
    x = perturb_inertias(robot, 0)

    def rate(robot: Robot, x: np.ndarray, unit: float) -> np.ndarray:
        adaptation = Natural(0.2 / unit) if natural else 0.2 / unit
        return evaluate_rate(SlotineLi(robot, convergence=5.0, damping=3.0 * unit, adaptation=adaptation), x)

    expected, converted = units * rate(robot, x, 1.0), rate(convert_units(robot, length, mass), units * x, joule)
    difference = abs(converted - expected).max() / abs(expected).max()
    assert difference < 1e-10 if natural else difference > 0.1


@pytest.mark.parametrize("step", [0.0, 0.1])
def test_a_factor_scales_the_gain(step: float) -> None:
    """A factor also scales the gain in the bound on the rate."""
    robot, factor = make_solid_arm(friction=True), 3.0
    learn = (*LINKS, "joint1.*")
    law, scaled = (
        SlotineLi(robot, convergence=5.0, damping=3.0, adaptation=Natural(gain, step), learn=learn)
        for gain in (0.5, 0.5 * factor)
    )
    x = np.concatenate([perturb_inertias(robot, 2), [0.3, 0.2, 0.5, 0.1]])
    r = REFERENCE(0.3)
    inputs = (r.q + 0.3, r.qd - 0.2, r.q, r.qd, r.qdd, x)
    output = law.compile(law.graph_with(("adaptation",))).one(*inputs, np.array([factor]))
    np.testing.assert_allclose(output, scaled.compile(scaled.graph).one(*inputs), rtol=1e-10, atol=1e-13)
    assert abs(output - law.compile(law.graph).one(*inputs)).max() > 1e-3
    value = law.compile(law.lyapunov_graph(("adaptation",))).one(*inputs, np.array([factor]), true_parameters(law))[0]
    assert value == pytest.approx(scaled.lyapunov(State(0.0, x), *inputs[:2], r, true_parameters(law)), rel=1e-10)


def test_estimates_stay_consistent_with_loops_and_a_leak() -> None:
    """Two links of the five-bar start from a wrong estimate, which decays to the description."""
    robot = ytheta.load("five-bar")
    learn = ("left_crank.*", "right_rod.*")
    law = SlotineLi(robot, convergence=8.0, damping=2.0, adaptation=Leakage(Natural(0.5, step=5e-3), 2.0), learn=learn)
    home = dict(zip(robot.coordinates, robot.home_coordinates, strict=True))
    at = np.array([home[name] for name in robot.actuated])
    rows = true_parameters(law).reshape(2, 10)
    rng = np.random.default_rng(0)
    start = np.concatenate([perturb_inertia(row, rng, 0.5) for row in rows])
    still = Reference(at, np.zeros(2), np.zeros(2))
    run = simulate_sampled(law, lambda _: still, plant=robot, seconds=0.25, period=5e-3, estimate=start, offset=0.1)
    assert compute_smallest_eigenvalue(run.x) > 0.0
    assert np.linalg.norm(run.x[-1] - start) > 0.1 * np.linalg.norm(start)


def test_invalid_selections_and_settings_are_refused() -> None:
    robot = ur10()
    settings: dict[str, Any] = {"convergence": 5.0, "damping": 3.0}
    with pytest.raises(InputError, match=r"base parameters combine several links; leave base out and learn whole"):
        SlotineLi(robot, base_parameters(robot), adaptation=Natural(0.5), **settings)
    with pytest.raises(
        InputError, match=r"of 'wrist_3_link' only m, mx are unknown; learn the whole link, learn=\('wri"
    ):
        SlotineLi(robot, adaptation=Natural(0.5), learn=("wrist_3_link.m", "wrist_3_link.mx"), **settings)
    SlotineLi(robot, adaptation=Natural(0.5), learn=(), **settings).graph  # noqa: B018
    for adaptation, message in (
        (Natural(0.0), "gain has the entry 0"),
        (Natural(-1.0), "gain has the entry -1"),
        (Natural(0.5, signed=-2.0), "signed has the entry -2"),
        (Natural(0.5, step=-1e-3), "step is -0.001"),
        (Natural(0.5, step=np.inf), "step is inf"),
    ):
        with pytest.raises(InputError, match=message):
            SlotineLi(robot, adaptation=adaptation, **settings)


def test_inconsistent_initial_estimates_are_refused() -> None:
    q, robot = np.zeros(2), make_solid_arm(friction=True)
    law = SlotineLi(robot, convergence=5.0, damping=3.0, adaptation=Natural(0.5), learn=(*LINKS, "joint*.fv"))
    good = true_parameters(law)
    law.init(q, q)
    ball = Inertia.about_center(1.0, (0.3, 0.0, 0.0), ((1e-4, 0.0, 0.0), (0.0, 1e-4, 0.0), (0.0, 0.0, 1e-4)))
    rod = Inertia.about_center(1.0, (0.3, 0.1, 0.0), ((0.0, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)))
    broken = Inertia.about_center(1.0, (0.3, 0.1, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.3)))
    for body, why in (
        (Inertia.point_mass(1.0, (0.3, 0.1, -0.2)), "all mass lies in a plane, on a line or in a point"),
        (rod, "all mass lies in a plane, on a line or in a point"),
        (broken, "triangle inequality violated"),
        (Inertia((-1.0, *ball.parameters[1:])), "negative mass"),
        (Inertia(), "no mass"),
    ):
        x = good.copy()
        x[10:20] = body.vector
        with pytest.raises(InputError, match=rf"the estimate of link 'link2'.*\(.*{why}.*that of a small ball"):
            law.init(q, q, estimate=x)
    x = good.copy()
    x[10:20] = ball.vector
    law.init(q, q, estimate=x)
    for value in (0.0, -0.1):
        x[-1] = value
        with pytest.raises(InputError, match=rf"cannot start at joint2.fv = {value:g}: .* a small one if nothing is"):
            law.init(q, q, estimate=x)


def test_a_description_without_bodies_starts_from_plausible_bodies() -> None:
    q, flat = np.zeros(2), ytheta.load("lu-two-link")  # its links are point masses
    for adaptation in (Natural(0.5), DeadZone(Natural(0.5), 0.1)):
        law = SlotineLi(flat, convergence=5.0, damping=3.0, adaptation=adaptation)
        x = law.init(q, q).x
        assert compute_smallest_eigenvalue(x) > 0.0
        assert compute_smallest_eigenvalue(true_parameters(law)) < 1e-12
        np.testing.assert_allclose(x.reshape(-1, 10)[:, :4], flat.theta[:30].reshape(-1, 10)[:, :4], rtol=1e-12)
        with pytest.raises(InputError, match="the estimate of link 'link1'"):
            law.init(q, q, estimate=true_parameters(law))


def test_a_description_with_bodies_is_the_start() -> None:
    q, robot = np.zeros(2), make_solid_arm()
    mixed = robot.with_inertias({"link2": Inertia.point_mass(1.0, (0.3, 0.1, -0.2))})
    for arm, unchanged in ((robot, slice(0, 30)), (mixed, [*range(10), *range(20, 30)])):
        law = SlotineLi(arm, convergence=5.0, damping=3.0, adaptation=Natural(0.5))
        x, truth = law.init(q, q).x[:30], true_parameters(law)[:30]
        assert (x[unchanged] == truth[unchanged]).all()
        assert (x == truth).all() == (arm is robot)
