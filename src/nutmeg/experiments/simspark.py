"""Another engine as reality: `nao-spark` fitted to recordings of the 3D simulation league's own server (ODE physics).

    answer = run(Path("runs/simspark"), Settings(quick=True))
    answer["table"]                             # before, with the latency alone, after, and the profile `league`

Contacts, drives, time step and delay of `nao-spark` are found from a few walks and kicks, starting from
the profile `fine`: steps of 5 ms, contacts as other robots have them, no delay. Then the commands of walks and kicks
that the fit never saw are replayed from their recorded starts, where the robot stands still and its whole state is
known; nothing corrects the replay. The profile `league`, printed beside, was fitted by hand to the same recordings
(and has the server's own numbers in it), so it is no independent test. `replay_errors` says what the errors are.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import gzip
import io
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from nutmeg.base.angles import roll_pitch_yaw, rotated, wrap_angle
from nutmeg.base.errors import FileError, UsageError
from nutmeg.experiments import experiment
from nutmeg.experiments.experiment import text
from nutmeg.model import Placement, SceneSettings, assemble
from nutmeg.reality.identify.identification import Identification, Identified
from nutmeg.reality.identify.settings import read_identify
from nutmeg.reality.logs.replay import MeasuredTrial, WindowSettings, found_files, read_trials
from nutmeg.reality.observation import TORSO_ANGLES, TORSO_RATES, angular_rates
from nutmeg.reality.twin import Searched, Twin
from nutmeg.search.evaluation import InThisThread, Threads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.reality.identify.settings import IdentifySettings
    from nutmeg.search.run import Generation
    from nutmeg.sim.rollout import Rollout


# Recordings of the 3D simulation league's server, cut into trials that can be replayed on `nao-spark`.
#
# A log has a row for each cycle of 20 ms: the joint speeds that an agent sent, and what it observed in that cycle
# (joint angles, gyro, every third cycle the true place of its head). `cut_log` keeps of each trial the part from
# standing still on:
#
# | column                        | what it is                                                                        |
# |-------------------------------|-----------------------------------------------------------------------------------|
# | `time_s`                      | 100 s times the number of the trial, plus 0.02 s a row; the first row is one cycle |
# |                               | before the trial                                                                  |
# | `JOINT_cmd_rad_s`             | as sent, but cut off at 6.1395 rad/s, as the server does                          |
# | `JOINT_deg`                   | as recorded                                                                       |
# | `gyro_x_deg_s` ...            | as recorded, in our axes (x forward, y left; the server's x is right)              |
# | `roll_deg`, `pitch_deg`, `yaw_deg` | turn of the torso: the gyro added up from upright                            |
# | `torso_x_m` ...               | place of the torso relative to the start and its heading, from the head's         |
# | `start_z_m`                   | height of the torso with the feet on the ground                                   |
#
# That the torso is upright at the start was checked: the accelerometer is within 0.2 degrees of it in all twenty
# trials. The server's gyro is the speed with which it has just turned the torso, so that adding it up loses nothing but
# decimals: the heading of the head that follows from it stays within 0.1 degrees (standard deviation) of the one that
# the server reports.


_SERVER_CYCLE = 0.02
"""Length of a cycle of the server [s]."""
_TRIAL_SPACING = 100.0
"""Time between the starts of two trials in the time column [s]."""
MAX_COMMAND = 6.1395
"""The server cuts off faster commands [rad/s]; cut off here, so that a delay mixes what the motors really got."""
HEAD_OFFSET = np.array([0.0, 0.0, 0.155])
"""Centre of the head from that of the torso: neck 0.09 m up, head 0.065 m further (naoneckhead.rsg) [m]."""
JOINTS = (
    *("hj1", "hj2"),
    *(f"{side}aj{i}" for side in "rl" for i in range(1, 5)),
    *(f"{side}lj{i}" for side in "rl" for i in range(1, 7)),
)
"""Joints of robot type 0, in the order of the log."""
TRIAL_COLUMNS = (
    "time_s",
    *(f"{joint}_cmd_rad_s" for joint in JOINTS),
    *(f"{joint}_deg" for joint in JOINTS),
    *("gyro_x_deg_s", "gyro_y_deg_s", "gyro_z_deg_s"),
    *("roll_deg", "pitch_deg", "yaw_deg"),
    *("torso_x_m", "torso_y_m", "torso_z_m"),
    "start_z_m",
)


def cut_log(source: Path, target: Path, *, modes: Sequence[str], seconds: float) -> int:
    """Writes the trials of a log to a CSV file.

    Args:
        source: the log, `.csv` or `.csv.gz`.
        target: where to write; packed if it ends in `.gz`.
        modes: play modes that a trial may have; it begins with the first row of one of them.
        seconds: how much of each trial is kept.

    Returns:
        How many trials there are.
    """
    rows = _log_rows(source)
    inside = [row["playmode"] in modes for row in rows]
    starts = [i for i in range(1, len(rows)) if inside[i] and not inside[i - 1]]
    if not starts:
        found = ", ".join(sorted({row["playmode"] for row in rows}))
        raise FileError(
            source, f"has no row with the play mode {' or '.join(modes)}. It has {found or 'no rows at all'}."
        )
    heights = _Heights()
    lines = [",".join(TRIAL_COLUMNS)]
    for number, first in enumerate(starts):
        length = round(seconds / _SERVER_CYCLE) + 2
        lines += _lines(rows[first - 1 : first - 1 + length], _TRIAL_SPACING * number, heights)
    data = ("\n".join(lines) + "\n").encode()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(_packed(data) if target.suffix == ".gz" else data)
    return len(starts)


def _log_rows(source: Path) -> list[dict[str, str]]:
    try:
        packed = source.read_bytes()
        text = (gzip.decompress(packed) if source.suffix == ".gz" else packed).decode()
        rows = list(csv.DictReader(io.StringIO(text)))
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise FileError(source, f"cannot be read: {error}. Check the path, or fetch the file anew.") from None
    needed = {"playmode", "gyr_x", "mypos_x", "myorien_deg", *(f"{joint}_deg" for joint in JOINTS)}
    if missing := sorted(needed - set(rows[0] if rows else ())):
        raise FileError(source, f"has no column {missing[0]!r}: it is no log of the league's server.")
    return rows


def _packed(data: bytes) -> bytes:
    """Packed without the time of packing, so that the same trials make the same file."""
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0, compresslevel=9) as file:
        file.write(data)
    return buffer.getvalue()


def _lines(rows: list[dict[str, str]], offset: float, heights: _Heights) -> list[str]:
    """The lines of one trial."""

    def series(*columns: str) -> Floats:
        return np.array([[float(row[c]) if row[c] else np.nan for c in columns] for row in rows])

    commands = series(*(f"{joint.replace('j', 'e')}_cmd_rad_s" for joint in JOINTS)).clip(-MAX_COMMAND, MAX_COMMAND)
    angles = series(*(f"{joint}_deg" for joint in JOINTS))
    gyro = series("gyr_y", "gyr_x", "gyr_z") * [1, -1, 1]
    turned = _added_up(np.radians(gyro))
    heading = _heading(np.radians(series("myorien_deg")[:, 0]), np.radians(angles[:, :2]), turned)
    places = _torso(series("mypos_x", "mypos_y", "mypos_z"), heading, turned)
    height = heights.of(np.radians(angles[0]))
    places[0] = 0.0, 0.0, height  # where it starts, by definition
    parts = (
        ("{:.2f}", offset + _SERVER_CYCLE * np.arange(len(rows))[:, None]),
        ("{:.4f}", commands),
        ("{:.2f}", angles),
        ("{:.2f}", gyro),
        ("{:.3f}", np.degrees(roll_pitch_yaw(turned))),
        ("{:.3f}", places),
        ("{:.5f}", np.full((len(rows), 1), height)),
    )
    cells = [[_cell(form, value) for form, values in parts for value in values[i]] for i in range(len(rows))]
    return [",".join(row) for row in cells]


def _cell(form: str, value: float) -> str:
    return "" if np.isnan(value) else form.format(value + 0.0)


def _added_up(gyro: Floats) -> Floats:
    """Quaternions (T, 4) of a torso that is upright in row 0, from its rates in its own frame, (T, 3) [rad/s]."""
    now = np.array([1.0, 0.0, 0.0, 0.0])
    out = [now.copy()]
    for rate in gyro[1:]:
        mujoco.mju_quatIntegrate(now, rate, _SERVER_CYCLE)
        out.append(now.copy())
    return np.array(out)


def _heading(headings: Floats, neck: Floats, turned: Floats) -> float:
    """Initial heading of the torso, from the head's headings (T,), neck angles (T, 2) and the turns since."""
    c, s = np.cos(neck), np.sin(neck)
    forward = np.stack([c[:, 0] * c[:, 1], s[:, 0] * c[:, 1], s[:, 1]], axis=-1)  # of the head, seen from the torso
    seen = rotated(turned, forward)
    since = np.exp(1j * (headings - np.arctan2(seen[:, 1], seen[:, 0])))
    if np.isnan(since).all():
        raise UsageError("a trial has no row with the heading of the head.")
    return float(np.angle(np.nanmean(since)))


