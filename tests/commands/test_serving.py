"""Lines for people that never hold a server up."""

from __future__ import annotations

import threading

from nutmeg.commands.serving import ServerLog
from nutmeg.net.connection import Report


def test_lines_are_written_in_their_order() -> None:
    lines: list[str] = []
    with ServerLog(lines.append) as journal:
        journal.write("one")
        journal.report(Report(kind="joined", client="agent 127.0.0.1:5", text="number 1 of A"))
    assert lines == ["one", "joined agent 127.0.0.1:5: number 1 of A"]


def test_a_flood_is_cut_and_the_rest_counted() -> None:
    lines: list[str] = []
    now = [0.0]
    with ServerLog(lines.append, a_second=3, clock=lambda: now[0]) as journal:
        for number in range(10):
            journal.write(str(number))
        now[0] = 1.0
        journal.write("later")
    assert lines == ["0", "1", "2", "(7 more lines were left out)", "later"]


def test_why_a_player_left_is_written_however_many_messages_flood_the_log() -> None:
    lines: list[str] = []
    with ServerLog(lines.append, a_second=3, clock=lambda: 0.0) as journal:
        journal.report(Report(kind="joined", client="agent 127.0.0.1:5", text="number 1 of A"))
        for number in range(300):
            journal.report(Report(kind="problem", client="agent 127.0.0.1:6", text=str(number)))
            journal.report(Report(kind="joined", client=f"agent 127.0.0.1:{number + 7}", text="number 2 of B"))
            journal.report(Report(kind="left", client=f"agent 127.0.0.1:{number + 7}", text="it disconnected"))
        journal.report(Report(kind="left", client="agent 127.0.0.1:5", text="a trainer removed it"))
    assert lines[0] == "joined agent 127.0.0.1:5: number 1 of A"
    assert lines[-1] == "left agent 127.0.0.1:5: a trainer removed it"
    assert len(lines) == 5


def test_a_reader_that_does_not_read_holds_nobody_up() -> None:
    read = threading.Event()
    journal = ServerLog(lambda _: bool(read.wait(120.0)), a_second=10_000)
    for number in range(1000):
        journal.write(str(number))
    assert not read.is_set(), "all lines were taken though none was read"
    read.set()
    journal.close()
