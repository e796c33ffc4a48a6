"""The run-time type checker of the tests: calls into ytheta, their arguments and their results, by beartype.

jaxtyping's own decorator binds the arguments by their signature and checks them twice, for better messages; loading or
tracing a robot then takes up to seven times as long as unchecked. ``checked`` does the same checks once. Sizes of axes
are compared among the arguments and the result of one call, which needs jaxtyping's context; where no shape is
annotated, there is nothing to compare, and beartype is alone.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from types import CodeType
from typing import Any, get_args, get_type_hints

import jaxtyping
from beartype import BeartypeConf, beartype

# Whole numbers are allowed where floats are asked for.
check = beartype(conf=BeartypeConf(is_pep484_tower=True, violation_type=jaxtyping.TypeCheckError))
_jaxtyped = jaxtyping.jaxtyped

# Calls of each function that are checked: so many at the beginning of each test, then one of so many. To check all of
# them took two fifths of the time of the tests; wrong types and shapes rarely come only after many right ones.
FIRST_CALLS = 30
INTERVAL = 50
_test_number = 0


def install() -> None:
    """Check whatever is imported of ytheta from now on.

    The hook of jaxtyping writes ``@jaxtyping.jaxtyped(typechecker=…)`` before every function and class; the name is
    looked up when they are made. Should this change, the checks are jaxtyping's own: slower, but the same.
    """
    jaxtyping.jaxtyped = lambda **_: checked  # type: ignore[assignment]
    jaxtyping.install_import_hook("ytheta", "tests.support.typecheck.check")


def begin_test() -> None:
    """Check the next calls of every function again."""
    global _test_number
    _test_number += 1


def checked(thing: Any) -> Any:
    """A function that checks its arguments and its result, or a dataclass that checks its fields when it is made."""
    if isinstance(thing, type):
        made = vars(thing).get("__init__")
        if dataclasses.is_dataclass(thing) and made is not None and not hasattr(made, "__wrapped__"):
            thing.__init__ = checked(made)  # type: ignore[method-assign]
        return thing
    if thing.__name__ == "__del__":  # has no arguments, and may be called when nothing can be imported any more
        return thing
    if "<locals>" in thing.__qualname__:
        calls = _inner_functions.setdefault(thing.__code__, _Calls())
        if not calls.choose():
            return thing
    calls, check_call = _Calls(), None

    @functools.wraps(thing)
    def checking(*args: Any, **kwargs: Any) -> Any:
        nonlocal check_call
        if not calls.choose():
            return thing(*args, **kwargs)
        if check_call is None:  # made when it is needed: most functions are never called by the tests of one process
            check_call = _make_check(thing)
        return check_call(*args, **kwargs)

    return checking


class _Calls:
    """The number of calls of a function within a test: the first ones are checked, and some of the others."""

    def __init__(self) -> None:
        self._test, self._count = -1, 0

    def choose(self) -> bool:
        """Count a call; return whether it is checked."""
        if self._test != _test_number:
            self._test, self._count = _test_number, 0
        self._count += 1
        return self._count <= FIRST_CALLS or self._count % INTERVAL == 0


_inner_functions: dict[
    CodeType, _Calls
] = {}  # those that are defined again whenever the function around them is called


def _make_check(function: Any) -> Any:
    """Return the function with all checks."""
    if inspect.isgeneratorfunction(function):  # runs when its context is gone
        return _jaxtyped(function, typechecker=check)
    written = function.__annotations__
    function.__annotations__ = {name: _resolved(hint, function.__globals__) for name, hint in written.items()}
    shapes = any(_has_shape(hint) for hint in function.__annotations__.values())
    plain = check(function)
    function.__annotations__ = written
    if not shapes:
        return plain

    def with_axes(*args: Any, **kwargs: Any) -> Any:
        with _jaxtyped("context"):
            return plain(*args, **kwargs)

    return with_axes


def _resolved(hint: Any, names: dict[str, Any]) -> Any:
    """What an annotation written as text means; anything, where its names are not there at run time."""

    def holder() -> None: ...

    holder.__annotations__ = {"value": hint}
    try:
        return get_type_hints(holder, names, include_extras=True)["value"]
    except Exception:  # as jaxtyping does: names for the type checker alone, or of classes that are still to come
        return Any


def _has_shape(hint: Any) -> bool:
    if isinstance(hint, type) and issubclass(hint, jaxtyping.AbstractArray):
        return True
    return any(_has_shape(part) for part in (hint if isinstance(hint, list) else get_args(hint)))
