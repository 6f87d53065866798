"""The C++ runtime for OPEN-R programs: generated stubs, layouts, objects among themselves, and a simulated robot."""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import socket
import subprocess
import sys
import threading
import wave
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from nutmeg.net.host.robot_host import RobotHost
from nutmeg.net.openr.configuration import host_settings, settings_for
from nutmeg.net.openr.models import model_named
from nutmeg.net.openr.packets import SensorVector, design_packet, image_packets
from nutmeg.net.openr.port import OpenrPort

CLIENT = Path(__file__).parents[2] / "clients" / "openr"
PROGRAMS = Path(__file__).parent / "openr_programs"
needs_compiler = pytest.mark.skipif(
    shutil.which("g++") is None or shutil.which("make") is None, reason="g++ and make are not installed"
)

STUB = """
ObjectName : Walker
NumOfOSubject : 1
NumOfOObserver : 2
Service : "Walker.Move.OCommandVectorData.S", null, Ready()   // to the robot
Service : "Walker.Sensor.OSensorFrameVectorData.O", Connect(), Notify()
Service : "Walker.Spare.DoNotConnect.O", null, null
Extra : Tick()
"""

LAYOUTS = {
    "ODataVectorInfo": 192,
    "OCommandInfo": 32,
    "OCommandData": 128,
    "OCommandValue": 8,
    "OJointCommandValue2": 8,
    "OJointCommandValue4": 8,
    "OLEDCommandValue2": 8,
    "OLEDCommandValue3": 8,
    "OSensorFrameInfo": 32,
    "OSensorFrameData": 256,
    "OSensorValue": 16,
    "OJointValue": 16,
    "OFbkImageInfo": 32,
    "OSoundInfo": 64,
    "OCdtInfo": 144,
    "OPrimitiveInfo": 160,
}
OFFSETS = {
    ("ODataVectorInfo", "numData"): 32,
    ("ODataVectorInfo", "wait"): 40,
    ("ODataVectorInfo", "optional"): 64,
    ("OSensorFrameInfo", "frameNumber"): 8,
    ("OSensorFrameInfo", "dataOffset"): 20,
    ("OJointValue", "pwmDuty"): 6,
    ("OJointValue", "refValue"): 8,
    ("OFbkImageInfo", "width"): 20,
    ("OLEDCommandValue3", "period"): 4,
}


def _tool(name: str) -> ModuleType:
    """One of the client's tools, which are scripts and no package."""
    spec = importlib.util.spec_from_file_location(name, CLIENT / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", name="stubgen")
def _stubgen() -> ModuleType:
    return _tool("stubgen")


@pytest.fixture(scope="module", name="builder")
def _builder(stubgen: ModuleType) -> ModuleType:
    assert stubgen is sys.modules["stubgen"]  # which the build tool imports
    return _tool("openr_build")


def test_def_h_numbers_subjects_and_observers_by_their_names(stubgen: ModuleType) -> None:
    text = stubgen.def_header(stubgen.read_stub(STUB))
    for line in ("numOfSubject = 1", "numOfObserver = 2", "sbjMove = 0", "obsSensor = 0", "obsSpare = 1"):
        assert f"const int {line};" in text


def test_every_entry_has_a_selector_of_its_own(stubgen: ModuleType) -> None:
    text = stubgen.entry_header(stubgen.read_stub(STUB))
    assert "Entry_Control[] __attribute__((unused)) = {4}" in text
    assert "Entry_Ready[] __attribute__((unused)) = {5}" in text
    assert "Entry_Connect[] __attribute__((unused)) = {6, 8}" in text
    assert "Entry_Notify[] __attribute__((unused)) = {7, 9}" in text
    assert "Extra_Entry[] __attribute__((unused)) = {10}" in text


def test_the_stub_calls_the_functions_that_the_configuration_names(stubgen: ModuleType) -> None:
    text = stubgen.stub_source(stubgen.read_stub(STUB), "Walker.h")
    assert "Self.Ready(OReadyEvent(0," in text
    assert "Self.Connect(OConnectEvent(0," in text
    assert "Self.Notify(event);" in text
    assert "&Walker::Tick" in text
    assert "{10, (Entry)extra_Tick}," in text


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("NumOfOSubject : 3", "NumOfOSubject is 3, but 1 such services follow"),
        ('Service : "Walker.Move", null, null', "stub.cfg:10: service name 'Walker.Move' is not Object.Name.Data.S"),
        ('Service : "A.B.C.S", null', "stub.cfg:10: a service is"),
        ("Colour : red", "stub.cfg:10: unknown key 'Colour'; allowed are ObjectName"),
        ("nonsense", "stub.cfg:10: 'nonsense' is not of the form 'key : value'"),
    ],
)
def test_a_wrong_stub_configuration_is_told_with_its_line(stubgen: ModuleType, line: str, told: str) -> None:
    with pytest.raises(stubgen.StubError) as problem:
        stubgen.read_stub(f"{STUB}\n{line}\n")
    assert told in str(problem.value)


