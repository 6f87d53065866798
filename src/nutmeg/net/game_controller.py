"""The leagues' GameController: what the referee has decided, as robots of the SPL and the humanoid league hear it.

    controller = GameController(ControllerSettings(), match_rules)
    controller.update(time, state, swapped=False)       # every cycle; sends twice a second
    controller.robots[(1, 3)]                           # the last status of player 3 of team 1, or KeyError

Control messages go out over UDP (port 3838), robots answer with status messages (port 3939), and messages between
team-mates (port 10000 plus the team's number) are counted against the team's budget. Two versions are spoken:

| version | league | source |
|---|---|---|
| 18 | Standard Platform League | RoboCup-SPL/GameController3, headers/RoboCupGameControlData.h |
| 20 | Humanoid Soccer League | RoboCup-SPL/GameController, src/data: GameControlData, TeamInfo, PlayerInfo |

States without a counterpart in these messages are sent as the nearest one: our `BeforeKickOff` and the pause after a
goal are `ready`, their last seconds `set`; every restart is `playing` with a set play.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from nutmeg.base.errors import EnvironmentProblem
from nutmeg.base.interrupts import Closing
from nutmeg.base.settings import Bounds
from nutmeg.match.rules.book import Foul
from nutmeg.match.rules.clock import SHOOT_OUT, end_of_half
from nutmeg.match.rules.play_modes import (
    CORNER_KICKS,
    DIRECT_FREE_KICKS,
    FREE_KICKS,
    GOAL_KICKS,
    GOALS,
    KICK_INS,
    KICK_OFFS,
    OFFSIDES,
    RESTARTS,
    PlayMode,
    side_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Bools
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.rules.state import MatchState

_MAX_PLAYERS = 20  # players of a team in a control message
INITIAL, READY, SET, PLAYING, FINISHED = range(5)
"""States of a game."""
_NORMAL, PENALTY_SHOOT, _OVERTIME = range(3)
"""Phases of a game."""
_NO_TEAM = 255  # the kicking team when neither kicks
_SEND_PERIOD = 0.5  # between two control messages [s]: GameController3 sends two a second
_SET_TIME = 5.0  # the last seconds before a kick-off are sent as `set` [s]; our choice
_TEAM_PORT = 10000  # messages between team-mates go to this port plus the team's number
_MAX_TEAM_MESSAGE = 128  # bytes of a message between team-mates; longer ones are not allowed (SPL rules since 2022)
_MESSAGES_PER_TEAM = 1200
"""Messages between team-mates in a game. Source: GameController3, config/champions_cup/params.yaml."""
# datagrams of each socket that are read in a cycle at most, so that a flood of them does not delay it
_DATAGRAMS_A_CYCLE = 256
_SECONDS_SHOWN = 255  # the longest time that a byte can say [s]

_TEAM = [
    *((name, "u1") for name in ("number", "colour", "goalkeeper_colour", "goalkeeper", "score", "penalty_shot")),
    *((name, "<u2") for name in ("single_shots", "message_budget")),
]
_GAME = [("header", "S4"), ("version", "u1"), ("packet", "u1"), ("players_per_team", "u1")]
_PLAY = [(name, "u1") for name in ("phase", "state", "set_play", "first_half", "kicking_team")]
_TIMES = [("seconds_remaining", "<i2"), ("secondary_time", "<i2")]
_PENALTY = [("penalty", "u1"), ("seconds_left", "u1")]


@dataclass(frozen=True)
class _Version:
    """One version of the control message."""

    layout: np.dtype[np.void]
    set_plays: Mapping[PlayMode, int]
    penalties: Mapping[Foul, int]
    substitute: int
    """The penalty of a player that does not take part."""


def _layout(more: Sequence[str], player: Sequence[tuple[str, str]]) -> np.dtype[np.void]:
    team = np.dtype([*_TEAM, ("players", player, (_MAX_PLAYERS,))])
    return np.dtype([*_GAME, *((name, "u1") for name in more), *_PLAY, *_TIMES, ("teams", team, (2,))])


def _codes(*groups: tuple[int, tuple[PlayMode, ...]]) -> dict[PlayMode, int]:
    """Play modes with the code of their set play."""
    return {mode: code for code, modes in groups for mode in modes}


def _penalties(*groups: tuple[int, tuple[Foul, ...]]) -> dict[Foul, int]:
    """Fouls with the code of their penalty."""
    return {foul: code for code, fouls in groups for foul in fouls}


_POSITION = (Foul.CROWDING, Foul.ILLEGAL_DEFENCE, Foul.ILLEGAL_ATTACK, Foul.KICK_OFF)
_PUSHING = (Foul.TOUCHING, Foul.CHARGING, Foul.PUSHING)
_INCAPABLE = (Foul.INCAPABLE, Foul.INACTIVE)
VERSIONS = {
    18: _Version(
        _layout(("competition_phase", "competition_type"), _PENALTY),
        _codes((1, GOAL_KICKS), (2, (*FREE_KICKS, *DIRECT_FREE_KICKS, *OFFSIDES)), (3, CORNER_KICKS), (4, KICK_INS)),
        _penalties(
            (5, _POSITION), (2, _PUSHING), (4, _INCAPABLE), (1, (Foul.HAND_BALL,)), (15, (Foul.SELF_COLLISION,))
        ),
        substitute=14,
    ),
    20: _Version(
        _layout(("competition_type", "stopped"), [*_PENALTY, ("cautions", "u1")]),
        _codes(
            (1, DIRECT_FREE_KICKS), (2, (*FREE_KICKS, *OFFSIDES)), (4, KICK_INS), (5, GOAL_KICKS), (6, CORNER_KICKS)
        ),
        _penalties(
            (1, _POSITION), (10, _PUSHING), (5, _INCAPABLE), (9, (Foul.HAND_BALL,)), (6, (Foul.SELF_COLLISION,))
        ),
        substitute=13,
    ),
}
"""Versions of the control message."""
_STATUS = np.dtype(
    [
        ("header", "S4"),
        *((name, "u1") for name in ("version", "player", "team", "fallen")),
        *(("pose", "<f4", (3,)), ("ball_age", "<f4"), ("ball", "<f4", (2,))),
    ]
)
"""The status message of a robot, version 4 in both leagues: pose in mm and rad towards the opponents' goal, ball in mm
relative to the robot."""
_STATUS_VERSION = 4


@dataclass(frozen=True, kw_only=True)
class ControllerSettings:
    """Addresses and ports of a GameController, and the teams."""

    version: Literal[18, 20] = 18
    """Version of the control message: 18 (SPL) or 20 (humanoid league)."""
    address: str = "127.255.255.255"
    """Where control messages go; this one reaches every program of this machine that listens."""
    port: Annotated[int, Bounds(0, 65535)] = 3838
    """UDP port of control messages."""
    return_port: Annotated[int, Bounds(0, 65535)] = 3939
    """UDP port on which robots answer; 0 takes a free one."""
    listen: str = "127.0.0.1"
    """Address on which answers are taken."""
    numbers: tuple[int, int] = (1, 2)
    """Numbers of the teams that begin on the left and on the right."""
    colours: tuple[int, int] = (0, 1)
    """Their colours: 0 is blue, 1 red, as the leagues number them."""


@dataclass(frozen=True, kw_only=True)
class RobotStatus:
    """The status message of a robot."""

    time: float
    """When it was heard [s]."""
    fallen: bool
    pose: tuple[float, float, float]
    """Where it believes to be: x, y [mm] and heading [rad], towards the opponents' goal."""
    ball_age: float
    """Time since it last saw the ball [s]; -1 for never."""
    ball: tuple[float, float]
    """Where the ball is relative to it [mm]."""


