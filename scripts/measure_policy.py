"""Speeds, headings and falls of a policy on every type of the league's robot, from fresh starts.

    python scripts/measure_policy.py policy --trials 100

Prints a table in Markdown: mean speed over ten seconds from standing, with twice its standard error, the mean absolute
change of heading, and falls; for walking at the highest velocities that the walk file names. Starts are disturbed as in
`nutmeg walk measure`. The true heading is not told to the robot.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from nutmeg.learning.courses import FallJudge, start_walkers, yaw_of
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.walk.files import read_walk

SEED, CYCLES = 20_261_116, 500


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("walk")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    walk = read_walk(arguments.walk)
    if walk.policy is None:
        parser.error(f"the walk {arguments.walk!r} is no policy")
    ahead, aside, turn = walk.policy.fastest
    wishes = {"ahead": (ahead, 0, 0), "back": (-walk.policy.back, 0, 0), "aside": (0, aside, 0), "turn": (0, 0, turn)}
    _say("| type | " + " | ".join(wishes) + " | heading, ahead | falls |")
    _say("|---" * (len(wishes) + 3) + "|")
    for kind in walk.policy.weights:
        placement = Placement(robot=walk.robot, name="walker", type=kind)
        scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))
        cells, falls, astray = [], [], ""
        for number, (name, wish) in enumerate(wishes.items()):
            generators = [np.random.default_rng([SEED, number, n]) for n in range(arguments.trials)]
            worlds, walker = start_walkers(scene, [walk] * arguments.trials, generators, threads=arguments.threads)
            robot, judge = worlds.robots[0], FallJudge(worlds)
            start, fell, turned = robot.pose[:, :2].copy(), np.zeros(arguments.trials, dtype=bool), 0.0
            before = yaw_of(robot.pose)
            walker.wanted[:] = wish
            for _ in range(CYCLES):
                walker.sample(0.0)
                worlds.step()
                fell |= judge.now()
                now = yaw_of(robot.pose)
                turned, before = turned + np.angle(np.exp(1j * (now - before))), now
            way = np.abs(turned) if name == "turn" else np.hypot(*(robot.pose[:, :2] - start).T)
            speed = way[~fell] / (CYCLES * 0.02)
            cells.append(f"{speed.mean():.2f} ± {2 * speed.std() / np.sqrt(max(len(speed), 1)):.2f}")
            falls.append(str(int(fell.sum())))
            if name == "ahead":
                astray = f"{np.degrees(np.abs(turned[~fell])).mean():.1f}"
        _say(f"| {kind} | " + " | ".join(cells) + f" | {astray} | {', '.join(falls)} of {arguments.trials} each |")


if __name__ == "__main__":
    main()
