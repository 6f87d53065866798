"""An open-loop walk: planned footsteps, a reference ZMP under them, and the sway that preview control finds for it.

The MoToFlex simulator (RoboCup 2011) was tried with such a walk, that of Czarnetzki and others ("Observer-based
dynamic walking control for biped robots", 2009) without its sensor feedback. There is no
feedback at all, so the effects of motors, gears and bending legs are seen undiluted.

`step_duration` is one whole cycle, a step of the left foot and one of the right: at 200 mm/s and 1 s each foot
then lands 100 mm ahead of the other. The paper does not say which it means; this reading is chosen because a second
for each single step would need steps of 200 mm, and because its text has every second oscillation of the body's
pitch larger than the one before, which fits two oscillations a cycle.

    walk = PreviewWalk(scene.robots[0], PreviewWalkSettings(forward=0.2, step_duration=1.0), duration=20.0)
    robot.command = walk.angles(t)                  # (motors,)

    compare_walk("nao-v6", MOTOFLEX_1, "servo").speed      # m/s, with motors and gears (section 5 of the paper)

All is computed at construction; `angles` only looks up and interpolates. The walk starts and ends in the pose
`ready`: the speed rises over the first `ramp` steps and falls over the last, and the last step closes the feet.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from nutmeg.base.angles import roll_pitch_yaw, uprightness
from nutmeg.base.errors import ModelError
from nutmeg.base.settings import Bounded, Bounds, above, at_least
from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.motion.legs.nao import NaoBody, Pose, rotation
from nutmeg.motion.zmp import MotionPlan, PlannedMotion, PreviewSettings, interpolated, sample_times
from nutmeg.sim import Worlds
from nutmeg.sim.schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats
    from nutmeg.model.actuation import Actuation
    from nutmeg.model.identified import IdentifiedBody
    from nutmeg.model.tables import RobotTable
    from nutmeg.sim.worlds import Worlds


@dataclass(frozen=True, kw_only=True)
class PreviewWalkSettings(Bounded):
    """Speeds, steps and ZMP of a walk."""

    forward: float = 0.1
    """Speed ahead [m/s]."""
    sideways: float = 0.0
    """Speed to the left [m/s]; the leading foot makes the whole step, the other closes up."""
    turn: float = 0.0
    """Speed of turning to the left [rad/s]; the inner foot opens, the other closes up."""
    step_duration: Annotated[float, above(0.0, "s")] = 1.0
    """Duration of a step of the left and one of the right foot together [s]."""
    double_support: Annotated[float, Bounds(0.0, 1.0, without_low=True, without_high=True)] = 0.1
    """Share of each single step in which both feet stand and the ZMP goes from one to the other, 0..1."""
    step_height: Annotated[float, above(0.0, "m")] = 0.03
    """Lift of the swinging foot [m]."""
    torso_height: Annotated[float, above(0.0, "m")] = 0.305
    """Height of the torso's origin above the ground [m]."""
    centre_height: Annotated[float, at_least(0.0, "m")] = 0.0
    """z_c of the cart-table model [m]; 0 for that of the robot as it stands when walking."""
    foot_separation: Annotated[float, above(0.0, "m")] = 0.1
    """Distance between the ankles of both feet [m]."""
    torso_pitch: float = 0.0
    """Forward lean of the torso [rad]."""
    zmp_offset: tuple[float, float] = (0.02, 0.0)
    """Place of the reference ZMP in a standing foot: ahead of the ankle, and outward of it [m]."""
    zmp_width: float = 1.0
    """Sideways swing of the reference ZMP as a share of the feet's distance; below 1 the weight stays inside."""
    zmp_travel: float = 0.0
    """Distance by which the reference ZMP moves forward under a standing foot while the other swings [m]."""
    first: Literal["left", "right"] = "left"
    """The foot that swings first."""
    start: Annotated[float, above(0.0, "s")] = 1.0
    """Time to go from `ready` to the walking height and onto the first standing foot [s]."""
    stop: Annotated[float, above(0.0, "s")] = 1.0
    """Time to go back to `ready` after the last step [s]."""
    ramp: Annotated[int, at_least(0)] = 2
    """Number of steps over which the speed rises at the beginning and falls at the end."""
    corrections: int = 3
    """Number of corrections of the sway for effects outside the cart-table model, above all the swinging legs
    (Kajita's second stage of preview control); 0 for the plain model."""
    arms: Mapping[str, float] = field(default_factory=dict)
    """Angles of arm and head joints that differ from `ready` [rad]."""


