"""How fast the SimSpark server is with agents on real sockets, how long a join holds it up, and what memory it takes.

    for row in speed(22, seconds=5.0):
        print(row.sentence())

Agents are trivial and all in one process (`net.simspark.crowd`): they answer every percept with all their motors and
`(syn)`, and stay awake for a server that is quick, so the server is what is measured; it and they have a core each. The
league's servers were measured with trivial agents, too, on a machine with two cores, headless, in sync mode: times real
time with 1, 11 and 22 robots, which may have been at rest: with these agents, which move all their motors, rcssserver3d
is several times slower (docs/explanation/match.md). Load of other programs makes all of this worse, most of all with
one robot; the time of the server's own processor in a cycle is told beside it, and suffers less.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nutmeg.benchmark.memory import in_process, resident_bytes
from nutmeg.benchmark.row import Row
from nutmeg.errors import SimulationError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from nutmeg.match.game import Game
    from nutmeg.net.simspark.server import Server

PEERS = {1: (138.0, 21.9), 11: (10.9, 2.0), 22: (3.8, 0.91)}
"""Times real time of rcssserver3d and rcssservermj, by number of robots (shared notes on protocols, section 2)."""
GOALS = {1: 150.0, 11: 20.0, 22: 8.0}
JOIN_MS, MEMORY_MB, GROWTH = 50.0, 600.0, 0.03
CYCLE = 0.02
_TURN = 50
"""Cycles between two looks at the clock."""
_PATIENCE = 120.0
"""For all agents to have joined [s]."""


def speed(robots: int, seconds: float) -> list[Row]:
    """Times real time with so many robots, and the longest that a join held up the game."""
    found = in_process(_play, robots, seconds, "")
    (ode, mj), times = PEERS[robots], found["cycles"] * CYCLE / found["wall"]
    busy = found["processor"] / found["cycles"]
    rows = [
        Row(
            name=f"server, {robots} robot{'s' * (robots > 1)}",
            value=times,
            unit="x real time",
            peer=f"rcssserver3d {ode:g}, rcssservermj {mj:g}; {1e3 * busy:.2f} ms a cycle",
            ratio=times / ode,
            target=f">= {GOALS[robots]:g}",
            met=times >= GOALS[robots],
        )
    ]
    if robots > 1:
        longest = 1e3 * found["join"]
        rows.append(
            Row(
                name=f"server, longest of {robots} joins",
                value=longest,
                unit="ms",
                peer="rcssservermj about 1000",
                ratio=None,
                target=f"< {JOIN_MS:g} ms",
                met=longest < JOIN_MS,
            )
        )
    return rows


def memory(seconds: float) -> list[Row]:
    """Resident memory with twenty-two robots and a recording, and how it grows in the last two thirds of the time."""
    with tempfile.TemporaryDirectory(prefix="nutmeg-") as folder:
        found = in_process(_play, 22, 3.0 * seconds, str(Path(folder) / "match.nutmeg"))
    early, late = (used / 1e6 for used in (found["memory"][0], found["memory"][-1]))
    growth = (late - early) / early
    played = found["cycles"] * CYCLE
    return [
        Row(
            name="server memory, 22 robots, recording",
            value=late,
            unit="MB",
            peer=f"after {played:.0f} s of play",
            ratio=None,
            target=f"< {MEMORY_MB:g} MB",
            met=late < MEMORY_MB,
        ),
        Row(
            name="server memory, growth",
            value=100 * growth,
            unit="%",
            peer=f"{early:.0f} MB after a third of it",
            ratio=None,
            target=f"< {100 * GROWTH:g} %",
            met=growth < GROWTH,
        ),
    ]


def _play(answer: Connection, robots: int, seconds: float, recording: str) -> None:
    """Serves a crowd for a while and sends back what it took; in a process of its own."""
    from nutmeg.match.game import Game
    from nutmeg.match.rules import load_rules
    from nutmeg.net.simspark.crowd import play_crowd
    from nutmeg.net.simspark.server import Server, ServerSettings

    rules = load_rules("sim3d").with_match(automatic_kick_off=True)
    game = Game(rules, seed=1, players=robots, record=Path(recording) if recording else None)
    joins = _timed_joins(game)
    with game, Server(game, ServerSettings(agent_port=0, monitor_port=0, pace="sync")) as server:
        crowd = multiprocessing.get_context("spawn").Process(
            target=play_crowd, args=("127.0.0.1", server.agent_port, robots)
        )
        crowd.start()
        try:
            _await_all(server, robots)
            found = _measure(server, seconds)
        finally:
            server.close()
            crowd.join(10.0)
            crowd.kill()
    answer.send(found | {"join": max(joins)})


def _timed_joins(game: Game) -> list[float]:
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
        if time.monotonic() - start > _PATIENCE:
            raise SimulationError(f"only {server.agents} of {robots} agents joined within {_PATIENCE:g} s.")
    server.run(2 * _TURN)


def _measure(server: Server, seconds: float) -> dict[str, Any]:
    """Plays for some seconds: cycles, seconds of the clock and of the processor, and memory over time."""
    memory: list[int] = []
    first, start, processor = server.cycles, time.perf_counter(), time.process_time()
    while (wall := time.perf_counter() - start) < seconds:
        server.run(_TURN)
        if wall > seconds / 3:
            memory.append(resident_bytes())
    wall = time.perf_counter() - start
    memory = memory or [resident_bytes()]
    return {
        "cycles": server.cycles - first,
        "wall": wall,
        "processor": time.process_time() - processor,
        "memory": memory,
    }
