"""Sequential least squares: joint by joint from the last to the first, using one joint's equations at a time.

Identity      beta_i = (U_iiᵀ U_ii)⁻¹ U_iiᵀ (tau_i - sum_{j>i} U_ij beta_j),   i = n, n - 1, …, 1
Reference     [ha1989] (37)-(41)
Accepts       every robot: each joint's equations are solved for the parameters in them that are not yet known
Notation      code    paper       meaning
              own     X_i         base parameters that occur first in joint i's equations; the paper has p_i + 2 of them
              later   X_j, j > i  parameters in joint i's equations that are already solved for
              H       -           (U_iiᵀ U_ii)⁻¹ on the directions that joint i's equations identify
              B       -           the matrix B_j with L_j = B_j U_jjᵀ; beta = sum_j L_j tau_j
Recursive     The paper proposes recursive least squares in place of (38): ``forgetting`` for whole logs, and sample by
              sample ``RecursiveSequential``
Differs from  the paper in: normal equations are accumulated instead of stacking U, with a refining pass over the
              residuals; if condition (40) fails, the directions concerned keep the values of the robot's description
              and the others are solved; robots with branches, couplings and loops; the covariance, which includes the
              errors of later joints; if the errors of a joint's parameters grow along the chain, all joints are solved
              together (``chain_errors``), unless ``one_by_one`` is set
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.identifiability.base_parameters import ModelParameters
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.normal_equations import (
    RANK_TOLERANCE,
    ZERO_COLUMN_TOLERANCE,
    NormalDecomposition,
    NormalEquations,
)
from ytheta.identification.estimators.chain_errors import OwnParameters, judge_chain
from ytheta.identification.estimators.estimator import MAX_UNIDENTIFIED_COMPONENT, Estimate
from ytheta.identification.estimators.recursive import check_forgetting, discount
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Int, PerBase, PerJoint, freeze

# Component along an unidentified direction divided by the largest one; findings name parameters above this value. It
# affects only the length of a list of names.
MIN_NAMED_SHARE = 0.1
TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Sequential:
    """Least squares joint by joint, starting with the last joint.

    ``forgetting``: factor by which the weight of an equation is multiplied at each new sample. With a factor below 1
    the estimate is that of recursive least squares in place of (38), at the end of the log. ``one_by_one``: whether
    (38) is kept if errors grow along the chain of joints; otherwise all joints are then solved together.
    """

    forgetting: float = 1.0
    one_by_one: bool = False

    def __post_init__(self) -> None:
        check_forgetting(self.forgetting)

    @property
    def name(self) -> str:
        return "sequential"

    def fit(self, problem: EstimationProblem) -> Estimate:
        beta = problem.base.beta
        equations, squared = discount(problem, self.forgetting)
        order = order_joints(problem.base.robot)
        chain = split_by_joint(equations, order)
        residuals = [joint.right_side - joint.gram @ beta[joint.columns] for joint in equations.joints]
        beta = beta + solve_chain(chain, residuals)
        if self.forgetting == 1.0:
            refined = problem.normal_equations(around=beta)
            beta = beta + solve_chain(chain, [joint.right_side for joint in refined.joints])
        spread, degrees_of_freedom = propagate_noise(chain, squared)
        findings = tuple(find_rank_conditions_that_fail(problem.base, chain))
        weights, unidentified = np.ones(len(chain)), find_unidentified(chain)
        estimate = Estimate(beta, spread, degrees_of_freedom, weights, unidentified, findings=findings)
        own = list_own_parameters(chain)
        return judge_chain(problem, estimate, equations, own, one_by_one=self.one_by_one, forgetting=self.forgetting)


@dataclass(frozen=True, eq=False)
class JointEquations:
    """The normal equations of one joint, split into parameters to solve for and parameters already solved for.

    Attributes
    ----------
    joint          index of the joint
    base_count     number of all base parameters
    own            base parameters to solve for with the equations of this joint
    later          base parameters already solved for with the equations of joints earlier in the chain
    places         indices of ``own`` among the columns of the joint
    gram           U_iiᵀ U_ii
    crossed        U_iiᵀ U_ij
    decomposition  decomposition of ``gram``
    """

    joint: int
    base_count: int
    own: Int[np.ndarray, " own"]
    later: Int[np.ndarray, " later"]
    places: Int[np.ndarray, " own"]
    gram: Float[np.ndarray, "own own"]
    crossed: Float[np.ndarray, "own later"]
    decomposition: NormalDecomposition


def list_own_parameters(chain: Sequence[JointEquations]) -> list[OwnParameters]:
    """Return the parameters of every joint, in the order of the solution."""
    return [OwnParameters(part.joint, part.own, part.gram) for part in chain]


def order_joints(robot: Robot) -> list[int]:
    """Return indices into ``robot.actuated``, tips first; a motor is placed like the last joint that it moves."""
    place = {name: k for k, name in enumerate(robot.position_names)}
    factors, _ = robot.coupling_map
    last_moved = {
        name: int(np.flatnonzero(column).max(initial=-1))
        for name, column in zip(robot.coordinates, factors.T, strict=True)
    }
    names = robot.actuated
    return sorted(range(len(names)), key=lambda k: place.get(names[k], last_moved[names[k]]), reverse=True)


def split_by_joint(equations: NormalEquations, order: Sequence[int]) -> list[JointEquations]:
    """Assign every parameter to the first joint in ``order`` whose equations contain it."""
    solved = np.zeros(equations.base_count, dtype=bool)
    chain: list[JointEquations] = []
    for j in order:
        joint = equations.joints[j]
        before = solved[joint.columns]
        own, later = np.flatnonzero(~before), np.flatnonzero(before)
        gram = joint.gram[np.ix_(own, own)]
        chain.append(
            JointEquations(
                joint=j,
                base_count=equations.base_count,
                own=joint.columns[own],
                later=joint.columns[later],
                places=own,
                gram=gram,
                crossed=joint.gram[np.ix_(own, later)],
                decomposition=NormalDecomposition.of(gram),
            )
        )
        solved[joint.columns] = True
    return chain


def solve_chain(chain: Sequence[JointEquations], right_sides: Sequence[np.ndarray]) -> PerBase:
    """Solve (38) for the right sides Uᵀ tau of all joints; beta is zero along unidentified directions."""
    beta = np.zeros(chain[0].base_count)
    for part in chain:
        right_side = right_sides[part.joint][part.places] - part.crossed @ beta[part.later]
        beta[part.own] = part.decomposition.solve(right_side)
    return beta


def propagate_noise(
    chain: Sequence[JointEquations], squared: NormalEquations | None = None
) -> tuple[Float[np.ndarray, "joints base base"], PerJoint]:
    """Return P_j = L_j L_jᵀ and the degrees of freedom of every joint.

    In the rows of joint j's own parameters, L_j is H U_jjᵀ. Errors of these parameters affect all joints solved later.
    ``squared``: normal equations with the squared weights of the equations, if the equations have weights.
    """
    size, joints = chain[0].base_count, len(chain)
    spread, degrees_of_freedom = np.zeros((joints, size, size)), np.zeros(joints)
    for k, part in enumerate(chain):
        B = np.zeros((size, len(part.own)))
        B[part.own] = part.decomposition.inverse
        for successor in chain[k + 1 :]:
            B[successor.own] = -successor.decomposition.inverse @ (successor.crossed @ B[successor.later])
        gram = part.gram
        if squared is not None:
            gram = squared.joints[part.joint].gram[np.ix_(part.places, part.places)]
        spread[part.joint] = B @ gram @ B.T
        degrees_of_freedom[part.joint] = part.decomposition.rank
    return spread, degrees_of_freedom


def find_unidentified(chain: Sequence[JointEquations]) -> Float[np.ndarray, "base unidentified"]:
    """Return each joint's unidentified directions, and unit vectors of parameters that occur in no equation."""
    size = chain[0].base_count
    columns: list[np.ndarray] = []
    for part in chain:
        directions = np.zeros((size, part.decomposition.null_space.shape[1]))
        directions[part.own] = part.decomposition.null_space
        columns.append(directions)
    absent = np.setdiff1d(np.arange(size), np.concatenate([part.own for part in chain]))
    return np.concatenate([*columns, np.eye(size)[:, absent]], axis=1)


