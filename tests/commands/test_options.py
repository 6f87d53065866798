"""What --threads and --cluster mean."""

from __future__ import annotations

import pytest

from nutmeg.cli import main
from nutmeg.commands.options import chosen_evaluator
from nutmeg.search import InThisThread, OnCluster, Processes, Threads

ADDRESS = "tcp://127.0.0.1:8786"


@pytest.mark.parametrize(
    ("threads", "cluster", "locked", "kind", "words"),
    [
        (1, "", False, InThisThread, "1 thread"),
        (1, "", True, InThisThread, "1 thread"),
        (3, "", False, Threads, "3 threads"),
        (3, "", True, Processes, "3 processes"),
        (3, ADDRESS, True, OnCluster, f"Dask at {ADDRESS}"),
    ],
)
def test_work_goes_where_it_was_asked_for_and_does_not_wait_for_pythons_lock(
    threads: int, cluster: str, locked: bool, kind: type, words: str
) -> None:
    evaluator, said = chosen_evaluator(threads=threads, cluster=cluster, warn=print, locked=locked)
    assert type(evaluator) is kind
    assert said == words


def test_no_threads_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", "--threads", "0"]) == 2
    assert "--threads is 0; allowed is 1 or more" in capsys.readouterr().err
