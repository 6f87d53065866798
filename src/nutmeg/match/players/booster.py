"""Players of T1 and K1 robots in rcssservermj's league: the tactics of all worlds, with any walk that fits the body.

    setup = walking_setup(BoosterSetup(robot="t1", players=7))      # by the walk that comes with Nutmeg
    GameLoop(MjGame(load_rules("ssim26"), seed=1, seats={"t1": 14}), booster_team("reds", setup)).run()

    body = BoosterBody("t1")                            # what a walk moves: a `motion.bodies.Bodies` of one robot
    body.observe(percept)                                  # angles, gyro, accelerometer of a percept
    walker.wanted[:] = [0.5, 0.0, 0.0]
    walker.sample(percept.time)                         # writes body.command, (1, motors) [rad]
    body.motors()                                       # (joints, 5): the command with the gains of the robot's drives

A policy of `nutmeg train walk --robot t1` observes what the protocol sends: joint angles (their differences give the
speeds), the gyroscope, and the upward direction, which is estimated from gyroscope and accelerometer; it commands
angles. As on the league's server, players receive their true place and attitude, and see the ball and others without
noise, so that beliefs need no filter. Decisions are those of `tactics`, as in all worlds. A fallen robot gets up by
keyframes, and its walk takes over at their end. With the strategy `booster-kicks` players kick by keyframes, too, once
they have come to stand before the ball; with `booster` they walk through it.
"""

from __future__ import annotations

import dataclasses
import math
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import mujoco
import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.base.records import new_records
from nutmeg.match.players.decide import NO_KICK
from nutmeg.match.players.deciding_player import league_abilities
from nutmeg.match.players.kicks import Move, Moves, foot_for, kick_ability
from nutmeg.match.players.messages import MAX_ARRIVAL_TIME, Report
from nutmeg.match.players.request import Kick, Look, Request, Walk
from nutmeg.match.players.tactics.records import ground_of
from nutmeg.match.players.tactics.strategies import BOOSTER_NAME, strategy
from nutmeg.match.players.tactics.tactician import Tactician
from nutmeg.match.players.tracking.records import BeliefRecord
from nutmeg.match.rules.book import MAX_PLAYERS, load_rules, pitch_of
from nutmeg.match.rules.play_modes import KICK_OFFS, WIRE_NAMES, Side
from nutmeg.match.worlds.mj.percept import MOTOR_NUMBERS, ROBOTS, Action, landmarks
from nutmeg.match.worlds.mj.world import HEAD_PLACES
from nutmeg.model.actuation.drives import drive_of_each_joint
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field
from nutmeg.motion.bodies import ROBOT_NAME, ReportedRobot
from nutmeg.motion.inertial import FallDetector, UpEstimator
from nutmeg.motion.keyframes import GetUp, shipped_get_ups
from nutmeg.motion.policy import PolicyWalker
from nutmeg.motion.walk.files import read_walk

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.base.records import Records
    from nutmeg.match.players.decide import Abilities
    from nutmeg.match.players.request import Legs
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.worlds.mj.percept import Percept, Sight
    from nutmeg.motion.policy import PolicySettings

