"""Viewer: a scene in the browser, served by viser on the loopback interface, for its own page only.

Nodes of the scene: ``/robot/LINK`` is the frame of a link; below it are ``ellipsoid``, ``capsule-K`` and ``bone-K``.
Sliders move the joints. A motion is played in real time or at another speed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import Rotation

from ytheta.errors import InputError, MissingExtraError
from ytheta.excitation.clearance.link_capsules import Capsule, LinkCapsule
from ytheta.findings import Finding
from ytheta.robot.frame import Frame
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Int, PerJoint
from ytheta.viewing.motion import PICTURE_RATE, PlayedMotion
from ytheta.viewing.private_server import HOST, start_private_server
from ytheta.viewing.scene import Pose, SamplesByActuated, Scene

if TYPE_CHECKING:
    import viser

ELLIPSOID_COLOUR, CAPSULE_COLOUR, BONE_COLOUR = (33, 102, 172), (217, 72, 15), (60, 70, 84)
SUSPECT_COLOUR = (179, 38, 30)  # of the ellipsoid of an inertia that no rigid body has
MIN_SEMI_AXIS = 1e-3  # m; flat bodies are drawn with this thickness
AXES_SHARE, BONE_SHARE = 0.08, 0.006  # of the size of the robot
CAMERA, CAMERA_TARGET = (1.3, -1.6, 0.9), (0.15, 0.15, 0.2)  # seen from the base, in sizes of the robot
SLIDER_STEPS = 1000
SPEEDS = ("0.25", "0.5", "1", "2", "5")


@dataclass(eq=False)
class Viewer:
    """A running server; ``stop`` ends it.

    Attributes
    ----------
    scene     what is drawn
    motion    what is played; None without a log or a trajectory
    server    the server of viser
    token     the part of the address without which nobody can connect
    Q         actuated coordinates that are shown
    findings  findings about the collision shapes and the log
    """

    scene: Scene
    motion: PlayedMotion | None
    server: viser.ViserServer
    token: str
    Q: PerJoint
    findings: tuple[Finding, ...] = ()
    _sliders: dict[int, Any] = field(default_factory=dict)
    _frames: dict[str, Any] = field(default_factory=dict)
    _parts: dict[str, list[Any]] = field(default_factory=dict)
    _clock: Any = None
    _playing: Any = None
    _speed: Any = None
    _message: Any = None
    _is_moving_sliders: bool = False

    @property
    def address(self) -> str:
        """The address to open in a browser of this machine."""
        return f"http://{HOST}:{self.server.get_port()}/{self.token}"

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes of the robot in the scene."""
        return tuple(each.name for each in chain(self._frames.values(), *self._parts.values()))

    def get_pose(self, link: str) -> Pose:
        """Return the pose of a link as it is drawn."""
        frame = self._frames[link]
        pose = np.eye(4)
        pose[:3, :3] = Rotation.from_quat(np.asarray(frame.wxyz), scalar_first=True).as_matrix()
        pose[:3, 3] = frame.position
        return pose

    def show(self, Q: PerJoint) -> None:
        """Draw the robot at actuated coordinates; if its loops cannot close there, it stays where it is."""
        (q,) = self.scene.compute_joint_positions(np.asarray(Q, dtype=float)[None])
        if not np.isfinite(q).all():
            self._message.content = "The loops cannot close at these positions."
            return
        self._message.content = ""
        self.Q = np.array(Q, dtype=float)
        with self.server.atomic():
            for link, pose in self.scene.compute_poses(q).items():
                self._frames[link].wxyz = _to_quaternion(pose)
                self._frames[link].position = pose[:3, 3]

    def show_time(self, t: float) -> None:
        """Draw the sample of the motion at a time, and move the sliders with it."""
        assert self.motion is not None
        self.show(self.motion.q[self.motion.find_sample(t)])
        self._is_moving_sliders = True
        try:
            for index, slider in self._sliders.items():
                slider.value = float(np.clip(self.Q[index], slider.min, slider.max))
            self._clock.value = float(np.clip(t, 0.0, self.motion.seconds))
        finally:
            self._is_moving_sliders = False

    def run(self) -> None:
        """Play the motion until an exception such as KeyboardInterrupt ends it."""
        before = time.monotonic()
        while True:
            time.sleep(1.0 / PICTURE_RATE)
            now = time.monotonic()
            if self.motion is not None and self._playing.value:
                t = self._clock.value + (now - before) * float(self._speed.value)
                self.show_time(t if t <= self.motion.seconds else 0.0)
            before = now

    def stop(self) -> None:
        """End the server."""
        with redirect_stdout(StringIO()):
            self.server.stop()


