"""The GameController: bytes of the public definitions, states of a match, robots that answer, and a match of AIBOs."""

from __future__ import annotations

import dataclasses
import socket
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.rules.book import Foul, Rules, load_rules
from nutmeg.match.rules.play_modes import PlayMode, Side
from nutmeg.match.rules.state import Held, MatchState, new_match
from nutmeg.model.scene import Placement
from nutmeg.net import game_controller
from nutmeg.net.game_controller import VERSIONS, ControllerSettings, GameController
from nutmeg.net.host.robot_host import HostSettings, RobotHost
from nutmeg.net.host.robot_match import RobotMatch, side_places, split_teams

FIVE = np.zeros((2, 11), bool)
FIVE[:, :5] = True
NOT_THERE = {18: "0e00" * 15, 20: "0d0000" * 15}
REFERENCE = {
    # Written by a C program with the header of GameController3, and by the Java class of GameController (whose own
    # bytes begin with the header of its referees, RGTD; robots get RGme).
    18: "52476d6512070700000003030118e0011900"
    "0500000102000000b00400000000021e00000000"
    + NOT_THERE[18]
    + "1801010101000000a60400000000000000000000"
    + NOT_THERE[18],
    20: "52476d6514070700000003060118e0011900"
    "0500000102000000b0040000000000000a1e00000000000000"
    + NOT_THERE[20]
    + "1801010101000000a604000000000000000000000000000000"
    + NOT_THERE[20],
}
STATUS = bytes.fromhex("52477274040318010080bbc400007a430000003f0000a03f000096430000a0c1")
"""Written by a C program with the header of GameController3: player 3 of team 24 has fallen at (-1500, 250, 0.5)."""


def spl(**match: Any) -> Rules:
    return load_rules("spl2025").with_match(**match)


def message_of(state: MatchState, rules: Rules | None = None, version: Any = 18, **more: Any) -> Any:
    settings = ControllerSettings(version=version, numbers=(5, 24))
    data = game_controller.control_message(state, rules or spl(), FIVE, settings, **more)
    return np.frombuffer(data, VERSIONS[version].layout)[0]


@pytest.mark.parametrize("version", [18, 20])
def test_control_messages_are_the_bytes_of_the_public_definitions(version: Any) -> None:
    state = new_match()
    state.mode, state.mode_time, state.time, state.elapsed = PlayMode.CORNER_KICK_RIGHT, 5.0, 120.0, 200.0
    state.score = (2, 1)
    state.held = (Held(side=Side.LEFT, index=2, foul=Foul.CHARGING, stamp=185.0, place=(0.0, 3.4)),)
    settings = ControllerSettings(version=version, numbers=(5, 24))
    found = game_controller.control_message(state, spl(), FIVE, settings, packet=7, budgets=(1200, 1190))
    assert found.hex() == REFERENCE[version]


def test_after_a_change_of_ends_every_team_keeps_its_own_score_and_penalties() -> None:
    state = new_match()
    state.mode, state.score, state.half = PlayMode.KICK_IN_LEFT, (3, 1), 2
    state.held = (Held(side=Side.LEFT, index=0, foul=Foul.INCAPABLE, stamp=0.0, place=(0.0, 3.4)),)
    message = message_of(state, swapped=True)
    assert message["teams"]["number"].tolist() == [5, 24]
    assert message["teams"]["score"].tolist() == [1, 3]
    assert message["kicking_team"] == 24
    assert message["teams"][1]["players"][0]["penalty"] == 4
    assert message["first_half"] == 0


def test_a_match_goes_through_the_leagues_states() -> None:
    rules = spl(wait_before_kick_off=20.0, goal_pause=20.0)
    told = []
    for mode, mode_time in (
        (PlayMode.BEFORE_KICK_OFF, 0.0),
        (PlayMode.BEFORE_KICK_OFF, 16.0),
        (PlayMode.KICK_OFF_LEFT, 1.0),
        (PlayMode.PLAY_ON, 0.0),
        (PlayMode.GOAL_LEFT, 2.0),
        (PlayMode.GAME_OVER, 0.0),
    ):
        state = new_match()
        state.mode, state.mode_time = mode, mode_time
        message = message_of(state, rules)
        told.append((int(message["state"]), int(message["kicking_team"]), int(message["secondary_time"])))
    assert told == [
        (game_controller.READY, 5, 15),
        (game_controller.SET, 5, 4),
        (game_controller.PLAYING, 5, 29),
        (game_controller.PLAYING, 255, 0),
        (game_controller.READY, 24, 13),
        (game_controller.FINISHED, 255, 0),
    ]
    assert message_of(new_match(), rules.with_match(automatic_kick_off=False))["state"] == game_controller.INITIAL
    shooting = new_match()
    shooting.half, shooting.mode = 5, PlayMode.PLAY_ON
    assert message_of(shooting)["phase"] == game_controller.PENALTY_SHOOT


