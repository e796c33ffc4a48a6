"""The example of lu1993 III-C and IV-C: (60)-(65) and the recursion for the arm with two joints, formula by formula;
and its formulas about every arm."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ytheta.dynamics.formulations import inward_newton_euler, lagrange, newton_euler
from ytheta.dynamics.formulations.sixteen import SIXTEEN_PARAMETERS, L
from ytheta.dynamics.kernels import forward_dynamics, inverse_dynamics
from ytheta.dynamics.mechanism import PER_LINK, Mechanism, Motion, build_mechanism
from ytheta.dynamics.vectors import array, cross, dot, skew, zeros
from ytheta.papers.exhibit import Exhibit, PrintedResult, State, compare_correction
from ytheta.robot.reading.load import load
from ytheta.shapes import Shaped

DOTS = (
    "the scan shows one dot over most accelerations; they are read as q̈ where the formula multiplies a column of the "
    "mass matrix."
)
DOTS_AS_ABOVE = "the dots over accelerations, as in (61)."
STRAY_FACTOR = PrintedResult(
    "factor behind the matrix of Y_c", "q̇", "none", State.MISPRINT, "", "the size of the matrix, which q̇ does not fit"
)


def compare_example(arms: Sequence[TwoLinkArm]) -> tuple[Exhibit, ...]:
    """Return the exhibits of the example; every formula is compared at all states of ``arms``."""
    states = [_name_values(arm) for arm in arms]

    def compare(rows: Sequence[Row]) -> tuple[PrintedResult, ...]:
        return tuple(compare_formula(formula, states, [result(arm) for arm in arms]) for formula, result in rows)

    return (
        Exhibit("equation_60", "(60) and other link Jacobians of the example in section III-C", compare(JACOBIANS)),
        Exhibit(
            "equation_61",
            "(61): regressor of the example by the conventional approach",
            (*compare(CONVENTIONAL), STRAY_FACTOR, *compare(EQUATION_61), _compare_dimension(arms)),
            open=DOTS,
        ),
        Exhibit(
            "equations_62_63",
            "(62), (63): regressor of the load by the proposed approach",
            compare((*PROPOSED, *EQUATION_63)),
            open=DOTS_AS_ABOVE,
        ),
        Exhibit(
            "equations_64_65",
            "(64), (65): regressor of the links",
            compare(EQUATION_64),
            open=DOTS_AS_ABOVE,
        ),
        Exhibit(
            "section_4c",
            "Section IV-C: the example by the iterative algorithm",
            (*compare(RECURSION), _compare_regressors(arms)),
            open=DOTS_AS_ABOVE,
        ),
    )


def _name_values(arm: TwoLinkArm) -> dict[str, Any]:
    """Return the values of the names in formulas, including the β's and h's that the paper defines."""
    import sympy

    beta = arm.force_columns(LOAD)[:2, LOAD_COLUMNS[0]]
    first, second = arm.inertia_columns
    rows = {"h11": first[0], "h12": first[1], "h22": second[1]}
    return {
        **arm.values,
        "β1": beta[0],
        "β2": beta[1],
        **{name: sympy.Matrix([list(row)]) for name, row in rows.items()},
    }


def _compare_regressors(arms: Sequence[TwoLinkArm]) -> PrintedResult:
    identical = all((arm.recursive_regressor == arm.regressor).all() for arm in arms)
    return PrintedResult(
        "Y is identical to (65)",
        "yes",
        "yes" if identical else "no",
        State.of(identical),
        "with (63) as corrected above",
    )


def _compare_dimension(arms: Sequence[TwoLinkArm]) -> PrintedResult:
    import sympy

    rank = sympy.Matrix(np.concatenate([arm.regressor[:, COLUMNS] for arm in arms]).tolist()).rank()
    return compare_correction(
        "minimum dimension of θ",
        5,
        rank,
        "(61), where m3 px² and Izz have the same column, so that their sum is enough",
        is_printed=rank == 5,
        is_correct=rank == 4,
        note="with known lengths, the column of m3 is a combination of the others, too",
    )


# Formulas and statements of lu1993 about every arm, evaluated on the arm of its example.


MAX_ACCELERATION_ERROR = 1e-9  # relative; steps 2 and 3 subtract torques, and the mass matrix is inverted


def compare_general_formulas(arms: Sequence[TwoLinkArm]) -> tuple[Exhibit, ...]:
    """Return the exhibits of remark 1, of (57), of (68) and (104), and of the four steps to the accelerations."""
    return (
        Exhibit("remark_1", "Remark 1 of section III-A: number of parameters", (_compare_parameter_count(arms),)),
        Exhibit("equation_57", "(57): gravity of a link with its centre of mass on the x axis", (_compare_57(arms),)),
        Exhibit("equation_68", "(68), (104): centripetal part of the force on a link", tuple(_compare_68(arms))),
        Exhibit("steps_1_to_4", "Section V-B, steps 1 to 4: accelerations", (_compare_accelerations(),)),
    )


def _compare_parameter_count(arms: Sequence[TwoLinkArm]) -> PrintedResult:
    enough = all((arm.widen(lagrange.regressor(arm.mechanism, arm.motion)) == arm.regressor).all() for arm in arms)
    return compare_correction(
        "parameters of a link that appear linearly",
        len(SIXTEEN_PARAMETERS),
        PER_LINK if enough else len(SIXTEEN_PARAMETERS),
        "the regressor with ten columns per link, from which the sixteen columns result exactly",
        is_printed=not enough,
        is_correct=enough,
        note='the paper: the redundancy "appears to be necessary". It follows from the inertia about the centre of '
        "mass: with the inertia about the frame origin ten parameters are enough",
    )


def _compare_57(arms: Sequence[TwoLinkArm]) -> PrintedResult:
    """y_321 is the column of m p_x in the remainder of an arm at rest."""
    at_rest = [lagrange.remainder(arm.mechanism, arm.motion.at_rest) for arm in arms]
    results = [arm.widen(ten)[:, LOAD_COLUMNS[1:2]] for arm, ten in zip(arms, at_rest, strict=True)]
    printed = [-_project_gravity(arm) for arm in arms]
    return _compare_text(
        "y_321",
        "-(J_ω × g)ᵀ r_1",
        "(J_ω × g)ᵀ r_1",
        _are_equal(printed, results),
        _are_equal([-values for values in printed], results),
        "(46) and the example of section III-C, which have the other sign",
    )


def _project_gravity(arm: TwoLinkArm) -> np.ndarray:
    """(J_ω × g)ᵀ r_1, where r_1 is the x axis of the load."""
    r1 = array([arm.values["c12"], arm.values["s12"], 0])
    return array([[dot(cross(J_w, arm.mechanism.gravity)[None], r1)[0]] for J_w in arm.jacobian("load")[3:].T])


def _compare_68(arms: Sequence[TwoLinkArm]) -> list[PrintedResult]:
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
            _are_equal(with_rates, H),
            _are_equal(right, H),
            "(104), whose norm is that of ω",
        ),
        _compare_text(
            "U before (104)",
            "ωᵀ ω",
            "ω ωᵀ",
            _are_equal(with_scalar, H),
            _are_equal(right, H),
            "(68), which has the outer product",
        ),
    ]


def _compare_accelerations() -> PrintedResult:
    """The torque of a motion must lead back to its accelerations."""
    robot = load("lu-puma4")
    q, qd, qdd = np.random.default_rng(0).uniform(-2.0, 2.0, (3, 100, len(robot.actuated)))
    tau = inverse_dynamics(robot)(q, qd, qdd)
    found = forward_dynamics(robot, method="regressor", formulation="inward_newton_euler")(q, qd, tau)
    error = float(np.abs(found - qdd).max() / np.abs(qdd).max())
    return PrintedResult(
        "q̈ from the torque of a motion",
        "equal",
        f"equal to {error:.1g}",
        State.of(error < MAX_ACCELERATION_ERROR),
        "largest relative error at 100 random states of the arm with four joints",
    )


def _are_equal(values: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> bool:
    return all((value == result).all() for value, result in zip(values, results, strict=True))


def _compare_text(
    name: str, printed: str, correct: str, is_printed: bool, is_correct: bool, contradiction: str
) -> PrintedResult:
    result = SAME if is_printed else correct if is_correct else "another result"
    return compare_correction(name, printed, result, contradiction, is_printed=is_printed, is_correct=is_correct)


# The arm of lu1993 III-C at random states in rational numbers: its Jacobians, regressors and recursion.
#
# The angles have rational sines and cosines, and lengths, gravity and parameters are rational, too. The formulations
# accept any scalar, so that their results at these states are exact.
#
# Notation      code      paper                                meaning
#               COLUMNS   theta = [m2, m3, m3 px, m3 px², Izz] the columns that the example keeps
#               A, Pi     A tilde of (82), Pi tilde of (84)    force and moment per unit of each parameter


SIXTEEN = len(SIXTEEN_PARAMETERS)
LINK1, LINK2, LOAD = range(3)  # bodies
LOAD_COLUMNS = [SIXTEEN * LOAD + SIXTEEN_PARAMETERS.index(name) for name in ("m", "mpx", "mpxpx", "Izz")]  # (62)
COLUMNS = [SIXTEEN * LINK2, *LOAD_COLUMNS]

Matrix: TypeAlias = Shaped[np.ndarray, "_ _"]


@dataclass(frozen=True, eq=False)
class TwoLinkArm:
    """The arm at one state; ``values`` has the values of all names in the printed formulas."""

    values: Mapping[str, Any]

    @cached_property
    def mechanism(self) -> Mechanism:
        l1, l2, g = (self.values[name] for name in ("l1", "l2", "g"))
        arm = build_mechanism(load("lu-two-link"))
        link1, link2, held = arm.bodies
        bodies = (link1, replace(link2, p=array([l1, 0, 0])), replace(held, p=array([l2, 0, 0])))
        return replace(arm, bodies=bodies, gravity=array([0, -g, 0]))

    @cached_property
    def motion(self) -> Motion:
        return self.move(self._pick("qd"), self._pick("qdd"))

    def move(self, qd: np.ndarray, qdd: np.ndarray) -> Motion:
        """Return a motion with the same angles."""
        return Motion(self._pick("q"), self._pick("c"), self._pick("s"), qd, qd, qdd)

    @property
    def without_gravity(self) -> Mechanism:
        return replace(self.mechanism, gravity=zeros(3))

    @property
    def theta(self) -> Shaped[np.ndarray, "5"]:
        """The parameter vector of the example."""
        m2, m3, px, Izz = (self.values[name] for name in ("m2", "m3", "px", "Izz"))
        return array([m2, m3, m3 * px, m3 * px**2, Izz])

    # --- closed form, section III ------------------------------------------------------------------------------------

    def jacobian(self, link: str) -> Matrix:
        return lagrange.link_jacobian(self.mechanism, self.motion, link)

    @cached_property
    def center_jacobian(self) -> Matrix:
        """The Jacobian of the load's centre of mass: of a frame that is p_x further along the same axis."""
        *links, held = self.mechanism.bodies
        moved = replace(held, p=held.p + array([self.values["px"], 0, 0]))
        return lagrange.link_jacobian(replace(self.mechanism, bodies=(*links, moved)), self.motion, "load")

    @cached_property
    def regressor(self) -> Matrix:
        return lagrange.regressor_sixteen(self.mechanism, self.motion)

    @cached_property
    def inertial_part(self) -> Matrix:
        """The columns of H q̈."""
        motion = self.move(zeros(2), self._pick("qdd"))
        return lagrange.regressor_sixteen(self.without_gravity, motion)[:, COLUMNS]

    @cached_property
    def inertia_columns(self) -> tuple[Matrix, ...]:
        """The columns of H e_1 and of H e_2: their rows are h_11 and h_12, and h_12 and h_22."""
        units = array(np.eye(2, dtype=int))
        motions = [self.move(zeros(2), unit) for unit in units]
        return tuple(lagrange.regressor_sixteen(self.without_gravity, motion)[:, COLUMNS] for motion in motions)

    @cached_property
    def velocity_part(self) -> Matrix:
        """Y_c: the columns of C q̇."""
        return lagrange.regressor_sixteen(self.without_gravity, self.move(self._pick("qd"), zeros(2)))[:, COLUMNS]

    @cached_property
    def gravity_part(self) -> Matrix:
        """Y_G: the columns of G."""
        return lagrange.regressor_sixteen(self.mechanism, self.move(zeros(2), zeros(2)))[:, COLUMNS]

    @cached_property
    def momentum(self) -> Matrix:
        """W of (30), sixteen columns per body."""
        return self.widen(lagrange.momentum(self.mechanism, self.motion))

    @cached_property
    def remainder(self) -> Matrix:
        """Y hat of (47), sixteen columns per body."""
        return self.widen(lagrange.remainder(self.mechanism, self.motion))

    def widen(self, ten: Matrix) -> Matrix:
        """Return sixteen columns per body instead of ten."""
        return dot(ten, array(np.kron(np.eye(len(self.mechanism.bodies)), L).astype(int)))

    # --- recursion, section IV ---------------------------------------------------------------------------------------

    @cached_property
    def _blocks(self) -> list[dict[int, tuple[Matrix, Matrix]]]:
        """The blocks of A tilde and Pi tilde of every body that are not zero, by link."""
        return inward_newton_euler.compute_columns(self.mechanism, self.motion)

    def force_columns(self, body: int) -> Matrix:
        """A tilde of a body."""
        return self._join_blocks(body, 0)

    def moment_columns(self, body: int) -> Matrix:
        """Pi tilde of a body."""
        return self._join_blocks(body, 1)

    def _join_blocks(self, body: int, part: int) -> Matrix:
        zero = zeros(3, SIXTEEN), zeros(3, SIXTEEN)
        return np.concatenate([self._blocks[body].get(link, zero)[part] for link in (LINK1, LINK2, LOAD)], axis=1)

    @cached_property
    def recursive_regressor(self) -> Matrix:
        return inward_newton_euler.regressor_sixteen(self.mechanism, self.motion)

    def _pick(self, name: str) -> np.ndarray:
        return array([self.values[f"{name}{k}"] for k in (1, 2)])


