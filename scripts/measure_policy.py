"""Speeds, headings and falls of a policy on every type of its robot, from fresh starts.

    python scripts/measure_policy.py policy --trials 100
    python scripts/measure_policy.py policy-t1 --trials 100 --rewards

Prints a table in Markdown: mean speed over ten seconds from standing, with twice its standard error, the mean absolute
change of heading, and falls; for walking at the highest velocities that the walk file names. Starts are disturbed as in
`nutmeg walk measure`. The true heading is not told to the robot. With --rewards it also prints what a second of the
training task earns without pushes at 0.7 of the highest velocities: for the network, and for actions that are zero.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.learning.courses import ROBOT_NAME, FallJudge, start_walkers, yaw_of
from nutmeg.learning.policies.walk_task import WalkLearning, WalkRewards, WalkTask, usual_walk, walk_scene
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.policy_kernels import decide
from nutmeg.motion.walk.files import read_walk

if TYPE_CHECKING:
    from nutmeg.model.scene import Scene
    from nutmeg.motion.policy import PolicySettings
    from nutmeg.motion.walk.files import WalkParameters

SEED, CYCLES = 20_261_116, 500


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def measured(scene: Scene, walk: WalkParameters, policy: PolicySettings, trials: int, threads: int) -> str:
    """A row of the table without its first cell."""
    ahead, aside, turn = policy.fastest
    cells, falls, astray = [], [], ""
    wishes = {"ahead": (ahead, 0, 0), "back": (-policy.back, 0, 0), "aside": (0, aside, 0), "turn": (0, 0, turn)}
    for number, (name, wish) in enumerate(wishes.items()):
        generators = [np.random.default_rng([SEED, number, n]) for n in range(trials)]
        worlds, walker = start_walkers(scene, [walk] * trials, generators, threads=threads)
        robot, judge = worlds.robots[0], FallJudge(worlds)
        start, fell, turned = robot.pose[:, :2].copy(), np.zeros(trials, dtype=bool), np.zeros(trials)
        before = began = yaw_of(robot.pose)
        walker.wanted[:] = wish
        for _ in range(CYCLES):
            walker.sample(0.0)
            worlds.advance(CONTROL_CYCLE)
            fell |= judge.now()
            now = yaw_of(robot.pose)
            turned, before = turned + np.angle(np.exp(1j * (now - before))), now
        # Straight ways count as far as they lead where they were to: a robot that goes elsewhere is not fast.
        apart, heading = robot.pose[:, :2] - start, began + math.atan2(wish[1], wish[0])
        way = turned if name == "turn" else apart[:, 0] * np.cos(heading) + apart[:, 1] * np.sin(heading)
        speed = way[~fell] / (CYCLES * CONTROL_CYCLE)
        cells.append(f"{speed.mean():.2f} ± {2 * speed.std() / np.sqrt(max(len(speed), 1)):.2f}")
        falls.append(str(int(fell.sum())))
        if name == "ahead":
            astray = f"{np.degrees(np.abs(turned[~fell])).mean():.1f}"
    return " | ".join(cells) + f" | {astray} | {', '.join(falls)} of {trials} each |"


def earned(scene: Scene, policy: PolicySettings, *, moves: bool, cycles: int = 400) -> float:
    """The mean reward of a second of 32 robots that follow the network, or whose actions are zero."""
    usual = usual_walk(scene)[1]
    rewards = WalkRewards(fastest=policy.fastest, back=policy.back, level=0.7, push=0.0, foot_height=usual.foot_height)
    task = WalkTask(scene, 32, seed=SEED, learning=WalkLearning(gait=policy.gait, rewards=rewards))
    network, total = policy.network(scene.robots[0].kind), 0.0
    for _ in range(cycles):
        actions = np.zeros((task.count, task.actions), np.float32)
        if moves:
            actions[:] = [decide(seen, network, task.image, (True, task.image.exists)) for seen in task.observation]
        task.advance(actions)
        total += float(task.reward.mean())
        task.begin(np.flatnonzero(task.ended | task.cut))
    return total / cycles / CONTROL_CYCLE


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("walk")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--actuation", default="ideal")
    parser.add_argument("--rewards", action="store_true")
    arguments = parser.parse_args()
    walk = read_walk(arguments.walk)
    if (policy := walk.policy) is None:
        parser.error(f"the walk {arguments.walk!r} is no policy")
    _say("| type | ahead | back | aside | turn | heading, ahead | falls |")
    _say("|---" * 7 + "|")
    for kind in policy.weights:
        type_ = "" if kind == "plain" else kind
        placement = Placement(robot=walk.robot, name=ROBOT_NAME, type=type_, actuation=arguments.actuation)
        scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))
        _say(f"| {kind} | " + measured(scene, walk, policy, arguments.trials, arguments.threads))
        if arguments.rewards:
            scene = walk_scene(walk.robot, type_, arguments.actuation)
            still, moves = (earned(scene, policy, moves=one) for one in (False, True))
            _say(f"reward of a second: {moves:.2f} with the network, {still:.2f} with actions that are zero")


if __name__ == "__main__":
    main()
