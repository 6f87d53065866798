"""Searching keyframe motions: kicks and get-ups, tried by many robots at once from states that players come into.

    trials = KickTrials("nao-spark", "type0", population=32, starts=12)
    search = MotionSearch(trials, shipped_motion("nao-spark", "kick"), step=0.1, seed=1)
    for _ in range(100):
        search.advance()                                # a generation of CMA-ES
    search.motion                                       # the mean of its distribution
    trials.run([search.motion], seed=2)                 # what it does from other starts

A candidate is the numbers that the file of a motion names: angles and times of frames, for a kick also the ball's
place and how joints answer to where it lies. All candidates of a generation are tried from the same starts, and every
generation has others.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.learning.courses import yaw_of
from nutmeg.learning.policies.motion_task import BALL_AWAY, GetUpTask, KickTask, MotionRewards
from nutmeg.learning.policies.task import FALLEN_HEIGHT, FALLEN_UP
from nutmeg.model.ball import load_ball
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.bodies import ROBOT_NAME, JointTargets, Mirror
from nutmeg.motion.correction import STOP_MARGIN
from nutmeg.motion.keyframes import motion_path
from nutmeg.motion.policy import OBSERVATION_LIMIT, PolicyWalker
from nutmeg.motion.walk.files import read_walk
from nutmeg.search.searchers import CmaEs, CmaEsSettings
from nutmeg.search.space import Dimension, Space
from nutmeg.sim.ball_way import rest_of_ball, spin_in_world
from nutmeg.sim.worlds import Worlds

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Floats32, Indices
    from nutmeg.model.tables import RobotTable
    from nutmeg.motion.keyframes import KeyframeMotion
    from nutmeg.motion.policy import MirrorImage, Network, PolicySettings

REACH, PLACE_REACH, MOST_SLOPE = 50.0, 0.06, 1500.0
"""How far a search goes from where it begins: angles [degrees], the ball's place [m]; the largest slope [degrees/m].
A search varies every number by the same share of its range. With slopes up to 400 degrees/m it changed joints by half a
degree for a ball that lies 5 cm off, and did not find out how to answer to it."""
NEAREST = {"nao-spark": 0.19, "t1": 0.3, "k1": 0.24, "nao-v6": 0.17}
"""Balls are not nearer than this ahead of the torso [m]: the feet of a robot that stands would be in them."""
QUICKEST, LONGER = 0.04, 1.6
"""The shortest time of a frame [s], and how many times as long as at the beginning one may become."""
STANDING = 50
"""For how many cycles a robot must stand after a get-up."""
LONGEST = 1.9
"""What a get-up may take [s]."""
EARNED, HASTE = 0.2, 0.1
"""What the mean reward of a second and a second of the motion count beside the share of robots that stand. The reward
leads a search whose first candidates all fail."""
TURN_JOLT = 4.0
"""Change of a torso's angular velocity for each m/s by which its velocity is changed in a jolt [rad/s]."""
STRAIGHT = math.tan(math.radians(15.0))
"""Metres aside for each metre ahead, of a kick that is straight."""
ASIDE, LATE = 1.5, 30.0
"""What a metre aside costs, in metres ahead; and a second after the time in which the ball was to be hit [m]."""
WALKS = {"nao-spark": "policy", "t1": "policy-t1", "k1": "policy-k1", "nao-v6": "policy-nao-v6"}
"""The policies that keep robots on their feet after a kick."""
PITCHES = {
    "nao-spark": ("floor", "sim3d"),
    "nao-v6": ("floor", "spl-foam"),
    "t1": ("fifa7vs7", "fifa"),
    "k1": ("fifa7vs7", "fifa"),
}
"""Field and ball of each robot. The floor ends where balls of T1 and K1 still roll."""
UNSURE, JOINT_NOISE, STOP_ANGLE = 0.01, 0.01, 0.002
"""Standard deviation with which a robot knows where the ball lies [m], that of its joints from a stored state, and
how far from the stops of joints a kick begins [rad]."""
BALL_MOVES, AWAY_CYCLES, FAR_AWAY = 0.3, 15, 30.0
"""A ball that is faster has been hit [m/s]; so long after the hit it is away from the foot [cycles]; balls that came
farther are not believed [m]."""
ROLLING_DECELERATION = 0.46
"""What slows down the ball of T1 and K1 after a kick [m/s^2], measured from 0.8 to 1.8 m/s; the other ball's file says
it."""
STEP_CYCLES, AFTER_SPEED = 30, 0.2
"""For how many cycles, and how fast, a robot of another league walks on after its kick [m/s]."""
STORED = 256
"""How many walkers are stopped for the states that their kicks begin with."""
WALK_CYCLES, STOP_CYCLES, WALK_SPEEDS = (40, 60), (45, 75), (0.8, 0.4, 1.0)
"""How long robots of other leagues walk before they are stopped, how long before a kick that was [cycles], and how fast
they walk at most [m/s, m/s, rad/s]."""


