"""Numerical check of the conditions that Walker's stability proof puts on a feedback law.

The conditions are in the docstring of ``feedback``. If the power of the law at a link or joint is a quadratic form with
constant coefficients, its sign follows exactly from eigenvalues. Every law is also evaluated at random errors, states
and reference velocities. The condition on damping is checked at the home position.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from ytheta.control.feedback.feedback import NO_FORCE, NO_TORQUE, Feedback, Response
from ytheta.control.feedback.ports import CoordinateErrors, FeedbackPorts
from ytheta.dynamics.constraint import column
from ytheta.dynamics.formulations.spatial_tree import spatial_transpose
from ytheta.dynamics.mechanism import scalars
from ytheta.dynamics.vectors import zeros
from ytheta.errors import InputError
from ytheta.shapes import Bool, Float, Shaped, SquareMatrix

if TYPE_CHECKING:
    import casadi

# Number of samples of errors, states and reference velocities at each link and joint. Chosen on: rule of thumb.
SAMPLES = 400
# Probability with which all errors of one kind are zero in a sample. Chosen on: rule of thumb.
ZERO_PROBABILITY = 0.25
# Range of the sampled errors and states, as powers of ten in SI units. Chosen on: rule of thumb.
ERROR_EXPONENTS = (-4.0, 2.0)
# Largest power above zero that counts as a rounding error, relative to the sum of the absolute values of its terms.
# Chosen on: rule of thumb.
MAX_RELATIVE_POWER = 1e-9
# Smallest power below zero, relative to the same sum, that counts as a loss. Chosen on: rule of thumb.
MIN_RELATIVE_LOSS = 1e-13
# Largest amount by which an eigenvalue of the loss, scaled to a diagonal of ones or to SCALE_FLOOR, may be below zero.
# Chosen on: rule of thumb.
MAX_SCALED_EIGENVALUE = 1e-5
# Smallest diagonal entry by which a quadratic form is scaled, relative to the largest. Chosen on: rule of thumb.
SCALE_FLOOR = 1e-9
# An output at errors of SMALL_ERROR above MAX_JUMP times the largest output at errors up to 1 is a jump.
# Chosen on: rule of thumb.
SMALL_ERROR, MAX_JUMP = 1e-9, 1e-3
# Smallest eigenvalue of the damping of all coordinates, relative to the largest. Chosen on: rule of thumb.
MIN_DAMPING = 1e-9
# Largest difference of the derivative of an output by the model term from one, or of its other derivatives from zero.
# Chosen on: reasoning, far above rounding errors.
MAX_MODEL_ERROR = 1e-9
# Number of samples at which these derivatives are evaluated. Chosen on: reasoning, since one generic sample is enough
# for every smooth function.
MODEL_SAMPLES = 5


def check_conditions(
    ports: FeedbackPorts,
    convergence: Float[np.ndarray, "cases actuated"],
    jacobians: tuple[Float[np.ndarray, "drives actuated"], Float[np.ndarray, "links 6 actuated"]],
    rng: np.random.Generator,
    *,
    diagonal: bool,
) -> None:
    """Raise an error if a condition of the proof is broken; it names the condition, the place and the values.

    ``convergence`` contains one row of Lambda_jj for each case in which the law is to be used, and ``diagonal`` says
    whether Lambda is diagonal. ``jacobians`` are those of drives and links, at the home position.
    """
    coordinates = len(ports.loops.robot.actuated)
    K_D = np.zeros((coordinates, coordinates))
    for drive, J in enumerate(jacobians[0]):
        k = ports.find_coordinate(drive)
        port = make_joint_port(ports, drive)
        if not diagonal and k is not None:
            _check_independence(port)
        K_D += _check_port(port, np.zeros(1) if k is None else convergence[:, k], rng) * np.outer(J, J)
    for link, J in enumerate(jacobians[1]):
        K_D += J.T @ _check_port(make_link_port(ports, link), np.zeros(1), rng) @ J
    values, vectors = np.linalg.eigh(K_D)
    if not values[0] > MIN_DAMPING * values[-1]:
        undamped = ports.loops.robot.actuated[int(np.argmax(abs(vectors[:, 0])))]
        raise InputError(
            f"feedback {type(ports.feedback).__name__} breaks the condition on damping: at the home position, some "
            f"velocity error of {undamped!r} changes V by nothing, so it need not vanish; let the law damp every "
            "actuated coordinate, or give every outermost link an initial inertia with mass and extent"
        )


def list_places_without_model(ports: FeedbackPorts, rng: np.random.Generator) -> tuple[str, ...]:
    """Return the joints and links whose output is not the model term plus something that does not depend on it.

    With half of the model term, for example, dV/dt = P does not hold. Derivatives are evaluated at random errors,
    states, reference velocities and model terms.
    """
    import casadi

    symbols = [scalars(casadi.SX.sym("model", size)) for size in (1, 6)]
    joints = (make_joint_port(ports, drive, symbols[0]) for drive in range(len(ports.joints)))
    links = (make_link_port(ports, link, symbols[1]) for link in range(len(ports.links)))
    places: list[str] = []
    for port in (*joints, *links):
        model = column(symbols[port.size == 6])
        others = casadi.vertcat(port.output - model, column(port.response.state_rate), port.storage)
        inputs = [port.y, port.reference, port.convergence, model]
        derivative = casadi.Function("derivative", inputs, [casadi.densify(casadi.jacobian(others, model))])
        samples = (rng.uniform(0.1, 1.0, (entry.numel(), MODEL_SAMPLES)) for entry in inputs)
        if not np.abs(np.array(derivative(*samples))).max() <= MAX_MODEL_ERROR:
            places.append(port.place)
    return tuple(places)


def _check_independence(port: SymbolicPort) -> None:
    """Raise if the law uses the position error: then its proof needs the diagonal Lambda of the paper."""
    import casadi

    results = casadi.vertcat(port.output, column(port.response.state_rate), port.storage)
    if casadi.depends_on(results, port.position_error):
        raise InputError(
            f"feedback {port.law} uses the position error of {port.place}, for which the proof needs a diagonal "
            "convergence (17); give convergence as one number, or one for each coordinate"
        )


def _check_port(port: SymbolicPort, convergence: Float[np.ndarray, " cases"], rng: np.random.Generator) -> SquareMatrix:
    """Check a link or joint by itself. Return its damping D: vtilde' D vtilde is zero only if no power is lost."""
    import casadi

    if casadi.depends_on(port.storage, casadi.vertcat(port.velocity_error, port.reference)):
        raise InputError(
            f"feedback {port.law} breaks the condition on storage (26) at {port.place}: its storage depends on "
            "velocities; let it depend on position errors and states only"
        )
    if port.output.is_zero() and not port.state.numel() and port.storage.is_zero():
        return np.zeros((port.size, port.size))
    samples = _draw_samples(port, convergence, rng)
    values = port.compute(samples)
    for name, vectors in (("output", values.output), ("state_rate", values.state_rate), ("storage", values.storage)):
        bad = ~np.isfinite(vectors).all(axis=0)
        if bad.any():
            k = _choose_sample(samples.y, bad)
            found = f"its {name} is {format_entries(vectors[:, k])}"
            port.refuse("to be finite", samples.y[:, k], found, "make it finite for every motion")
    _check_equilibrium(port, samples)
    _check_storage(port, samples)
    gains_power = values.power > MAX_RELATIVE_POWER * values.size
    if gains_power.any():
        k = _choose_sample(samples.y, gains_power)
        port.refuse_power(samples.y[:, k], float(values.power[k]))
    _check_continuity(port, samples)
    hessian = casadi.hessian(port.power, port.y)[0]
    if not casadi.depends_on(hessian, casadi.vertcat(port.y, port.reference)):
        return _check_quadratic_form(port, hessian, convergence)
    moves = abs(samples.y[: port.size]).any(axis=0)
    is_strict = bool((values.power[moves] < -MIN_RELATIVE_LOSS * values.size[moves]).all())
    return _find_directions(values.gradient[:, moves]) * is_strict


