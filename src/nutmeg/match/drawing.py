"""The scene that viewers of a match's recording show, drawn in this process or in one of its own.

    drawing = draw(settings)                        # in this process: a second or two, and 170 MB that stay in use
    drawing.xml                                     # MJCF text
    drawing.joints                                  # names of the joints of each robot, in the order of the settings

    with DrawingProcess(settings) as process:       # returns at once; memory is the other process's
        game = Game(...)                            # takes a second or two, too
        drawing = process.draw(settings)            # waits for the rest

The scene of a match has the shapes of all its robots, which physics does not need. A process that serves for hours
needs it only once, when the recording begins, so `nutmeg serve` has it drawn by a process of its own.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nutmeg.base.interrupts import Closing
from nutmeg.match.rules.book import MAX_PLAYERS
from nutmeg.match.rules.slots import SLOT_NAMES, SLOTS
from nutmeg.match.worlds.physical.percept import PHYSICS, ROBOT
from nutmeg.model.scene import Placement, SceneSettings, assemble

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import mujoco

    from nutmeg.base.arrays import Bytes
    from nutmeg.match.rules.book import Rules


TEAM_COLOURS = ("blue", "red")
"""Shirts of the team that began on the left, and of the other."""
POSE = "zero"
"""Pose of robots before they play."""


class Kind(NamedTuple):
    """The kind of a robot that is drawn."""

    robot: str
    """Its name in the catalogue."""
    type: str = ""
    """One of the robot's types; empty where it has none."""


def match_scene(kinds: Mapping[int, Kind], *, field: str, physics: str, pose: str) -> SceneSettings:
    """The scene that viewers show; `kinds` are the robots by slot, the rest is as in `recording.Figures`."""
    robots = tuple(
        Placement(
            robot=kind.robot,
            name=SLOT_NAMES[slot],
            type=kind.type,
            pose=pose,
            parked=True,
            team=TEAM_COLOURS[slot >= MAX_PLAYERS],
        )
        for slot, kind in kinds.items()
    )
    return SceneSettings(field=field, robots=robots, physics=physics)


def league_scene(rules: Rules, field: str) -> SceneSettings:
    """The scene of a match of the league before players join: every robot that may come, as type 0."""
    slots = [slot for slot in range(SLOTS) if slot % MAX_PLAYERS < rules.match.players]
    kinds = dict.fromkeys(slots, Kind(ROBOT, "type0"))
    return match_scene(kinds, field=field, physics=PHYSICS, pose=POSE)


BALL_LABEL, GOAL_LABELS, LINE_LABEL, FIRST_ROBOT_LABEL = 1, (2, 3), 4, 10
"""Labels of what pixels of cameras' pictures show: the ball, the left and the right goal (posts and crossbar), the
lines of the pitch, and robots, whose labels are `FIRST_ROBOT_LABEL` and their place in a list of names."""
_GOAL_PARTS = ("post1", "post2", "crossbar")


def geom_labels(model: mujoco.MjModel, robots: Sequence[str]) -> Bytes:
    """(geoms + 1,) the label of each geom of a scene; 0 for all others, and at the end for pixels without a geom."""
    known = {name: FIRST_ROBOT_LABEL + place for place, name in enumerate(robots)} | {"ball": BALL_LABEL}
    labels = np.zeros(model.ngeom + 1, np.uint8)
    for geom in range(model.ngeom):
        thing, _, part = model.geom(geom).name.partition("/")
        owner = model.body(int(model.geom_bodyid[geom])).name.partition("/")[0]
        if thing == "field" and part.startswith("line"):
            labels[geom] = LINE_LABEL
        elif thing == "field" and part.endswith(_GOAL_PARTS):
            labels[geom] = GOAL_LABELS[part.startswith("right")]
        else:
            labels[geom] = known.get(owner, 0)
    return labels


class Drawing(NamedTuple):
    """A scene as a recording keeps it."""

    xml: str
    """The scene as MJCF text."""
    joints: tuple[tuple[str, ...], ...]
    """Names of the joints of each robot, in the order of the scene's settings."""


def draw(settings: SceneSettings) -> Drawing:
    """Draws a scene in this process."""
    scene = assemble(settings)
    return Drawing(scene.xml, tuple(tuple(table.joints) for table in scene.robots))


class DrawingProcess(Closing):
    """A process that draws one scene.

    Args:
        settings: of the scene; robots have a name, a type, a team and a pose.
    """

    def __init__(self, settings: SceneSettings) -> None:
        self._settings = settings
        command = [sys.executable, "-m", "nutmeg.match.drawing"]
        # The process has its own session, so that Ctrl-C is left to this process.
        self._process = subprocess.Popen(  # noqa: S603 (our own module)
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended already: then `draw` finds nothing
            self._process.stdin.write(json.dumps(_description(settings)).encode() + b"\n")
            self._process.stdin.flush()

    def draw(self, settings: SceneSettings) -> Drawing:
        """Waits for the drawing; one with other settings, or of a process that failed, is drawn here instead."""
        if settings != self._settings or _settings(_description(settings)) != settings:
            return draw(settings)
        text, _ = self._process.communicate()
        if self._process.returncode:
            return draw(settings)
        found = json.loads(text)
        return Drawing(found["xml"], tuple(tuple(names) for names in found["joints"]))

    def close(self) -> None:
        """Ends the process if it still draws; closing twice is fine."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


def _description(settings: SceneSettings) -> dict[str, Any]:
    """The description of a scene that is sent to the other process."""
    names = ("robot", "name", "type", "pose", "parked", "team")
    robots = [{name: getattr(robot, name) for name in names} for robot in settings.robots]
    return {"field": settings.field, "physics": settings.physics, "robots": robots}


def _settings(description: dict[str, Any]) -> SceneSettings:
    """The scene of a description."""
    robots = tuple(Placement(**robot) for robot in description["robots"])
    return SceneSettings(field=description["field"], physics=description["physics"], robots=robots)


if __name__ == "__main__":
    drawn = draw(_settings(json.loads(sys.stdin.readline())))
    json.dump(drawn._asdict(), sys.stdout)
