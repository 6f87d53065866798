"""Controllers that are searched: a few numbers that become commands over time, played open loop.

A trial in reality is a series of commands, so any controller that can be planned beforehand can be searched:

| kind        | what it is                                    | numbers, by their names                             |
|-------------|-----------------------------------------------|-----------------------------------------------------|
| `sinusoid`  | r_i(t) = theta_i + a_i sin(w t + psi_i)       | `MOTOR.a`, `.psi`, `.theta` [rad], `frequency` [Hz] |
| `keyframes` | a kick, a get-up, a dive (`motion.keyframes`) | `frame2.llj3` [rad], `frame2.seconds` [s]           |
| `walk`      | the pendulum walk, without feedback           | those of `PendulumWalkSettings`                     |
| `trot`      | the trot of four legs                         | those of `TrotSettings`                             |
| `policy`    | a network that walks in the robot's model     | those of `motion.policy.Gait`, `ahead`, `aside`, .. |
| `python`    | a class of the user's                         | its own                                             |

    [controller]                                # of a configuration file: the ant of seed 000
    gait = "tripod"                             # of the robot's own gaits.toml, or of `file`
    search = ["amplitude", "phase"]
    amplitude = [0.0, 0.6]                      # rad
    begin = "still"                             # from scratch: c0 stands still

    [controller]                                # a kick that comes with Nutmeg: its last swing is searched
    kind = "keyframes"
    gait = "kick"
    search = ["frame2.*", "frame3.*"]
    seconds = 3.0

    [controller]                                # the walk `final`: six of its numbers
    kind = "walk"
    gait = "final"
    search = ["max_step_x", "y_shift", "z_step", "f_g", "phi_length", "x_offset"]
    velocity = [0.3, 0.0, 0.0]                  # what is asked of it: m/s, m/s, rad/s

    [controller]                                # a network of `nutmeg train`: how its actions become motions
    kind = "policy"
    gait = "policy"
    search = ["reach", "stride", "ahead"]

A policy reacts to what it senses, so it walks in the simulation of the robot as it is before any identification, and
the commands that it gives there are the trial.

    controllers = make_controllers(settings, twin)
    controllers.space.names                     # ("L1_yaw.a", "L1_yaw.psi", ...)
    controllers.trials(candidates, names)       # n Trials of candidates (n, c)

A class of the user's is made with the robot's table, and has numbers and commands:

    class Hop:
        numbers = {"depth": (0.0, 0.4, 0.1)}                    # low, high, start
        def __init__(self, table): ...
        def commands(self, rows, times): ...                    # (n, c), (T,) -> (n, T, motors) [rad or rad/s]
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

import numpy as np

from nutmeg.base.constants import GRAVITY
from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.base.plugins import load_named
from nutmeg.base.settings import Bounds, bounds_of, toml_text
from nutmeg.model.robot import ROBOTS_FOLDER, robot_names
from nutmeg.motion.bodies import Mirror
from nutmeg.motion.keyframes import KeyframeMotion, motion_path, read_motion, shipped_motion
from nutmeg.motion.policy import Gait, PolicySettings, PolicyWalker
from nutmeg.motion.sinusoid import GaitSettings, Swing, read_gait
from nutmeg.motion.trot import TROT_AHEAD_PARAMETERS, TrotSettings, TrotWalker
from nutmeg.motion.walk.files import Origin, WalkParameters, read_walk, walk_text
from nutmeg.motion.walk.settings import PendulumWalkSettings
from nutmeg.motion.walk.walker import Walker
from nutmeg.reality.twin import TWIN_ROBOT, Trial, Twin
from nutmeg.search.space import Dimension, Space
from nutmeg.sim.worlds import Worlds, steps_in

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats
    from nutmeg.model.scene import Scene
    from nutmeg.model.tables import RobotTable

Quantity = Literal["amplitude", "phase", "centre", "frequency"]
QUANTITIES: tuple[Quantity, ...] = ("amplitude", "phase", "centre", "frequency")
_LETTER = {"amplitude": "a", "phase": "psi", "centre": "theta"}
WALK_AHEAD_PARAMETERS = (
    *("max_step_x", "y_shift", "z_torso", "z_step", "f_g", "f_s", "phi_length", "delta", "x_offset", "x_factor"),
)
"""The parameters of the pendulum walk that a walk straight ahead without feedback depends on."""
SHORTEST_FRAME = 0.06
"""The shortest time between two keyframes that is tried [s]."""


@dataclass(frozen=True, kw_only=True)
class ControllerSettings:
    """The space of controllers that is searched, and how a controller is tried."""

    kind: Literal["sinusoid", "keyframes", "walk", "trot", "policy", "python"] = "sinusoid"
    """What the numbers mean; see the module."""
    gait: str = ""
    """The gait, motion or walk that gives everything that is not searched, by its name."""
    file: Path | None = None
    """The file of it. Without one a sinusoid is looked for in `gaits.toml` beside the robot's own file, a motion or a
    walk among those that come with Nutmeg."""
    search: tuple[str, ...] = ()
    """sinusoid: quantities (amplitude, phase, centre, frequency). Others: patterns of the numbers. Without any, those
    that matter: amplitude and phase, all of a motion, what a walk straight ahead depends on."""
    joints: tuple[str, ...] = ("*",)
    """sinusoid: patterns of the motors that are searched; the others do as the gait says."""
    amplitude: tuple[float, float] = (0.0, 0.6)
    """Range of the amplitudes [rad]."""
    phase: tuple[float, float] = (-math.pi, math.pi)
    """Range of the phases [rad]."""
    centre: tuple[float, float] = (-0.3, 0.3)
    """Range of the centres about those of the gait [rad]."""
    frequency: tuple[float, float] = (0.5, 2.0)
    """Range of the frequency [Hz]."""
    begin: Literal["gait", "still"] = "gait"
    """sinusoid: c0 is the gait itself, or one that hardly moves (the smallest amplitudes)."""
    reach: float = 0.4
    """keyframes: how far angles may go from those of the motion [rad]; times may halve and double. walk, trot, policy:
    the share of a number's whole range within which it is searched about the walk's own."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """keyframes, walk, trot, policy: ranges of single numbers, by name, in SI units."""
    velocity: tuple[float, float, float] = (0.3, 0.0, 0.0)
    """walk, trot, policy: the velocity that is asked of it [m/s, m/s, rad/s]."""
    function: str = ""
    """python: `file.py:Class`."""
    seconds: float = 5.0
    """T_e: how long a controller is tried [s]."""
    period: float = 0.02
    """Between two commands [s]."""
    ramp: float = 0.0
    """sinusoid: seconds over which the swings grow from nothing, so that the robot does not start with a jerk."""

    def __post_init__(self) -> None:
        if self.kind == "sinusoid":
            for name in self.search:
                if name not in QUANTITIES:
                    raise UnknownNameError("quantity", name, QUANTITIES, where="`search` of [controller]")
        if (self.kind == "python") != bool(self.function):
            raise ValueError('kind = "python" needs `function`, and only that kind has one.')
        if self.kind in ("sinusoid", "keyframes", "walk", "policy") and not self.gait and not self.file:
            raise ValueError(f'kind = "{self.kind}" needs `gait`, the name of what is searched, or its `file`.')
        if not 0 < self.period < self.seconds or self.ramp < 0:
            raise ValueError(
                f"trials of {self.seconds:g} s with commands every {self.period:g} s and a ramp of {self.ramp:g} s; "
                "needed are 0 < period < seconds and a ramp of 0 or more."
            )
        if self.reach <= 0:
            raise ValueError(f"`reach` is {self.reach:g}; it must be above 0.")

    @property
    def times(self) -> Floats:
        """When commands are given, (T,) [s]."""
        return np.asarray(self.period * np.arange(round(self.seconds / self.period)), np.float64)

    def chosen(self, names: Sequence[str], usual: Sequence[str]) -> list[str]:
        """The numbers that are searched, of those that there are."""
        patterns = self.search or tuple(usual)
        for name in (*patterns, *self.ranges):
            if not any(fnmatchcase(one, name) for one in names):
                raise UnknownNameError("number of the controller", name, names, where="[controller]")
        return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


class Controllers(Protocol):
    """A space of controllers, and what becomes of its points; can be sent to other processes."""

    @property
    def settings(self) -> ControllerSettings:
        """How controllers are tried."""

    @property
    def space(self) -> Space:
        """The space C of controllers."""

    def commands(self, controllers: ArrayLike) -> Floats:
        """Commands of controllers (n, c), (n, T, motors) [rad, or rad/s for velocity drives]."""

    def text(self, name: str, controller: ArrayLike, about: str) -> str:
        """A controller (c,) as a TOML file."""

    def trials(self, controllers: ArrayLike, names: Sequence[str] = ()) -> list[Trial]:
        """Trials of controllers (n, c), with their names."""


def make_controllers(settings: ControllerSettings, twin: Twin) -> Controllers:
    """The controllers of a twin's robot."""
    kinds: dict[str, Callable[[ControllerSettings, Twin], Controllers]] = {
        "sinusoid": SinusoidControllers.of,
        "keyframes": KeyframeControllers,
        "walk": _WalkControllers,
        "trot": _TrotControllers,
        "policy": _PolicyControllers,
        "python": _UserControllers,
    }
    return kinds[settings.kind](settings, twin)


