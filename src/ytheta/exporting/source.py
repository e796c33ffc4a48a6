"""The source of an export: a robot with its origin, checked before anything is written.

A model is refused if its verdict says that it should not be used, or if its file comes from a newer version of ytheta.
A robot is refused if its inertias are unknown or not physically consistent, or if a symbolic length or angle has no
value. ``force`` accepts doubtful and inconsistent models, but not unknown numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ytheta
from ytheta.arguments import check_path
from ytheta.conventions import SNAP
from ytheta.errors import InputError
from ytheta.findings import Finding
from ytheta.identification.assessment.verdict import Grade
from ytheta.identification.consistency.standard_parameters import find_inconsistent_parts
from ytheta.identification.model_file import Model, read_identification_table, read_model
from ytheta.identification.result import Identification
from ytheta.robot.parameters import check_inertias_are_complete
from ytheta.robot.reading.load import XML_EXTENSIONS, load
from ytheta.robot.robot import Robot

ExportInput = str | Path | Robot | Model | Identification

ACCEPTED_GRADES = (Grade.GOOD.value, Grade.USABLE.value)
MAX_LISTED_PARTS = 3  # affects only the length of a message


@dataclass(frozen=True, eq=False)
class ExportSource:
    """What is exported.

    Attributes
    ----------
    robot        the robot with numbers for all lengths and angles
    table        the table ``[identification]`` of a model; None for a robot that was not identified
    description  the URDF, MJCF or TOML file with the parts of the robot, if known. Formats that keep the rest of a
                 file, such as meshes and comments, start from it
    origin       one line about where the robot comes from, for comments
    must_keep    whether the description was given explicitly, so that the format must keep its other content
    xacro_args, package_paths  how a description in xacro is expanded
    """

    robot: Robot
    table: Mapping[str, Any] | None = None
    description: Path | None = None
    origin: str = ""
    must_keep: bool = False
    xacro_args: Mapping[str, str] = field(default_factory=dict)
    package_paths: tuple[Path, ...] = ()


@dataclass(frozen=True)
class NoOptions:
    """The settings of a format that has none."""


@dataclass(frozen=True)
class Format:
    """How a source is written in a format.

    Attributes
    ----------
    render          returns the content of every file by its path, from source, path and options; it writes nothing
    options         the type of its settings, a frozen dataclass
    find_losses     returns what the format cannot express of a source; None if it expresses everything
    find_leftovers  returns files that an earlier export under another name wrote; None if there are none
    keeps_content   whether the other content of the description, such as meshes and comments, is kept
    """

    render: Callable[[ExportSource, Path, Any], Mapping[Path, bytes]]
    options: type[Any] = NoOptions
    find_losses: Callable[[ExportSource, Path], tuple[Finding, ...]] | None = None
    find_leftovers: Callable[[ExportSource, Path, Any], tuple[Path, ...]] | None = None
    keeps_content: bool = False


def find_source(
    model: ExportInput,
    *,
    description: str | Path | None = None,
    force: bool = False,
    force_option: str = "force=True",
    snap: float = SNAP,
    fix_base: bool = False,
    floating_base: bool = False,
    lengths: Mapping[str, float] | None = None,
    angles: Mapping[str, float] | None = None,
    xacro_args: Mapping[str, str] | None = None,
    package_paths: Sequence[str | Path] = (),
) -> ExportSource:
    """Return the checked source of an export.

    ``model`` is the path of a model file or of a description, a name in the catalog, or one of the objects.
    ``description`` is the file whose other content is kept; by default the file that is exported or, for a model, the
    file beside it from which it was identified. ``force_option`` is how the user spells ``force``, for
    messages. The other arguments are those of ``load``.
    """
    path = None
    if isinstance(model, str | Path):
        path = check_path(model, "the model")
        refuse_newer_file(path)
        is_model = read_identification_table(path) is not None
        if is_model:
            if fix_base or floating_base:
                raise InputError(
                    f"{path} is an identified model, whose base stays as it was identified; use fix_base and "
                    "floating_base (--fix-base, --floating-base) when you identify it"
                )
            model = read_model(path)
        else:
            model = load(
                model,
                snap=snap,
                fix_base=fix_base,
                floating_base=floating_base,
                lengths=lengths,
                angles=angles,
                xacro_args=xacro_args,
                package_paths=package_paths,
            )
        path = _find_described(path, model) if is_model else path if path.is_file() else None
    if not isinstance(model, Robot | Model | Identification):
        raise InputError(
            f"a value of type {type(model).__name__} cannot be exported; give a model or a robot, or the path of one"
        )
    if description is not None:
        path = check_path(description, "the description")
    robot = model if isinstance(model, Robot) else model.robot
    _check_numbers(robot)
    if not force:
        if isinstance(model, Robot):
            check_inertias_are_complete(robot, "an export", alternative=f"use {force_option}")
        _check_verdict(model, force_option)
        _check_consistency(robot, force_option)
    return ExportSource(
        robot.numeric,
        _get_table(model),
        path,
        _describe_origin(model),
        must_keep=description is not None,
        xacro_args=xacro_args or {},
        package_paths=tuple(Path(folder).resolve() for folder in package_paths),
    )


def _find_described(path: Path, model: Model | Robot) -> Path | None:
    """Return the URDF or MJCF file from which a model was identified, if it is in the folder of the model."""
    name = model.source if isinstance(model, Robot) else model.robot.source
    if Path(name).name != name or Path(name).suffix.lower() not in XML_EXTENSIONS:
        return None  # not the name of a file
    return path.with_name(name) if path.with_name(name).is_file() else None


def refuse_newer_file(path: Path) -> None:
    """Raise InputError if a model file was written by a newer version of ytheta."""
    table = read_identification_table(path)
    if table is None:
        return
    version = table.get("ytheta")
    if not isinstance(version, str) or (numbers := _parse_version(version)) is None:
        raise InputError(f"{path}: 'ytheta' of its identification is {version!r}, not a version; identify it again")
    if numbers > (_parse_version(ytheta.__version__) or ()):
        raise InputError(
            f"{path} was written by ytheta {version}, and this is ytheta {ytheta.__version__}; update ytheta"
        )


def _parse_version(text: str) -> tuple[int, ...] | None:
    match = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in match.group().split(".")) if match else None


def _check_numbers(robot: Robot) -> None:
    """Raise InputError if inertias, lengths or angles are unknown; no option replaces them."""
    if robot.inertias_unknown:
        raise InputError(
            f"{robot.name!r} was identified with unknown geometry, so its links have no inertias that could be "
            "exported; identify it again with lengths and angles"
        )
    if robot.unset_symbols:
        raise InputError(
            f"{robot.unset_symbols[0]!r} of {robot.name!r} has no value; set it with lengths or angles "
            "(--length, --angle)"
        )


def _check_verdict(model: Robot | Model | Identification, force_option: str) -> None:
    if isinstance(model, Robot):
        return
    if isinstance(model, Identification):
        grade, reason = model.verdict.grade.value, model.verdict.sentence
    else:
        grade, reason = str(model.table.get("verdict", "unknown")), str(model.table.get("reason", ""))
    if grade not in ACCEPTED_GRADES:
        text = f" ({reason.rstrip('.')})" if reason else ""
        raise InputError(
            f"the verdict of the model of {model.robot.name!r} is {grade!r}{text}; improve the identification, or use "
            f"{force_option} to export it nevertheless"
        )


def _check_consistency(robot: Robot, force_option: str) -> None:
    inconsistent = find_inconsistent_parts(robot)
    if inconsistent:
        parts = [f"{name!r}: {reason}" for name, reason in inconsistent.items()]
        more = f" and {len(parts) - MAX_LISTED_PARTS} more" if len(parts) > MAX_LISTED_PARTS else ""
        raise InputError(
            f"{robot.name!r} is not physically consistent ({'; '.join(parts[:MAX_LISTED_PARTS])}{more}); correct it, "
            f"or use {force_option} to export it nevertheless"
        )


def _get_table(model: Robot | Model | Identification) -> Mapping[str, Any] | None:
    """Return the table ``[identification]``, for an identification as its model file would contain it."""
    if isinstance(model, Model):
        return model.table
    if isinstance(model, Identification):
        from ytheta.files.toml import parse_toml
        from ytheta.identification.model_file import model_to_toml
        from ytheta.identification.model_table import TABLE

        table: Mapping[str, Any] = parse_toml(model_to_toml(model).encode("utf-8"), "the identification")[TABLE]
        return table
    return None


def _describe_origin(model: Robot | Model | Identification) -> str:
    if isinstance(model, Robot):
        return "description"
    if isinstance(model, Identification):
        logs, verdict = model.origin.logs, model.verdict.grade.value
    else:
        logs, verdict = tuple(map(str, model.table.get("logs", ()))), str(model.table.get("verdict", "unknown"))
    names = ", ".join(Path(log).name for log in logs)  # folders of this computer mean nothing elsewhere
    return f"identified from {names or 'unknown logs'}; verdict {verdict}"
