"""Declared forces: columns of Y against MuJoCo's springs, a published counterbalance, and what definitions say."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ytheta
from tests.support.base_checks import is_complete_and_minimal, regressors
from tests.support.command import ytheta as command
from tests.support.driven_robots import coupled_robot, driven_robot, evaluate
from tests.support.forced_robots import CABLE, SPRING, with_forces
from tests.support.loop_motion import ROUNDING_TOLERANCE, close_pose, random_motion
from tests.support.loop_robots import make_looped_robot
from tests.support.paths import ROOT
from tests.support.random_robots import robots
from tests.support.states import close, state
from tests.support.toml_robots import TWO, read
from ytheta.dynamics import graphs
from ytheta.dynamics.loops.builder import build_constraint
from ytheta.errors import InputError, RobotError, UnsetLengthError
from ytheta.files.expressions import format_position
from ytheta.identifiability.registry import acceptance, base_parameters
from ytheta.robot.forces import evaluate_shapes
from ytheta.robot.kinematics import change_link_frames
from ytheta.robot.parts import Force
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot
from ytheta.robot.writing.toml import to_toml


def flipped(robot: Robot) -> Robot:
    """The twin that must fail: every force the other way round."""
    return replace(robot, forces=tuple(replace(force, value=-force.value) for force in robot.forces))


def pushed(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Torques of SPRING and CABLE at the joints of a six-joint arm, written out."""
    _, q2, q3, _, q5, _ = q
    x = q2 + 0.67 * q3
    bend = x**3 - 0.2 * np.tanh(x)
    k, c = (force.value for force in robot.forces)
    return np.array([0, k * (q2 - 0.3) + 0.7 * c * bend, -c * bend * np.cos(q5), 0, c, 0])


# --- parameters ------------------------------------------------------------------------------------------------------


def test_parameters_come_last() -> None:
    bare = ytheta.load("puma560")
    robot = with_forces(bare, SPRING, CABLE)
    assert robot.parameter_names == (*bare.parameter_names, "spring.k", "cable.k")
    assert np.array_equal(robot.theta, [*bare.theta, 25.0, -3.0])


def test_forces_are_carried_along() -> None:
    robot = with_forces(driven_robot("panda"), Force("spring", (("panda_joint2", "panda_joint2"),), value=2.0))
    inertia = robot.links[3].inertia
    turned = change_link_frames(robot.merged, {robot.merged.links[2].name: ytheta.Frame.shift(0.1)})
    table = ytheta.to_modified_dh(robot)
    others = (robot.merged, robot.numeric, robot.with_load(inertia), turned, table.robot, table.restore())
    assert all(other.forces == robot.forces for other in others)
    assert all(other.theta[-1] == 2.0 for other in others)


# --- graphs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda: driven_robot("puma560"), coupled_robot], ids=["puma560", "coupled puma560"])
def test_every_graph_has_them(make: Any) -> None:
    bare = make()
    robot = with_forces(bare, SPRING, CABLE)
    x, xd, xdd = state(len(robot.coordinates))
    A, b = robot.coupling_map
    extra = A.T @ pushed(robot, A @ x + b)
    for name, arguments in (("inverse_dynamics", (x, xd, xdd)), ("bias", (x, xd)), ("gravity", (x,))):
        graph = getattr(graphs, f"{name}_graph")
        assert close(evaluate(graph(robot), *arguments), evaluate(graph(bare), *arguments) + extra)
        assert not close(evaluate(graph(flipped(robot)), *arguments), evaluate(graph(bare), *arguments) + extra)
    for name, arguments in (("mass_matrix", (x,)), ("coriolis", (x, xd)), ("momentum", (x, xd)), ("energy", (x, xd))):
        graph = getattr(graphs, f"{name}_graph")
        assert np.array_equal(evaluate(graph(robot), *arguments), evaluate(graph(bare), *arguments))
    tau = evaluate(graphs.inverse_dynamics_graph(robot), x, xd, xdd)
    assert close(evaluate(graphs.inverse_dynamics_graph(robot, formulation="newton_euler"), x, xd, xdd), tau)
    assert close(evaluate(graphs.forward_dynamics_graph(robot), x, xd, tau), xdd, 1e-8)
    by_input = graphs.inverse_dynamics_graph(robot, theta_input=True)
    assert close(evaluate(by_input, x, xd, xdd, robot.theta), tau)
    assert close(evaluate(by_input, x, xd, xdd, 2 * robot.theta), 2 * tau)


