"""Motions through keyframes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nutmeg.base.errors import ModelError, UnknownNameError
from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.motion.keyframes import Keyframes, with_changes

POSES = [[0.0, 1.0], [1.0, 0.0], [3.0, -1.0], [1.0, 0.0]]
TIMES = [0.0, 0.5, 1.0, 1.5]


def test_every_keyframe_is_reached_at_its_time() -> None:
    motion = Keyframes(TIMES, POSES)
    for time, pose in zip(TIMES, POSES, strict=True):
        assert motion.angles(time) == pytest.approx(pose)


def test_it_waits_in_the_first_pose_and_holds_the_last() -> None:
    motion = Keyframes(TIMES, POSES)
    assert motion.angles(-1.0) == pytest.approx(POSES[0])
    assert motion.angles(99.0) == pytest.approx(POSES[-1])


def test_half_way_is_half_way_and_starts_and_stops_gently() -> None:
    motion = Keyframes(TIMES, POSES)
    assert motion.angles(0.75) == pytest.approx([2.0, -0.5])
    slow = (motion.angles(0.5 + 1e-4) - motion.angles(0.5)) / 1e-4
    fast = (motion.angles(0.75 + 1e-4) - motion.angles(0.75)) / 1e-4
    assert np.abs(slow).max() < 0.01 * np.abs(fast).max()
    assert np.abs(fast) == pytest.approx(1.5 * np.array([2.0, 1.0]) / 0.5, rel=1e-3)  # 3/2 of the mean speed


@given(st.floats(-1, 10))
def test_it_never_leaves_the_span_of_its_poses(time: float) -> None:
    angles = Keyframes(TIMES, POSES, repeat_from=0.5).angles(time)
    assert (angles >= np.min(POSES, axis=0) - 1e-12).all()
    assert (angles <= np.max(POSES, axis=0) + 1e-12).all()


@given(st.floats(0.5, 1.4999), st.integers(1, 50))
def test_a_repeated_motion_has_its_period(time: float, turns: int) -> None:
    motion = Keyframes(TIMES, POSES, repeat_from=0.5)
    assert motion.angles(time + turns * 1.0) == pytest.approx(motion.angles(time), abs=1e-6)


def test_many_times_give_many_rows() -> None:
    motion = Keyframes(TIMES, POSES, repeat_from=0.5)
    times = np.linspace(-0.5, 4, 19)
    assert motion.angles(times).shape == (19, 2)
    assert motion.angles(times) == pytest.approx(np.array([motion.angles(float(t)) for t in times]))


def test_wrong_keyframes_are_refused() -> None:
    with pytest.raises(ModelError, match="rising times"):
        Keyframes([0.0, 1.0, 1.0], [[0], [1], [2]])
    with pytest.raises(ModelError, match="at least two"):
        Keyframes([0.0], [[0]])
    with pytest.raises(ModelError, match="3 keyframe times but 2 poses"):
        Keyframes([0.0, 1.0, 2.0], [[0], [1]])
    for wrong in (1.5, 2.0, -0.5):
        with pytest.raises(ModelError, match="cannot repeat from"):
            Keyframes(TIMES, POSES, repeat_from=wrong)


def test_a_pose_is_changed_by_the_names_of_motors() -> None:
    table = assemble(SceneSettings(field="none", robots=(Placement(robot="nao-v6"),))).robots[0]
    rest = np.zeros(len(table.motors))
    pose = with_changes(table, rest, {"HeadYaw": 0.3, "RElbowRoll": 0.7})
    assert {m: float(a) for m, a in zip(table.motors, pose, strict=True) if a} == {"HeadYaw": 0.3, "RElbowRoll": 0.7}
    assert not rest.any()
    with pytest.raises(UnknownNameError, match="Did you mean 'HeadYaw'"):
        with_changes(table, rest, {"HeadYwa": 1.0})