@dataclass(frozen=True, kw_only=True)
class KickGoals:
    """What counts for a kick."""

    fall: float = 4.0
    """What a fall costs, in metres of the ball's way [m]."""
    within: float = 1.2
    """In which time the ball is to be hit [s]."""
    off: float = 0.05
    """How far balls lie from their place along each axis, at most [m]."""
    watched: int = 60
    """For how many cycles robots are watched after the motion."""


@dataclass(frozen=True, kw_only=True)
class Tries:
    """What came of motions, (motions, starts) each."""

    ahead: Floats
    """How far the ball comes straight ahead [m]."""
    aside: Floats
    """How far aside [m]."""
    stood: Floats
    """Whether the robot stands in the end: 1 or 0."""
    seconds: Floats
    """When the ball was hit; of a get-up how long the motion takes [s]."""
    earned: Floats
    """Reward of the whole episode (see `motion_task`)."""

    def __str__(self) -> str:
        stood = f"{self.stood.mean():.1%} of {self.stood.size} stood"
        if not self.ahead.any():
            return stood
        straight = (self.aside < STRAIGHT * self.ahead).mean()
        return (
            f"{self.ahead.mean():.2f} m (standard deviation {self.ahead.std():.2f}), {straight:.0%} within 15 degrees, "
            f"hit after {self.seconds.mean():.2f} s, {stood}"
        )


class MotionTrials:
    """Robots that try motions; `KickTrials` and `GetUpTrials` say which.

    Args:
        table: the robot.
        count: how many robots there are: as many as candidates times starts.
        starts: how often each candidate is tried.
    """

    def __init__(self, table: RobotTable, count: int, starts: int) -> None:
        self.table, self.count, self.starts = table, count, starts

    def run(self, motions: list[KeyframeMotion], seed: int) -> Tries:
        """Tries motions, all from the same starts; as many as share the robots evenly."""
        raise NotImplementedError

    def space(self, motion: KeyframeMotion, first: int = 1) -> Space:
        """The numbers that a motion's file names, around where they are; those of the frames before `first` stay."""
        table, found = self.table, {}
        for number, frame in list(enumerate(motion.frame, start=1))[first - 1 :]:
            short = min(QUICKEST, frame.seconds)
            found[f"frame{number}.seconds"] = Dimension(low=short, high=LONGER * frame.seconds, start=frame.seconds)
            for joint, degrees in frame.angles.items():
                low, high = np.degrees(table.limits[table.joints.index(joint)] + [STOP_MARGIN, -STOP_MARGIN])
                start = float(np.clip(degrees, low, high))
                found[f"frame{number}.{joint}"] = Dimension(
                    low=max(low, start - REACH), high=min(high, start + REACH), start=start
                )
        for axis, place in zip(("ahead", "left"), motion.ball, strict=True):
            slopes = getattr(motion, axis)
            for joint, slope in slopes.items():
                found[f"{axis}.{joint}"] = Dimension(low=-MOST_SLOPE, high=MOST_SLOPE, start=slope)
            if motion.lying == "no":
                nearest = NEAREST[motion.robot] if axis == "ahead" else -1.0
                place = max(place, nearest)  # noqa: PLW2901
                low = max(place - PLACE_REACH, nearest)
                found[f"ball.{axis}"] = Dimension(low=low, high=place + PLACE_REACH, start=place)
        return Space(found)

    def costs(self, motions: list[KeyframeMotion], seed: int) -> Floats:
        """What motions cost on average, (n,); smaller is better."""
        raise NotImplementedError


