"""Get-ups and kicks of every type of the league's robot, from fresh starts.

    python scripts/measure_motions.py --trials 100

Prints a table and a list in Markdown. Get-ups: walkers are pushed over ahead and back, lie still, and get up as players
do; a get-up counts if the first try ends standing and the robot still stands a second later. Kicks: walkers are
stopped, the ball lies up to 5 cm from its place along each axis; the way of the ball is that straight ahead when it
rests. A robot stands after a kick if it has not fallen a second after the hit.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from nutmeg.learning.courses import yaw_of
from nutmeg.learning.motions import KickTrials
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.inertial import Lying
from nutmeg.motion.keyframes import shipped_get_ups, shipped_motion
from nutmeg.motion.policy import PolicyWalker
from nutmeg.motion.skills import Skill, Skills
from nutmeg.motion.walk.files import read_walk
from nutmeg.sim.worlds import Worlds

SEED, TYPES, CYCLE = 20_261_117, ("type0", "type1", "type2", "type3", "type4"), 0.02
KICKS = ("kick", "pass", "shot")
WATCHED = 50  # cycles after the hit in which falls count


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def get_ups(kind: str, trials: int, threads: int) -> dict[Lying, tuple[int, int, float]]:
    """How many get-ups there were from each side, how many succeeded at the first try, and their mean time [s]."""
    rng = np.random.default_rng([SEED, int(kind[-1])])
    scene = assemble(
        SceneSettings(
            field="floor",
            ball="none",
            robots=(Placement(robot="nao-spark", name="nao", type=kind),),
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


def kicks(kind: str, trials: int) -> dict[str, str]:
    """What each kick did, in words, by its name."""
    kicking = KickTrials("nao-spark", kind, population=1, starts=trials, seed=SEED)
    kicking.watch(WATCHED, 1.0)
    found = {name: str(kicking.run([shipped_motion("nao-spark", name, kind)], SEED)) for name in KICKS}
    kicking.task.close()
    return found


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--types", nargs="*", default=TYPES)
    arguments = parser.parse_args()
    _say("| type | from the front | time | from the back | time |")
    _say("|---" * 5 + "|")
    for kind in arguments.types:
        sides = get_ups(kind, arguments.trials, arguments.threads)
        cells = [f"{good} of {tried} | {time:.2f} s" for tried, good, time in sides.values()]
        _say(f"| {kind} | {' | '.join(cells)} |")
    for kind in arguments.types:
        for name, said in kicks(kind, arguments.trials).items():
            _say(f"- {kind}, {name}: {said}")


if __name__ == "__main__":
    main()
