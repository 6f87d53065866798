"""The twin: a simulation of a robot with parameters to be identified, for many candidates in many trials at once.

    twin = Twin(TwinSettings(robot="ant"), {
        "femur": Searched(low=0.6, high=1.4, sets=("robot.L1_femur",)),
        "tibia mass": Searched(low=0.5, high=2.0, scale="log", sets=("mass.*Tibia",), relative=True),
    })
    rollouts = twin.simulate(candidates, trials)        # (n, k), m trials: m rollouts of n worlds each

What a parameter sets is said in the grammar of `model.parameters`. Candidates and trials are flattened into batches
of worlds; each candidate has a scene of its own, which serves all its trials under the same conditions. Where a target
is set twice (by the settings, a trial's conditions and a candidate) plain values come first, the last one counts, and
relative ones multiply it. A searched `physics.timestep` is brought to the nearest whole part of a trial's period. A
joint zero (`zero.JOINT`) is what the encoder reads where the joint is at zero: commands, start and angles of a trial
are those of the encoder.

On a device (`TwinSettings.device`) the worlds are those of `mujoco_warp`, in 32 bit. The scene of every candidate is
still built on this processor, in as many processes as there would be threads; the worlds are kept for the next
candidates.

A candidate that cannot be built has broken down (`diverged`) in all its trials. A twin is a few settings: it can be
sent to other processes; results do not depend on threads, or on which candidates are simulated together.
"""

from __future__ import annotations

import concurrent.futures
import functools
import math
import multiprocessing
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import ModelError, UsageError
from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.model.actuation import ACTUATION_KINDS
from nutmeg.model.actuation.settings import matching_names
from nutmeg.model.identified import IdentifiedBody, IdentifiedParameter
from nutmeg.model.parameters import CHANNEL_NUMBERS, Adjustment, parse_target
from nutmeg.model.robot import robot_names
from nutmeg.search.space import Dimension, Space
from nutmeg.search.together import Together
from nutmeg.sim.power_supply import changes_with_load
from nutmeg.sim.rollout import CommandSeries, Rollout, roll_out
from nutmeg.sim.sensing import sensor_labels
from nutmeg.sim.worlds import Device, StartState, Worlds, actuation_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.model.scene import Scene
    from nutmeg.model.tables import RobotTable
    from nutmeg.reality.identify.identifiability import Identifiability


TWIN_ROBOT = "robot"
"""Name of the robot in a twin's scenes."""
_DELAY_TARGET = "delay"  # target of the delay of commands [s]
TIMESTEP_TARGET = "physics.timestep"
"""Target of the length of a physics step [s]."""
_ZERO_TARGETS = "zero."  # prefix of the targets of joint zeros [rad]
_CHANNEL_TARGETS = "channel."  # prefix of the targets of measured channels
_NON_PHYSICAL_TARGETS = (_DELAY_TARGET, "camera.", _ZERO_TARGETS, _CHANNEL_TARGETS)
"""Prefixes of targets that leave the physics as it is: commands are delayed or shifted, or what is measured changes."""
SCENES_KEPT = 32
"""How many scenes a process keeps for later: those without candidates (one for each kind of conditions), and of a
candidate that is simulated again. Few candidates are; a scene takes 0.2 to 0.4 MB, and 15 to 25 ms to make."""
_LEAST_FOR_PROCESSES = 32  # candidates for which processes build scenes; fewer are built here as fast
_WORLD_UNITS = {"gpu": 64, "warp-cpu": 1}  # numbers of worlds are multiples of these, so that generations share them


@dataclass(frozen=True, kw_only=True)
class Searched(Dimension):
    """A number to be found, and what it sets."""

    sets: tuple[str, ...] = ()
    """Targets in the grammar of `model.parameters`; without any, the robot's own parameter of this name."""
    relative: bool = False
    """Whether it multiplies the robot's own value."""

    def targets(self, name: str) -> tuple[str, ...]:
        """The targets that it sets under a name."""
        return self.sets or (f"robot.{name}",)


