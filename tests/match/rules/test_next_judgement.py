"""When the next judgement is due."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nutmeg.match.rules import trainer
from nutmeg.match.rules.book import Foul, Rules, load_rules
from nutmeg.match.rules.clock import state_after_look, time_to_next_judgement, time_to_next_look
from nutmeg.match.rules.decisions import Decision, Event, MovePlayer, PlaceBall, SwapEnds
from nutmeg.match.rules.fouls import penalised
from nutmeg.match.rules.play_modes import PlayMode, Side
from nutmeg.match.rules.referee import judge
from nutmeg.match.rules.state import Facts, Held, MatchState, new_match

LEFT, RIGHT = Side.LEFT, Side.RIGHT
CYCLE = 0.1
STANDING, LYING = 0.33, 0.1


def hasty_rules(book: str) -> Rules:
    """A league's rules with short times, and without the fouls for which places matter in each cycle."""
    rules = load_rules(book).with_match(
        players=4, half_length=20.0, automatic_kick_off=True, wait_before_kick_off=0.5, goal_pause=0.5
    )
    known = rules.fouls
    fouls = dataclasses.replace(
        known,
        incapable=dataclasses.replace(known.incapable, ground_time=2.5, goalie_ground_time=3.5, not_standing_time=4.0),
        illegal_defence=dataclasses.replace(known.illegal_defence, on=False),
        charging=dataclasses.replace(known.charging, on=False),
        removal_time=0.0 if book == "sim3d" else 4.0,
        inactive=dataclasses.replace(known.inactive, on=book != "sim3d", time=2.0, look_interval=0.7, movement=0.2),
    )
    return dataclasses.replace(
        rules,
        fouls=fouls,
        restarts=dataclasses.replace(rules.restarts, pause=0.2, drop_ball_time=1.0),
        shoot_out=dataclasses.replace(rules.shoot_out, on=True, kick_time=2.0, rounds=1, most_rounds=1),
    )


class Kickabout:
    """Robots that wander, stop, fall, push and kick a rolling ball, and do what the referee decides."""

    def __init__(self, rules: Rules, rng: np.random.Generator) -> None:
        self.rules, self.rng = rules, rng
        self.size = np.array([rules.pitch.length, rules.pitch.width])
        self.present = np.zeros((2, 11), bool)
        self.present[:, :4] = True
        self.place = rng.uniform(-0.5, 0.5, (2, 11, 2)) * self.size
        self.walk = np.zeros((2, 11, 2))
        self.down = np.zeros((2, 11), int)
        self.ball, self.before, self.speed = np.zeros(2), np.zeros(2), np.zeros(2)
        self.low = np.zeros((2, 11), bool)
        self.changed, self.asks = False, False

    def step(self, out: np.ndarray[Any, Any]) -> dict[str, Any]:
        """One cycle; what has happened in it, as `Facts` wants it."""
        rng = self.rng
        wish = rng.random((2, 11, 1))
        way = self.ball - self.place
        near = self.present & (np.hypot(way[..., 0], way[..., 1]) < 0.4)
        self.walk = np.where(wish < 0.1, 0.1 * way, np.where(wish > 0.99, rng.normal(0, 0.2, (2, 11, 2)), self.walk))
        self.walk[near & (rng.random((2, 11)) < 0.3)] = 0.0
        self.down = np.maximum(self.down - 1, 0)
        falls = (rng.random((2, 11)) < 0.003) & self.present & ~out
        self.down[falls] = rng.integers(5, 50, int(falls.sum()))
        self.place += self.walk * ((self.down == 0) & ~out)[..., None]
        self.place = (
            np.clip(self.place, -0.55 * self.size, 0.55 * self.size) * ~out[..., None] + self.place * out[..., None]
        )
        self.before = self.ball.copy()
        self.ball = self.ball + self.speed * CYCLE
        self.speed = self.speed * 0.97
        if rng.random() < 0.02:  # off a post
            self.speed = -self.speed
        touches = near & (rng.random((2, 11)) < 0.02)
        if touches.any():
            self.speed = rng.normal(0, 0.1, 2) * self.size * (rng.random() < 0.7)
        pairs = np.zeros((0, 2, 2), np.int64)
        if rng.random() < 0.02:
            pairs = np.array([[[0, rng.integers(4)], [1, rng.integers(4)]]])
            pairs = pairs[:, ::-1] if rng.random() < 0.5 else pairs
        low = (self.down > 0) & self.present
        self.changed, self.low = bool((low != self.low).any()), low
        position = np.concatenate([self.place, np.where(low, LYING, STANDING)[..., None]], axis=-1)
        asks = near & (rng.random((2, 11)) < 0.02)
        return {
            "ball": np.array([*self.ball, 0.03]),
            "ball_velocity": np.array([*self.speed, 0.0]),
            "ball_before": np.array([*self.before, 0.03]),
            "present": self.present,
            "position": position,
            "touches_ball": touches,
            "contacts": pairs,
            "contact_places": np.zeros((len(pairs), 2)),
            "pushes": pairs,
            "wants_pass": asks,
            "cycle": CYCLE,
        }

    def carry_out(self, decisions: tuple[Decision, ...]) -> None:
        for decision in decisions:
            if isinstance(decision, MovePlayer):
                self.place[decision.side, decision.number - 1] = decision.place
            elif isinstance(decision, PlaceBall):
                self.ball, self.speed = np.array(decision.place), np.zeros(2)
            elif isinstance(decision, SwapEnds):
                self.place, self.down, self.low = -self.place[::-1], self.down[::-1].copy(), self.low[::-1].copy()


