"""The play modes."""

from __future__ import annotations

import pytest

from nutmeg.base.errors import UnknownNameError
from nutmeg.match.rules.play_modes import (
    WIRE_NAMES,
    PlayMode,
    Side,
    ball_is_live,
    clock_runs,
    may_beam,
    mirrored,
    mode_named,
    side_of,
)


def test_every_mode_has_the_name_and_index_of_the_protocol() -> None:
    assert len(WIRE_NAMES) == len(PlayMode) == 21
    assert [mode_named(name) for name in WIRE_NAMES] == list(PlayMode)
    assert PlayMode.PLAY_ON.wire_name == "PlayOn"
    assert PlayMode(20).wire_name == "pass_right"


def test_names_end_with_the_side_in_whose_favour_they_are() -> None:
    for mode in PlayMode:
        side, name = side_of(mode), mode.wire_name.lower()
        assert (side is Side.LEFT) == name.endswith("_left")
        assert (side is Side.RIGHT) == name.endswith("_right")


def test_mirroring_twice_gives_the_same_mode_and_once_the_other_side() -> None:
    for mode in PlayMode:
        assert mirrored(mirrored(mode)) is mode
        side = side_of(mode)
        assert side_of(mirrored(mode)) is (None if side is None else side.other)


def test_players_may_beam_only_before_kick_offs_and_after_goals() -> None:
    beaming = {mode.wire_name for mode in PlayMode if may_beam(mode)}
    assert beaming == {"BeforeKickOff", "Goal_Left", "Goal_Right"}


def test_the_ball_is_live_only_in_play_and_the_clock_rests_only_at_both_ends() -> None:
    assert {m.wire_name for m in PlayMode if ball_is_live(m)} == {"PlayOn", "pass_left", "pass_right"}
    assert {m.wire_name for m in PlayMode if not clock_runs(m)} == {"BeforeKickOff", "GameOver"}


def test_an_unknown_mode_names_the_nearest_known_one() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'KickIn_Left'"):
        mode_named("KickIn_left")
