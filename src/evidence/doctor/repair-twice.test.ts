import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { test } from "vitest";
import { findingsIn, repairIn } from "../../../test/support/examining.ts";
import { runs } from "../../../test/support/seed.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { contentsAt } from "../../../test/support/tree.ts";

/** A thread's files as a crash, a user or another program may leave them; null: missing. */
interface Damaged {
  readonly lines: readonly object[];
  readonly torn: string;
  readonly meta: object | string | null;
  readonly markdown: string | null;
}

const anyText = fc.constantFrom("", "a", "b", "single");
const anyValue = fc.oneof(
  anyText,
  fc.constantFrom<unknown>(null, 7, true, [], { a: 1 }, { a: 2, b: [1] }),
);
const anyTime = fc.constantFrom(
  "2026-02-09T04:03:50.365000+00:00",
  "2026-02-09T04:04:01+02:00",
  "no time",
  "",
);
/** The data of start and end events, in the right type or in another. */
const anyData = fc.record(
  {
    text: anyText,
    directive: anyValue,
    model: anyValue,
    provider: anyValue,
    thread_mode: anyValue,
    parent_thread_id: anyValue,
    inputs: anyValue,
    capabilities: anyValue,
    limits: anyValue,
    outputs: anyValue,
    cost: anyValue,
    error_code: anyValue,
    detail: anyValue,
    error: anyValue,
  },
  { requiredKeys: [] },
);
const anyType = fc.constantFrom(
  "thread_start",
  "thread_complete",
  "thread_completed",
  "thread_error",
  "user_message",
  "step_start",
  "assistant_text",
  "hook_triggered",
);
const anyLine = fc
  .tuple(anyType, anyTime, anyData, fc.boolean())
  .map(([type, ts, data, isFlat]) =>
    isFlat
      ? { ts, type, thread_id: "t-1", ...data }
      : { timestamp: ts, thread_id: "t-1", event_type: type, payload: data },
  );
const anyMeta = fc.oneof(
  fc.constant(null),
  fc.constant("{"),
  fc
    .tuple(anyData, fc.constantFrom("t-1", "other-2"), anyStatus(), fc.boolean())
    .map(([data, thread_id, status, reconstructed]) => ({
      ...data,
      thread_id,
      status,
      reconstructed,
    })),
);
const anyThread: fc.Arbitrary<Damaged> = fc.record({
  lines: fc.array(anyLine, { maxLength: 6 }),
  torn: fc.constantFrom("", '{"ts":"2026', '{"ts":"2026","type":"thread_error"}'),
  meta: anyMeta,
  markdown: fc.constantFrom(null, "", "stale"),
});

function anyStatus() {
  return fc.constantFrom("running", "completed", "error", "paused", "cancelled");
}

function put(project: string, id: string, { lines, torn, meta, markdown }: Damaged): void {
  const directory = join(project, ".ai/threads", id);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const write = (name: string, text: string) =>
    writeFileSync(join(directory, name), text, { mode: 0o600 });
  write("transcript.jsonl", `${lines.map((line) => `${JSON.stringify(line)}\n`).join("")}${torn}`);
  if (meta !== null) write("thread.json", typeof meta === "string" ? meta : JSON.stringify(meta));
  if (markdown !== null) write("transcript.md", markdown);
}

test("for any damaged threads, a second repair finds nothing to repair and changes no byte", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyThread, { minLength: 1, maxLength: 2 }), async (threads) => {
      const project = tempDirectory();
      for (const [at, thread] of threads.entries()) put(project, `t-${at + 1}`, thread);
      await repairIn(project);
      const [before, findings] = [await contentsAt(project), await findingsIn(project)];
      const mendable = findings.filter(({ mends }) => mends);
      assert.deepEqual(mendable, []);
      const again = (await repairIn(project)).filter(({ kind }) => kind !== "left");
      assert.deepEqual(again, []);
      assert.deepEqual(await contentsAt(project), before);
    }),
    { numRuns: runs(60) },
  );
});
