"""Asynchronous sessions. A cancelled append may or may not be in the log; the session goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from ._remote import RemoteSession
from ._session import Session

T = TypeVar("T")


class InOrder:
    """Runs calls in a thread, one after the other, in the order in which they are made."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)

    async def run(self, call: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call, *args)


class AsyncSession:
    """A `Session`, or with `url` a `RemoteSession`, and their arguments. It opens at first use."""

    def __init__(self, session: str | None = None, **options: Any) -> None:
        self._make = partial(RemoteSession if "url" in options else Session, session, **options)
        self._opened: Session | RemoteSession | None = None
        self._calls = InOrder()

    async def append(self, entry: Mapping[str, Any]) -> int:
        done = await self._calls.run(lambda: self._open().send([entry]))
        return await asyncio.wrap_future(done)

    async def entries(self, last: int | None = None) -> AsyncIterator[dict[str, Any]]:
        for entry in await self._calls.run(lambda: list(self._open().entries(last))):
            yield entry

    async def verify(self) -> dict[str, Any]:
        return await self._calls.run(lambda: self._open().verify())

    async def close(self) -> None:
        if self._opened:
            await self._calls.run(self._opened.close)

    async def __aenter__(self) -> AsyncSession:
        await self._calls.run(self._open)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _open(self) -> Session | RemoteSession:
        self._opened = self._opened or self._make()
        return self._opened
