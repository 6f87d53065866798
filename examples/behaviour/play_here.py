"""Plays an example against a strategy, in this process.

python examples/behaviour/play_here.py passing attacker-keeper 60
"""

import sys
from pathlib import Path

from nutmeg.match.behavioural_game import BehaviourGame, BehaviourSetup
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.registry import read_decide
from nutmeg.match.players.tactics.tactician import strategy_decide
from nutmeg.match.rules.book import load_rules


def main(example: str = "chaser", other: str = "attacker-keeper", seconds: str = "60") -> None:
    """A match of so many seconds, four against four."""
    decide = read_decide(f"{Path(__file__).parent / example}.py:decide")
    rules = load_rules("spl2011").with_match(players=4, wait_before_kick_off=1.0, automatic_kick_off=True)
    setup = BehaviourSetup(cameras=bool(getattr(decide, "wants_images", False)))
    game = BehaviourGame(rules, seed=1, setup=setup, left=example, right=other)
    driver = GameLoop(game, game.team(example, decide) | game.team(other, strategy_decide(other)))
    driver.run(round(10 * float(seconds)))
    view = game.view
    print(f"after {seconds} s: {example} {view.score_left}, {other} {view.score_right}")
    print("lost turns:", sum(player.lost_turns for player in driver.players.values()))
    game.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
