"""The errors of ytheta.

::

    YthetaError
    ├── InputError              invalid input; the command line exits with status 2
    │   ├── RobotFileError      a file cannot be read as a robot; the message names the line or element
    │   ├── RobotError          an inconsistent robot description: missing links, two roots, undeclared cycles …
    │   │   └── ClosureError    a loop cannot close, or the actuated coordinates do not determine the other coordinates
    │   ├── UnsetLengthError    a number is needed, but a symbolic length has no value
    │   ├── UnsetAngleError     a number is needed, but a symbolic angle has no value
    │   ├── UnknownNameError    a name does not exist; the message suggests similar names
    │   └── UnstableError       the torque or the estimate of a controller has diverged
    └── MissingExtraError       an optional library is not installed; the message contains the command that installs it

Every message says what is wrong, where, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "ClosureError",
    "InputError",
    "MissingExtraError",
    "RobotError",
    "RobotFileError",
    "UnknownNameError",
    "UnsetAngleError",
    "UnsetLengthError",
    "UnstableError",
    "YthetaError",
]


class YthetaError(Exception):
    """Root of all errors raised by ytheta."""


class InputError(YthetaError):
    """Invalid input."""


class RobotFileError(InputError):
    """A file cannot be read as a robot."""


class RobotError(InputError):
    """An inconsistent robot description."""


class ClosureError(RobotError):
    """A loop cannot close, or the actuated coordinates do not determine the other coordinates."""


class UnsetLengthError(InputError):
    """A number is needed, but a symbolic length has no value."""


class UnsetAngleError(InputError):
    """A number is needed, but a symbolic angle has no value."""


class UnknownNameError(InputError):
    """A name does not exist."""


class UnstableError(InputError):
    """The torque or the estimate of a controller has diverged."""


class MissingExtraError(YthetaError):
    """An optional library is not installed."""


def find_similar_names(name: object, known: Iterable[str]) -> list[str]:
    """Return at most two of the known names that are similar to a name."""
    import difflib  # imported here, since it is needed for wrong names only

    return difflib.get_close_matches(str(name), sorted(set(known)), n=2, cutoff=0.6)


def suggest_names(name: object, known: Iterable[str]) -> str:
    """Return a hint such as ``; did you mean 'alpha'?``, or a list of the known names if no name is similar."""
    choices = sorted(set(known))
    if close := find_similar_names(name, choices):
        return "; did you mean " + " or ".join(repr(match) for match in close) + "?"
    if not choices:
        return ""
    listed = ", ".join(choices[:12]) + (" …" if len(choices) > 12 else "")
    return f"; choose from: {listed}"


def __dir__() -> list[str]:
    return __all__
