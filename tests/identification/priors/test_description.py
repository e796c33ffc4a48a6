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
from ytheta.identification.consistency.reference import make_plausible_reference
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction_laws import with_friction_laws
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.priors.description import (
    AXIS_COMPONENTS,
    COMPONENTS,
    FLAT_SCALE,
    PEAK_TORQUE_RANGE,
    PEAK_TORQUE_RATIO,
    ROTOR_ACCELERATION,
    TYPICAL_SCALE,
    compute_body_axes,
    compute_torque_units,
    estimate_rotor_inertia,
    make_description_prior,
)
from ytheta.identification.priors.prior import Family, Prior
from ytheta.logs.preparing.motion_sources import ArraySource
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


def compute_distance(P0: np.ndarray, P: np.ndarray) -> float:
    return float(np.linalg.norm(compute_coordinates(P0, P - P0)))


def compute_coordinates(P0: np.ndarray, change: np.ndarray) -> np.ndarray:
    """The coordinates of a change of the body: relative changes, without their scales."""
    return np.linalg.solve(compute_body_axes(P0, ALL)[0], to_theta(change))


def compute_log_det_distance(Q: np.ndarray, dP: np.ndarray) -> float:
    relative = np.linalg.solve(Q, dP)
    return float(np.sqrt(np.trace(relative @ relative)))


