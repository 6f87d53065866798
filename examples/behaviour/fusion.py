"""Sensor fusion: the ball from the own eyes and from what mates say, opponents from eyes and sonar.

The ball is a Kalman filter on the pitch: a place with a variance, which grows with time. A sighting of one's own is
as good as the eyes at that distance and the own pose; what a mate tells comes with its own deviation, in the message,
so that a mate who stands near the ball is believed more than one's own eyes from far away. The sonar hears somebody who
is too near, or too much to the side, to be seen.
"""

import math
import re

import numpy as np

from nutmeg.match.players.belief import BallBelief, Belief
from nutmeg.match.players.decide import Memory, View
from nutmeg.match.players.request import Legs, Request, Walk
from nutmeg.match.players.skills import goal_ahead, line_up, look_at, look_at_ball, play_ball, walk_to

DRIFT = 0.35
"""How fast an unseen ball may wander [m/s]."""
FAR_OFF = 9.0
"""A sighting farther from what is believed (squared, in deviations) begins anew."""
MESSAGE = re.compile(r"B:(-?\d+\.\d+):(-?\d+\.\d+):(\d\.\d+)")
"""x, y and their deviation [m]."""
CLOSE = 0.3
"""Nobody walks on towards something that the sonar hears nearer [m]."""


class FusedBall:
    """Where the ball is, from everything that tells of it."""

    def __init__(self) -> None:
        self.place, self.variance, self.time = np.zeros(2), 9.0, 0.0

    def wait(self, time: float) -> None:
        """Time passes, and the ball may have moved."""
        self.variance += (DRIFT * (time - self.time)) ** 2 + 1e-4
        self.time = time

    def hear_of(self, place: np.ndarray, variance: float) -> None:
        """Takes a sighting, whoever's it is."""
        if float(np.sum((place - self.place) ** 2)) / (self.variance + variance) > FAR_OFF:
            if variance < self.variance:
                self.place, self.variance = place, variance
            return
        gain = self.variance / (self.variance + variance)
        self.place, self.variance = self.place + gain * (place - self.place), (1 - gain) * self.variance


def decide(percept: View, memory: Memory) -> Request:
    """What to do in the next tenth of a second."""
    ball = fuse(percept, memory)
    waiting = line_up(percept, memory)
    say = message(percept)
    if waiting is not None:
        return Request(beam=waiting.beam, look=waiting.look, say=say, intent=waiting.intent)
    belief = with_ball(percept.belief, ball)
    look = (
        look_at_ball(percept.belief, memory)
        if percept.belief.ball.seen_ago < 1.0
        else look_at(belief, memory, ball.place)
    )
    if percept.number == 1:
        legs = walk_to(belief, memory, (-0.48 * memory.pitch.length, 0.3 * ball.place[1]), face=0.0)
    else:
        legs = careful(play_ball(belief, memory, aim=goal_ahead(belief, memory)), percept)
    return Request(legs=legs, look=look, say=say, intent=f"ball to {math.sqrt(ball.variance):.2f} m")


def fuse(percept: View, memory: Memory) -> FusedBall:
    """The ball after what was seen and heard since the last decision."""
    ball = memory.setdefault("ball", FusedBall())
    ball.wait(percept.time)
    if percept.seen.ball is not None:
        place, variance = sighting(percept)
        ball.hear_of(place, variance)
    for heard in percept.heard:
        told = MESSAGE.fullmatch(heard.message)
        if told is not None and heard.team == percept.team and heard.direction is not None:
            ball.hear_of(np.array([float(told[1]), float(told[2])]), float(told[3]) ** 2)
    return ball


def sighting(percept: View) -> tuple[np.ndarray, float]:
    """The own sighting on the pitch, and its variance: rows of the picture, and the own pose."""
    me, seen = percept.belief.me, np.array(percept.seen.ball)
    far = float(np.hypot(*seen))
    along = far**2 / (0.5 * 360.0)  # a row of the picture, from half a metre up with 360 pixels of focal length
    return percept.belief.to_pitch(seen), 0.02**2 + along**2 + me.spread**2 + (far * me.heading_spread) ** 2


def message(percept: View) -> str | None:
    """What to tell mates: the ball as one sees it oneself; what one has heard only, others have heard as well."""
    if percept.seen.ball is None:
        return None
    place, variance = sighting(percept)
    return f"B:{place[0]:.2f}:{place[1]:.2f}:{min(math.sqrt(variance), 9.0):.2f}"


def with_ball(belief: Belief, ball: FusedBall) -> Belief:
    """The belief with the fused ball."""
    known = BallBelief(
        place=ball.place,
        height=belief.ball.height,
        velocity=belief.ball.velocity,
        spread=math.sqrt(ball.variance),
        seen_ago=0.0 if ball.variance < 0.5 else math.inf,
        heard_ago=math.inf,
    )
    return Belief(
        time=belief.time,
        me=belief.me,
        ball=known,
        mates=belief.mates,
        opponents=belief.opponents,
        upright=belief.upright,
    )


def careful(legs: Legs, percept: View) -> Legs:
    """The same, but nobody walks on towards what the sonar hears: it steps to the other side."""
    if not isinstance(legs, Walk) or legs.ahead <= 0 or percept.sonar is None or min(percept.sonar) > CLOSE:
        return legs
    left, right = percept.sonar
    return Walk(left=-0.08 if left <= right else 0.08, turn=legs.turn)
