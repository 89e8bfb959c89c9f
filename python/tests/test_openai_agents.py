"""The session for the OpenAI Agents SDK. The SDK itself is not needed (test_real_packages.py)."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from verbatim_log.openai_agents import VerbatimSession, history

from .support import InDirectory, kill


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


class OpenAISessionTest(InDirectory):
    def session(self, name: str = "s") -> VerbatimSession:
        session = VerbatimSession(name, root=self.root)
        self.addCleanup(lambda: asyncio.run(session.close()))
        return session

    def test_it_behaves_as_a_list_with_two_writers_and_kills(self) -> None:
        async def main() -> None:
            choose = random.Random(7)
            model: list[dict[str, Any]] = []
            one, other = self.session(), self.session()
            for n in range(14):
                one, other = other, one
                if one._session and choose.random() < 0.3:
                    kill(one._session)
                deed = choose.choice(["add", "add", "add", "pop", "clear"])
                if deed == "add":
                    items = [user(f"{n}.{m} \ud800") for m in range(choose.randrange(4))]
                    await one.add_items(items)
                    model += items
                elif deed == "pop":
                    self.assertEqual(await one.pop_item(), model.pop() if model else None)
                elif n % 2:
                    await one.clear_session()
                    model.clear()
            self.assertEqual(await one.get_items(), model)
            self.assertEqual(await one.get_items(2), model[-2:])
            self.assertEqual([await one.get_items(limit) for limit in (0, -1)], [[], []])

        asyncio.run(main())

    def test_wrong_calls_are_refused(self) -> None:
        session = self.session()
        self.refused("BAD_SETTING", asyncio.run, session.add_items("text"))
        self.refused("INVALID_ENTRY", asyncio.run, session.add_items(["text"]))
        self.refused("INVALID_ENTRY", asyncio.run, session.add_items([user("x"), {"x": b""}]))
        self.refused("BAD_ID", asyncio.run, self.session("../s").get_items())
        self.assertEqual(asyncio.run(session.get_items()), [])

    def test_lines_count_together_or_not_at_all_and_late_ones_do_not(self) -> None:
        def item(id: str, part: Any = None, **more: Any) -> dict[str, Any]:
            return {
                "type": "item",
                "id": id,
                "item": id,
                **more,
                **({"part": part} if part else {}),
            }

        torn = [item("a"), item("b", [1, 3]), item("c", [2, 3])]
        self.assertEqual(history(torn, None)[0], ["a"])
        self.assertEqual(
            history([*torn, item("d", [1, 2]), item("e", [2, 2])], None)[0], list("ade")
        )
        self.assertEqual(history([*torn, item("d", [3, 3])], None)[0], list("abcd"))
        late = [item("a"), item("b"), item("c", after="a"), item("d", after="b")]
        self.assertEqual(history(late, None)[0], list("abd"))
        self.assertEqual(history([item("a", after="start"), {"type": "entry"}], None)[0], ["a"])
        pops = [
            *late,
            {"type": "pop", "id": "p", "count": 2},
            {"type": "pop", "id": "q", "count": 9},
        ]
        self.assertEqual(history(pops, "q"), ([], "a"))
        self.assertEqual(history([*pops, {"type": "pop", "id": "r", "count": 1}], "r"), ([], None))
