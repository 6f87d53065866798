"""Get-ups and kicks of every type of the league's robot, and the kicks of T1, K1 and Nao V6, from fresh starts.

    python scripts/measure_motions.py --trials 100
    python scripts/measure_motions.py --trials 100 --what kicks --seed 20261120
    python scripts/measure_motions.py --trials 100 --what others --robots nao-v6

Prints tables in Markdown. Get-ups: robots that walk or stand are pushed over ahead and back, lie still, and get up as
players do; a get-up counts if the first try ends standing and the robot still stands a second later. They are tried in
worlds of one robot and in the world of a match, with the built-in player's limbs and their delay. Kicks: walkers are
stopped, and kick when they rock no more; the ball lies up to 5 cm from its place along each axis; the way of the ball
is that straight ahead when it rests. After a kick the policy of the walk takes over; a robot stands if it has not
fallen 1.2 s after the motion. Dives: how far to its side a keeper stops balls, and when.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from nutmeg.base.arrays import Floats
from nutmeg.learning.courses import yaw_of
from nutmeg.learning.motions import STRAIGHT, KickGoals, KickTrials
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.players.limbs import Limbs
from nutmeg.match.players.request import Look, Stand, Walk
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.match.worlds.physical.ground import TOED_TYPE
from nutmeg.match.worlds.physical.percept import Action
from nutmeg.model.ball import load_ball
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.motion.bodies import JointTargets, Mirror
from nutmeg.motion.inertial import Lying
from nutmeg.motion.keyframes import motion_path, shipped_get_ups, shipped_motion
from nutmeg.motion.policy import PolicyWalker
from nutmeg.motion.skills import Skill, Skills
from nutmeg.motion.walk.files import read_walk
from nutmeg.sim.worlds import Worlds

if TYPE_CHECKING:
    from nutmeg.match.players.request import Legs

TYPES, CYCLE = ("type0", "type1", "type2", "type3", "type4"), 0.02
KICKS, WHAT = ("kick", "pass", "shot"), ("get-ups", "kicks", "dives", "others")
PUSH_CYCLE, RISE_CYCLES, PUSH = 60, 260, (1.5, 3.0)  # when robots are pushed, how long they are watched, the push [m/s]
PLAYERS = 6  # in each game
DIVE_TIMES, STANCE_CYCLES = (0.4, 0.5, 0.6, 0.7, 0.9), 15
OTHERS = {"t1": "ideal", "k1": "ideal", "nao-v6": "motoflex"}  # robots with a kick, and their drives
ROLL_CYCLES = 400  # balls of these are watched until they rest, and the robots as long [cycles]


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@dataclass
class Rise:
    """One fall and what came of it."""

    lying: int = 0
    """The side that was below when the robot began to get up, a `Lying`."""
    seconds: float = math.nan
    """How long it took to get up, with all tries [s]."""
    first: bool = False
    """Whether the first try succeeded and the robot still stood a second later."""


class RiseWatch:
    """Watches one robot that is pushed over, cycle by cycle."""

    def __init__(self) -> None:
        self.rise, self._before, self._since = Rise(), Skill.STAND, 0

    def see(self, skill: Skill, lying: int, tries: int) -> None:
        """Takes in the skill of a cycle, the side that is below, and how many tries of getting up there were."""
        rise, begun = self.rise, self.rise.lying > 0
        self._since += 1
        if skill is Skill.GET_UP and self._before is not Skill.GET_UP and not begun:
            rise.lying, self._since = lying, 0
        if skill is Skill.STEADY and self._before is Skill.GET_UP and math.isnan(rise.seconds):
            rise.seconds, rise.first = self._since * CYCLE, tries == 1
        # A robot that falls within a second after it got up has not got up.
        if skill is Skill.FALL and self._since * CYCLE - rise.seconds < 1.0:
            rise.first = False
        self._before = skill


def _placement(kind: str) -> Placement:
    return Placement(robot="nao-spark", name="nao", type=kind)


def get_ups(kind: str, trials: int, *, walking: bool, seed: int, threads: int) -> list[Rise]:
    """What robots in worlds of their own did that walked or stood when they were pushed over, two for each trial."""
    rng = np.random.default_rng([seed, int(kind[-1])])
    scene = assemble(
        SceneSettings(
            field="floor",
            ball="none",
            robots=(_placement(kind),),
            visuals=False,
        )
    )
    count = 2 * trials
    worlds = Worlds(scene, count, threads=threads)
    policy = read_walk("policy").policy
    assert policy is not None
    walker = PolicyWalker(worlds, "nao", policy, rng=rng.spawn(1)[0])
    skills = Skills(worlds, "nao", walker, shipped_get_ups("nao-spark", kind), rng=rng.spawn(1)[0])
    skills.wanted[:] = rng.uniform(-1.0, 1.0, (count, 3)) * [0.8, 0.4, 1.0] if walking else 0.0
    robot, watches = worlds.robot("nao"), [RiseWatch() for _ in range(count)]
    for cycle in range(PUSH_CYCLE + RISE_CYCLES):
        if cycle == PUSH_CYCLE:
            away = yaw_of(robot.pose) + np.pi * (np.arange(count) % 2) + rng.normal(0.0, 0.3, count)
            push = rng.uniform(*PUSH, count)[:, None] * np.stack([np.cos(away), np.sin(away)], axis=1)
            worlds.qvel[:, robot.table.root_rate : robot.table.root_rate + 2] += push
            skills.wanted[:] = 0.0
        skills.sample(0.0)
        for row, watch in enumerate(watches):
            watch.see(Skill(int(skills.state[row])), int(skills.falls.lying[row]), int(skills.get_up.tries[row]))
        worlds.step()
    return [watch.rise for watch in watches]


def get_ups_in_matches(kind: str, trials: int, *, seed: int) -> list[Rise]:
    """The same of players in the world of a match, six in each game, every other one standing; two for each trial."""
    found: list[Rise] = []
    walk, type_ = read_walk("policy"), int(kind[-1])
    for number in range(math.ceil(2 * trials / PLAYERS)):
        rng = np.random.default_rng([seed, 2, type_, number])
        setup = PhysicalSetup(toed=PLAYERS if type_ == TOED_TYPE else 0)
        game = Game(load_rules("sim3d"), seed=int(rng.integers(2**31)), seats=PLAYERS, setup=setup)
        slots = [game.enter("us", player + 1, type_) for player in range(PLAYERS)]
        limbs, watches = [Limbs(walk, type_) for _ in slots], [RiseWatch() for _ in slots]
        game.set_play_mode(PlayMode.PLAY_ON)
        for player, slot in enumerate(slots):
            game.place_player(slot, (4.0 * player - 10.0, 4.0 - 8.0 * (player % 2), 0.4), 0.0)
        game.place_ball((0.0, 9.0, 0.042))
        wishes: list[Legs] = []
        for player in range(PLAYERS):
            ahead, left, turn = (rng.uniform(-1.0, 1.0, 3) * [0.8, 0.3, 1.0]).tolist()
            wishes.append(Stand() if player % 2 else Walk(ahead=ahead, left=left, turn=turn))
        looks = [Look(yaw=rng.uniform(-1.0, 1.0), pitch=rng.uniform(-0.3, 0.3)) for _ in slots]
        percepts, world, pushed = game.cycle({}), game.world, PUSH_CYCLE + int(rng.integers(20))
        for cycle in range(pushed + RISE_CYCLES):
            if cycle == pushed:
                for player, slot in enumerate(slots):
                    away = world.headings()[slot] + np.pi * ((player // 2 + number) % 2) + rng.normal(0.0, 0.3)
                    rate = int(world.ground.seats["rate"][int(world.seat_of[slot])])
                    push = rng.uniform(*PUSH) * np.array([math.cos(away), math.sin(away)])
                    world.ground.world.qvel[rate : rate + 2] += push
                world.ground.world.touch()
                wishes = [Stand()] * PLAYERS
            actions = {}
            for slot, limb, wish, look, watch in zip(slots, limbs, wishes, looks, watches, strict=True):
                actions[slot] = Action(speeds=limb.act(percepts[slot], wish, look))
                watch.see(limb.skill, *limb.get_up)
            percepts = game.cycle(actions)
        found += [watch.rise for watch in watches]
    return found


def rises_text(rises: list[Rise], side: Lying) -> str:
    """How many of the get-ups from a side succeeded at the first try, their mean time and the longest, in words."""
    chosen = [rise for rise in rises if rise.lying == side]
    times = [rise.seconds for rise in chosen if rise.first]
    return f"{len(times)} of {len(chosen)} | {np.mean(times):.2f} s, at most {np.max(times):.2f} s"


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


def other_kick(robot: str, trials: int, seed: int, threads: int) -> str:
    """What the kick of a robot of another league did, in words."""
    goals, drives = KickGoals(watched=ROLL_CYCLES), OTHERS[robot]
    kicking = KickTrials(robot, actuation=drives, population=1, starts=trials, seed=seed, goals=goals, threads=threads)
    return str(kicking.run([shipped_motion(robot, "kick")], seed))


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--types", nargs="*", default=TYPES)
    parser.add_argument("--robots", nargs="*", default=tuple(OTHERS), choices=tuple(OTHERS))
    parser.add_argument("--what", nargs="*", default=WHAT, choices=WHAT)
    parser.add_argument("--seed", type=int, default=20_261_117)
    arguments = parser.parse_args()
    trials, seed = arguments.trials, arguments.seed
    if "get-ups" in arguments.what:
        _say("| type | pushed over | from the front | time | from the back | time |")
        _say("|---" * 6 + "|")
        for kind in arguments.types:
            for how in ("walking", "standing", "in a match"):
                if how == "in a match":
                    rises = get_ups_in_matches(kind, trials, seed=seed)
                else:
                    rises = get_ups(kind, trials, walking=how == "walking", seed=seed, threads=arguments.threads)
                _say(f"| {kind} | {how} | {rises_text(rises, Lying.FRONT)} | {rises_text(rises, Lying.BACK)} |")
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
    if "others" in arguments.what:
        for robot in arguments.robots:
            _say(f"- {robot}, kick: {other_kick(robot, trials, seed, arguments.threads)}")


if __name__ == "__main__":
    main()
