"""The agents of a served game: from their first message to the cycle in which they leave.

    agents = Agents(game, loop, AgentLimits(), report)
    listener = Listener(loop, tcp_listener("127.0.0.1", 3100), agents.admit)
    agents.tell(game.cycle(agents.take_actions()))          # once a cycle

An agent asks for a robot with `(scene ...)`, is sent percepts of a robot that falls in the middle of the pitch
(`match.newcomers`), asks to enter with `(init ...)`, and plays. An agent that the game refuses is disconnected with the
game's reason. Until the next percept it may send several messages, which count as one; a server that waits for its
agents takes `(syn)`, and also the two requests above, as the sign that an agent is ready.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nutmeg.match.rules.slots import side_and_number
from nutmeg.match.worlds.physical.percept import WITHOUT_TOES, Action, Percept
from nutmeg.net.agents import Agent, AgentLimits, ServedAgents
from nutmeg.net.simspark.effectors import Entry, joints_of, merged, read_orders
from nutmeg.net.simspark.percepts import PerceptWriter

if TYPE_CHECKING:
    from nutmeg.net.connection import Connection, Reporter
    from nutmeg.net.loop import SocketLoop
    from nutmeg.net.simspark.game_port import GamePort


class Agents(ServedAgents[Action, Percept]):
    """All agents; the owner of their connections."""

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
