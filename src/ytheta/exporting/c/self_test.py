"""The self-test of an export: a C program with samples of every function and the results that Python computed.

It compares the largest error of every result with the largest expected number. It needs only printf.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ytheta.exporting.c.controllers import ControllerCode
from ytheta.exporting.c.definitions import Definition, Number, Style
from ytheta.exporting.functions import BETA, OBSERVER, RobotFunction, RobotFunctions
from ytheta.native.graph import Graph
from ytheta.shapes import Float

SAMPLES = 3  # Samples of each function in the self-test, and their random seed. Chosen on: rule of thumb.
SEED = 20
STEP = 0.001  # s, of controllers and the observer in the self-test. Chosen on: rule of thumb.
OBSERVER_GAIN = 50.0  # 1/s, of the observer in the self-test. Chosen on: rule of thumb.
# Relative to the largest number of a result. Solving M qdd = … loses the digits of its condition number.
TOLERANCES = {"double": 1e-12, "float": 1e-5}
FORWARD_TOLERANCES = {"double": 1e-11, "float": 2e-3}


def format_self_test(
    functions: RobotFunctions, style: Style, definitions: Sequence[Definition], controllers: Sequence[ControllerCode]
) -> str:
    """Return the text of the program."""
    p, t = style.prefix, style.number.type
    tests: list[str] = []
    calls: list[str] = []
    rng = np.random.default_rng(SEED)
    beta = functions.base.beta
    for definition in definitions:
        test = _test_observer if definition.function.name == OBSERVER else _test_function
        tests.append(test(definition, beta, rng, functions.size))
        calls.append(f"    failures += test_{definition.function.name}_samples();")
    for controller in controllers:
        tests.append(_test_controller(controller, rng))
        calls.append(f"    failures += test_{controller.label}_samples();")
    main = "\n".join(
        [
            "int main(void)",
            "{",
            "    int failures = 0;",
            *calls,
            '    printf(failures ? "FAILED\\n" : "passed\\n");',
            "    return failures ? 1 : 0;",
            "}",
            "",
        ]
    )
    return "\n".join([_HEAD.format(p=p, t=t, zero=style.number.format(0.0)), *tests, main])


def evaluate(graph: Graph, *inputs: np.ndarray) -> Float[np.ndarray, " size"]:
    """Return the result of a graph for one sample, computed by CasADi."""
    result = np.zeros(graph.size)
    result[list(graph.places)] = np.asarray(graph.function(*inputs), dtype=float).ravel()
    return result


def draw_inputs(
    function: RobotFunction, beta: np.ndarray, rng: np.random.Generator
) -> list[Float[np.ndarray, " size"]]:
    return [beta if entry.name == BETA else rng.uniform(-1.5, 1.5, entry.size) for entry in function.graph.inputs]


def _test_function(definition: Definition, beta: np.ndarray, rng: np.random.Generator, _joints: int) -> str:
    function, number = definition.function, definition.style.number
    t, size = number.type, function.graph.size
    lines = [f"static int test_{function.name}_samples(void)", "{", "    int failures = 0;"]
    lines += [f"    {t} result[{size}];", *_declare_parameters(definition)]
    tolerances = FORWARD_TOLERANCES if function.name == "forward_dynamics" else TOLERANCES
    for sample in range(SAMPLES):
        inputs = _round(draw_inputs(function, beta, rng), number.type)
        lines.append("    {")
        for entry, values in zip(function.graph.inputs, inputs, strict=True):
            if entry.name != BETA:
                lines.append(f"        static const {t} {entry.name}[] = {number.format_row(values)};")
        expected = evaluate(function.graph, *inputs)
        lines.append(f"        static const {t} expected[] = {number.format_row(expected)};")
        arguments = ["&parameters"] if function.is_parametric else []
        arguments += [entry.name for entry in function.inputs if entry.name != BETA] + ["result"]
        lines.append(f"        {definition.name}({', '.join(arguments)});")
        tolerance = number.format(tolerances[t])
        lines.append(f'        failures += compare("{function.name} {sample}", result, expected, {size}, {tolerance});')
        lines.append("    }")
    return "\n".join([*lines, "    return failures;", "}", ""])


def _test_observer(definition: Definition, beta: np.ndarray, rng: np.random.Generator, joints: int) -> str:
    p, number, t = definition.style.prefix, definition.style.number, definition.style.number.type
    gain, tolerance = np.full(joints, OBSERVER_GAIN), number.format(TOLERANCES[t])
    position = [entry for entry in definition.function.inputs if entry.name not in ("qd", BETA)]  # q, also g
    sizes = {**{entry.name: entry.size for entry in position}, "qd": joints, "tau": joints}
    drawn = _round([rng.uniform(-1.0, 1.0, (SAMPLES, size)) for size in sizes.values()], t)
    *motion, tau = drawn
    rows = run_observer(definition.function, beta, gain, motion, tau, dt=STEP)
    parameters = "&parameters, " if definition.function.is_parametric else ""
    lines = [f"static int test_{OBSERVER}_samples(void)", "{", "    int sample, failures = 0;"]
    lines += [f"    static const {t} gain[] = {number.format_row(gain)};"]
    lines += list(_declare_tables((*zip(sizes, drawn, strict=True), ("expected", rows)), number))
    lines += [f"    {t} result[{joints}];", f"    {p}_observer observer;", *_declare_parameters(definition)]
    lines += [
        f"    {p}_observer_init(&observer);",
        f"    for (sample = 0; sample < {SAMPLES}; sample++) {{",
        f"        {p}_observer_step(&observer, {parameters}gain, {', '.join(f'{name}[sample]' for name in sizes)}, "
        f"{number.format(STEP)}, result);",
        f'        failures += compare("{OBSERVER}", result, expected[sample], {joints}, {tolerance});',
        "    }",
        "    return failures;",
        "}",
        "",
    ]
    return "\n".join(lines)


def run_observer(
    function: RobotFunction,
    beta: np.ndarray,
    gain: np.ndarray,
    motion: Sequence[np.ndarray],
    tau: np.ndarray,
    *,
    dt: float,
) -> Float[np.ndarray, "samples joints"]:
    """Return the estimates of the momentum observer for a sampled motion, q and qd; see ``observer``."""
    n = len(gain)
    estimates = np.zeros((len(tau), n))
    previous = None
    for k in range(len(tau)):
        inputs = [*(values[k] for values in motion), *([beta] if function.is_parametric else [])]
        p, drift = np.split(evaluate(function.graph, *inputs), 2)
        if previous is not None:
            change = p - previous[0] - dt * (tau[k] - 0.5 * (drift + previous[1]))
            estimates[k] = (estimates[k - 1] + gain * change) / (1.0 + gain * dt)
        previous = (p, drift)
    return estimates


def _test_controller(controller: ControllerCode, rng: np.random.Generator) -> str:
    p, number, label, n = controller.style.prefix, controller.style.number, controller.label, controller.n
    t, states = number.type, len(controller.start)
    motion = _round(draw_motion(controller, rng), t)
    torques, x = run_controller(controller, motion, dt=STEP)
    lines = [f"static int test_{label}_samples(void)", "{", "    int sample, failures = 0;"]
    tables = (*zip(controller.motion, motion, strict=True), ("expected", torques))
    lines += list(_declare_tables(tables, number))
    lines += [f"    static const {t} end[] = {number.format_row(x)};"] if states else []
    lines += [f"    {t} result[{n}];", f"    {controller.state_type} state;", f"    {p}_{label}_init(&state);"]
    arguments = ", ".join(f"{name}[sample]" for name in controller.motion)
    tolerance = number.format(TOLERANCES[t])
    lines += [
        f"    for (sample = 0; sample < {SAMPLES}; sample++) {{",
        f"        failures += {p}_{label}_step(&state, {number.format(STEP)}, {arguments}, result);",
        f'        failures += compare("{label}", result, expected[sample], {n}, {tolerance});',
        "    }",
    ]
    lines += [f'    failures += compare("{label} state", state.x, end, {states}, {tolerance});'] if states else []
    return "\n".join([*lines, "    return failures;", "}", ""])


def draw_motion(controller: ControllerCode, rng: np.random.Generator) -> list[Float[np.ndarray, "samples joints"]]:
    """Return random motion and a reference so close to it that torque limits are not reached."""
    drawn = {name: rng.uniform(-1.0, 1.0, (SAMPLES, controller.n)) for name in controller.motion}
    for reference, measured in (("qr", "q"), ("qrd", "qd")):
        drawn[reference] = drawn[measured] + 0.01 * drawn[reference]
    return list(drawn.values())


def run_controller(
    controller: ControllerCode, motion: Sequence[np.ndarray], *, dt: float
) -> tuple[Float[np.ndarray, "samples joints"], Float[np.ndarray, " states"]]:
    """Return the torques of a controller for a sampled motion, and its state at the end."""
    law, n, x = controller.law, controller.n, controller.start
    torques = np.zeros((len(motion[0]), n))
    for k in range(len(torques)):
        out = evaluate(law.graph, *(values[k] for values in motion), x)
        torques[k], x = out[:n], x + dt * out[n:]
        if law.reset_graph is not None:
            x = evaluate(law.reset_graph, x)
    return torques, x


def _declare_parameters(definition: Definition) -> list[str]:
    if not definition.function.is_parametric:
        return []
    return [
        f"    {definition.style.parameters_type} parameters;",
        f"    {definition.style.prefix}_get_parameters(&parameters);",
    ]


def _declare_tables(tables: Sequence[tuple[str, np.ndarray]], number: Number) -> Iterator[str]:
    for name, rows in tables:
        texts = ", ".join(number.format_row(row) for row in rows)
        yield f"    static const {number.type} {name}[][{rows.shape[1]}] = {{{texts}}};"


def _round(arrays: list[np.ndarray], t: str) -> list[np.ndarray]:
    """Return arrays with numbers that the type of C has, so that Python and C compute with the same inputs."""
    return arrays if t == "double" else [values.astype(np.float32).astype(float) for values in arrays]


_HEAD = """\
/* Written by ytheta. Compares every function with results that Python computed. */
#include "{p}.h"
#include <stdio.h>

/* Print the largest error relative to the largest expected number; return 1 if it is too large. */
static int compare(const char *name, const {t} *result, const {t} *expected, int n, {t} tolerance)
{{
    int k, failed;
    {t} error = {zero}, scale = {zero};
    for (k = 0; k < n; k++) {{
        const {t} difference = result[k] < expected[k] ? expected[k] - result[k] : result[k] - expected[k];
        const {t} size = expected[k] < {zero} ? -expected[k] : expected[k];
        if (!(difference <= error)) error = difference; /* also if it is NaN */
        if (size > scale) scale = size;
    }}
    failed = !(error <= tolerance * scale);
    printf("%-24s error %.1e of %.3g%s\\n", name, (double)error, (double)scale, failed ? " FAILED" : "");
    return failed;
}}
"""
