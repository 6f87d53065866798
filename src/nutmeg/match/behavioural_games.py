"""Many matches of the behavioural world at once, between compiled strategies.

    games = BehaviourGames(load_rules("spl2011"), left="roles", right="everyone-chases", seeds=range(512), threads=2)
    results = games.run()                       # until all are over
    results[0].goals, results[0].falls, results[0].fouls

A match comes out as it does alone in a `BehaviourGame` with the same seed and the same strategies, whatever else is
played at the same time and on however many threads. Two things make it fast: everything that happens in every cycle is
compiled and done for all matches in one go; and the referee, who is not, is only asked when something has happened
that may matter (`match.quiet`).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.match.behavioural_game import check_pitch, eyes_for
from nutmeg.match.behavioural_kernels import Looks, decide_matches, find_matters
from nutmeg.match.players.decide import abilities_of
from nutmeg.match.players.strategies.records import ORDER, new_minds
from nutmeg.match.players.strategies.strategies import Strategy, ground_row, strategy
from nutmeg.match.players.tracking.batch_tracker import SymbolicSenses
from nutmeg.match.rules.clock import state_after_look, time_to_next_judgement, time_to_next_look
from nutmeg.match.rules.decisions import Event, SwapEnds
from nutmeg.match.rules.fouls import penalised
from nutmeg.match.rules.play_modes import PlayMode, Side, clock_runs
from nutmeg.match.rules.referee import judge
from nutmeg.match.rules.slots import SLOTS, slot_of
from nutmeg.match.rules.state import PLAYERS_SHAPE, new_match
from nutmeg.match.series.settings import COUNTED_EVENTS
from nutmeg.match.worlds.behavioural.motion import CYCLE
from nutmeg.match.worlds.behavioural.settings import BehaviourSettings, load_behaviour
from nutmeg.match.worlds.behavioural.world import BehaviourWorld
from nutmeg.model.field import load_field

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.base.arrays import Bools, Floats, Ints
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.rules.decisions import Decision
    from nutmeg.match.rules.state import MatchState
    from nutmeg.match.worlds.behavioural.eyes import EyesSettings

    Entry = str | Strategy
    """A strategy, by its name or its traits."""


@dataclass(frozen=True, kw_only=True)
class MatchResult:
    """How a match ended; pairs of numbers are those of the team that began on the left, and of the other."""

    seed: int
    goals: tuple[int, int]
    falls: tuple[int, int]
    fouls: tuple[int, int]
    time: float
    """Game time, s."""
    over: bool
    """Whether it was played to its end."""


class BehaviourGames:
    """M matches.

    Args:
        rules: the rule book; its pitch must be that of the field.
        left: the strategy of the teams that begin on the left: one for all matches, or (M) one for each.
        right: the same of the others.
        seeds: (M,) one for each match.
        field: what is played on.
        settings: what robots and ball can do: a name, a file, the settings, or (M) settings.
        eyes: what players sense with: a name, a file, or the settings; None for those that go with the robots.
        players: of a team; as many as the rules allow if left out.
        kick_off: who starts: one for all matches, or (M).
        threads: how many to use; results are the same.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        left: Entry | Sequence[Entry],
        right: Entry | Sequence[Entry],
        seeds: Sequence[int],
        field: str = "spl2011",
        settings: str | Path | BehaviourSettings | Sequence[BehaviourSettings] = "nao",
        eyes: str | Path | EyesSettings | None = None,
        players: int | None = None,
        kick_off: Side | Sequence[Side] = Side.LEFT,
        threads: int = 1,
    ) -> None:
        check_pitch(rules, field)
        count = len(seeds)
        self.rules, self.threads, self.seeds = rules, max(threads, 1), tuple(int(seed) for seed in seeds)
        each = _each_settings(settings, count)
        keys = np.array([seed % 2**64 for seed in self.seeds], np.uint64)
        self.world = BehaviourWorld(each, load_field(field), count=count, seeds=keys)
        self.perception = SymbolicSenses(eyes_for(each[0], eyes), self.world)
        self.states = [new_match(kick_off=side) for side in _each_side(kick_off, count)]
        """The referee's memory of each match."""
        self.swapped = np.zeros(count, bool)
        """(M,) whether teams have changed ends."""
        self._counts = np.zeros((count, 2, len(COUNTED_EVENTS)), np.int64)
        self._touching = rules.fouls.touching.on or rules.fouls.charging.on
        self._since, self._due = np.zeros(count), np.zeros(count)
        self._modes, self._flags = np.zeros(count, np.int64), np.zeros(count, bool)
        inactive = rules.fouls.inactive
        self._looks = Looks(
            place=np.full((count, SLOTS, 2), np.nan),
            at=np.zeros(count),
            due=np.full(count, np.inf),
            interval=inactive.look_interval,
            distance=inactive.ball_distance,
            movement=inactive.movement,
        )
        self._low, self._held = np.zeros((count, SLOTS), bool), np.zeros((count, SLOTS), bool)
        self._beamed = np.zeros((count, SLOTS), bool)
        self._minds, self._orders = new_minds(count, SLOTS), np.zeros((count, SLOTS, ORDER))
        self._traits = np.stack([_traits(left, count, "left"), _traits(right, count, "right")], axis=1)
        number = rules.match.players if players is None else players
        self._players = np.full(count, number, np.int64)
        radius = self.world.ball_radius
        self._grounds = np.array([ground_row(rules, abilities_of(s, ball_radius=radius)) for s in each])
        for m in range(count):
            for slot in (slot_of(side, n) for side in Side for n in range(1, number + 1)):
                self.world.join(m, slot)
                self.perception.greet(m, slot)

    @property
    def over(self) -> Bools:
        """(M,) which matches have ended."""
        over: Bools = self._modes == int(PlayMode.GAME_OVER)
        return over

    def run(self, seconds: float | None = None) -> list[MatchResult]:
        """Plays so long, or until all matches are over; the results of all."""
        cycles = None if seconds is None else round(seconds / CYCLE)
        if cycles is None and not self.rules.match.automatic_kick_off:
            raise UsageError("these matches would never end: say how long to play, or use automatic_kick_off.")
        going = np.flatnonzero(~self.over)
        chunks = [chunk for chunk in np.array_split(going, self.threads) if len(chunk)]
        if len(chunks) <= 1:
            for chunk in chunks:
                self._play(chunk, cycles)
        else:
            with ThreadPoolExecutor(len(chunks)) as pool:
                for future in [pool.submit(self._play, chunk, cycles) for chunk in chunks]:
                    future.result()
        return self.results()

    def _play(self, chosen: Ints, cycles: int | None) -> None:
        """Plays some matches until they are over, or for so many cycles."""
        played = 0
        while len(chosen) and (cycles is None or played < cycles):
            self.cycle(chosen)
            played += 1
            if self.over[chosen].any():
                chosen = chosen[~self.over[chosen]]

    def cycle(self, chosen: Ints) -> None:
        """Plays one cycle of some matches (K,)."""
        world, pitch = self.world, self.rules.pitch
        begun = chosen[world.state.cycle[chosen] > 0]
        if len(begun):
            self._decide(begun)
        world.step(chosen)
        find_matters(
            chosen, world.rows, pitch.length / 2, pitch.width / 2, CYCLE, self._touching,
            self._due, self._since, self._low, self._flags, self._looks,
        )  # fmt: skip
        for m in chosen[self._flags[chosen]].tolist():
            self._judge(m)
        self.perception.sense_all(chosen)

    def _decide(self, chosen: Ints) -> None:
        """Asks everybody in some matches (K,), and orders what they want."""
        decide_matches(
            chosen, self.world.rows, self.perception.beliefs, self._modes, self._players, self._grounds, self._traits,
            self._minds, self._orders, self._held, self._beamed,
        )  # fmt: skip
        self.perception.all_placed(chosen, self._beamed)

    def _judge(self, m: int) -> None:
        """Asks the referee about a match."""
        before, since = self._before(m)
        state, decisions = judge(before, self.world.facts(m, time_step=since), self.rules)
        for decision in decisions:
            self._obey(m, decision)
        self.states[m], self._modes[m] = state, int(state.mode)
        self._since[m], self._due[m] = 0.0, time_to_next_judgement(state, self.rules, looks=False)
        self._looks.at[m], self._looks.due[m] = 0.0, time_to_next_look(state, self.rules)
        if state.still is not before.still:
            self._looks.place[m] = np.nan if state.still is None else state.still.place.reshape(SLOTS, 2)
        if state.held is not before.held:
            self._held[m] = penalised(state).reshape(SLOTS)

    def _before(self, m: int) -> tuple[MatchState, float]:
        """What the referee remembers of a match, and the time since then: that of the last judgement, or look."""
        state, since, look = self.states[m], float(self._since[m]), float(self._looks.at[m])
        if 0.0 < look < since:  # a match that was begun anew is judged at once: its looks are of the one before
            return state_after_look(state, look, self._looks.place[m].reshape(*PLAYERS_SHAPE, 2).copy()), since - look
        return state, since

    def _obey(self, m: int, decision: Decision) -> None:
        if isinstance(decision, Event):
            if decision.kind in COUNTED_EVENTS and decision.side is not None:
                team = int(decision.side) ^ int(self.swapped[m])
                self._counts[m, team, COUNTED_EVENTS.index(decision.kind)] += 1
            return
        self.world.carry_out(m, decision)
        self.perception.follow(m, decision)
        if isinstance(decision, SwapEnds):
            self.perception.swap_ends(m)
            for array in (self._minds, self._low, self._held):
                array[m] = np.roll(array[m], SLOTS // 2, axis=0)
            self._traits[m] = self._traits[m, ::-1].copy()
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
            time=state.time + (float(self._since[m]) if clock_runs(state.mode) else 0.0),
            over=state.mode is PlayMode.GAME_OVER,
        )


def _each_settings(
    settings: str | Path | BehaviourSettings | Sequence[BehaviourSettings], count: int
) -> list[BehaviourSettings]:
    if isinstance(settings, BehaviourSettings):
        return [settings] * count
    if isinstance(settings, Sequence) and not isinstance(settings, str):
        return list(settings)
    return [load_behaviour(settings)] * count


def _each_side(sides: Side | Sequence[Side], count: int) -> list[Side]:
    """One for each match."""
    found = [sides] * count if isinstance(sides, Side) else list(sides)
    if len(found) != count:
        raise UsageError(f"kick_off has {len(found)} sides for {count} matches; one for all is fine, or one for each.")
    return found


def _traits(entries: Entry | Sequence[Entry], count: int, name: str) -> Floats:
    """(M, 10) traits of strategies."""
    found = [entries] * count if isinstance(entries, str | Strategy) else list(entries)
    if len(found) != count:
        raise UsageError(f"{name} has {len(found)} entries for {count} matches; one for all is fine, or one for each.")
    return np.array([(strategy(one) if isinstance(one, str) else one).row() for one in found])
