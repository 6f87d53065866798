"""Path planning with obstacle avoidance: the shortest way around all robots that are known, by a visibility graph.

Every robot is a circle that no way may cross. The shortest way past circles goes from corner to corner of polygons
around them; Dijkstra's algorithm finds it among all straight pieces between corners that cross no circle. It is planned
anew ten times a second, so that it follows whoever moves.
"""

import heapq
import math

import numpy as np

from nutmeg.match.players.belief import Belief
from nutmeg.match.players.decide import Memory, View
from nutmeg.match.players.request import Request
from nutmeg.match.players.skills import CIRCLING_DISTANCE, goal_ahead, line_up, look_at_ball, play_ball, walk_to

ROOM = 0.42
"""How far the middles of robots keep from each other [m]."""
CORNERS = 8
"""Of the polygon around a robot."""
KNOWN = 3.0
"""Robots not seen for longer are forgotten [s]."""


def decide(percept: View, memory: Memory) -> Request:
    """What to do in the next tenth of a second."""
    waiting = line_up(percept, memory)
    if waiting is not None:
        return waiting
    belief, aim = percept.belief, goal_ahead(percept.belief, memory)
    look = look_at_ball(belief, memory)
    if percept.number == 1:
        home = (-0.48 * memory.pitch.length, 0.3 * belief.ball.place[1])
        return Request(legs=walk_to(belief, memory, home, face=0.0), look=look, intent="keep goal")
    behind = belief.ball.place - CIRCLING_DISTANCE * np.array([math.cos(aim), math.sin(aim)])
    if np.hypot(*(behind - belief.me.place)) < 0.6 or belief.ball.age > 1.5:
        return Request(legs=play_ball(belief, memory, aim=aim), look=look, intent="play the ball")
    way = plan(belief.me.place, behind, obstacles(belief, percept.number))
    return Request(legs=walk_to(belief, memory, way[1]), look=look, intent=f"way of {len(way) - 1} pieces")


def obstacles(belief: Belief, number: int) -> np.ndarray:
    """(N, 2) where other robots are."""
    mates = belief.mates.ages < KNOWN
    mates[number - 1] = False
    found = np.concatenate([belief.mates.places[mates], belief.opponents.places[belief.opponents.ages < KNOWN]])
    return found[np.isfinite(found).all(axis=1)]


def plan(start: np.ndarray, goal: np.ndarray, robots: np.ndarray) -> list[np.ndarray]:
    """Corners of the shortest way from start to goal, both included, that keeps `ROOM` from all robots.

    Who stands in a circle may leave it; a goal in a circle is moved to its edge.
    """
    start, goal = pushed_out(np.asarray(start, float), robots), pushed_out(np.asarray(goal, float), robots)
    turns = 2 * math.pi * np.arange(CORNERS) / CORNERS
    polygon = 1.1 * ROOM / math.cos(math.pi / CORNERS) * np.column_stack([np.cos(turns), np.sin(turns)])
    corners = (robots[:, None] + polygon).reshape(-1, 2)
    points = np.concatenate([[start, goal], corners[[is_free(corner, corner, robots) for corner in corners]]])
    best, before, queue = {0: 0.0}, {0: 0}, [(0.0, 0)]
    while queue:
        length, here = heapq.heappop(queue)
        if here == 1:
            break
        if length > best[here]:
            continue
        for there in range(1, len(points)):
            longer = length + float(np.hypot(*(points[there] - points[here])))
            if longer < best.get(there, math.inf) and is_free(points[here], points[there], robots):
                best[there], before[there] = longer, here
                heapq.heappush(queue, (longer, there))
    if 1 not in before:
        return [start, goal]
    way = [1]
    while way[-1] != 0:
        way.append(before[way[-1]])
    return [points[k] for k in reversed(way)]


def is_free(start: np.ndarray, end: np.ndarray, robots: np.ndarray) -> bool:
    """Whether a straight piece keeps away from all robots."""
    along = end - start
    share = np.clip((robots - start) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
    return bool((np.linalg.norm(robots - start - share[:, None] * along, axis=1) >= ROOM).all())


def pushed_out(point: np.ndarray, robots: np.ndarray) -> np.ndarray:
    """The point, or the nearest one that is in no circle of a robot."""
    for robot in robots:
        way = point - robot
        far = float(np.hypot(*way))
        if far < 1.02 * ROOM:
            point = robot + (way / far if far > 1e-6 else np.array([1.0, 0.0])) * 1.02 * ROOM
    return point
