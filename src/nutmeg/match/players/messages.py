"""Messages of the built-in team's players, in the twenty characters that the league allows.

    text = encode(Report(number=4, time=12.34, place=(1.0, -2.0), heading=0.5, ball=(3.0, 0.0)))
    decode(text)                            # the report, rounded; None if the text is no report
    speaks(number=4, players=6, time=12.34) # whether it is the player's turn

A report is packed into 120 bits and written with an alphabet of 64 characters, six bits each. 18 of the bits are a
checksum, so that a message of another team passes for a report once in a quarter of a million times, and rarely even
then, because the numbers have to be plausible, too. Places are rounded to 2 cm, times to 0.1 s.

A listener hears one team-mate in two cycles (see `match.worlds.physical.hearing`). So players speak in turns of two
cycles each, by number and by the server's time, which all of them know: with four players, each is heard six times a
second.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.match.rules.book import MAX_PLAYERS

if TYPE_CHECKING:
    from nutmeg.match.players.tracking.records import BeliefRecord

Point = tuple[float, float]

MESSAGE_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-"
_REPORT_LENGTH = 20  # characters of a report
MAX_ARRIVAL_TIME = 25.5
"""The longest time to the ball that a report can carry, s; it says that the player cannot or may not play the ball."""
MAX_REPORTED_AGE = 12.7
"""The longest age that a report can carry, s; it stands for all longer ones."""
_SPEAKING_CYCLES = 2  # length of a player's turn to speak [cycles]
_CHECK_BITS = 18
_VALUES = {sign: value for value, sign in enumerate(MESSAGE_ALPHABET)}
_PLACE, _REACH = 0.02, 20.0
_SPEED, _FASTEST = 0.1, 6.3
_CLOCK = 2048  # time stamps count cycles modulo this number, which is 41 s


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A player's report to its team-mates; places are in the own team's frame."""

    number: int
    time: float
    """The server's time when it was sent, s."""
    place: Point
    """Place of the speaker, m."""
    heading: float
    """Heading of the speaker, rad."""
    fallen: bool = False
    goes: bool = False
    """Whether it goes for the ball."""
    arrival: float = MAX_ARRIVAL_TIME
    """Time until it could play the ball, s; `MAX_ARRIVAL_TIME` if it cannot or may not."""
    ball: Point | None = None
    """Estimated place of the ball, m; None if it does not know."""
    ball_velocity: Point = (0.0, 0.0)
    """The velocity of the ball, m/s."""
    ball_age: float = MAX_REPORTED_AGE
    """Time since the speaker saw the ball, s."""
    post: int = 0
    """The post of the formation that it takes, 0 to 15."""


def report_of(
    number: int,
    time: float,
    belief: BeliefRecord,
    *,
    goes: bool = False,
    arrival: float = MAX_ARRIVAL_TIME,
    post: int = 0,
) -> Report:
    """The report of a player about its belief; arguments are the fields of `Report`."""
    known = belief.seen_ago < MAX_REPORTED_AGE
    return Report(
        number=number,
        time=time,
        place=(float(belief.x), float(belief.y)),
        heading=float(belief.heading),
        fallen=not belief.upright,
        goes=goes,
        arrival=min(arrival, MAX_ARRIVAL_TIME),
        ball=(float(belief.ball_x), float(belief.ball_y)) if known else None,
        ball_velocity=(float(belief.ball_vx), float(belief.ball_vy)),
        ball_age=min(float(belief.seen_ago), MAX_REPORTED_AGE),
        post=post,
    )


_FIELDS = (4, 11, 11, 11, 7, 1, 1, 8, 1, 11, 11, 7, 7, 7, 4)
"""Bits of each field: number, time, x, y, heading, fallen, goes, arrival, ball known, its x, y, velocity, age, post."""


