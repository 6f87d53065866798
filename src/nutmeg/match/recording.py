"""The recording of a match: robots, ball, the state of the game, beliefs and requests of players, and events.

    teams = {"left": "reds", "right": "blues"}
    recording = MatchRecording(Path("final.nutmeg"), LeagueFigures(world), rules, seed=7, config=teams)
    recording.sample(time, state)
    recording.event(time, "goal", side="left")

Robots are called `left1` to `right11`, by the side on which their team *began*: they keep their names, shirts and
channels when the teams change ends. The scene contains all visual shapes, so that viewers need nothing else. Robots
that do not play lie below the ground. A robot has the shape of the type that joined last under its name; for robots
that join after the beginning, the scene is corrected when the recording ends. Toes cannot be added by then: a robot
that joins late as type 4 is drawn as type 0. Channels are those of every scene (`<robot>.pose`, `<robot>.angles`,
`ball.pose`), and

    game.state          play mode by index, game time, goals of the left and the right end, half, whether the teams have
                        changed ends, and the robot that touched the ball last (0..10 are `left1`.., 11..21 `right1`..;
                        -1 for none)
    <robot>.belief      the player's belief: its pose (x, y, heading), the ball's place, the age of that, and the
                        standard deviations of all three; on the pitch, from the percept of the previous cycle
    <robot>.others      its belief about the other robots' places, and their ages, every 0.2 s (in the behavioural
                        world, every cycle); missing if older than 5 s
    <robot>.request     its request: legs by index (`behavioural.state.Legs`), the velocities of a walk, kind
                        (`behavioural.state.KickKind`) and strength of a kick, direction of the head; missing if unknown

    <robot>.sonar       the distances that its left and its right sonar measured last; missing without an echo

Beliefs and requests are recorded if `minds` are given, and sonars if the match has them; the configuration then has
their cones and range as `sonar`. Events are `join`, `leave`, `swap_ends`, `intent` (a player's
intent has changed), `lost_turn` (a player failed, with its traceback), and all of the referee's. Those about a player
have its `robot`, and those about a side its `team`.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol

import numpy as np

from nutmeg.base.angles import wrap_angle_exactly
from nutmeg.base.arrays import Bools, Floats
from nutmeg.base.errors import RecordingError
from nutmeg.base.journal import replace_file
from nutmeg.match.drawing import POSE, Kind, draw, match_scene
from nutmeg.match.players.behavioural import request_row
from nutmeg.match.players.request import Request
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.rules.slots import SLOT_NAMES, SLOTS, side_of_slot, slot_of
from nutmeg.match.worlds.physical.percept import JOINTS, PHYSICS, ROBOT
from nutmeg.recording import Channel, Manifest, RecordingWriter
from nutmeg.recording.manifest import SCENE
from nutmeg.sim.trace import ANGLE_STEP, POSE_LABELS, POSE_STEP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from nutmeg.match.drawing import Drawing
    from nutmeg.match.players.belief import Belief
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.rules.state import MatchState
    from nutmeg.match.worlds.physical.sonar import Sonars
    from nutmeg.match.worlds.physical.world import MatchWorld
    from nutmeg.match.worlds.seats import SeatedWorld
    from nutmeg.model.scene import SceneSettings

    Minds = Callable[[], Mapping[int, object]]


_ROWS_PER_CHUNK = 1000
"""Rows that are kept in memory until they are compressed: 20 s of a match, 5 MB for 22 robots. With 4000 rows files are
9 % smaller, but a server occupies 15 MB more."""
STATE_LABELS = ("mode", "time", "left", "right", "half", "swapped", "touch")
_STATE_STEP = 1e-3
_BELIEF_LABELS = ("x", "y", "heading", "ball_x", "ball_y", "ball_age", "spread", "heading_spread", "ball_spread")
_BELIEF_STEP = 1e-3  # beliefs are stored to a millimetre and a milliradian, requests too
_REQUEST_LABELS = ("legs", "ahead", "left", "turn", "kick", "strength", "yaw", "pitch")
_OTHERS_LABELS = ("x", "y", "age")
_SONAR_LABELS, _SONAR_STEP = ("left", "right"), 1e-3
_MAX_OTHERS_AGE = 5.0  # other players that were not observed for this time are not recorded, s
MAX_BALL_AGE = 99.0
"""Age of news that never came, s."""
_MAX_DEVIATION = 99.0  # the largest standard deviation that is stored, m or rad
_MAX_TEXT_LENGTH = 2000  # characters of a traceback that are kept


class MatchRecording:
    """Records a match while it is played.

    Args:
        path: the recording to make.
        figures: the robots and the ball; robots that play already are drawn with their own type.
        rules: the rule book, which limits the number of players.
        seed: seed of the match.
        config: configuration to keep: the names of the teams, `left` and `right`, and anything else.
        minds: gives beliefs and requests of players by slot; None if they are not recorded.
        sonars: the sonars of the robots; None if they have none.
        make_drawing: draws the scene that viewers show.
    """

    def __init__(
        self,
        path: Path,
        figures: Figures,
        rules: Rules,
        *,
        seed: int,
        config: Mapping[str, object],
        minds: Minds | None = None,
        sonars: Sonars | None = None,
        make_drawing: Callable[[SceneSettings], Drawing] = draw,
    ) -> None:
        self._figures, number = figures, np.arange(SLOTS) % MAX_PLAYERS
        self._slots: list[int] = np.flatnonzero((number < rules.match.players) | figures.present).tolist()
        self._drawn = {slot: figures.kind(slot) for slot in self._slots}
        self._joined = dict(self._drawn)
        drawing = make_drawing(self._scene(self._drawn))
        self._joints = drawing.joints
        channels, order = [], []
        for slot, drawn in zip(self._slots, drawing.joints, strict=True):
            name, joints = SLOT_NAMES[slot], figures.joints if figures.mixes_robots else drawn
            channels.append(Channel(name=f"{name}.pose", labels=POSE_LABELS, unit="m", resolution=POSE_STEP))
            channels.append(Channel(name=f"{name}.angles", labels=joints, unit="rad", resolution=ANGLE_STEP))
            order.append(_columns(slot, joints, figures.joints))
        channels.append(Channel(name="ball.pose", labels=POSE_LABELS, unit="m", resolution=POSE_STEP))
        channels.append(
            Channel(
                name="game.state", labels=STATE_LABELS, resolution=_STATE_STEP, about="mode by index, s, goals, robot"
            )
        )
        ball = _ANGLES + SLOTS * len(figures.joints)
        self._order = np.concatenate([*order, [ball + i for i in range(7 + len(STATE_LABELS))]])
        self._minds, self._swapped, self._samples = minds, False, 0
        self._intents: dict[str, str] = {}
        self._log_lengths: dict[int, int] = {}
        if minds is not None:
            channels += self._mind_channels()
        settings = {"rules": rules.name, "field": figures.field, **config}
        self._sonars = sonars
        if sonars is not None:
            settings["sonar"] = asdict(sonars.settings)
            channels += [
                Channel(name=f"{SLOT_NAMES[slot]}.sonar", labels=_SONAR_LABELS, unit="m", resolution=_SONAR_STEP)
                for slot in self._slots
            ]
        self.writer = RecordingWriter.create(
            path,
            Manifest(kind="match", seed=seed, channels=tuple(channels), config=settings),
            scene_xml=drawing.xml,
            rows_per_chunk=_ROWS_PER_CHUNK,
        )

    def sample(self, time: float, state: MatchState, *, game_time: float | None = None) -> None:
        """Appends the present; the game's time is the state's, unless the referee has not been asked since."""
        figures, shown = self._figures, state.time if game_time is None else game_time
        touch = -1 if state.touch is None else self._of_slot(slot_of(state.touch.side, state.touch.index + 1))
        game = (float(state.mode), shown, *map(float, state.score), float(state.half), self._swapped, touch)
        poses, angles, ball = figures.poses(), figures.angles(), figures.ball()
        if self._swapped:
            poses, angles = _rolled(poses), _rolled(angles)
        row = np.concatenate([poses.ravel(), angles.ravel(), ball, game])[self._order]
        if self._minds is not None:
            self._think(time, self._minds())
            row = np.concatenate([row, self._beliefs.ravel(), self._others.ravel(), self._requests.ravel()])
        if self._sonars is not None:
            answers = _rolled(self._sonars.answers) if self._swapped else self._sonars.answers
            row = np.concatenate([row, answers[self._slots].ravel()])
        self._samples += 1
        self.writer.append(time, row)

    def event(self, time: float, kind: str, **fields: object) -> None:
        """Appends an event; a `side` and a `number`, if it has them, become a `robot` as well."""
        if isinstance(number := fields.get("number"), int) and isinstance(side := fields.get("side"), str):
            slot = slot_of(Side.LEFT if side == Side.LEFT.word else Side.RIGHT, number)
            fields["robot"] = SLOT_NAMES[self._of_slot(slot)]
            if kind == "join" and self._of_slot(slot) in self._drawn:
                self._joined[self._of_slot(slot)] = self._figures.kind(slot)
        self.writer.event(time, kind, **fields)

    def swap_ends(self, time: float, teams: tuple[str, str]) -> None:
        """The teams have changed ends; left and right are these now."""
        self._swapped = not self._swapped
        self.event(time, "swap_ends", left=teams[0], right=teams[1], text="the teams change ends")

    def close(self) -> None:
        """Finishes the recording; closing twice is fine."""
        self._redraw()
        self.writer.close()

    def _redraw(self) -> None:
        """Gives robots that joined late their own shape, unless it has joints that are not recorded."""
        if self._joined == self._drawn:
            return
        drawing = draw(self._scene(self._joined))
        mixes = self._figures.mixes_robots
        fitting = {
            slot: self._joined[slot] if mixes or joints == known else kind
            for (slot, kind), joints, known in zip(self._drawn.items(), drawing.joints, self._joints, strict=True)
        }
        if fitting != self._joined:
            drawing = draw(self._scene(fitting))
        self._drawn = self._joined = fitting
        try:
            replace_file(self.writer.path / SCENE, drawing.xml.encode())
        except OSError as error:
            raise RecordingError(
                f"{self.writer.path}: cannot write {SCENE} again: {error.strerror}. Robots that joined late are drawn "
                "as type 0; nothing else is lost."
            ) from None

    def _scene(self, kinds: Mapping[int, Kind]) -> SceneSettings:
        """The scene with these robots, by slot."""
        shown = self._figures
        return match_scene(kinds, field=shown.field, physics=shown.physics, pose=shown.pose)

    def _of_slot(self, slot: int) -> int:
        """The slot that a player began in."""
        return (slot + MAX_PLAYERS) % SLOTS if self._swapped else slot

    # ---- what players believe and want

    def _mind_channels(self) -> list[Channel]:
        names = [SLOT_NAMES[slot] for slot in self._slots]
        self._row_of = {slot: row for row, slot in enumerate(self._slots)}
        self._beliefs = np.full((len(names), len(_BELIEF_LABELS)), np.nan)
        self._others = np.full((len(names), len(names), len(_OTHERS_LABELS)), np.nan)
        self._requests = np.full((len(names), len(_REQUEST_LABELS)), np.nan)
        places = tuple(f"{name}.{axis}" for name in names for axis in _OTHERS_LABELS)
        own = [
            Channel(name=f"{n}.belief", labels=_BELIEF_LABELS, unit="m, rad, s", resolution=_BELIEF_STEP) for n in names
        ]
        others = [Channel(name=f"{n}.others", labels=places, unit="m, s", resolution=_BELIEF_STEP) for n in names]
        wants = [
            Channel(name=f"{n}.request", labels=_REQUEST_LABELS, unit="m/s, rad/s, rad", resolution=_BELIEF_STEP)
            for n in names
        ]
        return own + others + wants

    def _think(self, time: float, minds: Mapping[int, object]) -> None:
        """Records the beliefs of players and, less often, their beliefs about others and their requests."""
        self._beliefs[:], self._requests[:] = np.nan, np.nan
        looks = self._samples % self._figures.others_every == 0
        if looks:
            self._others[:] = np.nan
        for slot, mind in minds.items():
            row = self._row_of.get(self._of_slot(slot))
            self._complain(time, slot, mind)
            belief: Belief | None = getattr(mind, "belief", None)
            if row is None or belief is None:
                continue
            if isinstance(request := getattr(mind, "request", None), Request):
                self._requests[row] = request_row(request)
            self._beliefs[row] = _own(belief, side_of_slot(slot))
            if looks:
                self._others[row] = self._believed(belief, slot)
                self._want(time, SLOT_NAMES[self._slots[row]], request)

    def _complain(self, time: float, slot: int, mind: object) -> None:
        """Records why a player lost turns, from its log."""
        log: Sequence[str] = getattr(mind, "log", ())
        length = self._log_lengths.get(self._of_slot(slot), 0)
        for text in log[length:]:
            robot = SLOT_NAMES[self._of_slot(slot)]
            self.event(time, "lost_turn", robot=robot, text=text[-_MAX_TEXT_LENGTH:])
        self._log_lengths[self._of_slot(slot)] = len(log)

    def _believed(self, belief: Belief, slot: int) -> Floats:
        """(R, 3) a player's belief about the places of the robots of this recording, on the pitch, and their age."""
        side = side_of_slot(slot)
        found = np.full((SLOTS, len(_OTHERS_LABELS)), np.nan)
        for team, others in ((side, belief.mates), (side.other, belief.opponents)):
            news = np.column_stack([side.sign * others.places, others.ages])
            known = np.where(others.ages[:, None] <= _MAX_OTHERS_AGE, news, np.nan)
            found[slot_of(team, 1) : slot_of(team, MAX_PLAYERS) + 1] = known
        found[slot] = np.nan
        return (_rolled(found) if self._swapped else found)[self._slots]

    def _want(self, time: float, robot: str, request: object) -> None:
        """Records a player's intent, if it has changed."""
        intent = str(getattr(request, "intent", "") or "")
        if intent and self._intents.get(robot) != intent:
            self._intents[robot] = intent
            self.event(time, "intent", robot=robot, text=intent)


