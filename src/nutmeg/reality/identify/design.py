"""Motions that determine chosen parameters best, designed before anything is tried on the robot.

    found = design(twin, DesignSettings(seconds=8.0), rest)
    found.trials                            # the motions to play, the most informative first
    found.judged.interval("delay")          # what to expect of it: with this noise, from these motions
    found.judged.reason("mass")             # why a parameter cannot be found, if it cannot

Many random multisines are drawn (`excitations`), of low and of high tones. Those that would leave the limits of
position or speed, need more torque than a motor has, or in which the robot would touch itself, are made smaller, and
dropped if that does not help. Of the others a few are chosen one after the other so that the determinant of Fisher's
information is largest (D-optimal design; Fedorov, Theory of Optimal Experiments, 1972): J' J over the variance of the
measured angles, with slopes J of the simulated angles at the values that are believed now. Its inverse is what a fit's
covariance will be, if the model is right.

**Excitation** by itself, as open-loop trials for a simulation:

    settings = ExcitationSettings(seconds=4.0, amplitude={"*_lift": 0.35, "*_knee": 0.4}, centre={"*_lift": 0.7})
    trials = excitations(settings, twin.table, rest, seeds=(6, 4))

A motor swings about its centre with a few tones of random frequency and phase. The motion must be slow: where feet
stick and slip, a fast one makes tiny differences of the body grow as much as large ones, and the series of two
simulations then differ for no reason that a search could find. Measured with one ant (root mean square difference of
height and tilt, scaled, when a femur is longer by 0.001 and by 0.1): tones of 0.1 to 0.5 Hz in steps of 10 ms 0.018
and 0.026, in steps of 5 ms 0.006 and 0.021; a leg that is pressed to the ground, in steps of 5 ms, 0.034 and 0.15, and
with tibias 0.12 already at 0.001: the body tips over, or does not.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated

import mujoco
import numpy as np

from nutmeg.base.errors import UsageError
from nutmeg.base.settings import above, at_least, check_bounds
from nutmeg.reality.behaviour import by_pattern
from nutmeg.reality.identify.curvature import Curvature
from nutmeg.reality.identify.identifiability import Identifiability, assess_identifiability
from nutmeg.reality.observation import ChannelModel
from nutmeg.reality.twin import Trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.model.tables import RobotTable
    from nutmeg.reality.twin import Trial, Twin

SPEED_SHARE = 0.8
"""The share of a drive's speed that motions use."""
TORQUE_SHARE = 0.9
"""The share of a drive's torque that motions may need."""
SHARES = (1.0, 0.6, 0.35, 0.2)
"""What a motion that a robot cannot make is multiplied with, one after the other."""
SLOPE_STEP = 0.02
"""Between the believed values and their neighbours, as a share of each range."""


@dataclass(frozen=True, kw_only=True)
class DesignSettings:
    """What motions are like, and how many are looked at."""

    seconds: Annotated[float, above(0, "s")] = 8.0
    """Length of each motion."""
    period: Annotated[float, above(0, "s")] = 0.02
    """Between two commands."""
    frequency: tuple[float, float] = (0.1, 2.0)
    """The slowest and the fastest tone [Hz]."""
    amplitude: Mapping[str, float] = field(default_factory=lambda: {"*": 0.4})
    """How far motors swing at most, by pattern [rad]."""
    noise: Annotated[float, above(0, "rad")] = 0.005
    """Standard deviation of the angles that the robot will measure."""
    motions: Annotated[int, at_least(1)] = 2
    """How many motions are chosen."""
    candidates: Annotated[int, at_least(1)] = 24
    """Among how many random ones."""
    seed: int = 0

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(frozen=True, kw_only=True)
class Design:
    """The motions that were chosen, and what they are worth."""

    trials: tuple[Trial, ...]
    """The motions, the most informative first."""
    judged: Identifiability
    """What a fit to all of them will know, at the values that are believed now."""
    gains: tuple[float, ...]
    """By how much the standard errors shrink with each motion: the k-th root of the ratio of determinants."""
    dropped: Mapping[str, int]
    """How many candidates were dropped, by reason."""


