"""The players of `examples/behaviour` play, and do what they are for."""

from __future__ import annotations

import itertools
import math
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nutmeg.match.behavioural_game import BehaviourGame, BehaviourSetup
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.deciding_player import DecidingPlayer, PlayerSetup
from nutmeg.match.players.registry import load_function, read_decide
from nutmeg.match.players.request import Request, Walk
from nutmeg.match.players.skills import walk_to
from nutmeg.match.players.tactics.tactician import strategy_decide
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.motion.walk.files import read_walk

if TYPE_CHECKING:
    from nutmeg.match.players.decide import Decide, Memory, View

EXAMPLES = Path(__file__).parents[3] / "examples" / "behaviour"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem != "play_here")


def module_of(name: str) -> ModuleType:
    function = load_function(f"{EXAMPLES / name}.py:decide")
    return sys.modules[function.__module__]


def match_of(decide: Decide, other: str = "attacker-keeper", *, players: int = 3, cameras: bool = False) -> GameLoop:
    rules = load_rules("spl2011").with_match(players=players, wait_before_kick_off=0.5, automatic_kick_off=True)
    game = BehaviourGame(rules, seed=3, left="reds", right="blues", setup=BehaviourSetup(cameras=cameras))
    return GameLoop(game, game.team("reds", decide) | game.team("blues", strategy_decide(other)))


def lost(driver: GameLoop) -> list[str]:
    return [line for player in driver.players.values() for line in getattr(player, "log", ())]


