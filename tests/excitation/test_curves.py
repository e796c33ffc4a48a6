"""Curves of a design: torques and paths of the tool, against an independent simulator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta as yt
from tests.support.designed_motion import design_two_link
from ytheta.excitation.result import compute_curves, find_tools
from ytheta.excitation.trajectories import Fourier
from ytheta.robot.mjcf_writer import to_mjcf


def test_the_path_of_the_tool_is_that_of_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    panda = yt.load("panda")
    coefficients = np.random.default_rng(1).normal(size=(3, 7))
    trajectory = yt.Trajectory(panda.actuated, Fourier(10.0, 1), 1, coefficients)
    excitation = replace(design_two_link(), robot=panda, base=yt.base_parameters(panda), trajectory=trajectory)
    curves = compute_curves(excitation, points=20)
    ((name, path),) = curves.paths.items()
    (marker,) = [each for each in panda.markers if each.name == name]
    model = mujoco.MjModel.from_xml_string(to_mjcf(panda))
    data = mujoco.MjData(model)
    for q, point in zip(curves.motion.q, path, strict=True):
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        body = data.body(marker.link)
        expected = body.xpos + body.xmat.reshape(3, 3) @ marker.frame.matrix[:3, 3]
        np.testing.assert_allclose(point, expected, atol=1e-9)
        assert abs(point - body.xpos).max() > 1e-3  # the twin: the marker is not at the origin of its link


def test_torques_are_those_of_inverse_dynamics() -> None:
    excitation = design_two_link()
    curves = compute_curves(excitation)
    expected = yt.inverse_dynamics(excitation.robot)(curves.motion.q, curves.motion.qd, curves.motion.qdd)
    np.testing.assert_allclose(curves.torque, expected, atol=1e-10)
    assert curves.motion.t[-1] == excitation.trajectory.basis.period


def test_tools_are_the_ends_of_the_robot() -> None:
    assert find_tools(yt.load("panda")) == ("panda_link8",)
    assert find_tools(yt.load("puma560")) == ("link6",)
    assert find_tools(yt.load("palletiser")) == ("tool", "rod")
