"""A match of robots without joints: world, referee, senses and messages, one decision cycle of 0.1 s after the other.

    game = BehaviourGame(load_rules("spl2011"), seed=7, left="reds", right="blues", record=Path("match.nutmeg"))
    players = game.team("reds", decide) | game.team("blues", strategy_decide("roles"))
    loop = GameLoop(game, players)
    game.record_with(minds=lambda: loop.players)
    loop.run()
    game.close()

Everything around it is that of the physical match (`match.game`): referee, loop, recording, page, report. Players get a
`View` and answer with a `Request` (`players.decide`); the answer to view k takes effect in the cycle that ends with
view k + 1. The same seed and the same requests give the same match, to the last bit, alone or among others.
"""

from __future__ import annotations

import math
from collections import deque
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.match.base_game import PICTURES_TOO_LATE, BaseGame
from nutmeg.match.players.behavioural import activity_of, order_from, seen_later
from nutmeg.match.players.decide import MAX_DECISION_TIME, Memory, Mind, Told, View, abilities_of, checked_structure
from nutmeg.match.players.tactics.decisions import CYCLES_PER_SECOND
from nutmeg.match.players.tracking.filters import arrives
from nutmeg.match.players.tracking.records import belief_of
from nutmeg.match.players.tracking.tracker import SymbolicSenses
from nutmeg.match.recording import MatchRecording
from nutmeg.match.rules.book import pitch_of
from nutmeg.match.rules.fouls import penalised
from nutmeg.match.rules.play_modes import Side, may_beam
from nutmeg.match.rules.slots import SLOTS, side_and_number, side_of_slot
from nutmeg.match.worlds.behavioural.cameras import Cameras
from nutmeg.match.worlds.behavioural.eyes import EyesSettings, eyes_names, load_eyes
from nutmeg.match.worlds.behavioural.figures import BehaviourFigures
from nutmeg.match.worlds.behavioural.settings import BehaviourSettings, load_behaviour
from nutmeg.match.worlds.behavioural.state import Legs, Posture
from nutmeg.match.worlds.behavioural.world import BehaviourWorld, beam_player
from nutmeg.match.worlds.physical.hearing import checked_message
from nutmeg.match.worlds.physical.percept import Heard
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from nutmeg.base.arrays import Bools
    from nutmeg.match.players.belief import Belief
    from nutmeg.match.players.decide import Decide, Image
    from nutmeg.match.players.request import Request
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.rules.decisions import Decision
    from nutmeg.match.rules.state import Facts
    from nutmeg.match.worlds.behavioural.state import MatchesState
    from nutmeg.match.worlds.physical.percept import GameView
    from nutmeg.model.field import FieldSettings


_MATCH, _ALL_MATCHES = 0, np.array([0])  # the only match of this world
_STANDING_SPEED = 0.02  # A player that is slower than this stands [m/s]


@dataclass(frozen=True, kw_only=True)
class BehaviourSetup:
    """The field of behavioural matches, the abilities of robots and ball, and the senses of players."""

    field: str = "spl2011"
    """Name of the field."""
    settings: str | Path | BehaviourSettings | Sequence[BehaviourSettings] = "nao"
    """Abilities of robots and ball: a name, a file, the settings, or (M) settings, one for each match."""
    eyes: str | Path | EyesSettings | None = None
    """Senses of the players: a name, a file, or the settings; None for those with the name of the robots' settings, or
    else `nao`."""
    cameras: bool = False
    """Whether players may ask for pictures (`View.images`); needs a renderer, and takes milliseconds each."""

    def ground(self, rules: Rules) -> FieldSettings:
        """The field; a rule book for another pitch is refused."""
        ground = load_field(self.field)
        pitch = pitch_of(ground, load_ball(ground.ball))
        if (pitch.length, pitch.width) != (rules.pitch.length, rules.pitch.width):
            raise UsageError(
                f"the rules {rules.name!r} are for a pitch of {rules.pitch.length:g} m x {rules.pitch.width:g} m, but "
                f"the field {self.field!r} has {pitch.length:g} m x {pitch.width:g} m; use "
                "rules.on(pitch_of(field, ball))."
            )
        return ground

    def behaviours(self, count: int = 1) -> list[BehaviourSettings]:
        """(M) the settings of robots and ball."""
        if isinstance(self.settings, BehaviourSettings):
            return [self.settings] * count
        if isinstance(self.settings, str | Path):
            return [load_behaviour(self.settings)] * count
        return list(self.settings)

    def senses(self) -> EyesSettings:
        """The settings of the senses."""
        if isinstance(self.eyes, EyesSettings):
            return self.eyes
        name = self.behaviours()[0].name
        return load_eyes(self.eyes or (name if name in eyes_names() else "nao"))