def test_a_status_message_is_read_and_others_are_refused_with_a_reason() -> None:
    found = game_controller.read_status(STATUS, 1.5)
    assert not isinstance(found, str)
    key, status = found
    assert key == (24, 3)
    assert (status.fallen, status.pose, status.ball_age, status.ball) == (True, (-1500, 250, 0.5), 1.25, (300, -20))
    for data, reason in (
        (b"RGrt", "are no status message"),
        (STATUS[:4] + b"\x03" + STATUS[5:], "of version 3"),
        (STATUS[:5] + b"\0" + STATUS[6:], "of player 0"),
        (STATUS[:8] + b"\xff" * 24, "numbers that are none"),
    ):
        assert reason in str(game_controller.read_status(data, 0.0))


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(60)
        sock.bind(("127.0.0.1", 0))
        yield sock


def test_messages_come_twice_a_second_and_answers_and_team_messages_are_counted(listener: socket.socket) -> None:
    settings = ControllerSettings(address="127.0.0.1", port=listener.getsockname()[1], return_port=0, numbers=(24, 201))
    with GameController(settings, spl()) as controller, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as robot:
        for data in (STATUS, STATUS[:20], b"", bytes(2000)):
            robot.sendto(data, ("127.0.0.1", controller.return_port))
        robot.sendto(b"here I am", ("127.0.0.1", 10201))
        robot.sendto(bytes(200), ("127.0.0.1", 10201))
        for cycle in range(101):
            controller.update(0.02 * cycle, new_match(), FIVE, swapped=False)
        packets = [np.frombuffer(listener.recv(2048), VERSIONS[18].layout)[0] for _ in range(5)]
        assert [int(packet["packet"]) for packet in packets] == [0, 1, 2, 3, 4]
        assert packets[-1]["teams"]["message_budget"].tolist() == [1200, 1198]
        assert set(controller.robots) == {(24, 3)}
        assert controller.summary() == {
            "control_messages": 5,
            "robots_heard": 1,
            "team_messages": [0, 2],
            "refused_datagrams": 4,
        }


def test_two_aibos_play_a_match_whose_referee_sends_off_who_lies_and_counts_goals(listener: socket.socket) -> None:
    rules = spl(wait_before_kick_off=0.1, goal_pause=0.1)
    incapable = dataclasses.replace(
        rules.fouls.incapable,
        ground_time=0.4,
        goalie_ground_time=0.4,
        not_standing_time=0.4,
        goalie_not_standing_time=0.4,
    )
    rules = dataclasses.replace(rules, fouls=dataclasses.replace(rules.fouls, incapable=incapable))
    settings = ControllerSettings(address="127.0.0.1", port=listener.getsockname()[1], return_port=0, numbers=(61, 62))
    teams = split_teams(["ers7-1", "ers7-2"])
    places = side_places(rules, (1, 1))
    robots = tuple(
        Placement(robot="ers7", name=name, pos=place, heading=heading, pose="stand")
        for name, (place, heading) in zip(("ers7-1", "ers7-2"), places, strict=True)
    )
    match = RobotMatch(rules, teams, settings)
    with RobotHost(HostSettings(robots=robots, field="spl2025", speed=1000.0), [match]) as host:
        host.run(0.3)
        assert match.state.mode is PlayMode.KICK_OFF_LEFT
        match.state.mode = PlayMode.PLAY_ON
        host.worlds.put_ball((4.45, 0.0, 0.05), (3.0, 0.0, 0.0))
        host.run(0.1)
        assert match.state.score == (1, 0)
        host.run(0.2)
        pose = host.worlds.robot("ers7-2").pose
        pose[0, 2:] = 0.01, 0.7, 0.7, 0.0, 0.0  # somebody lays it on its side
        host.run(1.0)
        assert [held.foul for held in match.state.held] == [Foul.INCAPABLE]
        assert abs(host.worlds.robot("ers7-2").pose[0, 1]) > 3.2
        assert match.counts()["score"] == [1, 0]
    last = [
        np.frombuffer(listener.recv(2048), VERSIONS[18].layout)[0] for _ in range(match.counts()["control_messages"])
    ][-1]
    assert last["teams"]["score"].tolist() == [1, 0]
    assert last["teams"][1]["players"][0]["penalty"] == 4


def test_a_match_needs_two_robots_and_no_more_than_the_rules_allow() -> None:
    with pytest.raises(UsageError, match="at least two robots"):
        split_teams(["one"])
    with pytest.raises(UsageError, match="1 to 7 play"):
        RobotMatch(spl(), ([f"r{k}" for k in range(8)], ["x"]))
