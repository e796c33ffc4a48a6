"""The tree of the chosen links and joints: chains, loops, and the parts that float or stand on the world."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from ytheta.errors import RobotError
from ytheta.robot.floating.base import FREE_JOINT, list_home
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Coupling, Joint, JointKind, Loop
from ytheta.robot.reading.mjcf.bodies import make_unique
from ytheta.robot.reading.mjcf.findings import FindingCollector
from ytheta.robot.reading.sdf.frames import WORLD
from ytheta.robot.reading.sdf.joints import BALL, ChainReader, SdfJoint
from ytheta.robot.reading.sdf.selection import Selection
from ytheta.robot.reading.sdf.spanning_tree import Edge, SpanningTree, find_spanning_tree
from ytheta.robot.structure.tree import MAX_JOINTS


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
    selection: Selection, reader: ChainReader, static: Collection[str], *, fix_base: bool, coupled: Collection[str]
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


def _close_loop(joint: SdfJoint, selection: Selection, reader: ChainReader, assembly: Assembly) -> None:
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
    selection: Selection,
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
