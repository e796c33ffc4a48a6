"""Standard parameters: selection by kind and name, units, and replacement of values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ytheta.errors import InputError, UnknownNameError
from ytheta.robot.parameters import (
    is_dissipative,
    length_exponents,
    match_parameters,
    select_parameters,
    with_parameters,
    with_theta,
)
from ytheta.robot.parts import Drive
from ytheta.robot.reading.load import load

ARM = load("stanford")  # joint 3 is prismatic


def list_kinds(names: tuple[str, ...]) -> set[str]:
    return {name.rpartition(".")[2] for name in names}


def test_parameters_are_selected_by_kind() -> None:
    links = select_parameters(ARM, rotor_inertia=False)
    assert links == ARM.parameter_names[:60]
    assert list_kinds(select_parameters(ARM, rotor_inertia=True)) == list_kinds(links) | {"Ia"}
    with_friction = select_parameters(ARM, rotor_inertia=False, friction=("viscous", "offset"))
    assert list_kinds(with_friction) == list_kinds(links) | {"fv", "fo"}
    assert list(with_friction) == [name for name in ARM.parameter_names if name in with_friction]


def test_parameters_are_selected_by_name_and_pattern() -> None:
    names = match_parameters(ARM, ["joint2.f?", "link1.m"])
    assert names == ("link1.m", "joint2.fv", "joint2.fc", "joint2.fo")
    with pytest.raises(UnknownNameError, match=r"has no parameter 'joint2\.fx'; did you mean"):
        match_parameters(ARM, ["link1.m", "joint2.fx"])


def test_viscous_and_coulomb_friction_are_dissipative() -> None:
    names = ("joint1.fv", "joint1.fc", "joint1.fo", "joint1.Ia", "link1.m", "spring.k")
    assert [is_dissipative(name) for name in names] == [True, True, False, False, False, False]


def test_length_exponents_are_those_of_the_units() -> None:
    exponents = dict(zip(ARM.parameter_names, length_exponents(ARM).tolist(), strict=True))
    assert ARM.prismatic_joints == {"joint3"}
    assert [exponents[f"link1.{kind}"] for kind in ("m", "my", "Ixx", "Iyz")] == [0.0, 1.0, 2.0, 2.0]
    assert (exponents["joint2.Ia"], exponents["joint3.Ia"]) == (2.0, 0.0)


def test_drives_are_changed_by_name() -> None:
    def change(name: str, drive: Drive) -> Drive:
        return replace(drive, viscous=2.0) if name == "joint2" else drive

    changed = ARM.with_drives(change)
    assert changed.joint("joint2").drive.viscous == 2.0
    assert changed.joint("joint1") == ARM.joint("joint1")
    looped = load("five-bar").with_drives(lambda _, drive: replace(drive, coulomb=3.0))
    assert {drive.coulomb for _, drive in looped.drives} == {3.0}
    assert len(looped.drives) > len(looped.movable)  # the cut joint is included


def test_other_values() -> None:
    theta = np.arange(1.0, 1.0 + len(ARM.parameter_names))
    np.testing.assert_allclose(with_theta(ARM, theta).theta, theta, rtol=1e-15)
    with pytest.raises(InputError, match="theta must be 84 finite numbers"):
        with_theta(ARM, theta[1:])
    changed = with_parameters(ARM, {"link2.m": 7.0})
    assert [name for name, a, b in zip(ARM.parameter_names, changed.theta, ARM.theta, strict=True) if a != b] == [
        "link2.m"
    ]
    with pytest.raises(UnknownNameError, match=r"has no parameter 'load.m'.*robot\.with_load"):
        with_parameters(ARM, {"load.m": 1.0})