def held_at_start(searched: Mapping[str, Searched]) -> tuple[Adjustment, ...]:
    """Adjustments that hold numbers at their starts instead of searching them."""
    return tuple(
        Adjustment(target=target, value=one.middle if one.start is None else one.start, relative=one.relative)
        for name, one in searched.items()
        for target in one.targets(name)
    )


@dataclass(frozen=True, kw_only=True)
class TwinSettings:
    """The simulated robot and its world, without what is searched."""

    robot: str
    """Name of a built-in robot, or path of a user's."""
    type: str = ""
    """One of the robot's types."""
    pose: str = "ready"
    """Where it starts, unless a trial says otherwise."""
    actuation: str = "ideal"
    """What drives its joints: ideal, servo, motoflex, motoflex-paper, or the path of a TOML file."""
    field: str = "floor"
    """Name of a field, or path of a user's; `none` for empty space."""
    ball: str = "none"
    """Name of a ball, or path of a user's; `none` for no ball."""
    ball_at: tuple[float, float] = (0.2, 0.0)
    """Where the ball lies at the start: ahead of the robot's root, and to the left of it [m]."""
    physics: str = ""
    """A physics profile; empty for the robot's own."""
    timestep: float = 0.0
    """Length of a physics step [s]; 0 for the profile's."""
    held: bool = False
    """Whether the root is fixed where it starts, as on a stand."""
    height: float = 0.0
    """Height of the robot's lowest point above the ground at the start [m]."""
    adjustments: tuple[Adjustment, ...] = ()
    """Numbers that differ from the robot's files."""
    device: Device = "cpu"
    """Where candidates are simulated: `cpu`, `gpu` or `warp-cpu`, as of `Worlds`."""


def body_of(
    settings: TwinSettings,
    searched: Mapping[str, Searched],
    values: Mapping[str, float],
    known: Identifiability | None = None,
    source: str = "",
) -> IdentifiedBody:
    """Estimates as a body for `--body` of other commands, with what the settings adjust beside them.

    Args:
        settings: what was simulated; its paths are made absolute, so that they can be found from anywhere.
        searched: what the estimates set, by name.
        values: the estimates in SI units, by name.
        known: which of them the data determine; None if that was not examined.
        source: the command that found them.
    """
    return IdentifiedBody(
        robot=_absolute(settings.robot),
        type=settings.type,
        actuation="" if settings.actuation == "ideal" else _absolute(settings.actuation),
        source=source,
        fixed=settings.adjustments,
        parameters={
            name: IdentifiedParameter(
                value=float(values[name]),
                low=one.low,
                high=one.high,
                unit=one.unit,
                sets=one.targets(name),
                relative=one.relative,
                scale=one.scale,
                interval=known.interval(name) if known else None,
                identifiable=known.identifiable(name) if known else True,
            )
            for name, one in searched.items()
        },
    )


def _absolute(name: str) -> str:
    """A path as it can be found from anywhere; the name of what is built in stays."""
    built_in = name in (*robot_names(), *ACTUATION_KINDS)
    return str(Path(name).resolve()) if not built_in and Path(name).exists() else name


