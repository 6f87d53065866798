"""The referee as a whole: what holds whatever happens on the pitch."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from nutmeg.match.rules import trainer
from nutmeg.match.rules.book import OffsideRules, Rules, load_rules
from nutmeg.match.rules.decisions import Decision, Event, FreezeLimbs, MovePlayer, PlaceBall, SwapEnds
from nutmeg.match.rules.fouls import penalised
from nutmeg.match.rules.play_modes import KICK_OFFS, PlayMode, Side, ball_is_live, mirrored
from nutmeg.match.rules.referee import judge
from nutmeg.match.rules.state import Facts, MatchState, new_match

GOALS = (PlayMode.GOAL_LEFT, PlayMode.GOAL_RIGHT)
BOOKS = ("sim3d", "spl2011")


def lively_rules(book: str, *, swap_ends: bool, shoot_out: bool) -> Rules:
    """A league's rules with everything switched on and everything short."""
    rules = load_rules(book).with_match(
        players=11,
        half_length=1.0 if shoot_out else 10.0,
        extra_half_length=4.0,
        extra_time=not shoot_out,
        swap_ends=swap_ends,
        automatic_kick_off=True,
        wait_before_kick_off=0.5,
        goal_pause=0.5,
    )
    fouls = dataclasses.replace(
        rules.fouls,
        incapable=dataclasses.replace(rules.fouls.incapable, ground_time=1.0, not_standing_time=2.0),
        illegal_attack=dataclasses.replace(rules.fouls.illegal_attack, on=True),
        crowding=dataclasses.replace(rules.fouls.crowding, on=True),
        charging=dataclasses.replace(rules.fouls.charging, immunity=0.1, moved_immunity=0.1, collision_time=0.0),
        removal_time=0.0 if book == "sim3d" else 1.5,
        pushing=dataclasses.replace(rules.fouls.pushing, on=book != "sim3d", moved_immunity=0.1),
        inactive=dataclasses.replace(rules.fouls.inactive, on=book != "sim3d", look_interval=0.2, movement=1, time=0.4),
    )
    return dataclasses.replace(
        rules,
        fouls=fouls,
        offside=OffsideRules(on=True),
        restarts=dataclasses.replace(rules.restarts, pause=0.2, drop_ball_time=2.0),
        shoot_out=dataclasses.replace(rules.shoot_out, on=shoot_out, kick_time=3.0, rounds=1, most_rounds=2),
    )


def random_facts(rng: np.random.Generator, rules: Rules, ball: np.ndarray[Any, Any], step: float) -> Facts:
    """Facts of a wild game: players near the ball as often as not, fallen ones, collisions, pushes, requests."""
    present = rng.random((2, 11)) < 0.9
    x, y = rules.pitch.length / 2 + 1, rules.pitch.width / 2 + 1
    position = rng.uniform([-x, -y, 0.3], [x, y, 0.4], (2, 11, 3))
    near = rng.random((2, 11)) < 0.3
    position[near, :2] = ball[:2] + rng.normal(0, 0.7, (int(near.sum()), 2))
    position[rng.random((2, 11)) < 0.1, 2] = 0.1
    quiet = rng.random() < 0.2  # one player at the ball, nobody else near
    if quiet:
        position[..., 0] = np.where(np.abs(position[..., 0] - ball[0]) < 1.1, ball[0] + 3, position[..., 0])
        position[int(rng.integers(2)), int(rng.integers(11)), :2] = ball[:2] + 0.1
    distance = np.hypot(position[..., 0] - ball[0], position[..., 1] - ball[1])
    touches = present & (distance < 0.6) & (rng.random((2, 11)) < 0.5) & (not quiet)
    contacts = rng.integers(0, [2, 11], (int(rng.integers(0, 5)), 2, 2))
    contacts = contacts[(contacts[:, 0] != contacts[:, 1]).any(axis=1)]
    long_step = rng.random() < 0.2
    return Facts.of(
        time_step=step,
        ball=ball,
        ball_velocity=rng.normal(0, 1, 3) * (not quiet),
        present=present,
        position=position,
        velocity=rng.normal(0, 0.6, (2, 11, 2)),
        touches_ball=touches,
        wants_pass=rng.random((2, 11)) < 0.5,
        contacts=contacts,
        contact_places=rng.uniform(-10, 10, (len(contacts), 2)),
        self_collision=rng.random((2, 11, 4)) < 0.02,
        pushes=contacts[rng.random(len(contacts)) < 0.5],
        cycle=step / 2 if long_step else None,
        ball_before=ball * 0.95 if long_step else None,
    )


