"""The TOML format: geometry, snapping, lengths and mistakes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.toml_robots import TWO, read
from ytheta.errors import InputError
from ytheta.robot.frame import Frame
from ytheta.robot.kinematics import link_poses


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
    assert robot.symbols == {"l1"}
    assert robot.numeric.symbols == frozenset()
    longer = robot.with_lengths(l1=0.9)
    assert link_poses(longer, np.zeros(2))["lower"][0, 3] == pytest.approx(0.9)
    unset = read(TWO.replace("l1 = 0.4", 'l1 = "unset"'))
    assert unset.parameter_names == robot.parameter_names
    with pytest.raises(InputError, match="the length 'l1' has no value, but a number is needed; set it with"):
        link_poses(unset, np.zeros(2))
    with pytest.raises(InputError, match="has no length 'l2'; choose from: l1"):
        robot.with_lengths(l2=1.0)


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
