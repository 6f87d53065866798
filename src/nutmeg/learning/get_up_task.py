"""Learning to get up: what keyframes are worth, from many ways to lie, and the space of their angles and times.

    motion = shipped_get_up("nao-spark", "front")
    space = get_up_space(motion, reach=20.0)
    trials = GetUpTrials(motion=motion, names=space.names, starts=4)
    found = minimise(trials, CmaEs(space, CmaEsSettings(step=0.15), rng), InThisThread(), budget=400)
    better = trials.motion_of(found.mean)
    measure_get_up(better, trials=20, seed=1).stood

A robot lies in one of `WAYS`: toppled from standing, or dropped flat with straight limbs, with limbs anyhow, or with
limbs as the get-up itself leaves them when it fails. Worth is the time until the robot stands for good; one that does
not stand costs more, and the more the lower its head is, so that a search knows which way is better.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import SeedSequence

from nutmeg.base.arrays import Bools, Floats
from nutmeg.base.errors import UsageError
from nutmeg.model.posing import pose_angles
from nutmeg.model.scene import Placement, Scene, SceneSettings, assemble
from nutmeg.motion.bodies import JointTargets
from nutmeg.motion.inertial import Lying
from nutmeg.motion.keyframes import SETTLE_SECONDS, GetUp, GetUpMotion
from nutmeg.search.space import Dimension, Space
from nutmeg.sim.worlds import StartState, Worlds, set_start_state

if TYPE_CHECKING:
    from nutmeg.model.tables import RobotTable


ROBOT = "faller"
CYCLE = 0.02
"""Control cycle [s]."""
WAYS = ("toppled", "straight", "anyhow", "ready")
"""How a robot comes to lie; the tries take turns."""
LYING = 0.8
"""Time to fall and come to rest before a try begins [s]."""
STANDING_FOR = 1.0
"""How long a robot must have stood at the end of a try [s]."""
UPRIGHT, HIGH = 0.95, 0.9
"""A robot stands with its torso this upright (cosine), and this share of its standing height above the ground."""
LAST_HOPE, LOST = 0.4, 0.6
"""A robot that leans more than this (cosine) so long after the motion's end is not simulated any further [s]."""
QUICKEST = 0.04
"""The shortest time between frames that is searched [s]."""
FAILED = 3.0
"""What a try costs in which the robot does not stand, on top of the whole time and of how low it ended [s]."""


@dataclass(frozen=True, kw_only=True)
class LyingNoise:
    """How much ways to lie differ: standard deviations, cut off at two of them."""

    joints: float = 0.08
    """Of every joint's angle, toppled, straight or ready [rad]."""
    anyhow: float = 0.5
    """Of the angles of arms and legs that lie anyhow [rad]."""
    tilt: float = 0.15
    """Of the torso's tilt to the side [rad]."""

    def __post_init__(self) -> None:
        for name in ("joints", "anyhow", "tilt"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"lying noise: {name} is {getattr(self, name):g}; allowed is 0..1.")


@dataclass(frozen=True)
class GetUpResults:
    """What B tries came to."""

    stood: Bools
    """Who stood for good, (B,)."""
    seconds: Floats
    """When; the whole time for those who did not, (B,)."""
    cost: Floats
    """Seconds, and more for those who did not stand, (B,)."""

    def __str__(self) -> str:
        when = f", after {self.seconds[self.stood].mean():.2f} s" if self.stood.any() else ""
        return f"{int(self.stood.sum())} of {len(self.stood)} stood{when}"


@functools.lru_cache(maxsize=8)
def lying_scene(robot: str, kind: str = "", actuation: str = "ideal") -> Scene:
    """A floor with the robot, without what is only seen."""
    placement = Placement(robot=robot, name=ROBOT, type=kind, actuation=actuation)
    return assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))


