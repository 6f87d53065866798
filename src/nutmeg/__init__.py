"""Nutmeg: a robot-soccer laboratory.

The chapters, each of which imports only those before it: `body` (what is simulated), `engine` (how it is
stepped), `motion` (how a robot moves) and `view` (seeing). `nutmeg.recording` is the one format in which
they hand results to each other.

    from nutmeg.model import Placement, SceneSettings, assemble
    from nutmeg.sim import Worlds

    scene = assemble(SceneSettings(field="spl2025", robots=(Placement(robot="nao-v6"),)))
    worlds = Worlds(scene, count=64)
    worlds.advance(1.0)
"""

__version__ = "0.1.0"
