"""Logs in memory are what recordings of the same files hold; CSV files become recordings."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nutmeg.base import settings
from nutmeg.base.errors import FileError, UnknownNameError
from nutmeg.cli import main
from nutmeg.recording import CsvChannel, CsvMap, CsvTime, Log, Recording, import_csv, open_log
from nutmeg.recording.log import plain_map

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


SERVO = Path(__file__).parent / "data" / "servo_kp100_lift_and_drop.csv"

SERVO_MAP = """
kind = "servo"
[time]
column = "time_s"
[[channels]]
name = "servo.angle"
columns = ["goal_rad", "position_rad"]
labels = ["goal", "position"]
unit = "rad"
[[channels]]
name = "servo.supply"
columns = ["supply_V"]
unit = "V"
resolution = 0.01
[events]
torque = "torque_on"
[config]
kp = 100
"""

LOG = """t,mode,yaw,pitch
1000,Before,10,
1020,Before,20,5
1040,Play,-30,6
1040,Play,31,7
1060,Play,,8
1080,After,40,9
"""

LOG_MAP = """
[time]
column = "t"
scale = 0.001
repeated = "drop"
[[channels]]
name = "head"
columns = ["yaw", "pitch"]
scale = 0.017453292519943295
offset = 1.0
unit = "rad"
[events]
playmode = "mode"
"""


def mapping(folder: Path, text: str) -> CsvMap:
    (folder / "map.toml").write_text(text)
    return settings.read(folder / "map.toml", CsvMap)


def log(folder: Path, text: str = LOG) -> Path:
    (folder / "log.csv").write_text(text)
    return folder / "log.csv"


def test_a_real_servo_log_becomes_a_recording(tmp_path: Path) -> None:
    recording = import_csv(SERVO, tmp_path / "servo.nutmeg", mapping(tmp_path, SERVO_MAP))
    lines = [[float(cell) for cell in line.split(",")] for line in SERVO.read_text().splitlines()[1:]]
    table = np.array(lines)
    np.testing.assert_array_equal(recording.times, table[:, 0])
    np.testing.assert_array_equal(recording.read("servo.angle"), table[:, 1:3])
    np.testing.assert_allclose(recording.read("servo.supply")[:, 0], table[:, 5], atol=0.005)
    assert recording.channels["servo.angle"].labels == ("goal", "position")
    assert recording.channels["servo.supply"].labels == ("supply_V",)
    assert recording.manifest.config == {"source": SERVO.name, "kp": 100}
    assert recording.events == [{"time": table[0, 0], "kind": "torque", "value": "1"}]
    assert recording.finished


def test_units_missing_cells_events_and_repeated_times(tmp_path: Path) -> None:
    recording = import_csv(log(tmp_path), tmp_path / "a.nutmeg", mapping(tmp_path, LOG_MAP))
    np.testing.assert_allclose(recording.times, [1.0, 1.02, 1.04, 1.06, 1.08])
    degrees = np.array([[10, np.nan], [20, 5], [-30, 6], [np.nan, 8], [40, 9]])
    np.testing.assert_allclose(recording.read("head"), np.radians(degrees) + 1)
    told = [(round(event["time"], 3), event["kind"], event.get("value")) for event in recording.events]
    modes = [(1.0, "playmode", "Before"), (1.04, "playmode", "Play"), (1.08, "playmode", "After")]
    assert told == [*modes[:2], (1.04, "row_dropped", None), modes[2]]
    assert recording.events[2]["line"] == 5


def test_rows_can_be_counted_and_filtered_and_files_zipped(tmp_path: Path) -> None:
    text = LOG_MAP.replace('column = "t"', "rate = 50.0").replace("scale = 0.001\n", "", 1)
    packed = tmp_path / "log.csv.gz"
    packed.write_bytes(gzip.compress(LOG.encode()))
    counted = import_csv(packed, tmp_path / "a.nutmeg", mapping(tmp_path, text + '[where]\nmode = ["Play"]\n'))
    np.testing.assert_allclose(counted.times, [0.0, 0.02, 0.04])
    np.testing.assert_allclose(counted.read("head")[:2, 0], [math.radians(-30) + 1, math.radians(31) + 1])
    zero = LOG_MAP.replace("scale = 0.001", "scale = 0.001\nfrom_zero = true") + '[where]\nmode = ["Play"]\n'
    np.testing.assert_allclose(import_csv(packed, tmp_path / "b.nutmeg", mapping(tmp_path, zero)).times, [0.0, 0.02])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("20,5", "2o,5", r"log\.csv, line 3: column 'yaw': '2o' is not a number"),
        ("20,5", "2_0,5", r"line 3: column 'yaw': '2_0' is not a number"),
        ("20,5", "20", "line 3: has 3 cells, but the first line names 4 columns"),
        ("1020", "", "line 3: column 't': the time is missing"),
        ("1020", "x", "line 3: column 't': 'x' is not a number"),
        ("yaw", "jaw", r"line 1: has no column 'yaw'.*Did you mean 'jaw'"),
        ("pitch", "yaw", "line 1: the column 'yaw' is there twice"),
        (LOG, "", "the file is empty"),
        (LOG, "t,mode,yaw,pitch\n", "no row"),
    ],
)
def test_a_bad_log_names_file_line_and_column_and_leaves_nothing_behind(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(FileError, match=message):
        import_csv(log(tmp_path, LOG.replace(old, new)), tmp_path / "a.nutmeg", mapping(tmp_path, LOG_MAP))
    assert not (tmp_path / "a.nutmeg").exists()


def test_a_repeated_time_is_an_error_unless_it_may_be_dropped(tmp_path: Path) -> None:
    strict = mapping(tmp_path, LOG_MAP.replace('repeated = "drop"', ""))
    with pytest.raises(FileError, match=r"line 5: the time 1.04 s does not follow 1.04 s"):
        import_csv(log(tmp_path), tmp_path / "a.nutmeg", strict)


def test_files_that_are_no_text_are_told_apart(tmp_path: Path) -> None:
    plan = mapping(tmp_path, LOG_MAP)
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(LOG.encode())[:-12])
    (tmp_path / "picture.csv").write_bytes(b"\xff\xd8\xff\xe0")
    for name, message in [("cut.csv.gz", "damaged"), ("picture.csv", "UTF-8"), ("none.csv", "cannot be read")]:
        with pytest.raises(FileError, match=message):
            import_csv(tmp_path / name, tmp_path / "a.nutmeg", plan)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('column = "t"', "", "either `column` or `rate`"),
        ("scale = 0.001", "scale = -1.0", "must be positive"),
        ('columns = ["yaw", "pitch"]', 'columns = ["yaw"]\nlabels = ["a", "b"]', "2 labels for 1 columns"),
        ('name = "head"', 'name = "my head"', "letters, digits"),
        ("[time]", 'delimiter = ", "\n[time]', "not one character"),
    ],
)
def test_a_bad_column_map_is_an_error_of_the_map(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        mapping(tmp_path, LOG_MAP.replace(old, new))


def test_a_log_whose_columns_are_named_as_in_a_recording_needs_no_map(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "log.csv", tmp_path / "log.nutmeg"
    source.write_text("time,servo.position.knee,servo.position.hip,servo.load.knee\n0,1,2,3\n0.02,4,,6\n")
    assert main(["import", str(source), "-o", str(out)]) == 0
    recording = Recording.open(out)
    assert recording.channels["servo.position"].labels == ("knee", "hip")
    assert recording.read("servo.load").tolist() == [[3.0], [6.0]]
    source.write_text("t,position\n0,1\n")
    assert main(["import", str(source), "-o", str(tmp_path / "other.nutmeg")]) == 1
    assert "has no column 'time' [s]. Known columns: t, position. A column map" in capsys.readouterr().err


def test_a_column_that_is_there_twice_is_refused_by_its_name(tmp_path: Path) -> None:
    twice = log(tmp_path, "time,arm.goal,arm.goal,note,note\n0,1,2,3,4\n")
    with pytest.raises(FileError, match=r"has the column 'arm\.goal' twice"):
        plain_map(twice)
