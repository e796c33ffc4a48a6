"""Sequential least squares: joint by joint from the last to the first, each from its own equations alone.

Identity      beta_i = (U_iiᵀ U_ii)⁻¹ U_iiᵀ (tau_i - sum_{j>i} U_ij beta_j),   i = n, n - 1, …, 1
Reference     [ha1989] (37)-(41)
Accepts       every robot: what a joint's equations hold and no joint before it in this order has solved is its own
Notation      code    paper       meaning
              own     X_i         base parameters that joint i is the first to solve, p_i + 2 of them in the paper
              later   X_j, j > i  those in its equations that are solved already
              H       -           (U_iiᵀ U_ii)⁻¹ over the directions that its equations show
              B       -           L_j = B_j U_jjᵀ: how all of beta depends on the torques of joint j
Differs from  the paper in: products are summed instead of stacking U, with a refining pass over the residuals; where
              condition (40) fails, the directions concerned keep the values of the robot's description and the others
              are solved; robots with branches, couplings and loops; the covariance, errors of later joints included
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.decomposition import NormalDecomposition
from ytheta.identification.estimators.estimate import Estimate
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Int, PerBase

SHARE = 0.1  # of its largest entry: parameters with less of an unseen direction are not named


@dataclass(frozen=True)
class Sequential:
    """One joint after the other, the last one first."""

    @property
    def name(self) -> str:
        return "sequential"

    def fit(self, problem: EstimationProblem) -> Estimate:
        sums, beta = problem.sums(), problem.base.beta
        chain = chained(sums, joint_order(problem.base.robot))
        left = [joint.moment - joint.gram @ beta[joint.columns] for joint in sums.joints]
        beta = beta + solved(chain, left)
        beta = beta + solved(chain, [joint.moment for joint in problem.sums(around=beta).joints])
        spread, used = propagated(chain)
        names, joints = problem.base.names, problem.base.robot.actuated
        notes = tuple(
            rank_note(joints[block.joint], [names[k] for k in block.own], block.normal)
            for block in chain
            if block.normal.seen < len(block.own)
        )
        return Estimate(beta, spread, used, np.ones(len(chain)), unseen(chain), notes=notes)


@dataclass(frozen=True, eq=False)
class Block:
    """What one joint solves: its ``own`` parameters, with ``crossed`` = U_iiᵀ U_ij for those solved ``later``.

    ``places`` are its own among its columns, ``size`` is the number of all base parameters.
    """

    joint: int
    size: int
    own: Int[np.ndarray, "own"]
    later: Int[np.ndarray, "later"]
    places: Int[np.ndarray, "own"]
    gram: Float[np.ndarray, "own own"]
    crossed: Float[np.ndarray, "own later"]
    normal: NormalDecomposition


def joint_order(robot: Robot) -> list[int]:
    """Places in ``robot.actuated``, those at the tips of the tree first; motors stand where their last joint does."""
    place = {joint.name: k for k, joint in enumerate(robot.movable)}
    factors, _ = robot.coupling_map
    moves = {
        name: int(np.flatnonzero(column).max(initial=-1))
        for name, column in zip(robot.coordinates, factors.T, strict=True)
    }
    return sorted(
        range(len(robot.actuated)), key=lambda k: place.get(robot.actuated[k], moves[robot.actuated[k]]), reverse=True
    )


def chained(sums: NormalEquations, order: Sequence[int]) -> list[Block]:
    """Who solves what, in the order of solving."""
    known = np.zeros(sums.base, dtype=bool)
    chain: list[Block] = []
    for j in order:
        joint = sums.joints[j]
        before = known[joint.columns]
        own, later = np.flatnonzero(~before), np.flatnonzero(before)
        gram = joint.gram[np.ix_(own, own)]
        chain.append(
            Block(
                joint=j,
                size=sums.base,
                own=joint.columns[own],
                later=joint.columns[later],
                places=own,
                gram=gram,
                crossed=joint.gram[np.ix_(own, later)],
                normal=NormalDecomposition.of(gram),
            )
        )
        known[joint.columns] = True
    return chain


def solved(chain: Sequence[Block], moments: Sequence[np.ndarray]) -> PerBase:
    """(38) for the moments Uᵀ tau of every joint's equations; zero in directions that are not seen."""
    beta = np.zeros(chain[0].size)
    for block in chain:
        beta[block.own] = block.normal.solve(moments[block.joint][block.places] - block.crossed @ beta[block.later])
    return beta


def propagated(chain: Sequence[Block]) -> tuple[Float[np.ndarray, "joints base base"], Float[np.ndarray, "joints"]]:
    """P_j = L_j L_jᵀ of every joint, and how many parameters it paid for.

    L_j is H U_jjᵀ in the joint's own rows; from there its errors go into every joint that is solved after it.
    """
    size, joints = chain[0].size, len(chain)
    spread, used = np.zeros((joints, size, size)), np.zeros(joints)
    for k, block in enumerate(chain):
        B = np.zeros((size, len(block.own)))
        B[block.own] = block.normal.inverse
        for after in chain[k + 1 :]:
            B[after.own] = -after.normal.inverse @ (after.crossed @ B[after.later])
        spread[block.joint] = B @ block.gram @ B.T
        used[block.joint] = block.normal.seen
    return spread, used


def unseen(chain: Sequence[Block]) -> Float[np.ndarray, "base unseen"]:
    """Directions that some joint should have solved and could not, and parameters that occur in no equation."""
    size = chain[0].size
    columns: list[np.ndarray] = []
    for block in chain:
        directions = np.zeros((size, block.normal.unseen.shape[1]))
        directions[block.own] = block.normal.unseen
        columns.append(directions)
    nowhere = np.setdiff1d(np.arange(size), np.concatenate([block.own for block in chain]))
    return np.concatenate([*columns, np.eye(size)[:, nowhere]], axis=1)


def rank_note(joint: str, names: Sequence[str], normal: NormalDecomposition) -> str:
    """What to know of a joint whose own equations do not show all that they should."""
    shares = abs(normal.unseen).max(axis=1)
    named = ", ".join(name for name, share in zip(names, shares, strict=True) if share > SHARE * shares.max())
    missing = len(names) - normal.seen
    return (
        f"(40) fails for {joint!r}: its own equations show {normal.seen} of {len(names)} parameters; {missing} "
        f"combination{'s' if missing > 1 else ''} of {named} kept the description's value, and joints before it rely "
        "on that; let the joint move more, or use weighted"
    )
