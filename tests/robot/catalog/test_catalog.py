"""The catalog against its sources: tables, papers and vendors' descriptions.

Every comparison has a twin that must fail: the same robot with one number changed.
"""

from __future__ import annotations

import csv
import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pinocchio as pin
import pytest

from tests.support import example_robots
from tests.support.catalog_robots import DIFFERENCED, EXACT, edited, robot
from ytheta.conventions import SNAP
from ytheta.files.xml_document import parse_xml
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import link_poses
from ytheta.robot.reading import catalog
from ytheta.robot.reading.load import load
from ytheta.robot.reading.toml import parse_robot
from ytheta.robot.reading.urdf import read_urdf
from ytheta.robot.robot import Robot
from ytheta.robot.toml_writer import to_toml

Row: TypeAlias = Mapping[str, str]

NAMES = (
    "five-bar",
    "ha-scara",
    "iiwa14",
    "lu-puma4",
    "lu-two-link",
    "palletiser",
    "panda",
    "puma560",
    "puma560-mdh",
    "rx90",
    "stanford",
    "ur10",
    "walker",
)

# Links whose published inertias are not physically consistent, with a part of the reason.
INCONSISTENT = {
    "puma560": {"link1": "without mass", "link3": "triangle inequality"},
    "puma560-mdh": {"link1": "without mass"},
    "stanford": {"link5": "triangle inequality"},
}

# The descriptions round pi/2 to twelve digits, which moves a robot of 2 m by about 1e-11 m.
ROUNDED_ANGLES = 1e-10


