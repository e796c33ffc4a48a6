"""Pages of strangers cannot use the viewer: a real WebSocket client with their headers, and connections of any kind."""

from __future__ import annotations

import logging
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

import ytheta as yt
from tests.support.ports import find_free_port
from ytheta.viewing.viewer import Viewer

viser = pytest.importorskip("viser", reason="viser is not installed (pip install 'ytheta[view]')")
websockets = pytest.importorskip("websockets")
msgspec = pytest.importorskip("msgspec")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of websockets, inside viser


@pytest.fixture
def viewer() -> Iterator[Viewer]:
    started = yt.view(yt.load("lu-two-link"), port=find_free_port())
    try:
        yield started
    finally:
        started.stop()


def connect(server: Any, *, path: str, origin: str | None = "own", host: str | None = None) -> Any:
    from websockets.sync.client import connect

    place = f"127.0.0.1:{server.get_port()}"
    return connect(
        f"ws://{host or place}/{path}",
        sock=socket.create_connection(("127.0.0.1", server.get_port()), timeout=5.0),
        origin=f"http://{place}" if origin == "own" else origin,  # type: ignore[arg-type]
        subprotocols=[f"viser-v{viser.__version__}"],  # type: ignore[list-item]
        open_timeout=5.0,
    )


def test_the_page_of_the_viewer_can_connect(viewer: Viewer) -> None:
    with connect(viewer.server, path=viewer.token) as connection:
        assert connection.recv(timeout=5.0)
    place = f"localhost:{viewer.server.get_port()}"
    with connect(viewer.server, path=viewer.token, host=place, origin=f"http://{place}") as connection:
        assert connection.recv(timeout=5.0)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"origin": "http://example.com"}, 403),
        ({"origin": "null"}, 403),  # a page in a frame or a file
        ({"origin": "http://127.0.0.1"}, 403),  # another server of this machine
        ({"origin": None}, 403),
        ({"host": "rebound.example.com"}, 403),
        ({"path": ""}, 404),
        ({"path": "wrong"}, 404),
    ],
)
def test_other_pages_cannot(viewer: Viewer, change: dict[str, Any], status: int) -> None:
    from websockets.exceptions import InvalidStatus

    with pytest.raises(InvalidStatus) as caught, connect(viewer.server, **{"path": viewer.token, **change}):
        pass
    assert caught.value.response.status_code == status


def test_pages_need_the_token_too(viewer: Viewer) -> None:
    with urllib.request.urlopen(viewer.address, timeout=5.0) as page:
        assert b"<html" in page.read(100)
    address = viewer.address.rpartition("/")[0]
    for path in ("/", "/wrong", "/index.html"):
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(address + path, timeout=5.0)
        assert caught.value.code == 404
        caught.value.close()
    request = urllib.request.Request(viewer.address, headers={"Host": "rebound.example.com"})
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=5.0)
    assert caught.value.code == 403
    caught.value.close()


def test_tokens_are_random(viewer: Viewer) -> None:
    other = yt.view(yt.load("lu-two-link"), port=find_free_port())
    other.stop()
    assert viewer.token != other.token
    assert min(map(len, (viewer.token, other.token))) >= 20


def test_a_message_cannot_publish_the_page(viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    """viser would open a tunnel to a public server, as the twin shows."""
    import viser._viser

    opened: list[object] = []
    monkeypatch.setattr(viser._viser, "ViserTunnel", lambda *place: opened.append(place))
    for server, is_published in ((viewer.server, False), (start_plain_server(), True)):
        with connect(server, path=viewer.token) as connection:
            connection.recv(timeout=5.0)
            connection.send(msgspec.msgpack.encode({"type": "ShareUrlRequest"}))
            end = time.monotonic() + (5.0 if is_published else 1.0)
            while not opened and time.monotonic() < end:
                time.sleep(0.02)
        assert bool(opened) is is_published
    server.stop()


def start_plain_server() -> Any:
    return viser.ViserServer(host="127.0.0.1", port=find_free_port(), verbose=False)


def test_connections_of_other_kinds_say_nothing(viewer: Viewer, caplog: pytest.LogCaptureFixture, capfd: Any) -> None:
    with caplog.at_level(logging.DEBUG):
        for content in (b"\x16\x03\x01 hello\r\n\r\n", b"", b"GET / HTTP/0.9\r\n\r\n", b"\x00" * 5000):
            with socket.create_connection(("127.0.0.1", viewer.server.get_port()), timeout=5.0) as connection:
                connection.sendall(content)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1000):
                    pass
    assert caplog.records == []
    assert capfd.readouterr().err == ""
