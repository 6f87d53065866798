"""Train a network by reinforcement, from thousands of robots at once: a walk, or corrections of get-ups or of a kick.

Writes a folder with weights.npz and a file of progress for every 25 iterations. A walk has params.toml beside it, for
`nutmeg walk --params`, `nutmeg play --left` and `nutmeg agents`; corrections have the motions that they belong to
(get-up-front.toml, get-up-back.toml or kick.toml). Ctrl-C saves; the same command with the same --output goes on and
ends with the same numbers, and more --iterations go further. Sixteen cores and a GPU for the networks walk at 1 m/s
after nine minutes; two busy cores simulated a twelfth as many cycles a second.

example: nutmeg train walk --robot nao-spark --type type0
         nutmeg train get-up --type type1
         nutmeg train kick --type type2 --worlds 1024
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

from nutmeg.base.errors import EnvironmentProblem, FileError
from nutmeg.base.journal import command_line, open_run
from nutmeg.base.settings import Bounds
from nutmeg.commands.options import Count, JsonOption, OptionalOutput, Seed

if TYPE_CHECKING:
    from nutmeg.base.journal import Run
    from nutmeg.learning.policies.training import Iteration, Training, TrainSettings
    from nutmeg.view.terminal import Terminal

CHECKPOINT, WEIGHTS = "checkpoint.npz", "weights.npz"
"""Files of a run: what training goes on from, and the network alone."""


LEARNING: dict[str, dict[str, float]] = {
    "walk": {},
    "get-up": {"discount": 0.995, "spread": 0.5},
    "kick": {"discount": 0.995, "spread": 0.3},
}
"""What differs between tasks: motions end with what counts, and begin as something that nearly works."""


@dataclass(frozen=True, kw_only=True)
class Arguments(JsonOption):
    """Options of `nutmeg train`."""

    task: tyro.conf.Positional[Literal["walk", "get-up", "kick"]] = "walk"
    """What to learn."""
    robot: str = "nao-spark"
    """Which robot; it needs velocity drives and legs like a Nao's."""
    type: str = "type0"
    """The type of the robot."""
    iterations: Count = 600
    """How many iterations; each is 24 cycles of every robot."""
    worlds: Annotated[int, Bounds(1, 100_000)] = 512
    """How many robots learn at once."""
    start: Path | None = None
    """The folder of another training, to begin with its networks."""
    level: Annotated[float, Bounds(0.01, 1.0)] = 0.3
    """How hard the task is at the beginning; it grows by itself. Of a walk: the share of the highest velocities."""
    entropy: Annotated[float, Bounds(0.0, 1.0)] = 0.0005
    """What spread of the actions is worth: more explores longer."""
    seed: Seed = 1
    """Seed of everything random."""
    threads: Annotated[int, Bounds(1, 256)] = 2
    """How many threads simulate; results are the same."""
    device: str = "cpu"
    """Where the networks are: cpu, or cuda for a GPU, which needs torch."""
    output: OptionalOutput = None
    """Folder of the run; runs/train-TASK-ROBOT-TYPE-SEED if left out."""


def run(arguments: Arguments, terminal: Terminal) -> dict[str, Any]:
    """Trains, or goes on with it."""
    from nutmeg.learning.policies.ppo import PpoSettings
    from nutmeg.learning.policies.training import Training, TrainSettings

    settings = TrainSettings(
        task=arguments.task,
        robot=arguments.robot,
        kind=arguments.type,
        worlds=arguments.worlds,
        seed=arguments.seed,
        level=arguments.level,
        ppo=PpoSettings(entropy=arguments.entropy, **LEARNING[arguments.task]),
    )
    name = f"train-{arguments.task}-{arguments.robot}-{arguments.type}-{arguments.seed}"
    folder = arguments.output or Path("runs") / name
    first = None if arguments.start is None else _kept(arguments.start / CHECKPOINT)
    try:
        training = Training(settings, threads=arguments.threads, device=arguments.device)
    except ImportError as error:
        raise EnvironmentProblem(
            f"--device {arguments.device} needs torch: {error}. Install it, or leave it out."
        ) from None
    with open_run(
        folder,
        say=terminal.say,
        saved="block of 25 iterations",
        command=command_line("train", dataclasses.replace(arguments, output=folder), positional="task"),
        seed=settings.seed,
        configuration={**dataclasses.asdict(settings), "start": str(arguments.start or "")},
    ) as opened:
        if (folder / CHECKPOINT).exists():
            training.load(_kept(folder / CHECKPOINT))
        elif first is not None:
            training.load(first, go_on=False)
        return _train(training, opened, arguments, terminal)


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
        opened.write(CHECKPOINT, _packed(checkpoint))
        opened.write(WEIGHTS, _packed(training.network()._asdict()))
        for name, text in _files(training, opened).items():
            opened.write(name, text)
        lines = [json.dumps(line) for line in history]
        opened.write(f"progress-{training.iterations:06d}.jsonl", "\n".join(lines) + "\n")
        history.clear()

    with terminal.progress() as bar:
        task = bar.add_task("training", total=arguments.iterations, completed=training.iterations)
        training.run(arguments.iterations, on_iteration=after, checkpoint=keep)
    training.task.close()
    files = [*_files(training, opened), WEIGHTS]
    terminal.say(f"wrote {', '.join(files)} to {opened.folder}.")
    if arguments.task == "walk":
        terminal.say(f"watch it:  nutmeg walk {arguments.robot} --params {opened.folder} --command 0.6,0,0")
    return {
        "robot": arguments.robot,
        "type": arguments.type,
        "iterations": training.iterations,
        "level": training.level,
        "seconds": round(opened.seconds_before + time.monotonic() - began, 3),
        "files": [str(opened.folder / name) for name in files],
    }


def _packed(arrays: dict[str, Any]) -> bytes:
    """Arrays as the bytes of an `.npz` file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _files(training: Training, opened: Run) -> dict[str, str]:
    """What is written beside the weights: a walk file, or the corrected motions."""
    from nutmeg.learning.policies.motion_task import MotionTask
    from nutmeg.motion.keyframes import motion_text

    if not isinstance(training.task, MotionTask):
        return {"params.toml": _walk_file(training.settings, opened)}
    about = f"Keyframes as before, corrected by a network of `{opened.resume_command}`."
    found = {}
    for motion in training.task.quickened():
        name = motion.name or f"get-up-{motion.lying}"
        made = dataclasses.replace(motion, about=about, correction=training.task.correction)
        found[f"{name}.toml"] = motion_text(made)
    return found


def _walk_file(settings: TrainSettings, opened: Run) -> str:
    """The walk file of the policy; its highest velocities are those that were commanded."""
    from nutmeg.motion.policy import PolicySettings
    from nutmeg.motion.walk.files import Origin, WalkParameters, walk_text

    policy = PolicySettings(
        weights={settings.kind: WEIGHTS},
        fastest=settings.rewards.fastest,
        back=settings.rewards.back,
        gait=settings.gait,
    )
    origin = Origin(
        about="A policy of `nutmeg train`.", command=opened.resume_command, seed=settings.seed, task="train"
    )
    return walk_text(
        WalkParameters(robot=settings.robot, name=opened.folder.name, facing="hold", policy=policy, origin=origin)
    )
