"""What players believe in real games, with the cameras' noise, against where everything truly is."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from nutmeg.base.arrays import Floats
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.players.belief import Belief
from nutmeg.match.players.skills import look_around
from nutmeg.match.players.tracking.league_tracker import LeagueTracker
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import PlayMode, Side
from nutmeg.match.worlds.physical.percept import JOINTS, Action, Percept
from nutmeg.model.field import load_field

RULES, FIELD = load_rules("sim3d"), load_field("sim3d")
Odometry = tuple[float, float, float]
STILL: Odometry = (0.0, 0.0, 0.0)


def pan(_: Belief, percept: Percept) -> tuple[float, float]:
    """A head that turns from one side to the other, 60 degrees each, in two seconds."""
    return math.radians(60.0) * math.sin(math.pi * percept.time), -0.25


def watch_ball(belief: Belief, _: Percept) -> tuple[float, float]:
    look = look_around(belief)
    return look.yaw, look.pitch


def ahead(_: Belief, __: Percept) -> tuple[float, float]:
    return 0.0, -0.25


class Watch:
    """One player of each team in a game, and what they believe."""

    def __init__(
        self,
        *,
        seed: int = 1,
        noise: bool = True,
        look: Callable[..., tuple[float, float]] = pan,
        sonar: bool = False,
    ) -> None:
        setup = PhysicalSetup(noise=noise, sonar=sonar)
        self.game = Game(RULES, seed=seed, left="reds", right="blues", seats=2, setup=setup)
        self.slots = (self.game.enter("reds", 1), self.game.enter("blues", 4))
        self.senses = {slot: LeagueTracker(FIELD, team=self.game.teams[k]) for k, slot in enumerate(self.slots)}
        self.beliefs: dict[int, Belief] = {}
        self.truth: dict[int, Floats] = {}
        self.ball = self.ball_velocity = np.zeros(3)
        self.look = look
        self.percepts = self.game.cycle({})
        self.game.set_play_mode(PlayMode.PLAY_ON)

    def sign(self, slot: int) -> int:
        return 1 if slot < 11 else -1

    def pose(self, slot: int) -> Floats:
        """Where a player was when it came to believe what it believes, in its team's frame: x, y, heading."""
        return self.truth[slot]

    def _pose(self, slot: int) -> Floats:
        turn = 0.0 if slot < 11 else math.pi
        x, y = (self.sign(slot) * self.game.world.position[slot, :2]).tolist()
        return np.array([x, y, self.game.world.headings()[slot] + turn])

    def error(self, slot: int) -> Floats:
        me, (x, y, heading) = self.beliefs[slot].me, self.pose(slot).tolist()
        return np.array([me.x - x, me.y - y, math.remainder(me.heading - heading, 2 * math.pi)])

    def ball_error(self, slot: int) -> float:
        """Where the player sees the ball, against where it would see it."""
        x, y, heading = self.pose(slot).tolist()
        way = self.sign(slot) * self.ball[:2] - [x, y]
        c, s = math.cos(heading), math.sin(heading)
        believed = self.beliefs[slot].to_body(self.beliefs[slot].ball.place)
        return float(np.linalg.norm(believed - [c * way[0] + s * way[1], c * way[1] - s * way[0]]))

    def cycle(self, odometry: Odometry = STILL, *, upright: bool = True, turned: float | None = None) -> None:
        """One cycle; with a turn [rad], the gyroscope feels that and nothing else."""
        actions = {}
        self.ball, self.ball_velocity = self.game.world.ball, self.game.world.ball_velocity
        for slot in self.slots:
            self.truth[slot] = self._pose(slot)
            percept = self.percepts[slot]
            if turned is not None:
                gyro = np.array([0.0, 0.0, math.degrees(turned) / 0.02])
                percept = percept._replace(gyro=gyro)
            self.beliefs[slot] = self.senses[slot].update(percept, odometry, upright=upright)
            speeds = np.full(22, np.nan)
            goal = np.array(self.look(self.beliefs[slot], percept))
            speeds[:2] = np.clip((goal - np.radians(percept.angles[:2])) / 0.06, -6.0, 6.0)
            actions[slot] = Action(speeds=speeds)
        self.percepts = self.game.cycle(actions)

    def put(self, *poses: tuple[float, float, float]) -> None:
        """Puts players at x, y with a heading [degrees]."""
        for slot, (x, y, heading) in zip(self.slots, poses, strict=False):
            self.game.place_player(slot, (x, y, 0.37), heading)

    def roll(self, x: float, y: float) -> None:
        """Lets the ball roll, rather than slide, with a velocity."""
        world = self.game.world
        self.game.place_ball(None, (x, y, 0.0))
        spin = world.ground.ball_rate + 3
        world.ground.world.qvel[spin : spin + 3] = -y / world.ball_radius, x / world.ball_radius, 0.0

    def carry(self, *poses: tuple[float, float, float]) -> None:
        """Puts players somewhere else before they see: the next percepts are of where they are now."""
        self.put(*poses)
        if self.game.cycles % 3 == 0:
            sights = self.game.seeing.look(self.game.world, self.game.teams)
            self.percepts = {slot: percept._replace(sight=sights[slot]) for slot, percept in self.percepts.items()}

    def settle(self, cycles: int = 60) -> None:
        for _ in range(cycles):
            self.cycle()


