"""The regressor of a robot at rest at sampled poses, coordinate by coordinate, from the screws of the joints.

Identity      tau_c = (Y_c(x, 0, 0) + sum_k qdd_k dY_c/dqdd_k) theta   for every theta, at qd = 0, in closed loops
Reference     virtual work on one body: tau_c = z_c . n + v_c . f, with the force f and the moment n that give the body
              the angular acceleration z_k and the acceleration v_k of its origin, or -g against its weight
Accepts       trees of revolute and prismatic joints with any axis, floating bases, couplings, motors, loops
Notation      code   meaning                                                                            shape
              z, v   angular velocity of a body and velocity of its origin per unit rate of a coordinate  poses x … x 3
              a      acceleration of the origin of a body that is equivalent to its weight                poses x 3
              E      rates of all coordinates per unit rate of each actuated one; at rest, Edot qd = 0    poses x … x …
Differs from  ``dynamics.formulations``, whose numbers are the same: without velocities, arrays of poses are fast
              enough, and neither a graph nor a dense array of all rows and columns is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.conventions import INERTIA_ENTRIES, LINK_PARAMETERS
from ytheta.dynamics.formulations.newton_euler import joint_axis, joint_origin
from ytheta.dynamics.mechanism import PER_LINK, Body, Mechanism, build_mechanism
from ytheta.errors import InputError
from ytheta.robot.floating import rotation_matrices
from ytheta.robot.forces import evaluate_shapes
from ytheta.robot.loops.cut_joint import CutJoint, locate_cut_joint
from ytheta.robot.loops.equations import find_loop_coordinates
from ytheta.robot.loops.solver import linearize
from ytheta.robot.parameters import find_drive_slices
from ytheta.robot.parts import CURVE_PARAMETERS, JointKind, Loop, compute_friction_factors
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyBatchByCoordinate, Bool, Float, Int, Shaped

INERTIA, OFFSET = 0, 3  # places of Ia and fo among the parameters of a drive


@dataclass(frozen=True, eq=False)
class RowBlock:
    """The rows of one coordinate: at rest, and with each related coordinate accelerated alone.

    ``columns`` are the places in theta of the parameters that occur. ``weight`` is the row at rest, for every pose.
    ``inertia`` is the change of the row per unit acceleration of each of the actuated coordinates ``related``; the
    acceleration of any other coordinate changes nothing.
    """

    columns: Int[np.ndarray, " columns"]
    related: tuple[int, ...]
    weight: Float[np.ndarray, "poses columns"]
    inertia: Float[np.ndarray, "poses related columns"]


@dataclass(frozen=True, eq=False)
class RestRegressor:
    """The regressor of a merged robot with numbers at sampled poses."""

    robot: Robot
    sample: PoseSample

    @cached_property
    def drives(self) -> SampledDrives:
        return SampledDrives(self.robot, self.sample)

    def iterate_blocks(self) -> Iterator[RowBlock]:
        """Yield the rows of every actuated coordinate, in the order of ``robot.actuated``."""
        for c in range(len(self.robot.actuated)):
            yield self._make_block(c)

    def _make_block(self, c: int) -> RowBlock:
        poses, rates = len(self.sample.x), self.drives.rates
        bodies = [body for body in self._bodies if c in body.coordinates]
        drives = np.flatnonzero(rates[:, :, c].any(axis=0)).tolist()
        sensors = len(self.robot.actuated) - len(self.robot.sensor_coordinates)  # the first coordinate of a sensor
        related = {k for body in bodies for k in body.coordinates if k < sensors}
        related |= {int(k) for d in drives for k in np.flatnonzero(rates[:, d].any(axis=0))}
        place = {k: i for i, k in enumerate(sorted(related))}
        slices = find_drive_slices(self.robot)
        columns = [PER_LINK * body.index + k for body in bodies for k in range(PER_LINK)]
        columns += [slices[d].start + k for d in drives for k in (INERTIA, OFFSET)]
        links, forces = PER_LINK * len(bodies), len(self.robot.forces)
        columns += range(len(self.robot.parameter_names) - forces, len(self.robot.parameter_names))
        weight = np.zeros((poses, len(columns)))
        inertia = np.zeros((poses, len(place), len(columns)))
        for first, body in zip(range(0, links, PER_LINK), bodies, strict=True):
            own = slice(first, first + PER_LINK)
            j = body.coordinates.index(c)
            z, v = body.z[:, j, None], body.v[:, j, None]
            at_rest = np.zeros_like(body.a[:, None])
            weight[:, own] = _compute_entries(z, v, at_rest, body.a[:, None])[:, 0]
            moving = [i for i, k in enumerate(body.coordinates) if k < sensors]
            entries = _compute_entries(z, v, body.z[:, moving], body.v[:, moving])
            inertia[:, [place[body.coordinates[i]] for i in moving], own] = entries
        for first, d in zip(range(links, len(columns) - forces, 2), drives, strict=True):
            inertia[:, :, first] = rates[:, d, c, None] * rates[:, d][:, list(place)]
            weight[:, first + 1] = rates[:, d, c]
        weight[:, len(columns) - forces :] = self.drives.forces[:, c]
        return RowBlock(np.array(columns, dtype=int), tuple(place), weight, inertia)

    @cached_property
    def _mechanism(self) -> Mechanism:
        return build_mechanism(self.robot)

    @property
    def _bodies(self) -> list[_BodyScrews]:
        """The screws of all bodies by actuated coordinate, in the axes and about the origin of each body."""
        return self._screws_by_coordinate if self.sample.E is None else self._screws_by_actuated_coordinate

    @cached_property
    def _screws_by_actuated_coordinate(self) -> list[_BodyScrews]:
        assert self.sample.E is not None
        screws = []
        for body in self._screws_by_coordinate:
            E = self.sample.E[:, list(body.coordinates)]
            actuated = np.flatnonzero(E.any(axis=(0, 1)))
            z, v = (np.einsum("pca,pci->pai", E[:, :, actuated], each) for each in (body.z, body.v))
            screws.append(_BodyScrews(body.index, tuple(actuated.tolist()), z, v, body.a))
        return screws

    @cached_property
    def _screws_by_coordinate(self) -> list[_BodyScrews]:
        """The screws of all bodies of the opened tree, also of passive coordinates."""
        factors, offset = self.robot.coupling_map
        q = self.sample.x @ factors.T + offset
        gravity = np.broadcast_to(-np.array(self._mechanism.gravity, dtype=float), (len(q), 3))
        screws: list[_BodyScrews] = []
        for k, body in enumerate(self._mechanism.bodies):
            R, p = _compute_pose(body, q)
            parent = None if body.parent is None else screws[body.parent]
            a = np.einsum("sji,sj->si", R, gravity if parent is None else parent.a)
            own, own_z, own_v = _list_own_screws(body)
            before = () if parent is None else parent.coordinates
            moving = np.flatnonzero(np.any(factors[own] != 0.0, axis=0)).tolist()
            coordinates = (*before, *(c for c in moving if c not in before))
            rates = factors[np.ix_(own, coordinates)].T
            z, v = (np.tile(rates @ each, (len(q), 1, 1)) for each in (own_z, own_v))
            if parent is not None:
                z[:, : len(before)] += np.einsum("sji,scj->sci", R, parent.z)
                v[:, : len(before)] += np.einsum("sji,scj->sci", R, parent.v + np.cross(parent.z, p[:, None]))
            screws.append(_BodyScrews(k, coordinates, z, v, a))
        return screws


@dataclass(frozen=True, eq=False)
class _BodyScrews:
    """A body with the coordinates that move it, their screws, and the acceleration that is equivalent to its weight."""

    index: int
    coordinates: tuple[int, ...]
    z: Float[np.ndarray, "poses coordinates 3"]
    v: Float[np.ndarray, "poses coordinates 3"]
    a: Float[np.ndarray, "poses 3"]


def _list_own_screws(body: Body) -> tuple[list[int], Float[np.ndarray, "own 3"], Float[np.ndarray, "own 3"]]:
    """Return the entries of q that belong to the joint of a body, and their screws in the axes of the body."""
    if body.wrench is not None:
        axes, origin = np.array(body.S, dtype=float), np.array(joint_origin(body), dtype=float)
        z, v = np.concatenate([0.0 * axes, axes]), np.concatenate([axes, np.cross(origin, axes)])
        return list(range(body.wrench, body.wrench + 6)), z, v
    if body.joint is None:
        return [], np.zeros((0, 3)), np.zeros((0, 3))
    axis = np.array(joint_axis(body), dtype=float)[None]
    if not body.revolute:
        return [body.joint], np.zeros((1, 3)), axis
    return [body.joint], axis, np.cross(np.array(joint_origin(body), dtype=float), axis)


def _compute_pose(
    body: Body, q: Float[np.ndarray, "poses joints"]
) -> tuple[Float[np.ndarray, "poses 3 3"], Float[np.ndarray, "poses 3"]]:
    """Return rotation and position of a body in its parent's frame, for every pose."""
    if body.free:
        return rotation_matrices(q[:, 3:6]), q[:, :3]
    P, p, S, s, axis = (np.array(each, dtype=float) for each in (body.P, body.p, body.S, body.s, body.axis))
    motion, shift = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.broadcast_to(s, (len(q), 3))
    if body.joint is not None and body.revolute:
        motion = rotation_matrices(q[:, body.joint, None] * axis)
    elif body.joint is not None:
        shift = s + q[:, body.joint, None] * axis
    R = P @ motion
    return R @ S, p + np.einsum("sij,sj->si", R, shift)


