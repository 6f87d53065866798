"""A server for SimSpark's protocol: agents on one port, monitors and trainers on another.

    with Server(game, ServerSettings(pace="sync")) as server:
        print("ready")
        server.run()                     # until Ctrl-C, (killsim), or server.stop() from another thread

There are three paces: `real-time` plays a cycle every 20 ms, independently of clients; `fast` as soon as every agent
has answered, at the latest after 20 ms; `sync` when every agent has sent `(syn)`, however long that takes. Without
agents, all three keep real time. Everything happens in one thread. Between cycles, sockets are read a piece at a time,
so that no client is served twice before all have been served once; when a cycle is due, it begins, and clients that
could not be served in time go first afterwards. A server that waits for agents that answer at once polls meanwhile
instead of sleeping (see `net.loop`); in real time it sleeps.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from nutmeg.base.interrupts import Closing, signals_handled
from nutmeg.match.rules.slots import side_and_number
from nutmeg.match.worlds.physical.percept import WITHOUT_TOES, Action, Percept
from nutmeg.net.agents import Agent, AgentLimits, ServedAgents, ServedGame
from nutmeg.net.connection import Connection, Reporter, no_report
from nutmeg.net.loop import Listener, SocketLoop, tcp_listener
from nutmeg.net.simspark.effectors import Entry, joints_of, merged, read_orders
from nutmeg.net.simspark.monitors import Monitors
from nutmeg.net.simspark.percepts import PerceptWriter
from nutmeg.sim.pace import RealTime

if TYPE_CHECKING:
    from nutmeg.net.simspark.game_port import GamePort

Pace = Literal["real-time", "fast", "sync"]
CHECK_PERIOD = 0.25
"""How often clients are checked for taking too long [s]."""
MAX_LATENESS = 0.25
"""A server that is later than this does not try to catch up [s]."""
ACCEPT_PERIOD = 0.001
"""How often a server that never has to wait for its agents looks for new clients [s]."""


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """Where and how to serve."""

    host: str = "127.0.0.1"
    """Address to listen on; `0.0.0.0` lets other machines in."""
    agent_port: int = 3100
    """TCP port for agents; 0 takes a free one."""
    monitor_port: int = 3200
    """TCP port for monitors and trainers; 0 takes a free one."""
    pace: Pace = "real-time"
    """When a cycle begins."""
    cycle: float = 0.02
    """Length of a cycle [s]."""
    monitor_every: int = 2
    """Cycles between two frames for monitors."""
    limits: AgentLimits = field(default_factory=AgentLimits)
    """Limits of one client."""


# ----------------------------------------------------------------------------------------------------
# SimSpark's agents
#
# An agent asks for a robot with `(scene ...)`, is sent percepts of a robot that falls in the middle of the pitch
# (`match.newcomers`), asks to enter with `(init ...)`, and plays. Until the next percept it may send several messages,
# which count as one; a server that waits for its agents takes `(syn)`, and also the two requests above, as the sign
# that an agent is ready.


class Agents(ServedAgents[Action, Percept]):
    """All agents of SimSpark's protocol; the owner of their connections."""

    first_request = "(scene ...)"

    def __init__(self, game: GamePort, loop: SocketLoop, limits: AgentLimits, report: Reporter) -> None:
        super().__init__(game, loop, limits, report)
        self._spark_game, self._writer = game, PerceptWriter()

    def handle(self, connection: Connection[bytes], message: bytes) -> None:
        """Takes up a message."""
        agent = self._agents[connection]
        action, scene, entry, problems, broken = read_orders(message, agent.joints or WITHOUT_TOES)
        if scene is not None:
            self._give_robot(agent, scene)
        if entry is not None:
            self._enter(agent, entry)
        if agent.slot is not None:
            agent.action = action if agent.action is None else merged(agent.action, action)
        self.answered(agent, ready=action.syn or scene is not None or entry is not None)
        if problems:
            connection.note_problems(problems, broken=broken)

    def message(self, agent: Agent[Action], percepts: Mapping[int, Percept]) -> bytes | None:
        """The text of an agent's percept."""
        percept = self._percept(agent, percepts)
        return None if percept is None else self._writer.framed(percept)

    def _give_robot(self, agent: Agent[Action], robot_type: int) -> None:
        if agent.robot_type is not None:
            agent.connection.note_problem("it asked for a second robot")
            return
        agent.robot_type, agent.joints = robot_type, joints_of(robot_type)

    def _enter(self, agent: Agent[Action], entry: Entry) -> None:
        if agent.robot_type is None or agent.slot is not None:
            problem = "(init ...) before (scene ...)" if agent.robot_type is None else "a second (init ...)"
            agent.connection.note_problem(problem)
            return
        self.enter(agent, entry.team, entry.number, f"robot type {agent.robot_type}")

    def _percept(self, agent: Agent[Action], percepts: Mapping[int, Percept]) -> Percept | None:
        if agent.slot is not None:
            percept = percepts.get(agent.slot)
            return percept if agent.introduced or percept is None else _introducing(agent, percept)
        if agent.robot_type is None:
            return None
        return self._spark_game.percept_before_joining(agent.robot_type, agent.percepts)


def _introducing(agent: Agent[Action], percept: Percept) -> Percept:
    """One of the first percepts of a player: number and side come in the second, as on the league's server.

    Agents may throw the first one away, which comes as the answer to `(init ...)`.
    """
    assert agent.slot is not None, "only players have numbers"
    if percept.game.number is not None:
        return percept._replace(game=percept.game._replace(number=None, side=None))
    agent.introduced = True
    side, number = side_and_number(agent.slot)
    return percept._replace(game=percept.game._replace(number=number, side=side))


# ----------------------------------------------------------------------------------------------------
# The server, for SimSpark's and other protocols.


