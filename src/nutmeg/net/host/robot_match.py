"""A match between the robots of a host: our referee judges it, and a GameController informs the robots.

    match = RobotMatch(rules_on("spl2025", "spl2025"), (["nao-v6-1", "nao-v6-2"], ["nao-v6-3"]), ControllerSettings())
    with RobotHost(settings, [lola, match]) as host:
        host.run()
    match.state.score, match.controller.robots

Robots are moved by their own software over LoLA or OPEN-R, and hear states and penalties from the GameController, as at
a tournament. The first list plays from the left, number 1 first. The referee sees true places. Robots that are sent
off, and all robots at a kick-off, are carried to their places in the pose they have, as people do it.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.angles import heading_of
from nutmeg.base.errors import UsageError
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.decisions import Event, MovePlayer, PlaceBall, SwapEnds
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.rules.referee import judge
from nutmeg.match.rules.state import PLAYERS_SHAPE, Facts, new_match
from nutmeg.model.geometry import yaw_quaternion
from nutmeg.net.game_controller import GameController

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.match.rules.book import Rules
    from nutmeg.net.game_controller import ControllerSettings
    from nutmeg.net.host.cameras import Picture
    from nutmeg.net.host.robot_host import RobotHost

_PERIOD = 0.02  # between two looks of the referee [s]
_STANDING_SHARE, _GROUND_SHARE = 0.75, 0.45
"""A torso lower than these shares of its height at the start is not standing, or lies on the ground; they are those of
the league's Nao (0.25 m and 0.15 m of 0.33 m)."""
_NOBODY, _BALL = -1, -2


