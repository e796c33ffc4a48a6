"""How exported functions receive the orientation of a floating base.

rotation-vector  q begins with position and rotation vector, as everywhere in ytheta
quaternion       q begins with position and quaternion x, y, z, w, as in Pinocchio; the quaternion may have any length
gravity          q has only the joints; a first input g is the gravitational acceleration in base axes

Neither the position nor the heading of the base changes the dynamics: all they need is gravity in base axes. An
inertial measurement unit estimates it directly, and a quaternion gives it without sines.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ytheta.conventions import BASE_COORDINATES
from ytheta.dynamics.graph_inputs import GraphInputs
from ytheta.dynamics.mechanism import exact_array
from ytheta.dynamics.motion import scalars
from ytheta.dynamics.symbolic_model import SymbolicModel
from ytheta.dynamics.vectors import array, cross, inner
from ytheta.native.graph import Input
from ytheta.shapes import AnyVector3

if TYPE_CHECKING:
    import casadi

ROTATION_VECTOR, QUATERNION, GRAVITY = "rotation-vector", "quaternion", "gravity"
BASE_ORIENTATIONS = (ROTATION_VECTOR, QUATERNION, GRAVITY)
POSITION, BASE = slice(0, 3), len(BASE_COORDINATES)


def orient_base(inputs: GraphInputs, base_orientation: str) -> GraphInputs:
    """Return the inputs of a graph of a floating robot with another orientation of the base than a rotation vector."""
    import casadi

    if base_orientation == ROTATION_VECTOR:
        return inputs
    (entry, x), *others = inputs.symbols
    joints = x[BASE:]
    if base_orientation == QUATERNION:
        quaternion = casadi.SX.sym("quaternion", 4)
        gravity = _turn_back(quaternion, inputs.loops.mechanism.gravity)
        position = casadi.vertcat(x[POSITION], quaternion, joints)
        first = [(Input(entry.name, position.numel()), position)]
    else:
        g = casadi.SX.sym("g", 3)
        gravity = scalars(g)
        first = [(Input("g", 3), g), (Input(entry.name, joints.numel()), joints)]
    mechanism = replace(inputs.loops.mechanism, gravity=gravity)
    # Gravity is in base axes already, so that the base need not be turned.
    loops = replace(inputs.loops, mechanism=mechanism, base_rotation=exact_array(np.eye(3).tolist()))
    return replace(inputs, model=SymbolicModel(loops, inputs.model.theta), symbols=(*first, *others))


def _turn_back(quaternion: casadi.SX, vector: AnyVector3) -> AnyVector3:
    """Return a vector in base axes, given in world axes: v - (2/s) (w u × v - u × (u × v)), s = |quaternion|^2."""
    *u, w = scalars(quaternion)
    axis = array(u)
    product = cross(axis, vector)
    factor = 2 / (inner(axis, axis) + w * w)
    return vector - (product * array([w]) - cross(axis, product)) * array([factor])
