"""The `nutmeg` command: finds the subcommand, runs it, turns errors into one paragraph and an exit code.

Each command is a module in `nutmeg.commands` with a frozen dataclass `Arguments` (its fields are the options) and a
function `run(arguments, terminal)` that returns what `--json` prints. A command that is really several has sub-commands
(`SUBCOMMANDS`), each with options of its own. A module is imported only when its command is called, so that
`nutmeg --help` answers at once.

Exit codes: 0 done, 1 failed, 2 called wrongly, 3 the machine lacks something, 130 interrupted.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from nutmeg import __version__
from nutmeg.base.errors import NutmegError, UnknownNameError, UsageError
from nutmeg.base.interrupts import Starting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GROUPS: dict[str, dict[str, str]] = {
    "watch": {
        "demo": "a match in the browser: the same as nutmeg play",
        "play": "two teams play a match, in the browser or as fast as it goes; report, replay, video",
        "zoo": "all robots on a pitch, in the browser",
        "view": "put a robot (built in, or your own) on a field and look at it",
        "replay": "play a recording in the browser, or make a page of it that plays offline",
        "video": "make an MP4 of a recording",
        "runs": "list all runs of a folder and compare them",
    },
    "play and connect": {
        "tournament": "play many games of many teams, with goal differences and their errors",
        "serve": "serve a match (SimSpark, rcssservermj) or robots (LoLA, OPEN-R, ROS) to other people's programs",
        "agents": "let the built-in team, or players of your own, play on such a server",
        "calibrate": "fit the behavioural world to recordings of matches, physical or real",
    },
    "learn": {
        "walk": "drive or measure a learned walk; compare a walk with ideal and with realistic motors",
        "learn": "learn a faster, steadier walk: tasks and reward weighting of a RoboCup champion",
        "train": "train a policy: a network that walks, by reinforcement learning",
        "reproduce": "run an experiment of a paper and put its numbers beside the paper's",
    },
    "identify": {
        "import": "turn a CSV log of a real robot into a recording",
        "excite": "design motions that tell most about a robot's body, before recording any",
        "identify": "find the numbers of a robot's body from recordings of it",
        "btr": "Back-to-Reality: learn in simulation, correct it by a few trials in reality, repeat",
        "servo": "step, frequency, hysteresis and torque-speed plots of a servo",
        "camera": "look through a robot's camera, with the effects of lens and sensor one by one",
    },
    "models and files": {
        "robots": "list the robots, or show one in full",
        "export": "write a robot as MJCF or URDF, or a recording for Foxglove or rerun",
        "mesh": "simplify a mesh for collisions: convex hull, then fewer vertices",
        "pack": "make one file of a recording",
    },
    "this machine": {
        "bench": "measure speed and memory beside bare MuJoCo",
        "doctor": "check what is installed, say what to install, compile ahead",
    },
}
"""What each command does, in groups by what one wants."""
COMMANDS = {name: about for group in GROUPS.values() for name, about in group.items()}
SUBCOMMANDS: dict[str, dict[str, tuple[str, str, str]]] = {
    "serve": {
        "spark": ("serve", "Arguments", "a match, in the protocol of the 3D simulation league (SimSpark)"),
        "mj": ("serve", "MjArguments", "a match of Booster T1 and K1 robots, in rcssservermj's protocol"),
        "lola": ("serve_robots", "LolaArguments", "Nao V6 robots, at LoLA's sockets"),
        "openr": ("serve_robots", "OpenrArguments", "AIBO robots, at OPEN-R's ports"),
        "ros": ("serve_robots", "RosArguments", "any robots, as ROS topics over rosbridge's WebSocket"),
    },
    "walk": {
        "drive": ("walk", "DriveArguments", "watch a learned walk in the browser and drive it by keyboard"),
        "measure": ("walk", "MeasureArguments", "measure speeds, stopping distance and falls of a learned walk"),
        "compare": ("walk", "CompareArguments", "try an open-loop walk under several actuations"),
    },
    "camera": {
        "show": ("camera", "Arguments", "draw what a camera sees, with its effects one by one"),
        "fit-data": ("camera", "FitDataArguments", "write pictures of several views, for nutmeg identify"),
        "frames": ("camera", "FramesArguments", "write what robots saw in a recorded match, with labels for detectors"),
    },
}
"""Commands that are really several: module, class of the options, and what each does. The first is the one that is
meant when none is named."""
MODULES = {"demo": "play", "import": "import_"}
"""The modules of commands that are not called as these."""
RENAMED = {
    ("serve", "--protocol"): "is now a sub-command: nutmeg serve lola, nutmeg serve openr, nutmeg serve spark",
    ("walk", "--measure"): "is now a sub-command: nutmeg walk measure ROBOT --params NAME",
    ("camera", "--fit-data"): "is now a sub-command: nutmeg camera fit-data ROBOT -o FOLDER",
    ("play", "--no-page"): "is now called --no-view",
    ("demo", "--no-page"): "is now called --no-view",
    ("zoo", "--no-page"): "is now called --no-view",
    ("camera", "--out"): "is now called --output",
    ("mesh", "--out"): "is now called --output",
    ("calibrate", "--out"): "is now called --output",
}
"""Options of version 0.1 that have another name now."""
INTERRUPTED = 130
NEWS_PERIOD = 15.0
"""Time between two remarks how much is compiled [s]."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        sys.stdout.write(_overview())
        return 0
    if arguments[0] in ("-V", "--version"):
        sys.stdout.write(f"nutmeg {__version__}\n")
        return 0
    try:
        return _run(arguments[0], arguments[1:])
    except NutmegError as error:
        sys.stderr.write(f"nutmeg: {error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("\nnutmeg: interrupted.\n")
        return INTERRUPTED
    except ImportError as error:  # Ctrl-C while a compiled library was loading
        if not isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise
        sys.stderr.write("\nnutmeg: interrupted.\n")
        return INTERRUPTED
    except BrokenPipeError:  # whoever read this has gone; the rest, written at exit, must not complain about it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # a disk or a network that fails where no command expects it
        place = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"nutmeg: {place}{error.strerror or error}.\n")
        return NutmegError.exit_code
    except MemoryError:
        sys.stderr.write("nutmeg: there is not enough memory for this. Ask for less, or end other programs.\n")
        return NutmegError.exit_code


