"""Symbolic vision: field of view, occlusion, errors of a picture, misses and ghosts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nutmeg.match.worlds.behavioural.camera_geometry import CAMERA_NAMES, in_picture, to_pixels
from nutmeg.match.worlds.behavioural.eyes import EyesSettings, load_eyes
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind, goal_posts_of, landmarks_of
from nutmeg.match.worlds.behavioural.state import MatchesState, Posture
from nutmeg.match.worlds.behavioural.vision import Sighting, Vision
from nutmeg.model.field import load_field

FIELD = load_field("spl2011")
BALL_RADIUS = 0.0325
DOWN = -0.35


def eyes_with(**changes: Any) -> EyesSettings:
    """Eyes that miss nothing and see no ghosts, with other numbers of vision."""
    eyes = load_eyes("nao")
    sure = {name: 0.0 for name in vars(eyes.vision) if name.startswith(("miss_", "ghost_"))}
    return replace(eyes, vision=replace(eyes.vision, **{"pixel_noise": 1e-9, "sway": 0.0, **sure, **changes}))


def scene(count: int = 1, *, head: tuple[float, float] = (0.0, DOWN), pose: Any = (0.0, 0.0, 0.0)) -> MatchesState:
    """Player 0 somewhere, everything else far away."""
    state = MatchesState(count)
    state.seed[:] = np.arange(count) + 1
    state.present[:, 0] = True
    state.pose[:, 0], state.head[:, 0] = pose, head
    state.ball[:] = -50.0
    return state


def look(state: MatchesState, eyes: EyesSettings | None = None, slot: int = 0) -> tuple[Sighting, ...]:
    vision = Vision(eyes or eyes_with(), FIELD, ball_radius=BALL_RADIUS, count=len(state.seed))
    return vision.see(state).of(0, slot)


def balls(state: MatchesState, eyes: EyesSettings | None = None) -> np.ndarray:
    """(N, 2) distance and bearing of the ball in all matches where player 0 sees it."""
    vision = Vision(eyes or eyes_with(), FIELD, ball_radius=BALL_RADIUS, count=len(state.seed))
    s = vision.see(state)
    rows = (s.things["kind"][:, 0] == ObjectKind.BALL) & (np.arange(s.things.shape[2]) < s.count[:, :1])
    return np.column_stack([s.things[name][:, 0][rows] for name in ("distance", "bearing")])


def test_a_ball_is_seen_exactly_where_it_is_in_a_picture() -> None:
    rng, eyes, count = np.random.default_rng(1), eyes_with(), 3000
    state = scene(count)
    state.pose[:, 0] = rng.uniform((-1, -1, -3), (1, 1, 3), (count, 3))
    state.head[:, 0] = rng.uniform((-2.0, -0.5), (2.0, 0.6), (count, 2))
    way = rng.uniform(-math.pi, math.pi, count)
    far = rng.uniform(0.1, 4.9, count)
    state.ball[:] = state.pose[:, 0, :2] + np.stack([far * np.cos(way), far * np.sin(way)], -1)
    vision = Vision(eyes, load_field("none"), ball_radius=BALL_RADIUS, count=count)
    seen = vision.see(state).count[:, 0] > 0
    expected = np.zeros(count, bool)
    for m in range(count):
        point = [*state.ball[m], BALL_RADIUS]
        expected[m] = any(
            in_picture(eyes.cameras, to_pixels(eyes.cameras, w, point, pose=state.pose[m, 0], head=state.head[m, 0]))
            for w in CAMERA_NAMES
        )
    assert 200 < expected.sum() < 2000
    np.testing.assert_array_equal(seen, expected)
    things = vision.sightings.things[seen, 0, 0]
    np.testing.assert_allclose(things["distance"], far[seen], atol=1e-5)
    turn = way[seen] - state.pose[seen, 0, 2] - things["bearing"]
    np.testing.assert_allclose(np.cos(turn), 1.0, atol=1e-9)


def test_landmarks_are_told_by_kind_place_and_direction() -> None:
    pose = (1.2, 0.4, 0.3)
    marks = landmarks_of(FIELD)
    things = [t for t in look(scene(pose=pose)) if t.kind >= ObjectKind.L_CROSSING]
    assert len(things) == 2
    for thing in things:
        way = pose[2] + thing.bearing
        place = np.array([pose[0] + thing.distance * math.cos(way), pose[1] + thing.distance * math.sin(way)])
        row = np.argmin(np.hypot(*(marks.place - place).T) + 10.0 * (marks.kind != thing.kind))
        np.testing.assert_allclose(marks.place[row], place, atol=1e-5)
        assert (thing.turn is None) == bool(np.isnan(marks.turn[row]))


def test_directions_of_crossings_are_those_of_the_lines() -> None:
    eyes = eyes_with(turn_noise=0.0)
    corner = next(
        t for t in look(scene(pose=(2.0, 1.0, 0.78)), eyes) if t.kind is ObjectKind.L_CROSSING and t.distance > 1.3
    )
    assert corner.turn == pytest.approx(math.remainder(math.atan2(-1, -1) - 0.78, 2 * math.pi))


def test_a_pitch_has_the_landmarks_that_are_drawn_on_it() -> None:
    marks = landmarks_of(FIELD)
    counts = {kind: int((marks.kind == kind).sum()) for kind in ObjectKind if (marks.kind == kind).any()}
    assert counts == {
        ObjectKind.L_CROSSING: 8,
        ObjectKind.T_CROSSING: 6,
        ObjectKind.X_CROSSING: 2,
        ObjectKind.PENALTY_MARK: 2,
        ObjectKind.CENTRE_CIRCLE: 1,
    }
    half = len(marks.kind) // 2
    np.testing.assert_allclose(marks.place[half : 2 * half], -marks.place[:half])
    np.testing.assert_array_equal(marks.kind[half : 2 * half], marks.kind[:half])
    assert len(landmarks_of(load_field("floor")).kind) == 0


@pytest.mark.parametrize(("aside", "hidden"), [(0.0, True), (0.12, True), (0.15, False)])
def test_a_robot_hides_what_is_behind_its_middle(aside: float, hidden: bool) -> None:
    state = scene()
    state.ball[0] = 2.0, 0.0
    state.present[0, 13] = True
    state.pose[0, 13] = 1.0, aside, 0.0
    assert (len(balls(state)) == 0) == hidden


def test_a_robot_behind_the_ball_or_lying_before_it_hides_nothing() -> None:
    state = scene(2)
    state.ball[:] = 2.0, 0.0
    state.present[:, 13] = True
    state.pose[0, 13, 0], state.pose[1, 13, 0] = 2.3, 0.8
    state.posture[1, 13] = Posture.LYING
    assert len(balls(state)) == 2
    state.pose[1, 13, 0] = 1.9
    assert len(balls(state)) == 1


def test_a_post_hides_a_ball_behind_it_and_not_one_beside_it() -> None:
    x, y = goal_posts_of(FIELD)[2]
    state = scene(2, pose=(x - 1.0, y, 0.0))
    state.ball[:] = (x + 0.4, y), (x + 0.4, y + 0.2)
    assert len(balls(state)) == 1


def test_robots_are_told_by_team_and_not_by_number_unless_the_settings_say_so() -> None:
    state = scene(head=(0.0, -0.1))
    state.present[0, [4, 16]] = True
    state.pose[0, 4], state.pose[0, 16] = (2.0, 0.5, 0.0), (2.5, -0.5, 0.0)
    state.posture[0, 16] = Posture.LYING
    robots = [t for t in look(state) if t.kind.is_robot]
    assert [(t.kind, t.number, t.lying) for t in robots] == [
        (ObjectKind.MATE, None, False),
        (ObjectKind.OPPONENT, None, True),
    ]
    numbered = [t for t in look(state, eyes_with(numbers=True)) if t.kind.is_robot]
    assert [t.number for t in numbered] == [5, 6]
    far = [t for t in look(state, eyes_with(team_range=2.3)) if t.kind.is_robot]
    assert [t.kind for t in far] == [ObjectKind.MATE, ObjectKind.ROBOT]


def test_goals_are_told_as_the_own_team_sees_them() -> None:
    for slot, pose, kind in ((0, (0.5, 0.0, 0.0), ObjectKind.THEIR_POST), (11, (0.5, 0.0, 0.0), ObjectKind.OWN_POST)):
        state = scene()
        state.present[:] = False
        state.present[0, slot], state.pose[0, slot], state.head[0, slot] = True, pose, (0.0, 0.1)
        posts = [t for t in look(state, slot=slot) if ObjectKind.OWN_POST <= t.kind <= ObjectKind.POST]
        assert [t.kind for t in posts] == [kind] * 2
        left = max(posts, key=lambda t: t.bearing)
        assert left.number == (1 if slot == 0 else 2)
    grey = Vision(eyes_with(), load_field("spl2025"), ball_radius=BALL_RADIUS, count=1)
    kinds = {t.kind for t in grey.see(scene(pose=(1.0, 0.0, 0.0), head=(0.0, 0.0))).of(0, 0)}
    assert ObjectKind.POST in kinds
    assert ObjectKind.THEIR_POST not in kinds


def test_both_teams_see_the_same_from_the_same_place_of_theirs() -> None:
    rng, count = np.random.default_rng(3), 200
    left, right = scene(count), scene(count)
    left.pose[:, 0] = rng.uniform((-3, -2, -3), (3, 2, 3), (count, 3))
    left.ball[:] = rng.uniform(-2, 2, (count, 2))
    right.present[:, 0], right.present[:, 11] = False, True
    right.pose[:, 11] = left.pose[:, 0] * (-1, -1, 1) + (0, 0, math.pi)
    right.head[:, 11], right.ball[:] = left.head[:, 0], -left.ball
    eyes = eyes_with(names=True, turn_noise=0.0)
    a = Vision(eyes, FIELD, ball_radius=BALL_RADIUS, count=count).see(left)
    b = Vision(eyes, FIELD, ball_radius=BALL_RADIUS, count=count).see(right)
    np.testing.assert_array_equal(a.count[:, 0], b.count[:, 11])
    assert a.count[:, 0].sum() > 300
    for m in range(count):
        n = a.count[m, 0]
        one, two = a.things[m, 0, :n], b.things[m, 11, :n]
        assert {(t.kind, t.number) for t in one} == {(t.kind, t.number) for t in two}
        np.testing.assert_allclose(a.things["distance"][m, 0, :n], b.things["distance"][m, 11, :n], atol=1e-4)


def test_errors_are_half_a_pixel_in_the_picture_and_grow_with_the_square_of_the_distance() -> None:
    eyes = eyes_with(pixel_noise=0.5)
    pixel, count = 0.5 / eyes.cameras.focal, 4000
    spreads = []
    for far in (2.0, 4.0):
        state = scene(count, head=(0.0, 0.0))
        state.ball[:] = far, 0.0
        polar = balls(state, eyes)
        away, height = far - 0.0539, 0.5372 - BALL_RADIUS
        assert polar[:, 0].std() == pytest.approx((away**2 + height**2) / height * pixel, rel=0.1)
        assert polar[:, 1].std() == pytest.approx(pixel, rel=0.1)
        assert polar[:, 0].mean() == pytest.approx(far, rel=0.01)
        spreads.append(polar[:, 0].std())
    assert spreads[1] / spreads[0] == pytest.approx(4.0, rel=0.15)


def test_a_walking_trunk_sways_and_a_standing_one_does_not() -> None:
    eyes, count = eyes_with(sway=0.01), 2000
    state = scene(count)
    state.ball[:] = 2.0, 0.0
    assert balls(state, eyes)[:, 0].std() < 1e-4
    state.speed[:, 0, 0] = 0.2
    polar = balls(state, eyes)
    height = 0.5372 - BALL_RADIUS
    assert polar[:, 0].std() == pytest.approx((2.0**2 + height**2) / height * 0.01, rel=0.15)


def test_things_are_missed_as_often_as_the_settings_say() -> None:
    count, miss = 4000, 0.2
    state = scene(count)
    state.ball[:] = 1.5, 0.0
    seen = len(balls(state, eyes_with(miss_ball=miss)))
    assert abs(seen - (1 - miss) * count) < 4 * math.sqrt(count * miss * (1 - miss))


def test_ghosts_come_as_often_as_the_settings_say_and_no_farther_than_things_are_seen() -> None:
    count, chance = 6000, 0.3
    state = scene(count, head=(0.0, -0.4))
    polar = balls(state, eyes_with(ghost_ball=chance))
    assert 0.8 * chance * count < len(polar) < 1.1 * chance * count
    assert polar[:, 0].max() <= 5.0
    state.ball[:] = 1.0, 0.0
    assert len(balls(state, eyes_with(ghost_ball=1.0))) == count


def test_nothing_is_recognised_beyond_its_range() -> None:
    state = scene(2, head=(0.0, 0.0))
    state.ball[:] = (4.9, 0.0), (5.1, 0.0)
    assert len(balls(state)) == 1


def test_who_lies_sees_nothing() -> None:
    state = scene()
    state.ball[0] = 1.5, 0.0
    state.posture[0, 0] = Posture.GETTING_UP
    assert look(state) == ()


def test_sights_do_not_depend_on_what_else_is_in_the_batch() -> None:
    eyes, rng = load_eyes("nao"), np.random.default_rng(0)
    many = scene(5)
    many.pose[:, 0], many.speed[:, 0] = rng.uniform(-1, 1, (5, 3)), 0.1
    many.ball[:], many.cycle[:] = (1.5, 0.0), 7
    batch = Vision(eyes, FIELD, ball_radius=BALL_RADIUS, count=5).see(many, np.array([4, 3])).of(3, 0)
    one = scene()
    for name in ("seed", "cycle", "pose", "speed", "head", "ball"):
        getattr(one, name)[0] = getattr(many, name)[3]
    assert batch == look(one, eyes)
    assert len(batch) > 0


def test_near_things_come_first() -> None:
    distances = [t.distance for t in look(scene(pose=(-1.0, 0.0, 0.0)))]
    assert distances == sorted(distances)
    assert len(distances) >= 3
