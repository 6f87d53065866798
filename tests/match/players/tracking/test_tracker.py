"""Beliefs against the truth: self-localisation, ball, others, and being told."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from nutmeg.base.records import new_records
from nutmeg.match.players.belief import Others
from nutmeg.match.players.tracking.tracker import Tracker, landmark_table
from nutmeg.match.worlds.behavioural.eyes import EyesSettings, load_eyes
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind, goal_posts_of
from nutmeg.match.worlds.behavioural.sonar import Sonar
from nutmeg.match.worlds.behavioural.state import MatchesState, Posture
from nutmeg.match.worlds.behavioural.vision import SightingRecord, Sightings, Vision
from nutmeg.model.field import load_field

FIELD = load_field("spl2011")
PLAYERS = [0, 1, 2, 3, 11, 12, 13, 14]
SIGN = np.where(np.arange(22) < 11, 1.0, -1.0)


@dataclass
class Stroll:
    """Players who walk from place to place with a noisy walk and look around, and what they believe."""

    count: int
    eyes: EyesSettings = field(default_factory=load_eyes)
    seed: int = 0
    known: bool = True

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.state = MatchesState(self.count)
        self.state.seed[:] = np.arange(self.count) + 100 * self.seed
        self.state.present[:, PLAYERS] = True
        self.state.pose[:] = self.rng.uniform((-3, -2, -3), (3, 2, 3), (self.count, 22, 3))
        self.vision = Vision(self.eyes, FIELD, ball_radius=0.0325, count=self.count)
        self.tracker = Tracker(self.eyes, FIELD, ball_radius=0.0325, rolling=0.25, count=self.count)
        self.pace, self.goals = np.zeros((self.count, 22, 3)), self.places()
        if self.known:
            for match in range(self.count):
                for slot in PLAYERS:
                    self.tracker.placed(match, slot, self.state.pose[match, slot])

    def places(self) -> np.ndarray:
        return self.rng.uniform((-3, -2), (3, 2), (self.count, 22, 2))

    def step(self) -> None:
        """One cycle: walk with the noise of `nao.toml`, turn the head, see, think, talk."""
        s = self.state
        way = self.goals - s.pose[..., :2]
        self.goals = np.where(np.hypot(way[..., 0], way[..., 1])[..., None] < 0.2, self.places(), self.goals)
        off = _wrapped(np.arctan2(way[..., 1], way[..., 0]) - s.pose[..., 2])
        wish = np.stack([np.where(np.abs(off) < 0.5, 0.2, 0.0), 0 * off, np.clip(2 * off, -0.8, 0.8)], -1)
        self.pace += np.clip(wish - self.pace, (-0.04, -0.04, -0.2), (0.04, 0.04, 0.2))
        noise = (0.01, 0.01, 0.05) + 0.1 * np.abs(self.pace)
        s.speed[:] = self.pace + noise * self.rng.normal(size=self.pace.shape)
        s.odometry[:] = 0.1 * self.pace
        half = s.pose[..., 2] + 0.05 * s.speed[..., 2]
        c, d = np.cos(half), np.sin(half)
        s.pose[..., 0] += 0.1 * (c * s.speed[..., 0] - d * s.speed[..., 1])
        s.pose[..., 1] += 0.1 * (d * s.speed[..., 0] + c * s.speed[..., 1])
        s.pose[..., 2] = _wrapped(s.pose[..., 2] + 0.1 * s.speed[..., 2])
        phase = 2 * np.pi * s.cycle[0] / 40.0
        s.head[:] = math.sin(phase), -0.2 + 0.15 * math.sin(2 * phase)
        s.cycle[:] += 1
        self.tracker.update(s, self.vision.see(s))
        self.tracker.hear(s)

    def errors(self) -> tuple[np.ndarray, np.ndarray]:
        """How far everybody's place [m] and heading [rad] are off, (M, players)."""
        beliefs, truth = self.tracker.beliefs, self.state.pose
        x, y = beliefs["x"] * SIGN - truth[..., 0], beliefs["y"] * SIGN - truth[..., 1]
        turn = _wrapped(beliefs["heading"] + np.where(SIGN < 0, np.pi, 0.0) - truth[..., 2])
        return np.hypot(x, y)[:, PLAYERS], np.abs(turn)[:, PLAYERS]