def _torso(heads: Floats, heading: float, turned: Floats) -> Floats:
    """Positions of the torso in the frame of its start, (T, 3); NaN where the log has no position of the head."""
    first = int(np.flatnonzero(np.isfinite(heads[:, 0]))[0])
    c, s = np.cos(heading), np.sin(heading)
    way = heads - heads[first] * [1, 1, 0]
    way = np.stack([c * way[:, 0] + s * way[:, 1], c * way[:, 1] - s * way[:, 0], way[:, 2]], axis=-1)
    up = rotated(turned, HEAD_OFFSET)
    return np.asarray(way - up + up[first] * [1, 1, 0])


class _Heights:
    """Height of the torso when the feet stand on the ground."""

    def __init__(self) -> None:
        placement = Placement(robot="nao-spark", name="robot")
        self.scene = assemble(SceneSettings(field="floor", ball="none", robots=(placement,), visuals=False))
        self.table, self.data = self.scene.robot("robot"), mujoco.MjData(self.scene.model)
        model = self.scene.model
        self.soles = [g for g in range(model.ngeom) if model.body(model.geom_bodyid[g]).name.endswith("Foot")]

    def of(self, angles: Floats) -> float:
        """The height [m] for joint angles in the order of `JOINTS` [rad]."""
        model, data, table = self.scene.model, self.data, self.table
        data.qpos[:] = self.scene.start
        data.qpos[table.angles] = [angles[JOINTS.index(joint)] for joint in table.joints]
        mujoco.mj_kinematics(model, data)
        lowest = min(
            data.geom_xpos[g, 2] - float(np.abs(data.geom_xmat[g].reshape(3, 3)[2]) @ model.geom_size[g])
            for g in self.soles
        )
        return float(data.qpos[table.root + 2] - lowest)


