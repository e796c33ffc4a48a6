"""MuJoCo as a plant: the robot as a MuJoCo model, with loops as equality constraints.

MuJoCo closes loops with stiff, damped forces, so that the loops open by micrometres. The loops of ytheta's own plant
stay closed. MuJoCo has its own law of Coulomb friction, see ``mjcf``. MuJoCo has neither torque offsets nor
friction of cut joints; this module adds both to the applied torques. Likewise, viscous and root friction of drives with
a ``root`` are applied torques, exact and bounded at ``friction_speed``.

Load-dependent friction needs the torque r that a drive transmits, which its whole friction f without fl determines:
tau - f = r + fl d |r|, see ``dynamics.graphs``. MuJoCo's dry friction follows from the motion and cannot be a part of
f, so that all friction of such a drive is ytheta's: the applied torque is r.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ytheta.dynamics.constraint import LoopConstraint, build_constraint, column
from ytheta.dynamics.graphs import check_load_friction
from ytheta.dynamics.loop_solver import solve
from ytheta.errors import InputError, MissingExtraError
from ytheta.robot.mjcf_writer import to_mjcf
from ytheta.robot.parameters import with_parameters
from ytheta.robot.parts import Drive, JointKind, compute_friction
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerJoint, PerState

# MuJoCo's parameters of loop constraints: solref contains the time constant (s) and the damping ratio; solimp
# contains the share of the constraint force (0.9 by default in MuJoCo). RK4 needs steps that are not much longer
# than the time constant. Chosen on: rule of thumb.
LOOP_SOLREF = (1e-3, 1.0)
LOOP_SOLIMP = (0.9999, 0.9999, 0.001, 0.5, 2.0)
# s; MuJoCo raises time constants to at least twice this value; the integration uses other steps. Chosen on: rule of
# thumb.
TIMESTEP = 1e-4


@dataclass(frozen=True, eq=False)
class MujocoPlant:
    """A plant with MuJoCo's forward dynamics.

    The state contains the positions and then the velocities of all movable joints, in the order of the tree.

    Attributes
    ----------
    description  the robot
    """

    description: Robot

    def __post_init__(self) -> None:
        robot = self.robot
        for kind, parts in (("motors", robot.motors), ("declared forces", robot.forces)):
            if parts:
                raise InputError(
                    f"robot {robot.name!r} has {kind}, which the MuJoCo plant does not support; use plant 'own'"
                )
        check_load_friction(robot.parameter_names, robot.theta)
        for loop in robot.loops:
            if loop.joint.kind not in (JointKind.REVOLUTE, JointKind.POINT):
                raise InputError(
                    f"loop {loop.name!r} is cut at a {loop.joint.kind} joint; cut it at a revolute joint for MuJoCo, "
                    "or use plant 'own'"
                )
            if loop.joint.drive.parameters[0]:
                raise InputError(
                    f"the cut joint {loop.name!r} has rotor inertia, which a MuJoCo constraint cannot have; cut the "
                    "loop at a joint without it, or use plant 'own'"
                )

    @cached_property
    def robot(self) -> Robot:
        """The description with numeric lengths and without fixed joints."""
        return self.description.numeric.merged

    def init(self, q: PerJoint, qd: PerJoint) -> PerState:
        loops = self._constraint
        closed = solve(loops, q[None]).or_raise()
        couplings, _ = self.robot.coupling_map
        tangent = np.array(loops.tangent(closed.x[0])) if loops.cuts else np.eye(len(q))
        return np.concatenate([closed.q[0], couplings @ tangent @ qd])

    def compute_rates(self, state: PerState, tau: PerJoint) -> PerState:
        model, data, indices, offsets = self._model
        joints = len(indices)
        data.qpos[indices], data.qvel[indices] = state[:joints], state[joints:]
        applied = -offsets
        applied[self._actuated] += tau
        for k, drive in self._curves:
            speed = state[joints + k]
            applied[k] -= compute_friction(drive, speed)
            if drive.load:  # tau - f becomes r
                direction = float(compute_friction(Drive(coulomb=1.0, coulomb_speed=drive.coulomb_speed), speed))
                applied[k] /= 1.0 + drive.load * direction * np.sign(applied[k])
        if self._has_cut_friction:
            jacobian = np.array(self._cut_jacobian(state[self._coordinates]))
            speed = jacobian @ state[joints:][self._coordinates]
            applied[self._coordinates] -= jacobian.T @ self._compute_cut_friction(speed)
        data.qfrc_applied[indices] = applied
        _import_mujoco().mj_forward(model, data)
        return np.concatenate([state[joints:], data.qacc[indices]])

    def close_loops(self, state: PerState) -> PerState:
        return state

    def get_motion(self, state: PerState) -> tuple[PerJoint, PerJoint]:
        joints = len(self.robot.movable)
        return state[self._actuated], state[joints:][self._actuated]

    def with_parameters(self, values: Mapping[str, float]) -> MujocoPlant:
        return MujocoPlant(with_parameters(self.robot, values))

    @cached_property
    def _constraint(self) -> LoopConstraint:
        return build_constraint(self.robot)

    @cached_property
    def _actuated(self) -> list[int]:
        """The indices of the actuated coordinates among the joints."""
        names = [joint.name for joint in self.robot.movable]
        return [names.index(name) for name in self.robot.actuated]

    @cached_property
    def _coordinates(self) -> list[int]:
        """The indices of the joints that no coupling determines; these joints are the robot's coordinates."""
        names = [joint.name for joint in self.robot.movable]
        return [names.index(name) for name in self.robot.coordinates]

    @cached_property
    def _cuts(self) -> list[Drive]:
        """The drives of the movable cut joints."""
        return [loop.joint.drive for loop in self.robot.loops if loop.joint.moves]

    @cached_property
    def _has_cut_friction(self) -> bool:
        return any(any(drive.parameters) for drive in self._cuts)

    @cached_property
    def _cut_jacobian(self) -> Any:
        """The function x → d(speeds of the cut joints) / d(xd)."""
        import casadi

        rows = self._constraint.cut_rates
        matrix = casadi.reshape(column(rows.ravel(order="F")), *rows.shape)
        return casadi.Function("cut_rates", [self._constraint.x], [matrix])

    def _compute_cut_friction(self, speed: Float[np.ndarray, " cuts"]) -> Float[np.ndarray, " cuts"]:
        """Return the friction of the cut joints by ytheta's law; a MuJoCo constraint has no friction."""
        pairs = zip(self._cuts, speed, strict=True)
        return np.array([drive.offset + float(compute_friction(drive, each)) for drive, each in pairs])

    @cached_property
    def _curves(self) -> list[tuple[int, Drive]]:
        """The indices and drives of the joints whose friction is applied, without the part that MuJoCo computes."""
        drives = enumerate(joint.drive for joint in self.robot.movable)
        return [
            (k, drive if drive.load else replace(drive, coulomb=0.0))
            for k, drive in drives
            if drive.root is not None or drive.load
        ]

    @cached_property
    def _model(self) -> tuple[Any, Any, list[int], PerJoint]:
        """MuJoCo's model and data, the index of each joint in MuJoCo's order, and the torque offsets of the drives."""
        mujoco = _import_mujoco()
        # Merge loads with their links: a load may be a point mass, which MuJoCo rejects.
        joined = replace(self.robot, links=tuple(replace(link, load=False) for link in self.robot.links)).merged
        plain = joined.with_drives(lambda _, drive: _leave_to_mujoco(drive))
        try:
            model = mujoco.MjModel.from_xml_string(to_mjcf(plain, drives=True))
        except InputError as error:
            raise InputError(f"{error}, or use plant 'own'") from None
        except ValueError as error:
            reason = _shorten_message(str(error))
            raise InputError(f"MuJoCo rejects robot {self.robot.name!r}: {reason}; use plant 'own'") from None
        model.opt.timestep = TIMESTEP
        model.opt.tolerance, model.opt.iterations = 1e-14, 200
        model.eq_solref[:], model.eq_solimp[:] = LOOP_SOLREF, LOOP_SOLIMP
        indices = [int(model.joint(joint.name).dofadr[0]) for joint in self.robot.movable]
        offsets = np.array([joint.drive.offset for joint in self.robot.movable])
        return model, mujoco.MjData(model), indices, offsets


def _leave_to_mujoco(drive: Drive) -> Drive:
    """Return the part of a drive that MuJoCo computes; the rest is applied as torques."""
    if drive.load:
        drive = replace(drive, viscous=0.0, coulomb=0.0)
    elif drive.root is not None:
        drive = replace(drive, viscous=0.0)
    return replace(drive, root=None, load=None)


def _shorten_message(error: str) -> str:
    """Return MuJoCo's message in one line, with the name of the link instead of the position in the generated file."""
    text, _, body = error.removeprefix("Error: ").partition("\nElement name ")
    return f"{text} (link {body.partition(', id')[0]})" if body else " ".join(error.split())


def _import_mujoco() -> Any:
    try:
        import mujoco
    except ModuleNotFoundError:
        raise MissingExtraError("MuJoCo is not installed; run: pip install 'ytheta[mujoco]'") from None
    return mujoco
