"""A simulated servo beside a real one: recorded goals are given to a robot on its bench, and the angles compared.

A robot's folder has a `bench.toml` with the format of its recordings and the actuation of each of them:

    columns = "columns.toml"            # column map, as for `nutmeg import`
    goal = "servo.goal"                 # channels of one number each, in rad
    position = "servo.position"
    powered = "torque_on"               # event: "0" while the servo is released
    [actuation]
    "kp100_*" = "kp100.toml"            # name of the recording: its servo
    "kp200_*" = "kp200.toml"

Recordings with the same actuation run as worlds of one batch. A released servo is disconnected: it neither drives
nor brakes, and its friction stays. The world has its weight, unlike on the rig of `sim.servo.bench`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import FileError, RecordingError, SimulationError
from nutmeg.base.settings import read
from nutmeg.model import Placement, SceneSettings, assemble, load_robot
from nutmeg.recording import CsvMap, open_log
from nutmeg.sim.rollout import CommandSeries, roll_out
from nutmeg.sim.servo.bench import checked_joint
from nutmeg.sim.worlds import StartState, Worlds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.model.identified import IdentifiedBody

BENCH_FILE = "bench.toml"
BENCH_ROBOT = "bench"


@dataclass(frozen=True, kw_only=True)
class BenchSettings:
    """The format of the recordings of a servo bench: the contents of `bench.toml`."""

    columns: Path
    """The column map of the CSV files."""
    goal: str = "servo.goal"
    """Channel with the commands of the servo [rad]."""
    position: str = "servo.position"
    """Channel with its angles [rad]."""
    powered: str = ""
    """Event whose value is "0" while the servo is released; empty if it never is."""
    actuation: Mapping[str, Path] = field(default_factory=dict)
    """Actuation files by patterns of the recordings' names."""
    source: str = ""


@dataclass(frozen=True)
class ServoLog:
    """One recording of a servo, (rows,) each."""

    name: str
    times: Floats
    goal: Floats
    position: Floats
    powered: Bools


@dataclass(frozen=True)
class Comparison:
    """A recording and what was simulated, at the recording's times, (rows,) each [rad]."""

    name: str
    times: Floats
    goal: Floats
    recorded: Floats
    simulated: Floats
    """Angles of the simulated servo."""
    ideal: Floats
    """Angles of the robot's ideal drive."""
    powered: Bools

    def errors(self) -> dict[str, float]:
        """Mean absolute error of the servo, of "position = goal", and of the ideal drive [rad]."""
        guesses = {"servo": self.simulated, "goal": self.goal, "ideal": self.ideal}
        return {name: float(np.abs(guess - self.recorded).mean()) for name, guess in guesses.items()}


def read_bench(robot: str) -> BenchSettings:
    """The bench of a robot's folder."""
    folder = Path(robot) if Path(robot).is_dir() else Path(robot).parent
    if not (folder / BENCH_FILE).is_file():
        raise FileError(
            folder, f"has no {BENCH_FILE}, which says what recordings look like. See examples/servo_xl330 for one."
        )
    return read(folder / BENCH_FILE, BenchSettings)


def read_log(path: Path, bench: BenchSettings) -> ServoLog:
    """A CSV file, read through the bench's column map."""
    log = open_log(path, read(bench.columns, CsvMap))
    goal, position = (log.read(name) for name in (bench.goal, bench.position))
    times = log.times
    changes = [e for e in log.events if e["kind"] == bench.powered]
    for name, values in ((bench.goal, goal), (bench.position, position)):
        if values.shape[1] != 1 or not np.isfinite(values).all():
            raise RecordingError(f"{path}: the channel {name!r} must hold one number in every row, none missing.")
    powered = np.ones(len(times), dtype=bool)
    for event in changes:
        powered[times >= event["time"]] = str(event["value"]).strip() not in ("0", "0.0", "false")
    return ServoLog(path.stem, times, goal[:, 0], position[:, 0], powered)


