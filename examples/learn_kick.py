"""How the built-in team's kick was learned: keyframes tried in the world of a match.

    python examples/learn_kick.py 2         # two generations from the kick that comes with Nutmeg: some minutes

A try is a robot that stands as its walk begins, kicks with the left foot, and goes back to standing. The ball lies at
the motion's place, moved a little along each axis. What counts is how far the ball will come straight ahead, less how
far aside; falls cost much, and so does time. Rolling balls slow down exponentially (the ball's `rolling_damping`), so
that a moment after the kick it is known how far they will come.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import UnknownNameError
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.players.kicks import spread
from nutmeg.match.players.limbs import COMMAND_DELAY, Limbs
from nutmeg.match.players.request import Look, Stand
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.match.worlds.physical.percept import JOINTS, WITHOUT_TOES, Action
from nutmeg.model.ball import load_ball
from nutmeg.motion.bodies import OnboardRobot
from nutmeg.motion.keyframes import KeyframeMotion, Mirror, motion_path, shipped_motion, write_motion
from nutmeg.motion.walk.files import read_walk
from nutmeg.search.evaluation import InThisThread
from nutmeg.search.run import Budget, minimise
from nutmeg.search.searchers import CmaEs, CmaEsSettings
from nutmeg.search.space import Dimension, Space

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats


CYCLE = 0.02
STANDS, BACK, AFTER = 1.2, 0.3, 0.5
"""How long a robot stands before the kick, takes back into standing, and is watched then [s]."""
NO_SENSE = np.zeros(3)
"""A kick asks neither gyro nor accelerometer."""
FALLEN = 0.25
"""Height of the torso below which a robot has fallen [m]."""
WALKS = ("dynamic-rewards", "final")
"""Walks of the robots that a kick is learned with: they stand narrow and wide."""
QUICKEST = 0.06
"""The shortest time between frames that is tried [s]."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a kick loses, in metres of distance."""

    fall: float = 4.0
    enough: float = 5.0
    """Distances beyond this are no better [m]."""
    aside: float = 1.5
    """For each metre that the ball ends aside."""
    second: float = 0.8
    """For each second that the motion takes."""
    sway: float = 4.0
    """For each metre that the robot itself has moved, and each radian it has turned."""


@dataclass(frozen=True)
class Kicks:
    """What N kicks came to."""

    distance: Floats
    """How far ahead the ball comes to rest, (N,) [m]."""
    aside: Floats
    """How far to the left, (N,) [m]."""
    fell: Bools
    """(N,)."""
    moved: Floats
    """How far the robot came and turned, (N,) [m + rad]."""


