"""The Dask engine: processes of this machine or of a cluster.

Work        The work is a task of its own, on which the tasks of all items depend. Every worker receives it once and
            keeps it, so that cached values, such as kernels, are computed once per worker. If a worker dies, Dask
            computes its tasks again elsewhere, the work included, and the answer stays the same. At any time, the
            scheduler has only a few items for every thread of the cluster.
Security    A cluster of this machine listens on the loopback device only, and accepts only connections with the
            certificate of this run: otherwise any user of the machine could run code in its workers. For a running
            cluster, ``tls://HOST:PORT`` uses the certificates in Dask's own configuration.
Loss        While results are awaited, the connection is watched: if the scheduler is gone, the client would wait. A
            lost connection cancels all tasks, so a scheduler that answers again does not help this run.

The workers of a local cluster are new processes that import the program which started them. A script that opens such an
engine must do so under ``if __name__ == "__main__":``, as with ``multiprocessing``.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ytheta
from ytheta.engine.dask_cluster import (
    CLOSE_TIMEOUT,
    MAIN_GUARD_ADVICE,
    close_cluster,
    import_distributed,
    kill_workers,
    start_local_cluster,
)
from ytheta.engine.engine import ITEMS_PER_WORKER, Engine, Item, Result
from ytheta.engine.local import limit_blas_threads
from ytheta.errors import InputError

if TYPE_CHECKING:
    from distributed import Client, Future, Security

# Times in s.
CONNECT_TIMEOUT = 5.0  # within which a scheduler and its workers must answer
POLL_INTERVAL = 0.5  # between two looks at the connection while a result is awaited
MAX_DISCONNECTED = 5.0  # after which a scheduler that does not answer is lost
DASK_SETTINGS = {
    "distributed.admin.large-graph-warning-threshold": "1TiB",  # no warnings about large items
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}


@dataclass(frozen=True, eq=False)
class Dask:
    """The workers of a Dask client.

    client    the client
    address   of its scheduler; a closed client no longer knows it
    """

    client: Client
    address: str

    def map_in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        distributed = import_distributed()
        remote_work, threads = self._send(work)
        limit = ITEMS_PER_WORKER * max(1, threads)
        waiting: deque[Future] = deque()
        try:
            for item in items:
                waiting.append(self.client.submit(_run_item, remote_work, item, pure=False))
                if len(waiting) >= limit:
                    yield self._await(waiting.popleft())
            while waiting:
                yield self._await(waiting.popleft())
        except distributed.KilledWorker as error:
            raise InputError(
                f"the cluster lost its workers again and again, perhaps because they ran out of memory: {error}; use "
                "fewer workers"
            ) from None
        except (distributed.CancelledError, distributed.client.ClosedClientError):
            raise self._make_lost_error() from None
        finally:  # after an error or an interruption no further items are started
            for future in (*waiting, remote_work):
                future.release()  # unlike cancelling, this does not wait for a scheduler, which may be lost

    def _send(self, work: Callable[[Item], Result]) -> tuple[Future, int]:
        """Send the work to the cluster; return it, and the number of threads there."""
        distributed = import_distributed()
        try:
            return self.client.submit(_keep, work, pure=False), sum(self.client.nthreads().values())
        except (OSError, distributed.client.ClosedClientError):
            raise self._make_lost_error() from None

    def _await(self, future: Future) -> Any:
        """Return the result of a task; raise InputError if the scheduler is lost."""
        distributed = import_distributed()
        connected, patience = time.monotonic(), POLL_INTERVAL
        while True:
            try:
                return future.result(timeout=patience)
            except distributed.comm.CommClosedError:  # while the result was on its way
                if future.status == "error":  # the work itself raised it
                    raise
                raise self._make_lost_error() from None
            except TimeoutError:
                if future.status == "error":  # the work itself raised it
                    raise
                patience *= 2.0 if future.done() else 1.0  # a large result takes its time
            if self.client.status == "running":
                connected = time.monotonic()
            elif time.monotonic() - connected > MAX_DISCONNECTED:
                raise self._make_lost_error()

    def _make_lost_error(self) -> InputError:
        return InputError(f"the scheduler at {self.address} is lost; start it again, and repeat this")


@contextmanager
def start_cluster(workers: int) -> Iterator[Engine]:
    """Start processes on this machine, with one thread each; the processes end with the ``with`` block."""
    distributed = import_distributed()
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise InputError(MAIN_GUARD_ADVICE)
    with _apply_settings(), _silence_logs():
        cluster = start_local_cluster(workers)
        try:
            client = distributed.Client(cluster, set_as_default=False)
            try:
                yield Dask(client, cluster.scheduler_address)
            except BaseException:
                kill_workers(cluster)  # closing in good order would wait for the work that they are doing
                raise
            finally:
                with suppress(TimeoutError, OSError):
                    client.close(timeout=CLOSE_TIMEOUT)
        finally:
            close_cluster(cluster)


@contextmanager
def connect_cluster(address: str) -> Iterator[Engine]:
    """Use the workers of a running scheduler, such as ``tcp://10.0.0.5:8786``; the workers keep running."""
    distributed = import_distributed()
    with _apply_settings(), _silence_logs():
        security = distributed.Security()  # what Dask's configuration contains, if anything
        _check_scheduler(address, security)
        client = distributed.Client(address, set_as_default=False, security=security, timeout=CONNECT_TIMEOUT)
        try:
            try:
                client.wait_for_workers(1, timeout=CONNECT_TIMEOUT)
            except TimeoutError:
                raise InputError(
                    f"the scheduler at {address} has no workers; start some with: dask worker {address}"
                ) from None
            _check_versions(client, address)
            yield Dask(client, address)
        finally:
            with suppress(TimeoutError, OSError):
                client.close(timeout=CLOSE_TIMEOUT)


