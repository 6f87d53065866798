"""Let the built-in team, or players of your own, play on a server of the 3D simulation league (SimSpark or MuJoCo).

The server is `nutmeg serve`, or any other of the league's protocol. Each player has a connection of its own and uses
nothing but what the protocol gives it. Ends when the server ends the connections, or with Ctrl-C.

example: nutmeg agents Nutmegs --players 4
         nutmeg agents Mine --player chaser.py:Chaser --players 1
         nutmeg agents Nutmegs --players 11 --numbers 1,2,3 --host 192.168.0.7 --port 3100
         nutmeg agents Nutmegs --walk policy --motions runs/train-dive-nao-spark-type0-1
         nutmeg agents Nutmegs --protocol mj --walk t1-walk.toml --players 7
"""

from __future__ import annotations

import queue
import threading
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from nutmeg.base.errors import NutmegError, UsageError, counted
from nutmeg.base.settings import Bounds
from nutmeg.commands.options import Address, JsonOption

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nutmeg.match.players.booster import BoosterSetup
    from nutmeg.match.worlds.physical.percept import Action, Percept, Player
    from nutmeg.net.simspark.agent import Agent
    from nutmeg.view.terminal import Terminal

    Connect = Callable[..., Agent]


_DEFAULT_WALK = "policy-fast"
"""The default walk."""
_PORTS = {"spark": 3100, "mj": 60000}  # ports for agents by protocol
_MAX_PERCEPTS_WITHOUT_NUMBER = 25
"""A player that does not know its number after this number of percepts leaves. The league's server does not disconnect
players that it refuses, and their robots stay where the next one is created."""


@dataclass(frozen=True, kw_only=True)
class Arguments(JsonOption):
    """Options of `nutmeg agents`."""

    team: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="[TEAM]")] = "Nutmegs"
    """Name of the team: letters, digits, and signs other than spaces and parentheses."""
    protocol: Literal["spark", "mj"] = "spark"
    """Protocol of the server: SimSpark's (spark), or rcssservermj's (mj)."""
    robot: Literal["t1", "k1"] = "t1"
    """Which robot the players have, with --protocol mj."""
    walk: str = ""
    """How the players walk: the name of a walk, a TOML file, or the folder of a run of `nutmeg learn`;
    policy-fast if left out. With --protocol mj a policy of `nutmeg train`, or the one that comes with Nutmeg."""
    strategy: str = ""
    """How the built-in players decide: the name of a strategy, such as patient. If left out, builtin for policies and
    patient for other walks; with --protocol mj booster, where booster-kicks has kicks."""
    motions: tuple[Path, ...] = ()
    """Folders with kicks, dives, get-ups and dribblings of nao-spark, such as those of `nutmeg train kick`, which the
    players play instead of those that come with Nutmeg."""
    player: str = ""
    """Players of your own instead: a class, called with team and number, as file.py:Class or module:Class."""
    players: int = 4
    """How many players the team has."""
    numbers: Annotated[str, tyro.conf.arg(metavar="N,N,...")] = ""
    """Which of them this command is: numbers separated by commas; all if left out."""
    host: Address = "127.0.0.1"
    """Where the server is."""
    port: Annotated[int, Bounds(1, 65535)] | None = None
    """The server's port for agents; 3100, or 60000 with --protocol mj, if left out."""
    field: str = "fifa7vs7"
    """The field that is played on, with --protocol mj."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Plays until the server ends it."""
    from nutmeg.net.simspark.agent import check_listening

    _check_name(arguments.team)
    if arguments.strategy:
        _check_strategy(arguments)
    if arguments.motions and (arguments.protocol != "spark" or arguments.player):
        raise UsageError("--motions goes with the built-in players of --protocol spark.")
    numbers = _chosen_numbers(arguments.numbers, arguments.players)
    where = (arguments.host, arguments.port or _PORTS[arguments.protocol])
    check_listening(*where)  # before tens of seconds of compiling
    players = _players(arguments, numbers)
    if not arguments.player and arguments.protocol == "spark":
        rehearse(arguments.walk or _DEFAULT_WALK)
    elif not arguments.player:
        rehearse_booster(_booster_setup(arguments))
    verb = "connects" if len(players) == 1 else "connect"
    terminal.say(f"{arguments.team}: {counted(len(players), 'player')} {verb} to {where[0]}, port {where[1]}.")
    cycles = play_all(where, arguments.team, players, terminal.warn, connect=_connector(arguments))
    for number, played in cycles.items():
        if not played:
            terminal.warn(f"number {number} never played: the server did not let it. Its own output says why.")
    terminal.say(f"the server has ended it after {max(cycles.values())} cycles.")
    walk = arguments.walk or (_DEFAULT_WALK if arguments.protocol == "spark" else "")
    return {"team": arguments.team, "walk": walk, "player": arguments.player, "cycles": cycles}


