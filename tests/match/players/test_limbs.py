"""A player that is told only what it perceives stands, walks, looks, kicks, dives, falls and gets up."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import FileError, UsageError
from nutmeg.learning.courses import ROBOT_NAME
from nutmeg.learning.policies.motion_task import DiveTask, KickTask, MotionRewards, MotionTask
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.players.deciding_player import make_team
from nutmeg.match.players.kicks import Moves, foot_for, kick_ability, kick_place
from nutmeg.match.players.limbs import Limbs, Pace
from nutmeg.match.players.request import Dive, Dribble, Kick, Legs, Look, Stand, Walk
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.match.worlds.physical.percept import JOINTS, WITHOUT_TOES, Action, Percept
from nutmeg.motion.bodies import Mirror, OnboardRobot
from nutmeg.motion.correction import Correction
from nutmeg.motion.dribble import FILE, SHIPPED_FOLDER, dribbling_text, own_dribbling, read_dribbling
from nutmeg.motion.inertial import Lying
from nutmeg.motion.keyframes import own_motions, shipped_motion, write_motion
from nutmeg.motion.policy import BALL, BALL_SCALE, Network, moved_motors, read_network, write_network
from nutmeg.motion.policy_kernels import decide
from nutmeg.motion.walk.files import WalkParameters, read_walk

WALK = read_walk("dynamic-rewards")
AHEAD = Look()


class Alone:
    """One player on an empty pitch, at its centre, looking along x."""

    def __init__(
        self,
        robot_type: int = 0,
        pace: Pace | None = None,
        walk: WalkParameters = WALK,
        motions: tuple[Path, ...] = (),
    ) -> None:
        self.game = Game(load_rules("sim3d"), seed=3, seats=1, setup=PhysicalSetup(toed=int(robot_type == 4)))
        self.slot = self.game.enter("us", 1, robot_type)
        self.limbs = Limbs(walk, robot_type, pace=pace, motions=motions)
        self.game.set_play_mode(PlayMode.PLAY_ON)
        self.game.place_player(self.slot, (0.0, 0.0, 0.4), 0.0)
        self.game.place_ball((0.0, 5.0, 0.042))
        self.percept: Percept = self.game.cycle({})[self.slot]
        self.seen: set[str] = set()

    def run(self, seconds: float, legs: Legs | Callable[[], Legs], look: Look = AHEAD) -> None:
        for _ in range(round(seconds / 0.02)):
            wish = legs() if callable(legs) else legs
            speeds = self.limbs.act(self.percept, wish, look)
            self.seen.add(self.limbs.doing)
            self.percept = self.game.cycle({self.slot: Action(speeds=speeds)})[self.slot]

    @property
    def place(self) -> np.ndarray:
        return np.asarray(self.game.world.poses()[self.slot, :2].copy())

    @property
    def heading(self) -> float:
        return float(self.game.world.headings()[self.slot])

    @property
    def height(self) -> float:
        return float(self.game.world.poses()[self.slot, 2])


@pytest.mark.parametrize("robot_type", [0, 1, 2, 3, 4])
def test_every_type_of_robot_walks_ahead_as_fast_as_it_is_told(robot_type: int) -> None:
    one = Alone(robot_type)
    one.run(1.0, Stand())
    begin = one.place
    one.run(4.0, Walk(ahead=0.3))
    assert 0.6 < np.hypot(*(one.place - begin)) < 1.5
    assert (one.limbs.falls, one.limbs.doing) == (0, "walk")


def test_a_policy_is_asked_for_other_speeds_than_those_wished_so_that_it_goes_as_fast_as_they_are() -> None:
    one = Alone(walk=read_walk("policy"))
    one.run(1.5, Walk(ahead=0.5))
    begin = one.place
    one.run(2.0, Walk(ahead=0.5))
    assert 0.35 < np.hypot(*(one.place - begin)) / 2.0 < 0.75
    one.run(1.0, Walk(left=0.2))
    begin, heading = one.place, one.heading
    one.run(2.0, Walk(left=0.2))
    back = -(one.place - begin) @ [math.cos(heading), math.sin(heading)]
    assert back / 2.0 < 0.06, "it does not go backwards when it steps aside"
    with pytest.raises(ValueError, match="must rise"):
        Pace(answers=((0.1, 0.2), (0.2, 0.1)))


def test_who_knows_that_a_knee_is_weak_runs_faster_with_it_than_who_does_not() -> None:
    ways = []
    for knows in (False, True):
        one = Alone(walk=read_walk("policy"))
        one.game.world.weaken(one.slot, "llj4", 0.3)
        if knows:
            strengths = np.ones(WITHOUT_TOES)
            strengths[JOINTS.index("llj4")] = 0.3
            one.limbs.compensate(strengths)
        one.run(1.5, Walk(ahead=0.8))
        begin = one.place
        one.run(3.0, Walk(ahead=0.8))
        ways.append(float(np.hypot(*(one.place - begin))))
    assert ways[1] > 1.15 * ways[0]


def test_it_walks_sideways_without_turning_away() -> None:
    one = Alone()
    one.run(1.0, Stand())
    begin, looked = one.place, one.heading
    one.run(4.0, Walk(left=0.25))
    assert one.place[1] - begin[1] > 0.4
    assert abs(one.heading - looked) < 0.5
    assert one.limbs.upright


def test_it_turns_as_fast_as_it_is_told() -> None:
    one = Alone()
    one.run(1.0, Stand())
    looked = one.heading
    one.run(3.0, Walk(turn=0.6))
    assert one.heading - looked == pytest.approx(1.8, abs=0.4)


def test_it_stands_still_and_looks_where_it_is_told() -> None:
    one = Alone()
    one.run(1.0, Stand())
    begin = one.place
    one.run(1.0, Stand(), Look(yaw=0.8, pitch=-0.3))
    np.testing.assert_allclose(one.place, begin, atol=5e-3)
    np.testing.assert_allclose(one.percept.angles[:2], np.degrees([0.8, -0.3]), atol=0.5)
    one.run(1.0, Stand(), Look(yaw=9.0, pitch=9.0))
    np.testing.assert_allclose(one.percept.angles[:2], [120.0, 45.0], atol=0.5)
    assert one.seen == {"stand"}


def test_its_odometry_says_how_far_it_came() -> None:
    one = Alone()
    one.run(1.0, Stand())
    begin, looked = one.place, one.heading
    x = y = turned = 0.0

    def noted() -> Legs:
        nonlocal x, y, turned
        ahead, left, turn = one.limbs.odometry
        x += ahead * math.cos(turned) - left * math.sin(turned)
        y += ahead * math.sin(turned) + left * math.cos(turned)
        turned += turn
        return Walk(ahead=0.4, turn=0.2)

    one.run(5.0, noted)
    c, s = math.cos(looked), math.sin(looked)
    way = one.place - begin
    seen = np.array([c * way[0] + s * way[1], c * way[1] - s * way[0]])
    np.testing.assert_allclose([x, y], seen, atol=0.15 * np.hypot(*way))
    assert turned == pytest.approx(one.heading - looked, abs=0.1)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_dive_ends_on_the_side_and_it_gets_up_again(side: str) -> None:
    one = Alone()
    one.run(1.0, Stand())
    one.run(0.1, Dive(side=side))  # type: ignore[arg-type]
    assert (one.limbs.busy, one.limbs.doing) == (True, "dive")
    one.run(1.0, Stand())
    assert one.height < 0.2
    assert (one.place[1] > 0.15) if side == "left" else (one.place[1] < -0.15)
    one.run(16.0, Stand())
    assert (one.limbs.upright, one.limbs.doing) == (True, "stand")
    assert {"dive", "fall", "get up", "steady", "stand"} <= one.seen


def test_who_is_knocked_onto_its_back_stands_again_mostly_without_another_fall() -> None:
    """Of eleven speeds from 1.2 to 1.8 m/s two lead to a second fall: 1.3 and 1.7 m/s."""
    fell_again = 0
    for speed in (1.2, 1.3, 1.4, 1.6):
        player = Alone()
        player.run(0.9, Stand())
        world = player.game.world
        world.ground.world.qvel[int(world.ground.seats["rate"][int(world.seat_of[player.slot])])] -= speed
        world.ground.world.touch()
        done: list[str] = []
        for _ in range(350):
            player.run(0.02, Stand())
            done += [player.limbs.doing] if done[-1:] != [player.limbs.doing] else []
        assert done[-1] == "stand"
        fell_again += done.count("get up") - 1  # one get-up may take several motions
    assert fell_again <= 1


@pytest.mark.parametrize("robot_type", [0, 1, 3, 4])
def test_who_stood_and_lies_on_its_back_gets_up_at_the_first_try_and_does_not_pass_through_itself(
    robot_type: int,
) -> None:
    """On 2026-11-19 arms that were pressed against the torso stayed there, and the referee froze what they met."""
    rng, count, walk = np.random.default_rng([7, robot_type]), 6, read_walk("policy")
    setup = PhysicalSetup(toed=count if robot_type == 4 else 0)
    game = Game(load_rules("sim3d"), seed=9, seats=count, setup=setup)
    slots = [game.enter("us", number + 1, robot_type) for number in range(count)]
    limbs = [Limbs(walk, robot_type) for _ in slots]
    game.set_play_mode(PlayMode.PLAY_ON)
    for number, slot in enumerate(slots):
        game.place_player(slot, (4.0 * number - 10.0, 4.0, 0.4), 0.0)
    game.place_ball((0.0, -9.0, 0.042))
    percepts, world, collided = game.cycle({}), game.world, False
    for cycle in range(320):
        if cycle == 60:
            for slot in slots:
                rate = int(world.ground.seats["rate"][int(world.seat_of[slot])])
                world.ground.world.qvel[rate] -= rng.uniform(1.8, 3.0)
            world.ground.world.touch()
        actions = {
            slot: Action(speeds=one.act(percepts[slot], Stand(), AHEAD)) for slot, one in zip(slots, limbs, strict=True)
        }
        percepts = game.cycle(actions)
        collided |= bool(np.any(world.collides))
    assert [one.get_up for one in limbs] == [(int(Lying.UPRIGHT), 1)] * count
    assert all(one.upright for one in limbs)
    assert not collided


@pytest.mark.parametrize("side", [1, -1])
def test_a_kick_with_either_foot_goes_far_and_straight_and_ends_on_its_feet(side: int) -> None:
    one = Alone()
    one.run(1.2, Stand())
    ahead, left = kick_place("straight")
    ball = one.place + np.array([ahead, side * left])
    one.game.place_ball((*ball.tolist(), 0.042))
    one.run(0.1, Kick(ball=(ahead, side * left)))
    assert (one.limbs.busy, one.limbs.doing) == (True, "kick")
    one.run(1.8, Stand())
    assert (one.limbs.doing, one.limbs.falls) == ("stand", 0)
    one.run(3.0, Stand())
    way = one.game.world.ball[:2] - ball
    assert way[0] > 0.7 * kick_ability("straight").reach
    assert abs(way[1]) < 0.3 * way[0]


@pytest.mark.parametrize("robot_type", [0, 1, 2, 3, 4])
def test_a_shot_is_quick_and_goes_far_and_the_robot_gets_up_again(robot_type: int) -> None:
    ahead, left = kick_place("shot", body=f"type{robot_type}")
    robots, ways = [], []
    for off, side in ((-0.02, 1), (0.0, -1), (0.015, 1), (0.03, -1)):  # how far one goes depends on millimetres
        one = Alone(robot_type, walk=read_walk("policy"))
        one.run(1.2, Stand())
        place = ahead + off, side * left
        ball = one.place + np.array(place)
        one.game.place_ball((*ball.tolist(), 0.042))
        one.run(0.5, Kick(ball=place, kind="shot"))
        assert "kick" in one.seen
        robots.append(one)
        ways.append(one.game.world.ball[:2] - ball)
    assert np.mean(ways, axis=0)[0] > 0.5
    robots[1].run(9.0, Stand())
    assert robots[1].limbs.falls >= 1
    assert robots[1].limbs.doing == "stand"


def test_a_pass_goes_less_far_than_a_kick_on_average() -> None:
    far: dict[str, list[float]] = {"straight": [], "pass": []}
    for kind, found in far.items():
        for off in (-0.02, 0.0, 0.01, 0.02):  # how far a single kick goes depends on millimetres
            one = Alone()
            one.run(1.2, Stand())
            ahead, left = kick_place(kind)  # type: ignore[arg-type]
            one.game.place_ball((*(one.place + np.array([ahead + off, left])).tolist(), 0.042))
            one.run(0.1, Kick(ball=(ahead, left), kind=kind))  # type: ignore[arg-type]
            one.run(3.5, Stand())
            found.append(one.game.world.ball[0] - one.place[0])
    assert 1.0 < np.mean(far["pass"]) < 0.8 * np.mean(far["straight"])
    assert kick_place("pass") == kick_place("straight", 0.5)
    assert kick_ability("pass").reach < kick_ability("straight").reach


def test_a_kick_is_not_begun_if_the_ball_lies_elsewhere_and_a_walker_stops_first() -> None:
    one = Alone()
    ahead, left = kick_place()
    one.run(1.0, Stand())
    one.run(1.0, Kick(ball=(ahead + 2 * kick_ability().tolerance, left)))
    assert one.seen == {"stand"}
    one.run(1.5, Walk(ahead=0.3))
    one.run(0.02, Kick(ball=(ahead, left)))
    assert one.limbs.doing in ("walk", "stop")
    one.run(2.0, Kick(ball=(ahead, left)))
    assert "kick" in one.seen
    assert foot_for(Kick(ball=(ahead, -left))) == "right"
    assert foot_for(Kick(ball=(ahead + 0.04, -left))) == "right"  # farther off ahead than aside
    assert foot_for(Kick(ball=(ahead, left), kind="left")) is None


def test_the_same_percepts_give_the_same_speeds() -> None:
    one, other = Alone(), Limbs(WALK, 0)
    for cycle in range(150):
        legs: Legs = Walk(ahead=0.3, left=0.1) if cycle > 20 else Stand()
        speeds = one.limbs.act(one.percept, legs, Look())
        np.testing.assert_array_equal(speeds, other.act(one.percept, legs, Look()))
        one.percept = one.game.cycle({one.slot: Action(speeds=speeds)})[one.slot]


def test_who_was_put_upright_by_somebody_notices() -> None:
    one = Alone()
    one.run(1.0, Stand())
    one.run(1.5, Dive(side="left"))
    assert not one.limbs.upright
    one.game.place_player(one.slot, (0.0, 0.0, 0.4), 0.0)
    one.run(1.0, Stand())
    assert one.limbs.upright
    assert one.height > 0.25


def test_a_walk_that_begins_again_feels_the_tilt_of_now_not_that_of_an_earlier_fall() -> None:
    one = Alone(walk=read_walk("policy"))
    one.run(0.5, Stand())
    one.limbs._body.up[:] = (0.7, 0.0, 0.7)  # as was measured when somebody put it down leaning
    one.run(0.04, Stand())
    one.run(3.0, Walk(ahead=0.5))
    assert one.limbs.falls == 0
    assert one.limbs._walker.senses.up[0, 2] > 0.98


def test_who_is_put_on_its_feet_while_it_gets_up_stands() -> None:
    one = Alone(walk=read_walk("policy"))
    one.run(0.5, Stand())
    one.run(0.5, Dive(side="left"))
    while one.limbs.doing != "get up":
        one.run(0.02, Stand())
    one.run(0.8, Stand())  # with its legs drawn up; on legs that the dive has stretched anybody falls
    assert one.limbs.doing == "get up"
    one.game.place_player(one.slot, (0.0, 0.0, 0.4), 0.0)
    one.limbs.put_up()
    falls = one.limbs.falls
    one.run(2.0, Stand())
    assert (one.limbs.doing, one.limbs.falls) == ("stand", falls)
    assert one.height > 0.3


def test_what_no_body_can_do_is_refused() -> None:
    with pytest.raises(UsageError, match="types are 0 to 4"):
        Limbs(WALK, 5)
    with pytest.raises(UsageError, match="not for 'nao-spark'"):
        Limbs(read_walk("nao-v6"), 0)
    with pytest.raises(ValueError, match="up to 1"):
        Pace(share=(1.2, 1.0, 1.0))
    one = Alone()
    with pytest.raises(UsageError, match="finite"):
        one.run(0.02, Walk(ahead=math.nan))


@pytest.mark.parametrize("task_kind", [KickTask, DiveTask])
def test_motions_with_a_network_are_played_as_they_were_trained(task_kind: type[MotionTask], tmp_path: Path) -> None:
    exact = MotionRewards(noise=0.0, unsure=0.0)
    task = task_kind("nao-spark", "type0", 1, seed=3, rewards=exact, stored=4)
    sizes, rng = (task.observation.shape[1], 6, task.actions), np.random.default_rng(1)
    layers = 0.3 * rng.standard_normal(sum((wide + 1) * out for wide, out in itertools.pairwise(sizes)))
    plain = np.zeros(sizes[0], np.float32), np.ones(sizes[0], np.float32)
    write_network(tmp_path / "weights.npz", Network(*plain, layers.astype(np.float32), np.array(sizes)))
    write_motion(tmp_path / "own.toml", dataclasses.replace(task.motions[0], correction=task.correction))
    own = own_motions([tmp_path], "nao-spark", "type0")
    task.use(list(own.values()))
    task.use_level(1.0)
    task.begin(np.arange(1))
    network = read_network(tmp_path / "weights.npz")
    body = OnboardRobot("nao-spark", "type0", delay=1)
    state, angles, moved = task.states[0], task.worlds.robot(ROBOT_NAME).angles, moved_motors(task.scene, task.table)
    motors = task.table.motor_joints
    body.observe(angles[0, motors], np.zeros(3), np.zeros(3))
    place = state["task"][BALL : BALL + 2] * BALL_SCALE + task.motions[0].ball
    moves = Moves(body, own=own)
    if task.learning == "kick":
        move = moves.kick(Kick(ball=(place[0], place[1])), "left", body.angles)
    else:
        move = moves.dive(Dive(side="left", passes=place[1]), body.angles)
    for _ in range(12):
        if not np.array_equal(body.angles, angles[0, motors]):
            np.testing.assert_allclose(body.angles[moved], state["angles"][: len(moved)], atol=1e-6)
        speeds = (move.step(state["gyro"][None], state["up"][None]) - body.angles) / 0.02
        task.advance(decide(task.observation[0], network, task.image, (True, False))[None])
        body.command = speeds[None]
        np.testing.assert_allclose(body.command[0, moved], task.episodes["pending"][0, : len(moved)], atol=1e-4)
        body.observe(task.worlds.robot(ROBOT_NAME).angles[0, motors], np.zeros(3), np.zeros(3))


def test_a_dive_to_the_right_is_corrected_as_the_mirror_image_of_one_to_the_left(tmp_path: Path) -> None:
    sizes, rng = (74, 6, 20), np.random.default_rng(2)
    layers = 0.3 * rng.standard_normal(sum((wide + 1) * out for wide, out in itertools.pairwise(sizes)))
    plain = np.zeros(sizes[0], np.float32), np.ones(sizes[0], np.float32)
    write_network(tmp_path / "weights.npz", Network(*plain, layers.astype(np.float32), np.array(sizes)))
    correction = Correction(weights={"type0": "weights.npz"})
    write_motion(
        tmp_path / "dive.toml", dataclasses.replace(shipped_motion("nao-spark", "dive"), correction=correction)
    )
    own, found = own_motions([tmp_path], "nao-spark", "type0"), []
    for side, sign in (("left", 1.0), ("right", -1.0)):
        body = OnboardRobot("nao-spark", "type0")
        move = Moves(body, own=own).dive(Dive(side=side, passes=0.4 * sign), body.angles)  # type: ignore[arg-type]
        gyro, up = np.array([[0.3 * sign, 0.2, -0.5 * sign]]), np.array([[0.1, 0.2 * sign, 0.97]])
        found.append(np.stack([move.step(gyro, up) for _ in range(5)]))
    np.testing.assert_allclose(Mirror.of(body.scene, body.table)(found[0]), found[1], atol=1e-6)
    plainly = Moves(body).dive(Dive(side="right"), body.angles)
    assert np.abs(plainly.step(gyro, up) - found[1][0]).max() > 0.01, "the network does something"
    assert own_motions([tmp_path], "nao-spark", "type1") == {}, "networks are for the types that the file names"


def test_a_team_refuses_a_network_that_is_missing_or_for_types_of_robots_that_it_does_not_have(tmp_path: Path) -> None:
    correction = Correction(weights={"type1": "weights.npz"})
    kick = dataclasses.replace(shipped_motion("nao-spark", "kick"), correction=correction)
    write_motion(tmp_path / "kick.toml", kick)
    with pytest.raises(UsageError, match=r"kick\.toml: its network is for type1, but .* of type0, type2\."):
        make_team("policy", 2, motions=(tmp_path,))
    with pytest.raises(FileError, match=r"weights\.npz: does not exist"):
        make_team("policy", 1, types=(1,), motions=(tmp_path,))


def test_a_player_plays_its_own_motions_and_wrong_folders_are_refused(tmp_path: Path) -> None:
    slow = shipped_motion("nao-spark", "dive").with_numbers({"frame1.seconds": 1.0})
    write_motion(tmp_path / "dive.toml", slow)
    one, own = Alone(), Alone(motions=(tmp_path,))
    for player in (one, own):
        player.run(1.0, Stand())
        player.run(0.3, Dive(side="left"))
    assert own.place[1] < one.place[1] - 0.05
    with pytest.raises(FileError, match="none: does not exist; needed is a folder with motions"):
        Limbs(WALK, motions=(tmp_path / "none",))
    with pytest.raises(FileError, match=r"dive\.toml: is a file; needed is a folder"):
        Limbs(WALK, motions=(tmp_path / "dive.toml",))
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="has no motions"):
        Limbs(WALK, motions=(tmp_path / "empty",))
    (tmp_path / "empty" / "params.toml").write_text('robot = "nao-spark"\n')
    with pytest.raises(FileError, match="is no motion, because it has no"):
        Limbs(WALK, motions=(tmp_path / "empty",))
    write_motion(tmp_path / "kick.toml", shipped_motion("t1", "kick"))
    with pytest.raises(FileError, match="is a motion of 't1'"):
        Limbs(WALK, motions=(tmp_path,))


def test_who_has_a_network_for_it_dribbles_by_it_and_who_has_none_walks(tmp_path: Path) -> None:
    shipped = read_dribbling(SHIPPED_FOLDER / "policy")
    network = read_network(SHIPPED_FOLDER / "policy" / shipped.weights["type0"])
    write_network(tmp_path / "idle.npz", network._replace(layers=np.zeros_like(network.layers)))
    idle = dataclasses.replace(shipped, weights={"type0": "idle.npz"})
    (tmp_path / FILE).write_text(dribbling_text(idle))
    headings = []
    for walk, folders in (("policy", ()), ("policy", (tmp_path,)), ("dynamic-rewards", ())):
        one = Alone(walk=read_walk(walk), motions=folders)
        # The velocity of the walk turns to the right, the wanted direction of the ball is to the left.
        one.run(1.5, Dribble(ahead=0.3, turn=-0.4, direction=0.6, ball=(0.4, 0.1), ball_velocity=(0.0, 0.0)))
        headings.append(one.heading)
        assert one.limbs.falls == 0
        one.run(1.0, Walk(ahead=0.3))
        assert one.limbs.doing == "walk"
    assert min(headings[:2]) > 0.3, "the network, and the rule alone with a network that corrects nothing"
    assert headings[0] != headings[1]
    assert headings[2] < -0.1


def test_a_dribbling_is_for_a_walk_and_for_types_and_others_are_refused(tmp_path: Path) -> None:
    folder = SHIPPED_FOLDER / "policy"
    shipped = read_dribbling(folder)
    write_network(tmp_path / "one.npz", read_network(folder / shipped.weights["type0"]))
    (tmp_path / FILE).write_text(dribbling_text(dataclasses.replace(shipped, weights={"type1": "one.npz"})))
    found = [own_dribbling((tmp_path,), "nao-spark", "policy", kind) for kind in ("type0", "type1")]
    assert [one and one.folder for one in found] == [str(folder), str(tmp_path)]
    assert own_dribbling((), "nao-spark", "policy-fast", "type2") is not None
    assert own_dribbling((tmp_path,), "nao-spark", "final", "type1") is None
    with pytest.raises(UsageError, match=r"dribble\.toml: its network is for type1, but .* of type0, type2\."):
        make_team("policy", 2, motions=(tmp_path,))
    with pytest.raises(FileError, match=r"dribbles with the walk 'policy'; these players have 'final'"):
        make_team("final", 1, motions=(tmp_path,))
    (tmp_path / FILE).write_text(dribbling_text(dataclasses.replace(shipped, robot="t1")))
    with pytest.raises(FileError, match=r"dribbles with the robot 't1'"):
        make_team("policy", 1, motions=(tmp_path,))
