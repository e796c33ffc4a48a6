"""Table I of ha1989: the model parameters without and with measurement errors, by both forms and both estimators."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.form import Form
from ytheta.identification.equations.motion_sources import ArraySource
from ytheta.identification.estimators.estimator import Estimator
from ytheta.identification.estimators.least_squares import LeastSquares
from ytheta.identification.estimators.sequential import Sequential, order_joints, split_by_joint
from ytheta.plots import Axis, Plot
from ytheta.reproduction.exhibit import Agreement, Comparison, Exhibit, compare_printed
from ytheta.reproduction.ha1989.measured_motion import (
    INTEGRATION_STEP,
    SAMPLING_PERIOD,
    SECONDS,
    PrintedIntegralForm,
    add_errors,
    list_quantities,
    make_motion,
)
from ytheta.reproduction.ha1989.model import regroup_scara
from ytheta.reproduction.tracking import plot_joints
from ytheta.shapes import PerBase

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
ESTIMATORS: dict[str, Estimator] = {"sequential": Sequential(), "full": LeastSquares()}  # (38) and (34)
CHOSEN = (
    "the trajectories, which exist only as figures. Chosen here: a sum of two sines for every joint, "
    f"{SECONDS:g} s long."
)
QUANTITIES = {
    "3": ("τ", Axis("torque or force", "Nm, N")),
    "4": ("q", Axis("position", "rad, m")),
    "5": ("q̇", Axis("velocity", "rad/s, m/s")),
    "6": ("q̈", Axis("acceleration", "rad/s², m/s²")),
}


def make_problem(form: str, *, scale: bool = False, bias: bool = False) -> EstimationProblem:
    """Return the equations of one form, with or without the two kinds of measurement errors."""
    base = regroup_scara()
    equations: Form = Differential(base) if form == "differential" else PrintedIntegralForm(base)
    motion = add_errors(make_motion(), scale=scale, bias=bias)
    return EstimationProblem(equations, (ArraySource(motion, 1.0 / SAMPLING_PERIOD),), threads=1)


@cache
def estimate(form: str, estimator: str, *, scale: bool = False, bias: bool = False) -> PerBase:
    """Return the estimated parameters in the order of Table I."""
    return ESTIMATORS[estimator].fit(make_problem(form, scale=scale, bias=bias)).beta


def compute_relative_error(form: str, estimator: str, *, scale: bool = False, bias: bool = False) -> float:
    """Return the rms of the relative errors of all parameters."""
    truth = regroup_scara().values
    beta = estimate(form, estimator, scale=scale, bias=bias)
    return float(np.sqrt(np.mean((beta / truth - 1.0) ** 2)))


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
            "Table I with measurement errors: sequential algorithm (38)",
            (*_compare_with_errors(), *_compare_kinds_of_errors()),
            open=CHOSEN + " So the columns with measurement errors can be compared in kind only.",
        ),
    )


def _list_figures() -> Iterator[Exhibit]:
    motion = make_motion()
    for number, values in list_quantities(motion).items():
        symbol, axis = QUANTITIES[number]
        names = [f"{symbol}{i}" for i in range(1, 5)]
        plot: Plot = plot_joints(f"Fig. {number}: trajectories of {symbol}", motion.t, values, names, axis)
        largest = ", ".join(f"{value:.3g}" for value in abs(values).max(axis=0))
        comparison = Comparison(f"largest {symbol} by joint", "a figure", largest, Agreement.OPEN)
        yield Exhibit(f"figure_{number}", plot.title, (comparison,), (plot,), CHOSEN)


def _compare_ranks() -> Iterator[Comparison]:
    spacing = {"differential": f"every {1e3 * SAMPLING_PERIOD:g} ms", "integral": f"every {INTEGRATION_STEP:g} s"}
    scara = regroup_scara()
    for form in FORMS:
        problem = make_problem(form)
        chain = split_by_joint(problem.normal_equations(), order_joints(scara.robot))
        ranks = [part.decomposition.rank for part in reversed(chain)]
        complete = [count + len(scara.friction) for count in scara.counts]
        yield Comparison(
            f"(40) in the {form} form, data {spacing[form]}",
            "satisfied",
            f"ranks {ranks} of {complete}",
            Agreement.of(ranks == complete),
        )


def _compare_exact() -> Iterator[Comparison]:
    for estimator in ESTIMATORS:
        for form in FORMS:
            for name, printed, value in zip(NAMES, TRUE, estimate(form, estimator), strict=True):
                yield compare_printed(f"{name}, {form}, {estimator}", printed, float(value))


def _compare_with_errors() -> Iterator[Comparison]:
    for form in FORMS:
        values = estimate(form, "sequential", scale=True, bias=True)
        for name, printed, value in zip(NAMES, WITH_ERRORS[form], values, strict=True):
            yield Comparison(f"{name}, {form}", printed, round(float(value), 4), Agreement.OPEN)


def _compare_kinds_of_errors() -> Iterator[Comparison]:
    truth = np.array([float(value) for value in TRUE])
    for estimator in ESTIMATORS:
        for form in FORMS:
            by_bias = compute_relative_error(form, estimator, bias=True)
            by_scale = compute_relative_error(form, estimator, scale=True)
            yield Comparison(
                f"bias hurts much more than scale, {form}, {estimator}",
                "yes",
                f"rms of the relative errors: {by_bias:.2f} by bias, {by_scale:.2f} by scale",
                Agreement.OPEN,
                "the harm of a bias depends on the size of the motion",
            )
    for form in FORMS:
        printed = float(np.sqrt(np.mean((np.array(WITH_ERRORS[form]) / truth - 1.0) ** 2)))
        found = compute_relative_error(form, "sequential", scale=True, bias=True)
        yield Comparison(
            f"rms of the relative errors, {form}",
            f"{printed:.2f}, computed from the printed columns",
            round(found, 2),
            Agreement.OPEN,
            "both errors",
        )
