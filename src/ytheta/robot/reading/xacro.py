"""Expansion of a xacro file to URDF.

xacro evaluates Python expressions, reads YAML files and environment variables, and includes files of any path: a xacro
file is a program. Therefore it is expanded only if the user names it, never because another file does. The expansion
runs in a child process with limits on time, memory and output. On Linux, this process reads only the folders in which
the packages of the robot may be, changes nothing, and reaches neither the network nor other programs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ytheta.engine.limited_process import EndReason, ProcessEndedError, ProcessLimits, run_limited
from ytheta.errors import RobotFileError
from ytheta.files.bounded import MAX_ROBOT_SIZE, read_bytes
from ytheta.files.xml_document import Node
from ytheta.robot.reading.ros_packages import describe_search, list_packages, list_readable_paths

CHILD = "ytheta.robot.reading.xacro_process"  # not imported here, since only the child process needs it
# Longest time (s) for the expansion of a xacro file. Chosen on: rule of thumb.
MAX_SECONDS = 60.0
# Largest memory (bytes) for the expansion of a xacro file. Chosen on: rule of thumb.
MAX_MEMORY = 4 * 1024**3
_OLD_SYNTAX = {
    "include": "filename",
    "macro": "name",
    "property": "name",
}  # elements without a prefix, and an attribute
_URDF_TAGS = ("link", "joint", "material", "transmission", "sensor", "gazebo", "ros2_control", "mujoco", "ytheta")
_SRDF_TAGS = ("group", "group_state", "end_effector", "virtual_joint", "passive_joint", "disable_collisions")
MAX_FILES_BESIDE, MAX_NAMED_FILES = 200, 5  # that are searched for an include, and that a message names


def expand_xacro(path: Path, arguments: Mapping[str, str], package_paths: Sequence[Path]) -> bytes:
    """Return the URDF of a xacro file. Packages are found in ``package_paths`` and around the file."""
    read_bytes(path)  # checks its kind and size, and names it as an input
    packages = list_packages(path, package_paths, is_xacro=True)
    request = {
        "path": str(path.resolve()),
        "name": path.name,
        "arguments": dict(arguments),
        "packages": {name: str(folder) for name, folder in packages.items()},
        "searched": describe_search(path, package_paths),
        "max_size": MAX_ROBOT_SIZE,
    }
    try:
        readable = tuple(list_readable_paths(path, package_paths, packages))
        limits = ProcessLimits(MAX_MEMORY, MAX_SECONDS, processor_seconds=MAX_SECONDS, readable=readable)
        reply = run_limited(CHILD, "expand", request, limits)
    except ProcessEndedError as error:
        sentences = {
            EndReason.LATE: f"its expansion takes more than {MAX_SECONDS:.3g} s; check its macros and expressions",
            EndReason.OUT_OF_MEMORY: f"its expansion needs more than {MAX_MEMORY / 1e9:.0f} GB; check it",
            EndReason.CRASHED: "the expansion of this xacro file failed; check the file",
        }
        raise RobotFileError(f"{path.name}: {sentences[error.reason]}") from None
    return bytes(reply.blocks[0])


def check_is_robot(root: Node, path: Path) -> None:
    """Raise an error if an expanded file has no links, or if it is a part of a robot that a file beside it includes.

    The error names the files that include it.
    """
    if root.tag != "robot":
        return
    for node in root.children:
        if node.tag in _OLD_SYNTAX and _OLD_SYNTAX[node.tag] in node.attributes:
            raise RobotFileError(
                f"{path.name} has <{node.tag}> in place of <xacro:{node.tag}>, which xacro does not expand since 2015; "
                "add the prefix 'xacro:' to include, property, macro and the names of macros"
            )
    foreign = _find_foreign_link(root)
    if root.first("link") is not None and foreign is None:
        return
    unknown = next((node.tag for node in root.children if node.tag not in _URDF_TAGS and ":" not in node.tag), None)
    if root.first("link") is None and unknown in _SRDF_TAGS:
        raise RobotFileError(f"{path.name} is an SRDF, with groups of joints for MoveIt; load the URDF of the robot")
    if root.first("link") is None and unknown is not None:
        raise RobotFileError(
            f"{path.name} has no <link> after its expansion, but <{unknown}>; if it is a macro, write <xacro:{unknown}>"
        )
    users = _find_including_files(path)
    remedy = f"load a file that includes it: {', '.join(users)}" if users else "load the file of the whole robot"
    if root.first("link") is None:
        raise RobotFileError(f"{path.name} has no <link> after its expansion, since it only defines macros; {remedy}")
    if foreign is not None and users:
        joint, link = foreign
        raise RobotFileError(
            f"{path.name} is only a part of a robot: its joint {joint!r} connects the link {link!r} of another file; "
            f"{remedy}"
        )


def _find_foreign_link(root: Node) -> tuple[str, str] | None:
    """Return a joint that connects a link that the file does not have, and this link."""
    links = {node.get("name", "") for node in root.all("link")}
    for joint in root.all("joint"):
        for end in (*joint.all("parent"), *joint.all("child")):
            if end.get("link", "") not in links:
                return joint.get("name", ""), end.get("link", "")
    return None


def _find_including_files(path: Path) -> list[str]:
    """Return the names of xacro files in the same folder that include a file."""
    pattern = re.compile(rf"""include\s[^>]*filename\s*=\s*["'](?:[^"']*/)?{re.escape(path.name)}["']""")
    names: list[str] = []
    for file in sorted(path.parent.glob("*.xacro"))[:MAX_FILES_BESIDE]:
        try:
            text = read_bytes(file).decode("utf-8", "replace")
        except RobotFileError:
            continue
        if file.name != path.name and pattern.search(text):
            names.append(file.name)
    return names[:MAX_NAMED_FILES]
