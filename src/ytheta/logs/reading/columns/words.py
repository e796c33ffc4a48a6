"""Words in the names of columns: for quantities, time, commands, units and joints."""

from __future__ import annotations

QUANTITY_WORDS = {
    "q": ("q", "pos", "position", "positions", "qpos", "angle", "angles"),
    "qd": ("qd", "dq", "vel", "velocity", "velocities", "qvel", "qdot", "speed", "speeds"),
    "tau": ("tau", "torque", "effort", "torques", "efforts", "eff", "trq", "tq", "moment", "moments"),
    "current": ("current", "currents", "i", "amps"),
}
TIME_WORDS = ("t", "time", "times", "timestamp", "timestamps", "tout")
# Values that a controller wants or computes. They are never taken for measured ones.
COMMAND_WORDS = frozenset(
    [
        "target",
        "desired",
        "des",
        "cmd",
        "command",
        "commanded",
        "commands",
        "ref",
        "reference",
        "goal",
        "setpoint",
        "sp",
        "action",
        "d",
    ]
)
NEUTRAL_WORDS = frozenset(
    [
        "joint",
        "joints",
        "jnt",
        "j",
        "axis",
        "actual",
        "act",
        "measured",
        "meas",
        "msr",
        "state",
        "states",
        "sensor",
        "raw",
        "filtered",
        "filt",
        "feedback",
        "as",
        "robot",
        "robot0",
    ]
)
# Names of the numbers of a signal whose name is that of the struct or topic around them, as in the structures and the
# timeseries of Simulink (``q.Data``, ``q.signals.values``) and in arrays of ROS (``/positions/data``).
SIGNAL_WORDS = frozenset(["data", "values", "value", "signals"])
# A scope with one of these words does not contain joints.
OTHER_SCOPES = frozenset(
    [
        "tcp",
        "cartesian",
        "cart",
        "ee",
        "eef",
        "end",
        "effector",
        "tool",
        "imu",
        "camera",
        "wrench",
        "motor",
        "motors",
        "odom",
    ]
)
# In LeRobot datasets, observation.state contains positions, unless the names of its entries say something else.
POSITION_SCOPES = (("observation", "state"), ("observations", "state"))
# Words for units, and what they are called in a mapping.
UNIT_WORDS = {
    "rad": "rad", "radian": "rad", "radians": "rad", "deg": "deg", "degree": "deg", "degrees": "deg", "mm": "mm",
    "rpm": "rpm", "nm": "Nm", "mnm": "mNm", "nmm": "Nmm", "ma": "mA", "ms": "ms", "us": "us", "ns": "ns", "sec": "s",
    "seconds": "s", "msec": "ms", "millis": "ms", "milliseconds": "ms", "usec": "us", "micros": "us",
    "microseconds": "us", "nsec": "ns", "nanos": "ns", "nanosec": "ns", "nanoseconds": "ns",
}  # fmt: skip
# Units per second: one word, or a unit with one of the words for seconds after it, as in deg_s and rad_per_sec.
SPEED_WORDS = {"dps": "deg"}
SPEED_UNITS = {word: unit for word, unit in UNIT_WORDS.items() if unit in ("rad", "deg", "mm")} | {"m": "metres"}
SECOND_WORDS = ("s", "sec", "second")
BRACKETED_UNITS = UNIT_WORDS | {
    "rad/s": "rad", "deg/s": "deg", "°": "deg", "°/s": "deg", "m": "metres", "m/s": "metres", "n": "Nm", "n·m": "Nm",
    "n m": "Nm",
    "dps": "deg", "n*m": "Nm", "n.m": "Nm", "a": "A", "s": "s", "mm/s": "mm", "1/min": "rpm",
}  # fmt: skip

# The quantity that a unit has, for names without a word for it, such as Joint 1 [deg]; units per second are velocities.
UNIT_QUANTITIES = {
    "rad": "q", "deg": "q", "metres": "q", "mm": "q", "rpm": "qd", "Nm": "tau", "mNm": "tau", "Nmm": "tau",
    "A": "current", "mA": "current",
}  # fmt: skip
SPEED_UNIT_ENDS = ("/s", "dps", "/min")
JOINT_WORDS = frozenset(["joint", "joints", "jnt", "j", "axis"])

# Words in the names of lists of joint names, and those of which one must be there.
LABEL_WORDS = frozenset(
    ["name", "names", "label", "labels", "joint", "joints", "jnt", "axis", "dof", "state", "states"]
)
LABEL_NOUNS = frozenset(["name", "names", "label", "labels", "joints"])
