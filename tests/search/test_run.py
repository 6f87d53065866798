from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.random import Generator

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import FileError, UsageError
from nutmeg.base.journal import read_lines
from nutmeg.search import (
    Budget,
    EvolutionStrategy,
    EvolutionStrategySettings,
    InThisThread,
    Searcher,
    SearchResult,
    Space,
    Threads,
    minimise,
)
from nutmeg.search.run import CHECKPOINT_FILE, Generation
from nutmeg.search.space import Dimension

from ..conftest import wait_until

MakeSearcher = Callable[[Space, int], Searcher]
Cost = Callable[[Floats, Sequence[Generator]], Floats]
BUDGET = Budget(generations=24)


@pytest.fixture
def noisy(cost: Cost) -> Cost:
    """A cost with noise, and with a corner in which candidates fail."""

    def function(rows: Floats, generators: Sequence[Generator]) -> Floats:
        noise = 0.1 * np.array([rng.standard_normal() for rng in generators])
        return np.where(rows[:, 1] < -2.2, np.nan, cost(rows, generators) + noise)

    return function


def same(one: SearchResult, other: SearchResult) -> bool:
    """Whether two searches went the same way, to the last bit."""
    pairs = list(zip(one.history, other.history, strict=True))
    return (
        one.best.value == other.best.value
        and (one.best.candidate == other.best.candidate).all()
        and (one.mean == other.mean).all()
        and (one.evaluations, one.failures, one.reason) == (other.evaluations, other.failures, other.reason)
        and all((a.candidates == b.candidates).all() for a, b in pairs)
        and all(np.array_equal(a.values, b.values, equal_nan=True) for a, b in pairs)
        and all(a.failures == b.failures and a.state == b.state for a, b in pairs)
    )


@pytest.mark.parametrize("at", [1, 9])
def test_an_interrupted_search_goes_on_as_if_nothing_had_been(
    make_searcher: MakeSearcher, space: Space, noisy: Cost, tmp_path: Path, at: int
) -> None:
    whole = minimise(noisy, make_searcher(space, 3), InThisThread(), budget=BUDGET, seed=5)
    calls = 0

    def interrupted(rows: Floats, generators: Sequence[Generator]) -> Floats:
        nonlocal calls
        calls += 1
        if calls > at:
            raise KeyboardInterrupt
        return noisy(rows, generators)

    with pytest.raises(KeyboardInterrupt):
        minimise(interrupted, make_searcher(space, 3), InThisThread(), budget=BUDGET, seed=5, folder=tmp_path)
    resumed = minimise(noisy, make_searcher(space, 3), Threads(2), budget=BUDGET, seed=5, folder=tmp_path)
    assert [g.replayed for g in resumed.history] == [True] * at + [False] * (24 - at)
    assert same(whole, resumed)
    assert whole.failures > 0


def test_a_search_can_be_continued_with_a_larger_budget(
    make_searcher: MakeSearcher, space: Space, noisy: Cost, tmp_path: Path
) -> None:
    short = replace(BUDGET, generations=10)
    minimise(noisy, make_searcher(space, 3), InThisThread(), budget=short, folder=tmp_path)
    longer = minimise(noisy, make_searcher(space, 3), InThisThread(), budget=BUDGET, folder=tmp_path)
    whole = minimise(noisy, make_searcher(space, 3), InThisThread(), budget=BUDGET)
    assert same(whole, longer)


def test_a_finished_search_is_only_read_again(
    make_searcher: MakeSearcher, space: Space, noisy: Cost, tmp_path: Path
) -> None:
    def never(rows: Floats, generators: Sequence[Generator]) -> Floats:
        raise AssertionError("nothing is left to evaluate")

    first = minimise(noisy, make_searcher(space, 3), InThisThread(), budget=BUDGET, folder=tmp_path)
    again = minimise(never, make_searcher(space, 3), InThisThread(), budget=BUDGET, folder=tmp_path)
    assert same(first, again)


