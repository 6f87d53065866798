"""Serve a match to agents and monitors that speak SimSpark's protocol: the RoboCup 3D simulation league's own.

Agents connect to port 3100, monitors and trainers to 3200. The line `ready` on standard output says that both listen.
With --left or --right the built-in team plays, over the socket like any other. Ends with Ctrl-C, SIGTERM or a
trainer's (killsim); the recording is then closed and named.

example: nutmeg serve
         nutmeg serve --fast --no-view --seed 7 --record final.nutmeg
         nutmeg serve --right holonomic --players 4 --automatic-kick-off --half-length 120 --until-over
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from nutmeg.base.errors import UsageError
from nutmeg.base.interrupts import Closing, Starting, load_physics, terminated_as_interrupted
from nutmeg.base.memory import give_back_memory
from nutmeg.base.settings import Bounds
from nutmeg.commands.options import Port, Seconds
from nutmeg.commands.serving import (
    ControllerOptions,
    ServedPage,
    ServeOptions,
    ServerLog,
    check_ports,
    ended_as_asked,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nutmeg.match.base_game import BaseGame
    from nutmeg.match.drawing import Drawing
    from nutmeg.match.mj_game import MjGame
    from nutmeg.match.rules.book import Rules
    from nutmeg.model.scene import SceneSettings
    from nutmeg.net.game_controller import GameController
    from nutmeg.net.simspark.server import ServedProtocol, Server, ServerSettings
    from nutmeg.view.terminal import Terminal

    MakeDrawing = Callable[[SceneSettings], Drawing]


FIELD = "sim3d"  # what matches over SimSpark are played on
_MJ_FIELDS = {"ssim26": "fifa7vs7", "fifa": "fifa", "humanoid": "hl-adult"}
"""Fields of the rule books for rcssservermj's robots."""
_OWN_PLAYERS = 4  # how many players a built-in team has if --players is left out
_TOED_SEATS = 14  # robots with toes that can play: the league allows a team seven of one type
_ALL_ADDRESSES = "0.0.0.0"  # noqa: S104 (to tell it from other addresses)
_SYNC_PATIENCE = 60.0
"""How long a server that waits for its agents waits for one that hangs, unless --patience says otherwise [s]. Agents
that load a network or compile code before their first answer take ten seconds and more on a busy machine."""
_TEAM_PATIENCE = 3.0  # how long the processes of built-in teams may take to end [s]


@dataclass(frozen=True, kw_only=True)
class MatchOptions(ServeOptions):
    """Options of all served matches, in any protocol."""

    group: ClassVar[str] = "match and agents"
    agent_port: Port = 3100
    """TCP port for agents; 0 takes a free one."""
    monitor_port: Port = 3200
    """TCP port for monitors and trainers; 0 takes a free one."""
    fast: bool = False
    """Begin the next cycle as soon as all agents have answered, at the latest after 20 ms."""
    sync: bool = False
    """Begin the next cycle when all agents have sent (syn), however long that takes, also together with --fast."""
    patience: Annotated[float, Bounds(0, math.inf, without_low=True)] = _SYNC_PATIENCE
    """With --sync: disconnect an agent that has not sent (syn) for this time [s]; inf waits for ever."""
    players: int | None = None
    """Players of a team; as many as the rules allow if left out, and 4 of a built-in team."""
    half_length: Seconds | None = None
    """Length of a half [s]; the rule book's if left out."""
    halves: Annotated[int, Bounds(1, 2)] | None = None
    """One or two; the rule book's if left out."""
    automatic_kick_off: bool = False
    """Halves start by themselves, instead of by a trainer."""
    wait_before_kick_off: Seconds | None = None
    """Time before an automatic kick-off, counted once a player is present [s]; 30 if left out."""
    rules: str = "sim3d"
    """The rule book: a name, or a TOML file of your own."""
    until_over: bool = False
    """End when the game is over; otherwise the server continues until it is ended."""

    def ports(self) -> dict[str, int]:
        """The ports to listen on, by option."""
        found = {"--agent-port": self.agent_port, "--monitor-port": self.monitor_port}
        return found | ({"--port": self.port} if self.view and not self.no_record else {})


