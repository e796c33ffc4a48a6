"""Load a robot from the catalog or from a file."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import NoneType

from ytheta.arguments import check_kind, check_number
from ytheta.conventions import SNAP
from ytheta.errors import InputError, RobotError, RobotFileError, suggest_names
from ytheta.files.bounded import read_bytes, resolve_reference
from ytheta.files.toml_document import parse_toml
from ytheta.robot import catalog
from ytheta.robot.locking.lock_joints import lock_joints
from ytheta.robot.reading import parallel
from ytheta.robot.reading.description_findings import (
    check_drives,
    check_inertias,
    describe_unknown_inertias,
    summarize_warnings,
)
from ytheta.robot.reading.description_package import PREFIX, StoredDescription, find_description
from ytheta.robot.reading.digits import find_closure_tolerance
from ytheta.robot.reading.options import ReadingOptions
from ytheta.robot.reading.snap import Snapper
from ytheta.robot.reading.toml.reader import IDENTIFICATION, read_toml
from ytheta.robot.robot import Robot

log = logging.getLogger("ytheta")

XML_EXTENSIONS = (".urdf", ".xml", ".mjcf")
XACRO_EXTENSION = ".xacro"
SDF_EXTENSIONS = (".sdf", ".world")
MAX_EXTENDED_FILES = 16


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

    Files are ``.urdf``, ``.xacro``, ``.xml`` (MJCF or URDF) and ``.toml``. A folder with a robot.urdf and a robot.yaml,
    or this URDF, is a parallel robot whose loops robot.yaml closes.

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
    ``package_paths``: folders that contain ROS packages, for ``package://`` and ``$(find …)``.
    ``allow_paths``: folders whose files the description may open, beside the folder of the robot.

    Notes and warnings about the file are logged and kept in ``robot.findings``.
    """
    described = _find_description(source)
    path = described.path if described is not None else _find_file(source)
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
        robot = _choose_base(_read(path, options), fix=fix_base, floating=floating_base)
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
        raise InputError("fix_base and floating_base contradict each other; give one of them")
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


def _find_file(source: str | Path) -> Path:
    form = "the name of a robot in the catalog, see yt.robots(), or the path of a file"
    check_kind("source", source, (str, Path), form)
    if source == "":
        raise InputError(f"the name of the robot is empty; give {form}")
    path = Path(source)
    if path.name == parallel.FILE_NAME or _exists(path / parallel.FILE_NAME):  # a parallel robot of Gepetto
        return path.with_name("robot.urdf") if path.name == parallel.FILE_NAME else path / "robot.urdf"
    return _find_in_catalog(source) if isinstance(source, str) and _is_name(source) and not _exists(path) else path


def _is_name(source: str) -> bool:
    return not Path(source).suffix and len(Path(source).parts) == 1


def _find_in_catalog(name: str) -> Path:
    names = catalog.list_names()
    if name in names:
        return catalog.find_path(name)
    raise RobotFileError(f"there is no robot {name!r} in the catalog and no such file{suggest_names(name, names)}")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that is too long, or contains a null character
        return False


def _read(path: Path, options: ReadingOptions, extended_by: tuple[Path, ...] = ()) -> Robot:
    """Read the robot of a file.

    ``extended_by`` is a chain of files: each extends the next one, and the last one extends ``path``.
    """
    content = read_bytes(path)
    if path.suffix.lower() == ".toml":
        files = (*extended_by, path)
        if options.xacro_args and b"extends" not in content:
            raise InputError("xacro_args: this is not a .xacro file, so it has no arguments; leave them out")
        return read_toml(
            content, path, options.snap, extended=lambda reference: _read_extended(reference, files, options)
        )
    if path.suffix.lower() in SDF_EXTENSIONS:
        raise RobotFileError(
            f"{path}: SDF is not read; convert it to URDF or MJCF, for example with: gz sdf --print, sdformat_urdf"
        )
    if path.suffix.lower() not in (*XML_EXTENSIONS, XACRO_EXTENSION):
        raise RobotFileError(
            f"{path}: robots are read from .urdf, .xacro, .xml (MJCF) and .toml files; rename or convert it"
        )
    from ytheta.files.xml_document import parse_xml  # imported here, since only XML files need it

    if path.suffix.lower() == XACRO_EXTENSION:
        from ytheta.robot.reading.xacro.expand import expand_xacro

        content = expand_xacro(path, options.xacro_args, options.package_paths)
        root = parse_xml(content, path.with_name(f"{path.name} (expanded)"))
    elif options.xacro_args:
        raise InputError("xacro_args: this is not a .xacro file, so it has no arguments; leave them out")
    else:
        root = parse_xml(content, path)
    if root.tag == "robot":
        from ytheta.robot.reading.urdf import read_urdf

        robot = read_urdf(
            root,
            path,
            options.snap,
            fix_base=options.fix_base,
            package_paths=options.package_paths,
            allow_paths=options.allow_paths,
        )
        return _close_loops_of_table(robot, path, find_closure_tolerance(root.descendants()))
    if root.tag == "mujoco":
        from ytheta.robot.reading.mjcf.reader import read_mjcf  # imported here, since only MJCF files need it

        return read_mjcf(root, path, options.snap, fix_base=options.fix_base, allow_paths=options.allow_paths)
    raise root.error(
        "this is neither a URDF, which starts with <robot>, nor an MJCF, which starts with <mujoco>; check the file"
    )


def _close_loops_of_table(robot: Robot, path: Path, tolerance: float) -> Robot:
    """Return the robot of a URDF with the loops of a robot.yaml beside it, if there is one."""
    table = path.parent / parallel.FILE_NAME
    if not _exists(table):
        return robot
    if path.stem != table.stem:
        return replace(robot, findings=(*robot.findings, parallel.describe_unused_table(table)))
    return parallel.close_tree(robot, table, tolerance)


def _read_extended(reference: str, files: tuple[Path, ...], options: ReadingOptions) -> Robot:
    """Read the robot that the last of these files extends, from the folder of that file or from the catalog."""
    where = f"{files[-1].name}, extends"
    path = resolve_reference(reference, files[-1], where)
    if path is None:
        raise RobotFileError(f"{where}: {reference!r} is not a path; give one relative to this file, or a catalog name")
    if _is_name(reference) and not _exists(path):
        path = _find_in_catalog(reference)
    if path.resolve() in [file.resolve() for file in files]:
        cycle = " → ".join([*(file.name for file in files), path.name])
        raise RobotError(f"'extends' is circular: {cycle}; remove 'extends' from one of these files")
    if len(files) > MAX_EXTENDED_FILES:
        raise RobotError(f"'extends' refers to more than {MAX_EXTENDED_FILES} files in a row; merge some of them")
    try:
        return _read(path, options, extended_by=files)
    except RobotFileError:
        raise  # the message of this error names the file already
    except InputError as error:
        raise type(error)(f"{path.name}: {error}") from None


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
