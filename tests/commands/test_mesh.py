"""`nutmeg mesh`: table, files, and what is told when there is no mesh."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trimesh
from PIL import Image

from nutmeg.cli import main


def test_a_ball_is_reduced_written_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out, picture = tmp_path / "ball.stl", tmp_path / "hull.stl", tmp_path / "mesh.png"
    trimesh.creation.icosphere(1).export(source)
    options = ["--vertices", "20", "--output", str(out), "--picture", str(picture), "--json"]
    assert main(["mesh", str(source), *options]) == 0
    captured = capsys.readouterr()
    answer = json.loads(captured.out.strip().splitlines()[-1])
    assert (answer["original_vertices"], answer["hull_vertices"], answer["vertices"]) == (42, 42, 20)
    assert 0 < answer["volume_error"] < 0.4
    written = trimesh.load_mesh(out)
    assert written.is_watertight
    assert written.volume == pytest.approx(answer["volume"], rel=1e-5)
    with Image.open(picture) as drawn:
        assert drawn.size[0] > 900


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("none.stl", None, "there is no such file"),
        ("text.stl", b"solid nothing\nendsolid nothing\n", "text.stl"),
        ("text.txt", b"hello", "cannot be read as a mesh"),
    ],
)
def test_what_is_no_mesh_is_told(
    name: str, content: bytes | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert main(["mesh", str(tmp_path / name)]) == 1
    assert said in " ".join(capsys.readouterr().err.split())
