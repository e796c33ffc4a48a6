"""Natural adaptation: its rate and its proof, bodies that stay bodies, frames and units that do not matter."""

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
from tests.support.adaptation_rates import rates, sampled
from tests.support.control_loop import run
from tests.support.control_samples import add_friction
from tests.support.lyapunov import COURSE, balance, never_grows, truth
from tests.support.ur10_tracking import UR10_REFERENCE, ur10, ur10_damping
from ytheta.control import Craig, Leakage, ModifiedSlotineLi, Natural, QuasiComputedTorque, SlotineLi, Walker
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
def solid(*, friction: bool = False) -> Robot:
    """The two-link arm with links that have volume, and a spring."""
    robot = ytheta.load("lu-two-link")
    tensor = ((0.02, 0.002, 0.0), (0.002, 0.03, -0.001), (0.0, -0.001, 0.025))
    bodies = {name: Inertia.about_center(2.0, (0.2, 0.02, -0.01), tensor) for name in ("link1", "link2")}
    spring = Force("spring", (("joint2", "joint2 - 0.2"),), value=0.5)
    robot = replace(robot.with_inertias(bodies), forces=(spring,))
    return add_friction(robot) if friction else robot


def pseudo(ten: np.ndarray) -> np.ndarray:
    return Inertia(tuple(ten.tolist())).pseudo


def ten(P: np.ndarray) -> np.ndarray:
    return Inertia.from_pseudo(P).vector


def other(row: np.ndarray, rng: np.random.Generator, size: float) -> np.ndarray:
    """Another body, whose P differs by factors around exp(size) in the directions of this one's."""
    C, N = np.linalg.cholesky(pseudo(row)), rng.normal(size=(4, 4))
    return ten(C @ scipy.linalg.expm(size * (N + N.T) / 2) @ C.T)


def other_bodies(robot: Robot, seed: int, size: float = 0.5) -> np.ndarray:
    """Estimates of all links that some bodies have."""
    rng = np.random.default_rng(seed)
    rows = robot.numeric.theta[: 10 * (len(robot.merged.links) - 1)].reshape(-1, 10)
    return np.concatenate([other(row, rng, size) for row in rows])


def least(x: np.ndarray) -> float:
    """The smallest eigenvalue of any pseudo-inertia at any instant."""
    return min(float(np.linalg.eigvalsh(pseudo(row))[0]) for row in x.reshape(-1, 10))


def covector(slope: np.ndarray) -> np.ndarray:
    """L with tr(L E_k) = slope_k, by least squares over symmetric matrices: as it is defined, not as it is computed."""
    pairs = [(i, j) for i in range(4) for j in range(i, 4)]
    weights = [[E[i, j] * (1 if i == j else 2) for i, j in pairs] for E in UNITS]
    L = np.zeros((4, 4))
    for (i, j), entry in zip(pairs, np.linalg.solve(np.array(weights), slope), strict=True):
        L[i, j] = L[j, i] = entry
    return L


@pytest.mark.parametrize("step", [0.0, 1e-2])
def test_the_rate_is_its_formula(step: float) -> None:
    """Links, positive ones and those of either sign, each in the way the docstring says."""
    robot = solid(friction=True)
    learn = ("load.*", "joint1.*", "spring.k")
    found = rates(Natural(0.3, step=step, signed=0.7), robot, learn)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        slope, positive = 3.0 * rng.normal(size=15), rng.uniform(0.1, 2.0, 3)
        x = np.concatenate([other_bodies(robot, seed)[20:], positive, rng.normal(size=2)])
        P, L = pseudo(x[:10]), covector(slope[:10])
        size = np.sqrt(np.trace(L @ P @ L @ P))
        body = -0.3 * ten(P @ L @ P) / (1.0 + 2.0 * step * 0.3 * size)
        single = -0.3 * positive**2 * slope[10:13] / (1.0 + 2.0 * step * 0.3 * abs(positive * slope[10:13]))
        expected = np.concatenate([body, single, -0.7 * slope[13:]])
        np.testing.assert_allclose(found(x, slope, np.zeros(2)), expected, rtol=1e-10, atol=1e-12)


def divergence(A: np.ndarray, B: np.ndarray) -> float:
    ratio = np.linalg.solve(B, A)
    return float(np.trace(ratio) - np.linalg.slogdet(ratio)[1] - len(A))


