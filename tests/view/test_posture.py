from typing import Any

import mujoco
import numpy as np
import pytest

from nutmeg.base.errors import RecordingError
from nutmeg.view.stage.film import Posture


def test_channel_values_survive_the_way_to_positions_and_back(model: Any, toy: Any) -> None:
    posture = Posture(model, toy.labels())
    values = toy.values(np.linspace(0, 2, 11))
    back = posture.values(posture.qpos(values))
    assert set(back) == set(values)
    for name, rows in values.items():
        assert np.array_equal(back[name], rows)


def test_angles_reach_the_joint_they_are_named_after_whatever_their_order(model: Any, toy: Any) -> None:
    labels = toy.labels() | {"a.angles": ("RKneePitch", "HeadYaw")}
    posture = Posture(model, labels)
    values = toy.values(np.zeros(1)) | {"a.angles": np.array([[0.7, -0.2]])}
    qpos = posture.qpos(values)[0]
    assert qpos[model.joint("a/RKneePitch").qposadr[0]] == 0.7
    assert qpos[model.joint("a/HeadYaw").qposadr[0]] == -0.2
    assert qpos[model.joint("a/LKneePitch").qposadr[0]] == 0.0


def test_robots_are_the_things_with_angles_and_other_channels_are_left_alone(model: Any, toy: Any) -> None:
    posture = Posture(model, toy.labels() | {"a.commands": ("HeadYaw",)})
    assert posture.robots == ("a", "b")
    assert "a.commands" not in posture.channels


def test_a_joint_that_the_scene_lacks_is_named(model: Any, toy: Any) -> None:
    with pytest.raises(RecordingError, match="'a/Tail'"):
        Posture(model, toy.labels() | {"a.angles": ("Tail",)})
    with pytest.raises(RecordingError, match="'c/root'"):
        Posture(model, {"c.pose": tuple("xyzabcd")})


def test_a_missing_value_is_drawn_as_the_last_one_before_it(model: Any, toy: Any) -> None:
    posture = Posture(model, toy.labels())
    values = toy.values(np.zeros(3))
    values["ball.pose"][:, 0] = [1.0, np.nan, np.nan]
    values["a.angles"][0, 0] = np.nan
    qpos = posture.qpos(values)
    assert np.array_equal(qpos[:, model.joint("ball/root").qposadr[0]], [1, 1, 1])
    assert qpos[0, model.joint("a/HeadYaw").qposadr[0]] == model.qpos0[model.joint("a/HeadYaw").qposadr[0]]


def test_half_way_between_two_turns_is_half_the_turn_even_if_a_quaternion_changed_sign(model: Any, toy: Any) -> None:
    posture = Posture(model, toy.labels())
    start = model.joint("ball/root").qposadr[0]
    first, second = np.array(model.qpos0), np.array(model.qpos0)
    second[start + 3 : start + 7] = -np.array([np.cos(0.4), 0, 0, np.sin(0.4)])
    middle = posture.between(first, second, 0.5)[start + 3 : start + 7]
    turned = np.zeros(3)
    mujoco.mju_quat2Vel(turned, middle, 1.0)
    assert turned == pytest.approx([0, 0, 0.4], abs=1e-6)
