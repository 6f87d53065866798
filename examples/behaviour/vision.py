"""Vision-based localisation: a player that looks at nothing but its two camera pictures, its odometry and its head.

`CameraSenses` finds ball, goals, lines and robots by colour and shape, and the tracker that all
players have finds the pose from them. Symbolic vision (`percept.seen`) and what it leads to (`percept.belief`) are not
used at all.
"""

import math

from nutmeg.match.players.decide import Memory, View
from nutmeg.match.players.perception import CameraSenses, compile_now
from nutmeg.match.players.request import Request
from nutmeg.match.players.skills import goal_ahead, line_up, look_at_ball, play_ball, walk_to
from nutmeg.match.worlds.behavioural.eyes import load_eyes
from nutmeg.model.field import load_field

compile_now()  # so that the first decision is as quick as all others


def decide(percept: View, memory: Memory) -> Request:
    """What to do in the next tenth of a second."""
    if "senses" not in memory:
        memory["senses"] = CameraSenses(load_field("spl2011"), load_eyes("nao"))
    senses = memory["senses"]
    senses.update(percept)
    belief = senses.belief(percept.time)
    waiting = line_up(percept, memory, belief)
    if waiting is not None:
        if waiting.beam is not None:  # it knows where it is put
            x, y, heading = waiting.beam
            senses.place(x, y, math.radians(heading))
        return waiting
    look = look_at_ball(belief, memory)
    if percept.number == 1:
        home = (-0.48 * memory.pitch.length, 0.3 * belief.ball.place[1])
        return Request(legs=walk_to(belief, memory, home, face=0.0), look=look, intent="keep goal")
    intent = f"sure to {belief.me.spread:.2f} m"
    return Request(legs=play_ball(belief, memory, aim=goal_ahead(belief, memory)), look=look, intent=intent)


decide.wants_images = True  # for `play_here.py`; `nutmeg play` has --images
