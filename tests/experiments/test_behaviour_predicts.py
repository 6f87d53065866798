"""Does the behavioural world predict the physical one: small, with real games, and what is made of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nutmeg.experiments.experiment import perform, rank_correlation
from nutmeg.experiments.naoisis import behaviour_predicts
from nutmeg.experiments.naoisis.behaviour_predicts import (
    Size,
    Strengths,
    agreement,
    behavioural,
    ceiling_of,
    series_of,
    without_each,
)
from nutmeg.match.series.series import GameResult
from nutmeg.match.worlds.behavioural.settings import load_behaviour

TINY = Size(
    games=1, behavioural_games=2, recorded=1, players=1, half_length=1.0, strategies=("statue", "dribblers", "roles")
)


def games(strengths: dict[str, float], count: int, seed: int) -> list[GameResult]:
    """Games that end as strengths say, with some luck."""
    rng, names, found = np.random.default_rng(seed), list(strengths), []
    for i, home in enumerate(names):
        for away in names[i + 1 :]:
            for number in range(count):
                lead = round(strengths[home] - strengths[away] + rng.normal())
                found.append(GameResult(home=home, away=away, number=number, goals=(max(lead, 0), max(-lead, 0))))
    return found


@pytest.mark.slow
def test_both_worlds_play_and_games_are_kept(tmp_path: Path) -> None:
    said: list[str] = []
    answer = perform(behaviour_predicts, tmp_path, behaviour_predicts.Settings(size=TINY), said.append)
    assert {row["strategy"] for row in answer["table"]} == {"statue", "dribblers", "roles"}
    assert answer["physical_games"] == 3
    assert answer["behavioural_games"] == 2 * 3 * 2
    assert json.loads((tmp_path / "results.json").read_text())["before"] == answer["before"]
    assert (tmp_path / "worlds.png").stat().st_size > 3000
    assert load_behaviour(tmp_path / "body.toml").name == "nao-spark"
    again = perform(behaviour_predicts, tmp_path, behaviour_predicts.Settings(size=TINY), said.append)
    assert again["pairs"] == answer["pairs"]
    assert said.count("physical: game 0 of 3") == 1, "the second time all games are there"
    shown = behaviour_predicts.table(answer)
    assert all(len(row) == len(shown.columns) for row in shown.rows)


def test_both_worlds_have_the_same_teams_pitch_and_rules() -> None:
    real = series_of(TINY, seed=5)
    other = behavioural(real, "nao-spark", 7)
    assert real.rule_book() == other.rule_book()
    assert (real.ground, real.names, real.pairs) == (other.ground, other.names, other.pairs)
    assert (other.world, other.games, other.eyes) == ("behavioural", 7, "nao-spark")


def test_rank_correlations_are_those_of_the_textbook() -> None:
    a = np.array([106.0, 100, 86, 101, 99, 103, 97, 113, 112, 110])
    b = np.array([7.0, 27, 2, 50, 28, 29, 20, 12, 6, 17])
    assert rank_correlation("spearman", a, b) == pytest.approx(-29 / 165)
    assert rank_correlation("kendall", a, b) == pytest.approx(-1 / 9)
    assert rank_correlation("spearman", a, a) == rank_correlation("kendall", a, a) == pytest.approx(1.0)
    assert rank_correlation("spearman", a, np.ones(10)) is rank_correlation("kendall", a, np.ones(10)) is None


def test_strengths_come_out_and_like_series_agree() -> None:
    names = {"a": 2.0, "b": 1.0, "c": 0.0, "d": -1.0, "e": -2.0}

    def strengths(of: dict[str, float], seed: int) -> Strengths:
        return Strengths.of(list(names), games(of, 40, seed=seed), "goals", np.random.default_rng(seed))

    one = strengths(names, 1)
    assert one.found == pytest.approx(list(names.values()), abs=0.2)
    assert 0.0 < one.errors.max() < 0.15
    same = agreement(one, strengths(names, 2))
    assert same["spearman"] == pytest.approx(1.0)
    assert same["met"]
    assert same["spearman_interval"][0] > 0.85
    turned = agreement(one, strengths({n: -s for n, s in names.items()}, 2))
    assert turned["spearman"] == pytest.approx(-1.0)
    assert not turned["met"]


def test_finer_measures_are_compared_like_goals() -> None:
    better = [
        GameResult(home=home, away=away, number=0, goals=(0, 0), progress=(0.2 * lead, -0.2 * lead))
        for home, away, lead in (("a", "b", 1.0), ("a", "c", 2.0), ("b", "c", 1.0))
    ]
    rng = np.random.default_rng(0)
    assert Strengths.of("abc", better, "goals", rng).found == pytest.approx([0.0, 0.0, 0.0])
    assert Strengths.of("abc", better, "progress", rng).found == pytest.approx([0.4, 0.0, -0.4])


def test_a_single_strategy_that_decides_the_correlation_is_found() -> None:
    names = {"bad": -9.0, "a": 0.0, "b": 0.6, "c": 1.2}
    others = {**names, "a": 1.2, "c": 0.0}  # both worlds agree on the bad one only
    found = without_each(list(names), games(names, 60, seed=1), games(others, 60, seed=2), "goals")
    assert found["bad"] < -0.9
    assert min(value for name, value in found.items() if name != "bad") > -0.6


def test_few_games_of_like_teams_agree_with_nothing_not_even_with_themselves() -> None:
    names = dict.fromkeys("abcdef", 0.0)
    ranked = {n: float(i) for i, n in enumerate(names)}
    low, high = (
        ceiling_of(Strengths.of(list(names), games(of, count, seed=1), "goals", np.random.default_rng(0)))
        for of, count in ((names, 1), (ranked, 20))
    )
    assert low["spearman"] < 0.8 < high["spearman"]
