"""The forward dynamics of ytheta as a plant, with loops, couplings, friction, rotor inertia and declared forces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ytheta.dynamics.graphs import check_load_friction
from ytheta.dynamics.loop_solver import solve
from ytheta.robot.parameters import check_parameter_names
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerJoint, PerState
from ytheta.simulation.plants.equations_of_motion import EquationsOfMotion


@dataclass(frozen=True, eq=False)
class OwnPlant:
    """A plant with ytheta's forward dynamics.

    The state contains all coordinates, with loops closed, and then the actuated velocities. All parameters are inputs
    of the compiled kernels, so that a change of values needs no new compilation.
    """

    equations: EquationsOfMotion
    theta: Float[np.ndarray, "params"]

    @staticmethod
    def of(robot: Robot) -> OwnPlant:
        """Return a plant with the parameters of the description."""
        return OwnPlant(EquationsOfMotion(robot, robot.parameter_names), robot.numeric.theta)

    @property
    def robot(self) -> Robot:
        return self.equations.robot

    def init(self, q: PerJoint, qd: PerJoint) -> PerState:
        x = solve(self.equations.loops, q[None]).or_raise().x[0] if self.robot.loops else q
        return np.concatenate([x, qd])

    def compute_rates(self, state: PerState, tau: PerJoint) -> PerState:
        return self.equations.rates_kernel.one(state, tau, self.theta)

    def close_loops(self, state: PerState) -> PerState:
        return self.equations.closing_kernel.one(state) if self.robot.loops else state

    def get_motion(self, state: PerState) -> tuple[PerJoint, PerJoint]:
        return state[list(self.equations.loops.actuated)], state[self.equations.coordinates :]

    def with_parameters(self, values: Mapping[str, float]) -> OwnPlant:
        check_parameter_names(self.robot, values)
        pairs = zip(self.robot.parameter_names, self.theta.tolist(), strict=True)
        theta = np.array([float(values.get(name, value)) for name, value in pairs])
        check_load_friction(self.robot.parameter_names, theta)
        return replace(self, theta=theta)
