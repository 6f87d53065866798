"""A tiny game to serve: joints turn with their speeds, the ball lies still; and clients with real sockets."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.decisions import Event
from nutmeg.match.rules.play_modes import PlayMode, Side
from nutmeg.match.rules.slots import SLOTS, free_slot, side_and_number, side_for, slot_of
from nutmeg.match.worlds.physical.percept import Action, GameView, Percept, Sight
from nutmeg.net.agents import AgentLimits
from nutmeg.net.connection import Report
from nutmeg.net.simspark.agent import read_percept
from nutmeg.net.simspark.game_port import GamePort
from nutmeg.net.simspark.server import SIMSPARK, ServedProtocol, Server, ServerSettings
from nutmeg.net.simspark.sexpr import Unframer, framed

from ..conftest import wait_until

DATA = Path(__file__).parent / "data"
SIDE_PARTS = ("Shoulder", "UpperArm", "Elbow", "LowerArm", "Hip1", "Hip2", "Thigh", "Shank", "Ankle", "Foot", "Toe")
PATIENCE = 120.0
"""How long anything may take on a busy computer [s]."""
BODIES = ("torso", "neck", "head", *(f"{which}{part}" for which in "LR" for part in SIDE_PARTS))


class StandInGame:
    """A game without physics: joints turn as told, and everybody sees the same two flags."""

    def __init__(self) -> None:
        self.rules = load_rules("sim3d")
        self.time = 0.0
        self.half = 1
        self.foul_reports: list[Event] = []
        self.mode, self.game_time, self.score = PlayMode.BEFORE_KICK_OFF, 0.0, (0, 0)
        self.names = ["", ""]
        self.present = np.zeros(SLOTS, bool)
        self.robot_types = np.zeros(SLOTS, np.int64)
        self.angles, self.speeds = np.zeros((SLOTS, 24)), np.zeros((SLOTS, 24))
        self.places = np.zeros((SLOTS, 3))
        self.headings = np.zeros(SLOTS)
        self.ball, self.ball_velocity = np.array([0.0, 0.0, 0.042]), np.zeros(3)
        self.newcomers: set[int] = set()
        self.said: list[tuple[int, str]] = []
        self.body_names = BODIES
        self.cycles = self.swaps = 0
        self.seats = SLOTS
        self.swap_in: int | None = None

    @property
    def team_names(self) -> tuple[str, str]:
        return self.names[0], self.names[1]

    @property
    def view(self) -> GameView:
        left, right = self.score
        return GameView(mode=self.mode.wire_name, time=self.game_time, score_left=left, score_right=right)

    def work_ahead(self) -> None:
        pass

    def percept_before_joining(self, robot_type: int, percepts: int) -> Percept:
        toes = robot_type == 4
        forces = np.full((4 if toes else 2, 6), np.nan)
        angles, still = np.zeros(24 if toes else 22), np.zeros(3)
        return Percept(time=self.time, game=self.view, gyro=still, acc=still, angles=angles, forces=forces)

    def enter(self, team: str, number: int, robot_type: int) -> int:
        if team == "Banned":
            raise UsageError("the team Banned may not play.")
        if self.present.sum() >= self.seats:
            raise UsageError(f"there are only {self.seats} seats.")
        slot = free_slot(self.present, side_for(self.team_names, team), number, most=11)
        self.join(*side_and_number(slot), robot_type, team)
        return slot

    def join(self, side: Side, number: int, robot_type: int, team: str) -> None:
        slot = slot_of(side, number)
        self.names[side] = team
        self.present[slot], self.robot_types[slot] = True, robot_type
        self.places[slot] = [-1.0 - number, 2.0, 0.4]
        self.newcomers.add(slot)

    def leave(self, slot: int) -> None:
        self.present[slot] = False

    def cycle(self, actions: Mapping[int, Action]) -> dict[int, Percept]:
        self.cycles += 1
        self.time += 0.02
        for slot, action in actions.items():
            if action.speeds is not None:
                row = self.speeds[slot, : len(action.speeds)]
                row[:] = np.where(np.isnan(action.speeds), row, action.speeds)
            if action.beam is not None:
                self.places[slot, :2], self.headings[slot] = action.beam[:2], action.beam[2]
            if action.say is not None:
                self.said.append((slot, action.say))
        if self.swap_in == self.cycles:
            self.swap_ends()
        self.angles += np.degrees(self.speeds) * 0.02
        percepts = {slot: self.percept(slot) for slot in np.flatnonzero(self.present).tolist()}
        self.newcomers.clear()
        return percepts

    def swap_ends(self) -> None:
        self.swaps += 1
        self.names.reverse()
        for name in ("present", "robot_types", "angles", "speeds", "places", "headings"):
            setattr(self, name, np.roll(getattr(self, name), SLOTS // 2, axis=0))

    def percept(self, slot: int) -> Percept:
        side, number = side_and_number(slot)
        view = self.view
        if slot in self.newcomers:
            view = GameView(mode=view.mode, time=view.time, number=number, side=side)
        toes = self.robot_types[slot] == 4
        see = self.cycles % 3 == 0
        return Percept(
            time=self.time,
            game=view,
            gyro=np.zeros(3),
            acc=np.array([0.0, 0.0, 9.81]),
            angles=self.angles[slot, : 24 if toes else 22],
            forces=np.full((4 if toes else 2, 6), np.nan),
            sight=_two_flags() if see else None,
        )

    def ball_pose(self) -> tuple[Any, Any]:
        return self.ball, np.eye(3)

    def body_poses(self) -> tuple[Any, Any]:
        places = np.repeat(self.places[:, None], len(BODIES), axis=1)
        angle = np.radians(self.headings)
        turned = np.zeros((SLOTS, 3, 3))
        turned[:, 0, 0], turned[:, 0, 1] = np.cos(angle), -np.sin(angle)
        turned[:, 1, 0], turned[:, 1, 1], turned[:, 2, 2] = np.sin(angle), np.cos(angle), 1.0
        return places, np.repeat(turned[:, None], len(BODIES), axis=1)

    def kick_off(self, side: Side | None) -> None:
        self.mode = PlayMode.KICK_OFF_RIGHT if side is Side.RIGHT else PlayMode.KICK_OFF_LEFT

    def drop_ball(self) -> None:
        self.mode = PlayMode.PLAY_ON

    def set_play_mode(self, mode: PlayMode) -> None:
        self.mode = mode

    def set_score(self, left: int, right: int) -> None:
        self.score = (left, right)

    def set_time(self, time: float) -> None:
        self.game_time = time

    def place_player(self, slot: int, position: tuple[float, float, float], heading: float | None) -> None:
        self.places[slot] = position
        if heading is not None:
            self.headings[slot] = heading

    def place_ball(
        self, position: tuple[float, float, float] | None, velocity: tuple[float, float, float] | None
    ) -> None:
        if position is not None:
            self.ball = np.array(position)
        if velocity is not None:
            self.ball_velocity = np.array(velocity)

    def send_off(self, slot: int) -> None:
        self.places[slot] = [0.0, -11.0, 0.4]


def _two_flags() -> Sight:
    marks = np.array([[18.69, 53.99, -5.05], [18.67, -53.72, -4.87]])
    nothing = np.zeros((0, 5, 3)), np.zeros((0, 2, 3))
    return Sight(labels=("F1L", "F1R"), marks=marks, parts=nothing[0], lines=nothing[1])


class Client:
    """A client with a real socket, as polite as the test makes it."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.unframer = Unframer(1 << 22)
        self.messages: list[bytes] = []

    def send(self, *messages: bytes) -> None:
        self.socket.sendall(b"".join(map(framed, messages)))

    def send_raw(self, data: bytes) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(data)

    def receive(self) -> bytes | None:
        """The next message, or None at the end of the connection."""
        while not self.messages:
            try:
                data = self.socket.recv(1 << 16)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self.messages = self.unframer.feed(data)
        return self.messages.pop(0)

    def text(self) -> str:
        """The next message as text; the end of the connection is an error."""
        message = self.receive()
        if message is None:
            raise EOFError("the server has ended the connection")
        return message.decode("ascii")

    def answer(self, message: bytes = b"(syn)") -> str:
        """Sends a message; the next one that comes."""
        self.send(message)
        return self.text()

    def percept(self) -> Percept:
        return read_percept(self.text().encode())

    def enter(self, *, team: str = "Nutmeg", number: int = 0, robot_type: int = 0) -> Percept:
        """Enter the game; the first percept that tells the number."""
        self.send(b"(scene rsg/agent/nao/nao_hetero.rsg %d)" % robot_type)
        assert self.percept().game.number is None
        self.send(b"(init (unum %d)(teamname %s))" % (number, team.encode()))
        while True:
            percept = self.percept()
            if percept.game.number is not None:
                return percept
            self.send(b"(syn)")

    def ended(self) -> bool:
        """Whether the server ends the connection, after whatever it still sends."""
        while self.receive() is not None:
            pass
        return True

    def close(self) -> None:
        self.socket.close()


