"""How a match goes beyond its goals: possession, progress of the ball, shots and expected goals, in both worlds alike.

    controls = new_controls(rules.pitch, count)                # a record for each of M matches
    observe_matches(chosen, controls, ball, velocity, position, present)       # every `OBSERVED_TIME`, while in play
    result = controls_result(controls[0])
    result.possession, result.progress, result.shots           # of the team that began on the left, and of the other

Goals are rare, so that a few games say little about which team is stronger. These measures change in every second:

- possession: the share of the time in play in which the player nearest to the ball is of the team;
- progress: where the ball is on average, from the middle (0) to the opponents' goal line (1);
- shots: how often the ball rolls so that it would reach the goal if no player stopped it;
- expected goals: the chance at each moment in play that the team scores within `CHANCE_TIME`, summed over time as
  goals. It is a logistic function of three numbers (`chance_numbers`), fitted by `scripts/expected_goals.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import BEHAVIOURAL_CYCLE
from nutmeg.base.kernels import kernel, unchecked
from nutmeg.base.records import new_records
from nutmeg.match.rules.slots import SLOTS

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Ints
    from nutmeg.base.records import Records
    from nutmeg.match.rules.book import Pitch
    from nutmeg.match.rules.state import Facts

OBSERVED_TIME = BEHAVIOURAL_CYCLE
"""Time between two observations, the cycle of the behavioural world [s]; physical matches are observed as often."""
_ROLLING_TIME = 0.95
"""A ball of the league at v m/s rolls about 0.95 s * v before it stops: its damping is 1.06 1/s [s]."""
_MIN_SHOT_SPEED = 0.5
"""A ball slower than this is no shot: it is pushed by feet on the goal line, or bounces off a robot [m/s]."""
SHOT_PAUSE = 0.5
"""A ball that rolls towards a goal again within this time is the same shot [s]."""

CHANCE_TIME = 10.0
"""A chance is that of a goal within this time [s]."""
CHANCE_WEIGHTS = (0.695, -0.858, -0.105, 0.674)
"""Weights of 1 and of `chance_numbers` in the logarithm of a chance's odds: fitted to 396 behavioural games of 100 s on
a pitch of 12 m x 8 m, six of each pair of twelve strategies, seed 700 (`scripts/expected_goals.py`)."""
_MAX_LEAD = 2.0
"""Nobody is nearer to the ball than the opponents by more than this, as far as chances go [m]."""
_NOBODY = 1e6
"""Distance to the ball of a team without players [m]."""


@dataclass
class BallControl:
    """Counts of a match; pairs are those of the team that began on the left, and of the other."""

    end: float
    """Half the pitch's length [m]."""
    goal: float
    """Half the goal's width [m]."""
    swapped: bool
    """Whether the teams have changed ends."""
    time: float
    """How long the ball has been in play [s]."""
    progress: float
    """Integral over time of the share of the way to the goal of the second team [s]."""
    nearest: tuple[float, float]
    """How long the nearest player was of each team [s]."""
    shots: tuple[float, float]
    """How many shots each team had."""
    expected: tuple[float, float]
    """Goals that each team could expect."""
    since_shot: tuple[float, float]
    """Time in play since the ball last rolled towards the goal of each team's opponents [s]."""


@dataclass(frozen=True, kw_only=True)
class ControlResult:
    """Ball control in a match, for the team that began on the left, and for the other."""

    possession: tuple[float, float] = (0.0, 0.0)
    progress: tuple[float, float] = (0.0, 0.0)
    shots: tuple[int, int] = (0, 0)
    expected_goals: tuple[float, float] = (0.0, 0.0)

    def by_team(self) -> list[tuple[float, float, float, float]]:
        """The four numbers of the first team, and of the second."""
        return list(zip(self.possession, self.progress, self.shots, self.expected_goals, strict=True))


def new_controls(pitch: Pitch, count: int) -> Records[BallControl]:
    """Records for `count` matches that have not begun."""
    controls = new_records(BallControl, count)
    controls["end"], controls["goal"], controls["since_shot"] = pitch.length / 2, pitch.goal_width / 2, SHOT_PAUSE
    return controls


