"""Goal differences and their errors, against the formulas."""

from __future__ import annotations

import math

import pytest

from nutmeg.match.series.series import GameResult
from nutmeg.match.series.standings import standings


def game(home: str, away: str, number: int, goals: tuple[int, int], failure: str = "") -> GameResult:
    return GameResult(home=home, away=away, number=number, goals=goals, falls=(1, 2), fouls=(3, 4), failure=failure)


def test_a_pair_is_seen_from_both_sides() -> None:
    table = standings(("A", "B"), [game("A", "B", 0, (3, 1)), game("A", "B", 1, (0, 0)), game("A", "B", 2, (1, 2))])
    ours, theirs = table.pairs["A", "B"], table.pairs["B", "A"]
    assert ours.difference == pytest.approx(1 / 3)
    assert ours.error == pytest.approx(math.sqrt(((5 / 3) ** 2 + (1 / 3) ** 2 + (4 / 3) ** 2) / 2 / 3))
    assert (ours.wins, ours.draws, ours.losses, ours.goals, ours.against) == (1, 1, 1, 4, 3)
    assert (ours.falls, ours.fouls, theirs.falls, theirs.fouls) == (3, 9, 6, 12)
    assert theirs.difference == pytest.approx(-1 / 3)
    assert theirs.error == pytest.approx(ours.error)
    assert theirs.shown() == "−0.33 (0.88)"


def test_teams_are_ranked_by_their_difference_against_all() -> None:
    results = [game("A", "B", 0, (0, 2)), game("A", "C", 0, (1, 0)), game("B", "C", 0, (0, 0))]
    table = standings(("A", "B", "C", "D"), results)
    assert list(table.teams) == ["B", "A", "C", "D"]
    assert ("A", "D") not in table.pairs
    assert table.teams["D"].difference is None
    assert table.teams["D"].shown() == "–"


def test_one_game_has_no_error_and_a_broken_one_does_not_count() -> None:
    table = standings(("A", "B"), [game("A", "B", 0, (2, 0)), game("A", "B", 1, (0, 0), failure="it fell apart")])
    found = table.pairs["A", "B"]
    assert (found.games, found.difference, found.error, found.broken) == (1, 2.0, None, 1)
    assert found.shown() == "+2.00"
