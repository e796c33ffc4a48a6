"""Table I of lin1995: constants of composite bodies at a prismatic joint, and those of Gautier and others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ytheta.dynamics.formulations.composite_bodies import find_composite_bodies
from ytheta.dynamics.formulations.equivalent_bodies import find_minimal_bodies
from ytheta.reproduction.exhibit import Agreement, Comparison, Exhibit
from ytheta.reproduction.lin1995.arms import make_general_chain
from ytheta.robot.modified_dh import to_modified_dh
from ytheta.shapes import Float

KINDS, PRISMATIC = "RRPRR", 3  # joint i of Table I
TWO_PRISMATIC = "RRPPRR", 4  # a chain in which joint i - 1 is prismatic as well, and its joint i
MAX_RELATIVE_ERROR = 1e-12


def compare_combinations() -> Exhibit:
    """Return Table I, evaluated for a general chain in which joint 3 is prismatic."""
    return Exhibit(
        "table_1",
        "Table I: m̂ and k at a prismatic joint i, here and by Gautier et al.",
        tuple(_compare_constants()),
        open=(
            f"the arm. Chosen here: a chain {KINDS} with general lengths, angles and inertias, i = {PRISMATIC}. The "
            "table does not say which kind joint i - 1 has; for the parameters of Gautier et al. both kinds are tried."
        ),
    )


def _compare_constants() -> Iterator[Comparison]:
    robot = make_general_chain(KINDS)
    table, composite, minimal = to_modified_dh(robot), find_composite_bodies(robot), find_minimal_bodies(robot)
    own = [link.inertia.vector[:4] for link in table.robot.links[1:]]  # m and m c of every link, in its frame
    m = np.array([each[0] for each in own])
    i = PRISMATIC - 1  # index of body i
    m_i, m_next, k_next = m[i:].sum(), m[i + 1 :].sum(), composite.bodies[i + 1].k
    behind = composite.axes[i + 1].H
    k_i = own[i][1:] + m_next * behind[:3, 3] + behind[:3, 2] * k_next[2]
    place = composite.axes[i]
    k_before = own[i - 1][1:] + m_i * place.foot + place.H[:3, :3] @ k_i
    bodies = composite.bodies
    yield _compare("m̂ i-1", "m i-1 + m i + … + m n", bodies[i - 1].m, m[i - 1 :].sum())
    yield _compare("k i-1", "m i-1 c i-1 + m̂ i [b i, 0, 0] + R k i", bodies[i - 1].k, k_before)
    yield _compare("m̂ i", "m i + m i+1 + … + m n", bodies[i].m, m_i)
    yield _compare("k i", "m i c i + m̂ i+1 s i+1 + [0, -Sβ, Cβ] (k i+1)z", bodies[i].k, k_i)
    gautier = "of Gautier et al."
    yield from _compare_behind_prismatic(gautier)
    yield _compare(
        f"mXR i-1, mYR i-1 {gautier}, i-1 revolute",
        "m i-1 c i-1",
        minimal.P[i - 1][:2, 3],
        own[i - 1][1:3],
        "mR i-1 and mZR i-1 are not minimal if joint i - 1 is revolute: they have no effect of their own, and ytheta "
        "assigns them to link i - 2",
    )
    yield _compare(f"mR i {gautier}", "m i + m i+1 + … + m n", minimal.P[i][3, 3], m_i)
    yield _compare(
        f"mXR i, mYR i, mZR i {gautier}",
        "m i c i + mR i+1 s i+1 + [0, -Sβ, Cβ] mZR i+1",
        minimal.P[i][:3, 3],
        k_i,
        "evaluated with m̂ i+1 and (k i+1)z, which are the same behind revolute joints",
    )


def _compare_behind_prismatic(gautier: str) -> Iterator[Comparison]:
    """The four parameters of link i - 1 by Gautier et al., if joint i - 1 is prismatic, too."""
    kinds, joint = TWO_PRISMATIC
    robot = make_general_chain(kinds)
    link, P = to_modified_dh(robot).robot.links[joint - 1], find_minimal_bodies(robot).P[joint - 2]
    m, *mc = link.inertia.vector[:4]
    note = f"joint i - 1 is prismatic: a chain {kinds}, i = {joint}"
    yield _compare(f"mR i-1 {gautier}", "m i-1", P[3, 3], m, note)
    yield _compare(f"mXR i-1, mYR i-1, mZR i-1 {gautier}", "m i-1 c i-1", P[:3, 3], np.array(mc), note)


def _compare(
    name: str,
    formula: str,
    value: float | Float[np.ndarray, "entries"],
    printed: float | Float[np.ndarray, "entries"],
    note: str = "",
) -> Comparison:
    """Compare constants that ytheta computes with the printed formula, evaluated for the same arm."""
    error = float(np.max(np.abs(np.subtract(value, printed))) / np.max(np.abs(printed)))
    agrees = error <= MAX_RELATIVE_ERROR
    return Comparison(name, formula, "the same" if agrees else f"differs by {error:.2g}", Agreement.of(agrees), note)
