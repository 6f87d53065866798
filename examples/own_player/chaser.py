"""A player in ten lines: it looks where it is and where the ball is, and walks into the ball."""

from nutmeg.body.field import load_field
from nutmeg.learning.walks import read_walk
from nutmeg.match.percept import Action, Percept
from nutmeg.match.team.limbs import Limbs
from nutmeg.match.team.looking import look_around
from nutmeg.match.team.request import Walk
from nutmeg.match.team.senses import Senses


class Chaser:
    """Walks into the ball."""

    def __init__(self, team: str, number: int) -> None:
        self.limbs = Limbs(read_walk("holonomic"))
        self.senses = Senses(load_field("sim3d"), team=team, number=number)

    def act(self, percept: Percept) -> Action:
        """What to do now."""
        belief = self.senses.update(percept, self.limbs.odometry, upright=self.limbs.upright)
        turn = belief.bearing(belief.ball.place)
        legs = Walk(ahead=0.5 if abs(turn) < 0.5 else 0.0, turn=2.0 * turn)
        return Action(speeds=self.limbs.act(percept, legs, look_around(belief)), beam=(-1.0, 0.0, 0.0))
