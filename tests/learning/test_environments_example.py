"""The example of the how-to on reinforcement learning runs as it is written."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "gym_walk.py"


@pytest.mark.slow
def test_robots_of_the_example_stand_and_walk() -> None:
    command = [sys.executable, "-W", "error", str(EXAMPLE), "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    standing = [int(number) for line in lines for number in re.findall(r"(\d+) of 64 stand", line)]
    assert min(standing) > 50
    assert all(float(line.split()[-2]) > 0.3 for line in lines), "metres in four seconds"