def _run(name: str, rest: list[str]) -> int:
    if name not in COMMANDS:
        raise UnknownNameError("command", name, COMMANDS)
    for word in rest:
        if (name, option := word.partition("=")[0]) in RENAMED:
            raise UsageError(f"{option} {RENAMED[name, option]}.")
    from nutmeg.base.installation import ON_COMPILED, check_mujoco  # here, because it takes 30 ms to load

    if name != "doctor":  # which says it in its table
        check_mujoco()
    try:
        with Starting():
            module, arguments = _called(name, rest)
    except SystemExit as stop:  # tyro has printed help or a usage error
        return 0 if not stop.code else 2
    from nutmeg.view.terminal import Terminal

    _check_numbers(arguments)
    terminal = Terminal(json=arguments.json)
    ON_COMPILED[:] = [_compilation_news(terminal.say)]
    result = module.run(arguments, terminal)
    terminal.finish(result)
    return int(result.get("exit_code", 0)) if isinstance(result, dict) else 0


def _compilation_news(say: Callable[[str], object]) -> Callable[[int], None]:
    """Tells a user who waits for kernels to be compiled that this happens once, and how far it is."""
    said = time.monotonic()

    def tell(count: int) -> None:
        nonlocal said
        if count == 1:
            say("the first start compiles parts of the program, for a minute or two; later starts take seconds.")
        elif time.monotonic() - said < NEWS_PERIOD:
            return
        else:
            say(f"  {count} functions compiled so far")
        said = time.monotonic()

    return tell


def _called(name: str, rest: list[str]) -> tuple[Any, Any]:
    """The module of a command, and its options."""
    import tyro

    from nutmeg.commands.options import for_tyro, help_text

    file, kind, title, about = MODULES.get(name, name), "Arguments", f"nutmeg {name}", ""
    if name in SUBCOMMANDS:
        known = SUBCOMMANDS[name]
        chosen = rest[0] if rest and rest[0] in known else next(iter(known))
        if rest and rest[0] in known:
            title, rest = f"{title} {chosen}", rest[1:]
        file, kind, _ = known[chosen]
        width = max(map(len, known))
        lines = "\n".join(f"  nutmeg {name} {each:<{width}}  {what}" for each, (_, _, what) in known.items())
        about = f"\n\nsub-commands ({next(iter(known))} if none is named):\n{lines}"
    if name == "train":
        # Before numpy is loaded: robots are stepped by threads of their own, which those of its BLAS would disturb.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    module: Any = importlib.import_module(f"nutmeg.commands.{file}")
    options = getattr(module, kind)
    if {"-h", "--help"} & set(rest):
        description = inspect.cleandoc(options.__doc__ if kind != "Arguments" else module.__doc__) + about
        sys.stdout.write(help_text(title, description, options))
        raise SystemExit
    return module, tyro.cli(for_tyro(options), prog=title, args=rest)


def _check_numbers(arguments: Any) -> None:  # noqa: ANN401 (any command's options)
    """Refuses options outside the bounds that are declared for them."""
    from nutmeg.base.settings import check_bounds

    try:
        check_bounds(arguments)
    except ValueError as error:
        name, _, rest = str(error).partition(" ")
        raise UsageError(f"--{name.replace('_', '-')} {rest}") from None


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = "\n\n".join(
        "\n".join([f"{group}:", *(f"  {name:<{width}}  {about}" for name, about in commands.items())])
        for group, commands in GROUPS.items()
    )
    return f"""\
Nutmeg {__version__}: a robot-soccer laboratory.

usage: nutmeg COMMAND [options]        nutmeg COMMAND --help

{lines}

example: nutmeg demo
Every command takes --json: one JSON object as the last line of its output.
"""


if __name__ == "__main__":
    sys.exit(main())
