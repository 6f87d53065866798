"""An experiment over several seeds: each one's result is kept in a file, so that an interrupted run goes on.

    runs = each_seed(out, range(0, 10), {"generations": 11}, one_seed)     # one_seed(3) -> a dictionary

A file of the same experiment with other settings, or of other software, is not used: its seed is run again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nutmeg.base.errors import FileError
from nutmeg.base.journal import versions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path


def each_seed(
    out: Path, seeds: Iterable[int], settings: Mapping[str, object], run: Callable[[int], dict[str, Any]]
) -> list[dict[str, Any]]:
    """The results of all seeds, in their order.

    Args:
        out: folder of the experiment.
        seeds: which.
        settings: what decides the results but for the seed; made of what JSON can hold.
        run: does one seed.
    """
    wanted = {"settings": _plain(settings), "versions": versions()}
    results = []
    for seed in seeds:
        path = out / f"seed-{seed}.json"
        known = _read(path)
        if known is None or {key: known.get(key) for key in wanted} != wanted:
            known = {**wanted, "seed": seed, "result": _plain(run(seed))}
            _write(path, known)
        results.append(dict(known["result"]))
    return results


def write_results(out: Path, answer: Mapping[str, Any]) -> None:
    """The experiment's results.json."""
    _write(out / "results.json", answer)


def _plain(value: object) -> Any:  # noqa: ANN401
    """What is left of a value after it has been through JSON; one that JSON cannot hold is told as text."""
    return json.loads(json.dumps(value, default=str))


def _read(path: Path) -> dict[str, Any] | None:
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return None  # half a file: its seed is run again
    return table if isinstance(table, dict) and isinstance(table.get("result"), dict) else None


def _write(path: Path, table: Mapping[str, Any]) -> None:
    """In one go: the old content or the new, never half of it."""
    draft = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(table, indent=1, default=float) + "\n", encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror}.") from None