def begin_lying(
    worlds: Worlds,
    robot: str,
    sides: Sequence[Lying],
    generators: Sequence[np.random.Generator],
    *,
    noise: LyingNoise | None = None,
    ways: Sequence[int] | None = None,
) -> None:
    """Lays a robot down in all worlds, at rest: `sides` (N,) below, each world with its own generator.

    `ways` are indices of `WAYS`, (N,); without them each world draws its own.
    """
    noise = noise or LyingNoise()
    worlds.reset()
    view = worlds.robot(robot)
    table, pose = view.table, view.pose.copy()
    width = len(table.joints) + 2
    drawn = np.stack([np.clip(rng.standard_normal(width), -2.0, 2.0) for rng in generators])
    chosen = np.array([int(rng.integers(len(WAYS))) for rng in generators])
    way = chosen if ways is None else np.asarray(ways)
    anyhow, toppled = way == WAYS.index("anyhow"), way == WAYS.index("toppled")
    ready = pose_angles(table.settings, table, "ready")
    straight = _straight(table)
    middle = np.where((way == WAYS.index("straight"))[:, None], straight, ready)
    angles = middle + np.where(anyhow, noise.anyhow, noise.joints)[:, None] * drawn[:, 2:]
    angles = np.clip(angles, table.limits[:, 0], table.limits[:, 1])
    side = np.asarray(sides)
    lean = np.where(toppled, 0.7, np.pi / 2)
    direction = _DIRECTIONS[side] + noise.tilt * drawn[:, :1]
    axis = np.stack([-np.sin(direction[:, 0]), np.cos(direction[:, 0])], axis=1)
    pose[:, 3:7] = np.concatenate(
        [np.cos(lean / 2)[:, None], axis * np.sin(lean / 2)[:, None], 0 * axis[:, :1]], axis=1
    )
    pose[:, 2] = np.where(toppled, pose[:, 2] * 0.95, _DROP)
    velocity = np.zeros((worlds.count, 6))
    velocity[:, 3:5] = axis * np.where(toppled, 1.5, 0.0)[:, None]
    set_start_state(worlds, robot, StartState(angles=angles, pose=pose, velocity=velocity))
    goals = JointTargets(worlds, robot, period=CYCLE)
    held = goals.angles.copy()
    for _ in range(round(LYING / CYCLE)):
        goals.follow(held)
        worlds.step(_steps(worlds))


_DIRECTIONS = np.array([[0.0], [0.0], [np.pi], [np.pi / 2], [-np.pi / 2]])
"""Where the head points to of a robot that fell on each side, from the direction it faced, by `Lying` [rad]."""
_DROP = 0.22
"""Height from which flat robots are dropped: nothing that sticks out reaches the ground there [m]."""


def _straight(table: RobotTable) -> Floats:
    """All joints at zero, or as near as their limits allow, (joints,)."""
    return np.asarray(np.clip(0.0, table.limits[:, 0], table.limits[:, 1]))


def _steps(worlds: Worlds) -> int:
    return max(round(CYCLE / worlds.scene.timestep), 1)


def try_get_ups(worlds: Worlds, motions: Sequence[GetUpMotion], *, limit: float, robot: str = ROBOT) -> GetUpResults:
    """Lets robots that lie get up, each once, with a motion each; `limit` is the time they have [s]."""
    view, goals = worlds.robot(robot), JointTargets(worlds, robot, period=CYCLE)
    side = motions[0].lying
    get_up = GetUp(worlds, robot, {side: motions}, period=CYCLE)
    get_up.begin(np.arange(worlds.count), {"front": Lying.FRONT, "back": Lying.BACK, "side": Lying.LEFT}[side])
    height = float(worlds.scene.start[view.table.root + 2])
    since = np.full(worlds.count, np.nan)
    lowest, ended = np.full(worlds.count, 2.0), np.zeros(worlds.count)
    steps, cycles = _steps(worlds), round(limit / CYCLE)
    ends, hopeless = np.array([motion.seconds for motion in motions]), np.zeros(worlds.count, dtype=bool)
    for cycle in range(cycles):
        get_up.sample(cycle * CYCLE)
        goals.follow(get_up.targets)
        hopeless |= (cycle * CYCLE >= ends + LAST_HOPE) & (view.uprightness() < LOST)
        worlds.step(steps, np.flatnonzero(~hopeless))
        if hopeless.all():
            break
        stands = (view.uprightness() > UPRIGHT) & (view.pose[:, 2] > HIGH * height)
        since = np.where(stands, np.where(np.isnan(since), (cycle + 1) * CYCLE, since), np.nan)
        low = np.nan_to_num(1 - np.minimum(view.pose[:, 2] / height, 1.0) + (1 - view.uprightness()) / 2, nan=2.0)
        lowest, ended = np.minimum(lowest, low), low
    stood = (since <= limit - STANDING_FOR + 1e-9) & ~worlds.diverged()
    seconds = np.where(stood, since, limit)
    return GetUpResults(stood, seconds, seconds + np.where(stood, 0.0, FAILED * (1 + (lowest + ended) / 2)))


