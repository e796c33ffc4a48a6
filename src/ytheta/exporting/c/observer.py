"""The momentum observer in C: external torques from motion and motor torques, without accelerations.

Identity      d p/dt = tau + external - n       p = M qd, n = bias - (dM/dt) qd
Reference     A. De Luca, A. Albu-Schäffer, S. Haddadin and G. Hirzinger, Collision Detection and Safe Reaction with the
              DLR-III Lightweight Manipulator Arm, IROS 2006, (8)-(11): r follows the external torque with d r/dt =
              K (external - r)
Differs from  the paper in: implicit Euler instead of an integral in continuous time:

              r_k = (r_{k-1} + K (p_k - p_{k-1} - dt (tau - (n_k + n_{k-1}) / 2))) / (1 + K dt)

              tau is the torque during the step from k-1 to k. This is stable for all gains K and time steps dt, has no
              steady error for constant external torques except that of the trapezoidal rule for n, and needs no
              exponential function.
"""

from __future__ import annotations

from ytheta.exporting.c.definitions import Definition
from ytheta.exporting.functions import BETA
from ytheta.native.graph import Input


def format_struct(definition: Definition, joints: int) -> str:
    p, t = definition.style.prefix, definition.style.number.type
    return f"""\
/* State of the momentum observer. */
typedef struct {{
    {t} momentum[{joints}]; /* p = M qd at the last step */
    {t} drift[{joints}];    /* n of dp/dt = tau + external - n at the last step */
    {t} external[{joints}]; /* estimate of the external torque */
    int steps;        /* 0 before the first step, then 1 */
}} {p}_observer;
"""


def format_prototypes(definition: Definition, joints: int) -> str:
    p = definition.style.prefix
    return f"""\
/* Start the observer: the estimate is zero. */
void {p}_observer_init({p}_observer *observer);

/* Estimate the external torque: the torque that the surroundings exert on the joints.
   gain  bandwidth of each joint in 1/s: the estimate follows with the time constant 1/gain
   tau   torque of the motors from the previous step to this one
   dt    time since the previous step, in s; the first step only stores the motion
   r_k = (r_(k-1) + gain (p_k - p_(k-1) - dt (tau - (n_k + n_(k-1)) / 2))) / (1 + gain dt): implicit Euler, stable for
   all gains and time steps. {definition.operations_text}, and 8 per joint for the step. */
void {p}_observer_step({_format_arguments(definition, joints)});
"""


def format_definitions(definition: Definition, joints: int) -> str:
    p, t, n = definition.style.prefix, definition.style.number.type, joints
    f = definition.style.number.format
    parameters = "parameters, " if definition.function.is_parametric else ""
    return f"""\
{definition.format()}
void {p}_observer_init({p}_observer *observer)
{{
    int k;
    for (k = 0; k < {n}; k++) {{
        observer->momentum[k] = observer->drift[k] = observer->external[k] = {f(0.0)};
    }}
    observer->steps = 0;
}}

void {p}_observer_step({_format_arguments(definition, joints)})
{{
    int k;
    {t} momentum[{2 * n}];
    {definition.name}({parameters}{", ".join(entry.name for entry in _list_motion(definition))}, momentum);
    for (k = 0; k < {n}; k++) {{
        if (observer->steps) {{
            const {t} drift = {f(0.5)} * (momentum[{n} + k] + observer->drift[k]);
            const {t} change = momentum[k] - observer->momentum[k] - dt * (tau[k] - drift);
            observer->external[k] = (observer->external[k] + gain[k] * change) / ({f(1.0)} + gain[k] * dt);
        }}
        observer->momentum[k] = momentum[k];
        observer->drift[k] = momentum[{n} + k];
        external[k] = observer->external[k];
    }}
    observer->steps = 1;
}}
"""


def _list_motion(definition: Definition) -> list[Input]:
    """Return the inputs without the parameters: q and qd, and gravity if it stands for the base of a floating robot."""
    return [entry for entry in definition.function.inputs if entry.name != BETA]


def _format_arguments(definition: Definition, n: int) -> str:
    p, t = definition.style.prefix, definition.style.number.type
    parameters = f"const {definition.style.parameters_type} *parameters, " if definition.function.is_parametric else ""
    motion = ", ".join(f"const {t} {entry.name}[{entry.size}]" for entry in _list_motion(definition))
    return (
        f"{p}_observer *observer, {parameters}const {t} gain[{n}], {motion}, const {t} tau[{n}], {t} dt, "
        f"{t} external[{n}]"
    )