@pytest.mark.parametrize("seed", range(3))
def test_the_metric_is_that_of_log_det_if_the_centre_has_no_lever(seed: int) -> None:
    """Without a lever the metric is tr(P0⁻¹ dP P0⁻¹ dP)."""
    P0, P = draw_pseudo(seed), draw_pseudo(seed + 10)
    assert compute_distance(P0, P) < (1.0 - 1e-6) * compute_log_det_distance(P0, P - P0)  # the twin: the lever is wider
    centered = P0.copy()
    centered[:3, :3] -= np.outer(P0[:3, 3], P0[:3, 3]) / P0[3, 3]
    centered[:3, 3] = centered[3, :3] = 0.0
    assert compute_distance(centered, P) == pytest.approx(compute_log_det_distance(centered, P - centered), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_lever_widens_the_centre(seed: int) -> None:
    """A centre shifted by s |c| in any direction is about s √2 away, however small the body."""
    P0 = draw_pseudo(seed)
    mass, center = P0[3, 3], P0[:3, 3] / P0[3, 3]
    small = P0.copy()
    small[:3, :3] = mass * np.outer(center, center) + 1e-4 * (P0[:3, :3] - mass * np.outer(center, center))
    for direction in np.eye(3):
        step = 0.2 * np.linalg.norm(center) * direction
        shift = np.zeros((4, 4))
        shift[:3, :3] = mass * (np.outer(center, step) + np.outer(step, center))
        shift[:3, 3] = shift[3, :3] = mass * step
        assert np.linalg.norm(compute_coordinates(small, shift)) == pytest.approx(0.2 * np.sqrt(2.0), rel=1e-2)
        assert compute_log_det_distance(small, shift) > 1.0  # the twin: without the lever, it would be far away


@pytest.mark.parametrize("seed", range(3))
def test_second_moments_vary_with_products_of_shifts_of_the_centre(seed: int) -> None:
    """Oracle: centres drawn at random; the second moments about the joint contain m d dᵀ for a shift d."""
    P0, rng = draw_pseudo(seed), np.random.default_rng(seed)
    mass, center = P0[3, 3], P0[:3, 3] / P0[3, 3]
    about_center = P0[:3, :3] - mass * np.outer(center, center)
    slender = P0.copy()
    slender[:3, :3] = mass * np.outer(center, center) + 1e-4 * about_center
    shifts = TYPICAL_SCALE * np.linalg.norm(center) / np.sqrt(2.0) * rng.normal(size=(40_000, 3))
    products = np.zeros((len(shifts), 4, 4))
    products[:, :3, :3] = mass * shifts[:, :, None] * shifts[:, None, :]
    expected = np.cov(np.array([to_theta(each)[4:] for each in products]), rowvar=False)
    std = np.sqrt(np.diag(expected))

    def compute_relative_covariance(P: np.ndarray) -> np.ndarray:
        axes = TYPICAL_SCALE * compute_body_axes(P, ALL)[0][4:, np.array(AXIS_COMPONENTS) == 2]
        return axes @ axes.T / np.outer(std, std)

    # 40 000 draws: the error of a variance is 0.01 to 0.02 (products have heavy tails), that of a correlation less.
    correlation = expected / np.outer(std, std)
    np.testing.assert_allclose(compute_relative_covariance(slender), correlation, rtol=0.0, atol=0.06)
    # The twin: a body without a lever has the moments of the log-det metric alone.
    centered = slender.copy()
    centered[:3, :3] -= mass * np.outer(center, center)
    centered[:3, 3] = centered[3, :3] = 0.0
    assert abs(compute_relative_covariance(centered)).max() < 0.01


@pytest.mark.parametrize("seed", range(3))
def test_the_metric_does_not_depend_on_the_directions_of_the_link_frame(seed: int) -> None:
    P0, P, T = draw_pseudo(seed), draw_pseudo(seed + 10), draw_frame(seed)
    R = T.copy()
    R[:3, 3] = 0.0
    assert compute_distance(R @ P0 @ R.T, R @ P @ R.T) == pytest.approx(compute_distance(P0, P), rel=1e-9)
    # The twin: the origin is the joint and matters.
    assert compute_distance(T @ P0 @ T.T, T @ P @ T.T) != pytest.approx(compute_distance(P0, P), rel=1e-5)


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

    def list_components(change: np.ndarray) -> set[int]:
        entries = compute_coordinates(P0, change)
        return {AXIS_COMPONENTS[k] for k in np.flatnonzero(abs(entries) > 1e-9 * abs(entries).max())}

    for component, change in changes.items():
        assert list_components(change) == {component}
    assert list_components(shift + moments) == {1, 2}  # the twin


def test_axes_are_relative_changes() -> None:
    P0 = draw_pseudo(4)
    axes, factors = compute_body_axes(P0, ALL)
    assert factors == tuple((COMPONENTS[k],) for k in AXIS_COMPONENTS)
    entries = np.linalg.solve(axes, 0.2 * to_theta(P0))
    components = np.array(AXIS_COMPONENTS)
    assert entries[components == 0] == pytest.approx(0.2)  # 20 % more of the whole body is 20 % more mass,
    np.testing.assert_allclose(entries[components == 1], 0.0, atol=1e-9)  # the same centre,
    # and 20 % of the moments, which are wider with a lever.
    assert 0.1 * np.sqrt(3.0) < np.linalg.norm(entries[components == 2]) < 0.2 * np.sqrt(3.0)


def test_the_centre_of_a_placeholder_may_be_anywhere_on_the_link() -> None:
    """A centre that is written as zero: its standard deviation is that of a body with its centre at the lever."""
    P0 = np.diag([0.01, 0.01, 0.01, 1.0])

    def compute_center_std(min_lever: float) -> np.ndarray:
        return np.linalg.norm(compute_body_axes(P0, ALL, min_lever)[0][1:4], axis=1)

    np.testing.assert_allclose(compute_center_std(0.3), np.sqrt((0.01 + 0.3**2) / 2.0), rtol=1e-12)
    np.testing.assert_allclose(compute_center_std(0.0), np.sqrt(0.01 / 2.0), rtol=1e-12)  # the twin: only the radius


def test_placeholders_are_as_wide_as_the_link_is_long() -> None:
    """All links of the UR10 become equal balls; the last one, which carries no joint, has no length."""
    robot = yt.load("ur10")
    ball = yt.Inertia.about_center(1.0, (0.0, 0.0, 0.0), ((0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.01)))
    reference = make_plausible_reference(robot.with_inertias({link.name: ball for link in robot.links[1:]}))
    assert reference.placeholders == set(reference.middles)
    (elbow,) = (joint.placement.matrix[:3, 3] for joint in robot.joints if joint.parent == "upper_arm_link")
    assert reference.middles["upper_arm_link"] == pytest.approx(0.5 * np.linalg.norm(elbow), rel=1e-12)
    assert reference.middles["upper_arm_link"] > 0.3  # half of the length of 0.612 m, and an offset
    assert reference.middles["wrist_3_link"] == 0.0


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
def make_arm(
    *, massless: bool = False, loaded: bool = False, designed: str = ""
) -> tuple[BaseParameters, NormalEquations]:
    """A two-link arm with all families, and its normal equations; ``designed`` names a link with a drawn body."""
    robot = yt.load("lu-two-link").numeric.merged
    if designed:
        robot = robot.with_inertias({designed: draw_body(np.random.default_rng(0))})
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
    assert [counts[f] for f in (Family.ROTOR, Family.ROOT, Family.LOAD, Family.OFFSET, Family.FLAT)] == [2, 2, 2, 2, 4]
    names = {each.name for each in prior.hyper}
    assert {"placeholders", "mass", "center", "second moments", "rotor inertia", "root friction"} <= names
    assert {f"link {link.name}" for link in base.robot.merged.links[1:]} <= names
    np.testing.assert_allclose(find_scales(prior, family=Family.FLAT), FLAT_SCALE)


def find_link_scales(prior: Prior, link: str) -> np.ndarray:
    """The usual scales of the coordinates of a link."""
    coordinates = prior.axes[prior.names.index(f"{link}.m")] != 0.0
    return prior.compute_scales(np.array([each.mean for each in prior.hyper]))[coordinates]


def test_designed_links_are_trusted_more_than_placeholders() -> None:
    base, equations = make_arm(designed="link2")
    prior = make_prior_of(base.robot, base, equations)
    np.testing.assert_allclose(find_link_scales(prior, "link2"), TYPICAL_SCALE)
    np.testing.assert_allclose(find_link_scales(prior, "link1"), 1.0)
    bounds = {each.name: each.maximum for each in prior.hyper}
    assert bounds["link link1"] == np.inf
    assert bounds["description"] == pytest.approx(np.log(0.5))
    masses = {link.name: link.inertia.mass for link in base.robot.merged.links[1:]}
    designed = set(masses) - make_plausible_reference(base.robot).placeholders
    heaviest = max(masses[name] for name in designed)
    for name in designed:  # what the description lacks there weighs as much as its heaviest designed link
        assert TYPICAL_SCALE * masses[name] * np.exp(bounds[f"link {name}"]) == pytest.approx(heaviest)


def test_a_description_without_inertias_is_flat() -> None:
    base, equations = make_arm(massless=True)
    prior = make_prior_of(base.robot, base, equations)
    assert Family.LINK not in prior.families
    drives = {"rotor inertia", "rotor joint1", "rotor joint2", "root friction", "load friction", "offset"}
    assert {each.name for each in prior.hyper} == drives
    np.testing.assert_allclose(find_scales(prior, family=Family.FLAT), FLAT_SCALE)


def test_an_unknown_load_has_a_scale_of_its_own() -> None:
    base, equations = make_arm(loaded=True)
    prior = make_prior_of(base.robot, base, equations)
    (own,) = [each for each in prior.hyper if each.name == "load tool"]
    assert own.mean > next(each.mean for each in prior.hyper if each.name == "description")
    coordinates = prior.axes[[prior.names.index(f"tool.{p}") for p in LINK_PARAMETERS]].any(axis=0)
    used = np.array(prior.design[coordinates].any(axis=0))
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


@pytest.mark.parametrize("seed", range(3))
def test_rotors_have_the_size_of_the_torque_limit(seed: int) -> None:
    base, equations = make_arm()
    rms = float(np.sqrt(equations.torque_squares[1] / equations.counts[1]))

    def estimate(limit: float) -> float:
        joints = tuple(replace(each, limits=replace(each.limits, effort=limit)) for each in base.robot.joints)
        limited = replace(base, robot=replace(base.robot, joints=joints))
        return ROTOR_ACCELERATION * estimate_rotor_inertia(limited, equations, "joint2") / rms

    lowest, highest = PEAK_TORQUE_RANGE
    ratio = float(np.random.default_rng(seed).uniform(lowest, highest))
    assert estimate(ratio * rms) == pytest.approx(ratio)
    assert estimate(np.inf) == pytest.approx(PEAK_TORQUE_RATIO)
    assert estimate(1e9 * rms) == pytest.approx(highest)  # the twin: such limits are not those of a drive
    assert estimate(0.0) == pytest.approx(lowest)


def joint_squares(equations: NormalEquations, beta: np.ndarray) -> list[float]:
    """The sum of (Y_j beta)² for every joint."""
    return [float(beta[j.columns] @ j.gram @ beta[j.columns]) for j in equations.joints]


def test_a_parameter_without_effect_has_a_unit() -> None:
    base, equations = make_arm()
    still = replace(equations, joints=tuple(replace(joint, torque_squares=0.0) for joint in equations.joints))
    assert set(compute_torque_units(base, still).values()) == {1.0}