class _Trials:
    """What all controllers have in common."""

    settings: ControllerSettings

    def commands(self, controllers: ArrayLike) -> Floats:
        raise NotImplementedError

    def trials(self, controllers: ArrayLike, names: Sequence[str] = ()) -> list[Trial]:
        """Trials of controllers (n, c), with their names."""
        commands = self.commands(controllers)
        called = names or [f"controller-{i}" for i in range(len(commands))]
        return [
            Trial(name=name, period=self.settings.period, commands=one)
            for name, one in zip(called, commands, strict=True)
        ]


# Sinusoids


class SinusoidControllers(_Trials):
    """Sinusoid gaits whose amplitudes, phases, centres and frequency are free numbers.

    Seed 000 moves its ant by r_i(t) = theta_i + a_i sin(w t + psi_i) and searches the 18 amplitudes and 18 phases; the
    centres theta and the frequency come from a gait of a file.

    Args:
        settings: what is searched.
        motors: names of the robot's motors.
        rest: angles of the motors that the gait leaves alone, (motors,) [rad].
        gait: the gait that gives the rest.
    """

    def __init__(
        self, settings: ControllerSettings, *, motors: tuple[str, ...], rest: Floats, gait: GaitSettings
    ) -> None:
        for name in gait.joints:
            if name not in motors:
                raise UnknownNameError("motor", name, motors, where=f"gait {settings.gait!r}")
        swings = [gait.joints.get(m, Swing(theta=float(r))) for m, r in zip(motors, rest, strict=True)]
        self.settings, self.motors, self.gait = settings, motors, gait
        self._given = {
            "theta": np.array([s.theta for s in swings]),
            "a": np.array([s.a for s in swings]),
            "psi": np.array([_turned(s.psi, settings.phase) for s in swings]),
        }
        self._places: list[tuple[str, int]] = []
        """What each number of a controller is: a letter and a motor, or the frequency."""
        self.space = Space(self._dimensions())
        """In the order of the motors: amplitude and phase (and centre) of each, then the frequency."""

    @classmethod
    def of(cls, settings: ControllerSettings, twin: Twin) -> SinusoidControllers:
        """The gaits of a twin's robot; motors that the gait leaves alone hold the angles of the start."""
        rest = Worlds(twin.base).robot(TWIN_ROBOT).start
        return cls(settings, motors=twin.table.motors, rest=rest, gait=_read_gait(settings, twin.settings.robot))

    def _dimensions(self) -> dict[str, Dimension]:
        s, found = self.settings, {}
        search = s.search or ("amplitude", "phase")
        for index, motor in enumerate(self.motors):
            if not any(fnmatchcase(motor, pattern) for pattern in s.joints):
                continue
            for quantity in (q for q in ("amplitude", "phase", "centre") if q in search):
                letter = _LETTER[quantity]
                given = float(self._given[letter][index])
                low, high = getattr(s, quantity)
                if quantity == "centre":
                    low, high = low + given, high + given
                start = low if quantity == "amplitude" and s.begin == "still" else min(max(given, low), high)
                found[f"{motor}.{letter}"] = Dimension(low=low, high=high, start=start, unit="rad")
                self._places.append((letter, index))
        if "frequency" in search:
            low, high = s.frequency
            start = min(max(self.gait.frequency, low), high)
            found["frequency"] = Dimension(low=low, high=high, start=start, unit="Hz")
            self._places.append(("frequency", 0))
        if not found:
            raise UsageError(
                f"no motor is like {', '.join(s.joints)}, so there is nothing to search; motors: "
                f"{', '.join(self.motors) or 'none'}."
            )
        return found

    def commands(self, controllers: ArrayLike) -> Floats:
        """Reference angles of controllers (n, c), (n, T, motors) [rad]."""
        rows = np.atleast_2d(np.asarray(controllers, float))
        parts = {letter: np.tile(given, (len(rows), 1)) for letter, given in self._given.items()}
        frequency = np.full(len(rows), self.gait.frequency)
        for column, (letter, index) in enumerate(self._places):
            if letter == "frequency":
                frequency = rows[:, column]
            else:
                parts[letter][:, index] = rows[:, column]
        times, ramp = self.settings.times, self.settings.ramp
        angle = 2 * math.pi * frequency[:, None, None] * times[:, None] + parts["psi"][:, None, :]
        grown = np.minimum(times / ramp, 1.0)[:, None] if ramp else 1.0
        return np.asarray(parts["theta"][:, None, :] + grown * parts["a"][:, None, :] * np.sin(angle))

    def gait_of(self, controller: ArrayLike) -> GaitSettings:
        """A controller (c,) as a gait."""
        row = np.asarray(controller, float)
        swings = [
            Swing(theta=float(t), a=float(a), psi=float(p))
            for t, a, p in zip(*(self._given[k] for k in ("theta", "a", "psi")), strict=True)
        ]
        frequency = self.gait.frequency
        for value, (letter, index) in zip(row.tolist(), self._places, strict=True):
            if letter == "frequency":
                frequency = value
            else:
                swings[index] = replace(swings[index], **{letter: value})
        return GaitSettings(frequency=frequency, joints=dict(zip(self.motors, swings, strict=True)))

    def text(self, name: str, controller: ArrayLike, about: str) -> str:
        """A controller as a file of gaits has it."""
        gait = self.gait_of(controller)
        joints = {motor: {"theta": s.theta, "a": s.a, "psi": s.psi} for motor, s in gait.joints.items()}
        return toml_text({"gaits": {name: {"frequency": gait.frequency, "about": about, "joints": joints}}})


