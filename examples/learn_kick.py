"""How the built-in team's kick was learned: keyframes tried by robots that have just stopped walking.

    python examples/learn_kick.py type0 2           # two generations from the kick that comes with Nutmeg: some minutes
    python examples/learn_kick.py type0 100 48 16   # 100 generations of 48 candidates on 16 processors

Every candidate is tried by 24 robots, from states that walkers came into when they were stopped, with the ball up to
3 cm from its place along each axis. What counts is how far the ball will come straight ahead, less how far aside; a
fall costs 3 m and a second 0.3 m. `nutmeg train kick` then learns a network that corrects the motion.
"""

from __future__ import annotations

import dataclasses
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.learning.policies.motion_task import KickTask
from nutmeg.motion.keyframes import KeyframeMotion, write_motion
from nutmeg.search.searchers import CmaEs, CmaEsSettings
from nutmeg.search.space import Dimension, Space

ROBOTS, BALL_LEVEL = 24, 0.5  # who tries a candidate, and how hard the places of the ball are, 0..1
FRAMES = 3  # the frames that are searched: weight aside, back, strike
REACH, QUICKEST = 35.0, 0.06  # how far angles may go from where they begin [degrees]; the shortest frame [s]
FALL, SECOND = 3.0, 0.3  # what falls and seconds cost [m]


@lru_cache(maxsize=1)
def kicking(kind: str) -> KickTask:
    """The robots of this process."""
    task = KickTask("nao-spark", kind, ROBOTS, seed=1)
    task.use_level(BALL_LEVEL)
    return task


def try_kick(kind: str, motion: KeyframeMotion, seed: int = 1) -> Floats:
    """How far the balls will come ahead and aside, and who stands in the end, (3, robots) [m, m, 0 or 1]."""
    task = kicking(kind)
    task.use([motion])
    task.reseed(np.random.SeedSequence(seed))
    task.measures()
    task.begin(np.arange(ROBOTS))
    still, done = np.zeros((ROBOTS, task.actions), np.float32), np.zeros(ROBOTS, dtype=bool)
    found = np.zeros((3, ROBOTS))
    while not done.all():
        task.advance(still)
        first = task.ended & ~done
        found[:, first] = [task.episodes[name][first] for name in ("distance", "aside", "stood")]
        done |= first
    return found


def cost(kind: str, motion: KeyframeMotion) -> float:
    """What a motion costs on average [m]; smaller is better."""
    ahead, aside, stood = try_kick(kind, motion).mean(axis=1)
    return float(aside - ahead + FALL * (1.0 - stood) + SECOND * motion.seconds)


def kick_space(motion: KeyframeMotion, kind: str) -> Space:
    """The numbers of the first frames, and the ball's place, around where they are: degrees, seconds and metres."""
    table = kicking(kind).scene.robots[0]
    found: dict[str, Dimension] = {}
    for number, frame in enumerate(motion.frame[:FRAMES], start=1):
        found[f"frame{number}.seconds"] = Dimension(
            low=min(max(frame.seconds / 2, QUICKEST), frame.seconds), high=frame.seconds * 1.5, start=frame.seconds
        )
        for joint, degrees in frame.angles.items():
            low, high = np.degrees(table.limits[table.joints.index(joint)])
            start = float(np.clip(degrees, low, high))
            found[f"frame{number}.{joint}"] = Dimension(
                low=max(low, start - REACH), high=min(high, start + REACH), start=start
            )
    for name, place in zip(("ball.ahead", "ball.left"), motion.ball, strict=True):
        found[name] = Dimension(low=place - 0.04, high=place + 0.04, start=place)
    return Space(found)


def learn_kick(
    kind: str, generations: int, population: int = 16, workers: int = 2, step: float = 0.02, seed: int = 1
) -> KeyframeMotion:
    """A better kick for a type of robot, searched around the one that it has: the mean of the last distribution."""
    motion = kicking(kind).motions[0]
    space = kick_space(motion, kind)
    searcher = CmaEs(space, CmaEsSettings(population=population, step=step), np.random.default_rng(seed))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        evaluate = pool.map if workers > 1 else map
        for number in range(1, generations + 1):
            tried = [motion.with_numbers(dict(zip(space.names, row.tolist(), strict=True))) for row in searcher.ask()]
            costs = list(evaluate(cost, [kind] * len(tried), tried))
            searcher.tell(costs)
            print(f"generation {number}: best {min(costs):.2f}, median {np.median(costs):.2f}", flush=True)
    found = motion.with_numbers(dict(zip(space.names, searcher.mean.tolist(), strict=True)))
    return dataclasses.replace(found, distance=round(float(try_kick(kind, found, seed=2)[0].mean()), 2))


def main(kind: str = "type0", generations: str = "2", population: str = "16", workers: str = "2") -> None:
    """Learns on from the kick that comes with Nutmeg, and says how far it sends the ball."""
    learned = learn_kick(kind, int(generations), int(population), int(workers))
    write_motion(Path(f"nao-spark-{kind}-kick.toml"), learned)
    print(f"nao-spark-{kind}-kick.toml: {learned.distance:.2f} m")


if __name__ == "__main__":
    main(*sys.argv[1:])
