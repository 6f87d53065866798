"""Searching keyframe motions: kicks and get-ups, tried by many robots at once from states that players come into.

    trials = KickTrials("nao-spark", "type0", population=32, starts=12)
    search = MotionSearch(trials, shipped_motion("nao-spark", "kick"), step=0.1, seed=1)
    for _ in range(100):
        search.advance()                                # a generation of CMA-ES
    search.motion                                       # the mean of its distribution
    trials.measure(search.motion, seed=2)               # what it does from other starts

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
from nutmeg.learning.policies.motion_task import GetUpTask, KickTask, MotionRewards, MotionTask
from nutmeg.motion.policy import CUT
from nutmeg.search.searchers import CmaEs, CmaEsSettings
from nutmeg.search.space import Dimension, Space

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats, Floats32
    from nutmeg.motion.keyframes import KeyframeMotion
    from nutmeg.motion.policy import MirrorImage, Network

REACH, PLACE_REACH, MOST_SLOPE = 50.0, 0.06, 400.0
"""How far a search goes from where it begins: angles [degrees], the ball's place [m]; the largest slope [degrees/m]."""
NEAREST = 0.19
"""Balls are not nearer than this ahead of the torso [m]: the feet of a robot that stands would be in them."""
QUICKEST, LONGER = 0.04, 1.6
"""The shortest time of a frame [s], and how many times as long as at the beginning one may become."""
STOP_MARGIN = 1.0
"""Angles keep this far from the stops of their joints [degrees]: a drive of the league at a stop hears nothing."""
STANDING = 50
"""For how many cycles a robot must stand after a get-up."""
LONGEST = 1.9
"""What a get-up may take [s]."""
STRAIGHT = math.tan(math.radians(15.0))
"""Metres aside for each metre ahead, of a kick that is straight."""
ASIDE, LATE = 1.5, 30.0
"""What a metre aside costs, in metres ahead; and a second after the time in which the ball was to be hit [m]."""


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
        task: the robots: as many as candidates times starts.
        starts: how often each candidate is tried.
    """

    def __init__(self, task: MotionTask, starts: int) -> None:
        self.task, self.starts = task, starts
        self.network: Network | None = None
        """What corrects the motions, if anything does."""

    def run(self, motions: list[KeyframeMotion], seed: int) -> Tries:
        """Tries motions, all from the same starts; as many as share the robots evenly."""
        task, each = self.task, self.task.count // len(motions)
        task.use(motions, np.arange(task.count) // each)
        task.episodes["seed"] = np.tile(np.random.SeedSequence(seed).generate_state(each, np.uint64), len(motions))
        task.measures()
        task.begin(np.arange(task.count))
        done, earned = np.zeros(task.count, dtype=bool), np.zeros(task.count)
        found = {name: np.zeros(task.count) for name in ("distance", "aside", "stood", "hit")}
        actions = np.zeros((task.count, task.actions), np.float32)
        while not done.all():
            if self.network is not None:
                actions = answers(task.observation, self.network, task.image)
            task.advance(actions)
            earned[~done] += task.reward[~done]
            first = task.ended & ~done
            for name, values in found.items():
                values[first] = task.episodes[name][first]
            done |= first
        shape = len(motions), each
        return Tries(
            ahead=found["distance"].reshape(shape),
            aside=found["aside"].reshape(shape),
            stood=found["stood"].reshape(shape),
            seconds=(CONTROL_CYCLE * found["hit"]).reshape(shape),
            earned=earned.reshape(shape),
        )

    def space(self, motion: KeyframeMotion) -> Space:
        """The numbers that a motion's file names, around where they are."""
        table, found = self.task.table, {}
        for number, frame in enumerate(motion.frame, start=1):
            short = min(QUICKEST, frame.seconds)
            found[f"frame{number}.seconds"] = Dimension(low=short, high=LONGER * frame.seconds, start=frame.seconds)
            for joint, degrees in frame.angles.items():
                low, high = np.degrees(table.limits[table.joints.index(joint)]) + np.array([STOP_MARGIN, -STOP_MARGIN])
                start = float(np.clip(degrees, low, high))
                found[f"frame{number}.{joint}"] = Dimension(
                    low=max(low, start - REACH), high=min(high, start + REACH), start=start
                )
        for axis, place in zip(("ahead", "left"), motion.ball, strict=True):
            slopes = getattr(motion, axis)
            for joint, slope in slopes.items():
                found[f"{axis}.{joint}"] = Dimension(low=-MOST_SLOPE, high=MOST_SLOPE, start=slope)
            if motion.lying == "no":
                nearest = NEAREST if axis == "ahead" else -1.0
                place = max(place, nearest)  # noqa: PLW2901
                low = max(place - PLACE_REACH, nearest)
                found[f"ball.{axis}"] = Dimension(low=low, high=place + PLACE_REACH, start=place)
        return Space(found)

    def costs(self, motions: list[KeyframeMotion], seed: int) -> Floats:
        """What motions cost on average, (n,); smaller is better."""
        raise NotImplementedError


