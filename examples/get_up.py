"""Measures a get-up, or searches its keyframes for quicker ones with CMA-ES.

    python examples/get_up.py measure nao-spark front
    python examples/get_up.py search nao-spark front 400 quicker.toml       # evaluations, and where to write

A robot lies in one of four ways: toppled from standing, or dropped flat with its limbs straight, anyhow, or as in the
pose `ready`. The cost of a try is the time until the robot stands for good; a try in which it does not stand costs
more, and the more the lower its head is, so that a search knows which way is better. Frames are played alone, without
the network that may correct them: `scripts/measure_motions.py` measures get-ups as players have them. A Booster T1 or
K1 does not stand by itself: at the end of its motion the policy of its walk takes over.
"""

import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator, SeedSequence

from nutmeg.base.arrays import Bools, Floats
from nutmeg.model.posing import pose_angles
from nutmeg.model.scene import Placement, Scene, SceneSettings, assemble
from nutmeg.motion.bodies import JointTargets
from nutmeg.motion.inertial import Lying
from nutmeg.motion.keyframes import SETTLE_SECONDS, GetUp, KeyframeMotion, shipped_get_up, write_motion
from nutmeg.motion.policy import PolicyWalker
from nutmeg.motion.walk.files import read_walk
from nutmeg.search.evaluation import InThisThread
from nutmeg.search.run import minimise
from nutmeg.search.searchers import CmaEs, CmaEsSettings
from nutmeg.search.space import Dimension, Space
from nutmeg.sim.worlds import StartState, Worlds, set_start_state

ROBOT, CYCLE = "faller", 0.02
WAYS = ("toppled", "straight", "anyhow", "ready")  # how a robot comes to lie; the tries take turns
HEADS = np.array([[0.0], [0.0], [np.pi], [np.pi / 2], [-np.pi / 2]])  # where the head points to, by `Lying` [rad]
JOINT_NOISE, ANYHOW_NOISE, TILT_NOISE = 0.08, 0.5, 0.15  # standard deviations [rad]
STOP_MARGIN = (
    0.01  # a drive of the league's robot hears no command while its joint is at a stop, so none begins there [rad]
)
DROP_HEIGHT, DROP_SHARE = (
    0.22,
    0.57,
)  # nothing that sticks out of a flat robot reaches the ground there [m, share of its height]
REST_SECONDS = 0.8  # to fall and come to rest before a try begins
STANDING_SECONDS = 1.0  # how long a robot must have stood at the end of a try
UPRIGHT_COSINE, HEIGHT_SHARE = 0.95, 0.9  # a robot stands this upright, with this share of its standing height
WALKS = {"t1": "policy-t1", "k1": "policy-k1"}  # the policies that take over at the end of a get-up
FAILED_SECONDS = 3.0  # what a failed try costs, on top of the whole time and of how low the robot ended


@dataclass(frozen=True)
class Results:
    """What B tries came to: who stood for good, when, and what it cost, (B,) each."""

    stood: Bools
    seconds: Floats
    cost: Floats

    def __str__(self) -> str:
        when = f", after {self.seconds[self.stood].mean():.2f} s" if self.stood.any() else ""
        return f"{int(self.stood.sum())} of {len(self.stood)} stood{when}"


@functools.lru_cache(maxsize=8)
def lying_scene(robot: str, kind: str = "", actuation: str = "ideal") -> Scene:
    """A floor with the robot, without what is only seen."""
    placement = Placement(robot=robot, name=ROBOT, type=kind, actuation=actuation)
    return assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))


