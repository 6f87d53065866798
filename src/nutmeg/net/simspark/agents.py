"""The agents of a served game: from their first message to the cycle in which they leave.

    agents = Agents(game, loop, SparkLimits(), report)
    listener = Listener(loop, tcp_listener("127.0.0.1", 3100), agents.admit)
    agents.tell(game.cycle(agents.take_actions()))          # once a cycle

An agent asks for a robot with `(scene ...)`, is sent percepts of a robot that falls in the middle of the pitch
(`match.newcomers`), asks to enter with `(init ...)`, and plays. An agent that the game refuses is disconnected with the
game's reason. Until the next percept it may send several messages, which count as one; a server that waits for its
agents takes `(syn)`, and also the two requests above, as the sign that an agent is ready.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nutmeg.base.errors import NutmegError
from nutmeg.match.rules.slots import SLOTS, side_and_number
from nutmeg.match.worlds.physical.percept import WITHOUT_TOES, Action, Percept
from nutmeg.net.connection import Connection, Limits, Report, Reporter, refuse
from nutmeg.net.simspark.effectors import Entry, joints_of, merged, read_orders
from nutmeg.net.simspark.percepts import PerceptWriter
from nutmeg.net.simspark.sexpr import Unframer

if TYPE_CHECKING:
    import socket

    from nutmeg.net.loop import SocketLoop
    from nutmeg.net.simspark.game_port import GamePort


@dataclass(frozen=True, kw_only=True)
class SparkLimits(Limits):
    """Bounds for each agent and monitor."""

    agent_message: int = 4096
    """The longest message of an agent [bytes]."""
    monitor_message: int = 65536
    """The longest message of a monitor [bytes]."""
    unsent: int = 131072
    """Bytes that may wait here for an agent that does not read, beside what its socket holds."""
    handshake: float = 10.0
    """Time to ask for a robot, and again to enter the game once percepts come [s]."""
    patience: float = 60.0
    """How long a server that waits for `(syn)` waits for one agent before it disconnects it [s]."""
    newcomers: float = 5.0
    """How long such a server waits for the answer of an agent that does not know its number yet [s]. The league's
    server does not wait for the answers to an agent's first percepts at all, and there are agents that throw one of
    them away."""
    agents: int = 64
    """Connections of agents at once."""
    monitors: int = 16
    """Connections of monitors at once."""


@dataclass(slots=True, eq=False)
class Agent:
    """One client, and how far it has come."""

    connection: Connection[bytes]
    since: float
    """When it connected, or was first sent a percept without having entered."""
    robot_type: int | None = None
    """The robot it asked for."""
    joints: int = WITHOUT_TOES
    slot: int | None = None
    """Its place in the game, once it has entered."""
    action: Action | None = None
    """What it wants done in the next cycle."""
    ready: bool = False
    """Whether it has said that the next cycle may come."""
    asked: float = 0.0
    """When it was sent its last percept."""
    percepts: int = 0
    """Percepts that it has been sent."""
    introduced: bool = False
    """Whether it has been sent its number and side."""


class Agents:
    """All agents; the owner of their connections."""

    def __init__(self, game: GamePort, loop: SocketLoop, limits: SparkLimits, report: Reporter) -> None:
        self._game, self._loop, self._limits, self._report = game, loop, limits, report
        self._agents: dict[Connection[bytes], Agent] = {}
        self._swaps = game.swaps
        self._writer = PerceptWriter()
        self._silent: set[Agent] = set()
        """Agents that have sent nothing since their last percept."""
        self._unready: set[Agent] = set()
        """Agents that have not said since their last percept that the next cycle may come."""

    @property
    def connections(self) -> list[Connection[bytes]]:
        """Connected clients, whether they play or not."""
        return list(self._agents)

    @property
    def playing(self) -> int:
        """The number of clients that have entered the game."""
        return sum(agent.slot is not None for agent in self._agents.values())

    def admit(self, sock: socket.socket, peer: str) -> None:
        """Takes in a new client, of which nothing is known yet."""
        name, limits = f"agent {peer}", self._limits
        if len(self._agents) >= limits.agents:
            refuse(sock, name, limits.agents, self._report)
            return
        reader = Unframer(limits.agent_message)
        connection = Connection(sock, name, self._loop, reader=reader, owner=self, limits=limits, report=self._report)
        self._agents[connection] = Agent(connection=connection, since=time.monotonic())

    def dismiss(self, connection: Connection[bytes]) -> None:
        """A client has gone: its robot leaves the game."""
        self._follow_swaps()
        agent = self._agents.pop(connection)
        self._forget(agent)
        if agent.slot is not None:
            self._game.leave(agent.slot)

    def handle(self, connection: Connection[bytes], message: bytes) -> None:
        """Takes up a message."""
        agent = self._agents[connection]
        action, scene, entry, problems, broken = read_orders(message, agent.joints)
        self._silent.discard(agent)
        if scene is not None:
            self._give_robot(agent, scene)
        if entry is not None:
            self._enter(agent, entry)
        if agent.slot is not None:
            agent.action = action if agent.action is None else merged(agent.action, action)
        if action.syn or scene is not None or entry is not None:
            agent.ready = True
            self._unready.discard(agent)
        if problems:
            for problem in problems:
                connection.note_problem(problem)
            if broken:
                connection.count_broken()

    def take_actions(self) -> dict[int, Action]:
        """The actions of the agents by slot; asked once a cycle."""
        self._follow_swaps()
        actions: dict[int, Action] = {}
        for agent in self._agents.values():
            if agent.slot is not None and agent.action is not None:
                actions[agent.slot] = agent.action
                agent.action = None
        return actions

    def tell(self, percepts: Mapping[int, Percept]) -> None:
        """Sends the percepts of a cycle: all are written first, then sent one after the other, to arrive together."""
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
            if not agent.percepts:
                agent.since = now
            agent.percepts += 1
            agent.connection.send(message)
            if agent.connection.unsent > self._limits.unsent:
                agent.connection.lose(f"it does not read: {agent.connection.unsent} bytes wait for it")

    def awaited(self) -> list[Connection[bytes]]:
        """Connections of the agents that have not said `(syn)` since their last percept."""
        return [agent.connection for agent in self._unready]

    def waited_for(self, *, for_syn: bool) -> bool:
        """Whether an agent has not answered its last percept (or not with `(syn)`)."""
        return bool(self._unready if for_syn else self._silent)

    @property
    def any_with_robot(self) -> bool:
        """Whether a cycle means something to anybody."""
        for agent in self._agents.values():  # noqa: SIM110 (asked several times a cycle; a generator is slow)
            if agent.robot_type is not None:
                return True
        return False

    def check(self, now: float, *, for_syn: bool) -> None:
        """Disconnects agents that take too long."""
        limits = self._limits
        for agent in list(self._agents.values()):
            undecided = agent.slot is None and (agent.robot_type is None or agent.percepts > 0)
            if undecided and now - agent.since > limits.handshake:
                wanted = "(scene ...)" if agent.robot_type is None else "(init ...)"
                agent.connection.lose(f"it has not sent {wanted} within {limits.handshake:g} s")
            elif for_syn and agent.percepts and not agent.ready and now - agent.asked > limits.patience:
                agent.connection.lose(f"it has not sent (syn) for {limits.patience:g} s")
            elif for_syn and not agent.ready and agent.connection.held_up:
                agent.connection.lose(f"it sent more than {limits.cycle_share} bytes without (syn)")
            elif agent.percepts and not agent.introduced and now - agent.asked > limits.newcomers:
                agent.ready = True
                self._forget(agent)
            agent.connection.update()

    def lose(self, slot: int, reason: str) -> None:
        """Disconnects the agent of a slot, if there is one."""
        self._follow_swaps()
        for agent in self._agents.values():
            if agent.slot == slot:
                agent.connection.lose(reason)
                self._forget(agent)

    def _forget(self, agent: Agent) -> None:
        """Waits for an agent no longer."""
        self._silent.discard(agent)
        self._unready.discard(agent)

    def _give_robot(self, agent: Agent, robot_type: int) -> None:
        if agent.robot_type is not None:
            agent.connection.note_problem("it asked for a second robot")
            return
        agent.robot_type, agent.joints = robot_type, joints_of(robot_type)

    def _enter(self, agent: Agent, entry: Entry) -> None:
        if agent.robot_type is None or agent.slot is not None:
            problem = "(init ...) before (scene ...)" if agent.robot_type is None else "a second (init ...)"
            agent.connection.note_problem(problem)
            return
        self._follow_swaps()
        try:
            agent.slot = self._game.enter(entry.team, entry.number, agent.robot_type)
        except NutmegError as error:
            agent.connection.lose(f"it was refused: {error}")
            return
        side, number = side_and_number(agent.slot)
        text = f"number {number} of {entry.team}, {side.word}, robot type {agent.robot_type}"
        self._report(Report(kind="joined", client=agent.connection.name, text=text))

    def _follow_swaps(self) -> None:
        """Changes slots if the teams have changed ends."""
        if (self._game.swaps - self._swaps) % 2:
            for agent in self._agents.values():
                if agent.slot is not None:
                    agent.slot = (agent.slot + SLOTS // 2) % SLOTS
        self._swaps = self._game.swaps

    def _percept(self, agent: Agent, percepts: Mapping[int, Percept]) -> Percept | None:
        if agent.slot is not None:
            percept = percepts.get(agent.slot)
            return percept if agent.introduced or percept is None else _introducing(agent, percept)
        if agent.robot_type is None:
            return None
        return self._game.percept_before_joining(agent.robot_type, agent.percepts)


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
