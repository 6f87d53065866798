"""Get-ups and kicks of every type of the league's robot, and the kicks of T1 and K1, from fresh starts.

    python scripts/measure_motions.py --trials 100
    python scripts/measure_motions.py --trials 100 --what kicks --seed 20261120

Prints tables in Markdown. Get-ups: walkers are pushed over ahead and back, lie still, and get up as players do; a
get-up counts if the first try ends standing and the robot still stands a second later. Kicks: walkers are stopped, and
kick when they rock no more; the ball lies up to 5 cm from its place along each axis; the way of the ball is that
straight ahead when it rests. After a kick the policy of the walk takes over; a robot stands if it has not fallen 1.2 s
after the motion. Dives: how far to its side a keeper stops balls, and when.
"""

from __future__ import annotations

import argparse
import sys

import mujoco
import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.learning.courses import yaw_of
from nutmeg.learning.motions import STRAIGHT, KickGoals, KickTrials
from nutmeg.model.ball import load_ball
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.bodies import JointTargets, Mirror
from nutmeg.motion.inertial import Lying
from nutmeg.motion.keyframes import motion_path, shipped_get_ups, shipped_motion
from nutmeg.motion.policy import PolicyWalker
from nutmeg.motion.skills import Skill, Skills
from nutmeg.motion.walk.files import read_walk
from nutmeg.sim.worlds import Worlds

TYPES, CYCLE = ("type0", "type1", "type2", "type3", "type4"), 0.02
KICKS, WHAT = ("kick", "pass", "shot"), ("get-ups", "kicks", "dives", "boosters")
DIVE_TIMES, STANCE_CYCLES = (0.4, 0.5, 0.6, 0.7, 0.9), 15
BOOSTERS, ROLL_CYCLES = ("t1", "k1"), 400  # their balls are watched until they rest, and the robots as long [cycles]


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _placement(kind: str) -> Placement:
    return Placement(robot="nao-spark", name="nao", type=kind)


def get_ups(kind: str, trials: int, threads: int, seed: int) -> dict[Lying, tuple[int, int, float]]:
    """How many get-ups there were from each side, how many succeeded at the first try, and their mean time [s]."""
    rng = np.random.default_rng([seed, int(kind[-1])])
    scene = assemble(
        SceneSettings(
            field="floor",
            ball="none",
            robots=(_placement(kind),),
            visuals=False,
        )
    )
    worlds = Worlds(scene, 2 * trials, threads=threads)
    policy = read_walk("policy").policy
    assert policy is not None
    walker = PolicyWalker(worlds, "nao", policy, rng=rng.spawn(1)[0])
    skills = Skills(worlds, "nao", walker, shipped_get_ups("nao-spark", kind), rng=rng.spawn(1)[0])
    skills.wanted[:] = rng.uniform(-1.0, 1.0, (2 * trials, 3)) * [0.8, 0.4, 1.0]
    robot, rows = worlds.robot("nao"), np.arange(2 * trials)
    lying, began = np.full(2 * trials, -1), np.zeros(2 * trials)
    took, first = np.full(2 * trials, np.nan), np.zeros(2 * trials, dtype=bool)
    for cycle in range(400):
        if cycle == 60:
            away = yaw_of(robot.pose) + np.pi * (rows % 2) + rng.normal(0.0, 0.3, len(rows))
            push = rng.uniform(1.5, 3.0, len(rows))[:, None] * np.stack([np.cos(away), np.sin(away)], axis=1)
            worlds.qvel[:, robot.table.root_rate : robot.table.root_rate + 2] += push
            skills.wanted[:] = 0.0
        before = skills.state.copy()
        skills.sample(0.0)
        rising = (skills.state == Skill.GET_UP) & (before != Skill.GET_UP) & (lying < 0)
        lying[rising], began[rising] = skills.falls.lying[rising], cycle * CYCLE
        stands = (skills.state == Skill.STEADY) & (before == Skill.GET_UP) & np.isnan(took)
        took[stands], first[stands] = cycle * CYCLE - began[stands], skills.get_up.tries[stands] == 1
        # A robot that falls within a second after it got up has not got up.
        again = (skills.state == Skill.FALL) & (cycle * CYCLE - began - took < 1.0)
        first[again] = False
        worlds.step()
    found = {}
    for side in (Lying.FRONT, Lying.BACK):
        chosen = lying == side
        found[side] = int(chosen.sum()), int((first & chosen).sum()), float(np.mean(took[chosen & first]))
    return found


