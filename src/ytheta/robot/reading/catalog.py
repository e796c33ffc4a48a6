"""The catalog: the robots that come with ytheta. Each is one TOML file, which gives the source of every number.

Reading a robot loads NumPy, so the reader is imported only then: the shell completes names with this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

from ytheta.display import Displayed

_FOLDER = Path(__file__).parents[1] / "catalog"


@dataclass(frozen=True)
class CatalogEntry:
    """One robot of the catalog.

    Attributes
    ----------
    name    the name for ``load`` and for the command line
    joints  number of movable joints
    loops   number of closed loops
    about   one line of description
    """

    name: str
    joints: int
    loops: int
    about: str


@dataclass(frozen=True, repr=False)
class Catalog(Displayed, Sequence[CatalogEntry]):
    """The robots that come with ytheta, sorted by name: a sequence of ``CatalogEntry``.

    Attributes
    ----------
    entries  the entries
    names    names of the robots
    """

    entries: tuple[CatalogEntry, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the robots."""
        return tuple(entry.name for entry in self.entries)

    @overload
    def __getitem__(self, index: int) -> CatalogEntry: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[CatalogEntry, ...]: ...
    def __getitem__(self, index: int | slice) -> CatalogEntry | tuple[CatalogEntry, ...]:
        return self.entries[index]

    def __contains__(self, value: object) -> bool:
        """Whether the catalog has this entry, or an entry with this name."""
        return value in self.names or value in self.entries

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"Catalog({len(self)} robots)"


def list_names() -> tuple[str, ...]:
    """Return the names of all robots, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def find_path(name: str) -> Path:
    """Return the file of a robot."""
    return _FOLDER / f"{name}.toml"


def robots() -> Catalog:
    """Return the catalog: name, number of joints and loops, and a description of each robot that ``load`` knows."""
    return Catalog(tuple(_read_entry(name) for name in list_names()))


def _read_entry(name: str) -> CatalogEntry:
    from ytheta.robot.reading.toml import parse_robot

    path = find_path(name)
    robot = parse_robot(path.read_bytes(), path, snap=0.0)
    return CatalogEntry(name, len(robot.movable), len(robot.loops), robot.about)
