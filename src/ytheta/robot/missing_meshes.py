"""Links whose inertia is incomplete, since it depends on mesh files that do not exist.

Such a robot has all of its geometry: it can be inspected, its base parameters can be counted, and it can be identified.
But its inertias are not those of the robot, so they are not exported, no torques are predicted from them, nothing is
simulated with them, no motion is designed within torque limits, and they are not expected of an identification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.robot.inertia import Inertia
from ytheta.robot.robot import Robot

CODE = "missing mesh"
MAX_NAMES = 6  # largest number of names in a sentence
PACKAGE_REMEDY = "give the folder of the package with --package-path (package_paths), "
REMEDY = "add the files, or give these links an inertia in the file (<inertial>)"


def describe_missing_meshes(files: Mapping[str, Sequence[str]], inertias: Mapping[str, Inertia]) -> Finding:
    """Return the warning about links with missing meshes; both arguments are by link.

    The fields of the finding contain the incomplete inertias, so that a link with another inertia counts as complete.
    """
    names = list(dict.fromkeys(name for of_link in files.values() for name in of_link))
    statement = (
        f"the inertia of {_join(list(files))} depends on mesh files that do not exist ({_join(names)}), so it is "
        "incomplete, and torques of this description are not right"
    )
    fields = {"files": names, "links": {link: list(inertias[link].parameters) for link in files}}
    in_packages = any(name.startswith("package://") for name in names)
    remedy = f"{PACKAGE_REMEDY if in_packages else ''}{REMEDY}"
    return Finding(CODE, Severity.WARNING, statement, remedy, names=tuple(files), fields=fields)


def list_incomplete_links(robot: Robot) -> tuple[str, ...]:
    """Return the names of the links whose inertia is incomplete."""
    inertias = {link.name: link.inertia.parameters for link in robot.links}
    described = [finding.fields["links"] for finding in robot.findings if finding.code == CODE]
    return tuple(
        name
        for links in described
        for name, parameters in links.items()
        if inertias.get(name, tuple(parameters)) == tuple(parameters)
    )


def check_inertias_are_complete(robot: Robot, purpose: str, *, alternative: str = "") -> None:
    """Raise InputError if the inertia of a link is incomplete.

    ``purpose`` is what the inertia is needed for, and ``alternative`` another remedy, such as an option.
    """
    links = list_incomplete_links(robot)
    if links:
        raise InputError(
            f"{purpose} needs the inertias of {robot.name!r}, but that of {_join(links)} depends on mesh files that do "
            f"not exist; {REMEDY}{alternative and f', or {alternative}'}"
        )


def _join(names: Sequence[str]) -> str:
    return ", ".join(names[:MAX_NAMES]) + (f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else "")
