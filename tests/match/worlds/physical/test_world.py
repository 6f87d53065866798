"""The physical world of a match."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.rules.decisions import FreezeLimbs, MovePlayer, PlaceBall
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.worlds.physical.percept import JOINTS
from nutmeg.match.worlds.physical.world import MatchWorld
from nutmeg.model.scene import Placement, SceneSettings, assemble
from nutmeg.sim.worlds import Worlds

LEFT, RIGHT = 0, 11
NECK, ANKLE = JOINTS.index("hj1"), JOINTS.index("rlj5")


@pytest.fixture
def world() -> MatchWorld:
    """One robot a side, at rest."""
    world = MatchWorld(seats=2)
    world.join(LEFT, 0)
    world.join(RIGHT, 0)
    run(world, 25)
    return world


def run(world: MatchWorld, cycles: int) -> None:
    for _ in range(cycles):
        world.step()


def speeds(**values: float) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    row = np.full((1, 22), np.nan)
    for name, value in values.items():
        row[0, JOINTS.index(name)] = value
    return row


def test_a_standing_robot_feels_gravity_and_its_weight(world: MatchWorld) -> None:
    assert world.acc[LEFT] == pytest.approx([0.0, 0.0, 9.81], abs=0.3)
    assert np.abs(world.gyro[LEFT]).max() < 3.0
    assert world.forces[LEFT, :2, 5].sum() == pytest.approx(4.6 * 9.81, rel=0.05)
    assert world.forces[LEFT, :2, 2] == pytest.approx(-0.01, abs=0.002), "the force acts at the sole"
    assert np.isnan(world.forces[LEFT, 2:]).all(), "it has no toes"
    assert not world.touches.any()
    assert not world.collides.any()
    assert np.abs(world.angles[LEFT, :22]).max() < 1.0


def test_who_joins_waits_in_a_row_at_the_own_corner(world: MatchWorld) -> None:
    assert world.position[LEFT, :2] == pytest.approx([-14.2, 10.0], abs=0.02)
    assert world.position[RIGHT, :2] == pytest.approx([14.2, 10.0], abs=0.02)
    assert np.abs(world.headings()[[LEFT, RIGHT]]) == pytest.approx([0.0, np.pi], abs=0.02)
    assert (world.position[[LEFT, RIGHT], 2] > 0.38).all()


def test_a_damaged_drive_turns_with_its_share_of_the_command_until_another_robot_takes_the_seat(
    world: MatchWorld,
) -> None:
    world.weaken(LEFT, "hj1", 0.4)
    world.command([LEFT, RIGHT], np.repeat(speeds(hj1=2.0), 2, axis=0))
    run(world, 6)
    assert world.angles[LEFT, NECK] == pytest.approx(0.4 * world.angles[RIGHT, NECK], rel=0.01)
    assert world.angles[RIGHT, NECK] > 5.0
    world.leave(LEFT)
    world.join(LEFT, 0)
    world.command([LEFT], speeds(hj1=2.0))
    run(world, 6)
    assert world.angles[LEFT, NECK] > 5.0
    for joint, strength in (("nose", 0.5), ("hj1", 1.5)):
        with pytest.raises(UsageError, match="allowed are 0 to 1"):
            world.weaken(LEFT, joint, strength)


def test_a_command_moves_the_joints_after_one_cycle_of_delay(world: MatchWorld) -> None:
    before = world.angles[LEFT, NECK]
    world.command([LEFT], speeds(hj1=1.0))
    world.step()
    assert world.angles[LEFT, NECK] == pytest.approx(before, abs=0.01)
    for cycle in (1, 2, 3):
        world.step()
        assert world.angles[LEFT, NECK] == pytest.approx(before + np.degrees(0.02 * cycle), abs=0.02)


def test_speeds_persist_until_changed_and_are_clipped_by_type() -> None:
    world = MatchWorld(seats=2)
    world.join(LEFT, 0)
    world.join(RIGHT, 2)
    world.place(LEFT, x=-3.0, y=0.0, height=2.0)
    world.place(RIGHT, x=3.0, y=0.0, height=2.0)
    world.command([LEFT, RIGHT], np.repeat(speeds(rlj5=100.0), 2, axis=0))
    run(world, 2)
    first = world.angles[[LEFT, RIGHT], ANKLE]
    world.command([LEFT], speeds(hj1=1.0))
    run(world, 3)
    turned = world.angles[[LEFT, RIGHT], ANKLE] - first
    assert turned == pytest.approx(np.degrees([6.1395 * 0.06, 8.80667 * 0.06]), rel=0.02)


@pytest.mark.parametrize("way", [-1, 1])
@pytest.mark.parametrize("joint", ["hj1", "hj2", "raj1", "laj3", "laj4", "llj4", "rlj5"])
def test_a_joint_that_is_pushed_against_its_stop_bounces_off_it_as_on_the_leagues_server(joint: str, way: int) -> None:
    world = MatchWorld(seats=1)
    world.join(LEFT, 0)
    world.place(LEFT, x=0.0, y=0.0, height=4.0)
    column, table = JOINTS.index(joint), world.ground.scene.robots[0]
    stop = way * np.degrees(table.limits[table.joints.index(joint)][int(way > 0)])
    world.command([LEFT], speeds(**{joint: 5.0 * way}))
    reached = []
    for _ in range(42):
        world.step()
        reached.append(way * world.angles[LEFT, column])
    step = np.degrees(5.0 * 0.02)
    hits = [k for k, angle in enumerate(reached) if angle >= stop]
    assert len(hits) >= 2
    assert max(reached) < stop + step, "it is found beyond the stop by less than a step"
    assert reached[hits[0] + 1] < stop, "and comes back in the next cycle"


@pytest.mark.parametrize("kind", range(5))
def test_a_robot_that_is_told_nothing_stands_still(kind: int) -> None:
    world = MatchWorld(seats=1, toed=int(kind == 4))
    world.join(LEFT, kind)
    run(world, 25)
    angles, place = world.angles[LEFT, :22].copy(), world.position[LEFT].copy()
    run(world, 6000)  # two minutes; without drives that hold it fell after 33 s
    assert world.angles[LEFT, :22] == pytest.approx(angles, abs=0.1)
    assert world.position[LEFT] == pytest.approx(place, abs=0.002)


def test_a_beam_puts_a_robot_upright_into_its_own_half(world: MatchWorld) -> None:
    world.beam(LEFT, 5.0, 30.0, 90.0)
    world.beam(RIGHT, -3.0, 2.0, 30.0)
    world.step()
    assert world.position[LEFT, :2] == pytest.approx([0.0, 10.0], abs=0.01)
    assert world.position[RIGHT, :2] == pytest.approx([3.0, -2.0], abs=0.01), "the right team sees the pitch turned"
    assert np.degrees(world.headings()[[LEFT, RIGHT]]) == pytest.approx([90.0, -150.0], abs=0.5)
    run(world, 50)
    assert world.position[[LEFT, RIGHT], 2] == pytest.approx(0.385, abs=0.01)


@pytest.mark.parametrize("kind", [0, 3])
def test_a_beam_puts_every_torso_as_high_even_if_its_legs_reach_into_the_ground(kind: int) -> None:
    world = MatchWorld(seats=1)
    world.join(LEFT, kind)
    run(world, 25)
    standing = world.position[LEFT, 2]
    world.beam(LEFT, -2.0, 1.0, 0.0)
    world.settle()
    assert world.poses()[LEFT, 2] == pytest.approx(0.4)
    run(world, 50)
    assert world.position[LEFT, 2] == pytest.approx(standing, abs=2e-3)


def test_the_noise_of_a_beam_is_uniform_and_bounded(world: MatchWorld) -> None:
    rng, found = np.random.default_rng(1), []
    for _ in range(300):
        world.beam(LEFT, -3.0, 2.0, 0.0, rng)
        world.settle()
        found.append([*world.poses()[LEFT, :2], np.degrees(world.headings()[LEFT])])
    off = np.array(found) - [-3.0, 2.0, 0.0]
    assert (np.abs(off).max(axis=0) <= [0.05, 0.05, 10.0]).all()
    assert (np.abs(off).max(axis=0) > [0.045, 0.045, 9.0]).all()
    assert off.std(axis=0) == pytest.approx(np.array([0.05, 0.05, 10.0]) / np.sqrt(3), rel=0.15)


def test_a_robot_keeps_its_pose_when_it_is_put_elsewhere(world: MatchWorld) -> None:
    world.command([LEFT], speeds(rlj4=-1.5, llj4=-1.5, rlj3=0.75, llj3=0.75, rlj5=0.75, llj5=0.75))
    run(world, 30)
    before, height = world.angles[LEFT].copy(), world.position[LEFT, 2]
    world.command([LEFT], np.zeros((1, 22)))
    world.step()
    world.carry_out(MovePlayer(side=Side.LEFT, number=1, place=(-2.0, 1.0), reason="a test"))
    world.step()
    assert world.position[LEFT] == pytest.approx([-2.0, 1.0, height], abs=0.02)
    assert world.angles[LEFT, :22] == pytest.approx(before[:22], abs=4.0)
    world.carry_out(MovePlayer(side=Side.LEFT, number=1, place=(-2.0, 1.0), height=1.0, reason="a test"))
    world.step()
    assert world.position[LEFT, 2] == pytest.approx(1.0, abs=0.01)


def test_touches_of_the_ball_are_told_by_player(world: MatchWorld) -> None:
    world.beam(LEFT, -3.0, 0.0, 0.0)
    run(world, 20)
    world.carry_out(PlaceBall(place=(-3.0 + 0.15, -0.055)))
    world.step()
    assert not world.touches.any()
    world.place_ball((-3.0 + 0.2, -0.055), (-2.0, 0.0, 0.0))
    touched = []
    for _ in range(6):
        world.step()
        touched.append(world.touches.copy())
    seen = np.any(touched, axis=0)
    assert seen[LEFT]
    assert np.flatnonzero(seen).tolist() == [LEFT]
    assert world.facts().touches_ball.shape == (2, 11)
    assert world.ball_velocity[0] > -1.0, "the foot stopped the ball"


def test_players_who_touch_are_told_to_the_referee(world: MatchWorld) -> None:
    world.place(LEFT, x=-2.0, y=0.0, heading=0.0)
    world.place(RIGHT, x=-1.9, y=0.0, heading=np.pi)
    world.step()
    facts = world.facts()
    assert facts.contacts.tolist() == [[[0, 0], [1, 0]]]
    assert facts.contact_places[0] == pytest.approx([-1.95, 0.0], abs=0.15)
    world.place(RIGHT, x=2.0, y=0.0, heading=np.pi)
    world.step()
    assert len(world.facts().contacts) == 0


def test_a_frozen_limb_is_held_still_whatever_it_is_told_until_the_time_is_over(world: MatchWorld) -> None:
    arm, other = JOINTS.index("laj1"), JOINTS.index("raj1")
    world.command([LEFT], speeds(laj1=-3.0, raj1=-3.0))
    run(world, 5)
    world.carry_out(FreezeLimbs(side=Side.LEFT, number=1, limbs=("left arm",), duration=0.2))
    run(world, 1)
    held, free = world.angles[LEFT, [arm, other]]
    run(world, 9)
    assert world.angles[LEFT, arm] == pytest.approx(held, abs=0.01)
    assert world.angles[LEFT, other] < free - 20
    run(world, 3)
    assert world.angles[LEFT, arm] < held - 3, "it hears its player again"


def test_the_gyroscope_has_the_frame_of_the_league(world: MatchWorld) -> None:
    world.place(LEFT, x=-3.0, y=0.0, height=2.0, heading=0.0)
    ground = world.ground
    rate = int(ground.seats["rate"][world.seat_of[LEFT]])
    world.settle()
    ground.world.qvel[rate + 3 : rate + 6] = [0.1, 0.2, 0.3]
    ground.world.touch()
    world.step()
    assert world.gyro[LEFT] == pytest.approx(np.degrees([-0.2, 0.1, 0.3]), rel=0.2, abs=0.5)  # drag takes a part
    run(world, 2)
    assert np.linalg.norm(world.acc[LEFT]) < 1.0, "nothing but drag is felt in free fall"


def test_who_leaves_makes_room_and_can_come_back_as_another_type(world: MatchWorld) -> None:
    with pytest.raises(UsageError, match=r"no robot without toes is left: this match has 2 .* \(--seats of"):
        world.join(5, 0)
    world.leave(RIGHT)
    assert not world.present[RIGHT]
    run(world, 10)
    world.join(RIGHT, 3)
    run(world, 25)
    assert world.position[RIGHT, 2] > 0.43, "type 3 has longer legs"
    assert world.position[LEFT, 2] == pytest.approx(0.386, abs=0.005)


@pytest.mark.parametrize(("seats", "toed"), [(0, 0), (23, 0), (2, 3), (30, 23)])
def test_a_match_has_at_least_one_seat_and_at_most_22_of_a_kind(seats: int, toed: int) -> None:
    with pytest.raises(UsageError, match=f"{seats} seats, {toed} of them with toes, are not possible"):
        MatchWorld(seats=seats, toed=toed)


def test_robots_of_a_large_ground_touch_each_other_whatever_their_seats() -> None:
    world = MatchWorld(seats=36, toed=14)
    for slot in range(12):
        world.join(slot, 4)
    world.place(10, x=0.0, y=1.0, heading=0.0)
    world.place(11, x=0.08, y=1.0, heading=0.0)
    world.step()
    assert np.array([[0, 10], [1, 0]]).tolist() in world.facts().contacts.tolist()


def test_type_4_has_toes_and_needs_a_seat_with_toes() -> None:
    world = MatchWorld(seats=2, toed=1)
    world.join(LEFT, 4)
    world.place(LEFT, x=-3.0, y=0.0, height=2.0)
    with pytest.raises(UsageError, match=r"no robot with toes \(type 4\) is left"):
        world.join(RIGHT, 4)
    world.join(RIGHT, 1)
    row = np.zeros((1, 24))
    row[0, JOINTS.index("rlj7")] = 1.0
    world.command([LEFT], row)
    run(world, 6)
    assert world.angles[LEFT, JOINTS.index("rlj7")] == pytest.approx(np.degrees(0.1), abs=0.3)
    assert world.angles[LEFT, JOINTS.index("llj7")] == pytest.approx(0.0, abs=0.3)


def test_players_change_slots_when_teams_change_ends(world: MatchWorld) -> None:
    world.leave(RIGHT)
    before = world.position[LEFT].copy()
    world.swap_ends()
    world.step()
    assert np.flatnonzero(world.present).tolist() == [RIGHT]
    assert world.position[RIGHT] == pytest.approx(before, abs=1e-3)


def test_a_world_that_lost_its_numbers_goes_on(world: MatchWorld) -> None:
    before = world.position.copy()
    world.ground.world.qvel[world.ground.seats["rate"][world.seat_of[LEFT]] + 7] = np.nan
    run(world, 30)
    assert world.upsets == 1
    assert world.position == pytest.approx(before, abs=0.05)
    assert np.isfinite(world.angles).all()


def test_a_robot_that_is_thrown_away_at_an_impossible_speed_is_put_back(world: MatchWorld) -> None:
    run(world, 5)
    before = world.position.copy()
    world.ground.world.qvel[world.ground.seats["rate"][world.seat_of[LEFT]]] = 5000.0
    run(world, 30)
    assert world.upsets >= 1
    assert world.position == pytest.approx(before, abs=0.3)


def test_impossible_places_types_and_players_are_refused(world: MatchWorld) -> None:
    with pytest.raises(UsageError, match="places are within 100 m"):
        world.place(LEFT, x=float("nan"), y=0.0)
    with pytest.raises(UsageError, match="places are within 100 m"):
        world.place(LEFT, x=1e9, y=0.0)
    with pytest.raises(UsageError, match="cannot be put at"):
        world.place_ball((0.0, float("inf")))
    with pytest.raises(UsageError, match="robot type 5 is not known; types are 0 to 4"):
        world.join(3, 5)
    with pytest.raises(UsageError, match="left1 plays already"):
        world.join(LEFT, 0)


def test_a_cycle_that_is_done_ahead_is_the_same_as_one_that_is_not() -> None:
    rng = np.random.default_rng(3)
    plain, ahead = (MatchWorld(seats=4) for _ in range(2))
    slots = [0, 1, 11, 12]
    for world in (plain, ahead):
        for slot in slots:
            world.join(slot, 0)
    for cycle in range(40):
        speeds = rng.uniform(-2, 2, (4, 22))
        if cycle % 7:  # now and then somebody is not quick enough
            ahead.step_ahead()
        for world in (plain, ahead):
            world.command(slots, speeds)
            world.step()
        if cycle == 20:
            for world in (plain, ahead):
                world.place_ball((1.0, 0.5))
                world.settle()
        np.testing.assert_array_equal(plain.angles, ahead.angles)
        np.testing.assert_array_equal(plain.acc, ahead.acc)
        np.testing.assert_array_equal(plain.forces, ahead.forces)
        np.testing.assert_array_equal(plain.ball, ahead.ball)


def test_who_changes_the_world_after_a_cycle_was_done_ahead_finds_it_one_cycle_on() -> None:
    world = MatchWorld(seats=5)
    for slot in (0, 1, 2, 11):
        world.join(slot, 0)
    world.step()
    before = world.time
    world.step_ahead()
    world.step_ahead()  # it has been done already
    world.place_ball((2.0, 1.0))
    world.join(12, 0)
    assert world.time == pytest.approx(before + 0.02)
    world.step()
    assert world.time == pytest.approx(before + 0.02)
    np.testing.assert_allclose(world.ball[:2], (2.0, 1.0))
    assert world.playing.tolist() == [0, 1, 2, 11, 12]
    world.step()
    assert world.time == pytest.approx(before + 0.04)


@pytest.mark.parametrize("kind", [0, 3, 4])
def test_a_robot_moves_in_a_match_as_it_does_in_the_worlds_that_motions_are_learned_in(kind: int) -> None:
    placement = Placement(robot="nao-spark", name="r", type=f"type{kind}", pose="zero")
    worlds = Worlds(assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False)))
    robot, match = worlds.robot("r"), MatchWorld(seats=1, toed=int(kind == 4))
    match.join(LEFT, kind)
    match.place(LEFT, x=-3.0, y=1.0, height=0.5, heading=0.0)  # rounding decides where feet just touch the ground
    robot.pose[0, :3] = -3.0, 1.0, 0.5
    columns, rng = [JOINTS.index(name) for name in robot.table.motors], np.random.default_rng(kind)
    upright = []
    match.step()
    worlds.step()
    for cycle in range(100):
        if cycle % 5 == 0:
            row = np.zeros((1, 24))
            row[0, columns] = rng.uniform(-2, 2, len(columns))
        match.command([LEFT], row)
        match.step()  # with the command before it
        worlds.step()
        robot.command = row[:, columns]
        upright.append(robot.uprightness()[0])
        np.testing.assert_allclose(match.poses()[LEFT], robot.pose[0], atol=1e-5)
    assert min(upright) < 0.3, "it did not fall over"


def test_a_world_at_rest_is_left_out_until_somebody_is_told_to_move() -> None:
    world = MatchWorld(seats=1)
    world.join(0, 0)
    for _ in range(400):
        world.step()
    rested, time = world.ground.world.qpos.copy(), world.time
    told = world.acc[0].copy(), world.forces[0].copy()
    world.step()
    assert np.array_equal(world.ground.world.qpos, rested)
    assert world.time == pytest.approx(time + 0.02)
    assert np.array_equal(told[0], world.acc[0])
    assert np.array_equal(told[1], world.forces[0], equal_nan=True)
    world.swap_ends()
    world.step()
    assert world.position[11] == pytest.approx(rested[world.ground.seats["root"][0] + np.arange(3)], abs=1e-6)
    world.command([11], [np.full(22, -0.5)])
    for _ in range(3):
        world.step()
    assert np.abs(world.ground.world.qpos - rested).max() > 0.01


def test_feet_do_not_feel_that_a_parked_robot_falls_asleep() -> None:
    world = MatchWorld(seats=2)
    world.join(0, 0)
    vertical = []
    for _ in range(60):  # the engine tries to put the parked robot to sleep every ten steps
        world.step()
        vertical.append(world.forces[0, :2, 5].copy())
    np.testing.assert_allclose(vertical[20:], vertical[-1][0], atol=0.2)