def _compute_entries(
    z: Float[np.ndarray, "poses _ 3"],
    v: Float[np.ndarray, "poses _ 3"],
    wd: Float[np.ndarray, "poses accelerations 3"],
    a: Float[np.ndarray, "poses accelerations 3"],
) -> Float[np.ndarray, "poses accelerations 10"]:
    """Return the torque of a screw (z, v) per unit of the ten parameters, for accelerations wd and a of the body."""
    entries = np.empty((*np.broadcast_shapes(z.shape, wd.shape)[:2], len(LINK_PARAMETERS)))
    entries[..., 0] = np.sum(v * a, axis=-1)
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1)), start=1):  # v × wd + a × z; np.cross is slow
        entries[..., k] = (
            v[..., i] * wd[..., j] - v[..., j] * wd[..., i] + a[..., i] * z[..., j] - a[..., j] * z[..., i]
        )
    for k, (i, j) in enumerate(INERTIA_ENTRIES, start=4):
        entries[..., k] = z[..., i] * wd[..., j] + (z[..., j] * wd[..., i] if i != j else 0.0)
    return entries


# Positions and rates of all drives at sampled poses, and the columns of friction and declared forces.
#
# Identity      v = D Qd for the velocities v of all drives; tau += D^T f for forces f of the drives (virtual work)
# Reference     [walker1988] sec. 3: tau = E^T rho, also for friction in cut joints
# Accepts       every robot with numeric geometry: loops, couplings, motors
# Notation      code     meaning                                                            shape
#               D        rates of joints, moving cut joints and motors per unit Qd          poses x drives x actuated
#               shapes   torque of every drive per unit of each declared force              poses x drives x forces
# Differs from  ``compute_drive_motion`` and ``compute_force_shapes``, whose numbers are the same: these are arrays
#               of poses, which need no graph.