_ANGLES = SLOTS * 7


def _own(belief: Belief, side: Side) -> tuple[float, ...]:
    """A player's belief about itself and the ball, on the pitch."""
    me, ball, sign = belief.me, belief.ball, side.sign
    turn = me.heading if sign > 0 else me.heading + math.pi
    x, y = ball.place
    age, spreads = min(float(ball.age), MAX_BALL_AGE), (me.spread, me.heading_spread, ball.spread)
    places = sign * me.x, sign * me.y, wrap_angle_exactly(turn), sign * float(x), sign * float(y)
    return *places, age, *(min(spread, _MAX_DEVIATION) for spread in spreads)


def _rolled(array: Floats) -> Floats:
    """An array over slots, (22, ...), over those that players began in."""
    return np.roll(array, MAX_PLAYERS, axis=0)


def _columns(slot: int, joints: tuple[str, ...], all_joints: tuple[str, ...]) -> list[int]:
    """Where the numbers of one robot are among all numbers of a row."""
    pose = [slot * 7 + i for i in range(7)]
    return pose + [_ANGLES + slot * len(all_joints) + all_joints.index(joint) for joint in joints]


# ----------------------------------------------------------------------------------------------------
# The figures of a recording: its robots, and how they and the ball stand.
#
# A world of robots without joints gives its players a body to be seen with: `behaviour.figures`.


