"""Deciding: from what a player believes and what is going on to what it wants its body to do.

    memory = Memory(number=2, players=4, pitch=load_rules("sim3d").pitch)
    request = decide(belief, game_view, memory)
    request.intent                          # "around the ball"

One goes for the ball, the keeper keeps, the others take the places of the formation; in every play mode everybody
keeps where the rules want it. Nothing here knows anything but beliefs: what the world truly looks like is not asked.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.base.angles import wrap_angle
from nutmeg.base.kernels import kernel
from nutmeg.match.players.builtin.attack import goal_direction, nearest_opponent, play_ball
from nutmeg.match.players.builtin.formation import (
    BALL_DISTANCE,
    POSTS,
    RESTART_DISTANCE,
    TAKER_NUMBER,
    Room,
    arrival_time,
    assign_posts,
    formation,
    goes_for_ball,
    kick_off_taker,
    line_up_place,
    may_go,
    takes_part,
)
from nutmeg.match.players.builtin.paths import Obstacle, players_around, smooth, walk_to
from nutmeg.match.players.builtin.situation import BALL_DAMPING, Phase, assess, clipped, phase_of
from nutmeg.match.players.messages import MAX_ARRIVAL_TIME, MAX_REPORTED_AGE, Report, encode, speaks
from nutmeg.match.players.request import Dive, Look, Request, Stand
from nutmeg.match.players.tracking.localisation import HALF_VIEW, NECK_HEIGHT, NOD_HEIGHT, YAW_LIMIT
from nutmeg.match.rules.play_modes import GOAL_KICKS, GOALS, PASSES, Side, side_of
from nutmeg.model.field import load_field

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.players.belief import Belief
    from nutmeg.match.players.builtin.situation import Memory, Point, Situation
    from nutmeg.match.players.request import Legs
    from nutmeg.match.worlds.physical.percept import GameView


# ----------------------------------------------------------------------------------------------------
# The goalkeeper: between ball and goal, out for near slow balls, down for near fast ones.
#
# A rolling ball slows down by 1.06 a second, so that one of speed v comes v / 1.06 far; from that the keeper works
# out where and when a ball will cross its line. All other numbers are chosen here.


KEEPER_DISTANCE = 0.9
"""How far before its goal the keeper stands, m."""
KEEPER_RANGE = 3.2
"""Balls so near to the goal line are the keeper's, m."""
KEEPER_RANGE_WIDE = 3.6
"""If they are so near to the middle, m."""
KEEPER_FOLLOW_RANGE = 5.0
"""A ball that the keeper has is its own up to here, m from the goal line."""
KEEPER_BALL_SPEED = 1.0
"""If they are slower, m/s."""
KEEPER_HANDICAP = 0.6
"""And if no opponent is nearer by more than this, m."""
DIVE_TIME = 0.9
"""A dive is begun when the ball crosses so soon, s."""
DIVE_REACH = (0.16, 0.75)
"""And so far beside the keeper, m."""
DIVE_BALL_SPEED = 1.0
"""And at such a speed, m/s; slower balls are walked to."""
DIVE_PAUSE = 5.0
"""Between dives, s."""


def keep_goal(s: Situation, memory: Memory) -> tuple[Legs, str]:
    """What the keeper does."""
    memory.goes = may_go(s) and s.upright and s.ball_known and memory.barred_since is None and is_mine(s, memory)
    if not memory.goes:
        memory.arrival = math.inf  # so that others go
    if s.phase is Phase.PLAY and s.ours is None:
        dive = saves(s, memory)
        if dive is not None:
            memory.dived_at = s.time
            return dive, f"dive {dive.side}"
    if memory.goes:
        legs, intent = play_ball(s, memory)
        return legs, f"clear: {intent}"
    memory.dribbling = False
    place = guard(s)
    face = math.atan2(s.ball[1] - s.y, s.ball[0] - s.x)
    return walk_to(s, memory, place, face=face, face_within=1.0), "keep the goal"


