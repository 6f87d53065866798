"""Lets two teams play halves on a server of the 3D simulation league, and counts what happens, from its monitor port.

    .venv/bin/python scripts/league_games.py --out games.jsonl --seconds 150 --games 2 --name rcssserver3d \
        --server "rcssserver3d --agent-port {agents} --server-port {monitors}" \
        --left "fcp.sh {agents} {team} 1,3,5,7,9,10" --teams FCP Ours \
        --right "nutmeg agents {team} --players 6 --port {agents}"

Any server, and any programs: commands are split at spaces, and `{agents}`, `{monitors}` and `{team}` filled in. How
rcssserver3d is set up, and what `fcp.sh` has to do, stands in docs/explanation/match.md under "Games". With --turns the
teams change sides after each half. The left team joins first, as long as --players a side need, and kicks off. Every
ten seconds of play a line is written, and one at the end of each half (`"over": true`); a half whose server or team has
ended early has none. A fall is a torso that leans more than 60 degrees for 0.32 s, and counts again after 0.8 s
upright. A shot is a ball that would roll into the goal within `SHOT_TIME`, faster than `SHOT_SPEED`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import re
import shlex
import signal
import socket
import struct
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from nutmeg.view.match_story import SHOT_BESIDE, SHOT_SPEED, SHOT_TIME

SIDES = ("left", "right")
FRAME = 0.04
"""Between two frames of the monitor port [s]."""
DOWN, FALL_TIME, UPRIGHT_TIME = 0.5, 0.32, 0.8
"""Cosine of the lean of a fallen torso, how long it leans [s], and how long one is upright that can fall again [s]."""
SHOT_PAUSE = 2.0
"""Two shots at a goal are at least this far apart [s]."""
FOUL_PAUSE = 1.0
"""A foul is reported in many frames: of an offender one counts in this time [s]."""
TRIES = 3
"""How often a half is tried whose teams do not join: in sync mode some agents and the server wait for each other."""
FOULS = ("crowding", "touching", "defence area", "defence area", "incapable", "kick-off", "charging", "self-collision")
_VALUE = re.compile(r"\((time|play_mode|score_left|score_right|half) ([^()]+)\)")
_FOUL = re.compile(r"\(foul \d+ (\d+) (\d) (\d+)\)")
_BODY = re.compile(r"\(load models/naobody\d?\.obj\).*?\(resetMaterials ([^)]*)\)", re.DOTALL)
_NUMBER = re.compile(r"matNum(\d+)")


@dataclass
class Robot:
    """A robot of the scene, and its falls."""

    side: str
    number: int
    lean: float = 1.0
    """The cosine of its torso's lean."""
    down: int = 0
    upright: int = 0
    """Frames in a row."""
    can_fall: bool = True
    falls: list[float] = field(default_factory=list)

    def note(self, clock: float) -> None:
        """Takes up the frame's lean."""
        if self.lean < DOWN:
            self.down, self.upright = self.down + 1, 0
            if self.down * FRAME >= FALL_TIME and self.can_fall:
                self.falls.append(round(clock, 2))
                self.can_fall = False
        else:
            self.down, self.upright = 0, self.upright + 1
            self.can_fall |= self.upright * FRAME >= UPRIGHT_TIME


