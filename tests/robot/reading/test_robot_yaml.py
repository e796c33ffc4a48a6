"""Loops of robot.yaml beside a URDF against Pinocchio's constraints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import scipy.linalg
import yaml

from tests.support.paths import SHARED_ROBOTS
from ytheta.dynamics.kernels import inverse_dynamics
from ytheta.errors import InputError, RobotFileError
from ytheta.identifiability.numeric import compute_basis
from ytheta.identifiability.registry import base_parameters
from ytheta.robot.loops.closure import close_loops
from ytheta.robot.parts import JointKind
from ytheta.robot.reading.load import load

FOLDER = SHARED_ROBOTS / "gepetto"
TOLERANCE = 1e-6  # of singular values, relative to the largest one
ZERO_COLUMN = 1e-8  # of the norms of columns, relative to the largest one
# Base parameters. The first and the last robot are five-bars, which have 11, with one and three balls, which have 3.
COUNTS = {"5bar_linkage": 11 + 3, "digit_like": 146, "robot_delta": 11 + 9}
NAMES = tuple(COUNTS)
needs_samples = pytest.mark.skipif(not FOLDER.is_dir(), reason="the robots of Gepetto are not in ../shared/robots")


class PinocchioLoops:
    """A parallel robot in Pinocchio: the open tree of its URDF, and the constraints of its robot.yaml."""

    def __init__(self, folder: Path) -> None:
        self.model = pin.buildModelFromUrdf(str(folder / "robot.urdf"))
        table = yaml.safe_load((folder / "robot.yaml").read_text())
        self.pairs = [[self.model.getFrameId(name) for name in pair] for pair in table["closed_loop"]]
        self.rows = [6 if kind.lower() == "6d" else 3 for kind in table["type"]]
        self.data = self.model.createData()

    def make_pose(self, q_by_name: dict[str, float]) -> np.ndarray:
        q = pin.neutral(self.model)
        for name, value in q_by_name.items():
            joint = self.model.joints[self.model.getJointId(name)]
            q[joint.idx_q : joint.idx_q + joint.nq] = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
        return q

    def compute_jacobian(self, q: np.ndarray) -> np.ndarray:
        """Return the motion of the second frame of every pair, seen from the first one."""
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        blocks = []
        for (first, second), rows in zip(self.pairs, self.rows, strict=True):
            jacobians = [pin.getFrameJacobian(self.model, self.data, k, pin.LOCAL) for k in (first, second)]
            between = self.data.oMf[first].actInv(self.data.oMf[second])
            blocks.append((between.toActionMatrix() @ jacobians[1] - jacobians[0])[:rows])
        return np.vstack(blocks)

    def count_freedom(self, q: np.ndarray) -> int:
        """Degrees of freedom by the rank of the constraint Jacobian at a pose."""
        return self.model.nv - int(np.linalg.matrix_rank(self.compute_jacobian(q), tol=1e-6))

    def compute_gaps(self, q: np.ndarray) -> np.ndarray:
        """Return how far the constraints are from being satisfied, in the rows of the Jacobian."""
        pin.forwardKinematics(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        gaps = []
        for (first, second), rows in zip(self.pairs, self.rows, strict=True):
            between = self.data.oMf[first].actInv(self.data.oMf[second])
            gaps.append(pin.log6(between).vector if rows == 6 else between.translation)
        return np.concatenate(gaps)

    def walk(self, q: np.ndarray, steps: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield poses of a random walk with closed loops."""
        heading = rng.normal(size=self.model.nv)
        for _ in range(steps):
            free = scipy.linalg.null_space(self.compute_jacobian(q), rcond=1e-6)
            heading = free @ (free.T @ heading) + 0.3 * free @ rng.normal(size=free.shape[1])
            trial = pin.integrate(self.model, q, 0.1 * heading / np.linalg.norm(heading))
            for _ in range(20):  # steps of Newton
                jacobian = self.compute_jacobian(trial)
                trial = pin.integrate(
                    self.model, trial, np.linalg.lstsq(jacobian, -self.compute_gaps(trial), rcond=1e-6)[0]
                )
            if np.abs(self.compute_gaps(trial)).max() < 1e-12 and self.count_freedom(trial) == free.shape[1]:
                q = trial
                yield q
            else:
                heading = rng.normal(size=self.model.nv)

    def compute_equations(self, q: np.ndarray, rng: np.random.Generator, *, closed: bool) -> np.ndarray:
        """Return the regressor at a random motion; if closed, in the directions that the loops leave free."""
        jacobian = self.compute_jacobian(q) if closed else np.zeros((1, self.model.nv))
        free = scipy.linalg.null_space(jacobian, rcond=1e-6)
        v, a = free @ rng.normal(size=free.shape[1]), 10.0 * free @ rng.normal(size=free.shape[1])
        if closed:
            a -= np.linalg.lstsq(jacobian, self._compute_drift(q, v), rcond=1e-6)[0]
        return free.T @ pin.computeJointTorqueRegressor(self.model, self.data, q, v, a)

    def _compute_drift(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the acceleration of the second frame of every pair, seen from the first, if no joint accelerates."""
        pin.forwardKinematics(self.model, self.data, q, v, np.zeros_like(v))
        pin.updateFramePlacements(self.model, self.data)
        blocks = []
        for (first, second), rows in zip(self.pairs, self.rows, strict=True):
            assert rows == 6  # the acceleration of a point would have more terms
            between = self.data.oMf[first].actInv(self.data.oMf[second])
            a = [pin.getFrameAcceleration(self.model, self.data, k, pin.LOCAL).vector for k in (first, second)]
            blocks.append(between.toActionMatrix() @ a[1] - a[0])
        return np.concatenate(blocks)


@needs_samples
@pytest.mark.parametrize("name", NAMES)
def test_loops_leave_as_many_coordinates_free_as_in_pinocchio(name: str) -> None:
    robot = load(FOLDER / name)
    closure = close_loops(robot).or_raise()
    positions = dict(zip([joint.name for joint in robot.movable], closure.q, strict=True))
    loops = PinocchioLoops(FOLDER / name)
    assert len(robot.actuated) == closure.freedom == loops.count_freedom(loops.make_pose(positions))
    table = yaml.safe_load((FOLDER / name / "robot.yaml").read_text())
    assert len(robot.loops) == len(table["closed_loop"])
    assert set(table["name_mot"]) <= set(robot.actuated)


def measure_rank(rows: list[np.ndarray]) -> tuple[int, float, float]:
    """Return the rank of all rows, and the singular values above and below it, relative to the largest one.

    Columns that are zero up to rounding errors are left out, since scaled rounding errors would count.
    """
    W = np.vstack(rows)
    sizes = np.linalg.norm(W, axis=0)
    kept = sizes > ZERO_COLUMN * sizes.max()
    values = np.linalg.svd(W[:, kept] / sizes[kept], compute_uv=False)
    values = np.append(values / values[0], 0.0)
    rank = int(np.count_nonzero(values > TOLERANCE))
    return rank, float(values[rank - 1]), float(values[rank])


@needs_samples
@pytest.mark.parametrize(("name", "count"), COUNTS.items())
def test_the_count_of_base_parameters_is_the_rank_of_pinocchio_regressor(name: str, count: int) -> None:
    """The regressor of the open tree, at motions that the loops allow, in the directions that they leave free."""
    robot = load(FOLDER / name)
    loops, rng = PinocchioLoops(FOLDER / name), np.random.default_rng(3)
    positions = close_loops(robot).or_raise().q
    start = loops.make_pose(dict(zip([joint.name for joint in robot.movable], positions, strict=True)))
    closed, opened = [], []
    for q in loops.walk(start, 100, rng):
        closed.append(loops.compute_equations(q, rng, closed=True))
        opened.append(loops.compute_equations(q, rng, closed=False))
    assert len(closed) > 50
    rank, above, below = measure_rank(closed)
    assert above > 1e3 * below
    assert len(base_parameters(robot).names) == rank == count
    assert measure_rank(opened)[0] != rank  # the twin: the open tree has other base parameters


@needs_samples
def test_poses_of_antiparallelograms_would_add_base_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin of the count of robot_delta, whose effector does not turn: its parallelograms become others."""
    robot = load(FOLDER / "robot_delta")
    names = base_parameters(robot).selected
    assert len(compute_basis(robot, names).independent) == COUNTS["robot_delta"]
    monkeypatch.setattr("ytheta.robot.loops.solver.MAX_VELOCITY_CHANGE", np.inf)
    basis = compute_basis(robot, names)
    assert len(basis.independent) > COUNTS["robot_delta"]
    assert "effector.Izz" in basis.independent


@needs_samples
@pytest.mark.parametrize("file", ["", "robot.yaml", "robot.urdf"])
def test_the_folder_and_both_files_name_the_robot(file: str) -> None:
    robot = load(FOLDER / "5bar_linkage" / file)
    assert len(robot.loops) == 1
    assert any("1 loops are closed as robot.yaml says" in finding.text for finding in robot.findings)


LINK = (
    '<link name="{}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>'
    '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><origin xyz="{}"/>'
    '<axis xyz="0 0 1"/></joint>'
)
FOUR_BAR = (
    '<robot name="r"><link name="base"/>'
    + "".join(LINK.format(name) for name in "abc")
    + JOINT.format("ja", "base", "a", "0 0 0")
    + JOINT.format("jb", "a", "b", "0 0.5 0")
    + JOINT.format("jc", "base", "c", "1 0 0")
    + '<link name="end"/><link name="top"/>'
    + '<joint name="je" type="fixed"><parent link="b"/><child link="end"/><origin xyz="1 0 0"/></joint>'
    + '<joint name="jt" type="fixed"><parent link="c"/><child link="top"/><origin xyz="0 0.5 0"/></joint>'
    + "</robot>"
)


def write(folder: Path, table: str) -> Path:
    (folder / "robot.urdf").write_text(FOUR_BAR)
    (folder / "robot.yaml").write_text(table)
    return folder


def test_points_coincide(tmp_path: Path) -> None:
    robot = load(write(tmp_path, "closed_loop: [[end, top]]\ntype: [3D]\nname_mot: [ja]\n"))
    assert robot.actuated == ("ja",)
    closure = close_loops(robot, {"ja": 0.4}).or_raise()
    assert closure.coordinates["jb"] == pytest.approx(-0.4)  # a parallelogram
    assert closure.coordinates["jc"] == pytest.approx(0.4)


def test_spherical_and_universal_joints_are_hinges(tmp_path: Path) -> None:
    table = "closed_loop: [[je, jt]]\ntype: [3d]\nname_mot: [ja]\n"
    robot = load(write(tmp_path, table + "joint_name: [jb, jc]\njoint_type: [SPHERICAL, UJOINT_ZY]\n"))
    assert [joint.name for joint in robot.movable] == ["ja", "jb.x", "jb.y", "jb.z", "jc.z", "jc.y"]
    assert close_loops(robot).or_raise().freedom == 3
    assert {link.name for link in robot.links if not link.has_inertia} == {"b.x", "b.y", "c.z"}
    owners = {name.rpartition(".")[0] for name in base_parameters(robot).selected}
    assert owners == {"a", "b", "c"}
    plain = load(write(tmp_path, table))  # the twin: links without mass in the URDF are those of the user
    assert all(link.has_inertia for link in plain.links)


def test_pairs_without_a_type_are_equal_frames(tmp_path: Path) -> None:
    robot = load(
        write(tmp_path, "closed_loop: [[end, top]]\nname_mot: [ja]\njoint_name: [jc]\njoint_type: [SPHERICAL]\n")
    )
    assert [loop.joint.kind for loop in robot.loops] == [JointKind.FIXED]


def test_fixed_joints_do_not_move(tmp_path: Path) -> None:
    """The masses behind them stay: torques equal those of Pinocchio's reduced model."""
    robot = load(write(tmp_path, "closed_loop: []\ntype: []\njoint_name: [jb]\njoint_type: [FIXED]\n"), snap=0.0)
    assert [joint.name for joint in robot.movable] == ["ja", "jc"]
    model = pin.buildModelFromUrdf(str(tmp_path / "robot.urdf"))
    model.gravity.linear[:] = robot.gravity
    reduced = pin.buildReducedModel(model, [model.getJointId("jb")], pin.neutral(model))
    q, rates = np.array([0.3, -0.7]), np.array([1.2, 0.4])
    turns = np.array([np.cos(q[0]), np.sin(q[0]), np.cos(q[1]), np.sin(q[1])])
    expected = pin.rnea(reduced, reduced.createData(), turns, rates, 2.0 * rates)
    torques = inverse_dynamics(robot)(q[None], rates[None], 2.0 * rates[None])[0]
    np.testing.assert_allclose(torques, expected, atol=1e-12)
    open_tree = pin.rnea(model, model.createData(), pin.neutral(model), np.zeros(3), np.array([2.4, 1.0, 0.8]))
    assert abs(open_tree[0] - expected[0]) > 1e-3  # the twin: jb turns


def test_names_that_the_urdf_lacks_are_a_warning(tmp_path: Path) -> None:
    """The loader of Gepetto ignores them."""
    table = "closed_loop: [[end, top]]\ntype: [3d]\nname_mot: [ja, jx]\njoint_name: [jy]\njoint_type: [SPHERICAL]\n"
    robot = load(write(tmp_path, table))
    assert robot.actuated == ("ja",)
    (finding,) = [finding for finding in robot.findings if finding.is_warning and finding.code == "loops"]
    assert finding.names == ("jy", "jx")
    assert "robot.yaml names joints that do not exist or do not move, and they are ignored: jy" in finding.text
    without = load(write(tmp_path, table.replace(", jx", "").replace("[jy]", "[jb]")))
    assert not [finding for finding in without.findings if finding.is_warning and finding.code == "loops"]


def test_a_table_that_belongs_to_another_file_is_said(tmp_path: Path) -> None:
    write(tmp_path, "closed_loop: [[end, top]]\ntype: [3d]\n")
    other = tmp_path / "other.urdf"
    other.write_text(FOUR_BAR)
    robot = load(other)
    assert not robot.loops
    (finding,) = [finding for finding in robot.findings if finding.code == "loops"]
    assert finding.is_warning
    assert "are not used: the robot is read as an open tree; load the folder" in finding.text


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("closed_loop: [[end, nothing]]\ntype: [3d]\n", "there is no joint or link 'nothing'"),
        ("closed_loop: [[end]]\ntype: [3d]\n", "should be a pair of names of frames"),
        ("closed_loop: [[end, top]]\ntype: []\n", "there are 1 closed loops, but 0 entries in 'type'"),
        ("closed_loop: [[end, top]]\ntype: [4d]\n", "type: '4d' is unknown; use 6d or 3d"),
        ("closed_loop: [[end, top]]\ntype: [3d]\njoint_name: [jb]\n", "there are 1 joint_name, but 0 joint_type"),
        (
            "closed_loop: [[end, top]]\ntype: [3d]\njoint_name: [jb]\njoint_type: [SCREW]\n",
            "joint_type: 'SCREW' is unknown",
        ),
        ("closed_loop: &a [[end, top]]\ntype: *a\n", "has aliases"),
        ("[1, 2", "is not valid YAML"),
        ("name_mot: !!timestamp x\n", "name_mot should be a list, not 'x'"),
        ("name_mot: " + "[" * 20_000, "nested too deeply"),
        ("- 1\n", "should contain keys"),
        ("closed_loop: 3\n", "closed_loop should be a list"),
    ],
)
def test_mistakes(tmp_path: Path, table: str, message: str) -> None:
    with pytest.raises(RobotFileError, match=message):
        load(write(tmp_path, table))


def test_loops_that_cannot_close_are_an_error(tmp_path: Path) -> None:
    folder = write(tmp_path, "closed_loop: [[end, top]]\ntype: [3d]\nname_mot: [ja]\n")
    (folder / "robot.urdf").write_text(FOUR_BAR.replace('xyz="1 0 0"/><axis', 'xyz="9 0 0"/><axis'))
    with pytest.raises(InputError, match="cannot close"):
        load(folder)