def design(twin: Twin, settings: DesignSettings, rest: Floats) -> Design:
    """Chooses motions for a robot that is held or bolted down.

    Args:
        twin: the robot, with the parameters that are to be found.
        settings: what motions are like.
        rest: angles of the motors at the start, (motors,) [rad].
    """
    if "velocity" in twin.table.drives:
        raise UsageError(
            f"{twin.settings.robot} has velocity drives; motions are designed as angles, for position drives."
        )
    drawn = _drawn(twin, settings, rest)
    limits, feasible, wrong = _Limits(twin), [], []
    for trial in drawn:
        for share in SHARES:
            smaller = replace(trial, commands=rest + share * (trial.commands - rest))
            if not (reason := limits.wrong(smaller)):
                feasible.append(smaller)
                break
        else:
            wrong.append(reason)
    dropped = {reason: wrong.count(reason) for reason in dict.fromkeys(wrong)}
    if not feasible:
        reasons = ", ".join(f"{count} because of {reason}" for reason, count in dropped.items())
        raise UsageError(
            f"all {len(drawn)} random motions were dropped: {reasons}. Make amplitude or frequency smaller."
        )
    information = _information(twin, feasible, settings.noise)
    chosen, total, gains = [], np.eye(twin.space.size), []
    for _ in range(min(settings.motions, len(feasible))):
        left = [i for i in range(len(feasible)) if i not in chosen]
        values = [np.linalg.slogdet(total + information[i])[1] for i in left]
        best = int(np.argmax(values))
        gains.append(math.exp((float(values[best]) - float(np.linalg.slogdet(total)[1])) / twin.space.size / 2))
        chosen.append(left[best])
        total = total + information[left[best]]
    trials = tuple(replace(feasible[i], name=f"motion-{n + 1}") for n, i in enumerate(chosen))
    picture = Curvature(
        best=twin.space.start,
        covariance=np.asarray(np.linalg.inv(total), np.float64),
        shift=np.zeros(twin.space.size),
        roughness=np.zeros(twin.space.size),
        failed=(),
        freedom=1e6,
        evaluations=(2 * twin.space.size + 1) * len(feasible),
    )
    judged = assess_identifiability(twin.space, curvature=picture)
    return Design(trials=trials, judged=judged, gains=tuple(gains), dropped=dropped)


def _drawn(twin: Twin, settings: DesignSettings, rest: Floats) -> list[Trial]:
    """Random motions whose fastest tones differ, slowed where they would be faster than the drives."""
    low, high = settings.frequency
    rng = np.random.default_rng(settings.seed)
    tops = np.exp(rng.uniform(math.log(max(low, 0.2 * high)), math.log(high), settings.candidates))
    found = []
    for number, top in enumerate(tops.tolist()):
        motion = ExcitationSettings(
            seconds=settings.seconds,
            period=settings.period,
            amplitude=settings.amplitude,
            frequency=(low, max(low, top)),
            tones=5,
        )
        trial = excitations(motion, twin.table, rest, [settings.seed * 1000 + number])[0]
        speeds = np.abs(np.diff(trial.commands, axis=0)).max(axis=0) / settings.period
        scale = np.minimum(1.0, SPEED_SHARE * _top_speeds(twin) / np.maximum(speeds, 1e-9))
        found.append(replace(trial, commands=rest + scale * (trial.commands - rest)))
    return found


def _top_speeds(twin: Twin) -> Floats:
    """How fast the drives can turn, (motors,) [rad/s]; infinite where their files do not say."""
    top = np.full(len(twin.table.motors), np.inf)
    for drive in twin.table.settings.drives.values():
        for index, motor in enumerate(twin.table.motors):
            if any(fnmatchcase(motor, pattern) for pattern in drive.joints):
                top[index] = drive.speed
    return top


