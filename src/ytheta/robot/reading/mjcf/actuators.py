"""What the actuators of an MJCF file say about joints: how strong they are, their rotors, their friction."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ytheta.errors import suggest_names
from ytheta.files.xml_document import Node
from ytheta.robot.reading.mjcf.compiler import Compiler, leading, limits
from ytheta.robot.reading.mjcf.defaults import Defaults, kind_of


@dataclass(frozen=True)
class Actuation:
    """All actuators of one joint together, felt at the joint."""

    effort: float = 0.0
    rotor_inertia: float = 0.0
    viscous: float = 0.0


def read_actuators(
    nodes: Iterable[Node], joints: Collection[str], defaults: Defaults, compiler: Compiler
) -> dict[str, Actuation]:
    """By joint, in the order of the file. Actuators of tendons, sites and bodies are passed over."""
    found: dict[str, Actuation] = {}
    for written in nodes:
        node = defaults.applied(written, kind_of(written.tag))
        joint = node.attributes.get("joint", node.attributes.get("jointinparent"))
        if joint is None:
            continue
        if joint not in joints:
            raise node.error(f"the actuator drives {joint!r}, which is no joint{suggest_names(joint, joints)}")
        so_far = found.get(joint, Actuation())
        gear, _ = leading(node, "gear", 1.0)
        damping, _ = leading(node, "damping", 0.0)
        found[joint] = Actuation(
            effort=so_far.effort + (abs(gear) * _force(node, compiler) if gear else 0.0),
            rotor_inertia=so_far.rotor_inertia + gear * gear * node.number("armature", 0.0),
            viscous=so_far.viscous + gear * gear * damping,
        )
    return found


def _force(node: Node, compiler: Compiler) -> float:
    """The largest force before the gear; the command of a motor is its force."""
    bounds = [limits(node, "force", compiler)]
    if node.tag == "motor":
        bounds.append(limits(node, "ctrl", compiler))
    return min((max(abs(lower), abs(upper)) for lower, upper in filter(None, bounds)), default=math.inf)
