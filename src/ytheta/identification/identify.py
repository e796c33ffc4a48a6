"""Identification of the base parameters of a robot from logs of its motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ytheta.arguments import check_kind, check_number, check_path, check_words
from ytheta.engine.local import limit_blas_threads
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.findings import attach_findings
from ytheta.identification.consistency.bounds import BodyBounds
from ytheta.identification.equations.friction import check_min_speed, is_auto
from ytheta.identification.equations.selection import (
    ParameterSelection,
    check_friction_laws,
    check_parameters,
    expand_friction,
)
from ytheta.identification.estimators.empirical_bayes import EmpiricalBayes
from ytheta.identification.estimators.estimator import ESTIMATORS, Estimator, get_estimator
from ytheta.identification.fit_findings import name_log
from ytheta.identification.model_file import find_earlier_model, read_identification_table, read_model
from ytheta.identification.priors.prior import PriorSettings, check_same_parts
from ytheta.identification.procedure import Request, run_identification
from ytheta.identification.result import Identification
from ytheta.logs.preparing.preparation import AUTO, PreparationSettings, merge_settings
from ytheta.logs.reading.read import GainInput, LogReadingOptions, RowsInput
from ytheta.logs.reading.read_logs import LogInputs, MappingInputs, read_logs
from ytheta.robot.inertia import Inertia
from ytheta.robot.parameters import check_inertias_are_complete, declare_zero, list_incomplete_links
from ytheta.robot.parts import parameter_name
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import PerJoint


@limit_blas_threads()
def identify(
    robot: Robot,
    logs: LogInputs,
    *,
    validate: LogInputs | None = None,
    hold_out: float | None = None,
    mapping: MappingInputs = None,
    degrees: bool = False,
    rows: RowsInput = None,
    rate: float | None = None,
    gain: GainInput = None,
    topic: str | None = None,
    estimator: str | Estimator = "auto",
    forgetting: float | None = None,
    one_by_one: bool = False,
    form: str = "differential",
    friction: Sequence[str] | None = None,
    rotor_inertia: bool | None = None,
    parameters: Sequence[str] | None = None,
    zero: Sequence[str] | None = None,
    unknown_geometry: bool = False,
    prior: PriorInput = None,
    prior_strength: float | None = None,
    bounds: BodyBounds | None = None,
    add_load: Sequence[str] = (),
    window: float | None = None,
    cutoff: float | str | None = None,
    derivative: str | None = None,
    velocity: str | None = None,
    average_periods: float | str | None = None,
    settings: PreparationSettings | None = None,
    report_cutoff: float | None = None,
    min_speed: float | Sequence[float] | PerJoint | str | None = AUTO,
    threads: int | None = None,
    strict: bool = False,
    report_stage: Callable[[str], None] | None = None,
) -> Identification:
    """Identify the base parameters of a robot from measured motion.

    If a length or an angle of the robot has no value, the parameters of its regrouped Lagrangian are identified
    instead, which need no geometry.

    Parameters
    ----------
    robot          a robot whose description contains at least geometry and gravity; symbolic lengths and angles may
                   be unknown
    logs           one log with torques or a list of logs, to which the model is fitted: files, DataFrames of pandas or
                   Polars, dicts of arrays, or Logs; ``read_log`` describes them
    validate       logs of other motion, on which the errors of the model are computed; None for no validation
    hold_out       percentage at the end of a single log that is not used for the fit, but for the validation
    mapping        the meaning of the columns, as for ``read_log``: one mapping for all logs, or a list with one for
                   each, validation logs last
    degrees, rate, gain, topic
                   how all logs are read, as for ``read_log``
    rows           which rows of the logs of the fit are read, as for ``read_log``; those of validation logs are chosen
                   in their mappings
    estimator      "auto" or "evidence": the description is a prior whose strength the data choose; without prior:
                   "weighted", "least-squares", "sequential", "huber", "recursive", "lin", "instrumental-variables" or
                   "total-least-squares"; or an estimator
    forgetting     forgetting factor per sample of the estimators "recursive" and "sequential", such as 0.999
    one_by_one     whether the estimators "sequential" and "lin" keep their estimate, joint by joint, if its errors grow
                   from joint to joint; a finding says how they grow. By default, all joints are then estimated together
    form           equation form: "differential", or without accelerations "integral", "cumulative" or "momentum"
    friction       kinds of friction to estimate: "viscous", "coulomb", "offset", "asymmetric" (coulomb and offset),
                   "root" (root of the speed), "load" (in proportion to the load), and "smooth" if the data are to
                   choose how gradually Coulomb friction changes its sign. By default viscous, coulomb, offset and
                   smooth; and with "auto" also root and load if the data speak for them
    rotor_inertia  whether to estimate the rotor inertias of the drives; by default the data decide with "auto", and
                   they are not estimated with estimators without prior
    parameters     names or patterns, such as "*.fv", of the standard parameters to estimate. They replace ``friction``
                   and ``rotor_inertia``; all other parameters keep the values of the description
    zero           names or patterns, such as "link3.mx", of link parameters that are zero by symmetry; the model has
                   them as zeros
    unknown_geometry
                   whether all symbolic lengths and angles count as unknown, even if they have values
    prior          what the prior is centred on instead of the description: a robot, or the file of a robot or of an
                   identified model, whose covariance is used too; or "none" for no prior
    prior_strength inverse of the relative deviation that is expected of the description, such as 5 for 20 %; None lets
                   the data choose
    bounds         bounds of masses and centres of mass of the bodies in the model
    add_load       names of links that carry something that the description lacks: each gets a load whose ten parameters
                   are estimated
    window         length in seconds of the windows of the integral form, or between the ends of the integrals of the
                   cumulative form; None for the default of the form
    cutoff         cut-off of the low-pass in Hz, the same for all logs; "auto", the default, chooses it for each log
    derivative     how positions are differentiated: "central", the default, or "spline"
    velocity       "recorded", "position" (differentiated), or "auto", the default: for every joint of each log the one
                   with the smaller expected error
    average_periods
                   length of one period of a periodic motion in seconds, or "auto" to detect it: its periods are
                   averaged before the fit. None does not average
    settings       all settings of the preparation, in place of the four arguments above; None for the default settings
    report_cutoff  cut-off in Hz at which errors are computed in addition, to compare them with those of other tools
    min_speed      which equations are left out of fit and errors because stiction dominates them. "auto", the default:
                   those of a joint with Coulomb friction while it rests, by a rule that follows from the log; or a
                   speed for all joints or one for each, in rad/s or m/s: those of a joint while it is slower. 0 or
                   None: none
    threads        number of threads; None uses all cores
    strict         refuse logs with findings more serious than a note
    report_stage   called with the name of each stage when it starts; None reports nothing
    """
    check_is_robot(robot)
    report = report_stage or (lambda _: None)
    robot = declare_zero(with_unknown_loads(robot, add_load), zero)
    check_bodies_exist(robot, is_known=not (unknown_geometry or robot.unset_symbols))
    names = check_parameters(parameters, friction, rotor_inertia=rotor_inertia)
    kinds = None if friction is None else expand_friction(friction)
    check_friction_laws(robot, kinds or ())
    settings_of_prior = read_prior(robot, prior, prior_strength)
    if (unknown_geometry or robot.unset_symbols) and (prior, prior_strength) != (None, None):
        raise InputError("without geometry there is no prior of the links; remove prior and prior_strength")
    method = with_prior(
        choose_estimator(estimator, forgetting, one_by_one=one_by_one),
        settings_of_prior,
        given=(prior, prior_strength) != (None, None),
    )
    speeds = check_min_speed(robot, min_speed)
    preparation = merge_settings(
        settings, cutoff=cutoff, derivative=derivative, velocity=velocity, average_periods=average_periods
    )
    report("reading the logs")
    options = LogReadingOptions(degrees=degrees, rows=rows, rate=rate, gain=gain, topic=topic)
    fit_logs, validation_logs = read_logs(
        robot, logs, validate, mapping=mapping, options=options, hold_out=hold_out, strict=strict
    )
    if not fit_logs:
        raise InputError("there is no log to identify from")
    selection = ParameterSelection.of(kinds, rotor_inertia, names, unknown_geometry=unknown_geometry)
    if settings_of_prior.earlier is not None and not selection.parameters:
        selection = selection.adopt(settings_of_prior.earlier.base)
    request = Request(
        robot=robot,
        fit_logs=tuple(fit_logs),
        validation_logs=tuple(validation_logs),
        estimator=method,
        form=form,
        selection=selection,
        prior=settings_of_prior,
        bounds=bounds or BodyBounds(),
        window=window,
        settings=preparation,
        report_cutoff=report_cutoff,
        min_speed=speeds,
        leaves_out_rest=is_auto(min_speed),
        threads=threads,
    )
    all_logs = (*fit_logs, *validation_logs)
    with attach_findings(finding for log in all_logs for finding in name_log(log.findings, log, all_logs)):
        return run_identification(request, report)


# The argument ``prior`` of ``identify``: none, a robot, or the file of a robot or of an earlier model.


NO_PRIOR = "none"
PriorInput = str | Path | Robot | None


def read_prior(robot: Robot, prior: PriorInput, strength: float | None) -> PriorSettings:
    """Return the settings of the prior; ``prior``: "none", a robot, a name in the catalog, or the path of a file."""
    if prior is None:
        # Nothing is expected of links that are described incompletely, unless the user asks for it.
        return PriorSettings(flat=strength is None and bool(list_incomplete_links(robot)), strength=strength)
    if isinstance(prior, str) and prior == NO_PRIOR:
        return PriorSettings(flat=True, strength=strength)
    if isinstance(prior, Robot):
        check_same_parts(robot, prior)
        check_inertias_are_complete(prior, "a prior")
        return PriorSettings(description=prior, strength=strength, source=prior.name)
    path = check_path(prior, "the prior")
    described = load(prior)  # a path or a name in the catalog
    if described.inertias_unknown:
        raise InputError(f"{path} was identified with unknown geometry and has no inertias; give another prior")
    check_same_parts(robot, described)
    check_inertias_are_complete(described, "a prior")
    if read_identification_table(path) is None:
        return PriorSettings(description=described, strength=strength, source=str(path))
    if strength is not None:
        raise InputError(
            f"{path} has a covariance of its own, which is the strength of the prior; remove prior_strength"
        )
    return PriorSettings(earlier=find_earlier_model(read_model(path)), source=str(path))


def choose_estimator(estimator: str | Estimator, forgetting: float | None, *, one_by_one: bool = False) -> Estimator:
    """Return the estimator; ``forgetting`` replaces the forgetting factor of a recursive estimator.

    ``one_by_one``: whether an estimator that solves for one joint after the other keeps its estimate in any case.
    """
    method = get_estimator(estimator) if isinstance(estimator, str) else estimator
    check_kind("estimator", method, Estimator, f"an estimator or a name: auto, {', '.join(ESTIMATORS)}")
    if forgetting is None and not one_by_one:
        return method
    # Imported here, since they are rarely needed.
    from ytheta.identification.estimators.lin import Lin
    from ytheta.identification.estimators.recursive import Recursive
    from ytheta.identification.estimators.sequential import Sequential

    if one_by_one:
        if not isinstance(method, Sequential | Lin):
            raise InputError(
                f'one_by_one needs the estimator "sequential" or "lin"; "{method.name}" solves for all joints together'
            )
        method = replace(method, one_by_one=True)
    if forgetting is None:
        return method
    check_number("forgetting", forgetting, "a factor per sample, such as 0.999")
    if not isinstance(method, Recursive | Sequential):
        raise InputError(
            f'forgetting needs the estimator "recursive" or "sequential"; "{method.name}" has no forgetting factor'
        )
    return replace(method, forgetting=forgetting)


def with_prior(method: Estimator, settings: PriorSettings, *, given: bool) -> Estimator:
    """Return the estimator with these settings of its prior; ``given``: whether the user asked for a prior."""
    if isinstance(method, EmpiricalBayes):
        return replace(method, prior=settings)
    if given:
        raise InputError(f'prior and prior_strength need the estimator "evidence"; "{method.name}" has no prior')
    return method


def check_bodies_exist(robot: Robot, *, is_known: bool) -> None:
    """Raise InputError if a mass or a moment of inertia is declared zero, and the bodies must be physically consistent.

    ``is_known``: whether the geometry is known; without it, no bodies are computed.
    """
    for link in robot.links if is_known else ():
        for name in ("m", "Ixx", "Iyy", "Izz"):
            if name in link.zero:
                raise InputError(
                    f"{parameter_name(link.name, name)!r} is declared zero, but no rigid body has such a "
                    f"{'mass' if name == 'm' else 'moment of inertia'}; leave it out: parameters without effect are "
                    "not estimated anyway"
                )


def with_unknown_loads(robot: Robot, links: Sequence[str]) -> Robot:
    """Return the robot with a load of unknown inertia on each of these links."""
    for link in dict.fromkeys(check_words("add_load", links, "names of links", ("link3",))):
        if link not in {each.name for each in robot.links}:
            raise UnknownNameError(
                f"robot {robot.name!r} has no link {link!r}{suggest_names(link, [each.name for each in robot.links])}"
            )
        robot = robot.with_load(Inertia(), name=f"{link}_load", on=link)
    return robot
