"""Settings of a series of games: teams, pairs, number of games and their length.

    settings = read_series(Path("tournament.toml"))
    settings.pairs                          # ((0, 1), (0, 2), (1, 2)), by the places of the teams in the file

The file:

    name = "walks"
    games = 20                              # of each pair
    players = 4                             # of a team
    half_length = 300.0                     # s
    [[team]]
    walk = "holonomic"                      # a walk that comes with Nutmeg, or a TOML file beside this one
    [[team]]
    name = "Mine"
    walk = "mine/params.toml"
    [[team]]
    player = "chaser.py:Chaser"             # players of your own: a class, called with team and number
    [[team]]
    decide = "mine.py:decide"               # a function that decides, a strategy, or "builtin"; plays in both worlds

With `world = "behavioural"` robots have no joints, and every team is a `decide`.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nutmeg.base.errors import FileError, UnknownNameError, UsageError
from nutmeg.base.settings import read
from nutmeg.match.players.registry import load_player, read_decide, title_of
from nutmeg.match.rules.book import MAX_PLAYERS, load_rules, rules_on
from nutmeg.match.rules.play_modes import PlayMode, Side
from nutmeg.match.series.ball_control import OBSERVED_TIME, controls_result, new_controls, observe_match
from nutmeg.match.worlds.physical.percept import ROBOT
from nutmeg.motion.walk.files import read_walk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nutmeg.match.loop import GameLoop
    from nutmeg.match.rules.book import Rules
    from nutmeg.motion.walk.files import WalkParameters


Pair = tuple[int, int]
"""Two teams by their places, the first one at home."""
DEFAULT_RULES = {"physical": "sim3d", "behavioural": "spl2011"}
"""Field and rule book of each world; they have the same names."""
_DEFAULT_WALK = "final"  # how a team walks in the physical world that has no walk of its own


@dataclass(frozen=True, kw_only=True)
class Entrant:
    """A team of a series: the built-in team with a walk, or players of a user's own."""

    walk: str = ""
    """A walk by name, its TOML file, or the folder of a run of `nutmeg learn`."""
    player: str = ""
    """Instead of a walk: the class of the players, as `file.py:Class` or `module:Class`."""
    decide: str = ""
    """The decision algorithm: a strategy, `builtin`, or a function, as `file.py:decide` or `module:decide`. In the
    physical world it uses the walk that is given with it, or `final`."""
    name: str = ""
    """Name of the team; by default that of the strategy, the function, the class or the walk."""
    robot_type: int = 0
    """The type of its robots, 0 to 4."""

    def __post_init__(self) -> None:
        if bool(self.walk or self.decide) == bool(self.player):
            raise ValueError(f"walk is {self.walk!r}, player {self.player!r}; one of them is needed, or decide.")
        name = self.name or title_of(self.decide) or self.player.rpartition(":")[2] or Path(self.walk).stem
        if not name or not all("!" <= letter <= "~" and letter not in "()" for letter in name):
            raise ValueError(f"name is {name!r}; needed are signs from ! to ~, without spaces and parentheses.")
        if not 0 <= self.robot_type <= 4:
            raise ValueError(f"robot_type is {self.robot_type}; allowed are 0 to 4.")
        object.__setattr__(self, "name", name)


@dataclass(frozen=True, kw_only=True)
class SeriesSettings:
    """A series of games."""

    name: str = "tournament"
    """Name of the series."""
    world: Literal["physical", "behavioural"] = "physical"
    """Robots with joints and motors, or robots that move by a few numbers."""
    team: tuple[Entrant, ...]
    """The teams that play."""
    games: int = 10
    """Number of games of each pair; every other one from the other side."""
    players: int = 4
    """Number of players of a team."""
    half_length: float = 300.0
    """The length of a half, s."""
    halves: Literal[1, 2] = 2
    """The number of halves, one or two."""
    only: tuple[tuple[str, str], ...] = ()
    """Which pairs play, by names; all if empty."""
    rules: str = ""
    """The rule book: a name, or a TOML file; sim3d, or spl2011 in the behavioural world, if empty."""
    field: str = ""
    """Name of the field; by default that of the rule book."""
    behaviour: str = "nao"
    """Abilities of robots and ball in the behavioural world: a name, or a TOML file."""
    eyes: str = ""
    """Senses of robots in the behavioural world: a name, or a TOML file; by default those that belong to the robots."""
    images: bool = False
    """Whether players of the behavioural world may ask for the pictures of their cameras; needs a renderer."""
    shoot_out: bool = False
    """Whether a draw is followed by penalty kicks, where the rule book has them; their goals do not count."""
    wait_before_kick_off: float = 2.0
    """Time for players to take their places, s."""
    noise: bool = True
    """Whether cameras err."""
    seed: int = 0
    """Seed of everything random."""

    def __post_init__(self) -> None:
        names = [entrant.name for entrant in self.team]
        if len(names) < 2:
            raise ValueError(f"{len(names)} teams cannot play; needed are two or more [[team]].")
        double = next((name for name in names if names.count(name) > 1), None)
        if double is not None:
            raise ValueError(f"two teams are called {double!r}; give them different names.")
        if self.games < 1 or self.seed < 0:
            raise ValueError(f"games is {self.games}, seed {self.seed}; allowed are 1 or more, and 0 or more.")
        if not 1 <= self.players <= MAX_PLAYERS:
            raise ValueError(f"players is {self.players}; allowed are 1 to {MAX_PLAYERS}.")
        if not 0 < self.half_length <= 1e5 or self.wait_before_kick_off < 0:
            raise ValueError(
                f"half_length is {self.half_length:g} s, wait_before_kick_off {self.wait_before_kick_off:g} s; "
                "a half takes time, and a wait 0 s or more."
            )
        for entrant in self.team:
            if self.world == "behavioural" and not entrant.decide:
                raise ValueError(
                    f"the team {entrant.name!r} has no decide; in the behavioural world robots have no joints, so a "
                    'team needs one: a strategy, "builtin" or "file.py:decide".'
                )
        for home, away in self.only:
            for name in (home, away):
                if name not in names:
                    raise ValueError(str(UnknownNameError("team", name, names)))
            if home == away:
                raise ValueError(f"{home!r} cannot play against itself.")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the teams."""
        return tuple(entrant.name for entrant in self.team)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of teams that play each other, by index."""
        if self.only:
            return tuple((self.names.index(home), self.names.index(away)) for home, away in self.only)
        return tuple(itertools.combinations(range(len(self.team)), 2))

    @property
    def book(self) -> str:
        """Name or file of the rule book."""
        return self.rules or DEFAULT_RULES[self.world]

    @property
    def ground(self) -> str:
        """Name of the field."""
        return self.field or DEFAULT_RULES[self.world]

    def rule_book(self) -> Rules:
        """The rules of every game."""
        own = self.field or self.world == "behavioural"
        rules = rules_on(self.book, self.ground) if own else load_rules(self.book)
        if not self.shoot_out:
            rules = dataclasses.replace(rules, shoot_out=dataclasses.replace(rules.shoot_out, on=False))
        return rules.with_match(
            players=self.players,
            half_length=self.half_length,
            halves=self.halves,
            automatic_kick_off=True,
            wait_before_kick_off=self.wait_before_kick_off,
        )

    def walks(self) -> tuple[WalkParameters | None, ...]:
        """Walks of the teams; None for teams without one. Users' players are loaded to check that they exist."""
        for entrant in self.team:
            if entrant.player:
                load_player(entrant.player)
            if entrant.decide:
                read_decide(entrant.decide)
        if self.world == "behavioural":
            return (None,) * len(self.team)
        return tuple(None if one.player else read_walk(one.walk or _DEFAULT_WALK).for_robot(ROBOT) for one in self.team)

    def changed(self, **changes: object) -> SeriesSettings:
        """The settings with some values changed; None keeps a value."""
        given = {name: value for name, value in changes.items() if value is not None}
        try:
            return dataclasses.replace(self, **given)  # type: ignore[arg-type]
        except ValueError as error:
            raise UsageError(f"the series: {error}") from None


