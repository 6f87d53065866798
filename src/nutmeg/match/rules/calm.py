"""Cycles in which the referee has nothing to decide: seen at a glance, so that few of them are judged in full.

    calm = Calm(rules, cycle=0.02)
    after = calm.after(state, world)                 # the state one cycle on, or None: ask `judge`
    if after is None:
        state, decisions = judge(state, world.facts(), rules)

Most cycles of a match are like that: nobody touches anything but the ground, nobody falls or is where it may not be,
and the ball lies where it was put, or rolls on the pitch. What `after` gives is what `judge` would have given, to the
last bit, with no decisions (there is a property test); where it is not sure, it gives None. It takes some 10 us, a
judgement ten times that. `quiet` answers another question: for how long nobody has to ask.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from nutmeg.base.kernels import kernel
from nutmeg.match.rules.clock import end_of_half
from nutmeg.match.rules.decisions import LIMBS
from nutmeg.match.rules.judgement import BALL_REST_DISTANCE, TIME_TOLERANCE, changed
from nutmeg.match.rules.play_modes import GOAL_KICKS, GOALS, KICK_OFFS, PAUSED, RESTARTS, PlayMode, clock_runs, side_of
from nutmeg.match.rules.restarts import CENTRE
from nutmeg.match.rules.state import PLAYERS_SHAPE, DownTimes

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.match.rules.book import Rules, SelfCollisionRules
    from nutmeg.match.rules.decisions import Place
    from nutmeg.match.rules.state import MatchState

ANYWHERE, HALVES, KICK_OFF, CIRCLE, AREA = range(5)
"""Where players may be: wherever they like; in their halves; as for a kick-off; not near a place; not in an area."""
LOWEST = -1.0
"""A ball below this has fallen out of the world, m."""
_VELOCITIES, _DOWN = (*PLAYERS_SHAPE, 2), (3, *PLAYERS_SHAPE)


class Scene(Protocol):
    """One cycle as the world has it; arrays over slots, (22, ...)."""

    present: Bools
    """(22,) who plays."""
    position: Floats
    """(22, 3) of the torso, m."""
    velocity: Floats
    """(22, 2) of the torso, m/s."""
    touches: Bools
    """(22,) who touched the ball."""
    collides: Bools
    """(22, 4) limbs inside another part of their robot."""
    pairs: int
    """How many pairs of players touch each other."""

    @property
    def ball(self) -> Floats:
        """(3,) where the ball is, m."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """What a play mode asks of players and ball."""

    where: int
    """Where players may be."""
    kicker: int = 0
    """The side that has the kick."""
    place: Place | None = None
    """Where the ball has to lie; None for anywhere, but see `live`."""
    live: bool = False
    """Whether the ball has to be inside the lines."""
    until: float = math.inf
    """From when on the referee has to be asked, s since the mode began."""


class Calm:
    """Knows calm cycles under some rules.

    Args:
        rules: the rule book.
        cycle: length of a cycle, s.
    """

    def __init__(self, rules: Rules, *, cycle: float) -> None:
        fouls, pitch, restarts = rules.fouls, rules.pitch, rules.restarts
        self._rules, self._cycle = rules, cycle
        self._never = fouls.inactive.on or fouls.crowding.on or fouls.pushing.on
        self._samples = fouls.charging.velocity_samples - 1
        self._orders = [self._order(mode) for mode in PlayMode]
        self._runs = [clock_runs(mode) for mode in PlayMode]
        self._judged = [mode not in PAUSED and mode is not PlayMode.GAME_OVER for mode in PlayMode]
        self._known: tuple[Bools | None, Floats | None] = None, None
        self._in_areas, self._frozen = np.zeros((2, *PLAYERS_SHAPE), bool), np.zeros((*PLAYERS_SHAPE, len(LIMBS)))
        self._nobody = np.zeros(_DOWN), np.zeros(_DOWN, bool)
        self._down: tuple[DownTimes | None, Floats] = None, self._nobody[0]
        self._end, self._line = pitch.length / 2, pitch.width / 2
        self._areas, down = fouls.illegal_defence.on or fouls.illegal_attack.on, fouls.incapable
        self._measures = np.array(
            [
                *(down.not_standing_height, self._end, self._end - pitch.penalty_depth, pitch.penalty_width / 2),
                *(pitch.circle_radius, restarts.distance, _until_frozen_again(fouls.self_collision)),
            ]
        )
        longest = (down.not_standing_time, down.goalie_not_standing_time, down.ground_time, down.goalie_ground_time)
        self._times = np.array(
            [
                *(cycle, down.not_standing_height, down.ground_height, self._line + down.margin, down.stood_up_time),
                *(longest if down.on else (math.inf,) * len(longest)),
            ]
        )

    def after(self, state: MatchState, scene: Scene) -> MatchState | None:
        """The state after a calm cycle in which nobody asked for anything; None if this one may not be calm."""
        if self._never or scene.pairs or not _plain(state):
            return None
        mode, mode_time, time = state.mode, state.mode_time + self._cycle, state.time
        if self._runs[mode]:
            time += self._cycle
            if not time < end_of_half(state.half, self._rules.match) - TIME_TOLERANCE:
                return None
        order = self._orders[mode] or self._restart(state, mode_time)
        if order is None or mode_time >= order.until - TIME_TOLERANCE:
            return None
        x, y, z = ball = tuple(scene.ball.tolist())
        inside = abs(x) <= self._end and abs(y) <= self._line
        if order.live and not (inside and z >= LOWEST):
            return None
        place = order.place or (x, y)
        if not math.hypot(x - place[0], y - place[1]) <= BALL_REST_DISTANCE:
            return None
        self._copy(state)
        elapsed, down = state.elapsed + self._cycle, state.down
        times, flags = self._nobody if down is None else (np.empty(_DOWN), np.empty(_DOWN, bool))
        if not glance(
            scene.present, scene.position, scene.touches, scene.collides, self._in_areas, self._frozen, elapsed,
            self._measures, self._judged[mode], self._areas, down is not None, order.where, order.kicker, place[0],
            place[1], self._times, self._times_of(down), times, flags,
        ):  # fmt: skip
            return None
        if down is not None:
            down = _down_times(times, flags)
            self._down = down, times
        return changed(
            state,
            {
                "time": time,
                "mode_time": mode_time,
                "elapsed": elapsed,
                "ball_before": ball,
                "last_inside": (x, y) if inside else state.last_inside,
                "velocities": (scene.velocity.reshape(_VELOCITIES), *state.velocities)[: self._samples],
                "down": down,
            },
        )

    def _copy(self, state: MatchState) -> None:
        """Has copies of two arrays at hand: those that cannot be written to would be compiled apart."""
        now = state.in_areas, state.stamps.frozen
        if now[0] is not self._known[0] or now[1] is not self._known[1]:
            self._known, self._in_areas, self._frozen = now, now[0].copy(), now[1].copy()

    def _times_of(self, down: DownTimes | None) -> Floats:
        """(3, 2, 11) for how long players have been down; those of the last cycle are at hand."""
        if down is not self._down[0]:
            self._down = down, self._nobody[0] if down is None else _block(down)
        return self._down[1]

    def _order(self, mode: PlayMode) -> _Order | None:
        """What a mode asks for; None where that depends on more."""
        match, side = self._rules.match, side_of(mode)
        halves, kick_off = (ANYWHERE, ANYWHERE) if match.start_anywhere else (HALVES, KICK_OFF)
        if mode is PlayMode.PLAY_ON or mode is PlayMode.GAME_OVER:
            return _Order(where=ANYWHERE, live=mode is PlayMode.PLAY_ON)
        if mode is PlayMode.BEFORE_KICK_OFF:
            wait = match.wait_before_kick_off if match.automatic_kick_off else math.inf
            return _Order(where=halves, place=CENTRE, until=wait)
        if side is not None and mode in KICK_OFFS:
            return _Order(where=kick_off, kicker=int(side), place=CENTRE, until=self._rules.restarts.drop_ball_time)
        if side is not None and mode in GOALS:
            return _Order(where=kick_off, kicker=int(side.other), until=match.goal_pause)
        return None

    def _restart(self, state: MatchState, mode_time: float) -> _Order | None:
        """What any other restart asks for, in its pause and while the ball lies there; None of other modes."""
        mode, restarts, side = state.mode, self._rules.restarts, side_of(state.mode)
        if side is None or mode not in RESTARTS:
            return None
        if mode_time < restarts.pause - TIME_TOLERANCE:
            return _Order(where=ANYWHERE)
        if not state.ball_put or state.goal_kick_touched:
            return None
        where = AREA if mode in GOAL_KICKS else CIRCLE
        return _Order(where=where, kicker=int(side), place=state.place, until=restarts.drop_ball_time)


def _plain(state: MatchState) -> bool:
    """Whether the referee has nothing in mind that goes on by itself."""
    return (
        not state.held
        and not state.in_contact
        and state.still is None
        and state.pass_watch is None
        and state.shoot_out is None
    )


def _block(down: DownTimes) -> Floats:
    """(3, 2, 11) the times of those who are down, as `count_down_times` wants them."""
    return np.stack([down.not_standing, down.ground, down.standing])


def _down_times(times: Floats, flags: Bools) -> DownTimes:
    """What `count_down_times` has found, made as `changed` makes states: faster than by the constructor."""
    found = object.__new__(DownTimes)
    found.__dict__.update(
        not_standing=times[0],
        ground=times[1],
        standing=times[2],
        low=flags[0],
        counted=flags[1],
        lying=flags[2],
    )
    return found


def _until_frozen_again(rules: SelfCollisionRules) -> float:
    """How long a limb is not looked at after it was found inside another part of its robot, s."""
    if not rules.on:
        return math.inf
    return (
        rules.freeze_time + rules.thaw_time if rules.penalty == "freeze" else rules.outside_cooldown
    ) - TIME_TOLERANCE


@kernel
def glance(
    present: Bools,
    position: Floats,
    touches: Bools,
    collides: Bools,
    in_areas: Bools,
    frozen: Floats,
    elapsed: float,
    measures: Floats,
    judged: bool,
    areas: bool,
    somebody_down: bool,
    where: int,
    kicker: int,
    x: float,
    y: float,
    limits: Floats,
    before: Floats,
    times: Floats,
    flags: Bools,
) -> bool:
    """`in_order`, and where somebody is down, `count_down_times`, in one call."""
    if not in_order(
        present, position, touches, collides, in_areas, frozen, elapsed, measures, judged, areas, somebody_down,
        where, kicker, x, y,
    ):  # fmt: skip
        return False
    return not somebody_down or count_down_times(present, position, before, limits, times, flags)


@kernel
def in_order(
    present: Bools,
    position: Floats,
    touches: Bools,
    collides: Bools,
    in_areas: Bools,
    frozen: Floats,
    elapsed: float,
    measures: Floats,
    judged: bool,
    areas: bool,
    somebody_down: bool,
    where: int,
    kicker: int,
    x: float,
    y: float,
) -> bool:
    """Whether somebody plays, nobody touches the ball, and everybody is where it may be.

    Where fouls are `judged`, whether nobody is to be called for colliding with itself, has entered or left a penalty
    area, or is down, if nobody was before; where they are not, whether nobody was down.
    """
    standing, end, edge, half_width = measures[0], measures[1], measures[2], measures[3]
    anybody = False
    if somebody_down and not judged:
        return False
    for slot in range(len(present)):
        if touches[slot]:
            return False
        side, number = slot // 11, slot % 11
        sign = 1.0 - 2.0 * side
        own_x, own_y = sign * position[slot, 0], sign * position[slot, 1]
        deep = False
        if present[slot]:
            anybody = True
            deep = edge < abs(own_x) <= end and abs(own_y) < half_width
            if where != ANYWHERE and _is_wrong(where, side == kicker, own_x, own_y, sign * x, sign * y, measures):
                return False
            if judged and position[slot, 2] < standing and not somebody_down:
                return False
            for limb in range(collides.shape[1] if judged else 0):
                if collides[slot, limb] and elapsed - frozen[side, number, limb] > measures[6]:
                    return False
        if judged and areas:
            own, theirs = deep and own_x < 0.0, deep and own_x > 0.0
            if in_areas[0, side, number] != own or in_areas[1, side, number] != theirs:
                return False
    return anybody


@kernel
def _is_wrong(
    where: int,
    kicks: bool,
    x: float,
    y: float,
    place_x: float,
    place_y: float,
    measures: Floats,
) -> bool:
    """Whether a player has to be moved, at (x, y) as its team sees the pitch; `kicks`: whether it has the kick."""
    edge, half_width, circle, distance = measures[2], measures[3], measures[4], measures[5]
    if where == HALVES:
        return x > 0.0
    if where == KICK_OFF:
        in_circle = math.hypot(x, y) < circle
        return (x > 0.0 and not in_circle) if kicks else (x > 0.0 or in_circle)
    if kicks:
        return False
    if where == CIRCLE:
        return bool(math.hypot(x - place_x, y - place_y) < distance)
    return bool(x > edge and abs(y) < half_width)


@kernel
def count_down_times(
    present: Bools,
    position: Floats,
    before: Floats,
    limits: Floats,
    times: Floats,
    flags: Bools,
) -> bool:
    """Fills times and flags (3, 2, 11) as `fouls.judge_incapable` does; False if it would decide anything.

    `limits` (9,) are a cycle's length, heights below which nobody stands or somebody lies, how far from the middle that
    counts, and times: until somebody has stood up, and then, of players and goalies, not standing and on the ground.
    """
    anybody, step = False, limits[0]
    not_standing, ground, standing = before[0], before[1], before[2]
    for side in range(2):
        for index in range(11):
            here = position[11 * side + index]
            low = present[11 * side + index] and here[2] < limits[1]
            counted = low and abs(here[1]) < limits[3]
            lying = counted and here[2] < limits[2]
            up = 0.0 if low else standing[side, index] + step
            stood_up = not low and up > limits[4] + TIME_TOLERANCE
            down = 0.0 if stood_up else not_standing[side, index] + (step if counted else 0.0)
            grounded = ground[side, index] + (step if lying else 0.0) if low else 0.0
            if grounded > 0.0 and ground[side, index] == 0.0:
                return False
            goalie = 1 if index == 0 else 0
            too_long = down > limits[5 + goalie] + TIME_TOLERANCE or grounded > limits[7 + goalie] + TIME_TOLERANCE
            if too_long and present[11 * side + index]:
                return False
            times[0, side, index], times[1, side, index], times[2, side, index] = down, grounded, up
            flags[0, side, index], flags[1, side, index], flags[2, side, index] = low, counted, lying
            anybody = anybody or low or down > 0.0 or grounded > 0.0
    return anybody
