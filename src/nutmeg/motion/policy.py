"""Policies: networks that walk, as files, and the robots that follow them.

    walk = read_walk("policy")                              # a walk file with a table [policy]
    walker = PolicyWalker(worlds, "nao", walk.policy)       # N worlds, or an `OnboardRobot`
    walker.wanted[:] = [0.8, 0.0, 0.0]                      # m/s ahead, m/s to the left, rad/s to the left
    walker.sample(time)                                     # once a cycle

A network observes joint angles and speeds, gyro, the upward direction, its last action, the wanted velocity and a
clock; its action is a target for every moved joint. The first half of the clock lifts the left leg (of four legs a
front one and the diagonal hind one), the second half the others; the network does the rest. Where the robot has a
mirror image, the network is symmetric: g(x) = (f(x) + M f(M x)) / 2.

Robots with velocity drives are the league's Nao: their networks move all joints but those of the neck and the toes, and
commands act a cycle after the observation, as on the league's server. Any other robot with legs is commanded
angles, which its own controllers (position, impedance or servo drives) follow: the network moves the joints between
torso and feet, and the others are held as they are in the ready pose.

`nutmeg train` makes such files; weights are plain arrays (`.npz`), and no framework is needed to use them.
"""

from __future__ import annotations

import itertools
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np

from nutmeg.base.arrays import Floats, Floats32, Indices
from nutmeg.base.errors import FileError, UnknownNameError, UsageError, writing
from nutmeg.base.journal import draft
from nutmeg.base.records import Records, new_records, record_values
from nutmeg.base.settings import Bounds, above, check_bounds
from nutmeg.motion.bodies import OnboardRobot
from nutmeg.motion.inertial import UpEstimator
from nutmeg.motion.legs.feet import find_feet, mirror_of
from nutmeg.motion.legs.nao import NaoLegs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from nutmeg.base.arrays import Bools
    from nutmeg.model.scene import Scene
    from nutmeg.model.tables import RobotTable
    from nutmeg.motion.bodies import Bodies

