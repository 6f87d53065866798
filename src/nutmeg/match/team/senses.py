"""All senses of a player: from percepts alone to what it believes of itself, the ball and the others.

    senses = Senses(load_field("sim3d"), team="reds", number=3)
    belief = senses.update(percept, limbs.odometry, upright=limbs.upright)     # every cycle, in order
    senses.hear_mate(2, (x, y), ball_place, age=0.1)                           # what a team-mate said, team frame
    senses.beamed(-3.0, 1.0)                                                   # after asking for a beam
    senses.side                                                                # follows when teams change ends

One Kalman filter (`estimate`) holds pose and ball; `localisation` and `ball_track` are its two halves, `others_track`
keeps the other players, `ends` knows which way the own team plays. Beliefs are in the team's frame, see `belief`.
Nothing is random; the same percepts give the same beliefs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.body.ball import load_ball
from nutmeg.compiled import kernel
from nutmeg.match.rules import MOST_PLAYERS
from nutmeg.match.team.ball_track import BallTrack
from nutmeg.match.team.belief import BallBelief, Belief, Others, Pose
from nutmeg.match.team.camera import head_frame
from nutmeg.match.team.ends import Ends
from nutmeg.match.team.estimate import BALL, PLACE, TURN, new_estimate
from nutmeg.match.team.localisation import Localisation
from nutmeg.match.team.others_track import OthersTrack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.body.field import FieldSettings
    from nutmeg.match.percept import Percept, Sight
    from nutmeg.match.play_modes import Side
    from nutmeg.match.team.localisation import LocalisationSettings


CYCLE = 0.02
"""Length of a cycle, for the first one [s]."""
LONGEST = 1.0
"""A gap between percepts is bridged up to this long [s]."""
LOST = 10.0
"""Deviation of the place of who does not know where it is [m]."""
MISPLACED = 0.004
"""Cameras are misplaced for good, which no filter sees: added to the deviation of the place [m]."""


class Senses:
    """What a player makes of its percepts.

    Args:
        field: the pitch.
        team: name of the own team, as in images and messages.
        number: own number; 0 for what the first percept tells.
        settings: of the localisation.
    """

    def __init__(
        self, field: FieldSettings, *, team: str, number: int = 0, settings: LocalisationSettings | None = None
    ) -> None:
        ball = load_ball(field.ball)
        self._estimate = new_estimate()
        self._where = Localisation(field, self._estimate, rolling=ball.rolling_damping, settings=settings)
        self._ball = BallTrack(self._estimate, radius=ball.radius)
        self._others = OthersTrack(team=team, number=number)
        self._ends, self._radius, self._time = Ends(), ball.radius, -math.inf

    @property
    def side(self) -> Side | None:
        """The side the own team plays from now; None before it is told."""
        return self._ends.side

    @property
    def number(self) -> int:
        """Own number; 0 before it is told."""
        return self._others.number

    @property
    def known(self) -> bool:
        """Whether the player knows where it is."""
        return self._where.known

    def update(self, percept: Percept, odometry: tuple[float, float, float], *, upright: bool) -> Belief:
        """Takes a percept; to be called every cycle.

        Args:
            percept: what the player is told.
            odometry: how far the legs went since the last cycle, ahead and to the left [m], and turned left [rad].
            upright: whether the player stands.
        """
        step = CYCLE if self._time < 0.0 else min(max(percept.time - self._time, 1e-3), LONGEST)
        self._time = percept.time
        self._ends.hear(percept.game)
        if percept.game.number is not None:
            self._others.number = percept.game.number
        self._where.walk(percept.gyro, odometry, upright=upright, step=step, ball_noise=self._ball.noise(step))
        self._ball.pass_time(step)
        self._others.pass_time(step)
        if percept.sight is not None:
            self._see(percept.sight, percept)
        return self._believe(upright=upright)

    def _see(self, sight: Sight, percept: Percept) -> None:
        """Takes an image."""
        yaw, pitch = percept.angles[:2].tolist()
        head, centre = head_frame(math.radians(yaw), math.radians(pitch))
        where, e = self._where, self._estimate
        where.see(sight, head, centre, percept.acc)
        if not where.known:
            return
        if "B" in sight.labels:
            self._ball.see(sight.marks[sight.labels.index("B")], head, centre)
        else:
            self._ball.miss(head, centre)
        self._others.see(sight, head, centre, e.place, e.turn)
        self._ends.land(float(e.place[0]), float(e.place[1]), now=percept.time)

    def _believe(self, *, upright: bool) -> Belief:
        """What follows from the filter, in the team's frame."""
        e, sign, others, ball = self._estimate, self._ends.sign, self._others, self._ball
        x, y, heading, spread, heading_spread, ball_spread = summary(e.place, e.turn, e.ball, e.cov)
        if not self._where.known:
            spread, heading_spread = max(spread, LOST), math.pi
        if sign < 0:
            x, y, heading = -x, -y, heading - math.copysign(math.pi, heading)
        places, ages, fallen, own = sign * others.places, others.ages.copy(), others.fallen.copy(), others.number - 1
        if own >= 0:
            places[own], ages[own], fallen[own] = (x, y), 0.0, not upright
        rolling = sign * e.ball
        most = MOST_PLAYERS
        return Belief(
            time=self._time,
            me=Pose(x=x, y=y, heading=heading, spread=spread, heading_spread=heading_spread),
            ball=BallBelief(
                place=rolling[:2],
                height=max(float(e.ball[2]), self._radius),
                velocity=rolling[3:],
                spread=ball_spread,
                seen_ago=ball.seen_ago,
                told_ago=ball.told_ago,
            ),
            mates=Others(places=places[:most], ages=ages[:most], fallen=fallen[:most]),
            opponents=Others(places=places[most:], ages=ages[most:], fallen=fallen[most:]),
            upright=upright,
        )

    def hear_mate(
        self, number: int, place: Sequence[float] | Floats, ball_place: Sequence[float] | Floats | None, age: float
    ) -> None:
        """Takes what a team-mate told: where it is, where the ball is, both in the team's frame, and how old that is.

        Args:
            number: of the team-mate.
            place: (2,) where it stands [m].
            ball_place: (2,) where it sees the ball [m]; None if it does not.
            age: of what it told [s].
        """
        sign = self._ends.sign
        self._others.hear(number, sign * float(place[0]), sign * float(place[1]), age)
        if ball_place is not None:
            self._ball.hear(sign * float(ball_place[0]), sign * float(ball_place[1]), age)

    def beamed(self, x: float, y: float) -> None:
        """The player asks, with its answer to the last percept, to be put at a place in the team's frame."""
        self._ends.beamed(x, y, now=self._time)


@kernel
def summary(place: Floats, turn: Floats, ball: Floats, cov: Floats) -> tuple[float, float, float, float, float, float]:
    """Place, heading, deviations of both, and the deviation of the ball as the player sees it."""
    spread = math.sqrt((cov[PLACE, PLACE] + cov[PLACE + 1, PLACE + 1]) / 2.0 + MISPLACED**2)
    yaw = TURN + 2
    total = 0.0
    for i in range(2):
        lever = ball[1] - place[1] if i == 0 else place[0] - ball[0]
        p, b = PLACE + i, BALL + i
        total += cov[p, p] + cov[b, b] + lever * lever * cov[yaw, yaw]
        total += 2.0 * (lever * (cov[b, yaw] - cov[p, yaw]) - cov[p, b])
    return (
        place[0],
        place[1],
        math.atan2(turn[1, 0], turn[0, 0]),
        spread,
        math.sqrt(cov[yaw, yaw]),
        math.sqrt(max(total, 0.0) / 2.0),
    )