def report_version() -> str:
    """Return the version of ytheta in a worker."""
    return ytheta.__version__


def _keep(work: Callable[[Item], Result]) -> Callable[[Item], Result]:
    return work


def _run_item(work: Callable[[Item], Result], item: Item) -> Result:
    with limit_blas_threads():
        return work(item)


def _check_scheduler(address: str, security: Security) -> None:
    """Raise an InputError if there is no scheduler at an address.

    Without this check a client would keep trying to connect, even after it is closed.
    """
    distributed = import_distributed()

    async def ask_identity() -> dict[str, Any]:
        arguments = security.get_connection_args("client")
        async with asyncio.timeout(CONNECT_TIMEOUT):
            async with distributed.rpc(address, timeout=CONNECT_TIMEOUT, connection_args=arguments) as remote:
                return await remote.identity()

    try:
        with ThreadPoolExecutor(1) as pool:  # this thread may already run an event loop, as in notebooks
            answer = pool.submit(asyncio.run, ask_identity()).result()
    except Exception as error:  # whatever answers need not be Dask, whose parsers then raise errors of all kinds
        reason = (str(error).strip().splitlines() or [f"no answer within {CONNECT_TIMEOUT:g} s"])[0]
        raise InputError(
            f"no Dask scheduler answers at {address}: {reason}; start one with: dask scheduler"
            + (", and set distributed.comm.tls in Dask's configuration" if address.startswith("tls://") else "")
        ) from None
    if answer.get("type") != "Scheduler":
        raise InputError(
            f"{address} is not a Dask scheduler but a {answer.get('type')}; use the address of the scheduler"
        )


def _check_versions(client: Client, address: str) -> None:
    """Raise an InputError if a worker has another version of ytheta, whose results could differ."""
    for worker, version in client.run(report_version, on_error="return").items():
        if isinstance(version, BaseException):
            raise InputError(
                f"the worker {worker} of {address} cannot use ytheta: {str(version).splitlines()[0]}; install ytheta "
                f"{ytheta.__version__} there"
            )
        if version != ytheta.__version__:
            raise InputError(
                f"the worker {worker} of {address} has ytheta {version}, but this process has {ytheta.__version__}; "
                "install the same version"
            )


@contextmanager
def _silence_logs() -> Iterator[None]:
    """Keep Dask from printing what becomes an error of one sentence."""
    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


def _apply_settings() -> Any:
    import dask

    return dask.config.set(DASK_SETTINGS)