STATES = 3
LARGEST_NUMBER = 40  # of numerators and denominators


def draw_arms(seed: int = 0) -> list[TwoLinkArm]:
    """Return the arm at random states, with random lengths, gravity and parameters."""
    rng = np.random.default_rng(seed)
    return [TwoLinkArm(_draw_values(rng)) for _ in range(STATES)]


def _draw_values(rng: np.random.Generator) -> dict[str, Any]:
    import sympy

    def draw() -> Any:
        return sympy.Rational(*(int(number) for number in rng.integers(1, LARGEST_NUMBER, 2)))

    names = ("l1", "l2", "g", "px", "m2", "m3", "Izz", "qd1", "qd2", "qdd1", "qdd2")
    values = {name: draw() for name in names}
    for k in (1, 2):
        half = draw()  # tan(q/2)
        cos, sin = (1 - half**2) / (1 + half**2), 2 * half / (1 + half**2)
        values |= {f"q{k}": 2 * sympy.atan(half), f"c{k}": cos, f"s{k}": sin}
    c1, s1, c2, s2 = (values[name] for name in ("c1", "s1", "c2", "s2"))
    values |= {"c12": c1 * c2 - s1 * s2, "s12": s1 * c2 + c1 * s2}
    return values


# Printed formulas, parsed as they are printed and evaluated with exact rational numbers.
#
# A formula is written as in the paper: products are juxtaposed (``l1 c2 q̈1``), ``²`` is a power, and a matrix has its
# entries between commas and its rows between semicolons. A formula and a result of ytheta agree if they are equal in
# rational arithmetic at a few random states. Their difference is a rational function of low degree in the state, so
# that different formulas are equal at a random state only by an accident that does not happen.


