"""The agents of a served game, in any protocol: from their first message to the cycle in which they leave.

    class Agents(ServedAgents[Action, Percept]):               # what a protocol adds
        def handle(self, connection, message): ...             # text -> agent.action, enter(...)
        def message(self, agent, percepts): ...                # percept -> framed text, or None

    agents = Agents(game, loop, AgentLimits(), report)
    listener = Listener(loop, tcp_listener("127.0.0.1", 3100), agents.admit)
    agents.tell(game.cycle(agents.take_actions()))             # once a cycle

An agent that the game refuses is disconnected with the game's reason. Until the next percept it may send several
messages, which count as one. A server that waits for its agents waits until each is `ready`; what makes an agent ready
is its protocol's business.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from nutmeg.base.errors import NutmegError
from nutmeg.match.rules.slots import SLOTS, side_and_number
from nutmeg.net.connection import Connection, Limits, Report, Reporter, refuse
from nutmeg.net.simspark.sexpr import Unframer

if TYPE_CHECKING:
    import socket

    from nutmeg.net.loop import SocketLoop

ActionT = TypeVar("ActionT")
PerceptT = TypeVar("PerceptT")
_Action_contra = TypeVar("_Action_contra", contravariant=True)
_Percept_co = TypeVar("_Percept_co", covariant=True)


class ServedGame(Protocol[_Action_contra, _Percept_co]):
    """The interface of a game to its server; players are identified by slot (see `match.rules.slots`)."""

    @property
    def swaps(self) -> int:
        """How often the teams have changed ends; each time, every player's slot changes by 11."""
        ...

    def enter(self, team: str, number: int, robot_type: int) -> int:
        """Lets a player enter and returns its slot; number 0 takes any that is free. A game may refuse."""
        ...

    def leave(self, slot: int) -> None:
        """A player has gone."""
        ...

    def cycle(self, actions: Mapping[int, _Action_contra]) -> Mapping[int, _Percept_co]:
        """Play one cycle: actions of remote players by slot in, percepts of remote players by slot out."""
        ...

    def work_ahead(self) -> None:
        """Do of the next cycle what its actions do not matter for; called when percepts have been sent."""
        ...


@dataclass(frozen=True, kw_only=True)
class AgentLimits(Limits):
    """Bounds for each agent and monitor."""

    agent_message: int = 4096
    """The longest message of an agent [bytes]."""
    monitor_message: int = 65536
    """The longest message of a monitor [bytes]."""
    unsent: int = 131072
    """Bytes that may wait here for an agent that does not read, beside what its socket holds. It misses what comes
    then, as on the league's server, which does not disconnect agents that stall."""
    handshake: float = 10.0
    """Time to ask for a robot, and again to enter the game once percepts come [s]."""
    patience: float = 60.0
    """How long a server that waits for `(syn)` waits for one agent before it disconnects it [s]."""
    newcomers: float = 5.0
    """How long a synchronous server waits for the answer of an agent that does not know its number yet [s]. The
    league's server does not wait for the answers to an agent's first percepts, and some agents throw one of them
    away."""
    agents: int = 64
    """Connections of agents at once."""
    monitors: int = 16
    """Connections of monitors at once."""


@dataclass(slots=True, eq=False)
class Agent(Generic[ActionT]):
    """One client, and how far it has come."""

    connection: Connection[bytes]
    since: float
    """When it connected, or was first sent a percept without having entered."""
    robot_type: int | None = None
    """The robot it asked for."""
    joints: int = 0
    slot: int | None = None
    """Its place in the game, once it has entered."""
    action: ActionT | None = None
    """Its action in the next cycle."""
    ready: bool = False
    """Whether it has released the next cycle."""
    asked: float = 0.0
    """When it was sent its last percept."""
    percepts: int = 0
    """Percepts that it has been sent."""
    introduced: bool = False
    """Whether it has been sent its number and side."""