# Errors of replays of the league's trials: roots of mean squares.
#
# - joints: over the twelve joints of the legs [deg];
# - gyro: over the three rates of the torso [deg/s]; a simulated rate is the turn of the torso in the last cycle, as the
#   server's is;
# - tilt: over its roll, pitch and yaw [deg]; the recorded ones are the gyro added up;
# - place: its distance in the plane from where it was [m]; recorded every third cycle to the centimetre.


ERROR_KINDS = ("joints", "gyro", "tilt", "place")
_ERROR_UNITS = {"joints": "deg", "gyro": "deg/s", "tilt": "deg", "place": "m"}


def replay_errors(twin: Twin, candidates: Floats, measured: Sequence[MeasuredTrial]) -> Floats:
    """Errors of the replays of n candidates in M trials, (M, n, kinds), in the order and units of this module."""
    rollouts = twin.simulate(candidates, [one.trial for one in measured])
    return np.stack([_errors(one, rollout) for one, rollout in zip(measured, rollouts, strict=True)])


def _errors(one: MeasuredTrial, rollout: Rollout) -> Floats:
    """(n, kinds); infinite for a replay that broke down."""
    real = {column: np.asarray(one.real.series)[:, i] for i, column in enumerate(one.real.columns)}
    joints = [j for j in rollout.joints if f"angles.{j}" in real]
    legs = np.stack([real[f"angles.{j}"] for j in joints], axis=-1)
    pose = np.asarray(rollout.pose)
    angles = rollout.angles[:, :, [rollout.joints.index(j) for j in joints]] - legs
    gyro = angular_rates(rollout.times, pose[..., 3:7]) - np.stack(
        [real[f"torso.{rate}"] for rate in TORSO_RATES], axis=-1
    )
    tilt = roll_pitch_yaw(pose[..., 3:7]) - np.stack([real[f"torso.{turn}"] for turn in TORSO_ANGLES], axis=-1)
    tilt = wrap_angle(tilt)
    seen = np.isfinite(real["pose.x"])
    place = pose[:, seen, :2] - np.stack([real["pose.x"], real["pose.y"]], axis=-1)[seen]
    squares = (
        (np.degrees(angles) ** 2).mean(axis=(1, 2)),
        (np.degrees(gyro) ** 2).mean(axis=(1, 2)),
        (np.degrees(tilt) ** 2).mean(axis=(1, 2)),
        (place**2).sum(axis=-1).mean(axis=1),
    )
    found = np.sqrt(np.stack(squares, axis=-1))
    return np.where(np.isnan(found), np.inf, found)