class ServedProtocol(NamedTuple):
    """The protocol of a server's clients."""

    agents: Callable[[Any, SocketLoop, AgentLimits, Reporter], ServedAgents[Any, Any]]
    """Makes the owner of the agents' connections."""
    monitors: Callable[..., Monitors]
    """Makes the owner of the monitors' connections; arguments as of `Monitors`."""


SIMSPARK = ServedProtocol(Agents, Monitors)


class Server(Closing):
    """Serves a game; clients can connect once it is constructed, until `close` or the end of a `with`.

    Args:
        game: what is served.
        settings: where and how.
        report: called with what happens to clients.
        protocol: what agents and monitors speak.
    """

    def __init__(
        self,
        game: ServedGame[Any, Any],
        settings: ServerSettings | None = None,
        report: Reporter = no_report,
        protocol: ServedProtocol = SIMSPARK,
    ) -> None:
        self.settings = settings = settings or ServerSettings()
        self.cycles = 0
        """Number of cycles played."""
        self.late_cycles = 0
        """Cycles that began more than a cycle too late, in real time."""
        self._game, self._loop = game, SocketLoop()
        self._agents = protocol.agents(game, self._loop, settings.limits, report)
        self._monitors = protocol.monitors(
            game, self._loop, settings.limits, report, lose_player=self._agents.lose, end=self.stop
        )
        self._stopping = False
        self._next_check = self._next_accept = 0.0
        self._clock = RealTime(slack=MAX_LATENESS)
        self._listeners: list[Listener] = []
        try:
            for port, admit in (
                (settings.agent_port, self._agents.admit),
                (settings.monitor_port, self._monitors.admit),
            ):
                self._listeners.append(Listener(self._loop, tcp_listener(settings.host, port), admit))
        except BaseException:
            self.close()
            raise
        self.agent_port, self.monitor_port = (listener.address[1] for listener in self._listeners)
        """The ports that agents and monitors connect to."""

    @property
    def agents(self) -> int:
        """The number of agents that have entered the game."""
        return self._agents.playing

    @property
    def connections(self) -> int:
        """The number of connected clients of all kinds."""
        return len(self._agents.connections) + len(self._monitors.connections)

    def run(self, cycles: int | None = None, *, until: Callable[[], bool] = lambda: False) -> None:
        """Serves until stopped, for some cycles, or until a condition holds; Ctrl-C stops at the end of a cycle."""
        last = math.inf if cycles is None else self.cycles + cycles
        self._clock.start(self.cycles * self.settings.cycle)
        with signals_handled(self.stop, signal.SIGINT, signal.SIGTERM):
            while not self._stopping and not until() and self.cycles < last:
                self._await_cycle()
                if not self._stopping:
                    self._play_cycle()

    def stop(self) -> None:
        """Ends `run` soon; may be called from any thread, and from a signal's handler."""
        self._stopping = True
        self._loop.wake()

    def close(self) -> None:
        """Disconnects all clients and frees the ports; closing twice is fine."""
        for connection in (*self._agents.connections, *self._monitors.connections):
            connection.close()
        for listener in self._listeners:
            listener.close()
        self._loop.close()

    @property
    def _due(self) -> float:
        """When the next cycle is due, by `time.monotonic` [s]."""
        return self._clock.due(self.cycles * self.settings.cycle)

    def _await_cycle(self) -> None:
        """Serves clients until the next cycle is to begin, at least once."""
        served = self.settings.pace == "sync" and self._take_answers()
        while not self._stopping:
            now = time.monotonic()
            if now >= self._next_check:
                self._next_check = now + CHECK_PERIOD
                self._agents.check(now, for_syn=self.settings.pace == "sync")
            left = self._time_left(now)
            if served and left <= 0.0:
                return
            self._serve(max(0.0, left))
            served = True

    def _take_answers(self) -> bool:
        """Reads from the agents that are waited for, without selecting ready sockets; returns whether that was enough.

        Selecting costs more than reading from a few sockets. Monitors are served before every cycle, so that a
        trainer's commands take effect in the same cycle as otherwise.
        """
        for connection in self._agents.awaited():
            connection.receive()
            if connection.lost is not None or connection.held_up:
                connection.update()
        return not self._monitors.connections and time.monotonic() < self._next_accept

    def _time_left(self, now: float) -> float:
        """Time until the next cycle, or until another look is worth while [s]."""
        pace = self.settings.pace
        if pace == "real-time":
            return self._due - now
        if self._agents.waited_for(for_syn=pace == "sync"):
            return self._due - now if pace == "fast" else CHECK_PERIOD
        return 0.0 if self._agents.any_with_robot else self._due - now

    def _serve(self, timeout: float) -> None:
        """Waits for clients for at most a time [s], and gives each one turn."""
        pace = self.settings.pace
        self._next_accept = time.monotonic() + ACCEPT_PERIOD
        # A synchronous server has no due time once there are agents: every client gets a turn.
        until = math.inf if pace == "sync" and self._agents.any_with_robot else self._due
        self._loop.serve(timeout, awake=pace != "real-time", until=until)

    def _play_cycle(self) -> None:
        settings = self.settings
        now = self.cycles * settings.cycle
        if settings.pace == "real-time":
            self.late_cycles += self._clock.note_lateness(now) > settings.cycle
        else:
            self._clock.start(now)
        percepts = self._game.cycle(self._agents.take_actions())
        self.cycles += 1
        if self.cycles % settings.monitor_every == 0:
            self._monitors.show()
        self._agents.tell(percepts)
        for connection in (*self._agents.connections, *self._monitors.connections):
            connection.new_cycle()
        if settings.pace != "real-time":
            self._game.work_ahead()  # while agents think