def rehearse(walk: str) -> None:
    """Lets a player of the built-in team act without a server, so that all it needs is compiled and loaded.

    A player that compiles for a minute after its first observation misses the kick-off, and the next
    players wait for it.
    """
    import numpy as np

    from nutmeg.match.players.deciding_player import make_team
    from nutmeg.match.players.messages import Report, encode
    from nutmeg.match.rules.play_modes import PlayMode, Side
    from nutmeg.match.worlds.physical.percept import PARTS, WITHOUT_TOES, GameView, Heard, Percept, Sight

    player = make_team(walk, 2, team="rehearsal")[0]
    sight = Sight(
        labels=("G1R", "F1R", "B"),
        marks=np.array([[15.0, 2.0, 1.0], [18.0, 30.0, -1.0], [5.0, 10.0, -5.0]]),
        parts=np.zeros((0, len(PARTS), 3)),
        lines=np.array([[[5.0, -10.0, -5.0], [6.0, 10.0, -5.0]]]),
    )
    # It learns its number, sees the ball and hears of it, and walks.
    for cycle in range(6):
        time, mode = 0.02 * cycle, PlayMode.PLAY_ON if cycle else PlayMode.BEFORE_KICK_OFF
        report = Report(
            number=2, time=time, place=(1.0, 1.0), heading=0.0, fallen=False, ball=(2.0, 0.0), ball_velocity=(0.0, 0.0),
            ball_age=0.0,
        )  # fmt: skip
        player.act(
            Percept(
                time=time,
                game=GameView(mode.wire_name, time, number=None if cycle else 1, side=None if cycle else Side.LEFT),
                gyro=np.zeros(3),
                acc=np.array([0.0, 0.0, 9.81]),
                angles=np.zeros(WITHOUT_TOES),
                forces=np.full((2, 6), np.nan),
                hears=(Heard(team="rehearsal", time=time, direction=0.0, message=encode(report)),),
                sight=None if cycle % 3 else sight,
            )
        )


def rehearse_booster(setup: BoosterSetup) -> None:
    """Lets a player of T1 or K1 act without a server, so that all it needs is compiled and loaded.

    A player that compiles for a minute after its first observation misses the kick-off.
    """
    import numpy as np

    from nutmeg.match.players.booster import BoosterPlayer
    from nutmeg.match.rules.play_modes import PlayMode, Side
    from nutmeg.match.worlds.mj.percept import JOINTS, PARTS, Percept, Sight, landmarks
    from nutmeg.match.worlds.physical.percept import GameView
    from nutmeg.model.field import load_field

    player = BoosterPlayer("rehearsal", 1, setup)
    joints, marks = len(JOINTS[setup.robot]), np.full((len(landmarks(load_field(setup.field))) + 1, 3), np.nan)
    marks[-1] = 2.0, 0.0, -20.0  # the ball, ahead
    sight = Sight(marks=marks, parts=np.zeros((0, len(PARTS), 3)), teams=(), numbers=())
    for cycle in range(6):
        time, mode = 0.02 * cycle, PlayMode.PLAY_ON if cycle else PlayMode.BEFORE_KICK_OFF
        player.act(
            Percept(
                robot=setup.robot,
                time=time,
                game=GameView(mode.wire_name, time, number=1, side=Side.LEFT),
                teams=("rehearsal", ""),
                attitude=np.array([1.0, 0.0, 0.0, 0.0]),
                position=np.array([-1.0, 0.0, 0.6]),
                gyro=np.zeros(3),
                acc=np.array([0.0, 0.0, 9.81]),
                angles=np.zeros(joints),
                rates=np.zeros(joints),
                sight=None if cycle % 2 else sight,
            )
        )


