r"""Get-ups, kicks and dives: N robots that learn to correct a keyframe motion, each in an episode of its own.

    task = GetUpTask("nao-spark", "type0", count=2048, threads=16, seed=1)
    task = KickTask("nao-spark", "type0", count=2048, threads=16, seed=1)
    task = DiveTask("nao-spark", "type0", count=2048, threads=16, seed=1)

An episode is one motion. It begins with a state that robots really came into: walkers that were pushed over and lie
still, or that were stopped to kick or to dive. A store of such states is made once, by the same `Skills` that players
use.

A get-up earns, in a second, the cosine of the torso's tilt and 1.5 times the share of its standing height, and 2 in the
end if the robot stands then and half a second later. While robots succeed, a long motion is played faster, until
it takes `seconds`. With d the way that the ball will have come straight ahead and s the way aside, a kick earns

    0.3 (d - s) - 1 for a fall

where the way is known a moment after the kick: a ball that is let alone flies, bounces and rolls as it must.

A dive earns 1 if a rolling ball does not pass the line on which the robot stood, and pays 1 if it does. The ball would
pass to the left of the robot within a second; the network is told how far to the left, about. The farther and the
sooner it passes, the harder it is, and more so at higher levels.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np

from nutmeg.base.arrays import Floats, Floats32
from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import SimulationError
from nutmeg.learning.courses import ROBOT_NAME, yaw_of
from nutmeg.learning.policies.task import Episode, Rewards, RobotTask, TaskDesign
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.bodies import Mirror
from nutmeg.motion.correction import Correction
from nutmeg.motion.inertial import Lying
from nutmeg.motion.keyframes import (
    KeyframeMotion,
    motion_poses,
    motion_slopes,
    shipped_get_up,
    shipped_get_ups,
    shipped_motion,
    spread_stance,
)
from nutmeg.motion.policy import MOTION_SIGNS, PolicyWalker, legs_of, moved_motors
from nutmeg.motion.skills import Skill, Skills
from nutmeg.motion.walk.files import read_walk
from nutmeg.sim.worlds import Worlds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Indices
    from nutmeg.learning.policies.ppo import Mirrors

WALK = "policy"
"""The walk of the robots whose states are stored."""
STORED = 512
"""How many states are stored."""
WALK_CYCLES, PUSH, AFTER_CYCLES = 60, (1.5, 3.0), 200
"""Cycles of walking before a push or a stop, the push [m/s], and the most cycles until a state is stored."""
STOP_CYCLES = 20
"""How long before a push a robot was told to stop [cycles]."""
SETTLE = (0.08, 0.34)
"""How long a robot has stood before it dives, and at least before it kicks [s]."""
BALL_AWAY = (-3.0, 3.0)
"""Where the ball of a kick is while robots walk [m]."""
TRUTH_MIRROR = tuple((i, sign) for i, sign in enumerate((1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0)))
"""What only the critic sees, in a mirror: the torso's velocity ahead, aside and upward, its height, how far it has
turned, where the ball is and how fast, ahead, aside and (velocity) upward."""
ENOUGH_STOOD, FEW_FALLS, ENOUGH_SAVED = 0.9, 0.1, 0.7
"""The level grows while more than this share of robots stands up, less than this share falls in kicking, or more than
this share of balls is saved."""
COUNTED = ("stood", "distance", "aside", "saved")
"""What episodes count."""
DIVE_SIDE = 0.6
"""How far to the left of a robot the ball passes that its network is told as 0 [m]."""
DIVE_UNSURE = 0.05
"""Standard deviation with which a diving robot knows where the ball will pass [m]."""


@dataclass(frozen=True, kw_only=True)
class MotionRewards(Rewards):
    """What counts, and what differs between episodes."""

    seconds: float = 1.8
    """A motion whose file says that it takes longer is played faster, so that it takes this time at level 1 [s]."""
    tolerance: float = 0.05
    """A ball lies up to this far from its place along each axis at level 1 [m]."""
    unsure: float = 0.01
    """Standard deviation with which the robot knows where it lies [m]."""
    upright: float = 1.0
    """Reward of a second for a torso that is upright."""
    height: float = 1.5
    """Reward of a second for a torso at its standing height."""
    stood: float = 2.0
    """Reward for standing in the end."""
    metre: float = 0.3
    """Reward for each metre that the ball will have come."""
    standing: int = 25
    """For how many cycles a robot must stand after a motion."""
    saved: float = 1.0
    """Reward for a ball that a dive keeps from passing."""
    watched: int = 0
    """How many cycles after it has hit the ball a robot is watched; 0 for until its motion is over."""


@dataclass
class MotionEpisode(Episode):
    """Where one robot is in its episode; compiled code has N of them as records."""

    motion: int
    """Which motion it does: of a get-up 0 from the front and 1 from the back."""
    pace: float
    """How many times as fast as its file says the motion is played."""
    origin: Annotated[Floats, (2,)]
    """Where the torso was then [m]."""
    ball: Annotated[Floats, (2,)]
    """Where the ball was then [m]."""
    start: Annotated[Floats, (32,)]
    """Joint angles at the beginning [rad]; when the motion is over, at its end."""
    hit: int
    """The cycle in which the ball began to move; 0 before."""
    tried: int
    """Episodes that ended since the numbers were last cleared."""
    stood: int
    """How many of them ended standing."""
    distance: float
    """Sum of how far their balls will have come straight ahead [m]."""
    aside: float
    """Sum of how far aside [m]."""
    passes: float
    """When the ball of a dive would pass the robot [s]."""
    saved: int
    """How many balls of these episodes did not pass."""


class MotionPlans(NamedTuple):
    """The M motions of a task, and where the ball is in the engine's arrays."""

    kicks: bool
    """Whether they are kicks."""
    dives: bool
    """Whether they are dives."""
    ball: int
    """Place of the ball in the configuration."""
    ball_rate: int
    """Place of its velocity."""
    assigned: Indices
    """Which motion each robot does, (N,); -1 for that of its first state."""
    places: Floats
    """Where the ball lies best, ahead of the torso and to the left of it, (M, 2) [m]."""
    frames: Indices
    """How many frames each motion has, (M,)."""
    ends: Floats
    """When each frame is reached, (M, frames) [s]."""
    poses: Floats
    """Angles of the moved joints there, (M, frames, moved) [rad]."""
    slopes: Floats
    """What is added to them for each metre that the ball lies farther ahead and to the left, (M, frames, moved, 2)."""


