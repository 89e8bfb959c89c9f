/** The AI SDK's entry point with the newest version of `ai` that it works with. */

import assert from "node:assert/strict";
import * as sdk from "ai-newest";
import { test, vi } from "vitest";
import { answersWith, majorOf } from "./ai-sdk-version.ts";

vi.mock("ai", () => import("ai-newest"));

test("a chat is answered and kept with the newest version of ai", async () => {
  assert.equal(await majorOf("ai-newest"), 7);
  await answersWith(sdk);
});
