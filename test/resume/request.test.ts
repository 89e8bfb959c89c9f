/** The body of a request, from what was resumed. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { openStore } from "../../src/index.ts";
import { requestBody, resume } from "../../src/resume.ts";
import { tempDirectory } from "../support/temp-directory.ts";

async function answeredBy(model: string) {
  const root = tempDirectory();
  const store = await openStore({ dialect: "homeagent", root, agent: "hello", durability: "os" });
  const session = store.session("hello/s1");
  const said = (text: string) => ({ parts: [{ type: "text", text }] }) as const;
  await session.append({ kind: "message", role: "user", ...said("Hello") });
  await session.append({ kind: "message", role: "assistant", model, ...said("Hi") });
  await store.close();
  return session;
}

test("a body names the model that answered last only where it is the provider's, by its name there", async () => {
  const targets = ["anthropic", "openai-chat", "openai-responses"] as const;
  const named = async (model: string) => {
    const session = await answeredBy(model);
    const resumed = await Promise.all(
      targets.map((target) => resume(session, { for: target, allowUnsigned: true })),
    );
    return targets.filter((_, at) => {
      const body = resumed[at] ? requestBody(resumed[at]) : {};
      if ("model" in body) assert.equal(body.model, model);
      return "model" in body;
    });
  };
  const [anthropic, ...openai] = targets;
  assert.deepEqual(await named("claude-opus-4-5"), [anthropic]);
  for (const model of ["gpt-5.5", "o3-mini", "ft:gpt-4o:me::1"]) {
    assert.deepEqual(await named(model), openai);
  }
  for (const model of ["gemini-3-pro", "anthropic/claude-sonnet-4.5", "openai/gpt-5.5", "llama3"]) {
    assert.deepEqual(await named(model), []);
  }
});
