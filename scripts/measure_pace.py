"""How robots with a walk stop in a match: numbers of `match/players/data/paces.toml`, by which players kick.

    python scripts/measure_pace.py policy-fast
    python scripts/measure_pace.py policy-fast --types 0 2 --tries 10

A robot of each type is alone on the pitch, with the delay and the noise of a match. It walks for two to three seconds
at a speed, is told to stand, and counts as standing as soon as it might kick. Printed are the true speed, the way from
the order to that moment, ahead and to the left, and the time it takes, each with its standard deviation over tries.
From these come, by least squares over all types, the lines for the file:

- `stop` (a, b) and `settle` (c): a robot comes a v + b v^2 - c metres farther from a speed v [m/s].
- `stop_aside`: the same in proportion to a speed to the side.
- `stop_time`: the mean time from speeds below `KICK_SPEED`, at which players go up to a ball that they kick.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import lsq_linear

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.match.game import Game
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.deciding_player import POLICY_TYPES, DecidingPlayer, PlayerSetup
from nutmeg.match.players.request import Request, Stand, Walk
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.motion.walk.files import read_walk

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats
    from nutmeg.match.players.decide import Memory, View
    from nutmeg.match.players.request import Legs
    from nutmeg.motion.walk.files import WalkParameters

AHEAD = (0.1, 0.15, 0.2, 0.3, 0.4, 0.55, 0.7, 0.9, 1.1)
ASIDE = (0.1, 0.2, 0.3, 0.4)
"""Speeds ahead and to the left from which robots stop [m/s]."""
KICK_SPEED = 0.5
"""Highest speed from which players stop to kick [m/s]."""
START, REST_TIME, WALK_TIME, MEASURED_TIME, MAX_STOP_TIME = (-8.0, 0.0, 0.38), 1.5, (2.0, 3.0), 0.5, 3.0
"""Where robots begin [m], how long they stand first, how long they walk, over which end of that time the speed is
measured, and how long they may take to stop [s]."""


class Stop(NamedTuple):
    """How a robot stopped."""

    speed: float
    """True speed before the order, m/s."""
    ahead: float
    left: float
    """Way from the order until it stood, m."""
    seconds: float


class Walking:
    """A robot alone on the pitch, with the legs and the senses of a player.

    Args:
        walk: its walk.
        robot_type: type of the league's robot, 0 to 4.
        seed: of noise, and of how long it walks.
    """

    def __init__(self, walk: WalkParameters, robot_type: int, seed: int) -> None:
        rules = load_rules("sim3d").with_match(players=2, half_length=1e5, halves=1)
        self.legs: Legs = Stand()
        self.game = Game(rules, seed=seed, left="left", right="right", seats=1)
        setup = PlayerSetup(walk=walk, players=2, robot_type=robot_type, cycles=1, longest=0.0)
        self.player = DecidingPlayer(self._decide, "left", 2, setup)
        self.loop = GameLoop(self.game, {("left", 2): self.player})
        self.slot, self.rng = next(iter(self.loop.players)), np.random.default_rng(seed)
        self._run(0.4)
        self.game.set_play_mode(PlayMode.PLAY_ON)

    def _decide(self, _view: View, _memory: Memory) -> Request:
        return Request(legs=self.legs)

    def _run(self, seconds: float) -> None:
        for _ in range(round(seconds / CONTROL_CYCLE)):
            self.loop.cycle()

    def _pose(self) -> tuple[Floats, float]:
        """Place (2,) and heading of the torso."""
        ground = self.game.world.ground
        rotation = ground.world.data.xmat[ground.seats["torso"][self.game.world.seat_of[self.slot]]]
        return self.game.world.position[self.slot, :2].copy(), math.atan2(rotation[3], rotation[0])

    def stop(self, legs: Walk) -> Stop:
        """Walks from standing for a while, and is told to stand."""
        self.legs = Stand()
        self.game.place_player(self.slot, START, 0.0)
        self._run(REST_TIME)
        self.legs = legs
        self._run(float(self.rng.uniform(*WALK_TIME)) - MEASURED_TIME)
        early, _ = self._pose()
        self._run(MEASURED_TIME)
        before, heading = self._pose()
        speed = float(np.hypot(*(before - early))) / MEASURED_TIME
        self.legs, cycles = Stand(), 0
        while cycles * CONTROL_CYCLE < MAX_STOP_TIME and (cycles == 0 or not self.player.limbs.may_kick):
            self.loop.cycle()
            cycles += 1
        (x, y), c, s = self._pose()[0] - before, math.cos(heading), math.sin(heading)
        return Stop(speed, float(c * x + s * y), float(c * y - s * x), cycles * CONTROL_CYCLE)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def fitted(speeds: Floats, ways: Floats) -> tuple[float, float, float]:
    """The numbers a, b and c of a stopping distance a v + b v^2 - c, none below 0."""
    terms = np.stack([speeds, speeds**2, -np.ones(len(speeds))], axis=1)
    a, b, c = lsq_linear(terms, ways, bounds=(0.0, np.inf)).x.tolist()
    return a, b, c


def main() -> None:
    """Measures, and prints tables and lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("walk")
    parser.add_argument("--types", type=int, nargs="+", default=sorted(set(POLICY_TYPES)), choices=range(5))
    parser.add_argument("--tries", type=int, default=6, help="tries of each type and speed")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    walk, tries = read_walk(arguments.walk), range(arguments.tries)
    ahead, aside = list[tuple[float, Stop]](), list[tuple[float, Stop]]()
    for kind in arguments.types:
        robot = Walking(walk, kind, arguments.seed)
        for side, speeds, stops in ((False, AHEAD, ahead), (True, ASIDE, aside)):
            for speed in speeds:
                some = [robot.stop(Walk(left=speed) if side else Walk(ahead=speed)) for _ in tries]
                stops += [(speed, one) for one in some]
                means, spreads = np.mean(some, axis=0), np.std(some, axis=0)
                shown = (f"{m:.3f} ± {d:.3f}" for m, d in zip(means, spreads, strict=True))
                _say(
                    f"type {kind}, {speed:.2f} m/s {'aside' if side else 'ahead'}: "
                    + "; ".join(
                        f"{name} {value}" for name, value in zip(("speed", "ahead", "left", "time"), shown, strict=True)
                    )
                )
    a, b, c = fitted(np.array([v for v, _ in ahead]), np.array([one.ahead for _, one in ahead]))
    _say(f"stop = [{a:.2f}, {b:.2f}]\nsettle = {c:.3f}")
    side = np.array([v for v, _ in aside])
    _say(f"stop_aside = {float(side @ [one.left for _, one in aside] / (side @ side)):.2f}")
    _say(f"stop_time = {np.mean([one.seconds for v, one in ahead if v < KICK_SPEED]):.2f}")


if __name__ == "__main__":
    main()