@dataclass(frozen=True)
class Formula:
    """One printed formula.

    ``correct`` is the right formula if the printed one is wrong, and ``contradiction`` is what in the paper contradicts
    the print. If ``lost`` is true, parts of the formula are missing in the scan, so that it cannot be compared.
    """

    name: str
    printed: str
    correct: str = ""
    contradiction: str = ""
    lost: bool = False


SAME = "the same"
SPELLINGS = {"q̇": "qd", "q̈": "qdd", "²": "**2"}


def compare_formula(
    formula: Formula, states: Sequence[Mapping[str, Any]], results: Sequence[np.ndarray]
) -> PrintedResult:
    """Compare a printed formula with the results of ytheta at the same states, given as values by name."""
    result = _describe_result(formula, states, results)
    printed = _add_brackets(formula.printed)
    if formula.lost:
        return PrintedResult(formula.name, printed, result, State.OPEN, LOST)
    is_correct = bool(formula.correct) and result == _add_brackets(formula.correct)
    return compare_correction(
        formula.name, printed, result, formula.contradiction, is_printed=result == SAME, is_correct=is_correct
    )


def _describe_result(formula: Formula, states: Sequence[Mapping[str, Any]], results: Sequence[np.ndarray]) -> str:
    """Return SAME, the right formula if the printed one is wrong, or the difference if both are wrong."""
    if _is_equal_to(formula.printed, states, results):
        return SAME
    if formula.correct and _is_equal_to(formula.correct, states, results):
        return _add_brackets(formula.correct)
    difference = np.abs((evaluate_formula(formula.printed, states[0]) - results[0]).astype(float)).max()
    return f"another result, which differs by {difference:.3g} at a random state"


