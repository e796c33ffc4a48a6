"""``ytheta robots`` as its user meets it."""

from __future__ import annotations

import json

from tests.support.command import ytheta


def test_robots() -> None:
    result = ytheta("robots", "--json")
    assert result.returncode == 0
    robots = {row["name"]: row for row in json.loads(result.stdout)["robots"]}
    assert set(robots) >= {"panda", "ur10", "iiwa14", "rx90", "puma560", "stanford", "walker", "five-bar", "palletiser"}
    assert set(robots) >= {"lu-two-link", "lu-puma4", "ha-scara"}
    assert robots["panda"]["joints"] == 7
    assert robots["walker"]["loops"] == 2
    assert all(row.keys() == {"name", "joints", "loops", "about"} for row in robots.values())
    assert "walker" in ytheta("robots").stdout
