"""Logs in memory are what recordings of the same files hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nutmeg.base.errors import FileError, UnknownNameError
from nutmeg.recording import CsvChannel, CsvMap, CsvTime, Log, import_csv, open_log

MAP = CsvMap(
    time=CsvTime(column="t"),
    channels=(
        CsvChannel(name="arm.angles", columns=("a", "b"), labels=("hip", "knee"), unit="rad", scale=0.1),
        CsvChannel(name="supply", columns=("v",), unit="V", resolution=0.01),
    ),
    events={"mode": "m"},
)
TEXT = "t,a,b,v,m\n0.0,1,2,7.301,on\n0.1,,3,7.299,on\n0.2,5,6,7.25,off\n"


def test_a_csv_file_is_read_as_it_would_be_recorded(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TEXT)
    log = open_log(tmp_path / "a.csv", MAP)
    recorded = Log.of(import_csv(tmp_path / "a.csv", tmp_path / "a.nutmeg", MAP))
    columns = ["supply.v", "arm.angles.knee", "arm.angles.hip"]
    np.testing.assert_array_equal(log.times, recorded.times)
    np.testing.assert_array_equal(log.series(columns), recorded.series(columns))
    assert log.units == recorded.units == {"arm.angles.hip": "rad", "arm.angles.knee": "rad", "supply.v": "V"}
    assert list(log.events) == list(recorded.events)
    assert log.first_event("mode") == 0.0
    assert log.first_event("fall") == np.inf
    assert log.duration == pytest.approx(0.2)
    with pytest.raises(UnknownNameError, match=r"arm\.angles"):
        log.read("arm.angle")


def test_a_parquet_table_has_its_channels_in_the_names_of_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"time": [0.0, 0.1], "angles.hip": [1.0, 2.0], "about": ["x", "y"]}), path)
    log = open_log(path)
    np.testing.assert_array_equal(log.series(["angles.hip"]), [[1.0], [2.0]])
    assert log.units == {"angles.hip": "rad"}
    pq.write_table(pa.table({"time": [0.1, 0.1], "angles.hip": [1.0, 2.0]}), path)
    with pytest.raises(FileError, match="do not increase"):
        open_log(path)
