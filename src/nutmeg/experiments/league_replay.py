"""The league's own server replayed: recorded commands of other teams' agents, open loop, on our server.

    answer = run(Path("runs/league-replay"), Settings())
    answer["rows"]              # for each recording: errors of gyroscope, accelerometer, joints, forces and ball

A recording has all messages of an agent and a trainer to rcssserver3d, and its answers (see `data/league_replay`). The
league's server is deterministic: the same commands give the same percepts to the last digit, so that every difference
is one of physics. Everything goes through sockets, as with a real agent. Nothing corrects the replay: a walk is not
stable without its agent, and a difference of one millimetre grows tenfold within five steps. The first half second of
motion is therefore the most informative.
"""

from __future__ import annotations

import gzip
import re
import socket
import threading
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nutmeg.base.errors import FileError, UsageError
from nutmeg.experiments import experiment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from nutmeg.base.arrays import Floats

DATA = Path(__file__).parent / "data" / "league_replay"
FEET = ("lf", "rf")
MOVES = 94
"""The cycle in which recorded walks begin."""
WINDOWS = (25, 50)
"""Cycles from there on over which errors are taken."""
_TRAINER_PAUSE = 0.05
"""Time for a trainer's message to arrive [s]."""
_TIMEOUT = 120.0
"""The longest wait for an answer [s]."""


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick leaves out the kick."""

    traces: Path | None = None
    """Folder with recordings of your own (*.txt.gz); those that come with Nutmeg if left out."""


@dataclass(frozen=True)
class Percept:
    """The contents of one percept."""

    joints: dict[str, float]
    """Angle of each joint [degrees]."""
    gyro: Floats
    """Angular velocity of the torso, (3,) [degrees/s]."""
    acc: Floats
    """Measured acceleration, (3,) [m/s^2]."""
    forces: dict[str, float]
    """Vertical force of each foot that touches something [N]."""
    ball: Floats | None
    """Place of the ball, (3,) [m]; None if the percept does not have it."""


# ---- recordings


def read_trace(path: Path) -> list[str]:
    """The lines of a recording."""
    try:
        content = path.read_bytes()
        plain = gzip.decompress(content) if path.suffix == ".gz" else content
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(path, f"cannot be read: {error}.") from None
    lines = [line for line in plain.decode("latin-1").splitlines() if line]
    wrong = next((line for line in lines if line[0] not in "#cCsSM"), None)
    if wrong is not None:
        raise FileError(path, f"is no recording: the line {wrong[:40]!r} begins with none of c, s, C, S, M and #.")
    if not any(line.startswith("# begin") for line in lines):
        raise FileError(path, "is no recording: the line # begin is missing, after which the cycles are.")
    return lines


def percepts_of(lines: Sequence[str]) -> list[Percept]:
    """The percepts of a recording, one for each cycle."""
    return [_percept(line) for line in lines if line[0] == "S"]


def _percept(line: str) -> Percept:
    joints = {name: float(angle) for name, angle in re.findall(r"\(HJ \(n (\w+)\) \(ax (-?[\d.]+)\)", line)}
    feet = {name: float(z) for name, z in re.findall(r"\(FRP \(n (\w+)\) \(c [^)]*\) \(f \S+ \S+ ([^)]*)\)", line)}
    return Percept(
        joints, _numbers(r"\(GYR \(n torso\) \(rt", line), _numbers(r"\(ACC \(n torso\) \(a", line), feet, _ball(line)
    )


def _numbers(start: str, line: str) -> Floats:
    found = re.search(start + r" ([^)]*)\)", line)
    return np.array(found[1].split(), float) if found else np.full(3, np.nan)


def _ball(line: str) -> Floats | None:
    found = re.search(r"\(ballpos ([^)]*)\)", line)
    return np.array(found[1].split(), float) if found else None


# ---- replaying


def replay(lines: Sequence[str]) -> list[str]:
    """Sends the commands of a recording to a new server of ours; returns what it answers, as lines of a recording."""
    from nutmeg.match.game import Game, PhysicalSetup
    from nutmeg.match.rules.book import load_rules
    from nutmeg.net.simspark.server import Server, ServerSettings

    kind = re.search(r"nao_hetero\.rsg (\d)", "\n".join(lines[:40]))
    toed = int(kind is not None and kind[1] == "4")
    game = Game(
        load_rules("sim3d"), seed=0, seats=1, setup=PhysicalSetup(toed=toed, beam_noise=False, ground_truth=True)
    )
    game.cycle({})  # compiles what is not compiled yet, for which no agent waits
    with game, Server(game, ServerSettings(agent_port=0, monitor_port=0, pace="sync")) as server:
        thread = threading.Thread(target=server.run, name="server")
        thread.start()
        try:
            return _converse(lines, server.agent_port, server.monitor_port)
        finally:
            server.stop()
            thread.join(_TIMEOUT)


def _converse(lines: Sequence[str], agent_port: int, monitor_port: int) -> list[str]:
    """Plays agent and trainer."""
    from nutmeg.net.simspark.sexpr import Unframer, framed

    answers: list[str] = []
    with (
        socket.create_connection(("127.0.0.1", agent_port), timeout=_TIMEOUT) as agent,
        socket.create_connection(("127.0.0.1", monitor_port), timeout=_TIMEOUT) as trainer,
    ):
        threading.Thread(target=_drain, args=(trainer,), daemon=True).start()
        unframer = Unframer(1 << 22)
        waiting: list[bytes] = []
        for line in lines:
            if line[0] == "M":
                trainer.sendall(framed(line.split(" ", 2)[2].encode("latin-1")))
                time.sleep(_TRAINER_PAUSE)
            elif line[0] in "cC":
                agent.sendall(framed(line[2:].encode("latin-1")))
            elif line[0] in "sS":
                while not waiting:
                    waiting += unframer.feed(agent.recv(1 << 16))
                answers.append(f"{line[0]} {waiting.pop(0).decode('latin-1')}")
        trainer.shutdown(socket.SHUT_RDWR)
    return answers


def _drain(connection: socket.socket) -> None:
    """Takes what a monitor is sent."""
    try:
        while connection.recv(1 << 16):
            pass
    except OSError:
        pass  # it was closed


# ---- errors


def errors(recorded: Sequence[Percept], replayed: Sequence[Percept], cycles: int, first: int = MOVES) -> dict[str, Any]:
    """Errors of a replay against the recording, over a number of cycles."""
    pairs = list(zip(recorded[first : first + cycles], replayed[first : first + cycles], strict=True))
    joints = [a.joints[name] - b.joints[name] for a, b in pairs for name in a.joints if name in b.joints]
    touches = [(foot in a.forces) == (foot in b.forces) for a, b in pairs for foot in FEET]
    forces = [abs(a.forces[f] - b.forces[f]) for a, b in pairs for f in FEET if f in a.forces and f in b.forces]
    return {
        "cycles": cycles,
        "joints": _rms(joints),
        "gyro": _rms(np.array([a.gyro - b.gyro for a, b in pairs])),
        "acc": _rms(np.array([a.acc - b.acc for a, b in pairs])),
        "contact": float(np.mean(touches)),
        "force": float(np.mean(forces)) if forces else None,
    }


def ball_errors(recorded: Sequence[Percept], replayed: Sequence[Percept]) -> dict[str, Any] | None:
    """Distances that the ball rolled in the recording and the replay, and the largest difference of its places [m]."""
    paths = []
    for percepts in (recorded, replayed):  # both have the ball in every third cycle, but not in the same ones
        seen = [(cycle, one.ball[:2]) for cycle, one in enumerate(percepts) if one.ball is not None]
        if not seen:
            return None
        cycles, places = [cycle for cycle, _ in seen], np.array([place for _, place in seen])
        paths.append(np.stack([np.interp(np.arange(len(percepts)), cycles, places[:, i]) for i in (0, 1)], axis=1))
    theirs, ours = paths
    ways = [float(np.linalg.norm(ball[-1] - ball[0])) for ball in (theirs, ours)]
    return {"there": ways[0], "here": ways[1], "apart": float(np.linalg.norm(theirs - ours, axis=1).max())}


def _rms(values: Sequence[float] | Floats) -> float:
    return float(np.sqrt(np.mean(np.square(np.asarray(values, float)))))


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Replays all recordings, writes what came back beside the results, and draws the first second of each walk."""
    folder = settings.traces or DATA
    files = sorted(folder.glob("*.txt.gz")) if folder.is_dir() else []
    if settings.quick:
        files = [file for file in files if "kick" not in file.name]
    if not files:
        raise UsageError(f"{folder} holds no recordings (*.txt.gz). Leave --traces out for those of Nutmeg.")
    rows, kicks = [], []
    for file in files:
        say(f"replaying {file.name}")
        name, lines = file.name.removesuffix(".txt.gz"), read_trace(file)
        answers = replay(lines)
        (out / f"{name}.txt").write_text("\n".join(answers), encoding="latin-1")
        recorded, replayed = percepts_of(lines), percepts_of(answers)
        ball = ball_errors(recorded, replayed) if "kick" in name else None
        if ball is not None:
            kicks.append({"recording": name, **ball})
            continue
        windows = [n for n in WINDOWS if MOVES + n <= len(recorded)]
        rows += [{"recording": name, **errors(recorded, replayed, cycles)} for cycles in windows]
        _draw(recorded, replayed, out / f"{name}.png")
    # Open loop, errors grow: goals are for the first half second, and the longer windows show how fast.
    first = {row["recording"]: row for row in rows if row["cycles"] == WINDOWS[0]}
    return {"rows": rows, "first_window": first, "kicks": kicks}


