"""Inertia of MJCF bodies against MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.mjcf_models import (
    GEOM,
    TOLERANCE,
    check_agreement,
    check_refused,
    inertia_error,
    read_both,
    read_text,
    world_text,
)

SHAPES = {
    "sphere": "0.1",
    "capsule": "0.1 0.3",
    "cylinder": "0.1 0.3",
    "box": "0.1 0.2 0.3",
    "ellipsoid": "0.1 0.2 0.3",
}


@pytest.mark.parametrize("amount", ["", 'mass="2"', 'density="300"', 'mass="2" density="300"'])
@pytest.mark.parametrize("shell", ["false", "true"])
@pytest.mark.parametrize("shape", SHAPES)
def test_inertia_from_one_geom(shape: str, shell: str, amount: str) -> None:
    geom = f'<geom type="{shape}" size="{SHAPES[shape]}" pos="1 2 3" euler="10 20 30" shellinertia="{shell}" {amount}/>'
    robot, model = read_both(world_text(f"<body><joint/>{geom}</body>"))
    # The shell of an ellipsoid is a difference over 1e-6 m, so the last six of sixteen digits are noise on both sides.
    assert inertia_error(robot, model) < (1e-7 if (shape, shell) == ("ellipsoid", "true") else TOLERANCE)


@pytest.mark.parametrize("shape", ["capsule", "cylinder", "box", "ellipsoid"])
@pytest.mark.parametrize("ends", ["0 0 0 1 2 3", "1 2 3 1 2 2", "-1 0 0.5 1 1 1"])
def test_inertia_from_two_ends(shape: str, ends: str) -> None:
    geom = f'<geom type="{shape}" size="0.1 7 7" fromto="{ends}" euler="1 2 3"/>'
    check_agreement(*read_both(world_text(f"<body><joint/>{geom}</body>")))


@pytest.mark.parametrize(
    "compiler",
    [
        "",
        'inertiafromgeom="true"',
        'inertiafromgeom="false"',
        'inertiagrouprange="1 3"',
        'boundmass="0.7" boundinertia="0.05"',
        'boundinertia="0.3" balanceinertia="true"',
        'settotalmass="12"',
    ],
)
def test_compiler_settings(compiler: str) -> None:
    inertial = '<inertial pos="0.1 0 0" mass="0.5" diaginertia="0.2 0.3 0.4" euler="10 20 30"/>'
    text = world_text(
        f"""
        <body><joint armature="1"/>{inertial}
          <geom type="box" size=".1 .2 .3" pos="1 0 0" euler="3 2 1"/><geom size="0.2" group="2"/>
          <geom size="1" mass="0"/><geom size="1" density="0"/></body>
        <body><joint armature="1"/>{inertial}<geom size="0.1" mass="0"/></body>
        <body><joint armature="1"/>{inertial}</body>
        <body><joint armature="1"/>
          <inertial pos="0 0 1" mass="0.1" fullinertia="0.1 0.2 0.25 0.01 -0.02 0.03"/></body>""",
        f"<compiler {compiler}/>",
    )
    check_agreement(*read_both(text))


@pytest.mark.parametrize(
    "body",
    [
        '<body pos="1 2 3" euler="0 0 30"><joint/>{}</body>',
        '<frame pos="0 0 9" euler="0 90 0"><body pos="1 2 3" euler="10 20 30"><joint/>{}</body></frame>',
    ],
)
@pytest.mark.parametrize("geom", ["", '<geom size="0.1" mass="0" pos="4 5 6"/>', '<geom size="0.1" group="5"/>'])
def test_bounds_of_a_body_without_mass(body: str, geom: str) -> None:
    """MuJoCo places the mass that a body gets from ``boundmass`` at the ``pos`` of the body, seen from this body."""
    compiler = '<compiler boundmass="0.1" boundinertia="0.2" inertiagrouprange="0 1"/>'
    robot, model = read_both(world_text(body.format(geom), compiler))
    assert inertia_error(robot, model) < TOLERANCE
    assert robot.links[1].inertia.center == pytest.approx((1.0, 2.0, 3.0), rel=1e-12)


def test_a_body_without_mass_and_bounds_has_its_centre_at_its_origin() -> None:
    robot = read_text(world_text(f'<body pos="1 2 3"><joint/><body><joint/>{GEOM}</body></body>'))
    assert robot.links[1].inertia.massless


def test_inertia_of_many_geoms() -> None:
    geoms = "".join(
        f'<geom type="{shape}" size="{size}" pos="{k} {k * k} 1" euler="{20 * k} 10 5" mass="{0.3 + k}"/>'
        for k, (shape, size) in enumerate(SHAPES.items())
    )
    check_agreement(*read_both(world_text(f'<body>{geoms}<joint/><geom type="box" size="1 1 .01" group="9"/></body>')))


def test_balanceinertia_repairs_the_triangle_inequality() -> None:
    text = world_text(
        '<body><joint/><inertial pos="0 0 1" mass="1" diaginertia="1 1 5" euler="10 20 30"/></body>',
        '<compiler balanceinertia="true"/>',
    )
    robot, model = read_both(text)
    check_agreement(robot, model)
    assert np.diag(robot.links[1].inertia.tensor_about_center) == pytest.approx([7 / 3] * 3)


def test_balanceinertia_keeps_flat_plates() -> None:
    text = world_text(
        '<body><joint/><inertial pos="0 0 1" mass="1" diaginertia="0.1 0.2 0.3" euler="10 20 30"/></body>',
        '<compiler balanceinertia="true"/>',
    )
    assert sorted(np.linalg.eigvalsh(read_text(text).links[1].inertia.tensor_about_center)) == pytest.approx(
        [0.1, 0.2, 0.3]
    )


MESH = '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>'


@pytest.mark.parametrize("geom", ['mass="0"', 'density="0"', 'group="4"'])
def test_meshes_without_mass_are_allowed(geom: str) -> None:
    text = world_text(
        f'<body><joint/><geom type="mesh" mesh="m" {geom}/>{GEOM}</body>', f'{MESH}<compiler inertiagrouprange="0 3"/>'
    )
    check_agreement(*read_both(text))


def test_meshes_are_allowed_with_an_inertial_and_on_fixed_bodies() -> None:
    mesh = '<geom type="mesh" mesh="m"/>'
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    robot, model = read_both(world_text(f'<body name="table">{mesh}<body><joint/>{inertial}{mesh}</body></body>', MESH))
    check_agreement(robot, model)
    assert any("treated as massless: table" in note.text for note in robot.findings)


@pytest.mark.parametrize(
    ("content", "top", "message"),
    [
        ('<body><geom type="box" size="1 1e-320 1"/></body>', "", "give 3 positive numbers as the size of a box"),
        (
            '<body><joint/><geom type="box" size="1 1 1" density="1e308"/></body>',
            '<compiler boundinertia="1"/>',
            "its mass, position or inertia is too large to compute with; give smaller numbers",
        ),
        ('<body><geom size="1" mass="-1"/></body>', "", "the mass -1 of the geom is negative"),
        ('<body><geom size="1" density="-1"/></body>', "", "the density -1 of the geom is negative"),
        ('<body><geom type="box" size="1 1"/></body>', "", "give 3 positive numbers as the size of a box"),
        (
            '<body><geom type="capsule" fromto="0 0 0 1 1 1"/></body>',
            "",
            "give 1 positive number as the size of a capsule",
        ),
        ('<body><geom size="1" fromto="0 0 0 1 1 1"/></body>', "", "a sphere has no 'fromto'"),
        ('<body><geom type="cone"/></body>', "", "type='cone' is unknown"),
        ('<body><inertial pos="0 0 0" mass="-1"/></body>', "", "the mass -1 kg is negative"),
        ('<body><inertial pos="0 0 0"/></body>', "", "the attribute 'mass' is missing"),
        ('<body><inertial mass="1"/></body>', "", "the attribute 'pos' is missing"),
        (
            '<body><inertial pos="0 0 0" mass="1" fullinertia="1 1 1 0 0 0" quat="1 0 0 0"/></body>',
            "",
            "'fullinertia' and 'quat' exclude each other",
        ),
    ],
)
def test_mistakes(content: str, top: str, message: str) -> None:
    check_refused(content, top, message)
