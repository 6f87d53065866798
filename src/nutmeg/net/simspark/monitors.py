"""Monitors and trainers of a served game: they are shown the scene, and may command what happens in it.

    monitors = Monitors(game, limits, report, lose_player=agents.lose, end=server.stop)
    monitors.admit(connection)
    monitors.handle(connection, b"(kickOff Left)")
    monitors.show()                              # every other cycle

Trainers often never read what they are sent. So a monitor that does not keep up is not disconnected: it misses frames,
and is sent a full one as soon as it has read the last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import NutmegError, UsageError
from nutmeg.match.slots import side_and_number
from nutmeg.net.simspark import trainer_text as trainer
from nutmeg.net.simspark.agents import count_broken, note_problem
from nutmeg.net.simspark.monitor_text import MonitorFrames

if TYPE_CHECKING:
    from nutmeg.net.simspark.connection import Connection
    from nutmeg.net.simspark.game_port import GamePort
    from nutmeg.net.simspark.limits import Limits, Reporter


@dataclass(slots=True, eq=False)
class Monitor:
    """One client."""

    needs_full: bool = True
    """Whether differences mean nothing to it."""
    selected: int | None = None
    """The slot it has selected."""


class Monitors:
    """All monitors."""

    def __init__(
        self,
        game: GamePort,
        limits: Limits,
        report: Reporter,
        *,
        lose_player: Callable[[int, str], None],
        end: Callable[[], None],
    ) -> None:
        """Nobody yet; `lose_player` disconnects an agent by slot, `end` ends the simulation."""
        self._game, self._limits, self._report = game, limits, report
        self._lose_player, self._end = lose_player, end
        self._monitors: dict[Connection, Monitor] = {}
        self._frames = MonitorFrames(game)

    def __len__(self) -> int:
        """Connected monitors."""
        return len(self._monitors)

    def admit(self, connection: Connection) -> None:
        """A new client."""
        self._monitors[connection] = Monitor()

    def dismiss(self, connection: Connection) -> None:
        """A client that has gone."""
        del self._monitors[connection]

    def show(self) -> None:
        """Send everybody the present moment, as far as they can take it."""
        if not self._monitors:
            return
        self._frames.look()
        full: bytes | None = None
        difference: bytes | None = None
        for connection, monitor in self._monitors.items():
            monitor.needs_full |= self._frames.new_cast or connection.unsent > 0
            if connection.unsent > 0:
                continue
            if monitor.needs_full:
                full = full or self._frames.full()
                connection.send(full)
                monitor.needs_full = False
            else:
                difference = difference or self._frames.difference()
                connection.send(difference)

    def handle(self, connection: Connection, message: bytes) -> None:
        """Carry out the commands in a message."""
        orders = trainer.read_commands(message)
        problems = list(orders.problems)
        for command in orders.commands:
            try:
                self._obey(command, self._monitors[connection])
            except NutmegError as error:
                problems.append(str(error))
        for problem in problems:
            note_problem(connection, problem, self._limits, self._report)
        if orders.broken and not orders.commands:
            count_broken(connection, self._limits)

    def _obey(self, command: trainer.Command, monitor: Monitor) -> None:
        game = self._game
        match command:
            case trainer.PlacePlayer(slot=slot, position=place, heading=heading):
                self._refuse_absent(slot)
                game.place_player(slot, place, heading)
            case trainer.Select(slot=slot):
                monitor.selected = slot
            case trainer.SelectNext():
                monitor.selected = self._next(monitor.selected)
            case trainer.Nothing():
                pass
            case trainer.Kill(slot=named):
                self._lose_player(self._meant(named, monitor), "a trainer removed it")
            case trainer.SendOff(slot=named):
                game.send_off(self._meant(named, monitor))
            case trainer.SendFullState():
                monitor.needs_full = True
            case trainer.EndSimulation():
                self._end()
            case _:
                _command_game(game, command)

    def _next(self, selected: int | None) -> int | None:
        """The next player after the one that is selected, or the first; None if nobody plays."""
        players = np.flatnonzero(self._game.present).tolist()
        return next((slot for slot in players if selected is not None and slot > selected), next(iter(players), None))

    def _meant(self, named: int | None, monitor: Monitor) -> int:
        slot = monitor.selected if named is None else named
        if slot is None:
            raise UsageError("no player is selected; select one first, or name it with (unum n)(team Left).")
        self._refuse_absent(slot)
        return slot

    def _refuse_absent(self, slot: int) -> None:
        if not self._game.present[slot]:
            side, number = side_and_number(slot)
            raise UsageError(f"player {number} of the {side.word} team is not in the game.")


def _command_game(game: GamePort, command: trainer.Command) -> None:
    """Carry out what is about the game, not about clients."""
    match command:
        case trainer.PlaceBall(position=position, velocity=velocity):
            game.place_ball(position, velocity)
        case trainer.SetPlayMode(mode=mode):
            game.set_play_mode(mode)
        case trainer.KickOff(side=side):
            game.kick_off(side)
        case trainer.DropBall():
            game.drop_ball()
        case trainer.SetTime(time=time):
            game.set_time(time)
        case trainer.SetScore(left=left, right=right):
            game.set_score(left, right)