MAX_MOTORS = 32
"""Largest number of motors that a policy moves."""
NECK_JOINTS = ("hj1", "hj2", "HeadYaw", "HeadPitch", "AAHead_yaw", "Head_pitch")
"""Joints of the neck, which policies leave to the control of the gaze."""
_TOE_JOINTS = ("llj7", "rlj7")
"""Joints that are held straight."""
TOE_GAIN = 20.0
"""Speed of a toe for each radian that it is bent [1/s]."""
_LIFTING = (0.0, 0.0, -1.0, 2.0, -1.0, 0.0)
"""Relative angles of a Nao's leg joints, from the hip down, that lift the foot with a level sole."""
_LIFT_SHARE = 1 / 3
"""Feet of robots other than Naos are lifted by this share of `Gait.lift` times the height of the hips."""
_SENSED_SIGNS = (-1.0, 1.0, -1.0, 1.0, -1.0, 1.0)
"""Signs of gyro and upward direction in a mirror."""
WALK_SIGNS = (1.0, -1.0, -1.0, -1.0, -1.0)
"""Signs in a mirror of a walk's task inputs: wanted velocity and clock (the other leg swings half a stride later)."""
MOTION_SIGNS = (1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
"""Signs in a mirror of a correction's task inputs: place of the ball, five numbers of progress, kind of motion."""
BALL, PROGRESS, KIND = 0, 2, 7
"""Indices at which these begin in the task inputs of a correction."""
BALL_SCALE = 0.05
"""Distance of the ball from its best place that is observed as 1 [m]."""
OBSERVATION_LIMIT, MAX_ACTION = 10.0, 10.0
"""Limits of normalised observations and of actions."""
HEADING_GAIN = 2.0
"""Turn rate for each radian of heading error [1/s]."""
MAX_HEADING_ERROR = 0.5
"""Largest heading error that is corrected [rad]."""
STANDING_VELOCITY = (0.02, 0.02, 0.05)
"""Wanted velocities up to which a robot stands [m/s, m/s, rad/s]."""
MAX_SIDEWARD_ACCELERATION = 2.0
"""Largest product of wanted speed and turn rate, because a robot that turns at once from a run falls [m/s²]."""
RESPONSE_TIME = 0.3
"""Approximate time constant with which the true velocity follows the wanted one [s]."""


@dataclass(frozen=True, kw_only=True)
class Gait:
    """Settings that turn a policy's actions into joint targets, and limit how velocities change."""

    reach: Annotated[float, above(0.0, "rad")] = 0.12
    """Change of a joint's target for an action of 1 [rad]."""
    gain: Annotated[float, Bounds(0.01, 1.0)] = 0.4
    """With velocity drives, the share of the distance to its target that a joint moves in a cycle; with other drives,
    the share of a new action in the smoothed one."""
    stride: Annotated[float, Bounds(0.1, 2.0, "s")] = 0.32
    """Time of a left and a right step [s]."""
    lift: Annotated[float, Bounds(0.0, 1.0, "rad")] = 0.3
    """Lift of the swinging leg, as an angle of a Nao's hip [rad]; feet of other robots rise by a third of this number
    times the height of the hips."""
    swing: Annotated[float, Bounds(0.0, 2.0)] = 0.0
    """Share of a step at the wanted velocity by which legs of robots other than Naos swing without the network."""
    slow_down: Annotated[tuple[float, float, float], above(0.0, "m/s² or rad/s²")] = (2.0, 2.0, 8.0)
    """Largest decrease of wanted velocities ahead, aside and turning, because a robot that is stopped at once falls
    [m/s², m/s², rad/s²]."""
    slow_down_back: Annotated[float, Bounds(0.1, 20.0, "m/s²")] = 2.0
    """The same of the speed backward [m/s²]."""
    gives_way: bool = False
    """Whether velocities wait for the speeds ahead and aside that become smaller, as in `approach`."""

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(frozen=True, kw_only=True)
class PolicySettings:
    """The table `[policy]` of a walk file."""

    weights: Mapping[str, str]
    """The file with the network for each type of the robot, beside the walk file; the first is the plain robot's."""
    fastest: tuple[float, float, float]
    """The highest velocities that it follows: ahead, aside and turning [m/s, m/s, rad/s]."""
    back: float
    """The highest speed backward that it follows [m/s]."""
    gait: Gait = field(default_factory=Gait)
    """Settings that turn actions into joint targets; those of training."""
    symmetric: bool = True
    """Whether the network is made symmetric, if the robot has a mirror image."""
    folder: str = field(default="", compare=False)
    """The folder of the walk file, where the weights are; not written into it."""

    def __post_init__(self) -> None:
        if not all(speed > 0 for speed in (*self.fastest, self.back)):
            raise ValueError(f"fastest is {self.fastest} and back {self.back}; all must be above 0.")
        if not self.weights:
            raise ValueError("has no weights; name the file of a network for each type of the robot.")

    def network(self, kind: str) -> Network:
        """The network for a type of the robot, or for the plain one."""
        return network_of(self.weights, self.folder, kind, "policy")


# ----------------------------------------------------------------------------------------------------
# Networks as files.


class Network(NamedTuple):
    """A perceptron with hidden layers of tanh, and the normalisation of its input."""

    mean: Floats32
    """Mean of the observations in training, (inputs,)."""
    scale: Floats32
    """One over their standard deviation, (inputs,)."""
    layers: Floats32
    """Weights (in, out) and biases (out,), one layer after the other, flat."""
    sizes: NDArray[np.int64]
    """Widths of the layers, from observation to action."""


def network_of(weights: Mapping[str, str], folder: str, kind: str, of: str) -> Network:
    """The network for a type of the robot, or for the plain one, from files in a folder."""
    kind = kind or next(iter(weights))
    if kind not in weights:
        raise UnknownNameError("type of robot", kind, weights, where=f"the weights of the {of}")
    return read_network(Path(folder) / weights[kind])


def check_network(network: Network, image: MirrorImage, table: RobotTable, of: str) -> None:
    """Refuses a network of another robot, or of another task."""
    needed, found = (len(image.observation), len(image.action)), (int(network.sizes[0]), int(network.sizes[-1]))
    if found != needed:
        raise UsageError(
            f"the {of}'s network has {found[0]} inputs and {found[1]} outputs; "
            f"{table.settings.name} needs {needed[0]} and {needed[1]}."
        )


@lru_cache(maxsize=16)
def read_network(path: Path) -> Network:
    """A network from a file: `.npz`, or `.onnx` (see `policy_onnx`)."""
    try:
        if path.suffix == ".onnx":
            from nutmeg.motion.policy_onnx import read_onnx

            found = read_onnx(path)
        else:
            with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                found = Network(*(np.asarray(file[name]) for name in Network._fields))
    except FileNotFoundError:
        raise FileError(
            path, "does not exist; the weights of a network belong beside the file that names them."
        ) from None
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise FileError(path, f"is no network of `nutmeg train`: {error}.") from None
    sizes = [int(size) for size in found.sizes]
    needed = sum((wide + 1) * out for wide, out in itertools.pairwise(sizes))
    if len(sizes) < 2 or len(found.mean) != sizes[0] or len(found.layers) != needed:
        raise FileError(path, f"has {len(found.layers)} weights for layers of {sizes}; needed are {needed}.")
    if not all(np.isfinite(part).all() for part in found):
        raise FileError(path, "has weights that are not finite.")
    mean, scale, layers = (part.astype(np.float32) for part in found[:3])
    return Network(mean, scale, layers, found.sizes.astype(np.int64))


def write_network(path: Path, network: Network) -> None:
    """Writes a network; half precision is enough for its weights."""
    half = network._replace(layers=network.layers.astype(np.float16))
    with writing(path), draft(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **half._asdict())


# ----------------------------------------------------------------------------------------------------
# Records for compiled code.


@dataclass
class PolicyState:
    """One robot that a network moves; compiled code has N of them as records."""

    angles: Annotated[Floats, (MAX_MOTORS,)]
    """Angles of the moved joints when the command begins to act [rad]."""
    before: Annotated[Floats, (MAX_MOTORS,)]
    """Angles of the moved joints a cycle ago [rad]."""
    action: Annotated[Floats, (MAX_MOTORS,)]
    """The last action; smoothed for corrections, and for drives that are commanded angles."""
    command: Annotated[Floats, (MAX_MOTORS,)]
    """Commands of the drives: speeds [rad/s] or angles [rad]."""
    gyro: Annotated[Floats, (3,)]
    """Angular velocity in the torso's frame [rad/s]."""
    up: Annotated[Floats, (3,)]
    """The upward direction in the torso's frame."""
    task: Annotated[Floats, (8,)]
    """Task inputs of the network: wanted velocity and clock of a walk, or ball and progress of a motion."""
    wanted: Annotated[Floats, (3,)]
    """Wanted velocities of a walk [m/s, m/s, rad/s]."""
    clock: float
    """Phase within a stride of two steps, 0..1."""
    steps: bool
    """Whether the clock is running, so that the robot steps."""


@dataclass(frozen=True)
class PolicyTable:
    """Numbers of a robot that its network needs, as a record for compiled code."""

    motors: int
    """Number of moved motors."""
    task_size: int
    """Number of task inputs of the network."""
    position: bool
    """Whether the drives are commanded angles; otherwise speeds."""
    period: float
    """Control cycle [s]."""
    gain: float
    """Share of the distance to its target that a joint moves in a cycle, as in `Gait`."""
    stride: float
    """Time of a left and a right step [s]."""
    slow_down: Annotated[Floats, (3,)]
    """Largest decrease of wanted velocities, as in `Gait` [m/s², m/s², rad/s²]."""
    slow_down_back: float
    """The same of the speed backward [m/s²]."""
    gives_way: bool
    """Whether velocities wait for those that become smaller, as in `Gait`."""
    home: Annotated[Floats, (MAX_MOTORS,)]
    """Angles of the stance [rad]."""
    reach: Annotated[Floats, (MAX_MOTORS,)]
    """Change of a target for an action of 1 [rad]."""
    lowest: Annotated[Floats, (MAX_MOTORS,)]
    """Lower limits of the joints [rad]."""
    highest: Annotated[Floats, (MAX_MOTORS,)]
    """Upper limits of the joints [rad]."""
    fastest: Annotated[Floats, (MAX_MOTORS,)]
    """Top speeds of velocity drives [rad/s]."""
    lift: Annotated[Floats, (2, MAX_MOTORS)]
    """Joint angles that lift the legs of the first and of the second half of the clock [rad]."""
    swing: Annotated[Floats, (2, MAX_MOTORS)]
    """Joint angles from the middle of a step to its end, for each m/s ahead and to the left [rad s/m]."""


class MirrorImage(NamedTuple):
    """Mirror images of observations and actions: `x[partner] * sign`."""

    observation: Indices
    observation_sign: Floats32
    action: Indices
    action_sign: Floats32
    exists: bool
    """Whether the robot has a mirror image; if not, the other fields are the identity."""


def commands_angles(table: RobotTable) -> bool:
    """Whether a robot's motors are commanded angles; False for speeds. Other and mixed drives are refused."""
    strange = [drive for drive in table.drives if drive != table.drives[0] or drive not in ("position", "velocity")]
    if strange or not table.drives:
        found = ", ".join(sorted(set(table.drives))) or "no"
        raise UsageError(
            f"{table.settings.name} has {found} drives; policies command position or velocity drives, all of one "
            "kind. `nutmeg robots --describe` writes a robot.toml with position drives."
        )
    return table.drives[0] == "position"


def moved_motors(scene: Scene, table: RobotTable) -> Indices:
    """The motors of a robot that networks move: those of the legs; with velocity drives all but neck and toes."""
    names = [table.joints[joint] for joint in table.motor_joints]
    if commands_angles(table):
        legs = find_feet(scene, table).joints
        found = np.array([motor for motor, name in enumerate(names) if name in legs])
        if not 0 < len(found) <= MAX_MOTORS:
            raise UsageError(f"{table.settings.name} has {len(found)} motors in its legs; allowed is 1..{MAX_MOTORS}.")
        return found
    left = NECK_JOINTS + _TOE_JOINTS
    return np.array([motor for motor, name in enumerate(names) if name not in left])


def policy_table(
    scene: Scene, table: RobotTable, gait: Gait, period: float, *, task_size: int = len(WALK_SIGNS)
) -> Records[PolicyTable]:
    """The record of a robot's numbers, (1,)."""
    position, moved = commands_angles(table), moved_motors(scene, table)
    joints = table.motor_joints[moved]
    lift, swing, fastest = np.zeros((2, MAX_MOTORS)), np.zeros((2, MAX_MOTORS)), np.zeros(len(moved))
    if position:
        feet = find_feet(scene, table)
        if gait.swing:
            # In the half of a stride in which it stands, a foot moves from this far ahead to this far behind.
            swing[:, : len(moved)] = gait.swing * gait.stride / 4 * feet.swing()[:, joints]
        lift[:, : len(moved)] = feet.lift(gait.lift * _LIFT_SHARE * feet.hip_height)[:, joints]
    else:
        fastest = scene.model.actuator_ctrlrange[table.commands[moved], 1]
        legs, names = legs_of(table), [table.joints[joint] for joint in joints]
        for side, leg in enumerate(legs.names):
            for name, turn, sign in zip(leg, _LIFTING, legs.signs, strict=True):
                lift[side, names.index(name)] = gait.lift * turn * sign
    rows = {"home": scene.start[table.angles[joints]], "reach": np.full(len(moved), gait.reach), "fastest": fastest}
    rows |= {"lowest": table.limits[joints, 0], "highest": table.limits[joints, 1]}
    numbers = {"motors": len(moved), "task_size": task_size, "period": period}
    numbers |= {name: getattr(gait, name) for name in ("gain", "stride", "slow_down", "slow_down_back", "gives_way")}
    wide = {name: np.pad(row, (0, MAX_MOTORS - len(row))) for name, row in rows.items()}
    return record_values(PolicyTable(position=position, lift=lift, swing=swing, **numbers, **wide))  # type: ignore[arg-type]


def legs_of(table: RobotTable) -> NaoLegs:
    """The legs of a robot; toes are ignored, because legs without toes have a closed form."""
    return NaoLegs(table.settings, "type0" if any(toe in table.joints for toe in _TOE_JOINTS) else table.kind)


def mirror_image(scene: Scene, table: RobotTable, task_signs: Sequence[float] = WALK_SIGNS) -> MirrorImage:
    """Mirror images of a robot's actions and observations; `task_signs` are the signs of the task inputs."""
    moved, mirror = moved_motors(scene, table), mirror_of(scene, table)
    width, rest = len(moved), len(_SENSED_SIGNS) + len(task_signs)
    partner, sign, others = np.arange(width), np.ones(width, np.float32), np.ones(rest, np.float32)
    if mirror is not None:
        place = {int(motor): i for i, motor in enumerate(moved)}
        partner = np.array([place[int(mirror[0][motor])] for motor in moved])
        sign, others = mirror[1][moved].astype(np.float32), np.array([*_SENSED_SIGNS, *task_signs], np.float32)
    seen = np.concatenate([partner, width + partner, 2 * width + partner, 3 * width + np.arange(rest)])
    return MirrorImage(seen, np.concatenate([sign, sign, sign, others]), partner, sign, mirror is not None)


# ----------------------------------------------------------------------------------------------------
# Robots that follow a policy.


class _PolicyWalk:
    """The clocks and speeds of N robots that follow a policy, with the interface of a walk."""

    def __init__(self, settings: PolicySettings, states: Records[PolicyState]) -> None:
        self._settings, self._states = settings, states
        self.swing: Indices = np.zeros(len(states), dtype=np.intp)
        """The foot that swings first when the clock begins: 0 left, 1 right, (N,)."""
        self.reached: Floats = np.zeros((len(states), 3))
        """Velocities that the robots should have by now, from `RESPONSE_TIME`, not measured, (N, 3)."""

    def top_speed(self) -> Floats:
        """The highest velocities that are followed, (N, 3) [m/s, m/s, rad/s]."""
        return np.tile(self._settings.fastest, (len(self._states), 1))

    def top_speed_back(self) -> Floats:
        """The highest speed backward that is followed, (N,) [m/s]."""
        return np.full(len(self._states), self._settings.back)

    def velocity(self) -> Floats:
        """The velocities of the present steps, (N, 3) [m/s, m/s, rad/s]."""
        return self.reached


class PolicyWalker:
    """One robot of every world that follows a policy, and holds its heading by the gyro.

    Args:
        worlds: N worlds with the robot in them, or an `OnboardRobot`.
        robot: its name.
        settings: the policy.
        period: control cycle [s].
        rng: random generator of the noise of gyro and accelerometer; None for no noise.
    """

    def __init__(
        self,
        worlds: Bodies,
        robot: str,
        settings: PolicySettings,
        *,
        period: float = 0.02,
        rng: np.random.Generator | None = None,
    ) -> None:
        self._robot, self._qpos, self._period = worlds.robot(robot), worlds.qpos, period
        table, self._scene = self._robot.table, worlds.scene
        self._network = settings.network(table.kind)
        self._table = policy_table(worlds.scene, table, settings.gait, period)
        self._image = mirror_image(worlds.scene, table)
        self._image = self._image._replace(exists=self._image.exists and settings.symmetric)
        self.moved = moved_motors(worlds.scene, table)
        check_network(self._network, self._image, table, "policy")
        self._addresses = table.angles[table.motor_joints[self.moved]]
        self._toes = np.array([i for i, name in enumerate(table.motors) if name in _TOE_JOINTS], dtype=np.intp)
        self._toe_addresses = table.angles[table.motor_joints[self._toes]]
        # An onboard robot predicts its joints for the time when a command acts; in simulated worlds the command waits.
        self._angles = commands_angles(table)
        self._waits = not self._angles and not isinstance(self._robot, OnboardRobot)
        self.states: Records[PolicyState] = new_records(PolicyState, worlds.count)
        self.walk = _PolicyWalk(settings, self.states)
        self.senses = UpEstimator(worlds, robot, period=period, rng=rng)
        """The robot's gyro, and its estimated upward direction."""
        self.wanted: Floats = np.zeros((worlds.count, 3))
        """Wanted velocities, (N, 3) [m/s, m/s, rad/s]."""
        self.chosen: Indices = np.zeros(worlds.count, dtype=np.intp)
        """There is one network: always 0, (N,)."""
        self._eased = np.zeros((worlds.count, 3))
        self._astray = np.zeros(worlds.count)
        self._commands = np.zeros((worlds.count, len(table.motors)))
        self._home = worlds.scene.start[table.angles[table.motor_joints]]
        self._highest = np.array([*settings.fastest, settings.back])
        self.reset()

    def reset(self, ids: ArrayLike | None = None) -> None:
        """Starts again from standing."""
        rows = np.arange(len(self.states)) if ids is None else np.atleast_1d(np.asarray(ids, dtype=np.intp))
        states, motors = self.states, len(self.moved)
        angles = self._qpos[np.ix_(rows, self._addresses)]
        for name in ("angles", "before"):
            states[name][rows[:, None], np.arange(motors)] = angles
        for name in ("action", "command"):
            states[name][rows] = 0.0
        states["steps"][rows], states["clock"][rows] = False, 0.0
        self._astray[rows], self.walk.reached[rows], self._eased[rows] = 0.0, 0.0, 0.0
        self._commands[rows] = self._home if self._angles else 0.0
        self.senses.reset(rows)

    @property
    def stance(self) -> float:
        """Distance between the feet of a robot before it walks [m]."""
        if self._angles:
            return float(np.ptp(find_feet(self._scene, self._robot.table).places[:, 1]))
        hips = legs_of(self._robot.table).hips
        return float(hips[0, 1] - hips[1, 1])

    def targets(self) -> Floats:
        """Joint angles of the stance that walking begins from, (N, motors) [rad]."""
        return np.tile(self._home, (len(self.states), 1))

    def may_stop(self, step_left: Floats, feet_down: float) -> Bools:  # noqa: ARG002 (as a `Walker`)
        """The robots that stand with both feet on the ground, (N,)."""
        return ~np.asarray(self.states["steps"])

    def sample(self, time: float) -> None:  # noqa: ARG002 (a task of the schedule)
        """Runs one cycle: reads sensors, evaluates the network, sets commands."""
        from nutmeg.motion.policy_kernels import run_policies, steer_walks  # here: loading the compiler takes long

        states, motors = self.states, len(self.moved)
        self.senses.sample()
        orders = self.wanted, self._eased, self._astray, self.walk.swing, self.walk.reached
        if not steer_walks(orders, self.senses.gyro, self.senses.up, states, self._table, self._highest):
            raise UsageError("a wanted velocity is not a number; each must be finite.")
        angles = self._qpos[:, self._addresses]
        states["angles"][:, :motors] = angles
        if self._waits:
            commanded = self._commands[:, self.moved] * self._period
            table = self._table
            states["angles"][:, :motors] = np.clip(
                angles + commanded, table["lowest"][0, :motors], table["highest"][0, :motors]
            )
            self._robot.command = self._commands
        run_policies(states, self._table, self._network, self._image)
        self._commands[:, self.moved] = states["command"][:, :motors]
        self._commands[:, self._toes] = -TOE_GAIN * self._qpos[:, self._toe_addresses]
        if not self._waits:
            self._robot.command = self._commands
