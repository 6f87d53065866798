"""Realities behind one protocol: try these trials, give back fitness and series, count and log every one.

reality = LoggedReality(HiddenSimulation(twin, {"L1_femur": 1.2}, watch), folder=Path("runs/ant"))
reality.try_out(trials)             # a list of Observed, in their order; only new ones are tried
"""

from nutmeg.reality.realities.hidden import HiddenSimulation, Noise
from nutmeg.reality.realities.log import LoggedReality
from nutmeg.reality.realities.manual import ManualReality
from nutmeg.reality.realities.reality import Observed, Reality, fingerprint
from nutmeg.reality.realities.recorded import RecordedReality, recorded_trials
from nutmeg.reality.realities.settings import RealitySettings, make_reality

__all__ = [
    "HiddenSimulation",
    "LoggedReality",
    "ManualReality",
    "Noise",
    "Observed",
    "Reality",
    "RealitySettings",
    "RecordedReality",
    "fingerprint",
    "make_reality",
    "recorded_trials",
]
