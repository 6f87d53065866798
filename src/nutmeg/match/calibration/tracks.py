"""Tracks of robots and ball for a calibration, from the recording of a match of either world, every 0.1 s.

    tracks = read_tracks(Recording.open(Path("match.nutmeg")))
    tracks.robots["left2"].place, tracks.robots["left2"].wish        # (T, 2) m, (T, 3) m/s and rad/s
    tracks.ball                                                      # (T, 2) m

The commands of players are in `<robot>.request`; recordings without that channel say nothing about walks and kicks, but
still about falls and the ball. Row t has the state at the end of a cycle and the command that led there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.angles import heading_of, rotated, wrap_angle
from nutmeg.base.arrays import Bools, Floats, Ints
from nutmeg.base.constants import BEHAVIOURAL_CYCLE
from nutmeg.base.errors import UsageError
from nutmeg.match.worlds.behavioural.state import Legs
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field

if TYPE_CHECKING:
    from nutmeg.recording import Recording


ABSENT_HEIGHT = -1.0
"""Robots below this height do not play [m]."""
_FALLEN_TILT = math.radians(50.0)  # A robot that leans farther than this has fallen [rad]
_UPRIGHT_TILT = math.radians(20.0)  # A robot with joints that leans less than this is up again [rad]
_DRAWN_UPRIGHT_TILT = math.radians(1.0)  # the same for drawn bodies, which rise until the last moment [rad]
CARRIED_DISTANCE = 0.15
"""A robot that has moved farther than this in a cycle was put there [m]."""
NECK_JOINTS = ("HeadYaw", "hj1", "head_yaw")
"""Names of the joint that turns the head."""


@dataclass(frozen=True, kw_only=True)
class RobotTrack:
    """The track of one robot through a match, T moments."""

    name: str
    playing: Bools
    """(T,) whether it is in the match."""
    present: Bools
    """(T,) whether it is, and was not put elsewhere in the cycle."""
    place: Floats
    """(T, 2) of the torso, m."""
    heading: Floats
    """(T,) its headings, rad."""
    lies: Bools
    """(T,) from a fall or a dive until it is up again."""
    lean: Floats
    """(T,) where the top of the body leans, from +x to the left, rad."""
    legs: Ints
    """(T,) requested `Legs`; -1 if not known."""
    wish: Floats
    """(T, 3) requested walk: m/s ahead and left, rad/s."""
    kick: Ints
    """(T,) requested `KickKind`; -1 for none."""
    strength: Floats
    """(T,) of that kick."""
    speed: Floats
    """(T, 3) as it went in the cycle that ended here, in the frame half way through the turn: ahead, left, turn."""
    yaw_rates: Floats
    """(n,) turn rates of the head from each sample to the next, rad/s; empty if it has no yaw joint."""


@dataclass(frozen=True, kw_only=True)
class Tracks:
    """A match, T moments 0.1 s apart."""

    times: Floats
    """(T,) the times of the samples, s."""
    robots: dict[str, RobotTrack]
    ball: Floats
    """(T, 2) its places, m."""
    ball_height: Floats
    """(T,) of its centre above its radius, m."""
    half_length: float
    """The half length of the pitch, m."""
    half_width: float
    """The half width of the pitch, m."""
    ball_radius: float
    drawn: bool
    """Whether bodies are only drawn, as those of the behavioural world: they touch exactly, and fall at once."""
    wishes_known: bool
    """Whether the recording has the players' requests."""


def read_tracks(recording: Recording, *, field: str | None = None) -> Tracks:
    """The tracks of all robots in the recording of a match; `field` is its pitch, if the recording does not say it."""
    if recording.manifest.kind != "match":
        raise UsageError(
            f"{recording.path}: a recording of kind {recording.manifest.kind!r}; needed is one of a match."
        )
    every, drawn = _every(recording), recording.manifest.config.get("world") == "behavioural"
    names = [name.removesuffix(".pose") for name in recording.channels if name.endswith(".pose")]
    robots = {name: _robot(recording, name, every, drawn=drawn) for name in names if name != "ball"}
    pitch = recording.manifest.config.get("field", field)
    if pitch is None:
        raise UsageError("the recording does not say on which pitch it was made; say it with --field.")
    ground = load_field(str(pitch))
    radius, ball = load_ball(ground.ball).radius, recording.read("ball.pose")[::every]
    return Tracks(
        times=recording.times[::every],
        robots={name: one for name, one in robots.items() if one.present.any()},
        ball=ball[:, :2],
        ball_height=ball[:, 2] - radius,
        half_length=ground.length / 2,
        half_width=ground.width / 2,
        ball_radius=radius,
        drawn=drawn,
        wishes_known=any(bool((one.legs >= 0).any()) for one in robots.values()),
    )


