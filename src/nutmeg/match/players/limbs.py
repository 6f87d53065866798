"""How a player of the built-in team moves: from observations and requests to the speeds of its joints.

    limbs = Limbs(read_walk("dynamic-rewards"), robot_type=0)
    speeds = limbs.act(percept, Walk(ahead=0.4), Look(yaw=0.3))         # (22,) rad/s, in the order of the wire
    limbs.odometry                                                      # (ahead, left, turn) since the last cycle
    limbs.doing, limbs.busy, limbs.upright

The body is known only from the observation: joint angles, gyro and accelerometer. Actions have a latency of two cycles,
so the joint angles are predicted from the commands that are still on their way (`motion.bodies`). A player that falls
gets up, whatever was requested.

Requested velocities are limited to what the walk can do, and change gradually: walks were learned with targets that
change every few seconds, not with requests that jump from cycle to cycle. The turn that the gyro has measured corrects
the rest of it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base import settings
from nutmeg.base.constants import CONTROL_CYCLE, GRAVITY
from nutmeg.base.errors import UsageError
from nutmeg.match.players.kicks import Move, Moves, foot_for
from nutmeg.match.players.request import Dive, Dribble, GetUp, Kick, Stand
from nutmeg.match.players.request import Walk as WalkWish
from nutmeg.match.worlds.physical.ground import TOED_TYPE
from nutmeg.match.worlds.physical.percept import JOINTS, WITH_TOES, WITHOUT_TOES
from nutmeg.motion.bodies import OnboardRobot
from nutmeg.motion.dribble import Dribbler, own_dribbling
from nutmeg.motion.keyframes import LYING_SIDES, own_motions, shipped_get_ups
from nutmeg.motion.policy import PolicyWalker
from nutmeg.motion.skills import Skill, Skills, SkillSettings
from nutmeg.motion.walk.walker import Walker

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.players.request import Legs, Look
    from nutmeg.match.worlds.physical.percept import Percept
    from nutmeg.motion.walk.files import WalkParameters


# ----------------------------------------------------------------------------------------------------
# How much of a walk the built-in team uses: shares of its top speeds, and limits of acceleration.
#
# Walks were learned without the server's delay, and for targets that change every few seconds, while players of a match
# change their requests at any time. The numbers of each walk, with their measurements, are in `data/paces.toml`.


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How much of a walk's speed is used, and how fast it changes."""

    share: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """The share of the walk's top speeds ahead, aside and in turning."""
    gain: tuple[float, float, float] = (0.87, 0.9, 1.0)
    """True speeds per speed that the walk computes from its steps, measured; `Limbs.odometry` uses them."""
    answers: tuple[tuple[float, float], ...] = ()
    """Pairs of the speed ahead that is asked of the walk and the one it reaches, both rising [m/s]; requests of players
    are true speeds, which are converted by interpolation. Empty for a walk that reaches what it is asked for."""
    side_turn: float = 0.0
    """Turn rate to the left that walking to the left causes, which is compensated in advance [rad/m]."""
    straighten: float = 2.0
    """Turn rate for each radian of heading error [1/s]."""
    speed_up: tuple[float, float, float] = (0.5, 0.5, 3.0)
    """Limits of the growth of velocities [m/s², m/s², rad/s²]."""
    slow_down: tuple[float, float, float] = (2.0, 2.0, 6.0)
    """Limits of their decrease [m/s², m/s², rad/s²]."""

    turning: float = 0.3
    """Share of the speed ahead and aside that is lost when turning as fast as possible."""
    run: float = 0.6
    """Approximate mean speed of a player on its way to the ball [m/s]."""
    stop: tuple[float, float] = (0.07, 0.42)
    """Stopping distance: in proportion to the speed [s], and to its square [s²/m]."""
    stop_aside: float = 0.15
    """Stopping distance to a side in proportion to the speed [s]."""
    stop_time: float = 0.4
    """Time to stop before a kick [s]."""
    stand_time: float = 0.34
    """Time for which a robot stands before it kicks [s]."""
    settle: float = 0.0
    """Distance by which the torso moves back when a walking robot comes to stand [m]."""
    push: float = 1.0
    """Approximate distance that a dribbled ball rolls [m]."""

    def __post_init__(self) -> None:
        if not all(0 < share <= 1 for share in self.share):
            raise ValueError(f"the shares of top speed are {self.share}; allowed is above 0 and up to 1.")
        if any(one[0] >= two[0] or one[1] >= two[1] for one, two in itertools.pairwise(self.answers)):
            raise ValueError(f"the answers of the walk are {self.answers}; requested and reached speeds must rise.")
        if not all(rate > 0 for rate in (*self.gain, *self.speed_up, *self.slow_down)):
            raise ValueError(
                f"gains are {self.gain}, speed_up {self.speed_up} and slow_down {self.slow_down}; all must be above 0."
            )


