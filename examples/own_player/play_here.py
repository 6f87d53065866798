"""The own player in a match in this process, without sockets: as fast as the computer can."""

from chaser import Chaser

from nutmeg.match.game import Game
from nutmeg.match.loop import GameLoop
from nutmeg.match.rules.book import load_rules

rules = load_rules("sim3d").with_match(automatic_kick_off=True, wait_before_kick_off=1.0)
game = Game(rules, seed=2, left="chasers")
driver = GameLoop(game, {("chasers", 1): Chaser("chasers", 1)})
driver.run(cycles=15 * 50)  # 15 s
print(f"after {game.time:.0f} s the ball is {game.world.ball[0]:.2f} m on its way to the goal")
