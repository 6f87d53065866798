r"""Walking at wanted velocities: N robots that learn it, each in an episode of its own.

    task = WalkTask("nao-spark", "type0", count=2048, threads=16, seed=1)
    task.observation, task.truth            # (N, ...): what the network sees, and what only the critic does
    task.advance(actions)                   # 20 ms; then task.reward (N,), task.fell (N,), task.over (N,)
    task.begin(np.flatnonzero(task.fell | task.over))

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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from nutmeg.base.arrays import Bools, Floats, Floats32
from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.records import new_records, record_values
from nutmeg.learning.courses import ROBOT_NAME
from nutmeg.learning.policies.ppo import Mirrors
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.policy import Gait, PolicyState, legs_of, mirror_image, moved_motors, policy_table
from nutmeg.sim.worlds import Worlds, steps_in

if TYPE_CHECKING:
    from nutmeg.base.arrays import Indices

TRUTH_SIGNS = (1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0)
"""Signs in a mirror of what only the critic sees: velocities ahead, aside and in turning, missing heading, velocity
upward, height, heights of the feet."""
TRUTH_PARTNERS = (0, 1, 2, 3, 4, 5, 7, 6)
"""Where each of these is in a mirror: the feet change places."""
CHUNKS_A_THREAD = 2
"""Into how many parts the robots of a thread are cut, so that threads end at about the same time."""


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
    counted: int
    """The number of these cycles."""


@dataclass(frozen=True)
class BodyAddresses:
    """Where a robot's numbers are in the engine's arrays; compiled code has it as a record."""

    root: int
    """Place of the torso in the configuration."""
    rate: int
    """Place of its velocity."""
    moved: Annotated[Floats, (32,)]
    """Places of the angles of the motors that the policy moves."""
    other_count: int
    """How many other motors there are: neck, then toes."""
    others: Annotated[Floats, (4,)]
    """Places of their angles."""
    moved_motors: Annotated[Floats, (32,)]
    """The motors that the policy moves."""
    other_motors: Annotated[Floats, (4,)]
    """The others."""
    legs: Annotated[Floats, (2, 6)]
    """Places of the angles of the legs, from the hip down, left before right."""


class WalkTask:
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
        self.scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))
        self.worlds = Worlds(self.scene, count, threads=threads)
        self._robot = self.worlds.robot(ROBOT_NAME)
        table = self._robot.table
        self._steps = steps_in(CONTROL_CYCLE, self.scene.timestep)
        self._policy = policy_table(self.scene, table, gait or Gait(), CONTROL_CYCLE)
        self._legs = legs_of(table)
        self._addresses = self._find(len(moved_motors(table)))
        height = float(self.scene.start[table.root + 2])
        self.rewards = record_values(dataclasses.replace(rewards or WalkRewards(), stand_height=height))
        """Record of `WalkRewards`, (1,); `level` may be changed."""
        self.states = new_records(PolicyState, count)
        self.episodes = new_records(WalkEpisode, count)
        self.episodes["seed"] = np.random.SeedSequence(seed).generate_state(count, np.uint64)
        self.image = mirror_image(self.scene, table)
        self.actions = len(self.image.action)
        """How many numbers an action has."""
        self.observation: Floats32 = np.zeros((count, len(self.image.observation)), np.float32)
        """What the network sees, (N, observations)."""
        self.truth: Floats32 = np.zeros((count, len(TRUTH_SIGNS)), np.float32)
        """What only the critic sees, (N, truths)."""
        self.reward: Floats32 = np.zeros(count, np.float32)
        """Of the last cycle, (N,)."""
        self.fell: Bools = np.zeros(count, dtype=bool)
        """Episodes that ended with a fall in the last cycle, (N,)."""
        self.over: Bools = np.zeros(count, dtype=bool)
        """Episodes whose time was over after the last cycle, (N,)."""
        self._commands = np.zeros((count, len(table.motors)))
        parts = np.array_split(np.arange(count), threads * CHUNKS_A_THREAD)
        self._chunks = [slice(int(part[0]), int(part[-1]) + 1) for part in parts if len(part)]
        self._pool = ThreadPoolExecutor(threads)
        self.begin(np.arange(count))

    def _find(self, width: int) -> np.ndarray:
        """The record of `BodyAddresses`, (1,)."""
        table = self._robot.table
        moved = moved_motors(table)
        others = np.setdiff1d(np.arange(len(table.motors)), moved)
        place = table.angles[table.motor_joints]
        rows = {name: np.zeros(size) for name, size in (("moved", 32), ("moved_motors", 32))}
        rows["moved"][:width], rows["moved_motors"][:width] = place[moved], moved
        few = {name: np.zeros(4) for name in ("others", "other_motors")}
        few["others"][: len(others)], few["other_motors"][: len(others)] = place[others], others
        legs = np.array([[table.angles[table.joints.index(name)] for name in leg] for leg in self._legs.names], float)
        return record_values(
            BodyAddresses(root=table.root, rate=table.root_rate, other_count=len(others), legs=legs, **rows, **few)
        )

    @property
    def count(self) -> int:
        """How many robots there are, N."""
        return len(self.states)

    def mirrors(self) -> Mirrors:
        """How experience looks in a mirror."""
        truth = np.array(TRUTH_PARTNERS), np.array(TRUTH_SIGNS, np.float32)
        return Mirrors(self.image[:2], truth, self.image[2:])

    def begin(self, rows: Indices) -> None:
        """Begins episodes `rows` (n,) anew."""
        from nutmeg.learning.policies.walk_kernels import begin_walks

        if len(rows):
            self.worlds.reset(rows)
            body = self._addresses, self._policy, self.rewards
            begin_walks(rows, self.worlds.qpos, self.worlds.qvel, body, self.episodes, self.states)
            self._observe(rows)

    def _observe(self, rows: Indices) -> None:
        from nutmeg.learning.policies.walk_kernels import observe_robots

        seen = self.observation[rows]
        observe_robots(self.states[rows], self._policy, seen)
        self.observation[rows], self.truth[rows] = seen, 0.0

    def advance(self, actions: Floats32) -> None:
        """Lets a cycle of 20 ms pass, (N, actions)."""
        from nutmeg.learning.policies.walk_kernels import command_walks, judge_walks

        qpos, qvel, states, episodes = self.worlds.qpos, self.worlds.qvel, self.states, self.episodes
        body = self._addresses, self._policy, self.rewards

        def command(rows: slice) -> None:
            command_walks(actions[rows], qpos[rows], body, episodes[rows], states[rows], self._commands[rows])

        def judge(rows: slice) -> None:
            results = self.reward[rows], self.fell[rows], self.over[rows], self.truth[rows], self.observation[rows]
            judge_walks(qpos[rows], qvel[rows], body, self._legs.record, episodes[rows], states[rows], results)

        list(self._pool.map(command, self._chunks))
        self._robot.command = self._commands
        self.worlds.step(self._steps)
        list(self._pool.map(judge, self._chunks))
        broken = self.worlds.diverged()
        if broken.any():  # a world that broke down ends as a fall does, and nothing of it is learned from
            self.fell[broken], self.reward[broken] = True, -self.rewards["fall"][0]
            self.observation[broken], self.truth[broken] = 0.0, 0.0

    def errors(self) -> tuple[float, float]:
        """Mean e and |w - w*| since the last call."""
        episodes = self.episodes
        cycles = max(int(episodes["counted"].sum()), 1)
        found = float(episodes["error"].sum()) / cycles, float(episodes["turn_error"].sum()) / cycles
        for name in ("error", "turn_error", "counted"):
            episodes[name] = 0
        return found

    def close(self) -> None:
        """Ends the threads."""
        self._pool.shutdown()