DEFAULT_SETUP = BehaviourSetup()


@dataclass(frozen=True, slots=True, kw_only=True)
class _PresentMind:
    """The part of a player that is recorded."""

    belief: Belief
    request: object
    log: Sequence[str]


class BehaviourGame(BaseGame):
    """A match.

    Args:
        rules: the rule book; its pitch must be that of the field.
        seed: seed of all random numbers.
        setup: field, bodies and senses.
        left: name of the left team; if empty, that of the first team to join.
        right: name of the right team; if empty, that of the second team to join.
        record: file of a recording to make, if any.
        kick_off: the side that takes the first kick-off.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        seed: int,
        setup: BehaviourSetup = DEFAULT_SETUP,
        left: str = "",
        right: str = "",
        record: Path | None = None,
        kick_off: Side = Side.LEFT,
    ) -> None:
        super().__init__(rules, seed=seed, left=left, right=right, record=record, kick_off=kick_off)
        self.settings, self.eyes, ground = setup.behaviours()[0], setup.senses(), setup.ground(rules)
        seeds = np.array([seed % 2**64], np.uint64)
        self.world = BehaviourWorld(self.settings, ground, count=1, seeds=seeds)
        self.senses = SymbolicSenses(self.eyes, self.world)
        self._wishes: Bools | None = None
        self._said: dict[int, str] = {}
        self._told: dict[int, dict[str, Any]] = {}
        self._posted: deque[_Post] = deque()
        self._cameras = Cameras(self.eyes, ground, load_ball(ground.ball)) if setup.cameras else None

    # ---- players

    def team(
        self, name: str, decide: Decide, players: int | None = None, *, longest: float = MAX_DECISION_TIME
    ) -> dict[tuple[str, int], Mind]:
        """Players of a team that all decide alike, each with its own memory, by team and number."""
        count = self.rules.match.players if players is None else players
        body = abilities_of(self.settings, ball_radius=self.world.ball_radius)
        return {
            (name, n): Mind(
                decide,
                Memory(team=name, number=n, players=count, rules=self.rules, body=body, seed=self.seed % 2**63),
                longest=longest,
            )
            for n in range(1, count + 1)
        }

    def join(self, side: Side, number: int, robot_type: int, team: str) -> None:
        """Lets a player join; all robots are alike, so that types make no difference."""
        slot = self._admit(side, number, team)
        self.world.join(_MATCH, slot)
        self.senses.greet(_MATCH, slot)
        self._take_in(slot, team, robot_type)

    def leave(self, slot: int) -> None:
        """Removes a player from the game."""
        if self.present[slot]:
            self.world.leave(_MATCH, slot)
            self._new.discard(slot)
            self._note("leave", slot)

    @property
    def present(self) -> Bools:
        """(22,) whether a robot plays."""
        present: Bools = self.world.state.present[_MATCH]
        return present

    # ---- a cycle

    @property
    def time(self) -> float:
        """Time of the world, which never stops, s."""
        return self.cycles / CYCLES_PER_SECOND

    def cycle(self, actions: Mapping[int, Request]) -> dict[int, View]:
        """Plays one cycle with what players answered to the last views; returns the next ones, by slot."""
        self._begin_recording(np.zeros(SLOTS, np.int64))
        self._order(actions)
        self.world.step()
        self._judge(self.world.facts(_MATCH, wants_pass=self._wishes))
        self.senses.update(_ALL_MATCHES)
        heard, told = self._delivered()
        views = {
            slot: self._view(slot, heard.get(slot, ()), told.get(slot, ()))
            for slot in np.flatnonzero(self.present).tolist()
        }
        self._new.clear()
        self._sample()
        return views

    def _delivered(self) -> tuple[dict[int, tuple[Heard, ...]], dict[int, tuple[Told, ...]]]:
        """Sends the messages of this cycle, and returns those that arrive now, by slot of the listener."""
        voices, state = self.eyes.voices, self.world.state
        due = self.cycles + round(voices.delay * CYCLES_PER_SECOND)
        self._posted.append(_Post(due, self.state.time, self.time, dict(self._said), dict(self._told)))
        heard: dict[int, tuple[Heard, ...]] = {}
        told: dict[int, tuple[Told, ...]] = {}
        while self._posted and self._posted[0].due <= self.cycles:
            post = self._posted.popleft()
            heard |= deliver(post.said, state, _MATCH, loss=voices.loss, time=post.game_time, teams=self.teams)
            told |= deliver_structures(post.told, state, _MATCH, loss=voices.loss, time=post.time)
        return heard, told

    def _order(self, actions: Mapping[int, Request]) -> None:
        """Passes requests to the world; a player without a request continues what it did."""
        state, orders = self.world.state, self.world.orders
        held, self._wishes = penalised(self.state).reshape(SLOTS), None
        lying = (state.posture[_MATCH] == Posture.LYING).tolist()
        self._said.clear()
        self._told.clear()
        for slot, request in actions.items():
            if not self.present[slot]:
                continue
            if request.beam is not None and may_beam(self.state.mode):
                beam_player(state.players[_MATCH], slot, *request.beam)
                self.senses.placed(_MATCH, slot)
            order_from(request, orders, match=_MATCH, slot=slot, lying=lying[slot])
            if request.say is not None:
                self._said[slot] = request.say
            if request.tell is not None:
                self._told[slot] = checked_structure(request.tell)
            if request.wants_pass:
                self._wishes = np.zeros(SLOTS, bool) if self._wishes is None else self._wishes
                self._wishes[slot] = True
        orders.legs[_MATCH, held] = Legs.STAND

    def _view(self, slot: int, heard: tuple[Heard, ...], told: tuple[Told, ...]) -> View:
        """The view of a player."""
        state, (side, number) = self.world.state, side_and_number(slot)
        view: GameView = self.view
        ahead, left, turn = state.odometry[_MATCH, slot].tolist()
        yaw, pitch = state.head[_MATCH, slot].tolist()
        posture = int(state.posture[_MATCH, slot])
        echoes = self.senses.sonar.answers[_MATCH, slot].tolist()
        sonar_left, sonar_right = (math.inf if math.isnan(echo) else echo for echo in echoes)
        record, time = self.senses.beliefs[_MATCH, slot : slot + 1].copy(), self.time

        def believe() -> Belief:
            return belief_of(record, time)

        return View(
            time=time,
            cycle=self.cycles - 1,
            game=self._introduced(slot, view) if slot in self._new else view,
            team=self.teams[side],
            number=number,
            side=side,
            odometry=(ahead, left, turn),
            head=(yaw, pitch),
            upright=posture in (Posture.UPRIGHT, Posture.KICKING),
            doing=activity_of(posture, moves=bool(np.abs(state.speed[_MATCH, slot]).max() > _STANDING_SPEED)),
            see=seen_later(self.senses.sightings, _MATCH, slot),
            sonar=(sonar_left, sonar_right),
            heard=heard,
            told=told,
            believe=believe,
            belief_record=record,
            shares_beliefs=True,
            render=self._camera(slot),
        )

    def _camera(self, slot: int) -> Callable[[], Mapping[str, Image]] | None:
        """The function that renders a player's pictures on demand; None without cameras."""
        cameras, now = self._cameras, self.cycles
        if cameras is None:
            return None

        def render() -> Mapping[str, Image]:
            if self.cycles != now:
                raise UsageError(PICTURES_TOO_LATE)
            top, bottom = cameras.draw(self.world.state, _MATCH, [slot])[0]
            return {"top": top, "bottom": bottom}

        return render

    def close(self) -> None:
        """Ends the recording, and gives the renderer back; closing twice is fine."""
        super().close()
        if self._cameras is not None:
            self._cameras.close()
        self._cameras = None

    # ---- the referee and the trainer

    def _facts(self) -> Facts:
        return self.world.facts(_MATCH)

    def _do(self, decision: Decision) -> None:
        self.world.carry_out(_MATCH, decision)
        self.senses.follow(_MATCH, decision)

    def _settle(self) -> None:
        """Nothing is left to be done."""

    def _turn_round(self) -> None:
        self.world.swap_ends(_MATCH)
        self.senses.swap_ends(_MATCH)

    def place_ball(
        self, position: tuple[float, float, float] | None, velocity: tuple[float, float, float] | None = None
    ) -> None:
        """A trainer's order: put the ball somewhere, m, or give it a velocity, m/s, or both; None keeps it."""
        state = self.world.state
        x, y = state.ball[_MATCH].tolist() if position is None else position[:2]
        vx, vy = state.ball_speed[_MATCH].tolist() if velocity is None else velocity[:2]
        self.world.place_ball(_MATCH, x, y, vx, vy)

    def place_player(self, slot: int, position: tuple[float, float, float], heading: float | None = None) -> None:
        """A trainer's order: put a player somewhere, m; upright if a heading is given (degrees from +x)."""
        self._check_plays(slot)
        turn = None if heading is None else float(np.radians(heading))
        self.world.place(_MATCH, slot, position[0], position[1], turn)

    def _new_recording(self, path: Path) -> MatchRecording:
        return MatchRecording(
            path,
            BehaviourFigures(self.world, _MATCH),
            self.rules,
            seed=self.seed,
            config=self._recorded_config(world="behavioural", eyes=self.eyes.name),
            minds=None if self._minds is None else self._present_minds,
        )

    def _present_minds(self) -> dict[int, _PresentMind]:
        """The minds of the present players, with their beliefs of this cycle, which they get with the next view."""
        assert self._minds is not None
        beliefs, time = self.senses.beliefs[_MATCH], self.time
        return {
            slot: _PresentMind(
                belief=belief_of(beliefs[slot : slot + 1], time),
                request=getattr(mind, "request", None),
                log=getattr(mind, "log", ()),
            )
            for slot, mind in self._minds().items()
            if self.present[slot]
        }


