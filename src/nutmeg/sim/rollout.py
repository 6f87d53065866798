"""Open-loop rollouts: recorded or planned commands for a robot in N worlds, stepped without Python in between.

    series = CommandSeries(values=commands, period=0.02)        # (T, motors) or (N, T, motors)
    rollout = roll_out(worlds, "robot", series, fallen=0.5)
    rollout.angles                              # (N, T, joints): row t is the state when command t is given
    rollout.frames                              # (N,): rows until the fall, the breakdown or the end

Worlds are reset, put to their start, and stepped in chunks of rows by the engine itself. Worlds whose robot has fallen
or that have diverged are not stepped any further, and their rows from there on are NaN. A command holds for one period.
A delay may be any time: a physics step in which a delayed command arrives gets the mean over that step, so that the
simulation changes smoothly with the delay. Motors that change with their load (see `power_supply`) are updated in every
period. Results depend neither on the number of threads nor on which worlds run together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import mujoco
import numpy as np
from mujoco.batch import SimulationError as BatchError

from nutmeg.base.angles import uprightness
from nutmeg.base.errors import UsageError
from nutmeg.model.ode import is_ode
from nutmeg.model.tables import SERVO_SLEW_LIMIT
from nutmeg.sim.control_callback import check_installed
from nutmeg.sim.power_supply import MotorFeed, goal_profiles, round_goals, servo_currents
from nutmeg.sim.sensing import Observation, observations
from nutmeg.sim.worlds import StartState, set_start_state, steps_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.sim.worlds import Worlds


Kind = TypeVar("Kind", bound=np.generic)

SLEW_LIMIT = 1
"""Place of a `pid` actuator's slew limit in the engine's `actuator_dynprm`; `SERVO_SLEW_LIMIT` is that of a servo."""
CHUNK_BYTES, DEVICE_CHUNK_BYTES = 16e6, 256e6
"""Approximate memory for the engine's records and controls of a chunk on a processor and on a device [B]."""
DRIVE_SERIES = ("rates", "torque", "current")
"""Names of series of joints and motors that can be recorded: speeds, torques, and the currents of servos."""
CHUNK_SECONDS = 0.5
"""Longest chunk if robots may fall, because a fallen robot is stopped only at the end of a chunk [s]."""


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """The motion of a robot in N worlds; row t is the state when command t is given, before it acts."""

    times: Floats
    """(T,) [s]."""
    joints: tuple[str, ...]
    angles: Floats
    """Angles of the joints, (N, T, joints) [rad]; NaN after the end."""
    pose: Floats | None
    """Place and quaternion of the root, (N, T, 7); None for a robot that is bolted down."""
    sensors: Mapping[str, Floats]
    """Measurements by sensor, (N, T, width); one physics step old, without noise. `rates` has the speeds of the joints
    [rad/s], `torque` and `current` those of the motors, at the joint, in the physics step before the row [N m, A]."""
    commands: Floats
    """(N, T, motors), as given."""
    frames: Indices
    """Rows until the fall, the breakdown or the end, (N,)."""
    diverged: Bools
    """The worlds that became unstable, (N,)."""
    ball: Floats | None = None
    """Place of the ball, (N, T, 3) [m]; None in a scene without one."""
    work: Floats | None = None
    """Mechanical work of the motors since row 0, braking counted as work, (N, T) [J]; None if it was not wanted."""

    @property
    def uprightness(self) -> Floats | None:
        """Cosine of the angle between the root's z axis and the vertical, (N, T)."""
        return None if self.pose is None else uprightness(self.pose[..., 3:7])

    def part(self, worlds: slice) -> Rollout:
        """The same of some of the worlds."""
        every: dict[str, Any] = {
            name: None if (values := getattr(self, name)) is None else values[worlds]
            for name in ("angles", "pose", "commands", "frames", "diverged", "ball", "work")
        }
        return replace(self, **every, sensors={name: values[worlds] for name, values in self.sensors.items()})