def lay_down(worlds: Worlds, side: Lying, ways: Sequence[int], generators: Sequence[Generator]) -> None:
    """Lays the robot down in all worlds, at rest; `ways` (N,) are indices of `WAYS`."""
    worlds.reset()
    view = worlds.robot(ROBOT)
    table, pose, way = view.table, view.pose.copy(), np.asarray(ways)
    drawn = np.stack([np.clip(rng.standard_normal(len(table.joints) + 2), -2.0, 2.0) for rng in generators])
    anyhow, toppled = way == WAYS.index("anyhow"), way == WAYS.index("toppled")
    low, high = table.limits.T + np.array([[STOP_MARGIN], [-STOP_MARGIN]])
    ready = pose_angles(table.settings, table, "ready")
    middle = np.where((way == WAYS.index("straight"))[:, None], np.clip(0.0, low, high), ready)
    angles = np.clip(middle + np.where(anyhow, ANYHOW_NOISE, JOINT_NOISE)[:, None] * drawn[:, 2:], low, high)
    half, direction = np.where(toppled, 0.35, np.pi / 4)[:, None], HEADS[side] + TILT_NOISE * drawn[:, 0]
    axis = np.stack([-np.sin(direction), np.cos(direction)], axis=1)
    pose[:, 3:7] = np.concatenate([np.cos(half), axis * np.sin(half), 0 * half], axis=1)
    pose[:, 2] = np.where(toppled, pose[:, 2] * 0.95, np.maximum(pose[:, 2] * DROP_SHARE, DROP_HEIGHT))
    velocity = np.zeros((worlds.count, 6))
    velocity[:, 3:5] = axis * np.where(toppled, 1.5, 0.0)[:, None]
    set_start_state(worlds, ROBOT, StartState(angles=angles, pose=pose, velocity=velocity))
    targets = JointTargets(worlds, ROBOT, period=CYCLE)
    held = targets.angles.copy()
    for _ in range(round(REST_SECONDS / CYCLE)):
        targets.follow(held)
        worlds.advance(CYCLE)


def try_get_ups(worlds: Worlds, motions: Sequence[KeyframeMotion], side: Lying, limit: float) -> Results:
    """Lets robots that lie get up, each once, with a motion each; `limit` is the time they have [s]."""
    view, targets = worlds.robot(ROBOT), JointTargets(worlds, ROBOT, period=CYCLE)
    get_up = GetUp(worlds, ROBOT, {motions[0].lying: motions}, period=CYCLE)
    get_up.begin(np.arange(worlds.count), side)
    height = float(worlds.scene.start[view.table.root + 2])
    since, lowest, ended = np.full(worlds.count, np.nan), np.full(worlds.count, 2.0), np.zeros(worlds.count)
    walk = read_walk(WALKS[motions[0].robot]).policy if motions[0].robot in WALKS else None
    walker = None if walk is None else PolicyWalker(worlds, ROBOT, walk, period=CYCLE)
    for cycle in range(round(limit / CYCLE)):
        before = get_up.active.copy()
        get_up.sample(cycle * CYCLE)
        if walker is None:
            targets.follow(get_up.targets)
        else:
            if (over := before & ~get_up.active).any():
                walker.reset(np.flatnonzero(over))
            walker.sample(cycle * CYCLE)
            targets.follow(get_up.targets, get_up.active)
        worlds.advance(CYCLE)
        upright, high = view.uprightness(), view.pose[:, 2] / height
        stands = (upright > UPRIGHT_COSINE) & (high > HEIGHT_SHARE)
        since = np.where(stands, np.where(np.isnan(since), (cycle + 1) * CYCLE, since), np.nan)
        ended = np.nan_to_num(1 - np.minimum(high, 1.0) + (1 - upright) / 2, nan=2.0)
        lowest = np.minimum(lowest, ended)
    stood = (since <= limit - STANDING_SECONDS + 1e-9) & ~worlds.diverged()
    seconds = np.where(stood, since, limit)
    return Results(stood, seconds, seconds + np.where(stood, 0.0, FAILED_SECONDS * (1 + (lowest + ended) / 2)))


