"""Identification of a robot with a link without inertia, a drive without rotor, and a drive without friction."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt

ARM = """
[[link]]
name = "base"
[[link]]
name = "cross"
inertia = {cross}
[[link]]
name = "arm"
mass = 2.0
center = [0.3, 0.02, 0.05]
inertia = {{ xx = 0.01, yy = 0.1, zz = 0.1 }}
[[joint]]
name = "pan"
type = "revolute"
parent = "base"
child = "cross"
frame = {{ rpy = ["pi/2", 0, 0] }}
limits = {{ position = [-2, 2], velocity = 3.0, effort = 50.0 }}
drive = {{ {drive} }}
[[joint]]
name = "tilt"
type = "revolute"
parent = "cross"
child = "arm"
axis = [0, 1, 0]
limits = {{ position = [-2, 2], velocity = 3.0, effort = 50.0 }}
drive = {{ viscous = 0.3, coulomb = 0.2, coulomb_speed = 0.02, offset = false }}
"""


def read_arm(
    folder: Path, name: str, *, cross: str = "false", drive: str = "rotor = false, friction = false"
) -> yt.Robot:
    (folder / name).write_text(ARM.format(cross=cross, drive=drive))
    return yt.load(folder / name)


@pytest.fixture(scope="module")
def fit(tmp_path_factory: pytest.TempPathFactory) -> yt.Identification:
    folder = tmp_path_factory.mktemp("absent")
    robot = read_arm(folder, "arm.toml")
    return yt.identify(robot, yt.simulate(robot, "computed-torque", seconds=8.0).log(), hold_out=30.0)


def test_absent_parts_are_not_estimated(fit: yt.Identification) -> None:
    owners = {name.partition(".")[0] for name in fit.base.selected}
    assert owners == {"arm", "tilt"}
    assert "tilt.fo" not in fit.base.selected
    assert fit.validation is not None
    assert fit.validation.relative_percent < 0.1


def test_the_model_file_keeps_what_is_absent(fit: yt.Identification, tmp_path: Path) -> None:
    model = yt.load(fit.save(tmp_path / "arm.model.toml"))
    assert not model.link("cross").has_inertia
    assert model.joint("pan").drive.has_rotor is False
    assert model.joint("pan").drive.is_frictionless
    assert model.joint("tilt").drive.absent_friction == ("offset",)


def test_without_the_declarations_all_of_them_are_estimated(tmp_path: Path) -> None:
    """The twin."""
    robot = read_arm(tmp_path, "arm.toml", cross="{ zz = 0 }", drive="viscous = 0")
    log = yt.simulate(robot, "computed-torque", seconds=8.0).log()
    selected = yt.identify(robot, log, hold_out=30.0, rotor_inertia=True).base.selected
    assert {"cross.m", "pan.Ia", "pan.fv"} <= set(selected)


def test_default_options_identify_a_ball_joint(tmp_path: Path) -> None:
    """The bodies are consistent and the links between its hinges stay empty; the twin: all links have an inertia."""
    body = '<inertial pos="0.1 0.02 0.03" mass="1" fullinertia=".03 .04 .035 .001 .002 .003"/>'
    (tmp_path / "ball.xml").write_text(
        f'<mujoco><worldbody><body name="a" euler="10 20 30"><joint name="ball" type="ball"/>{body}'
        f'<body name="b" pos="0.3 0 0"><joint name="last" axis="0 1 0"/>{body}</body></body></worldbody></mujoco>'
    )
    robot = yt.load(tmp_path / "ball.xml")
    rng, t = np.random.default_rng(0), np.arange(0.0, 20.0, 0.005)
    rates, phases = rng.uniform(1.0, 5.0, (3, 4)), rng.uniform(0.0, 6.0, (3, 4))
    angles = t[:, None, None] * rates + phases
    q, qd = 0.3 * np.sin(angles).sum(axis=1), 0.3 * (rates * np.cos(angles)).sum(axis=1)
    qdd = -0.3 * (rates**2 * np.sin(angles)).sum(axis=1)
    torque = yt.inverse_dynamics(robot)(q, qd, qdd)
    log = {"t": t, "q": q, "qd": qd, "tau": torque + 1e-3 * torque.std(axis=0) * rng.normal(size=torque.shape)}
    fit = yt.identify(robot, log)
    assert sum(name.rpartition(".")[0] in ("a", "b") for name in fit.base.independent) == 16
    assert fit.fit.relative_percent < 0.5
    model = yt.load(fit.save(tmp_path / "ball.model.toml"))
    assert [link.name for link in model.links if not link.has_inertia] == ["a.x", "a.y"]
    assert model.link("b").inertia.mass == pytest.approx(1.0, rel=0.1)
    full = replace(robot, links=tuple(replace(link, has_inertia=True) for link in robot.links))
    owners = {name.rpartition(".")[0] for name in yt.identify(full, log).base.independent}
    assert {"a.x", "a.y"} <= owners