_NEVER = 1e3  # how long ago something was seen that never was [s]
_FALLEN_UP = 0.5  # a robot whose upward direction has a z below this has fallen
_PUT_UP = 0.3  # no robot comes up by this much in a cycle by itself, along z: it was put up
_VELOCITY_SHARE = 0.4  # share of a new measurement in the ball's velocity
_HOLD_STEP = 0.02  # how far a target moves towards zero in a cycle [rad]
_MAX_LAG = 0.15  # if a target is farther from its joint than this, all begin anew where the joints are [rad]
_BALL_DECELERATION = 0.5
"""Deceleration by the rolling friction of the league's engine [m/s²]; a ball from 2.2 m/s lost 0.44 to 0.65 m/s a
second."""
_PUSH_DISTANCE = 6.0
"""How far a ball goes that a T1 runs through, on the pitch of the other league [m]; on its own, 4 to 14 m."""
_PUSH_ASIDE = {"t1": 0.15, "k1": 0.09}
"""How far beside the middle of the body the ball of a push should be [m]. Measured on T1: at 0.12 to 0.18 m, at 0.7 and
1.0 m/s, the ball goes 1 to 14 m and about straight (96 pushes, standard deviation 11 degrees); at 0 it goes off by 24
to 59 degrees in 10 of 12 pushes, because the corner of a foot hits it. Measured on K1, at 0.6 and 0.9 m/s: at 0.06 to
0.1 m the ball goes 1 to 8 m (100 pushes, standard deviation 13 degrees; 9 at 0.09 m); at 0 and 0.15 m it goes off by 37
and 35 degrees in the median (8 pushes each)."""
_PUSH_SPREAD, _KICK_SPREAD = 0.19, 0.17
"""Standard deviations of the directions of pushes and of kicks [rad]: 11 degrees in 96 pushes; 9 in the kicks of
docs/howto/skills.md, with the heading up to 7 degrees off the aim."""
_CONTACT_DISTANCE = 0.65  # distance between the torsos of two robots that touch [m]
_STOP_TIME = {"t1": 0.6, "k1": 0.5}
"""How long a robot stands before it kicks [s]. Of 64 kicks each, half a second after any walk 67 and 94 % ended on
their feet, 0.9 s and longer after it 98 and 100 %; walks before a kick are slow, and stop sooner."""
_SWING_TIME = {"t1": 0.56, "k1": 0.37}  # time from the beginning of a kick to its hit [s] (docs/howto/skills.md)
_STOP_LINEAR, _STOP_QUADRATIC, _STOP_ASIDE = 0.01, 0.45, 0.17
"""Stopping distances for the asked speed ahead [s], for its square [s²/m], and for that aside [s]. Both robots needed
0.03, 0.12, 0.23 and 0.38 m from 0.3, 0.5, 0.7 and 0.9 m/s ahead, and 0.02, 0.05 and 0.14 m from 0.2, 0.3 and 0.5 m/s
aside (8 stops each)."""
_CATCH_TIME, _CATCH_SPEED = 0.6, 0.2
"""For how long and how fast a robot walks on after a kick, whatever is requested, to catch its swing [s, m/s]; kicks
were learned with that."""
_SPEED_SHARE = 0.8  # share of its walk's speeds that is used: at full speed T1 falls in turns and stops
_REPORT = struct.Struct("<HBhhBB")
"""A report in the ten bytes that this league allows: a key of the team's name, the own number with two flags, x and y
[cm], the time until it could play the ball [0.1 s], and its post in the formation."""
_GOES, _LIES = 16, 32  # flags beside the number: it goes for the ball, it lies
_SPEAKING_CYCLES = 15  # cycles between two reports of a player; players speak in turns
_KICK_OFF_MODES = frozenset(mode.wire_name for mode in KICK_OFFS)
_NECK_YAW, _NECK_PITCH = 0, 1  # places of the neck's joints among all


class BoosterWalker(Protocol):
    """The walk of the legs: a `PolicyWalker`, or anything with the same three members."""

    wanted: Floats
    """Wanted velocities, (1, 3) [m/s ahead, m/s to the left, rad/s to the left]."""

    def reset(self) -> None:
        """Starts again from standing."""

    def sample(self, time: float) -> None:
        """One cycle: reads what the body senses, writes its command."""


