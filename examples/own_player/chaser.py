"""A player in ten lines: it looks where it is and where the ball is, and walks into the ball."""

from nutmeg.match.players.limbs import Limbs
from nutmeg.match.players.request import Walk
from nutmeg.match.players.skills import look_around
from nutmeg.match.players.tracking.league_tracker import LeagueTracker
from nutmeg.match.worlds.physical.percept import Action, Percept
from nutmeg.model.field import load_field
from nutmeg.motion.walk.files import read_walk


class Chaser:
    """Walks into the ball."""

    def __init__(self, team: str, number: int) -> None:
        self.limbs = Limbs(read_walk("holonomic"))
        self.senses = LeagueTracker(load_field("sim3d"), team=team, number=number)

    def act(self, percept: Percept) -> Action:
        """What to do now."""
        belief = self.senses.update(percept, self.limbs.odometry, upright=self.limbs.upright)
        turn = belief.bearing(belief.ball.place)
        legs = Walk(ahead=0.5 if abs(turn) < 0.5 else 0.0, turn=2.0 * turn)
        return Action(speeds=self.limbs.act(percept, legs, look_around(belief)), beam=(-1.0, 0.0, 0.0))