class WildGame(RuleBasedStateMachine):
    """Anything may happen on the pitch; these things hold."""

    @initialize(
        book=st.sampled_from(BOOKS), seed=st.integers(0, 2**32 - 1), swap=st.booleans(), shoot_out=st.booleans()
    )
    def begin(self, book: str, seed: int, swap: bool, shoot_out: bool) -> None:
        self.rng = np.random.default_rng(seed)
        self.rules = lively_rules(book, swap_ends=swap, shoot_out=shoot_out)
        self.state = new_match(kick_off=Side(int(self.rng.integers(2))))
        self.ball = np.array([0.0, 0.0, 0.042])
        self.waiting_for_kick_off = False

    def judge(self, ball: tuple[float, float, float], step: float = 0.02) -> None:
        before, self.ball = self.state, np.array(ball)
        facts = random_facts(self.rng, self.rules, self.ball, step)
        self.state, decisions = judge(before, facts, self.rules)
        again, same = judge(before, facts, self.rules)
        assert decisions == same, "the same facts must give the same decisions"
        assert (again.mode, again.time, again.score) == (self.state.mode, self.state.time, self.state.score)
        self.check(before, facts, decisions)
        self.check_penalties(before, facts, decisions)
        for decision in decisions:
            if isinstance(decision, PlaceBall):
                self.ball = np.array([*decision.place, 0.042])

    def check(self, before: MatchState, facts: Facts, decisions: tuple[Decision, ...]) -> None:
        after = self.state
        assert after.time >= before.time
        assert after.elapsed > before.elapsed
        goals = [d for d in decisions if isinstance(d, Event) and d.kind == "goal"]
        swapped = any(isinstance(d, SwapEnds) for d in decisions)
        gained = sum(after.score) - sum(before.score)
        assert gained == len(goals)
        assert gained <= 1
        if not swapped:
            assert all(a >= b for a, b in zip(after.score, before.score, strict=True))
        if goals:
            assert ball_is_live(before.mode)
            self.waiting_for_kick_off = True
        for decision in decisions:
            if isinstance(decision, Event) and decision.text in ("KickOff_Left", "KickOff_Right"):
                self.waiting_for_kick_off = False
            if isinstance(decision, MovePlayer | FreezeLimbs):
                assert facts.present[decision.side, decision.number - 1], "only players who are there are moved"
            if isinstance(decision, MovePlayer | PlaceBall):
                assert np.isfinite(decision.place).all()
                assert abs(decision.place[0]) < 2 * self.rules.pitch.length
                assert abs(decision.place[1]) < 2 * self.rules.pitch.width
            if isinstance(decision, PlaceBall):
                assert abs(decision.place[0]) < self.rules.pitch.length / 2
                assert abs(decision.place[1]) < self.rules.pitch.width / 2

    def check_penalties(self, before: MatchState, facts: Facts, decisions: tuple[Decision, ...]) -> None:
        was, now = penalised(before), penalised(self.state)
        told = {(d.side, d.number) for d in decisions if isinstance(d, Event) and d.kind in ("foul", "return")}
        changed = np.argwhere((was != now) & facts.present).tolist()
        if any(isinstance(d, SwapEnds) for d in decisions) or self.rules.fouls.removal_time == 0:
            changed = np.argwhere(now & ~was).tolist()
        if self.state.mode is not PlayMode.GAME_OVER:
            assert {(side, index + 1) for side, index in changed} <= told, "penalties begin and end with an event"
        lasting = self.rules.fouls.hold_time + self.rules.fouls.removal_time
        assert all(self.state.elapsed - held.stamp < lasting for held in self.state.held), "all come back in time"
        for event in (d for d in decisions if isinstance(d, Event) and d.kind == "return"):
            moves = [d for d in decisions if isinstance(d, MovePlayer) and d.reason == "comes back"]
            assert (event.side, event.number) in {(m.side, m.number) for m in moves}

    def place(self, x: float, y: float, z: float = 0.042) -> tuple[float, float, float]:
        """Fractions of half the length and half the width, as a place."""
        return x * self.rules.pitch.length / 2, y * self.rules.pitch.width / 2, z

    @rule(x=st.floats(-0.93, 0.93), y=st.floats(-0.9, 0.9), cycles=st.integers(1, 5))
    def play_somewhere(self, x: float, y: float, cycles: int) -> None:
        for _ in range(cycles):
            self.judge(self.place(x, y))

    @rule(cycles=st.integers(3, 12))
    def let_time_pass(self, cycles: int) -> None:
        for _ in range(cycles):
            self.judge((float(self.ball[0]), float(self.ball[1]), 0.042), step=0.3)

    @rule(side=st.sampled_from([-1, 1]), y=st.floats(-2, 2), z=st.floats(0.042, 1.0))
    def shoot(self, side: int, y: float, z: float) -> None:
        line = self.rules.pitch.length / 2
        self.judge(((line - 0.2) * side, y, z))
        self.judge(((line + 0.3) * side, y, z))

    @rule(x=st.floats(-0.93, 0.93), side=st.sampled_from([-1, 1]))
    def kick_out(self, x: float, side: int) -> None:
        self.judge(self.place(x, 0.98 * side))
        self.judge(self.place(x, 1.05 * side))

    @rule(mode=st.sampled_from([m for m in PlayMode if m is not PlayMode.GAME_OVER and m not in GOALS]))
    def trainer_interferes(self, mode: PlayMode) -> None:
        if self.waiting_for_kick_off or self.state.shoot_out is not None:
            return
        facts = random_facts(self.rng, self.rules, self.ball, 0.02)
        self.state, _ = trainer.set_play_mode(self.state, self.rules, facts, mode)
        assert self.state.mode is mode

    @invariant()
    def the_ball_is_never_live_after_a_goal_until_the_kick_off(self) -> None:
        if getattr(self, "waiting_for_kick_off", False):
            assert not ball_is_live(self.state.mode)
            assert self.state.mode not in KICK_OFFS

    @precondition(lambda self: hasattr(self, "state") and self.state.mode is not PlayMode.GAME_OVER)
    @rule()
    def every_mode_is_left_in_the_end_even_if_nobody_touches_the_ball(self) -> None:
        mode, half = self.state.mode, self.state.half
        present = np.ones((2, 11), bool)
        position = np.tile([0.0, 0.0, 0.38], (2, 11, 1))
        ends = self.rules.pitch.length / 2 * np.array([0.2, 0.8])
        position[..., 0] = [np.linspace(-ends[1], -ends[0], 11), np.linspace(*ends, 11)]
        state = self.state
        for _ in range(250):
            ball = np.array([*state.place, 0.042] if mode is not PlayMode.PLAY_ON else self.place(0.0, 0.9))
            facts = Facts.of(time_step=0.3, ball=ball, present=present, position=position)
            state, _ = judge(state, facts, self.rules)
            if (state.mode, state.half) != (mode, half):
                return
        raise AssertionError(f"{mode.wire_name} was never left")