class Monitor:
    """What the monitor port of a server has told."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._stream = self._socket.makefile("rb")
        self.modes: list[str] = []
        self.values = {"time": 0.0, "play_mode": 0.0, "score_left": 0.0, "score_right": 0.0, "half": 1.0}
        self.robots: dict[tuple[str, int], Robot] = {}
        self.ball = [0.0, 0.0, 0.0]
        self.fouls: list[tuple[str, str, int]] = []
        """Fouls of the last frame: kind, side, number."""
        self._torsos: dict[int, Robot] = {}
        self._ball_node = -1

    def send(self, message: str) -> None:
        """Sends a trainer's command."""
        self._socket.sendall(struct.pack(">I", len(message)) + message.encode())

    def close(self) -> None:
        """Ends the connection."""
        self._stream.close()
        self._socket.close()

    @property
    def mode(self) -> str:
        """The name of the play mode."""
        return self.modes[int(self.values["play_mode"])] if self.modes else "BeforeKickOff"

    def read(self) -> None:
        """Takes up the next frame."""
        header = self._stream.read(4)
        if len(header) < 4:
            raise ConnectionError("the server has ended the connection")
        text = self._stream.read(struct.unpack(">I", header)[0]).decode("latin1")
        whole = "(RSG" in text
        state, _, scene = text.partition("(RSG" if whole else "(RDS")
        modes = re.search(r"\(play_modes ([^)]*)\)", state)
        if modes:
            self.modes = modes[1].split()
        self.values |= {name: float(value) for name, value in _VALUE.findall(state)}
        self.fouls = [
            (FOULS[int(kind)], SIDES[int(team) - 1], int(number)) for kind, team, number in _FOUL.findall(state)
        ]
        nodes = scene.split("(nd")[1:]
        if whole:
            self._find(nodes)
        if self._ball_node >= 0 and "SLT" in nodes[self._ball_node]:
            self.ball = _transform(nodes[self._ball_node])[12:15]
        for node, robot in self._torsos.items():
            if "SLT" in nodes[node]:
                robot.lean = _transform(nodes[node])[10]

    def _find(self, nodes: list[str]) -> None:
        """Finds ball and torsos in a whole scene: two nodes before a body's mesh stands the torso's transform."""
        self._torsos = {}
        for index, node in enumerate(nodes):
            if "soccerball.obj" in node:
                self._ball_node = index - 1
            body = _BODY.search(node)
            number = _NUMBER.search(body[1]) if body else None
            if body and number:
                key = ("left" if "matLeft" in body[1] else "right", int(number[1]))
                self._torsos[index - 2] = self.robots.setdefault(key, Robot(*key))

    def count(self, side: str) -> int:
        """How many robots of a side the scene has."""
        return sum(robot.side == side for robot in self._torsos.values())


def _transform(node: str) -> list[float]:
    return [float(number) for number in node.split("SLT", 1)[1].split(")", 1)[0].split()]


class Tally:
    """What happens in a half."""

    def __init__(self) -> None:
        self.events: list[tuple[float, str]] = []
        self.shots, self.fouls = {"left": 0, "right": 0}, Counter[str]()
        self.restarts = Counter[str]()
        self.way, self.frames, self.sum_x, self.own_third = 0.0, 0, 0.0, {"left": 0, "right": 0}
        self._balls: list[tuple[float, float, float]] = []
        self._mode, self._last_shot, self._last_foul = "", {"left": -9.0, "right": -9.0}, dict[tuple[str, int], float]()

    def note(self, monitor: Monitor) -> None:
        """Takes up a frame of play."""
        clock, mode, (x, y, z) = monitor.values["time"], monitor.mode, monitor.ball
        if mode != self._mode:
            self._mode = mode
            if mode != "PlayOn":
                self.restarts[mode] += 1
                self._balls.clear()
            self.events.append((round(clock, 2), mode))
        for robot in monitor.robots.values():
            robot.note(clock)
        for kind, side, number in monitor.fouls:
            if clock - self._last_foul.get((side, number), -9.0) > FOUL_PAUSE:
                self.fouls[f"{kind} {side}"] += 1
                self.events.append((round(clock, 2), f"{kind} {side} {number}"))
            self._last_foul[side, number] = clock
        if mode != "PlayOn":
            return
        self.frames, self.sum_x = self.frames + 1, self.sum_x + x
        self.own_third["left"] += x < -5.0
        self.own_third["right"] += x > 5.0
        if self._balls:
            self.way += math.dist(self._balls[-1][:2], (x, y))
        self._balls = [*self._balls[-4:], (x, y, z)]
        self._find_shot(clock)

    def _find_shot(self, clock: float) -> None:
        if len(self._balls) < 5:
            return
        (x0, y0, _), (x, y, _) = self._balls[0], self._balls[-1]
        vx, vy = ((x - x0) / (4 * FRAME), (y - y0) / (4 * FRAME))
        if math.hypot(vx, vy) < SHOT_SPEED or vx == 0.0:
            return
        side, needed = ("left", (15.0 - x) / vx) if vx > 0 else ("right", (-15.0 - x) / vx)
        if 0.0 < needed <= SHOT_TIME and abs(y + vy * needed) <= 1.05 + SHOT_BESIDE:
            if clock - self._last_shot[side] > SHOT_PAUSE:
                self.shots[side] += 1
                self.events.append((round(clock, 2), f"shot {side}"))
            self._last_shot[side] = clock


