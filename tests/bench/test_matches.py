"""The benchmark of the server runs, and says what it found."""

from __future__ import annotations

import pytest

from nutmeg.bench import matches


@pytest.mark.slow
def test_a_short_benchmark_tells_speed_joins_and_memory() -> None:
    rows = matches.server_speed(1, 0.2)
    assert [row.unit for row in rows] == ["x real time"]
    assert rows[0].value > 0
    assert "rcssserver3d 138" in rows[0].peer


@pytest.mark.slow
def test_memory_is_told_with_its_growth() -> None:
    rows = matches.server_memory(0.3)
    assert [row.unit for row in rows] == ["MB", "MB", "%"]
    assert 50 < rows[0].value < 2000
    assert rows[0].value < rows[1].value
