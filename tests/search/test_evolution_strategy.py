from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from nutmeg.search import Dimension, EvolutionStrategy, EvolutionStrategySettings, Space

Cost = Callable[[np.ndarray, list[np.random.Generator]], np.ndarray]


def strategy(space: Space, **settings: object) -> EvolutionStrategy:
    options = {"parents": 4, "children": 12, **settings}
    return EvolutionStrategy(space, EvolutionStrategySettings(**options), np.random.default_rng(11))  # type: ignore[arg-type]


@pytest.mark.parametrize("kappa", [1, 2, 3, 5])
def test_no_parent_lives_longer_than_kappa(space: Space, kappa: int) -> None:
    """Every generation is worse than the one before: without the rule the first parents would stay for ever."""
    searcher = strategy(space, lifetime=kappa)
    oldest = []
    for generation in range(20):
        searcher.tell(generation * 100 + np.arange(len(searcher.ask())))
        oldest.append(max(searcher.ages))
        assert len(searcher.ages) == 4
    assert max(oldest) == kappa
    assert oldest[:kappa] == list(range(1, kappa + 1)), "until then the first parents live"


def test_without_a_lifetime_the_best_live_for_ever(space: Space) -> None:
    searcher = strategy(space, lifetime=None)
    for generation in range(20):
        searcher.tell(generation * 100 + np.arange(len(searcher.ask())))
    assert searcher.ages == (20, 20, 20, 20)


def test_a_lifetime_of_one_is_the_comma_strategy(space: Space) -> None:
    """All parents of a generation are its children, however much better the old ones were."""
    searcher = strategy(space, lifetime=1, mixing="none", step=1e-6, smallest_step=1e-12)
    for generation in range(5):
        candidates = searcher.ask()
        searcher.tell(generation * 100 + np.arange(len(candidates)))
        assert searcher.ages == (1, 1, 1, 1)
        assert np.allclose(searcher.mean, space.values(space.unit(candidates[:4]).mean(axis=0)), rtol=1e-9)


def test_steps_shrink_at_the_minimum_and_grow_on_a_slope(space: Space, cost: Cost) -> None:
    near = strategy(space, parents=5, children=35)
    for _ in range(60):
        near.tell(cost(near.ask(), []))
    assert near.state["step"] < 0.2 / 100
    wide = Space({f"x{i}": Dimension(low=0, high=1e9, start=1e3) for i in range(3)})
    far = strategy(wide, parents=5, children=35, step=1e-6, smallest_step=1e-12)
    for _ in range(25):
        far.tell(-far.ask().sum(axis=1))
    assert far.state["step"] > 1e-6 * 100


def test_steps_adapt_to_each_parameter_by_itself() -> None:
    space = Space({"steep": Dimension(low=-1, high=1, start=0.5), "flat": Dimension(low=-1, high=1, start=0.5)})
    searcher = strategy(space, parents=10, children=70)
    for _ in range(40):
        x = searcher.ask()
        searcher.tell(1e6 * x[:, 0] ** 2 + x[:, 1] ** 2)
    last = searcher.ask()
    assert last[:, 1].std() > 10 * last[:, 0].std()


def test_discrete_mixing_takes_each_parameter_from_a_parent() -> None:
    space = Space({f"x{i}": Dimension(low=0, high=1) for i in range(3)})
    searcher = strategy(space, mixing="discrete", mixed=None, first="anywhere", step=2e-9, smallest_step=1e-12)
    parents = searcher.ask()[:4]
    searcher.tell(np.arange(12))
    children = searcher.ask()
    nearest = np.abs(children[:, None, :] - parents[None]).min(axis=1)
    assert (nearest < 1e-7).all(), "every parameter is that of some parent, but for tiny mutations"
    whole = np.abs(children[:, None, :] - parents[None]).max(axis=2).min(axis=1)
    assert (whole > 1e-3).any(), "not all of them from the same"


def test_intermediate_mixing_of_all_parents_is_their_mean() -> None:
    space = Space({f"x{i}": Dimension(low=0, high=1) for i in range(3)})
    searcher = strategy(space, mixed=None, first="anywhere", step=2e-9, smallest_step=1e-12)
    parents = searcher.ask()[:4]
    searcher.tell(np.arange(12))
    assert np.allclose(searcher.ask(), parents.mean(axis=0), atol=1e-7)


def test_the_start_is_the_first_candidate(space: Space) -> None:
    assert np.allclose(strategy(space).ask()[0], space.start)


def test_the_search_ends_when_steps_can_shrink_no_more(space: Space, cost: Cost) -> None:
    searcher = strategy(space, smallest_step=1e-3)
    for _ in range(400):
        if searcher.finished:
            break
        searcher.tell(cost(searcher.ask(), []))
    assert searcher.finished == "the step sizes are down to the smallest, 0.001 of the range"


def test_failed_candidates_never_become_parents(space: Space) -> None:
    searcher = strategy(space, lifetime=1)
    candidates = searcher.ask()
    searcher.tell([5.0, *[np.nan] * 11])
    assert len(searcher.ages) == 1
    assert np.allclose(searcher.mean, candidates[0])


def test_the_defaults_are_those_of_the_motoflex_fit() -> None:
    settings = EvolutionStrategySettings()
    assert (settings.parents, settings.children, settings.lifetime) == (10, 800, 3)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"parents": 20, "children": 10}, "20 parents and 10 children"),
        ({"lifetime": 0}, "lifetime is 0"),
        ({"mixed": 0}, "mixed is 0"),
        ({"step": 1e-10}, "smallest_step is 1e-09; needed is less than the step, 1e-10"),
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EvolutionStrategySettings(**wrong)  # type: ignore[arg-type]