def report(tally: Tally, monitor: Monitor) -> dict[str, object]:
    """What is written of a half."""
    minutes = max(monitor.values["time"], 1e-9) / 60
    falls = {side: {r.number: r.falls for r in monitor.robots.values() if r.side == side and r.falls} for side in SIDES}
    return {
        "clock": round(monitor.values["time"], 2),
        "score": [int(monitor.values["score_left"]), int(monitor.values["score_right"])],
        "falls": {side: sum(map(len, falls[side].values())) for side in SIDES},
        "falls_a_minute": {side: round(sum(map(len, falls[side].values())) / minutes, 2) for side in SIDES},
        "falls_of": falls,
        "shots": tally.shots,
        "fouls": dict(tally.fouls),
        "restarts": dict(tally.restarts),
        "ball": {
            "mean_x": round(tally.sum_x / max(tally.frames, 1), 2),
            "way_a_minute": round(tally.way / minutes, 1),
            "in_third_of": {side: round(tally.own_third[side] / max(tally.frames, 1), 3) for side in SIDES},
        },
    }


class Programs:
    """Programs that run beside this one; each is ended with all that it has started."""

    def __init__(self, log: Path) -> None:
        self._running: list[subprocess.Popen[bytes]] = []
        self._log = log

    def start(self, command: str, **names: object) -> None:
        """Starts one."""
        words = [word.format(**names) for word in shlex.split(command)]
        with self._log.open("ab") as log:
            program = subprocess.Popen(  # noqa: S603 (the commands are the user's)
                words, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            )
        self._running.append(program)

    def end(self) -> None:
        """Ends all, the last one first."""
        for program in reversed(self._running):
            for sign in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(program.pid, sign)
                    program.wait(5)
                except (ProcessLookupError, subprocess.TimeoutExpired):
                    pass  # it has ended already, or the stronger signal follows
        self._running.clear()


def connected(port: int, patience: float) -> Monitor:
    """A monitor of a server that is starting; `nutmeg serve` compiles for minutes when it runs for the first time."""
    until = time.monotonic() + patience
    while True:
        try:
            return Monitor(port)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def play(arguments: argparse.Namespace, index: int, agents: int) -> bool:
    """Plays one half, and tells whether both teams have joined."""
    names = {"agents": agents, "monitors": agents + 1}
    teams, commands = list(arguments.teams), [arguments.left, arguments.right]
    if arguments.turns and index % 2:
        teams.reverse()
        commands.reverse()
    about = {"server": arguments.name, "half": index, "left": teams[0], "right": teams[1], "players": arguments.players}
    programs, tally = Programs(arguments.out.with_suffix(".log")), Tally()
    began, joined = time.monotonic(), 0.0
    try:
        programs.start(arguments.server, **names)
        monitor = connected(agents + 1, arguments.join)
        for side, command, team in zip(SIDES, commands, teams, strict=True):
            programs.start(command, team=team, **names)
            joining = time.monotonic()
            while monitor.count(side) < arguments.players:
                monitor.read()
                if time.monotonic() - joining > arguments.join:
                    raise TimeoutError(f"{team}: {monitor.count(side)} of {arguments.players} have joined")
        for _ in range(75):  # until all stand where they want to
            monitor.read()
        monitor.send("(kickOff Left)")
        written, joined = 0.0, time.monotonic() - began
        while monitor.values["time"] < arguments.seconds and monitor.values["half"] < 2 and monitor.mode != "GameOver":
            monitor.read()
            tally.note(monitor)
            if monitor.values["time"] >= written + 10:
                written = monitor.values["time"]
                write(arguments.out, about | report(tally, monitor))
        over = {"over": True, "joined_after": round(joined, 1), "events": tally.events}
        write(arguments.out, about | report(tally, monitor) | over)
        monitor.close()
    except (OSError, IndexError) as error:
        write(arguments.out, about | {"ended": f"{type(error).__name__}: {error}"})
        return joined > 0.0
    finally:
        programs.end()
    return True


def write(out: Path, line: dict[str, object]) -> None:
    """Adds a line to a file, in one go, since several programs may write to it."""
    with out.open("a") as file:
        file.write(json.dumps(line) + "\n")


def main() -> None:
    """Plays all halves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--name", default="server")
    parser.add_argument("--left", required=True)
    parser.add_argument("--right", required=True)
    parser.add_argument("--teams", nargs=2, default=["Left", "Right"])
    parser.add_argument("--players", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--games", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first half: odd ones change sides")
    parser.add_argument("--turns", action="store_true")
    parser.add_argument("--join", type=float, default=240.0, help="how long server and team may take to start [s]")
    parser.add_argument("--port", type=int, default=3300)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    # Who is told to end first ends the server and the teams, which are process groups of their own.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit("ended by a signal"))
    ports = itertools.count(arguments.port, 2)  # never one again: a port is busy for a while after its server has ended
    for index in range(arguments.first, arguments.first + arguments.games):
        any(play(arguments, index, next(ports)) for _ in range(TRIES))


if __name__ == "__main__":
    main()
