"""Identification of an arm from its joint torques and the wrench of a sensor at its wrist."""

from __future__ import annotations

import numpy as np

import ytheta
from ytheta.robot.floating import add_wrench_sensor
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

TOOL = Inertia.about_center(2.0, (0.02, -0.03, 0.08), ((0.02, 0.001, 0.0), (0.001, 0.03, 0.0), (0.0, 0.0, 0.01)))


def make_table(truth: Robot) -> dict[str, np.ndarray]:
    """Columns of a log of a smooth motion of six joints, with their torques and the wrench of the sensor."""
    rng, t = np.random.default_rng(0), np.arange(0.0, 15.0, 0.004)
    q, qd, qdd = np.zeros((3, len(t), 12))
    for _ in range(3):
        a, w, phase = rng.uniform(0.2, 0.5, 6), rng.uniform(1.0, 5.0, 6), rng.uniform(0.0, 6.0, 6)
        angle = np.outer(t, w) + phase
        q[:, :6] += a * np.sin(angle)
        qd[:, :6] += a * w * np.cos(angle)
        qdd[:, :6] -= a * w * w * np.sin(angle)
    tau = ytheta.inverse_dynamics(truth)(q, qd, qdd)
    table = {"t": t, "q": q[:, :6], "tau": tau[:, :6]}
    return table | {name: tau[:, 6 + k] for k, name in enumerate(truth.sensor_coordinates)}


def test_a_wrist_sensor_identifies_the_tool_alone() -> None:
    arm = ytheta.load("ur10").with_drives(lambda *_: Drive())
    truth = add_wrench_sensor(arm.with_load(TOOL, name="tool"), "tool_grasp")
    unknown = add_wrench_sensor(arm.with_load(Inertia(), name="tool"), "tool_grasp")
    table = make_table(truth)
    log = ytheta.read_log(table, unknown)
    assert log.joints == unknown.actuated
    assert {finding.code for finding in log.findings if finding.is_warning} == {"limits"}  # the made motion is fast
    fit = ytheta.identify(unknown, log, friction=(), rotor_inertia=False, estimator="weighted")
    values = dict(zip(fit.base.independent, fit.beta.tolist(), strict=True))
    expected = dict(zip(truth.parameter_names, truth.theta.tolist(), strict=True))
    names = [name for name in truth.parameter_names if name.startswith("tool.")]
    for name in names:
        assert fit.base.identifiability[name].value == "known alone"
        assert abs(values[name] - expected[name]) < 2e-3
    assert fit.fit.relative_percent < 0.1
    without = {name: column for name, column in table.items() if not name.startswith("tool_grasp")}
    plain = ytheta.identify(arm.with_load(Inertia(), name="tool"), without, friction=(), rotor_inertia=False)
    assert not set(names) & set(plain.base.names)  # joint torques alone do not separate the tool from the last link


def test_default_options_identify_an_arm_with_a_sensor() -> None:
    """The choice of friction laws concerns the joints alone; the twin: a tool that is described wrongly is noticed."""
    arm = ytheta.load("ur10").with_drives(lambda *_: Drive(viscous=5.0, coulomb=3.0))
    truth = add_wrench_sensor(arm.with_load(TOOL, name="tool"), "tool_grasp")
    unknown = add_wrench_sensor(arm.with_load(Inertia(), name="tool"), "tool_grasp")
    fit = ytheta.identify(unknown, make_table(truth))
    assert fit.fit.relative_percent < 1.0
    assert fit.fit.joint_rows == slice(0, 6)  # the six rows of the sensor have errors of their own
    values = dict(zip(fit.base.independent, fit.beta.tolist(), strict=True))
    assert abs(values["tool.m"] - TOOL.mass) < 0.02
    light = add_wrench_sensor(arm.with_load(Inertia.point_mass(1.0, (0.0, 0.0, 0.0)), name="tool"), "tool_grasp")
    other = ytheta.identify(unknown, make_table(light))
    assert abs(dict(zip(other.base.independent, other.beta.tolist(), strict=True))["tool.m"] - TOOL.mass) > 0.5
