"""Which bounds contradict each other: a smallest set of bounds that no bodies satisfy.

The certificate of the solver names candidates. From these, bounds are removed one at a time as long as the rest is
still infeasible (the deletion filter of Chinneck and Dravnieks, 1991): without any one of the remaining bounds, bodies
exist. The conditions that links are bodies are never removed.
"""

from __future__ import annotations

from collections.abc import Sequence

from ytheta.errors import InputError
from ytheta.identification.bodies.program import BodyProgram, Constraint
from ytheta.identification.bodies.solver import Outcome, Solution, solve_cone_program

MIN_RELATIVE_DUAL = 1e-5  # of the certificate; constraints with smaller entries are not candidates


def explain_contradiction(program: BodyProgram, outcome: Outcome) -> InputError:
    """Return the error that names the bounds that no bodies satisfy together."""
    robot = program.robot.name
    bounds = [constraint for constraint in program.constraints if not constraint.is_body]
    sizes = [float(abs(dual).max()) for dual in outcome.duals]
    pairs = zip(program.constraints, sizes, strict=True)
    named = {constraint.label for constraint, size in pairs if size > MIN_RELATIVE_DUAL * max(sizes)}
    candidates = [bound for bound in bounds if bound.label in named]
    if not _is_infeasible(program, candidates):
        candidates = bounds
    for bound in tuple(candidates):
        fewer = [other for other in candidates if other is not bound]
        if _is_infeasible(program, fewer):
            candidates = fewer
    if not candidates:
        partly = [link for link, ten in program.indices.items() if not program.free[ten].all()]
        return InputError(
            f"no bodies of robot {robot!r} have the fixed parameters of {', '.join(map(repr, partly))}; let all ten "
            "parameters of these links be free, or correct the fixed ones"
        )
    labels = "; ".join(bound.label for bound in candidates)
    together = "satisfy these bounds together" if len(candidates) > 1 else "satisfy this bound"
    return InputError(f"no bodies of robot {robot!r} {together}: {labels}; relax or remove one of them")


def explain_fixed_parameters(program: BodyProgram) -> InputError:
    """Return the error that names the bounds that fixed parameters violate."""
    return InputError(
        f"parameters of robot {program.robot.name!r} that are not free violate these bounds: "
        f"{'; '.join(program.violated_by_fixed)}; relax the bounds, or let the parameters be free"
    )


def _is_infeasible(program: BodyProgram, bounds: Sequence[Constraint]) -> bool:
    """Whether no bodies satisfy these bounds."""
    bodies = [constraint for constraint in program.constraints if constraint.is_body]
    cones = [constraint.cone for constraint in (*bodies, *bounds)]
    outcome = solve_cone_program(cones, objective_scale=program.expected_objective)
    return outcome.solution is Solution.INFEASIBLE
