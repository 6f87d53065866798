"""Who does what: who goes for the ball, and who takes which place of the formation.

    memory.arrival = arrival_time(situation, aim)
    memory.goes = goes_for_ball(situation, memory)
    post = assign([(0.0, 0.0), (4.0, 1.0)], [(5.0, 0.0), (1.0, 0.0)])       # [1, 0]

Everybody works out the same from what it knows; team-mates tell when they could play the ball, so that they agree
within a few tenths of a second on who goes, and who goes already is given some credit, so that they do not waver.

Places are given out so that the sum of the squares of the ways is least. Straight ways then never make two players
meet (Turpin, Michael and Kumar 2014: concurrent assignment and planning of trajectories), and nobody has to go much
farther than the others, as in SCRAM (MacAlpine, Price and Stone 2015), which minimises the longest way. Solved with
the method of Kuhn (1955) and Munkres (1957) in the O(n^3) form of shortest augmenting paths.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.base.angles import wrap_angle
from nutmeg.match.team.messages import NEVER
from nutmeg.match.team.situation import ROLLING, Phase, Point

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.match.team.situation import Memory, Other, Situation

PACE = 0.6
"""Speed of somebody who goes for the ball, m/s."""
TURN_PACE = 1.6
"""rad/s."""
ROUND = 0.5
"""Time for each radian around the ball, s."""
DRIVEN, FORESEEN = 0.8, 3.0
"""How much of its speed a ball keeps that is driven along, and for how long that is foreseen, s."""
KICKED = 0.9
"""Faster balls have been kicked, and roll on by themselves, m/s."""
GET_UP = 4.0
"""s."""
CREDIT = 0.8
"""Who goes already is taken to be there so much sooner, s."""
KEEPERS = 3.0
"""The same for a keeper, who goes for few balls."""
STALE = 1.5
"""What a team-mate said so long ago about its arrival is not used, s."""


def arrival_time(s: Situation, aim: float) -> float:
    """When the player could play the ball in a direction, s from now; slow balls are driven on by somebody."""
    vx, vy = s.ball_velocity
    kicked, time = math.hypot(vx, vy) > KICKED, s.ball_way / PACE
    for _ in range(2):
        lead = (1.0 - math.exp(-ROLLING * time)) / ROLLING if kicked else DRIVEN * min(time, FORESEEN)
        dx, dy = s.ball[0] + lead * vx - s.x, s.ball[1] + lead * vy - s.y
        time = math.hypot(dx, dy) / PACE
    bearing = math.atan2(dy, dx)
    around = abs(wrap_angle(bearing - aim))
    turn = abs(wrap_angle(bearing - s.heading))
    return time + ROUND * around + max(turn - 0.5, 0.0) / TURN_PACE


def goes_for_ball(s: Situation, memory: Memory) -> bool:
    """Whether the player is the one of its team to go for the ball."""
    mine = memory.arrival - (CREDIT if memory.goes else 0.0)
    return all((mine, memory.number) < (arrival_of(mate, s, memory), mate.number) for mate in s.mates)


def arrival_of(mate: Other, s: Situation, memory: Memory) -> float:
    """When a team-mate could play the ball: as it says, else as it looks."""
    report = memory.reports.get(mate.number)
    if report is not None and s.time - report.time < STALE:
        if report.arrival >= NEVER:
            return math.inf
        said = report.arrival - (s.time - report.time if report.goes else 0.0)
        return said - ((KEEPERS if mate.number == 1 else CREDIT) if report.goes else 0.0)
    if mate.number == 1:
        return math.inf
    way = math.hypot(mate.x - s.ball[0], mate.y - s.ball[1])
    return way / PACE + 1.0 + (GET_UP if mate.fallen else 0.0)


def goer_of(s: Situation, memory: Memory) -> int:
    """The number of who goes for the ball, as far as this player knows."""
    if memory.goes or not s.mates:
        return memory.number
    best = min(s.mates, key=lambda mate: (arrival_of(mate, s, memory), mate.number))
    return best.number


def takes_part(s: Situation, memory: Memory) -> list[tuple[int, Point]]:
    """Numbers and places of those who share the posts: all but the keeper and who goes for the ball."""
    goer, alone = goer_of(s, memory), memory.players == 1
    own = [] if memory.goes else [(memory.number, (s.x, s.y))]
    others = [(mate.number, (mate.x, mate.y)) for mate in s.mates]
    return sorted(who for who in own + others if who[0] != goer and (who[0] != 1 or alone))


def kick_off_taker(s: Situation, memory: Memory, taker: int) -> int:
    """Who takes the own kick-off: the one with the number, if it is on the pitch."""
    here = {memory.number, *(mate.number for mate in s.mates)}
    field = sorted(here - {1}) or [1]
    return taker if taker in here else field[0]


def assign(players: Sequence[Point], places: Sequence[Point]) -> list[int]:
    """For each player the index of its place; the sum of squared ways is least. As many places as players."""
    cost = [[(x - u) ** 2 + (y - v) ** 2 for u, v in places] for x, y in players]
    return matching(cost)


def matching(cost: Sequence[Sequence[float]]) -> list[int]:
    """For each row of a square table the column of a matching with the least sum."""
    n = len(cost)
    row_price, column_price = [0.0] * n, [0.0] * (n + 1)
    owner = [-1] * (n + 1)  # column n is where each new row begins
    for row in range(n):
        owner[n] = row
        column, came, slack, done = n, [n] * n, [math.inf] * n, [False] * (n + 1)
        while owner[column] >= 0:
            done[column] = True
            current, step, best = owner[column], math.inf, -1
            for j in range(n):
                if done[j]:
                    continue
                reduced = cost[current][j] - row_price[current] - column_price[j]
                if reduced < slack[j]:
                    slack[j], came[j] = reduced, column
                if slack[j] < step:
                    step, best = slack[j], j
            for j in range(n + 1):
                if done[j]:
                    row_price[owner[j]] += step
                    column_price[j] -= step
                elif j < n:
                    slack[j] -= step
            column = best
        while column != n:
            owner[column] = owner[came[column]]
            column = came[column]
        owner[n] = -1
    found = [0] * n
    for j in range(n):
        found[owner[j]] = j
    return found


def may_go(s: Situation) -> bool:
    """Whether the own team may go for the ball at all."""
    return s.phase is Phase.PLAY or (s.phase in (Phase.KICK_OFF, Phase.RESTART) and s.ours is True)
