"""What the referee is told."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.match.rules.state import Facts, touch_groups


def test_what_is_not_known_means_that_nothing_happens() -> None:
    facts = Facts.of(time_step=0.02, ball=np.zeros(3), present=np.ones((2, 11), bool), position=np.zeros((2, 11, 3)))
    assert not facts.touches_ball.any()
    assert not facts.self_collision.any()
    assert facts.contacts.shape == (0, 2, 2)
    assert facts.goalie[:, 0].all()
    assert facts.goalie.sum() == 2


def test_defaults_cannot_be_written_to() -> None:
    facts = Facts.of(time_step=0.02, ball=np.zeros(3), present=np.ones((2, 11), bool), position=np.zeros((2, 11, 3)))
    with pytest.raises(ValueError, match="read-only"):
        facts.touches_ball[0, 0] = True


def test_players_who_touch_each_other_through_others_are_one_group() -> None:
    pairs = np.array([[[0, 1], [1, 2]], [[0, 7], [0, 8]], [[1, 2], [0, 4]], [[0, 8], [0, 7]]])
    assert touch_groups(pairs) == [[(0, 1), (0, 4), (1, 2)], [(0, 7), (0, 8)]]
    assert touch_groups(np.zeros((0, 2, 2), np.int64)) == []
