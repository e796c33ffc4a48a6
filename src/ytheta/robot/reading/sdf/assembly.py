"""The robot among the models of an SDF, and its tree: chains, loops, and parts that float or stand on the world."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ytheta.errors import RobotError
from ytheta.files.xml_document import Node
from ytheta.robot.checks import make_unique
from ytheta.robot.floating import FREE_JOINT, list_home
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Coupling, Joint, JointKind, Loop
from ytheta.robot.reading.description import FindingCollector
from ytheta.robot.reading.sdf.joints import BALL, GEARBOX, ChainReader, SdfJoint
from ytheta.robot.reading.sdf.models import SEPARATOR, WORLD, SdfContent
from ytheta.robot.structure import MAX_JOINTS


@dataclass
class Assembly:
    """The parts of the robot that follow from its joints, by the names of the robot.

    ``between`` are the links between the hinges of one joint of the file; ``home`` is that of a floating base.
    """

    joints: list[Joint] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    couplings: list[Coupling] = field(default_factory=list)
    between: list[str] = field(default_factory=list)
    home: tuple[tuple[str, float], ...] = ()


def assemble(
    selection: RobotSelection, reader: ChainReader, static: Collection[str], *, fix_base: bool, coupled: Collection[str]
) -> Assembly:
    """Return joints, loops and couplings. ``coupled`` are keys of joints that must not be cut."""
    edges = [
        Edge(key, joint.parent, joint.child, joint.kind == BALL and key not in coupled)
        for key, joint in selection.joints.items()
    ]
    if len(edges) + len(selection.links) > 2 * MAX_JOINTS:
        raise RobotError(f"the robot has {len(edges)} joints, but at most {MAX_JOINTS} are supported")
    tree = find_spanning_tree(list(selection.links), edges)
    assembly = Assembly()
    for key, is_reversed in tree.joints:
        joint = selection.joints[key]
        chain = reader.make_chain(joint, selection.name_link(joint.parent), selection.name_link(joint.child))
        assembly.joints += (chain.reverse() if is_reversed else chain).joints
        assembly.couplings += chain.couplings
        assembly.between += [part.child for part in chain.joints[:-1]]
    for key in tree.cut:
        _close_loop(selection.joints[key], selection, reader, assembly)
    _place_roots(selection, tree, reader, static, assembly, fix_base=fix_base)
    return assembly


def _close_loop(joint: SdfJoint, selection: RobotSelection, reader: ChainReader, assembly: Assembly) -> None:
    """Add a loop. Of a joint that becomes a chain, all parts but the last are added to the tree."""
    parent, child = selection.name_link(joint.parent), selection.name_link(joint.child)
    cut = reader.make_cut_joint(joint, parent, child)
    if cut is None:
        chain = reader.make_chain(joint, parent, child)
        assembly.joints += chain.joints[:-1]
        assembly.between += [part.child for part in chain.joints[:-1]]
        if chain.couplings:
            raise joint.node.error("a screw joint cannot close a loop here; cut the loop at another joint")
        cut = chain.joints[-1]
    if not _find_movable(cut.parent, assembly.joints) ^ _find_movable(cut.child, assembly.joints):
        reader.findings.note("joints between links that cannot move relative to each other are ignored: {}", joint.name)
        return
    assembly.loops.append(Loop(cut))


def _find_movable(link: str, joints: Iterable[Joint]) -> frozenset[str]:
    """Return the names of the movable joints between the root and a link."""
    above = {joint.child: joint for joint in joints}
    names: set[str] = set()
    while link in above:
        names |= {above[link].name} if above[link].moves else set()
        link = above[link].parent
    return frozenset(names)


def _place_roots(
    selection: RobotSelection,
    tree: SpanningTree,
    reader: ChainReader,
    static: Collection[str],
    assembly: Assembly,
    *,
    fix_base: bool,
) -> None:
    """Connect the root of each part to the world: by a free joint, or by a fixed one if it is static or a prop."""
    names = {joint.name for joint in assembly.joints} | {loop.name for loop in assembly.loops}
    floating = [root for root in tree.roots if root not in static]
    moving = _find_moving_roots(assembly.joints)
    bare = [name for name in map(selection.name_link, floating) if name not in moving]
    props = bare if moving else bare[1:]  # without anything else that moves, the first one is the robot
    for root in tree.roots:
        name, pose = selection.name_link(root), reader.graph.relate(root, WORLD)
        if root in floating and name not in props and not fix_base:
            assembly.joints.append(Joint(make_unique(FREE_JOINT, names), JointKind.FREE, WORLD, name))
            assembly.home = (*assembly.home, *list_home(pose))
            continue
        if name in props or fix_base or name in moving:  # of a static model without joints, there is nothing to say
            _report_fixed_root(name, reader.findings, is_static=root in static, is_prop=name in props)
        fixed = make_unique(f"{name}.fixed", names)
        assembly.joints.append(Joint(fixed, JointKind.FIXED, WORLD, name, placement=_snap(pose, reader, name)))


def _snap(pose: Frame, reader: ChainReader, name: str) -> Frame:
    return reader.snapper.snap_rotation(pose, f"link {name!r}")


def _report_fixed_root(name: str, findings: FindingCollector, *, is_static: bool, is_prop: bool) -> None:
    if is_static:
        findings.note("the base of static models is fixed; their joints move nevertheless: {}", name)
    elif is_prop:
        findings.note("free links beside the robot are left at their positions in the file: {}", name)
    else:
        findings.note("free links are fixed at their positions in the file (fix_base): {}", name)


def _find_moving_roots(joints: Iterable[Joint]) -> set[str]:
    """Return the roots of the parts in which a joint moves."""
    above: Mapping[str, Joint] = {joint.child: joint for joint in joints}
    roots: set[str] = set()
    for joint in above.values():
        link = joint.parent
        while link in above:
            link = above[link].parent
        roots |= {link} if joint.moves else set()
    return roots


# The choice of the robot among the models of a file: the one whose joints move.
#
# Models that joints of the world connect are one robot.


MAX_NAMES = 12  # of models, in an error message


@dataclass(frozen=True)
class RobotSelection:
    """The links and joints of the robot, by key, and the name of the robot. ``prefix`` is left out of all names."""

    name: str
    prefix: str
    links: Mapping[str, Node]
    joints: Mapping[str, SdfJoint]

    def name_link(self, key: str) -> str:
        return key if key == WORLD else key.removeprefix(self.prefix)


def select_robot(
    content: SdfContent, joints: Mapping[str, SdfJoint], root: Node, findings: FindingCollector
) -> RobotSelection:
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
    content: SdfContent,
    joints: Mapping[str, SdfJoint],
    findings: FindingCollector,
) -> RobotSelection:
    models = [model for model in groups if groups[model] == group]
    for model in groups:
        if model not in models:
            findings.note("models beside the robot are left out: {}", model)
    links = {key: node for key, node in content.links.items() if content.top_models[key] in models}
    chosen = {key: joint for key, joint in joints.items() if _find_body(joint) in links}
    return RobotSelection(
        content.placed[models[0]].node.text("name"),
        f"{models[0]}{SEPARATOR}" if len(models) == 1 else "",
        links,
        chosen,
    )


def _find_body(joint: SdfJoint) -> str:
    """Return the key of a link of a joint that is not the world, if there is one."""
    return joint.parent if joint.child == WORLD else joint.child


# The tree of an SDF model, whose links and joints are a graph: joints of the tree, and joints that close loops.
#
# Each link keeps one of the joints whose child it is: the first that is not a ball joint, since a ball joint is the
# simplest to cut. The others close loops, or connect parts that nothing else connects. Such a joint may point towards
# the root; it is reversed then.


@dataclass(frozen=True)
class Edge:
    """A joint between two links, by key. ``cut_first``: whether it is cut rather than another one."""

    joint: str
    parent: str
    child: str
    cut_first: bool = False


@dataclass(frozen=True)
class SpanningTree:
    """Joints of the tree by key, from the roots outwards, each with whether it is reversed; and the cut joints.

    ``roots`` are the links without a joint towards the world, one of each connected part.
    """

    joints: tuple[tuple[str, bool], ...]
    cut: tuple[str, ...]
    roots: tuple[str, ...]


def find_spanning_tree(links: Sequence[str], edges: Sequence[Edge]) -> SpanningTree:
    """Return the tree of all links; the world is not one of the links."""
    kept = _choose_parent_joints(edges)
    groups = _Groups((WORLD, *links))
    in_tree: set[str] = set()
    for edge in (*(edge for edge in edges if edge.joint in kept), *(edge for edge in edges if edge.joint not in kept)):
        if groups.merge(edge.parent, edge.child):
            in_tree.add(edge.joint)
    neighbours: dict[str, list[Edge]] = {link: [] for link in (WORLD, *links)}
    children: set[str] = set()
    for edge in edges:
        if edge.joint in in_tree:
            neighbours[edge.parent].append(edge)
            neighbours[edge.child].append(edge)
            children.add(edge.child)
    visited: set[str] = set()
    joints: list[tuple[str, bool]] = []
    roots: list[str] = []
    # Links that are nobody's child come first: with them as roots, few joints are reversed.
    for start in (WORLD, *(link for link in links if link not in children), *links):
        if start in visited:
            continue
        roots += [start] if start != WORLD else []
        visited.add(start)
        waiting = [start]
        while waiting:
            link = waiting.pop()
            for edge in neighbours[link]:
                other = edge.child if edge.parent == link else edge.parent
                if other not in visited:
                    visited.add(other)
                    joints.append((edge.joint, edge.child == link))
                    waiting.append(other)
    cut = tuple(edge.joint for edge in edges if edge.joint not in in_tree)
    return SpanningTree(tuple(joints), cut, tuple(roots))


def _choose_parent_joints(edges: Iterable[Edge]) -> set[str]:
    """Return the joints that stay, one for each link: its first joint that is not to be cut, or else its first one."""
    best: dict[str, Edge] = {}
    for edge in edges:
        if edge.child not in best or (best[edge.child].cut_first and not edge.cut_first):
            best[edge.child] = edge
    return {edge.joint for edge in best.values()}


class _Groups:
    """Sets of connected links."""

    def __init__(self, links: Iterable[str]) -> None:
        self._above = {link: link for link in links}

    def find(self, link: str) -> str:
        while self._above[link] != link:
            self._above[link] = self._above[self._above[link]]
            link = self._above[link]
        return link

    def merge(self, a: str, b: str) -> bool:
        """Connect two links; False if they are connected already."""
        a, b = self.find(a), self.find(b)
        self._above[b] = a
        return a != b


def group_links(links: Iterable[str], connections: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Return, for each of the links, one link of its connected part; the same one for all links of a part."""
    links = list(links)
    groups = _Groups(links)
    for a, b in connections:
        groups.merge(a, b)
    return {link: groups.find(link) for link in links}
