"""Environments of the behavioural world for reinforcement learning: many matches as arrays, or one with PettingZoo.

    env = BehaviourVectorEnv(64, players=2, opponents="roles")
    observations, infos = env.reset(seed=1)                             # (64, 2, width); match i has the seed 1 + i
    observations, rewards, terminations, truncations, infos = env.step(np.zeros((64, 2, 4)))

Agents are `env.agents`, in this order along the second axis: `left_1`, `left_2`, ... and, without opponents,
`right_1`, ... A step is a decision cycle of 0.1 s. A match that is over or cut off begins anew in the same step: what
is returned for it is its first observation, and `infos["final_observations"]` has the last one. Match i of an
environment comes out as it does in `BehaviourEnv`, the PettingZoo environment, with the same seed and actions.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nutmeg.base.errors import MissingExtraError, UnknownNameError, UsageError
from nutmeg.base.kernels import kernel
from nutmeg.learning.gym.spaces import Layout, Part, checked_actions
from nutmeg.match.behavioural_game import BehaviourSetup
from nutmeg.match.behavioural_games import BehaviourGames
from nutmeg.match.episodes import PHASE_NAMES, EpisodeEnv, EpisodeOptions, phase
from nutmeg.match.players.tactics.records import new_memories
from nutmeg.match.players.tactics.strategies import strategy
from nutmeg.match.rules.book import MAX_PLAYERS, rules_on
from nutmeg.match.rules.play_modes import LIVE, PlayMode, Side
from nutmeg.match.rules.slots import SLOTS, slot_of
from nutmeg.match.rules.state import new_match
from nutmeg.match.series.ball_control import new_controls
from nutmeg.match.worlds.behavioural.cameras import Cameras
from nutmeg.match.worlds.behavioural.landmarks import ObjectKind
from nutmeg.match.worlds.behavioural.state import KickKind, Legs, Posture
from nutmeg.model.ball import load_ball

try:
    from gymnasium.spaces import Box, Dict
    from gymnasium.vector.utils import batch_space
except ImportError:
    raise MissingExtraError("the environment of a match", "Gymnasium and PettingZoo", "rl") from None

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Bools, Floats, Floats32, Ints
    from nutmeg.base.records import Records
    from nutmeg.match.episodes import ByAgent
    from nutmeg.match.players.tracking.records import BeliefRecord
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.worlds.behavioural.vision import SightingRecord

    Observations = Any
    Stepped = tuple[Observations, Floats, Bools, Bools, dict[str, Any]]


# ----------------------------------------------------------------------------------------------------
# Options.


_ACTIONS, _OBSERVATIONS = ("walk", "body"), ("symbols", "images")
_MAX_MATCHES = 100_000  # matches of one environment


@dataclass(frozen=True, kw_only=True)
class BehaviourOptions(EpisodeOptions):
    """Options of the environments of the behavioural world."""

    actions: Literal["walk", "body"] = "walk"
    """Whether actions control the walk and the kick, or the head, the kind of a kick and dives as well."""
    observations: Literal["symbols", "images"] = "symbols"
    """Whether observations are numbers of what players see, or the pictures of their cameras."""
    shrink: int = 4
    """With `observations="images"`: factor by which pictures are smaller than the cameras' 320 x 240."""
    sonar: bool = False
    """Whether observations also have the distances of the two sonars, left and right."""
    field: str = "spl2011"
    """Name of the field."""
    rules: str = "spl2011"
    """The rule book: a name, or a TOML file."""
    behaviour: str = "nao"
    """Abilities of robots and ball: a name, or a TOML file."""
    eyes: str = ""
    """Senses of the robots: a name, or a TOML file; if empty, those that belong to the robots."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value, known in (
            ("kind of actions", self.actions, _ACTIONS),
            ("kind of observations", self.observations, _OBSERVATIONS),
        ):
            if value not in known:
                raise UnknownNameError(name, str(value), known)
        if self.opponents:
            strategy(self.opponents)
        cameras = self.setup.senses().cameras
        if self.shrink < 1 or cameras.width % self.shrink or cameras.height % self.shrink:
            raise UsageError(f"shrink is {self.shrink}; {cameras.width} x {cameras.height} must be divisible by it.")
        self.rule_book()

    @property
    def setup(self) -> BehaviourSetup:
        """Field, bodies and senses."""
        return BehaviourSetup(field=self.field, settings=self.behaviour, eyes=self.eyes or None)

    def load_rules(self) -> Rules:
        """The rule book of the world, without a penalty shoot-out."""
        rules = rules_on(self.rules, self.field)
        return dataclasses.replace(rules, shoot_out=dataclasses.replace(rules.shoot_out, on=False))


# ----------------------------------------------------------------------------------------------------
# Observations as numbers, of all matches and agents at once.
#
# A thing that is seen is three numbers: 1, distance [m] and angle to the left [rad]; what is not seen is zeros.
# Things of a kind are sorted, near ones first. Posts begin with -1 (own goal), 1 (theirs) or 0 (unknown). Landmarks
# have five numbers: 1 to 5 for L, T and X crossings, penalty mark and centre circle; distance, angle, and cosine and
# sine of where a crossing points. Beliefs are the tracker's: everything in the frame of the own team, which attacks
# +x, or ahead and to the left of the player.


_MAX_POSTS = 4  # goal posts in an observation
_MAX_LANDMARKS = 6  # landmarks in an observation; of more, the nearest
_MAX_DISTANCE = 30.0  # bound of distances and places, m
_MAX_AGE = 10.0  # bound of ages of beliefs, s
MAX_SPEED = 10.0
"""Bound of speeds, m/s."""


def _body_parts(length: float) -> list[Part]:
    """Parts of an observation about the player itself and the game; `length` is that of the whole game, s."""
    return [
        Part("head", 2, -math.pi, math.pi),
        Part("odometry", 3, -math.pi, math.pi),
        Part("upright", 1, 0.0, 1.0),
        Part("kicking", 1, 0.0, 1.0),
        Part("phase", len(PHASE_NAMES), 0.0, 1.0),
        Part("time_left", 1, 0.0, length),
        Part("score", 2, 0.0, 100.0),
    ]


def _symbol_parts(players: int) -> list[Part]:
    """Parts of an observation about what a player sees and believes."""
    low, high = (0.0, 0.0, -math.pi), (1.0, _MAX_DISTANCE, math.pi)
    post_low, post_high = (-1.0, *low), (1.0, *high)
    mark_low, mark_high = (0.0, 0.0, -math.pi, -1.0, -1.0), (5.0, _MAX_DISTANCE, math.pi, 1.0, 1.0)
    far, other_low, other_high = (
        _MAX_DISTANCE,
        (-_MAX_DISTANCE, -_MAX_DISTANCE, 0.0),
        (_MAX_DISTANCE, _MAX_DISTANCE, _MAX_AGE),
    )
    return [
        Part("ball", 3, low, high),
        Part("mates", 3 * players, low * players, high * players),
        Part("opponents", 3 * players, low * players, high * players),
        Part("robots", 3 * players, low * players, high * players),
        Part("posts", 4 * _MAX_POSTS, post_low * _MAX_POSTS, post_high * _MAX_POSTS),
        Part("marks", 5 * _MAX_LANDMARKS, mark_low * _MAX_LANDMARKS, mark_high * _MAX_LANDMARKS),
        Part("pose", 6, (-far, -far, -1.0, -1.0, 0.0, 0.0), (far, far, 1.0, 1.0, _MAX_DISTANCE, math.pi)),
        Part("believed_ball", 5, (-far, -far, -MAX_SPEED, -MAX_SPEED, 0.0), (far, far, MAX_SPEED, MAX_SPEED, _MAX_AGE)),
        Part("believed_mates", 3 * players, other_low * players, other_high * players),
        Part("believed_opponents", 3 * players, other_low * players, other_high * players),
    ]


class _SymbolObservations:
    """Makes observations of all agents of all matches."""

    def __init__(self, options: BehaviourOptions) -> None:
        parts = _body_parts(options.length)
        if options.sonar:
            parts.append(Part("sonar", 2, 0.0, options.setup.senses().sonar.farthest))
        self.body = Layout(parts)
        """The observation beside pictures."""
        self.layout = Layout([*parts, *_symbol_parts(options.players)])
        """The observation without pictures."""
        self._options = options
        sides = [np.array([phase(mode, side) for mode in PlayMode]) for side in Side]
        self._phases = np.stack(sides, axis=1)

    def rows(self, games: SteeredGames) -> Floats32:
        """(M, agents, width) observations."""
        fields = self.bodies(games)
        if self._options.observations == "images":
            return self.body.rows(fields).reshape(*games.slots.shape, -1)
        slots, sightings, players = games.slots, games.senses.sightings, self._options.players
        seen = np.zeros((*slots.shape, 3 + 9 * players + 4 * _MAX_POSTS + 5 * _MAX_LANDMARKS))
        _fill_sightings(slots, sightings.things, sightings.count, players, seen)
        ends = np.cumsum([3, 3 * players, 3 * players, 3 * players, 4 * _MAX_POSTS, 5 * _MAX_LANDMARKS])
        names = ("ball", "mates", "opponents", "robots", "posts", "marks")
        flat = seen.reshape(len(fields["head"]), -1)
        for name, first, end in zip(names, [0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            fields[name] = flat[:, first:end]
        beliefs = games.senses.beliefs[np.arange(games.count)[:, None], slots]
        fields |= believed(beliefs.ravel(), players)
        return self.layout.rows(fields).reshape(*slots.shape, -1)

    def bodies(self, games: SteeredGames) -> dict[str, Floats]:
        """(M * agents, ...) parts of observations that need no eyes."""
        state, slots = games.world.state, games.slots
        rows, side = np.arange(games.count)[:, None], slots // MAX_PLAYERS
        posture, count = state.posture[rows, slots], slots.size
        score = np.array([one.score for one in games.states], float)
        left = self._options.length - games.clocks()
        own = np.stack([score[rows, side], score[rows, 1 - side]], axis=-1)
        sonar = {"sonar": np.nan_to_num(games.senses.sonar.answers[rows, slots]).reshape(count, 2)}  # 0: no answer
        return (sonar if self._options.sonar else {}) | {
            "head": state.head[rows, slots].reshape(count, 2),
            "odometry": state.odometry[rows, slots].reshape(count, 3),
            "upright": (posture <= Posture.KICKING).astype(float).reshape(count, 1),
            "kicking": (posture == Posture.KICKING).astype(float).reshape(count, 1),
            "phase": self._phases[games.modes[:, None], side].reshape(count, -1),
            "time_left": np.broadcast_to(left[:, None], slots.shape).reshape(count, 1),
            "score": own.reshape(count, 2),
        }


def believed(beliefs: Records[BeliefRecord], players: int) -> dict[str, Floats]:
    """Parts of the beliefs (N,) of players."""
    x, y, others = beliefs["x"], beliefs["y"], beliefs["others"]
    c, s = np.cos(beliefs["heading"]), np.sin(beliefs["heading"])

    def to_body(dx: Floats, dy: Floats) -> tuple[Floats, Floats]:
        return c * dx + s * dy, c * dy - s * dx

    ahead, left = to_body(beliefs["ball_x"] - x, beliefs["ball_y"] - y)
    vx, vy = to_body(beliefs["ball_vx"], beliefs["ball_vy"])
    age = np.minimum(beliefs["seen_ago"], beliefs["heard_ago"])
    parts = {
        "pose": np.stack([x, y, c, s, beliefs["spread"], beliefs["heading_spread"]], axis=1),
        "believed_ball": np.nan_to_num(np.stack([ahead, left, vx, vy, age], axis=1), posinf=_MAX_AGE),
    }
    for name, first in (("believed_mates", 0), ("believed_opponents", MAX_PLAYERS)):
        columns = []
        for k in range(first, first + players):
            there = to_body(others["x"][:, k] - x, others["y"][:, k] - y)
            columns += [*there, others["age"][:, k]]
        parts[name] = np.nan_to_num(np.stack(columns, axis=1), nan=0.0, posinf=_MAX_AGE)
    return parts


@kernel
def _fill_sightings(
    slots: Ints, things: Records[Records[Records[SightingRecord]]], count: Ints, players: int, out: Floats
) -> None:
    """Fills rows (M, agents, width) with what is seen: ball, mates, opponents, robots, posts and landmarks."""
    # Columns: one ball, then team-mates, opponents and robots of unknown team (three numbers each), posts, landmarks.
    # What does not fit is left out: sightings come in the order in which the world lists them.
    firsts = np.array([0, 3, 3 + 3 * players, 3 + 6 * players])
    room = np.array([1, players, players, players])
    posts, marks = 3 + 9 * players, 3 + 9 * players + 4 * _MAX_POSTS
    for m in range(slots.shape[0]):
        for a in range(slots.shape[1]):
            s, row = slots[m, a], out[m, a]
            found, seen_posts, seen_marks = np.zeros(4, np.int64), 0, 0
            for i in range(count[m, s]):
                thing = things[m][s][i]
                what, far, bearing = thing.kind, thing.distance, thing.bearing
                if what <= ObjectKind.ROBOT:
                    if found[what] < room[what]:
                        place = firsts[what] + 3 * found[what]
                        row[place], row[place + 1], row[place + 2] = 1.0, far, bearing
                        found[what] += 1
                elif what <= ObjectKind.POST:
                    if seen_posts < _MAX_POSTS:
                        place = posts + 4 * seen_posts
                        # Whose post it is: the own, the opponents', or unknown where goals look alike.
                        row[place] = (
                            -1.0 if what == ObjectKind.OWN_POST else 1.0 if what == ObjectKind.THEIR_POST else 0.0
                        )
                        row[place + 1], row[place + 2], row[place + 3] = 1.0, far, bearing
                        seen_posts += 1
                elif seen_marks < _MAX_LANDMARKS:
                    place = marks + 5 * seen_marks
                    row[place], row[place + 1], row[place + 2] = what - ObjectKind.L_CROSSING + 1.0, far, bearing
                    # Directions are given as cosine and sine, which do not jump at half a turn.
                    if not math.isnan(thing.turn):
                        row[place + 3], row[place + 4] = math.cos(thing.turn), math.sin(thing.turn)
                    seen_marks += 1


# ----------------------------------------------------------------------------------------------------
# Matches in which agents control the players of one team or of both, cycle by cycle.
#
# An action is shares of the top speeds ahead, to the left and turning left; then a kick of that strength if above 0.
# With `actions="body"` there follow: to which side the kick goes (above 0.5 left, below -0.5 right, else straight),
# yaw of the head to the left and its pitch upwards as shares of what the neck can do, and a dive (above 0.5 to the
# left, below -0.5 to the right). Otherwise players turn their heads by themselves, as those of the strategies do.
# Fallen players get up.


ACTION_WIDTHS = {"walk": 4, "body": 8}
"""Numbers of an action."""
_DEFAULT_STRATEGY = "roles"  # the strategy that places controlled players before a kick-off, and turns their heads
_MIN_WALK_SHARE = 0.05  # an action below this share of the top speeds stands still
LINE_UP_CYCLES = 12
"""Cycles before the first observation, in which players are put to their places and the whistle blows."""


class SteeredGames(BehaviourGames):
    """M matches whose players are controlled by actions."""

    def __init__(self, options: BehaviourOptions, count: int) -> None:
        super().__init__(
            options.rule_book(),
            left=_DEFAULT_STRATEGY,
            right=options.opponents or _DEFAULT_STRATEGY,
            seeds=range(count),
            setup=options.setup,
            players=options.players,
        )
        self.options, self.count = options, count
        walk, head = self.world.settings[0].walk, self.world.settings[0].head
        self._tops = walk.ahead, walk.back, walk.side, walk.turn
        self._neck = head.yaw, head.up, head.down
        self._starts = self._table.traits.copy()
        numbers = np.arange(options.players)
        teams = [0] if options.opponents else [0, 1]
        self._first = np.concatenate([team * SLOTS // 2 + numbers for team in teams])
        self.actions: Floats = np.zeros((count, len(self._first), ACTION_WIDTHS[options.actions]))
        """(M, agents, 4 or 8) the actions of the next cycle."""

    @property
    def slots(self) -> Ints:
        """(M, agents) the slots that agents have at present."""
        turned = np.where(self.swapped, SLOTS // 2, 0)[:, None]
        found: Ints = (self._first[None, :] + turned) % SLOTS
        return found

    # ---- episodes

    def begin(self, chosen: Ints, seeds: Sequence[int], starters: Sequence[Side]) -> None:
        """Begins some matches (K,) anew, up to the first observation."""
        for m, seed, starter in zip(chosen.tolist(), seeds, starters, strict=True):
            self.world.reset(m, seed)
            self.states[m], self.swapped[m] = new_match(kick_off=starter), False
            self._table.traits[m] = self._starts[m]
            for side in Side:
                for number in range(1, self.options.players + 1):
                    slot = slot_of(side, number)
                    self.world.join(m, slot)
                    self.senses.greet(m, slot)
        table, watch = self._table, self._watch
        for array in (self._counts, table.modes, table.held, table.beamed, watch.low, self.actions):
            array[chosen] = 0
        self.controls[chosen] = new_controls(self.rules.pitch, len(chosen))
        watch.clocks[chosen] = np.zeros((), watch.clocks.dtype)
        table.memories[chosen] = new_memories(len(chosen), SLOTS)
        for _ in range(LINE_UP_CYCLES):
            self.cycle(chosen)

    # ---- what agents do

    def _decide(self, chosen: Ints) -> None:
        """Lets the strategies decide, then replaces the decisions of agents by their actions."""
        super()._decide(chosen)
        rows, slots = chosen[:, None], self.slots[chosen]
        state, orders, actions = self.world.state, self.world.orders, self.actions[chosen]
        ahead, left, turn, kick = np.moveaxis(actions[..., :4], -1, 0)
        walks = np.abs(actions[..., :3]).max(axis=-1) >= _MIN_WALK_SHARE
        legs = np.where(walks, int(Legs.WALK), int(Legs.STAND))
        legs = np.where(kick > 0.0, int(Legs.KICK), legs)
        side = np.zeros_like(kick)
        if self.options.actions == "body":
            side = actions[..., 4]
            yaw, up, down = self._neck
            pitch = actions[..., 6]
            orders.look[rows, slots, 0] = yaw * actions[..., 5]
            orders.look[rows, slots, 1] = pitch * np.where(pitch > 0.0, up, down)
            dive = actions[..., 7]
            legs = np.where(dive > 0.5, int(Legs.DIVE_LEFT), np.where(dive < -0.5, int(Legs.DIVE_RIGHT), legs))
        legs = np.where(state.posture[rows, slots] == int(Posture.LYING), int(Legs.GET_UP), legs)
        legs = np.where(self._table.held[rows, slots], int(Legs.STAND), legs)
        top = self._tops
        orders.wish[rows, slots, 0] = ahead * np.where(ahead > 0.0, top[0], top[1])
        orders.wish[rows, slots, 1], orders.wish[rows, slots, 2] = left * top[2], turn * top[3]
        orders.kick[rows, slots] = self._kicks(self.senses.beliefs[rows, slots], side)
        orders.strength[rows, slots] = np.clip(kick, 0.0, 1.0)
        orders.legs[rows, slots] = legs

    @staticmethod
    def _kicks(beliefs: Records[Records[BeliefRecord]], side: Floats) -> Ints:
        """(K, agents) which kick: straight with the foot on whose side the ball is, or to a side."""
        dx, dy = beliefs["ball_x"] - beliefs["x"], beliefs["ball_y"] - beliefs["y"]
        to_left = np.cos(beliefs["heading"]) * dy - np.sin(beliefs["heading"]) * dx >= 0.0
        straight = np.where(to_left, int(KickKind.LEFT_STRAIGHT), int(KickKind.RIGHT_STRAIGHT))
        kinds = np.where(side > 0.5, int(KickKind.RIGHT_SIDE), straight)
        return np.where(side < -0.5, int(KickKind.LEFT_SIDE), kinds)

    # ---- state of play

    def goals(self) -> Ints:
        """(M, 2) of the teams `left` and `right`, wherever they play now."""
        score = np.array([state.score for state in self.states])
        return np.where(self.swapped[:, None], score[:, ::-1], score)

    def ball_ahead(self) -> Floats:
        """(M,) how far the ball is on the way to the goal of the team `right`, m; NaN while it is not in play."""
        live = np.isin(self._table.modes, [int(mode) for mode in LIVE])
        x = np.where(self.swapped, -1.0, 1.0) * self.world.state.ball[:, 0]
        return np.where(live, x, np.nan)

    def clocks(self) -> Floats:
        """(M,) game time, s."""
        stopped = np.isin(self._table.modes, [int(PlayMode.BEFORE_KICK_OFF), int(PlayMode.GAME_OVER)])
        return np.array([state.time for state in self.states]) + np.where(stopped, 0.0, self._watch.clocks["since"])

    @property
    def modes(self) -> Ints:
        """(M,) play modes by index."""
        return self._table.modes


class BehaviourVectorEnv:
    """M matches; options are those of `BehaviourOptions`."""

    def __init__(self, count: int, **options: Any) -> None:  # noqa: ANN401
        if not isinstance(count, int) or not 1 <= count <= _MAX_MATCHES:
            raise UsageError(f"an environment of {count!r} matches; allowed are 1 to {_MAX_MATCHES}.")
        self.options, self.num_envs = BehaviourOptions.of(options), count
        self.games = SteeredGames(self.options, count)
        """The matches, with the ground truth that no player knows."""
        self.agents = list(self.options.agents)
        self._symbols = _SymbolObservations(self.options)
        self._all: Ints = np.arange(count)
        self._rngs: list[np.random.Generator] = []
        self._cameras: Cameras | None = None
        self._cycles = np.zeros(count, np.int64)
        images = self.options.observations == "images"
        self.layout = self._symbols.body if images else self._symbols.layout
        """Where the parts of an observation, or with pictures of its `body`, are: `layout.slices["ball"]`."""
        self.single_observation_space: Any = self._picture_space() if images else self.layout.space
        """The observation space of one agent."""
        self.single_action_space: Any = Box(-1.0, 1.0, (ACTION_WIDTHS[self.options.actions],), np.float32)
        """The action space of one agent."""
        self.observation_space: Any = batch_space(batch_space(self.single_observation_space, len(self.agents)), count)
        self.action_space: Any = batch_space(batch_space(self.single_action_space, len(self.agents)), count)

    def _picture_space(self) -> Dict:
        cameras, shrink = self.games.senses.eyes.cameras, self.options.shrink
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
        self.games.actions[:] = checked_actions(actions, self.games.actions.shape)
        self.games.cycle(self._all)
        self._cycles += 1
        over = self.games.over
        cut = ~over & (self.options.max_cycles > 0) & (self._cycles >= self.options.max_cycles)
        return self._rewards(), over, cut

    def _rewards(self) -> Floats:
        """(M, agents) rewards of the last cycle: the same for a team, and the opposite for the other one."""
        goals, ball = self.games.goals(), self.games.ball_ahead()
        change = goals - self._score
        worth = self.options.goal_reward * (change[:, 0] - change[:, 1])
        worth = worth + self.options.ball_reward * np.nan_to_num(ball - self._ball)
        self._score, self._ball = goals, ball
        sign = np.array([1.0 if agent.startswith("left") else -1.0 for agent in self.agents])
        rewards: Floats = worth[:, None] * sign
        return rewards

    # ---- observations

    def observe(self) -> Observations:
        """The observations of all agents, (M, agents, ...)."""
        rows = self._symbols.rows(self.games)
        if self.options.observations == "symbols":
            return rows
        if self._cameras is None:
            field = self.games.world.field
            self._cameras = Cameras(self.games.senses.eyes, field, load_ball(field.ball))
        slots, shrink = self.games.slots, self.options.shrink
        pictures = np.stack(
            [self._cameras.draw(self.games.world.state, m, slots[m].tolist(), shrink=shrink) for m in self._all]
        )
        return {"top": pictures[:, :, 0], "bottom": pictures[:, :, 1], "body": rows}

    def infos(self) -> dict[str, Any]:
        """Ground truth: poses and the ball in the frames of the players' teams, and the goals."""
        state, slots = self.games.world.state, self.games.slots
        rows, sign = self._all[:, None], np.where(slots < MAX_PLAYERS, 1.0, -1.0)
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


