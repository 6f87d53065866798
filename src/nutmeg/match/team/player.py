"""A player of the built-in team: senses, decisions and limbs put together.

    player = TeamPlayer("reds", 2, players=4, walk=read_walk("final"))
    action = player.act(percept)            # every cycle
    player.belief, player.request           # what it believes and wants, for whoever watches

It knows what the protocol tells a player, no more, and is nowhere random: the same percepts give the same actions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nutmeg.body.ball import load_ball
from nutmeg.body.field import load_field
from nutmeg.match.percept import Action
from nutmeg.match.rules import pitch_of
from nutmeg.match.team.kick import UNSTEADY
from nutmeg.match.team.limbs import Limbs
from nutmeg.match.team.messages import decode
from nutmeg.match.team.senses import Senses
from nutmeg.match.team.situation import Memory
from nutmeg.match.team.tactics import decide

if TYPE_CHECKING:
    from nutmeg.learning.walks import Walk
    from nutmeg.match.percept import Percept
    from nutmeg.match.team.belief import Belief
    from nutmeg.match.team.request import Request

FRESH = 0.5
"""Where a team-mate saw the ball longer ago is not taken over, s."""


class TeamPlayer:
    """One player.

    Args:
        team: name of its team.
        number: its number.
        players: how many its team has.
        walk: how it walks.
        robot_type: of the league's robot, 0 to 4.
        field: the name of the field it plays on.
    """

    def __init__(
        self, team: str, number: int, *, players: int, walk: Walk, robot_type: int = 0, field: str = "sim3d"
    ) -> None:
        self.team, self.number, self.robot_type = team, number, robot_type
        ground = load_field(field)
        self.senses = Senses(ground, team=team, number=number)
        self.limbs = Limbs(walk, robot_type)
        pitch, kicks = pitch_of(ground, load_ball(ground.ball)), robot_type not in UNSTEADY
        self.memory = Memory(number=number, players=players, pitch=pitch, kicks=kicks)
        self.belief: Belief | None = None
        """What it believes; None before its first percept."""
        self.request: Request | None = None
        """What it wants of its body; None before its first percept."""

    def act(self, percept: Percept) -> Action:
        """What to do now."""
        if percept.game.number is not None:
            self.number = self.memory.number = percept.game.number
        self._listen(percept)
        limbs, senses, memory = self.limbs, self.senses, self.memory
        self.belief = senses.update(percept, limbs.odometry, upright=limbs.upright)
        memory.side, memory.doing = memory.side if senses.side is None else senses.side, limbs.doing
        self.request = request = decide(self.belief, percept.game, memory)
        speeds = limbs.act(percept, request.legs, request.look)
        if request.beam is not None:
            senses.beamed(request.beam[0], request.beam[1])
        return Action(speeds=speeds, beam=request.beam, say=request.say, wants_pass=request.wants_pass)

    def _listen(self, percept: Percept) -> None:
        """Takes in what team-mates say; who is not of the team, or says something else, is not heard."""
        for heard in percept.hears:
            if heard.team != self.team or heard.direction is None:
                continue
            report = decode(heard.message, percept.time)
            if report is None or report.number == self.number:
                continue
            self.memory.hear(report)
            ball = report.ball if report.ball_age < FRESH else None
            self.senses.hear_mate(report.number, report.place, ball, max(percept.time - report.time, 0.0))