class Twin:
    """Simulates candidates in trials.

    Args:
        settings: the robot and its world.
        searched: the parameters, by name, in the order of candidates.
        threads: how many threads step the worlds, or how many processes build scenes for a device.
    """

    def __init__(self, settings: TwinSettings, searched: Mapping[str, Searched], *, threads: int = 1) -> None:
        self.settings, self.searched, self.threads = settings, dict(searched), threads
        self.space = Space(self.searched)
        for name, one in self.searched.items():
            for target in one.targets(name):
                parse_target(target)
        self._check_targets()
        scene = _scene(settings, self._adjustments(self.space.start, (), 0.0))  # so that mistakes are seen at once
        if settings.device != "cpu":
            Worlds(scene, 1, device=settings.device)  # so are robots that a device cannot simulate
        self.table: RobotTable = scene.robot(TWIN_ROBOT)
        """The robot's joints, motors and sensors."""
        self._zeros(self.space.start, ())  # a joint that is not there is an error at once
        self._device_worlds: Worlds | None = None
        self.looked_after = changes_with_load(actuation_in(scene, TWIN_ROBOT))
        """Whether Python looks after the motors in every control cycle (see `sim.power_supply`), so that simulations on
        threads wait for each other; in processes they do not."""

    def _check_targets(self) -> None:
        """Of two plain values of the same number the last one would count, and the other search in vain."""
        setters: dict[str, str] = {}
        for name, one in self.searched.items():
            for target in () if one.relative else one.targets(name):
                if target in setters:
                    raise UsageError(
                        f"{setters[target]!r} and {name!r} are both searched, and both set {target!r}. Leave one of "
                        "them out, or let the second multiply the first with `relative = true`."
                    )
                setters[target] = name

    @property
    def base(self) -> Scene:
        """The scene without any parameter set."""
        return _scene(self.settings, _ordered(self.settings.adjustments))

    @property
    def timestep(self) -> float:
        """Length of a physics step, if it is not searched [s]."""
        return self.base.timestep

    def simulate(
        self,
        candidates: ArrayLike,
        trials: Sequence[Trial],
        *,
        observe: Sequence[str] = (),
        fallen: float | None = None,
        work: bool = False,
    ) -> list[Rollout]:
        """What each candidate does in each trial.

        Args:
            candidates: (n, k) in SI units, in the order of the space.
            trials: m of them.
            observe: names of sensors and of `sim.rollout.DRIVE_SERIES` to record.
            fallen: the robot is down when the cosine of its tilt is below this (`sim.rollout`).
            work: whether the work of the motors is added up.

        Returns:
            A rollout for each trial, with a world for each candidate.
        """
        rows = self.space.checked(candidates)
        if rows.ndim != 2:
            raise UsageError(f"candidates have the shape {rows.shape}; needed is (n, {self.space.size}).")
        return self._simulate_all(rows, tuple(trials), _Watched(tuple(observe), fallen, work))

    def adjustments(self, candidate: ArrayLike) -> tuple[Adjustment, ...]:
        """The adjustments of a candidate, (k,)."""
        return tuple(
            Adjustment(target=target, value=float(value), relative=one.relative)
            for (name, one), value in zip(self.searched.items(), self.space.checked(candidate), strict=True)
            for target in one.targets(name)
        )

    def drawn(self, candidate: ArrayLike) -> Scene:
        """The scene of a candidate, (k,), with everything that is only seen: for films."""
        every = _ordered((*self.settings.adjustments, *self.adjustments(candidate)))
        physical = tuple(a for a in every if not a.target.startswith(_NON_PHYSICAL_TARGETS))
        return _scene(self.settings, physical, visuals=True)

    def channel_numbers(
        self, candidates: ArrayLike, conditions: tuple[Adjustment, ...], columns: Sequence[str]
    ) -> dict[str, Floats] | None:
        """The numbers of the measured columns for each candidate, (n, columns) by name; None if nothing sets any."""
        every = [
            [a for a in (*self.settings.adjustments, *conditions, *self.adjustments(one)) if _of_channel(a)]
            for one in np.atleast_2d(np.asarray(candidates, float))
        ]
        if not any(every):
            return None
        names = list(columns)
        found = {n: np.full((len(every), len(names)), float(n == "gain")) for n in CHANNEL_NUMBERS}
        for row, adjustments in enumerate(every):
            for one in adjustments:
                target = parse_target(one.target)
                where = f"target {one.target!r}"
                for column in matching_names([target.name], names, "compared column", where):
                    found[target.field][row, names.index(column)] = one.value
        return found

    @property
    def largest_drift(self) -> float:
        """The most by which a candidate may let a measured channel's clock run slow, as a share; 0 or more."""
        given = [a.value for a in self.settings.adjustments if a.target.endswith(".drift")]
        searched = [
            one.high for name, one in self.searched.items() if any(t.endswith(".drift") for t in one.targets(name))
        ]
        return max([0.0, *given, *searched])

    def _simulate_all(self, rows: Floats, trials: tuple[Trial, ...], watched: _Watched) -> list[Rollout]:
        """The rollout of each trial."""
        found: dict[int, Rollout] = {}
        for group in _alike(trials):
            found.update(self._simulate(rows, trials, group, watched))
        return [found[index] for index in range(len(trials))]

    def _simulate(
        self,
        rows: Floats,
        trials: Sequence[Trial],
        group: list[int],
        watched: _Watched,
    ) -> dict[int, Rollout]:
        """The rollouts of trials of one period, by their number."""
        # Worlds of a batch have equal steps and states; a servo whose set-point moves has one state more.
        jobs: dict[tuple[int, int], list[_Job]] = {}
        made: dict[object, list[Scene | None]] = {}  # trials of the same conditions share the scenes
        for index in group:
            trial = trials[index]
            if (alike := (trial.conditions, trial.period)) not in made:
                made[alike] = self._scenes(rows, trial)
            scenes = made[alike]
            for number, scene in enumerate(scenes):
                if scene is not None:
                    steps = round(trials[index].period / scene.timestep)
                    jobs.setdefault((steps, scene.model.na), []).append(_Job(index, number, trials[index], scene))
        out = {i: _nothing(self.base, self.table, trials[i], len(rows), watched) for i in group}
        for some in jobs.values():
            if self.settings.device == "cpu":
                worlds = Worlds.of([job.scene for job in some], threads=self.threads)
            else:
                worlds = self._worlds_on_device([job.scene for job in some])
            done = self._roll_out(worlds, rows, some, watched)
            for world, job in enumerate(some):
                _copy_world(done, world, out[job.index], job.number)
        return out

    def _worlds_on_device(self, scenes: list[Scene]) -> Worlds:
        """At least one world for each scene: those of the last call, if it took as many and as long steps."""
        filled = scenes + scenes[:1] * (-len(scenes) % _WORLD_UNITS[self.settings.device])
        kept = self._device_worlds
        if kept is None or kept.count != len(filled) or kept.scene.timestep != scenes[0].timestep:
            self._device_worlds = None  # first the memory of the old ones
            kept = self._device_worlds = Worlds.of(filled, device=self.settings.device)
            kept.batch.limit_solver()
        else:
            kept.use(filled)
        return kept

    def _scenes(self, rows: Floats, trial: Trial) -> list[Scene | None]:
        """The scene of each candidate in a trial; None where there can be none."""
        every = [self._adjustments(candidate, trial.conditions, trial.period) for candidate in rows]
        # Candidates that differ only in their cameras share a scene.
        physical = [tuple(a for a in one if not a.target.startswith(_NON_PHYSICAL_TARGETS)) for one in every]
        if self.settings.device == "cpu" or self.threads == 1 or len(rows) < _LEAST_FOR_PROCESSES:
            return [_scene_if_possible(self.settings, one) for one in physical]
        build = functools.partial(_scene_if_possible, self.settings)
        return list(_scene_builders(self.threads).map(build, physical, chunksize=_LEAST_FOR_PROCESSES // 4))

    def _adjustments(
        self, candidate: Floats, conditions: tuple[Adjustment, ...], period: float
    ) -> tuple[Adjustment, ...]:
        """All adjustments of a candidate in a trial, in the order in which they are made."""
        every = _ordered((*self.settings.adjustments, *conditions, *self.adjustments(candidate)))
        if period and any(a.target == TIMESTEP_TARGET for a in every):
            wanted = _scene(self.settings, every).timestep if any(a.relative for a in every) else 0.0
            wanted = wanted or next(a.value for a in reversed(every) if a.target == TIMESTEP_TARGET)
            exact = Adjustment(target=TIMESTEP_TARGET, value=period / max(1, round(period / wanted)))
            every = (*(a for a in every if a.target != TIMESTEP_TARGET), exact)
        return every

    def _roll_out(self, worlds: Worlds, rows: Floats, jobs: list[_Job], watched: _Watched) -> Rollout:
        """Runs a batch that has a world for each job; what is beyond them is no job, and ends at once."""
        extra = worlds.count - len(jobs)
        counted = [len(job.trial) for job in jobs] + [1] * extra
        jobs = jobs + jobs[:1] * extra
        trials = [job.trial for job in jobs]
        longest = max(len(trial) for trial in trials)
        switched = trials[0].powered is not None
        zeros = np.stack([self._zeros(rows[job.number], job.trial.conditions) for job in jobs])
        position = np.array(self.table.drives) == "position"
        shifts = np.where(position, zeros[:, self.table.motor_joints], 0.0)
        done = roll_out(
            worlds,
            TWIN_ROBOT,
            CommandSeries(
                values=np.stack([_longer(trial.commands, longest) for trial in trials]) - shifts[:, None],
                period=trials[0].period,
                powered=np.stack([_powered(trial, longest) for trial in trials]) if switched else None,
                voltage=_stacked_input([trial.voltage for trial in trials], longest),
                temperature=_stacked_input([trial.temperature for trial in trials], longest),
                delay=np.array([self._delay(rows[job.number], job.trial) for job in jobs]),
                rows=np.array(counted),
            ),
            start=_stacked(
                [_shifted(t.start, z, s) for t, z, s in zip(trials, zeros, shifts, strict=True)], self.table
            ),
            observe=watched.sensors,
            fallen=watched.fallen,
            work=watched.work,
        )
        done.angles[:] += zeros[:, None]
        return done

    def _zeros(self, candidate: Floats, conditions: tuple[Adjustment, ...]) -> Floats:
        """What the encoders read where the joints are at zero, (joints,) [rad]."""
        found = np.zeros(len(self.table.joints))
        for one in (*self.settings.adjustments, *conditions, *self.adjustments(candidate)):
            if one.target.startswith(_ZERO_TARGETS):
                pattern = one.target.removeprefix(_ZERO_TARGETS)
                for joint in matching_names([pattern], self.table.joints, "joint", f"target {one.target!r}"):
                    found[self.table.joints.index(joint)] = one.value
        return found

    def _delay(self, candidate: Floats, trial: Trial) -> float:
        every = (*self.settings.adjustments, *trial.conditions, *self.adjustments(candidate))
        return next((a.value for a in reversed(every) if a.target == _DELAY_TARGET), 0.0)


class TwinTogether(Twin):
    """A twin that simulates the candidates of several searches in one batch (`search.together`), each in a thread.

    Every call of `simulate` waits for the other searches. All have the same trials, and observe the same in them.

    Args:
        settings: as of a twin.
        searched: as of a twin.
        searches: how many.
        threads: as of a twin.
    """

    def __init__(
        self, settings: TwinSettings, searched: Mapping[str, Searched], *, searches: int, threads: int = 1
    ) -> None:
        super().__init__(settings, searched, threads=threads)
        self._together: Together[_Asked, list[Rollout]] = Together(searches, self._answer_all)

    def leave(self) -> None:
        """Says that one search is over: the others wait for it no longer."""
        self._together.leave()

    def _simulate_all(self, rows: Floats, trials: tuple[Trial, ...], watched: _Watched) -> list[Rollout]:
        return self._together.ask(_Asked(rows, (trials, watched)))

    def _answer_all(self, asked: Sequence[_Asked]) -> list[list[Rollout]]:
        where = asked[0].where
        if any(one.where != where for one in asked):
            raise UsageError("searches that simulate together have the same trials, and observe the same in them.")
        done = super()._simulate_all(np.concatenate([one.rows for one in asked]), *where)
        ends = np.cumsum([len(one.rows) for one in asked]).tolist()
        return [
            [rollout.part(slice(end - len(one.rows), end)) for rollout in done]
            for one, end in zip(asked, ends, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class _Asked:
    """Candidates that a search wants to have simulated, (n, k)."""

    rows: Floats
    where: tuple[tuple[Trial, ...], _Watched]
    """The trials, and what is recorded."""


def _of_channel(adjustment: Adjustment) -> bool:
    return adjustment.target.startswith(_CHANNEL_TARGETS)


@dataclass(frozen=True)
class _Watched:
    """What is recorded of a simulation beside angles, pose and ball, and when it ends."""

    sensors: tuple[str, ...]
    fallen: float | None
    work: bool


@dataclass(frozen=True, eq=False)
class _Job:
    """One candidate in one trial."""

    index: int
    """Index of the trial."""
    number: int
    """Index of the candidate."""
    trial: Trial
    scene: Scene


def _scene_if_possible(settings: TwinSettings, adjustments: tuple[Adjustment, ...]) -> Scene | None:
    """The scene of a twin; None where there can be none."""
    try:
        return _scene(settings, adjustments)
    except ModelError:
        return None


@functools.cache
def _scene_builders(count: int) -> concurrent.futures.Executor:
    """Processes that build scenes; they are new ones, because a process with a CUDA device must not be copied."""
    return concurrent.futures.ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))


@functools.lru_cache(maxsize=SCENES_KEPT)
def _scene(settings: TwinSettings, adjustments: tuple[Adjustment, ...], *, visuals: bool = False) -> Scene:
    """The scene of a twin; those made last are kept."""
    placement = Placement(
        robot=settings.robot,
        name=TWIN_ROBOT,
        type=settings.type,
        pose=settings.pose,
        height=settings.height,
        actuation=settings.actuation,
        held=settings.held,
        adjustments=adjustments,
    )
    return assemble(
        SceneSettings(
            field=settings.field,
            ball=settings.ball,
            ball_pos=settings.ball_at,
            robots=(placement,),
            physics=settings.physics,
            timestep=settings.timestep,
            visuals=visuals,
        )
    )


def _ordered(adjustments: tuple[Adjustment, ...]) -> tuple[Adjustment, ...]:
    """Plain values first, then those that multiply them."""
    return tuple(sorted(adjustments, key=lambda one: one.relative))


def _alike(trials: Sequence[Trial]) -> list[list[int]]:
    """Numbers of trials that can share a batch."""
    groups: dict[object, list[int]] = {}
    for index, trial in enumerate(trials):
        inputs = (trial.powered is None, trial.voltage is None, trial.temperature is None)
        groups.setdefault((trial.period, *inputs), []).append(index)
    return list(groups.values())


def _stacked_input(series: Sequence[Floats | None], rows: int) -> Floats | None:
    """A recorded input of some trials, (N, rows); None if they have none (`_alike`)."""
    known = [_longer(one, rows) for one in series if one is not None]
    return np.stack(known) if known else None


def _longer(commands: Floats, rows: int) -> Floats:
    """Commands, or recorded inputs, filled up to a number of rows; what is added is never given."""
    return np.concatenate([commands, np.repeat(commands[-1:], rows - len(commands), axis=0)])


def _powered(trial: Trial, rows: int) -> Bools:
    out = np.ones(rows, dtype=bool)
    if trial.powered is not None:
        out[: len(trial)] = trial.powered
        out[len(trial) :] = trial.powered[-1]
    return out


def _shifted(start: StartState | None, zeros: Floats, shifts: Floats) -> StartState | None:
    """A start whose angles (joints,) and commands (motors,) are those of the joints, not of their encoders."""
    if start is None or not zeros.any():
        return start
    angles = None if start.angles is None else np.asarray(start.angles) - zeros
    return replace(start, angles=angles, command=None if start.command is None else np.asarray(start.command) - shifts)


def _stacked(starts: list[StartState | None], table: RobotTable) -> StartState | None:
    """The starts of N worlds as one, (N, width) each; NaN where a world starts as its scene does."""
    if all(start is None for start in starts):
        return None
    joints, motors = len(table.joints), len(table.motors)
    widths = {"angles": joints, "rates": joints, "pose": 7, "velocity": 6, "command": motors}
    stacked = {}
    for name, width in widths.items():
        parts = [None if start is None else getattr(start, name) for start in starts]
        if any(part is not None for part in parts):
            stacked[name] = np.stack([np.full(width, np.nan) if part is None else part for part in parts])
    return StartState(**stacked)


def _nothing(scene: Scene, table: RobotTable, trial: Trial, count: int, watched: _Watched) -> Rollout:
    """The rollout of candidates that cannot be built: no frames, all diverged."""
    widths = {"rates": len(table.joints), "torque": len(table.motors), "current": len(table.motors)}
    widths |= {s.name: len(sensor_labels(s, table.joints)) for s in table.sensors}
    widths = {name: widths[name] for name in watched.sensors}
    shape = (count, len(trial))
    return Rollout(
        times=np.arange(len(trial), dtype=float) * trial.period,
        joints=table.joints,
        angles=np.full((*shape, len(table.joints)), np.nan),
        pose=np.full((*shape, 7), np.nan) if table.root >= 0 else None,
        sensors={name: np.full((*shape, width), np.nan) for name, width in widths.items()},
        commands=np.broadcast_to(trial.commands, (count, *trial.commands.shape)),
        frames=np.zeros(count, dtype=np.intp),
        diverged=np.ones(count, dtype=bool),
        ball=np.full((*shape, 3), np.nan) if scene.has_ball else None,
        work=np.full(shape, np.nan) if watched.work else None,
    )


def _copy_world(source: Rollout, world: int, target: Rollout, place: int) -> None:
    """Puts one world of a batch into the rollout of its trial."""
    rows = len(target.times)
    target.angles[place] = source.angles[world, :rows]
    if target.pose is not None and source.pose is not None:
        target.pose[place] = source.pose[world, :rows]
    if target.ball is not None and source.ball is not None:
        target.ball[place] = source.ball[world, :rows]
    if target.work is not None and source.work is not None:
        target.work[place] = source.work[world, :rows]
    for name, values in target.sensors.items():
        values[place] = source.sensors[name][world, :rows]
    target.frames[place], target.diverged[place] = source.frames[world], source.diverged[world]


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """Commands that a robot executes open loop, in reality or in simulations of it.

    A trial is all that reality and simulation need to do the same: the commands over time, where the robot starts, when
    its motors have power, and what differs in this trial from the others (its conditions).
    """

    name: str
    """For reports and errors; unique among the trials of a run."""
    period: float
    """Time between two rows of commands [s]; a whole number of physics steps."""
    commands: Floats
    """Commands of the motors in each period, (T, motors) [rad, or rad/s for velocity drives]."""
    start: StartState | None = None
    """Where the robot is at row 0; without it, in its pose, at rest."""
    powered: Bools | None = None
    """Whether the motors have power, (T,); always without it."""
    voltage: Floats | None = None
    """Recorded voltage of the motors' supply in each period, (T,) [V]; that of the battery without it."""
    temperature: Floats | None = None
    """Recorded temperature of the motors in each period, (T,) [°C]; that of the data sheet, 25 °C, without it."""
    conditions: tuple[Adjustment, ...] = ()
    """What is different in this trial, such as another load or gain."""

    def __post_init__(self) -> None:
        if self.commands.ndim != 2 or not len(self.commands):
            raise UsageError(
                f"trial {self.name!r} has commands of the shape {self.commands.shape}; needed is (T, motors)."
            )
        if not np.isfinite(self.commands).all():
            row, motor = np.argwhere(~np.isfinite(self.commands))[0]
            raise UsageError(f"trial {self.name!r}: the command of motor {motor} in row {row} is not a number.")
        if not (math.isfinite(self.period) and self.period > 0):
            raise UsageError(f"trial {self.name!r} has a period of {self.period} s; it must be above 0.")
        if self.voltage is not None and (
            self.voltage.shape != (len(self.commands),) or not (np.isfinite(self.voltage) & (self.voltage > 0)).all()
        ):
            raise UsageError(f"trial {self.name!r}: `voltage` must be a number above 0 V in every row.")
        if self.temperature is not None and (
            self.temperature.shape != (len(self.commands),) or not np.isfinite(self.temperature).all()
        ):
            raise UsageError(f"trial {self.name!r}: `temperature` must be a number in every row.")
        if self.powered is not None and self.powered.shape != (len(self.commands),):
            raise UsageError(
                f"trial {self.name!r}: `powered` has the shape {self.powered.shape}; needed is one per row."
            )

    def __len__(self) -> int:
        return len(self.commands)

    @property
    def seconds(self) -> float:
        """Length of the trial [s]."""
        return len(self.commands) * self.period
