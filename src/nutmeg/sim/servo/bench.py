"""A servo measured on a simulated rig: steps, sinusoids, a slow sweep of torque, and loads at full voltage.

    measured = measure(Rig("nao-v6", "LKneePitch", "motoflex"))
    measured.numbers()["bandwidth_Hz"]

Each experiment is one run of as many copies of the joint as it needs. The numbers are:

- *rise time*: from 10 to 90 % of the joint's final angle; the delay before it is measured separately;
- *overshoot*: angle beyond the final angle, in per cent of it;
- *bandwidth*: frequency at which the amplitude of small sinusoids has fallen by 3 dB;
- *play, gear stiffness*: constant torques with the rotor held fast; two lines through the ends of the
  torque-angle curve, whose distance at no torque is the play;
- *holding stiffness*: the slope of the outer part of the hysteresis loop, with the firmware holding the motor;
- *torque-speed curve*: a command so far away that the firmware gives its full output, against constant torques; the
  stall torque is where the straight line through the moving points meets speed 0. Friction takes its share.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from mujoco.batch import Batch

from nutmeg.base.errors import ModelError, SimulationError, UnknownNameError, UsageError
from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.model.actuation import LINK_END_SUFFIX, MOTOR_SIDE_SUFFIX, load_actuation
from nutmeg.model.actuation.settings import matching_names
from nutmeg.model.scene import settled_history
from nutmeg.sim.worlds import BAD_STATE_WARNINGS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.base.arrays import Floats
    from nutmeg.model.actuation.settings import Actuation, Servo
    from nutmeg.model.identified import IdentifiedBody
    from nutmeg.model.scene import Scene
    from nutmeg.model.tables import RobotTable


Progress = Callable[[str, int, int], None]
"""Called with the name of the experiment, the number of rows that are done, and that of all rows."""

STEP_SIZES = (0.05, 0.1, 0.2, 0.4)
"""Sizes of the steps [rad]; those for which the joint has no room are left out."""
STEP_AT, STEP_SECONDS = 0.1, 0.9
SINUSOID_WINDOW = 4.0
"""Time over which sinusoids are analysed [s]: whole periods of every multiple of 0.25 Hz."""
SETTLING_TIME = 2.0
"""Time for sinusoids to settle [s]."""
SPIN_TIME = 3.0
"""Time for a loaded motor to reach its speed [s]."""
HOLD_TIME = 2.0
"""Time for a held gear to come to rest [s]."""
SWEEP_TIME = 12.0
"""Time of one sweep of torque, up, down and up again [s]."""
PLAY_EDGE_SHARE = 0.01
"""Share of the largest torque that takes a joint to the edge of its play and hardly beyond."""
SPINNING_SHARE = 0.05
"""Share of its fastest speed above which a motor counts as turning."""


@dataclass(frozen=True)
class StepResponses:
    """Responses to steps of several sizes, which start at `STEP_AT`."""

    times: Floats
    """(rows,) [s]"""
    sizes: Floats
    """(N,) [rad]"""
    angles: Floats
    """Angles relative to the start, (rows, N) [rad]."""

    def dead_time(self) -> Floats:
        """Time from the step to the first per cent of it, (N,) [s]."""
        return np.array([_crossing(self.times, a / a[-1], 0.01) - STEP_AT for a in self.angles.T])

    def rise_time(self) -> Floats:
        """Time from 10 to 90 % of the final angle, (N,) [s]."""
        ends = self._ends()
        return np.array(
            [
                _crossing(self.times, a / e, 0.9) - _crossing(self.times, a / e, 0.1)
                for a, e in zip(self.angles.T, ends, strict=True)
            ]
        )

    def overshoot(self) -> Floats:
        """Overshoot beyond the final angle, as a share of it, (N,)."""
        return np.asarray(np.maximum(0.0, self.angles.max(axis=0) / self._ends() - 1))

    def _ends(self) -> Floats:
        return np.asarray(self.angles[-max(1, len(self.angles) // 10) :].mean(axis=0))


@dataclass(frozen=True)
class FrequencyResponse:
    """Amplitude and phase of the joint over those of its command."""

    frequencies: Floats
    """(N,) [Hz]"""
    response: NDArray[np.complex128]
    """Complex response: angle over commanded angle at each frequency, (N,)."""
    amplitude: float
    """Amplitude of the command [rad]."""

    @property
    def decibels(self) -> Floats:
        """Amplitude, (N,) [dB]."""
        return np.asarray(20 * np.log10(np.maximum(np.abs(self.response), 1e-6)))

    @property
    def phase(self) -> Floats:
        """Unwrapped phase, (N,) [rad]."""
        return np.asarray(np.unwrap(np.angle(self.response)))

    def bandwidth(self) -> float:
        """Frequency at which the amplitude has fallen by 3 dB [Hz]; infinite above the highest, NaN below all."""
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
class HysteresisLoop:
    """Torque against angle with the motor held by its firmware (a slow sweep), and with a locked rotor (by points)."""

    angles: Floats
    """Angles of the joint while the firmware holds it, (rows,) [rad]."""
    torques: Floats
    """External torques, (rows,) [N m]."""
    held_angles: Floats
    """Angles of the joint with the rotor locked, (points,) [rad]; empty without a gear."""
    held_torques: Floats
    """(points,) [N m]"""

    def holding_stiffness(self) -> float:
        """Stiffness of firmware and gear together [N m/rad]."""
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
        """Load at which the motor stands still [N m]."""
        turning = self.speeds > SPINNING_SHARE * self.speeds.max()
        drooping = turning & (self.speeds < (1 - SPINNING_SHARE) * self.speeds.max())
        if drooping.sum() < 2:  # a drive that keeps its speed up to its limit
            return float(self.torques[turning][-1])
        _, offset = np.polyfit(self.speeds[drooping], self.torques[drooping], 1)
        return float(offset)


@dataclass(frozen=True)
class ServoMeasurement:
    """All measurements of one joint."""

    actuation: str
    inertia: float
    """Inertia of limb and rotor [kg m²]."""
    steps: StepResponses
    frequency: FrequencyResponse
    loop: HysteresisLoop
    torque_speed: TorqueSpeed

    def numbers(self) -> dict[str, float]:
        """The numbers by name, which ends in the unit; not finite where a number does not exist."""
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


def measure_servo(
    rig: Rig,
    *,
    name: str = "",
    amplitude: float = 0.05,
    on_progress: Progress | None = None,
) -> ServoMeasurement:
    """All four experiments.

    Args:
        rig: the joint.
        name: name of its actuation.
        amplitude: amplitude of the sinusoids [rad].
        on_progress: called with the progress of each experiment.
    """
    torque = 1.1 * stall_torque(rig)  # so that the curve of torque and speed reaches standstill
    return ServoMeasurement(
        actuation=name,
        inertia=rig.inertia(),
        steps=_step_responses(rig, on_progress=on_progress),
        frequency=frequency_response(rig, amplitude, on_progress=on_progress),
        loop=hysteresis(rig, 0.5 * torque / 1.1, on_progress=on_progress),
        torque_speed=torque_speed(rig, torque, on_progress=on_progress),
    )


def stall_torque(rig: Rig) -> float:
    """The torque that a joint's motor can give at rest: of its servo's data, or the limit of its drive [N m]."""
    if rig.servo is not None:
        return rig.servo.efficiency * rig.servo.ratio * rig.servo.stall_torque * rig.servo.output_limit
    return float(rig.model.actuator_forcerange[0, 1]) or 1.0


def _step_responses(rig: Rig, *, on_progress: Progress | None = None) -> StepResponses:
    """Measures the responses to steps of several sizes at once."""
    sizes = np.array([s for s in STEP_SIZES if s <= 0.8 * rig.room] or [0.5 * rig.room])
    period = max(0.001, rig.timestep)
    rows = round((STEP_AT + STEP_SECONDS) / period)
    commands = np.full((rows, len(sizes)), rig.centre)
    commands[round(STEP_AT / period) :] += sizes
    motion = rig.run(commands, period=period, on_progress=_part(on_progress, "step response"))
    return StepResponses(motion.times, sizes, motion.angles - rig.centre)


def frequency_response(
    rig: Rig,
    amplitude: float = 0.05,
    *,
    lowest: float = 0.5,
    highest: float = 20.0,
    on_progress: Progress | None = None,
) -> FrequencyResponse:
    """Measures the responses to sinusoids of many frequencies at once, each over whole periods."""
    frequencies = np.unique(np.round(np.geomspace(lowest, highest, 22) * SINUSOID_WINDOW) / SINUSOID_WINDOW)
    period = max(0.002, rig.timestep)
    times = np.arange(round((SETTLING_TIME + SINUSOID_WINDOW) / period)) * period
    wave = np.exp(2j * np.pi * frequencies * times[:, None])
    commands = rig.centre + amplitude * wave.imag
    motion = rig.run(commands, period=period, on_progress=_part(on_progress, "frequency response"))
    inside = times >= SETTLING_TIME
    commanded = (commands[inside] * wave[inside].conj()).mean(axis=0)
    done = (motion.angles[inside] * wave[inside].conj()).mean(axis=0)
    return FrequencyResponse(frequencies, np.asarray(done / commanded), amplitude)


def hysteresis(rig: Rig, torque: float, *, on_progress: Progress | None = None) -> HysteresisLoop:
    """Measures the joint under a slow sweep of external torque, and under constant torques with a locked rotor."""
    period = max(0.01, rig.timestep)
    phase = np.arange(round(1.25 * SWEEP_TIME / period)) * period / SWEEP_TIME
    loads = torque * (2 / np.pi) * np.arcsin(np.sin(2 * np.pi * phase))[:, None]
    held_command = np.full_like(loads, rig.centre)
    motion = rig.run(held_command, loads, period=period, on_progress=_part(on_progress, "hysteresis loop"))
    whole = phase >= 0.25  # the first quarter leads from rest onto the loop
    held, points = np.zeros(0), np.zeros(0)
    if rig.has_gear:
        points = torque * np.sort([*np.linspace(-1, 1, 40), -PLAY_EDGE_SHARE, PLAY_EDGE_SHARE])
        constant = np.tile(points, (round(HOLD_TIME / period), 1))
        rest = rig.run(np.full_like(constant, rig.centre), constant, period=period, rotor_held=True)
        held = rest.angles[-1] - rig.centre
    return HysteresisLoop(motion.angles[whole, 0] - rig.centre, loads[whole, 0], held, points)


def torque_speed(rig: Rig, torque: float, *, on_progress: Progress | None = None) -> TorqueSpeed:
    """Measures the speeds that the motor reaches at full voltage against constant torques from 0 to `torque`."""
    loads = torque * np.linspace(0, 1, 23)
    period = max(0.01, rig.timestep)
    rows = round(SPIN_TIME / period)
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
    """Time at which the values first reach a level, interpolated between rows [s]; NaN if they never do."""
    above = np.flatnonzero(values >= level)
    if not above.size or above[0] == 0:
        return math.nan
    row = int(above[0])
    return float(np.interp(level, values[row - 1 : row + 1], times[row - 1 : row + 1]))


# ----------------------------------------------------------------------------------------------------
# One joint of a robot on a test rig: the trunk bolted down, no weight, every other joint locked at zero.
#
# The rig is the robot's own model without everything that does not affect this joint, so the limb behind it has
# its true inertia, and its servo, gear and bending links are those of any other scene. Stops are removed as well,
# so that the motor can be spun; contacts and gravity are off. The effects of `power_supply` (sag, friction that grows
# with the load, stiffness) are not on the rig: it shows the servo as it is exported. N copies run at once, each with
# its own commands and loads.


RIG_PREFIX = "rig/"
PRINTED_ACTUATION = "motoflex-paper"
"""The actuation that runs as a callback, beside the engine's own."""
LOCKED_ROTOR_INERTIA = 1e9
"""Inertia of a rotor that is held fast [kg m²]."""


