"""What the tasks of reinforcement learning share: N robots in worlds of their own, stepped by some threads.

    task.observation, task.truth            # (N, ...): what the network sees, and what only the critic does
    task.advance(actions)                   # 20 ms; then task.reward (N,), task.ended (N,), task.cut (N,)
    task.begin(np.flatnonzero(task.ended | task.cut))

Robots that are commanded angles learn in bodies that differ from their file's: masses, friction, gains and damping are
drawn from `Variation`, and half of the episodes have commands that act a cycle later.

A task has a compiled function before the physics step and one after it (`_command`, `_judge`); both go robot by robot,
and every robot has random numbers of its own, so that results do not depend on the number of threads.

On a CUDA device (`gpu`) physics is `mujoco_warp`'s, the same functions run as kernels there, and what is learned from
are tensors of torch: nothing is copied from or to this computer in a cycle. `warp-cpu` is the same on this processor.
"""

from __future__ import annotations

import copy
import dataclasses
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import mujoco
import numpy as np

from nutmeg.base.arrays import Floats, Ints
from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.records import Records, new_records, record_values
from nutmeg.learning.courses import ROBOT_NAME
from nutmeg.learning.policies.ppo import Mirrors
from nutmeg.motion.policy import MAX_MOTORS, NECK_JOINTS, PolicyState, mirror_image, moved_motors, policy_table
from nutmeg.sim.variation import use_models
from nutmeg.sim.worlds import Worlds, steps_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nutmeg.base.arrays import Bools, Floats32, Indices
    from nutmeg.model.scene import Scene
    from nutmeg.model.tables import RobotTable
    from nutmeg.motion.policy import Gait, MirrorImage
    from nutmeg.sim.worlds import Device

FALLEN_UP, FALLEN_HEIGHT = 0.6, 0.6
"""A robot has fallen below this cosine of its tilt, or this share of its height."""
CHUNKS_A_THREAD = 2
"""Into how many parts the robots of a thread are cut, so that threads end at about the same time."""


@dataclass
class Episode:
    """What every task knows of one robot; compiled code has N of them as records."""

    seed: np.uint64
    """State of the robot's own random numbers."""
    cycle: int
    """Cycles since the episode began."""
    yaw: float
    """A heading [rad]: of a walk the present one, of a motion that at its beginning."""
    last: Annotated[Floats, (3,)]
    """Velocity of the torso a cycle ago, in the world's frame [m/s]."""
    head: Annotated[Floats, (2,)]
    """Where the head looks: angles of the neck [rad]."""
    pending: Annotated[Floats, (MAX_MOTORS,)]
    """What was commanded and acts in the next cycle [rad/s] or [rad]."""
    prompt: bool
    """Whether commands act at once instead."""


@dataclass(frozen=True, kw_only=True)
class Rewards:
    """What counts in every task, and what disturbs."""

    level: float = 0.0
    """How hard it is by now, 0..1."""
    noise: float = 0.05
    """Standard deviation of the gyro's noise [rad/s]."""
    action: float = 0.002
    """Cost of a second of actions of size 1."""
    fall: float = 1.0
    """Cost of a fall; of a motion, of not standing in the end."""
    stand_height: float = 0.35
    """Height of the torso in the stance [m]; the task takes it from the robot."""


@dataclass(frozen=True)
class LearningBody:
    """Where a robot's numbers are in the engine's arrays; compiled code has it as a record."""

    root: int
    """Place of the torso in the configuration."""
    rate: int
    """Place of its velocity."""
    moved: Annotated[Ints, (MAX_MOTORS,)]
    """Places of the angles of the motors that the policy moves."""
    moved_motors: Annotated[Ints, (MAX_MOTORS,)]
    """Places of the commands of the motors that the policy moves."""
    arms: Annotated[Ints, (MAX_MOTORS,)]
    """Which of them are no legs': 1 or 0."""
    other_count: int
    """How many other motors there are: first those of the neck."""
    neck_count: int
    """How many of them are the neck's."""
    others: Annotated[Ints, (MAX_MOTORS,)]
    """Places of their angles."""
    other_motors: Annotated[Ints, (MAX_MOTORS,)]
    """Places of their commands."""
    other_home: Annotated[Floats, (MAX_MOTORS,)]
    """Their angles in the stance [rad]."""


