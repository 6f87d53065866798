"""A server that speaks SimSpark: agents on one port, monitors and trainers on another, and nobody waits for a client.

    with Server(game, ServerSettings(pace="sync")) as server:
        print("ready")
        server.run()                     # until Ctrl-C, (killsim), or server.stop() from another thread

Three paces: `real-time` plays a cycle every 20 ms, whatever clients do; `fast` as soon as every agent has answered, at
the latest after 20 ms; `sync` when every agent has said `(syn)`, however long that takes. With no agents, all three
keep real time. Everything happens in one thread. Between cycles, sockets that have something to say are read a piece
at a time, so nobody is served twice before everybody has been served once; when a cycle is due, it begins, and who
has not been served by then is the first in the next. A server that waits for agents that answer at once stays awake
meanwhile (see `wakeful`); in real time it sleeps.
"""

from __future__ import annotations

import contextlib
import math
import selectors
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Literal

from nutmeg.base.errors import EnvironmentProblem
from nutmeg.net.connection import Connection, Limits, Report, Reporter
from nutmeg.net.loop import WakefulSelector
from nutmeg.net.simspark.agents import Agents
from nutmeg.net.simspark.monitors import Monitors

if TYPE_CHECKING:
    from nutmeg.net.simspark.game_port import GamePort

Pace = Literal["real-time", "fast", "sync"]
_CHECK_EVERY = 0.25
"""How often clients are checked for taking too long, s."""
_TOO_LATE = 0.25
"""A server that is later than this does not try to catch up, s."""
_LEAST_SERVICE = 0.004
"""Time for clients in each cycle, even where the cycle is late, s."""
_ACCEPTED_AT_ONCE = 16
_LOOK_ROUND = 0.001
"""How often a server that nobody keeps waiting looks for new clients, s."""


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
    """Length of a cycle, s."""
    monitor_every: int = 2
    """Monitors are sent a frame every so many cycles."""
    limits: Limits = field(default_factory=Limits)
    """What one client may do."""


