"""Elements of other programs in a URDF that change the dynamics: rotors of Drake are read, the others are reported.

URDF has neither springs nor closed loops nor rotors. Gazebo and Drake add them with elements of their own::

    <gazebo><joint …>                                     a joint of SDF, which may close a loop
    <gazebo reference="q1"><springStiffness>              a spring; in some files <dynamics spring_stiffness="…">
    <transmission><actuator><drake:rotor_inertia value>   the inertia of a rotor, with <drake:gear_ratio value>
    <drake:linear_bushing_rpy>, <loop_joint> …            forces and constraints of Drake
"""

from __future__ import annotations

from dataclasses import replace

from ytheta.files.xml_document import Node
from ytheta.findings import Finding, Severity
from ytheta.robot.floating.base import WORLD
from ytheta.robot.parts import Drive, Joint, Link

EXTRAS = "extras"  # code of the findings
_FORCES_OF_DRAKE = ("loop_joint", "force_element")  # in old files, without a namespace
_HARMLESS = ("drake:collision_filter_group",)
_SPRINGS = ("springStiffness", "spring_stiffness")


def report_extras(root: Node) -> list[Finding]:
    """Return warnings about elements of other programs that are ignored but may change the dynamics."""
    for node in root.all("drake:joint"):
        raise node.error(
            f"joints of Drake, such as this one of type {node.get('type', '')!r}, are not supported; write the motion "
            "as a chain of prismatic and revolute joints, with links without <inertial> between them"
        )
    loops = [child.get("name", "") for node in root.all("gazebo") for child in node.all("joint")]
    springs = [node.get("reference", "") for node in root.all("gazebo") if _has_spring(node)]
    springs += [
        node.get("name", "")
        for node in root.all("joint")
        if any(dynamics.number("spring_stiffness", 0.0) for dynamics in node.all("dynamics"))
    ]
    others = [
        f"<{node.tag}> (line {node.line})"
        for node in root.children
        if (":" in node.tag and node.tag not in _HARMLESS) or node.tag in _FORCES_OF_DRAKE
    ]
    findings = []
    for names, statement, remedy in (
        (
            loops,
            "joints in <gazebo>, which may close loops, are ignored",
            "a TOML file that extends this one can add them",
        ),
        (springs, "springs of joints are ignored", "a TOML file that extends this one can add them as forces"),
        (others, "elements that URDF does not define are ignored, although they may change the dynamics", ""),
    ):
        if names:
            text = f"{statement}: {', '.join(dict.fromkeys(names))}"
            findings.append(Finding(EXTRAS, Severity.WARNING, text, remedy, tuple(names)))
    return findings


def add_world(links: tuple[Link, ...], root: Node, findings: list[Finding]) -> tuple[Link, ...]:
    """Return the links with one for the world, if a joint is on it but the file does not have it: Drake adds it."""
    parents = {parent.get("link", "") for joint in root.all("joint") for parent in joint.all("parent")}
    if WORLD not in parents or any(link.name == WORLD for link in links):
        return links
    statement = f"the link {WORLD!r} is not in the file; a link without mass is added, as Drake does"
    findings.append(Finding(EXTRAS, Severity.NOTE, statement, names=(WORLD,)))
    return (Link(WORLD), *links)


def add_rotors(joints: tuple[Joint, ...], root: Node) -> tuple[Joint, ...]:
    """Return the joints with the rotors that files for Drake give their drives."""
    drives: dict[str, tuple[float, float]] = {}
    for transmission in root.all("transmission"):
        for actuator in transmission.all("actuator"):
            inertia, ratio = (actuator.first(f"drake:{key}") for key in ("rotor_inertia", "gear_ratio"))
            joint = transmission.first("joint")
            if inertia is not None and joint is not None:
                drives[joint.get("name", "")] = (
                    inertia.number("value"),
                    1.0 if ratio is None else ratio.number("value"),
                )
    return tuple(
        replace(joint, drive=_add_rotor(joint.drive, *drives[joint.name]))
        if joint.name in drives and joint.moves
        else joint
        for joint in joints
    )


def _add_rotor(drive: Drive, inertia: float, ratio: float) -> Drive:
    return replace(drive, rotor_inertia=inertia, gear_ratio=ratio) if inertia else drive


def _has_spring(gazebo: Node) -> bool:
    texts = [node.content for tag in _SPRINGS for node in gazebo.all(tag)]
    try:
        return any(float(text) != 0.0 for text in texts)
    except ValueError:  # a number that Gazebo would not read either
        return True
