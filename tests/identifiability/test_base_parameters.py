"""BaseParameters: names, expressions, identifiability, standard parameters for a given beta, base regressors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy

import ytheta
from tests.support.base_checks import regressors
from ytheta.errors import InputError, UnsetLengthError
from ytheta.identifiability.base_parameters import BaseParameters, Identifiability


@pytest.fixture(scope="module")
def puma() -> BaseParameters:
    return ytheta.base_parameters(ytheta.load("puma560-mdh"), method="qr")


def parse_expression(expression: str, names: tuple[str, ...]) -> np.ndarray:
    """The row of coefficients of an expression."""
    row = np.zeros(len(names))
    for term in expression.replace(" - ", " + -").split(" + "):
        factor, _, name = term.rpartition("·")
        sign = -1.0 if (factor or name).startswith("-") else 1.0
        row[names.index(name.lstrip("-"))] += float(factor) if factor else sign
    return row


def test_expressions_evaluate_to_k(puma: BaseParameters) -> None:
    rows = [parse_expression(text, puma.robot.parameter_names) for text in puma.format_expressions(digits=17)]
    np.testing.assert_array_equal(rows, puma.K)
    short = [parse_expression(text, puma.robot.parameter_names) for text in puma.expressions]
    np.testing.assert_allclose(short, puma.K, rtol=1e-5)
    assert (np.array(short) != puma.K).any()  # the twin: six digits are not exact


def test_textbook_combinations_of_the_puma(puma: BaseParameters) -> None:
    """Combinations that every set of base parameters of the PUMA 560 has (a2 = 0.4318, a3 = 0.0203, d4 = 0.4331 m)."""
    expressions = dict(zip(puma.names, puma.expressions, strict=True))
    tail = "0.4318·link3.m + 0.4318·link4.m + 0.4318·link5.m + 0.4318·link6.m"
    assert expressions["link2.mx*"] == f"link2.mx + {tail}"
    assert expressions["link5.my*"] == "link5.my - link6.mz"
    assert expressions["link6.Ixx*"] == "link6.Ixx - link6.Iyy"
    assert expressions["link6.Izz"] == "link6.Izz"


def test_identifiability_of_the_puma(puma: BaseParameters) -> None:
    assert puma.identifiability["link2.my"] is Identifiability.ALONE
    assert puma.identifiability["link3.m"] is Identifiability.COMBINED
    assert puma.identifiability["link1.m"] is Identifiability.NO_EFFECT
    assert set(puma.identifiability) == set(puma.selected)
    place = {name: k for k, name in enumerate(puma.robot.parameter_names)}
    Y = regressors(puma.robot, puma.selected)
    for name, kind in puma.identifiability.items():  # no effect means a column of zeros, and only that
        assert (kind is Identifiability.NO_EFFECT) == (np.abs(Y[:, :, place[name]]).max() < 1e-12 * np.abs(Y).max())


def test_a_parameter_known_alone_is_the_same_for_every_theta(puma: BaseParameters) -> None:
    """Two different thetas with the same beta agree in the parameters known alone, and only in these."""
    smallest = puma.minimum_norm(puma.beta)
    nearest = puma.nearest(puma.beta, np.random.default_rng(3).normal(size=len(smallest)))
    for name, kind in puma.identifiability.items():
        k = puma.robot.parameter_names.index(name)
        assert (abs(smallest[k] - nearest[k]) < 1e-9) == (kind is Identifiability.ALONE), name


def test_standard_parameters_for_a_given_beta(puma: BaseParameters) -> None:
    beta, prior = puma.beta, puma.robot.theta
    smallest, same = puma.minimum_norm(beta), puma.nearest(beta, prior)
    for theta in (smallest, same):
        np.testing.assert_allclose(puma.K @ theta, beta, atol=1e-12)
    np.testing.assert_allclose(same, prior, atol=1e-12)
    assert np.linalg.norm(smallest) < np.linalg.norm(prior)
    scale = np.where([name.endswith(".m") for name in puma.robot.parameter_names], 10.0, 0.1)
    moved = puma.nearest(1.1 * beta, prior, scale=scale)
    np.testing.assert_allclose(puma.K @ moved, 1.1 * beta, atol=1e-12)
    plain = puma.nearest(1.1 * beta, prior)
    assert np.linalg.norm((moved - prior) / scale) < np.linalg.norm((plain - prior) / scale)
    for bad in (beta[:-1], beta * np.nan):
        with pytest.raises(InputError, match="beta must be 36 finite numbers"):
            puma.minimum_norm(bad)
    with pytest.raises(InputError, match="prior must be 84 finite numbers"):
        puma.nearest(beta, np.zeros(3))
    with pytest.raises(ValueError, match="read-only"):
        puma.K[0] = 0.0
    for wrong in (np.zeros(3), -scale, scale * np.nan):
        with pytest.raises(InputError, match="positive numbers"):
            puma.nearest(beta, prior, scale=wrong)


def test_kernels_accept_base_parameters(puma: BaseParameters) -> None:
    robot = puma.robot
    q, qd, qdd, v = np.random.default_rng(0).uniform(-1.0, 1.0, (4, 9, 6))
    kernel = ytheta.regressor(robot, puma)
    assert kernel.shape == (6, len(puma))
    rigid = replace(robot, joints=tuple(replace(joint, drive=type(joint.drive)()) for joint in robot.joints))
    np.testing.assert_allclose(kernel(q, qd, qdd) @ puma.beta, ytheta.inverse_dynamics(rigid)(q, qd, qdd), atol=1e-10)
    two = ytheta.regressor(robot, puma, reference=True)
    np.testing.assert_allclose(two(q, qd, qd, qdd), kernel(q, qd, qdd), atol=1e-10)
    assert np.abs(two(q, qd, v, qdd) - kernel(q, qd, qdd)).max() > 1e-3
    with pytest.raises(InputError, match="not both"):
        ytheta.regressor(robot, puma, parameters=("link1.m",))
    lighter = robot.with_inertias({"link6": ytheta.Inertia()})
    assert ytheta.regressor(lighter, puma).shape == kernel.shape  # inertias do not matter
    flange = robot.with_load(ytheta.Inertia(), name="flange")  # a link without mass on a fixed joint
    flange = replace(flange, links=tuple(replace(link, load=False) for link in flange.links))
    assert ytheta.regressor(flange, puma).shape == kernel.shape
    on_the_wall = replace(robot, mounting=ytheta.Frame.turn((0.0, 1.0, 0.0), np.pi / 2))
    for robot_with_other_geometry in (ytheta.load("ur10"), on_the_wall):
        with pytest.raises(InputError, match="'puma560-mdh', whose joints, lengths, gravity or mounting differ"):
            ytheta.regressor(robot_with_other_geometry, puma)


def test_k_needs_lengths() -> None:
    robot = ytheta.load("lu-two-link")
    name = robot.lengths[0][0]
    entries = np.zeros((1, len(robot.parameter_names)), dtype=object)
    entries[0, 0], entries[0, 1] = 1, 2 * sympy.Symbol(name)
    head = robot.parameter_names[:1]
    unset = replace(robot, lengths=tuple((key, None) for key, _ in robot.lengths))
    with pytest.raises(UnsetLengthError, match=name):
        _ = BaseParameters(unset, "lin", head, entries, head).K
    base = BaseParameters(robot.with_lengths(**{name: 0.7}), "lin", head, entries, head)
    assert base.K[0, 1] == pytest.approx(1.4)


@pytest.mark.parametrize(("left_out", "codes"), [(1e-16, []), (0.9e-5, []), (1.1e-5, ["uncertain rank"])])
def test_a_small_gap_is_a_finding(puma: BaseParameters, left_out: float, codes: list[str]) -> None:
    """The rank is in doubt if the singular values on both sides of the gap differ by less than a factor of 1000."""
    unclear = replace(puma, gap=(1e-2, left_out))
    assert [finding.code for finding in unclear.findings] == codes
    for finding in unclear.findings:
        assert finding.is_warning
        assert finding.fields == {"counted": 1e-2, "left_out": left_out}
        assert "1.0e-02" in finding.statement
        assert "correct rounded angles" in finding.remedy
    assert replace(puma, gap=None).findings == ()
    assert unclear.to_dict()["findings"] == [finding.data for finding in unclear.findings]


def test_base_parameters_show_themselves(puma: BaseParameters) -> None:
    assert repr(puma) == "BaseParameters(36 of 60 parameters of 'puma560-mdh', by qr)"
    text = " ".join(str(puma).split())
    assert "puma560-mdh: 36 base parameters of 60 standard ones (method qr; smallest singular value" in text
    assert "link5.my - link6.mz" in str(puma)
    assert puma.to_dict()["count"] == 36


def test_the_arrays_are_read_only(puma: BaseParameters) -> None:
    symbolic = ytheta.base_parameters(ytheta.load("lu-two-link"), method="ha")
    for array in (puma.K, puma.beta, puma.places, puma.entries, symbolic.entries, symbolic.beta):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
