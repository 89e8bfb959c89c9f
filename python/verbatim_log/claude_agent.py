"""Claude Agent SDK: a `SessionStore` of append-only logs (docs/formats/claude.md).

Deleting erases nothing: it appends a line. An entry with a `uuid` is stored once, however often it
is passed. One without is stored each time, also if a killed process is replaced in the middle.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote, unquote

from ._async import InOrder
from ._command import Command, VerbatimError
from ._session import Session

Entry = dict[str, Any]
DELETED = "verbatim:deleted"
HOOKS = ("claude-code-hooks", "codex-hooks")
OPEN_MAX = 4  # Each is a process.
NAME_MAX = 200


class VerbatimSessionStore:
    """Pass it as `session_store` in `ClaudeAgentOptions`."""

    def __init__(self, *, root: str | os.PathLike[str] = ".", **options: Any) -> None:
        """Options are `sign`, `durability` and `command`, as of `Session`."""
        self._root = os.path.abspath(root)
        log = {"root": self._root, "dialect": "claude", "shared": True, **options}
        self._make: Callable[[str], Session] = partial(Session, **log)
        self._command = Command(options.get("command"))
        self._open: OrderedDict[str, Session] = OrderedDict()
        self._calls = InOrder()

    async def append(self, key: Mapping[str, str], entries: list[Entry]) -> None:
        if any(entry.get("type") == DELETED for entry in entries):
            raise VerbatimError("INVALID_ENTRY", f"the type {DELETED} is reserved")
        if entries:
            await self._calls.run(self._append, id_of(key), entries)

    async def load(self, key: Mapping[str, str]) -> list[Entry] | None:
        return await self._calls.run(self._load, id_of(key))

    async def list_sessions(self, project_key: str) -> list[dict[str, Any]]:
        listed = await self._calls.run(self._list, f"{name_of(project_key)}/")
        keys = [(key_of(row["id"]), int(row["mtimeMs"])) for row in listed]
        return [{"session_id": key[1], "mtime": at} for key, at in keys if len(key) == 2]

    async def list_subkeys(self, key: Mapping[str, str]) -> list[str]:
        id = id_of({"project_key": key["project_key"], "session_id": key["session_id"]})
        return [
            "/".join(key_of(row["id"])[2:]) for row in await self._calls.run(self._list, f"{id}/")
        ]

    async def delete(self, key: Mapping[str, str]) -> None:
        """Deletes a session with its subagents, or one of these: the lines stay in the log."""
        id = id_of(key)
        # The session last: after an interruption, it is visible that there is more to do.
        below = [] if "subpath" in key else await self._calls.run(self._list, f"{id}/")
        for each in [*(row["id"] for row in below), id]:
            if await self._calls.run(self._load, each) is not None:
                await self._calls.run(self._append, each, [{"type": DELETED}])

    async def close(self) -> None:
        """Releases everything. The entries are durable without it."""
        while self._open:
            await self._calls.run(self._open.popitem()[1].close)

    def _append(self, id: str, entries: list[Entry]) -> None:
        session = self._open.pop(id, None)
        while session is None and len(self._open) >= OPEN_MAX:
            self._open.popitem(last=False)[1].close()
        self._open[id] = session or self._make(id)
        self._open[id].send(entries).result()

    def _path(self, id: str) -> str:
        return os.path.join(self._root, ".verbatim/claude", id, "transcript.jsonl")

    def _load(self, id: str) -> list[Entry] | None:
        entries: list[Entry] = []
        if os.path.exists(self._path(id)):
            args = ["show", self._path(id), "--dialect=claude", "--json"]
            for entry in self._command.lines(args):
                entries.append(entry["native"])
                if entries[-1]["type"] == DELETED:
                    entries.clear()
        return entries or None

    def _list(self, prefix: str) -> list[dict[str, Any]]:
        """The sessions below a prefix that were not deleted."""
        where = [f"--root={self._root}", "--dialect=claude", "--json"]
        listed = {
            row["id"]: row
            for row in (self._command.lines(["ls", *where]) if os.path.isdir(self._root) else [])
            if row["id"].startswith(prefix) and row["lines"] > 0
        }
        if not listed:
            return []
        paths = (row["path"] for row in listed.values())
        # 7: also if a session has no message. One that cannot be read is not listed.
        last = self._command.lines(["export", *paths, "--format=jsonl", "--last=1"], (0, 7))
        return [listed[each["session"]] for each in last if each["native"]["type"] != DELETED]


def id_of(key: Mapping[str, str]) -> str:
    """A key as the path of its log: each key has one, and no two share it."""
    try:
        subpath = key["subpath"].split("/") if "subpath" in key else []
        names = [key["project_key"], key["session_id"], *subpath]
        if key.get("subpath") == "" or names[0] in HOOKS:
            raise ValueError("its subpath is empty, or its project is one of hooks")
        return "/".join(name_of(name) for name in names)
    except (AttributeError, KeyError, TypeError, ValueError) as cause:
        raise VerbatimError("BAD_ID", f"the key names no session: {cause}") from cause


def name_of(name: str) -> str:
    text = quote(name, safe="").replace(".", "%2E").replace("~", "%7E") or "%"
    pieces: list[str] = []
    while len(text) > NAME_MAX:
        pieces, text = [*pieces, f"{text[: NAME_MAX - 1]}~"], text[NAME_MAX - 1 :]
    return "/".join([*pieces, text])


def key_of(id: str) -> list[str]:
    return ["" if name == "%" else unquote(name) for name in id.replace("~/", "").split("/")]
