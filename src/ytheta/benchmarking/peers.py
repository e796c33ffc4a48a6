"""Peers: Pinocchio and MuJoCo with the same robot, called from Python once per sample, as their users do."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

import numpy as np

from ytheta.conventions import STANDARD_GRAVITY
from ytheta.errors import InputError
from ytheta.exporting.export import export
from ytheta.robot.frame import IDENTITY
from ytheta.robot.mjcf_writer import to_mjcf
from ytheta.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class PeerFunction:
    """A function of a peer.

    Attributes
    ----------
    label  what the peer calls it
    run    computes one sample; this is what is timed
    read   returns the values of the last sample in the order of the robot; of a regressor, its torques
    """

    label: str
    run: Callable[[np.ndarray, np.ndarray, np.ndarray], object]
    read: Callable[[], np.ndarray]


@dataclass(frozen=True, eq=False)
class Peer:
    """A library with a robot: ``order`` are the robot's joints in the order of the peer, ``functions`` by name."""

    name: str
    order: np.ndarray
    functions: Mapping[str, PeerFunction]


def list_peers(robot: Robot) -> Iterator[Peer]:
    """Yield the installed peers with this robot, which has neither friction nor rotors."""
    if find_spec("pinocchio") is not None:
        yield _make_pinocchio(robot)
    if find_spec("mujoco") is not None:
        yield _make_mujoco(robot)


def _make_pinocchio(robot: Robot) -> Peer:
    import pinocchio as pin

    # A file whose base is upright: that of a robot with another gravity would be turned instead.
    upright = replace(robot, gravity=STANDARD_GRAVITY, mounting=IDENTITY)
    with tempfile.TemporaryDirectory() as folder:
        (file,) = export(upright, to="urdf", path=Path(folder) / "robot.urdf", force=True)
        model = pin.buildModelFromUrdf(str(file))
    model.gravity = pin.Motion(np.array(robot.gravity_in_base), np.zeros(3))
    data = model.createData()
    places = np.array([model.joints[model.getJointId(joint.name)].idx_v for joint in robot.movable])
    theta = np.concatenate([model.inertias[k].toDynamicParameters() for k in range(1, model.njoints)])
    results: dict[str, np.ndarray] = {}

    def keep(name: str, values: np.ndarray) -> None:
        results[name] = values

    def read_mass_matrix() -> np.ndarray:
        upper = np.triu(data.M)
        return (upper + np.triu(upper, 1).T)[np.ix_(places, places)]

    functions = {
        "inverse dynamics": PeerFunction(
            "rnea", lambda q, qd, last: pin.rnea(model, data, q, qd, last), lambda: data.tau[places]
        ),
        "forward dynamics": PeerFunction(
            "aba", lambda q, qd, last: pin.aba(model, data, q, qd, last), lambda: data.ddq[places]
        ),
        "mass matrix": PeerFunction("crba", lambda q, qd, last: pin.crba(model, data, q), read_mass_matrix),  # noqa: ARG005
        "regressor": PeerFunction(
            "computeJointTorqueRegressor",
            lambda q, qd, last: keep("Y", pin.computeJointTorqueRegressor(model, data, q, qd, last)),
            lambda: (results["Y"] @ theta)[places],
        ),
    }
    return Peer("Pinocchio", np.argsort(places), MappingProxyType(functions))


def _make_mujoco(robot: Robot) -> Peer:
    import mujoco

    try:
        model = mujoco.MjModel.from_xml_string(to_mjcf(robot))
    except ValueError as error:  # such as links that are point masses
        reason = " ".join(str(error).split())
        raise InputError(f"MuJoCo refuses robot {robot.name!r} ({reason}); choose another, such as ur10") from None
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT  # limits of joints and contacts are not dynamics
    data = mujoco.MjData(model)
    places = np.array([int(model.joint(joint.name).dofadr[0]) for joint in robot.movable])

    def run_inverse(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> None:
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)

    def run_forward(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> None:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, tau
        mujoco.mj_forward(model, data)

    def run_mass_matrix(q: np.ndarray, qd: np.ndarray, last: np.ndarray) -> None:
        del qd, last
        data.qpos[:] = q
        mujoco.mj_fwdPosition(model, data)

    def read_mass_matrix() -> np.ndarray:
        matrix = np.zeros((model.nv, model.nv))
        for column, unit in zip(matrix, np.eye(model.nv), strict=True):
            mujoco.mj_mulM(model, data, column, unit)
        return matrix[np.ix_(places, places)]

    functions = {
        "inverse dynamics": PeerFunction("mj_inverse", run_inverse, lambda: data.qfrc_inverse[places]),
        "forward dynamics": PeerFunction("mj_forward", run_forward, lambda: data.qacc[places]),
        "mass matrix": PeerFunction("mj_fwdPosition", run_mass_matrix, read_mass_matrix),
    }
    return Peer("MuJoCo", np.argsort(places), MappingProxyType(functions))
