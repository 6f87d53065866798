"""Monitors and trainers of rcssservermj's protocol: RSMP 1.0, 25 frames a second, and the commands they may send.

    monitors = Monitors(game, loop, AgentLimits(), report, lose_player=agents.lose, end=server.stop)

A frame is `((RSMP 1 0)((gt 1 0)TIME)((sg 1 0)full|diff TREE)((gs 1 0)...)((ge 1 0)...))`: time of the server, the
scene, the game, and in full frames the pitch. The scene is a tree of transforms, each relative to its parent; a
difference has the same tree with only those transforms of which a number differs by more than 0.005 from what was last
sent. A robot is `(nd DSC(agent TEAM NUMBER) ...)` with a node for each of its bodies that names one of the meshes which
monitors (RoboViz from 2.1 on) have themselves. Everybody is sent a full frame when robots come or go, and every 250
cycles. GoalWidth and GoalDepth are exchanged, as there.

| command | what it does |
|---|---|
| `(agent (unum n)(team NAME)(pos x y z))`; the team may be `Left` or `Right` | places a player, looking along x |
| the same with `(move x y z degrees)` or `(move3d x y z qw qx qy qz)` | with a heading from +x, or with an attitude |
| `(kickOff Left)`, also `left`, `L`, `l` | kicks off; without a side, the one whose turn it is |

All others are SimSpark's (see `net.simspark.trainer`), of which rcssservermj 0.2.1 knows `ball`, `dropBall`, `playMode`
(which does nothing there) and `killsim`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.match.rules.book import Foul
from nutmeg.match.rules.play_modes import WIRE_NAMES, Side
from nutmeg.match.rules.slots import side_and_number, slot_of
from nutmeg.net.simspark import monitors as spark
from nutmeg.net.simspark import sexpr
from nutmeg.net.simspark.monitors import MIN_CHANGE
from nutmeg.net.simspark.trainer import Trainer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.match.mj_game import MjGame
    from nutmeg.net.simspark.sexpr import Expression

PASS_MODES = 19
"""Modes before this have the same index on both servers; pass modes do not exist here."""
PLAY_MODES = (
    *WIRE_NAMES[:PASS_MODES],
    *("penalty_kick_left", "penalty_kick_right", "penalty_shoot_left", "penalty_shoot_right"),
)
"""Play modes by index. Source: rcssservermj 0.2.1, play_mode.py."""
PLAY_ON = WIRE_NAMES.index("PlayOn")
FULL_EVERY = 250
"""Cycles between two full frames."""
FIELD_HEIGHT = 40
"""Height of the room above the pitch in the server's frames [m]. Source: rcssservermj 0.2.1, soccer_fields.py."""
_IDENTITY = "(SLT 1.0000 0.0000 0.0000 0.0000 0.0000 1.0000 0.0000 0.0000 0.0000 0.0000 1.0000 0.0000 %s 1.0000)"
_TRANSFORM = "(SLT %.4f %.4f %.4f 0.0000 %.4f %.4f %.4f 0.0000 %.4f %.4f %.4f 0.0000 %.4f %.4f %.4f 1.0000)"
_T1_LIMB = {
    "Shoulder": "AL1",
    "Arm": "AL2",
    "Forearm": "AL3",
    "Hand": "left_hand_link",
    "HipPitch": "Hip_Pitch_Left",
    "HipRoll": "Hip_Roll",
    "Thigh": "Hip_Yaw",
    "Shank": "Shank_Left",
    "Ankle": "Ankle_Cross_Left",
    "Foot": "foot_link",
}
_K1_LIMB = {
    "Shoulder": "Left_Arm_1",
    "Arm": "Left_Arm_2",
    "Forearm": "Left_Arm_3",
    "Hand": "Left_Arm_4",
    "HipPitch": "Left_Hip_Pitch",
    "HipRoll": "Hip_Roll",
    "Thigh": "Left_Hip_Yaw",
    "Shank": "Left_Shank",
    "Ankle": "Ankle_Cross",
    "Foot": "Left_Foot",
}
MESHES = {
    "t1": {"torso": "Trunk", "Neck": "H1", "Head": "H2", "Waist": "Waist", **{f"L{k}": v for k, v in _T1_LIMB.items()}},
    "k1": {"torso": "Trunk", "Neck": "Head_1", "Head": "Head_2_ZED", **{f"L{k}": v for k, v in _K1_LIMB.items()}},
}
"""Meshes of the bodies, left limbs only: right ones are mirror images. Source: rcssservermj 0.2.1, robot.xml."""
SYMMETRIC = frozenset({"Hip_Roll", "Hip_Yaw", "foot_link", "Ankle_Cross"})
"""Meshes that both sides share as they are."""