def _draw_samples(
    port: SymbolicPort, convergence: Float[np.ndarray, " cases"], rng: np.random.Generator
) -> PortSamples:
    """Draw errors in random directions and of very different sizes; some are zero."""

    def draw(size: int) -> Float[np.ndarray, "size samples"]:
        directions = rng.normal(size=(size, SAMPLES))
        directions /= np.linalg.norm(directions, axis=0) + (size == 0)
        kept = rng.uniform(size=SAMPLES) > ZERO_PROBABILITY
        return directions * kept * 10.0 ** rng.uniform(*ERROR_EXPONENTS, size=SAMPLES)

    sizes = (port.size, port.position_error.numel(), port.state.numel())
    y = np.concatenate([draw(size) for size in sizes])
    return PortSamples(y, draw(port.size), rng.choice(convergence, (1, SAMPLES)))


def _choose_sample(y: Float[np.ndarray, "errors samples"], broken: Bool[np.ndarray, " samples"]) -> int:
    """Return the sample with a broken condition whose errors are closest to 1 in size, the easiest to imagine."""
    candidates = np.flatnonzero(broken)
    sizes = np.maximum(np.linalg.norm(y[:, candidates], axis=0), 1e-300)
    return int(candidates[np.argmin(abs(np.log10(sizes)))])


