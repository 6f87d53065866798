"""Localisation from camera pictures alone: the error of a robot's believed pose on a walk around the pitch.

    answer = run(Path("runs/camera-localisation"), Settings())
    answer["conditions"]["pictures"]["median_error"]            # m
    answer["met"]

The goal is a median error under 0.3 m and 10 degrees. The robot starts without an estimate of its pose; errors count
from the first picture on. Two trackers see the same walk: `pictures` gets the pictures of the behavioural world's
cameras, `shaken` gets them with noise, and with head angles that are wrong by a sway of the trunk, as on a walking
robot. `odometry` is the estimate from odometry alone with a known start. At the end the robot is carried elsewhere, and
the time is measured until it has found its pose again. The truth and the beliefs are recorded.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from nutmeg.base.angles import wrap_angle, wrap_angle_exactly
from nutmeg.base.constants import BEHAVIOURAL_CYCLE
from nutmeg.base.journal import each_seed
from nutmeg.experiments import experiment
from nutmeg.match.players.perception import CameraSenses
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.worlds.behavioural.camera_geometry import CAMERA_NAMES
from nutmeg.match.worlds.behavioural.cameras import Cameras
from nutmeg.match.worlds.behavioural.eyes import load_eyes
from nutmeg.match.worlds.behavioural.settings import load_behaviour
from nutmeg.match.worlds.behavioural.state import Legs, Posture
from nutmeg.match.worlds.behavioural.world import BehaviourWorld
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field
from nutmeg.recording import Channel, Manifest, Recording, RecordingWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.model.field import FieldSettings


# A walk around the pitch of the behavioural world, seen through the two cameras of the robot that walks.
#
# The robot is steered along corners of the pitch by its true pose; its estimate steers nothing. It looks to both sides
# as it goes. Three team-mates and four opponents walk in small circles beside its path, and hide goals and lines at
# times. The ball lies near the middle.


FIELD_NAME = "spl2011"
_WALKER_SLOT = 0
CORNERS = ((2.3, -1.5), (2.3, 1.5), (0.0, 0.9), (-2.3, 1.5), (-2.3, -1.5), (0.0, -0.9))
"""Corners of the path, which begins at the last one [m]."""
_OTHER_ROBOTS = {
    1: (-2.7, 0.5),
    2: (-0.9, 0.2),
    3: (1.2, 1.7),
    11: (2.8, 0.2),
    12: (1.3, 0.1),
    13: (-1.2, -1.7),
    14: (-1.4, 1.8),
}
"""Places of the robots that walk in circles, by slot [m]."""
_BALL_PLACE = (0.1, 0.4)
_CORNER_RADIUS = 0.3  # A corner has been reached from here, m
_HEAD_SWING = 0.9  # how far the head turns to both sides [rad]
_HEAD_PERIOD = 5.0  # time of a swing of the head to both sides and back [s]
HEAD_PITCH = -0.15
"""Pitch of the head, upwards [rad]."""


@dataclass(frozen=True, kw_only=True)
class Frame:
    """A cycle of the walk."""

    time: float
    """Time since the walk began, s."""
    images: dict[str, Bytes]
    """(240, 320, 3) of each camera."""
    head: tuple[float, float]
    """Yaw and pitch, rad."""
    odometry: tuple[float, float, float]
    """Ahead, left, m, turned left, rad, as the robot believes."""
    pose: Floats
    """(3,) the truth: x, y, m, heading, rad."""
    upright: bool
    ball: Floats
    """(2,) the truth, m."""


class _CameraWalk:
    """The walk; holds a renderer until closed.

    Args:
        seed: of the disturbances of walking.
    """

    def __init__(self, seed: int) -> None:
        field = load_field(FIELD_NAME)
        self.world = BehaviourWorld(load_behaviour("nao"), field, count=1, seeds=np.array([seed], np.uint64))
        for slot, (x, y) in {_WALKER_SLOT: CORNERS[-1], **_OTHER_ROBOTS}.items():
            self.world.join(0, slot)
            self.world.place(0, slot, x, y, 0.7 * slot)
        self.world.place_ball(0, *_BALL_PLACE)
        self._cameras = Cameras(load_eyes("nao"), field, load_ball(field.ball))
        self._next, self._cycle = 0, 0

    def frames(self, seconds: float) -> Iterator[Frame]:
        """The observations of the robot during some seconds."""
        for _ in range(round(seconds / BEHAVIOURAL_CYCLE)):
            self._order()
            self.world.step()
            self._cycle += 1
            yield self._frame()

    def carry(self, x: float, y: float, heading: float) -> None:
        """Puts the robot somewhere else [m, rad], without its noticing."""
        self.world.place(0, _WALKER_SLOT, x, y, heading)

    def _order(self) -> None:
        state, orders = self.world.state, self.world.orders
        for slot in _OTHER_ROBOTS:
            orders.legs[0, slot], orders.wish[0, slot] = Legs.WALK, (0.08, 0.0, 0.4)
        x, y, heading = state.pose[0, _WALKER_SLOT].tolist()
        goal = CORNERS[self._next]
        if math.dist((x, y), goal) < _CORNER_RADIUS:
            self._next = (self._next + 1) % len(CORNERS)
            goal = CORNERS[self._next]
        turn = wrap_angle_exactly(math.atan2(goal[1] - y, goal[0] - x) - heading)
        lying = state.posture[0, _WALKER_SLOT] == Posture.LYING
        orders.legs[0, _WALKER_SLOT] = Legs.GET_UP if lying else Legs.WALK
        orders.wish[0, _WALKER_SLOT] = 0.2 * max(0.0, math.cos(turn)) ** 2, 0.0, 1.5 * turn
        orders.look[0, _WALKER_SLOT] = (
            _HEAD_SWING * math.sin(2 * math.pi * self._cycle * BEHAVIOURAL_CYCLE / _HEAD_PERIOD),
            HEAD_PITCH,
        )

    def _frame(self) -> Frame:
        state = self.world.state
        pictures = self._cameras.draw(state, 0, [_WALKER_SLOT])[0]
        yaw, pitch = state.head[0, _WALKER_SLOT].tolist()
        ahead, left, turn = state.odometry[0, _WALKER_SLOT].tolist()
        return Frame(
            time=self._cycle * BEHAVIOURAL_CYCLE,
            images=dict(zip(CAMERA_NAMES, pictures, strict=True)),
            head=(yaw, pitch),
            odometry=(ahead, left, turn),
            pose=state.pose[0, _WALKER_SLOT].copy(),
            upright=bool(state.posture[0, _WALKER_SLOT] <= Posture.KICKING),
            ball=state.ball[0].copy(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cameras.close()


_TRUTH_COLOUR = "#24292f"
COLOURS = {"pictures": "#1f6feb", "shaken": "#d1242f", "odometry": "#8c959f"}
_CONDITION_LABELS = {
    "pictures": "pictures",
    "shaken": "pictures, shaken and noisy",
    "odometry": "odometry alone, start known",
}
_FIGURE_GOALS = (0.3, 10.0)  # goals of the medians, m and degrees


def _plot_walk(path: Path, recording: Recording, field: FieldSettings) -> None:
    """Writes a PNG.

    Args:
        path: of the PNG.
        recording: of `camera_localisation`.
        field: the pitch.
    """
    from matplotlib.figure import Figure

    truth, times = recording.read("truth.pose"), recording.times
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.25, 1))
    pitch, place, turn = figure.add_subplot(grid[:, 0]), figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    _draw_pitch(pitch, field)
    for name in reversed(COLOURS):
        believed, colour = recording.read(f"{name}.pose")[:, :3], COLOURS[name]
        off = believed - truth
        degrees = np.degrees(np.abs(wrap_angle(off[:, 2])))
        pitch.plot(believed[:, 0], believed[:, 1], color=colour, linewidth=1.0, label=_CONDITION_LABELS[name])
        place.semilogy(times, np.maximum(np.hypot(off[:, 0], off[:, 1]), 1e-3), color=colour, linewidth=0.8)
        turn.semilogy(times, np.maximum(degrees, 1e-2), color=colour, linewidth=0.8)
    pitch.plot(truth[:, 0], truth[:, 1], color=_TRUTH_COLOUR, linewidth=2.2, alpha=0.55, label="true")
    pitch.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=8, frameon=False)
    for panel, goal, label in zip(
        (place, turn), _FIGURE_GOALS, ("error of place [m]", "error of heading [°]"), strict=True
    ):
        panel.axhline(goal, color=_TRUTH_COLOUR, linestyle="--", linewidth=0.8)
        panel.set_ylabel(label)
        panel.grid(alpha=0.25)
    place.tick_params(labelbottom=False)
    place.set_title("dashed: what the median must stay below", fontsize=9)
    turn.set_xlabel("time [s]")
    figure.savefig(path, dpi=110)


def _draw_pitch(panel: Any, field: FieldSettings) -> None:  # noqa: ANN401 (an axes of matplotlib)
    x, y = field.length / 2 + field.border, field.width / 2 + field.border
    panel.set_facecolor("#e6f2e6")
    for (x1, y1), (x2, y2) in field.lines():
        panel.plot((x1, x2), (y1, y2), color="white", linewidth=3, zorder=0)
    if field.goal is not None:
        post = field.length / 2 + field.goal.post_offset, field.goal.inner_width / 2 + field.goal.post_radius
        for end, colour in ((-1, field.goal.left_colour), (1, field.goal.right_colour)):
            panel.plot((end * post[0],) * 2, (-post[1], post[1]), "o", color=colour, markersize=6)
    panel.set_xlim(-x, x)
    panel.set_ylim(-y, y)
    panel.set_aspect("equal")
    panel.set_xlabel("x [m]")
    panel.set_ylabel("y [m]")


ERROR_GOAL = 0.3
"""Limit of the median error of position [m]."""
_TURN_GOAL = math.radians(10.0)  # limit of the median error of heading [rad]
_CONDITIONS = ("pictures", "shaken", "odometry")
POSE_LABELS = ("x", "y", "heading")


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Size of the measurements."""

    seconds: float = 100.0
    """Duration of the walk [s]; the default is about once around the pitch."""
    search: float = 20.0
    """Time for which a robot that was carried away may look around [s]."""
    sway: float = 0.01
    """Deviation of the head's yaw and pitch in `shaken`, rad, drawn anew for each picture."""
    noise: float = 10.0
    """Deviation of each pixel's red, green and blue in `shaken`, of 255."""


