/** Captured messages in every dialect: in any chunks, and up to the largest size. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { CAPTURE_LIMITS } from "../../src/core/base/limits.ts";
import { encodeLine } from "../../src/core/log/json.ts";
import { captureAnthropic, captureOpenAI } from "../../src/doors/capture.ts";
import { given, STREAMS, sseBytes } from "../support/provider-streams.ts";
import { refusal } from "../support/refusal.ts";
import { isTried, runs } from "../support/seed.ts";
import { DIALECTS, expected, messagesIn, newSession, type SaidEntry } from "./captured-dialects.ts";

for (const [dialect, options] of Object.entries(DIALECTS)) {
  test(`a stream in any chunks leaves the same entry on the disk, in ${dialect}`, async () => {
    const names = Object.keys(STREAMS);
    const session = await newSession(options);
    let told = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 }),
        async (name, cuts) => {
          const { provider, events, sse } = STREAMS[name] ?? assert.fail(name);
          const bytes = sseBytes(events, sse);
          const places = [0, ...cuts.map((cut) => Math.floor(cut * bytes.length)), bytes.length];
          places.sort((a, b) => a - b);
          async function* pieces() {
            for (const [n, to] of places.slice(1).entries()) yield bytes.subarray(places[n], to);
          }
          const capture = provider === "anthropic" ? captureAnthropic : captureOpenAI;
          await capture(pieces(), session).result;
          const all = await messagesIn(session);
          assert.equal(all.length, ++told);
          assert.deepEqual(all.at(-1), await expected(name, events));
        },
      ),
      { numRuns: runs(40) },
    );
  });
}

test.each(Object.entries(DIALECTS))(
  "a stream that ends after any event leaves what arrived on the disk, in %s",
  async (_, options) => {
    const session = await newSession(options);
    const said: SaidEntry[] = [];
    for (const [name, { provider, events }] of Object.entries(STREAMS)) {
      const capture = provider === "anthropic" ? captureAnthropic : captureOpenAI;
      for (let count = 1; count < events.length; count++) {
        const arrived = events.slice(0, count);
        const [entry] = await expected(name, arrived).then(
          (entry) => [entry],
          () => [], // Nothing is appended of a first chunk that says nothing.
        );
        await capture(given(arrived) as AsyncIterable<never>, session).result.catch(() => {});
        // rye writes an empty text for an empty message.
        const isEmpty = options.dialect === "rye" && entry?.parts?.length === 0;
        if (entry) said.push(isEmpty ? { ...entry, parts: [{ type: "text", text: "" }] } : entry);
      }
    }
    assert.deepEqual(await messagesIn(session), said);
  },
);

test.each(Object.entries(DIALECTS))(
  "a message of the largest size can be appended, whatever its contents, in %s",
  async (dialect, options) => {
    // Method: content that grows most when written, up to the limit, or in as many blocks as fit:
    // one of both in a run.
    const session = await newSession(
      options.dialect === "rye" ? { ...options, markdown: false } : options,
    );
    const start = { type: "message_start", message: { id: "m", model: "x".repeat(100) } };
    const block = (index: number) => ({
      type: "content_block_start",
      index,
      content_block: { type: "text", text: "", mood: "x" },
    });
    const text = "\u007f\u0001\u2028".repeat(10_000);
    const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } };
    const kinds = {
      long: Array.from({ length: 100 }, () => delta),
      many: Array.from({ length: 4000 }, (_, n) => block(n + 1)),
    };
    const { length: at } = Object.keys(DIALECTS).filter((other) => other < dialect);
    const tried = Object.entries(kinds).filter((_, nth) => isTried(at + nth, 2));
    for (const [kind, events] of tried) {
      const captured = captureAnthropic(given<object>([start, block(0), ...events]), session);
      await refusal(captured.result, "STREAM_TOO_LARGE");
      const written = (await messagesIn(session)).at(-1) ?? assert.fail("it is not there");
      assert.ok(written.isPartial);
      const { parts = [] } = written;
      if (kind === "many") assert.ok((parts?.length ?? 0) > 4000);
      else assert.ok(encodeLine(parts).length > 0.85 * CAPTURE_LIMITS.messageBytesMax);
    }
  },
);
