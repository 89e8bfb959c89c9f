"""Command: runs `verbatim`, which writes all files, and turns its failures into errors."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Sequence
from typing import IO, Any

MESSAGE = re.compile(r"^(?:error: )?(.*) \(([A-Z][A-Z_]+)\)$", re.MULTILINE | re.DOTALL)
STDERR_BYTES_MAX = 64 * 1024
MESSAGE_MAX = 500
INSTALL = "install Node 20.19 or newer and `npm install --global verbatim-log`, or pass `command`"


class VerbatimError(Exception):
    """Any failure. Its `code` is stable: docs/errors.md says what each means, and what helps."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class Command:
    """The command, such as `verbatim` or `["npx", "verbatim"]`."""

    def __init__(self, command: str | Sequence[str] | None) -> None:
        if command is None:
            command = shlex.split(os.environ.get("VERBATIM_COMMAND", "verbatim"))
        self._argv = [command] if isinstance(command, str) else list(command)
        if not self._argv or not all(isinstance(each, str) for each in self._argv):
            raise VerbatimError("BAD_SETTING", "command takes a program, or a list of arguments")

    def start(self, args: Sequence[str], stdin: int) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
        """Starts it. Returns the process, and the file that its stderr goes to."""
        if shutil.which(self._argv[0]) is None:
            raise VerbatimError("PROGRAM_FAILED", f"no command {self._argv[0]!r}: {INSTALL}")
        stderr = tempfile.TemporaryFile()
        try:
            # In a session of its own: Ctrl-C at a terminal is for our caller.
            return subprocess.Popen(
                [*self._argv, *args],
                bufsize=0,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
            ), stderr
        except (OSError, ValueError) as cause:
            stderr.close()
            code = "PROGRAM_FAILED" if isinstance(cause, OSError) else "BAD_SETTING"
            raise VerbatimError(code, f"{self._argv[0]!r} does not start: {cause}") from cause

    def lines(self, args: Sequence[str], codes: Collection[int] = (0,)) -> Iterator[dict[str, Any]]:
        """What it prints, as JSON, line by line. Another exit code than `codes` is an error."""
        process, stderr = self.start(args, subprocess.DEVNULL)
        assert process.stdout is not None
        with process, stderr, open(process.stdout.fileno(), "rb", closefd=False) as output:
            try:
                for line in output:
                    yield parsed(line)
            except BaseException:
                process.kill()  # The caller needs no more.
                raise
            if process.wait() not in codes:
                raise failure(process, stderr)


def parsed(line: bytes) -> dict[str, Any]:
    try:
        return dict(json.loads(line))
    except (TypeError, ValueError) as cause:
        raise VerbatimError("PROGRAM_FAILED", f"it is another command: {INSTALL}") from cause


def text_of(stderr: IO[bytes]) -> str:
    # Not `read`: the process writes where we would move.
    return os.pread(stderr.fileno(), STDERR_BYTES_MAX, 0).decode("utf-8", "replace").strip()


def failure(process: subprocess.Popen[bytes], stderr: IO[bytes]) -> VerbatimError:
    """The error of a process that has ended, in its own words."""
    text = text_of(stderr)
    match = MESSAGE.search(text)
    if match:
        return VerbatimError(match[2], match[1])
    code = "BAD_SETTING" if process.returncode == 2 else "PROGRAM_FAILED"
    last = text[-MESSAGE_MAX:] or f"exit code {process.returncode}"  # Node prints source before it.
    return VerbatimError(code, f"the command failed: {last}")


def json_of(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        try:
            text.encode()
        except UnicodeEncodeError:  # A lone surrogate has no UTF-8, but an escape.
            return json.dumps(value, separators=(",", ":"))
        return text
    except (TypeError, ValueError, RecursionError) as cause:
        raise VerbatimError("INVALID_ENTRY", f"the entry has no JSON: {cause}") from cause
