"""A kick: onto one leg, swing back, strike, and back to standing; open loop, through inverse kinematics.

The kicking foot passes through a few places, given by `KickSettings`; the weight is shifted onto the other foot with
the cart-table model, corrected for the effect of the swinging leg on the zero-moment point, exactly as in the walk. All
numbers were chosen by hand and tested on the Nao V6 with ideal drives.

    kick = Kick(scene.robots[0], KickSettings(foot="left"))
    worlds.put_ball(robot.pose[0, :2] + kick.ball_place(radius=0.05))     # for a robot that faces along x
    robot.command = kick.angles(t)           # t from 0 to kick.duration
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from nutmeg.base.errors import ModelError
from nutmeg.base.settings import Bounded, above
from nutmeg.motion.keyframes import SmoothPath
from nutmeg.motion.legs.nao import NaoBody, Pose, rotation
from nutmeg.motion.zmp import MotionPlan, PlannedMotion, PreviewSettings, interpolated, sample_times

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats
    from nutmeg.model.tables import RobotTable


@dataclass(frozen=True, kw_only=True)
class KickSettings(Bounded):
    """A kick straight ahead. Heights and distances are those of the kicking foot, relative to its place in `ready`."""

    foot: Literal["left", "right"] = "left"
    """The foot that kicks."""
    back: float = 0.06
    """Distance by which the foot swings back [m]."""
    reach: float = 0.1
    """Distance ahead at which the strike ends [m]."""
    lift: Annotated[float, above(0.0, "m")] = 0.045
    """Its height at the back [m]."""
    strike_height: Annotated[float, above(0.0, "m")] = 0.025
    """Height of the sole at the end of the strike [m]."""
    foot_roll: float = 0.1
    """Its tilt in the air, outer edge up [rad]; the ankle cannot roll inward enough to keep the sole level there."""
    torso_height: Annotated[float, above(0.0, "m")] = 0.305
    """Height of the torso's origin above the ground while kicking [m]."""
    torso_pitch: float = 0.0
    """Forward lean of the torso [rad]."""
    zmp_offset: tuple[float, float] = (0.025, 0.0)
    """Place of the ZMP in the standing foot: ahead of the ankle, and outward of it [m]."""
    shift_time: Annotated[float, above(0.0, "s")] = 0.8
    """Time to shift the weight onto one leg, and at the end off it [s]."""
    back_time: Annotated[float, above(0.0, "s")] = 0.6
    """Time to lift the foot and swing it back [s]."""
    strike_time: Annotated[float, above(0.0, "s")] = 0.16
    """Time from the back to the end of the strike; a shorter one kicks harder [s]."""
    return_time: Annotated[float, above(0.0, "s")] = 0.5
    """Time to bring the foot back above its place, and again to put it down [s]."""


class Kick:
    """A kick for a robot with legs like a Nao's, from `ready` to `ready`.

    Args:
        table: the robot.
        settings: the kick.
        clip: whether a motion out of reach becomes the nearest one that the legs can do; else it is an error.

    Attributes:
        duration: duration of the whole kick [s].
        times: (T,) [s].
        plan: feet, weight and torso at these times; the torso's origin starts above (0, 0).
        motion: the motion that follows the plan.
        commands: (T, motors) [rad].
    """

    def __init__(self, table: RobotTable, settings: KickSettings | None = None, *, clip: bool = False) -> None:
        self.settings = settings or KickSettings()
        self._body = NaoBody(table)
        self._control = PreviewSettings()
        s = self.settings
        soles = self._body.legs.forward(self._body.ready_legs)
        self._height = float(-soles.position[:, 2].mean())
        self._stand = soles.position + np.array([0.0, 0.0, self._height])
        marks = np.cumsum([_WAIT, s.shift_time, s.back_time, s.strike_time, s.return_time, s.return_time, s.shift_time])
        self.duration = float(marks[-1] + _WAIT)
        self.times = sample_times(self.duration, self._control.period)
        self.plan = self._plan(marks)
        centre_height = s.torso_height + float(self._body.centre_of_mass(self._body.ready_legs)[2])
        self.motion = PlannedMotion(self._body, self.plan, centre_height, self._control, _CORRECTIONS)
        commands = self._body.motors(self.motion.legs.angles)
        end = np.clip((self.times - (self.duration - _WAIT)) / _WAIT, 0.0, 1.0)[:, None]
        self.commands = commands + end * (self._body.home - commands)
        if not self.motion.legs.reached.all() and not clip:
            raise ModelError(
                f"the kick is out of reach of the legs: back {s.back} m, ahead {s.reach} m, {s.lift} m high, with the "
                f"torso at {s.torso_height} m. Use smaller ways or a lower torso, or pass clip=True."
            )

    @property
    def strike(self) -> float:
        """Time at which the strike begins [s]."""
        return _WAIT + self.settings.shift_time + self.settings.back_time

    def angles(self, time: ArrayLike) -> Floats:
        """Commands at a time, (motors,), or at N times, (N, motors); before and after, `ready` is held."""
        return interpolated(self.commands, self._control.period, time)

    def ball_place(self, radius: float = 0.05, *, gap: float = 0.02) -> Floats:
        """The place of a ball for a full hit, from the ground below the torso's origin at the start, (2,) [m].

        `radius` is that of the ball, `gap` the distance between it and the toe [m].
        """
        return np.asarray(self._stand[self._kicking, :2] + [self._body.legs.toe + gap + radius, 0.0])

    @property
    def _kicking(self) -> int:
        return 0 if self.settings.foot == "left" else 1

    def _plan(self, marks: Floats) -> MotionPlan:
        """Feet, weight and torso over time; `marks` (7,) are the ends of the phases [s]."""
        s, body = self.settings, self._body
        # The kicking foot stands until the weight is shifted, and again from its landing on.
        ways = np.zeros((len(marks) + 1, 4))
        ways[3] = [-s.back, 0.0, s.lift, s.foot_roll]
        ways[4] = [s.reach, 0.0, s.strike_height, s.foot_roll]
        ways[5] = [0.0, 0.0, s.lift, s.foot_roll]
        path = SmoothPath([0.0, *marks], ways).angles(self.times)
        feet, rolls = np.tile(self._stand, (len(self.times), 1, 1)), np.zeros((len(self.times), 2))
        feet[:, self._kicking] += path[:, :3]
        rolls[:, self._kicking] = path[:, 3] * (1 - 2 * self._kicking)
        # The weight goes onto the other foot before the kick, and off it afterwards; the torso goes down meanwhile.
        ready = body.centre_of_mass(body.ready_legs)[:2]
        outward = -1.0 if self._kicking == 0 else 1.0
        rest = self._stand[1 - self._kicking, :2] + [s.zmp_offset[0], outward * s.zmp_offset[1]]
        knots, shifted = [0.0, marks[0], marks[1], marks[5], marks[6]], [0.0, 0.0, 1.0, 1.0, 0.0]
        weight = np.interp(self.times, knots, shifted)
        crouch = SmoothPath(knots, np.array(shifted)[:, None]).angles(self.times)[:, 0]
        return MotionPlan(
            feet=Pose(feet, rotation(rolls)),
            zmp=ready + weight[:, None] * (rest - ready),
            height=self._height + (s.torso_height - self._height) * crouch,
            turned=rotation(0.0, s.torso_pitch * crouch, 0.0),
        )


_WAIT = 0.2  # stillness at the beginning, and the time to settle into `ready` at the end [s]
_CORRECTIONS = 2  # how often the sway is corrected for the swinging leg