def _check_equilibrium(port: SymbolicPort, samples: PortSamples) -> None:
    """Raise if outputs, rates or storage are not zero at zero errors and states, for any reference velocity."""
    values = port.compute(replace(samples, y=np.zeros_like(samples.y)))
    vectors = {"output": values.output, "state_rate": values.state_rate, "storage": values.storage}
    for name, entries in vectors.items():
        if entries.any():
            bad = int(np.argmax(abs(entries).max(axis=0)))
            found = f"its {name} is {format_entries(entries[:, bad])} instead of 0"
            port.refuse("on the equilibrium", np.zeros(len(samples.y)), found, "subtract this value")


def _check_storage(port: SymbolicPort, samples: PortSamples) -> None:
    """Raise if the storage is negative, or if it is not positive for a state that is not zero."""
    storage = port.compute(samples).storage[0]
    if (storage < 0.0).any():
        k = _choose_sample(samples.y, storage < 0.0)
        found = f"its storage is {storage[k]:.3g} J, below 0"
        port.refuse("on storage (26)", samples.y[:, k], found, port.feedback.remedy)
    first = port.size + port.position_error.numel()
    _check_dependence_on_states(port, samples, first)
    y = samples.y.copy()
    y[:first] = 0.0
    storage = port.compute(replace(samples, y=y)).storage[0]
    empty = y.any(axis=0) & (storage <= 0.0)
    if empty.any():
        k = _choose_sample(y, empty)
        remedy = "add a term that grows with every state, so that V bounds the states"
        port.refuse("on storage (26)", y[:, k], f"its storage is {format_entries(storage[[k]])} J, not above 0", remedy)


def _check_dependence_on_states(port: SymbolicPort, samples: PortSamples, first: int) -> None:
    """Raise if some combination of states does not change the storage, which random states would not show."""
    gradients = port.compute(samples).state_gradient
    changed = _find_directions(gradients)
    values, vectors = np.linalg.eigh(changed)
    if len(values) and values[0] < 0.5:  # eigenvalues of a projection are 0 or 1
        y = np.zeros(len(samples.y))
        y[first:] = vectors[:, 0]
        remedy = "add a term that grows with every state, so that V bounds the states"
        port.refuse("on storage (26)", y, "its storage is 0 J, not above 0", remedy)


def _check_continuity(port: SymbolicPort, samples: PortSamples) -> None:
    """Raise if the output jumps at zero error."""
    norms = np.linalg.norm(samples.y[: port.size], axis=0)
    moves = np.flatnonzero(norms > 0.0)
    y = np.zeros_like(samples.y)
    y[: port.size, moves] = samples.y[: port.size, moves] / norms[moves]
    unit, tiny = (port.compute(replace(samples, y=scale * y)).output for scale in (1.0, SMALL_ERROR))
    worst = int(np.argmax(abs(tiny).max(axis=0)))
    if abs(tiny[:, worst]).max() > MAX_JUMP * abs(unit).max():
        found = f"its output is {format_entries(tiny[:, worst])}, so it jumps at zero"
        port.refuse("on continuity", SMALL_ERROR * y[:, worst], found, "use a continuous function, such as tanh")


