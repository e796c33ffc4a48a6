"""The standard parameters of a robot: selection by kind or name, units, replacement of values, incomplete inertias."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from ytheta.arguments import check_words
from ytheta.conventions import (
    ALL_JOINT_PARAMETERS,
    FORCE_PARAMETER,
    JOINT_PARAMETERS,
    LINK_PARAMETERS,
    OPTIONAL_JOINT_PARAMETERS,
)
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.findings import Finding, Severity
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive, JointKind, Link, parameter_name
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

# The parameters of "root" and "load" exist only for drives that have these laws.
FRICTION_PARAMETERS = {"viscous": "fv", "coulomb": "fc", "offset": "fo", "root": "fs", "load": "fl"}

# Exponent of length in the unit of a parameter, such as 1 in kg m. Parameters not listed have exponent 2.
LENGTH_EXPONENTS = {"fl": 0.0, "m": 0.0, "mx": 1.0, "my": 1.0, "mz": 1.0}


def select_parameters(robot: Robot, *, rotor_inertia: bool, friction: Sequence[str] = ()) -> tuple[str, ...]:
    """Return all link and force parameters, and the joint parameters of the chosen kinds, in the order of theta.

    Parameters that the robot does not have are left out; see ``find_absent_parameters``.
    """
    included = {FRICTION_PARAMETERS[kind] for kind in friction} | ({"Ia"} if rotor_inertia else set())
    left_out, absent = set(ALL_JOINT_PARAMETERS) - included, find_absent_parameters(robot)
    return tuple(
        name for name in robot.parameter_names if name.rpartition(".")[2] not in left_out and name not in absent
    )


def find_absent_parameters(robot: Robot) -> frozenset[str]:
    """Return the parameters that are zero because the robot has no such part, so that they are not identified.

    These are inertias of links, rotor inertias and friction that the description declares absent, inertial parameters
    that it declares zero by symmetry, and the rotor inertias of joints that are not actuated and whose drive says
    nothing about a rotor.
    """
    carrying = _find_carrying_links(robot)
    links = [
        parameter_name(link.name, p)
        for link in robot.links
        if link.name not in carrying
        for p in (link.zero if link.has_inertia else LINK_PARAMETERS)
    ]
    undriven = _find_undriven_joints(robot)
    absent: list[str] = []
    for name, drive in robot.drives:
        has_rotor = name not in undriven or drive.rotor_inertia != 0.0 if drive.has_rotor is None else drive.has_rotor
        absent += [] if has_rotor else [parameter_name(name, "Ia")]
        absent += [parameter_name(name, FRICTION_PARAMETERS[kind]) for kind in drive.absent_friction]
    return frozenset((*links, *absent))


def declare_zero(robot: Robot, zero: Sequence[str] | None) -> Robot:
    """Return the robot with link parameters that are zero by symmetry, so that they are not identified.

    ``zero``: names or patterns, such as ``link3.mx`` or ``link4.m[xy]``. These parameters become zero in the
    description, too.
    """
    patterns = check_words("zero", zero, "names or patterns", ("link3.mx", "link4.m[xy]"))
    if not patterns:
        return robot
    of_links = [parameter_name(link.name, p) for link in robot.links for p in LINK_PARAMETERS]
    known, selected = [name for name in robot.parameter_names if name in of_links], set[str]()
    for pattern in patterns:
        matching = {name for name in known if name == pattern or fnmatchcase(name, pattern)}
        if not matching and any(name == pattern or fnmatchcase(name, pattern) for name in robot.parameter_names):
            raise InputError(
                f"{pattern!r} is not an inertial parameter of a link, and only these can be declared zero; leave rotor "
                "inertias and friction out, or declare them absent in the drive"
            )
        if not matching:
            raise UnknownNameError(f"robot {robot.name!r} has no parameter {pattern!r}{suggest_names(pattern, known)}")
        selected |= matching
    for link in _find_carrying_links(robot) & {name.rpartition(".")[0] for name in selected}:
        raise InputError(
            f"link {link!r} carries links with mass on fixed joints, so that its own symmetry says nothing about the "
            "parameters of all of them together; do not declare them zero"
        )
    return replace(robot, links=tuple(_set_zero(link, selected) for link in robot.links))


def _set_zero(link: Link, names: Collection[str]) -> Link:
    zero = [p for p in LINK_PARAMETERS if p in link.zero or parameter_name(link.name, p) in names]
    pairs = zip(LINK_PARAMETERS, link.inertia.parameters, strict=True)
    return replace(link, inertia=Inertia(tuple(0.0 if p in zero else x for p, x in pairs)), zero=tuple(zero))


def _find_carrying_links(robot: Robot) -> set[str]:
    """Return the links to which links on fixed joints add an inertia, whatever they declare about their own."""
    carriers = {robot.base.name: robot.base.name}
    carrying: set[str] = set()
    for joint in robot.joints:
        link = robot.link(joint.child)
        is_merged = joint.kind is JointKind.FIXED and not link.load
        carriers[link.name] = carriers[joint.parent] if is_merged else link.name
        if is_merged and not link.inertia.massless:
            carrying.add(carriers[link.name])
    return carrying


def _find_undriven_joints(robot: Robot) -> set[str]:
    """Return the joints that are not actuated: passive joints, joints that a coupling determines, and cut joints."""
    joints = {joint.name for joint in robot.movable} - set(robot.actuated)
    return joints | {loop.name for loop in robot.loops}


def check_friction(friction: Sequence[str] | None) -> tuple[str, ...]:
    """Return the kinds of friction without duplicates; raise an error if there is no such kind."""
    words = check_words("friction", friction, "kinds", tuple(FRICTION_PARAMETERS))
    for kind in words:
        if kind not in FRICTION_PARAMETERS:
            raise UnknownNameError(f"there is no friction {kind!r}{suggest_names(kind, FRICTION_PARAMETERS)}")
    return tuple(dict.fromkeys(words))


def match_parameters(robot: Robot, patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the parameters that match a name or a pattern such as ``joint_*.fv``, in the order of theta."""
    selected: set[str] = set()
    absent = find_absent_parameters(robot)
    for pattern in patterns:
        matching = {name for name in robot.parameter_names if name == pattern or fnmatchcase(name, pattern)}
        if not matching:
            hint = suggest_names(pattern, robot.parameter_names)
            raise UnknownNameError(f"robot {robot.name!r} has no parameter {pattern!r}{hint}")
        if absent.issuperset(matching):
            raise InputError(
                f"{pattern!r} selects {min(matching)!r}, but robot {robot.name!r} does not have it: its description "
                "declares it absent, or it is the rotor inertia of a joint that is not actuated; remove it, or write "
                "rotor = true into the drive"
            )
        selected |= matching - absent
    return tuple(name for name in robot.parameter_names if name in selected)


