"""Speeds, headings and falls of a policy on every type of its robot, from fresh starts.

    python scripts/measure_policy.py policy --trials 100
    python scripts/measure_policy.py policy-t1 --trials 100 --rewards
    python scripts/measure_policy.py policy-nao-v6 --actuation motoflex --bodies

Prints a table in Markdown: for each direction the mean speed over ten seconds from standing, with twice its standard
error, the mean absolute change of heading, and falls, at the highest velocities that the walk file names. Starts are
disturbed as in `nutmeg walk measure`. The true heading is not told to the robot. With --bodies every start has a body
of its own: masses, centre of mass, friction and damping are drawn as in training (`Variation`), with other seeds.
With --changes robots also walk for 20 s at velocities that change every one to three seconds, and who falls is counted.
With --reactions it also says how long robots take from one velocity to another.
Speeds may be given (--fastest, --back), to find out what the walk file should name. With --rewards it also prints what
a second of the training task earns without pushes at 0.7 of the highest velocities: for the network, and for actions
that are zero.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.learning.courses import ROBOT_NAME, FallJudge, start_walkers, yaw_of
from nutmeg.learning.policies.task import Variation
from nutmeg.learning.policies.walk_task import WalkLearning, WalkTask, usual_walk, walk_scene
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.policy_kernels import decide
from nutmeg.motion.walk.files import read_walk
from nutmeg.sim.variation import use_models

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Bools, Floats
    from nutmeg.model.scene import Scene
    from nutmeg.motion.policy import PolicySettings
    from nutmeg.motion.walk.files import WalkParameters

SEED, CYCLES = 20_261_116, 500
BEHIND = 8.0  # straight ways begin so far behind the middle of the floor, which ends 10 m from there [m]
CHANGING_CYCLES = 1000
DIRECTIONS = ("ahead", "back", "aside", "turn")
REACTION_CYCLES, RUN_SPEED, STOPPED_SPEED = 150, 1.0, 0.1  # longest reaction; what counts as a run and as stopped [m/s]


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Walked(NamedTuple):
    """What robots did in one direction, (N,) each."""

    speed: Floats
    """Where they were to go [m/s], or turning [rad/s]."""
    turned: Floats
    """By how much their heading changed [rad]."""
    fell: Bools


def walked(
    scene: Scene,
    walk: WalkParameters,
    direction: str,
    generators: Sequence[np.random.Generator],
    threads: int,
    *,
    bodies: int | None = None,
) -> Walked:
    """Ten seconds from standing at the highest velocity in a direction, a start for each generator.

    With `bodies`, a seed, each has a body of its own.
    """
    policy = walk.policy
    assert policy is not None
    ahead, aside, turn = policy.fastest
    wish = {"ahead": (ahead, 0, 0), "back": (-policy.back, 0, 0), "aside": (0, aside, 0), "turn": (0, 0, turn)}[
        direction
    ]
    trials = len(generators)
    worlds, walker = start_walkers(scene, [walk] * trials, generators, threads=threads)
    robot, judge = worlds.robots[0], FallJudge(worlds)
    if bodies is not None:
        rng, variation = np.random.default_rng([bodies, 77]), Variation()
        use_models(worlds.batch, [variation.draw(scene.model, robot.table, rng) for _ in range(trials)])
    before = began = yaw_of(robot.pose)
    heading = began + math.atan2(wish[1], wish[0])
    if direction != "turn":
        robot.pose[:, :2] -= BEHIND * np.stack([np.cos(heading), np.sin(heading)], axis=1)
    start, fell, turned = robot.pose[:, :2].copy(), np.zeros(trials, dtype=bool), np.zeros(trials)
    walker.wanted[:] = wish
    for _ in range(CYCLES):
        walker.sample(0.0)
        worlds.advance(CONTROL_CYCLE)
        fell |= judge.now()
        now = yaw_of(robot.pose)
        turned, before = turned + np.angle(np.exp(1j * (now - before))), now
    # Straight ways count as far as they lead where they were to: a robot that goes elsewhere is not fast.
    apart = robot.pose[:, :2] - start
    way = turned if direction == "turn" else apart[:, 0] * np.cos(heading) + apart[:, 1] * np.sin(heading)
    return Walked(way / (CYCLES * CONTROL_CYCLE), turned, fell)


def changed(scene: Scene, walk: WalkParameters, trials: int, threads: int, seed: int) -> str:
    """Falls of robots in 20 s of velocities that change every one to three seconds.

    They are the highest in a direction, standing, or any mixture, so that a run may be followed by a turn on the spot.
    """
    policy = walk.policy
    assert policy is not None
    (ahead, aside, turn), back = policy.fastest, policy.back
    straight = np.array(
        [[0, 0, 0], [ahead, 0, 0], [-back, 0, 0], [0, aside, 0], [0, -aside, 0], [0, 0, turn], [0, 0, -turn]]
    )
    generators = [np.random.default_rng([seed, len(DIRECTIONS), n]) for n in range(trials)]
    worlds, walker = start_walkers(scene, [walk] * trials, generators, threads=threads)
    robot, judge, rng = worlds.robots[0], FallJudge(worlds), np.random.default_rng([seed, 78])
    fell, until = np.zeros(trials, dtype=bool), np.zeros(trials)
    for cycle in range(CHANGING_CYCLES):
        for n in np.flatnonzero(until <= cycle):
            angle, size = rng.uniform(0, 2 * math.pi), math.sqrt(rng.uniform())
            x, y = size * math.cos(angle), size * math.sin(angle)
            mixture = x * (ahead if x > 0 else back), y * aside, rng.uniform(-turn, turn) * (1 - 0.5 * size)
            kind = rng.integers(len(straight) + 1)
            walker.wanted[n] = mixture if kind == len(straight) else straight[kind]
            until[n] = cycle + rng.integers(50, 150)
        walker.sample(0.0)
        worlds.advance(CONTROL_CYCLE)
        robot.pose[:, :2] = np.clip(robot.pose[:, :2], -BEHIND, BEHIND)  # the floor ends there
        fell |= judge.now()
    return f"{int(fell.sum())} of {trials}"


def reactions(scene: Scene, walk: WalkParameters, trials: int, threads: int, seed: int) -> str:
    """Mean times until robots run at 1 m/s, or have stopped, from the highest velocity in a direction or from standing.

    Speeds are means over a stride, so each time is half a stride too long.
    """
    policy = walk.policy
    assert policy is not None
    (ahead, aside, _), back = policy.fastest, policy.back
    stand, run, backward, left = (0, 0, 0), (ahead, 0, 0), (-back, 0, 0), (0, aside, 0)
    ways = {
        "standing to 1 m/s": (stand, run),
        "back to 1 m/s": (backward, run),
        "aside to 1 m/s": (left, run),
        "ahead to a stop": (run, stand),
        "back to a stop": (backward, stand),
        "aside to a stop": (left, stand),
    }
    window, told = round(policy.gait.stride / CONTROL_CYCLE), []
    for number, (name, (first, then)) in enumerate(ways.items()):
        generators = [np.random.default_rng([seed, 5, number, n]) for n in range(trials)]
        worlds, walker = start_walkers(scene, [walk] * trials, generators, threads=threads)
        robot, judge, rng = worlds.robots[0], FallJudge(worlds), np.random.default_rng([seed, 79, number])
        heading, changes = yaw_of(robot.pose), 100 + rng.integers(window, size=trials)  # in any phase of the stride
        places, took, fell = [], np.full(trials, math.nan), np.zeros(trials, dtype=bool)
        for cycle in range(int(changes.max()) + REACTION_CYCLES):
            walker.wanted[:] = np.where((cycle >= changes)[:, None], then, first)
            walker.sample(0.0)
            worlds.advance(CONTROL_CYCLE)
            fell |= judge.now()
            places.append(robot.pose[:, :2].copy())
            if cycle >= window:
                velocity = (places[-1] - places[-1 - window]) / (window * CONTROL_CYCLE)
                forward = velocity[:, 0] * np.cos(heading) + velocity[:, 1] * np.sin(heading)
                there = forward > RUN_SPEED if then == run else np.hypot(*velocity.T) < STOPPED_SPEED
                took = np.where((cycle >= changes) & there & np.isnan(took), (cycle - changes) * CONTROL_CYCLE, took)
        good = took[~np.isnan(took) & ~fell]
        error = 2 * good.std() / math.sqrt(max(len(good), 1))
        told.append(f"{name} {good.mean():.2f} ± {error:.2f} s ({len(good)} of {trials})")
    return ", ".join(told)


def cells(found: Walked, direction: str) -> str:
    """Mean speed with twice its standard error, of who stood, the change of heading, and falls."""
    stood = ~found.fell
    speed = found.speed[stood]
    said = f"{speed.mean():.2f} ± {2 * speed.std() / np.sqrt(max(len(speed), 1)):.2f}"
    astray = "" if direction == "turn" else f", {np.degrees(np.abs(found.turned[stood])).mean():.1f}°"
    return f"{said}{astray}, {int(found.fell.sum())} of {len(found.fell)}"


def earned(scene: Scene, policy: PolicySettings, seed: int, *, moves: bool, cycles: int = 400) -> float:
    """The mean reward of a second of 32 robots that follow the network, or whose actions are zero."""
    usual = usual_walk(scene)[1]
    rewards = dataclasses.replace(usual, fastest=policy.fastest, back=policy.back, level=0.7, push=0.0)
    task = WalkTask(scene, 32, seed=seed, learning=WalkLearning(gait=policy.gait, rewards=rewards))
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
    parser.add_argument("--directions", nargs="*", default=DIRECTIONS, choices=DIRECTIONS)
    parser.add_argument("--types", nargs="+", help="only these types of the robot")
    parser.add_argument("--fastest", nargs=3, type=float, help="instead of the walk file's [m/s, m/s, rad/s]")
    parser.add_argument("--back", type=float, help="instead of the walk file's [m/s]")
    parser.add_argument("--seed", type=int, default=SEED, help="of starts and bodies; others than those of the docs")
    parser.add_argument("--changes", action="store_true", help="also 20 s of velocities that change")
    parser.add_argument("--reactions", action="store_true", help="also times from one velocity to another")
    parser.add_argument("--bodies", action="store_true")
    parser.add_argument("--rewards", action="store_true")
    arguments = parser.parse_args()
    walk = read_walk(arguments.walk)
    if (policy := walk.policy) is None:
        parser.error(f"the walk {arguments.walk!r} is no policy")
    fastest, back = tuple(arguments.fastest or policy.fastest), arguments.back or policy.back
    policy = dataclasses.replace(policy, fastest=fastest, back=back)
    walk = dataclasses.replace(walk, policy=policy)
    bodies = arguments.seed if arguments.bodies else None
    _say("| type | " + " | ".join(arguments.directions) + " |")
    _say("|---" * (1 + len(arguments.directions)) + "|")
    for kind in arguments.types or policy.weights:
        type_ = "" if kind == "plain" else kind
        placement = Placement(robot=walk.robot, name=ROBOT_NAME, type=type_, actuation=arguments.actuation)
        scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))
        starts = {
            direction: [
                np.random.default_rng([arguments.seed, DIRECTIONS.index(direction), n]) for n in range(arguments.trials)
            ]
            for direction in arguments.directions
        }
        row = [
            cells(walked(scene, walk, direction, starts[direction], arguments.threads, bodies=bodies), direction)
            for direction in arguments.directions
        ]
        _say(f"| {kind} | " + " | ".join(row) + " |")
        if arguments.changes:
            said = changed(scene, walk, arguments.trials, arguments.threads, arguments.seed)
            _say(f"falls when velocities change: {said}")
        if arguments.reactions:
            said = reactions(scene, walk, arguments.trials, arguments.threads, arguments.seed)
            _say(f"from one velocity to another: {said}")
        if arguments.rewards:
            scene = walk_scene(walk.robot, type_, arguments.actuation)
            still, moves = (earned(scene, policy, arguments.seed, moves=one) for one in (False, True))
            _say(f"reward of a second: {moves:.2f} with the network, {still:.2f} with actions that are zero")


if __name__ == "__main__":
    main()
