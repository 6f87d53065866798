r"""Walking at wanted velocities: N robots that learn it, each in an episode of its own.

    task = WalkTask(walk_scene("nao-spark", "type0"), count=2048, threads=16, seed=1)
    task.advance(actions)                   # 20 ms; `task.RobotTask` says what follows

Any robot with legs can learn it. It starts in its stance, a little disturbed. Commands are drawn every one to four
seconds: standing, straight ahead, backward, aside, turning, or any mixture; pushes come every few seconds, and the head
looks around. Turns are commanded as a player commands them: the missing heading is added to the turn rate.

With v the velocity in the robot's frame over the last steps, w its turn rate, v* and w* the wanted ones, and d the
heading that is missing, the reward of a second is

    2.5 (1 - e) + exp(-(|v - v*| / 0.125 V)^2)        e = |v - v*| / (|v*| + 0.15 V), at most 1.5
    + (1 - 0.7 min(e, 1)) (                             V the highest speed ahead
        0.8 (exp(-((w - w*) / 0.5)^2) + (1 - f) / 2)    f = |w - w*| / (|w*| + 0.5), at most 1.5
        + 0.5 (exp(-(d / 0.1)^2) - 2 |d|)
        + 0.4 / feet for each foot that stands, or is as high as the clock says)
    - |tilt|^2 - 0.02 |rates of roll and pitch|^2 - small costs of speeds, actions and joints off their stance

and a fall costs 1. Without the factor of the second line a T1 learned within a million cycles to step and turn on the
spot without ever falling, and nothing else in the next five million. Robots that are commanded angles earn 2 for
their feet.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import mujoco
import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.base.constants import CONTROL_CYCLE, STANDARD_GRAVITY
from nutmeg.learning.courses import ROBOT_NAME
from nutmeg.learning.policies.task import Episode, Rewards, RobotTask, TaskDesign, Variation
from nutmeg.model.ode import is_ode
from nutmeg.model.physics import native_profile
from nutmeg.model.robot import load_robot
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.legs.feet import find_feet
from nutmeg.motion.policy import MAX_MOTORS, WALK_SIGNS, Gait, commands_angles, legs_of

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Indices
    from nutmeg.base.kernels import ForEachWorld
    from nutmeg.base.records import Records
    from nutmeg.learning.policies.walk_kernels import Walkers, WalkTables
    from nutmeg.model.scene import Scene
    from nutmeg.motion.legs.feet import FeetTable
    from nutmeg.sim.worlds import Device

TRUTH_SIGNS = (1.0, -1.0, -1.0, -1.0, 1.0, 1.0)
"""Signs in a mirror of what only the critic sees before the heights of the feet: velocities ahead, aside and in
turning, missing heading, velocity upward, height."""
MAX_DENSE = 60
"""The engine's matrices are dense below this many degrees of freedom."""
WalkName = Literal["walk", "run", "turn"]
"""What a network that walks is commanded to do while it learns."""
RUN_KINDS, TURN_KINDS = (0.10, 0.60, 0.0, 0.0, 0.0), (0.10, 0.05, 0.05, 0.05, 0.60)
"""The shares of commands (see `WalkRewards.kinds`) of a run and of a turn."""
COUNTED = ("falls", "error", "turn_error", "ahead", "wanted_ahead", "broken", "counted")
"""What episodes count."""
MOST_FALLS, MOST_ERROR = 6.0, 0.42
"""The level grows while robots fall less than so often a minute, and miss their velocities by less than this share."""


