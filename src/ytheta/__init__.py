"""ytheta: a robot arm's dynamic model, made knowable. Everything rests on tau = Y(q, qd, qdd) theta.

The names below load their rooms when first used, so that ``import ytheta`` itself costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ytheta.identification.identify import identify as identify
    from ytheta.identification.model_file import read_model as read_model
    from ytheta.identification.result import Identification as Identification
    from ytheta.kernels import bias as bias
    from ytheta.kernels import coriolis_matrix as coriolis_matrix
    from ytheta.kernels import energy as energy
    from ytheta.kernels import forward_dynamics as forward_dynamics
    from ytheta.kernels import gravity as gravity
    from ytheta.kernels import inverse_dynamics as inverse_dynamics
    from ytheta.kernels import mass_matrix as mass_matrix
    from ytheta.kernels import momentum as momentum
    from ytheta.kernels import regressor as regressor
    from ytheta.minimal.base_parameters import BaseParameters as BaseParameters
    from ytheta.minimal.choice import base_parameters as base_parameters
    from ytheta.robot.closure import close_loops as close_loops
    from ytheta.robot.frame import Frame as Frame
    from ytheta.robot.inertia import Inertia as Inertia
    from ytheta.robot.kinematics import link_poses as link_poses
    from ytheta.robot.load import load as load
    from ytheta.robot.modified_dh import to_modified_dh as to_modified_dh
    from ytheta.robot.robot import Robot as Robot
    from ytheta.robot.toml_writer import save_robot as save_robot
    from ytheta.signal.log import Log as Log
    from ytheta.signal.plan import Settings as Settings
    from ytheta.signal.read import read_log as read_log
    from ytheta.signal.write import write_log as write_log
    from ytheta.simulation.draws import Draws as Draws
    from ytheta.simulation.simulate import simulate as simulate

__version__ = "0.1.0"

_ROOMS = {
    "BaseParameters": "ytheta.minimal.base_parameters",
    "Draws": "ytheta.simulation.draws",
    "Frame": "ytheta.robot.frame",
    "Identification": "ytheta.identification.result",
    "Inertia": "ytheta.robot.inertia",
    "Log": "ytheta.signal.log",
    "Robot": "ytheta.robot.robot",
    "Settings": "ytheta.signal.plan",
    "base_parameters": "ytheta.minimal.choice",
    "bias": "ytheta.kernels",
    "close_loops": "ytheta.robot.closure",
    "coriolis_matrix": "ytheta.kernels",
    "energy": "ytheta.kernels",
    "forward_dynamics": "ytheta.kernels",
    "gravity": "ytheta.kernels",
    "identify": "ytheta.identification.identify",
    "inverse_dynamics": "ytheta.kernels",
    "link_poses": "ytheta.robot.kinematics",
    "load": "ytheta.robot.load",
    "mass_matrix": "ytheta.kernels",
    "momentum": "ytheta.kernels",
    "read_log": "ytheta.signal.read",
    "read_model": "ytheta.identification.model_file",
    "regressor": "ytheta.kernels",
    "save_robot": "ytheta.robot.toml_writer",
    "simulate": "ytheta.simulation.simulate",
    "to_modified_dh": "ytheta.robot.modified_dh",
    "write_log": "ytheta.signal.write",
}

__all__ = ["__version__", *_ROOMS]


def __getattr__(name: str) -> object:
    if name == "control":
        return import_module("ytheta.control")
    if name not in _ROOMS:
        raise AttributeError(f"module 'ytheta' has no attribute {name!r}")
    return getattr(import_module(_ROOMS[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
