"""Pushes against a walking robot: how large an impulse it survives.

    found = push_walk(read_walk("initial"), PushSettings(impulses=(1.0, 2.0, 3.0), trials=10), walking=True)
    found.share()                       # of those pushed with each impulse that stayed on their feet, (impulses,)
    found.half()                        # the impulse that half of them survive [N s]

A push is a horizontal force on the torso's centre of mass, constant for `duration`, from ahead, behind, the left or the
right as the robot sees it; its impulse is force times duration. It comes at a random moment within a second, which is
more than two steps. The robot walks straight ahead as fast as it can, or is told to stay and steps on the spot. It has
survived if it is still on its feet `watched` seconds after the push. The same starts and moments are used for all
impulses, so that curves of different walks and impulses differ by nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import SeedSequence

from nutmeg.engine.worlds import Worlds, steps_in
from nutmeg.learning.course_run import CYCLE, ROBOT, Falls, scene_with, walker_of
from nutmeg.learning.starts import StartNoise, begin_noisy, ready
from nutmeg.learning.steering import SetChooser, steer, yaw_of

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.learning.walks import Walk


DIRECTIONS = {"forward": 0.0, "left": math.pi / 2, "backward": math.pi, "right": -math.pi / 2}
"""Where pushes go, from where the robot faces [rad]."""
SURE = 1.959963984540054
"""Standard deviations of a normal distribution on either side that hold 95 % of it."""
_AHEAD = np.array([100.0, 0.0])


@dataclass(frozen=True, kw_only=True)
class PushSettings:
    """How robots are pushed."""

    impulses: tuple[float, ...] = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)
    """Force times duration [N s], rising."""
    trials: int = 10
    """Starts for each impulse and direction."""
    duration: float = 0.1
    """How long the force lasts: a multiple of the control cycle [s]."""
    earliest: float = 2.0
    """When a push may begin, from the start [s]."""
    within: float = 1.0
    """How much later the last ones begin [s]."""
    watched: float = 3.0
    """How long a robot has to stay on its feet after the end of a push [s]."""

    def __post_init__(self) -> None:
        if not self.impulses or not all(0 <= a < b for a, b in zip(self.impulses, self.impulses[1:], strict=False)):
            raise ValueError(f"impulses are {self.impulses}; needed is at least one, and each above the one before.")
        if not all(math.isfinite(one) and one >= 0 for one in self.impulses):
            raise ValueError(f"impulses are {self.impulses}; each must be finite and not below 0.")
        if not 1 <= self.trials <= 1000:
            raise ValueError(f"{self.trials} starts for each impulse; allowed is 1..1000.")
        for name in ("duration", "watched"):
            if not CYCLE <= getattr(self, name) <= 60:
                raise ValueError(f"{name} is {getattr(self, name):g} s; allowed is {CYCLE:g}..60.")
        for name in ("earliest", "within"):
            if not 0 <= getattr(self, name) <= 60:
                raise ValueError(f"{name} is {getattr(self, name):g} s; allowed is 0..60.")


@dataclass(frozen=True)
class PushResults:
    """Who was pushed, and who survived it."""

    walk: str
    walking: bool
    impulses: tuple[float, ...]
    pushed: Bools
    """Those that stood when the push began, (impulses, directions, trials)."""
    survived: Bools
    """Those of them that were still on their feet at the end, (impulses, directions, trials)."""

    def share(self) -> Floats:
        """The share that survived, (impulses,); nan where nobody was left to be pushed."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.survived.sum(axis=(1, 2)) / self.pushed.sum(axis=(1, 2)))

    def half(self) -> float | None:
        """The impulse at which the share first falls to a half, between impulses on a line [N s].

        None if it never does, or if less than half survive the least impulse already.
        """
        share = self.share()
        for number in range(1, len(share)):
            before, now = float(share[number - 1]), float(share[number])
            if before > 0.5 >= now:
                a, b = self.impulses[number - 1], self.impulses[number]
                return a + (b - a) * (before - 0.5) / (before - now)
        return None

    def as_json(self) -> dict[str, Any]:
        """Plain numbers: shares with their 95 % intervals, and survivors by direction."""
        rows = []
        for number, impulse in enumerate(self.impulses):
            pushed, survived = self.pushed[number], self.survived[number]
            low, high = binomial_interval(int(survived.sum()), int(pushed.sum()))
            by_direction = {
                name: {"pushed": int(pushed[place].sum()), "survived": int(survived[place].sum())}
                for place, name in enumerate(DIRECTIONS)
            }
            share = float(survived.sum() / pushed.sum()) if pushed.any() else None
            row = {"impulse": impulse, "pushed": int(pushed.sum()), "survived": int(survived.sum()), "share": share}
            rows.append({**row, "low": low, "high": high, "directions": by_direction})
        fell = int((~self.pushed[0]).sum())
        return {
            "walk": self.walk,
            "walking": self.walking,
            "half": self.half(),
            "fell_before": fell,
            "of": self.pushed[0].size,
            "impulses": rows,
        }