def start_viewer(
    scene: Scene,
    capsules: Sequence[LinkCapsule],
    motion: PlayedMotion | None,
    *,
    port: int,
    findings: tuple[Finding, ...] = (),
) -> Viewer:
    """Start a server on the loopback interface; it takes the next free port if this one is in use."""
    viser = _import_viser()
    with redirect_stdout(StringIO()):  # viser prints its own address
        server, token = start_private_server(viser, port=port, label=scene.robot.name)
    try:
        server.gui.configure_theme(show_share_button=False)  # it has no effect, see private_server
        viewer = Viewer(scene, motion, server, token, _find_start(scene, motion), findings)
        _add_robot(viewer, capsules)
        _add_controls(viewer)
        viewer.show(viewer.Q)
    except BaseException:
        with redirect_stdout(StringIO()):
            server.stop()
        raise
    return viewer


def _import_viser() -> Any:
    try:
        import viser
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"robots are shown with {error.name}, which is not installed; run: pip install 'ytheta[view]'"
        ) from None
    return viser


def _find_start(scene: Scene, motion: PlayedMotion | None) -> PerJoint:
    """Return the first sample of the motion, or home without one."""
    if motion is not None:
        return motion.q[0]
    robot = scene.robot
    home = dict(zip(robot.coordinates, robot.home_coordinates.tolist(), strict=True))
    return np.array([home[name] for name in robot.actuated])


def _add_robot(viewer: Viewer, capsules: Sequence[LinkCapsule]) -> None:
    scene, draw = viewer.scene, viewer.server.scene
    (q,) = scene.compute_joint_positions(viewer.Q[None])
    if not np.isfinite(q).all():
        raise InputError(f"the loops of robot {scene.robot.name!r} cannot close at the first pose; correct its home")
    poses = scene.compute_poses(q)
    size = max(_measure_size(scene, poses), 0.1)
    draw.set_up_direction("+z")
    draw.add_grid("/ground", width=3.0 * size, height=3.0 * size, cell_size=0.1, section_size=0.5)
    parts: dict[str, list[Any]] = {"ellipsoids": [], "capsules": [], "bones": [], "frames": []}
    for link in poses:
        node = f"/robot/{_make_node_name(link)}"
        viewer._frames[link] = draw.add_frame(
            node, axes_length=AXES_SHARE * size, axes_radius=0.08 * AXES_SHARE * size, show_axes=False
        )
        if ellipsoid := scene.ellipsoids.get(link):
            parts["ellipsoids"].append(
                draw.add_icosphere(
                    f"{node}/ellipsoid",
                    color=ELLIPSOID_COLOUR if ellipsoid.consistent else SUSPECT_COLOUR,
                    opacity=0.5,
                    scale=tuple(np.maximum(ellipsoid.semi_axes, MIN_SEMI_AXIS).tolist()),
                    wxyz=Rotation.from_matrix(ellipsoid.axes).as_quat(scalar_first=True),
                    position=ellipsoid.center,
                )
            )
        bones = [bone for bone in scene.bones if bone.link == link]
        for k, bone in enumerate(bones, start=1):
            points = np.array([[bone.start, bone.end]])
            handle = draw.add_line_segments(f"{node}/bone-{k}", points, BONE_COLOUR, thickness=BONE_SHARE * size)
            parts["bones"].append(handle)
        for k, each in enumerate((each for each in capsules if each.link == link), start=1):
            points, faces = make_capsule_mesh(each.capsule)
            name = f"{node}/capsule-{k}"
            handle = draw.add_mesh_simple(name, points, faces, color=CAPSULE_COLOUR, opacity=0.25, side="double")
            parts["capsules"].append(handle)
    viewer._parts = parts
    base = poses[scene.base][:3, 3]
    viewer.server.initial_camera.position = base + size * np.array(CAMERA)
    viewer.server.initial_camera.look_at = base + size * np.array(CAMERA_TARGET)


def _add_controls(viewer: Viewer) -> None:
    gui, robot = viewer.server.gui, viewer.scene.robot
    gui.set_panel_label(robot.name)
    viewer._message = gui.add_markdown("")
    with gui.add_folder("Show"):
        for kind, handles in viewer._parts.items():
            if not handles and kind != "frames":
                continue
            _on_update(gui.add_checkbox(kind, initial_value=kind != "frames"), _make_switch(viewer, kind))
    if viewer.motion is not None:
        with gui.add_folder("Motion"):
            viewer._playing = gui.add_checkbox("play", initial_value=True)
            seconds = max(viewer.motion.seconds, 1e-3)
            viewer._clock = gui.add_slider("time / s", 0.0, seconds, seconds / SLIDER_STEPS, 0.0)
            viewer._speed = gui.add_dropdown("speed", SPEEDS, initial_value="1")
            _on_update(viewer._clock, lambda: _follow_clock(viewer))
    with gui.add_folder("Joints"):
        shown = viewer.Q[None] if viewer.motion is None else viewer.motion.q
        for each in find_slider_ranges(robot, shown):
            start = float(np.clip(viewer.Q[each.index], each.lower, each.upper))
            step = (each.upper - each.lower) / SLIDER_STEPS
            slider = gui.add_slider(each.label, each.lower, each.upper, step, start)
            viewer._sliders[each.index] = slider
            _on_update(slider, lambda: _follow_sliders(viewer))


