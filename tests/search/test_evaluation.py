"""Evaluation in this thread, on threads and in processes; the functions are in a module that processes can import."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import subprocess
import sys
import threading
import time
import types
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.random import SeedSequence

from nutmeg.base.errors import EnvironmentProblem, UsageError
from nutmeg.search.evaluation import Evaluator, InThisThread, OneByOne, Share, Threads, candidate_seeds, pieces
from nutmeg.search.processes import Processes

pytestmark = pytest.mark.slow

FUNCTIONS = '''
import os, signal, time
from pathlib import Path
import numpy as np
from nutmeg.base.errors import SimulationError

def noisy(candidate, rng):
    return float(candidate.sum() + rng.standard_normal())

def together(candidates, generators):
    return candidates.sum(axis=1) + [rng.standard_normal() for rng in generators]

def odd_fails(candidate, rng):
    if candidate[0] == 3:
        raise SimulationError("fell over")
    return float("nan") if candidate[0] == 5 else noisy(candidate, rng)

def explodes_together(candidates, generators):
    if (candidates[:, 0] == 3).any():
        raise SimulationError("one of them fell over")
    return together(candidates, generators)

def deadly(candidate, rng):
    if candidate[0] == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return noisy(candidate, rng)

class DeadlyOnce:
    def __init__(self, folder):
        self.folder = folder
    def __call__(self, candidate, rng):
        mark = Path(self.folder) / str(candidate[0])
        if candidate[0] in (1, 6) and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return noisy(candidate, rng)

def buggy(candidate, rng):
    return {}["missing"]

def interrupts(candidate, rng):
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(300)

def who(candidate, rng):
    return float(os.getpid())
'''  # fmt: skip
CANDIDATES = np.stack([np.arange(9.0), np.linspace(0, 1, 9)], axis=1)
SEEDS = candidate_seeds(7, 3, 9)


@pytest.fixture
def functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    (tmp_path / "evaluated_functions.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("evaluated_functions")
    del sys.modules["evaluated_functions"]


@contextlib.contextmanager
def evaluators() -> Iterator[list[Evaluator]]:
    two, one = Processes(2, piece=2), Processes(1)
    try:
        yield [InThisThread(), InThisThread(piece=2), Threads(1), Threads(3), Threads(2, piece=4), two, one]
    finally:
        two.close()
        one.close()


def test_values_are_the_same_wherever_they_are_computed(functions: types.ModuleType) -> None:
    with evaluators() as all_of_them:
        for function in (OneByOne(functions.noisy), functions.together, OneByOne(functions.odd_fails)):
            results = [evaluator.evaluate(function, CANDIDATES, SEEDS) for evaluator in all_of_them]
            for result in results[1:]:
                assert np.array_equal(result.values, results[0].values, equal_nan=True)
                assert result.failures == results[0].failures
    assert len(np.unique(results[0].values[~np.isnan(results[0].values)])) == 7
    assert [(f.index, f.reason) for f in results[0].failures] == [(3, "fell over"), (5, "its value is nan")]


@pytest.mark.parametrize(
    ("share", "count", "workers", "sizes"),
    [
        (Share(), 9, 1, [9]),
        (Share(), 9, 2, [5, 4]),
        (Share(), 2, 8, [1, 1]),
        (Share(), 0, 2, []),
        (Share(most=8), 24, 2, [6, 6, 6, 6]),
        (Share(unit=3, most=24), 60, 2, [15, 15, 15, 15]),
        (Share(unit=4), 20, 3, [8, 8, 4]),
    ],
)
def test_pieces_are_equal_shares_of_whole_units_and_not_too_large(
    share: Share, count: int, workers: int, sizes: list[int]
) -> None:
    found = pieces(count, share, workers)
    assert [len(piece) for piece in found] == sizes
    assert [row for piece in found for row in piece] == list(range(count))


def test_of_several_stepped_together_only_the_guilty_one_fails(functions: types.ModuleType) -> None:
    broken = InThisThread().evaluate(functions.explodes_together, CANDIDATES, SEEDS)
    whole = InThisThread().evaluate(functions.together, CANDIDATES, SEEDS)
    assert [f.index for f in broken.failures] == [3]
    others = np.arange(9) != 3
    assert (broken.values[others] == whole.values[others]).all()


def test_seeds_are_those_of_spawning_generations_and_candidates() -> None:
    spawned = SeedSequence(7).spawn(4)[3].spawn(9)
    for ours, theirs in zip(SEEDS, spawned, strict=True):
        assert (ours.generate_state(4) == theirs.generate_state(4)).all()


def test_progress_counts_candidates_in_the_calling_thread(functions: types.ModuleType) -> None:
    with evaluators() as all_of_them:
        for evaluator in all_of_them:
            told: list[tuple[int, int]] = []
            threads: set[int] = set()

            def progress(done: int, total: int, told: list = told, threads: set = threads) -> None:  # type: ignore[type-arg]
                told.append((done, total))
                threads.add(threading.get_ident())

            evaluator.evaluate(functions.together, CANDIDATES, SEEDS, progress)
            assert told[-1] == (9, 9)
            assert told == sorted(told)
            assert threads == {threading.get_ident()}


def test_a_candidate_that_kills_its_process_twice_has_failed(functions: types.ModuleType) -> None:
    expected = InThisThread().evaluate(OneByOne(functions.noisy), CANDIDATES, SEEDS)
    with contextlib.closing(Processes(2, piece=3)) as evaluator:
        result = evaluator.evaluate(OneByOne(functions.deadly), CANDIDATES, SEEDS)
    reason = "its process died, also when it was alone (killed by signal 9)"
    assert [(f.index, f.reason) for f in result.failures] == [(3, reason)]
    others = np.arange(9) != 3
    assert (result.values[others] == expected.values[others]).all()


def test_candidates_of_a_process_that_dies_once_are_tried_again(functions: types.ModuleType, tmp_path: Path) -> None:
    expected = InThisThread().evaluate(OneByOne(functions.noisy), CANDIDATES, SEEDS)
    with contextlib.closing(Processes(2, piece=2)) as evaluator:
        result = evaluator.evaluate(OneByOne(functions.DeadlyOnce(str(tmp_path))), CANDIDATES, SEEDS)
    assert result.failures == ()
    assert (result.values == expected.values).all()


def test_processes_stay_and_one_killed_between_evaluations_is_replaced(functions: types.ModuleType) -> None:
    with contextlib.closing(Processes(1)) as evaluator:
        one = evaluator.evaluate(OneByOne(functions.who), CANDIDATES[:2], SEEDS[:2]).values
        two = evaluator.evaluate(OneByOne(functions.who), CANDIDATES[:2], SEEDS[:2]).values
        assert {*one, *two} == {float(evaluator.ids[0])}
        os.kill(evaluator.ids[0], signal.SIGKILL)
        result = evaluator.evaluate(OneByOne(functions.who), CANDIDATES[:2], SEEDS[:2])
        assert result.failures == ()
        assert result.values[0] != one[0]


def test_processes_end_when_their_parent_is_killed(functions: types.ModuleType, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, signal\n"
        "import numpy as np\n"
        "from nutmeg.search import OneByOne, Processes\n"
        "from nutmeg.search.evaluation import candidate_seeds\n"
        "import evaluated_functions\n"
        "if __name__ == '__main__':\n"
        "    evaluator = Processes(1)\n"
        "    evaluator.evaluate(OneByOne(evaluated_functions.who), np.zeros((1, 2)), candidate_seeds(0, 0, 1))\n"
        "    print(*evaluator.ids, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    # This returns when every process that has the pipe has ended: the worker, too.
    done = subprocess.run([sys.executable, script], capture_output=True, timeout=240, check=False)
    assert done.returncode == -signal.SIGKILL
    assert done.stdout.strip().isdigit()


def test_a_mistake_in_the_function_is_told_not_hidden(functions: types.ModuleType) -> None:
    for evaluator in (InThisThread(), Threads(2)):
        with pytest.raises(KeyError, match="missing"):
            evaluator.evaluate(OneByOne(functions.buggy), CANDIDATES, SEEDS)
    with contextlib.closing(Processes(1)) as processes:
        with pytest.raises(UsageError, match="KeyError: 'missing'"):
            processes.evaluate(OneByOne(functions.buggy), CANDIDATES, SEEDS)
        assert processes.ids == ()
        assert not processes.evaluate(OneByOne(functions.noisy), CANDIDATES, SEEDS).failures, "it can be used again"


def test_an_interrupt_ends_the_processes(functions: types.ModuleType) -> None:
    evaluator = Processes(1)
    evaluator.evaluate(OneByOne(functions.who), CANDIDATES[:1], SEEDS[:1])
    (worker,) = evaluator.ids
    with pytest.raises(KeyboardInterrupt):
        evaluator.evaluate(OneByOne(functions.interrupts), CANDIDATES, SEEDS)
    assert evaluator.ids == ()
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_an_interrupted_thread_pool_begins_nothing_more() -> None:
    begun = []

    def function(candidate: np.ndarray, rng: np.random.Generator) -> float:
        begun.append(candidate[0])
        time.sleep(0.002)  # all of them would take ten seconds: longer than the main thread may be kept from its turn
        return 0.0

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    waiting = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        Threads(1, piece=1).evaluate(OneByOne(function), np.zeros((5000, 2)), candidate_seeds(0, 0, 5000), interrupt)
    assert len(begun) < 5000
    assert threading.active_count() == waiting


def test_a_function_that_cannot_be_sent_is_refused() -> None:
    evaluator = Processes(1)
    with pytest.raises(UsageError, match="top level of a module"):
        evaluator.evaluate(OneByOne(lambda candidate, rng: 0.0), CANDIDATES, SEEDS)
    assert evaluator.ids == ()


def test_a_script_without_a_main_guard_is_told_what_to_do(functions: types.ModuleType, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\n"
        "from nutmeg.search import OneByOne, Processes\n"
        "from nutmeg.search.evaluation import candidate_seeds\n"
        "import evaluated_functions\n"
        "Processes(1).evaluate(OneByOne(evaluated_functions.who), np.zeros((1, 2)), candidate_seeds(0, 0, 1))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 1
    assert EnvironmentProblem.__name__ in done.stderr
    assert "must do its work under" in done.stderr


def test_wrong_shapes_and_counts_are_refused(functions: types.ModuleType) -> None:
    with pytest.raises(UsageError, match=r"shape \(2,\) for 9 candidates"):
        InThisThread().evaluate(lambda rows, _: [1.0, 2.0], CANDIDATES, SEEDS)
    with pytest.raises(UsageError, match="8 seeds"):
        InThisThread().evaluate(functions.together, CANDIDATES, SEEDS[:8])
    with pytest.raises(UsageError, match="0 workers"):
        Threads(0)
    with pytest.raises(UsageError, match="pieces of 0"):
        Processes(1, piece=0)
    with pytest.raises(UsageError, match="whole multiples of 4 candidates, at most 3"):
        Share(unit=4, most=3)
