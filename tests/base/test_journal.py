"""Run folders, JSON lines, values in JSON, experiments over seeds."""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tyro

import nutmeg
from nutmeg.base.errors import FileError, UsageError
from nutmeg.base.journal import (
    CONFIGURATION,
    LOG,
    MANIFEST,
    Run,
    append_lines,
    command_line,
    differences,
    draft,
    each_seed,
    finite,
    new_folder,
    of_numpy,
    open_run,
    plain,
    read_lines,
    resume_command,
    versions,
    write_file,
)
from nutmeg.commands import btr, identify, learn

COMMAND = ("/somewhere/bin/nutmeg", "identify", "my ant.toml", "--seed", "3")


@dataclass(frozen=True)
class Femur:
    low: float
    values: tuple[float, ...]


def begin(folder: Path, *, seed: int = 3, low: float = 0.5, copy: Path | None = None) -> Run:
    configuration = {"robot": "ant", "femur": Femur(low, (1.0, 2.0)), "file": Path("a.csv"), "noise": np.float64(0.5)}
    with open_run(folder, command=COMMAND, seed=seed, configuration=configuration, copy=copy) as run:
        return run


def log(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / LOG).read_text().splitlines()]


def test_the_folder_says_what_was_asked_for_and_with_what(tmp_path: Path) -> None:
    (tmp_path / "ant.toml").write_text('robot = "ant"   # mine\n')
    run = begin(tmp_path / "run", copy=tmp_path / "ant.toml")
    assert not run.resumed
    manifest = json.loads((tmp_path / "run" / MANIFEST).read_text())
    assert manifest["command"] == ["nutmeg", "identify", "my ant.toml", "--seed", "3"]
    assert manifest["seed"] == 3
    assert manifest["versions"]["nutmeg"] == nutmeg.__version__
    assert manifest["versions"]["numpy"] == np.__version__
    femur = {"low": 0.5, "values": [1.0, 2.0]}
    assert manifest["configuration"] == {"robot": "ant", "femur": femur, "file": "a.csv", "noise": 0.5}
    assert (tmp_path / "run" / CONFIGURATION).read_bytes() == (tmp_path / "ant.toml").read_bytes()


def test_the_same_run_is_gone_on_with(tmp_path: Path) -> None:
    begin(tmp_path)
    before = (tmp_path / MANIFEST).read_bytes()
    assert begin(tmp_path).resumed
    assert (tmp_path / MANIFEST).read_bytes() == before
    assert [entry["event"] for entry in log(tmp_path)] == ["begin", "end"] * 2


def test_another_configuration_is_refused_and_the_difference_named(tmp_path: Path) -> None:
    (tmp_path / "ant.toml").write_text("")
    begin(tmp_path / "run", copy=tmp_path / "ant.toml")
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    with pytest.raises(FileError, match=r"\(configuration, femur, low: 0.5 there, 0.7 here\).*in config.toml there"):
        begin(tmp_path / "run", low=0.7)
    with pytest.raises(FileError, match=r"\(seed: 3 there, 4 here\)"):
        begin(tmp_path / "run", seed=4)
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before


def test_other_software_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(tmp_path)
    monkeypatch.setattr(nutmeg, "__version__", "99.0")
    with pytest.raises(FileError, match=r'other software \(nutmeg: "[\w.]+" there, "99.0" here\)'):
        begin(tmp_path)


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    with (
        open_run(tmp_path, command=COMMAND, seed=3, configuration={}),
        pytest.raises(FileError, match="another process is running this run"),
    ):
        begin(tmp_path)
    with open_run(tmp_path, command=COMMAND, seed=3, configuration={}) as run:
        assert run.resumed, "the lock is let go at the end"


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(FileError, match=r"is no run, but has thesis\.tex in it"):
        begin(tmp_path)
    assert not (tmp_path / MANIFEST).exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from nutmeg.base.journal import open_run
