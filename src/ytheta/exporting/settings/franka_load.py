"""The load as ``franka::Robot::setLoad`` and the ROS service ``franka_msgs/SetLoad`` take it.

Reference     libfranka, ``include/franka/robot.h``, ``Robot::setLoad(load_mass, F_x_Cload, load_inertia)``
Units         kg; m from the flange to the centre of mass; kg m^2 about the centre of mass, 3 x 3, column by column
Frame         the flange, which descriptions of Franka call ``panda_link8`` or ``fr3_link8``
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ytheta.exporting.settings.json_file import render_json
from ytheta.exporting.settings.payload import PayloadOptions, find_payload
from ytheta.exporting.source import ExportSource

Options = PayloadOptions
USUAL_ENDING = "link8"
UNITS = {"load_mass": "kg", "F_x_Cload": "m", "load_inertia": "kg m^2, column-major"}


def render(source: ExportSource, path: Path, *, options: PayloadOptions) -> Mapping[Path, bytes]:
    """Return the load as JSON; its keys are the arguments of ``setLoad``."""
    payload = find_payload(source.robot, options, USUAL_ENDING)
    values = {
        "load": payload.name,
        "flange": payload.flange,
        "load_mass": payload.mass,
        "F_x_Cload": list(payload.center),
        "load_inertia": np.array(payload.inertia).ravel(order="F").tolist(),
    }
    return {path: render_json(source, path, UNITS, values)}
