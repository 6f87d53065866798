"""A real game behind real sockets: agents join, play and vanish, and whatever they send, the others notice nothing."""

from __future__ import annotations

import contextlib
import importlib.util
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from nutmeg.match.mj_game import MjGame
from nutmeg.match.players.booster import BoosterPlayer, BoosterSetup
from nutmeg.match.rules.book import load_rules
from nutmeg.match.worlds.mj.percept import EFFECTORS, Action, landmarks
from nutmeg.model.field import load_field
from nutmeg.net.agents import AgentLimits
from nutmeg.net.mj.agent import MjAgent, read_percept
from nutmeg.net.mj.percepts import percept_message
from nutmeg.net.mj.server import MJ
from nutmeg.net.simspark.server import ServerSettings

from ..conftest import Client, Served

STAND = "".join(f"({name} 0 0 100 2 0)" for name in EFFECTORS["t1"]).encode() + b"(syn)"


class Running(Served):
    """A synchronous server of a real game in a thread of its own."""

    def __init__(self, seats: dict[str, int], **limits: Any) -> None:
        game = MjGame(load_rules("ssim26"), seed=3, seats=seats)
        game.cycle({})
        settings = ServerSettings(agent_port=0, monitor_port=0, pace="sync", limits=AgentLimits(**limits))
        super().__init__(game, settings, MJ)

    def join(self, text: bytes) -> Client:
        """Connects an agent."""
        client = self.agent()
        client.send(text)
        return client

    def seat(self, text: bytes, players: int) -> Client:
        """Connects an agent and waits until so many play; nobody has answered meanwhile, so that no cycle begins."""
        client = self.join(text)
        self.wait_until(lambda: self.server.agents >= players)
        return client

    def close(self) -> None:
        super().close()
        self.game.close()


@contextlib.contextmanager
def running(seats: dict[str, int], **limits: Any) -> Iterator[Running]:
    one = Running(seats, **limits)
    try:
        yield one
    finally:
        one.close()


def height(percept: str) -> float:
    found = re.search(r"torso_pos\) \(p \S+ \S+ ([^)]+)\)", percept)
    assert found is not None
    return float(found[1])


def place(percept: str) -> list[float]:
    found = re.search(r"torso_pos\) \(p (\S+) (\S+) ", percept)
    assert found is not None
    return [float(number) for number in found.groups()]


def test_an_agent_joins_stands_and_is_told_what_the_protocol_says() -> None:
    with running({"t1": 1}) as here:
        agent = here.join(b"(init T1 reds 1)")
        first = agent.text()
        assert "(tl reds)(sl 0)(sr 0)" in first
        assert "(p -3.0 21.0 0.673)" in first
        percepts = [agent.answer(STAND) for _ in range(60)]
        assert sum("(See " in percept for percept in percepts) == 30
        assert 0.6 < height(percepts[-1]) < 0.7


def test_a_beam_counts_before_the_kick_off_and_not_during_play() -> None:
    with running({"t1": 1}) as here:
        agent = here.join(b"(init T1 reds 1)")
        agent.text()
        agent.answer(b"(beam 4 2 0)(syn)")
        assert place(agent.answer(STAND)) == pytest.approx([-4, 2], abs=0.01)
        trainer = here.monitor()
        trainer.send(b"(playMode PlayOn)")
        while "PlayOn" not in agent.answer(STAND):
            pass
        agent.answer(b"(beam 9 9 0)(syn)")
        assert place(agent.answer(STAND)) == pytest.approx([-4, 2], abs=0.1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"(init T2 reds 1)", "the model 'T2' is not known"),
        (b"(init K1 reds 2)", "no K1 is left"),
        (b"(init T1 reds 1)", "number 1 of the left team is taken"),
        (b"(init T1 greens 12)", "player number 12 is not possible"),
        (b"(hello)", "an agent begins with (init MODEL TEAM NUMBER)"),
    ],
)
def test_who_cannot_play_is_told_so_in_the_log_and_disconnected(text: bytes, reason: str) -> None:
    with running({"t1": 2}) as here:
        first = here.join(b"(init T1 reds 1)")
        first.text()
        refused = here.join(text)
        first.answer(STAND)
        with pytest.raises((EOFError, ConnectionError)):
            refused.text()
        assert any(reason in report.text for report in here.reports)
        assert height(first.answer(STAND)) > 0.5


