"""Equality constraints of MJCF. Connect and weld constraints close loops, joint equalities couple joints.

A loop is cut at the constraint. Constraints between bodies are satisfied in the initial configuration, in which every
joint is at its ``ref``. Constraints between sites make the sites coincide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ytheta.errors import suggest_names
from ytheta.files.xml_document import Node
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Coupling, Joint, JointKind, Loop
from ytheta.robot.reading.mjcf.bodies import WORLD, Body, make_unique
from ytheta.robot.reading.mjcf.compiler import Compiler, read_flag
from ytheta.robot.reading.mjcf.defaults import Defaults
from ytheta.robot.reading.mjcf.findings import FindingCollector
from ytheta.robot.reading.mjcf.orientation import read_pose, read_segment
from ytheta.robot.reading.snap import Snapper

_IDENTITY_POLYNOMIAL = (0.0, 1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class EqualityReader:
    """Reads the constraints between bodies and joints of a tree; ``refs`` is the ``ref`` of every movable joint."""

    compiler: Compiler
    snapper: Snapper
    bodies: Mapping[str, Body]
    joints: Sequence[Joint]
    refs: Mapping[str, float]
    joint_names: set[str]
    findings: FindingCollector

    def read(self, nodes: Iterable[Node], defaults: Defaults) -> tuple[tuple[Loop, ...], tuple[Coupling, ...]]:
        """Return loops and couplings in the order of the file."""
        loops: list[Loop] = []
        couplings: list[Coupling] = []
        for element in nodes:
            node = defaults.apply(element, "equality")
            if node.tag not in ("connect", "weld", "joint"):
                self.findings.warn("equality constraints of tendons and flexes are ignored: {}", _describe(node))
            elif not read_flag(node, "active", default=True):
                self.findings.note("inactive equality constraints are ignored: {}", _describe(node))
            elif node.tag == "joint":
                couplings.append(self._read_coupling(node))
            else:
                loop = self._read_loop(node)
                if loop is not None:
                    loops.append(loop)
        return tuple(loops), tuple(couplings)

    def _read_loop(self, node: Node) -> Loop | None:
        if "site1" in node.attributes or "site2" in node.attributes:
            (parent, placement), (child, frame) = self._find_site(node, "site1"), self._find_site(node, "site2")
            seat = frame.inverse()
        else:
            parent, child = self._find_body(node, "body1", node.text("body1")), self._find_body(node, "body2", WORLD)
            placement, seat = self._read_anchor(node, parent, child)
        if any(read_flag(self.bodies[name].node, "mocap", default=False) for name in (parent, child)):
            self.findings.warn(
                "constraints to mocap bodies, which are moved from outside, are ignored: {}", _describe(node)
            )
            return None
        if not self._find_movable_joints(parent) ^ self._find_movable_joints(child):
            self.findings.note(
                "constraints between links that cannot move relative to each other are ignored: {}", _describe(node)
            )
            return None
        free_to_rotate = node.tag == "connect" or node.number("torquescale", 1.0) == 0.0
        name = node.get("name", "") or make_unique(f"{node.tag}.{parent}.{child}", self.joint_names)
        kind = JointKind.POINT if free_to_rotate else JointKind.FIXED
        return Loop(Joint(name, kind, parent, child, placement=placement, seat=seat))

    def _read_anchor(self, node: Node, parent: str, child: str) -> tuple[Frame, Frame]:
        """Return placement and seat. Their product is the child seen from the parent if the constraint is satisfied."""
        relative = self.bodies[parent].start.inverse() @ self.bodies[child].start
        if node.tag == "connect":
            on_child = relative.inverse() @ Frame.shift(*node.numbers("anchor", 3))
            seat = Frame(on_child.translation).inverse()
            return relative @ seat.inverse(), seat
        seat = Frame.shift(*node.numbers("anchor", 3, default=(0.0, 0.0, 0.0))).inverse()
        x, y, z, *quaternion = node.numbers("relpose", 7, default=(0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        if not any(quaternion):
            return relative @ seat.inverse(), seat
        turn = self.snapper.snap_rotation(Frame.from_quaternion(*quaternion), node.where)
        return Frame.shift(x, y, z) @ turn, seat

    def _find_body(self, node: Node, key: str, default: str) -> str:
        name = node.get(key, default)
        if name not in self.bodies:
            raise node.error(f"{key}={name!r} is not a body{suggest_names(name, self.bodies)}")
        return name

    def _find_site(self, node: Node, key: str) -> tuple[str, Frame]:
        name = node.text(key)
        sites = {
            site.text("name"): (body.name, site, around)
            for body in self.bodies.values()
            for site, around in body.sites
            if "name" in site.attributes
        }
        if name not in sites:
            raise node.error(f"{key}={name!r} is not a site{suggest_names(name, sites)}")
        body, site, around = sites[name]
        local = read_segment(site)[0] if "fromto" in site.attributes else read_pose(site, self.compiler, self.snapper)
        return body, around @ local

    def _find_movable_joints(self, link: str) -> frozenset[str]:
        """Return the names of the movable joints between the world and a link."""
        above = {joint.child: joint for joint in self.joints}
        names: set[str] = set()
        while link in above:
            names |= {above[link].name} if above[link].moves else set()
            link = above[link].parent
        return frozenset(names)

    def _read_coupling(self, node: Node) -> Coupling:
        """Read MuJoCo's constraint y - y0 = a0 + a1 (x - x0) + …, with the ``ref`` x0 and y0 of the joints."""
        polycoef = node.numbers("polycoef", default=_IDENTITY_POLYNOMIAL)
        a0, a1, *higher = (*polycoef, *_IDENTITY_POLYNOMIAL[len(polycoef) :])
        y = self._find_joint(node, "joint1")
        if "joint2" not in node.attributes:
            return Coupling(y, (), self.refs[y] + a0)
        if any(higher):
            raise node.error(
                f"polycoef={node.text('polycoef')!r} makes the coupling of {y!r} nonlinear, which is not supported; "
                "keep the first two numbers, or remove the constraint"
            )
        x = self._find_joint(node, "joint2")
        offset = self.refs[y] + a0 - a1 * self.refs[x]
        if not math.isfinite(offset):
            raise node.error(
                f"polycoef={node.text('polycoef')!r} and the joints' ref are too large; give smaller numbers"
            )
        return Coupling(y, ((x, a1),), offset)

    def _find_joint(self, node: Node, key: str) -> str:
        name = node.text(key)
        if name not in self.refs:
            raise node.error(f"{key}={name!r} is not a hinge or slide joint{suggest_names(name, self.refs)}")
        return name


def _describe(node: Node) -> str:
    return node.get("name", "") or f"<{node.tag}> in line {node.line}"
