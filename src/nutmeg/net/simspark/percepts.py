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
from nutmeg.net.simspark.text_kernels import fill

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nutmeg.match.percept import Floats, GameView, Heard, Percept, Sight

_POLAR = b"(pol \0 \0 \0)"
_BODY = b"(GYR (n torso) (rt \0 \0 \0))(ACC (n torso) (a \0 \0 \0))(HJ (n hj1) (ax \0))(HJ (n hj2) (ax \0))"
_SEEN_AFTER = 2
"""Joints that are told before what is seen: those of the neck."""


def percept_message(percept: Percept) -> bytes:
    """The text of a percept, without its length."""
    game, angles, forces = percept.game, percept.angles, percept.forces
    head = "(time (now %.2f))(GS %s(sl %d) (sr %d) (t %.2f) (pm %s))%s" % (  # noqa: UP031 (twice as fast)
        percept.time,
        "" if game.number is None else introduction(game),
        game.score_left,
        game.score_right,
        game.time,
        game.mode,
        "".join(map(_heard, percept.hears)) if percept.hears else "",
    )
    touching = tuple([row[0] == row[0] for row in forces.tolist()])  # NaN: no contact
    limbs, order = _limbs(len(angles), touching)
    numbers = np.concatenate((angles, forces.ravel()))[order]
    if percept.sight is None:
        values = np.concatenate((percept.gyro, percept.acc, angles[:_SEEN_AFTER], numbers))
        return fill(head.encode("ascii") + _BODY + limbs, values)
    seen, places = seen_template(percept.sight)
    values = np.concatenate((percept.gyro, percept.acc, angles[:_SEEN_AFTER], *places, numbers))
    return fill(head.encode("ascii") + _BODY + seen + limbs, values)


def introduction(game: GameView) -> str:
    """The number and side, which a player is told once."""
    assert game.side is not None, "a number is told together with the side"
    return f"(unum {game.number}) (team {game.side.word}) "


def seen_template(sight: Sight) -> tuple[bytes, list[Floats]]:
    """`(See ...)` with the true pose first, then landmarks, players and lines; and the numbers in its holes."""
    pieces, values = _truth(sight)
    if sight.labels:
        pieces.append(_marks_template(sight.labels))
        values.append(sight.marks.ravel())
    if sight.teams:
        _add_players(sight, pieces, values)
    if len(sight.lines):
        pieces.append(_lines_template(len(sight.lines)))
        values.append(sight.lines.ravel())
    return b"(See" + b"".join(pieces) + b")", values


@lru_cache(maxsize=64)
def _limbs(joints: int, touching: tuple[bool, ...]) -> tuple[bytes, NDArray[np.intp]]:
    """Joints after the neck and feet (as `percept.FEET`) that touch something.

    Returns:
        The template, and which of the joint angles followed by all numbers of the feet belong into it, in order.
    """
    if joints not in (WITHOUT_TOES, WITH_TOES):
        raise ValueError(f"a percept has {joints} joint angles; SimSpark's robots have 22, or 24 with toes.")
    pieces: list[bytes] = []
    order: list[int] = []

    def add_joint(name: str) -> None:
        pieces.append(_hinge(name))
        order.append(JOINTS.index(name))

    def add_foot(name: str) -> None:
        row = FEET.index(name)
        if row < len(touching) and touching[row]:
            pieces.append(_force(name))
            order.extend(joints + 6 * row + k for k in range(6))

    for name in [n for n in JOINTS[_SEEN_AFTER:] if not n.endswith("lj7")]:
        foot = f"{name[0]}f"
        if name.endswith("lj6"):
            add_foot(foot)
        add_joint(name)
        if name.endswith("lj6") and joints == WITH_TOES:
            add_foot(f"{foot}1")
            add_joint(f"{name[0]}lj7")
    return b"".join(pieces), np.array(order)


def _hinge(name: str) -> bytes:
    return b"(HJ (n %b) (ax \0))" % name.encode("ascii")


def _force(name: str) -> bytes:
    return b"(FRP (n %b) (c \0 \0 \0) (f \0 \0 \0))" % name.encode("ascii")


def _heard(heard: Heard) -> str:
    direction = "self" if heard.direction is None else f"{heard.direction:.2f}"
    return f"(hear {heard.team} {heard.time:.2f} {direction} {heard.message})"


def _truth(sight: Sight) -> tuple[list[bytes], list[Floats]]:
    """Templates and values of the true pose, where the server tells it."""
    pieces: list[bytes] = []
    values: list[Floats] = []
    if sight.my_position is not None:
        pieces.append(b" (mypos \0 \0 \0)")
        values.append(sight.my_position)
    if sight.my_heading is not None:
        pieces.append(b" (myorien \0)")
        values.append(np.array([sight.my_heading]))
    if sight.ball_position is not None:
        pieces.append(b" (ballpos \0 \0 \0)")
        values.append(sight.ball_position)
    return pieces, values


def _add_players(sight: Sight, pieces: list[bytes], values: list[Floats]) -> None:
    seen = ~np.isnan(sight.parts[:, :, 0])
    patterns = seen.tolist()
    for team, number, pattern in zip(sight.teams, sight.numbers, patterns, strict=True):
        if any(pattern):
            pieces.append(_player_template(team, number, tuple(pattern)))
    values.append(sight.parts[seen].ravel())


@lru_cache(maxsize=1024)
def _marks_template(labels: tuple[str, ...]) -> bytes:
    return b"".join(b" (%b %b)" % (label.encode("ascii"), _POLAR) for label in labels)


@lru_cache(maxsize=1024)
def _player_template(team: str, number: int, pattern: tuple[bool, ...]) -> bytes:
    named = zip(PARTS, pattern, strict=True)
    parts = b"".join(b" (%b %b)" % (part.encode("ascii"), _POLAR) for part, seen in named if seen)
    return b" (P (team %b) (id %d)%b)" % (team.encode("ascii"), number, parts)


@lru_cache(maxsize=256)
def _lines_template(count: int) -> bytes:
    return b" (L %b %b)" % (_POLAR, _POLAR) * count
