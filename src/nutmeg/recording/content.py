"""The hash of a recording's content: the same for the same experiment, however it is stored.

SHA-256 over the channels, the seed, the configuration and the scene (as canonical JSON), then all rows (time
first, little-endian float64, one row after the other, every NaN the same), then the events. Dates, versions
and the cutting into chunks are left out.

    content_hash(manifest, scene_xml, blocks, events)  # "3f0c..."
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nutmeg.base.arrays import Floats
    from nutmeg.recording.manifest import Manifest


def content_hash(
    manifest: Manifest,
    scene_xml: str | None,
    blocks: Iterable[Floats],
    events: Sequence[dict[str, Any]],
) -> str:
    """The hash, in hexadecimal; `blocks` are all rows in order, `(n, 1 + width)` each, cut anywhere."""
    head = {
        "channels": [dataclasses.asdict(channel) for channel in manifest.channels],
        "seed": manifest.seed,
        "config": manifest.config,
        "scene": scene_xml,
    }
    digest = hashlib.sha256(_canonical(head))
    for block in blocks:
        rows = np.ascontiguousarray(block, dtype="<f8")
        rows[np.isnan(rows)] = np.nan
        digest.update(rows.data)
    digest.update(b"\nevents\n")
    for event in events:
        digest.update(_canonical(event))
    return digest.hexdigest()


def _canonical(item: object) -> bytes:
    """JSON with sorted keys on one line; TOML's dates become texts."""
    return json.dumps(item, sort_keys=True, separators=(",", ":"), default=str).encode() + b"\n"