def interrupts(rules: Rules, world: Kickabout, happened: dict[str, Any]) -> bool:
    """Whether something happened in a cycle for which a judgement cannot wait, as `rules.clock` lists it."""
    events = happened["touches_ball"].any() or len(happened["contacts"]) or happened["wants_pass"].any()
    return bool(events or world.changed or (np.abs(world.ball) > (rules.pitch.length / 2, rules.pitch.width / 2)).any())


def told(decision: Decision) -> tuple[Any, ...]:
    """A decision, but for rounding errors of clocks."""
    found = dict(vars(decision))
    if isinstance(decision, Event):
        found["time"] = round(found["time"], 6)
        found["text"] = "" if decision.kind == "no_goal" else decision.text
    return (type(decision).__name__, *sorted((k, str(v)) for k, v in found.items()))


@pytest.mark.parametrize("book", ["spl2011", "sim3d"])
@settings(max_examples=7)
@given(seed=st.integers(0, 2**32 - 1), most=st.sampled_from([1.0, math.inf]))
def test_asking_only_when_it_may_matter_gives_the_same_decisions_as_asking_in_each_cycle(
    book: str, seed: int, most: float
) -> None:
    rules = hasty_rules(book)
    world = Kickabout(rules, np.random.default_rng(seed))
    always, seldom = new_match(), new_match()
    since, due, asked = 0.0, 0.0, 0
    for cycle in range(600):
        happened = world.step(penalised(always))
        always, decisions = judge(always, Facts.of(time_step=CYCLE, **happened), rules)
        since += CYCLE
        if since >= min(due, most) - 1e-6 or interrupts(rules, world, happened):
            seldom, same = judge(seldom, Facts.of(time_step=since, **happened), rules)
            assert [told(d) for d in same] == [told(d) for d in decisions], f"in cycle {cycle}"
            since, due, asked = 0.0, time_to_next_judgement(seldom, rules), asked + 1
        else:
            assert decisions == (), f"in cycle {cycle}"
        world.carry_out(decisions)
        if always.mode is PlayMode.GAME_OVER:
            break
    assert (seldom.mode, seldom.half, seldom.score) == (always.mode, always.half, always.score)
    assert always.mode is PlayMode.GAME_OVER
    assert asked < cycle + 1


