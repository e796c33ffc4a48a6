"""Loads in the axes of the flange, as JSON for Franka and as URScript: against sums over points of mass."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from ytheta.errors import InputError
from ytheta.exporting.export import export
from ytheta.exporting.load_settings import PayloadOptions
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Marker
from ytheta.robot.robot import Robot

POINTS = np.array([[0.1, 0.02, 0.03], [-0.05, 0.04, 0.1], [0.02, -0.07, 0.05], [0.0, 0.01, 0.2], [0.03, 0.03, -0.02]])
MASSES = np.array([0.4, 0.3, 0.2, 0.6, 0.1])
GRASP = Frame.shift(0.05, -0.02, 0.1) @ Frame.from_rpy(0.4, -0.3, 0.8)
FLANGE = Frame.shift(0.0, 0.01, 0.107) @ Frame.from_rpy(0.1, 0.2, -0.7)


def make_robot(marker: str) -> Robot:
    """A robot with a load of five points, and a flange that is turned relative to the last link."""
    robot = yt.load("panda")
    carrier = robot.links[-1].name
    load = sum((Inertia.point_mass(m, tuple(x)) for m, x in zip(MASSES, POINTS, strict=True)), Inertia())
    return replace(robot.with_load(load, on=carrier, frame=GRASP), markers=(Marker(marker, carrier, FLANGE),))


def sum_points() -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre in the flange frame, and inertia about it in flange axes, by sums over the points."""
    pose = np.linalg.inv(FLANGE.matrix) @ GRASP.matrix
    points = POINTS @ pose[:3, :3].T + pose[:3, 3]
    center = MASSES @ points / MASSES.sum()
    inertia = np.zeros((3, 3))
    for mass, x in zip(MASSES, points - center, strict=True):
        inertia += mass * (x @ x * np.eye(3) - np.outer(x, x))
    return float(MASSES.sum()), center, inertia


def test_franka_takes_columns(tmp_path: Path) -> None:
    (path,) = export(make_robot("panda_link8"), to="franka-load", path=tmp_path / "load.json")
    data = json.loads(path.read_text())
    mass, center, inertia = sum_points()
    assert abs(data["load_mass"] - mass) < 1e-12
    assert abs(np.array(data["F_x_Cload"]) - center).max() < 1e-12
    assert abs(np.array(data["load_inertia"]).reshape(3, 3, order="F") - inertia).max() < 1e-12
    # The twin: in the axes of the last link instead of the flange.
    options = PayloadOptions(flange=make_robot("panda_link8").links[-2].name)
    (path,) = export(make_robot("panda_link8"), to="franka-load", path=tmp_path / "l.json", options=options)
    assert abs(np.array(json.loads(path.read_text())["F_x_Cload"]) - center).max() > 1e-3


def test_ur_takes_diagonal_first(tmp_path: Path) -> None:
    (path,) = export(make_robot("tool0"), to="ur-payload", path=tmp_path / "load.script")
    *comments, call = path.read_text().splitlines()
    assert all(line.startswith("# ") for line in comments)
    match = re.fullmatch(r"set_target_payload\(([\d.]+), \[([^]]+)\], \[([^]]+)\]\)", call)
    assert match is not None
    mass, center, inertia = sum_points()
    assert float(match[1]) == mass
    assert abs(np.array(match[2].split(","), dtype=float) - center).max() < 1e-11
    order = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
    moments = np.array(match[3].split(","), dtype=float)
    assert abs(moments - [inertia[k] for k in order]).max() < 1e-11
    assert abs(moments - inertia[np.triu_indices(3)]).max() > 1e-3  # the twin: row by row
    assert "e" not in call.removeprefix("set_target_payload")


def test_names_cannot_end_a_comment(tmp_path: Path) -> None:
    robot = replace(make_robot("tool0"), name="x\npopup('hello')")
    (path,) = export(robot, to="ur-payload", path=tmp_path / "load.script")
    assert [line[0] for line in path.read_text().splitlines()] == ["#", "#", "s"]


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    def refuse(robot: Robot, words: str, options: PayloadOptions | None = None) -> None:
        with pytest.raises(InputError, match=words):
            export(robot, to="franka-load", path=tmp_path / "load.json", options=options)

    refuse(yt.load("panda"), "'panda' has no load; name the link")
    refuse(make_robot("flange"), "no frame whose name ends in 'link8'; name the frame of the flange")
    refuse(make_robot("panda_link8"), "has no link or marker 'flnge'", PayloadOptions(flange="flnge"))
    refuse(make_robot("x_link8"), "moves relative to 'panda_link3'", PayloadOptions(flange="panda_link3"))
    empty = yt.load("panda").with_load(Inertia())
    refuse(empty, "has the mass 0 kg", PayloadOptions(flange="panda_link7"))
    heavy = yt.load("panda").with_load(Inertia.about_center(9.0, (0, 0, 0), ((200, 0, 0), (0, 200, 0), (0, 0, 200))))
    with pytest.raises(InputError, match="beyond 133 kg m"):
        export(heavy, to="ur-payload", path=tmp_path / "a.script", options=PayloadOptions(flange="panda_link7"))
    with pytest.raises(InputError, match=r"must have the extension \.script"):
        export(make_robot("tool0"), to="ur-payload", path=tmp_path / "a.txt")
