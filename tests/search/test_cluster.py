"""Evaluation on a Dask cluster, started as its users do; the functions are in a module that workers can import."""

from __future__ import annotations

import contextlib
import importlib
import signal
import socket
import subprocess
import sys
import threading
import types
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from nutmeg.base.errors import EnvironmentProblem, FileError, UsageError
from nutmeg.base.journal import read_lines
from nutmeg.bench.evaluation import LocalCluster
from nutmeg.search import Budget, CmaEs, CmaEsSettings, InThisThread, SearchResult, Space, Threads, minimise
from nutmeg.search import cluster as cluster_module
from nutmeg.search.cluster import OnCluster
from nutmeg.search.evaluation import Evaluator, OneByOne, Progress, candidate_seeds
from nutmeg.search.run import CHECKPOINT_FILE
from nutmeg.search.space import Dimension

pytestmark = pytest.mark.slow

MODULE = "functions_on_workers"
FUNCTIONS = '''
import os, signal, time
from pathlib import Path
import numpy as np
from nutmeg.base.errors import FileError, SimulationError

def noisy(candidate, rng):
    return float(candidate.sum() + rng.standard_normal())

def together(candidates, generators):
    return candidates.sum(axis=1) + [rng.standard_normal() for rng in generators]

def slowly(candidate, rng):
    time.sleep(0.02)
    return noisy(candidate, rng)

def odd_fails(candidate, rng):
    if candidate[0] == 3:
        raise SimulationError("fell over")
    return float("nan") if candidate[0] == 5 else noisy(candidate, rng)

def deadly(candidate, rng):
    if candidate[0] == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return noisy(candidate, rng)

def who(candidates, generators):
    time.sleep(0.3)
    return [float(os.getpid())] * len(candidates)

def buggy(candidate, rng):
    raise FileError("there.toml", "is wrong.")

class Gate:
    """Says who computes; after the first piece it waits until somebody opens it."""
    def __init__(self, folder):
        self.folder = Path(folder)
    def __call__(self, candidates, generators):
        if (self.folder / "first").exists():
            while not (self.folder / "open").exists():
                time.sleep(0.02)
            time.sleep(0.05)
        (self.folder / "first").touch()
        return [float(os.getpid())] * len(candidates)

class Heavy:
    """Three megabytes, with a mark on disk for each time they are loaded."""
    def __init__(self, folder):
        self.folder, self.weight = folder, np.arange(400_000.0)
    def __setstate__(self, state):
        self.__dict__.update(state)
        (Path(self.folder) / f"{os.getpid()}-{time.monotonic_ns()}").touch()
    def __call__(self, candidates, generators):
        return candidates.sum(axis=1) * self.weight[1]
'''  # fmt: skip
CANDIDATES = np.stack([np.arange(9.0), np.linspace(0, 1, 9)], axis=1)
SEEDS = candidate_seeds(7, 3, 9)
MANY = np.random.default_rng(4).random((60, 2)) + 10
MANY_SEEDS = candidate_seeds(7, 4, 60)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the module with the functions is."""
    folder = tmp_path_factory.mktemp("functions")
    (folder / f"{MODULE}.py").write_text(FUNCTIONS)
    return folder


@pytest.fixture
def functions(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    monkeypatch.syspath_prepend(place)
    yield importlib.import_module(MODULE)
    del sys.modules[MODULE]


@pytest.fixture(scope="module")
def cluster(place: Path) -> Iterator[LocalCluster]:
    """A scheduler with two workers."""
    with LocalCluster(environment={"PYTHONPATH": str(place)}) as started:
        started.start_worker(wait=False)
        started.start_worker(threads=2)
        yield started


@pytest.fixture
def evaluator(cluster: LocalCluster) -> Iterator[OnCluster]:
    with contextlib.closing(OnCluster(cluster.address, piece=1)) as made:
        yield made


def same(one: SearchResult, other: SearchResult) -> bool:
    pairs = list(zip(one.history, other.history, strict=True))
    return one.best.value == other.best.value and all(
        (a.candidates == b.candidates).all() and (a.values == b.values).all() for a, b in pairs
    )


def search(
    functions: types.ModuleType, evaluator: Evaluator, folder: Path | None = None, progress: Progress | None = None
) -> SearchResult:
    space = Space({name: Dimension(low=-1, high=2) for name in ("x", "y")})
    searcher = CmaEs(space, CmaEsSettings(), np.random.default_rng(7))
    function = OneByOne(functions.slowly)
    budget = Budget(generations=8)
    return minimise(function, searcher, evaluator, budget=budget, seed=5, folder=folder, progress=progress)


def test_values_are_those_of_this_thread(functions: types.ModuleType, cluster: LocalCluster) -> None:
    for piece in (1, 4):
        with contextlib.closing(OnCluster(cluster.address, piece=piece)) as evaluator:
            for function in (OneByOne(functions.noisy), functions.together, OneByOne(functions.odd_fails)):
                here = InThisThread().evaluate(function, CANDIDATES, SEEDS)
                there = evaluator.evaluate(function, CANDIDATES, SEEDS)
                assert np.array_equal(here.values, there.values, equal_nan=True)
                assert here.failures == there.failures
    assert [(f.index, f.reason) for f in there.failures] == [(3, "fell over"), (5, "its value is nan")]


def test_a_search_goes_the_same_way_as_on_threads(functions: types.ModuleType, evaluator: OnCluster) -> None:
    assert same(search(functions, Threads(2)), search(functions, evaluator))


def test_progress_counts_candidates_in_the_calling_thread(functions: types.ModuleType, evaluator: OnCluster) -> None:
    told = []
    evaluator.evaluate(
        functions.together, CANDIDATES, SEEDS, lambda done, total: told.append((done, total, threading.get_ident()))
    )
    assert told == [(count, 9, threading.get_ident()) for count in range(1, 10)]


def test_a_worker_killed_in_the_middle_changes_nothing(
    functions: types.ModuleType, cluster: LocalCluster, evaluator: OnCluster
) -> None:
    victim = cluster.start_worker()

    def kill(done: int, total: int) -> None:
        if done >= 15:
            victim.kill()

    expected = Threads(2).evaluate(OneByOne(functions.slowly), MANY, MANY_SEEDS)
    result = evaluator.evaluate(OneByOne(functions.slowly), MANY, MANY_SEEDS, kill)
    assert victim.wait() == -signal.SIGKILL
    assert result.failures == ()
    assert (result.values == expected.values).all()


def test_a_large_function_is_loaded_once_by_each_worker(
    functions: types.ModuleType, evaluator: OnCluster, tmp_path: Path
) -> None:
    function = functions.Heavy(str(tmp_path))
    for _ in range(3):
        result = evaluator.evaluate(function, MANY, MANY_SEEDS)
        assert (result.values == MANY.sum(axis=1)).all()
    workers = {path.name.split("-")[0] for path in tmp_path.iterdir()}
    assert 1 <= len(list(tmp_path.iterdir())) == len(workers) <= 2


def test_each_thread_of_a_worker_gets_an_equal_share(functions: types.ModuleType, place: Path) -> None:
    with LocalCluster(environment={"PYTHONPATH": str(place)}) as own:
        workers = {own.start_worker().pid, own.start_worker().pid}
        with contextlib.closing(OnCluster(own.address)) as evaluator:
            for _ in range(3):
                values = evaluator.evaluate(functions.who, CANDIDATES, SEEDS).values
                assert set(values) == workers
                assert sorted(np.unique(values, return_counts=True)[1]) == [4, 5]


def test_a_worker_that_comes_late_is_given_the_function(
    functions: types.ModuleType, place: Path, tmp_path: Path
) -> None:
    with LocalCluster(environment={"PYTHONPATH": str(place)}) as own:
        first = own.start_worker().pid
        late: list[int] = []

        def start(done: int, total: int) -> None:
            if not late:
                late.append(own.start_worker().pid)
                (tmp_path / "open").touch()

        with contextlib.closing(OnCluster(own.address, piece=2)) as evaluator:
            values = evaluator.evaluate(functions.Gate(str(tmp_path)), MANY, MANY_SEEDS, start).values
        assert set(values) == {first, *late}


def test_a_mistake_in_the_function_is_told_with_its_traceback(
    functions: types.ModuleType, evaluator: OnCluster
) -> None:
    with pytest.raises(UsageError, match=r"(?s)failed in a Dask worker:.*in buggy.*FileError: there.toml: is wrong"):
        evaluator.evaluate(OneByOne(functions.buggy), CANDIDATES, SEEDS)
    assert not evaluator.evaluate(OneByOne(functions.noisy), CANDIDATES, SEEDS).failures, "it can be used again"


def test_a_function_that_workers_cannot_import_is_told(
    evaluator: OnCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only_here.py").write_text("def zero(candidate, rng):\n    return 0.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EnvironmentProblem, match=r"(?s)No module named 'only_here'.*PYTHONPATH"):
        evaluator.evaluate(OneByOne(importlib.import_module("only_here").zero), CANDIDATES, SEEDS)


def test_a_function_that_cannot_be_sent_is_refused(evaluator: OnCluster) -> None:
    lock = threading.Lock()
    with pytest.raises(UsageError, match="cannot be sent to a cluster"):
        evaluator.evaluate(OneByOne(lambda candidate, rng: float(lock.locked())), CANDIDATES, SEEDS)


def test_everything_listens_on_this_machine_only(cluster: LocalCluster) -> None:
    processes = [psutil.Process(process.pid) for process in cluster.processes if process.poll() is None]
    listening = [c.laddr.ip for p in processes for c in p.net_connections() if c.status == psutil.CONN_LISTEN]
    assert set(listening) == {"127.0.0.1"}
    assert len(processes) >= 3


def test_without_workers_it_says_so_and_waits_for_one_or_for_ctrl_c(functions: types.ModuleType, place: Path) -> None:
    said: list[str] = []
    with LocalCluster(environment={"PYTHONPATH": str(place)}) as empty:

        def start_one(sentence: str) -> None:
            said.append(sentence)
            empty.start_worker()

        timers: list[threading.Timer] = []

        def press(sentence: str) -> None:
            said.append(sentence)
            timers.append(threading.Timer(0.3, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)))
            timers[0].start()

        with contextlib.closing(OnCluster(empty.address, patience=0.2, notice=press)) as evaluator:
            with pytest.raises(KeyboardInterrupt):
                evaluator.evaluate(OneByOne(functions.noisy), CANDIDATES, SEEDS)
            (timer,) = timers
            timer.join()
        with contextlib.closing(OnCluster(empty.address, patience=0.2, notice=start_one)) as evaluator:
            result = evaluator.evaluate(OneByOne(functions.noisy), CANDIDATES, SEEDS)
    assert (result.values == InThisThread().evaluate(OneByOne(functions.noisy), CANDIDATES, SEEDS).values).all()
    assert len(said) == 2
    assert f"has no workers; waiting for one. Start some: dask worker {empty.address}" in said[1]


def test_only_the_candidate_that_kills_its_workers_fails(functions: types.ModuleType, place: Path) -> None:
    quickly = {"PYTHONPATH": str(place), "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    with LocalCluster(environment=quickly) as cluster:
        cluster.start_worker(nanny=True, threads=2)
        with contextlib.closing(OnCluster(cluster.address, piece=3)) as evaluator:
            result = evaluator.evaluate(OneByOne(functions.deadly), CANDIDATES, SEEDS)
    expected = InThisThread().evaluate(OneByOne(functions.noisy), CANDIDATES, SEEDS)
    assert [f.index for f in result.failures] == [3]
    assert "died, also when it was alone" in result.failures[0].reason
    others = np.arange(9) != 3
    assert (result.values[others] == expected.values[others]).all()


def test_a_scheduler_that_vanishes_leaves_a_search_that_can_be_resumed(
    functions: types.ModuleType, place: Path, cluster: LocalCluster, tmp_path: Path
) -> None:
    with LocalCluster(environment={"PYTHONPATH": str(place)}) as doomed:
        doomed.start_worker()

        def kill(done: int, total: int) -> None:
            if done == 2 and len(read_lines(tmp_path / CHECKPOINT_FILE)) == 1 + 3:
                doomed.scheduler.kill()

        message = r"scheduler at tcp://.* has gone .* run the same command"
        with (
            contextlib.closing(OnCluster(doomed.address, piece=1)) as evaluator,
            pytest.raises(EnvironmentProblem, match=message),
        ):
            search(functions, evaluator, tmp_path, kill)
    assert len(read_lines(tmp_path / CHECKPOINT_FILE)) == 1 + 3
    with contextlib.closing(OnCluster(cluster.address, piece=1)) as another:
        resumed = search(functions, another, tmp_path)
    assert [g.replayed for g in resumed.history] == [True] * 3 + [False] * 5
    assert same(search(functions, InThisThread()), resumed)


KILLED = f"""
import os, signal, sys
from pathlib import Path
import numpy as np
from nutmeg.search import Budget, CmaEs, CmaEsSettings, Dimension, OnCluster, OneByOne, Space, minimise
import {MODULE}