@dataclass(frozen=True, eq=False)
class SampledDrives:
    """The drives of a merged robot with numbers at sampled poses, in the order of ``robot.moving``."""

    robot: Robot
    sample: PoseSample

    @cached_property
    def rates(self) -> Float[np.ndarray, "poses drives actuated"]:
        """D for every pose."""
        (joints, _), (motors, _) = self.robot.coupling_map, self.robot.motor_map
        base = len(self.robot.base_coordinates)
        joints = joints[base : base + len(self.robot.movable)]
        parts = [np.broadcast_to(each, (len(self.sample.x), *each.shape)) for each in (joints, motors)]
        cuts = [self._compute_cut_rate(loop)[:, None] for loop in self._moving_loops]
        rates = np.concatenate([parts[0], *cuts, parts[1]], axis=1)
        return rates if self.sample.E is None else rates @ self.sample.E

    @cached_property
    def forces(self) -> Float[np.ndarray, "poses actuated forces"]:
        """The columns of the declared forces; not finite in poses in which an expression is not defined."""
        positions = dict(zip(self.robot.moving, self._positions.T, strict=True))
        rows = {name: k for k, name in enumerate(positions)}
        shapes = np.zeros((*self._positions.shape, len(self.robot.forces)))
        for k, force in enumerate(self.robot.forces):
            for name, shape in evaluate_shapes(force, positions).items():
                shapes[:, rows[name], k] = shape
        return np.einsum("pda,pdf->paf", self.rates, shapes)

    def compute_friction_rows(
        self, c: int, Qd: Float[np.ndarray, "velocities actuated"]
    ) -> tuple[Int[np.ndarray, " columns"], Float[np.ndarray, "rows columns"]]:
        """Return the columns of fv, fc and fs that coordinate c has, and its rows for all poses and velocities."""
        columns, rows = [], [np.zeros((len(self.rates) * len(Qd), 0))]
        for d in np.flatnonzero(self.rates[:, :, c].any(axis=0)):
            drive, place = self.robot.drives[d][1], find_drive_slices(self.robot)[d]
            factors = compute_friction_factors(drive, self.rates[:, d] @ Qd.T) * self.rates[:, d, c, None, None]
            for k, symbol in enumerate(CURVE_PARAMETERS):
                if symbol in drive.parameter_symbols and symbol != "fl":
                    columns.append(place.start + drive.parameter_symbols.index(symbol))
                    rows.append(factors[..., k].reshape(-1, 1))
        return np.array(columns, dtype=int), np.concatenate(rows, axis=1)

    @property
    def _moving_loops(self) -> list[Loop]:
        return [loop for loop in self.robot.loops if loop.joint.moves]

    @property
    def _positions(self) -> Float[np.ndarray, "poses drives"]:
        """Positions of all drives; angles of cut joints are between -pi and pi."""
        factors, offset = self.robot.motor_map
        base = len(self.robot.base_coordinates)
        q = self._compute_joint_positions(self.sample.x)[:, base : base + len(self.robot.movable)]
        cuts = [self._compute_cut_position(loop)[:, None] for loop in self._moving_loops]
        return np.concatenate([q, *cuts, self.sample.x @ factors.T + offset], axis=1)

    def _compute_cut_position(self, loop: Loop) -> Float[np.ndarray, " poses"]:
        cut = self._locate(loop, self.sample.x)
        position = cut.displacement if loop.joint.kind is JointKind.PRISMATIC else np.arctan2(*cut.sine_cosine)
        return np.asarray(position, dtype=float)

    def _compute_cut_rate(self, loop: Loop) -> Float[np.ndarray, "poses coordinates"]:
        """The velocity of a moving cut joint per unit rate of each coordinate, in closed loops."""
        x = self.sample.x
        if loop.joint.kind is JointKind.PRISMATIC:
            _, derivatives = linearize(
                lambda samples: self._locate(loop, samples).displacement[..., None], x, range(x.shape[1])
            )
            return derivatives[:, 0]
        factors, _ = self.robot.coupling_map
        cut = self._locate(loop, x)
        row = np.zeros((len(x), len(factors)))
        for k, axis in cut.loop_axes.items():
            row[:, k] = np.sum(cut.axis * axis, axis=1)
        return row @ factors

    def _locate(self, loop: Loop, x: AnyBatchByCoordinate) -> CutJoint:
        q = self._compute_joint_positions(x)
        return locate_cut_joint(self.robot, loop, q, np.cos(q), np.sin(q))

    def _compute_joint_positions(self, x: AnyBatchByCoordinate) -> Shaped[np.ndarray, "*batch joints"]:
        factors, offset = self.robot.coupling_map
        return x @ factors.T + offset