FULL = Scale()
QUICK = Scale(seconds=30.0, search=10.0)


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means a shorter walk."""

    seed: int = 1
    """The seed of the first walk."""
    seeds: int = 5
    """Number of walks."""
    size: Scale | None = None
    """Other sizes than those of the quick and the full version."""


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Walks around the pitch; writes a recording for each seed, and camera-localisation.png."""
    seed, size = settings.seed, settings.size or (QUICK if settings.quick else FULL)

    def one(walk: int) -> dict[str, Any]:
        say(f"seed {walk}: {size.seconds:g} s around the pitch")
        return _one_seed(out / f"seed-{walk}.nutmeg", walk, size)

    runs = each_seed(out, range(seed, seed + settings.seeds), asdict(size), one)
    conditions = {name: _together([run[name] for run in runs]) for name in _CONDITIONS}
    best = conditions["pictures"]
    _plot_walk(out / "camera-localisation.png", Recording.open(out / f"seed-{seed}.nutmeg"), load_field(FIELD_NAME))
    return {
        "experiment": "camera-localisation",
        "conditions": conditions,
        "runs": runs,
        "goal": {"error": ERROR_GOAL, "turn": _TURN_GOAL},
        "met": best["median_error"] < ERROR_GOAL and best["median_turn"] < _TURN_GOAL,
        "claims": [one.as_json() for one in _claims(runs)],
        "settings": {
            **asdict(size),
            "seed": seed,
            "seeds": settings.seeds,
            "quick": settings.quick,
            "field": FIELD_NAME,
        },
    }


