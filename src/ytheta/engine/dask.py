"""The Dask engine: processes of this machine or of a cluster.

The work is sent once to every worker and stays there for all items, so that cached values, such as kernels, are
computed once per worker. At any time, the scheduler has only a few items for every thread of the cluster.

The workers of a local cluster are new processes that import the program which started them. A script that opens such an
engine must do so under ``if __name__ == "__main__":``, as with ``multiprocessing``.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ytheta.engine.engine import ITEMS_PER_WORKER, Engine, Item, Result
from ytheta.engine.local import limit_blas_threads
from ytheta.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_TIMEOUT = 5.0  # seconds within which a scheduler and its workers must answer
DASK_SETTINGS = {
    "distributed.admin.large-graph-warning-threshold": "1TiB",  # no warnings about large items
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}


@dataclass(frozen=True, eq=False)
class Dask:
    """The workers of a Dask client."""

    client: Client

    def map_in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        distributed = _import_distributed()
        remote_work = self.client.scatter(work, broadcast=True, hash=False)
        limit = ITEMS_PER_WORKER * max(1, sum(self.client.nthreads().values()))
        waiting: deque[Future] = deque()
        try:
            for item in items:
                waiting.append(self.client.submit(_run_item, remote_work, item, pure=False))
                if len(waiting) >= limit:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except (distributed.KilledWorker, distributed.CancelledError) as error:
            raise InputError(f"the cluster lost its workers, perhaps because they ran out of memory: {error}") from None
        finally:  # after an error or an interruption no further items are started
            self.client.cancel([*waiting, remote_work], force=True)


@contextmanager
def start_cluster(workers: int) -> Iterator[Engine]:
    """Start processes on this machine, with one thread each; the processes end with the ``with`` block."""
    distributed = _import_distributed()
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise InputError(_MAIN_GUARD_ADVICE)
    with (
        _apply_settings(),
        _start_local_cluster(workers) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield Dask(client)


@contextmanager
def connect_cluster(address: str) -> Iterator[Engine]:
    """Use the workers of a running scheduler, such as ``tcp://10.0.0.5:8786``; the workers keep running."""
    distributed = _import_distributed()
    with _apply_settings():
        _check_scheduler(address)
        with distributed.Client(address, set_as_default=False) as client:
            try:
                client.wait_for_workers(1, timeout=CONNECT_TIMEOUT)
            except TimeoutError:
                raise InputError(
                    f"the scheduler at {address} has no workers; start some with: dask worker {address}"
                ) from None
            yield Dask(client)


_MAIN_GUARD_ADVICE = (
    "every process that a script starts runs the script again; put the lines that open the engine under: "
    'if __name__ == "__main__":'
)


def dask_setup(_worker: Any) -> None:
    """Ignore Ctrl-C in a worker of a local cluster; Dask calls this function by its name when the worker starts.

    A terminal sends Ctrl-C to all processes that it started. The process that started the workers handles Ctrl-C and
    ends the workers.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run_item(work: Callable[[Item], Result], item: Item) -> Result:
    with limit_blas_threads():
        return work(item)


def _start_local_cluster(workers: int) -> Any:
    try:
        return _import_distributed().LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",  # any free port; the default may be in use by another cluster
            scheduler_kwargs={"dashboard": False},
            memory_limit=0,
            preload=[__name__],  # for dask_setup
            silence_logs=logging.CRITICAL,
        )
    except RuntimeError as error:
        raise InputError(f"no cluster could be started ({error}); {_MAIN_GUARD_ADVICE}") from None


def _check_scheduler(address: str) -> None:
    """Raise an InputError if there is no scheduler at an address.

    Without this check a client would keep trying to connect, even after it is closed.
    """
    distributed = _import_distributed()

    async def ask_identity() -> dict[str, Any]:
        async with asyncio.timeout(CONNECT_TIMEOUT):
            async with distributed.rpc(address, timeout=CONNECT_TIMEOUT) as remote:
                return await remote.identity()

    try:
        with ThreadPoolExecutor(1) as pool:  # this thread may already run an event loop, as in notebooks
            answer = pool.submit(asyncio.run, ask_identity()).result()
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error) or f"no answer within {CONNECT_TIMEOUT:g} s"
        raise InputError(f"no Dask scheduler answers at {address}: {reason}; start one with: dask scheduler") from None
    if answer.get("type") != "Scheduler":
        raise InputError(
            f"{address} is not a Dask scheduler but a {answer.get('type')}; use the address of the scheduler"
        )


def _apply_settings() -> Any:
    import dask

    return dask.config.set(DASK_SETTINGS)


def _import_distributed() -> Any:
    try:
        import distributed
    except ModuleNotFoundError:
        raise MissingExtraError("Dask is not installed; run: pip install 'ytheta[dask]'") from None
    return distributed