def _is_equal_to(text: str, states: Sequence[Mapping[str, Any]], results: Sequence[np.ndarray]) -> bool:
    return all((evaluate_formula(text, state) == result).all() for state, result in zip(states, results, strict=True))


def _add_brackets(text: str) -> str:
    return f"[{text}]" if "," in text or ";" in text else text


def evaluate_formula(text: str, values: Mapping[str, Any]) -> np.ndarray:
    """Return the value of a formula as a matrix, given the values of its names as SymPy numbers or row vectors."""
    import sympy

    rows = [[sympy.parse_expr(_spell(entry), dict(values)) for entry in row.split(",")] for row in text.split(";")]
    return np.array(sympy.Matrix(rows).tolist(), dtype=object)


def _spell(text: str) -> str:
    """Return a formula as an expression of Python."""
    for printed, spelling in SPELLINGS.items():
        text = text.replace(printed, spelling)
    return re.sub(r"(?<=[\w)])\s+(?=[\w(])", "*", text.strip())


# The printed formulas of the example in lu1993 III-C and IV-C, each with the result of ytheta to compare with.


Result: TypeAlias = Callable[[TwoLinkArm], np.ndarray]
Row: TypeAlias = tuple[Formula, Result]

C2_MISSING = "h_11 and W_1, which have c2 behind 2 l1 l2"
SQUARED = "h_22 and W_1, in which l2 is not squared, and by the dimension of the other terms"
LOST = "the scan has lost a line of this entry; (63) has it"
INERTIA = [SIXTEEN * LOAD + SIXTEEN_PARAMETERS.index(name) for name in ("Ixx", "Iyy", "Izz")]
SIX_COLUMNS = [SIXTEEN * LINK1, *COLUMNS]  # with m1, as in the matrices of section IV-C


