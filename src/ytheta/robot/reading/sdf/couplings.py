"""Couplings of SDF joints: ``<mimic>`` and gearboxes.

A mimic joint follows another one: ``position = multiplier * (leader - reference) + offset``. A gearbox couples the
angles of its parent and of its child, both seen from a reference body: ``theta_2 = -ratio * theta_1``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from ytheta.files.xml_document import Node
from ytheta.robot.frame import to_vector
from ytheta.robot.parts import Coupling
from ytheta.robot.reading.sdf.elements import read_number, require_text
from ytheta.robot.reading.sdf.frames import WORLD
from ytheta.robot.reading.sdf.joints import UNIVERSAL, ChainReader, SdfJoint
from ytheta.robot.reading.sdf.models import BodyFinder

MAX_COSINE_LOSS = 1e-3  # 1 - |cos| of the angle between parallel axes: 2.6 degrees


def read_mimics(joints: Mapping[str, SdfJoint], bodies: BodyFinder) -> Iterator[Coupling]:
    """Yield the couplings of all joints that follow another one."""
    for joint in joints.values():
        for tag in ("axis", "axis2"):
            axis = joint.node.first(tag)
            mimic = None if axis is None else axis.first("mimic")
            if mimic is not None:
                yield _read_mimic(joint, tag, mimic, joints, bodies)


def _read_mimic(joint: SdfJoint, tag: str, mimic: Node, joints: Mapping[str, SdfJoint], bodies: BodyFinder) -> Coupling:
    key = bodies.graph.find(mimic.text("joint"), joint.scope, mimic)
    if key not in joints:
        raise mimic.error(f"{mimic.text('joint')!r} is not a joint of this model; name the joint that is followed")
    factor = read_number(mimic, "multiplier", 1.0)
    offset = read_number(mimic, "offset", 0.0) - factor * read_number(mimic, "reference", 0.0)
    leader = name_position(joints[key], mimic.get("axis", "axis"))
    return Coupling(name_position(joint, tag), ((leader, factor),), offset)


def name_position(joint: SdfJoint, tag: str) -> str:
    """Return the name of the position that belongs to an axis of a joint."""
    if joint.kind in UNIVERSAL:
        return f"{joint.name}.{'2' if tag == 'axis2' else '1'}"
    return joint.name


def read_gearboxes(
    gearboxes: Iterable[SdfJoint], joints: Mapping[str, SdfJoint], reader: ChainReader, bodies: BodyFinder
) -> Iterator[Coupling]:
    """Yield the couplings of gearboxes between two hinges on a common body."""
    for gearbox in gearboxes:
        coupling = _read_gearbox(gearbox, list(joints.values()), reader, bodies)
        if coupling is not None:
            yield coupling


def _read_gearbox(
    gearbox: SdfJoint, joints: Sequence[SdfJoint], reader: ChainReader, bodies: BodyFinder
) -> Coupling | None:
    node = gearbox.node
    reference = bodies.find_link(require_text(node, "gearbox_reference_body"), gearbox.scope, node)
    ratio = read_number(node, "gearbox_ratio", 1.0)
    first = _find_hinge(gearbox, "axis", gearbox.parent, reference, joints, reader)
    second = _find_hinge(gearbox, "axis2", gearbox.child, reference, joints, reader)
    if first is None or second is None:
        reader.findings.warn(
            "gearboxes are ignored unless hinges with parallel axes connect both sides to the reference body: {}",
            gearbox.name,
        )
        return None
    return Coupling(second[0], ((first[0], -ratio * first[1] / second[1]),))


def _find_hinge(
    gearbox: SdfJoint, tag: str, link: str, reference: str, joints: Sequence[SdfJoint], reader: ChainReader
) -> tuple[str, float] | None:
    """Return the hinge between the reference body and a link, and the sign of its position about the gearbox's axis."""
    direction = _compute_axis_in_world(gearbox, reader, tag)
    for joint in joints:
        if joint.kind in ("revolute", "continuous") and {joint.parent, joint.child} == {reference, link}:
            cosine = float(direction @ _compute_axis_in_world(joint, reader, "axis"))
            if 1.0 - abs(cosine) > MAX_COSINE_LOSS:
                return None
            return joint.name, (1.0 if cosine > 0.0 else -1.0) * (1.0 if joint.parent == reference else -1.0)
    return None


def _compute_axis_in_world(joint: SdfJoint, reader: ChainReader, tag: str) -> np.ndarray:
    frame = reader.graph.relate(joint.key, WORLD)
    return np.array(to_vector(np.array(frame.rotation) @ np.array(reader.read_axis(joint, tag))))