class KickTrials(MotionTrials):
    """Robots that kick as players do: keyframes first, then the policy of their walk keeps them on their feet.

    Args:
        robot: `nao-spark`, `nao-v6`, `t1` or `k1`.
        kind: its type.
        actuation: its drives: ideal, servo or motoflex.
        population: how many candidates are tried at once.
        starts: how often each.
        seed: of the states that kicks begin with.
        goals: what counts.
        threads: how many threads step the robots; results are the same.
        stored: how many walkers of another robot than `nao-spark` are stopped for the states that kicks begin with.
    """

    def __init__(
        self,
        robot: str,
        kind: str = "",
        *,
        actuation: str = "ideal",
        population: int,
        starts: int,
        seed: int = 1,
        goals: KickGoals | None = None,
        threads: int = 1,
        stored: int = STORED,
    ) -> None:
        placement = Placement(robot=robot, name=ROBOT_NAME, type=kind, actuation=actuation)
        self._league = robot == "nao-spark"
        field, ball = PITCHES[robot]
        self._brakes = load_ball(ball).rolling_deceleration or ROLLING_DECELERATION
        scene = assemble(SceneSettings(field=field, ball=ball, robots=(placement,), visuals=False))
        super().__init__(scene.robot(ROBOT_NAME), population * starts, starts)
        self.goals = goals or KickGoals()
        self._worlds = Worlds(scene, self.count, threads=threads)
        self._view, self._mirror = self._worlds.robot(ROBOT_NAME), Mirror.of(scene, self.table)
        self._height = float(scene.start[self.table.root + 2])
        joint = int(scene.model.body("ball").jntadr[0])
        self._ball, self._ball_rate = int(scene.model.jnt_qposadr[joint]), int(scene.model.jnt_dofadr[joint])
        policy = read_walk(WALKS[robot]).policy
        assert policy is not None
        first, second = np.random.default_rng(seed).spawn(2)
        self._walker = PolicyWalker(self._worlds, ROBOT_NAME, policy, rng=first)
        self._targets = JointTargets(self._worlds, ROBOT_NAME)
        # Configurations, velocities, and what drives remember, of robots that stand, (n, ...) each.
        if self._league:
            self._states = _stored_states(robot, kind, seed)
        else:
            self._states = _stopped_walkers(Worlds(scene, stored, threads=threads), policy, second)

    def run(self, motions: list[KeyframeMotion], seed: int) -> Tries:
        """Tries motions, all from the same starts; as many as share the robots evenly."""
        from scipy.stats.qmc import LatinHypercube  # here: it takes long to load

        each, worlds, goals = self.count // len(motions), self._worlds, self.goals
        count, which = each * len(motions), np.repeat(np.arange(len(motions)), each)
        rng = np.random.default_rng(seed)
        chosen = rng.integers(len(self._states[0]), size=each)
        # A Latin hypercube has as many near as far balls in every generation, so that candidates are told apart sooner.
        off = goals.off * (2.0 * LatinHypercube(2, rng=rng).random(each) - 1.0)
        seen = off + rng.normal(0.0, UNSURE, (each, 2))
        noise = rng.normal(0.0, JOINT_NOISE, (each, len(self.table.motors)))
        chosen, off, seen, noise = (np.concatenate([values] * len(motions)) for values in (chosen, off, seen, noise))
        self._begin(chosen, noise, np.array([motion.ball for motion in motions])[which] + off)
        facing, origin = yaw_of(self._view.pose), worlds.qpos[:, self._ball : self._ball + 2].copy()
        paths = [self._path(motion, seen[which == row], which == row) for row, motion in enumerate(motions)]
        ends = np.array([path.shape[1] for path in paths])[which]
        longest = int(ends.max())
        path = np.concatenate([np.pad(one, ((0, 0), (0, longest - one.shape[1]), (0, 0)), "edge") for one in paths])
        hit, fell, way = np.zeros(count, dtype=int), np.zeros(count, dtype=bool), np.zeros((count, 2))
        self._walker.reset()
        for cycle in range(longest + goals.watched):
            self._advance(path[:, min(cycle, longest - 1)], ends - cycle)
            fell |= (self._view.uprightness() < FALLEN_UP) | (self._view.pose[:, 2] < FALLEN_HEIGHT * self._height)
            rolls = np.abs(worlds.qvel[:, self._ball_rate : self._ball_rate + 2]).sum(axis=1) > BALL_MOVES
            hit = np.where((hit == 0) & rolls, cycle + 1, hit)
            # The flight of the league's ball is predicted exactly when the foot has left it. The other ball bounces a
            # little on its soft contact, so that its prediction is better the later it is made.
            away = cycle + 1 == hit + AWAY_CYCLES if self._league else cycle + 1 == longest + goals.watched
            for row in np.flatnonzero((hit > 0) & away).tolist():
                way[row] = self._rest(row) - origin[row]
        cos, sin = np.cos(facing), np.sin(facing)
        ahead, left = cos * way[:, 0] + sin * way[:, 1], cos * way[:, 1] - sin * way[:, 0]
        sound, shape = ~worlds.diverged(), (len(motions), each)
        return Tries(
            ahead=np.where(sound, ahead, 0.0).reshape(shape),
            aside=np.where(sound, np.abs(left), 0.0).reshape(shape),
            stood=(sound & ~fell).astype(float).reshape(shape),
            seconds=(CONTROL_CYCLE * hit).reshape(shape),
            earned=np.zeros(shape),
        )

    def _begin(self, chosen: Indices, noise: Floats, places: Floats) -> None:
        """Puts robots into stored states, with balls at places (N, 2) ahead of them and to their left [m]."""
        worlds, motors = self._worlds, self.table.angles[self.table.motor_joints]
        worlds.reset()
        for values, stored in zip(_state(worlds), self._states, strict=True):
            values[:] = stored[chosen]
        # Joints with servos are where these hold them, and so are left there.
        if not worlds.scene.setpoints.size:
            low, high = self.table.limits[self.table.motor_joints].T
            worlds.qpos[:, motors] = np.clip(worlds.qpos[:, motors] + noise, low + STOP_ANGLE, high - STOP_ANGLE)
        pose = self._view.pose
        cos, sin = np.cos(yaw_of(pose)), np.sin(yaw_of(pose))
        turned = [cos * places[:, 0] - sin * places[:, 1], sin * places[:, 0] + cos * places[:, 1]]
        ball = slice(self._ball, self._ball + 7)
        worlds.qpos[:, ball] = worlds.scene.start[ball]
        worlds.qpos[:, self._ball : self._ball + 2] = pose[:, :2] + np.stack(turned, axis=1)
        worlds.qvel[:, self._ball_rate : self._ball_rate + 6] = 0.0

    def _path(self, motion: KeyframeMotion, seen: Floats, rows: Bools) -> Floats:
        """Target angles of the robots that do a motion, (n, cycles, motors) [rad]."""
        start = self._worlds.qpos[:, self.table.angles[self.table.motor_joints]][rows]
        balls = [(float(ahead), float(left)) for ahead, left in seen]
        return np.stack(
            [
                motion_path(motion, self.table, self._mirror, begin, ball=ball)
                for begin, ball in zip(start, balls, strict=True)
            ]
        )

    def _advance(self, targets: Floats, left: Indices) -> None:
        """One cycle of all robots; `left` (N,) is how many cycles of its motion each still has."""
        walker = self._walker
        if (over := left == 0).any():
            walker.reset(np.flatnonzero(over))
        if (left <= 0).any():
            # A robot of the other league steps as it would in a game, where it walks on after its kick.
            steps = not self._league and bool((left > -STEP_CYCLES).any())
            walker.wanted[:] = 0.0
            walker.wanted[(left <= 0) & (left > -STEP_CYCLES), 0] = AFTER_SPEED if steps else 0.0
            walker.sample(0.0)
        if (left > 0).any():
            self._targets.follow(targets, left > 0)
        self._worlds.advance(CONTROL_CYCLE)

    def _rest(self, row: int) -> Floats:
        """Where the ball of a world will rest, (2,) [m]."""
        place = self._worlds.qpos[row, self._ball : self._ball + 7].tolist()
        rate = self._worlds.qvel[row, self._ball_rate : self._ball_rate + 6].tolist()
        spin = spin_in_world(tuple(place[3:]), tuple(rate[3:]))
        if self._league:
            return np.clip(rest_of_ball(tuple(place[:3]), tuple(rate[:3]), spin), -FAR_AWAY, FAR_AWAY)
        # A ball that slides keeps its momentum about the point of contact, and soon rolls at this velocity.
        radius = float(self._worlds.scene.start[self._ball + 2])
        rolls = (5 * np.array(rate[:2]) + 2 * radius * np.array([spin[1], -spin[0]])) / 7
        return np.asarray(np.array(place[:2]) + np.hypot(*rolls) / (2 * self._brakes) * rolls)

    def costs(self, motions: list[KeyframeMotion], seed: int) -> Floats:
        """What falls, times and ways aside cost, less the way ahead [m]."""
        tries, goals = self.run(motions, seed), self.goals
        late = np.maximum(tries.seconds - goals.within, 0.0)
        cost = ASIDE * tries.aside - tries.ahead + goals.fall * (1.0 - tries.stood) + LATE * late
        return np.asarray(cost.mean(axis=1))


