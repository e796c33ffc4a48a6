"""Equations of fernandez2000, evaluated for a PUMA at a random state and compared with other formulations.

Notation      code     paper          meaning
              theta    theta_D        ν(J_l) of all links, sixteen entries per link
              Y_D …    Y_D, Y_H, Y_c  the parts of the regressor (11), (14), (18)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ytheta.dynamics import rigid_body
from ytheta.dynamics.formulations import newton_euler
from ytheta.dynamics.formulations.kronecker import (
    fold,
    gravity_part,
    inertial_part,
    multiply_kronecker,
    trace_columns,
    trace_vector,
    vectorize,
    velocity_part,
)
from ytheta.dynamics.mechanism import PER_LINK, Mechanism, Motion, build_mechanism, numeric_motion
from ytheta.dynamics.operation_counts import count_regressor_operations
from ytheta.dynamics.rigid_body import mass_matrix
from ytheta.reproduction.exhibit import Agreement, Comparison, Exhibit, compare_printed
from ytheta.reproduction.fernandez2000.simulation import load_puma
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

COUNTED = ("kronecker", "lagrange", "newton_euler")  # formulations
MAX_RELATIVE_ERROR = 1e-12  # of results that agree, relative to the largest entry


@dataclass(frozen=True, eq=False)
class Arm:
    """A robot at one state, with a reference velocity v and its derivative vd."""

    robot: Robot
    mechanism: Mechanism
    motion: Motion

    @staticmethod
    def draw(robot: Robot, seed: int = 0) -> Arm:
        mechanism = build_mechanism(robot)
        q, qd, vd, v = np.random.default_rng(seed).uniform(-2.0, 2.0, (4, mechanism.joints))
        return Arm(robot, mechanism, numeric_motion(q, qd, vd, v))

    @cached_property
    def with_own_velocity(self) -> Arm:
        """The same state with v = qd, the case of the torque equation."""
        return replace(self, motion=numeric_motion(self.motion.q, self.motion.qd, self.motion.vd))

    @cached_property
    def link_parameters(self) -> Float[np.ndarray, "params"]:
        return np.concatenate([link.inertia.vector for link in self.mechanism.robot.links[1:]])

    @cached_property
    def theta(self) -> Float[np.ndarray, "params"]:
        """θ_D of (12)."""
        return np.concatenate([vectorize(link.inertia.pseudo) for link in self.mechanism.robot.links[1:]])

    @cached_property
    def Y_D(self) -> Float[np.ndarray, "joints params"]:
        return inertial_part(self.mechanism, self.motion).astype(float)

    @cached_property
    def Y_H(self) -> Float[np.ndarray, "joints params"]:
        return velocity_part(self.mechanism, self.motion).astype(float)

    @cached_property
    def Y_c(self) -> Float[np.ndarray, "joints params"]:
        return gravity_part(self.mechanism, self.motion).astype(float)

    @cached_property
    def torque(self) -> Float[np.ndarray, "joints"]:
        """D vd + h v + c by the recursion of Newton and Euler."""
        return newton_euler.inverse_dynamics(self.mechanism, self.motion, self.link_parameters).astype(float)


def compare_equations() -> tuple[Exhibit, ...]:
    """Return the exhibits of sections 2, 3 and 4, and the cost of the formulation."""
    arm = Arm.draw(load_puma())
    return (
        Exhibit("section_2", "Section 2: properties of ν, ⊗ and the row-trace", tuple(_compare_properties())),
        Exhibit(
            "equations_11_24", "(11)-(24): the regressor of the torque", tuple(_compare_torque(arm.with_own_velocity))
        ),
        Exhibit("equation_25", "(25): from 16 n to 10 n columns", tuple(_compare_columns(arm.with_own_velocity))),
        Exhibit("equations_33_40", "(33)-(40): the regressor of Slotine and Li", tuple(_compare_slotine_li(arm))),
        Exhibit(
            "section_6",
            "Section 6: computational cost",
            (_compare_cost(arm.robot),),
            open="the paper gives no numbers; operations of the regressor of the PUMA 560 are counted here.",
        ),
    )


def _compare_properties() -> Iterator[Comparison]:
    rng = np.random.default_rng(0)
    A, B, C = rng.normal(size=(3, 4)), rng.normal(size=(4, 2)), rng.normal(size=(2, 5))
    left, right = vectorize(A @ B @ C), multiply_kronecker(C.T, A) @ vectorize(B)
    yield _compare_arrays("ν(A B C) = (Cᵀ ⊗ A) ν(B)", left, right)
    S = rng.normal(size=(4, 4))
    yield _compare_arrays("tr(A) = tr(ν(A))", np.trace(S), trace_vector(vectorize(S)))
    wide, b = rng.normal(size=(16, 8)), vectorize(B)
    yield _compare_arrays("proposition 1: tr(A ν(B)) = rtr(A) ν(B)", trace_vector(wide @ b), trace_columns(wide) @ b)


def _compare_torque(arm: Arm) -> Iterator[Comparison]:
    at, theta, motion = arm.mechanism, arm.link_parameters, arm.motion
    yield _compare_arrays("(11): Y_D θ_D = D q̈", arm.Y_D @ arm.theta, mass_matrix(at, motion, theta) @ motion.vd)
    velocity = rigid_body.coriolis_matrix(at, motion, theta) @ motion.v
    yield _compare_arrays("(14): Y_H θ_D = h", arm.Y_H @ arm.theta, velocity)
    yield _compare_arrays("(18): Y_c θ_c = c", arm.Y_c @ arm.theta, rigid_body.gravity(at, motion, theta))
    below = max(_get_largest_below_diagonal(Y) for Y in (arm.Y_D, arm.Y_H, arm.Y_c))
    yield Comparison(
        "Y_D, Y_H, Y_c are upper triangular",
        "yes",
        "yes" if below == 0.0 else f"no, largest entry below the diagonal blocks {below:.2g}",
        Agreement.of(below == 0.0),
    )
    yield _compare_arrays("(24): (Y_D + Y_H + Y_c) θ = τ", (arm.Y_D + arm.Y_H + arm.Y_c) @ arm.theta, arm.torque)
    yield _compare_misprint(
        "(23), in (24)",
        ("[gᵀ U_1i … gᵀ U_ii 0 … 0]ᵀ", (arm.Y_D + arm.Y_H - arm.Y_c) @ arm.theta),
        ("-[gᵀ U_1i … gᵀ U_ii 0 … 0]ᵀ", (arm.Y_D + arm.Y_H + arm.Y_c) @ arm.theta),
        arm.torque,
        "the minus sign of (18) is missing",
    )


def _get_largest_below_diagonal(Y: Float[np.ndarray, "joints params"]) -> float:
    blocks = np.abs(Y).reshape(len(Y), len(Y), -1).max(axis=2)
    return float(np.tril(blocks, -1).max())


def _compare_columns(arm: Arm) -> Iterator[Comparison]:
    n, Y = arm.mechanism.joints, arm.Y_D + arm.Y_H + arm.Y_c
    folded = fold(Y).astype(float)
    yield compare_printed("16 n columns, n = 6", "96", Y.shape[1])
    yield compare_printed("10 n different parameters, n = 6", "60", folded.shape[1])
    ten = np.concatenate([link.inertia.pseudo[np.triu_indices(4)] for link in arm.mechanism.robot.links[1:]])
    yield _compare_arrays("10 n columns give the same torque", folded @ ten, arm.torque)
    blocks = folded.reshape(n, n, PER_LINK) * np.eye(n)[:, :, None]
    yield _compare_misprint(
        "block of the column in (25)",
        ("that of the row i", blocks.reshape(n, -1) @ ten),
        ("that of the link", folded @ ten),
        arm.torque,
        "with the same i for row and block, only the diagonal blocks of the regressor would be kept",
    )
    places = [4 * (r - 1) - r * (r - 1) // 2 + s for r in range(1, 5) for s in range(1, 5)]
    upper = [4 * (r - 1) - r * (r - 1) // 2 + s for r in range(1, 5) for s in range(r, 5)]
    right = sorted(upper) == list(range(1, PER_LINK + 1))
    yield Comparison(
        "range of s in (25)",
        "1:4",
        "r:4" if right else "another",
        Agreement.of(sorted(places) == list(range(1, PER_LINK + 1))),
        "with s < r, z would be the place of another entry: r = 2, s = 1 and r = 1, s = 4 both give z = 4",
    )


def _compare_slotine_li(arm: Arm) -> Iterator[Comparison]:
    Y_S = arm.Y_D + arm.Y_H + arm.Y_c
    yield _compare_arrays("(30): Y_S θ = D v̇ + h v + c", Y_S @ arm.theta, arm.torque)
    ones = numeric_motion(arm.motion.q, np.ones(arm.mechanism.joints), arm.motion.vd, arm.motion.v)
    printed = velocity_part(arm.mechanism, ones).astype(float)  # without q̇_j: as if q̇_j = 1
    velocity = rigid_body.coriolis_matrix(arm.mechanism, arm.motion, arm.link_parameters) @ arm.motion.v
    yield _compare_misprint(
        "B_hil of (40)",
        ("Σ_j Σ_k (U_il ⊗ U_kjl v_k)", printed @ arm.theta),
        ("Σ_j Σ_k (U_il ⊗ U_kjl) q̇_j v_k", arm.Y_H @ arm.theta),
        velocity,
        "the factor q̇_j of (16) is missing",
    )
    rows, columns = fold(Y_S).shape
    yield Comparison(
        "size of Y_S by (25), n = 6",
        "10 n × n = 60 × 6",
        f"n × 10 n = {rows} × {columns}",
        Agreement.of((rows, columns) == (60, 6)),
        "(10) has n × 10 n",
    )


def _compare_cost(robot: Robot) -> Comparison:
    counts = count_regressor_operations(robot)
    shown = (f"{name} {counts[name]['multiplications']} / {counts[name]['additions']}" for name in COUNTED)
    return Comparison(
        "multiplications / additions",
        "can be reduced by leaving out zeros and by symmetry",
        ", ".join(shown),
        Agreement.OPEN,
    )


def _compare_arrays(name: str, value: object, other: object) -> Comparison:
    """Compare an identity of the paper: both sides, relative to the largest entry."""
    error = _compute_relative_error(value, other)
    return Comparison(name, "equal", f"equal to {error:.1g}", Agreement.of(error < MAX_RELATIVE_ERROR))


def _compare_misprint(
    name: str, printed: tuple[str, np.ndarray], correct: tuple[str, np.ndarray], expected: np.ndarray, note: str
) -> Comparison:
    """Compare a printed formula and a corrected one, each given as text and value, with the expected value."""
    wrong, right = (_compute_relative_error(value, expected) for _, value in (printed, correct))
    shown = correct[0] if right < MAX_RELATIVE_ERROR else f"another result, off by {right:.2g}"
    agrees = wrong < MAX_RELATIVE_ERROR
    return Comparison(name, printed[0], printed[0] if agrees else shown, Agreement.of(agrees), note)


def _compute_relative_error(value: object, expected: object) -> float:
    difference = np.asarray(value, dtype=float) - np.asarray(expected, dtype=float)
    return float(np.abs(difference).max() / np.abs(np.asarray(expected, dtype=float)).max())
