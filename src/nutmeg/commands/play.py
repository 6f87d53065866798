"""Play a match between two built-in teams, in the browser: score, clock, cameras, what players see and intend.

At the end there is a report of one page, a replay that plays offline, and on request a video. Ctrl-C ends the match;
what was played is reported all the same.

example: nutmeg play
         nutmeg play --left holonomic --right final --players 9 --fast
         nutmeg play --players 2 --half 60 --no-page --video match.mp4
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nutmeg.match.driver import Driver
    from nutmeg.terminal import Terminal


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Options of `nutmeg play`."""

    left: str = "final"
    """The walk of the left team, which also gives it its name: one that comes with Nutmeg, or a TOML file."""
    right: str = "holonomic"
    """The walk of the right team."""
    players: int = 4
    """Players of each team, 1 to 11."""
    half: float = 300.0
    """Length of a half in seconds."""
    seconds: float = 0.0
    """End after so much simulated time; 0 plays the whole match."""
    swap_ends: bool = False
    """Whether the teams change ends at half time."""
    seed: int = 1
    """Of everything random; the same seed gives the same match."""
    fast: bool = False
    """As fast as the computer can, instead of in real time."""
    page: bool = True
    """Whether to show the match in the browser."""
    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = 8080
    """Port of the page."""
    open: bool = False
    """Open the page in your browser."""
    output: Path | None = None
    """Folder for recording, report and replay; runs/match-N if left out."""
    record: Path | None = None
    """Keep the recording under this name instead of in the folder."""
    report: Path | None = None
    """Write the report under this name instead of in the folder."""
    replay: Path | None = None
    """Write the replay under this name instead of in the folder."""
    make_replay: bool = True
    """Whether to make a replay that plays offline, which takes a while for a long match."""
    video: Path | None = None
    """Make a video of the match, too: an MP4 file; needs a renderer (see nutmeg doctor)."""
    json: bool = False
    """Print one JSON object as the last line."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Plays the match, then writes what there is to read and to see of it."""
    from nutmeg.commands.play_run import Aftermath, Files, MatchRun
    from nutmeg.live import AS_FAST_AS_IT_GOES, Watching, watch_run
    from nutmeg.match.driver import PlayerError
    from nutmeg.view.server import check_port

    check(arguments)
    if arguments.page:
        check_port(arguments.host, arguments.port)  # before the teams are called together
    files = Files.of(arguments)
    match = MatchRun(lambda path: new_match(arguments, path), terminal)
    aftermath = Aftermath(files, command=command_of(arguments), seed=arguments.seed, terminal=terminal)
    how = Watching(
        seconds=arguments.seconds,
        host=arguments.host,
        port=arguments.port,
        open_browser=arguments.open,
        record=files.record,
        page=arguments.page,
        title="match",
        seed=arguments.seed,
        pace=AS_FAST_AS_IT_GOES if arguments.fast else 1.0,
        paced=True,
        longest=10 * arguments.half + 3600.0,
        on_end=aftermath.write,
    )
    try:
        watched = watch_run(match, how, terminal)
    except PlayerError:
        aftermath.write()
        raise
    return {**match.result(), "url": watched["url"], "simulated_s": watched["simulated_s"], **aftermath.write()}


def check(arguments: Arguments) -> None:
    """Refuses a match that cannot be played, before any folder is made for it."""
    from nutmeg.errors import UsageError
    from nutmeg.learning.walks import read_walk
    from nutmeg.match.rules import MOST_PLAYERS

    if not 1 <= arguments.players <= MOST_PLAYERS:
        raise UsageError(f"--players is {arguments.players}; a team has 1 to {MOST_PLAYERS}.")
    if not 0 < arguments.half < LONGEST_HALF:
        raise UsageError(f"--half is {arguments.half:g} s; a half takes more than 0 and less than {LONGEST_HALF:g} s.")
    if not arguments.seconds >= 0:
        raise UsageError(f"--seconds is {arguments.seconds:g}; 0 plays the whole match, a shorter one takes some time.")
    for walk in (arguments.left, arguments.right):
        read_walk(walk).for_robot(ROBOT)


def new_match(arguments: Arguments, path: Path) -> Driver:
    """The teams on the pitch, before the first cycle."""
    from nutmeg.match.driver import Driver
    from nutmeg.match.game import Game
    from nutmeg.match.rules import load_rules
    from nutmeg.match.team.teams import by_number, make_team

    left, right = team_names(arguments.left, arguments.right)
    rules = load_rules("sim3d").with_match(
        players=arguments.players,
        half_length=arguments.half,
        automatic_kick_off=True,
        wait_before_kick_off=WAIT,
        swap_ends=arguments.swap_ends,
    )
    teams = (
        make_team(arguments.left, arguments.players, team=left),
        make_team(arguments.right, arguments.players, team=right),
    )
    game = Game(rules, seed=arguments.seed, left=left, right=right, record=path, players=2 * arguments.players)
    driver = Driver(game, by_number(*teams))
    game.record_with(minds=lambda: driver.players, config={"command": command_of(arguments)})
    return driver


def team_names(left: str, right: str) -> tuple[str, str]:
    """Names of two teams by their walks; a team that plays against itself gets a second name."""
    first, second = Path(left).stem, Path(right).stem
    return first, second if second != first else f"{second}-2"


def command_of(arguments: Arguments) -> str:
    """The command line that plays the same match."""
    words = ["nutmeg", "play", "--left", arguments.left, "--right", arguments.right]
    words += ["--players", str(arguments.players), "--half", f"{arguments.half:g}", "--seed", str(arguments.seed)]
    words += ["--seconds", f"{arguments.seconds:g}"] if arguments.seconds else []
    words += ["--swap-ends"] if arguments.swap_ends else []
    return shlex.join(words)


LONGEST_HALF = 1e5
"""Nobody watches longer [s]."""
ROBOT = "nao-spark"
"""The league's robot."""
WAIT = 3.0
"""From the first cycle of a half to its kick-off: players take their places [s]."""
