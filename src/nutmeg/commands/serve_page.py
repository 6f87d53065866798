"""The web page of hosted robots: shows the growing recording, and passes on what somebody does to a robot by hand.

with RobotPage(host, journal) as page:
    page.show("127.0.0.1", 8080)            # comes up beside the running host
    host.run()
page.url
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from nutmeg.base.errors import NutmegError
from nutmeg.base.interrupts import Closing

if TYPE_CHECKING:
    from nutmeg.commands.server_log import Journal
    from nutmeg.net.host.robot_host import RobotHost
    from nutmeg.view.pages.orders import Order
    from nutmeg.view.pages.process import ViewerProcess

PATIENCE = 3.0
"""How long the page may take to end [s]."""


class RobotPage(Closing):
    """The page of a host.

    Args:
        host: whose recording is shown.
        journal: told about the page.
    """

    def __init__(self, host: RobotHost, journal: Journal) -> None:
        self.url: str | None = None
        """Of the page, once it answers."""
        self._host, self._journal = host, journal
        self._viewer: ViewerProcess | None = None
        self._thread: threading.Thread | None = None

    def show(self, address: str, port: int) -> None:
        """Starts the page, which takes seconds, and returns at once."""
        import nutmeg.view.pages.process  # noqa: F401 (now, as it takes long and the host would wait for it later)
        from nutmeg.view.pages.process import check_port

        check_port(address, port)
        self._thread = threading.Thread(target=self._start, args=(address, port), name="page", daemon=True)
        self._thread.start()

    def _start(self, address: str, port: int) -> None:
        from nutmeg.view.pages.orders import Inbox
        from nutmeg.view.pages.process import start_viewer_process

        record = self._host.settings.record
        if record is None:
            return
        inbox = Inbox()
        inbox.on_poke = self._poke
        pokes = {name: list(robot.hands_on) for name, robot in self._host.robots.items() if robot.hands_on}
        try:
            self._viewer = start_viewer_process(record, host=address, port=port, live=True, inbox=inbox, pokes=pokes)
        except (NutmegError, OSError) as error:
            self._journal.write(f"there is no page, the robots go on: {error}")
            return
        self.url = self._viewer.url
        self._journal.write(f"page: {self.url}")

    def _poke(self, order: Order) -> None:
        """Somebody at the page touches a robot; called in the thread that reads the page's orders."""
        robot, _, sensor = order.thing.rpartition("/")
        value, seconds, release = order.numbers
        if robot in self._host.robots:
            self._host.robots[robot].poke(sensor, None if release else value, seconds=seconds or float("inf"))

    def close(self) -> None:
        """Ends the page."""
        if self._thread is not None:
            self._thread.join(PATIENCE)  # a page that is still coming up ends with this process
        if self._viewer is not None:
            self._viewer.stop()
