"""How long a search will still take."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.random import Generator

from nutmeg.base.arrays import Floats
from nutmeg.search import Budget, InThisThread, OneByOne, Searcher, Space, TimeLeft, minimise
from nutmeg.search.searchers import Genetic, GeneticSettings


class Clock:
    """A clock that is turned by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def slow(clock: Clock) -> OneByOne:
    """A function that takes half a second for a candidate."""

    def function(candidate: Floats, rng: Generator) -> float:
        clock.now += 0.5
        return float(candidate[0])

    return OneByOne(function)


def ten(space: Space) -> Searcher:
    return Genetic(space, GeneticSettings(population=10), np.random.default_rng(1))


def estimates(space: Space, function: OneByOne, clock: Clock, budget: Budget) -> list[tuple[float, float | None]]:
    """The moments after each candidate, and the time that was thought to be left then."""
    left, told = TimeLeft(budget, clock), []

    def progress(done: int, total: int) -> None:
        left.during_generation(done, total)
        told.append((clock.now, left.seconds()))

    minimise(
        function, space, ten(space), InThisThread(piece=1), budget=budget, on_generation=left.after_generation,
        progress=progress, clock=clock,
    )  # fmt: skip
    return told


@pytest.mark.parametrize("budget", [Budget(evaluations=70), Budget(generations=7), Budget(seconds=35.0)])
def test_at_an_even_pace_the_estimate_is_exact(space: Space, slow: OneByOne, clock: Clock, budget: Budget) -> None:
    told = estimates(space, slow, clock, budget)
    end = told[-1][0]
    assert [left for _, left in told] == pytest.approx([end - now for now, _ in told])


def test_what_ends_first_counts(space: Space, slow: OneByOne, clock: Clock) -> None:
    told = estimates(space, slow, clock, Budget(evaluations=70, seconds=10.0))
    assert told[0][1] == 9.5
    assert estimates(space, slow, clock, Budget(evaluations=30, seconds=100.0))[0][1] == 14.5


def test_it_is_not_known_before_anything_was_measured(clock: Clock) -> None:
    assert TimeLeft(Budget(evaluations=70), clock).seconds() is None
    assert TimeLeft(Budget(target=0.0), clock).seconds() is None
    assert TimeLeft(Budget(seconds=3.0), clock).seconds() == 3.0


def test_replayed_generations_do_not_count(
    space: Space, slow: OneByOne, clock: Clock, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("search")
    minimise(slow, space, ten(space), InThisThread(), budget=20, folder=folder, clock=clock)
    left = TimeLeft(Budget(evaluations=40), clock)
    known = []

    def note(generation: object) -> None:
        left.after_generation(generation)  # type: ignore[arg-type]
        known.append(left.seconds())

    minimise(slow, space, ten(space), InThisThread(), budget=40, folder=folder, on_generation=note, clock=clock)
    assert known == [None, None, 5.0, 0.0]


def test_no_generation_begins_after_the_seconds_are_over(
    space: Space, slow: OneByOne, clock: Clock, make_searcher: Callable[[Space, int], Searcher]
) -> None:
    result = minimise(slow, space, ten(space), InThisThread(), budget=Budget(seconds=11.0), clock=clock)
    assert result.evaluations == 30
    assert result.reason == "the 11 seconds are over"
    with pytest.raises(ValueError, match="0 seconds"):
        Budget(seconds=0.0)


def test_a_search_out_of_time_goes_on_when_run_again(
    space: Space, slow: OneByOne, clock: Clock, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, budget = tmp_path_factory.mktemp("search"), Budget(seconds=9.0)
    for evaluations in (20, 40):
        result = minimise(slow, space, ten(space), InThisThread(), budget=budget, folder=folder, clock=clock)
        assert result.evaluations == evaluations


def test_a_function_of_many_at_once_is_told_after_the_generation(space: Space, clock: Clock) -> None:
    def together(candidates: Floats, generators: Sequence[Generator]) -> Floats:
        clock.now += 2.0
        return candidates[:, 0]

    left, told = TimeLeft(Budget(generations=4), clock), []

    def note(generation: object) -> None:
        left.after_generation(generation)  # type: ignore[arg-type]
        told.append(left.seconds())

    budget = Budget(generations=4)
    minimise(together, space, ten(space), InThisThread(), budget=budget, on_generation=note, clock=clock)
    assert told == [6.0, 4.0, 2.0, 0.0]
    clock.now += 1.0
    assert left.seconds() == 0.0
