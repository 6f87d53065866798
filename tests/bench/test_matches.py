"""The benchmark of the server runs, and says what it found."""

from __future__ import annotations

import pytest

from nutmeg.bench import matches


@pytest.mark.slow
@pytest.mark.parametrize(("league", "peer"), [("spark", "rcssserver3d 138"), ("mj", "rcssservermj 21.9")])
def test_a_short_benchmark_tells_the_speed_of_a_server_beside_the_league_s_own(league: str, peer: str) -> None:
    rows = matches.server_speed(league, 1, 0.2)
    assert [row.unit for row in rows] == ["x real time"]
    assert rows[0].value > 0
    assert peer in rows[0].peer


@pytest.mark.slow
def test_memory_is_told_with_its_growth() -> None:
    rows = matches.server_memory(0.3)
    assert [row.unit for row in rows] == ["MB", "MB", "%"]
    assert 50 < rows[0].value < 2000
    assert rows[0].value < rows[1].value
