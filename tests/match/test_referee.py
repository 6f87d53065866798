"""The referee as a whole: what holds whatever happens on the pitch."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from nutmeg.match import trainer
from nutmeg.match.decisions import Decision, Event, FreezeLimbs, MovePlayer, PlaceBall, SwapEnds
from nutmeg.match.facts import Facts
from nutmeg.match.play_modes import KICK_OFFS, PlayMode, Side, ball_is_live, mirrored
from nutmeg.match.referee import judge
from nutmeg.match.rules import OffsideRules, Rules, load_rules
from nutmeg.match.state import MatchState, new_match

GOALS = (PlayMode.GOAL_LEFT, PlayMode.GOAL_RIGHT)


def lively_rules(*, swap_ends: bool, shoot_out: bool) -> Rules:
    """The league's rules with everything switched on and everything short."""
    rules = load_rules("sim3d").with_match(
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
    )
    return dataclasses.replace(
        rules,
        fouls=fouls,
        offside=OffsideRules(on=True),
        restarts=dataclasses.replace(rules.restarts, pause=0.2, drop_ball_time=2.0),
        shoot_out=dataclasses.replace(rules.shoot_out, on=shoot_out, kick_time=3.0, rounds=1, most_rounds=2),
    )


def random_facts(rng: np.random.Generator, state: MatchState, ball: np.ndarray[Any, Any], step: float) -> Facts:
    """Facts of a wild game: players near the ball as often as not, fallen ones, collisions, requests."""
    present = rng.random((2, 11)) < 0.9
    position = rng.uniform([-16, -11, 0.3], [16, 11, 0.4], (2, 11, 3))
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
    )


class WildGame(RuleBasedStateMachine):
    """Anything may happen on the pitch; these things hold."""

    @initialize(seed=st.integers(0, 2**32 - 1), swap=st.booleans(), shoot_out=st.booleans())
    def begin(self, seed: int, swap: bool, shoot_out: bool) -> None:
        self.rng = np.random.default_rng(seed)
        self.rules = lively_rules(swap_ends=swap, shoot_out=shoot_out)
        self.state = new_match(kick_off=Side(int(self.rng.integers(2))))
        self.ball = np.array([0.0, 0.0, 0.042])
        self.waiting_for_kick_off = False

    def judge(self, ball: tuple[float, float, float], step: float = 0.02) -> None:
        before, self.ball = self.state, np.array(ball)
        facts = random_facts(self.rng, before, self.ball, step)
        self.state, decisions = judge(before, facts, self.rules)
        again, same = judge(before, facts, self.rules)
        assert decisions == same, "the same facts must give the same decisions"
        assert (again.mode, again.time, again.score) == (self.state.mode, self.state.time, self.state.score)
        self.check(before, facts, decisions)
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
                assert abs(decision.place[0]) < 30
                assert abs(decision.place[1]) < 25
            if isinstance(decision, PlaceBall):
                assert abs(decision.place[0]) < 15
                assert abs(decision.place[1]) < 10

    @rule(x=st.floats(-14, 14), y=st.floats(-9, 9), cycles=st.integers(1, 5))
    def play_somewhere(self, x: float, y: float, cycles: int) -> None:
        for _ in range(cycles):
            self.judge((x, y, 0.042))

    @rule(cycles=st.integers(3, 12))
    def let_time_pass(self, cycles: int) -> None:
        for _ in range(cycles):
            self.judge((float(self.ball[0]), float(self.ball[1]), 0.042), step=0.3)

    @rule(side=st.sampled_from([-1, 1]), y=st.floats(-2, 2), z=st.floats(0.042, 1.0))
    def shoot(self, side: int, y: float, z: float) -> None:
        self.judge((14.8 * side, y, z))
        self.judge((15.3 * side, y, z))

    @rule(x=st.floats(-14, 14), side=st.sampled_from([-1, 1]))
    def kick_out(self, x: float, side: int) -> None:
        self.judge((x, 9.8 * side, 0.042))
        self.judge((x, 10.2 * side, 0.042))

    @rule(mode=st.sampled_from([m for m in PlayMode if m is not PlayMode.GAME_OVER and m not in GOALS]))
    def trainer_interferes(self, mode: PlayMode) -> None:
        if self.waiting_for_kick_off or self.state.shoot_out is not None:
            return
        facts = random_facts(self.rng, self.state, self.ball, 0.02)
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
        position[..., 0] = [np.linspace(-12, -3, 11), np.linspace(3, 12, 11)]
        state = self.state
        for _ in range(250):
            ball = np.array([*state.place, 0.042]) if mode is not PlayMode.PLAY_ON else np.array([0.0, 9.0, 0.042])
            facts = Facts.of(time_step=0.3, ball=ball, present=present, position=position)
            state, _ = judge(state, facts, self.rules)
            if (state.mode, state.half) != (mode, half):
                return
        raise AssertionError(f"{mode.wire_name} was never left")


