"""The Dask engine: order, errors, clusters, and closed loops that are bit-identical to local ones."""

from __future__ import annotations

import logging
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import numpy as np
import pytest

import ytheta
from tests.support.engine_loops import run_puma_loop
from tests.support.engine_work import CachingWork, slow_square, square
from ytheta.engine import dask as dask_engine
from ytheta.engine.engine import Engine
from ytheta.engine.local import Local
from ytheta.engine.registry import open_engine
from ytheta.errors import InputError
from ytheta.simulation import closed_loop
from ytheta.simulation.closed_loop import ClosedLoop

distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install 'ytheta[dask]'")


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


@pytest.fixture(scope="module")
def running() -> Iterator[Any]:
    """A cluster of one process without certificates, as users start it on a network of their own."""
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        protocol="tcp",
        dashboard_address="127.0.0.1:0",
        scheduler_kwargs={"dashboard": False},
        silence_logs=logging.CRITICAL,
    ) as cluster:
        yield cluster


def test_a_running_cluster_can_be_used(running: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    address = running.scheduler_address
    for name in (address, address.replace("tcp://", "dask://")):
        with open_engine(name) as workers:
            assert [value for value, _ in workers.map_in_order(square, range(5))] == [0, 1, 4, 9, 16]
    with open_engine(address) as workers:
        assert isinstance(workers, dask_engine.Dask)
        worker = next(iter(workers.client.scheduler_info()["workers"]))
        monkeypatch.setattr(dask_engine, "CONNECT_TIMEOUT", 2.0)
        with pytest.raises(InputError, match="is not a Dask scheduler but a Worker"), open_engine(worker):
            pass
        assert next(iter(workers.map_in_order(square, [5])))[0] == 25  # it still runs


def test_workers_of_another_version_are_refused(running: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    here = ytheta.__version__
    monkeypatch.setattr(ytheta, "__version__", "99.0")
    message = f"has ytheta {re.escape(here)}, but this process has 99.0; install the same version"
    with pytest.raises(InputError, match=message), open_engine(running.scheduler_address):
        pass


def test_nobody_without_the_certificate_gets_in(cluster: Engine) -> None:
    """Others can neither connect to the scheduler nor to a worker, and both listen on the loopback device only."""
    assert isinstance(cluster, dask_engine.Dask)
    info = cluster.client.scheduler_info()
    addresses = [info["address"], *info["workers"]]
    assert all(address.startswith("tls://127.0.0.1:") for address in addresses)
    for address in addresses:
        for name in (address, address.replace("tls://", "tcp://")):
            with pytest.raises(InputError, match="no Dask scheduler answers"), open_engine(name):
                pass
        stranger = distributed.Security.temporary()
        with pytest.raises(InputError, match="no Dask scheduler answers"):
            dask_engine._check_scheduler(address, stranger)
    dask_engine._check_scheduler(addresses[0], cluster.client.security)  # the twin: with the certificate it answers


def test_the_loss_of_a_worker_changes_nothing() -> None:
    with open_engine("dask", threads=2) as workers:
        results = []
        for k, (value, process) in enumerate(workers.map_in_order(slow_square, range(12))):
            results.append(value)
            if k in (1, 4):
                os.kill(process, signal.SIGKILL)
        assert results == [k * k for k in range(12)]


def test_the_loss_of_the_only_worker_changes_nothing() -> None:
    """Not even the work is left then; it is sent again."""
    with open_engine("dask", threads=1) as workers:
        results = []
        for k, (value, process) in enumerate(workers.map_in_order(slow_square, range(6))):
            results.append(value)
            if k == 2:
                os.kill(process, signal.SIGKILL)
        assert results == [k * k for k in range(6)]


SCHEDULER = """
import asyncio, distributed
async def serve():
    async with distributed.Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        async with distributed.Worker(scheduler.address, nthreads=1):
            print(scheduler.address, flush=True)
            await scheduler.finished()
asyncio.run(serve())
"""


def test_the_loss_of_the_scheduler_ends_in_one_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-c", SCHEDULER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as scheduler:
        assert scheduler.stdout is not None
        address = scheduler.stdout.readline().strip()
        with open_engine(address) as workers:
            results = workers.map_in_order(slow_square, range(1000))
            assert next(results)[0] == 0
            scheduler.kill()
            start = time.monotonic()
            with pytest.raises(InputError, match=f"the scheduler at {address} is lost"):
                list(results)
            assert time.monotonic() - start < 10.0
            with pytest.raises(InputError, match=f"the scheduler at {address} is lost"):  # work that begins after it
                list(workers.map_in_order(square, range(3)))
    assert capfd.readouterr().err == ""


def test_the_loss_of_all_workers_ends_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scheduler stays, without workers, as if the machines that had them were switched off."""
    monkeypatch.setattr(dask_engine, "MAX_WITHOUT_WORKERS", 2.0)
    program = SCHEDULER.replace("await scheduler.finished()", "await asyncio.sleep(3.0)").replace(
        "asyncio.run(", "        await scheduler.finished()\nasyncio.run("
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as scheduler:
        assert scheduler.stdout is not None
        address = scheduler.stdout.readline().strip()
        try:
            with open_engine(address) as workers:
                start = time.monotonic()
                with pytest.raises(InputError, match=r"all workers of .* are lost, .* within 2 s; start some with"):
                    list(workers.map_in_order(slow_square, range(1000)))
                assert 4.0 < time.monotonic() - start < 20.0
        finally:
            scheduler.kill()


CUT_WHILE_GATHERING = """
        def cut(comm, keys, serializers=None):
            comm.abort()
        scheduler.handlers["gather"] = cut
"""


def test_a_connection_cut_while_a_result_is_on_its_way_ends_in_one_sentence() -> None:
    """If the scheduler dies at that moment, the error of the connection comes before the cancellation of the tasks."""
    first, rest = SCHEDULER.split("        async with distributed.Worker")
    command = [sys.executable, "-c", f"{first}{CUT_WHILE_GATHERING}        async with distributed.Worker{rest}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as scheduler:
        assert scheduler.stdout is not None
        address = scheduler.stdout.readline().strip()
        try:
            with open_engine(address) as workers, pytest.raises(InputError, match=f"{address} is lost"):
                list(workers.map_in_order(square, range(3)))
        finally:
            scheduler.kill()


def raise_closed_connection(_: int) -> None:
    raise distributed.comm.CommClosedError("raised by the work")


def test_an_error_of_a_connection_that_the_work_raises_is_its_own(cluster: Engine) -> None:
    with pytest.raises(distributed.comm.CommClosedError, match="raised by the work"):
        list(cluster.map_in_order(raise_closed_connection, range(3)))


def test_a_client_that_gave_up_ends_in_one_sentence() -> None:
    """A client closes itself if it cannot connect again, perhaps while the caller is busy with a result."""
    with open_engine("dask", threads=1) as workers:
        assert isinstance(workers, dask_engine.Dask)
        results = workers.map_in_order(square, range(1000))
        assert next(results)[0] == 0
        workers.client.close()
        for work in (results, workers.map_in_order(square, range(3))):
            with pytest.raises(InputError, match=f"the scheduler at {workers.address} is lost"):
                list(work)


def test_addresses_without_a_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_engine, "CONNECT_TIMEOUT", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for name, message in {
            "dask://127.0.0.1:1": "no Dask scheduler answers at tcp://127.0.0.1:1: .* with: dask scheduler",
            "dask://127.0.0.1": "missing port",
            f"tcp://127.0.0.1:{silent.getsockname()[1]}": "no answer within 0.3 s",
            f"tls://127.0.0.1:{silent.getsockname()[1]}": "TLS configuration.* and set distributed.comm.tls",
            "dask://": "has no address; add one, as in",
        }.items():
            with pytest.raises(InputError, match=message), open_engine(name):
                pass


def test_a_web_server_is_not_a_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_engine, "CONNECT_TIMEOUT", 1.0)
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            address = f"127.0.0.1:{server.server_address[1]}"
            for scheme in ("dask", "tls"):
                with pytest.raises(InputError, match="no Dask scheduler answers"), open_engine(f"{scheme}://{address}"):
                    pass
        finally:
            server.shutdown()
            thread.join()
