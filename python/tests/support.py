"""What tests share: a directory for each, entries, and the real command in VERBATIM_COMMAND."""

from __future__ import annotations

import signal
import tempfile
import unittest
from typing import Any

from verbatim_log import Session, VerbatimError

LIMIT_SECONDS = 240  # Of one test. Much more than any takes: what is longer hangs.


def message(text: str) -> dict[str, Any]:
    return {"kind": "message", "role": "user", "parts": [{"type": "text", "text": text}]}


def texts(session: Any) -> list[str]:
    messages = (entry for entry in session.entries() if entry["kind"] == "message")
    return [entry["parts"][0]["text"] for entry in messages]


def kill(session: Session) -> None:
    """Kills the process that writes, as the kernel does when memory is short."""
    session._child.kill()


class InDirectory(unittest.TestCase):
    def setUp(self) -> None:
        signal.signal(signal.SIGALRM, self._refuse_to_wait)
        # Again later, as what cleans up may hang, too.
        signal.setitimer(signal.ITIMER_REAL, LIMIT_SECONDS, 5)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = directory.name

    def _refuse_to_wait(self, *_: object) -> None:
        self.fail(f"the test hangs: it has taken {LIMIT_SECONDS} seconds, and waits above")

    def open(self, session: str | None = "s", **options: Any) -> Session:
        opened = Session(session, root=self.root, **options)
        self.addCleanup(opened.close)
        return opened

    def refused(self, code: str, call: Any, *args: Any, **options: Any) -> VerbatimError:
        with self.assertRaises(VerbatimError) as raised:
            call(*args, **options)
        self.assertEqual(raised.exception.code, code)
        return raised.exception
