"""The regressor of a robot at rest, coordinate by coordinate, from the screws of the joints.

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
from ytheta.identifiability.sampling.poses import PoseSample
from ytheta.identifiability.sampling.sampled_drives import SampledDrives
from ytheta.robot.floating import rotation_matrices
from ytheta.robot.parameters import find_drive_slices
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Int

INERTIA, OFFSET = 0, 3  # places of Ia and fo among the parameters of a drive


@dataclass(frozen=True, eq=False)
class RowBlock:
    """The rows of one coordinate: at rest, and with each related coordinate accelerated alone.

    ``columns`` are the places in theta of the parameters that occur. ``weight`` is the row at rest, for every pose.
    ``inertia`` is the change of the row per unit acceleration of each of the actuated coordinates ``related``; the
    acceleration of any other coordinate changes nothing.
    """

    columns: Int[np.ndarray, "columns"]
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
