"""Train a network by reinforcement, from thousands of robots at once: a walk, dribbling, or corrections of a motion.

Any robot with legs learns to walk: one that comes with Nutmeg, or a folder with a robot.toml, of which `nutmeg robots
--describe` writes a first one for an MJCF or URDF file. Robots with position, impedance or servo drives are commanded
angles, and learn in bodies that differ in mass, friction, gains and delay. Run and turn are walks that are mostly asked
to run ahead, or to turn on the spot; their networks may begin with those of a walk. Get-ups, kicks and dives are those
of nao-spark. A network that dribbles steers a walk that is a policy (--walk) of nao-spark, nao-v6, t1 or k1.

Writes a folder with weights.npz and, every 25 iterations, report.html with all curves. A walk has params.toml beside
it, for `nutmeg walk --params`, `nutmeg play --left` and `nutmeg agents`, and dribbling has dribble.toml, for `nutmeg
agents --motions` with the strategy network-dribbles; both have a video, best.mp4, at the end. Corrections have the
motions that they belong to (get-up-front.toml and get-up-back.toml, kick.toml or dive.toml), for `nutmeg play
--motions` and `nutmeg agents --motions`. Ctrl-C saves; the same command with the same --output goes on and ends with
the same numbers, and more --iterations go further. Sixteen cores and a GPU for the networks walk at 1 m/s after nine
minutes; two busy cores simulated a twelfth as many cycles a second. With --device gpu everything is on the GPU.

example: nutmeg train walk --robot nao-spark --type type0
         nutmeg train walk --robot t1 --worlds 4096 --hidden 256 128 --device gpu
         nutmeg train walk --robot my/quadruped --level 0.5
         nutmeg train run --start runs/train-walk-nao-spark-type0-1 --level 0.5
         nutmeg train walk --type type2 --start policy-fast --level 1 --fastest 1.5 0.95 0.95 2.4 --entropy 0
         nutmeg train get-up --type type1
         nutmeg train kick --type type2 --worlds 1024
         nutmeg train dive --iterations 100
         nutmeg train dribble --worlds 128 --iterations 300
         nutmeg train dribble --walk policy-fast --worlds 128 --iterations 300
         nutmeg train --worlds 2048 --threads 16 --device cuda --iterations 600
         nutmeg train --type type1 --start runs/train-nao-spark-type0-1 --level 0.8 --iterations 300
"""

from __future__ import annotations

import dataclasses
import io
import json
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import tyro

from nutmeg.base.errors import EnvironmentProblem, FileError, UnknownNameError, UsageError
from nutmeg.base.journal import command_line, open_run, read_json
from nutmeg.base.settings import Bounds, above, field_notes
from nutmeg.commands.options import Count, JsonOption, OptionalOutput, Seed, Threads, processors

if TYPE_CHECKING:
    from nutmeg.base.journal import Run
    from nutmeg.learning.policies.ppo import PpoSettings
    from nutmeg.learning.policies.training import Iteration, Training, TrainSettings
    from nutmeg.motion.policy import PolicySettings
    from nutmeg.view.terminal import Terminal

_CHECKPOINT, _WEIGHTS, FILM = "checkpoint.npz", "weights.npz", "best.mp4"
"""Files of a run: the state from which training continues, the network alone, and a video of its walk."""


_LEARNING: dict[str, dict[str, Any]] = {
    "get-up": {"discount": 0.995, "spread": 0.5},
    "kick": {"discount": 0.995, "spread": 0.3},
    "dive": {"discount": 0.995, "spread": 0.5},
    "dribble": {"spread": 0.5},
}
"""What differs between tasks: motions end with what counts, and begin as something that nearly works."""


