"""Where players belong, and who takes which place."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from nutmeg.base.arrays import Floats
from nutmeg.base.records import record_values
from nutmeg.match.players.decide import abilities_of
from nutmeg.match.players.deciding_player import league_abilities
from nutmeg.match.players.tactics.formation import POSTS, Room, assign, formation, line_up_place
from nutmeg.match.players.tactics.records import GroundRecord, ground_of
from nutmeg.match.players.tactics.strategies import strategy
from nutmeg.match.rules.book import load_rules
from nutmeg.match.worlds.behavioural.settings import load_behaviour
from nutmeg.model.ball import load_ball

PITCH = load_rules("sim3d").pitch
LEAGUE = record_values(ground_of(load_rules("sim3d"), league_abilities(load_ball("sim3d"))))[0]
SMALL = record_values(ground_of(load_rules("spl2011"), abilities_of(load_behaviour("nao"))))[0]
BALLS = [(x, y) for x in (-14.9, -13.0, -8.0, 0.0, 6.0, 14.0) for y in (-9.9, -3.0, 0.0, 2.0, 9.9)]


def posts_of(count: int, ball: tuple[float, float], off_ball: float = 1.2) -> Floats:
    places = np.empty((count, 2))
    room = Room(*ball, off_ball, own_half=False, off_circle=False, off_their_area=False)
    formation(LEAGUE, room, POSTS, *ball, places)
    return places


@pytest.mark.parametrize("posts", range(1, 10))
def test_a_formation_keeps_apart_from_the_ball_and_out_of_the_own_area(posts: int) -> None:
    for ball in BALLS:
        places = posts_of(posts, ball)
        for x, y in places:
            assert abs(x) <= 14.5
            assert abs(y) <= 9.5
            assert not (x < -15 + PITCH.penalty_depth and abs(y) < PITCH.penalty_width / 2)
            assert math.dist((x, y), ball) > 0.7
        for a, b in itertools.combinations(places, 2):
            assert math.dist(a, b) > 0.7


def test_four_a_side_wait_behind_and_ahead_of_the_ball() -> None:
    support, forward = posts_of(2, (4.0, 3.0))
    assert 0.0 < support[0] < 4.0
    assert forward[0] > 5.5
    assert abs(forward[1]) < 3.0


def test_the_opponents_restarts_are_given_room() -> None:
    for ball in BALLS:
        for place in posts_of(9, ball, off_ball=2.4):
            assert math.dist(place, ball) >= PITCH.circle_radius


@pytest.mark.parametrize("ground", [LEAGUE, SMALL])
@pytest.mark.parametrize("players", range(1, 12))
@pytest.mark.parametrize("kicks_off", [True, False])
def test_a_line_up_is_in_the_own_half_and_nobody_stands_on_another(
    ground: GroundRecord, players: int, kicks_off: bool
) -> None:
    most = 11 if ground.length > 10 else 6
    numbers = range(1, min(players, most) + 1)
    aim = strategy("builtin").kick_off_aim
    places = [line_up_place(ground, n, len(numbers), kicks_off, aim)[:2] for n in numbers]
    beam_noise = 0.05
    assert all(x <= -beam_noise for x, _ in places)
    assert all(math.dist(a, b) > 1.0 * ground.scale for a, b in itertools.combinations(places, 2))
    nearest = min(math.hypot(x, y) for x, y in places)
    if kicks_off:
        assert nearest < 0.5
        assert all(x < -0.2 for x, _ in places), "limbs that reach over the halfway line are forbidden"
    else:
        assert nearest > ground.circle + 2 * beam_noise


def test_an_assignment_costs_as_little_as_that_of_scipy() -> None:
    rng = np.random.default_rng(1)
    for size in (1, 2, 3, 5, 9):
        for _ in range(20):
            cost = rng.normal(size=(size, size))
            found = assign(cost)
            assert sorted(found.tolist()) == list(range(size))
            assert cost[np.arange(size), found].sum() == pytest.approx(cost[linear_sum_assignment(cost)].sum())


def test_players_on_straight_ways_to_their_places_never_meet() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        players, places = rng.uniform(-8, 8, (2, 9, 2))
        order = assign(((players[:, None] - places[None]) ** 2).sum(axis=2))
        for share in np.linspace(0, 1, 21):
            now = players + share * (places[order] - players)
            gaps = np.linalg.norm(now[:, None] - now[None], axis=2)[np.triu_indices(9, 1)]
            at_ends = min(_least_gap(players), _least_gap(places))
            assert gaps.min() > at_ends / np.sqrt(2) - 1e-9


def _least_gap(places: Floats) -> float:
    return float(np.linalg.norm(places[:, None] - places[None], axis=2)[np.triu_indices(len(places), 1)].min())
