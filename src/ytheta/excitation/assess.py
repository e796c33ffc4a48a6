"""assess_trajectory: what a saved trajectory reveals, and whether it keeps all limits, at any speed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ytheta.arguments import check_kind, check_number, is_positive
from ytheta.excitation.assessment import assess
from ytheta.excitation.clearance.obstacle import Obstacle
from ytheta.excitation.constraints.joint_bounds import LimitInput, PositionInput
from ytheta.excitation.constraints.path_constraint import PathConstraint
from ytheta.excitation.earlier import ModelInput
from ytheta.excitation.problem import pose_problem
from ytheta.excitation.result import Excitation
from ytheta.excitation.robot_model import choose_parameters
from ytheta.excitation.surroundings import BoxInput
from ytheta.excitation.trajectories.trajectory import Trajectory
from ytheta.excitation.writing.coefficient_file import load_trajectory
from ytheta.logs.reading.read import LogInput
from ytheta.robot.floating import refuse_floating_base
from ytheta.robot.inertia import Inertia
from ytheta.robot.robot import Robot, check_is_robot


def assess_trajectory(
    robot: Robot,
    trajectory: Trajectory | str | Path,
    *,
    slow: float = 1.0,
    friction: Sequence[str] | None = (),
    rotor_inertia: bool = False,
    parameters: Sequence[str] | None = (),
    payload: float | Inertia | None = None,
    model: ModelInput | None = None,
    logs: Sequence[LogInput] = (),
    position: PositionInput = None,
    velocity: LimitInput = None,
    acceleration: LimitInput = None,
    jerk: LimitInput = None,
    effort: LimitInput = None,
    effort_margin: float = 0.1,
    self_collision: bool = True,
    clearance: float = 0.0,
    floor: float | None = None,
    obstacles: Sequence[Obstacle] = (),
    box: BoxInput = None,
    paths: Sequence[PathConstraint] = (),
    noise: LimitInput = None,
    rate: float = 100.0,
) -> Excitation:
    """Assess a trajectory as ``excite`` assesses its designs: what it reveals, and which limits it keeps.

    Parameters
    ----------
    robot            the robot; the trajectory must move exactly its actuated coordinates
    trajectory       a trajectory, or a TOML file of ``save_trajectory`` or ``ytheta excite``
    slow             the path is passed this many times as slowly; a number below 1 makes it faster

    All other parameters are those of ``excite``.
    """
    check_is_robot(robot)
    refuse_floating_base(robot, "the assessment of trajectories")
    form = "a Trajectory, or the name of the .toml file of one"
    check_kind("trajectory", trajectory, (Trajectory, str, Path), form)
    slow = check_number("slow", slow, "a positive number, such as 2 for half the speed", allow=is_positive)
    motion = trajectory if isinstance(trajectory, Trajectory) else load_trajectory(trajectory)
    problem = pose_problem(
        choose_parameters(
            robot, friction=friction, rotor_inertia=rotor_inertia, parameters=parameters, payload=payload, model=model
        ),
        logs=logs,
        position=position,
        velocity=velocity,
        acceleration=acceleration,
        jerk=jerk,
        effort=effort,
        effort_margin=effort_margin,
        self_collision=self_collision,
        clearance=clearance,
        floor=floor,
        obstacles=obstacles,
        box=box,
        paths=paths,
        noise=noise,
        rate=rate,
    )
    return assess(problem, motion.order_joints(robot.actuated).slow_down(slow), slow=slow)
