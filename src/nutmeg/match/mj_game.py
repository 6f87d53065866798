"""A match of T1 and K1 robots: the world, the referee, the senses and the messages, one cycle of 20 ms after the other.

    game = MjGame(load_rules("ssim26"), seed=7, seats={"t1": 2})
    players = {game.enter("reds", 1): Keeper(), game.enter("blues", 1): Keeper()}
    percepts = game.cycle({})
    while not game.over:
        percepts = game.cycle({slot: players[slot].act(percept) for slot, percept in percepts.items()})
    game.close()

The league's own server is rcssservermj; rules, teams, recording and referee are those of every match here
(`base_game`). Actions have a latency of two cycles, as there: motors, beams and messages computed from percept k show
in percept k + 2. Players see in every second cycle. The same seed and the same actions give the same match, to the last
bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.match.base_game import PhysicalGame, other_end
from nutmeg.match.drawing import Kind, draw, match_scene
from nutmeg.match.recording import WorldFigures
from nutmeg.match.rules.play_modes import Side, may_beam
from nutmeg.match.rules.slots import SLOTS, side_and_number, side_of_slot
from nutmeg.match.worlds.mj.hearing import Hearing
from nutmeg.match.worlds.mj.percept import JOINTS, ROBOTS, VISION_CYCLES, Action, Percept, Sight
from nutmeg.match.worlds.mj.world import PARKED_POSE, PHYSICS, MatchWorld
from nutmeg.model.robot import load_robot

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.match.drawing import Drawing
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.worlds.mj.hearing import Heard
    from nutmeg.model.scene import SceneSettings


@dataclass(frozen=True, kw_only=True)
class MjSetup:
    """The field of a match of T1 and K1, and how it is drawn."""

    field: str = "fifa7vs7"
    """Name of the field; the pitch of the rule book must be its."""
    beam_noise: bool = False
    """Whether players land near where they wish to be put rather than there; not so on rcssservermj."""
    make_drawing: Callable[[SceneSettings], Drawing] = draw
    """Draws the scene that viewers of the recording show."""


DEFAULT_SETUP = MjSetup()


class MjGame(PhysicalGame):
    """A match.

    Args:
        rules: the rule book; its pitch must be that of the field.
        seed: seed of all random numbers.
        seats: how many robots of each kind (`t1`, `k1`) can play at once; each costs 16 us a cycle, even while parked.
        setup: field and drawing.
        left: name of the left team; if empty, that of the first team to join.
        right: name of the right team; if empty, that of the second team to join.
        record: file of a recording to make, if any.
    """

    world: MatchWorld

    def __init__(
        self,
        rules: Rules,
        *,
        seed: int,
        seats: Mapping[str, int],
        setup: MjSetup = DEFAULT_SETUP,
        left: str = "",
        right: str = "",
        record: Path | None = None,
    ) -> None:
        names = {"seed": seed, "left": left, "right": right, "record": record, "kick_off": Side.LEFT}
        super().__init__(rules, MatchWorld(setup.field, seats=seats), setup.make_drawing, **names)
        self.hearing = Hearing(np.random.default_rng(seed))
        beams = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
        self._beams = beams if setup.beam_noise else None
        self._heard: dict[int, Heard] = {}
        self._is_ahead = False

    # ---- players

    def join(self, side: Side, number: int, robot_type: int, team: str) -> None:
        """Lets a player join with a robot of `ROBOTS`."""
        slot = self._admit(side, number, team)
        if robot_type not in range(len(ROBOTS)):
            raise UsageError(f"robot type {robot_type} is not known; there are {', '.join(ROBOTS)}.")
        self.world.join(slot, ROBOTS[robot_type])
        self._take_in(slot, team, robot_type)

    def leave(self, slot: int) -> None:
        """Removes a player from the game."""
        super().leave(slot)
        self.hearing.forget(slot)

    # ---- a cycle

    @property
    def time(self) -> float:
        """Time of the server, which continues when the game clock stops [s]."""
        return self.world.time

    def cycle(self, actions: Mapping[int, Action]) -> dict[int, Percept]:
        """Plays one cycle with what players answered to the last percepts; returns the next ones, by slot."""
        if self._record is not None:
            self._begin_recording(self.robot_types)
        self.work_ahead()
        self._is_ahead = False
        self._waiting = self._command(actions)
        self._judge(self.world.facts())
        percepts = self._percepts()
        self._sample()
        return percepts

    def work_ahead(self) -> None:
        """Computes the physics of the next cycle while the server waits for actions, which count a cycle later."""
        if self._is_ahead:
            return
        self._carry_out(self._waiting)
        self.world.step()
        self._heard = {}
        if self.hearing.busy:
            order = self.world.order
            self._heard = self.hearing.deliver(order, *self.world.voices(order))
        self._waiting, self._is_ahead = {}, True

    def _carry_out(self, actions: Mapping[int, Action]) -> None:
        """Beams players and lets them speak."""
        for slot, action in actions.items():
            if not self.world.present[slot]:
                continue
            if action.beam is not None and may_beam(self.state.mode):
                self.world.beam(slot, *action.beam, noise=self._beams)
            if action.say is not None:
                self.hearing.say(slot, loudness=action.say[0], message=action.say[1])

    def _command(self, actions: Mapping[int, Action]) -> dict[int, Action]:
        """Passes motor commands to the world, for the next step; returns actions with a beam or a message."""
        waiting: dict[int, Action] = {}
        self.refused = ()
        for slot, action in actions.items():
            if not self.world.present[slot]:
                continue
            try:
                if action.motors is not None:
                    self.world.command(slot, action.motors)
                if action.beam is not None and not all(math.isfinite(number) for number in action.beam):
                    raise UsageError(f"beam is {action.beam}; it needs three finite numbers.")
            except UsageError as error:
                self.refused = (*self.refused, (slot, str(error)))
                continue
            if action.beam is not None or action.say is not None:
                waiting[slot] = action
        return waiting

    def _percepts(self) -> dict[int, Percept]:
        """The percepts of all players, by slot."""
        world, players, view, teams = self.world, self.world.players(), self.view, self.teams
        sights: dict[int, Sight] = {}
        # The first cycle is one with a picture, as is every second one from there.
        if self.cycles % VISION_CYCLES == 1 and players:
            marks, parts = world.look(players)
            names = tuple(teams[side_of_slot(slot)] for slot in players)
            numbers = tuple(side_and_number(slot)[1] for slot in players)
            sights = {slot: Sight(marks[k], parts[k], names, numbers) for k, slot in enumerate(players)}
        # The field first and then the row: the other way round, numpy makes a scalar and takes twice as long.
        sensors = [world.sensors[name][0] for name in ("attitude", "position", "gyro", "acc", "angles", "rates")]
        attitude, position, gyro, acc, angles, rates = sensors
        time, percepts = world.time, {}
        for slot in players:
            kind = world.kind(slot)
            count = len(JOINTS[kind])
            percepts[slot] = Percept(
                robot=kind,
                time=time,
                game=view,
                teams=teams,
                attitude=attitude[slot],
                position=position[slot],
                gyro=gyro[slot],
                acc=acc[slot],
                angles=angles[slot, :count],
                rates=rates[slot, :count],
                heard=self._heard.get(slot),
                sight=sights.get(slot),
            )
        self._new.clear()
        return percepts

    def percept_before_joining(self, robot_type: int, percepts: int) -> Percept:
        """Agents of this league have a number from their first message on."""
        raise UsageError(f"there is no percept of robot {robot_type} after {percepts} percepts without a number.")

    # ---- the referee and the trainer

    def _settle(self) -> None:
        """Nothing: what was moved is seen after the next step, as on the league's server."""

    def _turn_round(self) -> None:
        super()._turn_round()
        self.hearing.swap_ends()
        self._heard = other_end(self._heard)

    def place_player(self, slot: int, position: tuple[float, float, float], heading: float | None = None) -> None:
        """A trainer's order: put a player somewhere [m], upright, with heading 0 or the given one [degrees]."""
        turn = np.radians(heading or 0.0) / 2
        self.put_player(slot, position, (float(np.cos(turn)), 0.0, 0.0, float(np.sin(turn))))

    def put_player(
        self, slot: int, position: tuple[float, float, float], attitude: tuple[float, float, float, float]
    ) -> None:
        """A trainer's order: put a player somewhere [m] with an attitude (quaternion, w first)."""
        self._check_plays(slot)
        self.world.put(slot, position, attitude)

    # ---- what monitors show

    @property
    def robot_types(self) -> Ints:
        """(22,) indices in `ROBOTS` of the robots that play; 0 elsewhere."""
        found = np.zeros(SLOTS, np.int64)
        for slot in self.world.order:
            found[slot] = ROBOTS.index(self.world.kind(slot))
        return found

    def _figures(self) -> _BoosterFigures:
        return _BoosterFigures(self.world)