class KickingRobot:
    """One robot that can be put back to where it stood, in the world of a match.

    Args:
        walk: how it stands.
    """

    def __init__(self, walk: str = "dynamic-rewards") -> None:
        game = Game(load_rules("sim3d"), seed=0, seats=1, setup=PhysicalSetup(noise=False))
        self._slot = game.enter("kicks", 1)
        game.set_play_mode(PlayMode.PLAY_ON)
        game.place_player(self._slot, (0.0, 0.0, 0.4), 0.0)
        game.place_ball((0.0, 5.0, 0.042))
        self._walk = read_walk(walk)
        limbs, look = Limbs(self._walk, 0), Look()
        percept = game.cycle({})[self._slot]
        for _ in range(round(STANDS / CYCLE)):
            action = Action(speeds=limbs.act(percept, Stand(), look))
            percept = game.cycle({self._slot: action})[self._slot]
        self._world, self._angles = game.world, np.radians(percept.angles)
        state = self._world.ground.world
        self._state = state.qpos.copy(), state.qvel.copy()
        self._body = body = OnboardRobot("nao-spark", "type0", delay=COMMAND_DELAY)
        self._table, self._mirror = body.table, Mirror.of(body.scene, body.table)
        self._columns = np.array([JOINTS.index(name) for name in body.motors])
        self._slowing = load_ball("sim3d").rolling_damping

    @property
    def stance(self) -> float:
        """How far apart its feet stand [m]."""
        return self._walk.walk.y_sep

    def kick(self, motion: KeyframeMotion, ball: Floats) -> tuple[float, float, bool, float]:
        """Kicks a ball that lies (2,) from the motion's place: distance, aside, whether it fell, how far it moved."""
        world, slot = self._world, self._slot
        self._stand()
        begin, looked = world.poses()[slot], float(world.headings()[slot])
        world.place_ball((begin[:2] + motion.ball + ball).tolist())
        start = self._angles[self._columns]
        path = motion_path(motion, self._table, self._mirror, start)
        back = np.linspace(path[-1], start, round(BACK / CYCLE) + 1)[1:]
        path = np.concatenate([start[None], path, back, np.repeat(start[None], round(AFTER / CYCLE), axis=0)])
        body, wire = self._body, np.zeros((1, WITHOUT_TOES))
        body.command = wire
        angles = start
        for goal in path[1:]:
            body.feel(angles, NO_SENSE, NO_SENSE)
            body.command = (goal - body.angles)[None] / CYCLE
            wire[0, self._columns] = body.command[0]
            world.command([slot], wire)
            world.step()
            angles = np.radians(world.angles[slot, self._columns])
        end = world.ball[:2] + world.ball_velocity[:2] / self._slowing - begin[:2]
        pose = world.poses()[slot]
        moved = float(np.hypot(*(pose[:2] - begin[:2]))) + abs(float(world.headings()[slot]) - looked)
        return float(end[0]), float(end[1]), bool(pose[2] < FALLEN), moved

    def _stand(self) -> None:
        """Puts everything back to how it stood, with no command on its way."""
        world, state = self._world, self._world.ground.world
        world.command([self._slot], np.zeros((1, WITHOUT_TOES)))
        world.step()
        state.qpos[:], state.qvel[:] = self._state
        state.data.qacc_warmstart[:] = 0.0
        state.touch()
        world.settle()


def try_kicks(motions: Sequence[KeyframeMotion], balls: Floats, *, robot: KickingRobot | None = None) -> Kicks:
    """Kicks with N motions, the ball moved by `balls` (N, 2) [m] from each one's place."""
    one = robot or KickingRobot()
    found = [one.kick(motion, ball) for motion, ball in zip(motions, balls, strict=True)]
    distance, aside, fell, moved = (np.array(column) for column in zip(*found, strict=True))
    return Kicks(distance, aside, fell, moved)


@dataclass(frozen=True, kw_only=True)
class KickTrials:
    """Judges keyframes; a function for every evaluator of `nutmeg.search`: mean cost over places of the ball [m]."""

    motion: KeyframeMotion
    """Where numbers that are not searched come from."""
    names: tuple[str, ...]
    """The searched numbers."""
    balls: tuple[tuple[float, float], ...]
    """How far the ball lies from its place, in each try [m]."""
    cost: Cost = Cost()
    robots: tuple[KickingRobot, ...]
    """Who kicks: all of these, each as wide as it stands."""

    def motion_of(self, candidate: Floats) -> KeyframeMotion:
        """The motion with a candidate's numbers, (k,): seconds, metres and radians."""
        named = dict(zip(self.names, np.asarray(candidate, float).tolist(), strict=True))
        plain = ("ball.", ".seconds")
        return self.motion.with_numbers(
            {
                name: value if name.startswith(plain[0]) or name.endswith(plain[1]) else float(np.degrees(value))
                for name, value in named.items()
            }
        )

    def __call__(self, candidates: Floats, generators: Sequence[np.random.Generator]) -> list[float]:
        """Costs of candidates (n, k), smaller is better; the generators are not needed."""
        del generators
        motions = [self.motion_of(row) for row in candidates]
        balls = np.array(self.balls)
        costs = [self._costs(motion, balls, robot) for motion in motions for robot in self.robots]
        return [float(cost) for cost in np.mean(np.reshape(costs, (len(motions), -1)), axis=1)]

    def _costs(self, motion: KeyframeMotion, balls: Floats, robot: KickingRobot) -> Floats:
        """What a robot's tries with each ball cost, (balls,)."""
        c, tries = self.cost, try_kicks([spread(motion, robot.stance)] * len(balls), balls, robot=robot)
        costs = c.aside * np.abs(tries.aside) - np.minimum(tries.distance, c.enough)
        return np.asarray(
            costs + c.sway * np.minimum(tries.moved, 0.5) + c.fall * tries.fell + c.second * motion.seconds
        )


