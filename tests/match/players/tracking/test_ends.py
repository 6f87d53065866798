"""Which end is one's own."""

from __future__ import annotations

import pytest

from nutmeg.match.players.tracking.league_tracker import Ends
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.worlds.physical.percept import GameView


def told(side: Side = Side.LEFT, *, mode: str = "BeforeKickOff", score: tuple[int, int] = (0, 0)) -> Ends:
    ends = Ends()
    ends.hear(GameView(mode=mode, time=0.0, score_left=score[0], score_right=score[1], number=1, side=side))
    return ends


def test_before_anything_is_told_the_pitch_is_as_it_is_named() -> None:
    assert Ends().sign == 1
    assert Ends().side is None


def test_the_side_that_was_told_is_kept() -> None:
    ends = told(Side.RIGHT)
    ends.hear(GameView(mode="PlayOn", time=1.0))
    assert (ends.side, ends.sign) == (Side.RIGHT, -1)


def test_scores_that_change_places_mean_that_ends_have_changed() -> None:
    ends = told(score=(2, 1))
    ends.hear(GameView(mode="BeforeKickOff", time=300.0, score_left=1, score_right=2))
    assert (ends.side, ends.changes) == (Side.RIGHT, 1)


@pytest.mark.parametrize("score", [(3, 1), (2, 2)])
def test_a_goal_does_not_change_ends(score: tuple[int, int]) -> None:
    ends = told(score=(2, 1))
    ends.hear(GameView(mode="Goal_Left", time=100.0, score_left=score[0], score_right=score[1]))
    assert ends.side is Side.LEFT


def test_who_lands_in_the_other_half_has_changed_ends() -> None:
    ends = told()
    ends.beamed(-4.0, 1.0, now=10.0)
    ends.land(-8.0, 3.0, now=10.02)  # not carried out yet
    assert ends.side is Side.LEFT
    ends.land(4.03, -1.04, now=10.06)
    assert ends.side is Side.RIGHT
    ends.land(4.03, -1.04, now=10.12)
    assert ends.changes == 1


def test_who_lands_where_it_wished_to_be_has_not() -> None:
    ends = told(Side.RIGHT)
    ends.beamed(-4.0, 1.0, now=10.0)
    ends.land(4.03, -1.04, now=10.06)
    assert (ends.side, ends.changes) == (Side.RIGHT, 0)


def test_a_beam_that_the_rules_do_not_allow_says_nothing() -> None:
    ends = told(mode="PlayOn")
    ends.beamed(-4.0, 1.0, now=10.0)
    ends.land(4.0, -1.0, now=10.06)
    assert ends.side is Side.LEFT


def test_an_old_wish_says_nothing() -> None:
    ends = told()
    ends.beamed(-4.0, 1.0, now=10.0)
    ends.land(-9.0, 5.0, now=10.3)
    ends.land(4.0, -1.0, now=12.0)
    assert ends.side is Side.LEFT