def deliver(
    said: Mapping[int, str], state: MatchesState, match: int, *, loss: float, time: float, teams: tuple[str, str]
) -> dict[int, tuple[Heard, ...]]:
    """The messages that players hear of those said in a cycle, by slot of the listener.

    As in NaOISIS (seed 002, section 3.3) messages go to team-mates only and at any distance; which of them hears one is
    drawn for each listener anew, from the match's seed and cycle, so that the same match loses the same messages.
    Messages are those of the physical world, with the direction of the speaker, so that players can be used in both
    worlds; no player hears its own message. Beliefs that compiled players share use the same draws.

    Args:
        said: messages by slot of the speaker.
        state: the present players and their places, and the key of the random draws.
        match: row of the match.
        loss: probability that a message does not reach a listener.
        time: game time, s.
        teams: names of left and right.
    """
    for message in said.values():
        checked_message(message)
    return {
        listener: tuple(
            Heard(
                team=teams[side_of_slot(listener)],
                time=time,
                direction=_direction(state, match, listener, speaker),
                message=said[speaker],
            )
            for speaker in speakers
        )
        for listener, speakers in _reached(said, state, match, loss)
    }


def deliver_structures(
    told: Mapping[int, dict[str, Any]], state: MatchesState, match: int, *, loss: float, time: float
) -> dict[int, tuple[Told, ...]]:
    """The structured messages of a cycle that arrive, by slot of the listener; arguments as of `deliver`.

    Every listener gets its own copy. The random draws are those of plain messages: either both arrive or neither.
    """
    return {
        listener: tuple(
            Told(number=side_and_number(speaker)[1], time=time, content=deepcopy(told[speaker])) for speaker in speakers
        )
        for listener, speakers in _reached(told, state, match, loss)
    }


