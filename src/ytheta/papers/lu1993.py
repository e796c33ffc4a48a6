"""lu1993: the example of the arm with two joints, general formulas, and adaptive control with Figs. 4 and 5."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ytheta.native.graph import count_operations
from ytheta.papers import lu1993_simulations as simulations
from ytheta.papers.exhibit import Exhibit, PaperReproduction, PrintedResult, State
from ytheta.papers.lu1993_example import compare_example, compare_general_formulas, draw_arms
from ytheta.papers.tracking import compute_rms, compute_settling_times, plot_joints
from ytheta.plots import Axis, Band, Line, Plot

CITATION = (
    "W.-S. Lu and Q.-H. Meng, Regressor Formulation of Robot Dynamics: Computation and Applications, IEEE Transactions "
    "on Robotics and Automation, 1993"
)
ABOUT = (
    "Two formulations of the regressor, by Lagrange's equation and by a recursion, and an adaptive controller that "
    "uses it. Every printed formula of the example is compared with the formulations in exact rational arithmetic, and "
    "the simulations of section V-B are repeated."
)


def reproduce() -> PaperReproduction:
    """Compute the example, the general formulas, and the simulations of section V-B."""
    arms = draw_arms()
    exhibits = (*compare_example(arms), *compare_general_formulas(arms), *compare_control())
    return PaperReproduction("lu1993", CITATION, ABOUT, exhibits)


# The statements of lu1993 V-B about its two adaptive schemes, Fig. 4 and 5.
#
# ``lu1993_simulations`` chooses the settings that the paper does not give, and a study varies them, to find out which
# parts of the paper's comparison do not depend on the choice.


OPEN_SETTINGS = (
    "omega, λ, Γ, Craig's gains, the initial velocity and the tolerance of a converged error; the curves are missing "
    f"in the scan. Chosen here: omega = 4π, λ = {simulations.LAMBDA:g} for both algorithms, "
    f"Γ = {simulations.GAMMAS['modified']} and {simulations.GAMMAS['Craig']}, Craig's gains with the poles of the "
    "modified algorithm, the velocity of the reference at the "
    "start, and one degree."
)
AS_IN_FIGURE_4 = "the same settings as in Fig. 4."
NO_NUMBERS = "printed only as the authors' simulation experience, without numbers or settings"


def compare_control() -> tuple[Exhibit, ...]:
    """Return Fig. 4, Fig. 5, the statements that compare both schemes, and the study of other settings."""
    batches = {
        scheme: simulations.simulate_scheme(scheme, simulations.BatchSettings.single(simulations.GAMMAS[scheme]))
        for scheme in simulations.SCHEMES
    }
    noise, bias, study = (
        simulations.compare_sensor_errors("noise"),
        simulations.compare_sensor_errors("bias"),
        simulations.run_study(),
    )
    return (
        _compare_figure("4", "modified", "modified Slotine–Li algorithm", batches["modified"]),
        _compare_figure("5", "Craig", "Craig's algorithm", batches["Craig"]),
        Exhibit(
            "section_5b",
            "Section V-B: the two algorithms compared",
            (
                _compare_estimation(batches, study),
                _compare_need_for_accelerations(noise, bias, batches["Craig"].t),
                *_compare_sensitivity(study),
                _compare_cost(),
            ),
            (
                plot_gammas(),
                plot_noise(noise),
                plot_m4_with_sensor_errors("noise", noise),
                plot_m4_with_sensor_errors("bias", bias),
            ),
            AS_IN_FIGURE_4,
        ),
        _tabulate_study(study),
    )


def _compare_figure(number: str, scheme: str, name: str, batch: simulations.Batch) -> Exhibit:
    seconds = measure_tracking(batch)
    m4 = batch.m4[-1, 0]
    comparisons = (
        PrintedResult(
            "the tracking error settles",
            "in less than 0.3 s" if scheme == "modified" else "in about 0.35 s",
            f"in {seconds:.3f} s, to 1 degree",
            State.OPEN,
            "λ was chosen such that an error with a double pole at -λ settles in 0.3 s"
            if scheme == "modified"
            else "with the best Γ of each scheme, both settle at the same time",
        ),
        PrintedResult(
            "m4 is found, from 0.5 kg",
            "1 kg",
            f"{m4:.4f} kg after 2 s",
            State.of(bool(abs(m4 - simulations.TRUE_M4) < 0.005)),
        ),
    )
    plots = tuple(list_scheme_plots(number, name, scheme, batch, seconds))
    left_open = OPEN_SETTINGS if scheme == "modified" else AS_IN_FIGURE_4
    return Exhibit(f"figure_{number}", f"Fig. {number}: {name}", comparisons, plots, left_open)


def measure_tracking(batch: simulations.Batch) -> float:
    """Return the time after which all joints of the first run stay within one degree."""
    return float(compute_settling_times(batch.t, batch.largest_error > simulations.DEGREE)[0])


def measure_estimation(batch: simulations.Batch) -> float:
    """Return the time after which m4 of the first run stays within 5 %."""
    return float(compute_settling_times(batch.t, np.abs(batch.m4 - simulations.TRUE_M4) > simulations.M4_TOLERANCE)[0])


def _compare_estimation(batches: dict[str, simulations.Batch], study: simulations.Study) -> PrintedResult:
    modified, craig = (measure_estimation(batches[scheme]) for scheme in simulations.SCHEMES)
    count = study.count("m4", tuned=True)
    return PrintedResult(
        "modified finds m4 faster",
        "yes",
        f"to 5 %: {modified:.3f} s, Craig {craig:.3f} s",
        State.OPEN,
        f"with the best Γ of each, modified is faster in {count.modified} of {study.size[0]} settings and Craig in "
        f"{count.craig}; Craig's accelerations are exact here, unlike those of a real robot",
    )


def _compare_need_for_accelerations(
    noise: dict[str, simulations.SensorErrorRuns], bias: dict[str, simulations.SensorErrorRuns], t: np.ndarray
) -> PrintedResult:
    exact, noisy = noise["Craig"].m4_error[[0, -1]].mean(axis=1)
    unchanged = all((errors["modified"].m4 == errors["modified"].m4[:1, :1]).all() for errors in (noise, bias))
    return PrintedResult(
        "modified needs no accelerations",
        "yes",
        f"its m4 is unchanged; Craig's error of m4 grows by a factor of {noisy / exact:.0f}",
        State.of(bool(unchanged and noisy > 3.0 * exact)),
        f"rms error of m4 from 0.1 to 0.5 s: Craig {exact:.3f} kg, {noisy:.3f} kg with noise of "
        f"{simulations.NOISES[-1]:g} rad/s² "
        f"and {bias['Craig'].m4_error[-1, 0]:.3f} kg with a bias of {simulations.BIASES[-1]:g} rad/s²; modified always "
        f"{noise['modified'].m4_error[0, 0]:.3f} kg "
        f"(accelerations of the reference: {compute_rms(simulations.make_reference()(t)[2]):.0f} rad/s² rms)",
    )


def _compare_sensitivity(study: simulations.Study) -> Iterator[PrintedResult]:
    diverged = {scheme: study.count_diverged(scheme) for scheme in simulations.SCHEMES}
    yield PrintedResult(
        "modified tolerates a Γ far too large",
        "less sensitive",
        f"{diverged['modified']} of {study.size[1]} runs diverge, Craig {diverged['Craig']}",
        State.OPEN,
        f"{NO_NUMBERS}. In Craig's scheme, the estimated mass matrix is no longer invertible",
    )
    for name, compute, total in (
        ("Γ", study.compute_mean_good_gammas, len(simulations.SCANNED_GAMMAS)),
        ("λ", study.compute_mean_good_lambdas, len(simulations.LAMBDAS)),
    ):
        good = {scheme: compute(scheme) for scheme in simulations.SCHEMES}
        yield PrintedResult(
            f"modified is less sensitive near the best {name}",
            "less sensitive",
            f"{good['modified']:.1f} of {total} values of {name} nearly as good, Craig {good['Craig']:.1f}",
            State.OPEN,
            f"{NO_NUMBERS}. Nearly as good: settles within {simulations.MAX_TIME_RATIO} times the best time. With "
            f"exact accelerations{', and the best Γ for each λ' if name == 'λ' else ''}",
        )


def _compare_cost() -> PrintedResult:
    modified, craig = (
        count_operations(law.graph).total for law in (simulations.make_modified(), simulations.make_craig())
    )
    return PrintedResult(
        "modified is cheaper to compute",
        "yes",
        f"{modified} operations, Craig {craig}",
        State.of(modified < craig),
    )


def _tabulate_study(study: simulations.Study) -> Exhibit:
    """Count in how many settings each scheme is faster; the paper states this for its own setting only."""
    settings, runs = study.size
    rows = [
        (f"{label}, {'best' if tuned else 'same'} Γ", study.count(measure, tuned=tuned), settings if tuned else runs)
        for measure, label in simulations.MEASURES.items()
        for tuned in (True, False)
    ]
    rows += [
        (
            f"{simulations.MEASURES[measure]}, best Γ, Ψ = 1.5 λ",
            study.count(measure, simulations.CRAIG_WITH_OTHER_PSI, tuned=True),
            settings,
        )
        for measure in ("one_degree", "m4")
    ]
    comparisons = [
        PrintedResult(
            label,
            "modified is faster",
            f"modified {count.modified}, Craig {count.craig}, equal {count.equal}, neither {count.neither} of {total}",
            State.OPEN,
        )
        for label, count, total in rows
    ]
    one, two = study.count_consistent("one_degree"), study.count_consistent("two_degrees")
    comparisons.append(
        PrintedResult(
            "settings with all statements at once",
            "its own",
            f"{one} of {settings} with a tolerance of 1 degree, {two} with 2 degrees",
            State.OPEN,
            "modified settles in 0.25 to 0.3 s, Craig in 0.33 to 0.37 s, and modified finds m4 first, for some Γ of "
            "each",
        )
    )
    return Exhibit(
        "section_5b_settings",
        f"Section V-B: which algorithm is faster, in {settings} settings",
        tuple(comparisons),
        open="the settings. Tried here: omega 1, 2, π, 2π, 4π; λ 10, 15, 20, 30, 40; start at rest or with the "
        "velocity of the reference, 20 % beyond or short of its position; "
        f"{len(simulations.SCANNED_GAMMAS)} values of Γ from 1e-4 to 0.1. Γ has another unit in each scheme, "
        "so equal values mean little.",
    )


# The figures of lu1993 V-B, and those of the study of its settings, as plots.


JOINTS = ("joint 1", "joint 2", "joint 3", "joint 4")
EARLY_SECONDS = 0.6  # duration of the plots of m4 for runs with sensor errors


def list_scheme_plots(number: str, name: str, scheme: str, batch: simulations.Batch, seconds: float) -> Iterator[Plot]:
    """Yield Fig. 4 or 5, parts (a) to (c); the tracking error settles after ``seconds``."""
    error = batch.error[:, 0]
    yield plot_joints(
        f"Fig. {number}(a): {name}, joint trajectories",
        batch.t,
        batch.reference + error,
        JOINTS,
        Axis("position", "rad"),
        reference=batch.reference,
        caption="Dashed: the reference. Every joint starts 20 % beyond its reference position.",
    )
    yield plot_joints(
        f"Fig. {number}(b): {name}, tracking errors",
        batch.t,
        error / simulations.DEGREE,
        JOINTS,
        Axis("error", "degrees"),
        caption=f"All joints stay within one degree after {seconds:.3f} s (dotted).",
        marks=[seconds],
    )
    yield Plot(
        f"Fig. {number}(c): {name}, estimated m4",
        batch.t,
        (Line("m4", batch.m4[:, 0]), Line("true", np.full(len(batch.t), simulations.TRUE_M4), dashed=True, colour=7)),
        (Axis("m4", "kg"),),
        caption=f"λ = {simulations.LAMBDA:g}, Γ = {simulations.GAMMAS[scheme]}; the true value is 1 kg.",
    )


def plot_gammas() -> Plot:
    """Plot the settling times of both schemes for all scanned values of Gamma."""
    ones = np.ones(len(simulations.SCANNED_GAMMAS))
    settings = simulations.BatchSettings(
        simulations.OMEGA, simulations.LAMBDA * ones, simulations.SCANNED_GAMMAS, simulations.INITIAL_ERROR * ones, ones
    )
    lines = []
    for k, scheme in enumerate(simulations.SCHEMES):
        batch = simulations.simulate_scheme(scheme, settings)
        for label, outside, dashed in (
            ("tracking within 1°", batch.largest_error > simulations.DEGREE, False),
            ("m4 within 5 %", np.abs(batch.m4 - simulations.TRUE_M4) > simulations.M4_TOLERANCE, True),
        ):
            times = compute_settling_times(batch.t, outside)
            lines.append(Line(f"{scheme}: {label}", np.where(np.isinf(times), np.nan, times), colour=k, dashed=dashed))
    return Plot(
        "Settling times for all Γ",
        np.log10(simulations.SCANNED_GAMMAS),
        tuple(lines),
        (Axis("settles after", "s"),),
        caption="With the settings of Fig. 4 and 5. A line is interrupted where two seconds are not enough. Those of "
        "Craig's scheme end where its estimated mass matrix has no inverse. The two Γ have different units.",
        x_title="log10 Γ",
    )


def plot_noise(noise: dict[str, simulations.SensorErrorRuns]) -> Plot:
    """Plot the error of m4 while the arm settles, for all sizes of the noise."""
    error = noise["Craig"].m4_error
    return Plot(
        "Noise in measured accelerations: m4 while the arm settles",
        np.array(simulations.NOISES),
        tuple(Line(scheme, runs.m4_error.mean(axis=1), colour=k) for k, (scheme, runs) in enumerate(noise.items())),
        (Axis("error of m4", "kg"),),
        caption="Root mean square of m4 - 1 kg from 0.1 to 0.5 s; mean of 16 runs, and the range of Craig's runs. In "
        "Craig's scheme, noise is multiplied by the tracking error, so it has an effect as long as there is one.",
        x_title="noise / rad/s² (standard deviation)",
        bands=(Band("all runs of Craig's scheme", error.min(axis=1), error.max(axis=1), colour=1),),
    )


def plot_m4_with_sensor_errors(kind: str, runs: dict[str, simulations.SensorErrorRuns]) -> Plot:
    """Plot m4 over time with noise or a bias of every size."""
    craig, modified = runs["Craig"], runs["modified"]
    early = modified.t < EARLY_SECONDS
    lines = [Line(f"Craig, {size:g} rad/s²", craig.m4[k, 0, early], colour=k + 1) for k, size in enumerate(craig.sizes)]
    lines.append(Line("modified, any size", modified.m4[-1, 0, early], colour=0, width=2.5))
    note = "The first run of each size." if kind == "noise" else "The same offset in all joints."
    return Plot(
        f"{kind.capitalize()} in measured accelerations: estimated m4",
        modified.t[early],
        tuple(lines),
        (Axis("m4", "kg"),),
        caption=f"{note} The modified scheme does not use accelerations.",
    )
