"""The match that `nutmeg play` was asked for, in either world, and what is refused.

check(arguments)
driver = new_match(arguments, Path("match.nutmeg"))         # the teams on the pitch, before the first cycle
driver.run()
"""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from nutmeg.base.errors import UsageError
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.registry import is_decider, read_decide, title_of
from nutmeg.match.rules.book import MAX_PLAYERS, rules_on
from nutmeg.model.field import load_field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nutmeg.commands.play import Arguments
    from nutmeg.match.base_game import BaseGame
    from nutmeg.match.loop import AnyPlayer
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.worlds.physical.percept import Player

BEHAVIOURAL = "behavioural"
LEFT = {"physical": "final", BEHAVIOURAL: "roles-pass"}
RIGHT = {"physical": "holonomic", BEHAVIOURAL: "attacker-keeper"}
FIELD = {"physical": "sim3d", BEHAVIOURAL: "spl2011"}
RULES = {"physical": "sim3d", BEHAVIOURAL: "spl2011"}
"""What is meant by what is left out, by world."""
LONGEST_HALF = 1e5
"""Nobody watches longer [s]."""
MOST_PICTURES = 10.0
"""Pictures per second of a robot's camera: one for each decision."""
ROBOT = "nao-spark"
"""The league's robot."""
WAIT = 3.0
"""From the first cycle of a half to its kick-off: players take their places [s]."""


def teams_of(arguments: Arguments) -> tuple[str, str]:
    """The teams as they were asked for, or those that are meant by nothing."""
    return arguments.left or LEFT[arguments.world], arguments.right or RIGHT[arguments.world]


def field_of(arguments: Arguments) -> str:
    """What is played on."""
    return arguments.field or FIELD[arguments.world]


def check(arguments: Arguments) -> None:
    """Refuses a match that cannot be played, before any folder is made for it."""
    if not 1 <= arguments.players <= MAX_PLAYERS:
        raise UsageError(f"--players is {arguments.players}; a team has 1 to {MAX_PLAYERS}.")
    if not 0 < arguments.half < LONGEST_HALF:
        raise UsageError(f"--half is {arguments.half:g} s; a half takes more than 0 and less than {LONGEST_HALF:g} s.")
    if not 0 <= arguments.seconds < math.inf:
        raise UsageError(f"--seconds is {arguments.seconds:g}; 0 plays the whole match, a shorter one takes some time.")
    rules_of(arguments)
    if arguments.world == BEHAVIOURAL:
        _check_behavioural(arguments)
    else:
        _check_physical(arguments)


def _check_physical(arguments: Arguments) -> None:
    from nutmeg.motion.walk.files import read_walk

    for option in ("record_cameras", "images"):
        if getattr(arguments, option):
            raise UsageError(f"--{option.replace('_', '-')} works in the behavioural world; add --world behavioural.")
    for team in teams_of(arguments):
        _check_complete(team)
        if is_decider(team):
            read_decide(team)
        read_walk(arguments.walk if is_decider(team) else team).for_robot(ROBOT)


def _check_behavioural(arguments: Arguments) -> None:
    from nutmeg.match.worlds.behavioural.eyes import load_eyes
    from nutmeg.match.worlds.behavioural.settings import load_behaviour

    for team in teams_of(arguments):
        _check_complete(team)
        read_decide(team)
    load_behaviour(_named(arguments.behaviour))
    if arguments.eyes:
        load_eyes(_named(arguments.eyes))
    if not 0 < arguments.camera_rate <= MOST_PICTURES:
        raise UsageError(
            f"--camera-rate is {arguments.camera_rate:g}; allowed is more than 0, up to {MOST_PICTURES:g}."
        )


def _check_complete(team: str) -> None:
    """Refuses the file of a player without the name of the function in it."""
    if team.endswith(".py"):
        raise UsageError(f"{team} is a file; name the function in it that decides, too: {team}:decide.")


def book_of(arguments: Arguments) -> str:
    """The rule book that was asked for, or that of the world; the 3D simulation league's needs no penalty mark."""
    if arguments.rules:
        return arguments.rules
    marked = load_field(field_of(arguments)).penalty_mark_distance > 0
    return RULES[arguments.world] if marked else RULES["physical"]