def is_mine(s: Situation, memory: Memory) -> bool:
    """Whether the ball is the keeper's to play."""
    if s.mode in GOAL_KICKS:
        return s.ours is True
    if memory.goes and s.ball_way < 0.6 and s.ball[0] < KEEPER_FOLLOW_RANGE - s.pitch.length / 2:
        return True
    if s.phase is not Phase.PLAY:
        return not s.mates and s.ours is True
    line = -s.pitch.length / 2
    if not s.mates:
        alone = all(math.hypot(o.x - s.ball[0], o.y - s.ball[1]) > s.ball_way + KEEPER_HANDICAP for o in s.opponents)
        return s.ball[0] < line + KEEPER_RANGE or (alone and s.ball[0] < 0.0)
    more = 0.4 if memory.goes else 0.0
    if s.ball[0] > line + KEEPER_RANGE + more or abs(s.ball[1]) > KEEPER_RANGE_WIDE + more:
        return False
    if math.hypot(*s.ball_velocity) > KEEPER_BALL_SPEED:
        return False
    nearest = min((math.hypot(o.x - s.ball[0], o.y - s.ball[1]) for o in s.opponents if not o.fallen), default=9.0)
    return s.ball_way < nearest + KEEPER_HANDICAP + more


def guard(s: Situation) -> Point:
    """The place between ball and goal."""
    line = -s.pitch.length / 2
    bx, by = s.ball if s.ball_known else (0.0, 0.0)
    dx, dy = max(bx - line, 0.05), by
    way = math.hypot(dx, dy)
    out = clipped(0.35 * way, 0.35, KEEPER_DISTANCE)
    x, y = line + out * dx / way, out * dy / way
    most = s.pitch.goal_width / 2 - 0.15
    return max(x, line + 0.3), clipped(y * 1.15, -most, most)


def crossing(s: Situation) -> tuple[float, float] | None:
    """When and where (y) the ball will come past the keeper on its way into the goal; None if it will not."""
    line = -s.pitch.length / 2
    vx, vy = s.ball_velocity
    if vx >= -0.3 or s.ball_age > 0.3:
        return None
    share_line = BALL_DAMPING * (s.ball[0] - line) / -vx
    if share_line >= 1.0:
        return None
    at_line = s.ball[1] + vy * (s.ball[0] - line) / -vx
    if abs(at_line) > s.pitch.goal_width / 2 + 0.1 or s.ball[0] < s.x:
        return None
    share = BALL_DAMPING * (s.ball[0] - s.x) / -vx
    return -math.log(1.0 - share) / BALL_DAMPING, s.ball[1] + vy * (s.ball[0] - s.x) / -vx


def saves(s: Situation, memory: Memory) -> Dive | None:
    """A dive, if a ball is about to pass that cannot be walked to."""
    if not s.upright or s.time - memory.dived_at < DIVE_PAUSE or math.hypot(*s.ball_velocity) < DIVE_BALL_SPEED:
        return None
    coming = crossing(s)
    if coming is None or coming[0] > DIVE_TIME:
        return None
    off = coming[1] - s.y
    if not DIVE_REACH[0] < abs(off) < DIVE_REACH[1] or math.cos(s.heading) < 0.3:
        return None
    return Dive(side="left" if off > 0 else "right")


# ----------------------------------------------------------------------------------------------------
# Where to look: at the ball, with an eye on landmarks, and around when either is lost.
#
# The camera sees 60 degrees to each side and nothing better in its middle, so a player can watch the ball from the
# corner of its eye while it looks where the landmarks are. It does so when it is less sure of its pose than it might
# be; who has no idea of its pose, or of the ball, turns its head from one side to the other. A pure function of the
# belief: the server's time says how far the head has swept.


Role = Literal["player", "kicker", "keeper"]

CERTAIN_PLACE, UNCERTAIN_PLACE = 0.04, 0.3
"""Below the first deviation of the place a player looks at the ball, above the second it cares for nothing else [m]."""
CERTAIN_HEADING, UNCERTAIN_HEADING = math.radians(0.5), math.radians(10.0)
"""The same for the heading [rad]."""
BALL_SEARCH_AGE, BALL_SEARCH_DEVIATION = 2.0, 1.0
"""A ball is looked for that nothing was known of for so long [s], or whose place has such a deviation [m]."""
BALL_OFF_CENTRE = {"player": math.radians(45.0), "kicker": 0.0, "keeper": math.radians(25.0)}
"""How far from the middle of the view the ball may be [rad]."""
SWEEP_ANGLE, SWEEP_TIME = math.radians(100.0), 1.6
"""How far the head turns to each side when it searches [rad], and how long it takes there and back [s]."""
HEAD_PITCH = -0.35
"""Pitch of the head in general: it sees from above the horizon down to its feet [rad]."""
TORSO_HEIGHT = 0.33
"""Height of the torso of who walks [m]."""
VIEW_MARGIN = math.radians(8.0)
"""So near to the edge of the view a landmark may be just outside [rad]."""
GAZE_DIRECTIONS = 5
"""Directions that are compared."""


