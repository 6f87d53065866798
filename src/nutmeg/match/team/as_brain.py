"""The built-in team's tactics as a `decide` like any other: the same decisions, in whichever world.

    player = BrainPlayer(team_decide, "reds", 2, walk=walk, players=4)          # the physical world
    mind = Mind(team_decide, team="reds", number=2, ...)                        # the behavioural world

It is `tactics.decide`, unchanged, on the built-in tracker's beliefs and on what team-mates report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nutmeg.match.team import situation
from nutmeg.match.team.messages import decode
from nutmeg.match.team.tactics import decide

if TYPE_CHECKING:
    from nutmeg.match.brain import Memory, View
    from nutmeg.match.team.request import Request

KEPT = "built-in team"
"""Under which name the tactics keep what they have in mind."""


def team_decide(percept: View, memory: Memory) -> Request:
    """What a player of the built-in team wants."""
    if KEPT not in memory:
        memory[KEPT] = situation.Memory(
            number=memory.number, players=memory.players, pitch=memory.pitch, in_turns=False
        )
    own: situation.Memory = memory[KEPT]
    own.number, own.side, own.doing = percept.number, percept.side, percept.doing
    for heard in percept.heard:
        report = decode(heard.message, percept.time) if heard.team == percept.team else None
        if report is not None:
            own.hear(report)
    return decide(percept.belief, percept.game, own)
