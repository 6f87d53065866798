"""A player in twenty lines: it goes behind the ball and kicks it at the opponents' goal; number 1 keeps the goal."""

from nutmeg.match.players.decide import Memory, View
from nutmeg.match.players.request import Request
from nutmeg.match.players.skills import goal_ahead, line_up, look_at_ball, play_ball, walk_to


def decide(percept: View, memory: Memory) -> Request:
    """What to do in the next tenth of a second."""
    waiting = line_up(percept, memory)
    if waiting is not None:
        return waiting
    belief = percept.belief
    look = look_at_ball(belief, memory)
    if percept.number == 1 and belief.ball.place[0] > -0.2 * memory.pitch.length:
        home = (-0.48 * memory.pitch.length, 0.3 * belief.ball.place[1])
        return Request(legs=walk_to(belief, memory, home, face=0.0), look=look, intent="keep goal")
    return Request(legs=play_ball(belief, memory, aim=goal_ahead(belief, memory)), look=look, intent="attack")