def _rows(result: Callable[[TwoLinkArm], np.ndarray], rows: slice, columns: Any = slice(None)) -> Result:
    return lambda arm: result(arm)[rows][:, columns]


def _entry(result: Callable[[TwoLinkArm], np.ndarray], row: int, column: int) -> Result:
    return lambda arm: result(arm)[row : row + 1, column : column + 1]


def _times_theta(columns: Callable[[TwoLinkArm], np.ndarray]) -> Result:
    return lambda arm: (columns(arm) @ arm.theta)[:, None]


ALL, POSITION, ROTATION = slice(None), slice(0, 3), slice(3, 6)

JACOBIANS: tuple[Row, ...] = (
    (Formula("J_v(1)", "0, 0; 0, 0; 0, 0"), _rows(lambda arm: arm.jacobian("link1"), POSITION)),
    (Formula("J_v(2)", "-l1 s1, 0; l1 c1, 0; 0, 0"), _rows(lambda arm: arm.jacobian("link2"), POSITION)),
    (
        Formula(
            "J_v of the load's centre, x and y",
            "-l1 s1 - (l2 + px) s12, -(l2 + px) s12; l1 c1 + (l2 + px) c12, (l2 + px) c12",
        ),
        _rows(lambda arm: arm.center_jacobian, slice(0, 2)),
    ),
    (Formula("J_ω(3)", "0, 0; 0, 0; 1, 1"), _rows(lambda arm: arm.jacobian("load"), ROTATION)),
    (
        Formula("J_v of the load's frame", "-l1 s1 - l2 s12, -l2 s12; l1 c1 + l2 c12, l2 c12; 0, 0"),
        _rows(lambda arm: arm.jacobian("load"), POSITION),
    ),
)


def _mass_matrix_entry(row: int, column: int) -> Result:
    return _rows(_times_theta(lambda arm: arm.inertia_columns[column]), slice(row, row + 1))


