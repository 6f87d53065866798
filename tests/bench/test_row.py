"""Lines of the benchmark table, and what is measured."""

from __future__ import annotations

import psutil
import pytest

from nutmeg.bench import benchmarks
from nutmeg.bench.row import Row
from nutmeg.bench.simulation import one_robot, resident_bytes


def row(**changes: object) -> Row:
    plain = {"name": "ant", "value": 12345.6, "unit": "steps/s", "peer": "bare 14,000", "ratio": 0.88, "target": "x"}
    return Row(**{**plain, **changes})  # type: ignore[arg-type]


def test_a_row_has_the_promised_keys() -> None:
    assert set(row().as_json()) == {"name", "value", "unit", "peer", "ratio", "target"}


@pytest.mark.parametrize(("met", "shown"), [(True, "yes"), (False, "NO"), (None, "")])
def test_a_row_says_whether_the_promise_is_kept(met: bool | None, shown: str) -> None:
    assert row(met=met).cells() == ("ant", "1.235e+04", "steps/s", "bare 14,000", "0.88", "x", shown)


def test_a_row_without_a_peer_leaves_it_out() -> None:
    alone = row(peer="", ratio=None)
    assert alone.cells()[4] == ""
    assert alone.sentence() == "ant: 1.235e+04 steps/s"
    assert row().sentence().endswith("(bare 14,000)")


def test_every_benchmark_has_a_name() -> None:
    assert {"nao-v6 x1", "ant x1", "nao-spark x22", "threads"} <= set(benchmarks(0.1))


def test_speed_is_measured_beside_bare_mujoco() -> None:
    steps, times = one_robot("ant", 0.02)
    assert steps.unit == "steps/s"
    assert steps.value > 0
    assert steps.ratio is not None
    assert steps.met == (steps.ratio >= 0.85)
    assert times.value == pytest.approx(steps.value * 0.004)


def test_resident_memory_is_what_the_system_says() -> None:
    process = psutil.Process()
    before = process.memory_info().rss
    assert 0.9 * before < resident_bytes() < 1.1 * process.memory_info().rss
    assert resident_bytes(process.pid) == pytest.approx(before, rel=0.1)
