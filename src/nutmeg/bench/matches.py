"""Speed of the match servers with agents on real sockets, delay by a joining agent, and memory.

    for row in server_speed("spark", 22, seconds=5.0):
        print(row.sentence())

Agents are trivial and all in one process (`play_crowd` of `net.simspark.agent`): they answer every percept with all
their motors and `(syn)`, and poll, so that the server is the bottleneck; server and agents have a core each.
There are as many seats as robots. Robots that move do so slowly, until they fall and lie with their joints
at their stops, which is the most work; one robot is also measured at rest. The league's servers were measured with
trivial agents, too, on a machine with two cores, headless, in sync mode: times real time with 1, 11 and 22 robots,
which may have been at rest: with these agents, which move all their motors, rcssserver3d is several times slower
(docs/explanation/match.md). Load of other programs makes all of this worse, most of all with one robot; the time of the
server's own processor in a cycle is printed beside it, and suffers less.

Memory is that of `nutmeg serve` itself, a process of its own.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import SimulationError
from nutmeg.base.memory import give_back_memory
from nutmeg.bench.row import Row, in_process, resident_bytes
from nutmeg.match.behavioural_game import BehaviourGame
from nutmeg.match.behavioural_games import BehaviourGames
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.tactics.tactician import strategy_decide
from nutmeg.match.rules.book import load_rules
from nutmeg.match.worlds.behavioural.cameras import Cameras
from nutmeg.model.ball import load_ball
from nutmeg.net.simspark.agent import CrowdLines, play_crowd, spark_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from multiprocessing.connection import Connection

    from nutmeg.match.game import Game
    from nutmeg.match.mj_game import MjGame
    from nutmeg.net.simspark.server import Server


@dataclass(frozen=True, kw_only=True)
class _League:
    """A server that is measured, and the league's own beside it."""

    name: str
    peer: str
    peers: Mapping[int, float]
    """Times real time of the league's own server, by number of robots (shared notes on protocols, section 2)."""
    goals: Mapping[int, float]
    """Promised times real time."""


_LEAGUES = {
    "spark": _League(
        name="server",
        peer="rcssserver3d",
        peers={1: 138.0, 11: 10.9, 22: 3.8},
        goals={1: 150.0, 11: 20.0, 22: 8.0},
    ),
    "mj": _League(
        name="server mj",
        peer="rcssservermj",
        peers={1: 21.9, 11: 2.0, 22: 0.91},
        goals={1: 80.0, 11: 10.0, 22: 5.0},
    ),
}
_CROWD_SPEED = 0.01
"""Speed of all motors of robots that move [rad/s]."""
_MEMORY_SAMPLES = 30
"""Number of memory measurements."""
_JOIN_MS = 50.0
"""Promised limit of the time that a join holds up the game [ms]."""
_MEMORY_MB = 200.0
"""Promised limit of the server's memory [MB]."""
_MEMORY_GROWTH = 0.03
"""Promised limit of its growth."""
_TURN_CYCLES = 50
"""Cycles between two looks at the clock."""
_JOIN_TIMEOUT = 120.0
"""Time limit until all agents have joined [s]."""


def server_speed(league: str, robots: int, seconds: float, *, at_rest: bool = False) -> list[Row]:
    """Speed relative to real time with this many robots, and the longest delay by a joining agent."""
    found, server = in_process(_play, league, robots, seconds, 0.0 if at_rest else _CROWD_SPEED), _LEAGUES[league]
    times, busy = found["cycles"] * CONTROL_CYCLE / found["wall"], found["processor"] / found["cycles"]
    rows = [
        Row(
            name=f"{server.name}, {robots} robot{'s' * (robots > 1)}{' at rest' * at_rest}",
            value=times,
            unit="x real time",
            peer=f"{server.peer} {server.peers[robots]:g}; {1e3 * busy:.2f} ms a cycle",
            ratio=times / server.peers[robots],
            least=server.goals[robots],
        )
    ]
    if robots > 1:
        name, longest = f"{server.name}, longest of {robots} joins", 1e3 * found["join"]
        rows.append(Row(name=name, value=longest, unit="ms", peer="rcssservermj about 1000", below=_JOIN_MS))
    return rows