MOTOFLEX_1 = PreviewWalkSettings(forward=0.2, step_duration=1.0)
"""The paper's first set-up: the body's pitch oscillates, and a soft robot walks faster than commanded."""
MOTOFLEX_2 = PreviewWalkSettings(forward=0.05, step_duration=2.0, double_support=0.2)
"""The paper's second set-up: a soft standing leg yields and the robot falls sideways, unless the ZMP is moved."""
QUICK_STEPS = PreviewWalkSettings(
    forward=0.1, step_duration=0.5, double_support=0.4, step_height=0.015, torso_height=0.3, zmp_width=1.2
)
"""Short, flat, quick steps."""
_SETTLE_SECONDS = 0.3
"""Time of the last part of the motion to `ready`, in which the arms go to their held angles [s]."""
FALLEN_COSINE = 0.7
"""A robot has fallen when the cosine between its z axis and the vertical is below this (45 degrees)."""
STARTING_SECONDS = 3.0
"""Seconds left out at the beginning of a walk when it is measured: starting is not walking."""
STOPPING_SECONDS = 2.0
"""Seconds left out at the end of a walk when it is measured."""
SPEED_HALVINGS = 4
"""Number of bisections of the speed range to find the speeds that the legs reach: a 16th of the range."""


class PreviewWalk:
    """A walk from `ready` through `duration` seconds back to `ready`.

    Args:
        table: the robot, with legs like a Nao's.
        settings: the walk.
        duration: time from ready to ready [s]; afterwards `ready` is held.
        control: settings of the preview control of the ZMP.
        clip: whether a motion out of reach becomes the nearest one that the legs can do; else it is an error.

    Attributes:
        times: (T,) [s].
        plan: feet, reference ZMP, height and rotation of the torso, at these times.
        motion: the motion that follows the plan.
        yaws: directions of the feet, (T, 2) [rad].
        commands: the whole motion, (T, motors) [rad].
        steps: number of single steps.
    """

    def __init__(
        self,
        table: RobotTable,
        settings: PreviewWalkSettings,
        *,
        duration: float = 20.0,
        control: PreviewSettings | None = None,
        clip: bool = False,
    ) -> None:
        self.settings, self.duration, self.control = settings, duration, control or PreviewSettings()
        self.times = sample_times(duration, self.control.period)
        body = NaoBody(table, settings.arms)
        stance = _Stance(body, settings)
        footsteps = _footsteps(settings, stance, duration)
        self.steps = len(footsteps)
        self.plan, self.yaws = _plan(settings, stance, footsteps, self.times)
        self.motion = PlannedMotion(body, self.plan, stance.centre_height, self.control, settings.corrections)
        # At the beginning and the end, the arms go from `ready` to where they are held, and back.
        commands, ready = body.motors(self.motion.legs.angles), body.motors(body.ready_legs)
        end = _smooth((self.times - (duration - _SETTLE_SECONDS)) / _SETTLE_SECONDS)[:, None]
        lift = _smooth(self.times / _SETTLE_SECONDS)[:, None] * (1 - end)
        self.commands = np.asarray(commands + end * (ready - commands) + (1 - lift) * (body.home - ready))
        if not clip and not self.reached:
            self._refuse(table)

    @property
    def reached(self) -> bool:
        """Whether the legs reach all of the walk."""
        return bool(self.motion.legs.reached.all())

    def angles(self, time: ArrayLike) -> Floats:
        """Commands at a time, (motors,), or at N times, (N, motors)."""
        return interpolated(self.commands, self.control.period, time)

    def _refuse(self, table: RobotTable) -> None:
        settings = self.settings
        share = self._share_in_reach(table)
        ahead = math.floor(1000 * share * settings.forward) / 1000
        slower = f"They reach {share:.0%} of this speed: --speed {ahead:g} of nutmeg walk" if ahead else "Walk slower"
        raise ModelError(
            f"the walk is out of reach of the legs: {settings.forward} m/s ahead, {settings.sideways} m/s sideways "
            f"with steps of {settings.step_duration} s at a torso height of {settings.torso_height} m. {slower}, or "
            "make quicker, shorter steps (--step-duration). In Python, these are forward and step_duration of "
            "PreviewWalkSettings; a lower torso_height helps, too, and clip=True makes the nearest motion that the "
            "legs can do."
        )

    def _share_in_reach(self, table: RobotTable) -> float:
        """Share of the walk's speeds that the legs reach, 0..1, found by bisection."""
        settings = self.settings
        shortest = settings.start + settings.stop + (settings.ramp + 2) * settings.step_duration
        low, high = 0.0, 1.0
        for _ in range(SPEED_HALVINGS):
            share = (low + high) / 2
            speeds = {name: share * getattr(settings, name) for name in ("forward", "sideways", "turn")}
            tried = replace(settings, **speeds)
            reached = PreviewWalk(table, tried, duration=min(self.duration, shortest), control=self.control, clip=True)
            low, high = (share, high) if reached.reached else (low, share)
        return low