def control_message(
    state: MatchState,
    rules: Rules,
    present: Bools,
    settings: ControllerSettings,
    *,
    swapped: bool = False,
    packet: int = 0,
    budgets: tuple[int, int] = (_MESSAGES_PER_TEAM, _MESSAGES_PER_TEAM),
) -> bytes:
    """The control message of a moment.

    Args:
        state: what the referee knows.
        rules: of the match.
        present: (2, 11) whether a robot takes part, by sides and numbers.
        settings: version, numbers and colours of the teams.
        swapped: whether the first team plays from the right now.
        packet: number of the message, counted round.
        budgets: messages between team-mates that the teams have left.
    """
    version = VERSIONS[settings.version]
    message = np.zeros((), version.layout)
    phase, stage, secondary = _stage(state, rules)
    message["header"], message["version"], message["packet"] = b"RGme", settings.version, packet % 256
    message["players_per_team"], message["phase"], message["state"] = rules.match.players, phase, stage
    message["set_play"] = version.set_plays.get(state.mode, 0)
    message["first_half"] = state.half in (1, 3)
    kicking = _kicking_side(state)
    message["kicking_team"] = _NO_TEAM if kicking is None else settings.numbers[kicking ^ swapped]
    message["seconds_remaining"] = _clip(_seconds_left(state, rules), 32767)
    message["secondary_time"] = _clip(secondary, 32767)
    for place in range(2):
        side = place ^ swapped
        team = message["teams"][place]
        team["number"], team["colour"] = settings.numbers[place], settings.colours[place]
        team["goalkeeper_colour"], team["goalkeeper"] = settings.colours[place], 1
        team["score"], team["message_budget"] = min(state.score[side], 255), max(0, budgets[place])
        if state.shoot_out is not None:
            team["penalty_shot"] = state.shoot_out.kicks[side]
        team["players"]["penalty"] = version.substitute
        team["players"]["penalty"][: len(present[side])][present[side]] = 0
        for held in state.held:
            if held.side == side:
                left = rules.fouls.hold_time + rules.fouls.removal_time - (state.elapsed - held.stamp)
                player = team["players"][held.index]
                player["penalty"] = version.penalties[held.foul]
                player["seconds_left"] = _clip(left, _SECONDS_SHOWN)
    return message.tobytes()


