"""The working state of one judgement: a copy of the match's state, the facts, the rules, and the decisions.

`referee.judge` makes one `Judgement` for each cycle. The parts of the referee (`restarts`, `scoring`, `fouls`, ...) are
functions that take it, change its copy of the state and append decisions.

All computations about a side use that team's frame, in which it attacks towards +x: a place times `side.sign`. This
makes the referee fair: if the whole pitch is rotated by half a turn, all decisions are rotated with it.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.kernels import kernel
from nutmeg.match.rules.decisions import Decision, Event, EventKind, MovePlayer, Place, PlaceBall
from nutmeg.match.rules.play_modes import PlayMode, Side, side_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.match.rules.book import Foul, Rules
    from nutmeg.match.rules.state import Facts, Held, MatchState

    Allowed = Callable[[Floats], Bools]


TIME_TOLERANCE = 1e-6
"""Clocks are sums of cycles: times closer than this are the same, s."""
_BALL_REST_DISTANCE = 0.005
"""A ball nearer to its place than this lies where it was put, m."""
_CIRCLE_MARGIN = 1e-6
"""Players farther from the halfway line than the circle's radius plus this are outside the circle, despite rounding,
m."""


class Judgement:
    """The work of one judgement."""

    def __init__(self, state: MatchState, facts: Facts, rules: Rules) -> None:
        self.state, self.facts, self.rules = state.copy(), facts, rules
        """The state is a copy that the rules change; the caller's state stays as it is."""
        self.decisions: list[Decision] = []
        self.ball: tuple[float, float, float] = tuple(facts.ball.tolist())
        self.toucher: tuple[Side, int] | None = None
        """The player that touched the ball in this cycle, if any."""
        self.moved: list[tuple[Side, int]] = []
        """Players that were moved in this cycle."""
        self._active: Bools | None = None
        self._survey: Survey | None = None
        self._player_count: int | None = None

    @property
    def cycle(self) -> float:
        """How much of the time step the facts hold for, s."""
        step = self.facts.time_step
        return step if self.facts.cycle is None else min(self.facts.cycle, step)

    @cached_property
    def ball_before(self) -> tuple[float, float, float] | None:
        """Where the ball was one cycle ago, m."""
        given = self.facts.ball_before
        return self.state.ball_before if given is None else tuple(given.tolist())

    def set_mode(self, mode: PlayMode) -> None:
        """Go to another play mode, whose time begins now, and announce it."""
        self.state.mode, self.state.mode_time = mode, 0.0
        self.announce("play_mode", mode.wire_name, side=side_of(mode))

    def forget_kick(self) -> None:
        """Drop everything that is watched after a kick: its taker, goals that would not count, passes, offside."""
        state = self.state
        state.kick = state.no_score = state.pass_watch = state.in_offside = None

    def announce(
        self,
        kind: EventKind,
        text: str,
        *,
        side: Side | None = None,
        index: int | None = None,
        place: Place | None = None,
        foul: Foul | None = None,
    ) -> None:
        """Announce an event."""
        number = None if index is None else index + 1
        self.decisions.append(
            Event(kind=kind, time=self.state.time, side=side, number=number, place=place, foul=foul, text=text)
        )

    def call(self, foul: Foul, side: Side, index: int, text: str, place: Place | None = None) -> None:
        """Call a foul at the player's place or another one; penalties are decided elsewhere."""
        self.state.fouls += 1
        where = self.place_of(side, index) if place is None else place
        title = f"{foul.title}: {side.word} {index + 1} {text}"
        self.announce("foul", title, side=side, index=index, place=where, foul=foul)

    @property
    def ball_place(self) -> Place:
        """Where the ball is, seen from above, m."""
        return self.ball[0], self.ball[1]

    def place_of(self, side: Side, index: int) -> Place:
        """Where a player is, seen from above, m."""
        x, y = self.facts.position[side, index, :2].tolist()
        return x, y

    def put_ball(self, place: Place) -> None:
        """Decide that the ball lies at a place; says nothing if it does so already."""
        if not math.hypot(self.ball[0] - place[0], self.ball[1] - place[1]) <= _BALL_REST_DISTANCE:
            self.decisions.append(PlaceBall(place=place))

    def move(
        self,
        side: Side,
        index: int,
        place: Place,
        reason: str,
        *,
        height: float | None = None,
        heading: float | None = None,
    ) -> None:
        """Decide that a player is put somewhere."""
        self.decisions.append(
            MovePlayer(side=side, number=index + 1, place=place, height=height, heading=heading, reason=reason)
        )
        self.moved.append((side, index))
        self.planned[side, index] = place

    @cached_property
    def planned(self) -> Floats:
        """(2, 11, 2) where players are, or will be once they have been moved."""
        return self.facts.position[..., :2].copy()

    @property
    def active(self) -> Bools:
        """(2, 11) players that are present and do not serve a penalty."""
        if self._active is None:
            self._active = self.facts.present
            if self.state.held:
                self._active = self._active.copy()
                for held in self.state.held:
                    self._active[held.side, held.index] = False
        return self._active

    def hold(self, *held: Held) -> None:
        """Set the players that serve a penalty."""
        self.state.held = held
        self._active = self._survey = None

    @property
    def survey(self) -> Survey:
        """The extremes of where the active players are."""
        if self._survey is None:
            self._survey = survey_players(self.facts.position, self.active)
        return self._survey

    @property
    def player_count(self) -> int:
        """How many players are there, penalised ones included."""
        if self._player_count is None:
            self._player_count = int(np.count_nonzero(self.facts.present))
        return self._player_count

    @property
    def elapsed(self) -> float:
        """The referee's own clock, s."""
        return self.state.elapsed

    @property
    def is_drill(self) -> bool:
        """Whether there are too few players for restrictions on kicks to make sense."""
        return self.player_count <= self.rules.match.drill_players

    def doubtful(self) -> Side:
        """The side against which the referee decides if both are equally at fault: the one without the ball."""
        return self.state.starter.other if self.state.touch is None else self.state.touch.side.other


