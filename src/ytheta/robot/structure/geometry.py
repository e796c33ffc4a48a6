"""The geometry of a robot: its parts that have fixed frames, and changes of all these frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ytheta.robot.collision import CollisionShape
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Joint, Loop, Marker


@dataclass(frozen=True)
class Geometry:
    """The parts of a robot that have fixed frames. The attributes are those of ``Robot``."""

    joints: tuple[Joint, ...]
    loops: tuple[Loop, ...]
    markers: tuple[Marker, ...]
    collision: tuple[CollisionShape, ...]
    mounting: Frame

    @property
    def frames(self) -> Iterator[Frame]:
        """All fixed frames; a joint has two."""
        for joint in (*self.joints, *(loop.joint for loop in self.loops)):
            yield joint.placement
            yield joint.seat
        yield from (marker.frame for marker in self.markers)
        yield from (shape.frame for shape in self.collision)
        yield self.mounting

    @property
    def symbolic_lengths(self) -> frozenset[str]:
        """Names of the symbolic lengths in the frames."""
        return frozenset(name for frame in self.frames for name in frame.symbols)

    @property
    def symbolic_angles(self) -> frozenset[str]:
        """Names of the symbolic angles in the frames."""
        return frozenset(name for frame in self.frames for name in frame.angles)

    def change_frames(self, change: Callable[[Frame], Frame]) -> Geometry:
        """Return the geometry with every frame replaced by ``change(frame)``."""

        def change_joint(joint: Joint) -> Joint:
            return replace(joint, placement=change(joint.placement), seat=change(joint.seat))

        return Geometry(
            joints=tuple(change_joint(joint) for joint in self.joints),
            loops=tuple(Loop(change_joint(loop.joint)) for loop in self.loops),
            markers=tuple(replace(marker, frame=change(marker.frame)) for marker in self.markers),
            collision=tuple(replace(shape, frame=change(shape.frame)) for shape in self.collision),
            mounting=change(self.mounting),
        )
