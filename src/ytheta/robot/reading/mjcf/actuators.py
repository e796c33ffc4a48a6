"""Actuators of an MJCF file and the tendons that they pull: effort limits, rotor inertia and friction of the joints."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from ytheta.errors import suggest_names
from ytheta.files.xml_document import Node
from ytheta.robot.reading.description import FindingCollector
from ytheta.robot.reading.mjcf.attributes import Compiler, Defaults, find_kind, read_leading, read_limits

Terms: TypeAlias = tuple[tuple[str, float], ...]
FixedTendons: TypeAlias = Mapping[str, Terms]

NO_TENDONS: FixedTendons = MappingProxyType({})


@dataclass(frozen=True)
class Actuation:
    """The sum of all actuators of one joint, on the joint side of their gears."""

    effort: float = 0.0
    rotor_inertia: float = 0.0
    viscous: float = 0.0


def read_actuators(
    nodes: Iterable[Node],
    joints: Collection[str],
    defaults: Defaults,
    compiler: Compiler,
    tendons: FixedTendons = NO_TENDONS,
) -> dict[str, Actuation]:
    """Return the actuation by joint, in the order of the file.

    Actuators of sites, bodies and spatial tendons are ignored. An actuator of a fixed tendon exerts its force times the
    coefficient of the joint on each joint of the tendon.
    """
    actuation: dict[str, Actuation] = {}
    for element in nodes:
        node = defaults.apply(element, find_kind(element.tag))
        joint = node.attributes.get("joint", node.attributes.get("jointinparent"))
        if joint is None:
            gear, _ = read_leading(node, "gear", 1.0)
            for name, factor in tendons.get(node.get("tendon", ""), ()):
                total = actuation.get(name, Actuation())
                effort = total.effort + (abs(gear * factor) * _find_max_force(node, compiler) if gear else 0.0)
                actuation[name] = replace(total, effort=effort)
            continue
        if joint not in joints:
            raise node.error(f"the actuator drives {joint!r}, which is not a joint{suggest_names(joint, joints)}")
        total = actuation.get(joint, Actuation())
        gear, _ = read_leading(node, "gear", 1.0)
        damping, _ = read_leading(node, "damping", 0.0)
        actuation[joint] = Actuation(
            effort=total.effort + (abs(gear) * _find_max_force(node, compiler) if gear else 0.0),
            rotor_inertia=total.rotor_inertia + gear * gear * node.number("armature", 0.0),
            viscous=total.viscous + gear * gear * damping,
        )
    return actuation


def drive_joints(nodes: Iterable[Node], defaults: Defaults, tendons: FixedTendons) -> bool:
    """Whether all actuators drive joints, directly or by fixed tendons, so that it is known what they move."""
    actuators = [defaults.apply(node, find_kind(node.tag)) for node in nodes]
    return all(
        "joint" in node.attributes or "jointinparent" in node.attributes or node.get("tendon", "") in tendons
        for node in actuators
    )


def _find_max_force(node: Node, compiler: Compiler) -> float:
    """Return the largest force before the gear. The control signal of a ``motor`` is a force with its own limits."""
    bounds = [read_limits(node, "force", compiler)]
    if node.tag == "motor":
        bounds.append(read_limits(node, "ctrl", compiler))
    return min((max(abs(lower), abs(upper)) for lower, upper in filter(None, bounds)), default=math.inf)


# Fixed tendons of MJCF: their length is a linear function of joint positions, so that actuators on them drive joints.
#
# Spatial tendons, whose length depends on paths through sites, are not modelled.


_FORCES = ("stiffness", "damping", "frictionloss", "armature")


def read_tendons(
    section: Node, joints: Collection[str], defaults: Defaults, compiler: Compiler, findings: FindingCollector
) -> FixedTendons:
    """Return joints and coefficients of every fixed tendon with a name."""
    tendons: dict[str, Terms] = {}
    for element in section.children:
        node = defaults.apply(element, "tendon")
        name = node.get("name", "") or f"<{node.tag}> in line {node.line}"
        if node.tag != "fixed":
            findings.warn("spatial tendons are ignored, with their springs, dampers and actuators: {}", name)
            continue
        if any(any(node.numbers(key, default=(0.0,))) for key in _FORCES) or read_limits(node, "", compiler):
            findings.warn("springs, dampers, friction, rotor inertia and limits of tendons are ignored: {}", name)
        tendons[name] = _read_terms(node, joints)
    return tendons


def _read_terms(node: Node, joints: Collection[str]) -> Terms:
    terms: dict[str, float] = {}
    for child in node.all("joint"):
        joint = child.text("joint")
        if joint not in joints:
            raise child.error(f"the tendon moves {joint!r}, which is not a joint{suggest_names(joint, joints)}")
        terms[joint] = terms.get(joint, 0.0) + child.number("coef")
    return tuple((joint, factor) for joint, factor in terms.items() if factor)