with open_run(Path(sys.argv[1]), command=["nutmeg", "btr"], seed=1, configuration={}) as run:
    run.write("half/way.txt", "saved")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_run_holds_no_lock_and_can_be_resumed(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    with open_run(tmp_path, command=["nutmeg", "btr"], seed=1, configuration={}) as run:
        assert run.resumed
        assert (tmp_path / "half" / "way.txt").read_text() == "saved"
    assert [entry["event"] for entry in log(tmp_path)] == ["begin", "begin", "end"]


def test_the_log_tells_how_it_ended_and_how_long_it_took(tmp_path: Path) -> None:
    def ended_by(error: BaseException) -> None:
        with pytest.raises(type(error)), open_run(tmp_path, command=COMMAND, seed=3, configuration={}):
            raise error

    ended_by(KeyboardInterrupt())
    ended_by(UsageError("no"))
    with (tmp_path / LOG).open("a") as file:
        file.write('{"event": "end", "sec')
    with open_run(tmp_path, command=COMMAND, seed=3, configuration={}) as run:
        pass
    ends = [entry for entry in log(tmp_path) if entry["event"] == "end"]
    assert [entry["how"] for entry in ends] == ["interrupted", "UsageError: no", "finished"]
    assert run.seconds_before == ends[0]["seconds"] + ends[1]["seconds"]


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file may grow beyond 100 bytes, as on a disk that is nearly full."""
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_leaves_what_was_there_and_no_half_run(tmp_path: Path, small_files: None) -> None:
    with pytest.raises(FileError, match=r"run\.json: cannot be written: File too large\. .*make room"):
        begin(tmp_path)
    assert not (tmp_path / MANIFEST).exists()
    run = Run(folder=tmp_path, command=COMMAND, seed=1, configuration={}, resumed=False, seconds_before=0.0)
    run.write("params.toml", "old")
    with pytest.raises(FileError, match=r"params\.toml: cannot be written"):
        run.write("params.toml", "new" * 100)
    assert (tmp_path / "params.toml").read_text() == "old"
    run.log(event="short")
    with pytest.raises(FileError, match=r"log\.jsonl: cannot be written"):
        run.log(event="long" * 30)
    assert [entry["event"] for entry in log(tmp_path)] == ["short"]
    assert not list(tmp_path.glob("*.draft"))


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written: Not a directory"):
        begin(tmp_path / "file" / "run")


def test_the_command_that_resumes_can_be_typed_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "the run"
    shown = begin(folder).resume_command
    assert shlex.split(shown) == ["nutmeg", *COMMAND[1:], "--output", str(folder)]
    assert resume_command(shlex.split(shown), folder) == shown
    assert resume_command(["nutmeg", "btr", "--output=here"], Path("here")) == "nutmeg btr --output=here"


def test_new_folders_are_counted_on(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    assert new_folder(runs, "identify") == runs / "identify-1"
    (runs / "identify-9").mkdir()
    (runs / "identify-old").mkdir()
    assert new_folder(runs, "identify") == runs / "identify-10"
    assert new_folder(runs, "btr") == runs / "btr-1"
    assert begin(runs / "btr-1").folder == runs / "btr-1"


def test_what_json_cannot_hold_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match=r"cannot record .* \(object\)"),
        open_run(tmp_path, command=COMMAND, seed=1, configuration={"x": object()}),
    ):
        pass
    with (
        pytest.raises(UsageError, match="needs the command line"),
        open_run(tmp_path, command=(), seed=1, configuration={}),
    ):
        pass
    assert {path.name for path in tmp_path.iterdir()} <= {"run.lock"}


def test_versions_name_what_is_not_there() -> None:
    assert versions(["python", "no-such-library"]) == {
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "no-such-library": "not installed",
    }


def test_differences_are_found_in_values_keys_and_order() -> None:
    assert list(differences({"a": {"b": 1}, "c": 2}, {"a": {"b": 1}, "c": 2})) == []
    assert list(differences({"a": {"b": 1}}, {"a": {"b": 2}})) == ["a, b: 1 there, 2 here"]
    assert list(differences({"a": 1, "b": 2}, {"b": 2, "a": 1})) == ["in the order a, b there, b, a here"]
    assert next(differences({}, {"a": 1})) == "a: null there, 1 here"


def test_what_was_added_is_read_and_no_file_is_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "log.jsonl"
    assert read_lines(path) == []
    append_lines(path, [{"a": 1}, {"b": [None, "x\u00e4"]}])
    append_lines(path, [{"c": {}}])
    assert read_lines(path) == [{"a": 1}, {"b": [None, "x\u00e4"]}, {"c": {}}]


def test_half_a_line_is_left_out_and_then_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": 1}\n{"b": ')
    assert read_lines(path) == [{"a": 1}]
    append_lines(path, [{"b": 2}])
    assert path.read_text() == '{"a": 1}\n{"b": 2}\n'


@pytest.mark.parametrize("line", ["[1, 2]", "nonsense", '{"a": '])
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(f'{{"a": 1}}\n{line}\n{{"c": 3}}\n')
    with pytest.raises(FileError, match=r"log\.jsonl, line 2: is not an object in JSON"):
        read_lines(path)


def test_lines_for_which_a_disk_has_no_room_are_not_there_at_all(tmp_path: Path, small_files: None) -> None:
    path = tmp_path / "log.jsonl"
    append_lines(path, [{"a": 1}])
    with pytest.raises(FileError, match=r"games cannot be saved: File too large\. Everything before is safe"):
        append_lines(path, [{"b": 2}, {"c": "x" * 100}], problem="games cannot be saved")
    assert path.read_text() == '{"a": 1}\n'


def test_a_pipe_that_is_written_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_file(pipe, "numbers")
    assert os.read(reader, 99) == b"numbers"
    os.close(reader)
    assert pipe.is_fifo()


def test_a_link_stays_a_link_when_its_file_is_replaced(tmp_path: Path) -> None:
    link, file = tmp_path / "link", tmp_path / "file"
    file.write_text("old")
    link.symlink_to(file)
    write_file(link, "new")
    assert link.is_symlink()
    assert file.read_text() == "new"


def test_lines_that_are_not_kept_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "parts.jsonl"
    append_lines(path, [[1], [2], [3]])
    append_lines(path, [[4]], keep=1)
    assert read_lines(path, list) == [[1], [4]]


def test_a_draft_takes_its_place_only_when_it_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "film"

    def interrupted() -> None:
        with draft(path) as temporary:
            temporary.mkdir()
            (temporary / "half").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not list(tmp_path.iterdir())
    with draft(path) as temporary:
        temporary.mkdir()
        (temporary / "whole").touch()
    assert [found.relative_to(tmp_path).as_posix() for found in tmp_path.rglob("*")] == ["film", "film/whole"]


@dataclass(frozen=True)
class Thing:
    path: Path
    numbers: tuple[float, ...]


def test_dataclasses_arrays_and_paths_become_plain_values() -> None:
    value = {"thing": Thing(Path("a/b"), (1.0, np.float64(2.5))), 3: np.arange(2), "yes": np.bool_(1), "none": None}
    found = plain(value)
    assert found == {"thing": {"path": "a/b", "numbers": [1.0, 2.5]}, "3": [0, 1], "yes": True, "none": None}
    assert json.loads(json.dumps(found)) == found
    assert type(found["thing"]["numbers"][1]) is float


def test_numbers_that_are_not_finite_become_null_wherever_they_are() -> None:
    found = finite({"a": [1.0, float("nan"), (float("inf"), 2)], "b": "nan"})
    assert json.dumps(found, allow_nan=False) == '{"a": [1.0, null, [null, 2]], "b": "nan"}'


def test_what_json_cannot_hold_is_named() -> None:
    with pytest.raises(TypeError, match=r"\{1\} \(set\)"):
        plain({"deep": [{1}]})
    with pytest.raises(TypeError, match=r"\(object\)"):
        of_numpy(object())


def test_an_interrupted_experiment_runs_only_the_seeds_that_are_missing(tmp_path: Path) -> None:
    done: list[int] = []

    def run(seed: int) -> dict[str, Any]:
        if seed == 2 and len(done) == 2:
            raise KeyboardInterrupt
        done.append(seed)
        return {"value": seed * 0.1}

    with pytest.raises(KeyboardInterrupt):
        each_seed(tmp_path, range(4), {"size": 3}, run)
    results = each_seed(tmp_path, range(4), {"size": 3}, lambda seed: (done.append(seed), {"value": seed * 0.1})[1])
    assert done == [0, 1, 2, 3]
    assert [one["value"] for one in results] == pytest.approx([0.0, 0.1, 0.2, 0.3])


def test_results_of_other_settings_and_broken_files_are_run_again(tmp_path: Path) -> None:
    each_seed(tmp_path, [7], {"size": 3}, lambda _: {"value": "old"})
    assert each_seed(tmp_path, [7], {"size": 4}, lambda _: {"value": "new"}) == [{"value": "new"}]
    (tmp_path / "seed-7.json").write_text("{", encoding="utf-8")
    assert each_seed(tmp_path, [7], {"size": 4}, lambda _: {"value": "again"}) == [{"value": "again"}]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(FileError, match=r"seed-0\.json"):
        each_seed(tmp_path / "file", [0], {}, lambda _: {})


def test_what_is_as_usual_is_left_out() -> None:
    assert command_line("learn", learn.Arguments()) == ["nutmeg", "learn"]
    assert command_line("btr", btr.Arguments(config=Path("ant.toml"))) == ["nutmeg", "btr", "ant.toml"]


def test_a_command_line_means_the_arguments_that_it_was_made_of() -> None:
    many = learn.Arguments(config=Path("own walk.toml"), seed=0, step=0.1, trials=3, video=False, output=Path("r"))
    files = identify.Arguments(
        config=Path("c.toml"), train=("a*", "b*"), held_out=("c",), cluster="tcp://h:1", json=True
    )
    for name, arguments in (("learn", many), ("identify", files), ("learn", dataclasses.replace(many, json=True))):
        words = command_line(name, arguments)
        assert words[:2] == ["nutmeg", name]
        assert tyro.cli(type(arguments), args=words[2:]) == arguments


def test_a_run_that_is_terminated_says_how_to_go_on_as_one_that_is_interrupted(tmp_path: Path) -> None:
    said: list[str] = []
    before = signal.getsignal(signal.SIGTERM)

    def run() -> None:
        with open_run(
            tmp_path / "run", command=["nutmeg", "x"], seed=1, configuration={}, saved="step", say=said.append
        ):
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt):
        run()
    assert "every step is saved" in said[-1]
    assert read_lines(tmp_path / "run" / "log.jsonl")[-1]["how"] == "interrupted"
    assert signal.getsignal(signal.SIGTERM) == before
