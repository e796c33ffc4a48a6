"""The choice of the robot among the models of a file: the one whose joints move.

Models that joints of the world connect are one robot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ytheta.files.xml_document import Node
from ytheta.robot.reading.mjcf.findings import FindingCollector
from ytheta.robot.reading.sdf.frames import SEPARATOR, WORLD
from ytheta.robot.reading.sdf.joints import GEARBOX, SdfJoint
from ytheta.robot.reading.sdf.models import Content
from ytheta.robot.reading.sdf.spanning_tree import group_links

MAX_NAMES = 12  # of models, in an error message


@dataclass(frozen=True)
class Selection:
    """The links and joints of the robot, by key, and the name of the robot. ``prefix`` is left out of all names."""

    name: str
    prefix: str
    links: Mapping[str, Node]
    joints: Mapping[str, SdfJoint]

    def name_link(self, key: str) -> str:
        return key if key == WORLD else key.removeprefix(self.prefix)


def select_robot(content: Content, joints: Mapping[str, SdfJoint], root: Node, findings: FindingCollector) -> Selection:
    """Return the only model with joints that move, or the only model. RobotFileError if there are several."""
    tops = content.top_models
    models = dict.fromkeys(tops.values())
    ends = [(joint.parent, joint.child) for joint in joints.values() if WORLD not in (joint.parent, joint.child)]
    groups = group_links(models, ((tops[a], tops[b]) for a, b in ends))
    static = {groups[tops[link]] for link in content.static}
    moving = {groups[tops[_find_body(joint)]] for joint in joints.values() if is_movable(joint)}
    all_groups = list(dict.fromkeys(groups.values()))
    for candidates in (
        [group for group in all_groups if group in moving and group not in static],
        [group for group in all_groups if group in moving],
        [group for group in all_groups if group not in static],
        all_groups,
    ):
        if len(candidates) > 1:
            names = ", ".join(candidates[:MAX_NAMES]) + (" …" if len(candidates) > MAX_NAMES else "")
            statement = f"the file has {len(candidates)} models, and each could be the robot: {names}"
            raise root.error(f"{statement}; save the one that is meant as a file of its own, in <sdf>")
        if candidates:
            return _make_selection(candidates[0], groups, content, joints, findings)
    raise root.error("there is no model with a link; give the file of the robot")


def is_movable(joint: SdfJoint) -> bool:
    """Whether a joint moves a link."""
    return joint.kind not in ("fixed", GEARBOX) and not joint.parent == joint.child == WORLD


def _make_selection(
    group: str,
    groups: Mapping[str, str],
    content: Content,
    joints: Mapping[str, SdfJoint],
    findings: FindingCollector,
) -> Selection:
    models = [model for model in groups if groups[model] == group]
    for model in groups:
        if model not in models:
            findings.note("models beside the robot are left out: {}", model)
    links = {key: node for key, node in content.links.items() if content.top_models[key] in models}
    chosen = {key: joint for key, joint in joints.items() if _find_body(joint) in links}
    return Selection(
        content.placed[models[0]].node.text("name"),
        f"{models[0]}{SEPARATOR}" if len(models) == 1 else "",
        links,
        chosen,
    )


def _find_body(joint: SdfJoint) -> str:
    """Return the key of a link of a joint that is not the world, if there is one."""
    return joint.parent if joint.child == WORLD else joint.child