def _stage(state: MatchState, rules: Rules) -> tuple[int, int, float]:
    """Phase and state of the game, and the secondary time [s]."""
    phase = PENALTY_SHOOT if state.half == SHOOT_OUT else _OVERTIME if state.half > 2 else _NORMAL
    mode = state.mode
    if mode is PlayMode.GAME_OVER:
        return phase, FINISHED, 0.0
    if mode is PlayMode.BEFORE_KICK_OFF and not rules.match.automatic_kick_off and state.time == 0.0:
        return phase, INITIAL, 0.0
    if mode is PlayMode.BEFORE_KICK_OFF or mode in GOALS:
        wait = rules.match.goal_pause if mode in GOALS else rules.match.wait_before_kick_off
        left = wait - state.mode_time
        return phase, (SET if left <= _SET_TIME else READY), max(0.0, left - _SET_TIME if left > _SET_TIME else left)
    if mode in RESTARTS or mode in KICK_OFFS:
        return phase, PLAYING, rules.restarts.drop_ball_time - state.mode_time
    return phase, PLAYING, 0.0


def _kicking_side(state: MatchState) -> int | None:
    """The side that kicks, or that will kick off next."""
    if state.mode is PlayMode.BEFORE_KICK_OFF:
        return int(state.starter)
    side = side_of(state.mode)
    if side is None:
        return None
    return int(side.other if state.mode in GOALS else side)


def _seconds_left(state: MatchState, rules: Rules) -> float:
    """Until the half, or the kick of a shoot-out, is over [s]."""
    if state.half == SHOOT_OUT:
        return rules.shoot_out.kick_time - state.mode_time
    return end_of_half(state.half, rules.match) - state.time


def _clip(seconds: float, most: int) -> int:
    return max(0, min(most, math.ceil(seconds - 1e-9)))


def read_status(data: bytes, time: float) -> tuple[tuple[int, int], RobotStatus] | str:
    """Team and player of a status message with what it says, or why it is none."""
    if len(data) != _STATUS.itemsize or data[:4] != b"RGrt":
        return f"{len(data)} bytes are no status message, which has {_STATUS.itemsize} and begins with RGrt"
    found = np.frombuffer(data, _STATUS)[0]
    if found["version"] != _STATUS_VERSION:
        return f"a status message of version {found['version']}; {_STATUS_VERSION} is understood"
    if not 1 <= found["player"] <= _MAX_PLAYERS or found["fallen"] > 1:
        return f"a status message of player {found['player']} with fallen {found['fallen']}"
    if not np.isfinite([*found["pose"], found["ball_age"], *found["ball"]]).all():
        return "a status message with numbers that are none"
    x, y, heading = found["pose"].tolist()
    ball_x, ball_y = found["ball"].tolist()
    status = RobotStatus(
        time=time,
        fallen=bool(found["fallen"]),
        pose=(x, y, heading),
        ball_age=float(found["ball_age"]),
        ball=(ball_x, ball_y),
    )
    return (int(found["team"]), int(found["player"])), status


