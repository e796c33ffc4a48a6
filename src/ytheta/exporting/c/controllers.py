"""Steps of control laws in C.

Every control law is one graph, (q, qd [, qdd], qr, qrd, qrdd, x) → (tau, dx/dt), and some have a second one that resets
the estimate. A step evaluates them and advances x by explicit Euler, exactly as ``Law.step`` does. All control laws
and adaptation laws are therefore exported, for robots without loops. Filters of the composite adaptation law
start for a robot at rest, because their initial state depends on the motion otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.control.create import create_controller
from ytheta.control.laws.law import Law
from ytheta.control.settings import ControllerSettings
from ytheta.errors import InputError
from ytheta.exporting.c.definitions import Definition, Style, clean_comment, define, make_prefix
from ytheta.exporting.c.options import COptions
from ytheta.exporting.functions import RobotFunction
from ytheta.robot.floating import refuse_floating_base
from ytheta.robot.robot import Robot
from ytheta.shapes import Float
from ytheta.simulation.references import default_reference

# Duration in s, and samples, of the reference for which gains are suggested. Chosen on: rule of thumb.
REFERENCE_SECONDS = 10.0
REFERENCE_SAMPLES = 400


@dataclass(frozen=True, eq=False)
class ControllerCode:
    """The C code of one control law. ``label`` is the part of its names after the prefix, such as slotine_li."""

    law: Law
    style: Style
    label: str

    @property
    def n(self) -> int:
        return len(self.law.robot.actuated)

    @cached_property
    def start(self) -> Float[np.ndarray, " states"]:
        """The initial state x of a robot at rest."""
        rest, zero = np.zeros(self.n), np.zeros(self.n)
        start = self.law.init(rest, zero).x
        if not np.array_equal(start, self.law.init(np.full(self.n, 0.3), zero).x):
            raise InputError(f"the initial state of {self.law.name} depends on the position, so it cannot be exported")
        return start

    @cached_property
    def evaluation(self) -> Definition:
        function = RobotFunction(f"{self.label}_evaluate", self.law.graph, "out", "torques, then dx/dt")
        return define(function, self.style, is_static=True)

    @cached_property
    def reset(self) -> Definition | None:
        graph = self.law.reset_graph
        if graph is None:
            return None
        return define(
            RobotFunction(f"{self.label}_reset", graph, "out", "estimate after resets"), self.style, is_static=True
        )

    @property
    def state_type(self) -> str:
        return f"{self.style.prefix}_{self.label}_state"

    @property
    def motion(self) -> tuple[str, ...]:
        """The names of the inputs: measured motion and reference."""
        return tuple(entry.name for entry in self.law.graph.inputs if entry.name != "x")

    @property
    def definitions(self) -> tuple[Definition, ...]:
        return (self.evaluation,) if self.reset is None else (self.evaluation, self.reset)

    def format_struct(self) -> str:
        states = len(self.start)
        names = clean_comment(", ".join(self.law.unknown_names))
        rows = [f"    {self.style.number.type} x[{states}]; /* {self._describe_states()} */"] if states else []
        listed = f"   x starts with the estimates of: {names}.\n" if names else ""
        head = (
            f"/* State of the controller {clean_comment(self.law.name)}.\n{listed}*/"
            if listed
            else (f"/* State of the controller {clean_comment(self.law.name)}. */")
        )
        status = "    int status; /* of the last step: 0, or 1 if torques or rates were not finite */"
        return "\n".join([head, "typedef struct {", *rows, status, f"}} {self.state_type};", ""])

    def format_prototypes(self) -> str:
        p, label = self.style.prefix, self.label
        rest = " of a robot at rest" if len(self.start) > len(self.law.unknown_names) else ""
        return f"""\
/* Start the controller{rest}; its gains and known parameters are part of the code. */
void {p}_{label}_init({self.state_type} *state);