def _reached(speakers: Iterable[int], state: MatchesState, match: int, loss: float) -> Iterator[tuple[int, list[int]]]:
    """Listeners, with the slots of the team-mates whose messages of this cycle reach them; others are left out."""
    seed, cycle, present = state.seed[match], int(state.cycle[match]), state.present[match]
    said = [speaker for speaker in sorted(speakers) if present[speaker]]
    for listener in np.flatnonzero(present).tolist() if said else ():
        reached = [
            speaker
            for speaker in said
            if speaker != listener
            and side_of_slot(speaker) is side_of_slot(listener)
            and arrives(seed, cycle, speaker, listener, loss)
        ]
        if reached:
            yield listener, reached


@dataclass(frozen=True)
class _Post:
    """The messages of a cycle, until they arrive."""

    due: int
    """The cycle in which it arrives."""
    game_time: float
    time: float
    said: dict[int, str]
    told: dict[int, dict[str, Any]]


def _direction(state: MatchesState, match: int, listener: int, speaker: int) -> float:
    """Direction of a speaker, degrees to the left of the listener's heading."""
    x, y, _ = (state.pose[match, speaker] - state.pose[match, listener]).tolist()
    turn = math.degrees(math.atan2(y, x) - float(state.pose[match, listener, 2]))
    return math.remainder(turn, 360.0)
