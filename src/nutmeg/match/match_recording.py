"""The recording of a match: poses and joint angles of all robots, the ball, the state of the game, and events.

    recording = MatchRecording(Path("final.nutmeg"), world, rules, seed=7, teams=("reds", "blues"))
    recording.sample(time, world, state)
    recording.event(time, "goal", side="left")

Robots are called `left1` to `right11`; their scene has everything that is only seen, so that viewers need nothing
else. Robots that do not play lie below the ground. Channels as in every scene (`<robot>.pose`, `<robot>.angles`,
`ball.pose`), and `game.state`: play mode by index, game time, score, half. A robot has the shape of the type that it
was of when the recording began; who joins later is drawn as type 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nutmeg.body.scene import Placement, SceneSettings, assemble
from nutmeg.engine.trace import ANGLE_STEP, POSE, POSE_STEP
from nutmeg.match.ground import PHYSICS, ROBOT
from nutmeg.match.percept import JOINTS
from nutmeg.match.rules import MOST_PLAYERS
from nutmeg.match.slots import SLOT_NAMES, SLOTS
from nutmeg.recording import Channel, RecordingWriter

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nutmeg.match.rules import Rules
    from nutmeg.match.state import MatchState
    from nutmeg.match.world import MatchWorld

TEAM_COLOURS = ("blue", "red")
STATE = ("mode", "time", "left", "right", "half")
STATE_STEP = 1e-3


class MatchRecording:
    """Writes a match down as it goes on.

    Args:
        path: the recording to make.
        world: what is recorded; who plays already is drawn with its own type.
        rules: how many players a team may have.
        seed: of the match.
        teams: names of left and right.
        config: what else to keep with it.
    """

    def __init__(
        self,
        path: Path,
        world: MatchWorld,
        rules: Rules,
        *,
        seed: int,
        teams: tuple[str, str],
        config: Mapping[str, object] | None = None,
    ) -> None:
        number = np.arange(SLOTS) % MOST_PLAYERS
        self._slots = np.flatnonzero((number < rules.match.players) | world.present).tolist()
        kinds = {slot: f"type{world.types[slot]}" if world.present[slot] else "type0" for slot in self._slots}
        scene = assemble(_settings(world.field.name, kinds))
        channels, order = [], []
        for slot, table in zip(self._slots, scene.robots, strict=True):
            channels.append(Channel(name=f"{table.name}.pose", labels=POSE, unit="m", resolution=POSE_STEP))
            angles = Channel(name=f"{table.name}.angles", labels=table.joints, unit="rad", resolution=ANGLE_STEP)
            channels.append(angles)
            order.append(_columns(slot, table.joints))
        channels.append(Channel(name="ball.pose", labels=POSE, unit="m", resolution=POSE_STEP))
        channels.append(
            Channel(name="game.state", labels=STATE, resolution=STATE_STEP, about="mode by index, s, goals")
        )
        self._order = np.concatenate([*order, [_BALL + i for i in range(7 + len(STATE))]])
        settings = {"rules": rules.name, "left": teams[0], "right": teams[1], **(config or {})}
        self.writer = RecordingWriter.create(
            path, channels, kind="match", seed=seed, config=settings, scene_xml=scene.xml
        )

    def sample(self, time: float, world: MatchWorld, state: MatchState) -> None:
        """Appends the present state."""
        ball = world.ground.world.qpos[world.ground.ball : world.ground.ball + 7]
        game = (float(state.mode), state.time, *map(float, state.score), float(state.half))
        everything = np.concatenate([world.poses().ravel(), np.radians(world.angles).ravel(), ball, game])
        self.writer.append(time, everything[self._order])

    def event(self, time: float, kind: str, **fields: object) -> None:
        """Appends an event."""
        self.writer.event(time, kind, **fields)

    def close(self) -> None:
        """Finishes the recording."""
        self.writer.close()


_ANGLES = SLOTS * 7
_BALL = _ANGLES + SLOTS * len(JOINTS)


def _columns(slot: int, joints: tuple[str, ...]) -> list[int]:
    """Where the numbers of one robot are among all numbers of a row."""
    pose = [slot * 7 + i for i in range(7)]
    return pose + [_ANGLES + slot * len(JOINTS) + JOINTS.index(joint) for joint in joints]


def _settings(field: str, kinds: Mapping[int, str]) -> SceneSettings:
    """The scene that viewers show."""
    robots = tuple(
        Placement(
            robot=ROBOT,
            name=SLOT_NAMES[slot],
            type=kind,
            pose="zero",
            parked=True,
            team=TEAM_COLOURS[slot >= MOST_PLAYERS],
        )
        for slot, kind in kinds.items()
    )
    return SceneSettings(field=field, robots=robots, physics=PHYSICS)
