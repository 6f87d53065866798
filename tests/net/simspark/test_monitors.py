"""Frames for monitors against those the league's server has sent."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from nutmeg.match.rules.book import Foul
from nutmeg.match.rules.decisions import Event
from nutmeg.match.rules.play_modes import PlayMode, Side
from nutmeg.net.simspark import sexpr
from nutmeg.net.simspark.monitors import MonitorFrames


def tree(message: bytes) -> Any:
    """Header, kind of frame, and scene."""
    reading = sexpr.parse(message, max_depth=20, max_words=1 << 20)
    assert reading.problem is None
    header, kind, scene = reading.expressions
    return header, kind, scene


def shape(node: Any) -> Any:
    """A node without its numbers: kinds, meshes, sizes and materials, nested as they are."""
    kept = [part for part in node if not (isinstance(part, list) and part[0] == b"SLT")]
    return [shape(part) if isinstance(part, list) and part[0] == b"nd" else part for part in kept]


def without_visibility(node: Any) -> Any:
    """The first difference frame of a recording also tells what is visible; later ones do not."""
    return [without_visibility(p) if isinstance(p, list) else p for p in node if p != [b"setVisible", b"1"]]


def three_robots(game: Any) -> MonitorFrames:
    """The cast of the recording."""
    game.join(Side.LEFT, 2, 0, "UTA")
    game.join(Side.LEFT, 9, 4, "UTA")
    game.join(Side.RIGHT, 9, 4, "FCP")
    frames = MonitorFrames(game)
    frames.look()
    return frames


def test_the_header_of_a_full_frame_is_the_recorded_one(game: Any, recorded: SimpleNamespace) -> None:
    frame = three_robots(game).full()
    ours, theirs = frame.partition(b"(RSG 0 1)"), recorded.to_monitor[0].partition(b"(RSG 0 1)")
    assert ours[:2] == theirs[:2]


def test_the_scene_is_built_as_in_the_recording_node_by_node(game: Any, recorded: SimpleNamespace) -> None:
    _, kind, ours = tree(three_robots(game).full())
    _, their_kind, theirs = tree(recorded.to_monitor[0])
    assert kind == their_kind
    assert [shape(node) for node in ours] == [shape(node) for node in theirs]
    assert b"soccerball.obj" in repr(ours[35]).encode()


def test_a_still_transform_is_the_recorded_one(game: Any, recorded: SimpleNamespace) -> None:
    ours, theirs = tree(three_robots(game).full())[2], tree(recorded.to_monitor[0])[2]
    for mine, other in zip(ours[:35], theirs[:35], strict=True):
        found, wanted = ([float(v) for v in node[2][1:]] for node in (mine, other))
        np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_a_difference_frame_has_the_recorded_structure(game: Any, recorded: SimpleNamespace) -> None:
    frames = three_robots(game)
    game.set_time(0.04)
    game.kick_off(Side.LEFT)
    frames.look()
    ours, theirs = frames.difference(), recorded.to_monitor[-1]
    assert ours.partition(b"(RDS")[0] == theirs.partition(b"(RDS")[0] == b"((time 0.04)(play_mode 1))"
    assert [shape(node) for node in nodes_of(ours)] == [shape(node) for node in nodes_of(theirs)]
    assert b"SLT" not in ours


def called(foul: Foul, side: Side, number: int) -> Event:
    return Event(kind="foul", time=3.0, side=side, number=number, foul=foul, text=f"{side.word} {number}")


def test_each_report_of_a_foul_is_told_once_as_the_leagues_server_writes_it(game: Any) -> None:
    frames = three_robots(game)
    assert b"(foul" not in frames.full()
    game.foul_reports += [
        called(Foul.TOUCHING, Side.LEFT, 9),
        called(Foul.PUSHING, Side.LEFT, 2),
        called(Foul.KICK_OFF, Side.LEFT, 2),
    ]
    game.foul_reports.append(called(Foul.SELF_COLLISION, Side.RIGHT, 9))
    frames.look()
    told = b"(foul 1 1 1 9)(foul 2 7 2 9))"  # index, kind, team, number; the league tells no other kinds
    assert frames.difference().partition(b"(RDS")[0].endswith(told)
    assert frames.full().partition(b"(RSG")[0].endswith(told)
    frames.look()
    assert b"(foul" not in frames.difference()
    game.foul_reports.append(called(Foul.CHARGING, Side.LEFT, 2))
    frames.look()
    assert frames.difference().startswith(b"((time 0)(foul 3 6 1 2))")


def nodes_of(difference: bytes) -> list[Any]:
    return without_visibility(tree(difference)[2])


def test_a_robot_that_moved_is_told_and_one_that_hardly_did_is_not(game: Any) -> None:
    frames = three_robots(game)
    game.places[1] += [0.5, 0.0, 0.0]
    game.places[8] += [0.004, 0.0, 0.0]
    frames.look()
    first, second, third = tree(frames.difference())[2][-3:]
    assert repr(first).count("SLT") == 23
    assert "SLT" not in repr([second, third])
    game.places[8] += [0.004, 0.0, 0.0]
    frames.look()
    first, second, third = tree(frames.difference())[2][-3:]
    assert repr(second).count("SLT") == 25, "small changes add up until they are told"
    assert "SLT" not in repr([first, third])


def test_a_robot_that_looks_to_the_right_goal_has_its_y_axis_there(game: Any) -> None:
    frames = three_robots(game)
    torso = tree(frames.full())[2][-3][3]
    columns = np.array([float(v) for v in torso[2][1:]]).reshape(4, 4)
    np.testing.assert_allclose(columns[0], [0, -1, 0, 0], atol=1e-9)
    np.testing.assert_allclose(columns[1], [1, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(columns[3], [*game.places[1], 1])


def test_whoever_comes_or_goes_makes_a_full_frame_necessary(game: Any) -> None:
    frames = three_robots(game)
    assert frames.robots_changed
    frames.look()
    assert not frames.robots_changed
    game.leave(1)
    frames.look()
    assert frames.robots_changed
    assert frames.full().count(b"naohead.obj") == 2


def test_a_score_is_told_once_when_it_changes(game: Any) -> None:
    frames = three_robots(game)
    game.set_score(1, 0)
    game.set_play_mode(PlayMode.GOAL_LEFT)
    frames.look()
    assert frames.difference().startswith(b"((time 0)(score_left 1)(play_mode 13))(RDS 0 1)((nd(nd))")
    frames.look()
    assert frames.difference().startswith(b"((time 0))(RDS")
