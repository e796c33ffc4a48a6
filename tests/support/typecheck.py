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
FIRST_CALLS = 3
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
    if "<locals>" in thing.__qualname__ and not _choose_inner(thing.__code__):
        return thing
    check_call: Any = None
    test, count = -1, 0

    @functools.wraps(thing)
    def checking(*args: Any, **kwargs: Any) -> Any:
        nonlocal check_call, test, count
        if test != _test_number:
            test, count = _test_number, 0
        count += 1
        if count > FIRST_CALLS and count % INTERVAL:
            return thing(*args, **kwargs)
        if check_call is None:  # made when it is needed: most functions are never called by the tests of one process
            check_call = _make_check(thing)
        return check_call(*args, **kwargs)

    return checking


# How often functions have been made, in each test, that are defined whenever the function around them is called.
_made: dict[CodeType, tuple[int, int]] = {}


def _choose_inner(code: CodeType) -> bool:
    """Return whether a function within a function is checked: the first ones in each test, and some of the others."""
    test, count = _made.get(code, (-1, 0))
    count = count + 1 if test == _test_number else 1
    _made[code] = _test_number, count
    return count <= FIRST_CALLS or count % INTERVAL == 0


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