def _claims(runs: Sequence[Mapping[str, Any]]) -> list[experiment.Claim]:
    """Claims that the goals are met, over walks."""
    found = [run["pictures"] for run in runs]
    again = experiment.Estimate.of_share(sum(one["found_again"] is not None for one in found), len(found))
    return [
        experiment.Claim(
            what="median error of place",
            ours=experiment.Estimate.of([one["median_error"] for one in found]),
            most=ERROR_GOAL,
            unit="m",
        ),
        experiment.Claim(
            what="median error of heading",
            ours=experiment.Estimate.of([one["median_turn"] * experiment.DEGREES for one in found]),
            most=_TURN_GOAL * experiment.DEGREES,
            unit="deg",
        ),
        experiment.Claim(
            what="share that find themselves again after being carried away", ours=again, least=0.5, digits=2
        ),
    ]


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """Errors of estimated poses, by what the robot was given."""
    columns = {
        "": experiment.text("name"),
        "median [m]": experiment.decimal("median_error"),
        "median [deg]": experiment.decimal("median_turn", 2, experiment.DEGREES),
        "95 % [m]": experiment.decimal("late_error"),
        "95 % [deg]": experiment.decimal("late_turn", 2, experiment.DEGREES),
        "within the goal": experiment.share("good"),
        "carried: found [s]": experiment.decimal("found_again", 1),
    }
    best, settings = answer["conditions"]["pictures"], answer["settings"]
    return experiment.ResultTable.of(
        ({"name": name, **row} for name, row in answer["conditions"].items()),
        columns,
        f"medians over {settings['seeds']} walks of {settings['seconds']:g} s on {settings['field']}, pose unknown "
        f"at first; shaken: head angles wrong by {settings['sway']:g} rad, pixels by {settings['noise']:g} of 255.",
        f"goal: medians under {answer['goal']['error']:g} m and {answer['goal']['turn'] * experiment.DEGREES:g} deg; "
        f"worst walk {best['worst_median_error']:.3f} m and {best['worst_median_turn'] * experiment.DEGREES:.2f} deg; "
        f"met: {experiment.yes_or_no(answer['met'])}.",
        f"carried away at the end of the walk, {best['found']} of {settings['seeds']} found themselves again.",
        *experiment.claim_notes(answer["claims"]),
    )


