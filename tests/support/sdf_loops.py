"""SDF models with closed loops, and one with a gearbox."""

from __future__ import annotations

from tests.support.sdf_models import ON_WORLD, make_document, make_joint, make_link


def _make_bar(name: str, pose: str) -> str:
    return make_link(name, pose, 0.5)


# A four-bar linkage: the crank a, the coupler b and the rocker c; the last joint closes the loop.
_BARS = (
    make_link("base")
    + _make_bar("a", "0 0 0 0 0 0")
    + _make_bar("b", "0 0 0.2 0 0 0")
    + _make_bar("c", "0.3 0 0 0 0 0")
    + ON_WORLD
    + make_joint("ja", "base", "a", axis="<xyz>0 1 0</xyz><limit><effort>5</effort></limit>")
    + make_joint("jb", "a", "b", axis="<xyz>0 1 0</xyz>")
    + make_joint("jc", "base", "c", axis="<xyz>0 1 0</xyz>")
)
_END = "<pose>0 0 0.3 0 0 0</pose>"
LOOPS = {
    "revolute": make_document(_BARS + make_joint("je", "b", "c", axis="<xyz>0 1 0</xyz>", extra=_END)),
    "ball": make_document(_BARS + make_joint("je", "b", "c", kind="ball", axis="", extra=_END)),
    "universal": make_document(
        _BARS
        + make_joint(
            "je", "b", "c", kind="universal", axis="<xyz>0 1 0</xyz>", extra=f"<axis2><xyz>1 0 0</xyz></axis2>{_END}"
        )
    ),
    "gearbox": make_document(
        make_link("base")
        + _make_bar("a", "0 0 0.1 0 0 0")
        + _make_bar("b", "0 0.2 0.1 0 0 0")
        + ON_WORLD
        + make_joint("ja", "base", "a", axis="<xyz>0 1 0</xyz>")
        + make_joint("jb", "b", "base", axis="<xyz>0 1 0</xyz>")
        + make_joint(
            "gear",
            "a",
            "b",
            kind="gearbox",
            axis="<xyz>0 1 0</xyz>",
            extra="<axis2><xyz>0 1 0</xyz></axis2><gearbox_ratio>0.25</gearbox_ratio>"
            "<gearbox_reference_body>base</gearbox_reference_body>",
        )
    ),
}
