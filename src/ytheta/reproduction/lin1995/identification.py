"""Section IV of lin1995: the identification procedure, simulated for the Stanford arm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ytheta.dynamics.kernels import inverse_dynamics
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.motion_sources import ArraySource
from ytheta.identification.estimators.lin import Lin
from ytheta.identification.persistent_excitation import JointExcitation, compute_joint_excitation
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.plots import Axis, Line, Plot
from ytheta.reproduction.exhibit import Agreement, Comparison, Exhibit
from ytheta.reproduction.lin1995.arms import load_stanford_arm
from ytheta.robot.inertia import Inertia
from ytheta.shapes import Float
from ytheta.simulation.references import default_reference

TRAJECTORIES = 3  # "several persistently exciting trajectories"
SECONDS, RATE = 10.0, 50.0  # of each trajectory; samples per second
MAX_RELATIVE_ERROR = 1e-9  # "matched the true values very closely": relative to the largest constant of the same unit


@dataclass(frozen=True, eq=False)
class Experiment:
    """One trajectory of the Stanford arm: the excitation of every joint, and the identified combinations."""

    excitation: tuple[JointExcitation, ...]
    w: Float[np.ndarray, "combinations"]


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


def compute_largest_error(base: BaseParameters, w: Float[np.ndarray, "combinations"]) -> float:
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


def _compare_experiments(base: BaseParameters, experiments: list[Experiment]) -> Iterator[Comparison]:
    counts = {len(each.parameters) for each in experiments[0].excitation}
    complete = all(each.rank == len(each.parameters) for one in experiments for each in one.excitation)
    yield Comparison(
        "A_i has full rank for most trajectories",
        "yes",
        f"{'yes' if complete else 'no'}, {len(base)} combinations, at most {max(counts)} of a joint",
        Agreement.of(complete),
    )
    error = max(compute_largest_error(base, one.w) for one in experiments)
    yield Comparison(
        "identified values match the true values",
        "very closely",
        f"largest error {error:.1e} of the largest constant of the same unit",
        Agreement.of(error <= MAX_RELATIVE_ERROR),
        "the procedure starts from links without mass; torques by the formulation newton_euler",
    )
    largest = [max(each.condition_number for each in one.excitation) for one in experiments]
    yield Comparison(
        "largest condition number of a joint, by trajectory",
        "not printed",
        ", ".join(f"{number:.3g}" for number in largest),
        Agreement.OPEN,
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
