"""Cycles about which the referee has nothing to say."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nutmeg.match.rules import trainer
from nutmeg.match.rules.book import Rules, load_rules
from nutmeg.match.rules.calm import Calm
from nutmeg.match.rules.decisions import Decision, MovePlayer, PlaceBall, SwapEnds
from nutmeg.match.rules.play_modes import GOAL_KICKS, PASSES, RESTARTS, PlayMode
from nutmeg.match.rules.referee import judge
from nutmeg.match.rules.slots import SLOTS
from nutmeg.match.rules.state import Facts, MatchState, new_match

CYCLE = 0.02
STANDING, LYING = 0.38, 0.1
MODES = [mode for mode in PlayMode if mode is not PlayMode.GAME_OVER]


def hasty_rules(**match: Any) -> Rules:
    """The league's rules with short times."""
    rules = load_rules("sim3d").with_match(
        half_length=9.0, automatic_kick_off=True, wait_before_kick_off=0.5, goal_pause=0.5, **match
    )
    incapable = dataclasses.replace(
        rules.fouls.incapable, ground_time=0.5, goalie_ground_time=1.0, not_standing_time=0.8, stood_up_time=0.1
    )
    return dataclasses.replace(
        rules,
        fouls=dataclasses.replace(rules.fouls, incapable=incapable),
        restarts=dataclasses.replace(rules.restarts, pause=0.2, drop_ball_time=1.0),
    )


class Pottering:
    """Robots that potter about, seldom fall, touch the ball or each other, and do what the referee decides."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.present = rng, rng.random(SLOTS) < 0.6
        self.position = np.column_stack([rng.uniform(-15, 15, SLOTS), rng.uniform(-10, 10, SLOTS), np.zeros(SLOTS)])
        self.ball, self.rolls = np.array([0.0, 0.0, 0.042]), np.zeros(3)
        self.down = np.zeros(SLOTS, int)

    def step(self) -> SimpleNamespace:
        rng = self.rng
        self.down = np.maximum(self.down - 1, 0)
        if rng.random() < 0.01:
            self.down[rng.integers(SLOTS)] = rng.integers(1, 60)
        self.position[:, :2] += rng.normal(0, 0.004, (SLOTS, 2))
        self.position[:, 2] = np.where(self.down > 0, LYING if rng.random() < 0.98 else 0.2, STANDING)
        if rng.random() < 0.01:
            self.rolls[:2] = rng.normal(0, 3.0, 2) * (rng.random() < 0.7)
        self.ball = self.ball + self.rolls * CYCLE
        self.rolls = 0.98 * self.rolls
        touches, collides = np.zeros(SLOTS, bool), np.zeros((SLOTS, 4), bool)
        touches[rng.integers(SLOTS)] = rng.random() < 0.01
        collides[rng.integers(SLOTS), rng.integers(4)] = rng.random() < 0.01
        collides[3, 1] = self.down.any()
        return SimpleNamespace(
            present=self.present,
            position=self.position.copy(),
            velocity=rng.normal(0, 0.3, (SLOTS, 2)),
            touches=touches & self.present,
            collides=collides & self.present[:, None],
            pairs=int(rng.random() < 0.01),
            ball=self.ball.copy(),
        )

    def facts(self, scene: SimpleNamespace) -> Facts:
        return Facts.of(
            time_step=CYCLE,
            ball=scene.ball,
            present=scene.present.reshape(2, 11),
            position=scene.position.reshape(2, 11, 3),
            velocity=scene.velocity.reshape(2, 11, 2),
            touches_ball=scene.touches.reshape(2, 11),
            contacts=np.array([[[0, 1], [1, 2]]] * scene.pairs, np.int64).reshape(-1, 2, 2),
            contact_places=np.zeros((scene.pairs, 2)),
            self_collision=scene.collides.reshape(2, 11, 4),
        )

    def carry_out(self, decisions: tuple[Decision, ...]) -> None:
        for decision in decisions:
            if isinstance(decision, MovePlayer):
                self.position[11 * decision.side + decision.number - 1, :2] = decision.place
            elif isinstance(decision, PlaceBall):
                self.ball, self.rolls = np.array([*decision.place, 0.042]), np.zeros(3)
            elif isinstance(decision, SwapEnds):
                self.position[:, :2] *= -1.0


def same(one: Any, other: Any) -> bool:
    """Whether two values of a state are the same to the last bit."""
    if dataclasses.is_dataclass(one) and dataclasses.is_dataclass(other):
        return type(one) is type(other) and all(same(v, getattr(other, k)) for k, v in vars(one).items())
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def played(rules: Rules, seed: int, cycles: int) -> tuple[Counter[PlayMode], Counter[PlayMode], int]:
    """Plays, and compares calm cycles with their judgement; calm and other cycles by mode, and calm ones with falls."""
    rng = np.random.default_rng(seed)
    world, state, calm = Pottering(rng), new_match(), Calm(rules, cycle=CYCLE)
    calm_ones: Counter[PlayMode] = Counter()
    others: Counter[PlayMode] = Counter()
    lying, wishes = 0, itertools.cycle(MODES[7 * seed :] + MODES[: 7 * seed])
    for _ in range(cycles):
        scene = world.step()
        after = calm.after(state, scene)
        mode = state.mode
        judged, decisions = judge(state, world.facts(scene), rules)
        if after is not None:
            assert decisions == (), f"{mode.name}: {decisions}"
            assert same(after, judged), f"{mode.name}: {differences(after, judged)}"
            lying += after.down is not None
        (others if after is None else calm_ones)[mode] += 1
        state = judged
        world.carry_out(decisions)
        if rng.random() < 0.02 and state.mode is not PlayMode.GAME_OVER:
            state, decisions = trainer.set_play_mode(state, rules, world.facts(scene), next(wishes))
            world.carry_out(tuple(decisions))
    return calm_ones, others, lying


def differences(one: MatchState, other: MatchState) -> list[str]:
    return [name for name, value in vars(one).items() if not same(value, getattr(other, name))]


@pytest.mark.parametrize("match", [{}, {"start_anywhere": True, "swap_ends": True}])
def test_a_calm_cycle_is_what_the_referee_makes_of_it_in_every_mode(match: dict[str, Any]) -> None:
    calm, others, lying = Counter[PlayMode](), Counter[PlayMode](), 0
    for seed in range(3):
        some, rest, down = played(hasty_rules(**match), seed, 1100)
        calm, others, lying = calm + some, others + rest, lying + down
    for mode in PlayMode:
        assert mode in PASSES or calm[mode] > 0, mode.name
    assert lying > 100
    assert sum(others[mode] for mode in (*RESTARTS, PlayMode.PLAY_ON)) > 100
    assert all(others[mode] > 0 for mode in GOAL_KICKS)


def test_where_everything_has_to_be_watched_no_cycle_is_calm() -> None:
    rules = load_rules("spl2011")
    calm, others, _ = played(rules, 1, 50)
    assert not calm
    assert sum(others.values()) == 50


def test_a_ball_that_is_no_number_is_left_to_the_referee() -> None:
    rules, world = load_rules("sim3d"), Pottering(np.random.default_rng(0))
    state, _ = trainer.set_play_mode(new_match(), rules, world.facts(world.step()), PlayMode.PLAY_ON)
    world.ball = np.array([np.nan, 0.0, 0.0])
    assert Calm(rules, cycle=CYCLE).after(state, world.step()) is None
