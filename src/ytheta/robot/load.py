"""The door to robots: a catalog name or a file becomes a checked Robot."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from ytheta.conventions import SNAP
from ytheta.errors import RobotError, RobotFileError, nearest
from ytheta.robot import catalog
from ytheta.robot.parts import Note
from ytheta.robot.robot import Robot
from ytheta.robot.source_file import read_bytes
from ytheta.robot.toml_reader import read_toml
from ytheta.robot.urdf import read_urdf
from ytheta.robot.xml_document import parse_xml

log = logging.getLogger("ytheta")

XML_ENDINGS = (".urdf", ".xml", ".mjcf")


def load(source: str | Path, *, snap: float = SNAP, strict: bool = False, fix_base: bool = False) -> Robot:
    """A robot from the catalog or from a ``.urdf``, ``.xml`` (MJCF or URDF) or ``.toml`` file.

    ``snap``: angles this close to multiples of pi/6 are taken as such, 0 keeps them. ``strict``: inertias that no body
    can have are errors instead of warnings. ``fix_base``: a floating base (MJCF) stands still instead of being refused.
    What the reader did and doubted stands in ``robot.notes``; doubts are also logged as warnings.
    """
    path = _path(source)
    try:
        robot = _read(path, snap=snap, fix_base=fix_base)
        robot = replace(robot, notes=(*robot.notes, *_doubts(robot)))
        if strict and any(note.warning for note in robot.notes):
            first = next(note for note in robot.notes if note.warning)
            raise RobotError(f"{first.text}; correct it, or read without --strict")
        if robot.loops and robot.actuated and all(value is not None for _, value in robot.lengths):
            from ytheta.robot.closure import close_loops  # most robots have no loops and need not wait for it

            close_loops(robot).or_raise()
    except RobotError as error:
        raise type(error)(f"{path.name}: {error}") from None
    for note in robot.notes:
        log.log(logging.WARNING if note.warning else logging.INFO, "%s: %s", path.name, note.text)
    return robot


def _path(source: str | Path) -> Path:
    path = Path(source)
    if isinstance(source, str) and not path.suffix and len(path.parts) == 1 and not path.exists():
        if source in catalog.names():
            return catalog.path(source)
        raise RobotFileError(
            f"there is no robot {source!r} in the catalog and no such file{nearest(source, catalog.names())}"
        )
    return path


def _read(path: Path, *, snap: float, fix_base: bool) -> Robot:
    content = read_bytes(path)
    if path.suffix.lower() == ".toml":
        return read_toml(content, path, snap)
    if path.suffix.lower() not in XML_ENDINGS:
        raise RobotFileError(f"{path}: robots are read from .urdf, .xml (MJCF) and .toml files; rename or convert it")
    root = parse_xml(content, path)
    if root.tag == "robot":
        return read_urdf(root, path, snap)
    if root.tag == "mujoco":
        from ytheta.robot.mjcf.reader import read_mjcf  # a dozen modules that other formats do not need

        return read_mjcf(root, path, snap, fix_base=fix_base)
    raise root.error("a URDF starts with <robot>, an MJCF with <mujoco>; this is neither")


def _doubts(robot: Robot) -> tuple[Note, ...]:
    """Inertias of moving links that no body can have, as warnings."""
    verdicts = ((link.name, link.inertia.consistency()) for link in robot.links)
    return tuple(Note(f"link {name!r}: {verdict.reason}", warning=True) for name, verdict in verdicts if not verdict)
