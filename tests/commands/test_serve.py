"""`nutmeg serve` on the command line: a process of its own, real agents, monitors and signals."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nutmeg.cli import main
from nutmeg.commands.agents import play_all, rehearse_booster
from nutmeg.commands.agents import rehearse as rehearse_team
from nutmeg.commands.serve import rehearse
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.loop import GameLoop
from nutmeg.match.mj_game import MjGame
from nutmeg.match.players.booster import BoosterSetup, booster_team, walking_setup
from nutmeg.match.players.deciding_player import by_number, make_team
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.worlds.physical.percept import Action, Percept
from nutmeg.net.simspark.agent import Agent
from nutmeg.net.simspark.percepts import percept_message
from nutmeg.net.simspark.server import Server, ServerSettings
from nutmeg.net.simspark.sexpr import Unframer, framed
from nutmeg.recording import Recording

FREE = ("--agent-port", "0", "--monitor-port", "0", "--no-view")


class Serving:
    """A server in a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        command = [sys.executable, "-W", "error", "-m", "nutmeg", "serve", *FREE, *options]
        self.process = subprocess.Popen(
            command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        assert self.process.stdout is not None
        self.lines: list[str] = []
        while (line := self.process.stdout.readline().strip()) != "ready":
            assert line, f"ended before it was ready: {self.process.communicate()[1]}"
            self.lines.append(line)

    def ports(self) -> tuple[int, int]:
        words = next(line for line in self.lines if "agents on" in line).replace(";", "").split()
        ports = [int(words[at + 1]) for at, word in enumerate(words) if word == "port"]
        return ports[0], ports[1]

    def ended(self) -> tuple[str, str]:
        """What it said, once it has ended by itself."""
        out, problems = self.process.communicate(timeout=240)
        return out, problems

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Any]:
    started: list[Serving] = []

    def start(*options: str) -> Serving:
        started.append(Serving(tmp_path, *options))
        return started[-1]

    yield start
    for one in started:
        one.kill()


class Statue:
    """Stands where it is put, and remembers what it was told."""

    def __init__(self) -> None:
        self.percepts: list[Percept] = []

    def act(self, percept: Percept) -> Action:
        self.percepts.append(percept)
        return Action(speeds=-np.radians(percept.angles), beam=(-1.0, 0.0, 0.0))


class ShortGame(Game):
    """Over once both of a team have played for a while."""

    cycles_of_both = 0

    @property
    def over(self) -> bool:
        self.cycles_of_both += int(self.present.sum()) == 2
        return self.cycles_of_both > 30


def play(port: int, team: str, cycles: int) -> Statue:
    statue = Statue()
    with Agent(port=port, team=team) as agent:
        agent.play(statue, cycles)
    return statue


@pytest.mark.slow
def test_agents_play_and_the_end_by_a_signal_leaves_a_whole_recording(serving: Any, tmp_path: Path) -> None:
    served = serving("--sync", "--ground-truth", "--players", "2", "--seed", "3", "--record", "mine.nutmeg")
    port, _ = served.ports()
    others: list[Statue] = []
    thread = threading.Thread(target=lambda: others.append(play(port, "blues", 40)))
    thread.start()
    statue = play(port, "reds", 60)
    thread.join()
    first, second = zip(*(one.percepts[:2] for one in (statue, others[0])), strict=True)
    assert [percept.game.side for percept in first] == [None, None]  # it comes in the second, as the league has it
    assert {percept.game.side for percept in second} == {0, 1}
    sights = [percept.sight for percept in statue.percepts if percept.sight is not None]
    assert sights[0].my_position is not None
    served.process.send_signal(signal.SIGTERM)
    out, problems = served.ended()
    assert (served.process.returncode, problems) == (0, "")
    assert "nutmeg replay mine.nutmeg" in out
    recording = Recording.open(tmp_path / "mine.nutmeg")
    assert recording.finished
    assert [event["kind"] for event in recording.events].count("join") == 2


