"""With the SDKs themselves, where `openai-agents` and `claude-agent-sdk` are installed."""

from __future__ import annotations

import asyncio
import unittest
from importlib.util import find_spec

from verbatim_log.claude_agent import VerbatimSessionStore
from verbatim_log.openai_agents import VerbatimSession

from .support import InDirectory


class RealPackagesTest(InDirectory):
    @unittest.skipUnless(find_spec("claude_agent_sdk"), "claude-agent-sdk is not installed")
    def test_the_store_passes_the_conformance_suite_of_the_claude_agent_sdk(self) -> None:
        from claude_agent_sdk.testing import run_session_store_conformance

        stores = []

        def make() -> VerbatimSessionStore:
            stores.append(VerbatimSessionStore(root=f"{self.root}/{len(stores)}"))
            return stores[-1]

        async def main() -> None:
            await run_session_store_conformance(make)
            for store in stores:
                await store.close()

        asyncio.run(main())

    @unittest.skipUnless(find_spec("agents"), "openai-agents is not installed")
    def test_the_agents_sdk_runs_an_agent_with_the_session(self) -> None:
        from agents import Agent, Model, ModelResponse, Runner, Session, Usage, set_tracing_disabled
        from openai.types.responses import ResponseOutputMessage, ResponseOutputText

        class Echo(Model):
            async def get_response(self, *args, **more):  # type: ignore[no-untyped-def]
                text = f"{len(more['input'])} items"
                part = ResponseOutputText(
                    annotations=[], text=text, type="output_text", logprobs=[]
                )
                output = ResponseOutputMessage(
                    id="m", content=[part], role="assistant", status="completed", type="message"
                )
                return ModelResponse(output=[output], usage=Usage(), response_id=None)

            def stream_response(self, *args, **more):  # type: ignore[no-untyped-def]
                raise NotImplementedError

        async def main() -> None:
            set_tracing_disabled(True)
            session = VerbatimSession("s", root=self.root)
            self.assertIsInstance(session, Session)
            agent = Agent(name="Echo", model=Echo())
            for expected in ["1 items", "3 items"]:
                result = await Runner.run(agent, "Hello", session=session)
                self.assertEqual(result.final_output, expected)
            self.assertEqual(len(await session.get_items()), 4)
            await session.close()

        asyncio.run(main())
