/** The session store with the oldest version of the Claude Agent SDK that has session stores. */

import assert from "node:assert/strict";
import * as sdk from "claude-agent-sdk-oldest";
import { onTestFinished, test, vi } from "vitest";
import { claudeSessionStore } from "../../src/doors/claude-agent.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { answersAlike, type Sdk } from "./claude-agent-version.ts";
import { versionOf } from "./installed-version.ts";

// 0.2.113 has no foldSessionSummary. Without this line, vitest throws when it is read.
vi.mock("@anthropic-ai/claude-agent-sdk", async () => ({
  foldSessionSummary: undefined,
  ...(await import("claude-agent-sdk-oldest")),
}));

test("the functions of the oldest Claude Agent SDK do the same with our store as with its own", async () => {
  assert.equal(versionOf("claude-agent-sdk-oldest"), "0.2.113");
  await answersAlike(sdk as unknown as Sdk);
});

test("the oldest Claude Agent SDK accepts our store without a cast, and the store reports that it has no summaries", async () => {
  const store = claudeSessionStore({ root: tempDirectory(), durability: "os" });
  onTestFinished(() => store.close());
  const taken: sdk.SessionStore = store;
  await taken.append({ projectKey: "p", sessionId: "s" }, [{ type: "tag", tag: "x" }]);
  const { message } = await refusal(store.listSessionSummaries("p"), "BAD_SETTING");
  assert.match(message, /has no foldSessionSummary; install 0\.2\.118/);
});