class _Limits:
    """Whether a robot can make a motion: torque by inverse dynamics, and contacts of the robot with itself."""

    def __init__(self, twin: Twin) -> None:
        self._model, self._start = copy.copy(twin.base.model), twin.base.start
        self._model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EQUALITY  # joints on one motor are set together
        table = twin.table
        joints = [self._model.joint(f"{table.name}/{table.joints[j]}").id for j in table.motor_joints]
        self._angles = self._model.jnt_qposadr[joints]
        self._dofs = self._model.jnt_dofadr[joints]
        self._torques = np.array([_torque(self._model, joint) for joint in joints])
        self._followers = _followers(self._model, joints)
        data = mujoco.MjData(self._model)
        data.qpos[:] = self._start
        mujoco.mj_forward(self._model, data)
        self._known = self._touching(data)
        self._data = data

    def wrong(self, trial: Trial) -> str:
        """Why a motion cannot be made; empty if it can."""
        data, angles = self._data, trial.commands
        speeds = np.gradient(angles, trial.period, axis=0)
        pushes = np.gradient(speeds, trial.period, axis=0)
        for angle, speed, push in zip(angles, speeds, pushes, strict=True):
            data.qpos[:], data.qvel[:], data.qacc[:] = self._start, 0.0, 0.0
            data.qpos[self._angles], data.qvel[self._dofs], data.qacc[self._dofs] = angle, speed, push
            for follower, motor, ratio in self._followers:
                data.qpos[follower] = self._start[follower] + ratio * (angle[motor] - self._start[self._angles[motor]])
            mujoco.mj_inverse(self._model, data)
            if found := self._touching(data) - self._known:
                first, second = (self._model.geom_bodyid[geom] for geom in min(found))
                names = [self._model.body(body).name.rpartition("/")[2] for body in (first, second)]
                return f"contact of {names[0]} and {names[1]}"
            if (np.abs(data.qfrc_inverse[self._dofs]) > TORQUE_SHARE * self._torques).any():
                return "torque"
        return ""

    def _touching(self, data: mujoco.MjData) -> set[tuple[int, int]]:
        model = self._model
        pairs = [(int(c.geom1), int(c.geom2)) for c in data.contact[: data.ncon]]
        return {pair for pair in pairs if all(model.geom_bodyid[geom] for geom in pair)}


def _followers(model: mujoco.MjModel, joints: Sequence[int]) -> list[tuple[int, int, float]]:
    """Joints that share a motor with another: where their angle is, the motor's number, and the ratio."""
    found = []
    for number in np.flatnonzero(model.eq_type == mujoco.mjtEq.mjEQ_JOINT):
        follower, leader = int(model.eq_obj1id[number]), int(model.eq_obj2id[number])
        if leader in joints:
            angle = int(model.jnt_qposadr[follower])
            found.append((angle, list(joints).index(leader), float(model.eq_data[number, 1])))
    return found


def _torque(model: mujoco.MjModel, joint: int) -> float:
    """The largest torque of what drives a joint [N m]; infinite where it is not limited."""
    found = [float(model.jnt_actfrcrange[joint, 1])] if model.jnt_actfrclimited[joint] else []
    driven = (model.actuator_trnid[:, 0] == joint) & (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT)
    limited: Bools = driven & model.actuator_forcelimited.astype(bool)
    found += model.actuator_forcerange[limited, 1].tolist()
    return min(found, default=math.inf)


