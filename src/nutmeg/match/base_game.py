"""A match with two teams, a referee and a recording, in any world.

    class BehaviourGame(BaseGame):         # robots without joints: `match.behavioural_game`
    class Game(PhysicalGame):              # the league of rcssserver3d: `match.game`
    class MjGame(PhysicalGame):            # the league of rcssservermj: `match.mj_game`

The base class holds what all worlds share: the teams and their sides, the referee's state and decisions, the orders of
trainers, the view for monitors, and the recording. A world adds players, the facts for the referee, and how its
decisions are carried out. `PhysicalGame` is the base of worlds of robots with joints.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, TypeVar

from nutmeg.base.errors import UsageError
from nutmeg.base.interrupts import Closing
from nutmeg.match.recording import MatchRecording
from nutmeg.match.rules import trainer
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.decisions import Event, MovePlayer, SwapEnds
from nutmeg.match.rules.fouls import outside_place
from nutmeg.match.rules.judgement import Judgement
from nutmeg.match.rules.play_modes import WIRE_NAMES, PlayMode, Side
from nutmeg.match.rules.referee import judge
from nutmeg.match.rules.slots import SLOT_NAMES, SLOTS, free_slot, side_and_number, side_for
from nutmeg.match.rules.state import new_match
from nutmeg.match.worlds.physical.percept import GameView

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Bools, Ints
    from nutmeg.match.drawing import Drawing
    from nutmeg.match.recording import Figures, Minds
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.rules.decisions import Decision
    from nutmeg.match.rules.state import Facts, Held
    from nutmeg.match.worlds.physical.sonar import Sonars
    from nutmeg.match.worlds.seats import SeatedWorld
    from nutmeg.model.scene import SceneSettings


PICTURES_TOO_LATE = "these pictures were to be taken in a cycle that is over; ask for them when deciding."


class BaseGame(Closing):
    """The base of all matches: teams, referee, trainer's orders and recording.

    Args:
        rules: the rule book.
        seed: seed of all random numbers.
        left: name of the left team; if empty, that of the first team to join.
        right: name of the right team; if empty, that of the second team to join.
        record: file of a recording to make, if any.
        kick_off: the side that takes the first kick-off.
    """

    def __init__(self, rules: Rules, *, seed: int, left: str, right: str, record: Path | None, kick_off: Side) -> None:
        self.rules, self.seed, self.state = rules, seed, new_match(kick_off=kick_off)
        self.teams = (left, right)
        """Names of left and right."""
        self.cycles = 0
        """How many have been played."""
        self.facts: Facts | None = None
        """The facts of the last cycle."""
        self.events: tuple[Event, ...] = ()
        """Events of the last cycle, and of orders since."""
        self.fouls: list[Event] = []
        """All fouls that were called, in order."""
        self.foul_reports: list[Event] = []
        """Fouls as monitors receive them: again in every cycle in which an offender is held up."""
        self.refused: tuple[tuple[int, str], ...] = ()
        """Slots whose actions of the last cycle were invalid, with the reason; such actions are ignored."""
        self.swaps = 0
        """Number of changes of ends; each time, every player's slot changes by 11."""
        self.watchers: list[Callable[[BaseGame], None]] = []
        """Called after every cycle that was judged, with the game."""
        self._new: set[int] = set()
        self._past: list[Event] = []
        self._record = record
        self._record_config: dict[str, object] = {}
        self._minds: Minds | None = None
        self._recording: MatchRecording | None = None

    # ---- what a world has to say and to do

    @property
    @abstractmethod
    def present(self) -> Bools:
        """(22,) whether a robot plays."""

    @property
    @abstractmethod
    def time(self) -> float:
        """Time of the world, which continues when the game clock stops [s]."""

    @abstractmethod
    def _facts(self) -> Facts:
        """The present facts for the referee."""

    @abstractmethod
    def _do(self, decision: Decision) -> None:
        """Carries out a decision about the place of a player or the ball."""

    @abstractmethod
    def _settle(self) -> None:
        """Completes the decisions that were carried out."""

    @abstractmethod
    def _turn_round(self) -> None:
        """Moves everything that belongs to players to the other end."""

    @abstractmethod
    def _new_recording(self, path: Path) -> MatchRecording:
        """Begins a recording at a path, with what the world has to show."""

    @abstractmethod
    def cycle(self, actions: Mapping[int, Any]) -> dict[int, Any]:
        """Plays one cycle with the players' actions; returns their next percepts. Both are by slot."""

    def work_ahead(self) -> None:
        """Computes the part of the next cycle that needs no actions, in worlds that can; called while agents think."""

    @abstractmethod
    def leave(self, slot: int) -> None:
        """Removes a player from the game."""

    @abstractmethod
    def join(self, side: Side, number: int, robot_type: int, team: str) -> None:
        """Lets a player join; its next percept has its number and side."""

    @abstractmethod
    def place_player(self, slot: int, position: tuple[float, float, float], heading: float | None = None) -> None:
        """A trainer's order: put a player somewhere, m; upright if a heading is given (degrees from +x)."""

    # ---- players

    def enter(self, team: str, number: int = 0, robot_type: int = 0) -> int:
        """Lets a player join by the name of its team and returns its slot; number 0 takes the lowest free one.

        The first team to come plays from the left, the second from the right, unless the game has given the names.
        """
        side = side_for(self.teams, team)
        slot = self._free_slot(side, number)
        self.join(side, side_and_number(slot)[1], robot_type, team)
        return slot

    @property
    def max_number(self) -> int:
        """The highest number that a player may have."""
        return self.rules.match.players

    def _free_slot(self, side: Side, number: int) -> int:
        players = self.rules.match.players
        return free_slot(self.present, side, number, most=self.max_number, players=players)

    def _admit(self, side: Side, number: int, team: str) -> int:
        """The slot of a player that joins, if it may."""
        if not team or (self.teams[side] and self.teams[side] != team):
            raise UsageError(f"{team!r} cannot play from the {side.word}: that is where {self.teams[side]!r} plays.")
        return self._free_slot(side, number)

    def _take_in(self, slot: int, team: str, robot_type: int) -> None:
        """Notes that a player has joined."""
        side = side_and_number(slot)[0]
        self.teams = (team, self.teams[1]) if side is Side.LEFT else (self.teams[0], team)
        self._new.add(slot)
        self._note("join", slot, type=robot_type, team=team)

    def _introduced(self, slot: int, view: GameView) -> GameView:
        """The view of a new player, with its number and side."""
        side, number = side_and_number(slot)
        return view._replace(number=number, side=side)

    # ---- the referee and the trainer

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return self.state.mode is PlayMode.GAME_OVER

    def _obey(self, decisions: Sequence[Decision]) -> None:
        """Carries out, reports and records decisions."""
        for decision in decisions:
            if isinstance(decision, Event):
                self._past.append(decision)
                if decision.kind == "foul":
                    self.fouls.append(decision)
                    self.foul_reports.append(decision)
                self._write(decision.kind, decision.side, game_time=decision.time, **decision.fields())
            elif isinstance(decision, SwapEnds):
                self._swap_ends()
            else:
                self._do(decision)
        self.events = tuple(self._past)
        self._settle()

    def _judge(self, facts: Facts) -> None:
        """Counts a cycle that was played, and has the referee look at it."""
        self.cycles += 1
        self.facts = facts
        self._past.clear()
        held = self.state.held
        self.state, decisions = judge(self.state, facts, self.rules)
        if decisions:
            self._report_held(held, decisions)
            self._obey(decisions)
        else:
            self.events = ()
        for watcher in self.watchers:
            watcher(self)

    def _report_held(self, held: Sequence[Held], decisions: Sequence[Decision]) -> None:
        """Reports the fouls of players that were held up before this cycle and are held or put outside in it.

        rcssserver3d records their foul anew in every cycle until the offender stands outside: with its hold time of
        0.5 s, a charging foul is 26 reports. A pause of the game cancels penalties; offenders are not moved then.
        """
        moved = {(move.side, move.number) for move in decisions if isinstance(move, MovePlayer)}
        for one in held:
            offender = (one.side, one.index + 1)
            if one.place is None and offender in moved:
                called = (event for event in reversed(self.fouls) if (event.side, event.number) == offender)
                self.foul_reports += itertools.islice(called, 1)

    def _swap_ends(self) -> None:
        self._turn_round()
        self.teams = (self.teams[1], self.teams[0])
        self._new = {(slot + SLOTS // 2) % SLOTS for slot in self._new}
        self.swaps += 1
        if self._recording is not None:
            self._recording.swap_ends(self.time, self.teams)

    def set_play_mode(self, mode: PlayMode) -> None:
        """A trainer's order: go to a play mode."""
        self.state, decisions = trainer.set_play_mode(self.state, self.rules, self._facts(), mode)
        self._obey(decisions)

    def kick_off(self, side: Side | None = None) -> None:
        """A trainer's order: start a half, or again from the centre."""
        self.state, decisions = trainer.kick_off(self.state, self.rules, self._facts(), side)
        self._obey(decisions)

    def drop_ball(self) -> None:
        """A trainer's order: put the ball down where it is, and play on."""
        self.state, decisions = trainer.drop_ball(self.state, self.rules, self._facts())
        self._obey(decisions)

    def set_score(self, left: int, right: int) -> None:
        """A trainer's order: sets the score of the left and the right team."""
        self.state = trainer.set_score(self.state, left, right)

    def set_time(self, time: float) -> None:
        """A trainer's order: set the game's clock, s."""
        self.state = trainer.set_time(self.state, time)

    def send_off(self, slot: int) -> None:
        """A trainer's order: put a player beside the pitch, as after a foul."""
        side, number = side_and_number(slot)
        x, y = outside_place(Judgement(self.state, self._facts(), self.rules), side, number - 1)
        self.place_player(slot, (x, y, 0.0), 90.0 if y < 0 else -90.0)

    def _check_plays(self, slot: int) -> None:
        """Refuses an order about a player that is not present."""
        if not self.present[slot]:
            raise UsageError(f"{SLOT_NAMES[slot]} does not play and cannot be put anywhere.")

    # ---- what monitors show

    @property
    def view(self) -> GameView:
        """Play mode, game time and score."""
        state = self.state
        left, right = state.score
        return GameView(mode=WIRE_NAMES[state.mode], time=state.time, score_left=left, score_right=right)

    @property
    def half(self) -> int:
        """1 or 2; more in extra time."""
        return self.state.half

    @property
    def team_names(self) -> tuple[str, str]:
        """Names of the left and the right team; empty while no player has joined."""
        return self.teams

    # ---- the recording

    def record_with(self, *, minds: Minds | None = None, config: Mapping[str, object] | None = None) -> None:
        """Sets before the first cycle what else to record: the minds of players, and the configuration of the match."""
        if self._record is None:
            raise UsageError(
                "there is no recording, or it has begun already; say what to record before the first cycle."
            )
        self._minds, self._record_config = minds, dict(config or {})

    def _recorded_config(self, **more: object) -> dict[str, object]:
        """The configuration in the recording: teams, what a world adds, and that of `record_with`."""
        return {"left": self.teams[0], "right": self.teams[1], **more, **self._record_config}

    def _begin_recording(self, types: Ints) -> None:
        """Begins the recording with the first cycle, when the types (22,) of the present robots are known."""
        if self._record is not None:
            self._recording = self._new_recording(self._record)
            self._record = None
            for slot in self.present.nonzero()[0].tolist():
                side = side_and_number(slot)[0]
                self._note("join", slot, type=int(types[slot]), team=self.teams[side])

    def _sample(self) -> None:
        """Writes the moment down, if there is a recording."""
        if self._recording is not None:
            self._recording.sample(self.time, self.state)

    def _note(self, kind: str, slot: int, **fields: object) -> None:
        """Writes something about a player down."""
        side, number = side_and_number(slot)
        self._write(kind, side, side=side.word, number=number, **fields)

    def _write(self, kind: str, of: Side | None, **fields: object) -> None:
        """Writes an event down, with the name of the team that it is about."""
        if self._recording is not None:
            team = {} if of is None else {"team": self.teams[of]}
            self._recording.event(self.time, kind, **{**team, **fields})

    def close(self) -> None:
        """Ends the recording; closing twice is fine."""
        if self._recording is not None:
            self._recording.close()
        self._recording = None


class PhysicalGame(BaseGame):
    """The base of all matches of robots with joints: a world with seats, and actions that wait for the next cycle.

    Args:
        rules: the rule book; its pitch must be that of the field.
        world: the robots and the ball.
        make_drawing: draws the scene that viewers of the recording show.
        names: the arguments of `BaseGame`: seed, names of the teams, recording, and the side that kicks off.
    """

    world: SeatedWorld
    sonars: Sonars | None = None
    """The sonars of the robots, where they have some."""

    def __init__(
        self,
        rules: Rules,
        world: SeatedWorld,
        make_drawing: Callable[[SceneSettings], Drawing],
        **names: Any,  # noqa: ANN401 (as of `BaseGame`)
    ) -> None:
        super().__init__(rules, **names)
        self.world, self._make_drawing = world, make_drawing
        self._waiting: dict[int, Any] = {}
        """Beams, messages and requests for pass mode of the next cycle, by slot."""

    @abstractmethod
    def _figures(self) -> Figures:
        """The figures that a recording shows."""

    @property
    def present(self) -> Bools:
        """(22,) whether a robot plays."""
        return self.world.present

    @property
    def max_number(self) -> int:
        """11, also in a team of six, because agents of both leagues choose their numbers."""
        return MAX_PLAYERS

    def leave(self, slot: int) -> None:
        """Removes a player from the game."""
        if self.present[slot]:
            self.world.leave(slot)
            self._waiting.pop(slot, None)
            self._new.discard(slot)
            self._note("leave", slot)

    def _facts(self) -> Facts:
        return self.world.facts()

    def _do(self, decision: Decision) -> None:
        self.world.carry_out(decision)

    def _turn_round(self) -> None:
        self.world.swap_ends()
        self._waiting = other_end(self._waiting)

    def place_ball(
        self, position: tuple[float, float, float] | None, velocity: tuple[float, float, float] | None = None
    ) -> None:
        """A trainer's order: put the ball somewhere [m], or give it a velocity [m/s], or both; None keeps it."""
        place = self.world.ball.tolist() if position is None else position
        self.world.place_ball(place, self.world.ball_velocity.tolist() if velocity is None else velocity)
        self._settle()

    def _new_recording(self, path: Path) -> MatchRecording:
        return MatchRecording(
            path,
            self._figures(),
            self.rules,
            seed=self.seed,
            config=self._recorded_config(),
            minds=self._minds,
            sonars=self.sonars,
            make_drawing=self._make_drawing,
        )


Item = TypeVar("Item")


def other_end(by_slot: Mapping[int, Item]) -> dict[int, Item]:
    """A mapping by slot after the teams have changed ends."""
    return {(slot + SLOTS // 2) % SLOTS: item for slot, item in by_slot.items()}
