"""Robot: order, coordinates, parameters, loads, gravity, and cycles that are not declared."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from tests.support.random_robots import robots
from ytheta.conventions import LINK_PARAMETERS
from ytheta.errors import InputError, RobotError
from ytheta.files.lengths import symbol
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import Coupling, Drive, Joint, JointKind, Limits, Link, Loop, Marker, Motor
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot

R = JointKind.REVOLUTE


def chain(*joints: tuple[str, str, str], **fields: object) -> Robot:
    """A robot of revolute joints given as (name, parent, child), links in the order they are named."""
    names = dict.fromkeys(name for joint in joints for name in joint[1:])
    return Robot(
        "chain",
        links=tuple(Link(name) for name in names),
        joints=tuple(Joint(name, R, parent, child) for name, parent, child in joints),
        **fields,  # type: ignore[arg-type]
    )


def test_order_follows_the_tree() -> None:
    robot = chain(("c", "b", "c1"), ("a", "base", "b"), ("d", "base", "d1"), ("e", "c1", "e1"))
    assert [joint.name for joint in robot.joints] == ["a", "c", "e", "d"]
    assert [link.name for link in robot.links] == ["base", "b", "c1", "e1", "d1"]
    assert robot.coordinates == robot.actuated == ("a", "c", "e", "d")


def test_cycles_are_refused() -> None:
    with pytest.raises(InputError, match="every link is the child of a joint, so that there is no base: a cycle"):
        chain(("a", "one", "two"), ("b", "two", "one"))
    with pytest.raises(InputError, match="joints b, c form a cycle that is not declared as a loop"):
        chain(("a", "base", "one"), ("b", "two", "three"), ("c", "three", "two"))


def test_robots_are_frozen_values() -> None:
    one, same = chain(("a", "base", "b")), chain(("a", "base", "b"))
    assert one == same
    assert hash(one) == hash(same)
    with pytest.raises(AttributeError):
        one.name = "other"  # type: ignore[misc]


def test_couplings_are_a_matrix() -> None:
    """The wrist of the Staubli TX40: motor 6 turns joint 6 against joint 5."""
    robot = chain(
        ("q5", "base", "l5"),
        ("q6", "l5", "l6"),
        couplings=(Coupling("q6", (("q5", -1.0), ("m6", 1.0)), offset=0.5),),
        motors=(Motor("m6", drive=Drive(1e-4, 45.0)),),
    )
    factors, offset = robot.coupling_map
    assert robot.coordinates == ("q5", "m6")
    assert factors.tolist() == [[1.0, 0.0], [-1.0, 1.0]]
    assert offset.tolist() == [0.0, 0.5]
    assert robot.parameter_names[-4:] == ("m6.Ia", "m6.fv", "m6.fc", "m6.fo")
    assert robot.theta[-4] == pytest.approx(1e-4 * 45.0**2)


def test_a_mimic_of_a_mimic_is_resolved() -> None:
    robot = chain(
        ("a", "base", "l1"),
        ("b", "l1", "l2"),
        ("c", "l2", "l3"),
        couplings=(Coupling("c", (("b", 2.0),), 1.0), Coupling("b", (("a", 3.0),), 0.5)),
    )
    factors, offset = robot.coupling_map
    assert factors.ravel().tolist() == [1.0, 3.0, 6.0]
    assert offset.tolist() == [0.0, 0.5, 2.0]


def test_a_load_is_one_more_link() -> None:
    robot = chain(("q1", "base", "arm"))
    tip = Frame.shift(0.5)
    loaded = robot.with_load(Inertia.point_mass(2.0, (0.1, 0.0, 0.0)), frame=tip)
    assert len(loaded.parameter_names) == len(robot.parameter_names) + 10
    assert loaded.parameter_names[10:20] == tuple(f"load.{p}" for p in LINK_PARAMETERS)
    assert loaded.theta[10] == 2.0
    assert loaded.merged.links[-1].name == "load"
    pose = link_poses(loaded, np.array([math.pi / 2]))["load"]
    np.testing.assert_allclose(pose[:3, 3], [0.0, 0.5, 0.0], atol=1e-15)
    with pytest.raises(InputError, match="has no link 'hand'"):
        robot.with_load(Inertia(), on="hand")


def test_gravity_turns_with_the_mounting() -> None:
    robot = chain(("q1", "base", "arm"), mounting=Frame.from_rpy(math.pi / 2, 0.0, 0.0))
    assert robot.gravity_in_base == (0.0, -9.81, 0.0)
    assert chain(("q1", "base", "arm")).gravity_in_base == (0.0, 0.0, -9.81)


@given(robots())
def test_parameters_are_named_and_finite(robot: Robot) -> None:
    assert len(set(robot.parameter_names)) == len(robot.parameter_names)
    if not (robot.symbols - {name for name, value in robot.lengths if value is not None}):
        assert robot.theta.shape == (len(robot.parameter_names),)
        assert np.isfinite(robot.theta).all()


def test_wrong_number_of_positions() -> None:
    with pytest.raises(InputError, match="has 1 movable joint, but q has 2 entries"):
        link_poses(chain(("q1", "base", "arm")), np.zeros(2))


def test_coordinates_follow_the_order_of_actuated_where_no_loop_is() -> None:
    wrist = chain(
        ("q4", "base", "l4"),
        ("q5", "l4", "l5"),
        ("q6", "l5", "l6"),
        couplings=(Coupling("q6", (("q5", -1.0), ("m6", 2.0)), offset=0.5),),
        motors=(Motor("m6"),),
        home=(("q5", 0.3),),
    )
    assert wrist.coordinates == ("q4", "q5", "m6")
    other = replace(wrist, actuated=("m6", "q5", "q4"))
    assert other.coordinates == other.actuated == ("m6", "q5", "q4")
    np.testing.assert_array_equal(other.coupling_map[0], wrist.coupling_map[0][:, [2, 1, 0]])
    np.testing.assert_array_equal(other.coupling_map[1], wrist.coupling_map[1])
    np.testing.assert_array_equal(other.home_coordinates, [0.0, 0.3, 0.0])
    assert other.coordinates_of([other.joint("q6")]) == ("m6", "q5")
    assert other.parameter_names == wrist.parameter_names
    assert other.passive == ()
    assert other.merged.coordinates == other.numeric.coordinates == other.coordinates
    cut = Loop(Joint("cut", R, "l6", "base"))
    assert replace(other, loops=(cut,), actuated=("m6", "q5")).coordinates == ("q4", "q5", "m6")


# --- what no robot can be -------------------------------------------------------------------------------------------

ARM = chain(("q1", "base", "arm"), ("q2", "arm", "hand"), motors=(Motor("m"),))
NAN, INF = math.nan, math.inf
X = symbol("x")


def _arm(**changes: object) -> Callable[[], Robot]:
    return lambda: replace(ARM, **changes)  # type: ignore[arg-type]


def _first_joint(**changes: object) -> Callable[[], Robot]:
    return lambda: replace(ARM, joints=(replace(ARM.joints[0], **changes), *ARM.joints[1:]))  # type: ignore[arg-type]


def _first_link(**changes: object) -> Callable[[], Robot]:
    return lambda: replace(ARM, links=(replace(ARM.links[0], **changes), *ARM.links[1:]))  # type: ignore[arg-type]


CONTRADICTIONS = {
    "infinite inertia": (_first_link(inertia=Inertia((1.0, INF, *[0.0] * 8))), "link 'base': .* not finite"),
    "frame": (_first_joint(placement=Frame.shift(NAN)), "the frame of joint 'q1' contains numbers that are not finite"),
    "seat": (_first_joint(seat=Frame.shift(0.0, -INF)), "the seat of joint 'q1' contains numbers"),
    "rotation": (_first_joint(placement=Frame(rotation=((NAN,) * 3,) * 3)), "the frame of joint 'q1'"),
    "factor": (
        _arm(joints=(replace(ARM.joints[0], placement=Frame.shift(X * INF)), ARM.joints[1]), lengths=(("x", 1.0),)),
        "the frame of joint 'q1' contains numbers that are not finite",
    ),
    "fixed axis": (_first_joint(kind=JointKind.FIXED, axis=(0.0, 0.0, 2.0)), "joint 'q1': its axis .* has length 2"),
    "axis": (_first_joint(axis=(NAN, 0.0, 1.0)), "joint 'q1': its axis"),
    "gear": (_first_joint(drive=Drive(1e-4, 0.0)), "joint 'q1': its gear ratio is 0"),
    "huge gear": (_first_joint(drive=Drive(1e-4, 1e300)), "joint 'q1': its drive is not finite"),
    "friction": (_first_joint(drive=Drive(viscous=NAN)), "joint 'q1': its drive is not finite"),
    "limits": (_first_joint(limits=Limits(NAN, 1.0)), "joint 'q1': its limits nan … 1 are not numbers"),
    "velocity": (_first_joint(limits=Limits(velocity=-1.0)), "joint 'q1': limits of velocity"),
    "motor gear": (_arm(motors=(Motor("m", drive=Drive(1.0, 0.0)),)), "motor 'm': its gear ratio is 0"),
    "motor limits": (_arm(motors=(Motor("m", Limits(2.0, 1.0)),)), "motor 'm': its lower limit 2 exceeds"),
    "motor as cut": (
        _arm(loops=(Loop(Joint("m", R, "hand", "base")),), actuated=("m",)),
        "the coordinate name 'm' is used 2 times",
    ),
    "two markers": (_arm(markers=(Marker("t", "arm"), Marker("t", "hand"))), "the marker name 't' is used 2 times"),
    "marker as link": (_arm(markers=(Marker("arm", "hand"),)), "marker 'arm' has the name of a link"),
    "lost marker": (_arm(markers=(Marker("t", "hnad"),)), "marker 't': the robot has no link 'hnad'; did you mean"),
    "marker": (_arm(markers=(Marker("t", "arm", Frame.shift(NAN)),)), "the frame of marker 't'"),
    "mounting": (_arm(mounting=Frame.shift(NAN)), "the mounting contains numbers"),
    "gravity": (_arm(gravity=(0.0, 0.0, INF)), "gravity should be finite"),
    "home": (_arm(home=(("q1", NAN),)), "the 'home' of 'q1' should be finite"),
    "home twice": (_arm(home=(("q1", 1.0), ("q1", 2.0))), "'home' names 'q1' more than once"),
    "term twice": (
        _arm(couplings=(Coupling("q2", (("q1", 1.0), ("q1", 2.0))),)),
        "the coupling of joint 'q2' names 'q1' more than once",
    ),
    "coupling": (_arm(couplings=(Coupling("q2", (("q1", INF),)),)), "coupling of joint 'q2': its factors"),
    "undeclared": (_first_joint(placement=Frame.shift(X)), "the length 'x' is used but not declared"),
    "length pi": (_arm(lengths=(("pi", 1.0),)), "'pi' cannot name a length"),
    "length a b": (_arm(lengths=(("a b", 1.0),)), "'a b' cannot name a length"),
    "length lambda": (_arm(lengths=(("lambda", 1.0),)), "'lambda' cannot name a length"),
    "length nan": (_arm(lengths=(("x", NAN),)), "the length 'x' is nan; give a finite number"),
    "length twice": (_arm(lengths=(("x", 1.0), ("x", 2.0))), "the length name 'x' is used 2 times"),
}


@pytest.mark.parametrize(("make", "reason"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_a_robot_that_contradicts_itself_cannot_be_made(make: Callable[[], Robot], reason: str) -> None:
    with pytest.raises(RobotError, match=reason):
        make()


def test_lengths_of_any_name_take_finite_values_only() -> None:
    joint = Joint("q", R, "base", "arm", Frame.shift(symbol("self") * 1e300))
    robot = Robot("r", (Link("base"), Link("arm")), (joint,), lengths=(("self", None), ("spare", None)))
    assert robot.unset_lengths == ("self",)
    assert robot.with_lengths(self=2.0).unset_lengths == ()
    with pytest.raises(InputError, match="the length 'self' is inf"):
        robot.with_lengths(self=math.inf)
    with pytest.raises(InputError, match="the frame of joint 'q' contains numbers that are not finite"):
        _ = robot.with_lengths(self=1e300).numeric


def test_long_chains_of_couplings_and_joints() -> None:
    """A mimic of a mimic of a …, deeper than Python recurses; and more joints than can be computed with."""
    count = 1500
    joints = [(f"q{k}", f"l{k}", f"l{k + 1}") for k in range(count)]
    couplings = tuple(Coupling(f"q{k + 1}", ((f"q{k}", 1.0),), 1.0) for k in reversed(range(count - 1)))
    robot = chain(*joints, couplings=couplings)
    factors, offset = robot.coupling_map
    np.testing.assert_array_equal(factors, np.ones((count, 1)))
    np.testing.assert_array_equal(offset, np.arange(count))
    with pytest.raises(RobotError, match=r"couplings run in a circle: q1499 → q1498 → .* … → q1499; remove one"):
        chain(*joints, couplings=(*couplings, Coupling("q0", ((f"q{count - 1}", 1.0),))))
    steep = tuple(replace(coupling, terms=((coupling.terms[0][0], 1e200),)) for coupling in couplings)
    with pytest.raises(RobotError, match="the coupling of joint 'q2': its result should be finite"):
        chain(*joints, couplings=steep)
    with pytest.raises(RobotError, match="the robot has 2001 joints and motors, but at most 2000"):
        chain(*((f"q{k}", f"l{k}", f"l{k + 1}") for k in range(2001)))


def test_a_circle_is_told_without_what_leads_to_it() -> None:
    couplings = (Coupling("a", (("b", 1.0),)), Coupling("b", (("c", 1.0),)), Coupling("c", (("b", 1.0),)))
    with pytest.raises(RobotError, match="couplings run in a circle: b → c → b;"):
        chain(("a", "base", "l1"), ("b", "l1", "l2"), ("c", "l2", "l3"), couplings=couplings)


# --- the door -------------------------------------------------------------------------------------------------------

FOUR_BAR = """
actuated = ["crank"]
[lengths]
rod = 1.0
spare = "unset"
[home]
crank = 1.0
rod = -0.6
lever = 1.2
[[link]]
name = "base"
[[link]]
name = "crank"
[[link]]
name = "rod"
[[link]]
name = "lever"
[[joint]]
name = "crank"
type = "revolute"
parent = "base"
child = "crank"
[[joint]]
name = "rod"
type = "revolute"
parent = "crank"
child = "rod"
frame = { xyz = [0.3, 0, 0] }
[[joint]]
name = "lever"
type = "revolute"
parent = "base"
child = "lever"
frame = { xyz = [1.0, 0, 0] }
[[loop]]
name = "pin"
type = "revolute"
parent = "rod"
child = "lever"
frame = { xyz = ["rod", 0, 0] }
child_frame = { xyz = [0.8, 0, 0] }
"""


def _file(folder: Path, text: str, name: str = "robot.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_loops_are_closed_with_the_lengths_given(tmp_path: Path) -> None:
    """A length that nothing uses does not switch the check off; lengths given take the place of the file's."""
    assert load(_file(tmp_path, FOUR_BAR)).actuated == ("crank",)
    short = _file(tmp_path, FOUR_BAR.replace("rod = 1.0", "rod = 0.001"))
    with pytest.raises(InputError, match=r"robot\.toml: loop 'pin' .* cannot close"):
        load(short)
    assert dict(load(short, lengths={"rod": 1.0}).lengths)["rod"] == 1.0
    with pytest.raises(InputError, match=r"robot\.toml: robot 'robot' has no length 'rud'; did you mean 'rod'"):
        load(short, lengths={"rud": 1.0})
    unset = load(_file(tmp_path, FOUR_BAR.replace("rod = 1.0", 'rod = "unset"')))
    assert unset.unset_lengths == ("rod",)