def test_a_line_cut_short_by_a_crash_is_done_again(
    make_searcher: MakeSearcher, space: Space, noisy: Cost, tmp_path: Path
) -> None:
    whole = minimise(noisy, make_searcher(space, 3), InThisThread(), budget=BUDGET, folder=tmp_path)
    path = tmp_path / CHECKPOINT_FILE
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    resumed = minimise(noisy, make_searcher(space, 3), InThisThread(), budget=BUDGET, folder=tmp_path)
    assert same(whole, resumed)
    assert path.read_bytes() == data


def search(
    space: Space,
    cost: Cost,
    folder: Path,
    *,
    seed: int = 3,
    candidate_seed: int = 0,
    children: int = 20,
    on_generation: Callable[[Generation], None] | None = None,
) -> SearchResult:
    settings = EvolutionStrategySettings(parents=4, children=children)
    return minimise(
        cost,
        EvolutionStrategy(space, settings, np.random.default_rng(seed)),
        InThisThread(),
        budget=Budget(generations=4),
        seed=candidate_seed,
        folder=folder,
        on_generation=on_generation,
    )


def test_another_search_is_not_continued(space: Space, cost: Cost, tmp_path: Path) -> None:
    search(space, cost, tmp_path)
    before = (tmp_path / CHECKPOINT_FILE).read_bytes()
    with pytest.raises(FileError, match=r"line 1: belongs to another search \(searcher, children: 20 there, 30 here\)"):
        search(space, cost, tmp_path, children=30)
    with pytest.raises(FileError, match=r"\(seed: 0 there, 1 here\)"):
        search(space, cost, tmp_path, candidate_seed=1)
    with pytest.raises(FileError, match="line 2: generation 0 has other candidates than this search asks for"):
        search(space, cost, tmp_path, seed=4)
    narrower = Space({**space.dimensions, "x1": Dimension(low=-5, high=4, start=-2, unit="m")})
    with pytest.raises(FileError, match=r"\(space, x1, high: 5 there, 4 here\)"):
        search(narrower, cost, tmp_path)
    turned = Space(dict(reversed(space.dimensions.items())))
    with pytest.raises(FileError, match="in the order x0, x1, x2, gain there, gain, x2, x1, x0 here"):
        search(turned, cost, tmp_path)
    assert (tmp_path / CHECKPOINT_FILE).read_bytes() == before


def test_a_damaged_checkpoint_names_the_line(space: Space, cost: Cost, tmp_path: Path) -> None:
    search(space, cost, tmp_path)
    path = tmp_path / CHECKPOINT_FILE
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:2], lines[3], *lines[2:]]))
    with pytest.raises(FileError, match="line 3: is not generation 1 of a search with 4 parameters"):
        search(space, cost, tmp_path)
    path.write_text("".join([*lines[:2], "[rubbish\n"]))
    with pytest.raises(FileError, match="line 3: is not an object in JSON"):
        search(space, cost, tmp_path)


def test_two_runs_do_not_write_into_one_folder(space: Space, cost: Cost, tmp_path: Path) -> None:
    def second(generation: Generation) -> None:
        with pytest.raises(FileError, match="another run is writing here"):
            search(space, cost, tmp_path)

    assert search(space, cost, tmp_path, on_generation=second).history[-1].number == 3


def test_a_full_disk_loses_nothing_but_the_unfinished_generation(space: Space, cost: Cost, tmp_path: Path) -> None:
    whole = search(space, cost, tmp_path / "whole")
    size = (tmp_path / "whole" / CHECKPOINT_FILE).stat().st_size
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, limits[1]))
    try:
        with pytest.raises(FileError, match=r"could not be saved: File too large. Everything before it is safe"):
            search(space, cost, tmp_path / "full")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert 1 < len(read_lines(tmp_path / "full" / CHECKPOINT_FILE)) < 5
    assert same(whole, search(space, cost, tmp_path / "full"))


KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from nutmeg.search import Budget, CmaEs, CmaEsSettings, Dimension, Processes, Space, minimise

def cost(rows, generators):
    return (rows**2).sum(axis=1) + [rng.random() for rng in generators]

