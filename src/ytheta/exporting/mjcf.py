"""Export to MJCF: the source file with new inertias, armature and friction, or a new file.

In the source file, only ``<inertial>`` and the attributes ``armature``, ``damping`` and ``frictionloss`` of joints
change. A body whose inertia MuJoCo infers from geoms or meshes gets an ``<inertial>``, which has priority. Settings of
the compiler that would change inertias (``inertiafromgeom="true"``, ``settotalmass``) are switched off, and then all
inertias are written. An included file that changes is inserted in place of its ``<include>``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from ytheta.errors import InputError
from ytheta.exporting import new_mjcf, xml_edit
from ytheta.exporting.bodies import FileChanges, find_changes, match_wrench_joints
from ytheta.exporting.losses import find_description_losses
from ytheta.exporting.refit import Abilities, Refit, refit
from ytheta.exporting.source import ExportSource, Format, NoOptions
from ytheta.files.bounded import read_bytes
from ytheta.files.xml_document import Node, parse_xml
from ytheta.findings import Finding, Severity
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive, Force, Joint, Link
from ytheta.robot.reading.mjcf.actuators import Actuation, read_actuators
from ytheta.robot.reading.mjcf.attributes import ORIENTATIONS, Compiler, read_compiler, read_defaults
from ytheta.robot.reading.mjcf.bodies import InertialElements, MjcfBody, read_bodies, read_inertia
from ytheta.robot.reading.mjcf.document import insert_includes, merge_sections
from ytheta.robot.reading.mjcf.reader import read_mjcf
from ytheta.robot.reading.snap import Snapper
from ytheta.robot.robot import Robot

ROOT_TAG = "mujoco"
EXTENSIONS = (".xml", ".mjcf")
# Relative difference of an inertia above which MuJoCo's compiler has changed it by one of its bounds. Chosen on:
# reasoning, far above rounding errors.
MAX_RELATIVE_DIFFERENCE = 1e-9


def render(source: ExportSource, path: Path, options: NoOptions) -> Mapping[Path, bytes]:
    """Return the content of the MJCF file."""
    del options
    xml_edit.check_extension(path, "MJCF", *EXTENSIONS)
    found = xml_edit.find_xml(source, ROOT_TAG)
    robot = _refit(source).robot
    if found is None:
        return {path: new_mjcf.format_robot(robot, find_losses(source, path)).encode("utf-8")}
    file, _, root = found
    mjcf = read_mjcf_file(root, file, source.robot)
    changes = find_changes(mjcf.robot, robot, file=file.name, unknown=mjcf.unknown)
    return {path: edit_mjcf(file, mjcf, changes)}


def find_losses(source: ExportSource, path: Path) -> tuple[Finding, ...]:
    """Return what the file does not express, and files that it refers to but that are not beside it."""
    found = xml_edit.find_xml(source, ROOT_TAG)
    mjcf = None if found is None else read_mjcf_file(found[2], found[0], source.robot)
    losses = find_description_losses(source.robot, to="mjcf", described=None if mjcf is None else mjcf.robot)
    if found is None or mjcf is None:
        return (*losses, *_refit(source).findings, *xml_edit.find_missing_source(source, "MJCF"))
    nodes = (*merge_sections(mjcf.root, "asset").children, *(node for node in found[2].descendants()))
    losses = (*losses, *_find_ball_losses(source, mjcf), *_refit(source).findings)
    names = (node.get("file", "") for node in nodes if node.tag in ("mesh", "hfield", "texture", "skin", "include"))
    return (*losses, *xml_edit.find_misplaced_files(names, found[0], path))


@lru_cache(maxsize=1)  # the file and the findings about it need the same fit
def _refit(source: ExportSource) -> Refit:
    found = xml_edit.find_xml(source, ROOT_TAG)
    if found is None:
        return refit(source, Abilities("MJCF", forces=frozenset()))
    mjcf = read_mjcf_file(found[2], found[0], source.robot)
    actuation = {name: mjcf.actuation.get(node.get("name", ""), Actuation()) for name, node in mjcf.joints.items()}
    abilities = Abilities(
        "MJCF",
        without_drive=frozenset(joint.name for joint in source.robot.movable if joint.name not in mjcf.joints),
        lowest={name: (each.rotor_inertia, each.viscous) for name, each in actuation.items()},
        forces=frozenset(force.name for force in mjcf.robot.forces),
    )
    return refit(source, abilities)


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
        xml_edit.check_encoding(content, path)
    edits: defaultdict[Path, list[xml_edit.Edit]] = defaultdict(list)
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
            edits[node.path] += xml_edit.set_attributes(contents[node.path], node.start, changed)
    compiler = replace(mjcf.compiler, inertiafromgeom="auto", settotalmass=0.0)
    for name, inertia in inertias.items():
        body = mjcf.bodies[name]
        attributes, around = format_inertial(inertia, body)
        _check_bounds(name, inertia, read_inertia(_make_content(attributes, around, body), compiler).inertia, file)
        edits[body.node.path] += _edit_body(contents, body, attributes)
    for joint, link in changes.loads:
        body = mjcf.bodies[joint.parent]
        text = new_mjcf.format_load(joint, link)
        edits[body.node.path] += xml_edit.insert_children(contents[body.node.path], body.node.start, [text], last=True)
    for name, drive in changes.drives.items():
        if name not in mjcf.joints:
            continue  # a hinge of a ball joint, which find_losses names
        node = mjcf.joints[name]
        values = _find_joint_values(node, drive, mjcf.actuation.get(node.get("name", ""), Actuation()))
        edits[node.path] += xml_edit.set_attributes(contents[node.path], node.start, values)
    for name in dict.fromkeys(force.torque[0][0] for force in changes.forces):
        node = mjcf.joints[name]
        springs = [force for force in changes.forces if force.torque[0][0] == name]
        edits[node.path] += xml_edit.set_attributes(contents[node.path], node.start, _find_stiffness(node, springs))
    return insert_edited_files(file, contents, edits)


def format_inertial(inertia: Inertia, body: MjcfBody) -> tuple[dict[str, str | None], Frame]:
    """Return the attributes of ``<inertial>``, and the frame around it; None removes an attribute."""
    around = IDENTITY if body.content.inertial is None else body.content.inertial[1]
    removed: dict[str, str | None] = dict.fromkeys(("diaginertia", "fullinertia", *ORIENTATIONS))
    return removed | new_mjcf.list_inertial_attributes(inertia.seen_from(around.inverse())), around


def _make_content(attributes: Mapping[str, str | None], around: Frame, body: MjcfBody) -> InertialElements:
    values = {key: value for key, value in attributes.items() if value is not None}
    return InertialElements((replace(body.node, tag="inertial", attributes=values, children=()), around), ())


def _check_bounds(name: str, wanted: Inertia, read: Inertia, file: Path) -> None:
    """Raise InputError if bounds of the compiler change an inertia."""
    difference = np.abs(wanted.vector - read.vector).max()
    if difference > MAX_RELATIVE_DIFFERENCE * np.abs(wanted.vector).max():
        raise InputError(
            f"the compiler settings of {file.name} (boundmass, boundinertia or balanceinertia) would change the new "
            f"inertia of {name!r}; remove them from the file"
        )


def _edit_body(
    contents: Mapping[Path, bytes], body: MjcfBody, attributes: Mapping[str, str | None]
) -> list[xml_edit.Edit]:
    content = contents[body.node.path]
    if body.content.inertial is None:
        text = " ".join(f'{key}="{value}"' for key, value in attributes.items() if value is not None)
        return xml_edit.insert_children(content, body.node.start, [f"<inertial {text}/>"])
    node = body.content.inertial[0]
    return xml_edit.set_attributes(contents[node.path], node.start, attributes)


def _find_stiffness(node: Node, springs: Sequence[Force]) -> dict[str, str | None]:
    """Return the stiffness of a joint with new values; the reader calls a spring ``<joint>_spring<power>``."""
    stiffness = list(node.numbers("stiffness"))
    for force in springs:
        power = re.search(r"_spring(\d*)(?:_\d+)?$", force.name)
        stiffness[int(power[1]) - 1 if power is not None and power[1] else 0] = force.value
    return {"stiffness": xml_edit.format_numbers(stiffness)}


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
        key: xml_edit.format_numbers(numbers)
        for key, numbers in values.items()
        if numbers != node.numbers(key, default=old[key])
    }


# The robot in an MJCF file, and the elements of its bodies and joints; inertias of meshes may be unknown.


_NO_SNAPPING = Snapper(0.0)


@dataclass(frozen=True, eq=False)
class MjcfFile:
    """An MJCF file with its includes.

    Attributes
    ----------
    root      the root element, with all included files inserted
    robot     the robot of the file; links whose inertia depends on a mesh have none
    unknown   names of these links
    bodies    the bodies without the world, by name
    joints    the elements of the movable joints with inherited attributes, by name
    compiler  settings of the file
    actuation rotor inertia and damping of the actuators, by joint
    """

    root: Node
    robot: Robot
    unknown: frozenset[str]
    bodies: dict[str, MjcfBody]
    joints: dict[str, Node]
    compiler: Compiler
    actuation: dict[str, Actuation]


def read_mjcf_file(root: Node, path: Path, written: Robot) -> MjcfFile:
    """Read the main file of a robot, given its root element. ``written`` is the robot that is written to it."""
    whole = insert_includes(root, path)
    compiler = read_compiler(merge_sections(whole, "compiler"))
    defaults = read_defaults(whole.all("default"))
    bodies = read_bodies(merge_sections(whole, "worldbody"), compiler, defaults, _NO_SNAPPING)[1:]
    unknown = {body.name: body for body in bodies if body.content.find_meshes(compiler)}
    if unknown and compiler.settotalmass > 0.0:
        raise whole.error(
            "'settotalmass' distributes a mass over meshes, which are not opened; remove it from the file"
        )
    hidden = {geom.start: geom.path for body in unknown.values() for geom in body.content.find_meshes(compiler)}
    robot = read_mjcf(_without(whole, hidden), path, 0.0, fix_base=not written.floating)
    if written.floating and not robot.floating:
        raise whole.error(
            f"{written.name!r} has a floating base, but the file has no free joint; add <freejoint/> to its base, or "
            "write a new file from a model in TOML"
        )
    robot = match_wrench_joints(robot, written, file=path.name)
    robot = replace(robot, links=tuple(Link(x.name, Inertia()) if x.name in unknown else x for x in robot.links))
    joints = dict(_pair_joints(bodies, robot))
    actuators = merge_sections(whole, "actuator").children
    names = {node.get("name", "") for body in bodies for node, _ in body.joints}
    actuation = read_actuators(actuators, names, defaults, compiler)
    return MjcfFile(whole, robot, frozenset(unknown), {body.name: body for body in bodies}, joints, compiler, actuation)


def _without(node: Node, hidden: dict[int, Path]) -> Node:
    """Return an element without these descendants, each given by its place."""
    kept = (child for child in node.children if not (child.tag == "geom" and hidden.get(child.start) == child.path))
    return replace(node, children=tuple(_without(child, hidden) for child in kept))


def _pair_joints(bodies: tuple[MjcfBody, ...], robot: Robot) -> Iterator[tuple[str, Node]]:
    """Yield name and element of every movable joint; the reader has named joints that have no name."""
    above: dict[str, Joint] = {joint.child: joint for joint in robot.joints}
    for body in bodies:
        name = body.name
        for node, _ in reversed([pair for pair in body.joints if _is_scalar(pair[0])]):
            yield above[name].name, node
            name = above[name].parent


def _is_scalar(node: Node) -> bool:
    return node.tag == "joint" and node.get("type", "hinge") in ("hinge", "slide")


# Included files of MJCF: those that change are inserted in place of their ``<include>``, the others stay included.


@dataclass(frozen=True)
class _Files:
    """The main file, and the contents and edits of all files."""

    main: Path
    contents: Mapping[Path, bytes]
    edits: Mapping[Path, Sequence[xml_edit.Edit]]

    def find(self, node: Node) -> Path:
        """Return the file of an ``<include>``: searched for as the reader does."""
        folders = (self.main.resolve().parent, node.path.resolve().parent)
        candidates = [(folder / node.text("file")).resolve() for folder in folders]
        return next(path for path in candidates if path in self.contents)

    def list_included(self, path: Path) -> list[tuple[Node, Path]]:
        root = parse_xml(self.contents[path], path)
        return [(node, self.find(node)) for node in root.descendants() if node.tag == "include"]

    def changes(self, path: Path) -> bool:
        """Whether a file or a file that it includes changes."""
        return bool(self.edits.get(path)) or any(self.changes(included) for _, included in self.list_included(path))

    def render(self, path: Path, *, insert_all: bool) -> bytes:
        own = list(self.edits.get(path, ()))
        for node, included in self.list_included(path):
            if insert_all or self.changes(included):
                # An inserted file has no folder of its own any more, so that the files it includes are inserted, too.
                text = self.render(included, insert_all=True)
                start, end = xml_edit.find_inner_span(text, parse_xml(text, included).start)
                own.append(xml_edit.replace_element(self.contents[path], node.start, text[start:end].strip()))
        return xml_edit.apply_edits(self.contents[path], own)


def insert_edited_files(
    main: Path, contents: Mapping[Path, bytes], edits: Mapping[Path, Sequence[xml_edit.Edit]]
) -> bytes:
    """Return the main file with its edits; ``contents`` and ``edits`` are those of all files, by path."""
    return _Files(main, contents, edits).render(main, insert_all=False)


MJCF = Format(render, find_losses=find_losses, keeps_content=True)