def kicks(kind: str, trials: int, seed: int) -> list[str]:
    """Rows of a table: what each kick did."""
    kicking, rows = KickTrials("nao-spark", kind, population=1, starts=trials, seed=seed), []
    for name in KICKS:
        tries = kicking.run([shipped_motion("nao-spark", name, kind)], seed)
        straight = int((tries.aside < STRAIGHT * tries.ahead).sum())
        quarters = " to ".join(f"{way:.1f}" for way in np.percentile(tries.ahead, (25, 75)))
        rows.append(
            f"| {kind} | {name} | {tries.ahead.mean():.2f} m (standard deviation {tries.ahead.std():.2f}) | "
            f"{quarters} m | {straight} of {trials} | {tries.seconds.mean():.2f} s | "
            f"{int(tries.stood.sum())} of {trials} |"
        )
    return rows


def dives(kind: str, trials: int, seed: int) -> Floats:
    """How far to the left a dive has stopped rolling balls after each of `DIVE_TIMES`, (times, trials) [m].

    That is the outermost point of the robot among the parts that reach down to the height of a ball.
    """
    scene = assemble(SceneSettings(field="floor", ball="none", robots=(_placement(kind),), visuals=False))
    worlds, rng, table = Worlds(scene, trials), np.random.default_rng([seed, 1, int(kind[-1])]), scene.robot("nao")
    motors, model = table.angles[table.motor_joints], scene.model
    geoms = np.flatnonzero(model.geom_bodyid != 0)
    goals, data, height = JointTargets(worlds, "nao"), mujoco.MjData(model), 2 * load_ball("sim3d").radius
    stance = worlds.qpos[:, motors] + rng.normal(0.0, 0.01, (trials, len(motors)))
    for _ in range(STANCE_CYCLES):
        goals.follow(stance)
        worlds.step()
    began = worlds.qpos[:, table.root + 1].copy()
    motion, mirror = shipped_motion("nao-spark", "dive", kind), Mirror.of(scene, table)
    paths = np.stack([motion_path(motion, table, mirror, start) for start in worlds.qpos[:, motors]])
    found = np.zeros((len(DIVE_TIMES), trials))
    for cycle in range(1, round(DIVE_TIMES[-1] / CYCLE) + 1):
        goals.follow(paths[:, min(cycle, paths.shape[1]) - 1])
        worlds.step()
        for place in np.flatnonzero(np.isclose(DIVE_TIMES, cycle * CYCLE)):
            for row in range(trials):
                data.qpos[:] = worlds.qpos[row]
                mujoco.mj_kinematics(model, data)
                # Boxes around the geoms, turned as these are.
                middle, half = model.geom_aabb[geoms, :3], model.geom_aabb[geoms, 3:]
                turns = data.geom_xmat[geoms].reshape(-1, 3, 3)
                centres = data.geom_xpos[geoms] + np.einsum("gij,gj->gi", turns, middle)
                sizes = np.einsum("gij,gj->gi", np.abs(turns), half)
                low = centres[:, 2] - sizes[:, 2] < height
                found[place, row] = (centres[low, 1] + sizes[low, 1]).max(initial=began[row]) - began[row]
    return found


def booster_kick(robot: str, trials: int, seed: int) -> str:
    """What the kick of a T1 or K1 did, in words."""
    kicking = KickTrials(robot, population=1, starts=trials, seed=seed, goals=KickGoals(watched=ROLL_CYCLES))
    return str(kicking.run([shipped_motion(robot, "kick")], seed))


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--types", nargs="*", default=TYPES)
    parser.add_argument("--what", nargs="*", default=WHAT, choices=WHAT)
    parser.add_argument("--seed", type=int, default=20_261_117)
    arguments = parser.parse_args()
    trials, seed = arguments.trials, arguments.seed
    if "get-ups" in arguments.what:
        _say("| type | from the front | time | from the back | time |")
        _say("|---" * 5 + "|")
        for kind in arguments.types:
            sides = get_ups(kind, trials, arguments.threads, seed)
            cells = [f"{good} of {tried} | {time:.2f} s" for tried, good, time in sides.values()]
            _say(f"| {kind} | {' | '.join(cells)} |")
    if "kicks" in arguments.what:
        _say("| type | motion | way ahead | half of them | within 15 degrees | hit after | stood |")
        _say("|---" * 7 + "|")
        for kind in arguments.types:
            for row in kicks(kind, trials, seed):
                _say(row)
    if "dives" in arguments.what:
        for kind in arguments.types:
            reach = [f"{metres:.2f} m" for metres in dives(kind, trials, seed).mean(axis=1)]
            _say(f"- {kind}, dive: {', '.join(reach)} after {DIVE_TIMES} s")
    if "boosters" in arguments.what:
        for robot in BOOSTERS:
            _say(f"- {robot}, kick: {booster_kick(robot, trials, seed)}")


if __name__ == "__main__":
    main()
