"""Elements in the models of a robot that SDF does not define: extensions of other programs, and misplaced elements.

Such elements are ignored. Some of them change the dynamics, such as ``<drake:linear_bushing_rpy>`` or ``<soft_shape>``
of DART, so that a warning names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ytheta.files.xml_document import Node
from ytheta.robot.reading.mjcf.findings import FindingCollector
from ytheta.robot.reading.sdf.expansion.document import MERGED

_PLACE = ("pose", "frame")
_MODEL = (
    *_PLACE,
    "allow_auto_disable",
    "enable_wind",
    "gripper",
    "include",
    "joint",
    "link",
    MERGED,
    "model",
    "plugin",
)
_LINK = (
    *_PLACE,
    "audio_sink",
    "audio_source",
    "battery",
    "collision",
    "enable_wind",
    "gravity",
    "inertial",
    "kinematic",
)
_JOINT = (*_PLACE, "axis", "axis2", "child", "gearbox_ratio", "gearbox_reference_body", "parent", "physics", "plugin")
_AXIS = ("xyz", "dynamics", "initial_position", "limit", "mimic", "use_parent_model_frame")

# The elements of SDF 1.2 to 1.12 inside of those that the dynamics depend on.
_DEFINED = {
    "model": {*_MODEL, "self_collide", "static"},
    "link": {
        *(*_LINK, "light", "must_be_base_link", "particle_emitter", "plugin", "projector", "self_collide", "sensor"),
        *("velocity_decay", "visual"),
    },
    "inertial": {*_PLACE, "auto_inertia_params", "density", "fluid_added_mass", "inertia", "mass"},
    "inertia": {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"},
    "joint": {*_JOINT, "screw_thread_pitch", "sensor", "thread_pitch"},
    "axis": set(_AXIS),
    "axis2": set(_AXIS),
    "dynamics": {"damping", "friction", "spring_reference", "spring_stiffness"},
    "limit": {"dissipation", "effort", "lower", "stiffness", "upper", "velocity"},
}
_DEFINED[MERGED] = _DEFINED["model"]

# Extensions that are read, and those of contacts, views and controllers.
_READ = {"drake:acceleration", "drake:damping", "drake:gear_ratio", "drake:rotor_inertia"}
_HARMLESS = {
    *("drake:collision_filter_group", "drake:controller_gains", "drake:illustration_properties"),
    *("drake:perception_properties", "drake:proximity_properties"),
    "contact",  # in links, for Bullet
    "soft_contact",
}

_STATEMENT = "elements that SDF does not define are ignored, although they may change the dynamics: {}"


def report_foreign_elements(nodes: Iterable[Node], findings: FindingCollector) -> None:
    """Add a warning about all elements that SDF does not define inside of these models, links and joints."""
    named: set[tuple[str, str]] = set()
    for node in nodes:
        for parent, child in _find_foreign(node):
            if (parent.tag, child.tag) not in named:
                named.add((parent.tag, child.tag))
                findings.warn(_STATEMENT, f"<{child.tag}> in <{parent.tag}> ({child.path.name}, line {child.line})")


def _find_foreign(node: Node) -> Iterator[tuple[Node, Node]]:
    """Yield pairs of an element and one inside of it that SDF does not define.

    Models, links and joints inside are not searched, since they are arguments of their own.
    """
    for child in node.children:
        if child.tag in _DEFINED[node.tag]:
            if child.tag in _DEFINED and child.tag not in ("model", MERGED, "link", "joint"):
                yield from _find_foreign(child)
        elif child.tag not in _READ and child.tag not in _HARMLESS:
            yield node, child