@kernel
def chance_numbers(
    ball: tuple[float, float], speed: float, nearest: tuple[float, float], end: float
) -> tuple[float, float, float]:
    """What the chance of a goal depends on, for the team that plays along x.

    Args:
        ball: where it is [m].
        speed: of the ball along x [m/s].
        nearest: distances to the ball of the nearest player of the team and of its opponents [m].
        end: half the pitch's length [m].

    Returns: the distance to the middle of the goal to which the ball rolls [m], the speed along x [m/s], and by how
        much the team is nearer to the ball [m].
    """
    # The ball is where it comes to rest, not beyond the goal line.
    distance = np.hypot(max(end - ball[0] - speed * _ROLLING_TIME, 0.0), ball[1])
    return distance, speed, min(max(nearest[1] - nearest[0], -_MAX_LEAD), _MAX_LEAD)


@kernel
def nearest_distances(x: float, y: float, position: Floats, present: Bools) -> tuple[float, float]:
    """Distances of a place to the nearest player of the left and of the right side [m]."""
    left = right = _NOBODY
    for slot in range(SLOTS):
        if present[slot]:
            away = np.hypot(position[slot, 0] - x, position[slot, 1] - y)
            if slot < SLOTS // 2:
                left = min(left, away)
            else:
                right = min(right, away)
    return left, right


@unchecked
def observe_matches(
    chosen: Ints, controls: Records[BallControl], ball: Floats, velocity: Floats, position: Floats, present: Bools
) -> None:
    """Counts `OBSERVED_TIME` in which the ball was in play.

    Args:
        chosen: which matches, (K,).
        controls: (M,).
        ball: where the balls are, (M, 2) or more columns [m].
        velocity: likewise [m/s].
        position: where the players are, (M, 22, 2) or more columns [m].
        present: whether a robot plays, (M, 22).
    """
    for m in chosen:
        one = controls[m]
        x, y, vx, vy = ball[m, 0], ball[m, 1], velocity[m, 0], velocity[m, 1]
        one.time += OBSERVED_TIME
        one.progress += OBSERVED_TIME * (-x if one.swapped else x) / one.end
        distances = nearest_distances(x, y, position[m], present[m])
        if min(distances) < _NOBODY:
            side = 0 if distances[0] <= distances[1] else 1
            one.nearest[1 - side if one.swapped else side] += OBSERVED_TIME
        for side in range(2):
            team = 1 - side if one.swapped else side
            ahead = vx if side == 0 else -vx
            numbers = chance_numbers(
                (x if side == 0 else -x, y), ahead, (distances[side], distances[1 - side]), one.end
            )
            odds = CHANCE_WEIGHTS[0]
            for i in range(len(numbers)):
                odds += CHANCE_WEIGHTS[1 + i] * numbers[i]
            # A chance counts for its time: as many goals are expected as there would be with such odds all along.
            one.expected[team] += OBSERVED_TIME / CHANCE_TIME / (1.0 + np.exp(-odds))
            left = one.end - x if side == 0 else one.end + x
            one.since_shot[team] += OBSERVED_TIME
            # The ball reaches the goal line, and does so between the posts.
            if (
                ahead >= _MIN_SHOT_SPEED
                and 0.0 <= left <= ahead * _ROLLING_TIME
                and abs(y + vy * left / ahead) < one.goal
            ):
                if one.since_shot[team] > SHOT_PAUSE:
                    one.shots[team] += 1.0
                one.since_shot[team] = 0.0


def observe_match(controls: Records[BallControl], facts: Facts) -> None:
    """Counts a cycle of one match, from the referee's facts."""
    position, present = facts.position.reshape(1, SLOTS, -1), facts.present.reshape(1, SLOTS)
    observe_matches(np.zeros(1, np.intp), controls, facts.ball[None], facts.ball_velocity[None], position, present)


def controls_result(control: BallControl) -> ControlResult:
    """The ball control of a match; all zero if the ball was never in play."""
    if control.time <= 0.0:
        return ControlResult()
    first, second = (float(one / control.time) for one in control.nearest)
    progress = float(control.progress / control.time)
    shots = int(control.shots[0]), int(control.shots[1])
    expected = float(control.expected[0]), float(control.expected[1])
    return ControlResult(
        possession=(first, second), progress=(progress, -progress), shots=shots, expected_goals=expected
    )
