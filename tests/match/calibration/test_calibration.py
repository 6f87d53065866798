"""The proof of the estimators: from matches of the behavioural world with known numbers, these numbers come out."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.constants import BEHAVIOURAL_CYCLE
from nutmeg.base.errors import UsageError
from nutmeg.match.behavioural_game import BehaviourGame, BehaviourSetup
from nutmeg.match.behavioural_games import BehaviourGames
from nutmeg.match.calibration.ball import friction_of
from nutmeg.match.calibration.calibrate import calibrate, estimate_all
from nutmeg.match.calibration.estimates import rate_estimate, robust_fit, share_estimate
from nutmeg.match.calibration.tracks import RobotTrack, Tracks, fallen_times, read_tracks
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.behavioural import request_row
from nutmeg.match.players.deciding_player import DecidingPlayer, PlayerSetup
from nutmeg.match.players.request import Dive, Kick, Look, Request, Walk
from nutmeg.match.players.tactics.tactician import strategy_decide
from nutmeg.match.rules.book import Rules, load_rules, pitch_of
from nutmeg.match.rules.slots import SLOT_NAMES
from nutmeg.match.worlds.behavioural.settings import BehaviourSettings, load_behaviour, write_behaviour
from nutmeg.match.worlds.behavioural.state import KickKind, Legs, Posture
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field
from nutmeg.motion.walk.files import read_walk
from nutmeg.recording import Channel, Manifest, Recording, RecordingWriter

FIELD = "sim3d-12x8"
KNOWN = {
    "walk.ahead": 0.5,
    "walk.side": 0.3,
    "walk.turn": 1.0,
    "walk.acceleration": 0.6,
    "walk.turn_acceleration": 3.0,
    "walk.ahead_noise": 0.04,
    "walk.turn_noise": 0.1,
    "kick.straight_distance": 4.0,
    "kick.straight_distance_spread": 0.15,
    "kick.straight_direction_spread": 0.1,
    "kick.wind_up": 0.5,
    "kick.follow_through": 0.4,
    "kick.fall": 0.1,
    "get_up.front": 2.0,
    "get_up.back": 2.5,
    "get_up.failure": 0.2,
    "get_up.turn": 0.3,
    "fall.walking": 0.01,
    "fall.fast": 0.02,
    "fall.collision": 1.0,
    "ball.damping": 0.8,
    "ball.deceleration": 0.1,
    "head.speed": 5.0,
    "bounce.robot": 0.6,
}
"""Numbers of the world that is calibrated; the base has others."""


def small_match(players: int, seconds: float) -> Rules:
    """The league's rules for a short match on a small pitch."""
    ground = load_field(FIELD)
    return (
        load_rules("sim3d")
        .on(pitch_of(ground, load_ball(ground.ball)))
        .with_match(automatic_kick_off=True, wait_before_kick_off=2.0, half_length=seconds, halves=1, players=players)
    )


def watched(truth: BehaviourSettings, *, matches: int, seconds: float) -> list[Tracks]:
    """Matches of compiled strategies, written down cycle by cycle, with their true postures."""
    rules = small_match(2, seconds)
    left, right = ("everyone-aims", "dribblers", "roles"), ("roles-no-keeper", "kick-anywhere", "dribblers")
    games = BehaviourGames(
        rules,
        left=[left[k % 3] for k in range(matches)],
        right=[right[k % 3] for k in range(matches)],
        seeds=range(matches),
        setup=BehaviourSetup(field=FIELD, settings=truth),
        players=2,
    )
    state, orders, every = games.world.state, games.world.orders, np.arange(matches)
    shown = "pose", "posture", "fallen_to", "head", "ball"
    kept: dict[str, list[np.ndarray]] = {name: [] for name in (*shown, "legs", "wish", "kick", "strength")}
    for _ in range(round(seconds / BEHAVIOURAL_CYCLE)):
        games.cycle(every)
        for name in shown:
            kept[name].append(getattr(state, name).copy())
        for name in ("legs", "wish", "kick", "strength"):
            kept[name].append(getattr(orders, name).copy())
    table = {name: np.array(rows) for name, rows in kept.items()}
    slots = np.flatnonzero(state.present[0]).tolist()
    radius = games.world.ball_radius
    return [
        Tracks(
            times=np.arange(1, len(table["ball"]) + 1) * np.float64(BEHAVIOURAL_CYCLE),
            robots={SLOT_NAMES[slot]: track_of(table, m, slot) for slot in slots},
            ball=table["ball"][:, m],
            ball_height=np.zeros(len(table["ball"])),
            half_length=rules.pitch.length / 2,
            half_width=rules.pitch.width / 2,
            ball_radius=radius,
            drawn=True,
            wishes_known=True,
        )
        for m in range(matches)
    ]


