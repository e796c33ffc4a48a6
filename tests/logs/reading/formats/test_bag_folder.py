"""The files of bags: compressed ones are read, and bounds hold; the metadata name no other files."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from backports import zstd

from tests.support.joint_state_bags import write_bag
from tests.support.log_files import ARM, ARM_LOG, assert_same_log
from ytheta.errors import InputError
from ytheta.logs.reading.formats.bag import read_bag
from ytheta.logs.reading.formats.bag_files import MAX_MESSAGE_SIZE
from ytheta.logs.reading.read import read_log

LARGE = 200_000_000  # bytes


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    return write_bag(tmp_path / "bag", "SQLITE3", ARM_LOG, names=list(ARM.actuated))


def edit_metadata(bag: Path, **values: str) -> None:
    text = (bag / "metadata.yaml").read_text()
    for name, value in values.items():
        text, count = re.subn(rf"(?m)^( *{name}:).*$", lambda match, value=value: f"{match[1]} {value}", text)  # type: ignore[misc]
        assert count == 1
    (bag / "metadata.yaml").write_text(text)


def compress_messages(bag: Path, content: bytes | None = None) -> None:
    """Compress each message, or replace it by the same content."""
    (path,) = bag.glob("*.db3")
    with closing(sqlite3.connect(path)) as database:
        for number, data in database.execute("select id, data from messages").fetchall():
            database.execute("update messages set data = ? where id = ?", (zstd.compress(content or data), number))
        database.commit()
    edit_metadata(bag, compression_mode="MESSAGE", compression_format="zstd")


def compress_file(bag: Path, content: bytes | None = None) -> None:
    (path,) = bag.glob("*.db3")
    compressed = zstd.compress(content or path.read_bytes())
    path.unlink()
    path.with_name(path.name + ".zstd").write_bytes(compressed)
    text = (bag / "metadata.yaml").read_text().replace(path.name, path.name + ".zstd")
    (bag / "metadata.yaml").write_text(text)
    edit_metadata(bag, compression_mode="FILE", compression_format="zstd")


def assert_read(bag: Path) -> None:
    assert_same_log(replace(read_log(bag, ARM), t=ARM_LOG.t), ARM_LOG)


def assert_refused(bag: Path, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read_bag(bag, ARM.actuated)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("compress", [compress_messages, compress_file])
def test_compressed_bags_are_read(compress: object, bag: Path) -> None:
    compress(bag)  # type: ignore[operator]
    assert_read(bag)


def test_compressed_messages_have_a_bound(bag: Path) -> None:
    compress_messages(bag, bytes(MAX_MESSAGE_SIZE + 1))
    assert_refused(bag, f"at most {MAX_MESSAGE_SIZE} bytes after decompression")


def test_compressed_files_have_a_bound(bag: Path) -> None:
    compress_file(bag, bytes(LARGE))
    assert_refused(bag, "becomes larger than a log can")


def test_bags_of_several_files_are_read(bag: Path) -> None:
    (path,) = bag.glob("*.db3")
    second = path.with_name("second.db3")
    second.write_bytes(path.read_bytes())
    half = len(ARM_LOG) // 2
    for file, comparison in ((path, ">"), (second, "<=")):
        with closing(sqlite3.connect(file)) as database:
            database.execute(f"delete from messages where id {comparison} {half}")
            database.commit()
    text = (bag / "metadata.yaml").read_text()
    (bag / "metadata.yaml").write_text(re.sub(rf"(?m)^( *)- {path.name}$", rf"\1- {path.name}\n\1- second.db3", text))
    assert_read(bag)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("[none.db3]", "the file 'none.db3', which its metadata.yaml lists, is missing"),
        ("[../../other.db3]", "the file '../../other.db3', which"),
        ("[bag.db3, bag.db3]", "one of them twice"),
        ("[]", "lists no files"),
        ("[bag.db3, 1]", "no list of files"),
        ("{bag.db3: 1}", "no list of files"),
        ("[bag.bin]", "'bag.bin' does not end in .mcap or .db3"),
        ("[pipe.db3]", "'pipe.db3', which its metadata.yaml lists, is missing"),
        ("[a, b", "not valid YAML"),
    ],
)
def test_lists_of_other_files_are_refused(name: str, words: str, bag: Path) -> None:
    (bag.parent.parent / "other.db3").unlink(missing_ok=True)
    (bag / "bag.bin").write_bytes((bag / "bag.db3").read_bytes())
    os.mkfifo(bag / "pipe.db3")
    text = (bag / "metadata.yaml").read_text()
    changed = re.sub(r"relative_file_paths:\s*- bag\.db3", f"relative_file_paths: {name}", text)
    assert changed != text
    (bag / "metadata.yaml").write_text(changed)
    assert_refused(bag, re.escape(words).replace("\\.", "."))


def test_metadata_are_checked(bag: Path) -> None:
    edit_metadata(bag, version="10")
    assert_refused(bag, "a bag of version 10, but versions up to 9")
    edit_metadata(bag, version="9", compression_mode="secret")
    assert_refused(bag, "compression mode 'secret' is not known")
    edit_metadata(bag, compression_mode="file", compression_format="rar")
    assert_refused(bag, "compressed with 'rar'")
    (bag / "metadata.yaml").write_text("x" * 2_000_000)
    assert_refused(bag, "2 MB and was not read")
    (bag / "metadata.yaml").write_text("just a text")
    assert_refused(bag, "does not describe a bag with a version")


@pytest.mark.parametrize("name", ["run%31.db3", "run1?x=.db3", "run1#.db3"])
def test_another_file_than_the_named_one_is_never_read(name: str, bag: Path) -> None:
    """SQLite would open run1.db3, run1 and run1."""
    content = (bag / "bag.db3").read_bytes()
    for other in ("run1.db3", "run1"):
        (bag / other).write_bytes(content)
    (bag / name).write_bytes(b"another motion")
    assert_refused(bag / name, r"in its path, which SQLite does not read literally; rename")
