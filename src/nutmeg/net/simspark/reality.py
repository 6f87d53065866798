"""A robot on a SimSpark server as reality: trials are played there, by an agent and a trainer.

    with SimsparkReality(RealitySettings(kind="simspark", port=3100, monitor_port=3200), twin, watch) as reality:
        for observed in reality.try_out(trials):
            observed.fitness, observed.behaviour

The server is another engine with physics of its own: the league's (rcssserver3d), or `nutmeg serve spark`. It must wait
for its agents and tell the true places of robot and ball:

    nutmeg serve spark --sync --ground-truth --no-view

A trial begins as in the twin: the trainer puts the robot upright, its joints go to the twin's start, it comes to rest,
and the ball is put where the twin has it. Then row t of the commands answers percept t. Everything is reported in the
frame of the robot's start. The torso's orientation is the gyro added up from upright (the server's gyro is the turn of
the cycle, so nothing but decimals is lost); places come every third cycle, and are interpolated between.
"""

from __future__ import annotations

import contextlib
import math
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import EnvironmentProblem, UsageError
from nutmeg.base.interrupts import Closing
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.worlds.physical.percept import JOINTS, Action, Percept
from nutmeg.model.ball import load_ball
from nutmeg.net.simspark.agent import Agent
from nutmeg.net.simspark.sexpr import framed
from nutmeg.reality.observation import sensors_in
from nutmeg.reality.realities.reality import Observed
from nutmeg.reality.twin import TWIN_ROBOT
from nutmeg.sim.rollout import Rollout
from nutmeg.sim.worlds import Worlds

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.reality.observation import Watch
    from nutmeg.reality.realities.settings import RealitySettings
    from nutmeg.reality.twin import Trial, Twin

CYCLE = 0.02
"""Length of a cycle of the server [s]."""
HEAD_OFFSET = np.array([0.0, 0.0, 0.155])
"""Centre of the head from that of the torso, with the neck straight (naoneckhead.rsg) [m]."""
START = np.array([-4.0, 0.0])
"""Where trials begin, as seen by the robot's own team [m]."""
DROP_HEIGHT = 0.01
"""How far above its standing height a robot is let go, so that no foot is put into the ground [m]."""
_POSING_CYCLES, _SETTLING_CYCLES, _BALL_CYCLES = 50, 60, 12
"""Cycles in which joints move to the start, the robot settles, and the ball arrives."""
_POSING_GAIN = 0.5
"""Share of a joint's error that is made up for in a cycle while it goes to the start."""
_MAX_POSING_SPEED = 3.0
"""How fast joints go to the start [rad/s]."""
_MAX_START_TILT = 0.1
"""A robot that leans more than this before a trial has not settled upright [rad]."""
_MAX_START_ERROR = 0.02
"""How far the ball may be from its place when a trial begins [m]."""
_ATTEMPTS = 3
"""How often a trial's start is tried."""


class _DisconnectedError(EnvironmentProblem):
    """The server has ended the connection."""


@dataclass
class _Truth:
    """The latest true places from the server, in the own team's frame."""

    head: Floats | None = None
    """Position of the head, (3,) [m]; None if it was not reported."""
    heading: float | None = None
    """Direction in which the robot faces [rad]; None if it was not reported."""
    ball: Floats | None = None
    """Position of the ball, (3,) [m]; None if it was not reported."""

    def take(self, percept: Percept) -> bool:
        """Takes a percept; returns whether it had new places."""
        sight = percept.sight
        if sight is None or sight.my_position is None or sight.my_heading is None:
            return False
        self.head, self.heading = sight.my_position, math.radians(sight.my_heading)
        self.ball = sight.ball_position
        return True


@dataclass
class _Played:
    """The percepts of a trial."""

    angles: list[Floats] = field(default_factory=list)
    gyro: list[Floats] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    """The rows with true places."""
    heads: list[Floats] = field(default_factory=list)
    balls: list[Floats] = field(default_factory=list)


