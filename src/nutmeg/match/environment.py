"""A match as a PettingZoo parallel environment: every player of one team or of both is an agent.

    from nutmeg.match.environment import parallel_env

    env = parallel_env(players=2, actions="walk", opponents="final")
    observations, infos = env.reset(seed=1)
    while env.agents:
        actions = {agent: env.action_space(agent).sample() for agent in env.agents}
        observations, rewards, terminations, truncations, infos = env.step(actions)

A step is a cycle of 20 ms. Agents are called `left_1`, `right_2` and so on by team and number, and keep their names
when the teams change ends. The same seed and actions give the same episode. The how-to "Reinforcement learning"
describes observations, actions and rewards. With `world="behavioural"` robots have no joints, and a step is 0.1 s
(`match.behavioural_environments`). `env.layout.slices["ball"]` says where a part of an observation is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.base.errors import UnknownNameError
from nutmeg.learning.gym.spaces import Layout, Part
from nutmeg.match.behavioural_environments import BehaviourEnv
from nutmeg.match.episodes import PHASE_NAMES, TEAMS, EpisodeEnv, EpisodeOptions, phase
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.deciding_player import make_team
from nutmeg.match.players.learned import JointActionPlayer, WalkActionPlayer
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import LIVE, PlayMode, Side, may_beam, mode_named
from nutmeg.match.rules.slots import side_of_slot
from nutmeg.match.worlds.behavioural.eyes import load_eyes
from nutmeg.match.worlds.physical.percept import ROBOT, WITHOUT_TOES
from nutmeg.motion.walk.files import read_walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Floats, Floats32
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.worlds.physical.percept import Percept, Player, Sight


Actions = Literal["joints", "walk"]


@dataclass(frozen=True, kw_only=True)
class MatchOptions(EpisodeOptions):
    """Options of the environment of a match; of more than one player, number 1 begins in its goal."""

    actions: Actions = "joints"
    """Whether actions move the joints, or steer a walk."""
    walk: str = "holonomic"
    """With `actions="walk"`: the walk, by its name, its file or the folder of its run."""
    noise: bool = True
    """Whether cameras and sonars err."""
    beam_noise: bool = True
    """Whether players land near their places rather than there; without, all kick-offs begin alike."""
    sonar: bool = False
    """Whether robots have sonars, whose distances, left and right, are in the observations."""
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

    def load_rules(self) -> Rules:
        """The rule book of the world."""
        return load_rules(self.rules)


LEFT, RIGHT = TEAMS
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


# ----------------------------------------------------------------------------------------------------
# Percepts as rows of numbers: the present measurements, and the last sightings of everything.
#
# Both teams see the pitch alike: landmarks are ordered in the own team's frame. A sighting is distance [m], angle to
# the left and angle upwards [rad] from the camera, and its age [s]; things that were never seen have zeros, and the
# largest age.


_MAX_SIGHTING_AGE = 10.0  # ages do not grow beyond this, s
_MAX_SIGHTING_DISTANCE = 60.0  # longer than the diagonal of any pitch, m
_TEAM_LANDMARKS = ("G1L", "G2L", "F1L", "F2L", "G1R", "G2R", "F1R", "F2R")
"""Landmarks in the order of the left team: posts and flags of the own end, then of the other; the left-hand one
first."""
_SEEN_LOW, _SEEN_HIGH = (
    (0.0, -math.pi, -math.pi / 2, 0.0),
    (_MAX_SIGHTING_DISTANCE, math.pi, math.pi / 2, _MAX_SIGHTING_AGE),
)
_FORCE_LOW = (*(-1.0,) * 3, *(-1000.0,) * 3)
_FORCE_HIGH = (*(1.0,) * 3, *(1000.0,) * 3)


def _percept_parts(players: int, length: float) -> list[Part]:
    """The parts of a row, for a number of players of a team and a length of the game [s]."""
    marks = len(_TEAM_LANDMARKS)
    return [
        Part("angles", WITHOUT_TOES, -math.pi, math.pi),
        Part("gyro", 3, -40.0, 40.0),
        Part("acc", 3, -200.0, 200.0),
        Part("forces", 12, _FORCE_LOW * 2, _FORCE_HIGH * 2),
        Part("landmarks", 4 * marks, _SEEN_LOW * marks, _SEEN_HIGH * marks),
        Part("ball", 4, _SEEN_LOW, _SEEN_HIGH),
        Part("mates", 4 * players, _SEEN_LOW * players, _SEEN_HIGH * players),
        Part("opponents", 4 * players, _SEEN_LOW * players, _SEEN_HIGH * players),
        Part("phase", len(PHASE_NAMES), 0.0, 1.0),
        Part("time_left", 1, 0.0, length),
        Part("score", 2, 0.0, 100.0),
    ]


class _PerceptRows:
    """The percepts of one player as rows.

    Args:
        team: name of its team.
        players: number of players of a team.
        length: length of the whole game, s.
        sonar: whether rows have the distances of the sonars, 0 where nothing answers.
        more: additional parts, which the caller of `row` fills.
    """

    def __init__(
        self, team: str, *, players: int, length: float, sonar: bool = False, more: tuple[Part, ...] = ()
    ) -> None:
        echoes = [Part("sonar", 2, 0.0, load_eyes(ROBOT).sonar.farthest)] if sonar else []
        self.layout = Layout([*_percept_parts(players, length), *echoes, *more])
        self._sonar = {"sonar": np.zeros(2)} if sonar else {}
        self._team, self._players, self._length = team, players, length
        self._percept: Percept | None = None
        self._side = Side.LEFT
        self._seen = np.zeros((len(_TEAM_LANDMARKS) + 1 + 2 * players, 4))
        self._seen[:, 3] = _MAX_SIGHTING_AGE

    def take(self, percept: Percept, side: Side) -> None:
        """Takes the percept of a cycle, of a player that plays from a side."""
        self._percept, self._side = percept, side
        self._seen[:, 3] = np.minimum(self._seen[:, 3] + CONTROL_CYCLE, _MAX_SIGHTING_AGE)
        if percept.sight is not None:
            self._see(percept.sight)
        if percept.sonar is not None:
            heard = np.array(percept.sonar)
            self._sonar = {"sonar": np.where(np.isinf(heard), 0.0, heard)}

    def _see(self, sight: Sight) -> None:
        for label, polar in zip(sight.labels, sight.marks.tolist(), strict=True):
            self._note(len(_TEAM_LANDMARKS) if label == "B" else _place_of(label, self._side), polar)
        first = len(_TEAM_LANDMARKS) + 1
        for team, number, parts in zip(sight.teams, sight.numbers, sight.parts, strict=True):
            visible = parts[~np.isnan(parts[:, 0])]
            if number <= self._players and len(visible):
                row = first + (0 if team == self._team else self._players) + number - 1
                self._note(row, visible.mean(axis=0).tolist())

    def _note(self, row: int, polar: list[float]) -> None:
        distance, left, up = polar
        self._seen[row] = distance, math.radians(left), math.radians(up), 0.0

    def row(self, **more: Floats) -> Floats32:
        """The row of the last percept, (width,), with the additional parts."""
        percept = self._percept
        assert percept is not None
        marks, players = len(_TEAM_LANDMARKS), self._players
        game = percept.game
        scores = (game.score_left, game.score_right)
        parts = {
            "angles": np.radians(percept.angles[:WITHOUT_TOES]),
            "gyro": np.radians(percept.gyro),
            "acc": percept.acc,
            "forces": np.nan_to_num(percept.forces[:2].ravel()),
            "landmarks": self._seen[:marks].ravel(),
            "ball": self._seen[marks],
            "mates": self._seen[marks + 1 : marks + 1 + players].ravel(),
            "opponents": self._seen[marks + 1 + players :].ravel(),
            "phase": phase(mode_named(game.mode), self._side),
            "time_left": np.array([self._length - game.time]),
            "score": np.array([scores[self._side], scores[self._side.other]], float),
            **self._sonar,
            **more,
        }
        row: Floats32 = self.layout.rows({name: values[None] for name, values in parts.items()})[0]
        return row


def _place_of(label: str, side: Side) -> int:
    """Where a landmark stands among `LANDMARKS` as a team sees the pitch, which is the same turned by half a turn."""
    if side is Side.RIGHT:
        label = f"{label[0]}{'2' if label[1] == '1' else '1'}{'R' if label[2] == 'L' else 'L'}"
    return _TEAM_LANDMARKS.index(label)


class MatchEnv(EpisodeEnv):
    """A match; options are those of `MatchOptions`."""

    metadata: dict[str, Any] = {"name": "nutmeg_match_v0", "render_modes": [], "is_parallelizable": True}  # noqa: RUF012

    def __init__(self, **options: Any) -> None:  # noqa: ANN401
        self.options = MatchOptions.of(options)
        self.max_cycles = self.options.max_cycles
        """The episode is truncated after this number of cycles; 0 for never."""
        self._members = self.options.agents
        self.layout = self._new_rows(LEFT).layout
        """Where the parts of an observation are: `layout.slices["gyro"]`."""
        width = self._new_player(LEFT, 1).width
        super().__init__(self.options, self.layout.space, width)
        self._rng: np.random.Generator | None = None
        self._cycles = 0

    # ---- an episode

    def _begin(self, seed: int | None) -> None:
        if seed is not None or self._rng is None:
            self._rng = np.random.default_rng(seed)
        chosen, rng = self.options, self._rng
        self.game = Game(
            chosen.rule_book(),
            seed=int(rng.integers(2**63)),
            left=LEFT,
            right=RIGHT,
            seats=2 * chosen.players,
            setup=PhysicalSetup(
                noise=chosen.noise,
                beam_noise=chosen.beam_noise,
                kick_off=Side(int(rng.integers(2))),
                sonar=chosen.sonar,
            ),
        )
        """The match of this episode, with the true state that players do not know."""
        self._players = {agent: self._new_player(*member) for agent, member in self._members.items()}
        self._rows = {agent: self._new_rows(member[0]) for agent, member in self._members.items()}
        others = make_team(chosen.opponents, chosen.players, team=RIGHT) if chosen.opponents else []
        everybody: dict[tuple[str, int], Player] = {self._members[agent]: one for agent, one in self._players.items()}
        self._driver = GameLoop(self.game, everybody | {(RIGHT, one.number): one for one in others})
        for _ in range(LINE_UP_CYCLES):
            self._cycle()
        self._cycles, self._score, self._ball = 0, self._goals(), self._ball_ahead()

    def _advance(self, actions: Sequence[Floats]) -> tuple[Sequence[float], bool, bool]:
        for agent, action in zip(self.agents, actions, strict=True):
            self._players[agent].action = action
        self._cycle()
        self._cycles += 1
        over = self.game.over
        return self._rewards(), over, not over and 0 < self.max_cycles <= self._cycles

    def _cycle(self) -> None:
        """One cycle, with players put to their places where the rules allow it."""
        puts = may_beam(self.game.state.mode)
        for agent, player in self._players.items():
            player.beam = self._place(agent) if puts else None
        self._driver.cycle()
        for agent, rows in self._rows.items():
            slot = self._driver.slot(*self._members[agent])
            rows.take(self._driver.percepts[slot], side_of_slot(slot))

    def _place(self, agent: str) -> tuple[float, float, float]:
        """Where a player begins: x, y [m] as its team sees the pitch, and heading [degrees]."""
        number, pitch = self._members[agent][1], self.game.rules.pitch
        if number == 1 and self.options.players > 1:
            return (0.5 - pitch.length / 2, 0.0, 0.0)
        rank = number - (2 if self.options.players > 1 else 1)
        row, column = divmod(rank, 3)
        first = -0.5 if self._kicks_off(agent) else -pitch.circle_radius - 0.5
        return (first - 2.5 * row if column == 0 else -2.5 - 2.5 * row, (0.0, 3.0, -3.0)[column], 0.0)

    def _kicks_off(self, agent: str) -> bool:
        """Whether the next kick-off is for a player's team: it begins, or the others have scored."""
        side, state = Side(self.game.teams.index(self._members[agent][0])), self.game.state
        if state.mode is PlayMode.BEFORE_KICK_OFF:
            return state.starter is side
        return state.mode is (PlayMode.GOAL_RIGHT if side is Side.LEFT else PlayMode.GOAL_LEFT)

    # ---- observations and state

    def _observations(self) -> dict[str, Floats32]:
        return {agent: self._rows[agent].row(**self._players[agent].observation()) for agent in self.agents}

    def _infos(self) -> dict[str, dict[str, Any]]:
        """True places in the own team's frame, which no player knows."""
        world, infos = self.game.world, {}
        for agent in self.agents:
            slot = self._driver.slot(*self._members[agent])
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

    def _rewards(self) -> list[float]:
        """Rewards of the last cycle: the same for all players of a team, and the opposite for the other team."""
        goals, ball = self._goals(), self._ball_ahead()
        before, self._score = self._score, goals
        worth = self.options.goal_reward * ((goals[0] - before[0]) - (goals[1] - before[1]))
        if ball is not None and self._ball is not None:
            worth += self.options.ball_reward * (ball - self._ball)
        self._ball = ball
        return [worth if self._members[agent][0] == LEFT else -worth for agent in self.agents]

    def state(self) -> Floats32:
        """All that is true: places (2 players, 3) of the teams `left` and `right`, the ball and its velocity."""
        world, count = self.game.world, self.options.players
        slots = [self._driver.slot(team, n) for team in TEAMS for n in range(1, count + 1)]
        return np.concatenate([world.position[slots].ravel(), world.ball, world.ball_velocity]).astype(np.float32)

    def _new_player(self, team: str, number: int) -> JointActionPlayer | WalkActionPlayer:
        if self.options.actions == "joints":
            return JointActionPlayer()
        return WalkActionPlayer(team, number, walk=read_walk(self.options.walk))

    def _new_rows(self, team: str) -> _PerceptRows:
        more = JointActionPlayer.parts if self.options.actions == "joints" else WalkActionPlayer.parts
        options = self.options
        return _PerceptRows(team, players=options.players, length=options.length, sonar=options.sonar, more=more)
