"""Where players belong."""

from __future__ import annotations

import itertools
import math

import pytest

from nutmeg.match.players.builtin.formation import RESTART_DISTANCE, Room, formation, line_up_place
from nutmeg.match.rules.book import load_rules

PITCH = load_rules("sim3d").pitch
BALLS = [(x, y) for x in (-14.9, -13.0, -8.0, 0.0, 6.0, 14.0) for y in (-9.9, -3.0, 0.0, 2.0, 9.9)]


@pytest.mark.parametrize("posts", range(1, 10))
def test_a_formation_keeps_apart_from_the_ball_and_out_of_the_own_area(posts: int) -> None:
    for ball in BALLS:
        places = formation(posts=posts, ball=ball, room=Room(pitch=PITCH, ball=ball))
        assert len(places) == posts
        for x, y in places:
            assert abs(x) <= 14.5
            assert abs(y) <= 9.5
            assert not (x < -15 + PITCH.penalty_depth and abs(y) < PITCH.penalty_width / 2)
            assert math.dist((x, y), ball) > 0.7
        for a, b in itertools.combinations(places, 2):
            assert math.dist(a, b) > 0.7


def test_four_a_side_wait_behind_and_ahead_of_the_ball() -> None:
    support, forward = formation(posts=2, ball=(4.0, 3.0), room=Room(pitch=PITCH, ball=(4.0, 3.0)))
    assert 0.0 < support[0] < 4.0
    assert forward[0] > 5.5
    assert abs(forward[1]) < 3.0


def test_the_opponents_restarts_are_given_room() -> None:
    for ball in BALLS:
        for place in formation(posts=9, ball=ball, room=Room(pitch=PITCH, ball=ball, off_ball=RESTART_DISTANCE)):
            assert math.dist(place, ball) >= PITCH.circle_radius


@pytest.mark.parametrize("players", range(1, 12))
@pytest.mark.parametrize("kicks_off", [True, False])
def test_a_line_up_is_in_the_own_half_and_nobody_stands_on_another(players: int, kicks_off: bool) -> None:
    places = [
        line_up_place(number=n, players=players, kicks_off=kicks_off, pitch=PITCH)[:2] for n in range(1, players + 1)
    ]
    beam_noise = 0.05
    assert all(x <= -beam_noise for x, _ in places)
    assert all(math.dist(a, b) > 1.0 for a, b in itertools.combinations(places, 2))
    nearest = min(math.hypot(x, y) for x, y in places)
    if kicks_off:
        assert nearest < 0.4
    else:
        assert nearest > PITCH.circle_radius + 2 * beam_noise