WildGame.TestCase.settings = settings(
    max_examples=20, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)
TestWildGame = WildGame.TestCase


def turned(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array over (2 sides, ...) with the sides exchanged."""
    return array[::-1].copy()


def turned_facts(facts: Facts) -> Facts:
    """The same facts on a pitch turned by half a turn."""
    position, velocity = turned(facts.position), turned(facts.velocity)
    position[..., :2] *= -1
    contacts = facts.contacts.copy()
    contacts[..., 0] = 1 - contacts[..., 0]
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
    return (type(decision).__name__, *sorted((k, str(v)) for k, v in found.items()))


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), swap=st.booleans(), shoot_out=st.booleans())
def test_a_turned_pitch_gives_turned_decisions(seed: int, swap: bool, shoot_out: bool) -> None:
    rng = np.random.default_rng(seed)
    rules = lively_rules(swap_ends=swap, shoot_out=shoot_out)
    states = [new_match(kick_off=Side.LEFT), new_match(kick_off=Side.RIGHT)]
    ball = np.array([0.0, 0.0, 0.042])
    for _ in range(50):
        step = float(rng.choice([0.02, 0.5]))
        facts = random_facts(rng, states[0], ball, step)
        (states[0], left), (states[1], right) = (
            judge(states[0], facts, rules),
            judge(states[1], turned_facts(facts), rules),
        )
        assert sorted(described(d, turn=False) for d in left) == sorted(described(d, turn=True) for d in right)
        assert states[1].mode is mirrored(states[0].mode)
        assert states[1].score == states[0].score[::-1]
        assert states[1].time == states[0].time
        kind = rng.random()
        ball = rng.uniform([-14, -9, 0.042], [14, 9, 0.042])
        if kind < 0.2:
            ball = np.array([rng.choice([-15.3, 15.3]), rng.uniform(-2, 2), rng.uniform(0.04, 1.0)])
        elif kind < 0.3:
            ball = np.array([rng.uniform(-14, 14), rng.choice([-10.2, 10.2]), 0.042])
        elif kind < 0.5:
            ball = np.array([*states[0].place, 0.042])


def test_the_referee_changes_neither_state_nor_facts(rules: Rules) -> None:
    rng = np.random.default_rng(3)
    state = new_match()
    for _ in range(50):
        facts = random_facts(rng, state, np.array([1.0, 2.0, 0.042]), 0.5)
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


def test_every_event_can_be_recorded(rules: Rules) -> None:
    rng = np.random.default_rng(11)
    state, kinds = new_match(), set()
    wild = lively_rules(swap_ends=False, shoot_out=True)
    for i in range(300):
        ball = np.array([rng.choice([1.0, 15.2]), rng.uniform(-1, 1), 0.1]) if i % 2 else np.array([0.0, 0.0, 0.042])
        state, decisions = judge(state, random_facts(rng, state, ball, 0.1), wild)
        for event in (d for d in decisions if isinstance(d, Event)):
            kinds.add(event.kind)
            assert all(isinstance(v, str | int | float | list) for v in event.fields().values())
            assert event.fields()["text"]
    assert {"play_mode", "goal", "foul", "fall", "half"} <= kinds