class MonitorFrames:
    """The frames of a game."""

    def __init__(self, game: MjGame) -> None:
        self._game = game
        self._environment, self._pitch = environment(game), _pitch(game)
        self._robots: tuple[tuple[int, str, str], ...] | None = None
        self._tree = self._bare_tree = ""
        self._bodies: Ints = np.zeros(0, np.int64)
        self._parents: Ints = self._bodies
        self._sent: Floats = np.zeros((0, 12))
        self._fouls_seen, self._full_at = 0, -FULL_EVERY
        self._fouls: list[str] = []
        self._changed: list[bool] = []
        self.robots_changed = True
        """Whether all monitors need a full frame, because robots have come or gone or none was sent for long."""

    def look(self) -> None:
        """Takes in the game as it is now; what has changed since the last look is the next difference."""
        game = self._game
        slots = game.world.players()
        robots = tuple((slot, game.world.kind(slot), game.teams[side_and_number(slot)[0]]) for slot in slots)
        self.robots_changed = robots != self._robots or game.cycles - self._full_at >= FULL_EVERY
        if robots != self._robots:
            self._robots = robots
            self._plant(robots)
        rows = self._transforms()
        if self.robots_changed:
            self._full_at, self._sent = game.cycles, rows
        changed = np.any(np.abs(rows - self._sent) > MIN_CHANGE, axis=1)
        self._changed = changed.tolist()
        self._sent = np.where(changed[:, None], rows, self._sent)
        called = game.foul_reports[self._fouls_seen :]
        self._fouls_seen = len(game.foul_reports)
        self._fouls = [
            f"(foul {event.foul.value} {event.side + 1} {event.number})"
            for event in called
            if isinstance(event.foul, Foul) and event.foul < Foul.PUSHING and event.side is not None
        ]

    def full(self) -> bytes:
        """The frame with everything."""
        tree = self._tree % tuple(_TRANSFORM % tuple(row) for row in self._sent.tolist())
        return self._frame(f"full{tree}", teams=True, environment=self._environment)

    def difference(self) -> bytes:
        """The frame with what has changed between the last two looks."""
        rows = zip(self._sent.tolist(), self._changed, strict=True)
        tree = self._bare_tree % tuple(f" TRF{_TRANSFORM % tuple(row)}" if new else "" for row, new in rows)
        return self._frame(f"diff{tree}", teams=False, environment="")

    def _frame(self, scene: str, *, teams: bool, environment: str) -> bytes:
        game, view = self._game, self._game.view
        mode = PLAY_MODES.index(view.mode) if view.mode in PLAY_MODES else PLAY_ON
        facts = (
            f"(time {round(view.time * 1000) / 1000.0})(half {game.half})(score_left {view.score_left})"
            f"(score_right {view.score_right})(play_mode {mode})"
        )
        if teams:
            left, right = game.teams
            facts += f"(team_left {left or '<LEFT>'})(team_right {right or '<RIGHT>'})"
        state = f"((gs 1 0){facts}{''.join(self._fouls)})"
        return f"((RSMP 1 0)((gt 1 0){game.time:.2f})((sg 1 0){scene}){state}{environment})".encode("ascii")

    def _plant(self, robots: Sequence[tuple[int, str, str]]) -> None:
        """Makes the tree for these robots, with a `%s` for each transform that moves, and the same for differences."""
        world = self._game.world
        model = world.world.model
        bodies, parents = [world.ball_body], [0]
        radius = f"{world.ball_radius:g}"
        ball = f"(nd SMN (setVisible 1)(load StdUnitSphere)(sMat ball)(sSc {radius} {radius} {radius}))"
        whole, bare = [f"(nd DSC(ball)(nd TRF%s{ball}))"], ["(nd(nd%s(nd)))"]
        whole.append(self._pitch[0])
        bare.append(self._pitch[1])
        for slot, kind, team in robots:
            table = world.scene.robots[int(world.seat_of[slot])]
            side, number = side_and_number(slot)
            text, change = _body_texts(model, table.body, table.name, kind, side, bodies, parents)
            whole.append(f"(nd DSC(agent {team} {number}){text})")
            bare.append(f"(nd{change})")
        still = _IDENTITY % "0.0000 0.0000 0.0000"
        self._tree = f"(nd TRF{still}{''.join(whole)})"
        self._bare_tree = f"(nd{''.join(bare)})"
        self._bodies, self._parents = np.array(bodies, np.int64), np.array(parents, np.int64)
        self._sent = np.zeros((len(bodies), 12))

    def _transforms(self) -> Floats:
        """(N, 12) of all moving bodies relative to their parents: columns of the rotation, then the place."""
        data = self._game.world.world.data
        turns, over = data.xmat[self._bodies].reshape(-1, 3, 3), data.xmat[self._parents].reshape(-1, 3, 3)
        local = over.transpose(0, 2, 1) @ turns
        away = data.xpos[self._bodies] - data.xpos[self._parents]
        places = np.einsum("nji,nj->ni", over, away)
        return np.concatenate([local.transpose(0, 2, 1).reshape(-1, 9), places], axis=1)


