"""A serial arm in minimal linear combinations: what Lin's procedure has to know of a robot and its base parameters.

Identity      w = M theta,   beta = C w,   tau_i = (v_i E_i) · w_i + phi_i
Reference     [lin1995] Theorem 2, (95), (96), (101), (102)
Notation      code   paper   meaning
              w_i    w_i     combinations of joint i, then those parameters of its drive that are felt apart from them
              E_i    -       constants of body i per combination; those without a combination are zero
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.conventions import JOINT_PARAMETERS, parameter_name
from ytheta.dynamics.inertia_constants import joint_frames
from ytheta.dynamics.mechanism import mechanism
from ytheta.errors import InputError
from ytheta.identifiability import lin
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.estimators.lin.recursion import SLIDING, TURNING, Stage, kappa_moment
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

OTHERS = "the estimators weighted, least-squares, sequential, huber and recursive do"


@dataclass(frozen=True, eq=False)
class Jointed:
    """One joint; ``names`` are those of w_i, ``drive`` the parameters of its drive among them, the last ones."""

    name: str
    stage: Stage
    names: tuple[str, ...]
    E: Float[np.ndarray, "constants combinations"]
    drive: tuple[str, ...]
    coulomb_speed: float

    def drive_columns(
        self,
        qd: Float[np.ndarray, "samples"],
        qdd: Float[np.ndarray, "samples"],
        direction: Float[np.ndarray, "samples"] | None,
    ) -> Float[np.ndarray, "drive samples"]:
        """What the parameters of the drive are multiplied by; ``direction`` as the low-pass shows it, if it does."""
        if direction is None:
            direction = qd / np.hypot(qd, self.coulomb_speed) if self.coulomb_speed else np.sign(qd)
        values = {"Ia": qdd, "fv": qd, "fc": direction, "fo": np.ones_like(qd)}
        return np.array([values[p] for p in self.drive]).reshape(-1, len(qd))


@dataclass(frozen=True, eq=False)
class Arm:
    """Joints from the base on, their ``places`` in the columns of a log, gravity in base axes, M and C."""

    joints: tuple[Jointed, ...]
    places: list[int]
    gravity: Float[np.ndarray, "3"]
    M: Float[np.ndarray, "combinations params"]
    C: Float[np.ndarray, "base combinations"]

    @classmethod
    def of(cls, base: BaseParameters) -> Arm:
        """InputError where the procedure does not take the robot."""
        robot = base.robot.numeric
        reason = accepts(robot)
        if reason is not None:
            raise InputError(f"lin does not take this: {reason}; {OTHERS}")
        rotors = any(name.endswith(".Ia") for name in base.selected)
        combinations = lin.minimal_combinations(robot, rotor_inertia=rotors)
        unit = dict(zip(robot.parameter_names, np.eye(len(robot.parameter_names)), strict=True))
        joints: list[Jointed] = []
        rows: list[np.ndarray] = []
        home, first = np.eye(3), None
        for joint, stage in zip(robot.merged.movable, _stages(robot), strict=True):
            home = home @ stage.R
            first = home[:, 2] if first is None and stage.revolute else first  # u_r
            mine = {each.name: each.row for each in combinations if each.link == joint.child}
            apart = {p for p in JOINT_PARAMETERS[1:] if parameter_name(joint.name, p) in base.selected} | {"Ia"} & {*mine}
            drive = tuple(p for p in JOINT_PARAMETERS if p in apart)
            kinds = [name for name in mine if name != "Ia"]
            E = _constants(stage, kinds, np.zeros(3) if first is None else home.T @ first)
            driven = [parameter_name(joint.name, p) for p in drive]
            names = (*(parameter_name(joint.child, kind) for kind in kinds), *driven)
            rows += [np.array(mine[kind], dtype=float) for kind in kinds] + [unit[name] for name in driven]
            joints.append(Jointed(joint.name, stage, names, E, drive, joint.drive.coulomb_speed))
        M = np.array(rows)
        C = np.linalg.lstsq(M.T, base.K.T, rcond=None)[0].T
        if not np.allclose(C @ M, base.K, rtol=0.0, atol=1e-9 * abs(base.K).max()):
            raise InputError(f"these base parameters are not those that Theorem 2 gives {robot.name!r}; {OTHERS}")
        places = [robot.actuated.index(joint.name) for joint in joints]
        return cls(tuple(joints), places, np.array(robot.gravity_in_base), M, C)

    def own(self, i: int) -> slice:
        """Where w_i stands in w."""
        first = sum(len(joint.names) for joint in self.joints[:i])
        return slice(first, first + len(self.joints[i].names))


def accepts(robot: Robot) -> str | None:
    """None, or the reason why not."""
    reason = lin.accepts(robot)
    if reason is not None:
        return reason.removesuffix("; method qr takes it")
    if robot.forces:
        return f"robot {robot.name!r} has a declared force, {robot.forces[0].name!r}, for which Theorem 2 has no rule"
    carriers = [carrier for carrier, _ in _carried(robot)]
    if len({*carriers}) < len(carriers):
        return f"robot {robot.name!r} has branches, and the procedure is one for serial arms"
    return None


def _stages(robot: Robot) -> list[Stage]:
    return [stage for _, stage in _carried(robot)]


def _carried(robot: Robot) -> list[tuple[int | None, Stage]]:
    """For every moving body the moving body it hangs on, loads between them passed over, and its joint frame there."""
    arm = mechanism(robot)
    frames = [(np.array(R, dtype=float), np.array(p, dtype=float)) for R, p in joint_frames(arm)]
    found: list[tuple[int | None, Stage]] = []
    for j, body in enumerate(arm.bodies):
        if body.joint is None:
            continue
        (R, p), above = frames[j], body.parent
        while above is not None and arm.bodies[above].joint is None:
            R, p = frames[above][0] @ R, frames[above][1] + frames[above][0] @ p
            above = arm.bodies[above].parent
        found.append((above, Stage(body.revolute, R, p)))
    return found


def _constants(
    stage: Stage, kinds: list[str], u_r: Float[np.ndarray, "3"]
) -> Float[np.ndarray, "constants combinations"]:
    """E: a combination is a constant itself, but for the two of a slide between r and s."""
    constants = TURNING if stage.revolute else SLIDING
    E = np.zeros((len(constants), len(kinds)))
    for column, kind in enumerate(kinds):
        if kind in constants:
            E[constants.index(kind), column] = 1.0
        else:
            E[1:, column] = kappa_moment(u_r)[:, ("kappa1", "kappa2").index(kind)]
    return E
