"""The agents of a served game: from their first word to the cycle in which they leave.

    agents = Agents(game, limits, report)
    agents.admit(connection)                     # a new client
    agents.handle(connection, message)           # whenever one has arrived
    agents.tell(game.cycle(agents.take_actions()))

An agent asks for a robot with `(scene ...)`, is sent percepts of a robot that stands nowhere, asks to enter with
`(init ...)`, and plays; while there is no seat for it, it is sent nothing. Until the next percept it may send several
messages, which count as one; a server that waits for its agents takes `(syn)`, and also the two requests above, as the
sign that an agent is ready.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nutmeg.base.errors import NutmegError
from nutmeg.match.rules.slots import SLOTS, side_and_number
from nutmeg.match.worlds.physical.percept import WITHOUT_TOES, Action, Percept
from nutmeg.net.connection import Limits, Report, Reporter
from nutmeg.net.simspark.effectors import Entry, joints_of, merged, read_orders
from nutmeg.net.simspark.percepts import PerceptWriter

if TYPE_CHECKING:
    from nutmeg.net.connection import Connection
    from nutmeg.net.simspark.game_port import GamePort


@dataclass(slots=True, eq=False)
class Agent:
    """One client, and how far it has come."""

    connection: Connection
    since: float
    """When it connected, or was first sent a percept without having entered."""
    robot_type: int | None = None
    """The robot it asked for."""
    joints: int = WITHOUT_TOES
    entry: Entry | None = None
    """Its request to enter, while there is no seat for it."""
    slot: int | None = None
    """Its place in the game, once it has entered."""
    action: Action | None = None
    """What it wants done in the next cycle."""
    ready: bool = False
    """Whether it has said that the next cycle may come."""
    asked: float = 0.0
    """When it was sent its last percept."""
    greeted: bool = False
    """Whether it has been sent any percept."""
    introduced: bool = False
    """Whether it has been told its number and side."""


class Agents:
    """All agents."""

    def __init__(self, game: GamePort, limits: Limits, report: Reporter) -> None:
        """Nobody yet."""
        self._game, self._limits, self._report = game, limits, report
        self._agents: dict[Connection, Agent] = {}
        self._swaps = game.swaps
        self._writer = PerceptWriter()
        self._silent: set[Agent] = set()  # who has sent nothing since its last percept
        self._unready: set[Agent] = set()  # who has not said since then that the next cycle may come

    def __len__(self) -> int:
        """Connected clients, whether they play or not."""
        return len(self._agents)

    @property
    def playing(self) -> int:
        """Clients that have entered the game."""
        return sum(agent.slot is not None for agent in self._agents.values())

    def admit(self, connection: Connection) -> None:
        """A new client, of whom nothing is known."""
        self._agents[connection] = Agent(connection=connection, since=time.monotonic())

    def dismiss(self, connection: Connection) -> None:
        """A client that has gone; its robot leaves the game."""
        self._follow_swaps()
        agent = self._agents.pop(connection)
        self._forget(agent)
        if agent.slot is not None:
            self._game.leave(agent.slot)

    def handle(self, connection: Connection, message: bytes) -> None:
        """Take up a message."""
        agent = self._agents[connection]
        action, scene, entry, problems, broken = read_orders(message, agent.joints)
        self._silent.discard(agent)
        if scene is not None:
            self._give_robot(agent, scene)
        if entry is not None:
            self._ask_to_enter(agent, entry)
        if agent.slot is not None:
            agent.action = action if agent.action is None else merged(agent.action, action)
        if action.syn or scene is not None or entry is not None:
            agent.ready = True
            self._unready.discard(agent)
        if problems:
            for problem in problems:
                note_problem(connection, problem, self._limits, self._report)
            if broken:
                count_broken(connection, self._limits)

    def take_actions(self) -> dict[int, Action]:
        """What the agents want done, by slot; asked once a cycle. Who waits for a seat enters if there is one."""
        self._follow_swaps()
        for agent in [a for a in self._agents.values() if a.entry is not None]:
            self._try_to_enter(agent)
        actions: dict[int, Action] = {}
        for agent in self._agents.values():
            if agent.slot is not None and agent.action is not None:
                actions[agent.slot] = agent.action
                agent.action = None
        return actions

    def tell(self, percepts: Mapping[int, Percept]) -> None:
        """Send the percepts of a cycle: write them all, then send one after the other, so that they come together."""
        self._follow_swaps()
        messages = []
        for agent in self._agents.values():
            percept = self._percept(agent, percepts)
            if percept is not None:
                messages.append((agent, self._writer.framed(percept)))
        now = time.monotonic()
        for agent, message in messages:
            agent.ready, agent.asked = False, now
            self._silent.add(agent)
            self._unready.add(agent)
            if not agent.greeted:
                agent.greeted, agent.since = True, now
            agent.connection.send_framed(message)
            if agent.connection.unsent > self._limits.unsent:
                agent.connection.lose(f"it does not read: {agent.connection.unsent} bytes wait for it")

    def awaited(self) -> list[Connection]:
        """Who has not said `(syn)` since its last percept."""
        return [agent.connection for agent in self._unready]

    def waited_for(self, *, for_syn: bool) -> bool:
        """Whether somebody has not answered its last percept (or not with `(syn)`)."""
        return bool(self._unready if for_syn else self._silent)

    @property
    def any_with_robot(self) -> bool:
        """Whether anybody is there for whom a cycle means something."""
        for agent in self._agents.values():  # noqa: SIM110 (asked several times a cycle; a generator is slow)
            if agent.robot_type is not None and agent.entry is None:
                return True
        return False

    def check(self, now: float, *, for_syn: bool) -> None:
        """Lose those who take too long."""
        limits = self._limits
        for agent in self._agents.values():
            if agent.entry is not None:
                continue
            shy = agent.slot is None and (agent.robot_type is None or agent.greeted)
            if shy and now - agent.since > limits.handshake:
                wanted = "(scene ...)" if agent.robot_type is None else "(init ...)"
                agent.connection.lose(f"it has not sent {wanted} within {limits.handshake:g} s")
            elif for_syn and agent.greeted and not agent.ready and now - agent.asked > limits.patience:
                agent.connection.lose(f"it has not sent (syn) for {limits.patience:g} s")
            elif for_syn and not agent.ready and agent.connection.held_up:
                agent.connection.lose(f"it sent more than {limits.cycle_share} bytes without (syn)")
            elif agent.greeted and not agent.introduced and now - agent.asked > limits.newcomers:
                agent.ready = True
                self._forget(agent)

    def lose(self, slot: int, reason: str) -> None:
        """Disconnect whoever plays in a slot, if that is a client."""
        self._follow_swaps()
        for agent in self._agents.values():
            if agent.slot == slot:
                agent.connection.lose(reason)
                self._forget(agent)

    def _forget(self, agent: Agent) -> None:
        """Wait for somebody no longer."""
        self._silent.discard(agent)
        self._unready.discard(agent)

    def _give_robot(self, agent: Agent, robot_type: int) -> None:
        if agent.robot_type is not None:
            note_problem(agent.connection, "it asked for a second robot", self._limits, self._report)
            return
        agent.robot_type, agent.joints = robot_type, joints_of(robot_type)
        with self._refusing(agent):
            self._game.prepare_seat(robot_type)

    def _ask_to_enter(self, agent: Agent, entry: Entry) -> None:
        if agent.robot_type is None or agent.slot is not None or agent.entry is not None:
            problem = "(init ...) before (scene ...)" if agent.robot_type is None else "a second (init ...)"
            note_problem(agent.connection, problem, self._limits, self._report)
            return
        agent.entry = entry
        self._try_to_enter(agent)

    def _try_to_enter(self, agent: Agent) -> None:
        """Enter if there is a seat; otherwise the agent waits, and nobody waits for it."""
        entry, robot_type = agent.entry, agent.robot_type
        assert entry is not None
        assert robot_type is not None
        with self._refusing(agent):
            if not self._game.has_seat(robot_type):
                self._game.prepare_seat(robot_type)
                return
            self._follow_swaps()
            agent.slot = self._game.enter(entry.team, entry.number, robot_type)
            agent.entry = None
            side, number = side_and_number(agent.slot)
            text = f"number {number} of {entry.team}, {side.word}, robot type {robot_type}"
            self._report(Report(kind="joined", client=agent.connection.name, text=text))

    @contextlib.contextmanager
    def _refusing(self, agent: Agent) -> Iterator[None]:
        """Whom the game refuses something is disconnected, with the game's reason."""
        try:
            yield
        except NutmegError as error:
            agent.entry = None
            agent.connection.lose(f"it was refused: {error}")

    def _follow_swaps(self) -> None:
        """Change slots if the teams have changed ends."""
        if (self._game.swaps - self._swaps) % 2:
            for agent in self._agents.values():
                if agent.slot is not None:
                    agent.slot = (agent.slot + SLOTS // 2) % SLOTS
        self._swaps = self._game.swaps

    def _percept(self, agent: Agent, percepts: Mapping[int, Percept]) -> Percept | None:
        if agent.slot is not None:
            percept = percepts.get(agent.slot)
            return percept if agent.introduced or percept is None else _introducing(agent, percept)
        if agent.robot_type is None or agent.entry is not None:
            return None
        return self._game.percept_before_joining(agent.robot_type)


def _introducing(agent: Agent, percept: Percept) -> Percept:
    """One of the first percepts of a player: number and side come in the second, as on the league's server.

    Agents may throw the first one away, which comes as the answer to `(init ...)`.
    """
    assert agent.slot is not None, "only players have numbers"
    if percept.game.number is not None:
        return percept._replace(game=percept.game._replace(number=None, side=None))
    agent.introduced = True
    side, number = side_and_number(agent.slot)
    return percept._replace(game=percept.game._replace(number=number, side=side))


def note_problem(connection: Connection, problem: str, limits: Limits, report: Reporter) -> None:
    """Tell a problem with a client's message, the first few times."""
    connection.problems += 1
    if connection.problems <= limits.reported_problems:
        last = "; further problems are not told" if connection.problems == limits.reported_problems else ""
        report(Report(kind="problem", client=connection.name, text=f"{problem}{last}"))


def count_broken(connection: Connection, limits: Limits) -> None:
    """Count a message without sense; too many lose the client."""
    connection.broken += 1
    if connection.broken >= limits.broken_messages:
        connection.lose(f"it sent {connection.broken} messages without sense")