# ----------------------------------------------------------------------------------------------------
# A match of the behavioural world as a PettingZoo parallel environment: every player of a team or of both is an
# agent.
#
# It is an environment of one match; options, observations and rewards are those of `BehaviourVectorEnv`.


class BehaviourEnv(EpisodeEnv):
    """A match; options are those of `BehaviourOptions`."""

    metadata: dict[str, Any] = {"name": "nutmeg_behaviour_v0", "render_modes": [], "is_parallelizable": True}  # noqa: RUF012

    def __init__(self, **options: Any) -> None:  # noqa: ANN401
        self.matches = BehaviourVectorEnv(1, **options)
        """The match, as an environment of one."""
        self.options, self.layout = self.matches.options, self.matches.layout
        width = ACTION_WIDTHS[self.options.actions]
        super().__init__(self.options, self.matches.single_observation_space, width)

    def _begin(self, seed: int | None) -> None:
        self.matches.reset(seed=seed)

    def _advance(self, actions: Sequence[Floats]) -> tuple[Sequence[float], bool, bool]:
        rewards, over, cut = self.matches.advance(np.array(actions)[None])
        return rewards[0].tolist(), bool(over[0]), bool(cut[0])

    def _observations(self) -> ByAgent:
        found = self.matches.observe()
        if isinstance(found, dict):
            return {a: {name: rows[0, k] for name, rows in found.items()} for k, a in enumerate(self.agents)}
        return {agent: found[0, k] for k, agent in enumerate(self.agents)}

    def _infos(self) -> ByAgent:
        infos = self.matches.infos()
        return {agent: {name: infos[name][0, k] for name in ("place", "ball")} for k, agent in enumerate(self.agents)}

    def state(self) -> Floats32:
        """Ground truth: poses (2 players, 3) of the teams `left` and `right`, the ball and its velocity."""
        games, count = self.matches.games, self.options.players
        turned = SLOTS // 2 if games.swapped[0] else 0
        slots = [(team * SLOTS // 2 + n + turned) % SLOTS for team in (0, 1) for n in range(count)]
        now = games.world.state
        return np.concatenate([now.pose[0, slots].ravel(), now.ball[0], now.ball_speed[0]]).astype(np.float32)

    def close(self) -> None:
        """Gives the renderer back, if there is one."""
        self.matches.close()