def check_parameter_names(robot: Robot, names: Iterable[str]) -> None:
    """Raise an error if one of ``names`` is not the name of a parameter of the robot."""
    known = set(robot.parameter_names)
    for name in names:
        if name not in known:
            raise UnknownNameError(
                f"robot {robot.name!r} has no parameter {name!r}{suggest_names(name, known)}; a load that is grasped "
                "later must be part of the robot from the start: robot.with_load(Inertia())"
            )


def is_dissipative(name: str) -> bool:
    """Whether this parameter is friction that depends on the velocity: viscous, Coulomb, root or load-dependent."""
    return name.endswith((".fv", ".fc", ".fs", ".fl"))


def find_drive_slices(robot: Robot) -> tuple[slice, ...]:
    """Return the places of each drive's parameters in theta, in the order of ``robot.moving``."""
    counts = [len(drive.parameter_symbols) for _, drive in robot.drives]
    start = len(robot.parameter_names) - len(robot.forces) - sum(counts)
    slices: list[slice] = []
    for count in counts:
        slices.append(slice(start, start + count))
        start = slices[-1].stop
    return tuple(slices)


def length_exponents(robot: Robot) -> Float[np.ndarray, " params"]:
    """The exponent of length in the unit of every parameter; the rotor inertia of a prismatic joint is a mass."""
    exponents: list[float] = []
    for name in robot.parameter_names:
        owner, _, parameter = name.rpartition(".")
        is_mass = parameter == "Ia" and owner in robot.prismatic_joints
        exponents.append(0.0 if is_mass else LENGTH_EXPONENTS.get(parameter, 2.0))
    return np.array(exponents)


