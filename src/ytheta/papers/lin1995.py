"""lin1995: minimal linear combinations, Tables I to III, forward dynamics, and identification of the Stanford arm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ytheta.dynamics.formulations.composite_bodies import find_composite_bodies
from ytheta.dynamics.formulations.composite_inertias import compute_inertias, list_entries
from ytheta.dynamics.formulations.equivalent_bodies import find_minimal_bodies
from ytheta.dynamics.graphs import forward_dynamics_graph, inverse_dynamics_graph
from ytheta.dynamics.kernels import forward_dynamics, inverse_dynamics
from ytheta.dynamics.mechanism import numeric_motion
from ytheta.dynamics.operation_counts import (
    VARIABLES,
    Count,
    count_composite_inertia_operations,
    count_general_operations,
    count_recursion_operations,
    sum_operations,
)
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.estimators.lin import Lin
from ytheta.identification.persistent_excitation import JointExcitation, compute_joint_excitation
from ytheta.logs.preparing.motion_sources import ArraySource
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.native.graph import count_operations as count_graph_operations
from ytheta.papers.exhibit import Exhibit, PaperReproduction, PrintedResult, State, compare_correction
from ytheta.plots import Axis, Line, Plot
from ytheta.robot.frame import Frame, to_vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import link_poses
from ytheta.robot.modified_dh import to_modified_dh
from ytheta.robot.parts import Drive, Joint, JointKind, Link
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot
from ytheta.shapes import Float
from ytheta.simulation.references import default_reference

CITATION = (
    "S.-K. Lin, Minimal Linear Combinations of the Inertia Parameters of a Manipulator, IEEE Transactions on Robotics "
    "and Automation, vol. 11, no. 3, 1995"
)
ABOUT = (
    "Minimal linear combinations of inertia parameters in closed form, the recursion of Newton and Euler in these "
    "combinations, and a recursive procedure that identifies them. Tables II and III are computed by the recursion "
    "itself, which runs on scalars that count the operations on them; the procedure is repeated for the Stanford arm."
)


def reproduce() -> PaperReproduction:
    """Compute Tables I to III, the forward dynamics of section III, and the identification of section IV."""
    exhibits = (
        compare_combinations(),
        compare_forward_dynamics(),
        compare_variables(),
        compare_sums(),
        compare_identification(),
    )
    return PaperReproduction("lin1995", CITATION, ABOUT, exhibits)


# Table I of lin1995: constants of composite bodies at a prismatic joint, and those of Gautier and others.


KINDS, PRISMATIC = "RRPRR", 3  # joint i of Table I
TWO_PRISMATIC = "RRPPRR", 4  # a chain in which joint i - 1 is prismatic as well, and its joint i
MAX_COMBINATION_ERROR = 1e-12


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


def _compare_constants() -> Iterator[PrintedResult]:
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


def _compare_behind_prismatic(gautier: str) -> Iterator[PrintedResult]:
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
    value: float | Float[np.ndarray, " entries"],
    printed: float | Float[np.ndarray, " entries"],
    note: str = "",
) -> PrintedResult:
    """Compare constants that ytheta computes with the printed formula, evaluated for the same arm."""
    error = float(np.max(np.abs(np.subtract(value, printed))) / np.max(np.abs(printed)))
    agrees = error <= MAX_COMBINATION_ERROR
    return PrintedResult(name, formula, "the same" if agrees else f"differs by {error:.2g}", State.of(agrees), note)


# Composite bodies as constants and varying parts, and the forward dynamics that uses them: (8)-(15) and section III.


CARRIED = "RPRRRR"  # joint 1 is rotational and joint 2 translational, as in the counts of the text


def compare_forward_dynamics() -> Exhibit:
    """Return (8)-(15) against the definition of composite bodies, and the forward dynamics with its operations."""
    return Exhibit(
        "forward_dynamics",
        "(8) to (15), section III: composite bodies in the forward dynamics",
        (*_compare_composite_bodies(), _compare_accelerations(), *_compare_inertia_operations()),
        open=(
            "the equations that were counted for Ĵ and for the parameters of Gautier et al., which are in papers that "
            "this one cites. Counted here: (8) to (15) by the rules of Table II."
        ),
    )


def _compare_composite_bodies() -> Iterator[PrintedResult]:
    """Compare the sums of constant and varying parts with those of the links behind a joint, at a random position."""
    robot = make_general_chain(TWO_PRISMATIC[0])
    arm, chain = find_composite_bodies(robot), to_modified_dh(robot).robot
    q = np.random.default_rng(2).uniform(-1.0, 1.0, len(arm.axes))
    inertias = compute_inertias(arm, numeric_motion(q + arm.offsets, 0.0 * q, 0.0 * q))
    poses = [link_poses(chain, q)[link.name] for link in chain.links[1:]]
    sums = []
    for i in range(len(poses)):
        seen = [(np.linalg.inv(poses[i]) @ poses[j], chain.links[j + 1].inertia.pseudo) for j in range(i, len(poses))]
        sums.append(sum((H @ P @ H.T for H, P in seen), np.zeros((4, 4))))
    c, J = (np.concatenate([getattr(each, name) for each in inertias]).astype(float) for name in ("c", "J"))
    tensors = [np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3] for P in sums]
    note = f"all bodies of a chain {robot.name.split()[-1]} at a random position"
    yield _compare("ĉ i, by (10), (11)", "k i + ℓ i", c, np.concatenate([P[:3, 3] for P in sums]), note)
    printed = np.concatenate([list_entries(tensor) for tensor in tensors]).astype(float)
    yield _compare("Ĵ i, by (12) to (15)", "U i + V i", J, printed, f"{note}; the definition is (6)")


def _compare_accelerations() -> PrintedResult:
    """The torque of a motion must lead back to its accelerations."""
    robot = make_general_chain(CARRIED)
    q, qd, qdd = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 100, len(robot.actuated)))
    tau = inverse_dynamics(robot, formulation="newton_euler")(q, qd, qdd)
    found = forward_dynamics(robot, method="inertia-constants")(q, qd, tau)
    note = f"at 100 random states of a chain {CARRIED}; torques by the formulation newton_euler"
    return _compare("q̈ from the torque of a motion", "equal", found.ravel(), qdd.ravel(), note)


def _compare_inertia_operations() -> Iterator[PrintedResult]:
    """The operations for ĉ and Ĵ of a rotational joint i before a translational joint i + 1."""
    count = count_composite_inertia_operations(CARRIED)[0]
    note = "8M7A without the product m̂ d of (11) and its sum with ℓ_z"
    yield PrintedResult(
        "operations of ĉ i, joint i + 1 translational", "8M7A", _write_count(count["c"]), State.OPEN, note
    )
    note = (
        "printed for (36) of another paper; counted here for (15). R V Rᵀ takes 16M16A by plane rotations of a "
        "symmetric matrix; by products of R with columns and rows, without those that symmetry makes equal, 42M21A"
    )
    yield PrintedResult(
        "operations of Ĵ i, joint i + 1 translational", "50M40A", _write_count(count["J"]), State.OPEN, note
    )
    robot = make_general_chain(CARRIED)
    ours, other = (
        count_graph_operations(forward_dynamics_graph(robot, method=method))
        for method in ("inertia-constants", "composite-body")
    )
    yield PrintedResult(
        "fewer than with the parameters of Gautier et al.",
        "yes: 11M9A and 55M41A with those",
        f"for q̈ of a chain {CARRIED} {_write_count((ours.multiplications, ours.additions))}; from the parameters of "
        f"the links {_write_count((other.multiplications, other.additions))}",
        State.OPEN,
    )


# Tables II and III of lin1995: operations of the recursion by variable, and of whole arms.
#
# The operations are those of ``composite_newton_euler``, which runs on scalars that count; see ``operation_counts``.


SYMBOLS = dict(zip(VARIABLES, ("ω", "ω̇", "Ω", "Ψ", "ḧ", "a", "ρ", "μ̄", "ζ̄", "μ", "ζ", "τ"), strict=True))
ABSENT = "-"
UNREADABLE = "?"


@dataclass(frozen=True)
class OperationColumn:
    """A column of Table II: its heading, a chain with a joint that belongs to it, s, the joint, and the cells."""

    heading: str
    kinds: str
    s: int
    joint: int
    cells: str


# As printed; "+" adds the operations of the footnote, which joint s - 1 needs.
COLUMNS = (
    OperationColumn("i < r", "PPRR", 4, 2, "- - - - - 8M5A 1M 1M - - - 1A"),
    OperationColumn("i = r = 1", "RR", 2, 1, "0 0 1M - - 3M - 0 3M2A 8M4A 2M3A+3M2A 0"),
    OperationColumn("i = r > 1", "PRR", 3, 2, "0 0 1M - - 8M4A - 4M2A 3M2A 8M7A 2M3A+3M2A 0"),
    OperationColumn("r < i < s, R", "RRRR", 4, 3, "1A 1A 1M - - 12M8A - 4M2A 3M2A 8M7A 3M4A+3M2A 0"),
    OperationColumn("r < i < s, T", "RPPR", 4, 3, "3M 3M 6M9A - 5M4A 14M10A 4M2A 3M 6M3A 8M7A 4M5A+11M6A 1A"),
    OperationColumn("i ≥ s, R", "RRRR", 2, 3, "8M5A 10M7A 6M9A 3A - 17M13A - 6M3A 22M19A ? 12M11A 0"),
    OperationColumn("i ≥ s, T", "RRPPR", 2, 4, "8M4A 8M4A 6M9A 3A 5M4A 14M10A 4M3A 3M 9M5A ? 12M11A 1A"),
    OperationColumn("i = n", "RRRR", 2, 4, "8M5A 10M7A 6M9A 3A - 17M13A - 6M3A 22M19A ? 6M9A 0"),
)
DAMAGED = "the scan has only '{ ` M7A for i = n)' of the cell that R, T and i = n share"
# Cells that another part of the paper contradicts: the operations it demands, and what it is.
CORRECTIONS = {
    ("mu", "i < r"): ((8, 7), "(68), which takes μ of the next joint, so that (66) is needed"),
    ("a", "r < i < s, T"): (
        (11, 10),
        "the equation of a: Ω [b 0 0] 3M, + a 3A, R 8M4A, + ḧ* 3A; Ω [0 0 d] is part of ḧ*",
    ),
    ("a", "i ≥ s, T"): ((11, 10), "the equation of a, as for r < i < s"),
}
UNDECIDED = {("zeta", "i = r = 1"), ("zeta", "i = r > 1")}  # the rules by which these cells were counted are not given
NOTES = {
    ("zeta", "i = r = 1"): "with the print, the sum of Table III would be one multiplication and one addition less",
    ("zeta", "i = r > 1"): "(90) is the same for i = r and for r < i < s",
    ("mu", "i ≥ s, R"): f"{DAMAGED}; the sums of Table III result with 8M7A, as for r < i < s",
    ("mu", "i ≥ s, T"): f"{DAMAGED}; the sum of the Stanford arm in Table III results with 8M7A",
    ("mu", "i = n"): f"{DAMAGED}; the sums of Table III result with 3A",
}
MAX_JOINTS = 8  # of the chains for which the formulas in n are checked
SIX = "RRRRRR"
STANFORD_GENERAL, STANFORD_SIMPLIFIED = (231, 219), (139, 101)


def compare_variables() -> Exhibit:
    """Return Table II, cell by cell."""
    return Exhibit(
        "table_2",
        "Table II: operations of each variable; M multiplications, A additions",
        tuple(row for column in COLUMNS for row in _compare_column(column)),
    )


def compare_sums() -> Exhibit:
    """Return Table III, and the statements about general and industrial robots."""
    return Exhibit(
        "table_3",
        "Table III: operations of whole arms",
        (*_compare_general_robots(), *_compare_stanford_arm()),
        open=(
            "the simplified Stanford arm: the paper does not say which of its inertia constants are zero. Chosen here: "
            "the published inertias of the catalog, and only operations that a torque needs."
        ),
    )


def _compare_column(column: OperationColumn) -> Iterator[PrintedResult]:
    counted = count_general_operations(column.kinds, column.s)[column.joint - 1]
    for name, cell in zip(VARIABLES, column.cells.split(), strict=True):
        count = counted.get(name, (0, 0))
        if cell == ABSENT and count == (0, 0):
            continue
        key, row = (name, column.heading), f"{SYMBOLS[name]}, {column.heading}"
        printed, note = cell.replace("+", " + "), NOTES.get(key, "")
        if cell == UNREADABLE or key in UNDECIDED:
            printed = "unreadable" if cell == UNREADABLE else printed
            yield PrintedResult(row, printed, _write_count(count), State.OPEN, note)
            continue
        correct, contradiction = CORRECTIONS.get(key, (None, ""))
        yield compare_correction(
            row,
            printed,
            _write_count(count),
            contradiction,
            is_printed=_read_cell(cell) == count,
            is_correct=count == correct,
            note=note,
        )


def _compare_general_robots() -> Iterator[PrintedResult]:
    sums = {n: sum_operations(count_general_operations("R" * n, 2)) for n in range(2, MAX_JOINTS + 1)}
    for k, (name, slope, intercept) in enumerate((("multiplications", 89, -82), ("additions", 77, -71))):
        agree = all(count[k] == slope * n + intercept for n, count in sums.items())
        shown = f"{slope}n - {-intercept}" if agree else ", ".join(f"{count[k]}" for count in sums.values())
        note = f"n = 2 to {MAX_JOINTS}, with f_E and t_E"
        yield PrintedResult(f"{name}, n revolute joints", f"{slope}n - {-intercept}", shown, State.of(agree), note)
    note = f"compiled: {_describe_compiled(make_general_chain(SIX))}"
    yield _compare_count("general robot, n = 6", (452, 391), sums[6], note)
    matrices = [joint["R"] for joint in count_general_operations(SIX, 2)]
    total = sum(m for m, _ in matrices), sum(a for _, a in matrices)
    yield _compare_count("rotation matrices, n = 6, counted apart", (24, 0), total, "4nM")
    less = sum_operations(count_general_operations(SIX, 2, perpendicular=True))
    saved = sums[6][0] - less[0], sums[6][1] - less[1]
    note = (
        "printed: 5(n - 1)(4M + 2A) + 2M + 1A; counted: - 2M - 1A, because only the z component of ζ of joint 1 is "
        "computed, whose operations the paper does not give"
    )
    yield PrintedResult(
        "fewer if all axes are perpendicular, n = 6", _write_count((102, 51)), _write_count(saved), State.OPEN, note
    )


def _compare_stanford_arm() -> Iterator[PrintedResult]:
    simple = load_stanford_arm()
    arm = with_general_inertias(simple)
    note = f"without f_E and t_E; compiled: {_describe_compiled(arm)}"
    yield _compare_count(
        "Stanford arm, general", STANFORD_GENERAL, sum_operations(count_recursion_operations(arm)), note
    )
    count = sum_operations(count_recursion_operations(simple, needed_only=True))
    agrees = State.AGREES if count == STANFORD_SIMPLIFIED else State.OPEN
    note = f"compiled: {_describe_compiled(simple)}"
    printed = _write_count(STANFORD_SIMPLIFIED)
    yield PrintedResult("Stanford arm, simplified", printed, _write_count(count), agrees, note)


def _describe_compiled(robot: Robot) -> str:
    """The operations of the compiled recursions of ytheta; rotation matrices are included."""
    texts: list[str] = []
    for name in ("composite_newton_euler", "minimal_newton_euler"):
        operations = count_graph_operations(inverse_dynamics_graph(robot, formulation=name))
        texts.append(f"{operations.multiplications}M{operations.additions}A by {name}")
    return ", ".join(texts)


def _compare_count(name: str, printed: Count, count: Count, note: str) -> PrintedResult:
    return PrintedResult(name, _write_count(printed), _write_count(count), State.of(printed == count), note)


def _read_cell(cell: str) -> Count:
    """Read a cell such as ``8M5A``, ``1A``, ``0`` or a sum of two."""
    total = [0, 0]
    for part in cell.split("+"):
        m, _, a = part.rpartition("M")
        total[0] += int(m or 0)
        total[1] += int(a.removesuffix("A")) if a not in ("", ABSENT) else 0
    return total[0], total[1]


def _write_count(count: Count) -> str:
    m, a = count
    return "".join(f"{number}{kind}" for number, kind in ((m, "M"), (a, "A")) if number) or "0"


# Section IV of lin1995: the identification procedure, simulated for the Stanford arm.


TRAJECTORIES = 3  # "several persistently exciting trajectories"
SECONDS, RATE = 10.0, 50.0  # of each trajectory; samples per second
MAX_IDENTIFICATION_ERROR = (
    1e-9  # "matched the true values very closely": relative to the largest constant of the same unit
)


@dataclass(frozen=True, eq=False)
class Experiment:
    """One trajectory of the Stanford arm: the excitation of every joint, and the identified combinations."""

    excitation: tuple[JointExcitation, ...]
    w: Float[np.ndarray, " combinations"]


def identify_stanford_arm(base: BaseParameters, seed: int) -> Experiment:
    """Simulate one trajectory with exact measurements and identify the combinations by Lin's procedure.

    The torques come from a formulation that does not use the combinations.
    """
    robot = base.robot
    t = np.arange(0.0, SECONDS, 1.0 / RATE)
    q, qd, qdd = default_reference(robot, SECONDS, rng=seed)(t)
    tau = inverse_dynamics(robot, formulation="newton_euler")(q, qd, qdd)
    source = ArraySource(MotionSamples(t, q, qd, qdd, tau, tau, np.arange(len(t))), RATE)
    # The estimator starts from the values of the description; it must not know them.
    unknown = base_parameters(robot.with_inertias({link.name: Inertia() for link in robot.links}))
    beta = Lin().fit(EstimationProblem(Differential(unknown), (source,), threads=1)).beta
    to_combinations = np.linalg.lstsq(base.K.T, base.combination_matrix.T, rcond=None)[0].T
    return Experiment(compute_joint_excitation(base, q, qd, qdd), to_combinations @ beta)


def compute_largest_error(base: BaseParameters, w: Float[np.ndarray, " combinations"]) -> float:
    """Return the largest error of a combination, relative to the largest combination of the same unit."""
    truth = base.combination_matrix @ base.robot.theta
    units = np.array([each.constant[0] for each in base.combinations])  # m, k or U: kg, kg m or kg m²
    largest = np.array([abs(truth[units == unit]).max() for unit in units])
    return float((abs(w - truth) / largest).max())


def compare_identification() -> Exhibit:
    """Return the identification of the Stanford arm for several trajectories."""
    base = base_parameters(load_stanford_arm(), method="lin")
    experiments = [identify_stanford_arm(base, seed) for seed in range(TRAJECTORIES)]
    return Exhibit(
        "section_4",
        "Section IV: identification of the Stanford arm",
        tuple(_compare_experiments(base, experiments)),
        (_plot_excitation(experiments),),
        open=(
            "trajectories and inertias, which are in a report that the paper cites. Chosen here: the published "
            f"inertias of the catalog, and {TRAJECTORIES} trajectories of {SECONDS:g} s, each with "
            f"{round(SECONDS * RATE)} samples and without measurement errors."
        ),
    )


def _compare_experiments(base: BaseParameters, experiments: list[Experiment]) -> Iterator[PrintedResult]:
    counts = {len(each.parameters) for each in experiments[0].excitation}
    complete = all(each.rank == len(each.parameters) for one in experiments for each in one.excitation)
    yield PrintedResult(
        "A_i has full rank for most trajectories",
        "yes",
        f"{'yes' if complete else 'no'}, {len(base)} combinations, at most {max(counts)} of a joint",
        State.of(complete),
    )
    error = max(compute_largest_error(base, one.w) for one in experiments)
    yield PrintedResult(
        "identified values match the true values",
        "very closely",
        f"largest error {error:.1e} of the largest constant of the same unit",
        State.of(error <= MAX_IDENTIFICATION_ERROR),
        "the procedure starts from links without mass; torques by the formulation newton_euler",
    )
    largest = [max(each.condition_number for each in one.excitation) for one in experiments]
    yield PrintedResult(
        "largest condition number of a joint, by trajectory",
        "not printed",
        ", ".join(f"{number:.3g}" for number in largest),
        State.OPEN,
        "of A_i with columns scaled to length one",
    )


def _plot_excitation(experiments: list[Experiment]) -> Plot:
    """Plot the condition number of every joint's own equations."""
    joints = np.arange(1.0, len(experiments[0].excitation) + 1.0)
    lines = [
        Line(f"trajectory {k}", np.array([each.condition_number for each in one.excitation]))
        for k, one in enumerate(experiments, start=1)
    ]
    return Plot(
        "Condition number of A_i",
        joints,
        tuple(lines),
        (Axis("condition number", log=True),),
        caption="The error bound of a joint's combinations is proportional to the condition number of its A_i.",
        x_title="joint i",
    )


