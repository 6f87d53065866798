"""Messages that players say to their team-mates: once a decision cycle, each lost with a set probability.

    heard = deliver({slot: "ball_here"}, state, match, loss=0.1, time=12.3, teams=("reds", "blues"))       # by slot

As in NaOISIS (seed 002, section 3.3) messages go to team-mates only and at any distance; which of them hears one is
drawn for each listener anew, from the match's seed and cycle, so that the same match loses the same messages. Messages
and `Heard` are those of the physical world, with the direction from which a voice comes, so that players of one world
understand the other; nobody hears its own voice. Beliefs that compiled players share go the same way, by the same
draws: `Tracker.hear`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.behaviour.voices_kernels import arrives
from nutmeg.match.hearing import checked_message
from nutmeg.match.percept import Heard
from nutmeg.match.slots import side_of_slot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nutmeg.match.behaviour.state import MatchesState


def deliver(
    said: Mapping[int, str],
    state: MatchesState,
    match: int,
    *,
    loss: float,
    time: float,
    teams: tuple[str, str],
) -> dict[int, tuple[Heard, ...]]:
    """What everybody hears of what was said in a cycle, by slot; only who hears something is there.

    Args:
        said: messages by slot of who says them.
        state: says who is there, where, and which draws belong to this cycle.
        match: the row.
        loss: probability that a message does not reach a listener.
        time: game time, s.
        teams: names of left and right.
    """
    if not said:
        return {}
    for message in said.values():
        checked_message(message)
    seed, cycle, present = state.seed[match], int(state.cycle[match]), state.present[match]
    heard: dict[int, tuple[Heard, ...]] = {}
    for listener in np.flatnonzero(present).tolist():
        side = side_of_slot(listener)
        speakers = [
            speaker
            for speaker in sorted(said)
            if speaker != listener
            and present[speaker]
            and side_of_slot(speaker) is side
            and arrives(seed, cycle, speaker, listener, loss)
        ]
        if speakers:
            heard[listener] = tuple(
                Heard(team=teams[side], time=time, direction=_direction(state, match, listener, k), message=said[k])
                for k in speakers
            )
    return heard


def _direction(state: MatchesState, match: int, listener: int, speaker: int) -> float:
    """Where a voice comes from, degrees to the left of the listener's heading."""
    x, y, _ = (state.pose[match, speaker] - state.pose[match, listener]).tolist()
    turn = math.degrees(math.atan2(y, x) - float(state.pose[match, listener, 2]))
    return math.remainder(turn, 360.0)
