"""The header of exported C code: names, units and the numbers of operations."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ytheta as yt
from ytheta.exporting.c.definitions import describe_operations
from ytheta.exporting.c.header import find_unit
from ytheta.exporting.functions import RobotFunctions
from ytheta.native.graph import count_operations


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("header") / "arm"
    options = yt.COptions(name="arm", controllers=("pd-gravity",))
    yt.export("ha-scara", to="c", path=path, options=options)
    return (path / "arm.h").read_text(encoding="ascii")


def find_operations(header: str) -> dict[str, str]:
    """Return the operations in the comment before the prototype of every function."""
    found = re.findall(r"(operations: [^*]*?)\.? \*/\n(?:void|int) arm_(\w+)\(", header)
    return {name: operations.split(", and ")[0] for operations, name in found}


def test_the_operations_are_those_counted(text: str) -> None:
    counted = {
        each.name: describe_operations(count_operations(each.graph))
        for each in RobotFunctions(yt.load("ha-scara")).functions
    }
    counted["observer_step"] = counted.pop("momentum_observer")
    stated = find_operations(text)
    assert {name: stated[name] for name in counted} == counted
    assert "pd_gravity_step" in stated
    assert "multiplications" in counted["inverse_dynamics"]
    assert len(set(counted.values())) > 4


def test_joints_and_parameters_have_names_and_units(text: str) -> None:
    robot = yt.load("ha-scara")
    assert "#define ARM_JOINTS 4" in text
    for k, name in enumerate(robot.actuated):
        unit = "m" if name in robot.prismatic_joints else "rad"
        assert f"ARM_JOINT_{name.upper()} = {k}{',' if k < 3 else ''} /* {name}, {unit} */" in text
    base = RobotFunctions(robot).base
    assert text.count("ARM_BETA_") == len(base)
    for name in base.independent:
        constant = re.escape("ARM_BETA_" + name.upper().replace(".", "_"))
        assert re.search(rf"{constant} = \d+,? /\* {re.escape(find_unit(name, robot))}: ", text)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("link1.m", "kg"),
        ("link1.mx", "kg m"),
        ("link1.Ixy", "kg m^2"),
        ("joint1.Ia", "kg m^2"),
        ("joint3.Ia", "kg"),
        ("joint1.fv", "N m s/rad"),
        ("joint3.fv", "N s/m"),
        ("joint1.fc", "N m"),
        ("joint3.fo", "N"),
        ("spring.k", "unit of the declared force"),
    ],
)
def test_units(name: str, unit: str) -> None:
    robot = yt.load("stanford")  # its third joint is prismatic
    assert robot.prismatic_joints == {"joint3"}
    assert find_unit(name, robot) == unit


def test_the_header_says_what_it_needs(text: str) -> None:
    assert "Needs no library." in text
    assert 'extern "C"' in text
    assert "typedef struct" in text
