import base64
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import zstandard

from nutmeg.base.errors import FileError, RecordingError, UsageError
from nutmeg.recording import Channel, Manifest, Recording, RecordingWriter
from nutmeg.view.files import replay
from nutmeg.view.files.replay import replay_html
from nutmeg.view.pages.process import MatchPagesProcess


def test_a_replay_is_one_page_that_asks_for_nothing_else(recorded: Path, tmp_path: Path) -> None:
    out = tmp_path / "toy.html"
    size = replay_html(recorded, out, fps=10)
    page = out.read_text(encoding="utf-8")
    assert size == out.stat().st_size
    assert size < 3_000_000
    assert "<title>toy · Nutmeg</title>" in page
    head = page[: page.index("</head>")]
    assert 'src="http' not in head
    assert 'href="http' not in head


def test_a_log_without_a_scene_becomes_a_page_with_the_robot_that_moves_by_it(tmp_path: Path) -> None:
    manifest = Manifest(kind="log", seed=0, channels=(Channel(name="leg.position", labels=("L1_lift",), unit="rad"),))
    with RecordingWriter.create(tmp_path / "log.nutmeg", manifest) as log:
        for row in range(20):
            log.append(0.1 * row, np.array([0.05 * row]))
    with pytest.raises(RecordingError, match="--robot ROBOT"):
        replay_html(tmp_path / "log.nutmeg", tmp_path / "plain.html")
    out = tmp_path / "ant.html"
    assert replay_html(tmp_path / "log.nutmeg", out, robot="ant") == out.stat().st_size > 500_000


def test_a_shorter_replay_is_smaller(recorded: Path, tmp_path: Path) -> None:
    whole = replay_html(recorded, tmp_path / "whole.html", fps=20)
    part = replay_html(recorded, tmp_path / "part.html", fps=20, max_seconds=0.5)
    assert part < whole


def test_a_replay_that_cannot_be_written_says_where(recorded: Path, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="absent"):
        replay_html(recorded, tmp_path / "absent" / "x.html", fps=5)
    with pytest.raises(UsageError, match="fps"):
        replay_html(recorded, tmp_path / "x.html", fps=0)


def messages_of(page: Path) -> dict[str, Any]:
    """The table of viser's player in a page: all messages with their times."""
    text = page.read_text(encoding="utf-8")
    found = re.search(r'__VISER_EMBED_DATA__="([^"]*)"', text)
    assert found is not None
    data = base64.b64decode(found.group(1))
    whole = b""
    rest = data[8:]
    while rest:  # one block after the other
        block = zstandard.ZstdDecompressor().decompressobj()
        whole += block.decompress(rest)
        rest = block.unused_data
    assert len(whole) == int.from_bytes(data[:8], "little")
    length = int.from_bytes(whole[:8], "little")
    table: dict[str, Any] = msgspec.msgpack.decode(whole[8 : 8 + length])
    assert len(whole) - 8 - length >= sum(table["binaryBufferLengths"])
    return table


def test_a_replay_moves_every_body_as_recorded(recorded: Path, tmp_path: Path) -> None:
    replay_html(recorded, tmp_path / "toy.html", fps=10)
    table = messages_of(tmp_path / "toy.html")
    assert table["durationSeconds"] == pytest.approx(3.1)
    times = [time for time, _ in table["messages"]]
    assert times == sorted(times)
    moved = [m for t, m in table["messages"] if m["type"] == "SetPositionMessage" and m["name"] == "/world/ball:ball"]
    places = Recording.open(recorded).read("ball.pose")[:, 0]
    assert moved[-1]["position"][0] == pytest.approx(places[-1], abs=1e-3)
    assert len(moved) >= 30


def test_a_replay_written_while_the_recording_grows_is_that_of_the_whole_recording(
    tmp_path: Path, toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "BLOCK_BYTES", 1000)  # many blocks
    whole = toy.record(tmp_path / "whole.nutmeg", seconds=3.0)
    old = Recording.open(whole)
    growing = RecordingWriter.create(
        tmp_path / "growing.nutmeg",
        Manifest(kind="scene", seed=1, channels=tuple(old.channels.values())),
        scene_xml=old.scene_xml,
    )
    out = tmp_path / "growing.html"
    growing.append_many(old.times[:40], old.rows()[:40])
    with MatchPagesProcess(growing.path, replay=out, fps=10) as process:
        growing.append_many(old.times[40:], old.rows()[40:])
        growing.close()
        assert list(process.pages()) == [("replay", out.stat().st_size)]
    replay_html(whole, tmp_path / "whole.html", fps=10)
    one, other = messages_of(out), messages_of(tmp_path / "whole.html")
    assert one["messages"] == other["messages"]


def test_a_replay_whose_match_never_began_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    with MatchPagesProcess(tmp_path / "none.nutmeg", replay=tmp_path / "none.html", fps=10) as process:
        pass
    assert process._process.returncode is not None
    assert not (tmp_path / "none.html").exists()


def test_the_broadcast_camera_of_a_replay_goes_calmly_after_the_ball_and_never_leaves_the_pitch(
    match_path: Path, tmp_path: Path
) -> None:
    replay_html(match_path, tmp_path / "match.html", fps=5)
    moved = [m for _, m in messages_of(tmp_path / "match.html")["messages"] if m["type"] == "SetPositionMessage"]
    targets = np.array([m["position"] for m in moved if m["name"] == "/cameras/broadcast/target"])
    places = np.array([m["position"] for m in moved if m["name"] == "/cameras/broadcast/place"])
    assert len(targets) == len(places) >= 50
    assert np.ptp(targets[:, 0]) > 5.0, "the ball flies from the middle into the goal"
    assert np.linalg.norm(np.diff(targets, axis=0), axis=1).max() < 8.0, "though the ball was put 12 m away"
    assert np.abs(targets[:, 0]).max() < 15.0
    assert (places[:, 1] < -10.0).all()


def test_the_page_of_a_single_robot_follows_it_and_that_of_a_match_has_the_cameras_of_the_live_page(
    match_path: Path, tmp_path: Path, toy: Any
) -> None:
    def cameras(path: Path) -> dict[str, Any]:
        replay_html(path, tmp_path / "page.html", fps=2)
        text = (tmp_path / "page.html").read_text(encoding="utf-8")
        found = re.search(r"window.nutmegStory = (.*?);</script>", text)
        assert found is not None
        table: dict[str, Any] = json.loads(found[1].replace("<\\/", "</"))["cameras"]
        return table

    single, match = cameras(toy.record(tmp_path / "one.nutmeg", names=("a",))), cameras(match_path)
    assert single["first"] == "Follow robot"
    assert match["first"] == "Broadcast"
    assert {*match["choices"]} == {"Broadcast", "Whole pitch", "Follow ball", "Follow robot", "Robot's eyes", "Free"}
    assert [thing["name"] for thing in match["things"]] == ["reds 1", "reds 2", "<blues> 1", "<blues> 2"]
    assert all(thing["eyes"].startswith(thing["path"]) for thing in match["things"])