def _learning_body(scene: Scene, table: RobotTable, legs: frozenset[str]) -> Records[LearningBody]:
    """The record of a robot's places, (1,); `legs` are the joints of its legs."""
    moved, names = moved_motors(scene, table), [table.joints[joint] for joint in table.motor_joints]
    others = sorted(({*range(len(names))} - {*moved.tolist()}), key=lambda motor: names[motor] not in NECK_JOINTS)
    place, home = table.angles[table.motor_joints], scene.start[table.angles[table.motor_joints]]

    def row(values: Any, kind: type = int) -> Any:  # noqa: ANN401 (numbers of any kind)
        wide: Any = np.zeros(MAX_MOTORS, kind)
        wide[: len(values)] = values
        return wide

    return record_values(
        LearningBody(
            root=table.root,
            rate=table.root_rate,
            moved=row(place[moved]),
            moved_motors=row(table.commands[moved]),
            arms=row([int(names[motor] not in legs) for motor in moved]),
            other_count=len(others),
            neck_count=sum(names[motor] in NECK_JOINTS for motor in others),
            others=row(place[others]),
            other_motors=row(table.commands[others]),
            other_home=row(home[others], float),
        )
    )


@dataclass(frozen=True, kw_only=True)
class Variation:
    """How much the bodies of robots that learn differ from their file's."""

    bodies: int = 32
    """How many different bodies there are; 1 for that of the file alone."""
    mass: float = 0.1
    """Masses are multiplied by 1 minus to 1 plus this."""
    centre: float = 0.015
    """The torso's centre of mass is moved by up to this along each axis [m]."""
    friction: tuple[float, float] = (0.5, 1.2)
    """Friction is multiplied by a number between these."""
    gains: float = 0.1
    """Gains of drives are multiplied by 1 minus to 1 plus this."""
    damping: float = 0.3
    """Damping and friction of joints likewise."""
    contact: float = 0.0
    """Stiffness and damping of contacts likewise, each by a number of its own."""

    def draw(self, model: mujoco.MjModel, table: RobotTable, rng: np.random.Generator) -> mujoco.MjModel:
        """A model with a body drawn at random."""
        model = copy.copy(model)
        mine = model.body_rootid == model.body_rootid[table.body]
        mass = rng.uniform(1 - self.mass, 1 + self.mass, int(mine.sum()))
        model.body_mass[mine] *= mass
        model.body_inertia[mine] *= mass[:, None]
        model.body_ipos[table.body] += rng.uniform(-self.centre, self.centre, 3)
        model.geom_friction[mine[model.geom_bodyid], 0] *= rng.uniform(*self.friction)
        if self.contact:
            model.geom_solref[mine[model.geom_bodyid]] *= rng.uniform(1 - self.contact, 1 + self.contact, 2)
        # Only gains of the plain kind, force = k command - k angle - d speed, are known by their places.
        plain = np.flatnonzero(model.actuator_biastype == mujoco.mjtBias.mjBIAS_AFFINE)
        stiffer = rng.uniform(1 - self.gains, 1 + self.gains, len(plain))
        model.actuator_gainprm[plain, 0] *= stiffer
        model.actuator_biasprm[plain, 1] *= stiffer
        model.actuator_biasprm[plain, 2] *= rng.uniform(1 - self.gains, 1 + self.gains, len(plain))
        for name in ("dof_damping", "dof_frictionloss"):
            getattr(model, name)[:] *= rng.uniform(1 - self.damping, 1 + self.damping, model.nv)
        mujoco.mj_setConst(model, mujoco.MjData(model))
        return model


def _use_stream(stream: int) -> None:
    """Lets torch work on the engine's stream of a CUDA device, so that what is asked first is done first."""
    import torch  # type: ignore[import-not-found,unused-ignore]

    torch.cuda.set_stream(torch.cuda.ExternalStream(stream))


class TaskDesign(NamedTuple):
    """In what tasks differ."""

    gait: Gait
    """How actions become motions."""
    rewards: Rewards
    """Weights of the rewards."""
    truth: Sequence[tuple[int, float]]
    """Where each number that only the critic sees is in a mirror, and its sign."""
    legs: frozenset[str] = frozenset()
    """The joints of the legs, if others cost something when they leave the stance."""