def look_around(belief: Belief, role: Role = "player", *, field: str = "sim3d") -> Look:
    """Where the head is to look now.

    Args:
        belief: what the player believes.
        role: what it is busy with.
        field: name of the pitch, whose landmarks count.
    """
    me, ball = belief.me, belief.ball
    lost = ball.age > BALL_SEARCH_AGE or ball.spread > BALL_SEARCH_DEVIATION
    unsure = me.spread > UNCERTAIN_PLACE or me.heading_spread > UNCERTAIN_HEADING
    if (lost or unsure) and not (role == "kicker" and ball.seen_ago < BALL_SEARCH_AGE):
        return Look(yaw=_sweep(belief.time), pitch=HEAD_PITCH)
    x, y = ball.place.tolist()
    x, y = x - me.x, y - me.y
    around = math.atan2(y, x) - me.heading
    bearing = math.atan2(math.sin(around), math.cos(around))
    yaw = min(max(bearing, -YAW_LIMIT), YAW_LIMIT)
    if role != "kicker" and (me.spread > CERTAIN_PLACE or me.heading_spread > CERTAIN_HEADING):
        yaw = best_yaw(me.x, me.y, me.heading, bearing, BALL_OFF_CENTRE[role], _landmarks(field))
    return Look(yaw=yaw, pitch=_pitch(math.hypot(x, y), ball.height))


def _sweep(time: float) -> float:
    """The yaw of a head that searches: to and fro at an even speed."""
    phase = time / SWEEP_TIME % 1.0
    return SWEEP_ANGLE * (4.0 * abs(phase - 0.5) - 1.0)


def _pitch(far: float, height: float) -> float:
    """Low enough for a ball at the feet, else level enough for the far side."""
    below = math.atan2(TORSO_HEIGHT + NECK_HEIGHT + NOD_HEIGHT - height, far)
    return min(HEAD_PITCH, HALF_VIEW * 0.7 - below)


@kernel
def best_yaw(x: float, y: float, heading: float, bearing: float, aside: float, marks: Floats) -> float:
    """The yaw that has the ball, and most of the landmarks (M, 2), in view; near ones count more."""
    best, best_worth = bearing, -1.0
    for step in range(-GAZE_DIRECTIONS + 1, GAZE_DIRECTIONS):
        yaw = min(max(bearing + aside * step / (GAZE_DIRECTIONS - 1), -YAW_LIMIT), YAW_LIMIT)
        worth = -0.01 * abs(step)
        for k in range(len(marks)):
            ahead, left = marks[k, 0] - x, marks[k, 1] - y
            way = math.atan2(left, ahead) - heading - yaw
            off = abs(math.atan2(math.sin(way), math.cos(way)))
            worth += min(max((HALF_VIEW - off) / VIEW_MARGIN, 0.0), 1.0) / (1.0 + 0.1 * math.hypot(ahead, left))
        if worth > best_worth:
            best, best_worth = yaw, worth
    return min(max(best, -YAW_LIMIT), YAW_LIMIT)


@lru_cache(maxsize=4)
def _landmarks(field: str) -> Floats:
    """(M, 2) where landmarks are; they are the same from both ends."""
    return np.array([place[:2] for place in load_field(field).landmarks().values()])


BEAM_DELAY = 1.0
"""A player is beamed once it has come to rest on its feet: so long after the whistle, s."""
BEAM_DELAY_FALLEN = 2.0
"""One that lies is beamed after this, s."""
BEAM_INTERVAL = 0.8
"""A player that is off its place is beamed again after so long, s."""
BEAM_TOLERANCE = 0.35
"""A player farther from its place than this is off it, m."""
TOUCH_DISTANCE = 0.3
"""Somebody so near to the ball has probably touched it, m."""
STEP_BACK_TIME = 0.6
"""Who has put the ball into play steps back for so long, s."""
POSTS_INTERVAL = 0.2
"""How often places are given out, s."""
BALL_CLEARANCE = 0.9
"""On its way to its place a player keeps so far from the ball, m."""
POSSESSION_DISTANCE = 0.45
"""An opponent so near to the ball has it, m."""
POSSESSION_LEAD = 0.25
"""If it is nearer to the ball than the player by so much, m."""
POSSESSION_BALL_SPEED = 0.5
"""And if the ball is slower than this, m/s."""
HOME_DISTANCE = 6.0
"""Nearer to the own goal than this an opponent with the ball is attacked at once, m."""
STAND_OFF_TIME = 4.0
"""Elsewhere a player stands in its way for so long before it attacks, s: who runs into an opponent falls."""
STAND_OFF_INTERVAL = 10.0
"""It stands off again so long after that began, s."""
PASS_MODE_DISTANCE = 1.3
"""Who waits for a pass of opponents keeps so far from the ball: the rules want 1 m."""
KICKER_GAZE_DISTANCE = 0.6
"""Who goes for the ball and is so near has eyes for nothing else, m."""