class GameController(Closing):
    """Sends control messages and hears robots; nothing here waits."""

    def __init__(self, settings: ControllerSettings, rules: Rules) -> None:
        self.settings, self._rules = settings, rules
        self.robots: dict[tuple[int, int], RobotStatus] = {}
        """The last status of robots, by team and player."""
        self.sent = self.refused = 0
        """Control messages sent, and datagrams that made no sense."""
        self.team_messages = [0, 0]
        """Numbers of messages between team-mates."""
        self._next, self._sockets = -math.inf, []  # type: tuple[float, list[socket.socket]]
        try:
            self._out = self._socket()
            self._out.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            self._answers = self._listening(settings.listen, settings.return_port)
            # Team-mates broadcast: a listener beside the robots has to share their port.
            self._teams = [self._listening("", _TEAM_PORT + number) for number in settings.numbers]
        except OSError as error:
            self.close()
            raise EnvironmentProblem(
                f"the GameController cannot listen on UDP port {settings.return_port} or on {_TEAM_PORT} plus the "
                f"numbers of the teams: {error.strerror or error}. End the program that uses them."
            ) from None
        self.return_port = int(self._answers.getsockname()[1])
        """UDP port on which robots answer."""

    def update(self, time: float, state: MatchState, present: Bools, *, swapped: bool) -> None:
        """Receives messages, and sends a control message if one is due; called once a cycle.

        Args:
            time: time of the simulation [s].
            state: the referee's state.
            present: (2, 11) whether a robot takes part.
            swapped: whether the first team plays from the right now.
        """
        self._hear(time)
        if time < self._next - 1e-9:
            return
        self._next = time + _SEND_PERIOD
        budgets = (_MESSAGES_PER_TEAM - self.team_messages[0], _MESSAGES_PER_TEAM - self.team_messages[1])
        message = control_message(
            state, self._rules, present, self.settings, swapped=swapped, packet=self.sent, budgets=budgets
        )
        self.sent += 1
        try:
            self._out.sendto(message, (self.settings.address, self.settings.port))
        except OSError:
            self.refused += 1  # no receiver there, or no network: the match continues

    def _hear(self, time: float) -> None:
        for data in _datagrams(self._answers):
            found = read_status(data, time)
            if isinstance(found, str) or found[0][0] not in self.settings.numbers:
                self.refused += 1
            else:
                self.robots[found[0]] = found[1]
        for place, sock in enumerate(self._teams):
            for data in _datagrams(sock):
                self.team_messages[place] += 1
                self.refused += len(data) > _MAX_TEAM_MESSAGE

    def _socket(self) -> socket.socket:
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.setblocking(False)  # noqa: FBT003 (the standard library's)
        self._sockets.append(sock)
        return sock

    def _listening(self, host: str, port: int) -> socket.socket:
        sock = self._socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        return sock

    def summary(self) -> dict[str, Any]:
        """Counts for reports."""
        return {
            "control_messages": self.sent,
            "robots_heard": len(self.robots),
            "team_messages": list(self.team_messages),
            "refused_datagrams": self.refused,
        }

    def close(self) -> None:
        """Closes the sockets; closing twice is fine."""
        for sock in self._sockets:
            sock.close()
        self._sockets = []


def _datagrams(sock: socket.socket) -> list[bytes]:
    """The datagrams that have come on a socket, up to a limit."""
    found: list[bytes] = []
    for _ in range(_DATAGRAMS_A_CYCLE):
        try:
            found.append(sock.recv(2048))
        except (BlockingIOError, ConnectionError):
            break
    return found
