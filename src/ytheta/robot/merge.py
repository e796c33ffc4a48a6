"""Merging of fixed joints: what cannot move against its carrier becomes part of it, with exact inertia transport."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.parts import Joint, JointKind, Link, Marker


@dataclass(frozen=True)
class Merge:
    """Links and joints that are left, and where each link of before is now: carrier and frame in the carrier."""

    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    carrier: Mapping[str, tuple[str, Frame]]

    def on_carrier(self, link: str, frame: Frame) -> tuple[str, Frame]:
        """A frame given on a link of before, as a frame on its carrier."""
        name, place = self.carrier[link]
        return name, place @ frame

    def joint(self, joint: Joint) -> Joint:
        """A joint of before between the carriers of its links."""
        parent, placement = self.on_carrier(joint.parent, joint.placement)
        child, place = self.carrier[joint.child]
        return replace(joint, parent=parent, placement=placement, child=child, seat=joint.seat @ place.inverse())

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The frames of the links that were merged away."""
        return tuple(Marker(name, on, frame) for name, (on, frame) in self.carrier.items() if name != on)


def merge_fixed_links(links: Sequence[Link], joints: Sequence[Joint], values: Mapping[str, float]) -> Merge:
    """Merge links on fixed joints into their carriers, except loads. ``values``: symbolic lengths, where mass moves."""
    by_name = {link.name: link for link in links}
    carrier: dict[str, tuple[str, Frame]] = {links[0].name: (links[0].name, IDENTITY)}
    inertia = {links[0].name: links[0].inertia}
    kept: list[Joint] = []
    for joint in joints:
        on, place = carrier[joint.parent]
        placement = place @ joint.placement
        link = by_name[joint.child]
        if joint.kind is JointKind.FIXED and not link.load:
            frame = placement @ joint.seat
            carrier[link.name] = on, frame
            if not link.inertia.massless:
                inertia[on] = inertia[on] + link.inertia.seen_from(frame.numeric(values))
        else:
            carrier[link.name] = link.name, IDENTITY
            inertia[link.name] = link.inertia
            kept.append(replace(joint, parent=on, placement=placement))
    left = tuple(replace(by_name[name], inertia=inertia[name]) for name in inertia)
    return Merge(left, tuple(kept), carrier)