# The arms of lin1995: a general chain, and the Stanford arm with any inertias or with published ones.


MASSES_PER_LINK = 6  # point masses; a body of so few has no symmetry


def make_general_chain(kinds: str, seed: int = 1) -> Robot:
    """A chain of revolute (R) and prismatic (P) joints with general angles, lengths and inertias."""
    rng = np.random.default_rng(seed)
    links, joints = [Link("link0")], []
    for k, kind in enumerate(kinds, start=1):
        alpha, a, d, theta = rng.uniform(0.3, 0.6, 4)
        twist = Frame.turn((1.0, 0.0, 0.0), 2.0 * alpha) @ Frame.shift(x=a)
        place = twist @ Frame.turn((0.0, 0.0, 1.0), 0.0 if kind == "R" else theta) @ Frame.shift(z=d)
        links.append(Link(f"link{k}", _draw_body(rng)))
        moves = JointKind.REVOLUTE if kind == "R" else JointKind.PRISMATIC
        joints.append(Joint(f"joint{k}", moves, f"link{k - 1}", f"link{k}", place))
    return Robot(f"general {kinds}", tuple(links), tuple(joints))


def load_stanford_arm() -> Robot:
    """The Stanford arm of the catalog without rotor inertias, which the paper does not have."""
    robot = load("stanford")
    return replace(robot, joints=tuple(replace(joint, drive=Drive()) for joint in robot.joints))


def with_general_inertias(robot: Robot, seed: int = 3) -> Robot:
    """The robot with ten non-zero parameters for every link."""
    rng = np.random.default_rng(seed)
    return robot.with_inertias({link.name: _draw_body(rng) for link in robot.links[1:]})


def _draw_body(rng: np.random.Generator) -> Inertia:
    """A body without any symmetry."""
    body = Inertia()
    for place in rng.normal(0.0, 0.3, (MASSES_PER_LINK, 3)):
        body = body + Inertia.point_mass(rng.uniform(0.2, 1.0), to_vector(place))
    return body