/* One step of the controller {clean_comment(self.law.name)}.
   dt    time since the previous step, or since the start, in s; 0 is allowed
   q, qd measured motion{"; qdd: measured acceleration" if "qdd" in self.motion else ""}; qr, qrd, qrdd: reference
   tau   torques to apply until the next step
   Returns 0, or 1 if torques or rates are not finite; tau and the state then keep their values.
   {self.evaluation.operations_text}, and 2 per state. */
int {p}_{label}_step({self._format_arguments()});
"""

    def format_definitions(self) -> str:
        p, label, t = self.style.prefix, self.label, self.style.number.type
        n, states, f = self.n, len(self.start), self.style.number.format
        init = [f"state->x[{k}] = {f(value)};" for k, value in enumerate(self.start)]
        evaluate = ", ".join([*self.motion, *(["state->x"] if states else []), "out"])
        body = ["int k;", f"{t} out[{n + states}], sum = {f(0.0)};"]
        body += [] if states else ["(void)dt;"]
        body += [
            f"{self.evaluation.name}({evaluate});",
            f"for (k = 0; k < {n + states}; k++) sum += out[k] * {f(0.0)};",
            f"state->status = sum == {f(0.0)} ? 0 : 1; /* the sum is NaN if a number is not finite */",
            "if (state->status) return 1;",
            f"for (k = 0; k < {n}; k++) tau[k] = out[k];",
        ]
        if states:
            body.append(f"for (k = 0; k < {states}; k++) state->x[k] += dt * out[{n} + k];")
        if self.reset is not None:
            body += [f"{self.reset.name}(state->x, out);", f"for (k = 0; k < {states}; k++) state->x[k] = out[k];"]
        body.append("return 0;")
        indented = "\n".join(f"    {line}" for line in body)
        start = "\n".join(f"    {line}" for line in [*init, "state->status = 0;"])
        return "\n".join(
            [
                *(definition.format() for definition in self.definitions),
                f"void {p}_{label}_init({self.state_type} *state)\n{{\n{start}\n}}\n",
                f"int {p}_{label}_step({self._format_arguments()})\n{{\n{indented}\n}}\n",
            ]
        )

    def _format_arguments(self) -> str:
        t, n = self.style.number.type, self.n
        motion = [f"const {t} {name}[{n}]" for name in self.motion]
        return ", ".join([f"{self.state_type} *state", f"{t} dt", *motion, f"{t} tau[{n}]"])

    def _describe_states(self) -> str:
        unknown, rest = len(self.law.unknown_names), len(self.start) - len(self.law.unknown_names)
        return f"{unknown} estimates" + (f", then {rest} states of filters and integrals" if rest else "")


def make_controllers(options: COptions, robot: Robot, style: Style) -> tuple[ControllerCode, ...]:
    """Return the code of the controllers, each with a label of its own."""
    codes: list[ControllerCode] = []
    if options.controllers:
        refuse_floating_base(robot, "a controller")
    for controller in options.controllers:
        law = controller if isinstance(controller, Law) else _create_law(controller, robot, options.rate)
        if law.robot.loops or law.robot.actuated != robot.actuated:
            raise InputError(
                f"the controller {law.name} is for the joints {', '.join(law.robot.actuated)}, but the exported robot "
                f"has {', '.join(robot.actuated)}; create it for this robot"
            )
        label, number = make_prefix(law.name), 2
        while any(code.label == label for code in codes):
            label, number = f"{make_prefix(law.name)}_{number}", number + 1
        codes.append(ControllerCode(law, style, label))
    return tuple(codes)


def _create_law(controller: ControllerSettings | str, robot: Robot, rate: float) -> Law:
    """Return a control law with the gains that a simulation of the default reference would use."""
    motion = default_reference(robot, REFERENCE_SECONDS)(np.linspace(0.0, REFERENCE_SECONDS, REFERENCE_SAMPLES))
    return create_controller(controller, robot, motion=motion, rate=rate)
