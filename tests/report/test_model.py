"""A model that was read shows its parameters and its verdict."""

from __future__ import annotations

import json
from pathlib import Path

import ytheta as yt
from tests.support.arm_logs import identified_arm


def test_a_model_is_shown(tmp_path: Path) -> None:
    fit = identified_arm(tmp_path)[0]
    model = yt.read_model(fit.save(tmp_path / "arm.model.toml"))
    text = str(model)
    assert text.startswith(f"lu-two-link: {len(fit.names)} base parameters")
    assert "determined by" in text
    assert text.count(" prior") + text.count(" data") + text.count(" shared") >= len(fit.names)
    for name in fit.names:
        assert name in text
    assert fit.verdict.sentence in " ".join(text.split())
    assert "<" in model._repr_html_()
    data = model.to_dict()
    assert json.loads(json.dumps(data, allow_nan=False))["verdict"] == fit.verdict.grade.value
    assert [row["name"] for row in data["parameters"]] == list(fit.names)
