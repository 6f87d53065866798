"""Training of a network: robots that learn a task, the learner that watches them, and what is kept on the way.

    training = Training(TrainSettings(robot="nao-spark", kind="type0", worlds=512), threads=2)
    training.run(100, on_iteration=print, checkpoint=lambda kept: np.savez(path, **kept))
    training.network()                      # what `motion.policy` needs

Every `BLOCK` iterations all episodes begin anew, from seeds that depend on the iteration alone, and a checkpoint is
kept: training that was killed goes on from there and ends with the same numbers.

Tasks begin gentle. While robots do well, the `level` grows, up to 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UsageError
from nutmeg.base.settings import Bounds, check_bounds
from nutmeg.learning.policies.dribble_task import DribbleTask
from nutmeg.learning.policies.motion_task import DiveTask, GetUpTask, KickTask
from nutmeg.learning.policies.ppo import Learner, PpoSettings, Rollout
from nutmeg.learning.policies.walk_task import WalkLearning, WalkRewards, WalkTask, usual_walk, walk_scene
from nutmeg.motion.policy import Gait, Network

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nutmeg.learning.policies.motion_task import MotionTask
    from nutmeg.learning.policies.task import RobotTask
    from nutmeg.sim.worlds import Device

TaskName = Literal["walk", "run", "turn", "get-up", "kick", "dive", "dribble"]
WALKS = ("walk", "run", "turn")
"""Tasks with networks that walk: they differ in what is commanded, and may begin with each other's networks."""
BLOCK = 25
"""Iterations between two checkpoints."""
PATIENCE = 10
"""The level grows after this many iterations."""
LEVEL_STEP = 0.03
"""How much the level grows each time."""


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """What is trained, and how."""

    task: TaskName = "walk"
    """What is learned."""
    robot: str = "nao-spark"
    """Which robot: a name, or the path of a file. Get-ups, kicks and dives are those of `nao-spark`."""
    kind: str = ""
    """Its type; empty for the plain one."""
    actuation: str = "ideal"
    """What drives its joints: ideal, servo, motoflex, or a TOML file."""
    walk: str = "policy"
    """The walk that dribbling steers; it has a policy of the robot."""
    worlds: Annotated[int, Bounds(1, 100_000)] = 512
    """How many robots learn at once."""
    seed: Annotated[int, Bounds(0, 2**63)] = 1
    """Seed of all random numbers."""
    level: Annotated[float, Bounds(0.01, 1.0)] = 0.3
    """The first share of the highest velocities that is commanded."""
    gait: Gait | None = None
    """How actions of a walk become motions; None for what suits the robot."""
    rewards: WalkRewards | None = None
    """What is commanded of a walk, and what counts; None for what suits the robot."""
    fastest: tuple[float, float, float, float] | None = None
    """The highest velocities that are commanded of a walk: ahead, back, aside, turning [m/s, m/s, m/s, rad/s]; None for
    what suits the robot."""
    ppo: PpoSettings = field(default_factory=PpoSettings)
    """How the networks learn."""

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(frozen=True, kw_only=True)
class Iteration:
    """What is worth knowing about an iteration."""

    number: int
    """Number of the iteration, counted from 1."""
    cycles: int
    """Cycles of all robots so far."""
    reward: float
    """Mean reward of a second."""
    measures: Mapping[str, float]
    """What the task measures, with the noise of exploration: of walks the falls of a robot in a minute, the share by
    which velocities are missed, the turn rates that are missed [rad/s], and the share of wanted speeds ahead; of
    get-ups the share that stood; of kicks the distance [m] and the share that fell; of dives the share of balls that
    did not pass; of dribbling the speed of the ball [m/s], and falls and lost balls in a minute."""
    level: float
    """How hard the task is: of a walk the share of the highest velocities that is commanded."""
    spread: float
    """Mean standard deviation of the actions."""
    divergence: float
    """Between the policies before and after."""


