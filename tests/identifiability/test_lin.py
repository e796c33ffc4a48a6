"""The closed form of Lin: published counts, ranks on random motions, and the combinations as printed."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ytheta
from tests.support import example_robots
from tests.support.base_checks import explains, published_counts, regressors
from tests.support.driven_robots import coupled_robot
from tests.support.formulation_cases import fork, robot_without_joints
from tests.support.lin_checks import counts, is_complete_and_minimal_lin
from tests.support.serial_arms import GRAVITY_DOWN, NO_GRAVITY, RULES, P, R, X, Y, Z, arm
from tests.support.vendor_urdfs import gen3
from ytheta.errors import InputError
from ytheta.identifiability import lin
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.modified_dh import TOLERANCE
from ytheta.robot.parts import Joint, Link
from ytheta.robot.robot import Robot

CATALOG = (
    "ha-scara",
    "iiwa14",
    "lu-puma4",
    "lu-two-link",
    "panda",
    "puma560",
    "puma560-mdh",
    "rx90",
    "stanford",
    "ur10",
)
URDFS = ("ur10_robot.urdf", "tiago_no_hand.urdf", "talos_left_arm.urdf", "finger_edu.urdf", "xarm7.urdf", "solo12.urdf")


def test_published_counts(shared_data: Path) -> None:
    rows = published_counts(shared_data)
    assert {row.name: counts(row.robot) for row in rows} == {row.name: (row.rigid, row.with_rotors) for row in rows}
    assert len(rows) >= 10


@pytest.mark.parametrize("name", [*CATALOG, *URDFS])
def test_the_set_is_complete_and_minimal(name: str) -> None:
    robot = ytheta.load(example_robots.urdf(name)) if name.endswith(".urdf") else ytheta.load(name)
    assert is_complete_and_minimal_lin(robot)


@pytest.mark.parametrize("name", ["stanford", "ha-scara"])
def test_no_base_parameter_can_be_left_out(name: str) -> None:
    """The check uses the regressor of this project."""
    base = lin.base_parameters(ytheta.load(name), rotor_inertia=True)
    Y = regressors(base.robot, base.selected)
    assert explains(Y, base, base.K)
    for row in range(len(base)):
        fewer = base.K.copy()
        fewer[row] = 0.0
        assert not explains(Y, base, fewer)


def test_accepted_robots_of_the_catalog() -> None:
    names = {path.stem for path in (Path(ytheta.__file__).parent / "robot" / "catalog").glob("*.toml")}
    assert {name for name in names if lin.explain_refusal(ytheta.load(name)) is None} == set(CATALOG)


def test_rounded_angles_give_the_textbook_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "gen3.urdf"
    file.write_text(gen3())
    assert counts(ytheta.load(file)) == (43, 48)
    rounded = ytheta.load(file, snap=0.0)
    with pytest.raises(InputError, match=r"a difference below 2e-05; .*; use method qr"):
        lin.base_parameters(rounded)
    monkeypatch.setattr(lin, "MAX_ANGLE_ROUNDING", TOLERANCE)  # the twin: rounded angles count as geometry
    assert len(lin.base_parameters(rounded)) > 43


@st.composite
def trees(draw: st.DrawFn, *, serial: bool) -> Robot:
    """Arms and trees with parallel, perpendicular and skew axes, zero offsets, loads and any gravity."""
    angle = st.sampled_from([0.0, 0.0, math.pi / 2, -math.pi / 2, math.pi, 0.7])
    offset = st.sampled_from([0.0, 0.0, 0.3, -0.5])
    axis = st.sampled_from([Z, Z, Z, X, (0.0, 0.6, 0.8)])
    count = draw(st.integers(1, 6 if serial else 5))
    joints: list[Joint] = []
    for k in range(1, count + 1):
        parent = k - 1 if serial else draw(st.integers(0, k - 1))
        normal = Frame.turn(X, draw(angle)) @ Frame.shift(draw(offset))
        along = Frame.turn(Z, draw(angle)) @ Frame.shift(z=draw(offset))
        seat = draw(st.sampled_from([Frame(), Frame.shift(0.3, -0.2, 0.4) @ Frame.from_rpy(0.4, math.pi / 2, 0.1)]))
        kind = draw(st.sampled_from([R, R, P]))
        parent_name = f"link{parent}" if parent else "base"
        joints.append(Joint(f"joint{k}", kind, parent_name, f"link{k}", normal @ along, draw(axis), seat))
    directions = [GRAVITY_DOWN, (0.0, 9.81, 0.0), (-9.81, 0.0, 0.0), NO_GRAVITY, NO_GRAVITY, (2.0, 3.0, -9.0)]
    gravity = draw(st.sampled_from(directions))
    robot = Robot("drawn", (Link("base"), *(Link(joint.child) for joint in joints)), tuple(joints), gravity=gravity)
    if draw(st.booleans()):
        return robot
    return robot.with_load(Inertia(), on=draw(st.sampled_from(robot.links)).name, frame=Frame.shift(0.1, 0.2, 0.3))


@given(trees(serial=True))
@settings(max_examples=25)
def test_random_arms(robot: Robot) -> None:
    assert is_complete_and_minimal_lin(robot)


@given(trees(serial=False))
@settings(max_examples=25)
def test_random_trees(robot: Robot) -> None:
    assert is_complete_and_minimal_lin(robot)


def test_branches_and_loads() -> None:
    assert is_complete_and_minimal_lin(fork())


def test_the_unit_of_length_does_not_matter() -> None:
    """The same arm in kilometres and in micrometres: only ratios of lengths matter."""
    arms = [arm((R, Z, (0, 0, h)), (P, X, (h, 0, 0)), (R, Y, (h, 0, h)), (R, Y, (0, h, 0))) for h in (1e-6, 0.3, 1e3)]
    assert len({counts(robot) for robot in arms}) == 1
    assert len({lin.base_parameters(robot, rotor_inertia=True).independent for robot in arms}) == 1


def test_mounting_matters() -> None:
    upright = ytheta.load("ur10")
    assert counts(upright) == (36, 40)
    assert counts(replace(upright, mounting=Frame.turn(Y, math.pi / 2))) == (38, 42)
    assert counts(replace(upright, gravity=(9.81, 0.0, 0.0))) == (38, 42)
    assert counts(replace(upright, gravity=NO_GRAVITY)) == (34, 38)


def combination_names(robot: Robot) -> dict[str, list[str]]:
    """The names of the combinations by link."""
    names: dict[str, list[str]] = {}
    for combination in lin.find_minimal_combinations(robot):
        names.setdefault(combination.link, []).append(combination.constant)
    return names


def test_the_stanford_arm() -> None:
    """The example of the paper: r = 1, s = 2, joint 3 is prismatic."""
    robot = ytheta.load("stanford")
    all_names = ["U33", "U11-U22", "U12", "U13", "U23", "kx", "ky"]
    expected = {"link1": ["U33"], "link3": ["m", "kx", "ky", "kz"]} | {f"link{k}": all_names for k in (2, 4, 5, 6)}
    assert combination_names(robot) == expected


def test_prismatic_joints_between_r_and_s() -> None:
    assert combination_names(RULES["slide skew to r"][0]) == {"link1": ["U33"], "link2": ["m", "kappa1", "kappa2"]}
    kappa1, kappa2 = lin.find_minimal_combinations(RULES["slide across r"][0])[2:]
    # z of the joint frame is along x of the link, and u_r along its z: (86) is ± m y, (87) is m x.
    names = RULES["slide across r"][0].parameter_names
    assert {name: abs(e) for name, e in zip(names, kappa1.row, strict=True) if e != 0} == {"link2.my": 1}
    assert {name: e for name, e in zip(names, kappa2.row, strict=True) if e != 0} == {"link2.mx": 1}


def test_the_paper_s_constants_of_a_two_link_arm() -> None:
    robot = RULES["parallel"][0]
    combinations = {
        (each.link, each.constant): {n: e for n, e in zip(robot.parameter_names, each.row, strict=True) if e != 0}
        for each in lin.find_minimal_combinations(robot, rotor_inertia=True)
    }
    assert combinations == {
        ("link1", "U33"): {"link1.Izz": 1, "link2.Izz": 1, "link2.m": 0.25, "joint1.Ia": 1},
        ("link2", "U33"): {"link2.Izz": 1},
        ("link2", "kx"): {"link2.mx": 1},
        ("link2", "ky"): {"link2.my": 1},
        ("link2", "Ia"): {"joint2.Ia": 1},
    }


def test_rows_of_k_and_of_theorem_2_span_the_same() -> None:
    base = ytheta.base_parameters(ytheta.load("stanford"))
    rows = np.array([each.row for each in base.combinations], dtype=float)
    assert np.linalg.matrix_rank(np.concatenate([base.K, rows])) == len(base) == len(rows)


def test_combinations_as_the_theorem_lists_them() -> None:
    """Items 1 to 5, and the constants as text; other methods have no combinations."""
    stanford = ytheta.base_parameters(ytheta.load("stanford"), rotor_inertia=True)
    items = {each.name: each.item for each in stanford.combinations}
    assert (items["link1.U33"], items["link2.U11-U22"], items["link3.m"], items["link3.kz"]) == (1, 2, 3, 4)
    assert items["link3.Ia"] is None
    expressions = {each.name: each.expression for each in stanford.combinations}
    assert expressions["link3.m"] == "link3.m + link4.m + link5.m + link6.m"  # m hat
    assert expressions["link6.U11-U22"] == "link6.Ixx - link6.Iyy"
    slide = ytheta.base_parameters(RULES["slide across r"][0])
    assert [each.item for each in slide.combinations] == [1, 3, 5, 5]
    assert ytheta.base_parameters(ytheta.load("stanford"), method="qr").combinations == ()


def test_numerical_lengths_need_no_sympy() -> None:
    script = (
        "import sys, ytheta; from ytheta.identifiability import lin; "
        "print(len(lin.base_parameters(ytheta.load('panda'))), 'sympy' in sys.modules, 'casadi' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["43", "False", "False"]


def test_refused_robots() -> None:
    for robot, reason in (
        (ytheta.load("five-bar"), "closed loops, for which Theorem 2 has no rule; use method qr"),
        (ytheta.load("palletiser"), "use method qr"),
        (coupled_robot(), "a coupled joint, .*use method qr"),
        (robot_without_joints(), "no moving joint"),
    ):
        with pytest.raises(InputError, match=reason):
            lin.base_parameters(robot)
    assert lin.explain_refusal(fork()) is None
