"""Self-modelling: a change of the body is noticed, explained and walked around, alone and in a match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nutmeg.experiments.back_to_reality import self_modelling
from nutmeg.experiments.experiment import perform
from nutmeg.match.worlds.physical.percept import JOINTS, WITHOUT_TOES
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
    (life,), (half,) = answer["lives"], answer["halves"]
    assert [one["alarm"] for one in life["windows"]] == [False] * 4 + [True, False]
    assert life["found"]
    assert half["arms"]["undamaged"]["alarms"] == []
    played = half["arms"]["self-model"]
    assert played["alarms"] == half["arms"]["damaged"]["alarms"], "until it adapts, both are the same"
    assert len(played["alarms"]) == 1
    assert 0.0 < played["alarms"][0] - played["began"] < 5.0
    ((_, joint, strength),) = played["identified"]
    assert (joint, strength) == (half["joint"], pytest.approx(half["strength"], abs=0.05))
    assert all((tmp_path / name).stat().st_size > 5000 for name in ("life.png", "match.png"))
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


def test_strengths_of_drives_are_found_although_contacts_disturb_a_fifth_of_the_cycles() -> None:
    rng = np.random.default_rng(0)
    strengths = np.ones(WITHOUT_TOES)
    strengths[JOINTS.index("rlj4")] = 0.3
    commands = rng.normal(0.0, 3.0, (150, WITHOUT_TOES))
    speeds = strengths * commands + rng.normal(0.0, 0.14, commands.shape)
    speeds[rng.random(commands.shape) < 0.2] = 0.0
    assert self_modelling.identified(commands, speeds) == pytest.approx(strengths, abs=0.1)


def half(noticed: float | None, joint: str, *, false_alarm: bool = False, gain: float = 0.1) -> dict[str, Any]:
    alarms = [] if noticed is None else [30.0 + noticed]
    played = {"began": 30.0, "speed": 0.5, "falls": 3.0, "alarms": alarms, "identified": [], "errors": []}
    return {
        "seed": 0,
        "joint": "llj4",
        "strength": 0.3,
        "damaged_at": 30.0,
        "arms": {
            "undamaged": {**played, "alarms": [12.0] if false_alarm else []},
            "damaged": played,
            "self-model": {**played, "speed": 0.5 + gain, "falls": 2.0, "identified": [(35.0, joint, 0.31)]},
        },
    }


def test_halves_in_which_it_notices_nothing_or_too_much_are_counted() -> None:
    cases = (half(1.0, "llj4"), half(None, "rlj4"), half(6.0, "llj4", false_alarm=True, gain=-0.1))
    met = [[claim.ours.mean for claim in self_modelling._match_claims([one])] for one in cases]
    assert met[0] == pytest.approx([1.0, 0.0, 1.0, 0.01, 0.1, -1.0])
    assert met[1][:3] == [0.0, 0.0, 0.0]
    assert met[2][:2] == [0.0, 1.0]
    assert met[2][4] == pytest.approx(-0.1)


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