def test_connections_of_several_programs_are_put_together_model_by_model(builder: ModuleType, tmp_path: Path) -> None:
    lists = {
        "legs": "# legs\nLegs.A.B.S Robot.A.B.O\n",
        "ears": "Legs.A.B.S Robot.A.B.O\n\n[ERS-210]\nEars.A.B.S Robot.A.B.O\n",
    }
    for name, text in lists.items():
        conf = tmp_path / name / "MS" / builder.CONF
        conf.mkdir(parents=True)
        (conf / "CONNECT.CFG").write_text(text)
    stick = builder.put_on_stick([tmp_path / name for name in lists], tmp_path / "out")
    merged = (stick / builder.CONF / "CONNECT.CFG").read_text()
    assert merged.splitlines() == ["Legs.A.B.S Robot.A.B.O", "[ERS-210]", "Ears.A.B.S Robot.A.B.O"]


def test_a_parameter_name_used_twice_is_blanked_in_a_copy_only(builder: ModuleType, tmp_path: Path) -> None:
    original, copy = tmp_path / "original", tmp_path / "copy"
    for folder in (original, copy):
        folder.mkdir()
        (folder / "Head.h").write_text("void Look(double pan, double pan);\n")
    problem = f"{original / 'Head.h'}:1:30: error: redefinition of \u2018double pan\u2019\n"
    assert builder.excuse_repeated_parameters(problem, original, copy)
    assert (copy / "Head.h").read_text() == "void Look(double pan, double );\n"
    assert (original / "Head.h").read_text() == "void Look(double pan, double pan);\n"
    assert not builder.excuse_repeated_parameters("something else", original, copy)