_WALK_MEASURES = {
    "falls": "Falls of a robot in a minute, with pushes and the noise of exploration.",
    "error": "By how much velocities are missed, as a share of the wanted ones and of a seventh of the highest.",
    "turn_error": "By how much turn rates are missed [rad/s].",
    "ahead": "The share of the wanted speed that is reached by robots that are to go ahead.",
}
_MEASURES: dict[str, dict[str, str]] = {
    "walk": _WALK_MEASURES,
    "run": _WALK_MEASURES,
    "turn": _WALK_MEASURES,
    "get-up": {"stood": "The share of robots that stood half a second after the motion, with exploration."},
    "kick": {
        "distance": "How far balls will have come straight ahead [m], with exploration.",
        "aside": "How far aside [m].",
        "fell": "The share of robots that fell.",
    },
    "dive": {"saved": "The share of balls that did not pass, with exploration."},
    "dribble": {
        "speed": "How fast balls come along the wanted direction [m/s], with exploration.",
        "falls": "Falls of a robot in a minute.",
        "lost": "How many balls a robot loses in a minute.",
    },
}
"""The measurement of each task."""
_Speed = Annotated[float, above(0.0)]


@dataclass(frozen=True, kw_only=True)
class Arguments(JsonOption):
    """Options of `nutmeg train`."""

    task: tyro.conf.Positional[Literal["walk", "run", "turn", "get-up", "kick", "dive", "dribble"]] = "walk"
    """The task that the network learns."""
    robot: str = "nao-spark"
    """Which robot: a name, or the path of a file or folder. Get-ups, kicks and dives are those of nao-spark; dribbling
    needs a robot with a walk `policy` (nao-spark, nao-v6, t1, k1)."""
    type: str = ""
    """The type of the robot; that of nao-spark is type0 if left out."""
    actuation: str = "ideal"
    """Actuation of the joints of a robot that walks: ideal, servo, motoflex, or a TOML file."""
    walk: str = "policy"
    """The walk that dribbling steers, such as policy-fast."""
    iterations: Count = 600
    """How many iterations; each is 24 actions of every robot: of one that dribbles for 80 ms, of others for 20 ms."""
    worlds: Annotated[int, Bounds(1, 100_000)] = 512
    """How many robots learn at once."""
    start: Path | None = None
    """The folder of another training, to begin with its networks; or a walk with a policy (policy, my.toml), to begin
    with its network and a new critic. A walk goes on with the gait that it finds there."""
    level: Annotated[float, Bounds(0.01, 1.0)] = 0.3
    """How hard the task is at the beginning; it grows by itself. Of a walk: the share of the highest velocities."""
    fastest: tuple[_Speed, _Speed, _Speed, _Speed] | None = None
    """The highest velocities that a walk is asked for: ahead, back, aside, turning [m/s, m/s, m/s, rad/s]; those of
    nao-spark are 2.0 1.3 1.1 2.6."""
    entropy: Annotated[float, Bounds(0.0, 1.0)] = 0.0005
    """Weight of the entropy of the actions: more explores longer."""
    divergence: Annotated[float, above(0.0)] = 0.012
    """By how much an update may change the policy; less for few robots, or to go on gently from a good network."""
    spread: Annotated[float, above(0.0)] | None = None
    """The first standard deviation of actions: 0.8 for walks, 0.3 for kicks, 0.08 for walks that begin with a walk, 0.5
    for all else and for robots commanded angles."""
    hidden: tuple[Annotated[int, Bounds(1, 4096)], ...] = (128, 128)
    """Widths of the hidden layers; 256 128 for a walk with many joints."""
    seed: Seed = 1
    """Seed of everything random."""
    threads: Threads = 0
    """How many threads simulate; 0: one for each processor. Results are the same."""
    device: str = "cpu"
    """cpu; gpu for robots and networks on a CUDA device (walks only); cuda for the networks alone. Both need torch."""
    video: bool = True
    """Whether to film the policy at the end; needs a renderer (see nutmeg doctor)."""
    onnx: bool = False
    """Whether to write the network of a walk as policy.onnx, too, for other programs; needs the extra onnx."""
    output: OptionalOutput = None
    """Folder of the run; runs/train-TASK-ROBOT-TYPE-SEED if left out."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Trains, or continues an interrupted run."""
    from nutmeg.learning.policies.training import Training, TrainSettings

    arguments = dataclasses.replace(
        arguments, type=arguments.type or ("type0" if arguments.robot == "nao-spark" else "")
    )
    _check_task(arguments)
    policy = _start_policy(arguments)
    settings = TrainSettings(
        task=arguments.task,
        robot=arguments.robot,
        kind=arguments.type,
        actuation=arguments.actuation,
        walk=arguments.walk,
        worlds=arguments.worlds,
        seed=arguments.seed,
        level=arguments.level,
        gait=policy.gait if policy else None,
        fastest=arguments.fastest,
        ppo=_ppo(arguments, walks=policy is not None),
    )
    names = ("train", arguments.task, Path(arguments.robot).stem, arguments.type, str(arguments.seed))
    folder = arguments.output or Path("runs") / "-".join(name for name in names if name)
    try:
        training = Training(settings, threads=processors(arguments.threads), device=arguments.device)
    except ImportError as error:
        raise EnvironmentProblem(
            f"--device {arguments.device} needs torch: {error}. pip install 'nutmeg-sim[train]', or leave it out."
        ) from None
    goes_on = (folder / _CHECKPOINT).exists()
    if not goes_on and arguments.start is not None:  # before the folder is made: --start may name what does not fit
        if policy is None or arguments.start.is_dir():
            training.load(_kept(arguments.start / _CHECKPOINT), go_on=False)
        else:
            training.load_policy(policy.network(settings.kind))
    with open_run(
        folder,
        say=terminal.say,
        saved="block of 25 iterations",
        command=command_line("train", dataclasses.replace(arguments, output=folder), positional="task"),
        seed=settings.seed,
        configuration={**dataclasses.asdict(settings), "start": str(arguments.start or "")},
    ) as opened:
        if goes_on:
            training.load(_kept(folder / _CHECKPOINT))
        return _train(training, opened, arguments, terminal)