@pytest.mark.parametrize("formulation", ["newton_euler", "lagrange", "kronecker", "spatial_tree"])
def test_columns_of_the_regressor(formulation: str) -> None:
    robot = with_forces(driven_robot("puma560"), SPRING, CABLE)
    x, xd, xdd = state(6)
    Y = evaluate(graphs.regressor_graph(robot, formulation=formulation), x, xd, xdd)
    assert close(Y @ robot.theta, evaluate(graphs.inverse_dynamics_graph(robot), x, xd, xdd))
    assert close(Y[:, -2:] @ robot.theta[-2:], pushed(robot, x))
    assert not close(Y @ flipped(robot).theta, evaluate(graphs.inverse_dynamics_graph(robot), x, xd, xdd))
    own = graphs.regressor_graph(robot, formulation=formulation, parameters=["cable.k", "joint2.fv"])
    assert close(evaluate(own, x, xd, xdd), Y[:, [-1, robot.parameter_names.index("joint2.fv")]])


def test_two_velocities_and_momentum() -> None:
    """Positions alone decide: the reference motion has no part in it, momentum has none, the remainder has all."""
    robot = with_forces(coupled_robot(), SPRING, CABLE)
    x, xd, xdd = state(6)
    Y = evaluate(graphs.regressor_graph(robot), x, xd, xdd)
    reference = evaluate(graphs.regressor_graph(robot, reference=True), x, xd, 3 * xd, -xdd)
    assert close(reference[:, -2:], Y[:, -2:])
    assert not evaluate(graphs.momentum_regressor_graph(robot), x, xd)[:, -2:].any()
    assert close(evaluate(graphs.remainder_graph(robot), x, xd)[:, -2:], Y[:, -2:])
    h = 1e-5
    ahead, behind = (
        evaluate(graphs.momentum_regressor_graph(robot), x + t * xd + t * t / 2 * xdd, xd + t * xdd) for t in (h, -h)
    )
    whole = evaluate(graphs.remainder_graph(robot), x, xd) + (ahead - behind) / (2 * h)
    assert close(whole, Y, 1e-7)


def test_machine_code_computes_every_function() -> None:
    shape = (
        "sin(joint1) + cos(x)*tan(x) + asin(x) - acos(x) + atan2(x, y) + sqrt(abs(y)) + exp(x)*tanh(y) + sign(y)*x**7"
    )
    force = Force("all", (("joint1", shape), ("joint2", "2**x + y**-2")), (("x", "joint1/9"), ("y", "joint2")), 2.0)
    robot = with_forces(ytheta.load("lu-two-link"), force)
    q, qd, qdd = np.random.default_rng(1).uniform(-2.0, 2.0, (3, 9, 2))
    fast, slow = (ytheta.regressor(robot, backend=backend)(q, qd, qdd) for backend in ("llvm", "interpreter"))
    np.testing.assert_allclose(fast, slow, rtol=1e-12, atol=1e-12)
    positions = {"joint1": q[:, 0], "joint2": q[:, 1]}
    for k, values in enumerate(evaluate_shapes(force, positions).values()):
        np.testing.assert_allclose(slow[:, k, -1], values, rtol=1e-12)


def test_a_spring_gives_back_what_it_takes() -> None:
    """Its power is the rate of k/2 (q - q0)^2, by central differences."""
    robot = with_forces(ytheta.load("puma560"), SPRING)
    x, xd, xdd = state(6)
    power = xd @ (
        evaluate(graphs.inverse_dynamics_graph(robot), x, xd, xdd)
        - evaluate(graphs.inverse_dynamics_graph(replace(robot, forces=())), x, xd, xdd)
    )
    h = 1e-5
    stored = [25.0 / 2 * (x[1] + t * xd[1] - 0.3) ** 2 for t in (-h, h)]
    assert power == pytest.approx((stored[1] - stored[0]) / (2 * h), rel=1e-7)
    assert power != pytest.approx((stored[0] - stored[1]) / (2 * h), rel=1e-7)


