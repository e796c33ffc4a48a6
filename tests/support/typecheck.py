"""The run-time type checker of the tests: every call into ytheta, its arguments and its result, by beartype.

jaxtyping's own decorator binds the arguments by their signature and checks them twice, for better messages; loading or
tracing a robot then takes up to seven times as long as unchecked. ``checked`` does the same checks once. Sizes of axes
are compared among the arguments and the result of one call, which needs jaxtyping's context; where no shape is
annotated, there is nothing to compare, and beartype is alone.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from typing import Any, get_args, get_type_hints

import jaxtyping
from beartype import BeartypeConf, beartype

# Whole numbers are allowed where floats are asked for.
check = beartype(conf=BeartypeConf(is_pep484_tower=True, violation_type=jaxtyping.TypeCheckError))
_jaxtyped = jaxtyping.jaxtyped


def install() -> None:
    """Check whatever is imported of ytheta from now on.

    The hook of jaxtyping writes ``@jaxtyping.jaxtyped(typechecker=…)`` before every function and class; the name is
    looked up when they are made. Should this change, the checks are jaxtyping's own: slower, but the same.
    """
    jaxtyping.jaxtyped = lambda **_: checked  # type: ignore[assignment]
    jaxtyping.install_import_hook("ytheta", "tests.support.typecheck.check")


def checked(thing: Any) -> Any:
    """A function that checks its arguments and its result, or a dataclass that checks its fields when it is made."""
    if isinstance(thing, type):
        made = vars(thing).get("__init__")
        if dataclasses.is_dataclass(thing) and made is not None and not hasattr(made, "__wrapped__"):
            thing.__init__ = checked(made)  # type: ignore[method-assign]
        return thing
    if inspect.isgeneratorfunction(thing):  # runs when its context is gone
        return _jaxtyped(thing, typechecker=check)
    written = thing.__annotations__
    thing.__annotations__ = {name: _resolved(hint, thing.__globals__) for name, hint in written.items()}
    shapes = any(_has_shape(hint) for hint in thing.__annotations__.values())
    plain = check(thing)
    thing.__annotations__ = written
    if not shapes:
        return plain

    @functools.wraps(thing)
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