def server_memory(seconds: float) -> list[Row]:
    """Resident memory of `nutmeg serve` with twenty-two robots, without and with a recording.

    Of the second also how it grows in the last two thirds of the time.
    """
    with tempfile.TemporaryDirectory(prefix="nutmeg-") as folder:
        plain = _memory(seconds, "--no-record")
        recorded = _memory(3.0 * seconds, "--record", str(Path(folder) / "match.nutmeg"))
    early, late = recorded[len(recorded) // 3], recorded[-1]
    return [
        Row(name="server memory, 22 robots", value=plain[-1], unit="MB", below=_MEMORY_MB),
        Row(name="server memory, 22 robots, recording", value=late, unit="MB", below=_MEMORY_MB),
        Row(
            name="server memory, growth",
            value=100 * (late - early) / early,
            unit="%",
            peer=f"{early:.0f} MB after a third of it",
            below=100 * _MEMORY_GROWTH,
        ),
    ]


def _memory(seconds: float, *options: str) -> list[float]:
    """Resident memory of a server with a crowd over some seconds [MB]; it is ended with SIGTERM."""
    command = [sys.executable, "-m", "nutmeg", "serve", "--sync", "--no-view", "--agent-port", "0"]
    command += ["--monitor-port", "0", "--seats", "22", *options]
    with _started(command) as (server, port), _crowd(port, 22, spark_lines(_CROWD_SPEED)):
        start, found = time.monotonic(), [resident_bytes(server) / 1e6]
        while time.monotonic() < start + seconds:
            time.sleep(seconds / _MEMORY_SAMPLES)
            found.append(resident_bytes(server) / 1e6)
    return found


@contextlib.contextmanager
def _started(command: list[str]) -> Iterator[tuple[int, int]]:
    """A server's process and its port for agents; both end with the block."""
    with subprocess.Popen(  # noqa: S603 (the command is ours)
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        try:
            assert server.stdout is not None, "its output is a pipe"
            said = ""
            while not said.endswith("ready\n"):
                line = server.stdout.readline()
                if not line:
                    raise SimulationError(f"`{' '.join(command)}` ended before it was ready: {said.strip()}")
                said += line
            yield server.pid, int(said.split(", port ")[1].split(";")[0])
        finally:
            server.terminate()
            server.communicate()  # reads what it says until it has ended


@contextlib.contextmanager
def _crowd(port: int, robots: int, lines: CrowdLines) -> Iterator[None]:
    """Agents in a process of their own, which ends with the block or with the server."""
    crowd = multiprocessing.get_context("spawn").Process(target=play_crowd, args=("127.0.0.1", port, robots, lines))
    crowd.start()
    try:
        yield
    finally:
        crowd.kill()
        crowd.join()


def _play(answer: Connection, league: str, robots: int, seconds: float, speed: float) -> None:
    """Serves a crowd for a while and sends back what it took; in a process of its own."""
    from nutmeg.match.game import Game
    from nutmeg.match.mj_game import MjGame, MjSetup
    from nutmeg.net.mj.server import MJ
    from nutmeg.net.simspark.server import SIMSPARK, Server, ServerSettings

    game: Game | MjGame
    if league == "mj":
        rules, protocol, lines = load_rules("fifa"), MJ, _mj_lines("t1")
        game = MjGame(
            rules.with_match(automatic_kick_off=True), seed=1, seats={"t1": robots}, setup=MjSetup(field="fifa")
        )
    else:
        rules, protocol, lines = load_rules("sim3d"), SIMSPARK, spark_lines(speed)
        game = Game(rules.with_match(automatic_kick_off=True), seed=1, seats=robots)
    joins = _timed_joins(game)
    with (
        game,
        Server(game, ServerSettings(agent_port=0, monitor_port=0, pace="sync"), protocol=protocol) as server,
        _crowd(server.agent_port, robots, lines),
    ):
        give_back_memory()  # as `nutmeg serve` does
        _await_all(server, robots)
        found = _measure(server, seconds)
    answer.send(found | {"join": max(joins)})


def _mj_lines(robot: str) -> CrowdLines:
    """Lines of robots that hold the pose in which they are put, with the gains of their file."""
    from nutmeg.match.players.booster import BoosterBody
    from nutmeg.match.worlds.mj.percept import Action
    from nutmeg.net.mj.agent import action_message

    answer = action_message(Action(motors=BoosterBody(robot).motors()), robot)
    entry = f"(init {robot.upper()} {{team}} {{number}})"
    return CrowdLines(first=entry, second=answer.decode("ascii"), answer=answer)


def _timed_joins(game: Game | MjGame) -> list[float]:
    """Times every join of a game, s; the list fills as players come."""
    times: list[float] = []
    enter = game.enter

    def timed(team: str, number: int = 0, robot_type: int = 0) -> int:
        start = time.perf_counter()
        slot = enter(team, number, robot_type)
        times.append(time.perf_counter() - start)
        return slot

    game.enter = timed  # type: ignore[method-assign]
    return times


def _await_all(server: Server, robots: int) -> None:
    """Plays until everybody is there, and a little longer."""
    start = time.monotonic()
    while server.agents < robots:
        server.run(5)
        if time.monotonic() - start > _JOIN_TIMEOUT:
            raise SimulationError(f"only {server.agents} of {robots} agents joined within {_JOIN_TIMEOUT:g} s.")
    server.run(2 * _TURN_CYCLES)


def _measure(server: Server, seconds: float) -> dict[str, Any]:
    """Plays for some seconds: cycles, seconds of the clock and of the processor."""
    first, start, processor = server.cycles, time.perf_counter(), time.process_time()
    while time.perf_counter() - start < seconds:
        server.run(_TURN_CYCLES)
    return {
        "cycles": server.cycles - first,
        "wall": time.perf_counter() - start,
        "processor": time.process_time() - processor,
    }


# Speed of the behavioural world: many matches at once with compiled players, and one with players in Python.
#
# Both are matches of four against four on `spl2011` with symbolic vision, trackers, messages and the referee:
# everything that `BehaviourGames` and `BehaviourGame` do. Pictures are those of the players' cameras in such a match,
# 320 x 240.
#
# What counts is processor time of the whole process, with all its threads: so a value is that of one core, also while
# other programs run on it. They still cost caches and clock rate; the best of several turns counts.


MEASURED_TURNS = 5
_MATCH_COUNT = 256
_WARM_UP_SECONDS = 20.0
"""Simulated time before anything is measured [s]."""
_SLICE_SECONDS = 1.0
"""Simulated time of one call [s]."""
_MATCHES_TARGET = 2000.0
"""Promised times real time of all matches together, per core."""
_PICTURES_TARGET = 100.0
"""Promised pictures a second, per core."""
_CORE_UNIT = "x real time, CPU time of one core"
_PLAYED_STRATEGIES = ("roles-pass", "roles")


def behavioural_matches(seconds: float) -> list[Row]:
    """Measures the promised speeds: many matches at once, and pictures."""
    return [_matches(seconds), _pictures(seconds)]


def _matches(seconds: float) -> Row:
    rules = load_rules("spl2011")
    games = BehaviourGames(rules, left=_PLAYED_STRATEGIES[0], right=_PLAYED_STRATEGIES[1], seeds=range(_MATCH_COUNT))
    games.run(_WARM_UP_SECONDS)
    value = _best(lambda: len(games.run(_SLICE_SECONDS)) * _SLICE_SECONDS, seconds)
    players = rules.match.players
    return Row(
        name=f"behaviour, {players} v {players}, symbolic vision, {_MATCH_COUNT} matches",
        value=value,
        unit=_CORE_UNIT,
        least=_MATCHES_TARGET,
    )


def _pictures(seconds: float) -> Row:
    """Both cameras of all players of a match, moment after moment."""
    games = BehaviourGames(load_rules("spl2011"), left=_PLAYED_STRATEGIES[0], right=_PLAYED_STRATEGIES[1], seeds=[1])
    games.run(_WARM_UP_SECONDS)
    world, eyes = games.world, games.senses.eyes
    slots = np.flatnonzero(world.state.present[0]).tolist()
    with Cameras(eyes, world.field, load_ball(world.field.ball)) as cameras:

        def draw() -> float:
            games.run(_SLICE_SECONDS / 10)
            pictures = cameras.draw(world.state, 0, slots)
            return float(pictures.shape[0] * pictures.shape[1])

        value = _best(draw, seconds)
    return Row(
        name=f"behaviour, pictures of the cameras, {eyes.cameras.width} x {eyes.cameras.height}",
        value=value,
        unit="pictures/s, CPU time of one core",
        least=_PICTURES_TARGET,
    )


def behavioural_match(seconds: float) -> list[Row]:
    """One match with players in Python."""
    rules = load_rules("spl2011")
    game = BehaviourGame(rules, seed=1, left="reds", right="blues")
    players = game.team("reds", strategy_decide(_PLAYED_STRATEGIES[0])) | game.team(
        "blues", strategy_decide(_PLAYED_STRATEGIES[1])
    )
    driver = GameLoop(game, players)
    driver.run(round(_WARM_UP_SECONDS * 10))

    def play() -> float:
        driver.run(round(_SLICE_SECONDS * 10))
        return _SLICE_SECONDS

    value = _best(play, seconds)
    name = f"behaviour, {rules.match.players} v {rules.match.players}, one match, players in Python"
    return [Row(name=name, value=value, unit=_CORE_UNIT)]


def _best(play: Callable[[], float], seconds: float) -> float:
    """The result of `play` per second of processor time, in the best turn."""
    best = 0.0
    for _ in range(MEASURED_TURNS):
        played, began = 0.0, time.process_time()
        while (took := time.process_time() - began) < seconds:
            played += play()
        best = max(best, played / took)
    return best
