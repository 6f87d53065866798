"""The table of a host's tasks on the page."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nutmeg.net.host.robot_host import SCHEDULE_LABELS
from nutmeg.recording import Channel, RecordingWriter
from nutmeg.view.pages.hosted_robots import SCHEDULE_COLUMNS, ScheduleBoard, schedule_text
from nutmeg.view.pages.server import open_server
from nutmeg.view.stage.film import Film

EMPTY = "<mujoco><worldbody/></mujoco>"


def test_the_table_shows_the_numbers_of_the_moment(tmp_path: Path) -> None:
    channel = Channel(name="schedule.lola", labels=SCHEDULE_LABELS)
    with RecordingWriter.create(tmp_path / "a.nutmeg", [channel], kind="scene", seed=0, scene_xml=EMPTY) as writer:
        writer.append(0.0, np.zeros(len(SCHEDULE_LABELS)))
        writer.append(1.0, np.arange(1.0, len(SCHEDULE_LABELS) + 1))
    film = Film.open(tmp_path / "a.nutmeg")
    with open_server("127.0.0.1", 0) as server:
        board = ScheduleBoard(server, film)
        board.show(1.0)
        assert "| lola | 1 | 2 | 3 | 7 | 6 |" in board._table.content


def test_every_column_is_one_that_hosts_record() -> None:
    assert set(SCHEDULE_COLUMNS) <= set(SCHEDULE_LABELS)
    assert (
        schedule_text({"sense": np.array([10, 1, 0, 0.51234, 2.0])}).splitlines()[-1]
        == "| sense | 10 | 1 | 0 | 0.5123 | 2 |"
    )


def test_other_recordings_have_no_table(recorded: Path) -> None:
    with open_server("127.0.0.1", 0) as server:
        board = ScheduleBoard(server, Film.open(recorded))
        board.show(0.0)
        assert board._table is None