def _read_gait(settings: ControllerSettings, robot: str) -> GaitSettings:
    """The gait in its file."""
    file = settings.file or _folder(robot) / "gaits.toml"
    if not file.is_file():
        raise UsageError(f"robot {robot!r} has no file of gaits ({file}); give one as `file` of [controller].")
    return read_gait(file, settings.gait)


def _folder(robot: str) -> Path:
    """The folder of a robot."""
    if robot in robot_names():
        return ROBOTS_FOLDER / robot
    path = Path(robot)
    return path if path.is_dir() else path.parent


def _turned(phase: float, span: tuple[float, float]) -> float:
    """A phase moved by whole turns into a range, if it can be."""
    turns = math.ceil((span[0] - phase) / (2 * math.pi) - 1e-9)
    moved = phase + 2 * math.pi * turns
    return moved if span[0] - 1e-9 <= moved <= span[1] + 1e-9 else phase


# Motions that are planned on an ideal robot


class IdealRobots:
    """N robots that stand upright and whose joints are at once where they are commanded to be.

    Motions that need a robot (`motion.bodies.Bodies`) are planned with it; what they command is the trial. Velocity
    drives turn no faster than they can, so that a plan never falls behind in what it asks for.

    Args:
        scene: with one robot, in its starting pose.
        count: N.
        period: of a control cycle [s].
    """

    def __init__(self, scene: Scene, count: int, period: float) -> None:
        self.scene, self.count, self._period = scene, count, period
        self.table: RobotTable = scene.robots[0]
        self.qpos: Floats = np.tile(scene.start, (count, 1))
        """Configurations, (N, nq)."""
        self.gyro: Floats = np.zeros((count, 3))
        self.acceleration: Floats = np.tile([0.0, 0.0, GRAVITY], (count, 1))
        self.up: Floats = np.tile([0.0, 0.0, 1.0], (count, 1))
        self._addresses = self.table.angles[self.table.motor_joints]
        limits = self.table.limits[self.table.motor_joints]
        self._low, self._high = limits[:, 0], limits[:, 1]
        self._velocity = np.array([drive == "velocity" for drive in self.table.drives])
        top = scene.model.actuator_ctrlrange[self.table.commands, 1]
        self._top_speeds = np.where(self._velocity, top, np.inf)
        self._command = np.zeros((count, len(self.table.motors)))

    def robot(self, name: str) -> IdealRobots:
        """The robots themselves."""
        if name != self.table.name:
            raise UnknownNameError("robot", name, [self.table.name])
        return self

    @property
    def angles(self) -> Floats:
        """Angles of the motors' joints, (N, motors) [rad]."""
        return np.asarray(self.qpos[:, self._addresses])

    @property
    def command(self) -> Floats:
        """Commands of this cycle, (N, motors) [rad, or rad/s for velocity drives]."""
        return self._command

    @command.setter
    def command(self, values: ArrayLike) -> None:
        now = self.angles
        self._command = np.clip(np.asarray(values, float), -self._top_speeds, self._top_speeds)
        moved = np.where(self._velocity, now + self._period * self._command, self._command)
        self.qpos[:, self._addresses] = np.clip(moved, self._low, self._high)

    def go_to(self, angles: Floats) -> Floats:
        """Goes to angles (N, motors) within a cycle, as far as drives can; the commands for it, (N, motors)."""
        self.command = np.where(self._velocity, (angles - self.angles) / self._period, angles)
        return self.command.copy()


