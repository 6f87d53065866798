"""Cameras identified from pictures: the whole loop as it is typed, the folders, and what is told of wrong ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nutmeg.base.errors import FileError, NutmegError
from nutmeg.cli import main
from nutmeg.model.identified import read_body
from nutmeg.reality.logs.pictures import (
    PICTURE_COLUMNS,
    PicturesFile,
    View,
    block_statistics,
    read_picture_set,
    read_pictures,
    write_pictures,
)
from nutmeg.reality.twin import Searched, Twin, TwinSettings

HIDDEN = """robot = "ers7"
[parameters.lens]
value = -0.25
sets = ["camera.camera.k1"]
[parameters.noise]
value = 200
sets = ["camera.camera.read_noise"]
"""
CONFIG = """
[robot]
robot = "ers7"
[recordings]
train = ["monday"]
held_out = ["tuesday"]
[parameters.lens]
low = -0.35
high = 0.15
sets = ["camera.camera.k1"]
[parameters.noise]
low = 100
high = 1600
scale = "log"
unit = "electrons"
sets = ["camera.camera.read_noise"]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_hidden_camera_is_found_from_its_pictures_and_worn_by_another(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("hidden.toml").write_text(HIDDEN, encoding="utf-8")
    Path("identify.toml").write_text(CONFIG, encoding="utf-8")
    same = ["--body", "hidden.toml", "--no-shadows", "--size", "52", "40", "--repeats", "3", "--turn", "0"]
    assert main(["camera", "fit-data", "ers7", *same, "-o", "monday", "--views", "1"]) == 0
    assert main(["camera", "fit-data", "ers7", *same, "-o", "tuesday", "--views", "1", "--seed", "1"]) == 0
    capsys.readouterr()
    assert main(["identify", "identify.toml", "--evaluations", "90", "--output", "run", "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    values = {name: one["value"] for name, one in found["parameters"].items()}
    assert values["lens"] == pytest.approx(-0.25, abs=0.02)
    assert values["noise"] == pytest.approx(200, rel=0.08)
    assert all(one["identifiable"] for one in found["parameters"].values())
    assert found["error"]["unit"] == "level"
    assert found["error"]["held_out"] < 0.9
    before = json.loads(Path("run/results.json").read_text(encoding="utf-8"))["before"]
    assert before["held_out"]["tuesday"] > 2 * found["error"]["held_out"]
    assert "camera.camera.read_noise" in Path("run/report.html").read_text(encoding="utf-8")
    body = read_body(here / "run" / "params.toml")
    assert body.parameters["lens"].sets == ("camera.camera.k1",)
    assert main(["camera", "ers7", "--body", "run/params.toml", "--only", "--size", "52", "40", "--no-shadows"]) == 0
    assert main(["camera", "fit-data", "ers7", *same, "-o", "monday"]) == 2
    assert "has pictures already" in " ".join(capsys.readouterr().err.split())


def test_blocks_tell_means_and_the_deviation_between_pictures() -> None:
    rng = np.random.default_rng(1)
    pictures = np.clip(np.rint(100 + 6 * rng.standard_normal((8, 64, 96, 3))), 0, 255).astype(np.uint8)
    pictures[:, :, 48:] += 50
    rows = block_statistics(pictures, 4).reshape(16, 24, len(PICTURE_COLUMNS))
    assert rows[:, :12, :3] == pytest.approx(100, abs=3)
    assert rows[:, 12:, :3] == pytest.approx(150, abs=3)
    assert rows[::4, ::4, 3:] == pytest.approx(6, rel=0.1)
    assert np.isnan(rows[1::4, :, 3:]).all()
    assert np.isnan(block_statistics(pictures[:1], 4)[:, 3:]).all()


def test_a_folder_of_pictures_is_read_as_it_was_written(here: Path) -> None:
    told = PicturesFile(
        robot="ers7",
        camera="camera",
        lights="hall",
        view=(View(files=("a.png", "b.png"), angles={"NECK:pan": 0.2}, ball=(1.0, 0.5), exposure=0.01),),
    )
    images = np.random.default_rng(0).integers(0, 255, (2, 12, 16, 3), dtype=np.uint8)
    write_pictures(here / "some", told, [images])
    again, (seen,) = read_pictures(here / "some")
    assert again == told
    assert np.array_equal(seen, images)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("a.png", "c.png"), "line 5: there is no file c.png in this folder"),
        (("a.png", "text.png"), "is no picture that can be read"),
        (("a.png", "grey.png"), "it has grey, 8 bits; needed is RGB of 8 bits each"),
        (('"a.png"', '"a.png", "small.png"'), "one size; a.png has 16 x 12, small.png has 8 x 8"),
        (('"camera"', '"eye"'), "unknown camera of ers7 'eye'"),
        (('"ers7"', '"ers210"'), "these are pictures of a ers210, but ers7 is identified"),
        (("NECK:pan", "NECK:pen"), "Did you mean 'NECK:pan'"),
        (('"field"', '"moon"'), "unknown lighting 'moon'"),
        (("exposure = 0.01", "exposure = 0"), "exposure is 0.0; it must be above 0"),
        (("heading", "headings"), "Did you mean 'heading'"),
        (("[[view]]", "[[bystander]]"), "pictures.toml"),
    ],
)
def test_wrong_folders_are_told(here: Path, change: tuple[str, str], said: str) -> None:
    twin = Twin(TwinSettings(robot="ers7"), {"k1": Searched(low=-0.3, high=0.0, sets=("camera.camera.k1",))})
    for name, mode, size in (("a", "RGB", (16, 12)), ("grey", "L", (16, 12)), ("small", "RGB", (8, 8))):
        Image.new(mode, size).save(here / f"{name}.png")
    (here / "text.png").write_text("no picture", encoding="utf-8")
    text = (
        'robot = "ers7"\ncamera = "camera"\nlights = "field"\n[[view]]\nfiles = ["a.png"]\nheading = 0.1\n'
        'angles = { "NECK:pan" = 0.1 }\nexposure = 0.01\n'
    )
    (here / "pictures.toml").write_text(text.replace(*change), encoding="utf-8")
    with pytest.raises(NutmegError) as raised:
        read_picture_set(here, twin, block=4)
    assert said in " ".join(str(raised.value).split())


def test_a_folder_without_pictures_is_told(here: Path) -> None:
    with pytest.raises(FileError, match=r"is a folder without pictures\.toml"):
        read_pictures(here)
