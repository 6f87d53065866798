"""Counts what one reads to follow the four paths of the architecture page: modules, and changes of file.

    .venv/bin/python scripts/trace_paths.py

The jobs run with a profiler that sees every Python function of Nutmeg in this thread; compiled kernels are not seen.
A module counts if one of its functions runs; a change of file is a call after which another file is read.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import numpy as np

import nutmeg

SOURCE = str(Path(nutmeg.__file__).parent)
EXAMPLE = Path(__file__).parents[1] / "examples" / "servo_xl330" / "identify.toml"
MAX_JOIN_ROUNDS = 200
"""Rounds of 20 cycles within which both agents must have joined."""


class Trace:
    """Files in the order in which their functions are called."""

    def __init__(self) -> None:
        self.files: list[str] = []

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """Records what is called while inside."""

        def see(frame: FrameType, event: str, _argument: object) -> None:
            if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
                self.files.append(frame.f_code.co_filename)

        sys.setprofile(see)
        try:
            yield
        finally:
            sys.setprofile(None)

    def changes(self) -> int:
        """How often the next function stands in another file."""
        return sum(one != other for one, other in zip(self.files, self.files[1:], strict=False))


def served_cycle(trace: Trace) -> int:
    """Cycles of a served match with two agents."""
    from nutmeg.commands.serve import rehearse
    from nutmeg.match.game import Game
    from nutmeg.match.rules.book import load_rules
    from nutmeg.net.simspark.agent import play_crowd, spark_lines
    from nutmeg.net.simspark.server import Server, ServerSettings

    rules = load_rules("sim3d")
    rehearse(rules)  # a server that compiles while agents wait takes them for hung ones
    with Server(Game(rules, seed=1), ServerSettings(agent_port=0, monitor_port=0, pace="sync")) as server:
        address = ("127.0.0.1", server.agent_port)
        threading.Thread(target=play_crowd, args=(*address, 2, spark_lines(), 100_000), daemon=True).start()
        for _ in range(MAX_JOIN_ROUNDS):  # a busy machine needs its time until both have joined
            server.run(20)
            if server.agents == 2:
                break
        else:
            raise SystemExit(f"{server.agents} of 2 agents play: the others were disconnected, or their program ended.")
        server.run(60)
        with trace():
            server.run(30)
    return 30


def walk_evaluation(trace: Trace) -> int:
    """A walk tried on a course in one world."""
    from nutmeg.base.constants import CONTROL_CYCLE
    from nutmeg.learning.courses import Bout, read_course, run_bouts
    from nutmeg.motion.walk.files import read_walk

    course = read_course("go-to-target")
    bout = Bout(read_walk("initial"), course.trajectory[0], np.random.default_rng(1))
    run_bouts("nao-spark", [bout])
    with trace():
        run_bouts("nao-spark", [bout])
    return round(sum(target.seconds for target in bout.trajectory.target) / CONTROL_CYCLE)


def identification(trace: Trace) -> int:
    """Sixteen candidates of a servo."""
    from nutmeg.cli import main

    with tempfile.TemporaryDirectory() as folder, trace():
        main(["identify", str(EXAMPLE), "--seed", "3", "--evaluations", "16", "--output", f"{folder}/run", "--json"])
    return 1


def behavioural_game(trace: Trace) -> int:
    """Cycles of one behavioural game, four against four."""
    from nutmeg.match.behavioural_game import BehaviourGame
    from nutmeg.match.loop import GameLoop
    from nutmeg.match.players.tactics.tactician import strategy_decide
    from nutmeg.match.rules.book import rules_on

    rules = rules_on("spl2011", "spl2011").with_match(players=4, automatic_kick_off=True)
    game = BehaviourGame(rules, seed=1, left="a", right="b")
    players = game.team("a", strategy_decide("roles"), 4) | game.team("b", strategy_decide("roles"), 4)
    loop = GameLoop(game, players)
    for _ in range(50):
        loop.cycle()
    with trace():
        for _ in range(10):
            loop.cycle()
    return 10


def main() -> None:
    """Prints a table."""
    paths: dict[str, Callable[[Trace], int]] = {
        "served match, a cycle": served_cycle,
        "walk evaluation, a cycle": walk_evaluation,
        "identification, a run": identification,
        "behavioural game, a cycle": behavioural_game,
    }
    for name, job in paths.items():
        trace = Trace()
        cycles = job(trace)
        line = f"{name}: {len(set(trace.files))} modules, {trace.changes() / cycles:.0f} changes of file\n"
        sys.stderr.write(line)


if __name__ == "__main__":
    main()
