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

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angle_kernels import wrap_angle_exactly
from nutmeg.base.constants import BEHAVIOURAL_CYCLE
from nutmeg.base.errors import UsageError
from nutmeg.base.kernels import inlined, kernel
from nutmeg.match.rules.decisions import Decision, MovePlayer, PlaceBall, SwapEnds
from nutmeg.match.rules.slots import SLOT_NAMES, SLOTS, slot_of, start_place
from nutmeg.match.rules.state import PLAYERS_SHAPE, Facts
from nutmeg.match.worlds.behavioural.ball import Goals, push_ball, roll_ball, strike
from nutmeg.match.worlds.behavioural.collisions import find_reaches, part_from_posts, part_robots
from nutmeg.match.worlds.behavioural.landmarks import goal_posts_of
from nutmeg.match.worlds.behavioural.motion import STEP, SUBSTEPS, begin_cycle, end_cycle, end_postures, move
from nutmeg.match.worlds.behavioural.settings import BehaviourSettings, numbers_of
from nutmeg.match.worlds.behavioural.state import PLAYER, MatchesState, Orders, Posture
from nutmeg.match.worlds.physical.world import MAX_COORDINATE
from nutmeg.model.ball import load_ball

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nutmeg.base.arrays import Bools, Floats, Ints, SmallInts
    from nutmeg.base.records import Records
    from nutmeg.match.worlds.behavioural.state import Ball, Player
    from nutmeg.model.field import FieldSettings


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
        self.goals = _goals_of(field)
        self.state = MatchesState(count, self.ball_radius)
        self.orders = Orders(self.state)
        self.state.seed[:] = seeds
        self.numbers = numbers_of(each)
        """(M,) the settings of each match, for kernels."""
        self._all = np.arange(count)
        self._heights = np.array([_heights(s) for s in each])

    # ---- players

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
        """Clears the state and the command of a player, but not whether it is there."""
        state, record = self.state, np.zeros((), PLAYER)
        record["slot"], record["present"], record["order_strength"] = slot, state.present[match, slot], 1.0
        state.players[match, slot] = record
        state.pushed[match, slot], state.contact[match, slot] = 0, False
        state.pushed[match, :, slot], state.contact[match, :, slot] = 0, False

    def reset(self, match: int, seed: int) -> None:
        """Resets a match with another seed: no players, and the ball in the middle."""
        for slot in range(SLOTS):
            self.leave(match, slot)
        self.state.seed[match], self.state.cycle[match] = np.uint64(seed), 0
        self.place_ball(match, 0.0, 0.0)

    def swap_ends(self, match: int) -> None:
        """Lets every player change its slot for that of the same number on the other side."""
        state, half = self.state, SLOTS // 2
        state.players[match] = np.roll(state.players[match], half)
        state.players["slot"][match] = np.arange(SLOTS)
        for pairs in (state.pushed, state.contact):
            pairs[match] = np.roll(pairs[match], (half, half), axis=(0, 1))

    # ---- placing

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
        state = self.state
        step_matches(chosen, state.players, state.balls, state.contact, state.pushed, self.numbers, self.goals)

    # ---- facts for the referee

    def facts(self, match: int, time_step: float = BEHAVIOURAL_CYCLE, wants_pass: Bools | None = None) -> Facts:
        """The facts of the last cycle of a match for the referee.

        Args:
            match: row of the match.
            time_step: time since the last judgement, s.
            wants_pass: (22,) requests for pass mode.
        """
        state = self.state
        position, moves = np.empty((SLOTS, 3)), np.empty((SLOTS, 2))
        _fill_motion(state.players[match], self._heights[match], position, moves)
        ball, before, velocity = np.full(3, self.ball_radius), np.full(3, self.ball_radius), np.zeros(3)
        ball[:2], before[:2], velocity[:2] = state.ball[match], state.ball_before[match], state.ball_speed[match]
        pairs, places = self._contacts(match)
        return Facts.of(
            time_step=time_step,
            ball=ball,
            ball_velocity=velocity,
            present=state.present[match].reshape(PLAYERS_SHAPE).copy(),
            position=position.reshape(*PLAYERS_SHAPE, 3),
            velocity=moves.reshape(*PLAYERS_SHAPE, 2),
            touches_ball=state.touched[match].reshape(PLAYERS_SHAPE).copy(),
            wants_pass=None if wants_pass is None else wants_pass.reshape(PLAYERS_SHAPE),
            contacts=pairs,
            contact_places=places,
            pushes=None if pairs is None else _sides(np.argwhere(state.pushed[match])),
            cycle=BEHAVIOURAL_CYCLE,
            ball_before=before,
        )

    def _contacts(self, match: int) -> tuple[Ints | None, Floats | None]:
        """Contacts between players (K, 2, 2), and their places (K, 2); None if there are none."""
        if not self.state.contact[match].any():
            return None, None
        pairs = np.argwhere(np.triu(self.state.contact[match]))
        return _sides(pairs), self.state.pose[match, pairs, :2].mean(axis=1)


