"""The ``<compiler>`` settings of an MJCF file, and attributes that many elements share: choices, flags, limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ytheta.files.xml_document import Node


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