def kick_space(motion: KeyframeMotion, *, reach: float = 25.0, only: Sequence[str] = ()) -> Space:
    """The numbers that a kick's frames name, and the ball's place, as a space around them.

    Args:
        motion: where the search begins.
        reach: how far angles may go from there [degrees]; times may halve and double, the ball may lie 3 cm elsewhere.
        only: the names of the numbers to search, such as `frame3.llj3`; none for all.
    """
    table = OnboardRobot(motion.robot, "type0").table
    found: dict[str, Dimension] = {}
    for number, frame in enumerate(motion.frame, start=1):
        short, long = max(frame.seconds / 2, QUICKEST), frame.seconds * 2
        found[f"frame{number}.seconds"] = Dimension(
            low=min(short, frame.seconds), high=long, start=frame.seconds, unit="s"
        )
        for joint, degrees in frame.angles.items():
            low, high = table.limits[table.joints.index(joint)]
            start, about = float(np.clip(np.radians(degrees), low, high)), np.radians(reach)
            found[f"frame{number}.{joint}"] = Dimension(
                low=max(low, start - about), high=min(high, start + about), start=start, unit="rad"
            )
    for name, place in zip(("ball.ahead", "ball.left"), motion.ball, strict=True):
        found[name] = Dimension(low=place - 0.03, high=place + 0.03, start=place, unit="m")
    unknown = [name for name in only if name not in found]
    if unknown:
        raise UnknownNameError("number of the kick", unknown[0], list(found))
    return Space({name: found[name] for name in only or found})


def learn_kick(
    motion: KeyframeMotion,
    *,
    generations: int,
    population: int = 16,
    reach: float = 25.0,
    seed: int = 0,
    within: float = 0.015,
    only: Sequence[str] = (),
) -> KeyframeMotion:
    """A better kick, searched around a motion with CMA-ES: the mean of its last distribution, or the best if better.

    Args:
        motion: where to begin.
        generations: how many.
        population: candidates in each; each kicks three balls.
        reach: how far angles may go from where they begin [degrees].
        seed: of the search.
        within: how far balls lie from their place along both axes [m].
        only: the names of the numbers to search; none for all.
    """
    space, robots = kick_space(motion, reach=reach, only=only), tuple(KickingRobot(walk) for walk in WALKS)
    begin = dataclasses.replace(motion, stance=motion.stance or robots[0].stance)
    balls = ((0.0, 0.0), (within, within), (-within, -within))
    trials = KickTrials(motion=begin, names=tuple(space.names), balls=balls, cost=Cost(), robots=robots)
    searcher = CmaEs(space, CmaEsSettings(population=population, step=0.15), np.random.default_rng(seed))
    found = minimise(trials, searcher, InThisThread(), budget=Budget(generations=generations), seed=seed)
    costs = trials(np.stack([found.mean, found.best.candidate]), ())
    better = trials.motion_of(found.mean if costs[0] <= costs[1] else found.best.candidate)
    far = float(measure_kick(better, within=within).distance.mean())
    return dataclasses.replace(better, tolerance=within, distance=far)


def measure_kick(motion: KeyframeMotion, *, tries: int = 20, seed: int = 0, within: float = 0.015) -> Kicks:
    """What a kick does with balls anywhere `within` some way of their place along each axis [m]."""
    balls = np.random.default_rng(seed).uniform(-within, within, (tries, 2))
    return try_kicks([motion] * tries, balls)


def main(generations: int) -> None:
    """Learns on from the kick that comes with Nutmeg, and says how far it sends the ball."""
    learned = learn_kick(shipped_motion("nao-spark", "kick"), generations=generations, seed=1)
    write_motion(Path("nao-spark-kick.toml"), learned)
    print(f"nao-spark-kick.toml: {measure_kick(learned, seed=2).distance.mean():.2f} m")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