@dataclass(frozen=True, kw_only=True)
class GetUpTrials:
    """The cost of keyframes as a mean over `starts` ways to lie: a function for every evaluator of `nutmeg.search`."""

    motion: KeyframeMotion  # where numbers that are not searched come from
    names: tuple[str, ...] = ()  # the searched numbers, as `get_up_space` names them
    starts: int = 4
    kind: str = ""  # one of the robot's types
    actuation: str = "ideal"
    longest: float = 2.0  # the longest time that a get-up may take [s]

    def motion_of(self, candidate: Floats) -> KeyframeMotion:
        """The get-up with a candidate's numbers, (k,): seconds and radians."""
        named = dict(zip(self.names, np.asarray(candidate, float).tolist(), strict=True))
        return self.motion.with_numbers(
            {name: value if name.endswith(".seconds") else float(np.degrees(value)) for name, value in named.items()}
        )

    def __call__(self, candidates: Floats, generators: Sequence[Generator]) -> list[float]:
        """Costs of candidates (n, k), smaller is better."""
        motions = [self.motion_of(row) for row in candidates]
        costs = self.results(motions, generators).cost.reshape(len(motions), -1).mean(axis=1)
        return [float(cost) for cost in costs]

    def results(self, motions: Sequence[KeyframeMotion], generators: Sequence[Generator]) -> Results:
        """What motions came to from every start, motion by motion."""
        scene = lying_scene(self.motion.robot, self.kind, self.actuation)
        worlds = Worlds(scene, len(motions) * self.starts, threads=1)
        side = {"front": Lying.FRONT, "back": Lying.BACK, "side": Lying.LEFT}[self.motion.lying]
        spawned = [rng for generator in generators for rng in generator.spawn(self.starts)]
        lay_down(worlds, side, [number % len(WAYS) for _ in motions for number in range(self.starts)], spawned)
        each = [motion for motion in motions for _ in range(self.starts)]
        return try_get_ups(worlds, each, side, self.longest + SETTLE_SECONDS + STANDING_SECONDS)


def get_up_space(motion: KeyframeMotion, *, reach: float = 25.0, kind: str = "") -> Space:
    """The angles and times that a get-up's frames name: angles `reach` degrees either way, times halved to doubled."""
    table = lying_scene(motion.robot, kind).robot(ROBOT)
    found: dict[str, Dimension] = {}
    for number, frame in enumerate(motion.frame, start=1):
        short = min(max(frame.seconds / 2, 0.04), frame.seconds)
        found[f"frame{number}.seconds"] = Dimension(low=short, high=frame.seconds * 2, start=frame.seconds, unit="s")
        for joint, degrees in frame.angles.items():
            low, high = table.limits[table.joints.index(joint)]
            start, about = float(np.clip(np.radians(degrees), low, high)), np.radians(reach)
            found[f"frame{number}.{joint}"] = Dimension(
                low=max(low, start - about), high=min(high, start + about), start=start, unit="rad"
            )
    return Space(found)


def measure_get_up(
    motion: KeyframeMotion, *, trials: int = 20, seed: int = 0, kind: str = "", actuation: str = "ideal"
) -> Results:
    """How often and how fast a get-up works from noisy ways to lie."""
    judged = GetUpTrials(motion=motion, starts=trials, kind=kind, actuation=actuation, longest=motion.seconds + 1.0)
    return judged.results([motion], [np.random.default_rng(SeedSequence(seed, spawn_key=(11,)))])


def search_get_up(
    motion: KeyframeMotion, evaluations: int, *, reach: float = 12.0, population: int = 20
) -> KeyframeMotion:
    """The get-up whose numbers CMA-ES found, starting at those of `motion`."""
    space = get_up_space(motion, reach=reach)
    trials = GetUpTrials(motion=motion, names=space.names, starts=6, longest=motion.seconds + 0.2)
    searcher = CmaEs(space, CmaEsSettings(step=0.06, population=population), np.random.default_rng(1))
    return trials.motion_of(minimise(trials, searcher, InThisThread(), budget=evaluations).mean)


if __name__ == "__main__":
    action, robot, side, *rest = sys.argv[1:]
    shipped = shipped_get_up(robot, side)  # type: ignore[arg-type]
    print("shipped:", measure_get_up(shipped, seed=300))
    if action == "search":
        better = search_get_up(shipped, int(rest[0]))
        print("searched:", measure_get_up(better, seed=300))
        write_motion(Path(rest[1]), better)