def test_the_proof_balances() -> None:
    """dV/dt = -rᵀ (K_D + F_v) r, with whole links, rotor, friction, an offset and a spring learnt at once.

    The twins: the divergence the other way round, and a step that is not zero.
    """
    robot, Lambda, K = solid(friction=True), 4.0, np.array([[5.0, 1.0], [1.0, 3.0]])
    learn = (*LINKS, "joint1.*", "joint2.fv", "joint2.fc", "spring.k")
    F = np.diag([drive.viscous for _, drive in robot.drives])

    def power(_: float, q: np.ndarray, qd: np.ndarray, r: Reference) -> float:
        s = qd - r.qd + Lambda * (q - r.q)
        return float(s @ (K + F) @ s)

    def law(step: float) -> SlotineLi:
        adaptation = Natural(2.0, step=step, signed=2.0)
        return SlotineLi(robot, convergence=Lambda, damping=K, adaptation=adaptation, learn=learn)

    start = np.concatenate([other_bodies(robot, 0), [0.3, 0.2, 0.5, 0.0, 0.1, 0.6, -0.2]])
    done = run(law(0.0), COURSE, plant=robot, seconds=2.0, estimate=start, power=power)
    assert never_grows(done)
    assert balance(done) < 1e-7
    V, true = done.lyapunov(truth(done.law)), truth(done.law)
    assert V[-1] < 0.9 * V[0]

    def swapped(x: np.ndarray) -> float:
        """What V would gain if every link's divergence were turned round."""
        links = [(pseudo(x[k : k + 10]), pseudo(true[k : k + 10])) for k in (0, 10, 20)]
        return sum(divergence(P, P_true) - divergence(P_true, P) for P, P_true in links) / 2.0

    turned = V + np.array([swapped(x) for x in done.x])
    assert abs(turned - turned[0] + done.dissipated).max() > 1e-3 * V[0]
    slowed = run(law(0.5), COURSE, plant=robot, seconds=2.0, estimate=start, power=power)
    assert balance(slowed) > 1e-4


def laws(robot: Robot, adaptation: Any) -> list[Law]:
    settings: dict[str, Any] = {"adaptation": adaptation, "learn": LINKS}
    return [
        SlotineLi(robot, convergence=5.0, damping=20.0, **settings),
        ModifiedSlotineLi(robot, convergence=5.0, damping=20.0, **settings),
        QuasiComputedTorque(robot, convergence=10.0, **settings),
        Walker(robot, convergence=5.0, feedback=20.0, **settings),
        Craig(robot, stiffness=49.0, damping=14.0, filtering=7.0, **settings),
    ]


@pytest.mark.parametrize("place", range(5))
def test_with_every_law_that_learns_v_falls(place: int) -> None:
    robot = solid()
    law = laws(robot, Natural(0.02 if place in (2, 4) else 0.3, step=0.0))[place]
    done = run(law, COURSE, plant=robot, seconds=1.0, estimate=other_bodies(robot, 1, 0.3), rtol=1e-8, points=101)
    assert never_grows(done, allowed=1e-7)
    assert abs(done.x[-1] - done.x[0]).max() > 1e-3
    assert least(done.x) > 0.0


LOAD = {step: rates(Natural(0.5, step=step), solid(), ("load.*",)) for step in (0.0, 1e-3)}


@given(st.integers(0, 100_000), st.floats(-3.0, 25.0), st.booleans())
def test_no_step_leaves_the_bodies(seed: int, size: float, thin: bool) -> None:
    """Slopes of any size keep half of P at least; without the bound, or with steps beyond it, large ones do not."""
    rng = np.random.default_rng(seed)
    P = scipy.linalg.expm(1.5 * rng.normal(size=(4, 4)))
    P = P @ P.T
    v = rng.normal(size=4)
    slope = np.array([v @ E @ v for E in UNITS]) if thin else rng.normal(size=10)
    slope *= 10.0**size / np.sqrt(abs(np.trace(covector(slope) @ P @ covector(slope) @ P)))
    x = ten(P)
    bounded, free = (LOAD[step](x, slope, np.zeros(2)) for step in (1e-3, 0.0))
    # Relative to P: its condition here is up to 1e8 and more, and that is how much of the rounding shows.
    rounding = 1e-15 * np.linalg.cond(P)
    for part in (1.0, 0.5, 1e-3):
        after = pseudo(x + part * 1e-3 * bounded)
        assert scipy.linalg.eigh(after, P, eigvals_only=True)[0] >= 0.5 - 100.0 * rounding
    if thin and size > 5.0:  # the only eigenvalue of A is |A|, and positive
        assert np.linalg.eigvalsh(pseudo(x + 1e-3 * free))[0] < 0.0
        assert np.linalg.eigvalsh(pseudo(x + 1.0 * bounded))[0] < 0.0


@cache
def compiled(robot: str, adaptation: Natural | float) -> SlotineLi:
    """Laws that several seeds run, made once."""
    if robot == "ur10":
        return SlotineLi(ur10(), convergence=8.0, damping=ur10_damping(), adaptation=adaptation)
    return SlotineLi(solid(), convergence=10.0, damping=20.0, adaptation=adaptation, learn=LINKS)


