"""The kick is judged in the world of a match, and a search makes it better."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.match.players.registry import load_function
from nutmeg.motion.keyframes import shipped_motion

EXAMPLE = Path(__file__).parents[3] / "examples" / "learn_kick.py"
kick_space, learn_kick, measure_kick, try_kicks = (
    load_function(f"{EXAMPLE}:{name}") for name in ("kick_space", "learn_kick", "measure_kick", "try_kicks")
)
KICK = shipped_motion("nao-spark", "kick")


@pytest.mark.parametrize(("name", "far", "shortest"), [("kick", 3.0, 0.3), ("pass", 2.0, 0.5)])
def test_a_kick_that_comes_with_nutmeg_does_what_its_file_says(name: str, far: float, shortest: float) -> None:
    """Steps of 20 ms make distances differ: a foot is up to 5 cm inside the ball when the engine sees it touch."""
    motion = shipped_motion("nao-spark", name)
    kicks = measure_kick(motion, tries=16, seed=4, within=motion.tolerance)
    assert not kicks.fell.any()
    assert motion.distance > far
    assert kicks.distance.mean() == pytest.approx(motion.distance, rel=0.3)
    assert kicks.distance.min() > shortest * motion.distance
    assert np.sqrt(np.mean(kicks.aside**2)) < 0.2 * motion.distance
    assert motion.seconds < 1.5


def test_a_search_from_a_spoilt_kick_makes_it_better() -> None:
    spoilt = KICK.with_numbers({"ball.ahead": KICK.ball[0] + 0.03})
    learned = learn_kick(spoilt, generations=2, population=4, only=("ball.ahead", "ball.left"), seed=1)
    assert learned.ball != spoilt.ball
    assert learned.frame == spoilt.frame
    assert learned.distance > 0


def test_the_space_has_all_numbers_or_those_named() -> None:
    whole = kick_space(KICK)
    assert {"frame1.seconds", "ball.ahead", "ball.left"} <= set(whole.names)
    assert kick_space(KICK, only=("ball.left",)).names == ("ball.left",)
    with pytest.raises(UnknownNameError):
        kick_space(KICK, only=("frame1.wing",))
