"""Figures 3 to 8 of NaOISIS (seed 002), drawn from the behavioural world, with numbers beside what the paper states.

    answer = run(Path("runs/naoisis"), Settings(seeds=10))
    answer["claims"]                    # sonar, kicks, collisions and beliefs against the paper's statements

| figure | shows |
|---|---|
| 3 | what both cameras see for several angles of the head |
| 4 | where an opponent must stand for the left and the right sonar to answer |
| 5 | a right side kick, a right straight kick of a ball at an angle, and one of a ball out of reach |
| 6 | the five collisions: two moving robots, one that stands, a goalpost, a rolling ball, a ball at rest |
| 7 | what a robot believes about its opponent: seen, out of sight, and corrected by sonar |
| 8 | moments of a match, with the pictures of one player's upper camera |

Figure 7 shows what the built-in tracker believes, with its sonars and without. A sonar that answers moves the opponent
to the distance that it says, in a direction within its cone, while no camera shows it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.constants import BEHAVIOURAL_CYCLE
from nutmeg.experiments import experiment
from nutmeg.match.behavioural_game import BehaviourGame
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.tactics.tactician import strategy_decide
from nutmeg.match.players.tracking.tracker import Tracker
from nutmeg.match.rules.book import load_rules
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.rules.slots import side_of_slot, slot_of
from nutmeg.match.worlds.behavioural.cameras import Cameras
from nutmeg.match.worlds.behavioural.eyes import load_eyes
from nutmeg.match.worlds.behavioural.settings import load_behaviour
from nutmeg.match.worlds.behavioural.sonar import Sonar
from nutmeg.match.worlds.behavioural.state import KickKind, Legs, Posture
from nutmeg.match.worlds.behavioural.vision import Vision
from nutmeg.match.worlds.behavioural.world import BehaviourWorld
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nutmeg.base.arrays import Bytes, Floats
    from nutmeg.match.worlds.behavioural.state import MatchesState
    from nutmeg.model.field import FieldSettings

FIELD_NAME = "spl2011"
BLUE, PINK = slot_of(Side.LEFT, 3), slot_of(Side.RIGHT, 2)
"""Slots of the two robots that most figures need."""
_BLUE_COLOUR, _PINK_COLOUR, BALL_COLOUR, _BELIEF_COLOUR = "#1f6feb", "#d63384", "#d9772b", "#8250df"
_HEAD_ANGLES = ((0, 0), (45, 0), (-45, 0), (0, -25), (60, -25), (0, 20))
"""Yaw to the left and pitch upwards of figure 3 [deg]."""
_FOOT_TIP = (0.10, 0.05)  # tip of a foot, from which the direction of a kick is taken, ahead and aside [m]


@dataclass(frozen=True)
class _KickCase:
    """A kick of figure 5."""

    name: str
    kind: KickKind
    ball: tuple[float, float]
    """Ahead and to the left of the robot [m]."""
    direction: float | None
    """Direction of the ball in table 2 of the paper, positive to the left [rad]; None if it is not kicked."""


_KICKS = (
    _KickCase("right side", KickKind.RIGHT_SIDE, (0.16, 0.05), None),
    _KickCase(
        "right straight, ball at an angle",
        KickKind.RIGHT_STRAIGHT,
        (0.18, -0.08),
        math.atan2(-0.08 + _FOOT_TIP[1], 0.18 - _FOOT_TIP[0]),
    ),
    _KickCase("right straight, ball out of reach", KickKind.RIGHT_STRAIGHT, (0.28, 0.0), None),
)


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means fewer seeds, and a match of 10 s instead of 60 s."""

    seed: int = 1
    """The first of the seeds."""
    seeds: int = 20
    """Number of kicks, balls and beliefs of each kind; at least 5."""


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Draws all figures and checks what they show."""
    seeds = range(settings.seed, settings.seed + max(5, settings.seeds))
    claims: list[experiment.Claim] = []
    with _Pictures() as pictures:
        say("figure 3: fields of view")
        claims += _figure_3(out / "figure-3.png", pictures)
        say("figure 4: sonar")
        claims += _figure_4(out / "figure-4.png")
        say("figure 5: kicks")
        claims += _figure_5(out / "figure-5.png", pictures, seeds)
        say("figure 6: collisions")
        claims += _figure_6(out / "figure-6.png", seeds)
        say("figure 7: beliefs")
        claims += _figure_7(out / "figure-7.png", seeds)
        say("figure 8: a match")
        match = _figure_8(out / "figure-8.png", pictures, settings.seed, 10.0 if settings.quick else 60.0)
    return {
        "experiment": "naoisis",
        "claims": [one.as_json() for one in claims],
        "goals": [one.as_json() for one in experiment.goals_of(claims)],
        "match": match,
        "settings": {"seeds": list(seeds), "field": FIELD_NAME},
    }


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """Every statement of the paper beside what the world does."""
    columns = {
        "statement": experiment.text("what"),
        "here": experiment.text("shown"),
        "allowed": experiment.text("range"),
        "verdict": experiment.text("verdict"),
    }
    match = answer["match"]
    return experiment.ResultTable.of(
        answer["claims"],
        columns,
        f"figures 3 to 8 are drawn; the match of figure 8 has {match['seconds']:g} s and ended {match['score']}.",
        experiment.claim_notes(answer["claims"])[-1],
    )


class _Pictures(Cameras):
    """Camera pictures of the behavioural world."""

    def __init__(self) -> None:
        field = load_field(FIELD_NAME)
        super().__init__(load_eyes("nao"), field, load_ball(field.ball))

    def of(self, state: MatchesState, slot: int) -> tuple[Bytes, Bytes]:
        """Pictures of the upper and the lower camera of a robot."""
        upper, lower = self.draw(state, 0, [slot])[0]
        return upper, lower


def _world(seed: int, robots: Mapping[int, tuple[float, float, float]]) -> BehaviourWorld:
    """A world of one match with robots at poses, by slot [m, m, rad]; the ball lies outside."""
    world = BehaviourWorld(load_behaviour("nao"), load_field(FIELD_NAME), count=1, seeds=np.array([seed], np.uint64))
    for slot, (x, y, heading) in robots.items():
        world.join(0, slot)
        world.place(0, slot, x, y, heading)
    world.place_ball(0, 2.9, 1.9)
    return world


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, dpi=80)


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _robot(axes: Axes, pose: Sequence[float] | Floats, colour: str, *, alpha: float = 1.0) -> None:
    """A robot seen from above: a disc with its heading."""
    x, y, heading = pose
    axes.plot(x, y, "o", color=colour, markersize=9, alpha=alpha)
    axes.plot((x, x + 0.12 * math.cos(heading)), (y, y + 0.12 * math.sin(heading)), color=colour, alpha=alpha)


# Figure 3


def _figure_3(path: Path, pictures: _Pictures) -> list[experiment.Claim]:
    """Pictures of both cameras for several angles of the head."""
    world = _world(1, {BLUE: (-1.5, 0.0, 0.0), PINK: (-0.3, 0.35, math.pi)})
    world.place_ball(0, -1.0, 0.05)
    figure = _figure(12.0, 3.6)
    grid = figure.subplots(2, len(_HEAD_ANGLES))
    for column, (yaw, pitch) in enumerate(_HEAD_ANGLES):
        world.state.head[0, BLUE] = math.radians(yaw), math.radians(pitch)
        for row, image in enumerate(pictures.of(world.state, BLUE)):
            grid[row, column].imshow(image)
            grid[row, column].set_axis_off()
        grid[0, column].set_title(f"yaw {yaw}°, pitch {pitch}°", fontsize=9)
    _save(figure, path)
    across, up = load_eyes("nao").cameras.slopes
    return [
        experiment.Claim.near(
            "figure 3: diagonal field of view",
            experiment.Estimate.exact(2 * math.atan(math.hypot(across, up)) * experiment.DEGREES),
            58.0,
            0.5,
            unit="deg",
            digits=2,
        )
    ]


# Figure 4


def _figure_4(path: Path) -> list[experiment.Claim]:
    """Places of an opponent at which each sonar answers."""
    world = _world(1, {BLUE: (0.0, 0.0, 0.0), PINK: (1.0, 0.0, math.pi)})
    eyes = load_eyes("nao")
    sonar = Sonar(eyes, load_field(FIELD_NAME), count=1)
    places = [(x, y) for x in np.linspace(0.1, 1.1, 51) for y in np.linspace(-0.7, 0.7, 71)]
    answers = np.empty((len(places), 2))
    for row, (x, y) in enumerate(places):
        world.place(0, PINK, float(x), float(y), math.pi)
        answers[row] = sonar.listen(world.state)[0, BLUE]
    figure = _figure(9.0, 4.0)
    where = np.array(places)
    for axes, side, name in zip(figure.subplots(1, 2, sharey=True), (0, 1), ("left", "right"), strict=True):
        heard = np.isfinite(answers[:, side])
        dots = axes.scatter(where[heard, 0], where[heard, 1], c=answers[heard, side], s=9, vmin=0.15, vmax=0.75)
        _robot(axes, (0.0, 0.0, 0.0), _BLUE_COLOUR)
        axes.set(title=f"{name} sonar", xlabel="opponent ahead [m]", xlim=(-0.15, 1.15), ylim=(-0.75, 0.75))
        axes.set_aspect("equal")
    figure.axes[0].set_ylabel("opponent to the left [m]")
    figure.colorbar(dots, ax=figure.axes, label="distance answered [m]")
    _save(figure, path)
    # The sonar measures the nearest point of a body, so the cone is measured where only a thin edge is inside it.
    heard = np.isfinite(answers)
    bearings = np.degrees(np.arctan2(where[:, 1], where[:, 0]))
    middle = [float(np.median(bearings[heard[:, side]])) for side in (0, 1)]
    return [
        experiment.Claim(
            what="figure 4: nearest answer",
            ours=experiment.Estimate.exact(float(np.nanmin(answers))),
            least=0.15,
            unit="m",
        ),
        experiment.Claim(
            what="figure 4: farthest answer",
            ours=experiment.Estimate.exact(float(np.nanmax(answers))),
            most=0.75,
            unit="m",
        ),
        *(
            experiment.Claim.near(
                f"figure 4: direction of the {name} sonar",
                experiment.Estimate.exact(middle[side]),
                sign * 19.48,
                1.0,
                unit="deg",
                digits=1,
            )
            for side, (name, sign) in enumerate((("left", 1.0), ("right", -1.0)))
        ),
    ]


# Figure 5


def _figure_5(path: Path, pictures: _Pictures, seeds: Sequence[int]) -> list[experiment.Claim]:
    """Three kicks: what the robot sees before, and where the ball goes, with every seed."""
    figure = _figure(10.0, 5.6)
    grid = figure.subplots(2, len(_KICKS), height_ratios=(1.0, 1.2))
    claims = []
    for column, case in enumerate(_KICKS):
        paths = [_kicked(case, seed) for seed in seeds]
        before = _world(1, {BLUE: (0.0, 0.0, 0.0)})
        before.place_ball(0, *case.ball)
        before.state.head[0, BLUE] = 0.0, math.radians(-25)
        grid[0, column].imshow(pictures.of(before.state, BLUE)[1])
        grid[0, column].set_axis_off()
        grid[0, column].set_title(case.name, fontsize=9)
        for way in paths:
            grid[1, column].plot(way[:, 0], way[:, 1], color=BALL_COLOUR, lw=0.8, alpha=0.6)
        grid[1, column].plot(*case.ball, "o", color=BALL_COLOUR, markersize=5)
        _robot(grid[1, column], (0.0, 0.0, 0.0), _BLUE_COLOUR)
        grid[1, column].set_aspect("equal")
        grid[1, column].set(xlabel="ahead [m]", xlim=(-0.5, 3.0), ylim=(-2.0, 2.0))
        ends = np.array([way[-1] - way[0] for way in paths])
        moved = np.hypot(ends[:, 0], ends[:, 1])
        directions = np.degrees(np.arctan2(ends[:, 1], ends[:, 0]))
        if case.direction is not None:
            claims.append(
                experiment.Claim.near(
                    f"figure 5: {case.name}: direction",
                    experiment.Estimate.of(directions),
                    case.direction * experiment.DEGREES,
                    5.0,
                    unit="deg",
                    digits=1,
                )
            )
        elif case.kind == KickKind.RIGHT_SIDE:
            claims.append(
                experiment.Claim(
                    what=f"figure 5: {case.name}: goes to the left by",
                    ours=experiment.Estimate.of(directions),
                    least=30.0,
                    unit="deg",
                    digits=1,
                )
            )
        else:
            claims.append(
                experiment.Claim(
                    what=f"figure 5: {case.name}: way of the ball",
                    ours=experiment.Estimate.of(moved),
                    most=0.01,
                    unit="m",
                )
            )
    grid[1, 0].set_ylabel("left [m]")
    _save(figure, path)
    return claims


def _kicked(case: _KickCase, seed: int, seconds: float = 5.0) -> Floats:
    """The path of a ball that is kicked, (T, 2) [m]."""
    world = _world(seed, {BLUE: (0.0, 0.0, 0.0)})
    world.place_ball(0, *case.ball)
    world.orders.legs[0, BLUE], world.orders.kick[0, BLUE] = Legs.KICK, case.kind
    way = [world.state.ball[0].copy()]
    for cycle in range(round(seconds / BEHAVIOURAL_CYCLE)):
        world.step()
        if cycle == 0:
            world.orders.legs[0, BLUE] = Legs.STAND
        way.append(world.state.ball[0].copy())
    return np.array(way)


# Figure 6


_Collision = tuple[
    str,
    "Mapping[int, tuple[float, float, float]]",
    "Mapping[int, tuple[float, float, float]]",
    "tuple[float, float, float, float] | None",
]
"""Name, poses and commanded walks by slot, and place and velocity of the ball."""


def _figure_6(path: Path, seeds: Sequence[int]) -> list[experiment.Claim]:
    """The five collisions from above; robots and ball leave their paths."""
    field = load_field(FIELD_NAME)
    post = _post(field)
    figure = _figure(13.0, 3.2)
    grid = figure.subplots(1, 5)
    ahead = (0.2, 0.0, 0.0)
    robots = {BLUE: (-0.4, 0.03, 0.0), PINK: (0.4, -0.03, math.pi)}
    cases: tuple[_Collision, ...] = (
        ("both robots move", robots, {BLUE: ahead, PINK: ahead}, None),
        ("one robot stands", robots, {BLUE: ahead}, None),
        ("goalpost", {BLUE: (post[0] - 0.5, post[1] + 0.03, 0.0)}, {BLUE: ahead}, None),
        ("rolling ball", {BLUE: (0.0, 0.0, math.pi)}, {}, (-0.9, 0.04, 1.2, 0.0)),
        ("ball at rest", {BLUE: (-0.4, 0.0, 0.0)}, {BLUE: ahead}, (0.0, 0.02, 0.0, 0.0)),
    )
    nearest: list[float] = []
    for axes, (name, places, wishes, ball) in zip(grid, cases, strict=True):
        ways, balls = _collision(seeds[0], places, wishes, ball)
        for slot, way in ways.items():
            colour = _BLUE_COLOUR if slot == BLUE else _PINK_COLOUR
            axes.plot(way[:, 0], way[:, 1], color=colour)
            _robot(axes, way[0, :3], colour, alpha=0.3)
            _robot(axes, way[-1, :3], colour)
        if ball is not None:
            axes.plot(balls[:, 0], balls[:, 1], ".-", color=BALL_COLOUR, markersize=3)
        if name == "goalpost":
            axes.plot(*post, "s", color="#b8860b", markersize=7)
        if len(ways) == 2:
            apart = np.hypot(*(ways[BLUE] - ways[PINK])[:, :2].T)
            nearest.append(float(apart[ways[BLUE][:, 3] + ways[PINK][:, 3] == 0].min()))  # while both are upright
        axes.set_title(name, fontsize=9)
        axes.set_aspect("equal", adjustable="datalim")
    _save(figure, path)
    through = sum(_passes_through(seed, 0.02 * (number % 5 - 2)) for number, seed in enumerate(seeds))
    width = 2 * load_behaviour("nao").body.torso_ahead
    return [
        experiment.Claim(
            what="figure 6: least distance of two robots that collide",
            ours=experiment.Estimate.exact(min(nearest)),
            least=width,
            unit="m",
        ),
        experiment.Claim(
            what="figure 6: share of rolling balls that pass through a robot",
            ours=experiment.Estimate.of_share(through, len(seeds)),
            most=0.2,
            digits=2,
        ),
    ]


def _post(field: FieldSettings) -> tuple[float, float]:
    """A post of the right goal [m]."""
    assert field.goal is not None
    return field.length / 2 + field.goal.post_offset, field.goal.inner_width / 2 + field.goal.post_radius


def _collision(
    seed: int,
    places: Mapping[int, tuple[float, float, float]],
    wishes: Mapping[int, tuple[float, float, float]],
    ball: tuple[float, float, float, float] | None,
    seconds: float = 4.0,
) -> tuple[dict[int, Floats], Floats]:
    """Paths of robots, (T, 4) by slot: x, y, heading and 1 of one that lies; and of the ball, (T, 2)."""
    world = _world(seed, places)
    if ball is not None:
        world.place_ball(0, *ball)
    for slot, wish in wishes.items():
        world.orders.legs[0, slot], world.orders.wish[0, slot] = Legs.WALK, wish
    ways: dict[int, list[Floats]] = {slot: [np.array([*place, 0.0])] for slot, place in places.items()}
    balls = [world.state.ball[0].copy()]
    for _ in range(round(seconds / BEHAVIOURAL_CYCLE)):
        world.step()
        balls.append(world.state.ball[0].copy())
        for slot, way in ways.items():
            lying = float(world.state.posture[0, slot] > Posture.KICKING)
            way.append(np.append(world.state.pose[0, slot], lying))
    return {slot: np.array(way) for slot, way in ways.items()}, np.array(balls)


def _passes_through(seed: int, aside: float) -> bool:
    """Whether a ball that rolls at a standing robot gets to its other side within the width of its feet."""
    ways, balls = _collision(seed, {BLUE: (0.0, 0.0, math.pi)}, {}, (-0.9, aside, 1.2, 0.0))
    behind = balls[balls[:, 0] > ways[BLUE][-1, 0] + 0.1]
    return bool(len(behind)) and abs(behind[0, 1]) < 0.05


# Figure 7


def _figure_7(path: Path, seeds: Sequence[int]) -> list[experiment.Claim]:
    """A robot that looks at its opponent, then away while that comes nearer, and then listens."""
    runs = [_beliefs(seed) for seed in seeds]
    figure = _figure(11.0, 3.4)
    grid = figure.subplots(1, 4)
    first = runs[0]
    shown = (("seen", 4, "seen"), ("out of sight", 24, "seen"), ("corrected by sonar", 24, "sonar"))
    for axes, (name, row, which) in zip(grid, shown, strict=False):
        _robot(axes, first["observer"], _PINK_COLOUR)
        _robot(axes, first["truth"][row], _BLUE_COLOUR)
        axes.plot(*first[which][row], "o", color=_BELIEF_COLOUR, markersize=16, fillstyle="none", label="belief")
        axes.set(title=f"{name}, {(row + 1) * BEHAVIOURAL_CYCLE:.1f} s", xlim=(-0.9, 0.6), ylim=(-0.6, 0.6))
        axes.set_aspect("equal")
    grid[0].legend(fontsize=7)
    times = (np.arange(len(first["truth"])) + 1) * BEHAVIOURAL_CYCLE
    for which, colour, label in (("seen", _BLUE_COLOUR, "last seen"), ("sonar", _BELIEF_COLOUR, "with sonar")):
        grid[3].plot(times, np.mean([run[f"{which}_error"] for run in runs], axis=0), color=colour, label=label)
    grid[3].axvline(_LOOKING_CYCLES * BEHAVIOURAL_CYCLE, color="0.6", lw=0.8, ls=":")
    grid[3].set(xlabel="time [s]", ylabel="error of the belief [m]", title="mean over seeds")
    grid[3].legend(fontsize=7)
    _save(figure, path)
    ends = {which: np.array([run[f"{which}_error"][-1] for run in runs]) for which in ("seen", "sonar")}
    early = [float(np.nanmean(run["seen_error"][:_LOOKING_CYCLES])) for run in runs]
    return [
        experiment.Claim(
            what="figure 7a: error of the belief while seen", ours=experiment.Estimate.of(early), most=0.15, unit="m"
        ),
        experiment.Claim(
            what="figure 7b: error out of sight", ours=experiment.Estimate.of(ends["seen"]), least=0.15, unit="m"
        ),
        experiment.Claim(
            what="figure 7c: error corrected by sonar", ours=experiment.Estimate.of(ends["sonar"]), most=0.15, unit="m"
        ),
    ]


_LOOKING_CYCLES = 6  # how many cycles the observer looks at its opponent before it looks away
_BELIEF_CYCLES = 26
_SENSES = ("seen", "sonar")  # what the observer has: eyes alone, or eyes and sonars


def _beliefs(seed: int) -> dict[str, Any]:
    """Beliefs of the pink robot about the approaching blue one, with and without its sonar."""
    observer = (0.3, 0.0, math.pi)
    world = _world(seed, {PINK: observer, BLUE: (-0.6, -0.1, 0.05)})
    eyes, field = load_eyes("nao"), load_field(FIELD_NAME)
    vision = Vision(eyes, field, ball_radius=world.ball_radius, count=1)
    sonar = Sonar(eyes, field, count=1)
    trackers = {which: Tracker(eyes, field, ball_radius=world.ball_radius, rolling=0.0, count=1) for which in _SENSES}
    for tracker in trackers.values():
        tracker.placed(0, PINK, np.array(observer))
    world.orders.legs[0, BLUE], world.orders.wish[0, BLUE] = Legs.WALK, (0.2, 0.0, 0.0)
    found: dict[str, list[Any]] = {"truth": [], **{which: [] for which in _SENSES}}
    for cycle in range(_BELIEF_CYCLES):
        if cycle == _LOOKING_CYCLES:  # the head turns as far to the side as it can
            world.orders.look[0, PINK] = math.radians(110), 0.0
        if cycle >= _BELIEF_CYCLES - 8:
            world.orders.legs[0, BLUE] = Legs.STAND
        world.step()
        seen, heard = vision.see(world.state), sonar.listen(world.state)
        found["truth"].append(world.state.pose[0, BLUE].copy())
        for which, tracker in trackers.items():
            tracker.update(world.state, seen, sonar=heard if which == "sonar" else None)
            found[which].append(_believed_opponent(tracker, PINK))
    truth = np.array(found["truth"])
    errors = {f"{w}_error": np.hypot(*(np.array(found[w]) - truth[:, :2]).T) for w in _SENSES}
    return {"observer": observer, **found, **errors}


def _believed_opponent(tracker: Tracker, slot: int) -> Floats:
    """(2,) where a player believes the opponent of which it knew last; on the pitch, m."""
    opponents = tracker.belief(0, slot, 0.0).opponents
    return np.asarray(side_of_slot(slot).sign * opponents.places[int(np.argmin(opponents.ages))])


# Figure 8


def _figure_8(path: Path, pictures: _Pictures, seed: int, seconds: float) -> dict[str, Any]:
    """Six moments of a match, and what the upper camera of a pink robot shows then."""
    game = BehaviourGame(load_rules("spl2011"), seed=seed, left="blue", right="pink")
    with game:
        players = game.team("blue", strategy_decide("roles")) | game.team("pink", strategy_decide("everyone-aims"))
        loop = GameLoop(game, players)
        figure = _figure(12.0, 3.8)
        grid = figure.subplots(2, 6)
        for column in range(6):
            loop.run(round(seconds / 6 / BEHAVIOURAL_CYCLE))
            state = game.world.state
            _draw_state(grid[0, column], state, game.world.field)
            grid[0, column].set_title(f"{(column + 1) * seconds / 6:.0f} s", fontsize=9)
            grid[1, column].imshow(pictures.of(state, PINK)[0])
            grid[1, column].set_axis_off()
        _save(figure, path)
        score = "{}:{}".format(*game.state.score)
    return {"seconds": seconds, "score": score}


def _draw_state(axes: Axes, state: MatchesState, field: FieldSettings) -> None:
    axes.set_facecolor("#e6f2e6")
    for (x1, y1), (x2, y2) in field.lines():
        axes.plot((x1, x2), (y1, y2), color="white", lw=1.5)
    for slot in np.flatnonzero(state.present[0]).tolist():
        _robot(axes, state.pose[0, slot].tolist(), _BLUE_COLOUR if slot < PINK - 1 else _PINK_COLOUR)
    axes.plot(*state.ball[0], "o", color=BALL_COLOUR, markersize=4)
    axes.set_aspect("equal")
    axes.set(xlim=(-3.3, 3.3), ylim=(-2.3, 2.3), xticks=[], yticks=[])