def _on_update(handle: Any, act: Callable[[], None]) -> None:
    handle.on_update(lambda _: act())


def _follow_sliders(viewer: Viewer) -> None:
    if viewer._is_moving_sliders:
        return
    if viewer._playing is not None:
        viewer._playing.value = False  # the user takes over
    target, sliders = viewer.Q.copy(), dict(viewer._sliders)
    target[list(sliders)] = [slider.value for slider in sliders.values()]
    viewer.show(target)


def _follow_clock(viewer: Viewer) -> None:
    if not viewer._is_moving_sliders and not viewer._playing.value:
        viewer.show_time(viewer._clock.value)


def _make_switch(viewer: Viewer, kind: str) -> Callable[[], None]:
    """Return a function that shows what is hidden and hides what is shown."""

    def switch() -> None:
        if kind == "frames":
            for frame in viewer._frames.values():
                frame.show_axes = not frame.show_axes
        for handle in viewer._parts[kind]:
            handle.visible = not handle.visible

    return switch


def _measure_size(scene: Scene, poses: dict[str, Pose]) -> float:
    """Return the distance of the farthest end of a link from the base, about the size of the robot at this pose."""
    ends = [poses[bone.link] @ np.append(bone.end, 1.0) for bone in scene.bones]
    base = poses[scene.base][:3, 3]
    return max((float(np.linalg.norm(end[:3] - base)) for end in ends), default=1.0)


def _make_node_name(link: str) -> str:
    """Return the name of a link without the slash, which separates nodes."""
    return link.replace("/", "∕")


def _to_quaternion(pose: Pose) -> Float[np.ndarray, "4"]:
    return Rotation.from_matrix(pose[:3, :3]).as_quat(scalar_first=True)


# Sliders of the coordinates that can be moved by hand, and their ranges.


FREE_TURN = math.pi  # rad; range of a slider without limits
FREE_STROKE = 1.0  # m
MIN_RANGE = 1e-3  # rad or m


@dataclass(frozen=True)
class SliderRange:
    """The range of the slider of an actuated coordinate, the one with this index."""

    index: int
    label: str
    lower: float
    upper: float


def find_slider_ranges(robot: Robot, shown: SamplesByActuated) -> Iterator[SliderRange]:
    """Yield the limits of each coordinate, extended by the positions that are shown.

    Coordinates without limits make one turn or one metre. Those of a force-torque sensor, which cannot move, have no
    slider.
    """
    lengths = {*robot.prismatic_joints, *robot.base_coordinates[:3]}
    for k, (name, limits) in enumerate(zip(robot.actuated, robot.actuated_limits, strict=True)):
        if name in robot.sensor_coordinates:
            continue
        free, unit = (FREE_STROKE, "m") if name in lengths else (FREE_TURN, "rad")
        lower = limits.lower if math.isfinite(limits.lower) else -free
        upper = limits.upper if math.isfinite(limits.upper) else free
        low, high = min(lower, float(shown[:, k].min())), max(upper, float(shown[:, k].max()))
        yield SliderRange(k, f"{name} / {unit}", low, high if high > low else low + MIN_RANGE)


# Triangles of a capsule: two half-spheres and the cylinder between them.


SECTORS, RINGS = 20, 6  # around the axis, and from the equator of a half-sphere to its pole


def make_capsule_mesh(capsule: Capsule) -> tuple[Float[np.ndarray, "points 3"], Int[np.ndarray, "triangles 3"]]:
    """Return corners and triangles of the surface of a capsule, in its own frame; normals point outwards."""
    latitude = np.linspace(0.0, 0.5 * np.pi, RINGS + 1)
    rings = np.concatenate([-latitude[::-1], latitude])  # two equators, one for each end of the cylinder
    heights = capsule.radius * np.sin(rings) + np.repeat([-0.5, 0.5], RINGS + 1) * capsule.length
    longitude = 2.0 * np.pi * np.arange(SECTORS) / SECTORS
    circle = capsule.radius * np.cos(rings)[:, None, None] * np.stack([np.cos(longitude), np.sin(longitude)], axis=-1)
    points = np.concatenate([circle, np.broadcast_to(heights[:, None, None], (*circle.shape[:2], 1))], axis=-1)
    ring, sector = (each.ravel() for each in np.mgrid[: len(rings) - 1, :SECTORS])
    a, b = ring * SECTORS + sector, ring * SECTORS + (sector + 1) % SECTORS
    faces = np.concatenate([np.stack([a, b, b + SECTORS], axis=1), np.stack([a, b + SECTORS, a + SECTORS], axis=1)])
    start, end = capsule.ends
    rotation = np.eye(3)
    if not capsule.is_sphere:
        x, y, z = ((end - start) / capsule.length).tolist()
        rotation = Frame.align_z((x, y, z)).matrix[:3, :3]
    return points.reshape(-1, 3) @ rotation.T + 0.5 * (start + end), faces