def push_walk(
    walk: Walk,
    settings: PushSettings,
    *,
    walking: bool,
    seed: int = 0,
    actuation: str = "ideal",
    threads: int = 1,
) -> PushResults:
    """Pushes a robot from all directions with all impulses, each in a world of its own.

    Args:
        walk: which.
        settings: how robots are pushed.
        walking: whether they walk ahead, or stay where they are.
        seed: of starts and moments.
        actuation: what drives the joints.
        threads: how many threads step the worlds; results are the same.
    """
    shape = (len(settings.impulses), len(DIRECTIONS), settings.trials)
    count = math.prod(shape)
    generators = _generators(seed, shape)
    worlds = Worlds(scene_with(walk.robot, actuation=actuation), count, threads=threads)
    first = begin_noisy(worlds, ROBOT, StartNoise(), generators)
    walker = walker_of(worlds, [walk] * count)
    ready(walker, first)
    pushes = _Pushes(settings, worlds, shape, generators)
    robot, falls, sets = worlds.robot(ROBOT), Falls(worlds), SetChooser([walk] * count)
    turns, moving = np.full(count, walk.facing == "turn"), np.full(count, walking)
    steps = steps_in(CYCLE, worlds.scene.timestep)
    fell, pushed = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    for cycle in range(int(pushes.over.max()) + 1):
        fell |= falls.now() & (cycle <= pushes.over)
        pushed |= ~fell & (cycle == pushes.begin)
        active = np.flatnonzero(~fell & (cycle < pushes.over))
        pushes.apply(cycle)
        bearing = steer(walker, np.broadcast_to(_AHEAD, (count, 2)), yaw_of(robot.pose), turns, moving)
        sets.choose(walker, bearing, moving)
        walker.sample(0.0)
        if len(active):
            worlds.step(steps, active)
    return PushResults(walk.name, walking, settings.impulses, pushed.reshape(shape), (pushed & ~fell).reshape(shape))


class _Pushes:
    """When each world's robot is pushed, how hard and where to; worlds are in the order of `shape`."""

    def __init__(
        self,
        settings: PushSettings,
        worlds: Worlds,
        shape: tuple[int, int, int],
        generators: Sequence[np.random.Generator],
    ) -> None:
        cycles = max(round(settings.duration / CYCLE), 1)
        moments = [settings.earliest + settings.within * rng.random() for rng in generators]
        self.begin = np.rint(np.array(moments) / CYCLE).astype(np.intp)
        """The cycle in which a force sets in, (N,)."""
        self.end = self.begin + cycles
        """The first cycle without it, (N,)."""
        self.over = self.end + round(settings.watched / CYCLE)
        """The cycle in which a robot has survived, (N,)."""
        forces = np.array(settings.impulses) / (cycles * CYCLE)
        self._force = np.broadcast_to(forces[:, None, None], shape).ravel()
        self._towards = np.broadcast_to(np.array([*DIRECTIONS.values()])[:, None], shape).ravel()
        self._robot = worlds.robot(ROBOT)

    def apply(self, cycle: int) -> None:
        """Lets forces set in and end."""
        rows = np.flatnonzero(cycle == self.begin)
        angle = yaw_of(self._robot.pose[rows]) + self._towards[rows]
        way = np.stack([np.cos(angle), np.sin(angle), np.zeros(len(rows))], axis=1)
        self._robot.push(self._force[rows, None] * way, rows)
        self._robot.push(0.0, np.flatnonzero(cycle == self.end))


def binomial_interval(successes: int, tries: int) -> tuple[float, float]:
    """The 95 % interval of a share, after Wilson (1927); all of 0..1 without tries."""
    if tries == 0:
        return 0.0, 1.0
    share, z2 = successes / tries, SURE * SURE
    middle = (share + z2 / (2 * tries)) / (1 + z2 / tries)
    reach = SURE * math.sqrt(share * (1 - share) / tries + z2 / (4 * tries * tries)) / (1 + z2 / tries)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def _generators(seed: int, shape: tuple[int, int, int]) -> list[np.random.Generator]:
    """A generator for each world; those of one direction and trial draw the same for every impulse."""
    impulses, directions, trials = shape
    keys = [(11, direction, trial) for direction in range(directions) for trial in range(trials)]
    return [np.random.default_rng(SeedSequence(seed, spawn_key=key)) for key in keys * impulses]
