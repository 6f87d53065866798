"""The interface of a game to its server: a protocol, so that neither has to know the other.

    class MyGame:                        # nothing to inherit from
        def cycle(self, actions): ...

    with Server(MyGame(), ServerSettings()) as server:
        server.run()

Players are called by slot, see `match.rules.slots`; when teams change ends, so do the slots. What a client asks for
and the game refuses is a `NutmegError` with the reason; anything else that a method raises ends the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from nutmeg.match.worlds.physical.percept import Action, Percept
from nutmeg.net.agents import ServedGame

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Ints
    from nutmeg.match.rules.book import Rules
    from nutmeg.match.rules.decisions import Event
    from nutmeg.match.rules.play_modes import PlayMode, Side
    from nutmeg.match.worlds.physical.percept import GameView


class GamePort(ServedGame[Action, Percept], Protocol):
    """A game that can be served in this protocol; all properties are cheap to ask.

    The percept of a player in the cycle after it has entered has its number and side.
    """

    @property
    def rules(self) -> Rules:
        """The rule book; monitors are sent some of its numbers."""
        ...

    @property
    def view(self) -> GameView:
        """Play mode, game time and score, without number and side."""
        ...

    @property
    def half(self) -> int:
        """1 or 2; more in extra time."""
        ...

    @property
    def foul_reports(self) -> Sequence[Event]:
        """All fouls in order, again for every cycle in which an offender is held up; monitors get each."""
        ...

    @property
    def team_names(self) -> tuple[str, str]:
        """Names of left and right, printable ASCII without spaces and parentheses; empty while no player has joined."""
        ...

    @property
    def present(self) -> Bools:
        """Which slots are occupied, by agents or by players of the server, (22,)."""
        ...

    @property
    def robot_types(self) -> Ints:
        """The robot types of the occupied slots, 0 to 4, (22,)."""
        ...

    def percept_before_joining(self, robot_type: int, percepts: int) -> Percept:
        """The percept number `percepts` of an agent that has a robot, but no team and number yet."""
        ...

    def ball_pose(self) -> tuple[Floats, Floats]:
        """(3,) place and (3, 3) rotation of the ball."""
        ...

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the parts of a robot, as `nao-spark` names its bodies, toes included: rows of `body_poses`."""
        ...

    def body_poses(self) -> tuple[Floats, Floats]:
        """(22, bodies, 3) places and (22, bodies, 3, 3) rotations, x forward and y left; of absent ones, anything."""
        ...

    def kick_off(self, side: Side | None) -> None:
        """A trainer starts a half; None takes the team whose turn it is."""
        ...

    def drop_ball(self) -> None:
        """A trainer has the ball dropped."""
        ...

    def set_play_mode(self, mode: PlayMode) -> None:
        """A trainer sets the play mode."""
        ...

    def set_score(self, left: int, right: int) -> None:
        """A trainer sets the score."""
        ...

    def set_time(self, time: float) -> None:
        """A trainer sets the game's clock, s."""
        ...

    def place_player(self, slot: int, position: tuple[float, float, float], heading: float | None) -> None:
        """A trainer puts a player somewhere, m; heading in degrees from +x, None keeps it."""
        ...

    def place_ball(
        self, position: tuple[float, float, float] | None, velocity: tuple[float, float, float] | None
    ) -> None:
        """A trainer puts the ball somewhere, m, or gives it a velocity, m/s, or both; None keeps it."""
        ...

    def send_off(self, slot: int) -> None:
        """A trainer has a player put beside the pitch."""
        ...
