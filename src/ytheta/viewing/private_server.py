"""A server of viser that only the pages with its own address can use.

viser listens on the loopback device, but any page that the user visits can connect to it there: browsers let pages open
WebSockets to every address, and a page of another name may lead to 127.0.0.1 (DNS rebinding). Therefore requests need

- the token of this server, which is random, as the first part of their path;
- this machine as their ``Host`` and, if a page sends them, as their ``Origin``.

viser offers no place for such checks. A proxy would not do, since the server behind it could be reached all the same.
So ``serve`` of the library websockets, which viser calls to start its server, is replaced for the time of this call by
one that adds the checks through its documented arguments. The messages by which a page asks viser to publish itself
through another server call a public method of viser, which is overridden.
"""

from __future__ import annotations

import functools
import hmac
import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

    RequestHandler = Callable[[ServerConnection, Request], Response | None]

HOST = "127.0.0.1"
HOST_NAMES = (HOST, "localhost")
TOKEN_SIZE = 16  # bytes


def start_private_server(viser: Any, *, port: int, label: str) -> tuple[Any, str]:
    """Start a server of viser on this port, or the next free one; return it and the token of its address."""
    token = secrets.token_urlsafe(TOKEN_SIZE)

    class PrivateServer(viser.ViserServer):  # type: ignore[misc]
        def request_share_url(self, verbose: bool = True) -> None:
            """Do nothing: the page is never published through another server."""

    with _add_checks(token):
        return PrivateServer(host=HOST, port=port, label=label, verbose=False), token


@contextmanager
def _add_checks(token: str) -> Iterator[None]:
    import websockets.asyncio.server as library

    serve = library.serve
    silent = logging.Logger("view")  # has no parent and no handler, since connections of strangers are no news
    silent.addHandler(logging.NullHandler())

    @functools.wraps(serve)
    def serve_with_checks(*arguments: Any, process_request: RequestHandler, **options: Any) -> Any:
        def check(connection: ServerConnection, request: Request) -> Response | None:
            status = _judge(connection.local_address[1], request, token)
            if status is not HTTPStatus.OK:
                return connection.respond(status, "open the address that ytheta view printed\n")
            return process_request(connection, replace(request, path="/"))

        return serve(*arguments, process_request=check, logger=silent, **options)

    library.serve = serve_with_checks  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        library.serve = serve  # type: ignore[misc]


def _judge(port: int, request: Request, token: str) -> HTTPStatus:
    """Return whether a request may be answered: OK, or the status of the refusal."""
    hosts = [f"{name}:{port}" for name in HOST_NAMES]
    origins = [f"http://{host}" for host in hosts]
    for name, allowed in (("Host", hosts), ("Origin", origins)):
        if any(value not in allowed for value in request.headers.get_all(name)):
            return HTTPStatus.FORBIDDEN
    if "Host" not in request.headers or ("Upgrade" in request.headers and "Origin" not in request.headers):
        return HTTPStatus.FORBIDDEN
    given = request.path.partition("?")[0].strip("/")
    return HTTPStatus.OK if hmac.compare_digest(given.encode(), token.encode()) else HTTPStatus.NOT_FOUND
