"""The agents of MacAlpine and others (2012): which walk each has, and what the paper says of it.

    agent = AGENTS["DynamicRewards"]
    agent.walk                                      # "dynamic-rewards", a file under learning/data/walks
    walks, missing = agent_walks()                  # those whose file is there, and the names of those without

Speeds are table 2 of the paper, over ten seconds from standing; those of GoToTarget and Sprint are told in section 5.2,
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


@dataclass(frozen=True, kw_only=True)
class Agent:
    """One of the paper's agents."""

    name: str
    """As the paper calls it."""
    walk: str
    """The walk of ours that stands for it: a name for `read_walk`."""
    section: str
    """Of the paper."""
    about: str
    """In a phrase."""
    forward: float | None = None
    """The paper's speed [m/s]; None where it does not tell, as below."""
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
        Agent(name="Initial", walk="initial", section="4", about="set by hand, untrained"),
        Agent(
            name="GoToTarget", walk="go-to-target", section="5.1", about="one set, learned on the course", forward=0.64
        ),
        Agent(
            name="Sprint",
            walk="sprint",
            section="5.2",
            about="a second set within 15 degrees of the target",
            forward=0.71,
        ),
        Agent(
            name="Final",
            walk="final",
            section="5.3",
            about="a third set near the ball",
            forward=0.71,
            backward=0.40,
            sideways=0.21,
        ),
        Agent(
            name="StaticRewards",
            walk="static-rewards",
            section="6",
            about="directions weighed alike",
            forward=0.58,
            backward=0.52,
            sideways=0.37,
        ),
        Agent(
            name="DynamicRewards",
            walk="dynamic-rewards",
            section="6",
            about="directions weighed by the fittest candidate",
            forward=0.42,
            backward=0.53,
            sideways=0.48,
        ),
        Agent(
            name="DynamicAvgRewards",
            walk="dynamic-avg-rewards",
            section="6",
            about="directions weighed by the fitter half",
            forward=0.45,
            backward=0.53,
            sideways=0.51,
        ),
        Agent(
            name="FaceForward",
            walk="face-forward",
            section="6",
            about="weighed alike, turning to where it goes",
            forward=0.74,
            backward=0.35,
            sideways=0.03,
        ),
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