class Served:
    """A server that runs in a thread of its own, and clients that are closed with it."""

    def __init__(self, game: Any, settings: ServerSettings, protocol: ServedProtocol = SIMSPARK) -> None:
        self.game = game
        self.reports: list[Report] = []
        self.server = Server(game, settings, self.reports.append, protocol)
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        self.clients: list[Client] = []

    def agent(self) -> Client:
        return self._keep(Client(self.server.agent_port))

    def monitor(self) -> Client:
        return self._keep(Client(self.server.monitor_port))

    def texts(self, kind: str) -> list[str]:
        return [report.text for report in list(self.reports) if report.kind == kind]

    def wait_until(self, true: Callable[[], bool]) -> None:
        """Waits for something that happens in the server's thread."""
        wait_until(true, PATIENCE)

    def wait_for_robots(self, count: int) -> None:
        """Waits until the server has heard that so many agents want a robot."""
        agents = self.server._agents._agents
        self.wait_until(lambda: sum(agent.robot_type is not None for agent in list(agents.values())) == count)

    def let_pass(self, seconds: float, *clients: Client) -> None:
        """What the server waits for these clients for began longer ago."""
        names = [f"agent 127.0.0.1:{client.socket.getsockname()[1]}" for client in clients]
        agents = self.server._agents._agents
        self.wait_until(lambda: {connection.name for connection in list(agents)} >= set(names))
        for connection, agent in list(agents.items()):
            if connection.name in names:
                agent.since, agent.asked = agent.since - seconds, agent.asked - seconds

    def close(self) -> None:
        self.server.stop()
        self.thread.join(PATIENCE)
        alive = self.thread.is_alive()
        self.server.close()
        for client in self.clients:
            client.close()
        assert not alive, "the server does not stop"

    def _keep(self, client: Client) -> Client:
        self.clients.append(client)
        return client


