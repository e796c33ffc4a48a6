"""Contradictions between the data and the description: torques with the wrong sign, gravity along the wrong axis.

Least squares fits any data. A wrong sign or a wrong direction of gravity appears as an effect that no robot has:
friction that accelerates, masses that fall upwards, an error that another description halves.

Y is linear in gravity, Y = A(q, qd, qdd) + sum_k g_k G_k(q): three kernels at some samples give the error for every
direction. Upside-down gravity hardly changes the error in slow motion, because the first moments change their sign with
it; then the weight of the described masses decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ytheta.conventions import LINK_PARAMETERS, STANDARD_GRAVITY
from ytheta.dynamics.kernels import AnyKernel, regressor
from ytheta.findings import Finding, Severity
from ytheta.identification.assessment.torque_signs import (
    MAX_PLAUSIBLE_ERROR,
    MAX_SIMILAR_RATIO,
    MIN_IMPROVEMENT,
    SignTest,
    choose_signs,
)
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.normal_equations import JointNormalEquations, NormalEquations
from ytheta.identification.estimators.estimate import Estimate
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.robot.frame import IDENTITY
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerBase, PerJoint, SamplesByJoint, SamplesByJointByBase, Vector3

MAX_ERROR_RATIO = 1.05  # of new signs over the old; signs that make the error larger are not its cause
# Cosine between the estimated and the described weight. Five recorded logs have 0.99 to 1, upside down -0.97 to -1; one
# with a counterbalance and slow motion has -0.5 either way, which decides nothing.
MIN_WEIGHT_COSINE = 0.8
MAX_PIECES = 8  # of the logs, from which samples are taken
POSES = 100  # at rest
MAX_SAMPLES, MAX_ENTRIES = 3000, 1_000_000  # in motion; entries of Y


def diagnose(problem: EstimationProblem, estimate: Estimate) -> tuple[Finding, ...]:
    """Return findings about the signs of torques and the direction of gravity, with remedies."""
    base, robot = problem.base, problem.base.robot
    kernel = problem.form.kernel if isinstance(problem.form, Differential) else regressor(robot, base)
    q, *_ = sample_motion(problem, POSES)
    static = static_regressor(kernel, q)
    inertia = inertia_rows(kernel, q, static)
    test = SignTest(problem.normal_equations(), robot.actuated, base.independent, estimate.beta, inertia)
    weight = static * link_parameter_mask(base.independent)
    described = Hypothesis(test, weight, base.beta, np.array(robot.gravity_in_base))
    if described.error > MAX_PLAUSIBLE_ERROR or described.weight_cosine < -MIN_WEIGHT_COSINE:
        described_on_samples, other = compare_gravity(problem)
        if other is not None:
            return (gravity_finding(described_on_samples, other), *torque_sign_findings(other))
    return tuple(torque_sign_findings(described))


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """The data under one direction of gravity: the test of signs, and the weight of the links at some poses."""

    test: SignTest
    weight: SamplesByJointByBase
    described: PerBase
    gravity: Vector3

    @cached_property
    def signs(self) -> PerJoint:
        """The signs of the torques that fit this hypothesis."""
        return choose_signs(self.test)

    @property
    def error(self) -> float:
        """The error with these signs, relative to all torque."""
        return self.test.error(self.signs)

    @cached_property
    def weight_cosine(self) -> float:
        """Cosine between the estimated weight and that of the described masses; 0 if there are none."""
        estimated = self.weight @ self.test.with_signs(self.signs).beta
        described = self.weight @ self.described
        size = float(np.linalg.norm(estimated) * np.linalg.norm(described))
        return float(np.sum(estimated * described)) / size if size else 0.0


def compare_gravity(problem: EstimationProblem) -> tuple[Hypothesis, Hypothesis | None]:
    """Return the described direction of gravity and a better one, if there is one, both tested on some samples."""
    described, *others = gravity_hypotheses(problem)
    best = min(others, key=lambda other: other.test.smallest_error)
    if described.test.smallest_error > MIN_IMPROVEMENT * best.test.smallest_error:
        opposite = next(other for other in others if np.allclose(other.gravity, -best.gravity))
        similar = opposite.test.smallest_error <= MAX_SIMILAR_RATIO * best.test.smallest_error
        return described, opposite if similar and opposite.weight_cosine > best.weight_cosine else best
    reversed_gravity = (other for other in others if np.allclose(other.gravity, -described.gravity))
    hanging = [other for other in reversed_gravity if other.weight_cosine > MIN_WEIGHT_COSINE]
    return described, hanging[0] if hanging and described.weight_cosine < -MIN_WEIGHT_COSINE else None


def gravity_hypotheses(problem: EstimationProblem) -> Iterator[Hypothesis]:
    """The described gravity, its opposite, and both directions of the axes of the base."""
    robot, names = problem.base.robot, problem.base.selected
    most = min(MAX_SAMPLES, max(POSES, MAX_ENTRIES // (len(robot.actuated) * len(names))))
    q, qd, qdd, tau = sample_motion(problem, most)
    described = np.array(robot.gravity_in_base)
    size = float(np.linalg.norm(described)) or -STANDARD_GRAVITY[2]
    mask = link_parameter_mask(names)
    kernels = [regressor(_with_gravity(robot, size * axis), parameters=names) for axis in np.eye(3)]
    weights = [static_regressor(kernel, q) * mask for kernel in kernels]
    weightless = kernels[0](q, qd, qdd) - weights[0]
    poses = slice(None, None, max(1, len(q) // POSES))
    inertia = inertia_rows(kernels[0], q[poses], static_regressor(kernels[0], q[poses]))
    theta = robot.theta[[robot.parameter_names.index(name) for name in names]]
    min_speed = problem.form.min_speed if isinstance(problem.form, Differential) else None
    counts = np.ones_like(qd) if min_speed is None else (abs(qd) >= min_speed).astype(float)
    axes = [sign * size * axis for axis in np.eye(3) for sign in (1.0, -1.0)]
    for gravity in (described, -described, *axes):
        weight = sum(part * g / size for part, g in zip(weights, gravity, strict=True))
        equations = _normal_equations(weightless + weight, tau, counts)
        test = SignTest(equations, robot.actuated, names, theta, inertia)
        yield Hypothesis(test, weight[poses], theta, gravity)


def torque_sign_findings(hypothesis: Hypothesis) -> Iterator[Finding]:
    """A finding that names the torques with the wrong sign, if there are any."""
    test, signs = hypothesis.test, hypothesis.signs
    wrong = tuple(name for name, sign in zip(test.joints, signs, strict=True) if sign < 0.0)
    before, after = test.error(np.ones(len(signs))), hypothesis.error
    if not wrong or after > MAX_ERROR_RATIO * before:
        return
    subject = "all torques have" if len(wrong) == len(signs) else f"the torque of {', '.join(wrong)} has"
    row = ", ".join(f"{sign:.0f}" for sign in signs)
    remedy = f"write [sign] tau = [{row}] in the mapping, multiplied by any signs already there"
    if before > MIN_IMPROVEMENT * after:
        reason = f"with the other sign the error falls from {_percent(before)} to {_percent(after)}"
    else:
        negative = [f"{name} {f:.3g}" for name, f in zip(test.joints, test.friction, strict=True) if f < 0.0]
        reason = f"friction is negative ({', '.join(negative)} Nm or N)" if negative else "inertia is negative"
        remedy += f"; this leaves an error of {_percent(after)} instead of {_percent(before)}"
    fields = {"signs": signs.tolist(), "error": before, "error_with_signs": after}
    statement = f"{subject} the wrong sign: {reason}"
    yield Finding(FitFindingCode.TORQUE_SIGN, Severity.WARNING, statement, remedy, wrong, fields=fields)


def gravity_finding(described: Hypothesis, other: Hypothesis) -> Finding:
    """The finding that the log contradicts the described direction of gravity."""
    statement = (
        f"gravity is along {_name_direction(described.gravity)} of the base in the description, "
        f"but along {_name_direction(other.gravity)} in the log"
    )
    if np.allclose(other.gravity, -described.gravity):
        statement += " (otherwise masses would fall upwards)"
    else:
        statement += f" (error {_percent(other.error)} instead of {_percent(described.error)})"
        if abs(other.weight_cosine) < MIN_WEIGHT_COSINE:
            statement += ", or opposite to that; without described masses the two cannot be distinguished"
    fields = {"described": described.gravity.tolist(), "log": other.gravity.tolist()}
    remedy = "set mounting or gravity in the robot's description"
    return Finding(FitFindingCode.GRAVITY, Severity.WARNING, statement, remedy, fields=fields)


def sample_motion(
    problem: EstimationProblem, most: int
) -> tuple[SamplesByJoint, SamplesByJoint, SamplesByJoint, SamplesByJoint]:
    """q, qd, qdd and tau of at most ``most`` samples from all parts of the logs."""
    tasks = list(problem.tasks())
    parts = [problem.motion(task) for task in tasks[:: -(-len(tasks) // MAX_PIECES)]]
    step = max(1, -(-sum(len(part) for part in parts) // most))
    q, qd, qdd = (np.concatenate([getattr(part, name)[::step] for part in parts]) for name in ("q", "qd", "qdd"))
    return q, qd, qdd, np.concatenate([part.tau[::step] for part in parts if part.tau is not None])


def static_regressor(kernel: AnyKernel, q: SamplesByJoint) -> SamplesByJointByBase:
    """Y(q, 0, 0)."""
    return kernel(q, np.zeros_like(q), np.zeros_like(q))


def inertia_rows(
    kernel: AnyKernel, q: SamplesByJoint, static: SamplesByJointByBase
) -> Float[np.ndarray, "joints base"]:
    """Rows whose products with beta are the mean diagonal of the mass matrix, by unit accelerations."""
    zeros, units = np.zeros_like(q), np.eye(q.shape[1])
    return np.array([(kernel(q, zeros, zeros + unit) - static)[:, j].mean(axis=0) for j, unit in enumerate(units)])


def link_parameter_mask(names: tuple[str, ...]) -> PerBase:
    """1 for link parameters, 0 for the others, which gravity does not act on."""
    return np.array([name.rpartition(".")[2] in LINK_PARAMETERS for name in names], dtype=float)


def _with_gravity(robot: Robot, gravity: Vector3) -> Robot:
    x, y, z = gravity.tolist()
    return replace(robot, gravity=(x, y, z), mounting=IDENTITY)


def _normal_equations(Y: SamplesByJointByBase, tau: SamplesByJoint, mask: SamplesByJoint) -> NormalEquations:
    joints = []
    for j in range(Y.shape[1]):
        A, b = Y[:, j] * mask[:, j, None], tau[:, j] * mask[:, j]
        columns, count = np.arange(Y.shape[2]), float(mask[:, j].sum())
        joints.append(JointNormalEquations(columns, A.T @ A, A.T @ b, float(b @ b), count))
    return NormalEquations(Y.shape[2], tuple(joints))


def _name_direction(gravity: Vector3) -> str:
    """The name of an axis, or the vector if it is not along an axis."""
    unit = gravity / (np.linalg.norm(gravity) or 1.0)
    k = int(np.argmax(abs(unit)))
    if abs(unit[k]) > 1.0 - 1e-6:
        return f"{'+' if unit[k] > 0.0 else '−'}{'xyz'[k]}"
    return f"({', '.join(f'{g:.3g}' for g in gravity)})"


def _percent(error: float) -> str:
    return f"{100.0 * error:.2g} %"