def _state(worlds: Worlds) -> tuple[Floats, ...]:
    """Configurations and velocities, and what drives remember, (N, ...) each, live."""
    batch, scene = worlds.batch, worlds.scene
    remembered = ([batch.act, batch.ctrl] if scene.setpoints.size else []) + [batch.history] * bool(scene.history.size)
    return worlds.qpos, worlds.qvel, *remembered


def _stored_states(robot: str, kind: str, seed: int) -> tuple[Floats, ...]:
    """States of players of the league that stopped and stand, as training has them: (n, nq) and (n, nv)."""
    task = KickTask(robot, kind, 1, seed=seed)
    task.close()
    return task.stored.qpos, task.stored.qvel


def _stopped_walkers(worlds: Worlds, policy: PolicySettings, rng: np.random.Generator) -> tuple[Floats, ...]:
    """States of walkers that stopped a moment ago, as `_state` has them."""
    count = worlds.count
    worlds.put_ball(BALL_AWAY)
    walker = PolicyWalker(worlds, ROBOT_NAME, policy, rng=rng.spawn(1)[0])
    walker.wanted[:] = rng.uniform(-1.0, 1.0, (count, 3)) * np.minimum(WALK_SPEEDS, policy.fastest)
    stops = rng.integers(*WALK_CYCLES, count)
    stored = stops + rng.integers(*STOP_CYCLES, count)
    state = _state(worlds)
    found = tuple(values.copy() for values in state)
    for cycle in range(WALK_CYCLES[1] + STOP_CYCLES[1]):
        walker.wanted[cycle >= stops] = 0.0
        walker.sample(0.0)
        worlds.advance(CONTROL_CYCLE)
        now = stored == cycle
        for kept, values in zip(found, state, strict=True):
            kept[now] = values[now]
    stands = found[0][:, worlds.robot(ROBOT_NAME).table.root + 2] > 0.85 * worlds.scene.start[2]
    return tuple(kept[stands] for kept in found)


