"""The common part of the environments of a match, in the physical and in the behavioural world.

    class MatchOptions(EpisodeOptions): ...
    class MatchEnv(EpisodeEnv): ...

    options = MatchOptions.of({"players": 2, "half_length": 30.0})
    check_actions({"left_1": action}, agents=["left_1", "left_2"])  # UsageError: there is no action for 'left_2'

A cycle is 20 ms in the physical world, and 0.1 s in the behavioural one.
"""

from __future__ import annotations

from abc import abstractmethod
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from nutmeg.base.errors import MissingExtraError, UnknownNameError, UsageError
from nutmeg.learning.gym.spaces import checked_actions, checked_options
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.play_modes import GOALS, LIVE, PlayMode, Side, side_of

try:
    from gymnasium.spaces import Box
    from pettingzoo import ParallelEnv
except ImportError:
    raise MissingExtraError("the environment of a match", "Gymnasium and PettingZoo", "rl") from None

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.base.arrays import Floats, Floats32
    from nutmeg.match.rules.book import Rules

    ByAgent = dict[str, Any]

TEAMS = ("left", "right")
"""Names of the teams, by the side they begin from."""
PHASE_NAMES = ("live", "our kick", "their kick", "stopped", "our goal", "their goal", "over")
"""Names of the phases of a game in observations."""


@dataclass(frozen=True, kw_only=True)
class EpisodeOptions:
    """Players and length of an episode, and its rewards."""

    players: int = 2
    """Number of players of a team, 1 to 11."""
    half_length: float = 60.0
    """The length of a half, s."""
    halves: Literal[1, 2] = 1
    """The number of halves, one or two."""
    max_cycles: int = 0
    """The episode is truncated after this number of cycles; 0 lets it continue until the game is over."""
    goal_reward: float = 1.0
    """Reward for a goal; a goal against costs the same."""
    ball_reward: float = 0.05
    """Reward for each metre that the ball comes nearer to the opponents' goal line while it is in play; the other way
    costs the same."""

    opponents: str = ""
    """The team that plays from the right: in the physical world the built-in team with this walk, in the behavioural
    world this strategy. If it is given, only the left team's players are agents."""

    def __post_init__(self) -> None:
        if not isinstance(self.players, int) or not 1 <= self.players <= MAX_PLAYERS:
            raise UsageError(f"players is {self.players!r}; allowed are 1 to {MAX_PLAYERS}.")
        if not isinstance(self.max_cycles, int) or self.max_cycles < 0:
            raise UsageError(f"max_cycles is {self.max_cycles!r}; allowed is 0 or more.")
        if self.halves not in (1, 2):
            raise UsageError(f"halves is {self.halves!r}; allowed are 1 and 2.")

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """The options from keyword arguments."""
        return checked_options(cls, "the environment of a match", options)

    @property
    def length(self) -> float:
        """The length of the whole game, s."""
        return self.half_length * self.halves

    @property
    def agents(self) -> dict[str, tuple[str, int]]:
        """The agents by name, with their teams and numbers: `left_1`, ..., and `right_1`, ... without opponents."""
        teams = TEAMS[:1] if self.opponents else TEAMS
        return {f"{team}_{n}": (team, n) for team in teams for n in range(1, self.players + 1)}

    @abstractmethod
    def load_rules(self) -> Rules:
        """The rule book of the world."""

    def rule_book(self) -> Rules:
        """The rules of every episode, for its number of players and length; the game begins by itself."""
        changes = {"players": self.players, "half_length": self.half_length, "halves": self.halves}
        try:
            return self.load_rules().with_match(**changes, automatic_kick_off=True, wait_before_kick_off=1.0)
        except (ValueError, TypeError) as error:
            raise UsageError(f"rules of the match: {error}") from None


def _check_actions(actions: Mapping[str, object], agents: Sequence[str]) -> None:
    """Raises an error unless the episode is running and exactly its agents act."""
    if not agents:
        raise UsageError("the episode is over or was never begun; call reset() before step().")
    for agent in actions:
        if agent not in agents:
            raise UnknownNameError("agent", agent, agents)
    for agent in agents:
        if agent not in actions:
            raise UsageError(f"there is no action for {agent!r}; every agent needs one.")


class EpisodeEnv(ParallelEnv):  # type: ignore[misc]  # PettingZoo has no types
    """A match as a PettingZoo parallel environment.

    Args:
        options: players, length and rewards.
        observations: the observation space of an agent.
        width: length of an action, whose numbers are from -1 to 1.
    """

    def __init__(self, options: EpisodeOptions, observations: Any, width: int) -> None:  # noqa: ANN401 (Gymnasium's)
        self.possible_agents = list(options.agents)
        self.agents: list[str] = []
        self._observation_spaces = {agent: deepcopy(observations) for agent in self.possible_agents}
        self._action_spaces = {agent: Box(-1.0, 1.0, (width,), np.float32) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Any:  # noqa: ANN401 (Gymnasium's)
        """The observation space of an agent; the same for all."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> Any:  # noqa: ANN401
        """The action space of an agent; the same for all."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: ByAgent | None = None) -> tuple[ByAgent, ByAgent]:  # noqa: ARG002
        """Begins an episode: a kick-off, by a team that is drawn; there are no options."""
        self.agents = list(self.possible_agents)
        self._begin(seed)
        return self._observations(), self._infos()

    def step(self, actions: ByAgent) -> tuple[ByAgent, dict[str, float], dict[str, bool], dict[str, bool], ByAgent]:
        """Plays one cycle with the actions of all agents."""
        _check_actions(actions, self.agents)
        agents = self.agents
        rewards, over, cut = self._advance(
            [checked_actions(actions[agent], self._action_spaces[agent].shape) for agent in agents]
        )
        answer = (
            self._observations(),
            dict(zip(agents, rewards, strict=True)),
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, cut),
            self._infos(),
        )
        if over or cut:
            self.agents = []
        return answer

    @abstractmethod
    def _begin(self, seed: int | None) -> None:
        """Begins an episode, up to its first observation."""

    @abstractmethod
    def _advance(self, actions: Sequence[Floats]) -> tuple[Sequence[float], bool, bool]:
        """One cycle: the rewards of the agents, whether the game is over, and whether the episode is cut off."""

    @abstractmethod
    def _observations(self) -> ByAgent:
        """The observations of all agents."""

    @abstractmethod
    def _infos(self) -> ByAgent:
        """Ground truth for each agent: its place and the ball's, as its team sees the pitch."""

    @abstractmethod
    def state(self) -> Floats32:
        """Ground truth: places (2 players, 3) of the teams `left` and `right`, the ball and its velocity."""


def phase(mode: PlayMode, side: Side) -> Floats:
    """(7,) what is going on as a team sees it: 1 at one of `PHASE_NAMES`, else 0."""
    favoured = side_of(mode)
    if mode is PlayMode.GAME_OVER:
        name = "over"
    elif mode in LIVE:
        name = "live"
    elif favoured is None:
        name = "stopped"
    else:
        name = f"{'our' if favoured is side else 'their'} {'goal' if mode in GOALS else 'kick'}"
    return np.array([one == name for one in PHASE_NAMES], float)
