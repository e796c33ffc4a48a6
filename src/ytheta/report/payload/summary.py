"""An estimated payload as plain data: the output of ``ytheta payload --json``."""

from __future__ import annotations

from typing import Any

from ytheta.identification.model_table import summarize_errors
from ytheta.payload.result import PayloadEstimate
from ytheta.payload.verdict import QUANTITIES, UNITS
from ytheta.report.numbers import replace_nonfinite

KNOWN = "known"  # the mark of a mass that was given


def summarize_payload(payload: PayloadEstimate) -> dict[str, Any]:
    """Return the values with standard deviations and where they come from, torque errors and the verdict."""
    std = payload.std.tolist()
    moments = dict(zip(QUANTITIES[4:], std[4:], strict=True))
    rows = [[moments[f"I{min(a, b)}{max(a, b)}"] for b in "xyz"] for a in "xyz"]
    marks = [KNOWN if mark is None else mark.value for mark in payload.marks]
    nearest = payload.consistent_payload
    data: dict[str, Any] = replace_nonfinite(
        {
            "robot": payload.attachment.robot.name,
            "link": payload.link,
            "frame": payload.frame,
            "mass": payload.mass,
            "center": payload.center.tolist(),
            "inertia": payload.inertia.tolist(),
            "std": {"mass": std[0], "center": std[1:4], "inertia": rows},
            "center_in_link": payload.center_in_link.tolist(),
            "units": dict(zip(("mass", "center", "inertia"), ("kg", "m", UNITS[-1]), strict=True)),
            "quantities": list(QUANTITIES),
            "marks": marks,
            "prior_std": payload.prior_std.tolist(),
            "correlation": payload.correlation.tolist(),
            "known_mass": payload.known_mass,
            "mass_from_torques": {
                "value": float(payload.fit.free.theta[0]),
                "std": float(payload.fit.free.theta_covariance[0, 0] ** 0.5),
            },
            "consistent": payload.consistent,
            "distance": None if nearest is None else nearest.distance,
            "verdict": payload.verdict.grade.value,
            "reason": payload.verdict.sentence,
            "samples": payload.before.samples,
            "seconds": payload.before.seconds,
            "cutoff": payload.cutoff,
            "model_has_covariance": payload.has_covariance,
            "relative_error_percent": {
                "before": payload.before.relative_percent,
                "after": payload.after.relative_percent,
                "corrected": payload.corrected_percent,
            },
            "noise_ratio": payload.noise_ratio,
            "before": summarize_errors(payload.before),
            "after": summarize_errors(payload.after),
            "logs": list(payload.logs),
            "unloaded": list(payload.unloaded),
        }
    )
    return data | {"findings": [finding.data for finding in payload.findings]}
