/** Both stores: the same requests get the same answers, offsets and bytes in files and in PostgreSQL. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { VerbatimError } from "../../src/base/errors.ts";
import { openPostgresStore } from "../../src/postgres/postgres-store.ts";
import { openLocalStore } from "../../src/streams/local-store.ts";
import { formatOffset } from "../../src/streams/offset-token.ts";
import type { AppendRequest, CreateRequest, StreamStore } from "../../src/streams/stream-store.ts";
import { lacksPostgres, newSchema, sharedPostgres } from "../support/postgres.ts";
import { tempDirectory } from "../support/temp-directory.ts";

type Step =
  | { readonly do: "create"; readonly path: string; readonly request: CreateRequest }
  | { readonly do: "append"; readonly path: string; readonly request: AppendRequest }
  | { readonly do: "read"; readonly path: string; readonly at: number; readonly bytesMax: number }
  | { readonly do: "remove" | "touch" | "head"; readonly path: string }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "sweep" };

const path = fc.constantFrom("/a", "/b", "/c", "/d/é");
const small = fc.nat({ max: 3 });
const place = fc.record({ readSeq: fc.nat({ max: 1 }), byteOffset: fc.nat({ max: 40 }) });
const body = fc
  .constantFrom("", "1", "[1,2,[3]]", '{"a":\n"é"}', "[]", "{", '["long, much longer"]')
  .map((text) => Buffer.from(text));
const contentType = fc.constantFrom(undefined, "application/json", "text/plain");
const lifetime = fc.constantFrom(
  undefined,
  { kind: "ttl", seconds: 2 } as const,
  { kind: "until", atMs: 1_763_200_004_000, text: "soon" } as const,
);
const fork = fc.option(
  fc.record({
    source: path,
    at: fc.option(
      place.map(({ readSeq, byteOffset }) => formatOffset(readSeq, byteOffset)),
      { nil: undefined },
    ),
    subOffset: fc.option(small, { nil: undefined }),
  }),
  { nil: undefined },
);
const create = fc.record({ contentType, lifetime, body, isClosed: fc.constant(false), fork });
const append = fc.record({
  body,
  contentType,
  streamSeq: fc.option(fc.constantFrom("0", "1", "10", "é"), { nil: undefined }),
  producer: fc.option(
    fc.record({ id: fc.constantFrom("p", "q\0\ud800"), epoch: fc.nat({ max: 1 }), seq: small }),
    { nil: undefined },
  ),
  close: fc.nat({ max: 9 }).map((n) => n === 0),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("create"), path, request: create }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("append"), path, request: append }) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ do: fc.constant("read"), path, at: fc.nat({ max: 40 }) },
      bytesMax: fc.constantFrom(1, 9, 100),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("remove", "touch", "head"), path }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.constantFrom(900, 1900) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("sweep") }) },
) as fc.Arbitrary<Step>;

describe.skipIf(lacksPostgres)("with a database", () => {
  test("for the same requests, files and PostgreSQL give the same answers, offsets and bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 60 }), async (steps) => {
        const time = { nowMs: 1_763_200_000_000 };
        const now = () => time.nowMs;
        const schema = newSchema();
        const choices = { schema, now, durability: "memory" } as const;
        const stores: StreamStore[] = [
          await openLocalStore({ dataDirectory: tempDirectory(), now }),
          await openPostgresStore(await sharedPostgres(), choices),
        ];
        for (const step of steps) {
          if (step.do === "wait") time.nowMs += step.ms;
          const [local, postgres] = await Promise.all(stores.map((store) => answer(store, step)));
          assert.deepEqual(postgres, local, JSON.stringify(step));
        }
        const [local, postgres] = await Promise.all(stores.map(contents));
        assert.deepEqual(postgres, local);
        for (const store of stores) await store.close();
      }),
      { numRuns: 6 },
    );
  });
});

/** Everything but the random id of a stream. */
async function answer(store: StreamStore, step: Step): Promise<unknown> {
  try {
    const result = await carriedOut(store, step);
    return JSON.parse(
      JSON.stringify(result ?? null, (key, value) => (key === "streamId" ? 0 : value)),
    );
  } catch (error) {
    if (error instanceof VerbatimError) return [error.code, error.message];
    throw error;
  }
}

function carriedOut(store: StreamStore, step: Step): Promise<unknown> | null {
  switch (step.do) {
    case "create":
      return store.create(step.path, step.request);
    case "append":
      return store.append(step.path, step.request);
    case "read":
      return store.read(step.path, formatOffset(0, step.at), step.bytesMax);
    case "remove":
      return store.remove(step.path);
    case "head":
      return store.head(step.path);
    case "sweep":
      return store.sweep();
    case "touch":
      store.touch(step.path);
      return null;
    case "wait":
      return null;
  }
}

async function contents(store: StreamStore): Promise<unknown> {
  const heads = await store.list({ limit: 100 });
  const messages = heads.map(async ({ path, end }) => {
    const found: unknown[] = [path, end];
    for await (const { data, offset, timestamp } of store.messages(path, "start")) {
      found.push([Buffer.from(data).toString("hex"), offset, timestamp]);
    }
    return found;
  });
  return Promise.all(messages);
}
