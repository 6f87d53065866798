"""Self-modelling: a change of the body is noticed, explained and walked around; claims count lives, not hopes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nutmeg.experiments.back_to_reality import self_modelling
from nutmeg.experiments.experiment import perform
from nutmeg.reality.btr.controllers import make_controllers
from nutmeg.reality.twin import Twin, TwinSettings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_a_leg_that_becomes_hard_to_move_is_noticed_and_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_modelling, "WINDOWS", 6)
    monkeypatch.setattr(self_modelling, "EVALUATIONS", 40)
    monkeypatch.setattr(self_modelling, "adapted", lambda _twin, controllers, *_: controllers.space.start)
    answer = perform(self_modelling, tmp_path, self_modelling.Settings(quick=True, seeds=1))
    (life,) = answer["lives"]
    assert [one["alarm"] for one in life["windows"]] == [False] * 4 + [True, False]
    assert life["found"]
    assert (tmp_path / "life.png").stat().st_size > 5000
    shown = self_modelling.table(answer)
    assert all(len(row) == len(shown.columns) for row in shown.rows)


def test_a_worn_leg_makes_the_robot_slower() -> None:
    twin = Twin(TwinSettings(robot="ers7"), self_modelling.SEARCHED)
    controllers = make_controllers(self_modelling.TROT, twin)
    healthy = twin.space.start
    worn = healthy.copy()
    worn[2] = 3.0
    trot = controllers.space.start
    fresh, slow = (self_modelling.speed(twin, controllers, body, trot) for body in (healthy, worn))
    assert slow < 0.95 * fresh


def life(alarms: list[int], *, found: bool = True, gain: float = 0.02) -> dict[str, Any]:
    windows = [
        {
            "alarm": number in alarms,
            "self": 0.1 + gain * (number > 4),
            "without": 0.1,
            "told": 0.12,
            "error": 1.0,
            "limit": 2.0,
        }
        for number in range(self_modelling.WINDOWS)
    ]
    return {"windows": windows, "alarms": [{"window": number} for number in alarms], "found": found}


def test_alarms_that_come_too_early_or_never_are_counted() -> None:
    met = [[claim.ours.mean for claim in self_modelling._claims([life(alarms)] * 2)] for alarms in ([4], [2], [])]
    assert np.array(met)[:, 0].tolist() == [1.0, 0.0, 0.0]
    assert np.array(met)[:, 1].tolist() == [0.0, 1.0, 0.0]
    assert met[0][3] == pytest.approx(0.02)
