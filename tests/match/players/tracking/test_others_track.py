"""What is known of the others."""

from __future__ import annotations

import numpy as np
import pytest

from nutmeg.match.players.tracking.league_tracker import OthersTrack
from nutmeg.match.players.tracking.localisation import head_frame
from nutmeg.match.worlds.physical.percept import Sight

CAMERA = head_frame(0.0, 0.0)
PLACE, TURN = np.array([1.0, 2.0, 0.345]), np.eye(3)
EYE = PLACE + CAMERA.centre


def polar(x: float, y: float, z: float) -> list[float]:
    """Where the camera of a player that looks along x sees a place on the pitch."""
    way = np.array([x, y, z]) - EYE
    far = float(np.linalg.norm(way))
    return [far, np.degrees(np.arctan2(way[1], way[0])), np.degrees(np.arcsin(way[2] / far))]


def sight(team: str, number: int, parts: list[list[float]]) -> Sight:
    return Sight(
        labels=(),
        marks=np.zeros((0, 3)),
        teams=("reds", team),
        numbers=(3, number),
        parts=np.array([[[np.nan] * 3] * 5, parts]),
        lines=np.zeros((0, 2, 3)),
    )


NOWHERE = [np.nan] * 3
STANDING = [polar(5.0, 2.5, 0.5), NOWHERE, NOWHERE, polar(5.0, 2.45, 0.01), polar(5.0, 2.55, 0.01)]
LYING = [polar(5.0, 2.5, 0.08), NOWHERE, NOWHERE, polar(5.5, 2.45, 0.05), polar(5.5, 2.55, 0.05)]


def track() -> OthersTrack:
    return OthersTrack(team="reds", number=3)


def place_of(others: OthersTrack, row: int) -> tuple[float, float]:
    return others.records[row].x, others.records[row].y


def test_nothing_is_known_at_first() -> None:
    others = track()
    assert np.isnan(others.records["x"]).all()
    assert np.isinf(others.records["age"]).all()


def test_who_stands_is_where_its_head_and_feet_are() -> None:
    others = track()
    others.see(sight("blues", 4, STANDING), CAMERA, PLACE, TURN)
    assert place_of(others, 11 + 3) == pytest.approx([5.0, 2.5])
    assert not others.records[11 + 3].lies
    assert others.records[11 + 3].age == 0.0
    assert np.isinf(np.delete(others.records["age"], 14)).all()


def test_who_lies_is_between_its_head_and_its_feet() -> None:
    others = track()
    others.see(sight("reds", 4, LYING), CAMERA, PLACE, TURN)
    assert place_of(others, 3) == pytest.approx([5.25, 2.5])
    assert others.records[3].lies


@pytest.mark.parametrize("part", [0, 1, 2, 3, 4])
def test_one_part_is_enough(part: int) -> None:
    others = track()
    parts = [NOWHERE] * 5
    parts[part] = polar(4.0, 1.0, 0.3)
    others.see(sight("blues", 11, parts), CAMERA, PLACE, TURN)
    assert place_of(others, 21) == pytest.approx([4.0, 1.0])


def test_the_own_arms_are_nobody_else() -> None:
    others = track()
    others.see(sight("reds", 3, STANDING), CAMERA, PLACE, TURN)
    assert np.isnan(others.records["x"]).all()


def test_what_a_mate_tells_of_itself_counts_if_nothing_newer_was_seen() -> None:
    others = track()
    others.hear(5, 1.0, -1.0, 0.3)
    assert place_of(others, 4) == pytest.approx([1.0, -1.0])
    assert others.records[4].age == pytest.approx(0.3)
    others.see(sight("reds", 5, STANDING), CAMERA, PLACE, TURN)
    others.pass_time(0.1)
    others.hear(5, 1.0, -1.0, 0.3)
    assert place_of(others, 4) == pytest.approx([5.0, 2.5])
    assert others.records[4].age == pytest.approx(0.1)
