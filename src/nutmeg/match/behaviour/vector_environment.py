"""Many matches of the behavioural world as one environment: arrays over matches and players, no loop over them.

    env = BehaviourVectorEnv(64, players=2, opponents="roles")
    observations, infos = env.reset(seed=1)                             # (64, 2, width); match i has the seed 1 + i
    observations, rewards, terminations, truncations, infos = env.step(np.zeros((64, 2, 4)))

Agents are `env.agents`, in this order along the second axis: `left_1`, `left_2`, ... and, without opponents,
`right_1`, ... A step is a decision cycle of 0.1 s. A match that is over or cut off begins anew in the same step: what
is returned for it is its first observation, and `infos["final_observations"]` has the last one. Match i of an
environment comes out as it does in the PettingZoo environment (`environment`) with the same seed and actions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.spaces import Box, Dict
from gymnasium.vector.utils import batch_space

from nutmeg.body.ball import load_ball
from nutmeg.errors import UsageError
from nutmeg.learning.environments.task import checked
from nutmeg.match.behaviour.cameras import Cameras
from nutmeg.match.behaviour.environment_options import BehaviourOptions
from nutmeg.match.behaviour.steered_games import WIDTHS, SteeredGames
from nutmeg.match.behaviour.symbol_rows import SymbolRows
from nutmeg.match.play_modes import Side
from nutmeg.match.rules import MOST_PLAYERS

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Ints

    Observations = Any
    """(M, agents, width), or a dictionary of such arrays."""
    Stepped = tuple[Observations, Floats, Bools, Bools, dict[str, Any]]

MOST = 100_000
"""The most matches of one environment."""


class BehaviourVectorEnv:
    """M matches; options are those of `BehaviourOptions`.

    Args:
        count: how many matches, M.
        options: by name.
    """

    def __init__(self, count: int, **options: Any) -> None:  # noqa: ANN401
        if not isinstance(count, int) or not 1 <= count <= MOST:
            raise UsageError(f"an environment of {count!r} matches; allowed are 1 to {MOST}.")
        self.options, self.num_envs = BehaviourOptions.of(options), count
        self.games = SteeredGames(self.options, count)
        """The matches, for who wants to know what no player does."""
        self.agents = list(self.options.agents)
        self._symbols = SymbolRows(self.options)
        self._all: Ints = np.arange(count)
        self._rngs: list[np.random.Generator] = []
        self._cameras: Cameras | None = None
        self._cycles = np.zeros(count, np.int64)
        images = self.options.observations == "images"
        self.layout = self._symbols.body if images else self._symbols.layout
        """Where the parts of an observation, or with pictures of its `body`, are: `layout.slices["ball"]`."""
        self.single_observation_space: Any = self._picture_space() if images else self.layout.space
        """Of one agent."""
        self.single_action_space: Any = Box(-1.0, 1.0, (WIDTHS[self.options.actions],), np.float32)
        """Of one agent."""
        self.observation_space: Any = batch_space(batch_space(self.single_observation_space, len(self.agents)), count)
        self.action_space: Any = batch_space(batch_space(self.single_action_space, len(self.agents)), count)

    def _picture_space(self) -> Dict:
        cameras, shrink = self.games.perception.eyes.cameras, self.options.shrink
        shape = cameras.height // shrink, cameras.width // shrink, 3
        picture = Box(0, 255, shape, np.uint8)
        return Dict({"top": picture, "bottom": picture, "body": self._symbols.body.space})

    # ---- episodes

    def reset(self, *, seed: int | None = None) -> tuple[Observations, dict[str, Any]]:
        """Begins all matches: a kick-off, by a team that is drawn; match i has the seed `seed + i`."""
        if seed is not None or not self._rngs:
            first = np.random.SeedSequence().entropy if seed is None else seed
            assert isinstance(first, int)
            self._rngs = [np.random.default_rng(first + i) for i in range(self.num_envs)]
        self._begin(self._all)
        return self.observe(), self.infos()

    def _begin(self, chosen: Ints) -> None:
        seeds = [int(self._rngs[m].integers(2**63)) for m in chosen.tolist()]
        starters = [Side(int(self._rngs[m].integers(2))) for m in chosen.tolist()]
        self.games.begin(chosen, seeds, starters)
        self._cycles[chosen] = 0
        if len(chosen) == self.num_envs:
            self._score, self._ball = self.games.goals(), self.games.ball_ahead()
        else:
            self._score[chosen], self._ball[chosen] = self.games.goals()[chosen], self.games.ball_ahead()[chosen]

    def step(self, actions: object) -> Stepped:
        """One cycle of 0.1 s of all matches, with actions (M, agents, 4 or 8)."""
        if not self._rngs:
            raise UsageError("no match was begun; call reset() before step().")
        rewards, over, cut = self.advance(actions)
        infos: dict[str, Any] = self.infos()
        ended = np.flatnonzero(over | cut)
        if len(ended):
            infos["final_observations"] = _chosen(self.observe(), ended)
            infos["ended"] = ended
            self._begin(ended)
        return self.observe(), rewards, over, cut, infos

    def advance(self, actions: object) -> tuple[Floats, Bools, Bools]:
        """One cycle without beginning anew: rewards (M, agents), which matches are over, and which are cut off."""
        self.games.wishes[:] = checked(actions, self.games.wishes.shape)
        self.games.cycle(self._all)
        self._cycles += 1
        over = self.games.over
        cut = ~over & (self.options.max_cycles > 0) & (self._cycles >= self.options.max_cycles)
        return self._rewards(), over, cut

    def _rewards(self) -> Floats:
        """(M, agents) what the last cycle was worth; the same for a team, and its opposite for the others."""
        goals, ball = self.games.goals(), self.games.ball_ahead()
        change = goals - self._score
        worth = self.options.goal_reward * (change[:, 0] - change[:, 1])
        worth = worth + self.options.ball_reward * np.nan_to_num(ball - self._ball)
        self._score, self._ball = goals, ball
        sign = np.array([1.0 if agent.startswith("left") else -1.0 for agent in self.agents])
        rewards: Floats = worth[:, None] * sign
        return rewards

    # ---- what agents are told

    def observe(self) -> Observations:
        """What all agents are told now, (M, agents, ...)."""
        rows = self._symbols.rows(self.games)
        if self.options.observations == "symbols":
            return rows
        if self._cameras is None:
            field = self.games.world.field
            self._cameras = Cameras(self.games.perception.eyes, field, load_ball(field.ball))
        slots, shrink = self.games.slots, self.options.shrink
        pictures = np.stack(
            [self._cameras.draw(self.games.world.state, m, slots[m].tolist(), shrink=shrink) for m in self._all]
        )
        return {"top": pictures[:, :, 0], "bottom": pictures[:, :, 1], "body": rows}

    def infos(self) -> dict[str, Any]:
        """What no player knows: true poses and the ball, as the players' teams see the pitch, and the goals."""
        state, slots = self.games.world.state, self.games.slots
        rows, sign = self._all[:, None], np.where(slots < MOST_PLAYERS, 1.0, -1.0)
        return {
            "place": sign[..., None] * state.pose[rows, slots, :2],
            "ball": sign[..., None] * state.ball[:, None, :],
            "goals": self.games.goals(),
        }

    def close(self) -> None:
        """Gives the renderer back, if there is one."""
        if self._cameras is not None:
            self._cameras.close()
            self._cameras = None


def _chosen(observations: Observations, rows: Ints) -> Observations:
    """Observations of some matches (K,)."""
    if isinstance(observations, dict):
        return {name: values[rows] for name, values in observations.items()}
    return observations[rows]
