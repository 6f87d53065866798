"""The camera's geometry against the robot itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.players.tracking.localisation import head_frame, onto_pitch, spot
from nutmeg.match.rules.book import load_rules
from nutmeg.match.worlds.physical.percept import Action


def test_something_ahead_of_a_level_head_is_ahead_of_the_torso() -> None:
    camera = head_frame(0.0, 0.0)
    assert spot(np.array([2.0, 0.0, 0.0]), camera) == pytest.approx([2.0, 0.0, 0.155])


def test_a_head_turned_left_sees_to_the_left_and_one_that_nods_up_sees_upwards() -> None:
    camera = head_frame(math.radians(90.0), 0.0)
    assert spot(np.array([2.0, 0.0, 0.0]), camera) == pytest.approx([0.0, 2.0, 0.155])
    camera = head_frame(0.0, math.radians(30.0))
    assert spot(np.array([2.0, 0.0, 0.0]), camera)[2] > 1.0


def test_what_a_robot_with_a_turned_head_sees_is_where_it_is() -> None:
    game = Game(load_rules("sim3d"), seed=1, left="reds", seats=2, setup=PhysicalSetup(noise=False))
    slot = game.enter("reds", 1)
    game.place_player(slot, (-2.0, 3.0, 0.4), 35.0)
    speeds = np.zeros(22)
    speeds[:2] = -1.0, -0.6
    for _ in range(30):
        percept = game.cycle({slot: Action(speeds=speeds)})[slot]
    assert percept.sight is not None
    yaw, pitch = np.radians(percept.angles[:2]).tolist()
    assert yaw < -0.4
    assert pitch < -0.2
    pose = game.world.poses()[slot]
    w, x, y, z = pose[3:].tolist()
    attitude = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    marks = game.world.field.landmarks()
    named = [(label, mark) for label, mark in zip(percept.sight.labels, percept.sight.marks, strict=True)]
    assert len(named) >= 2
    for label, mark in named:
        found = onto_pitch(mark, head_frame(yaw, pitch), pose[:3], attitude)
        truth = game.world.ball if label == "B" else np.array(marks[label])
        # Joints of the league's engine drift apart by micrometres, which a camera sees at a distance of 15 m.
        assert found == pytest.approx(truth, abs=1e-3)