def live(rules: Rules) -> MatchState:
    """A match in play."""
    facts = Facts.of(
        time_step=0.1, ball=np.zeros(3), present=np.ones((2, 11), bool), position=np.full((2, 11, 3), STANDING)
    )
    state, _ = trainer.set_play_mode(new_match(), rules, facts, PlayMode.PLAY_ON)
    return state


def test_it_is_quiet_until_the_next_look_or_the_end_of_the_half(spl: Rules) -> None:
    state = live(spl)
    assert time_to_next_judgement(state, spl) == pytest.approx(2.0)
    assert time_to_next_judgement(trainer.set_time(state, 599.0), spl) == pytest.approx(1.0)
    assert time_to_next_judgement(state, without_inspections(spl)) == pytest.approx(600.0)


def without_inspections(rules: Rules, **fouls: float) -> Rules:
    """Rules under which players may stand still, and with other numbers of fouls."""
    inactive = dataclasses.replace(rules.fouls.inactive, on=False)
    return dataclasses.replace(rules, fouls=dataclasses.replace(rules.fouls, inactive=inactive, **fouls))


def test_it_is_quiet_until_a_player_has_served_its_time_which_begins_after_it_was_held_up(spl: Rules) -> None:
    rules = without_inspections(spl, hold_time=0.5, removal_time=4.0)
    held = Held(side=LEFT, index=2, foul=Foul.PUSHING, stamp=1.0)
    state = dataclasses.replace(live(spl), elapsed=2.0, held=(held,))
    assert time_to_next_judgement(state, rules) == 0.0
    beside = dataclasses.replace(state, held=(dataclasses.replace(held, place=(0.0, 3.0)),))
    assert time_to_next_judgement(beside, rules) == pytest.approx(1.0 + 0.5 + 4.0 - 2.0)


def test_a_look_that_finds_nobody_need_not_be_asked_for(spl: Rules) -> None:
    state, place = live(spl), np.random.default_rng(3).uniform(1.0, 2.0, (2, 11, 2))
    position = np.concatenate([place, np.full((2, 11, 1), STANDING)], axis=-1)
    for _ in range(3):
        step = time_to_next_look(state, spl)
        assert step == pytest.approx(2.0)
        assert time_to_next_judgement(state, spl, looks=False) > 500.0
        facts = Facts.of(
            time_step=step, ball=np.zeros(3), present=np.ones((2, 11), bool), position=position, cycle=CYCLE,
            ball_before=np.zeros(3),
        )  # fmt: skip
        asked, decisions = judge(state, facts, spl)
        told_by_itself = state_after_look(state, step, place)
        assert decisions == ()
        for name in ("time", "mode_time", "elapsed", "mode", "down", "held", "score"):
            assert getattr(told_by_itself, name) == getattr(asked, name), name
        assert asked.still is not None
        assert told_by_itself.still is not None
        assert np.array_equal(told_by_itself.still.place, asked.still.place)
        assert np.array_equal(told_by_itself.still.since, asked.still.since)
        state = told_by_itself


def test_looks_are_asked_for_while_somebody_is_down_or_play_is_stopped(spl: Rules) -> None:
    state, position = live(spl), np.full((2, 11, 3), STANDING)
    assert time_to_next_look(new_match(), spl) == math.inf
    position[0, 2] = 1.0, 1.0, LYING
    facts = Facts.of(time_step=0.1, ball=np.zeros(3), present=np.ones((2, 11), bool), position=position)
    state, _ = judge(state, facts, spl)
    assert state.down is not None
    assert time_to_next_look(state, spl) == math.inf
    assert time_to_next_judgement(state, spl, looks=False) == time_to_next_judgement(state, spl)


def test_it_is_never_quiet_when_play_is_stopped_or_places_matter(spl: Rules, rules: Rules) -> None:
    assert time_to_next_judgement(new_match(), spl) == 0
    assert time_to_next_judgement(live(rules), rules) == 0
    over = dataclasses.replace(live(spl), mode=PlayMode.GAME_OVER)
    assert time_to_next_judgement(over, spl) == math.inf
