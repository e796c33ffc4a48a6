"""What in the data contradicts the description rather than being noise: signs of torques, the direction of gravity.

Least squares fits what it is given. A torque with the wrong sign or gravity along the wrong axis therefore shows where
nothing can absorb it: friction that pushes, masses that pull upwards, an error that another description divides by two.

Y is linear in gravity, Y = A(q, qd, qdd) + sum_k g_k G_k(q): three kernels at some samples give the error for every
direction. Upside down is hardly worse in slow motion, since first moments turn round with it; there the weight that
the description's own masses would have decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ytheta.conventions import LINK_PARAMETERS, STANDARD_GRAVITY
from ytheta.dynamics.kernels import AnyKernel, regressor
from ytheta.findings import Finding, Severity
from ytheta.identification.assessment.torque_signs import ALIKE, BETTER, POOR, Reading, believed_signs
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.normal_equations import JointNormalEquations, NormalEquations
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.estimators.estimate import Estimate
from ytheta.robot.frame import IDENTITY
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerJoint, SamplesByJoint, SamplesByJointByBase, Vector3

# Cosine between the weight seen and the described one. Five recorded logs have 0.99 to 1, upside down -0.97 to -1; one
# with a counterbalance and slow motion -0.5 either way, which says nothing.
NO_WORSE = 1.05  # times the error: signs that make it larger are not the cause of what is wrong
PLAIN = 0.8
PIECES = 8  # of the log, from which samples are taken
POSES = 100  # at rest
SAMPLES, NUMBERS = 3000, 1_000_000  # in motion, and entries of Y in them, at most


def diagnose(problem: EstimationProblem, sums: NormalEquations, estimate: Estimate) -> tuple[Finding, ...]:
    """Findings about the signs of torques and gravity, each with what was seen and what to write.

    ``sums`` are those of the problem, ``estimate`` what was fitted to them.
    """
    base, robot = problem.base, problem.base.robot
    kernel = problem.form.kernel if isinstance(problem.form, Differential) else regressor(robot, base)
    q, *_ = thin(problem, POSES)
    rest = at_rest(kernel, q)
    reading = Reading(sums, robot.actuated, base.independent, estimate.beta, inertia_rows(kernel, q, rest))
    told = View(reading, rest * of_links(base.independent), base.beta, np.array(robot.gravity_in_base))
    if told.error > POOR or told.trust < -PLAIN:
        described, other = directions(problem)
        if other is not None:
            return (about_gravity(described, other), *about_signs(other))
    return tuple(about_signs(told))


@dataclass(frozen=True, eq=False)
class View:
    """The data under one description: equations, and the weight of the links at some poses."""

    reading: Reading
    weight: SamplesByJointByBase
    described: Float[np.ndarray, "base"]
    gravity: Vector3

    @cached_property
    def signs(self) -> PerJoint:
        return believed_signs(self.reading)

    @property
    def error(self) -> float:
        return self.reading.error(self.signs)

    @cached_property
    def trust(self) -> float:
        """Cosine between the weight that is seen and that of the description's masses; 0 where it has none."""
        seen = self.weight @ self.reading.turned(self.signs).beta
        wanted = self.weight @ self.described
        size = float(np.linalg.norm(seen) * np.linalg.norm(wanted))
        return float(np.sum(seen * wanted)) / size if size else 0.0


def directions(problem: EstimationProblem) -> tuple[View, View | None]:
    """The description on a thin sample, and the direction of gravity to believe in instead, if there is one."""
    described, *others = views(problem)
    best = min(others, key=lambda view: view.reading.least)
    if described.reading.least > BETTER * best.reading.least:
        opposite = next(view for view in others if np.allclose(view.gravity, -best.gravity))
        if opposite.reading.least <= ALIKE * best.reading.least and opposite.trust > best.trust:
            return described, opposite
        return described, best
    hanging = [view for view in others if np.allclose(view.gravity, -described.gravity) and view.trust > PLAIN]
    return described, hanging[0] if hanging and described.trust < -PLAIN else None