def test_on_motors_and_of_motors() -> None:
    robot = with_forces(coupled_robot(), Force("winch", (("m6", "m6*joint6"), ("joint6", "1 - m6")), value=2.0))
    x, xd, xdd = state(6)
    A, b = robot.coupling_map
    q, m = A @ x + b, robot.coordinates.index("m6")
    extra = 2.0 * A[5] * (1 - x[m])
    extra[m] += 2.0 * x[m] * q[5]
    bare = replace(robot, forces=())
    tau, without = (evaluate(graphs.inverse_dynamics_graph(r), x, xd, xdd) for r in (robot, bare))
    assert close(tau, without + extra)
    assert not close(tau, without - extra)


@pytest.mark.parametrize("name", ["walker", "five-bar", "palletiser", "slide"])
def test_loops(name: str) -> None:
    """A spring on every joint, cut ones included: its torque is the slope of its energy along closed poses."""
    bare = make_looped_robot(name)
    springs = [Force(f"s{k}", ((j, f"{format_position(j)} - 0.{k}"),), value=k + 1.0) for k, j in enumerate(bare.moving)]
    robot = with_forces(bare, *springs)
    loops = build_constraint(robot)
    Q, Qd, Qdd = random_motion(name)
    Y = evaluate(graphs.regressor_graph(robot), close_pose(loops, Q), Qd, Qdd)
    cuts = graphs.cut_motion_graph(bare)

    def energy(Q: np.ndarray) -> float:
        x = close_pose(loops, Q)
        A, b = robot.coupling_map
        cut = evaluate(cuts, x, Qd, Qdd)[:, 0]
        motors = [x[robot.coordinates.index(motor.name)] for motor in robot.motors]
        places = (*(A @ x + b), *cut, *motors)
        return sum((k + 1.0) / 2 * (place - float(f"0.{k}")) ** 2 for k, place in enumerate(places))

    h = 1e-5
    slope = [(energy(Q + h * unit) - energy(Q - h * unit)) / (2 * h) for unit in np.eye(len(Q))]
    torque = Y[:, -len(springs) :] @ robot.theta[-len(springs) :]
    np.testing.assert_allclose(torque, slope, rtol=1e-6, atol=1e-6)
    assert not np.allclose(-torque, slope, rtol=1e-6, atol=1e-6)
    tau = evaluate(graphs.inverse_dynamics_graph(robot), close_pose(loops, Q), Qd, Qdd)
    np.testing.assert_allclose(Y @ robot.theta, tau, rtol=ROUNDING_TOLERANCE, atol=ROUNDING_TOLERANCE)
    held = evaluate(graphs.gravity_graph(robot), close_pose(loops, Q)) - evaluate(
        graphs.gravity_graph(bare), close_pose(loops, Q)
    )
    np.testing.assert_allclose(held, torque, rtol=ROUNDING_TOLERANCE, atol=ROUNDING_TOLERANCE)


# --- oracles ---------------------------------------------------------------------------------------------------------


def sprung(joints: str, top: str = "") -> str:
    geom = '<geom type="capsule" size="0.04" fromto="0 0 0 0.3 0 0"/>'
    return f'<mujoco>{top}<worldbody><body name="a">{joints}{geom}</body></worldbody></mujoco>'


SPRINGS = [
    sprung('<joint name="j" axis="0 1 0" stiffness="5"/>'),
    sprung('<joint name="j" axis="0 1 0" stiffness="5" springref="30" ref="10"/>'),
    sprung('<joint name="j" axis="0 1 0" stiffness="5" springref="-0.4"/>', '<compiler angle="radian"/>'),
    sprung('<joint type="slide" name="j" axis="0 0 1" stiffness="50" springref="0.03"/>'),
    sprung('<joint name="j" axis="0 1 0" stiffness="5 2 1.5" springref="30"/>'),
    sprung('<joint name="j" axis="0 1 0" stiffness="0 0 3"/>'),
    sprung('<joint axis="1 0 0" stiffness="2"/><joint name="it\'s" axis="0 1 0" stiffness="7" springref="5"/>'),
    sprung('<joint name="j" axis="0 1 0" stiffness="5"/>', '<option><flag spring="disable"/></option>'),
]