def _wrapped(angle: np.ndarray) -> np.ndarray:
    return (angle + np.pi) % (2 * np.pi) - np.pi


def test_who_looks_around_knows_where_it_is() -> None:
    stroll, places, turns = Stroll(16), [], []
    for _ in range(300):
        stroll.step()
        place, turn = stroll.errors()
        places.append(place)
        turns.append(turn)
    assert np.median(places) < 0.05
    assert np.quantile(places, 0.99) < 0.15
    assert np.median(turns) < math.radians(2.0)


def test_the_filter_is_as_sure_as_it_is_right() -> None:
    stroll = Stroll(16)
    ratios = []
    for cycle in range(200):
        stroll.step()
        if cycle % 20 == 19:
            ratios.append(stroll.errors()[0] / stroll.tracker.beliefs["spread"][:, PLAYERS])
    # the length of two normal errors over one deviation has the mean square 2
    assert 0.5 < np.mean(np.square(ratios)) < 5.0


def test_who_knows_nothing_finds_itself_by_looking_around() -> None:
    stroll = Stroll(8, known=False)
    for _ in range(250):
        stroll.step()
    place, turn = stroll.errors()
    assert (place < 0.2).mean() > 0.97
    assert (turn < 0.2).mean() > 0.97


def test_who_is_carried_away_finds_itself_again() -> None:
    stroll = Stroll(4)
    for _ in range(20):
        stroll.step()
    stroll.state.pose[:, 0] = -stroll.state.pose[:, 0] + (0.5, -0.5, 1.5)
    assert stroll.errors()[0][:, 0].min() > 0.4
    for _ in range(250):
        stroll.step()
    assert stroll.errors()[0][:, 0].max() < 0.2


def test_without_eyes_one_gets_lost() -> None:
    eyes = load_eyes("nao")
    blind = replace(eyes.vision, post_range=0.0, mark_range=0.0)
    stroll = Stroll(8, eyes=replace(eyes, vision=blind))
    for _ in range(200):
        stroll.step()
    place, _ = stroll.errors()
    assert np.median(place) > 0.05
    assert np.median(stroll.tracker.beliefs["spread"][:, PLAYERS]) > 0.05


def test_a_rolling_ball_is_tracked_with_its_velocity() -> None:
    eyes = load_eyes("nao")
    state = MatchesState(50)
    state.seed[:], state.present[:, 0] = np.arange(50), True
    state.head[:, 0] = 0.0, -0.2
    vision = Vision(eyes, FIELD, ball_radius=0.0325, count=50)
    tracker = Tracker(eyes, FIELD, ball_radius=0.0325, rolling=0.25, count=50)
    for match in range(50):
        tracker.placed(match, 0, state.pose[match, 0])
    speed, x = 0.7, 2.5
    for cycle in range(14):
        state.ball[:], state.cycle[:] = (x, 0.1), cycle
        tracker.update(state, vision.see(state))
        x, speed = x - 0.1 * (speed - 0.0125), speed - 0.025
    beliefs = [tracker.belief(match, 0, time=1.4) for match in range(50)]
    assert np.median([np.hypot(*(b.ball.place - state.ball[0])) for b in beliefs]) < 0.03
    velocities = np.array([b.ball.velocity for b in beliefs])
    np.testing.assert_allclose(np.median(velocities, axis=0), [-speed - 0.025, 0.0], atol=0.06)
    assert np.median([b.ball.seen_ago for b in beliefs]) == pytest.approx(0.0)


def test_a_kicked_ball_is_found_again() -> None:
    stroll = Stroll(1)
    s = stroll.state
    s.present[:] = False
    s.present[0, 0], s.pose[0, 0], s.head[0, 0] = True, 0.0, (0.0, -0.2)
    for x, y in [(1.0, 0.0)] * 5 + [(1.5, 0.2)] * 4:
        s.ball[0] = x, y
        s.cycle[:] += 1
        stroll.tracker.update(s, stroll.vision.see(s))
    ball = stroll.tracker.belief(0, 0, time=1.0).ball
    np.testing.assert_allclose(ball.place - stroll.tracker.belief(0, 0, time=1.0).me.place, [1.5, 0.2], atol=0.05)


