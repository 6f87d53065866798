"""Monitors and trainers of a served game: they are sent the scene, and may command what happens in it.

    monitors = Monitors(game, loop, AgentLimits(), report, lose_player=agents.lose, end=server.stop)
    listener = Listener(loop, tcp_listener("127.0.0.1", 3200), monitors.admit)
    monitors.show()                              # every other cycle

A monitor is sent a full frame once, and then the differences. Trainers often never read what they are sent. So a
monitor that does not keep up is not disconnected: it misses frames, and is sent a full one as soon as it has read the
last. The commands of trainers are in `trainer`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from nutmeg.match.rules.book import Foul
from nutmeg.match.rules.play_modes import WIRE_NAMES, Side, mode_named
from nutmeg.match.rules.slots import side_and_number
from nutmeg.net.connection import Connection, refuse
from nutmeg.net.simspark.effectors import ROBOT_TYPES
from nutmeg.net.simspark.sexpr import Unframer, framed
from nutmeg.net.simspark.trainer import Trainer

if TYPE_CHECKING:
    import socket

    from nutmeg.base.arrays import Bools, Floats, Indices
    from nutmeg.match.rules.book import Pitch, Rules
    from nutmeg.net.agents import AgentLimits
    from nutmeg.net.connection import Reporter
    from nutmeg.net.loop import SocketLoop
    from nutmeg.net.simspark.game_port import GamePort

_TRANSFORM = "%g %g %g 0 %g %g %g 0 %g %g %g 0 %g %g %g 1"
_UNTURNED = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_ROBOT_MESH = ((-1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0))
_FIELD_MESH = ((-1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0))
_GOAL_MESH = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
_HALF_TURN = ((-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0))
_LINES = 21  # transforms of field lines, which draw nothing
_SKY = " ".join(f"Material_skyrender_000{k}.tif" for k in range(1, 7))


@dataclass(frozen=True, slots=True, kw_only=True)
class _SceneRobot:
    """A robot in the scene."""

    slot: int
    robot_type: int
    """0 to 4."""


@dataclass(frozen=True, slots=True)
class _Node:
    """A branch of the tree, as text with one `%s` for each transform that moves."""

    whole: str
    change: str
    bodies: tuple[str, ...] = ()
    """The bodies of its moving transforms, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The scene as SimSpark's monitors draw it: a tree of transforms, meshes and shapes.

    `transforms` has one row for the ball and one for each part of each robot, in the order of `scene.bodies`. Names of
    meshes and materials, nesting and number format are those that rcssserver3d 0.7.3 sends; monitors have the meshes
    themselves. Nodes that draw nothing there (flags, lines, boxes for collisions) are here, too: there are monitors
    that count nodes, and expect the ball at number 35 and the robots after it.
    """

    tree: _Node
    robots: tuple[_SceneRobot, ...]
    """The robots, in the order in which they stand in the tree."""
    bodies: tuple[tuple[int | None, str], ...]
    """Slot and body of each moving transform; the ball comes first and has no slot."""

    @classmethod
    def of(cls, pitch: Pitch, robots: Sequence[_SceneRobot]) -> Scene:
        """The tree for a pitch and these robots."""
        nodes = [_robot(robot) for robot in robots]
        bodies = [(robot.slot, name) for robot, node in zip(robots, nodes, strict=True) for name in node.bodies]
        tree = _group([*_stadium(pitch), _ball(pitch.ball_radius), *nodes])
        return cls(tree=tree, robots=tuple(robots), bodies=((None, "ball"), *bodies))

    def whole(self, transforms: Floats) -> str:
        """Everything; `transforms` is (bodies, 12): the columns of the rotation, then the place."""
        return self.tree.whole % tuple(_TRANSFORM % tuple(row) for row in transforms.tolist())

    def changes(self, transforms: Floats, changed: Sequence[bool]) -> str:
        """The tree with only those transforms that have changed."""
        rows = zip(transforms.tolist(), changed, strict=True)
        return self.tree.change % tuple(f" (SLT {_TRANSFORM % tuple(row)})" if new else "" for row, new in rows)


def _transform_rows(positions: Floats, rotations: Floats) -> Floats:
    """(N, 12) rows for places (N, 3) and rotations (N, 3, 3)."""
    return np.concatenate([rotations.swapaxes(-1, -2).reshape(len(positions), 9), positions], axis=1)


def _as_spark_bodies(rotations: Floats) -> Floats:
    """Rotations of bodies with x forward and y left as those of bodies with x right and y forward; (..., 3, 3)."""
    return np.stack([-rotations[..., 1], rotations[..., 0], rotations[..., 2]], axis=-1)


def _stadium(pitch: Pitch) -> list[_Node]:
    light = "(nd Light (setDiffuse 1 1 1 1) (setAmbient %s) (setSpecular 0.1 0.1 0.1 1))"
    far_x, far_y = pitch.length / 2 + 9.99, pitch.width / 2 + 15
    ground = (pitch.length / 12, 1.0, pitch.width / 8)
    return [
        _still([_Node(light % "0.8 0.8 0.8 1", "(nd)")], at=(-10, 10, 10)),
        _still([_Node(light % "0 0 0 1", "(nd)")], at=(10, -10, 10)),
        _still([_mesh("naosoccerfield", ground, "None_rcs-naofield.png")], turned=_FIELD_MESH),
        _still([_mesh("skybox", (10, 10, 10), _SKY)], turned=_FIELD_MESH),
        _goal(pitch, left=True),
        _goal(pitch, left=False),
        _still([_shape("StdUnitBox", (1, 2 * far_y + 1, 1), "matGrey")], at=(-far_x, 0, 0)),
        _still([_shape("StdUnitBox", (1, 2 * far_y + 1, 1), "matGrey")], at=(far_x, 0, 0)),
        _still([_shape("StdUnitBox", (2 * far_x + 1, 1, 1), "matGrey")], at=(0, far_y, 0)),
        _still([_shape("StdUnitBox", (2 * far_x + 1, 1, 1), "matGrey")], at=(0, -far_y, 0)),
        *(_still([], at=(x * pitch.length / 2, y * pitch.width / 2, 0)) for x in (-1, 1) for y in (1, -1)),
        *[_still([])] * _LINES,
    ]


def _goal(pitch: Pitch, *, left: bool) -> _Node:
    size = (pitch.goal_width + 0.08, pitch.goal_height + 0.08, pitch.goal_depth + 0.08)
    colour = "yellow" if left else "sky-blue"
    mesh = _mesh(f"{'left' if left else 'right'}soccergoal", size, f"naogoalnet {colour}", transparent=True)
    inner = _still([mesh], at=(pitch.goal_depth / 2, 0, -pitch.goal_height / 2), turned=_GOAL_MESH)
    deep, wide, high = (pitch.goal_depth / 2, pitch.goal_width / 2, pitch.goal_height / 2)
    boxes = [(0.0, -wide - 0.02, 0.0), (0.0, wide + 0.02, 0.0), (0.02 - deep, 0.0, 0.0), (0.0, 0.0, high + 0.02)]
    posts = [(deep, wide, high), (deep, -wide, high)]
    x = pitch.length / 2 + pitch.goal_depth / 2
    return _still(
        [inner, *(_still([], at=place) for place in boxes + posts)],
        at=(-x if left else x, 0, pitch.goal_height / 2),
        turned=_UNTURNED if left else _HALF_TURN,
    )


def _ball(radius: float) -> _Node:
    return _moving("ball", [_mesh("soccerball", (radius, radius, radius), "soccerball_rcs-soccerball.png")])


def _robot(robot: _SceneRobot) -> _Node:
    """A robot: parts side by side, each with its place in the world."""
    team, uniform = side_and_number(robot.slot)
    side = "matLeft" if team is Side.LEFT else "matRight"
    number = f"matNum{uniform}"
    kind = robot.robot_type
    tinted = f"{side} naowhite" if kind == ROBOT_TYPES - 1 else f"{side} matType{kind} naowhite"
    ring = _still([_shape("StdUnitCylinder 1 1", (0.2, 0.2, 0.02), "matSelect", hidden=True)])
    torso = _still([_mesh(f"naobody{kind}", (0.1, 0.1, 0.1), f"{number} {tinted}")], turned=_ROBOT_MESH)
    head = _still([_mesh("naohead", (0.1, 0.1, 0.1), f"{side} naoblack naogrey naowhite")], turned=_ROBOT_MESH)
    parts = [
        _moving("torso", [torso, ring]),
        _moving("neck", [_shape("StdCapsule 0.015 0.08", (1, 1, 1), "matDarkGrey")]),
        _moving("head", [head]),
        *_arm("r", side, tinted, kind),
        *_arm("l", side, tinted, kind),
        *_leg("r", side, tinted, f"{number} {side} naowhite", kind),
        *_leg("l", side, tinted, f"{side} naowhite", kind),
    ]
    return _still(parts)


def _arm(which: str, side: str, tinted: str, kind: int) -> list[_Node]:
    name = which.upper()
    return [
        _moving(f"{name}Shoulder", [_shape("StdUnitSphere", (0.01, 0.01, 0.01), "matYellow")]),
        _moving(f"{name}UpperArm", [_mesh(f"{which}upperarm{kind}", (0.07, 0.07, 0.07), tinted)]),
        _moving(f"{name}Elbow", [_shape("StdUnitSphere", (0.01, 0.01, 0.01), "matYellow")]),
        _moving(f"{name}LowerArm", [_mesh(f"{which}lowerarm", (0.05, 0.05, 0.05), f"{side} naowhite")]),
    ]


def _leg(which: str, side: str, tinted: str, thigh: str, kind: int) -> list[_Node]:
    name = which.upper()
    toes = kind == ROBOT_TYPES - 1
    foot = (0.08, 0.062241, 0.08) if toes else (0.08, 0.08, 0.08)
    nodes = [
        _moving(f"{name}Hip1", [_shape("StdUnitSphere", (0.01, 0.01, 0.01), "matYellow")]),
        _moving(f"{name}Hip2", [_shape("StdUnitSphere", (0.01, 0.01, 0.01), "matYellow")]),
        _moving(f"{name}Thigh", [_mesh(f"{which}thigh", (0.07, 0.07, 0.07), thigh)]),
        _moving(f"{name}Shank", [_mesh(f"{which}shank{kind}", (0.08, 0.08, 0.08), tinted)]),
        _moving(f"{name}Ankle", [_shape("StdUnitSphere", (0.01, 0.01, 0.01), "matRed")]),
        _moving(f"{name}Foot", [_mesh(f"{which}foot", foot, f"{side} naowhite")]),
    ]
    if toes:
        nodes.append(_moving(f"{name}Toe", [_mesh(f"{which}foot", (0.08, 0.0228259, 0.04), f"{side} naowhite")]))
    return nodes


def _group(nodes: Sequence[_Node]) -> _Node:
    bodies = tuple(body for node in nodes for body in node.bodies)
    return _Node(f"({''.join(n.whole for n in nodes)})", f"({''.join(n.change for n in nodes)})", bodies)


def _still(
    nodes: Sequence[_Node],
    *,
    at: tuple[float, float, float] = (0.0, 0.0, 0.0),
    turned: tuple[tuple[float, ...], ...] = _UNTURNED,
) -> _Node:
    """A transform that never changes; `turned` has the columns of its rotation."""
    inner = _group(nodes)
    text = _TRANSFORM % (*turned[0], *turned[1], *turned[2], *at)
    return _Node(f"(nd TRF (SLT {text}){inner.whole[1:]}", f"(nd{inner.change[1:]}", inner.bodies)


def _moving(body: str, nodes: Sequence[_Node]) -> _Node:
    inner = _group(nodes)
    return _Node(f"(nd TRF (SLT %s){inner.whole[1:]}", f"(nd%s{inner.change[1:]}", (body, *inner.bodies))


def _mesh(model: str, size: tuple[float, float, float], materials: str, *, transparent: bool = False) -> _Node:
    seen = "(setVisible 1) (setTransparent)" if transparent else "(setVisible 1)"
    text = f"(nd StaticMesh {seen} (load models/{model}.obj) (sSc {_three(size)})(resetMaterials {materials}))"
    return _Node(text, "(nd StaticMesh)")


def _shape(kind: str, size: tuple[float, float, float], material: str, *, hidden: bool = False) -> _Node:
    seen = "(setVisible 0) (setTransparent)" if hidden else "(setVisible 1)"
    return _Node(f"(nd SMN {seen} (load {kind}) (sSc {_three(size)}) (sMat {material}))", "(nd SMN)")


def _three(size: tuple[float, float, float]) -> str:
    return " ".join(f"{value:g}" for value in size)


MIN_CHANGE = 0.005
"""Smaller changes of a number in a transform are not sent."""
BALL_MASS = 0.026
"""Sent to monitors, which do nothing with it [kg]. Source: rcssserver3d 0.7.3."""
REPORTED_FOULS = frozenset(
    {Foul.CROWDING, Foul.TOUCHING, Foul.ILLEGAL_DEFENCE, Foul.INCAPABLE, Foul.CHARGING, Foul.SELF_COLLISION}
)
"""The fouls that rcssserver3d sends to monitors; an unknown kind may end a monitor."""


class MonitorFrames:
    """The frames of a game: the whole of it once, then, 25 times a second, what has changed.

    The header carries the rule book's numbers, the clock, teams, score and play mode, and the fouls that were reported
    since the last look, as rcssserver3d sends them: `(foul INDEX KIND TEAM NUMBER)`, counted from 1, with the left team
    as 1 and the right one as 2. A foul whose offender is held up is sent again for every cycle of that time, with a new
    index; tools that count fouls have to count offenders. The scene follows as `RSG` (whole) or `RDS` (differences). A
    transform is sent again when one of its numbers differs by more than 0.005 from what was last sent. Difference
    frames are the same for all monitors; when robots come or go, all monitors need a full one.
    """

    def __init__(self, game: GamePort) -> None:
        self._game = game
        self._environment = environment(game.rules)
        self._scene: Scene | None = None
        self._rows: Floats = np.zeros((0, 12))
        self._sent: Floats = self._rows
        self._facts: dict[str, str] = {}
        self._sent_facts: dict[str, str] = {}
        self._called: list[str] = []
        self._fouls_seen = self._fouls_sent = 0
        self._indices: Indices = np.zeros((0, 2), np.intp)
        self._changed: list[bool] = []
        self.robots_changed = True
        """Whether robots have come or gone since the last look, so that differences mean nothing."""

    def look(self) -> None:
        """Takes in the game as it is now; what has changed since the last look is the next difference."""
        self._sent, self._sent_facts = self._rows, self._facts
        robots = _scene_robots(self._game)
        self.robots_changed = self._scene is None or self._scene.robots != robots
        if self._scene is None or self.robots_changed:
            self._scene = Scene.of(self._game.rules.pitch, robots)
            self._indices = _indices(self._scene, self._game.body_names)
        rows = self._present_rows()
        if self.robots_changed:
            self._rows, self._sent = rows, rows
        changed: Bools = np.any(np.abs(rows - self._sent) > MIN_CHANGE, axis=1)
        self._changed = changed.tolist()
        self._rows = np.where(changed[:, None], rows, self._sent)
        self._facts = _game_facts(self._game)
        self._called = self._new_fouls()

    def full(self) -> bytes:
        """The frame with everything."""
        assert self._scene is not None, "look comes first"
        facts = "".join(f"({name} {value})" for name, value in self._facts.items() if value)
        header = f"({self._environment}{facts}{''.join(self._called)})"
        return f"{header}(RSG 0 1){self._scene.whole(self._rows)}".encode("ascii")

    def difference(self) -> bytes:
        """The frame with what has changed between the last two looks; the time is always in it."""
        assert self._scene is not None, "look comes first"
        sent = self._sent_facts
        facts = [f"({n} {v})" for n, v in self._facts.items() if n == "time" or (v and v != sent.get(n))]
        changes = self._scene.changes(self._rows, self._changed)
        return f"({''.join(facts + self._called)})(RDS 0 1){changes}".encode("ascii")

    def _new_fouls(self) -> list[str]:
        """The fouls that were called since the last look."""
        found = []
        for event in self._game.foul_reports[self._fouls_seen :]:
            self._fouls_seen += 1
            if event.side is None or event.foul not in REPORTED_FOULS:
                continue
            self._fouls_sent += 1
            found.append(f"(foul {self._fouls_sent} {int(event.foul)} {event.side + 1} {event.number})")
        return found

    def _present_rows(self) -> Floats:
        ball_position, ball_rotation = self._game.ball_pose()
        rows = _transform_rows(ball_position[None], ball_rotation[None])
        if not len(self._indices):
            return rows
        positions, rotations = self._game.body_poses()
        slots, bodies = self._indices.T
        turned = _as_spark_bodies(rotations[slots, bodies])
        return np.concatenate([rows, _transform_rows(positions[slots, bodies], turned)])


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
    text = "".join(f"({name} {value:g})" for name, value in numbers.items())
    return f"{text}(play_modes {' '.join(WIRE_NAMES)})"


def _game_facts(game: GamePort) -> dict[str, str]:
    """Clock, teams, score and play mode as a monitor is sent them; teams that have not come are empty."""
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


def _scene_robots(game: GamePort) -> tuple[_SceneRobot, ...]:
    types = game.robot_types.tolist()
    return tuple(_SceneRobot(slot=slot, robot_type=types[slot]) for slot in np.flatnonzero(game.present).tolist())


def _indices(scene: Scene, body_names: tuple[str, ...]) -> Indices:
    """(robots' bodies, 2) slot and column of each moving transform but the ball's."""
    columns = {name: column for column, name in enumerate(body_names)}
    pairs = [(slot, columns[body]) for slot, body in scene.bodies if slot is not None]
    return np.array(pairs, np.intp).reshape(-1, 2)


class Frames(Protocol):
    """The frames that monitors receive: the whole game once, then changes."""

    robots_changed: bool
    """Whether robots have come or gone since the last look, so that differences mean nothing."""

    def look(self) -> None:
        """Takes in the game as it is now."""

    def full(self) -> bytes:
        """The frame with everything."""

    def difference(self) -> bytes:
        """The frame with what has changed between the last two looks."""


class Monitors:
    """All monitors; the owner of their connections.

    Args:
        game: what is shown and commanded.
        loop: watches the sockets.
        limits: what one monitor may do.
        report: called with what happens to monitors.
        lose_player: disconnects the agent of a slot, with a reason.
        end: ends the simulation.
    """

    make_frames: Callable[[Any], Frames] = MonitorFrames
    make_trainer: Callable[..., Trainer] = Trainer

    def __init__(
        self,
        game: Any,  # noqa: ANN401 (what the frames and the trainer of a protocol need)
        loop: SocketLoop,
        limits: AgentLimits,
        report: Reporter,
        *,
        lose_player: Callable[[int, str], None],
        end: Callable[[], None],
    ) -> None:
        self._game, self._loop, self._limits, self._report = game, loop, limits, report
        self._lose_player, self._end = lose_player, end
        self._monitors: dict[Connection[bytes], Trainer] = {}
        self._frames: Frames = self.make_frames(game)

    @property
    def connections(self) -> list[Connection[bytes]]:
        """Connected monitors."""
        return list(self._monitors)

    def admit(self, sock: socket.socket, peer: str) -> None:
        """Takes in a new client."""
        name, limits = f"monitor {peer}", self._limits
        if len(self._monitors) >= limits.monitors:
            refuse(sock, name, limits.monitors, self._report)
            return
        reader = Unframer(limits.monitor_message)
        connection = Connection(sock, name, self._loop, reader=reader, owner=self, limits=limits, report=self._report)
        self._monitors[connection] = self.make_trainer(self._game, lose_player=self._lose_player, end=self._end)

    def dismiss(self, connection: Connection[bytes]) -> None:
        """A client has gone."""
        del self._monitors[connection]

    def show(self) -> None:
        """Sends all monitors the present frame, as far as they can take it."""
        if not self._monitors:
            return
        self._frames.look()
        full: bytes | None = None
        difference: bytes | None = None
        for connection, trainer in self._monitors.items():
            trainer.needs_full |= self._frames.robots_changed or connection.unsent > 0
            if connection.unsent > 0:
                continue
            if trainer.needs_full:
                full = full or framed(self._frames.full())
                connection.send(full)
                trainer.needs_full = False
            else:
                difference = difference or framed(self._frames.difference())
                connection.send(difference)

    def handle(self, connection: Connection[bytes], message: bytes) -> None:
        """Carries out the commands in a message."""
        outcome = self._monitors[connection].obey(message)
        connection.note_problems(outcome.problems, broken=outcome.broken)