def read_series(path: Path) -> SeriesSettings:
    """The series of a TOML file; walks, players, deciders and settings may be files beside it."""
    found = read(path, SeriesSettings)
    teams = tuple(_beside(path, entrant) for entrant in found.team)
    changes: dict[str, Any] = {}
    for name in ("rules", "behaviour", "eyes"):
        file = path.parent / getattr(found, name)
        if file.suffix == ".toml" and file.is_file():
            changes[name] = str(file)
    return dataclasses.replace(found, team=teams, **changes)


def _beside(path: Path, entrant: Entrant) -> Entrant:
    """A team whose files are found beside that of the series."""
    changes: dict[str, Any] = {}
    for name in ("player", "decide"):
        own = path.parent / getattr(entrant, name)
        if ".py:" in own.name:
            changes[name] = str(own)
    if entrant.walk:
        beside = path.parent / entrant.walk
        if entrant.walk.endswith(".toml") and not beside.exists():
            raise FileError(path, f"the team {entrant.name!r} has the walk {entrant.walk!r}, but there is no {beside}.")
        changes |= {"walk": str(beside)} if beside.exists() else {}
    return dataclasses.replace(entrant, **changes)


# ----------------------------------------------------------------------------------------------------
# Counts of a game, and the sides of its teams.
#
# Every other game of a pair is played from the other side, and after two games the other team begins.


COUNTED_EVENTS = ("fall", "foul")
"""Events that are counted for each team, beside its goals."""
RESULT_NUMBERS = ("goals", "falls", "fouls", "lost_turns", "possession", "progress", "shots", "expected_goals")
"""Numbers that are counted for each team of a game."""


def sides_of(pair: Pair, number: int) -> Pair:
    """The teams on the left and on the right: every other game of a pair is played from the other side."""
    return pair if number % 2 == 0 else pair[::-1]


def kick_off_of(number: int) -> Side:
    """Which side begins a game of a pair: after two games the other one."""
    return Side(number // 2 % 2)


def played_out(driver: GameLoop, teams: Iterable[str]) -> list[float]:
    """Plays a match to its end; what is counted (`RESULT_NUMBERS`) of each of the teams, one after the other."""
    counted: Counter[tuple[str, str]] = Counter()
    controls, began = new_controls(driver.game.rules.pitch, 1), driver.game.teams
    observed = 0

    def count(driver: GameLoop) -> None:
        nonlocal observed
        game = driver.game
        for event in game.events:
            if event.kind in COUNTED_EVENTS and event.side is not None:
                counted[game.teams[event.side], event.kind] += 1
        if int(game.time / OBSERVED_TIME + 0.5) > observed:
            observed = int(game.time / OBSERVED_TIME + 0.5)
            if game.facts is not None and game.state.mode is PlayMode.PLAY_ON:
                controls["swapped"] = game.swaps % 2 == 1
                observe_match(controls, game.facts)

    driver.run(on_cycle=count)
    goals = dict(zip(driver.game.teams, driver.game.state.score, strict=True))
    control = dict(zip(began, controls_result(controls[0]).by_team(), strict=True))
    lost: Counter[str] = Counter()
    for team, _, _, player in driver:
        lost[team] += getattr(player, "lost_turns", 0)  # players of a user's own do not count them
    return [
        number
        for name in teams
        for number in (goals[name], *(counted[name, kind] for kind in COUNTED_EVENTS), lost[name], *control[name])
    ]
