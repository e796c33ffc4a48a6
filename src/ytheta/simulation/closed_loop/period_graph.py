"""One control period of a whole closed loop as one graph: controller, plant, integrator, bookkeeping.

::

    (state, reference [, measured] [, theta] [, factors]) → next state

The state of a run is one vector, see ``Slots``, of the same size before and after: a batch of runs goes round between
two arrays. The torque is computed once, at the instant of the controller, and held while the plant makes ``substeps``
steps of RK4; what the controller remembers moves on by period * dx/dt, as in ``Controller.step``. With more than one
substep there are two graphs: the controller's part of a period, and one substep of the plant, to be repeated. A hundred
of them in one graph would take minutes to compile. ``continuous`` instead integrates controller and plant together, as
simulations in papers do; the reference is then needed at the begin, the middle and the end of the period.

A run whose motion leaves all bounds stops where it was last within them, and its ``age`` turns negative: there is never
a number that is not finite, and the other lanes go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ytheta.dynamics.motion import scalars
from ytheta.errors import InputError
from ytheta.native.graph import Graph, Input, trace
from ytheta.simulation.plants.equations_of_motion import EquationsOfMotion

# Norms that no motion of an arm has: positions and velocities (rad, m, 1/s), what a controller remembers, torques
# and accelerations.
FARTHEST = 1e4
LARGEST = 1e12


@dataclass(frozen=True)
class Slots:
    """Where things lie in the state of a run."""

    coordinates: int
    joints: int
    memory: int

    @property
    def x(self) -> slice:
        """Coordinates of the plant, closed."""
        return slice(0, self.coordinates)

    @property
    def qd(self) -> slice:
        return slice(self.x.stop, self.x.stop + self.joints)

    @property
    def remembered(self) -> slice:
        """What the controller remembers."""
        return slice(self.qd.stop, self.qd.stop + self.memory)

    @property
    def tau(self) -> slice:
        """The torque of the period before."""
        return slice(self.remembered.stop, self.remembered.stop + self.joints)

    @property
    def qdd(self) -> slice:
        """The acceleration at the end of the period before."""
        return slice(self.tau.stop, self.tau.stop + self.joints)

    @property
    def squares(self) -> slice:
        """Squares of tracking errors at all instants so far, summed."""
        return slice(self.qdd.stop, self.qdd.stop + self.joints)

    @property
    def age(self) -> int:
        """Periods lived; where the last of n was not survived, -n."""
        return self.squares.stop

    @property
    def size(self) -> int:
        return self.age + 1


class Varied(NamedTuple):
    """Symbols of what each run has of its own: parameters of the plant, factors of gains where there are such."""

    theta: Any
    factors: list[Any]


@dataclass(frozen=True, eq=False)
class PeriodGraphBuilder:
    """What a step is made of; the controller takes ``factors`` of so many gains behind all its other inputs."""

    plant: EquationsOfMotion
    controller: Graph
    period: float
    substeps: int = 1
    continuous: bool = False
    measured: bool = False
    factors: int = 0

    def __post_init__(self) -> None:
        n, c = self.plant.actuated, self.plant.coordinates
        sizes, gains = [entry.size for entry in self._inputs], [entry.size for entry in self._gains]
        wanted = [n] * (len(sizes) - 2)
        if len(sizes) not in (6, 7) or sizes[1:-1] != wanted or sizes[0] not in (n, c) or sum(gains) != self.factors:
            raise InputError(
                f"the controller takes inputs of sizes {sizes + gains}, but a plant with {n} actuated coordinates "
                "needs (q, qd, qr, qrd, qrdd, x), with qdd after qd where the law needs it; were they made for one "
                "robot?"
            )
        if self.controller.size != n + sizes[-1]:
            raise InputError(f"the controller gives {self.controller.size} numbers; {n} torques and dx/dt are needed")
        if self.continuous and (self.substeps != 1 or self.measured or self.accelerations):
            raise InputError(
                "a continuous loop has no substeps, no sensors and no measured accelerations: they belong to a "
                "controller with a period; leave out continuous=True"
            )

    @property
    def _inputs(self) -> tuple[Input, ...]:
        """Of the controller, without factors of gains."""
        inputs = self.controller.inputs
        return inputs[:-1] if self.factors else inputs

    @property
    def _gains(self) -> tuple[Input, ...]:
        return self.controller.inputs[len(self._inputs) :]

    @property
    def accelerations(self) -> bool:
        """Whether the controller needs measured accelerations."""
        return len(self._inputs) == 7

    @property
    def slots(self) -> Slots:
        return Slots(self.plant.coordinates, self.plant.actuated, self._inputs[-1].size)

    def graph(self) -> Graph:
        """A period; where it has several substeps, all of it but the motion of the plant."""
        import casadi

        s, n = self.slots, self.plant.actuated
        entries = [Input("state", s.size), Input("reference", 3 * n * (3 if self.continuous else 1), shared=True)]
        entries += [Input("measured", 3 * n if self.accelerations else 2 * n)] if self.measured else []
        entries += [Input("theta", len(self.plant.varied))] if self.plant.varied else []
        entries += [Input("factors", self.factors)] if self.factors else []
        symbols = {entry.name: casadi.SX.sym(entry.name, entry.size) for entry in entries}
        state = symbols["state"]
        given = Varied(symbols.get("theta", casadi.SX(0, 1)), [symbols["factors"]] if self.factors else [])
        reference = [symbols["reference"][3 * n * k : 3 * n * (k + 1)] for k in range(3 if self.continuous else 1)]
        step = self._continuous if self.continuous else self._held
        x, qd, memory, tau, qdd = step(state, reference, symbols.get("measured"), given)
        error = self.plant.seen(state[s.x]) - reference[0][:n]
        after = casadi.vertcat(x, qd, memory, tau, qdd, state[s.squares] + error * error)
        within = self._within(casadi.vertcat(x, qd), casadi.vertcat(memory, tau, qdd))
        age = state[s.age]
        goes_on = casadi.logic_and(age >= 0, within)
        older = casadi.if_else(age >= 0, -1 - age, age)
        output = casadi.vertcat(casadi.if_else(goes_on, after, state[: s.age]), casadi.if_else(goes_on, age + 1, older))
        inputs = [(entry, symbols[entry.name]) for entry in entries]
        made_from = f"{self.controller.made_from or self.controller.name} and {self.plant.robot.name}"
        return trace("closed loop", inputs, scalars(casadi.densify(output)), made_from=made_from)

    def substep_graph(self) -> Graph:
        """(state [, theta]) → state: the plant a substep on; where a run is lost, its age turns negative."""
        import casadi

        s, varied = self.slots, len(self.plant.varied)
        entries = [Input("state", s.size), *([Input("theta", varied)] if varied else [])]
        symbols = {entry.name: casadi.SX.sym(entry.name, entry.size) for entry in entries}
        state, theta = symbols["state"], symbols.get("theta", casadi.SX(0, 1))
        tau, age = state[s.tau], state[s.age]
        x, qd, qdd = self._moved(state[s.x], state[s.qd], tau, theta, state[s.qdd])
        after = casadi.vertcat(x, qd, state[s.remembered], tau, qdd, state[s.squares])
        within = self._within(casadi.vertcat(x, qd), casadi.vertcat(state[s.remembered], tau, qdd))
        goes_on = casadi.logic_and(age >= 0, within)
        output = casadi.vertcat(
            casadi.if_else(goes_on, after, state[: s.age]), casadi.if_else(goes_on, age, -casadi.fabs(age))
        )
        inputs = [(entry, symbols[entry.name]) for entry in entries]
        return trace("substep", inputs, scalars(casadi.densify(output)), made_from=self.plant.robot.name)

    def _held(self, state: Any, reference: Any, measured: Any, given: Varied) -> tuple[Any, ...]:
        s, n = self.slots, self.plant.actuated
        x, qd, memory = state[s.x], state[s.qd], state[s.remembered]
        seen = (self.plant.seen(x), qd, state[s.qdd])
        if measured is not None:
            seen = (measured[:n], measured[n : 2 * n], measured[2 * n :])
        tau, change = self._torque(seen, reference[0], memory, given, near=x)
        qdd = state[s.qdd]
        if self.substeps == 1:
            x, qd, qdd = self._moved(x, qd, tau, given.theta, qdd)
        return x, qd, memory + self.period * change, tau, qdd

    def _moved(self, x: Any, qd: Any, tau: Any, theta: Any, qdd: Any) -> tuple[Any, ...]:
        """A substep on under a torque that is held; qdd as it was where nobody needs it."""
        h = self.period / self.substeps
        x, qd = self._rk4(lambda v: self.plant.rates(v[0], v[1], tau, theta), (x, qd), h)
        x = self.plant.loops.settled(x)
        return x, qd, self.plant.rates(x, qd, tau, theta)[1] if self.accelerations else qdd

    def _continuous(self, state: Any, reference: Any, _measured: Any, given: Varied) -> tuple[Any, ...]:
        s = self.slots
        start = (state[s.x], state[s.qd], state[s.remembered])
        torques = []

        def rates(v: tuple[Any, ...], stage: int) -> tuple[Any, ...]:
            seen, wanted = (self.plant.seen(v[0]), v[1]), reference[(0, 1, 1, 2)[stage]]
            tau, change = self._torque(seen, wanted, v[2], given, near=v[0])
            torques.append(tau)
            return (*self.plant.rates(v[0], v[1], tau, given.theta), change)

        stages = iter(range(4))
        x, qd, memory = self._rk4(lambda v: rates(v, next(stages)), start, self.period)
        return self.plant.loops.settled(x), qd, memory, torques[0], state[s.qdd]

    @staticmethod
    def _rk4(rates: Any, v: tuple[Any, ...], h: float) -> tuple[Any, ...]:
        def ahead(k: tuple[Any, ...], share: float) -> tuple[Any, ...]:
            return tuple(a + share * h * b for a, b in zip(v, k, strict=True))

        k1 = rates(v)
        k2 = rates(ahead(k1, 0.5))
        k3 = rates(ahead(k2, 0.5))
        k4 = rates(ahead(k3, 1.0))
        return tuple(a + h / 6.0 * (b + 2.0 * c + 2.0 * d + e) for a, b, c, d, e in zip(v, k1, k2, k3, k4, strict=True))

    def _torque(
        self, seen: tuple[Any, ...], reference: Any, memory: Any, given: Varied, *, near: Any
    ) -> tuple[Any, Any]:
        """tau and dx/dt of the controller."""
        n = self.plant.actuated
        q = seen[0] if self.controller.inputs[0].size == n else self.plant.loops.closed_near(seen[0], near)
        moving = (q, seen[1], seen[2]) if self.accelerations else (q, seen[1])
        wanted = (reference[:n], reference[n : 2 * n], reference[2 * n :])
        found = self.controller.apply(*moving, *wanted, memory, *given.factors)
        return found[:n, 0], found[n:, 0]  # columns, also of one number and of none

    @staticmethod
    def _within(motion: Any, others: Any) -> Any:
        """Sums of squares: they are not finite either where an entry is not, and then no comparison holds."""
        import casadi

        return casadi.logic_and(casadi.sumsqr(motion) <= FARTHEST**2, casadi.sumsqr(others) <= LARGEST**2)