class SimsparkReality(Closing):
    """Plays trials on a server; connects with the first one.

    Args:
        settings: where the server is (`kind = "simspark"`).
        twin: the simulation that trials are made for; a `nao-spark`.
        watch: what is measured of a trial.
    """

    def __init__(self, settings: RealitySettings, twin: Twin, watch: Watch) -> None:
        if not set(twin.table.joints) <= set(JOINTS):
            raise UsageError(f"a SimSpark server has no robot {twin.settings.robot!r}; needed is nao-spark.")
        if missing := sensors_in(tuple(watch.columns(twin.table)), twin.table):
            raise UsageError(
                f"the columns of {missing[0]!r} are not known on a SimSpark server; take angles, pose, torso, ball."
            )
        self.settings, self.twin, self.watch, self.trials = settings, twin, watch, 0
        self._motors = np.array([JOINTS.index(name) for name in twin.table.motors])
        self._joints = np.array([JOINTS.index(name) for name in twin.table.joints])
        robot = Worlds(twin.base).robot(TWIN_ROBOT)
        self._start, self._height = robot.start.copy(), float(robot.pose[0, 2])
        self._radius = load_ball(twin.settings.ball).radius if twin.base.has_ball else 0.0
        self._agent: Agent | None = None
        self._monitor: socket.socket | None = None
        self._side, self._number = Side.LEFT, 1
        self._truth = _Truth()

    def close(self) -> None:
        """Disconnects from the server."""
        if self._agent is not None:
            self._agent.close()
        if self._monitor is not None:
            self._monitor.close()
        self._agent = self._monitor = None

    def try_out(self, trials: Sequence[Trial]) -> Iterator[Observed]:
        """Plays each trial; a server that ends the connection is an error, and so is a robot that does not stand.

        The connection stays open for the next trials: a server that waits for its agents rests meanwhile.
        """
        for trial in trials:
            if not math.isclose(trial.period, CYCLE):
                raise UsageError(f"trial {trial.name!r} has commands every {trial.period:g} s; needed is {CYCLE:g} s.")
            try:
                self._connect()
                self._begin(trial.name)
            except _DisconnectedError:  # some servers do not wait for ever between trials: once more from the beginning
                self.close()
                self._connect()
                self._begin(trial.name)
            behaviour = self.watch.behaviour(self._play(trial), self.twin.table).one(0)
            self.trials += 1
            yield Observed(trial=trial.name, behaviour=replace(behaviour, source="SimSpark server"))

    # The connection

    def _connect(self) -> None:
        if self._agent is not None:
            return
        s = self.settings
        kind = int(self.twin.settings.type.removeprefix("type") or 0)
        self._agent = Agent(s.host, s.port, team="Reality", number=self._number, robot_type=kind)
        try:
            self._monitor = socket.create_connection((s.host, s.monitor_port), timeout=30.0)
        except OSError as error:
            raise EnvironmentProblem(
                f"no server answers trainers on {s.host}, port {s.monitor_port} ({error}). Name the right "
                "`monitor_port` of [reality]."
            ) from None
        self._monitor.settimeout(0.0)
        self._truth = _Truth()
        for _ in range(_POSING_CYCLES):
            percept = self._cycle(self._towards_start)
            if percept.game.number is not None and percept.game.side is not None:
                self._number, self._side = percept.game.number, percept.game.side
        if self._truth.head is None or (self._radius and self._truth.ball is None):
            raise EnvironmentProblem(
                "the server does not tell the true places of robot and ball. Start it with ground truth: `nutmeg serve "
                "spark --sync --ground-truth`, or setSenseMyPos, setSenseMyOrien and setSenseBallPos of rcssserver3d."
            )

    def _cycle(self, speeds: Callable[[Percept], Floats]) -> Percept:
        """Receives a percept, and answers it with joint speeds, (motors,) [rad/s]."""
        assert self._agent is not None
        self._drain()
        percept = self._agent.perceive()
        if percept is not None:
            row = np.zeros(len(percept.angles))
            row[self._motors] = speeds(percept)
            try:
                self._agent.answer(Action(speeds=row))
            except OSError:
                percept = None
        if percept is None:
            raise _DisconnectedError(
                "the SimSpark server ended the connection in the middle of a trial. Nothing of it is kept: start "
                "the server, and run the same again."
            )
        self._truth.take(percept)
        return percept

    def _drain(self) -> None:
        """Discards what the server sends its monitors, so that it never waits for this one."""
        assert self._monitor is not None
        with contextlib.suppress(BlockingIOError, ConnectionError):
            while self._monitor.recv(1 << 20):
                pass

    def _train(self, command: str) -> None:
        assert self._monitor is not None
        with contextlib.suppress(ConnectionError):  # the agent's connection reports that the server is gone
            self._monitor.sendall(framed(command.encode("ascii")))

    # The start of a trial

    def _towards_start(self, percept: Percept) -> Floats:
        """Joint speeds that lead to the start of the twin, (motors,) [rad/s]."""
        error = self._start - np.radians(percept.angles[self._motors])
        return np.asarray(np.clip(_POSING_GAIN * error / CYCLE, -_MAX_POSING_SPEED, _MAX_POSING_SPEED))

    def _begin(self, trial: str) -> None:
        """Puts robot and ball to their starts, and lets them settle."""
        why = ""
        for attempt in range(_ATTEMPTS):
            if attempt:  # a robot with tangled legs does not get right again: a new one
                self.close()
                self._connect()
            self._train("(playMode PlayOn)")
            self._train("(time 0)")
            for cycles in (_POSING_CYCLES, _SETTLING_CYCLES):  # upright again once the joints are where they are to be
                self._place_robot()
                percept = self._cycles(cycles)
            tilt = math.acos(min(1.0, max(-1.0, percept.acc[2] / max(float(np.linalg.norm(percept.acc)), 1e-9))))
            if tilt > _MAX_START_TILT:
                why = f"the robot leans by {math.degrees(tilt):.0f} degrees"
                continue
            if not self._radius:
                return
            self._place_ball()
            self._cycles(_BALL_CYCLES)
            off = self._in_start_frame(self._truth.ball)[:2] - self.twin.settings.ball_at
            if np.hypot(*off) <= _MAX_START_ERROR:
                return
            why = f"the ball is {np.hypot(*off):.2f} m from its place"
        raise EnvironmentProblem(
            f"trial {trial!r} cannot begin on the server: {why}. Does another agent or trainer play there?"
        )

    def _cycles(self, count: int) -> Percept:
        for _ in range(count - 1):
            self._cycle(self._towards_start)
        return self._cycle(self._towards_start)

    def _place_robot(self) -> None:
        # On the wire places are the field's, and headings count from +y; the right team sees the field rotated.
        sign, degrees = (1, -90) if self._side is Side.LEFT else (-1, 90)
        x, y = sign * START
        who = f"(unum {self._number})(team {self._side.word.capitalize()})"
        self._train(f"(agent {who}(move {x:.4f} {y:.4f} {self._height + DROP_HEIGHT:.4f} {degrees}))")

    def _place_ball(self) -> None:
        head, heading = self._truth.head, self._truth.heading
        assert head is not None
        assert heading is not None
        ahead, left = self.twin.settings.ball_at
        sign = 1 if self._side is Side.LEFT else -1
        x = sign * (head[0] + ahead * math.cos(heading) - left * math.sin(heading))
        y = sign * (head[1] + ahead * math.sin(heading) + left * math.cos(heading))
        self._train(f"(ball (pos {x:.4f} {y:.4f} {self._radius:.4f})(vel 0 0 0))")

    def _in_start_frame(self, places: Floats | None, truth: _Truth | None = None) -> Floats:
        """Places (..., 3) as seen from the ground below the robot at its start."""
        at = truth or self._truth
        assert places is not None
        assert at.head is not None
        assert at.heading is not None
        c, s = math.cos(at.heading), math.sin(at.heading)
        moved = np.asarray(places) - [at.head[0], at.head[1], 0.0]
        return np.stack(
            [c * moved[..., 0] + s * moved[..., 1], c * moved[..., 1] - s * moved[..., 0], moved[..., 2]], axis=-1
        )

    # The trial

    def _play(self, trial: Trial) -> Rollout:
        """Gives the commands, and brings what was received into the form of a simulation."""
        begin = _Truth(self._truth.head, self._truth.heading, self._truth.ball)
        played = _Played()
        for row, command in enumerate(trial.commands):
            percept = self._cycle(lambda _, command=command: command)  # type: ignore[misc]
            played.angles.append(np.radians(percept.angles[self._joints]))
            gyro = np.radians(percept.gyro)
            played.gyro.append(np.array([gyro[1], -gyro[0], gyro[2]]))  # the server's x is right, y ahead
            sight = percept.sight
            if sight is not None and sight.my_position is not None:
                played.rows.append(row)
                played.heads.append(sight.my_position)
                if sight.ball_position is not None:
                    played.balls.append(sight.ball_position)
        return self._rollout(trial, played, begin)

    def _rollout(self, trial: Trial, played: _Played, begin: _Truth) -> Rollout:
        rows = np.arange(len(trial), dtype=np.float64)
        turns = _added_up(np.array(played.gyro))
        heads = self._in_start_frame(np.array(played.heads), begin)
        torsos = heads - (_matrices(turns[played.rows]) @ HEAD_OFFSET)
        pose = np.concatenate([_between(rows, played.rows, torsos), turns], axis=1)
        ball = None
        if len(played.balls) == len(played.rows) and self._radius:
            ball = _between(rows, played.rows, self._in_start_frame(np.array(played.balls), begin))
        frames = len(trial)
        if self.watch.fallen is not None:
            down = _matrices(turns)[:, 2, 2] < self.watch.fallen
            frames = int(np.argmax(down)) if down.any() else frames
        angles = np.array(played.angles)
        for series in (angles, pose, *(() if ball is None else (ball,))):
            series[frames:] = np.nan
        return Rollout(
            times=np.asarray(CYCLE * rows, np.float64),
            joints=self.twin.table.joints,
            angles=angles[None],
            pose=pose[None],
            sensors={},
            commands=trial.commands[None],
            frames=np.array([frames]),
            diverged=np.array([False]),
            ball=None if ball is None else ball[None],
        )


def _added_up(gyro: Floats) -> Floats:
    """Orientations (T, 4) after the turns of each cycle, (T, 3) [rad/s]; upright at row 0."""
    out = np.zeros((len(gyro), 4))
    out[0, 0] = 1.0
    for row in range(1, len(gyro)):
        turn = gyro[row] * CYCLE
        angle = float(np.linalg.norm(turn))
        w, v = math.cos(angle / 2), turn * (math.sin(angle / 2) / angle if angle > 0 else 0.5)
        a, b = out[row - 1, 0], out[row - 1, 1:]
        out[row, 0], out[row, 1:] = a * w - b @ v, a * v + w * b + np.cross(b, v)
    return out


def _matrices(turns: Floats) -> Floats:
    """Rotation matrices (T, 3, 3) of quaternions (T, 4)."""
    w, x, y, z = turns.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def _between(rows: Floats, known: list[int], values: Floats) -> Floats:
    """Values (K, 3) of some rows interpolated at all rows, (T, 3)."""
    return np.stack([np.interp(rows, known, column) for column in values.T], axis=1)
