"""ha1989: the regrouped Lagrangian of a SCARA arm with unknown lengths, (55)-(61); Figs. 3 to 6 in kind; Table I."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import radians
from typing import Any

import numpy as np

from ytheta.dynamics.kernels import inverse_dynamics
from ytheta.identifiability.ha import regroup_lagrangian
from ytheta.identifiability.regrouping import Form as LagrangianForm
from ytheta.identifiability.regrouping import Regrouping
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.form import EquationRows, Form, RegressorLayout, SampleRange
from ytheta.identification.equations.integral import END_REACH, compute_quadrature_weights
from ytheta.identification.estimators.estimator import Estimator
from ytheta.identification.estimators.least_squares import LeastSquares
from ytheta.identification.estimators.sequential import Sequential, order_joints, split_by_joint
from ytheta.logs.preparing.motion_sources import ArraySource
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.native import Kernel, compile_graph
from ytheta.papers.exhibit import Exhibit, PaperReproduction, PrintedResult, State, compare_printed
from ytheta.papers.tracking import plot_joints
from ytheta.plots import Axis, Plot
from ytheta.robot.reading.load import load
from ytheta.shapes import Float, PerBase, SamplesByJoint

CITATION = (
    "I.-J. Ha, M.-S. Ko and S. K. Kwon, An Efficient Estimation Algorithm for the Model Parameters of Robotic "
    "Manipulators, IEEE Transactions on Robotics and Automation, 1989"
)
ABOUT = (
    "The Lagrangian of an arm, regrouped to a minimal number of model parameters that contain the unknown lengths, and "
    "their estimation joint by joint, with or without accelerations. The formulas of the SCARA arm are compared as "
    "expressions, Table I as numbers."
)


def reproduce() -> PaperReproduction:
    """Regroup the Lagrangian of the SCARA arm, and estimate its parameters."""
    return PaperReproduction("ha1989", CITATION, ABOUT, (*compare_model(), *compare_table()))


# (55)-(61) of ha1989: the regrouped Lagrangian of the SCARA arm, formula by formula.


PRINTED_COUNTS = (1, 3, 1, 1)  # (55)
BOUNDARY = ", from t0 to t"
INCOMPLETE = {"U22": "the scan breaks off after the third entry; the last two are read as in U11 and U33"}
READ_AS = {f"U33{BOUNDARY}": "the scan has q̇3 twice; the second is read as q3, as in U11, U22 and U44"}


@cache
def regroup_scara() -> Regrouping:
    """Return the regrouped Lagrangian of the arm, with the symmetry of its links."""
    return regroup_lagrangian(load("ha-scara"), zero=SYMMETRIC)


def compare_model() -> tuple[Exhibit, ...]:
    """Return the exhibits of (55), (57), (58), (59)-(60) and (61)."""
    scara, printed = regroup_scara(), make_printed_model()
    return (
        Exhibit("equation_55", "(55): number of model parameters", tuple(_compare_counts(scara))),
        Exhibit("equation_57", "(57): functions of the motion", tuple(_compare_formulas("F", printed.F, scara.F))),
        Exhibit(
            "equation_58",
            "(58): combinations of lengths and inertial parameters",
            tuple(_compare_formulas("X", printed.X, scara.X)),
        ),
        Exhibit(
            "equations_59_60",
            "(59), (60): the differential form",
            tuple(_compare_blocks(scara, printed.U, "differential")),
        ),
        Exhibit(
            "equation_61",
            "(61): the integral form",
            (
                *_compare_blocks(scara, printed.boundary, "boundary", BOUNDARY),
                *_compare_blocks(scara, printed.integrand, "integrand", ", integrated"),
            ),
        ),
    )


def _compare_counts(scara: Regrouping) -> Iterator[PrintedResult]:
    for i, count, printed in zip(JOINTS, scara.counts, PRINTED_COUNTS, strict=True):
        yield compare_printed(f"p{i}", str(printed), count)
    yield compare_printed("p", "14", scara.p)
    yield compare_printed("terms of L before regrouping", "25", sum(scara.terms))
    yield compare_printed("terms of L after regrouping", "6", sum(scara.counts))


def _compare_formulas(letter: str, printed: Sequence[Any], found: Sequence[Any]) -> Iterator[PrintedResult]:
    for i, rows in enumerate(zip(printed, found, strict=True), start=1):
        for k, (expected, formula) in enumerate(zip(*rows, strict=True), start=1):
            yield _compare_formula(f"{letter}{i}{k}", expected, formula)


def _compare_blocks(
    scara: Regrouping, printed: Sequence[Any], form: LagrangianForm, where: str = ""
) -> Iterator[PrintedResult]:
    """Compare the blocks U_ij of the upper triangle, and all blocks below it together."""
    U = scara.make_expressions(form)
    starts = scara.starts
    for i in range(len(JOINTS)):
        for j in range(i, len(JOINTS)):
            columns = range(starts[j], starts[j + 1])
            expected, found = ([row[k] for k in columns] for row in (printed[i], U[i]))
            if any(expected) or any(found):
                yield _compare_formula(f"U{i + 1}{j + 1}{where}", expected, found)
    below = [U[i, k] for i in range(len(JOINTS)) for k in range(starts[i])]
    yield PrintedResult(
        f"blocks below the diagonal{where}", "0", "0" if not any(below) else "not 0", State.of(not any(below))
    )


def _compare_formula(name: str, expected: Any, found: Any) -> PrintedResult:
    """Compare expressions, or rows of them, up to the order of sums and factors; g of the print has its value here."""
    import sympy

    symbol, value = make_gravity()
    pairs = list(zip(sympy.flatten([expected]), sympy.flatten([found]), strict=True))
    agrees = all(sympy.expand(sympy.sympify(a).subs(symbol, value) - b) == 0 for a, b in pairs)
    has_gravity = any(sympy.sympify(a).has(symbol) for a, _ in pairs)
    notes = (INCOMPLETE.get(name), READ_AS.get(name), f"g = {float(value)} m/s²" if has_gravity else None)
    agreement = State.OPEN if agrees and name in INCOMPLETE else State.of(agrees)
    return PrintedResult(name, _format(expected), _format(found), agreement, ". ".join(filter(None, notes)))


def _format(formula: Any) -> str:
    text = f"[{', '.join(map(str, formula))}]" if isinstance(formula, list) else str(formula)
    return text.replace("**", "^").replace("*", "·").replace("sign(", "sgn(")


# The printed formulas of ha1989 sec. III: (57), (58), (60) and (61), and the symmetry (50) of the links.
#
# m_i x_i and m_i y_i of the paper are the first moments ``link<i>.mx`` and ``link<i>.my`` here.


JOINTS = (1, 2, 3, 4)
# (50): the pseudo-inertia of a link has Izz, m, and first moments along x and y; x3 = x4 = y1 = y3 = y4 = 0.
SYMMETRIC = (
    *(f"link{i}.{p}" for i in JOINTS for p in ("mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz")),
    *("link3.mx", "link4.mx", "link1.my", "link3.my", "link4.my"),
)


@dataclass(frozen=True, eq=False)
class PrintedModel:
    """The printed formulas as SymPy expressions.

    Attributes
    ----------
    F          (57), by joint
    X          (58), by joint
    U          (59), (60): the differential form
    boundary   (61): the terms that are differences between t0 and t
    integrand  (61): the terms under the integral; -g (t - t0) is the integral of -g
    """

    F: tuple[tuple[Any, ...], ...]
    X: tuple[tuple[Any, ...], ...]
    U: list[list[Any]]
    boundary: list[list[Any]]
    integrand: list[list[Any]]


def make_gravity() -> tuple[Any, Any]:
    """Return the symbol g of the printed formulas, and its value for the arm of the catalog."""
    import sympy

    return sympy.Symbol("g"), sympy.Rational(98, 10)


@cache
def make_printed_model() -> PrintedModel:
    """Return the printed formulas."""
    import sympy

    sgn = sympy.sign
    q1, q2, q3, q4 = sympy.symbols("q1:5", real=True)
    qd1, qd2, qd3, qd4 = sympy.symbols("qd1:5", real=True)
    qdd1, qdd2, qdd3, qdd4 = sympy.symbols("qdd1:5", real=True)
    a1, a2 = sympy.symbols("a1 a2")
    m1, m2, m3, m4 = (sympy.Symbol(f"link{i}.m") for i in JOINTS)
    I1, I2, I3, I4 = (sympy.Symbol(f"link{i}.Izz") for i in JOINTS)
    mx1, mx2, my2 = (sympy.Symbol(name) for name in ("link1.mx", "link2.mx", "link2.my"))
    C2, S2, (g, _) = sympy.cos(q2), sympy.sin(q2), make_gravity()
    # fmt: off
    return PrintedModel(
        F=(
            (qd1**2 / 2,),
            (qd2**2 / 2 + qd1*qd2, qd1**2*C2 + qd1*qd2*C2, -(qd1**2*S2 + qd1*qd2*S2)),
            (qd3**2 / 2 + q3*g,),
            (qd4**2 / 2 + qd1*qd4 + qd2*qd4,),
        ),
        X=(
            (I1 + m1*a1**2 + 2*mx1*a1 + I2 + m2*a1**2 + m2*a2**2 + 2*mx2*a2 + I3
             + m3*a1**2 + m3*a2**2 + I4 + m4*a1**2 + m4*a2**2,),
            (I2 + m2*a2**2 + 2*mx2*a2 + I3 + m3*a2**2 + I4 + m4*a2**2,
             m2*a1*a2 + mx2*a1 + m3*a1*a2 + m4*a1*a2,
             my2*a1),
            (m3 + m4,),
            (I4,),
        ),
        U=[
            [qdd1, qd1, sgn(qd1), qdd2,
             -2*qd1*qd2*S2 - qd2**2*S2 + (2*qdd1 + qdd2)*C2, -2*qd1*qd2*C2 - qd2**2*C2 - (2*qdd1 + qdd2)*S2, 0, 0,
             0, 0, 0, qdd4, 0, 0],
            [0, 0, 0, qdd1 + qdd2, qdd1*C2 + qd1**2*S2, -qdd1*S2 + qd1**2*C2, qd2, sgn(qd2), 0, 0, 0, qdd4, 0, 0],
            [0]*8 + [qdd3 - g, qd3, sgn(qd3), 0, 0, 0],
            [0]*11 + [qdd1 + qdd2 + qdd4, qd4, sgn(qd4)],
        ],
        boundary=[
            [qd1, q1, 0, qd2, (2*qd1 + qd2)*C2, -(2*qd1 + qd2)*S2, 0, 0, 0, 0, 0, qd4, 0, 0],
            [0, 0, 0, qd1 + qd2, qd1*C2, -qd1*S2, q2, 0, 0, 0, 0, qd4, 0, 0],
            [0]*8 + [qd3, q3, 0, 0, 0, 0],
            [0]*11 + [qd1 + qd2 + qd4, q4, 0],
        ],
        integrand=[
            [0, 0, sgn(qd1)] + [0]*11,
            [0]*4 + [(qd1*qd2 + qd1**2)*S2, (qd1*qd2 + qd1**2)*C2, 0, sgn(qd2)] + [0]*6,
            [0]*8 + [-g, 0, sgn(qd3), 0, 0, 0],
            [0]*13 + [sgn(qd4)],
        ],
    )
    # fmt: on


# The test motion of ha1989 sec. III with its measurement errors, and the integral form as printed.
#
# The trajectories of the paper exist only as figures. Here every joint follows a sum of sines.

SECONDS = 10.0  # not in the paper
CHOSEN = (
    "the trajectories, which exist only as figures. Chosen here: a sum of two sines for every joint, "
    f"{SECONDS:g} s long."
)
SAMPLING_PERIOD = 0.01  # s
INTEGRATION_STEP = 0.5  # s, t_j - t_(j-1)
AMPLITUDES = np.array([[0.8, 0.6, 0.15, 1.0], [0.3, 0.5, 0.1, 0.6]])  # rad, or m for joint 3; not in the paper
FREQUENCIES = np.array([[0.20, 0.31, 0.25, 0.27], [0.73, 0.62, 0.81, 0.69]])  # Hz; not in the paper
RANGE_OF_FACTORS = 0.5, 1.5  # of amplitudes and frequencies of random motions
SCALE = 1.03  # 3 percent in all data
# Constant errors of q, qd, qdd and tau, by joint: joint 3 is prismatic.
ANGULAR, LINEAR = (radians(3.0), radians(3.0), radians(3.0), 0.15), (0.10, 0.10, 0.10, 0.1)
BIAS = np.array([ANGULAR, ANGULAR, LINEAR, ANGULAR]).T


def make_motion(rng: np.random.Generator | None = None) -> MotionSamples:
    """Return exact motion and torques, sampled every 10 ms; ``END_REACH`` samples precede t = 0 and follow the end.

    With ``rng``, every amplitude and every frequency is multiplied by a random factor, and every phase is random.
    """
    count = round(SECONDS / SAMPLING_PERIOD) + 1 + 2 * END_REACH
    t = (np.arange(count) - END_REACH) * SAMPLING_PERIOD
    A, w, phase = AMPLITUDES, 2.0 * np.pi * FREQUENCIES, 0.0 * FREQUENCIES
    if rng is not None:
        A, w = (each * rng.uniform(*RANGE_OF_FACTORS, each.shape) for each in (A, w))
        phase = rng.uniform(0.0, 2.0 * np.pi, w.shape)
    angle = w * t[:, None, None] + phase
    q = (A * np.sin(angle)).sum(axis=1)
    qd = (A * w * np.cos(angle)).sum(axis=1)
    qdd = -(A * w**2 * np.sin(angle)).sum(axis=1)
    tau = inverse_dynamics(load("ha-scara"))(q, qd, qdd)
    return MotionSamples(t, q, qd, qdd, tau, None, np.arange(count))


def add_errors(motion: MotionSamples, *, scale: bool, bias: bool) -> MotionSamples:
    """Return the motion as measured, with the constant scale factor errors and the constant biases of sec. III."""
    factor, offsets = (SCALE if scale else 1.0), (BIAS if bias else 0.0 * BIAS)
    assert motion.tau is not None
    quantities = (motion.q, motion.qd, motion.qdd, motion.tau)
    q, qd, qdd, tau = (factor * values + offset for values, offset in zip(quantities, offsets, strict=True))
    return replace(motion, q=q, qd=qd, qdd=qdd, tau=tau)


@dataclass(frozen=True, eq=False)
class PrintedIntegralForm:
    """(36) as printed, with t0 = 0 and t_j = j · ``INTEGRATION_STEP``; the motion is that of ``make_motion``.

    Unlike the form "cumulative", it contains b (q(t) - q(t0)) instead of the integral of b qd: this makes a difference
    if velocities have errors that positions do not have.
    """

    base: Regrouping

    @property
    def name(self) -> str:
        return "integral as printed"

    @property
    def layout(self) -> RegressorLayout:
        """All entries on and above the diagonal count as non-zeros."""
        U = np.triu(np.ones((len(self.base.counts),) * 2))
        blocks = [np.repeat(U[:, [j]], b - a, axis=1) for j, (a, b) in enumerate(self._bounds)]
        indices = np.nonzero(np.concatenate(blocks, axis=1))
        return RegressorLayout.of(indices, joints=len(U), base_count=len(self.base))

    def split(self, segment: int, length: int, rate: float, size: int) -> Iterator[SampleRange]:
        del rate, size
        yield SampleRange(segment, 0, length)

    def rows(self, motion: MotionSamples, rate: float) -> Iterator[EquationRows]:
        assert motion.tau is not None
        boundary, integrand = self._kernels
        W, rest = boundary(motion.q, motion.qd), integrand(motion.q, motion.qd)
        step = round(INTEGRATION_STEP * rate)
        ends = range(step, len(motion) - 2 * END_REACH, step)
        U = np.stack([W[END_REACH + k] - W[END_REACH] + _integrate(rest, k, rate) for k in ends])
        tau = np.stack([_integrate(motion.tau, k, rate) for k in ends], axis=1)
        layout = self.layout
        values = np.concatenate([U[:, joint, columns].T for joint, columns in enumerate(layout.columns)])
        yield EquationRows(values, tau)

    @property
    def _bounds(self) -> list[tuple[int, int]]:
        return list(zip(self.base.starts[:-1], self.base.starts[1:], strict=True))

    @cached_property
    def _kernels(self) -> tuple[Kernel, Kernel]:
        return compile_graph(self.base.make_graph("boundary")), compile_graph(self.base.make_graph("integrand"))


def _integrate(values: Float[np.ndarray, " samples *shape"], steps: int, rate: float) -> np.ndarray:
    """Return the integral from t0 over a number of steps."""
    weights = compute_quadrature_weights(steps) / rate
    return np.tensordot(weights, values[: len(weights)], axes=1)


def list_quantities(motion: MotionSamples) -> dict[str, SamplesByJoint]:
    """Return the trajectories of Figs. 3 to 6, by the number of the figure."""
    assert motion.tau is not None
    return {"3": motion.tau, "4": motion.q, "5": motion.qd, "6": motion.qdd}


# Table I of ha1989: the model parameters without and with measurement errors, by both forms and both estimators.


NAMES = ("X11", "b1", "c1", "X21", "X22", "X23", "b2", "c2", "X31", "b3", "c3", "X41", "b4", "c4")
# The columns of Table I: true values, and values with measurement errors.
TRUE = ("5.0000", "1.0000", "1.0000", "2.5000", "1.0000", "0.3000", "0.7000", "0.7000", "3.0000", "0.3000", "0.3000",
        "0.5000", "0.3000", "0.3000")  # fmt: skip
WITH_ERRORS = {
    "differential": (4.9090, 1.2839, 0.6918, 2.4533, 0.9385, 0.2502, 0.6345, 0.8325, 3.1165, 0.3793, 0.2163, 0.4979,
                     0.3256, 0.2660),
    "integral": (5.2405, 1.2672, 0.8814, 2.5528, 1.0226, 0.3165, 0.8914, 0.4961, 3.0825, 0.3793, 0.2520, 0.4830,
                 0.3645, 0.3437),
}  # fmt: skip
FORMS = tuple(WITH_ERRORS)
# (38), also if errors grow from joint to joint, and (34)
ESTIMATORS: dict[str, Estimator] = {"sequential": Sequential(one_by_one=True), "full": LeastSquares()}


MOTIONS = 300  # random motions with measurement errors
MUCH_MORE = 3.0  # ratio of the errors by bias to those by scale that counts as "much more severely"
MIN_SHARE = 0.95  # of the motions for which a statement holds, so that it does not depend on the motion


QUANTITIES = {
    "3": ("τ", Axis("torque or force", "Nm, N")),
    "4": ("q", Axis("position", "rad, m")),
    "5": ("q̇", Axis("velocity", "rad/s, m/s")),
    "6": ("q̈", Axis("acceleration", "rad/s², m/s²")),
}


@cache
def make_form(form: str) -> Form:
    """Return one of the two forms of the equations."""
    base = regroup_scara()
    return Differential(base) if form == "differential" else PrintedIntegralForm(base)


def make_problem(form: str, motion: MotionSamples | None = None) -> EstimationProblem:
    """Return the equations of one form for a motion; None for the chosen one, without measurement errors."""
    samples = make_motion() if motion is None else motion
    return EstimationProblem(make_form(form), (ArraySource(samples, 1.0 / SAMPLING_PERIOD),), threads=1)


@dataclass(frozen=True, eq=False)
class ErrorStudy:
    """Estimates from random motions with the measurement errors of sec. III.

    Attributes
    ----------
    sequential         parameters of (38) from data with both kinds of errors, in the order of Table I, by form
    by_bias, by_scale  rms of the relative errors of all parameters with one kind of errors, by form and estimator
    """

    sequential: Mapping[str, Float[np.ndarray, "motions base"]]
    by_bias: Mapping[tuple[str, str], Float[np.ndarray, " motions"]]
    by_scale: Mapping[tuple[str, str], Float[np.ndarray, " motions"]]

    @property
    def ratios(self) -> dict[tuple[str, str], Float[np.ndarray, " motions"]]:
        """How many times larger the errors by bias are than those by scale."""
        return {case: errors / self.by_scale[case] for case, errors in self.by_bias.items()}


@cache
def study_errors(motions: int = MOTIONS, *, rng: int = 0) -> ErrorStudy:
    """Estimate the parameters from random motions, each with both kinds of measurement errors and with one of them."""
    generator, truth = np.random.default_rng(rng), regroup_scara().values
    drawn = [make_motion(generator) for _ in range(motions)]

    def estimate(form: str, estimator: str, *, scale: bool, bias: bool) -> Float[np.ndarray, "motions base"]:
        problems = (make_problem(form, add_errors(motion, scale=scale, bias=bias)) for motion in drawn)
        return np.stack([ESTIMATORS[estimator].fit(problem).beta for problem in problems])

    cases = [(form, estimator) for estimator in ESTIMATORS for form in FORMS]
    by_bias, by_scale = (
        {case: compute_relative_error(estimate(*case, scale=not bias, bias=bias), truth) for case in cases}
        for bias in (True, False)
    )
    both = {form: estimate(form, "sequential", scale=True, bias=True) for form in FORMS}
    return ErrorStudy(both, by_bias, by_scale)


def compute_relative_error(beta: Float[np.ndarray, "*motions base"], truth: PerBase) -> Float[np.ndarray, " *motions"]:
    """Return the rms of the relative errors of all parameters."""
    return np.asarray(np.sqrt(np.mean((beta / truth - 1.0) ** 2, axis=-1)))


def compare_table() -> tuple[Exhibit, ...]:
    """Return Figs. 3 to 6, Table I, and the statements about measurement errors."""
    return (
        *_list_figures(),
        Exhibit("section_3", "Section III: the rank condition (40)", tuple(_compare_ranks()), open=CHOSEN),
        Exhibit(
            "table_1",
            "Table I without measurement errors: sequential algorithm (38), and all joints at once (34)",
            tuple(_compare_exact()),
        ),
        Exhibit(
            "table_1_errors",
            "Table I with measurement errors, for random motions: sequential algorithm (38)",
            (*_compare_with_errors(study_errors()), *_compare_kinds_of_errors(study_errors())),
            open=(
                f"the trajectories, which exist only as figures. Chosen here: {MOTIONS} random motions of {SECONDS:g} "
                "s, each a sum of two sines for every joint; amplitudes and frequencies vary by a factor of three. For "
                "each printed value, the median over the motions is shown, and the range of 90 % of them."
            ),
        ),
    )


def _list_figures() -> Iterator[Exhibit]:
    motion = make_motion()
    for number, values in list_quantities(motion).items():
        symbol, axis = QUANTITIES[number]
        names = [f"{symbol}{i}" for i in range(1, 5)]
        plot: Plot = plot_joints(f"Fig. {number}: trajectories of {symbol}", motion.t, values, names, axis)
        largest = ", ".join(f"{value:.3g}" for value in abs(values).max(axis=0))
        comparison = PrintedResult(f"largest {symbol} by joint", "a figure", largest, State.OPEN)
        yield Exhibit(f"figure_{number}", plot.title, (comparison,), (plot,), CHOSEN)


def _compare_ranks() -> Iterator[PrintedResult]:
    spacing = {"differential": f"every {1e3 * SAMPLING_PERIOD:g} ms", "integral": f"every {INTEGRATION_STEP:g} s"}
    scara = regroup_scara()
    for form in FORMS:
        problem = make_problem(form)
        chain = split_by_joint(problem.normal_equations(), order_joints(scara.robot))
        ranks = [part.decomposition.rank for part in reversed(chain)]
        complete = [count + len(scara.friction) for count in scara.counts]
        yield PrintedResult(
            f"(40) in the {form} form, data {spacing[form]}",
            "satisfied",
            f"ranks {ranks} of {complete}",
            State.of(ranks == complete),
        )


def _compare_exact() -> Iterator[PrintedResult]:
    for name, estimator in ESTIMATORS.items():
        for form in FORMS:
            beta = estimator.fit(make_problem(form)).beta
            for parameter, printed, value in zip(NAMES, TRUE, beta, strict=True):
                yield compare_printed(f"{parameter}, {form}, {name}", printed, float(value))


def _compare_with_errors(study: ErrorStudy) -> Iterator[PrintedResult]:
    """The printed values next to those of random motions, since those of the paper are not given."""
    for form, estimates in study.sequential.items():
        for name, printed, values in zip(NAMES, WITH_ERRORS[form], estimates.T, strict=True):
            yield PrintedResult(f"{name}, {form}", printed, _describe_range(values), State.OPEN)
    truth = regroup_scara().values
    for form, estimates in study.sequential.items():
        printed = float(compute_relative_error(np.array(WITH_ERRORS[form]), truth))
        yield PrintedResult(
            f"rms of the relative errors, {form}",
            f"{printed:.2f}, computed from the printed columns",
            _describe_range(compute_relative_error(estimates, truth)),
            State.OPEN,
            "both errors",
        )


def _compare_kinds_of_errors(study: ErrorStudy) -> Iterator[PrintedResult]:
    """The statement about bias and scale, by the share of motions for which it holds."""
    for (form, estimator), ratios in study.ratios.items():
        more, much_more = (float(np.mean(ratios > bound)) for bound in (1.0, MUCH_MORE))
        yield PrintedResult(
            f"bias degrades the accuracy much more than scale, {form}, {estimator}",
            "yes",
            f"in {100.0 * much_more:.0f} % of {len(ratios)} random motions more than {MUCH_MORE:g} times, in "
            f"{100.0 * more:.0f} % more; median {np.median(ratios):.1f} times",
            State.AGREES if much_more >= MIN_SHARE else State.OPEN,
            "" if much_more >= MIN_SHARE else "it depends on the motion, which is not given",
        )


def _describe_range(values: Float[np.ndarray, " motions"]) -> str:
    low, middle, high = np.quantile(values, (0.05, 0.5, 0.95))
    return f"{middle:.4g}, 90 % within {low:.4g} to {high:.4g}"
