r"""Walking at a wanted velocity by moving the joints: the task of `nutmeg/WalkVelocity-v0`.

    task = WalkVelocityTask(WalkVelocityOptions(robot="nao-v6"), count=64)

With v the velocity ahead and to the left as the robot sees it, w its turn rate, v* and w* the wanted ones, and a the
action of n numbers, the reward of cycle t is

    r = exp(-|v - v*|^2 / 0.25^2) + 0.5 exp(-(w - w*)^2 / 0.5^2) - 0.05 |a_t - a_(t-1)|^2 / n - 5 [fell]

An action moves targets of joints around the pose `ready` (or, with `residual`, around what the pendulum walk asks
for): target = ready + reach a, cut off at the joints' limits. Velocity drives are commanded the speed that leads there
within a cycle, as the walker of `motion.walker` does. Commands are drawn when an episode begins, sixteen of them,
and follow one another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nutmeg.base.arrays import Bools, Floats, Floats32, Indices
from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UsageError
from nutmeg.learning.gym.robots import GYM_ROBOTS, RobotBatch, RobotOptions, check_known, check_number, phase
from nutmeg.learning.gym.spaces import Layout, Outcome, Part, known_options
from nutmeg.learning.rewards import FALL_COST
from nutmeg.model.posing import pose_angles
from nutmeg.model.robot import load_robot
from nutmeg.model.tables import leg_joints
from nutmeg.motion.legs.nao import NaoBody
from nutmeg.motion.walk.files import read_walk

if TYPE_CHECKING:
    from numpy.typing import NDArray


SPEED_WIDTH = 0.25
"""Error of the velocity at which its reward is down to 1/e [m/s]."""
TURN_WIDTH = 0.5
"""Error of the turn rate at which its reward is down to 1/e [rad/s]."""
TURN_SHARE = 0.5
"""What turning counts beside going."""
CHANGE_COST = 0.05
"""What a change of the action costs, for the mean square over the joints."""
PLANNED_COMMANDS = 16
"""Commands drawn for an episode; after the last comes the first again."""


@dataclass(frozen=True, kw_only=True)
class WalkVelocityOptions(RobotOptions):
    """Options of `nutmeg/WalkVelocity-v0`."""

    joints: Literal["legs", "all"] = "legs"
    """The motors that actions move; the others hold the pose `ready`, or what the walk has them do."""
    reach: float = 0.5
    """How far an action of 1 moves a joint's target [rad]."""
    residual: bool = False
    """Whether actions are added to what the pendulum walk does, instead of to the pose `ready`."""
    walk: str = "initial"
    """With `residual`: the walk, by its name, its file or the folder of its run; it must be for this robot."""
    fastest: tuple[float, float, float] = (0.3, 0.2, 0.6)
    """Commands are drawn up to these speeds: ahead [m/s], aside [m/s], turning [rad/s], and as much the other way."""
    change_every: float = 5.0
    """How long a command lasts [s]."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_known("choice of joints", self.joints, ("legs", "all"))
        check_number("reach", self.reach, 0.001, 3.2, "rad")
        check_number("change_every", self.change_every, 0.02, 1e6, "s")
        if not isinstance(self.residual, bool):
            raise UsageError(f"residual is {self.residual!r}; allowed is True or False.")
        if not isinstance(self.fastest, tuple | list) or len(self.fastest) != 3:
            raise UsageError(f"fastest is {self.fastest!r}; needed are three speeds: ahead, aside, turning.")
        for speed in self.fastest:
            check_number("fastest", speed, 0.0, 3.0, "m/s or rad/s")
        if self.residual:
            check_known("robot", self.robot, GYM_ROBOTS)
            read_walk(self.walk).for_robot(self.robot)
        elif load_robot(self.robot).base != "free":
            raise UsageError(f'{self.robot} is bolted to the ground; a robot that walks has base = "free".')


class WalkVelocityTask:
    """N robots that are to walk at wanted velocities.

    Args:
        options: what was chosen.
        count: how many episodes at once, N.
    """

    def __init__(self, options: WalkVelocityOptions, count: int) -> None:
        self.options, self.bodies = options, RobotBatch(options, count)
        self._walker = self.bodies.walker(read_walk(options.walk)) if options.residual else None
        table = self.bodies.table
        if "torque" in table.drives:
            motor = table.motors[table.drives.index("torque")]
            raise UsageError(
                f"the motor {motor!r} of {options.robot} takes torques, but actions are targets of joints: give it "
                "drives (`nutmeg robots --describe` writes a file with some)."
            )
        self._moved = self._moved_motors(options)
        self.width = len(self._moved)
        self._home = pose_angles(table.settings, table, "ready")[table.motor_joints]
        self._limits = table.limits[table.motor_joints]
        self._lasting = max(round(options.change_every / CONTROL_CYCLE), 1)
        self._plans = np.zeros((count, PLANNED_COMMANDS, 3))
        self._cycle = np.zeros(count, dtype=np.intp)
        self._last = np.zeros((count, self.width))
        self._all = np.arange(count)
        most = np.maximum(np.asarray(options.fastest, float), 1.0)
        phases = [Part("phase", 2, -1.0, 1.0)] if self._walker is not None else []
        own = [Part("last_action", self.width, -1.0, 1.0), Part("command", 3, -most, most), *phases]
        self.layout = Layout([*self.bodies.parts(), *own])
        self._most = most

    def _moved_motors(self, options: WalkVelocityOptions) -> Indices:
        """The motors that actions move, (width,)."""
        table = self.bodies.table
        if options.joints == "all":
            return np.arange(len(table.motors))
        if options.robot in GYM_ROBOTS:
            legs = {name for leg in NaoBody(table).legs.names for name in leg}
        else:
            legs = set(leg_joints(self.bodies.worlds.scene.model, table))
        if not legs:
            raise UsageError(
                f'{options.robot} does not say which bodies are its feet, so its legs are unknown: give joints="all", '
                "or feet = [...] in its robot.toml (`nutmeg robots --describe` writes one)."
            )
        return np.array([i for i, joint in enumerate(table.motor_joints) if table.joints[joint] in legs])

    def begin(self, rows: Indices, generators: Sequence[np.random.Generator], given: Mapping[str, Any]) -> None:
        """Begins episodes anew; `given` may hold a `command` (3,) to keep instead of drawn ones."""
        known_options(given, ("command",))
        first = self.bodies.start(rows, generators)
        if self._walker is not None:
            self._walker.reset(rows)
            self._walker.walk.swing[rows] = first < 0.5
        plans = np.stack([rng.uniform(-1.0, 1.0, (PLANNED_COMMANDS, 3)) for rng in generators]) * self.options.fastest
        self._plans[rows] = plans if "command" not in given else self._command(given["command"])
        self._cycle[rows], self._last[rows] = 0, 0.0

    def _command(self, given: object) -> Floats:
        """A command that was given with a reset, (3,)."""
        try:
            command = np.asarray(given, float)
        except (TypeError, ValueError):
            command = np.full(0, np.nan)
        if command.shape != (3,) or not (np.abs(command) <= self._most).all():
            most = ", ".join(f"{value:g}" for value in self._most)
            raise UsageError(
                f"the command of a reset is {given!r}; needed are m/s ahead, m/s to the left and rad/s to the left, "
                f"at most {most} either way."
            )
        return command

    @property
    def command(self) -> Floats:
        """The velocities that are wanted now, (N, 3) [m/s, m/s, rad/s]."""
        return np.asarray(self._plans[self._all, (self._cycle // self._lasting) % PLANNED_COMMANDS])

    def advance(self, actions: Floats, active: Bools) -> Outcome:
        """Lets the actions act for a cycle of 20 ms, and rewards it."""
        wanted = self.command
        if self._walker is None:
            self._aim(actions)
        else:
            self._walker.wanted[:] = wanted
            self._walker.sample(0.0)
            self._add(actions)
        self.bodies.step(active)
        change = np.square(actions - self._last).mean(axis=1)
        self._last[:] = actions
        self._cycle += 1
        fell = self.bodies.fell.copy()
        error = np.square(self.bodies.velocities() - wanted)
        reward = np.exp(-(error[:, 0] + error[:, 1]) / SPEED_WIDTH**2)
        reward += TURN_SHARE * np.exp(-error[:, 2] / TURN_WIDTH**2) - CHANGE_COST * change - FALL_COST * fell
        return Outcome(reward, fell, np.zeros(len(fell), dtype=bool))

    def _aim(self, actions: Floats) -> None:
        """Commands the motors to go to the targets of actions, around `ready`."""
        targets = np.tile(self._home, (len(actions), 1))
        targets[:, self._moved] += self.options.reach * actions
        np.clip(targets, self._limits[:, 0], self._limits[:, 1], out=targets)
        if self.bodies.velocity_driven.any():
            speeds = (targets - self.bodies.motor_angles()) / CONTROL_CYCLE
            targets = np.where(self.bodies.velocity_driven, speeds, targets)
        self.bodies.robot.command = targets

    def _add(self, actions: Floats) -> None:
        """Adds actions to the commands of the walk."""
        assert self._walker is not None
        commands = np.array(self.bodies.robot.command)
        gain = self._walker.walk.parameters["joint_gain"][:, None] / CONTROL_CYCLE
        further = self.options.reach * actions
        commands[:, self._moved] += np.where(self.bodies.velocity_driven[self._moved], gain * further, further)
        limited = np.clip(commands, self._limits[:, 0], self._limits[:, 1])
        self.bodies.robot.command = np.where(self.bodies.velocity_driven, commands, limited)

    def observe(self) -> Floats32:
        """Observations of the robots, (N, width)."""
        own = {"last_action": self._last, "command": self.command}
        if self._walker is not None:
            own["phase"] = phase(self._walker)
        return self.layout.rows({**self.bodies.sensed(), **own})

    def info(self) -> dict[str, NDArray[Any]]:
        """How the robots really move, (N, 3), and where they are, (N, 3)."""
        return {"velocity": self.bodies.velocities(), "place": self.bodies.robot.pose[:, :3].copy()}
