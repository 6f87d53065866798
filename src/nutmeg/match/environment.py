"""A match as a PettingZoo parallel environment: every player of one team or of both is an agent.

    from nutmeg.match.environment import parallel_env

    env = parallel_env(players=2, actions="walk", opponents="final")
    observations, infos = env.reset(seed=1)
    while env.agents:
        actions = {agent: env.action_space(agent).sample() for agent in env.agents}
        observations, rewards, terminations, truncations, infos = env.step(actions)

A step is a cycle of 20 ms. Agents are called `left_1`, `right_2`, ... by team and number, and keep their names when the
teams change ends. The same seed and actions give the same episode. What observations, actions and rewards are is in
the how-to "Reinforcement learning". With `world="behavioural"` the match is one of robots without joints, in steps of
0.1 s (`match.behaviour.environment`). `env.layout.slices["ball"]` says where a part of an observation is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from nutmeg.base.errors import MissingExtraError, UnknownNameError, UsageError
from nutmeg.learning.gym.spaces import checked_actions
from nutmeg.match.behavioural_environments import BehaviourEnv
from nutmeg.match.episodes import EpisodeOptions, PerceptRows, check_actions
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.deciding_player import make_team
from nutmeg.match.players.learned import JointActionPlayer, WalkActionPlayer
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import LIVE, PlayMode, Side, may_beam
from nutmeg.match.rules.slots import side_of_slot
from nutmeg.match.worlds.physical.percept import ROBOT
from nutmeg.motion.walk.files import read_walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.match.rules.book import Rules
    from nutmeg.match.worlds.physical.percept import Player

    Row = NDArray[np.float32]


# ----------------------------------------------------------------------------------------------------
# What can be chosen when the environment of a match is made, and what is refused.


Actions = Literal["joints", "walk"]


@dataclass(frozen=True, kw_only=True)
class MatchOptions(EpisodeOptions):
    """Options of the environment of a match; of more than one player, number 1 begins in its goal."""

    actions: Actions = "joints"
    """Whether actions move the joints, or steer a walk."""
    walk: str = "holonomic"
    """With `actions="walk"`: the walk, by its name, its file or the folder of its run."""
    opponents: str = ""
    """Let the built-in team play from the right, with this walk; then only the left team's players are agents."""
    noise: bool = True
    """Whether cameras err."""
    beam_noise: bool = True
    """Whether players land near their places rather than there; without, all kick-offs begin alike."""
    rules: str = "sim3d"
    """The rule book: a name, or a TOML file."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.actions not in ("joints", "walk"):
            raise UnknownNameError("kind of actions", str(self.actions), ("joints", "walk"))
        for walk in (self.walk if self.actions == "walk" else "", self.opponents):
            if walk:
                read_walk(walk).for_robot(ROBOT)
        self.rule_book()

    def rule_book(self) -> Rules:
        """The rules of every episode."""
        try:
            return self.changed(load_rules(self.rules))
        except (ValueError, TypeError) as error:
            raise UsageError(f"rules of the match: {error}") from None


try:
    from gymnasium.spaces import Box
    from pettingzoo import ParallelEnv
except ImportError:
    raise MissingExtraError("the environment of a match", "Gymnasium and PettingZoo", "rl") from None


LEFT, RIGHT = "left", "right"
TEAMS = (LEFT, RIGHT)
"""Names of the teams, by the side they begin from."""
LINE_UP_CYCLES = 60
"""Cycles before the first observation, in which players are put to their places and the whistle blows."""


@overload
def parallel_env(*, world: Literal["physical"] = "physical", **options: Any) -> MatchEnv: ...  # noqa: ANN401
@overload
def parallel_env(*, world: Literal["behavioural"], **options: Any) -> BehaviourEnv: ...  # noqa: ANN401
def parallel_env(*, world: str = "physical", **options: Any) -> MatchEnv | BehaviourEnv:
    """The environment; options are those of `MatchOptions`, or of `BehaviourOptions` in the behavioural world."""
    if world == "behavioural":
        return BehaviourEnv(**options)
    if world != "physical":
        raise UnknownNameError("world", world, ("physical", "behavioural"))
    return MatchEnv(**options)


class MatchEnv(ParallelEnv):  # type: ignore[misc]  # PettingZoo has no types
    """A match; options are those of `MatchOptions`."""

    metadata: dict[str, Any] = {"name": "nutmeg_match_v0", "render_modes": [], "is_parallelizable": True}  # noqa: RUF012

    def __init__(self, **options: Any) -> None:  # noqa: ANN401
        self.options = MatchOptions.of(options)
        self.max_cycles = self.options.max_cycles
        """The episode is cut off after so many cycles; 0 for never."""
        teams = TEAMS[:1] if self.options.opponents else TEAMS
        self._who = {f"{team}_{n}": (team, n) for team in teams for n in range(1, self.options.players + 1)}
        self.possible_agents = list(self._who)
        self.agents: list[str] = []
        width, rows = self._new_player(LEFT, 1).width, self._new_rows(LEFT)
        self.layout = rows.layout
        """Where the parts of an observation are: `layout.slices["gyro"]`."""
        self._seen = {agent: self._new_rows(team).layout.space for agent, (team, _) in self._who.items()}
        self._wished = {agent: Box(-1.0, 1.0, (width,), np.float32) for agent in self.possible_agents}
        self._rng: np.random.Generator | None = None
        self._cycles = 0

    def observation_space(self, agent: str) -> Any:  # noqa: ANN401 (Gymnasium's)
        """The observation space of an agent; the same for all."""
        return self._seen[agent]

    def action_space(self, agent: str) -> Any:  # noqa: ANN401
        """The action space of an agent; the same for all."""
        return self._wished[agent]

    # ---- an episode

    def reset(
        self,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 (there are none)
    ) -> tuple[dict[str, Row], dict[str, dict[str, Any]]]:
        """Begins an episode: a kick-off, by a team that is drawn."""
        if seed is not None or self._rng is None:
            self._rng = np.random.default_rng(seed)
        chosen, rng = self.options, self._rng
        self.game = Game(
            chosen.rule_book(),
            seed=int(rng.integers(2**63)),
            left=LEFT,
            right=RIGHT,
            seats=2 * chosen.players,
            kick_off=Side(int(rng.integers(2))),
            setup=PhysicalSetup(noise=chosen.noise, beam_noise=chosen.beam_noise),
        )
        """The match of this episode, for who wants to know what no player does."""
        self._players = {agent: self._new_player(*who) for agent, who in self._who.items()}
        self._rows = {agent: self._new_rows(who[0]) for agent, who in self._who.items()}
        others = make_team(chosen.opponents, chosen.players, team=RIGHT) if chosen.opponents else []
        everybody: dict[tuple[str, int], Player] = {self._who[agent]: one for agent, one in self._players.items()}
        self._driver = GameLoop(self.game, everybody | {(RIGHT, one.number): one for one in others})
        self.agents = list(self.possible_agents)
        for _ in range(LINE_UP_CYCLES):
            self._cycle()
        self._cycles, self._score, self._ball = 0, self._goals(), self._ball_ahead()
        return self._observations(), self._infos()

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Row], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """One cycle of 20 ms."""
        check_actions(actions, self.agents)
        for agent in self.agents:
            player = self._players[agent]
            player.wish = checked_actions(actions[agent], (player.width,))
        self._cycle()
        self._cycles += 1
        over = self.game.over
        cut = not over and 0 < self.max_cycles <= self._cycles
        agents = self.agents
        answer = (
            self._observations(),
            self._rewards(),
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, cut),
            self._infos(),
        )
        if over or cut:
            self.agents = []
        return answer

    def _cycle(self) -> None:
        """One cycle, with players put to their places where the rules allow it."""
        puts = may_beam(self.game.state.mode)
        for agent, player in self._players.items():
            player.beam = self._place(agent) if puts else None
        self._driver.cycle()
        for agent, rows in self._rows.items():
            slot = self._driver.slot(*self._who[agent])
            rows.take(self._driver.percepts[slot], side_of_slot(slot))

    def _place(self, agent: str) -> tuple[float, float, float]:
        """Where a player begins: x, y [m] as its team sees the pitch, and heading [degrees]."""
        number, pitch = self._who[agent][1], self.game.rules.pitch
        if number == 1 and self.options.players > 1:
            return (0.5 - pitch.length / 2, 0.0, 0.0)
        rank = number - (2 if self.options.players > 1 else 1)
        row, column = divmod(rank, 3)
        first = -0.5 if self._kicks_off(agent) else -pitch.circle_radius - 0.5
        return (first - 2.5 * row if column == 0 else -2.5 - 2.5 * row, (0.0, 3.0, -3.0)[column], 0.0)

    def _kicks_off(self, agent: str) -> bool:
        """Whether the next kick-off is for a player's team: it begins, or the others have scored."""
        side, state = Side(self.game.teams.index(self._who[agent][0])), self.game.state
        if state.mode is PlayMode.BEFORE_KICK_OFF:
            return state.starter is side
        return state.mode is (PlayMode.GOAL_RIGHT if side is Side.LEFT else PlayMode.GOAL_LEFT)

    # ---- what agents are told

    def _observations(self) -> dict[str, Row]:
        return {agent: self._rows[agent].row(**self._players[agent].told()) for agent in self.agents}

    def _infos(self) -> dict[str, dict[str, Any]]:
        """What no player knows: true places, as its team sees the pitch."""
        world, infos = self.game.world, {}
        for agent in self.agents:
            slot = self._driver.slot(*self._who[agent])
            sign = side_of_slot(slot).sign
            infos[agent] = {"place": sign * world.position[slot, :2], "ball": sign * world.ball[:2]}
        return infos

    def _goals(self) -> tuple[int, int]:
        """The goals of the team `left` and of the team `right`, wherever they play now."""
        found = dict(zip(self.game.teams, self.game.state.score, strict=True))
        return found[LEFT], found[RIGHT]

    def _ball_ahead(self) -> float | None:
        """How far the ball is on the way to the goal of the team `right`, m; None while it is not in play."""
        if self.game.state.mode not in LIVE:
            return None
        x = float(self.game.world.ball[0])
        return x if self.game.teams[0] == LEFT else -x

    def _rewards(self) -> dict[str, float]:
        """What the last cycle was worth; the same for all players of a team, and its opposite for the others."""
        goals, ball = self._goals(), self._ball_ahead()
        before, self._score = self._score, goals
        worth = self.options.goal_reward * ((goals[0] - before[0]) - (goals[1] - before[1]))
        if ball is not None and self._ball is not None:
            worth += self.options.ball_reward * (ball - self._ball)
        self._ball = ball
        return {agent: worth if self._who[agent][0] == LEFT else -worth for agent in self.agents}

    def state(self) -> Row:
        """All that is true: places (2 players, 3) of the teams `left` and `right`, the ball and its velocity."""
        world, count = self.game.world, self.options.players
        slots = [self._driver.slot(team, n) for team in TEAMS for n in range(1, count + 1)]
        return np.concatenate([world.position[slots].ravel(), world.ball, world.ball_velocity]).astype(np.float32)

    def close(self) -> None:
        """Nothing to give back."""

    def _new_player(self, team: str, number: int) -> JointActionPlayer | WalkActionPlayer:
        if self.options.actions == "joints":
            return JointActionPlayer()
        return WalkActionPlayer(team, number, walk=read_walk(self.options.walk))

    def _new_rows(self, team: str) -> PerceptRows:
        more = JointActionPlayer.parts if self.options.actions == "joints" else WalkActionPlayer.parts
        return PerceptRows(team, players=self.options.players, length=self.options.length, more=more)