def _check_task(arguments: Arguments) -> None:
    """Refuses options that only other tasks have."""
    from nutmeg.learning.policies.training import WALKS

    if arguments.walk != "policy" and arguments.task != "dribble":
        raise UsageError(f"--walk goes with dribble; leave it out for {arguments.task}.")
    if arguments.task in WALKS:
        return
    for option, used in (("fastest", arguments.fastest is not None), ("actuation", arguments.actuation != "ideal")):
        if used:
            raise UsageError(f"--{option} goes with walk, run and turn; leave it out for {arguments.task}.")


def _ppo(arguments: Arguments, *, walks: bool) -> PpoSettings:
    """How the networks learn; `walks` if they begin as those of a walk."""
    from nutmeg.learning.policies.ppo import PpoSettings

    known = dict(_LEARNING.get(arguments.task, {}))
    if arguments.spread is not None:
        known["spread"] = arguments.spread
    elif walks or arguments.robot != "nao-spark":
        # A walk that is there already need not be found, and with more noise robots learn a slower one that bears it:
        # within 0.9 million cycles a nao-spark came from 1.31 to 1.25 m/s with 0.15, and to 1.28 with 0.08 (one seed).
        known["spread"] = 0.08 if walks else 0.5
    return PpoSettings(entropy=arguments.entropy, divergence=arguments.divergence, hidden=arguments.hidden, **known)


def _start_policy(arguments: Arguments) -> PolicySettings | None:
    """The policy of the walk or of the training that a walk begins with: its network belongs to its gait."""
    from nutmeg.learning.policies.training import WALKS
    from nutmeg.motion.walk.files import read_walk

    start = arguments.start
    if start is None or arguments.task not in WALKS or (start.is_dir() and not (start / "params.toml").exists()):
        return None
    try:
        walk = read_walk(str(start))
    except UnknownNameError:
        needed = "needed is the folder of a `nutmeg train` that has run, or a walk with a policy"
        raise FileError(start, f"does not exist; {needed}.") from None
    if walk.policy is None or (walk.robot != arguments.robot and not start.is_dir()):
        found = f"a policy of {walk.robot}" if walk.policy else "no policy"
        raise UsageError(
            f"--start {start} is {found}; needed is a policy of {arguments.robot}, or the folder of a training."
        )
    return walk.policy


