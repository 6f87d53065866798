import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from nutmeg.base.errors import EnvironmentProblem, UsageError
from nutmeg.view.pages.process import check_port, start_viewer_process
from nutmeg.view.pages.server import ViewerSettings, open_server, serve_recording


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_taken_port_is_named_together_with_the_way_out(taken_port: int, recorded: Path) -> None:
    with pytest.raises(EnvironmentProblem, match=rf"port {taken_port} .*--port"):
        serve_recording(ViewerSettings(path=recorded, port=taken_port))
    with pytest.raises(EnvironmentProblem, match=rf"port {taken_port} .*--port"):
        start_viewer_process(recorded, port=taken_port)


def test_a_server_listens_on_this_machine_only_and_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with open_server("127.0.0.1", 0) as server:
        port = server.get_port()
        with socket.create_connection(("127.0.0.1", port), timeout=120) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            said = b"".join(iter(lambda: client.recv(65536), b""))  # until the server has closed its end, too
        assert said.startswith(b"HTTP/1.1 200")
    assert port > 0
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(("host", "port"), [("203.0.113.7", 0), ("no.such.host.invalid", 0)])
def test_an_address_of_another_machine_is_refused(host: str, port: int) -> None:
    with pytest.raises(EnvironmentProblem):
        check_port(host, port)


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70000), ("127.0.0.1", -1), ("", 0)])
def test_what_is_no_address_at_all_is_a_wrong_call(host: str, port: int) -> None:
    with pytest.raises(UsageError):
        check_port(host, port)
