"""Lin's identification procedure: minimal linear combinations, joint by joint from the last to the first.

Identity      A_i w_i = gamma_i,   gamma_i = tau_i - phi_i(w_{i+1}, …, w_n),   i = n, …, 1; then beta = C w
Reference     [lin1995] sec. IV, (94)-(117)
Accepts       serial arms of revolute and prismatic joints, in the differential form. Not: branches, loops, couplings,
              motors that are not part of a joint, declared forces
Notation      code   paper    meaning
              w      w_i      combinations of Theorem 2, and parameters that occur only in joint i's equation; see
                              ``lin_serial_arm``
              A      A_i      v_i of all samples, one per row; only the factor R of its QR decomposition is stored
              C      -        the matrix C with beta = C w
Differs from  the paper in: motion is computed again for every joint instead of being stored, so that logs may be long;
              friction, offset and rotor inertia; directions that A_i does not identify keep the values of the
              description; the covariance, which is computed like that of ``sequential`` in another basis; if errors
              grow from joint to joint, all joints are solved together (``chain_errors``)

The estimate uses the recursion of the inverse dynamics instead of a regressor, so it is an independent check of
``sequential``. Only the covariance uses products of the regressor's columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from ytheta.engine.local import map_in_order
from ytheta.errors import InputError
from ytheta.findings import Finding
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem, SourceRange
from ytheta.identification.equations.normal_equations import JointNormalEquations, NormalDecomposition, NormalEquations
from ytheta.identification.estimators.chain_errors import judge_chain
from ytheta.identification.estimators.estimator import Estimate
from ytheta.identification.estimators.lin_serial_arm import OTHER_ESTIMATORS, OuterBodies, SerialArm
from ytheta.identification.estimators.sequential import (
    list_own_parameters,
    make_rank_finding,
    order_joints,
    propagate_noise,
    split_by_joint,
)
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import Float

# For an unidentified unit vector x in the space of w: |C x| divided by the largest entry of C. Below this value the
# direction does not affect beta. Chosen on: reasoning; smaller lengths are rounding errors.
MIN_IMAGE_LENGTH = 1e-9


@dataclass(frozen=True)
class Lin:
    """Least squares joint by joint, with the inverse dynamics in minimal combinations instead of a regressor.

    ``one_by_one``: whether the procedure of the paper is kept if errors grow along the chain of joints; otherwise all
    joints are then solved together.
    """

    one_by_one: bool = False

    @property
    def name(self) -> str:
        return "lin"

    def fit(self, problem: EstimationProblem) -> Estimate:
        if not isinstance(problem.form, Differential):
            raise InputError(
                f"lin needs accelerations, which the {problem.form.name} form does not have; {OTHER_ESTIMATORS}"
            )
        base = problem.base.standard_combinations
        if base is None:
            raise InputError(f"lin needs the geometry, which is unknown; {OTHER_ESTIMATORS}")
        arm = SerialArm.of(base)
        w = arm.M @ problem.base.robot.theta
        findings: list[Finding] = []
        unidentified = [np.zeros((len(problem.base), 0))]
        condition_numbers = np.ones(len(arm.joints))
        for i, joint in reversed(list(enumerate(arm.joints))):
            part = arm.find_slice(i)
            triangle = _triangularize(problem, problem.form, arm, i, w)
            R, z = triangle[:, :-1], triangle[:, -1]
            decomposition = NormalDecomposition.of(R.T @ R)  # (117)
            condition_numbers[arm.places[i]] = decomposition.condition_number
            for _ in range(3):  # the first round solves; two more restore the accuracy lost by squaring R
                w[part] += decomposition.solve(R.T @ (z - R @ w[part]))  # (111), (116)
            directions = arm.C[:, part] @ decomposition.null_space
            sizes = np.linalg.norm(directions, axis=0)
            affects_beta = sizes > MIN_IMAGE_LENGTH * abs(arm.C).max()
            if affects_beta.any():
                findings.append(make_rank_finding(joint.name, joint.names, decomposition))
                unidentified.append(directions[:, affects_beta] / sizes[affects_beta])
        in_w = _change_basis(problem.normal_equations(), arm)
        spread, degrees_of_freedom = propagate_noise(split_by_joint(in_w, arm.places[::-1]))
        estimate = Estimate(
            arm.C @ w,
            arm.C @ spread @ arm.C.T,
            degrees_of_freedom,
            np.ones(len(arm.joints)),
            np.concatenate(unidentified, axis=1),
            len(arm.joints),
            tuple(findings),
            condition_numbers,
        )
        equations = problem.normal_equations()
        chain = split_by_joint(equations, order_joints(problem.base.robot))
        return judge_chain(problem, estimate, equations, list_own_parameters(chain), one_by_one=self.one_by_one)


def _triangularize(
    problem: EstimationProblem, form: Differential, arm: SerialArm, i: int, w: Float[np.ndarray, " combinations"]
) -> Float[np.ndarray, "rows columns"]:
    """Return the factor R of the QR decomposition of [A_i gamma_i]: steps 2 to 4 for all samples."""
    place, drive = arm.places[i], problem.base.robot.moving.index(arm.joints[i].name)

    def work(task: SourceRange) -> np.ndarray:
        motion = problem.motion(task)
        equations = compute_joint_equations(arm, i, w, motion, drive)
        mask = form.mask(motion)
        if mask is not None:
            equations = equations[mask[place] > 0.0]
        return np.asarray(np.linalg.qr(equations, mode="r"))

    def merge(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray(np.linalg.qr(np.concatenate([a, b]), mode="r"))

    empty = np.zeros((0, len(arm.joints[i].names) + 1))
    return reduce(merge, map_in_order(work, problem.tasks(), threads=problem.threads), empty)


def compute_joint_equations(
    arm: SerialArm, i: int, w: Float[np.ndarray, " combinations"], motion: MotionSamples, drive: int
) -> Float[np.ndarray, "samples columns"]:
    """Return A_i (107) and gamma_i (108) for each sample; ``drive`` is the joint's column of ``motion.direction``."""
    assert motion.tau is not None
    tau = motion.tau[:, arm.places[i]]
    direction = None if motion.direction is None else motion.direction[:, drive]
    bodies, qd, qdd = arm.propagate(motion.q, motion.qd, motion.qdd)  # step 1
    outer = OuterBodies.none(len(tau))
    for j in reversed(range(i + 1, len(bodies))):
        E = arm.joints[j].E
        outer = outer.add(arm.joints[j].frame, bodies[j], E @ w[arm.find_slice(j)][: E.shape[1]])
    joint = arm.joints[i]
    gamma = tau - outer.phi(joint.frame, bodies[i])
    return np.concatenate([joint.compute_columns(bodies[i], qd[i], qdd[i], direction), gamma[None]]).T


def _change_basis(equations: NormalEquations, arm: SerialArm) -> NormalEquations:
    """Return the normal equations in w; a joint's equations contain its own combinations and those of outer joints."""
    joints = list(equations.joints)
    for i, place in enumerate(arm.places):
        joint = equations.joints[place]
        columns = np.arange(arm.find_slice(i).start, arm.C.shape[1])
        C = arm.C[np.ix_(joint.columns, columns)]
        joints[place] = JointNormalEquations(
            columns, C.T @ joint.gram @ C, C.T @ joint.right_side, joint.torque_squares, joint.count
        )
    return NormalEquations(arm.C.shape[1], tuple(joints))
