"""Torques predicted by a model: errors on a log, and logs without torques."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ytheta as yt
from tests.support.arm_logs import identified_arm
from ytheta.errors import InputError
from ytheta.identification.predict import predict_torques
from ytheta.identification.result import Identification
from ytheta.logs.log import Log
from ytheta.logs.preparing.preparation import PreparationSettings
from ytheta.robot.parameters import with_theta


@pytest.fixture(scope="module")
def identified(tmp_path_factory: pytest.TempPathFactory) -> tuple[Identification, Log]:
    return identified_arm(tmp_path_factory.mktemp("logs"))


def test_errors_equal_those_of_the_validation(identified: tuple[Identification, Log], tmp_path: Path) -> None:
    fit, log = identified
    fit.save(tmp_path / "arm.model.toml")
    robot = yt.load(tmp_path / "arm.model.toml")
    settings = PreparationSettings(cutoff=fit.origin.settings[0].cutoff)
    assert fit.validation is not None
    prediction = predict_torques(robot, log, settings)
    errors = prediction.errors
    assert errors is not None
    assert prediction.measured is not None
    assert errors.relative_percent == pytest.approx(fit.validation.relative_percent, rel=1e-9)
    np.testing.assert_allclose(errors.torque, fit.validation.torque, rtol=1e-9)
    residual = prediction.measured - prediction.predicted
    percent = 100.0 * np.sqrt((residual**2).sum(axis=0) / (prediction.measured**2).sum(axis=0))
    np.testing.assert_allclose(errors.per_joint_percent, percent, rtol=1e-9)
    described = predict_torques(yt.load("lu-two-link"), log, settings).errors
    assert described is not None
    assert described.relative_percent > 2.0 * errors.relative_percent  # the twin


def test_torques_are_predicted_for_logs_without_torques(identified: tuple[Identification, Log]) -> None:
    fit, log = identified
    robot = fit.robot
    with_torques, without = (predict_torques(robot, each) for each in (log, replace(log, tau=None)))
    assert without.errors is None
    assert without.measured is None
    assert with_torques.measured is not None
    assert np.array_equal(without.predicted, with_torques.predicted)
    with pytest.raises(InputError, match="no joint ever reaches its min_speed"):
        predict_torques(robot, log, min_speed=np.array([1e9, 1e9]))
    massless = with_theta(robot, np.zeros_like(robot.theta))
    with pytest.raises(InputError, match="has no inertias"):
        predict_torques(massless, log)


def test_a_model_has_its_own_preparation(identified: tuple[Identification, Log], tmp_path: Path) -> None:
    """The identification, its file, the file as a Model, and the robot with the same settings predict alike."""
    _, log = identified
    fit = yt.identify(
        yt.load("lu-two-link"), log, settings=PreparationSettings(cutoff=7.0, derivative="spline"), min_speed=0.3
    )
    path = fit.save(tmp_path / "arm.model.toml")
    settings = PreparationSettings(cutoff=7.0, derivative="spline")
    predictions = [
        yt.predict(fit, log),
        yt.predict(path, log),
        yt.predict(str(path), log),
        yt.predict(yt.read_model(path), log),
        yt.predict(fit.robot, log, settings=settings, min_speed=(0.3, 0.3)),
        yt.predict(fit.robot, log, cutoff=7.0, derivative="spline", min_speed=0.3),
    ]
    for prediction in predictions:
        assert prediction.preparation.settings.cutoff == 7.0
        assert prediction.preparation.settings.derivative == "spline"
        np.testing.assert_allclose(prediction.predicted, predictions[0].predicted, rtol=0.0, atol=1e-9)
        assert prediction.errors is not None
        assert predictions[0].errors is not None
        np.testing.assert_allclose(prediction.errors.counts, predictions[0].errors.counts)
        assert prediction.errors.relative_percent == pytest.approx(predictions[0].errors.relative_percent, rel=1e-9)
    assert predictions[0].errors is not None
    assert predictions[0].errors.counts.max() < predictions[0].errors.samples
    # Single arguments replace single settings of the identification, and a plain robot has none of them.
    other = yt.predict(fit, log, cutoff=5.0)
    assert (other.preparation.settings.cutoff, other.preparation.settings.derivative) == (5.0, "spline")
    other = yt.predict(path, log, derivative="central", min_speed=0.0)
    assert (other.preparation.settings.cutoff, other.preparation.settings.derivative) == (7.0, "central")
    assert other.errors is not None
    assert other.errors.counts.max() == other.errors.samples
    plain = yt.predict(fit.robot, log)
    assert plain.preparation.settings.cutoff != 7.0
    assert plain.errors is not None
    assert plain.errors.counts.max() == plain.errors.samples


def test_predict_reads_logs(identified: tuple[Identification, Log], tmp_path: Path) -> None:
    fit, log = identified
    path = yt.write_log(log, tmp_path / "log.csv")
    prediction = yt.predict(fit, path, strict=True)
    np.testing.assert_allclose(prediction.predicted, yt.predict(fit, log).predicted, rtol=0.0, atol=1e-9)
    assert (prediction.source, prediction.robot) == (str(path), fit.robot)
    assert {"sampling"} <= {finding.code for finding in prediction.findings}
    table = {"time": log.t, "q": np.degrees(log.q), "tau": log.tau}
    mapped = yt.predict(fit, table, mapping={"scale": {"q": "deg"}})
    np.testing.assert_allclose(mapped.predicted, prediction.predicted, rtol=0.0, atol=1e-3)
    assert mapped.source == "dict"


def test_bad_arguments_are_refused(identified: tuple[Identification, Log], tmp_path: Path) -> None:
    fit, log = identified
    with pytest.raises(InputError, match="cutoff is given as an argument and in settings"):
        yt.predict(fit, log, settings=PreparationSettings(), cutoff=3.0)
    with pytest.raises(InputError, match="a value of type int is not a model; give a file, a catalog name, an Ident"):
        yt.predict(3, log)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a value of type float; give a path, a Log"):
        yt.predict(fit, 3.5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="snap, fix_base, lengths and angles apply to files"):
        yt.predict(fit, log, lengths={"l1": 1.0})
    with pytest.raises(InputError, match="min_speed has 3 speeds for 2 joints"):
        yt.predict(fit, log, min_speed=(1.0, 2.0, 3.0))
    with pytest.raises(InputError, match=r"extension \.csv or \.parquet"):
        yt.predict(fit, log).save(tmp_path / "torques.txt")
    with pytest.raises(InputError, match=r"extension \.html or \.htm"):
        yt.predict(fit, log).report(tmp_path / "torques.txt")
    path = yt.write_log(log, tmp_path / "log.csv")
    content = path.read_bytes()
    with pytest.raises(InputError, match="is one of the inputs and would be overwritten"):
        yt.predict(fit, path).save(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_torques_are_saved(identified: tuple[Identification, Log], tmp_path: Path, suffix: str) -> None:
    fit, log = identified
    prediction = yt.predict(fit, log)
    path = prediction.save(tmp_path / f"torques{suffix}")
    table = pl.read_csv(path) if suffix == ".csv" else pl.read_parquet(path)
    kinds = ("measured", "predicted", "std")
    assert table.columns == ["t", *(f"{kind}_{joint}" for kind in kinds for joint in ("joint1", "joint2"))]
    np.testing.assert_array_equal(table["t"].to_numpy(), prediction.t)
    np.testing.assert_array_equal(table["predicted_joint2"].to_numpy(), prediction.predicted[:, 1])