class KeyframeControllers(_Trials):
    """Kicks and other motions through keyframes, whose angles and times are free numbers.

    Args:
        settings: the motion, and what is searched of it.
        twin: the robot; a motion starts from its pose.
    """

    def __init__(self, settings: ControllerSettings, twin: Twin) -> None:
        self.settings, self._twin = settings, twin
        self._table = twin.table
        robot = self._table.settings.name
        self.motion = read_motion(settings.file) if settings.file else shipped_motion(robot, settings.gait)
        self._mirror = Mirror.of(twin.base, twin.table)
        self.space = Space(self._dimensions())
        if self.motion.seconds > settings.seconds:
            raise UsageError(
                f"the {self.motion} takes {self.motion.seconds:g} s, but a trial only {settings.seconds:g} s. Make "
                "`seconds` of [controller] longer."
            )

    def _dimensions(self) -> dict[str, Dimension]:
        s, found = self.settings, {}
        for number, frame in enumerate(self.motion.frame, start=1):
            for key, value in {"seconds": frame.seconds, **frame.angles}.items():
                name = f"frame{number}.{key}"
                if key == "seconds":
                    low, high, start, unit = max(value / 2, SHORTEST_FRAME), value * 2, value, "s"
                else:
                    start, unit = math.radians(value), "rad"
                    lowest, highest = self._table.limits[self._table.joints.index(key)]
                    low, high = max(lowest, start - s.reach), min(highest, start + s.reach)
                low, high = s.ranges.get(name, (low, high))
                found[name] = Dimension(low=low, high=high, start=min(max(start, low), high), unit=unit)
        return {name: found[name] for name in s.chosen(list(found), ["*"])}

    def motion_of(self, controller: ArrayLike) -> KeyframeMotion:
        """A controller (c,) as a motion."""
        numbers = self.space.named(np.asarray(controller, float))
        return self.motion.with_numbers(
            {name: value if name.endswith(".seconds") else math.degrees(value) for name, value in numbers.items()}
        )

    def commands(self, controllers: ArrayLike) -> Floats:
        """Commands along the motions, and then in their last pose, (n, T, motors)."""
        rows = np.atleast_2d(np.asarray(controllers, float))
        s = self.settings
        robots = IdealRobots(self._twin.base, len(rows), s.period)
        start, length = robots.angles[0], len(s.times)
        paths = np.empty((len(rows), length, len(self._table.motors)))
        for path, row in zip(paths, rows, strict=True):
            one = motion_path(self.motion_of(row), self._table, self._mirror, start, period=s.period)[:length]
            path[: len(one)], path[len(one) :] = one, one[-1]
        return np.stack([robots.go_to(paths[:, cycle]) for cycle in range(length)], axis=1)

    def text(self, name: str, controller: ArrayLike, about: str) -> str:
        """A controller as a file of keyframes has it."""
        motion = self.motion_of(controller)
        frames = [
            {"seconds": f.seconds, **({"pose": f.pose} if f.pose else {}), "angles": dict(f.angles)}
            for f in motion.frame
        ]
        head = {"format": motion.format, "robot": motion.robot, "name": name, "about": about}
        return toml_text({**head, "ball": motion.ball, "strike": motion.strike, "frame": frames})