@pytest.fixture
def game() -> GamePort:
    return StandInGame()


@pytest.fixture
def serve(game: StandInGame) -> Iterator[Callable[..., Served]]:
    """Start a server on free ports; keywords are its settings.

    Unless a test asks for it, nobody is disconnected because the computer is busy with something else.
    """
    started: list[Served] = []
    patient = {"handshake": 600.0, "unsent": 1 << 26}

    def start(*, limits: AgentLimits | None = None, **settings: Any) -> Served:
        given, usual = limits or AgentLimits(), AgentLimits()
        own = {name: value for name, value in patient.items() if getattr(given, name) == getattr(usual, name)}
        settings["limits"] = dataclasses.replace(given, **own)  # type: ignore[arg-type]
        started.append(Served(game, ServerSettings(agent_port=0, monitor_port=0, **settings)))
        return started[-1]

    yield start
    for served in started:
        served.close()


@pytest.fixture(scope="session")
def recorded() -> SimpleNamespace:
    """Recorded messages: of agents, of the server to agents, to and from a monitor; of each agent that joins, all."""
    lines = [line for name in ("agent_a.txt", "agent_b.txt") for line in (DATA / name).read_text().splitlines()]
    split = [line.split(" ", 3) for line in lines]
    monitor = [
        line.split(" ", 2) for line in gzip.decompress((DATA / "monitor.txt.gz").read_bytes()).decode().splitlines()
    ]
    joining: dict[str, list[tuple[bool, bytes]]] = {}
    for line in gzip.decompress((DATA / "joining.txt.gz").read_bytes()).splitlines():
        name, direction, message = line.split(b" ", 2)
        joining.setdefault(name.decode(), []).append((direction == b"C>S", message))
    return SimpleNamespace(
        joining=joining,
        from_agents=[words[3].encode() for words in split if words[2] == "C>S"],
        to_agents=[words[3].encode() for words in split if words[2] == "S>C"],
        to_monitor=[words[2].encode() for words in monitor if words[1] == "RECV"],
        from_monitor=[words[2].encode() for words in monitor if words[1] == "SEND"],
    )
