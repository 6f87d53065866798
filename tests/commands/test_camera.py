"""`nutmeg camera`: the sheet, the single picture, and what is told when it cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nutmeg.cli import main
from nutmeg.view.files.pictures import SheetPanel, contact_sheet


def told(captured: str) -> dict[str, object]:
    answer = json.loads(captured.strip().splitlines()[-1])
    assert isinstance(answer, dict)
    return answer


def test_a_sheet_has_a_panel_for_each_effect_that_the_camera_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "camera.png"
    options = ["--effects", "lens,filter,noise", "--size", "64", "48", "--no-shadows", "--lights", "field", "--json"]
    assert main(["camera", "ers7", "--output", str(out), *options]) == 0
    answer = told(capsys.readouterr().out)
    assert answer["effects"] == ["lens", "noise", "filter"]
    pictures = answer["pictures"]
    assert isinstance(pictures, list)
    assert [p["label"] for p in pictures] == ["pinhole", "+ lens", "+ noise"]  # it has no effect of a filter
    assert all(p["drawing_ms"] > 0 for p in pictures)
    with Image.open(out) as sheet:
        assert sheet.size[0] > 3 * 320


def test_the_picture_alone_has_the_cameras_size(tmp_path: Path) -> None:
    out = tmp_path / "one.png"
    assert main(["camera", "ers210", "--output", str(out), "--only", "--no-shadows", "--effects", "vignette"]) == 0
    with Image.open(out) as picture:
        assert picture.size == (176, 144)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["nao-v3", "--camera", "CameraBottom"], "unknown camera of nao-v3 'CameraBottom'"),
        (["ers7", "--effects", "lense"], "Did you mean 'lens'?"),
        (["ers7", "--lights", "moon"], "Known lightings: evening, field, hall, window"),
    ],
)
def test_wrong_words_are_told(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["camera", "--output", str(tmp_path / "a.png"), *options]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_panels_stand_in_rows_and_carry_their_pictures() -> None:
    grey = np.full((24, 32, 3), 90, np.uint8)
    sheet = contact_sheet([SheetPanel(picture=grey, label=str(k)) for k in range(5)], around=(0.5, 0.5), columns=2)
    assert sheet.shape == (3 * (240 + 26) + 6, 2 * 326 + 6, 3)
    assert (sheet[150, 100] == 90).all()
