"""Torques with the wrong sign and gravity along the wrong axis are told; right descriptions are left in peace."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import ytheta
from ytheta.dynamics.kernels import regressor
from ytheta.findings import Finding, Severity
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.assessment.diagnosis import diagnose
from ytheta.identification.assessment.torque_signs import SignTest, choose_signs
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.motion_sources import ArraySource
from ytheta.identification.estimators.weighted import Weighted
from ytheta.logs.preparing.preparation import PreparationSettings
from ytheta.logs.preparing.prepared_log import MotionSamples, prepare_log
from ytheta.logs.reading.read import read_log
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.robot import Robot

FRICTION = ("viscous", "coulomb", "offset")
UP, ASIDE = (0.0, 0.0, 9.81), (9.81, 0.0, 0.0)
LOGS = {
    "ur10e": ("ur10e/ur10e.urdf", "ur10e/ur10e_train_30s_12harm.parquet", [634, 3510], PreparationSettings(cutoff=8.0)),
    "ur10e ptp": ("ur10e/ur10e.urdf", "ur10e/ur10e_ptp10.parquet", [699, 4200], PreparationSettings(cutoff=8.0)),
    "panda": ("panda/panda_arm.urdf", "panda/panda_gaz2019.parquet", None, PreparationSettings(cutoff=10.0)),
    "lwr4": ("lwr4/lwr4.urdf", "lwr4/lwr4_run1.parquet", None, PreparationSettings(cutoff=5.0, trim=0.5)),
    "kr300": ("kr300/kr300.urdf", "kr300/kr300_run_b.parquet", None, PreparationSettings(cutoff=8.0, trim=0.2)),
    "tx40": ("tx40/tx40.urdf", "tx40/tx40_joint.parquet", [400, 37400], PreparationSettings(cutoff=50.0)),
}


@cache
def _form(robot: Robot, friction: tuple[str, ...], rotor: bool) -> Differential:
    return Differential(base_parameters(robot, rotor_inertia=rotor, friction=friction))


@dataclass(frozen=True, eq=False)
class Run:
    """A robot, how it moved, and what is asked about it."""

    robot: Robot
    motion: MotionSamples
    rate: float
    friction: tuple[str, ...] = FRICTION
    rotor: bool = False

    def told(self, *, wrong: tuple[int, ...] = (), gravity: tuple[float, float, float] | None = None) -> list[Finding]:
        """The diagnose after some torques were turned round, or the description's gravity was."""
        robot = self.robot if gravity is None else replace(self.robot, gravity=gravity)
        signs = np.ones(len(robot.actuated))
        signs[list(wrong)] = -1.0
        assert self.motion.tau is not None
        motion = replace(self.motion, tau=self.motion.tau * signs)
        problem = EstimationProblem(_form(robot, self.friction, self.rotor), (ArraySource(motion, self.rate),))
        return list(diagnose(problem, Weighted().fit(problem)))


def _motion(robot: Robot, friction: float, noise: float, samples: int = 1500, speed: float = 1.0) -> MotionSamples:
    """A simulated run: Fourier motion, torque of the description with friction, and white noise of that share."""
    rng = np.random.default_rng(3)
    n, t = len(robot.actuated), np.arange(samples) / 100.0
    omega = speed * rng.uniform(0.5, 2.5, size=(3, n))
    phase = omega[:, None] * t[None, :, None] + rng.uniform(0.0, 6.0, size=(3, 1, n))
    omega = omega[:, None]
    q, qd = 0.4 * np.sin(phase).sum(axis=0), 0.4 * (omega * np.cos(phase)).sum(axis=0)
    qdd = -0.4 * (omega**2 * np.sin(phase)).sum(axis=0)
    tau = regressor(robot)(q, qd, qdd) @ robot.theta + friction * (np.sign(qd) + qd)
    tau = tau + noise * tau.std(axis=0) * rng.normal(size=tau.shape)
    return MotionSamples(t, q, qd, qdd, tau, None, np.arange(samples))


def _simulated(name: str, friction: float = 2.0, noise: float = 0.02) -> Run:
    robot = ytheta.load(name)
    return Run(robot, _motion(robot, friction, noise), 100.0, FRICTION if friction else ())


@pytest.fixture(scope="module")
def recorded(shared_data: Path, request: pytest.FixtureRequest) -> Run:
    model, log, rows, settings = LOGS[request.param]
    robot = ytheta.load(str(shared_data / model))
    mapping = {} if rows is None else {"rows": rows}
    prepared = prepare_log(read_log(shared_data / log, robot, mapping=mapping), settings)
    rotor = not request.param.startswith(("panda", "lwr4"))
    return Run(robot, prepared.motion, prepared.rate, rotor=rotor)


def _kinds(findings: list[Finding]) -> list[str]:
    assert all(finding.severity is Severity.WARNING for finding in findings)
    return [finding.code for finding in findings]


def _signs_in(findings: list[Finding]) -> list[float]:
    (text,) = (finding.text for finding in findings if finding.code == "torque sign")
    return [float(part) for part in text.partition("tau = [")[2].partition("]")[0].split(",")]