def _players(arguments: Arguments, numbers: tuple[int, ...]) -> dict[int, Player]:
    """The players, by number."""
    from nutmeg.match.players.deciding_player import make_team
    from nutmeg.match.players.registry import load_player

    if arguments.player:
        make = load_player(arguments.player)
        return {number: make(arguments.team, number) for number in numbers}
    if arguments.protocol == "mj":
        return _boosters(arguments, numbers)
    walk, count, name = arguments.walk or _DEFAULT_WALK, arguments.players, arguments.team
    team = make_team(walk, count, team=name, strategy=arguments.strategy, motions=arguments.motions)
    return {number: team[number - 1] for number in numbers}


def _boosters(arguments: Arguments, numbers: tuple[int, ...]) -> dict[int, Any]:
    """Players of T1 or K1 robots, by number."""
    from nutmeg.match.players.booster import BoosterPlayer

    setup = _booster_setup(arguments)
    return {number: BoosterPlayer(arguments.team, number, setup) for number in numbers}


def _booster_setup(arguments: Arguments) -> BoosterSetup:
    """The body of players of T1 or K1 robots, and the match that they play in."""
    from nutmeg.match.players.booster import BoosterSetup, walking_setup
    from nutmeg.match.players.tactics.strategies import BOOSTER_NAME

    setup = BoosterSetup(
        robot=arguments.robot,
        players=arguments.players,
        field=arguments.field,
        strategy=arguments.strategy or BOOSTER_NAME,
    )
    return walking_setup(setup, arguments.walk)


def _connector(arguments: Arguments) -> Connect:
    """The function that connects a player to the server."""
    from nutmeg.net.simspark.agent import Agent

    if arguments.protocol == "spark":
        return Agent
    from nutmeg.match.worlds.mj.percept import ROBOTS, landmarks
    from nutmeg.model.field import load_field
    from nutmeg.net.mj.agent import MjAgent

    marks, kind = (*landmarks(load_field(arguments.field)), "B"), ROBOTS.index(arguments.robot)

    def connect(host: str, port: int, *, team: str, number: int, robot_type: int) -> Agent:  # noqa: ARG001
        agent = MjAgent(host, port, team=team, number=number, robot_type=kind)
        agent.marks = marks
        return agent

    return connect


def play_all(
    where: tuple[str, int],
    team: str,
    players: Mapping[int, Player],
    warn: Callable[[str], None],
    connect: Connect | None = None,
) -> dict[int, int]:
    """Lets players play by number, each over a connection of its own, until the server ends all of them.

    Players join one after another: each connects when the one before has its number and side. The league's server puts
    every new robot on the same spot until `(init ...)` moves it away, and robots that stand inside each other cost it
    seconds a cycle, with five of them minutes.

    Each player has a thread, because a server that waits for all answers gives newcomers no percept while a present
    player does not answer. An exception of one of them is raised here, and ends all when this process ends.

    Args:
        where: address and port of the server.
        team: its name.
        players: the players, by number.
        warn: called with a sentence about each player that the server does not take in.
        connect: connects a player; a SimSpark agent if left out.

    Returns:
        How many cycles each has played, by number.
    """
    ended: queue.SimpleQueue[tuple[int, int | Exception]] = queue.SimpleQueue()
    cycles = dict.fromkeys(players, 0)
    ends = 0
    for number, player in players.items():
        newcomer = _Newcomer(player)
        threading.Thread(target=_play, args=(where, team, number, newcomer, ended, connect), daemon=True).start()
        newcomer.settled.wait()
        if newcomer.refused:
            warn(
                f"number {number} leaves: the server has not given it a number. rcssserver3d refuses numbers that are "
                "taken, and more than 7 robots of one type in a team."
            )
        while not ended.empty():  # a player that failed ends the command before the next one connects
            _note_end(ended.get(), cycles)
            ends += 1
    for _ in range(len(players) - ends):
        _note_end(ended.get(), cycles)
    return cycles