@pytest.fixture
def watch() -> Watch:
    return Watch()


def test_who_stands_and_turns_its_head_knows_its_place_within_centimetres(watch: Watch) -> None:
    errors, slots = [], watch.slots
    for left, right in (((-3.0, 2.0, 20.0), (5.0, -3.0, 150.0)), ((-12.0, -6.0, -100.0), (14.0, 0.0, 180.0))):
        watch.put(left, right)
        watch.settle(30)
        for _ in range(150):
            watch.cycle()
            errors += [watch.error(slot) for slot in slots]
    found = np.array(errors)
    away, turned = np.hypot(found[:, 0], found[:, 1]), np.degrees(np.abs(found[:, 2]))
    assert np.median(away) < 0.02
    assert np.quantile(away, 0.95) < 0.05
    assert turned.max() < 0.5


def test_two_decimals_as_on_the_wire_are_enough() -> None:
    watch, errors = Watch(seed=6), []
    watch.put((-3.0, 2.0, 20.0), (5.0, -3.0, 150.0))
    senses = LeagueTracker(FIELD, team="reds")
    for k in range(150):
        watch.cycle()
        percept = watch.percepts[0]
        watch.truth[0] = watch._pose(0)
        watch.beliefs[0] = senses.update(_on_the_wire(percept), STILL, upright=True)
        if k > 30:
            errors.append(np.linalg.norm(watch.error(0)[:2]))
    assert np.median(errors) < 0.02
    assert np.quantile(errors, 0.95) < 0.05


def _on_the_wire(percept: Percept) -> Percept:
    """All numbers of the body and the landmarks with two decimals."""
    sight = percept.sight
    if sight is not None:
        sight = sight._replace(marks=np.round(sight.marks, 2), lines=np.round(sight.lines, 2))
    body = {name: np.round(getattr(percept, name), 2) for name in ("gyro", "acc", "angles")}
    return percept._replace(sight=sight, **body)


def test_the_right_team_sees_the_pitch_from_the_other_end(watch: Watch) -> None:
    watch.put((-3.0, 2.0, 20.0), (5.0, -3.0, 150.0))
    watch.settle()
    me = watch.beliefs[watch.slots[1]].me
    assert (me.x, me.y) == pytest.approx((-5.0, 3.0), abs=0.05)
    assert math.degrees(me.heading) == pytest.approx(-30.0, abs=1.0)
    assert watch.senses[watch.slots[1]].side is Side.RIGHT
    assert watch.senses[watch.slots[1]].number == 4