def _check_quadratic_form(
    port: SymbolicPort, hessian: casadi.SX, convergence: Float[np.ndarray, " cases"]
) -> SquareMatrix:
    """Check the sign of a power that is a quadratic form, by eigenvalues. Return the damping of the velocity error."""
    import casadi

    n, m = port.y.numel(), port.size
    evaluate = casadi.Function("hessian", [port.convergence], [casadi.densify(hessian)])
    damping = np.zeros((m, m))
    for Lambda in np.unique(convergence):
        loss = -0.5 * np.array(evaluate(Lambda)).reshape(n, n)  # power = -yᵀ loss y
        largest = abs(loss).max(initial=0.0)
        if not largest:
            return np.zeros((m, m))
        scale = np.sqrt(np.maximum(abs(loss.diagonal()), SCALE_FLOOR * largest))
        values, vectors = np.linalg.eigh(loss / np.outer(scale, scale))
        if values[0] < -MAX_SCALED_EIGENVALUE:
            y = vectors[:, 0] / scale * scale.max()
            port.refuse_power(y, -float(y @ loss @ y))
        cross = loss[:m, m:]
        schur = loss[:m, :m] - cross @ np.linalg.pinv(loss[m:, m:], rcond=MIN_DAMPING) @ cross.T
        damping = schur / largest if not damping.any() else damping
    return damping


def _find_directions(gradients: Float[np.ndarray, "size samples"]) -> SquareMatrix:
    """Return the projection on the directions on which a function depends, from its gradients at samples."""
    norms = np.linalg.norm(gradients, axis=0)
    directions = gradients[:, norms > 0.0] / norms[norms > 0.0]
    values, vectors = np.linalg.eigh(directions @ directions.T)
    kept = vectors[:, values > MIN_DAMPING * values[-1]] if directions.size else vectors[:, :0]
    return kept @ kept.T


# A feedback law at one link or joint in symbols: its power, and the values that the conditions concern.


@dataclass(frozen=True, eq=False)
class PortSamples:
    """Errors, reference velocities and Lambda_jj of one link or joint, one column per sample."""

    y: Float[np.ndarray, "errors samples"]
    reference: Float[np.ndarray, "size samples"]
    Lambda: Float[np.ndarray, "1 samples"]


class PortValues(NamedTuple):
    """The power vtilde' F + dS/dt at samples, the sum of the absolute values of its terms, and what it is made of.

    ``gradient`` is that of the power by the velocity error, ``state_gradient`` that of the storage by the states.
    """

    power: Float[np.ndarray, " samples"]
    size: Float[np.ndarray, " samples"]
    gradient: Float[np.ndarray, "size samples"]
    output: Float[np.ndarray, "size samples"]
    state_rate: Float[np.ndarray, "states samples"]
    storage: Float[np.ndarray, "1 samples"]
    state_gradient: Float[np.ndarray, "states samples"]


