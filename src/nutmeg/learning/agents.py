"""The agents of MacAlpine and others (2012): which walk each has, and the speeds that the paper gives.

    agent = AGENTS["DynamicRewards"]
    agent.walk                                      # "dynamic-rewards", a file under motion/data/walks
    walks, missing = agent_walks()                  # those whose file is there, and the names of those without

Speeds are table 2 of the paper, over ten seconds from standing; those of GoToTarget and Sprint are in section 5.2,
forward only. A walk that was learned for nothing but ten seconds straight ahead came to .78 m/s there, but fell when it
was mixed with the others: it is not one of the agents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nutmeg.base.errors import FileError
from nutmeg.motion.walk.files import read_walk, walk_names

if TYPE_CHECKING:
    from pathlib import Path

    from nutmeg.motion.walk.files import WalkParameters


@dataclass(frozen=True)
class Agent:
    """One of the paper's agents."""

    name: str
    """As the paper calls it."""
    walk: str
    """The walk that comes with Nutmeg for it: a name for `read_walk`."""
    section: str
    """The section of the paper."""
    about: str
    """What the agent was trained for, in a phrase."""
    forward: float | None = None
    """The paper's speed [m/s]; None where it gives none, as below."""
    backward: float | None = None
    """The paper's speed [m/s]."""
    sideways: float | None = None
    """The paper's speed [m/s]."""

    @property
    def paper(self) -> dict[str, float | None]:
        """The paper's speeds by direction [m/s]."""
        return {"forward": self.forward, "backward": self.backward, "sideways": self.sideways}


AGENTS: dict[str, Agent] = {
    agent.name: agent
    for agent in (
        Agent("Initial", "initial", "4", "set by hand, untrained"),
        Agent("GoToTarget", "go-to-target", "5.1", "one set, learned on the course", 0.64),
        Agent("Sprint", "sprint", "5.2", "a second set within 15 degrees of the target", 0.71),
        Agent("Final", "final", "5.3", "a third set near the ball", 0.71, 0.40, 0.21),
        Agent("StaticRewards", "static-rewards", "6", "directions weighed alike", 0.58, 0.52, 0.37),
        Agent(
            "DynamicRewards", "dynamic-rewards", "6", "directions weighed by the fittest candidate", 0.42, 0.53, 0.48
        ),
        Agent(
            "DynamicAvgRewards", "dynamic-avg-rewards", "6", "directions weighed by the fitter half", 0.45, 0.53, 0.51
        ),
        Agent("FaceForward", "face-forward", "6", "weighed alike, turning to where it goes", 0.74, 0.35, 0.03),
    )
}
"""The agents by name, in the order of the paper's sections."""


def agent_walks(folder: Path | None = None) -> tuple[dict[str, WalkParameters], tuple[str, ...]]:
    """The walks of the agents by the agents' names, and the names of agents without one.

    Args:
        folder: where walks are taken from first, as `NAME.toml` or as the folder `NAME` of a run; those that are not
            there, and all without it, are the ones that come with Nutmeg.
    """
    if folder is not None and not folder.is_dir():
        raise FileError(folder, "is no folder; needed is one with files such as dynamic-rewards.toml.")
    found = {agent.name: _walk_file(agent.walk, folder) for agent in AGENTS.values()}
    walks = {name: read_walk(file) for name, file in found.items() if file}
    return walks, tuple(name for name, file in found.items() if not file)


def other_walks(folder: Path | None = None) -> dict[str, WalkParameters]:
    """Walks on two legs that are of no agent, by name: those that come with Nutmeg, and the TOML files of a folder."""
    agents = {agent.walk for agent in AGENTS.values()}
    files = {name: name for name in walk_names()}
    files |= {path.stem: str(path) for path in sorted(folder.glob("*.toml"))} if folder is not None else {}
    walks = {name: read_walk(file) for name, file in files.items() if name not in agents}
    return {name: walk for name, walk in walks.items() if walk.trot is None}


def _walk_file(name: str, folder: Path | None) -> str:
    """What to call `read_walk` with; empty if there is no such walk."""
    own = () if folder is None else (folder / f"{name}.toml", folder / name / "params.toml")
    for path in own:
        if path.is_file():
            return str(path)
    return name if name in walk_names() else ""
