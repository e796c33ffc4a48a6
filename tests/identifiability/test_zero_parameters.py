"""The symmetry (50) of Ha, Ko and Kwon, declared by a user: 14 parameters, the values of Table I, and the same torques.

The rank of the regressor of Pinocchio, without the columns of the zeros, is the independent count.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ytheta as yt
from tests.support.pinocchio_peer import peer
from ytheta.identifiability.ha import explain_refused_regrouping
from ytheta.papers.ha1989 import SYMMETRIC, TRUE
from ytheta.robot.robot import Robot

# What of (50) has an effect in this arm.
ZERO = ("link1.my", "link[34].m[xy]")
FRICTION = ("viscous", "coulomb")
LINK_ORDER = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def regroup(zero: Sequence[str], robot: Robot | None = None) -> yt.Regrouping:
    regrouping = yt.model_parameters(
        robot or yt.load("ha-scara"), method="ha", unknown_geometry=True, friction=FRICTION, zero=zero
    )
    assert isinstance(regrouping, yt.Regrouping)
    return regrouping


def test_the_scara_arm_has_its_14_parameters() -> None:
    assert len(regroup(ZERO)) == len(TRUE) == 14
    assert regroup(ZERO).X == yt.regroup_lagrangian(yt.load("ha-scara"), zero=SYMMETRIC).X
    assert len(regroup(())) > 14  # the twin: without symmetry


def test_their_values_are_those_of_table_one() -> None:
    values = yt.regroup_lagrangian(yt.load("ha-scara"), zero=ZERO).values
    np.testing.assert_allclose(values, [float(value) for value in TRUE], rtol=1e-12)


@pytest.mark.parametrize("zero", [(), ZERO, ("link2.m[xy]",), ("link*.m[xy]", "link4.Izz")])
def test_the_count_is_the_rank_of_pinocchios_regressor(zero: tuple[str, ...]) -> None:
    robot = yt.load("ha-scara").numeric
    base = yt.base_parameters(robot, zero=zero)
    assert base.method == ("qr" if zero else "lin")
    other, rng = peer(robot), np.random.default_rng(0)
    stacked = [other.regressor(*rng.uniform(-1.0, 1.0, (3, 4))) for _ in range(60)]
    left_out = set(robot.parameter_names) - set(base.selected)
    kept = [k for k, name in enumerate(robot.parameter_names[: 10 * 4]) if name not in left_out]
    assert np.linalg.matrix_rank(np.concatenate(stacked)[:, kept], tol=1e-8) == len(base)


def test_torques_of_the_regrouped_arm_are_those_of_the_arm_with_zeros() -> None:
    robot = yt.load("ha-scara")
    regrouping = yt.regroup_lagrangian(robot, zero=[*ZERO, "link2.my"])
    q, qd, qdd = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 20, 4))
    tau = yt.regressor(regrouping.robot, regrouping)(q, qd, qdd) @ regrouping.values
    np.testing.assert_allclose(tau, yt.inverse_dynamics(regrouping.robot)(q, qd, qdd), rtol=1e-9, atol=1e-9)
    assert abs(tau - yt.inverse_dynamics(robot)(q, qd, qdd)).max() > 0.1  # the twin: link2.my is not zero there


def test_links_without_inertia_are_left_out_too(tmp_path: Path) -> None:
    """The same mechanism: a link that the file declares to have no inertia no longer prevents a regrouping."""
    path = tmp_path / "arm.toml"
    path.write_text('format = 1\nextends = "ha-scara"\n[[link]]\nname = "link4"\ninertia = false\n')
    robot = yt.load(path)
    assert explain_refused_regrouping(robot) is None
    zero = [f"link4.{name}" for name in LINK_ORDER]
    assert regroup((), robot).X == regroup(zero).X


def identify(zero: Sequence[str], **options: Any) -> yt.Identification:
    robot = yt.load("ha-scara")
    t = np.arange(1500) / 100.0
    w = 2.0 * np.pi * np.array([[0.20, 0.31, 0.25, 0.27], [0.73, 0.62, 0.81, 0.69]])
    A = np.array([[0.8, 0.6, 0.15, 1.0], [0.3, 0.5, 0.1, 0.6]])
    angle = w * t[:, None, None]
    q, qd = (A * np.sin(angle)).sum(axis=1), (A * w * np.cos(angle)).sum(axis=1)
    tau = yt.inverse_dynamics(robot)(q, qd, (-A * w**2 * np.sin(angle)).sum(axis=1))
    tau += 0.01 * np.random.default_rng(0).normal(size=tau.shape)
    return yt.identify(robot, {"t": t, "q": q, "qd": qd, "tau": tau}, zero=zero, friction=FRICTION, **options)


def test_table_one_is_identified() -> None:
    fit = identify(ZERO, unknown_geometry=True, estimator="sequential")
    assert len(fit.beta) == 14
    truth = np.array([float(value) for value in TRUE])
    assert (abs(fit.beta - truth) < 5.0 * fit.std).all()
    assert abs(fit.beta / truth - 1.0).max() < 0.01
    assert len(identify((), unknown_geometry=True, estimator="sequential").beta) > 14  # the twin


def test_a_model_with_known_geometry_keeps_the_zeros(tmp_path: Path) -> None:
    fit = identify(ZERO)
    model = fit.save(tmp_path / "scara.model.toml")
    robot = yt.load(model)
    values = dict(zip(robot.parameter_names, robot.theta, strict=True))
    assert all(values[name] == 0.0 for name in ("link1.my", "link3.mx", "link3.my", "link4.mx", "link4.my"))
    assert robot.link("link3").zero == ("mx", "my")
    free = identify(())
    assert len(free.beta) > len(fit.beta) == 14
    with pytest.raises(
        yt.errors.InputError, match=r"'link1.Ixx' is declared zero, but no rigid body has such a moment"
    ):
        identify(("link1.Ixx",))
