"""The figures of lu1993 V-B, and those of the study of its settings, as plots."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ytheta.plots import Axis, Band, Line, Plot
from ytheta.reproduction.lu1993.schemes import (
    GAMMAS,
    INITIAL_ERROR,
    LAMBDA,
    OMEGA,
    SCHEMES,
    TRUE_M4,
    Batch,
    BatchSettings,
    simulate_scheme,
)
from ytheta.reproduction.lu1993.sensor_errors import NOISES, SensorErrorRuns
from ytheta.reproduction.lu1993.study import DEGREE, M4_TOLERANCE
from ytheta.reproduction.lu1993.study import GAMMAS as SCANNED_GAMMAS
from ytheta.reproduction.tracking import compute_settling_times, plot_joints

JOINTS = ("joint 1", "joint 2", "joint 3", "joint 4")
EARLY_SECONDS = 0.6  # duration of the plots of m4 for runs with sensor errors


def list_scheme_plots(number: str, name: str, scheme: str, batch: Batch, seconds: float) -> Iterator[Plot]:
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
        error / DEGREE,
        JOINTS,
        Axis("error", "degrees"),
        caption=f"All joints stay within one degree after {seconds:.3f} s (dotted).",
        marks=[seconds],
    )
    yield Plot(
        f"Fig. {number}(c): {name}, estimated m4",
        batch.t,
        (Line("m4", batch.m4[:, 0]), Line("true", np.full(len(batch.t), TRUE_M4), dashed=True, colour=7)),
        (Axis("m4", "kg"),),
        caption=f"λ = {LAMBDA:g}, Γ = {GAMMAS[scheme]}; the true value is 1 kg.",
    )


def plot_gammas() -> Plot:
    """Plot the settling times of both schemes for all scanned values of Gamma."""
    ones = np.ones(len(SCANNED_GAMMAS))
    settings = BatchSettings(OMEGA, LAMBDA * ones, SCANNED_GAMMAS, INITIAL_ERROR * ones, ones)
    lines = []
    for k, scheme in enumerate(SCHEMES):
        batch = simulate_scheme(scheme, settings)
        for label, outside, dashed in (
            ("tracking within 1°", batch.largest_error > DEGREE, False),
            ("m4 within 5 %", np.abs(batch.m4 - TRUE_M4) > M4_TOLERANCE, True),
        ):
            times = compute_settling_times(batch.t, outside)
            lines.append(Line(f"{scheme}: {label}", np.where(np.isinf(times), np.nan, times), colour=k, dashed=dashed))
    return Plot(
        "Settling times for all Γ",
        np.log10(SCANNED_GAMMAS),
        tuple(lines),
        (Axis("settles after", "s"),),
        caption="With the settings of Fig. 4 and 5. A line is interrupted where two seconds are not enough. Those of "
        "Craig's scheme end where its estimated mass matrix has no inverse. The two Γ have different units.",
        x_title="log10 Γ",
    )


def plot_noise(noise: dict[str, SensorErrorRuns]) -> Plot:
    """Plot the error of m4 while the arm settles, for all sizes of the noise."""
    error = noise["Craig"].m4_error
    return Plot(
        "Noise in measured accelerations: m4 while the arm settles",
        np.array(NOISES),
        tuple(Line(scheme, runs.m4_error.mean(axis=1), colour=k) for k, (scheme, runs) in enumerate(noise.items())),
        (Axis("error of m4", "kg"),),
        caption="Root mean square of m4 - 1 kg from 0.1 to 0.5 s; mean of 16 runs, and the range of Craig's runs. In "
        "Craig's scheme, noise is multiplied by the tracking error, so it has an effect as long as there is one.",
        x_title="noise / rad/s² (standard deviation)",
        bands=(Band("all runs of Craig's scheme", error.min(axis=1), error.max(axis=1), colour=1),),
    )


def plot_m4_with_sensor_errors(kind: str, runs: dict[str, SensorErrorRuns]) -> Plot:
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
