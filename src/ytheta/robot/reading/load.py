"""The door to robots: a catalog name or a file becomes a checked Robot."""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ytheta.conventions import SNAP
from ytheta.errors import InputError, RobotError, RobotFileError, suggest_names
from ytheta.files.bounded import read_bytes, resolve_reference
from ytheta.files.xml_document import parse_xml
from ytheta.findings import Finding, Severity
from ytheta.robot import catalog
from ytheta.robot.reading.toml.reader import IDENTIFICATION, read_toml
from ytheta.robot.reading.urdf import read_urdf
from ytheta.robot.robot import Robot

log = logging.getLogger("ytheta")

XML_ENDINGS = (".urdf", ".xml", ".mjcf")
DEEPEST = 16  # files that extend one another; more is a mistake


def load(
    source: str | Path,
    *,
    snap: float = SNAP,
    strict: bool = False,
    fix_base: bool = False,
    lengths: Mapping[str, float] | None = None,
) -> Robot:
    """A robot from the catalog or from a ``.urdf``, ``.xml`` (MJCF or URDF) or ``.toml`` file.

    ``snap``: angles this close to multiples of pi/6 are taken as such, 0 keeps them. ``strict``: inertias that no body
    can have are errors instead of warnings. ``fix_base``: a floating base stands still instead of being refused.
    ``lengths``: values for symbolic lengths, which take the place of those in the file.
    What the reader did and doubted stands in ``robot.findings``; doubts are also logged as warnings.
    """
    path = _path(source)
    try:
        robot = _read(path, snap=snap, fix_base=fix_base).with_lengths(**(lengths or {}))
        impossible = _impossible(robot)
        if strict and impossible:
            raise RobotError(f"{impossible[0].text}; correct it, or read without --strict")
        robot = replace(
            robot, findings=(*robot.findings, *_doubts(robot, path, (*impossible, *_doubtful_drives(robot))))
        )
        _close_at_home(robot)
    except RobotFileError:
        raise  # says already where
    except InputError as error:
        raise type(error)(f"{path.name}: {error}") from None
    for finding in robot.findings:
        log.log(logging.WARNING if finding.is_warning else logging.INFO, "%s: %s", path.name, finding.text)
    return robot


def _path(source: str | Path) -> Path:
    path = Path(source)
    return _in_catalog(source) if isinstance(source, str) and _is_name(source) and not _exists(path) else path


def _is_name(source: str) -> bool:
    return not Path(source).suffix and len(Path(source).parts) == 1


def _in_catalog(name: str) -> Path:
    if name in catalog.list_names():
        return catalog.find_path(name)
    raise RobotFileError(
        f"there is no robot {name!r} in the catalog and no such file{suggest_names(name, catalog.list_names())}"
    )


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name longer than any file's, or with a zero byte in it
        return False


def _read(path: Path, *, snap: float, fix_base: bool, read_for: tuple[Path, ...] = ()) -> Robot:
    """The robot of a file; ``read_for`` are the files that extend it, the last one directly."""
    content = read_bytes(path)
    if path.suffix.lower() == ".toml":
        files = (*read_for, path)
        return read_toml(
            content, path, snap, extended=lambda reference: _extended(reference, files, snap=snap, fix_base=fix_base)
        )
    if path.suffix.lower() not in XML_ENDINGS:
        raise RobotFileError(f"{path}: robots are read from .urdf, .xml (MJCF) and .toml files; rename or convert it")
    root = parse_xml(content, path)
    if root.tag == "robot":
        return read_urdf(root, path, snap, fix_base=fix_base)
    if root.tag == "mujoco":
        from ytheta.robot.reading.mjcf.reader import read_mjcf  # a dozen modules that other formats do not need

        return read_mjcf(root, path, snap, fix_base=fix_base)
    raise root.error("a URDF starts with <robot>, an MJCF with <mujoco>; this is neither")


def _extended(reference: str, files: tuple[Path, ...], *, snap: float, fix_base: bool) -> Robot:
    """The robot that the last of some files extends: one of its folder, or of the catalog."""
    where = f"{files[-1].name}, extends"
    path = resolve_reference(reference, files[-1], where)
    if path is None:
        raise RobotFileError(f"{where}: {reference!r} is no path; give one relative to this file, or a catalog name")
    if _is_name(reference) and not _exists(path):
        path = _in_catalog(reference)
    if path.resolve() in [file.resolve() for file in files]:
        circle = " → ".join([*(file.name for file in files), path.name])
        raise RobotError(f"'extends' runs in a circle: {circle}; let one of these files stand by itself")
    if len(files) > DEEPEST:
        raise RobotError(f"'extends' goes through more than {DEEPEST} files; put some of them together")
    try:
        return _read(path, snap=snap, fix_base=fix_base, read_for=files)
    except RobotFileError:
        raise  # says already where
    except InputError as error:
        raise type(error)(f"{path.name}: {error}") from None


def _close_at_home(robot: Robot) -> None:
    """ClosureError where the loops do not close; what is still to be chosen or set leaves that open."""
    if not robot.loops or not robot.actuated or robot.unset_lengths:
        return
    from ytheta.robot.loops.closure import close_loops  # most robots have no loops and need not wait for it

    close_loops(robot).or_raise()


def _doubts(robot: Robot, path: Path, doubts: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The doubts about a description; one note if its figures were identified, since they are not misprints."""
    if not doubts or path.suffix.lower() != ".toml":
        return doubts
    if IDENTIFICATION not in tomllib.loads(read_bytes(path).decode("utf-8-sig")):
        return doubts
    links = sum(not verdict for verdict in robot.consistency.values())
    told = [f"impossible inertias in {links} of {len(robot.consistency)} links"] if links else []
    told += ["negative friction or rotor inertia"] if len(doubts) > links else []
    text = f"this identified model has {' and '.join(told)}"
    return (Finding("identified", Severity.NOTE, text, "its torques hold all the same, see docs/identify.md"),)


def _impossible(robot: Robot) -> tuple[Finding, ...]:
    """Inertias that no body can have, as warnings."""
    return tuple(
        Finding("inertia", Severity.WARNING, f"link {name!r}: {verdict.reason}", names=(name,))
        for name, verdict in robot.consistency.items()
        if not verdict
    )


def _doubtful_drives(robot: Robot) -> tuple[Finding, ...]:
    """Rotors and friction that no drive can have, as warnings."""
    joints = (*robot.joints, *(loop.joint for loop in robot.loops))
    named = [("joint", joint.name, joint.drive) for joint in joints]
    named += [("motor", motor.name, motor.drive) for motor in robot.motors]
    return tuple(
        Finding(
            "drive",
            Severity.WARNING,
            f"{kind} {name!r}: its {what} {value:g} is negative, which no drive can have",
            remedy="check the sign",
            names=(name,),
            fields={what: value},
        )
        for kind, name, drive in named
        for what, value in (
            ("rotor inertia", drive.rotor_inertia),
            ("viscous friction", drive.viscous),
            ("Coulomb friction", drive.coulomb),
        )
        if value < 0.0
    )
