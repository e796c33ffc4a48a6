"""Groups of options that several commands share, so that no command lacks one of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import wraps
from typing import Annotated, Any, get_args, get_type_hints

import typer

Command = Callable[..., None]


def take_group(
    command: Command, argument: str, group: type[Any], *, renamed: Mapping[str, str] | None = None
) -> Command:
    """Return the command with the options of a group in place of its argument with this name.

    ``group`` is a dataclass, whose fields are options. ``renamed`` gives fields another name on the command line.
    """
    names = {field.name: (renamed or {}).get(field.name, field.name) for field in fields(group)}
    hints = get_type_hints(group, include_extras=True)

    @wraps(command)
    def run(**arguments: Any) -> None:
        options = group(**{field: arguments.pop(name) for field, name in names.items()})
        command(**arguments, **{argument: options})

    signature = inspect.signature(command, eval_str=True)
    kept = [parameter for name, parameter in signature.parameters.items() if name != argument]
    last = [parameter for parameter in kept if parameter.kind is inspect.Parameter.KEYWORD_ONLY]  # of other groups
    added = [
        inspect.Parameter(
            names[field.name],
            kept[0].kind,
            default=field.default,
            annotation=_rename(hints[field.name], field.name, names[field.name]),
        )
        for field in fields(group)
    ]
    parameters = [*(parameter for parameter in kept if parameter not in last), *added, *last]
    # Typer reads both to find the options.
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _rename(annotation: Any, field: str, name: str) -> Any:
    """Return the annotation of an option with another name on the command line."""
    if field == name:
        return annotation
    kind, option = get_args(annotation)
    return Annotated[kind, typer.Option(f"--{name.replace('_', '-')}", metavar=option.metavar, help=option.help)]
