"""Bags that loop for ever or take all memory end in one error; other bags give the same table as without a child."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from tests.support.joint_state_bags import write_bag
from tests.support.log_files import ARM, ARM_LOG
from ytheta.engine.child_process import Reply
from ytheta.engine.limited_process import ProcessLimits
from ytheta.errors import InputError, MissingExtraError
from ytheta.logs.reading.formats.bag import read_bag, read_isolated_bag
from ytheta.logs.reading.read import read_log

NUMBERS = "with recursive r(id) as (select 1 union all select id + 1 from r)"  # without an end


def write_database(folder: Path, *statements: str) -> Path:
    (path,) = write_bag(folder, "SQLITE3", ARM_LOG, names=list(ARM.actuated)).glob("*.db3")
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    return path


def test_the_table_is_that_of_the_reader(tmp_path: Path) -> None:
    path = write_database(tmp_path / "bag")
    table, expected = read_isolated_bag(path, ARM.actuated), read_bag(path, ARM.actuated)
    assert (table.names, table.rows) == (expected.names, expected.rows)
    for column, expected_column in zip(table.columns, expected.columns, strict=True):
        np.testing.assert_array_equal(column[0 : table.rows], expected_column[0 : table.rows])


def test_a_query_without_an_end_is_ended(tmp_path: Path) -> None:
    view = f"create view schema as {NUMBERS} select sum(id) as schema_version from r"
    path = write_database(tmp_path / "bag", "drop table schema", view)
    with pytest.raises(InputError, match=r"bag\.db3 cannot be read as a ROS 2 bag: it takes longer than 2 s"):
        read_isolated_bag(path, ARM.actuated, limits=ProcessLimits(memory=2**32, seconds=2.0, processor_seconds=60.0))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces limits of memory")
@pytest.mark.parametrize(
    ("table", "query", "words"),
    [
        ("schema", "select hex(zeroblob(400000000)) as schema_version", "memory"),
        (
            "message_definitions",  # is sorted, in a temporary file
            f"{NUMBERS} select id, 'a' topic_type, 'b' encoding, hex(zeroblob(10000000)) encoded_message_definition, "
            "'d' type_description_hash from r",
            "full|disk",
        ),
    ],
)
def test_queries_can_take_neither_all_memory_nor_all_disk(table: str, query: str, words: str, tmp_path: Path) -> None:
    path = write_database(tmp_path / "bag", f"drop table {table}", f"create view {table} as {query}")
    with pytest.raises(InputError, match=rf"cannot be read as a ROS 2 bag: .*({words})"):
        read_isolated_bag(
            path, ARM.actuated, limits=ProcessLimits(memory=5 * 10**8, seconds=60.0, processor_seconds=60.0)
        )


def test_errors_keep_their_kind(tmp_path: Path) -> None:
    path = write_database(tmp_path / "bag")
    with pytest.raises(InputError, match="elbow is missing"):
        read_isolated_bag(path, ["joint1", "elbow"])

    def answer(*_arguments: object, **_options: object) -> None:
        raise MissingExtraError("there is no module")

    def run_here(module: str, function: str, request: object, _limits: ProcessLimits) -> Reply:
        """Run both sides in this process, where the reader can be replaced."""
        reply: Reply = getattr(sys.modules[module], function)(request)
        return reply

    process = "ytheta.logs.reading.formats.bag"
    with mock.patch(f"{process}.run_limited", run_here):
        assert read_isolated_bag(path, ARM.actuated).rows == len(ARM_LOG)
        with mock.patch(f"{process}.read_bag", answer), pytest.raises(MissingExtraError, match="there is no module"):
            read_isolated_bag(path, ARM.actuated)


def test_logs_are_read_in_a_child(tmp_path: Path) -> None:
    path = write_database(tmp_path / "bag")
    with mock.patch(
        "ytheta.logs.reading.formats.bag._collect_messages", side_effect=AssertionError
    ):  # not in this process
        assert len(read_log(path, ARM)) == len(ARM_LOG)
