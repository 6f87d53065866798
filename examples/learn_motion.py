"""How the built-in team's kicks and get-ups are learned: keyframes tried by robots as players come to them.

    python examples/learn_motion.py kick type0 50           # 50 generations from the kick that comes with Nutmeg
    python examples/learn_motion.py shot type0 50           # a kick after which the robot may lie
    python examples/learn_motion.py front type1 50          # a get-up, with its network if it has one
    python examples/learn_motion.py kick nao-v6 50          # of another robot: t1, k1 or nao-v6 (on motoflex)

A generation of 32 kicks from 12 starts each takes about 2.5 s on one processor. Kicks begin from states of walkers that
were stopped and rock no more, with the ball up to 5 cm from its place along each axis; get-ups from those of walkers
that were pushed over. Run several with other types at once to use all processors.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from nutmeg.learning.motions import GetUpTrials, KickGoals, KickTrials, MotionSearch, MotionTrials
from nutmeg.motion.keyframes import KeyframeMotion, shipped_get_up, shipped_motion, write_motion

ROBOT = "nao-spark"
OTHERS = {"t1": "ideal", "k1": "ideal", "nao-v6": "motoflex"}  # other robots that kick, and their drives
STEP = 0.01  # the first standard deviation, as a share of the range of each number; twice as much spoils shots


def trials_for(name: str, kind: str, population: int, starts: int) -> tuple[MotionTrials, KeyframeMotion]:
    """The robots that try a motion, and the one that comes with Nutmeg."""
    if name in ("front", "back"):
        motion = shipped_get_up(ROBOT, name, kind)  # type: ignore[arg-type]
        return GetUpTrials(ROBOT, motion, kind, population=population, starts=starts), motion
    if kind in OTHERS:
        others = KickTrials(kind, actuation=OTHERS[kind], population=population, starts=starts)
        return others, shipped_motion(kind, name)
    # Nobody needs to see how a robot falls after a shot.
    goals = KickGoals(fall=0.0, within=0.46, watched=0) if name == "shot" else KickGoals()
    trials = KickTrials(ROBOT, kind, population=population, starts=starts, goals=goals)
    return trials, shipped_motion(ROBOT, name, kind)


def learn_motion(
    name: str, kind: str, generations: int, *, population: int = 32, starts: int = 12, seed: int = 1
) -> KeyframeMotion:
    """A better motion, searched around the one that the robot has: the mean of the last distribution."""
    trials, motion = trials_for(name, kind, population, starts)
    search = MotionSearch(trials, motion, step=STEP, seed=seed)
    print(f"before: {trials.run([motion], seed=seed + 1)}", flush=True)
    for number in range(1, generations + 1):
        costs = search.advance()
        print(f"generation {number}: best {costs.min():.2f}, median {np.median(costs):.2f}", flush=True)
    print(f"now: {trials.run([search.motion], seed=seed + 1)}")
    return search.motion


def main(name: str = "kick", kind: str = "type0", generations: str = "2") -> None:
    """Learns on from the motion that comes with Nutmeg, and says what it does from other starts."""
    motion = learn_motion(name, kind, int(generations))
    path = Path(f"{motion.robot}-{kind}-{name}.toml" if motion.robot == ROBOT else f"{motion.robot}-{name}.toml")
    write_motion(path, motion)
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
