"""What robots and ball of the behavioural world can do: numbers from a TOML file, each with its source beside it.

    settings = load_behaviour("nao")                         # or the path of your own
    settings.walk.ahead                                      # 0.2 m/s
    faster = settings.changed({"walk.ahead": 0.3, "kick.straight_distance": 4.0})
    table = numbers_of([settings, faster])                   # (2,) for the kernels: table[1]["walk_ahead"] is 0.3

`nao` has the numbers of NaOISIS (seed 002) where the paper gives any; `nao-spark` mimics the robot of the 3D simulation
league as it walks, kicks and falls in the physical world here. Every number is a plain scalar with a dotted name
(`NAMES`), so that a calibration can list, change and write any of them. Matches of a batch may differ in their numbers.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.errors import UnknownNameError
from nutmeg.match.behaviour.body_settings import (
    BodySettings,
    DiveSettings,
    FallSettings,
    GetUpSettings,
    HeadSettings,
    WalkSettings,
)
from nutmeg.match.behaviour.play_settings import BallRollSettings, BounceSettings, KickSettings, PushSettings
from nutmeg.settings import read_cached

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FOLDER = Path(__file__).parent.parent / "data" / "behaviour"


@dataclass(frozen=True, kw_only=True)
class BehaviourSettings:
    """The numbers of the behavioural world; every number's origin is in `source`."""

    name: str
    """The name it is called by, that of its file."""
    walk: WalkSettings
    head: HeadSettings
    body: BodySettings
    fall: FallSettings
    get_up: GetUpSettings
    dive: DiveSettings
    kick: KickSettings
    ball: BallRollSettings
    bounce: BounceSettings
    push: PushSettings
    source: Mapping[str, str] = field(default_factory=dict)
    """Where each number comes from."""

    def changed(self, numbers: Mapping[str, float]) -> BehaviourSettings:
        """The same with other numbers, by dotted name."""
        groups: dict[str, dict[str, float]] = {}
        for name, number in numbers.items():
            if name not in NAMES:
                raise UnknownNameError("number of the behavioural world", name, NAMES)
            group, key = name.split(".")
            groups.setdefault(group, {})[key] = float(number)
        changes = {group: dataclasses.replace(getattr(self, group), **new) for group, new in groups.items()}
        return dataclasses.replace(self, **changes)

    def number(self, name: str) -> float:
        """The number of a dotted name."""
        if name not in NAMES:
            raise UnknownNameError("number of the behavioural world", name, NAMES)
        group, key = name.split(".")
        return float(getattr(getattr(self, group), key))

    def numbers(self) -> dict[str, float]:
        """All numbers by dotted name."""
        return {name: self.number(name) for name in NAMES}


GROUPS: Mapping[str, type] = {
    "walk": WalkSettings,
    "head": HeadSettings,
    "body": BodySettings,
    "fall": FallSettings,
    "get_up": GetUpSettings,
    "dive": DiveSettings,
    "kick": KickSettings,
    "ball": BallRollSettings,
    "bounce": BounceSettings,
    "push": PushSettings,
}
NAMES = tuple(f"{group}.{f.name}" for group, kind in GROUPS.items() for f in dataclasses.fields(kind))
"""Dotted names of all numbers."""
NUMBERS = np.dtype([(name.replace(".", "_"), np.float64) for name in NAMES])
"""A row of the table that kernels get: the dotted names with underscores."""


def numbers_of(settings: Sequence[BehaviourSettings]) -> NDArray[np.void]:
    """A row of numbers for each match, of the type `NUMBERS`."""
    rows = [tuple(s.numbers().values()) for s in settings]
    return np.array(rows, NUMBERS)


def behaviour_names() -> list[str]:
    """The settings that come with Nutmeg."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_behaviour(name: str | Path) -> BehaviourSettings:
    """The settings of that name, or of a user's own file (a path ending in `.toml`)."""
    if str(name).endswith(".toml"):
        return read_cached(Path(name), BehaviourSettings)
    if name not in behaviour_names():
        raise UnknownNameError("settings", str(name), behaviour_names())
    return read_cached(FOLDER / f"{name}.toml", BehaviourSettings)


def write_behaviour(settings: BehaviourSettings, path: Path) -> None:
    """Writes settings to a TOML file that `load_behaviour` reads."""
    lines = [f'name = "{settings.name}"']
    for group, kind in GROUPS.items():
        lines += ["", f"[{group}]"]
        lines += [f"{f.name} = {_toml(settings.number(f'{group}.{f.name}'))}" for f in dataclasses.fields(kind)]
    quoted = {key: text.replace("\\", "\\\\").replace('"', '\\"') for key, text in settings.source.items()}
    lines += ["", "[source]", *[f'"{key}" = "{text}"' for key, text in quoted.items()], ""]
    path.write_text("\n".join(lines), encoding="utf-8")


def _toml(number: float) -> str:
    return repr(number) if math.isfinite(number) else "inf"
