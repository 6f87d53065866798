"""Slot numbers."""

from __future__ import annotations

import pytest

from nutmeg.base.errors import UsageError
from nutmeg.match.rules.play_modes import Side
from nutmeg.match.rules.slots import SLOT_NAMES, SLOTS, side_and_number, side_of_slot, slot_of


def test_every_slot_is_one_player() -> None:
    for slot in range(SLOTS):
        side, number = side_and_number(slot)
        assert slot_of(side, number) == slot
        assert side_of_slot(slot) is side
        assert SLOT_NAMES[slot] == f"{side.word}{number}"
    assert slot_of(Side.RIGHT, 3) == 13


def test_an_impossible_number_is_refused() -> None:
    with pytest.raises(UsageError, match="player number 12 is not possible"):
        slot_of(Side.LEFT, 12)
