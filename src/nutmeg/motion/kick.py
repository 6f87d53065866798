"""A kick: onto one leg, swing back, strike, and back to standing; open loop, through inverse kinematics.

The kicking foot goes through a few places, given by `KickSettings`; the weight is shifted onto the other foot
with the cart-table model, corrected for what the swinging leg does to the zero-moment point, exactly as in the
walk. All numbers are chosen here and tried on the Nao V6 with ideal drives.

    kick = Kick(scene.robots[0], KickSettings(foot="left"))
    worlds.put_ball(robot.pose[0, :2] + kick.ball_place(radius=0.05))     # for a robot that faces along x
    robot.command = kick.angles(t)           # t from 0 to kick.duration
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.base.errors import ModelError
from nutmeg.motion.keyframes import SmoothPath
from nutmeg.motion.legs.nao import NaoBody, Pose, rotation
from nutmeg.motion.zmp import PreviewControl, PreviewSettings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats
    from nutmeg.model.tables import RobotTable


@dataclass(frozen=True, kw_only=True)
class KickSettings:
    """A kick straight ahead. Heights and ways are of the kicking foot, from where it stands in `ready`."""

    foot: Literal["left", "right"] = "left"
    """The foot that kicks."""
    back: float = 0.06
    """How far it swings back [m]."""
    reach: float = 0.1
    """How far ahead the strike ends [m]."""
    lift: float = 0.045
    """Its height at the back [m]."""
    strike_height: float = 0.025
    """Height of the sole at the end of the strike [m]."""
    foot_roll: float = 0.1
    """Its tilt in the air, outer edge up [rad]; the ankle cannot roll inward enough to keep the sole level there."""
    torso_height: float = 0.305
    """Of the torso's origin above the ground while kicking [m]."""
    torso_pitch: float = 0.0
    """Leaning forward [rad]."""
    zmp_offset: tuple[float, float] = (0.025, 0.0)
    """Where the weight rests in the standing foot: ahead of the ankle, and outward of it [m]."""
    shift_time: float = 0.8
    """To get onto one leg, and at the end off it [s]."""
    back_time: float = 0.6
    """To lift the foot and swing it back [s]."""
    strike_time: float = 0.16
    """From the back to the end of the strike; shorter is harder [s]."""
    return_time: float = 0.5
    """To bring the foot back above its place, and again to put it down [s]."""

    def __post_init__(self) -> None:
        for name in ("lift", "strike_height", "torso_height", "shift_time", "back_time", "strike_time", "return_time"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be above 0.")


class Kick:
    """A kick for a robot with legs like a Nao's, from `ready` to `ready`.

    Args:
        table: the robot.
        settings: the kick.
        clip: make the nearest motion the legs can do of one that is out of their reach; else that is an error.

    Attributes:
        duration: of the whole kick [s].
        times: (T,) [s].
        feet: planned places of the soles, (T, 2, 3) [m]; the torso's origin starts above (0, 0).
        rolls: planned rolls of the soles, (T, 2) [rad].
        centre: planned path of the centre of mass, (T, 2) [m].
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
        samples = math.ceil(self.duration / self._control.period - 1e-9) + 1
        self.times = np.asarray(np.arange(samples) * self._control.period, float)
        self.feet, self.rolls = self._foot_paths(marks)
        self.centre, self.commands, reached = self._balanced(marks)
        if not reached and not clip:
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
        share = np.clip(np.asarray(time, float) / self._control.period, 0, len(self.times) - 1)
        before = np.minimum(share.astype(np.intp), len(self.times) - 2)
        share = (share - before)[..., None]
        return np.asarray((1 - share) * self.commands[before] + share * self.commands[before + 1])

    def ball_place(self, radius: float = 0.05, *, gap: float = 0.02) -> Floats:
        """Where to put a ball for a full hit, from the ground below the torso's origin at the start, (2,) [m].

        `radius` is the ball's, `gap` what is left between it and the toe [m].
        """
        return np.asarray(self._stand[self._kicking, :2] + [self._body.legs.toe + gap + radius, 0.0])

    @property
    def _kicking(self) -> int:
        return 0 if self.settings.foot == "left" else 1

    def _foot_paths(self, marks: Floats) -> tuple[Floats, Floats]:
        """Places of the soles, (T, 2, 3), and their rolls, (T, 2)."""
        s = self.settings
        ways = np.zeros(
            (len(marks) + 1, 4)
        )  # the foot stands until the weight is shifted, and again from its landing on
        ways[3] = [-s.back, 0.0, s.lift, s.foot_roll]
        ways[4] = [s.reach, 0.0, s.strike_height, s.foot_roll]
        ways[5] = [0.0, 0.0, s.lift, s.foot_roll]
        path = SmoothPath([0.0, *marks], ways).angles(self.times)
        feet, rolls = np.tile(self._stand, (len(self.times), 1, 1)), np.zeros((len(self.times), 2))
        feet[:, self._kicking] += path[:, :3]
        rolls[:, self._kicking] = path[:, 3] * (1 - 2 * self._kicking)
        return feet, rolls

    def _balanced(self, marks: Floats) -> tuple[Floats, Floats, bool]:
        """Path of the centre of mass, commands, and whether the legs reach all of it."""
        s, body = self.settings, self._body
        ready = body.centre_of_mass(body.ready_legs)[:2]
        outward = -1.0 if self._kicking == 0 else 1.0
        rest = self._stand[1 - self._kicking, :2] + [s.zmp_offset[0], outward * s.zmp_offset[1]]
        knots = [0.0, marks[0], marks[1], marks[5], marks[6]]
        weight = np.interp(self.times, knots, [0.0, 0.0, 1.0, 1.0, 0.0])
        reference = ready + weight[:, None] * (rest - ready)
        crouch = SmoothPath([0.0, *knots[1:]], np.array([[0.0], [0.0], [1.0], [1.0], [0.0]])).angles(self.times)
        height = self._height + (s.torso_height - self._height) * crouch[:, 0]
        turned = rotation(0.0, s.torso_pitch * crouch[:, 0], 0.0)
        soles = Pose(self.feet, rotation(self.rolls))
        preview = PreviewControl([s.torso_height + float(body.centre_of_mass(body.ready_legs)[2])], self._control)
        centre = preview.follow(reference).position[0]
        torso, legs = body.balance(centre, height, turned, soles)
        for _ in range(_CORRECTIONS):
            error = reference - body.zmp(torso, legs.angles, self._control.period, gravity=self._control.gravity)
            centre = centre + preview.follow(error).position[0]
            torso, legs = body.balance(centre, height, turned, soles, guess=torso.position)
        end = np.clip((self.times - (self.duration - _WAIT)) / _WAIT, 0.0, 1.0)[:, None]
        commands = body.motors(legs.angles)
        return centre, commands + end * (body.home - commands), bool(legs.reached.all())


_WAIT = 0.2
"""Stillness at the beginning, and the time to settle into `ready` at the end [s]."""
_CORRECTIONS = 2