@dataclass(frozen=True)
class _Footstep:
    """A step of one foot from one place to another while the other stands; places are (x, y, yaw)."""

    side: int
    """0 for the left foot, 1 for the right."""
    begin: Floats
    end: Floats
    standing: Floats
    """Place of the other foot."""


class _Stance:
    """The stance of a robot in `ready`, and at the walking height.

    Attributes:
        height: height of the torso in `ready` [m].
        feet: places of the soles from below the torso, (2, 2) [m].
        centre: place of the centre of mass from below the torso, (2,) [m].
        centre_height: height of the centre of mass when walking [m].
    """

    def __init__(self, body: NaoBody, settings: PreviewWalkSettings) -> None:
        soles = body.legs.forward(body.ready_legs)
        uneven = max(np.ptp(soles.position[:, 2]), np.abs(soles.rotation - np.eye(3)).max() * 0.1)
        if uneven > 1e-3:
            raise ModelError(
                f"{body.table.settings.name} does not stand on two level, parallel feet in its pose 'ready', so a walk "
                f"cannot start there. Change the pose."
            )
        self.height = float(-soles.position[:, 2].mean())
        self.feet = soles.position[:, :2]
        self.centre = body.centre_of_mass(body.ready_legs)[:2]
        self.centre_height = settings.centre_height
        if not self.centre_height:
            lower = soles.position + np.array([0.0, 0.0, self.height])
            turned = rotation(pitch=settings.torso_pitch)
            torso, legs = body.balance(self.centre, settings.torso_height, turned, Pose(lower, soles.rotation))
            self.centre_height = float((torso.position + turned @ body.centre_of_mass(legs.angles))[2])


def _footsteps(settings: PreviewWalkSettings, stance: _Stance, duration: float) -> list[_Footstep]:
    """The steps that fit into a time, from the stance `ready` to that stance elsewhere."""
    half = settings.step_duration / 2
    count = math.floor((duration - settings.start - settings.stop) / half + 1e-9)
    if count < 2:
        raise ModelError(
            f"a walk of {duration} s has no time for two steps of {half} s each, with {settings.start} s to start and "
            f"{settings.stop} s to stop. Give it a longer duration."
        )
    feet = [np.array([*stance.feet[side], 0.0]) for side in (0, 1)]
    forward, body, steps = float(stance.feet[:, 0].mean()), np.zeros(3), []
    for k in range(count):
        side = (k + (settings.first == "right")) % 2
        pace = min(1.0, (k + 1) / (settings.ramp + 1), (count - 1 - k) / (settings.ramp + 1)) * half
        leads = [2.0 * ((speed > 0) == (side == 0)) for speed in (settings.sideways, settings.turn)]
        turned = settings.turn * leads[1] * pace
        way = np.array([settings.forward, settings.sideways * leads[0]]) * pace
        body = body + np.array([*_turned(way, body[2] + turned / 2), turned])
        spread = settings.foot_separation if k < count - 2 else float(np.ptp(stance.feet[:, 1]))
        aside = np.array([forward, (0.5 - side) * spread])
        end = np.array([*(body[:2] + _turned(aside, body[2])), body[2]])
        steps.append(_Footstep(side, feet[side], end, feet[1 - side]))
        feet[side] = end
    return steps


