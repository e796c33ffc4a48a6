"""Conventions: order and names of parameters, gravity, units. Other conventions are converted when files are read.

Units       SI and radians.
Inertia     ten parameters per link, in the link frame and in the order of Pinocchio: mass, first moments, inertia about
            the *origin* of the link frame. Products of inertia are tensor entries (Ixy = -integral of x y dm).
Joints      rotor inertia reflected to the joint, viscous friction, Coulomb friction, constant offset; then, only if the
            drive has these laws, friction that grows with the root of the speed, and load-dependent friction.
Base        a floating base has six coordinates before those of the joints. Its velocities are its twist (v, w) in its
            own axes, as for the free-flyer of Pinocchio, and its torques are the wrench (f, n) in the same axes.
Forces      one factor k for each declared force, such as a spring or a counterbalance.
Names       ``<link>.mx``, ``<joint>.fv``, ``<force>.k``. Input and output are matched by name, never by position.
"""

from __future__ import annotations

LINK_PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
JOINT_PARAMETERS = ("Ia", "fv", "fc", "fo")  # of every drive
OPTIONAL_JOINT_PARAMETERS = ("fs", "fl")  # of drives whose ``root`` or ``load`` is not None; they follow fo
ALL_JOINT_PARAMETERS = (*JOINT_PARAMETERS, *OPTIONAL_JOINT_PARAMETERS)
FORCE_PARAMETER = "k"

# Rows and columns of the inertia tensor in the order of LINK_PARAMETERS[4:].
INERTIA_ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))

# Coordinates of a floating base, in this order before those of the joints: position and rotation vector in the world.
BASE_COORDINATES = ("base_x", "base_y", "base_z", "base_rx", "base_ry", "base_rz")

# Components of the wrench that a sensor joint measures; its coordinates are called <joint>_fx … and are always zero.
WRENCH_COMPONENTS = ("fx", "fy", "fz", "nx", "ny", "nz")

STANDARD_GRAVITY = (0.0, 0.0, -9.81)  # m/s^2

# Readers replace an angle within this tolerance (rad) of a multiple of pi/6 by that multiple. Chosen on: files that
# round pi/2 to 1.5708.
SNAP = 1e-4

# Gap (m or rad) up to which a loop counts as closed; readers of files with few digits use a larger one. Chosen on:
# reasoning, far below the clearance of any mechanism, far above rounding errors.
CLOSURE_TOLERANCE = 1e-9

PAGE_SUFFIXES = (".html", ".htm")  # file name extensions of reports
