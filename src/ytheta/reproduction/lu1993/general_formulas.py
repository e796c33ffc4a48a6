"""Formulas and statements of lu1993 about every arm, evaluated on the arm of its example."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ytheta.dynamics.formulations import lagrange, newton_euler
from ytheta.dynamics.formulations.sixteen import SIXTEEN_PARAMETERS
from ytheta.dynamics.kernels import forward_dynamics, inverse_dynamics
from ytheta.dynamics.mechanism import PER_LINK
from ytheta.dynamics.vectors import array, cross, dot, skew
from ytheta.reproduction.exhibit import Agreement, Comparison, Exhibit
from ytheta.reproduction.lu1993.printed_formulas import SAME
from ytheta.reproduction.lu1993.two_link_arm import LOAD, LOAD_COLUMNS, TwoLinkArm
from ytheta.robot.reading.load import load

MAX_ACCELERATION_ERROR = 1e-9  # relative; steps 2 and 3 subtract torques, and the mass matrix is inverted


def compare_general_formulas(arms: Sequence[TwoLinkArm]) -> tuple[Exhibit, ...]:
    """Return the exhibits of remark 1, of (57), of (68) and (104), and of the four steps to the accelerations."""
    return (
        Exhibit("remark_1", "Remark 1 of section III-A: number of parameters", (_compare_parameter_count(arms),)),
        Exhibit("equation_57", "(57): gravity of a link with its centre of mass on the x axis", (_compare_57(arms),)),
        Exhibit("equation_68", "(68), (104): centripetal part of the force on a link", tuple(_compare_68(arms))),
        Exhibit("steps_1_to_4", "Section V-B, steps 1 to 4: accelerations", (_compare_accelerations(),)),
    )


def _compare_parameter_count(arms: Sequence[TwoLinkArm]) -> Comparison:
    enough = all((arm.widen(lagrange.regressor(arm.mechanism, arm.motion)) == arm.regressor).all() for arm in arms)
    return Comparison(
        "parameters of a link that appear linearly",
        len(SIXTEEN_PARAMETERS),
        PER_LINK if enough else len(SIXTEEN_PARAMETERS),
        Agreement.of(not enough),
        'the paper: the redundancy "appears to be necessary". It follows from the inertia about the centre of mass: '
        "with the inertia about the frame origin ten parameters are enough, and their columns determine those of the "
        "sixteen",
    )


def _compare_57(arms: Sequence[TwoLinkArm]) -> Comparison:
    """y_321 is the column of m p_x in the remainder of an arm at rest."""
    at_rest = [lagrange.remainder(arm.mechanism, arm.motion.at_rest) for arm in arms]
    results = [arm.widen(ten)[:, LOAD_COLUMNS[1:2]] for arm, ten in zip(arms, at_rest, strict=True)]
    printed = [-_project_gravity(arm) for arm in arms]
    return _compare_text(
        "y_321",
        "-(J_ω × g)ᵀ r_1",
        "(J_ω × g)ᵀ r_1",
        _is_equal(printed, results),
        _is_equal([-values for values in printed], results),
        "(46) and the example of section III-C have the right sign",
    )


def _project_gravity(arm: TwoLinkArm) -> np.ndarray:
    """(J_ω × g)ᵀ r_1, where r_1 is the x axis of the load."""
    r1 = array([arm.values["c12"], arm.values["s12"], 0])
    return array([[dot(cross(J_w, arm.mechanism.gravity)[None], r1)[0]] for J_w in arm.jacobian("load")[3:].T])


def _compare_68(arms: Sequence[TwoLinkArm]) -> list[Comparison]:
    twists = [newton_euler.propagate_outward(arm.mechanism, arm.motion)[1][LOAD] for arm in arms]
    H = [twist.H for twist in twists]
    one = array(np.eye(3, dtype=int))
    outer = [dot(twist.w[:, None], twist.w[None]) for twist in twists]
    with_rates = [skew(t.wd) + U - one * (t.wd @ t.wd) for t, U in zip(twists, outer, strict=True)]
    with_scalar = [skew(t.wd) + one * (t.w @ t.w) - one * (t.w @ t.w) for t in twists]
    right = [skew(t.wd) + U - one * (t.w @ t.w) for t, U in zip(twists, outer, strict=True)]
    return [
        _compare_text(
            "H_i of (68)",
            "Ω(ω̇) + ω ωᵀ - |ω̇|² I",
            "Ω(ω̇) + ω ωᵀ - |ω|² I",
            _is_equal(with_rates, H),
            _is_equal(right, H),
            "the norm in (104) is that of ω, as here",
        ),
        _compare_text(
            "U before (104)",
            "ωᵀ ω",
            "ω ωᵀ",
            _is_equal(with_scalar, H),
            _is_equal(right, H),
            "(68) has the outer product",
        ),
    ]


def _compare_accelerations() -> Comparison:
    """The torque of a motion must lead back to its accelerations."""
    robot = load("lu-puma4")
    q, qd, qdd = np.random.default_rng(0).uniform(-2.0, 2.0, (3, 100, len(robot.actuated)))
    tau = inverse_dynamics(robot)(q, qd, qdd)
    found = forward_dynamics(robot, method="regressor", formulation="newton_euler")(q, qd, tau)
    error = float(np.abs(found - qdd).max() / np.abs(qdd).max())
    return Comparison(
        "q̈ from the torque of a motion",
        "equal",
        f"equal to {error:.1g}",
        Agreement.of(error < MAX_ACCELERATION_ERROR),
        "largest relative error at 100 random states of the arm with four joints",
    )


def _is_equal(values: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> bool:
    return all((value == result).all() for value, result in zip(values, results, strict=True))


def _compare_text(name: str, printed: str, correct: str, is_printed: bool, is_correct: bool, note: str) -> Comparison:
    if is_printed:
        return Comparison(name, printed, SAME, Agreement.YES)
    return Comparison(name, printed, correct if is_correct else "another result", Agreement.NO, note)