def with_theta(robot: Robot, theta: Float[np.ndarray, " params"]) -> Robot:
    """Return the robot with fixed links merged and with these parameters, in the order of ``robot.parameter_names``.

    The parameters need not be physically consistent, since least-squares estimates may not be.
    """
    values = np.asarray(theta, dtype=float)
    if values.shape != (len(robot.parameter_names),) or not np.isfinite(values).all():
        raise InputError(f"theta must be {len(robot.parameter_names)} finite numbers for robot {robot.name!r}")
    by_name = dict(zip(robot.parameter_names, values.tolist(), strict=True))
    merged = robot.merged

    def change_drive(name: str, drive: Drive) -> Drive:
        inertia, viscous, coulomb, offset = (by_name.get(parameter_name(name, p), 0.0) for p in JOINT_PARAMETERS)
        rotor = inertia / (drive.gear_ratio * drive.gear_ratio)
        root, load = (by_name.get(parameter_name(name, p)) for p in OPTIONAL_JOINT_PARAMETERS)
        return replace(
            drive, rotor_inertia=rotor, viscous=viscous, coulomb=coulomb, offset=offset, root=root, load=load
        )

    links = (
        merged.links[0],
        *(
            replace(link, inertia=Inertia(tuple(by_name[parameter_name(link.name, p)] for p in LINK_PARAMETERS)))
            for link in merged.links[1:]
        ),
    )
    forces = (replace(force, value=by_name[parameter_name(force.name, FORCE_PARAMETER)]) for force in merged.forces)
    return replace(merged.with_drives(change_drive), links=links, forces=tuple(forces))


def with_parameters(robot: Robot, values: Mapping[str, float]) -> Robot:
    """Return the robot with fixed links merged and with new values for the named parameters."""
    check_parameter_names(robot, values)
    pairs = zip(robot.parameter_names, robot.theta.tolist(), strict=True)
    return with_theta(robot, np.array([float(values.get(name, value)) for name, value in pairs]))


# Links whose inertia is incomplete, since it depends on mesh files that do not exist.
#
# Such a robot has all of its geometry: it can be inspected and identified, and its base parameters can be counted.
# But its inertias are not those of the robot, so they are not exported, no torques are predicted from them, nothing is
# simulated with them, no motion is designed within torque limits, and they are not expected of an identification.


MISSING_MESH = "missing mesh"
MAX_LINK_NAMES = 6  # largest number of names in a sentence
PACKAGE_REMEDY = "give the folder of the package with --package-path (package_paths), "
MESH_REMEDY = "add the files, or give these links an inertia in the file (<inertial>)"


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
    remedy = f"{PACKAGE_REMEDY if in_packages else ''}{MESH_REMEDY}"
    return Finding(MISSING_MESH, Severity.WARNING, statement, remedy, names=tuple(files), fields=fields)


def list_incomplete_links(robot: Robot) -> tuple[str, ...]:
    """Return the names of the links whose inertia is incomplete."""
    inertias = {link.name: link.inertia.parameters for link in robot.links}
    described = [finding.fields["links"] for finding in robot.findings if finding.code == MISSING_MESH]
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
            f"not exist; {MESH_REMEDY}{alternative and f', or {alternative}'}"
        )


def _join(names: Sequence[str]) -> str:
    others = len(names) - MAX_LINK_NAMES
    return ", ".join(names[:MAX_LINK_NAMES]) + (f" and {others} more" if others > 0 else "")
