"""The server: one project, one page, on this machine only unless told otherwise."""

from __future__ import annotations

import contextlib
import html
import os
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kanopy._errors import InputError, MissingDependency
from kanopy._files import write_whole
from kanopy.app.guard import Guard, is_loopback
from kanopy.app.project import Project

FIRST_PORT = 8790
TRIED_PORTS = 20
UPLOAD_LIMIT = 2 * 1024**3
"""Bytes of a table that may be uploaded; larger ones are named on the command line, which copies nothing."""
HEADER_LIMIT = 64 * 1024
"""Bytes of the headers of a request: the faster parser has no limit."""
SHORTEST_PASSWORD = 8
OPENER = "open.html"
"""A page for the owner of the project only, which leads to the address with its secret."""
REDIRECT = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Kanopy</title>
<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url={address}">
<p><a href="{address}">Open Kanopy</a></p></html>
"""


def serve(
    folder: str | Path,
    *,
    data: str | None = None,
    host: str = "127.0.0.1",
    port: int | None = None,
    password: str = "",
    public_url: str = "",
    user_header: str = "",
    upload_limit: int = UPLOAD_LIMIT,
    ready: Callable[[str, Path], None] = lambda address, opener: None,
) -> None:
    """Serve a project until it is interrupted; `ready` hears the page's address once it answers, and of a file that
    leads there: a browser is given the file, since every user of the machine can read what programs are started with.

    `data` is a table to open first; `password` is asked for instead of the secret in the address, and must be given
    where other machines may connect. `public_url` is where a reverse proxy shows the page. It names who is logged in
    in `user_header`: that name stands in the record; it lets nobody in.
    """
    public = public_host(public_url)
    if user_header and not public:
        raise InputError("--user-header is sent by a reverse proxy: say where it shows the page (--public-url).")
    if not is_loopback(host) and len(password) < SHORTEST_PASSWORD:
        raise InputError(
            f"--host {host} lets other machines connect: set a password of at least {SHORTEST_PASSWORD} characters in "
            "the variable KANOPY_APP_PASSWORD. The connection is not encrypted; an SSH tunnel to 127.0.0.1 is."
        )
    try:
        import uvicorn
    except ImportError:
        raise MissingDependency("The app needs NiceGUI: pip install 'kanopy[app]'.") from None
    bound_socket = _bound(host, port)
    number = bound_socket.getsockname()[1]
    os.umask(0o077)  # all that this process and its workers write lies in the project, for its owner's eyes only
    project = Project(folder)
    try:
        app = application(project, data=data, user_header=user_header)
        key = secrets.token_urlsafe(24)
        guarded = Guard(
            app, host=host, port=number, key=key, password=password, upload_limit=upload_limit, secret=project.key,
            public=public,
        )  # fmt: skip
        host_shown = f"[{host}]" if ":" in host else host
        address = (public_url.rstrip("/") if public else f"http://{host_shown}:{number}") + "/"
        address += "" if password else f"?key={key}"
        opener = project.folder / OPENER
        write_whole(opener, REDIRECT.format(address=html.escape(address)), private=True)
        config = uvicorn.Config(
            guarded, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=2,
            http="h11", h11_max_incomplete_event_size=HEADER_LIMIT,
        )  # fmt: skip

        class Answering(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                if self.started:
                    ready(address, opener)

        with contextlib.suppress(KeyboardInterrupt):
            Answering(config).run(sockets=[bound_socket])
    finally:
        (project.folder / OPENER).unlink(missing_ok=True)
        bound_socket.close()
        project.close()


def public_host(url: str) -> str:
    """The host, with its port if it has one, of the address under which a reverse proxy shows the page.

    >>> public_host("https://data.example.org"), public_host("")
    ('data.example.org', '')
    """
    if not url:
        return ""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/") or parts.query:
        raise InputError(
            f"--public-url {url!r} is not an address such as https://data.example.org. The page stands at the root of "
            "a host name of its own: a path behind it is not possible."
        )
    return parts.netloc.rpartition("@")[2].lower()


def application(project: Project, *, data: str | None = None, user_header: str = "") -> Any:
    """The page of a project as an application of the web server, unguarded."""
    try:
        from kanopy.app.session import make_application
    except ImportError as error:
        if (error.name or "").partition(".")[0] in ("nicegui", "fastapi", "uvicorn", "starlette"):
            raise MissingDependency("The app needs NiceGUI: pip install 'kanopy[app]'.") from None
        raise
    return make_application(project, data, user_header)


def _bound(host: str, port: int | None) -> socket.socket:
    """A listening place: the port asked for, or the first free one of a few, so that addresses stay the same."""
    if port is not None and not 0 <= port <= 65535:
        raise InputError(f"There is no port {port}: ports are numbers from 1 to 65535, and 0 takes any that is free.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tried = [port] if port is not None else [*range(FIRST_PORT, FIRST_PORT + TRIED_PORTS), 0]
    for number in tried:
        bound_socket = socket.socket(family, socket.SOCK_STREAM)
        bound_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound_socket.bind((host, number))
        except OSError as error:
            bound_socket.close()
            if port is not None:
                raise InputError(f"Port {port} of {host} cannot be used: {error.strerror}. Name another.") from None
            continue
        return bound_socket
    raise InputError(f"No port of {host} can be used.")
