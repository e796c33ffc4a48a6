"""The load as ``set_target_payload`` of URScript takes it.

Reference     Universal Robots, Script manual (PolyScope 5.10 and later), ``set_target_payload(m, cog, inertia)``
Units         kg; m from the tool mount; kg m^2 about the centre of gravity as [Ixx, Iyy, Izz, Ixy, Ixz, Iyz]
Frame         the tool flange, which the ROS descriptions call ``tool0``; their ``flange`` has other axes
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ytheta.errors import InputError
from ytheta.exporting.settings.payload import PayloadOptions, find_payload
from ytheta.exporting.source import ExportSource

Options = PayloadOptions
SUFFIX = ".script"
USUAL_ENDING = "tool0"
MAX_MOMENT = 133.0  # kg m^2, in magnitude, of every entry (script manual)


def render(source: ExportSource, path: Path, *, options: PayloadOptions) -> Mapping[Path, bytes]:
    """Return one call of ``set_target_payload`` with a comment."""
    if path.suffix.lower() != SUFFIX:
        raise InputError(f"{path}: this file must have the extension {SUFFIX}; change its name")
    payload = find_payload(source.robot, options, USUAL_ENDING)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = payload.inertia
    moments = (xx, yy, zz, xy, xz, yz)
    if max(map(abs, moments)) > MAX_MOMENT:
        raise InputError(f"the load {payload.name!r} has an inertia beyond {MAX_MOMENT:g} kg m^2, which UR refuses")
    names = f"load {payload.name!a} of {source.robot.name!a} in the frame {payload.flange!a}"
    lines = (
        f"# {names}; {source.origin!a}",
        "# mass in kg, centre of gravity in m, [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] about it in kg m^2, in flange axes",
        f"set_target_payload({_format_number(payload.mass)}, {_format(payload.center)}, {_format(moments)})",
        "",
    )
    return {path: "\n".join(lines).encode("ascii")}


def _format(values: Iterable[float]) -> str:
    return f"[{', '.join(map(_format_number, values))}]"


def _format_number(value: float) -> str:
    """Return a number to 12 decimals; URScript does not document exponents, so that none are used."""
    text = f"{value:.12f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
