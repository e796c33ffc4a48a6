"""Load a robot from the catalog or from a file of any format.

First the steps of ``load``, then the choice of the reader, the file that a name stands for, and findings.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING

from ytheta.arguments import check_kind, check_number
from ytheta.conventions import SNAP
from ytheta.errors import InputError, RobotError, RobotFileError, suggest_names
from ytheta.files.bounded import XACRO_EXTENSION, read_bytes, resolve_reference
from ytheta.files.toml import parse_toml
from ytheta.findings import Finding, Severity
from ytheta.robot.locking import lock_joints
from ytheta.robot.parts import find_driving_speed
from ytheta.robot.reading import catalog, robot_yaml
from ytheta.robot.reading.description_package import PREFIX, StoredDescription, find_description
from ytheta.robot.reading.snap import Snapper
from ytheta.robot.reading.toml import IDENTIFICATION, read_toml
from ytheta.robot.robot import Robot

if TYPE_CHECKING:
    from ytheta.files.xml_document import Node

log = logging.getLogger("ytheta")

XML_EXTENSIONS = (".urdf", ".xml", ".mjcf")
SDF_EXTENSIONS = (".sdf", ".world")
# Largest number of files in a row that extend each other. Chosen on: rule of thumb.
MAX_EXTENDED_FILES = 16


@dataclass(frozen=True)
class DescriptionOptions:
    """Options that the readers of all formats share; ``load`` describes them.

    ``package_paths`` and ``allow_paths`` are resolved.
    """

    snap: float = SNAP
    fix_base: bool = False
    xacro_args: Mapping[str, str] = field(default_factory=dict)
    package_paths: tuple[Path, ...] = ()
    allow_paths: tuple[Path, ...] = ()


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
    options = DescriptionOptions(
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
    from ytheta.robot.floating import fix_base, float_base  # imported here, since few robots need it

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


# Read a file of any format, and the robots that it extends, as it is: without symbols, locks or checks.


def read_file(path: Path, options: DescriptionOptions, extended_by: tuple[Path, ...] = ()) -> Robot:
    """Read the robot of a file.

    ``extended_by`` is a chain of files: each extends the next one, and the last one extends ``path``.
    """
    if options.xacro_args and path.suffix.lower() != XACRO_EXTENSION:
        raise InputError("xacro_args: this is not a .xacro file, so it has no arguments; leave them out")
    if path.suffix.lower() == ".toml":
        files = (*extended_by, path)
        return read_toml(path, options.snap, lambda reference: _read_extended(reference, files, options))
    content = read_bytes(path)
    if path.suffix.lower() not in (*XML_EXTENSIONS, *SDF_EXTENSIONS, XACRO_EXTENSION):
        raise RobotFileError(
            f"{path}: robots are read from .urdf, .xacro, .xml (MJCF), .sdf and .toml files; rename or convert it"
        )
    from ytheta.files.xml_document import parse_xml  # imported here, since only XML files need it

    if path.suffix.lower() == XACRO_EXTENSION:
        from ytheta.robot.reading.xacro import check_is_robot, expand_xacro

        content = expand_xacro(path, options.xacro_args, options.package_paths)
        root = parse_xml(content, path.with_name(f"{path.name} (expanded)"))
        check_is_robot(root, path)
    else:
        root = parse_xml(content, path)
    robot = _choose_reader(root)(
        root,
        path,
        options.snap,
        fix_base=options.fix_base,
        package_paths=options.package_paths,
        allow_paths=options.allow_paths,
    )
    return _close_loops_of_table(robot, path, root) if root.tag == "robot" else robot


def _choose_reader(root: Node) -> Callable[..., Robot]:
    """Return the reader of an XML document; it is imported here, since a file needs only one of them."""
    match root.tag:
        case "robot":
            from ytheta.robot.reading.urdf import read_urdf

            return read_urdf
        case "mujoco":
            from ytheta.robot.reading.mjcf.reader import read_mjcf

            return read_mjcf
        case "sdf":
            from ytheta.robot.reading.sdf.reader import read_sdf

            return read_sdf
    raise root.error(
        "this is neither a URDF, which starts with <robot>, nor an MJCF, which starts with <mujoco>, nor an SDF, which "
        "starts with <sdf>; check the file"
    )


def _close_loops_of_table(robot: Robot, path: Path, root: Node) -> Robot:
    """Return the robot of a URDF with the loops of a robot.yaml beside it, if there is one."""
    table = path.parent / robot_yaml.FILE_NAME
    if not exists(table):
        return robot
    if path.stem != table.stem:
        return replace(robot, findings=(*robot.findings, robot_yaml.describe_unused_table(table)))
    from ytheta.robot.reading.description import find_closure_tolerance

    return robot_yaml.close_tree(robot, table, find_closure_tolerance(root.descendants()))


def _read_extended(reference: str, files: tuple[Path, ...], options: DescriptionOptions) -> Robot:
    """Read the robot that the last of these files extends, from the folder of that file or from the catalog."""
    where = f"{files[-1].name}, extends"
    path = resolve_reference(reference, files[-1], where)
    if path is None:
        raise RobotFileError(f"{where}: {reference!r} is not a path; give one relative to this file, or a catalog name")
    if is_name(reference) and not exists(path):
        path = find_in_catalog(reference)
    if path.resolve() in [file.resolve() for file in files]:
        cycle = " → ".join([*(file.name for file in files), path.name])
        raise RobotError(f"'extends' is circular: {cycle}; remove 'extends' from one of these files")
    if len(files) > MAX_EXTENDED_FILES:
        raise RobotError(f"'extends' refers to more than {MAX_EXTENDED_FILES} files in a row; merge some of them")
    try:
        return read_file(path, options, extended_by=files)
    except RobotFileError:
        raise  # the message of this error names the file already
    except InputError as error:
        raise type(error)(f"{path.name}: {error}") from None


# The file that the name or path of a robot stands for.


def find_file(source: str | Path) -> Path:
    """Return the path of the file that a catalog name, a path or the folder of a parallel robot stands for."""
    form = "the name of a robot in the catalog, see yt.robots(), or the path of a file"
    check_kind("source", source, (str, Path), form)
    if source == "":
        raise InputError(f"the name of the robot is empty; give {form}")
    path = Path(source)
    if path.name == robot_yaml.FILE_NAME or exists(path / robot_yaml.FILE_NAME):  # a parallel robot of Gepetto
        return path.with_name("robot.urdf") if path.name == robot_yaml.FILE_NAME else path / "robot.urdf"
    return find_in_catalog(source) if isinstance(source, str) and is_name(source) and not exists(path) else path


def is_name(source: str) -> bool:
    """Whether a text can be the name of a robot in the catalog."""
    return not Path(source).suffix and len(Path(source).parts) == 1


def find_in_catalog(name: str) -> Path:
    """Return the path of a robot in the catalog. RobotFileError if there is none of this name."""
    names = catalog.list_names()
    if name in names:
        return catalog.find_path(name)
    raise RobotFileError(f"there is no robot {name!r} in the catalog and no such file{suggest_names(name, names)}")


def exists(path: Path) -> bool:
    """Whether there is a file or folder at a path, which may be impossible."""
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that is too long, or contains a null character
        return False


# What a user should know about the numbers of a description: inconsistent inertias, friction that drives.


def summarize_warnings(robot: Robot, warnings: tuple[Finding, ...]) -> Finding:
    """Return one note in place of the warnings about an identified model, whose estimates need not be consistent."""
    links = sum(not consistency for consistency in robot.consistency.values())
    parts = [f"physically inconsistent inertias in {links} of {len(robot.consistency)} links"] if links else []
    parts += ["negative friction or rotor inertia"] if len(warnings) > links else []
    statement = f"this identified model has {' and '.join(parts)}"
    remedy = "its torques are valid nevertheless, since they depend only on combinations of these values"
    return Finding("identified", Severity.NOTE, statement, remedy)


def describe_unknown_inertias(robot: Robot) -> tuple[Finding, ...]:
    """Return a note if the robot was identified with unknown geometry, so that its links have no inertias."""
    if not robot.inertias_unknown:
        return ()
    statement = f"{robot.name!r} was identified with unknown geometry: its links have no inertias here"
    remedy = "only predict and inverse_dynamics() of its model use the identified parameters"
    return (Finding("geometry", Severity.NOTE, statement, remedy),)


def check_inertias(robot: Robot) -> tuple[Finding, ...]:
    """Return warnings about links whose inertia is not physically consistent."""
    return tuple(
        Finding("inertia", Severity.WARNING, f"link {name!r}: {consistency.reason}", names=(name,))
        for name, consistency in robot.consistency.items()
        if not consistency
    )


def check_drives(robot: Robot) -> tuple[Finding, ...]:
    """Return warnings about negative rotor inertia and about friction that drives instead of braking."""
    joints = (*robot.joints, *(loop.joint for loop in robot.loops))
    drives = [("joint", joint.name, joint.drive) for joint in joints]
    drives += [("motor", motor.name, motor.drive) for motor in robot.motors]
    negative = tuple(
        Finding(
            "drive",
            Severity.WARNING,
            f"{kind} {name!r}: its {quantity} {value:g} is negative",
            remedy="check the sign",
            names=(name,),
            fields={quantity: value},
        )
        for kind, name, drive in drives
        for quantity, value in (
            ("rotor inertia", drive.rotor_inertia),
            # With a root, only the sum of the laws must brake.
            ("viscous friction", drive.viscous if drive.root is None else 0.0),
            ("Coulomb friction", drive.coulomb if drive.root is None else 0.0),
            ("load-dependent friction", drive.load or 0.0),
        )
        if value < 0.0
    )
    driving = tuple(
        Finding(
            "drive",
            Severity.WARNING,
            f"{kind} {name!r}: the sum of its viscous, Coulomb and root friction drives instead of braking at a speed "
            f"of {speed:g}",
            remedy="check the signs, or give a smaller friction_speed",
            names=(name,),
            fields={"speed": speed},
        )
        for kind, name, drive in drives
        if drive.root is not None and (speed := find_driving_speed(drive)) is not None
    )
    return negative + driving