def kill(done, total):
    if done == 3 and (Path(sys.argv[1]) / "search.jsonl").read_text().count("\\n") == 5:
        os.kill(os.getpid(), signal.SIGKILL)

space = Space({{name: Dimension(low=-1, high=2) for name in ("x", "y")}})
searcher = CmaEs(space, CmaEsSettings(), np.random.default_rng(7))
minimise(OneByOne({MODULE}.slowly), searcher, OnCluster(sys.argv[2], piece=1),
         budget=Budget(generations=8), seed=5, folder=Path(sys.argv[1]), progress=kill)
"""


def test_kill_9_of_the_whole_run_loses_nothing_but_the_unfinished_generation(
    functions: types.ModuleType, place: Path, cluster: LocalCluster, evaluator: OnCluster, tmp_path: Path
) -> None:
    script = place / "search.py"
    script.write_text(KILLED)
    folder = tmp_path / "run"
    done = subprocess.run([sys.executable, script, folder, cluster.address], timeout=240, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(read_lines(folder / CHECKPOINT_FILE)) == 1 + 4
    resumed = search(functions, evaluator, folder)
    assert [g.replayed for g in resumed.history] == [True] * 4 + [False] * 4
    assert same(search(functions, Threads(2)), resumed)


@pytest.mark.parametrize(
    ("preloaded", "message"),
    [
        (
            "import nutmeg\nnutmeg.__version__ = '0.0.1'\n",
            r"worker at tcp://\S+ has other software \(nutmeg 0.0.1 there",
        ),
        (
            (
                "import distributed.versions as of\n"
                "of.version = lambda name, known=of.version: None if name == 'nutmeg-sim' else known(name)\n"
            ),
            r"worker at tcp://\S+ has no Nutmeg\. Install nutmeg-sim",
        ),
    ],
)
def test_a_worker_with_other_software_or_without_nutmeg_is_refused(
    functions: types.ModuleType, place: Path, tmp_path: Path, preloaded: str, message: str
) -> None:
    (tmp_path / "changed.py").write_text(preloaded)
    with LocalCluster(environment={"PYTHONPATH": str(place)}) as cluster:
        cluster.start_worker(options=["--preload", str(tmp_path / "changed.py")])
        with (
            contextlib.closing(OnCluster(cluster.address)) as evaluator,
            pytest.raises(EnvironmentProblem, match=message),
        ):
            evaluator.evaluate(OneByOne(functions.noisy), CANDIDATES, SEEDS)


def test_the_scheduler_can_be_named_by_its_file(
    functions: types.ModuleType, cluster: LocalCluster, tmp_path: Path
) -> None:
    path = tmp_path / "scheduler.json"
    with pytest.raises(EnvironmentProblem, match="there is no file"):
        OnCluster(str(path))
    path.write_text(f'{{"address": "{cluster.address}", "type": "Scheduler", "workers": {{}}}}')
    with contextlib.closing(OnCluster(str(path))) as evaluator:
        assert not evaluator.evaluate(functions.together, CANDIDATES, SEEDS).failures


def test_where_no_scheduler_is_it_says_how_to_start_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_TIMEOUT", 0.3)
    monkeypatch.setattr(cluster_module, "LISTENING_TIMEOUT", 0.0)
    function = OneByOne(lambda candidate, rng: 0.0)
    said = r"answers at {} \(.*refused\)\. Start one: `dask scheduler --host 127\.0\.0\.1 --port 9`"
    with pytest.raises(EnvironmentProblem, match=said.format("tcp://127.0.0.1:9")):
        OnCluster("tcp://127.0.0.1:9").evaluate(function, CANDIDATES, SEEDS)
    path = tmp_path / "scheduler.json"
    path.write_text('{"address": "tcp://127.0.0.1:9"}')
    with pytest.raises(EnvironmentProblem, match=said.format(f"{path} says tcp://127.0.0.1:9")):
        OnCluster(str(path)).evaluate(function, CANDIDATES, SEEDS)
    path.write_text("{}")
    with pytest.raises(FileError, match="tells no address of a Dask scheduler"):
        OnCluster(str(path)).evaluate(function, CANDIDATES, SEEDS)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(EnvironmentProblem, match="something else listens there"):
            OnCluster(address).evaluate(function, CANDIDATES, SEEDS)


def test_wrong_use_is_told() -> None:
    with pytest.raises(UsageError, match=r"'localhost' is no address of a Dask scheduler\. Allowed: tcp://host:port"):
        OnCluster("localhost")
    with pytest.raises(
        UsageError,
        match=r"'tcp://127.0.0.1:99999' is no address of a Dask scheduler\. Allowed: .* ports from 1 to 65535",
    ):
        OnCluster("tcp://127.0.0.1:99999")
    with pytest.raises(UsageError, match="pieces of 0"):
        OnCluster("tcp://127.0.0.1:8786", piece=0)


def test_dask_is_only_imported_by_those_who_use_it() -> None:
    code = "import sys, nutmeg.cli, nutmeg.search; sys.exit('distributed' in sys.modules or 'dask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
