"""The viewer: nodes of the scene, poses as drawn, loopback only, sliders and time."""

from __future__ import annotations

import socket
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import ytheta as yt
from tests.support.pinocchio_peer import peer
from tests.support.ports import find_free_port
from ytheta.errors import InputError, MissingExtraError
from ytheta.viewing.viewer import Viewer

LISTENING = "0A"  # TCP_LISTEN

pytest.importorskip("viser", reason="viser is not installed (pip install 'ytheta[view]')")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of websockets, inside viser


@pytest.fixture
def viewer() -> Iterator[Viewer]:
    t = np.arange(300) / 100.0
    q = np.stack([np.sin(t + k) * 0.3 for k in range(7)], axis=1) - np.eye(7)[3] * 1.5
    started = yt.view(yt.load("panda"), log={"t": t, "q": q}, port=find_free_port())
    try:
        yield started
    finally:
        started.stop()


def test_the_scene_has_all_parts(viewer: Viewer) -> None:
    robot = yt.load("panda").merged
    expected = {f"/robot/{link.name}" for link in robot.links}
    expected |= {f"/robot/{link.name}/ellipsoid" for link in robot.links if link.inertia.mass > 0.0}
    assert expected <= set(viewer.nodes)
    assert {"/robot/panda_link1/capsule-1", "/robot/panda_link3/bone-1"} <= set(viewer.nodes)
    assert "/robot/link9" not in viewer.nodes


def test_frames_are_drawn_where_the_links_are(viewer: Viewer) -> None:
    robot = yt.load("panda").merged
    Q = np.array([0.3, -0.5, 0.2, -1.7, 0.4, 1.1, -0.6])
    for target in (viewer.Q, Q):
        viewer.show(target)
        poses = yt.link_poses(robot, target)
        for link in robot.links:
            np.testing.assert_allclose(viewer.get_pose(link.name), robot.mounting.matrix @ poses[link.name], atol=1e-6)
    twin = yt.link_poses(robot, Q + 0.1)["panda_link7"]
    assert abs(viewer.get_pose("panda_link7") - twin).max() > 1e-2


def test_time_moves_robot_and_sliders(viewer: Viewer) -> None:
    assert viewer.motion is not None
    viewer.show_time(2.0)
    np.testing.assert_allclose(viewer.Q, viewer.motion.q[viewer.motion.find_sample(2.0)])
    before = viewer.get_pose("panda_link7")
    viewer.show_time(0.5)
    assert abs(viewer.get_pose("panda_link7") - before).max() > 1e-3


def find_listening_addresses(port: int) -> list[str]:
    """Return the addresses on which a port listens, from the tables of the Linux kernel."""
    found = []
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        rows = table.read_text().splitlines()[1:] if table.exists() else []
        for local, state in ((row.split()[1], row.split()[3]) for row in rows):
            address, _, number = local.partition(":")
            if state == LISTENING and int(number, 16) == port:
                raw = bytes.fromhex(address)
                found.append(socket.inet_ntoa(raw[::-1]) if len(raw) == 4 else address)
    return found


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="listening addresses are read from /proc of Linux")
def test_listening_addresses_are_found() -> None:
    """The twin: a server that every machine can reach."""
    with socket.create_server(("0.0.0.0", 0)) as server:
        assert find_listening_addresses(server.getsockname()[1]) == ["0.0.0.0"]


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="listening addresses are read from /proc of Linux")
def test_only_this_machine_can_connect(viewer: Viewer) -> None:
    assert find_listening_addresses(viewer.server.get_port()) == ["127.0.0.1"]
    with urllib.request.urlopen(viewer.address, timeout=5.0) as page:
        assert page.status == 200


def test_robots_with_loops_stay_if_they_cannot_close() -> None:
    viewer = yt.view(yt.load("walker"), port=find_free_port())
    try:
        before = viewer.Q.copy()
        viewer.show(before + np.array([1.5, 0.0, 0.0]))
        np.testing.assert_array_equal(viewer.Q, before)
        viewer.show(before + 0.05)
        np.testing.assert_allclose(viewer.Q, before + 0.05)
    finally:
        viewer.stop()


def test_wrong_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = yt.load("lu-two-link")
    with pytest.raises(InputError, match="give one of them"):
        yt.view(robot, log={"t": np.arange(9.0), "q": np.zeros((9, 2))}, trajectory=tmp_path / "a.toml")
    for port in (0, 70000):
        with pytest.raises(InputError, match="port"):
            yt.view(robot, port=port)
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(MissingExtraError, match="ytheta\\[view\\]"):
        yt.view(robot, port=find_free_port())


def test_a_floating_base_is_drawn_where_it_is() -> None:
    """A base at home, and one that is moved: all links are where Pinocchio puts them on a free-flyer."""
    robot = yt.float_base(replace(yt.load("iiwa14"), mounting=yt.Frame.shift(z=0.4)))
    oracle, data = peer(robot), peer(robot).model.createData()
    viewer = yt.view(robot, port=find_free_port())
    try:
        assert viewer.Q.tolist() == [0.0, 0.0, 0.4, *[0.0] * 10]
        viewer.show(np.array([0.2, -0.3, 0.5, 0.4, -0.7, 1.1, *np.linspace(-1.0, 1.0, 7)]))
        pin.framesForwardKinematics(oracle.model, data, oracle.configuration(viewer.Q))
        for link in robot.merged.links[1:]:
            index = oracle.model.getFrameId(link.name, pin.FrameType.OP_FRAME)
            np.testing.assert_allclose(viewer.get_pose(link.name), data.oMf[index].homogeneous, atol=1e-6)
        drawn = viewer.get_pose(link.name)
        viewer.show(viewer.Q + 0.1 * np.eye(13)[4])  # the twin: another orientation of the base
        assert abs(viewer.get_pose(link.name) - drawn).max() > 1e-2
    finally:
        viewer.stop()


def test_a_sensor_has_no_slider() -> None:
    robot = yt.add_wrench_sensor(yt.load("lu-two-link"))
    wave = np.sin(np.arange(300) / 50)
    log = {"t": np.arange(300) / 100, "joint1.position": wave, "joint2.position": wave}
    log |= {name: np.cos(np.arange(300) / 40) for name in ("joint1.torque", "joint2.torque", *robot.sensor_coordinates)}
    viewer = yt.view(robot, log=log, port=find_free_port())
    try:
        assert len(robot.actuated) == 8
        viewer.show_time(0.5)
        assert np.count_nonzero(viewer.Q) == 2
    finally:
        viewer.stop()