def _draw(recorded: Sequence[Percept], replayed: Sequence[Percept], path: Path) -> None:
    """Forces of the feet and the three rates of the gyroscope, recorded and replayed, over the first second."""
    from nutmeg.view.reports.plots import GREY, ORANGE, save_png

    last = min(MOVES + WINDOWS[-1], len(recorded))
    times = 0.02 * np.arange(last - MOVES)
    values = {f"force {foot} [N]": [_forces(p[MOVES:last], foot) for p in (recorded, replayed)] for foot in FEET}
    for axis, label in enumerate("xyz"):
        values[f"gyro {label} [deg/s]"] = [
            np.array([one.gyro[axis] for one in p[MOVES:last]]) for p in (recorded, replayed)
        ]

    def draw(figure: Figure) -> None:
        for place, (name, lines) in enumerate(values.items()):
            axes = figure.add_subplot(len(values), 1, place + 1)
            for line, (label, colour) in zip(lines, (("recorded", GREY), ("replayed", ORANGE)), strict=True):
                axes.plot(times, line, color=colour, label=label, linestyle="-" if label == "recorded" else "--")
            axes.set_ylabel(name)
        figure.axes[0].legend(loc="upper right")
        figure.axes[-1].set_xlabel("time since the first step [s]")

    save_png(path, draw, (8.8, 9.0))


def _forces(percepts: Sequence[Percept], foot: str) -> Floats:
    return np.array([one.forces.get(foot, np.nan) for one in percepts])


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """Errors of each recording."""
    notes = [
        f"{kick['recording']}: the ball went {kick['there']:.2f} m there and {kick['here']:.2f} m here; the two are at "
        f"most {100 * kick['apart']:.0f} cm apart."
        for kick in answer["kicks"]
    ]
    return experiment.ResultTable.of(
        answer["rows"],
        {
            "recording": experiment.text("recording"),
            "cycles": experiment.text("cycles"),
            "joints [deg]": experiment.decimal("joints", 2),
            "gyro [deg/s]": experiment.decimal("gyro", 1),
            "acc [m/s^2]": experiment.decimal("acc", 2),
            "same contact": experiment.share("contact"),
            "force [N]": experiment.decimal("force", 1),
        },
        *notes,
    )
