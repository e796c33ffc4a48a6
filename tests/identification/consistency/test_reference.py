"""Plausible references: the description if its links are bodies, floors otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support import example_robots
from tests.support.body_problems import make_pseudo
from ytheta.conventions import LINK_PARAMETERS
from ytheta.identification.consistency.reference import (
    DEFAULT_RADIUS,
    MIN_RELATIVE_MASS,
    MIN_RELATIVE_RADIUS,
    RADIUS_RANGE,
    PlausibleReference,
    find_placeholders,
    make_plausible_reference,
)
from ytheta.robot.inertia import Inertia
from ytheta.robot.parameters import with_theta
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot

SOLID = Inertia.about_center(4.0, (0.1, 0.0, 0.05), ((0.04, 0.0, 0.0), (0.0, 0.05, 0.0), (0.0, 0.0, 0.06)))


def make_arm(*inertias: Inertia, length: float = 0.4) -> Robot:
    """A chain of revolute joints, with the joints ``length`` apart along x."""
    links = (Link("base"), *(Link(f"link{k}", inertia) for k, inertia in enumerate(inertias)))
    joints = []
    for k, link in enumerate(links[1:]):
        placement = ytheta.Frame.shift(length if k else 0.0, 0.0, 0.0)
        joints.append(
            Joint(f"joint{k}", JointKind.REVOLUTE, links[k].name, link.name, placement=placement, axis=(0.0, 1.0, 0.0))
        )
    return Robot("arm", links, tuple(joints))


def get_link(reference: PlausibleReference, robot: Robot, link: str) -> Inertia:
    places = [robot.parameter_names.index(f"{link}.{parameter}") for parameter in LINK_PARAMETERS]
    np.testing.assert_allclose(make_pseudo(reference.theta, places), reference.pseudo[link], rtol=1e-9, atol=1e-12)
    return Inertia(tuple(reference.theta[places].tolist()))


def compute_smallest_moment(inertia: Inertia) -> float:
    """The smallest principal second moment about the centre of mass."""
    moments = np.linalg.eigvalsh(np.array(inertia.tensor_about_center))
    return float(moments.sum() / 2.0 - moments[-1])


def test_a_description_of_bodies_is_its_own_reference() -> None:
    robot = make_arm(SOLID, SOLID)
    reference = make_plausible_reference(robot)
    assert (reference.theta == robot.theta).all()
    assert reference.floored == {}
    assert reference.has_inertias
    assert reference.radius == pytest.approx(np.sqrt(0.05 / 4.0), rel=1e-12)
    np.testing.assert_allclose(reference.pseudo["link0"], SOLID.pseudo, rtol=1e-12, atol=1e-15)


POINT = Inertia.point_mass(2.0, (0.2, 0.1, 0.0))
FLAT = Inertia.about_center(2.0, (0.2, 0.1, 0.0), ((0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.05)))
NEGATIVE = Inertia((-1.0, *SOLID.parameters[1:]))
LIGHT = Inertia(tuple(1e-4 * p for p in SOLID.parameters))
TORN = Inertia((1e-6, *SOLID.parameters[1:]))  # its centre of mass would be 400 km away
STRAY = Inertia((0.0, 0.3, *(0.0,) * 8))


@pytest.mark.parametrize(
    ("body", "reason", "keeps_center"),
    [
        (POINT, "second moments about the centre raised", True),
        (FLAT, "triangle inequality violated", True),
        (NEGATIVE, "negative mass -1 kg; mass -1 kg raised to 0.08 kg", False),
        (LIGHT, "mass 0.0004 kg raised to 0.08 kg", True),
        (TORN, "raised to 0.08 kg", False),
        (STRAY, "inertia or first moment without mass", False),
        (Inertia(), "mass 0 kg raised to 0.08 kg", False),
    ],
)
def test_floors(body: Inertia, reason: str, keeps_center: bool) -> None:
    robot = make_arm(SOLID, body, SOLID)
    reference = make_plausible_reference(robot)
    assert list(reference.floored) == ["link1"]
    assert reason in reference.floored["link1"]
    mended = get_link(reference, robot, "link1")
    assert mended.mass == pytest.approx(max(body.mass, MIN_RELATIVE_MASS * SOLID.mass), rel=1e-12)
    floor = mended.mass * (MIN_RELATIVE_RADIUS * reference.radius) ** 2
    assert compute_smallest_moment(mended) == pytest.approx(floor, rel=1e-6)
    assert mended.consistency().reason == "physically consistent"
    center = body.center if keeps_center else (0.2, 0.0, 0.0)  # the middle of its joints
    np.testing.assert_allclose(mended.center, center, rtol=1e-9, atol=1e-12)
    assert get_link(reference, robot, "link2") == robot.link("link2").inertia


def test_a_description_without_inertias() -> None:
    robot = make_arm(Inertia(), Inertia(), Inertia())
    reference = make_plausible_reference(robot)
    assert not reference.has_inertias
    assert len(reference.floored) == 3
    assert reference.radius == pytest.approx(0.4 / np.sqrt(18.0), rel=1e-12)  # of a rod of 0.4 m
    body = get_link(reference, robot, "link1")
    assert body.mass == 1.0
    np.testing.assert_allclose(body.center, (0.2, 0.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(body.tensor_about_center, reference.radius**2 * np.eye(3), atol=1e-12)
    assert make_plausible_reference(make_arm(Inertia(), length=0.0)).radius == DEFAULT_RADIUS
    for length, radius in ((0.01, RADIUS_RANGE[0]), (9.0, RADIUS_RANGE[1])):
        assert make_plausible_reference(make_arm(Inertia(), Inertia(), length=length)).radius == radius


def test_point_masses_have_the_radius_of_the_geometry() -> None:
    reference = make_plausible_reference(make_arm(POINT, POINT, length=0.6))
    assert reference.has_inertias
    assert reference.radius == pytest.approx(0.6 / np.sqrt(18.0), rel=1e-12)


def test_only_inconsistent_links() -> None:
    robot = make_arm(NEGATIVE, FLAT)
    reference = make_plausible_reference(robot)
    assert get_link(reference, robot, "link0").mass == pytest.approx(0.02 * FLAT.mass)
    assert all(with_theta(robot, reference.theta).consistency.values())


def test_loads_and_drives() -> None:
    robot = make_arm(SOLID, SOLID).with_load(Inertia())
    robot = robot.with_drives(lambda _, drive: replace(drive, viscous=-0.3))
    reference = make_plausible_reference(robot)
    assert list(reference.floored) == ["load"]
    np.testing.assert_allclose(get_link(reference, robot, "load").center, (0.0, 0.0, 0.0), atol=1e-15)
    assert (reference.theta[30:] == robot.theta[30:]).all()


def test_unset_lengths_are_not_needed() -> None:
    robot = ytheta.load("lu-two-link")
    robot = replace(robot, lengths=tuple((name, None) for name, _ in robot.lengths))
    robot = robot.with_inertias({link.name: Inertia() for link in robot.links})
    assert robot.unset_lengths
    reference = make_plausible_reference(robot)
    assert reference.radius == DEFAULT_RADIUS
    assert all(with_theta(robot, reference.theta).consistency.values())


@pytest.mark.parametrize("name", ["talos_full_v2.urdf", "panda.urdf", "solo12.urdf", "tiago_no_hand.urdf"])
def test_vendor_robots_have_plausible_references(name: str) -> None:
    robot = ytheta.load(example_robots.urdf(name))
    reference = make_plausible_reference(robot)
    links = with_theta(robot, reference.theta).consistency
    assert {links[link].reason for link in reference.pseudo} == {"physically consistent"}
    assert all(np.linalg.eigvalsh(P)[0] > 0.0 for P in reference.pseudo.values())


def draw_designed(rng: np.random.Generator) -> Inertia:
    """A cylinder of light or heavy material with hollow parts, anywhere on its link."""
    radius, length = rng.uniform(0.03, 0.1), rng.uniform(0.1, 0.6)
    mass = rng.uniform(300.0, 3000.0) * np.pi * radius**2 * length
    across, along = mass * (radius**2 / 4.0 + length**2 / 12.0), mass * radius**2 / 2.0
    tensor = ((across, 0.0, 0.0), (0.0, across, 0.0), (0.0, 0.0, along))
    return Inertia.about_center(mass, tuple(rng.uniform(-0.2, 0.2, 3).tolist()), tensor)


def scale_tensor(inertia: Inertia, factor: float) -> Inertia:
    x, y, z = (tuple(factor * entry for entry in row) for row in inertia.tensor_about_center)
    return Inertia.about_center(inertia.mass, inertia.center, (x, y, z))  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(5))
def test_placeholders_are_recognised(seed: int) -> None:
    rng = np.random.default_rng(seed)
    designed = {f"link{k}": draw_designed(rng) for k in range(5)}
    assert find_placeholders(designed) == frozenset()
    moment, mass, place = 10.0 ** rng.uniform(-4.0, 0.0), rng.uniform(0.1, 5.0), f"link{rng.integers(5)}"
    x, y, z = rng.uniform(-0.2, 0.2, 3).tolist()
    ball = Inertia.about_center(mass, (x, y, z), ((moment, 0.0, 0.0), (0.0, moment, 0.0), (0.0, 0.0, moment)))
    own = designed[place]
    for invented in (
        ball,
        Inertia(),
        scale_tensor(own, 1e3),
        scale_tensor(own, 1e-3),
        Inertia.point_mass(mass, (x, y, z)),
    ):
        assert find_placeholders(designed | {place: invented}) == {place}
    equal = {name: Inertia.about_center(mass, each.center, each.tensor_about_center) for name, each in designed.items()}
    assert find_placeholders(equal) == set(designed)
    assert find_placeholders({"link0": designed["link0"], "link1": designed["link0"]}) == frozenset()


def test_placeholders_of_published_robots() -> None:
    """Arms from design files, a flange that is a ball, and arms whose published inertias no body has."""
    expected: dict[str, set[str]] = {
        "ur10": set(),
        "panda": set(),
        "iiwa14": {"link7"},
        "puma560": {"link1", "link3"},
        "stanford": {"link3", "link5"},
    }
    for name, placeholders in expected.items():
        assert make_plausible_reference(ytheta.load(name)).placeholders == placeholders, name