@dataclass(frozen=True, kw_only=True)
class _Paces:
    """The paces of walks, as their file has them."""

    pace: Mapping[str, Pace]
    """Paces by the walk's name; `default` is for all others."""

    def __post_init__(self) -> None:
        if "default" not in self.pace:
            raise ValueError("has no [pace.default], which walks need that are not named.")


def pace_of(walk: str) -> Pace:
    """The pace of a walk by its name."""
    with resources.as_file(resources.files("nutmeg.match.players") / "data" / "paces.toml") as path:
        paces = settings.read_cached(path, _Paces).pace
    return paces.get(walk, paces["default"])


ROBOT = "nao-spark"
LEG_TYPES = ("type0", "type1", "type2", "type3", "type0")
"""The types whose leg geometry is used: type 4 has the legs of type 0, and toes that are held straight."""
COMMAND_DELAY = 1
"""Latency from an action to the first motion of the joints [cycles]."""
NECK_JOINTS = ("hj1", "hj2")
TOE_GAIN = 20.0
"""Speed of a toe for each radian that it is bent [1/s]."""
DOING = {
    Skill.STAND: "stand",
    Skill.WALK: "walk",
    Skill.STOP: "stop",
    Skill.FALL: "fall",
    Skill.GET_UP: "get up",
    Skill.STEADY: "steady",
}
STEP_LEFT = (0.012, 0.012, 0.05)
"""Largest remaining step with which the robot may come to stand [m, m, rad]."""
MAX_HEADING_ERROR = 0.5
"""Largest heading error that is compensated by turning [rad]."""
CONTRADICTION_CYCLES = 4
"""Cycles of contradiction between accelerometer and gyro after which the accelerometer is believed: the robot was
beamed or put somewhere."""
CONTRADICTION_COSINE, RESTING_RATE, GRAVITY_SHARE = 0.7, 2.0, 0.3
"""The accelerometer contradicts the gyro below this cosine between their upward directions; it is believed only below
this rate of turn [rad/s] and within this share of gravity."""


