r"""The text of a percept, compiled: a script says what is written after what, and where its numbers come from.

    text, script = ...                       # b"(HJ (n hj1) (ax \x00))...", one row for each piece of it
    end = write_percept(head, now, clock, seen, seen_end, text, script, gyro, acc, angles, forces, out)
    message = written(out, end)              # framed

What is seen is written before, by `write_seen`, into an array of its own. Either returns 0 if the array is too small.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.compiled import kernel
from nutmeg.match.percept import PARTS, WITH_TOES
from nutmeg.net.simspark.text_kernels import START, WIDEST, finish, put_template, put_text

if TYPE_CHECKING:
    from nutmeg.base.arrays import Floats, Ints
    from nutmeg.net.simspark.text_kernels import Text


GYRO, ACC, JOINT, FOOT, SEEN = range(5)
"""Where the numbers of a piece come from; `SEEN` is the whole of what is seen."""
_FIRST = (2, 5, 8, 8 + WITH_TOES)
"""Where the numbers of each source begin, after the two times; see `_numbers`."""
POLAR = b"(pol \0 \0 \0)"


def _joined(pieces: list[bytes]) -> tuple[Text, Ints]:
    """Pieces one after the other, and where each ends."""
    return np.frombuffer(bytearray(b"".join(pieces)), np.uint8), np.cumsum([0, *map(len, pieces)])


_PARTS, _PART_ENDS = _joined([b" (%b %b)" % (part.encode("ascii"), POLAR) for part in PARTS])
_LINE, _ = _joined([b" (L %b %b)" % (POLAR, POLAR)])
_SEE, _ = _joined([b"(See"])


@kernel
def write_percept(
    head: Text,
    now: float,
    clock: float,
    seen: Text,
    seen_end: int,
    text: Text,
    script: Ints,
    gyro: Floats,
    acc: Floats,
    angles: Floats,
    forces: Floats,
    out: Text,
) -> int:
    """Writes a percept; `seen` and `seen_end` are what `write_seen` left, or any array and `START`.

    `head` is a template of the server's time and the game's (s), followed by text without holes.
    script (K, 4) has for each piece its source, the first number there, and where its template is in `text`.
    """
    if len(head) + abs(seen_end) + len(text) + WIDEST * (8 + angles.size + forces.size) > len(out):
        return 0
    numbers, feet = _numbers(now, clock, gyro, acc, angles, forces), len(forces)
    out[0] = 0 if seen_end >= 0 else 1
    place = put_template(head, 0, len(head), numbers, 0, out, START)
    for k in range(len(script)):
        source, first = script[k, 0], script[k, 1]
        if source == SEEN:
            place = put_text(seen[START : abs(seen_end)], out, place)
            continue
        if source == FOOT and (first >= feet or math.isnan(numbers[_FIRST[FOOT] + 6 * first])):
            continue
        number = _FIRST[source] + (6 * first if source == FOOT else first)
        place = put_template(text, script[k, 2], script[k, 3], numbers, number, out, place)
    return finish(place, out)


@kernel
def _numbers(now: float, clock: float, gyro: Floats, acc: Floats, angles: Floats, forces: Floats) -> Floats:
    """All numbers of a percept but those of what is seen, in one row, where `_FIRST` says."""
    row = np.empty(8 + WITH_TOES + forces.size)
    row[0], row[1] = now, clock
    for i in range(3):
        row[2 + i], row[5 + i] = gyro[i], acc[i]
    for i in range(len(angles)):
        row[8 + i] = angles[i]
    for i in range(len(forces)):
        for j in range(6):
            row[8 + WITH_TOES + 6 * i + j] = forces[i, j]
    return row


@kernel
def write_seen(
    truth: Text,
    true_numbers: Floats,
    labels: Text,
    marks: Floats,
    names: Text,
    ends: Ints,
    parts: Floats,
    lines: Floats,
    out: Text,
) -> int:
    """Writes `(See ...)` from the place of a message's length on; negative if there are holes.

    Templates of the true pose and of the landmarks come with their numbers, (n,) and (K, 3). `names` has the beginnings
    of what is told about P players, up to `ends` (P + 1,); a player of whom nothing is in view is left out.
    """
    numbers = true_numbers.size + marks.size + parts.size + lines.size
    fixed = len(truth) + len(labels) + len(names) + len(parts) * len(_PARTS) + len(lines) * len(_LINE)
    if START + 8 + fixed + WIDEST * numbers > len(out):
        return 0
    out[0] = 0
    place = put_text(_SEE, out, START)
    place = put_template(truth, 0, len(truth), true_numbers, 0, out, place)
    place = put_template(labels, 0, len(labels), marks.ravel(), 0, out, place)
    points, columns = parts.ravel(), parts.shape[1]
    for p in range(len(parts)):
        told = False
        for part in range(columns):
            first = 3 * (p * columns + part)
            if math.isnan(points[first]):
                continue
            if not told:
                place = put_text(names[ends[p] : ends[p + 1]], out, place)
                told = True
            place = put_template(_PARTS, _PART_ENDS[part], _PART_ENDS[part + 1], points, first, out, place)
        if told:
            out[place] = 41
            place += 1
    points = lines.ravel()
    for k in range(len(lines)):
        place = put_template(_LINE, 0, len(_LINE), points, 6 * k, out, place)
    out[place] = 41
    return place + 1 if out[0] == 0 else -place - 1