_LOG_PARTS = {"walk": (("PlayOn",), 4.0), "kick": (("KickOff_Left",), 2.5)}
"""Play modes of a trial, and its replayed duration [s]; kicks end just before the ball is touched."""
_SHOWN_COLUMNS = ("angles.rlj3", "angles.rlj4", "angles.rlj5", "torso.pitch", "torso.yaw", "pose.x")
"""Series in the report."""
LATENCY = Searched(low=0.0, high=0.1, start=_SERVER_CYCLE, sets=("delay",), unit="s")
"""The server acts on a command one cycle later."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """The effort of the fit."""

    evaluations: int
    """Candidates of each search."""
    seconds: float
    """Duration of each trial that is fitted [s]; held-out trials are always replayed as a whole."""
    train: tuple[str, ...]
    held_out: tuple[str, ...]


QUICK = Effort(
    evaluations=140,
    seconds=2.0,
    train=("walk.csv.gz#0", "kick.csv.gz#0"),
    held_out=("walk.csv.gz#[45]", "kick.csv.gz#[45]"),
)


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means one search with few candidates and few trials."""

    seed: int = 0
    """Seed of the first search; those of the others follow from it."""
    seeds: int = 5
    """Number of searches; one if quick."""
    recordings: Path | None = None
    """Folder with the server's logs (walk_type0.csv.gz, kick_type0.csv.gz); without it, the trials of the example,
    which were cut from them."""


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Fits, replays what was held out, and writes report.html and, unless quick, figures."""
    began = time.monotonic()
    folder = experiment.example_folder("simspark_walk")
    identify = read_identify(folder / "identify.toml")
    effort = QUICK if settings.quick else _full(identify)
    data = folder if settings.recordings is None else _cut(settings.recordings, out / "trials", say)
    refits = 0 if settings.quick else settings.seeds - 1
    search = dataclasses.replace(identify.search, evaluations=effort.evaluations, refits=refits)
    windows = WindowSettings(seconds=effort.seconds, every=_TRIAL_SPACING)
    identify = dataclasses.replace(identify, search=search, windows=windows)
    found = _fit(identify, effort, data, settings, say)
    say("replaying what was held out")
    measured = _held_out(identify, effort, data, found.twin)
    fits = (found.result, *found.refits)
    rows = _error_table(identify, np.stack([fit.best.candidate for fit in fits]), measured, settings.threads)
    space = found.twin.space
    answer = {
        "table": rows,
        "part_left": {kind: rows["after"]["all"][kind] / rows["before"]["all"][kind] for kind in ERROR_KINDS},
        "units": _ERROR_UNITS,
        "estimates": [{"distance": fit.best.value, **space.named(fit.best.candidate)} for fit in fits],
        "searches": len(fits),
        "evaluations": found.evaluations,
        "train": list(effort.train),
        "held_out": list(effort.held_out),
        "seconds": round(time.monotonic() - began, 1),
        "seed": settings.seed,
    }
    _write_report(out, answer, found, identify, settings.threads)
    return answer


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """Replays of the league's own simulator before and after identification."""
    units = answer["units"]
    rows = [
        {"row": name, "part": part, **values}
        for name, parts in answer["table"].items()
        for part, values in parts.items()
    ]
    columns = {"": text("row"), " ": text("part")} | {
        f"{kind} [{unit}]": experiment.decimal(kind) for kind, unit in units.items()
    }
    ratios = ", ".join(f"{kind} {ratio:.2f}" for kind, ratio in answer["part_left"].items())
    return experiment.ResultTable.of(rows, columns, f"after / before: {ratios} (goal: at most 0.5).")


def _cut(recordings: Path, out: Path, say: experiment.Progress) -> Path:
    """The folder with the trials of logs."""
    for name, (modes, seconds) in _LOG_PARTS.items():
        say(f"cutting the {name} log")
        cut_log(recordings / f"{name}_type0.csv.gz", out / f"{name}.csv.gz", modes=modes, seconds=seconds)
    return out