def _body_texts(
    model: Any,  # noqa: ANN401 (the engine's)
    body: int,
    robot: str,
    kind: str,
    side: Side,
    bodies: list[int],
    parents: list[int],
) -> tuple[str, str]:
    """Text of a body with all that hangs on it, in full and as a difference; notes their bodies and parents."""
    name = model.body(body).name.removeprefix(f"{robot}/")
    bodies.append(body)
    parents.append(int(model.body_parentid[body]))
    mesh = MESHES[kind].get(name) or MESHES[kind][f"L{name[1:]}"]
    mirrored = name.startswith("R") and mesh not in SYMMETRIC
    material = ("matLeft", "matRight")[side] if name == "torso" else "gray"
    size = "(sSc 1.0 -1.0 1.0)" if mirrored else ""
    shape = f"(nd SMN (setVisible 1)(load models/{kind.upper()}/{mesh}.STL)(sMat {material}){size})"
    whole, bare = [shape], ["(nd)"]
    for child in np.flatnonzero(model.body_parentid == body).tolist():
        text, change = _body_texts(model, child, robot, kind, side, bodies, parents)
        whole.append(text)
        bare.append(change)
    return f"(nd TRF%s{''.join(whole)})", f"(nd%s{''.join(bare)})"


def environment(game: MjGame) -> str:
    """Pitch and rules in a full frame."""
    field, rules = game.world.field, game.rules
    assert field.goal is not None, "the world has checked it"
    assert field.goal_area is not None, "the world has checked it"
    numbers: dict[str, float] = {
        "FieldLength": field.length,
        "FieldWidth": field.width,
        "FieldHeight": FIELD_HEIGHT,
        "GoalWidth": field.goal.depth,
        "GoalDepth": field.goal.inner_width,
        "GoalHeight": field.goal.height,
        "BorderSize": field.line_width,
        "FreeKickDistance": 0,
        "BallRadius": game.world.ball_radius,
        "RuleGoalPauseTime": rules.match.goal_pause,
        "RuleHalfTime": rules.match.half_length,
    }
    areas: dict[str, float] = {
        "CenterCircleRadius": field.centre_circle_radius,
        "CorderAreaRadius": field.corner_arc_radius,
        "GoalieAreaLength": field.goal_area.depth,
        "GoalieAreaWidth": field.goal_area.width,
        "PenaltySpotDistance": field.penalty_mark_distance,
    }
    if field.penalty_area is not None:
        areas |= {"PenaltyAreaLength": field.penalty_area.depth, "PenaltyAreaWidth": field.penalty_area.width}
    first, second = ("".join(f"({name} {value:g})" for name, value in part.items()) for part in (numbers, areas))
    return f"((ge 1 0){first}(play_modes {' '.join(PLAY_MODES)}){second})"


