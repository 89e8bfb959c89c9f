/** Both stores: the same requests get the same answers, offsets and bytes in files and in PostgreSQL. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { VerbatimError } from "../../src/core/base/errors.ts";
import { openLocalStore } from "../../src/streams/files/local-store.ts";
import type { StreamStore } from "../../src/streams/files/stream-store.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import { lacksPostgres, newSchema, sharedPostgres } from "../support/postgres.ts";
import { carryOut, type Step, step } from "../support/stream-steps.ts";
import { tempDirectory } from "../support/temp-directory.ts";

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
    const result = await carryOut(store, step);
    return JSON.parse(
      JSON.stringify(result ?? null, (key, value) => (key === "streamId" ? 0 : value)),
    );
  } catch (error) {
    if (error instanceof VerbatimError) return [error.code, error.message];
    throw error;
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