class States(NamedTuple):
    """States of robots in which a motion begins."""

    qpos: Floats
    """(n, nq)."""
    qvel: Floats
    """(n, nv)."""
    motion: Indices
    """Which motion begins there, (n,)."""


class MotionTask(RobotTask):
    """N robots that learn to correct a motion; `GetUpTask`, `KickTask` and `DiveTask` say which.

    Args:
        robot: which robot; it has velocity drives and legs like a Nao's.
        kind: its type; empty for the plain one.
        count: how many robots, N.
        threads: how many threads step them; results are the same.
        seed: of everything random.
        rewards: what counts.
        stored: how many robots walk for the states that episodes begin with.
    """

    task_signs = MOTION_SIGNS
    episode = MotionEpisode
    ball = "none"
    """The ball that lies in the world."""

    def __init__(
        self,
        robot: str,
        kind: str,
        count: int,
        *,
        threads: int = 1,
        seed: int = 0,
        rewards: MotionRewards | None = None,
        stored: int = STORED,
    ) -> None:
        placement = Placement(robot=robot, name=ROBOT_NAME, type=kind)
        scene = assemble(SceneSettings(field="floor", ball=self.ball, robots=(placement,), visuals=False))
        self.correction = Correction(weights={scene.robot(ROBOT_NAME).kind: "weights.npz"})
        """How far the network corrects them."""
        design = TaskDesign(self.correction.gait, rewards or self._usual_rewards(), TRUTH_MIRROR)
        super().__init__(scene, count, design, threads=threads)
        self.motions = self._shipped()
        """The motions that are corrected."""
        self._plans = self._planned()
        self._last_counted = dict.fromkeys(COUNTED, 0.0)
        first, second = np.random.SeedSequence(seed).spawn(2)
        self._walkers_count = stored
        self.stored = self._store(threads, np.random.default_rng(first))
        """The states that episodes begin with."""
        self.reseed(second)
        self.begin(np.arange(count))

    def _usual_rewards(self) -> MotionRewards:
        """What counts if nothing else is said."""
        return MotionRewards()

    def _shipped(self) -> tuple[KeyframeMotion, ...]:
        """The motions that come with Nutmeg for the robot."""
        raise NotImplementedError

    def use(self, motions: Sequence[KeyframeMotion], assigned: Indices | None = None) -> None:
        """Plays other motions from the next episodes on; `assigned` (N,) says which each robot does."""
        self.motions = tuple(motions)
        self._plans = self._planned(assigned)

    def _planned(self, assigned: Indices | None = None) -> MotionPlans:
        table, model, count = self.table, self.scene.model, len(self.motions)
        mirror, moved = Mirror.of(self.scene, table), moved_motors(self.scene, table)
        frames = np.array([len(motion.frame) for motion in self.motions])
        shape = count, int(frames.max())
        ends, poses, slopes = np.zeros(shape), np.zeros((*shape, len(moved))), np.zeros((*shape, len(moved), 2))
        for number, motion in enumerate(self.motions):
            used = slice(frames[number])
            ends[number, used] = np.cumsum([frame.seconds for frame in motion.frame])
            poses[number, used] = motion_poses(motion, table, mirror)[:, moved]
            slopes[number, used] = motion_slopes(motion, table)[:, moved]
        joint = int(model.body("ball").jntadr[0]) if self.scene.has_ball else -1
        return MotionPlans(
            kicks=self.learning == "kick",
            dives=self.learning == "dive",
            ball=int(model.jnt_qposadr[joint]) if joint >= 0 else 0,
            ball_rate=int(model.jnt_dofadr[joint]) if joint >= 0 else 0,
            assigned=np.full(self.count, -1) if assigned is None else assigned,
            places=np.array([motion.ball for motion in self.motions]),
            frames=frames,
            ends=ends,
            poses=poses,
            slopes=slopes,
        )

    def _walkers(self, threads: int, rng: np.random.Generator) -> tuple[Worlds, Skills]:
        """Robots that have walked anywhere for a while."""
        count = self._walkers_count
        worlds = Worlds(self.scene, count, threads=threads)
        if self.scene.has_ball:
            worlds.put_ball(BALL_AWAY)
        table, walk = self.table, read_walk(WALK)
        assert walk.policy is not None
        walker = PolicyWalker(worlds, ROBOT_NAME, walk.policy, period=CONTROL_CYCLE, rng=rng.spawn(1)[0])
        get_ups = shipped_get_ups(table.settings.name, table.kind)
        skills = Skills(worlds, ROBOT_NAME, walker, get_ups, rng=rng.spawn(1)[0])
        skills.wanted[:] = rng.uniform(-1.0, 1.0, (count, 3)) * [0.8, 0.4, 1.0]
        for _ in range(WALK_CYCLES):
            skills.sample(0.0)
            worlds.step(self._steps)
        return worlds, skills

    def _store(self, threads: int, rng: np.random.Generator) -> States:
        """States in which the motion begins."""
        raise NotImplementedError

    def _stopped(self, threads: int, rng: np.random.Generator, *, still: bool) -> States:
        """Walkers that were stopped, a moment after they stand; if `still`, when they rock no more."""
        worlds, skills = self._walkers(threads, rng)
        skills.wanted[:] = 0.0
        settled = rng.uniform(*SETTLE, worlds.count)
        found: list[tuple[Floats, Floats, int]] = []
        stored = np.zeros(worlds.count, dtype=bool)
        for _ in range(AFTER_CYCLES):
            skills.sample(0.0)
            ready = skills.stand_still if still else skills.state == Skill.STAND
            for row in np.flatnonzero(ready & (skills.since >= settled) & ~stored):
                stored[row] = True
                found.append((worlds.qpos[row].copy(), worlds.qvel[row].copy(), 0))
            worlds.step(self._steps)
        return _joined(found)

    def _begin(self, rows: Indices, seen: Floats32) -> None:
        from nutmeg.learning.policies.motion_kernels import begin_motions

        state, robots = (self.worlds.qpos, self.worlds.qvel), (self.episodes, self.states)
        begin_motions(rows, state, self.stored[:], self._records, self._plans, robots, seen)

    def _command(self, rows: slice) -> None:
        from nutmeg.learning.policies.motion_kernels import command_motions

        qpos, ctrl, robots = self.worlds.qpos[rows], self.batch.ctrl[rows], (self.episodes[rows], self.states[rows])
        command_motions(self.action[rows], qpos, self._records, self._plans, robots, ctrl)

    def _judge(self, rows: slice) -> None:
        from nutmeg.learning.policies.motion_kernels import judge_motions

        worlds, robots = self.worlds, (self.episodes[rows], self.states[rows])
        results = self.reward[rows], self.ended[rows], self.truth[rows], self.observation[rows]
        judge_motions(worlds.qpos[rows], worlds.qvel[rows], self._records, self._plans, robots, results)

    def _counted(self) -> dict[str, float]:
        """Shares and means over the episodes that ended since the last call; if none did, those of the call before."""
        episodes = self.episodes
        tried = int(episodes["tried"].sum())
        if not tried:
            return self._last_counted
        found = {name: float(episodes[name].sum()) / tried for name in COUNTED}
        self._last_counted = found
        for name in ("tried", *COUNTED):
            episodes[name] = 0
        return found

    def quickened(self) -> tuple[KeyframeMotion, ...]:
        """The motions as fast as they are played at the present level."""
        from nutmeg.learning.policies.motion_kernels import pace_of

        found = []
        for motion in self.motions:
            pace = pace_of(motion.seconds, self.rewards[0])
            frames = tuple(dataclasses.replace(frame, seconds=frame.seconds / pace) for frame in motion.frame)
            found.append(dataclasses.replace(motion, frame=frames))
        return tuple(found)


