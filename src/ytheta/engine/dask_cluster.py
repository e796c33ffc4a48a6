"""A cluster of processes on this machine: its start and its end, in good order or by Ctrl-C.

Security    It listens on the loopback device only, and accepts only connections with the certificate of this run.
Ctrl-C      A terminal sends Ctrl-C to all processes that it started. The workers ignore it. The process that started
            them handles it and kills them, since closing in good order would wait for the work that they are doing.
"""

from __future__ import annotations

import logging
import multiprocessing
import multiprocessing.resource_tracker
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ytheta.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from distributed import LocalCluster, Security

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
    multiprocessing.resource_tracker.ensure_running()  # when it starts later, it lets all signals through again
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
