"""OpenAI Agents SDK: a `Session` whose history is an append-only log (docs/formats/sdk.md).

Nothing is erased: pop and clear are lines of the log. Several processes may use one session.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from ._async import InOrder
from ._command import VerbatimError
from ._session import Session

Item = dict[str, Any]


class VerbatimSession:
    """Pass it as `session` to `Runner.run`. When a method returns, its effect is durable."""

    session_settings: Any = None

    def __init__(
        self, session_id: str | None = None, *, root: str | os.PathLike[str] = ".", **options: Any
    ) -> None:
        """Options are `sign`, `durability` and `command`, as of `Session`."""
        self.session_id = session_id or str(uuid.uuid4())
        log = {"root": os.path.abspath(root), "dialect": "sdk", "shared": True, **options}
        self._make = partial(Session, f"openai-agents/{self.session_id}", **log)
        self._session: Session | None = None
        self._calls = InOrder()

    async def get_items(self, limit: int | None = None) -> list[Item]:
        """All items, or the last ones."""
        limit = getattr(self.session_settings, "limit", None) if limit is None else limit
        items = (await self._calls.run(self._read))[0]
        return items if limit is None else items[-limit:] if limit > 0 else []

    async def add_items(self, items: list[Item]) -> None:
        """After a crash, all of them are there, or none."""
        if not isinstance(items, list):
            raise VerbatimError("BAD_SETTING", "add_items takes its items as a list")
        part = (lambda n: {"part": [n + 1, len(items)]}) if len(items) > 1 else lambda n: {}
        lines = [{"type": "item", "item": item, **part(n)} for n, item in enumerate(items)]
        if lines:
            await self._calls.run(self._send, lines)

    async def pop_item(self) -> Item | None:
        return await self._calls.run(self._pop)

    async def clear_session(self) -> None:
        """The agent no longer sees the items; the log keeps them."""
        await self._calls.run(self._send, [{"type": "clear"}])

    async def close(self) -> None:
        """Releases everything. The items are durable without it."""
        if self._session:
            await self._calls.run(self._session.close)

    def _open(self) -> Session:
        self._session = self._session or self._make()
        return self._session

    def _send(self, lines: list[Item]) -> None:
        self._open().send(lines).result()

    def _read(self, pop: str | None = None) -> tuple[list[Item], Item | None]:
        return history((entry["native"] for entry in self._open().entries()), pop)

    def _pop(self) -> Item | None:
        if not self._read()[0]:
            return None
        pop = str(uuid.uuid4())
        self._send([{"type": "pop", "count": 1, "id": pop}])
        # Another process may have been faster: which item it took is known only now.
        return self._read(pop)[1]


def history(lines: Iterable[Mapping[str, Any]], pop: str | None) -> tuple[list[Item], Item | None]:
    """The items that are left, and the one that the line `pop` took."""
    items: list[Item] = []
    group: list[Mapping[str, Any]] = []
    last, taken = "start", None
    for line in lines:
        if line["type"] not in ("item", "pop", "clear"):
            continue
        number, of = line.get("part", (1, 1))
        is_next = len(group) == number - 1 and (number == 1 or group[0]["part"][1] == of)
        group = [*group, line] if is_next else [line] if number == 1 else []
        if len(group) < of:
            continue  # Without its last line, none of them counts.
        if group[0].get("after", last) == last:  # Else another writer was faster.
            last = group[-1]["id"]
            for each in group:
                if each["type"] == "item":
                    items.append(each["item"])
                    continue
                taken = items[-1] if each["id"] == pop and items else taken
                count = each["count"] if each["type"] == "pop" else len(items)
                del items[max(0, len(items) - count) :]
        group = []
    return items, taken
