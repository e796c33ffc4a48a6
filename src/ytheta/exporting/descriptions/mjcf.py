"""Export to MJCF: the source file with new inertias, armature and friction, or a new file.

In the source file, only ``<inertial>`` and the attributes ``armature``, ``damping`` and ``frictionloss`` of joints
change. A body whose inertia MuJoCo infers from geoms or meshes gets an ``<inertial>``, which has priority. Settings of
the compiler that would change inertias (``inertiafromgeom="true"``, ``settotalmass``) are switched off, and then all
inertias are written. An included file that changes is inserted in place of its ``<include>``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ytheta.errors import InputError
from ytheta.exporting.descriptions import new_mjcf
from ytheta.exporting.descriptions.bodies import FileChanges, find_changes
from ytheta.exporting.descriptions.includes import insert_edited_files
from ytheta.exporting.descriptions.mjcf_file import MjcfFile, read_mjcf_file
from ytheta.exporting.descriptions.numbers import format_numbers
from ytheta.exporting.descriptions.references import find_misplaced_files
from ytheta.exporting.descriptions.source_file import check_extension, find_missing_source, find_xml
from ytheta.exporting.descriptions.xml_edit import (
    Edit,
    check_encoding,
    insert_children,
    set_attributes,
)
from ytheta.exporting.losses import find_description_losses
from ytheta.exporting.source import ExportSource
from ytheta.files.bounded import read_bytes
from ytheta.files.xml_document import Node
from ytheta.findings import Finding, Severity
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive, Force
from ytheta.robot.reading.mjcf.actuators import Actuation
from ytheta.robot.reading.mjcf.bodies import Body
from ytheta.robot.reading.mjcf.defaults import ORIENTATIONS
from ytheta.robot.reading.mjcf.document import merge_sections
from ytheta.robot.reading.mjcf.masses.inertia import Content, read_inertia

ROOT_TAG = "mujoco"
EXTENSIONS = (".xml", ".mjcf")
# Relative difference of an inertia that MuJoCo's compiler has changed by one of its bounds.
MAX_RELATIVE_DIFFERENCE = 1e-9


@dataclass(frozen=True)
class Options:
    """MJCF has no settings."""


def render(source: ExportSource, path: Path, *, options: Options) -> Mapping[Path, bytes]:
    """Return the content of the MJCF file."""
    del options
    check_extension(path, "MJCF", *EXTENSIONS)
    found = find_xml(source, ROOT_TAG)
    if found is None:
        return {path: new_mjcf.format_robot(source.robot, find_losses(source, path)).encode("utf-8")}
    file, _, root = found
    mjcf = read_mjcf_file(root, file, source.robot)
    changes = find_changes(mjcf.robot, source.robot, file=file.name, unknown=mjcf.unknown)
    return {path: edit_mjcf(file, mjcf, changes)}


def find_losses(source: ExportSource, path: Path) -> tuple[Finding, ...]:
    """Return what the file does not express, and files that it refers to but that are not beside it."""
    found = find_xml(source, ROOT_TAG)
    mjcf = None if found is None else read_mjcf_file(found[2], found[0], source.robot)
    losses = find_description_losses(source.robot, to="mjcf", described=None if mjcf is None else mjcf.robot)
    if found is None or mjcf is None:
        return (*losses, *find_missing_source(source, "MJCF"))
    nodes = (*merge_sections(mjcf.root, "asset").children, *(node for node in found[2].descendants()))
    losses = (*losses, *_find_ball_losses(source, mjcf))
    names = (node.get("file", "") for node in nodes if node.tag in ("mesh", "hfield", "texture", "skin", "include"))
    return (*losses, *find_misplaced_files(names, found[0], path))


def _find_ball_losses(source: ExportSource, mjcf: MjcfFile) -> tuple[Finding, ...]:
    """Return the drives of hinges that are one ball joint in the file, which has no drives of its own."""
    hinges = (joint for joint in source.robot.movable if joint.name not in mjcf.joints)
    names = tuple(joint.name for joint in hinges if any(joint.drive.parameters))
    statement = f"MJCF cannot express rotor inertia and friction of the axes of a ball joint: {', '.join(names)}"
    return (Finding("not written", Severity.WARNING, statement, "", names),) if names else ()


def edit_mjcf(file: Path, mjcf: MjcfFile, changes: FileChanges) -> bytes:
    """Return the content of an MJCF file with these changes."""
    contents = {path: read_bytes(path) for path in {file, *(node.path for node in mjcf.root.descendants())}}
    for path, content in contents.items():
        check_encoding(content, path)
    edits: defaultdict[Path, list[Edit]] = defaultdict(list)
    inertias = dict(changes.inertias)
    settings = {
        key: value
        for key, value, applies in (
            ("inertiafromgeom", "auto", mjcf.compiler.inertiafromgeom == "true"),
            ("settotalmass", "-1", mjcf.compiler.settotalmass > 0.0),
        )
        if applies
    }
    if inertias and settings:
        inertias = {name: mjcf.robot.link(name).inertia for name in mjcf.bodies if name not in mjcf.unknown} | inertias
        for node in mjcf.root.all("compiler"):
            changed = {key: value for key, value in settings.items() if key in node.attributes}
            edits[node.path] += set_attributes(contents[node.path], node.start, changed)
    compiler = replace(mjcf.compiler, inertiafromgeom="auto", settotalmass=0.0)
    for name, inertia in inertias.items():
        body = mjcf.bodies[name]
        attributes, around = format_inertial(inertia, body)
        _check_bounds(name, inertia, read_inertia(_make_content(attributes, around, body), compiler).inertia, file)
        edits[body.node.path] += _edit_body(contents, body, attributes)
    for joint, link in changes.loads:
        body = mjcf.bodies[joint.parent]
        text = new_mjcf.format_load(joint, link)
        edits[body.node.path] += insert_children(contents[body.node.path], body.node.start, [text], last=True)
    for name, drive in changes.drives.items():
        if name not in mjcf.joints:
            continue  # a hinge of a ball joint, which find_losses names
        node = mjcf.joints[name]
        values = _find_joint_values(node, drive, mjcf.actuation.get(node.get("name", ""), Actuation()))
        edits[node.path] += set_attributes(contents[node.path], node.start, values)
    for name in dict.fromkeys(force.torque[0][0] for force in changes.forces):
        node = mjcf.joints[name]
        springs = [force for force in changes.forces if force.torque[0][0] == name]
        edits[node.path] += set_attributes(contents[node.path], node.start, _find_stiffness(node, springs))
    return insert_edited_files(file, contents, edits)


def format_inertial(inertia: Inertia, body: Body) -> tuple[dict[str, str | None], Frame]:
    """Return the attributes of ``<inertial>``, and the frame around it; None removes an attribute."""
    around = IDENTITY if body.content.inertial is None else body.content.inertial[1]
    removed: dict[str, str | None] = dict.fromkeys(("diaginertia", "fullinertia", *ORIENTATIONS))
    return removed | new_mjcf.list_inertial_attributes(inertia.seen_from(around.inverse())), around


def _make_content(attributes: Mapping[str, str | None], around: Frame, body: Body) -> Content:
    values = {key: value for key, value in attributes.items() if value is not None}
    return Content((replace(body.node, tag="inertial", attributes=values, children=()), around), ())


def _check_bounds(name: str, wanted: Inertia, read: Inertia, file: Path) -> None:
    """Raise InputError if bounds of the compiler change an inertia."""
    difference = np.abs(wanted.vector - read.vector).max()
    if difference > MAX_RELATIVE_DIFFERENCE * np.abs(wanted.vector).max():
        raise InputError(
            f"the compiler settings of {file.name} (boundmass, boundinertia or balanceinertia) would change the new "
            f"inertia of {name!r}; remove them from the file"
        )


def _edit_body(contents: Mapping[Path, bytes], body: Body, attributes: Mapping[str, str | None]) -> list[Edit]:
    content = contents[body.node.path]
    if body.content.inertial is None:
        text = " ".join(f'{key}="{value}"' for key, value in attributes.items() if value is not None)
        return insert_children(content, body.node.start, [f"<inertial {text}/>"])
    node = body.content.inertial[0]
    return set_attributes(contents[node.path], node.start, attributes)


def _find_stiffness(node: Node, springs: Sequence[Force]) -> dict[str, str | None]:
    """Return the stiffness of a joint with new values; the reader calls a spring ``<joint>_spring<power>``."""
    stiffness = list(node.numbers("stiffness"))
    for force in springs:
        power = re.search(r"_spring(\d*)(?:_\d+)?$", force.name)
        stiffness[int(power[1]) - 1 if power is not None and power[1] else 0] = force.value
    return {"stiffness": format_numbers(stiffness)}


def _find_joint_values(node: Node, drive: Drive, actuation: Actuation) -> dict[str, str | None]:
    """Return the attributes of a joint that change. Armature and damping of its actuators stay."""
    inertia, viscous, coulomb, *_ = drive.parameters
    old_damping = node.numbers("damping", default=(0.0,))
    new = {"armature": inertia - actuation.rotor_inertia, "damping": viscous - actuation.viscous}
    for key, value in new.items():
        if value < 0.0 <= min(inertia, viscous):
            raise node.error(f"its actuators have more {key} than the model; remove '{key}' from the actuators")
    if "springdamper" in node.attributes and new["damping"]:
        raise node.error("'springdamper' determines the damping, so that the new one cannot be set; remove it")
    values = {"armature": (new["armature"],), "damping": (new["damping"], *old_damping[1:]), "frictionloss": (coulomb,)}
    old = {"armature": (0.0,), "damping": old_damping, "frictionloss": (0.0,)}
    return {
        key: format_numbers(numbers)
        for key, numbers in values.items()
        if numbers != node.numbers(key, default=old[key])
    }
