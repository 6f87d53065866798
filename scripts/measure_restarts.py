"""How players of the built-in team take restarts: whether they kick the ball, or brush it with a walking foot.

    python scripts/measure_restarts.py policy-fast
    python scripts/measure_restarts.py policy --tries 40 --seed 2

A team of three plays alone on the pitch. In each try the ball lies at a new place, the taker 1.6 m from it in a random
direction (at goal kicks the keeper in its goal), and the referee gives the restart. Printed for each kind: how often
the first touch was a kick, and how often the taker touched the ball twice, which gives the other team a free kick;
means of the time until the first touch, of the ball's highest speed, and of how far it is four seconds later.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import NamedTuple

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.match.game import Game
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.deciding_player import make_team
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import PlayMode

KINDS = {
    "free kick": PlayMode.FREE_KICK_LEFT,
    "kick-in": PlayMode.KICK_IN_LEFT,
    "goal kick": PlayMode.GOAL_KICK_LEFT,
}
KEEPER, TAKER, MATE = range(3)
TAKER_DISTANCE = 1.6
MOVING_SPEED = 0.1
"""A ball that is faster than this has been touched [m/s]."""
SETTLE_CYCLES, MAX_CYCLES, WATCHED_CYCLES = 10, 800, 200
"""Cycles before the whistle, after it until the first touch, and after that."""


class Restart(NamedTuple):
    """How a restart was taken."""

    kicked: bool
    """Whether the first touch was a kick."""
    twice: bool
    """Whether the taker touched the ball twice."""
    seconds: float
    """Time until the first touch."""
    speed: float
    """Highest speed of the ball, m/s."""
    way: float
    """How far the ball came within four seconds of the first touch, m."""


class Restarts:
    """A team of three alone on the pitch.

    Args:
        walk: its walk.
        seed: of places and noise.
    """

    def __init__(self, walk: str, seed: int) -> None:
        rules = load_rules("sim3d").with_match(players=3, half_length=1e5, halves=1)
        self.game = Game(rules, seed=seed, left="left", right="right", seats=3)
        self.loop = GameLoop(self.game, {("left", p.number): p for p in make_team(walk, 3, team="left")})
        self.rng = np.random.default_rng(seed)

    def _place(self, kind: str) -> tuple[float, float]:
        """A place of the ball, m."""
        rng, pitch = self.rng, self.game.rules.pitch
        end, side = pitch.length / 2, rng.choice((-1.0, 1.0))
        if kind == "goal kick":
            return -end + 1.8, float(rng.uniform(-0.4, 0.4))
        x = float(rng.uniform(-8.0, 10.0))
        return x, side * (pitch.width / 2 - 0.05 if kind == "kick-in" else float(rng.uniform(0.0, 7.0)))

    def take(self, kind: str) -> Restart | None:
        """One restart; None if nobody touched the ball."""
        game, world, angle = self.game, self.game.world, float(self.rng.uniform(-math.pi, math.pi))
        x, y = self._place(kind)
        taker = KEEPER if kind == "goal kick" else TAKER
        places = {
            KEEPER: (-game.rules.pitch.length / 2 + 0.7, 0.0),
            TAKER: (x + TAKER_DISTANCE * math.cos(angle), y + TAKER_DISTANCE * math.sin(angle)),
            MATE: (min(x + 3.0, 12.0), 0.5 * y),
        }
        game.set_play_mode(PlayMode.PLAY_ON)
        for slot, place in places.items():
            game.place_player(slot, (*place, 0.38), math.degrees(math.atan2(y - place[1], x - place[0])))
        game.place_ball((x, y, world.ball_radius), (0.0, 0.0, 0.0))
        self.loop.run(SETTLE_CYCLES)
        game.set_play_mode(KINDS[kind])
        game.place_ball((x, y, world.ball_radius), (0.0, 0.0, 0.0))
        self.loop.run(1)
        start = world.ball[:2].copy()
        touched, kicked, speed = 0, False, 0.0
        for cycle in range(1, MAX_CYCLES + WATCHED_CYCLES):
            self.loop.cycle()
            now = float(np.hypot(*world.ball_velocity[:2]))
            if touched == 0 and now > MOVING_SPEED:
                touched, kicked = cycle, self.loop.players[taker].limbs.doing == "kick"
            if any(event.kind == "double_touch" for event in game.events):
                way = float(np.hypot(*(world.ball[:2] - start)))
                return Restart(kicked=kicked, twice=True, seconds=touched * CONTROL_CYCLE, speed=speed, way=way)
            speed = max(speed, now)
            if touched == 0 and cycle == MAX_CYCLES:
                return None
            if touched and cycle - touched >= WATCHED_CYCLES:
                break
        way = float(np.hypot(*(world.ball[:2] - start)))
        return Restart(kicked=kicked, twice=False, seconds=touched * CONTROL_CYCLE, speed=speed, way=way)


def main() -> None:
    """Measures, and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("walk")
    parser.add_argument("--tries", type=int, default=24, help="tries of each kind")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    restarts = Restarts(asked.walk, asked.seed)
    sys.stdout.write(
        "| restart | kicked | touched twice | first touch after | speed | way |\n|---|---|---|---|---|---|\n"
    )
    for kind in KINDS:
        taken = [found for found in (restarts.take(kind) for _ in range(asked.tries)) if found is not None]
        means = np.mean(taken, axis=0) if taken else np.zeros(len(Restart._fields))
        sys.stdout.write(
            f"| {kind} | {sum(one.kicked for one in taken)} of {asked.tries} | {sum(one.twice for one in taken)} | "
            f"{means[2]:.1f} s | {means[3]:.1f} m/s | {means[4]:.1f} m |\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