@pytest.mark.parametrize("recorded", LOGS, indirect=True)
def test_right_descriptions_of_recorded_arms_are_not_doubted(recorded: Run) -> None:
    assert recorded.told() == []


@pytest.mark.parametrize("recorded", ["ur10e", "panda", "lwr4"], indirect=True)
def test_wrong_signs_are_told_on_recorded_arms(recorded: Run) -> None:
    n = len(recorded.robot.actuated)
    for wrong in [(0,), (2,), (n - 1,), tuple(range(n))]:
        findings = recorded.told(wrong=wrong)
        assert _kinds(findings) == ["torque sign"], wrong
        assert [k for k, sign in enumerate(_signs_in(findings)) if sign < 0.0] == list(wrong)


@pytest.mark.parametrize("recorded", ["ur10e", "ur10e ptp", "panda", "lwr4"], indirect=True)
def test_wrong_gravity_is_told_on_recorded_arms(recorded: Run) -> None:
    for gravity, name in ((ASIDE, "+x"), (UP, "+z")):
        findings = recorded.told(gravity=gravity)
        assert _kinds(findings) == ["gravity"], gravity
        assert "the log along −z" in findings[0].text
        assert f"gravity along {name} of the base" in findings[0].text
        assert ("pull upwards" in findings[0].text) is (gravity == UP)


@pytest.mark.parametrize("recorded", ["ur10e"], indirect=True)
def test_both_at_once_are_told_apart(recorded: Run) -> None:
    findings = recorded.told(wrong=(0,), gravity=ASIDE)
    assert _kinds(findings) == ["gravity", "torque sign"]
    assert _signs_in(findings) == [-1.0, 1.0, 1.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize(("friction", "noise"), [(0.0, 0.0), (0.0, 0.03), (2.0, 0.03)])
def test_simulated_arms(friction: float, noise: float) -> None:
    run = _simulated("ur10", friction, noise)
    assert run.told() == []
    # A wrist that neither brakes nor stands out of the noise has no sign to be seen.
    for wrong in [(1,), (0, 2) if noise and not friction else (0, 3), (0, 1, 2, 3, 4, 5)]:
        findings = run.told(wrong=wrong)
        assert _kinds(findings) == ["torque sign"]
        assert [k for k, sign in enumerate(_signs_in(findings)) if sign < 0.0] == list(wrong)
    assert _kinds(run.told(gravity=UP)) == ["gravity"]


def test_the_sentence_has_the_figures_and_the_remedy() -> None:
    run = _simulated("ur10")
    (finding,) = run.told(wrong=(1,))
    assert "shoulder_lift" in finding.text or run.robot.actuated[1] in finding.text
    assert "the error falls from" in finding.text
    assert "write [sign] tau = [1, -1, 1, 1, 1, 1] in the mapping" in finding.text
    (finding,) = run.told(wrong=(0, 1, 2, 3, 4, 5))
    assert finding.text.startswith("all torques have the wrong sign: friction pushes instead of braking")
    (finding,) = run.told(gravity=ASIDE)
    assert "set mounting or gravity" in finding.text


def test_a_mounted_robot_is_right_in_its_own_frame() -> None:
    """Gravity counts in the base: the same log with mounting and gravity both turned has nothing to tell."""
    upright = _simulated("ur10")
    half_turn = Frame.from_rpy(np.pi, 0.0, 0.0)
    assert replace(upright, robot=replace(upright.robot, mounting=half_turn, gravity=UP)).told() == []
    assert _kinds(replace(upright, robot=replace(upright.robot, mounting=half_turn)).told()) == ["gravity"]


def test_without_masses_upside_down_cannot_be_told() -> None:
    """The twin of the weight test: what decides is the description's own masses."""
    run = _simulated("ur10")
    empty = run.robot.with_inertias({link.name: Inertia() for link in run.robot.links})
    assert replace(run, robot=empty).told(gravity=UP) == []
    (finding,) = replace(run, robot=empty).told(gravity=ASIDE)
    assert "or the opposite" in finding.text


def test_what_fits_alike_is_decided_by_friction_and_inertia_alone() -> None:
    """The twin: a reading without either cannot tell all signs turned, and says nothing."""
    run = _simulated("ur10")
    base = base_parameters(run.robot, friction=FRICTION)
    assert run.motion.tau is not None
    turned = replace(run.motion, tau=-run.motion.tau)
    problem = EstimationProblem(Differential(base), (ArraySource(turned, 100.0),))
    rows = np.zeros((6, len(base)))
    reading = SignTest(problem.normal_equations(), run.robot.actuated, base.independent, base.beta, rows)
    assert (choose_signs(reading) < 0.0).all()
    nameless = tuple(f"p{k}" for k in range(len(base)))
    assert (choose_signs(replace(reading, names=nameless)) > 0.0).all()
    assert reading.error(np.ones(6)) == pytest.approx(reading.error(-np.ones(6)), rel=1e-9)
    known = reading.with_signs(-np.ones(6))
    assert (known.friction > 0.0).all()
    assert known.friction == pytest.approx(-reading.friction, rel=1e-6)
