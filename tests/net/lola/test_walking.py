"""The example walks a Nao over its socket, with servos and with everything in between that a real one has."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.net.lola.client import LolaClient

Serving = Callable[..., AbstractContextManager[Any]]
EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(name="example", scope="module")
def _example() -> ModuleType:
    return loaded(EXAMPLES / "lola_walk.py")


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("actuation", ["servo", "motoflex"])
def test_a_nao_walks_ahead_and_stays_on_its_feet(serving: Serving, example: ModuleType, actuation: str) -> None:
    with serving(actuation=actuation, seed=1) as served, LolaClient.connect(served.path()) as client:
        robot = served.host.robots["nao-1"]
        nao = example.WalkingNao(client)
        nao.stand(1.0)
        start = robot.pose.copy()
        nao.wanted[:] = (0.08, 0.0, 0.0)
        *_, senses = nao.walk(4.0)
        assert np.abs(senses.angles).max() < 0.4
        assert 0.15 < robot.pose[0] - start[0] < 0.6
        assert abs(robot.pose[1] - start[1]) < 0.15


def test_names_that_do_not_exist_and_walks_of_other_robots_are_refused(nao: Any, example: ModuleType) -> None:
    with pytest.raises(UnknownNameError, match="robot"):
        example.ReportedNao().robot("somebody")
    with LolaClient.connect(nao.path()) as client:
        client.sense()
        with pytest.raises(UnknownNameError, match="HeadYaw"):
            client.move({"HeadYow": 0.0})
        with pytest.raises(UnknownNameError, match="Chest"):
            client.light("Cheast", (1, 0, 0))
        client.send()
        with pytest.raises(UsageError, match="nao-spark"):
            example.WalkingNao(client, "initial")


def test_a_trial_of_back_to_reality_is_played_and_its_angles_are_logged(
    nao: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = loaded(EXAMPLES / "btr_robots" / "play.py")
    monkeypatch.setattr(play, "GO_SECONDS", 0.6)
    times = 0.024 * np.arange(30)
    commands = np.stack([0.3 * np.sin(6 * times), np.full(30, 0.2)], axis=1)
    rows = "\n".join(",".join(map(str, (time, *row))) for time, row in zip(times, commands, strict=True))
    (tmp_path / "i00-01.csv").write_text(f"time,HeadYaw,HeadPitch\n{rows}\n")
    (tmp_path / "results").mkdir()
    monkeypatch.setattr(
        "sys.argv", ["play", f"lola:{nao.path()}", str(tmp_path / "i00-01.csv"), str(tmp_path / "results")]
    )
    play.main()
    head, *lines = (tmp_path / "results" / "i00-01.csv").read_text().splitlines()
    assert head == "time,angles.HeadYaw,angles.HeadPitch"
    seen = np.array([line.split(",") for line in lines], float)
    assert np.abs(seen[4:, 1] - commands[:-4, 0]).max() < 0.12, "the head follows within a tenth of a second"
    assert seen[-1, 2] == pytest.approx(0.2, abs=0.05)


def test_who_stiffens_one_joint_leaves_the_others_as_stiff_as_they_were(serving: Serving) -> None:
    with serving() as served, LolaClient.connect(served.path()) as client:
        assert not client.sense().stiffness.any(), "nobody has set it"
        client.send()
        for _ in client.cycles(100):
            client.move({"HeadPitch": 0.2}, stiffness=1.0)
        assert served.host.robots["nao-1"].pose[2] > 0.28, "it stands"