Survey = tuple[float, tuple[float, float]]
"""The lowest torso of all active players [m], and the foremost player of either side [m].

The foremost player is the one with the largest x in own coordinates. Without players, the values are inf and -inf.
"""


@kernel
def survey_players(position: Floats, active: Bools) -> Survey:
    """The extremes of the players' places, from which a rule can see that it applies to no player.

    Nearly all judgements find no foul. One pass of compiled code over 22 players takes 1 us, as long as each numpy
    operation of a rule; the rules themselves are applied only if an extreme is beyond a limit.

    Args:
        position: (2, 11, 3) positions of the torsos, m.
        active: (2, 11) whether a player counts.
    """
    lowest, left, right = np.inf, -np.inf, -np.inf
    for i in range(active.shape[1]):
        # The new number comes second: `min` and `max` then pass over one that is not a number, as the rules do.
        if active[0, i]:
            lowest, left = min(lowest, position[0, i, 2]), max(left, position[0, i, 0])
        if active[1, i]:
            lowest, right = min(lowest, position[1, i, 2]), max(right, -position[1, i, 0])
    return lowest, (left, right)


def sign_of(value: float, otherwise: float) -> float:
    """1.0 or -1.0 as a value is positive or negative; for zero, the sign of something else."""
    return math.copysign(1.0, value if value else otherwise)


# ----------------------------------------------------------------------------------------------------
# Moving players out of the way, to free places.
#
# rcssserver3d moves a player along x to a fixed distance and, since 0.7.1, tries places around that one until it
# finds a free one: not on another player, not in a goal, not in an own penalty area that is full already. Here the
# places tried are a grid of player radii around the preferred one, nearest first and backwards before forwards.
#
# All functions take the `Judgement` of one judgement; "own" coordinates are those in which the team attacks towards +x.


