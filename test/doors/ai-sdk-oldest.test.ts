/** The AI SDK's entry point with the oldest version of `ai` that it works with. */

import assert from "node:assert/strict";
import * as sdk from "ai-oldest";
import { test, vi } from "vitest";
import { answersWith, majorOf } from "./ai-sdk-version.ts";

vi.mock("ai", () => import("ai-oldest"));

test("a chat is answered and kept with the oldest version of ai", async () => {
  assert.equal(await majorOf("ai-oldest"), 5);
  await answersWith(sdk);
});