@pytest.mark.parametrize("bias", [0.8, 1.2])
def test_who_walks_knows_its_place_though_its_odometry_is_wrong_by_a_fifth(bias: float) -> None:
    watch, speed, turn, errors = Watch(seed=3), 0.6, 0.3, []
    x, y, heading = -6.0, -2.0, 0.2
    watch.put((x, y, math.degrees(heading)), (-x, -y, math.degrees(heading) + 180.0))
    watch.settle(20)
    for _ in range(400):
        watch.cycle((bias * 0.02 * speed, 0.0, bias * 0.02 * turn), turned=0.02 * turn)
        errors += [watch.error(slot) for slot in watch.slots]
        x, y = x + 0.02 * speed * math.cos(heading), y + 0.02 * speed * math.sin(heading)
        heading += 0.02 * turn
        watch.carry((x, y, math.degrees(heading)), (-x, -y, math.degrees(heading) + 180.0))
    found = np.array(errors[100:])
    away = np.hypot(found[:, 0], found[:, 1])
    assert np.median(away) < 0.03
    assert np.quantile(away, 0.95) < 0.06
    assert np.degrees(np.abs(found[:, 2])).max() < 1.0


def test_beliefs_are_as_sure_as_they_may_be() -> None:
    surprises = []
    for seed in range(4):
        watch = Watch(seed=seed)
        watch.put((-3.0 - 2 * seed, 2.0 * seed - 4.0, 50.0 * seed), (4.0, 3.0 * seed - 5.0, 170.0))
        watch.settle(20)
        for k in range(60):
            watch.cycle()
            if k % 6 == 0:
                surprises += [_surprise(watch, slot) for slot in watch.slots]
    assert 0.5 < np.mean(surprises) < 4.5  # of three numbers
    assert np.quantile(surprises, 0.95) < 12.0


def _surprise(watch: Watch, slot: int) -> float:
    """The normalised squared error of place and heading."""
    p = watch.senses[slot].minds[0].pose
    cov = np.array([[p.xx, p.xy, p.xt], [p.xy, p.yy, p.yt], [p.xt, p.yt, p.tt]]) + np.diag([0.004**2, 0.004**2, 0.0])
    error = watch.error(slot) * [watch.sign(slot), watch.sign(slot), 1.0]
    return float(error @ np.linalg.solve(cov, error))


@pytest.mark.parametrize("there", [(3.0, 9.0, -90.0), (-2.0, -10.6, 90.0), (-14.9, 9.9, -45.0), (0.0, 0.0, 135.0)])
def test_who_is_put_elsewhere_finds_itself_again_within_a_second(
    watch: Watch, there: tuple[float, float, float]
) -> None:
    watch.put((-3.0, 2.0, 20.0), (5.0, -3.0, 150.0))
    watch.settle(30)
    watch.put(there)
    watch.settle(50)
    error = watch.error(watch.slots[0])
    assert np.hypot(error[0], error[1]) < 0.1
    assert abs(math.degrees(error[2])) < 1.0


def test_a_push_is_not_taken_for_noise(watch: Watch) -> None:
    watch.put((-3.0, 2.0, 20.0), (5.0, -3.0, 150.0))
    watch.settle(30)
    watch.put((-3.0, 2.2, 28.0))
    watch.settle(9)
    assert np.linalg.norm(watch.error(watch.slots[0])[:2]) < 0.06


def test_one_landmark_and_the_lines_are_enough() -> None:
    watch = Watch(look=ahead)
    watch.put((10.0, 2.0, 90.0), (5.0, -3.0, 150.0))  # one corner in view
    watch.settle(12)
    sight = next(p.sight for p in (watch.game.cycle({})[watch.slots[0]] for _ in range(3)) if p.sight is not None)
    assert [label for label in sight.labels if label != "B"] == ["F1R"]
    assert watch.senses[watch.slots[0]].known
    assert np.linalg.norm(watch.error(watch.slots[0])[:2]) < 0.1


def test_who_has_seen_nothing_says_that_it_knows_nothing() -> None:
    watch = Watch(look=ahead)
    watch.put((14.5, 9.5, 45.0), (5.0, -3.0, 150.0))  # it looks away from the pitch
    watch.settle(12)
    me = watch.beliefs[watch.slots[0]].me
    assert me.spread >= 1.0 or np.linalg.norm(watch.error(watch.slots[0])[:2]) < 0.1
    assert watch.beliefs[watch.slots[1]].me.spread < 0.1


