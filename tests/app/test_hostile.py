"""Files and requests that mean harm: a message each, little memory, and nothing left on disk."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kanopy._errors import KanopyError
from tests.app.hostile import hostile_files
from tests.app.simulated import elsewhere

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'kanopy[app]'")

MOST_MB = 2_000


def peak_mb(process: int) -> int:
    """The most memory that a process has taken so far, in MB; 0 where the system does not tell."""
    try:
        status = Path(f"/proc/{process}/status").read_text("ascii", "replace")
    except OSError:
        return 0
    return next((int(line.split()[1]) >> 10 for line in status.splitlines() if line.startswith("VmHWM")), 0)


@pytest.mark.slow
def test_hostile_files_get_a_message_and_leave_nothing(tmp_path: Path) -> None:
    from kanopy.app.controller import Controller
    from kanopy.app.project import Project

    async def story() -> None:
        controller = Controller(Project(tmp_path / "project"))
        before = {file.name for file in Path(tempfile.gettempdir()).iterdir()}
        said: dict[str, str] = {}
        for name, make in hostile_files():
            content = make()
            upload = controller.project.keep_upload(name, content)
            with pytest.raises(KanopyError) as refused:
                await controller.open(upload, name=name)
            said[name] = str(refused.value)
            process = controller.long._process
            assert process is None or process.pid is None or peak_mb(process.pid) < MOST_MB, name
            assert controller.project.uploads() == [], name
            assert not controller.project.work.source and controller.underway is None
        assert len(said) >= 30
        for name, words in said.items():
            assert len(words) > 30 and "Something went wrong" not in words and "Traceback" not in words, (name, words)
        assert "never closed" in said["quote.csv"] and "never closed" in said["short_quote.csv"]
        assert "20,000 columns" in said["wide.csv"] and "more than 20,000 columns" in said["wider.csv"]
        for name in ("bomb.xlsx", "bomb.csv.gz", "bomb.parquet"):
            assert "MB" in said[name] and "no table" in said[name], said[name]
        for device in ("/dev/zero", "/dev/stdin"):
            link = tmp_path / f"{Path(device).name}.csv"
            link.symlink_to(device)
            with pytest.raises(KanopyError):
                await asyncio.wait_for(controller.open(str(link)), 20)
        assert not [file for file in controller._tables.path.iterdir() if file.suffix != ".lock"]
        controller.close()
        left = {file.name for file in Path(tempfile.gettempdir()).iterdir()} - before
        assert not [name for name in left if name.startswith("kanopy-") and str(os.getpid()) in name]

    elsewhere(story)


def test_what_takes_too_much_memory_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that takes what it is told to take, in a worker of its own."""
    import numpy as np

    from kanopy._errors import DataError
    from kanopy.app.tasks import limits
    from kanopy.app.worker import READING_TASK, Task, _why_it_ended

    if not Path("/proc/self/status").exists():
        pytest.skip("only Linux tells how much memory a process has")
    file = tmp_path / "people.csv"
    file.write_text("a\n1\n")
    with pytest.raises(DataError, match=r"'people.csv' takes more than 1,400 MB of memory"):  # noqa: SIM117
        with limits.memory_limited(str(file)):
            np.ones(2_000_000_000, np.uint8)
    assert np.ones(1_000, np.uint8).sum() == 1_000
    task = Task(1, READING_TASK, {"source": str(file)}, asyncio.Future(loop=asyncio.new_event_loop()))
    assert "takes more than 1,400 MB" in _why_it_ended(task, -6)
    task.name = "releases.run"
    assert "more memory than there is" in _why_it_ended(task, -9) and "its process is gone" in _why_it_ended(task, 1)