class Server:
    """Serves a game; open after construction, closed by `close` or at the end of a `with`."""

    def __init__(self, game: GamePort, settings: ServerSettings | None = None, report: Reporter | None = None) -> None:
        """Listen on both ports; `report` is told about clients."""
        self.settings = settings = settings or ServerSettings()
        self.cycles = 0
        """Cycles played so far."""
        self.late_cycles = 0
        """Cycles that began more than a cycle too late, in real time."""
        self._game = game
        self._report: Reporter = report or (lambda _: None)
        self._agents = Agents(game, settings.limits, self._report)
        self._monitors = Monitors(game, settings.limits, self._report, lose_player=self._agents.lose, end=self.stop)
        self._stopping = False
        self._selector = WakefulSelector()
        self._wake, self._woken = socket.socketpair()
        self._woken.settimeout(0.0)
        self._due = self._next_check = self._next_look = 0.0
        self._unserved: set[object] = set()
        self._kinds: dict[Connection, Agents | Monitors] = {}
        self._open: list[socket.socket] = [self._wake, self._woken]
        try:
            self._selector.register(self._woken, selectors.EVENT_READ, self._drain)
            self.agent_port = self._listen(settings.agent_port, self._accept_agents)
            """The port that agents connect to."""
            self.monitor_port = self._listen(settings.monitor_port, self._accept_monitors)
            """The port that monitors connect to."""
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Server:
        """The server itself, listening."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close everything."""
        self.close()

    @property
    def agents(self) -> int:
        """Agents that have entered the game."""
        return self._agents.playing

    @property
    def connections(self) -> int:
        """Connected clients of all kinds."""
        return len(self._kinds)

    def run(self, cycles: int | None = None, *, until: Callable[[], bool] = lambda: False) -> None:
        """Serve until stopped, for so many cycles, or until a condition holds; Ctrl-C stops at the end of a cycle."""
        last = None if cycles is None else self.cycles + cycles
        self._due = time.monotonic()
        with _stopping_on_signals(self.stop):
            while not self._stopping and not until() and (last is None or self.cycles < last):
                self._await_cycle()
                if not self._stopping:
                    self._play_cycle()

    def stop(self) -> None:
        """End `run` soon; may be called from any thread, and from a signal's handler."""
        self._stopping = True
        with contextlib.suppress(OSError):  # full of earlier wake-ups, or closed: both mean that run ends anyway
            self._wake.send(b"x")

    def close(self) -> None:
        """Disconnect everybody and free the ports."""
        for connection in list(self._kinds):
            connection.lose("the server ends")
            self._part(connection)
        for sock in self._open:
            sock.close()
        self._selector.close()

    def _await_cycle(self) -> None:
        """Serve clients until the next cycle is to begin, at least once."""
        served = self.settings.pace == "sync" and self._take_answers()
        while not self._stopping:
            now = time.monotonic()
            if now >= self._next_check:
                self._check(now)
            left = self._time_left(now)
            if served and left <= 0.0:
                return
            self._serve(max(0.0, left))
            served = True

    def _take_answers(self) -> bool:
        """Read from those who are waited for, without asking who has something to say; whether nobody else needs it.

        Monitors are served before every cycle, so that what a trainer says counts from the same cycle on as ever.
        """
        for connection in self._agents.awaited():
            self._hear(connection)
            if connection.lost is not None or connection.held_up:
                self._watch(connection)
        return not len(self._monitors) and time.monotonic() < self._next_look

    def _time_left(self, now: float) -> float:
        """Until the next cycle, or until another look is worth while, s."""
        pace = self.settings.pace
        if pace == "real-time":
            return self._due - now
        if self._agents.waited_for(for_syn=pace == "sync"):
            return self._due - now if pace == "fast" else _CHECK_EVERY
        return 0.0 if self._agents.any_with_robot else self._due - now

    def _serve(self, timeout: float) -> None:
        """Wait for clients at most so long, and give each one turn."""
        self._next_look = time.monotonic() + _LOOK_ROUND
        wait = self._selector.select if self.settings.pace == "real-time" else self._selector.wait
        ready = wait(timeout)
        if self._unserved:
            ready.sort(key=lambda pair: pair[0].data not in self._unserved)
            self._unserved = set()
        latest = self._latest()
        for count, (key, events) in enumerate(ready):
            if count and time.monotonic() > latest:
                self._unserved = {later.data for later, _ in ready[count:]}
                return
            if isinstance(key.data, Connection):
                self._turn(key.data, events)
            else:
                key.data()

    def _latest(self) -> float:
        """When to leave the rest of the clients for the next cycle; even a server that is late gives them some time."""
        if self.settings.pace == "sync" and self._agents.any_with_robot:
            return math.inf
        return max(self._due, time.monotonic() + _LEAST_SERVICE)

    def _turn(self, connection: Connection, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            connection.flush()
        if events & selectors.EVENT_READ:
            self._hear(connection)
        self._watch(connection)

    def _hear(self, connection: Connection) -> None:
        """Take up what a client has sent."""
        kind = self._kinds[connection]
        for message in connection.receive():
            kind.handle(connection, message)
            if connection.lost is not None:
                break

    def _watch(self, connection: Connection) -> None:
        """Wait for what matters with this client; drop it if it is lost."""
        if connection.lost is not None:
            self._drop(connection)
            return
        wanted = 0 if connection.held_up else selectors.EVENT_READ
        if connection.unsent:
            wanted |= selectors.EVENT_WRITE
        if wanted == connection.watched:
            return
        if not connection.watched:
            self._selector.register(connection.socket, wanted, connection)
        elif not wanted:
            self._selector.unregister(connection.socket)
        else:
            self._selector.modify(connection.socket, wanted, connection)
        connection.watched = wanted

    def _play_cycle(self) -> None:
        settings = self.settings
        now = time.monotonic()
        late = now - self._due
        self.late_cycles += settings.pace == "real-time" and late > settings.cycle
        self._due = (
            now + settings.cycle if settings.pace != "real-time" or late > _TOO_LATE else self._due + settings.cycle
        )
        percepts = self._game.cycle(self._agents.take_actions())
        self.cycles += 1
        if self.cycles % settings.monitor_every == 0:
            self._monitors.show()
        self._agents.tell(percepts)
        for connection in [one for one in self._kinds if not one.new_cycle()]:
            self._watch(connection)
        if settings.pace != "real-time":
            self._game.work_ahead()  # while they are thought about

    def _check(self, now: float) -> None:
        self._next_check = now + _CHECK_EVERY
        self._agents.check(now, for_syn=self.settings.pace == "sync")
        for connection in [c for c in self._kinds if c.lost is not None]:
            self._drop(connection)

    def _drop(self, connection: Connection) -> None:
        kind = self._kinds[connection]
        self._part(connection)
        kind.dismiss(connection)

    def _part(self, connection: Connection) -> None:
        """Close a connection; what its client was to the game is another matter."""
        if connection.watched:
            self._selector.unregister(connection.socket)
            connection.watched = 0
        del self._kinds[connection]
        self._report(Report(kind="left", client=connection.name, text=connection.lost or ""))
        connection.close()

    def _listen(self, port: int, accept: Callable[[socket.socket], None]) -> int:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._open.append(listener)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.settimeout(0.0)
        try:
            listener.bind((self.settings.host, port))
            listener.listen(64)
        except (OSError, OverflowError) as error:
            raise EnvironmentProblem(
                f"cannot listen on {self.settings.host}, port {port}: {error}. "
                "Choose another port, or end the program that uses it."
            ) from None
        self._selector.register(listener, selectors.EVENT_READ, lambda: accept(listener))
        found: tuple[str, int] = listener.getsockname()
        return found[1]

    def _accept_agents(self, listener: socket.socket) -> None:
        limits = self.settings.limits
        self._accept(listener, "agent", self._agents, limits.agents, limits.agent_message)

    def _accept_monitors(self, listener: socket.socket) -> None:
        limits = self.settings.limits
        self._accept(listener, "monitor", self._monitors, limits.monitors, limits.monitor_message)

    def _accept(self, listener: socket.socket, name: str, kind: Agents | Monitors, most: int, longest: int) -> None:
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                sock, (host, port) = listener.accept()
            except OSError:  # nobody is left, or whoever came has gone again
                return
            if len(kind) >= most:
                text = f"there are {most} connections already"
                self._report(Report(kind="refused", client=f"{name} {host}:{port}", text=text))
                sock.close()
                continue
            connection = Connection(sock, f"{name} {host}:{port}", longest=longest, limits=self.settings.limits)
            kind.admit(connection)
            self._kinds[connection] = kind
            self._watch(connection)

    def _drain(self) -> None:
        with contextlib.suppress(OSError):
            self._woken.recv(64)


@contextlib.contextmanager
def _stopping_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """While inside, Ctrl-C and a request to terminate stop the server; only the main thread can be told of them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(_signal: int, _frame: FrameType | None) -> None:
        stop()

    before: dict[int, Any] = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