class _Believer:
    """A pose estimator that gets the pictures of the walk, with a shaken head and noisy pixels if so set."""

    def __init__(self, seed: int, size: Scale, *, shaken: bool) -> None:
        self._rng = np.random.default_rng([seed, shaken])
        self.senses = CameraSenses(load_field(FIELD_NAME), load_eyes("nao"))
        self._sway, self._noise = (size.sway, size.noise) if shaken else (0.0, 0.0)

    def follow(self, frame: Frame) -> Floats:
        """(5,) pose, spread of the place and of the heading."""
        self.senses.walk(frame.odometry, upright=frame.upright)
        if frame.upright:
            yaw, pitch = frame.head + self._sway * self._rng.standard_normal(2)
            images = {name: self._noisy(image) for name, image in frame.images.items()}
            self.senses.look(images, (float(yaw), float(pitch)), Side.LEFT)
        pose = self.senses.pose
        return np.array([pose.x, pose.y, pose.heading, pose.spread, pose.heading_spread])

    def _noisy(self, image: Bytes) -> Bytes:
        if not self._noise:
            return image
        noise = self._noise * self._rng.standard_normal(image.shape, np.float32)
        return np.clip(image + noise, 0, 255).astype(np.uint8)


def _one_seed(path: Path, seed: int, size: Scale) -> dict[str, Any]:
    """A walk: recorded, and its errors."""
    believers = {name: _Believer(seed, size, shaken=name == "shaken") for name in _CONDITIONS[:2]}
    labels = {
        "truth": POSE_LABELS,
        **dict.fromkeys(believers, (*POSE_LABELS, "spread", "heading_spread")),
        "odometry": POSE_LABELS,
    }
    channels = [Channel(name=f"{name}.pose", labels=each, resolution=1e-4) for name, each in labels.items()]
    rows: list[Floats] = []
    balls: list[float] = []
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        _CameraWalk(seed) as walk,
        RecordingWriter.create(
            path, Manifest(kind="localisation", seed=seed, channels=tuple(channels)), overwrite=True
        ) as writer,
    ):
        reckoned: Floats | None = None
        for frame in walk.frames(size.seconds):
            reckoned = frame.pose if reckoned is None else _moved(reckoned, frame.odometry)
            row = np.concatenate([frame.pose, *(one.follow(frame) for one in believers.values()), reckoned])
            writer.append(frame.time, row)
            rows.append(row)
            seen = believers["pictures"].senses.seen.ball
            balls += [math.dist(seen, _in_body(frame.pose, frame.ball))] if seen is not None else []
        found = _found_again(walk, believers, np.random.default_rng([seed, 7]), size.search)
    table = np.array(rows)
    columns = {"pictures": slice(3, 6), "shaken": slice(8, 11), "odometry": slice(13, 16)}
    errors = {name: _errors(table[:, :3], table[:, where]) for name, where in columns.items()}
    return {
        **{name: {**errors[name], "found_again": found.get(name)} for name in _CONDITIONS},
        "ball_error": float(np.median(balls)) if balls else None,
        "balls": len(balls),
        "rows": len(table),
    }


