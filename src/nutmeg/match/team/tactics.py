"""Deciding: from what a player believes and what is going on to what it wants its body to do.

    memory = Memory(number=2, players=4, pitch=load_rules("sim3d").pitch)
    request = decide(belief, game_view, memory)
    request.intent                          # "around the ball"

One goes for the ball, the keeper keeps, the others take the places of the formation; in every play mode everybody
keeps where the rules want it. Nothing here knows anything but beliefs: what the world truly looks like is not asked.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nutmeg.base.angles import wrap_angle
from nutmeg.match.play_modes import GOALS, PASSES, Side, side_of
from nutmeg.match.team.aims import goal_direction
from nutmeg.match.team.attack import play_ball
from nutmeg.match.team.keeper import keep_goal
from nutmeg.match.team.looking import look_around
from nutmeg.match.team.messages import AGED, NEVER, Report, encode, speaks
from nutmeg.match.team.paths import Obstacle, players_around, smooth, walk_to
from nutmeg.match.team.positions import OFF_BALL, OFF_RESTART, POSTS, TAKER, Room, formation, line_up_place
from nutmeg.match.team.request import Request, Stand
from nutmeg.match.team.roles import arrival_time, goes_for_ball, kick_off_taker, matching, may_go, takes_part
from nutmeg.match.team.situation import Phase, assess, phase_of
from nutmeg.match.team.striking import nearest_opponent

if TYPE_CHECKING:
    from nutmeg.match.percept import GameView
    from nutmeg.match.team.belief import Belief
    from nutmeg.match.team.looking import Role
    from nutmeg.match.team.request import Legs
    from nutmeg.match.team.situation import Memory, Point, Situation

SETTLE, SETTLE_FALLEN = 1.0, 2.0
"""A player is beamed once it has come to rest on its feet: after so long, or lying after that, s."""
BEAM_AGAIN, BEAM_OFF = 0.8, 0.35
"""A player who is so far off its place [m] is beamed again after so long [s]."""
TOUCHES = 0.3
"""Somebody so near to the ball has probably touched it, m."""
STEP_BACK = 0.6
"""Who has put the ball into play steps back for so long, s."""
POSTS_EVERY = 0.2
"""How often places are given out, s."""
LOYAL = 1.0
"""Keeping one's place saves so much of a squared way, m^2."""
OFF_PATH = 0.9
"""On its way to its place a player keeps so far from the ball, m."""
HAS_BALL, SOONER, SLOWER = 0.45, 0.25, 0.5
"""An opponent has the ball who is so near to it, nearer by so much than the player [m], if the ball is slower [m/s]."""
HOME, WAITS, WAITS_AGAIN = 6.0, 4.0, 10.0
"""It is left alone, but nowhere so near to the own goal [m], for so long, and again so long after that began [s]."""
OFF_PASS = 1.3
"""Who waits for a pass of opponents keeps so far from the ball: the rules want 1 m."""
NEAR_BALL = 0.6
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
    off = math.hypot(x - s.x, y - s.y) > BEAM_OFF or abs(wrap_angle(heading - s.heading)) > 0.5
    settled = s.mode_age > (SETTLE if s.upright else SETTLE_FALLEN)
    memory.velocity = (0.0, 0.0, 0.0)
    if settled and off and s.time - memory.beamed_at > BEAM_AGAIN:
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
    memory.arrival = min(arrival_time(s, aim), NEVER - 1.0) if able else math.inf
    if memory.barred_since is not None and s.time - memory.barred_since < STEP_BACK and s.ball_way < 0.8:
        memory.goes = memory.dribbling = False
        return smooth(memory, -0.2, 0.0, 0.0), "leave the ball to others"
    if memory.is_keeper:
        return keep_goal(s, memory)
    memory.goes = able and goes(s, memory)
    if memory.doing == "kick":
        return Stand(), "kick"
    if memory.goes and s.mode in PASSES and not s.ours:
        return press(s, memory, OFF_PASS), "wait for their pass"
    if stands_off(s, memory):
        return press(s, memory, OFF_BALL), "stand in the way"
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
        return kick_off_taker(s, memory, TAKER) == memory.number
    return goes_for_ball(s, memory)