class _ParameterControllers(_Trials):
    """Walks with parameters: what a number may be is said by the bounds of its field."""

    kind: type[Any]
    set_name: str
    """The set of a walk file that is searched."""
    usual: tuple[str, ...]
    """What is searched if nothing is named."""

    def __init__(self, settings: ControllerSettings, twin: Twin) -> None:
        self.settings, self._twin = settings, twin
        self.walk = self._read()
        self.walk.for_robot(twin.table.settings.name)
        self.space = Space(self._dimensions())

    def _read(self) -> WalkParameters:
        return read_walk(str(self.settings.file or self.settings.gait), self._twin.table.settings.name)

    @property
    def given(self) -> Any:  # noqa: ANN401 (one of two kinds of settings)
        """The parameters of the walk that is searched."""
        raise NotImplementedError

    def _dimensions(self) -> dict[str, Dimension]:
        s, found = self.settings, {}
        values = {one.name: getattr(self.given, one.name) for one in dataclasses.fields(self.kind)}
        names = [name for name, value in values.items() if type(value) in (int, float)]
        for name in s.chosen(names, self.usual):
            bounds, start = bounds_of(self.kind, name), float(values[name])
            about = s.reach * (bounds.high - bounds.low) / 2
            low, high = s.ranges.get(name, (max(bounds.low, start - about), min(bounds.high, start + about)))
            found[name] = Dimension(low=low, high=high, start=min(max(start, low), high), unit=bounds.unit)
        return found

    def parameters_of(self, controller: ArrayLike) -> Any:  # noqa: ANN401
        """A controller (c,) as parameters of the walk."""
        return replace(self.given, **self.space.named(np.asarray(controller, float)))

    def commands(self, controllers: ArrayLike) -> Floats:
        """Commands of walks that ask no sensor, (n, T, motors)."""
        rows = np.atleast_2d(np.asarray(controllers, float))
        s = self.settings
        robots = IdealRobots(self._twin.base, len(rows), s.period)
        walker = self._walker(robots, [self.parameters_of(row) for row in rows])
        walker.wanted[:] = s.velocity
        out = np.empty((len(rows), len(s.times), len(robots.table.motors)))
        for cycle, time in enumerate(s.times.tolist()):
            walker.sample(time)
            out[:, cycle] = robots.command
        return out

    def _walker(self, robots: IdealRobots, walks: list[Any]) -> Walker | TrotWalker:
        raise NotImplementedError

    def text(self, name: str, controller: ArrayLike, about: str) -> str:
        """A controller as a file of walks has it."""
        changed = {self.set_name: self.parameters_of(controller)}
        return walk_text(replace(self.walk, name=name, origin=Origin(about=about), **changed))


