"""Pictures: known points are where their colours are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.drawing import BALL_LABEL
from nutmeg.match.worlds.behavioural.camera_geometry import CAMERA_NAMES, CameraName, in_picture, to_ground, to_pixels
from nutmeg.match.worlds.behavioural.cameras import Cameras
from nutmeg.match.worlds.behavioural.eyes import load_eyes
from nutmeg.match.worlds.behavioural.landmarks import goal_posts_of
from nutmeg.match.worlds.behavioural.state import MatchesState, Posture
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field
from nutmeg.model.sensors import CameraSettings

EYES, FIELD, BALL = load_eyes("nao"), load_field("spl2011"), load_ball("spl-orange")


@pytest.fixture(scope="module")
def cameras() -> Iterator[Cameras]:
    with Cameras(EYES, FIELD, BALL) as cameras:
        yield cameras


def scene(
    *, head: tuple[float, float] = (0.0, 0.0), pose: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> MatchesState:
    state = MatchesState(1)
    state.present[0, 0], state.pose[0, 0], state.head[0, 0] = True, pose, head
    state.ball[0] = 10.0, 10.0
    return state


def orange(picture: np.ndarray) -> np.ndarray:
    """(rows, columns) where a picture is orange."""
    red, green, blue = np.moveaxis(picture.astype(int), -1, 0)
    return (red > 150) & (green > 30) & (green < 130) & (blue < 60)


def blue(picture: np.ndarray) -> np.ndarray:
    red, green, blue_ = np.moveaxis(picture.astype(int), -1, 0)
    return (blue_ > 100) & (blue_ > 2 * red) & (blue_ > 1.5 * green)


@pytest.mark.parametrize(("which", "row"), [("top", 200.0), ("bottom", 60.0)])
@pytest.mark.parametrize("head", [(0.0, -0.1), (0.9, -0.3), (-1.5, 0.1)])
def test_the_ball_is_drawn_where_it_is_projected(
    cameras: Cameras, which: CameraName, row: float, head: tuple[float, float]
) -> None:
    pose, spot = (-0.7, 0.4, 2.0), (90.0, row)
    state = scene(head=head, pose=pose)
    state.ball[0] = to_ground(EYES.cameras, which, spot, pose=pose, head=head, height=BALL.radius)
    picture = cameras.draw(state, 0, [0], which=(which,))[0, 0]
    assert picture.shape == (240, 320, 3)
    rows, columns = np.nonzero(orange(picture))
    assert len(rows) > 3
    # the middle of what a sphere covers is a little off the picture of its middle
    assert columns.mean() + 0.5 == pytest.approx(spot[0], abs=1.0)
    assert rows.mean() + 0.5 == pytest.approx(spot[1], abs=1.5)


def test_lens_and_sensor_bend_and_disturb_pictures_the_same_way_each_time(cameras: Cameras) -> None:
    spot = (20.0, 200.0)
    state = scene()
    state.ball[0] = to_ground(EYES.cameras, "top", spot, pose=(0, 0, 0), head=(0, 0), height=BALL.radius)
    plain = cameras.draw(state, 0, [0], which=("top",))[0, 0]
    bent = replace(EYES, lens=CameraSettings(k1=-0.3, read_noise=40.0))
    with Cameras(bent, FIELD, BALL) as others:
        pictures = [others.draw(state, 0, [0], which=("top",))[0, 0] for _ in range(2)]
        state.cycle[0] = 1
        later = others.draw(state, 0, [0], which=("top",))[0, 0]
        mask = others.label(state, 0, [0], which=("top",))[0, 0]
    assert pictures[0].shape == plain.shape
    assert (pictures[0] == pictures[1]).all()
    assert (pictures[0] != later).mean() > 0.2, "noise differs from cycle to cycle"
    columns = [np.nonzero(orange(one))[1].mean() for one in (plain, pictures[0])]
    assert columns[1] > columns[0] + 2.0, "a barrel lens draws the edge towards the middle"
    assert np.nonzero(mask == BALL_LABEL)[1].mean() == pytest.approx(columns[1], abs=0.5), "and its mask, too"


@pytest.mark.parametrize("edge", [(2.0, 120.0), (318.0, 120.0), (160.0, 238.0), (2.0, 238.0), (318.0, 238.0)])
def test_the_opening_ends_where_58_degrees_say(cameras: Cameras, edge: tuple[float, float]) -> None:
    head, middle = (0.3, -0.2), np.array([160.0, 120.0])
    outwards = 30.0 * np.sign(edge - middle) * (np.abs(edge - middle) > 100.0)
    for spot, seen in ((np.array(edge), True), (edge + outwards, False)):
        state = scene(head=head)
        state.ball[0] = to_ground(EYES.cameras, "top", spot, head=head, height=BALL.radius)
        assert orange(cameras.draw(state, 0, [0], which=("top",))[0, 0]).any() == seen


def test_posts_are_drawn_where_they_stand(cameras: Cameras) -> None:
    pose, head = (1.0, 0.0, 0.0), (0.0, 0.0)
    picture = cameras.draw(scene(pose=pose, head=head), 0, [0], which=("top",))[0, 0]
    for x, y in goal_posts_of(FIELD)[2:]:
        points = [[x, y, z] for z in (0.1, 0.4, 0.7)]
        pixels = to_pixels(EYES.cameras, "top", points, pose=pose, head=head)
        assert in_picture(EYES.cameras, pixels).all()
        for column, row in pixels.astype(int):
            assert blue(picture)[row, column]


def test_teams_wear_blue_and_pink_waistbands(cameras: Cameras) -> None:
    state = scene(head=(0.0, -0.1))
    for slot, y in ((4, 0.3), (15, -0.3)):
        state.present[0, slot], state.pose[0, slot] = True, (1.5, y, 0.0)
    picture = cameras.draw(state, 0, [0], which=("top",))[0, 0].astype(int)
    for y, colour in ((0.3, "blue"), (-0.3, "pink")):
        column, row = to_pixels(EYES.cameras, "top", [1.5, y, 0.29], head=(0.0, -0.1)).astype(int)
        red, green, blue_ = picture[row, column]
        assert (blue_ > 150 and red < 100) if colour == "blue" else (red > 150 and green < 120 and blue_ > 80)


def test_who_is_not_there_is_not_drawn_and_who_lies_sees_black(cameras: Cameras) -> None:
    state = scene(head=(0.0, -0.1))
    empty = cameras.draw(state, 0, [0])
    state.pose[0, 4] = 1.5, 0.0, 0.0
    np.testing.assert_array_equal(cameras.draw(state, 0, [0]), empty)
    state.present[0, 4] = True
    assert (cameras.draw(state, 0, [0]) != empty).any()
    state.posture[0, 0] = Posture.LYING
    assert not cameras.draw(state, 0, [0]).any()


def test_pictures_of_many_are_those_of_each(cameras: Cameras) -> None:
    state = scene(head=(0.2, -0.3))
    state.present[0, 12], state.pose[0, 12] = True, (1.0, 0.5, math.pi)
    both = cameras.draw(state, 0, [0, 12])
    assert both.shape == (2, 2, 240, 320, 3)
    for row, slot in enumerate((0, 12)):
        for column, which in enumerate(CAMERA_NAMES):
            np.testing.assert_array_equal(cameras.draw(state, 0, [slot], which=(which,))[0, 0], both[row, column])


def test_a_smaller_picture_shows_the_same(cameras: Cameras) -> None:
    state = scene(head=(0.0, -0.3))
    state.ball[0] = 1.0, 0.1
    large, small = cameras.draw(state, 0, [0]), cameras.draw(state, 0, [0], shrink=2)
    assert small.shape == (1, 2, 120, 160, 3)
    means = large.reshape(1, 2, 120, 2, 160, 2, 3).mean(axis=(3, 5))
    assert np.abs(means - small).mean() < 4.0
    with pytest.raises(UsageError, match="divisible"):
        cameras.draw(state, 0, [0], shrink=7)


def test_closed_cameras_say_so() -> None:
    closed = Cameras(EYES, FIELD, BALL)
    closed.close()
    with pytest.raises(UsageError, match="closed"):
        closed.draw(scene(head=(0.0, 0.0)), 0, [0])