def _expected_robot(seats: Mapping[str, int]) -> str:
    """The robot as which players are drawn that have not joined yet: the one with more seats."""
    return max(ROBOTS, key=lambda kind: seats.get(kind, 0))


def empty_scene(field: str, seats: Mapping[str, int]) -> SceneSettings:
    """The scene of a recording before players join: a robot for every number that may come."""
    kinds = dict.fromkeys(range(SLOTS), Kind(_expected_robot(seats)))
    return match_scene(kinds, field=field, physics=PHYSICS, pose=PARKED_POSE)


class _BoosterFigures(WorldFigures):
    """The figures of this league.

    A recording begins before anybody has joined. So every player has columns for the joints of all robots, some of
    which have other names in each; a page that shows a running match draws who joins late as the expected robot.
    """

    _world: MatchWorld

    def __init__(self, world: MatchWorld) -> None:
        names = {robot: _joint_names(robot) for robot in ROBOTS}
        joints = tuple(dict.fromkeys(name for robot in ROBOTS for name in names[robot]))
        super().__init__(world, joints=joints, physics=PHYSICS, pose=PARKED_POSE)
        kinds = set(world.kinds)
        self.mixes_robots = len(kinds) > 1
        self._expected = _expected_robot({kind: world.kinds.count(kind) for kind in ROBOTS})
        # For each robot, the column of the percepts that each joint has: by its own name, or by the place in the body.
        self._columns = {
            robot: [JOINTS[robot].index(place) if place in JOINTS[robot] else -1 for place in self._places(names)]
            for robot in ROBOTS
        }

    def _places(self, names: Mapping[str, tuple[str, ...]]) -> list[str]:
        """The place in the body of each joint, as percepts name it."""
        places = {name: place for robot in ROBOTS for name, place in zip(names[robot], JOINTS[robot], strict=True)}
        return [places[name] for name in self.joints]

    def kind(self, slot: int) -> Kind:
        """The robot of a player; the expected one before it has joined."""
        return Kind(self._world.kind(slot) if self._world.present[slot] else self._expected)

    def angles(self) -> Floats:
        """(22, joints) rad; 0 for joints that a robot lacks."""
        angles, world = self._world.joint_angles(), self._world
        found = np.zeros((SLOTS, len(self.joints)))
        for slot in world.order:
            columns = np.array(self._columns[world.kind(slot)])
            found[slot] = np.where(columns >= 0, angles[slot, columns], 0.0)
        return found


def _joint_names(robot: str) -> tuple[str, ...]:
    return tuple(body.joint.name for body in load_robot(robot).body if body.joint is not None)