def test_an_unknown_effector_hurts_nobody() -> None:
    with running({"t1": 1}) as here:
        agent = here.join(b"(init T1 reds 1)")
        agent.text()
        assert "torso_pos" in agent.answer(b"(xyz 1 2 3 4 5)(he9 1 2 3 4 5)(syn)")
        assert "torso_pos" in agent.answer(STAND)
        assert any("unknown effector 'xyz' of a T1" in report.text for report in here.reports)


def test_a_client_that_vanishes_leaves_its_robot_s_seat_to_the_next() -> None:
    with running({"t1": 2}) as here:
        stays = here.join(b"(init T1 reds 1)")
        stays.text()
        for _ in range(3):
            goes = here.seat(b"(init T1 blues 1)", 2)
            stays.answer(STAND)
            goes.socket.close()  # with a percept unread
            for _ in range(5):
                stays.answer(STAND)
            assert here.game.present.sum() == 1


def test_numbers_that_no_motor_can_bear_upset_only_their_own_robot() -> None:
    with running({"t1": 2}) as here:
        good = here.join(b"(init T1 reds 1)")
        wild = "".join(f"({name} 900000 900000 1e9 1e9 1e9)" for name in EFFECTORS["t1"]).encode() + b"(syn)"
        good.text()
        bad = here.seat(b"(init T1 blues 1)", 2)
        good.answer(STAND)
        bad.text()
        for _ in range(100):
            good.send(STAND)
            bad.send(wild)
            percept = good.text()
            assert "nan" not in bad.text()
        assert 0.6 < height(percept) < 0.7


def test_a_message_is_heard_by_others_and_not_by_its_speaker() -> None:
    with running({"t1": 2}) as here:
        one = here.join(b"(init T1 reds 1)")
        one.text()
        two = here.seat(b"(init T1 blues 1)", 2)
        one.answer(STAND)
        two.text()
        heard: dict[str, list[str]] = {"one": [], "two": []}
        for k in range(6):
            one.send(b"(SPK say 100 SGVsbG8=)(syn)" if k == 1 else STAND)
            two.send(STAND)
            heard["one"].append(one.text())
            heard["two"].append(two.text())
        assert ["(MIC hear )" in percept for percept in heard["one"]] == [False, False, True, False, False, False]
        assert ["SGVsbG8=" in percept for percept in heard["two"]] == [False, False, True, False, False, False]


def test_trainers_move_players_and_the_ball() -> None:
    with running({"t1": 1}) as here:
        agent, trainer = here.join(b"(init T1 reds 1)"), here.monitor()
        agent.text()
        trainer.send(b"(playMode PlayOn)(agent (unum 1)(team reds)(move 3 4 0.7 90))(ball (pos 1 2 0.11)(vel 1 0 0))")
        for _ in range(4):
            percept = agent.answer(STAND)
        assert trainer.text().startswith("((RSMP 1 0)((gt 1 0)")
        assert place(percept) == pytest.approx([3, 4], abs=0.1)
        assert here.game.world.ball[0] > 1.0


def outcome(seed: int) -> list[str]:
    """What two robots are told in a game of random motors and speech."""
    rng = np.random.default_rng(seed)
    from nutmeg.net.mj.effectors import read_orders
    from nutmeg.net.mj.percepts import PerceptWriter

    with MjGame(load_rules("ssim26"), seed=seed, seats={"t1": 2, "k1": 3}) as game:
        writer, told = PerceptWriter(game.world.marks), list[str]()
        slots = {game.enter(team, number, kind): kind for team, number, kind in TEAMS}
        for _ in range(40):
            actions = {}
            for slot, kind in slots.items():
                names = EFFECTORS[("t1", "k1")[kind]]
                text = "".join(f"({name} {rng.normal(0, 20):.3f} 0 20 0.3 0)" for name in names)
                actions[slot] = read_orders(f"{text}(SPK say 100 SGVsbG8=)".encode(), ("t1", "k1")[kind]).action
            percepts = game.cycle(actions)
            told += [writer.framed(percepts[slot])[4:].decode() for slot in slots]
            game.work_ahead()
    return told


TEAMS = (("reds", 1, 0), ("blues", 1, 1), ("reds", 2, 1), ("blues", 2, 0), ("blues", 3, 1))


