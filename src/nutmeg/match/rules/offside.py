"""Offside, as an option: rcssserver3d has the play modes for it, but no longer calls it.

As in human soccer: when a player touches the ball, team-mates in the other half that are nearer to the opponents' goal
line than the ball and than the second last opponent are in an offside position. If one of them is the next of the team
to touch it, and no opponent was in between, the opponents have a free kick where that happened. There is no offside
from a goal kick, a kick-in or a corner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.rules.judgement import own_places
from nutmeg.match.rules.play_modes import CORNER_KICKS, GOAL_KICKS, KICK_INS
from nutmeg.match.rules.restarts import award_offside

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools
    from nutmeg.match.rules.judgement import Judgement
    from nutmeg.match.rules.play_modes import Side

_NEVER_OFFSIDE = frozenset((*GOAL_KICKS, *KICK_INS, *CORNER_KICKS))


def judge_offside(judgement: Judgement) -> bool:
    """Whether the player that touches the ball was offside; if not, finds the players that are offside now."""
    if not judgement.rules.offside.on or judgement.toucher is None:
        return False
    side, index = judgement.toucher
    # Offside is a position at the last touch of a team-mate, and becomes an offence with the next touch.
    positions = judgement.state.in_offside
    if positions is not None and positions[side, index]:
        award_offside(judgement, side.other, judgement.ball_place)
        return True
    judgement.state.in_offside = _offside_positions(judgement, side, index)
    return False


def _offside_positions(judgement: Judgement, side: Side, toucher: int) -> Bools | None:
    """(2, 11) players in an offside position when `toucher` plays the ball; None if there are none."""
    kick = judgement.state.kick
    if kick is not None and (kick.side, kick.index) == (side, toucher) and kick.mode in _NEVER_OFFSIDE:
        return None
    # In the attackers' frame: nearer to the opponents' goal line is farther ahead. With fewer than two opponents, only
    # the halfway line and the ball count.
    opponents = np.sort(own_places(judgement, side.other)[judgement.facts.present[side.other], 0])
    second_last = -float(opponents[1]) if len(opponents) > 1 else 0.0
    # A player level with any of the three is not offside.
    limit = max(0.0, judgement.ball[0] * side.sign, second_last)
    ahead = (own_places(judgement, side)[:, 0] > limit) & judgement.active[side]
    ahead[toucher] = False
    if not ahead.any():
        return None
    found = np.zeros((2, len(ahead)), bool)
    found[side] = ahead
    return found
