/** Captured streams in Entire's rows: the session has what the provider sent, in one row. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { captureAnthropic, captureOpenAI } from "../../src/doors/capture.ts";
import { readAsEntire } from "../support/entire-reader.ts";
import { assertChain, rowsAt } from "../support/entire-rows.ts";
import { given, STREAMS } from "../support/provider-streams.ts";
import { expected, messagesIn, newSession, type SaidEntry } from "./captured-dialects.ts";

test.each(Object.entries(STREAMS))(
  "a captured message is in one row, complete or cut after any event (%s)",
  async (name, { provider, events }) => {
    const session = await newSession({ dialect: "entire" });
    const capture = provider === "anthropic" ? captureAnthropic : captureOpenAI;
    const said: SaidEntry[] = [];
    for (let count = 1; count <= events.length; count++) {
      const arrived = events.slice(0, count);
      const entry = await expected(name, arrived).catch(() => null); // It may say nothing yet.
      await capture(given(arrived) as AsyncIterable<never>, session).result.catch(() => {});
      if (entry) said.push(withCounts(entry));
    }
    const read = await messagesIn(session);
    // Rows always have an id: a missing one is generated.
    const withIds = said.map((entry, n) => ({ messageId: read[n]?.messageId ?? "", ...entry }));
    assert.deepEqual(read, withIds);
    const rows = rowsAt(session.path);
    assert.equal(rows.length, said.length);
    assertChain(rows);
    const { tokens } = readAsEntire(readFileSync(session.path));
    assert.equal(tokens?.output, said.at(-1)?.usage?.outputTokens);
  },
);

/** A missing count is 0 in a row: Entire requires all four. */
function withCounts(entry: SaidEntry): SaidEntry {
  const { usage } = entry;
  if (!usage) return entry;
  const { inputTokens, outputTokens, cacheWriteTokens = 0, cacheReadTokens = 0 } = usage;
  const counts = { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 };
  return { ...entry, usage: { ...usage, ...counts, cacheWriteTokens, cacheReadTokens } };
}
