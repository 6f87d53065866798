"""Commands that agents sent to the league's own server, replayed on ours: the same percepts, within what is stated."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from nutmeg.base.errors import FileError, UsageError
from nutmeg.experiments import league_replay
from nutmeg.experiments.experiment import perform
from nutmeg.experiments.league_replay import DATA, ball_errors, errors, percepts_of, read_trace, replay


@pytest.mark.parametrize(("recording", "gyro", "force"), [("walk_type0", 16.0, 8.0), ("walk_type1", 4.0, 1.0)])
def test_a_recorded_walk_is_repeated_for_half_a_second(recording: str, gyro: float, force: float) -> None:
    lines = read_trace(DATA / f"{recording}.txt.gz")
    found = errors(percepts_of(lines), percepts_of(replay(lines)), cycles=25)
    print(recording, found)  # noqa: T201 (the errors are what one wants to see)
    assert found["gyro"] < gyro
    assert found["force"] < force
    assert found["contact"] >= 0.96
    assert found["joints"] < 0.25


def test_the_first_steps_of_a_walk_are_those_of_the_league_nearly_to_the_digit() -> None:
    lines = read_trace(DATA / "walk_type1.txt.gz")
    recorded, replayed = percepts_of(lines), percepts_of(replay(lines))
    for cycle in (95, 96):
        assert replayed[cycle].gyro == pytest.approx(recorded[cycle].gyro, abs=0.4)
        assert replayed[cycle].forces.keys() == recorded[cycle].forces.keys()
        for foot, force in recorded[cycle].forces.items():
            assert replayed[cycle].forces[foot] == pytest.approx(force, abs=0.3)


def test_a_recorded_kick_sends_the_ball_as_far_as_there() -> None:
    lines = read_trace(DATA / "kick_type0.txt.gz")
    found = ball_errors(percepts_of(lines), percepts_of(replay(lines)))
    print(found)  # noqa: T201
    assert found is not None
    assert found["there"] == pytest.approx(6.0, abs=0.01)
    assert found["here"] == pytest.approx(found["there"], rel=0.05)
    assert found["apart"] < 0.35


def test_a_recording_beside_itself_has_no_errors() -> None:
    recorded = percepts_of(read_trace(DATA / "walk_type0.txt.gz"))
    found = errors(recorded, recorded, cycles=50)
    assert (found["gyro"], found["joints"], found["acc"], found["force"], found["contact"]) == (0, 0, 0, 0, 1)
    shifted = [*recorded[1:], recorded[-1]]
    assert errors(recorded, shifted, cycles=50)["gyro"] > 20
    assert np.isfinite(errors(recorded, shifted, cycles=50)["force"])


def test_the_experiment_writes_its_table_answers_and_pictures(tmp_path: Path) -> None:
    answer = perform(league_replay, tmp_path / "run", league_replay.Settings(quick=True))
    assert {row["recording"] for row in answer["rows"]} == {"walk_type0", "walk_type1"}
    assert (tmp_path / "run" / "walk_type0.png").stat().st_size > 10_000
    assert (tmp_path / "run" / "walk_type1.txt").read_text(encoding="latin-1").count("\nS ") > 100
    assert len(league_replay.table(answer).rows) == 4


def test_what_is_no_recording_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"holds no recordings \(\*\.txt\.gz\)"):
        league_replay.run(tmp_path, league_replay.Settings(traces=tmp_path / "empty"))
    other = tmp_path / "other.txt.gz"
    other.write_bytes(gzip.compress(b"# begin\nhello\n"))
    with pytest.raises(FileError, match="the line 'hello' begins with none of"):
        read_trace(other)
    other.write_bytes(gzip.compress(b"C (syn)\n"))
    with pytest.raises(FileError, match="the line # begin is missing"):
        read_trace(other)
    other.write_bytes(b"no gzip")
    with pytest.raises(FileError, match="cannot be read"):
        read_trace(other)
