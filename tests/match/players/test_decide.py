"""A `decide` is asked, checked, and never ends a match, whatever it does."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nutmeg.match.players.belief import BallBelief, Belief, Others, Pose
from nutmeg.match.players.decide import MAX_LOG_ENTRIES, Memory, Mind, Seen, View, abilities_of, own_name
from nutmeg.match.players.request import Dive, GetUp, Kick, Look, Request, Stand, Walk
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.worlds.behavioural.settings import load_behaviour
from nutmeg.match.worlds.physical.percept import GameView

if TYPE_CHECKING:
    from nutmeg.match.players.decide import Decide

BODY = abilities_of(load_behaviour("nao"))
RULES = load_rules("sim3d")


def belief() -> Belief:
    others = Others(
        places=np.full((11, 2), np.nan),
        velocities=np.zeros((11, 2)),
        ages=np.full(11, np.inf),
        fallen=np.zeros(11, bool),
    )
    ball = BallBelief(place=np.zeros(2), height=0.03, velocity=np.zeros(2), spread=0.1, seen_ago=0.0, heard_ago=np.inf)
    me = Pose(x=-1.0, y=0.0, heading=0.0, spread=0.1, heading_spread=0.1)
    return Belief(time=0.0, me=me, ball=ball, mates=others, opponents=others, upright=True)


def view(cycle: int = 0) -> View:
    return View(
        time=cycle / 10,
        cycle=cycle,
        game=GameView(mode="PlayOn", time=1.0),
        team="reds",
        number=3,
        side=Side.LEFT,
        odometry=(0.0, 0.0, 0.0),
        head=(0.0, 0.0),
        upright=True,
        doing="stand",
        see=Seen,
        believe=belief,
    )


def mind(decide: Decide, longest: float = 0.2) -> Mind:
    return Mind(decide, Memory(team="reds", number=3, players=4, rules=RULES, body=BODY), longest=longest)


def test_a_decide_is_told_a_view_and_keeps_its_memory() -> None:
    def decide(percept: View, memory: Memory) -> Request:
        memory["count"] = memory.get("count", 0) + 1
        x, _ = percept.belief.to_body(percept.belief.ball.place)
        return Request(legs=Walk(ahead=float(x)), intent=f"{memory['count']} of {memory.players}")

    player = mind(decide)
    player.act(view())
    request = player.act(view(1))
    assert request.legs == Walk(ahead=1.0)
    assert request.intent == "2 of 4"
    assert player.belief is not None
    assert (player.log, player.lost_turns) == ([], 0)


def loop(percept: View, memory: Memory) -> Request:
    while True:
        pass


def raises(percept: View, memory: Memory) -> Request:
    raise ZeroDivisionError("no ball here")


def leaves(percept: View, memory: Memory) -> Request:
    sys.exit(3)


NONSENSE = (
    None,
    "walk",
    Request(legs=Walk(ahead=math.nan)),
    Request(legs=Kick(ball=(0.1, 0.0), strength=2.0)),
    Request(legs=Kick(ball=(0.1, 0.0), kind="up")),  # type: ignore[arg-type]
    Request(legs=Kick(ball=(0.1, 0.0), foot="third")),  # type: ignore[arg-type]
    Request(legs=Dive(side="up")),  # type: ignore[arg-type]
    Request(legs="run"),  # type: ignore[arg-type]
    Request(look=Look(yaw=math.inf)),
    Request(look=(0.0, 0.0)),  # type: ignore[arg-type]
    Request(say="two words"),
    Request(tell={"plan": 1}),  # where the league carries no structures
    Request(beam=(math.nan, 0.0, 0.0)),
)


@pytest.mark.parametrize(("decide", "told"), [(loop, "longer"), (raises, "no ball here"), (leaves, "SystemExit")])
def test_a_player_that_fails_loses_its_turn_and_its_log_says_why(decide: Decide, told: str) -> None:
    player = mind(decide)
    request = player.act(view())
    assert request.legs == Stand()
    assert player.lost_turns == 1
    assert told in player.log[0]
    assert "number 3 of 'reds'" in player.log[0]


@pytest.mark.parametrize("answer", NONSENSE, ids=str)
def test_a_player_that_answers_nonsense_loses_its_turn(answer: object) -> None:
    player = mind(lambda _view, _memory: answer)  # type: ignore[arg-type,return-value]
    assert player.act(view()).legs == Stand()
    assert player.lost_turns == 1
    assert "UsageError" in player.log[0]


def test_who_loses_its_turn_keeps_looking_where_it_did_and_plays_on() -> None:
    def decide(percept: View, memory: Memory) -> Request:
        if percept.cycle == 1:
            raise ValueError
        return Request(legs=GetUp(), look=Look(yaw=0.7))

    player = mind(decide)
    player.act(view())
    assert player.act(view(1)).look == Look(yaw=0.7)
    assert player.act(view(2)).legs == GetUp()


def test_who_takes_too_long_again_and_again_is_given_less_time() -> None:
    player = mind(loop, longest=0.2)
    for cycle in range(4):
        player.act(view(cycle))
    limits = [line.split("longer than ")[1] for line in player.log]
    assert limits == ["0.2 s", "0.1 s", "0.05 s", "0.05 s"]


def test_a_log_does_not_grow_for_ever() -> None:
    player = mind(raises)
    for cycle in range(MAX_LOG_ENTRIES + 30):
        player.act(view(cycle))
    assert player.lost_turns == MAX_LOG_ENTRIES + 30
    assert len(player.log) == MAX_LOG_ENTRIES


def test_random_numbers_of_a_memory_are_those_of_its_seed() -> None:
    def memory(seed: int, number: int) -> Memory:
        return Memory(team="reds", number=number, players=4, rules=RULES, body=BODY, seed=seed)

    assert memory(1, 2).rng.random() == memory(1, 2).rng.random()
    assert memory(1, 2).rng.random() != memory(1, 3).rng.random()


def test_landmarks_are_named_as_the_own_team_sees_the_pitch() -> None:
    assert own_name("G1L", Side.LEFT) == "G1L"
    assert own_name("G1L", Side.RIGHT) == "G2R"
    assert own_name("F2R", Side.RIGHT) == "F1L"