@dataclass(frozen=True, kw_only=True)
class WalkRewards(Rewards):
    """What is commanded, what counts, and what disturbs."""

    fastest: tuple[float, float, float] = (2.0, 1.1, 2.6)
    """Commands are drawn up to these velocities: ahead, aside, turning [m/s, m/s, rad/s]."""
    back: float = 1.3
    """And up to this speed backward [m/s]."""
    kinds: tuple[float, float, float, float, float] = (0.10, 0.20, 0.10, 0.14, 0.08)
    """Shares of the commands to stand, to go straight ahead, backward or aside, and to turn on the spot; all others mix
    these velocities."""
    level: float = 0.3
    """The share of these velocities, and of the pushes, that is used by now."""
    push: float = 0.4
    """A push changes the velocity of the torso by up to this [m/s]."""
    follow: float = 2.5
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
    change: float = 0.0
    """Cost of a second for each action that changes by 1 in a cycle."""
    bounce: float = 0.0
    """Cost of a second at a vertical velocity of 1 m/s."""
    posture: float = 0.0
    """Cost of a second for each joint that is 1 rad off its stance."""
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
    goal: Annotated[Floats, (3,)]
    """Velocities that were drawn [m/s, m/s, rad/s]."""
    command: Annotated[Floats, (3,)]
    """Velocities that are wanted now: those that were drawn, or on the way to them [m/s, m/s, rad/s]."""
    still: bool
    """Whether it is to stand."""
    heading: float
    """The heading that it should have [rad]."""
    velocity: Annotated[Floats, (3,)]
    """Velocities in its frame, averaged over the last steps."""
    action: Annotated[Floats, (MAX_MOTORS,)]
    """Its action a cycle ago."""
    error: float
    """Sum of e over all cycles so far."""
    turn_error: float
    """Sum of |w - w*| [rad/s]."""
    ahead: float
    """Sum of the velocities ahead where a robot was to go there [m/s]."""
    wanted_ahead: float
    """Sum of the velocities ahead that were commanded [m/s]."""
    falls: int
    """How often the robot fell."""
    broken: int
    """How often its world broke down."""
    counted: int
    """The number of these cycles."""


def walk_scene(robot: str, kind: str = "", actuation: str = "ideal", *, native: bool = False) -> Scene:
    """A floor with the robot that learns; `native` for one that the engine simulates alone, as a GPU needs."""
    placement = Placement(robot=robot, name=ROBOT_NAME, type=kind, actuation=actuation)
    physics = native_profile(load_robot(robot).physics) if native else ""
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,), physics=physics, visuals=False))
    # One robot has few enough joints for Newton's method with dense matrices, which agrees with conjugate gradients
    # and takes 0.63 of their time on a T1 (see `Physics.solver`).
    if scene.model.opt.solver == mujoco.mjtSolver.mjSOL_CG and scene.model.nv < MAX_DENSE:
        scene.model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    return scene


def usual_walk(scene: Scene, task: WalkName = "walk") -> tuple[Gait, WalkRewards]:
    """The gait and the commands that a robot learns with if nothing else is said.

    A `run` is mostly asked for velocities ahead, up to 1.3 times those of a walk, and for little else; a `turn` mostly
    for turns on the spot, up to 1.3 times as fast. The networks are those of a walk, so that a training may begin with
    one of the others.

    Robots that are commanded angles walk as pendulums of their legs' length h do: a stride takes 0.82 s sqrt(h / 1 m),
    and the highest speed is 0.6 sqrt(g h): robots follow the highest velocities worst, and a T1 that was asked for 0.5
    sqrt(g h) stayed a quarter below that. The clock draws two legs up by little
    (0.07 h): with 0.1 h a T1 whose network does nothing falls within a second, because nothing shifts its weight to the
    other foot. Four legs stand on two of them for a moment, and soft drives need more (0.15 h) to lift a foot at all.
    Feet are to rise by 0.08 h, and earn more than a Nao's: robots that keep them on the ground never learn to walk.
    """
    table = scene.robot(ROBOT_NAME)
    if not commands_angles(table):
        return Gait(), _commanded(WalkRewards(), task)
    feet = find_feet(scene, table)
    legs, two = feet.hip_height, len(feet.bodies) == 2
    speed, step = round(0.6 * math.sqrt(STANDARD_GRAVITY * legs), 1), 2 * CONTROL_CYCLE
    stride = round(0.82 * math.sqrt(legs) / step) * step
    gait = Gait(reach=0.25, gain=0.8, stride=round(stride, 2), lift=0.2 if two else 0.45)
    usual = WalkRewards(
        fastest=(speed, round(0.5 * speed, 2), 1.5),
        back=round(0.6 * speed, 2),
        follow=2.5,
        feet=2.0,
        change=0.02,
        bounce=0.5,
        posture=0.05,
        foot_height=round(0.08 * legs, 3),
    )
    return gait, _commanded(usual, task)


