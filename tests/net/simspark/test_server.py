"""A server with real sockets on free ports, and polite clients."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import EnvironmentProblem
from nutmeg.match.rules.play_modes import PlayMode, Side
from nutmeg.match.worlds.physical.percept import Action, Percept
from nutmeg.net.agents import AgentLimits
from nutmeg.net.simspark.agent import Agent, play_crowd, spark_lines
from nutmeg.net.simspark.server import Server, ServerSettings

Serve = Callable[..., Any]
QUICK = 0.002


def test_an_agent_is_told_its_number_and_side_once(serve: Serve) -> None:
    agent = serve(pace="sync").agent()
    first = agent.enter(team="Nutmeg", number=4)
    assert (first.game.number, first.game.side) == (4, Side.LEFT)
    agent.send(b"(syn)")
    assert agent.percept().game.number is None


def test_numbers_are_given_as_asked_for_or_as_they_are_free(serve: Serve) -> None:
    served = serve(cycle=QUICK)
    places = [served.agent().enter(team=team, number=n).game for team, n in [("A", 2), ("A", 0), ("A", 0), ("B", 0)]]
    assert [(place.side, place.number) for place in places] == [
        *((Side.LEFT, 2), (Side.LEFT, 1), (Side.LEFT, 3)),
        (Side.RIGHT, 1),
    ]


@pytest.mark.parametrize(
    ("team", "number", "reason"),
    [("C", 1, "team 'C' cannot join"), ("A", 1, "number 1 of the left team is taken"), ("Banned", 1, "may not play")],
)
def test_who_cannot_enter_is_disconnected_with_the_reason(serve: Serve, team: str, number: int, reason: str) -> None:
    served = serve(cycle=QUICK)
    served.agent().enter(team="A", number=1)
    if team == "C":
        served.agent().enter(team="B", number=1)
    late = served.agent()
    late.send(b"(scene rsg/agent/nao/nao_hetero.rsg 0)", b"(init (unum %d)(teamname %s))" % (number, team.encode()))
    assert late.ended()
    assert any(reason in text for text in served.texts("left"))


def test_players_keep_their_robots_when_the_teams_change_ends(serve: Serve, game: Any) -> None:
    served = serve(pace="sync")
    agent = served.agent()
    agent.enter(number=3)
    agent.send(b"(he1 1)(syn)")
    before = agent.percept().angles[0]
    game.swap_in = game.cycles + 1
    agent.send(b"(syn)")
    agent.percept()
    agent.send(b"(he2 1)(syn)")
    after = agent.percept().angles
    assert after[0] > before > 0
    assert after[1] > 0
    assert np.flatnonzero(game.present).tolist() == [13]
    agent.close()
    served.agent().enter(number=1)
    assert np.flatnonzero(game.present).tolist() == [11]


def test_an_agent_beyond_the_seats_is_refused_and_the_others_play_on(serve: Serve, game: Any) -> None:
    game.seats = 1
    served = serve(pace="sync")
    one, late = served.agent(), served.agent()
    one.enter()
    late.send(b"(scene rsg/agent/nao/nao_hetero.rsg 0)(init (unum 5)(teamname Nutmeg))")
    assert late.ended()
    assert "it was refused: there are only 1 seats." in served.texts("left")
    one.send(b"(syn)")
    one.percept()
    assert served.server.agents == 1


def test_an_agent_may_throw_the_answer_to_its_entry_away(serve: Serve) -> None:
    agent = serve(pace="sync", limits=AgentLimits(newcomers=0.0)).agent()
    agent.send(b"(scene rsg/agent/nao/nao.rsg)")
    agent.percept()
    agent.send(b"(init (unum 4)(teamname Thrifty))")
    agent.percept()
    while (told := agent.percept().game).number is None:
        pass
    assert (told.number, told.side) == (4, Side.LEFT)
    agent.send(b"(syn)")
    assert agent.percept().game.number is None


def test_speeds_turn_joints_until_they_are_changed(serve: Serve) -> None:
    agent = serve(pace="sync").agent()
    agent.enter(robot_type=4)
    agent.send(b"(he1 1.5)(rle7 -1)(syn)")
    angles = [agent.percept().angles]
    agent.send(b"(syn)")
    angles.append(agent.percept().angles)
    agent.send(b"(he1 0)", b"(syn)")
    angles.append(agent.percept().angles)
    turned = np.degrees(1.5) * 0.02
    assert [row[0] for row in angles] == pytest.approx([turned, 2 * turned, 2 * turned], abs=0.01)
    assert angles[2][22] == pytest.approx(3 * np.degrees(-1) * 0.02, abs=0.01)


def both_with_robots(served: Any) -> tuple[Any, Any]:
    """Two agents that have had the same percept, and not answered it."""
    one, other = served.agent(), served.agent()
    one.enter(team="A")
    other.send(b"(scene rsg/agent/nao/nao_hetero.rsg 0)")
    served.wait_for_robots(2)
    one.send(b"(syn)")
    assert other.percept().time == one.percept().time
    return one, other


def test_a_synchronous_server_waits_for_everybody(serve: Serve, game: Any) -> None:
    served = serve(pace="sync")
    one, other = both_with_robots(served)
    before = game.cycles
    one.send(b"(he1 1)(syn)")
    other.send(b"(he1 1)")
    one.socket.settimeout(0.3)
    with pytest.raises(TimeoutError):
        one.receive()
    assert game.cycles == before
    one.socket.settimeout(120.0)
    other.send(b"(syn)")
    assert one.percept().time == other.percept().time
    assert game.cycles == before + 1


def test_one_who_leaves_is_not_waited_for(serve: Serve, game: Any) -> None:
    served = serve(pace="sync")
    one, other = both_with_robots(served)
    other.close()
    one.send(b"(syn)")
    assert one.percept().game.mode == "BeforeKickOff"


def test_a_fast_server_goes_on_when_everybody_has_answered(serve: Serve) -> None:
    served = serve(pace="fast", cycle=1e6)
    agent = served.agent()
    agent.enter()
    times = []
    for _ in range(5):
        agent.send(b"(he1 0)")
        times.append(agent.percept().time)
    assert np.diff(times) == pytest.approx(np.full(4, 0.02), abs=1e-9)


def test_a_server_in_real_time_waits_for_nobody(serve: Serve) -> None:
    agent = serve(cycle=QUICK).agent()
    agent.enter()
    times = [agent.percept().time for _ in range(20)]
    assert np.diff(times) == pytest.approx(np.full(19, 0.02), abs=1e-9)


def test_the_recorded_agents_are_served_without_a_complaint(serve: Serve, recorded: SimpleNamespace) -> None:
    served = serve(pace="sync")
    starts = [i for i, message in enumerate(recorded.from_agents) if b"(scene" in message]
    for start, end in zip(starts, [*starts[1:], len(recorded.from_agents)], strict=True):
        agent = served.agent()
        for message in recorded.from_agents[start:end]:
            agent.send(message)
            agent.percept()
        agent.close()
    assert served.texts("problem") == []
    assert [text.split(",")[0] for text in served.texts("joined")] == ["number 2 of UTA", "number 2 of FCP"]


def test_a_player_of_ours_plays_over_the_socket(serve: Serve, game: Any) -> None:
    class Nodder:
        def act(self, percept: Percept) -> Action:
            return Action(speeds=np.full(22, 0.5), say="nod", beam=(-2.0, 1.0, 0.0))

    served = serve(pace="sync")
    with Agent("127.0.0.1", served.server.agent_port, team="Nodders", number=5) as agent:
        assert agent.play(Nodder(), cycles=10) == 10
    assert game.angles[4, 0] > 0
    assert game.said[0] == (4, "nod")
    assert game.places[4, 0] == -2.0


def test_a_crowd_of_two_teams_plays_in_step(serve: Serve, game: Any) -> None:
    served = serve(pace="sync")
    assert play_crowd("127.0.0.1", served.server.agent_port, 22, spark_lines(), percepts=10) >= 220
    assert set(game.team_names) == {"Extras", "Others"}
    assert served.texts("problem") == []
    assert len(served.texts("joined")) == 22


def test_a_monitor_sees_everything_and_then_what_changes(serve: Serve, game: Any) -> None:
    served = serve(cycle=QUICK)
    served.agent().enter()
    monitor = served.monitor()
    first = monitor.receive()
    assert first.startswith(b"((FieldLength 30)")
    assert b"(RSG 0 1)" in first
    assert b"(RDS 0 1)" in monitor.receive()
    monitor.send(b"(reqfullstate)(score 3 2)")
    frame = b""
    while not (b"(RSG 0 1)" in frame and b"(score_left 3)(score_right 2)" in frame):
        frame = monitor.receive()
    served.agent().enter()
    while b"(RSG 0 1)" not in monitor.receive():
        pass


def test_trainers_are_obeyed_even_if_they_never_read(serve: Serve, game: Any) -> None:
    served = serve(cycle=QUICK, limits=AgentLimits(socket_buffer=4096))
    agent, trainer = served.agent(), served.monitor()
    agent.enter(number=7)
    while served.game.cycles < 200:
        agent.percept()
    trainer.send(
        b"(playMode PlayOn)(ball (pos 1 2 0.042)(vel 3 0 0))", b"(agent (unum 7)(team Left)(move -3 4 0.4 90))"
    )
    trainer.send(b"(time 12.5)", b"(repos (unum 7)(team Right))")
    while agent.percept().game.time != 12.5:
        pass
    assert game.mode is PlayMode.PLAY_ON
    assert game.ball.tolist() == [1.0, 2.0, 0.042]
    assert game.ball_velocity.tolist() == [3.0, 0.0, 0.0]
    assert game.places[6].tolist() == [-3.0, 4.0, 0.4]
    assert game.headings[6] == 180.0
    trainer.send(b"(select)(kill)")
    assert agent.ended()
    assert any("player 7 of the right team is not in the game" in text for text in served.texts("problem"))
    assert "a trainer removed it" in served.texts("left")


def test_killsim_ends_the_server_and_everybody_is_disconnected(serve: Serve) -> None:
    served = serve(cycle=QUICK)
    agent = served.agent()
    agent.enter()
    served.monitor().send(b"(killsim)")
    served.thread.join(120.0)
    assert not served.thread.is_alive()
    served.server.close()
    assert agent.ended()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", served.server.agent_port), timeout=1.0)


def test_ctrl_c_ends_the_server_at_the_end_of_a_cycle(game: Any) -> None:
    before = signal.getsignal(signal.SIGINT)
    with Server(game, ServerSettings(agent_port=0, monitor_port=0)) as server:

        def press() -> None:
            while not server.cycles:
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=press)
        thread.start()
        server.run()
        thread.join()
    assert signal.getsignal(signal.SIGINT) is before


def test_so_many_cycles_are_played_as_asked_for(game: Any) -> None:
    with Server(game, ServerSettings(agent_port=0, monitor_port=0, cycle=QUICK)) as server:
        server.run(cycles=7)
        assert server.cycles == game.cycles == 7
        assert server.agents == server.connections == 0


def test_a_port_that_is_taken_is_said(game: Any) -> None:
    with (
        Server(game, ServerSettings(agent_port=0, monitor_port=0)) as server,
        pytest.raises(EnvironmentProblem, match=f"port {server.agent_port}"),
    ):
        Server(game, ServerSettings(agent_port=server.agent_port, monitor_port=0))