class BoosterBody(ReportedRobot):
    """One T1 or K1 that reports what it senses over the league's protocol; a `motion.bodies.Bodies` of one robot.

    Args:
        robot: `t1` or `k1`.
    """

    def __init__(self, robot: str = "t1") -> None:
        if robot not in ROBOTS:
            raise UnknownNameError("robot of this league", robot, ROBOTS)
        super().__init__(robot)
        self.kind = robot
        drives = drive_of_each_joint(self.table.settings, dict.fromkeys(self.table.joints))
        self._gains = np.array([[drives[name].stiffness, drives[name].damping] for name in self.table.motors])
        self._data = mujoco.MjData(self.scene.model)
        self._head = int(self.scene.model.body(f"{ROBOT_NAME}/Head").id)

    def hold(self) -> None:
        """Commands the way to the pose in which the server puts robots, all angles zero: in it, they stand."""
        angles = self.qpos[:, self.table.angles[self.table.motor_joints]]
        last = angles if np.abs(self._command - angles).max() > _MAX_LAG else self._command
        self.command = last - np.clip(last, -_HOLD_STEP, _HOLD_STEP)

    def observe(self, percept: Percept) -> None:
        """Takes in what a percept says of the own body."""
        table, row = self.table, self.qpos[0]
        row[table.angles] = np.radians(percept.angles)
        row[table.root : table.root + 3], row[table.root + 3 : table.root + 7] = percept.position, percept.attitude
        self.gyro[0], self.acceleration[0] = np.radians(percept.gyro), percept.acc
        w, x, y, z = percept.attitude
        self.up[0] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)

    def motors(self) -> Floats:
        """The command as five numbers a motor, (joints, 5), in the units of the wire."""
        rows, joints = np.zeros((len(self.table.motors), MOTOR_NUMBERS)), self.table.motor_joints
        rows[joints, 0], rows[joints, 2:4] = np.degrees(self._command[0]), self._gains
        return rows

    def eye(self) -> tuple[Floats, Floats]:
        """Place (3,) [m] and attitude (3, 3) of the camera, by the last percept."""
        self._data.qpos[:] = self.qpos[0]
        mujoco.mj_kinematics(self.scene.model, self._data)
        turn = self._data.xmat[self._head].reshape(3, 3)
        return self._data.xpos[self._head] + turn @ HEAD_PLACES[self.kind][0], turn


class _StandingWalker:
    """Stands whatever is requested: for robots without a walk, and for tests of everything else."""

    def __init__(self, body: BoosterBody) -> None:
        self.wanted: Floats = np.zeros((1, 3))
        self._body = body

    def reset(self) -> None:
        """Nothing to begin again."""

    def sample(self, time: float) -> None:  # noqa: ARG002 (a task of the schedule)
        """Holds the pose in which robots are put."""
        self._body.hold()


MakeWalker = Callable[[BoosterBody], BoosterWalker]


def policy_of(name: str, robot: str = "") -> PolicySettings:
    """The policy of a walk file of `nutmeg train walk --robot t1`; the name may leave that of the robot out."""
    policy = read_walk(name, robot).policy
    if policy is None:
        raise UsageError(f"the walk {name!r} has no policy; T1 and K1 walk by policies of `nutmeg train` only.")
    return policy


def policy_walk(name: str, robot: str = "") -> MakeWalker:
    """A walk by a policy."""
    policy = policy_of(name, robot)
    return lambda body: PolicyWalker(body, body.name, policy)


@dataclass(frozen=True, kw_only=True)
class BoosterSetup:
    """The body of a player of this league, and the match that it plays in."""

    robot: str = "t1"
    """`t1` or `k1`."""
    players: int = 7
    """How many its team has; of more than one, number 1 keeps the goal."""
    field: str = "fifa7vs7"
    """Name of the field it plays on."""
    rules: Rules | None = None
    """The rule book; ssim26 on this field if left out."""
    strategy: str = BOOSTER_NAME
    """How it plays, by the name of a strategy; one that kicks needs a policy as its walk."""
    walk: MakeWalker = _StandingWalker
    """The walk of its legs."""
    speeds: tuple[float, float, float, float] = (0.6, 0.3, 0.25, 0.8)
    """Highest velocities that tactics command: ahead, back, to a side [m/s], turning [rad/s]."""


def walking_setup(setup: BoosterSetup, name: str = "") -> BoosterSetup:
    """The setup with a walk and its speeds; if none is named, with the one that comes with Nutmeg."""
    name = name or f"policy-{setup.robot}"
    policy = policy_of(name, setup.robot)
    ahead, side, turn = (_SPEED_SHARE * fastest for fastest in policy.fastest)
    speeds = ahead, _SPEED_SHARE * policy.back, side, turn
    return dataclasses.replace(setup, walk=policy_walk(name, setup.robot), speeds=speeds)


