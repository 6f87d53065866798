"""The behavioural world: M matches of robots without joints, in decision cycles of 0.1 s.

    seeds = np.arange(512, dtype=np.uint64)
    world = BehaviourWorld(load_behaviour("nao"), load_field("spl2011"), count=512, seeds=seeds)
    world.join(0, slot_of(Side.LEFT, 3))
    world.place(0, 2, x=-1.0, y=0.0, heading=0.0)
    world.orders.legs[0, 2], world.orders.wish[0, 2] = Legs.WALK, (0.2, 0.0, 0.0)
    world.step()                                        # all matches; or world.step(np.array([0, 7]))
    state, decisions = judge(state, world.facts(0), rules)
    for decision in decisions: world.carry_out(0, decision)

Seed 002 (NaOISIS). What can be kicked, how far and with what noise is in the settings, one for all matches or one for
each; sizes of pitch, goals and ball are the field's. The same seed gives the same match, whatever else is stepped.
Nothing keeps robots on the pitch: that is the referee's work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.angles import wrap_angle_exactly
from nutmeg.base.errors import UsageError
from nutmeg.base.kernels import kernel
from nutmeg.match.rules.decisions import Decision, MovePlayer, PlaceBall, SwapEnds
from nutmeg.match.rules.slots import SLOT_NAMES, SLOTS, slot_of, start_place
from nutmeg.match.rules.state import PLAYERS_SHAPE, Facts
from nutmeg.match.worlds.behavioural.ball import Goals, push_ball, roll_ball, strike
from nutmeg.match.worlds.behavioural.collisions import find_reaches, part_from_posts, part_robots
from nutmeg.match.worlds.behavioural.motion import CYCLE, STEP, SUBSTEPS, begin_cycle, end_cycle, end_postures, move
from nutmeg.match.worlds.behavioural.settings import BehaviourSettings, numbers_of
from nutmeg.match.worlds.behavioural.state import BALL, PLAYER, MatchesState, Orders, Posture, Rows, load, store
from nutmeg.match.worlds.physical.world import MAX_COORDINATE
from nutmeg.model.ball import load_ball

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats, Ints
    from nutmeg.model.field import FieldSettings


# ----------------------------------------------------------------------------------------------------
# A cycle of many matches of the behavioural world, compiled.
#
# A cycle of 0.1 s has five steps of 0.02 s: everybody walks, kicks meet the ball, postures end, robots part from each
# other and from posts, the ball is pushed and rolls. Matches share nothing, so any of them may be stepped at the same
# time on other threads: no lock is held.


@kernel
def step_matches(chosen: Ints, rows: Rows, numbers: Any, goals: Goals, players: Any, balls: Any) -> None:  # noqa: ANN401
    """One cycle of the matches `chosen` (K,).

    `numbers` (M,) are of `settings.NUMBERS`; `players` (22,) of `PLAYER` and `balls` (1,) of `BALL`, which has the
    radius, are room to work in that no other thread may use.
    """
    ball = balls[0]
    for m in chosen:
        own = numbers[m]
        here = players[: load(rows, m, players, ball)]
        contact, pushed = rows.contact[m], rows.pushed[m]
        contact[:], pushed[:] = False, 0
        begin_cycle(here, ball, own)
        for _ in range(SUBSTEPS):
            move(here, STEP)
            strike(here, ball, own, STEP)
            end_postures(here, ball, own, STEP)
            find_reaches(here, own)
            part_robots(here, ball, own, contact, pushed, STEP)
            part_from_posts(here, own, goals.posts, goals.post_radius, STEP)
            push_ball(here, ball, own)
            roll_ball(here, ball, own, goals, STEP)
        end_cycle(here, ball, own)
        store(rows, m, here, ball)


class BehaviourWorld:
    """M matches.

    Args:
        settings: what robots and ball can do, for all matches or (M) for each.
        field: a pitch with a ball.
        count: how many matches, M.
        seeds: (M,) uint64, the keys of everything random.
    """

    def __init__(
        self,
        settings: BehaviourSettings | Sequence[BehaviourSettings],
        field: FieldSettings,
        *,
        count: int,
        seeds: NDArray[np.uint64],
    ) -> None:
        each = [settings] * count if isinstance(settings, BehaviourSettings) else list(settings)
        if len(each) != count or np.shape(seeds) != (count,) or count < 1:
            raise UsageError(
                f"a world of {count} matches got {len(each)} settings and seeds of shape {np.shape(seeds)}; it "
                "needs at least one match, and one settings and one seed for each."
            )
        self.settings, self.field, self.count = tuple(each), field, count
        self.ball_radius = load_ball(field.ball).radius
        self.goals = goals_of(field)
        self.state, self.orders = MatchesState.new(count), Orders.new(count)
        self.state.seed[:] = seeds
        self.numbers = numbers_of(each)
        """(M,) the settings of each match, for kernels."""
        self.rows = Rows.of(self.state, self.orders)
        """State and orders, for kernels."""
        self._all = np.arange(count)
        self._heights = np.array([_heights(s) for s in each])

    # ---- who plays

    def join(self, match: int, slot: int) -> None:
        """Lets a player play, from its place beside the pitch's corner."""
        if self.state.present[match, slot]:
            raise UsageError(f"{SLOT_NAMES[slot]} plays already in match {match}; another number is needed.")
        self.state.present[match, slot] = True
        self._forget(match, slot)
        x, y, heading = start_place(slot, self.field.length, self.field.width)
        self.place(match, slot, x, y, heading)

    def leave(self, match: int, slot: int) -> None:
        """Takes a player out of a match."""
        self.state.present[match, slot] = False
        self._forget(match, slot)

    def _forget(self, match: int, slot: int) -> None:
        """Clears all that is known and ordered of a player, but whether it is there."""
        state, orders = self.state, self.orders
        for array in (
            state.pose, state.pace, state.speed, state.odometry, state.head, state.posture, state.busy, state.fallen_to,
            state.kick, state.strength, state.touched, state.kicked, state.fell, state.pushed, state.contact,
            orders.legs, orders.wish, orders.kick, orders.look,
        ):  # fmt: skip
            array[match, slot] = 0
        state.pushed[match, :, slot], state.contact[match, :, slot] = 0, False
        orders.strength[match, slot] = 1.0

    def reset(self, match: int, seed: int) -> None:
        """Begins a match anew with another seed: nobody there, the ball in the middle."""
        for slot in range(SLOTS):
            self.leave(match, slot)
        self.state.seed[match], self.state.cycle[match] = np.uint64(seed), 0
        self.place_ball(match, 0.0, 0.0)

    def swap_ends(self, match: int) -> None:
        """Lets every player change its slot for that of the same number on the other side."""
        turned = np.roll(np.arange(SLOTS), SLOTS // 2)
        for name, array in self.rows._asdict().items():
            if name not in ("seed", "cycle", "ball", "ball_before", "ball_speed"):
                array[match] = array[match][turned]
        for pairs in (self.state.pushed, self.state.contact):
            pairs[match] = pairs[match][:, turned]

    # ---- where things are put

    def place(self, match: int, slot: int, x: float, y: float, heading: float | None = None) -> None:
        """Puts a player somewhere at rest: upright with a heading [rad], or as it is and looking where it looks."""
        if not all(abs(number) <= MAX_COORDINATE for number in (x, y, heading or 0.0)):
            raise UsageError(
                f"{SLOT_NAMES[slot]} cannot be put at x={x}, y={y}, heading={heading}: places "
                f"are within {MAX_COORDINATE:g} m."
            )
        state = self.state
        state.pose[match, slot, :2] = x, y
        state.pace[match, slot] = state.speed[match, slot] = state.odometry[match, slot] = 0.0
        if heading is not None:
            state.pose[match, slot, 2] = wrap_angle_exactly(float(heading))
            state.posture[match, slot], state.busy[match, slot] = Posture.UPRIGHT, 0.0

    def lay_down(self, match: int, slot: int, to: float = 0.0) -> None:
        """Puts a player down on the ground where it is: on its belly (0), its back (pi) or a side (rad to the left)."""
        state = self.state
        state.posture[match, slot], state.busy[match, slot], state.fallen_to[match, slot] = Posture.LYING, 0.0, to
        state.pace[match, slot] = state.speed[match, slot] = 0.0

    def place_ball(self, match: int, x: float, y: float, vx: float = 0.0, vy: float = 0.0) -> None:
        """Puts the ball somewhere [m], with a velocity [m/s]."""
        if not all(abs(number) <= MAX_COORDINATE for number in (x, y, vx, vy)):
            raise UsageError(
                f"the ball cannot be put at ({x}, {y}) with velocity ({vx}, {vy}): places are "
                f"within {MAX_COORDINATE:g} m, velocities within {MAX_COORDINATE:g} m/s."
            )
        self.state.ball[match] = self.state.ball_before[match] = x, y
        self.state.ball_speed[match] = vx, vy

    def carry_out(self, match: int, decision: Decision) -> None:
        """Does what the referee decided; robots here have no limbs that could go limp, and events are for others."""
        match decision:
            case MovePlayer(side=side, number=number, place=(x, y), heading=heading):
                slot = slot_of(side, number)
                if self.state.present[match, slot]:
                    self.place(match, slot, x, y, heading)
            case PlaceBall(place=(x, y)):
                self.place_ball(match, x, y)
            case SwapEnds():
                self.swap_ends(match)
            case _:
                pass

    # ---- a cycle

    def step(self, rows: Ints | None = None) -> None:
        """One cycle of all matches, or of some of them (K,)."""
        chosen = self._all if rows is None else np.asarray(rows, np.int64)
        if rows is not None and len(chosen) and not 0 <= chosen.min() <= chosen.max() < self.count:
            raise UsageError(f"there are matches 0 to {self.count - 1}; asked for {chosen.min()} to {chosen.max()}.")
        players, balls = np.zeros(SLOTS, PLAYER), np.zeros(1, BALL)
        balls["radius"] = self.ball_radius
        step_matches(chosen, self.rows, self.numbers, self.goals, players, balls)

    def time(self, match: int) -> float:
        """Since the beginning of a match, s."""
        return float(self.state.cycle[match] * CYCLE)

    # ---- what is told

    def facts(self, match: int, time_step: float = CYCLE, wants_pass: Bools | None = None) -> Facts:
        """What the referee has to know of the last cycle of a match.

        Args:
            match: which.
            time_step: since the referee was last asked, s.
            wants_pass: (22,) who asks for pass mode.
        """
        state = self.state
        position = np.empty((SLOTS, 3))
        position[:, :2] = state.pose[match, :, :2]
        position[:, 2] = self._heights[match, state.posture[match]]
        ball, before, velocity = np.full(3, self.ball_radius), np.full(3, self.ball_radius), np.zeros(3)
        ball[:2], before[:2], velocity[:2] = state.ball[match], state.ball_before[match], state.ball_speed[match]
        pairs, places = self._contacts(match)
        return Facts.of(
            time_step=time_step,
            ball=ball,
            ball_velocity=velocity,
            present=state.present[match].reshape(PLAYERS_SHAPE).copy(),
            position=position.reshape(*PLAYERS_SHAPE, 3),
            velocity=self._velocities(match).reshape(*PLAYERS_SHAPE, 2),
            touches_ball=state.touched[match].reshape(PLAYERS_SHAPE).copy(),
            wants_pass=None if wants_pass is None else wants_pass.reshape(PLAYERS_SHAPE),
            contacts=pairs,
            contact_places=places,
            pushes=None if pairs is None else _sides(np.argwhere(state.pushed[match])),
            cycle=CYCLE,
            ball_before=before,
        )

    def _velocities(self, match: int) -> Floats:
        """(22, 2) of players over the pitch, m/s."""
        speed, heading = (
            self.state.speed[match],
            self.state.pose[match, :, 2] - self.state.speed[match, :, 2] * CYCLE / 2,
        )
        cos, sin = np.cos(heading), np.sin(heading)
        return np.stack([speed[:, 0] * cos - speed[:, 1] * sin, speed[:, 0] * sin + speed[:, 1] * cos], axis=-1)

    def _contacts(self, match: int) -> tuple[Ints | None, Floats | None]:
        """Who touches whom (K, 2, 2), and where (K, 2); None if nobody does."""
        if not self.state.contact[match].any():
            return None, None
        pairs = np.argwhere(np.triu(self.state.contact[match]))
        return _sides(pairs), self.state.pose[match, pairs, :2].mean(axis=1)


def _sides(slots: Ints) -> Ints:
    """Slots as side and index, with one more axis."""
    return np.stack(np.divmod(slots, PLAYERS_SHAPE[1]), axis=-1)


def _heights(settings: BehaviourSettings) -> list[float]:
    """Of the torso by posture [m]; half way up while getting up."""
    up, down = settings.body.torso_height, settings.body.lying_height
    return [up, up, down, (up + down) / 2, down, down]


def goals_of(field: FieldSettings) -> Goals:
    """Posts and nets of a pitch."""
    goal = field.goal
    if goal is None:
        return Goals(np.zeros((0, 2)), 0.0, np.zeros((0, 4)), float("inf"))
    x, y = field.length / 2 + goal.post_offset, goal.inner_width / 2 + goal.post_radius
    posts = np.array([(sign_x * x, sign_y * y) for sign_x in (-1, 1) for sign_y in (-1, 1)])
    nets = []
    for sign in (-1, 1):
        near, far = sorted((sign * x, sign * (x + goal.depth)))
        back = sign * (x + goal.depth)
        nets += [(near, -y, far, -y), (near, y, far, y), (back, -y, back, y)]
    return Goals(posts, goal.post_radius, np.array(nets), x - goal.post_radius)
