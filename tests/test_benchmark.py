"""Benchmarks: which rows there are, and that values agree before times are measured; times are not tested."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta as yt
from tests.support.command import read_json, refused
from tests.support.paths import ROOT
from tests.support.payload_cases import BODY
from ytheta import benchmark as module
from ytheta.benchmark import list_peers
from ytheta.errors import InputError, MissingExtraError
from ytheta.robot.floating import add_wrench_sensor
from ytheta.robot.frame import Frame

TURNED = Frame(rotation=((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)))  # on a wall

ROWS = {
    ("inverse dynamics", "Pinocchio"),
    ("inverse dynamics", "MuJoCo"),
    ("forward dynamics", "Pinocchio"),
    ("forward dynamics", "MuJoCo"),
    ("mass matrix", "Pinocchio"),
    ("mass matrix", "MuJoCo"),
    ("regressor", "Pinocchio"),
}


def test_the_object_has_the_keys_of_the_design() -> None:
    data = read_json(ROOT, "bench", "ur10", "--samples", "16", "--repeats", "1")
    assert {(row["name"], row["peer_name"].split()[0]) for row in data["rows"]} == ROWS
    for row in data["rows"]:
        assert set(row) == {"name", "ytheta", "peer", "peer_name", "ratio"}
        assert row["ratio"] == pytest.approx(row["peer"] / row["ytheta"])
    assert data["machine"]["versions"]["ytheta"] == yt.__version__


def test_the_table_names_machine_and_units() -> None:
    text = str(yt.bench("panda", samples=16, repeats=1))
    for words in ("processors", "Pinocchio rnea", "MuJoCo mj_forward", " µs", "values agree"):
        assert words in text


def test_other_values_are_refused() -> None:
    """A peer whose robot has a heavier link."""
    robot = module._simplify(yt.load("ur10"))
    heavier = robot.with_inertias({robot.links[-1].name: BODY})
    q, qd, last = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 16, 6))
    values = yt.inverse_dynamics(robot)(q, qd, last)
    for right, wrong in zip(list_peers(robot), list_peers(heavier), strict=True):
        states = np.stack([x[:, right.order] for x in (q, qd, last)])
        module.check_agreement("inverse dynamics", right, states, values)
        with pytest.raises(InputError, match=f"the values of {wrong.name} differ"):
            module.check_agreement("inverse dynamics", wrong, states, values)


@pytest.mark.parametrize("change", ["gravity", "mounting", "order"])
def test_peers_have_the_gravity_and_the_joints_of_the_robot(change: str) -> None:
    """Values that differ are refused, so that rows show that they agree."""
    arm = yt.load("ur10")
    changed = {
        "gravity": replace(arm, gravity=(1.0, 2.0, 3.0)),
        "mounting": replace(arm, mounting=Frame.shift(0.0, 0.0, 1.0) @ TURNED),
        "order": replace(arm, actuated=arm.actuated[::-1]),
    }[change]
    assert len(yt.bench(changed, samples=16, repeats=1).rows) == len(ROWS)


def test_sensors_are_refused() -> None:
    arm = add_wrench_sensor(yt.load("ur10").with_load(BODY, name="tool"), "tool_grasp")
    with pytest.raises(InputError, match="has force-torque sensors, which bench does not compare"):
        yt.bench(arm, samples=16, repeats=1)


def test_without_peers_there_is_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "list_peers", lambda _: iter(()))
    with pytest.raises(MissingExtraError, match="pip install pin mujoco"):
        yt.bench("ur10", samples=16, repeats=1)


def test_wrong_input_is_refused_in_one_sentence() -> None:
    assert "closed loops" in refused("bench", "walker")
    assert "samples is 3" in refused("bench", "ur10", "--samples", "3")
    assert "repeats is 0" in refused("bench", "ur10", "--repeats", "0")
    assert "no-such-robot" in refused("bench", "no-such-robot")
    assert "MuJoCo refuses robot 'lu-two-link'" in refused("bench", "lu-two-link")  # its links are point masses