def note_restart(s: Situation, memory: Memory) -> None:
    """Keeps in mind whether the player has put the ball into play and must leave it to somebody else first."""
    before = memory.mode_before
    if s.phase is not Phase.PLAY:
        memory.barred_since = None
    elif memory.barred_since is not None:
        bx, by = s.ball
        touched = any(math.hypot(o.x - bx, o.y - by) < TOUCHES for o in (*s.mates, *s.opponents))
        if touched and s.time - memory.barred_since > 0.3:
            memory.barred_since = None
    elif s.mode_age < 0.01 and before is not None and side_of(before) is memory.side:
        restart = phase_of(before) in (Phase.RESTART, Phase.KICK_OFF)
        if restart and memory.goes and s.ball_way < 0.8 and memory.players > 1:
            memory.barred_since = s.time


def press(s: Situation, memory: Memory, off: float = OFF_RESTART) -> Legs:
    """Waits between the ball and the own goal, as near as the rules allow."""
    bx, by = s.ball if s.phase is not Phase.KICK_OFF else (0.0, 0.0)
    dx, dy = -s.pitch.length / 2 - bx, -by
    way = math.hypot(dx, dy) or 1.0
    place = Room.of(s).nearest(bx + off * dx / way, by + off * dy / way)
    return walk_to(s, memory, place, face=math.atan2(by - s.y, bx - s.x), face_within=1.0)


def stands_off(s: Situation, memory: Memory) -> bool:
    """Whether to stand in the way of an opponent who has the ball, rather than to run into it: who does so falls."""
    if math.hypot(*s.ball_velocity) > SLOWER:
        memory.left_since = -math.inf
        return False
    if not memory.goes or s.phase is not Phase.PLAY or memory.stopped_at is not None or not theirs(s):
        return False
    if s.time - memory.left_since > WAITS_AGAIN:
        memory.left_since = s.time
    return s.time - memory.left_since < WAITS


def theirs(s: Situation) -> bool:
    """Whether an opponent has the ball, away from the own goal."""
    nearest = nearest_opponent(s)
    away = math.hypot(s.ball[0] + s.pitch.length / 2, s.ball[1]) > HOME
    return away and nearest < HAS_BALL and nearest + SOONER < s.ball_way


def hold_post(s: Situation, memory: Memory) -> tuple[Legs, str]:
    """Goes to the own place in the formation, or looks for the ball there."""
    who = takes_part(s, memory)
    places = formation(posts=max(len(who), 1), ball=s.ball_after(1.0), room=Room.of(s))
    if s.time - memory.posts_at > POSTS_EVERY or memory.post >= len(places):
        memory.posts_at, memory.post = s.time, choose_post(who, places, memory)
    place = places[min(memory.post, len(places) - 1)]
    face = math.atan2(s.ball[1] - s.y, s.ball[0] - s.x)
    obstacles: list[Obstacle] = [*players_around(s), (*s.ball, OFF_PATH)]
    legs = walk_to(s, memory, place, face=face, obstacles=obstacles, face_within=1.0)
    if not s.ball_known and isinstance(legs, Stand):
        return smooth(memory, 0.0, 0.0, 0.8), "look for the ball"
    return legs, POSTS[min(memory.post, len(POSTS) - 1)].name


def choose_post(who: list[tuple[int, Point]], places: list[Point], memory: Memory) -> int:
    """Which of the places is the own one."""
    numbers = [number for number, _ in who]
    if memory.number not in numbers or len(numbers) != len(places):
        return min(memory.post, len(places) - 1)
    cost = [[(x - u) ** 2 + (y - v) ** 2 for u, v in places] for _, (x, y) in who]
    for row, number in enumerate(numbers):
        report = memory.reports.get(number)
        kept = memory.post if number == memory.number else report.post if report is not None else len(places)
        if kept < len(places):
            cost[row][kept] -= LOYAL
    return matching(cost)[numbers.index(memory.number)]


def gaze(s: Situation, memory: Memory) -> Role:
    """What the eyes are for."""
    if memory.is_keeper:
        return "keeper"
    return "kicker" if memory.goes and s.ball_way < NEAR_BALL else "player"


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
            arrival=min(memory.arrival, NEVER),
            ball=s.ball if s.ball_seen < AGED else None,
            ball_velocity=s.ball_velocity,
            ball_age=min(s.ball_seen, AGED),
            post=memory.post,
        )
    )
