"""Settings of controllers: gains of every form, what is learnt, names, and what is refused."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

import ytheta
from ytheta.control.controller import Controller, Reference, State
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.control.laws.craig import Craig
from ytheta.control.laws.law import Law
from ytheta.control.laws.modified_slotine_li import ModifiedSlotineLi, QuasiComputedTorque
from ytheta.control.laws.pd_gravity import PDGravity
from ytheta.control.laws.registry import CONTROLLERS, find_controller
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.control.laws.walker import Walker
from ytheta.errors import InputError, UnknownNameError
from ytheta.identifiability.registry import base_parameters
from ytheta.robot.robot import Robot

ADAPTIVE: dict[str, Any] = {"convergence": 5.0, "damping": 3.0, "adaptation": 0.5}


def arm() -> Robot:
    return ytheta.load("lu-two-link")


def every_law(robot: Robot) -> list[Law]:
    """One of each, all that learn with the same unknown."""
    return [
        SlotineLi(robot, convergence=5.0, damping=3.0, adaptation=0.5),
        ModifiedSlotineLi(robot, convergence=5.0, damping=3.0, adaptation=0.5),
        QuasiComputedTorque(robot, convergence=5.0, adaptation=0.5),
        Craig(robot, stiffness=25.0, damping=10.0, filtering=5.0, adaptation=0.5),
        ComputedTorque(robot, stiffness=25.0, damping=10.0),
        PDGravity(robot, stiffness=25.0, damping=10.0),
        Walker(robot, convergence=5.0, feedback=3.0, adaptation=0.5),
    ]


def test_every_controller_is_listed_and_is_one() -> None:
    laws = every_law(arm())
    assert [law.name for law in laws] == [
        "slotine-li",
        "modified-slotine-li",
        "quasi-computed-torque",
        "craig",
        "computed-torque",
        "pd-gravity",
        "walker",
    ]
    assert {law.name for law in laws} == set(CONTROLLERS)
    for law in laws:
        assert isinstance(law, Controller)
        assert type(law) is find_controller(law.name)
        assert law.graph.shape == (2 + len(law.unknown_names),)
        names = [entry.name for entry in law.graph.inputs]
        assert names == ["q", "qd", *(["qdd"] if law.needs_acceleration else []), "qr", "qrd", "qrdd", "x"]
    with pytest.raises(UnknownNameError, match="did you mean 'slotine-li'"):
        find_controller("slotin_li")


def test_a_number_a_vector_and_a_matrix_are_the_same_gain() -> None:
    robot, n = arm(), 2
    base = base_parameters(robot)
    one = SlotineLi(robot, base, **ADAPTIVE)
    size = len(one.unknown_names)
    vector = SlotineLi(robot, base, convergence=[5.0] * n, damping=np.full(n, 3.0), adaptation=tuple([0.5] * size))
    full = SlotineLi(
        robot, base, convergence=5.0 * np.eye(n), damping=[[3.0, 0.0], [0.0, 3.0]], adaptation=0.5 * np.eye(size)
    )
    other = SlotineLi(robot, base, convergence=5.0, damping=[3.0, 4.0], adaptation=0.5)
    assert one.graph.digest == vector.graph.digest == full.graph.digest != other.graph.digest


FACTORS = (2.0, 1.5, 0.7, 3.0)


def scaled(law: Law, factors: dict[str, float]) -> Law:
    return replace(law, **{name: factor * getattr(law, name) for name, factor in factors.items()})


def test_factors_of_gains_are_those_gains() -> None:
    """As where every run of a batch has gains of its own."""
    rng = np.random.default_rng(0)
    for law in every_law(arm()):
        assert set(law.gain_names) == {"adaptation"} & {f.name for f in fields(law)} | set(law.GAINS)
        factors = dict(zip(law.gain_names, FACTORS, strict=False))
        q, qd, qr, qrd, qrdd = rng.normal(size=(5, 2))
        x = law.init(q, qd).x * 1.1
        given = (q, qd, qd, qr, qrd, qrdd, x) if law.needs_acceleration else (q, qd, qr, qrd, qrdd, x)
        numbers = np.array(list(factors.values()))
        found = law.compile(law.graph_with(law.gain_names)).one(*given, numbers)
        expected = law.compile(scaled(law, factors).graph).one(*given)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-9)
        assert abs(law.compile(law.graph).one(*given) - expected).max() > 1e-3  # the twin
        state, truth = State(0.0, x), x / 1.1
        value = law.compile(law.lyapunov_graph(law.gain_names)).one(q, qd, qr, qrd, qrdd, x, numbers, truth)[0]
        other = scaled(law, factors).lyapunov(state, q, qd, Reference(qr, qrd, qrdd), truth)
        assert value == pytest.approx(other, rel=1e-12)
        with pytest.raises(UnknownNameError, match="has no gain 'stifness'"):
            law.graph_with(("stifness",))


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("convergence", -1.0, r"convergence has the entry -1; gains are greater than zero"),
        ("damping", 0.0, r"damping has the entry 0"),
        ("damping", [1.0, 2.0, 3.0], r"damping has shape \(3,\); give one number, 2 numbers \(one per actuated coord"),
        ("damping", [[1.0, 2.0], [0.0, 1.0]], "not symmetric"),
        ("damping", [[1.0, 2.0], [2.0, 1.0]], "smallest eigenvalue is -1"),
        ("adaptation", [1.0, 2.0], r"adaptation has shape \(2,\); give one number, 3 numbers \(one per unknown"),
        ("adaptation", [1.0, np.nan, 1.0], "not finite"),
        ("torque_limits", [10.0, -3.0], "torque_limits has the entry -3"),
        ("torque_limits", np.eye(2) + 0.1, "couples joints"),
        ("torque_limits", [[1.0, 2.0], [3.0]], "torque_limits is .*; give a number, a vector or a matrix"),
    ],
)
def test_gains_of_wrong_size_or_sign(setting: str, value: Any, message: str) -> None:
    settings = {**ADAPTIVE, "learn": ("load.m", "load.mx", "load.Izz"), setting: value}
    for law in (SlotineLi, ModifiedSlotineLi):
        with pytest.raises(InputError, match=message):
            law(arm(), **settings)


def test_torque_limits_of_some_joints() -> None:
    """A description may limit some joints and say nothing of others."""
    q, reference = np.zeros(2), Reference(np.ones(2), np.zeros(2), np.zeros(2))
    free, some = (
        PDGravity(arm(), stiffness=1e4, damping=1.0, torque_limits=limits) for limits in (None, [50.0, np.inf])
    )
    tau = free.step(free.init(q, q), 0.0, q, q, reference)[0]
    cut = some.step(some.init(q, q), 0.0, q, q, reference)[0]
    np.testing.assert_allclose(cut, [50.0, tau[1]])
    assert tau.min() > 50.0


def test_laws_with_gains_of_their_own_kind() -> None:
    with pytest.raises(InputError, match="convergence has the entry -2"):
        QuasiComputedTorque(arm(), convergence=-2.0, adaptation=1.0)
    with pytest.raises(InputError, match="damping 5 of 'joint1' is not greater than filtering 5"):
        Craig(arm(), stiffness=10.0, damping=5.0, filtering=5.0, adaptation=1.0)
    with pytest.raises(InputError, match="stiffness couples joints"):
        Craig(arm(), stiffness=np.eye(2) + 0.1, damping=5.0, filtering=1.0, adaptation=1.0)
    for law in (ComputedTorque, PDGravity):
        with pytest.raises(InputError, match=r"stiffness has shape \(1,\)"):
            law(arm(), stiffness=[1.0], damping=1.0)


def test_what_is_learnt() -> None:
    robot = arm()
    base = base_parameters(robot)
    every = SlotineLi(robot, **ADAPTIVE)
    assert every.unknown_names == tuple(name for name in robot.parameter_names if not name.startswith("joint"))
    assert SlotineLi(robot, base, **ADAPTIVE).unknown_names == base.independent
    np.testing.assert_array_equal(SlotineLi(robot, base, **ADAPTIVE).init(np.zeros(2), np.zeros(2)).x, base.beta)
    some = SlotineLi(robot, learn=("joint*.fv", "load.m"), **ADAPTIVE)
    assert some.unknown_names == ("load.m", "joint1.fv", "joint2.fv")
    np.testing.assert_array_equal(some.init(np.zeros(2), np.zeros(2)).x, [1.2, 0.0, 0.0])
    beside = SlotineLi(robot, base, learn=(base.independent[0], "joint2.fv"), **ADAPTIVE)
    assert beside.unknown_names == (base.independent[0], "joint2.fv")
    assert SlotineLi(robot, learn=(), **ADAPTIVE).unknown_names == ()
    with pytest.raises(UnknownNameError, match=r"no parameter 'load.mass' to learn; did you mean"):
        SlotineLi(robot, learn=("load.mass",), **ADAPTIVE)
    with pytest.raises(InputError, match="not one text"):
        SlotineLi(robot, learn="load.m", **ADAPTIVE)
    joined = next(name for name in base.selected if name not in base.independent)
    with pytest.raises(InputError, match="part of base parameters"):
        SlotineLi(robot, base, learn=(joined,), **ADAPTIVE)
    with pytest.raises(InputError, match="with other joints, lengths, gravity or mounting"):
        SlotineLi(robot.with_lengths(l1=0.7), base, **ADAPTIVE)


def test_what_init_and_step_refuse() -> None:
    q, reference = np.zeros(2), Reference(np.zeros(2), np.zeros(2), np.zeros(2))
    for law in every_law(arm()):
        with pytest.raises(InputError, match=r"q has shape \(3,\)"):
            law.init(np.zeros(3), np.zeros(3))
        with pytest.raises(InputError, match="estimate has shape"):
            law.init(q, q, estimate=np.zeros(len(law.unknown_names) + 1))
        state = law.init(q, q, t=1.0)
        with pytest.raises(InputError, match="time goes forwards"):
            law.step(state, 0.5, q, q, reference, q)
        with pytest.raises(InputError, match="input 'q' is nan"):
            law.step(state, 1.0, np.array([0.0, np.nan]), q, reference, q)
    law = Craig(arm(), stiffness=25.0, damping=10.0, filtering=5.0, adaptation=0.5)
    with pytest.raises(InputError, match="needs measured accelerations"):
        law.step(law.init(q, q), 0.0, q, q, reference)


def test_a_loop_that_explodes_says_so() -> None:
    law, q = SlotineLi(arm(), **ADAPTIVE), np.zeros(2)
    state = State(0.0, np.full(len(law.unknown_names), 1e300))
    with pytest.raises(InputError, match="the loop is unstable; take smaller gains or steps"):
        law.step(state, 0.0, q, np.full(2, 1e30), Reference(q, q, q))