@pytest.mark.parametrize("text", SPRINGS)
def test_springs_of_mujoco(text: str, tmp_path: Path) -> None:
    (tmp_path / "spring.xml").write_text(text)
    robot = load(tmp_path / "spring.xml")
    assert not any(note.is_warning for note in robot.findings)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(3)
    for _ in range(3):
        q, qd, qdd = rng.uniform(-1.5, 1.5, (3, model.nv))
        data.qpos, data.qvel, data.qacc = q, qd, qdd
        mujoco.mj_inverse(model, data)
        assert close(evaluate(graphs.inverse_dynamics_graph(robot), q, qd, qdd), data.qfrc_inverse, 1e-6)
        without = evaluate(graphs.inverse_dynamics_graph(replace(robot, forces=())), q, qd, qdd)
        assert close(without - data.qfrc_passive, data.qfrc_inverse, 1e-6)
        if robot.forces:
            flip = evaluate(graphs.inverse_dynamics_graph(flipped(robot)), q, qd, qdd)
            assert not close(flip, data.qfrc_inverse, 1e-6)


def test_springs_of_mujoco_have_names(tmp_path: Path) -> None:
    (tmp_path / "spring.xml").write_text(
        sprung('<joint name="j" stiffness="2 0 1"/><joint name="j_spring" axis="1 0 0" stiffness="3" springref="90"/>')
    )
    robot = load(tmp_path / "spring.xml")
    assert [(force.name, force.value) for force in robot.forces] == [
        ("j_spring_2", 2.0),
        ("j_spring3", 1.0),
        ("j_spring_spring", 3.0),
    ]
    assert robot.forces[-1].torque == (("j_spring", f"j_spring - {np.pi / 2!r}"),)
    computed = sprung('<joint name="j" stiffness="5" springdamper="0.1 1"/>')
    (tmp_path / "spring.xml").write_text(computed)
    assert load(tmp_path / "spring.xml").forces == ()


def counterbalance() -> Force:
    """The one of the KR300, as the docs write it."""
    page = (ROOT / "docs" / "robot-format.md").read_text()
    (text,) = [each for each in re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL) if "counterbalance" in each]
    (force,) = read(text).forces
    return force


def test_counterbalance_meets_its_table(shared_data: Path) -> None:
    lines = (shared_data / "kr300" / "README.md").read_text().splitlines()
    rows = {line.split("|")[1].strip(): line.split("|")[2:-1] for line in lines if line.count("|") == 8}
    angles = np.radians([float(cell) for cell in rows["q2 [deg]"]])
    printed = np.array([float(cell) for cell in rows["tau_cb [Nm]"]])
    assert len(printed) == 6
    computed = evaluate_shapes(counterbalance(), {"joint_1": 0 * angles, "joint_2": angles})["joint_2"]
    np.testing.assert_allclose(computed, printed, rtol=0, atol=0.005 + 1e-9)  # half of the last printed digit
    assert not np.allclose(-computed, printed, rtol=0, atol=0.005)


@pytest.mark.parametrize("run", ["a", "b"])
def test_counterbalance_holds_the_arm(shared_data: Path, run: str) -> None:
    """Gravity torque of CAD and counterbalance, as the source stored it with four decimals."""
    polars = pytest.importorskip("polars", reason="polars reads the Parquet files of the shared data folder")
    folder = shared_data / "kr300"
    poses = polars.read_parquet(folder / f"kr300_run_{run}_gravity_check.parquet")
    q, expected = (poses.select([f"{name}{k}" for k in range(1, 7)]).to_numpy() for name in ("q", "taug"))
    robot = with_forces(ytheta.load(folder / "kr300.urdf"), counterbalance())
    assert np.abs(ytheta.gravity(robot)(q) - expected).max() < 1e-3
    assert np.abs(ytheta.gravity(flipped(robot))(q) - expected).max() > 100.0


# --- base parameters -------------------------------------------------------------------------------------------------


