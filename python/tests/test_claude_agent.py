"""The session store for the Claude Agent SDK. The SDK itself is not needed."""

from __future__ import annotations

import asyncio
import json
import os
import re
from typing import Any

from verbatim_log.claude_agent import VerbatimSessionStore, id_of, key_of

from .support import InDirectory, kill

PAGE = os.path.join(os.path.dirname(__file__), "../../docs/formats/claude.md")
KEY = {"project_key": "-home-me", "session_id": "6f1c"}


def entry(uuid: str, **more: Any) -> dict[str, Any]:
    return {"type": "user", "uuid": uuid, "message": {"role": "user", "content": uuid}, **more}


class ClaudeStoreTest(InDirectory):
    def store(self) -> VerbatimSessionStore:
        store = VerbatimSessionStore(root=self.root)
        self.addCleanup(lambda: asyncio.run(store.close()))
        return store

    def test_keys_have_the_ids_of_the_format_page(self) -> None:
        with open(PAGE, encoding="utf-8") as page:
            block = re.search(r"```json claude-ids\n(.*?)```", page.read(), re.DOTALL)
        assert block
        names = {"projectKey": "project_key", "sessionId": "session_id", "subpath": "subpath"}
        for key, id in json.loads(block[1]):
            self.assertEqual(id_of({names[name]: value for name, value in key.items()}), id)
        for project in ["", "..", "%", "a/b", "x" * 200, "x" * 201, "é~" * 300, "~/", "\0"]:
            key = {"project_key": project, "session_id": "s", "subpath": "a//b"}
            self.assertEqual(key_of(id_of(key)), [project, "s", "a", "", "b"])

    def test_entries_are_loaded_as_they_were_appended_each_uuid_once(self) -> None:
        async def main() -> None:
            store = self.store()
            given = [entry("a", z=1.5, n={"é": None}), {"type": "tag", "tag": "\ud800"}]
            self.assertIsNone(await store.load(KEY))
            await store.append(KEY, [])
            await store.append(KEY, given)
            kill(store._open[id_of(KEY)])
            await store.append(KEY, [entry("a"), entry("b")])
            self.assertEqual(await self.store().load(KEY), [*given, entry("b")])

        asyncio.run(main())

    def test_what_is_deleted_is_not_listed_and_its_lines_stay(self) -> None:
        async def main() -> None:
            store = self.store()
            sub = {**KEY, "subpath": "subagents/agent-1"}
            other = {"project_key": "-home-me", "session_id": "7/é"}
            for key in [KEY, sub, other, {**KEY, "subpath": "b"}, {**KEY, "session_id": "x"}]:
                await store.append(key, [entry("a")])  # One more than are open at once.
            self.assertLess(len(store._open), 5)
            listed = await store.list_sessions("-home-me")
            self.assertEqual(sorted(each["session_id"] for each in listed), ["6f1c", "7/é", "x"])
            self.assertGreater(min(each["mtime"] for each in listed), 1e12)
            self.assertEqual(sorted(await store.list_subkeys(KEY)), ["b", "subagents/agent-1"])
            await store.delete(KEY)
            self.assertEqual([await store.load(KEY), await store.list_subkeys(KEY)], [None, []])
            self.assertEqual(len(await store.list_sessions("-home-me")), 2)
            with open(store._path(id_of(KEY)), encoding="utf-8") as log:
                self.assertEqual(len(log.readlines()), 2)
            await store.append(KEY, [entry("a")])
            self.assertEqual(await store.load(KEY), [entry("a")])

        asyncio.run(main())

    def test_wrong_keys_and_entries_are_refused(self) -> None:
        store = self.store()
        hooks = {"project_key": "claude-code-hooks", "session_id": "s"}
        for key in [{}, {"project_key": 7, "session_id": "s"}, {**KEY, "subpath": ""}, hooks]:
            self.refused("BAD_ID", asyncio.run, store.append(key, [entry("a")]))
            self.refused("BAD_ID", asyncio.run, store.load(key))
        self.refused("BAD_ID", asyncio.run, store.load({**KEY, "session_id": "\ud800"}))
        for wrong in [{"type": 5}, {"type": "verbatim:deleted"}]:
            self.refused("INVALID_ENTRY", asyncio.run, store.append(KEY, [entry("a"), wrong]))
        self.assertIsNone(asyncio.run(store.load(KEY)))