class RobotMatch:
    """The referee of a host's robots.

    Args:
        rules: the rule book, on the pitch of the host's field.
        teams: names of the robots of the left and the right team, by their numbers.
        controller: sends the referee's decisions to the robots; None for none.
    """

    name = "referee"
    period = _PERIOD
    clients = 0
    """A referee has none."""

    def __init__(
        self, rules: Rules, teams: tuple[Sequence[str], Sequence[str]], controller: ControllerSettings | None = None
    ) -> None:
        for names in teams:
            if not 1 <= len(names) <= min(rules.match.players, MAX_PLAYERS):
                raise UsageError(f"a team has {len(names)} robots; by these rules 1 to {rules.match.players} play.")
        self.rules, self.state = rules, new_match()
        self._teams, self._settings = teams, controller
        self.swapped = False
        """Whether the first team plays from the right now."""
        self.controller: GameController | None = None

    def open(self, host: RobotHost) -> None:
        """Finds the robots and the ball in the host's world."""
        if host.worlds.ball is None:
            raise UsageError("a match needs a ball; choose a field that has one, or name it.")
        self._host, model = host, host.worlds.scene.model
        # The batch of worlds has no contacts: they are found in a copy of its configuration.
        self._model, self._data = model, mujoco.MjData(model)
        self._robots = [[host.worlds.robot(name) for name in names] for names in self._teams]
        starts = [float(robot.pose[0, 2]) for team in self._robots for robot in team]
        incapable = dataclasses.replace(
            self.rules.fouls.incapable,
            not_standing_height=_STANDING_SHARE * min(starts),
            ground_height=_GROUND_SHARE * min(starts),
        )
        self.rules = dataclasses.replace(self.rules, fouls=dataclasses.replace(self.rules.fouls, incapable=incapable))
        self._start_heights = [[float(robot.pose[0, 2]) for robot in team] for team in self._robots]
        self._owners = np.full(model.nbody, _NOBODY)
        for place, team in enumerate(self._robots):
            for index, robot in enumerate(team):
                self._owners[model.body_rootid == model.body_rootid[robot.table.body]] = place * MAX_PLAYERS + index
        ball = int(model.body("ball").id)
        self._owners[ball] = _BALL
        self._ball_rate = int(model.jnt_dofadr[model.body("ball").jntadr[0]])
        self._present = np.zeros(PLAYERS_SHAPE, bool)
        for place, team in enumerate(self._robots):
            self._present[place, : len(team)] = True
        if self._settings is not None:
            self.controller = GameController(self._settings, self.rules)

    def turn(self, time: float) -> None:
        """Judges the time since the last turn, and announces the decisions."""
        self.state, decisions = judge(self.state, self._facts(), self.rules)
        for decision in decisions:
            if isinstance(decision, MovePlayer):
                self._carry(decision)
            elif isinstance(decision, PlaceBall):
                self._host.worlds.put_ball(decision.place)
            elif isinstance(decision, SwapEnds):
                self.swapped = not self.swapped
            elif isinstance(decision, Event):
                self._host.event(decision.kind, **decision.fields())
        if self.controller is not None:
            self.controller.update(time, self.state, self._sided(self._present), swapped=self.swapped)

    def _sided(self, teams: np.ndarray) -> np.ndarray:
        """An array over teams as one over sides."""
        return teams[::-1] if self.swapped else teams

    def _facts(self) -> Facts:
        """The facts for the referee."""
        worlds = self._host.worlds
        position, velocity = np.zeros((*PLAYERS_SHAPE, 3)), np.zeros((*PLAYERS_SHAPE, 2))
        for place, team in enumerate(self._robots):
            for index, robot in enumerate(team):
                position[place, index], velocity[place, index] = robot.pose[0, :3], robot.velocity[0, :2]
        touches, pairs, places = self._contacts()
        if self.swapped and len(pairs):
            pairs[:, :, 0] = 1 - pairs[:, :, 0]
        assert worlds.ball is not None
        return Facts.of(
            time_step=_PERIOD,
            ball=worlds.ball[0, :3].copy(),
            ball_velocity=worlds.qvel[0, self._ball_rate : self._ball_rate + 3].copy(),
            present=self._sided(self._present).copy(),
            position=self._sided(position).copy(),
            velocity=self._sided(velocity).copy(),
            touches_ball=self._sided(touches).copy(),
            contacts=pairs,
            contact_places=places,
        )

    def _contacts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(2, 11) touches of the ball, (K, 2, 2) pairs of touching robots, and (K, 2) contact points; by teams."""
        model, data = self._model, self._data
        data.qpos[:] = self._host.worlds.qpos[0]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        touches, pairs = np.zeros(PLAYERS_SHAPE, bool), {}
        if data.ncon:
            owners = self._owners[model.geom_bodyid[data.contact.geom]]
            for (one, two), where in zip(owners.tolist(), data.contact.pos, strict=True):
                low, high = min(one, two), max(one, two)
                if low == _BALL and high >= 0:
                    touches.reshape(-1)[high] = True
                elif 0 <= low < high:
                    pairs[low, high] = where[:2]
        contacts = np.array([[divmod(one, MAX_PLAYERS) for one in pair] for pair in pairs], np.int64).reshape(-1, 2, 2)
        return touches, contacts, np.array(list(pairs.values())).reshape(-1, 2)

    def _carry(self, move: MovePlayer) -> None:
        """Puts a robot somewhere else on its feet, in the pose it has, at rest."""
        place, index = int(move.side) ^ self.swapped, move.number - 1
        robot = self._robots[place][index]
        pose, velocity = robot.pose, robot.velocity
        pose[0, :3] = *move.place, max(float(pose[0, 2]), self._start_heights[place][index])
        pose[0, 3:] = yaw_quaternion(float(heading_of(pose[0, 3:])) if move.heading is None else move.heading)
        velocity[0] = 0.0

    # ---- what a port has to have

    def waiting(self) -> Sequence[str]:
        """Nobody has to answer a referee."""
        return ()

    def give_up(self, names: Sequence[str]) -> None:
        """There are no clients."""

    def picture(self, picture: Picture) -> None:
        """A referee looks for itself."""

    def counts(self) -> dict[str, object]:
        """The score, and what the GameController has sent and heard, for reports; by teams, not by sides."""
        left, right = self.state.score
        heard = {} if self.controller is None else self.controller.summary()
        score = [right, left] if self.swapped else [left, right]
        return {"score": score, "mode": self.state.mode.wire_name, "fouls": self.state.fouls, **heard}

    def close(self) -> None:
        """Closes the sockets of the GameController; closing twice is fine."""
        if self.controller is not None:
            self.controller.close()


def split_teams(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The first half of the robots against the others; of an odd number the first team has one more."""
    if len(names) < 2:
        raise UsageError(f"a match needs at least two robots; there is {len(names)}. Ask for more with --robots.")
    middle = (len(names) + 1) // 2
    return list(names[:middle]), list(names[middle:])


def side_places(rules: Rules, counts: tuple[int, int]) -> list[tuple[tuple[float, float], float]]:
    """Where the robots of both teams start, with their heading: in the formation of the rule book."""
    pitch, found = rules.pitch, []
    for side, places in ((Side.LEFT, rules.formation.kicking), (Side.RIGHT, rules.formation.receiving)):
        for x, y in places[: counts[side]]:
            place = side.sign * x * pitch.length / 2, side.sign * y * pitch.width / 2
            found.append((place, 0.0 if side is Side.LEFT else math.pi))
    return found
