"""The two sonars in a player's chest: how far the nearest robot or post in each cone is.

    sonar = Sonar(load_eyes("nao"), load_field("spl2011"), count=512)
    sonar.listen(state)[match, slot]        # (left, right), m; NaN where nothing answers

After NaOISIS (seed 002, figure 4): cones 18 degrees wide at +-19.48 degrees, 40 cm above the ground, that answer from
0.15 to 0.75 m. The cones are sectors of the plane that begin between the player's feet; robots are upright discs of a
torso's width, posts of theirs. Lying robots are too low to reflect, and a lying player measures nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.kernels import kernel
from nutmeg.base.records import record_values
from nutmeg.match.rules.slots import SLOTS
from nutmeg.match.worlds.behavioural.eyes import SonarSettings
from nutmeg.match.worlds.behavioural.landmarks import goal_posts_of
from nutmeg.match.worlds.behavioural.random import SONAR, normal
from nutmeg.match.worlds.behavioural.state import Posture

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.base.records import Records
    from nutmeg.match.worlds.behavioural.eyes import EyesSettings
    from nutmeg.match.worlds.behavioural.state import Ball, MatchesState, Player
    from nutmeg.model.field import FieldSettings

LEFT_SONAR = 0
"""The column of the left sonar."""


@dataclass(frozen=True)
class SonarNumbers:
    """The numbers of the sonars: settings, and sizes of what answers."""

    settings: SonarSettings
    angle: float
    """How far to its side each sonar looks, rad."""
    half_opening: float
    """Half the width of a cone, rad."""
    robot_radius: float
    """Radius of a standing robot, m; below 0 if robots are too low to be detected."""
    post_radius: float


def sonar_numbers(eyes: EyesSettings, field: FieldSettings) -> SonarNumbers:
    """The numbers of the sonars of a robot on a field."""
    settings, goal = eyes.sonar, field.goal
    return SonarNumbers(
        settings=settings,
        angle=math.radians(settings.angle_degrees),
        half_opening=math.radians(settings.opening_degrees) / 2,
        robot_radius=eyes.bodies.width / 2 if eyes.bodies.height > settings.height else -1.0,
        post_radius=goal.post_radius if goal else 0.0,
    )


class Sonar:
    """The sonars of all players of M matches."""

    def __init__(self, eyes: EyesSettings, field: FieldSettings, *, count: int) -> None:
        settings, goal = eyes.sonar, field.goal
        self._numbers = record_values(sonar_numbers(eyes, field))
        self._posts = goal_posts_of(field) if goal is not None and goal.height > settings.height else np.zeros((0, 2))
        self.answers: Floats = np.full((count, SLOTS, 2), np.nan)
        """(M, 22, 2) the last distances: left and right, m."""
        self._all = np.arange(count)

    def listen(self, state: MatchesState, chosen: Ints | None = None) -> Floats:
        """The distances of all sonars now, (M, 22, 2), in all matches or only in those chosen (K,).

        The array is the same every time.
        """
        rows = self._all if chosen is None else chosen
        listen_all(rows, state.players, state.balls, self._posts, self._numbers, self.answers)
        return self.answers


@kernel
def listen_all(
    chosen: Ints,
    players: Records[Records[Player]],
    balls: Records[Ball],
    posts: Floats,
    table: Records[SonarNumbers],
    answers: Floats,
) -> None:
    """Fills answers (M, 22, 2) of the matches `chosen` (K,)."""
    numbers = table[0]
    settings = numbers.settings
    for m in chosen:
        here, ball = players[m], balls[m]
        for s in range(SLOTS):
            for side in range(2):
                answers[m, s, side] = np.nan
                if not here[s].present or here[s].posture > Posture.KICKING:
                    continue
                way = here[s].heading + (numbers.angle if side == LEFT_SONAR else -numbers.angle)
                best, draw = _nearest(here, s, posts, way, numbers), 0.0
                if settings.noise > 0.0 and best < math.inf:
                    draw = normal(ball.seed, ball.cycle, s, SONAR, side)
                answers[m, s, side] = answer(best, draw, settings.nearest, settings.farthest, settings.noise)


@kernel
def answer(distance: float, draw: float, nearest: float, farthest: float, noise: float) -> float:
    """What a sonar answers to the nearest thing in its cone, m; NaN if that gives no answer.

    Args:
        distance: of the nearest thing, m.
        draw: a standard normal number.
        nearest: nearer things give no answer, m.
        farthest: farther things give no answer, m.
        noise: standard deviation of a distance, m.
    """
    if not nearest <= distance <= farthest:
        return math.nan
    # Noise does not lead out of the range.
    return min(max(distance + noise * draw, nearest), farthest)


@kernel
def _nearest(players: Records[Player], s: int, posts: Floats, way: float, numbers: SonarNumbers) -> float:
    """The nearest answer to the sonar of player s that looks a way."""
    best, c, d, farthest = np.inf, math.cos(way), math.sin(way), numbers.settings.farthest
    for k in range(SLOTS + len(posts)):
        if k < SLOTS:
            other, radius = players[k], numbers.robot_radius
            if not other.present or k == s or other.posture > Posture.KICKING or radius < 0.0:
                continue
            dx, dy = other.x - players[s].x, other.y - players[s].y
        else:
            dx, dy, radius = posts[k - SLOTS, 0] - players[s].x, posts[k - SLOTS, 1] - players[s].y, numbers.post_radius
        # A cheap bound first: most robots are out of range.
        if dx * dx + dy * dy <= (farthest + radius) ** 2:
            best = min(best, echo(c * dx + d * dy, c * dy - d * dx, radius, numbers.half_opening))
    return best


@kernel
def echo(ahead: float, left: float, radius: float, half: float) -> float:
    """Distance to the nearest point of a disc that is within `half` of straight ahead; inf if there is none."""
    far = math.sqrt(ahead * ahead + left * left)
    if far <= radius:
        return 0.0
    # If the direction to the centre is in the cone, the nearest point is, too. Otherwise it is where the cone's edge
    # enters the disc, if it does.
    off = abs(math.atan2(left, ahead)) - half
    if off <= 0.0:
        return far - radius
    across = far * math.sin(off)
    if off >= 0.5 * math.pi or across > radius:
        return math.inf
    return far * math.cos(off) - math.sqrt(radius * radius - across * across)