class GetUpTrials(MotionTrials):
    """Robots that get up from one side, with the network that corrects their motion.

    Args:
        robot: which.
        motion: where the search begins.
        kind: the robot's type.
        population: how many candidates are tried at once.
        starts: how often each.
        seed: of the states that get-ups begin with.
        jolt: standard deviation of the random changes of the torso's velocity in every cycle [m/s], with four times as
            much in rad/s. With them a search prefers motions that also succeed when something differs a little.
    """

    def __init__(
        self,
        robot: str,
        motion: KeyframeMotion,
        kind: str,
        *,
        population: int,
        starts: int,
        seed: int = 1,
        jolt: float = 0.0,
    ) -> None:
        task = GetUpTask(
            robot, kind, population * starts, seed=seed, rewards=MotionRewards(seconds=10.0, standing=STANDING)
        )
        side = task.stored.motion == (motion.lying == "back")
        task.stored = type(task.stored)(*(values[side] for values in task.stored))
        super().__init__(task.table, task.count, starts)
        self.task = task
        self.network = motion.correction.network(kind) if motion.correction is not None else None
        """What corrects the motions, if anything does."""
        self._jolt = jolt * np.array([1.0, 1.0, 1.0, TURN_JOLT, TURN_JOLT, TURN_JOLT])

    def run(self, motions: list[KeyframeMotion], seed: int) -> Tries:
        """Tries motions, all from the same starts; as many as share the robots evenly."""
        task, each = self.task, self.count // len(motions)
        task.use(motions, np.arange(task.count) // each)
        task.episodes["seed"] = np.tile(np.random.SeedSequence(seed).generate_state(each, np.uint64), len(motions))
        task.measures()
        task.begin(np.arange(task.count))
        done, earned, stood = np.zeros(task.count, dtype=bool), np.zeros(task.count), np.zeros(task.count)
        actions = np.zeros((task.count, task.actions), np.float32)
        rng, rate = np.random.default_rng(seed), self.table.root_rate
        while not done.all():
            if self._jolt.any():
                jolts = rng.standard_normal((each, 6)) * self._jolt
                task.worlds.qvel[:, rate : rate + 6] += np.tile(jolts, (len(motions), 1))
            if self.network is not None:
                actions = answers(task.observation, self.network, task.image)
            task.advance(actions)
            earned[~done] += task.reward[~done]
            first = task.ended & ~done
            stood[first] = task.episodes["stood"][first]
            done |= first
        shape = len(motions), each
        none, seconds = np.zeros(shape), np.array([motion.seconds for motion in motions])[:, None]
        return Tries(
            ahead=none,
            aside=none,
            stood=stood.reshape(shape),
            seconds=np.broadcast_to(seconds, shape),
            earned=earned.reshape(shape),
        )

    def costs(self, motions: list[KeyframeMotion], seed: int) -> Floats:
        """The share that does not stand, less a little for what was earned on the way."""
        tries = self.run(motions, seed)
        seconds = np.array([motion.seconds for motion in motions])
        share = tries.earned.mean(axis=1) / (seconds + CONTROL_CYCLE * STANDING)
        late = np.maximum(seconds - LONGEST, 0.0)
        return np.asarray((1.0 - tries.stood).mean(axis=1) - EARNED * share + HASTE * seconds + LATE * late)


class MotionSearch:
    """CMA-ES over the numbers of a motion.

    Args:
        trials: the robots that try candidates.
        motion: where it begins.
        step: the first standard deviation, as a share of each number's range.
        seed: of candidates and starts.
        first: the first frame whose numbers are searched, counted from 1.
    """

    def __init__(
        self, trials: MotionTrials, motion: KeyframeMotion, *, step: float = 0.1, seed: int = 1, first: int = 1
    ) -> None:
        self.trials, self._begun, self.space = trials, motion, trials.space(motion, first)
        population = trials.count // trials.starts
        self._searcher = CmaEs(self.space, CmaEsSettings(population=population, step=step), np.random.default_rng(seed))
        self._seeds = np.random.default_rng([seed, 1])
        self.generations = 0
        """How many are done."""

    def advance(self) -> Floats:
        """A generation; returns what its candidates cost."""
        tried = [self._with(row) for row in self._searcher.ask()]
        costs = self.trials.costs(tried, int(self._seeds.integers(2**31)))
        self._searcher.tell(costs)
        self.generations += 1
        return costs

    @property
    def finished(self) -> str:
        """Why the search has ended; empty while it has not."""
        return self._searcher.finished

    @property
    def motion(self) -> KeyframeMotion:
        """The mean of the distribution."""
        return self._with(self._searcher.mean)

    def _with(self, row: Floats) -> KeyframeMotion:
        return self._begun.with_numbers(dict(zip(self.space.names, row.tolist(), strict=True)))


def answers(seen: Floats32, network: Network, image: MirrorImage) -> Any:  # noqa: ANN401 (an array)
    """What a network answers to N robots, (N, observations) to (N, actions), equal on both sides of a mirror."""
    turned = seen[:, image.observation] * image.observation_sign
    values: Any = np.clip(
        (np.concatenate([seen, turned]) - network.mean) * network.scale, -OBSERVATION_LIMIT, OBSERVATION_LIMIT
    )
    place, sizes = 0, network.sizes.tolist()
    for wide, out in itertools.pairwise(sizes):
        end = place + wide * out
        values = values @ network.layers[place:end].reshape(wide, out) + network.layers[end : end + out]
        place = end + out
        if place < len(network.layers):
            values = np.tanh(values)
    straight, mirrored = np.split(values, 2)
    return (straight + mirrored[:, image.action] * image.action_sign) / 2
