"""Who comes to a served match from this side: the web page, and teams of ours, each a process of its own.

    with Guests(server, journal, page=Page(Path("match.nutmeg"), "127.0.0.1", 8080)) as guests:
        guests.come({"reds": "holonomic"}, players=4)
        server.run()

The page comes up beside the running server, as it takes seconds. Teams are `nutmeg agents`: they use nothing but the
protocol, and end when the server ends their connections, however that happens.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nutmeg.base.errors import NutmegError
from nutmeg.base.interrupts import Closing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nutmeg.commands.server_log import Journal
    from nutmeg.net.simspark.server import Server
    from nutmeg.view.pages.process import ViewerProcess

EVERYWHERE = "0.0.0.0"  # noqa: S104 (to be told from other addresses)
PATIENCE = 3.0
"""How long processes may take to end, s."""


@dataclass(frozen=True)
class Page:
    """Where the match is shown."""

    record: Path
    """The recording, which grows."""
    host: str
    port: int


class Guests(Closing):
    """Processes that belong to a server.

    Args:
        server: where teams connect to.
        journal: told about the page.
        page: what to show where; None for no page.
    """

    def __init__(self, server: Server, journal: Journal, *, page: Page | None) -> None:
        self.url: str | None = None
        """Of the page, once it answers."""
        self._server, self._journal, self._page = server, journal, page
        self._viewer: ViewerProcess | None = None
        self._thread: threading.Thread | None = None
        self._teams: list[subprocess.Popen[bytes]] = []
        if page is not None:
            import nutmeg.view.pages.process  # noqa: F401 (now, as it takes long and the server would wait for it later)

    def come(self, teams: Mapping[str, str], players: int) -> None:
        """Starts the page, and teams of ours by name and walk."""
        if self._page is not None:
            self._thread = threading.Thread(target=self._show, args=(self._page,), name="page", daemon=True)
            self._thread.start()
        for team, walk in teams.items():
            self._play(team, walk, players)

    def _show(self, page: Page) -> None:
        from nutmeg.view.pages.process import start_viewer_process

        try:
            self._viewer = start_viewer_process(page.record, host=page.host, port=page.port, live=True)
        except (NutmegError, OSError) as error:
            self._journal.write(f"there is no page, the match goes on: {error}")
            return
        self.url = self._viewer.url
        self._journal.write(f"page: {self.url}")

    def _play(self, team: str, walk: str, players: int) -> None:
        settings = self._server.settings
        host = "127.0.0.1" if settings.host == EVERYWHERE else settings.host
        command = [sys.executable, "-m", "nutmeg", "agents", team, "--walk", walk, "--players", str(players)]
        command += ["--host", host, "--port", str(self._server.agent_port)]
        # in a session of its own, so that Ctrl-C reaches the server first
        process = subprocess.Popen(  # noqa: S603 (our own command)
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
        )
        self._teams.append(process)

    def close(self) -> None:
        """Ends the page and the teams."""
        if self._thread is not None:
            self._thread.join(PATIENCE)  # a page that is still coming up ends with this process
        if self._viewer is not None:
            self._viewer.stop()
        for process in self._teams:
            process.terminate()
        for process in self._teams:
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
