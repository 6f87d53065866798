"""Players that a learner or its environment controls in every cycle: by all joints, or by a walk.

    player = WalkActionPlayer("reds", 2, walk=read_walk("holonomic"))
    player.action = np.array([1.0, 0.0, 0.0, 0.0])        # full speed ahead
    player.act(percept)

Actions are numbers from -1 to 1. For joints, they are shares of the joints' top speed; for a walk, shares of its top
speeds ahead, to the left and in turning left, and then whether to kick (above 0). The player with a walk keeps its
balance, gets up, estimates its pose and turns its head by itself, as the players of the built-in team do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.learning.gym.spaces import Part
from nutmeg.match.players.limbs import Limbs
from nutmeg.match.players.request import Kick, Stand, Walk
from nutmeg.match.players.skills import look_around
from nutmeg.match.players.tracking.league_tracker import LeagueTracker
from nutmeg.match.worlds.physical.percept import WITHOUT_TOES, Action
from nutmeg.model.field import load_field

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.players.belief import Belief
    from nutmeg.match.players.request import Legs
    from nutmeg.match.worlds.physical.percept import Percept
    from nutmeg.motion.walk.files import WalkParameters as WalkNumbers


_JOINT_SPEED = 6.1395  # joint speed of an action of 1: the top speed of most joints of the league's robot [rad/s]
_KICK_RANGE = 0.35  # balls farther ahead than this are not kicked [m]
_STANDING_SHARE = 0.05  # actions below this share of the top speeds make the robot stand
_BELIEF_PART = Part(
    "belief", 8, (-20.0, -20.0, -1.0, -1.0, -40.0, -40.0, 0.0, 0.0), (20.0, 20.0, 1.0, 1.0, 40.0, 40.0, 10.0, 1.0)
)
"""The belief as an observation: place in the team's frame (m), cosine and sine of the heading, place of the ball ahead
and to the left (m), time since the ball was seen (s), and whether the player is on its feet."""


class JointActionPlayer:
    """A player whose joints are controlled; an action is (22,)."""

    width = WITHOUT_TOES
    parts: tuple[Part, ...] = ()

    def __init__(self) -> None:
        self.action: Floats = np.zeros(WITHOUT_TOES)
        self.beam: tuple[float, float, float] | None = None

    def act(self, percept: Percept) -> Action:  # noqa: ARG002 (it does not look)
        """Moves its joints by the action."""
        return Action(speeds=_JOINT_SPEED * self.action, beam=self.beam)

    def observation(self) -> dict[str, Floats]:
        """It observes nothing beyond its percept."""
        return {}


class WalkActionPlayer:
    """A player whose walk is controlled; an action is (4,): ahead, left, turn, kick.

    Args:
        team: name of its team.
        number: its number.
        walk: its walk.
        field: the name of the field it plays on.
    """

    width = 4
    parts = (_BELIEF_PART,)

    def __init__(self, team: str, number: int, *, walk: WalkNumbers, field: str = "sim3d") -> None:
        self.action: Floats = np.zeros(4)
        self.beam: tuple[float, float, float] | None = None
        self.belief: Belief | None = None
        """Its belief; None before its first percept."""
        self._limbs = Limbs(walk)
        self._senses = LeagueTracker(load_field(field), team=team, number=number)

    def act(self, percept: Percept) -> Action:
        """Walks or kicks by the action."""
        limbs = self._limbs
        self.belief = self._senses.update(percept, limbs.odometry, upright=limbs.upright)
        speeds = limbs.act(percept, self._legs(self.belief), look_around(self.belief))
        if self.beam is not None:
            self._senses.beamed(self.beam[0], self.beam[1])
        return Action(speeds=speeds, beam=self.beam)

    def _legs(self, belief: Belief) -> Legs:
        ahead, left, turn, kick = self.action.tolist()
        ball = belief.to_body(belief.ball.place)
        if kick > 0 and belief.ball.seen_ago < 1.0 and 0.0 < ball[0] < _KICK_RANGE:
            return Kick(ball=(float(ball[0]), float(ball[1])))
        if max(abs(ahead), abs(left), abs(turn)) < _STANDING_SHARE:
            return Stand()
        top = self._limbs.top_speed
        return Walk(
            ahead=ahead * float(top[0] if ahead > 0 else top[3]), left=left * float(top[1]), turn=turn * float(top[2])
        )

    def observation(self) -> dict[str, Floats]:
        """Its belief, as `_BELIEF_PART` orders it."""
        belief = self.belief
        assert belief is not None
        me, (ahead, left) = belief.me, belief.to_body(belief.ball.place).tolist()
        numbers = (
            me.x,
            me.y,
            np.cos(me.heading),
            np.sin(me.heading),
            ahead,
            left,
            belief.ball.seen_ago,
            belief.upright,
        )
        return {"belief": np.nan_to_num(np.array(numbers, float), posinf=_BELIEF_OLDEST)}


_BELIEF_OLDEST = 10.0  # age that stands for a ball that was never seen [s]