def test_the_gallery_is_complete() -> None:
    assert NAMES == ["chaser", "compiled_chaser", "fusion", "learning", "passing", "photographer", "planning", "vision"]
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}.py`" in readme for name in NAMES)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "vision"])
def test_an_example_plays_and_loses_no_turn(name: str) -> None:
    driver = match_of(read_decide(f"{EXAMPLES / name}.py:decide"))
    driver.run(80)
    assert not lost(driver)
    requests = [player.request for player in driver.players.values() if player.team == "reds"]  # type: ignore[attr-defined]
    assert all(request.intent for request in requests)


def test_the_chaser_brings_the_ball_forward() -> None:
    driver = match_of(read_decide(f"{EXAMPLES / 'chaser'}.py:decide"), "statue", players=2)
    ball = []
    driver.run(300, on_cycle=lambda d: ball.append(d.game.world.state.ball[0, 0]))  # type: ignore[attr-defined]
    assert max(ball) > 0.8


def test_a_planned_way_keeps_away_from_everybody_and_is_short() -> None:
    planning, rng = module_of("planning"), np.random.default_rng(1)
    for _ in range(20):
        robots = rng.uniform((-2.0, -1.5), (2.0, 1.5), (5, 2))
        way = planning.plan(np.array([-2.8, 0.0]), np.array([2.8, 0.0]), robots)
        for start, end in itertools.pairwise(way):
            assert planning.is_free(start, end, robots)
        assert sum(math.dist(a, b) for a, b in itertools.pairwise(way)) < 8.0
    straight = planning.plan(np.array([-1.0, 0.0]), np.array([1.0, 0.0]), np.zeros((0, 2)))
    assert len(straight) == 2


@pytest.mark.parametrize("plans", [True, False])
def test_the_planner_walks_between_standing_robots_and_touches_nobody(plans: bool) -> None:
    planning, target = module_of("planning"), np.array([1.4, 0.0])

    def decide(percept: View, memory: Memory) -> Request:
        belief = percept.belief
        robots = planning.obstacles(belief, percept.number)
        way = planning.plan(belief.me.place, target, robots) if plans else [belief.me.place, target]
        return Request(legs=walk_to(belief, memory, way[1]))

    driver = match_of(decide, "statue", players=1)
    game: Any = driver.game
    driver.cycle()
    game.set_play_mode(PlayMode.PLAY_ON)
    game.place_ball((0.0, 1.8, 0.0))
    world, eyes = game.world, game.senses
    for slot, place in ((0, (-1.5, 0.05)), (11, (0.0, 0.0))):
        world.place(0, slot, *place, 0.0)
        eyes.placed(0, slot)
    touched, nearest = False, math.inf
    for _ in range(260):
        driver.cycle()
        touched |= bool(world.state.contact[0].any())
        nearest = min(nearest, math.dist(world.state.pose[0, 0, :2], target))
        if nearest < 0.3:
            break
    assert touched is not plans
    assert not plans or nearest < 0.3


def test_a_fused_ball_is_nearer_to_the_truth_than_the_own_sight_alone() -> None:
    fusion = module_of("fusion")
    alone: dict[int, Any] = {}
    errors: list[tuple[float, float]] = []

    def decide(percept: View, memory: Memory) -> Request:
        request = fusion.decide(percept, memory)
        own = alone.setdefault(percept.number, fusion.FusedBall())
        own.wait(percept.time)
        if percept.seen.ball is not None:
            own.hear_of(*fusion.sighting(percept))
        truth = driver.game.world.state.ball[0]  # type: ignore[attr-defined]
        errors.append((math.dist(memory["ball"].place, truth), math.dist(own.place, truth)))
        return request

    driver = match_of(decide, "roles", players=3)
    driver.run(250)
    assert not lost(driver)
    fused, own = np.array(errors[60:]).mean(axis=0)
    assert fused < 0.8 * own


def test_the_sonar_stops_who_would_walk_into_somebody() -> None:
    fusion = module_of("fusion")
    decide = read_decide(f"{EXAMPLES / 'fusion'}.py:decide")
    driver = match_of(decide, players=1)
    driver.run(5)
    view: View = next(iter(driver.percepts.values()))
    near = replace(view, sonar=(0.2, math.inf))
    assert fusion.careful(Walk(ahead=0.2), near).ahead == 0.0
    assert fusion.careful(Walk(ahead=0.2), near).left < 0.0
    assert fusion.careful(Walk(ahead=0.2), replace(view, sonar=(0.6, 0.5))).ahead == 0.2


def test_the_learner_learns_to_save_shots() -> None:
    learning = module_of("learning")
    table, curve = learning.train(10)
    before, after = (learning.saves(each, rounds=2) for each in (np.zeros_like(table), table))
    assert before < 0.4
    assert after > 0.85
    assert np.mean(curve[-3:]) > curve[0]


def test_one_player_attacks_at_a_time_and_passes_are_chosen_past_opponents() -> None:
    passing = module_of("passing")
    attackers: dict[int, int] = {}

    def decide(percept: View, memory: Memory) -> Request:
        request = passing.decide(percept, memory)
        attackers.setdefault(percept.cycle, 0)
        attackers[percept.cycle] += request.intent.startswith(("pass", "shoot", "play"))
        return request

    driver = match_of(decide, "statue", players=4)
    driver.run(200)
    assert not lost(driver)
    assert np.mean([count == 1 for count in list(attackers.values())[40:]]) > 0.8

    view: View = driver.percepts[1]
    belief, memory = view.belief, driver.players[1].memory  # type: ignore[attr-defined]
    belief.ball.place[:], belief.opponents.ages[:] = (-1.5, 0.0), 0.0
    belief.opponents.places[:] = -2.9, -1.9
    aim, strength, intent = passing.choose(belief, memory, {3: np.array([0.0, 1.0]), 1: np.array([-2.8, 0.0])})
    assert intent == "pass to 3"
    assert aim == pytest.approx(math.atan2(1.0, 1.8))
    assert 0.5 < strength < 1.0
    belief.opponents.places[0] = -0.7, 0.5
    assert passing.choose(belief, memory, {3: np.array([0.0, 1.0])})[2] == "play ahead"


@pytest.mark.slow
@pytest.mark.parametrize("world", ["physical", "behavioural"])
def test_the_photographer_keeps_pictures_of_its_cameras_in_both_worlds(
    world: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    decide, cameras = read_decide(f"{EXAMPLES / 'photographer'}.py:decide"), ["top", "bottom"]
    if world == "behavioural":
        driver = match_of(decide, players=1, cameras=True)
    else:
        cameras = ["Vision"]
        player = DecidingPlayer(decide, "reds", 1, PlayerSetup(walk=read_walk("final"), players=1, longest=60.0))
        game = Game(load_rules("sim3d"), seed=1, left="reds", right="blues", seats=1, setup=PhysicalSetup(cameras=True))
        driver = GameLoop(game, {("reds", 1): player})
    driver.run(255 if world == "physical" else 55)
    driver.game.close()
    assert not lost(driver)
    kept = sorted(path.name for path in (tmp_path / "photographs").iterdir())
    assert kept == sorted(f"reds1-{camera}-00049.png" for camera in cameras)


def test_the_player_with_cameras_knows_where_it_is_from_pictures() -> None:
    decide = read_decide(f"{EXAMPLES / 'vision'}.py:decide")
    assert decide.wants_images  # type: ignore[attr-defined]
    driver = match_of(decide, players=1, cameras=True)
    off = []

    def compare(driver: GameLoop) -> None:
        player, pose = driver.players[0], driver.game.world.state.pose[0, 0]  # type: ignore[attr-defined]
        if "senses" in player.memory:  # type: ignore[attr-defined]
            off.append(math.dist(player.memory["senses"].pose.place, pose[:2]))  # type: ignore[attr-defined]

    driver.run(100, on_cycle=compare)  # in the first three seconds it is 0.9 m off
    driver.game.close()
    assert not lost(driver)
    assert np.median(off[50:]) < 0.15
