"""The cache on disk: hits, damaged and foreign files, missing folders, several processes."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.support.kernel_cache import forget_machines
from tests.support.kernel_graphs import chain_tolerance, draw_inputs, planar_chain
from ytheta.files.atomic import create_temporary
from ytheta.native import cache, compile_graph
from ytheta.native.graph import Graph


def find_only_file(cache_folder: Path) -> Path:
    (file,) = cache_folder.iterdir()
    return file


def compile_and_check(graph: Graph) -> str:
    """Compile without the machine code in memory, check the result, and return the origin of the code."""
    forget_machines()
    kernel = compile_graph(graph)
    inputs = draw_inputs(graph, 9)
    expected = compile_graph(graph, backend="interpreter")(*inputs)
    np.testing.assert_allclose(kernel(*inputs), expected, rtol=0, atol=chain_tolerance(3))
    return kernel.about.origin


def test_code_comes_from_the_compiler_then_memory_then_disk(cache_folder: Path) -> None:
    graph = planar_chain(3)
    assert compile_and_check(graph) == "compiled"
    assert compile_graph(graph).about.origin == "memory"
    assert compile_and_check(graph) == "disk"
    assert compile_graph(graph, cache=False).about.origin == "compiled"
    assert cache_folder.stat().st_mode & 0o777 == 0o700
    assert find_only_file(cache_folder).stat().st_mode & 0o777 == 0o600
    assert compile_and_check(planar_chain(2)) == "compiled"
    assert len(list(cache_folder.iterdir())) == 2


def list_ways_to_damage() -> dict[str, Callable[[Path], object]]:
    def flip_bit(index: int) -> Callable[[Path], object]:
        def flip(path: Path) -> None:
            content = bytearray(path.read_bytes())
            content[index] ^= 1
            path.write_bytes(content)

        return flip

    return {
        "payload": flip_bit(-100),
        "last byte": flip_bit(-1),
        "magic": flip_bit(0),
        "key": flip_bit(20),
        "checksum": flip_bit(60),
        "length": flip_bit(80),
        "truncated": lambda path: path.write_bytes(path.read_bytes()[:-500]),
        "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
        "header only": lambda path: path.write_bytes(path.read_bytes()[:88]),
        "half a header": lambda path: path.write_bytes(path.read_bytes()[:40]),
        "empty": lambda path: path.write_bytes(b""),
        "foreign": lambda path: path.write_bytes(b"\x7fELF" + b"\0" * 4096),
        "writable by all": lambda path: path.chmod(0o666),
        "writable by the group": lambda path: path.chmod(0o660),
    }


@pytest.mark.parametrize("kind", list_ways_to_damage())
def test_a_damaged_file_is_replaced(cache_folder: Path, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    graph = planar_chain(3)
    compile_and_check(graph)
    good = find_only_file(cache_folder).read_bytes()
    list_ways_to_damage()[kind](find_only_file(cache_folder))
    with caplog.at_level(logging.WARNING, "ytheta"):
        assert compile_and_check(graph) == "compiled"
    assert "will be replaced" in caplog.text
    assert find_only_file(cache_folder).read_bytes() == good
    assert compile_and_check(graph) == "disk"


def test_the_file_of_another_kernel_is_not_used(cache_folder: Path) -> None:
    graph, other = planar_chain(3), planar_chain(2)
    compile_and_check(graph)
    file = find_only_file(cache_folder)
    content = file.read_bytes()
    file.unlink()
    compile_and_check(other)
    find_only_file(cache_folder).write_bytes(content)
    assert compile_and_check(other) == "compiled"


def test_a_link_or_a_folder_in_place_of_the_file(cache_folder: Path, tmp_path: Path) -> None:
    graph = planar_chain(3)
    compile_and_check(graph)
    file = find_only_file(cache_folder)
    moved = tmp_path / "elsewhere"
    file.rename(moved)
    file.symlink_to(moved)
    assert compile_and_check(graph) == "compiled"
    file.unlink()
    file.mkdir()
    assert compile_and_check(graph) == "compiled"
    assert [entry.name for entry in cache_folder.iterdir()] == [file.name]  # no temporary file is left


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_pipe_in_place_of_the_file_does_not_block(cache_folder: Path) -> None:
    graph = planar_chain(3)
    compile_and_check(graph)
    file = find_only_file(cache_folder)
    file.unlink()
    os.mkfifo(file)
    assert compile_and_check(graph) == "compiled"


def test_the_file_of_another_user_is_not_used(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = planar_chain(3)
    compile_and_check(graph)
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    assert compile_and_check(graph) == "compiled"
    assert find_only_file(cache_folder).exists()


def test_kernels_compile_if_the_folder_cannot_be_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("YTHETA_CACHE", str(tmp_path / "file" / "kernels"))
    with caplog.at_level(logging.INFO, "ytheta"):
        assert compile_and_check(planar_chain(3)) == "compiled"
    assert "cannot be stored" in caplog.text
    assert compile_and_check(planar_chain(3)) == "compiled"


def test_a_full_disk_leaves_no_file(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert compile_and_check(planar_chain(3)) == "compiled"
    assert list(cache_folder.iterdir()) == []


def test_the_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("YTHETA_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.find_cache_folder() == tmp_path / "ytheta" / "kernels"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.find_cache_folder() == tmp_path / ".cache" / "ytheta" / "kernels"


def test_the_key_keeps_its_parts_apart() -> None:
    assert cache.make_key("a", "bc") != cache.make_key("ab", "c")


def test_processes_may_compile_the_same_graph_at_once(cache_folder: Path) -> None:
    code = (
        "import casadi, numpy as np\n"
        "from ytheta.native.graph import Input, trace\n"
        "from ytheta.native import compile_graph\n"
        "x = casadi.SX.sym('x', 40)\n"
        "y = [x[0]]\n"
        "for k in range(1500): y.append(casadi.sin(y[-1]) * x[k % 40] + k)\n"
        "graph = trace('g', [(Input('x', 40), x)], np.array(y[-5:], dtype=object))\n"
        "kernel = compile_graph(graph)\n"
        "print(kernel(np.linspace(0, 1, 400).reshape(10, 40)).tobytes().hex())\n"
    )
    command = [sys.executable, "-c", code]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = [subprocess.Popen(command, **pipes) for _ in range(8)]  # type: ignore[call-overload]
    answers = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [0] * 8, answers
    assert len({output for output, _ in answers}) == 1
    assert find_only_file(cache_folder).suffix == ".o"


def test_files_that_were_not_used_for_long_are_deleted(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [bytes([k]) * 32 for k in range(6)]
    now = time.time()
    for age, key in enumerate(reversed(keys), start=1):
        cache.write(key, b"x" * 1000, "graph")
        os.utime(cache.make_cache_path(key, "graph"), (now - age, now - age))
    (cache_folder / "notes.txt").write_text("x" * 5000)  # not a file of the cache
    assert cache.read(keys[0], "graph") is not None  # the oldest file has been used again
    monkeypatch.setattr(cache, "MAX_FOLDER_SIZE", 7000)
    cache.clean_folder.cache_clear()
    cache.clean_folder(cache_folder)
    assert len(list(cache_folder.iterdir())) == 7  # small enough
    monkeypatch.setattr(cache, "MAX_FOLDER_SIZE", 6000)
    cache.clean_folder.cache_clear()
    cache.write(b"n" * 32, b"new", "graph")
    kept = {key for key in (*keys, b"n" * 32) if cache.make_cache_path(key, "graph").exists()}
    assert kept == {keys[0], keys[5], b"n" * 32}
    assert (cache_folder / "notes.txt").exists()
    cache.clean_folder.cache_clear()


def test_only_files_of_the_cache_are_deleted(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_FOLDER_SIZE", 0)
    old = time.time() - 0.5 * cache.MAX_AGE
    cache.write(b"k" * 32, b"payload", cache.BASIS)
    own = cache.make_cache_path(b"k" * 32, cache.BASIS)
    content, digest = own.read_bytes(), "ab" * 32
    deleted = {
        f"{digest}.graph": content,
        f"{digest}.o": content.replace(b" 1\n", b" 9\n"),
        f".ytheta-{digest[:16]}.o": b"",  # of a process that was killed before it wrote anything
    }
    kept = {
        f"{digest}.basis": b"of another program",
        f"{digest}.parquet": content,
        ".ytheta-notes": b"of another program",
    }
    for name, text in (deleted | kept).items():
        (cache_folder / name).write_bytes(text)
        os.utime(cache_folder / name, (old, old))
    (cache_folder / f"{'cd' * 32}.o").symlink_to(cache_folder / f"{digest}.parquet")
    cache.clean_folder.cache_clear()
    with create_temporary(own) as written:
        cache.clean_folder(cache_folder)
        assert {path.name for path in cache_folder.iterdir()} == {*kept, written.name, f"{'cd' * 32}.o"}


def test_old_files_are_deleted(cache_folder: Path) -> None:
    for name, age in (("a", 1.01), ("b", 0.99)):
        cache.write(name.encode() * 32, b"payload")
        last_use = time.time() - age * cache.MAX_AGE
        os.utime(cache.make_cache_path(name.encode() * 32), (last_use, last_use))
    cache.clean_folder.cache_clear()
    cache.clean_folder(cache_folder)
    assert find_only_file(cache_folder) == cache.make_cache_path(b"b" * 32)


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_folder_that_others_can_write_is_not_used(
    mode: int, cache_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache.write(b"a" * 32, b"payload")
    cache_folder.chmod(mode)
    cache._warn_about_folder.cache_clear()
    with caplog.at_level(logging.WARNING, "ytheta"):
        assert cache.read(b"a" * 32) is None
        cache.write(b"b" * 32, b"payload")
    assert len(caplog.messages) == 1
    assert f"chmod 700 {cache_folder}" in caplog.messages[0]
    cache_folder.chmod(0o700)
    assert cache.read(b"a" * 32) == b"payload"  # the twin
    assert cache.read(b"b" * 32) is None


def test_files_may_disappear_while_they_are_listed(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.write(b"a" * 32, b"first")
    scan = os.scandir

    @contextmanager
    def scan_and_delete(folder: Path) -> Iterator[list[os.DirEntry[str]]]:
        with scan(folder) as entries:
            found = list(entries)
        cache.make_cache_path(b"a" * 32).unlink(missing_ok=True)
        yield found

    monkeypatch.setattr(os, "scandir", scan_and_delete)
    cache.clean_folder.cache_clear()
    cache.write(b"b" * 32, b"second")
    assert find_only_file(cache_folder) == cache.make_cache_path(b"b" * 32)
    assert cache.read(b"b" * 32) == b"second"


@pytest.mark.skipif(os.utime not in os.supports_fd, reason="times are set by path on this system")
def test_the_time_of_use_belongs_to_the_file_that_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, other, trust = b"k" * 32, tmp_path / "other", cache._is_trusted
    cache.write(key, b"payload")
    other.write_text("of another program")
    os.utime(other, (1e9, 1e9))

    def replace_by_link(status: os.stat_result) -> bool:
        cache.make_cache_path(key).unlink()
        cache.make_cache_path(key).symlink_to(other)
        return trust(status)

    monkeypatch.setattr(cache, "_is_trusted", replace_by_link)
    assert cache.read(key) == b"payload"
    assert other.stat().st_mtime == 1e9
