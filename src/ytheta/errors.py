"""The errors of ytheta, one tree.

::

    YthetaError
    ├── InputError              what came from outside is wrong; the command line exits with 2
    │   ├── RobotFileError      a file cannot be read as a robot: the file, the line or element, the remedy
    │   ├── RobotError          a robot contradicts itself: missing links, two roots, undeclared cycles …
    │   │   └── ClosureError    a loop cannot close at the given pose, or its actuated coordinates do not fix it
    │   ├── UnsetLengthError    a symbolic length has no value where numbers are needed
    │   ├── UnknownNameError    a name that does not exist, with the nearest ones that do
    │   └── UnstableError       a controller whose torque or estimate is no longer a number, and what to change
    └── MissingExtraError       an optional library is not installed; the message holds the install command

Every message is a sentence that says what is wrong, where, and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class YthetaError(Exception):
    """Root of all errors raised by ytheta."""


class InputError(YthetaError):
    """What came from outside is wrong."""


class RobotFileError(InputError):
    """A file cannot be read as a robot."""


class RobotError(InputError):
    """A robot description contradicts itself."""


class ClosureError(RobotError):
    """A loop cannot close, or its actuated coordinates do not determine it."""


class UnsetLengthError(InputError):
    """A symbolic length has no value where numbers are needed."""


class UnknownNameError(InputError):
    """A name that does not exist."""


class UnstableError(InputError):
    """Torque or estimate of a controller have left all bounds."""


class MissingExtraError(YthetaError):
    """An optional library is not installed."""


def suggest_names(name: object, known: Iterable[str]) -> str:
    """A hint such as ``; did you mean 'alpha'?``, or the names there are when none is near."""
    choices = sorted(set(known))
    close = difflib.get_close_matches(str(name), choices, n=2, cutoff=0.6)
    if close:
        return "; did you mean " + " or ".join(repr(match) for match in close) + "?"
    if not choices:
        return ""
    shown = ", ".join(choices[:12]) + (" …" if len(choices) > 12 else "")
    return f"; there are: {shown}"
