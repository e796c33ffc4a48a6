"""What in the data contradicts the description rather than being noise: signs of torques, the direction of gravity.

Least squares fits what it is given. A torque with the wrong sign or gravity along the wrong axis therefore shows in
places where nothing can be absorbed: friction that pushes, a mass matrix that is not positive, a weight that pulls
upwards, or an error that another description would divide by two.

Signs         Turning the torque of joint j round turns its moment b_j round: with weights 1/|tau_j|² the error of the
              signs s is 1 - sᵀ A s / joints, A_ij = b_iᵀ N⁻¹ b_j. All signs are tried without another look at the data.
              Signs that differ in all joints fit alike, and where joints hardly move each other so do some that differ
              in one: there friction decides, which belongs to one joint alone, and the mass matrix where none is asked.
Gravity       Y is linear in gravity: A(q, qd, qdd) + sum_k g_k G_k(q), so that three kernels at some samples give the
              error for every direction. Upside down is hardly worse in slow motion, since first moments turn round with
              it; there the weight that the description's own masses would have decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from ytheta.conventions import LINK_PARAMETERS
from ytheta.identify.differential import Differential
from ytheta.identify.estimate import Estimate
from ytheta.identify.least_squares import Weights, solved
from ytheta.identify.problem import Problem
from ytheta.identify.rows import Beta
from ytheta.identify.solve import Normal
from ytheta.identify.sums import Sums
from ytheta.identify.weighted import joint_weights
from ytheta.kernels import regressor
from ytheta.shapes import Float
from ytheta.signal.log import Finding, Weight

BETTER = 1.5  # times smaller error: right descriptions of six recorded arms were never beaten by more than 1.07
NOT_WORSE = 1.1  # times larger error, at which another description still fits as well
SURE = 8.0  # standard deviations if noise were white, about 3 as it is; friction of recorded arms has 12 and more
POOR = 0.08  # of all torque: recorded arms with complete models have 1 to 6 %, with gravity to the side 10 to 75 %
AGREES = 0.5  # cosine between the weight that is seen and the described one
MOST_SIGNED = 12  # joints for which all signs are tried; beyond, those that differ in one or two
PIECES, POSES, SAMPLES = 8, 200, 3000  # of a thin sample: where it is taken, poses at rest, equations in motion

Signs = Float[np.ndarray, "joints"]
Joints = Float[np.ndarray, "samples joints"]
Regressor = Float[np.ndarray, "samples joints params"]


def doubts(problem: Problem, sums: Sums, estimate: Estimate) -> tuple[Finding, ...]:
    """Findings about torque signs and gravity, each with the errors before and after and what to write."""
    signs = believed_signs(problem, sums, estimate)
    raise NotImplementedError


def turned(sums: Sums, signs: Signs) -> Sums:
    """The sums as they were if some torques had the other sign."""
    return Sums(sums.base, tuple(replace(j, moment=s * j.moment) for j, s in zip(sums.joints, signs, strict=True)))


def even_weights(sums: Sums) -> Weights:
    """Every joint counts alike, whatever its torque."""
    return 1.0 / np.maximum(sums.squares, np.finfo(float).tiny)


def agreement(sums: Sums) -> Float[np.ndarray, "joints joints"]:
    """A: the squared torque that signs s explain is sᵀ A s."""
    weights = even_weights(sums)
    B = np.zeros((sums.base, len(weights)))
    for j, (weight, joint) in enumerate(zip(weights, sums.joints, strict=True)):
        B[joint.columns, j] = weight * joint.moment
    return B.T @ Normal.of(sums.normal(weights)).inverse @ B


def error(A: Float[np.ndarray, "joints joints"], signs: Signs) -> float:
    return float(np.sqrt(max(0.0, 1.0 - signs @ A @ signs / len(signs))))


def best_signs(A: Float[np.ndarray, "joints joints"]) -> Signs:
    """The signs of the smallest error; of those that hardly differ, the ones with the fewest turned."""
    n = len(A)
    most = n // 2 if n <= MOST_SIGNED else 2  # the others are these with all turned
    best = np.ones(n)
    for count in range(1, most + 1):
        for chosen in combinations(range(n), count):
            signs = np.ones(n)
            signs[list(chosen)] = -1.0
            if error(A, signs) * BETTER < error(A, best):
                best = signs
    return best
