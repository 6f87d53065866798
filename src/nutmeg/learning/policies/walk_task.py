r"""Walking at wanted velocities: N robots that learn it, each in an episode of its own.

    task = WalkTask("nao-spark", "type0", count=2048, threads=16, seed=1)
    task.advance(actions)                   # 20 ms; `task.RobotTask` says what follows

A robot starts in its stance, a little disturbed. Commands are drawn every one to four seconds: standing, straight
ahead, backward, aside, turning, or any mixture; pushes come every few seconds, and the head looks around. Turns are
commanded as a player commands them: the missing heading is added to the turn rate.

With v the velocity in the robot's frame over the last steps, w its turn rate, v* and w* the wanted ones, and d the
heading that is missing, the reward of a second is

    1.5 (1 - e) + exp(-(|v - v*| / 0.2)^2)          e = |v - v*| / (|v*| + 0.25), at most 1.5
    + 0.8 (exp(-((w - w*) / 0.5)^2) + (1 - f) / 2)  f = |w - w*| / (|w*| + 0.5), at most 1.5
    + 0.5 (exp(-(d / 0.1)^2) - 2 |d|)
    + 0.2 for each foot that is as high as the clock says
    - |tilt|^2 - 0.02 |rates of roll and pitch|^2 - small costs of speeds, actions and arms off their stance

and a fall costs 1. A robot that stands still when it is to walk earns almost nothing of the first line.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from nutmeg.base.arrays import Floats, Floats32
from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.records import new_records, record_values
from nutmeg.learning.courses import ROBOT_NAME
from nutmeg.learning.policies.task import RobotTask
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.policy import Gait, PolicyState, legs_of, mirror_image, policy_table

if TYPE_CHECKING:
    from nutmeg.base.arrays import Indices

TRUTH_MIRROR = ((0, 1.0), (1, -1.0), (2, -1.0), (3, -1.0), (4, 1.0), (5, 1.0), (7, 1.0), (6, 1.0))
"""What only the critic sees, in a mirror (place and sign): velocities ahead, aside and in turning, missing heading,
velocity upward, height, heights of the feet."""
MOST_FALLS, MOST_ERROR = 6.0, 0.42
"""The level grows while robots fall less than so often a minute, and miss their velocities by less than this share."""


@dataclass(frozen=True, kw_only=True)
class WalkRewards:
    """What is commanded, what counts, and what disturbs."""

    fastest: tuple[float, float, float] = (1.6, 1.0, 2.4)
    """Commands are drawn up to these velocities: ahead, aside, turning [m/s, m/s, rad/s]."""
    back: float = 1.0
    """And up to this speed backward [m/s]."""
    level: float = 0.3
    """The share of these velocities, and of the pushes, that is used by now."""
    push: float = 0.4
    """A push changes the velocity of the torso by up to this [m/s]."""
    noise: float = 0.05
    """Standard deviation of the gyro's noise [rad/s]."""
    follow: float = 1.5
    """Reward of a second for going at about the wanted velocity."""
    exact: float = 1.0
    """Reward of a second for going at it exactly."""
    turn: float = 0.8
    """Reward of a second for turning at the wanted rate."""
    heading: float = 0.5
    """Reward of a second for the heading."""
    feet: float = 0.4
    """Reward of a second for feet that are as high as the clock says."""
    tilt: float = 1.0
    """Cost of a second at a tilt of which the sine is 1."""
    rates: float = 0.02
    """Cost of a second at a roll or pitch rate of 1 rad/s."""
    action: float = 0.002
    """Cost of a second of actions of size 1."""
    arms: float = 0.05
    """Cost of a second for each joint of the arms that is 1 rad off its stance."""
    fall: float = 1.0
    """Cost of a fall."""
    stand_height: float = 0.35
    """Height of the torso in the stance [m]; the task takes it from the robot."""


@dataclass
class WalkEpisode:
    """Where one robot is in its episode; compiled code has N of them as records."""

    seed: np.uint64
    """State of the robot's own random numbers."""
    cycle: int
    """Cycles since it began."""
    ends: int
    """The cycle at which it is over."""
    change: int
    """The cycle at which another command is drawn."""
    push: int
    """The cycle at which it is pushed."""
    command: Annotated[Floats, (3,)]
    """Wanted velocities [m/s, m/s, rad/s]."""
    still: bool
    """Whether it is to stand."""
    heading: float
    """The heading that it should have [rad]."""
    yaw: float
    """The heading that it has [rad]."""
    velocity: Annotated[Floats, (3,)]
    """Velocities in its frame, averaged over the last steps."""
    last: Annotated[Floats, (3,)]
    """Velocity of the torso a cycle ago, in the world's frame [m/s]."""
    head: Annotated[Floats, (2,)]
    """Where the head looks: angles of the neck [rad]."""
    pending: Annotated[Floats, (32,)]
    """Speeds that were commanded and act in the next cycle [rad/s]."""
    error: float
    """Sum of e over the cycles since it was last cleared."""
    turn_error: float
    """Sum of |w - w*| since then [rad/s]."""
    falls: int
    """Falls since then."""
    counted: int
    """The number of these cycles."""