def test_who_falls_still_knows_roughly_where_it_lies_and_how_roughly() -> None:
    watch = Watch(seed=5, look=ahead)
    watch.put((-3.0, 2.0, 20.0), (5.0, -3.0, 150.0))
    watch.settle(30)
    slot = watch.slots[0]
    speeds = np.zeros(22)
    speeds[[JOINTS.index("llj5"), JOINTS.index("rlj5")]] = -3.0
    for k in range(120):
        watch.beliefs[slot] = watch.senses[slot].update(watch.percepts[slot], STILL, upright=k < 20)
        watch.truth[slot] = watch._pose(slot)
        watch.percepts = watch.game.cycle({slot: Action(speeds=speeds)})
    assert watch.game.world.position[slot, 2] < 0.2
    me = watch.beliefs[slot].me
    assert np.linalg.norm(watch.error(slot)[:2]) < min(0.5, 3 * me.spread)
    assert watch.beliefs[slot].mates.fallen[0]


# ---- the ball


def test_a_ball_at_three_metres_is_known_within_centimetres(watch: Watch) -> None:
    watch.put((-3.0, 2.0, 0.0), (5.0, -3.0, 150.0))
    watch.game.place_ball((-0.2, 1.0, 0.042), (0.0, 0.0, 0.0))
    watch.look = watch_ball
    watch.settle(40)
    errors, speeds, slot = [], [], watch.slots[0]
    for _ in range(60):
        watch.cycle()
        errors.append(watch.ball_error(slot))
        speeds.append(np.linalg.norm(watch.beliefs[slot].ball.velocity))
    assert np.quantile(errors, 0.95) < 0.03
    assert np.quantile(speeds, 0.95) < 0.1
    assert watch.beliefs[slot].ball.seen_ago < 0.1
    assert watch.beliefs[slot].ball.spread < 0.03


@pytest.mark.parametrize("seed", [1, 2])
def test_a_keeper_knows_where_a_shot_crosses_the_line(seed: int) -> None:
    watch = Watch(seed=seed, look=watch_ball)
    watch.put((-14.5, -0.5, 0.0), (5.0, -3.0, 150.0))
    watch.game.place_ball((-10.0, 1.0, 0.042), (0.0, 0.0, 0.0))
    watch.settle(40)
    watch.roll(-6.0, -0.6)
    watch.settle(15)  # 0.3 s: five images
    ball = watch.beliefs[watch.slots[0]].ball
    assert watch.ball[0] > -11.8
    assert np.linalg.norm(ball.velocity - watch.ball_velocity[:2]) < 0.3
    predicted = ball.place[1] + (-14.3 - ball.place[0]) / ball.velocity[0] * ball.velocity[1]
    for _ in range(100):
        watch.cycle()
        if watch.ball[0] < -14.3:
            break
    assert watch.ball[0] < -14.3
    assert watch.ball[1] == pytest.approx(predicted, abs=0.2)


def test_a_ball_of_two_metres_a_second_is_noticed_and_its_end_foreseen() -> None:
    watch = Watch(seed=4, look=watch_ball)
    watch.put((-3.0, 2.0, 0.0), (5.0, -3.0, 150.0))
    watch.game.place_ball((1.0, 1.0, 0.042), (0.0, 0.0, 0.0))
    watch.settle(40)
    watch.roll(-2.0, 0.0)
    watch.settle(12)
    ball = watch.beliefs[watch.slots[0]].ball
    assert np.linalg.norm(ball.velocity) > 1.2
    end = ball.place + ball.velocity / 1.06
    watch.settle(250)
    assert watch.game.world.ball[:2] == pytest.approx(end, abs=0.25)


