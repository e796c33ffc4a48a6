"""Declared forces in robot descriptions: parameters, TOML, lengths and mistakes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ytheta
from tests.support.command import ytheta as command
from tests.support.driven_robots import driven_robot, evaluate
from tests.support.forced_robots import CABLE, SPRING, with_forces
from tests.support.random_robots import robots
from tests.support.states import close, state
from tests.support.toml_robots import TWO, read
from ytheta.dynamics import graphs
from ytheta.errors import InputError, RobotError, UnsetLengthError
from ytheta.files.expressions import format_position
from ytheta.robot.forces import evaluate_shapes
from ytheta.robot.kinematics import change_link_frames
from ytheta.robot.parts import Force
from ytheta.robot.robot import Robot
from ytheta.robot.toml_writer import to_toml


def test_parameters_of_forces_come_last() -> None:
    bare = ytheta.load("puma560")
    robot = with_forces(bare, SPRING, CABLE)
    assert robot.parameter_names == (*bare.parameter_names, "spring.k", "cable.k")
    assert np.array_equal(robot.theta, [*bare.theta, 25.0, -3.0])


def test_other_descriptions_of_a_robot_keep_its_forces() -> None:
    robot = with_forces(driven_robot("panda"), Force("spring", (("panda_joint2", "panda_joint2"),), value=2.0))
    inertia = robot.links[3].inertia
    reframed = change_link_frames(robot.merged, {robot.merged.links[2].name: ytheta.Frame.shift(0.1)})
    table = ytheta.to_modified_dh(robot)
    others = (robot.merged, robot.numeric, robot.with_load(inertia), reframed, table.robot, table.restore())
    assert all(other.forces == robot.forces for other in others)
    assert all(other.theta[-1] == 2.0 for other in others)


TEXT = """
[[force]]
name = "cam"
value = "pi/2"
torque = { q1 = "lift*l1", "q2" = 'q("q1") - 1e-3' }
where = { lift = "sin(q1)", twice = "2*lift" }
source = "a drawing"
"""


def test_forces_in_toml() -> None:
    robot = read(TWO + TEXT)
    assert robot.forces == (
        Force(
            "cam",
            (("q1", "lift*l1"), ("q2", 'q("q1") - 1e-3')),
            (("lift", "sin(q1)"), ("twice", "2*lift")),
            np.pi / 2,
            "a drawing",
        ),
    )
    assert read(to_toml(robot)) == robot
    assert read(to_toml(robot).replace("1e-3", "1e-4")) != robot


@given(robots(), st.data())
def test_round_trip_of_any_robot(robot: Robot, data: st.DataObject) -> None:
    if not robot.moving:
        return
    names = data.draw(st.lists(st.sampled_from(robot.moving), min_size=1, unique=True))
    number = data.draw(st.floats(-1e9, 1e9))
    torque = tuple((name, f"mid*{format_position(name)} - {number!r}") for name in names)
    where = (("mid", f"(cos({format_position(names[0])})\n + pi)"),)
    robot = with_forces(robot, Force("a force", torque, where, number, "“here”\n"), Force("bare", ((names[0], "1"),)))
    assert read(to_toml(robot)) == robot


def test_lengths() -> None:
    """A length may occur only in a force. It is replaced by its value if numbers are needed."""
    robot = read(TWO + TEXT)
    assert robot.numeric.forces[0].where[0] == ("l1", "0.4")
    assert robot.numeric.lengths == ()
    x, _, _ = state(2)
    tau = evaluate(graphs.gravity_graph(robot), x) - evaluate(graphs.gravity_graph(replace(robot, forces=())), x)
    assert close(tau, np.pi / 2 * np.array([0.4 * np.sin(x[0]), x[0] - 1e-3]))
    unset = replace(robot, lengths=(*robot.lengths, ("reach", None)))
    unset = with_forces(unset, Force("far", (("q1", "reach*q1"),)))
    assert unset.unset_lengths == ("reach",)
    with pytest.raises(UnsetLengthError, match="the length 'reach' has no value"):
        graphs.gravity_graph(unset)
    assert unset.with_lengths(reach=2.0).numeric.forces[1].where == (("reach", "2.0"),)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            ("lift*l1", "lift*l7"),
            "force 'cam', torque of 'q1': the name 'l7' in 'lift\\*l7' is unknown; choose from: l1, lift",
        ),
        (("sin(q1)", "sn(q1)"), "force 'cam', where 'lift': 'sn\\(q1\\)' is not understood: there is no function 'sn'"),
        (("sin(q1)", "sin(twice)"), "where 'lift': 'sin\\(twice\\)' uses 'twice', which is not defined above it"),
        (("sin(q1)", "sin(lift)"), "where 'lift': 'sin\\(lift\\)' uses 'lift', which is not defined above it"),
        (("sin(q1)", "q1/0"), "where 'lift': 'q1/0' is not understood: it divides by zero; correct its numbers"),
        (("2*lift", "1e400"), "where 'twice': '1e400' is not understood: a constant in it has no finite real value"),
        (("lift*l1", "1/(2 - 2)"), "torque of 'q1': '1/\\(2 - 2\\)' is not understood: it divides by zero"),
        (("twice =", "q2 ="), "where 'q2': a joint or motor also has this name"),
        (("twice =", "l1 ="), "where 'l1': a length also has this name"),
        (("twice =", "pi ="), "where 'pi': this name cannot be used in expressions"),
        (("twice =", "'a b' ="), "where 'a b': this name cannot be used in expressions"),
        (('q("q1")', 'q("q9")'), "uses the position of 'q9', but there is no movable joint or motor with this name"),
        (('"q2" =', '"q7" ='), "torque of 'q7': there is no movable joint or motor with this name"),
        (('"q2" =', '"q1" ='), "not valid TOML"),
        (('name = "cam"', 'name = "q1"'), "force 'q1' has the name of a joint, motor or link; rename it"),
        (('name = "cam"', 'name = "upper"'), "force 'upper' has the name of a joint, motor or link"),
        (('name = "cam"', 'name = ""'), "a force has no name"),
        (('name = "cam"', ""), "the key 'name' is missing"),
        (('value = "pi/2"', "value = inf"), "'value' should be a finite number"),
        (('value = "pi/2"', 'value = "l1"'), "uses a symbolic length"),
        (('value = "pi/2"', "valeu = 1"), "the key 'valeu' is unknown; did you mean 'value'"),
        (('"sin(q1)"', "1.0"), r"\[\[force\]\] 'cam', where: 'lift' should be an expression in quotes, not 1.0"),
        (('torque = { q1 = "lift*l1", "q2" = \'q("q1") - 1e-3\' }', ""), "the key 'torque' is missing; add a table"),
        (('{ q1 = "lift*l1", "q2" = \'q("q1") - 1e-3\' }', "{}"), "force 'cam' does not act on a joint"),
        (('{ q1 = "lift*l1", "q2" = \'q("q1") - 1e-3\' }', "3"), "'torque' should be a table"),
    ],
)
def test_mistakes(change: tuple[str, str], reason: str) -> None:
    text = TEXT.replace(*change, 1)
    assert text != TEXT
    with pytest.raises(InputError, match=reason):
        read(TWO + text)


@pytest.mark.parametrize(
    ("forces", "reason"),
    [
        ((SPRING, SPRING), "the force name 'spring' is used 2 times"),
        ((replace(SPRING, value=np.nan),), "force 'spring': its value should be finite"),
        ((replace(SPRING, torque=SPRING.torque * 2),), "'torque' names 'joint2' more than once"),
        ((replace(SPRING, where=(("a", "1"), ("a", "2"))),), "'where' defines 'a' more than once"),
    ],
)
def test_contradictions(forces: Sequence[Force], reason: str) -> None:
    with pytest.raises(RobotError, match=reason):
        with_forces(ytheta.load("puma560"), *forces)


def test_forces_on_fixed_joints_are_errors() -> None:
    robot = ytheta.load("lu-two-link").with_load(ytheta.Inertia.point_mass(1.0, (0.0, 0.0, 0.0)), name="cup")
    with pytest.raises(RobotError, match="torque of 'cup_grasp': there is no movable joint or motor with this name"):
        with_forces(robot, Force("f", (("cup_grasp", "1"),)))


def test_ambiguous_names_are_errors() -> None:
    robot = replace(ytheta.load("puma560"), lengths=(("joint2", 1.0),))
    with pytest.raises(RobotError, match=r"is both a position and a length; write q\('joint2'\) for the position"):
        with_forces(robot, SPRING)
    unambiguous = with_forces(robot, Force("spring", (("joint2", "q('joint2') - 0.3"),), value=25.0))
    x, _, _ = state(6)
    same = with_forces(ytheta.load("puma560"), SPRING)
    assert close(evaluate(graphs.gravity_graph(unambiguous), x), evaluate(graphs.gravity_graph(same), x))


def test_inspect_lists_forces(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TWO + TEXT)
    data = json.loads(command("inspect", "two.toml", "--json", cwd=tmp_path).stdout)
    assert data["forces"] == [{"name": "cam", "acts_on": ["q1", "q2"], "value": np.pi / 2}]
    assert data["standard_parameters"] == 20 + 8 + 1
    printed = command("inspect", "two.toml", cwd=tmp_path).stdout
    assert "force: cam on q1, q2, k = 1.5708" in printed
    assert "29 standard parameters: 20 of 2 links, 8 of the drives, 1 of the forces" in printed
    base = json.loads(command("base", "two.toml", "--json", cwd=tmp_path).stdout)
    assert (base["method"], base["verdicts"]["cam.k"]) == ("qr", "known alone")
    assert "of the forces" not in command("inspect", "lu-two-link").stdout


def test_long_where_tables() -> None:
    names = [f"x{k}" for k in range(300)]
    where = (("x0", "joint2"), *((later, f"{before}*1.01") for before, later in pairwise(names)))
    robot = with_forces(ytheta.load("puma560"), Force("long", (("joint2", "x299"),), where, 1.0))
    assert evaluate_shapes(robot.forces[0], {"joint2": 1.0})["joint2"] == pytest.approx(1.01**299)
