"""rcssservermj's protocol for the server of `net.simspark.server`, which is the same for both.

with Server(game, ServerSettings(agent_port=60000, monitor_port=60001), report, MJ) as server:
    server.run()

An agent enters with `(init MODEL TEAM NUMBER)` and is sent its first percept in the next cycle. A message that asks for
anything else before that, or for a robot or a number that cannot be had, disconnects it with the reason. Unlike in
SimSpark, any message is the answer that a synchronous server waits for, with or without `(syn)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nutmeg.match.worlds.mj.percept import ROBOTS, Action, Percept
from nutmeg.net.agents import Agent, AgentLimits, ServedAgents
from nutmeg.net.mj.effectors import merged, read_entry, read_orders
from nutmeg.net.mj.monitors import Monitors
from nutmeg.net.mj.percepts import PerceptWriter
from nutmeg.net.simspark.server import ServedProtocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nutmeg.match.mj_game import MjGame
    from nutmeg.net.connection import Connection, Reporter
    from nutmeg.net.loop import SocketLoop


class Agents(ServedAgents[Action, Percept]):
    """All agents; the owner of their connections."""

    def __init__(self, game: MjGame, loop: SocketLoop, limits: AgentLimits, report: Reporter) -> None:
        super().__init__(game, loop, limits, report)
        self._writer = PerceptWriter(game.world.marks)

    def handle(self, connection: Connection[bytes], message: bytes) -> None:
        """Takes up a message."""
        agent = self._agents[connection]
        if agent.robot_type is None:
            self._begin(agent, message)
            return
        orders = read_orders(message, ROBOTS[agent.robot_type])
        agent.action = orders.action if agent.action is None else merged(agent.action, orders.action)
        self.answered(agent, ready=True)
        connection.note_problems(orders.problems, broken=orders.broken)

    def message(self, agent: Agent[Action], percepts: Mapping[int, Percept]) -> bytes | None:
        """The text of an agent's percept."""
        percept = None if agent.slot is None else percepts.get(agent.slot)
        return None if percept is None else self._writer.framed(percept)

    def _begin(self, agent: Agent[Action], message: bytes) -> None:
        entry = read_entry(message)
        if isinstance(entry, str):
            agent.connection.lose(f"it was refused: {entry}")
            return
        agent.robot_type, agent.introduced = ROBOTS.index(entry.robot), True
        self.enter(agent, entry.team, entry.number, entry.robot.upper())


MJ = ServedProtocol(Agents, Monitors)
