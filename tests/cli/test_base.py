"""``ytheta base`` as its user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import refused, ytheta
from tests.support.paths import ROOT
from tests.support.vendor_urdfs import gen3


def data(*arguments: str) -> dict[str, object]:
    result = ytheta("base", *arguments, "--json")
    assert result.returncode == 0, result.stderr
    answer: dict[str, object] = json.loads(result.stdout)
    return answer


def test_json() -> None:
    answer = data("rx90")
    assert (answer["count"], answer["method"], answer["standard_parameters"]) == (36, "lin", 60)
    parameters = answer["parameters"]
    assert isinstance(parameters, list)
    assert {"name": "link6.Ixx*", "expression": "link6.Ixx - link6.Iyy", "value": 0.0} in parameters
    assert set(answer["verdicts"].values()) == {"known alone", "only in combination", "no effect"}  # type: ignore[attr-defined]
    assert data("rx90", "--rotor-inertia")["count"] == 40


@pytest.mark.parametrize(("method", "gap"), [("qr", True), ("lin", False)])
def test_the_method_is_the_users_choice(method: str, gap: bool) -> None:
    answer = data("stanford", "--method", method)
    assert (answer["count"], answer["method"], answer["gap"] is not None) == (33, method, gap)


def test_friction() -> None:
    answer = data("lu-two-link", "--friction", "viscous, coulomb")
    assert (answer["count"], answer["method"]) == (6 + 4, "qr")


def test_the_table_is_for_people() -> None:
    result = ytheta("base", "lu-two-link")
    assert result.returncode == 0
    assert "base parameter" in result.stdout
    last = result.stdout.splitlines()[-1]
    assert last.startswith("lu-two-link: 6 base parameters of 30 standard ones (method lin")
    assert "no effect: " in result.stdout


def test_the_combinations_of_theorem_2() -> None:
    """In the table with --verbose, in the JSON object always; other methods have none."""
    result = ytheta("base", "stanford", "--verbose")
    assert "Theorem 2 of Lin 1995" in result.stdout
    assert "link2.U11-U22" in result.stdout
    assert "U11-U22" not in ytheta("base", "stanford").stdout
    combinations = data("stanford")["combinations"]
    assert isinstance(combinations, list)
    row = next(row for row in combinations if row["name"] == "link3.m")
    assert (row["item"], row["expression"]) == (3, "link3.m + link4.m + link5.m + link6.m")
    assert row["value"] == pytest.approx(4.25 + 1.08 + 0.63 + 0.51)
    assert data("stanford", "--method", "qr")["combinations"] == []


def test_symbolic_lengths_stay_symbols(tmp_path: Path) -> None:
    file = tmp_path / "arm.toml"
    text = (ROOT / "src/ytheta/robot/catalog/ha-scara.toml").read_text()
    file.write_text(text.replace("\na1 = 0.5\n", '\na1 = "unset"\n'))
    for robot in ("ha-scara", str(file)):
        rows = data(robot)["parameters"]
        assert isinstance(rows, list)
        assert any("a1^2·link2.m" in row["expression"] for row in rows)
        assert (rows[0]["value"] is None) == (robot == str(file))


def test_an_unclear_rank_is_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(gen3().replace("3.1416", "3.14157"))
    result = ytheta("base", str(file), "--snap", "0", "--method", "qr")
    assert result.returncode == 0
    assert "warning: the number of base parameters is not certain" in result.stderr
    clear = ytheta("base", "panda", "--method", "qr")
    assert "not certain" not in clear.stderr


def test_bad_input(tmp_path: Path) -> None:
    assert "there is no method 'svd'" in refused("base", "ur10", "--method", "svd")
    assert "did you mean 'viscous'" in refused("base", "ur10", "--friction", "viscos")
    assert "qr" in refused("base", "five-bar", "--method", "lin")
    assert "qr" in refused("base", "five-bar", "--method", "ha")
    block = tmp_path / "block.toml"
    block.write_text('format = 1\nname = "block"\n[[link]]\nname = "base"\n')
    assert "no moving joint" in refused("base", str(block))


def test_a_selection_of_parameters() -> None:
    answer = data("lu-two-link", "--parameters", "link2.m, *.fv")
    assert (answer["count"], answer["method"], answer["standard_parameters"]) == (3, "qr", 3)
    assert refused("base", "lu-two-link", "--parameters", "link9.*").startswith(
        "error: robot 'lu-two-link' has no parameter 'link9.*'"
    )
    assert data("lu-two-link", "--friction", "none")["count"] == 6


def test_unknown_lengths(tmp_path: Path) -> None:
    """Method ha prints the regrouped Lagrangian if lengths have no values, or if they are treated as unknown."""
    answer = data("ha-scara", "--method", "ha", "--unknown-geometry")
    assert (answer["count"], answer["method"], answer["unknown_lengths"]) == (10, "ha", ["a1", "a2"])
    parameters = answer["parameters"]
    assert isinstance(parameters, list)
    assert parameters[4] == {
        "name": "joint3.X1", "expression": "link3.m + link4.m", "F": "49·q3/5 + qd3^2/2", "value": None
    }  # fmt: skip
    robot = tmp_path / "unset.toml"
    robot.write_text('format = 1\nextends = "ha-scara"\n[lengths]\na1 = "unset"\n')
    one = data(str(robot), "--method", "ha")
    assert one["unknown_lengths"] == ["a1"]
    assert data(str(robot))["method"] == "lin"  # keeps the length as a symbol
    assert "needs the geometry" in refused("base", "ha-scara", "--method", "qr", "--unknown-geometry")
    assert "has no symbolic lengths or angles" in refused("base", "rx90", "--unknown-geometry")
