"""Identification from recorded logs, against published errors and published parameters."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ytheta
from tests.support.vendor_robots import KR300, MTM, TX40
from ytheta.identification.identify import identify
from ytheta.identification.result import Identification
from ytheta.logs.log import Log
from ytheta.logs.preparing.preparation import PreparationSettings
from ytheta.logs.reading.read import read_log
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.robot.robot import Robot

# Speeds in rad/s below which the publishers of the TX40's log leave out equations.
TX40_MIN_SPEED = (0.0501, 0.0501, 0.0750, 0.0716, 0.0559, 0.1222)
TWIN_AT_REST: dict[str, Any] = {"min_speed": 0.0}
# Torque of the cable at joint 4 of the MTM, which the publishers measured separately: a known force.
CABLE = """
[[force]]
name = "cable"
value = 1.0
[force.torque]
joint_4 = "odd + even"
[force.where]
x = "joint_4"
odd = "0.0004877*x**7 + 0.0067497*x**5 - 0.0201475*x**3 + 0.048095*x"
even = "-0.0037149*x**6 + 0.008519*x**4 - 0.025265*x**2 + 0.00255"
"""


@dataclass(frozen=True)
class Case:
    """A recorded robot, its logs for the fit and for validation, and the published validation error in percent."""

    folder: str
    model: str
    fit: str
    validation: str
    published_error: float
    extension: str = ""
    fit_rows: tuple[int, int] | None = None
    validation_rows: tuple[int, int] | None = None
    split: float | None = None
    options: dict[str, Any] = field(default_factory=dict)
    base_count: int = 0  # without the friction laws that the data choose

    def robot(self, data: Path, scratch: Path) -> Robot:
        if not (data / self.folder).is_dir():
            pytest.skip(f"the recorded log {self.folder} is not in the shared data folder")
        if not self.extension:
            return ytheta.load(data / self.folder / self.model)
        shutil.copy(data / self.folder / self.model, scratch)
        (scratch / "extended.toml").write_text(self.extension)
        return ytheta.load(scratch / "extended.toml")

    def logs(self, data: Path, robot: Robot) -> tuple[Log, Log]:
        fit = _read_rows(data / self.folder / self.fit, robot, self.fit_rows)
        if self.split is not None:
            return fit.select_times(-np.inf, self.split), fit.select_times(self.split, np.inf)
        return fit, _read_rows(data / self.folder / self.validation, robot, self.validation_rows)


def _read_rows(path: Path, robot: Robot, rows: tuple[int, int] | None) -> Log:
    return read_log(path, robot, mapping={"rows": list(rows)} if rows else None)


CASES = {
    "tx40": Case(
        "tx40",
        "tx40.urdf",
        "tx40_joint.parquet",
        "",
        7.3,
        extension=TX40,
        split=5.4,
        options={"rotor_inertia": True, "min_speed": TX40_MIN_SPEED},
        base_count=61,
    ),
    "lwr4": Case("lwr4", "lwr4.urdf", "lwr4_run1.parquet", "lwr4_run2.parquet", 2.1, base_count=64),
    "panda": Case("panda", "panda_arm.urdf", "panda_gaz2019.parquet", "", 1.3, split=12.6, base_count=64),
    "ur10e": Case(
        "ur10e",
        "ur10e.urdf",
        "ur10e_train_30s_12harm.parquet",
        "ur10e_ptp10.parquet",
        4.8,
        fit_rows=(634, 3510),
        validation_rows=(699, 4200),
        options={"rotor_inertia": True},
        base_count=58,
    ),
    "ur10e faster": Case(
        "ur10e",
        "ur10e.urdf",
        "ur10e_train_30s_12harm.parquet",
        "ur10e_20s_8harm.parquet",
        6.4,
        fit_rows=(634, 3510),
        validation_rows=(319, 2310),
        options={"rotor_inertia": True},
        base_count=58,
    ),
    "mtm": Case(
        "dvrk_mtm",
        "mtm_tree.urdf",
        "mtm_train_one.parquet",
        "mtm_test_two.parquet",
        10.8,
        extension=MTM + CABLE,
        options={"parameters": ("link_*", "*.fv", "*.fc", "*.fo", "motor_4.Ia", "spring.k")},
        base_count=73,
    ),
    "kr300": Case(
        "kr300",
        "kr300.urdf",
        "kr300_run_a.parquet",
        "kr300_run_b.parquet",
        42.0,
        extension=KR300,
        options={"rotor_inertia": True},
        base_count=59,
    ),
}


@dataclass(frozen=True)
class Reference:
    """Bounds of validation errors in percent, at the reference cut-off in Hz and at the automatic cut-off."""

    cutoff: float
    max_error: float
    error_without_prior: float


# The cut-offs are those of ``benchmarks/recorded_logs.py``, which says where they come from.
REFERENCES = {
    "tx40": Reference(50.0, 6.8, 6.80),
    "lwr4": Reference(5.0, 2.25, 1.80),
    "panda": Reference(10.0, 1.3, 1.10),
    "ur10e": Reference(8.0, 3.6, 4.29),
    "ur10e faster": Reference(8.0, 3.7, 5.12),
    "mtm": Reference(5.65, 9.9, 9.67),
    "kr300": Reference(5.0, 15.5, 33.1),
}
FRICTION_LAWS = tuple(f".{FRICTION_PARAMETERS[kind]}" for kind in ("root", "load"))


# Published errors are those of estimates that need not be bodies. The model consists of bodies, which costs error if
# the description lacks something, as for the LWR4+, where the condition to be a body is active at five to seven links.
# No other width of the prior (2.11 to 2.30 %) and no other weights of the joints (2.13 to 2.22 %) bring its bodies to
# 1.8 %. A torque that depends on the position of the joint, such as of cables, may be why: with a declared force
# sin(q) and one cos(q) at every joint, bodies have 1.84 % (LWR4+) and 1.05 % (Panda).
def mark_missed(errors: Mapping[str, str]) -> list[Any]:
    """Return the names of all cases; those in ``errors`` miss their bound, with the errors that are given."""
    return [
        pytest.param(
            name,
            marks=pytest.mark.xfail(strict=True, raises=AssertionError, reason=f"the error is {errors[name]}"),
        )
        if name in errors
        else name
        for name in REFERENCES
    ]


@pytest.mark.parametrize("name", CASES)
def test_errors_of_the_free_estimate_are_below_the_published_ones(name: str, shared_data: Path, tmp_path: Path) -> None:
    case = CASES[name]
    robot = case.robot(shared_data, tmp_path)
    fit, validation = case.logs(shared_data, robot)
    cost = identify(robot, fit, validate=validation, **case.options).consistency_cost
    assert cost is not None
    assert cost.validation_estimate_percent is not None
    assert cost.validation_estimate_percent <= case.published_error


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=pytest.mark.xfail(strict=True, raises=AssertionError, reason="the error is 2.21 %, at most 2.1 %")
            if name == "lwr4"
            else (),
        )
        for name in CASES
    ],
)
def test_validation_errors_are_below_the_published_ones(name: str, shared_data: Path, tmp_path: Path) -> None:
    """All preparation settings are chosen automatically from the log."""
    case = CASES[name]
    robot = case.robot(shared_data, tmp_path)
    fit, validation = case.logs(shared_data, robot)
    identification = identify(robot, fit, validate=validation, **case.options)
    assert identification.validation is not None
    laws = [name for name in identification.base.independent if name.endswith(FRICTION_LAWS)]
    assert len(identification.base) - len(laws) == case.base_count
    assert identification.validation.relative_percent <= case.published_error
    assert identification.fit.relative_percent < identification.validation.relative_percent


# Strict: the marks must go as soon as the bounds are met.
@pytest.mark.parametrize(
    "name", mark_missed({"lwr4": "2.29 % instead of at most 2.25 %", "panda": "1.35 % instead of at most 1.3 %"})
)
def test_errors_with_default_options_at_reference_cutoffs(name: str, shared_data: Path, tmp_path: Path) -> None:
    """With default options, the data choose rotor inertias and friction laws; the model file contains bodies."""
    reference = REFERENCES[name]
    identification = _identify_by_default(name, shared_data, tmp_path, cutoff=reference.cutoff)
    assert identification.consistent is True
    assert identification.validation is not None
    assert identification.validation.relative_percent <= reference.max_error


@pytest.mark.parametrize(
    "name", mark_missed({"lwr4": "2.21 % instead of at most 1.8 %", "panda": "1.16 % instead of at most 1.1 %"})
)
def test_errors_with_default_options_are_below_those_without_prior(
    name: str, shared_data: Path, tmp_path: Path
) -> None:
    """The cut-off is chosen from the log. The bounds are errors of ``weighted`` with suitable rotor inertias."""
    identification = _identify_by_default(name, shared_data, tmp_path)
    assert identification.consistent is True
    assert identification.validation is not None
    assert identification.validation.relative_percent <= REFERENCES[name].error_without_prior


def _identify_by_default(name: str, data: Path, scratch: Path, *, cutoff: float | None = None) -> Identification:
    case = CASES[name]
    robot = case.robot(data, scratch)
    fit, validation = case.logs(data, robot)
    return identify(robot, fit, validate=validation, cutoff=cutoff, min_speed=case.options.get("min_speed"))


@pytest.mark.parametrize("validation", ["ur10e_ptp10", "ur10e_20s_8harm"])
def test_rests_and_approaches_need_not_be_cut_off(validation: str, shared_data: Path) -> None:
    """UR10e, logs as recorded, default options: at most 4.5 %. The twin uses the equations of joints at rest."""
    folder = shared_data / "ur10e"
    if not folder.exists():
        pytest.skip("the recorded log ur10e is not in the shared data folder")
    robot = ytheta.load(folder / "ur10e.urdf")
    logs = [folder / f"{name}.parquet" for name in ("ur10e_train_30s_12harm", validation)]
    errors, twin = (identify(robot, logs[0], validate=logs[1], **options).validation for options in ({}, TWIN_AT_REST))
    assert errors is not None
    assert twin is not None
    assert errors.relative_percent < 4.5 < twin.relative_percent


def test_torques_of_other_joints_give_a_useless_model(shared_data: Path, tmp_path: Path) -> None:
    """The twin of the validation errors: torques are assigned to joints in reverse order."""
    case = CASES["lwr4"]
    robot = case.robot(shared_data, tmp_path)
    fit, validation = case.logs(shared_data, robot)
    assert fit.tau is not None
    wrong = Log(fit.joints, fit.t, fit.q, fit.tau[:, ::-1].copy(), fit.qd, fit.segments)
    mixed = identify(robot, wrong, validate=validation)
    assert mixed.validation is not None
    assert mixed.validation.relative_percent > 20.0 * case.published_error


def test_published_parameters_of_the_tx40(shared_data: Path, tmp_path: Path) -> None:
    """Sixty base parameters agree with those of another program to within three of its standard deviations.

    A repetition of that program's procedure agrees to within 2.3 standard deviations (README of the data). Here the
    low-pass is at 20 Hz, which corresponds to the decimation to 50 Hz in that procedure.
    """
    case = CASES["tx40"]
    robot = case.robot(shared_data, tmp_path)
    parameters = [name for name in robot.parameter_names if name != "joint_6.Ia"]
    log = read_log(shared_data / "tx40" / "tx40_joint.parquet", robot)
    identification = identify(
        robot,
        log,
        parameters=parameters,
        min_speed=TX40_MIN_SPEED,
        estimator="least-squares",
        settings=PreparationSettings(cutoff=20.0),
    )
    # The published values are those of least squares, which need not be those of bodies.
    values = dict(zip(identification.base.independent, identification.estimate.beta.tolist(), strict=True))
    # In the published model, joints 5 and 6 include the parameters of motor 6, which has only the remaining ones.
    for kind in ("Ia", "fv"):
        values[f"joint_5.{kind}"] += values[f"motor_6.{kind}"]
    values["joint_6.fv"] += values["motor_6.fv"]
    lines = list(csv.DictReader((shared_data / "tx40" / "figaroh_base_parameters.csv").read_text().splitlines()))
    assert len(lines) == len(values) == 60
    deviations = {}
    for line in lines:
        value, percent = float(line["ols_value"]), float(line["ols_rel_sigma_pct"])
        our_value = values[_to_our_name(line["base_parameter"].split()[0])]
        deviations[line["base_parameter"].split()[0]] = (our_value - value) / abs(value * percent / 100.0)
    assert max(abs(each) for each in deviations.values()) < 3.0, deviations
    assert np.mean([abs(each) < 1.0 for each in deviations.values()]) > 0.8
    shifted = list(deviations)[1:] + list(deviations)[:1]  # the twin: values compared with those of other parameters
    by_name = {line["base_parameter"].split()[0]: line for line in lines}
    mismatches = [
        abs(values[_to_our_name(name)] - float(by_name[other]["ols_value"]))
        / abs(float(by_name[other]["ols_value"]) * float(by_name[other]["ols_rel_sigma_pct"]) / 100.0)
        for name, other in zip(deviations, shifted, strict=True)
    ]
    assert max(mismatches) > 30.0


def _to_our_name(published: str) -> str:
    kind, number = published[:-1], published[-1]
    if kind in ("Iam", "fvm", "fsm"):
        return f"motor_6.{ {'Iam': 'Ia', 'fvm': 'fv', 'fsm': 'fc'}[kind] }"
    if kind in ("Ia", "fv", "fs", "off"):
        return f"joint_{number}.{ {'fs': 'fc', 'off': 'fo'}.get(kind, kind) }"
    return f"link_{number}.{kind}"
