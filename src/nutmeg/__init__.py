"""Nutmeg: a robot-soccer laboratory.

Its chapters, each of which imports only those before it: `base` (shared tools), `model` (robots, fields, balls and
scenes), `recording` (time series and events on disk), `sim` (stepping and sensing), `motion` (walks and other skills),
`search` (optimisation), `reality` (identification), `learning`, `match` (robot soccer), `net` (protocols), `view`
(pages, videos, reports), `experiments` and `bench`, `commands`.

    from nutmeg.model import Placement, SceneSettings, assemble
    from nutmeg.sim import Worlds

    scene = assemble(SceneSettings(field="spl2025", robots=(Placement(robot="nao-v6"),)))
    worlds = Worlds(scene, count=64)
    worlds.advance(1.0)
"""

__version__ = "0.2.0.dev0"
