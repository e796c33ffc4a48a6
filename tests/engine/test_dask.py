"""The Dask engine: order, errors, clusters, and closed loops that are bit-identical to local ones."""

from __future__ import annotations

import logging
import os
import pickle
import socket
from collections.abc import Iterator

import numpy as np
import pytest

from tests.support.engine_loops import run_puma_loop
from tests.support.engine_work import CachingWork, square
from ytheta.engine import dask as dask_engine
from ytheta.engine.engine import Engine
from ytheta.engine.local import Local
from ytheta.engine.registry import open_engine
from ytheta.errors import InputError
from ytheta.simulation.closed_loop import compiled as closed_loop
from ytheta.simulation.closed_loop.compiled import ClosedLoop

pytest.importorskip("distributed", reason="distributed is not installed: pip install 'ytheta[dask]'")


def test_results_come_in_order_from_several_processes(cluster: Engine) -> None:
    results = list(cluster.map_in_order(square, range(40)))
    assert [value for value, _ in results] == [k * k for k in range(40)]
    assert len({process for _, process in results}) == 2
    assert os.getpid() not in {process for _, process in results}
    assert list(cluster.map_in_order(square, ())) == []
    assert [value for value, _ in Local(2).map_in_order(square, range(40))] == [k * k for k in range(40)]


def test_few_items_are_read_ahead(cluster: Engine) -> None:
    read_items: list[int] = []

    def items() -> Iterator[int]:
        for k in range(100):
            read_items.append(k)
            yield k

    results = cluster.map_in_order(square, items())
    assert next(results)[0] == 0
    assert len(read_items) <= 4
    results.close()  # type: ignore[attr-defined]


def test_an_error_of_the_work_is_raised_unchanged(cluster: Engine, capfd: pytest.CaptureFixture[str]) -> None:
    results = cluster.map_in_order(square, [3, -1, 4])
    assert next(results)[0] == 9
    with pytest.raises(InputError, match=r"^-1 is negative; give another$"):
        next(results)
    assert next(cluster.map_in_order(square, [5]))[0] == 25  # the cluster still works
    assert capfd.readouterr() == ("", "")


def test_closed_loops_are_bit_identical(
    cluster: Engine, loop: ClosedLoop, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Every run has its own noise, gains and parameters; there is a parameter change, and batches differ in size."""
    local = run_puma_loop(loop, "local", [])
    monkeypatch.setattr(closed_loop, "RUNS_PER_BATCH", 2)
    progress: list[int] = []
    remote = run_puma_loop(loop, cluster, progress)
    assert progress == [2, 4, 6, 8, 10, 11]
    arrays = ("t", "q", "qd", "tau", "controller_state", "read_q", "read_qd", "read_tau", "final_q")
    for name in (*arrays, "final_controller_state", "rms"):
        np.testing.assert_array_equal(getattr(remote, name), getattr(local, name), err_msg=name)
    assert (remote.read_tau != remote.tau).all()
    assert len(np.unique(remote.final_q[:, 0])) == 11
    assert capfd.readouterr() == ("", "")


def test_work_is_sent_once_per_worker(cluster: Engine, loop: ClosedLoop) -> None:
    """The work stays on the worker, with the values that it caches."""
    control_period = loop._control_period
    _ = control_period.kernel
    sent = pickle.loads(pickle.dumps(control_period))
    assert "kernel" not in vars(sent)
    assert sent.graph.digest == control_period.graph.digest
    results = list(cluster.map_in_order(CachingWork().run, range(20)))
    assert [(item, count) for item, count, _ in results] == [(item, 1) for item in range(20)]
    assert len({process for _, _, process in results}) < 20


def test_processes_and_settings_are_cleaned_up() -> None:
    """They are also cleaned up after an error."""
    before = logging.getLogger("distributed").level
    with open_engine("dask", threads=1) as workers:
        _, process = next(workers.map_in_order(square, [2]))
        failing = workers.map_in_order(square, [-1])
        with pytest.raises(InputError, match="negative"):
            next(failing)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    assert logging.getLogger("distributed").level == before


def test_a_running_cluster_can_be_used(cluster: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(cluster, dask_engine.Dask)
    address = cluster.client.scheduler.address
    for name in (address, address.replace("tcp://", "dask://")):
        with open_engine(name) as workers:
            assert [value for value, _ in workers.map_in_order(square, range(5))] == [0, 1, 4, 9, 16]
    monkeypatch.setattr(dask_engine, "CONNECT_TIMEOUT", 0.5)
    worker = next(iter(cluster.client.scheduler_info()["workers"]))
    with pytest.raises(InputError, match="is not a Dask scheduler but a Worker"), open_engine(worker):
        pass
    assert next(cluster.map_in_order(square, [5]))[0] == 25  # it still runs


def test_addresses_without_a_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_engine, "CONNECT_TIMEOUT", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for name, message in {
            "dask://127.0.0.1:1": "no Dask scheduler answers at tcp://127.0.0.1:1: .* with: dask scheduler",
            "dask://127.0.0.1": "missing port",
            f"tcp://127.0.0.1:{silent.getsockname()[1]}": "no answer within 0.3 s",
            "dask://": "has no address; add one, as in",
        }.items():
            with pytest.raises(InputError, match=message), open_engine(name):
                pass