OWN = "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n"
POST = OWN.replace("GET", "POST")
END = "Connection: close\r\n\r\n"
SOCKET = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"
)
WAYS_OUT = (
    "../key", "..%2fkey", "..%2f..%2fkey", "%2e%2e/%2e%2e/key", "....//key", "x/..%2f..%2fproject.json", "x/key",
    "x/release.csv", "%00/key", "x/%00", "~root/key", "C:%5ckey", "a%0d%0aSet-Cookie:%20x=1/y", "x" * 5_000 + "/y",
    "%ff%fe/key", "x/manifest.json%00.csv",
)  # fmt: skip
REFUSED_REQUESTS = [
    # names of the files of a run
    *(OWN.replace("{path}", f"/files/{name}") + END for name in WAYS_OUT),
    # without the secret, with a wrong one, of other sites and hosts
    "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n" + END,
    "GET /?key=wrong HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n" + END,
    "GET /?key= HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n" + END,
    "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: kanopy-{port}=\r\n" + END,
    "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: ;=;\x7f;a=\"\\\r\n" + END,
    "GET / HTTP/1.1\r\nHost: evil.example\r\nCookie: {cookie}\r\n" + END,
    "GET / HTTP/1.1\r\nHost: evil.example:{port}\r\nCookie: {cookie}\r\n" + END,
    "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}@evil.example\r\nCookie: {cookie}\r\n" + END,
    "GET / HTTP/1.1\r\nHost: [\r\nCookie: {cookie}\r\n" + END,
    "GET / HTTP/1.1\r\nHost:\r\nCookie: {cookie}\r\n" + END,
    "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\nCookie: {cookie}\r\n" + END,
    OWN.replace("{path}", "/") + "Origin: http://evil.example\r\n" + END,
    OWN.replace("{path}", "/") + "Origin: null\r\n" + END,
    OWN.replace("{path}", "/") + "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n" + END,
    POST.replace("{path}", "/") + "Origin: http://localhost.evil.example:{port}\r\nContent-Length: 0\r\n" + END,
    # web sockets
    OWN.replace("{path}", "/_nicegui_ws/socket.io/?EIO=4&transport=websocket") + SOCKET + "\r\n",
    OWN.replace("{path}", "/_nicegui_ws/socket.io/?EIO=4&transport=websocket") + SOCKET + "Origin: null\r\n\r\n",
    "GET /_nicegui_ws/socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    "Origin: http://127.0.0.1:{port}\r\n" + SOCKET + "\r\n",
    OWN.replace("{path}", "/nothing") + "Origin: http://127.0.0.1:{port}\r\n" + SOCKET + "\r\n",
    OWN.replace("{path}", "/_nicegui_ws/socket.io/?EIO=99&transport=polling") + END,
    POST.replace("{path}", "/_nicegui_ws/socket.io/?EIO=4&transport=polling&sid=none") + "Content-Length: 3\r\n"
    + END + "4\x00[",
    # how much is sent, and how
    POST.replace("{path}", "/") + "Content-Length: 99999999999\r\n" + END,
    POST.replace("{path}", "/") + "Content-Length: -1\r\n" + END,
    POST.replace("{path}", "/") + "Content-Length: 1e3\r\n" + END,
    POST.replace("{path}", "/") + "Content-Length: 4\r\nContent-Length: 5\r\n" + END + "abcde",
    POST.replace("{path}", "/") + "Transfer-Encoding: chunked\r\n" + END + "zz\r\n",
    POST.replace("{path}", "/_nicegui/client/none/upload/1") + "Content-Type: multipart/form-data; boundary=x\r\n"
    "Content-Length: 30\r\n" + END + "--x\r\nno headers at all --y",
    POST.replace("{path}", "/_nicegui/client/../upload/1") + "Content-Length: 0\r\n" + END,
    "GET / HTTP/9.9\r\nHost: 127.0.0.1:{port}\r\n" + END,
    "GET\r\n\r\n",
    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + "\x00" * 40 + "\r\n\r\n",
    OWN.replace("{path}", "/") + "X: " + "y" * 200_000 + "\r\n" + END,
    OWN.replace("{path}", "/" + "a" * 200_000) + END,
    OWN.replace("{path}", "/files/a b c") + END,
    # other methods
    *(OWN.replace("GET", method).replace("{path}", "/files/x/release.csv") + "Content-Length: 0\r\n" + END
      for method in ("PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PROPFIND")),
]  # fmt: skip


def answer(port: int, request: str) -> bytes:
    """What the server answers to some bytes, until it closes the connection or says nothing more for a while."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        received = b""
        try:
            connection.sendall(request.encode("latin-1"))
            while len(received) < 1 << 20 and (piece := connection.recv(1 << 16)):
                received += piece
                connection.settimeout(0.5)
        except (TimeoutError, ConnectionError):
            pass
        return received


@pytest.mark.slow
def test_hostile_requests_get_a_message_and_nothing_else(serve: Callable[..., Any]) -> None:
    server = serve()
    key = server.address.partition("key=")[2]
    first = answer(server.port, f"GET /?key={key} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{END}").decode()
    cookie = first.partition("set-cookie: ")[2].partition(";")[0]
    secret = (server.folder / "key").read_text("utf-8").strip()
    before = sorted(str(file) for file in server.folder.rglob("*"))
    assert len(REFUSED_REQUESTS) >= 50
    for request in REFUSED_REQUESTS:
        sent = request.replace("{port}", str(server.port)).replace("{cookie}", cookie)
        told = answer(server.port, sent)
        shown = (request[:200], told[:300])
        assert told.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")), shown
        head, _, body = told.partition(b"\r\n\r\n")
        assert b" 500" not in head.split(b"\r\n")[0] and (body or b" 40" in head), shown
        assert secret.encode() not in told and b"Traceback" not in told and cookie.encode() not in told, shown
    assert peak_mb(server.process.pid) < MOST_MB
    assert sorted(str(file) for file in server.folder.rglob("*")) == before
    page = answer(server.port, OWN.format(path="/", port=server.port, cookie=cookie) + END)
    assert page.startswith(b"HTTP/1.1 200") and b"Kanopy" in page, "the server still answers"
    assert "Traceback" not in server.stop()
