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
    agreement,
    behavioural,
    ceiling_of,
    series_of,
    strengths_of,
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
    rng = np.random.default_rng(0)
    found, errors = strengths_of(list(names), games(names, 40, seed=1), rng)
    assert found == pytest.approx(list(names.values()), abs=0.2)
    assert 0.0 < errors.max() < 0.15
    same = agreement(list(names), games(names, 40, seed=1), games(names, 40, seed=2), rng, goal=0.8)
    assert same["spearman"] == pytest.approx(1.0)
    assert same["met"]
    assert same["spearman_interval"][0] > 0.85
    turned = agreement(
        list(names), games(names, 40, seed=1), games({n: -s for n, s in names.items()}, 40, seed=2), rng, goal=0.8
    )
    assert turned["spearman"] == pytest.approx(-1.0)
    assert not turned["met"]


def test_few_games_of_like_teams_agree_with_nothing_not_even_with_themselves() -> None:
    names = dict.fromkeys("abcdef", 0.0)
    low = ceiling_of(list(names), games(names, 1, seed=1), np.random.default_rng(0))
    high = ceiling_of(
        list(names), games({n: float(i) for i, n in enumerate(names)}, 20, seed=1), np.random.default_rng(0)
    )
    assert low["spearman"] < 0.8 < high["spearman"]
