"""A match: the world, the referee, the senses and the messages, one cycle of 20 ms after the other.

    game = Game(load_rules("sim3d"), seed=7, left="reds", right="blues", record=Path("match.nutmeg"))
    players = {game.enter("reds", 1): Keeper(), game.enter("blues", 1): Keeper()}
    percepts = game.cycle({})
    while not game.over:
        percepts = game.cycle({slot: players[slot].act(percept) for slot, percept in percepts.items()})
    game.close()

Actions have a latency of two cycles, as on the league's server: a beam, a message or joint speeds computed from percept
k take effect in percept k + 2; joints begin to move with percept k + 1. All players get an image every third cycle. The
same seed and the same actions give the same match, to the last bit.

Trainers and monitors give orders between cycles (`set_play_mode`, `kick_off`, `place_ball` and others). The number of
robots that can play is fixed at the start (`seats`); players that join when all seats are taken are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UsageError
from nutmeg.match.base_game import PICTURES_TOO_LATE, PhysicalGame
from nutmeg.match.drawing import draw
from nutmeg.match.newcomers import Newcomers
from nutmeg.match.pictures import MatchCameras
from nutmeg.match.recording import LeagueFigures
from nutmeg.match.rules.play_modes import Side, may_beam
from nutmeg.match.rules.slots import ROBOT_TYPES, SLOTS, check_types
from nutmeg.match.worlds.physical.ground import BODIES, TOED_TYPE
from nutmeg.match.worlds.physical.hearing import Hearing, checked_message
from nutmeg.match.worlds.physical.percept import WITH_TOES, WITHOUT_TOES, Action, Percept
from nutmeg.match.worlds.physical.sonar import SONAR_CYCLES, Sonars
from nutmeg.match.worlds.physical.vision import IMAGE_CYCLES, Seeing
from nutmeg.match.worlds.physical.world import MatchWorld

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Bools, Bytes, Floats, Ints
    from nutmeg.match.drawing import Drawing
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.worlds.physical.percept import Heard, Sight
    from nutmeg.model.scene import SceneSettings


CYCLES_A_SECOND = round(1 / CONTROL_CYCLE)
NOTHING_HEARD: Mapping[int, tuple[Heard, ...]] = {}
NO_ECHOES: Mapping[int, tuple[float, float]] = {}


@dataclass(frozen=True, kw_only=True)
class PhysicalSetup:
    """The field of a physical match, what its players perceive, and how it is drawn."""

    field: str = "sim3d"
    """Name of the field; the pitch of the rule book must be its."""
    toed: int = 0
    """Number of seats for robots with toes (type 4)."""
    noise: bool = True
    """Whether cameras and sonars have noise."""
    beam_noise: bool = True
    """Whether beams have noise."""
    ground_truth: bool = False
    """Whether players receive their true pose and that of the ball."""
    sonar: bool = False
    """Whether robots have two sonars (`worlds.physical.sonar`), which the league's have not."""
    cameras: bool = False
    """Whether players may ask for pictures (`Percept.render`, `View.images`), which the league has not; needs a
    renderer."""
    type_limits: bool = False
    """Whether a team is limited to 7 robots of one type and 9 of any two."""
    kick_off: Side = Side.LEFT
    """The side that takes the first kick-off."""
    make_drawing: Callable[[SceneSettings], Drawing] = draw
    """Draws the scene that viewers of the recording show."""


DEFAULT_SETUP = PhysicalSetup()