CONVENTIONAL: tuple[Row, ...] = (
    (
        Formula("H_11", "l1² m2 + (l1² + (l2 + px)² + 2 l1 (l2 + px) c2) m3 + Izz"),
        _mass_matrix_entry(0, 0),
    ),
    (Formula("H_12", "((l2 + px)² + l1 (l2 + px) c2) m3 + Izz"), _mass_matrix_entry(0, 1)),
    (Formula("H_22", "(l2 + px)² m3 + Izz"), _mass_matrix_entry(1, 1)),
    (
        Formula("C q̇", "-l1 (l2 + px) s2 m3 q̇2 (2 q̇1 + q̇2); l1 (l2 + px) s2 m3 q̇1²"),
        _times_theta(lambda arm: arm.velocity_part),
    ),
    (
        Formula("G", "(m2 + m3) l1 g c1 + m3 g (l2 + px) c12; m3 g (l2 + px) c12"),
        _times_theta(lambda arm: arm.gravity_part),
    ),
    (
        Formula("h_11", "l1², l1² + 2 l1 l2 c2 + l2², 2 (l1 c2 + l2), 1, 1"),
        _rows(lambda arm: arm.inertia_columns[0], slice(0, 1)),
    ),
    (
        Formula("h_12", "0, l2² + l1 l2 c2, l1 c2 + 2 l2, 1, 1"),
        _rows(lambda arm: arm.inertia_columns[0], slice(1, 2)),
    ),
    (Formula("h_22", "0, l2², 2 l2, 1, 1"), _rows(lambda arm: arm.inertia_columns[1], slice(1, 2))),
    (
        Formula(
            "Y_c",
            "0, -l1 l2 s2 q̇2 (2 q̇1 + q̇2), -l1 s2 q̇2 (2 q̇1 + q̇2), 0, 0; 0, l1 l2 s2 q̇1², l1 s2 q̇1², 0, 0",
        ),
        lambda arm: arm.velocity_part,
    ),
    (
        Formula("Y_G", "l1 c1 g, (l1 c1 + l2 c12) g, c12 g, 0, 0; 0, l2 c12 g, c12 g, 0, 0"),
        lambda arm: arm.gravity_part,
    ),
)
# The entries that (61) and (63) have in common; the columns are those of m3, m3 px, m3 px² and Izz.
ROW_1_M3 = "(l1² + 2 l1 l2 c2 + l2²) q̈1 + l2 (l1 c2 + l2) q̈2 - l1 l2 s2 q̇2 (2 q̇1 + q̇2) + (l1 c1 + l2 c12) g"
ROW_1_M3_PX = "2 (l1 c2 + l2) q̈1 + (l1 c2 + 2 l2) q̈2 - l1 s2 q̇2 (2 q̇1 + q̇2) + c12 g"
ROW_2_M3 = "l2 (l1 c2 + l2) q̈1 + l2² q̈2 + l1 l2 s2 q̇1² + l2 c12 g"
ROW_2_M3_PX = "(l1 c2 + 2 l2) q̈1 + 2 l2 q̈2 + l1 s2 q̇1² + c12 g"


def _regressor(arm: TwoLinkArm) -> np.ndarray:
    return arm.regressor[:, COLUMNS]


def _load_regressor(arm: TwoLinkArm) -> np.ndarray:
    return arm.regressor[:, LOAD_COLUMNS]


EQUATION_61: tuple[Row, ...] = (
    (
        Formula("(61), first line, row 1", "h11 q̈1 + h12 q̈2"),
        _rows(lambda arm: arm.inertial_part, slice(0, 1)),
    ),
    (
        Formula(
            "(61), first line, row 2",
            "h12 q̈1 + h11 q̈2",
            "h12 q̈1 + h22 q̈2",
            "the mass matrix above, where H_22 is h_22 θ",
        ),
        _rows(lambda arm: arm.inertial_part, slice(1, 2)),
    ),
    (
        Formula(
            "(61), row 1, m2",
            "l1 (q̈1 + c1 g)",
            "l1 (l1 q̈1 + c1 g)",
            "(64), which has l1 before q̈1, and by the dimension of c1 g",
        ),
        _entry(_regressor, 0, 0),
    ),
    (
        Formula(
            "(61), row 1, m3",
            ROW_1_M3.replace("2 l1 l2 c2", "2 l1 l2"),
            ROW_1_M3,
            f"{C2_MISSING}. The scan has lost the line of q̈2, here taken from (63); the factor of q̈1 is complete",
        ),
        _entry(_regressor, 0, 1),
    ),
    (
        Formula("(61), row 1, m3 px", "2 (l1 c2 + l2) q̈1 + (l1 c2 + 2 l2) q̈2 + c12 g", ROW_1_M3_PX, lost=True),
        _entry(_regressor, 0, 2),
    ),
    (Formula("(61), row 2, m2", "0"), _entry(_regressor, 1, 0)),
    (Formula("(61), row 2, m3", ROW_2_M3), _entry(_regressor, 1, 1)),
    (
        Formula("(61), row 2, m3 px", "(l1 c2 + 2 l2) q̈1 + 2 l2² q̈2 + l1 s2 q̇1² + c12 g", ROW_2_M3_PX, SQUARED),
        _entry(_regressor, 1, 2),
    ),
    (
        Formula("(61), m3 px² and Izz", "q̈1 + q̈2, q̈1 + q̈2; q̈1 + q̈2, q̈1 + q̈2"),
        _rows(_regressor, ALL, slice(3, 5)),
    ),
)