def check_rank_condition(problem: EstimationProblem, estimate: Estimate) -> Iterator[Finding]:
    """Yield a finding for every joint for which (40) fails and whose parameters another estimator leaves undetermined.

    The other estimator uses the equations of all joints, which may determine what the joint's own equations do not.
    """
    base, unidentified = problem.base, abs(estimate.unidentified).max(axis=1, initial=0.0) > MAX_UNIDENTIFIED_COMPONENT
    chain = split_by_joint(problem.normal_equations(), order_joints(base.robot))
    failing = [
        part for part in chain if part.decomposition.rank < len(part.own) and any(unidentified[k] for k in part.own)
    ]
    for part, cause in _find_causes(base.robot, failing):
        named = [base.names[k] for k in part.own if unidentified[k]]
        rank, joint = part.decomposition.rank, base.robot.actuated[part.joint]
        statement = (
            f"condition (40) fails for {joint!r}: its own equations identify {rank} of {len(part.own)} parameters, and "
            f"those of the other joints do not determine {', '.join(named)} either"
        )
        fields = {"rank": rank, "count": len(part.own), "parameters": named}
        remedy = f"move {cause!r} more"
        yield Finding(FitFindingCode.ESTIMATOR, Severity.WARNING, statement, remedy, (joint,), fields=fields)


