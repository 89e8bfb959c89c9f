"""Session: appends entries through `verbatim record --ack`, and reads them with `verbatim show`.

- When `append` returns, the entry is durable. Threads may append at once, and share a sync.
- Each append has an id of ours. If the process dies, another one repairs the log, the ids in the
  log are read, and only appends that are missing are sent again: each is there exactly once.
- After a fork, the session belongs to the parent. The child's copy is closed.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import uuid
import warnings
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from typing import IO, Any

from ._command import Command, VerbatimError, failure, json_of, parsed, text_of

RESTARTS_MAX = 3  # Without an acknowledgment in between.


class _Append:
    def __init__(self, lines: Sequence[Mapping[str, Any]]) -> None:
        self.id = lines[-1].get("id")
        self.input = f"{json_of(lines if len(lines) > 1 else lines[0])}\n".encode()
        self.number = 0  # Of the line of input.
        self.done: Future[int] = Future()  # The offset after it.
        self.done.set_running_or_notify_cancel()  # Its caller may give up, but it is on its way.


class Session:
    """A session of this machine, in `<root>/.verbatim/sessions/<session>.jsonl`.

    It belongs to this object until `close()`; with `shared`, other processes may write to it, too.
    `sign` is True, "turn" or "append"; `to` is a server that gets a copy.
    """

    def __init__(
        self,
        session: str | None = None,
        *,
        root: str | os.PathLike[str] = ".",
        sign: bool | str = False,
        durability: str = "disk",
        shared: bool = False,
        to: str | None = None,
        dialect: str = "verbatim",
        command: str | Sequence[str] | None = None,
    ) -> None:
        options = {"session": session, "durability": durability, "to": to, "dialect": dialect}
        options["sign"] = "turn" if sign is True else sign or None
        for name, value in options.items():
            if not isinstance(value, (str, type(None))):
                raise VerbatimError("BAD_SETTING", f"{name} is text, not {type(value).__name__}")
        options["root"] = os.path.abspath(root)
        self._args = [f"--{name}={value}" for name, value in options.items() if value is not None]
        self._args += ["--shared"] if shared else []
        self._dialect = dialect
        self._command = Command(command)
        self._pid = os.getpid()
        self._sending = threading.Lock()  # Held while lines are written, in their order.
        self._lock = threading.Lock()  # Of `_pending`; never held while waiting.
        self._pending: deque[_Append] = deque()
        self._restarts = 0
        self._is_closed = False
        self._failure: VerbatimError | None = None
        self._start()
        _sessions.add(self)

    def append(self, entry: Mapping[str, Any]) -> int:
        """Appends an entry. Returns, once it is durable, the offset after it in the log."""
        return self.send([entry]).result()

    def send(self, lines: Sequence[Mapping[str, Any]]) -> Future[int]:
        """Appends lines in one write, without waiting: the future has the offset after them."""
        if not lines or not all(isinstance(line, Mapping) for line in lines):
            raise VerbatimError("INVALID_ENTRY", "an entry is a dict")
        if self._dialect != "claude":  # `record` itself knows the `uuid` of Claude's.
            lines = [*lines[:-1], {"id": str(uuid.uuid4()), **lines[-1]}]
        append = _Append(lines)
        self._refuse_if_closed()
        with self._sending:
            self._refuse_if_closed()
            if self._input is None:
                self._start()
            self._write(append)
        return append.done

    def entries(self, last: int | None = None) -> Iterator[dict[str, Any]]:
        """All entries, or the last ones, as `verbatim show --json` prints them."""
        args = ["show", self.path, f"--dialect={self._dialect}", "--json", "--full"]
        return self._command.lines([*args, *([] if last is None else [f"--last={last}"])])

    def verify(self) -> dict[str, Any]:
        """Checks the signatures. Only the `verdict` "verified" is good."""
        return list(self._command.lines(["verify", self.path, "--json"], range(9)))[-1]

    def close(self) -> None:
        """Waits for all appends, signs what is left, and releases the session."""
        if os.getpid() != self._pid:
            return
        with self._sending:
            self._is_closed = True
        wait([append.done for append in list(self._pending)])
        with self._sending:
            if self._input:
                self._input.close()
        self._reader.join()
        failed, self._failure = self._failure, None
        if failed:
            raise failed

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _refuse_if_closed(self) -> None:
        if self._is_closed or os.getpid() != self._pid:
            raise VerbatimError("LOG_CLOSED", f"{self.path} was closed; open the session again")

    def _start(self) -> None:
        args = ["record", "--ack", "--on-error=report", *self._args]
        child, stderr = self._command.start(args, subprocess.PIPE)
        assert child.stdin and child.stdout
        acks = open(child.stdout.fileno(), "rb", closefd=False)
        try:
            first = acks.readline()
            if first == b"":
                child.wait()
                raise failure(child, stderr)
            self.id, self.path = (parsed(first)[name] for name in ("session", "path"))
        except BaseException:
            child.kill()
            with child, stderr:
                raise
        self._args.append(f"--session={self.id}")  # For another one; the last counts.
        self._child, self._count = child, 0
        self._input: IO[bytes] | None = child.stdin
        # A daemon: a program may end without `close()`. The child does what it got, and ends, too.
        self._reader = threading.Thread(target=self._read, args=(child, acks, stderr), daemon=True)
        self._reader.start()

    def _write(self, append: _Append) -> None:
        self._count += 1
        append.number = self._count
        with self._lock:
            self._pending.append(append)
        rest = memoryview(append.input)
        try:
            while rest and self._input:
                rest = rest[self._input.write(rest) :]
        except OSError:
            pass  # The child has died: `_ended` sends it to another one.

    def _read(self, child: subprocess.Popen[bytes], acks: IO[bytes], stderr: IO[bytes]) -> None:
        with child, stderr:
            for line in acks:
                if line.endswith(b"\n"):
                    self._settle(json.loads(line))
            child.wait()
            for text in text_of(stderr).splitlines():
                if text.startswith("warning: "):
                    warnings.warn(text.removeprefix("warning: "), stacklevel=1)
            # A signal is no failure of its own: what it interrupted is sent again.
            self._ended(failure(child, stderr), 0 < child.returncode < 128)

    def _settle(self, ack: Mapping[str, Any]) -> None:
        with self._lock:
            # A refusal names its line; offsets are in the order of the others.
            number = ack.get("line", self._pending[0].number)
            append = next(each for each in self._pending if each.number == number)
            self._pending.remove(append)
            self._restarts = 0
        if "code" in ack:
            append.done.set_exception(VerbatimError(ack["code"], ack["message"]))
        else:
            append.done.set_result(ack["offset"])

    def _ended(self, error: VerbatimError, has_failed: bool) -> None:
        with self._sending:
            self._input = None
            pending, self._pending = self._pending, deque()
            if not pending:
                self._failure = error if has_failed else None
                return
            self._restarts += 1
            try:
                self._start()
                ends = {entry["native"].get("id"): entry["end"] for entry in self.entries()}
            except Exception as cause:  # The log cannot be opened: it may have them, or not.
                for append in pending:
                    append.done.set_exception(cause)
                return
            for append in pending:
                if append.id is not None and append.id in ends:
                    append.done.set_result(ends[append.id])
                elif self._restarts > RESTARTS_MAX:
                    append.done.set_exception(error)
                else:
                    self._write(append)


_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


def _release_pipes() -> None:
    """In the child of a fork: with its copies, our processes would not see that we have closed."""
    for session in _sessions:
        if session._input:
            session._input.close()


os.register_at_fork(after_in_child=_release_pipes)
