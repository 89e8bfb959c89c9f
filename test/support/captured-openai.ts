/** What is captured from OpenAI's events, for the tests of both of its APIs. */

import assert from "node:assert/strict";
import type { NewEntry, Part } from "../../src/core/model/entry.ts";
import { captureOpenAI } from "../../src/sessions/capture/openai.ts";
import type { OpenAIResult } from "../../src/sessions/capture/openai-result.ts";
import { GatheredSession } from "./gathered-session.ts";
import { given, type ProviderEvent } from "./provider-streams.ts";
import { refusal } from "./refusal.ts";

/** What is appended from a stream that ends with these events. */
export async function appended(events: readonly ProviderEvent[]): Promise<NewEntry> {
  const session = new GatheredSession();
  await captureOpenAI(given(events), session).result.catch(() => {});
  return session.only;
}

export async function resultOf(events: readonly ProviderEvent[]): Promise<OpenAIResult> {
  return captureOpenAI(given(events), new GatheredSession()).result;
}

/** The reason why `event` is refused after `before`; `parts` are those kept from before. */
export async function refusedReason(
  before: readonly ProviderEvent[],
  event: unknown,
  parts: readonly Part[],
): Promise<string> {
  const session = new GatheredSession();
  const { result } = captureOpenAI(given([...before, event as ProviderEvent]), session);
  const { details } = await refusal(result, "BAD_STREAM");
  const events = JSON.parse(JSON.stringify([event]));
  const kept: Part = { type: "other", native: { type: "unknown_events", events } };
  assert.deepEqual(session.only.parts, [...parts, kept]);
  assert.equal(session.only.isPartial, true);
  return details.reason;
}