def _booster_abilities(setup: BoosterSetup) -> Abilities:
    """The abilities of the robot: its walk's speeds, pushing the ball with its feet, and if it kicks, its kick."""
    ahead, back, side, turn = setup.speeds
    known = league_abilities(load_ball(load_field(setup.field).ball))
    pushing = dataclasses.replace(
        known,
        ahead=ahead,
        back=back,
        side=side,
        turn=turn,
        ask=setup.speeds,
        run=ahead,
        can_kick=False,
        push=_PUSH_DISTANCE,
        push_aside=_PUSH_ASIDE[setup.robot],
        contact_distance=_CONTACT_DISTANCE,
        ball_slows=_BALL_DECELERATION,
        ball_damped=0.0,
        eyes=1.0,
    )
    return _with_kick(pushing, setup.robot) if strategy(setup.strategy).kicks else pushing


def _with_kick(pushing: Abilities, robot: str) -> Abilities:
    """The abilities of a robot that also kicks; its pushes then have a spread, too, as they are compared with kicks."""
    kick = dataclasses.replace(kick_ability(robot=robot), spread=_KICK_SPREAD)
    stop, swing = _STOP_TIME[robot], _SWING_TIME[robot]
    return dataclasses.replace(
        pushing,
        kick=kick,
        short_kick=kick,  # it has only one strength
        shot=NO_KICK,
        can_kick=True,
        kick_time=stop + swing,
        swing_time=swing,
        stop_time=stop,
        stop_linear=_STOP_LINEAR,
        stop_quadratic=_STOP_QUADRATIC,
        stop_aside=_STOP_ASIDE,
        push_spread=_PUSH_SPREAD,
    )


