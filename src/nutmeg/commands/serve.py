"""Serve a match to agents and monitors that speak SimSpark's protocol: the RoboCup 3D simulation league's own.

Robots at the lowest interface of the real ones have options of their own: nutmeg serve --protocol lola --help

Agents connect to port 3100, monitors and trainers to 3200. The line `ready` on standard output says that both listen.
With --left or --right a team of our own plays, over the socket like everybody else. Ends with Ctrl-C, SIGTERM or a
trainer's (killsim); the recording is then closed and named.

example: nutmeg serve
         nutmeg serve --fast --no-view --seed 7 --record final.nutmeg
         nutmeg serve --right holonomic --players 4 --automatic-kick-off --half-length 120 --until-over
"""

from __future__ import annotations

import contextlib
import importlib
import math
import signal
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from nutmeg.base.errors import EnvironmentProblem, FileError, SimulationError, UsageError
from nutmeg.base.interrupts import Starting, load_physics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType, ModuleType

    from nutmeg.commands.serve_guests import Guests, Page
    from nutmeg.commands.served_game import ServedGame
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.worlds.physical.groundskeeper import Groundskeeper
    from nutmeg.net.simspark.server import Server, ServerSettings
    from nutmeg.view.terminal import Terminal

OWN_PLAYERS = 4
"""How many of a team of ours play if nobody says so."""
LAST_PORT = 65535


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Options of `nutmeg serve`."""

    protocol: Literal["simspark", "lola", "openr"] = "simspark"
    """What clients speak: SimSpark (a match), LoLA (Nao V6) or OPEN-R (AIBO)."""
    agent_port: int = 3100
    """TCP port for agents; 0 takes a free one."""
    monitor_port: int = 3200
    """TCP port for monitors and trainers; 0 takes a free one."""
    host: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 lets other machines in."""
    fast: bool = False
    """Begin the next cycle as soon as all agents have answered, at the latest after 20 ms."""
    sync: bool = False
    """Begin the next cycle when all agents have said (syn), however long that takes."""
    ground_truth: bool = False
    """Tell players where they and the ball truly are."""
    noise: bool = True
    """Whether cameras err."""
    beam_noise: bool = True
    """Whether players land near where they wish to be put, rather than there."""
    seed: int = 0
    """Of all noise."""
    left: str = ""
    """Let a team of ours play from the left: the name of its walk (holonomic, final, ...) or a file."""
    right: str = ""
    """Let a team of ours play from the right."""
    players: int | None = None
    """Players of a team; 11 if left out, and 4 of a team of ours."""
    half_length: float | None = None
    """Of a half [s]; 300 if left out."""
    halves: int | None = None
    """One or two; two if left out."""
    automatic_kick_off: bool = False
    """Halves start by themselves, instead of by a trainer."""
    wait_before_kick_off: float | None = None
    """Before an automatic kick-off, counted once somebody is there [s]; 30 if left out."""
    rules: str = "sim3d"
    """The rule book: a name, or a TOML file of your own."""
    until_over: bool = False
    """End when the game is over; otherwise the server goes on until it is ended."""
    record: Path | None = None
    """Where the recording goes; runs/serve-N/match.nutmeg if left out."""
    no_record: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Make no recording; then there is no page either."""
    view: bool = True
    """Whether to show the match on a web page."""
    port: int = 8080
    """Port of the page; 0 takes a free one."""
    json: bool = False
    """Print one JSON object as the last line."""


def chosen(rest: Sequence[str]) -> ModuleType:
    """The module with the options of the protocol that was asked for."""
    text = " ".join(rest).replace("--protocol=", "--protocol ").split()
    protocol = text[text.index("--protocol") + 1] if "--protocol" in text[:-1] else "simspark"
    return importlib.import_module(
        "nutmeg.commands.serve_robots" if protocol in ("lola", "openr") else "nutmeg.commands.serve"
    )


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Serves until somebody ends it."""
    with contextlib.ExitStack() as stack:
        with Starting():
            load_physics()
            from nutmeg.commands.serve_guests import Guests
            from nutmeg.commands.server_log import Journal
            from nutmeg.match.worlds.physical.groundskeeper import Groundskeeper
            from nutmeg.net.simspark.server import Server

            settings, rules, teams = _settings(arguments), _rules(arguments), _teams(arguments)
            _check_ports(arguments)
            stack.enter_context(_ended_by_sigterm())
            record = _recording(arguments)
            keeper = stack.enter_context(Groundskeeper())
            game = stack.enter_context(_game(arguments, rules, teams, keeper, record))
            game.cycle({})  # begins the recording, which takes seconds for which nobody should have to wait later
            journal = stack.enter_context(Journal(terminal.say))
            server = stack.enter_context(Server(game, settings, journal.report))
            guests = stack.enter_context(Guests(server, journal, page=_page(arguments, record)))
        game.at_end = server.stop if arguments.until_over else None
        terminal.say(f"agents on {settings.host}, port {server.agent_port}; monitors on port {server.monitor_port}")
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        began = time.monotonic()
        try:
            guests.come(_walks(arguments, teams), _own_players(arguments))
            server.run()
        except KeyboardInterrupt:
            pass  # before or after the server listens to it
        except SimulationError as error:
            kept = f" Everything up to then is in {record}." if record else ""
            raise SimulationError(f"{error}{kept}") from None
        finally:
            game.close()  # first of all: whatever else takes long to end, the recording is whole
        seconds = time.monotonic() - began
    return _summary(game, server, guests, record, seconds, terminal)