def _full(settings: IdentifySettings) -> Effort:
    """The effort that the example's configuration sets."""
    recordings, windows = settings.recordings, settings.windows
    return Effort(
        evaluations=settings.search.evaluations,
        seconds=windows.seconds if windows else max(seconds for _, seconds in _LOG_PARTS.values()),
        train=recordings.train,
        held_out=recordings.held_out,
    )


def _fit(
    identify: IdentifySettings, effort: Effort, data: Path, settings: Settings, say: experiment.Progress
) -> Identified:
    fit = Identification(
        identify,
        train=found_files(effort.train, data, "the trials to fit"),
        held_out=found_files(effort.held_out, data, "the trials to hold out"),
        seed=settings.seed,
        threads=settings.threads,
    )

    def report(number: int, generation: Generation) -> None:
        done = f"{generation.evaluations} of {effort.evaluations} candidates, distance {generation.best.value:.4f}"
        say(f"search {number + 1} of {fit.searches}: {done}")

    evaluator = InThisThread() if settings.threads == 1 else Threads(settings.threads, piece=5)
    with contextlib.closing(evaluator):
        return fit.run(evaluator, on_generation=report)


def _held_out(settings: IdentifySettings, effort: Effort, data: Path, twin: Twin) -> tuple[MeasuredTrial, ...]:
    """The held-out trials as a whole."""
    files = found_files(effort.held_out, data, "the trials to hold out")
    found = read_trials(files, dataclasses.replace(settings, windows=None), twin)
    return tuple(one for one in found if isinstance(one, MeasuredTrial))


def _error_table(
    settings: IdentifySettings, found: Floats, measured: tuple[MeasuredTrial, ...], threads: int
) -> dict[str, dict[str, dict[str, float]]]:
    """Errors by row of the table, by `walk`, `kick` and `all`, by kind; means over what was found, (n, k)."""
    twin = Twin(settings.robot, settings.parameters, threads=threads)
    known = Twin(settings.robot, {"delay": LATENCY}, threads=threads)
    league = Twin(dataclasses.replace(settings.robot, physics="league"), {"delay": LATENCY}, threads=threads)
    rows = {
        "before": replay_errors(twin, twin.space.start[None], measured),
        "latency known": replay_errors(known, known.space.start[None], measured),
        "after": replay_errors(twin, found, measured),
        "league": replay_errors(league, league.space.start[None], measured),
    }
    walks = np.array([m.source.startswith("walk") for m in measured])
    parts = {"walk": walks, "kick": ~walks, "all": np.ones(len(measured), bool)}
    table: dict[str, dict[str, dict[str, float]]] = {}
    for name, values in rows.items():
        table[name] = {
            part: {kind: float(values[chosen, :, i].mean()) for i, kind in enumerate(ERROR_KINDS)}
            for part, chosen in parts.items()
            if chosen.any()
        }
    spread = rows["after"].mean(axis=0).std(axis=0, ddof=1 if len(found) > 1 else 0)
    table["after"]["deviation"] = dict(zip(ERROR_KINDS, spread.tolist(), strict=True))
    return table


def _write_report(
    out: Path, answer: Mapping[str, Any], found: Identified, settings: IdentifySettings, threads: int
) -> None:
    """The report of the identification, with the table of this experiment and some of the series."""
    from nutmeg.view.reports.fit import save_figures, write_report
    from nutmeg.view.reports.identify import identify_report
    from nutmeg.view.reports.report import Table

    report = identify_report(
        found,
        settings,
        command=f"nutmeg reproduce simspark --seed {answer['seed']}",
        seconds=answer["seconds"],
        workers=f"{threads} threads" if threads > 1 else "1 thread",
    )
    columns = ("", "trials", *(f"{kind} [{_ERROR_UNITS[kind]}]" for kind in ERROR_KINDS))
    rows = tuple(
        (row, part, *(values[kind] for kind in ERROR_KINDS))
        for row, parts in answer["table"].items()
        for part, values in parts.items()
    )
    about = (
        f"Trials that were held out; `after` is the mean over {answer['searches']} searches, `deviation` between them. "
        "`latency known` is `before` with the server's delay of one cycle; `league` was fitted by hand to the same "
        "recordings."
    )
    table = Table(title="Replay of what the fit never saw", columns=columns, rows=rows, about=about)
    report = dataclasses.replace(
        report,
        title="Another engine as reality",
        tables=(*report.tables, table),
        series=tuple(one for one in report.series if one.channel in _SHOWN_COLUMNS),
    )
    write_report(out / "report.html", report)
    if answer["searches"] > 1:
        save_figures(out, report)