def test_more_actuated_than_free_is_refused_at_the_door(tmp_path: Path) -> None:
    path = _file(tmp_path, FOUR_BAR.replace('["crank"]', '["crank", "lever"]'))
    with pytest.raises(InputError, match=r"robot\.toml: .* leave 1 coordinate free, but 2 are actuated"):
        load(path)


WORLD_WITH_A_TENDON = """<mujoco><worldbody>
<body name="a"><joint name="q"/><geom type="sphere" size="0.1"/></body></worldbody>
<tendon><fixed name="t"><joint joint="q" coef="1"/></fixed></tendon></mujoco>"""


def test_strict_is_about_inertias_of_all_links(tmp_path: Path) -> None:
    path = _file(tmp_path, WORLD_WITH_A_TENDON, "world.xml")
    robot = load(path, strict=True)
    assert any(note.is_warning and "tendon" in note.text for note in robot.findings)
    assert list(robot.consistency) == [link.name for link in robot.links]
    assert all(robot.consistency.values())
    fixed = '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>'
    fixed += '<inertia ixx="1" iyy="1" izz="9" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    fixed += '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>'
    path = _file(tmp_path, fixed, "fixed.urdf")
    robot = load(path)
    assert not robot.consistency["b"]
    assert any(note.is_warning and note.text.startswith("link 'b': triangle") for note in robot.findings)
    with pytest.raises(InputError, match=r"fixed\.urdf: link 'b': triangle inequality violated.*without --strict"):
        load(path, strict=True)