def test_a_folder_without_objects_is_refused_with_a_reason(builder: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(builder.BuildError, match=r"holds no object: there is no stub\.cfg"):
        builder.find_objects(tmp_path, (tmp_path,))


@needs_compiler
def test_structures_have_the_robots_layout_to_the_byte(tmp_path: Path) -> None:
    sizes = [f'static_assert(sizeof({name}) == {size}, "{name}");' for name, size in LAYOUTS.items()]
    offsets = [
        f'static_assert(offsetof({name}, {field}) == {offset}, "{name}::{field}");'
        for (name, field), offset in OFFSETS.items()
    ]
    source = tmp_path / "layouts.cc"
    source.write_text("\n".join(["#include <OPENR/ODataFormats.h>", "#include <stddef.h>", *sizes, *offsets]))
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{CLIENT / 'include'}", "-fsyntax-only"]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module", name="programs")
def _programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All programs, built with warnings of old code left alone."""
    out = tmp_path_factory.mktemp("openr")
    for name in ("talk", "probe", "voice"):
        command = [sys.executable, str(CLIENT / "openr_build.py"), str(PROGRAMS / name), "-o", str(out / name)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return out


def _run(script: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(script), *options], capture_output=True, text=True, timeout=240, check=False)


@needs_compiler
@pytest.mark.slow
def test_objects_talk_when_they_are_ready_and_regions_come_back(programs: Path) -> None:
    done = _run(programs / "talk" / "run", "--no-robot")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["control 0 1", "the stick says five"]
    # A region that the listener keeps is not free for the speaker; with two regions, the other one serves.
    assert [line for line in lines if line.startswith("heard")] == [f"heard {n} of 1" for n in range(1, 6)]
    assert "no region is free" not in lines
    assert "five ticks, 5 sent" in lines
    assert lines[-1] == "deasserted"
    assert "is skipped: no object here offers Nobody.Words.int.O" in done.stderr
    assert (programs / "talk/MS/OPEN-R/MW/DATA/P/HEARD.TXT").read_text() == "heard\n"


def _write_ramp(path: Path) -> None:
    """Four minutes of 16 kHz, longer than any program may take; every sample is its number modulo 2^15."""
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(16_000)
        sound.writeframes((np.arange(240 * 16_000) % 2**15).astype("<i2").tobytes())


@needs_compiler
@pytest.mark.slow
def test_a_program_is_heard_and_hears_and_is_told_the_system_s_facts(programs: Path, tmp_path: Path) -> None:
    _write_ramp(tmp_path / "ramp.wav")
    sound = ("--microphone", str(tmp_path / "ramp.wav"), "--speaker", str(tmp_path / "said.wav"))
    years = [datetime.now(UTC).year]
    done = _run(programs / "voice" / "run", "--no-robot", *sound)
    years.append(datetime.now(UTC).year)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "power 95 3031"  # tenths of a kelvin
    assert lines[1] in [f"year {year}" for year in years]
    assert lines[2:6] == ["processor 0 256", "wireless 0 AIBONET 3", "unknown parameter 1", "unknown request 4096"]
    assert lines[6] == "pointers 1 2 2"  # a copy was made before writing
    assert lines[-1] == "said 2, heard something 1"
    heard = [[int(word) for word in line.split()[1:]] for line in lines if line.startswith("vector")]
    assert all(first % 512 == 0 and last == first + 511 for first, last in heard)
    with wave.open(str(tmp_path / "said.wav")) as said:
        assert (said.getframerate(), said.getnchannels()) == (16_000, 1)
        samples = np.frombuffer(said.readframes(said.getnframes()), dtype="<i2")
    assert np.count_nonzero(samples) == 2 * 1600  # two tenths of a second
    assert set(np.unique(samples)) == {-16384, 0, 16384}


@pytest.mark.parametrize(
    ("problem", "meaning"),
    [
        ("X.h:1:10: fatal error: OPENR/OQueue.h: No such file or directory", "OQueue.h belongs to the robot's SDK"),
        ("X.h:1:10: fatal error: Mine.h: No such file or directory", "Mine.h is no header of OPEN-R"),
        ("X.cc:9: Error: no such instruction: `mfc0 $2,$12'", "the robot's MIPS processor"),
        ("X.cc:9: error: 'RequireMWInfo' is not a member of 'OPENR'", "OPENR::RequireMWInfo is not in this runtime"),
        ("X.cc:9: error: expected ';'", ""),
    ],
)
def test_what_cannot_be_built_is_explained(builder: ModuleType, problem: str, meaning: str) -> None:
    explained = builder.explained(problem)
    assert meaning in explained
    assert bool(explained) == bool(meaning)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("words", [["--sensor-port", "no"], ["--no-robot", "--quick"], ["--seconds", "-1"]])
def test_a_wrong_option_ends_the_runner_with_a_reason(programs: Path, words: list[str]) -> None:
    done = _run(programs / "talk" / "run", *words)
    assert done.returncode == 64
    assert "usage: openr-run" in done.stderr


@needs_compiler
@pytest.mark.slow
def test_without_a_robot_the_runner_says_where_it_looked(programs: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        done = _run(programs / "probe" / "run", "--sensor-port", str(port))
    assert done.returncode == 1
    assert f"cannot connect to the robot at 127.0.0.1:{port}" in done.stderr


@contextlib.contextmanager
def _robot() -> Iterator[tuple[int, int]]:
    """An ERS-7 in lock-step on free ports."""
    chosen = settings_for(["ers7"], first_port=0, pictures=False)
    port = OpenrPort(chosen, report=lambda _line: None)
    with RobotHost(host_settings(chosen, lock_step=True, noise=False, patience=600.0), [port]) as host:
        thread = threading.Thread(target=host.run)
        thread.start()
        try:
            (_, sensors), (_, commands) = next(iter(port.seats.values())).addresses
            yield sensors, commands
        finally:
            host.stop()
            thread.join(120)


def _probe(programs: Path, sensors: int, commands: int) -> list[str]:
    done = _run(programs / "probe" / "run", "--sensor-port", str(sensors), "--command-port", str(commands))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@needs_compiler
@pytest.mark.slow
def test_a_program_moves_a_simulated_head_the_same_way_each_time(programs: Path) -> None:
    runs = []
    for _ in range(2):
        with _robot() as (sensors, commands):
            runs.append(_probe(programs, sensors, commands))
    assert runs[0][0] == "design ERS-7, unknown 6"  # oNOT_FOUND
    assert runs[0][1] == "gain before enabling 4108, after 0"  # oGAIN_DISABLED
    frame, sent, reference, angle = (int(word) for word in runs[0][-1].split()[1::2])
    assert frame == 60
    assert sent >= 3
    assert reference == 500_000
    assert abs(angle - 500_000) < 20_000
    # The two vectors follow each other without a pause: the reference never stands still on its way.
    references = [int(line.split()[5]) for line in runs[0][2:]]
    moving = [value for value in references if 0 < value < 500_000]
    assert len(moving) >= 7
    assert set(np.diff(moving)) == {62_500}
    assert runs[0] == runs[1]


def _picture() -> np.ndarray:
    """(3, 160, 208): grey, with an orange square in the upper left quarter."""
    planes = np.full((3, 160, 208), 100, np.uint8)
    planes[1:] = 128
    planes[0, 32:48, 40:64], planes[1, 32:48, 40:64], planes[2, 32:48, 40:64] = 150, 200, 50
    return planes


def _serve_a_picture(sensors: socket.socket, commands: socket.socket) -> None:
    model = model_named("ers7")
    with sensors.accept()[0] as to_sensors, commands.accept()[0] as to_commands:
        for connection in (to_sensors, to_commands):
            connection.sendall(design_packet(model))
        to_sensors.sendall(SensorVector(model).packet(sequence=0, time=32_000))
        for packet in image_packets(model, _picture(), sequence=515, frame=4, time=32_000):
            to_sensors.sendall(packet)
        while to_commands.recv(4096):
            pass


@needs_compiler
@pytest.mark.slow
def test_a_picture_becomes_layers_with_colours_and_a_tag(programs: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as sensors, socket.create_server(("127.0.0.1", 0)) as commands:
        thread = threading.Thread(target=_serve_a_picture, args=(sensors, commands))
        thread.start()
        lines = _probe(programs, sensors.getsockname()[1], commands.getsockname()[1])
        thread.join(120)
    seen = [line for line in lines if "inside" in line]
    count = 16 * 24 // 16  # pixels of the square, in units of 16
    assert seen == [
        f"H Y 208 x 160, inside 150, outside 100, field 515, colour {count}",
        f"H Cr 208 x 160, inside 200, outside 128, field 515, colour {count}",
        f"M Cb 104 x 80, inside 50, outside 128, field 515, colour {count}",
        f"L Y 52 x 40, inside 150, outside 100, field 515, colour {count}",
        f"C 208 x 160, inside 4, outside 0, field 515, colour {count}",
    ]