def test_a_ball_that_one_does_not_see_is_where_team_mates_say() -> None:
    eyes = load_eyes("nao")
    eyes = replace(eyes, voices=replace(eyes.voices, loss=0.0))
    stroll = Stroll(1, eyes=eyes)
    s = stroll.state
    s.present[:] = False
    s.present[0, [0, 1, 11]] = True
    s.pose[0, 0], s.pose[0, 1], s.pose[0, 11] = (-2.0, 0.0, math.pi), (0.0, 0.0, 0.0), (-1.0, 1.0, math.pi)
    s.ball[0], s.head[:] = (1.0, 0.2), (0.0, -0.2)
    for slot in (0, 1, 11):
        stroll.tracker.placed(0, slot, s.pose[0, slot])
    for _ in range(20):
        s.cycle[:] += 1
        stroll.tracker.update(s, stroll.vision.see(s))
        stroll.tracker.hear(s)
    told = stroll.tracker.belief(0, 0, time=2.0)
    np.testing.assert_allclose(told.ball.place, [1.0, 0.2], atol=0.15)
    assert told.ball.seen_ago == math.inf
    assert told.ball.heard_ago < 0.4
    np.testing.assert_allclose(told.mates.places[1], [0.0, 0.0], atol=0.15)
    assert stroll.tracker.belief(0, 11, time=2.0).ball.heard_ago == math.inf


def test_robots_that_are_seen_become_tracks_of_their_team() -> None:
    stroll = Stroll(1)
    s = stroll.state
    s.present[:] = False
    s.present[0, [2, 12, 15]] = True
    s.pose[0, 2], s.pose[0, 12], s.pose[0, 15] = (0.0, 0.0, 0.0), (1.5, 0.4, 0.0), (2.0, -0.5, 0.0)
    s.head[:], s.posture[0, 15] = (0.0, -0.2), Posture.LYING
    stroll.tracker.placed(0, 2, s.pose[0, 2])
    for _ in range(20):
        s.cycle[:] += 1
        stroll.tracker.update(s, stroll.vision.see(s))
    belief = stroll.tracker.belief(0, 2, time=2.0)
    known = np.flatnonzero(belief.opponents.ages < 1.0)
    assert len(known) == 2
    order = known[np.argsort(belief.opponents.places[known, 0])]
    np.testing.assert_allclose(belief.opponents.places[order], [[1.5, 0.4], [2.0, -0.5]], atol=0.12)
    assert belief.opponents.fallen[order].tolist() == [False, True]
    np.testing.assert_allclose(belief.mates.places[2], belief.me.place)


def test_velocities_of_opponents_are_known_better_than_by_taking_them_for_standing() -> None:
    stroll, errors, speeds = Stroll(8), [], []
    for cycle in range(120):
        stroll.step()
        if cycle < 20:
            continue
        pose, (ahead, left, _) = stroll.state.pose, np.moveaxis(stroll.state.speed, -1, 0)
        c, s = np.cos(pose[..., 2]), np.sin(pose[..., 2])
        truth = np.stack([c * ahead - s * left, s * ahead + c * left], -1)
        for match, slot in np.ndindex(stroll.count, len(PLAYERS)):
            found, speed = opponents_of(stroll, match, PLAYERS[slot], truth)
            errors += found
            speeds += speed
    assert len(errors) > 2000
    assert np.median(errors) < 0.1
    assert np.quantile(errors, 0.95) < 0.27
    assert np.median(speeds) > 0.17