def _plan(
    settings: PreviewWalkSettings, stance: _Stance, steps: list[_Footstep], times: Floats
) -> tuple[MotionPlan, Floats]:
    """Feet, reference ZMP and torso over time, and the directions of the feet, (T, 2) [rad]."""
    half = settings.step_duration / 2
    shift = settings.double_support * half
    places = np.tile(np.column_stack([stance.feet, [0.0, 0.0]]), (len(times), 1, 1))
    heights = np.zeros((len(times), 2))
    middle = stance.feet.mean(axis=0) + np.array([settings.zmp_offset[0], 0.0])
    knots = [(0.0, stance.centre), (settings.start * 0.3, stance.centre), (settings.start, middle)]
    for k, step in enumerate(steps):
        lift = settings.start + k * half + shift
        share = np.clip((times - lift) / (half - shift), 0.0, 1.0)
        moving = times > lift
        places[moving, step.side] = (step.begin + _swing(share)[:, None] * (step.end - step.begin))[moving]
        heights[moving, step.side] = np.where(share < 1, settings.step_height * np.sin(math.pi * share) ** 2, 0.0)[
            moving
        ]
        knots += [(lift, _rest(settings, step, -0.5)), (lift + half - shift, _rest(settings, step, 0.5))]
    last = settings.start + len(steps) * half
    final, yaw = places[-1, :, :2].mean(axis=0), float(places[-1, 0, 2])
    knots.append((last + settings.stop / 2, final + _turned(stance.centre - stance.feet.mean(axis=0), yaw)))
    when, where = np.array([t for t, _ in knots]), np.array([p for _, p in knots])
    zmp = np.stack([np.interp(times, when, where[:, axis]) for axis in (0, 1)], axis=-1)
    crouch = _smooth(times / settings.start) * (1 - _smooth((times - last) / (settings.stop * 0.75)))
    feet, yaws = np.concatenate([places[..., :2], heights[..., None]], axis=-1), places[..., 2]
    height = stance.height + (settings.torso_height - stance.height) * crouch
    turned = rotation(0.0, settings.torso_pitch * crouch, yaws.mean(axis=1))
    return MotionPlan(Pose(feet, rotation(yaw=yaws)), zmp, height, turned), yaws


def _rest(settings: PreviewWalkSettings, step: _Footstep, phase: float) -> Floats:
    """The reference ZMP in the standing foot, from phase -0.5 (the other lifts off) to 0.5 (it lands), (2,)."""
    outward = -1.0 if step.side == 0 else 1.0
    inside = (1 - settings.zmp_width) * settings.foot_separation / 2
    ahead = settings.zmp_offset[0] + phase * settings.zmp_travel
    return step.standing[:2] + _turned(
        np.array([ahead, outward * (settings.zmp_offset[1] - inside)]), float(step.standing[2])
    )


def _turned(way: Floats, yaw: float) -> Floats:
    cos, sin = math.cos(yaw), math.sin(yaw)
    return np.array([cos * way[0] - sin * way[1], sin * way[0] + cos * way[1]])


def _swing(share: Floats) -> Floats:
    """From 0 to 1 along half a cosine, which needs the least torque of the swinging leg of the smooth curves tried."""
    return np.asarray((1 - np.cos(math.pi * share)) / 2)


def _smooth(share: Floats) -> Floats:
    """From 0 to 1 with the least jerk: speed and acceleration are 0 at both ends."""
    within = np.clip(share, 0.0, 1.0)
    return np.asarray(within**3 * (10 - 15 * within + 6 * within**2))


@dataclass(frozen=True)
class WalkTrial:
    """The body of a walking robot at T moments."""

    times: Floats
    """(T,) [s]."""
    place: Floats
    """The place of the root, (T, 3) [m]."""
    pitch: Floats
    """The pitch of the body, positive forward, (T,) [rad]."""
    roll: Floats
    """The roll of the body, positive to the right, (T,) [rad]."""
    fallen_at: float
    """Time of the fall [s]; infinite without a fall."""

    @classmethod
    def of(cls, times: Floats, pose: Floats) -> WalkTrial:
        """The trial from places and quaternions of the root, (T, 7), at T times [s]."""
        roll, pitch, _ = roll_pitch_yaw(pose[:, 3:]).T
        down = np.flatnonzero(uprightness(pose[:, 3:]) < FALLEN_COSINE)
        return cls(
            times=times,
            place=pose[:, :3],
            pitch=pitch,
            roll=roll,
            fallen_at=float(times[down[0]]) if len(down) else math.inf,
        )

    def speed(self, start: float, stop: float) -> float:
        """Mean speed along x between two times [m/s]; NaN after a fall."""
        first, last = np.searchsorted(self.times, [start, stop])
        last = min(last, len(self.times) - 1)
        mean = (self.place[last, 0] - self.place[first, 0]) / (self.times[last] - self.times[first])
        return float(mean) if self.fallen_at > self.times[last] else math.nan

    def swing(self, angle: Floats, start: float, stop: float) -> float:
        """Half the range of pitch or roll between two times, while standing [rad]."""
        inside = angle[(self.times >= start) & (self.times <= min(stop, self.fallen_at - 0.5))]
        return float(inside.max() - inside.min()) / 2 if len(inside) else math.nan

    def rhythm(self, angle: Floats, start: float, stop: float) -> float:
        """Frequency of the strongest oscillation of pitch or roll between two times [Hz]; NaN after a fall."""
        if self.fallen_at <= stop:
            return math.nan
        inside = angle[(self.times >= start) & (self.times <= stop)]
        window = (inside - inside.mean()) * np.hanning(len(inside))
        strength = np.abs(np.fft.rfft(window, n=8 * len(inside)))  # padded: finer steps of frequency
        frequencies = np.fft.rfftfreq(8 * len(inside), float(np.diff(self.times).mean()))
        return float(frequencies[strength.argmax()])


