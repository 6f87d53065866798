"""Plays a game of our own T1 or K1 teams in one process, faster than over sockets, and prints what happened as JSON.

    .venv/bin/python scripts/play_boosters.py --players 7 --seed 1
    .venv/bin/python scripts/play_boosters.py --seed 2 --strategies booster-kicks booster       # the reds kick

A fall is counted whenever the upward direction of a robot that is not getting up comes below 0.5 along z after the
first kick-off. A kick is a shot if it begins within 14 m of the opponents' goal line, and the robot faces the goal.
Players land near where they are beamed (`MjSetup.beam_noise`), so that games with different seeds differ. With
`--record PATH` the game is recorded.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from nutmeg.match.loop import GameLoop
from nutmeg.match.mj_game import MjGame, MjSetup
from nutmeg.match.players.booster import BoosterPlayer, BoosterSetup, booster_team, walking_setup
from nutmeg.match.players.tactics.strategies import BOOSTER_NAME, strategy_names
from nutmeg.match.rules.book import Pitch, load_rules

TEAMS = ("reds", "blues")
SHOT_RANGE = 14.0  # a kick from nearer to the goal line than this may be a shot [m]


def is_shot(player: BoosterPlayer, pitch: Pitch) -> bool:
    """Whether a kick that begins now is near enough to the opponents' goal and points into it."""
    belief = player.belief
    ahead, post = pitch.length / 2 - float(belief.ball_x), pitch.goal_width / 2
    if not 0.0 < ahead < SHOT_RANGE or abs(belief.heading) > math.pi / 2:
        return False
    return abs(float(belief.ball_y) + ahead * math.tan(float(belief.heading))) < post


def play(setups: Mapping[str, BoosterSetup], seed: int, seconds: float, record: Path | None) -> dict[str, object]:
    """Plays until so many seconds of game time are over, or the game is.

    Args:
        setups: the bodies of the teams' players, the left team first.
        seed: of places where players land.
        seconds: the longest game.
        record: where to record it.
    """
    everybody = {who: one for team, setup in setups.items() for who, one in booster_team(team, setup).items()}
    rules = load_rules("ssim26").with_match(automatic_kick_off=True)
    seats: Counter[str] = Counter()
    for setup in setups.values():
        seats[setup.robot] += setup.players
    stands, kicking = dict.fromkeys(everybody, True), dict.fromkeys(everybody, False)
    counts = {team: dict.fromkeys(("falls", "kicks", "shots"), 0) for team in setups}
    goals: list[tuple[float, str]] = []
    cycles, began, left, score = 0, time.monotonic(), next(iter(setups)), (0, 0)
    with MjGame(rules, seed=seed, seats=dict(seats), setup=MjSetup(beam_noise=True), record=record) as game:
        loop = GameLoop(game, everybody)
        while not game.over and game.view.time < seconds:
            loop.cycle()
            cycles += 1
            now = game.view.score_left, game.view.score_right
            if now != score:
                scorer = left if now[0] > score[0] else next(team for team in setups if team != left)
                goals.append((round(game.view.time, 1), scorer))
                score = now
            for who, player in everybody.items():
                count, upright = counts[who[0]], bool(player.belief.upright) and not player.getting_up
                count["falls"] += stands[who] and not upright and game.view.time > 0
                if player.kicking and not kicking[who]:
                    count["kicks"] += 1
                    count["shots"] += is_shot(player, rules.pitch)
                stands[who], kicking[who] = upright, player.kicking
    pace = 0.02 * cycles / (time.monotonic() - began)
    return {"seed": seed, "score": score, "goals_at": goals, **counts, "real_time": round(pace, 2)}


def setups_of(robot: str, players: int, strategies: Sequence[str]) -> dict[str, BoosterSetup]:
    """The setups of both teams, by the strategies of the reds and the blues."""
    setup = walking_setup(BoosterSetup(robot=robot, players=players))
    return {team: dataclasses.replace(setup, strategy=name) for team, name in zip(TEAMS, strategies, strict=True)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", choices=("t1", "k1"), default="t1")
    parser.add_argument("--players", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--strategies", nargs=2, choices=strategy_names(), default=(BOOSTER_NAME, BOOSTER_NAME))
    parser.add_argument("--record", type=Path, default=None)
    given = parser.parse_args()
    found = play(setups_of(given.robot, given.players, given.strategies), given.seed, given.seconds, given.record)
    sys.stdout.write(json.dumps(found) + "\n")
