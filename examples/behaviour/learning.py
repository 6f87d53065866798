"""Reinforcement learning: a goalkeeper that learns by Q-learning what to do about a shot, in a table.

    python examples/behaviour/learning.py                       # learns, and writes learned_keeper.json beside itself

Two things make a state: how far beside the keeper the ball will pass it, and how soon. Five things can be done: stand,
a step to the left or right, a dive to the left or right. A save is worth 1, a goal -1, a dive costs a little, since
who lies on the ground saves no second shot. Hundreds of shots are played at once in the behavioural world. In a match
number 1 does what the table says when a ball comes; everybody else is a `chaser`.
"""

import json
import math
from pathlib import Path

import numpy as np

from nutmeg.match.players.decide import Memory, View
from nutmeg.match.players.request import Dive, Request, Stand, Walk
from nutmeg.match.players.skills import goal_ahead, line_up, look_at_ball, play_ball, walk_to
from nutmeg.match.worlds.behavioural.settings import load_behaviour
from nutmeg.match.worlds.behavioural.state import Legs, Posture
from nutmeg.match.worlds.behavioural.world import BehaviourWorld
from nutmeg.model.field import load_field

FILE = Path(__file__).with_name("learned_keeper.json")
ASIDE = np.array([-0.55, -0.35, -0.2, -0.08, 0.08, 0.2, 0.35, 0.55])
"""Bounds of how far to the left of the keeper the ball will pass it [m]."""
SOON = np.array([0.4, 0.7, 1.0, 1.5, 2.5])
"""Bounds of how soon [s]; later than the last is no threat yet."""
STAND, LEFT, RIGHT, DIVE_LEFT, DIVE_RIGHT = range(5)
STATES = (len(ASIDE) + 1) * (len(SOON) + 1)
CYCLES, MATCHES, DIVE_COSTS = 40, 200, 0.1
GOAL_LINE, POST, KEEPER = -3.0, 0.65, -2.88


def state_of(ahead: np.ndarray, left: np.ndarray, towards: np.ndarray, aside: np.ndarray) -> np.ndarray:
    """(N,) rows of the table: a ball that is so far ahead and to the left, and comes so fast [m, m/s]."""
    time = np.where(towards > 0.05, ahead / np.maximum(towards, 0.05), np.inf)
    passes = np.where(np.isfinite(time), left + aside * np.minimum(time, 5.0), 0.0)
    return np.digitize(time, SOON) * (len(ASIDE) + 1) + np.digitize(passes, ASIDE)


