/** The OpenAI Agents SDK's entry point with the newest version that it works with. */

import assert from "node:assert/strict";
import * as sdk from "agents-core-newest";
import { test } from "vitest";
import { versionOf } from "./installed-version.ts";
import { runsWith } from "./openai-agents-version.ts";

test("a session is kept and read by the newest version of the OpenAI Agents SDK", async () => {
  assert.equal(versionOf("agents-core-newest"), "0.20.0");
  await runsWith(sdk);
});
