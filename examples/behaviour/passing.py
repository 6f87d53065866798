"""Passing with roles: who is nearest to the ball plays it, others take places ahead of it and behind, and get passes.

Roles are agreed without a captain. Everybody tells its place and how far it is from the ball, as it believes; who hears
of nobody nearer goes for it. The others share out the rest of the places. A pass goes to the mate who is farthest ahead
with no opponent beside the way.
"""

import math
import re

import numpy as np

from nutmeg.match.players.belief import Belief
from nutmeg.match.players.decide import Memory, View
from nutmeg.match.players.request import Request
from nutmeg.match.players.skills import goal_ahead, line_up, look_at_ball, play_ball, walk_to

FRESH = 1.0
"""What mates said longer ago is forgotten [s]."""
MESSAGE = re.compile(r"P(\d+):(\d+\.\d):(-?\d+\.\d):(-?\d+\.\d)")
"""Number, how far from the ball, x and y [m]."""
LANE = 0.35
"""An opponent nearer to the way of a pass stops it [m]."""


def decide(percept: View, memory: Memory) -> Request:
    """What to do in the next tenth of a second."""
    belief = percept.belief
    heard = listen(percept, memory)
    say = f"P{percept.number}:{away(belief):.1f}:{belief.me.x:.1f}:{belief.me.y:.1f}"
    waiting = line_up(percept, memory)
    if waiting is not None:
        return Request(beam=waiting.beam, look=waiting.look, say=say, intent=waiting.intent)
    look = look_at_ball(belief, memory)
    if percept.number == 1:
        home = (-0.48 * memory.pitch.length, 0.3 * belief.ball.place[1])
        return Request(legs=walk_to(belief, memory, home, face=0.0), look=look, say=say, intent="keep goal")
    if attacks(percept.number, away(belief), heard):
        aim, strength, intent = choose(belief, memory, {n: place for n, (_, place) in heard.items()})
        return Request(legs=play_ball(belief, memory, aim=aim, strength=strength), look=look, say=say, intent=intent)
    place, role = support(belief, memory, percept.number, heard)
    ball = math.atan2(*(belief.ball.place - belief.me.place)[::-1])
    return Request(legs=walk_to(belief, memory, place, face=ball), look=look, say=say, intent=role)


def listen(percept: View, memory: Memory) -> dict[int, tuple[float, np.ndarray]]:
    """What mates told lately: how far from the ball they are, and where."""
    known = memory.setdefault("told", {})
    for heard in percept.heard:
        told = MESSAGE.fullmatch(heard.message)
        if told is not None and heard.team == percept.team and int(told[1]) != percept.number:
            known[int(told[1])] = percept.time, float(told[2]), np.array([float(told[3]), float(told[4])])
    return {n: (far, place) for n, (time, far, place) in known.items() if percept.time - time < FRESH}


def away(belief: Belief) -> float:
    """How far the ball is; a player behind it is nearer than one who would have to walk around it."""
    way = belief.ball.place - belief.me.place
    return float(np.hypot(*way)) + (0.5 if way[0] < 0 else 0.0) + min(belief.ball.age, 5.0)


def attacks(number: int, own: float, heard: dict[int, tuple[float, np.ndarray]]) -> bool:
    """Whether nobody but the keeper is nearer; the lower number goes if two are as near."""
    return all((own, number) < (far, mate) for mate, (far, _) in heard.items() if mate != 1)


def choose(belief: Belief, memory: Memory, mates: dict[int, np.ndarray]) -> tuple[float, float, str]:
    """Direction and strength of a shot, or of a pass that brings the ball forward."""
    ball, reach = belief.ball.place, memory.body.kick_reach
    if math.hypot(memory.pitch.length / 2 - ball[0], ball[1]) < 0.6 * reach:
        return goal_ahead(belief, memory), 1.0, "shoot"
    best, found = 0.3, (goal_ahead(belief, memory), 1.0, "play ahead")
    for number, place in mates.items():
        target = place + np.array([0.3, 0.0])
        way = target - ball
        far, gain = float(np.hypot(*way)), float(way[0])
        if number != 1 and 0.7 < far < reach and gain > best and is_free(belief, ball, target):
            best, found = gain, (math.atan2(way[1], way[0]), min(1.0, (far + 0.2) / reach), f"pass to {number}")
    return found


def is_free(belief: Belief, start: np.ndarray, end: np.ndarray) -> bool:
    """Whether no opponent is beside the way of a ball."""
    known = belief.opponents.places[belief.opponents.ages < 3.0]
    along = end - start
    share = np.clip((known - start) @ along / (along @ along), 0.0, 1.0)
    return bool((np.linalg.norm(known - start - share[:, None] * along, axis=1) > LANE).all())


def support(belief: Belief, memory: Memory, number: int, heard: dict[int, tuple[float, np.ndarray]]) -> tuple:
    """A place to be passed to, or to defend from: those farther up the pitch take the places ahead."""
    x, y = belief.ball.place
    side = -math.copysign(1.0, y if abs(y) > 0.2 else belief.me.y)
    places = [(x + 1.2, y + side * 0.9), (x - 1.0, 0.3 * y)]
    waiting = [(n, place[0]) for n, (_, place) in heard.items() if n not in (1, attacker(heard))]
    rank = sum((px, -n) > (belief.me.x, -number) for n, px in waiting)
    limits = memory.pitch.length / 2 - 0.5, memory.pitch.width / 2 - 0.3
    return np.clip(places[min(rank, 1)], np.negative(limits), limits), ("be free ahead", "stay behind")[min(rank, 1)]


def attacker(heard: dict[int, tuple[float, np.ndarray]]) -> int:
    """Who goes for the ball, as far as one has heard."""
    return min((n for n in heard if n != 1), key=lambda n: (heard[n][0], n), default=0)