class KickTrials(MotionTrials):
    """Robots that kick.

    Args:
        robot: which.
        kind: its type.
        population: how many candidates are tried at once.
        starts: how often each.
        seed: of the states that kicks begin with.
        fall: what a fall costs [m].
        within: in which time the ball is to be hit [s].
    """

    def __init__(
        self,
        robot: str,
        kind: str,
        *,
        population: int,
        starts: int,
        seed: int = 1,
        fall: float = 2.0,
        within: float = 1.2,
    ) -> None:
        super().__init__(KickTask(robot, kind, population * starts, seed=seed), starts)
        self.fall, self.within = fall, within

    def watch(self, cycles: int, level: float) -> None:
        """For how long robots are watched after the hit, and how far balls may lie from their place, 0..1."""
        self.task.rewards["watched"] = cycles
        self.task.use_level(level)

    def costs(self, motions: list[KeyframeMotion], seed: int) -> Floats:
        """What falls, times and ways aside cost, less the way ahead [m]."""
        tries = self.run(motions, seed)
        late = np.maximum(tries.seconds - self.within, 0.0)
        cost = ASIDE * tries.aside - tries.ahead + self.fall * (1.0 - tries.stood) + LATE * late
        return np.asarray(cost.mean(axis=1))


class GetUpTrials(MotionTrials):
    """Robots that get up from one side, with the network that corrects their motion.

    Args:
        robot: which.
        motion: where the search begins.
        kind: the robot's type.
        population: how many candidates are tried at once.
        starts: how often each.
        seed: of the states that get-ups begin with.
    """

    def __init__(
        self, robot: str, motion: KeyframeMotion, kind: str, *, population: int, starts: int, seed: int = 1
    ) -> None:
        task = GetUpTask(
            robot, kind, population * starts, seed=seed, rewards=MotionRewards(seconds=10.0, standing=STANDING)
        )
        side = task.stored.motion == (motion.lying == "back")
        task.stored = type(task.stored)(*(values[side] for values in task.stored))
        super().__init__(task, starts)
        self.network = motion.correction.network(kind) if motion.correction is not None else None

    def costs(self, motions: list[KeyframeMotion], seed: int) -> Floats:
        """The share that does not stand, and a little for what was earned on the way."""
        tries = self.run(motions, seed)
        seconds = np.array([motion.seconds for motion in motions])
        share = tries.earned.mean(axis=1) / (seconds + CONTROL_CYCLE * STANDING)
        late = np.maximum(seconds - LONGEST, 0.0)
        return np.asarray((1.0 - tries.stood).mean(axis=1) - 0.05 * share + 0.05 * seconds + LATE * late)


class MotionSearch:
    """CMA-ES over the numbers of a motion.

    Args:
        trials: the robots that try candidates.
        motion: where it begins.
        step: the first standard deviation, as a share of each number's range.
        seed: of candidates and starts.
    """

    def __init__(self, trials: MotionTrials, motion: KeyframeMotion, *, step: float = 0.1, seed: int = 1) -> None:
        self.trials, self._begun, self.space = trials, motion, trials.space(motion)
        population = trials.task.count // trials.starts
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
    values: Any = np.clip((np.concatenate([seen, turned]) - network.mean) * network.scale, -CUT, CUT)
    place, sizes = 0, network.sizes.tolist()
    for wide, out in itertools.pairwise(sizes):
        end = place + wide * out
        values = values @ network.layers[place:end].reshape(wide, out) + network.layers[end : end + out]
        place = end + out
        if place < len(network.layers):
            values = np.tanh(values)
    straight, mirrored = np.split(values, 2)
    return (straight + mirrored[:, image.action] * image.action_sign) / 2
