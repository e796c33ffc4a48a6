"""Merges links on fixed joints into the links that carry them, and adds their inertias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ytheta.robot.collision import CollisionShape
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.parts import Joint, JointKind, Link, Marker


@dataclass(frozen=True)
class Merge:
    """The links and joints that remain after merging.

    ``carrier`` maps the name of each original link to two values: the name of its carrier, which is the link into which
    it is merged, and the frame of the original link seen from the carrier. A link that is not merged is its own
    carrier.
    """

    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    carrier: Mapping[str, tuple[str, Frame]]

    def move_joint(self, joint: Joint) -> Joint:
        """Return a joint between original links as a joint between their carriers."""
        parent, parent_frame = self.carrier[joint.parent]
        child, child_frame = self.carrier[joint.child]
        placement, seat = parent_frame @ joint.placement, joint.seat @ child_frame.inverse()
        return replace(joint, parent=parent, placement=placement, child=child, seat=seat)

    def move_marker(self, marker: Marker) -> Marker:
        """Return a marker on an original link as a marker on its carrier."""
        carrier, frame = self.carrier[marker.link]
        return replace(marker, link=carrier, frame=frame @ marker.frame)

    def move_shape(self, shape: CollisionShape) -> CollisionShape:
        """Return a collision shape of an original link as one of its carrier."""
        carrier, frame = self.carrier[shape.link]
        return replace(shape, link=carrier, frame=frame @ shape.frame)

    @property
    def markers(self) -> tuple[Marker, ...]:
        """Markers at the frames of the merged links."""
        return tuple(Marker(name, holder, frame) for name, (holder, frame) in self.carrier.items() if name != holder)


def is_merged(joint: Joint, child: Link) -> bool:
    """Whether the child of a joint is merged into the link that carries it: on a fixed joint, unless it is a load."""
    return joint.kind is JointKind.FIXED and not child.load


def merge_fixed_links(
    links: Sequence[Link], joints: Sequence[Joint], lengths: Mapping[str, float], angles: Mapping[str, float]
) -> Merge:
    """Merge links on fixed joints, except loads. For links with mass, values of symbols are needed."""
    by_name = {link.name: link for link in links}
    carrier: dict[str, tuple[str, Frame]] = {links[0].name: (links[0].name, IDENTITY)}
    inertia = {links[0].name: links[0].inertia}
    kept: list[Joint] = []
    for joint in joints:
        holder, parent_frame = carrier[joint.parent]
        placement = parent_frame @ joint.placement
        link = by_name[joint.child]
        if is_merged(joint, link):
            frame = placement @ joint.seat
            carrier[link.name] = holder, frame
            if not link.inertia.massless:
                inertia[holder] = inertia[holder] + link.inertia.seen_from(frame.numeric(lengths, angles))
        else:
            carrier[link.name] = link.name, IDENTITY
            inertia[link.name] = link.inertia
            kept.append(replace(joint, parent=holder, placement=placement))
    remaining = tuple(
        replace(by_name[name], inertia=body, has_inertia=by_name[name].has_inertia or not body.massless)
        for name, body in inertia.items()
    )
    return Merge(remaining, tuple(kept), carrier)
