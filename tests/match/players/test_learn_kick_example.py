"""The kick is judged by robots that have just stopped walking, and a search makes it better."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.match.players.registry import load_function
from nutmeg.motion.keyframes import shipped_motion

EXAMPLE = Path(__file__).parents[3] / "examples" / "learn_kick.py"
cost, kick_space, kicking, learn_kick, try_kick = (
    load_function(f"{EXAMPLE}:{name}") for name in ("cost", "kick_space", "kicking", "learn_kick", "try_kick")
)


def test_a_kick_that_comes_with_nutmeg_does_about_what_its_file_says() -> None:
    """Steps of 20 ms make distances differ: a foot is up to 5 cm inside the ball when the engine sees it touch."""
    motion = shipped_motion("nao-spark", "kick", "type2")
    ahead, aside, stood = try_kick("type2", motion, seed=4)
    assert stood.mean() > 0.8
    assert ahead.mean() == pytest.approx(motion.distance, rel=0.35)
    assert aside.mean() < 0.3 * motion.distance
    assert motion.seconds < 1.5


def test_a_ball_that_lies_elsewhere_makes_a_kick_worse_and_a_search_makes_it_better(
    capsys: pytest.CaptureFixture[str],
) -> None:
    motion = shipped_motion("nao-spark", "kick", "type0")
    spoilt = motion.with_numbers({"ball.ahead": motion.ball[0] + 0.08})
    assert cost("type0", spoilt) > cost("type0", motion) + 0.5
    learned = learn_kick("type0", generations=1, population=4, workers=1, step=0.01)
    assert learned.frame != motion.frame
    assert np.isfinite(learned.distance)
    assert "generation 1" in capsys.readouterr().out


def test_the_space_has_the_numbers_of_the_first_frames_and_of_the_ball() -> None:
    names = kick_space(shipped_motion("nao-spark", "kick", "type0"), "type0").names
    assert {"frame1.seconds", "frame3.llj3", "ball.ahead", "ball.left"} <= set(names)
    assert not any(name.startswith("frame4") for name in names)