def test_a_ball_that_nobody_looks_at_rolls_on() -> None:
    watch = Watch(seed=4, look=watch_ball)
    watch.put((-3.0, 2.0, 0.0), (5.0, -3.0, 150.0))
    watch.game.place_ball((-1.0, 0.0, 0.042), (0.0, 0.0, 0.0))
    watch.roll(0.0, 2.0)
    watch.settle(25)
    watch.look = lambda *_: (-1.9, -0.2)
    watch.settle(60)
    ball = watch.beliefs[watch.slots[0]].ball
    assert ball.seen_ago > 0.5
    assert np.linalg.norm(ball.place - watch.game.world.ball[:2]) < 0.25
    assert ball.spread > 0.05


def test_a_ball_that_is_not_where_it_should_be_is_lost_and_can_be_told() -> None:
    watch = Watch(look=ahead)
    watch.put((-3.0, 2.0, 0.0), (5.0, -3.0, 150.0))
    watch.game.place_ball((0.0, 2.0, 0.042), (0.0, 0.0, 0.0))
    watch.settle(30)
    watch.game.place_ball((-9.0, 2.0, 0.042), (0.0, 0.0, 0.0))
    watch.settle(60)
    slot = watch.slots[0]
    assert watch.beliefs[slot].ball.spread > 1.0
    watch.senses[slot].hear_mate(2, (-8.0, 1.0), (-9.0, 2.0), 0.1)
    watch.cycle()
    belief = watch.beliefs[slot]
    assert belief.ball.place == pytest.approx([-9.0, 2.0], abs=0.8)
    assert belief.ball.heard_ago == pytest.approx(0.12, abs=0.011)
    assert belief.mates.places[1] == pytest.approx([-8.0, 1.0])


def test_what_a_right_hand_player_is_told_is_in_its_own_frame(watch: Watch) -> None:
    watch.put((-3.0, 2.0, 20.0), (5.0, -3.0, 150.0))
    watch.settle(30)
    senses = watch.senses[watch.slots[1]]
    senses.hear_mate(2, (-8.0, 1.0), None, 0.1)
    watch.cycle()
    assert watch.beliefs[watch.slots[1]].mates.places[1] == pytest.approx([-8.0, 1.0])
    assert watch.beliefs[watch.slots[1]].ball.heard_ago == math.inf


# ---- the others, and the game


def test_opponents_are_seen_where_they_stand(watch: Watch) -> None:
    watch.put((-3.0, 2.0, 0.0), (1.0, 1.0, 180.0))
    watch.settle(60)
    left, right = (watch.beliefs[slot] for slot in watch.slots)
    assert left.opponents.places[3] == pytest.approx([1.0, 1.0], abs=0.06)
    assert right.opponents.places[0] == pytest.approx([3.0, -2.0], abs=0.06)
    assert not left.opponents.fallen.any()
    assert left.mates.places[0] == pytest.approx([left.me.x, left.me.y])
    assert np.isnan(left.opponents.places[0]).all()
    assert np.isnan(left.mates.places[1:]).all()


def test_a_beam_shows_that_the_teams_have_changed_ends() -> None:
    rules = RULES.with_match(swap_ends=True, half_length=0.5, automatic_kick_off=False)
    game = Game(rules, seed=2, left="reds", right="blues", seats=2)
    slot = game.enter("reds", 1)
    senses, percepts = LeagueTracker(FIELD, team="reds"), game.cycle({})
    game.set_play_mode(PlayMode.PLAY_ON)
    for k in range(80):
        slot %= 22
        if game.swaps == 1 and slot not in percepts:
            slot += 11
        belief = senses.update(percepts[slot], STILL, upright=True)
        beam = (-4.0, 2.0, 0.0) if k == 50 else None
        if beam is not None:
            assert game.swaps == 1
            assert senses.side is Side.LEFT
            senses.beamed(beam[0], beam[1])
        percepts = game.cycle({slot: Action(beam=beam)})
        if slot not in percepts:
            slot = (slot + 11) % 22
    assert senses.side is Side.RIGHT
    assert (belief.me.x, belief.me.y) == pytest.approx((-4.0, 2.0), abs=0.12)
    assert game.world.position[slot, :2] == pytest.approx([4.0, -2.0], abs=0.1)


