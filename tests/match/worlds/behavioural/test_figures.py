"""A behavioural match read back from its recording: same places, postures and sights."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nutmeg.base.errors import NutmegError
from nutmeg.match.behavioural_game import BehaviourGame
from nutmeg.match.loop import GameLoop
from nutmeg.match.players.tactics.tactician import strategy_decide
from nutmeg.match.rules.book import load_rules
from nutmeg.match.worlds.behavioural.figures import RecordedMatch, is_behavioural
from nutmeg.match.worlds.behavioural.state import Posture
from nutmeg.recording import Channel, Manifest, Recording, RecordingWriter
from nutmeg.view.files.camera_frames import FramePlan, rows_at, write_cameras
from nutmeg.view.match_sight import BehaviourSight

ROWS = 60


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, np.ndarray]]]:
    """A recording with a change of ends and a fall, and what was true in each cycle."""
    path = tmp_path_factory.mktemp("recorded") / "match.nutmeg"
    rules = load_rules("spl2011").with_match(
        players=2, half_length=1.5, automatic_kick_off=True, wait_before_kick_off=0.5, swap_ends=True
    )
    game = BehaviourGame(rules, seed=2**63 - 5, left="a", right="b", record=path)
    decide, truth = strategy_decide("everyone-aims"), []
    driver = GameLoop(game, game.team("a", decide) | game.team("b", decide))
    game.record_with(minds=lambda: driver.players)

    def note(_: GameLoop) -> None:
        state, sights = game.world.state, game.senses.sightings
        truth.append(
            {name: getattr(state, name)[0].copy() for name in ("pose", "posture", "fallen_to", "head", "present")}
            | {"kinds": [[thing.kind for thing in sights.of(0, slot)] for slot in range(22)]}
            | {"sonar": game.senses.sonar.answers[0].copy()}
        )
        if game.cycles == 10:
            state.posture[0, 12], state.busy[0, 12], state.fallen_to[0, 12] = Posture.LYING, 0.0, 2.0
            state.pace[0, 12] = state.speed[0, 12] = 0.0

    driver.run(ROWS, on_cycle=note)
    assert game.swaps == 1
    game.close()
    return path, truth


def test_places_postures_and_heads_are_those_of_the_match(played: tuple[Path, list[dict[str, np.ndarray]]]) -> None:
    path, truth = played
    match = RecordedMatch(Recording.open(path))
    lying = 0
    for row, true in enumerate(truth):
        state, there = match.state(row), true["present"]
        assert np.array_equal(state.present[0], there)
        assert state.pose[0][there][:, :2] == pytest.approx(true["pose"][there][:, :2], abs=2e-4)
        turned = np.cos(state.pose[0][there][:, 2] - true["pose"][there][:, 2])
        assert turned == pytest.approx(1.0, abs=1e-6)
        assert state.head[0][there] == pytest.approx(true["head"][there], abs=2e-4)
        assert np.array_equal(state.posture[0][there] > Posture.KICKING, true["posture"][there] > Posture.KICKING)
        for slot in np.flatnonzero(there & (true["posture"] > Posture.KICKING)):
            lying += 1
            assert math.cos(state.fallen_to[0, slot] - true["fallen_to"][slot]) == pytest.approx(1.0, abs=1e-3)
    assert lying > 0


def test_eyes_that_are_asked_again_say_the_same(played: tuple[Path, list[dict[str, np.ndarray]]]) -> None:
    path, truth = played
    match = RecordedMatch(Recording.open(path))
    same = [
        [thing.kind for thing in match.sights(row).of(0, slot)] == true["kinds"][slot]
        for row, true in enumerate(truth)
        if row != 10  # where somebody was laid down after the others had looked
        for slot in np.flatnonzero(true["present"])
    ]
    assert np.mean(same) > 0.98, "but for roundings at the edges of pictures"
    assert match.slot("left1", 0) == 0
    assert match.slot("left1", ROWS - 1) == 11


def test_sonars_that_are_asked_again_answer_the_same_and_are_drawn_as_far_as_they_answer(
    played: tuple[Path, list[dict[str, np.ndarray]]],
) -> None:
    path, truth = played
    sight = BehaviourSight(Recording.open(path))
    answers = np.array([sight.match.sonars(row).copy() for row in range(len(truth))])
    np.testing.assert_allclose(answers, [true["sonar"] for true in truth], atol=1e-3)
    row, slot, side = (int(one[0]) for one in np.nonzero(np.isfinite(answers)))
    robot = next(name for name in sight.match.robots if sight.match.slot(name, row) == slot)
    view = sight.look(robot, row)
    assert view is not None
    assert f"{('left', 'right')[side]} {answers[row, slot, side]:.2f} m" in view.words
    far = np.linalg.norm(view.sonar.echoes - truth[row]["pose"][slot, :2], axis=2).max()
    assert far == pytest.approx(np.nanmax(answers[row, slot]), abs=1e-3)
    sight.close()


def test_what_a_player_sees_is_told_in_words_and_shown_on_the_grass(
    played: tuple[Path, list[dict[str, np.ndarray]]],
) -> None:
    path, _ = played
    sight = BehaviourSight(Recording.open(path))
    views = [sight.look("left2", row) for row in range(0, ROWS, 10)]
    assert all(view is not None for view in views)
    assert any("the ball" in view.words for view in views if view is not None)
    for view in views:
        assert view is not None
        assert len(view.places) == len(view.colours)
        assert view.edges.shape[1:] == (2, 2)
    sight.close()


def test_all_cameras_are_written_with_the_truth(
    played: tuple[Path, list[dict[str, np.ndarray]]], tmp_path: Path
) -> None:
    path, _ = played
    count = write_cameras(path, tmp_path / "cameras", FramePlan(rate=0.5, labels=True))
    assert count == 4 * 2 * 3
    _check_labels(tmp_path / "cameras")
    with (tmp_path / "cameras" / "frames.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == count
    assert {(one["robot"], one["camera"]) for one in lines} == {
        (robot, camera) for robot in ("left1", "left2", "right1", "right2") for camera in ("top", "bottom")
    }
    picture = np.asarray(Image.open(tmp_path / "cameras" / "left2-top" / "000002.png"))
    assert picture.shape == (240, 320, 3)
    assert picture.std() > 5.0
    with pytest.raises(NutmegError, match="not an empty folder"):
        write_cameras(path, tmp_path / "cameras")
    with pytest.raises(NutmegError, match="Name the robot whose cameras they shall carry"):
        write_cameras(path, tmp_path / "lit", FramePlan(lights="hall"))


def _check_labels(folder: Path) -> None:
    """Boxes are those of the masks, and where the ball is labelled the picture is orange."""
    labels = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    images = {one["id"]: one for one in labels["images"]}
    boxes = [one | {"robot": images[one["image_id"]]["robot"]} for one in labels["annotations"]]
    assert {"ball", "left goal", "right goal", "lines"} <= {one["name"] for one in boxes}
    assert any(one["name"].startswith("right") for one in boxes if one["robot"] == "left1")
    assert not any(one["name"] == one["robot"] for one in boxes), "cameras do not see their own robot"
    oranges = []
    for one in boxes:
        name = images[one["image_id"]]["file_name"]
        mask = np.asarray(Image.open(folder / name.replace("/", "-labels/"))) == one["label"]
        rows, columns = np.nonzero(mask)
        size = [columns.max() + 1 - columns.min(), rows.max() + 1 - rows.min()]
        assert one["bbox"] == [columns.min(), rows.min(), *size]
        if one["name"] == "ball" and len(rows) > 20:
            red, _, blue = np.asarray(Image.open(folder / name))[mask].mean(axis=0)
            oranges.append(red > 2 * blue)
    assert oranges
    assert all(oranges)


def test_rows_are_chosen_by_time() -> None:
    times = 0.1 * np.arange(1, 41)
    assert rows_at(times, 2.0).tolist() == [0, 5, 10, 15, 20, 25, 30, 35]
    assert len(rows_at(times, 10.0)) == 40
    assert len(rows_at(np.zeros(0), 2.0)) == 0


def test_a_recording_of_something_else_is_refused(tmp_path: Path) -> None:
    with RecordingWriter.create(
        tmp_path / "x.nutmeg", Manifest(kind="walk", seed=0, channels=(Channel(name="a", labels=("b",)),))
    ) as one:
        one.append(0.0, np.zeros(1))
    recording = Recording.open(tmp_path / "x.nutmeg")
    assert not is_behavioural(recording)
    with pytest.raises(NutmegError, match="no recording of a match"):
        RecordedMatch(recording)
