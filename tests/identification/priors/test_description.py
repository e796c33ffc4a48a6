"""The prior around a description: its metric, its frames, its families, and the units of drives."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ytheta as yt
from tests.support.estimation_cases import draw_body, smooth_motion
from ytheta.conventions import LINK_PARAMETERS
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.bodies.pseudo_inertia import BASIS, LinkScale, from_svec
from ytheta.identification.bodies.reference import make_plausible_reference
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction_laws import with_friction_laws
from ytheta.identification.equations.motion_sources import ArraySource
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.priors.description import (
    COMPONENTS,
    FLAT_SCALE,
    SVEC_COMPONENTS,
    compute_body_axes,
    compute_svec_matrix,
    compute_torque_units,
    make_description_prior,
)
from ytheta.identification.priors.prior import Family, Prior
from ytheta.robot.inertia import Inertia
from ytheta.robot.robot import Robot

ALL = np.ones(10, dtype=bool)


def draw_pseudo(seed: int) -> np.ndarray:
    return draw_body(np.random.default_rng(seed)).pseudo


def draw_frame(seed: int) -> np.ndarray:
    """A rotation and a translation as a homogeneous matrix."""
    rng = np.random.default_rng(seed)
    T = np.eye(4)
    T[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    T[:3, 3] = rng.normal(size=3)
    return T


def to_theta(pseudo: np.ndarray) -> np.ndarray:
    return np.array(Inertia.from_pseudo(pseudo).parameters)


@pytest.mark.parametrize("seed", range(3))
def test_the_metric_is_that_of_log_det(seed: int) -> None:
    P0, P = draw_pseudo(seed), draw_pseudo(seed + 10)
    coordinates = compute_svec_matrix(P0) @ (to_theta(P) - to_theta(P0))
    relative = np.linalg.solve(P0, P - P0)
    assert coordinates @ coordinates == pytest.approx(np.trace(relative @ relative), rel=1e-9)
    wrong = np.linalg.solve(P, P - P0)  # the twin: the metric at the other body
    assert coordinates @ coordinates != pytest.approx(np.trace(wrong @ wrong), rel=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_the_metric_does_not_depend_on_the_frame_of_the_link(seed: int) -> None:
    P0, P, T = draw_pseudo(seed), draw_pseudo(seed + 10), draw_frame(seed)
    distances = [
        np.linalg.norm(compute_svec_matrix(A) @ (to_theta(B) - to_theta(A)))
        for A, B in ((P0, P), (T @ P0 @ T.T, T @ P @ T.T))
    ]
    assert distances[0] == pytest.approx(distances[1], rel=1e-9)
    euclidean = [np.linalg.norm(to_theta(B) - to_theta(A)) for A, B in ((P0, P), (T @ P0 @ T.T, T @ P @ T.T))]
    assert euclidean[0] != pytest.approx(euclidean[1], rel=1e-2)  # the twin


@pytest.mark.parametrize("seed", range(3))
def test_components_are_mass_center_and_second_moments(seed: int) -> None:
    """A mass at the centre, a shifted centre, and other moments about the centre each change entries of their own."""
    P0 = draw_pseudo(seed)
    mass, center = P0[3, 3], P0[:3, 3] / P0[3, 3]
    homogeneous = np.append(center, 1.0)
    step = np.array([0.3, -0.2, 0.5])
    shift, moments = np.zeros((4, 4)), np.zeros((4, 4))
    shift[:3, :3] = mass * (np.outer(center, step) + np.outer(step, center))
    shift[:3, 3] = shift[3, :3] = mass * step
    moments[:3, :3] = [[0.2, 0.1, 0.0], [0.1, -0.3, 0.2], [0.0, 0.2, 0.1]]
    changes = {0: np.outer(homogeneous, homogeneous), 1: shift, 2: moments}

    def list_components(matrix: np.ndarray, change: np.ndarray) -> set[int]:
        entries = matrix @ np.linalg.lstsq(BASIS.reshape(10, 16).T, change.ravel(), rcond=None)[0]
        return {SVEC_COMPONENTS[k] for k in np.flatnonzero(abs(entries) > 1e-9 * abs(entries).max())}

    for component, change in changes.items():
        assert list_components(compute_svec_matrix(P0), change) == {component}
    # The twin: Cholesky's lower factor has the same metric, but mixes the components.
    assert any(list_components(LinkScale.of(P0).to_scaled, change) != {k} for k, change in changes.items())


def test_axes_are_relative_changes() -> None:
    P0 = draw_pseudo(4)
    axes, factors = compute_body_axes(P0, ALL)
    assert factors == tuple((COMPONENTS[k],) for k in SVEC_COMPONENTS)
    np.testing.assert_allclose(compute_svec_matrix(P0) @ axes, np.eye(10), atol=1e-9)
    # 20 % more of the whole body is a step of 0.2 along each of the four axes of the diagonal.
    np.testing.assert_allclose(from_svec(compute_svec_matrix(P0) @ (0.2 * to_theta(P0))), 0.2 * np.eye(4), atol=1e-9)


def test_axes_of_some_parameters_are_those_of_a_conditional_distribution() -> None:
    P0 = draw_pseudo(5)
    chosen = np.array([name in ("mx", "my", "Izz") for name in LINK_PARAMETERS])
    axes, factors = compute_body_axes(P0, chosen)
    assert factors == ((), (), ())
    full, _ = compute_body_axes(P0, ALL)
    covariance = full @ full.T
    known = ~chosen
    conditional = covariance[np.ix_(chosen, chosen)] - covariance[np.ix_(chosen, known)] @ np.linalg.solve(
        covariance[np.ix_(known, known)], covariance[np.ix_(known, chosen)]
    )
    np.testing.assert_allclose(axes @ axes.T, conditional, rtol=1e-8, atol=1e-12)
    assert not np.allclose(axes @ axes.T, covariance[np.ix_(chosen, chosen)], rtol=1e-2)  # the twin: not conditional


@cache
def make_arm(*, massless: bool = False, loaded: bool = False) -> tuple[BaseParameters, NormalEquations]:
    """A two-link arm with all families, and its normal equations."""
    robot = yt.load("lu-two-link").numeric.merged
    if massless:
        robot = robot.with_inertias({link.name: Inertia() for link in robot.links[1:]})
    if loaded:
        robot = robot.with_load(Inertia(), name="tool")
    robot = with_friction_laws(robot, root=True, load=True)
    base = yt.base_parameters(robot, rotor_inertia=True, friction=("viscous", "coulomb", "offset", "root", "load"))
    motion = smooth_motion(2, 300)
    tau = 10.0 + np.random.default_rng(0).normal(size=motion.q.shape) * [20.0, 3.0]
    problem = EstimationProblem(Differential(base), (ArraySource(replace(motion, tau=tau), 50.0),), threads=1)
    return base, problem.normal_equations()


def make_prior_of(robot: Robot, base: BaseParameters, equations: NormalEquations) -> Prior:
    return make_description_prior(base, equations, make_plausible_reference(robot), robot.theta)


def find_scales(prior: Prior, *, family: Family) -> np.ndarray:
    """The usual scales of a family."""
    return prior.compute_scales(np.array([each.mean for each in prior.hyper]))[prior.belongs_to([family])]


def test_families_and_hyperparameters() -> None:
    base, equations = make_arm()
    prior = make_prior_of(base.robot, base, equations)
    assert prior.names == base.selected
    np.testing.assert_array_equal(
        prior.mean, base.robot.theta[[base.robot.parameter_names.index(n) for n in prior.names]]
    )
    counts = {family: prior.families.count(family) for family in Family}
    links = len(base.robot.merged.links) - 1
    assert counts[Family.LINK] == 10 * links
    assert (counts[Family.ROTOR], counts[Family.ROOT], counts[Family.LOAD], counts[Family.FLAT]) == (2, 2, 2, 6)
    names = {each.name for each in prior.hyper}
    assert {"description", "mass", "center", "second moments", "rotor inertia", "root friction"} <= names
    assert {f"link {link.name}" for link in base.robot.merged.links[1:]} <= names
    np.testing.assert_allclose(find_scales(prior, family=Family.LINK), 0.3)
    np.testing.assert_allclose(find_scales(prior, family=Family.FLAT), FLAT_SCALE)


def test_a_description_without_inertias_is_flat() -> None:
    base, equations = make_arm(massless=True)
    prior = make_prior_of(base.robot, base, equations)
    assert Family.LINK not in prior.families
    assert {each.name for each in prior.hyper} == {"rotor inertia", "root friction", "load friction"}
    np.testing.assert_allclose(find_scales(prior, family=Family.FLAT), FLAT_SCALE)


def test_an_unknown_load_has_a_scale_of_its_own() -> None:
    base, equations = make_arm(loaded=True)
    prior = make_prior_of(base.robot, base, equations)
    (own,) = [each for each in prior.hyper if each.name == "load tool"]
    assert own.mean > next(each.mean for each in prior.hyper if each.name == "description")
    coordinates = prior.axes[[prior.names.index(f"tool.{p}") for p in LINK_PARAMETERS]].any(axis=0)
    used = prior.design[coordinates].any(axis=0)
    assert {each.name for each, is_used in zip(prior.hyper, used, strict=True) if is_used} == {
        "load tool",
        "mass",
        "center",
        "second moments",
    }


def test_units_of_drives_are_torques() -> None:
    base, equations = make_arm()
    units = compute_torque_units(base, equations)
    for name in ("joint1.fv", "joint2.fc", "joint2.Ia"):
        beta = base.K[:, base.robot.parameter_names.index(name)] * units[name]
        squares = np.array(joint_squares(equations, beta))
        shares = np.sqrt(squares / equations.torque_squares)
        assert max(shares) == pytest.approx(1.0, rel=1e-9)
    doubled = replace(
        equations, joints=tuple(replace(joint, torque_squares=4.0 * joint.torque_squares) for joint in equations.joints)
    )
    larger = compute_torque_units(base, doubled)
    assert all(larger[name] == pytest.approx(2.0 * units[name]) for name in ("joint1.fv", "joint2.Ia"))


def joint_squares(equations: NormalEquations, beta: np.ndarray) -> list[float]:
    """The sum of (Y_j beta)² for every joint."""
    return [float(beta[j.columns] @ j.gram @ beta[j.columns]) for j in equations.joints]


def test_a_parameter_without_effect_has_a_unit() -> None:
    base, equations = make_arm()
    still = replace(equations, joints=tuple(replace(joint, torque_squares=0.0) for joint in equations.joints))
    assert set(compute_torque_units(base, still).values()) == {1.0}