# Poses of the whole workspace of a robot, with the tangent of its loops.


# Smallest numbers of poses and rows of the sample; with n actuated coordinates, a pose gives n (n + 1) rows.
# Chosen on: rule of thumb.
MIN_POSES, MIN_ROWS = 12, 1500
# Number of ranges tried for joints in loops, each half as wide as the one before. Chosen on: rule of thumb.
MAX_HALVINGS = 12
# Largest condition number of the loop equations; poses with a larger one have huge rows and are left out.
# Chosen on: rule of thumb.
MAX_CONDITION = 1e3


@dataclass(frozen=True, eq=False)
class PoseSample:
    """Poses x of a robot with closed loops, and E = dx/dQ by the actuated coordinates Q; None if x is Q."""

    x: Float[np.ndarray, "poses coordinates"]
    E: Float[np.ndarray, "poses coordinates actuated"] | None = None

    def select(self, chosen: Bool[np.ndarray, " poses"]) -> PoseSample:
        """Return only the chosen poses."""
        return PoseSample(self.x[chosen], None if self.E is None else self.E[chosen])


def sample_poses(robot: Robot, length: float) -> PoseSample:
    """Sample configurations of the whole workspace in which all loops are closed.

    ``length`` is the range of prismatic joints. Coordinates of joints in loops are sampled in a range around the home
    configuration. The range is halved until the loops close in enough poses.
    """
    robot = robot.numeric.merged
    size = len(robot.actuated)
    rows_per_pose = size * (size + 1)
    count = max(MIN_POSES, -(-MIN_ROWS // rows_per_pose), -(-4 * len(robot.parameter_names) // rows_per_pose))
    sliding = robot.prismatic_joints
    reach = np.array([length if name in sliding else np.pi for name in robot.actuated])
    if not robot.loops:
        return PoseSample(robot.home_coordinates + (2.0 * fill_cube(count, size) - 1.0) * reach)
    from ytheta.dynamics.constraint import build_constraint  # imported here, since only robots with loops need it
    from ytheta.dynamics.loop_solver import compute_tangents, solve

    loops = build_constraint(robot)
    home = loops.home[list(loops.actuated)]
    in_loops = find_loop_coordinates(robot)
    constrained = np.array([name in in_loops for name in robot.actuated])
    poses, others = np.empty((0, len(loops.home))), np.empty((0, len(loops.home) + 1))
    for halvings in range(MAX_HALVINGS):
        width = np.where(constrained, reach / 2**halvings, reach)
        outcome = solve(loops, home + (2.0 * fill_cube(4 * count, size) - 1.0) * width)
        good = outcome.determined & (outcome.condition < MAX_CONDITION)
        poses = np.concatenate([poses, outcome.x[good]])
        if len(poses) >= count:
            return PoseSample(poses, compute_tangents(loops, poses))
        fair = outcome.determined & ~good
        others = np.concatenate([others, np.column_stack([outcome.condition, outcome.x])[fair]])
    if len(poses) + len(others) >= count:  # a small or flat mechanism, whose lengths are small numbers
        poses = np.concatenate([poses, others[np.argsort(others[:, 0])[: count - len(poses)], 1:]])
        return PoseSample(poses, compute_tangents(loops, poses))
    raise InputError(
        f"robot {robot.name!r}: its loops close in too few poses around the home configuration to measure a rank; "
        + outcome.advice
    )


def fill_cube(count: int, size: int) -> Float[np.ndarray, "count size"]:
    """Return points that fill the unit cube evenly, the same in every run (additive recurrence, Roberts 2018)."""
    ratio = 2.0
    for _ in range(60):
        ratio = (1.0 + ratio) ** (1.0 / (size + 1))
    steps = ratio ** -np.arange(1.0, size + 1.0)
    return (0.5 + np.outer(np.arange(1.0, count + 1.0), steps)) % 1.0
