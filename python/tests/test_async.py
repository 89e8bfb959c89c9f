"""Asynchronous sessions."""

from __future__ import annotations

import asyncio
import threading

from verbatim_log import AsyncSession
from verbatim_log._async import InOrder

from .support import InDirectory, message


class AsyncSessionTest(InDirectory):
    def test_calls_run_one_after_the_other(self) -> None:
        async def main() -> None:
            calls, all_made = InOrder(), threading.Event()

            def call(n: int) -> tuple[int, int]:
                all_made.wait()
                return n, threading.get_ident()

            made = [asyncio.create_task(calls.run(call, n)) for n in range(9)]
            asyncio.get_running_loop().call_soon(all_made.set)
            ran = await asyncio.gather(*made)
            self.assertEqual([n for n, _ in ran], list(range(9)))
            self.assertEqual(len({thread for _, thread in ran}), 1)

        asyncio.run(main())

    def test_appends_at_once_are_in_the_order_of_the_calls(self) -> None:
        async def main() -> None:
            async with AsyncSession("s", root=self.root) as session:
                calls = [session.append(message(str(n))) for n in range(200)]
                offsets = await asyncio.gather(*calls)
                found = [entry async for entry in session.entries()]
                self.assertEqual([entry["end"] for entry in found], offsets)
                expected = [str(n) for n in range(200)]
                self.assertEqual([entry["parts"][0]["text"] for entry in found], expected)
                self.assertEqual([e["end"] async for e in session.entries(last=1)], offsets[-1:])
                self.assertEqual((await session.verify())["verdict"], "unsigned")

        asyncio.run(main())

    def test_a_cancelled_append_is_there_once_or_not_and_the_session_continues(self) -> None:
        async def main() -> None:
            async with AsyncSession("s", root=self.root) as session:
                calls = [asyncio.create_task(session.append(message(str(n)))) for n in range(60)]
                await asyncio.sleep(0)  # All calls wait for the session's thread.
                for call in calls[1::4]:
                    call.cancel()
                await calls[0]
                for call in calls[3::4]:  # Some of them may be in the log.
                    call.cancel()
                ends = await asyncio.gather(*calls, return_exceptions=True)
                await session.append(message("last"))
                found = [e["parts"][0]["text"] async for e in session.entries()]
                self.assertEqual(len(found), len(set(found)))
                kept = [str(n) for n, end in enumerate(ends) if isinstance(end, int)]
                self.assertEqual(found[-1], "last")
                self.assertLessEqual(set(kept), set(found))
                for end in ends[1::4]:
                    self.assertIsInstance(end, asyncio.CancelledError)

        asyncio.run(main())

    def test_a_session_works_in_one_event_loop_after_another(self) -> None:
        session = AsyncSession("s", root=self.root)
        for _ in range(2):
            asyncio.run(session.append(message("x")))
        asyncio.run(session.close())
        self.refused("LOG_CLOSED", asyncio.run, session.append(message("x")))
