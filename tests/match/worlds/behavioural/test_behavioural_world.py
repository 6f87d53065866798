"""Many matches at once, each as if it were alone; and what the referee is told of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.rules.decisions import MovePlayer, PlaceBall, SwapEnds
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.rules.slots import slot_of
from nutmeg.match.worlds.behavioural.settings import load_behaviour
from nutmeg.match.worlds.behavioural.state import KickKind, Legs, MatchesState, Posture
from nutmeg.match.worlds.behavioural.world import BehaviourWorld
from nutmeg.model.field import load_field

Make = Callable[..., BehaviourWorld]
LayDown = Callable[..., None]
PLAYERS = (0, 1, 2, 3, 11, 12, 13, 14)


def _line_up(world: BehaviourWorld) -> None:
    """Four against four at random places, the same for the same seed."""
    for match in range(world.count):
        rng = np.random.default_rng(int(world.state.seed[match]))
        for slot in PLAYERS:
            world.join(match, slot)
            world.place(match, slot, *rng.uniform((-1.5, -1.0, -3.0), (1.5, 1.0, 3.0)))


def _order(world: BehaviourWorld, match: int) -> None:
    """Everybody does something, the same for the same seed and cycle: mostly going for the ball and kicking it."""
    state, orders = world.state, world.orders
    rng = np.random.default_rng([int(state.seed[match]), int(state.cycle[match])])
    offset = state.ball[match] - state.pose[match, :, :2]
    bearing = np.arctan2(offset[:, 1], offset[:, 0]) - state.pose[match, :, 2]
    bearing = np.arctan2(np.sin(bearing), np.cos(bearing))
    near = (np.hypot(*offset.T) < 0.22) & (np.abs(bearing) < 0.6)
    orders.legs[match] = np.where(near, Legs.KICK, Legs.WALK)
    orders.legs[match, rng.integers(22)] = rng.integers(6)
    orders.legs[match, state.posture[match] == Posture.LYING] = Legs.GET_UP
    orders.wish[match, :, 0], orders.wish[match, :, 2] = 0.3 * np.cos(bearing), bearing
    orders.kick[match] = rng.integers(0, 4, 22)
    orders.look[match] = rng.normal(size=(22, 2))


def _play(world: BehaviourWorld, cycles: int, rows: list[int] | None = None) -> None:
    for _ in range(cycles):
        for match in range(world.count) if rows is None else rows:
            _order(world, match)
        world.step(None if rows is None else np.array(rows))


def _same(one: MatchesState, match: int, other: MatchesState, its: int) -> bool:
    return all(np.array_equal(a[match], vars(other)[name][its]) for name, a in vars(one).items())


def test_a_match_is_the_same_alone_in_a_batch_in_any_order_and_on_any_thread(make_world: Make) -> None:
    cycles = 60
    together = make_world(6, chance=True)
    _line_up(together)
    _play(together, cycles)
    alone = BehaviourWorld(load_behaviour("nao"), load_field("spl2011"), count=1, seeds=np.array([4], np.uint64))
    _line_up(alone)
    _play(alone, cycles)
    assert _same(alone.state, 0, together.state, 4)
    threads = make_world(6, chance=True)
    _line_up(threads)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda rows: _play(threads, cycles, rows), ([5, 0], [3, 1], [2, 4])))
    assert all(_same(threads.state, m, together.state, m) for m in range(6))
    assert not _same(together.state, 0, together.state, 1)


def test_a_long_wild_match_stays_finite_and_things_do_happen(make_world: Make) -> None:
    world = make_world(4, chance=True, fall__fast=0.05)
    _line_up(world)
    seen = {"touched": 0, "kicked": 0, "fell": 0, "contact": 0, "pushed": 0}
    postures = set()
    for _ in range(300):
        _play(world, 1)
        for name in seen:
            seen[name] += int(getattr(world.state, name).sum())
        postures |= set(world.state.posture[:, PLAYERS].ravel().tolist())
        if np.abs(world.state.ball).max() > 4:
            world.state.ball[:], world.state.ball_speed[:] = 0.0, 0.0
    records = (world.state.players, world.state.balls)
    assert all(np.isfinite(table[name]).all() for table in records for name in table.dtype.names)
    assert min(seen.values()) > 0
    assert postures == {int(p) for p in Posture}
    absent = [s for s in range(22) if s not in PLAYERS]
    assert not world.state.touched[:, absent].any()
    assert (world.state.cycle == 300).all()
    assert world.state.cycle[0] == 300


def test_only_the_chosen_matches_go_on(make_world: Make) -> None:
    world = make_world(3)
    world.state.ball_speed[:, 0] = 1.0
    world.step(np.array([2, 0]))
    assert world.state.cycle.tolist() == [1, 0, 1]
    assert (world.state.ball[:, 0] > 0).tolist() == [True, False, True]
    with pytest.raises(UsageError, match="matches 0 to 2"):
        world.step(np.array([3]))


def test_matches_may_have_settings_of_their_own() -> None:
    nao = load_behaviour("nao")
    quick = nao.changed({"ball.deceleration": 2.0})
    world = BehaviourWorld([nao, quick], load_field("spl2011"), count=2, seeds=np.zeros(2, np.uint64))
    world.state.ball_speed[:, 1] = 0.5
    for _ in range(40):
        world.step()
    assert world.state.ball[:, 1] == pytest.approx([0.5**2 / 0.5, 0.5**2 / 4.0])


def test_a_world_says_what_it_needs() -> None:
    nao, field = load_behaviour("nao"), load_field("spl2011")
    with pytest.raises(UsageError, match="one seed for each"):
        BehaviourWorld(nao, field, count=2, seeds=np.zeros(1, np.uint64))
    with pytest.raises(UsageError, match="got 1 settings"):
        BehaviourWorld([nao], field, count=2, seeds=np.zeros(2, np.uint64))


def test_players_join_once_leave_and_are_forgotten(make_world: Make, lay_down: LayDown) -> None:
    world = make_world(2)
    world.join(1, 3)
    assert world.state.present.sum() == 1
    with pytest.raises(UsageError, match="left4 plays already in match 1"):
        world.join(1, 3)
    lay_down(world, 1, 3, 1.0)
    world.orders.wish[1, 3] = 1.0
    world.leave(1, 3)
    assert not world.state.present.any()
    world.join(1, 3)
    assert world.state.posture[1, 3] == Posture.UPRIGHT
    assert not world.orders.wish.any()


def test_places_that_are_nowhere_are_refused(make_world: Make) -> None:
    world = make_world()
    world.join(0, 0)
    with pytest.raises(UsageError, match="left1 cannot be put"):
        world.place(0, 0, math.nan, 0.0, 0.0)
    with pytest.raises(UsageError, match="ball cannot be put"):
        world.place_ball(0, 0.0, 1e9)


def test_a_placed_player_is_at_rest_and_upright_only_with_a_heading(make_world: Make, lay_down: LayDown) -> None:
    world = make_world()
    world.join(0, 0)
    lay_down(world, 0, 0)
    world.place(0, 0, 1.0, 1.0)
    assert world.state.posture[0, 0] == Posture.LYING
    world.place(0, 0, 1.0, 1.0, 5 * math.pi / 2)
    assert world.state.posture[0, 0] == Posture.UPRIGHT
    assert world.state.pose[0, 0] == pytest.approx([1.0, 1.0, math.pi / 2])


def test_the_world_does_what_the_referee_decides(make_world: Make) -> None:
    world = make_world()
    slot = slot_of(Side.RIGHT, 3)
    world.join(0, slot)
    world.carry_out(0, MovePlayer(side=Side.RIGHT, number=3, place=(1.0, -2.0), heading=0.5, reason="pushing"))
    world.carry_out(0, MovePlayer(side=Side.LEFT, number=3, place=(1.0, -2.0), reason="nobody there"))
    world.carry_out(0, PlaceBall(place=(0.3, 0.4)))
    assert world.state.pose[0, slot] == pytest.approx([1.0, -2.0, 0.5])
    assert world.state.ball[0] == pytest.approx([0.3, 0.4])
    world.carry_out(0, SwapEnds())
    assert np.flatnonzero(world.state.present[0]).tolist() == [slot_of(Side.LEFT, 3)]
    assert world.state.pose[0, slot_of(Side.LEFT, 3)] == pytest.approx([1.0, -2.0, 0.5])


def test_ends_are_swapped_with_all_that_belongs_to_players_and_twice_is_not_at_all(make_world: Make) -> None:
    world = make_world(2, chance=True)
    _line_up(world)
    _play(world, 30)
    before, wish = deepcopy(world.state), world.orders.wish.copy()
    world.swap_ends(0)
    assert np.array_equal(world.state.contact[0], np.roll(before.contact[0], 11, axis=(0, 1)))
    assert np.array_equal(world.orders.wish[0, 11:], wish[0, :11])
    assert np.array_equal(world.state.pose[1], before.pose[1])
    world.swap_ends(0)
    assert all(_same(before, match, world.state, match) for match in range(2))


def test_facts_tell_the_referee_where_everybody_is_and_who_did_what(make_world: Make, lay_down: LayDown) -> None:
    world = make_world()
    for slot, x in ((0, 0.0), (12, 0.14)):
        world.join(0, slot)
        world.place(0, slot, x, 0.0, 0.0)
    world.join(0, 2)
    world.place(0, 2, -1.0, 1.0, math.pi / 2)
    lay_down(world, 0, 2)
    world.place_ball(0, 0.14, 0.3, 0.0, -2.0)
    world.orders.legs[0, 0], world.orders.wish[0, 0] = Legs.WALK, (0.2, 0.0, 0.0)
    world.state.pace[0, 0, 0] = 0.2
    wants = np.zeros(22, bool)
    wants[12] = True
    world.step()
    facts = world.facts(0, 0.3, wants)
    body = world.settings[0].body
    assert facts.time_step == 0.3
    assert facts.cycle == 0.1
    assert np.argwhere(facts.present).tolist() == [[0, 0], [0, 2], [1, 1]]
    assert facts.position[0, 2] == pytest.approx([-1.0, 1.0, body.lying_height])
    assert facts.position[1, 1, 2] == body.torso_height
    assert facts.ball == pytest.approx([*world.state.ball[0], world.ball_radius])
    assert facts.ball_before is not None
    assert facts.ball_before[:2] == pytest.approx([0.14, 0.3])
    assert facts.ball_velocity[:2] == pytest.approx(world.state.ball_speed[0])
    assert np.argwhere(facts.touches_ball).tolist() == [[1, 1]]
    assert np.argwhere(facts.wants_pass).tolist() == [[1, 1]]
    assert facts.contacts.tolist() == [[[0, 0], [1, 1]]]
    assert facts.contact_places.shape == (1, 2)
    assert facts.pushes.tolist() == [[[0, 0], [1, 1]]]
    assert facts.velocity[0, 0] == pytest.approx((world.state.pose[0, 0, :2] - [0.0, 0.0]) / 0.1, abs=1e-9)


def test_a_match_begun_anew_with_its_seed_is_the_same_again(make_world: Make) -> None:
    world = make_world(2, chance=True)
    _line_up(world)
    _play(world, 20)
    first = deepcopy(world.state)
    for match in range(2):
        world.reset(match, match)
    assert not world.state.present.any()
    _line_up(world)
    _play(world, 20)
    assert _same(first, 0, world.state, 0)
    assert _same(first, 1, world.state, 1)


def test_both_robots_play_on_every_pitch_with_goals() -> None:
    for field in ("spl2011", "spl2025", "sim3d"):
        for robot in ("nao", "nao-spark"):
            world = BehaviourWorld(load_behaviour(robot), load_field(field), count=1, seeds=np.ones(1, np.uint64))
            world.join(0, 0)
            place = (world.settings[0].kick.tip_ahead + 0.06, world.settings[0].kick.tip_aside)
            world.place(0, 0, 0.0, 0.0, 0.0)
            world.place_ball(0, *place)
            world.orders.legs[0, 0], world.orders.kick[0, 0] = Legs.KICK, KickKind.LEFT_STRAIGHT
            for _ in range(15):
                world.step()
            assert world.state.ball[0, 0] > 0.5
