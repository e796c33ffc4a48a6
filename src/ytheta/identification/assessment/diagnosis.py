"""Contradictions between the data and the description: torques with the wrong sign, gravity along the wrong axis.

Least squares fits any data. Wrong signs or a wrong direction of gravity are recognized in two ways. The estimate may
contain effects that no robot has, such as friction that accelerates a joint or masses that fall upwards. Or the torque
error may decrease by a third or more with other signs or another direction.

Y is linear in gravity, Y = A(q, qd, qdd) + sum_k g_k G_k(q). Three kernels, one per axis of the base, are evaluated at
selected samples; their values give the error for every direction of gravity. In slow motion, reversed gravity hardly
changes the error, because the estimated first moments change their signs too. Then the gravity torques of the described
masses decide. With unknown geometry, directions of gravity are not compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ytheta.conventions import LINK_PARAMETERS, STANDARD_GRAVITY
from ytheta.dynamics.kernels import AnyKernel, regressor
from ytheta.findings import Finding, Severity
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.assessment.torque_signs import (
    MAX_PLAUSIBLE_ERROR,
    MAX_SIMILAR_RATIO,
    MIN_IMPROVEMENT,
    SignTest,
    choose_signs,
)
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction_laws import LAWS
from ytheta.identification.equations.normal_equations import JointNormalEquations, NormalEquations
from ytheta.identification.estimators.estimate import Estimate
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.robot.frame import IDENTITY
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerBase, PerJoint, SamplesByJoint, SamplesByJointByBase, Vector3

# Error with other signs divided by the error with the recorded signs; above this value, the other signs are rejected.
MAX_ERROR_RATIO = 1.05
# Cosine between the gravity torques of the estimated and of the described masses. In five recorded logs the cosine is
# 0.99 to 1, and -0.97 to -1 if gravity is reversed. In one log, with a counterbalance and slow motion, the cosine is
# -0.5 in both cases, so that it decides nothing.
MIN_WEIGHT_COSINE = 0.8
MAX_PIECES = 8  # number of pieces of the logs from which samples are selected
POSE_COUNT = 100  # number of poses at which gravity torques and inertias are evaluated
# Number of samples with which directions of gravity are compared, and number of entries of Y at these samples.
MAX_SAMPLES, MAX_ENTRIES = 3000, 1_000_000


def diagnose(problem: EstimationProblem, estimate: Estimate) -> tuple[Finding, ...]:
    """Return findings about wrong signs of torques and a wrong direction of gravity, with remedies."""
    base, robot = problem.base, problem.base.robot
    form = problem.form if isinstance(problem.form, Differential) else Differential(base)
    q, *_ = sample_motion(problem, POSE_COUNT)
    static = compute_static_regressor(form.kernel, q)
    inertia = form.insert_zero_columns(compute_inertia_rows(form.kernel, q, static)[None])[0]
    static = form.insert_zero_columns(static)
    test = SignTest(problem.normal_equations(), robot.actuated, base.independent, estimate.beta, inertia)
    weight = static * make_link_parameter_mask(base.independent)
    described = Hypothesis(test, weight, base.beta, np.array(robot.gravity_in_base))
    doubtful = described.error > MAX_PLAUSIBLE_ERROR or described.weight_cosine < -MIN_WEIGHT_COSINE
    if doubtful and isinstance(base, BaseParameters):  # the weight in other directions needs the geometry
        described_on_samples, other = compare_gravity(problem)
        if other is not None:
            return (make_gravity_finding(described_on_samples, other), *find_wrong_torque_signs(other))
    return tuple(find_wrong_torque_signs(described))


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """The data interpreted with one direction of gravity.

    Attributes
    ----------
    test       errors of the fit for all combinations of torque signs
    weight     static regressor of the link parameters at selected poses
    described  parameters of the description
    gravity    gravity in the frame of the base, in m/s²
    """

    test: SignTest
    weight: SamplesByJointByBase
    described: PerBase
    gravity: Vector3

    @cached_property
    def signs(self) -> PerJoint:
        """The torque signs that are chosen for this direction of gravity."""
        return choose_signs(self.test)

    @property
    def error(self) -> float:
        """The torque error with the chosen signs, relative to the RMS of the torque."""
        return self.test.compute_error(self.signs)

    @cached_property
    def weight_cosine(self) -> float:
        """Cosine between the gravity torques of the estimated and of the described masses; 0 if one of them is zero."""
        estimated = self.weight @ self.test.with_signs(self.signs).beta
        described = self.weight @ self.described
        size = float(np.linalg.norm(estimated) * np.linalg.norm(described))
        return float(np.sum(estimated * described)) / size if size else 0.0


def compare_gravity(problem: EstimationProblem) -> tuple[Hypothesis, Hypothesis | None]:
    """Return the hypotheses of the described gravity and of a better one (or None), tested on selected samples."""
    described, *others = make_gravity_hypotheses(problem)
    best = min(others, key=lambda other: other.test.smallest_error)
    if described.test.smallest_error > MIN_IMPROVEMENT * best.test.smallest_error:
        opposite = next(other for other in others if np.allclose(other.gravity, -best.gravity))
        similar = opposite.test.smallest_error <= MAX_SIMILAR_RATIO * best.test.smallest_error
        return described, opposite if similar and opposite.weight_cosine > best.weight_cosine else best
    reversed_gravity = (other for other in others if np.allclose(other.gravity, -described.gravity))
    hanging = [other for other in reversed_gravity if other.weight_cosine > MIN_WEIGHT_COSINE]
    return described, hanging[0] if hanging and described.weight_cosine < -MIN_WEIGHT_COSINE else None


def make_gravity_hypotheses(problem: EstimationProblem) -> Iterator[Hypothesis]:
    """Yield hypotheses for the described gravity, its opposite, and both directions along each axis of the base."""
    robot = problem.base.robot
    names = tuple(name for name in problem.base.selected if not name.endswith(LAWS))
    max_samples = min(MAX_SAMPLES, max(POSE_COUNT, MAX_ENTRIES // (len(robot.actuated) * len(names))))
    q, qd, qdd, tau, counts = sample_motion(problem, max_samples)
    described = np.array(robot.gravity_in_base)
    size = float(np.linalg.norm(described)) or -STANDARD_GRAVITY[2]
    mask = make_link_parameter_mask(names)
    kernels = [regressor(_with_gravity(robot, size * axis), parameters=names) for axis in np.eye(3)]
    weights = [compute_static_regressor(kernel, q) * mask for kernel in kernels]
    weightless = kernels[0](q, qd, qdd) - weights[0]
    poses = slice(None, None, max(1, len(q) // POSE_COUNT))
    inertia = compute_inertia_rows(kernels[0], q[poses], compute_static_regressor(kernels[0], q[poses]))
    theta = robot.theta[[robot.parameter_names.index(name) for name in names]]
    axes = [sign * size * axis for axis in np.eye(3) for sign in (1.0, -1.0)]
    for gravity in (described, -described, *axes):
        weight = sum(part * g / size for part, g in zip(weights, gravity, strict=True))
        equations = _make_normal_equations(weightless + weight, tau, counts)
        test = SignTest(equations, robot.actuated, names, theta, inertia)
        yield Hypothesis(test, weight[poses], theta, gravity)


def find_wrong_torque_signs(hypothesis: Hypothesis) -> Iterator[Finding]:
    """Yield a finding that names the joints whose torques have the wrong sign, if there are any."""
    test, signs = hypothesis.test, hypothesis.signs
    wrong = tuple(name for name, sign in zip(test.joints, signs, strict=True) if sign < 0.0)
    before, after = test.compute_error(np.ones(len(signs))), hypothesis.error
    if not wrong or after > MAX_ERROR_RATIO * before:
        return
    subject = "all torques have" if len(wrong) == len(signs) else f"the torque of {', '.join(wrong)} has"
    row = ", ".join(f"{sign:.0f}" for sign in signs)
    remedy = f"write [sign] tau = [{row}] in the mapping, multiplied by any signs already there"
    if before > MIN_IMPROVEMENT * after:
        reason = f"with the other sign the error falls from {_format_percent(before)} to {_format_percent(after)}"
    else:
        negative = [f"{name} {f:.3g}" for name, f in zip(test.joints, test.friction, strict=True) if f < 0.0]
        reason = f"friction is negative ({', '.join(negative)} Nm or N)" if negative else "inertia is negative"
        remedy += f"; this leaves an error of {_format_percent(after)} instead of {_format_percent(before)}"
    fields = {"signs": signs.tolist(), "error": before, "error_with_signs": after}
    statement = f"{subject} the wrong sign: {reason}"
    yield Finding(FitFindingCode.TORQUE_SIGN, Severity.WARNING, statement, remedy, wrong, fields=fields)


def make_gravity_finding(described: Hypothesis, other: Hypothesis) -> Finding:
    """Return the finding that the log contradicts the described direction of gravity."""
    statement = (
        f"gravity is along {_name_direction(described.gravity)} of the base in the description, "
        f"but along {_name_direction(other.gravity)} in the log"
    )
    if np.allclose(other.gravity, -described.gravity):
        statement += " (otherwise masses would fall upwards)"
    else:
        statement += f" (error {_format_percent(other.error)} instead of {_format_percent(described.error)})"
        if abs(other.weight_cosine) < MIN_WEIGHT_COSINE:
            statement += ", or opposite to that; without described masses the two cannot be distinguished"
    fields = {"described": described.gravity.tolist(), "log": other.gravity.tolist()}
    remedy = "set mounting or gravity in the robot's description"
    return Finding(FitFindingCode.GRAVITY, Severity.WARNING, statement, remedy, fields=fields)


def sample_motion(
    problem: EstimationProblem, max_samples: int
) -> tuple[SamplesByJoint, SamplesByJoint, SamplesByJoint, SamplesByJoint, SamplesByJoint]:
    """Return q, qd, qdd and tau of at most ``max_samples`` samples, evenly distributed over the logs, and the mask."""
    tasks = list(problem.tasks())
    parts = [problem.motion(task) for task in tasks[:: -(-len(tasks) // MAX_PIECES)]]
    step = max(1, -(-sum(len(part) for part in parts) // max_samples))
    q, qd, qdd = (np.concatenate([getattr(part, name)[::step] for part in parts]) for name in ("q", "qd", "qdd"))
    masks = [problem.form.mask(part) if isinstance(problem.form, Differential) else None for part in parts]
    used = [np.ones_like(part.q) if mask is None else mask.T for part, mask in zip(parts, masks, strict=True)]
    tau = np.concatenate([part.tau[::step] for part in parts if part.tau is not None])
    return q, qd, qdd, tau, np.concatenate([each[::step] for each in used])


def compute_static_regressor(kernel: AnyKernel, q: SamplesByJoint) -> SamplesByJointByBase:
    """Return Y(q, 0, 0): the regressor at rest."""
    return kernel(q, np.zeros_like(q), np.zeros_like(q))


def compute_inertia_rows(
    kernel: AnyKernel, q: SamplesByJoint, static: SamplesByJointByBase
) -> Float[np.ndarray, "joints base"]:
    """Return rows whose products with beta are the diagonal of the mass matrix, averaged over the poses q."""
    zeros, units = np.zeros_like(q), np.eye(q.shape[1])
    return np.array([(kernel(q, zeros, zeros + unit) - static)[:, j].mean(axis=0) for j, unit in enumerate(units)])


def make_link_parameter_mask(names: tuple[str, ...]) -> PerBase:
    """Return 1 for link parameters and 0 for all others; gravity acts only on link parameters."""
    return np.array([name.rpartition(".")[2] in LINK_PARAMETERS for name in names], dtype=float)


def _with_gravity(robot: Robot, gravity: Vector3) -> Robot:
    x, y, z = gravity.tolist()
    return replace(robot, gravity=(x, y, z), mounting=IDENTITY)


def _make_normal_equations(Y: SamplesByJointByBase, tau: SamplesByJoint, mask: SamplesByJoint) -> NormalEquations:
    joints = []
    for j in range(Y.shape[1]):
        A, b = Y[:, j] * mask[:, j, None], tau[:, j] * mask[:, j]
        columns, count = np.arange(Y.shape[2]), float(mask[:, j].sum())
        joints.append(JointNormalEquations(columns, A.T @ A, A.T @ b, float(b @ b), count))
    return NormalEquations(Y.shape[2], tuple(joints))


def _name_direction(gravity: Vector3) -> str:
    """Return the name of the axis along which gravity acts, or the components of gravity if there is no such axis."""
    unit = gravity / (np.linalg.norm(gravity) or 1.0)
    k = int(np.argmax(abs(unit)))
    if abs(unit[k]) > 1.0 - 1e-6:
        return f"{'+' if unit[k] > 0.0 else '−'}{'xyz'[k]}"
    return f"({', '.join(f'{g:.3g}' for g in gravity)})"


def _format_percent(error: float) -> str:
    return f"{100.0 * error:.2g} %"
