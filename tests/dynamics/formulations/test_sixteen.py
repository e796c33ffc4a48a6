"""The sixteen parameters of Lu and Meng against the ten, and their special cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.support.formulation_cases import close, fork, link_parameters, load, state
from tests.support.random_robots import inertias
from ytheta.dynamics.formulations import lagrange, newton_euler, sixteen
from ytheta.dynamics.mechanism import build_mechanism, numeric_motion
from ytheta.errors import InputError, UnknownNameError
from ytheta.robot.inertia import Inertia

BODY = Inertia.about_center(2.0, (0.1, -0.2, 0.3), ((0.3, 0.01, 0.02), (0.01, 0.2, 0.03), (0.02, 0.03, 0.25)))


def test_sixteen_parameters_by_hand() -> None:
    expected = [2.0, 0.2, -0.4, 0.6, 0.02, 0.08, 0.18, -0.04, 0.06, -0.12, 0.3, 0.2, 0.25, -0.01, -0.02, -0.03]
    assert sixteen.sixteen_parameters(BODY) == pytest.approx(expected)
    assert len(sixteen.SIXTEEN_PARAMETERS) == len(expected)


@given(inertias())
def test_ten_from_sixteen(inertia: Inertia) -> None:
    assert sixteen.L @ sixteen.sixteen_parameters(inertia) == pytest.approx(inertia.vector, abs=1e-12)


def test_the_map_of_regressors_has_a_right_inverse() -> None:
    assert np.array_equal(sixteen.L @ sixteen.RIGHT_INVERSE, np.eye(10))
    wrong = sixteen.L.copy()
    wrong[5] *= -1.0  # the sign of a product of inertia
    assert wrong @ sixteen.sixteen_parameters(BODY) != pytest.approx(BODY.vector)


def test_first_moments_without_mass_are_refused() -> None:
    with pytest.raises(InputError, match="without mass have no centre"):
        sixteen.sixteen_parameters(Inertia.from_names({"mx": 1.0}))
    assert sixteen.sixteen_parameters(Inertia.from_names({"Izz": 1.0}))[12] == 1.0


@pytest.mark.parametrize("name", ["stanford", "lu-two-link", "iiwa14", "kinova.urdf"])
def test_regressor_in_sixteen_parameters(name: str) -> None:
    mech = build_mechanism(load(name))
    q, qd, qdd, v = state(mech.joints)
    count = len(mech.bodies)
    theta = np.concatenate([sixteen.sixteen_parameters(link.inertia) for link in mech.robot.links[1:]])
    for motion in (numeric_motion(q, qd, qdd), numeric_motion(q, qd, qdd, v)):
        Y10 = newton_euler.regressor(mech, motion).astype(float)
        Y16 = lagrange.regressor_sixteen(mech, motion).astype(float)
        assert close(Y16, Y10 @ np.kron(np.eye(count), sixteen.L))
        assert close(Y16 @ np.kron(np.eye(count), sixteen.RIGHT_INVERSE), Y10)
        assert close(Y16 @ theta, Y10 @ link_parameters(mech))


def test_momentum_of_a_point_mass_is_that_of_its_centre() -> None:
    """(117) as printed against W_1 theta_5 (126)."""
    mech = build_mechanism(fork())
    q, qd, qdd, _ = state(mech.joints)
    motion = numeric_motion(q, qd, qdd)
    p, m = np.array(BODY.center), BODY.mass
    point = Inertia.point_mass(m, BODY.center)
    W = lagrange.momentum(mech, motion).astype(float)
    for i, body in enumerate(mech.bodies):
        # (118): the Jacobian of the centre is that of a link whose frame origin is at the centre.
        link_jacobian = lagrange.link_jacobian(mech, motion, body.name).astype(float)
        R = _compute_rotation(mech, motion, i)
        J = link_jacobian[:3] - np.cross(R @ p, link_jacobian[3:].T).T
        W5 = W[:, 10 * i : 10 * (i + 1)] @ sixteen.L[:, sixteen.find_columns("point-mass")]
        theta5 = sixteen.reduce_parameters(point, "point-mass")
        assert close(W5 @ theta5, m * J.T @ (J @ qd))
        assert not close(W5 @ theta5, m * J.T @ (J @ qd[::-1]))


def _compute_rotation(mech, motion, i: int) -> np.ndarray:  # type: ignore[no-untyped-def]
    R = np.eye(3)
    for k in mech.path(i):
        R = R @ newton_euler.pose(mech.bodies[k], motion)[0].astype(float)
    return R


X_LINK = Inertia.about_center(1.7, (0.4, 0.0, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.25)))
Z_LINK = Inertia.about_center(1.7, (0.0, 0.0, -0.3), ((0.3, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.15)))
POINT = Inertia.point_mass(0.7, (0.1, -0.4, 0.2))


def test_parameters_of_special_links() -> None:
    """theta_5 (125) and theta of (51)."""
    assert sixteen.reduce_parameters(X_LINK, "center-on-x") == pytest.approx([1.7, 0.68, 0.272, 0.1, 0.2, 0.25])
    assert sixteen.reduce_parameters(Z_LINK, "center-on-z") == pytest.approx([1.7, -0.51, 0.153, 0.3, 0.2, 0.15])
    theta_5 = [0.7, 0.07, -0.28, 0.14, 0.007, 0.112, 0.028, -0.028, 0.014, -0.056]
    assert sixteen.reduce_parameters(POINT, "point-mass") == pytest.approx(theta_5)
    assert (sixteen.reduce_parameters(BODY, "general") == sixteen.sixteen_parameters(BODY)).all()
    assert sixteen.reduce_parameters(Inertia(), "center-on-x") == pytest.approx(np.zeros(6))


@pytest.mark.parametrize(
    ("inertia", "case", "name"),
    [(X_LINK, "center-on-z", "mpx"), (Z_LINK, "center-on-x", "mpz"), (POINT, "center-on-x", "mpy"),
     (X_LINK, "point-mass", "Ixx"), (BODY, "center-on-x", "mpy")],
)  # fmt: skip
def test_a_link_of_another_case_is_refused(inertia: Inertia, case: str, name: str) -> None:
    with pytest.raises(InputError, match=rf"the parameter {name} of this link is .*, but the case '{case}' requires 0"):
        sixteen.reduce_parameters(inertia, case)


def test_an_unknown_case_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"no case 'center-on-y' of a link; did you mean 'center-on-[xz]'"):
        sixteen.reduce_parameters(X_LINK, "center-on-y")


def test_point_mass() -> None:
    """(49): ten columns, linear in theta_5."""
    mech = build_mechanism(fork())
    q, qd, qdd, _ = state(mech.joints)
    motion = numeric_motion(q, qd, qdd)
    theta5 = sixteen.reduce_parameters(POINT, "point-mass")
    Y = newton_euler.regressor(mech, motion).astype(float)
    for i, body in enumerate(mech.bodies):
        columns = lagrange.point_mass_columns(mech, motion, body.name).astype(float)
        assert close(columns @ theta5, Y[:, 10 * i : 10 * (i + 1)] @ POINT.vector)
        assert not close(columns @ theta5, Y[:, 10 * i : 10 * (i + 1)] @ BODY.vector)


def test_an_unknown_link_is_refused() -> None:
    mech = build_mechanism(fork())
    motion = numeric_motion(*state(mech.joints)[:3])
    with pytest.raises(UnknownNameError, match=r"no moving link 'slidre'; did you mean 'slider'\?"):
        lagrange.point_mass_columns(mech, motion, "slidre")