def find_rank_conditions_that_fail(base: ModelParameters, chain: Sequence[JointEquations]) -> Iterator[Finding]:
    """Yield a finding for every joint whose own equations do not identify all of its own parameters."""
    failing = [part for part in chain if part.decomposition.rank < len(part.own)]
    for part, cause in _find_causes(base.robot, failing):
        yield make_rank_finding(
            base.robot.actuated[part.joint],
            [base.names[k] for k in part.own],
            part.decomposition,
            is_described=base.standard_combinations is not None,
            is_last=part is chain[-1],
            cause=cause,
        )


def _find_causes(robot: Robot, failing: Sequence[JointEquations]) -> Iterator[tuple[JointEquations, str]]:
    """Yield the joints for which (40) fails, from the base outwards, each with the joint that should move more.

    The functions of a joint's own parameters depend on the motion of this joint and of those before it, so that the
    first of these for which (40) fails is the cause.
    """
    names = [robot.actuated[part.joint] for part in reversed(failing)]
    movable = {joint.name: joint for joint in robot.movable}
    for part, name in zip(reversed(failing), names, strict=True):
        path = {joint.name for joint in robot.path(movable[name].child)} if name in movable else {name}
        yield part, next(each for each in names if each in path)


def make_rank_finding(
    joint: str,
    parameters: Sequence[str],
    decomposition: NormalDecomposition,
    *,
    is_described: bool = True,
    is_last: bool = False,
    cause: str = "",
) -> Finding:
    """Return the finding that the equations of a joint do not identify all of its own parameters.

    ``is_described``: whether the description has values of these parameters. Otherwise the parameters are those of a
    regrouped Lagrangian. ``is_last``: whether no joint is solved after this one. ``cause``: the joint that should move
    more; empty for this joint.
    """
    shares = abs(decomposition.null_space).max(axis=1)
    pairs = zip(parameters, shares, strict=True)
    named = [name for name, share in pairs if share > MIN_NAMED_SHARE * shares.max()]
    rank, count = decomposition.rank, len(parameters)
    missing = "1 combination" if count - rank == 1 else f"{count - rank} combinations"
    kept = "the description's value" if is_described else "the value 0"
    statement = (
        f"condition (40) fails for {joint!r}: its own equations identify {rank} of {count} parameters; {missing} of "
        f"{', '.join(named)} kept {kept}{'' if is_last else ', which the joints solved after it use'}"
    )
    remedy = f"move {(cause or joint)!r} more, or use the estimator weighted"
    fields = {"rank": rank, "count": count, "parameters": named}
    return Finding(FitFindingCode.ESTIMATOR, Severity.WARNING, statement, remedy, (joint,), fields=fields)


# Recursive version of sequential least squares: on-line, sample by sample, with one small matrix per joint.
#
# Identity      X_i(t) = argmin sum_{k<=t} f^(t-k) (tau_i - U_ii X_i - sum_{j>i} U_ij X_j(t))²,   i = n, n - 1, …, 1
# Reference     [ha1989] (38), after which recursive least squares is proposed as a replacement
# Accepts       every robot and form
# Notation      code    paper        meaning                                                        shape
#               own     X_i          parameters that occur first in joint i's equations             own
#               later   X_j, j > i   parameters in these equations that other joints determine      later
#               R       -            triangular factor of the weighted rows U_ii: Rᵀ R is their Gram own x own
#               T       -            tau_i and the columns U_ij, j > i, in the basis of R           own x (1 + later)
# Differs from  the paper in: the paper solves for one joint after the other; on-line, this would use X_j that are not
#               yet accurate. Here tau_i and the columns U_ij are transformed with the same rotations as U_ii, so that
#               X_i = R⁻¹ (T_1 - T_j X_j) is (38) for all samples up to t with the X_j of time t, exactly. Directions
#               that the samples so far do not identify keep their initial values. The factor R, not a covariance, is
#               updated, so that no initial covariance is needed, and rounding errors do not grow.


