"""Log: what was measured on a robot, in its own coordinates and in SI units, with what is doubtful about it.

Columns are the robot's actuated coordinates in their order, torques have the sign of tau = +Y(q, qd, qdd) theta. Rows
are as recorded: nothing is filtered or differentiated here. ``segments`` are the ranges of rows between gaps; nothing
that follows may look across their ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding
from ytheta.logs.temporary import scratch
from ytheta.shapes import PerSample, SamplesByJoint

CUTS = {"missing": "missing rows", "garbage": "garbage", "gap": "gaps", "held": "held rows"}  # kinds that cut a log


@dataclass(frozen=True, eq=False)
class Log:
    """Recorded motion of one robot; see the module docstring. ``qd`` is None where velocity was not recorded."""

    joints: tuple[str, ...]
    t: PerSample
    q: SamplesByJoint
    tau: SamplesByJoint | None = None
    qd: SamplesByJoint | None = None
    segments: tuple[tuple[int, int], ...] = ()
    source: str = ""
    findings: tuple[Finding, ...] = field(default=())

    def __post_init__(self) -> None:
        for name, values in (("q", self.q), ("tau", self.tau), ("qd", self.qd)):
            if values is not None and values.shape != (len(self.t), len(self.joints)):
                wanted = (len(self.t), len(self.joints))
                raise InputError(f"{self.source or 'log'}: {name} has shape {values.shape}, not {wanted}")
        if not self.segments:
            object.__setattr__(self, "segments", ((0, len(self.t)),) if len(self.t) else ())

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        parts = f" in {len(self.segments)} segments" if len(self.segments) > 1 else ""
        figures = f"{len(self)} samples, {self.seconds:.4g} s at {self.rate:.4g} Hz{parts}"
        return f"Log({self.source or 'unnamed'}: {figures}; {', '.join(self.joints)})"

    @property
    def in_pieces(self) -> str:
        """Why segments are short, as the beginning of a sentence; empty for a log of one piece."""
        if len(self.segments) < 2:
            return ""
        kinds = [finding.code for finding in self.findings]
        causes = " and ".join(words for kind, words in CUTS.items() if kind in kinds) or "gaps"
        longest = max(last - first for first, last in self.segments)
        return f"{causes} cut the log into {len(self.segments)} pieces of at most {longest} samples; "

    @property
    def seconds(self) -> float:
        """How long was measured, gaps left out."""
        return float(sum(self.t[last - 1] - self.t[first] for first, last in self.segments))

    @property
    def rate(self) -> float:
        """Samples per second: the inverse of the median step within segments; 0 where there is no step."""
        long = [(first, last) for first, last in self.segments if last - first > 1]
        if not long:
            return 0.0
        steps = scratch(sum(last - first - 1 for first, last in long))
        begin = 0
        for first, last in long:
            end = begin + last - first - 1
            np.subtract(self.t[first + 1 : last], self.t[first : last - 1], out=steps[begin:end])
            begin = end
        return 1.0 / float(np.median(steps, overwrite_input=True))

    def rows(self, first: int, last: int) -> Log:
        """Some of the rows, segments cut accordingly."""
        chosen = slice(first, last)
        inside = [(max(a, first) - first, min(b, last) - first) for a, b in self.segments]
        return replace(
            self,
            t=self.t[chosen],
            q=self.q[chosen],
            tau=None if self.tau is None else self.tau[chosen],
            qd=None if self.qd is None else self.qd[chosen],
            segments=tuple((a, b) for a, b in inside if b > a),
        )

    def between(self, start: float, end: float) -> Log:
        """The rows with start <= t < end."""
        first, last = np.searchsorted(self.t, [start, end])
        return self.rows(int(first), int(last))

    def pieces(self) -> Iterator[Log]:
        """The segments, one by one."""
        for first, last in self.segments:
            yield self.rows(first, last)
