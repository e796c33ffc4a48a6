"""Selections: which families a model has in any case, about which the data decide, and the equations of each."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ytheta as yt
from tests.support.driven_robots import coupled_robot
from tests.support.estimation_cases import smooth_motion
from tests.support.friction_robots import add_friction_laws
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.equations.model_equations import EquationSettings, ModelEquations
from ytheta.identification.equations.selection import ParameterSelection
from ytheta.identification.priors.prior import Family
from ytheta.logs.preparing.motion_sources import ArraySource

ARM = yt.load("lu-two-link").numeric
LAWS = (Family.ROOT, Family.LOAD)


@pytest.mark.parametrize(
    ("selection", "forced", "considered"),
    [
        (ParameterSelection(), (), (Family.ROTOR, *LAWS)),
        (ParameterSelection(rotor_inertia=True), (Family.ROTOR,), LAWS),
        (ParameterSelection(rotor_inertia=False), (), LAWS),
        (ParameterSelection(friction=("viscous",)), (), (Family.ROTOR,)),
        (ParameterSelection(friction=("viscous", "load"), rotor_inertia=True), (Family.ROTOR, Family.LOAD), ()),
        (ParameterSelection(friction=("root", "load")), LAWS, (Family.ROTOR,)),
        (ParameterSelection(parameters=("link*",)), (), ()),
    ],
)
def test_families(selection: ParameterSelection, forced: tuple[Family, ...], considered: tuple[Family, ...]) -> None:
    assert selection.forced == forced
    assert selection.list_considered(ARM, "differential") == considered


def test_laws_need_the_differential_form_and_drives_of_single_joints() -> None:
    assert ParameterSelection().list_considered(ARM, "integral") == (Family.ROTOR,)
    assert ParameterSelection().list_considered(coupled_robot(), "differential") == (Family.ROTOR, Family.ROOT)
    assert ParameterSelection().list_considered(yt.load("five-bar"), "differential") == (Family.ROTOR,)


def test_basic_friction_has_no_laws() -> None:
    assert ParameterSelection().basic_friction == ("viscous", "coulomb", "offset")
    assert ParameterSelection(friction=("root", "coulomb", "load")).basic_friction == ("coulomb",)


def make_equations(
    selection: ParameterSelection, considered: tuple[Family, ...], robot: yt.Robot = ARM
) -> ModelEquations:
    motion = smooth_motion(2, 100)
    source = ArraySource(replace(motion, tau=motion.q), 50.0)
    return ModelEquations(EquationSettings(robot, selection, considered, threads=1), (source,))


def list_symbols(equations: ModelEquations, families: tuple[Family, ...]) -> set[str]:
    return {name.rpartition(".")[2] for name in equations.find_parameters(families).selected if "joint" in name}


def test_parameters_of_models() -> None:
    equations = make_equations(ParameterSelection(), (Family.ROTOR, *LAWS))
    assert list_symbols(equations, ()) == {"fv", "fc", "fo"}
    assert list_symbols(equations, (Family.ROTOR, Family.LOAD)) == {"fv", "fc", "fo", "Ia", "fl"}
    assert equations.find_parameters((Family.ROTOR, Family.LOAD)) is equations.find_parameters(
        (Family.LOAD, Family.ROTOR)
    )
    problem = equations.make_problem((Family.ROOT,), None)
    assert problem.base is equations.find_parameters((Family.ROOT,))


def test_a_law_that_is_not_considered_stays_as_described() -> None:
    described = add_friction_laws(ARM)
    fixed = make_equations(
        ParameterSelection(friction=("viscous",), rotor_inertia=False), (), described
    ).find_parameters(())
    assert isinstance(fixed, BaseParameters)
    assert {drive.root for _, drive in fixed.robot.drives} == {drive.root for _, drive in described.drives}
    decided = make_equations(ParameterSelection(), LAWS, described).find_parameters(())
    assert {(drive.root, drive.load) for _, drive in decided.robot.drives} == {(None, None)}  # the twin