class GetUpTask(MotionTask):
    """N robots that learn to get up from the front and from the back."""

    learning = "get-up"

    def _shipped(self) -> tuple[KeyframeMotion, ...]:
        table = self.table
        return tuple(shipped_get_up(table.settings.name, side, table.kind) for side in ("front", "back"))

    def _store(self, threads: int, rng: np.random.Generator) -> States:
        """Walkers that were pushed ahead or back, half of them when they were to stop, when they lie still."""
        worlds, skills = self._walkers(threads, rng)
        count = worlds.count
        skills.wanted[: count // 2] = 0.0
        for _ in range(STOP_CYCLES):
            skills.sample(0.0)
            worlds.step(self._steps)
        rate = self.table.root_rate
        away = yaw_of(worlds.robot(ROBOT_NAME).pose) + np.pi * (np.arange(count) % 2) + rng.normal(0.0, 0.3, count)
        push = rng.uniform(*PUSH, count)[:, None] * np.stack([np.cos(away), np.sin(away)], axis=1)
        worlds.qvel[:, rate : rate + 2] += push
        found: list[tuple[Floats, Floats, int]] = []
        stored = np.zeros(worlds.count, dtype=bool)
        for _ in range(AFTER_CYCLES):
            skills.sample(0.0)
            for row in np.flatnonzero((skills.state == Skill.GET_UP) & ~stored):
                stored[row] = True
                if skills.falls.lying[row] in (Lying.FRONT, Lying.BACK):
                    which = int(skills.falls.lying[row] == Lying.BACK)
                    found.append((worlds.qpos[row].copy(), worlds.qvel[row].copy(), which))
            worlds.step(self._steps)
        return _joined(found)

    def measures(self) -> dict[str, float]:
        """The share of robots that stood in the end."""
        return {"stood": self._counted()["stood"]}

    def mastered(self, found: dict[str, float]) -> bool:
        """Whether nearly all stand up."""
        return found["stood"] > ENOUGH_STOOD


class KickTask(MotionTask):
    """N robots that learn to kick with the left foot."""

    learning = "kick"
    ball = "sim3d"

    def _shipped(self) -> tuple[KeyframeMotion, ...]:
        table = self.table
        hips = legs_of(table).hips
        apart = float(hips[0, 1] - hips[1, 1])
        return (spread_stance(shipped_motion(table.settings.name, "kick", table.kind), table, apart),)

    def mirrors(self) -> Mirrors | None:
        """None: a kick with the left foot is not its own mirror image."""
        return None

    def _store(self, threads: int, rng: np.random.Generator) -> States:
        return self._stopped(threads, rng, still=True)

    def measures(self) -> dict[str, float]:
        """Mean ways of the balls straight ahead and aside [m], and the share of robots that fell."""
        found = self._counted()
        return {"distance": found["distance"], "aside": found["aside"], "fell": 1.0 - found["stood"]}

    def mastered(self, found: dict[str, float]) -> bool:
        """Whether hardly any robot falls."""
        return found["fell"] < FEW_FALLS


class DiveTask(MotionTask):
    """N robots that learn to dive to the left for rolling balls."""

    learning = "dive"
    ball = "sim3d"

    def _shipped(self) -> tuple[KeyframeMotion, ...]:
        table = self.table
        dive = shipped_motion(table.settings.name, "dive", table.kind)
        return (dataclasses.replace(dive, ball=(0.0, DIVE_SIDE)),)

    def _usual_rewards(self) -> MotionRewards:
        return MotionRewards(unsure=DIVE_UNSURE)

    def mirrors(self) -> Mirrors | None:
        """None: a dive to the left is not its own mirror image."""
        return None

    def _store(self, threads: int, rng: np.random.Generator) -> States:
        return self._stopped(threads, rng, still=False)

    def measures(self) -> dict[str, float]:
        """The share of balls that did not pass."""
        return {"saved": self._counted()["saved"]}

    def mastered(self, found: dict[str, float]) -> bool:
        """Whether most balls are saved."""
        return found["saved"] > ENOUGH_SAVED


def _joined(found: Sequence[tuple[Floats, Floats, int]]) -> States:
    if not found:
        raise SimulationError(
            "none of the walkers came into a state in which the motion begins; let more of them walk."
        )
    qpos, qvel, motions = zip(*found, strict=True)
    return States(np.stack(qpos), np.stack(qvel), np.array(motions, dtype=np.intp))
