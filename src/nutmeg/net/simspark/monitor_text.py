"""What monitors are sent: once the whole of game and scene, then, twenty-five times a second, what has changed.

    frames = MonitorFrames(game)
    frames.look()                        # once each time monitors are to be served
    frames.full()                        # for a monitor that has seen nothing yet
    frames.difference()                  # for those that have seen everything before; also `frames.new_cast`

The header carries the rule book's numbers, the clock, teams, score and play mode, and the fouls that were called since
the last look, as rcssserver3d tells them: `(foul INDEX KIND TEAM NUMBER)`, counted from 1, with the left team as 1 and
the right one as 2. The scene follows as `RSG` (whole) or `RDS` (differences). A transform is sent again when one of its
numbers differs by more than 0.005 from what was last sent. Difference frames are the same for all monitors; when robots
come or go, everybody needs a full one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.foul_rules import Foul
from nutmeg.match.play_modes import WIRE_NAMES, mode_named
from nutmeg.net.simspark.scene_text import Performer, Scene, as_spark_bodies, transform_rows

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.match.rules import Rules
    from nutmeg.net.simspark.game_port import GamePort

WORTH_TELLING = 0.005
"""Smaller changes of a number in a transform are not sent."""
BALL_MASS = 0.026
"""kg; told to monitors, which do nothing with it. Source: rcssserver3d 0.7.3."""
FOULS_TOLD = frozenset(
    {Foul.CROWDING, Foul.TOUCHING, Foul.ILLEGAL_DEFENCE, Foul.INCAPABLE, Foul.CHARGING, Foul.SELF_COLLISION}
)
"""Those that rcssserver3d tells monitors; a kind that these do not know may end them."""


class MonitorFrames:
    """The frames of a game, one moment at a time."""

    def __init__(self, game: GamePort) -> None:
        """Frames of this game; nothing is looked at yet."""
        self._game = game
        self._environment = environment(game.rules)
        self._scene: Scene | None = None
        self._rows: Floats = np.zeros((0, 12))
        self._told: Floats = self._rows
        self._facts: dict[str, str] = {}
        self._told_facts: dict[str, str] = {}
        self._called: list[str] = []
        self._fouls_seen = self._fouls_told = 0
        self._indices: Indices = np.zeros((0, 2), np.intp)
        self._changed: list[bool] = []
        self.new_cast = True
        """Whether robots have come or gone since the last look, so that differences mean nothing."""

    def look(self) -> None:
        """Take in the game as it is now; what has changed since the last look is the next difference."""
        self._told, self._told_facts = self._rows, self._facts
        cast = _cast(self._game)
        self.new_cast = self._scene is None or self._scene.cast != cast
        if self._scene is None or self.new_cast:
            self._scene = Scene.of(self._game.rules.pitch, cast)
            self._indices = _indices(self._scene, self._game.body_names)
        rows = self._present_rows()
        if self.new_cast:
            self._rows, self._told = rows, rows
        changed: Bools = np.any(np.abs(rows - self._told) > WORTH_TELLING, axis=1)
        self._changed = changed.tolist()
        self._rows = np.where(changed[:, None], rows, self._told)
        self._facts = game_facts(self._game)
        self._called = self._new_fouls()

    def full(self) -> bytes:
        """Everything."""
        assert self._scene is not None, "look comes first"
        facts = "".join(f"({name} {value})" for name, value in self._facts.items() if value)
        header = f"({self._environment}{facts}{''.join(self._called)})"
        return f"{header}(RSG 0 1){self._scene.whole(self._rows)}".encode("ascii")

    def difference(self) -> bytes:
        """What changed between the last two looks; the time is always told."""
        assert self._scene is not None, "look comes first"
        told = self._told_facts
        facts = [f"({n} {v})" for n, v in self._facts.items() if n == "time" or (v and v != told.get(n))]
        changes = self._scene.changes(self._rows, self._changed)
        return f"({''.join(facts + self._called)})(RDS 0 1){changes}".encode("ascii")

    def _new_fouls(self) -> list[str]:
        """Those called since the last look."""
        found = []
        for event in self._game.fouls[self._fouls_seen :]:
            self._fouls_seen += 1
            if event.side is None or event.foul not in FOULS_TOLD:
                continue
            self._fouls_told += 1
            found.append(f"(foul {self._fouls_told} {int(event.foul)} {event.side + 1} {event.number})")
        return found

    def _present_rows(self) -> Floats:
        ball_position, ball_rotation = self._game.ball_pose()
        rows = transform_rows(ball_position[None], ball_rotation[None])
        if not len(self._indices):
            return rows
        positions, rotations = self._game.body_poses()
        slots, bodies = self._indices.T
        turned = as_spark_bodies(rotations[slots, bodies])
        return np.concatenate([rows, transform_rows(positions[slots, bodies], turned)])


def environment(rules: Rules) -> str:
    """The rule book's numbers, and the names of the play modes."""
    pitch, match, restarts = rules.pitch, rules.match, rules.restarts
    numbers = {
        "FieldLength": pitch.length,
        "FieldWidth": pitch.width,
        "FieldHeight": 40,
        "GoalWidth": pitch.goal_width,
        "GoalDepth": pitch.goal_depth,
        "GoalHeight": pitch.goal_height,
        "BorderSize": 0,
        "FreeKickDistance": restarts.distance,
        "WaitBeforeKickOff": match.wait_before_kick_off,
        "AgentRadius": restarts.player_radius,
        "BallRadius": pitch.ball_radius,
        "BallMass": BALL_MASS,
        "RuleGoalPauseTime": match.goal_pause,
        "RuleKickInPauseTime": restarts.pause,
        "RuleHalfTime": match.half_length,
        "PassModeMinOppBallDist": rules.pass_mode.opponent_distance,
        "PassModeDuration": rules.pass_mode.duration,
    }
    told = "".join(f"({name} {value:g})" for name, value in numbers.items())
    return f"{told}(play_modes {' '.join(WIRE_NAMES)})"


def game_facts(game: GamePort) -> dict[str, str]:
    """Clock, teams, score and play mode as a monitor is told; teams that have not come are empty."""
    view, names = game.view, game.team_names
    return {
        "time": f"{view.time:g}",
        "team_left": names[0],
        "team_right": names[1],
        "half": str(game.half),
        "score_left": str(view.score_left),
        "score_right": str(view.score_right),
        "play_mode": str(mode_named(view.mode).value),
    }


def _cast(game: GamePort) -> tuple[Performer, ...]:
    types = game.robot_types.tolist()
    return tuple(Performer(slot=slot, robot_type=types[slot]) for slot in np.flatnonzero(game.present).tolist())


def _indices(scene: Scene, body_names: tuple[str, ...]) -> Indices:
    """(robots' bodies, 2) slot and column of each moving transform but the ball's."""
    columns = {name: column for column, name in enumerate(body_names)}
    pairs = [(slot, columns[body]) for slot, body in scene.bodies if slot is not None]
    return np.array(pairs, np.intp).reshape(-1, 2)
