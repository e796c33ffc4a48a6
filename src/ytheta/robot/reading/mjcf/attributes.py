"""The ``<compiler>`` settings of an MJCF file, default classes, and attributes of many elements, such as their pose."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ytheta.errors import InputError, suggest_names
from ytheta.files.xml_document import Node
from ytheta.robot.frame import AXES, IDENTITY, Frame, scale_to_order_one, to_rows, to_vector
from ytheta.robot.reading.snap import Snapper
from ytheta.shapes import Float


@dataclass(frozen=True)
class Compiler:
    """Settings that determine how the file is interpreted; the defaults are those of MuJoCo."""

    degrees: bool = True
    eulerseq: str = "xyz"
    autolimits: bool = True
    inertiafromgeom: str = "auto"
    inertiagroups: tuple[int, int] = (0, 5)
    boundmass: float = 0.0
    boundinertia: float = 0.0
    balanceinertia: bool = False
    settotalmass: float = 0.0
    meshdir: str = ""
    texturedir: str = ""
    strippath: bool = False
    fitaabb: bool = False

    def to_radians(self, angle: float) -> float:
        """Convert an angle of the file to radians."""
        return math.radians(angle) if self.degrees else angle


def read_compiler(node: Node) -> Compiler:
    """Read the settings from the ``<compiler>`` elements, merged into one."""
    if read_choice(node, "coordinate", "local", ("local", "global")) == "global":
        raise node.error(
            "coordinate='global' is no longer part of MJCF; load the model with MuJoCo 2.3.3 or older, save it with "
            "local coordinates, and read the saved file"
        )
    sequence = node.get("eulerseq", "xyz")
    if len(sequence) != 3 or set(sequence) - set("xyzXYZ"):
        raise node.error(f"eulerseq={sequence[:20]!r} should be three of the letters x, y, z, X, Y, Z")
    first, last = node.numbers("inertiagrouprange", 2, default=(0.0, 5.0))
    assets = node.get("assetdir", "")
    return Compiler(
        degrees=read_choice(node, "angle", "degree", ("degree", "radian")) == "degree",
        eulerseq=sequence,
        autolimits=read_flag(node, "autolimits", default=True),
        inertiafromgeom=read_choice(node, "inertiafromgeom", "auto", ("auto", "true", "false")),
        inertiagroups=(int(first), int(last)),
        boundmass=node.number("boundmass", 0.0),
        boundinertia=node.number("boundinertia", 0.0),
        balanceinertia=read_flag(node, "balanceinertia", default=False),
        settotalmass=node.number("settotalmass", 0.0),
        meshdir=node.get("meshdir", assets),
        texturedir=node.get("texturedir", assets),
        strippath=read_flag(node, "strippath", default=False),
        fitaabb=read_flag(node, "fitaabb", default=False),
    )


def read_choice(node: Node, key: str, default: str, words: tuple[str, ...]) -> str:
    """Return an attribute that is one of these words."""
    word = node.get(key, default)
    if word not in words:
        raise node.error(f"{key}={word[:40]!r} is unknown; use one of {', '.join(words)}")
    return word


def read_flag(node: Node, key: str, *, default: bool) -> bool:
    """Return an attribute that is true or false."""
    return read_choice(node, key, "true" if default else "false", ("true", "false")) == "true"


def read_leading(node: Node, key: str, default: float) -> tuple[float, tuple[float, ...]]:
    """Return the first number of a list, and the numbers after it, if there are any."""
    first, *others = node.numbers(key, default=(default,))
    return first, tuple(others)


def read_limits(node: Node, prefix: str, compiler: Compiler) -> tuple[float, float] | None:
    """Return ``<prefix>range`` if ``<prefix>limited`` or ``autolimits`` makes this range a limit, else None."""
    key = f"{prefix}range"
    limited = read_choice(node, f"{prefix}limited", "auto", ("true", "false", "auto"))
    if limited == "false" or (limited == "auto" and key not in node.attributes):
        return None
    lower, upper = node.numbers(key, 2, may_be_infinite=True)
    if limited == "auto" and not compiler.autolimits:
        raise node.error(
            f"there is a '{key}' but no '{prefix}limited', and autolimits is off; write {prefix}limited='true' "
            "or 'false'"
        )
    if lower < upper:
        return lower, upper
    if limited == "auto":
        return None  # in MJCF, "0 0" means that there is no range
    raise node.error(f"{key}={node.text(key)!r} should be a smaller and a larger number; swap them")


# Default classes of MJCF. An element inherits attributes from its class, and a class from its parent class.


Attributes: TypeAlias = Mapping[str, str]

ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
MAIN = "main"
ATTACHED = "attached elements"  # class of elements of attached models, which have their defaults already

# An element may give only the beginning of these lists; the rest is inherited.
_PARTIAL_LISTS = ("size", "damping", "stiffness", "gear", "polycoef")

# All kinds of actuators share the defaults of a class.
_ACTUATORS = (
    *("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion"),
    *("dcmotor", "pid", "orientation", "plugin"),
)


@dataclass(frozen=True)
class Defaults:
    """Attributes by class and kind of element."""

    classes: Mapping[str, Mapping[str, Attributes]]

    def apply(self, node: Node, kind: str, childclass: str | None = None) -> Node:
        """Return the element with inherited attributes; the ``class`` of the element overrides ``childclass``."""
        name = node.attributes.get("class", childclass or MAIN)
        if name not in self.classes:
            known = [known for known in self.classes if known != ATTACHED]
            raise node.error(f"the default class {name!r} does not exist{suggest_names(name, known)}")
        inherited = self.classes[name].get(kind)
        return node if inherited is None else replace(node, attributes=_merge(inherited, node.attributes))


def read_defaults(sections: Iterable[Node]) -> Defaults:
    """Read the classes of all ``<default>`` sections; each class starts as a copy of its parent class."""
    classes: dict[str, dict[str, Attributes]] = {MAIN: {}, ATTACHED: {}}
    for section in sections:
        if section.get("class", MAIN) != MAIN:
            raise section.error(
                f"the outermost default class must be called 'main'; put class {section.text('class')!r} into a "
                "<default> inside it"
            )
        _read_section(section, classes)
    return Defaults(classes)


def _read_section(section: Node, classes: dict[str, dict[str, Attributes]]) -> None:
    waiting = [(section, classes[MAIN])]
    while waiting:
        node, attributes = waiting.pop()
        for child in node.children:
            if child.tag != "default":
                kind = find_kind(child.tag)
                attributes[kind] = _merge(attributes.get(kind, {}), child.attributes)
        for child in node.all("default"):
            name = child.text("class")
            if name in classes:
                raise child.error(f"the default class {name!r} is defined twice; rename one of them")
            classes[name] = dict(attributes)
            waiting.append((child, classes[name]))


def find_kind(tag: str) -> str:
    """Return the kind under which the defaults of this tag are stored."""
    return "general" if tag in _ACTUATORS else tag


def _merge(inherited: Attributes, explicit: Attributes) -> dict[str, str]:
    has_orientation = any(key in explicit for key in ORIENTATIONS)
    merged = {key: value for key, value in inherited.items() if not (has_orientation and key in ORIENTATIONS)}
    for key, value in explicit.items():
        pieces = value.split()
        if key in _PARTIAL_LISTS and key in inherited:
            value = " ".join((*pieces, *inherited[key].split()[len(pieces) :]))
        merged[key] = value
    return merged


# The pose of an MJCF element: its position, and its orientation in one of five notations.
#
# The poses of bodies and frames are snapped. The poses of geoms and inertials are not.


# Smallest length of a vector or quaternion that has a direction. Chosen on: reasoning, just above rounding errors.
_MIN_LENGTH = 1e-14
# Largest coordinate (m); squares of smaller numbers do not overflow. Chosen on: reasoning.
_MAX_COORDINATE = 1e100


def read_pose(node: Node, compiler: Compiler, snapper: Snapper) -> Frame:
    """Return the frame of a body, frame, geom, site or inertial seen from its parent element."""
    position = Frame.shift(*node.numbers("pos", 3, default=(0.0, 0.0, 0.0)))
    keys = [key for key in ORIENTATIONS if key in node.attributes]
    if not keys:
        return position
    if len(keys) > 1:
        raise node.error(f"the orientation is given twice, by '{keys[0]}' and '{keys[1]}'; keep one")
    if keys == ["euler"]:
        return position @ _read_euler(node, compiler, snapper)
    turn = _READERS[keys[0]](node, compiler)
    return position @ snapper.snap_rotation(turn, node.where)


def read_segment(node: Node) -> tuple[Frame, float]:
    """Return the frame at the middle of ``fromto``, with z along the segment, and half the length."""
    numbers = node.numbers("fromto", 6)
    if max(abs(entry) for entry in numbers) > _MAX_COORDINATE:
        raise node.error(f"fromto={node.text('fromto')!r} is too large; give smaller numbers")
    ends = np.array(numbers).reshape(2, 3)
    if any(node.numbers("pos", 3, default=(0.0, 0.0, 0.0))):
        raise node.error("'pos' and 'fromto' are both given; keep one")
    along = ends[0] - ends[1]  # z points from the second end to the first
    length = float(np.linalg.norm(along))
    if length < _MIN_LENGTH:
        raise node.error(f"the two ends of fromto={node.text('fromto')!r} coincide; move one of them")
    return Frame.shift(*to_vector(ends.mean(axis=0))) @ Frame.align_z(to_vector(along / length)), length / 2


def _read_quat(node: Node, _compiler: Compiler) -> Frame:
    w, x, y, z = node.numbers("quat", 4)
    try:
        return Frame.from_quaternion(w, x, y, z)
    except InputError as error:
        raise node.error(str(error)) from None


def _read_axisangle(node: Node, compiler: Compiler) -> Frame:
    *axis, angle = node.numbers("axisangle", 4)
    return Frame.turn(to_vector(_normalize(node, "axisangle", np.array(axis))), compiler.to_radians(angle))


def _read_euler(node: Node, compiler: Compiler, snapper: Snapper) -> Frame:
    rotation = IDENTITY
    for letter, angle in zip(compiler.eulerseq, node.numbers("euler", 3), strict=True):
        turn = Frame.turn(AXES[letter.lower()], snapper.snap_angle(compiler.to_radians(angle), node.where))
        rotation = rotation @ turn if letter.islower() else turn @ rotation
    return rotation


def _read_xyaxes(node: Node, _compiler: Compiler) -> Frame:
    numbers = node.numbers("xyaxes", 6)
    x, y = (_normalize(node, "xyaxes", np.array(numbers[k : k + 3])) for k in (0, 3))
    y = _normalize(node, "xyaxes", y - (x @ y) * x)
    return Frame(rotation=to_rows(np.stack([x, y, np.cross(x, y)], axis=1)))


def _read_zaxis(node: Node, _compiler: Compiler) -> Frame:
    return Frame.align_z(to_vector(_normalize(node, "zaxis", np.array(node.numbers("zaxis", 3)))))


def _normalize(node: Node, key: str, direction: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
    if math.hypot(*direction) < _MIN_LENGTH:
        raise node.error(
            f"{key}={node.text(key)!r} does not define a direction; give vectors that are neither zero nor parallel"
        )
    scaled = np.array(scale_to_order_one(to_vector(direction)))
    return scaled / np.linalg.norm(scaled)


_READERS = {"quat": _read_quat, "axisangle": _read_axisangle, "xyaxes": _read_xyaxes, "zaxis": _read_zaxis}