def opponents_of(stroll: Stroll, match: int, slot: int, truth: np.ndarray) -> tuple[list[float], list[float]]:
    """Errors of the velocities of opponents that a player sees, and how fast these are, m/s."""
    others, pose = stroll.tracker.beliefs[match, slot]["others"][11:], stroll.state.pose[match]
    rows = [k for k in PLAYERS if (k < 11) != (slot < 11)]
    errors, speeds = [], []
    for other in others[others["age"] < 0.05]:
        gaps = np.hypot(SIGN[slot] * other["x"] - pose[rows, 0], SIGN[slot] * other["y"] - pose[rows, 1])
        if gaps.min() < 0.3:
            u, v = truth[match, rows[int(gaps.argmin())]]
            errors.append(math.hypot(SIGN[slot] * other["vx"] - u, SIGN[slot] * other["vy"] - v))
            speeds.append(math.hypot(u, v))
    return errors, speeds


def test_team_mates_tell_how_fast_they_walk() -> None:
    eyes = load_eyes("nao")
    stroll = Stroll(1, eyes=replace(eyes, voices=replace(eyes.voices, loss=0.0)))
    s = stroll.state
    s.present[:] = False
    s.present[0, [0, 1]] = True
    s.pose[0, 0], s.pose[0, 1] = (-2.0, 0.0, math.pi), (0.0, 0.0, math.pi / 2)
    for slot in (0, 1):
        stroll.tracker.placed(0, slot, s.pose[0, slot])
    for _ in range(5):
        s.cycle[:] += 1
        s.odometry[0, 1] = 0.02, 0.0, 0.0
        s.pose[0, 1, 1] += 0.02
        stroll.tracker.update(s, stroll.vision.see(s))
        stroll.tracker.hear(s)
    np.testing.assert_allclose(stroll.tracker.belief(0, 0, time=0.5).mates.velocities[1], [0.0, 0.2], atol=0.02)


def test_an_ambiguous_landmark_between_two_candidates_is_not_taken() -> None:
    table = landmark_table(FIELD)
    tracker = Tracker(load_eyes("nao"), FIELD, ball_radius=0.0325, rolling=0.25, count=1)
    sights = Sightings(new_records(SightingRecord, 1, 22, 8), np.zeros((1, 22), np.int64))
    thing = sights.things[0, 0, 0]
    state = MatchesState(1)
    state.present[0, 0] = True
    tracker.placed(0, 0, np.array([-0.0, 0.0, math.pi / 2]))
    pose = tracker.minds[0, 0].pose
    pose.xx = pose.yy = 0.6**2
    crossings = table.landmarks[table.first[ObjectKind.X_CROSSING] : table.first[ObjectKind.X_CROSSING + 1]]
    np.testing.assert_allclose(np.sort(crossings["y"]), [-0.6, 0.6])
    sights.count[0, 0], thing.kind = 1, ObjectKind.X_CROSSING
    thing.distance, thing.bearing, thing.turn, thing.spread = 0.05, 0.0, np.nan, 0.02
    tracker.update(state, sights)
    assert tracker.beliefs["y"][0, 0] == pytest.approx(0.0)
    thing.kind = ObjectKind.CENTRE_CIRCLE
    tracker.update(state, sights)
    assert tracker.beliefs["y"][0, 0] == pytest.approx(-0.05, abs=0.01)


def test_minds_do_not_depend_on_what_else_is_in_the_batch() -> None:
    many, one = Stroll(3), Stroll(1)
    for name in ("seed", "present", "pose"):
        getattr(one.state, name)[0] = getattr(many.state, name)[2]
    for slot in PLAYERS:
        one.tracker.placed(0, slot, one.state.pose[0, slot])
    for _ in range(10):
        many.step()
        for name in ("pose", "speed", "odometry", "head", "cycle"):
            getattr(one.state, name)[0] = getattr(many.state, name)[2]
        one.tracker.update(one.state, one.vision.see(one.state))
        one.tracker.hear(one.state)
    alone, among = one.tracker.beliefs[0, PLAYERS], many.tracker.beliefs[2, PLAYERS]
    assert repr(alone.tolist()) == repr(among.tolist())  # NaN is not equal to itself
    assert all(np.isfinite(alone[name]).all() for name in ("x", "y", "heading", "ball_x", "ball_y"))
    assert (alone["seen_ago"] > 0.0).any()