def _information(twin: Twin, trials: Sequence[Trial], noise: float) -> list[Floats]:
    """Fisher's information of each motion, (k, k), for parameters in the unit cube."""
    here = twin.space.unit(twin.space.start)
    steps = SLOPE_STEP * np.eye(twin.space.size)
    above_, below = np.clip(here + steps, 0, 1), np.clip(here - steps, 0, 1)
    widths = (above_ - below).sum(axis=1)
    candidates = twin.space.values(np.concatenate([above_, below]))
    columns = [f"angles.{joint}" for joint in twin.table.joints]
    out = []
    for trial, rollout in zip(trials, twin.simulate(candidates, trials), strict=True):
        model, angles = ChannelModel.of(twin, candidates, trial.conditions, columns), rollout.angles
        if model is not None:
            angles = model.read(rollout.times, angles, rollout.times)
        up, down = np.split(angles.reshape(len(angles), -1), 2)
        slopes = (up - down) / widths[:, None] / noise
        slopes = slopes[:, np.isfinite(slopes).all(axis=0)]
        out.append(np.asarray(slopes @ slopes.T))
    return out


# Slow, smooth, random motions.


@dataclass(frozen=True, kw_only=True)
class ExcitationSettings:
    """The shape of a random motion."""

    seconds: float = 4.0
    """Length of the motion [s]."""
    period: float = 0.02
    """Between two commands [s]."""
    amplitude: Mapping[str, float] = field(default_factory=lambda: {"*": 0.3})
    """How far motors swing, by pattern, the last one that fits; 0 for those that none fits [rad]."""
    centre: Mapping[str, float] = field(default_factory=dict)
    """What motors swing about, by pattern; the angle at rest without one [rad]."""
    frequency: tuple[float, float] = (0.1, 0.5)
    """The slowest and the fastest tone [Hz]."""
    tones: int = 3
    """Number of tones in a motor's motion."""
    ease: float = 0.5
    """Seconds in which the motion grows from rest."""
    margin: float = 0.02
    """Distance that joints keep from their limits [rad]."""

    def __post_init__(self) -> None:
        if not 0 < self.period < self.seconds or self.tones < 1 or not 0 < self.frequency[0] <= self.frequency[1]:
            raise ValueError(
                f"{self.seconds:g} s with commands every {self.period:g} s, {self.tones} tones from "
                f"{self.frequency[0]:g} to {self.frequency[1]:g} Hz; needed are 0 < period < seconds, a tone or more, "
                "and frequencies above 0 in ascending order."
            )


def excitations(settings: ExcitationSettings, table: RobotTable, rest: Floats, seeds: Sequence[int]) -> list[Trial]:
    """A trial for each seed; the same seed is the same motion.

    Args:
        settings: what they are like.
        table: the robot's motors and limits.
        rest: angles of the motors at the start, (motors,) [rad].
        seeds: of chance, one a trial.
    """
    reach = by_pattern(settings.amplitude, table.motors, np.zeros(len(rest)), "motor")
    centre = by_pattern(settings.centre, table.motors, rest, "motor")
    limits = table.limits[table.motor_joints]
    low, high = limits[:, 0] + settings.margin, limits[:, 1] - settings.margin
    times = settings.period * np.arange(round(settings.seconds / settings.period), dtype=np.float64)
    share = np.clip(times / settings.ease, 0.0, 1.0) if settings.ease else np.ones(len(times))
    grown = (share * share * (3 - 2 * share))[:, None]
    found = []
    for seed in seeds:
        tones = _tones(settings, times, len(rest), np.random.default_rng(seed))
        commands = np.clip(rest + grown * (centre - rest + reach * tones), low, high)
        found.append(Trial(name=f"excitation-{seed}", period=settings.period, commands=commands))
    return found


def _tones(settings: ExcitationSettings, times: Floats, motors: int, rng: np.random.Generator) -> Floats:
    """Sums of random tones, (T, motors); the variance is a half."""
    shape = (settings.tones, motors)
    frequency, phase = rng.uniform(*settings.frequency, shape), rng.uniform(0, 2 * np.pi, shape)
    waves = np.sin(2 * np.pi * frequency[:, None] * times[:, None] + phase[:, None])
    return np.asarray(waves.sum(axis=0) / np.sqrt(settings.tones))