def _kept(path: Path) -> dict[str, Any]:
    """The arrays of a checkpoint, as `Training.load` takes them."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise FileError(path, "does not exist; needed is the folder of a `nutmeg train` that has run.") from None
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise FileError(path, f"is no checkpoint of `nutmeg train`: {error}.") from None


def _train(training: Training, opened: Run, arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    from nutmeg.learning.policies.training import WALKS

    began, history = time.monotonic(), []

    def after(found: Iteration) -> None:
        line = dataclasses.asdict(found)
        history.append({**line.pop("measures"), **line})
        measured = ", ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in found.measures.items())
        said = f"reward {found.reward:.2f}, {measured}, level {found.level:.2f}"
        bar.update(task, completed=found.number, description=said)
        if found.number % 25 == 0:
            terminal.progress_line(f"iteration {found.number} of {arguments.iterations}: {said}")

    def keep(checkpoint: dict[str, Any]) -> None:
        opened.write(_CHECKPOINT, _packed(checkpoint))
        opened.write(_WEIGHTS, _packed(training.network()._asdict()))
        for name, text in _files(training, opened).items():
            opened.write(name, text)
        lines = [json.dumps(line) for line in history]
        opened.write(f"progress-{training.iterations:06d}.jsonl", "\n".join(lines) + "\n")
        seconds = round(opened.seconds_before + time.monotonic() - began, 1)
        results = {"iterations": training.iterations, **history[-1], "seconds": seconds}
        opened.write("results.json", json.dumps(results, indent=1) + "\n")
        _write_report(training.settings, opened, arguments)
        history.clear()

    with terminal.progress() as bar:
        task = bar.add_task("training", total=arguments.iterations, completed=training.iterations)
        training.run(arguments.iterations, on_iteration=after, checkpoint=keep)
    training.task.close()
    walks = arguments.task in WALKS
    filmed = walks or arguments.task == "dribble"
    if filmed and arguments.video and (video := _film(opened.folder, arguments, terminal)):
        _write_report(training.settings, opened, arguments, video)
    files = [*_files(training, opened), _WEIGHTS, "report.html"]
    if arguments.onnx:
        from nutmeg.motion.policy_onnx import write_onnx

        write_onnx(opened.folder / "policy.onnx", training.network(), training.task.image)
        files.append("policy.onnx")
    terminal.say(f"wrote {', '.join(files)} to {opened.folder}.")
    if walks:
        terminal.say(f"watch it:  {_watch(training.settings, opened.folder)}")
    return {
        "robot": arguments.robot,
        "type": arguments.type,
        "iterations": training.iterations,
        "level": training.level,
        "seconds": round(opened.seconds_before + time.monotonic() - began, 3),
        "files": [str(opened.folder / name) for name in files],
    }


def _write_report(settings: TrainSettings, opened: Run, arguments: Arguments, video: str = "") -> None:
    """Writes the report of the training up to now."""
    from nutmeg.learning.policies.training import WALKS, Iteration
    from nutmeg.view.reports.report import Card, duration, number, write_page
    from nutmeg.view.reports.runs import Progress, progress_report, read_curves

    last = read_json(opened.folder / "results.json") or {}
    folder = opened.folder
    about = Progress(
        title=f"Training: {settings.task} of {settings.robot} {settings.kind}",
        kind="train",
        summary=f"{last['iterations']} of {arguments.iterations} iterations are done: {last['cycles']:,} cycles of a "
        f"robot, {settings.worlds} robots at once. The same command goes on, and more --iterations go further.",
        command=opened.resume_command,
        cards=(
            Card(name="reward", value=number(last["reward"]), unit="each second"),
            *(Card(name=name.replace("_", " "), value=number(last[name])) for name in _MEASURES[settings.task]),
            Card(name="level", value=f"{last['level']:.0%}", note="how hard the task is by now"),
            Card(name="time", value=duration(last["seconds"])),
        ),
        meanings={
            **{name: note for name, note in field_notes(Iteration).items() if name != "measures"},
            **_MEASURES[settings.task],
        },
        facts={
            "robot": f"{settings.robot} {settings.kind}",
            "robots at once": settings.worlds,
            "actions of a robot in an iteration": settings.ppo.cycles,
            "first level": settings.level,
            "seed": settings.seed,
            "began with": arguments.start or "nothing",
        },
        next_commands=(
            (
                _watch(settings, folder),
                _watch(settings, folder, "measure"),
                *((f"nutmeg play --left {folder / 'params.toml'}",) if settings.robot == "nao-spark" else ()),
            )
            if settings.task in WALKS
            else ()
        ),
        video=video,
    )
    write_page(folder / "report.html", progress_report(about, read_curves(folder)))


def _watch(settings: TrainSettings, folder: Path, how: str = "drive") -> str:
    """The command that shows or measures a walk."""
    drives = "" if settings.actuation == "ideal" else f" --actuation {settings.actuation}"
    return f"nutmeg walk {how} {settings.robot} --params {folder}{drives}"


def _film(folder: Path, arguments: Arguments, terminal: Terminal) -> str:
    """Films the policy; returns the name of the video. Without a renderer it prints what is missing."""
    from nutmeg.commands.walk_film import film_dribbling, film_walk
    from nutmeg.motion.dribble import read_dribbling
    from nutmeg.motion.walk.files import read_walk

    with terminal.counting("filming") as on_progress:
        try:
            if arguments.task == "dribble":
                film_dribbling(read_dribbling(folder), arguments.type, folder / FILM, on_progress=on_progress)
            else:
                walk = read_walk(str(folder))
                film_walk(walk, folder / FILM, actuation=arguments.actuation, on_progress=on_progress)
        except EnvironmentProblem as error:
            terminal.warn(f"there is no video of the {arguments.task}, everything else is there: {error}")
            return ""
    return FILM


def _packed(arrays: dict[str, Any]) -> bytes:
    """Arrays as the bytes of an `.npz` file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _files(training: Training, opened: Run) -> dict[str, str]:
    """The files beside the weights, by name: a walk file, a dribbling, or the corrected motions."""
    from nutmeg.learning.policies.motion_task import MotionTask
    from nutmeg.motion import dribble
    from nutmeg.motion.keyframes import motion_text

    settings = training.settings
    if settings.task == "dribble":
        about, weights = f"A network of `{opened.resume_command}`.", {settings.kind or "plain": _WEIGHTS}
        learned = dribble.Dribbling(robot=settings.robot, walk=settings.walk, weights=weights, about=about)
        return {dribble.FILE: dribble.dribbling_text(learned)}
    if not isinstance(training.task, MotionTask):
        return {"params.toml": _walk_file(training, opened)}
    about = f"Keyframes as before, corrected by a network of `{opened.resume_command}`."
    found = {}
    for motion in training.task.quickened():
        name = motion.name or f"get-up-{motion.lying}"
        made = dataclasses.replace(motion, about=about, correction=training.task.correction)
        found[f"{name}.toml"] = motion_text(made)
    return found


def _walk_file(training: Training, opened: Run) -> str:
    """The walk file of the policy; its highest velocities are those that were commanded at the present level."""
    from nutmeg.motion.policy import PolicySettings
    from nutmeg.motion.walk.files import Origin, WalkParameters, walk_text

    settings, rewards = training.settings, training.task.rewards[0]
    ahead, aside, turn = (round(training.level * float(speed), 2) for speed in rewards.fastest)
    policy = PolicySettings(
        weights={settings.kind or "plain": _WEIGHTS},
        fastest=(ahead, aside, turn),
        back=round(training.level * float(rewards.back), 2),
        gait=training.task.gait,
    )
    origin = Origin(
        about="A policy of `nutmeg train`.", command=opened.resume_command, seed=settings.seed, task="train"
    )
    return walk_text(
        WalkParameters(robot=settings.robot, name=opened.folder.name, facing="hold", policy=policy, origin=origin)
    )
