"""Robots that walk at wanted velocities and get up when they have fallen: stand, walk, stop, fall, get up, go on.

    walker = Walker(worlds, "nao", [PendulumWalkSettings()])
    skills = Skills(worlds, "nao", walker, shipped_get_ups("nao-spark"))
    schedule.every(0.02, skills.sample)
    skills.wanted[:] = [0.2, 0.0, 0.0]          # (N, 3): m/s ahead, m/s to the left, rad/s to the left
    skills.state                                # (N,) a `Skill`

    STAND --velocity wanted--> WALK --none wanted--> STOP --steps died down--> STAND
    any of them --leans too far--> FALL --lies still--> GET_UP --upright--> STEADY --a moment--> STAND
    STAND --leans--> STEADY, in which a walk that is a policy balances it
    any of them --lend--> LENT --give_back--> STEADY or FALL

Every world is in its own skill and at its own time. Whether a robot has fallen, and on which side, is estimated from
its gyro and accelerometer (`motion.inertial`). Times were chosen by trial on `nao-spark` and `nao-v6`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Annotated

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UsageError
from nutmeg.base.records import record_of
from nutmeg.base.settings import Bounded, Bounds, above
from nutmeg.motion.bodies import JointTargets
from nutmeg.motion.inertial import FallDetector, UpEstimator
from nutmeg.motion.keyframes import LYING_SIDES, GetUp
from nutmeg.motion.policy import PolicyWalker

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Bools, Indices
    from nutmeg.motion.bodies import Bodies
    from nutmeg.motion.keyframes import GetUps
    from nutmeg.motion.walk.walker import Walker


SMOOTHING_CYCLES = 60
"""Cycles after which even the slowest smoothing of joints has reached its target."""
STILL_LEAN, STILL_RATE, LONGEST_ROCKING = 0.026, 0.3, 0.6
"""A standing robot is still if its torso leans less [rad] and turns more slowly [rad/s] than this. One that rocks for
longer than this after it came to stand is not waited for [s]."""
CATCH_LEAN = 0.14
"""A standing robot whose torso leans more than this is caught by its walk, if that is a policy [rad]. Without it 20 of
256 robots of type 0 fell after they were stopped in any walk, with it none; with 0.2 rad 4 fell (2026-11-19)."""


class Skill(IntEnum):
    """The states of a robot."""

    STAND = 0
    """Holding the posture that its walk begins with."""
    WALK = 1
    """Walking as wanted."""
    STOP = 2
    """Walking on the spot until its steps have died down."""
    FALL = 3
    """Falling or lying, holding its joints, until it lies still."""
    GET_UP = 4
    """Getting up, in as many tries as it takes."""
    STEADY = 5
    """Up again: going into the standing posture and coming to rest."""
    LENT = 6
    """Following the angles in `lent`, for a kick or the like, until it is given back (see `Skills.lend`)."""


@dataclass(frozen=True, kw_only=True)
class SkillSettings(Bounded):
    """Times and thresholds between skills."""

    still: tuple[float, float, float] = (0.01, 0.01, 0.03)
    """Wanted velocities up to which a robot stands [m/s, m/s, rad/s]."""
    step_left: tuple[float, float, float] = (0.006, 0.006, 0.03)
    """Step sizes up to which a robot may stop walking [m, m, rad]."""
    into_stand: Annotated[float, Bounds(0.0, 10.0, "s")] = 0.15
    """Time to go from the end of a step into standing [s]."""
    longest_fall: Annotated[float, Bounds(0.0, 10.0, "s")] = 1.0
    """Time after which a fallen robot gets up even if it does not lie still [s]."""
    steady: Annotated[float, Bounds(0.0, 10.0, "s")] = 0.3
    """Time to go into the standing posture after getting up [s]."""
    gentle: Annotated[float, above(0.0, "rad/s")] = 3.0
    """Largest joint speed on the way into standing; joints that have far to go take longer than `steady` [rad/s]."""
    rest: Annotated[float, Bounds(0.0, 10.0, "s")] = 0.2
    """Time for which a robot then stands before its next skill [s]."""


@dataclass
class SkillLimits:
    """The settings of skills for compiled code."""

    wanted: Annotated[Floats, (3,)]
    """Velocities up to which a robot stands [m/s, m/s, rad/s]."""
    step: Annotated[Floats, (3,)]
    """Step sizes that may end [m, m, rad]."""
    longest_fall: float
    """After this time a fallen robot gets up [s]."""
    steady: float
    """Time in which a robot comes to rest after getting up [s]."""
    feet_down: float
    """Time from the beginning of a step during which both feet count as on the ground [s]."""


class Skills:
    """One robot of every world that walks at wanted velocities and gets up after falls.

    Args:
        worlds: N worlds with the robot in them, or an `OnboardRobot`.
        robot: its name.
        walker: its walk; the skills sample it and set its `wanted`.
        motions: its get-ups: `shipped_get_ups`, or your own motions.
        settings: times between skills.
        period: control cycle [s].
        rng: random generator of the noise of gyro and accelerometer; None for no noise.
    """

    def __init__(
        self,
        worlds: Bodies,
        robot: str,
        walker: Walker | PolicyWalker,
        motions: GetUps,
        *,
        settings: SkillSettings | None = None,
        period: float = 0.02,
        rng: np.random.Generator | None = None,
    ) -> None:
        missing = [side for side in LYING_SIDES if side not in motions]
        if missing:
            raise UsageError(
                f"there is no get-up for {robot} lying on its {missing[0]}; skills need one for each of "
                f"{', '.join(LYING_SIDES)}. Give a motion of your own for it."
            )
        self.walker, self.settings = walker, settings or SkillSettings()
        self.senses = UpEstimator(worlds, robot, period=period, rng=rng)
        self.falls = FallDetector(self.senses)
        self.get_up = GetUp(worlds, robot, motions, falls=self.falls, period=period)
        self._goals = JointTargets(worlds, robot, period=period)
        self._period, count = period, worlds.count
        self.wanted: Floats = np.zeros((count, 3))
        """Wanted velocities, (N, 3) [m/s, m/s, rad/s]."""
        self.state: Indices = np.zeros(count, dtype=np.intp)
        """The state of each robot, a `Skill`, (N,)."""
        self.since: Floats = np.zeros(count)
        """Time since it entered this state, (N,) [s]."""
        self.fallen_times: Indices = np.zeros(count, dtype=np.intp)
        """Number of falls of each robot, (N,)."""
        self._from: Floats = np.zeros((count, len(worlds.robot(robot).table.motors)))
        self._far: Floats = np.zeros(count)
        self.lent: Floats = self._from.copy()
        """Target angles of robots in the skill LENT, (N, motors) [rad]."""
        self._balanced: Bools = np.zeros(count, dtype=bool)  # robots in the skill STEADY whose policy moves them
        self._rows = np.arange(count)
        s, self._limits = self.settings, np.zeros(1, record_of(SkillLimits))
        self._limits[0] = (s.still, s.step_left, s.longest_fall, s.steady + s.rest, 1.5 * period)
        self._standing = self._posture()
        self.reset()

    def _posture(self) -> Floats:
        """The posture that the walk begins with, with the set of parameters chosen now, (N, motors) [rad]."""
        self.walker.reset()
        for _ in range(SMOOTHING_CYCLES):
            found = self.walker.targets()
        self.walker.reset()
        return found

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Starts again from the present postures: standing, or lying."""
        rows = self._rows if ids is None else np.atleast_1d(np.asarray(ids, dtype=np.intp))
        self.senses.reset(rows)
        self.falls.reset(rows)
        self.get_up.stop(rows)
        self.walker.reset(rows)
        self.fallen_times[rows] = 0
        self._enter(self._mask(rows), Skill.STAND)

    def _mask(self, ids: ArrayLike) -> Bools:
        mask = np.zeros(len(self._rows), dtype=bool)
        mask[np.atleast_1d(np.asarray(ids, dtype=np.intp))] = True
        return mask

    def sample(self, time: float) -> None:
        """Runs one cycle: reads sensors, chooses skills, sets commands."""
        self.sense(time)
        self.move(time)

    def sense(self, time: float) -> None:
        """The first half of a cycle: reads sensors."""
        self.senses.sample()
        self.falls.sample(time)

    def move(self, time: float) -> None:
        """The second half of a cycle: chooses skills, sets commands."""
        if not np.isfinite(self.wanted).all():
            raise UsageError("a wanted velocity is not a number; each must be finite.")
        self.since += self._period
        self._decide()
        state = self.state
        self.walker.wanted[:] = self.wanted
        self.walker.wanted[state != Skill.WALK] = 0.0
        self.walker.sample(time)
        self.get_up.sample(time)
        walks = (state == Skill.WALK) | (state == Skill.STOP) | self._balanced
        if not walks.all():
            self._goals.follow(self._held(), ~walks)

    @property
    def stand_still(self) -> Bools:
        """Which robots stand and hardly rock any more, or have rocked for `LONGEST_ROCKING`, (N,).

        A robot rocks on its soles when it has stopped. Kicks begin when it is still: its torso, from which the ball's
        place is told, moves by 3 cm against its feet in rocking.
        """
        rocks = (self._lean > STILL_LEAN) | (np.linalg.norm(self.senses.gyro, axis=1) > STILL_RATE)
        return np.asarray((self.state == Skill.STAND) & (~rocks | (self.since >= LONGEST_ROCKING)))

    @property
    def _lean(self) -> Floats:
        """How far each torso leans, (N,) [rad], for small angles."""
        return np.asarray(np.hypot(self.senses.up[:, 0], self.senses.up[:, 1]))

    def lend(self, ids: ArrayLike) -> None:
        """Makes the robots of these worlds follow the angles in `lent` until `give_back`, even if they fall."""
        mask = self._mask(ids)
        self._enter(mask, Skill.LENT)
        self.lent[mask] = self._from[mask]

    def give_back(self, ids: ArrayLike) -> None:
        """Ends `lend`: robots that lie get up, the others go into the standing posture.

        A walk that is a policy leads them there, because it also keeps a robot on its feet that still swings.
        """
        mask = self._mask(ids)
        self._fall(mask & self.falls.fallen)
        self._steady(mask & ~self.falls.fallen)

    def _held(self) -> Floats:
        """Target angles of the robots that do not walk, (N, motors)."""
        s, state = self.settings, self.state
        over = np.maximum(np.where(state == Skill.STEADY, s.steady, s.into_stand), self._far / s.gentle)
        share = np.minimum(self.since / np.maximum(over, self._period), 1.0)[:, None]
        share = np.where((state == Skill.FALL)[:, None], 0.0, share * share * (3 - 2 * share))
        held = self._from + share * (self._standing - self._from)
        held = np.where((state == Skill.LENT)[:, None], self.lent, held)
        return np.where((state == Skill.GET_UP)[:, None], self.get_up.targets, held)

    def _decide(self) -> None:
        """Moves each robot into its next skill."""
        from nutmeg.motion.skill_kernels import choose_skills  # here: loading the compiler takes long

        if isinstance(self.walker, PolicyWalker):
            tips = (self.state == Skill.STAND) & (self._lean > CATCH_LEAN) & ~self.falls.fallen
            if tips.any():
                self._steady(tips)
        now, limits = (self.state, self.since, self.wanted), self._limits
        may_stand = self.walker.may_stop(limits["step"][0], float(limits["feet_down"][0]))
        following = choose_skills(*now, may_stand, self.falls.states, self.get_up.done, limits)
        if (following < 0).all():
            return
        fresh = np.flatnonzero((following == Skill.WALK) & (self.state == Skill.STAND))
        if len(fresh):
            self.walker.reset(fresh)
        led = (following == Skill.STEADY) & (self.state == Skill.GET_UP) & self.get_up.balanced
        for skill in (Skill.WALK, Skill.STOP, Skill.STAND, Skill.STEADY):
            self._enter(following == skill, skill)
        if led.any():
            self._steady(led)
        self._fall(following == Skill.FALL)
        rising = np.flatnonzero(following == Skill.GET_UP)
        if len(rising):
            self.get_up.begin(rising, self.falls.lying[rising])
            self._enter(following == Skill.GET_UP, Skill.GET_UP)

    def _steady(self, rows: Bools) -> None:
        """Lets robots `rows` (N,) come to rest, balanced by a walk that is a policy."""
        self._enter(rows, Skill.STEADY)
        if isinstance(self.walker, PolicyWalker):
            self.walker.reset(np.flatnonzero(rows))
            self._balanced |= rows

    def _fall(self, rows: Bools) -> None:
        self.fallen_times += rows
        self._enter(rows, Skill.FALL)

    def _enter(self, rows: Bools, skill: Skill) -> None:
        """Moves robots `rows` (N,) into a skill, starting from their present joint angles."""
        if rows.any():
            self._from[rows] = self._goals.angles[rows]
            self._far[rows] = np.abs(self._standing[rows] - self._from[rows]).max(axis=1)
            self.state[rows], self.since[rows], self._balanced[rows] = skill, 0.0, False