@dataclass(frozen=True, kw_only=True)
class Arguments(MatchOptions):
    """Options of `nutmeg serve spark`."""

    ground_truth: bool = False
    """Add the true places of the player and the ball to the observations."""
    noise: bool = True
    """Whether what players see is noisy."""
    beam_noise: bool = True
    """Whether beaming a player to a place has noise, as on the league's server."""
    left: str = ""
    """Let the built-in team play from the left: the name of its walk (holonomic, final, ...) or a file."""
    right: str = ""
    """Let the built-in team play from the right."""
    seats: Annotated[int, Bounds(1, 22)] | None = None
    """Robots that can play at once; twice --players if left out. Each costs a little time even before it plays."""
    toed_seats: Annotated[int, Bounds(0, _TOED_SEATS)] | None = None
    """Robots with toes (type 4) that can play beside them; 14 if --seats is left out as well, else none."""


@dataclass(frozen=True, kw_only=True)
class MjArguments(MatchOptions, ControllerOptions):
    """Serve a match of Booster T1 and K1 robots to agents that speak rcssservermj's protocol.

    Agents connect to port 60000, monitors and trainers to 60001. The line `ready` on standard output says that both
    listen. Robots are built before players join, so that joining delays no cycle. Ends with Ctrl-C, SIGTERM or a
    trainer's (killsim); the recording is then closed and named.

    example: nutmeg serve mj
             nutmeg serve mj --sync --no-view --no-record --seats 1 --k1-seats 0
             nutmeg serve mj --halves 2 --swap-ends --offside --automatic-kick-off --until-over
    """

    agent_port: Port = 60000
    """TCP port for agents; 0 takes a free one."""
    monitor_port: Port = 60001
    """TCP port for monitors and trainers; 0 takes a free one."""
    rules: str = "ssim26"
    """The rule book: ssim26 (seven a side), fifa (eleven), humanoid (four), or a TOML file of your own."""
    field: str = ""
    """The pitch: fifa7vs7, fifa, hl-adult, hl-kid or a TOML file; the rule book's own if left out."""
    seats: Annotated[int, Bounds(0, 22)] | None = None
    """T1 robots that can play at once; as many as both teams have if left out. Each costs 16 us a cycle, parked or
    not."""
    k1_seats: Annotated[int, Bounds(0, 22)] | None = None
    """K1 robots that can play at once; as many as both teams have if left out."""
    beam_noise: bool = False
    """Beams have an error of up to 5 cm and 10 degrees, drawn by the seed; rcssservermj has none, so that the same
    agents play the same game with every seed."""
    swap_ends: bool = False
    """Teams change ends at half-time; rcssservermj has no second half (see --halves)."""
    offside: bool = False
    """Call offside, which rcssservermj does not."""
    fouls: bool = False
    """Call touching, charging and crowding, which rcssservermj does not."""
    extra_time: bool = False
    """A draw is followed by two more halves, which rcssservermj does not have."""
    game_controller: bool = False
    """Tell the match as the humanoid league's GameController does, over UDP."""
    shoot_out: bool = False
    """A draw is followed by penalty kicks, which rcssservermj does not have."""


class _Prepared(NamedTuple):
    """A match that is ready to be served."""

    game: BaseGame
    record: Path | None
    rehearse: Callable[[], None]
    """Loads what players need; on the first start on a machine, compiles it."""
    protocol: ServedProtocol
    walks: dict[str, str]
    """Walks of built-in teams that are to play, by the teams' names."""


def run(arguments: Arguments | MjArguments, terminal: Terminal) -> dict[str, Any]:
    """Serves until the server is ended."""
    if isinstance(arguments, MjArguments):
        return _serve(arguments, terminal, lambda stack: _prepare_mj(arguments, stack))
    return _serve(arguments, terminal, lambda stack: _prepare_spark(arguments, stack))


