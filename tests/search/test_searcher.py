"""What holds for all searchers: bounds, determinism, failures, convergence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nutmeg.base.errors import UsageError
from nutmeg.search import Dimension, Searcher, Space
from nutmeg.search.searchers import MAX_GENERATIONS_WITHOUT_VALUES

MakeSearcher = Callable[[Space, int], Searcher]
Cost = Callable[[np.ndarray, list[np.random.Generator]], np.ndarray]


def run(searcher: Searcher, cost: Cost, generations: int) -> list[np.ndarray]:
    asked: list[np.ndarray] = []
    while len(asked) < generations and not searcher.finished:
        asked.append(searcher.ask())
        searcher.tell(cost(asked[-1], []))
    return asked


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(seed=st.integers(0, 2**32 - 1), slope=st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3))
def test_candidates_never_leave_the_bounds(make_searcher: MakeSearcher, seed: int, slope: list[float]) -> None:
    space = Space({
        "a": Dimension(low=-1, high=3, start=3),
        "b": Dimension(low=1e-6, high=1e6, scale="log"),
        "c": Dimension(low=0, high=1e-9, start=0),
    })  # fmt: skip
    searcher = make_searcher(space, seed)
    for _ in range(12):  # a slope drives the search into a corner
        candidates = searcher.ask()
        assert ((candidates >= space.low) & (candidates <= space.high)).all()
        assert ((searcher.mean >= space.low) & (searcher.mean <= space.high)).all()
        searcher.tell(space.unit(candidates) @ slope)
        if searcher.finished:
            break


def test_the_same_seed_asks_the_same_and_another_seed_does_not(
    make_searcher: MakeSearcher, space: Space, cost: Cost
) -> None:
    one, same, other = (run(make_searcher(space, seed), cost, 15) for seed in (3, 3, 4))
    assert all((a == b).all() for a, b in zip(one, same, strict=True))
    assert any((a != b).any() for a, b in zip(one, other, strict=False))


def test_numpys_global_generator_is_left_alone(make_searcher: MakeSearcher, space: Space, cost: Cost) -> None:
    before = np.random.get_state(legacy=False)  # noqa: NPY002
    run(make_searcher(space, 3), cost, 40)
    after = np.random.get_state(legacy=False)  # noqa: NPY002
    assert (before["state"]["key"] == after["state"]["key"]).all()
    assert before["state"]["pos"] == after["state"]["pos"]


def test_searchers_do_not_share_randomness(make_searcher: MakeSearcher, space: Space, cost: Cost) -> None:
    alone = run(make_searcher(space, 3), cost, 10)
    one, other = make_searcher(space, 3), make_searcher(space, 8)
    for expected in alone:
        asked = one.ask()
        other.tell(cost(other.ask(), []))
        assert (asked == expected).all()
        one.tell(cost(asked, []))


def test_asking_again_gives_the_same_candidates_until_told(make_searcher: MakeSearcher, space: Space) -> None:
    searcher = make_searcher(space, 3)
    first = searcher.ask()
    assert (searcher.ask() == first).all()
    searcher.tell(np.arange(len(first)))
    assert (searcher.ask()[: len(first)] != first).any()


def test_changing_what_was_asked_changes_nothing(make_searcher: MakeSearcher, space: Space, cost: Cost) -> None:
    one, other = make_searcher(space, 3), make_searcher(space, 3)
    for _ in range(5):
        candidates = one.ask()
        values = cost(candidates, [])
        candidates[:] = 0
        one.tell(values)
        other.tell(cost(other.ask(), []))
    assert (one.ask() == other.ask()).all()
    assert (one.best.candidate == other.best.candidate).all()


def test_the_best_is_the_best_that_was_told(make_searcher: MakeSearcher, space: Space, cost: Cost) -> None:
    searcher = make_searcher(space, 3)
    assert searcher.best.value == np.inf
    assert (searcher.best.candidate == space.start).all()
    asked = np.concatenate(run(searcher, cost, 20))
    values = cost(asked, [])
    assert searcher.best.value == values.min()
    assert (searcher.best.candidate == asked[values.argmin()]).all()


@pytest.mark.parametrize("failed", [np.nan, np.inf, -np.inf])
def test_failed_candidates_are_the_worst(make_searcher: MakeSearcher, space: Space, cost: Cost, failed: float) -> None:
    """Failing where x0 > 0.9 hides a part of the space; the minimum beside it is found none the less."""
    searcher = make_searcher(space, 5)
    count = 0
    while searcher.state["evaluations"] < 1500 and not searcher.finished:
        candidates = searcher.ask()
        values = np.where(candidates[:, 0] > 0.9, failed, cost(candidates, []))
        count += int((~np.isfinite(values)).sum())
        searcher.tell(values)
    assert searcher.state["failures"] == count
    assert count > 0
    assert searcher.best.value < 0.1
    assert searcher.best.candidate[0] <= 0.9


def test_a_generation_that_failed_as_a_whole_teaches_nothing(make_searcher: MakeSearcher, space: Space) -> None:
    searcher = make_searcher(space, 5)
    searcher.tell(np.arange(len(searcher.ask())))
    mean, best = searcher.mean, searcher.best
    searcher.tell(np.full(len(searcher.ask()), np.nan))
    assert (searcher.mean == mean).all()
    assert searcher.best is best
    assert not searcher.finished


def test_a_search_in_which_everything_fails_ends_and_says_so(make_searcher: MakeSearcher, space: Space) -> None:
    searcher = make_searcher(space, 5)
    for _ in range(MAX_GENERATIONS_WITHOUT_VALUES):
        searcher.tell(np.full(len(searcher.ask()), np.nan))
    assert "every candidate" in searcher.finished
    with pytest.raises(UsageError, match="the search has ended"):
        searcher.ask()


def test_wrong_use_is_told(make_searcher: MakeSearcher, space: Space) -> None:
    searcher = make_searcher(space, 5)
    with pytest.raises(UsageError, match="ask"):
        searcher.tell([1.0])
    count = len(searcher.ask())
    with pytest.raises(UsageError, match=rf"shape \({count + 1},\); needed is \({count},\)"):
        searcher.tell(np.zeros(count + 1))


def test_one_parameter_is_enough(make_searcher: MakeSearcher) -> None:
    space = Space({"x": Dimension(low=0, high=1, start=0.9)})
    searcher = make_searcher(space, 2)
    run(searcher, lambda rows, _: (rows[:, 0] - 0.3) ** 2, 25)
    assert searcher.best.candidate[0] == pytest.approx(0.3, abs=0.01)


def test_a_minimum_on_the_boundary_is_found(make_searcher: MakeSearcher) -> None:
    space = Space({"x": Dimension(low=0, high=1), "y": Dimension(low=0, high=1)})
    searcher = make_searcher(space, 2)
    run(searcher, lambda rows, _: rows[:, 0] + (rows[:, 1] - 1) ** 2, 60)
    assert searcher.best.candidate == pytest.approx([0, 1], abs=0.05)
