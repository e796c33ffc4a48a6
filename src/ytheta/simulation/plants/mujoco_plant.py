"""MuJoCo as a plant: the same robot handed over as a model, loops as its equality constraints.

MuJoCo holds loops together by stiff, damped forces: they open by micrometres where ours stay closed. Dry friction is
its own law, see ``mjcf``. Offsets, and friction of cut joints, are added to the torques here, as it has none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ytheta.dynamics.loops.closing import constraint
from ytheta.dynamics.loops.constraint import Constraint, column
from ytheta.dynamics.loops.loops import solve
from ytheta.errors import InputError, MissingExtraError
from ytheta.robot.parameters import with_parameters
from ytheta.robot.parts import Drive, JointKind
from ytheta.robot.robot import Robot
from ytheta.robot.writing.mjcf import to_mjcf
from ytheta.shapes import Float, PerJoint, PerState

# How MuJoCo holds loops: time constant and damping, and how much of a constraint's force it gives (0.9 by default). A
# time constant needs steps of RK4 that are not much longer than it is.
STIFF = (1e-3, 1.0)
FIRM = (0.9999, 0.9999, 0.001, 0.5, 2.0)
TIMESTEP = 1e-4  # s; time constants below two of these are raised to that. Nothing is integrated with it


@dataclass(frozen=True, eq=False)
class MujocoPlant:
    """State: positions of all movable joints in tree order, then their velocities."""

    description: Robot

    def __post_init__(self) -> None:
        robot = self.robot
        for what, found in (("motors", robot.motors), ("declared forces", robot.forces)):
            if found:
                raise InputError(
                    f"robot {robot.name!r} has {what}, which are not handed over to MuJoCo; use the own plant"
                )
        for loop in robot.loops:
            if loop.joint.kind not in (JointKind.REVOLUTE, JointKind.POINT):
                raise InputError(
                    f"loop {loop.name!r} is cut at a {loop.joint.kind} joint; for MuJoCo cut it at a revolute one, or "
                    "use the own plant"
                )
            if loop.joint.drive.parameters[0]:
                raise InputError(
                    f"the cut joint {loop.name!r} has rotor inertia, which MuJoCo's constraints have not; cut the loop "
                    "at a joint without, or use the own plant"
                )

    @cached_property
    def robot(self) -> Robot:
        """The description with numbers for its lengths and without fixed joints."""
        return self.description.numeric.merged

    def init(self, q: PerJoint, qd: PerJoint) -> PerState:
        loops = self._constraint
        closed = solve(loops, q[None]).or_raise()
        couplings, _ = self.robot.coupling_map
        tangent = np.array(loops.tangent(closed.x[0])) if loops.cuts else np.eye(len(q))
        return np.concatenate([closed.q[0], couplings @ tangent @ qd])

    def rates(self, state: PerState, tau: PerJoint) -> PerState:
        model, data, order, offsets = self._model
        joints = len(order)
        data.qpos[order], data.qvel[order] = state[:joints], state[joints:]
        applied = -offsets
        applied[self._actuated] += tau
        if self._rubs:
            rates = np.array(self._cut_rates(state[self._coordinates]))
            speed = rates @ state[joints:][self._coordinates]
            applied[self._coordinates] -= rates.T @ self._friction(speed)
        data.qfrc_applied[order] = applied
        _mujoco().mj_forward(model, data)
        return np.concatenate([state[joints:], data.qacc[order]])

    def settled(self, state: PerState) -> PerState:
        return state

    def motion(self, state: PerState) -> tuple[PerJoint, PerJoint]:
        joints = len(self.robot.movable)
        return state[self._actuated], state[joints:][self._actuated]

    def with_parameters(self, values: Mapping[str, float]) -> MujocoPlant:
        return MujocoPlant(with_parameters(self.robot, values))

    @cached_property
    def _constraint(self) -> Constraint:
        return constraint(self.robot)

    @cached_property
    def _actuated(self) -> list[int]:
        """Places of the actuated coordinates among the joints."""
        names = [joint.name for joint in self.robot.movable]
        return [names.index(name) for name in self.robot.actuated]

    @cached_property
    def _coordinates(self) -> list[int]:
        """Places of the robot's coordinates among the joints: those that no coupling determines."""
        names = [joint.name for joint in self.robot.movable]
        return [names.index(name) for name in self.robot.coordinates]

    @cached_property
    def _cuts(self) -> list[Drive]:
        """Drives of the cut joints that move."""
        return [loop.joint.drive for loop in self.robot.loops if loop.joint.moves]

    @cached_property
    def _rubs(self) -> bool:
        return any(any(drive.parameters) for drive in self._cuts)

    @cached_property
    def _cut_rates(self) -> Any:
        """x → rates of the cut joints as rows over xd."""
        import casadi

        rows = self._constraint.cut_rates
        matrix = casadi.reshape(column(rows.ravel(order="F")), *rows.shape)
        return casadi.Function("cut_rates", [self._constraint.x], [matrix])

    def _friction(self, speed: Float[np.ndarray, "cuts"]) -> Float[np.ndarray, "cuts"]:
        """What the cut joints resist with: MuJoCo has no joint there, so it is our law."""
        _, viscous, coulomb, offset = np.array([drive.parameters for drive in self._cuts]).T
        width = np.array([drive.coulomb_speed for drive in self._cuts])
        size = np.sqrt(speed**2 + width**2)
        return viscous * speed + coulomb * speed / np.where(size > 0.0, size, 1.0) + offset

    @cached_property
    def _model(self) -> tuple[Any, Any, list[int], PerJoint]:
        """Model, data, places of our joints in MuJoCo's order, offsets of their drives."""
        mujoco = _mujoco()
        # A load becomes part of its link: alone it could be a point mass, which MuJoCo refuses.
        joined = replace(self.robot, links=tuple(replace(link, load=False) for link in self.robot.links)).merged
        text = to_mjcf(joined, drives=True)
        try:
            model = mujoco.MjModel.from_xml_string(text)
        except ValueError as error:
            reason = _sentence(str(error))
            raise InputError(f"MuJoCo refuses robot {self.robot.name!r}: {reason}; use the own plant") from None
        model.opt.timestep = TIMESTEP
        model.opt.tolerance, model.opt.iterations = 1e-14, 200
        model.eq_solref[:], model.eq_solimp[:] = STIFF, FIRM
        order = [int(model.joint(joint.name).dofadr[0]) for joint in self.robot.movable]
        offsets = np.array([joint.drive.offset for joint in self.robot.movable])
        return model, mujoco.MjData(model), order, offsets


def _sentence(error: str) -> str:
    """MuJoCo's words in one line, without the place in a file that nobody wrote: the name of the body stays."""
    text, _, where = error.removeprefix("Error: ").partition("\nElement name ")
    return f"{text} (link {where.partition(', id')[0]})" if where else " ".join(error.split())


def _mujoco() -> Any:
    try:
        import mujoco
    except ModuleNotFoundError:
        raise MissingExtraError("MuJoCo is not installed; run: pip install 'ytheta[mujoco]'") from None
    return mujoco
