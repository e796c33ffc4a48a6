"""Read a file of any format, and the robots that it extends, as it is: without symbols, locks or checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ytheta.errors import InputError, RobotError, RobotFileError
from ytheta.files.bounded import read_bytes, resolve_reference
from ytheta.robot.reading import parallel
from ytheta.robot.reading.digits import find_closure_tolerance
from ytheta.robot.reading.options import ReadingOptions
from ytheta.robot.reading.robot_paths import exists, find_in_catalog, is_name
from ytheta.robot.reading.toml.reader import NO_XACRO_ARGS, read_toml
from ytheta.robot.robot import Robot

XML_EXTENSIONS = (".urdf", ".xml", ".mjcf")
XACRO_EXTENSION = ".xacro"
SDF_EXTENSIONS = (".sdf", ".world")
MAX_EXTENDED_FILES = 16


def read_file(path: Path, options: ReadingOptions, extended_by: tuple[Path, ...] = ()) -> Robot:
    """Read the robot of a file.

    ``extended_by`` is a chain of files: each extends the next one, and the last one extends ``path``.
    """
    content = read_bytes(path)
    if path.suffix.lower() == ".toml":
        files = (*extended_by, path)

        def read_extended(reference: str, xacro_args: Mapping[str, str]) -> Robot:
            return _read_extended(reference, files, replace(options, xacro_args={**xacro_args, **options.xacro_args}))

        return read_toml(content, path, options.snap, extended=read_extended, has_xacro_args=bool(options.xacro_args))
    if path.suffix.lower() not in (*XML_EXTENSIONS, *SDF_EXTENSIONS, XACRO_EXTENSION):
        raise RobotFileError(
            f"{path}: robots are read from .urdf, .xacro, .xml (MJCF), .sdf and .toml files; rename or convert it"
        )
    from ytheta.files.xml_document import parse_xml  # imported here, since only XML files need it

    if path.suffix.lower() == XACRO_EXTENSION:
        from ytheta.robot.reading.xacro.expand import check_is_robot, expand_xacro

        content = expand_xacro(path, options.xacro_args, options.package_paths)
        root = parse_xml(content, path.with_name(f"{path.name} (expanded)"))
        check_is_robot(root, path)
    elif options.xacro_args:
        raise InputError(NO_XACRO_ARGS)
    else:
        root = parse_xml(content, path)
    if root.tag == "robot":
        from ytheta.robot.reading.urdf.reader import read_urdf

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

        return read_mjcf(
            root,
            path,
            options.snap,
            fix_base=options.fix_base,
            package_paths=options.package_paths,
            allow_paths=options.allow_paths,
        )
    if root.tag == "sdf":
        from ytheta.robot.reading.sdf.reader import read_sdf  # imported here, since only SDF files need it

        return read_sdf(
            root,
            path,
            options.snap,
            fix_base=options.fix_base,
            package_paths=options.package_paths,
            allow_paths=options.allow_paths,
        )
    raise root.error(
        "this is neither a URDF, which starts with <robot>, nor an MJCF, which starts with <mujoco>, nor an SDF, which "
        "starts with <sdf>; check the file"
    )


def _close_loops_of_table(robot: Robot, path: Path, tolerance: float) -> Robot:
    """Return the robot of a URDF with the loops of a robot.yaml beside it, if there is one."""
    table = path.parent / parallel.FILE_NAME
    if not exists(table):
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
