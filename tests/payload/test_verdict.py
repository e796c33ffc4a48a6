"""The verdict on a payload: each grade has its reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.payload_cases import BODY
from ytheta.identification.assessment.verdict import Grade, PredictionQuality
from ytheta.payload.verdict import compute_quantities, reach_payload_verdict

STD = np.array([0.01, *[0.001] * 3, *[0.001] * 6])
MOMENTS = ("Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def _scale_std(index: int, std: float) -> np.ndarray:
    return np.where(np.arange(10) == index, std, STD)


def _make_quality(percent: float) -> PredictionQuality:
    return PredictionQuality(np.full(6, percent), np.zeros(6), np.full(6, 10.0), np.zeros(6))


@pytest.mark.parametrize(
    ("changes", "grade", "words"),
    [
        ({}, Grade.GOOD, "mass 2.4 ± 0.01 kg, centre of mass ± 1 mm"),
        ({"unseen": MOMENTS}, Grade.GOOD, "the moments of inertia are those of a compact body"),
        ({"unseen": ["Ixx"]}, Grade.GOOD, "Ixx is that of a compact body"),
        ({"unseen": ["cz"], "std": _scale_std(3, 0.5)}, Grade.USABLE, "does not show cz of the centre of mass"),
        ({"std": _scale_std(0, 0.2)}, Grade.USABLE, "mass 2.4 ± 0.2 kg"),
        ({"quality": _make_quality(15.0)}, Grade.USABLE, "15 % of the torque's variation"),
        ({"std": _scale_std(0, 0.7)}, Grade.NOT_EXCITING, "move the wrist"),
        ({"std": _scale_std(3, 0.2)}, Grade.NOT_EXCITING, "± 200 mm"),
        ({"std": _scale_std(0, 2.0)}, Grade.NOT_EXCITING, "no payload is seen"),
        ({"values": 0.001 * compute_quantities(BODY.vector)}, Grade.DOUBTFUL, "recorded with the payload"),
        (
            {"values": 0.001 * compute_quantities(BODY.vector)},
            Grade.DOUBTFUL,
            "from nothing: its mass is below 0.022 kg",
        ),
        ({"values": -compute_quantities(BODY.vector)}, Grade.DOUBTFUL, "smaller than those of the model alone"),
        ({"distance": 9.0}, Grade.DOUBTFUL, "9.0 standard deviations away"),
        ({"noise_ratio": 7.0}, Grade.DOUBTFUL, "7 times the noise"),
        ({"noise_ratio": None}, Grade.GOOD, "mass 2.4"),
        ({"distance": np.inf}, Grade.DOUBTFUL, "no body has the estimated parameters;"),
        (
            {"std": _scale_std(0, 0.1205), "torque_scale": 0.05},
            Grade.USABLE,
            "± 0.12 kg of it because the scale of the",
        ),
        ({"torque_scale": 0.002}, Grade.GOOD, "mass 2.4 ± 0.01 kg, centre"),  # the scale is not the largest cause
        ({"quality": _make_quality(60.0), "explained_share": 0.2}, Grade.POOR, "something other than a payload"),
        ({"mass_is_known": True}, Grade.GOOD, "mass 2.4 kg (known)"),
    ],
)
def test_the_most_serious_defect_decides(changes: dict[str, Any], grade: Grade, words: str) -> None:
    arguments: dict[str, Any] = {
        "values": compute_quantities(BODY.vector),
        "std": STD,
        "distance": 0.0,
        "quality": _make_quality(3.0),
        "explained_share": 0.99,
        "noise_ratio": 1.2,
        "unseen": (),
        "mass_is_known": False,
        "arm_mass": 30.0,
        "torque_scale": 0.0,
        **changes,
    }
    verdict = reach_payload_verdict(arguments.pop("values"), arguments.pop("std"), **arguments)
    assert verdict.grade is grade, verdict.sentence
    assert words in verdict.sentence
    assert verdict.sentence.lower().startswith(grade.value)