class Shots:
    """Many shots at many keepers at once.

    Args:
        count: how many at a time.
        seed: of the shots.
    """

    def __init__(self, count: int, seed: int) -> None:
        self.rng, self.count = np.random.default_rng(seed), count
        seeds = self.rng.integers(2**63, size=count).astype(np.uint64)
        self.world = BehaviourWorld(load_behaviour("nao"), load_field("spl2011"), count=count, seeds=seeds)
        for match in range(count):
            self.world.join(match, 0)

    def begin(self) -> None:
        """Shoots from anywhere before the goal to anywhere between the posts."""
        start = np.column_stack([self.rng.uniform(-1.8, -0.6, self.count), self.rng.uniform(-1.0, 1.0, self.count)])
        end = np.column_stack([np.full(self.count, GOAL_LINE), self.rng.uniform(-0.6, 0.6, self.count)])
        way = end - start
        far = np.linalg.norm(way, axis=1)
        speed = np.sqrt(2 * 0.25 * far + self.rng.uniform(0.3, 1.5, self.count) ** 2)
        for match in range(self.count):
            self.world.place(match, 0, KEEPER, 0.0, 0.0)
            self.world.place_ball(match, *start[match], *(way[match] * speed[match] / far[match]))

    def states(self) -> np.ndarray:
        """(N,) what the keepers see, with an error."""
        state = self.world.state
        ball = state.ball + 0.02 * self.rng.standard_normal((self.count, 2))
        speed = state.ball_speed + 0.05 * self.rng.standard_normal((self.count, 2))
        keeper = state.pose[:, 0]
        return state_of(ball[:, 0] - keeper[:, 0], ball[:, 1] - keeper[:, 1], -speed[:, 0], speed[:, 1])

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(N,) whether a shot is over, and what it was worth."""
        orders, state = self.world.orders, self.world.state
        legs = np.array([Legs.STAND, Legs.WALK, Legs.WALK, Legs.DIVE_LEFT, Legs.DIVE_RIGHT])
        orders.legs[:, 0] = legs[actions]
        orders.wish[:, 0, 1] = np.array([0.0, 0.1, -0.1, 0.0, 0.0])[actions]
        self.world.step()
        goal = (state.ball[:, 0] < GOAL_LINE) & (np.abs(state.ball[:, 1]) < POST)
        over = goal | (state.ball_speed[:, 0] > -0.05) | (state.ball[:, 0] < GOAL_LINE)
        return over, np.where(goal, -1.0, 1.0)

    def ready(self) -> np.ndarray:
        """(N,) who is on its feet and can do something."""
        return self.world.state.posture[:, 0] == Posture.UPRIGHT


def play(shots: Shots, table: np.ndarray, explore: float, rate: float) -> float:
    """A round of shots; changes the table by what was found out, if the rate is above 0. Returns the share saved."""
    shots.begin()
    rows, actions = shots.states(), np.zeros(shots.count, int)
    live, saved = np.ones(shots.count, bool), np.zeros(shots.count, bool)
    began = np.zeros(shots.count, bool)
    for _ in range(CYCLES):
        free = live & shots.ready()
        now = shots.states()
        if rate:  # what the last action led to
            learn(table, free & began, rows, actions, table[now].max(axis=1), rate)
        chosen = np.where(
            shots.rng.random(shots.count) < explore, shots.rng.integers(5, size=shots.count), best(table, now)
        )
        rows, actions = np.where(free, now, rows), np.where(free, chosen, actions)
        began |= free
        over, worth = shots.step(np.where(free, actions, STAND))
        ended = live & over
        learn(table, ended, rows, actions, worth, rate)
        saved |= ended & (worth > 0)
        live &= ~over
    return float((saved | live).mean())


def learn(
    table: np.ndarray, who: np.ndarray, rows: np.ndarray, actions: np.ndarray, worth: np.ndarray, rate: float
) -> None:
    """Moves the values of what some did towards what it was worth."""
    value = worth - DIVE_COSTS * (actions >= DIVE_LEFT)
    np.add.at(table, (rows[who], actions[who]), rate * (value[who] - table[rows[who], actions[who]]))


def best(table: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """(N,) the best actions."""
    return table[rows].argmax(axis=1)


def train(rounds: int = 150, *, seed: int = 1) -> tuple[np.ndarray, list[float]]:
    """A table (states, 5), and the share of shots saved in each round while it learned."""
    table, shots = np.zeros((STATES, 5)), Shots(MATCHES, seed)
    curve = []
    for k in range(rounds):
        left = 1.0 - k / rounds
        curve.append(play(shots, table, explore=0.5 * left + 0.02, rate=0.1 * left + 0.01))
    return table, curve


def saves(table: np.ndarray, *, rounds: int = 5, seed: int = 1000) -> float:
    """The share of new shots that a table saves."""
    shots = Shots(MATCHES, seed)
    return float(np.mean([play(shots, table, explore=0.0, rate=0.0) for _ in range(rounds)]))


def decide(percept: View, memory: Memory) -> Request:
    """What to do in the next tenth of a second."""
    waiting = line_up(percept, memory)
    if waiting is not None:
        return waiting
    belief, look = percept.belief, look_at_ball(percept.belief, memory)
    if percept.number != 1:
        return Request(legs=play_ball(belief, memory, aim=goal_ahead(belief, memory)), look=look, intent="attack")
    if "table" not in memory:
        memory["table"] = np.array(json.loads(FILE.read_text(encoding="utf-8"))["values"])
    (ahead, left), speed = belief.ball.place - belief.me.place, belief.ball.velocity
    row = int(state_of(ahead, left, -speed[0], speed[1]))
    comes = belief.ball.seen_ago < 0.5 and ahead > 0 and row // (len(ASIDE) + 1) < len(SOON)
    if not comes or abs(math.remainder(belief.me.heading, 2 * math.pi)) > 0.4:
        home = (KEEPER, 0.2 * belief.ball.place[1])
        return Request(legs=walk_to(belief, memory, home, face=0.0), look=look, intent="keep goal")
    action = int(memory["table"][row].argmax())
    legs = (Stand(), Walk(left=0.1), Walk(left=-0.1), Dive(side="left"), Dive(side="right"))[action]
    return Request(legs=legs, look=look, intent="save")


def main() -> None:
    """Learns, says what it was good for, and writes the table."""
    before = saves(np.zeros((STATES, 5)))
    table, _ = train()
    print(f"saves {100 * before:.1f} % of shots standing, {100 * saves(table):.1f} % after {150 * MATCHES} shots")
    FILE.write_text(json.dumps({"values": np.round(table, 3).tolist()}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
