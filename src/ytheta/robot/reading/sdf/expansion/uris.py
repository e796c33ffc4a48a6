"""Files that an SDF refers to: included models and meshes.

A path is relative to the file that contains it. ``model://NAME/…`` and ``package://NAME/…`` are looked up in the
robot's folder, if that folder has this name; in the folders NAME and models/NAME inside of it; and in the package
paths. No file outside of these folders is opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ytheta.errors import InputError, RobotFileError
from ytheta.files.bounded import (
    find_robot_folder,
    locate_reference,
    read_bytes,
    resolve_reference,
)
from ytheta.files.xml_document import Node, parse_xml
from ytheta.robot.reading.ros_packages import list_packages, locate_in_package
from ytheta.robot.reading.sdf.version import read_version

CONFIGURATION, MODEL = "model.config", "model.sdf"
_SCHEMES = ("model://", "package://")


class MissingModelError(RobotFileError):
    """An included model is not on this computer, or is not where it was searched for."""


@dataclass(frozen=True)
class FileFinder:
    """Finds the files that the description in ``path`` and the files that it includes refer to."""

    path: Path
    package_paths: Sequence[Path] = ()
    allow_paths: Sequence[Path] = ()

    def locate_mesh(self, reference: str, node: Node) -> Path | None:
        """Return the path of a mesh; None if it is unknown or may not be opened."""
        if reference.startswith(_SCHEMES):
            return self._locate_in_package(reference)
        return locate_reference(reference, node.path, self._allowed)

    def find_model(self, node: Node) -> Path:
        """Return the path of the SDF file that an ``<include>`` names.

        MissingModelError if there is no such file, RobotFileError if it may not be opened.
        """
        uri = node.first("uri")
        if uri is None or not uri.content:
            raise node.error("<uri> is missing or empty; give the path of the included model")
        reference = uri.content
        if reference.startswith(_SCHEMES):
            target = self._locate_in_package(reference)
            if target is None:
                folders = ", ".join(map(str, (find_robot_folder(self.path), *self.package_paths)))
                raise MissingModelError(
                    f"{uri.where}: the model {reference!r} was not found in {folders}; give the folder that contains "
                    "it with --package-path (package_paths)"
                )
        else:
            if "://" in reference.removeprefix("file://"):
                raise MissingModelError(
                    f"{uri.where}: {reference!r} is not on this computer and is not downloaded; download it, write "
                    "model:// and its name, and give the folder that contains it with --package-path (package_paths)"
                )
            located = resolve_reference(reference, node.path, uri.where, self._allowed)
            assert located is not None, "only schemes that are handled above have no path"
            target = located
        return _find_sdf(target, uri, self._allowed)

    @property
    def _allowed(self) -> tuple[Path, ...]:
        return find_robot_folder(self.path), *self.allow_paths

    @cached_property
    def _packages(self) -> Mapping[str, Path]:
        """All packages; they are listed once, since a robot can have hundreds of meshes."""
        return list_packages(self.path, self.package_paths)

    def _locate_in_package(self, reference: str) -> Path | None:
        name, _, inside = reference.partition("://")[2].partition("/")
        folder = find_robot_folder(self.path)
        try:
            packages = dict(self._packages)
            for path in (folder / name, folder / "models" / name):
                if path.is_dir() and path.resolve().is_relative_to(folder):
                    packages.setdefault(name, path)
            return locate_in_package(f"package://{name}/{inside}", packages)
        except (OSError, RuntimeError, ValueError):  # a name that is too long, circular links, a null character
            return None


def _find_sdf(path: Path, uri: Node, allowed: Sequence[Path]) -> Path:
    """Return the SDF file of a model: the file itself, or the newest one that model.config of a folder names."""
    try:
        if not path.is_dir():
            return path
        configuration = _stay_inside(path, CONFIGURATION, uri, allowed)
        if not configuration.is_file():
            model = _stay_inside(path, MODEL, uri, allowed)
            if not model.exists():
                raise uri.error(
                    f"the folder of the model {uri.content!r} has neither {CONFIGURATION} nor {MODEL}; name its file"
                )
            return model
    except OSError as error:
        raise uri.error(f"the model {uri.content!r} cannot be read: {error.strerror}; check its path") from None
    files = []
    for node in parse_xml(read_bytes(configuration), configuration).all("sdf"):
        try:
            version = read_version(node)
        except InputError:
            continue  # other versions of the model may be readable
        files.append((version, node))
    if not files:
        raise uri.error(f"{CONFIGURATION} of the model {uri.content!r} names no <sdf> file that can be read; add one")
    newest = max(files, key=lambda entry: entry[0])[1]
    target = resolve_reference(newest.content, configuration, newest.where)
    if target is None:
        raise newest.error(f"{newest.content!r} is not a path; name a file in the folder of the model")
    return target


def _stay_inside(folder: Path, name: str, uri: Node, allowed: Sequence[Path]) -> Path:
    """Return a file in a folder, unless it is a link to a file outside of this folder and of the allowed folders."""
    target = (folder / name).resolve()
    if not any(target.is_relative_to(place.resolve()) for place in (folder, *allowed)):
        raise uri.error(
            f"{name} of the model {uri.content!r} is a link to a file outside of the robot's folder and is not opened; "
            "allow the folder of that file with --allow-path (allow_paths), or copy the file"
        )
    return target
