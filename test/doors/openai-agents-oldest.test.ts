/** The OpenAI Agents SDK's entry point with the oldest version that it works with. */

import assert from "node:assert/strict";
import * as sdk from "agents-core-oldest";
import { test } from "vitest";
import { versionOf } from "./installed-version.ts";
import { runsWith } from "./openai-agents-version.ts";

test("a session is kept and read by the oldest version of the OpenAI Agents SDK", async () => {
  assert.equal(versionOf("agents-core-oldest"), "0.3.0");
  await runsWith(sdk);
});
