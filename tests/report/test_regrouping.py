"""A regrouped Lagrangian as a table and as plain data."""

from __future__ import annotations

from dataclasses import replace

import ytheta as yt


def test_the_table_shows_functions_and_combinations() -> None:
    text = str(yt.regroup_lagrangian(yt.load("ha-scara")))
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.startswith(" joint")}
    assert rows["joint3.X1"][1:] == ["3", "49·q3/5", "+", "qd3^2/2", "link3.m", "+", "link4.m"]
    assert rows["joint3.fv"][1:] == ["0.3", "joint3.fv"]
    assert "10 of 49 terms of the Lagrangian, 18 model parameters (method ha); unknown: a1, a2" in text


def test_values_need_lengths_and_friction_does_not() -> None:
    robot = replace(yt.load("ha-scara"), lengths=(("a1", None), ("a2", 0.4)))
    data = yt.regroup_lagrangian(robot).to_dict()
    values = {row["name"]: row["value"] for row in data["parameters"]}
    assert (values["joint3.X1"], values["joint3.fv"]) == (None, 0.3)
    assert (data["count"], data["method"], data["unknown_lengths"]) == (18, "ha", ["a1", "a2"])
    assert data["parameters"][0]["F"] == "qd1^2/2"
