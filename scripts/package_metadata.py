"""What a package index shows of Nutmeg: the README with links that work there, and the project's addresses.

A package index shows the README without the files beside it, so links such as `docs/howto/serve.md` lead nowhere there.
Hatchling calls this hook when it builds: with the address of the repository (`[tool.nutmeg] repository` in
`pyproject.toml`) links become addresses of files there; as long as the project has no public address, they become plain
text, pictures are left out, and no project links are given.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(?P<mark>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
BRANCH = "main"


class PackageMetadata(MetadataHookInterface):
    """Fills in `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Adds both to the metadata of the project."""
        root = Path(self.root)
        settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        repository = settings["tool"]["nutmeg"]["repository"].rstrip("/")
        text = readme_for_index((root / "README.md").read_text(encoding="utf-8"), repository)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        if repository:
            metadata["urls"] = project_urls(repository)


def project_urls(repository: str) -> dict[str, str]:
    """Addresses of the project, from that of its repository."""
    return {
        "Repository": repository,
        "Documentation": f"{repository}/blob/{BRANCH}/docs/index.md",
        "Changelog": f"{repository}/blob/{BRANCH}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }


def readme_for_index(text: str, repository: str) -> str:
    """The README with links to files of the repository, or without links where there is no repository to link to."""

    def linked(found: re.Match[str]) -> str:
        mark, label, target = found["mark"], found["text"], found["target"]
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        if not repository:
            return "" if mark else label
        kind = "raw" if mark else "blob"
        return f"{mark}[{label}]({repository}/{kind}/{BRANCH}/{target})"

    return LINK.sub(linked, text)