@dataclass(frozen=True, kw_only=True)
class GetUpTrials:
    """Judges keyframes; a function for every evaluator of `nutmeg.search`: the mean cost over the starts [s]."""

    motion: GetUpMotion
    """Where numbers that are not searched come from."""
    names: tuple[str, ...]
    """The searched numbers, as `get_up_space` names them."""
    starts: int = 4
    """From how many ways to lie each candidate is tried."""
    kind: str = ""
    """One of the robot's types."""
    actuation: str = "ideal"
    noise: LyingNoise = LyingNoise()
    longest: float = 2.0
    """The longest time a get-up may take, `SETTLE` and standing not counted [s]."""

    def motion_of(self, candidate: Floats) -> GetUpMotion:
        """The get-up with a candidate's numbers, (k,): seconds and radians."""
        numbers = np.asarray(candidate, float).tolist()
        named = dict(zip(self.names, numbers, strict=True))
        return self.motion.with_numbers(
            {name: value if name.endswith(".seconds") else float(np.degrees(value)) for name, value in named.items()}
        )

    def __call__(self, candidates: Floats, generators: Sequence[np.random.Generator]) -> list[float]:
        """Costs of candidates (n, k), smaller is better."""
        motions = [self.motion_of(row) for row in candidates]
        costs = self.results(motions, generators).cost.reshape(len(motions), -1).mean(axis=1)
        return [float(cost) for cost in costs]

    def results(self, motions: Sequence[GetUpMotion], generators: Sequence[np.random.Generator]) -> GetUpResults:
        """What motions came to from every start, motion by motion."""
        worlds = Worlds(
            lying_scene(self.motion.robot, self.kind, self.actuation), len(motions) * self.starts, threads=1
        )
        side = {"front": Lying.FRONT, "back": Lying.BACK, "side": Lying.LEFT}[self.motion.lying]
        spawned = [rng for generator in generators for rng in generator.spawn(self.starts)]
        ways = [number % len(WAYS) for _ in motions for number in range(self.starts)]
        begin_lying(worlds, ROBOT, [side] * worlds.count, spawned, noise=self.noise, ways=ways)
        each = [motion for motion in motions for _ in range(self.starts)]
        return try_get_ups(worlds, each, limit=self.longest + SETTLE_SECONDS + STANDING_FOR)


def get_up_space(motion: GetUpMotion, *, reach: float = 25.0, kind: str = "") -> Space:
    """The angles and times that a get-up's frames name, as a space around them.

    Args:
        motion: its numbers are where a search starts.
        reach: how far angles may go from there [degrees]; times may halve and double.
        kind: one of the robot's types, for its joints' limits.
    """
    if not reach > 0:
        raise UsageError(f"the reach is {reach:g} degrees; allowed is above 0.")
    table = lying_scene(motion.robot, kind).robot(ROBOT)
    found: dict[str, Dimension] = {}
    for number, frame in enumerate(motion.frame, start=1):
        short, long = max(frame.seconds / 2, QUICKEST), frame.seconds * 2
        found[f"frame{number}.seconds"] = Dimension(
            low=min(short, frame.seconds), high=long, start=frame.seconds, unit="s"
        )
        for joint, degrees in frame.angles.items():
            low, high = table.limits[table.joints.index(joint)]
            start = float(np.clip(np.radians(degrees), low, high))
            about = np.radians(reach)
            found[f"frame{number}.{joint}"] = Dimension(
                low=max(low, start - about), high=min(high, start + about), start=start, unit="rad"
            )
    return Space(found)


def measure_get_up(
    motion: GetUpMotion,
    *,
    trials: int = 20,
    seed: int = 0,
    kind: str = "",
    actuation: str = "ideal",
    noise: LyingNoise | None = None,
) -> GetUpResults:
    """How often and how fast a get-up works from noisy ways to lie."""
    if not 1 <= trials <= 1000:
        raise UsageError(f"{trials} trials were asked for; allowed is 1..1000.")
    judged = GetUpTrials(
        motion=motion,
        names=(),
        starts=trials,
        kind=kind,
        actuation=actuation,
        noise=noise or LyingNoise(),
        longest=motion.seconds + 1.0,
    )
    return judged.results([motion], [np.random.default_rng(SeedSequence(seed, spawn_key=(11,)))])
