"""What holds for all searchers: bounds, determinism, failures, convergence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nutmeg.base.errors import UsageError
from nutmeg.search import (
    CmaEs,
    CmaEsSettings,
    Dimension,
    EvolutionStrategy,
    EvolutionStrategySettings,
    Genetic,
    GeneticSettings,
    Searcher,
    Space,
)
from nutmeg.search.searchers import MAX_GENERATIONS_WITHOUT_VALUES

MakeSearcher = Callable[[Space, int], Searcher]
Cost = Callable[[np.ndarray, list[np.random.Generator]], np.ndarray]


def run(searcher: Searcher, cost: Cost, generations: int) -> list[np.ndarray]:
    asked: list[np.ndarray] = []
    while len(asked) < generations and not searcher.finished:
        asked.append(searcher.ask())
        searcher.tell(cost(asked[-1], []))
    return asked


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


def sizes_of_runs(space: Space, cost: Cost, settings: CmaEsSettings) -> list[int]:
    searcher = CmaEs(space, settings, np.random.default_rng(11))
    sizes = {}
    while not searcher.finished:
        sizes[searcher.state["restarts"]] = len(searcher.ask())
        searcher.tell(cost(searcher.ask(), []))
    return list(sizes.values())


def test_restarts_double_the_population(space: Space, cost: Cost) -> None:
    settings = CmaEsSettings(restarts=3, value_tolerance=1e-2)
    assert sizes_of_runs(space, cost, settings) == [8, 16, 32, 64]


def test_bipop_alternates_large_and_small_populations(space: Space, cost: Cost) -> None:
    settings = CmaEsSettings(restarts=8, value_tolerance=1e-2, scheme="bipop")
    sizes = sizes_of_runs(space, cost, settings)
    large = [size for size in sizes if size in (16, 32, 64, 128, 256)]
    assert len(sizes) == 9
    assert sizes[1] == 16
    assert large == sorted(large)
    assert len(large) < 8, "some are small"
    assert min(sizes) >= 8


def test_the_population_can_be_given(space: Space, cost: Cost) -> None:
    assert len(CmaEs(space, CmaEsSettings(population=30), np.random.default_rng(1)).ask()) == 30


def test_the_first_steps_have_the_size_asked_for() -> None:
    space = Space({"a": Dimension(low=0, high=1000), "b": Dimension(low=0.01, high=100, scale="log")})
    unit = space.unit(CmaEs(space, CmaEsSettings(population=500, step=0.1), np.random.default_rng(1)).ask())
    assert unit.mean(axis=0) == pytest.approx([0.5, 0.5], abs=0.02)
    assert unit.std(axis=0) == pytest.approx([0.1, 0.1], abs=0.01)


def test_the_end_says_why(space: Space, cost: Cost) -> None:
    searcher = CmaEs(space, CmaEsSettings(value_tolerance=1e-3), np.random.default_rng(1))
    while not searcher.finished:
        searcher.tell(cost(searcher.ask(), []))
    assert searcher.finished.startswith("CMA-ES: tolfun")


def test_only_the_order_of_values_counts(space: Space, cost: Cost) -> None:
    one = CmaEs(space, CmaEsSettings(value_tolerance=0), np.random.default_rng(1))
    other = CmaEs(space, CmaEsSettings(value_tolerance=0), np.random.default_rng(1))
    for _ in range(20):
        values = cost(one.ask(), [])
        one.tell(values)
        other.ask()
        other.tell(np.exp(values / 10))
    assert (one.ask() == other.ask()).all()


def test_a_failure_ranks_behind_the_worst_even_of_huge_values(space: Space) -> None:
    one, other = (CmaEs(space, CmaEsSettings(), np.random.default_rng(1)) for _ in range(2))
    ordered = np.arange(len(one.ask()), dtype=float)
    other.ask()
    one.tell(ordered)
    other.tell([*(1e307 * ordered[:-1]), np.nan])
    assert (one.ask() == other.ask()).all()


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


def genetic(space: Space, **settings: object) -> Genetic:
    return Genetic(space, GeneticSettings(**settings), np.random.default_rng(11))  # type: ignore[arg-type]


def test_the_first_population_is_the_seed_and_its_mutants(space: Space) -> None:
    first = genetic(space, population=200, step=0.05).ask()
    assert np.allclose(first[0], space.start)
    away = space.unit(first[1:]) - space.unit(space.start)
    assert abs(away.std() - 0.05) < 0.005
    assert (away != 0).all(), "a Gaussian mutation moves every gene"


def test_per_gene_mutation_changes_each_gene_with_its_probability() -> None:
    space = Space({f"x{i}": Dimension(low=0, high=1) for i in range(10)})
    first = genetic(space, population=1000, mutation="per-gene", rate=0.3).ask()
    changed = first[1:] != 0.5
    assert changed.mean() == pytest.approx(0.3, abs=0.02)
    assert changed.any(axis=1).all(), "at least one gene of each"


def test_the_elite_is_never_lost(space: Space, cost: Cost) -> None:
    searcher = genetic(space, population=10, elite=3, step=0.5)
    seen = np.empty(0)
    for generation in range(15):
        values = cost(searcher.ask(), []) + (1000 if generation > 5 else 0)
        seen = np.sort(np.concatenate([seen, values]))
        searcher.tell(values)
        _, kept = searcher.elite
        assert (kept == seen[:3]).all()


def test_without_an_elite_parents_are_forgotten(space: Space, cost: Cost) -> None:
    searcher = genetic(space, population=10, elite=0)
    searcher.tell(cost(searcher.ask(), []))
    candidates = searcher.ask()
    searcher.tell(1000 + np.arange(10))
    assert np.allclose(searcher.mean, space.values(space.unit(candidates[:2]).mean(axis=0)))
    assert searcher.best.value < 1000, "the answer of the search is remembered all the same"


@pytest.mark.parametrize("selection", ["truncation", "tournament"])
def test_better_candidates_have_more_children(selection: str) -> None:
    space = Space({"x": Dimension(low=0, high=1)})
    searcher = genetic(space, population=400, selection=selection, first="anywhere", step=1e-6)
    first = searcher.ask()[:, 0]
    searcher.tell(first)
    children = searcher.ask()[:, 0]
    assert children.mean() < np.quantile(first, 0.3)
    if selection == "truncation":
        assert children.max() < np.quantile(first, 0.26)


def test_crossover_takes_genes_from_two_parents() -> None:
    space = Space({f"x{i}": Dimension(low=0, high=1) for i in range(6)})
    searcher = genetic(space, population=40, crossover=1.0, survivors=0.05, elite=0, first="anywhere", step=1e-9)
    parents = searcher.ask()[:2]
    searcher.tell(np.arange(40))
    genes = np.abs(searcher.ask()[:, None, :] - parents[None]).argmin(axis=1)
    assert 0.35 < genes.mean() < 0.65
    assert ((genes.min(axis=1) == 0) & (genes.max(axis=1) == 1)).any(), "mixed in one child"


def test_cooling_makes_mutations_smaller(space: Space, cost: Cost) -> None:
    searcher = genetic(space, step=0.1, cooling=0.5)
    for _ in range(3):
        searcher.tell(cost(searcher.ask(), []))
    assert searcher.state["step"] == pytest.approx(0.1 / 8)


@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        (CmaEsSettings, {"population": 2}, "population is 2"),
        (CmaEsSettings, {"step": 0.0}, "step is 0"),
        (CmaEsSettings, {"growth": 0.5}, "growth is 0.5"),
        (CmaEsSettings, {"value_tolerance": -1.0}, "value_tolerance is -1"),
        (EvolutionStrategySettings, {"parents": 20, "children": 10}, "20 parents and 10 children"),
        (EvolutionStrategySettings, {"lifetime": 0}, "lifetime is 0"),
        (EvolutionStrategySettings, {"mixed": 0}, "mixed is 0"),
        (EvolutionStrategySettings, {"step": 1e-10}, "smallest_step is 1e-09; needed is less than the step, 1e-10"),
        (GeneticSettings, {"population": 1}, "population is 1"),
        (GeneticSettings, {"elite": 30}, "elite is 30"),
        (GeneticSettings, {"survivors": 0.0}, "survivors is 0; allowed is above 0 and up to 1"),
        (GeneticSettings, {"rate": 1.5}, "rate is 1.5"),
        (GeneticSettings, {"cooling": 0.0}, "cooling is 0"),
    ],
)
def test_impossible_settings_are_refused(kind: type, wrong: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind(**wrong)