@dataclass(frozen=True, kw_only=True)
class CommandSeries:
    """The commands of a robot over time, for all worlds alike or for each world its own."""

    values: ArrayLike
    """Commands of the motors, (T, motors) or (N, T, motors)."""
    period: float
    """Time between two rows [s], a whole number of physics steps."""
    powered: ArrayLike | None = None
    """Whether the motors have power, (T,) or (N, T); None for always."""
    delay: ArrayLike = 0.0
    """Delay from a command to the motors, one for all or (N,) [s]."""
    voltage: ArrayLike | None = None
    """Recorded voltage of the servos' supply, (T,) or (N, T) [V]; None for that of the battery."""
    temperature: ArrayLike | None = None
    """Recorded temperature of the servos' motors, (T,) or (N, T) [°C]; None for that of the data sheet."""
    rows: ArrayLike | None = None
    """Number of rows of each world, (N,); None for all T."""


def roll_out(
    worlds: Worlds,
    robot: str,
    series: CommandSeries,
    *,
    start: StartState | None = None,
    observe: Sequence[str] = (),
    fallen: float | None = None,
    work: bool = False,
) -> Rollout:
    """Commands a robot and records its motion.

    Args:
        worlds: N worlds with the robot in them; they are reset.
        robot: its name.
        series: the commands.
        start: the robot's state at row 0; without it, that of the scene.
        observe: names of sensors to record (encoder, imu, force and switch), and of `DRIVE_SERIES`.
        fallen: cosine of the tilt below which the robot has fallen and its world ends.
        work: whether the work of the motors is added up.
    """
    return _Run(worlds, robot, series, work=work).run(start, observe, fallen)