def _summary(
    game: ServedGame, server: Server, guests: Guests, record: Path | None, seconds: float, terminal: Terminal
) -> dict[str, Any]:
    """What there is to tell when everything is closed."""
    view, (left, right) = game.view, (name or "nobody" for name in game.team_names)
    terminal.say(f"{left} {view.score_left} : {view.score_right} {right} after {view.time:.0f} s ({view.mode}).")
    if record is not None:
        terminal.say(f"recording: {record}   replay it with: nutmeg replay {record}")
    return {
        "agent_port": server.agent_port,
        "monitor_port": server.monitor_port,
        "teams": list(game.team_names),
        "score": [view.score_left, view.score_right],
        "mode": view.mode,
        "game_time": view.time,
        "simulated_s": game.time,
        "wall_s": round(seconds, 3),
        "cycles": server.cycles,
        "late_cycles": server.late_cycles,
        "recording": record,
        "url": guests.url,
    }


def _settings(arguments: Arguments) -> ServerSettings:
    from nutmeg.net.simspark.server import ServerSettings

    if arguments.fast and arguments.sync:
        raise UsageError("--fast and --sync do not go together; leave one of them out.")
    if arguments.no_record and arguments.record is not None:
        raise UsageError("--record and --no-record do not go together; leave one of them out.")
    for name in ("agent_port", "monitor_port", "port"):
        if not 0 <= getattr(arguments, name) <= LAST_PORT:
            raise UsageError(f"--{name.replace('_', '-')} is {getattr(arguments, name)}; ports are 0 to {LAST_PORT}.")
    return ServerSettings(
        host=arguments.host,
        agent_port=arguments.agent_port,
        monitor_port=arguments.monitor_port,
        pace="fast" if arguments.fast else "sync" if arguments.sync else "real-time",
    )


def _check_ports(arguments: Arguments) -> None:
    """Refuses ports in use at once, not only when everything is built."""
    options = ["agent_port", "monitor_port", *(["port"] if arguments.view and not arguments.no_record else [])]
    taken: set[int] = set()
    for option in options:
        name, port = f"--{option.replace('_', '-')}", int(getattr(arguments, option))
        if port in taken - {0}:
            raise UsageError(f"{name} is {port}, as another port is; each needs its own.")
        taken.add(port)
        try:
            with socket.socket(socket.AF_INET) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((arguments.host, port))
        except OSError as error:
            raise EnvironmentProblem(
                f"cannot listen on {arguments.host}, port {port}: {error.strerror or error}. Choose another with "
                f"{name} (0 takes a free one) or --host, or end the program that uses it."
            ) from None


def _rules(arguments: Arguments) -> Rules:
    """The rule book with what was asked for."""
    from nutmeg.match.rules.book import load_rules

    book = load_rules(arguments.rules)
    names = ("players", "half_length", "halves", "wait_before_kick_off")
    changes = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    if changes.get("halves", 1) not in (1, 2):
        raise UsageError(f"--halves is {changes['halves']}; allowed are 1 and 2.")
    for name in ("half_length", "wait_before_kick_off"):
        if not math.isfinite(changes.get(name, 0.0)):
            raise UsageError(f"--{name.replace('_', '-')} is {changes[name]}; needed is a number of seconds.")
    if arguments.automatic_kick_off:
        changes["automatic_kick_off"] = True
    try:
        return book.with_match(**changes)
    except ValueError as error:
        raise UsageError(f"rules of the match: {error}") from None


def _own_players(arguments: Arguments) -> int:
    return OWN_PLAYERS if arguments.players is None else arguments.players


def _teams(arguments: Arguments) -> tuple[str, str]:
    """Names of the teams of ours; empty for whoever comes."""
    from nutmeg.match.worlds.physical.ground import ROBOT
    from nutmeg.motion.walk.files import read_walk

    for walk in (arguments.left, arguments.right):
        if walk:
            read_walk(walk).for_robot(ROBOT)
    left, right = (Path(walk).stem for walk in (arguments.left, arguments.right))
    return left, f"{right}-2" if right and right == left else right


def _walks(arguments: Arguments, teams: tuple[str, str]) -> dict[str, str]:
    """Walks of the teams of ours by their names."""
    return {team: walk for team, walk in zip(teams, (arguments.left, arguments.right), strict=True) if walk}


def _page(arguments: Arguments, record: Path | None) -> Page | None:
    from nutmeg.commands.serve_guests import Page

    return Page(record, arguments.host, arguments.port) if arguments.view and record is not None else None


def _recording(arguments: Arguments) -> Path | None:
    """Where the recording goes."""
    from nutmeg.base.journal import new_folder

    if arguments.no_record:
        return None
    if arguments.record is not None and arguments.record.exists():
        raise FileError(arguments.record, "exists already; choose another name with --record.")
    return arguments.record or new_folder(Path("runs"), "serve") / "match.nutmeg"


def _game(
    arguments: Arguments, rules: Rules, teams: tuple[str, str], keeper: Groundskeeper, record: Path | None
) -> ServedGame:
    """The match, with seats for teams of ours and their opponents; larger grounds are prepared beside it."""
    from nutmeg.commands.served_game import ServedGame
    from nutmeg.match.rules.slots import SEATS

    expected = 2 * _own_players(arguments) if any(teams) else 1
    for seats in SEATS:
        if expected < seats <= 2 * rules.match.players:
            keeper.prepare(seats=seats, toed=0)
    return ServedGame(
        rules,
        seed=arguments.seed,
        noise=arguments.noise,
        beam_noise=arguments.beam_noise,
        ground_truth=arguments.ground_truth,
        left=teams[0],
        right=teams[1],
        record=record,
        players=expected,
        keeper=keeper,
    )


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """While inside, SIGTERM is as Ctrl-C: everything is closed."""

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
