"""The TOML format: geometry, snapping, lengths and mistakes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.toml_robots import TWO, read
from ytheta.errors import InputError
from ytheta.robot.frame import Frame
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import ShapeKind, make_capsule


def compute_standard_matrix(theta: float, d: float, a: float, alpha: float) -> np.ndarray:
    """The textbook matrix of standard Denavit-Hartenberg parameters, as printed in [walker1988] section 2.2."""
    ct, st, ca, sa = math.cos(theta), math.sin(theta), math.cos(alpha), math.sin(alpha)
    return np.array([[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1]])


def compute_modified_matrix(theta: float, d: float, a: float, alpha: float) -> np.ndarray:
    """The textbook matrix of modified Denavit-Hartenberg parameters (Craig)."""
    ct, st, ca, sa = math.cos(theta), math.sin(theta), math.cos(alpha), math.sin(alpha)
    return np.array([[ct, -st, 0, a], [st * ca, ct * ca, -sa, -sa * d], [st * sa, ct * sa, ca, ca * d], [0, 0, 0, 1]])


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("convention", ["standard_dh", "modified_dh"])
def test_dh_rows_give_the_textbook_matrices(convention: str, kind: str) -> None:
    text = f"""
[[link]]
name = "base"
[[link]]
name = "link"
[[joint]]
name = "q"
type = "{kind}"
parent = "base"
child = "link"
{convention} = {{ theta = 0.3, d = 0.4, a = 0.5, alpha = 0.6 }}
"""
    robot = read(text)
    q = 0.7
    theta, d = (0.3 + q, 0.4) if kind == "revolute" else (0.3, 0.4 + q)
    textbook = compute_standard_matrix if convention == "standard_dh" else compute_modified_matrix
    pose = link_poses(robot, np.array([q]))["link"]
    np.testing.assert_allclose(pose, textbook(theta, d, 0.5, 0.6), rtol=0, atol=1e-15)
    wrong = compute_modified_matrix if convention == "standard_dh" else compute_standard_matrix
    assert abs(pose - wrong(theta, d, 0.5, 0.6)).max() > 0.01


def test_gamma_and_b_of_modified_dh() -> None:
    robot = read(TWO.replace("alpha = 1.5708", "gamma = 0.2, b = 0.7, alpha = 0.9"))
    turn = Frame.turn((0.0, 0.0, 1.0), 0.2) @ Frame.shift(z=0.7)
    expected = turn.matrix @ compute_modified_matrix(0.0, 0.2, 0.4, 0.9)
    np.testing.assert_allclose(robot.numeric.joint("q2").placement.matrix, expected, rtol=0, atol=1e-15)


def test_angles_snap_unless_exact() -> None:
    assert "rounded angle" in read(TWO).findings[0].text
    assert read(TWO, snap=0.0).findings == ()
    assert read("exact = true\n" + TWO).findings == ()


def test_symbolic_lengths_remain_symbols_until_numbers_are_needed() -> None:
    robot = read(TWO)
    assert robot.symbolic_lengths == {"l1"}
    assert robot.numeric.symbolic_lengths == frozenset()
    longer = robot.with_lengths(l1=0.9)
    assert link_poses(longer, np.zeros(2))["lower"][0, 3] == pytest.approx(0.9)
    unset = read(TWO.replace("l1 = 0.4", 'l1 = "unset"'))
    assert unset.parameter_names == robot.parameter_names
    with pytest.raises(InputError, match="the length 'l1' has no value, but a number is needed; set it with"):
        link_poses(unset, np.zeros(2))
    with pytest.raises(InputError, match="has no length 'l2'; choose from: l1"):
        robot.with_lengths(l2=1.0)


TWISTED = TWO.replace("[[link]]", "[angles]\nalpha1 = 1.5708\n[[link]]", 1).replace(
    "alpha = 1.5708", 'alpha = "alpha1"'
)


@pytest.mark.parametrize("convention", ["standard_dh", "modified_dh"])
@pytest.mark.parametrize("value", ["0.7", "-1.5708", '"pi/3"', "3.0e-7", '"-pi"'])
def test_a_named_angle_is_read_exactly_like_its_value(convention: str, value: str) -> None:
    """Even after snapping, and to the last digit, for each angle of a row and for its negative."""
    for key in ("theta", "alpha", *(["gamma"] if convention == "modified_dh" else [])):
        row = f'{convention} = {{ theta = 0.2, alpha = -0.4, a = "l1", d = 0.3 }}'.replace("{ ", f"{{ {key} = A, ")
        row = row.replace("theta = 0.2, ", "") if key == "theta" else row
        row = row.replace("alpha = -0.4, ", "") if key == "alpha" else row
        start, _, _ = TWISTED.partition("modified_dh")
        plain = read(start + row.replace("A", value))
        for name, sign in (('"alpha1"', ""), ('"-alpha1"', "-")):
            negated = value.replace('"', "")
            given = f'"-({negated})"' if sign else value
            named = read(start.replace("alpha1 = 1.5708", f"alpha1 = {given}") + row.replace("A", name))
            assert named.symbolic_angles == {"alpha1"}
            assert named.numeric_in_angles.joints == plain.joints
            assert named.numeric.joints == plain.numeric.joints


def test_symbolic_angles_remain_symbols_until_numbers_are_needed() -> None:
    robot = read(TWISTED)
    assert robot.angles == (("alpha1", math.pi / 2),)
    assert "rounded angle" in robot.findings[0].text
    assert robot.numeric == read(TWO).numeric
    assert link_poses(robot.with_angles(alpha1=0.0), np.zeros(2))["lower"][2, 3] == 0.2
    exact = read("exact = true\n" + TWISTED)
    assert (exact.angles, exact.findings) == ((("alpha1", 1.5708),), ())
    unset = read(TWISTED.replace("alpha1 = 1.5708", 'alpha1 = "unset"'))
    assert unset.unset_angles == ("alpha1",)
    with pytest.raises(InputError, match="the angle 'alpha1' has no value, but a number is needed; set it with"):
        link_poses(unset, np.zeros(2))


def test_a_frame_may_be_twisted() -> None:
    frame = 'frame = { xyz = [0.1, 0, 0], rpy = [0, 0, 0.3], twist = "-alpha1", then = { xyz = [0, 0.2, 0] } }'
    start, _, _ = TWISTED.partition("modified_dh")
    turn = Frame.shift(0.1) @ Frame.from_rpy(0.0, 0.0, 0.3) @ Frame.turn((1.0, 0.0, 0.0), -math.pi / 2)
    assert read(start + frame).numeric_in_angles.joints[1].placement == turn @ Frame.shift(0.0, 0.2)
    assert read(start + frame.replace('"-alpha1"', "-1.5708")).joints[1].placement == turn @ Frame.shift(0.0, 0.2)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            ('"alpha1"', '"alhpa1"'),
            "alpha = 'alhpa1' is not understood: the angle 'alhpa1' is not declared; did you mean",
        ),
        (
            ('"alpha1"', '"l1"'),
            "'l1' is a length, not an angle; write a number, a multiple of pi, or an angle declared",
        ),
        (('"alpha1"', '"2*alpha1"'), "'2\\*alpha1' is not understood: a symbolic angle cannot be added or multiplied"),
        (
            ('"alpha1"', '"alpha1 + pi/2"'),
            "a symbolic angle cannot be added or multiplied; write the name of one angle",
        ),
        (('"alpha1"', "true"), "'alpha' should be a finite number, not True"),
        (('a = "l1"', 'a = "alpha1"'), "a = 'alpha1' is not understood: 'alpha1' is an angle, not a length"),
        (("mass = 1.5", 'mass = "alpha1"'), "'alpha1' is an angle, not a length"),
        (("alpha1 = 1.5708", 'alpha1 = "l1"'), "alpha1 should be a number in radians, a multiple of pi"),
        (("alpha1 = 1.5708", "alpha1 = [1]"), "or 'unset', not a list of 1"),
        (("alpha1 = 1.5708", "alpha1 = 90e6"), "angles, alpha1: the angle 90000000.0 rad is larger than"),
        (("alpha1 = 1.5708", "lambda = 1"), "'lambda' cannot name an angle"),
        (("alpha1 = 1.5708", "alpha1 = 1\nl1 = 1"), "'l1' is the name of a length and of an angle"),
        (("modified_dh = {", "frame = { then = {}, "), "'then' is the frame that follows 'twist'"),
        (('name = "two"', 'name = "two"\nmounting = { twist = "a" }'), "the angle 'a' is not declared"),
        (('name = "two"', 'name = "two"\nmounting = { twist = "alpha1" }'), "the mounting uses the symbolic angle"),
    ],
)
def test_mistakes_with_angles(change: tuple[str, str], reason: str) -> None:
    text = TWISTED.replace(*change, 1)
    assert text != TWISTED
    with pytest.raises(InputError, match=reason):
        read(text)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("mass = 1.5", "mas = 1.5"), r"\[\[link\]\] 'upper': the key 'mas' is unknown; did you mean 'mass'"),
        (("alpha = 1.5708", "alhpa = 1.5708"), r"modified_dh: the key 'alhpa' is unknown; did you mean 'alpha'"),
        (('name = "two"', 'nmae = "two"'), "the key 'nmae' is unknown; did you mean 'name'"),
        (("mass = 1.5", "mass = -1.5"), "the mass -1.5 kg is negative"),
        (("mass = 1.5", 'mass = "l1"'), "uses a symbolic length, which is allowed only in positions"),
        (("mass = 1.5", "mass = nan"), "'mass' should be a finite number"),
        (("mass = 1.5", "mass = true"), "'mass' should be a finite number, not True"),
        (("mass = 1.5", "parameters = { m = 1, mxx = 2 }"), "the parameter 'mxx' is unknown"),
        (('type = "prismatic"', 'type = "planar"'), "the joint type 'planar' is not supported"),
        (('type = "prismatic"', 'type = "point"'), "a 'point' joint can only close a loop"),
        (('a = "l1"', 'a = "l7"'), "the length 'l7' is not declared"),
        (('parent = "upper"', 'parent = "uper"'), "its parent link 'uper' does not exist; did you mean 'upper'"),
        (('parent = "upper"', 'parent = "lower"'), "connects link 'lower' to itself"),
        (('name = "q2"', 'name = "q1"'), "the joint name 'q1' is used 2 times"),
        (('name = "lower"', 'name = "upper"'), "the link name 'upper' is used 2 times"),
        (("modified_dh", "frame = {}\nmodified_dh"), "'modified_dh' and 'frame' exclude each other"),
        (("modified_dh", "axis = [1, 0, 0]\nmodified_dh"), "'modified_dh' determines 'axis' already"),
        (('child = "upper"', 'child = "upper"\naxis = [0, 0, 0]'), "the axis is zero"),
        (('child = "upper"', 'child = "upper"\nlimits = { position = [2, 1] }'), "lower limit 2 exceeds"),
        (('child = "upper"', 'child = "upper"\nlimits = { velocity = -1 }'), "give positive numbers"),
        (('child = "upper"', 'child = "upper"\nframe = { rpy = [0, 0] }'), "should be a list of 3 numbers, not 2"),
        (
            ('child = "upper"', 'child = "upper"\nframe = { rotation = [[1,0,0],[0,1,0],[0,0,-1]] }'),
            "is not a rotation matrix",
        ),
        (
            ('child = "upper"', 'child = "upper"\nframe = { quaternion = [0, 0, 0, 0] }'),
            "a quaternion of zeros is not a rotation",
        ),
        (("l1 = 0.4", "pi = 0.4"), "'pi' cannot name a length"),
        (("l1 = 0.4", 'l1 = "short"'), "should be a number in metres, or 'unset'"),
        (('name = "two"', "format = 7"), "format 7 is unknown"),
        (('name = "two"', 'actuated = ["q1", "q3"]'), "the actuated coordinate 'q3' does not exist"),
        (('name = "two"', 'actuated = ["q1"]'), "'q2' is neither actuated nor part of a loop"),
        (('name = "two"', "home = { q9 = 1 }"), "'home' names 'q9', which is not a coordinate"),
        (('name = "two"', "link = 3"), "Cannot overwrite a value|not valid TOML"),
    ],
)
def test_mistakes(change: tuple[str, str], reason: str) -> None:
    text = TWO.replace(*change, 1)
    assert text != TWO
    with pytest.raises(InputError, match=reason):
        read(text)


@pytest.mark.parametrize(
    ("extra", "reason"),
    [
        ('[[coupling]]\njoint = "q2"\nterms = { q3 = 1 }', "uses 'q3', which is neither a movable joint nor a motor"),
        ('[[coupling]]\njoint = "q9"\nterms = { q1 = 1 }', "determines 'q9', which is not a movable joint"),
        (
            '[[coupling]]\njoint = "q1"\nterms = { q2 = 1 }\n[[coupling]]\njoint = "q2"\nterms = { q1 = 1 }',
            "couplings are circular: q1 → q2 → q1",
        ),
        ('[[motor]]\nname = "q1"', "the coordinate name 'q1' is used 2 times"),
        ('[[marker]]\nname = "tool"\nlink = "hand"', "has no link 'hand'"),
        ('[[loop]]\nname = "q1"\ntype = "revolute"\nparent = "base"\nchild = "lower"', "'q1' is used 2 times"),
        ('[[joint]]\nname = "q3"\ntype = "revolute"\nparent = "base"\nchild = "lower"', "an undeclared loop"),
        ('[[link]]\nname = "island"', r"the tree has 2 roots \(base, island\)"),
    ],
)
def test_contradictions(extra: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        read(TWO + extra)


COLLISION = """
[[collision]]
link = "upper"
radius = 0.05
ends = [[0.1, 0, 0], [0.4, 0, 0]]
source = "measured"
[[collision]]
link = "lower"
type = "box"
size = [0.1, 0.2, 0.3]
frame = { xyz = ["l1", 0, 0], rpy = [0, 0, "pi/2"] }
"""


def test_collision_shapes() -> None:
    capsule, box = read(TWO + COLLISION).collision
    assert capsule == make_capsule("upper", (0.1, 0.0, 0.0), (0.4, 0.0, 0.0), 0.05, source="measured")
    assert box.kind is ShapeKind.BOX
    assert read(TWO + COLLISION).numeric.collision[1].frame.translation == (0.4, 0.0, 0.0)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('type = "box"', 'type = "boxes"', r"the type 'boxes' is not supported; did you mean 'box'"),
        ('type = "box"', 'type = "mesh"', r"the type 'mesh' is not supported"),
        ("size = [0.1, 0.2, 0.3]", "size = [0.1, 0.2]", r"'size' should be a list of 3 numbers, not 2"),
        ("ends = [[0.1, 0, 0], [0.4, 0, 0]]", "ends = [[0.1, 0, 0]]", r"'ends' should be two rows of three numbers"),
        (
            "radius = 0.05",
            "radius = -0.05",
            r"the capsule of link 'upper': its radius is -0.05; give a positive number",
        ),
        ('link = "upper"', 'link = "uper"', r"link 'uper', which the robot does not have; did you mean 'upper'"),
        ("radius = 0.05", "radius = 0.05\ncolor = 1", r"the key 'color' is unknown"),
    ],
)
def test_mistakes_in_collision_shapes(old: str, new: str, reason: str) -> None:
    assert old in COLLISION
    with pytest.raises(InputError, match=reason):
        read(TWO + COLLISION.replace(old, new))
