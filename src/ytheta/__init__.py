"""ytheta: dynamic models of robot arms, tau = Y(q, qd, qdd) theta.

The public names load their modules when first used, so that ``import ytheta`` itself is fast.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

__version__ = "0.1.0"
IMPORT_TIME = time.time()  # before any module of the package is loaded; see native/fingerprint.py

if TYPE_CHECKING:
    from ytheta import control as control
    from ytheta import errors as errors
    from ytheta.benchmark import Benchmark as Benchmark
    from ytheta.benchmark import bench as bench
    from ytheta.comparison import Comparison as Comparison
    from ytheta.comparison import compare as compare
    from ytheta.dynamics.formulations.derivation import derive_link_regressor as derive_link_regressor
    from ytheta.dynamics.formulations.derivation import derive_regressor as derive_regressor
    from ytheta.dynamics.formulations.registry import formulations as formulations
    from ytheta.dynamics.formulations.sixteen import reduce_parameters as reduce_parameters
    from ytheta.dynamics.kernels import bias as bias
    from ytheta.dynamics.kernels import coriolis_matrix as coriolis_matrix
    from ytheta.dynamics.kernels import energy as energy
    from ytheta.dynamics.kernels import forward_dynamics as forward_dynamics
    from ytheta.dynamics.kernels import gravity as gravity
    from ytheta.dynamics.kernels import inverse_dynamics as inverse_dynamics
    from ytheta.dynamics.kernels import jacobian as jacobian
    from ytheta.dynamics.kernels import mass_matrix as mass_matrix
    from ytheta.dynamics.kernels import momentum as momentum
    from ytheta.dynamics.kernels import regressor as regressor
    from ytheta.excitation.assess import assess_trajectory as assess_trajectory
    from ytheta.excitation.clearance.obstacle import Obstacle as Obstacle
    from ytheta.excitation.excite import excite as excite
    from ytheta.excitation.result import Excitation as Excitation
    from ytheta.excitation.trajectories import Trajectory as Trajectory
    from ytheta.excitation.trajectory_files import load_trajectory as load_trajectory
    from ytheta.excitation.trajectory_files import save_trajectory as save_trajectory
    from ytheta.exporting.c.options import COptions as COptions
    from ytheta.exporting.casadi import CasadiOptions as CasadiOptions
    from ytheta.exporting.export import export as export
    from ytheta.exporting.load_settings import PayloadOptions as PayloadOptions
    from ytheta.findings import Finding as Finding
    from ytheta.identifiability.base_parameters import BaseParameters as BaseParameters
    from ytheta.identifiability.ha import regroup_lagrangian as regroup_lagrangian
    from ytheta.identifiability.registry import base_parameters as base_parameters
    from ytheta.identifiability.registry import model_parameters as model_parameters
    from ytheta.identifiability.regrouping import Regrouping as Regrouping
    from ytheta.identification.consistency.bounds import BodyBounds as BodyBounds
    from ytheta.identification.estimators.recursive import RecursiveLeastSquares as RecursiveLeastSquares
    from ytheta.identification.estimators.sequential import RecursiveSequential as RecursiveSequential
    from ytheta.identification.identify import identify as identify
    from ytheta.identification.model_file import Model as Model
    from ytheta.identification.model_file import read_model as read_model
    from ytheta.identification.persistent_excitation import PersistentExcitation as PersistentExcitation
    from ytheta.identification.persistent_excitation import assess_persistent_excitation as assess_persistent_excitation
    from ytheta.identification.predict import Prediction as Prediction
    from ytheta.identification.predict import predict as predict
    from ytheta.identification.result import Identification as Identification
    from ytheta.inspection import Inspection as Inspection
    from ytheta.inspection import inspect as inspect
    from ytheta.logs.check import LogCheck as LogCheck
    from ytheta.logs.check import check as check
    from ytheta.logs.checking.check import find_repeated_motion as find_repeated_motion
    from ytheta.logs.log import Log as Log
    from ytheta.logs.preparing.preparation import PreparationSettings as PreparationSettings
    from ytheta.logs.reading.read import read_log as read_log
    from ytheta.logs.write import write_log as write_log
    from ytheta.native.kernel import Kernel as Kernel
    from ytheta.papers.reproduce import Reproduction as Reproduction
    from ytheta.papers.reproduce import reproduce as reproduce
    from ytheta.payload.identify_payload import identify_payload as identify_payload
    from ytheta.payload.result import PayloadEstimate as PayloadEstimate
    from ytheta.robot.floating import add_wrench_sensor as add_wrench_sensor
    from ytheta.robot.floating import fix_base as fix_base
    from ytheta.robot.floating import float_base as float_base
    from ytheta.robot.floating import quaternions_from_rotation_vectors as quaternions_from_rotation_vectors
    from ytheta.robot.floating import rotation_vectors_from_quaternions as rotation_vectors_from_quaternions
    from ytheta.robot.floating import to_base_axes as to_base_axes
    from ytheta.robot.floating import to_world_axes as to_world_axes
    from ytheta.robot.frame import Frame as Frame
    from ytheta.robot.inertia import Inertia as Inertia
    from ytheta.robot.kinematics import link_poses as link_poses
    from ytheta.robot.locking import lock_joints as lock_joints
    from ytheta.robot.loops.closure import Closure as Closure
    from ytheta.robot.loops.closure import close_loops as close_loops
    from ytheta.robot.modified_dh import to_modified_dh as to_modified_dh
    from ytheta.robot.parts import compute_friction as compute_friction
    from ytheta.robot.reading.catalog import Catalog as Catalog
    from ytheta.robot.reading.catalog import robots as robots
    from ytheta.robot.reading.load import load as load
    from ytheta.robot.robot import Robot as Robot
    from ytheta.robot.toml_writer import save_robot as save_robot
    from ytheta.simulation.closed_loop import ClosedLoop as ClosedLoop
    from ytheta.simulation.logged_reference import LoggedReference as LoggedReference
    from ytheta.simulation.logged_reference import reference_from_log as reference_from_log
    from ytheta.simulation.mujoco_plant import MujocoPlant as MujocoPlant
    from ytheta.simulation.plain_loop import PlainLoop as PlainLoop
    from ytheta.simulation.references import FourierReference as FourierReference
    from ytheta.simulation.references import ReferenceTrajectory as ReferenceTrajectory
    from ytheta.simulation.references import SampledReference as SampledReference
    from ytheta.simulation.references import default_reference as default_reference
    from ytheta.simulation.result import Simulation as Simulation
    from ytheta.simulation.runs import Runs as Runs
    from ytheta.simulation.sensors import Sensor as Sensor
    from ytheta.simulation.sensors import Sensors as Sensors
    from ytheta.simulation.simulate import simulate as simulate
    from ytheta.simulation.substeps import with_smooth_friction as with_smooth_friction
    from ytheta.simulation.variation import Grasp as Grasp
    from ytheta.simulation.variation import ParameterChange as ParameterChange
    from ytheta.simulation.variation import Variation as Variation
    from ytheta.simulation.variation import grasp as grasp
    from ytheta.viewing.view import view as view
    from ytheta.viewing.viewer import Viewer as Viewer
else:  # The same names by module, for the time when they are first used; a test compares both lists.
    from ytheta.public_names import attach_public_names

    __getattr__, __dir__ = attach_public_names(
        __name__,
        {
            "": "control errors",
            "benchmark": "Benchmark bench",
            "comparison": "Comparison compare",
            "dynamics.formulations.derivation": "derive_link_regressor derive_regressor",
            "dynamics.formulations.registry": "formulations",
            "dynamics.formulations.sixteen": "reduce_parameters",
            "dynamics.kernels": (
                "bias coriolis_matrix energy forward_dynamics gravity inverse_dynamics jacobian mass_matrix momentum "
                "regressor"
            ),
            "excitation.assess": "assess_trajectory",
            "excitation.clearance.obstacle": "Obstacle",
            "excitation.excite": "excite",
            "excitation.result": "Excitation",
            "excitation.trajectories": "Trajectory",
            "excitation.trajectory_files": "load_trajectory save_trajectory",
            "exporting.c.options": "COptions",
            "exporting.casadi": "CasadiOptions",
            "exporting.export": "export",
            "exporting.load_settings": "PayloadOptions",
            "findings": "Finding",
            "identifiability.base_parameters": "BaseParameters",
            "identifiability.ha": "regroup_lagrangian",
            "identifiability.registry": "base_parameters model_parameters",
            "identifiability.regrouping": "Regrouping",
            "identification.consistency.bounds": "BodyBounds",
            "identification.estimators.recursive": "RecursiveLeastSquares",
            "identification.estimators.sequential": "RecursiveSequential",
            "identification.identify": "identify",
            "identification.model_file": "Model read_model",
            "identification.persistent_excitation": "PersistentExcitation assess_persistent_excitation",
            "identification.predict": "Prediction predict",
            "identification.result": "Identification",
            "inspection": "Inspection inspect",
            "logs.check": "LogCheck check",
            "logs.checking.check": "find_repeated_motion",
            "logs.log": "Log",
            "logs.preparing.preparation": "PreparationSettings",
            "logs.reading.read": "read_log",
            "logs.write": "write_log",
            "native.kernel": "Kernel",
            "papers.reproduce": "Reproduction reproduce",
            "payload.identify_payload": "identify_payload",
            "payload.result": "PayloadEstimate",
            "robot.floating": (
                "add_wrench_sensor fix_base float_base quaternions_from_rotation_vectors "
                "rotation_vectors_from_quaternions to_base_axes to_world_axes"
            ),
            "robot.frame": "Frame",
            "robot.inertia": "Inertia",
            "robot.kinematics": "link_poses",
            "robot.locking": "lock_joints",
            "robot.loops.closure": "Closure close_loops",
            "robot.modified_dh": "to_modified_dh",
            "robot.parts": "compute_friction",
            "robot.reading.catalog": "Catalog robots",
            "robot.reading.load": "load",
            "robot.robot": "Robot",
            "robot.toml_writer": "save_robot",
            "simulation.closed_loop": "ClosedLoop",
            "simulation.logged_reference": "LoggedReference reference_from_log",
            "simulation.mujoco_plant": "MujocoPlant",
            "simulation.plain_loop": "PlainLoop",
            "simulation.references": "FourierReference ReferenceTrajectory SampledReference default_reference",
            "simulation.result": "Simulation",
            "simulation.runs": "Runs",
            "simulation.sensors": "Sensor Sensors",
            "simulation.simulate": "simulate",
            "simulation.substeps": "with_smooth_friction",
            "simulation.variation": "Grasp ParameterChange Variation grasp",
            "viewing.view": "view",
            "viewing.viewer": "Viewer",
        },
        own=("__version__",),
    )