def track_of(table: dict[str, np.ndarray], match: int, slot: int) -> RobotTrack:
    """One player's way."""
    pose, posture = table["pose"][:, match, slot], table["posture"][:, match, slot]
    turned = np.diff(pose[:, 2], prepend=pose[0, 2])
    turned = (turned + math.pi) % math.tau - math.pi
    moved = np.diff(pose[:, :2], axis=0, prepend=pose[:1, :2])
    c, s = np.cos(pose[:, 2] - turned / 2), np.sin(pose[:, 2] - turned / 2)
    ahead, left = moved[:, 0] * c + moved[:, 1] * s, moved[:, 1] * c - moved[:, 0] * s
    legs = table["legs"][:, match, slot].astype(np.int64)
    wish = np.where((legs == Legs.WALK)[:, None], table["wish"][:, match, slot], 0.0)
    return RobotTrack(
        name=SLOT_NAMES[slot],
        playing=np.ones(len(pose), bool),
        present=np.hypot(ahead, left) < 0.15,
        place=pose[:, :2],
        heading=pose[:, 2],
        lies=(posture != Posture.UPRIGHT) & (posture != Posture.KICKING),
        lean=pose[:, 2] + table["fallen_to"][:, match, slot],
        legs=legs,
        wish=wish,
        kick=np.where(legs == Legs.KICK, table["kick"][:, match, slot], -1),
        strength=table["strength"][:, match, slot],
        speed=np.column_stack([ahead, left, turned]) / BEHAVIOURAL_CYCLE,
        yaw_rates=np.abs(np.diff(table["head"][:, match, slot, 0])) / BEHAVIOURAL_CYCLE,
    )


@pytest.mark.slow
def test_numbers_of_a_known_world_are_found_within_their_intervals() -> None:
    base = load_behaviour("nao-spark")
    truth = base.changed(KNOWN)
    tracks = watched(truth, matches=48, seconds=150.0)  # in 16, robots fall too seldom while walking
    found = {one.name: one for one in estimate_all(tracks, base, np.random.default_rng(0))}
    missing = [name for name in KNOWN if found[name].value is None]
    assert missing == [], {name: found[name].reason for name in missing}
    outside, far = [], []
    for name in KNOWN:
        one, true = found[name], truth.number(name)
        assert one.value is not None
        assert one.low is not None
        assert one.high is not None
        if not one.low <= true <= one.high:
            outside.append(f"{name}: {true} is not in {one.low:.4g} to {one.high:.4g}")
            # Few falls make wide intervals: outside them a number may be off by a quarter, or by an interval.
            if abs(one.value - true) > max(0.25 * true, one.high - one.low):
                far.append(f"{name}: {one.value:.4g} instead of {true}")
    assert far == []
    # One in ten is due. In sets of matches from seeds 100, 200 and 300 on 4, 2 and 5 of 24 were outside.
    assert len(outside) <= 5, outside
    assert found["kick.side_distance"].value is None
    assert "0 side kicks" in found["kick.side_distance"].reason


def recorded(tmp_path: Path, truth: BehaviourSettings, seconds: float) -> Path:
    """The recording of a small behavioural match."""
    path = tmp_path / "match.nutmeg"
    setup = BehaviourSetup(field=FIELD, settings=truth)
    game = BehaviourGame(small_match(1, seconds), seed=3, left="reds", right="blues", setup=setup, record=path)
    with game:
        players = game.team("reds", strategy_decide("dribblers")) | game.team("blues", strategy_decide("wanderer"))
        driver = GameLoop(game, players)
        game.record_with(minds=lambda: driver.players)
        driver.run()
    return path


def test_a_recording_tells_speeds_and_wishes_and_the_rest_stays_as_it_was(tmp_path: Path) -> None:
    base = load_behaviour("nao-spark")
    truth = base.changed({"walk.ahead": 0.5, "walk.acceleration": 0.6})
    path = recorded(tmp_path, truth, 60.0)
    tracks = read_tracks(Recording.open(path))
    assert tracks.drawn
    assert tracks.wishes_known
    assert set(tracks.robots) == {"left1", "right1"}
    assert set(np.unique(tracks.robots["right1"].legs)) <= {-1, *map(int, Legs)}
    found = calibrate([path], base=base, name="mine")
    ahead, quickly = found.estimates["walk.ahead"], found.estimates["walk.acceleration"]
    assert ahead.value == pytest.approx(0.5, rel=0.05)
    assert quickly.value == pytest.approx(0.6, rel=0.1)
    assert found.settings.walk.ahead == ahead.value
    assert found.settings.kick == dataclasses.replace(base.kick)
    assert found.estimates["kick.wind_up"].value is None
    assert "calibrated" in found.settings.source["walk.ahead"]
    write_behaviour(found.settings, tmp_path / "mine.toml")
    assert load_behaviour(tmp_path / "mine.toml") == found.settings


