"""Joints of a URDF that follow a fixed joint.

A fixed joint has the position zero, so that a joint that follows it stays at its offset. Such files exist because
somebody fixed the drive of a gripper, but not the joints that follow it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ytheta.findings import Finding, Severity
from ytheta.robot.locking.reduced_parts import fix_joint
from ytheta.robot.parts import Coupling, Joint, JointKind


def fix_followers(
    joints: Sequence[Joint], couplings: Sequence[Coupling]
) -> tuple[tuple[Joint, ...], tuple[Coupling, ...], tuple[Finding, ...]]:
    """Return the joints, of which those that follow fixed joints are fixed; the other couplings; and a note."""
    positions = {joint.name: 0.0 for joint in joints if joint.kind is JointKind.FIXED}
    fixed: dict[str, float] = {}
    waiting = list(couplings)
    while ready := [coupling for coupling in waiting if all(name in positions for name, _ in coupling.terms)]:
        for coupling in ready:
            fixed[coupling.joint] = coupling.offset + sum(factor * positions[name] for name, factor in coupling.terms)
        positions |= fixed
        waiting = [coupling for coupling in waiting if coupling not in ready]
    if not fixed:
        return tuple(joints), tuple(couplings), ()
    places = ", ".join(f"{name} at {position:g}" for name, position in fixed.items())
    statement = f"joints that follow a fixed joint are fixed as well: {places}"
    finding = Finding("followers", Severity.NOTE, statement, names=tuple(fixed))
    changed = tuple(fix_joint(joint, fixed[joint.name]) if joint.name in fixed else joint for joint in joints)
    return changed, tuple(waiting), (finding,)