@dataclass(frozen=True, eq=False)
class SymbolicPort:
    """A link or joint in symbols: errors y = (velocity error, position error, states), and what follows from them."""

    feedback: Feedback
    place: str
    velocity_error: casadi.SX
    position_error: casadi.SX
    state: casadi.SX
    reference: casadi.SX
    convergence: casadi.SX
    response: Response

    @property
    def law(self) -> str:
        return type(self.feedback).__name__

    @property
    def size(self) -> int:
        """The number of entries of the velocity error: 6 of a link, 1 of a joint."""
        return int(self.velocity_error.numel())

    @cached_property
    def y(self) -> casadi.SX:
        return column(np.concatenate([scalars(s) for s in (self.velocity_error, self.position_error, self.state)]))

    @cached_property
    def output(self) -> casadi.SX:
        return column(self.response.output)

    @cached_property
    def storage(self) -> casadi.SX:
        import casadi

        return casadi.SX(self.response.storage)

    @cached_property
    def power_terms(self) -> list[Any]:
        """The terms whose sum is vtilde' F + dS/dt."""
        import casadi

        error, output = scalars(self.velocity_error), self.response.output
        if len(error) == 6:
            error = spatial_transpose(error[:, None])[0]
        free = casadi.vertcat(self.position_error, self.state)
        rate = scalars(self.velocity_error)[: self.position_error.numel()]
        rates = np.concatenate([rate - scalars(self.convergence * self.position_error), self.response.state_rate])
        slopes = scalars(casadi.densify(casadi.gradient(self.storage, free))) if len(rates) else zeros(0)
        return [*(error * output), *(slopes * rates)]

    @cached_property
    def power(self) -> casadi.SX:
        return sum(self.power_terms, start=self.storage * 0)

    @cached_property
    def _evaluate(self) -> casadi.Function:
        """(y, reference, convergence) → the entries of ``PortValues``."""
        import casadi

        size = sum((casadi.fabs(term) for term in self.power_terms), start=casadi.SX(0))
        gradient = casadi.gradient(self.power, self.velocity_error)
        outputs = [self.power, size, gradient, self.output, column(self.response.state_rate), self.storage]
        outputs.append(casadi.gradient(self.storage, self.state))
        return casadi.Function("port", [self.y, self.reference, self.convergence], [casadi.densify(o) for o in outputs])

    def compute(self, samples: PortSamples) -> PortValues:
        power, size, *others = (np.array(part) for part in self._evaluate(samples.y, samples.reference, samples.Lambda))
        return PortValues(power[0], size[0], *others)

    def refuse_power(self, y: Float[np.ndarray, " errors"], power: float) -> NoReturn:
        found = f"the power of its output plus the rate of its storage is {power:.3g} W, above 0"
        self.refuse("on dissipation (27)", y, found, self.feedback.remedy)

    def refuse(self, condition: str, y: Float[np.ndarray, " errors"], found: str, remedy: str) -> NoReturn:
        m, p = self.size, self.position_error.numel()
        parts = {"velocity error": y[:m], "position error": y[m : m + p], "state": y[m + p :]}
        errors = [f"{name} {format_entries(values)}" for name, values in parts.items() if len(values)]
        raise InputError(
            f"feedback {self.law} breaks the condition {condition} at {self.place}: with {', '.join(errors)}, {found}; "
            f"{remedy}"
        )


def make_joint_port(ports: FeedbackPorts, drive: int, model: Shaped[np.ndarray, "1"] = NO_TORQUE) -> SymbolicPort:
    import casadi

    k, n = ports.find_coordinate(drive), len(ports.loops.robot.actuated)
    states = 0 if k is None else ports.feedback.joint_states
    error, reference, position, Lambda = (casadi.SX.sym(name) for name in ("error", "reference", "position", "Lambda"))
    state, position = casadi.SX.sym("state", states), position if k is not None else casadi.SX(0, 1)
    errors, rates, convergence, all_states = zeros(n), zeros(n), zeros(n), zeros(ports.state_size)
    if k is not None:
        errors[k], rates[k], convergence[k] = position, error - Lambda * position, Lambda
        all_states[k * states : (k + 1) * states] = scalars(state)
    arguments = (scalars(error), scalars(reference), CoordinateErrors(errors, rates, convergence, all_states))
    response = ports.respond_at_joint(drive, *arguments, model)
    place = f"joint {ports.joints[drive]!r}"
    return SymbolicPort(ports.feedback, place, error, position, state, reference, Lambda, response)


def make_link_port(ports: FeedbackPorts, link: int, model: Shaped[np.ndarray, "6"] = NO_FORCE) -> SymbolicPort:
    import casadi

    states = ports.feedback.link_states
    error, reference, state = (casadi.SX.sym(n, k) for n, k in (("error", 6), ("reference", 6), ("state", states)))
    all_states = zeros(ports.state_size)
    first = len(all_states) - (len(ports.links) - link) * states
    all_states[first : first + states] = scalars(state)
    response = ports.respond_at_link(link, scalars(error), scalars(reference), all_states, model)
    place = f"link {ports.links[link]!r}"
    return SymbolicPort(
        ports.feedback, place, error, casadi.SX(0, 1), state, reference, casadi.SX.sym("Lambda"), response
    )


def format_entries(values: Float[np.ndarray, " entries"]) -> str:
    listed = ", ".join(f"{value + 0.0:.3g}" for value in values)  # -0.0 + 0.0 is 0.0
    return listed if len(values) == 1 else f"({listed})"
