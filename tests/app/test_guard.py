"""Nobody but the steward's own page gets through: hosts, origins, secrets, passwords and sizes."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kanopy._errors import InputError
from kanopy.app.guard import Guard, read_path
from kanopy.app.server import serve

PORT, KEY = 8790, "secret-key"
SESSION = hmac.new(KEY.encode(), b"session\0", hashlib.sha256).hexdigest()
OWN = {"host": f"127.0.0.1:{PORT}", "cookie": f"kanopy-{PORT}={SESSION}"}


def ask(
    headers: dict[str, str], *, path: str = "/", query: str = "", kind: str = "http", method: str = "GET",
    body: bytes = b"", password: str = "", host: str = "127.0.0.1", limit: int = 1000, guard: Guard | None = None,
    client: str = "192.168.1.7",
) -> tuple[int, dict[str, str], bytes]:  # fmt: skip
    """What the guard answers; 200 comes from behind it."""
    received = []

    async def behind(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            return
        message = await receive()
        received.append(message)
        status = 200 if message["type"] == "http.request" else 499
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b"behind"})

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": body}

    scope = {
        "type": kind, "client": (client, 5000), "method": method, "path": path, "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip
    guard = guard or Guard(behind, host=host, port=PORT, key=KEY, password=password, upload_limit=limit)
    guard.app = behind
    with ThreadPoolExecutor(1) as elsewhere:  # a browser of other tests may have a loop running here
        elsewhere.submit(asyncio.run, guard(scope, receive, send)).result()
    if kind == "websocket":
        return (101 if sent[0]["type"] == "websocket.accept" else 403), {}, b""
    told = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], told, sent[1]["body"]


def test_the_key_opens_the_page_and_leaves_the_address() -> None:
    status, told, _ = ask({"host": OWN["host"]}, query=f"key={KEY}&x=1", path="//evil.example/")
    assert status == 303 and told["location"] == "/evil.example/?x=1"
    assert "HttpOnly" in told["set-cookie"] and "SameSite" in told["set-cookie"]
    assert ask({"host": OWN["host"]}, query="key=wrong")[0] == 403
    assert ask({"host": OWN["host"]})[0] == 403
    status, told, body = ask(OWN)
    assert (status, body) == (200, b"behind")
    assert "default-src 'self'" in told["content-security-policy"] and told["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1:1", "", "[", "127.0.0.1:x"])
def test_other_hosts_are_refused(host: str) -> None:
    assert ask({**OWN, "host": host})[0] == 403
    assert ask({**OWN, "host": host, "origin": f"http://{host}"}, kind="websocket")[0] == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", f"http://localhost:{PORT + 1}", "https://127.0.0.1"])
def test_other_origins_are_refused_for_requests_and_web_sockets(origin: str) -> None:
    assert ask({**OWN, "origin": origin})[0] == 403
    assert ask({**OWN, "origin": origin}, method="POST")[0] == 403
    assert ask({**OWN, "origin": origin}, kind="websocket")[0] == 403


def test_a_web_socket_needs_the_own_origin_and_the_secret() -> None:
    own = {**OWN, "origin": f"http://127.0.0.1:{PORT}"}
    assert ask(own, kind="websocket")[0] == 101
    assert ask(OWN, kind="websocket")[0] == 403, "without an origin"
    assert ask({name: value for name, value in own.items() if name != "cookie"}, kind="websocket")[0] == 403
    assert ask({**own, "cookie": f"kanopy-{PORT}=wrong"}, kind="websocket", query=f"key={KEY}")[0] == 403


def test_pictures_and_forms_of_other_sites_are_refused() -> None:
    assert ask({**OWN, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"})[0] == 403
    assert ask({**OWN, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"})[0] == 200
    assert ask({**OWN, "sec-fetch-site": "same-origin"})[0] == 200


def test_a_read_only_address_opens_its_page_and_nothing_else() -> None:
    plain = {"host": OWN["host"]}
    path = read_path(KEY, "0123-1")
    assert ask(plain, path=path)[0] == 200
    for other in (
        path[:-1],
        path + "0",
        path.replace("0123-1", "0123-2"),
        "/read/0123-1/",
        "/read//",
        path + "/../../",
    ):
        assert ask(plain, path=other)[0] == 403, other
    assert ask(plain, path=path, method="POST")[0] == 403
    assert ask(plain, path=path, kind="websocket")[0] == 403
    assert ask({"host": "evil.example"}, path=path)[0] == 403


def test_uploads_have_a_limit_whatever_they_say_of_their_length() -> None:
    assert ask({**OWN, "content-length": "1001"}, method="POST")[0] == 413
    assert ask({**OWN, "content-length": "many"}, method="POST")[0] == 413
    assert ask(OWN, method="POST", body=b"x" * 1001)[0] == 499, "cut off"
    assert ask({**OWN, "content-length": "1000"}, method="POST", body=b"x" * 1000)[0] == 200


def test_other_machines_need_a_password() -> None:
    with pytest.raises(InputError, match="set a password of at least 8"):
        serve("unused", host="0.0.0.0")
    with pytest.raises(InputError, match="set a password"):
        serve("unused", host="192.168.1.5", password="short")
    far = {"host": "192.168.1.5:8790"}
    assert ask(far, host="0.0.0.0", password="long enough", query=f"key={KEY}")[:2][1]["location"] == "/login"
    assert ask({"host": "rebound.example:8790"}, host="0.0.0.0", password="long enough")[0] == 403
    status, told, body = ask(far, host="0.0.0.0", password="long enough", path="/login")
    assert status == 200 and b"password" in body and KEY not in str(told)
    guard = Guard(None, host="0.0.0.0", port=PORT, key=KEY, password="long enough", upload_limit=9)  # type: ignore[arg-type]
    right = {"path": "/login", "method": "POST", "guard": guard, "body": b"password=long+enough"}
    wrong = {**right, "body": b"password=wrong"}
    status, told, body = ask(far, **wrong)
    assert status == 200 and "set-cookie" not in told and b"not the password" in body
    status, told, _ = ask(far, **right)
    assert status == 303, "one wrong password locks nobody out"
    device = told["set-cookie"].partition(";")[0]
    assert device.startswith(f"kanopy-device-{PORT}=")
    for _ in range(5):
        ask(far, **wrong)
    assert b"Too many wrong passwords" in ask(far, **right)[2], "whoever guesses waits"
    assert ask(far, client="192.168.1.8", **right)[0] == 303, "another client does not"
    known = {**far, "cookie": device}
    assert ask(known, **right)[0] == 303, "nor a browser that was let in before, at the same address"
    assert ask({**far, "cookie": device + "0"}, **right)[0] == 200, "unless it only says so"
    for number in range(10_050):
        guard._failed(f"address {number}")
    assert len(guard._wrong) <= 10_000


def test_another_password_ends_every_session() -> None:
    def guarded(password: str, secret: str = "stays") -> Guard:
        return Guard(None, host="0.0.0.0", port=PORT, key="one", password=password, upload_limit=9, secret=secret)  # type: ignore[arg-type]

    own = {"host": "192.168.1.5:8790", "cookie": f"kanopy-{PORT}={guarded('long enough')._session}"}
    assert ask(own, guard=guarded("long enough"))[0] == 200, "the same after a restart"
    assert ask(own, guard=guarded("another one"))[0] == 303
    assert ask(own, guard=guarded("long enough", "other"))[0] == 303


def test_a_port_that_is_none_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="There is no port 99999"):
        serve("unused", port=99999)


def test_a_reverse_proxy_shows_the_page_under_its_name_and_no_other() -> None:
    def behind_proxy() -> Guard:
        return Guard(None, host="127.0.0.1", port=PORT, key=KEY, upload_limit=9, public="data.example.org")  # type: ignore[arg-type]

    cookie = {"cookie": OWN["cookie"]}
    for headers, status in (
        ({"host": "data.example.org"}, 200), ({"host": "DATA.example.org", "origin": "https://data.example.org"}, 200),
        (dict(OWN, origin="https://data.example.org"), 200), ({"host": "data.example.org.evil.net"}, 403),
        ({"host": "data.example.org", "origin": "https://evil.net"}, 403), ({"host": "evil.net"}, 403),
    ):  # fmt: skip
        assert ask({**cookie, **headers}, guard=behind_proxy())[0] == status, headers
    assert ask({"host": "data.example.org"}, guard=behind_proxy())[0] == 403, "the key or the password is still asked"
    for url in ("data.example.org", "https://data.example.org/app", "ftp://data.example.org"):
        with pytest.raises(InputError, match="--public-url"):
            serve("unused", public_url=url)
    with pytest.raises(InputError, match="--user-header"):
        serve("unused", user_header="X-Forwarded-User")
