/** Summaries that a provider made of a conversation, from its stream to the next request. */

import assert from "node:assert/strict";
import { onTestFinished, test } from "vitest";
import { captureAnthropic, captureOpenAI } from "../../src/doors/capture.ts";
import { VerbatimSession } from "../../src/doors/openai-agents.ts";
import { resume } from "../../src/doors/resume.ts";
import { DIALECTS, newSession } from "../doors/captured-dialects.ts";
import { ANTHROPIC, given, RESPONSES } from "../support/provider-streams.ts";
import { tempDirectory } from "../support/temp-directory.ts";

for (const [name, options] of Object.entries(DIALECTS)) {
  test(`a captured summary goes back to the provider that made it, from ${name}`, async () => {
    const session = await newSession(options);
    await session.append({ kind: "message", role: "user", parts: [{ type: "text", text: "go" }] });
    await captureAnthropic(given(ANTHROPIC), session).result;
    const log = { root: session.root, allowUnsigned: true, snapshot: true, prompt: null };
    const { messages } = await resume(session.id, { ...log, for: "anthropic" });
    assert.deepEqual(messages, [
      {
        role: "assistant",
        content: [
          {
            type: "compaction",
            content: "Rain was asked for.",
            encrypted_content: "EowBCkYIBRgC",
          },
        ],
      },
    ]);
    const other = await resume(session.id, { ...log, for: "openai-responses" });
    assert.ok(other.report.actions.some(({ why }) => why === "compaction_foreign"));
    assert.match(JSON.stringify(other.messages), /I look it up/);
    await captureOpenAI(given(RESPONSES), session).result;
    const { messages: items } = await resume(session.id, { ...log, for: "openai-responses" });
    const sealed = { type: "compaction", encrypted_content: "gAAAAABpQ" };
    assert.deepEqual(
      items.filter(({ type }) => type === "compaction"),
      [sealed],
    );
  });
}

test("a session of the Agents SDK goes back with its compaction item, and reports unknown items", async () => {
  const root = tempDirectory();
  const session = new VerbatimSession({ sessionId: "s", root, durability: "os" });
  onTestFinished(() => session.close());
  await session.addItems([
    { type: "message", role: "user", content: "go" },
    { type: "compaction", encrypted_content: "c2VhbGVk" },
    { type: "unknown", providerData: { type: "weather_item" } },
  ]);
  const log = { root, allowUnsigned: true, snapshot: true, prompt: null };
  const { messages, report } = await resume("s", { ...log, for: "openai-responses" });
  assert.deepEqual(messages[1], { type: "compaction", encrypted_content: "c2VhbGVk" });
  assert.deepEqual(
    report.actions.filter(({ line }) => line !== null).map(({ why }) => why),
    ["not_understood"],
  );
});
