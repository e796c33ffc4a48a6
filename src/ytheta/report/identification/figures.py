"""What the terminal and the page say alike of an identification."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ytheta.identification.assessment.excitation import Certainty
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.report.numbers import plain
from ytheta.shapes import Float

if TYPE_CHECKING:
    from ytheta.identification.result import Identification

ENTANGLED = 0.99  # correlation of two errors above which only the two together are known
HARMFUL = 100.0  # condition number from which noise and model errors grow
FEW = 5  # pairs


def counted(found: Identification, kind: Certainty) -> int:
    """Of how many base parameters the data say this."""
    return found.seen.count(kind)


def judged_on(found: Identification) -> str:
    """What the model was judged by, in the words of the verdict."""
    if found.validation is None:
        return "its own log"
    repeated = any(finding.code == LogFindingCode.REPEATED_MOTION for finding in found.findings)
    return "the same motion again" if repeated else "motion it has not seen"


def correlated(found: Identification) -> Float[np.ndarray, "joints"]:
    """How many times longer the fit's residuals remember than white noise after the low-pass."""
    return found.fit.correlated / found.origin.expected_correlation


def strongest(found: Identification, least: float) -> list[tuple[str, str, float]]:
    """The pairs of parameters whose errors go together most, and their correlation."""
    known = np.isfinite(found.std)
    values = np.triu(np.where(np.outer(known, known), found.correlation, 0.0), 1)
    pairs = (divmod(int(place), len(values)) for place in np.argsort(-abs(values), axis=None)[:FEW])
    return [(found.names[a], found.names[b], float(values[a, b])) for a, b in pairs if abs(values[a, b]) >= least]


def weaknesses(found: Identification) -> Iterator[str]:
    """What there is to say of weak parameters beside the motion that would mend them."""
    told = sum(len(advice.parameters) for advice in found.missing)
    more = counted(found, Certainty.WEAK) + counted(found, Certainty.UNSEEN) - told
    if more > 0:
        unseen = " or not seen" if counted(found, Certainty.UNSEEN) else ""
        yield f"… and {more} more {'parameter is' if more == 1 else 'parameters are'} weak{unseen}"
    weak = {name for name, seen in zip(found.names, found.seen, strict=True) if seen is Certainty.WEAK}
    pairs = [
        f"{a} with {b} ({np.clip(c, -0.999, 0.999):.3f})" for a, b, c in strongest(found, ENTANGLED) if {a, b} & weak
    ]
    if pairs:
        yield f"hard to tell apart by this motion, correlation of their errors: {', '.join(pairs)}"
    if HARMFUL < found.condition_number < np.inf:
        yield (
            f"the condition number {plain(found.condition_number)} is above {HARMFUL:g}: small errors of the torques "
            "become large ones of some parameters"
        )


def file_names(paths: tuple[str, ...]) -> str:
    return ", ".join(Path(path).name or "log" for path in paths)
