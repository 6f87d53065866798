r"""Dribbling: N robots that learn to steer a walk so that they bring a ball into a wanted direction.

    task = DribbleTask("nao-spark", "type0", count=512, seed=1)
    task.advance(actions)                   # 80 ms: the network decides every four cycles

A robot starts behind a ball that lies a few decimetres away, or rolls slowly, and is asked to bring it into a direction
that changes every few seconds. The harder it is (`level`), the more it has to walk around the ball first. The network
steers a walk with a policy (`motion.dribble`), which keeps gait and balance. It knows the ball from sightings in every
third cycle, as a player of a match does: for some hundredths of a second it does not know that it has touched the ball.

With b the velocity of the ball along the wanted direction and s that to the side of it, the reward of a second is

    b - 0.5 |s| - small costs of actions

and a fall costs 3, a ball that is farther than 1.2 m away 2; either ends the episode. Who stands earns nothing. On its
way to the ball a robot is paid for coming nearer to the place behind it, and pays as much for leaving it, so that this
alone earns hardly anything (Ng, Harada and Russell, 1999).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UsageError
from nutmeg.learning.courses import ROBOT_NAME, in_robot_frame, yaw_of
from nutmeg.learning.policies.task import FALLEN_HEIGHT, FALLEN_UP, Rewards, RobotTask, TaskDesign
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.dribble import DECISION_CYCLES, asked_velocities, mirror_of_dribbling, observe_dribbling
from nutmeg.motion.policy import PolicyWalker
from nutmeg.motion.walk.files import read_walk

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Floats32, Indices
    from nutmeg.motion.policy import MirrorImage

TRUTH_MIRROR = tuple((i, sign) for i, sign in enumerate((1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0)))
"""What only the critic sees, in a mirror: the ball's true place and velocity, the torso's velocity, and its height."""
EPISODE_DECISIONS = (40, 125)
"""Episodes last between so many decisions."""
CHANGE_DECISIONS = (35, 75)
"""Another direction is wanted after so many."""
BALL_DISTANCE = (0.2, 0.8)
"""How far the ball lies from the torso at the beginning [m]."""
SIGHT_CYCLES = 3
"""Cycles from one sighting of the ball to the next; its velocity is known from the last two."""
LOST_DISTANCE = 1.2
"""A ball that is farther away is lost [m]."""
BEHIND_DISTANCE = 0.15
"""How far behind the ball a robot should be [m]."""
ENOUGH_SPEED, MAX_LOSSES = 0.45, 4.0
"""The level grows while balls come faster than this [m/s], and fewer falls and lost balls come in a minute."""
COUNTED = ("way", "falls", "lost", "seconds")
"""What is counted: the way of balls along the wanted direction [m], falls, lost balls, and time [s]."""


@dataclass(frozen=True, kw_only=True)
class DribbleRewards(Rewards):
    """What counts, and what differs between episodes."""

    fall: float = 3.0
    """Cost of a fall."""
    lost: float = 2.0
    """Cost of a ball that is lost."""
    aside: float = 0.5
    """Cost of each metre that the ball rolls to a side."""
    behind: float = 0.5
    """What coming a metre nearer to the place behind the ball is worth."""
    around: tuple[float, float] = (0.4, 1.6)
    """How far the wanted direction is at most from that to the ball at level 0 and at level 1 [rad]."""
    change: float = 1.0
    """By how much the wanted direction changes at most at level 1 [rad]."""
    rolls: float = 0.5
    """How fast the ball rolls at most at the beginning at level 1 [m/s]."""
    unsure: tuple[float, float] = (0.007, 0.08)
    """Standard deviations with which place [m] and velocity [m/s] of the ball are known, beside the errors that come
    from late sightings."""


class DribbleTask(RobotTask):
    """N robots that learn to dribble.

    Args:
        robot: which robot.
        kind: its type; empty for the plain one.
        count: how many robots, N.
        walk: the walk that is steered; it has a policy of the robot.
        threads: how many threads step them; results are the same.
        seed: of everything random.
        rewards: what counts.
    """

    learning = "dribble"
    period = DECISION_CYCLES * CONTROL_CYCLE

    def __init__(
        self,
        robot: str,
        kind: str,
        count: int,
        *,
        walk: str = "policy",
        threads: int = 1,
        seed: int = 0,
        rewards: DribbleRewards | None = None,
    ) -> None:
        placement = Placement(robot=robot, name=ROBOT_NAME, type=kind)
        scene = assemble(SceneSettings(field="floor", ball="sim3d", robots=(placement,), visuals=False))
        policy = read_walk(walk, robot).for_robot(robot).policy
        if policy is None:
            raise UsageError(f"the walk {walk!r} has no policy, which dribbling steers; policy and policy-fast have.")
        super().__init__(
            scene, count, TaskDesign(policy.gait, rewards or DribbleRewards(), TRUTH_MIRROR), threads=threads
        )
        self._rng, self._sensor_rng = (np.random.default_rng([seed, which]) for which in range(2))
        self.walker = PolicyWalker(self.worlds, ROBOT_NAME, policy, period=CONTROL_CYCLE, rng=self._sensor_rng)
        """The walk that is steered."""
        model = scene.model
        joint = int(model.body("ball").jntadr[0])
        self._ball_rate = int(model.jnt_dofadr[joint])
        self._robot = self.worlds.robot(ROBOT_NAME)
        self.direction: Floats = np.zeros(count)
        """The wanted direction of each ball on the ground, (N,) [rad]."""
        self.known: tuple[Floats, Floats, Floats] = np.zeros((count, 2)), np.zeros((count, 2)), np.zeros(count)
        """What the robots know of `truth_of_balls`."""
        self.way: Floats = np.zeros(count)
        """How far the balls have come along the wanted directions since the last action, (N,) [m]."""
        self.fell: Bools = np.zeros(count, dtype=bool)
        """The robots that had fallen after the last action, (N,)."""
        self._past: Floats = np.zeros((2 * SIGHT_CYCLES, count, 2))
        """Places of the balls in the last cycles, oldest first."""
        self._decisions, self._ends, self._changes = (np.zeros(count, np.intp) for _ in range(3))
        self._counted = dict.fromkeys(COUNTED, 0.0)
        self.begin(np.arange(count))

    def _mirror(self) -> MirrorImage:
        return mirror_of_dribbling()

    def reseed(self, seeds: np.random.SeedSequence) -> None:
        """Gives the robots other random numbers."""
        for rng, seed in zip((self._rng, self._sensor_rng), seeds.spawn(2), strict=True):
            rng.bit_generator.state = np.random.PCG64(seed).state

    @property
    def _ball(self) -> tuple[Floats, Floats]:
        """Places and velocities of the balls on the ground, (N, 2) each."""
        assert self.worlds.ball is not None
        return self.worlds.ball[:, :2], self.worlds.qvel[:, self._ball_rate : self._ball_rate + 2]

    def truth_of_balls(self) -> tuple[Floats, Floats, Floats]:
        """In the robots' frames: places and velocities of the balls, (N, 2) each, and the wanted directions (N,)."""
        pose, (place, velocity) = self._robot.pose, self._ball
        yaw = yaw_of(pose)
        return in_robot_frame(place - pose[:, :2], yaw), in_robot_frame(velocity, yaw), self.direction - yaw

    def _begin(self, rows: Indices, seen: Floats32) -> None:
        rng, r, count = self._rng, self.rewards[0], len(rows)
        heading, bearing = rng.uniform(-np.pi, np.pi, count), rng.uniform(-0.6, 0.6, count)
        pose, root = self._robot.pose, self.table.root
        half = heading / 2
        self.worlds.qpos[rows, root + 3], self.worlds.qpos[rows, root + 6] = np.cos(half), np.sin(half)
        low, high = r.around
        around = (low + r.level * (high - low)) * rng.uniform(-1.0, 1.0, count)
        self.direction[rows] = heading + bearing + around
        place, velocity = self._ball  # live
        place[rows] = pose[rows, :2] + rng.uniform(*BALL_DISTANCE, count)[:, None] * _towards(heading + bearing)
        rolling = r.level * r.rolls * rng.uniform(0.0, 1.0, count)
        velocity[rows] = rolling[:, None] * _towards(rng.uniform(-np.pi, np.pi, count))
        ago = CONTROL_CYCLE * np.arange(len(self._past))[::-1]
        self._past[:, rows] = place[rows] - ago[:, None, None] * velocity[rows]
        self.walker.wanted[rows] = 0.0
        self.walker.reset(rows)
        self.walker.walk.swing[rows] = rng.integers(0, 2, count)
        self.action[rows] = 0.0
        self._decisions[rows] = 0
        self._ends[rows] = rng.integers(*EPISODE_DECISIONS, count)
        self._changes[rows] = rng.integers(*CHANGE_DECISIONS, count)
        seen[:] = self._observed(rows)[rows]

    def _observed(self, rows: Indices) -> Floats32:
        """What the networks see after robots `rows` have looked; they know the ball about as well as a player does.

        The others know what they knew: their rule must go by the place that their networks have seen.
        """
        late = self._rng.integers(0, SIGHT_CYCLES, len(rows))  # cycles since the last sighting
        last = len(self._past) - 1 - late
        seen = self._past[last, rows]
        rolls = (seen - self._past[last - SIGHT_CYCLES, rows]) / (SIGHT_CYCLES * CONTROL_CYCLE)
        pose = self._robot.pose[rows]
        yaw = yaw_of(pose)
        balls = seen + rolls * (late * CONTROL_CYCLE)[:, None] - pose[:, :2], rolls
        for known, value, error in zip(self.known[:2], balls, self.rewards[0].unsure, strict=True):
            known[rows] = in_robot_frame(value, yaw) + error * self._rng.standard_normal(value.shape)
        self.known[2][rows] = self.direction[rows] - yaw
        return observe_dribbling(self.walker, *self.known, self.action)

    def _behind(self) -> Floats:
        """How far the robots are from the places behind their balls, (N,) [m]."""
        goal = self._ball[0] - BEHIND_DISTANCE * _towards(self.direction) - self._robot.pose[:, :2]
        return np.asarray(np.hypot(*goal.T))

    def advance(self, actions: Any) -> None:  # noqa: ANN401
        """Lets the robots walk for 80 ms as their actions (N, 3) ask."""
        self.action[:] = actions
        before, far, (ball, _, direction) = self._ball[0].copy(), self._behind(), self.known
        self.walker.wanted[:] = asked_velocities(self.walker, ball, direction, self.action)
        self._walk()
        with np.errstate(invalid="ignore"):
            self._reward(self._ball[0] - before, far)
        self._give_up(self.worlds.diverged())

    def _walk(self) -> None:
        """Lets the robots walk until the next action."""
        for _ in range(DECISION_CYCLES):
            self.walker.sample(0.0)
            self._step()

    def _step(self) -> None:
        """Simulates a cycle, and notes where the ball is then, from which its sightings come late."""
        self.worlds.step(self._steps)
        self._past[:-1] = self._past[1:]
        self._past[-1] = self._ball[0]

    def _reward(self, way: Floats, far: Floats) -> None:
        """Fills rewards, ends, and what is seen, after the balls have come some way (N, 2) [m]."""
        r, pose, velocity = self.rewards[0], self._robot.pose, self._robot.velocity
        self.fell[:] = (self._robot.uprightness() < FALLEN_UP) | (pose[:, 2] < FALLEN_HEIGHT * r.stand_height)
        ball, rolls, _ = self.truth_of_balls()
        lost = (np.hypot(*ball.T) > LOST_DISTANCE) & ~self.fell
        self.way[:], aside = in_robot_frame(way, self.direction).T
        nearer = far - self._behind()
        self.reward[:] = self.way - r.aside * np.abs(aside) + r.behind * nearer - r.fall * self.fell - r.lost * lost
        self.reward -= r.action * self.period * (self.action**2).mean(axis=1)
        self._decisions += 1
        self.ended[:] = self.fell | lost
        self.cut[:] = (self._decisions >= self._ends) & ~self.ended
        for name, value in zip(
            COUNTED, (np.nansum(self.way), self.fell.sum(), lost.sum(), self.count * self.period), strict=True
        ):
            self._counted[name] += float(value)
        change = np.flatnonzero(self._decisions >= self._changes)
        self.direction[change] += r.level * r.change * self._rng.uniform(-1.0, 1.0, len(change))
        self._changes[change] += self._rng.integers(*CHANGE_DECISIONS, len(change))
        torso = in_robot_frame(velocity[:, :2], yaw_of(pose))
        self.truth[:] = np.concatenate([np.clip(ball, -2, 2), np.clip(rolls, -3, 3), torso, pose[:, 2:3]], axis=1)
        self.observation[:] = self._observed(np.arange(self.count))

    def measures(self) -> dict[str, float]:
        """Speed of balls along the wanted direction [m/s], falls and lost balls in a minute, since the last call."""
        counted, self._counted = self._counted, dict.fromkeys(COUNTED, 0.0)
        seconds = max(counted["seconds"], 1e-9)
        return {
            "speed": counted["way"] / seconds,
            "falls": 60 * counted["falls"] / seconds,
            "lost": 60 * counted["lost"] / seconds,
        }

    def mastered(self, found: dict[str, float]) -> bool:
        """Whether balls come fast, and hardly any robot falls or loses them."""
        return found["speed"] > ENOUGH_SPEED and found["falls"] + found["lost"] < MAX_LOSSES


def _towards(angles: Floats) -> Floats:
    """Unit vectors, (n, 2)."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)
