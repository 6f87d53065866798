"""The kick is judged in the world of a match, and a search makes it better."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.match.players.kick_learning import KickingRobot, kick_space, learn_kick, measure_kick, try_kicks
from nutmeg.motion.keyframes import shipped_motion

KICK = shipped_motion("nao-spark", "kick")


@pytest.mark.parametrize(("name", "far"), [("kick", 4.0), ("pass", 2.0)])
def test_a_kick_that_comes_with_nutmeg_does_what_its_file_says(name: str, far: float) -> None:
    motion = shipped_motion("nao-spark", name)
    kicks = measure_kick(motion, tries=8, seed=4, within=motion.tolerance)
    assert not kicks.fell.any()
    assert motion.distance > far
    assert kicks.distance.min() > 0.8 * motion.distance
    assert np.abs(kicks.aside).max() < 0.15 * motion.distance
    assert motion.seconds < 1.5


def test_the_same_try_has_the_same_result_whatever_was_tried_before() -> None:
    robot, place = KickingRobot(), np.zeros((1, 2))
    assert robot.stance > 0.05
    first = try_kicks([KICK], place, robot=robot)
    try_kicks([KICK], place + 0.02, robot=robot)
    again = try_kicks([KICK], place, robot=robot)
    assert first.distance.tolist() == again.distance.tolist()
    assert first.moved.tolist() == again.moved.tolist()


def test_a_search_from_a_spoilt_kick_makes_it_better() -> None:
    spoilt = KICK.with_numbers({"ball.ahead": KICK.ball[0] + 0.03})
    learned = learn_kick(spoilt, generations=2, population=4, only=("ball.ahead", "ball.left"), seed=1)
    assert learned.ball != spoilt.ball
    assert learned.frame == spoilt.frame
    assert learned.distance > 0


def test_the_space_has_all_numbers_or_those_named() -> None:
    whole = kick_space(KICK)
    assert {"frame1.seconds", "ball.ahead", "ball.left"} <= set(whole.names)
    assert kick_space(KICK, only=("ball.left",)).names == ("ball.left",)
    with pytest.raises(UnknownNameError):
        kick_space(KICK, only=("frame1.wing",))
