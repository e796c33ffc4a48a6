"""Positions and rates of all drives at sampled poses, and the columns of friction and declared forces.

Identity      v = D Qd for the velocities v of all drives; tau += D^T f for forces f of the drives (virtual work)
Reference     [walker1988] sec. 3: tau = E^T rho, also for friction in cut joints
Accepts       every robot with numeric geometry: loops, couplings, motors
Notation      code     meaning                                                            shape
              D        rates of joints, moving cut joints and motors per unit Qd          poses x drives x actuated
              shapes   torque of every drive per unit of each declared force              poses x drives x forces
Differs from  ``dynamics.drive_motion`` and ``dynamics.declared_forces``, whose numbers are the same: these are arrays
              of poses, which need no graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.identifiability.sampling.poses import PoseSample
from ytheta.robot.forces import evaluate_shapes
from ytheta.robot.friction_curve import CURVE_PARAMETERS, compute_friction_factors
from ytheta.robot.loops.cut_joint import CutJoint, locate_cut_joint
from ytheta.robot.loops.solver import linearize
from ytheta.robot.parameters import find_drive_slices
from ytheta.robot.parts import JointKind, Loop
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyBatchByCoordinate, Float, Int, Shaped


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
    ) -> tuple[Int[np.ndarray, "columns"], Float[np.ndarray, "rows columns"]]:
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

    def _compute_cut_position(self, loop: Loop) -> Float[np.ndarray, "poses"]:
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