def views(problem: EstimationProblem) -> Iterator[View]:
    """The description's gravity, its opposite and the axes of the base, both ways."""
    robot, names = problem.base.robot, problem.base.selected
    q, qd, qdd, tau = thin(problem, min(SAMPLES, max(POSES, NUMBERS // (len(robot.actuated) * len(names)))))
    told = np.array(robot.gravity_in_base)
    size = float(np.linalg.norm(told)) or -STANDARD_GRAVITY[2]
    links = of_links(names)
    kernels = [regressor(_with_gravity(robot, size * axis), parameters=names) for axis in np.eye(3)]
    weights = [at_rest(kernel, q) * links for kernel in kernels]
    weightless = kernels[0](q, qd, qdd) - weights[0]
    some = slice(None, None, max(1, len(q) // POSES))
    inertia = inertia_rows(kernels[0], q[some], at_rest(kernels[0], q[some]))
    theta = robot.theta[[robot.parameter_names.index(name) for name in names]]
    min_speed = problem.form.min_speed if isinstance(problem.form, Differential) else None
    kept = np.ones_like(qd) if min_speed is None else (abs(qd) >= min_speed).astype(float)
    axes = [sign * size * axis for axis in np.eye(3) for sign in (1.0, -1.0)]
    for gravity in (told, -told, *axes):
        weight = sum(part * g / size for part, g in zip(weights, gravity, strict=True))
        reading = Reading(_sums(weightless + weight, tau, kept), robot.actuated, names, theta, inertia)
        yield View(reading, weight[some], theta, gravity)


def about_signs(view: View) -> Iterator[Finding]:
    """What to say of torques that are to be turned round."""
    reading, signs = view.reading, view.signs
    if (signs > 0.0).all():
        return
    wrong = [name for name, sign in zip(reading.joints, signs, strict=True) if sign < 0.0]
    whose = "all torques have" if len(wrong) == len(signs) else f"the torque of {', '.join(wrong)} has"
    before, after = reading.error(np.ones(len(signs))), view.error
    if after > NO_WORSE * before:  # then signs are not what is wrong
        return
    pushing = [f"{name} {f:.3g}" for name, f in zip(reading.joints, reading.friction, strict=True) if f < 0.0]
    turned = ""
    seen = f"the error falls from {_percent(before)} to {_percent(after)}"
    if before <= BETTER * after:
        why = f"friction pushes instead of braking ({', '.join(pushing)} Nm or N)" if pushing else "inertia is negative"
        seen = why
        turned = f"turned round, that is mended and the error is {_percent(after)} instead of {_percent(before)}; "
    row = ", ".join(f"{sign:.0f}" for sign in signs)
    remedy = f"{turned}write [sign] tau = [{row}] in the mapping, times what stands there"
    yield Finding("torque sign", Severity.WARNING, f"{whose} the wrong sign: {seen}", remedy, tuple(wrong))


def about_gravity(described: View, other: View) -> Finding:
    """What to say where gravity is to be believed along another direction."""
    here, there = _named(other.gravity), _named(described.gravity)
    text = f"the description has gravity along {there} of the base, the log along {here}"
    if np.allclose(other.gravity, -described.gravity):
        text += " (else masses would pull upwards)"
    else:
        text += f" (error {_percent(other.error)} instead of {_percent(described.error)})"
        if abs(other.trust) < PLAIN:
            text += ", or the opposite: the description has no masses that tell"
    return Finding("gravity", Severity.WARNING, text, "set mounting or gravity in the robot's description")


def thin(problem: EstimationProblem, most: int) -> tuple[SamplesByJoint, SamplesByJoint, SamplesByJoint, SamplesByJoint]:
    """q, qd, qdd and tau of some samples from all over the logs."""
    tasks = list(problem.tasks())
    parts = [problem.motion(task) for task in tasks[:: -(-len(tasks) // PIECES)]]
    step = max(1, -(-sum(len(part) for part in parts) // most))
    q, qd, qdd = (np.concatenate([getattr(part, name)[::step] for part in parts]) for name in ("q", "qd", "qdd"))
    return q, qd, qdd, np.concatenate([part.tau[::step] for part in parts if part.tau is not None])


def at_rest(kernel: AnyKernel, q: SamplesByJoint) -> SamplesByJointByBase:
    return kernel(q, np.zeros_like(q), np.zeros_like(q))


def inertia_rows(kernel: AnyKernel, q: SamplesByJoint, rest: SamplesByJointByBase) -> Float[np.ndarray, "joints base"]:
    """EquationRows that, times beta, are the mean diagonal of the mass matrix: what unit accelerations add to rest."""
    still, units = np.zeros_like(q), np.eye(q.shape[1])
    return np.array([(kernel(q, still, still + unit) - rest)[:, j].mean(axis=0) for j, unit in enumerate(units)])


def of_links(names: tuple[str, ...]) -> Float[np.ndarray, "base"]:
    """1 for the parameters that have weight."""
    return np.array([name.rpartition(".")[2] in LINK_PARAMETERS for name in names], dtype=float)


def _with_gravity(robot: Robot, gravity: Vector3) -> Robot:
    x, y, z = gravity.tolist()
    return replace(robot, gravity=(x, y, z), mounting=IDENTITY)


def _sums(Y: SamplesByJointByBase, tau: SamplesByJoint, kept: SamplesByJoint) -> NormalEquations:
    joints = []
    for j in range(Y.shape[1]):
        A, b = Y[:, j] * kept[:, j, None], tau[:, j] * kept[:, j]
        joints.append(JointNormalEquations(np.arange(Y.shape[2]), A.T @ A, A.T @ b, float(b @ b), float(kept[:, j].sum())))
    return NormalEquations(Y.shape[2], tuple(joints))


def _named(gravity: Vector3) -> str:
    """An axis where it is one."""
    unit = gravity / (np.linalg.norm(gravity) or 1.0)
    k = int(np.argmax(abs(unit)))
    if abs(unit[k]) > 1.0 - 1e-6:
        return f"{'+' if unit[k] > 0.0 else '−'}{'xyz'[k]}"
    return f"({', '.join(f'{g:.3g}' for g in gravity)})"


def _percent(error: float) -> str:
    return f"{100.0 * error:.2g} %"