@dataclass(frozen=True)
class RigMotion:
    """The motion of the joint."""

    times: Floats
    """(rows,) [s]"""
    angles: Floats
    """Angles of the joint at these times, (rows, N) [rad]."""
    rates: Floats
    """(rows, N) [rad/s]"""


class Rig:
    """A joint on the rig.

        rig = Rig("nao-v6", "LKneePitch", "motoflex")
        rig.run(commands, loads).angles          # (rows, N) each, one row every 10 ms

    Args:
        robot: name of a built-in robot, or path of a user's.
        joint: the joint; may be empty if the robot has only one motor.
        actuation: ideal, servo, motoflex, or the path of a TOML file.
        kind: one of the robot's types.
        timestep: step of the physics [s].
        body: the robot's identified body.
    """

    def __init__(
        self,
        robot: str,
        joint: str,
        actuation: str,
        *,
        kind: str = "",
        timestep: float = 0.001,
        body: IdentifiedBody | None = None,
    ) -> None:
        if actuation == PRINTED_ACTUATION:
            raise UsageError(
                f"{PRINTED_ACTUATION} is not native in the engine, so it does not run on the rig; take motoflex."
            )
        placement = Placement(robot=robot, name=RIG_PREFIX[:-1], actuation=actuation, type=kind)
        if body is not None:
            placement = body.placed(placement, actuation=actuation)
        settings = SceneSettings(field="none", robots=(placement,), timestep=timestep, visuals=False)
        scene = assemble(settings)
        table = scene.robots[0]
        self.joint = checked_joint(table, joint)
        self.timestep = scene.timestep
        full = load_actuation(table.settings, scene.placements[0].actuation)
        self.servo = None if full is None else _servo_of(full, self.joint, table)
        """The servo of this joint; None for an ideal drive."""
        self.voltage = full.battery.voltage if full is not None else 0.0
        self.model = _stripped(scene, table, self.joint)
        index = table.joints.index(self.joint)
        low, high = (float(limit) for limit in table.limits[index])
        self.range = (low, high)
        """The joint's stops, infinite where it has none [rad]."""
        self.centre = (low + high) / 2 if math.isfinite(high - low) else 0.0
        """The angle at which experiments start: the middle of its range [rad]."""
        hinge = self.model.joint(RIG_PREFIX + self.joint)
        self._angle, self._rate = int(hinge.qposadr[0]), int(hinge.dofadr[0])
        motor = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, RIG_PREFIX + self.joint + MOTOR_SIDE_SUFFIX)
        self._rotor = int(self.model.jnt_dofadr[motor]) if motor >= 0 else -1
        self._turned = _turned_with(self.model, table, self.joint)

    @property
    def has_gear(self) -> bool:
        """Whether there is a gear between motor and joint."""
        return self._rotor >= 0

    @property
    def room(self) -> float:
        """Angle by which the joint can turn from the centre to either side [rad]; one turn where it has no stops."""
        low, high = self.range
        return (high - low) / 2 if math.isfinite(high - low) else 2 * math.pi

    def inertia(self) -> float:
        """Inertia of limb and rotor as the motor sees it with a rigid gear [kg m²]."""
        data = mujoco.MjData(self.model)
        data.qpos[:] = self._start()
        mujoco.mj_forward(self.model, data)
        together = np.zeros(self.model.nv)
        together[[self.model.jnt_dofadr[j] for j in self._turned]] = 1.0
        out = np.zeros(self.model.nv)
        mujoco.mj_mulM(self.model, data, out, together)
        return float(together @ out)

    def run(
        self,
        commands: Floats,
        loads: Floats | None = None,
        *,
        period: float = 0.01,
        rotor_held: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> RigMotion:
        """Commands and loads the joint row by row, starting at rest at the centre.

        Args:
            commands: angles, (rows, N) [rad]; each row holds for one period.
            loads: torques from outside on the joint, (rows, N) [N m]; none if left out.
            period: duration of a row [s], a whole number of physics steps.
            rotor_held: hold the gear's motor side fast, to see the gear alone.
            on_progress: called with the number of rows done and in all.
        """
        rows, count = commands.shape
        steps = max(1, round(period / self.timestep))
        batch = self._batch(count, rotor_held=rotor_held)
        qpos, qvel = batch.bind("qpos"), batch.bind("qvel")
        ctrl, outside = batch.bind("ctrl"), batch.bind("qfrc_applied")
        angles, rates = np.empty((rows, count)), np.empty((rows, count))
        for row in range(rows):
            angles[row], rates[row] = qpos[:, self._angle], qvel[:, self._rate]
            ctrl[:, 0] = commands[row]
            if loads is not None:
                outside[:, self._rate] = loads[row]
            batch.step(nstep=steps)
            if on_progress is not None and row % 50 == 0:
                on_progress(row, rows)
        self._check(angles, batch, steps)
        return RigMotion(np.asarray(np.arange(rows) * steps * self.timestep, float), angles, rates)

    def _batch(self, count: int, *, rotor_held: bool) -> Batch:
        """N copies at rest at the centre."""
        batch = Batch(self.model, count, 0)
        if rotor_held and self.has_gear:
            batch.expand("dof_armature")[:, self._rotor] = LOCKED_ROTOR_INERTIA
        batch.bind("qpos")[:] = self._start()
        batch.bind("ctrl")[:] = self.centre
        dcmotor = self.model.actuator_gaintype[0] == mujoco.mjtGain.mjGAIN_DCMOTOR
        if self.model.na and not dcmotor:
            batch.bind("act")[:] = self.centre
        if self.model.nhistory:
            batch.bind("history")[:] = settled_history(self.model, np.full(self.model.nu, self.centre))
        return batch

    def _start(self) -> Floats:
        qpos: Floats = self.model.qpos0.copy()
        for joint in self._turned:
            qpos[self.model.jnt_qposadr[joint]] = self.centre
        return qpos

    def _check(self, angles: Floats, batch: Batch, steps: int) -> None:
        bad = ~np.isfinite(angles) | (np.abs(angles) > 1e6)
        warned = batch.warning[:, BAD_STATE_WARNINGS, 1].sum() > 0
        if bad.any() or warned:
            row = int(np.flatnonzero(bad.any(axis=1))[0]) if bad.any() else len(angles)
            raise SimulationError(
                f"the joint {self.joint!r} became unstable on the rig before {row * steps * self.timestep:.3f} s at a "
                f"step of {self.timestep:g} s; take a shorter step or a softer gear."
            )


def checked_joint(table: RobotTable, joint: str) -> str:
    """The joint that was asked for, or the only one; it must have a motor that takes angles."""
    robot = table.settings.name
    if not joint:
        if len(table.motors) != 1:
            raise UsageError(f"{robot} has {len(table.motors)} motors; say which joint: --joint {table.motors[0]}.")
        joint = table.joints[table.motor_joints[0]]
    for pair in table.settings.shared:
        if joint == pair.follower:
            raise UsageError(f"{joint} of {robot} has no motor of its own; it shares that of --joint {pair.leader}.")
    driven = [table.joints[index] for index in table.motor_joints]
    if joint not in driven:
        raise UnknownNameError("driven joint", joint, driven, where=robot)
    kind = table.drives[driven.index(joint)]
    if kind != "position":
        raise ModelError(f"the motor of {joint} of {robot} takes a {kind}; the rig needs one that takes an angle.")
    return joint


def _servo_of(actuation: Actuation, joint: str, table: RobotTable) -> Servo | None:
    for servo in actuation.servo.values():
        if joint in matching_names(servo.joints, table.joints, "joint", f"servos of {table.settings.name}"):
            return servo
    return None


def _stripped(scene: Scene, table: RobotTable, joint: str) -> mujoco.MjModel:
    """The model in which only the joint, its motor side, joints coupled to it and bending links can move."""
    spec = mujoco.MjSpec.from_string(scene.xml, assets=dict(scene.meshes))
    spec.option.gravity = [0.0, 0.0, 0.0]
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    motor = table.motors[[table.joints[i] for i in table.motor_joints].index(joint)]
    shared = [s for s in table.settings.shared if s.leader == joint]
    kept = {RIG_PREFIX + joint, RIG_PREFIX + joint + MOTOR_SIDE_SUFFIX, *(RIG_PREFIX + s.follower for s in shared)}
    kept |= _bends(spec, spec.joint(RIG_PREFIX + joint))
    pairs = {f"{RIG_PREFIX}{s.leader}={s.follower}" for s in shared}
    _keep(spec, spec.keys, set())
    _keep(spec, spec.sensors, set())
    _keep(spec, spec.actuators, {RIG_PREFIX + motor})
    _keep(spec, spec.tendons, {f"{RIG_PREFIX}{joint}.gear"})
    _keep(spec, spec.equalities, pairs)
    _keep(spec, spec.joints, kept)
    for hinge in spec.joints:
        hinge.limited = mujoco.mjtLimited.mjLIMITED_FALSE
    spec.actuators[0].ctrllimited = mujoco.mjtLimited.mjLIMITED_FALSE
    return spec.compile()


def _bends(spec: mujoco.MjSpec, joint: mujoco.MjsJoint) -> set[str]:
    """Names of the bending joints between the trunk and the joint, and beyond it."""
    near, body = set(), joint.parent
    while body is not None and body.name != "world":
        near.add(body.name)
        body = body.parent
    beyond = {b.name for b in joint.parent.find_all(mujoco.mjtObj.mjOBJ_BODY)}
    return {
        hinge.name
        for hinge in spec.joints
        if f"{LINK_END_SUFFIX}.bend_" in hinge.name and hinge.parent.name in near | beyond
    }


def _keep(spec: mujoco.MjSpec, things: Any, names: set[str]) -> None:  # noqa: ANN401
    for thing in list(things):
        if thing.name not in names:
            spec.delete(thing)


def _turned_with(model: mujoco.MjModel, table: RobotTable, joint: str) -> list[int]:
    """Ids of the joints that have the joint's angle: itself, the motor's side, and those that share its motor."""
    names = [joint, joint + MOTOR_SIDE_SUFFIX, *(s.follower for s in table.settings.shared if s.leader == joint)]
    found = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, RIG_PREFIX + name) for name in names]
    return [number for number in found if number >= 0]