@dataclass(frozen=True, eq=False)
class JointState:
    """The samples of one joint so far: parameters to solve for and already solved for, and the factors R and T."""

    joint: int
    own: Int[np.ndarray, " own"]
    later: Int[np.ndarray, " later"]
    R: Float[np.ndarray, "own own"]
    T: Float[np.ndarray, "own targets"]

    def solve(self, beta: PerBase) -> Float[np.ndarray, " own"]:
        """Return X_i for the later parameters in ``beta``; directions that are not identified keep the values there."""
        start = beta[self.own]
        right_side = self.T[:, 0] - self.T[:, 1:] @ beta[self.later] - self.R @ start
        sizes = np.linalg.norm(self.R, axis=0)
        units = np.where(sizes > ZERO_COLUMN_TOLERANCE * sizes.max(initial=0.0), 1.0 / np.maximum(sizes, TINY), 0.0)
        return start + units * np.linalg.lstsq(self.R * units, right_side, rcond=RANK_TOLERANCE)[0]


@dataclass(frozen=True, eq=False)
class SequentialState:
    """The state of ``RecursiveSequential``: the factors of all joints, tips first, and the initial parameters."""

    joints: tuple[JointState, ...]
    initial: PerBase

    @cached_property
    def beta(self) -> PerBase:
        """The parameters: (38) with all samples so far."""
        beta = self.initial.copy()
        for joint in self.joints:
            beta[joint.own] = joint.solve(beta)
        return freeze(beta)


@dataclass(frozen=True)
class RecursiveSequential:
    """The on-line form of (38): ``init`` returns a state, and ``step`` updates it with the torques of one sample.

    ``forgetting``: factor by which the weight of an equation is multiplied at each new sample. After each sample, the
    parameters are those of the estimator "sequential" for all samples so far, with the same forgetting.
    """

    forgetting: float = 1.0

    def __post_init__(self) -> None:
        check_forgetting(self.forgetting)

    def init(self, base: ModelParameters, beta: PerBase | None = None) -> SequentialState:
        """Return the initial state.

        Parameters
        ----------
        base  the parameters to estimate, from ``base_parameters``, ``model_parameters`` or ``regroup_lagrangian``
        beta  their initial values, which remain where the samples do not identify them; None for those of the
              description
        """
        initial = np.array(base.beta if beta is None else beta, dtype=float)
        if initial.shape != (len(base),) or not np.isfinite(initial).all():
            raise InputError(f"beta must be {len(base)} finite numbers, one for each of the {base.noun}")
        columns, solved = Differential(base).layout.columns, np.zeros(len(initial), dtype=bool)
        joints: list[JointState] = []
        for j in order_joints(base.robot):
            before = solved[columns[j]]
            own, later = columns[j][~before], columns[j][before]
            factors = np.zeros((len(own), len(own))), np.zeros((len(own), 1 + len(later)))
            joints.append(JointState(j, own, later, *factors))
            solved[columns[j]] = True
        return SequentialState(tuple(joints), freeze(initial))

    def step(
        self, state: SequentialState, Y: Float[np.ndarray, "joints base"], tau: PerJoint
    ) -> tuple[PerJoint, SequentialState]:
        """Return the measured torque minus the one predicted before this sample, and the state after it.

        ``Y`` is the regressor at this sample, such as ``regressor(robot, base).one(q, qd, qdd)``.
        """
        rows, torques = np.asarray(Y, dtype=float), np.asarray(tau, dtype=float)
        shape = len(state.joints), len(state.initial)
        if rows.shape != shape or torques.shape != shape[:1]:
            raise InputError(
                f"Y has shape {rows.shape} and tau {torques.shape}; give Y with {shape[0]} rows and {shape[1]} "
                "columns, and one torque for each row"
            )
        residual = torques - rows @ state.beta
        if not np.isfinite(residual).all():
            raise InputError("a torque or an entry of Y is not finite; leave out this sample")
        joints = tuple(self._update(joint, rows[joint.joint], float(torques[joint.joint])) for joint in state.joints)
        return residual, replace(state, joints=joints)

    def _update(self, joint: JointState, row: PerBase, tau: float) -> JointState:
        """Rotate one more equation into the factors; what is left of it is its residual, which (38) does not use."""
        if np.count_nonzero(row) > np.count_nonzero(row[joint.own]) + np.count_nonzero(row[joint.later]):
            raise InputError(
                f"row {joint.joint} of Y has entries for parameters that the torque of this joint does not contain; "
                "give the regressor of the parameters given to init"
            )
        count, equation = len(joint.own), np.concatenate([row[joint.own], [tau], row[joint.later]])
        before = math.sqrt(self.forgetting) * np.concatenate([joint.R, joint.T], axis=1)
        Q, R = np.linalg.qr(np.concatenate([before[:, :count], equation[None, :count]]))
        T = Q.T @ np.concatenate([before[:, count:], equation[None, count:]])
        return replace(joint, R=R, T=T)
