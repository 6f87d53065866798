"""The configuration file of an OPEN-R server."""

from __future__ import annotations

from pathlib import Path

import pytest

from nutmeg.base.errors import FileError, UnknownNameError, UsageError
from nutmeg.base.settings import read
from nutmeg.net.openr.configuration import OpenrSettings, address, settings_for

FILE = """
field = "floor"
ball = "none"

[[robot]]
model = "ers210"
pos = [-1.0, 0.5]
sensors = "0.0.0.0:7000"
commands = "127.0.0.1:7001"
awake = true

[[robot]]
heading = 3.14

[[robot]]
name = "rex"
"""


def test_a_file_names_models_places_and_addresses(tmp_path: Path) -> None:
    path = tmp_path / "aibos.toml"
    path.write_text(FILE)
    settings = settings_for(config=path)
    assert [robot.name for robot in settings.placements] == ["ers210-1", "ers7-1", "rex"]
    assert settings.placements[0].pos == (-1.0, 0.5)
    assert settings.addresses[0] == (("0.0.0.0", 7000), ("127.0.0.1", 7001))
    assert settings.addresses[1] == (("127.0.0.1", 10122), ("127.0.0.1", 10123))
    assert settings.robot[0].awake
    assert not settings.robot[1].awake
    assert settings.pictures
    assert not settings_for(config=path, pictures=False).pictures


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[[robot]]\nmodel = "ers8"', "ers210"),
        ('[[robot]]\nsensors = "here"', "is no address"),
        ('[[robot]]\nsensors = "127.0.0.1:70000"', "is no address"),
        ('[[robot]]\nname = "a"\n[[robot]]\nname = "a"', "two robots"),
        ('[[robot]]\nsensors = "127.0.0.1:10123"\n[[robot]]', "used twice"),
        ("robot = []", "no robot"),
        ('[[robot]]\naddress = "x"', "not known"),
    ],
)
def test_a_wrong_file_says_where_and_why(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "aibos.toml"
    path.write_text(text)
    with pytest.raises(FileError, match=problem):
        read(path, OpenrSettings)


def test_robots_without_a_file_stand_in_a_row() -> None:
    settings = settings_for(["ers7", "ers7", "ers210"], first_port=7000)
    assert [placed.name for placed in settings.placements] == ["ers7-1", "ers7-2", "ers210-1"]
    assert [placed.pos[1] for placed in settings.placements] == [-0.8, 0.0, 0.8]
    assert [pair[0][1] for pair in settings.addresses] == [7000, 7002, 7004]
    with pytest.raises(UnknownNameError, match="ers7"):
        settings_for(["nao-v6"])
    with pytest.raises(UsageError, match="at least one"):
        settings_for([])


def test_an_address_is_a_host_and_a_port() -> None:
    assert address("localhost:0") == ("localhost", 0)
    for text in ("10120", ":10120", "a:b", "a:-1", "a:٣"):
        with pytest.raises(ValueError, match="address"):
            address(text)