NATURAL = {"solid": Natural(2.0, step=2e-3), "ur10": Natural(50.0, step=2e-3)}


@pytest.mark.parametrize("seed", range(3))
def test_a_closed_loop_keeps_its_bodies(seed: int) -> None:
    """The plain gradient tracks with links that cannot be; natural adaptation with such that can, at every instant."""
    settings: dict[str, Any] = {"plant": solid(), "seconds": 2.0, "estimate": other_bodies(solid(), seed)}
    natural, gradient, frozen = (
        sampled(compiled("solid", adaptation), COURSE, offset=0.2, **settings)
        for adaptation in (NATURAL["solid"], 0.5, 1e-9)
    )
    assert least(natural.x) > 0.0
    assert least(gradient.x) < 0.0
    assert abs(natural.error[-300:]).max() < 0.5 * abs(frozen.error[-300:]).max()


@pytest.mark.parametrize("seed", range(3))
def test_the_ur10_keeps_its_bodies(seed: int) -> None:
    """All sixty parameters. With 0.2 the gradient already makes the sampled loop explode: the wrist is light."""
    settings: dict[str, Any] = {"plant": ur10(), "seconds": 0.6, "estimate": other_bodies(ur10(), seed)}
    natural, gradient = (
        sampled(compiled("ur10", adaptation), UR10_REFERENCE, offset=0.1, **settings)
        for adaptation in (NATURAL["ur10"], 0.02)
    )
    assert least(natural.x) > 0.0
    assert least(gradient.x) < 0.0


def step_of(law: Law, x: np.ndarray, scale: float = 1.0) -> np.ndarray:
    """The rate at one state, away from the reference."""
    rng = np.random.default_rng(3)
    q, qd, qr, qrd, qrdd = rng.normal(size=(5, 6))
    return (law.step(State(0.0, x), 1.0, q, qd, Reference(qr, qrd, qrdd))[1].x - x) / scale


@pytest.mark.parametrize("adaptation", [Natural(0.2), 0.2])
def test_other_link_frames_change_nothing(adaptation: Any) -> None:
    """The rate of a body is that of the same body in another frame; the gradient's is not."""
    robot, rng = ur10(), np.random.default_rng(0)
    links = [link.name for link in robot.merged.links[1:]]
    frames = {name: Frame.shift(*rng.normal(size=3).tolist()) @ Frame.from_rpy(*rng.normal(size=3)) for name in links}
    turned = change_link_frames(robot, frames)
    T = scipy.linalg.block_diag(*(transport_matrix(frames[name].inverse()) for name in links))
    x = other_bodies(robot, 0)
    settings: dict[str, Any] = {"convergence": 5.0, "damping": 3.0, "adaptation": adaptation}
    expected, found = T @ step_of(SlotineLi(robot, **settings), x), step_of(SlotineLi(turned, **settings), T @ x)
    off = abs(found - expected).max() / abs(expected).max()
    assert off < 1e-10 if isinstance(adaptation, Natural) else off > 0.1


def in_units(robot: Robot, length: float, mass: float) -> Robot:
    """The same robot, its lengths and masses counted in units of which these many make a metre and a kilogram."""

    def frame(given: Frame) -> Frame:
        x, y, z = (float(entry) * length for entry in given.translation)  # type: ignore[arg-type]
        return Frame((x, y, z), given.rotation)

    D = np.diag([length, length, length, 1.0]) * np.sqrt(mass)
    x, y, z = (length * entry for entry in robot.gravity)
    return replace(
        robot,
        links=tuple(replace(ln, inertia=Inertia.from_pseudo(D @ ln.inertia.pseudo @ D)) for ln in robot.links),
        joints=tuple(replace(jn, placement=frame(jn.placement), seat=frame(jn.seat)) for jn in robot.joints),
        gravity=(x, y, z),
    )


@pytest.mark.parametrize("natural", [True, False])
def test_other_units_change_nothing(natural: bool) -> None:
    """The gain is in 1/J; with that and the damping in the new units the rate is the same. The gradient's is not."""
    robot, length, mass = ur10(), 3.0, 0.2
    joule = mass * length**2
    power = {"m": 0, "mx": 1, "my": 1, "mz": 1}
    of = np.array([mass * length ** power.get(name.rpartition(".")[2], 2) for name in robot.parameter_names[:60]])
    x = other_bodies(robot, 0)

    def rate(robot: Robot, x: np.ndarray, unit: float) -> np.ndarray:
        adaptation = Natural(0.2 / unit) if natural else 0.2 / unit
        return step_of(SlotineLi(robot, convergence=5.0, damping=3.0 * unit, adaptation=adaptation), x)

    expected, found = of * rate(robot, x, 1.0), rate(in_units(robot, length, mass), of * x, joule)
    off = abs(found - expected).max() / abs(expected).max()
    assert off < 1e-10 if natural else off > 0.1