def test_drives_that_push_are_doubted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = FOUR_BAR.replace(
        'child = "crank"', 'child = "crank"\ndrive = { rotor_inertia = -1, viscous = -2, offset = -3 }'
    )
    text += "drive = { coulomb = -4 }\n[[motor]]\nname = 'm'\ndrive = { coulomb = -5 }"
    text = text.replace('actuated = ["crank"]', 'actuated = ["crank", "m"]')
    with caplog.at_level(logging.WARNING, logger="ytheta"):
        robot = load(_file(tmp_path, text), strict=True)
    told = [note.text for note in robot.findings if note.is_warning]
    assert [text.partition(" is negative")[0] for text in told] == [
        "joint 'crank': its rotor inertia -1",
        "joint 'crank': its viscous friction -2",
        "joint 'pin': its Coulomb friction -4",
        "motor 'm': its Coulomb friction -5",
    ]
    assert len(caplog.records) == 4


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (FOUR_BAR + "[[marker]]\nname = 'mk'\nlink = 'hand'", "robot.toml: marker 'mk': the robot has no link 'hand'"),
        (FOUR_BAR.replace("crank = 1.0", "krank = 1.0"), "robot.toml: robot 'robot': 'home' names 'krank'"),
        (FOUR_BAR.replace("crank = 1.0", "crank = 1e200"), "robot.toml: crank = 1e+200 is not a position"),
    ],
)
def test_every_complaint_names_the_file(tmp_path: Path, text: str, reason: str) -> None:
    path = _file(tmp_path, text)
    with pytest.raises(InputError) as error:
        load(path)
    assert str(error.value).startswith(reason)


@pytest.mark.parametrize("name", ["x" * 300, "zero\0byte"])
def test_names_that_no_file_can_have(name: str) -> None:
    with pytest.raises(InputError, match=r"there is no robot .* in the catalog"):
        load(name)


def test_an_identified_model_may_have_a_negative_mass() -> None:
    """Readers refuse it; a model that fits the motion may still need it, and its verdict says what it is."""
    robot = chain(("q1", "base", "arm")).with_inertias({"arm": Inertia((-1.0, *[0.0] * 9))})
    assert not robot.consistency["arm"]
    assert robot.consistency["arm"].reason == "negative mass -1 kg"
