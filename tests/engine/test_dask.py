"""Work on a cluster of Dask: order, errors, what is left behind, and closed loops that are the same to the last bit."""

from __future__ import annotations

import logging
import os
import pickle
import socket
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from tests.support.engine_work import Counting, square
from tests.support.simulate_cases import PUMA, puma_loop, starts, swing
from ytheta.control.controller import Reference
from ytheta.engine import dask as dask_engine
from ytheta.engine.engine import Engine
from ytheta.engine.local import Local
from ytheta.engine.registry import engine
from ytheta.errors import InputError, MissingExtraError, UnknownNameError
from ytheta.simulation.closed_loop import compiled as closed_loop
from ytheta.simulation.closed_loop.compiled import ClosedLoop
from ytheta.simulation.parameter_changes import ParameterChange
from ytheta.simulation.runs import Runs
from ytheta.simulation.sensors.sensors import Sensor, Sensors

distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install 'ytheta[dask]'")
NOISE = Sensors(q=Sensor(noise=1e-4, step=1e-5, delay=2e-3), qd=Sensor(noise=1e-3), tau=Sensor(noise=0.1))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Engine]:
    """Two processes of this machine."""
    with engine("dask", threads=2) as workers:
        yield workers


@pytest.fixture(scope="module")
def loop() -> ClosedLoop:
    return puma_loop(varied=("load.m",), varied_gains=("damping",), sensors=NOISE)


def _run(loop: ClosedLoop, workers: Engine | str, heard: list[int]) -> Runs:
    q, qd = starts(PUMA, 11)
    start = loop.init(
        q, qd, parameters={"load.m": np.linspace(0.3, 1.0, 11)}, gains={"damping": np.linspace(0.5, 2.0, 11)}
    )
    return loop.run(
        start,
        swing(PUMA),
        0.1,
        parameter_changes=[ParameterChange(0.05, {"load.m": 2.0})],
        rng=np.random.default_rng(5),
        engine=workers,
        progress=heard.append,
    )


def test_results_come_in_order_from_several_processes(cluster: Engine) -> None:
    found = list(cluster.map_in_order(square, range(40)))
    assert [value for value, _ in found] == [k * k for k in range(40)]
    assert len({process for _, process in found}) == 2
    assert os.getpid() not in {process for _, process in found}
    assert list(cluster.map_in_order(square, ())) == []
    assert [value for value, _ in Local(2).map_in_order(square, range(40))] == [k * k for k in range(40)]


def test_few_items_are_under_way(cluster: Engine) -> None:
    drawn: list[int] = []

    def items() -> Iterator[int]:
        for k in range(100):
            drawn.append(k)
            yield k

    results = cluster.map_in_order(square, items())
    assert next(results)[0] == 0
    assert len(drawn) <= 4
    results.close()  # type: ignore[attr-defined]


def test_an_error_of_the_work_is_itself(cluster: Engine, capfd: pytest.CaptureFixture[str]) -> None:
    results = cluster.map_in_order(square, [3, -1, 4])
    assert next(results)[0] == 9
    with pytest.raises(InputError, match=r"^-1 is negative; give another$"):
        next(results)
    assert next(cluster.map_in_order(square, [5]))[0] == 25  # the cluster lives on
    assert capfd.readouterr() == ("", "")


def test_closed_loops_are_the_same_to_the_last_bit(
    cluster: Engine, loop: ClosedLoop, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Noise, gains and parameters of each run's own, jumps; in blocks of other sizes."""
    whole = _run(loop, "local", [])
    monkeypatch.setattr(closed_loop, "RUNS_PER_BATCH", 2)
    heard: list[int] = []
    found = _run(loop, cluster, heard)
    assert heard == [2, 4, 6, 8, 10, 11]
    for name in ("t", "q", "qd", "tau", "controller_state", "read_q", "read_qd", "read_tau", "final_q", "final_controller_state", "rms"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name), err_msg=name)
    assert (found.read_tau != found.tau).all()
    assert len(np.unique(found.final_q[:, 0])) == 11
    assert capfd.readouterr() == ("", "")


def test_a_step_is_compiled_once_per_worker(cluster: Engine, loop: ClosedLoop) -> None:
    """The work stays where it is, and what it made with it."""
    step = loop._step
    _ = step.kernel
    sent = pickle.loads(pickle.dumps(step))
    assert "kernel" not in vars(sent)
    assert sent.graph.digest == step.graph.digest
    made = list(cluster.map_in_order(Counting().made, range(20)))
    assert [(item, count) for item, count, _ in made] == [(item, 1) for item in range(20)]
    assert len({process for _, _, process in made}) < 20


def test_descriptions_pickle_without_what_they_made(loop: ClosedLoop) -> None:
    """After use: kernels are in their caches, and would not go through."""
    q, qd = starts(PUMA, 11)
    _ = loop.kernel, loop.controller.graph, PUMA.numeric
    there = pickle.loads(pickle.dumps(loop))
    assert set(vars(there)) == {
        "plant", "controller", "period", "substeps", "continuous", "varied", "varied_gains", "sensors"
    }  # fmt: skip
    assert there.plant == PUMA
    one, other = _run(loop, "local", []), _run(there, "local", [])
    np.testing.assert_array_equal(one.final_q, other.final_q)
    law = loop.controller
    law.step(law.init(q[0], qd[0]), 0.0, q[0], qd[0], Reference(q[0], qd[0], qd[0]))
    assert pickle.loads(pickle.dumps(law)).unknown_names == law.unknown_names


def test_nothing_is_left_behind() -> None:
    """Neither processes nor settings of Dask, also after an error."""
    before = logging.getLogger("distributed").level
    with engine("dask", threads=1) as workers:
        _, process = next(workers.map_in_order(square, [2]))
        failing = workers.map_in_order(square, [-1])
        with pytest.raises(InputError, match="negative"):
            next(failing)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    assert logging.getLogger("distributed").level == before


def test_a_cluster_that_runs_already(cluster: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(cluster, dask_engine.Dask)
    address = cluster.client.scheduler.address
    for name in (address, address.replace("tcp://", "dask://")):
        with engine(name) as workers:
            assert [value for value, _ in workers.map_in_order(square, range(5))] == [0, 1, 4, 9, 16]
    monkeypatch.setattr(dask_engine, "PATIENCE", 0.5)
    worker = next(iter(cluster.client.scheduler_info()["workers"]))
    with pytest.raises(InputError, match="is no scheduler of Dask but a Worker"), engine(worker):
        pass
    assert next(cluster.map_in_order(square, [5]))[0] == 25  # it was only visited


def test_addresses_where_nobody_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_engine, "PATIENCE", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        for name, words in {
            "dask://127.0.0.1:1": "no scheduler of Dask answers at tcp://127.0.0.1:1: .* with: dask scheduler",
            "dask://127.0.0.1": "missing port",
            f"tcp://127.0.0.1:{deaf.getsockname()[1]}": "nothing was heard for 0.3 s",
            "dask://": "has no address; give one such as",
        }.items():
            with pytest.raises(InputError, match=words), engine(name):
                pass


def test_engines_that_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="no engine 'dusk'; did you mean 'dask'"):
        engine("dusk")
    with pytest.raises(InputError, match="a cluster has its own; leave threads out"):
        engine("dask://127.0.0.1:8786", threads=2)
    with pytest.raises(InputError, match="2 threads with an engine that is open already"):
        engine(Local(), threads=2)
    with pytest.raises(InputError, match="threads is 0"):
        engine("dask", threads=0)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ytheta\[dask\]'"), engine("dask"):
        pass