def make_task(settings: TrainSettings, threads: int, device: Device = "cpu") -> RobotTask:
    """The robots that learn."""
    s = settings
    if s.task in ("walk", "run", "turn"):
        scene = walk_scene(s.robot, s.kind, s.actuation, native=device != "cpu")
        rewards = s.rewards or usual_walk(scene, s.task)[1]
        if s.fastest is not None:
            ahead, back, aside, turn = s.fastest
            rewards = replace(rewards, fastest=(ahead, aside, turn), back=back)
        learning = WalkLearning(gait=s.gait, rewards=rewards, task=s.task)
        return WalkTask(scene, s.worlds, threads=threads, seed=s.seed, learning=learning, device=device)
    if device != "cpu":
        raise UsageError(f"only a walk is learned on a GPU, not a {s.task}; use --device cpu or cuda.")
    if s.task == "dribble":
        return DribbleTask(s.robot, s.kind, s.worlds, walk=s.walk, threads=threads, seed=s.seed)
    motions: dict[str, type[MotionTask]] = {"get-up": GetUpTask, "kick": KickTask, "dive": DiveTask}
    return motions[s.task](s.robot, s.kind, s.worlds, threads=threads, seed=s.seed)


class Training:
    """A policy that is being trained.

    Args:
        settings: what, and how.
        threads: how many threads simulate; results are the same.
        device: `cpu`; `gpu` for robots and networks on a CUDA device; `cuda`, or any device of torch, for the networks
            alone; `warp-cpu` for robots as on a GPU, but on this processor.
    """

    def __init__(self, settings: TrainSettings, *, threads: int = 1, device: str = "cpu") -> None:
        self.settings = s = settings
        robots: Device = "gpu" if device == "gpu" else "warp-cpu" if device == "warp-cpu" else "cpu"
        networks = "cuda" if device == "gpu" else "cpu" if device == "warp-cpu" else device
        self.task = make_task(s, threads, robots)
        widths = self.task.observation.shape[1], self.task.truth.shape[1], self.task.actions
        self.learner = Learner(widths, s.ppo, seed=s.seed, mirrors=self.task.mirrors(), device=networks)
        self.iterations = 0
        """How many iterations are done."""
        self.level = s.level
        """The share of the highest velocities that is commanded now."""
        self._good: list[bool] = []

    def load(self, kept: Mapping[str, Any], *, go_on: bool = True) -> None:
        """Goes on from a checkpoint; or, without `go_on`, begins a training of its own with these networks."""
        of = {name: str(kept[name]) for name in ("task", "robot") if name in kept}
        mine = {"task": self.settings.task, "robot": self.settings.robot}
        alike = {of.get("task", ""), mine["task"]} <= {*WALKS} and of["robot"] == mine["robot"]
        if any(mine[name] != value for name, value in of.items()) and not (alike and not go_on):
            raise UsageError(
                f"the checkpoint is one of the {of['task']} of {of['robot']}; this training is of the {mine['task']} "
                f"of {mine['robot']}. Begin with a training of the same task and robot; only its type may differ."
            )
        sizes = {name: len(self.learner.save()[name]) for name in ("policy", "critic")}
        found = {name: len(kept[name]) if name in kept else 0 for name in sizes}
        if found != sizes:
            raise UsageError(
                f"the checkpoint's networks have {found['policy']} and {found['critic']} numbers; this training needs "
                f"{sizes['policy']} and {sizes['critic']}. Begin with a training of the same task and kind of robot."
            )
        self.learner.load(dict(kept))
        if go_on:
            self.iterations, self.level = int(kept["iterations"]), float(kept["level"])

    def load_policy(self, network: Network) -> None:
        """Begins a training with the network of a walk; its critic learns alone for the first iterations."""
        sizes, found = self.learner.policy.sizes, tuple(int(size) for size in network.sizes)
        if found != sizes:
            raise UsageError(f"the policy's network has layers of {found}; this training needs {sizes}.")
        self.learner.load_policy(network)

    def run(
        self,
        iterations: int,
        *,
        on_iteration: Callable[[Iteration], object] = lambda _: None,
        checkpoint: Callable[[dict[str, Any]], object] = lambda _: None,
    ) -> None:
        """Trains until so many iterations are done.

        Args:
            iterations: how many in all.
            on_iteration: is told of each.
            checkpoint: gets what `load` takes, every `BLOCK` iterations and at the end.
        """
        first = self.iterations
        while self.iterations < iterations:
            if self.iterations % BLOCK == 0 or self.iterations == first:
                self._begin_block()
            found = self._iterate()
            on_iteration(found)
            if self.iterations % BLOCK == 0 or self.iterations == iterations:
                of = {"task": self.settings.task, "robot": self.settings.robot}
                checkpoint({**self.learner.save(), **of, "iterations": self.iterations, "level": self.level})

    def _begin_block(self) -> None:
        """Begins everything random anew, from numbers that depend on the iteration alone."""
        seeds = np.random.SeedSequence([self.settings.seed, self.iterations])
        self.task.reseed(seeds)
        self.learner.reseed(np.random.default_rng(seeds.spawn(1)[0]))
        self.task.use_level(self.level)
        self._good.clear()
        self.task.measures()
        self.task.begin(np.arange(self.task.count))

    def _iterate(self) -> Iteration:
        rollout, earned = self._watch()
        said = self.learner.update(rollout)
        self.iterations += 1
        cycles = self.settings.ppo.cycles * self.task.count * round(self.task.period / CONTROL_CYCLE)
        measures = self.task.measures()
        self._good.append(self.task.mastered(measures))
        level = self.level
        if len(self._good) >= PATIENCE and all(self._good[-PATIENCE:]) and level < 1.0:
            self.level = min(level + LEVEL_STEP, 1.0)
            self.task.use_level(self.level)
            self._good.clear()
        return Iteration(
            number=self.iterations,
            cycles=self.iterations * cycles,
            reward=earned / cycles / CONTROL_CYCLE,
            measures=measures,
            level=level,
            spread=said["spread"],
            divergence=said["divergence"],
        )

    def _watch(self) -> tuple[Rollout, float]:
        """What the robots do in some cycles, and the sum of their rewards."""
        task, learner, s = self.task, self.learner, self.settings.ppo
        put, shape, new = learner.arrays.put, (s.cycles, task.count), learner.arrays.empty
        seen = Rollout(
            observation=new(*shape, task.observation.shape[1]),
            truth=new(*shape, task.truth.shape[1]),
            action=new(*shape, task.actions),
            probability=new(*shape),
            value=new(s.cycles + 1, task.count),
            reward=new(*shape),
            ended=new(*shape, flags=True),
        )
        earned = 0.0 * put(task.reward).sum()
        for t in range(s.cycles):
            seen.observation[t], seen.truth[t] = put(task.observation), put(task.truth)
            seen.action[t], seen.probability[t], seen.value[t] = learner.act(seen.observation[t], seen.truth[t])
            # Only networks that are elsewhere than the robots need a copy of their actions.
            task.advance(seen.action[t] if task.on_cuda else learner.arrays.get(seen.action[t]))
            seen.reward[t], seen.ended[t] = put(task.reward), put(task.ended | task.cut)
            earned += seen.reward[t].sum()
            # An episode that was cut off is worth what would have come.
            cut = put(task.cut)
            if cut.any():
                after = learner.value(put(task.observation)[cut], put(task.truth)[cut])
                seen.reward[t][cut] += s.discount * after
            task.begin_over()
        seen.value[-1] = learner.value(put(task.observation), put(task.truth))
        return seen, float(earned)

    def network(self) -> Network:
        """The policy as it is now."""
        learner = self.learner
        numbers = np.array(learner.arrays.get(learner.policy.numbers), np.float32)
        return Network(
            learner.seen.mean.astype(np.float32), learner.seen.scale, numbers, np.array(learner.policy.sizes)
        )