def _pitch(game: MjGame) -> tuple[str, str]:
    """The goals as boxes and cylinders; monitors draw the pitch itself."""
    field = game.world.field
    assert field.goal is not None, "the world has checked it"
    goal, whole, bare = field.goal, [], []
    half, depth, radius = goal.inner_width / 2, goal.depth, goal.post_radius
    for sign in (-1, 1):
        parts = []
        for y in (-half, half):
            size = f"{radius:g} {radius:g} {goal.height:g}"
            post = f"(nd SMN (setVisible 1)(load StdUnitCylinder)(rgba 0.8 0.8 0.8 1.0)(sSc {size}))"
            parts.append(f"(nd TRF{_IDENTITY % f'0.0000 {y:.4f} {goal.height / 2:.4f}'}{post})")
        nets = (
            ((sign * depth, 0.0, goal.height / 2), (2 * radius, 2 * half, goal.height)),
            ((sign * depth / 2, -half, goal.height / 2), (depth, 2 * radius, goal.height)),
            ((sign * depth / 2, half, goal.height / 2), (depth, 2 * radius, goal.height)),
            ((sign * depth / 2, 0.0, goal.height), (depth, 2 * half, 2 * radius)),
        )
        for place, sides in nets:
            text = " ".join(f"{value:g}" for value in sides)
            net = f"(nd SMN (setVisible 1)(load StdUnitBox)(rgba 1.0 1.0 1.0 0.2)(sSc {text}))"
            parts.append(f"(nd TRF{_IDENTITY % ' '.join(f'{value:.4f}' for value in place)}{net})")
        whole.append(f"(nd TRF{_IDENTITY % f'{sign * field.length / 2:.4f} 0.0000 0.0000'}{''.join(parts)})")
        bare.append(f"(nd{'(nd(nd))' * len(parts)})")
    return "".join(whole), "".join(bare)


class _MjTrainer(Trainer):
    """Carries out the commands of one monitor."""

    def _command(self, expression: Expression) -> bool:
        """Carries out one command; False if it makes no sense."""
        if isinstance(expression, list) and expression[:1] == [b"agent"]:
            return self._put(expression[1:])
        if isinstance(expression, list) and expression[:1] == [b"kickOff"]:
            words = [_SIDES.get(word, word) if isinstance(word, bytes) else word for word in expression[1:]]
            return super()._command([b"kickOff", *words])
        return super()._command(expression)

    def _put(self, words: list[Expression]) -> bool:
        """`(agent ...)`: places a player."""
        fields = {w[0]: w[1:] for w in words if isinstance(w, list) and w and isinstance(w[0], bytes)}
        slot = self._slot(fields)
        if slot is None:
            return False
        for name, count in ((b"pos", 3), (b"move", 4), (b"move3d", 7)):
            found = sexpr.numbers(fields.get(name, []), count)
            if found is not None:
                break
        else:
            return False
        place = (found[0], found[1], found[2])
        game: Any = self._game  # a game of this league can also put players with an attitude
        if len(found) == 7:
            game.put_player(slot, place, (found[3], found[4], found[5], found[6]))
        else:
            game.place_player(self._present(slot), place, found[3] if len(found) == 4 else None)
        return True

    def _slot(self, fields: dict[bytes, list[Expression]]) -> int | None:
        """The slot of a player by its number and its team's name, `Left` or `Right`."""
        number, team = sexpr.numbers(fields.get(b"unum", []), 1), fields.get(b"team", [])
        name = sexpr.text(team[0]) if len(team) == 1 else None
        if number is None or name is None or number[0] not in range(1, 12):
            return None
        for side in Side:
            if name in (side.word.title(), self._game.team_names[side]):
                return slot_of(side, int(number[0]))
        return None


_SIDES = {b"L": b"Left", b"l": b"Left", b"R": b"Right", b"r": b"Right"}


class Monitors(spark.Monitors):
    """All monitors; the owner of their connections."""

    make_frames = MonitorFrames
    make_trainer = _MjTrainer
