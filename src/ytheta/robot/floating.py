"""Robots with a floating base from robots with a fixed base, and the reverse; sensor joints.

A floating base is the child of a free joint, whose parent is the world. ``Robot`` explains its coordinates. A sensor
joint does not move, but adds six coordinates that are always zero; their torques are the wrench that it measures.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ytheta.conventions import BASE_COORDINATES
from ytheta.errors import InputError
from ytheta.robot.checks import make_unique
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Float, Matrix3, Vector3

WORLD = "world"  # name of the link that replaces the base as the first link
FREE_JOINT = "base_joint"
BASE_SENSOR = "base_sensor"


def float_base(robot: Robot) -> Robot:
    """Return this robot with a floating base.

    Its base becomes a moving link with parameters, at the end of a free joint from a new link, the world. The mounting
    becomes the home of the base. A base without mass that is called "world" already and carries one fixed joint, as in
    many URDF files, stays the world.
    """
    check_is_robot(robot)
    if robot.floating:
        raise InputError(f"the base of robot {robot.name!r} floats already; leave this option out")
    on_base = [joint for joint in robot.joints if joint.parent == robot.base.name]
    links, joints = list(robot.links), list(robot.joints)
    if robot.base.name == WORLD and robot.base.inertia.massless and [j.kind for j in on_base] == [JointKind.FIXED]:
        fixed = on_base[0]
        pose = robot.mounting @ fixed.placement @ fixed.seat
        joints[joints.index(fixed)] = Joint(fixed.name, JointKind.FREE, fixed.parent, fixed.child)
    else:
        pose = robot.mounting
        world = make_unique(WORLD, {link.name for link in links} | {marker.name for marker in robot.markers})
        name = make_unique(FREE_JOINT, {joint.name for joint in joints} | set(robot.moving))
        links.insert(0, Link(world))
        joints.insert(0, Joint(name, JointKind.FREE, world, robot.base.name))
    return replace(
        robot,
        links=tuple(links),
        joints=tuple(joints),
        mounting=IDENTITY,
        home=(*list_home(pose), *robot.home),
    )


def fix_base(robot: Robot) -> Robot:
    """Return this robot with its floating base fixed at its home."""
    check_is_robot(robot)
    if not robot.floating:
        return robot
    pose = find_home_pose(robot)
    joints = tuple(
        replace(joint, kind=JointKind.FIXED, placement=pose) if joint.kind is JointKind.FREE else joint
        for joint in robot.joints
    )
    return replace(
        robot,
        joints=joints,
        home=tuple((name, value) for name, value in robot.home if name not in BASE_COORDINATES),
        actuated=robot.actuated[len(BASE_COORDINATES) :],
    )


def add_wrench_sensor(robot: Robot, joint: str | None = None, *, frame: Frame = IDENTITY) -> Robot:
    """Return this robot with a fixed joint that measures the wrench that it transmits to its child.

    ``joint`` is the name of a fixed joint; None stands for a sensor between the ground and the base of the robot. All
    links behind the sensor keep their own parameters. ``frame`` is the frame in which the sensor measures, seen from
    the frame of the joint or, for the base, from that of the base link. The measured wrench is the one that the parent
    exerts on the child: force, and moment about the origin of this frame.
    """
    check_is_robot(robot)
    if joint is None:
        if robot.floating:
            raise InputError(f"the wrench on the floating base of robot {robot.name!r} needs no sensor; log it as such")
        world = make_unique(WORLD, {link.name for link in robot.links} | {marker.name for marker in robot.markers})
        name = make_unique(BASE_SENSOR, {each.name for each in robot.joints} | set(robot.moving))
        sensor = Joint(name, JointKind.SENSOR, world, robot.base.name, placement=frame, seat=frame.inverse())
        return replace(robot, links=(Link(world), *robot.links), joints=(sensor, *robot.joints))
    fixed = robot.joint(joint)
    if fixed.kind is not JointKind.FIXED:
        raise InputError(
            f"joint {joint!r} is {fixed.kind}, but a sensor is a fixed joint; split the link in front of or behind it "
            "by a fixed joint at the sensor"
        )
    sensor = replace(
        fixed,
        kind=JointKind.SENSOR,
        placement=fixed.placement @ frame,
        seat=frame.inverse() @ fixed.seat,
    )
    return replace(robot, joints=tuple(sensor if each.name == joint else each for each in robot.joints))


def find_home_pose(robot: Robot) -> Frame:
    """Return the home of a floating base, seen from the world."""
    home = dict(robot.home)
    base = [home.get(name, 0.0) for name in BASE_COORDINATES]
    if not any(base[3:]):
        return Frame.shift(*base[:3])
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation_matrices(np.array([base[3:]]))[0], base[:3]
    return Frame.from_matrix(matrix)


def find_floating_link(robot: Robot) -> str:
    """Return the name of the link that a free joint moves, which is the base of a robot that floats."""
    (free,) = (joint for joint in robot.joints if joint.kind is JointKind.FREE)
    return free.child


def take_floating_part(robot: Robot) -> Robot:
    """Return what moves of a robot with a floating base, with the floating link as its base; the world is left out."""
    inside = {find_floating_link(robot)}
    for joint in robot.joints:  # parents come before children
        if joint.parent in inside:
            inside.add(joint.child)
    return replace(
        robot,
        links=tuple(link for link in robot.links if link.name in inside),
        joints=tuple(joint for joint in robot.joints if joint.parent in inside),
        markers=tuple(marker for marker in robot.markers if marker.link in inside),
        collision=tuple(shape for shape in robot.collision if shape.link in inside),
        home=tuple((name, value) for name, value in robot.home if name not in BASE_COORDINATES),
        actuated=robot.actuated[len(BASE_COORDINATES) :],
    )


def list_home(pose: Frame) -> tuple[tuple[str, float], ...]:
    """Return the home of a base with this pose in the world: the coordinates that are not zero, by name."""
    matrix = pose.matrix
    values = (*matrix[:3, 3].tolist(), *rotation_vector_from_matrix(matrix[:3, :3]).tolist())
    return tuple((name, value) for name, value in zip(BASE_COORDINATES, values, strict=True) if value != 0.0)


def refuse_floating_base(robot: Robot, purpose: str) -> None:
    """Raise InputError if the base floats or if there are sensor joints, for functions that are made for neither.

    ``purpose`` is the subject of the sentence, such as "a controller".
    """
    if robot.floating:
        raise InputError(
            f"robot {robot.name!r} has a floating base, which {purpose} does not support; load it with --fix-base "
            "(fix_base=True), which fixes the base at its home"
        )
    if robot.sensor_coordinates:
        sensor = robot.sensor_coordinates[0].rpartition("_")[0]
        raise InputError(
            f"robot {robot.name!r} has a sensor joint, {sensor!r}, which {purpose} does not support; make it a fixed "
            "joint"
        )


# The motion of a floating base: orientations, twists, and the rates of its coordinates.
#
# Notation      code   meaning                                                        axes
#               p, r   position of the base and rotation vector of its axes           world
#               R      rotation of the base, exp(r)                                   world
#               v, w   velocity of the origin and angular velocity, the twist         base
#               J      right Jacobian of the rotation vector: w = J(r) dr/dt          base
#
# A rotation vector has the direction of the axis and the length of the angle. It is unique up to half a turn, and J is
# regular below a whole turn, where dr/dt is not determined by w any more.


SMALL_ANGLE = 1e-2  # rad; below it, J comes from its power series, whose first omitted term is smaller than 1e-13
# Largest rotation vector of a floating base (rad); beyond it, its rates are too sensitive to errors. Chosen on:
# reasoning, since they are not determined at a whole turn.
MAX_ROTATION = 1.9 * np.pi


def rotation_vectors_from_quaternions(quaternions: Float[np.ndarray, "samples 4"]) -> Float[np.ndarray, "samples 3"]:
    """Return rotation vectors of at most half a turn. Quaternions are x, y, z, w, as in Pinocchio, of any length."""
    from scipy.spatial.transform import Rotation  # imported here, since few robots need it

    values = np.asarray(quaternions, dtype=float)
    if values.ndim != 2 or values.shape[1] != 4 or not np.isfinite(values).all() or not values.any(axis=1).all():
        raise InputError("orientations must be rows of four finite numbers x, y, z, w that are not all zero")
    vectors: Float[np.ndarray, "samples 3"] = Rotation.from_quat(values).as_rotvec()
    return vectors


def quaternions_from_rotation_vectors(vectors: Float[np.ndarray, "samples 3"]) -> Float[np.ndarray, "samples 4"]:
    """Return unit quaternions x, y, z, w, as in Pinocchio."""
    from scipy.spatial.transform import Rotation

    quaternions: Float[np.ndarray, "samples 4"] = Rotation.from_rotvec(np.asarray(vectors, dtype=float)).as_quat()
    return quaternions


def rotation_matrices(vectors: Float[np.ndarray, "samples 3"]) -> Float[np.ndarray, "samples 3 3"]:
    """Return R = exp(K) = 1 + a K + b K² of every rotation vector r, with K x = r × x.

    The factors are a = sin(angle) / angle and b = ½ (sin(angle / 2) / (angle / 2))².
    """
    r = np.asarray(vectors, dtype=float)
    squared_angle = np.sum(r * r, axis=1)[:, None, None]
    angle = np.sqrt(squared_angle)
    a, b = np.sinc(angle / np.pi), 0.5 * np.sinc(0.5 * angle / np.pi) ** 2  # np.sinc(x) is sin(pi x) / (pi x)
    x, y, z = r.T
    zero = np.zeros(len(r))
    skew = np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]).transpose(2, 0, 1)
    return np.eye(3) + a * skew + b * (r[:, :, None] * r[:, None, :] - squared_angle * np.eye(3))


def rotation_vector_from_matrix(matrix: Matrix3) -> Vector3:
    """Return the rotation vector of at most half a turn of one rotation, without loading SciPy.

    The unit quaternion follows from the largest of its components, so that nothing is divided by a small number.
    """
    trace = float(np.trace(matrix))
    k = int(np.argmax([*np.diag(matrix), trace]))
    quaternion = np.zeros(4)  # x, y, z, w
    if k == 3:
        turn = matrix - matrix.T
        quaternion[:] = turn[2, 1], turn[0, 2], turn[1, 0], 1.0 + trace
    else:
        i, j = (k + 1) % 3, (k + 2) % 3
        quaternion[k] = 1.0 - trace + 2.0 * matrix[k, k]
        quaternion[i], quaternion[j] = matrix[i, k] + matrix[k, i], matrix[j, k] + matrix[k, j]
        quaternion[3] = matrix[j, i] - matrix[i, j]
    if quaternion[3] < 0.0:
        quaternion = -quaternion
    sine = float(np.linalg.norm(quaternion[:3]))
    angle = 2.0 * np.arctan2(sine, quaternion[3])
    vector: Vector3 = quaternion[:3] * (angle / sine) if sine else np.zeros(3)
    return vector


def unwrap_rotation_vectors(vectors: Float[np.ndarray, "samples 3"]) -> Float[np.ndarray, "samples 3"]:
    """Return rotation vectors of the same orientations that change as little as possible from sample to sample.

    Rotation vectors of at most half a turn jump if the angle passes half a turn. The results may be longer.
    """
    result = np.array(vectors, dtype=float)
    for k in range(1, len(result)):
        angle = float(np.linalg.norm(result[k]))
        if angle == 0.0:
            continue
        axis = result[k] / angle
        turns = round((float(axis @ result[k - 1]) - angle) / (2.0 * np.pi))
        result[k] = (angle + 2.0 * np.pi * turns) * axis
    return result


def to_base_axes(
    vectors: Float[np.ndarray, "samples 3"], q: Float[np.ndarray, "samples coordinates"]
) -> Float[np.ndarray, "samples 3"]:
    """Return vectors in base axes, given in world axes; q begins with the coordinates of the base."""
    return np.einsum("sji,sj->si", rotation_matrices(q[:, 3:6]), vectors)


def to_world_axes(
    vectors: Float[np.ndarray, "samples 3"], q: Float[np.ndarray, "samples coordinates"]
) -> Float[np.ndarray, "samples 3"]:
    """Return vectors in world axes, given in base axes; q begins with the coordinates of the base."""
    return np.einsum("sij,sj->si", rotation_matrices(q[:, 3:6]), vectors)


def compute_twist(
    q: Float[np.ndarray, "samples 6"],
    rate: Float[np.ndarray, "samples 6"],
    acceleration: Float[np.ndarray, "samples 6"],
) -> tuple[Float[np.ndarray, "samples 6"], Float[np.ndarray, "samples 6"]]:
    """Return the twist (v, w) of the base and its derivative from its coordinates and their two derivatives."""
    r, rd, rdd = q[:, 3:], rate[:, 3:], acceleration[:, 3:]
    check_rotation(r)
    w = _apply_jacobian(r, rd)
    wd = _apply_jacobian(r, rdd) + _apply_jacobian_rate(r, rd)
    v = to_base_axes(rate[:, :3], q)
    vd = to_base_axes(acceleration[:, :3], q) - np.cross(w, v)
    return np.hstack([v, w]), np.hstack([vd, wd])


def compute_coordinate_rates(
    q: Float[np.ndarray, "samples 6"], twist: Float[np.ndarray, "samples 6"]
) -> Float[np.ndarray, "samples 6"]:
    """Return the derivatives of the coordinates of the base from its twist."""
    check_rotation(q[:, 3:])
    jacobians = np.stack([_apply_jacobian(q[:, 3:], np.broadcast_to(e, (len(q), 3))) for e in np.eye(3)], axis=2)
    rates = np.linalg.solve(jacobians, twist[:, 3:, None])[:, :, 0]
    return np.hstack([to_world_axes(twist[:, :3], q), rates])


def check_rotation(vectors: Float[np.ndarray, "samples 3"]) -> None:
    """Raise InputError if rotation vectors come so near to a whole turn that their rates are not determined."""
    angles = np.linalg.norm(vectors, axis=1)
    if len(angles) and angles.max() > MAX_ROTATION:
        raise InputError(
            f"the base is turned by {angles.max():.3g} rad in row {int(angles.argmax())}; rotation vectors have no "
            "rate at a whole turn, so split the log before the base has turned that far, or turn the world frame"
        )


def _apply_jacobian(
    r: Float[np.ndarray, "samples 3"], x: Float[np.ndarray, "samples 3"]
) -> Float[np.ndarray, "samples 3"]:
    """J(r) x = x - a r × x + b r × (r × x), with a = (1 - cos t) / t², b = (t - sin t) / t³ and t = |r|."""
    a, b, _, _ = _compute_coefficients(r)
    rx = np.cross(r, x)
    return x - a * rx + b * np.cross(r, rx)


def _apply_jacobian_rate(
    r: Float[np.ndarray, "samples 3"], rd: Float[np.ndarray, "samples 3"]
) -> Float[np.ndarray, "samples 3"]:
    """The time derivative of J(r), times rd."""
    _, b, a_rate, b_rate = _compute_coefficients(r)
    s = np.sum(r * rd, axis=1, keepdims=True)  # t dt/dt
    rx = np.cross(r, rd)
    rrx = np.cross(r, rx)
    return -a_rate * s * rx + b_rate * s * rrx + b * np.cross(rd, rx)


def _compute_coefficients(r: Float[np.ndarray, "samples 3"]) -> tuple[Float[np.ndarray, "samples 1"], ...]:
    """Return a, b of ``_apply_jacobian``, and their derivatives by t, divided by t."""
    t2 = np.sum(r * r, axis=1, keepdims=True)
    small = t2 < SMALL_ANGLE**2
    t = np.sqrt(np.where(small, 1.0, t2))
    sin, cos = np.sin(t), np.cos(t)
    a, b = (1.0 - cos) / t**2, (t - sin) / t**3
    a_rate, b_rate = (t * sin - 2.0 * (1.0 - cos)) / t**4, (3.0 * sin - t * cos - 2.0 * t) / t**5
    series = (
        1.0 / 2.0 - t2 / 24.0 + t2**2 / 720.0,
        1.0 / 6.0 - t2 / 120.0 + t2**2 / 5040.0,
        -1.0 / 12.0 + t2 / 180.0,
        -1.0 / 60.0 + t2 / 1260.0,
    )
    a, b, a_rate, b_rate = (
        np.where(small, few, full) for few, full in zip(series, (a, b, a_rate, b_rate), strict=True)
    )
    return a, b, a_rate, b_rate
