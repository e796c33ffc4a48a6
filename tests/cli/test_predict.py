"""``ytheta predict`` as its user meets it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.support.command import read_json, refused, ytheta


def test_predict_uses_the_settings_of_the_model(folder: Path, tmp_path: Path) -> None:
    """Slow equations, and friction that was known instead of learnt."""
    for k, options in enumerate((["--min-speed", "0.5"], ["--parameters", "link*,*.fv"])):
        model = tmp_path / f"{k}.toml"
        found = read_json(folder, "identify", "true.toml", "a.npz", "--validate", "b.csv", *options, "-o", str(model))
        again = read_json(folder, "predict", str(model), "b.csv")
        bodies = found["consistency"]["validation_bodies_percent"]
        assert again["relative_error_percent"] == pytest.approx(bodies, rel=1e-9)
        assert again["per_joint_percent"] == pytest.approx(found["validation"]["per_joint_percent"], rel=0.01)


def test_predict_equals_the_validation(folder: Path, tmp_path: Path) -> None:
    model, table = tmp_path / "arm.model.toml", tmp_path / "torques.csv"
    fit = read_json(
        folder, "identify", "lu-two-link", "a.npz", "--validate", "b.csv", "--cutoff", "7", "-o", str(model)
    )
    answer = read_json(folder, "predict", str(model), "b.csv", "-o", str(table))
    assert answer["relative_error_percent"] == pytest.approx(fit["validation"]["relative_error_percent"], rel=1e-9)
    free = fit["consistency"]["validation_estimate_percent"]  # the twin
    assert answer["relative_error_percent"] != pytest.approx(free, rel=1e-9)
    for key in ("relative_error_percent", "per_joint_percent", "raw_relative_error_percent"):
        assert answer[key] == pytest.approx(fit["validation"][key], rel=0.01)
    torques = pl.read_csv(table)
    assert torques.columns == ["t", *(f"{kind}_joint{k}" for kind in ("measured", "predicted", "std") for k in (1, 2))]
    measured, predicted = (torques.select(f"^{kind}_.*$").to_numpy() for kind in ("measured", "predicted"))
    relative = 100.0 * np.linalg.norm(measured - predicted) / np.linalg.norm(measured)
    assert relative == pytest.approx(answer["relative_error_percent"], rel=1e-9)
    assert read_json(folder, "predict", str(model), "b.csv", "--cutoff", "12")["cutoff"] == 12.0
    recorded = len(pl.read_csv(folder / "b.csv"))
    assert answer["recorded"]["samples"] == recorded > answer["samples"] == len(torques)
    shown = ytheta("predict", str(model), "b.csv", cwd=folder).stdout.splitlines()[0]
    assert f"{recorded} samples at " in shown
    assert f"of which {len(torques)} at " in shown
    without_friction = read_json(folder, "predict", "lu-two-link", "b.csv", "--cutoff", "7")
    assert without_friction["relative_error_percent"] > 5.0 * answer["relative_error_percent"]
    result = ytheta("predict", "true.toml", "b.csv", "-o", str(tmp_path / "t.parquet"), cwd=folder)
    assert result.returncode == 0
    assert result.stdout.splitlines()[-1].startswith("torque error 0.0")
    assert result.stderr.splitlines()[-1] == f"note: wrote {tmp_path / 't.parquet'}"
    assert pl.read_parquet(tmp_path / "t.parquet").columns == torques.columns[:5]  # a description has no std


def test_a_log_without_torques_has_predictions(folder: Path, tmp_path: Path) -> None:
    moved, table = tmp_path / "moved.csv", tmp_path / "torques.csv"
    pl.read_csv(folder / "b.csv").drop("tau1", "tau2").write_csv(moved)
    result = ytheta("predict", "true.toml", str(moved), "-o", str(table), cwd=folder)
    assert result.returncode == 0
    assert "the log has none to compare them with" in result.stdout
    assert "error %" not in result.stdout
    assert pl.read_csv(table).columns == ["t", "predicted_joint1", "predicted_joint2"]
    without, measured = (read_json(folder, "predict", "true.toml", str(log)) for log in (moved, "b.csv"))
    assert without["relative_error_percent"] is without["per_joint_percent"] is None
    assert without.keys() == measured.keys()
    assert (without["samples"], without["seconds"]) == (measured["samples"], measured["seconds"])
    assert "contains no torque" in refused("identify", "lu-two-link", str(moved), cwd=folder)


def test_report(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "torques.html"
    result = ytheta("predict", "true.toml", "b.csv", "--report", str(page), cwd=folder)
    assert (result.returncode, result.stderr) == (0, f"note: wrote {page}\n")
    assert "<html" in page.read_text()
    assert "extension .html" in refused("predict", "true.toml", "b.csv", "--report", "page.pdf", cwd=folder)


def test_how_the_model_is_read(folder: Path) -> None:
    plain = read_json(folder, "predict", "lu-two-link", "b.csv")
    longer = read_json(folder, "predict", "lu-two-link", "b.csv", "--length", "l1=0.6")
    assert longer["relative_error_percent"] > plain["relative_error_percent"]
    assert "--length 'l1=long'" in refused("predict", "lu-two-link", "b.csv", "--length", "l1=long", cwd=folder)