class Limbs:
    """The body of one player.

    Args:
        walk: how it walks.
        robot_type: of the league's robot, 0..4.
        pace: how much of the walk is used; None for what was found to be safe with it.
        motions: folders with motions that it plays instead of those that come with Nutmeg.
    """

    def __init__(
        self,
        walk: WalkParameters,
        robot_type: int = 0,
        *,
        pace: Pace | None = None,
        motions: Sequence[Path] = (),
    ) -> None:
        if robot_type not in range(len(LEG_TYPES)):
            raise UsageError(f"robot type {robot_type} is not known; types are 0 to {len(LEG_TYPES) - 1}.")
        kind, self.robot_type = LEG_TYPES[robot_type], robot_type
        self.kick_type = f"type{robot_type}"
        """The type of robot whose kicks it has."""
        self.pace = pace or pace_of(walk.name)
        self._answers = np.array(self.pace.answers).T
        self._body = OnboardRobot(ROBOT, kind, delay=COMMAND_DELAY, period=CONTROL_CYCLE)
        self.motions = own_motions(motions, ROBOT, kind)
        """Its own motions, by name; those that it does not have are the ones that come with Nutmeg."""
        get_ups = {side: (self.motions[side],) for side in LYING_SIDES if side in self.motions}
        self._sets = {name: number for number, name in enumerate(walk.for_robot(ROBOT).sets)}
        self._walker = self._make_walker(walk)
        self._skills = Skills(
            self._body,
            self._body.name,
            self._walker,
            {**shipped_get_ups(ROBOT, kind), **get_ups},
            settings=SkillSettings(step_left=STEP_LEFT),
            period=CONTROL_CYCLE,
        )
        motors = self._body.motors
        self._columns = np.array([JOINTS.index(name) for name in motors])
        self._healthy_speeds, self._strengths = self._body.top_speeds.copy(), np.ones(len(motors))
        self._toes = slice(WITHOUT_TOES, WITH_TOES if robot_type == TOED_TYPE else WITHOUT_TOES)
        self._neck = np.array([motors.index(name) for name in NECK_JOINTS])
        self._neck_limits = self._body.table.limits[self._body.table.motor_joints[self._neck]]
        self._tops = [self._top_speeds(number) for number in range(max(len(self._sets), 1))]
        self._wanted, self._astray, self._turned = np.zeros(3), 0.0, 0.0
        self._began, self._contradicted = False, 0
        self._moves = Moves(self._body, self._walker.stance, self.kick_type, self.motions)
        self._move: Move | None = None
        self._playing = ""
        self._dribbler, self._dribbles = self._make_dribbler(walk.name, kind, motions), False
        self.odometry: tuple[float, float, float] = (0.0, 0.0, 0.0)
        """How far the body has come since the last cycle: ahead and to the left [m], and turned to the left [rad]."""

    def _make_walker(self, walk: WalkParameters) -> Walker | PolicyWalker:
        body = self._body
        if walk.policy is not None:
            return PolicyWalker(body, body.name, walk.policy, period=CONTROL_CYCLE)
        first, *others = ([one] for one in walk.sets.values())
        return Walker(body, body.name, first, others=others, period=CONTROL_CYCLE)

    def _make_dribbler(self, walk: str, kind: str, motions: Sequence[Path]) -> Dribbler | None:
        """The network by which it dribbles, if there is one for its walk."""
        dribbling = own_dribbling(motions, ROBOT, walk, kind)
        if dribbling is None or not isinstance(self._walker, PolicyWalker):
            return None
        return Dribbler(self._walker, dribbling, kind)

    def _top_speeds(self, number: int) -> Floats:
        """Highest velocities of a set of parameters: ahead, aside, turn, and backward, (4,)."""
        self._walker.chosen[:] = number
        self._walker.reset()
        walk = self._walker.walk
        found = np.append(walk.top_speed()[0], walk.top_speed_back()[0])
        self._walker.chosen[:] = 0
        self._walker.reset()
        return found

    def compensate(self, strengths: Floats) -> None:
        """Takes drives for damaged that turn with these shares of their commanded speed, (22,) as `JOINTS`, above 0.

        Commands are divided by the shares from now on, and no joint is expected to turn faster than its drive can.
        """
        self._strengths = strengths[self._columns]
        self._body.top_speeds[:] = self._healthy_speeds * self._strengths

    # ---- what the robot is doing

    @property
    def upright(self) -> bool:
        """Whether it is on its feet."""
        return not self._skills.falls.fallen[0]

    @property
    def skill(self) -> Skill:
        """The state of the robot's skills."""
        return Skill(int(self._skills.state[0]))

    @property
    def doing(self) -> str:
        """What the robot is doing, in a word."""
        return self._playing if self.skill is Skill.LENT else DOING[self.skill]

    @property
    def busy(self) -> bool:
        """Whether it is kicking, diving, falling or getting up, which it has to finish first."""
        return self.skill not in (Skill.STAND, Skill.WALK, Skill.STOP)

    @property
    def may_kick(self) -> bool:
        """Whether it has stood for long enough to kick, and hardly rocks any more."""
        skills = self._skills
        return self.upright and skills.since[0] >= self.pace.stand_time and bool(skills.stand_still[0])

    @property
    def falls(self) -> int:
        """Number of falls."""
        return int(self._skills.fallen_times[0])

    @property
    def get_up(self) -> tuple[int, int]:
        """The side that is below, a `Lying`, and how many motions were played to get up since the last fall."""
        return int(self._skills.falls.lying[0]), int(self._skills.get_up.tries[0])

    @property
    def top_speed(self) -> Floats:
        """Limits of requested velocities with the first parameter set: ahead, aside, turn and backward, (4,)."""
        return self._tops[0] * [*self.pace.share, self.pace.share[0]]

    @property
    def max_speed(self) -> Floats:
        """Limits of requested velocities with the fastest parameter set, in the same order, (4,)."""
        return np.asarray(np.max(self._tops, axis=0) * [*self.pace.share, self.pace.share[0]])

    def act(self, percept: Percept, legs: Legs, look: Look) -> Floats:
        """Speeds of all joints, (22,) or with toes (24,) [rad/s], in the order of `percept.JOINTS`."""
        self._feel(percept)
        skills = self._skills
        skills.sense(percept.time)
        self._play(legs)
        skills.wanted[0] = self._wish(legs)
        skills.move(percept.time)
        # A walk that begins takes the upward direction from here: what was measured when the robot was last put
        # somewhere, perhaps lying, makes it fall at its first steps.
        self._body.up[:] = skills.senses.up
        self.odometry = self._moved()
        speeds = np.zeros(self._toes.stop)
        command = self._body.command[0]
        command[self._neck] = self._neck_speeds(look)
        speeds[self._columns] = command / self._strengths
        speeds[self._toes] = -np.radians(percept.angles[self._toes]) * TOE_GAIN
        return speeds

    # ---- sensors

    def _feel(self, percept: Percept) -> None:
        angles, gyro, acc = np.radians(percept.angles[self._columns]), np.radians(percept.gyro), percept.acc
        body = self._body  # the percept's x is to the right and its y ahead
        body.observe(angles, np.array([gyro[1], -gyro[0], gyro[2]]), np.array([acc[1], -acc[0], acc[2]]))
        self._turned = CONTROL_CYCLE * float(body.gyro[0] @ self._skills.senses.up[0])
        self._contradicted = self._contradicted + 1 if self._contradicts() else 0
        if not self._began or self._contradicted >= CONTRADICTION_CYCLES:
            body.at_rest()
            self._begin_anew()

    def put_up(self) -> None:
        """Notes that a beam has put the robot on its feet: it stands instead of going on to get up."""
        if self.skill in (Skill.FALL, Skill.GET_UP):
            self._body.up[:] = (0.0, 0.0, 1.0)
            self._begin_anew()

    def _begin_anew(self) -> None:
        """Forgets what it was doing, but keeps the count of falls."""
        falls = self._skills.fallen_times.copy()
        self._skills.reset()
        self._skills.fallen_times[:] = falls
        self._began, self._contradicted = True, 0
        self._wanted[:] = 0.0

    def _contradicts(self) -> bool:
        """Whether the robot is at rest and gravity contradicts the upward direction that the gyro gives."""
        gyro, acceleration, up = self._body.gyro[0], self._body.acceleration[0], self._skills.senses.up[0]
        strength = math.sqrt(float(acceleration @ acceleration))
        rests = abs(strength / GRAVITY - 1) < GRAVITY_SHARE and float(gyro @ gyro) < RESTING_RATE**2
        return rests and float(acceleration @ up) < CONTRADICTION_COSINE * strength

    # ---- kicks and dives

    def _play(self, legs: Legs) -> None:
        """Begins, continues or ends a kick or a dive."""
        skills = self._skills
        if self._move is None:
            self._begin(legs)
        if self._move is None:
            return
        over = self._move.over or (self._playing == "kick" and not self.upright)
        if self.skill != Skill.LENT or over:
            if self.skill == Skill.LENT:
                skills.give_back([0])
            self._move = None
            return
        skills.lent[0] = self._move.step(skills.senses.gyro, skills.senses.up)

    def _begin(self, legs: Legs) -> None:
        """Begins what is asked for, if the robot stands, and the ball lies where it can be kicked."""
        body = self._body
        match legs:
            case Kick() if self.may_kick:
                foot = foot_for(legs, self.kick_type, own=self.motions)
                if foot is None:
                    return
                self._move, self._playing = self._moves.kick(legs, foot, body.angles), "kick"
            case Dive() if self.skill in (Skill.STAND, Skill.WALK, Skill.STOP):
                self._move, self._playing = self._moves.dive(legs, body.angles), "dive"
            case _:
                return
        self._skills.lend([0])

    # ---- requested velocities

    def _wish(self, legs: Legs) -> Floats:
        """The velocities to ask of the walk now, (3,)."""
        if self._dribbler is not None and isinstance(legs, Dribble) and self.skill == Skill.WALK:
            return self._dribble(self._dribbler, legs)
        self._dribbles = False
        match legs:
            case WalkWish(ahead=ahead, left=left, turn=turn, set=name):
                chosen = self._sets.get(name, 0)
                self._walker.chosen[0] = chosen
                goal = self._cut(np.array([ahead, left, turn]), self._tops[chosen])
            case Stand() | Kick() | Dive() | GetUp():
                goal = np.zeros(3)
        grows = np.abs(goal) > np.abs(self._wanted)
        most = CONTROL_CYCLE * np.where(grows, self.pace.speed_up, self.pace.slow_down)
        if self.busy:
            self._wanted[:] = 0.0
            return self._wanted
        self._wanted += np.minimum(np.maximum(goal - self._wanted, -most), most)
        return self._straightened()

    def _dribble(self, dribbler: Dribbler, legs: Dribble) -> Floats:
        """The velocities that the network asks of the walk, (3,)."""
        if not self._dribbles:
            dribbler.begin()
        self._dribbles, self._astray = True, 0.0
        ball, velocity, direction = (np.array([value]) for value in (legs.ball, legs.ball_velocity, legs.direction))
        asked: Floats = dribbler.velocities(ball, velocity, direction)[0]
        # The next request changes gradually from what the network asks for now.
        self._wanted[:] = asked
        if len(self._answers):
            self._wanted[0] = np.interp(asked[0], *self._answers)
        return asked

    def _straightened(self) -> Floats:
        """The commanded velocities (3,), with the turn corrected by the turn that the gyro has measured."""
        pace, (ahead, left, turn) = self.pace, self._wanted.tolist()
        if not self._wanted.any():
            self._astray = 0.0
            return self._wanted
        astray = self._astray + CONTROL_CYCLE * turn - self._turned
        self._astray = min(max(astray, -MAX_HEADING_ERROR), MAX_HEADING_ERROR)
        turn += pace.straighten * self._astray - pace.side_turn * left
        return np.array([self._asked(ahead), left, turn])

    def _asked(self, ahead: float) -> float:
        """The speed that has to be asked of the walk to reach a speed ahead [m/s]."""
        return float(np.interp(ahead, self._answers[1], self._answers[0])) if len(self._answers) else ahead

    def _cut(self, wish: Floats, top: Floats) -> Floats:
        """Requested velocities (3,) limited to what the walk can do, by an ellipse between directions."""
        if not np.isfinite(wish).all():
            raise UsageError(f"a walk with velocities {wish.tolist()} was requested; each must be finite.")
        ahead, aside, turn = self.pace.share
        x = wish[0] / (ahead * (top[0] if wish[0] >= 0 else top[3]))
        y = wish[1] / (aside * top[1])
        most = turn * top[2]
        turns = min(max(wish[2], -most), most)
        fastest = 1 - self.pace.turning * abs(turns) / most
        return np.array([*(wish[:2] * min(fastest / max(math.hypot(x, y), 1e-9), 1.0)), turns])

    def _neck_speeds(self, look: Look) -> Floats:
        """Speeds that lead the neck to where it is to look, (2,)."""
        body = self._body
        now = body.qpos[0, body.table.angles[body.table.motor_joints[self._neck]]]
        low, high = self._neck_limits.T
        goal = np.minimum(np.maximum(np.array([look.yaw, look.pitch]), low), high)
        most = body.top_speeds[self._neck]
        return np.asarray(np.minimum(np.maximum((goal - now) / CONTROL_CYCLE, -most), most))

    # ---- odometry

    def _moved(self) -> tuple[float, float, float]:
        """How far it has come in a cycle: by its steps, and turned as its gyro says."""
        turned = self._turned
        if self.skill not in (Skill.WALK, Skill.STOP):
            return 0.0, 0.0, turned
        ahead, left, _ = self._walker.walk.velocity()[0]
        if len(self._answers):
            ahead = np.interp(ahead, *self._answers)
        ahead, left, _ = CONTROL_CYCLE * np.array([ahead, left, 0.0]) * self.pace.gain
        return float(ahead), float(left), turned