def _prepare_spark(arguments: Arguments, stack: contextlib.ExitStack) -> _Prepared:
    """The match with a seat for each robot that can play, and the walks of built-in teams."""
    from nutmeg.match.drawing import league_scene

    rules = _rules(arguments)
    # Early: it works while the rest is loaded.
    make_drawing = _make_drawing(league_scene(rules, FIELD), stack, drawn=not arguments.no_record)
    from nutmeg.match.game import Game, PhysicalSetup
    from nutmeg.net.simspark.server import SIMSPARK

    teams = _teams(arguments)
    check_ports(arguments.host, arguments.ports())
    record = arguments.new_recording("match.nutmeg")
    plain, toed = arguments.seats or 2 * rules.match.players, arguments.toed_seats
    if toed is None:
        toed = _TOED_SEATS if arguments.seats is None else 0
    game = Game(
        rules,
        seed=arguments.seed,
        left=teams[0],
        right=teams[1],
        record=record,
        seats=plain + toed,
        setup=PhysicalSetup(
            noise=arguments.noise,
            beam_noise=arguments.beam_noise,
            ground_truth=arguments.ground_truth,
            field=FIELD,
            toed=toed,
            make_drawing=make_drawing,
        ),
    )
    walks = {team: walk for team, walk in zip(teams, (arguments.left, arguments.right), strict=True) if walk}
    return _Prepared(stack.enter_context(game), record, lambda: rehearse(rules), SIMSPARK, walks)