@pytest.mark.slow
def test_a_trainer_ends_it_and_the_summary_is_the_last_line(serving: Any, tmp_path: Path) -> None:
    served = serving("--fast", "--players", "1", "--json")
    port = int(served.process.stderr.readline().split("monitors on port ")[1])
    with socket.create_connection(("127.0.0.1", port), timeout=120.0) as trainer:
        trainer.sendall(framed(b"(kickOff Left)") + framed(b"(killsim)"))
        out, _ = served.ended()
    found = json.loads(out.strip().splitlines()[-1])
    assert served.process.returncode == 0
    assert found["mode"] == "KickOff_Left"
    assert found["cycles"] >= 1
    assert found["recording"] == "runs/serve-1/match.nutmeg"
    assert Recording.open(tmp_path / found["recording"]).finished


@pytest.mark.slow
def test_ctrl_c_ends_all_processes_without_a_traceback(serving: Any) -> None:
    served = serving("--sync", "--no-record", "--players", "2", "--automatic-kick-off")
    port, _ = served.ports()
    play(port, "reds", 5)
    os.killpg(served.process.pid, signal.SIGINT)  # as a terminal does: the processes that it started hear it, too
    out, problems = served.ended()
    assert (served.process.returncode, problems) == (0, "")
    assert "reds 0 : 0 nobody" in out
    assert "recording" not in out


@pytest.mark.slow
def test_an_agent_that_hangs_is_disconnected_after_the_patience_that_was_asked_for(serving: Any) -> None:
    served = serving("--fast", "--sync", "--patience", "0.5", "--no-record", "--players", "1")
    with Agent(port=served.ports()[0], team="reds") as agent:
        agent.play(Statue(), 5)
        while agent.receive() is not None:  # and never answers again
            pass
    served.process.send_signal(signal.SIGTERM)
    out, _ = served.ended()
    assert served.process.returncode == 0
    assert "it has not sent (syn) for 0.5 s" in out


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_server_that_still_starts(number: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "nutmeg", "serve", *FREE]
    with subprocess.Popen(
        command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stderr is not None
        while "nutmeg.base.interrupts" not in process.stderr.readline():
            pass
        while "mujoco" not in process.stderr.readline():  # somewhere among the imports
            pass
        process.send_signal(number)
        out, _ = process.communicate(timeout=240)
    assert process.returncode in (130, -signal.SIGINT)
    assert "ready" not in out


@pytest.mark.slow
def test_a_match_that_is_over_ends_the_server_if_that_was_asked_for(serving: Any) -> None:
    rules = ("--automatic-kick-off", "--wait-before-kick-off", "0.1", "--half-length", "0.5", "--halves", "1")
    served = serving("--sync", "--until-over", "--no-record", "--players", "1", *rules)
    play(served.ports()[0], "reds", 10_000)
    out, _ = served.ended()
    assert served.process.returncode == 0
    assert "GameOver" in out


def test_a_port_in_use_is_named_before_anything_is_built(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["serve", "--agent-port", str(port), "--no-view"]) == 3
    assert f"port {port} on 127.0.0.1 is already in use" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--patience", "0"], "--patience is 0; allowed is above 0"),
        (["--no-record", "--record", "a"], "--record and --no-record do not go together"),
        (["--agent-port", "70000"], "--agent-port is 70000; allowed is 0..65535"),
        (["--agent-port", "3300", "--monitor-port", "3300"], "--monitor-port is 3300, as another port is"),
        (["--seed", "-1"], "--seed is -1; allowed is 0 or more"),
        (["--players", "12"], "players is 12; allowed are 1 to 11"),
        (["--half-length", "0"], "half_length is 0"),
        (["--halves", "3"], "--halves is 3; allowed is 1..2"),
        (["--rules", "simd"], "unknown rule book 'simd'. Did you mean 'sim3d'?"),
        (["--left", "holonomick"], "unknown walk 'holonomick'"),
    ],
)
def test_wrong_values_are_told(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *options]) == 2
    assert said in capsys.readouterr().err


def test_a_player_of_ones_own_that_fails_is_named_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own.py"
    own.write_text("class Bad:\n    def __init__(self, *_): pass\n    def act(self, percept): return 1 / 0\n")
    with Server(Game(load_rules("sim3d"), seed=1, seats=1), ServerSettings(agent_port=0, monitor_port=0)) as server:
        thread = threading.Thread(target=server.run)
        thread.start()
        call = ["agents", "Ours", "--player", f"{own}:Bad", "--players", "1", "--port", str(server.agent_port)]
        assert main(call) == 1
        server.stop()
        thread.join()
    said = capsys.readouterr().err
    assert "number 1 of 'Ours' failed." in said
    assert "own.py, line 3: ZeroDivisionError" in said
    assert "Traceback" not in said