class Figures(Protocol):
    """The robots and the ball of a match, as they are seen."""

    joints: tuple[str, ...]
    """The columns of `angles`; at least the joints of every robot."""
    mixes_robots: bool
    """Whether different robots of the catalogue play. Each of them then has a column for every joint of `joints`,
    because it is not known before it joins which one it is."""
    physics: str
    """Profile of the scene; empty for the robot's own."""
    pose: str
    """The robot's pose in the scene before the first moment."""
    others_every: int
    """Cycles between two times at which beliefs about others, and intents, are looked at."""

    @property
    def field(self) -> str:
        """Name of the field."""
        ...

    @property
    def present(self) -> Bools:
        """(22,) whether a robot plays."""
        ...

    def kind(self, slot: int) -> Kind:
        """The robot of a player and its type."""
        ...

    def poses(self) -> Floats:
        """(22, 7) place and attitude (quaternion) of the torsos; below the ground for robots that do not play."""
        ...

    def angles(self) -> Floats:
        """(22, joints) angles of all robots' joints, rad."""
        ...

    def ball(self) -> Floats:
        """(7,) place and attitude (quaternion) of the ball."""
        ...


class WorldFigures(Figures):
    """The figures of a world with seats; see `Figures` for the arguments."""

    others_every = 10
    mixes_robots = False

    def __init__(self, world: SeatedWorld, *, joints: tuple[str, ...], physics: str, pose: str) -> None:
        self._world = world
        self.joints, self.physics, self.pose = joints, physics, pose

    @property
    def field(self) -> str:
        """Name of the field."""
        return self._world.field.name

    @property
    def present(self) -> Bools:
        """(22,) whether a robot plays."""
        return self._world.present

    def poses(self) -> Floats:
        """(22, 7) of the torsos."""
        return self._world.poses()

    def ball(self) -> Floats:
        """(7,) place [m] and quaternion of the ball."""
        return self._world.placed_ball()


class LeagueFigures(WorldFigures):
    """The figures of the league of rcssserver3d."""

    _world: MatchWorld

    def __init__(self, world: MatchWorld) -> None:
        super().__init__(world, joints=JOINTS, physics=PHYSICS, pose=POSE)

    def kind(self, slot: int) -> Kind:
        """The type of a player's robot; robots that do not play yet are drawn as type 0."""
        return Kind(ROBOT, f"type{self._world.types[slot]}" if self._world.present[slot] else "type0")

    def angles(self) -> Floats:
        """(22, 24) angles of all robots' joints, rad."""
        return np.asarray(np.radians(self._world.angles))
