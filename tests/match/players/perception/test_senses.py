"""What is found in camera pictures, beside what is there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.players.perception import CameraSenses, Picture
from nutmeg.match.players.perception.colours import Colour, classify, colour_of, find_blobs
from nutmeg.match.players.perception.lines import find_line_points
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.worlds.behavioural.cameras import Cameras
from nutmeg.match.worlds.behavioural.eyes import load_eyes
from nutmeg.match.worlds.behavioural.landmarks import goal_posts_of, landmarks_of
from nutmeg.match.worlds.behavioural.state import MatchesState, Posture
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field

EYES, FIELD, BALL = load_eyes("nao"), load_field("spl2011"), load_ball("spl-orange")
HEAD = (0.0, -0.1)


@pytest.fixture(scope="module")
def cameras() -> Iterator[Cameras]:
    with Cameras(EYES, FIELD, BALL) as cameras:
        yield cameras


def scene(pose: tuple[float, float, float], head: tuple[float, float] = HEAD) -> MatchesState:
    state = MatchesState(1)
    state.present[0, 0], state.pose[0, 0], state.head[0, 0] = True, pose, head
    state.ball[0] = 10.0, 10.0
    return state


@lru_cache(maxsize=1)
def the_senses() -> CameraSenses:
    return CameraSenses(FIELD, EYES)


def look(cameras: Cameras, state: MatchesState, side: Side = Side.LEFT, *, noise: float = 0.0) -> CameraSenses:
    senses = the_senses()
    pictures = cameras.draw(state, 0, [0])[0]
    if noise:
        rough = pictures + noise * np.random.default_rng(2).standard_normal(pictures.shape)
        pictures = np.clip(rough, 0, 255).astype(np.uint8)
    yaw, pitch = state.head[0, 0].tolist()
    senses.look({"top": pictures[0], "bottom": pictures[1]}, (yaw, pitch), side)
    return senses


def in_body(pose: tuple[float, float, float], spot: tuple[float, float]) -> tuple[float, float]:
    x, y, heading = pose
    dx, dy, c, s = spot[0] - x, spot[1] - y, math.cos(heading), math.sin(heading)
    return c * dx + s * dy, c * dy - s * dx


def test_paints_have_their_names_in_light_and_shade() -> None:
    assert FIELD.goal is not None
    paints = {
        FIELD.goal.left_colour: Colour.YELLOW,
        FIELD.goal.right_colour: Colour.BLUE,
        BALL.colour: Colour.ORANGE,
        (0.10, 0.42, 0.17): Colour.GREEN,
        (0.95, 0.95, 0.95): Colour.WHITE,
        (0.62, 0.62, 0.62): Colour.OTHER,
        (1.0, 0.35, 0.65): Colour.PINK,
    }
    for paint, name in paints.items():
        for light in (0.8, 0.9, 1.0):
            assert colour_of([light * part for part in paint]) is name


def test_a_picture_of_another_shape_is_refused() -> None:
    with pytest.raises(UsageError, match=r"\(5, 5\)"):
        classify(np.zeros((5, 5), np.uint8))


def test_blobs_are_connected_patches_of_one_colour() -> None:
    classes = np.zeros((20, 30), np.uint8)
    classes[2:5, 3:7] = Colour.ORANGE
    classes[10:18, 10] = classes[10:18, 16] = classes[17, 10:17] = Colour.BLUE  # a U, joined late
    classes[5, 7] = Colour.ORANGE  # at a corner
    classes[2:5, 7] = Colour.PINK  # beside it
    found = find_blobs(classes, least=1)
    assert [(blob.colour, blob.count) for blob in found] == [(Colour.BLUE, 21), (Colour.ORANGE, 13), (Colour.PINK, 3)]
    assert found[0].box == (10, 10, 16, 17)
    assert found[0].middle == pytest.approx((13.5, (16 * 13.5 + 5 * 17) / 21 + 0.5))


@pytest.mark.parametrize("spot", [(0.3, 0.05), (0.8, -0.2), (1.6, 0.3), (2.8, -0.4), (3.9, 0.6)])
def test_the_ball_is_found_where_it_is_and_its_two_distances_agree(cameras: Cameras, spot: tuple[float, float]) -> None:
    state = scene((-1.0, 0.2, 0.0))
    state.ball[0] = -1.0 + spot[0], 0.2 + spot[1]
    found = look(cameras, state).seen.ball
    assert found is not None
    assert math.dist(found, spot) < 0.01 + 0.02 * math.hypot(*spot)


def test_an_orange_thing_of_the_wrong_size_is_no_ball(cameras: Cameras) -> None:
    image = cameras.draw(scene((-1.0, 0.2, 0.0)), 0, [0])[0]
    rows, columns = np.ogrid[:240, :320]
    image[0][(rows - 150) ** 2 + (columns - 160) ** 2 < 30**2] = 255, 97, 13  # as large as a pumpkin, far away
    senses = the_senses()
    senses.look({"top": image[0], "bottom": image[1]}, HEAD, Side.LEFT)
    assert senses.seen.ball is None


@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize("pose", [(0.5, 0.3, 0.1), (-0.5, -0.4, 3.0), (1.0, -1.0, 0.6)])
def test_posts_stand_where_they_are_found_and_have_their_names(
    cameras: Cameras, pose: tuple[float, float, float], side: Side
) -> None:
    names = ("G1L", "G2L", "G1R", "G2R") if side is Side.LEFT else ("G2R", "G1R", "G2L", "G1L")
    truth = dict(zip(names, (in_body(pose, tuple(post)) for post in goal_posts_of(FIELD).tolist()), strict=True))
    found = [mark for mark in look(cameras, scene(pose), side).seen.marks if "post" in mark.kind]
    assert found
    for mark in found:
        assert mark.name is not None
        assert math.dist(mark.place, truth[mark.name]) < 0.04 * math.hypot(*mark.place)
        assert mark.kind == ("own post" if mark.name.endswith("L") else "their post")


def test_robots_are_found_with_their_team_and_no_goal_is_one(cameras: Cameras) -> None:
    pose = (0.0, 0.0, 0.0)
    state = scene(pose)
    places = {4: (1.5, 0.45), 15: (2.0, -0.5), 16: (1.2, -0.1)}
    for slot, place in places.items():
        state.present[0, slot], state.pose[0, slot] = True, (*place, 0.9 * slot)
    for side, mates in ((Side.LEFT, {4}), (Side.RIGHT, {15, 16})):
        found = look(cameras, state, side, noise=8.0).seen.robots
        assert len(found) == 3
        for robot in found:
            slot = min(places, key=lambda slot: math.dist(places[slot], robot.place))
            assert math.dist(places[slot], robot.place) < 0.15
            assert robot.mate == (slot in mates)
            assert not robot.lying


def test_who_lies_is_seen_to_lie(cameras: Cameras) -> None:
    state = scene((0.0, 0.0, 0.0))
    state.present[0, 4], state.pose[0, 4], state.posture[0, 4] = True, (1.3, 0.2, -math.pi / 2), Posture.LYING
    (robot,) = look(cameras, state).seen.robots
    assert robot.lying
    assert math.dist(robot.place, (1.3, 0.2)) < 0.4


def line_distances(spots: np.ndarray) -> np.ndarray:
    """(K,) how far spots (K, 2) are from the nearest line, m."""
    start, end = np.array(FIELD.lines()).transpose(1, 0, 2)
    way, off = end - start, spots[:, None] - start
    share = np.clip(np.sum(off * way, axis=2) / np.sum(way * way, axis=1), 0.0, 1.0)
    return np.linalg.norm(off - share[..., None] * way, axis=2).min(axis=1)


@pytest.mark.parametrize("pose", [(0.0, 0.0, 0.5), (-2.0, 1.0, -2.0), (1.0, 1.0, 0.2), (2.0, -1.2, -0.9)])
def test_points_on_lines_are_on_lines_also_in_a_noisy_picture(
    cameras: Cameras, pose: tuple[float, float, float]
) -> None:
    x, y, heading = pose
    turn = np.array([[math.cos(heading), math.sin(heading)], [-math.sin(heading), math.cos(heading)]])
    for noise in (0.0, 8.0):
        points = look(cameras, scene(pose), noise=noise).lines
        assert len(points) > 10
        away = line_distances(points[:, :2] @ turn + (x, y))
        assert np.median(away) < 0.03
        assert (away < 0.03 + 2 * points[:, 2]).mean() > 0.95


def test_a_white_thing_wider_than_a_line_is_no_line() -> None:
    image = np.full((240, 320, 3), (24, 101, 41), np.uint8)
    image[120:230] = 240
    picture = Picture.of(image, EYES.cameras, "bottom", head=(0.0, 0.0))
    assert not len(find_line_points(picture, FIELD.line_width))
    image[120:] = 24, 101, 41
    image[150:158] = 240
    narrow = find_line_points(Picture.of(image, EYES.cameras, "bottom", head=(0.0, 0.0)), FIELD.line_width)
    assert len(narrow) > 40


def test_crossings_have_their_kind_place_and_direction(cameras: Cameras) -> None:
    marks, kinds, seen = landmarks_of(FIELD), {"L": 7, "T": 8, "X": 9}, set()
    for pose in (
        (1.8, 1.2, 0.7),
        (0.6, 1.2, 2.2),
        (1.2, 0.6, 0.4),
        (0.9, 1.0, 3.5),
        (0.3, 1.7, -1.7),
        (-2.0, -1.3, -2.4),
    ):
        for mark in look(cameras, scene(pose, (0.0, -0.3))).seen.marks:
            if mark.kind not in kinds:
                continue
            these = marks.kind == kinds[mark.kind]
            places = [in_body(pose, tuple(place)) for place in marks.place[these].tolist()]
            nearest = min(range(len(places)), key=lambda k: math.dist(places[k], mark.place))
            assert math.dist(places[nearest], mark.place) < 0.1
            if mark.turn is not None:
                truth = marks.turn[these][nearest] - pose[2]
                assert abs(math.remainder(truth - mark.turn, 2 * math.pi)) < 0.1
            seen.add(mark.kind)
    assert seen == set(kinds)


def test_a_field_without_two_colours_of_goals_is_refused() -> None:
    with pytest.raises(UsageError, match="spl2025"):
        CameraSenses(load_field("spl2025"), EYES)