def rules_of(arguments: Arguments) -> Rules:
    """The rule book on the field."""
    return rules_on(book_of(arguments), field_of(arguments)).with_match(
        players=arguments.players,
        half_length=arguments.half,
        automatic_kick_off=True,
        wait_before_kick_off=WAIT,
        swap_ends=arguments.swap_ends,
    )


def new_match(arguments: Arguments, path: Path) -> GameLoop:
    """The teams on the pitch, before the first cycle."""
    build = _behavioural if arguments.world == BEHAVIOURAL else _physical
    game, players = build(arguments, path)
    driver = GameLoop(game, players)
    eyes = {"eyes": str(Path(arguments.eyes).resolve())} if arguments.eyes.endswith(".toml") else {}
    game.record_with(minds=lambda: driver.players, config={"command": command_of(arguments), **eyes})
    return driver


def _behavioural(arguments: Arguments, path: Path) -> tuple[BaseGame, dict[tuple[str, int], AnyPlayer]]:
    from nutmeg.match.behavioural_game import BehaviourGame

    names, chosen = team_names(*teams_of(arguments)), teams_of(arguments)
    game = BehaviourGame(
        rules_of(arguments),
        seed=arguments.seed,
        field=field_of(arguments),
        settings=_named(arguments.behaviour),
        eyes=_named(arguments.eyes) if arguments.eyes else None,
        cameras=arguments.images,
        left=names[0],
        right=names[1],
        record=path,
    )
    players: dict[tuple[str, int], AnyPlayer] = {}
    for name, team in zip(names, chosen, strict=True):
        players |= game.team(name, read_decide(team), arguments.players)
    return game, players


def _physical(arguments: Arguments, path: Path) -> tuple[BaseGame, dict[tuple[str, int], AnyPlayer]]:
    from nutmeg.match.game import Game

    rules, (left, right) = rules_of(arguments), team_names(*teams_of(arguments))
    game = Game(
        rules,
        seed=arguments.seed,
        left=left,
        right=right,
        record=path,
        field=field_of(arguments),
        players=2 * arguments.players,
    )
    players: dict[tuple[str, int], AnyPlayer] = {}
    for name, team in zip((left, right), teams_of(arguments), strict=True):
        for number, player in enumerate(_bodies(arguments, name, team, rules), start=1):
            players[name, number] = player
    return game, players


def _bodies(arguments: Arguments, name: str, team: str, rules: Rules) -> Iterable[Player]:
    """The players of a team in the physical world: the built-in team with a walk, or a `decide`."""
    from nutmeg.match.players.builtin.player import make_team
    from nutmeg.match.players.deciding_player import DecidingPlayer
    from nutmeg.motion.walk.files import read_walk

    field = field_of(arguments)
    if not is_decider(team):
        return make_team(team, arguments.players, team=name, field=field)
    decide, walk = read_decide(team), read_walk(arguments.walk)
    return [
        DecidingPlayer(
            decide, name, n, walk=walk, players=arguments.players, field=field, rules=rules, seed=arguments.seed
        )
        for n in range(1, arguments.players + 1)
    ]


def _named(name: str) -> str | Path:
    """A name, or the path of a file."""
    return Path(name) if name.endswith(".toml") else name


def team_names(left: str, right: str) -> tuple[str, str]:
    """Names of two teams by what they are; a team that plays against itself gets a second name."""
    first, second = (title_of(team) if is_decider(team) else Path(team).stem for team in (left, right))
    return first, second if second != first else f"{second}-2"


def command_of(arguments: Arguments) -> str:
    """The command line that plays the same match."""
    left, right = teams_of(arguments)
    words = ["nutmeg", "play", *(["--world", BEHAVIOURAL] if arguments.world == BEHAVIOURAL else [])]
    words += ["--left", left, "--right", right]
    words += ["--field", arguments.field] if arguments.field else []
    words += ["--rules", arguments.rules] if arguments.rules else []
    for name, usual in (("walk", "final"), ("behaviour", "nao"), ("eyes", "")):
        words += [f"--{name}", getattr(arguments, name)] if getattr(arguments, name) != usual else []
    words += ["--players", str(arguments.players), "--half", f"{arguments.half:g}", "--seed", str(arguments.seed)]
    words += ["--images"] if arguments.images else []
    words += ["--seconds", f"{arguments.seconds:g}"] if arguments.seconds else []
    words += ["--swap-ends"] if arguments.swap_ends else []
    return shlex.join(words)