PROPOSED: tuple[Row, ...] = (
    (
        Formula(
            "W_1, row 1",
            "(l1² + l2² + 2 l1 l2 c2) q̇1 + (l2² + l1 l2 c2) q̇2, 2 (l1 c2 + l2) q̇1 + (l1 c2 + 2 l2) q̇2, q̇1 + q̇2",
        ),
        _rows(lambda arm: arm.momentum, slice(0, 1), LOAD_COLUMNS[:3]),
    ),
    (
        Formula("W_1, row 2", "(l2² + l1 l2 c2) q̇1 + l2² q̇2, (l1 c2 + 2 l2) q̇1 + 2 l2 q̇2, q̇1 + q̇2"),
        _rows(lambda arm: arm.momentum, slice(1, 2), LOAD_COLUMNS[:3]),
    ),
    (Formula("W_2", "0, 0, q̇1 + q̇2; 0, 0, q̇1 + q̇2"), _rows(lambda arm: arm.momentum, ALL, INERTIA)),
    (
        Formula("Y_11 + Y_31", "(l1 c1 + l2 c12) g; l1 l2 s2 q̇1 (q̇1 + q̇2) + l2 c12 g"),
        _rows(lambda arm: arm.remainder, ALL, LOAD_COLUMNS[:1]),
    ),
    (
        Formula("y_121 + y_321", "c12 g; l1 s2 q̇1 (q̇1 + q̇2) + c12 g"),
        _rows(lambda arm: arm.remainder, ALL, LOAD_COLUMNS[1:2]),
    ),
    (Formula("y_141", "0; 0"), _rows(lambda arm: arm.remainder, ALL, LOAD_COLUMNS[2:3])),
    (Formula("Y_2", "0, 0, 0; 0, 0, 0"), _rows(lambda arm: arm.remainder, ALL, INERTIA)),
    (
        Formula("(62): columns of Ixx and Iyy, left out", "0, 0; 0, 0"),
        _rows(lambda arm: arm.regressor, ALL, INERTIA[:2]),
    ),
)
EQUATION_63: tuple[Row, ...] = (
    (
        Formula("(63), row 1, m3", ROW_1_M3.replace("2 l1 l2 c2", "2 l1 l2"), ROW_1_M3, C2_MISSING),
        _entry(_load_regressor, 0, 0),
    ),
    (Formula("(63), row 1, m3 px", ROW_1_M3_PX), _entry(_load_regressor, 0, 1)),
    (Formula("(63), row 2, m3", ROW_2_M3), _entry(_load_regressor, 1, 0)),
    (
        Formula("(63), row 2, m3 px", "(l1 c2 + 2 l2) q̈1 + 2 l2² q̈2 + l1 s2 q̇1² + c12 g", ROW_2_M3_PX, SQUARED),
        _entry(_load_regressor, 1, 1),
    ),
    (
        Formula("(63), m3 px² and Izz", "q̈1 + q̈2, q̈1 + q̈2; q̈1 + q̈2, q̈1 + q̈2"),
        _rows(_load_regressor, ALL, slice(2, 4)),
    ),
)
EQUATION_64: tuple[Row, ...] = (
    (Formula("Y(1)", "0; 0"), _rows(lambda arm: arm.regressor, ALL, [SIXTEEN * LINK1])),
    (Formula("Y(2)", "l1² q̈1 + l1 c1 g; 0"), _rows(lambda arm: arm.regressor, ALL, [SIXTEEN * LINK2])),
)

