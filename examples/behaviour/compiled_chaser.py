"""The player of chaser.py, compiled: it plays thousands of games at once, and one in any world.

nutmeg play --world behavioural --left examples/behaviour/compiled_chaser.py:decide --right attacker-keeper
"""

from nutmeg.match.players.tactics.own_tactics import PlayerContext, compiled, go_for_ball, go_to, goal_direction


@compiled()
def decide(player: PlayerContext) -> None:
    """What to do in the next tenth of a second: number 1 keeps the goal, the others play the ball at the other one."""
    belief, length = player.belief, player.ground.length
    if player.game.number == 1 and belief.ball_x > -0.2 * length:
        go_to(player, -0.48 * length, 0.3 * belief.ball_y, 0.0)
    else:
        go_for_ball(player, goal_direction(player), 1.0)