def actuation_of(name: str, bench: BenchSettings) -> str:
    """The actuation file for a recording."""
    for pattern, path in bench.actuation.items():
        if fnmatchcase(name, pattern):
            return str(path)
    raise RecordingError(
        f"no actuation belongs to the recording {name!r}; the patterns in {BENCH_FILE} are "
        f"{', '.join(bench.actuation) or 'none'}. Add one there, or give --actuation."
    )


def compare_servo(
    robot: str,
    logs: Sequence[ServoLog],
    actuations: Sequence[str],
    *,
    joint: str = "",
    timestep: float = 0.001,
    body: IdentifiedBody | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Comparison]:
    """Replays recordings with their actuation and with the ideal drive.

    Args:
        robot: the bench as a robot, by name or path.
        logs: the recordings.
        actuations: the actuation of each.
        joint: the joint of the recordings; may be empty if the robot has only one motor.
        timestep: step of the physics [s].
        body: the robot's identified body.
        on_progress: called with the number of recordings done and in all.
    """
    load_robot(robot)
    simulated: dict[int, Floats] = {}
    ideal: dict[int, Floats] = {}
    total = 2 * len(logs)
    for out, kinds in ((simulated, list(actuations)), (ideal, ["ideal"] * len(logs))):
        for kind in dict.fromkeys(kinds):
            rows = [i for i, k in enumerate(kinds) if k == kind]
            mine = body.limbs if body is not None and out is ideal else body
            found = _replay_servo(robot, [logs[i] for i in rows], kind, joint, timestep, mine)
            out.update(zip(rows, found, strict=True))
            if on_progress is not None:
                on_progress(len(simulated) + len(ideal), total)
    return [
        Comparison(log.name, log.times, log.goal, log.position, simulated[i], ideal[i], log.powered)
        for i, log in enumerate(logs)
    ]


def _replay_servo(
    robot: str,
    logs: Sequence[ServoLog],
    actuation: str,
    joint: str = "",
    timestep: float = 0.001,
    body: IdentifiedBody | None = None,
) -> list[Floats]:
    """The angles that a simulated servo has at the times of each recording, (rows,) [rad]; all in one batch."""
    placement = Placement(robot=robot, name=BENCH_ROBOT, actuation=actuation)
    if body is not None:
        placement = body.placed(placement, actuation=actuation)
    scene = assemble(SceneSettings(field="none", robots=(placement,), timestep=timestep, visuals=False))
    table = scene.robots[0]
    name = checked_joint(table, joint)
    index = table.joints.index(name)
    worlds = Worlds(scene, len(logs))
    steps = [round((log.times[-1] - log.times[0]) / timestep) + 2 for log in logs]
    since = np.arange(max(steps)) * timestep
    rows = np.stack([np.maximum(np.searchsorted(g.times, g.times[0] + since, side="right") - 1, 0) for g in logs])
    commands = np.tile(worlds.robot(BENCH_ROBOT).start, (*rows.shape, 1))
    commands[:, :, list(table.motor_joints).index(index)] = [g.goal[at] for g, at in zip(logs, rows, strict=True)]
    angles = np.full((len(logs), len(table.joints)), np.nan)
    angles[:, index] = [log.position[0] for log in logs]
    found = roll_out(
        worlds,
        BENCH_ROBOT,
        CommandSeries(
            values=commands,
            period=timestep,
            powered=np.stack([log.powered[at] for log, at in zip(logs, rows, strict=True)]),
            rows=steps,
        ),
        start=StartState(angles=angles),
    )
    for world in np.flatnonzero(found.diverged):
        raise SimulationError(f"recording {logs[int(world)].name!r} with {actuation}: {worlds.culprit(int(world))}.")
    paths = found.angles[:, :, index]
    each = zip(logs, paths, steps, strict=True)
    return [np.interp(g.times - g.times[0], since[:n], path[:n]) for g, path, n in each]
