"""The Dask engine: processes of this machine or of a cluster.

Work        The work is a task of its own, on which the tasks of all items depend. Every worker receives it once and
            keeps it, so that cached values, such as kernels, are computed once per worker. If a worker dies, Dask
            computes its tasks again elsewhere, the work included, and the answer stays the same. At any time, the
            scheduler has only a few items for every thread of the cluster.
Security    A cluster of this machine listens on the loopback device only, and accepts only connections with the
            certificate of this run: otherwise any user of the machine could run code in its workers. For a running
            cluster, ``tls://HOST:PORT`` uses the certificates in Dask's own configuration.
Loss        While results are awaited, the connection is watched: if the scheduler or all workers are gone, the client
            would wait. A lost connection cancels all tasks, so a scheduler that answers again does not help this run.

The workers of a local cluster are new processes that import the program which started them. A script that opens such an
engine must do so under ``if __name__ == "__main__":``, as with ``multiprocessing``.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

import ytheta
from ytheta.engine.engine import ITEMS_PER_WORKER, Engine, Item, Result
from ytheta.engine.local import limit_blas_threads
from ytheta.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster, Security

# Times in s.
CONNECT_TIMEOUT = 5.0  # within which a scheduler and its workers must answer
POLL_INTERVAL = 0.5  # between two looks at the connection while a result is awaited
MAX_DISCONNECTED = 5.0  # after which a scheduler that does not answer is lost
MAX_WITHOUT_WORKERS = 30.0  # after which a scheduler whose workers are all gone is not waited for any more
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
        connected = staffed = time.monotonic()
        patience = POLL_INTERVAL
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
            if self._has_workers():
                staffed = time.monotonic()
            elif time.monotonic() - staffed > MAX_WITHOUT_WORKERS:
                raise InputError(
                    f"all workers of the scheduler at {self.address} are lost, and none has come back within "
                    f"{MAX_WITHOUT_WORKERS:g} s; start some with: dask worker {self.address}"
                )

    def _has_workers(self) -> bool:
        """Whether the scheduler has workers; it is not asked if the connection is lost."""
        distributed = import_distributed()
        try:
            return self.client.status == "running" and bool(self.client.nthreads())
        except (OSError, TimeoutError, distributed.client.ClosedClientError):
            return False

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
    """Keep Dask and asyncio from printing what becomes an error of one sentence."""
    loggers = [logging.getLogger(name) for name in ("distributed", "asyncio", "tornado")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        gc.collect()  # tasks that were lost report their errors when they are removed
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _apply_settings() -> Any:
    import dask

    return dask.config.set(DASK_SETTINGS)


# A cluster of processes on this machine: its start and its end, in good order or by Ctrl-C.
#
# Security    It listens on the loopback device only, and accepts only connections with the certificate of this run.
# Ctrl-C      A terminal sends Ctrl-C to all processes that it started. The workers ignore it. The process that started
#             them handles it and kills them, since closing in good order would wait for the work that they are doing.


# Times in s.
KILL_INTERVAL = 0.02  # between two looks at the processes of a cluster whose start was interrupted
CLOSE_TIMEOUT = 1.0  # for closing a client or a cluster in good order; after that, its processes are killed
LOOPBACK = "127.0.0.1"
MAIN_GUARD_ADVICE = (
    "every process that a script starts runs the script again; put the lines that open the engine under: "
    'if __name__ == "__main__":'
)


def start_local_cluster(workers: int) -> LocalCluster:
    """Start a cluster in another thread, so that Ctrl-C can end the processes that are being started.

    Threads and processes inherit the signals that are blocked. In a process that is still importing modules, Ctrl-C
    would print a traceback.
    """
    children, certificate = multiprocessing.active_children(), _make_certificate()
    with ThreadPoolExecutor(1) as pool:
        with _block_interrupts():
            start = pool.submit(_make_local_cluster, workers, certificate)
        try:
            return start.result()
        except KeyboardInterrupt:
            while not start.done():  # without its processes, the start fails
                for child in multiprocessing.active_children():
                    if child not in children:
                        child.kill()
                wait([start], timeout=KILL_INTERVAL)
            if not start.exception():
                kill_workers(start.result())
                close_cluster(start.result())
            raise


@contextmanager
def _block_interrupts() -> Iterator[None]:
    """Let threads that start now, and their processes, never receive Ctrl-C."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # when it starts later, it lets all signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _make_local_cluster(workers: int, certificate: Security) -> LocalCluster:
    distributed = import_distributed()
    try:
        return distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host=LOOPBACK,
            protocol="tls",
            security=certificate,
            dashboard_address=f"{LOOPBACK}:0",  # any free port; the default may be in use by another cluster
            scheduler_kwargs={"dashboard": False},
            memory_limit=0,
            preload=[__name__],  # for dask_setup
            silence_logs=logging.CRITICAL,
        )
    except RuntimeError as error:
        raise InputError(f"no cluster could be started ({error}); {MAIN_GUARD_ADVICE}") from None


def _make_certificate() -> Security:
    """Return a certificate for this run only; it is kept in memory."""
    try:
        return import_distributed().Security.temporary()
    except ImportError:
        raise MissingExtraError("cryptography is not installed; run: pip install 'ytheta[dask]'") from None


def close_cluster(cluster: LocalCluster) -> None:
    """Close a cluster in good order, or kill the processes that do not end."""
    try:
        cluster.close(timeout=CLOSE_TIMEOUT)
    except (TimeoutError, OSError):
        kill_workers(cluster)
        with suppress(TimeoutError, OSError):
            cluster.close(timeout=CLOSE_TIMEOUT)


def kill_workers(cluster: LocalCluster) -> None:
    """Kill the processes of a cluster, and keep Dask from replacing them."""
    for worker in cluster.workers.values():
        worker.close_gracefully(reason="the cluster is closed")
    processes = [worker.pid for worker in cluster.workers.values()]
    for child in multiprocessing.active_children():
        if child.pid in processes:
            child.kill()


def dask_setup(_worker: Any) -> None:
    """Ignore Ctrl-C in a worker of a local cluster; Dask calls this function by its name when the worker starts.

    A terminal sends Ctrl-C to all processes that it started. The process that started the workers handles Ctrl-C and
    ends the workers.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def import_distributed() -> Any:
    try:
        import distributed
    except ModuleNotFoundError:
        raise MissingExtraError("Dask is not installed; run: pip install 'ytheta[dask]'") from None
    return distributed