class _WalkControllers(_ParameterControllers):
    """The pendulum walk's parameters; its gyro and tilt are as of a robot that stands upright."""

    kind, set_name = PendulumWalkSettings, "walk"
    usual = WALK_AHEAD_PARAMETERS

    @property
    def given(self) -> PendulumWalkSettings:
        """The parameters of the walk that is searched."""
        return self.walk.walk

    def _walker(self, robots: IdealRobots, walks: list[PendulumWalkSettings]) -> Walker:
        return Walker(robots, robots.table.name, walks, period=self.settings.period)


class _TrotControllers(_ParameterControllers):
    """The parameters of a four-legged robot's trot."""

    kind, set_name = TrotSettings, "trot"
    usual = TROT_AHEAD_PARAMETERS

    def _read(self) -> WalkParameters:
        robot = self._twin.table.settings.name
        if self.settings.file or self.settings.gait:
            return super()._read()
        return WalkParameters(robot=robot, name="trot", trot=TrotSettings())

    @property
    def given(self) -> TrotSettings:
        """The parameters of the trot that is searched."""
        return self.walk.trot or TrotSettings()

    def _walker(self, robots: IdealRobots, walks: list[TrotSettings]) -> TrotWalker:
        return TrotWalker(robots, robots.table.name, walks, period=self.settings.period)


@dataclass(frozen=True, kw_only=True)
class PolicyNumbers(Gait):
    """The numbers of a policy that can be searched: how actions become motions, and the velocity that it is asked."""

    reach: Annotated[float, Bounds(0.01, 0.5, "rad")] = 0.12
    ahead: Annotated[float, Bounds(-2.0, 2.0, "m/s")] = 0.0
    """Wanted velocity ahead [m/s]."""
    aside: Annotated[float, Bounds(-1.0, 1.0, "m/s")] = 0.0
    """Wanted velocity to the left [m/s]."""
    turn: Annotated[float, Bounds(-2.0, 2.0, "rad/s")] = 0.0
    """Wanted turn to the left [rad/s]."""


