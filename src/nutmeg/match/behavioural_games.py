"""Many matches of the behavioural world at once, between compiled strategies and compiled players of users.

    games = BehaviourGames(load_rules("spl2011"), left="roles", right="everyone-chases", seeds=range(512))
    results = games.run()                       # until all are over
    results[0].goals, results[0].falls, results[0].fouls, results[0].control.possession

A match has the same course as alone in a `BehaviourGame` with the same seed and the same strategies, whatever else is
played at the same time, on any number of threads. Two things make it fast: everything that happens in every cycle is
compiled, for all matches in one call; and the referee, which is not compiled, judges only cycles in which it may have
to decide something (`rules.clock`).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nutmeg.base.constants import BEHAVIOURAL_CYCLE
from nutmeg.base.errors import UsageError
from nutmeg.base.kernels import kernel, unchecked
from nutmeg.base.records import new_records, record_values
from nutmeg.match.behavioural_game import DEFAULT_SETUP, BehaviourSetup
from nutmeg.match.players.decide import abilities_of
from nutmeg.match.players.tactics.decisions import StrategyTable, decide_matches
from nutmeg.match.players.tactics.own_tactics import CompiledDecide
from nutmeg.match.players.tactics.records import GameRecord, OrderRecord, ground_of, new_memories
from nutmeg.match.players.tactics.strategies import Strategy, strategy
from nutmeg.match.players.tracking.tracker import SymbolicSenses
from nutmeg.match.rules.clock import state_after_look, time_to_next_judgement, time_to_next_look
from nutmeg.match.rules.decisions import Event, SwapEnds
from nutmeg.match.rules.fouls import penalised
from nutmeg.match.rules.play_modes import PlayMode, Side, clock_runs
from nutmeg.match.rules.referee import judge
from nutmeg.match.rules.slots import SLOTS, slot_of
from nutmeg.match.rules.state import PLAYERS_SHAPE, new_match
from nutmeg.match.series.ball_control import ControlResult, controls_result, new_controls, observe_matches
from nutmeg.match.series.settings import COUNTED_EVENTS
from nutmeg.match.worlds.behavioural.state import Posture
from nutmeg.match.worlds.behavioural.world import BehaviourWorld

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Ints, SmallInts
    from nutmeg.base.records import Records
    from nutmeg.match.players.tactics.records import GroundRecord
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.rules.decisions import Decision
    from nutmeg.match.rules.state import MatchState
    from nutmeg.match.worlds.behavioural.state import Ball, Player

    Entry = str | Strategy | CompiledDecide
    """A strategy, by its name or its traits, or a compiled `decide` of a user."""

TIME_TOLERANCE = 1e-6
"""Times and distances that differ by less are the same, s and m."""


@dataclass(frozen=True, kw_only=True)
class MatchResult:
    """How a match ended; pairs of numbers are those of the team that began on the left, and of the other."""

    seed: int
    goals: tuple[int, int]
    falls: tuple[int, int]
    fouls: tuple[int, int]
    control: ControlResult
    """Possession, progress of the ball, shots and expected goals."""
    time: float
    """The game time that was played, s."""
    over: bool
    """Whether it was played to its end."""


class BehaviourGames:
    """M matches.

    Args:
        rules: the rule book; its pitch must be that of the field.
        left: the strategy of the teams that begin on the left, or a compiled `decide` (`tactics.own_tactics`): one for
            all matches, or (M) one for each.
        right: the same for the other teams.
        seeds: (M,) one for each match.
        setup: field, bodies and senses.
        players: number of players of a team; as many as the rules allow if left out.
        kick_off: the side that takes the first kick-off: one for all matches, or (M).
    """

    def __init__(
        self,
        rules: Rules,
        *,
        left: Entry | Sequence[Entry],
        right: Entry | Sequence[Entry],
        seeds: Sequence[int],
        setup: BehaviourSetup = DEFAULT_SETUP,
        players: int | None = None,
        kick_off: Side | Sequence[Side] = Side.LEFT,
    ) -> None:
        count = len(seeds)
        self.rules, self.seeds = rules, tuple(int(seed) for seed in seeds)
        keys = np.array([seed % 2**64 for seed in self.seeds], np.uint64)
        self.world = BehaviourWorld(setup.behaviours(count), setup.ground(rules), count=count, seeds=keys)
        self.senses = SymbolicSenses(setup.senses(), self.world)
        self.states = [new_match(kick_off=side) for side in _each_side(kick_off, count)]
        """The referee's memory of each match."""
        self.controls = new_controls(rules.pitch, count)
        """(M,) possession, progress of the ball, shots and expected goals."""
        self.swapped: Bools = self.controls["swapped"]
        """(M,) whether teams have changed ends; a view."""
        self._counts = np.zeros((count, 2, len(COUNTED_EVENTS)), np.int64)
        self._watch = _watch(rules, count)
        number = rules.match.players if players is None else players
        entries = [_each_entry(left, "left", count), _each_entry(right, "right", count)]
        self._own = list(dict.fromkeys(one for each in entries for one in each if isinstance(one, CompiledDecide)))
        self._table = StrategyTable(
            grounds=_grounds(rules, self.world),
            traits=_traits(entries, count),
            deciders=np.array([[self._number(one) for one in each] for each in entries]).T.copy(),
            memories=new_memories(count, SLOTS),
            modes=np.zeros(count, np.int64),
            held=np.zeros((count, SLOTS), bool),
            beamed=np.zeros((count, SLOTS), bool),
            team_size=number,
        )
        for m in range(count):
            for slot in (slot_of(side, n) for side in Side for n in range(1, number + 1)):
                self.world.join(m, slot)
                self.senses.greet(m, slot)

    def _number(self, entry: Entry) -> int:
        """The number of the function that decides for an entry: 0 is that of all strategies."""
        return self._own.index(entry) + 1 if isinstance(entry, CompiledDecide) else 0

    @property
    def over(self) -> Bools:
        """(M,) which matches have ended."""
        over: Bools = self._table.modes == int(PlayMode.GAME_OVER)
        return over

    def run(self, seconds: float | None = None, *, threads: int = 1) -> list[MatchResult]:
        """Plays for a time, or until all matches are over; returns all results, the same on any number of threads."""
        cycles = None if seconds is None else round(seconds / BEHAVIOURAL_CYCLE)
        if cycles is None and not self.rules.match.automatic_kick_off:
            raise UsageError("these matches would never end: say how long to play, or use automatic_kick_off.")
        going = np.flatnonzero(~self.over)
        chunks = [chunk for chunk in np.array_split(going, max(threads, 1)) if len(chunk)]
        if len(chunks) <= 1:
            for chunk in chunks:
                self._play(chunk, cycles)
        else:
            with ThreadPoolExecutor(len(chunks)) as pool:
                for future in [pool.submit(self._play, chunk, cycles) for chunk in chunks]:
                    future.result()
        return self.results()

    def _play(self, chosen: Ints, cycles: int | None) -> None:
        """Plays some matches until they are over, or for a number of cycles."""
        played = 0
        while len(chosen) and (cycles is None or played < cycles):
            self.cycle(chosen)
            played += 1
            if self.over[chosen].any():
                chosen = chosen[~self.over[chosen]]

    def cycle(self, chosen: Ints) -> None:
        """Plays one cycle of some matches (K,)."""
        state = self.world.state
        begun = chosen[state.cycle[chosen] > 0]
        if len(begun):
            self._decide(begun)
        self.world.step(chosen)
        watch_matches(chosen, state.players, state.balls, state.contact, state.pushed, self._watch)
        # Ball control is counted where the ball and the players were, not where the referee then puts them.
        ball, speed, pose, present = state.ball.copy(), state.ball_speed.copy(), state.pose.copy(), state.present.copy()
        for m in chosen[self._watch.clocks["asks"][chosen]].tolist():
            self._judge(m)
        in_play = chosen[self._table.modes[chosen] == int(PlayMode.PLAY_ON)]
        observe_matches(in_play, self.controls, ball, speed, pose, present)
        self.senses.update(chosen)

    def _decide(self, chosen: Ints) -> None:
        """Decides for all players of some matches (K,)."""
        state = self.world.state
        games, orders = new_records(GameRecord, 1), new_records(OrderRecord, 1)
        for number, decide in enumerate((decide_matches, *(one.decide_matches for one in self._own))):
            decide(chosen, state.players, state.balls, self.senses.beliefs, self._table, games, orders, number)
        self.senses.all_placed(chosen, self._table.beamed)

    def _judge(self, m: int) -> None:
        """Asks the referee about a match."""
        before, since = self._before(m)
        state, decisions = judge(before, self.world.facts(m, time_step=since), self.rules)
        for decision in decisions:
            self._obey(m, decision)
        self.states[m], self._table.modes[m] = state, int(state.mode)
        # A record is written in one go: its fields one by one take four times as long.
        due, look_due = time_to_next_judgement(state, self.rules, looks=False), time_to_next_look(state, self.rules)
        self._watch.clocks[m] = 0.0, due, 0.0, look_due, False
        if state.still is not before.still:
            self._watch.place[m] = np.nan if state.still is None else state.still.place.reshape(SLOTS, 2)
        if state.held is not before.held:
            self._table.held[m] = penalised(state).reshape(SLOTS)

    def _before(self, m: int) -> tuple[MatchState, float]:
        """The referee's state of a match after its last judgement or inspection, and the time since then, s."""
        state = self.states[m]
        since, _, look, _, _ = self._watch.clocks[m].tolist()  # type: ignore[attr-defined]
        if 0.0 < look < since:  # a match that was begun anew is judged at once: its looks are of the one before
            return state_after_look(state, look, self._watch.place[m].reshape(*PLAYERS_SHAPE, 2).copy()), since - look
        return state, since

    def _obey(self, m: int, decision: Decision) -> None:
        if isinstance(decision, Event):
            if decision.kind in COUNTED_EVENTS and decision.side is not None:
                team = int(decision.side) ^ int(self.swapped[m])
                self._counts[m, team, COUNTED_EVENTS.index(decision.kind)] += 1
            return
        self.world.carry_out(m, decision)
        self.senses.follow(m, decision)
        if isinstance(decision, SwapEnds):
            self.senses.swap_ends(m)
            for array in (self._table.memories, self._watch.low, self._table.held):
                array[m] = np.roll(array[m], SLOTS // 2, axis=0)
            for pairs in (self._table.traits, self._table.deciders):
                pairs[m] = pairs[m][::-1].copy()
            self.swapped[m] = not self.swapped[m]

    def results(self) -> list[MatchResult]:
        """How all matches stand."""
        return [self._result(m) for m in range(len(self.seeds))]

    def _result(self, m: int) -> MatchResult:
        state = self.states[m]
        left, right = state.score[::-1] if self.swapped[m] else state.score
        falls, fouls = ((int(a), int(b)) for a, b in self._counts[m].T)
        return MatchResult(
            seed=self.seeds[m],
            goals=(left, right),
            falls=falls,
            fouls=fouls,
            control=controls_result(self.controls[m]),
            time=state.time + (float(self._watch.clocks[m].since) if clock_runs(state.mode) else 0.0),
            over=state.mode is PlayMode.GAME_OVER,
        )


def _each_side(sides: Side | Sequence[Side], count: int) -> list[Side]:
    """One for each match."""
    found = [sides] * count if isinstance(sides, Side) else list(sides)
    if len(found) != count:
        raise UsageError(f"kick_off has {len(found)} sides for {count} matches; one for all is fine, or one for each.")
    return found


def _each_entry(entries: Entry | Sequence[Entry], name: str, count: int) -> list[Entry]:
    """One for each match."""
    found = [entries] * count if isinstance(entries, str | Strategy | CompiledDecide) else list(entries)
    if len(found) != count:
        raise UsageError(f"{name} has {len(found)} entries for {count} matches; one for all is fine, or one for each.")
    return found


def _traits(entries: Sequence[Sequence[Entry]], count: int) -> Records[Records[Strategy]]:
    """(M, 2) the parameters that both teams play by."""
    table = new_records(Strategy, count, 2)
    for column, each in enumerate(entries):
        table[:, column] = record_values(*[_strategy_of(one) for one in each])
    return table


def _strategy_of(entry: Entry) -> Strategy:
    if isinstance(entry, CompiledDecide):
        return entry.traits
    return strategy(entry) if isinstance(entry, str) else entry


def _grounds(rules: Rules, world: BehaviourWorld) -> Records[GroundRecord]:
    """(M,) pitch and bodies."""
    radius = world.ball_radius
    return record_values(*[ground_of(rules, abilities_of(each, ball_radius=radius)) for each in world.settings])


# ---- when the referee must be asked


@dataclass
class RefereeClock:
    """Clock that says when the referee has to judge a match."""

    since: float
    """Time since the last judgement, s."""
    due: float
    """Time after the last judgement in which nothing can happen by itself, s."""
    look_at: float
    """Time of the last inspection for players that stand still, since the last judgement, s; 0 if that was later."""
    look_due: float
    """Time of the next inspection, since the last judgement, s; inf if the referee will judge anyway."""
    asks: bool
    """Whether the referee has to judge this cycle."""


class Watch(NamedTuple):
    """State of M matches from which follows when the referee has to judge them."""

    clocks: Records[RefereeClock]
    """(M,) one for each match."""
    low: Bools
    """(M, 22) whether a player was not standing one cycle ago."""
    place: Floats
    """(M, 22, 2) places of players at the last inspection for players that stand still, m; NaN if there was none."""
    end: float
    """Half the pitch's length, m."""
    side: float
    """Half the pitch's width, m."""
    touching: bool
    """Whether the rules have a foul for players that touch without pushing."""
    interval: float
    """Time between two inspections, s."""
    distance: float
    """Players within this distance of the ball are inspected, m."""
    movement: float
    """A player that has moved less than this since the last inspection stands still, m."""


def _watch(rules: Rules, count: int) -> Watch:
    fouls, pitch = rules.fouls, rules.pitch
    clocks = new_records(RefereeClock, count)
    clocks["look_due"] = np.inf
    return Watch(
        clocks=clocks,
        low=np.zeros((count, SLOTS), bool),
        place=np.full((count, SLOTS, 2), np.nan),
        end=pitch.length / 2,
        side=pitch.width / 2,
        touching=fouls.touching.on or fouls.charging.on,
        interval=fouls.inactive.look_interval,
        distance=fouls.inactive.ball_distance,
        movement=fouls.inactive.movement,
    )


@unchecked
def watch_matches(
    chosen: Ints,
    players: Records[Records[Player]],
    balls: Records[Ball],
    contacts: Bools,
    pushes: SmallInts,
    watch: Watch,
) -> None:
    """Counts the cycle, and finds the matches of `chosen` (K,) that the referee has to judge.

    Nothing is decided in a cycle unless a clock runs out, the ball is touched or over a line, players touch or push
    each other, or a player falls or stands up again (`rules.clock` says why). Judging those cycles only gives the same
    decisions as judging all.
    """
    for m in chosen:
        clock, ball = watch.clocks[m], balls[m]
        clock.since += BEHAVIOURAL_CYCLE
        asks = clock.since >= clock.due - TIME_TOLERANCE
        # Also if the ball's place is nan, since comparisons with it are false.
        asks = asks or not (abs(ball.x) <= watch.end and abs(ball.y) <= watch.side)
        for i in range(SLOTS):
            player = players[m][i]
            if not player.present:
                continue
            low = player.posture > Posture.KICKING
            # Falling starts a clock of the referee, standing up ends it; a touch may be a foul, a goal kick or an
            # offside.
            if low != watch.low[m, i] or player.touched:
                asks = True
            watch.low[m, i] = low
            if not asks:
                for j in range(SLOTS):
                    if pushes[m, i, j] != 0 or (watch.touching and contacts[m, i, j]):
                        asks = True
                        break
        # Standing still near the ball is a foul that no event shows, so players are looked at in intervals.
        if not asks and clock.since >= clock.look_due - TIME_TOLERANCE:
            asks = _look_at_still_players(players[m], ball, watch, m)
        clock.asks = asks


@kernel
def _look_at_still_players(players: Records[Player], ball: Ball, watch: Watch, m: int) -> bool:
    """Whether a player near the ball seems to stand still; if not, this inspection is complete."""
    place, clock = watch.place[m], watch.clocks[m]
    for i in range(SLOTS):
        player = players[i]
        dx, dy = player.x - ball.x, player.y - ball.y
        gone_x, gone_y = player.x - place[i, 0], player.y - place[i, 1]
        near = dx * dx + dy * dy < (watch.distance + TIME_TOLERANCE) ** 2
        still = gone_x * gone_x + gone_y * gone_y < (watch.movement + TIME_TOLERANCE) ** 2
        if near and player.present and still:
            return True
    for i in range(SLOTS):
        place[i, 0], place[i, 1] = players[i].x, players[i].y
    clock.look_at = clock.since
    clock.look_due += watch.interval
    return False