class ServedAgents(Generic[ActionT, PerceptT]):
    """All agents; the owner of their connections."""

    first_request = "(init ...)"
    """The first message that an agent has to send."""

    def __init__(
        self, game: ServedGame[ActionT, PerceptT], loop: SocketLoop, limits: AgentLimits, report: Reporter
    ) -> None:
        self._game, self._loop, self._limits, self._report = game, loop, limits, report
        self._agents: dict[Connection[bytes], Agent[ActionT]] = {}
        self._swaps = game.swaps
        self._silent: set[Agent[ActionT]] = set()
        """Agents that have sent nothing since their last percept."""
        self._unready: set[Agent[ActionT]] = set()
        """Agents that have not released the next cycle since their last percept."""

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

    @abstractmethod
    def handle(self, connection: Connection[bytes], message: bytes) -> None:
        """Takes up a message of a client."""

    @abstractmethod
    def message(self, agent: Agent[ActionT], percepts: Mapping[int, PerceptT]) -> bytes | None:
        """The message to an agent in a cycle, with its length before it; None for none."""

    def enter(self, agent: Agent[ActionT], team: str, number: int, robot: str) -> None:
        """Lets an agent into the game with the robot it has asked for, or disconnects it with the game's reason."""
        assert agent.robot_type is not None, "an agent has a robot before it enters"
        self._follow_swaps()
        try:
            agent.slot = self._game.enter(team, number, agent.robot_type)
        except NutmegError as error:
            agent.connection.lose(f"it was refused: {error}")
            return
        side, number = side_and_number(agent.slot)
        text = f"number {number} of {team}, {side.word}, {robot}"
        self._report(Report(kind="joined", client=agent.connection.name, text=text))

    def answered(self, agent: Agent[ActionT], *, ready: bool) -> None:
        """Notes that an agent has sent something, and whether it has released the next cycle."""
        self._silent.discard(agent)
        if ready:
            agent.ready = True
            self._unready.discard(agent)

    def take_actions(self) -> dict[int, ActionT]:
        """The actions of the agents by slot; asked once a cycle."""
        self._follow_swaps()
        actions: dict[int, ActionT] = {}
        for agent in self._agents.values():
            if agent.slot is not None and agent.action is not None:
                actions[agent.slot] = agent.action
                agent.action = None
        return actions

    def tell(self, percepts: Mapping[int, PerceptT]) -> None:
        """Sends the percepts of a cycle: all are written first, then sent one after the other, to arrive together.

        An agent that has not read for seconds misses them.
        """
        self._follow_swaps()
        messages = []
        for agent in self._agents.values():
            message = self.message(agent, percepts)
            if message is not None:
                messages.append((agent, message))
        now = time.monotonic()
        for agent, message in messages:
            agent.ready, agent.asked = False, now
            self._silent.add(agent)
            self._unready.add(agent)
            if not agent.percepts:
                agent.since = now
            agent.percepts += 1
            if agent.connection.unsent > self._limits.unsent:
                agent.connection.missed += 1
            else:
                agent.connection.send(message)

    def awaited(self) -> list[Connection[bytes]]:
        """Connections of the agents that have not sent `(syn)` since their last percept."""
        return [agent.connection for agent in self._unready]

    def waited_for(self, *, for_syn: bool) -> bool:
        """Whether an agent has not answered its last percept (or not with `(syn)`)."""
        return bool(self._unready if for_syn else self._silent)

    @property
    def any_with_robot(self) -> bool:
        """Whether an agent has a robot, so that cycles matter."""
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
                wanted = self.first_request if agent.robot_type is None else "(init ...)"
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

    def _forget(self, agent: Agent[ActionT]) -> None:
        """Waits for an agent no longer."""
        self._silent.discard(agent)
        self._unready.discard(agent)

    def _follow_swaps(self) -> None:
        """Changes slots if the teams have changed ends."""
        if (self._game.swaps - self._swaps) % 2:
            for agent in self._agents.values():
                if agent.slot is not None:
                    agent.slot = (agent.slot + SLOTS // 2) % SLOTS
        self._swaps = self._game.swaps
