"""Equality constraints of MJCF: connect and weld close loops, joint equalities couple joints.

A loop is cut at the constraint. Constraints given by bodies hold in the pose in which the model is written, where every
joint is at its ``ref``; those given by sites make the sites meet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ytheta.errors import suggest_names
from ytheta.files.xml_document import Node
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Coupling, Joint, JointKind, Loop
from ytheta.robot.reading.mjcf.bodies import WORLD, Body, fresh
from ytheta.robot.reading.mjcf.compiler import Compiler, flag
from ytheta.robot.reading.mjcf.defaults import Defaults
from ytheta.robot.reading.mjcf.orientation import pose, segment
from ytheta.robot.reading.mjcf.remarks import Remarks
from ytheta.robot.reading.snap import Snapper

_UNITY = (0.0, 1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class EqualityReader:
    """Reads constraints between bodies and joints of one tree; ``refs`` holds the ``ref`` of every movable joint."""

    compiler: Compiler
    snapper: Snapper
    bodies: Mapping[str, Body]
    joints: Sequence[Joint]
    refs: Mapping[str, float]
    joint_names: set[str]
    remarks: Remarks

    def read(self, nodes: Iterable[Node], defaults: Defaults) -> tuple[tuple[Loop, ...], tuple[Coupling, ...]]:
        """Loops and couplings in the order of the file."""
        loops: list[Loop] = []
        couplings: list[Coupling] = []
        for written in nodes:
            node = defaults.applied(written, "equality")
            if node.tag not in ("connect", "weld", "joint"):
                self.remarks.warn("equality constraints of tendons and flexes are left out: {}", _called(node))
            elif not flag(node, "active", default=True):
                self.remarks.tell("equality constraints that are not active are passed over: {}", _called(node))
            elif node.tag == "joint":
                couplings.append(self._coupling(node))
            else:
                loop = self._loop(node)
                if loop is not None:
                    loops.append(loop)
        return tuple(loops), tuple(couplings)

    def _loop(self, node: Node) -> Loop | None:
        if "site1" in node.attributes or "site2" in node.attributes:
            (parent, placement), (child, frame) = self._site(node, "site1"), self._site(node, "site2")
            seat = frame.inverse()
        else:
            parent, child = self._body(node, "body1", node.text("body1")), self._body(node, "body2", WORLD)
            placement, seat = self._anchor(node, parent, child)
        if any(flag(self.bodies[name].node, "mocap", default=False) for name in (parent, child)):
            self.remarks.warn(
                "constraints to mocap bodies, which are moved from outside, are left out: {}", _called(node)
            )
            return None
        if not self._above(parent) ^ self._above(child):
            self.remarks.tell("constraints between links that cannot move against each other: {}", _called(node))
            return None
        free_to_turn = node.tag == "connect" or node.number("torquescale", 1.0) == 0.0
        name = node.get("name", "") or fresh(f"{node.tag}.{parent}.{child}", self.joint_names)
        kind = JointKind.POINT if free_to_turn else JointKind.FIXED
        return Loop(Joint(name, kind, parent, child, placement=placement, seat=seat))

    def _anchor(self, node: Node, parent: str, child: str) -> tuple[Frame, Frame]:
        """Placement and seat with placement @ seat = the child seen from the parent where the constraint holds."""
        relative = self.bodies[parent].start.inverse() @ self.bodies[child].start
        if node.tag == "connect":
            on_child = relative.inverse() @ Frame.shift(*node.numbers("anchor", 3))
            seat = Frame(on_child.translation).inverse()
            return relative @ seat.inverse(), seat
        seat = Frame.shift(*node.numbers("anchor", 3, default=(0.0, 0.0, 0.0))).inverse()
        x, y, z, *quaternion = node.numbers("relpose", 7, default=(0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        if not any(quaternion):
            return relative @ seat.inverse(), seat
        turn = self.snapper.rotation(Frame.from_quaternion(*quaternion), node.where)
        return Frame.shift(x, y, z) @ turn, seat

    def _body(self, node: Node, key: str, default: str) -> str:
        name = node.get(key, default)
        if name not in self.bodies:
            raise node.error(f"{key}={name!r} is no body{suggest_names(name, self.bodies)}")
        return name

    def _site(self, node: Node, key: str) -> tuple[str, Frame]:
        wanted = node.text(key)
        sites = {
            site.text("name"): (body.name, site, around)
            for body in self.bodies.values()
            for site, around in body.sites
            if "name" in site.attributes
        }
        if wanted not in sites:
            raise node.error(f"{key}={wanted!r} is no site{suggest_names(wanted, sites)}")
        body, site, around = sites[wanted]
        local = segment(site)[0] if "fromto" in site.attributes else pose(site, self.compiler, self.snapper)
        return body, around @ local

    def _above(self, link: str) -> frozenset[str]:
        """The movable joints between the world and a link."""
        above = {joint.child: joint for joint in self.joints}
        found: set[str] = set()
        while link in above:
            found |= {above[link].name} if above[link].moves else set()
            link = above[link].parent
        return frozenset(found)

    def _coupling(self, node: Node) -> Coupling:
        """MuJoCo holds y - y0 = a0 + a1 (x - x0) + …, with x0 and y0 the joints' ``ref``."""
        given = node.numbers("polycoef", default=_UNITY)
        a0, a1, *higher = (*given, *_UNITY[len(given) :])
        one = self._joint(node, "joint1")
        if "joint2" not in node.attributes:
            return Coupling(one, (), self.refs[one] + a0)
        if any(higher):
            raise node.error(
                f"polycoef={node.text('polycoef')!r} makes the coupling of {one!r} nonlinear, which is not supported; "
                "keep the first two numbers, or remove the constraint"
            )
        other = self._joint(node, "joint2")
        offset = self.refs[one] + a0 - a1 * self.refs[other]
        if not math.isfinite(offset):
            raise node.error(
                f"polycoef={node.text('polycoef')!r} and the joints' ref are too large; give smaller numbers"
            )
        return Coupling(one, ((other, a1),), offset)

    def _joint(self, node: Node, key: str) -> str:
        name = node.text(key)
        if name not in self.refs:
            raise node.error(f"{key}={name!r} is no hinge or slide joint{suggest_names(name, self.refs)}")
        return name


def _called(node: Node) -> str:
    return node.get("name", "") or f"<{node.tag}> in line {node.line}"
