"""What --threads and --cluster mean."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import tyro

from nutmeg.base.errors import UsageError
from nutmeg.base.settings import field_notes
from nutmeg.cli import main
from nutmeg.commands import learn
from nutmeg.commands.options import PageOptions, chosen_evaluator, processors
from nutmeg.learning.learn import LearnSettings
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


def test_a_device_has_all_candidates_at_once_and_no_other_workers() -> None:
    evaluator, said = chosen_evaluator(threads=0, cluster="", warn=print, locked=True, device="gpu")
    assert type(evaluator) is InThisThread
    assert said == "a CUDA device"
    for threads, cluster in ((3, ""), (0, ADDRESS)):
        with pytest.raises(UsageError, match="--threads and --cluster"):
            chosen_evaluator(threads=threads, cluster=cluster, warn=print, device="gpu")


def test_fewer_than_no_threads_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", "--threads", "-1"]) == 2
    assert "--threads is -1; allowed is 0 or more" in capsys.readouterr().err


def test_all_processors_are_used_if_nobody_says_how_many() -> None:
    assert processors(3) == 3
    assert 1 <= processors(0) <= (os.cpu_count() or 1)
    _, said = chosen_evaluator(threads=0, cluster="", warn=print)
    assert said.startswith(f"{processors(0)} thread")


@pytest.mark.parametrize(
    ("environment", "terminal", "opens"),
    [
        ({"DISPLAY": ":0"}, True, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, True, True),
        ({"DISPLAY": ":0"}, False, False),
        ({"DISPLAY": "localhost:10.0", "SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}, True, False),
        ({}, True, False),
    ],
)
def test_a_browser_opens_by_itself_only_where_somebody_sees_it(
    environment: dict[str, str], terminal: bool, opens: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    assert PageOptions().open is opens


def test_the_help_of_learn_tells_the_defaults_that_count() -> None:
    notes, defaults = field_notes(learn.Arguments), LearnSettings()
    told = {name: getattr(defaults, name) for name in notes if getattr(defaults, name, None)}
    assert len(told) > 8
    for name, value in told.items():
        assert str(value) in notes[name], name


@pytest.mark.parametrize("command", ["play", "learn", "tournament", "identify", "walk", "serve"])
def test_help_names_values_by_what_they_are_and_no_default_says_nothing(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert "usage:" in text
    assert "{None}|" not in text
    assert "default: None" not in text
    assert "default: ''" not in text


def test_help_has_the_options_of_a_command_first_and_then_those_it_shares_each_group_under_its_heading(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["play", "--help"]) == 0
    text = capsys.readouterr().out
    headings = ["options:", "files:", "with --world behavioural:", "watching:", "for scripts:"]
    places = [text.index(f"\n{heading}\n") for heading in headings]
    assert places == sorted(places)
    assert text.index("--left TEAM") < text.index("--output OUT") < text.index("--host ADDRESS") < text.index("--json")
    assert "--fast  " in text  # a switch that is off has no second name
    assert "--no-fast" not in text
    assert "[default: --view]" in text
    assert "[default: 300]" in text
    assert all(len(line) <= 100 for line in text.splitlines())


def test_a_switch_of_learn_needs_no_value_and_its_absence_changes_nothing(tmp_path: Path) -> None:
    config = tmp_path / "learn.toml"
    config.write_text("randomise = false\npopulation = 7\n")
    assert learn._settings(learn.Arguments(config=config)).population == 7
    with pytest.raises(UsageError, match="draws bodies"):
        learn._settings(tyro.cli(learn.Arguments, args=["--randomise"]))