class _Run:
    """One call of `roll_out`."""

    def __init__(self, worlds: Worlds, robot: str, series: CommandSeries, *, work: bool) -> None:
        self.worlds, self.robot, self.table = worlds, robot, worlds.robot(robot).table
        self.steps, self.period = steps_in(series.period, worlds.scene.timestep), series.period
        given = np.asarray(series.values, float)
        wanted = f"(T, {len(self.table.motors)}) or ({worlds.count}, T, {len(self.table.motors)})"
        if given.ndim not in (2, 3) or given.shape[-1] != len(self.table.motors) or not given.shape[-2]:
            raise UsageError(f"commands for {robot} have the shape {given.shape}; needed is {wanted}.")
        self.length = int(given.shape[-2])
        self.commands = _spread("commands", given, (worlds.count, *given.shape[-2:]))
        self.rows = _spread(
            "rows", np.asarray(self.length if series.rows is None else series.rows, np.intp), (worlds.count,)
        )
        if (self.rows < 1).any() or (self.rows > self.length).any():
            raise UsageError(f"a world lasts {self.rows.min()} to {self.rows.max()} rows of {self.length}.")
        inside = np.arange(self.length) < self.rows[:, None]
        if not np.isfinite(self.commands[inside]).all():
            world, row, motor = np.argwhere(~np.isfinite(self.commands) & inside[..., None])[0]
            name = self.table.motors[motor]
            raise UsageError(f"the command of {name} in row {row} of world {world} is not a number.")
        self.goals = round_goals(worlds, robot, self.commands)
        self.profile = goal_profiles(worlds, robot)
        """Largest speed and acceleration of set-points, (2, N, motors); None where no servo has an acceleration."""
        self.speeds = np.zeros((worlds.count, 0, len(self.table.motors)))
        """Speeds of the set-points in the controls computed in advance, (N, steps, motors)."""
        late = np.asarray(series.delay, float)
        if not (np.isfinite(late).all() and (late >= 0).all()):
            raise UsageError(f"the delay is {late.min():g} s; allowed is 0 or more.")
        self.delay = _spread("delay", late / worlds.scene.timestep, (worlds.count,))
        self.powered = None
        if series.powered is not None:
            self.powered = _spread("powered", np.asarray(series.powered, bool), (worlds.count, self.length))
            self.switches = np.flatnonzero((self.powered[:, 1:] != self.powered[:, :-1]).any(axis=0)) + 1
        every = (worlds.count, self.length)
        self.voltage, self.temperature = (
            None if values is None else _spread(name, np.asarray(values, float), every)
            for name, values in (("voltage", series.voltage), ("temperature", series.temperature))
        )
        if work and (is_ode(worlds.scene.model) or "velocity" in self.table.drives):
            # The engine solves for the motion of such drives; `actuator_force` is not the force that they exert.
            raise UsageError(
                f"{robot} has velocity drives, whose work is not known; needed are position drives or servos."
            )
        self.work = np.zeros((worlds.count, self.length)) if work else None
        # On a device a command that holds for a whole row is sent once, and the state is recorded once a row.
        held = worlds.device != "cpu" and not (work or self.delay.any() or self.profile is not None)
        self.held = self.steps if held else 1
        """Physics steps for which a control holds, and after which the state is recorded."""
        self.controls_a_row = self.steps // self.held
        self.goes_on = False
        """Whether a device has the state already."""
        self.prepared = (0, np.zeros((worlds.count, 0, worlds.scene.model.nu)))
        """Controls computed in advance: the number of the first one, and (N, controls, nu)."""

    def run(self, start: StartState | None, observe: Sequence[str], fallen: float | None) -> Rollout:
        worlds, table = self.worlds, self.table
        if fallen is not None and table.root < 0:
            raise UsageError(f"{self.robot} is bolted to the world: it cannot fall.")
        feed = MotorFeed(
            worlds,
            self.robot,
            releases=self.powered is not None,
            supplied=self.voltage is not None,
            heated=self.temperature is not None,
        )
        self.drives = self._drive_series(observe)
        sensors = observations(worlds, self.robot, [name for name in observe if name not in DRIVE_SERIES])
        data = worlds.batch.bind("sensordata")
        set_start_state(worlds, self.robot, start)
        self.before = worlds.batch.ctrl[:, table.commands].copy()
        self.controls = worlds.batch.ctrl.copy()
        count = worlds.count
        root = np.arange(table.root, table.root + 7) if table.root >= 0 else np.zeros(0, np.intp)
        ball = _ball_addresses(worlds)
        self.kept = np.concatenate([root, table.angles, ball])
        self.seen = np.full((count, self.length, len(self.kept)), np.nan)
        self.data = np.full((count, self.length, worlds.scene.model.nsensordata if sensors else 0), np.nan)
        self.warnings = worlds.batch.warning[:, :, 1]  # number of warnings of each kind, live
        self.diverged = np.asarray(self.warnings.sum(axis=1) > 0)  # a start that no robot can be in
        self.frames = np.where(self.diverged, 0, self.rows)
        for series, read in self.drives.values():
            series[:, 0] = read(worlds.batch.bind("qvel"), worlds.batch.bind("actuator_force"))
        self._note(0, np.arange(count), worlds.qpos[:, None], data[:, None], fallen)
        self.warned = self.warnings.sum(axis=1)
        row, most = 0, 1 if feed.every_cycle else self._chunk(fallen)
        while len(alive := np.flatnonzero(self.frames > row + 1)):
            if feed.every_cycle or self.powered is not None:
                inputs = (None if s is None else s[:, row] for s in (self.powered, self.voltage, self.temperature))
                feed.sample(row * self.period, *inputs)
            size = min(most, int(self.frames[alive].max()) - 1 - row, self._until_switch(row))
            self._advance(row, size, alive, fallen)
            row += size
            if worlds.device != "cpu":
                self._rest(alive)
        feed.restore()
        return self._result(sensors)

    def _drive_series(self, observe: Sequence[str]) -> dict[str, tuple[Floats, Callable[..., Floats]]]:
        """Series of joints and motors to record, (N, T, width), with the functions that read them from the engine."""
        worlds, table, found = self.worlds, self.table, {}
        motors = table.actuators(worlds.scene.model)
        wanted = [name for name in DRIVE_SERIES if name in observe]
        if set(wanted) - {"rates"} and (is_ode(worlds.scene.model) or "velocity" in table.drives):
            raise UsageError(f"{self.robot} has velocity drives, whose torque is not known; compare other columns.")
        for name in wanted:
            factor = servo_currents(worlds, self.robot) if name == "current" else np.ones((worlds.count, 1))
            width = len(table.joints if name == "rates" else table.motors)

            def read(
                rates: Floats, forces: Floats, ids: Indices | None = None, *, name: str = name, factor: Floats = factor
            ) -> Floats:
                if name == "rates":
                    return np.asarray(rates[..., table.rates])
                scale = factor if ids is None else factor[ids]
                return np.asarray(forces[..., motors] * (scale if forces.ndim == 2 else scale[:, None]))

            found[name] = (np.full((worlds.count, self.length, width), np.nan), read)
        return found

    def _chunk(self, fallen: float | None = None) -> int:
        """Number of rows in a chunk."""
        model = self.worlds.scene.model
        numbers = model.nq + model.nu + self.data.shape[2]
        bytes_a_row: float = 8.0 * self.worlds.count * self.controls_a_row * numbers
        most: int = max(1, int((CHUNK_BYTES if self.worlds.device == "cpu" else DEVICE_CHUNK_BYTES) / bytes_a_row))
        return most if fallen is None else min(most, max(1, round(CHUNK_SECONDS / self.period)))

    def _until_switch(self, row: int) -> int:
        """Rows until the power of some world is switched."""
        if self.powered is None:
            return self.length
        later = int(np.searchsorted(self.switches, row, side="right"))
        return int(self.switches[later]) - row if later < len(self.switches) else self.length

    def _advance(self, row: int, size: int, alive: Indices, fallen: float | None) -> None:
        """Steps the worlds that are alive through `size` rows, and records their states."""
        batch, model = self.worlds.batch, self.worlds.scene.model
        records = size * self.controls_a_row
        out = {"qpos": np.empty((len(alive), records, model.nq))}
        if self.data.shape[2]:
            out["sensordata"] = np.empty((len(alive), records, model.nsensordata))
        if self.work is not None:
            out |= {name: np.empty((len(alive), records, model.nv)) for name in ("qfrc_actuator", "qvel")}
        if self.drives:
            out["qvel"] = np.empty((len(alive), records, model.nv))
            out["actuator_force"] = np.empty((len(alive), records, model.nu))
        if self.worlds.has_callback:
            check_installed()
        ids = None if len(alive) == self.worlds.count else alive
        control = self._control(row, records, alive)
        try:
            if self.worlds.device == "cpu":
                batch.rollout(records, control, record=tuple(out), ids=ids, out=out)
            else:
                steps = size * self.steps
                batch.rollout(
                    steps, control, record=tuple(out), ids=ids, out=out, every=self.held, goes_on=self.goes_on
                )
                self.goes_on = True
        except BatchError as error:
            broken = np.isin(alive, error.ids)
            out["qpos"][broken] = np.nan
        qpos = out["qpos"]
        rows = slice(self.controls_a_row - 1, None, self.controls_a_row)
        if self.work is not None:
            used = np.abs(out["qfrc_actuator"] * out["qvel"]).sum(axis=-1)  # the only motors are the robot's
            total = self.work[alive, row, None] + model.opt.timestep * np.cumsum(used, axis=1)
            self.work[alive, row + 1 : row + 1 + size] = total[:, rows]
        for series, read in self.drives.values():
            found = read(out["qvel"][:, rows], out["actuator_force"][:, rows], alive)
            series[alive, row + 1 : row + 1 + size] = found
        self._note(row + 1, alive, qpos[:, rows], out.get("sensordata", qpos[..., :0])[:, rows], fallen)
        warned = self.warnings.sum(axis=1)
        if not (np.array_equal(warned, self.warned) and np.isfinite(qpos[:, -1]).all()):
            self._break_off(row, alive, qpos, warned)

    def _rest(self, alive: Indices) -> None:
        """Puts the robots that have ended to their start, where they stand: on a device all wait for the slowest."""
        ended = alive[self.frames[alive] < self.rows[alive]]
        if len(ended):
            self.worlds.batch.fetch()
            self.worlds.reset(ended)
            self.goes_on = False

    def _break_off(self, row: int, alive: Indices, qpos: Floats, warned: Indices) -> None:
        """Ends the worlds that broke down in the records after `row`, (n, records, nq), and had not fallen before."""
        records = qpos.shape[1]
        bad = (warned > self.warned)[alive] | ~np.isfinite(qpos[:, -1]).all(axis=1)
        self.warned = warned
        for place in np.flatnonzero(bad):  # the engine stopped there, and repeats its last record
            same = (qpos[place] == qpos[place, -1]).all(axis=1) | ~np.isfinite(qpos[place]).all(axis=1)
            good = records - int(np.cumprod(same[::-1]).sum())
            world = alive[place]
            last = row + 1 + good // self.controls_a_row
            self.diverged[world] = last <= self.frames[world]
            self.frames[world] = min(self.frames[world], last)

    def _note(self, row: int, alive: Indices, qpos: Floats, data: Floats, fallen: float | None) -> None:
        """Stores the rows from `row` on, (n, rows, nq), and checks for falls."""
        size = qpos.shape[1]
        self.seen[alive, row : row + size] = qpos[..., self.kept]
        if self.data.shape[2]:
            self.data[alive, row : row + size] = data
        if fallen is not None:
            down = uprightness(qpos[..., self.table.root + 3 : self.table.root + 7]) < fallen
            first = np.where(down.any(axis=1), row + down.argmax(axis=1), self.length)
            self.frames[alive] = np.minimum(self.frames[alive], first)

    def _control(self, row: int, records: int, alive: Indices) -> Floats:
        """Controls from a row on, (n, records, nu); computed for many rows at a time."""
        first, prepared = self.prepared
        begin = row * self.controls_a_row - first
        if begin + records > prepared.shape[1]:
            ahead = max(records, min(self._chunk(), self.length - row) * self.controls_a_row)
            now, begin = row * self.controls_a_row, 0
            self.prepared = (now, self._prepare(now, ahead))
        everyone = len(alive) == self.worlds.count
        return self.prepared[1][slice(None) if everyone else alive, begin : begin + records]

    def _prepare(self, first: int, many: int) -> Floats:
        """Controls of all worlds from the control with a number on, (N, many, nu)."""
        control = np.repeat(self.controls[:, None], many, axis=1)
        whole = np.floor(self.delay)
        part = (self.delay - whole)[:, None, None]
        now = (first + np.arange(many)) * self.held - whole[:, None].astype(np.intp)
        values = self._command_at(now)
        if part.any():  # in a step in which a command arrives, the mean over the step of what the motors take
            low, high = self._range()
            earlier, values = np.clip(self._command_at(now - 1), low, high), np.clip(values, low, high)
            mean = (1 - part) * values + part * earlier
            values = self._slewed(earlier, values, mean)
        if self.profile is not None:
            values = self._profiled(first, values)
        control[:, :, self.table.commands] = values
        return control

    def _profiled(self, first: int, values: Floats) -> Floats:
        """Set-points that accelerate towards commands from a physics step on, (N, steps, motors)."""
        from nutmeg.sim.setpoints import profiled  # here, so that reports of fits do not load a compiler

        assert self.profile is not None
        begun, before = self.prepared
        goals = np.clip(values, *self._range())
        if first == 0:
            setpoints, speeds = self.before, np.zeros_like(self.before)
        else:  # the step before this one is among those that were prepared last
            setpoints = before[:, first - begun - 1][:, self.table.commands]
            speeds = self.speeds[:, first - begun - 1]
        moved, self.speeds = profiled(setpoints, speeds, goals, self.profile, self.worlds.scene.timestep)
        return np.where((self.profile[1] > 0)[:, None], moved, values)

    def _slewed(self, earlier: Floats, values: Floats, mean: Floats) -> Floats:
        """Commands of position drives whose set-points move no faster than a limit: the set-points, (N, steps, motors).

        Averaging the command over a step would be wrong for them: a set-point that is far from its command moves at the
        limit whatever the command is, so that it would start at the beginning of the step or a whole step later.
        """
        from nutmeg.sim.setpoints import move_setpoints  # here, so that reports of fits do not load a compiler

        worlds, table = self.worlds, self.table
        model = worlds.scene.model
        motors = np.array(table.actuators(model))
        servos = model.actuator_gaintype[motors] == mujoco.mjtGain.mjGAIN_DCMOTOR
        limited = (servos | (model.actuator_dyntype[motors] == mujoco.mjtDyn.mjDYN_PID)) & (table.setpoints >= 0)
        if not limited.any():
            return mean
        places = np.where(servos, SERVO_SLEW_LIMIT, SLEW_LIMIT)
        numbers = [worlds.scene_of(world).model.actuator_dynprm[motors, places] for world in range(worlds.count)]
        most = np.stack(numbers) * model.opt.timestep
        limited = limited & (most > 0)
        if self.profile is not None:  # these are moved with their acceleration, from the commands
            limited &= ~(self.profile[1] > 0)
        setpoints = np.where(limited, worlds.batch.act[:, np.maximum(table.setpoints, 0)], 0.0)
        part = self.delay - np.floor(self.delay)
        slewed = move_setpoints(setpoints, earlier, values, most, part)
        return np.where(limited[:, None], slewed, mean)

    def _range(self) -> tuple[Floats, Floats]:
        """The lowest and highest command of each motor, (motors,) each."""
        model = self.worlds.scene.model
        ends = np.tile([-np.inf, np.inf], (model.nu, 1))
        limited = model.actuator_ctrllimited.astype(bool)
        ends[model.actuator_ctrladr[limited]] = model.actuator_ctrlrange[limited]
        return ends[self.table.commands, 0], ends[self.table.commands, 1]

    def _command_at(self, steps: Indices) -> Floats:
        """The commands in force in physics steps (N, steps), (N, steps, motors)."""
        rows = np.minimum(steps // self.steps, self.rows[:, None] - 1)
        values = self.goals[np.arange(len(rows))[:, None], np.maximum(rows, 0)]
        return np.where((rows < 0)[..., None], self.before[:, None], values)

    def _result(self, sensors: dict[str, Observation]) -> Rollout:
        table = self.table
        over = np.arange(self.length) >= self.frames[:, None]
        self.seen[over] = np.nan
        self.data[over] = np.nan
        first = 7 if table.root >= 0 else 0
        angles = self.seen[:, :, first : first + len(table.angles)].copy()
        ball = self.seen[:, :, first + len(table.angles) :].copy()
        if self.work is not None:
            self.work[over] = np.nan
        for series, _ in self.drives.values():
            series[over] = np.nan
        return Rollout(
            times=np.arange(self.length, dtype=float) * self.period,
            joints=table.joints,
            angles=angles,
            pose=self.seen[:, :, :7].copy() if table.root >= 0 else None,
            sensors={name: see(angles, self.data) for name, see in sensors.items()}
            | {name: series for name, (series, _) in self.drives.items()},
            commands=self.commands,
            frames=self.frames,
            diverged=self.diverged,
            ball=ball if ball.shape[2] else None,
            work=self.work,
        )


def _ball_addresses(worlds: Worlds) -> Indices:
    """Addresses of the ball's position in the configuration, (3,); empty without a ball."""
    if not worlds.scene.has_ball:
        return np.zeros(0, np.intp)
    model = worlds.scene.model
    return int(model.jnt_qposadr[model.body("ball").jntadr[0]]) + np.arange(3)


def _spread(name: str, values: NDArray[Kind], shape: tuple[int, ...]) -> NDArray[Kind]:
    try:
        return np.array(np.broadcast_to(values, shape))
    except ValueError:
        raise UsageError(f"{name} have the shape {values.shape}; needed is {shape} or less.") from None
