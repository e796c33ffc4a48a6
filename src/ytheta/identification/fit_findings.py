"""Findings about a fit: what a user should know about its logs, its equations and its bodies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ytheta.conventions import LINK_PARAMETERS
from ytheta.findings import Finding, Severity
from ytheta.identifiability.base_parameters import BaseParameters, ModelParameters
from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.identification.consistency.standard_parameters import ConsistencyCost, Mark, StandardParameters
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.estimators.estimator import Estimate, Estimator
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.identification.fit_statistics import FitStatistics
from ytheta.identification.model_choice import ModelChoice, SelectedModel
from ytheta.identification.priors.description import TYPICAL_SCALE, find_one_way_drives
from ytheta.identification.priors.prior import Family, Prior, PriorCenter
from ytheta.logs.log import Log
from ytheta.logs.preparing.preparation import Preparation
from ytheta.robot.parts import parameter_name
from ytheta.robot.robot import Robot
from ytheta.shapes import BaseByBase, PerBase

DESCRIBED = (PriorCenter.DESCRIPTION, PriorCenter.OTHER_DESCRIPTION)
# Negative value of a parameter in standard deviations, above which noise does not explain the sign. Chosen on:
# reasoning; a normal variable exceeds it once in 740 cases.
MIN_STANDARD_DEVIATIONS = 3.0
# Change of the total mass relative to the description, above which a finding says why. Chosen on: rule of thumb;
# descriptions are typically off by 25 %.
MAX_MASS_CHANGE = 0.3
# Logarithm of the identified mass of a designed link relative to the described one, in units of the typical deviation,
# from which on a finding names the link. Chosen on: reasoning; four are a factor e, which no usual error of a design
# file explains.
MIN_MASS_DEVIATIONS = 4.0
# Change of the torques of the links by identification, in standard deviations of what descriptions are off by, above
# which a log seems to be that of another robot. Chosen on: reasoning; two standard deviations.
MAX_DESCRIPTION_DEVIATION = 2.0
# Largest number of links that are named for their masses. It affects only the length of the list.
MAX_LINKS_WITH_MASS = 3


def collect_log_findings(logs: Sequence[Log], preparations: Sequence[Preparation]) -> Iterator[Finding]:
    """Yield the findings of reading and preparing the logs; with several logs, each finding names its log."""
    for log, preparation in zip(logs, preparations, strict=True):
        yield from name_log((*log.findings, *preparation.findings), log, logs)


def name_log(findings: Sequence[Finding], log: Log, logs: Sequence[Log]) -> Iterator[Finding]:
    """Yield findings about one of these logs; with several logs, each finding names its log."""
    for finding in findings:
        yield replace(finding, source=Path(log.source).name) if len(logs) > 1 else finding


def describe_unknown_geometry(base: ModelParameters) -> Iterator[Finding]:
    """Yield a note if lengths or angles are unknown: then the parameters are those of a regrouped Lagrangian."""
    if not base.unknown_geometry:
        return
    unknown = base.robot.unset_symbols
    subject = f"{unknown[0]} has" if len(unknown) == 1 else f"{', '.join(unknown)} have"
    statement = f"{subject} no value: the {len(base)} parameters of the regrouped Lagrangian are identified"
    remedy = "they need no geometry; with known geometry, base parameters of the links would be identified"
    yield Finding(FitFindingCode.GEOMETRY, Severity.NOTE, statement, remedy, fields=base.unknown_geometry)


def describe_cumulative_form(form: str) -> Iterator[Finding]:
    """Yield a note if the form is cumulative, whose equations share the noise of all samples before."""
    if form == "cumulative":
        statement = (
            "equations of the cumulative form share the noise of all samples before, so its standard deviations are "
            "only approximate: in simulations, those of friction were 3 times too small, others 2 to 4 times too large"
        )
        remedy = "for standard deviations that hold, use the integral form"
        yield Finding(FitFindingCode.DEVIATIONS, Severity.NOTE, statement, remedy)


def describe_small_offsets(problem: EstimationProblem, estimate: Estimate) -> Iterator[Finding]:
    """Yield a note about drives that move in one direction only, whose offsets the prior expects to be small."""
    base = problem.base.standard_combinations
    if base is None or estimate.posterior is None:
        return
    drives = find_one_way_drives(base, problem.normal_equations())
    if drives:
        verb = "moves" if len(drives) == 1 else "move"
        yield Finding(
            FitFindingCode.FRICTION,
            Severity.NOTE,
            f"{', '.join(drives)} {verb} in one direction only, so that offsets cannot be told from Coulomb friction; "
            "they are expected to be small",
            "move in both directions",
            names=drives,
        )


def find_model_findings(
    problem: EstimationProblem, estimator: Estimator, estimate: Estimate, base: ModelParameters, model: SelectedModel
) -> Iterator[Finding]:
    """Yield findings about the parameters, the choice of the model and the estimate; ``base``: with its friction."""
    yield from describe_unknown_geometry(problem.base)
    yield from describe_cumulative_form(model.equations.settings.form)
    yield from describe_small_offsets(problem, estimate)
    yield from estimate.findings
    yield from find_unexcited_joints(problem, estimator, estimate)
    yield from describe_transitions(model.logs.lowest_speeds, model.transition_speeds)
    yield from find_bounded_friction(base.robot)
    yield from find_contradictory_friction(model.choice, model.families)


def find_rests(joints: Sequence[str], fit: TorqueErrors, validation: TorqueErrors | None) -> Iterator[Finding]:
    """Yield findings about joints whose equations were left out while they rested."""
    yield from find_resting_joints(joints, fit, "the logs of the fit")
    if validation is not None:
        yield from find_resting_joints(joints, validation, "the validation logs")


def find_resting_joints(joints: Sequence[str], errors: TorqueErrors, motion: str) -> Iterator[Finding]:
    """Yield a finding about the joints that rested or stuck, whose equations are left out meanwhile.

    ``motion``: what the errors belong to, such as "the logs of the fit".
    """
    shares = {name: 1.0 - float(used) for name, used in zip(joints, errors.used_share, strict=True)}
    resting = {name: share for name, share in shares.items() if share > 0.0}
    if not resting:
        return
    longest = max(resting, key=lambda name: resting[name])
    seconds = {name: share * errors.seconds for name, share in resting.items()}
    others = (
        f"{len(resting)} joints rest or stick, longest {longest}" if len(resting) > 1 else f"{longest} rests or sticks"
    )
    statement = (
        f"in {motion}, {others} for {seconds[longest]:.3g} of {errors.seconds:.3g} s ({100.0 * resting[longest]:.3g} %)"
    )
    stuck = tuple(name for name, judged in zip(joints, errors.judged, strict=True) if not judged)
    remedy = (
        "stiction hides the friction of a joint at rest, so its equations are left out of fit and errors meanwhile; "
        "set min_speed to 0 (--min-speed 0) to use them"
    )
    if stuck:
        statement += f"; {', '.join(stuck)} hardly ever {'moves' if len(stuck) == 1 else 'move'} and cannot be judged"
        remedy = f"record motion of {', '.join(stuck)}; the equations of joints at rest are left out"
    yield Finding(
        FitFindingCode.REST,
        Severity.WARNING if stuck else Severity.NOTE,
        statement,
        remedy,
        names=tuple(resting),
        fields={"seconds": seconds, "shares": resting, "stuck": list(stuck)},
    )


def find_unexcited_joints(problem: EstimationProblem, estimator: Estimator, estimate: Estimate) -> Iterator[Finding]:
    """Yield the joints of a regrouped Lagrangian for which the rank condition fails; ``sequential`` reports them."""
    if problem.base.standard_combinations is None and estimator.name != "sequential":
        from ytheta.identification.estimators.sequential import check_rank_condition  # imported if needed

        yield from check_rank_condition(problem, estimate)


def describe_transitions(lowest: Mapping[str, float], chosen: Mapping[str, float]) -> Iterator[Finding]:
    """Yield a note about drives whose Coulomb friction changes its sign gradually, because the data speak for it."""
    speeds = {name: speed for name, speed in chosen.items() if speed > lowest[name]}
    if speeds:
        listed = ", ".join(f"{name} ({speed:.3g})" for name, speed in speeds.items())
        statement = f"Coulomb friction changes its sign gradually, within these speeds in rad/s or m/s: {listed}"
        remedy = "the data speak for it; --friction viscous,coulomb,offset lets it change abruptly"
        yield Finding(FitFindingCode.FRICTION, Severity.NOTE, statement, remedy, names=tuple(speeds), fields=speeds)


def find_bounded_friction(robot: Robot) -> Iterator[Finding]:
    """Yield a note about drives whose friction is constant beyond the recorded speeds."""
    bounded = [name for name, drive in robot.drives if np.isfinite(drive.max_curve_speed)]
    if bounded:
        statement = f"the friction of {', '.join(bounded)} was learnt up to a highest speed and is constant beyond it"
        remedy = "record faster motion to learn it there"
        yield Finding(FitFindingCode.FRICTION, Severity.NOTE, statement, remedy, names=tuple(bounded))


def find_contradictory_friction(choice: ModelChoice, families: Sequence[Family]) -> Iterator[Finding]:
    """Yield a finding if load-dependent friction contradicts the torque on which it depends.

    ``families``: those of the model, which has such friction all the same if the user asked for it.
    """
    if Family.LOAD not in choice.contradictory:
        return
    statement = "load-dependent friction does not reproduce the torque that drives transmit"
    severity = Severity.WARNING if Family.LOAD in families else Severity.NOTE
    if Family.LOAD not in families:
        statement += ", so the model has none"
    remedy = "the motion does not separate the two; record faster and slower motion with other loads"
    yield Finding(FitFindingCode.FRICTION, severity, statement, remedy)


def find_impossible_parameters(
    base: ModelParameters, statistics: FitStatistics, highest_speeds: Mapping[str, float]
) -> Iterator[Finding]:
    """Yield warnings about parameters that no robot has; with known geometry, the bodies of a model can exist."""
    beta, covariance, std = statistics.estimate.beta, statistics.covariance, statistics.std
    yield from find_negative_inertias(base, beta, std)
    yield from find_driving_friction(base, beta, covariance, std, highest_speeds)


def find_negative_inertias(base: ModelParameters, beta: PerBase, std: PerBase) -> Iterator[Finding]:
    """Yield a warning if sums of masses and moments of inertia are significantly negative; geometry unknown."""
    places = {name: k for k, name in enumerate(base.names)}
    negative = [
        name for name in base.positive_names if beta[places[name]] < -MIN_STANDARD_DEVIATIONS * std[places[name]]
    ]
    if negative:
        values = ", ".join(f"{name} = {base.expressions[places[name]]} = {beta[places[name]]:.3g}" for name in negative)
        statement = f"sums of masses or moments of inertia are negative, which is impossible: {values}"
        remedy = "check the signs of torque and motion, the units, and the axes of the joints"
        fields = {"parameters": negative}
        yield Finding(FitFindingCode.NEGATIVE, Severity.WARNING, statement, remedy, fields=fields)


def find_driving_friction(
    base: ModelParameters, beta: PerBase, covariance: BaseByBase, std: PerBase, highest_speeds: Mapping[str, float]
) -> Iterator[Finding]:
    """Yield a warning about friction that drives instead of braking, at rest or at the highest recorded speed.

    This is for unknown geometry: with known geometry, the bodies of a model have friction that brakes.
    """
    places, driving = {name: k for k, name in enumerate(base.names)}, []
    for name, drive in base.robot.drives:
        known = {"fv": drive.viscous, "fc": drive.coulomb, "fs": drive.root or 0.0}
        for speed in (0.0, highest_speeds.get(name, 0.0)):
            row, torque = np.zeros(len(beta)), 0.0
            for symbol, factor in {"fv": speed, "fc": 1.0, "fs": np.sqrt(speed)}.items():
                place = places.get(parameter_name(name, symbol))
                if place is None:
                    torque += factor * known[symbol]
                elif factor:
                    row[place] = factor
            estimated = row != 0.0
            torque += float(row @ beta)
            deviation = float(np.sqrt(max(row @ covariance @ row, 0.0)))
            if np.isfinite(std[estimated]).all() and torque < -MIN_STANDARD_DEVIATIONS * deviation and estimated.any():
                driving.append(name)
    names = tuple(dict.fromkeys(driving))
    if names:
        statement = f"the friction of {', '.join(names)} drives instead of braking, which is impossible"
        remedy = "check the signs of torque and motion; if both are right, record longer motion at several speeds"
        yield Finding(FitFindingCode.NEGATIVE, Severity.WARNING, statement, remedy, names=names)


def find_body_findings(
    robot: Robot,
    standard: StandardParameters,
    cost: ConsistencyCost,
    lacking: Sequence[str],
    estimate: Estimate,
    prior: PriorCenter,
) -> Iterator[Finding]:
    """Yield what a user should know about the bodies of a model.

    ``robot``: as it was described. ``lacking``: links that would fit clearly better if they were free.
    """
    posterior = estimate.posterior
    if posterior is not None and prior in DESCRIBED and Family.LINK not in posterior.prior.families:
        statement = "the description has no inertias, so the prior of the links is flat"
        remedy = (
            "values that the motion does not determine are guesses from the geometry; add masses to the description"
        )
        yield Finding(FitFindingCode.PRIOR, Severity.NOTE, statement, remedy)
    if not standard.bodies.converged:
        statement = "the solver stopped before it found the most likely physically consistent bodies"
        remedy = "the bodies of the model file are consistent, but others may predict better; record richer motion"
        yield Finding(FitFindingCode.CONSISTENCY, Severity.WARNING, statement, remedy)
    if cost.is_high:
        yield _describe_cost(standard, cost, tuple(lacking))
    described, identified = _list_masses(robot, standard)
    yield from _find_unexpected_mass(described, identified, standard)
    yield from _find_unexpected_links(described, identified, standard)


def find_other_robot(
    base: BaseParameters, standard: StandardParameters, equations: NormalEquations, prior: Prior
) -> Iterator[Finding]:
    """Yield a warning if the log contradicts the described links as that of another robot would.

    The torques of the links change by what descriptions are usually off by, its standard deviation, if the robot is the
    described one; a description that is too heavy by a factor is off as much as one that is too light by it. Joints
    count by this deviation. The link that changes most does not count: it may have a load or gripper. Placeholders do
    not count: nobody expects them to be right. ``prior``: that of the description.
    """
    names = base.robot.parameter_names
    owners = np.array([name.rpartition(".")[0] for name in names])
    is_link = np.array([name.rpartition(".")[2] in LINK_PARAMETERS for name in names])
    placeholders = standard.fit.program.reference.placeholders
    links = set(owners[is_link]) - {base.robot.merged.links[0].name}
    if len(links & placeholders) > len(links - placeholders):
        return
    chosen = prior.belongs_to((Family.LINK,))
    scales = prior.compute_scales(np.array([each.mean for each in prior.hyper]))
    axes = np.zeros((len(names), int(chosen.sum())))
    axes[[names.index(name) for name in prior.names]] = prior.axes[:, chosen] * scales[chosen]
    described = np.where(is_link, base.robot.theta, 0.0)
    identified = np.where(is_link, standard.theta, 0.0)

    def compare(left_out: str) -> float:
        """The change in standard deviations, without the torques of a link."""
        kept = (owners != left_out)[:, None]
        values = base.K @ (np.column_stack([described, identified, identified - described, axes]) * kept)
        total = size = 0.0
        for joint in equations.joints:
            own = values[joint.columns]
            before, after, change, *squares = np.sum(own * (joint.gram @ own), axis=0).tolist()
            variance = sum(squares)
            if variance > 0.0 and after > 0.0:
                size += math.sqrt(variance)
                total += change / math.sqrt(variance) * max(1.0, before / after)
        return math.sqrt(total / size) if size > 0.0 else 0.0

    deviations = {link: compare(link) for link in sorted(links)}
    link = min(deviations, key=lambda name: deviations[name], default="")
    if not link or deviations[link] <= MAX_DESCRIPTION_DEVIATION:
        return
    statement = (
        "is this log of this robot? The torques of its links differ by "
        f"{_format_factor(deviations[link])} times what descriptions are usually off by, even without {link}"
    )
    remedy = (
        "compare robot, tool and mounting with the recording; if they are right, the masses of the description are "
        "not: say so with --prior none (prior='none')"
    )
    fields = {"deviations": deviations[link], "left_out": link}
    yield Finding(FitFindingCode.OTHER_ROBOT, Severity.WARNING, statement, remedy, fields=fields)


def _format_factor(value: float) -> str:
    """Return a factor with two digits and without exponents."""
    return f"{value:.2g}" if value < 99.5 else "100 or more"


def _describe_cost(standard: StandardParameters, cost: ConsistencyCost, names: tuple[str, ...]) -> Finding:
    estimate, bodies = cost.worst
    statement = (
        f"physical consistency costs {100.0 * (cost.ratio - 1.0):.0f} % of error ({estimate:.3g} % → {bodies:.3g} %)"
    )
    if names:
        statement += f", most of it at {', '.join(names)}: the description may lack something there"
        remedy = f"estimate a load there (add_load, --add-load {names[0]}), or declare the force that acts there"
    else:
        bounds = ", ".join(standard.bodies.active_bounds[:3])
        remedy = f"the constraints that cost it: {bounds}" if bounds else "inspect the residuals of the estimate"
    fields = {"links": list(names), "estimate_percent": cost.estimate_percent, "bodies_percent": cost.bodies_percent}
    return Finding(FitFindingCode.CONSISTENCY, Severity.WARNING, statement, remedy, names=names, fields=fields)


def _list_masses(robot: Robot, standard: StandardParameters) -> tuple[dict[str, float], dict[str, float]]:
    """Return the masses of the moving links, as described and as identified."""
    index = {name: k for k, name in enumerate(robot.parameter_names)}
    places = {link.name: index[parameter_name(link.name, "m")] for link in robot.merged.links[1:]}
    described, identified = (
        {name: float(theta[k]) for name, k in places.items()} for theta in (robot.theta, standard.theta)
    )
    return described, identified


def _find_unexpected_mass(
    described: Mapping[str, float], identified: Mapping[str, float], standard: StandardParameters
) -> Iterator[Finding]:
    """Yield a note if the bodies weigh much more or less than the description, with the links that do."""
    before, after = sum(described.values()), sum(identified.values())
    if not before > 0.0 or abs(after / before - 1.0) <= MAX_MASS_CHANGE:
        return
    link = max(described, key=lambda name: abs(identified[name] - described[name]))
    statement = (
        f"the bodies weigh {after:.3g} kg, the description {before:.3g} kg; most of the difference is at {link}, "
        f"{identified[link]:.3g} kg instead of {described[link]:.3g} kg: {_explain_mass(standard, link)}"
    )
    remedy = "if the total mass is known, give it (bounds, --total-mass)"
    fields = {"mass": after, "described_mass": before}
    yield Finding(FitFindingCode.MASS, Severity.NOTE, statement, remedy, names=(link,), fields=fields)


def _find_unexpected_links(
    described: Mapping[str, float], identified: Mapping[str, float], standard: StandardParameters
) -> Iterator[Finding]:
    """Yield a warning for each designed link whose mass is far from the described one, the furthest first.

    Placeholders are expected to be far away.
    """
    designed = [name for name in described if name not in standard.fit.program.reference.placeholders]
    smallest = np.finfo(float).tiny
    deviations = {name: abs(np.log(max(identified[name], smallest) / described[name])) for name in designed}
    far = [name for name in designed if deviations[name] >= MIN_MASS_DEVIATIONS * TYPICAL_SCALE]
    for link in sorted(far, key=lambda name: -deviations[name])[:MAX_LINKS_WITH_MASS]:
        is_heavier = identified[link] > described[link]
        statement = (
            f"{link} weighs {identified[link]:.3g} kg instead of the described {described[link]:.3g} kg, "
            f"{np.exp(deviations[link]):.2g} times {'more' if is_heavier else 'less'}: {_explain_mass(standard, link)}"
        )
        remedy = "check the described mass; if it is right, give it (bounds, --mass)"
        if is_heavier:
            remedy = f"if the description lacks a tool or a load there, estimate it (add_load, --add-load {link})"
        fields = {"mass": identified[link], "described_mass": described[link]}
        yield Finding(FitFindingCode.MASS, Severity.WARNING, statement, remedy, names=(link,), fields=fields)


def _explain_mass(standard: StandardParameters, link: str) -> str:
    return {
        Mark.DATA: "the motion determines this mass",
        Mark.SHARED: "motion and description determine it together",
        Mark.PRIOR: "the motion does not determine this mass",
    }[standard.marks.get(parameter_name(link, "m"), Mark.PRIOR)]