class RobotTask:
    """N robots that learn something.

    Args:
        scene: a world with the robot `ROBOT_NAME`.
        count: how many robots, N.
        design: what they learn, and how.
        threads: how many threads step them; results are the same.
        device: where they are: `cpu`, `gpu` or `warp-cpu`, as of `Worlds`.
    """

    learning = "robots"
    """What the robots learn, in a word."""
    task_signs: Sequence[float] = ()
    """Signs in a mirror of what the networks are told of the task."""
    episode: type[Episode] = Episode
    """What is known of an episode."""
    period = CONTROL_CYCLE
    """Time from one action to the next [s]."""

    def __init__(
        self, scene: Scene, count: int, design: TaskDesign, *, threads: int = 1, device: Device = "cpu"
    ) -> None:
        gait, rewards, truth, legs = design
        self.scene, self.gait, self.count, self.device = scene, gait, count, device
        self.table = table = scene.robot(ROBOT_NAME)
        self._steps = steps_in(CONTROL_CYCLE, scene.timestep)
        self.image, self._truth = self._mirror(), truth
        self._body = _learning_body(scene, table, legs)
        self._table = policy_table(scene, table, gait, CONTROL_CYCLE, task_size=len(self.task_signs))
        height = float(scene.start[table.root + 2])
        self.rewards: Records[Any] = record_values(dataclasses.replace(rewards, stand_height=height))
        """What counts, (1,)."""
        self.actions = len(self.image.action)
        """How many numbers an action has."""
        self.batch: Any
        """The engine's worlds."""
        if device == "cpu":
            self.worlds = Worlds(scene, count, threads=threads)
            self.batch = self.worlds.batch
            parts = np.array_split(np.arange(count), threads * CHUNKS_A_THREAD)
            self._chunks = [slice(int(part[0]), int(part[-1]) + 1) for part in parts if len(part)]
        else:
            from nutmeg.sim.warp_engine import DeviceMemory, WarpBatch, device_model

            self._model = device_model(scene, capsules=True)
            self.batch = WarpBatch(scene, count, device, model=self._model)
            self.batch.limit_solver()
            if self.on_cuda:
                _use_stream(self.batch.stream)
            self._memory = DeviceMemory(self.batch)
            self._chunks = [slice(0, count)]
        self._graphs: dict[str, Any] = {}
        self._pool = ThreadPoolExecutor(threads)
        self.states: Records[PolicyState] = self._put(new_records(PolicyState, count))
        self.episodes: Records[Any] = self._put(new_records(self.episode, count))
        self.action: Any = self._new(count, self.actions)
        """What the robots are to do in the next cycle, (N, actions)."""
        self.observation: Any = self._new(count, len(self.image.observation))
        """What the network sees, (N, observations)."""
        self.truth: Any = self._new(count, len(truth))
        """What only the critic sees, (N, truths)."""
        self.reward: Any = self._new(count)
        """Of the last cycle, (N,)."""
        self.ended: Any = self._new(count, flags=True)
        """Episodes that ended for good in the last cycle, (N,)."""
        self.cut: Any = self._new(count, flags=True)
        """Episodes that were cut off after the last cycle and would have gone on, (N,)."""

    def _mirror(self) -> MirrorImage:
        """How observations and actions look in a mirror."""
        return mirror_image(self.scene, self.table, self.task_signs)

    @property
    def on_cuda(self) -> bool:
        """Whether the arrays are tensors of torch on a CUDA device."""
        return self.device == "gpu"

    def _new(self, *shape: int, flags: bool = False) -> Any:  # noqa: ANN401 (an array, or a tensor of torch)
        """Zeros of 32 bit, or flags, where the robots are."""
        if not self.on_cuda:
            return np.zeros(shape, bool if flags else np.float32)
        import torch  # type: ignore[import-not-found,unused-ignore]

        return torch.zeros(shape, dtype=torch.bool if flags else torch.float32, device="cuda")

    def _put(self, array: Any) -> Any:  # noqa: ANN401
        """An array of numpy where the robots are, for compiled code."""
        return array if self.device == "cpu" else self._memory.put(array)

    def _get(self, array: Any) -> Any:  # noqa: ANN401
        """Such an array in this computer's memory."""
        return array if self.device == "cpu" else self._memory.get(array)

    def _refill(self, there: Any, array: Any) -> None:  # noqa: ANN401
        """Copies an array into such a one."""
        if self.device != "cpu":
            self._memory.refill(there, array)

    @property
    def _records(self) -> tuple[Any, Any, Any]:
        """The robot's places, its numbers, and what counts, for compiled code."""
        return self._body, self._table, self.rewards

    def vary(self, variation: Variation, rng: np.random.Generator) -> None:
        """Gives the robots bodies that differ."""
        if variation.bodies < 2:
            return
        model = self.scene.model if self.device == "cpu" else self._model
        drawn = [variation.draw(model, self.table, rng) for _ in range(variation.bodies)]
        models = [drawn[n % len(drawn)] for n in range(self.count)]
        if self.device == "cpu":
            use_models(self.batch, models)
        else:
            self.batch.use_models(models)

    def mirrors(self) -> Mirrors | None:
        """How experience looks in a mirror; None where the task or the robot has no mirror image."""
        if not self.image.exists:
            return None
        image, (partners, signs) = self.image, zip(*self._truth, strict=True)
        truth = np.array(partners), np.array(signs, np.float32)
        return Mirrors((image.observation, image.observation_sign), truth, (image.action, image.action_sign))

    def reseed(self, seeds: np.random.SeedSequence) -> None:
        """Gives every robot other random numbers."""
        episodes = self._get(self.episodes)
        episodes["seed"] = seeds.generate_state(self.count, np.uint64)
        self._refill(self.episodes, episodes)

    def use_level(self, level: float) -> None:
        """How hard it is from now on, 0..1."""
        self.rewards["level"] = level
        self._level_changed()

    def _level_changed(self) -> None:
        """Brings what counts to where the robots are."""

    def begin(self, rows: Indices) -> None:
        """Begins episodes `rows` (n,) anew."""
        if len(rows):
            self.worlds.reset(rows)
            seen = self.observation[rows]
            self._begin(rows, seen)
            self.observation[rows], self.truth[rows] = seen, 0.0

    def begin_over(self) -> None:
        """Begins all episodes anew that ended or were cut off in the last cycle."""
        self.begin(np.flatnonzero(self.ended | self.cut))

    def measures(self) -> dict[str, float]:
        """How well the robots did since the last call."""
        raise NotImplementedError

    def mastered(self, found: dict[str, float]) -> bool:
        """Whether measures are good enough for a higher level."""
        raise NotImplementedError

    def _begin(self, rows: Indices, seen: Floats32) -> None:
        """Begins episodes in worlds that were put back to the start, and fills what their networks see."""
        raise NotImplementedError

    def _command(self, rows: slice) -> None:
        """Commands the motors of some robots, from their actions."""
        raise NotImplementedError

    def _judge(self, rows: slice) -> None:
        """Fills what some robots sensed, saw and earned in a cycle."""
        raise NotImplementedError

    def advance(self, actions: Any) -> None:  # noqa: ANN401 (an array, or a tensor of torch on a GPU)
        """Lets a cycle of 20 ms pass, (N, actions)."""
        self.action[:] = actions
        if self.device == "cpu":
            list(self._pool.map(self._command, self._chunks))
            self.worlds.step(self._steps)
            list(self._pool.map(self._judge, self._chunks))
            self._give_up(self.worlds.diverged())
        else:
            self._repeat("cycle", self._cycle_on_device)

    def _give_up(self, broken: Bools) -> None:
        """Ends worlds that broke down, (N,); nothing of them is learned from."""
        if broken.any():
            self.ended[broken], self.cut[broken], self.reward[broken] = True, False, -1.0
            self.observation[broken], self.truth[broken] = 0.0, 0.0

    def _cycle_on_device(self) -> None:
        rows = self._chunks[0]
        self._command(rows)
        self.batch.steps_on_device(self._steps)
        self._judge(rows)

    def _repeat(self, name: str, work: Callable[[], None]) -> None:
        """Does something that is done often; on a CUDA device it is recorded as a graph after the first time."""
        if name in self._graphs:
            self.batch.replay(self._graphs[name])
            return
        work()
        if self.on_cuda:
            self._graphs[name] = self.batch.record(work)

    def close(self) -> None:
        """Ends the threads."""
        self._pool.shutdown()