RECURSION: tuple[Row, ...] = (
    (
        Formula("β1", "l1 s2 q̈1 - l1 c2 q̇1² + s12 g - l2 (q̇1 + q̇2)²"),
        _entry(lambda arm: arm.force_columns(LOAD), 0, LOAD_COLUMNS[0]),
    ),
    (
        Formula("β2", "l1 c2 q̈1 + l1 s2 q̇1² + c12 g + l2 (q̈1 + q̈2)"),
        _entry(lambda arm: arm.force_columns(LOAD), 1, LOAD_COLUMNS[0]),
    ),
    (
        Formula(
            "A_3",
            "β1, -(q̇1 + q̇2)², -(q̈1 + q̈2), 0; β2, q̈1 + q̈2, -(q̇1 + q̇2)², 0; 0, 0, 0, 0",
        ),
        _rows(lambda arm: arm.force_columns(LOAD), ALL, slice(SIXTEEN * LOAD, SIXTEEN * LOAD + 4)),
    ),
    (Formula("E_3", "0; 0; q̈1 + q̈2"), _rows(lambda arm: arm.moment_columns(LOAD), ALL, LOAD_COLUMNS[3:])),
    (
        Formula("Φ_3, columns 1 and 4", "0, 0; 0, 0; β2, q̈1 + q̈2"),
        _rows(lambda arm: arm.moment_columns(LOAD), ALL, LOAD_COLUMNS[1:3]),
    ),
    (
        Formula("A tilde_3", "0, 0, β1, -(q̇1 + q̇2)², 0, 0; 0, 0, β2, q̈1 + q̈2, 0, 0; 0, 0, 0, 0, 0, 0"),
        _rows(lambda arm: arm.force_columns(LOAD), ALL, SIX_COLUMNS),
    ),
    (
        Formula("Π tilde_3", "0, 0, 0, 0, 0, 0; 0, 0, 0, 0, 0, 0; 0, 0, 0, β2, q̈1 + q̈2, q̈1 + q̈2"),
        _rows(lambda arm: arm.moment_columns(LOAD), ALL, SIX_COLUMNS),
    ),
    (
        Formula(
            "Π tilde_2, rows 1 and 2",
            "0, 0, 0, 0, 0, 0; 0, 0, 0, -(q̈1 + q̈2), 0, 0",
            "0, 0, 0, 0, 0, 0; 0, 0, 0, 0, 0, 0",
            "the motion in a plane, in which no force has a moment about x or y",
        ),
        _rows(lambda arm: arm.moment_columns(LINK2), slice(0, 2), SIX_COLUMNS),
    ),
    (
        Formula(
            "Π tilde_2, row 3",
            "0, 0, l2 β2, l2 (q̈1 + q̈2), q̈1 + q̈2, q̈1 + q̈2",
            "0, 0, l2 β2, l2 (q̈1 + q̈2) + β2, q̈1 + q̈2, q̈1 + q̈2",
            "row 2 of Y, which has + β2",
        ),
        _rows(lambda arm: arm.moment_columns(LINK2), slice(2, 3), SIX_COLUMNS),
    ),
    (Formula("π32", "l1² q̈1 + l1 c1 g"), _entry(lambda arm: arm.moment_columns(LINK1), 2, COLUMNS[0])),
    (
        Formula("π33", "l1 (s2 β1 + c2 β2) + l2 β2"),
        _entry(lambda arm: arm.moment_columns(LINK1), 2, COLUMNS[1]),
    ),
    (
        Formula("π34", "(l2 + l1 c2) (q̈1 + q̈2) - l1 s2 (q̇1 + q̇2)² + β2"),
        _entry(lambda arm: arm.moment_columns(LINK1), 2, COLUMNS[2]),
    ),
    (
        Formula(
            "Y, row 1",
            "l1² q̈1 + l1 c1 g, l1 (s2 β1 + c2 β2) + l2 β2, "
            "(l2 + l1 c2) (q̈1 + q̈2) - l1 s2 (q̇1 + q̇2)² + β2, q̈1 + q̈2, q̈1 + q̈2",
        ),
        _rows(lambda arm: arm.recursive_regressor[:, COLUMNS], slice(0, 1)),
    ),
    (
        Formula("Y, row 2", "0, l2 β2, l2 (q̈1 + q̈2) + β2, q̈1 + q̈2, q̈1 + q̈2"),
        _rows(lambda arm: arm.recursive_regressor[:, COLUMNS], slice(1, 2)),
    ),
)