class BoosterPlayer:
    """One player.

    Args:
        team: name of its team.
        number: its number.
        setup: its body, and the match.
    """

    def __init__(self, team: str, number: int, setup: BoosterSetup) -> None:
        self.team, self.number, self.robot_type = team, number, ROBOTS.index(setup.robot)
        ground = load_field(setup.field)
        rules = setup.rules or load_rules("ssim26").on(pitch_of(ground, load_ball(ground.ball)))
        self._team_key = zlib.crc32(team.encode()) % 65536
        self.body = BoosterBody(setup.robot)
        self.walker = setup.walk(self.body)
        record = ground_of(rules, _booster_abilities(setup))
        self.tactician = Tactician(setup.strategy, record, number=number, players=setup.players)
        self.request = Request()
        """Its last request."""
        self._beliefs: Records[BeliefRecord] = new_records(BeliefRecord, 1)
        self._beliefs["seen_ago"], self._beliefs["heard_ago"] = _NEVER, _NEVER
        self._beliefs["others"]["age"], self._beliefs["others"]["x"] = _NEVER, np.nan
        self._ball_row = len(landmarks(ground))
        self._time = 0.0
        motions = shipped_get_ups(setup.robot)
        self._falls = FallDetector(UpEstimator(self.body, self.body.name, period=CONTROL_CYCLE))
        self._get_up = GetUp(self.body, self.body.name, motions, falls=self._falls, period=CONTROL_CYCLE)
        self._moves = Moves(self.body)
        self._kick: Move | None = None  # the kick that it plays
        self._walked, self._kicked = 0.0, -math.inf  # when it last walked, and when its last kick ended [s]

    @property
    def belief(self) -> BeliefRecord:
        """What it believes about itself, the ball and others, in the own team's frame."""
        return self._beliefs[0]

    @property
    def kicking(self) -> bool:
        """Whether it is kicking."""
        return self._kick is not None

    @property
    def getting_up(self) -> bool:
        """Whether it is getting up; a K1 on its back sits upright on its way."""
        return bool(self._get_up.active[0])

    def act(self, percept: Percept) -> Action:
        """The action of this cycle, from what is perceived."""
        self.body.observe(percept)
        for _, message in percept.heard or ():
            self._hear(message, percept.time)
        side = Side.RIGHT if percept.teams[1] == self.team and percept.teams[0] != self.team else Side.LEFT
        self._believe(percept, side)
        mode = percept.game.mode if percept.game.mode in WIRE_NAMES else "PlayOn"
        self.request = request = self.tactician.decide(
            self._beliefs, time=percept.time, mode=mode, side=side, kicking=self.kicking
        )
        beam = None
        if request.beam is not None:
            x, y, heading = request.beam
            beam = (x, y if side is Side.LEFT else -y, heading)  # the server mirrors x and heading, but not y
        self._move(percept.time, request)
        speaks = round(percept.time / CONTROL_CYCLE) % _SPEAKING_CYCLES == self.number
        say = (1.0, self._report()) if speaks else None
        return Action(motors=self.body.motors(), beam=beam, say=say, syn=True)

    def _report(self) -> bytes:
        """The report to team-mates: place, and the time until it could play the ball."""
        one, memory = self._beliefs[0], self.tactician.memory
        flags = self.number | _GOES * bool(memory.goes) | _LIES * (not one.upright)
        places = round(100 * float(one.x)), round(100 * float(one.y))
        arrival = round(10 * min(float(memory.arrival), MAX_ARRIVAL_TIME))
        return _REPORT.pack(self._team_key, flags, *places, arrival, int(memory.post))

    def _hear(self, message: bytes, time: float) -> None:
        """Takes the report of a team-mate; other messages are ignored."""
        if len(message) != _REPORT.size:
            return
        key, flags, x, y, arrival, post = _REPORT.unpack(message)
        number, goes, fallen = flags % _GOES, bool(flags & _GOES), bool(flags & _LIES)
        if key != self._team_key or not 1 <= number <= MAX_PLAYERS:
            return
        place, arrival = (0.01 * x, 0.01 * y), 0.1 * arrival
        about = {"place": place, "heading": 0.0, "fallen": fallen, "goes": goes, "post": post}
        self.tactician.hear(Report(number=number, time=time, arrival=arrival, **about))
        self._beliefs["others"][0, number - 1] = (*place, 0.0, 0.0, 0.0, fallen)

    def _move(self, time: float, request: Request) -> None:
        """Moves the legs by the walk or a kick, and the neck; a fallen robot gets up as soon as it lies still."""
        if self._gets_up(time):
            self._kick = None
            return
        if self._kicks(time, request.legs):
            return
        legs, wanted = request.legs, (0.0, 0.0, 0.0)
        if time - self._kicked < _CATCH_TIME:
            self._walked, wanted = time, (_CATCH_SPEED, 0.0, 0.0)
        elif isinstance(legs, Walk):
            self._walked, wanted = time, (legs.ahead, legs.left, legs.turn)
        self.walker.wanted[0] = wanted
        self.walker.sample(time)
        self._look(request.look)

    def _kicks(self, time: float, legs: Legs) -> bool:
        """Whether it kicks in this cycle; then it is commanded the next angles of the kick."""
        if self._kick is None and isinstance(legs, Kick) and time - self._walked >= _STOP_TIME[self.body.kind]:
            foot = foot_for(legs, robot=self.body.kind)
            if foot is not None:
                table = self.body.table
                angles = self.body.qpos[0, table.angles[table.motor_joints]]
                self._kick = self._moves.kick(legs, foot, angles)
        if self._kick is None:
            return False
        self.body.command = self._kick.step(self.body.gyro, self._falls.senses.up)[None]
        if self._kick.over:
            self._kick, self._kicked = None, time
            self.walker.reset()
        return True

    def _gets_up(self, time: float) -> bool:
        """Whether it lies or gets up in this cycle; then it is commanded what that needs."""
        falls, get_up, was = self._falls, self._get_up, bool(self._falls.fallen[0])
        before = falls.senses.up[0, 2]
        falls.senses.reset()  # this league sends robots their true attitude
        falls.sample(time)
        if falls.senses.up[0, 2] - before > _PUT_UP:
            get_up.stop(0)
        elif falls.fallen[0] and falls.still[0] and not get_up.active[0]:
            get_up.begin(0, falls.lying[0])
        get_up.sample(time)
        if get_up.active[0]:
            self.body.command = get_up.targets
        elif falls.fallen[0]:
            self.body.hold()
        elif was or get_up.done[0]:
            get_up.done[0] = False
            self.walker.reset()
        return bool(get_up.active[0] or falls.fallen[0])

    def _look(self, look: Look) -> None:
        """Turns the neck; its pitch is downwards on these robots."""
        command, table = self.body.command.copy(), self.body.table
        for joint, angle in ((_NECK_YAW, look.yaw), (_NECK_PITCH, -look.pitch)):
            command[0, table.motor_joints == joint] = np.clip(angle, *table.limits[joint])
        self.body.command = command

    def _believe(self, percept: Percept, side: Side) -> None:
        """Writes the percept into the belief, in the own team's frame."""
        belief, step = self._beliefs, max(percept.time - self._time, 0.0)
        self._time = percept.time
        w, x, y, z = percept.attitude
        heading = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) + (0.0 if side is Side.LEFT else math.pi)
        belief["x"], belief["y"] = side.sign * percept.position[0], side.sign * percept.position[1]
        belief["heading"] = math.remainder(heading, math.tau)
        belief["spread"] = belief["heading_spread"] = 0.01
        belief["upright"] = self.body.up[0, 2] >= _FALLEN_UP
        belief["seen_ago"] += step
        belief["others"]["age"] += step
        belief["ball_x"] += belief["ball_vx"] * step
        belief["ball_y"] += belief["ball_vy"] * step
        if percept.sight is not None:
            self._see(percept.sight, side)
        if percept.game.mode in _KICK_OFF_MODES:
            # The rules say where the ball lies. A player that is put before it after a goal does not see it at its
            # feet, and would walk to its last known place, in the own net.
            for name in ("ball_x", "ball_y", "ball_vx", "ball_vy", "seen_ago"):
                belief[name] = 0.0
        mine = belief["others"][0, self.number - 1 : self.number]
        mine["x"], mine["y"], mine["age"], mine["lies"] = belief["x"], belief["y"], 0.0, ~belief["upright"]

    def _see(self, sight: Sight, side: Side) -> None:
        """Takes in what the camera shows."""
        belief, (eye, turn) = self._beliefs, self.body.eye()
        ball = _place(sight.marks[self._ball_row], eye, turn)
        if ball is not None:
            place, ago = side.sign * ball[:2], float(belief["seen_ago"][0])
            if 0.0 < ago < 1.0:  # what it has moved beyond its prediction
                off = place - (belief["ball_x"][0], belief["ball_y"][0])
                belief["ball_vx"] += _VELOCITY_SHARE * off[0] / ago
                belief["ball_vy"] += _VELOCITY_SHARE * off[1] / ago
            else:
                belief["ball_vx"], belief["ball_vy"] = 0.0, 0.0
            belief["ball_x"], belief["ball_y"], belief["ball_height"] = *place, ball[2]
            belief["ball_spread"], belief["seen_ago"] = 0.02, 0.0
        for team, number, parts in zip(sight.teams, sight.numbers, sight.parts, strict=True):
            seen = [spot for polar in parts if (spot := _place(polar, eye, turn)) is not None]
            if seen and (team, number) != (self.team, self.number) and number <= MAX_PLAYERS:
                row = (0 if team == self.team else MAX_PLAYERS) + number - 1
                middle, height = side.sign * np.mean(seen, axis=0), max(spot[2] for spot in seen)
                lies = np.isfinite(parts[0, 0]) and height < _FALLEN_UP
                belief["others"][0, row] = (middle[0], middle[1], 0.0, 0.0, 0.0, lies)


def _place(polar: Floats, eye: Floats, turn: Floats) -> Floats | None:
    """Where something is that was seen in a direction, (3,) [m]; None where it was not seen."""
    distance, left, up = polar[0], math.radians(polar[1]), math.radians(polar[2])
    if not math.isfinite(distance):
        return None
    flat = math.cos(up)
    return np.asarray(eye + turn @ (distance * np.array([flat * math.cos(left), flat * math.sin(left), math.sin(up)])))


def booster_team(team: str, setup: BoosterSetup) -> dict[tuple[str, int], BoosterPlayer]:
    """The players of a team by team and number, as `GameLoop` takes them."""
    return {(team, number): BoosterPlayer(team, number, setup) for number in range(1, setup.players + 1)}
