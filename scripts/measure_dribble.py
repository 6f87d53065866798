"""Dribbling from fresh starts: robots that stand, the rule that `nutmeg train dribble` begins with, networks, tactics.

    python scripts/measure_dribble.py stand rule tactics runs/train-dribble-nao-spark-type0-1 --levels 0.2 0.6
    python scripts/measure_dribble.py tactics --walk policy-fast --type type2

All begin from the same starts, and are asked for the same directions for ten seconds. `tactics` is a player of the
built-in team that never kicks, with its own limits of speeds and accelerations; it knows place and velocity of the ball
exactly, the others only about. A try ends when the robot falls or the ball is more than 1.2 m away. Prints, with twice
the standard error, the return, how fast balls came along the wanted direction, and how far in all, and how many robots
lost the ball or fell.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

import numpy as np

from nutmeg.base.angles import upward
from nutmeg.base.arrays import Floats
from nutmeg.base.constants import CONTROL_CYCLE, GRAVITY
from nutmeg.learning.courses import yaw_of
from nutmeg.learning.policies.dribble_task import EPISODE_DECISIONS, DribbleTask
from nutmeg.match.players.deciding_player import league_abilities
from nutmeg.match.players.limbs import Limbs
from nutmeg.match.players.request import Look
from nutmeg.match.players.tactics.decisions import Skill, use_skill
from nutmeg.match.players.tactics.records import Phase, ground_of
from nutmeg.match.players.tactics.strategies import BUILTIN_NAME, strategy
from nutmeg.match.players.tactics.tactician import Tactician, request_of
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import PlayMode, Side
from nutmeg.match.worlds.physical.percept import JOINTS, GameView, Percept
from nutmeg.model.ball import load_ball
from nutmeg.motion.dribble import DECISION_CYCLES, REACH, asked_velocities, read_dribbling
from nutmeg.motion.policy import network_of
from nutmeg.motion.policy_kernels import decide
from nutmeg.motion.walk.files import read_walk


class TacticsTask(DribbleTask):
    """The same robots, moved by players of the built-in team."""

    def use_players(self, walk: str, kind: str) -> None:
        """Gives every robot a player."""
        never = dataclasses.replace(strategy(BUILTIN_NAME), kicks=False, network_dribbles=False)
        self.limbs = [Limbs(read_walk(walk), int(kind[-1])) for _ in range(self.count)]
        ground = ground_of(load_rules("sim3d"), league_abilities(load_ball("sim3d"), self.limbs[0]))
        self.minds = [Tactician(never, ground, number=2, players=2) for _ in range(self.count)]
        motors = self._robot.table.motors
        self._wire = np.array([JOINTS.index(name) for name in motors])
        self._pending: Floats = np.zeros((self.count, len(motors)))
        self._time = 0.0

    def _walk(self) -> None:
        game = GameView("PlayOn", 0.0, number=2, side=Side.LEFT)
        for _ in range(DECISION_CYCLES):
            self._time += CONTROL_CYCLE
            self._robot.command = self._pending  # as on the league's server, commands act a cycle later
            pose, (ball, rolls), yaw = self._robot.pose.copy(), self._ball, yaw_of(self._robot.pose)
            up, gyro, angles = upward(pose[:, 3:]), self._robot.velocity[:, 3:6], np.degrees(self._robot.angles)
            motors, fresh = self._robot.table.motor_joints, np.zeros_like(self._pending)
            for n, (mind, limbs) in enumerate(zip(self.minds, self.limbs, strict=True)):
                belief, g = mind.records.beliefs, mind.records.games[0]
                belief["x"], belief["y"], belief["heading"] = *pose[n, :2], yaw[n]
                belief["ball_x"], belief["ball_y"] = ball[n]
                belief["ball_vx"], belief["ball_vy"] = rolls[n]
                belief["seen_ago"], belief["heard_ago"], belief["upright"] = 0.0, 1e9, True
                belief["others"]["age"], belief["others"]["x"] = 1e9, np.nan
                g.time, g.mode, g.number, g.players, g.step = self._time, PlayMode.PLAY_ON, 2, 2, CONTROL_CYCLE
                g.phase, g.favour = Phase.PLAY, 0
                orders = mind.records.orders
                orders[:] = np.zeros((), orders.dtype)
                use_skill(mind.records, Skill.PLAY_BALL, float(self.direction[n]), 1.0, np.nan)
                seen = np.zeros(len(JOINTS))
                seen[self._wire] = angles[n, motors]
                percept = Percept(
                    time=self._time,
                    game=game,
                    gyro=np.degrees([-gyro[n, 1], gyro[n, 0], gyro[n, 2]]),
                    acc=GRAVITY * np.array([-up[n, 1], up[n, 0], up[n, 2]]),
                    angles=seen,
                    forces=np.full((2, 6), np.nan),
                )
                fresh[n] = limbs.act(percept, request_of(orders).legs, Look())[self._wire]
            self._pending = fresh
            self._step()


def measure(name: str, walk: str, kind: str, level: float, trials: int, seed: int) -> str:
    """What one way to dribble does, in words."""
    task = (TacticsTask if name == "tactics" else DribbleTask)("nao-spark", kind, trials, walk=walk, seed=seed)
    if isinstance(task, TacticsTask):
        task.use_players(walk, kind)
    task.use_level(level)
    task.reseed(np.random.SeedSequence(seed))
    task.begin(np.arange(trials))
    network = (
        None
        if name in ("stand", "rule", "tactics")
        else network_of((found := read_dribbling(Path(name))).weights, found.folder, kind, "dribbling")
    )
    alive, fell = np.ones(trials, bool), np.zeros(trials, bool)
    returns, way, seconds = np.zeros(trials), np.zeros(trials), np.zeros(trials)
    for _ in range(EPISODE_DECISIONS[1]):
        actions = np.zeros((trials, task.actions))
        if name == "stand":
            ball, _, direction = task.known
            actions = -asked_velocities(task.walker, ball, direction, actions) / REACH / task.walker.walk.top_speed()
        elif network is not None:
            actions = np.stack([decide(row, network, task.image, (True, True)) for row in task.observation])
        task.advance(actions)
        returns += alive * task.reward
        way += alive * task.way
        seconds += alive * task.period
        fell |= alive & task.fell
        alive &= ~task.ended
    error = 2 / np.sqrt(trials)
    speed, lost = way / seconds, int((~alive & ~fell).sum())
    return (
        f"return {returns.mean():.2f} ± {error * returns.std():.2f}, {way.sum() / seconds.sum():.2f} ± "
        f"{error * speed.std():.2f} m/s, {way.mean():.2f} ± {error * way.std():.2f} m, "
        f"lost {lost}, fell {int(fell.sum())} of {trials}"
    )


def main() -> None:
    """Measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ways", nargs="+", help="stand, rule, tactics, or the folder of a training")
    parser.add_argument("--levels", type=float, nargs="+", default=[0.2, 0.6])
    parser.add_argument("--walk", default="policy", help="the walk that is steered")
    parser.add_argument("--type", default="type0")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=20_261_119)
    asked = parser.parse_args()
    for way in asked.ways:
        for level in asked.levels:
            found = measure(way, asked.walk, asked.type, level, asked.trials, asked.seed)
            sys.stdout.write(f"{way}, level {level:g}: {found}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
