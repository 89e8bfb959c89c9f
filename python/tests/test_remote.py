"""Sessions on a server: a real `verbatim serve`, which is killed and started again."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import socket
import subprocess
import threading
from typing import Any

from verbatim_log import AsyncSession, RemoteSession

from .support import InDirectory, message, texts


class Server:
    """`verbatim serve` with a data directory of its own, on a port that stays the same."""

    def __init__(self, data: str) -> None:
        with socket.socket() as any_port:
            any_port.bind(("127.0.0.1", 0))
            self.port = any_port.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.data = data
        command = shlex.split(os.environ["VERBATIM_COMMAND"])
        scope = ["--scope=entries,read", "--path=sessions/cook/**", f"--data={data}"]
        made = [*command, "server", "token", "create", "--name=cook", *scope]
        self.token = subprocess.run(made, capture_output=True, check=True, text=True).stdout.strip()
        self.start()

    def start(self) -> None:
        command = shlex.split(os.environ["VERBATIM_COMMAND"])
        args = ["serve", "--port", str(self.port), "--data", self.data]
        self.process = subprocess.Popen([*command, *args], stdout=subprocess.PIPE)
        assert self.process.stdout
        self.process.stdout.readline()  # It says where it listens.

    def stop(self, by: int = signal.SIGKILL) -> None:
        self.process.send_signal(by)
        with self.process:
            pass


class RemoteSessionTest(InDirectory):
    def setUp(self) -> None:
        super().setUp()
        self.server = Server(self.root)
        self.addCleanup(lambda: self.server.stop())

    def remote(self, session: str | None = None, **options: Any) -> RemoteSession:
        options = {"url": self.server.url, "token": self.server.token, "patience": 120, **options}
        return RemoteSession(session, **options)

    def test_entries_come_back_and_an_id_names_the_same_session_again(self) -> None:
        odd = ["plain", "é 😀 \u2028", "lone \ud800", "NUL \0", "x" * 1_000_000]
        with self.remote("s") as session:
            offsets = [session.append(message(text)) for text in odd]
            self.assertEqual(texts(session), odd)
            self.assertEqual([entry["end"] for entry in session.entries()][1:], offsets)
            self.assertEqual([entry["end"] for entry in session.entries(last=2)], offsets[-2:])
            self.assertEqual(session.verify()["verdict"], "unsigned")
        again = self.remote("s")
        self.assertEqual(again.id, session.id)
        self.assertNotEqual(self.remote().id, session.id)
        for n in range(600):  # More than a page.
            again.append(message(str(n)))
        self.assertEqual(texts(again), [*odd, *map(str, range(600))])

    def test_after_kills_of_the_server_each_entry_is_there_exactly_once(self) -> None:
        session = self.remote()
        acknowledged = threading.Semaphore(0)

        def work(thread: int) -> None:
            for n in range(60):
                session.append(message(f"{thread}.{n}"))
                acknowledged.release()

        threads = [threading.Thread(target=work, args=(each,)) for each in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(2):
            for _ in range(70):
                acknowledged.acquire()
            self.server.stop()
            self.server.start()
        for thread in threads:
            thread.join()
        found = texts(session)
        self.assertEqual(len(found), 240)
        for each in range(4):
            mine = [text for text in found if text.startswith(f"{each}.")]
            self.assertEqual(mine, [f"{each}.{n}" for n in range(60)])

    def test_wrong_calls_are_refused_with_the_servers_code(self) -> None:
        session = self.remote()
        for entry in [{"kind": "king"}, {}, 3, message("\ud800") | {"x": float("nan")}]:
            self.refused("INVALID_ENTRY", session.append, entry)
        self.refused("BAD_SETTING", RemoteSession, url="ftp://example.org")
        self.refused("BAD_ID", self.remote, "a/b")
        self.assertEqual(texts(session), [])
        self.refused("TOKEN_REQUIRED", self.remote, token="wrong")
        self.server.stop()
        error = self.refused("IO_ERROR", self.remote, patience=0)
        self.assertIn(self.server.url, str(error))
        self.server.start()

    def test_an_asynchronous_session_with_a_url_is_remote(self) -> None:
        async def main() -> None:
            where = {"url": self.server.url, "token": self.server.token}
            async with AsyncSession("s", **where) as session:
                await asyncio.gather(*(session.append(message(str(n))) for n in range(20)))
                found = [entry async for entry in session.entries()][1:]
                expected = [str(n) for n in range(20)]
                self.assertEqual([entry["parts"][0]["text"] for entry in found], expected)

        asyncio.run(main())
