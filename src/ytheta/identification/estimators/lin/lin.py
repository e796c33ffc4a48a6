"""Lin's identification procedure: minimal linear combinations, joint by joint from the last to the first.

Identity      A_i w_i = gamma_i,   gamma_i = tau_i - phi_i(w_{i+1}, …, w_n),   i = n, …, 1; then beta = C w
Reference     [lin1995] sec. IV, (94)-(117)
Accepts       serial arms of revolute and prismatic joints, in the differential form. Outside: branches, loops,
              couplings, motors that are no joint's own, declared forces
Notation      code   paper    meaning
              w      w_i      combinations of Theorem 2, and what is felt in joint i's equation alone; see ``lin_arm``
              A      A_i      v_i of all samples, one per row; never stored, but the triangle R of its QR decomposition
              C      -        beta = C w
Differs from  the paper in: motion is computed again for every joint instead of being saved, so that logs may be long;
              friction, offset and rotor inertia; directions that A_i does not show keep the values of the description;
              the covariance, which is that of ``sequential`` in another basis

No regressor takes part in w: the recursion of the inverse dynamics stands in its place, which makes this estimator an
independent check of ``sequential``. Only the covariance takes products of columns from the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from ytheta.engine.local import in_order
from ytheta.errors import InputError
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.normal_equations import JointNormalEquations, NormalEquations
from ytheta.identification.equations.estimation_problem import EstimationProblem, Task
from ytheta.identification.equations.decomposition import NormalDecomposition
from ytheta.identification.estimators.estimate import Estimate
from ytheta.identification.estimators.lin.serial_arm import OTHERS, Arm
from ytheta.identification.estimators.lin.recursion import Behind, columns, kinematics
from ytheta.identification.estimators.sequential import chained, propagated, rank_note
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import Float

FELT = 1e-9  # of the largest entry of C: an unseen direction of w with less than this in beta is none of beta's


@dataclass(frozen=True)
class Lin:
    """Joint by joint, by the inverse dynamics in minimal parameters."""

    @property
    def name(self) -> str:
        return "lin"

    def fit(self, problem: EstimationProblem) -> Estimate:
        if not isinstance(problem.form, Differential):
            raise InputError(f"lin needs accelerations, which the {problem.form.name} form has not; {OTHERS}")
        arm = Arm.of(problem.base)
        w = arm.M @ problem.base.robot.theta
        notes: list[str] = []
        hidden = [np.zeros((len(problem.base), 0))]
        for i, joint in reversed(list(enumerate(arm.joints))):
            own = arm.own(i)
            triangle = _triangle(problem, problem.form, arm, i, w)
            R, z = triangle[:, :-1], triangle[:, -1]
            normal = NormalDecomposition.of(R.T @ R)  # (117)
            for _ in range(3):  # the first solves, the others make good what squaring R loses
                w[own] += normal.solve(R.T @ (z - R @ w[own]))  # (111), (116)
            directions = arm.C[:, own] @ normal.unseen
            sizes = np.linalg.norm(directions, axis=0)
            felt = sizes > FELT * abs(arm.C).max()
            if felt.any():
                notes.append(rank_note(joint.name, joint.names, normal))
                hidden.append(directions[:, felt] / sizes[felt])
        spread, used = propagated(chained(_in_combinations(problem.sums(), arm), arm.places[::-1]))
        beta, ones = arm.C @ w, np.ones(len(arm.joints))
        return Estimate(
            beta, arm.C @ spread @ arm.C.T, used, ones, np.concatenate(hidden, axis=1), len(arm.joints), tuple(notes)
        )


def _triangle(
    problem: EstimationProblem, form: Differential, arm: Arm, i: int, w: Float[np.ndarray, "combinations"]
) -> Float[np.ndarray, "rows columns"]:
    """The triangle of the QR decomposition of [A_i gamma_i], steps 2 to 4 for all samples."""
    place, drive = arm.places[i], problem.base.robot.moving.index(arm.joints[i].name)

    def work(task: Task) -> np.ndarray:
        motion = problem.motion(task)
        equations = _equations(arm, i, w, motion, drive)
        if form.min_speed is not None:
            equations = equations[abs(motion.qd[:, place]) >= form.min_speed[place]]
        return np.asarray(np.linalg.qr(equations, mode="r"))

    def both(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        return np.asarray(np.linalg.qr(np.concatenate([one, other]), mode="r"))

    empty = np.zeros((0, len(arm.joints[i].names) + 1))
    return reduce(both, in_order(work, problem.tasks(), threads=problem.threads), empty)


def _equations(
    arm: Arm,
    i: int,
    w: Float[np.ndarray, "combinations"],
    motion: MotionSamples,
    drive: int,
) -> Float[np.ndarray, "samples columns"]:
    """A_i (107) and gamma_i (108) of some samples; ``drive`` is the joint's place among the directions."""
    assert motion.tau is not None
    tau = motion.tau[:, arm.places[i]]
    direction = None if motion.direction is None else motion.direction[:, drive]
    q, qd, qdd = (np.ascontiguousarray(x[:, arm.places].T) for x in (motion.q, motion.qd, motion.qdd))
    stages = [joint.stage for joint in arm.joints]
    moved = kinematics(stages, arm.gravity, q, qd, qdd)  # step 1
    behind = Behind.nothing(len(tau))
    for j in reversed(range(i + 1, len(stages))):
        E = arm.joints[j].E
        behind = behind.handed_on(stages[j], moved[j], E @ w[arm.own(j)][: E.shape[1]])
    joint = arm.joints[i]
    v = joint.E.T @ columns(stages[i], moved[i])  # (109)
    gamma = tau - behind.phi(stages[i], moved[i])
    return np.concatenate([v, joint.drive_columns(qd[i], qdd[i], direction), gamma[None]]).T


def _in_combinations(sums: NormalEquations, arm: Arm) -> NormalEquations:
    """Products of the columns that w has in every joint's equations: those of its own and of all joints behind."""
    found = list(sums.joints)
    for i, place in enumerate(arm.places):
        joint = sums.joints[place]
        felt = np.arange(arm.own(i).start, arm.C.shape[1])
        C = arm.C[np.ix_(joint.columns, felt)]
        found[place] = JointNormalEquations(felt, C.T @ joint.gram @ C, C.T @ joint.moment, joint.square, joint.count)
    return NormalEquations(arm.C.shape[1], tuple(found))
