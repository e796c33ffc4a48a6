"""The ``<compiler>`` settings of an MJCF file, and the small words of the language: true, false, limits, angles."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ytheta.files.xml_document import Node


@dataclass(frozen=True)
class Compiler:
    """How the numbers of the file are meant; the defaults are those of MuJoCo, degrees among them."""

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

    def radians(self, angle: float) -> float:
        return math.radians(angle) if self.degrees else angle


def read_compiler(node: Node) -> Compiler:
    """Settings from all ``<compiler>`` elements, joined into one."""
    if choice(node, "coordinate", "local", ("local", "global")) == "global":
        raise node.error(
            "coordinate='global' is no longer part of MJCF; load the model with MuJoCo 2.3.3 or older, save it, and "
            "read the saved file, which is local"
        )
    sequence = node.get("eulerseq", "xyz")
    if len(sequence) != 3 or set(sequence) - set("xyzXYZ"):
        raise node.error(f"eulerseq={sequence[:20]!r} should be three letters out of x, y, z, X, Y, Z")
    first, last = node.numbers("inertiagrouprange", 2, default=(0.0, 5.0))
    assets = node.get("assetdir", "")
    return Compiler(
        degrees=choice(node, "angle", "degree", ("degree", "radian")) == "degree",
        eulerseq=sequence,
        autolimits=flag(node, "autolimits", default=True),
        inertiafromgeom=choice(node, "inertiafromgeom", "auto", ("auto", "true", "false")),
        inertiagroups=(int(first), int(last)),
        boundmass=node.number("boundmass", 0.0),
        boundinertia=node.number("boundinertia", 0.0),
        balanceinertia=flag(node, "balanceinertia", default=False),
        settotalmass=node.number("settotalmass", 0.0),
        meshdir=node.get("meshdir", assets),
        texturedir=node.get("texturedir", assets),
        strippath=flag(node, "strippath", default=False),
    )


def choice(node: Node, key: str, default: str, words: tuple[str, ...]) -> str:
    """An attribute that is one of a few words."""
    word = node.get(key, default)
    if word not in words:
        raise node.error(f"{key}={word[:40]!r} is unknown; use one of {', '.join(words)}")
    return word


def flag(node: Node, key: str, *, default: bool) -> bool:
    """An attribute that is true or false."""
    return choice(node, key, "true" if default else "false", ("true", "false")) == "true"


def leading(node: Node, key: str, default: float) -> tuple[float, tuple[float, ...]]:
    """The first number of a list that may be written in part, and those after it."""
    numbers = node.numbers(key, default=(default,))
    if not numbers:
        raise node.error(f"{key}='' should hold numbers; give at least one, or remove it")
    return numbers[0], numbers[1:]


def limits(node: Node, prefix: str, compiler: Compiler) -> tuple[float, float] | None:
    """The pair ``<prefix>range`` where ``<prefix>limited`` or autolimits make it a limit, else None."""
    given = f"{prefix}range"
    limited = choice(node, f"{prefix}limited", "auto", ("true", "false", "auto"))
    if limited == "false" or (limited == "auto" and given not in node.attributes):
        return None
    lower, upper = node.numbers(given, 2)
    if limited == "auto" and not compiler.autolimits:
        raise node.error(
            f"there is a '{given}' but no '{prefix}limited', and autolimits is off; write {prefix}limited='true' "
            "or 'false'"
        )
    if lower < upper:
        return lower, upper
    if limited == "auto":
        return None  # "0 0" is how MJCF says that there is no range
    raise node.error(f"{given}={node.text(given)!r} should go from the smaller to the larger number")