def killed(generation):
    if generation.number == 5 and not generation.replayed and sys.argv[2] == "kill":
        print(*evaluator.ids, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    evaluator = Processes(1, piece=4)
    space = Space({"x": Dimension(low=-1, high=2), "y": Dimension(low=-1, high=2)})
    searcher = CmaEs(space, CmaEsSettings(), np.random.default_rng(7))
    result = minimise(cost, searcher, evaluator, budget=Budget(generations=9), folder=Path(sys.argv[1]),
                      on_generation=killed)
    evaluator.close()
    print(result.best.value.hex(), sum(g.replayed for g in result.history))
"""


def test_kill_9_of_the_whole_run_loses_nothing(tmp_path: Path) -> None:
    script = tmp_path / "search.py"
    script.write_text(KILLED)

    def run(folder: str, how: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(script), str(tmp_path / folder), how]
        return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)

    whole, killed, resumed = run("whole", "live"), run("killed", "kill"), run("killed", "live")
    assert killed.returncode == -signal.SIGKILL
    assert whole.stdout.split()[1] == "0"
    assert resumed.stdout.split() == [whole.stdout.split()[0], "6"]
    assert (tmp_path / "killed" / CHECKPOINT_FILE).read_bytes() == (tmp_path / "whole" / CHECKPOINT_FILE).read_bytes()
    worker = int(killed.stdout)
    wait_until(lambda: not Path(f"/proc/{worker}").exists())  # it sees that nobody is there any more, and leaves


def test_the_checkpoint_is_plain_json_with_null_for_failures(space: Space, noisy: Cost, tmp_path: Path) -> None:
    result = search(space, noisy, tmp_path)
    head, *lines = [json.loads(line) for line in (tmp_path / CHECKPOINT_FILE).read_text().splitlines()]
    assert head["searcher"]["algorithm"] == "evolution-strategy"
    assert head["space"]["gain"] == {
        "low": 0.001, "high": 100, "start": pytest.approx(0.316, rel=1e-3), "unit": "N m/rad", "scale": "log"
    }  # fmt: skip
    failed = [value is None for line in lines for value in line["values"]]
    assert sum(failed) == result.failures > 0
    assert lines[0]["failures"][0]["reason"] == "its value is nan"
    for stored, generation in zip(lines, result.history, strict=True):
        assert stored["candidates"] == generation.candidates.tolist()
        assert np.array_equal(np.array(stored["values"], float), generation.values, equal_nan=True)


def test_the_budget_is_never_exceeded(make_searcher: MakeSearcher, space: Space, cost: Cost) -> None:
    result = minimise(cost, make_searcher(space, 3), InThisThread(), budget=150)
    size = len(result.history[-1].values)
    assert 150 - size < result.evaluations <= 150
    assert result.reason == f"{result.evaluations} of 150 evaluations are done"


def test_a_good_enough_value_ends_the_search(make_searcher: MakeSearcher, space: Space, cost: Cost) -> None:
    budget = Budget(evaluations=5000, target=1.0)
    result = minimise(cost, make_searcher(space, 3), InThisThread(), budget=budget)
    assert result.best.value <= 1.0
    assert result.reason == "the target 1 is reached"
    assert all(generation.best.value > 1.0 for generation in result.history[:-1])


def test_the_history_tells_how_the_best_came_about(space: Space, cost: Cost, tmp_path: Path) -> None:
    told: list[Generation] = []
    result = search(space, cost, tmp_path, on_generation=told.append)
    assert tuple(told) == result.history
    assert [g.evaluations for g in told] == [20, 40, 60, 80]
    for number, generation in enumerate(told):
        assert generation.number == number
        assert generation.best.value == min(g.values.min() for g in told[: number + 1])


def test_wrong_use_is_told(space: Space, cost: Cost, tmp_path: Path, make_searcher: MakeSearcher) -> None:
    with pytest.raises(UsageError, match="smaller than the first generation"):
        minimise(cost, make_searcher(space, 3), InThisThread(), budget=3)
    used = make_searcher(space, 3)
    minimise(cost, used, InThisThread(), budget=300)
    with pytest.raises(UsageError, match="used already"):
        minimise(cost, used, InThisThread(), budget=600, folder=tmp_path)
    with pytest.raises(ValueError, match="no limit"):
        Budget()
    with pytest.raises(ValueError, match="evaluations is 0; allowed is 1 or more"):
        Budget(evaluations=0)
