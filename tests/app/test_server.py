"""The server as other machines and other sites meet it: passwords, origins, file names; and the report as PDF."""

from __future__ import annotations

import asyncio
import http.client
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from kanopy.app.pdf import print_page, printing_browser

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'kanopy[app]'")

PASSWORD = "a long password"
SOCKET = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}  # fmt: skip


def ask(
    port: int, path: str, *, method: str = "GET", body: str = "", **headers: str
) -> tuple[int, dict[str, str], str]:
    """One request on a connection of its own; `_` stands for `-` in the names of headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if body:
        given["Content-Type"] = "application/x-www-form-urlencoded"
    connection.request(method, path, body=body or None, headers=given)
    answer = connection.getresponse()
    told: dict[str, str] = {}
    for name, value in answer.getheaders():  # a line per cookie
        told[name.lower()] = f"{told[name.lower()]}\n{value}" if name.lower() in told else value
    found = answer.status, told, ""
    if answer.status != 101:
        found = found[0], found[1], answer.read().decode("utf-8", "replace")
    connection.close()
    return found


@pytest.mark.slow
def test_a_server_for_other_machines_asks_for_its_password(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KANOPY_APP_PASSWORD", PASSWORD)
    server = serve("--host", "127.0.0.1")
    assert "key=" not in server.address, "the password stands in for the secret in the address"
    assert all(file.stat().st_mode & 0o077 == 0 for file in [server.folder, *server.folder.rglob("*")])
    port, key = server.port, (server.folder / "key").read_text("utf-8").strip()
    status, told, _ = ask(port, f"/?key={key}")
    assert (status, told["location"]) == (303, "/login"), "the secret alone opens nothing"
    status, told, page = ask(port, "/login", method="POST", body=urlencode({"password": "wrong"}))
    assert status == 200 and "set-cookie" not in told and "not the password" in page
    status, told, _ = ask(port, "/login", method="POST", body=urlencode({"password": PASSWORD}))
    cookies = told["set-cookie"].split("\n")
    cookie = next(each.partition(";")[0] for each in cookies if each.startswith(f"kanopy-{port}="))
    assert status == 303 and key not in " ".join(cookies)
    status, told, page = ask(port, "/", Cookie=cookie)
    assert status == 200 and "Kanopy" in page and "default-src 'self'" in told["content-security-policy"]

    # Web sockets of other sites, and those without the cookie, are refused.
    own, path = f"http://127.0.0.1:{port}", "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    assert ask(port, path, **SOCKET, Origin=own, Cookie=cookie)[0] == 101
    for origin, given in (("http://evil.example", cookie), ("null", cookie), (own, ""), (own, "kanopy=1")):
        assert ask(port, path, **SOCKET, Origin=origin, Cookie=given)[0] == 403
    assert ask(port, "/", Cookie=cookie, Host=f"evil.example:{port}")[0] == 403

    # Nothing but the files of a run leaves the folder.
    ways_out = ("../key", "..%2f..%2fkey", "%2e%2e/key", "x/..%2f..%2fproject.json", "x/release.csv", "%00/key")
    for name in ways_out:
        status, _, text = ask(port, f"/files/{name}", Cookie=cookie)
        assert status == 404 and key not in text, name
    assert "Traceback" not in server.stop()


@pytest.mark.slow
@pytest.mark.skipif(printing_browser() is None, reason="no browser is installed that prints: apt-get install chromium")
def test_the_report_is_printed(tmp_path: Path) -> None:
    import kanopy

    people = {"age": [31, 34, 38, 52, 57, 59], "sex": list("fffmmm")}
    job = kanopy.Job(quasi=["age", "sex"], k=3, hierarchies={"age": {"method": "widths", "widths": [10, 20]}})
    page = tmp_path / "report.html"
    page.write_text(kanopy.anonymize(people, job).to_html(), encoding="utf-8")
    with ThreadPoolExecutor(1) as elsewhere:
        printed = elsewhere.submit(asyncio.run, print_page(page)).result()
    assert printed.startswith(b"%PDF-") and len(printed) > 20_000