@pytest.mark.parametrize("walks", [(0.8, 0.0), (-0.5, 0.6)])
def test_the_velocity_of_an_opponent_is_known_within_two_decimetres_a_second(walks: tuple[float, float]) -> None:
    watch, errors, places = Watch(seed=7, look=ahead), [], []
    x, y = 0.0, 0.0
    red, blue = watch.slots
    for cycle in range(90):
        x, y = x + 0.02 * walks[0], y + 0.02 * walks[1]
        watch.carry((-2.5, 0.0, 0.0), (x, y, 120.0))
        watch.cycle()
        if cycle > 40:  # it has seen it for 0.8 s
            seen, there = watch.beliefs[red].opponents, -watch.pose(blue)[:2]
            errors.append(np.linalg.norm(seen.velocities[3] - walks))
            places.append(np.linalg.norm(seen.places[3] - there))
    assert np.quantile(errors, 0.95) < 0.2
    assert np.quantile(places, 0.95) < 0.12


def test_reports_of_a_team_mate_tell_its_velocity() -> None:
    watch = Watch(look=ahead)
    watch.put((-3.0, 2.0, 0.0), (5.0, -3.0, 150.0))
    slot = watch.slots[0]
    for cycle in range(80):
        watch.cycle()
        if cycle % 8 == 0:  # as with four players; a report is a cycle old
            watch.senses[slot].hear_mate(2, (-8.0 + 0.7 * 0.02 * (cycle - 1), 1.0), None, 0.02)
    mates = watch.beliefs[slot].mates
    assert mates.velocities[1] == pytest.approx([0.7, 0.0], abs=0.15)
    assert mates.places[1] == pytest.approx([-8.0 + 0.7 * 0.02 * 79, 1.0], abs=0.05)


def blind(watch: Watch, cycles: int) -> None:
    """Lets cycles pass without images."""
    for _ in range(cycles):
        watch.percepts = {slot: percept._replace(sight=None) for slot, percept in watch.percepts.items()}
        watch.cycle()


@pytest.mark.parametrize("sonar", [True, False])
def test_an_opponent_that_comes_near_out_of_sight_is_where_the_sonars_say(sonar: bool) -> None:
    watch, place = Watch(look=ahead, sonar=sonar), (0.5, 0.0)
    red = watch.slots[0]
    watch.put((0.0, 0.0, 0.0), (0.9, 0.0, 0.0))
    watch.settle(30)
    for _ in range(50):
        watch.put((0.0, 0.0, 0.0), (*place, 0.0))
        blind(watch, 1)
    opponents = watch.beliefs[red].opponents
    off, age = np.linalg.norm(opponents.places[3] - place), opponents.ages[3]
    if sonar:
        assert off < 0.1
        assert age < 0.15
    else:  # it is where it was last seen
        assert off > 0.3
        assert age > 0.9


def test_an_opponent_that_has_left_while_nobody_looked_is_forgotten() -> None:
    watch = Watch(look=ahead, sonar=True)
    red = watch.slots[0]
    watch.put((0.0, 0.0, 0.0), (0.47, 0.17, 180.0))
    watch.settle(30)
    blind(watch, 30)
    assert watch.beliefs[red].opponents.ages[3] < 0.15, "it is heard"
    watch.put((0.0, 0.0, 0.0), (5.0, 3.0, 180.0))
    blind(watch, 40)
    assert watch.beliefs[red].opponents.ages[3] >= watch.senses[red].settings.others_memory


def test_the_same_percepts_give_the_same_beliefs() -> None:
    first, second = Watch(seed=9), Watch(seed=9)
    for watch in (first, second):
        watch.put((-3.0, 2.0, 20.0), (5.0, -3.0, 150.0))
        watch.settle(40)
    for slot in first.slots:
        one, two = first.beliefs[slot], second.beliefs[slot]
        assert one.me == two.me
        assert one.ball.place.tolist() == two.ball.place.tolist()
