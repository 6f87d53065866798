import math
from typing import Any

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.view.stage.cameras import (
    CameraOperator,
    Viewpoint,
    broadcast_view,
    eyes_view,
    fitted_fov,
    known_cameras,
    pitch_bounds,
    stand_view,
)


def project(view: Viewpoint, point: np.ndarray, aspect: float) -> np.ndarray:
    """Where a point is in the picture: -1 to 1 to the right and up."""
    forward = (view.look_at - view.position) / np.linalg.norm(view.look_at - view.position)
    right = np.cross(forward, view.up)
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    ray = point - view.position
    scale = math.tan(view.fov / 2) * (ray @ forward)
    return np.array([ray @ right / (scale * aspect), ray @ up / scale])


@pytest.mark.parametrize(("length", "width"), [(6.0, 4.0), (9.0, 6.0), (30.0, 20.0), (4.0, 6.0)])
@pytest.mark.parametrize("aspect", [16 / 9, 4 / 3])
def test_the_broadcast_camera_sees_the_whole_pitch(toy: Any, length: float, width: float, aspect: float) -> None:
    model = mujoco.MjModel.from_xml_string(toy.xml(length=length, width=width))
    view = broadcast_view(pitch_bounds(model), aspect)
    for x in (-length / 2, length / 2):
        for y in (-width / 2, width / 2):
            assert np.abs(project(view, np.array([x, y, 0.0]), aspect)).max() < 1.0


@pytest.mark.parametrize(("length", "width"), [(30.0, 20.0), (20.0, 30.0)])
def test_the_camera_on_the_stand_shows_ball_and_nearer_goal_wherever_the_ball_is(
    toy: Any, length: float, width: float
) -> None:
    bounds = pitch_bounds(mujoco.MjModel.from_xml_string(toy.xml(length=length, width=width)))
    along = 0 if length > width else 1
    heights = []
    for x in np.linspace(-length / 2, length / 2, 9):
        for y in np.linspace(-width / 2, width / 2, 9):
            ball = np.array([x, y, 0.04])
            view = stand_view(bounds, ball)
            assert np.abs(project(view, ball, 16 / 9)).max() < 0.95
            goal = np.zeros(3)
            goal[along] = math.copysign((length, width)[along] / 2, ball[along])
            if abs(ball[along]) > 0.35 * (length, width)[along] / 2:
                assert abs(project(view, goal, 16 / 9)[0]) < 1.0
            assert np.any(np.abs(view.position[:2]) > np.array([length, width]) / 2), "it stands beside the pitch"
            up, down = (project(view, np.array([x, y, z]), 16 / 9)[1] for z in (0.57, 0.0))
            heights.append(up - down)
    assert min(heights) > 0.06, "a robot is more than a thirtieth of the picture's height"


def test_the_camera_on_the_stand_turns_from_one_goal_to_the_other_without_a_jump(model: Any) -> None:
    views = [stand_view(pitch_bounds(model), np.array([x, 0.0, 0.0])) for x in np.linspace(-1.0, 1.0, 201)]
    steps = np.diff([view.look_at[0] for view in views])
    assert (steps > 0).all()
    assert steps.max() < 0.1


def test_the_pitch_is_where_the_lines_are(model: Any) -> None:
    bounds = pitch_bounds(model)
    assert np.allclose(bounds.low[:2], [-3.025, -2.0 - 0.025], atol=1e-6)
    assert np.allclose(bounds.centre, 0, atol=1e-3)


def test_eyes_look_the_way_the_camera_of_the_model_does(model: Any) -> None:
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    view = eyes_view(model, data, "a/CameraTop")
    axes = data.cam("a/CameraTop").xmat.reshape(3, 3)
    assert np.allclose(view.look_at - view.position, -axes[:, 2])
    assert view.look_at[0] > view.position[0]
    assert view.fov == pytest.approx(math.radians(47))


def test_a_camera_that_does_not_exist_is_answered_with_those_that_do(model: Any) -> None:
    with pytest.raises(UnknownNameError, match="follow:a"):
        CameraOperator(model, "folow:a")
    with pytest.raises(UnknownNameError, match="eyes:b"):
        CameraOperator(model, "eyes:ball")


def test_every_known_camera_gives_a_view(model: Any) -> None:
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for name in known_cameras(model):
        view = CameraOperator(model, name).view(data)
        assert np.linalg.norm(view.look_at - view.position) > 0.1


def test_a_picture_that_is_higher_than_wide_shows_as_much_to_the_sides_as_a_square_one() -> None:
    assert fitted_fov(0.7, 1.6) == 0.7
    narrow = fitted_fov(0.7, 0.5)
    assert 0.5 * math.tan(narrow / 2) == pytest.approx(math.tan(0.35))
    assert fitted_fov(0.7, 0.0) == 0.7, "a browser that has not told its size yet"
    assert fitted_fov(1.5, 0.01) < math.radians(120)
