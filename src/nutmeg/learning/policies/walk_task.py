r"""Walking at wanted velocities: N robots that learn it, each in an episode of its own.

    task = WalkTask(walk_scene("nao-spark", "type0"), count=2048, threads=16, seed=1)
    task.advance(actions)                   # 20 ms; `task.RobotTask` says what follows

Any robot with legs can learn it. It starts in its stance, a little disturbed. Commands are drawn every one to four
seconds: standing, straight ahead, backward, aside, turning, or any mixture; pushes come every few seconds, and the head
looks around. Turns are commanded as a player commands them: the missing heading is added to the turn rate.

With v the velocity in the robot's frame over the last steps, w its turn rate, v* and w* the wanted ones, and d the
heading that is missing, the reward of a second is

    1.5 (1 - e) + exp(-(|v - v*| / 0.125 V)^2)          e = |v - v*| / (|v*| + 0.15 V), at most 1.5
    + (1 - 0.7 min(e, 1)) (                             V the highest speed ahead
        0.8 (exp(-((w - w*) / 0.5)^2) + (1 - f) / 2)    f = |w - w*| / (|w*| + 0.5), at most 1.5
        + 0.5 (exp(-(d / 0.1)^2) - 2 |d|)
        + 0.4 / feet for each foot that is as high as the clock says)
    - |tilt|^2 - 0.02 |rates of roll and pitch|^2 - small costs of speeds, actions and arms off their stance

and a fall costs 1. Without the factor of the second line a T1 learned within a million cycles to step and turn on the
spot without ever falling, and nothing else in the next five million. Robots that are commanded angles earn 2.5 (1 - e),
and 1.2 for their feet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import mujoco
import numpy as np

from nutmeg.base.arrays import Floats, Floats32
from nutmeg.base.constants import CONTROL_CYCLE, STANDARD_GRAVITY
from nutmeg.learning.courses import ROBOT_NAME
from nutmeg.learning.policies.task import Episode, Rewards, RobotTask, Variation
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.legs.feet import find_feet
from nutmeg.motion.policy import WALK_SIGNS, Gait, commands_angles, legs_of

if TYPE_CHECKING:
    from nutmeg.base.arrays import Indices
    from nutmeg.model.scene import Scene

TRUTH_SIGNS = (1.0, -1.0, -1.0, -1.0, 1.0, 1.0)
"""Signs in a mirror of what only the critic sees before the heights of the feet: velocities ahead, aside and in
turning, missing heading, velocity upward, height."""
MAX_DENSE = 60
"""The engine's matrices are dense below this many degrees of freedom."""
MOST_FALLS, MOST_ERROR = 6.0, 0.42
"""The level grows while robots fall less than so often a minute, and miss their velocities by less than this share."""


@dataclass(frozen=True, kw_only=True)
class WalkRewards(Rewards):
    """What is commanded, what counts, and what disturbs."""

    fastest: tuple[float, float, float] = (1.6, 1.0, 2.4)
    """Commands are drawn up to these velocities: ahead, aside, turning [m/s, m/s, rad/s]."""
    back: float = 1.0
    """And up to this speed backward [m/s]."""
    level: float = 0.3
    """The share of these velocities, and of the pushes, that is used by now."""
    push: float = 0.4
    """A push changes the velocity of the torso by up to this [m/s]."""
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
    arms: float = 0.05
    """Cost of a second for each joint of the arms that is 1 rad off its stance."""
    foot_height: float = 0.035
    """How high a swinging foot should be [m]."""


@dataclass
class WalkEpisode(Episode):
    """Where one robot is in its episode; compiled code has N of them as records."""

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
    velocity: Annotated[Floats, (3,)]
    """Velocities in its frame, averaged over the last steps."""
    error: float
    """Sum of e over the cycles since it was last cleared."""
    turn_error: float
    """Sum of |w - w*| since then [rad/s]."""
    falls: int
    """Falls since then."""
    counted: int
    """The number of these cycles."""


def walk_scene(robot: str, kind: str = "", actuation: str = "ideal") -> Scene:
    """A floor with the robot that learns."""
    placement = Placement(robot=robot, name=ROBOT_NAME, type=kind, actuation=actuation)
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))
    # One robot has few enough joints for Newton's method with dense matrices, which agrees with conjugate gradients
    # and takes 0.63 of their time on a T1 (see `Physics.solver`).
    if scene.model.opt.solver == mujoco.mjtSolver.mjSOL_CG and scene.model.nv < MAX_DENSE:
        scene.model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    return scene


