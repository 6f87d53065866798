"""Plays a game of our own T1 teams in one process, faster than over sockets, and prints score and falls as JSON.

    .venv/bin/python scripts/play_boosters.py --players 7 --seed 1

A fall is counted whenever a robot's upward direction comes below 0.5 along z after the first kick-off.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from nutmeg.match.loop import GameLoop
from nutmeg.match.mj_game import MjGame
from nutmeg.match.players.booster import BoosterSetup, booster_team, walking_setup
from nutmeg.match.rules.book import load_rules


def play(players: int, seed: int, seconds: float) -> dict[str, object]:
    """Plays until so many seconds of game time are over, or the game is."""
    setup = walking_setup(BoosterSetup(players=players))
    everybody = {**booster_team("reds", setup), **booster_team("blues", setup)}
    rules = load_rules("ssim26").with_match(automatic_kick_off=True)
    stands, falls, cycles, began = dict.fromkeys(everybody, True), 0, 0, time.monotonic()
    with MjGame(rules, seed=seed, seats={"t1": 2 * players}) as game:
        loop = GameLoop(game, everybody)
        while not game.over and game.view.time < seconds:
            loop.cycle()
            cycles += 1
            for who, player in everybody.items():
                upright = bool(player.body.up[0, 2] >= 0.5)
                falls += stands[who] and not upright and game.view.time > 0
                stands[who] = upright
        score = game.view.score_left, game.view.score_right
    return {"seed": seed, "score": score, "falls": falls, "real_time": 0.02 * cycles / (time.monotonic() - began)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=300.0)
    sys.stdout.write(json.dumps(play(**vars(parser.parse_args()))) + "\n")
