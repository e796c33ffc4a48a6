"""The conditions on feedback laws: laws that meet them are accepted, and each broken condition is named with values."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import ytheta
from tests.support.feedback_laws import AntiDamping, LinkSprings, Saturating, SaturatingIntegral
from ytheta.control.feedback.conditions import format_entries
from ytheta.control.feedback.feedback import Feedback, JointErrors, LinkErrors, Response
from ytheta.control.feedback.inertial import InertialFeedback
from ytheta.control.feedback.pid import PDFeedback, PIDFeedback
from ytheta.control.gains import Gain
from ytheta.control.laws.walker import Walker
from ytheta.errors import InputError


def make_law(feedback: Feedback | Gain, *, robot: str = "lu-two-link", convergence: Gain = 5.0, rng: int = 0) -> Walker:
    return Walker(ytheta.load(robot), convergence=convergence, feedback=feedback, adaptation=0.5, rng=rng)


@dataclass(frozen=True, eq=False, repr=False)
class JointLaw(Feedback):
    """A law given as a function of one joint."""

    respond: Callable[[JointErrors], Response]
    states: int = 0

    @property
    def joint_states(self) -> int:
        return self.states

    def at_joint(self, joint: JointErrors) -> Response:
        return self.respond(joint)


@dataclass(frozen=True, eq=False, repr=False)
class LinkLaw(Feedback):
    """A law given as a function of one link."""

    respond: Callable[[LinkErrors], Response]

    def at_link(self, link: LinkErrors) -> Response:
        return self.respond(link)


@pytest.mark.parametrize(
    "feedback",
    [
        InertialFeedback(3.0),
        PDFeedback(stiffness=[20.0, 15.0], damping=3.0),
        PDFeedback(stiffness=15.0, damping=3.0),
        PIDFeedback(stiffness=15.0 + 4.0 / 5.0, integral=4.0, damping=3.0),
        Saturating(8.0, 0.2),
        SaturatingIntegral(8.0, 3.0),
        LinkSprings(5.0, 3.0),
        JointLaw(lambda joint: Response(-(joint.velocity_error**3))),
    ],
    ids=["inertial", "PD", "PD at its bound", "PID at its bound", "tanh", "tanh integral", "link springs", "cubic"],
)
def test_laws_that_meet_the_conditions_are_accepted(feedback: Feedback) -> None:
    for seed in range(3):
        make_law(feedback, rng=seed)


def test_dissipation_names_joint_and_values() -> None:
    """(27): the refused error has the value that the message states."""
    condition = r"AntiDamping breaks the condition on dissipation \(27\) at joint 'joint1'"
    with pytest.raises(InputError, match=condition) as refusal:
        make_law(AntiDamping(2.0))
    numbers = re.findall(r"velocity error (\S+), position.* is (\S+) W", str(refusal.value))
    r, power = (float(number) for number in numbers[0])
    assert power == pytest.approx(2.0 * r * r * (4.0 * r * r - 1.0) / (1.0 + r * r), rel=0.02)
    assert 0.5 < abs(r) < 2.0


def test_quadratic_powers_are_checked_exactly() -> None:
    """A millionth below the bound is refused, although random errors hardly show it; the bound itself is accepted."""
    for bound, make in (
        (5.0 * 3.0, lambda k: PDFeedback(stiffness=[k, 20.0], damping=3.0)),
        (5.0 * 3.0 + 4.0 / 5.0, lambda k: PIDFeedback(stiffness=[k, 20.0], integral=4.0, damping=3.0)),
    ):
        make_law(make(bound))
        with pytest.raises(InputError, match=r"at joint 'joint1': .* stiffness of at least convergence"):
            make_law(make((1.0 - 1e-6) * bound))
    wrong = np.eye(6)[[3, 4, 5, 0, 1, 2]]  # force against linear, moment against angular velocity
    wrong[0, 4], wrong[1, 3] = 1.001, 1.001  # F = -D vtilde with an indefinite form, by a thousandth
    make_law(LinkLaw(lambda link: Response(-(np.roll(np.eye(6), 3, axis=0) @ link.velocity_error))))
    with pytest.raises(InputError, match=r"dissipation \(27\) at link 'link1'"):
        make_law(LinkLaw(lambda link: Response(-(wrong @ link.velocity_error))))


def test_halves_of_a_spatial_force_must_not_be_swapped() -> None:
    """-k vtilde is not a damping force: its first half is a force, that of vtilde an angular velocity."""
    orders = "the output is force, then moment, and the velocity error angular, then linear"
    with pytest.raises(InputError, match=rf"dissipation \(27\) at link 'link1'.* oppose the velocity error .*{orders}"):
        make_law(LinkLaw(lambda link: Response(-2.0 * link.velocity_error)))
    make_law(LinkLaw(lambda link: Response(-2.0 * np.roll(link.velocity_error, 3))))


def test_storage() -> None:
    with pytest.raises(InputError, match=r"condition on storage \(26\) at joint 'joint1': .* -\S+ J, below 0"):
        make_law(JointLaw(lambda j: Response(-j.velocity_error, storage=-(j.position_error @ j.position_error))))
    with pytest.raises(InputError, match=r"storage \(26\) at joint 'joint1': with .* state .* not above 0"):
        make_law(JointLaw(lambda j: Response(-j.velocity_error, state_rate=j.velocity_error), states=1))
    with pytest.raises(InputError, match=r"storage \(26\) at joint 'joint1': its storage depends on velocities"):
        make_law(JointLaw(lambda j: Response(-j.velocity_error, storage=j.velocity_error @ j.velocity_error)))


def test_storage_bounds_every_combination_of_states() -> None:
    """The sum of two states is stored, their difference is not."""

    def respond(joint: JointErrors, difference: float) -> Response:
        z, r = joint.state, joint.velocity_error
        if joint.index is None:
            return Response(0.0 * r)
        total = z[:1] + z[1:]
        storage = 0.5 * (total @ total + difference * (z[:1] - z[1:]) @ (z[:1] - z[1:]))
        return Response(-r - 2.0 * total, state_rate=np.concatenate([r, r]), storage=storage)

    make_law(JointLaw(lambda j: respond(j, 0.1), states=2))
    with pytest.raises(InputError, match=r"storage \(26\) at joint 'joint1': .* state \(-?0.707, -?0.707\).* 0 J, not"):
        make_law(JointLaw(lambda j: respond(j, 0.0), states=2))


def test_energy_of_a_spring_must_be_storage() -> None:
    """-K_p e without its energy in S: dV/dt has no sign."""
    respond: Callable[[JointErrors], Response] = lambda j: Response(-j.velocity_error - j.position_error)  # noqa: E731
    with pytest.raises(InputError, match=r"dissipation .* count the energy that the law stores as storage"):
        make_law(JointLaw(respond))
    with_storage = lambda j: Response(respond(j).output, storage=0.5 * (j.position_error @ j.position_error))  # noqa: E731
    make_law(JointLaw(with_storage))


def test_equilibrium_continuity_and_finite_values() -> None:
    with pytest.raises(InputError, match=r"equilibrium at joint 'joint1': .* its output is 0\.1 instead of 0"):
        make_law(JointLaw(lambda j: Response(0.1 - j.velocity_error)))
    relay = JointLaw(lambda j: Response(-j.velocity_error / np.sqrt(j.velocity_error**2 + 1e-30)))
    with pytest.raises(InputError, match=r"continuity at joint 'joint1': .* so it jumps at zero"):
        make_law(relay)
    with pytest.raises(InputError, match=r"to be finite at joint 'joint1': .* its output is nan"):
        make_law(JointLaw(lambda j: Response(-np.sqrt(j.velocity_error))))


def test_damping_of_every_coordinate() -> None:
    """A law that acts at one joint only, one with a dead zone, and one that damps translations of a link only."""
    with pytest.raises(InputError, match=r"condition on damping: at the home position, .* 'joint2'"):
        make_law(JointLaw(lambda j: Response(-j.velocity_error * (j.name == "joint1"))))
    with pytest.raises(InputError, match=r"condition on damping: at the home position, .* 'joint2'"):
        make_law(JointLaw(lambda j: Response(-np.tanh(j.velocity_error) * (j.name == "joint1"))))

    def respond_outside_dead_zone(joint: JointErrors) -> Response:
        excess = np.abs(joint.velocity_error) - 0.01
        return Response(-(excess + np.abs(excess)) * joint.velocity_error)

    with pytest.raises(InputError, match="condition on damping"):
        make_law(JointLaw(respond_outside_dead_zone))

    def respond(link: LinkErrors) -> Response:
        velocity = link.velocity_error[3:]
        return Response(np.concatenate([-np.tanh(velocity), 0.0 * velocity]))

    with pytest.raises(InputError, match="condition on damping"):
        make_law(LinkLaw(lambda link: respond(link)._replace(output=respond(link).output * (link.name == "link1"))))
    make_law(LinkLaw(respond))  # the frames of both links are away from their joint axes


def test_position_errors_need_a_diagonal_convergence() -> None:
    full = np.array([[5.0, 1.0], [1.0, 5.0]])
    with pytest.raises(InputError, match=r"PDFeedback uses the position error of joint 'joint1'.* diagonal"):
        make_law(PDFeedback(stiffness=20.0, damping=3.0), convergence=full)
    make_law(Saturating(8.0, 0.2), convergence=full)


def test_factors_of_convergence_are_checked() -> None:
    law = make_law(PDFeedback(stiffness=20.0, damping=3.0))
    law.check_factors({"convergence": np.array([1.0, 1.3]), "feedback": np.array([9.0, 0.1])})
    with pytest.raises(InputError, match="PDFeedback breaks the condition"):
        law.check_factors({"convergence": np.array([1.0, 1.4])})


def test_invalid_responses() -> None:
    for function in (np.sign, np.cbrt, lambda r: np.clip(r, -1.0, 1.0)):
        with pytest.raises(InputError, match="JointLaw cannot be evaluated with symbols at joint 'joint1'") as refusal:
            make_law(JointLaw(lambda j, function=function: Response(-function(j.velocity_error))))  # type: ignore[misc]
        assert "cpp" not in str(refusal.value)
    with pytest.raises(InputError, match=r"JointLaw returns ndarray at joint 'joint1'; return Response\(output"):
        make_law(JointLaw(lambda j: -j.velocity_error))  # type: ignore[arg-type,return-value]
    with pytest.raises(InputError, match=r"returns output of shape \(2,\) at joint 'joint1'"):
        make_law(JointLaw(lambda j: Response(np.concatenate([j.velocity_error] * 2))))
    with pytest.raises(InputError, match=r"returns state_rate of shape \(0,\) at joint 'joint1'"):
        make_law(JointLaw(lambda j: Response(-j.velocity_error), states=1))


def test_numbers_of_states_are_checked() -> None:
    class Method(LinkLaw):
        def link_states(self) -> int:  # type: ignore[override]
            return 6

    with pytest.raises(InputError, match="link_states of feedback Method is a method; write @property above it"):
        make_law(Method(lambda link: Response(-np.roll(link.velocity_error, 3))))
    for states in (1.5, -1, None, True):
        with pytest.raises(InputError, match=f"joint_states of feedback JointLaw is {states}; return the number"):
            make_law(JointLaw(lambda j: Response(-j.velocity_error), states=states))  # type: ignore[arg-type]


def test_a_negative_zero_is_shown_as_zero() -> None:
    assert format_entries(np.array([-0.0, 1.0, -2.5e-9])) == "(0, 1, -2.5e-09)"


@pytest.mark.parametrize(
    "respond",
    [
        lambda link: Response(-np.roll(link.velocity_error, 3) * (4.0 + np.sum(link.velocity_error**2))),  # CasADi's
        lambda link: Response(-np.roll(link.velocity_error, 3)[:, None] * 4.0),  # NumPy's
    ],
    ids=["symbols", "array"],
)
def test_a_column_is_a_vector(respond: Callable[[LinkErrors], Response]) -> None:
    """An array times a symbol, such as a sum, is a column of CasADi, and used to be refused for its shape."""
    law = make_law(LinkLaw(respond))
    plain = make_law(LinkLaw(lambda link: Response(_multiply(link.velocity_error))))
    q, qd, zero = np.array([0.3, -0.4]), np.array([0.5, 0.2]), np.zeros(2)
    reference = ytheta.control.Reference(zero, zero, zero)
    tau = law.step(law.init(q, qd), 0.0, q, qd, reference)[0]
    without_sum = make_law(LinkLaw(lambda link: Response(-4.0 * np.roll(link.velocity_error, 3))))
    expected = plain if "np.sum" in _get_source(respond) else without_sum
    np.testing.assert_allclose(tau, expected.step(expected.init(q, qd), 0.0, q, qd, reference)[0], rtol=1e-12)


def _multiply(error: np.ndarray) -> np.ndarray:
    """The same law entry by entry, which gives a vector."""
    factor = 4.0 + sum(entry**2 for entry in error)
    return np.array([-entry * factor for entry in np.roll(error, 3)])


def _get_source(respond: Callable[[LinkErrors], Response]) -> str:
    return "np.sum" if "sum" in respond.__code__.co_names else ""


@pytest.mark.parametrize(
    ("respond", "shape"),
    [
        (lambda link: Response(np.tile(link.velocity_error, (2, 1))), r"\(2, 6\)"),
        (lambda link: Response(link.velocity_error[None] * np.sum(link.velocity_error)), r"\(1, 6\)"),
        (lambda link: Response(link.velocity_error[:3] * np.sum(link.velocity_error)), r"\(3,\)"),
    ],
)
def test_other_shapes_are_named(respond: Callable[[LinkErrors], Response], shape: str) -> None:
    with pytest.raises(InputError, match=f"returns output of shape {shape} at link 'link1'"):
        make_law(LinkLaw(respond))
