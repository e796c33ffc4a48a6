"""A prediction as text and as plain data."""

from __future__ import annotations

import ytheta as yt
from ytheta.report.numbers import format_plain


def test_the_table_has_the_errors(prediction: yt.Prediction) -> None:
    text = str(prediction)
    assert text.startswith("lu-two-link on run.npz: ")
    assert prediction.errors is not None
    assert text.splitlines()[-1].startswith(f"torque error {format_plain(prediction.errors.relative_percent)} %")
    for value in prediction.errors.per_joint_percent:
        assert format_plain(float(value)) in text
    data = prediction.to_dict()
    assert (data["robot"], data["joints"], data["samples"]) == ("lu-two-link", ["joint1", "joint2"], len(prediction.t))
    assert data["log"].endswith("run.npz")
    assert data["findings"] == [finding.data for finding in prediction.findings]
    assert "gap" in {entry["code"] for entry in data["findings"]}


def test_without_measured_torques_the_predicted_ones_are_shown(without_torques: yt.Prediction) -> None:
    text = str(without_torques)
    assert "the log has none to compare them with" in text
    assert "predicted RMS" in text
    assert f"{format_plain(float(without_torques.predicted[:, 1].max()))} Nm" in text
    assert without_torques.to_dict()["rms"] is None


def test_the_representation_is_short(prediction: yt.Prediction, without_torques: yt.Prediction) -> None:
    assert repr(prediction).startswith(f"Prediction({len(prediction.t)} samples of run.npz by 'lu-two-link', ")
    assert repr(without_torques).endswith("no measured torques)")