@kernel
def _fill_motion(players: Records[Player], heights: Floats, position: Floats, velocity: Floats) -> None:
    """Fills in where the torsos of players (22,) are, (22, 3), and how fast they move over the pitch, (22, 2)."""
    for i in range(len(players)):
        player = players[i]
        position[i, 0], position[i, 1], position[i, 2] = player.x, player.y, heights[player.posture]
        # The velocity of a cycle is that of its middle, half a turn before the present heading.
        heading = player.heading - player.turn * BEHAVIOURAL_CYCLE / 2
        c, s = math.cos(heading), math.sin(heading)
        velocity[i, 0] = player.ahead * c - player.left * s
        velocity[i, 1] = player.ahead * s + player.left * c


def _sides(slots: Ints) -> Ints:
    """Slots as side and index, with one more axis."""
    return np.stack(np.divmod(slots, PLAYERS_SHAPE[1]), axis=-1)


def _heights(settings: BehaviourSettings) -> list[float]:
    """The heights of the torso by posture [m]; half way up while getting up."""
    up, down = settings.body.torso_height, settings.body.lying_height
    return [up, up, down, (up + down) / 2, down, down]


def _goals_of(field: FieldSettings) -> Goals:
    """Posts and nets of a pitch."""
    goal, posts = field.goal, goal_posts_of(field)
    if goal is None:
        return Goals(posts, 0.0, np.zeros((0, 4)), float("inf"))
    x, y = np.abs(posts[0]).tolist()
    nets = []
    for sign in (-1, 1):
        near, far = sorted((sign * x, sign * (x + goal.depth)))
        back = sign * (x + goal.depth)
        nets += [(near, -y, far, -y), (near, y, far, y), (back, -y, back, y)]
    return Goals(posts, goal.post_radius, np.array(nets), x - goal.post_radius)


@kernel
def step_matches(
    chosen: Ints,
    players: Records[Records[Player]],
    balls: Records[Ball],
    contacts: Bools,
    pushes: SmallInts,
    numbers: Records[BehaviourSettings],
    goals: Goals,
) -> None:
    """One cycle of the matches `chosen` (K,), in five steps of 0.02 s.

    Matches share nothing, so any of them may be stepped at the same time on other threads: no lock is held. The
    present players of a match are copied to a small array and back, so that loops over pairs do not visit absent ones.
    """
    room: Records[Player] = np.empty(SLOTS, PLAYER)  # type: ignore[assignment]
    for m in chosen:
        ball, own, contact, pushed = balls[m], numbers[m], contacts[m], pushes[m]
        here = room[: _gather(players[m], room)]
        contact[:], pushed[:] = False, 0
        ball.before_x, ball.before_y = ball.x, ball.y
        # Decisions are taken once a cycle; motion, ball and collisions need shorter steps.
        begin_cycle(here, ball, own)
        for _ in range(SUBSTEPS):
            move(here, STEP)
            # The order within a step matters: kicks before the ball is pushed, or feet would push it out of the kick's
            # reach; robots are parted before it rolls, so that it bounces off places that are final.
            strike(here, ball, own, STEP)
            end_postures(here, ball, own, STEP)
            find_reaches(here, own)
            part_robots(here, ball, own, contact, pushed, STEP)
            part_from_posts(here, own, goals.posts, goals.post_radius, STEP)
            push_ball(here, ball, own)
            roll_ball(here, ball, own, goals, STEP)
        end_cycle(here, ball, own)
        ball.cycle += 1
        for k in range(len(here)):
            players[m][here[k].slot] = here[k]


@kernel
def _gather(players: Records[Player], room: Records[Player]) -> int:
    """Copies the present players of a match for a cycle, and returns how many there are."""
    count = 0
    for i in range(SLOTS):
        if not players[i].present:
            continue
        room[count] = players[i]
        player = room[count]
        count += 1
        player.touched, player.kicked, player.fell = False, False, False
        player.start_x, player.start_y, player.start_heading = player.x, player.y, player.heading
        player.cos, player.sin = math.cos(player.heading), math.sin(player.heading)
        player.vx, player.vy, player.risk, player.shove_x, player.shove_y = 0.0, 0.0, 0.0, 0.0, 0.0
    return count


@kernel
def beam_player(players: Records[Player], slot: int, x: float, y: float, degrees: float) -> None:
    """Beams one of the players of a match (22,), for callers in Python."""
    beam(players[slot], x, y, degrees)


@inlined
def beam(player: Player, x: float, y: float, degrees: float) -> None:
    """Puts a player upright into its own half, at a place as its team sees it [m, m, degrees]."""
    left = player.slot < SLOTS // 2
    sign, turn = (1.0, 0.0) if left else (-1.0, math.pi)
    player.x, player.y = sign * min(x, 0.0), sign * y
    player.heading = wrap_angle_exactly(degrees * (math.pi / 180.0) + turn)
    player.pace_ahead, player.pace_left, player.pace_turn = 0.0, 0.0, 0.0
    player.ahead, player.left, player.turn = 0.0, 0.0, 0.0
    player.odometry_ahead, player.odometry_left, player.odometry_turn = 0.0, 0.0, 0.0
    player.posture, player.busy = Posture.UPRIGHT, 0.0
