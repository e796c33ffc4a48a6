"""Show a robot in the browser, and play its motion."""

from __future__ import annotations

from pathlib import Path

from ytheta.arguments import check_number
from ytheta.errors import InputError
from ytheta.excitation.clearance.estimated_capsules import complete_capsules
from ytheta.excitation.clearance.link_capsules import find_link_capsules
from ytheta.excitation.trajectories import Trajectory
from ytheta.logs.reading.read import GainInput, LogInput, LogReadingOptions, MappingInput, RowsInput
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.viewing.motion import read_designed_motion, read_logged_motion
from ytheta.viewing.scene import make_scene
from ytheta.viewing.viewer import Viewer, start_viewer

DEFAULT_PORT = 8080
MAX_PORT = 65535


def view(
    robot: Robot,
    *,
    log: LogInput | None = None,
    mapping: MappingInput = None,
    degrees: bool = False,
    rows: RowsInput = None,
    rate: float | None = None,
    gain: GainInput = None,
    topic: str | None = None,
    trajectory: str | Path | Trajectory | None = None,
    port: int = DEFAULT_PORT,
) -> Viewer:
    """Show a robot with inertia ellipsoids and collision capsules; return the server, which runs until ``stop``.

    Parameters
    ----------
    robot       the robot, or an identified model that was loaded
    log         a log to play; ``read_log`` describes what it can be
    mapping     the meaning of the columns of the log
    degrees, rows, rate, gain, topic
                how the log is read, as for ``read_log``
    trajectory  a designed trajectory to play: the TOML file of ``excite``, or its Trajectory
    port        port of the server; the next free one if it is in use. Only this machine can connect to it
    """
    check_is_robot(robot)
    port = int(check_number("port", port, "a port from 1 to 65535", allow=lambda value: 1 <= value <= MAX_PORT))
    if log is not None and trajectory is not None:
        raise InputError("a log and a trajectory cannot be played at the same time; give one of them")
    options = LogReadingOptions(degrees=degrees, rows=rows, rate=rate, gain=gain, topic=topic)
    if log is None:
        options.refuse_without_log(mapping)
    scene = make_scene(robot)
    motion = None
    if log is not None:
        motion = read_logged_motion(robot, log, mapping, options)
    elif trajectory is not None:
        motion = read_designed_motion(robot, trajectory)
    shapes = complete_capsules(robot, find_link_capsules(robot))
    findings = (*shapes.findings, *(() if motion is None else motion.findings))
    return start_viewer(scene, shapes.capsules, motion, port=port, findings=findings)