def usual_walk(scene: Scene) -> tuple[Gait, WalkRewards]:
    """The gait and the commands that a robot learns with if nothing else is said.

    Robots that are commanded angles walk as pendulums of their legs' length h do: a stride takes 0.68 s sqrt(h / 1 m),
    of four legs 0.83, and the highest speed is half of sqrt(g h), above which a walk becomes a run. The clock draws two
    legs up by so little (0.05 h) that a T1 whose network does nothing stays on its feet for some seconds; with 0.1 h it
    falls within one, because nothing shifts its weight to the other foot. Four legs stand on two of them for a moment,
    and soft drives need more (0.15 h) to lift a foot at all. Feet are to rise by 0.08 h, and earn more than a Nao's:
    robots that keep them on the ground never learn to walk.
    """
    table = scene.robot(ROBOT_NAME)
    if not commands_angles(table):
        return Gait(), WalkRewards()
    feet = find_feet(scene, table)
    legs, two = feet.hip_height, len(feet.bodies) == 2
    speed, step = round(0.5 * math.sqrt(STANDARD_GRAVITY * legs), 1), 2 * CONTROL_CYCLE
    stride = round((0.68 if two else 0.83) * math.sqrt(legs) / step) * step
    gait = Gait(reach=0.2, gain=0.5, stride=round(stride, 2), lift=0.15 if two else 0.45)
    return gait, WalkRewards(
        fastest=(speed, round(0.6 * speed, 2), 1.5),
        back=round(0.7 * speed, 2),
        follow=2.5,
        feet=1.2,
        foot_height=round(0.08 * legs, 3),
    )


class WalkTask(RobotTask):
    """N robots that learn to walk.

    Args:
        scene: a floor with the robot, of `walk_scene`.
        count: how many robots, N.
        threads: how many threads step them; results are the same.
        seed: of everything random.
        gait: how actions become motions; `usual_walk` if left out.
        rewards: what is commanded, and what counts; `usual_walk` if left out.
        variation: how much bodies differ, of robots that are commanded angles.
    """

    learning = "walk"
    told = WALK_SIGNS
    episode = WalkEpisode

    def __init__(
        self,
        scene: Scene,
        count: int,
        *,
        threads: int = 1,
        seed: int = 0,
        gait: Gait | None = None,
        rewards: WalkRewards | None = None,
        variation: Variation | None = None,
    ) -> None:
        table = scene.robot(ROBOT_NAME)
        usual, position, feet = usual_walk(scene), commands_angles(table), find_feet(scene, table)
        truth = [*enumerate(TRUTH_SIGNS), *((len(TRUTH_SIGNS) + partner, 1.0) for partner in feet.partners)]
        legs = feet.joints if position else frozenset(name for leg in legs_of(table).names for name in leg)
        super().__init__(
            scene,
            count,
            threads=threads,
            gait=gait or usual[0],
            rewards=rewards or usual[1],
            truth=truth,
            legs=legs,
        )
        self._feet = feet.record
        seeds = np.random.SeedSequence(seed)
        if position:
            self.vary(variation or Variation(), np.random.default_rng([seed, 1]))
        self.reseed(seeds)
        self.begin(np.arange(count))

    def _begin(self, rows: Indices, seen: Floats32) -> None:
        from nutmeg.learning.policies.walk_kernels import begin_walks

        worlds, table = self.worlds, self._robot.table
        begin_walks(rows, worlds.qpos, worlds.qvel, self._records, self.episodes, self.states, seen)
        if len(table.hidden):  # rotors and the like follow their joints, or they would pull at them
            worlds.qpos[np.ix_(rows, table.hidden[:, 0])] = table.at_rest(worlds.qpos[np.ix_(rows, table.angles)])

    def _command(self, actions: Floats32, rows: slice) -> None:
        from nutmeg.learning.policies.walk_kernels import command_walks

        qpos, commands = self.worlds.qpos[rows], self._commands[rows]
        command_walks(actions, qpos, self._records, self.episodes[rows], self.states[rows], commands)

    def _judge(self, rows: slice) -> None:
        from nutmeg.learning.policies.walk_kernels import judge_walks

        state, robots = (self.worlds.qpos[rows], self.worlds.qvel[rows]), (self.episodes[rows], self.states[rows])
        results = self.reward[rows], self.ended[rows], self.cut[rows], self.truth[rows], self.observation[rows]
        judge_walks(state, self._records, self._feet, robots, results)

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