def read_rows(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


# --- every robot ----------------------------------------------------------------------------------------------------


def list_parts_without_source(arm: Robot) -> list[str]:
    """Names of the links with mass and of the joints that have no source."""
    links = [link.name for link in arm.links if not link.inertia.massless and not link.source.strip()]
    joints = [*arm.joints, *(loop.joint for loop in arm.loops)]
    return links + [joint.name for joint in joints if not joint.source.strip()]


def find_inconsistent_links(arm: Robot) -> dict[str, str]:
    return {name: consistency.reason for name, consistency in arm.consistency.items() if not consistency}


def test_the_catalog_is_complete() -> None:
    assert catalog.list_names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_robots_have_names_descriptions_and_sources(name: str) -> None:
    assert robot(name).name == name
    assert 0 < len(robot(name).about) <= 90
    assert "\n" not in robot(name).about
    assert len(robot(name).source) > 20
    assert list_parts_without_source(robot(name)) == []


def test_a_missing_source_is_detected() -> None:
    line = '\nsource = "point mass of 0.5 kg: Lu and Meng 1993, section V-B"'
    assert list_parts_without_source(edited("lu-puma4", line, "")) == ["load"]


@pytest.mark.parametrize("name", NAMES)
def test_angles_are_exact(name: str) -> None:
    assert robot(name).findings == ()


@pytest.mark.parametrize("name", NAMES)
def test_only_known_inertias_are_inconsistent(name: str) -> None:
    reasons, expected = find_inconsistent_links(robot(name)), INCONSISTENT.get(name, {})
    assert reasons.keys() == expected.keys()
    for link, reason in expected.items():
        assert reason in reasons[link]


def test_an_inconsistent_inertia_is_detected() -> None:
    assert find_inconsistent_links(edited("panda", "xx = 0.70337,", "xx = 0.60337,")).keys() == {"panda_link1"}


@pytest.mark.parametrize("name", NAMES)
def test_round_trip(name: str) -> None:
    assert parse_robot(to_toml(robot(name)).encode(), Path(f"{name}.toml"), SNAP) == robot(name)


def test_a_changed_digit_is_detected() -> None:
    assert edited("rx90", "d = 0.45", "d = 0.4500000000001") != robot("rx90")


@pytest.mark.parametrize("name", NAMES)
def test_loading_by_name_warns_of_inconsistent_links_only(name: str) -> None:
    loaded = load(name)
    assert loaded == robot(name)
    assert len([note for note in loaded.findings if note.is_warning]) == len(INCONSISTENT.get(name, {}))


# --- DH tables ------------------------------------------------------------------------------------------------------


def make_turn(axis: int, angle: float) -> np.ndarray:
    """A rotation about x (0) or z (2), independent of ytheta."""
    c, s = math.cos(angle), math.sin(angle)
    result = np.eye(4)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    result[j, j], result[j, k], result[k, j], result[k, k] = c, -s, s, c
    return result


def make_shift(axis: int, length: float) -> np.ndarray:
    result = np.eye(4)
    result[axis, 3] = length
    return result


def compute_dh_poses(rows: Sequence[Row], q: np.ndarray, *, standard: bool) -> list[np.ndarray]:
    """Link frames from a table with the columns sigma, alpha_rad, a_m, theta_offset_rad, d_m."""
    poses, pose = [], np.eye(4)
    for row, value in zip(rows, q, strict=True):
        slides = row["sigma"] == "1"
        theta = float(row["theta_offset_rad"]) + (0.0 if slides else value)
        d = float(row["d_m"]) + (value if slides else 0.0)
        joint = make_turn(2, theta) @ make_shift(2, d)
        x = make_shift(0, float(row["a_m"])) @ make_turn(0, float(row["alpha_rad"]))
        pose = pose @ joint @ x if standard else pose @ x @ joint
        poses.append(pose)
    return poses


def compute_table_difference(arm: Robot, rows: Sequence[Row], *, standard: bool) -> float:
    """The largest difference of the poses of moving links at random positions."""
    rng, worst = np.random.default_rng(7), 0.0
    for _ in range(5):
        q = rng.uniform(-2.0, 2.0, len(arm.movable))
        poses = link_poses(arm, q)
        for joint, expected in zip(arm.movable, compute_dh_poses(rows, q, standard=standard), strict=True):
            worst = max(worst, float(abs(poses[joint.child] - expected).max()))
    return worst


TABLES = [
    ("puma560", "reference/puma560_dh.csv", True),
    ("puma560-mdh", "reference/puma560_mdh.csv", False),
    ("lu-puma4", "reference/puma560_mdh.csv", False),
    ("stanford", "reference/stanford_dh.csv", True),
    ("rx90", "reference/rx90_mdh.csv", False),
    ("panda", "panda/mdh.csv", False),
]


@pytest.mark.parametrize(("name", "file", "standard"), TABLES)
def test_frames_agree_with_the_table(shared_data: Path, name: str, file: str, standard: bool) -> None:
    rows = read_rows(shared_data / file)[: len(robot(name).movable)]
    if name == "stanford":
        rows[2] = {**rows[2], "a_m": "0"}  # as in textbooks and in the remark of the file
    assert compute_table_difference(robot(name), rows, standard=standard) < EXACT
    rows[1] = {**rows[1], "d_m": str(float(rows[1]["d_m"]) + 1e-4)}
    assert compute_table_difference(robot(name), rows, standard=standard) > 1e-5


def compute_axis_lines(poses: Sequence[np.ndarray]) -> np.ndarray:
    """Direction and moment of the z axis of each frame, which do not depend on the origin along the axis."""
    return np.array([[*pose[:3, 2], *np.cross(pose[:3, 3], pose[:3, 2])] for pose in poses])


def test_iiwa14_axes_agree_with_the_table(shared_data: Path) -> None:
    rows = read_rows(shared_data / "reference" / "iiwa14_mdh.csv")

    def compute_difference(arm: Robot) -> float:
        q = np.random.default_rng(8).uniform(-2.0, 2.0, 7)
        poses = link_poses(arm, q)
        ours = compute_axis_lines([poses[joint.child] for joint in arm.movable])
        return float(abs(ours - compute_axis_lines(compute_dh_poses(rows, q, standard=False))).max())

    assert compute_difference(robot("iiwa14")) < EXACT
    assert compute_difference(edited("iiwa14", "xyz = [0, 0.1845, 0]", "xyz = [0, 0.1846, 0]")) > 1e-5


def test_ur10_tool_agrees_with_the_vendors_table(shared_data: Path) -> None:
    rows = read_rows(shared_data / "reference" / "ur10_dh.csv")

    def compute_difference(base: str) -> float:
        q = np.random.default_rng(9).uniform(-3.0, 3.0, 6)
        poses = link_poses(robot("ur10"), q)
        tool = np.linalg.solve(poses[base], poses["tool0"])
        return float(abs(tool - compute_dh_poses(rows, q, standard=True)[-1]).max())

    assert compute_difference("base") < EXACT
    assert compute_difference("base_link") > 0.1  # the vendor's base frame is rotated by half a turn


# --- inertias and drives of tables ----------------------------------------------------------------------------------


def compute_table_inertia(row: Row, *, scale: float = 1.0) -> np.ndarray:
    """The ten parameters of a row with inertia about the centre of mass, by Steiner's theorem."""
    m = float(row["mass_kg"])
    x, y, z = (scale * float(row.get(f"com_{k}_m", row.get(f"com_{k}_source", "0"))) for k in "xyz")
    xx, yy, zz, xy, xz, yz = (float(row.get(f"I{k}_com_kgm2", "0")) for k in ("xx", "yy", "zz", "xy", "xz", "yz"))
    moments = [xx + m * (y * y + z * z), xy - m * x * y, yy + m * (x * x + z * z), xz - m * x * z, yz - m * y * z]
    return np.array([m, m * x, m * y, m * z, *moments, zz + m * (x * x + y * y)])


def compute_inertia_difference(arm: Robot, rows: Sequence[Row], *, tenth: bool) -> float:
    return max(
        float(abs(arm.link(f"link{row['link']}").inertia.vector - compute_table_inertia(row, scale=scale)).max())
        for row in rows
        for scale in [0.1 if tenth and row["link"] != "1" else 1.0]
    )


INERTIAS = [
    ("puma560", "puma560_inertial_dh.csv", "xx = 0.13,", "xx = 0.131,"),
    ("puma560-mdh", "puma560_inertial_mdh.csv", "center  = [0.0, -0.07, 0.014]", "center  = [0.0, 0.07, 0.014]"),
    ("stanford", "stanford_inertial.csv", "mass    = 1.08", "mass    = 1.09"),
]


@pytest.mark.parametrize(("name", "file", "old", "new"), INERTIAS)
def test_inertias_agree_with_the_table(shared_data: Path, name: str, file: str, old: str, new: str) -> None:
    rows = read_rows(shared_data / "reference" / file)
    tenth = name == "stanford"
    assert compute_inertia_difference(robot(name), rows, tenth=tenth) < EXACT
    assert compute_inertia_difference(edited(name, old, new), rows, tenth=tenth) > 1e-6


def test_stanford_rotors_agree_with_the_table(shared_data: Path) -> None:
    rows = read_rows(shared_data / "reference" / "stanford_inertial.csv")
    for joint, row in zip(robot("stanford").movable, rows, strict=True):
        assert joint.drive.parameters == (float(row["rotor_inertia_at_joint_kgm2_or_kg"]), 0.0, 0.0, 0.0)


def test_puma_drives_agree_with_the_table(shared_data: Path) -> None:
    rows = read_rows(shared_data / "reference" / "puma560_drives.csv")
    for name in ("puma560", "puma560-mdh"):
        for joint, row in zip(robot(name).movable, rows, strict=True):
            assert joint.drive.parameters[0] == pytest.approx(float(row["rotor_inertia_at_joint_kgm2"]), abs=1e-9)
    for joint, row in zip(robot("puma560").movable, rows, strict=True):
        _, viscous, coulomb, offset = joint.drive.parameters
        gear = abs(float(row["gear_ratio"]))
        for qd, key in ((0.3, "coulomb_motor_positive_Nm"), (-0.3, "coulomb_motor_negative_Nm")):
            at_motor = float(row["viscous_motor_Nms_per_rad"]) * gear * qd + float(row[key])
            assert viscous * qd + math.copysign(coulomb, qd) + offset == pytest.approx(gear * at_motor, rel=1e-12)
        assert offset != 0.0  # the two directions differ, so that a missing offset would be detected above


# --- descriptions ---------------------------------------------------------------------------------------------------

DESCRIPTIONS = [
    ("ur10", "ur10_robot.urdf", "mass    = 12.93", "mass    = 12.94"),
    ("panda", "panda.urdf", "a = -0.0825", "a = -0.0826"),
]


def compute_urdf_difference(arm: Robot, urdf: Robot) -> float:
    """The largest difference in inertias, limits, friction and poses of links and markers, matched by name."""
    worst = [abs(link.inertia.vector - urdf.link(link.name).inertia.vector).max() for link in arm.links]
    for joint in arm.movable:
        peer = urdf.joint(joint.name)
        # A URDF has no limits of acceleration and jerk; those of the catalog have another source.
        limits = replace(joint.limits, acceleration=math.inf, jerk=math.inf)
        assert (limits, joint.drive) == (peer.limits, peer.drive)
    rng = np.random.default_rng(10)
    q = {joint.name: rng.uniform(-2.0, 2.0) for joint in arm.movable}
    ours = link_poses(arm, np.array([q[joint.name] for joint in arm.movable]))
    theirs = link_poses(urdf, np.array([q.get(joint.name, 0.0) for joint in urdf.movable]))
    worst += [abs(pose - theirs[name]).max() for name, pose in ours.items()]
    return float(max(worst))


@pytest.mark.parametrize(("name", "file", "old", "new"), DESCRIPTIONS)
def test_robots_agree_with_the_vendors_descriptions(name: str, file: str, old: str, new: str) -> None:
    path = example_robots.urdf(file)
    urdf = read_urdf(parse_xml(path.read_bytes(), path), path, SNAP)
    assert compute_urdf_difference(robot(name), urdf) < EXACT
    assert compute_urdf_difference(edited(name, old, new), urdf) > 1e-5


def compute_pinocchio_difference(arm: Robot, model: pin.Model) -> float:
    """The largest difference in inertias of moving links and in poses of links and markers, matched by name.

    Pinocchio adds links on fixed joints (the Panda's hand) to the body that carries them; this is subtracted.
    """
    worst = []
    for joint in arm.movable:
        k = model.getJointId(joint.name)
        inertia = model.inertias[k].toDynamicParameters()
        for frame in model.frames:
            if frame.type == pin.FrameType.FIXED_JOINT and frame.parentJoint == k:
                inertia = inertia - frame.placement.act(frame.inertia).toDynamicParameters()
        worst.append(abs(inertia - arm.link(joint.child).inertia.vector).max())
        worst.append(abs(model.upperPositionLimit[model.joints[k].idx_q] - joint.limits.upper))
        worst.append(abs(model.velocityLimit[model.joints[k].idx_v] - joint.limits.velocity))
        worst.append(abs(model.effortLimit[model.joints[k].idx_v] - joint.limits.effort))
    rng, data = np.random.default_rng(11), model.createData()
    q = pin.neutral(model)
    positions = rng.uniform(-2.0, 2.0, len(arm.movable))
    for joint, value in zip(arm.movable, positions, strict=True):
        q[model.joints[model.getJointId(joint.name)].idx_q] = value
    pin.framesForwardKinematics(model, data, q)
    for name, pose in link_poses(arm, positions).items():
        worst.append(abs(pose - data.oMf[model.getFrameId(name, pin.FrameType.BODY)].homogeneous).max())
    return float(max(worst))


@pytest.mark.parametrize(("name", "file", "old", "new"), DESCRIPTIONS)
def test_robots_agree_with_pinocchio(name: str, file: str, old: str, new: str) -> None:
    model = pin.buildModelFromUrdf(str(example_robots.urdf(file)))
    assert compute_pinocchio_difference(robot(name), model) < ROUNDED_ANGLES
    assert compute_pinocchio_difference(edited(name, old, new), model) > 1e-5


def test_panda_agrees_with_the_arm_of_the_log(shared_data: Path) -> None:
    root = ET.parse(shared_data / "panda" / "panda_arm.urdf").getroot()
    masses = {link.get("name"): float(m.get("value", "")) for link in root.iter("link") for m in link.iter("mass")}
    assert {link.name: link.inertia.mass for link in robot("panda").links} == masses


def test_limits_of_panda_and_iiwa14_are_the_vendors() -> None:
    limits = robot("iiwa14").actuated_limits
    assert [each.effort for each in limits] == [320.0, 320.0, 176.0, 176.0, 110.0, 40.0, 40.0]
    speeds = [math.degrees(each.velocity) for each in limits]
    assert speeds == pytest.approx([85.0, 85.0, 100.0, 75.0, 130.0, 135.0, 135.0], abs=0.01)
    limits = robot("panda").actuated_limits
    assert [each.acceleration for each in limits] == [15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0]
    assert [each.jerk for each in limits] == [7500.0, 3750.0, 5000.0, 6250.0, 7500.0, 10000.0, 10000.0]
    changed = edited("panda", "jerk = 3750.0", "jerk = 3751.0").actuated_limits
    assert [each.jerk for each in changed] != [each.jerk for each in limits]


def test_iiwa14_mass_and_flange() -> None:
    def sum_masses(arm: Robot) -> float:
        return sum(link.inertia.mass for link in arm.links)

    # 5 (base) + 5.76 + 6.35 + 3 * 3.5 + 1.8 + 1.2
    assert sum_masses(robot("iiwa14")) == pytest.approx(30.61, abs=EXACT)
    assert sum_masses(edited("iiwa14", "mass    = 6.35", "mass    = 6.53")) != pytest.approx(30.61, abs=1e-3)
    flange = link_poses(robot("iiwa14"), np.zeros(7))["flange"]
    upright = make_shift(2, 0.1575 + 0.2025 + 0.2045 + 0.2155 + 0.1845 + 0.2155 + 0.081 + 0.045)
    assert abs(flange - upright).max() < EXACT
    bent = link_poses(robot("iiwa14"), np.array([0.0, math.pi / 2, 0.0, 0.0, 0.0, 0.0, 0.0]))["flange"]
    assert bent[:3, 3] == pytest.approx([0.42 + 0.4 + 0.081 + 0.045, 0.0, 0.36], abs=EXACT)


# --- papers ---------------------------------------------------------------------------------------------------------


def compute_mass_matrix(arm: Robot, q: np.ndarray) -> np.ndarray:
    """M_ij = sum over links of trace(dT/dq_i P dT/dq_j^T) with the pseudo-inertia P; derivatives by differences."""
    step = 1e-5  # cubic error 2e-11, rounding 1e-11
    steps = [(link_poses(arm, q + step * unit), link_poses(arm, q - step * unit)) for unit in np.eye(len(q))]
    matrix = np.zeros((len(q), len(q)))
    for link in arm.links:
        slopes = [(ahead[link.name] - behind[link.name]) / (2 * step) for ahead, behind in steps]
        matrix += [[np.trace(a @ link.inertia.pseudo @ b.T) for b in slopes] for a in slopes]
    return matrix


def compute_potential_energy(arm: Robot, q: np.ndarray) -> float:
    poses = link_poses(arm, q)
    moment = sum((poses[link.name] @ link.inertia.pseudo[:, 3])[:3] for link in arm.links)
    return -float(np.array(arm.gravity_in_base) @ moment)


def compute_lu_two_link_difference(arm: Robot) -> float:
    """The largest difference of the load's centre, H(q) and U(q) from the equations of Lu and Meng."""
    l1, l2 = 0.5, 0.4
    m2, m3, px, izz, g = 2.0, 1.2, 0.15, 0.01, 9.81
    worst = []
    for q1, q2 in np.random.default_rng(12).uniform(-3.0, 3.0, (4, 2)):
        q, reach = np.array([q1, q2]), l2 + px
        c1, s1, c2, c12, s12 = math.cos(q1), math.sin(q1), math.cos(q2), math.cos(q1 + q2), math.sin(q1 + q2)
        center = link_poses(arm, q)["load"] @ [*arm.link("load").inertia.center, 1.0]
        h22 = reach**2 * m3 + izz
        h12 = h22 + l1 * reach * c2 * m3
        h11 = l1**2 * m2 + (l1**2 + reach**2 + 2 * l1 * reach * c2) * m3 + izz
        worst += [
            abs(center - [l1 * c1 + reach * c12, l1 * s1 + reach * s12, 0.0, 1.0]).max(),
            abs(compute_mass_matrix(arm, q) - [[h11, h12], [h12, h22]]).max(),
            abs(compute_potential_energy(arm, q) - (m2 * g * l1 * s1 + m3 * g * (l1 * s1 + reach * s12))),
        ]
    return float(max(worst))


def test_lu_two_link_is_that_of_the_paper() -> None:
    assert robot("lu-two-link").symbolic_lengths == {"l1", "l2"}
    assert compute_lu_two_link_difference(robot("lu-two-link")) < DIFFERENCED
    assert compute_lu_two_link_difference(edited("lu-two-link", "center  = [0.15,", "center  = [0.16,")) > 1e-3
    assert compute_lu_two_link_difference(robot("lu-two-link").with_lengths(l1=0.55)) > 1e-3


def test_lu_puma4_masses_are_at_midpoints_and_move_with_every_joint() -> None:
    arm = robot("lu-puma4")
    for k in (1, 2, 3):
        next_joint = np.array(arm.joint(f"joint{k + 1}").placement.translation, dtype=float)
        assert arm.link(f"link{k}").inertia.mass == 2.0
        assert arm.link(f"link{k}").inertia.center == pytest.approx(next_joint / 2, abs=EXACT)
    assert arm.link("link4").inertia == arm.link("load").inertia.seen_from(arm.joint("grasp").placement)

    def find_smallest_eigenvalue(arm: Robot) -> float:
        poses = np.random.default_rng(13).uniform(-3.0, 3.0, (6, 4))
        return min(float(np.linalg.eigvalsh(compute_mass_matrix(arm, q))[0]) for q in poses)

    assert find_smallest_eigenvalue(arm) > 1e-3
    on_axis = {"link4": Inertia.point_mass(0.5, (0.0, 0.0, 0.2)), "load": Inertia()}
    assert find_smallest_eigenvalue(arm.with_inertias(on_axis)) < DIFFERENCED


HA_TABLE = {"X11": 5.0, "X21": 2.5, "X22": 1.0, "X23": 0.3, "X31": 3.0, "X41": 0.5}


def compute_ha_parameters(arm: Robot) -> dict[str, float]:
    """Equation (58) of Ha, Ko and Kwon."""
    theta = dict(zip(arm.parameter_names, arm.theta, strict=True))
    lengths = {name: value for name, value in arm.lengths if value is not None}
    a1, a2 = lengths["a1"], lengths["a2"]
    m1, m2, m3, m4 = (theta[f"link{k}.m"] for k in (1, 2, 3, 4))
    i1, i2, i3, i4 = (theta[f"link{k}.Izz"] for k in (1, 2, 3, 4))
    m1x1, m2x2, m2y2 = theta["link1.mx"], theta["link2.mx"], theta["link2.my"]
    x21 = i2 + m2 * a2**2 + 2 * m2x2 * a2 + i3 + m3 * a2**2 + i4 + m4 * a2**2
    return {
        "X11": i1 + m1 * a1**2 + 2 * m1x1 * a1 + (m2 + m3 + m4) * a1**2 + x21,
        "X21": x21,
        "X22": (m2 * a2 + m2x2 + m3 * a2 + m4 * a2) * a1,
        "X23": m2y2 * a1,
        "X31": m3 + m4,
        "X41": i4,
    }


def test_ha_scara_gives_table_1() -> None:
    assert compute_ha_parameters(robot("ha-scara")) == pytest.approx(HA_TABLE, abs=EXACT)
    assert compute_ha_parameters(edited("ha-scara", "mx = -0.4", "mx = -0.5")) != pytest.approx(HA_TABLE, abs=1e-3)
    friction = [(joint.drive.viscous, joint.drive.coulomb) for joint in robot("ha-scara").movable]
    assert friction == [(1.0, 1.0), (0.7, 0.7), (0.3, 0.3), (0.3, 0.3)]


def test_ha_scara_has_the_lagrangian_of_the_paper() -> None:
    """Mass matrix and potential energy agree with (56) and (57)."""

    def compute_difference(arm: Robot) -> float:
        x, worst = HA_TABLE, 0.0
        for q in np.random.default_rng(14).uniform(-2.0, 2.0, (4, 4)):
            bend = x["X22"] * math.cos(q[1]) - x["X23"] * math.sin(q[1])
            expected = np.zeros((4, 4))
            expected[0, 0], expected[0, 1], expected[1, 1] = x["X11"] + 2 * bend, x["X21"] + bend, x["X21"]
            expected[:, 3] = x["X41"], x["X41"], 0.0, x["X41"]
            expected[2, 2] = x["X31"]
            expected = np.triu(expected) + np.triu(expected, 1).T
            worst = max(worst, float(abs(compute_mass_matrix(arm, q) - expected).max()))
            worst = max(worst, abs(compute_potential_energy(arm, q) + x["X31"] * 9.8 * q[2]))
        return worst

    assert compute_difference(robot("ha-scara")) < DIFFERENCED
    assert compute_difference(edited("ha-scara", "gravity = [0.0, 0.0, 9.8]", "gravity = [0.0, 0.0, -9.8]")) > 1.0
    assert compute_difference(robot("ha-scara").with_lengths(a1=0.55)) > 1e-2
