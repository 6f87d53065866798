"""Share of trials in which an AIBO reaches the ball by its camera alone, over OPEN-R.

    answer = run(Path("runs/openr-ball"), Settings())
    answer["robots"]["ers7"]                        # {"reached": 10, "starts": 10}
    answer["trials"][0]                             # its start, whether and when it reached the ball

The robot starts at a random pose on the field of the Standard Platform League of 2011, with the orange ball 1 to 3 m
away. The program is `net.openr.ball_follower` or, with `client="cpp"`, the example in C++
(`clients/openr/examples/ball_follower`). Either is connected over TCP to the same server as `nutmeg serve openr` runs;
it gets sensor vectors and pictures and nothing else. Server and program are in lock-step and pictures are drawn in
step, so that numbers do not depend on how busy the computer is. The ball is reached when it is within `REACHED` of the
middle of the trunk, where the robot's paws are about to touch it, within `SECONDS`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import shutil
import subprocess
import sys
import threading
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.random import SeedSequence

from nutmeg.base.angles import wrap_angle
from nutmeg.base.errors import EnvironmentProblem, NutmegError
from nutmeg.base.journal import each_seed
from nutmeg.experiments import experiment
from nutmeg.experiments.experiment import number
from nutmeg.net.host.cameras import CamerasInStep
from nutmeg.net.host.robot_host import RobotHost
from nutmeg.net.openr.ball_follower import BallFollower, follow_ball
from nutmeg.net.openr.client import OpenrClient
from nutmeg.net.openr.configuration import OpenrRobotSettings, OpenrSettings, host_settings
from nutmeg.net.openr.port import OpenrPort

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nutmeg.net.openr.client import Sensors
    from nutmeg.net.openr.port import Address, Seat


# The ball follower in C++, `clients/openr/examples/ball_follower`: built, and run against a robot.
#
# The example is no part of the installed package: it comes with Nutmeg's sources.


CLIENTS_FOLDER = Path(__file__).parents[3] / "clients" / "openr"
"""Folder of the runtime and its examples in the project's sources."""
_EXAMPLE_NAME = "ball_follower"
_ARRIVED_TEXT = "at the ball"
"""Output of the example when it has arrived."""
_BUILD_TOOLS = ("g++", "make")
_END_TIMEOUT = 20.0
"""Time limit for the example to end [s]."""
_KEPT_LINES = 5