class Game(PhysicalGame):
    """A match.

    Args:
        rules: the rule book; its pitch must be that of the field.
        seed: seed of all random numbers.
        setup: field and senses.
        left: name of the left team; if empty, that of the first team to join.
        right: name of the right team; if empty, that of the second team to join.
        record: file of a recording to make, if any.
        seats: number of robots that can play at once; each costs some microseconds a cycle, even while not in use.
    """

    world: MatchWorld

    def __init__(
        self,
        rules: Rules,
        *,
        seed: int,
        setup: PhysicalSetup = DEFAULT_SETUP,
        left: str = "",
        right: str = "",
        record: Path | None = None,
        seats: int = SLOTS,
    ) -> None:
        world = MatchWorld(setup.field, seats=seats, toed=setup.toed)
        names = {"seed": seed, "left": left, "right": right, "record": record, "kick_off": setup.kick_off}
        super().__init__(rules, world, setup.make_drawing, **names)
        cameras, beams, newcomers, echoes = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(4))
        self.seeing, newcomers_see = (
            Seeing(self.world.field, rng if setup.noise else None, ground_truth=setup.ground_truth)
            for rng in (cameras, newcomers)
        )
        self._newcomers = Newcomers(rules, newcomers_see)
        self.hearing = Hearing()
        if setup.sonar:
            self.sonars = Sonars(self.world, echoes if setup.noise else None)
        self._cameras = MatchCameras(LeagueFigures(self.world)) if setup.cameras else None
        self._beams = beams if setup.beam_noise else None
        self._setup = setup
        self._asks_pass: Bools | None = None
        self._begun = False

    # ---- players

    def join(self, side: Side, number: int, robot_type: int, team: str) -> None:
        """Lets a player join; its next percept has its number and side."""
        slot = self._admit(side, number, team)
        if robot_type not in ROBOT_TYPES:
            raise UsageError(f"robot type {robot_type} is not known; types are 0 to {ROBOT_TYPES[-1]}.")
        if self._setup.type_limits:
            check_types(self.robot_types, self.present, side, robot_type)
        self.world.join(slot, robot_type)
        x, y, heading = self._newcomers.next_place(side)
        # As on the league's server, newcomers drop from a little above the ground.
        self.world.place(slot, x=x, y=y, height=self.rules.restarts.player_radius, heading=heading)
        self.world.settle()
        self.seeing.greet(slot)
        self.hearing.greet(slot)
        self._take_in(slot, team, robot_type)

    # ---- a cycle

    @property
    def time(self) -> float:
        """Time of the server, which continues when the game clock stops [s]."""
        return self.cycles / CYCLES_A_SECOND

    def cycle(self, actions: Mapping[int, Action]) -> dict[int, Percept]:
        """Plays one cycle with the actions on the last percepts; returns the next percepts, by slot."""
        if self._record is not None:
            self._begin_recording(self.world.types)
        if not self._begun:
            self._asks_pass = self._carry_out(self._waiting)
        self._begun = False
        self._waiting = self._command(actions)
        self.world.step()
        self._judge(self.world.facts(self._asks_pass))
        percepts = self._percepts()
        self._sample()
        return percepts

    def work_ahead(self) -> None:
        """Begins the next cycle while the server waits for actions, which take effect one cycle later only."""
        if not self._begun:
            self._asks_pass, self._begun = self._carry_out(self._waiting), True
            self.world.step_ahead()

    def _carry_out(self, actions: Mapping[int, Action]) -> Bools | None:
        """Beams players and sends their messages; returns which players ask for pass mode, (22,), or None."""
        asking = None
        for slot, action in actions.items():
            if not self.world.present[slot]:
                continue
            if action.beam is not None and may_beam(self.state.mode):
                self.world.beam(slot, *action.beam, noise=self._beams)
            if action.say is not None:
                self.hearing.say(slot, action.say)
            if action.wants_pass:
                asking = np.zeros(SLOTS, bool) if asking is None else asking
                asking[slot] = True
        return asking

    def _command(self, actions: Mapping[int, Action]) -> dict[int, Action]:
        """Passes joint speeds to the world, which delays them itself; returns actions with a beam, message or pass."""
        waiting: dict[int, Action] = {}
        slots: list[int] = []
        speeds: list[Floats] = []
        self.refused = ()
        for slot, action in actions.items():
            if not self.world.present[slot]:
                continue
            try:
                _check(action)
            except UsageError as error:
                self.refused = (*self.refused, (slot, str(error)))
                continue
            if action.beam is not None or action.say is not None or action.wants_pass:
                waiting[slot] = action
            if action.speeds is not None:
                slots.append(slot)
                speeds.append(action.speeds)
        if slots:
            self.world.command(slots, speeds)
        return waiting

    def _percepts(self) -> dict[int, Percept]:
        """The percepts of all players, by slot."""
        world, time = self.world, self.time
        playing = world.playing.tolist()
        sights: dict[int, Sight] = {}
        if self.cycles % IMAGE_CYCLES == 0 and playing:
            sights = self.seeing.look(world, self.teams)
        sonar = self._listen() if self.cycles % SONAR_CYCLES == 0 and playing else NO_ECHOES
        if self._cameras is not None and playing:
            self._cameras.prepare(swapped=bool(self.swaps % 2))
        heard = self._heard(playing)
        view, types, percepts = self.view, world.types.tolist(), {}
        gyro, acc, angles, forces = world.gyro, world.acc, world.angles, world.forces
        for slot in playing:
            toes = types[slot] == TOED_TYPE
            percepts[slot] = Percept(
                time=time,
                game=self._introduced(slot, view) if slot in self._new else view,
                gyro=gyro[slot],
                acc=acc[slot],
                angles=angles[slot] if toes else angles[slot, :WITHOUT_TOES],
                forces=forces[slot] if toes else forces[slot, :2],
                hears=heard.get(slot, ()),
                sight=sights.get(slot),
                sonar=sonar.get(slot),
                render=None if self._cameras is None else self._camera(self._cameras, slot),
            )
        self._new.clear()
        return percepts

    def _listen(self) -> Mapping[int, tuple[float, float]]:
        """What the sonars of all players measure now, by slot; empty without sonars."""
        if self.sonars is None:
            return NO_ECHOES
        self.sonars.listen()
        answers = np.where(np.isnan(self.sonars.answers), math.inf, self.sonars.answers).tolist()
        return {slot: (answers[slot][0], answers[slot][1]) for slot in self.world.playing.tolist()}

    def _camera(self, cameras: MatchCameras, slot: int) -> Callable[[], Mapping[str, Bytes]]:
        """The function that renders a player's pictures on demand."""
        now = self.cycles

        def render() -> Mapping[str, Bytes]:
            if self.cycles != now:
                raise UsageError(PICTURES_TOO_LATE)
            return cameras.draw(slot, swapped=bool(self.swaps % 2))

        return render

    def close(self) -> None:
        """Ends the recording, and gives the renderer back; closing twice is fine."""
        super().close()
        if self._cameras is not None:
            self._cameras.close()

    def _heard(self, playing: Sequence[int]) -> Mapping[int, tuple[Heard, ...]]:
        if not self.hearing.busy:
            self.hearing.pause()
            return NOTHING_HEARD
        world = self.world
        return self.hearing.deliver(self.state.time, playing, world.position, world.headings(), self.teams)

    def percept_before_joining(self, robot_type: int, percepts: int) -> Percept:
        """The percept number `percepts` of an agent that has a robot, but no team and number yet."""
        return self._newcomers.percept(
            self.world, self.view, time=self.time, teams=self.teams, robot_type=robot_type, percepts=percepts
        )

    # ---- the referee and the trainer

    def _settle(self) -> None:
        self.world.settle()

    def _turn_round(self) -> None:
        super()._turn_round()
        self.seeing.swap_ends()
        self.hearing.swap_ends()
        if self.sonars is not None:
            self.sonars.swap_ends()

    def place_player(self, slot: int, position: tuple[float, float, float], heading: float | None = None) -> None:
        """A trainer's order: put a player somewhere, m; upright if a heading is given (degrees from +x)."""
        self._check_plays(slot)
        x, y, z = position
        turn = None if heading is None else float(np.radians(heading))
        self.world.place(slot, x=x, y=y, height=z, heading=turn)
        self.world.settle()

    # ---- what monitors show

    @property
    def robot_types(self) -> Ints:
        """(22,) types of the robots that play."""
        return self.world.types

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies of a robot: rows of `body_poses`."""
        return BODIES

    def body_poses(self) -> tuple[Floats, Floats]:
        """(22, bodies, 3) places and (22, bodies, 3, 3) attitudes; zeros for robots that do not play."""
        return self.world.body_poses()

    def ball_pose(self) -> tuple[Floats, Floats]:
        """(3,) place and (3, 3) attitude of the ball."""
        return self.world.ball_pose()

    def _figures(self) -> LeagueFigures:
        return LeagueFigures(self.world)


def _check(action: Action) -> None:
    """Refuses impossible actions."""
    if action.say is not None:
        checked_message(action.say)
    if action.beam is not None and not all(map(math.isfinite, action.beam)):
        raise UsageError(f"a player cannot be beamed to {action.beam}; x, y and heading must be finite numbers.")
    if action.speeds is not None and len(action.speeds) not in (WITHOUT_TOES, WITH_TOES):
        raise UsageError(
            f"{len(action.speeds)} joint speeds were given; a robot has {WITHOUT_TOES} joints, with toes {WITH_TOES}."
        )
