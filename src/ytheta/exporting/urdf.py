"""Export to URDF: the source file with new inertias and friction, or a new file.

In the source file, only the attributes of ``<inertial>`` and ``<dynamics>`` change whose values are new; comments,
order and white space stay. A new file has no meshes. Each new link frame is at its joint, as URDF requires.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from ytheta.exporting import new_urdf, xml_edit
from ytheta.exporting.bodies import FileChanges, find_changes, match_wrench_joints
from ytheta.exporting.losses import find_description_losses
from ytheta.exporting.refit import Abilities, Refit, refit
from ytheta.exporting.source import ExportSource, Format, NoOptions
from ytheta.files.xml_document import Node
from ytheta.findings import Finding, Severity
from ytheta.robot.floating import find_floating_link
from ytheta.robot.frame import Frame, to_rows
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive, Joint, Link
from ytheta.robot.reading.urdf import read_origin, read_urdf
from ytheta.robot.robot import Robot

ROOT_TAG = "robot"
EXTENSIONS = (".urdf", ".xml")


def render(source: ExportSource, path: Path, options: NoOptions) -> Mapping[Path, bytes]:
    """Return the content of the URDF file."""
    del options
    xml_edit.check_extension(path, "URDF", *EXTENSIONS)
    found = xml_edit.find_xml(source, ROOT_TAG)
    robot = _refit(source).robot
    if found is None:
        return {path: new_urdf.format_robot(robot, find_losses(source, path)).encode("utf-8")}
    file, content, root = found
    xml_edit.check_encoding(content, file)
    described = _read_robot(root, file, source.robot)
    return {path: edit_urdf(content, root, find_changes(described, robot, file=file.name))}


def find_losses(source: ExportSource, path: Path) -> tuple[Finding, ...]:
    """Return what the file does not express, and files that it refers to but that are not beside it."""
    found = xml_edit.find_xml(source, ROOT_TAG)
    described = None if found is None else _read_robot(found[2], found[0], source.robot)
    losses = find_description_losses(source.robot, to="urdf", described=described)
    losses = (*losses, *_refit(source).findings)
    losses = (*losses, *_describe_floating_base(source.robot, None if found is None else found[2]))
    if found is None:
        return (*losses, *xml_edit.find_missing_source(source, "URDF"))
    nodes = (node for node in found[2].descendants() if node.tag in ("mesh", "texture"))
    return (*losses, *xml_edit.find_misplaced_files((node.get("filename", "") for node in nodes), found[0], path))


@lru_cache(maxsize=1)  # the file and the findings about it need the same fit
def _refit(source: ExportSource) -> Refit:
    return refit(source, Abilities("URDF", rotor_inertia=False, forces=frozenset()))


def _describe_floating_base(robot: Robot, root: Node | None) -> tuple[Finding, ...]:
    """Return a note about a floating base if no floating joint of the file, None for a new one, expresses it."""
    if not robot.floating or (root is not None and any(j.get("type", "") == "floating" for j in root.all("joint"))):
        return ()
    base = find_floating_link(robot)
    if root is None:
        statement = f"the floating base {base!r} is the root link of the file, without a joint to the world"
        remedy = "say to other programs that it floats, such as JointModelFreeFlyer() to Pinocchio"
    else:
        statement = f"the file does not say that the base {base!r} floats"
        remedy = "read it with --floating-base, in Pinocchio with JointModelFreeFlyer()"
    return (Finding("floating base", Severity.NOTE, statement, remedy, (base,)),)


def _read_robot(root: Node, file: Path, robot: Robot) -> Robot:
    """Return the robot in a file, with a floating base and sensors if the robot that is written has them."""
    described = read_urdf(root, file, 0.0, fix_base=not robot.floating)
    return match_wrench_joints(described, robot, file=file.name)


def edit_urdf(content: bytes, root: Node, changes: FileChanges) -> bytes:
    """Return the content of a URDF file with these changes."""
    edits: list[xml_edit.Edit] = []
    for node in root.all("link"):
        inertia = changes.inertias.get(node.text("name"))
        if inertia is not None:
            edits += _edit_link(content, node, inertia)
    for node in root.all("joint"):
        drive = changes.drives.get(node.text("name"))
        if drive is not None:
            edits += _edit_joint(content, node, drive)
    loads = [text for joint, link in changes.loads for text in format_load(joint, link)]
    return xml_edit.apply_edits(content, [*edits, *xml_edit.insert_children(content, root.start, loads, last=True)])


def _edit_link(content: bytes, link: Node, inertia: Inertia) -> list[xml_edit.Edit]:
    node = link.first("inertial")
    if node is None:
        return xml_edit.insert_children(content, link.start, [new_urdf.format_inertial(inertia)])
    if inertia.massless:
        return [xml_edit.remove_element(content, node.start)]
    edits: list[xml_edit.Edit] = []
    origin, mass, tensor = node.first("origin"), node.first("mass"), node.first("inertia")
    assert mass is not None
    assert tensor is not None
    # The tensor is written in the axes of the file, so that its angles stay.
    axes = np.array(read_origin(node).rotation)
    turned = axes.T @ np.array(inertia.tensor_about_center) @ axes
    center = xml_edit.format_numbers(inertia.center)
    if origin is None:
        edits += xml_edit.insert_children(content, node.start, [f'<origin xyz="{center}"/>'])
    else:
        edits += xml_edit.set_attributes(content, origin.start, {"xyz": center})
    moments = xml_edit.list_moments(Inertia.about_center(1.0, (0.0, 0.0, 0.0), to_rows(turned)))
    edits += xml_edit.set_attributes(content, mass.start, {"value": xml_edit.format_number(inertia.mass)})
    return edits + xml_edit.set_attributes(
        content, tensor.start, {k: xml_edit.format_number(v) for k, v in moments.items()}
    )


def _edit_joint(content: bytes, joint: Node, drive: Drive) -> list[xml_edit.Edit]:
    values = {"damping": drive.viscous, "friction": drive.coulomb}
    node = joint.first("dynamics")
    if node is None:
        text = " ".join(f'{key}="{xml_edit.format_number(value)}"' for key, value in values.items())
        return (
            xml_edit.insert_children(content, joint.start, [f"<dynamics {text}/>"], last=True)
            if any(values.values())
            else []
        )
    old = {key: node.number(key, 0.0) for key in values}
    return xml_edit.set_attributes(
        content, node.start, {key: xml_edit.format_number(value) for key, value in values.items() if value != old[key]}
    )


def format_load(joint: Joint, link: Link) -> tuple[str, str]:
    """Return a load as a link and its fixed joint, each in one line."""
    frame: Frame = joint.placement @ joint.seat
    inertial = "" if link.inertia.massless else new_urdf.format_inertial(link.inertia)
    return (
        f"<link name={xml_edit.quote_name(link.name)}>{inertial}</link>",
        f'<joint name={xml_edit.quote_name(joint.name)} type="fixed"><parent link={quoteattr(joint.parent)}/>'
        f"<child link={quoteattr(link.name)}/>{new_urdf.format_origin(frame)}</joint>",
    )


URDF = Format(render, find_losses=find_losses, keeps_content=True)
