"""Load a robot from the catalog or from a file."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import NoneType

from ytheta.arguments import check_kind, check_number
from ytheta.conventions import SNAP
from ytheta.errors import InputError, RobotError, RobotFileError
from ytheta.files.bounded import read_bytes
from ytheta.files.toml import parse_toml
from ytheta.robot.locking.lock_joints import lock_joints
from ytheta.robot.reading.description_findings import (
    check_drives,
    check_inertias,
    describe_unknown_inertias,
    summarize_warnings,
)
from ytheta.robot.reading.description_package import PREFIX, StoredDescription, find_description
from ytheta.robot.reading.options import ReadingOptions
from ytheta.robot.reading.read_file import read_file
from ytheta.robot.reading.robot_paths import find_file
from ytheta.robot.reading.snap import Snapper
from ytheta.robot.reading.toml.reader import IDENTIFICATION
from ytheta.robot.robot import Robot

log = logging.getLogger("ytheta")


def load(
    source: str | Path,
    *,
    snap: float = SNAP,
    strict: bool = False,
    fix_base: bool = False,
    floating_base: bool = False,
    lengths: Mapping[str, float] | None = None,
    angles: Mapping[str, float] | None = None,
    lock: Mapping[str, float | None] | None = None,
    xacro_args: Mapping[str, str] | None = None,
    package_paths: Sequence[str | Path] = (),
    allow_paths: Sequence[str | Path] = (),
) -> Robot:
    """Load a robot from a file, from the catalog, or from the package robot_descriptions (``rd:fr3_description``).

    Files are ``.urdf``, ``.xacro``, ``.xml`` (MJCF or URDF), ``.sdf`` and ``.toml``. A folder with a robot.urdf and a
    robot.yaml, or this URDF, is a parallel robot whose loops robot.yaml closes.

    ``snap``: an angle within this tolerance (rad) of a multiple of pi/6 becomes that multiple; 0 keeps all angles.
    ``strict``: inertias that are not physically consistent raise an error instead of a warning.
    ``fix_base``: a floating base, as of an MJCF with a free joint, is fixed at its position in the file.
    ``floating_base``: the base floats, although the file does not say so, as no URDF does.
    ``lengths``: values of symbolic lengths in metres, which override those in the file; they may be negative, and None
    leaves a length without a value.
    ``angles``: values of symbolic angles in radians, likewise; they are rounded to multiples of pi/6 like all angles.

    ``lock``: joints that become fixed, by name or pattern (``*finger*``), and their positions in rad or m; None is the
    home position. The masses behind them stay.
    ``xacro_args``: arguments of a ``.xacro`` file.
    ``package_paths``: folders that contain ROS packages, for ``package://``, ``model://`` and ``$(find …)``.
    ``allow_paths``: folders whose files the description may open, beside the folder of the robot.

    Notes and warnings about the file are logged and kept in ``robot.findings``.
    """
    described = _find_description(source)
    path = described.path if described is not None else find_file(source)
    snap = check_number("snap", snap, "an angle in rad, such as 1e-4, or 0 to keep all angles")
    check_kind("lengths", lengths, (Mapping, NoneType), 'a dictionary of numbers in metres, such as {"l1": 0.5}')
    check_kind("angles", angles, (Mapping, NoneType), 'a dictionary of numbers in radians, such as {"alpha1": 0.5}')
    check_kind("lock", lock, (Mapping, NoneType), 'a dictionary of positions, such as {"finger_joint1": 0.02}')
    options = ReadingOptions(
        snap,
        fix_base,
        _check_xacro_args(xacro_args),
        _check_folders("package_paths", "--package-path", package_paths),
        _check_folders("allow_paths", "--allow-path", allow_paths),
    )
    if described is not None:
        folders = (*options.package_paths, described.repository, described.repository.parent)
        arguments = {**described.xacro_args, **options.xacro_args}
        options = replace(options, xacro_args=arguments, package_paths=folders)
    try:
        robot = _choose_base(read_file(path, options), fix=fix_base, floating=floating_base)
        robot = _set_symbols(robot, lengths or {}, angles or {}, Snapper(snap))
        robot = lock_joints(robot, lock) if lock else robot
        inconsistent = check_inertias(robot)
        if strict and inconsistent:
            raise RobotError(f"{inconsistent[0].text}; correct it, or read without --strict")
        warnings = (*inconsistent, *check_drives(robot))
        if warnings and _is_identified(path):
            warnings = (summarize_warnings(robot, warnings),)
        robot = replace(robot, findings=(*robot.findings, *describe_unknown_inertias(robot), *warnings))
        _close_at_home(robot)
    except RobotFileError:
        raise  # the message of this error names the file already
    except InputError as error:
        raise type(error)(f"{path.name}: {error}") from None
    for finding in robot.findings:
        log.log(logging.WARNING if finding.is_warning else logging.INFO, "%s: %s", path.name, finding.text)
    return robot


def _choose_base(robot: Robot, *, fix: bool, floating: bool) -> Robot:
    """Return the robot with a fixed or a floating base, if one of them was requested."""
    if not fix and not floating:
        return robot
    from ytheta.robot.floating.base import fix_base, float_base  # imported here, since few robots need it

    if fix and floating:
        raise InputError(
            "--fix-base (fix_base) and --floating-base (floating_base) contradict each other; give one of them"
        )
    if fix:
        return fix_base(robot)
    return robot if robot.floating else float_base(robot)


def _check_xacro_args(arguments: Mapping[str, str] | None) -> dict[str, str]:
    form = 'a dictionary of texts, such as {"hand": "true"}'
    check_kind("xacro_args", arguments, (Mapping, NoneType), form)
    for name, value in (arguments or {}).items():
        check_kind("a name in xacro_args", name, str, form)
        check_kind(f"xacro_args[{name!r}]", value, str, form)
    return dict(arguments or {})


def _check_folders(name: str, option: str, folders: Sequence[str | Path]) -> tuple[Path, ...]:
    """Return existing folders as resolved paths."""
    check_kind(name, folders, (list, tuple), "a list of folders")
    for folder in folders:
        check_kind(f"an entry of {name}", folder, (str, Path), "the path of a folder")
        try:
            exists = Path(folder).is_dir()
        except (OSError, ValueError):
            exists = False
        if not exists:
            raise InputError(f"{option} ({name}): {str(folder)!r} is not a folder; give the path of an existing folder")
    return tuple(Path(folder).resolve() for folder in folders)


def _set_symbols(robot: Robot, lengths: Mapping[str, float], angles: Mapping[str, float], snapper: Snapper) -> Robot:
    """Return the robot with these values of symbolic lengths and angles; the angles are snapped."""
    robot = robot.with_lengths(**{str(name): value for name, value in lengths.items()})
    robot = robot.with_angles(**{str(name): value for name, value in angles.items()})
    set_now = {name: value for name, value in robot.angles if name in angles and value is not None}
    snapped = {name: snapper.snap_angle(value, f"angle {name!r}") for name, value in set_now.items()}
    return replace(robot.with_angles(**snapped), findings=(*robot.findings, *snapper.findings))


def _find_description(source: str | Path) -> StoredDescription | None:
    """Return the description that a name such as ``rd:fr3_description`` stands for; None for other names and paths."""
    if not isinstance(source, str) or not source.startswith(PREFIX):
        return None
    return find_description(source.removeprefix(PREFIX))


def _close_at_home(robot: Robot) -> None:
    """Raise ClosureError if the loops do not close; do nothing if actuated coordinates or symbols are not set."""
    if not robot.loops or not robot.actuated or robot.unset_symbols:
        return
    from ytheta.robot.loops.closure import close_loops  # imported here, since only robots with loops need it

    close_loops(robot).or_raise()


def _is_identified(path: Path) -> bool:
    """Whether a file contains an identified model."""
    if path.suffix.lower() != ".toml":
        return False
    return IDENTIFICATION in parse_toml(read_bytes(path), path.name)
