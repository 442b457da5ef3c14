"""Who may talk to the server: pages of this very server, opened by somebody who knows its secret, and nobody else.

Every request and every web socket passes here first. Checked are the host that was asked for (a site elsewhere may give
its name to this machine's address), the origin that asks, the secret (in the address the first time, in a cookie from
then on, or a password), and how much is sent. What goes out says that the page may load and run nothing from elsewhere.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import math
import secrets
import socket
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
READ = "/read/"
FORM_LIMIT = 10_000
"""Bytes of a login."""
WRONG_PASSWORDS, WRONG_SECONDS = 5, 60.0
"""So many wrong passwords a client may give in so many seconds; other clients are not concerned."""
MOST_CLIENTS = 10_000
DEVICE_SECONDS = 90 * 86_400
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-src 'self'; frame-ancestors 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'"
)
"""The framework writes its own scripts into the page and compiles its templates; nothing comes from elsewhere."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
LOGIN = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Kanopy</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;display:grid;place-items:center;min-height:90vh}
form{display:grid;gap:.8rem;width:18rem}input,button{font:inherit;padding:.5rem .7rem}</style>
<form method="post" action="/login"><h1>Kanopy</h1><p>WORDS</p>
<label for="password">Password</label><input id="password" name="password" type="password" autofocus required>
<button>Open</button></form></html>"""
REFUSED = "This page belongs to somebody else, or its address is old. Use the address that `kanopy app` has printed.\n"


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine, seen from itself only.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_path(secret: str, release: str) -> str:
    """The address of the read-only page of a release: whoever knows it sees this page, and nothing else."""
    signed = hmac.new(secret.encode(), f"read\0{release}".encode(), hashlib.sha256).hexdigest()
    return f"{READ}{release}/{signed}"


class Guard:
    """An application that lets only some requests through to another."""

    def __init__(
        self, app: App, *, host: str, port: int, key: str, password: str = "", upload_limit: int, secret: str = "",
        public: str = "",
    ) -> None:  # fmt: skip
        """`key` opens the page from the address; cookies are derived from `secret` (the key if there is none) and the
        password, so that another password ends every session. `public` is the host (and port) under which a reverse
        proxy shows the page: requests may name it, and come from it."""
        self.app = app
        self._open_to_all = not is_loopback(host)
        self._names = {*LOOPBACK, host.lower()}
        if self._open_to_all:
            self._names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
        self._port, self._public = port, public.lower()
        self._key, self._password = key, password
        self._upload_limit = upload_limit
        self.cookie, self._device = f"kanopy-{port}", f"kanopy-device-{port}"
        self._secret = (secret or key).encode()
        self._session = self._signed(f"session\0{password}")
        self._wrong: dict[str, list[float]] = {}

    def _signed(self, text: str) -> str:
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or refuse."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if not self._known_host(headers.get("host", "")) or not self._own_origin(scope["type"], headers):
            await _refuse(scope, send, 403, "Refused: the request comes from another site.\n")
            return
        if scope["type"] == "http" and scope["path"] == "/login" and self._password:
            await self._login(scope, receive, send)
            return
        if scope["type"] == "http" and self._may_read(scope):
            await self.app(scope, receive, _with_headers(send))
            return
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        given = query.get("key", [""])[0]
        if given and not self._password and _same(given, self._key) and scope["type"] == "http":
            await _answer(send, 303, b"", {"location": _without_key(scope), "set-cookie": self._set_cookie()})
            return
        if not self._has_cookie(headers.get("cookie", "")):
            if self._password and scope["type"] == "http" and scope["method"] == "GET":
                await _answer(send, 303, b"", {"location": "/login"})
            else:
                await _refuse(scope, send, 403, REFUSED)
            return
        length = headers.get("content-length", "0")
        if scope["type"] == "http" and (not length.isdigit() or int(length) > self._upload_limit):
            await _refuse(scope, send, 413, "Refused: the file is too large.\n")
            return
        limited = self._limited(receive) if scope["type"] == "http" else receive
        await self.app(scope, limited, _with_headers(send))

    def _known_host(self, host: str) -> bool:
        """Whether the request was addressed to a name of this server: a site elsewhere cannot pretend to be it."""
        try:
            parts = urlsplit(f"//{host}")
            name, port = (parts.hostname or "").lower(), parts.port
        except ValueError:
            return False
        if self._public and host.lower() == self._public:
            return True
        if self._open_to_all:
            return name in self._names or _is_address(name)
        return name in self._names and port in (self._port, None if self._port == 80 else self._port)

    def _own_origin(self, kind: str, headers: dict[str, str]) -> bool:
        origin = headers.get("origin")
        if origin is None:
            # Browsers name the origin of every web socket and of everything that changes something.
            crossing = headers.get("sec-fetch-site", "none") in ("cross-site", "same-site")
            return kind == "http" and not (crossing and headers.get("sec-fetch-mode") != "navigate")
        named = urlsplit(origin).netloc.lower()
        return named == headers.get("host", "").lower() or bool(self._public and named == self._public)

    def _may_read(self, scope: Scope) -> bool:
        """Whether a request is for the read-only page of a release, by its whole address."""
        path = str(scope["path"])
        release = path.removeprefix(READ).partition("/")[0]
        right = read_path(self._secret.decode(), release)
        return scope["method"] == "GET" and path.startswith(READ) and _same(path, right)

    def _has_cookie(self, text: str) -> bool:
        return _same(_cookie(text, self.cookie), self._session)

    def _set_cookie(self) -> str:
        return f"{self.cookie}={self._session}; Path=/; HttpOnly; SameSite=Lax"

    def _client(self, scope: Scope) -> str:
        """Whose wrong passwords are counted together: a browser that was let in before, or an address.

        Whoever guesses from the steward's address does not lock out the steward's browser.
        """
        headers = dict(scope["headers"])
        name, _, signed = _cookie(headers.get(b"cookie", b"").decode("latin-1"), self._device).partition(".")
        if name and _same(signed, self._signed(f"device\0{name}")):
            return f"device {name}"
        return f"address {(scope.get('client') or ('',))[0]}"

    def _waits(self, client: str) -> float:
        """Seconds until a client may try another password."""
        now = time.monotonic()
        recent = [at for at in self._wrong.get(client, ()) if now - at < WRONG_SECONDS]
        if recent:
            self._wrong[client] = recent
        else:
            self._wrong.pop(client, None)
        return 0.0 if len(recent) < WRONG_PASSWORDS else WRONG_SECONDS - (now - recent[0])

    def _failed(self, client: str) -> None:
        if len(self._wrong) >= MOST_CLIENTS:  # the oldest is forgotten first
            del self._wrong[next(iter(self._wrong))]
        self._wrong.setdefault(client, []).append(time.monotonic())

    def _set_device(self) -> str:
        name = secrets.token_hex(12)
        signed = self._signed(f"device\0{name}")
        return f"{self._device}={name}.{signed}; Path=/; Max-Age={DEVICE_SECONDS}; HttpOnly; SameSite=Lax"

    async def _login(self, scope: Scope, receive: Receive, send: Send) -> None:
        words = "This server asks for its password."
        if scope["method"] == "POST":
            body = b""
            while len(body) <= FORM_LIMIT:
                message = await receive()
                body += message.get("body", b"")
                if not message.get("more_body"):
                    break
            given = dict(parse_qsl(body.decode("utf-8", "replace"))).get("password", "")
            client = self._client(scope)
            if wait := self._waits(client):
                words = f"Too many wrong passwords. Try again in {math.ceil(wait)} seconds."
            elif _same(given, self._password):
                self._wrong.pop(client, None)
                both = ("set-cookie", self._set_cookie()), ("set-cookie", self._set_device())
                await _answer(send, 303, b"", {"location": "/"}, both)
                return
            else:
                self._failed(client)
                words = "That was not the password."
        page = LOGIN.replace("WORDS", words).encode()
        await _answer(send, 200, page, {"content-type": "text/html; charset=utf-8"})

    def _limited(self, receive: Receive) -> Receive:
        """What is received, counted: nobody is sent a length, and more comes all the same."""
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            return {"type": "http.disconnect"} if seen > self._upload_limit else message

        return counted


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode(), right.encode())


def _without_key(scope: Scope) -> str:
    rest = [(k, v) for k, v in parse_qsl(scope["query_string"].decode("latin-1")) if k != "key"]
    path = "/" + str(scope["path"]).lstrip("/\\")  # never to another host
    return path + (f"?{urlencode(rest)}" if rest else "")


def _pairs(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def _cookie(text: str, name: str) -> str:
    """A cookie's value; nothing if there is none, or if those of somebody else cannot be read."""
    try:
        cookie = SimpleCookie(text).get(name)
    except Exception:
        return ""
    return "" if cookie is None else cookie.value


async def _answer(
    send: Send, status: int, body: bytes, headers: dict[str, str], more: Iterable[tuple[str, str]] = ()
) -> None:
    header_values = {"content-type": "text/plain; charset=utf-8", "cache-control": "no-store", **HEADERS, **headers}
    await send({"type": "http.response.start", "status": status, "headers": _pairs([*header_values.items(), *more])})
    await send({"type": "http.response.body", "body": body})


async def _refuse(scope: Scope, send: Send, status: int, words: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
    else:
        await _answer(send, status, words.encode(), {})


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            names_set = {name.lower() for name, _ in message.get("headers", ())}
            added = [pair for pair in _pairs(HEADERS.items()) if pair[0] not in names_set]
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await send(message)

    return sent