def _commanded(usual: WalkRewards, task: WalkName) -> WalkRewards:
    """The rewards of a walk with the commands of another task."""
    ahead, aside, turn = usual.fastest
    if task == "run":
        return dataclasses.replace(usual, fastest=(1.3 * ahead, 0.5 * aside, 0.5 * turn), kinds=RUN_KINDS)
    if task == "turn":
        return dataclasses.replace(usual, fastest=(0.5 * ahead, 0.5 * aside, 1.3 * turn), kinds=TURN_KINDS)
    return usual


def _usual_variation(scene: Scene) -> Variation:
    """How much bodies differ if nothing else is said.

    The league's robots are all alike on the league's engine. With MuJoCo's contacts their ground is only like the
    league's: there contacts differ, too, so that a walk does not depend on what the other engine does not have.
    """
    if commands_angles(scene.robot(ROBOT_NAME)):
        return Variation()
    if is_ode(scene.model):
        return Variation(bodies=1)
    return Variation(mass=0.03, centre=0.003, friction=(1.0, 1.0), gains=0.0, damping=0.0, contact=0.4)


@dataclass(frozen=True, kw_only=True)
class WalkLearning:
    """How a walk is learned."""

    gait: Gait | None = None
    """How actions become motions; `usual_walk` if left out."""
    rewards: WalkRewards | None = None
    """What is commanded, and what counts; `usual_walk` if left out."""
    variation: Variation | None = None
    """How much bodies differ; `_usual_variation` if left out."""
    task: WalkName = "walk"
    """What is commanded; rewards that are given stay as they are."""


