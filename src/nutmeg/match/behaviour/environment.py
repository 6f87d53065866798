"""A match of the behavioural world as a PettingZoo parallel environment: every player of a team or of both is an agent.

    from nutmeg.match.environment import parallel_env

    env = parallel_env(world="behavioural", players=2, opponents="roles", observations="symbols")
    observations, infos = env.reset(seed=1)
    while env.agents:
        actions = {agent: env.action_space(agent).sample() for agent in env.agents}
        observations, rewards, terminations, truncations, infos = env.step(actions)

A step is a decision cycle of 0.1 s. It is one match of `vector_environment`, where many are played at once; options,
observations and rewards are the same.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.errors import EnvironmentProblem
from nutmeg.learning.environments.task import checked
from nutmeg.match.behaviour.vector_environment import BehaviourVectorEnv
from nutmeg.match.episodes import check_actions
from nutmeg.match.slots import SLOTS

try:
    from pettingzoo import ParallelEnv
except ImportError:
    raise EnvironmentProblem("the environment of a match needs PettingZoo: pip install pettingzoo") from None

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats32

    Told = dict[str, Any]
    """By agent."""


class BehaviourEnv(ParallelEnv):  # type: ignore[misc]  # PettingZoo has no types
    """A match; options are those of `BehaviourOptions`."""

    metadata: dict[str, Any] = {"name": "nutmeg_behaviour_v0", "render_modes": [], "is_parallelizable": True}  # noqa: RUF012

    def __init__(self, **options: Any) -> None:  # noqa: ANN401
        self.matches = BehaviourVectorEnv(1, **options)
        """The match, as an environment of one."""
        self.options, self.layout = self.matches.options, self.matches.layout
        self.possible_agents = list(self.matches.agents)
        self.agents: list[str] = []
        spaces = self.matches.single_observation_space, self.matches.single_action_space
        self._seen, self._wished = ({agent: deepcopy(one) for agent in self.possible_agents} for one in spaces)

    def observation_space(self, agent: str) -> Any:  # noqa: ANN401 (Gymnasium's)
        """Of an agent; the same for all."""
        return self._seen[agent]

    def action_space(self, agent: str) -> Any:  # noqa: ANN401
        """Of an agent; the same for all."""
        return self._wished[agent]

    def reset(
        self,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 (there are none)
    ) -> tuple[Told, Told]:
        """Begins an episode: a kick-off, by a team that is drawn."""
        observations, infos = self.matches.reset(seed=seed)
        self.agents = list(self.possible_agents)
        return self._told(observations), self._by_agent(infos)

    def step(self, actions: Told) -> tuple[Told, dict[str, float], dict[str, bool], dict[str, bool], Told]:
        """One cycle of 0.1 s."""
        check_actions(actions, self.agents)
        shape, matches = self.matches.single_action_space.shape, self.matches
        rewards, over, cut = matches.advance(np.array([checked(actions[agent], shape) for agent in self.agents])[None])
        agents = self.agents
        answer = (
            self._told(matches.observe()),
            dict(zip(agents, rewards[0].tolist(), strict=True)),
            dict.fromkeys(agents, bool(over[0])),
            dict.fromkeys(agents, bool(cut[0])),
            self._by_agent(matches.infos()),
        )
        if over[0] or cut[0]:
            self.agents = []
        return answer

    def _told(self, observations: Any) -> Told:  # noqa: ANN401
        """What each agent observes."""
        if isinstance(observations, dict):
            return {
                agent: {name: values[0, place] for name, values in observations.items()}
                for place, agent in enumerate(self.agents)
            }
        return {agent: observations[0, place] for place, agent in enumerate(self.agents)}

    def _by_agent(self, infos: dict[str, Any]) -> Told:
        """What no player knows, for each agent."""
        return {
            agent: {"place": infos["place"][0, place], "ball": infos["ball"][0, place]}
            for place, agent in enumerate(self.agents)
        }

    def state(self) -> Floats32:
        """All that is true: poses (2 players, 3) of the teams `left` and `right`, the ball and its velocity."""
        games, count = self.matches.games, self.options.players
        turned = SLOTS // 2 if games.swapped[0] else 0
        slots = [(team * SLOTS // 2 + n + turned) % SLOTS for team in (0, 1) for n in range(count)]
        now = games.world.state
        return np.concatenate([now.pose[0, slots].ravel(), now.ball[0], now.ball_speed[0]]).astype(np.float32)

    def close(self) -> None:
        """Gives the renderer back, if there is one."""
        self.matches.close()
