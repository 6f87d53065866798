"""Recordings: one format of time series and events for walks, matches, identification and real robots.

A recording is a folder, by convention named `something.nutmeg`; everything in it is a format that other
tools read (`polars.read_parquet("walk.nutmeg/series-*.parquet")` gives the whole table):

    manifest.toml           format, kind, seed, channels with units, the caller's configuration, finished or not
    scene.xml               the simulated scene as plain MJCF (optional), enough to replay
    mesh-trunk-0a1b2c.stl   the mesh files that scene.xml names (of robots that have any)
    series-00000.parquet    sealed rows: a column `time` and one column `{channel}.{label}` per component
    tail-00001.f64          the rows not sealed yet: little-endian float64, time first, one row after the other
    events.jsonl            one JSON object per line: {"time": 1.5, "kind": "goal", "team": "left"}

Write one, and read it, also from another process while it grows:

    channels = (Channel(name="nao1.angles", labels=("HeadYaw", "HeadPitch"), unit="rad", resolution=1e-4),)
    manifest = Manifest(kind="scene", seed=7, channels=channels)
    with RecordingWriter.create(Path("walk.nutmeg"), manifest) as writer:
        writer.append(0.02, np.array([0.1, -0.2]))
        writer.event(0.02, "kick", robot="nao1")

    recording = Recording.open(Path("walk.nutmeg"))
    angles = recording.read("nao1.angles")  # (rows, 2) float64
    recording.refresh()                     # True if there are new rows or events
    recording.problems                      # what is missing, one sentence each; empty if all is well

What is promised:

- A killed writer loses nothing that `append` returned from; half a row at the end is ignored and reported.
  (A power cut can lose the rows of the tail: only sealed chunks are forced to the disk.)
- A full disk raises `RecordingError`, which says until when everything is safe; the recording stays readable.
- A channel with a `resolution` is stored as float32, off by at most half of it; without one, exactly.
- NaN means missing. Values that cannot be read back any more are NaN too, and `problems` says which.
- `content_hash()` is the same for the same content, whatever the chunk size, folder or packed file.
- Neither side holds more than a few chunks in memory, however long the recording.

`pack(folder, file)` makes a single file of it (a zip without compression), which `Recording.open` reads as
well, truncated or not. `import_csv` makes a recording of a real robot's log, and
`open_log` reads one into memory (CSV, Parquet or a recording). Nothing is ever pickled.
"""

from nutmeg.recording.channels import Channel
from nutmeg.recording.files import pack
from nutmeg.recording.log import CsvChannel, CsvMap, CsvTime, Log, import_csv, open_log
from nutmeg.recording.manifest import FORMAT, Manifest
from nutmeg.recording.reader import Recording
from nutmeg.recording.writer import RecordingWriter

__all__ = [
    "FORMAT",
    "Channel",
    "CsvChannel",
    "CsvMap",
    "CsvTime",
    "Log",
    "Manifest",
    "Recording",
    "RecordingWriter",
    "import_csv",
    "open_log",
    "pack",
]
