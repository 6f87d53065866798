"""What a servo can do, measured on the rig: steps, sinusoids, a slow sweep of torque, and loads at full voltage.

    measured = measure(Rig("nao-v6", "LKneePitch", "motoflex"))
    measured.numbers()["bandwidth_Hz"]

Each experiment is one run of as many copies of the joint as it needs. How each number comes about:

- *rise time*: from 10 to 90 % of where the joint ends up; the delay before it is a number of its own;
- *overshoot*: beyond where it ends up, in per cent of the way there;
- *bandwidth*: where the amplitude of small sinusoids has fallen by 3 dB;
- *play, gear stiffness*: constant torques with the rotor held fast; two lines through the ends of the
  torque-angle curve, whose distance at no torque is the play;
- *holding stiffness*: the slope of the outer part of the hysteresis loop, with the firmware holding the motor;
- *torque-speed curve*: an error so large that the firmware gives all it has, against constant torques; the
  stall torque is where the straight line through the moving points meets speed 0. Friction takes its share.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats
    from nutmeg.engine.servo_rig import Rig

Progress = Callable[[str, int, int], None]
"""Is told what is measured, and how much of how much is done."""

STEP_SIZES = (0.05, 0.1, 0.2, 0.4)
"""Sizes of the steps [rad]; those for which the joint has no room are left out."""
STEP_AT, STEP_SECONDS = 0.1, 0.9
WINDOW = 4.0
"""Time over which sinusoids are analysed [s]: whole periods of every multiple of 0.25 Hz."""
SETTLING = 2.0
"""Time for sinusoids to settle [s]."""
SPIN = 3.0
"""Time for a loaded motor to reach its speed [s]."""
HOLD = 2.0
"""Time for a held gear to come to rest [s]."""
SWEEP = 12.0
"""Time of one sweep of torque, up, down and up again [s]."""
NEXT_TO_NOTHING = 0.01
"""Share of the largest torque that takes a joint to the edge of its play and hardly beyond."""
SPINNING = 0.05
"""A motor turns if its speed is above this share of its fastest."""


@dataclass(frozen=True)
class Steps:
    """Answers to steps of several sizes, starting at `STEP_AT`."""

    times: Floats
    """(rows,) [s]"""
    sizes: Floats
    """(N,) [rad]"""
    angles: Floats
    """Beyond where it started, (rows, N) [rad]."""

    def dead_time(self) -> Floats:
        """From the step to the first per cent of it, (N,) [s]."""
        return np.array([_crossing(self.times, a / a[-1], 0.01) - STEP_AT for a in self.angles.T])

    def rise_time(self) -> Floats:
        """From 10 to 90 % of where it ends up, (N,) [s]."""
        ends = self._ends()
        return np.array(
            [
                _crossing(self.times, a / e, 0.9) - _crossing(self.times, a / e, 0.1)
                for a, e in zip(self.angles.T, ends, strict=True)
            ]
        )

    def overshoot(self) -> Floats:
        """Beyond where it ends up, (N,) [1]."""
        return np.asarray(np.maximum(0.0, self.angles.max(axis=0) / self._ends() - 1))

    def _ends(self) -> Floats:
        return np.asarray(self.angles[-max(1, len(self.angles) // 10) :].mean(axis=0))


@dataclass(frozen=True)
class FrequencyResponse:
    """Amplitude and phase of the joint over those of its command."""

    frequencies: Floats
    """(N,) [Hz]"""
    response: NDArray[np.complex128]
    """(N,)"""
    amplitude: float
    """Of the command [rad]."""

    @property
    def decibels(self) -> Floats:
        """Amplitude, (N,) [dB]."""
        return np.asarray(20 * np.log10(np.maximum(np.abs(self.response), 1e-6)))

    @property
    def phase(self) -> Floats:
        """Unwrapped, (N,) [rad]."""
        return np.asarray(np.unwrap(np.angle(self.response)))

    def bandwidth(self) -> float:
        """Where it has fallen by 3 dB [Hz]; infinite above the highest frequency, not a number below the lowest."""
        level = self.decibels
        below = np.flatnonzero(level <= -3.0)
        if not below.size:
            return math.inf
        last = int(below[0])
        if last == 0:
            return math.nan
        pair = slice(last - 1, last + 1)
        return float(np.exp(np.interp(3.0, -level[pair], np.log(self.frequencies[pair]))))


@dataclass(frozen=True)
class Loop:
    """Torque against angle with the motor held: by its firmware in a slow sweep, and fast, point by point."""

    angles: Floats
    """Of the joint, firmware holding, (rows,) [rad]."""
    torques: Floats
    """From outside, (rows,) [N m]."""
    held_angles: Floats
    """Of the joint, rotor held fast, (points,) [rad]; empty without a gear."""
    held_torques: Floats
    """(points,) [N m]"""

    def holding_stiffness(self) -> float:
        """Of firmware and gear together [N m/rad]."""
        outer = np.abs(self.torques) > 0.5 * np.abs(self.torques).max()
        growing = np.gradient(np.abs(self.torques)) > 0
        slopes = [
            np.polyfit(self.torques[side], self.angles[side], 1)[0]
            for side in (outer & growing & (self.torques > 0), outer & growing & (self.torques < 0))
        ]
        return float(1 / max(float(np.mean(slopes)), 1e-12))

    def gear(self) -> tuple[float, float]:
        """Play [rad] and stiffness [N m/rad] of the gear alone; 0 and infinity without one."""
        if not self.held_angles.size:
            return 0.0, math.inf
        outer = np.abs(self.held_torques) > 0.3 * self.held_torques.max()
        up, down = outer & (self.held_torques > 0), outer & (self.held_torques < 0)
        (slope_up, top), (slope_down, bottom) = (
            np.polyfit(self.held_torques[side], self.held_angles[side], 1) for side in (up, down)
        )
        return float(top - bottom), float(2 / (slope_up + slope_down))


@dataclass(frozen=True)
class TorqueSpeed:
    """Speeds at full voltage against constant loads."""

    torques: Floats
    """(N,) [N m]"""
    speeds: Floats
    """(N,) [rad/s]"""
    sheet: tuple[float, float] | None = None
    """Stall torque [N m] and no-load speed [rad/s] of the data sheet at the joint, without losses."""

    def no_load_speed(self) -> float:
        """Speed without a load [rad/s]."""
        return float(self.speeds[0])

    def stall_torque(self) -> float:
        """Load at which it stands still [N m]."""
        turning = self.speeds > SPINNING * self.speeds.max()
        drooping = turning & (self.speeds < (1 - SPINNING) * self.speeds.max())
        if drooping.sum() < 2:  # a drive that keeps its speed up to its limit
            return float(self.torques[turning][-1])
        _, offset = np.polyfit(self.speeds[drooping], self.torques[drooping], 1)
        return float(offset)


@dataclass(frozen=True)
class Measured:
    """All that was measured of one joint."""

    actuation: str
    inertia: float
    """Of limb and rotor [kg m²]."""
    steps: Steps
    frequency: FrequencyResponse
    loop: Loop
    torque_speed: TorqueSpeed

    def numbers(self) -> dict[str, float]:
        """The numbers by name, the unit at the end; not finite where there is none."""
        play, stiffness = self.loop.gear()
        middle = len(self.steps.sizes) // 2
        return {
            "step_rad": float(self.steps.sizes[middle]),
            "dead_time_s": float(self.steps.dead_time()[middle]),
            "rise_time_s": float(self.steps.rise_time()[middle]),
            "overshoot_percent": 100 * float(self.steps.overshoot()[middle]),
            "bandwidth_Hz": self.frequency.bandwidth(),
            "play_rad": play,
            "gear_stiffness_Nm_per_rad": stiffness,
            "holding_stiffness_Nm_per_rad": self.loop.holding_stiffness(),
            "stall_torque_Nm": self.torque_speed.stall_torque(),
            "no_load_speed_rad_per_s": self.torque_speed.no_load_speed(),
            "inertia_kg_m2": self.inertia,
        }


def measure(
    rig: Rig,
    *,
    name: str = "",
    amplitude: float = 0.05,
    largest_torque: float = 0.0,
    on_progress: Progress | None = None,
) -> Measured:
    """All four experiments.

    Args:
        rig: the joint.
        name: of its actuation.
        amplitude: of the sinusoids [rad].
        largest_torque: up to which it is loaded [N m]; 0 for a little more than the servo's stall torque.
        on_progress: is told what goes on.
    """
    torque = largest_torque or 1.1 * stall_torque(rig)
    return Measured(
        actuation=name,
        inertia=rig.inertia(),
        steps=step_responses(rig, on_progress=on_progress),
        frequency=frequency_response(rig, amplitude, on_progress=on_progress),
        loop=hysteresis(rig, 0.5 * torque / 1.1, on_progress=on_progress),
        torque_speed=torque_speed(rig, torque, on_progress=on_progress),
    )


def stall_torque(rig: Rig) -> float:
    """The torque that a joint's motor can give at rest: of its servo's data, or the limit of its drive [N m]."""
    if rig.servo is not None:
        return rig.servo.efficiency * rig.servo.ratio * rig.servo.stall_torque * rig.servo.output_limit
    return float(rig.model.actuator_forcerange[0, 1]) or 1.0


def step_responses(rig: Rig, *, on_progress: Progress | None = None) -> Steps:
    """Steps of several sizes at once."""
    sizes = np.array([s for s in STEP_SIZES if s <= 0.8 * rig.room] or [0.5 * rig.room])
    period = max(0.001, rig.timestep)
    rows = round((STEP_AT + STEP_SECONDS) / period)
    commands = np.full((rows, len(sizes)), rig.centre)
    commands[round(STEP_AT / period) :] += sizes
    motion = rig.run(commands, period=period, on_progress=_part(on_progress, "step response"))
    return Steps(motion.times, sizes, motion.angles - rig.centre)


def frequency_response(
    rig: Rig,
    amplitude: float = 0.05,
    *,
    lowest: float = 0.5,
    highest: float = 20.0,
    on_progress: Progress | None = None,
) -> FrequencyResponse:
    """Sinusoids of many frequencies at once, each analysed over whole periods."""
    frequencies = np.unique(np.round(np.geomspace(lowest, highest, 22) * WINDOW) / WINDOW)
    period = max(0.002, rig.timestep)
    times = np.arange(round((SETTLING + WINDOW) / period)) * period
    wave = np.exp(2j * np.pi * frequencies * times[:, None])
    commands = rig.centre + amplitude * wave.imag
    motion = rig.run(commands, period=period, on_progress=_part(on_progress, "frequency response"))
    inside = times >= SETTLING
    told = (commands[inside] * wave[inside].conj()).mean(axis=0)
    done = (motion.angles[inside] * wave[inside].conj()).mean(axis=0)
    return FrequencyResponse(frequencies, np.asarray(done / told), amplitude)


def hysteresis(rig: Rig, torque: float, *, on_progress: Progress | None = None) -> Loop:
    """A slow sweep of torque from outside while the motor holds, and constant torques on a rotor held fast."""
    period = max(0.01, rig.timestep)
    phase = np.arange(round(1.25 * SWEEP / period)) * period / SWEEP
    loads = torque * (2 / np.pi) * np.arcsin(np.sin(2 * np.pi * phase))[:, None]
    told = np.full_like(loads, rig.centre)
    motion = rig.run(told, loads, period=period, on_progress=_part(on_progress, "hysteresis loop"))
    whole = phase >= 0.25  # the first quarter leads from rest onto the loop
    held, points = np.zeros(0), np.zeros(0)
    if rig.has_gear:
        points = torque * np.sort([*np.linspace(-1, 1, 40), -NEXT_TO_NOTHING, NEXT_TO_NOTHING])
        constant = np.tile(points, (round(HOLD / period), 1))
        rest = rig.run(np.full_like(constant, rig.centre), constant, period=period, rotor_held=True)
        held = rest.angles[-1] - rig.centre
    return Loop(motion.angles[whole, 0] - rig.centre, loads[whole, 0], held, points)


def torque_speed(rig: Rig, torque: float, *, on_progress: Progress | None = None) -> TorqueSpeed:
    """The speed that the motor reaches at full voltage against constant torques from 0 to `torque`."""
    loads = torque * np.linspace(0, 1, 23)
    period = max(0.01, rig.timestep)
    rows = round(SPIN / period)
    commands = np.full((rows, len(loads)), rig.centre + 1e4)
    against = np.broadcast_to(-loads, commands.shape)
    motion = rig.run(commands, against, period=period, on_progress=_part(on_progress, "torque-speed curve"))
    speeds = np.maximum(motion.rates[-rows // 10 :].mean(axis=0), 0.0)
    sheet = None
    if rig.servo is not None:
        sheet = (rig.servo.ratio * rig.servo.stall_torque, rig.servo.no_load_speed / rig.servo.ratio)
    return TorqueSpeed(loads, np.asarray(speeds), sheet)


def _part(on_progress: Progress | None, name: str) -> Callable[[int, int], None] | None:
    return None if on_progress is None else lambda done, total: on_progress(name, done, total)


def _crossing(times: Floats, values: Floats, level: float) -> float:
    """When the values first reach a level, between the rows [s]; not a number if never."""
    above = np.flatnonzero(values >= level)
    if not above.size or above[0] == 0:
        return math.nan
    row = int(above[0])
    return float(np.interp(level, values[row - 1 : row + 1], times[row - 1 : row + 1]))
