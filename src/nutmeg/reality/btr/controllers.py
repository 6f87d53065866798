"""Controllers that are searched: sinusoid gaits whose amplitudes and phases are free numbers.

Seed 000 moves its ant by r_i(t) = theta_i + a_i sin(w t + psi_i) and searches the 18 amplitudes and 18 phases; the
centres theta and the frequency come from a gait of a file. Here any of the four may be searched.

    [controller]                                # of a configuration file
    gait = "tripod"                             # of the robot's own gaits.toml, or of `file`
    search = ["amplitude", "phase"]
    amplitude = [0.0, 0.6]                      # rad
    begin = "still"                             # from scratch: c0 stands still

    controllers = ControllerSpace.of(settings, twin)
    controllers.space.names                     # ("L1_yaw.a", "L1_yaw.psi", ...)
    controllers.trials(candidates, names)       # n Trials of candidates (n, c)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.model.robot import ROBOTS_FOLDER, robot_names
from nutmeg.motion.sinusoid import GaitSettings, Swing, read_gait
from nutmeg.reality.twin import TWIN_ROBOT, Trial, Twin
from nutmeg.search.space import Dimension, Space
from nutmeg.sim.worlds import Worlds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nutmeg.base.arrays import Floats

Quantity = Literal["amplitude", "phase", "centre", "frequency"]
_LETTER = {"amplitude": "a", "phase": "psi", "centre": "theta"}


@dataclass(frozen=True, kw_only=True)
class ControllerSettings:
    """The space of gaits that is searched, and how a gait is tried."""

    gait: str
    """The gait that gives everything that is not searched, by its name."""
    file: Path | None = None
    """The file of the gait; `gaits.toml` beside the robot's own file without it."""
    search: tuple[Quantity, ...] = ("amplitude", "phase")
    """The quantities that are searched."""
    joints: tuple[str, ...] = ("*",)
    """Patterns of the motors that are searched; the others do as the gait says."""
    amplitude: tuple[float, float] = (0.0, 0.6)
    """Range of the amplitudes [rad]."""
    phase: tuple[float, float] = (-math.pi, math.pi)
    """Range of the phases [rad]."""
    centre: tuple[float, float] = (-0.3, 0.3)
    """Range of the centres about those of the gait [rad]."""
    frequency: tuple[float, float] = (0.5, 2.0)
    """Range of the frequency [Hz]."""
    begin: Literal["gait", "still"] = "gait"
    """c0: the gait itself, or one that hardly moves (the smallest amplitudes)."""
    seconds: float = 5.0
    """T_e: how long a controller is tried [s]."""
    period: float = 0.02
    """Between two commands [s]."""
    ramp: float = 0.0
    """Seconds over which the swings grow from nothing, so that the robot does not start with a jerk."""

    def __post_init__(self) -> None:
        if not self.search:
            raise ValueError("`search` is empty; allowed are 'amplitude', 'phase', 'centre', 'frequency'.")
        if not 0 < self.period < self.seconds or self.ramp < 0:
            raise ValueError(
                f"trials of {self.seconds:g} s with commands every {self.period:g} s and a ramp of {self.ramp:g} s; "
                "needed are 0 < period < seconds and a ramp of 0 or more."
            )

    def read(self, robot: str) -> GaitSettings:
        """The gait in its file."""
        file = self.file or _folder(robot) / "gaits.toml"
        if not file.is_file():
            raise UsageError(f"robot {robot!r} has no file of gaits ({file}); give one as `file` of [controller].")
        return read_gait(file, self.gait)


class ControllerSpace:
    """The space C of gaits, and the trials of its points.

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
    def of(cls, settings: ControllerSettings, twin: Twin) -> ControllerSpace:
        """The gaits of a twin's robot; motors that the gait leaves alone hold the angles of the start."""
        rest = Worlds(twin.base).robot(TWIN_ROBOT).start
        return cls(settings, motors=twin.table.motors, rest=rest, gait=settings.read(twin.settings.robot))

    def _dimensions(self) -> dict[str, Dimension]:
        s, found = self.settings, {}
        for index, motor in enumerate(self.motors):
            if not any(fnmatchcase(motor, pattern) for pattern in s.joints):
                continue
            for quantity in (q for q in ("amplitude", "phase", "centre") if q in s.search):
                letter = _LETTER[quantity]
                given = float(self._given[letter][index])
                low, high = getattr(s, quantity)
                if quantity == "centre":
                    low, high = low + given, high + given
                start = low if quantity == "amplitude" and s.begin == "still" else min(max(given, low), high)
                found[f"{motor}.{letter}"] = Dimension(low=low, high=high, start=start, unit="rad")
                self._places.append((letter, index))
        if "frequency" in s.search:
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
        s = self.settings
        times = s.period * np.arange(round(s.seconds / s.period))
        angle = 2 * math.pi * frequency[:, None, None] * times[:, None] + parts["psi"][:, None, :]
        grown = np.minimum(times / s.ramp, 1.0)[:, None] if s.ramp else 1.0
        return np.asarray(parts["theta"][:, None, :] + grown * parts["a"][:, None, :] * np.sin(angle))

    def trials(self, controllers: ArrayLike, names: Sequence[str] = ()) -> list[Trial]:
        """Trials of controllers (n, c), with their names."""
        commands = self.commands(controllers)
        called = names or [f"controller-{i}" for i in range(len(commands))]
        return [
            Trial(name=name, period=self.settings.period, commands=one)
            for name, one in zip(called, commands, strict=True)
        ]

    def gait_of(self, controller: ArrayLike) -> GaitSettings:
        """A controller (c,) as a gait that can be written to a file."""
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


def gait_table(name: str, gait: GaitSettings, about: str = "") -> dict[str, object]:
    """A gait as the table of a file of gaits, for `toml_text`."""
    joints = {motor: {"theta": s.theta, "a": s.a, "psi": s.psi} for motor, s in gait.joints.items()}
    return {"gaits": {name: {"frequency": gait.frequency, "about": about, "joints": joints}}}


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