def _serve(
    arguments: MatchOptions, terminal: Terminal, prepare: Callable[[contextlib.ExitStack], _Prepared]
) -> dict[str, Any]:
    """Serves what is prepared until the server is ended; what it needs is closed with it."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(terminated_as_interrupted())
        with Starting(signal.SIGTERM):
            load_physics()
            game, record, rehearse_match, protocol, walks = prepare(stack)
            from nutmeg.net.simspark.server import Server

            settings = _settings(arguments)
            game.cycle({})  # begins the recording now, because that takes a while, and players would wait for it later
            rehearse_match()  # also what is found on disk has to be loaded, for which the compiler is needed
            log = stack.enter_context(ServerLog(terminal.say))
            server = stack.enter_context(Server(game, settings, log.report, protocol))
            shown = record if arguments.view else None
            page = stack.enter_context(ServedPage(log, shown, host=arguments.host, port=arguments.port))
            teams_here = stack.enter_context(_TeamProcesses())
            give_back_memory()
        terminal.say(f"agents on {settings.host}, port {server.agent_port}; monitors on port {server.monitor_port}")
        began = time.monotonic()
        with ended_as_asked(record, game.close):
            page.show()
            for team, walk in walks.items():
                teams_here.start(team, walk, arguments.players or _OWN_PLAYERS, server)
            server.run(until=lambda: arguments.until_over and game.over)
        seconds = time.monotonic() - began
    return _summary(game, server, page, record, seconds, terminal)


def _summary(
    game: BaseGame, server: Server, page: ServedPage, record: Path | None, seconds: float, terminal: Terminal
) -> dict[str, Any]:
    """Prints how the match went; returns what `--json` prints."""
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
        "url": page.url,
    }


def _settings(arguments: MatchOptions) -> ServerSettings:
    from nutmeg.net.agents import AgentLimits
    from nutmeg.net.simspark.server import ServerSettings

    return ServerSettings(
        host=arguments.host,
        agent_port=arguments.agent_port,
        monitor_port=arguments.monitor_port,
        # A server that waits for all agents is as fast as possible: --fast changes nothing about --sync.
        pace="sync" if arguments.sync else "fast" if arguments.fast else "real-time",
        limits=AgentLimits(patience=arguments.patience),
    )


def _rules(arguments: MatchOptions) -> Rules:
    """The rule book with what was asked for."""
    from nutmeg.match.rules.book import load_rules

    book = load_rules(arguments.rules)
    names = ("players", "half_length", "halves", "wait_before_kick_off")
    changes = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    if arguments.automatic_kick_off:
        changes["automatic_kick_off"] = True
    try:
        return book.with_match(**changes)
    except ValueError as error:
        raise UsageError(f"rules of the match: {error}") from None


def _teams(arguments: Arguments) -> tuple[str, str]:
    """Names of the built-in teams that were asked for; empty where any team may join."""
    from nutmeg.match.worlds.physical.percept import ROBOT
    from nutmeg.motion.walk.files import read_walk

    for walk in (arguments.left, arguments.right):
        if walk:
            read_walk(walk).for_robot(ROBOT)
    left, right = (Path(walk).stem for walk in (arguments.left, arguments.right))
    return left, f"{right}-2" if right and right == left else right


def _make_drawing(scene: SceneSettings, stack: contextlib.ExitStack, *, drawn: bool) -> MakeDrawing:
    """How the scene of the recording is drawn: by a process of its own, which begins now, if there is a recording."""
    from nutmeg.match.drawing import DrawingProcess, draw

    return stack.enter_context(DrawingProcess(scene)).draw if drawn else draw


def rehearse(rules: Rules) -> None:
    """Lets two robots play for a moment, so that every kernel a match needs is compiled and loaded before agents come.

    Otherwise the first agent would wait for that, on a slow machine for half a minute, and most agents give up. Where
    all of them are on disk it takes 0.1 s, and the compiler, which loads them, can leave memory afterwards.
    """
    from nutmeg.match.game import Game, PhysicalSetup
    from nutmeg.match.rules.play_modes import PlayMode
    from nutmeg.net.simspark.effectors import joints_of, read_orders
    from nutmeg.net.simspark.percepts import percept_message

    types = (0, 4)
    with Game(rules, seed=0, seats=2, setup=PhysicalSetup(ground_truth=True, toed=1)) as game:
        for robot_type in types:
            percept_message(game.percept_before_joining(robot_type, 0))
        slots = [game.enter(f"team{robot_type}", 1, robot_type) for robot_type in types]
        game.set_play_mode(PlayMode.PLAY_ON)
        for _ in range(6):
            orders = [read_orders(b"(he1 0.1)(say hello)(syn)", joints_of(robot_type)) for robot_type in types]
            percepts = game.cycle({slot: order.action for slot, order in zip(slots, orders, strict=True)})
            game.work_ahead()
            for percept in percepts.values():
                percept_message(percept)


class _TeamProcesses(Closing):
    """Built-in teams that play on a server, each a process of its own that uses nothing but the protocol.

    They end when the server ends their connections, however that happens.
    """

    def __init__(self) -> None:
        self._teams: list[subprocess.Popen[bytes]] = []

    def start(self, team: str, walk: str, players: int, server: Server) -> None:
        """Starts a team by its name and the name of its walk."""
        host = "127.0.0.1" if server.settings.host == _ALL_ADDRESSES else server.settings.host
        command = [sys.executable, "-m", "nutmeg", "agents", team, "--walk", walk, "--players", str(players)]
        command += ["--host", host, "--port", str(server.agent_port)]
        # in a session of its own, so that Ctrl-C reaches the server first
        process = subprocess.Popen(  # noqa: S603 (our own command)
            command, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno(), start_new_session=True
        )
        self._teams.append(process)

    def close(self) -> None:
        """Ends the processes of the teams; those that do not end in time are killed."""
        for process in self._teams:
            process.terminate()
        for process in self._teams:
            try:
                process.wait(_TEAM_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


# ---- rcssservermj


def _prepare_mj(arguments: MjArguments, stack: contextlib.ExitStack) -> _Prepared:
    """The match, with a seat for each robot that can play."""
    from nutmeg.match.mj_game import MjGame, MjSetup, empty_scene
    from nutmeg.net.mj.server import MJ

    rules, field = _mj_rules(arguments)
    check_ports(arguments.host, arguments.ports())
    record = arguments.new_recording("match.nutmeg")
    seats = _mj_seats(arguments, rules)
    make_drawing = _make_drawing(empty_scene(field, seats), stack, drawn=record is not None)
    setup = MjSetup(field=field, beam_noise=arguments.beam_noise, make_drawing=make_drawing)
    game = MjGame(rules, seed=arguments.seed, seats=seats, setup=setup, record=record)
    if arguments.game_controller:
        stack.enter_context(_controller(game, arguments))
    return _Prepared(stack.enter_context(game), record, lambda: rehearse_mj(rules, field), MJ, {})


def _controller(game: MjGame, arguments: MjArguments) -> GameController:
    """The GameController of a match."""
    from nutmeg.match.rules.state import PLAYERS_SHAPE
    from nutmeg.net.game_controller import GameController

    controller = GameController(arguments.controller_settings(arguments.host), game.rules)

    def watch(played: BaseGame) -> None:
        present = played.present.reshape(PLAYERS_SHAPE)
        controller.update(played.time, played.state, present, swapped=played.swaps % 2 == 1)

    game.watchers.append(watch)
    return controller


def _mj_seats(arguments: MjArguments, rules: Rules) -> dict[str, int]:
    wanted = {"t1": arguments.seats, "k1": arguments.k1_seats}
    seats = {kind: 2 * rules.match.players if count is None else count for kind, count in wanted.items()}
    if not any(seats.values()):
        raise UsageError("--seats 0 and --k1-seats 0 leave no robot to play with; give at least one.")
    return {kind: count for kind, count in seats.items() if count}


def _mj_rules(arguments: MjArguments) -> tuple[Rules, str]:
    """The rule book with what was asked for, and the field."""
    from nutmeg.match.rules.book import rules_on

    rules = _rules(arguments)
    field = arguments.field or _MJ_FIELDS.get(rules.name, "fifa7vs7")
    rules = rules.on(rules_on(arguments.rules, field).pitch)
    asked = {name: True for name in ("swap_ends", "extra_time") if getattr(arguments, name)}
    rules = rules.with_match(**asked)
    fouls = rules.fouls
    if arguments.fouls:
        switched = {
            name: dataclasses.replace(getattr(fouls, name), on=True) for name in ("touching", "charging", "crowding")
        }
        fouls = dataclasses.replace(fouls, **switched)
    offside = dataclasses.replace(rules.offside, on=rules.offside.on or arguments.offside)
    shoot_out = dataclasses.replace(rules.shoot_out, on=rules.shoot_out.on or arguments.shoot_out)
    return dataclasses.replace(rules, fouls=fouls, offside=offside, shoot_out=shoot_out), field


def rehearse_mj(rules: Rules, field: str) -> None:
    """Lets two robots play for a moment, so that every kernel a match needs is compiled before agents come."""
    from nutmeg.match.mj_game import MjGame, MjSetup
    from nutmeg.match.rules.play_modes import PlayMode
    from nutmeg.net.mj.effectors import read_orders
    from nutmeg.net.mj.percepts import PerceptWriter

    with MjGame(rules, seed=0, setup=MjSetup(field=field), seats={"t1": 1, "k1": 1}) as game:
        writer, robots = PerceptWriter(game.world.marks), ("t1", "k1")
        slots = [game.enter(f"team{kind}", 1, kind) for kind in range(len(robots))]
        game.set_play_mode(PlayMode.PLAY_ON)
        for _ in range(4):
            orders = [read_orders(b"(he1 0 0 20 0.5 0)(SPK say 100 SGk=)(syn)", robot) for robot in robots]
            percepts = game.cycle({slot: order.action for slot, order in zip(slots, orders, strict=True)})
            read_orders(b"(he1 0 0 20 0.5 0)(syn)", robots[0])
            for percept in percepts.values():
                writer.framed(percept)
