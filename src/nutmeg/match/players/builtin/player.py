"""A player of the built-in team: senses, decisions and limbs put together.

    player = TeamPlayer("reds", 2, players=4, walk=read_walk("final"))
    action = player.act(percept)            # every cycle
    player.belief, player.request           # what it believes and wants, for whoever watches

It knows what the protocol tells a player, no more, and is nowhere random: the same percepts give the same actions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nutmeg.base.errors import UsageError
from nutmeg.match.players.builtin import situation
from nutmeg.match.players.builtin.situation import Memory
from nutmeg.match.players.builtin.tactics import decide
from nutmeg.match.players.kicks import UNSTEADY_TYPES
from nutmeg.match.players.limbs import Limbs
from nutmeg.match.players.messages import decode
from nutmeg.match.players.tracking.league_tracker import LeagueTracker
from nutmeg.match.rules.book import MAX_PLAYERS, pitch_of
from nutmeg.match.worlds.physical.percept import Action
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field
from nutmeg.motion.walk.files import read_walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.match.players.belief import Belief
    from nutmeg.match.players.decide import Memory as Memory_
    from nutmeg.match.players.decide import View
    from nutmeg.match.players.request import Request
    from nutmeg.match.worlds.physical.percept import Percept, Player
    from nutmeg.motion.walk.files import WalkParameters


MAX_HEARD_BALL_AGE = 0.5
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
        self, team: str, number: int, *, players: int, walk: WalkParameters, robot_type: int = 0, field: str = "sim3d"
    ) -> None:
        self.team, self.number, self.robot_type = team, number, robot_type
        ground = load_field(field)
        self.senses = LeagueTracker(ground, team=team, number=number)
        self.limbs = Limbs(walk, robot_type)
        pitch, kicks = pitch_of(ground, load_ball(ground.ball)), robot_type not in UNSTEADY_TYPES
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
            ball = report.ball if report.ball_age < MAX_HEARD_BALL_AGE else None
            self.senses.hear_mate(report.number, report.place, ball, max(percept.time - report.time, 0.0))


# ----------------------------------------------------------------------------------------------------
# The built-in team: its players by the name of a walk, and matches between two of them.
#
# A team plays from whichever side it is told to.


def make_team(
    walk: str, players: int, *, team: str = "", types: Sequence[int] = (0,), field: str = "sim3d"
) -> list[TeamPlayer]:
    """The players of a team, number 1 first.

    Args:
        walk: name or file of the walk they have.
        players: how many, 1 to 11; of more than one, number 1 keeps the goal.
        team: name of the team, as the game knows it; that of the walk if empty.
        types: types of their robots, in turn.
        field: the name of the field they play on.
    """
    if not 1 <= players <= MAX_PLAYERS:
        raise UsageError(f"a team of {players} cannot play; allowed are 1 to {MAX_PLAYERS} players.")
    if not types:
        raise UsageError("a team needs at least one robot type.")
    numbers = read_walk(walk)
    return [
        TeamPlayer(team or walk, n + 1, players=players, walk=numbers, robot_type=types[n % len(types)], field=field)
        for n in range(players)
    ]


def by_number(left: Sequence[TeamPlayer], right: Sequence[TeamPlayer]) -> dict[tuple[str, int], Player]:
    """The players of two teams by team and number, as a `Driver` wants them; the left team first."""
    names = {player.team for player in left}, {player.team for player in right}
    if names[0] & names[1]:
        raise UsageError(f"both teams are called {min(names[0] & names[1])!r}; two names are needed.")
    return {(player.team, player.number): player for player in (*left, *right)}


# ----------------------------------------------------------------------------------------------------
# The built-in team's tactics as a `decide` like any other: the same decisions, in whichever world.
#
# It is `tactics.decide`, unchanged, on the built-in tracker's beliefs and on what team-mates report.


MEMORY_KEY = "built-in team"
"""Under which name the tactics keep what they have in mind."""


def team_decide(percept: View, memory: Memory_) -> Request:
    """What a player of the built-in team wants."""
    if MEMORY_KEY not in memory:
        memory[MEMORY_KEY] = situation.Memory(
            number=memory.number, players=memory.players, pitch=memory.pitch, in_turns=False
        )
    own: situation.Memory = memory[MEMORY_KEY]
    own.number, own.side, own.doing = percept.number, percept.side, percept.doing
    for heard in percept.heard:
        report = decode(heard.message, percept.time) if heard.team == percept.team else None
        if report is not None:
            own.hear(report)
    return decide(percept.belief, percept.game, own)
