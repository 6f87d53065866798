"""The examples of the how-to on own players run as they are written."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nutmeg.match.game import Game
from nutmeg.match.rules.book import load_rules
from nutmeg.net.simspark.server import Server, ServerSettings

EXAMPLES = Path(__file__).parents[3] / "examples" / "own_player"


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=True).stdout


@pytest.mark.slow
def test_the_own_player_brings_the_ball_forward_in_this_process() -> None:
    words = run("play_here.py").split()
    assert words[:3] == ["after", "15", "s"]
    assert float(words[6]) > 0.3


@pytest.mark.slow
def test_the_same_player_brings_it_forward_over_the_socket() -> None:
    rules = load_rules("sim3d").with_match(automatic_kick_off=True, wait_before_kick_off=1.0)
    game = Game(rules, seed=1)
    settings = ServerSettings(agent_port=0, monitor_port=0, pace="sync")
    with Server(game, settings) as server:
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            said = run("play_over_socket.py", str(server.agent_port), "750")
        finally:
            server.stop()
            thread.join(120.0)
    assert said == "played 750 cycles\n"
    assert game.world.ball[0] > 0.3