WildGame.TestCase.settings = settings(max_examples=20, stateful_step_count=20, suppress_health_check=list(HealthCheck))
TestWildGame = WildGame.TestCase


def turned(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array over (2 sides, ...) with the sides exchanged."""
    return array[::-1].copy()


def turned_facts(facts: Facts) -> Facts:
    """The same facts on a pitch turned by half a turn."""
    position, velocity = turned(facts.position), turned(facts.velocity)
    position[..., :2] *= -1
    contacts, pushes = facts.contacts.copy(), facts.pushes.copy()
    contacts[..., 0] = 1 - contacts[..., 0]
    pushes[..., 0] = 1 - pushes[..., 0]
    return dataclasses.replace(
        facts,
        ball=facts.ball * [-1, -1, 1],
        ball_velocity=facts.ball_velocity * [-1, -1, 1],
        present=turned(facts.present),
        position=position,
        velocity=-velocity,
        touches_ball=turned(facts.touches_ball),
        wants_pass=turned(facts.wants_pass),
        goalie=turned(facts.goalie),
        contacts=contacts,
        contact_places=-facts.contact_places,
        self_collision=turned(facts.self_collision),
        pushes=pushes,
        ball_before=None if facts.ball_before is None else facts.ball_before * [-1, -1, 1],
    )


def described(decision: Decision, *, turn: bool) -> tuple[Any, ...]:
    """A decision without its words, turned if wanted."""
    found = dict(vars(decision))
    text = found.pop("text", "")
    if isinstance(decision, Event) and decision.kind == "play_mode":
        mode = next(m for m in PlayMode if m.wire_name == text)
        found["mode"] = mirrored(mode) if turn else mode
    if turn and found.get("side") is not None:
        found["side"] = found["side"].other
    if turn and found.get("place") is not None:
        found["place"] = tuple(-v for v in found["place"])
    if found.get("place") is not None:
        found["place"] = tuple(round(v, 9) + 0.0 for v in found["place"])
    if found.get("heading") is not None:
        heading = found["heading"] + (math.pi if turn else 0.0)
        found["heading"] = (round(math.cos(heading), 9) + 0.0, round(math.sin(heading), 9) + 0.0)
    return (type(decision).__name__, *sorted((k, str(v)) for k, v in found.items()))


@pytest.mark.parametrize("book", BOOKS)
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1), swap=st.booleans(), shoot_out=st.booleans())
def test_a_turned_pitch_gives_turned_decisions(book: str, seed: int, swap: bool, shoot_out: bool) -> None:
    rng = np.random.default_rng(seed)
    rules = lively_rules(book, swap_ends=swap, shoot_out=shoot_out)
    end, line = rules.pitch.length / 2, rules.pitch.width / 2
    states = [new_match(kick_off=Side.LEFT), new_match(kick_off=Side.RIGHT)]
    ball = np.array([0.0, 0.0, 0.042])
    for _ in range(50):
        step = float(rng.choice([0.02, 0.5]))
        facts = random_facts(rng, rules, ball, step)
        (states[0], left), (states[1], right) = (
            judge(states[0], facts, rules),
            judge(states[1], turned_facts(facts), rules),
        )
        assert sorted(described(d, turn=False) for d in left) == sorted(described(d, turn=True) for d in right)
        assert states[1].mode is mirrored(states[0].mode)
        assert states[1].score == states[0].score[::-1]
        assert states[1].time == states[0].time
        kind = rng.random()
        ball = rng.uniform([-0.93 * end, -0.9 * line, 0.042], [0.93 * end, 0.9 * line, 0.042])
        if kind < 0.2:
            ball = np.array([rng.choice([-1, 1]) * (end + 0.3), rng.uniform(-2, 2), rng.uniform(0.04, 1.0)])
        elif kind < 0.3:
            ball = np.array([rng.uniform(-0.93, 0.93) * end, rng.choice([-1, 1]) * (line + 0.2), 0.042])
        elif kind < 0.5:
            ball = np.array([*states[0].place, 0.042])


def test_the_referee_changes_neither_state_nor_facts(rules: Rules) -> None:
    rng = np.random.default_rng(3)
    state = new_match()
    for _ in range(50):
        facts = random_facts(rng, rules, np.array([1.0, 2.0, 0.042]), 0.5)
        for value in (*vars(facts).values(), *vars(state.stamps).values(), state.in_areas):
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        state, _ = judge(state, facts, rules)
    assert state.elapsed == pytest.approx(25.0)


def test_a_quiet_match_of_ten_minutes_is_played_to_its_end(rules: Rules, tools: Any) -> None:
    game = tools.Game(rules.with_match(automatic_kick_off=True, wait_before_kick_off=1.0))
    for _ in range(1400):
        facts = dataclasses.replace(game.facts(), time_step=0.5)
        game.state, decisions = judge(game.state, facts, game.rules)
        game.carry_out(decisions)
        game.heard += decisions
    assert game.state.mode is PlayMode.GAME_OVER
    assert game.state.time == pytest.approx(600.0)
    modes = [e.text for e in tools.events(game.heard, "play_mode")]
    assert modes == ["KickOff_Left", "PlayOn", "BeforeKickOff", "KickOff_Right", "PlayOn", "GameOver"]


@pytest.mark.parametrize("book", BOOKS)
def test_every_event_can_be_recorded(book: str) -> None:
    rng = np.random.default_rng(11)
    state, kinds = new_match(), set()
    wild = lively_rules(book, swap_ends=False, shoot_out=True)
    for i in range(300):
        x = rng.choice([1.0, wild.pitch.length / 2 + 0.2])
        ball = np.array([x, rng.uniform(-1, 1), 0.1]) if i % 2 else np.array([0.0, 0.0, 0.042])
        state, decisions = judge(state, random_facts(rng, wild, ball, 0.1), wild)
        for event in (d for d in decisions if isinstance(d, Event)):
            kinds.add(event.kind)
            assert all(isinstance(v, str | int | float | list) for v in event.fields().values())
            assert event.fields()["text"]
    assert {"play_mode", "goal", "foul", "fall", "half"} <= kinds