def test_the_right_team_knows_its_place_in_its_own_frame() -> None:
    tracker = Tracker(load_eyes("nao"), FIELD, ball_radius=0.0325, rolling=0.25, count=1)
    tracker.placed(0, 13, np.array([2.0, 1.0, math.pi]))
    me = tracker.belief(0, 13, time=0.0).me
    assert (me.x, me.y) == (-2.0, -1.0)
    assert me.heading == pytest.approx(0.0)


def listening(pose: tuple[float, float, float], *others: tuple[float, float, float]) -> tuple[Stroll, Sonar]:
    """A player that looks away to the side, others on the other team, and its sonars."""
    stroll = Stroll(1)
    s = stroll.state
    s.present[:] = False
    s.present[0, [0, *range(11, 11 + len(others))]] = True
    s.pose[0, 0], s.head[0, 0] = pose, (1.9, 0.0)
    for slot, other in enumerate(others, 11):
        s.pose[0, slot] = other
    stroll.tracker.placed(0, 0, s.pose[0, 0])
    return stroll, Sonar(stroll.eyes, FIELD, count=1)


def listen(stroll: Stroll, sonar: Sonar, cycles: int) -> Others:
    for _ in range(cycles):
        stroll.state.cycle[:] += 1
        seen = stroll.vision.see(stroll.state)
        stroll.tracker.update(stroll.state, seen, sonar=sonar.listen(stroll.state))
    return stroll.tracker.belief(0, 0, time=1.0).opponents


@pytest.mark.parametrize("place", [(0.5, 0.18), (0.5, -0.18), (0.6, 0.0)])
def test_a_robot_that_is_heard_and_not_seen_becomes_a_track(place: tuple[float, float]) -> None:
    stroll, sonar = listening((0.0, 0.0, 0.0), (*place, 0.0))
    opponents = listen(stroll, sonar, 3)
    (known,) = np.flatnonzero(opponents.ages < 0.2)
    np.testing.assert_allclose(opponents.places[known], place, atol=0.1)


def test_a_robot_that_comes_near_out_of_sight_is_where_the_sonars_say() -> None:
    stroll, sonar = listening((0.0, 0.0, 0.0), (0.7, 0.05, math.pi))
    listen(stroll, sonar, 3)
    for x in np.linspace(0.7, 0.4, 15):
        stroll.state.pose[0, 11, 0] = x
        opponents = listen(stroll, sonar, 1)
    (known,) = np.flatnonzero(opponents.ages < 0.2)
    np.testing.assert_allclose(opponents.places[known], [0.4, 0.05], atol=0.07)


def test_a_robot_that_has_left_while_nobody_looked_is_forgotten() -> None:
    stroll, sonar = listening((0.0, 0.0, 0.0), (0.6, 0.2, 0.0))
    assert (listen(stroll, sonar, 3).ages < 0.2).sum() == 1
    stroll.state.pose[0, 11] = 2.5, 1.5, 0.0
    assert (listen(stroll, sonar, 8).ages >= stroll.eyes.tracker.others_memory).all()


def test_a_goal_post_that_answers_is_no_robot() -> None:
    post = goal_posts_of(FIELD)[3]
    stroll, sonar = listening((float(post[0]) - 0.5, float(post[1]) - 0.18, 0.0))
    assert np.isfinite(sonar.listen(stroll.state)[0, 0]).any()
    assert np.isinf(listen(stroll, sonar, 5).ages).all()


def test_a_player_that_does_not_use_its_sonars_hears_nothing() -> None:
    stroll, sonar = listening((0.0, 0.0, 0.0), (0.6, 0.0, 0.0))
    eyes = replace(stroll.eyes, tracker=replace(stroll.eyes.tracker, uses_sonar=False))
    stroll.tracker = Tracker(eyes, FIELD, ball_radius=0.0325, rolling=0.25, count=1)
    stroll.tracker.placed(0, 0, stroll.state.pose[0, 0])
    assert np.isinf(listen(stroll, sonar, 3).ages).all()
