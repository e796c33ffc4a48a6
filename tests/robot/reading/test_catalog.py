"""The catalog as a value: a sequence of entries that agree with the robots."""

from __future__ import annotations

import pytest

import ytheta as yt
from ytheta.robot.reading.catalog import Catalog, CatalogEntry


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return yt.robots()


def test_entries_describe_the_robots(catalog: Catalog) -> None:
    for entry in catalog:
        robot = yt.load(entry.name)
        assert entry == CatalogEntry(robot.name, len(robot.movable), len(robot.loops), robot.about)
    assert catalog.names == tuple(sorted(catalog.names))
    assert {"panda", "walker"} <= set(catalog.names)


def test_the_catalog_is_a_sequence(catalog: Catalog) -> None:
    assert len(catalog) == len(list(catalog)) > 10
    assert catalog[0] in catalog
    names: tuple[object, ...] = ("ur10", "ur11")
    assert [name in catalog for name in names] == [True, False]
    assert catalog[1:3] == catalog.entries[1:3]
    assert next(entry for entry in catalog if entry.name == "walker").loops == 2


def test_the_catalog_shows_itself(catalog: Catalog) -> None:
    assert repr(catalog) == f"Catalog({len(catalog)} robots)"
    lines = str(catalog).splitlines()
    assert sum(line.split()[:1] == [name] for line in lines for name in catalog.names) == len(catalog)
    assert catalog.to_dict()["robots"][0].keys() == {"name", "joints", "loops", "about"}