class _PolicyControllers(_ParameterControllers):
    """A policy's gait and wanted velocity; it walks in the twin's own simulation, and its commands are the trial."""

    kind, set_name = PolicyNumbers, "policy"
    usual = ("reach", "gain", "stride", "lift")

    @property
    def given(self) -> PolicyNumbers:
        """The numbers of the policy as its file has them, and the velocity of the settings."""
        ahead, aside, turn = self.settings.velocity
        return PolicyNumbers(**dataclasses.asdict(self._policy.gait), ahead=ahead, aside=aside, turn=turn)

    @property
    def _policy(self) -> PolicySettings:
        if self.walk.policy is None:
            raise UsageError(f"the walk {self.walk.name!r} is no policy: its file has no table [policy].")
        return self.walk.policy

    def _changed(self, controller: ArrayLike) -> tuple[PolicySettings, PolicyNumbers]:
        numbers: PolicyNumbers = self.parameters_of(controller)
        gait = Gait(**{one.name: getattr(numbers, one.name) for one in dataclasses.fields(Gait)})
        return replace(self._policy, gait=gait), numbers

    def commands(self, controllers: ArrayLike) -> Floats:
        """Commands of the policy while it walks in simulation, (n, T, motors)."""
        rows, s = np.atleast_2d(np.asarray(controllers, float)), self.settings
        out = np.empty((len(rows), len(s.times), len(self._twin.table.motors)))
        for row, commands in zip(rows, out, strict=True):
            policy, numbers = self._changed(row)
            worlds = Worlds(self._twin.base)
            robot, steps = worlds.robot(TWIN_ROBOT), steps_in(s.period, worlds.scene.timestep)
            walker = PolicyWalker(worlds, TWIN_ROBOT, policy, period=s.period)
            walker.wanted[:] = (numbers.ahead, numbers.aside, numbers.turn)
            for cycle, time in enumerate(s.times.tolist()):
                walker.sample(time)
                commands[cycle] = robot.command[0]
                worlds.step(steps)
        return out

    def text(self, name: str, controller: ArrayLike, about: str) -> str:
        """A controller as a file of walks has it; its weights are those beside the policy's own file."""
        policy, numbers = self._changed(controller)
        told = f"{about} Wanted: {numbers.ahead:.3f} m/s, {numbers.aside:.3f} m/s, {numbers.turn:.3f} rad/s."
        return walk_text(replace(self.walk, name=name, origin=Origin(about=told), policy=policy))


class _UserControllers(_Trials):
    """Controllers of a user's own class, which is made anew in every process.

    Args:
        settings: names the class.
        twin: the robot, whose table the class gets.
    """

    def __init__(self, settings: ControllerSettings, twin: Twin) -> None:
        self.settings, self._robot = settings, twin.table
        numbers = getattr(self._made, "numbers", None)
        if not isinstance(numbers, Mapping) or not numbers or not callable(getattr(self._made, "commands", None)):
            raise UsageError(
                f"{settings.function} is no controller: it needs `numbers`, which maps names to (low, high, start), "
                "and `commands(rows, times)`."
            )
        self.space = Space({name: Dimension(low=lo, high=hi, start=at) for name, (lo, hi, at) in numbers.items()})

    @cached_property
    def _made(self) -> Any:  # noqa: ANN401 (the user's)
        return load_named(self.settings.function, "controller")(self._robot)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_made"}

    def commands(self, controllers: ArrayLike) -> Floats:
        """What the class answers, (n, T, motors)."""
        rows, times = np.atleast_2d(np.asarray(controllers, float)), self.settings.times
        found = np.asarray(self._made.commands(rows, times), float)
        wanted = (len(rows), len(times), len(self._robot.motors))
        if found.shape != wanted:
            raise UsageError(f"{self.settings.function}: commands have the shape {found.shape}; needed is {wanted}.")
        return found

    def text(self, name: str, controller: ArrayLike, about: str) -> str:
        """The numbers of a controller."""
        numbers = self.space.named(np.asarray(controller, float))
        return toml_text({"name": name, "function": self.settings.function, "about": about, "numbers": numbers})
