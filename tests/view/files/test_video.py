import subprocess
import sys
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest

from nutmeg.base.errors import FileError, UnknownNameError, UsageError
from nutmeg.view.files.pictures import QUICK
from nutmeg.view.files.video import video

pytestmark = pytest.mark.usefixtures("renderer")


def decoded(path: Path, size: tuple[int, int] = (160, 90)) -> tuple[np.ndarray, str]:
    """The frames (n, height, width, 3) of a video, and what ffmpeg says about it."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    frames = np.frombuffer(done.stdout, np.uint8).reshape(-1, size[1], size[0], 3)
    return frames, done.stderr.decode()


def test_a_video_has_a_frame_for_every_moment_and_lasts_as_long_as_the_recording(
    recorded: Path, tmp_path: Path
) -> None:
    told = []
    out = tmp_path / "toy.mp4"
    frames = video(recorded, out, fps=10, size=(160, 90), quality=QUICK, on_progress=lambda *n: told.append(n))
    assert frames == 31
    assert told[-1] == (31, 31)
    counted, seconds = imageio_ffmpeg.count_frames_and_secs(str(out))
    assert counted == 31
    assert seconds == pytest.approx(3.1, abs=0.05)
    _, said = decoded(out)
    assert "h264" in said
    assert "yuv420p" in said
    assert "160x90" in said


def test_a_video_moves(recorded: Path, tmp_path: Path) -> None:
    video(recorded, tmp_path / "toy.mp4", fps=10, size=(160, 90), quality=QUICK, camera="side")
    pictures, _ = decoded(tmp_path / "toy.mp4")
    assert pictures.shape == (31, 90, 160, 3)
    assert np.abs(pictures[0].astype(int) - pictures[-1]).max() > 60


def test_an_interrupted_video_leaves_no_file(recorded: Path, tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    folder = tmp_path / "out"
    folder.mkdir()
    with pytest.raises(KeyboardInterrupt):
        video(recorded, folder / "x.mp4", fps=10, size=(64, 48), quality=QUICK, on_progress=interrupt)
    assert list(folder.iterdir()) == []


def test_an_encoder_that_fails_is_an_error_and_leaves_no_file(recorded: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from nutmeg.base.errors import FileError; from nutmeg.view.files.pictures import QUICK; "
        "from nutmeg.view.files.video import video\n"
        "from nutmeg.sim.cameras.renderer import working_renderer; working_renderer()\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try: video(Path(sys.argv[1]), Path(sys.argv[2]), fps=10, size=(320, 240), quality=QUICK)\n"
        "except FileError as error: print(error)"
    )
    command = [sys.executable, "-B", "-c", code, str(recorded), str(folder / "x.mp4")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "x.mp4: the video cannot be written" in done.stdout, done.stderr
    assert list(folder.iterdir()) == []


def test_what_cannot_be_filmed_is_refused_with_a_reason(recorded: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="even"):
        video(recorded, tmp_path / "x.mp4", size=(161, 90))
    with pytest.raises(FileError, match=r"\.mp4"):
        video(recorded, tmp_path / "x.gif")
    with pytest.raises(FileError, match="folder"):
        video(recorded, tmp_path / "absent" / "x.mp4")
    with pytest.raises(UnknownNameError, match="broadcast"):
        video(recorded, tmp_path / "x.mp4", camera="brodcast")
