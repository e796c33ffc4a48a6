"""``ytheta robots``: the catalog."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from ytheta.cli.options import AsJson, console, print_json
from ytheta.robot import catalog
from ytheta.robot.reading.toml.reader import read_toml


def robots(as_json: AsJson = False) -> None:
    """List the robots that come with ytheta.

    Example: `ytheta robots`, then `ytheta inspect panda`.
    """
    rows = [_row(name) for name in catalog.list_names()]
    if as_json:
        print_json({"robots": rows})
        return
    table = Table("robot", "joints", "loops", "about", box=box.SIMPLE_HEAD, pad_edge=False)
    table.columns[1].justify = table.columns[2].justify = "right"
    for row in rows:
        table.add_row(*(Text(str(row[key] or "")) for key in ("name", "joints", "loops", "about")))
    console().print(table)


def _row(name: str) -> dict[str, object]:
    path = catalog.find_path(name)
    robot = read_toml(path.read_bytes(), path, snap=0.0)
    return {"name": name, "joints": len(robot.movable), "loops": len(robot.loops), "about": robot.about}
