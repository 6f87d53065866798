"""Pictures a second that the server of a page sends to one browser, and its processor time for each.

    nutmeg play --players 11 --seconds 40 --fast --no-view -o eleven
    python scripts/measure_page.py eleven/match.nutmeg left1.angles ball.speed left2.belief_error

    nutmeg play --players 11 --no-view -o live &           # the same of a match that is played meanwhile
    python scripts/measure_page.py live/match.nutmeg left1.angles ball.speed left2.belief_error

The browser is a bare WebSocket client, so that drawing takes no time from the server. Pictures are counted by the body
that moved most often.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from collections import defaultdict
from pathlib import Path

import msgspec
import psutil
import viser
import websockets
import zstandard

from nutmeg.recording import Recording
from nutmeg.view.pages.process import start_viewer_process

SECONDS = 20.0
CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (0.0, -9.0, 5.0), "fov": 0.6, "near": 0.1,
    "far": 100.0, "image_height": 600, "image_width": 900, "look_at": (0.0, 0.0, 0.0), "up_direction": (0.0, 0.0, 1.0),
}  # fmt: skip
"""What a browser says first."""


async def watch(url: str, pid: int) -> tuple[list[float], float]:
    """When the body that moves most often was moved during some seconds, and the server's processor time for them."""
    protocol = websockets.Subprotocol(f"viser-v{viser.__version__}")
    async with websockets.connect(url.replace("http", "ws"), subprotocols=[protocol], max_size=None) as browser:
        await browser.send(msgspec.msgpack.encode(CAMERA))
        await asyncio.sleep(3.0)  # the page is built
        server, moves = psutil.Process(pid), defaultdict(list)
        begun, used = time.monotonic(), sum(server.cpu_times()[:2])
        while (now := time.monotonic()) < begun + SECONDS:
            data = await browser.recv()
            assert isinstance(data, bytes)
            end = 16 + int.from_bytes(data[8:16], "little")
            raw = zstandard.decompress(data[16:end], max_output_size=int.from_bytes(data[:8], "little"))
            for message in msgspec.msgpack.decode(raw)["messages"]:
                if message["type"] == "SetPositionMessage":
                    moves[message["name"]].append(now)
        return max(moves.values(), key=len), sum(server.cpu_times()[:2]) - used


def main() -> None:
    """Measures and prints."""
    path, *plots = sys.argv[1:]
    live = not Recording.open(Path(path)).finished
    with start_viewer_process(Path(path), port=0, plot=plots, live=live) as viewer:
        times, used = asyncio.run(watch(viewer.url, viewer.pid))
    gaps = [b - a for a, b in itertools.pairwise(times)]
    print(  # noqa: T201 (this is a command)
        f"{'live' if live else 'replay'}: {len(times) / SECONDS:.1f} pictures a second, "
        f"longest gap {1e3 * max(gaps):.0f} ms, "
        f"{1e3 * used / len(times):.1f} ms of processor time each"
    )


if __name__ == "__main__":
    main()