def try_walk(
    worlds: Worlds, robot: str, angles: Callable[[float], Floats], *, seconds: float, period: float = 0.02
) -> WalkTrial:
    """Lets a robot follow reference angles and records its body.

    Args:
        worlds: one world with the robot in it.
        robot: its name.
        angles: reference at a time, (motors,).
        seconds: duration [s].
        period: time between commands [s].
    """
    body, schedule = worlds.robot(robot), Schedule(worlds)
    times: list[float] = []
    poses: list[Floats] = []

    def act(now: float) -> None:
        body.command = angles(now)
        times.append(now)
        poses.append(body.pose[0].copy())

    schedule.every(period, act)
    schedule.run(seconds)
    return WalkTrial.of(np.array(times), np.array(poses))


@dataclass(frozen=True)
class WalkResult:
    """One walk under one actuation."""

    name: str
    trial: WalkTrial
    speed: float
    """Mean forward speed while walking [m/s]; NaN if it fell."""
    fallen_at: float
    """Time of the fall [s]; infinite without a fall."""
    pitch: float
    """Half the range of the body's pitch [rad]."""
    roll: float
    """Half the range of the body's roll [rad]."""
    rhythm: float
    """Frequency of the body's pitching [Hz]; NaN if it fell."""

    def cells(self) -> tuple[str, ...]:
        """The cells of a table's row: name, speed, time of the fall, pitch, roll, way."""
        fell = "-" if np.isinf(self.fallen_at) else f"{self.fallen_at:.1f}"
        speed = "fell" if np.isnan(self.speed) else f"{self.speed:.3f}"
        pitch, roll = (f"{np.degrees(a):.1f}" for a in (self.pitch, self.roll))
        return (self.name, speed, fell, pitch, roll, f"{self.way:.2f}")

    @property
    def way(self) -> float:
        """Distance walked forward [m]."""
        return float(self.trial.place[-1, 0] - self.trial.place[0, 0])

    def as_json(self) -> dict[str, Any]:
        """Plain numbers for JSON; null where there is none."""
        numbers = {"speed": self.speed, "fallen_at": self.fallen_at, "pitch": self.pitch, "roll": self.roll}
        numbers["rhythm"] = self.rhythm
        known = {key: float(v) if np.isfinite(v) else None for key, v in numbers.items()}
        return {"actuation": self.name, **known, "way": self.way}


def compare_walk(
    robot: str,
    settings: PreviewWalkSettings,
    actuation: str | Actuation,
    *,
    seconds: float = 20.0,
    timestep: float = 0.001,
    name: str = "",
    body: IdentifiedBody | None = None,
) -> WalkResult:
    """Walks with one actuation on the SPL's carpet.

    Args:
        robot: a robot with legs like a Nao's.
        settings: the walk.
        actuation: the actuation of the joints.
        seconds: duration [s].
        timestep: step of the physics [s].
        name: name of the result; the actuation's name by default.
        body: the robot's identified body.
    """
    placement = Placement(robot=robot, name="walker", pos=(-3.5, 0.0))
    placement = body.placed(placement) if body is not None else placement
    placement = dataclasses.replace(placement, actuation=actuation)
    scene = assemble(SceneSettings(field="spl2025", ball="none", robots=(placement,), visuals=False, timestep=timestep))
    walk = PreviewWalk(scene.robots[0], settings, duration=seconds)
    trial = try_walk(Worlds(scene), "walker", walk.angles, seconds=seconds)
    cycle = settings.step_duration
    begin = STARTING_SECONDS
    end = begin + cycle * max(1, int((seconds - STOPPING_SECONDS - begin) / cycle))  # whole cycles
    return WalkResult(
        name=name or str(actuation if isinstance(actuation, str) else "own"),
        trial=trial,
        speed=trial.speed(begin, end),
        fallen_at=trial.fallen_at,
        pitch=trial.swing(trial.pitch, begin, end),
        roll=trial.swing(trial.roll, begin, end),
        rhythm=trial.rhythm(trial.pitch, begin, end),
    )