class _Newcomer:
    """A player that reports when the server has admitted it."""

    def __init__(self, player: Player) -> None:
        self._player, self._percepts = player, 0
        self.robot_type: int = getattr(player, "robot_type", 0)
        self.settled = threading.Event()
        """Set when the player knows its number, or when its connection has ended."""
        self.refused = False
        """Whether the server continues without giving the player a number."""

    def act(self, percept: Percept) -> Action:
        """Returns the player's action; a player without a number does not act for ever."""
        from nutmeg.match.worlds.physical.percept import Percept

        action = self._player.act(percept)
        if percept.game.number is not None or not isinstance(percept, Percept):
            self.settled.set()  # agents of the other league have their number from their first percept on
        if not self.settled.is_set():
            self._percepts += 1
            self.refused = self._percepts > _MAX_PERCEPTS_WITHOUT_NUMBER
        if self.refused:
            raise _RefusedError
        return action


class _RefusedError(Exception):
    """The server does not take a player in."""


def _note_end(end: tuple[int, int | Exception], cycles: dict[int, int]) -> None:
    """Notes how long a player has played, or raises what ended it."""
    number, outcome = end
    if isinstance(outcome, Exception):
        raise outcome
    cycles[number] = outcome


def _play(
    where: tuple[str, int],
    team: str,
    number: int,
    player: _Newcomer,
    ended: queue.SimpleQueue[tuple[int, int | Exception]],
    connect: Connect | None,
) -> None:
    from nutmeg.match.loop import PlayerError
    from nutmeg.net.simspark.agent import Agent

    try:
        with (connect or Agent)(*where, team=team, number=number, robot_type=player.robot_type) as agent:
            ended.put((number, agent.play(player)))
    except _RefusedError:
        ended.put((number, 0))
    except (NutmegError, OSError) as error:
        ended.put((number, error))
    except Exception as error:  # noqa: BLE001 (raised again by who started this thread)
        place = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{place.filename}, line {place.lineno}: {type(error).__name__}: {error}"
        ended.put((number, PlayerError(f"number {number} of {team!r} failed. {text}")))
    finally:
        player.settled.set()


def _chosen_numbers(text: str, players: int) -> tuple[int, ...]:
    """Numbers from a text such as `1,2,3`; all of a team if it is empty."""
    from nutmeg.match.rules.book import MAX_PLAYERS

    if not 1 <= players <= MAX_PLAYERS:
        raise UsageError(f"--players is {players}; allowed are 1 to {MAX_PLAYERS}.")
    if not text:
        return tuple(range(1, players + 1))
    words = text.split(",")
    if not all(word.strip().isdecimal() and 1 <= int(word) <= players for word in words):
        raise UsageError(f"--numbers is {text!r}; needed are numbers from 1 to {players}, separated by commas.")
    return tuple(dict.fromkeys(int(word) for word in words))


def _check_strategy(arguments: Arguments) -> None:
    """Refuses a strategy that nobody would play by."""
    from nutmeg.match.players.tactics.strategies import strategy

    if arguments.player:
        raise UsageError("--strategy goes with the built-in players; a player of your own decides for itself.")
    strategy(arguments.strategy)


def _check_name(name: str) -> None:
    """Refuses what the protocol cannot carry."""
    if not name or not all("!" <= letter <= "~" and letter not in "()" for letter in name):
        raise UsageError(f"the team's name is {name!r}; needed are signs from ! to ~, without spaces and parentheses.")