def decide(belief: Belief, game: GameView, memory: Memory) -> Request:
    """What a player wants in this cycle."""
    s = assess(belief, game, memory)
    if memory.first_side is None:
        memory.first_side = memory.side
    beam, memory.wants_pass = None, False
    if s.phase is Phase.OVER:
        memory.goes = False
        legs: Legs = Stand()
        intent = "the match is over"
    elif s.phase is Phase.LINE_UP:
        legs, beam, intent = line_up(s, memory)
    else:
        legs, intent = play(s, memory)
    return Request(
        legs=legs,
        look=look_around(belief, gaze(s, memory)),
        say=say(s, memory),
        beam=beam,
        wants_pass=memory.wants_pass,
        intent=intent,
    )


def line_up(s: Situation, memory: Memory) -> tuple[Legs, tuple[float, float, float] | None, str]:
    """Gets to the place from which the next kick-off begins."""
    memory.goes, memory.barred_since, memory.dribbling, memory.standing = False, None, False, False
    x, y, heading = line_up_place(
        number=memory.number, players=memory.players, kicks_off=kicks_off_next(s, memory), pitch=s.pitch
    )
    off = math.hypot(x - s.x, y - s.y) > BEAM_TOLERANCE or abs(wrap_angle(heading - s.heading)) > 0.5
    settled = s.mode_age > (BEAM_DELAY if s.upright else BEAM_DELAY_FALLEN)
    memory.velocity = (0.0, 0.0, 0.0)
    if settled and off and s.time - memory.beamed_at > BEAM_INTERVAL:
        memory.beamed_at = s.time
        return Stand(), (x, y, math.degrees(heading)), "line up"
    return Stand(), None, "line up"


def kicks_off_next(s: Situation, memory: Memory) -> bool:
    """Whether the own team has the next kick-off: after goals who conceded, else left in the first half."""
    if s.mode in GOALS:
        return s.ours is False
    first_half = memory.mode_before is None
    return (memory.first_side is Side.LEFT) == first_half


def play(s: Situation, memory: Memory) -> tuple[Legs, str]:
    """What to do while the ball is, or is to be put, in play."""
    note_restart(s, memory)
    aim = goal_direction(s) if memory.aim is None else memory.aim
    able = s.upright and s.ball_known and memory.barred_since is None
    memory.arrival = min(arrival_time(s, aim), MAX_ARRIVAL_TIME - 1.0) if able else math.inf
    if memory.barred_since is not None and s.time - memory.barred_since < STEP_BACK_TIME and s.ball_way < 0.8:
        memory.goes = memory.dribbling = False
        return smooth(memory, -0.2, 0.0, 0.0), "leave the ball to others"
    if memory.is_keeper:
        return keep_goal(s, memory)
    memory.goes = able and goes(s, memory)
    if memory.doing == "kick":
        return Stand(), "kick"
    if memory.goes and s.mode in PASSES and not s.ours:
        return press(s, memory, PASS_MODE_DISTANCE), "wait for their pass"
    if stands_off(s, memory):
        return press(s, memory, BALL_DISTANCE), "stand in the way"
    if memory.goes and may_go(s):
        legs, intent = play_ball(s, memory)
        return legs, intent if s.phase is Phase.PLAY else f"{s.phase.value}: {intent}"
    memory.dribbling = False
    if memory.goes:
        return press(s, memory), "wait for their kick"
    return hold_post(s, memory)


def goes(s: Situation, memory: Memory) -> bool:
    """Whether to go for the ball: the appointed one at an own kick-off, else who is there first."""
    if s.phase is Phase.KICK_OFF and s.ours:
        return kick_off_taker(s, memory, TAKER_NUMBER) == memory.number
    return goes_for_ball(s, memory)