class WalkTask(RobotTask):
    """N robots that learn to walk.

    Args:
        robot: which robot; it has velocity drives and legs like a Nao's.
        kind: its type; empty for the plain one.
        count: how many robots, N.
        threads: how many threads step them; results are the same.
        seed: of everything random.
        gait: how actions become motions.
        rewards: what is commanded, and what counts.
    """

    learning = "walk"

    def __init__(
        self,
        robot: str,
        kind: str,
        count: int,
        *,
        threads: int = 1,
        seed: int = 0,
        gait: Gait | None = None,
        rewards: WalkRewards | None = None,
    ) -> None:
        placement = Placement(robot=robot, name=ROBOT_NAME, type=kind)
        scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))
        table = scene.robot(ROBOT_NAME)
        super().__init__(scene, count, threads=threads, image=mirror_image(scene, table), truth=TRUTH_MIRROR)
        self._policy = policy_table(scene, table, gait or Gait(), CONTROL_CYCLE)
        self._legs = legs_of(table)
        height = float(scene.start[table.root + 2])
        self.rewards = record_values(dataclasses.replace(rewards or WalkRewards(), stand_height=height))
        """Record of `WalkRewards`, (1,)."""
        self.states = new_records(PolicyState, count)
        self.episodes = new_records(WalkEpisode, count)
        self.reseed(np.random.SeedSequence(seed))
        self.begin(np.arange(count))

    def reseed(self, seeds: np.random.SeedSequence) -> None:
        """Gives every robot other random numbers."""
        self.episodes["seed"] = seeds.generate_state(self.count, np.uint64)

    def use_level(self, level: float) -> None:
        """The share of the highest velocities, and of the pushes, that is used from now on."""
        self.rewards["level"] = level

    def begin(self, rows: Indices) -> None:
        """Begins episodes `rows` (n,) anew."""
        from nutmeg.learning.policies.walk_kernels import begin_walks, observe_robots

        if len(rows):
            self.worlds.reset(rows)
            body = self._addresses, self._policy, self.rewards
            begin_walks(rows, self.worlds.qpos, self.worlds.qvel, body, self.episodes, self.states)
            seen = self.observation[rows]
            observe_robots(self.states[rows], self._policy, seen)
            self.observation[rows], self.truth[rows] = seen, 0.0

    def _command(self, actions: Floats32, rows: slice) -> None:
        from nutmeg.learning.policies.walk_kernels import command_walks

        body = self._addresses, self._policy, self.rewards
        command_walks(
            actions, self.worlds.qpos[rows], body, self.episodes[rows], self.states[rows], self._commands[rows]
        )

    def _judge(self, rows: slice) -> None:
        from nutmeg.learning.policies.walk_kernels import judge_walks

        worlds, body = self.worlds, (self._addresses, self._policy, self.rewards)
        results = self.reward[rows], self.ended[rows], self.cut[rows], self.truth[rows], self.observation[rows]
        judge_walks(
            worlds.qpos[rows],
            worlds.qvel[rows],
            body,
            self._legs.record,
            self.episodes[rows],
            self.states[rows],
            results,
        )

    def measures(self) -> dict[str, float]:
        """Falls of a robot in a minute, mean e and mean |w - w*| since the last call."""
        episodes = self.episodes
        cycles = max(int(episodes["counted"].sum()), 1)
        found = {
            "falls": float(episodes["falls"].sum()) / (cycles * CONTROL_CYCLE / 60),
            "error": float(episodes["error"].sum()) / cycles,
            "turn_error": float(episodes["turn_error"].sum()) / cycles,
        }
        for name in ("error", "turn_error", "counted", "falls"):
            episodes[name] = 0
        return found

    def mastered(self, found: dict[str, float]) -> bool:
        """Whether robots hardly fall and follow their commands."""
        return found["falls"] < MOST_FALLS and found["error"] < MOST_ERROR