class WalkTask(RobotTask):
    """N robots that learn to walk.

    Args:
        scene: a floor with the robot, of `walk_scene`.
        count: how many robots, N.
        threads: how many threads step them; results are the same.
        seed: of everything random.
        learning: how, and what counts.
        device: where they are: `cpu`, `gpu` or `warp-cpu`, as of `Worlds`.
    """

    learning = "walk"
    task_signs = WALK_SIGNS
    episode = WalkEpisode

    def __init__(
        self,
        scene: Scene,
        count: int,
        *,
        threads: int = 1,
        seed: int = 0,
        learning: WalkLearning | None = None,
        device: Device = "cpu",
    ) -> None:
        table, learning = scene.robot(ROBOT_NAME), learning or WalkLearning()
        usual, position, feet = usual_walk(scene, learning.task), commands_angles(table), find_feet(scene, table)
        truth = [*enumerate(TRUTH_SIGNS), *((len(TRUTH_SIGNS) + partner, 1.0) for partner in feet.partners)]
        legs = feet.joints if position else frozenset(name for leg in legs_of(table).names for name in leg)
        design = TaskDesign(learning.gait or usual[0], learning.rewards or usual[1], truth, legs)
        super().__init__(scene, count, design, threads=threads, device=device)
        self._begins = self._new(count, flags=True)
        self._tables = self._shared(feet.record)
        self._walkers = self._arrays()
        self._counted = dict.fromkeys(COUNTED, 0.0)
        self.vary(learning.variation or _usual_variation(scene), np.random.default_rng([seed, 1]))
        self.reseed(np.random.SeedSequence(seed))
        self.begin(np.arange(count))

    def _shared(self, feet: Records[FeetTable]) -> WalkTables:
        """What all robots share, where they are."""
        from nutmeg.learning.policies.walk_kernels import WalkTables

        scene, hidden = self.scene, self.table.hidden
        follows = np.append(self.table.angles, -1)[hidden[:, 2]]
        pairs = np.stack([hidden[:, 0], follows], axis=1).astype(np.int64)
        none, no_pair = np.zeros(1), np.zeros((1, 2), np.int64)  # an array without elements has no address on a device
        tables = WalkTables(
            *self._records,
            feet,
            start=scene.start,
            commands=scene.commands,
            setpoints=scene.setpoints if scene.setpoints.size else none,
            history=scene.history.ravel() if scene.history.size else none,
            hidden=pairs if len(pairs) else no_pair,
            counts=np.array([scene.setpoints.size, scene.history.size, len(pairs)], np.int64),
        )
        return WalkTables._make(map(self._put, tables))

    def _arrays(self) -> Walkers:
        """The arrays of the robots for compiled code."""
        from nutmeg.learning.policies.walk_kernels import Walkers

        act = "act" if self.scene.setpoints.size else "ctrl"
        history = "history" if self.scene.history.size else "ctrl"
        names = ("qpos", "qvel", "ctrl", act, history, "time", "qacc_warmstart")
        engine = [self.batch.bind(n) if self.device == "cpu" else self.batch.kernel_array(n) for n in names]
        learning = [self.action, self._begins, self.observation, self.truth, self.reward, self.ended, self.cut]
        if self.on_cuda:
            from nutmeg.base.kernels import numba_cuda  # here: loading the compiler takes long

            learning = [numba_cuda().as_cuda_array(tensor) for tensor in learning]
        return Walkers._make([*engine, self.episodes, self.states, *learning])

    def _run(self, work: ForEachWorld, rows: slice) -> None:
        """Runs a compiled function for some robots, where they are."""
        if self.on_cuda:
            work.launch(self.batch.stream, self.count, self._tables, self._walkers)
        else:
            robots = type(self._walkers)._make([array[rows] for array in self._walkers])
            work.run(len(robots.reward), self._tables, robots)

    def begin(self, rows: Indices) -> None:
        """Begins episodes `rows` (n,) anew."""
        if len(rows):
            self._begins[:] = False
            self._begins[rows] = True
            self._begin_some(rows)

    def begin_over(self) -> None:
        """Begins all episodes anew that ended or were cut off in the last cycle."""
        if self.device == "cpu":
            super().begin_over()
        else:
            self._begins[:] = self.ended | self.cut
            self._begin_some()

    def _begin_some(self, rows: Indices | None = None) -> None:
        from nutmeg.learning.policies.walk_kernels import begin_walk

        if self.device == "cpu":
            self.worlds.reset(rows)
        self._repeat("begin", lambda: self._run(begin_walk, slice(None)))

    def _command(self, rows: slice) -> None:
        from nutmeg.learning.policies.walk_kernels import command_walk

        self._run(command_walk, rows)

    def _judge(self, rows: slice) -> None:
        from nutmeg.learning.policies.walk_kernels import judge_walk

        self._run(judge_walk, rows)

    def _give_up(self, broken: Bools) -> None:
        super()._give_up(broken)
        if broken.any():
            # A world that the engine has put back to its start is finite again, so that `judge_walk` did not count it.
            back = broken & np.isfinite(self.worlds.qpos).all(axis=1) & np.isfinite(self.worlds.qvel).all(axis=1)
            self.episodes["broken"][back] += 1

    def _level_changed(self) -> None:
        self._refill(self._tables.rewards, self.rewards)

    def measures(self) -> dict[str, float]:
        """Falls in a minute, mean e and |w - w*|, and the share of wanted speeds ahead, since the last call."""
        episodes, before = self._get(self.episodes), self._counted
        self._counted = {name: float(episodes[name].sum()) for name in COUNTED}
        new = {name: self._counted[name] - before[name] for name in COUNTED}
        if new["broken"]:
            warnings.warn(f"{new['broken']:.0f} worlds broke down and began anew.", RuntimeWarning, stacklevel=2)
        if self.device != "cpu":
            self._report_overflow()
        cycles = max(new["counted"], 1.0)
        return {
            "falls": new["falls"] / (cycles * CONTROL_CYCLE / 60),
            "error": new["error"] / cycles,
            "turn_error": new["turn_error"] / cycles,
            "ahead": new["ahead"] / max(new["wanted_ahead"], 1e-9),
        }

    def _report_overflow(self) -> None:
        """Says how many worlds had more contacts than there is room for on a device."""
        full = int(self.batch.overflowed().sum())
        if full:
            warnings.warn(f"{full} worlds had more contacts than there is room for.", RuntimeWarning, stacklevel=3)
            self.batch.forget_overflow()

    def mastered(self, found: dict[str, float]) -> bool:
        """Whether robots hardly fall and follow their commands."""
        return found["falls"] < MOST_FALLS and found["error"] < MOST_ERROR
