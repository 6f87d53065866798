"""The particle filter finds, keeps and finds again where it is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.base.records import Records
from nutmeg.match.players.perception.localisation import (
    MAX_MAP_DISTANCE,
    LocalisationSettings,
    ParticleFilter,
    PostSighting,
    line_distance,
    line_map,
    post_records,
    post_sighting,
)
from nutmeg.match.worlds.behavioural.landmarks import goal_posts_of
from nutmeg.model.field import load_field

FIELD, SETTINGS = load_field("spl2011"), LocalisationSettings()
POSTS = goal_posts_of(FIELD)
NOTHING = post_records([]), np.zeros((0, 3))


def sighting(pose: tuple[float, float, float]) -> tuple[Records[PostSighting], np.ndarray]:
    """The goal ahead and points on lines, as a camera without errors has them; which post is which is not told."""
    x, y, heading = pose
    turn = np.array([[math.cos(heading), -math.sin(heading)], [math.sin(heading), math.cos(heading)]])
    posts = (POSTS - (x, y)) @ turn
    goal = slice(0, 2) if posts[:2, 0].mean() > posts[2:, 0].mean() else slice(2, 4)
    ends = [tuple(post) for post in POSTS[goal].tolist()]
    rows = [post_sighting(tuple(place), 0.02, ends, SETTINGS) for place in posts[goal].tolist()]
    steps = np.linspace(0.0, 1.0, 12)[:, None]
    lines = np.concatenate([np.array(a) + steps * (np.array(b) - a) for a, b in FIELD.lines()[:12]])
    lines = (lines - (x, y)) @ turn
    lines = lines[(lines[:, 0] > 0.3) & (np.hypot(*lines.T) < 3.0)]
    return post_records(rows), np.column_stack([lines, np.full(len(lines), 0.01)])


def test_who_knows_nothing_finds_itself_in_a_few_pictures() -> None:
    truth = (-1.2, 0.7, 0.4)
    filter_ = ParticleFilter(FIELD, rng=np.random.default_rng(3))
    assert filter_.pose.spread > 1.0
    for _ in range(15):
        filter_.move((0.0, 0.0, 0.001))
        filter_.observe(*sighting(truth))
    pose = filter_.pose
    assert math.dist((pose.x, pose.y), truth[:2]) < 0.1
    assert abs(pose.heading - truth[2]) < 0.05
    assert pose.spread < 0.3


def test_odometry_alone_moves_the_guesses_along_the_arc_and_they_spread() -> None:
    filter_ = ParticleFilter(FIELD, rng=np.random.default_rng(1))
    filter_.place(0.0, 0.0, 0.0, spread=0.0)
    steps = 50
    for _ in range(steps):
        filter_.move((0.02, 0.0, math.pi / 2 / steps))
    radius = 0.02 * steps / (math.pi / 2)
    pose = filter_.pose
    assert (pose.x, pose.y) == pytest.approx((radius, radius), abs=0.03)
    assert pose.heading == pytest.approx(math.pi / 2, abs=0.05)
    assert 0.01 < pose.spread < 0.3


def test_who_is_carried_away_finds_itself_again() -> None:
    filter_ = ParticleFilter(FIELD, rng=np.random.default_rng(4))
    filter_.place(1.0, 0.5, 0.2)
    for truth in ((1.0, 0.5, 0.2), (-1.5, -0.8, 2.9)):
        for _ in range(60):
            filter_.move((0.0, 0.0, 0.001))
            filter_.observe(*sighting(truth))
        assert math.dist(filter_.pose.place, truth[:2]) < 0.15


def test_the_same_seed_gives_the_same_guesses_and_nothing_seen_changes_nothing() -> None:
    filters = [ParticleFilter(FIELD, rng=np.random.default_rng(5)) for _ in range(2)]
    for filter_ in filters:
        filter_.observe(*sighting((0.0, 0.0, 0.0)))
    assert np.array_equal(filters[0].particles, filters[1].particles)
    before = filters[0].particles.copy()
    filters[0].observe(*NOTHING)
    filters[0].move((0.0, 0.0, 0.0))
    assert filters[0].particles == pytest.approx(before)


def test_the_map_has_zero_on_lines_and_the_distance_beside_them() -> None:
    lines = line_map(FIELD)
    found = [line_distance(x, y, lines) for x, y in ((0.0, 1.2), (3.0, 0.1), (0.6, 0.0), (0.3, 1.6))]
    assert found == pytest.approx([0.0, 0.0, 0.0, 0.3], abs=0.03)
    assert line_distance(9.0, 9.0, lines) > MAX_MAP_DISTANCE
    with pytest.raises(UsageError, match="no lines"):
        line_map(load_field("floor"))
