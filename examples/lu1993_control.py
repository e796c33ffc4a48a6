"""The simulations of lu1993 V-B: both adaptive schemes on the arm with four joints, Fig. 4 and 5.

    python -m examples.lu1993_control -o report

``lu1993_schemes`` chooses the settings that the paper does not give. ``lu1993_study`` varies these settings, to find
out which parts of the paper's comparison do not depend on the choice.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from examples.lu1993_schemes import (
    GAMMAS,
    LAMBDA,
    SCHEMES,
    TRUE_M4,
    Batch,
    BatchSettings,
    make_craig,
    make_modified,
    make_reference,
    simulate_scheme,
)
from examples.lu1993_study import (
    BIASES,
    DEGREE,
    M4_TOLERANCE,
    NOISES,
    SensorErrorRuns,
    Study,
    compare_sensor_errors,
    format_study,
    run_study,
)
from examples.lu1993_study import GAMMAS as SCANNED_GAMMAS
from examples.paper_comparison import Agreement, PaperComparison, Row, compute_settling_times, main, plot_joints, rms
from ytheta.native.operations import count_operations
from ytheta.plots import Axis, Band, Line
from ytheta.report.figures_page import Figure
from ytheta.report.line_plot import line_plot

JOINTS = ("joint 1", "joint 2", "joint 3", "joint 4")
EARLY_SECONDS = 0.6  # duration of the plots of m4 for runs with sensor errors
ABOUT = (
    "W.-S. Lu and Q.-H. Meng (1993), section V-B. The paper does not give omega, lambda, Gamma, Craig's gains or the "
    "initial velocity, and its figures are missing in the scan. Chosen here: omega = 4π, λ = 20 for both, "
    f"Γ = {GAMMAS['modified']} and {GAMMAS['Craig']}, and the velocity of the reference at the start."
)


def compare_with_paper() -> PaperComparison:
    runs = {scheme: simulate_scheme(scheme, BatchSettings.single(GAMMAS[scheme])) for scheme in SCHEMES}
    study, noise, bias = run_study(), compare_sensor_errors("noise"), compare_sensor_errors("bias")
    figures = [
        *_make_scheme_figures("4", "modified", runs["modified"]),
        *_make_scheme_figures("5", "Craig", runs["Craig"]),
    ]
    figures += [
        _make_gamma_figure(),
        _make_noise_figure(noise),
        _make_m4_figure("noise", noise),
        _make_m4_figure("bias", bias),
    ]
    return PaperComparison(
        "lu1993 V-B: adaptive control of a 4-DOF arm",
        ABOUT,
        tuple(_compare_statements(runs, study, noise, bias)),
        tuple(figures),
        ("", *format_study(study)),
    )


def _compare_statements(
    runs: dict[str, Batch], study: Study, noise: dict[str, SensorErrorRuns], bias: dict[str, SensorErrorRuns]
) -> Iterator[Row]:
    tracking = {scheme: compute_settling_times(b.t, b.largest_error > DEGREE)[0] for scheme, b in runs.items()}
    estimation = {
        scheme: compute_settling_times(b.t, np.abs(b.m4 - TRUE_M4) > M4_TOLERANCE)[0] for scheme, b in runs.items()
    }
    final_m4 = {scheme: b.m4[-1, 0] for scheme, b in runs.items()}
    setting_count, run_count = study.size
    yield Row(
        "modified: tracking error settles",
        "in less than 0.3 s",
        f"{tracking['modified']:.3f} s, to 1 degree",
        Agreement.of(agrees=tracking["modified"] < 0.3),
    )
    yield Row(
        "Craig: tracking error settles",
        "in about 0.35 s",
        f"{tracking['Craig']:.3f} s, to 1 degree",
        Agreement.OPEN,
        "Gamma, omega and the tolerance are not given; here, with the best Gamma of each, both settle at the same time",
    )
    yield Row(
        "both find m4 = 1 kg from 0.5 kg",
        "yes",
        " and ".join(f"{value:.4f} kg" for value in final_m4.values()),
        Agreement.of(agrees=all(abs(value - TRUE_M4) < 0.005 for value in final_m4.values())),
    )
    count = study.count("m4", tuned=True)
    yield Row(
        "modified finds m4 faster",
        "yes",
        f"to 5 %: {estimation['modified']:.3f} s, Craig {estimation['Craig']:.3f} s",
        Agreement.OPEN,
        f"with the best Gamma of each, modified is faster in {count.modified} of {setting_count} settings and Craig in "
        f"{count.craig}; Craig's accelerations are exact here, unlike those of a real robot",
    )
    exact, noisy = noise["Craig"].m4_error[[0, -1]].mean(axis=1)
    unchanged = all((errors["modified"].m4 == errors["modified"].m4[:1, :1]).all() for errors in (noise, bias))
    yield Row(
        "modified needs no accelerations",
        "yes",
        f"its m4 is unchanged; Craig's error of m4 grows by a factor of {noisy / exact:.0f}",
        Agreement.of(agrees=bool(unchanged and noisy > 3.0 * exact)),
        f"rms error of m4 from 0.1 to 0.5 s: Craig {exact:.3f} kg, {noisy:.3f} kg with noise of {NOISES[-1]:g} rad/s² "
        f"and {bias['Craig'].m4_error[-1, 0]:.3f} kg with a bias of {BIASES[-1]:g}; modified always "
        f"{noise['modified'].m4_error[0, 0]:.3f} kg "
        f"(accelerations of the reference: {rms(make_reference()(runs['Craig'].t)[2]):.0f} rad/s² rms)",
    )
    yield Row(
        "modified tolerates a Gamma far too large",
        "less sensitive",
        f"{study.count_diverged('modified')} of {run_count} runs diverge, Craig {study.count_diverged('Craig')}",
        Agreement.of(agrees=study.count_diverged("modified") == 0 < study.count_diverged("Craig")),
        "in Craig's scheme, the estimated mass matrix is no longer invertible",
    )
    good = {scheme: study.compute_mean_good_gammas(scheme) for scheme in SCHEMES}
    yield Row(
        "modified is less sensitive near the best",
        "less sensitive",
        f"{good['modified']:.1f} of {len(SCANNED_GAMMAS)} Gammas nearly as good, Craig {good['Craig']:.1f}",
        Agreement.of(agrees=good["modified"] > good["Craig"]),
        "with exact accelerations; the paper gives no numbers",
    )
    modified, craig = (count_operations(law.graph).total for law in (make_modified(), make_craig()))
    yield Row(
        "modified is cheaper to compute",
        "yes",
        f"{modified} operations, Craig {craig}",
        Agreement.of(agrees=modified < craig),
    )


def _make_scheme_figures(number: str, scheme: str, batch: Batch) -> Iterator[Figure]:
    name = "modified Slotine–Li" if scheme == "modified" else "Craig"
    error = batch.error[:, 0]
    yield Figure(
        f"Fig. {number}(a): {name}, joint trajectories",
        "Dashed: the reference. Every joint starts 20 % beyond its reference position.",
        plot_joints(batch.t, batch.reference + error, JOINTS, Axis("position", "rad"), reference=batch.reference),
    )
    seconds = compute_settling_times(batch.t, batch.largest_error > DEGREE)[0]
    yield Figure(
        f"Fig. {number}(b): {name}, tracking errors",
        f"All joints stay within one degree after {seconds:.3f} s (dotted).",
        plot_joints(batch.t, error / DEGREE, JOINTS, Axis("error", "degrees"), marks=[seconds]),
    )
    yield Figure(
        f"Fig. {number}(c): {name}, estimated m4",
        f"λ = {LAMBDA:g}, Γ = {GAMMAS[scheme]}; the true value is 1 kg.",
        line_plot(
            batch.t,
            [Line("m4", batch.m4[:, 0]), Line("true", np.full(len(batch.t), TRUE_M4), dashed=True, colour=7)],
            [Axis("m4", "kg")],
        ),
    )


def _make_gamma_figure() -> Figure:
    ones = np.ones(len(SCANNED_GAMMAS))
    settings = BatchSettings(4.0 * np.pi, LAMBDA * ones, SCANNED_GAMMAS, 0.2 * ones, ones)
    plotted = []
    for k, scheme in enumerate(SCHEMES):
        batch = simulate_scheme(scheme, settings)
        for label, outside, dashed in (
            ("tracking within 1°", batch.largest_error > DEGREE, False),
            ("m4 within 5 %", np.abs(batch.m4 - TRUE_M4) > M4_TOLERANCE, True),
        ):
            times = compute_settling_times(batch.t, outside)
            plotted.append(
                Line(f"{scheme}: {label}", np.where(np.isinf(times), np.nan, times), colour=k, dashed=dashed)
            )
    return Figure(
        "Settling times for all Gammas",
        "With the settings of Fig. 4 and 5. A line is interrupted where two seconds are not enough. Those of Craig's "
        "scheme end where its estimated mass matrix has no inverse. The two Gammas have different units.",
        line_plot(np.log10(SCANNED_GAMMAS), plotted, [Axis("settles after", "s")], x_title="log10 Γ"),
    )


def _make_noise_figure(noise: dict[str, SensorErrorRuns]) -> Figure:
    sizes = np.array(NOISES)
    plotted = [Line(scheme, runs.m4_error.mean(axis=1), colour=k) for k, (scheme, runs) in enumerate(noise.items())]
    craig_error = noise["Craig"].m4_error
    return Figure(
        "Noise in measured accelerations: m4 while the arm settles",
        "Root mean square of m4 - 1 kg from 0.1 to 0.5 s; mean of 16 runs, and the range of Craig's runs. In "
        "Craig's scheme, noise is multiplied by the tracking error, so it has an effect as long as there is one.",
        line_plot(
            sizes,
            plotted,
            [Axis("error of m4", "kg")],
            x_title="noise / rad/s² (standard deviation)",
            bands=[Band("all runs of Craig's scheme", craig_error.min(axis=1), craig_error.max(axis=1), colour=1)],
        ),
    )


def _make_m4_figure(kind: str, runs: dict[str, SensorErrorRuns]) -> Figure:
    craig, modified = runs["Craig"], runs["modified"]
    early = modified.t < EARLY_SECONDS
    plotted = [
        Line(f"Craig, {size:g} rad/s²", craig.m4[k, 0, early], colour=k + 1) for k, size in enumerate(craig.sizes)
    ]
    plotted.append(Line("modified, any size", modified.m4[-1, 0, early], colour=0, width=2.5))
    note = "The first run of each size." if kind == "noise" else "The same offset in all joints."
    return Figure(
        f"{kind.capitalize()} in measured accelerations: estimated m4",
        f"{note} The modified scheme does not use accelerations.",
        line_plot(modified.t[early], plotted, [Axis("m4", "kg")]),
    )


if __name__ == "__main__":
    main(compare_with_paper, "lu1993.html")
