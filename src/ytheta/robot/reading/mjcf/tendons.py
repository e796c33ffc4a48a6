"""Fixed tendons of MJCF: their length is a linear function of joint positions, so that actuators on them drive joints.

Spatial tendons, whose length depends on paths through sites, are not modelled.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import TypeAlias

from ytheta.errors import suggest_names
from ytheta.files.xml_document import Node
from ytheta.robot.reading.mjcf.compiler import Compiler, read_limits
from ytheta.robot.reading.mjcf.defaults import Defaults
from ytheta.robot.reading.mjcf.findings import FindingCollector

Terms: TypeAlias = tuple[tuple[str, float], ...]
FixedTendons: TypeAlias = Mapping[str, Terms]

NO_TENDONS: FixedTendons = MappingProxyType({})

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