def build_example(into: Path) -> Path:
    """Builds the example; returns the script that runs it."""
    if not (CLIENTS_FOLDER / "openr_build.py").is_file():
        raise EnvironmentProblem(
            f"there is no folder {CLIENTS_FOLDER}: the C++ client comes with Nutmeg's sources, not with the installed "
            "package. Run this in a copy of the repository, or with --client python."
        )
    missing = [tool for tool in _BUILD_TOOLS if shutil.which(tool) is None]
    if missing:
        raise EnvironmentProblem(
            f"the C++ client is compiled here, but {' and '.join(missing)} cannot be found. Install a C++ compiler "
            "(on Debian: apt-get install g++ make), or use --client python."
        )
    examples = CLIENTS_FOLDER / "examples"
    command = [sys.executable, str(CLIENTS_FOLDER / "openr_build.py"), str(examples / _EXAMPLE_NAME), "-o", str(into)]
    command += ["--std", "gnu++17", "--strict", "-I", str(examples / "include")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 (our own script)
    if done.returncode != 0:
        raise EnvironmentProblem(f"the C++ client could not be built:\n{done.stderr.strip()}")
    return into.resolve() / "run"


class _ExampleProgram(threading.Thread):
    """The example as a process, and a thread that listens to it.

    Args:
        script: what `build_example` made.
        addresses: of the robot's sensors and commands.
    """

    def __init__(self, script: Path, addresses: tuple[Address, Address]) -> None:
        super().__init__(name="ball follower in C++", daemon=True)
        (host, sensors), (_, commands) = addresses
        self._command = [str(script), "--host", host, "--sensor-port", str(sensors), "--command-port", str(commands)]
        self._process: subprocess.Popen[str] | None = None
        self._ending = False
        self.arrived, self.problem = False, ""

    def run(self) -> None:
        """Runs it until it ends, which it does when the robot is gone."""
        last: deque[str] = deque(maxlen=_KEPT_LINES)
        pipe = subprocess.PIPE
        with subprocess.Popen(self._command, stdout=pipe, stderr=subprocess.STDOUT, text=True) as process:  # noqa: S603
            self._process = process
            for line in process.stdout or ():
                last.append(line.strip())
                self.arrived = self.arrived or _ARRIVED_TEXT in line
        if not self._ending:
            self.problem = f"it ended with status {process.returncode}: {' / '.join(last)}"

    def robot_goes(self) -> None:
        """Says that the robot is about to go: what the program says of that is no problem."""
        self._ending = True

    def finish(self) -> None:
        """Waits for its end; one that does not end is killed."""
        self.join(_END_TIMEOUT)
        if self.is_alive() and self._process is not None:
            with contextlib.suppress(OSError):
                self._process.kill()
            self.join()


Aibo = Literal["ers7", "ers210"]
AIBOS: tuple[Aibo, ...] = ("ers7", "ers210")
Client = Literal["python", "cpp"]
STARTS = 10
"""Starts of each robot."""
_QUICK_STARTS = 1
"""Number of starts in the quick version."""
MIN_BALL_DISTANCE = 1.0
"""Smallest distance of the ball at the start [m]."""
MAX_BALL_DISTANCE = 3.0
"""Largest distance of the ball at the start [m]."""
START_AREA = (2.7, 1.7)
"""Robot and ball are put within this of the middle of the field, which is 6 x 4 m [m]."""
_TIME_LIMIT = 60.0
"""Time limit of a trial [s]."""
REACHED_DISTANCE = 0.25
"""The ball is this near to the middle of the trunk when it is reached [m]."""
_PICTURE_RATE = 10.0
"""Pictures a second that are drawn: a third of what the robot's camera makes, which takes a third of the time."""
_WATCH_PERIOD = 0.04
"""Period at which the true distance is sampled [s]."""
SETTLING_TIME = 2.0
"""Time from the C++ program's report of arrival to the end of the trial, in which the robot stops [s]."""


@dataclass(frozen=True, kw_only=True)
class BallStart:
    """Start of a trial."""

    robot: tuple[float, float]
    heading: float
    """Heading of the robot [rad]."""
    ball: tuple[float, float]
    bearing: float
    """The bearing of the ball from the robot, positive to the left [rad]."""
    distance: float
    """From the robot to the ball [m]."""


@dataclass(frozen=True, kw_only=True)
class BallTrial:
    """The result of a start."""

    start: BallStart
    reached: bool
    seconds: float | None
    """Until the ball was reached; None if it was not."""
    says_so: bool
    """Whether the program reported that it has arrived."""
    nearest: float
    """The nearest that the ball was to the middle of the trunk [m]."""
    path: float
    """Distance of the robot from its start [m]."""
    problem: str = ""
    """Why the program ended early, if it did."""


def ball_start(rng: np.random.Generator) -> BallStart:
    """Draws the robot's place and heading and the ball's place on the field."""
    while True:
        robot, way = rng.uniform(-1, 1, 2) * START_AREA, rng.uniform(-math.pi, math.pi)
        distance, heading = rng.uniform(MIN_BALL_DISTANCE, MAX_BALL_DISTANCE), rng.uniform(-math.pi, math.pi)
        ball = robot + distance * np.array([math.cos(way), math.sin(way)])
        if (np.abs(ball) <= START_AREA).all():
            bearing = wrap_angle(way - heading)
            return BallStart(
                robot=(float(robot[0]), float(robot[1])),
                heading=heading,
                ball=(float(ball[0]), float(ball[1])),
                bearing=bearing,
                distance=distance,
            )


def ball_trial(
    start: BallStart,
    *,
    model: Aibo = "ers7",
    walk: str = "trot",
    seconds: float = _TIME_LIMIT,
    record: Path | None = None,
    example: Path | None = None,
) -> BallTrial:
    """One start: a server and a program, in lock-step, in two threads.

    Args:
        start: where it begins.
        model: which robot.
        walk: of the program in Python.
        seconds: how long the robot may take [s].
        record: where the recording goes.
        example: script of the program in C++ (`build_example`); the program in Python if None.
    """
    here = "127.0.0.1:0"
    robot = OpenrRobotSettings(model=model, pos=start.robot, heading=start.heading, sensors=here, commands=here)
    settings = OpenrSettings(robot=(robot,), ball_pos=start.ball)
    port = OpenrPort(settings)
    chosen = host_settings(settings, lock_step=True, record=record)
    with RobotHost(chosen, [port], cameras=lambda worlds: CamerasInStep(worlds, max_rate=_PICTURE_RATE)) as host:
        watch = _Watch(host)
        host.every(_WATCH_PERIOD, "watch", watch.look)
        seat = next(iter(port.seats.values()))
        if example is None:
            program: _Program | _ExampleProgram = _Program(seat, walk, seconds, host.stop)
            program.start()
            host.run(seconds + 5.0)
            host.stop()
        else:
            program = _run_example(example, seat, host, seconds)
    program.join()
    seen = watch.until(program.ended_at if isinstance(program, _Program) else math.inf)
    return BallTrial(
        start=start,
        reached=seen.reached_at is not None,
        seconds=seen.reached_at,
        says_so=program.arrived,
        nearest=seen.nearest,
        path=seen.came,
        problem=program.problem,
    )


def _run_example(script: Path, seat: Seat, host: RobotHost, seconds: float) -> _ExampleProgram:
    """Runs the program in C++ until it has arrived and stands, or the time is over."""
    program = _ExampleProgram(script, seat.addresses)
    arrived: list[float] = []

    def end(now: float) -> None:
        if program.problem:
            host.stop()
        elif program.arrived:
            arrived.append(now)
            if now - arrived[0] > SETTLING_TIME:
                host.stop()

    host.every(_WATCH_PERIOD, "end", end)
    program.start()
    host.run(seconds)
    program.robot_goes()
    host.close()
    program.finish()
    return program


class _Seen(NamedTuple):
    """The true result of a start."""

    nearest: float
    """The least distance from robot to ball [m]."""
    came: float
    """From where it began to where it ended [m]."""
    reached_at: float | None
    """Time at which it reached the ball [s]; None if it did not."""


class _Watch:
    """Knows where robot and ball really are."""

    def __init__(self, host: RobotHost) -> None:
        assert host.worlds.ball is not None
        self._pose, self._ball = host.worlds.robots[0].pose, host.worlds.ball
        self._began = self._pose[0, :2].copy()
        self._looks: list[tuple[float, float, float]] = []

    def look(self, now: float) -> None:
        """Takes note of how near the robot is, and how far it came."""
        place = self._pose[0, :2]
        distance, came = np.hypot(*(self._ball[0, :2] - place)), np.hypot(*(place - self._began))
        self._looks.append((now, float(distance), float(came)))

    def until(self, end: float) -> _Seen:
        """Observations up to a time [s], because a server in a thread of its own may go on for a moment after that."""
        looks = [look for look in self._looks if look[0] <= end]
        reached = (round(now, 3) for now, distance, _ in looks if distance < REACHED_DISTANCE)
        return _Seen(
            nearest=min((distance for _, distance, _ in looks), default=math.inf),
            came=looks[-1][2] if looks else 0.0,
            reached_at=next(reached, None),
        )


class _Program(threading.Thread):
    """The program in a thread of its own; ends the server when it has ended."""

    def __init__(self, seat: Seat, walk: str, seconds: float, done: Callable[[], None]) -> None:
        super().__init__(name="ball follower", daemon=True)
        self._addresses, self._walk, self._seconds, self._done = seat.addresses, walk, seconds, done
        self.arrived, self.problem = False, ""
        self.ended_at = math.inf
        """Simulated time of the last that the program heard [s]."""

    def run(self) -> None:
        """Follows the ball."""
        heard: deque[Sensors] = deque(maxlen=1)
        try:
            with OpenrClient(*self._addresses, timeout=120.0) as robot:
                robot.observe_sensors(heard.append)
                self.arrived = follow_ball(robot, BallFollower(robot.model, self._walk), seconds=self._seconds)
                self.ended_at = heard[0].time
                self._done()  # while the server still waits for an answer
        except NutmegError as error:
            self.problem = str(error)
        finally:
            self._done()


@dataclass(frozen=True, kw_only=True)
class Settings(experiment.ExperimentSettings):
    """Options; quick means one start of each robot instead of ten."""

    seed: int = 0
    """Seed of the first start."""
    seeds: int = 0
    """Number of starts; 0 for ten, or one if quick."""
    client: Client = "python"
    """The program that moves the robot: `python`, or `cpp`, the example in C++, which is compiled first."""


def run(out: Path, settings: Settings, say: experiment.Progress = experiment.silent) -> dict[str, Any]:
    """Tries random starts; those that are in the folder already are not tried again."""
    seed, client = settings.seed, settings.client
    numbers = range(seed, seed + (settings.seeds or (_QUICK_STARTS if settings.quick else STARTS)))
    known = {
        "seconds": _TIME_LIMIT,
        "reached": REACHED_DISTANCE,
        "walk": "trot",
        "pictures": _PICTURE_RATE,
        "client": client,
    }
    trials: list[dict[str, Any]] = []
    example: Path | None = None
    if client == "cpp":
        say("compiling the program in C++")
        example = build_example(out / "cpp")
    for model in AIBOS:

        def one(number: int, model: Aibo = model) -> dict[str, Any]:
            say(f"{model}, start {number - seed + 1} of {len(numbers)}")
            start = ball_start(np.random.default_rng(SeedSequence(number, spawn_key=(8,))))
            trial = ball_trial(start, model=model, example=example)
            return {"robot": model, "seed": number, **dataclasses.asdict(trial)}

        trials += each_seed(out / f"{model}-{client}", list(numbers), known, one)
    counts = {
        model: {
            "reached": sum(bool(trial["reached"]) for trial in trials if trial["robot"] == model),
            "starts": len(numbers),
        }
        for model in AIBOS
    }
    return {"experiment": "openr-ball", "robots": counts, "trials": trials, "settings": {**known, "seed": seed}}


def table(answer: Mapping[str, Any]) -> experiment.ResultTable:
    """Starts of an AIBO that goes to the ball, and the result of each."""
    columns: dict[str, experiment.Cell] = {
        "robot": experiment.text("robot"),
        "start": experiment.text("seed"),
        "ball away [m]": lambda row: number(row["start"]["distance"], 2),
        "ball at [deg]": lambda row: number(row["start"]["bearing"], 0, experiment.DEGREES),
        "reached": lambda row: experiment.yes_or_no(row["reached"]),
        "after [s]": experiment.decimal("seconds", 1),
        "nearest [m]": experiment.decimal("nearest", 2),
    }
    settings = answer["settings"]
    each = ", ".join(f"{robot} {one['reached']} of {one['starts']}" for robot, one in answer["robots"].items())
    note = (
        f"reached the ball (within {settings['reached']:g} m of the middle of the trunk) in {settings['seconds']:g} s: "
        f"{each}; goal: 9 of 10. Program: {settings.get('client', 'python')}."
    )
    return experiment.ResultTable.of(answer["trials"], columns, note)