def test_the_same_seed_gives_the_same_match_to_the_last_byte_and_another_one_does_not() -> None:
    first, again, other = outcome(1), outcome(1), outcome(2)
    assert first == again
    assert first != other


# ---- malformed messages

MESSAGES = 600


def flooding() -> ModuleType:
    """`scripts/flood_mj.py`, which sends a hundred thousand such messages to a server in real time."""
    place = Path(__file__).parents[3] / "scripts" / "flood_mj.py"
    spec = importlib.util.spec_from_file_location("flood_mj", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_polite_agent_plays_on_among_hundreds_of_malformed_messages() -> None:
    rng, malformed = np.random.default_rng(11), flooding().malformed
    # Rogues that joined and never answer would hold a synchronous server up: they are given little time.
    with running({"t1": 3, "k1": 2}, patience=0.2, handshake=1.0) as here:
        polite = here.join(b"(init T1 reds 1)")
        polite.text()
        rogues: list[socket.socket | None] = [None] * 12
        ports = (here.server.agent_port, here.server.monitor_port)
        percepts = [polite.answer(STAND)]
        for sent in range(MESSAGES):
            at = int(rng.integers(len(rogues)))
            try:
                rogue = rogues[at]
                if rogue is None:
                    rogue = rogues[at] = socket.create_connection(("127.0.0.1", ports[at % 4 == 0]), timeout=5.0)
                    rogue.settimeout(0.0)
                rogue.sendall(malformed(rng))
                if at % 2:
                    rogue.recv(65536)
            except BlockingIOError:
                pass
            except OSError:
                if rogues[at] is not None:
                    rogues[at].close()  # type: ignore[union-attr]
                rogues[at] = None
            if sent % 20 == 0:
                percepts.append(polite.answer(STAND))
        for rogue in rogues:
            if rogue is not None:
                rogue.close()
        percepts += [polite.answer(STAND) for _ in range(20)]
        assert here.server.connections >= 1
        # It was sent the percept of every cycle; times are cut to hundredths of a second.
        times = [float(percept.split("(now ")[1].split(")")[0]) for percept in percepts]
        assert np.diff(times) == pytest.approx(np.full(len(times) - 1, 0.02), abs=0.0101)
        assert all(np.isfinite(height(percept)) for percept in percepts)


def test_our_own_players_read_their_percepts_over_the_socket_and_stand() -> None:
    with running({"t1": 2}) as here:
        setup = BoosterSetup(players=2)
        agents = []
        for number in (1, 2):
            agent = MjAgent("127.0.0.1", here.server.agent_port, team="reds", number=number)
            agent.marks = (*landmarks(load_field("fifa7vs7")), "B")
            agents.append((agent, BoosterPlayer("reds", number, setup)))
        here.wait_until(lambda: here.server.agents == 2)
        for _ in range(80):
            for agent, player in agents:  # one after the other: who joined first is sent a percept alone
                percept = agent.perceive()
                assert percept is not None
                agent.answer(player.act(percept))
        assert percept.teams == ("reds", "")
        assert percept.position[2] > 0.6
        assert not any(report.kind == "problem" for report in here.reports)
        for agent, _ in agents:
            agent.close()


def test_a_percept_is_read_as_it_was_written() -> None:
    with MjGame(load_rules("ssim26"), seed=3, seats={"t1": 2}) as game:
        slots = [game.enter("reds", 3, 0), game.enter("blues", 4, 0)]
        game.cycle({slots[0]: Action(say=(1.0, b"hello"))})
        told = [game.cycle({}), game.cycle({})]
        for written in (told[0][slots[1]], told[1][slots[1]]):
            found = read_percept(percept_message(written, game.world.marks), "t1", game.world.marks)
            assert found.game.mode == written.game.mode
            assert found.teams == ("reds", "blues")
            for name in ("attitude", "position", "gyro", "acc", "angles", "rates"):
                assert getattr(found, name) == pytest.approx(getattr(written, name), abs=0.0101)
            assert found.heard == written.heard
            if written.sight is not None and found.sight is not None:
                assert found.sight.marks == pytest.approx(written.sight.marks, abs=0.0101, nan_ok=True)
                assert set(found.sight.numbers) <= set(written.sight.numbers)
    assert read_percept(b"(time (now x))(HJ)(See (B))(MIC)((()", "t1", ("B",)).time == 0.0
