"""Lines of the benchmark table, and what is measured."""

from __future__ import annotations

import psutil
import pytest

from nutmeg.bench import benchmarks
from nutmeg.bench.row import Row, resident_bytes


def row(**changes: object) -> Row:
    plain = {"name": "ant", "value": 12345.6, "unit": "steps/s", "peer": "bare 14,000", "ratio": 0.88}
    return Row(**{**plain, **changes})  # type: ignore[arg-type]


def test_a_row_has_the_promised_keys() -> None:
    assert set(row().as_json()) == {"name", "value", "unit", "peer", "ratio", "target"}


@pytest.mark.parametrize(
    ("goal", "target", "met"),
    [
        ({"least_ratio": 0.85}, "ratio >= 0.85", "yes"),
        ({"least_ratio": 0.9}, "ratio >= 0.9", "NO"),
        ({"least": 20000.0}, ">= 20,000", "NO"),
        ({"below": 20000.0}, "< 20000 steps/s", "yes"),
        ({}, "", ""),
    ],
)
def test_a_row_says_whether_the_promise_is_kept(goal: dict[str, float], target: str, met: str) -> None:
    assert row(**goal).cells() == ("ant", "12,346", "steps/s", "bare 14,000", "0.88", target, met)
    assert row(**goal).as_json()["target"] == target


def test_a_row_without_a_peer_leaves_it_out() -> None:
    alone = row(peer="", ratio=None)
    assert alone.cells()[4] == ""
    assert alone.sentence() == "ant: 12,346 steps/s"
    assert row().sentence().endswith("(bare 14,000)")


def test_every_benchmark_has_a_name() -> None:
    assert {"nao-v6 x1", "ant x1", "nao-spark x22", "threads"} <= set(benchmarks(0.1))


def test_resident_memory_is_what_the_system_says() -> None:
    process = psutil.Process()
    before = process.memory_info().rss
    assert 0.9 * before < resident_bytes() < 1.1 * process.memory_info().rss
    assert resident_bytes(process.pid) == pytest.approx(before, rel=0.1)