def encode(report: Report) -> str:
    """A report as a message."""
    ball = report.ball or (0.0, 0.0)
    numbers = (
        report.number,
        round(report.time / CONTROL_CYCLE) % _CLOCK,
        *map(_from_place, report.place),
        round(report.heading / math.tau * 128) % 128,
        report.fallen,
        report.goes,
        _from_time(report.arrival, MAX_ARRIVAL_TIME),
        report.ball is not None,
        *map(_from_place, ball),
        *map(_from_speed, report.ball_velocity),
        _from_time(report.ball_age, MAX_REPORTED_AGE),
        min(max(report.post, 0), 15),
    )
    packed = 0
    for value, bits in zip(numbers, _FIELDS, strict=True):
        packed = packed << bits | int(value)
    packed = packed << _CHECK_BITS | _checksum(packed)
    return "".join([MESSAGE_ALPHABET[packed >> shift & 63] for shift in range(6 * (_REPORT_LENGTH - 1), -1, -6)])


def decode(message: str, now: float | None = None) -> Report | None:
    """The report in a message; None if it is none, or was sent more than a second before or after `now`, s.

    Without `now`, the time of the report is known only modulo 40.96 s.
    """
    if len(message) != _REPORT_LENGTH:
        return None
    packed = 0
    for sign in message:
        value = _VALUES.get(sign)
        if value is None:
            return None
        packed = packed << 6 | value
    packed, check = packed >> _CHECK_BITS, packed & (1 << _CHECK_BITS) - 1
    if check != _checksum(packed):
        return None
    numbers = []
    for bits in reversed(_FIELDS):
        numbers.append(packed & (1 << bits) - 1)
        packed >>= bits
    return _report(numbers[::-1], now) if packed == 0 else None


def _report(n: list[int], now: float | None) -> Report | None:
    """A report from its numbers; None if they are implausible."""
    time = n[1] * CONTROL_CYCLE
    if now is not None:
        behind = (round(now / CONTROL_CYCLE) - n[1] + _CLOCK // 2) % _CLOCK - _CLOCK // 2
        if abs(behind) * CONTROL_CYCLE > 1.0:
            return None
        time = now - behind * CONTROL_CYCLE
    if not 1 <= n[0] <= MAX_PLAYERS or max(n[2], n[3], n[9], n[10]) * _PLACE > 2 * _REACH:
        return None
    return Report(
        number=n[0],
        time=time,
        place=(_to_place(n[2]), _to_place(n[3])),
        heading=(n[4] - 128 if n[4] >= 64 else n[4]) / 128 * math.tau,
        fallen=bool(n[5]),
        goes=bool(n[6]),
        arrival=n[7] / 10,
        ball=(_to_place(n[9]), _to_place(n[10])) if n[8] else None,
        ball_velocity=(_to_speed(n[11]), _to_speed(n[12])),
        ball_age=n[13] / 10,
        post=n[14],
    )


def cycles_to_turn(*, number: int, players: int, time: float) -> int:
    """Cycles until a player's turn to speak, by the size of its team and the server's time [s]; 0 during its turn."""
    cycle = round(time / CONTROL_CYCLE)
    return (_SPEAKING_CYCLES * (number - 1) - cycle) % (_SPEAKING_CYCLES * max(players, number))


def speaks(*, number: int, players: int, time: float) -> bool:
    """Whether it is a player's turn to speak, by the size of its team and the server's time [s]."""
    return cycles_to_turn(number=number, players=players, time=time) == 0


def _checksum(packed: int) -> int:
    return zlib.crc32(packed.to_bytes(16, "big"), 0x4E75746D) & (1 << _CHECK_BITS) - 1


def _from_place(metres: float) -> int:
    return round((min(max(metres, -_REACH), _REACH) + _REACH) / _PLACE)


def _to_place(value: int) -> float:
    return round(value * _PLACE - _REACH, 2)


def _from_speed(speed: float) -> int:
    return round((min(max(speed, -_FASTEST), _FASTEST) + _FASTEST) / _SPEED)


def _to_speed(value: int) -> float:
    return round(value * _SPEED - _FASTEST, 1)


def _from_time(seconds: float, most: float) -> int:
    return round(min(max(seconds, 0.0), most) * 10)