def own_places(judgement: Judgement, side: Side) -> Floats:
    """(11, 2) where the players of a side are, in own coordinates."""
    return judgement.facts.position[side, :, :2] * side.sign


def own_point(place: Place, side: Side) -> Place:
    """A place in own coordinates, or back."""
    return place[0] * side.sign, place[1] * side.sign


def clear_circle(judgement: Judgement, side: Side, centre: Place, reason: str) -> None:
    """Move the players of a side that are too near to a place: back towards their goal, or sideways at its line."""
    restarts, pitch = judgement.rules.restarts, judgement.rules.pitch
    own, middle = own_places(judgement, side), own_point(centre, side)
    near = np.hypot(own[:, 0] - middle[0], own[:, 1] - middle[1]) < restarts.distance
    near &= judgement.active[side]
    if not np.count_nonzero(near):
        return

    def allowed(places: Floats) -> Bools:
        far: Bools = np.hypot(places[:, 0] - middle[0], places[:, 1] - middle[1]) >= restarts.distance
        return far

    for index in np.flatnonzero(near).tolist():
        x, y = own[index].tolist()
        # Near the own goal line there is no room behind the ball: players go sideways, towards the middle.
        if middle[0] - restarts.move_distance < -pitch.length / 2:
            y = middle[1] + (restarts.move_distance if middle[1] < 0 else -restarts.move_distance)
        else:
            x = middle[0] - restarts.move_distance
        settle(judgement, side, index, (x, y), reason, allowed=allowed)


def clear_half(judgement: Judgement, side: Side, *, circle_allowed: bool, circle_forbidden: bool, reason: str) -> None:
    """Send the players of a side to their own half; the kicking side may stay in the circle, the other must not."""
    pitch, back = judgement.rules.pitch, -judgement.rules.restarts.move_distance
    # Nobody is wrong if the foremost player is in the own half and, where the circle matters, too far back to be in it.
    _, foremost = judgement.survey
    if foremost[side] <= (-pitch.circle_radius - _CIRCLE_MARGIN if circle_forbidden else 0.0):
        return
    own = own_places(judgement, side)
    wrong = (own[:, 0] > 0) & judgement.active[side]
    if circle_forbidden or (circle_allowed and np.count_nonzero(wrong)):
        in_circle = np.hypot(own[:, 0], own[:, 1]) < pitch.circle_radius
        wrong = (wrong & ~in_circle) if circle_allowed else wrong | (in_circle & judgement.active[side])
    if not np.count_nonzero(wrong):
        return

    def allowed(places: Floats) -> Bools:
        good: Bools = places[:, 0] <= 0
        if circle_forbidden:
            good = good & (np.hypot(places[:, 0], places[:, 1]) >= pitch.circle_radius)
        return good

    for index in np.flatnonzero(wrong).tolist():
        settle(judgement, side, index, (back, float(own[index, 1])), reason, allowed=allowed)


def clear_area(judgement: Judgement, side: Side, reason: str) -> None:
    """Move the players of a side out of the opponents' penalty area."""
    pitch = judgement.rules.pitch
    own = own_places(judgement, side)
    edge, half_width = pitch.length / 2 - pitch.penalty_depth, pitch.penalty_width / 2
    inside = (own[:, 0] > edge) & (np.abs(own[:, 1]) < half_width) & judgement.active[side]
    for index in np.flatnonzero(inside).tolist():
        settle(judgement, side, index, (edge - judgement.rules.restarts.move_distance, float(own[index, 1])), reason)