def _found_again(
    walk: _CameraWalk, believers: dict[str, _Believer], rng: np.random.Generator, longest: float
) -> dict[str, float | None]:
    """Time after which each tracker has found its pose again after being carried away [s]; None if it has not."""
    x, y, heading = walk.world.state.pose[0, 0].tolist()
    walk.carry(-x + rng.uniform(-0.3, 0.3), -y + rng.uniform(-0.3, 0.3), heading + rng.uniform(1.5, 4.5))
    since: dict[str, float] = {}
    start = None
    for frame in walk.frames(longest):
        start = frame.time if start is None else start
        for name, one in believers.items():
            error = np.abs(_difference(one.follow(frame)[:3], frame.pose))
            if math.hypot(error[0], error[1]) < ERROR_GOAL and error[2] < _TURN_GOAL:
                since.setdefault(name, frame.time - start)
            else:
                since.pop(name, None)
    return {name: since.get(name) for name in believers}


def _moved(pose: Floats, odometry: tuple[float, float, float]) -> Floats:
    ahead, left, turn = odometry
    c, s = math.cos(pose[2] + turn / 2), math.sin(pose[2] + turn / 2)
    return np.asarray(pose + np.array([c * ahead - s * left, s * ahead + c * left, turn]))


def _in_body(pose: Floats, spot: Floats) -> tuple[float, float]:
    """A spot on the pitch (2,), ahead and left of a pose."""
    way, c, s = spot - pose[:2], math.cos(pose[2]), math.sin(pose[2])
    return float(c * way[0] + s * way[1]), float(c * way[1] - s * way[0])


def _difference(believed: Floats, truth: Floats) -> Floats:
    """(..., 3) with the turn between -pi and pi."""
    off = believed - truth
    off[..., 2] = wrap_angle(off[..., 2])
    return off


def _errors(truth: Floats, believed: Floats) -> dict[str, Any]:
    """Medians and 95 % points of the errors of place [m] and heading [rad]; when they were first as wanted [s]."""
    off = _difference(believed, truth)
    error, turn = np.hypot(off[:, 0], off[:, 1]), np.abs(off[:, 2])
    good = (error < ERROR_GOAL) & (turn < _TURN_GOAL)
    return {
        "median_error": float(np.median(error)),
        "median_turn": float(np.median(turn)),
        "late_error": float(np.percentile(error, 95)),
        "late_turn": float(np.percentile(turn, 95)),
        "good": float(good.mean()),
        "first_good": int(np.argmax(good)) / 10 if good.any() else None,
    }


def _together(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians over walks, and the worst of them."""
    names = ("median_error", "median_turn", "late_error", "late_turn", "good")
    medians = {name: float(np.median([run[name] for run in runs])) for name in names}
    worst = {f"worst_{name}": float(max(run[name] for run in runs)) for name in names[:2]}
    again = [run["found_again"] for run in runs]
    found = [one for one in again if one is not None]
    return {**medians, **worst, "found_again": float(np.median(found)) if found else None, "found": len(found)}