def note_restart(s: Situation, memory: Memory) -> None:
    """Keeps in mind whether the player has put the ball into play and must leave it to somebody else first."""
    before = memory.mode_before
    if s.phase is not Phase.PLAY:
        memory.barred_since = None
    elif memory.barred_since is not None:
        bx, by = s.ball
        touched = any(math.hypot(o.x - bx, o.y - by) < TOUCH_DISTANCE for o in (*s.mates, *s.opponents))
        if touched and s.time - memory.barred_since > 0.3:
            memory.barred_since = None
    elif s.mode_age < 0.01 and before is not None and side_of(before) is memory.side:
        restart = phase_of(before) in (Phase.RESTART, Phase.KICK_OFF)
        if restart and memory.goes and s.ball_way < 0.8 and memory.players > 1:
            memory.barred_since = s.time


def press(s: Situation, memory: Memory, off: float = RESTART_DISTANCE) -> Legs:
    """Waits between the ball and the own goal, as near as the rules allow."""
    bx, by = s.ball if s.phase is not Phase.KICK_OFF else (0.0, 0.0)
    dx, dy = -s.pitch.length / 2 - bx, -by
    way = math.hypot(dx, dy) or 1.0
    place = Room.of(s).nearest(bx + off * dx / way, by + off * dy / way)
    return walk_to(s, memory, place, face=math.atan2(by - s.y, bx - s.x), face_within=1.0)


def stands_off(s: Situation, memory: Memory) -> bool:
    """Whether to stand in the way of an opponent who has the ball, rather than to run into it: who does so falls."""
    if math.hypot(*s.ball_velocity) > POSSESSION_BALL_SPEED:
        memory.left_since = -math.inf
        return False
    if not memory.goes or s.phase is not Phase.PLAY or memory.stopped_at is not None or not theirs(s):
        return False
    if s.time - memory.left_since > STAND_OFF_INTERVAL:
        memory.left_since = s.time
    return s.time - memory.left_since < STAND_OFF_TIME


def theirs(s: Situation) -> bool:
    """Whether an opponent has the ball, away from the own goal."""
    nearest = nearest_opponent(s)
    away = math.hypot(s.ball[0] + s.pitch.length / 2, s.ball[1]) > HOME_DISTANCE
    return away and nearest < POSSESSION_DISTANCE and nearest + POSSESSION_LEAD < s.ball_way


def hold_post(s: Situation, memory: Memory) -> tuple[Legs, str]:
    """Goes to the own place in the formation, or looks for the ball there."""
    who = takes_part(s, memory)
    places = formation(posts=max(len(who), 1), ball=s.ball_after(1.0), room=Room.of(s))
    if s.time - memory.posts_at > POSTS_INTERVAL or memory.post >= len(places):
        memory.posts_at, memory.post = s.time, choose_post(who, places, memory)
    place = places[min(memory.post, len(places) - 1)]
    face = math.atan2(s.ball[1] - s.y, s.ball[0] - s.x)
    obstacles: list[Obstacle] = [*players_around(s), (*s.ball, BALL_CLEARANCE)]
    legs = walk_to(s, memory, place, face=face, obstacles=obstacles, face_within=1.0)
    if not s.ball_known and isinstance(legs, Stand):
        return smooth(memory, 0.0, 0.0, 0.8), "look for the ball"
    return legs, POSTS[min(memory.post, len(POSTS) - 1)].name


def choose_post(who: list[tuple[int, Point]], places: list[Point], memory: Memory) -> int:
    """Which of the places is the own one."""
    numbers = [number for number, _ in who]
    if memory.number not in numbers or len(numbers) != len(places):
        return min(memory.post, len(places) - 1)
    kept = [report.post if (report := memory.reports.get(number)) is not None else len(places) for number in numbers]
    own = numbers.index(memory.number)
    kept[own] = memory.post
    return assign_posts([place for _, place in who], places, kept)[own]


def gaze(s: Situation, memory: Memory) -> Role:
    """What the eyes are for."""
    if memory.is_keeper:
        return "keeper"
    return "kicker" if memory.goes and s.ball_way < KICKER_GAZE_DISTANCE else "player"


def say(s: Situation, memory: Memory) -> str | None:
    """The report to the team-mates, if it is the player's turn to speak."""
    waits = memory.in_turns and not speaks(number=memory.number, players=memory.players, time=s.time)
    if s.phase is Phase.OVER or waits:
        return None
    return encode(
        Report(
            number=memory.number,
            time=s.time,
            place=(s.x, s.y),
            heading=s.heading,
            fallen=not s.upright,
            goes=memory.goes,
            arrival=min(memory.arrival, MAX_ARRIVAL_TIME),
            ball=s.ball if s.ball_seen < MAX_REPORTED_AGE else None,
            ball_velocity=s.ball_velocity,
            ball_age=min(s.ball_seen, MAX_REPORTED_AGE),
            post=memory.post,
        )
    )