@pytest.mark.parametrize("step", [0.0, 0.1])
def test_factors_of_the_adaptation(step: float) -> None:
    """A factor is that of the gain, in the bound on the rate too."""
    robot, factor = solid(friction=True), 3.0
    learn = (*LINKS, "joint1.*")
    one, other = (
        SlotineLi(robot, convergence=5.0, damping=3.0, adaptation=Natural(gain, step), learn=learn)
        for gain in (0.5, 0.5 * factor)
    )
    x = np.concatenate([other_bodies(robot, 2), [0.3, 0.2, 0.5, 0.1]])
    r = COURSE(0.3)
    given = (r.q + 0.3, r.qd - 0.2, r.q, r.qd, r.qdd, x)
    found = one.compile(one.graph_with(("adaptation",))).one(*given, np.array([factor]))
    np.testing.assert_allclose(found, other.compile(other.graph).one(*given), rtol=1e-10, atol=1e-13)
    assert abs(found - one.compile(one.graph).one(*given)).max() > 1e-3
    value = one.compile(one.lyapunov_graph(("adaptation",))).one(*given, np.array([factor]), truth(one))[0]
    assert value == pytest.approx(other.lyapunov(State(0.0, x), *given[:2], r, truth(one)), rel=1e-10)


def test_a_robot_with_loops_and_a_leak() -> None:
    """Two links of the five-bar, from other bodies: they stay bodies, also on the way back to the description's."""
    robot = ytheta.load("five-bar")
    learn = ("left_crank.*", "right_rod.*")
    law = SlotineLi(robot, convergence=8.0, damping=2.0, adaptation=Leakage(Natural(0.5, step=5e-3), 2.0), learn=learn)
    home = dict(zip(robot.coordinates, robot.home_coordinates, strict=True))
    at = np.array([home[name] for name in robot.actuated])
    rows = truth(law).reshape(2, 10)
    rng = np.random.default_rng(0)
    start = np.concatenate([other(row, rng, 0.5) for row in rows])
    still = Reference(at, np.zeros(2), np.zeros(2))
    done = sampled(law, lambda _: still, plant=robot, seconds=0.25, period=5e-3, estimate=start, offset=0.1)
    assert least(done.x) > 0.0
    assert np.linalg.norm(done.x[-1] - start) > 0.1 * np.linalg.norm(start)


def test_what_cannot_be_learnt_naturally() -> None:
    robot = ur10()
    settings: dict[str, Any] = {"convergence": 5.0, "damping": 3.0}
    with pytest.raises(
        InputError, match=r"base parameters are sums over several links; leave base out and learn whole"
    ):
        SlotineLi(robot, base_parameters(robot), adaptation=Natural(0.5), **settings)
    with pytest.raises(
        InputError, match=r"of 'wrist_3_link' only m, mx are learnt; learn the whole link, learn=\('wri"
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


def test_estimates_that_no_body_has_are_refused() -> None:
    q, robot = np.zeros(2), solid(friction=True)
    law = SlotineLi(robot, convergence=5.0, damping=3.0, adaptation=Natural(0.5), learn=(*LINKS, "joint*.fv"))
    good = truth(law)
    law.init(q, q)
    ball = Inertia.about_center(1.0, (0.3, 0.0, 0.0), ((1e-4, 0.0, 0.0), (0.0, 1e-4, 0.0), (0.0, 0.0, 1e-4)))
    rod = Inertia.about_center(1.0, (0.3, 0.1, 0.0), ((0.0, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)))
    broken = Inertia.about_center(1.0, (0.3, 0.1, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.3)))
    for body, why in (
        (Inertia.point_mass(1.0, (0.3, 0.1, -0.2)), "all mass in a plane, on a line or in a point"),
        (rod, "all mass in a plane, on a line or in a point"),
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
    for nothing in (0.0, -0.1):
        x[-1] = nothing
        with pytest.raises(
            InputError, match=rf"cannot begin at joint2.fv = {nothing:g}: .* a small one where nothing is"
        ):
            law.init(q, q, estimate=x)
    flat = ytheta.load("lu-two-link")  # its links are point masses
    law = SlotineLi(flat, convergence=5.0, damping=3.0, adaptation=Natural(0.5))
    with pytest.raises(InputError, match="the estimate of link 'link1'"):
        law.init(q, q)
