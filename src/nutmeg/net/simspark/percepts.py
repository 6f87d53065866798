"""Percepts as SimSpark writes them: order, spaces and two decimals as rcssserver3d 0.7.3 sends them to its agents.

    message = percept_message(percept)       # b"(time (now 22.92))(GS (sl 0) (sr 0) (t 0.00) (pm BeforeKickOff))..."
    socket.send(framed(message))

There is a template for robots with and without toes and each set of feet that touch something; a message is one
formatting of the whole. What is seen has templates of its own, kept by what is in view. Whoever has toes (type 4) has
twenty-four joints.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.match.percept import FEET, JOINTS, PARTS, WITH_TOES, WITHOUT_TOES

if TYPE_CHECKING:
    from nutmeg.match.percept import GameView, Heard, Percept, Sight

_POLAR = "(pol %.2f %.2f %.2f)"
_REST = (
    "(time (now %.2f))(GS %s(sl %d) (sr %d) (t %.2f) (pm %s))%s"
    "(GYR (n torso) (rt %.2f %.2f %.2f))(ACC (n torso) (a %.2f %.2f %.2f))"
)


def percept_message(percept: Percept) -> bytes:
    """The text of a percept, without its length."""
    angles, feet = percept.angles.tolist(), percept.forces.tolist()
    touching = tuple([row[0] == row[0] for row in feet])  # NaN: no contact
    template = _template(len(angles), touching)
    game = percept.game
    values = (
        percept.time,
        "" if game.number is None else introduction(game),
        game.score_left,
        game.score_right,
        game.time,
        game.mode,
        "".join(map(_heard, percept.hears)) if percept.hears else "",
        *percept.gyro.tolist(),
        *percept.acc.tolist(),
        angles[0],
        angles[1],
        "" if percept.sight is None else sight_text(percept.sight),
        *angles[2:15],
        *(feet[0] if touching[0] else ()),
        angles[15],
    )
    if len(angles) == WITHOUT_TOES:
        values += (*angles[16:21], *(feet[1] if touching[1] else ()), angles[21])
    else:
        values += (*(feet[2] if touching[2] else ()), angles[22], *angles[16:21])
        values += (*(feet[1] if touching[1] else ()), angles[21], *(feet[3] if touching[3] else ()), angles[23])
    return (template % values).encode("ascii")


def introduction(game: GameView) -> str:
    """The number and side, which a player is told once."""
    assert game.side is not None, "a number is told together with the side"
    return f"(unum {game.number}) (team {game.side.word}) "


def sight_text(sight: Sight) -> str:
    """`(See ...)` with the true pose first, then landmarks, players and lines."""
    templates, values = _truth(sight)
    if sight.labels:
        templates.append(_marks_template(sight.labels))
        values += sight.marks.ravel().tolist()
    if sight.teams:
        _add_players(sight, templates, values)
    if len(sight.lines):
        templates.append(_lines_template(len(sight.lines)))
        values += sight.lines.ravel().tolist()
    return f"(See{''.join(templates)})" % tuple(values)


@lru_cache(maxsize=64)
def _template(joints: int, touching: tuple[bool, ...]) -> str:
    """The template of a robot with 22 or 24 joints, some of whose feet (as `percept.FEET`) touch something."""
    if joints not in (WITHOUT_TOES, WITH_TOES):
        raise ValueError(f"a percept has {joints} joint angles; SimSpark's robots have 22, or 24 with toes.")
    felt = {name: _force(name) for name, touches in zip(FEET, touching, strict=False) if touches}
    pieces = [_REST]
    for name in [n for n in JOINTS if not n.endswith("lj7")]:
        foot = f"{name[0]}f"
        if name.endswith("lj6"):
            pieces.append(felt.get(foot, ""))
        pieces.append(_hinge(name))
        if name == "hj2":
            pieces.append("%s")  # what is seen
        if name.endswith("lj6") and joints == WITH_TOES:
            pieces.append(felt.get(f"{foot}1", "") + _hinge(f"{name[0]}lj7"))
    return "".join(pieces)


def _hinge(name: str) -> str:
    return f"(HJ (n {name}) (ax %.2f))"


def _force(name: str) -> str:
    return f"(FRP (n {name}) (c %.2f %.2f %.2f) (f %.2f %.2f %.2f))"


def _heard(heard: Heard) -> str:
    direction = "self" if heard.direction is None else f"{heard.direction:.2f}"
    return f"(hear {heard.team} {heard.time:.2f} {direction} {heard.message})"


def _truth(sight: Sight) -> tuple[list[str], list[float]]:
    """Templates and values of the true pose, where the server tells it."""
    templates: list[str] = []
    values: list[float] = []
    if sight.my_position is not None:
        templates.append(" (mypos %.2f %.2f %.2f)")
        values += sight.my_position.tolist()
    if sight.my_heading is not None:
        templates.append(" (myorien %.2f)")
        values.append(float(sight.my_heading))
    if sight.ball_position is not None:
        templates.append(" (ballpos %.2f %.2f %.2f)")
        values += sight.ball_position.tolist()
    return templates, values


def _add_players(sight: Sight, templates: list[str], values: list[float]) -> None:
    seen = ~np.isnan(sight.parts[:, :, 0])
    patterns = seen.tolist()
    for team, number, pattern in zip(sight.teams, sight.numbers, patterns, strict=True):
        if any(pattern):
            templates.append(_player_template(team, number, tuple(pattern)))
    values += sight.parts[seen].ravel().tolist()


@lru_cache(maxsize=1024)
def _marks_template(labels: tuple[str, ...]) -> str:
    return "".join(f" ({label} {_POLAR})" for label in labels)


@lru_cache(maxsize=1024)
def _player_template(team: str, number: int, pattern: tuple[bool, ...]) -> str:
    parts = "".join(f" ({part} {_POLAR})" for part, seen in zip(PARTS, pattern, strict=True) if seen)
    return f" (P (team {team.replace('%', '%%')}) (id {number}){parts})"


@lru_cache(maxsize=256)
def _lines_template(count: int) -> str:
    return f" (L {_POLAR} {_POLAR})" * count
