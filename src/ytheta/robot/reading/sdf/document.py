"""The SDF document: versions are made equal, and every ``<include>`` becomes the model that it names.

Pose, name, ``static`` and placement frame of an include replace those of the included model. A model included with
``merge="true"`` becomes a ``<merged>`` element, whose content belongs to the model around it. Worlds include scenery,
such as ``model://sun``, that Gazebo downloads: models that a world includes may be missing. A ``<drake:joint>`` becomes
a ``<joint>`` whose type has the prefix of Drake.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from ytheta.errors import InputError, RobotFileError
from ytheta.files.bounded import (
    find_robot_folder,
    locate_reference,
    read_bytes,
    resolve_reference,
)
from ytheta.files.xml_document import Node, parse_xml
from ytheta.robot.reading.description import FindingCollector
from ytheta.robot.reading.ros_packages import list_packages, locate_in_package
from ytheta.robot.reading.sdf.elements import read_flag, read_flag_attribute, read_text

MERGED = "merged"
DRAKE = "drake:"  # the prefix of extensions
# Largest number of files that include each other in a row. Chosen on: rule of thumb.
MAX_INCLUDE_DEPTH = 16
# Largest number of models inside each other. Chosen on: rule of thumb.
MAX_NESTED_MODELS = 30
# Largest number of elements of the document with all included files. Chosen on: the largest robots in public use,
# which have 10 000.
MAX_ELEMENTS = 300_000
# Largest number of includes of the document and of the files that it includes. Chosen on: the largest number of joints
# of a robot.
MAX_INCLUDES = 2000


_MISSING = "models that the world includes were not found and are left out: {}"


@dataclass
class _Expansion:
    """The state of one expansion: files that were read, and the number of elements so far."""

    files: FileFinder
    findings: FindingCollector
    models: dict[Path, Node] = field(default_factory=dict)
    missing: list[MissingModelError] = field(default_factory=list)
    count: int = 0
    includes: int = 0


@dataclass(frozen=True)
class Document:
    """The root element in the form of the newest version, with all included models.

    ``missing`` are the models that a world includes, but that are not found.
    """

    root: Node
    missing: tuple[MissingModelError, ...] = ()


def expand_document(root: Node, files: FileFinder, findings: FindingCollector) -> Document:
    """Return the document of a root element."""
    expansion = _Expansion(files, findings)
    expanded = _expand(upgrade(root, read_version(root), findings), expansion, (files.path.resolve(),), 0)
    return Document(expanded, tuple(expansion.missing))


def _expand(node: Node, expansion: _Expansion, stack: Sequence[Path], depth: int) -> Node:
    """Replace includes in an element, which may be a root, a world or a model; ``depth`` is that of nested models."""
    if depth > MAX_NESTED_MODELS:
        raise node.error(f"more than {MAX_NESTED_MODELS} models are nested in each other; merge some of them")
    children: list[Node] = []
    for child in node.children:
        if child.tag == "include":
            try:
                included = _include(child, expansion, stack, depth)
            except MissingModelError as error:
                if node.tag != "world":
                    raise
                expansion.missing.append(error)
                expansion.findings.warn(_MISSING, read_text(child, "uri"))
                continue
            children += [included] if included is not None else []
        elif child.tag in ("world", "model"):
            children.append(_expand(child, expansion, stack, depth + 1))
        elif child.tag == f"{DRAKE}joint":
            children.append(_convert_joint(child))
        else:
            children.append(child)
    return replace(node, children=tuple(children))


def _convert_joint(node: Node) -> Node:
    """Return a ``<drake:joint>`` as a ``<joint>``."""
    ends = {f"{DRAKE}{end}": end for end in ("parent", "child")}
    children = tuple(replace(child, tag=ends.get(child.tag, child.tag)) for child in node.children)
    return replace(
        node, tag="joint", attributes=node.attributes | {"type": DRAKE + node.text("type")}, children=children
    )


def _include(node: Node, expansion: _Expansion, stack: Sequence[Path], depth: int) -> Node | None:
    expansion.includes += 1
    if expansion.includes > MAX_INCLUDES:
        raise node.error(f"more than {MAX_INCLUDES} models are included; leave some models out")
    file = expansion.files.find_model(node)
    if file.resolve() in stack:
        raise node.error(f"the file {file.name!r} includes itself; remove one <include>")
    if len(stack) > MAX_INCLUDE_DEPTH:
        raise node.error(f"more than {MAX_INCLUDE_DEPTH} files include each other in a row; merge some of them")
    model = _read_model(file, node, expansion)
    if model is None:
        return None
    expansion.count += sum(1 for _ in model.descendants())
    if expansion.count > MAX_ELEMENTS:
        raise node.error(f"the included files have more than {MAX_ELEMENTS} elements; leave some models out")
    for child in node.children:
        if child.tag.startswith("experimental:"):
            statement = "changes of included models (experimental:params) are ignored: {}"
            expansion.findings.warn(statement, model.get("name", ""))
    model = _expand(model, expansion, (*stack, file.resolve()), depth + 1)
    attributes = model.attributes | {"name": read_text(node, "name") or model.text("name")}
    placement = read_text(node, "placement_frame")
    if placement:
        if node.first("pose") is None:
            raise node.error("<placement_frame> needs a <pose>; add it")
        attributes["placement_frame"] = placement
    replaced = {child.tag: child for child in node.children if child.tag in ("pose", "static")}
    kept = tuple(child for child in model.children if child.tag not in replaced)
    tag = MERGED if read_flag_attribute(node, "merge") else model.tag
    return replace(model, tag=tag, attributes=attributes, children=(*replaced.values(), *kept))


def _read_model(file: Path, node: Node, expansion: _Expansion) -> Node | None:
    """Return the model of a file in the form of the newest version; None if it contains something else."""
    if file not in expansion.models:
        root = parse_xml(read_bytes(file), file)
        if root.tag == "robot":
            raise node.error(
                f"the included file {file.name!r} is a URDF, which cannot be part of an SDF here; convert it with: "
                "gz sdf --print"
            )
        if root.tag != "sdf":
            raise node.error(f"the included file {file.name!r} starts with <{root.tag}>, but an SDF starts with <sdf>")
        expansion.models[file] = upgrade(root, read_version(root), expansion.findings)
    root = expansion.models[file]
    models = [child for child in root.children if child.tag == "model"]
    if not models and any(child.tag in ("light", "actor") for child in root.children):
        return None
    if len(models) != 1:
        raise node.error(f"the included file {file.name!r} has {len(models)} models; include a file with one model")
    return models[0]


# Files that an SDF refers to: included models and meshes.
#
# A path is relative to the file that contains it. ``model://NAME/…`` and ``package://NAME/…`` are looked up in the
# robot's folder, if that folder has this name; in the folders NAME and models/NAME inside of it; and in the package
# paths. No file outside of these folders is opened.


CONFIGURATION, MODEL = "model.config", "model.sdf"
_SCHEMES = ("model://", "package://")


class MissingModelError(RobotFileError):
    """An included model is not on this computer, or is not where it was searched for."""


@dataclass(frozen=True)
class FileFinder:
    """Finds the files that the description in ``path`` and the files that it includes refer to."""

    path: Path
    package_paths: Sequence[Path] = ()
    allow_paths: Sequence[Path] = ()

    def locate_mesh(self, reference: str, node: Node) -> Path | None:
        """Return the path of a mesh; None if it is unknown or may not be opened."""
        if reference.startswith(_SCHEMES):
            return self._locate_in_package(reference)
        return locate_reference(reference, node.path, self._allowed)

    def find_model(self, node: Node) -> Path:
        """Return the path of the SDF file that an ``<include>`` names.

        MissingModelError if there is no such file, RobotFileError if it may not be opened.
        """
        uri = node.first("uri")
        if uri is None or not uri.content:
            raise node.error("<uri> is missing or empty; give the path of the included model")
        reference = uri.content
        if reference.startswith(_SCHEMES):
            target = self._locate_in_package(reference)
            if target is None:
                folders = ", ".join(map(str, (find_robot_folder(self.path), *self.package_paths)))
                raise MissingModelError(
                    f"{uri.where}: the model {reference!r} was not found in {folders}; give the folder that contains "
                    "it with --package-path (package_paths)"
                )
        else:
            if "://" in reference.removeprefix("file://"):
                raise MissingModelError(
                    f"{uri.where}: {reference!r} is not on this computer and is not downloaded; download it, write "
                    "model:// and its name, and give the folder that contains it with --package-path (package_paths)"
                )
            located = resolve_reference(reference, node.path, uri.where, self._allowed)
            assert located is not None, "only schemes that are handled above have no path"
            target = located
        return _find_sdf(target, uri, self._allowed)

    @property
    def _allowed(self) -> tuple[Path, ...]:
        return find_robot_folder(self.path), *self.allow_paths

    @cached_property
    def _packages(self) -> Mapping[str, Path]:
        """All packages; they are listed once, since a robot can have hundreds of meshes."""
        return list_packages(self.path, self.package_paths)

    def _locate_in_package(self, reference: str) -> Path | None:
        name, _, inside = reference.partition("://")[2].partition("/")
        folder = find_robot_folder(self.path)
        try:
            packages = dict(self._packages)
            for path in (folder / name, folder / "models" / name):
                if path.is_dir() and path.resolve().is_relative_to(folder):
                    packages.setdefault(name, path)
            return locate_in_package(f"package://{name}/{inside}", packages)
        except (OSError, RuntimeError, ValueError):  # a name that is too long, circular links, a null character
            return None


def _find_sdf(path: Path, uri: Node, allowed: Sequence[Path]) -> Path:
    """Return the SDF file of a model: the file itself, or the newest one that model.config of a folder names."""
    try:
        if not path.is_dir():
            return path
        configuration = _stay_inside(path, CONFIGURATION, uri, allowed)
        if not configuration.is_file():
            model = _stay_inside(path, MODEL, uri, allowed)
            if not model.exists():
                raise uri.error(
                    f"the folder of the model {uri.content!r} has neither {CONFIGURATION} nor {MODEL}; name its file"
                )
            return model
    except OSError as error:
        raise uri.error(f"the model {uri.content!r} cannot be read: {error.strerror}; check its path") from None
    files = []
    for node in parse_xml(read_bytes(configuration), configuration).all("sdf"):
        try:
            version = read_version(node)
        except InputError:
            continue  # other versions of the model may be readable
        files.append((version, node))
    if not files:
        raise uri.error(f"{CONFIGURATION} of the model {uri.content!r} names no <sdf> file that can be read; add one")
    newest = max(files, key=lambda entry: entry[0])[1]
    target = resolve_reference(newest.content, configuration, newest.where)
    if target is None:
        raise newest.error(f"{newest.content!r} is not a path; name a file in the folder of the model")
    return target


def _stay_inside(folder: Path, name: str, uri: Node, allowed: Sequence[Path]) -> Path:
    """Return a file in a folder, unless it is a link to a file outside of this folder and of the allowed folders."""
    target = (folder / name).resolve()
    if not any(target.is_relative_to(place.resolve()) for place in (folder, *allowed)):
        raise uri.error(
            f"{name} of the model {uri.content!r} is a link to a file outside of the robot's folder and is not opened; "
            "allow the folder of that file with --allow-path (allow_paths), or copy the file"
        )
    return target


# Versions of SDF: elements of older versions as those of the newest.
#
# Up to version 1.4, the axis of a joint was given in the axes of its model; in 1.5 and 1.6, only if the joint has
# ``<use_parent_model_frame>``. Since 1.7, the attribute ``expressed_in`` names the frame. The attribute ``frame`` of
# poses became ``relative_to`` in version 1.7. Before, a joint or frame could have the name of a link of its model; it
# is renamed as libsdformat does. Up to version 1.5, the gravity of a world was given in its ``<physics>``.


OLDEST, NEWEST = (1, 2), (1, 12)  # 1.3 and 1.4 only added elements
MODEL_FRAME = "__model__"
_FIRST_WITH_RELATIVE_TO = (1, 7)
_FIRST_WITH_JOINT_AXES = (1, 5)
_FIRST_WITH_WORLD_GRAVITY = (1, 6)


def read_version(root: Node) -> tuple[int, int]:
    """Return the version of a document, such as (1, 9). RobotFileError if it cannot be read."""
    text = root.text("version")
    match = re.fullmatch(r"\s*(\d{1,3})\.(\d{1,3})(\.\d+)*\s*", text)
    if match is None:
        raise root.error(f"version={text[:40]!r} is not a version of SDF; write one such as 1.9")
    version = int(match[1]), int(match[2])
    if version < OLDEST:
        raise root.error(
            f"SDF {version[0]}.{version[1]} is older than {OLDEST[0]}.{OLDEST[1]}, the oldest version that is read; "
            "convert the file with: gz sdf --print"
        )
    if version > NEWEST:
        raise root.error(
            f"SDF {version[0]}.{version[1]} is newer than {NEWEST[0]}.{NEWEST[1]}, the newest that is read; save the "
            "file in an older version"
        )
    return version


def upgrade(node: Node, version: tuple[int, int], findings: FindingCollector) -> Node:
    """Return an element of this version in the form of the newest version."""
    if version >= _FIRST_WITH_RELATIVE_TO:
        return node
    # Without recursion, since elements may be nested deeply: children are upgraded before their parents.
    stack: list[tuple[Node, list[Node]]] = [(node, [])]
    while True:
        parent, upgraded = stack[-1]
        if len(upgraded) < len(parent.children):
            stack.append((parent.children[len(upgraded)], []))
            continue
        stack.pop()
        done = _upgrade(replace(parent, children=tuple(upgraded)), version, findings)
        if not stack:
            return done
        stack[-1][1].append(done)


def _upgrade(node: Node, version: tuple[int, int], findings: FindingCollector) -> Node:
    """Return an element whose children have been upgraded."""
    if node.tag == "model":
        return _make_names_unique(node, findings)
    if node.tag == "world" and version < _FIRST_WITH_WORLD_GRAVITY:
        return _move_gravity(node)
    if node.tag == "pose" and "frame" in node.attributes:
        attributes = {key: value for key, value in node.attributes.items() if key != "frame"}
        return replace(node, attributes=attributes | {"relative_to": node.attributes["frame"]})
    if node.tag in ("axis", "axis2") and node.first("xyz") is not None:
        in_model = read_flag(node, "use_parent_model_frame", default=version < _FIRST_WITH_JOINT_AXES)
        if in_model:
            return replace(node, children=tuple(map(_express_in_model, node.children)))
    return node


def _move_gravity(world: Node) -> Node:
    """Return a world with the gravity of its ``<physics>``, if there is one."""
    physics = world.first("physics")
    gravity = None if physics is None else physics.first("gravity")
    return world if gravity is None else replace(world, children=(gravity, *world.children))


def _express_in_model(child: Node) -> Node:
    if child.tag != "xyz":
        return child
    return replace(child, attributes=child.attributes | {"expressed_in": MODEL_FRAME})


def _make_names_unique(model: Node, findings: FindingCollector) -> Node:
    """Return a model whose joints and frames have other names than its links."""
    links = {child.get("name", "") for child in model.all("link")}
    used = {child.get("name", "") for child in model.children}
    children = []
    for child in model.children:
        name = child.get("name", "")
        if child.tag in ("joint", "frame") and name in links:
            unique = f"{name}_{child.tag}"
            for number in itertools.count():
                if unique not in used:
                    break
                unique = f"{name}_{child.tag}{number}"
            used.add(unique)
            findings.note("joints and frames with the name of a link are renamed: {}", f"{name} to {unique}")
            child = replace(child, attributes=child.attributes | {"name": unique})
        children.append(child)
    return replace(model, children=tuple(children))
