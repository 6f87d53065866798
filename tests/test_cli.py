"""The command line: help, JSON, exit codes, errors without tracebacks."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import mujoco
import pytest

import nutmeg
from nutmeg.cli import COMMANDS, main
from nutmeg.model import Placement, SceneSettings, assemble, robot_names
from nutmeg.model.identified import IdentifiedBody, IdentifiedParameter, write_body
from nutmeg.recording import Recording
from nutmeg.view.terminal import Terminal

from .conftest import RunJson, last_json

EXAMPLES = Path(__file__).parent.parent / "examples"


def nutmeg_command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nutmeg", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=240, check=False)


def test_the_overview_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    for call in ([], ["--help"], ["-h"], ["help"]):
        assert main(call) == 0
        shown = capsys.readouterr().out
        assert all(f"  {name} " in shown for name in COMMANDS)
        assert "example: nutmeg demo" in shown


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"nutmeg {nutmeg.__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_has_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"nutmeg {name}" in shown
    assert "example:" in shown
    assert "--json" in shown


def test_the_overview_loads_neither_physics_nor_the_option_parser(tmp_path: Path) -> None:
    program = (
        "import sys; from nutmeg.cli import main; main(['--help']);"
        "heavy = {'mujoco', 'tyro', 'numpy', 'rich', 'viser'} & set(sys.modules); sys.exit(repr(heavy) if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, timeout=240, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_process_answers_and_exits_with_the_code(tmp_path: Path) -> None:
    assert nutmeg_command("--help", cwd=tmp_path).returncode == 0
    wrong = nutmeg_command("dmeo", cwd=tmp_path)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("nutmeg: unknown command 'dmeo'. Did you mean 'demo'? Known commands: ")
    robot = nutmeg_command("robots", "nao-v66", cwd=tmp_path)
    assert robot.returncode == 2
    assert "Did you mean 'nao-v6'?" in robot.stderr
    assert "Traceback" not in robot.stderr + wrong.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("call", "code", "message"),
    [
        (["robtos"], 2, "Did you mean 'robots'?"),
        (["robots", "--jsno"], 2, ""),
        (["view"], 2, ""),
        (["bench", "--seconds", "soon"], 2, ""),
        (["robots", "nao-v66"], 2, "Did you mean 'nao-v6'?"),
        (["export", "nao-v6", "-o", "x.xml", "--field", "spl2052"], 2, "Did you mean 'spl2025'?"),
        (["export", "nao-v6", "-o", "x.xml", "--pose", "redy"], 2, "Did you mean 'ready'?"),
        (["export", "nao-v6", "-o", "absent/x.xml"], 1, "absent/x.xml: cannot be written: No such file"),
        (["export", "ant", "-o", "x.stl"], 2, "the ending must be .xml (MJCF) or .urdf"),
        (["export", "ant", "-o", "x.urdf", "--field", "floor"], 2, "a URDF file holds one robot and nothing else"),
        (["export", "nao-v6", "-o", "x.urdf", "--actuation", "servo"], 2, "a URDF file holds no motors"),
        (["export", "broken", "-o", "x.xml"], 1, "robot.toml, line 2: broken TOML"),
        (["robots", "broken"], 1, "robot.toml, line 2: broken TOML"),
        (["robots", "empty"], 1, "has no robot.toml"),
        (["replay", "absent.nutmeg"], 1, "absent.nutmeg"),
        (["video", "absent.nutmeg", "x.mp4"], 1, "absent.nutmeg"),
        (
            ["import", "absent.csv", "--columns", "absent.toml", "-o", "x.nutmeg"],
            1,
            "absent.toml: there is no such file",
        ),
        (["replay", "."], 1, "is a folder, but no recording: it has no manifest.toml."),
        (["learn", "--robot", "nao-v66"], 2, "unknown robot 'nao-v66'"),
        (["identify", str(EXAMPLES / "btr_ant/btr.toml")], 2, "another command: nutmeg btr "),
        (["btr", str(EXAMPLES / "tournament/walks.toml")], 2, "another command: nutmeg tournament "),
        (["tournament", str(EXAMPLES / "servo_xl330/identify.toml")], 2, "another command: nutmeg identify "),
        (["bench", "--only", "ants"], 2, "unknown benchmark 'ants'"),
        (["robots", "nao-v6", "--picture", "x.txt"], 1, "x.txt: the name of this file must end in .png"),
        (["robots", "nao-v6", "--picture", "absent/x.png"], 1, "its folder does not exist"),
        (["servo", "nao-v6", "--joint", "LKneePitch", "-o", "empty"], 1, "empty: the name of this file must end"),
        (
            ["servo", "nao-v6", "--joint", "LKneePitch", "--timestep", "0"],
            2,
            "--timestep is 0; allowed is 1e-05..0.05 s",
        ),
        (["play", "--seed", "-1"], 2, "--seed is -1; allowed is 0 or more"),
        (["play", "--seconds", "inf"], 2, "--seconds is inf"),
        (["play", "--left", "mine.py"], 2, "mine.py:decide"),
        (["play", "--no-view", "--output", "broken/robot.toml"], 1, "robot.toml: cannot be written"),
        (["play", "--no-view", "--report", "empty", "--output", "out"], 1, "empty: is a folder"),
        (["view", "ant", "--seconds", "inf"], 2, "--seconds is inf"),
        (["walk", "nao-v6", "--seconds", "nan"], 2, "--seconds is nan"),
        (["walk", "compare", "nao-v6", "--step-duration", "0"], 2, "step_duration is 0; allowed is above 0 s"),
        (["walk", "compare", "nao-v6", "--actuation", ","], 2, "name at least one"),
        (["walk", "compare", "nao-v6", "--plot", "empty"], 1, "must end in .png or .pdf or .svg"),
        (["agents", "--port", "70000"], 2, "--port is 70000; allowed is 1..65535"),
        (["serve", "--half-length", "nan"], 2, "--half-length is nan"),
        (["serve", "lola", "--robots", "0"], 2, "--robots is 0"),
        (["serve", "openr", "--seconds", "nan"], 2, "--seconds is nan"),
    ],
)
def test_a_wrong_call_has_its_exit_code_and_says_what_to_do(
    call: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("broken", "empty"):
        (tmp_path / folder).mkdir()
    (tmp_path / "broken" / "robot.toml").write_text('name = "x"\nformat = = 1\n')
    assert main(call) == code
    shown = capsys.readouterr()
    assert message in shown.err
    assert not shown.out.strip()


def test_robots_are_listed_for_scripts(run_json: RunJson) -> None:
    robots = run_json("robots")["robots"]
    assert [r["name"] for r in robots] == robot_names()
    for robot in robots:
        assert set(robot) == {"name", "mass_kg", "height_m", "joints", "motors", "sensors", "source", "licence"}
        assert robot["mass_kg"] > 0.5
        assert robot["joints"] >= robot["motors"] > 0


def test_robots_that_were_listed_before_are_listed_the_same_without_building_them(
    run_json: RunJson, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = run_json("robots")
    with monkeypatch.context() as broken:
        broken.setattr("nutmeg.model.posing.robot_facts", None)
        assert main(["robots", "--json"]) == 0
    assert last_json(capsys) == first
    (tmp_path / "nutmeg" / "robots.json").write_text("[}")
    assert run_json("robots") == first


def test_robots_are_listed_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["robots"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in robot_names())


def test_the_groups_that_an_identification_can_set_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["robots", "nao-v6"]) == 0
    shown = capsys.readouterr().out
    assert all(group in shown for group in ("servo.leg130", "gear.ankle", "flex.legs"))


@pytest.mark.parametrize("name", robot_names())
def test_one_robot_is_shown_in_full(name: str, run_json: RunJson, capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json("robots", name)
    assert found["name"] == name
    assert len([b for b in found["bodies"] if b["joint"]]) == found["joints"]
    assert main(["robots", name]) == 0
    shown = capsys.readouterr().out
    assert "Bodies and joints" in shown
    assert "Drives" in shown
    assert "Sensors" in shown


def test_the_doctor_reports_every_check(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["doctor", "--json", "--compile"])
    shown = capsys.readouterr()
    checks = {c["name"]: c for c in json.loads(shown.out.splitlines()[-1])["checks"]}
    assert "Everything is compiled" in shown.err
    assert code == 0
    assert all(set(c) == {"name", "ok", "detail", "fix"} for c in checks.values())
    assert {"python", "numpy", "physics", "ffmpeg", "disk", "cores"} <= set(checks)
    assert checks["physics"]["ok"]
    assert "stands" in checks["physics"]["detail"]


def test_the_doctor_says_what_to_do_about_a_taken_port(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["doctor", "--json", "--port", str(port)]) == 0
    check = next(c for c in last_json(capsys)["checks"] if c["name"] == f"port {port}")
    assert not check["ok"]
    assert f"port {port} on 127.0.0.1 is already in use" in check["fix"]
    assert "--port" in check["fix"]


def test_a_benchmark_has_the_promised_rows(run_json: RunJson) -> None:
    rows = run_json("bench", "--only", "ant x1", "--seconds", "0.05")["rows"]
    assert rows
    for row in rows:
        assert set(row) == {"name", "value", "unit", "peer", "ratio", "target"}
        assert row["value"] > 0


def test_an_exported_file_is_a_model(tmp_path: Path, run_json: RunJson) -> None:
    path = tmp_path / "nao.xml"
    found = run_json("export", "nao-v6", "--field", "spl2025", "-o", path)
    model = mujoco.MjModel.from_xml_path(str(path))
    assert (found["bodies"], found["motors"], found["timestep"]) == (model.nbody - 1, model.nu, model.opt.timestep)
    assert model.key("start").id == 0


def test_the_program_of_the_tutorial_runs_on_the_export_of_the_tutorial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (EXAMPLES.parent / "docs" / "tutorial.md").read_text(encoding="utf-8")
    command = next(line for line in page.splitlines() if line.startswith("nutmeg export ant"))
    program = next(block for block in page.split("```python\n") if "mj_step" in block).split("```")[0]
    monkeypatch.chdir(tmp_path)
    assert main(command.split()[1:]) == 0
    capsys.readouterr()
    exec(program, {})
    assert float(capsys.readouterr().out.strip(" []\n")) == pytest.approx(0.999, abs=0.001)


def test_an_identified_body_is_exported_and_refused_for_another_robot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body, plain, own = (tmp_path / name for name in ("params.toml", "plain.xml", "own.xml"))
    write_body(
        body,
        IdentifiedBody(
            robot="ant",
            parameters={
                "L1_femur": IdentifiedParameter(value=0.8),
                "legs": IdentifiedParameter(value=2.0, sets=("mass.*Tibia",), relative=True),
                "lag": IdentifiedParameter(value=0.012, sets=("delay",)),
            },
        ),
    )
    assert main(["export", "ant", "-o", str(plain)]) == 0
    assert main(["export", "ant", "-o", str(own), "--body", str(body)]) == 0
    before, after = (mujoco.MjModel.from_xml_path(str(path)) for path in (plain, own))
    assert after.body("L1Tibia").pos[1] == pytest.approx(0.8 * before.body("L1Tibia").pos[1])
    assert after.body("R1Tibia").mass == pytest.approx(2 * before.body("R1Tibia").mass, rel=1e-5)
    assert after.actuator_delay == pytest.approx(0.012)
    capsys.readouterr()
    assert main(["export", "ers7", "-o", str(own), "--body", str(body)]) == 2
    assert "belongs to the robot 'ant', but 'ers7' was asked for" in capsys.readouterr().err


@pytest.mark.slow
def test_an_identified_body_is_viewed_and_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body, record = tmp_path / "params.toml", tmp_path / "nao.nutmeg"
    found = {
        "gain": IdentifiedParameter(value=1.5, sets=("servo.*.p",), relative=True),
        "lag": IdentifiedParameter(value=0.012, sets=("delay",)),
    }
    write_body(body, IdentifiedBody(robot="nao-v6", actuation="servo", parameters=found))
    chosen = ["nao-v6", "--body", str(body), "--json"]
    assert main(["view", *chosen, "--seconds", "0.2", "--port", "0", "--record", str(record)]) == 0
    plain = assemble(SceneSettings(robots=(Placement(robot="nao-v6", name="nao-v6-1", actuation="servo"),))).model
    shown = mujoco.MjModel.from_xml_path(str(record / "scene.xml"))
    assert shown.actuator_delay - plain.actuator_delay == pytest.approx(0.012)
    assert shown.actuator_gainprm[:, 4] == pytest.approx(1.5 * plain.actuator_gainprm[:, 4], rel=1e-5)
    capsys.readouterr()
    dead = []
    for options in (chosen, ["nao-v6", "--actuation", "servo", "--json"]):
        assert main(["servo", *options, "--joint", "HeadYaw", "-o", str(tmp_path / "servo.png")]) == 0
        dead.append(last_json(capsys)["measured"]["dead_time_s"])
    assert dead[0] - dead[1] == pytest.approx(0.012, abs=0.002)


def test_the_zoo_runs_and_is_recorded(tmp_path: Path, run_json: RunJson) -> None:
    path = tmp_path / "zoo.nutmeg"
    found = run_json("zoo", "--no-view", "--seconds", "0.31", "--record", path)
    assert found["simulated_s"] == pytest.approx(0.32)
    assert found["url"] is None
    recording = Recording.open(path)
    assert recording.finished
    assert recording.times[-1] == pytest.approx(0.32)
    assert recording.events[0]["kind"] == "kick"
    assert {"ant.angles", "nao-v6.pose", "ball.pose", "t1.angles", "k1.angles"} <= set(recording.channels)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_watched_run_ends_properly_when_it_is_told_to(tmp_path: Path, number: signal.Signals) -> None:
    record = tmp_path / "run.nutmeg"
    command = [sys.executable, "-m", "nutmeg", "view", "ant", "--port", "0", "--record", str(record)]
    plain = {**os.environ, "TERM": "dumb"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=plain) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "http://127.0.0.1:" in line
        process.send_signal(number)
        process.communicate(timeout=240)
        assert process.returncode == 0
    recording = Recording.open(record)
    assert recording.finished
    assert len(recording) >= 2


def test_texts_with_brackets_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().warn("row [/b] of [red] is missing")
    assert "row [/b] of [red] is missing" in capsys.readouterr().err
    Terminal().say("wrote runs/[/b] [red]/:book:.html")
    assert capsys.readouterr().out == "wrote runs/[/b] [red]/:book:.html\n"


def test_with_json_everything_for_people_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal(json=True)
    terminal.say("hello")
    terminal.table("t", ("a",), [(1.5,)])
    terminal.finish({"path": Path("a"), "exit_code": 3})
    shown = capsys.readouterr()
    assert json.loads(shown.out) == {"path": "a"}
    assert "hello" in shown.err
    assert "1.5" in shown.err
