"""A toy world for tactics: players are points that move as they wish, the ball rolls, the referee is the real one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nutmeg.match.players.belief import BallBelief, Belief, Others, Pose
from nutmeg.match.players.deciding_player import league_abilities
from nutmeg.match.players.kicks import foot_for
from nutmeg.match.players.messages import decode, encode, speaks
from nutmeg.match.players.request import Kick, Request, Walk
from nutmeg.match.players.tactics.records import PlayerContext, ground_of
from nutmeg.match.players.tactics.tactician import Tactician
from nutmeg.match.players.tracking.records import belief_record
from nutmeg.match.rules import trainer
from nutmeg.match.rules.book import Rules, load_rules
from nutmeg.match.rules.decisions import Decision, Event, MovePlayer, PlaceBall
from nutmeg.match.rules.play_modes import PlayMode, Side, may_beam
from nutmeg.match.rules.referee import judge
from nutmeg.match.rules.state import Facts, new_match
from nutmeg.model.ball import load_ball

STANDING, LYING = 0.38, 0.1
FASTEST = (0.65, 0.35, 1.5)
BODY, FOOT = 0.2, 0.13
"""Radii within which players push each other, and the ball, m."""


class Toy:
    """A match of points."""

    def __init__(
        self, players: int = 4, *, rules: Rules | None = None, seed: int = 1, strategy: str = "builtin"
    ) -> None:
        book = load_rules("sim3d").with_match(automatic_kick_off=True, wait_before_kick_off=2.0, half_length=100.0)
        self.rules, self.rng, self.players = rules or book, np.random.default_rng(seed), players
        self.state, self.time = new_match(), 0.0
        self.present = np.zeros((2, 11), bool)
        self.present[:, :players] = True
        self.pose = np.zeros((2, 11, 3))
        self.pose[:, :, 0], self.pose[:, :, 1] = np.array([[-14.0], [14.0]]), np.arange(11) - 5.0
        self.pose[1, :, 2] = math.pi
        self.speed = np.zeros((2, 11, 3))
        self.upright = np.ones((2, 11), bool)
        self.ball, self.ball_velocity = np.zeros(2), np.zeros(2)
        ground = ground_of(self.rules, league_abilities(load_ball("sim3d")))
        self.tacticians = {
            (side, n): Tactician(strategy, ground, number=n + 1, players=players)
            for side in Side
            for n in range(players)
        }
        self.requests: dict[tuple[Side, int], Request] = {}
        self._kicked: tuple[Side, int] | None = None
        self.said: list[tuple[Side, str]] = []
        self.events: list[Event] = []
        self.modes: Counter[PlayMode] = Counter()

    def belief(self, side: Side, n: int) -> Belief:
        """What a player believes: the truth, in its team's frame."""
        sign = side.sign
        x, y, heading = self.pose[side, n].tolist()
        ages = np.where(self.present, 0.0, np.inf)
        own, theirs = (
            Others(
                places=np.where(self.present[s][:, None], sign * self.pose[s, :, :2], np.nan),
                velocities=np.zeros((11, 2)),
                ages=ages[s],
                fallen=~self.upright[s],
            )
            for s in (side, side.other)
        )
        turned = heading if sign > 0 else heading - math.pi
        return Belief(
            time=self.time,
            me=Pose(
                x=sign * x,
                y=sign * y,
                heading=math.atan2(math.sin(turned), math.cos(turned)),
                spread=0.02,
                heading_spread=0.01,
            ),
            ball=BallBelief(
                place=sign * self.ball,
                height=0.042,
                velocity=sign * self.ball_velocity,
                spread=0.02,
                seen_ago=0.0,
                heard_ago=0.0,
            ),
            mates=own,
            opponents=theirs,
            upright=bool(self.upright[side, n]),
        )

    def told(self, side: Side, n: int, mode: str | None = None) -> dict[str, Any]:
        """What a player is told beside its belief."""
        return {"time": self.time, "mode": mode or self.state.mode.wire_name, "side": side}

    def context(self, side: Side, n: int) -> PlayerContext:
        """The records of a player in the present situation, for functions of the tactics."""
        tactician, belief = self.tacticians[side, n], belief_record(self.belief(side, n))
        tactician.decide(belief, **self.told(side, n))
        beliefs, games, grounds, traits, memories, orders = tactician.records
        return PlayerContext(beliefs[0], games[0], grounds[0], traits[0], memories[0], orders[0])

    def cycle(self) -> None:
        """Everybody decides; points move; the referee judges."""
        said, self.said = self.said, []
        for (side, n), tactician in self.tacticians.items():
            for speaker, text in said:
                report = decode(text, self.time)
                if speaker is side and report is not None:
                    tactician.hear(report)
            belief = belief_record(self.belief(side, n))
            request = tactician.decide(belief, **self.told(side, n))
            self.requests[side, n] = request
            report = tactician.report(belief)
            if report is not None and speaks(number=n + 1, players=self.players, time=self.time):
                self.said.append((side, encode(report)))
            self._move(side, n, request)
        touches = self._roll()
        self.time = round(self.time + 0.02, 2)
        position = np.concatenate([self.pose[..., :2], np.where(self.upright, STANDING, LYING)[..., None]], axis=2)
        facts = Facts.of(
            time_step=0.02,
            ball=np.array([*self.ball, 0.042]),
            ball_velocity=np.array([*self.ball_velocity, 0.0]),
            present=self.present,
            position=position,
            touches_ball=touches,
        )
        self.state, decisions = judge(self.state, facts, self.rules)
        self.modes[self.state.mode] += 1
        self.carry_out(decisions)

    def _move(self, side: Side, n: int, request: Request) -> None:
        if request.beam is not None and may_beam(self.state.mode):
            x, y, degrees = request.beam
            sign = side.sign
            turn = math.radians(degrees) + (0.0 if sign > 0 else math.pi)
            self.pose[side, n] = sign * min(x, 0.0), sign * y, turn
        wish = np.zeros(3)
        if isinstance(request.legs, Walk) and self.upright[side, n]:
            wish = np.clip([request.legs.ahead, request.legs.left, request.legs.turn], -np.array(FASTEST), FASTEST)
        if isinstance(request.legs, Kick) and foot_for(request.legs) and np.abs(self.speed[side, n]).max() < 0.05:
            heading = self.pose[side, n, 2]
            self.ball_velocity, self._kicked = 3.2 * np.array([math.cos(heading), math.sin(heading)]), (side, n)
        self.speed[side, n] += np.clip(wish - self.speed[side, n], -0.03, 0.03)
        heading = self.pose[side, n, 2]
        c, s, (ahead, left, turn) = math.cos(heading), math.sin(heading), self.speed[side, n]
        self.pose[side, n] += 0.02 * np.array([c * ahead - s * left, s * ahead + c * left, turn])

    def _roll(self) -> np.ndarray:
        """The ball rolls and is pushed; players push each other. Who touched the ball, (2, 11)."""
        touches = np.zeros((2, 11), bool)
        if self._kicked is not None:
            touches[self._kicked], self._kicked = True, None
        who = list(self.tacticians)
        for i, a in enumerate(who):
            for b in who[:i]:
                gap = self.pose[a][:2] - self.pose[b][:2]
                way = float(np.hypot(*gap))
                if 1e-6 < way < 2 * BODY:
                    self.pose[a][:2] += (2 * BODY - way) / 2 * gap / way
                    self.pose[b][:2] -= (2 * BODY - way) / 2 * gap / way
        self.ball += 0.02 * self.ball_velocity
        self.ball_velocity *= math.exp(-1.06 * 0.02)
        for a in who:
            gap = self.ball - self.pose[a][:2]
            way = float(np.hypot(*gap))
            if way < FOOT:
                heading, (ahead, left, _) = self.pose[a][2], self.speed[a]
                c, s = math.cos(heading), math.sin(heading)
                foot = np.array([c * ahead - s * left, s * ahead + c * left])
                noise = self.rng.normal(0.0, 0.15, 2)
                self.ball_velocity = 1.4 * foot + 0.15 * gap / max(way, 1e-6) + noise * np.hypot(*foot)
                self.ball = self.pose[a][:2] + FOOT * gap / max(way, 1e-6)
                touches[a] = True
        return touches

    def carry_out(self, decisions: tuple[Decision, ...]) -> None:
        """Does what the referee says."""
        for decision in decisions:
            match decision:
                case Event():
                    self.events.append(decision)
                case MovePlayer(side=side, number=number, place=(x, y)):
                    self.pose[side, number - 1, :2] = x, y
                case PlaceBall(place=place):
                    self.ball, self.ball_velocity = np.array(place[:2]), np.zeros(2)

    def order(self, mode: PlayMode, ball: tuple[float, float]) -> None:
        """Has a play mode with the ball at a place."""
        facts = Facts.of(
            time_step=0.02,
            ball=np.array([*ball, 0.042]),
            present=self.present,
            position=np.concatenate([self.pose[..., :2], np.full((2, 11, 1), STANDING)], axis=2),
        )
        self.state, decisions = trainer.set_play_mode(self.state, self.rules, facts, mode)
        self.carry_out(decisions)
        self.ball, self.ball_velocity = np.array(ball), np.zeros(2)

    def run(self, seconds: float, each: Callable[[], Any] | None = None) -> None:
        """Plays for a while."""
        for _ in range(round(seconds / 0.02)):
            self.cycle()
            if each is not None:
                each()

    def places(self, side: Side) -> np.ndarray:
        """(players, 2) in the team's frame."""
        return np.asarray(side.sign * self.pose[side, : self.players, :2])

    def count(self, kind: str) -> int:
        """How many events of a kind there were."""
        return sum(event.kind == kind for event in self.events)


@pytest.fixture
def new_toy() -> Callable[..., Toy]:
    return Toy