def test_base_parameters_with_forces() -> None:
    bare = ytheta.load("puma560")
    robot = with_forces(bare, SPRING, CABLE)
    base = base_parameters(robot)
    assert base.method == "qr"
    assert base.independent == (*base_parameters(bare, method="qr").independent, "spring.k", "cable.k")
    assert is_complete_and_minimal(robot, base)
    for method in ("lin", "ha"):
        assert "not declared forces; method qr does" in str(acceptance(robot)[method])
        with pytest.raises(InputError, match="not declared forces"):
            base_parameters(robot, method=method)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_what_looks_like_weight_is_combined_with_it(unit: float) -> None:
    """A force of the shape of a link's weight cannot be told from it, in whatever unit it is given."""
    one = ytheta.load("lu-two-link")
    weight = evaluate(graphs.regressor_graph(one, parameters=["link1.mx"]), *np.zeros((3, 2)))
    shape = "cos(joint1)" if abs(weight[0, 0]) > 1.0 else "sin(joint1)"
    robot = with_forces(one, Force("crane", (("joint1", f"{unit!r}*{shape}"),)), Force("odd", (("joint2", "joint2*1e-7"),)))
    base = base_parameters(robot)
    assert len(base) == len(base_parameters(one)) + 1
    assert base.identifiability["crane.k"].value == "only in combination"
    assert base.identifiability["odd.k"].value == "known alone"
    Y = regressors(robot, robot.parameter_names)
    left = Y[:, :, base.places] @ base.K
    asked = [robot.parameter_names.index(name) for name in base.selected]
    largest = np.abs(Y).max(axis=(0, 1))
    assert (np.abs(left - Y).max(axis=(0, 1)) <= 1e-9 * largest)[asked].all()


def test_forces_that_are_not_everywhere() -> None:
    one = ytheta.load("lu-two-link")
    half = with_forces(one, Force("half", (("joint1", "sqrt(joint1 + 2)"),)))
    assert base_parameters(half).identifiability["half.k"].value == "known alone"
    nowhere = with_forces(one, Force("nowhere", (("joint1", "sqrt(joint1 - 4)"),)))
    with pytest.raises(InputError, match=r"forces \(nowhere\) have no finite value in most of the workspace"):
        base_parameters(nowhere)


# --- description -----------------------------------------------------------------------------------------------------

TEXT = """
[[force]]
name = "cam"
value = "pi/2"
torque = { q1 = "lift*l1", "q2" = 'q("q1") - 1e-3' }
where = { lift = "sin(q1)", twice = "2*lift" }
source = "a drawing"
"""


def test_toml() -> None:
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
    """A length may occur in a force alone; numbers take its place where numbers are needed."""
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
            "force 'cam', torque of 'q1': the name 'l7' in 'lift\\*l7' is unknown; there are: l1, lift",
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


def test_a_fixed_joint_feels_nothing() -> None:
    robot = ytheta.load("lu-two-link").with_load(ytheta.Inertia.point_mass(1.0, (0.0, 0.0, 0.0)), name="cup")
    with pytest.raises(RobotError, match="torque of 'cup_grasp': there is no movable joint or motor with this name"):
        with_forces(robot, Force("f", (("cup_grasp", "1"),)))


def test_a_name_of_two_things() -> None:
    robot = replace(ytheta.load("puma560"), lengths=(("joint2", 1.0),))
    with pytest.raises(RobotError, match=r"is both a position and a length; write q\('joint2'\) for the position"):
        with_forces(robot, SPRING)
    clear = with_forces(robot, Force("spring", (("joint2", "q('joint2') - 0.3"),), value=25.0))
    x, _, _ = state(6)
    same = with_forces(ytheta.load("puma560"), SPRING)
    assert close(evaluate(graphs.gravity_graph(clear), x), evaluate(graphs.gravity_graph(same), x))


def test_inspect_lists_them(tmp_path: Path) -> None:
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


def test_long_chains_of_parts_are_read() -> None:
    names = [f"x{k}" for k in range(300)]
    where = (("x0", "joint2"), *((later, f"{before}*1.01") for before, later in pairwise(names)))
    robot = with_forces(ytheta.load("puma560"), Force("long", (("joint2", "x299"),), where, 1.0))
    assert evaluate_shapes(robot.forces[0], {"joint2": 1.0})["joint2"] == pytest.approx(1.01**299)