@pytest.mark.slow
def test_a_team_of_ours_plays_over_the_socket_until_the_server_ends_it(capsys: pytest.CaptureFixture[str]) -> None:
    game = ShortGame(load_rules("sim3d"), seed=1, seats=2)
    with Server(game, ServerSettings(agent_port=0, monitor_port=0, pace="sync")) as server:
        thread = threading.Thread(target=lambda: (server.run(until=lambda: game.over), server.close()))
        thread.start()
        call = ["agents", "Ours", "--walk", "initial", "--players", "2", "--port", str(server.agent_port), "--json"]
        assert main(call) == 0
        thread.join()
    found = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
    assert found["team"] == "Ours"
    assert set(found["cycles"]) == {"1", "2"}
    assert min(found["cycles"].values()) > 20
    assert game.team_names == ("Ours", "")


@pytest.mark.parametrize("options", [["--walk", "policy"], ["--protocol", "mj"]])
def test_agents_without_a_server_are_told_so_before_players_are_made(
    options: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_players(*_: object) -> None:
        raise AssertionError("players were made")

    monkeypatch.setattr("nutmeg.commands.agents._players", no_players)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert main(["agents", "--players", "1", "--port", str(port), *options]) == 3
    assert f"no server answers on 127.0.0.1, port {port}" in capsys.readouterr().err
    assert main(["agents", "--host", "nowhere.invalid", *options]) == 3
    assert "no server answers on nowhere.invalid" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["Two words"], "the team's name is 'Two words'"),
        (["A", "--players", "0"], "--players is 0; allowed are 1 to 11"),
        (["A", "--numbers", "1,9"], "--numbers is '1,9'; needed are numbers from 1 to 4"),
        (["A", "--strategy", "pacient"], "patient"),
        (["A", "--strategy", "patient", "--player", "own.py:Mine"], "a player of your own decides for itself"),
    ],
)
def test_wrong_values_for_agents_are_told(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agents", *options]) == 2
    assert said in capsys.readouterr().err


class Counted:
    """A player that notes how many of its team have been told their numbers."""

    robot_type = 0

    def __init__(self, introduced: list[int]) -> None:
        self.introduced = introduced

    def act(self, percept: Percept) -> Action:
        if percept.game.number is not None:
            self.introduced.append(percept.game.number)
        return Action()


def test_agents_connect_one_after_another_each_when_the_one_before_knows_its_number() -> None:
    introduced, warnings = list[int](), list[str]()
    players = {number: Counted(introduced) for number in (3, 1, 2)}
    settings = ServerSettings(agent_port=0, monitor_port=0)
    with Game(load_rules("sim3d"), seed=0, seats=3) as game, Server(game, settings) as server:
        where, cycles = ("127.0.0.1", server.agent_port), dict[int, int]()
        team = threading.Thread(target=lambda: cycles.update(play_all(where, "Ours", players, warnings.append)))
        team.start()
        ahead = list[int]()

        def all_are_in() -> bool:
            ahead.append(server.connections - len(introduced))
            return len(introduced) == len(players) or not team.is_alive()

        server.run(until=all_are_in)
        server.run(cycles=3)
        server.close()
        team.join()
    assert introduced == [3, 1, 2]
    assert warnings == []
    assert max(ahead) == 1
    assert all(played > 1 for played in cycles.values())


def test_agents_that_a_server_refuses_do_not_keep_the_others_from_joining() -> None:
    introduced, warnings = list[int](), list[str]()
    players = {number: Counted(introduced) for number in (1, 2)}
    settings = ServerSettings(agent_port=0, monitor_port=0)
    with Game(load_rules("sim3d"), seed=0, seats=2) as game, Server(game, settings) as server:
        game.enter("Ours", 1)  # number 1 is taken
        where, cycles = ("127.0.0.1", server.agent_port), dict[int, int]()
        team = threading.Thread(target=lambda: cycles.update(play_all(where, "Ours", players, warnings.append)))
        team.start()
        server.run(until=lambda: introduced == [2] or not team.is_alive())
        server.close()
        team.join()
    assert cycles[2] > 0


class SilentServer:
    """Answers every message with a percept, and tells only the second agent its number, as if it refused the first."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.conversations: list[int] = []
        """How many messages each agent has sent before it went."""
        with Game(load_rules("sim3d"), seed=0, seats=1) as game:
            self.before = game.percept_before_joining(0, 1)
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self) -> None:
        number = self.before.game._replace(number=2, side=Side.LEFT)
        with self.listener:
            for percept in (self.before, self.before._replace(game=number)):
                self.conversations.append(0)
                with self.listener.accept()[0] as sock:
                    self.answer(sock, framed(percept_message(percept)))

    def answer(self, sock: socket.socket, percept: bytes) -> None:
        unframer = Unframer(4096)
        while self.conversations[-1] < 100 and (data := sock.recv(4096)):
            for _ in unframer.feed(data):
                self.conversations[-1] += 1
                sock.sendall(percept)


def test_an_agent_that_gets_no_number_leaves_before_the_next_one_connects() -> None:
    server, warnings, introduced = SilentServer(), list[str](), list[int]()
    players = {number: Counted(introduced) for number in (1, 2)}
    cycles = play_all(("127.0.0.1", server.port), "Ours", players, warnings.append)
    server.thread.join()
    assert [warning.split(":")[0] for warning in warnings] == ["number 1 leaves"]
    assert cycles[1] == 0
    assert cycles[2] > 50
    assert server.conversations[0] < 40
    assert introduced[0] == 2


def loaded_kernels() -> dict[str, int]:
    """How many versions of each kernel are ready to run."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("nutmeg.")]
    kernels = [thing for module in modules for thing in vars(module).values() if hasattr(thing, "py_func")]
    return {f"{kernel.__module__}.{kernel.__name__}": len(kernel.overloads) for kernel in kernels}


@pytest.mark.slow
def test_after_the_rehearsal_agents_join_and_play_without_waiting_for_a_kernel() -> None:
    rules = load_rules("sim3d")
    settings = ServerSettings(agent_port=0, monitor_port=0, pace="sync")
    with Game(rules, seed=0, seats=4, setup=PhysicalSetup(toed=2)) as game, Server(game, settings) as server:
        rehearse(rules)
        before = loaded_kernels()
        assert before
        thread = threading.Thread(target=server.run)
        thread.start()
        play(server.agent_port, "reds", 20)
        server.stop()
        thread.join()
    assert loaded_kernels() == before


@pytest.mark.slow
def test_after_its_rehearsal_the_built_in_team_plays_without_waiting_for_a_kernel() -> None:
    def of_players() -> dict[str, int]:
        return {name: count for name, count in loaded_kernels().items() if ".players." in name or ".motion." in name}

    rules = load_rules("sim3d").with_match(players=2, automatic_kick_off=True, wait_before_kick_off=0.1)
    teams = [make_team("final", 2, team=team) for team in ("a", "b")]
    rehearse_team("final")
    before = of_players()
    with Game(rules, seed=1, left="a", right="b", seats=4) as game:
        loop = GameLoop(game, by_number(*teams))
        for _ in range(12):
            loop.cycle()
    assert of_players() == before


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["t1", "k1"])
def test_after_their_rehearsal_players_of_t1_and_k1_play_without_waiting_for_a_kernel(robot: str) -> None:
    def of_players() -> dict[str, int]:
        return {name: count for name, count in loaded_kernels().items() if ".players." in name or ".motion." in name}

    setup = walking_setup(BoosterSetup(robot=robot, players=2))
    rehearse_booster(setup)
    before = of_players()
    assert before
    rules = load_rules("ssim26").with_match(automatic_kick_off=True, wait_before_kick_off=0.1)
    with MjGame(rules, seed=1, seats={robot: 4}) as game:
        loop = GameLoop(game, {**booster_team("a", setup), **booster_team("b", setup)})
        for _ in range(40):
            loop.cycle()
    assert of_players() == before


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells the memory of a process there")
def test_a_server_that_is_ready_occupies_less_than_200_mb(serving: Any) -> None:
    served = serving("--no-record")
    pages = int(Path(f"/proc/{served.process.pid}/statm").read_text().split()[1])
    assert pages * os.sysconf("SC_PAGESIZE") < 200e6
