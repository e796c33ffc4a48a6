"""Equality constraints of MJCF: connect and weld constraints close loops, those of joints and fixed tendons couple.

A loop is cut at the constraint. Constraints between bodies are satisfied in the initial configuration, in which every
joint is at its ``ref``. Constraints between sites make the sites coincide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ytheta.errors import suggest_names
from ytheta.files.xml_document import Node
from ytheta.robot.checks import make_unique
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Coupling, Joint, JointKind, Loop
from ytheta.robot.reading.description import FindingCollector
from ytheta.robot.reading.mjcf.actuators import FixedTendons, Terms
from ytheta.robot.reading.mjcf.attributes import Compiler, Defaults, read_flag, read_pose, read_segment
from ytheta.robot.reading.mjcf.bodies import WORLD, MjcfBody
from ytheta.robot.reading.snap import Snapper

_IDENTITY_POLYNOMIAL = (0.0, 1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class EqualityReader:
    """Reads the constraints between bodies and joints of a tree; ``refs`` is the ``ref`` of every movable joint.

    ``props`` are bodies of free parts that are not the robot, such as an object that a gripper holds.
    """

    compiler: Compiler
    snapper: Snapper
    bodies: Mapping[str, MjcfBody]
    joints: Sequence[Joint]
    refs: Mapping[str, float]
    joint_names: set[str]
    findings: FindingCollector
    tendons: FixedTendons
    props: frozenset[str] = frozenset()

    def read(self, nodes: Iterable[Node], defaults: Defaults) -> tuple[tuple[Loop, ...], tuple[Coupling, ...]]:
        """Return loops and couplings in the order of the file."""
        loops: list[Loop] = []
        couplings: dict[str, Coupling] = {}
        for element in nodes:
            node = defaults.apply(element, "equality")
            if node.tag not in ("connect", "weld", "joint") and not self._joins_fixed_tendons(node):
                self.findings.warn("equality constraints of tendons and flexes are ignored: {}", _describe(node))
            elif not read_flag(node, "active", default=True):
                self.findings.note("inactive equality constraints are ignored: {}", _describe(node))
            elif node.tag in ("joint", "tendon"):
                self._add_coupling(node, couplings)
            else:
                loop = self._read_loop(node)
                if loop is not None:
                    loops.append(loop)
        return tuple(loops), tuple(couplings.values())

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
        if (parent in self.props) != (child in self.props):
            self.findings.warn(
                "constraints to free bodies beside the robot, which are not part of it, are ignored: {}",
                _describe(node),
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

    def _add_coupling(self, node: Node, couplings: dict[str, Coupling]) -> None:
        """Add MuJoCo's constraint y - y0 = a0 + a1 (x - x0) + …, where y0 and x0 are the values at the joints' ``ref``.

        y and x are positions of joints or lengths of fixed tendons. The constraint determines y, or another joint in it
        if y is determined already.
        """
        polycoef = node.numbers("polycoef", default=_IDENTITY_POLYNOMIAL)
        a0, a1, *higher = (*polycoef, *_IDENTITY_POLYNOMIAL[len(polycoef) :])
        factors = dict(self._find_terms(node, "1"))
        if f"{node.tag}2" in node.attributes:
            if any(higher):
                self.findings.warn(
                    "nonlinear couplings of joints are ignored, so that these joints move independently: {}",
                    _describe(node),
                )
                return
            for name, factor in self._find_terms(node, "2"):
                factors[name] = factors.get(name, 0.0) - a1 * factor
        constant = a0 + sum(factor * self.refs[name] for name, factor in factors.items())
        if not all(map(math.isfinite, (constant, *factors.values()))):
            raise node.error(
                f"polycoef={node.get('polycoef', '')!r} and the joints' ref are too large; give smaller numbers"
            )
        for name, factor in factors.items():
            others = tuple((other, -value / factor) for other, value in factors.items() if other != name and value)
            if factor and name not in couplings and not _find_dependent(name, others, couplings):
                couplings[name] = Coupling(name, others, constant / factor)
                return
        self.findings.note("constraints of joints that other constraints determine are ignored: {}", _describe(node))

    def _find_terms(self, node: Node, number: str) -> Terms:
        """Return the joints of one side of a constraint of joints or tendons, and their coefficients."""
        if node.tag == "tendon":
            return self.tendons[node.text(f"tendon{number}")]
        return ((self._find_joint(node, f"joint{number}"), 1.0),)

    def _joins_fixed_tendons(self, node: Node) -> bool:
        names = [node.attributes[key] for key in ("tendon1", "tendon2") if key in node.attributes]
        return bool(names) and all(
            name in self.tendons and all(joint in self.refs for joint, _ in self.tendons[name]) for name in names
        )

    def _find_joint(self, node: Node, key: str) -> str:
        name = node.text(key)
        if name not in self.refs:
            raise node.error(f"{key}={name!r} is not a hinge or slide joint{suggest_names(name, self.refs)}")
        return name


def _find_dependent(name: str, terms: Terms, couplings: Mapping[str, Coupling]) -> bool:
    """Whether a joint in these terms depends on the joint with this name, so that a coupling would be circular."""
    waiting, seen = [joint for joint, _ in terms], set[str]()
    while waiting:
        joint = waiting.pop()
        if joint == name:
            return True
        if joint in couplings and joint not in seen:
            seen.add(joint)
            waiting += [other for other, _ in couplings[joint].terms]
    return False


def _describe(node: Node) -> str:
    return node.get("name", "") or f"<{node.tag}> in line {node.line}"
