"""Continuous self-modelling: a robot notices that its body has changed, finds out how, and adapts.

    answer = run(Path("runs/self-modelling"), Settings(seeds=5, threads=2))
    answer["lives"][0]["windows"]               # time and again: error of the self-model, alarm, speed
    answer["halves"][0]["arms"]["self-model"]   # in a match: alarms, what was identified, speed, falls a minute

Zagal, Delpiano and Ruiz-del-Solar (2009) name it as the aim of self-modelling: a model of the own body that is kept
up to date while the robot acts. An ERS-7 walks ten times, for two and a half seconds each. After the fourth walk the
joints of one leg get stiff, as with sand in the gears; the leg and the friction are hidden. The robot knows its
commands and reads its joint angles with noise. After each walk it compares its measurements with the predictions of
its self-model for these commands:

1. An error above `ALARM_RATIO` times the usual one is an alarm: the body differs from the self-model.
2. The friction of each leg's joints is estimated from the measurements of that one walk by least squares.
3. A short search by CMA-ES in the new self-model changes the trot; no trial in reality is spent on it.

The controls are the same robot without a self-model, and one that is given its true body when it changes (`told`). They
bound the possible gain: some of the speed is lost for good.

The second part is a match. A player of the built-in team (`nao-spark`, two against two) is damaged at a hidden time of
a half: one of its knees turns with a fraction of its commanded speed from then on. Its self-model says how far each
joint turns in a cycle: as its drive was commanded two observations ago, times the strength of the drive, 1 for a sound
one. `WatchfulPlayer` compares this with what it measures, with noise, while it is on its feet by its gyro and
accelerometer. Feet that strike the ground disturb single cycles, so the error of a joint is the median of a second; one
above `ERROR_LIMIT` is an alarm. Three seconds later the strengths of all drives are found by least absolute residuals
from these seconds, and the commands of the joint that explains most are divided by its strength. The same half is
played three times: undamaged, damaged, and damaged with a self-model. Until the damage all three are the same to the
last bit.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.constants import CONTROL_CYCLE
from nutmeg.experiments import experiment
from nutmeg.experiments.back_to_reality.hidden_fit import Disturbance, hidden_fit
from nutmeg.match.game import Game, PhysicalSetup
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.deciding_player import DecidingPlayer, by_number, make_team
from nutmeg.match.players.request import Walk
from nutmeg.match.rules.book import rules_on
from nutmeg.match.worlds.physical.percept import JOINTS, WITHOUT_TOES
from nutmeg.reality.btr.controllers import Controllers, ControllerSettings, make_controllers
from nutmeg.reality.twin import Searched, Twin, TwinSettings
from nutmeg.search import Budget, InThisThread, minimise
from nutmeg.search.least_squares import LeastSquares, LeastSquaresSettings
from nutmeg.search.searchers import CmaEs, CmaEsSettings
from nutmeg.search.space import Dimension, Space

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.random import Generator

    from nutmeg.base.arrays import Floats
    from nutmeg.match.worlds.physical.percept import Action, Percept

LEGS = {"left fore": "LFr", "right fore": "RFr", "left hind": "LBk", "right hind": "RBk"}
"""The legs, and how the names of their joints begin."""
SEARCHED = {
    leg: Searched(low=0.01, high=6.0, start=0.02, scale="log", unit="N m s/rad", sets=(f"joint.{begin}:*.damping",))
    for leg, begin in LEGS.items()
}
"""The self-model: damping of the joints of each leg."""
WORN = (2.0, 4.0)
"""The damping of the leg that changes is drawn from this range [N m s/rad]."""
TROT = ControllerSettings(
    kind="trot",
    search=("step_x", "frequency", "duty", "lift_*", "height_*", "ahead_*"),
    velocity=(0.3, 0.0, 0.0),
    seconds=2.5,
)
DISTURBANCE = Disturbance(command=0.002, angle=0.002)
WINDOWS, CHANGE = 10, 4
"""Number of walks, and index of the first walk with the changed body."""
LEARNT = 3
"""Number of first walks from which the usual error is estimated."""
ALARM_RATIO = 1.5
"""Ratio of an error to the largest usual one from which on it is an alarm."""
EVALUATIONS = 120
"""Candidates of the identification."""
POPULATION, GENERATIONS, STEP = 12, 8, 0.1
"""Population and generations of the search of the trot; the first standard deviation, as a share of each range."""
LIFE_KEY, SEARCH_KEY, HALF_KEY, NOISE_KEY = range(4)
"""Keys of the seeds, one for each use."""


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means one life with a shorter search of the trot, and one half of 40 s."""

    seed: int = 0
    seeds: int = 5
    """Number of lives, and of halves: hidden changes and noise."""


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Lives through all seeds and plays their halves; draws the first of each."""
    effort, seconds = ((8, 4), 40.0) if settings.quick else ((POPULATION, GENERATIONS), 60.0)
    numbers = range(settings.seed, settings.seed + settings.seeds)
    jobs = [experiment.SeedJob(out / "halves", seed, {"half": seconds}, partial(half, seconds)) for seed in numbers]
    jobs += [experiment.SeedJob(out / "lives", seed, {"effort": effort}, partial(live, effort)) for seed in numbers]
    done = experiment.finish_jobs(jobs, settings.threads, say)
    halves, lives = done[: len(numbers)], done[len(numbers) :]
    _draw(out / "life.png", lives[0])
    _draw_half(out / "match.png", halves[0])
    claims = _claims(lives) + _match_claims(halves)
    return {
        "experiment": "self-modelling",
        "lives": lives,
        "halves": halves,
        "claims": [one.as_json() for one in claims],
        "goals": [one.as_json() for one in experiment.goals_of(claims)],
    }


def live(effort: tuple[int, int], seed: int) -> dict[str, Any]:
    """One life: what happened each time the robot set off, and what it found out."""
    rng = np.random.default_rng([seed, LIFE_KEY])
    twin = Twin(TwinSettings(robot="ers7"), SEARCHED)
    controllers = make_controllers(TROT, twin)
    names, healthy, usual_trot = list(LEGS), twin.space.start, controllers.space.start
    leg = int(rng.integers(len(names)))
    worn = healthy.copy()
    worn[leg] = rng.uniform(*WORN)
    search = np.random.default_rng([seed, SEARCH_KEY])
    told_trot = adapted(twin, controllers, worn, effort, search)
    model, trot, usual, alarms = healthy, usual_trot, list[float](), list[dict[str, Any]]()
    windows = []
    for number in range(WINDOWS):
        body = worn if number >= CHANGE else healthy
        told = told_trot if number >= CHANGE else usual_trot
        speeds = [speed(twin, controllers, body, one) for one in (trot, usual_trot, told)]
        cost = hidden_fit(twin, body, controllers.trials(trot[None]), DISTURBANCE, rng)
        error = float(cost(model[None])[0])
        limit = ALARM_RATIO * max(usual) if len(usual) >= LEARNT else None
        alarm = limit is not None and error > limit
        windows.append(
            {
                "error": error,
                "limit": limit,
                "alarm": alarm,
                **dict(zip(("self", "without", "told"), speeds, strict=True)),
            }
        )
        if not alarm:
            usual.append(error)
            continue
        searcher = LeastSquares(twin.space, LeastSquaresSettings(), search)
        found = minimise(cost.rows, searcher, InThisThread(), budget=Budget(evaluations=EVALUATIONS), seed=seed)
        model = found.estimate
        trot = adapted(twin, controllers, model, effort, search)
        alarms.append({"window": number, "estimate": twin.space.named(model)})
        usual = [float(cost(model[None])[0])] * LEARNT
    return {
        "leg": names[leg],
        "damping": float(worn[leg]),
        "windows": windows,
        "alarms": alarms,
        "found": bool(alarms) and max(alarms[-1]["estimate"], key=lambda n: alarms[-1]["estimate"][n]) == names[leg],
        "estimate": float(model[leg]),
    }


def adapted(twin: Twin, controllers: Controllers, body: Floats, effort: tuple[int, int], rng: Generator) -> Floats:
    """The trot that goes farthest straight ahead in a body (k,), searched in simulation from the usual one."""
    population, generations = effort

    def value(rows: Floats, _: Sequence[Generator]) -> list[float]:
        return [-progress for progress in _progress(twin, controllers, body, rows)]

    searcher = CmaEs(controllers.space, CmaEsSettings(population=population, step=STEP), rng)
    return minimise(value, searcher, InThisThread(), budget=Budget(generations=generations)).best.candidate


def speed(twin: Twin, controllers: Controllers, body: Floats, trot: Floats) -> float:
    """Speed straight ahead of a body with a trot, without noise [m/s]."""
    return float(_progress(twin, controllers, body, trot[None])[0] / TROT.seconds)


def _progress(twin: Twin, controllers: Controllers, body: Floats, trots: Floats) -> list[float]:
    """Distance ahead minus distance aside of trots (n, c) [m]."""
    found = []
    for rollout in twin.simulate(body[None], controllers.trials(trots)):
        assert rollout.pose is not None
        path = rollout.pose[0, : max(int(rollout.frames[0]), 1), :2]
        ahead, left = (path[-1] - path[0]).tolist()
        found.append(ahead - abs(left) if np.isfinite(ahead + left) else -1.0)
    return found


# ----------------------------------------------------------------------------------------------------
# A match: a knee of a player gets weak in the middle of a half.


KNEES = ("llj4", "rlj4")
WEAK = (0.25, 0.45)
"""The strength of the knee that is damaged is drawn from this range."""
DAMAGED_AT = (0.3, 0.4)
"""When it is damaged, as a share of the half."""
ARMS = ("undamaged", "damaged", "self-model")
WALK, FIELD, PLAYERS, NUMBER = "policy", "sim3d-12x8", 2, 2
"""Walk of all robots, the pitch, robots of a team, and the number of the one that is watched; 1 is the keeper."""
SOUND = np.ones(WITHOUT_TOES)
"""Strengths of the drives of a sound robot, in the order of `JOINTS`."""
WATCHED_CYCLES = 50
"""Newest cycles on its feet over which the median error of each joint is taken."""
CHECK_CYCLES = 10
"""Cycles on its feet from one look at the error to the next."""
ERROR_LIMIT = 0.44
"""Error of a joint that is an alarm [rad/s]: 1.5 times the largest in undamaged halves of 100 s, seeds 100 to 102."""
IDENTIFIED_CYCLES = 150
"""Newest cycles on its feet from which strengths are identified; the alarm is that long before."""
COMMAND_CYCLES = 2
"""Observations from one that is answered with a command to the first that shows how it moved the joints."""
NOTICED_WITHIN = 5.0
"""A change is noticed in time within this time [s]."""
RUNNING_SPEED = 0.4
"""A player that asks for more than this is running [m/s]."""


class WatchfulPlayer:
    """A player that compares what its drives do with its model of them.

    Args:
        player: the player that plays.
        rng: for the noise of the joint angles that the self-model gets.
        adapts: whether it identifies its drives after an alarm and compensates what they have lost.
    """

    def __init__(self, player: DecidingPlayer, rng: Generator, *, adapts: bool) -> None:
        self.player, self.robot_type, self._rng, self._adapts = player, player.robot_type, rng, adapts
        self.strengths = SOUND.copy()
        """The self-model: the share of the commanded speed with which each drive turns."""
        self.errors: list[tuple[float, float]] = []
        """Times and errors of the self-model [s, rad/s]."""
        self.alarms: list[float] = []
        """Times of alarms; those after the first one only if it has adapted in between."""
        self.identified: list[tuple[float, str, float]] = []
        """Time, joint and strength of each identification."""
        self._commands: deque[Floats] = deque(maxlen=COMMAND_CYCLES)
        self._angles: deque[Floats] = deque(maxlen=2)
        self._log: deque[tuple[Floats, Floats]] = deque(maxlen=IDENTIFIED_CYCLES)
        self._steady = self._fresh = 0

    def act(self, percept: Percept) -> Action:
        """The action of the player; its sensors and its commands go into the log."""
        action = self.player.act(percept)
        assert action.speeds is not None
        noise = DISTURBANCE.angle * self._rng.standard_normal(WITHOUT_TOES)
        self._angles.append(np.radians(percept.angles[:WITHOUT_TOES]) + noise)
        self._steady = self._steady + 1 if self.player.limbs.upright else 0
        if self._steady > COMMAND_CYCLES:
            self._log.append((self._commands[0], np.subtract(*reversed(self._angles)) / CONTROL_CYCLE))
            self._watch(percept.time)
        self._commands.append(action.speeds[:WITHOUT_TOES].copy())
        return action

    def _watch(self, time: float) -> None:
        """Raises an alarm if the self-model errs, and identifies the drives some time after one."""
        self._fresh += 1
        if len(self._log) < WATCHED_CYCLES or self._fresh % CHECK_CYCLES:
            return
        commands, speeds = (np.array(one) for one in zip(*self._log, strict=True))
        differences = (speeds - self.strengths * commands)[-WATCHED_CYCLES:]
        error = float(np.median(np.abs(differences), axis=0).max())
        self.errors.append((time, error))
        if len(self.alarms) == len(self.identified) and error > ERROR_LIMIT:
            self.alarms.append(time)
            self._fresh = 0  # what is identified from must all have been measured after the alarm
        elif self._adapts and len(self.alarms) > len(self.identified) and self._fresh >= IDENTIFIED_CYCLES:
            found = identified(commands, speeds)
            before, after = (np.abs(speeds - one * commands).sum(axis=0) for one in (self.strengths, found))
            joint = int((before - after).argmax())
            self.strengths[joint] = found[joint]
            self.identified.append((time, JOINTS[joint], float(found[joint])))
            self.player.limbs.compensate(self.strengths)
            self._log.clear()


def identified(commands: Floats, speeds: Floats) -> Floats:
    """The strengths of drives, (22,), from their commands and the speeds of their joints, (T, 22) [rad/s]."""
    space = Space({joint: Dimension(low=0.02, high=1.2, start=1.0) for joint in JOINTS[:WITHOUT_TOES]})

    def residuals(rows: Floats, _: Sequence[Generator]) -> Floats:
        return np.asarray(speeds - rows[:, None] * commands).reshape(len(rows), -1)

    searcher = LeastSquares(space, LeastSquaresSettings(starts=1), np.random.default_rng(0), loss="absolute")
    return minimise(residuals, searcher, InThisThread(), budget=Budget(evaluations=EVALUATIONS)).estimate


def half(seconds: float, seed: int) -> dict[str, Any]:
    """The same half three times, of a length [s]: what the watched player noticed, found out, and still could do."""
    rng = np.random.default_rng([seed, HALF_KEY])
    joint, strength = str(rng.choice(KNEES)), float(rng.uniform(*WEAK))
    damaged_at = seconds * float(rng.uniform(*DAMAGED_AT))
    played = {arm: _played(arm, (joint, strength, damaged_at), seconds, seed) for arm in ARMS}
    return {"seed": seed, "joint": joint, "strength": strength, "damaged_at": damaged_at, "arms": played}


def _played(arm: str, damage: tuple[str, float, float], seconds: float, seed: int) -> dict[str, Any]:
    """One half; speeds and falls are counted from the damage on, whether or not it comes."""
    joint, strength, damaged_at = damage
    rules = rules_on("sim3d", FIELD).with_match(
        players=PLAYERS, half_length=seconds, halves=1, automatic_kick_off=True, wait_before_kick_off=2.0
    )
    reds, blues = (make_team(WALK, PLAYERS, team=team, types=(0,), field=FIELD) for team in ("reds", "blues"))
    player = reds[NUMBER - 1]
    watchful = WatchfulPlayer(player, np.random.default_rng([seed, NOISE_KEY]), adapts=arm == "self-model")
    began, falls, running = None, 0, list[float]()
    with Game(
        rules, seed=seed, left="reds", right="blues", seats=2 * PLAYERS, setup=PhysicalSetup(field=FIELD)
    ) as game:
        driver = GameLoop(game, {**by_number(reds, blues), ("reds", NUMBER): watchful})
        slot = driver.slot("reds", NUMBER)

        def on_cycle(_: GameLoop) -> None:
            nonlocal began, falls
            if began is None and game.state.time >= damaged_at:
                began, falls = game.time, player.limbs.falls
                if arm != "undamaged":
                    game.world.weaken(slot, joint, strength)
            legs = player.request.legs
            asked = float(np.hypot(legs.ahead, legs.left)) if isinstance(legs, Walk) else 0.0
            if began is not None and asked > RUNNING_SPEED and player.limbs.upright:
                running.append(float(np.hypot(*game.world.velocity[slot])))

        driver.run(on_cycle=on_cycle)
        assert began is not None
        return {
            "began": began,
            "speed": float(np.mean(running)) if running else 0.0,
            "falls": (player.limbs.falls - falls) * 60.0 / (game.time - began),
            "alarms": watchful.alarms,
            "identified": watchful.identified,
            "errors": watchful.errors,
        }


def _after(life: Mapping[str, Any], who: str) -> float:
    """The mean speed after the change and, where one came, after the last alarm."""
    first = max([CHANGE, *(alarm["window"] + 1 for alarm in life["alarms"])])
    return float(np.mean([one[who] for one in life["windows"][min(first, WINDOWS - 1) :]]))


def _claims(lives: Sequence[Mapping[str, Any]]) -> list[experiment.Claim]:
    """Claims that changes are noticed at once and explained, and that this helps; the limits are our own."""
    count = len(lives)
    noticed = sum(any(one["alarm"] for one in life["windows"][CHANGE : CHANGE + 2]) for life in lives)
    false = sum(any(one["alarm"] for one in life["windows"][:CHANGE]) for life in lives)
    found = sum(bool(life["found"]) for life in lives)
    gains = [_after(life, "self") - _after(life, "without") for life in lives]
    of_share = experiment.Estimate.of_share
    return [
        experiment.Claim(what="changes noticed within two windows: share", ours=of_share(noticed, count), least=0.8),
        experiment.Claim(what="lives with an alarm before the change: share", ours=of_share(false, count), most=0.2),
        experiment.Claim(what="the leg that changed was found: share", ours=of_share(found, count), least=0.8),
        experiment.Claim(
            what="speed with a self-model less that without one",
            ours=experiment.Estimate.of(gains),
            least=0.0,
            unit="m/s",
        ),
    ]


def _noticed_after(one: Mapping[str, Any]) -> float:
    """Time from the damage to the first alarm after it [s]; infinite without one."""
    played = one["arms"]["self-model"]
    return min((alarm - played["began"] for alarm in played["alarms"] if alarm >= played["began"]), default=np.inf)


def _last_found(one: Mapping[str, Any]) -> tuple[str, float]:
    """The joint and the strength that were identified last; no joint if none was."""
    found = one["arms"]["self-model"]["identified"]
    return (str(found[-1][1]), float(found[-1][2])) if found else ("", 1.0)


def _match_claims(halves: Sequence[Mapping[str, Any]]) -> list[experiment.Claim]:
    """The same claims for the player of a match."""
    count, of_share = len(halves), experiment.Estimate.of_share
    noticed = sum(_noticed_after(one) <= NOTICED_WITHIN for one in halves)
    false = sum(bool(one["arms"]["undamaged"]["alarms"]) for one in halves)
    right = sum(_last_found(one)[0] == one["joint"] for one in halves)
    misses = [abs(_last_found(one)[1] - one["strength"]) for one in halves]

    def gain(what: str) -> experiment.Estimate:
        arms = (one["arms"] for one in halves)
        return experiment.Estimate.of([one["self-model"][what] - one["damaged"][what] for one in arms])

    return [
        experiment.Claim(
            what=f"match: damage noticed within {NOTICED_WITHIN:g} s: share", ours=of_share(noticed, count), least=0.8
        ),
        experiment.Claim(what="match: undamaged halves with an alarm: share", ours=of_share(false, count), most=0.2),
        experiment.Claim(what="match: the damaged joint was found: share", ours=of_share(right, count), least=0.8),
        experiment.Claim(what="match: error of the strength", ours=experiment.Estimate.of(misses), most=0.05),
        experiment.Claim(
            what="match: speed with a self-model less that without one", ours=gain("speed"), least=0.0, unit="m/s"
        ),
        experiment.Claim(
            what="match: falls a minute with a self-model less those without", ours=gain("falls"), most=0.0, digits=2
        ),
    ]


def _draw(path: Path, life: Mapping[str, Any]) -> None:
    from matplotlib.figure import Figure

    from nutmeg.view.reports.plots import save_png

    times = np.arange(1, WINDOWS + 1)

    def draw(figure: Figure) -> None:
        speeds, errors = figure.subplots(2, 1, sharex=True)
        for who, label in (("self", "with a self-model"), ("without", "without"), ("told", "told its body")):
            speeds.plot(times, [one[who] for one in life["windows"]], "o-", label=label)
        errors.plot(times, [one["error"] for one in life["windows"]], "o-", label="error of the self-model")
        limits = [np.nan if one["limit"] is None else one["limit"] for one in life["windows"]]
        errors.plot(times, limits, "--", color="grey", label="alarm")
        for panel in (speeds, errors):
            panel.axvline(CHANGE + 0.5, color="black", lw=0.8)
            panel.grid(alpha=0.3)
            panel.legend(fontsize=8)
        speeds.set_ylabel("speed [m/s]")
        errors.set_ylabel("rms of joint angles")
        errors.set_xlabel(f"time that the robot sets off; then the {life['leg']} leg becomes hard to move")

    save_png(path, draw, (7.5, 5.5))


def _draw_half(path: Path, one: Mapping[str, Any]) -> None:
    from matplotlib.figure import Figure

    from nutmeg.view.reports.plots import save_png

    def draw(figure: Figure) -> None:
        panel = figure.subplots()
        for arm in ARMS:
            panel.plot(*zip(*one["arms"][arm]["errors"], strict=True), lw=1.0, label=arm)
        played = one["arms"]["self-model"]
        panel.axhline(ERROR_LIMIT, ls="--", color="grey", label="alarm")
        panel.axvline(played["began"], color="black", lw=0.8)
        for time, joint, strength in played["identified"]:
            panel.axvline(time, color="black", lw=0.8, ls=":")
            panel.annotate(f"found: {joint}, {strength:.2f}", (time, panel.get_ylim()[1]), va="top", fontsize=8)
        panel.set_xlabel(f"time [s]; at the line {one['joint']} gets weak, to {one['strength']:.2f} of its speed")
        panel.set_ylabel("error of the self-model [rad/s]")
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8)

    save_png(path, draw, (7.5, 3.6))


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """A row for each life, and one for each half of a match."""
    rows: list[dict[str, Any]] = [
        {
            "what": f"ERS-7, {life['leg']} leg",
            "change": life["damping"],
            "found": f"{life['estimate']:.2f}" if life["found"] else "another leg",
            "before": float(np.mean([one["self"] for one in life["windows"][:CHANGE]])),
            **{who: _after(life, who) for who in ("self", "without", "told")},
            "noticed": "time " + (", ".join(str(alarm["window"] + 1) for alarm in life["alarms"]) or "never"),
            "falls": "",
        }
        for life in answer["lives"]
    ]
    for one in answer["halves"]:
        undamaged, damaged, modelled = (one["arms"][arm] for arm in ARMS)
        joint, strength = _last_found(one)
        rows.append(
            {
                "what": f"match, {one['joint']}",
                "change": one["strength"],
                "found": f"{strength:.2f}" if joint == one["joint"] else joint or "nothing",
                "noticed": f"after {_noticed_after(one):.1f} s",
                "before": None,
                "without": damaged["speed"],
                "self": modelled["speed"],
                "told": undamaged["speed"],
                "falls": " ".join(f"{arm['falls']:.1f}" for arm in (damaged, modelled, undamaged)),
            }
        )
    columns = {
        "what changes": experiment.text("what"),
        "to": experiment.decimal("change", 2),
        "found": experiment.text("found"),
        "alarm": experiment.text("noticed"),
        "speed before [m/s]": experiment.decimal("before"),
        "after: without": experiment.decimal("without"),
        "self-model": experiment.decimal("self"),
        "told, undamaged": experiment.decimal("told"),
        "falls a minute": experiment.text("falls"),
    }
    return experiment.ResultTable.of(
        rows,
        columns,
        f"ERS-7: its body changes before time {CHANGE + 1} of {WINDOWS}; damping in N m s/rad; speeds straight ahead "
        "after the last alarm. Match: strength of a knee; speeds while the player wants to run, and falls without a "
        "self-model, with one, and undamaged, from the damage to the end of the half.",
        *experiment.claim_notes(answer["claims"]),
        *experiment.goal_notes(answer["goals"]),
    )