@pytest.mark.slow
def test_a_physical_match_tells_how_its_ball_rolls_and_its_heads_turn(tmp_path: Path) -> None:
    rules, path = small_match(1, 12.0), tmp_path / "physical.nutmeg"
    game = Game(rules, seed=1, left="reds", right="blues", seats=2, record=path, setup=PhysicalSetup(field=FIELD))
    setup = PlayerSetup(walk=read_walk("final"), players=1, field=FIELD, rules=rules, longest=0.0)
    players = {
        (team, 1): DecidingPlayer(strategy_decide(name), team, 1, setup)
        for team, name in (("reds", "kick-anywhere"), ("blues", "statue"))
    }
    with game:
        driver = GameLoop(game, players)
        game.record_with(minds=lambda: driver.players)
        driver.run()
    tracks = read_tracks(Recording.open(path))
    assert not tracks.drawn
    assert np.diff(tracks.times) == pytest.approx(BEHAVIOURAL_CYCLE, abs=1e-6)
    assert (tracks.robots["left1"].legs == int(Legs.WALK)).any()
    found = calibrate([path], base=load_behaviour("nao-spark"))
    assert found.estimates["head.speed"].value == pytest.approx(6.1, abs=0.3)
    assert found.estimates["get_up.side"].value is None
    assert found.settings.get_up.side == found.base.get_up.side


def test_what_players_want_is_kept_in_numbers() -> None:
    walk = request_row(Request(legs=Walk(ahead=0.3, left=-0.1, turn=0.5), look=Look(yaw=0.2, pitch=-0.4)))
    assert walk[:4] == (float(Legs.WALK), 0.3, -0.1, 0.5)
    assert walk[6:] == (0.2, -0.4)
    assert math.isnan(walk[4])
    kick = request_row(Request(legs=Kick(ball=(0.16, -0.04), kind="pass", strength=0.8)))
    assert kick[:6] == (float(Legs.KICK), 0.0, 0.0, 0.0, float(KickKind.RIGHT_STRAIGHT), 0.4)
    assert request_row(Request(legs=Dive(side="right")))[0] == float(Legs.DIVE_RIGHT)
    assert request_row(Request())[0] == float(Legs.STAND)


def test_friction_of_both_kinds_is_told_exactly() -> None:
    before = np.linspace(0.5, 4.0, 50)
    for a, b in ((0.3, 0.7), (0.0, 1.06), (0.4, 0.0)):
        lag = 0.3
        left = math.exp(-b * lag)
        after = left * before - (a * lag if b == 0 else a * (1 - left) / b)
        assert friction_of(np.column_stack([before, after])) == pytest.approx((a, b), abs=1e-9)


def test_intervals_of_rates_and_shares_are_the_exact_ones() -> None:
    rate = rate_estimate("fall.fast", events=5, exposure=10.0, samples=5, base=1.0)
    assert (rate.low, rate.high) == pytest.approx((0.16235, 1.16683), abs=1e-4)  # 1.6235 and 11.6683 for 5 events
    share = share_estimate("kick.fall", hits=3, trials=40, least=1, what="kicks")
    assert (share.low, share.high) == pytest.approx((0.015742, 0.203865), abs=1e-5)  # Clopper and Pearson
    assert share_estimate("kick.fall", hits=0, trials=40, least=1, what="kicks").low == 0.0
    assert rate_estimate("fall.fast", events=0, exposure=1.0, samples=0, base=1.0).value is None
    assert rate_estimate("fall.fast", events=0, exposure=1e3, samples=0, base=1.0).value == 0.0


def test_who_leans_a_little_is_still_what_it_was() -> None:
    tilt = np.radians([0.0, 30.0, 60.0, 30.0, 25.0, 10.0, 30.0])
    assert fallen_times(tilt, math.radians(20.0)).tolist() == [False, False, True, True, True, False, False]


def test_a_robust_fit_finds_a_line_beside_outliers() -> None:
    x = np.linspace(0.0, 1.0, 200)
    y = 2.0 + 3.0 * x
    y[::10] += 5.0
    fit = robust_fit(lambda p: (p[0] + p[1] * x - y) / 0.05, np.zeros(2), np.full(2, -9.0), np.full(2, 9.0))
    assert fit.x == pytest.approx([2.0, 3.0], abs=0.02)
    assert robust_fit(lambda p: p - 5.0, np.zeros(1), np.zeros(1), np.ones(1)).x == pytest.approx([1.0])


def test_nothing_to_calibrate_from_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least one recording"):
        calibrate([], base=load_behaviour("nao"))
    channel = Channel(name="nao.angle", labels=("a",), unit="rad")
    with RecordingWriter.create(tmp_path / "walk.nutmeg", Manifest(kind="walk", seed=0, channels=(channel,))) as writer:
        writer.append(0.0, np.zeros(1))
    with pytest.raises(UsageError, match="one of a match"):
        calibrate([tmp_path / "walk.nutmeg"], base=load_behaviour("nao"))
