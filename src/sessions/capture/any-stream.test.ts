/**
 * Any stream: whatever a provider sends, in any chunks, the capture ends properly.
 *
 * Method: recorded-like streams in arbitrary chunks, at every single cut, with arbitrary events
 * swapped in, and with arbitrary JSON in their fields.
 */

import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { GatheredSession } from "../../../test/support/gathered-session.ts";
import {
  given,
  type ProviderEvent,
  STREAMS,
  sseBytes,
} from "../../../test/support/provider-streams.ts";
import { isTried } from "../../../test/support/seed.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import type { NewEntry } from "../../core/model/entry.ts";
import { captureAnthropic } from "./anthropic.ts";
import { captureOpenAI } from "./openai.ts";

interface Outcome {
  readonly events: readonly unknown[];
  readonly entries: readonly NewEntry[];
  readonly result: unknown;
  readonly error: unknown;
}

async function captured(provider: string, stream: AsyncIterable<object>): Promise<Outcome> {
  const session = new GatheredSession();
  const capturing =
    provider === "anthropic" ? captureAnthropic(stream, session) : captureOpenAI(stream, session);
  const events: unknown[] = [];
  let error: unknown = null;
  try {
    for await (const event of capturing) events.push(event);
  } catch (caught) {
    error = caught;
  }
  const result: unknown = await capturing.result.catch((caught) => ({ failed: caught }));
  return { events, entries: session.entries, result, error };
}

/** Bytes cut at these places. */
function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
  return places.slice(1).map((to, n) => bytes.subarray(places[n], to));
}

for (const [name, { provider, events, sse }] of Object.entries(STREAMS)) {
  describe(name, () => {
    test("cut into any chunks gives the same events and the same entry", async () => {
      const bytes = sseBytes(events, sse);
      const whole = await captured(provider, given([bytes]));
      assert.deepEqual(whole.events, events);
      assert.equal(whole.error, null);
      assert.equal(whole.entries.length, 1);
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.nat(bytes.length), { maxLength: 30 }),
          fc.constantFrom("\n", "\r\n", "\r"),
          async (cuts, eol) => {
            const pieces = cutAt(sseBytes(events, { ...sse, eol }), cuts);
            assert.deepEqual(await captured(provider, given(pieces)), whole);
          },
        ),
        { numRuns: 60 },
      );
    });

    test("cut in two at any byte gives the same events and the same entry", async () => {
      const bytes = sseBytes(events, sse);
      // Compared as JSON, which is many times as fast and equivalent here.
      const whole = JSON.stringify(await captured(provider, given([bytes])));
      for (let cut = 0; cut <= bytes.length; cut++) {
        if (!isTried(cut, 6)) continue;
        const outcome = await captured(provider, given(cutAt(bytes, [cut])));
        assert.equal(JSON.stringify(outcome), whole, `cut at ${cut}`);
      }
    });

    test("events and bytes give the same entry", async () => {
      const whole = await captured(provider, given([sseBytes(events, sse)]));
      assert.deepEqual(await captured(provider, given(events)), whole);
    });

    test("with anything in it reaches its reader whole, and leaves one entry at most", async () => {
      const odd = fc
        .oneof(
          { weight: 3, arbitrary: changedEvent(events) },
          fc.constantFrom<unknown>(...events),
          fc.jsonValue(),
          fc.object({ withBigInt: true, withDate: true, withSparseArray: true }),
        )
        .filter((event) => typeof event !== "string"); // That would be a piece of the bytes.
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.nat(events.length), odd), { minLength: 1, maxLength: 3 }),
          async (changes) => {
            const stream: unknown[] = [...events];
            for (const [at, event] of changes) stream.splice(at, 1, event);
            const {
              events: seen,
              entries,
              result,
              error,
            } = await captured(provider, given(stream as object[]));
            // The provider's error ends the stream; a message without its end is an error.
            const { code } = error instanceof VerbatimError ? error : { code: null };
            const isProviders = code === "PROVIDER_ERROR";
            assert.ok(error === null || isProviders || code === "STREAM_INCOMPLETE", String(error));
            assert.deepEqual(seen, isProviders ? stream.slice(0, seen.length) : stream);
            assert.ok(entries.length <= 1);
            const { failed } = result as { failed?: unknown };
            for (const entry of entries) {
              assert.deepEqual(JSON.parse(JSON.stringify(entry)), entry, "plain JSON");
              assert.equal(entry.isPartial, failed === undefined ? undefined : true);
            }
            if (error) assert.equal(failed, error);
          },
        ),
        { numRuns: 200 },
      );
    });
  });
}

/** An event of the stream with any JSON in one of its fields, at any depth. */
function changedEvent(events: readonly ProviderEvent[]): fc.Arbitrary<unknown> {
  const key = fc.constantFrom("__proto__", "constructor", "index", "type", "text", "delta");
  const changes = fc.tuple(fc.constantFrom(...events), fc.nat(40), key, fc.jsonValue());
  return changes.map(([event, place, added, value]) => {
    let left = place;
    const change = (held: unknown): unknown => {
      if (left-- === 0) return value;
      if (Array.isArray(held)) return held.map(change);
      if (typeof held !== "object" || held === null) return held;
      const fields = Object.entries(held).map(([name, field]) => [name, change(field)] as const);
      return Object.fromEntries(left === 0 ? [...fields, [added, value]] : fields);
    };
    return change(event);
  });
}