def repel(judgement: Judgement, side: Side, centre: Place, nearest: float, to: float, reason: str) -> None:
    """Push the players of a side that are nearer to a place than `nearest` straight away from it, to a distance."""
    own, middle = own_places(judgement, side), own_point(centre, side)
    away = own - middle
    distance = np.hypot(away[:, 0], away[:, 1])
    near = (distance < nearest) & judgement.active[side]

    def allowed(places: Floats) -> Bools:
        far: Bools = np.hypot(places[:, 0] - middle[0], places[:, 1] - middle[1]) >= nearest
        return far

    for index in np.flatnonzero(near).tolist():
        gap = float(distance[index])
        x, y = (away[index] / gap).tolist() if gap > 1e-9 else (-1.0, 0.0)
        settle(judgement, side, index, (middle[0] + to * x, middle[1] + to * y), reason, allowed=allowed)


def settle(
    judgement: Judgement,
    side: Side,
    index: int,
    wish: Place,
    reason: str,
    *,
    allowed: Allowed | None = None,
    room: float | None = None,
    heading: float | None = None,
) -> Place:
    """Move a player to the free place nearest to a preferred one, which is used if none is free, in own coordinates.

    Returns the place on the pitch; `heading` is on the pitch, too.
    """
    restarts = judgement.rules.restarts
    room = 2 * restarts.player_radius if room is None else room
    places = np.array(wish) + offsets(restarts.player_radius, restarts.move_attempts)
    taken = _taken(judgement, side, index)
    found = wish
    for tried in (places[:1], places[1:]):  # the preferred place is nearly always free
        good = _free(judgement, side, index, tried, taken, room)
        if allowed is not None:
            good &= allowed(tried)
        if good.any():
            found = tuple(tried[int(np.argmax(good))].tolist())
            break
    place = own_point(found, side)
    judgement.move(side, index, place, reason, heading=heading)
    return place


def _taken(judgement: Judgement, side: Side, index: int) -> Floats:
    """(M, 2) places of the other players in own coordinates; moves of the other side in this cycle are not counted."""
    # Decisions must not depend on which side is judged first, so moves of the other side are not seen.
    others = judgement.facts.present.copy()
    others[side, index] = False
    own, theirs = judgement.planned[side][others[side]], judgement.facts.position[side.other, :, :2][others[side.other]]
    taken: Floats = np.concatenate([own, theirs]) * side.sign
    return taken


def _free(judgement: Judgement, side: Side, index: int, places: Floats, taken: Floats, room: float) -> Bools:
    """(C,) which places have room for a player, and are not in a goal or in a full own area."""
    pitch, radius = judgement.rules.pitch, judgement.rules.restarts.player_radius
    gaps = places[:, None, :] - taken[None]
    good: Bools = np.logical_and.reduce(np.hypot(gaps[..., 0], gaps[..., 1]) >= room, axis=1)
    x, y = places[:, 0], np.abs(places[:, 1])
    # Nobody is put into a goal.
    good &= ~((np.abs(x) > pitch.length / 2) & (y < pitch.goal_width / 2 + radius))
    if _own_area_is_full(judgement, side, index):
        edge = -pitch.length / 2 + pitch.penalty_depth
        good &= ~((x < edge + radius) & (y < pitch.penalty_width / 2 + radius))
    return good


def _own_area_is_full(judgement: Judgement, side: Side, index: int) -> bool:
    """Whether one more player in the own penalty area would be a foul; `index` may stay if it is there already."""
    rules = judgement.rules.fouls.illegal_defence
    inside = judgement.state.in_areas[0, side]
    return rules.on and not inside[index] and int(np.count_nonzero(inside)) >= rules.most


@lru_cache(maxsize=8)
def offsets(spacing: float, count: int) -> Floats:
    """(count, 2) a grid around a place, nearest first, backwards before forwards."""
    reach = int(np.ceil(np.sqrt(count))) + 1
    steps = range(-reach, reach + 1)
    grid = sorted(((x, y) for x in steps for y in steps), key=lambda p: (p[0] ** 2 + p[1] ** 2, p[0], -p[1]))
    found = np.array(grid[:count], float) * spacing
    found.flags.writeable = False
    return found