def _every(recording: Recording) -> int:
    """Rows of the recording for each cycle of 0.1 s."""
    times = recording.times
    if len(times) < 3:
        raise UsageError("the recording has less than three moments; nothing can be learned from it.")
    step = float(np.median(np.diff(times)))
    every = round(BEHAVIOURAL_CYCLE / step)
    if every < 1 or abs(every * step - BEHAVIOURAL_CYCLE) > 0.01 * BEHAVIOURAL_CYCLE:
        raise UsageError(f"the recording has a moment every {step:g} s; needed is one every 0.1 s, or a part of that.")
    return every


def _robot(recording: Recording, name: str, every: int, *, drawn: bool) -> RobotTrack:
    pose = recording.read(f"{name}.pose")
    axis = rotated(pose[:, 3:7], np.array([0.0, 0.0, 1.0]))
    tilt = np.arccos(np.clip(axis[:, 2], -1.0, 1.0))
    lies = fallen_times(tilt, _DRAWN_UPRIGHT_TILT if drawn else _UPRIGHT_TILT)
    heading = heading_of(pose[::every, 3:7])
    place, there = pose[::every, :2], pose[::every, 2] > ABSENT_HEIGHT
    turned = wrap_angle(np.diff(heading, prepend=heading[:1]))
    moved = np.diff(place, axis=0, prepend=place[:1])
    middle = heading - 0.5 * turned
    c, s = np.cos(middle), np.sin(middle)
    ahead, left = moved[:, 0] * c + moved[:, 1] * s, moved[:, 1] * c - moved[:, 0] * s
    legs, wish, kick, strength = _wishes(recording, name, every)
    return RobotTrack(
        name=name,
        playing=there,
        present=there & (np.hypot(ahead, left) < CARRIED_DISTANCE),
        place=place,
        heading=heading,
        lies=lies[::every],
        lean=np.arctan2(axis[::every, 1], axis[::every, 0]),
        legs=legs,
        wish=wish,
        kick=kick,
        strength=strength,
        speed=np.column_stack([ahead, left, turned]) / BEHAVIOURAL_CYCLE,
        yaw_rates=_yaw_rates(recording, name),
    )


def fallen_times(tilt: Floats, up: float) -> Bools:
    """(n,) when a body lies: from where it leans farther than `FALLEN` until it leans less than `up`."""
    down, rises = tilt > _FALLEN_TILT, tilt < up
    decided = np.where(down | rises, np.arange(len(tilt)), 0)
    return np.asarray(down[np.maximum.accumulate(decided)])


def _wishes(recording: Recording, name: str, every: int) -> tuple[Ints, Floats, Ints, Floats]:
    """Requested legs, walk, kick and strength of a player."""
    channel = f"{name}.request"
    if channel not in recording.channels:
        count = len(recording.times[::every])
        nothing = np.full(count, -1)
        return nothing, np.zeros((count, 3)), nothing, np.zeros(count)
    table = dict(zip(recording.channels[channel].labels, recording.read(channel)[::every].T, strict=True))
    legs = np.nan_to_num(table["legs"], nan=-1.0).round().astype(np.int64)
    wish = np.nan_to_num(np.column_stack([table["ahead"], table["left"], table["turn"]]))
    wish[legs != int(Legs.WALK)] = 0.0
    kick = np.nan_to_num(table["kick"], nan=-1.0).round().astype(np.int64)
    return legs, wish, kick, np.nan_to_num(table["strength"])


def _yaw_rates(recording: Recording, name: str) -> Floats:
    channel = f"{name}.angles"
    if channel not in recording.channels:
        return np.zeros(0)
    labels = recording.channels[channel].labels
    neck = next((joint for joint in NECK_JOINTS if joint in labels), None)
    if neck is None:
        return np.zeros(0)
    yaw = recording.read(channel)[:, labels.index(neck)]
    rates = np.abs(np.diff(yaw)) / np.diff(recording.times)
    return np.asarray(rates[np.isfinite(rates)])
