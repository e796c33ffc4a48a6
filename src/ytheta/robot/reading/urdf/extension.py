"""The element ``<ytheta>`` of a URDF: what URDF has no words for. Other programs ignore it, as they do ``<gazebo>``.

::

    <ytheta floating_base="true">                   the root link floats; there is no joint to the world
      <link name="hip.x" inertia="false"/>          a link without inertia, such as one between two axes of a ball joint
      <joint name="wrist_sensor" type="sensor"/>    a fixed joint that measures the wrench that it transmits
    </ytheta>
"""

from __future__ import annotations

from dataclasses import replace

from ytheta.errors import InputError, suggest_names
from ytheta.files.xml_document import Node
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot

EXTENSION = "ytheta"
FLOATING_BASE = "floating_base"


def apply_extension(robot: Robot, root: Node, *, fix_base: bool) -> Robot:
    """Return the robot of a URDF with what its elements ``<ytheta>`` declare. ``fix_base``: the base does not float."""
    for node in root.all(EXTENSION):
        links = {child.text("name"): child for child in node.all("link")}
        joints = {child.text("name"): child for child in node.all("joint")}
        _check_names(links, [link.name for link in robot.links])
        _check_names(joints, [joint.name for joint in robot.joints])
        robot = replace(
            robot,
            links=tuple(_declare_link(link, links.get(link.name)) for link in robot.links),
            joints=tuple(_declare_joint(joint, joints.get(joint.name)) for joint in robot.joints),
        )
        if _read_flag(node, FLOATING_BASE, default=False) and not fix_base:
            from ytheta.robot.floating.base import float_base  # imported here, since few robots need it

            try:
                robot = float_base(robot)
            except InputError as error:
                raise node.error(str(error)) from None
    return robot


def _check_names(named: dict[str, Node], known: list[str]) -> None:
    for name, node in named.items():
        if name not in known:
            raise node.error(f"the file has no {node.tag} {name!r}{suggest_names(name, known)}")


def _declare_link(link: Link, node: Node | None) -> Link:
    if node is None or _read_flag(node, "inertia", default=True):
        return link
    if not link.inertia.massless:
        raise node.error("the link is declared to have no inertia, but has one; remove one of the two")
    return replace(link, has_inertia=False)


def _declare_joint(joint: Joint, node: Node | None) -> Joint:
    if node is None:
        return joint
    if node.text("type") != JointKind.SENSOR.value or joint.kind is not JointKind.FIXED:
        raise node.error(f"only a fixed joint can be declared as 'sensor', but this is {joint.kind}; remove it")
    return replace(joint, kind=JointKind.SENSOR)


def _read_flag(node: Node, key: str, *, default: bool) -> bool:
    text = node.get(key, str(default).lower())
    if text not in ("true", "false"):
        raise node.error(f"'{key}' is {text!r}; write true or false")
    return text == "true"
